"""Memory that this process may still use."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Return the free bytes: the least of machine, container or job, and limits of the process."""
    return max(0, min(_free()))


def _free() -> Iterator[int]:
    machine = _field(_PROC / "meminfo", "MemAvailable:", 1024)
    if machine is None:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield machine
    # Cached files of a group can be dropped, so only anonymous memory counts as used.
    for folder in _groups():
        limit = _number(folder / "memory.max")
        if limit is not None:
            yield limit - (_field(folder / "memory.stat", "anon", 1) or 0)
    limit = _number(_CGROUP / "memory/memory.limit_in_bytes")
    if limit is not None:
        yield limit - (_field(_CGROUP / "memory/memory.stat", "total_rss", 1) or 0)
    for which, used in ((resource.RLIMIT_DATA, "VmData:"), (resource.RLIMIT_AS, "VmSize:")):
        soft, _ = resource.getrlimit(which)
        if soft != resource.RLIM_INFINITY:
            yield soft - (_field(_PROC / "self/status", used, 1024) or 0)


def _groups() -> Iterator[Path]:
    """Return the control group of this process and its parents (version 2)."""
    try:
        lines = (_PROC / "self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        if line.startswith("0::/"):
            group = _CGROUP / line.removeprefix("0::/")
            yield from (group, *group.parents[: len(group.parts) - len(_CGROUP.parts)])


def _field(path: Path, name: str, unit: int) -> int | None:
    """Return the number after a name in a file of lines, in bytes; None without such a line."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.split()[:1] == [name]]
    return int(found[0]) * unit if found else None


def _number(path: Path) -> int | None:
    """Return the number in a file; None if there is no file, or no number in it."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None

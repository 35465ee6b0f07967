"""How much memory this process may still take."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Bytes free on the machine, in this container, and under the limits set for this process."""
    return max(0, min(_free()))


def _free() -> Iterator[int]:
    page = os.sysconf("SC_PAGE_SIZE")
    machine = _field(_PROC / "meminfo", "MemAvailable:", 1024)
    yield os.sysconf("SC_PHYS_PAGES") * page if machine is None else machine
    limit = _number(_CGROUP / "memory.max")
    if limit is not None:
        # What the container holds of files can be let go.
        yield limit - (_field(_CGROUP / "memory.stat", "anon", 1) or 0)
    for which, used in ((resource.RLIMIT_DATA, "VmData:"), (resource.RLIMIT_AS, "VmSize:")):
        soft, _ = resource.getrlimit(which)
        if soft != resource.RLIM_INFINITY:
            yield soft - (_field(_PROC / "self/status", used, 1024) or 0)


def _field(path: Path, name: str, unit: int) -> int | None:
    """The number after a name in a file of lines, in bytes; None if there is no such line."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    found = [line.split() for line in lines if line.startswith(name)]
    return int(found[0][1]) * unit if found else None


def _number(path: Path) -> int | None:
    """The number in a file; None if there is no such file, or another word in it."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None

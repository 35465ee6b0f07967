"""Memory that this process may still use, and whether a fit needs more."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from hocmim.errors import warn_user

if sys.platform == "win32":
    resource = None
else:
    import resource

# A fit that needs less is not compared with the free memory.
MIN_CHECKED_BYTES = 1 << 28
# What is kept for each column besides its codes: arity, cuts, scores, masks.
BYTES_PER_COLUMN = 200

# What a method keeps of a value: a code, or a number and a copy of it that is scaled.
BYTES_PER_CODE = 1
BYTES_PER_NUMBER = 16

# What the system reserves for a thread: its stack, and a heap of its own.
BYTES_PER_THREAD = 1 << 27

# What OpenBLAS may reserve for the products of one thread, in NumPy and in SciPy together.
BYTES_OF_PRODUCTS = 1 << 28

_PROC = Path("/proc")
_CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Return the free bytes: the least of machine, container or job, and limits of the process."""
    return max(0, min(_free()))


def limit_memory(n_bytes: int) -> None:
    """Let this process use so many bytes more, where the system has such a limit."""
    used = _field(_PROC / "self/status", "VmSize:", 1024)
    if resource is not None and used is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = used + n_bytes
        resource.setrlimit(resource.RLIMIT_AS, (soft if hard < 0 else min(soft, hard), hard))


def affordable_threads(n_threads: int) -> int:
    """Return how many of these threads the limit on the address space allows; at least one.

    A thread that finds no memory for its own variables ends the process.
    """
    if n_threads == 1 or resource is None:
        return n_threads
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return n_threads
    return max(1, min(n_threads, free_memory() // BYTES_PER_THREAD))


@cache
def prepare_products() -> None:
    """Let NumPy and SciPy reserve the memory for products of matrices; MemoryError without it.

    OpenBLAS reserves it at the first product of a process and keeps it. If that fails, OpenBLAS
    ends the process or waits forever, so the limits of the process are checked before.
    """
    from scipy.linalg.blas import dgemm  # takes long to import

    free = min(_free_within_limits(), default=BYTES_OF_PRODUCTS)
    if free < BYTES_OF_PRODUCTS:
        raise MemoryError(
            f"Products of matrices need {size_text(BYTES_OF_PRODUCTS)} of address space, and "
            f"{size_text(max(0, free))} are free. Raise the limit of this process (ulimit -v)."
        )
    square = np.ones((128, 128))
    square @ square
    dgemm(1.0, square, square)


def warn_if_short(
    n_rows: int, n_columns: int, n_repeated: int = 0, bytes_per_value: int = BYTES_PER_CODE
) -> None:
    """Warn if a fit on a table needs more memory than is free.

    ``n_repeated`` rows are those that weights repeat: their indices take memory too. A method keeps
    ``bytes_per_value``: codes, numbers, or nothing if the codes are on disk.
    """
    needed = (n_rows * bytes_per_value + BYTES_PER_COLUMN) * n_columns + 8 * n_repeated
    if needed < MIN_CHECKED_BYTES:
        return
    free = free_memory()
    if needed <= free:
        return
    if n_repeated:
        advice = "If the weights are relative, divide them by their mean."
    elif bytes_per_value == BYTES_PER_CODE:
        advice = "Pass codes_dir to keep the codes on disk, or fit on fewer columns or rows."
    else:
        advice = "Fit on fewer columns or rows."
    warn_user(
        f"This fit needs about {size_text(needed)} of memory for {n_rows:,} rows and {n_columns:,} "
        f"columns, and {size_text(free)} are free. {advice}"
    )


def size_text(n_bytes: int) -> str:
    """Return a number of bytes for a message."""
    return f"{n_bytes / 1e9:,.1f} GB"


def _free() -> Iterator[int]:
    yield _free_of_machine()
    if resource is None:
        return
    # Cached files of a group can be dropped, so only anonymous memory counts as used.
    for folder in _groups():
        limit = _number(folder / "memory.max")
        if limit is not None:
            yield limit - (_field(folder / "memory.stat", "anon", 1) or 0)
    limit = _number(_CGROUP / "memory/memory.limit_in_bytes")
    if limit is not None:
        yield limit - (_field(_CGROUP / "memory/memory.stat", "total_rss", 1) or 0)
    yield from _free_within_limits()


def _free_within_limits() -> Iterator[int]:
    """Return what each limit of the process leaves, in bytes."""
    if resource is None:
        return
    for which, used in ((resource.RLIMIT_DATA, "VmData:"), (resource.RLIMIT_AS, "VmSize:")):
        soft, _ = resource.getrlimit(which)
        if soft != resource.RLIM_INFINITY:
            yield soft - (_field(_PROC / "self/status", used, 1024) or 0)


def _free_of_machine() -> int:
    if sys.platform == "win32":
        return _free_on_windows()
    free = _field(_PROC / "meminfo", "MemAvailable:", 1024)
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if free is None else free


class _WindowsMemory(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("total", "free", "total_page", "free_page")),
        *((name, ctypes.c_uint64) for name in ("total_virtual", "free_virtual", "extended")),
    )


def _free_on_windows() -> int:
    found = _WindowsMemory(length=ctypes.sizeof(_WindowsMemory))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009
    kernel.GlobalMemoryStatusEx(ctypes.byref(found))
    return int(found.free)


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

"""Locks on files, which end with the process that holds them, also if it is killed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

IS_WINDOWS = os.name == "nt"
# Windows keeps others from reading the locked byte: one behind the content, as far as its function
# reaches.
LOCKED_BYTE = 2**31 - 2


def try_lock(file: IO[Any]) -> bool:
    """Lock an open file for this process; return False if another process has locked it.

    The lock ends when the file is closed. On a file system without locks the answer is True.
    """
    try:
        _lock(file.fileno())
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


def _lock(descriptor: int) -> None:
    # Imported here: no system has both modules.
    if IS_WINDOWS:
        import msvcrt

        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_at(file: IO[Any], path: Path) -> bool:
    """Whether an open file is still the one of this path: another process may have replaced it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


@contextlib.contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Lock a file of this name, made for the purpose; give False if another process holds it.

    The file is removed at the end. One that a killed process left is used again.
    """
    with contextlib.ExitStack() as stack:
        while True:
            file = stack.enter_context(path.open("ab"))
            if not try_lock(file):
                yield False
                return
            if is_at(file, path):
                break
            file.close()  # its owner removed it before it was locked here
        try:
            yield True
        finally:
            remove_locked(file, path)


def remove_locked(file: IO[Any], path: Path) -> None:
    """Remove a file that this process holds locked, before any other process locks it.

    Windows does not remove a file that is open: it is closed first there, and stays if another
    process has opened it.
    """
    if IS_WINDOWS:
        file.close()
    with contextlib.suppress(OSError):
        path.unlink()

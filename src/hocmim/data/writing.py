"""Files on disk: atomic writing, locks, and what is not a file.

A file is written completely, or not at all: the content goes to a temporary file in the same
folder, which then gets the final name. A run that is killed leaves the old file as it was. The next
run that writes the same file removes the temporary file that it left.

Nothing is removed or emptied here that another program may have made: temporary files and locks
have names that begin with ``OWN`` and are regular files of this user. A lock is empty.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import IO, Any

from hocmim.data.addresses import check_local
from hocmim.errors import InvalidParameterError
from hocmim.text import value_text

IS_WINDOWS = os.name == "nt"
# How the names of temporary files, folders and locks begin.
OWN = ".hocmim-"
# Characters of the final name that the temporary name repeats: file systems allow 255 bytes.
MAX_NAME_LENGTH = 60
# On Windows a file cannot be replaced while a reader or a virus scanner has it open.
N_TRIES_ON_WINDOWS = 20
SECONDS_BETWEEN_TRIES = 0.05
# Marks that are allowed in names of files, and names that Windows keeps for devices.
SAFE_MARKS = " _-.,()+=@"
RESERVED_NAMES = {"CON", "PRN", "AUX", "NUL"}
RESERVED_NAMES |= {f"{port}{number}" for port in ("COM", "LPT") for number in range(10)}


def safe_file_name(name: str) -> str:
    """Return a name as the name of a file in any folder and on any system, without a suffix.

    Letters, digits, spaces and a few marks stay. A name that has to be changed gets a digest, so
    that different names stay different.
    """
    safe = "".join(c if c.isalnum() or c in SAFE_MARKS else "_" for c in name)[:MAX_NAME_LENGTH]
    safe = re.sub(r"^[. ]+|[. ]+$", lambda found: "_" * len(found[0]), safe) or "_"
    if safe.partition(".")[0].upper() in RESERVED_NAMES:
        safe = f"_{safe}"
    if safe == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{safe}-{digest[:8]}"


def write_text(path: str | PathLike[str], text: str) -> Path:
    """Write text as UTF-8, completely or not at all; an existing file is replaced."""
    data = text.encode("utf-8", "backslashreplace")
    return write_file(path, lambda file: file.write(data), overwrite=True)


def check_writable(
    path: str | PathLike[str], *, overwrite: bool, hint: str = "Pass overwrite=True to replace it"
) -> None:
    """Raise an error if a file cannot be written there: before the work is done, not after it."""
    import tempfile

    check_local(path)
    target = Path(path)
    if target.is_dir():
        raise InvalidParameterError(f"{target} is a folder. Give the name of a file in it.")
    if not target.parent.is_dir():
        raise InvalidParameterError(
            f"The folder {target.parent} does not exist. Create it, or choose another path."
        )
    is_dangling = target.is_symlink() and not target.exists()
    if (target.is_file() or is_dangling) and not overwrite:
        raise InvalidParameterError(f"{target} already exists. {hint}, or choose another path.")
    if target.exists() and not target.is_file():  # a device or a pipe
        return
    try:
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise InvalidParameterError(
            f"{target} cannot be written: {error.strerror or error}. Choose another path."
        ) from error


def write_file(
    path: str | PathLike[str],
    write: Callable[[IO[bytes]], object],
    *,
    overwrite: bool = False,
    is_durable: bool = False,
    hint: str = "Pass overwrite=True to replace it",
) -> Path:
    """Write a file completely or not at all; ``write`` is called with the open binary file.

    ``is_durable`` waits until the content is on disk, so that it survives a power failure. ``hint``
    says how the user allows replacing a file, for the message.
    """
    target = Path(path)
    check_writable(target, overwrite=overwrite, hint=hint)
    try:
        _write(target, write, overwrite, is_durable, hint)
    except OSError as error:  # such as a full disk: named by the path that the user gave
        raise OSError(error.errno, error.strerror or str(error), str(target)) from error
    return target


def _write(
    target: Path,
    write: Callable[[IO[bytes]], object],
    overwrite: bool,
    is_durable: bool,
    hint: str,
) -> None:
    if target.exists() and not target.is_file():  # a device or a pipe, such as /dev/stdout
        with open(target, "wb", opener=_open_with_reader) as file:
            write(file)
        return
    with _temporary_file(target) as (file, temporary):
        if target.exists() and hasattr(os, "fchmod"):  # the rights of the file that is replaced
            os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
        with os.fdopen(os.dup(file.fileno()), "wb") as copy:  # some writers close their file
            write(copy)
        if is_durable:
            os.fsync(file.fileno())
        if IS_WINDOWS:
            file.close()
        _give_name(temporary, target, overwrite, hint)
    if is_durable:
        sync_folder(target.parent)


@contextlib.contextmanager
def _temporary_file(target: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """Make an empty file in the folder of the target; it is removed unless it was renamed."""
    start = f"{OWN}{target.name[:MAX_NAME_LENGTH]}"
    path = target.with_name(f"{start}.part")
    file = _make_locked(path)
    if file is None:  # another run writes the same file
        path = target.with_name(f"{start}.{secrets.token_hex(4)}.part")
        file = path.open("xb")
    with file:
        try:
            yield file, path
        finally:
            # While this run holds the lock, no other one renames or removes the file.
            if file.closed or is_at(file, path):
                path.unlink(missing_ok=True)


def _make_locked(path: Path) -> IO[bytes] | None:
    """Make and lock a temporary file, after removing one that a killed run left.

    None if another run holds it, or on Windows, which does not rename files that others have open.
    """
    if IS_WINDOWS:
        return None
    with contextlib.suppress(OSError), _open_own(path, create=False) as left:
        if not (try_lock(left) and is_at(left, path)):
            return None
        path.unlink()
    try:
        file = path.open("xb")
    except FileExistsError:
        return None
    if try_lock(file) and is_at(file, path):
        return file
    file.close()
    return None


def _open_with_reader(path: str, flags: int) -> int:
    """Open a device or a pipe; a pipe that nothing reads is an error, and does not wait."""
    if IS_WINDOWS:
        return os.open(path, flags)
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise InvalidParameterError(
            f"{path} is a pipe that nothing reads. Start its reader first, or choose a file."
        ) from error
    os.set_blocking(descriptor, True)
    return descriptor


def _give_name(temporary: Path, target: Path, overwrite: bool, hint: str) -> None:
    """Rename; without ``overwrite`` only if no file appeared there in the meantime."""
    if not overwrite:
        try:
            os.link(temporary, target)  # fails if the target exists, where a rename would replace
            return
        except FileExistsError as error:
            raise InvalidParameterError(
                f"{target} already exists. {hint}, or choose another path."
            ) from error
        except OSError:  # a file system without hard links
            check_writable(target, overwrite=False, hint=hint)
    for _ in range(N_TRIES_ON_WINDOWS - 1 if IS_WINDOWS else 0):
        try:
            temporary.replace(target)
            return
        except PermissionError:
            time.sleep(SECONDS_BETWEEN_TRIES)
    temporary.replace(target)


def sync_folder(folder: Path) -> None:
    """Wait until the names of the files in a folder are on disk."""
    if IS_WINDOWS:  # it does not open folders
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- locks ----------------------------------------------------------------------------------------

# Windows keeps others from reading the locked byte: one behind the content, as far as its function
# reaches.
LOCKED_BYTE = 2**31 - 2


def try_lock(file: IO[Any]) -> bool:
    """Lock an open file for this process; return False if another process has locked it.

    The lock ends when the file is closed, also if the process is killed. On a file system without
    locks the answer is True.
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


def lock_name(name: str) -> str:
    """Return the name of the lock of a file or folder, in the same folder."""
    return f"{name if name.startswith(OWN) else OWN + name[:MAX_NAME_LENGTH]}.lock"


@contextlib.contextmanager
def locked(path: Path, *, create: bool = True) -> Iterator[bool]:
    """Lock an empty file of this name; give False if another process holds it.

    The file is removed at the end. One that a killed process left is used again. Without
    ``create`` there must be one. OSError: there is something else at this path, such as a pipe, a
    link, a file with content, or a file of another user.
    """
    with contextlib.ExitStack() as stack:
        while True:
            file = stack.enter_context(_open_own(path, create=create))
            if os.fstat(file.fileno()).st_size:
                raise OSError(errno.EEXIST, "is not a lock of hocmim, which is empty", str(path))
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


def _open_own(path: Path, *, create: bool) -> IO[bytes]:
    """Open a file without changing it; an error if it is a link, a pipe or another user's file.

    In a shared folder these may be a trap: opening a pipe waits for its writer.
    """
    flags = os.O_RDWR | (os.O_CREAT if create else 0)
    if IS_WINDOWS:
        return os.fdopen(os.open(path, flags, 0o666), "rb+")
    file = os.fdopen(os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666), "rb+", 0)
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
        file.close()
        raise OSError(errno.EEXIST, "not a file of this user", str(path))
    return file


def remove_locked(file: IO[Any], path: Path) -> None:
    """Remove a file that this process holds locked, before any other process locks it.

    Windows does not remove a file that is open: it is closed first there, and stays if another
    process has opened it.
    """
    if IS_WINDOWS:
        file.close()
    with contextlib.suppress(OSError):
        path.unlink()


# --- what is not a file ---------------------------------------------------------------------------


def check_regular(path: str | PathLike[str]) -> None:
    """Raise an error if there is something at a path that is neither a file nor a folder.

    A pipe would wait for its writer, and a device may never end.
    """
    if "\0" in str(path):
        raise InvalidParameterError(
            f"{value_text(str(path))} holds a NUL character, which no path may hold."
        )
    try:
        mode = Path(path).stat().st_mode
    except OSError:  # who reads the file says why it cannot be read
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InvalidParameterError(
            f"{value_text(str(path))} is a pipe or a device, and not a file. Write its content to "
            "a file first. The command line reads standard input if the file is -."
        )

"""Atomic writing of files: a file is written completely, or not at all.

The content goes to a temporary file in the same folder, which then gets the final name. A run that
is killed leaves the old file as it was. The temporary file that it leaves is used again by the next
run that writes the same file; a lock on it keeps runs apart that write the same file at once.
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
from typing import IO

from hocmim.data.locks import IS_WINDOWS, is_at, try_lock
from hocmim.errors import InvalidParameterError

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

    Examples
    --------
    >>> from hocmim.data.writing import safe_file_name
    >>> safe_file_name("iris, 2 classes")
    'iris, 2 classes'
    >>> safe_file_name("../../x")
    '___.._x-9cdf6a50'
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
    target = Path(path)
    if target.is_dir():
        raise InvalidParameterError(f"{target} is a folder. Give the name of a file in it.")
    if not target.parent.is_dir():
        raise InvalidParameterError(
            f"The folder {target.parent} does not exist. Create it, or choose another path."
        )
    if target.is_file() and not overwrite:
        raise InvalidParameterError(f"{target} already exists. {hint}, or choose another path.")
    if not os.access(target.parent, os.W_OK):
        raise InvalidParameterError(
            f"The folder {target.parent} is not writable. Choose another path."
        )


def write_file(
    path: str | PathLike[str],
    write: Callable[[IO[bytes]], object],
    *,
    overwrite: bool = False,
    is_durable: bool = False,
    hint: str = "Pass overwrite=True to replace it",
) -> Path:
    """Write a file completely or not at all.

    Parameters
    ----------
    path : path
    write : callable
        Called with the open binary file.
    overwrite : bool
        Whether an existing file may be replaced.
    is_durable : bool
        Whether to wait until the content is on disk, so that it survives a power failure.
    hint : str
        How the user allows replacing, for the message.
    """
    target = Path(path)
    check_writable(target, overwrite=overwrite, hint=hint)
    if target.exists() and not target.is_file():  # a device or a pipe, such as /dev/stdout
        with open(target, "wb", opener=_open_with_reader) as file:
            write(file)
        return target
    with _temporary_file(target) as (file, temporary):
        with os.fdopen(os.dup(file.fileno()), "wb") as copy:  # some writers close their file
            write(copy)
        if is_durable:
            os.fsync(file.fileno())
        if IS_WINDOWS:
            file.close()
        _give_name(temporary, target, overwrite, hint)
    if is_durable:
        sync_folder(target.parent)
    return target


@contextlib.contextmanager
def _temporary_file(target: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """Open an empty file in the folder of the target; it is removed unless it was renamed."""
    start = f".{target.name[:MAX_NAME_LENGTH]}"
    path = target.with_name(f"{start}.part")
    file = _open_again(path)
    if file is None:
        path = target.with_name(f"{start}.{secrets.token_hex(4)}.part")
        file = path.open("xb")
    with file:
        try:
            yield file, path
        finally:
            # While this run holds the lock, no other one renames or removes the file.
            if file.closed or is_at(file, path):
                path.unlink(missing_ok=True)


def _open_again(path: Path) -> IO[bytes] | None:
    """Open and lock a temporary file, an old one too; None if it is not ours to write.

    A file with a second name may be a finished one whose writer was killed. Links and files of
    other users are not written: in a shared folder they may be a trap. Windows does not rename
    files that others have open, so that every run uses a name of its own there.
    """
    if IS_WINDOWS:
        return None
    try:
        file = open(path, "wb", opener=_open_without_truncating)  # noqa: SIM115
    except OSError:
        return None
    status = os.fstat(file.fileno())
    is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
    if is_own and try_lock(file) and is_at(file, path):
        if os.fstat(file.fileno()).st_nlink == 1:
            file.truncate(0)
            return file
        path.unlink()
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


def _open_without_truncating(path: str, flags: int) -> int:
    return os.open(path, (flags & ~os.O_TRUNC) | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


def _give_name(temporary: Path, target: Path, overwrite: bool, hint: str) -> None:
    """Rename; without ``overwrite`` only if no file appeared there in the meantime."""
    if not overwrite:
        try:
            os.link(temporary, target)  # fails if the target exists, where a rename would replace
            return
        except FileExistsError:
            check_writable(target, overwrite=False, hint=hint)
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

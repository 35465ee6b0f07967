"""Atomic writing of files: a file is written completely, or not at all.

The content goes to a temporary file in the same folder, which then gets the final name. A run that
is killed leaves the old file as it was.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO

from hocmim.errors import InvalidParameterError

# Characters of the final name that the temporary name repeats: file systems allow 255 bytes.
MAX_NAME_LENGTH = 60


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
        with target.open("wb") as file:
            write(file)
        return target
    temporary = target.with_name(f".{target.name[:MAX_NAME_LENGTH]}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            write(file)
            if is_durable:
                file.flush()
                os.fsync(file.fileno())
        _give_name(temporary, target, overwrite, hint)
    finally:
        temporary.unlink(missing_ok=True)
    return target


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
    temporary.replace(target)

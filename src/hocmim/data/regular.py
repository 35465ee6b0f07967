"""Files that are read must be files: a pipe would wait for its writer, a device may never end."""

from __future__ import annotations

import stat
from os import PathLike
from pathlib import Path

from hocmim.errors import InvalidParameterError
from hocmim.text import value_text


def check_regular(path: str | PathLike[str]) -> None:
    """Raise an error if there is something at a path that is neither a file nor a folder."""
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

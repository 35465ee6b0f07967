"""Standard output that may lose its reader, such as in ``hocmim select … | head``."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def standard_output() -> Iterator[None]:
    """Write results; if the reader has closed the pipe, discard the rest.

    The command goes on: it writes its files and ends with its own exit code.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if not _is_closed_pipe(error):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_closed_pipe(error: OSError) -> bool:
    """Whether the reader of a pipe has left: Windows reports an invalid argument."""
    return isinstance(error, BrokenPipeError) or (
        os.name == "nt" and error.errno == errno.EINVAL and error.filename is None
    )


def replace_unknown_characters() -> None:
    """Print ``?`` for a character that an output cannot show, such as … in a pipe on Windows."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and stream.errors == "strict":
            reconfigure(errors="replace")

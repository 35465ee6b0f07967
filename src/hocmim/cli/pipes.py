"""Standard output that may lose its reader, such as in ``hocmim select … | head``."""

from __future__ import annotations

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
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

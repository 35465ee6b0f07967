"""Calls in forked processes, several at a time: a crash ends one of them and is reported.

A fork of a process that has imported everything starts in milliseconds.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

SECONDS_BETWEEN_LOOKS = 0.02


class Outcome(NamedTuple):
    """What a call did: its exit code (negative for a signal), what it printed, and its time."""

    name: str
    code: int
    stdout: str
    stderr: str
    seconds: float


def run_forked(
    calls: Mapping[str, Callable[[], None]], n_at_once: int, seconds: float
) -> Iterator[Outcome]:
    """Make each call in a process of its own; yield the outcomes as they come.

    A call that takes longer than ``seconds`` is killed.
    """
    waiting, running = list(calls.items()), {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while waiting or running:
            while waiting and len(running) < n_at_once:
                label, call = waiting.pop(0)
                child = _start(call, folder / str(len(waiting)))
                running[child] = label, folder / str(len(waiting)), time.monotonic()
            time.sleep(SECONDS_BETWEEN_LOOKS)
            for child, (label, path, began) in list(running.items()):
                taken = time.monotonic() - began
                if taken > seconds:
                    os.kill(child, signal.SIGKILL)
                found, status = os.waitpid(child, 0 if taken > seconds else os.WNOHANG)
                if found:
                    del running[child]
                    code = os.waitstatus_to_exitcode(status)
                    yield Outcome(label, code, _read(path, "out"), _read(path, "err"), taken)


def _read(path: Path, kind: str) -> str:
    return path.with_suffix(f".{kind}").read_text(errors="replace")


def _start(call: Callable[[], None], path: Path) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        for number, kind in ((1, "out"), (2, "err")):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            os.dup2(os.open(path.with_suffix(f".{kind}"), flags), number)
        call()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

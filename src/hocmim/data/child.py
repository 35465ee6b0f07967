"""Reads a file in a child process: a library that aborts, hangs or takes all memory ends only that.

The child gets the path and the options as a line of JSON, and may use the memory that is free.
It answers with a line of JSON (an error of hocmim, or the size of the table) and the table as an
Arrow stream. The parent waits for the answer, and ends the child at Ctrl-C. The child ends when the
parent does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

from hocmim import errors
from hocmim.errors import HocmimError, InvalidTableError
from hocmim.memory import free_memory, limit_memory, size_text

# The path of modules is that of the parent: a file in the working folder must not be imported.
START = "import sys; sys.path[:] = sys.argv[1:]; from hocmim.data.child import main; main()"


def read_in_child(name: str, path: str, text: dict[str, Any]) -> Any:
    """Return the pyarrow table that ``files.read_here`` reads in a child process.

    ``name`` is the file in messages, ``text`` the options of text.
    """
    if not sys.executable or getattr(sys, "frozen", False):  # Python inside another program
        return _read(path, text)
    from pyarrow import ipc

    free = free_memory()
    too_large = f"{name} cannot be read: it needs more memory than the {size_text(free)} that are"
    request = {"name": name, "bytes": free, "path": path, "text": text}
    command = [sys.executable, "-c", START, *sys.path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **pipes) as child:  # type: ignore[call-overload]
        try:
            child.stdin.write(json.dumps(request, default=list).encode() + b"\n")
            child.stdin.flush()
            answer = json.loads(child.stdout.readline() or "{}")
            if "error" in answer:
                raise getattr(errors, answer["error"])(answer["message"])
            if answer.get("bytes", 0) > free_memory():
                raise InvalidTableError(f"{too_large} free.")
            if answer:
                return ipc.open_stream(child.stdout).read_all()
        except BrokenPipeError:
            pass  # it ended early: see below
        finally:
            child.kill()
        raise InvalidTableError(f"{too_large} free, or it is damaged (the reader crashed).")


def _read(path: str, text: dict[str, Any]) -> Any:
    from hocmim.data.files import TextOptions, read_here  # which imports this module

    return read_here(path, TextOptions(**text))


def main() -> None:
    """Read a table as the parent asks, and write the answer to standard output."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the parent
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        from pyarrow import csv, ipc  # noqa: F401  before the limit, which is for the file

        from hocmim.data import files  # noqa: F401

        limit_memory(request["bytes"])
        table = _read(request["path"], request["text"])
        _say(answer, bytes=table.nbytes)
        with ipc.new_stream(answer, table.schema) as stream:
            stream.write_table(table)
    except HocmimError as error:
        _say(answer, error=type(error).__name__, message=str(error))
    except MemoryError:
        pass  # no answer
    except BaseException as error:  # also a panic of Rust, which is no Exception
        text = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        message = f"{request['name']} cannot be read as a table: {text}."
        _say(answer, error="InvalidTableError", message=message)
    answer.flush()
    os._exit(0)  # the thread below still waits


def _end_with_parent() -> None:
    os.read(0, 1)  # returns when the parent closes its end, also if it was killed
    os._exit(1)


def _say(answer: Any, **content: Any) -> None:
    answer.write(json.dumps(content).encode() + b"\n")

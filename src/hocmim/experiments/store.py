"""The results of finished items, one JSON line each.

A line is flushed to the disk before the next item begins. A run that is killed can leave an
incomplete line at the end: it is removed when the store is opened again, and its item is repeated.

A finished store can be compressed with ``xz results.jsonl``. ``results.jsonl.xz`` is then read
together with ``results.jsonl``, to which new outcomes are appended.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from hocmim.data.writing import check_regular, remove_locked, sync_folder, try_lock
from hocmim.errors import InvalidParameterError
from hocmim.experiments.protocol import Item, ItemOutcome

LINE_START = b'{"format":'
FORMAT = 1


class Store:
    """The outcomes of an experiment in a file, and in its compressed copy if there is one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.compressed = path.with_name(f"{path.name}.xz")

    def read(self) -> dict[Item, ItemOutcome]:
        """Return the outcomes of all complete lines."""
        found: dict[Item, ItemOutcome] = {}
        if self.compressed.exists():
            with lzma.open(self.compressed, "rb") as file:
                found = _read_outcomes(file)
        if self.path.exists():
            check_regular(self.path)
            with self.path.open("rb") as file:
                found |= _read_outcomes(file)
        return found

    @contextmanager
    def appending(self) -> Iterator[Callable[[ItemOutcome], None]]:
        """Give a function that appends an outcome durably; the file is locked meanwhile."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        with self.path.open("ab+") as file:
            _lock(file, self.path)
            _remove_incomplete_line(file, self.path)
            if is_new:
                sync_folder(self.path.parent)

            def append(outcome: ItemOutcome) -> None:
                file.write(_format(outcome))
                file.flush()
                os.fsync(file.fileno())

            yield append
            if file.tell() == 0 and self.compressed.exists():
                remove_locked(file, self.path)  # everything is in the compressed file


def check_keys(
    outcomes: dict[Item, ItemOutcome], keys: dict[tuple[str, str], str], path: Path
) -> None:
    """Raise an error for outcomes of other data, other parameters or another version.

    ``keys`` has the key of each (data set, method).
    """
    for item, outcome in outcomes.items():
        expected = keys.get((item.dataset, item.method))
        if expected is not None and outcome.key != expected:
            raise InvalidParameterError(
                f"{path} has results of {item.method} on {item.dataset} from another run: other "
                "data, other settings or another version of hocmim. Choose another output folder, "
                "or delete the file to start again."
            )


def _read_outcomes(file: IO[bytes]) -> dict[Item, ItemOutcome]:
    return {outcome.item: outcome for outcome in map(_parse, _complete_lines(file))}


def _complete_lines(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    return (line for line in file if line.endswith(b"\n"))


def _remove_incomplete_line(file: BinaryIO, path: Path) -> None:
    """Remove the end of a line that a killed run wrote; an error if it is not one of ours."""
    end = sum(map(len, _complete_lines(file)))
    file.seek(end)
    rest = file.read().rstrip(b"\0")  # a power failure leaves zeros
    if not (rest.startswith(LINE_START) or LINE_START.startswith(rest)):
        raise InvalidParameterError(
            f"{path} is not a results file of hocmim. It was not changed. Choose another output "
            "folder."
        )
    file.truncate(end)
    file.seek(0, os.SEEK_END)


def _lock(file: BinaryIO, path: Path) -> None:
    if not try_lock(file):
        raise InvalidParameterError(
            f"Another run is writing to {path}. Wait for it, or choose another output folder."
        )


def _format(outcome: ItemOutcome) -> bytes:
    item = outcome.item
    record = {
        "format": FORMAT,
        "dataset": item.dataset,
        "split": item.split,
        "method": item.method,
        "key": outcome.key,
        "seconds": outcome.seconds,
        "total_seconds": outcome.total_seconds,
        "n_test": outcome.n_test,
        "selected": list(outcome.selected),
        "wrong": outcome.wrong,
        "balanced": outcome.balanced,
    }
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _parse(line: bytes) -> ItemOutcome:
    record = json.loads(line)
    if record.get("format") != FORMAT:
        raise InvalidParameterError(
            f"The results file has format {record.get('format')!r}, but this version of hocmim "
            f"reads format {FORMAT}. Choose another output folder."
        )
    return ItemOutcome(
        Item(record["split"], record["dataset"], record["method"]),
        record["key"],
        tuple(record["selected"]),
        record["seconds"],
        record["total_seconds"],
        record["n_test"],
        record["wrong"],
        record["balanced"],
    )

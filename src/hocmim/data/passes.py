"""How far the passes over a table in pieces of rows are."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, groupby
from typing import Any

# Called as report(task, done, total): words, and numbers of rows of all passes.
Report = Callable[[str, int, int], None]


class Passes:
    """Reports passes over pieces of rows: "reading pass 1 of 2, file 12 of 40".

    Pieces are read by several threads, in any order. The number of the file follows from how much
    is read. ``pieces`` may be a range of numbers of partitions.
    """

    def __init__(self, pieces: Sequence[Any], n_passes: int, report: Report | None) -> None:
        self._report, self._n_passes, self._number = report, n_passes, 0
        self._unit, self._ends = _ends(pieces)
        self._lock = threading.Lock()
        self._done, self._total = 0, 1
        self._task = ""

    def begin(self, total: int, task: str | None = None) -> None:
        """Begin the next pass, of this many cells or other units; ``task`` says it in words."""
        self._number += 1
        self._task = task or f"reading pass {self._number} of {self._n_passes}"
        self._done, self._total = 0, max(1, total)
        self.move(0, self._total)

    def end(self) -> None:
        """End the last pass: what is read again later is not reported."""
        self._report = None

    def add(self, number: int) -> None:
        """Report that this many more units are read; from any thread."""
        with self._lock:
            self._done += number
            self.move(self._done, self._total)

    def move(self, done: int, total: int) -> None:
        """Report that this many units of the pass are read."""
        if self._report is None:
            return
        n_rows = self._ends[-1]
        rows = n_rows * done // total
        file = min(bisect_right(self._ends, rows) + 1, len(self._ends))
        task = self._task
        if len(self._ends) > 1:
            task += f", {self._unit} {file:,} of {len(self._ends):,}"
        self._report(task, (self._number - 1) * n_rows + rows, self._n_passes * n_rows)


def _ends(pieces: Sequence[Any]) -> tuple[str, list[int]]:
    """Return "file" or "part", and after how many rows each of them ends."""
    paths = [getattr(piece, "path", None) for piece in pieces]
    rows = [getattr(piece, "n_rows", 1) for piece in pieces]
    if None in paths or not paths:
        return "part", list(accumulate(rows)) or [1]
    files = groupby(zip(paths, rows, strict=True), key=lambda item: item[0])
    ends = accumulate(sum(n_rows for _, n_rows in group) for _, group in files)
    return "file", list(ends)

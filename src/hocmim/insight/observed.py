"""One reading of a table for several purposes: observers see each block while it is encoded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from hocmim.data.columns import Categories, Numbers, Span
from hocmim.data.table import BLOCK_CELLS, Table
from hocmim.data.times import TimeKinds

Observer = Callable[[Numbers | Categories], None]


class ObservedTable(Table):
    """A table that shows each of its blocks to observers, the first time the block is read.

    Observers are called from any thread and in any order. A table that ``take`` returns is not
    observed.
    """

    def __init__(self, table: Table, observers: Sequence[Observer]) -> None:
        self.native, self.names, self.rows = table.native, table.names, table.rows
        self.n_rows, self.n_columns = table.n_rows, table.n_columns
        self._table, self._observers = table, observers
        self._lock = threading.Lock()
        self._unseen = set(table.spans())

    def time_kinds(self, columns: Iterable[int]) -> TimeKinds:
        """Return which of these columns hold dates, times or durations."""
        return self._table.time_kinds(columns)

    def spans(self, max_cells: int = BLOCK_CELLS) -> list[Span]:
        """All columns, cut into spans."""
        return self._table.spans(max_cells)

    def read(self, span: Span) -> Numbers | Categories:
        """Read the columns of one span."""
        block = self._table.read(span)
        with self._lock:
            is_new = span in self._unseen
            self._unseen.discard(span)
        if is_new:
            for observe in self._observers:
                observe(block)
        return block

    def take(self, rows: NDArray[np.int64]) -> Table:  # type: ignore[override]
        """Return the table of these rows, which is not observed."""
        return self._table.take(rows)

    def finish(self) -> None:
        """Read the blocks that have not been read."""
        for span in sorted(self._unseen):
            self.read(span)

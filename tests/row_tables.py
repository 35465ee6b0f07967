"""Tables in memory as a source of rows: its pieces are cut where a test wants it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from hocmim.data.rows import Groups, RowSource
from hocmim.data.table import as_table, take_columns, take_rows


def source_of(*tables):
    """Put tables in memory one below the other."""
    opened = [as_table(table, min_rows=0) for table in tables]
    columns = opened[0].names or tuple(range(opened[0].n_columns))
    pieces = tuple(TablePiece(table.native, table.n_rows) for table in opened)
    return RowSource(columns, None, pieces, str(id(pieces)))


@dataclass(frozen=True, eq=False)
class TablePiece:
    """A table in memory: see Piece."""

    table: Any
    n_rows: int
    column_bytes: int = 1

    def tables(self, groups: Groups, max_cells: int) -> Iterator[tuple[int, Any]]:
        """See Piece."""
        table = as_table(self.table, min_rows=0)
        place = {label: j for j, label in enumerate(table.names or range(table.n_columns))}
        for number, columns in enumerate(groups):
            chosen = take_columns(self.table, [place[column] for column in columns])
            n_rows = max(1, max_cells // len(columns))
            for start in range(0, self.n_rows, n_rows):
                yield number, take_rows(chosen, range(start, min(start + n_rows, self.n_rows)))

    def head(self, columns: Sequence[Any]) -> Any:
        """See Piece."""
        return next(self.tables([columns], len(columns)), (0, self.table))[1]

    def concatenate(self, tables: list[Any]) -> Any:
        """See Piece."""
        if isinstance(tables[0], np.ndarray):
            return np.concatenate(tables)
        frames = [nw.from_native(table, eager_only=True) for table in tables]
        return nw.concat(frames, how="vertical").to_native()

"""polars LazyFrames as row sources: some columns are collected at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hocmim.data.rows import Groups, RowSource
from hocmim.memory import free_memory

# Of the free memory, this part holds columns that are collected together.
MEMORY_SHARE = 1 / 8
BYTES_PER_VALUE = 16


def is_lazy_frame(X: Any) -> bool:
    """Whether X is a LazyFrame of polars."""
    return type(X).__module__.startswith("polars.lazyframe") and hasattr(X, "collect_schema")


def open_lazy_frame(frame: Any) -> RowSource:
    """Return the rows of a LazyFrame; they are counted, and not kept."""
    import polars as pl

    n_rows = int(_collect(frame.select(pl.len())).item())
    columns = tuple(frame.collect_schema().names())
    return RowSource(columns, None, (LazyPiece(frame, n_rows),), "")


def _collect(frame: Any) -> Any:
    from hocmim.threads import call_apart  # takes long to import

    return call_apart(lambda: frame.collect(engine="streaming"))


@dataclass(frozen=True, eq=False)
class LazyPiece:
    """All rows of a LazyFrame: see Piece. Every call runs the query again, for its columns only."""

    frame: Any
    n_rows: int
    column_bytes: int = 1

    def tables(self, groups: Groups, max_cells: int) -> Iterator[tuple[int, Any]]:
        """See Piece. As many groups are collected together as fit into memory."""
        most = max(1, int(free_memory() * MEMORY_SHARE) // (BYTES_PER_VALUE * max(1, self.n_rows)))
        numbers = list(range(len(groups)))
        while numbers:
            now = [numbers.pop(0)]
            while numbers and sum(len(groups[k]) for k in (*now, numbers[0])) <= most:
                now.append(numbers.pop(0))
            wanted = dict.fromkeys(name for k in now for name in groups[k])
            collected = _collect(self.frame.select(list(wanted)))
            for number in now:
                step = max(1, max_cells // len(groups[number]))
                part = collected.select(list(groups[number]))
                for at in range(0, self.n_rows, step):
                    yield number, part[at : at + step]

    def head(self, columns: Sequence[Any]) -> Any:
        """See Piece."""
        return _collect(self.frame.select(list(columns)).head(1))

    def concatenate(self, tables: list[Any]) -> Any:
        """See Piece."""
        import polars as pl

        return pl.concat(tables)

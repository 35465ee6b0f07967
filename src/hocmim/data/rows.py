"""Tables in pieces of rows, which may be larger than memory.

A row source knows its columns and its number of rows without reading them. It is a list of pieces.
A piece holds some rows, can be pickled, and is read a few cells at a time on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import narwhals as nw
import numpy as np

from hocmim.data.columns import Span
from hocmim.data.table import as_table
from hocmim.data.times import TimeKinds
from hocmim.errors import InvalidTableError, InvalidTargetError
from hocmim.memory import free_memory
from hocmim.text import did_you_mean
from hocmim.threads import resolve_n_jobs

# The most cells a thread reads at a time (16 MB of numbers); fewer if memory is short.
MAX_CELLS = 1 << 21
# The fewest rows read at a time; of a wide table, fewer columns are read at a time instead.
MIN_ROWS = 1 << 12
# The most bytes of pages that the readers of one piece hold.
MAX_READER_BYTES = 1 << 26
# Cells and their copies, in bytes: a thread reads one cell for this much memory it has.
BYTES_PER_CELL = 128

Key = str | int
Groups = Sequence[Sequence[Any]]


class Piece(Protocol):
    """Some rows of a source; can be pickled and is read where the rows are needed."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def column_bytes(self) -> int:
        """Memory that reading takes for each column, besides the values."""

    def tables(self, groups: Groups, max_cells: int) -> Iterator[tuple[int, Any]]:
        """Read the rows in order, as tables in memory of about ``max_cells`` cells.

        A group is some of ``RowSource.columns``, or the ``target``. All rows of a group are read
        before the next group; a table comes with the number of its group.
        """

    def head(self, columns: Sequence[Any]) -> Any:
        """Return a table of these columns from which their types are known: at most one row."""

    def concatenate(self, tables: list[Any]) -> Any:
        """Put tables of the same columns one below the other."""


@dataclass(frozen=True, eq=False)
class RowSource:
    """Pieces of rows in order: the features, and the target if it is one of the columns.

    ``columns`` are the features and ``target`` is the target as a piece knows them: by name if they
    have names. ``fingerprint`` is a digest of the paths, sizes, times of change, schemas and
    numbers of rows of the files.
    """

    columns: tuple[Key, ...]
    target: Key | None
    pieces: tuple[Piece, ...]
    fingerprint: str

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(piece.n_rows for piece in self.pieces)

    @property
    def n_columns(self) -> int:
        """Number of features."""
        return len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """Names of the features, or None if they have none."""
        names = tuple(column for column in self.columns if isinstance(column, str))
        return names if len(names) == len(self.columns) else None

    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """Return which of these features hold dates, times or durations, by the first piece."""
        keys = [self.columns[j] for j in columns]
        if not keys:
            return {}
        piece = next((piece for piece in self.pieces if piece.n_rows), self.pieces[0])
        kinds = as_table(piece.head(keys), min_rows=0).time_kinds(range(len(keys)))
        return {columns[place]: kind for place, kind in kinds.items()}

    def with_target(self, name: str) -> RowSource:
        """Return the same rows with one of the columns as target."""
        if name not in self.columns:
            raise InvalidTargetError(
                f"y is {name!r}, but X has no column of this name."
                f"{did_you_mean(name, map(str, self.columns))}"
            )
        rest = tuple(column for column in self.columns if column != name)
        return replace(self, columns=rest, target=name)

    def features(self, n_columns: int, names: Sequence[str] | None) -> RowSource:
        """Return the same rows, only with the features of an earlier fit.

        Features with names are found by name, and X may have other columns too, such as the target.
        """
        if names is None:
            if self.n_columns != n_columns:
                raise InvalidTableError(
                    f"X has {self.n_columns} features, but {n_columns} features were used in fit."
                )
            return self
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise InvalidTableError(
                f"X has no column {missing[0]!r}, which was used in fit"
                + (f" (and {len(missing) - 1} more are missing)." if missing[1:] else ".")
            )
        return replace(self, columns=tuple(names))

    def read(self, columns: Sequence[Key]) -> Any:
        """Read these columns of all rows into one table in memory."""
        if not columns:
            return np.empty((self.n_rows, 0))
        parts = [part for piece in self.pieces for _, part in piece.tables([columns], MAX_CELLS)]
        return self.pieces[0].concatenate(parts)

    def target_parts(self) -> Iterator[Any]:
        """Read the target, some rows at a time."""
        for piece in self.pieces:
            for _, part in piece.tables([[self.target]], MAX_CELLS):
                if isinstance(part, np.ndarray):
                    yield part[:, 0]
                else:
                    yield nw.from_native(part, eager_only=True)[:, 0].to_native()

    def only(self, span: Span) -> RowSource:
        """Return the same rows with some of the features."""
        return replace(self, columns=self.columns[span.start : span.stop])

    def spans(self, n_jobs: int | None = 1) -> list[Span]:
        """Cut all features into spans that fit into memory when they are read together."""
        column_bytes = max([1, *(piece.column_bytes for piece in self.pieces)])
        n_readers = min(MAX_READER_BYTES, _memory_per_thread(n_jobs) // 4) // column_bytes
        most_rows = max([1, *(piece.n_rows for piece in self.pieces)])
        width = max(1, min(n_readers, MAX_CELLS // min(MIN_ROWS, most_rows)))
        starts = range(0, self.n_columns, width)
        return [Span(start, min(start + width, self.n_columns)) for start in starts]


def cells_per_thread(n_jobs: int | None) -> int:
    """Return how many cells a thread reads at a time, so that they and their copies fit memory."""
    return max(1, min(MAX_CELLS, _memory_per_thread(n_jobs) // BYTES_PER_CELL))


def _memory_per_thread(n_jobs: int | None) -> int:
    return free_memory() // resolve_n_jobs(n_jobs, outside=1)

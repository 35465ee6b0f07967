"""Codes: a table as small integers, the only form in which anything downstream sees data.

A column with levels 0..arity-1 takes one byte a cell, two when it has more than 256 levels. The
codes of a column lie next to each other in memory. Codes never change once made: a block of
columns is a view, and any number of threads may read it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NARROW_LEVELS = 1 << 8
MAX_LEVELS = 1 << 16


@dataclass(frozen=True)
class Column:
    """One column of codes on its own: the target, or the newest selected feature."""

    codes: NDArray[np.uint8] | NDArray[np.uint16]
    arity: int
    index: int = -1

    def __reduce__(self) -> tuple[Any, ...]:
        return Column, (self.codes, self.arity, self.index)

    def __post_init__(self) -> None:
        if self.codes.dtype not in (np.uint8, np.uint16) or self.codes.ndim != 1:
            raise TypeError("a Column holds a one-dimensional array of uint8 or uint16")


@dataclass(frozen=True, eq=False)
class Codes:
    """N samples of D coded columns.

    ``narrow`` holds the columns of at most 256 levels and ``wide`` the others, one *row* of the
    array a column of the table, both in the order of the table. ``place[j]`` says where column j
    is: row ``place[j]`` of ``narrow``, or row ``~place[j]`` of ``wide`` when negative. ``start``
    is the index, in the whole table, of the first column here (a block knows where it came from).
    ``planes`` says whether there is memory for the codes a second time, as bit planes.
    """

    narrow: NDArray[np.uint8]
    wide: NDArray[np.uint16]
    place: NDArray[np.int64]
    arity: NDArray[np.int64]
    names: tuple[str, ...] | None = None
    start: int = 0
    planes: bool = True

    @classmethod
    def empty(
        cls, arity: NDArray[np.int64], n_samples: int, names: Sequence[str] | None = None
    ) -> Codes:
        """Room for columns of these arities, in memory, to be filled."""
        place = places(arity)
        narrow = np.empty((int((place >= 0).sum()), n_samples), np.uint8)
        wide = np.empty((int((place < 0).sum()), n_samples), np.uint16)
        return cls(narrow, wide, place, arity, None if names is None else tuple(names))

    @classmethod
    def from_columns(cls, columns: Sequence[Column], names: Sequence[str] | None = None) -> Codes:
        """Put single columns side by side."""
        n_samples = len(columns[0].codes) if columns else 0
        is_narrow = [column.codes.dtype == np.uint8 for column in columns]
        narrow = np.empty((sum(is_narrow), n_samples), np.uint8)
        wide = np.empty((len(columns) - sum(is_narrow), n_samples), np.uint16)
        place = np.empty(len(columns), np.int64)
        n_narrow = n_wide = 0
        for j, column in enumerate(columns):
            if is_narrow[j]:
                narrow[n_narrow] = column.codes
                place[j] = n_narrow
                n_narrow += 1
            else:
                wide[n_wide] = column.codes
                place[j] = ~n_wide
                n_wide += 1
        arity = np.array([column.arity for column in columns], np.int64)
        return cls(narrow, wide, place, arity, None if names is None else tuple(names))

    @property
    def n_samples(self) -> int:
        """How many samples (rows of the table) there are."""
        return int(self.narrow.shape[1])

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.place)

    @property
    def nbytes(self) -> int:
        """Bytes of the codes themselves."""
        return self.narrow.nbytes + self.wide.nbytes

    def column(self, j: int) -> Column:
        """Column j of these codes (a view), indexed as in the whole table."""
        where = int(self.place[j])
        codes = self.narrow[where] if where >= 0 else self.wide[~where]
        return Column(codes, int(self.arity[j]), self.start + j)

    def block(self, start: int, stop: int) -> Codes:
        """Columns start..stop-1 as views on these codes."""
        place = self.place[start:stop]
        in_narrow, in_wide = place[place >= 0], ~place[place < 0]
        first_narrow = int(in_narrow[0]) if len(in_narrow) else 0
        first_wide = int(in_wide[0]) if len(in_wide) else 0
        return Codes(
            self.narrow[first_narrow : first_narrow + len(in_narrow)],
            self.wide[first_wide : first_wide + len(in_wide)],
            np.where(place >= 0, place - first_narrow, place + first_wide),
            self.arity[start:stop],
            None if self.names is None else self.names[start:stop],
            self.start + start,
            self.planes,
        )


def places(arity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where columns of these arities are in ``narrow`` and ``wide``: see Codes."""
    is_narrow = arity <= NARROW_LEVELS
    return np.where(is_narrow, np.cumsum(is_narrow) - 1, ~(np.cumsum(~is_narrow) - 1))


DIGEST_BYTES = 16


def column_digests(codes: Codes) -> NDArray[np.uint8]:
    """A digest of each column's codes, one row a column: blocks may be digested anywhere."""
    digests = [_digest(codes.column(j)) for j in range(codes.n_columns)]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIGEST_BYTES)


def fingerprint(digests: NDArray[np.uint8], y: Column) -> str:
    """What tells a table and its target from others, however the table is cut into blocks."""
    return hashlib.blake2b(digests.tobytes() + _digest(y), digest_size=DIGEST_BYTES).hexdigest()


def _digest(column: Column) -> bytes:
    digest = hashlib.blake2b(
        f"{len(column.codes)} {column.arity}".encode(), digest_size=DIGEST_BYTES
    )
    digest.update(np.ascontiguousarray(column.codes).data)
    return digest.digest()

"""How the columns of a table are coded: one record, from the kernels to the saved file.

A number has as code the number of cuts that are not above it. A column with at most ``n_bins``
distinct numbers has them as levels, and cuts midway between neighbours: a new number goes to the
nearest level. A column of categories has the sorted values that occur; of too many, the rarest are
pooled (``rare.py``). The level of missing values is the last one. A value that the fit did not see
has the code after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.cuts import Ragged

KINDS = ("cut", "levels", "categories")
CUT, LEVELS, CATEGORIES = range(3)


@dataclass(frozen=True, eq=False)
class ColumnDescription:
    """How one column was encoded.

    Attributes
    ----------
    kind : "cut", "levels" or "categories"
    cuts : ndarray of float64
        The code of a number is the number of cuts that are not above it. Empty for categories.
    levels : ndarray of float64, or list
        Of numbers that were not cut, or of categories: the value of code k is ``levels[k]``. Empty
        for a column that was cut.
    missing : int or None
        The code of missing values, if there were any.
    unknown : int
        The code of a value that the fit did not see: ``arity``, one more than the codes of the fit;
        of a new category in a column with pooled ones, ``other``.
    arity : int
        Number of codes in the fit, the code of missing values included.
    other : int or None
        The code of the pooled categories, if there are any.
    n_pooled : int
        How many categories are pooled.
    """

    kind: str
    cuts: NDArray[np.float64]
    levels: NDArray[np.float64] | list[Any]
    missing: int | None
    unknown: int
    arity: int
    other: int | None = None
    n_pooled: int = 0


@dataclass(frozen=True, eq=False)
class ColumnDescriptions(Sequence[ColumnDescription]):
    """How columns are coded, one element for each column. ``descriptions[j]`` describes column j.

    Attributes
    ----------
    kind : ndarray of int8
        An index of ``KINDS``.
    n_levels : ndarray of int64
        Without the level of missing values.
    has_missing : ndarray of bool
    cuts : Ragged
        The cuts of numeric columns.
    levels : Ragged
        The levels of numeric columns that are not cut.
    categories : dict of column index to sorted list
        Without the pooled ones.
    n_pooled : dict of column index to int
        How many categories are pooled into the level after the last one; only where some are.
    most_frequent : ndarray of int64
        The most frequent code of each column in the table of the fit; the first of equals.
    n_most_frequent : ndarray of int64
        How many rows have it.
    identifiers : ndarray of int64
        The columns that identify the rows: see ``identifiers.py``.
    """

    kind: NDArray[np.int8]
    n_levels: NDArray[np.int64]
    has_missing: NDArray[np.bool_]
    cuts: Ragged
    levels: Ragged
    categories: dict[int, list[Any]]
    n_pooled: dict[int, int]
    most_frequent: NDArray[np.int64]
    n_most_frequent: NDArray[np.int64]
    identifiers: NDArray[np.int64]

    @cached_property
    def arity(self) -> NDArray[np.int64]:
        """Number of codes of each column, the code of missing values included."""
        return self.n_levels + self.has_missing

    @property
    def is_cut(self) -> NDArray[np.bool_]:
        """Which columns are numbers that were cut into bins."""
        return self.kind == CUT

    @cached_property
    def unknown(self) -> NDArray[np.int64]:
        """The code of a category that the fit did not see: the pooled one, or a new one."""
        codes = self.arity.copy()
        for j in self.n_pooled:
            codes[j] = self.n_levels[j] - 1
        return codes

    def __len__(self) -> int:
        return len(self.kind)

    @overload
    def __getitem__(self, j: int) -> ColumnDescription: ...
    @overload
    def __getitem__(self, j: slice) -> list[ColumnDescription]: ...
    def __getitem__(self, j: int | slice) -> ColumnDescription | list[ColumnDescription]:
        if isinstance(j, slice):
            return [self[i] for i in range(*j.indices(len(self)))]
        j = range(len(self))[j]
        kind, n_levels = KINDS[self.kind[j]], int(self.n_levels[j])
        return ColumnDescription(
            kind,
            self.cuts.row(j),
            self.categories[j] if kind == "categories" else self.levels.row(j),
            n_levels if self.has_missing[j] else None,
            int(self.unknown[j]),
            int(self.arity[j]),
            n_levels - 1 if j in self.n_pooled else None,
            self.n_pooled.get(j, 0),
        )

    def columns(self, start: int, stop: int) -> ColumnDescriptions:
        """Return columns start..stop-1."""
        is_inside = (self.identifiers >= start) & (self.identifiers < stop)
        return ColumnDescriptions(
            self.kind[start:stop],
            self.n_levels[start:stop],
            self.has_missing[start:stop],
            self.cuts.rows(start, stop),
            self.levels.rows(start, stop),
            {j - start: levels for j, levels in self.categories.items() if start <= j < stop},
            {j - start: number for j, number in self.n_pooled.items() if start <= j < stop},
            self.most_frequent[start:stop],
            self.n_most_frequent[start:stop],
            self.identifiers[is_inside] - start,
        )

    @classmethod
    def concatenate(cls, parts: Sequence[ColumnDescriptions]) -> ColumnDescriptions:
        """Return the columns of all parts, side by side."""
        if len(parts) == 1:
            return parts[0]
        starts = list(accumulate((len(part) for part in parts[:-1]), initial=0))
        placed = list(zip(starts, parts, strict=True))
        return cls(
            np.concatenate([part.kind for part in parts]),
            np.concatenate([part.n_levels for part in parts]),
            np.concatenate([part.has_missing for part in parts]),
            Ragged.concatenate([part.cuts for part in parts]),
            Ragged.concatenate([part.levels for part in parts]),
            {at + j: levels for at, part in placed for j, levels in part.categories.items()},
            {at + j: number for at, part in placed for j, number in part.n_pooled.items()},
            np.concatenate([part.most_frequent for part in parts]),
            np.concatenate([part.n_most_frequent for part in parts]),
            np.concatenate([at + part.identifiers for at, part in placed]),
        )

"""How columns are coded: cut points of numbers, and the record of all columns.

The code of a number x is the number of cuts <= x.

=========  ========================================================================================
uniform    min + (max − min)·k / n_bins, k = 1 .. n_bins−1
quantile   the sorted value at position ⌊k·n / n_bins⌋ (from 0), k = 1 .. n_bins−1. The
           default.
mdlp       recursive splits of least class entropy, while they shorten the description of the
           classes
=========  ========================================================================================

Missing values (NaN) are ignored. The cuts are exact and do not depend on the order of the values.

"quantile": bins of distinct values differ in size by at most one. Equal cuts are merged. A cut at
the minimum would have no values below it and is replaced by the next larger value: a column that is
mostly zeros is cut into zeros and the other values. Every cut is a value of the column.

"mdlp" (Fayyad, Irani: Multi-interval discretization of continuous-valued attributes for
classification learning, IJCAI 1993): N samples of k classes with entropy E (bits) are split where
the mean entropy of the two parts is least, if the gain exceeds (log2(N−1) + Δ) / N with
Δ = log2(3^k − 2) − (k·E − k1·E1 − k2·E2). Then each part is split in the same way. Only places
between two neighbouring values that are not all of one class are tried; the cut is midway.
Entropies are compared after rounding to 12 decimals; of equal splits the lowest wins.

A column with at most ``n_bins`` distinct numbers has them as levels, and cuts midway between
neighbours: a new number goes to the nearest level. A column of categories has the sorted values
that occur; of too many, the rarest are pooled (``rare.py``). The level of missing values is the
last one. ``ColumnDescriptions`` has all this, from the kernels to the saved file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

import hocmim._native as _native
from hocmim.coding.codes import Column
from hocmim.errors import InvalidParameterError


class Ragged(NamedTuple):
    """Rows of different lengths end to end: row j is ``values[offsets[j]:offsets[j + 1]]``."""

    values: NDArray[np.float64]
    offsets: NDArray[np.int64]

    @classmethod
    def from_counts(cls, values: NDArray[np.float64], counts: NDArray[np.int64]) -> Ragged:
        """Return rows of the given lengths."""
        offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        return cls(values, offsets)

    @classmethod
    def nothing(cls) -> Ragged:
        """Return no rows."""
        return cls(np.empty(0), np.zeros(1, np.int64))

    @classmethod
    def concatenate(cls, parts: list[Ragged]) -> Ragged:
        """Return the rows of all parts, one after the other."""
        return cls.from_counts(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )

    @property
    def counts(self) -> NDArray[np.int64]:
        """The length of each row."""
        return np.diff(self.offsets)

    def row(self, j: int) -> NDArray[np.float64]:
        """Return row j (a view)."""
        return self.values[self.offsets[j] : self.offsets[j + 1]]

    def rows(self, start: int, stop: int) -> Ragged:
        """Return rows start..stop-1."""
        offsets = self.offsets[start : stop + 1]
        return Ragged(self.values[offsets[0] : offsets[-1]], offsets - offsets[0])


def for_kernels(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers in a type the kernels read: booleans as bytes (a view)."""
    return values.view(np.uint8) if values.dtype == bool else values


@dataclass(frozen=True, eq=False)
class Survey:
    """A summary of the values of numeric columns; it determines which columns are cut.

    Surveys of parts of the rows merge into the survey of all rows.
    """

    minimum: NDArray[np.float64]  # +inf if every value is missing
    maximum: NDArray[np.float64]  # −inf if every value is missing
    has_missing: NDArray[np.bool_]
    distinct: Ragged  # the sorted distinct values of columns with at most ``limit`` of them
    has_many: NDArray[np.bool_]  # whether there are more
    limit: int

    @classmethod
    def of(cls, values: NDArray[Any], limit: int) -> Survey:
        """Survey the columns of a two-dimensional array of numbers."""
        minimum, maximum, missing, n_distinct, distinct = _native.survey(for_kernels(values), limit)
        many = n_distinct > limit
        rows = Ragged.from_counts(distinct, np.where(many, 0, n_distinct))
        return cls(minimum, maximum, missing.astype(bool), rows, many, limit)

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """Whether every value of a column is missing."""
        return self.minimum > self.maximum

    @classmethod
    def nothing(cls, n_columns: int, limit: int) -> Survey:
        """Return the survey of no rows."""
        return cls(
            np.full(n_columns, np.inf),
            np.full(n_columns, -np.inf),
            np.zeros(n_columns, bool),
            Ragged(np.empty(0), np.zeros(n_columns + 1, np.int64)),
            np.zeros(n_columns, bool),
            limit,
        )

    @classmethod
    def concatenate(cls, parts: list[Survey]) -> Survey:
        """Return the columns of all parts, side by side."""
        return cls(
            np.concatenate([part.minimum for part in parts]),
            np.concatenate([part.maximum for part in parts]),
            np.concatenate([part.has_missing for part in parts]),
            Ragged.concatenate([part.distinct for part in parts]),
            np.concatenate([part.has_many for part in parts]),
            parts[0].limit,
        )

    def merge(self, other: Survey) -> Survey:
        """Return the survey of the rows of both; associative."""
        many = self.has_many | other.has_many
        union = _union(self.distinct, other.distinct)
        many |= union.counts > self.limit
        kept = np.repeat(~many, union.counts)
        return Survey(
            np.minimum(self.minimum, other.minimum),
            np.maximum(self.maximum, other.maximum),
            self.has_missing | other.has_missing,
            Ragged.from_counts(union.values[kept], np.where(many, 0, union.counts)),
            many,
            self.limit,
        )


def _union(a: Ragged, b: Ragged) -> Ragged:
    """Return the sorted distinct values of each row of both."""
    n_rows = len(a.offsets) - 1
    row = np.concatenate([np.repeat(np.arange(n_rows), part.counts) for part in (a, b)])
    values = np.concatenate([a.values, b.values])
    order = np.lexsort((values, row))
    row, values = row[order], values[order]
    is_new = np.ones(len(row), bool)
    is_new[1:] = (row[1:] != row[:-1]) | (values[1:] != values[:-1])
    return Ragged.from_counts(values[is_new], np.bincount(row[is_new], minlength=n_rows))


# --- blocks of columns ----------------------------------------------------------------------------


def uniform_cuts(survey: Survey, columns: NDArray[np.int64], n_bins: int) -> Ragged:
    """Return min + (max − min)·k / n_bins, k = 1 .. n_bins−1, of these columns."""
    low, high = survey.minimum[columns, None], survey.maximum[columns, None]
    steps = np.arange(1, n_bins)
    with np.errstate(over="ignore", invalid="ignore"):
        cuts = low + (high - low) * steps / n_bins
    share = steps / n_bins
    # max − min may overflow; then the same point is computed as a weighted mean.
    cuts = np.where(np.isfinite(cuts), cuts, low * (1 - share) + high * share)
    return Ragged.from_counts(cuts.ravel(), np.full(len(columns), n_bins - 1))


def midpoints(levels: Ragged) -> Ragged:
    """Return the cuts between neighbouring levels: a new value goes to the nearest level.

    A value midway between two levels goes to the upper one.
    """
    lower, upper = levels.values[:-1], levels.values[1:]
    middle = lower / 2 + upper / 2
    # There is no number between neighbouring floating-point numbers.
    cuts = np.where((middle > lower) & (middle < upper), middle, upper)
    inside = np.ones(len(cuts), bool)
    ends = levels.offsets[1:-1]
    inside[ends[(ends > 0) & (ends < len(levels.values))] - 1] = False
    return Ragged.from_counts(cuts[inside], np.maximum(levels.counts - 1, 0))


class Discretizer(NamedTuple):
    """How columns are cut. Without ``needs_values`` the survey alone tells the cuts.

    ``method`` is its number in the kernel that learns cuts and codes in one pass.
    """

    method: int
    needs_target: bool = False
    needs_values: bool = True


# Of every function and selector: skewed columns keep rows in every bin.
DEFAULT_DISCRETIZER = "quantile"
DISCRETIZERS = {
    "uniform": Discretizer(0, needs_values=False),
    "quantile": Discretizer(1),
    "mdlp": Discretizer(2, needs_target=True),
}


def cut_columns(
    values: NDArray[np.float64], discretizer: str, n_bins: int, y: Column | None = None
) -> Ragged:
    """Return the cuts of whole columns, one row for each column. ``y`` is for "mdlp"."""
    every = np.arange(values.shape[1], dtype=np.int64)
    if discretizer == "uniform":
        return uniform_cuts(Survey.of(values, 1), every, n_bins)
    if discretizer == "quantile":
        return Ragged.from_counts(*_native.quantile_cuts(values, every, n_bins))
    if y is None:
        raise InvalidParameterError("discretizer='mdlp' needs a target y. Pass y.")
    classes = y.codes.astype(np.int64)
    return Ragged.from_counts(*_native.mdlp_cuts(values, every, classes, y.arity))


# --- how columns are coded ------------------------------------------------------------------------

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
    other, n_pooled : int
        The code of the pooled categories (None without), and how many are pooled.
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
    """How columns are coded, one element for each: ``descriptions[j]`` describes column j."""

    kind: NDArray[np.int8]  # an index of ``KINDS``
    n_levels: NDArray[np.int64]  # without the level of missing values
    has_missing: NDArray[np.bool_]
    cuts: Ragged  # of numeric columns
    levels: Ragged  # of numeric columns that are not cut
    categories: dict[int, list[Any]]  # of a column, sorted, without the pooled ones
    n_pooled: dict[int, int]  # how many are pooled into the level after the last one, if any are
    most_frequent: NDArray[np.int64]  # code in the table of the fit; the first of equals
    n_most_frequent: NDArray[np.int64]  # how many rows have it
    identifiers: NDArray[np.int64]  # columns that identify the rows: see ``identifiers.py``

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

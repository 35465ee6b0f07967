"""How the columns of a table are coded, learnt from a block of its values, and their codes.

A numeric column with more than ``n_bins`` distinct values is cut by the discretizer. The others
have levels, and the cuts midway between neighbouring levels. A column of categories has the sorted
values that occur.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import hocmim._native as _native
from hocmim.coding.codes import MAX_LEVELS, NARROW_LEVELS, Column
from hocmim.coding.cuts import Discretizer, Ragged, Survey, for_kernels, midpoints
from hocmim.data.checks import infinite_value
from hocmim.data.columns import Categories, Numbers, Span, SparseNumbers
from hocmim.data.table import Table
from hocmim.errors import InvalidTableError

KINDS = ("cut", "levels", "categories")
CUT, LEVELS, CATEGORIES = range(3)


class Fitted(NamedTuple):
    """How columns are coded, one element for each column.

    Attributes
    ----------
    kind : ndarray of int8
        An index of ``KINDS``.
    cuts : Ragged
        The cuts of numeric columns.
    levels : Ragged
        The levels of numeric columns that are not cut.
    categories : dict of column index to sorted list
    has_missing : ndarray of bool
    n_levels : ndarray of int64
        Without the level of missing values.
    """

    kind: NDArray[np.int8]
    cuts: Ragged
    levels: Ragged
    categories: dict[int, list[Any]]
    has_missing: NDArray[np.bool_]
    n_levels: NDArray[np.int64]

    @property
    def arity(self) -> NDArray[np.int64]:
        """Number of codes of each column, the code of missing values included."""
        return self.n_levels + self.has_missing

    def columns(self, start: int, stop: int) -> Fitted:
        """Return columns start..stop-1."""
        return Fitted(
            self.kind[start:stop],
            self.cuts.rows(start, stop),
            self.levels.rows(start, stop),
            {j - start: levels for j, levels in self.categories.items() if start <= j < stop},
            self.has_missing[start:stop],
            self.n_levels[start:stop],
        )

    @classmethod
    def concatenate(cls, parts: list[Fitted]) -> Fitted:
        """Return the columns of all parts; ``categories`` are already indexed in the whole."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.kind for part in parts]),
            Ragged.concatenate([part.cuts for part in parts]),
            Ragged.concatenate([part.levels for part in parts]),
            {j: levels for part in parts for j, levels in part.categories.items()},
            np.concatenate([part.has_missing for part in parts]),
            np.concatenate([part.n_levels for part in parts]),
        )


class Learning(NamedTuple):
    """How blocks are learnt.

    Attributes
    ----------
    discretizer : Discretizer
    n_bins : int
    y : Column or None
        For "mdlp".
    """

    discretizer: Discretizer
    n_bins: int
    y: Column | None


class EncodedBlock(NamedTuple):
    """What was learnt from a block.

    Attributes
    ----------
    fitted : Fitted
    most_frequent : ndarray of int64
        The most frequent code of each column; the first of equally frequent ones.
    wide : dict of column index to ndarray of uint16
        The codes of the columns of more than 256 levels.
    """

    fitted: Fitted
    most_frequent: NDArray[np.int64]
    wide: dict[int, NDArray[np.uint16]]


def encode_block(
    table: Table,
    block: Numbers | SparseNumbers | Categories,
    how: Learning,
    narrow: NDArray[np.uint8],
) -> EncodedBlock:
    """Learn how the columns of a block are coded, and code them.

    Row k of ``narrow`` gets the codes of column k of the block, if it has at most 256 levels.
    """
    if isinstance(block, Categories):
        return _encode_categories(table, block, narrow[0])
    classes = _NO_CLASSES if how.y is None else how.y.codes.astype(np.int64)
    n_classes = 0 if how.y is None else how.y.arity
    method = how.discretizer.method, how.n_bins, classes, n_classes
    if isinstance(block, SparseNumbers):
        found = _native.encode_sparse(
            block.values, block.rows, block.offsets, table.n_rows, *method, narrow
        )
    else:
        found = _native.encode_block(for_kernels(block.values), *method, narrow)
    is_cut, has_missing, n_cuts, n_distinct, n_levels, frequent, cuts, distinct, infinite = found
    if infinite >= 0:
        raise infinite_value(table, block.start + infinite)
    fitted = Fitted(
        np.where(is_cut, CUT, LEVELS).astype(np.int8),
        Ragged.from_counts(cuts, n_cuts),
        Ragged.from_counts(distinct, n_distinct),
        {},
        has_missing.astype(bool),
        n_levels,
    )
    wide = {}
    for k in np.flatnonzero(fitted.arity > NARROW_LEVELS).tolist():
        codes = _wide_codes(table, block.start + k, fitted.cuts.row(k), n_levels[k : k + 1])
        frequent[k] = np.bincount(codes).argmax()
        wide[block.start + k] = codes
    return EncodedBlock(fitted, frequent, wide)


def _wide_codes(
    table: Table, j: int, cuts: NDArray[np.float64], missing: NDArray[np.int64]
) -> NDArray[np.uint16]:
    """Return the codes of a numeric column of more than 256 levels, which is read again."""
    block = table.read(Span(j, j + 1))
    assert isinstance(block, Numbers)
    codes = np.empty((1, table.n_rows), np.uint16)
    offsets, place = np.array([0, len(cuts)]), np.array([~0])
    none = np.empty((0, table.n_rows), np.uint8)
    _native.apply_cuts(for_kernels(block.values), cuts, offsets, missing, place, none, codes)
    row: NDArray[np.uint16] = codes[0]
    return row


_NO_CLASSES = np.empty(0, np.int64)


def _encode_categories(table: Table, block: Categories, narrow: NDArray[np.uint8]) -> EncodedBlock:
    n_levels = len(block.levels)
    missing = block.codes < 0
    none = Ragged(np.empty(0), np.zeros(2, np.int64))
    fitted = Fitted(
        np.array([CATEGORIES], np.int8),
        none,
        none,
        {block.start: block.levels},
        np.array([missing.any()]),
        np.array([n_levels], np.int64),
    )
    check_levels(fitted, lambda _: table.label(block.start))
    wide: dict[int, NDArray[np.uint16]] = {}
    codes: NDArray[np.uint8] | NDArray[np.uint16] = narrow
    if fitted.arity[0] > NARROW_LEVELS:
        codes = wide[block.start] = np.empty(len(block.codes), np.uint16)
    np.copyto(codes, block.codes, casting="unsafe")
    if fitted.has_missing[0]:
        codes[missing] = n_levels
    return EncodedBlock(fitted, np.array([np.bincount(codes).argmax()]), wide)


def survey_numbers(table: Table, block: Numbers, n_bins: int) -> Survey:
    """Survey a block; an infinite value is an error."""
    survey = Survey.of(block.values, n_bins)
    infinite = ~survey.is_empty & (np.isinf(survey.minimum) | np.isinf(survey.maximum))
    if infinite.any():
        raise infinite_value(table, block.start + int(np.argmax(infinite)))
    return survey


def fit_numbers(survey: Survey, cut: Ragged) -> Fitted:
    """Return how numeric columns are coded.

    ``cut`` has the cuts of the columns with many distinct values, and of no others.
    """
    cuts = _interleave(survey.many, cut, midpoints(survey.distinct))
    n_levels = np.where(survey.is_empty, 0, cuts.counts + 1)
    kind = np.where(survey.many, CUT, LEVELS).astype(np.int8)
    return Fitted(kind, cuts, survey.distinct, {}, survey.has_missing, n_levels)


def _interleave(is_cut: NDArray[np.bool_], cut: Ragged, others: Ragged) -> Ragged:
    """Return row j of ``others``, or the next row of ``cut`` where ``is_cut[j]``."""
    counts = others.counts
    counts[is_cut] = cut.counts
    from_cut = np.repeat(is_cut, counts)
    values = np.empty(len(from_cut))
    values[from_cut] = cut.values
    values[~from_cut] = others.values
    return Ragged.from_counts(values, counts)


def check_levels(fitted: Fitted, label: Callable[[int], str]) -> None:
    """Raise an error if a column has more than 65 536 levels."""
    is_too_wide = fitted.arity > MAX_LEVELS
    if is_too_wide.any():
        j = int(np.argmax(is_too_wide))
        raise InvalidTableError(
            f"Too many levels in {label(j)} of X: {fitted.arity[j]}, more than the maximum of "
            f"{MAX_LEVELS}. Drop the column if it identifies the rows, or group its values."
        )

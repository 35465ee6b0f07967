"""How the columns of a table are coded, learnt from a block of its values, and their codes.

A numeric column with more than ``n_bins`` distinct values is cut by the discretizer. The others
have levels, and the cuts midway between neighbouring levels. A column of categories has the sorted
values that occur; of too many, the rarest are pooled (``rare.py``).
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import hocmim._native as _native
from hocmim.coding.codes import NARROW_LEVELS, Column, MadePlanes
from hocmim.coding.cuts import Discretizer, Ragged, Survey, for_kernels, midpoints
from hocmim.coding.identifiers import Marks, are_nearly_distinct, may_be_row_numbers
from hocmim.coding.rare import MaxLevels, kept_levels, level_limit
from hocmim.data.checks import infinite_value
from hocmim.data.columns import Categories, Numbers, Span, SparseNumbers
from hocmim.data.table import Table
from hocmim.errors import InvalidTableError
from hocmim.threads import map_spans

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
        Without the pooled ones.
    has_missing : ndarray of bool
    n_levels : ndarray of int64
        Without the level of missing values.
    n_pooled : dict of column index to int
        How many categories are pooled into the level after the last one; only where some are.
    """

    kind: NDArray[np.int8]
    cuts: Ragged
    levels: Ragged
    categories: dict[int, list[Any]]
    has_missing: NDArray[np.bool_]
    n_levels: NDArray[np.int64]
    n_pooled: dict[int, int]

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
            {j - start: number for j, number in self.n_pooled.items() if start <= j < stop},
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
            {j: number for part in parts for j, number in part.n_pooled.items()},
        )


class Learning(NamedTuple):
    """How blocks are learnt.

    Attributes
    ----------
    discretizer : Discretizer
    n_bins : int
    y : Column or None
        For "mdlp".
    max_levels : int, "auto" or None
        Of a column of categories.
    plane_classes : int
        The number of classes that bit planes are made for; 0 for no planes.
    """

    discretizer: Discretizer
    n_bins: int
    y: Column | None
    max_levels: MaxLevels
    plane_classes: int

    def room_for_planes(self, n_columns: int, n_rows: int) -> NDArray[np.uint64]:
        """Return memory for bit planes, a row a column.

        In one piece: many pieces of many threads would take from the system, and give back, the
        memory that the codes of the next table need.
        """
        if not self.plane_classes:
            return np.empty((0, 0), np.uint64)
        n_planes = _native.BitPlanes.most_levels - 1
        if not self.discretizer.needs_target:  # bins, and the level of missing values
            n_planes = min(n_planes, self.n_bins)
        n_words = n_planes * _native.BitPlanes.words_of_plane(n_rows)
        return np.empty((n_columns, n_words), np.uint64)


class EncodedBlock(NamedTuple):
    """What was learnt from a block.

    Attributes
    ----------
    fitted : Fitted
    most_frequent : ndarray of int64
        The most frequent code of each column; the first of equally frequent ones.
    n_most_frequent : ndarray of int64
        How many rows have it.
    wide : dict of column index to ndarray of uint16
        The codes of the columns of more than 256 levels.
    identifiers : list of int
        The columns that are identifiers.
    made_planes : list of MadePlanes
        Bit planes of some of the columns.
    """

    fitted: Fitted
    most_frequent: NDArray[np.int64]
    n_most_frequent: NDArray[np.int64]
    wide: dict[int, NDArray[np.uint16]]
    identifiers: list[int]
    made_planes: list[MadePlanes]


class LearntNumbers(NamedTuple):
    """What the kernels learnt of neighbouring columns of numbers, one element for each column.

    ``_native.Encoding`` says what they are; ``cuts`` and ``distinct`` are end to end.
    """

    is_cut: NDArray[np.uint8]
    has_missing: NDArray[np.uint8]
    n_cuts: NDArray[np.int64]
    n_distinct: NDArray[np.int64]
    n_levels: NDArray[np.int64]
    most_frequent: NDArray[np.int64]
    n_most_frequent: NDArray[np.int64]
    minimum: NDArray[np.float64]
    maximum: NDArray[np.float64]
    cuts: NDArray[np.float64]
    distinct: NDArray[np.float64]
    made_planes: list[MadePlanes]

    @classmethod
    def concatenate(cls, parts: list[LearntNumbers]) -> LearntNumbers:
        """Return the columns of all parts."""
        if len(parts) == 1:
            return parts[0]
        starts = accumulate((len(part.is_cut) for part in parts), initial=0)
        moved = [
            (start + first, planes)
            for start, part in zip(starts, parts, strict=False)
            for first, planes in part.made_planes
        ]
        arrays = zip(*(part[:-1] for part in parts), strict=True)
        return cls._make([*(np.concatenate(several) for several in arrays), moved])


def encode_block(
    table: Table,
    block: Numbers | SparseNumbers | Categories,
    how: Learning,
    narrow: NDArray[np.uint8],
    room: NDArray[np.uint64],
    n_threads: int = 1,
) -> LearntNumbers | EncodedBlock:
    """Learn how the columns of a block are coded, and code them.

    Row k of ``narrow`` gets the codes of column k of the block, if it has at most 256 levels, and
    row k of ``room`` is for its bit planes. Numbers are encoded by ``n_threads`` threads together.
    ``join_blocks`` finishes them, once for all blocks: while one thread runs Python code, the
    others wait.
    """
    if isinstance(block, Categories):
        return _encode_categories(table, block, how.max_levels, narrow[0])
    classes = _NO_CLASSES if how.y is None else how.y.codes.astype(np.int64)
    n_classes = 0 if how.y is None else how.y.arity
    method = how.discretizer.method, how.n_bins, classes, n_classes
    if isinstance(block, SparseNumbers):
        made_planes = []
        found = _native.encode_sparse(
            block.values, block.rows, block.offsets, table.n_rows, *method, narrow
        )
    else:
        encoding = _native.Encoding(
            for_kernels(block.values), *method, narrow, n_threads, how.plane_classes, room
        )
        if n_threads == 1:
            encoding.encode()
        else:
            map_spans(lambda _: encoding.encode(), range(n_threads), n_threads)
        found, made_planes = encoding.result(), encoding.planes()
    infinite = found[-1]
    if infinite >= 0:
        raise infinite_value(table, block.start + infinite)
    return LearntNumbers(*found[:-1], made_planes)


def join_blocks(table: Table, parts: list[LearntNumbers | EncodedBlock]) -> EncodedBlock:
    """Return all columns of a table as one block; ``parts`` are its blocks from left to right."""
    blocks: list[EncodedBlock] = []
    numbers: list[LearntNumbers] = []
    start = 0  # the first column of ``numbers``
    for part, following in zip(parts, [*parts[1:], None], strict=True):
        if isinstance(part, LearntNumbers):
            numbers.append(part)
            if isinstance(following, LearntNumbers):
                continue
            part = _finish_numbers(table, start, LearntNumbers.concatenate(numbers))
            numbers = []
        blocks.append(part)
        start += len(part.most_frequent)
    if len(blocks) == 1:
        return blocks[0]
    return EncodedBlock(
        Fitted.concatenate([block.fitted for block in blocks]),
        np.concatenate([block.most_frequent for block in blocks]),
        np.concatenate([block.n_most_frequent for block in blocks]),
        {j: codes for block in blocks for j, codes in block.wide.items()},
        [j for block in blocks for j in block.identifiers],
        [made for block in blocks for made in block.made_planes],
    )


def _finish_numbers(table: Table, start: int, learnt: LearntNumbers) -> EncodedBlock:
    """Return neighbouring columns of numbers, the first of which is column ``start``."""
    fitted = Fitted(
        np.where(learnt.is_cut, CUT, LEVELS).astype(np.int8),
        Ragged.from_counts(learnt.cuts, learnt.n_cuts),
        Ragged.from_counts(learnt.distinct, learnt.n_distinct),
        {},
        learnt.has_missing.astype(bool),
        learnt.n_levels,
        {},
    )
    frequent, n_frequent = learnt.most_frequent, learnt.n_most_frequent
    wide = {}
    for k in np.flatnonzero(fitted.arity > NARROW_LEVELS).tolist():
        missing = learnt.n_levels[k : k + 1]
        codes = wide[start + k] = _wide_codes(table, start + k, fitted.cuts.row(k), missing)
        counts = np.bincount(codes)
        frequent[k], n_frequent[k] = counts.argmax(), counts.max()
    may_be = may_be_row_numbers(learnt.minimum, learnt.maximum, table.n_rows)
    identifiers = [
        start + k for k in np.flatnonzero(may_be).tolist() if _is_row_number(table, start + k)
    ]
    made_planes = [(start + first, planes) for first, planes in learnt.made_planes]
    return EncodedBlock(fitted, frequent, n_frequent, wide, identifiers, made_planes)


def _is_row_number(table: Table, j: int) -> bool:
    """Whether a column of numbers is a row number; a row of weight w counts once."""
    block = table.read(Span(j, j + 1))
    assert isinstance(block, Numbers)
    return Marks.of(once(table, block.values[:, 0])).is_row_number


def once(table: Table, values: NDArray[Any]) -> NDArray[Any]:
    """Return the value of each row of the user's table, which weights may repeat."""
    if table.rows is None:
        return values
    return values[np.unique(table.rows, return_index=True)[1]]


def _wide_codes(
    table: Table, j: int, cuts: NDArray[np.float64], missing: NDArray[np.int64]
) -> NDArray[np.uint16]:
    """Return the codes of a numeric column of more than 256 levels, which is read again."""
    block = table.read(Span(j, j + 1))
    assert isinstance(block, Numbers)
    codes = np.empty((1, table.n_rows), np.uint16)
    offsets, place = np.array([0, len(cuts)], np.int64), np.array([~0], np.int64)
    none = np.empty((0, table.n_rows), np.uint8)
    _native.apply_cuts(for_kernels(block.values), cuts, offsets, missing, place, none, codes)
    row: NDArray[np.uint16] = codes[0]
    return row


_NO_CLASSES = np.empty(0, np.int64)


def _encode_categories(
    table: Table, block: Categories, max_levels: MaxLevels, narrow: NDArray[np.uint8]
) -> EncodedBlock:
    j, n_found = block.start, len(block.levels)
    counts = np.bincount(block.codes + 1, minlength=n_found + 1)
    has_missing = bool(counts[0])
    kept = kept_levels(counts[1:], level_limit(max_levels, table.n_rows, has_missing))
    none = Ragged(np.empty(0), np.zeros(2, np.int64))
    found = block.codes
    if kept is None:
        levels, n_levels, n_pooled = block.levels, n_found, {}
    else:
        levels, n_levels = [block.levels[code] for code in kept.tolist()], len(kept) + 1
        n_pooled = {j: n_found - len(kept)}
        new = np.full(n_found + 1, len(kept), np.int64)
        new[kept], new[-1] = np.arange(len(kept)), -1
        found = new[found]
    fitted = Fitted(
        np.array([CATEGORIES], np.int8),
        none,
        none,
        {j: levels},
        np.array([has_missing]),
        np.array([n_levels], np.int64),
        n_pooled,
    )
    wide: dict[int, NDArray[np.uint16]] = {}
    codes: NDArray[np.uint8] | NDArray[np.uint16] = narrow
    if fitted.arity[0] > NARROW_LEVELS:
        codes = wide[j] = np.empty(len(found), np.uint16)
    np.copyto(codes, found, casting="unsafe")
    if has_missing:
        codes[found < 0] = n_levels
    n_present = int((once(table, block.codes) >= 0).sum())
    identifiers = [j] if are_nearly_distinct(n_found, n_present) else []
    totals = np.bincount(codes)
    frequent = np.array([totals.argmax()]), np.array([totals.max()])
    return EncodedBlock(fitted, *frequent, wide, identifiers, [])


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
    return Fitted(kind, cuts, survey.distinct, {}, survey.has_missing, n_levels, {})


def _interleave(is_cut: NDArray[np.bool_], cut: Ragged, others: Ragged) -> Ragged:
    """Return row j of ``others``, or the next row of ``cut`` where ``is_cut[j]``."""
    counts = others.counts
    counts[is_cut] = cut.counts
    from_cut = np.repeat(is_cut, counts)
    values = np.empty(len(from_cut))
    values[from_cut] = cut.values
    values[~from_cut] = others.values
    return Ragged.from_counts(values, counts)


def changed_kind(table: Table, j: int, then: str, now: str) -> InvalidTableError:
    """Return the error for a column whose kind is not the one of the fit."""
    return InvalidTableError(
        f"The type of {table.label(j)} of X has changed: it holds {now}, but held {then} when the "
        "encoder was fitted. Convert it to the same type."
    )

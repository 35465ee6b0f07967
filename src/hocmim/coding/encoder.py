"""Encode a table into Codes, and another table with the same columns into the same Codes.

The rules for a column:

* Numbers (booleans, integers, floats, dates as nanoseconds; see ``hocmim.data.columns``) with more
  than ``n_bins`` distinct values are **cut** by the discretizer. Otherwise the sorted distinct
  values are the **levels**.
* Strings and categorical columns: the sorted values that occur are the **categories**. Of more
  than ``max_levels``, the rarest are pooled into one level: see ``hocmim.coding.rare``.
* Missing values, if there are any, are an additional level, the last one.

In a table that is encoded later by the fitted encoder:

* A number outside the range of the fit goes to the first or the last bin. In a column that was not
  cut, a new number goes to the nearest level.
* A new category goes to the level of pooled categories if the column has one.
* Any other value that the fit did not see, a new category or a missing value in a column that had
  none, is **unknown**: a level of its own, the one after the last. A warning counts them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

import hocmim._native as _native
from hocmim._native import LearntColumns
from hocmim.coding.codes import (
    MAX_LEVELS,
    NARROW_LEVELS,
    Allocate,
    Codes,
    Column,
    MadePlanes,
    as_small_integers,
    storage_places,
)
from hocmim.coding.cuts import (
    CATEGORIES,
    DEFAULT_DISCRETIZER,
    DISCRETIZERS,
    ColumnDescriptions,
    Ragged,
    Survey,
    for_kernels,
)
from hocmim.coding.groups import column_name
from hocmim.coding.identifiers import (
    IDENTIFIERS,
    are_nearly_distinct,
    find_in_numbers,
    one_per_row,
)
from hocmim.coding.rare import DEFAULT_MAX_LEVELS, MaxLevels, kept_levels, level_limit
from hocmim.coding.target import EncodedTarget, encode_target
from hocmim.data.checks import check_features, infinite_value, set_features
from hocmim.data.columns import Categories, Numbers, Span, SparseNumbers
from hocmim.data.table import Table, as_table
from hocmim.errors import InvalidTableError, InvalidTargetError, warn_about_data
from hocmim.parameters import check_parameters, one_of, whole
from hocmim.text import count, quote, some_of
from hocmim.threads import map_spans, resolve_n_jobs

if TYPE_CHECKING:
    from hocmim._sklearn import BaseEstimator
else:
    from sklearn.base import BaseEstimator

# Bytes of a table that one thread encodes before a second one has started.
MAX_BYTES_OF_ONE_THREAD = 1 << 22
# Cells of a span: fewer are not worth a call, and an interrupt waits for more.
MIN_SPAN_CELLS = 1 << 19
MAX_SPAN_CELLS = 1 << 20
SPANS_PER_THREAD = 16
# Columns that a warning about unknown values names.
SHOWN_NEW = 5

_HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
_NO_CLASSES = np.empty(0, np.int64)

Result = TypeVar("Result")


class Encoder(BaseEstimator):
    """Turns tables into Codes: the parameter ``encoder`` of a selector.

    ``fit`` learns from one table how each column is coded; ``transform`` codes other tables.

    Parameters
    ----------
    n_bins : int, default 5
        Numeric columns with more distinct values than this are cut; "uniform" and "quantile" cut
        them into (at most) this many bins.
    discretizer : {"uniform", "quantile", "mdlp"}, default "quantile"
        How numbers are cut: equal width, equal frequency, or by the class (needs y).
    max_levels : int, "auto" or None, default "auto"
        The most levels of a column of strings or categories; of more, the rarest are pooled into
        one. "auto": half the square root of the number of rows, and at least 16. None: as many as
        codes have, 65 535.
    identifiers : {"drop", "warn", "keep"}, default "drop"
        What a selector does with columns that identify the rows: strings with nearly one level for
        each row, row numbers, and distinct whole numbers named id, user_id and the like. "drop":
        they are no candidates. "warn" and "keep": they are. "drop" and "warn" give a
        ``DataWarning``. They are encoded like the others. See ``hocmim.coding.identifiers``.

    Attributes
    ----------
    columns_ : ColumnDescriptions
        How each column was encoded; ``columns_[j]`` describes column j.
    identifiers_ : ndarray of int64
        The columns that identify the rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table has column names.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_bins": [whole(2, MAX_LEVELS - 1)],
        "discretizer": [one_of(tuple(DISCRETIZERS))],
        "max_levels": [whole(2, MAX_LEVELS - 1), one_of(["auto"]), None],
        "identifiers": [one_of(IDENTIFIERS)],
    }

    columns_: ColumnDescriptions

    def __init__(
        self,
        n_bins: int = 5,
        *,
        discretizer: str = DEFAULT_DISCRETIZER,
        max_levels: MaxLevels = DEFAULT_MAX_LEVELS,
        identifiers: str = "drop",
    ) -> None:
        self.n_bins = n_bins
        self.discretizer = discretizer
        self.max_levels = max_levels
        self.identifiers = identifiers

    def fit(self, X: Any, y: Any = None, *, n_jobs: int | None = None) -> Self:
        """Learn how each column of X is coded. ``y`` (raw, or a Column) is for "mdlp" only."""
        self.fit_transform(X, y, n_jobs=n_jobs)
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        n_jobs: int | None = None,
        allocate: Allocate | None = None,
        plane_classes: int = 0,
    ) -> Codes:
        """Learn how each column of X is coded, and code it.

        The table is read once, block by block: a block is learnt and coded while it is in the
        cache. ``allocate`` makes the arrays of codes elsewhere than in memory, when the number of
        levels of every column is known; then the table is read twice. See
        ``hocmim.coding.codes.Allocate``. ``plane_classes`` is the number of classes of a
        search that follows: bit planes for it are made, too, if the codes are made in memory.
        ``n_jobs`` is the number of threads: None for one, -1 for all cores; it changes no code.
        """
        check_parameters(self)
        table = as_table(X)
        set_features(self, table.n_columns, table.names)
        needs_target = DISCRETIZERS[self.discretizer].needs_target
        target = _target_column(y, table, self.discretizer) if needs_target else None
        n_threads = _n_threads(table, n_jobs)
        learning = _Learning(self, table.shape, target, plane_classes, keeps_codes=allocate is None)
        codes = self._learn(learning, [table], n_threads)
        return codes if allocate is None else self._encode(table, allocate, n_threads)

    def fit_transform_blocks(
        self,
        blocks: Iterable[Any],
        n_rows: int,
        names: Sequence[str],
        y: Column | None = None,
        *,
        n_jobs: int | None = None,
        plane_classes: int = 0,
    ) -> Codes:
        """Learn and code a table that comes as blocks of columns, from left to right.

        The codes are those of ``fit_transform``. A block is not kept: it may be read from a file
        while the one before it is forgotten. ``names`` are those of the columns of all blocks.
        """
        check_parameters(self)
        set_features(self, len(names), names)
        target = y if DISCRETIZERS[self.discretizer].needs_target else None
        learning = _Learning(self, (n_rows, len(names)), target, plane_classes, keeps_codes=True)
        return self._learn(learning, map(as_table, blocks), resolve_n_jobs(n_jobs, outside=1))

    def _learn(self, learning: _Learning, blocks: Iterable[Table], n_threads: int) -> Codes:
        for block in blocks:
            learning.add(block, n_threads)
        self.columns_, codes = learning.result(self.names)
        self.identifiers_ = self.columns_.identifiers
        return codes

    def unfitted(self) -> Encoder:
        """Return an encoder of the same parameters that is not fitted; faster than ``clone``."""
        return Encoder(
            self.n_bins,
            discretizer=self.discretizer,
            max_levels=self.max_levels,
            identifiers=self.identifiers,
        )

    def with_columns(self, columns: ColumnDescriptions, names: Sequence[str] | None) -> Encoder:
        """Return an encoder of the same parameters that was fitted by other code."""
        encoder = self.unfitted()
        set_features(encoder, len(columns), names)
        encoder.columns_, encoder.identifiers_ = columns, columns.identifiers
        return encoder

    def of_columns(self, start: int, stop: int) -> Encoder:
        """Return the encoder of columns start..stop-1."""
        names = self.names
        columns = self.columns_.columns(start, stop)
        return self.with_columns(columns, None if names is None else names[start:stop])

    @property
    def names(self) -> Sequence[str] | None:
        """The names of the columns, if they have any."""
        return getattr(self, "feature_names_in_", None)

    @property
    def arity(self) -> NDArray[np.int64]:
        """Number of codes of each column."""
        return self.columns_.arity

    def transform(self, X: Any, *, n_jobs: int | None = None) -> Codes:
        """Code another table with the same columns.

        A column with values that the fit did not see has one level more than in the fit: their
        code is ``arity`` of the fit. A ``DataWarning`` says how many there are.
        """
        check_is_fitted(self)
        table = as_table(X)
        check_features(self, table, reset=False)
        codes = self._encode(table, _with_room, _n_threads(table, n_jobs))
        return self._checked(codes, range(codes.n_columns))

    def transform_column(self, X: Any, j: int) -> Column:
        """Code one column of another table with the same columns."""
        check_is_fitted(self)
        table = as_table(X)
        check_features(self, table, reset=False)
        codes = _with_room(self.columns_.arity[j : j + 1], table.n_rows)
        block = table.read(Span(j, j + 1))
        self._encode_block(table, block, codes.place, codes.narrow, codes.wide)
        return replace(self._checked(codes, [j]).column(0), index=j)

    def _checked(self, codes: Codes, columns: Sequence[int]) -> Codes:
        """Return codes with the levels that columns have; warn about values the fit did not see."""
        arity = self.columns_.arity[columns]
        largest = np.empty(codes.n_columns, np.int64)
        is_wide = codes.place < 0
        largest[~is_wide], largest[is_wide] = codes.narrow.max(axis=1), codes.wide.max(axis=1)
        is_new = largest >= arity
        if is_new.any():
            numbers = {
                column_name(self.names, columns[k]): int((codes.column(k).codes == arity[k]).sum())
                for k in np.flatnonzero(is_new).tolist()
            }
            listed = some_of(
                [f"{quote(name)} ({count(n, 'row')})" for name, n in numbers.items()], SHOWN_NEW
            )
            warn_about_data(
                f"New levels and missing values that the fit did not see: {listed}. They have the "
                "code of unknown values, one more than the last of the fit."
            )
        codes = replace(codes, arity=arity + is_new)
        if np.array_equal(codes.place, storage_places(codes.arity)):
            return codes
        each = [codes.column(k) for k in range(codes.n_columns)]
        narrow = [
            replace(one, codes=as_small_integers(one.codes.astype(np.int64), one.arity))
            for one in each
        ]
        return Codes.from_columns(narrow, codes.names)

    def _encode(self, table: Table, allocate: Allocate, n_threads: int) -> Codes:
        codes = allocate(self.columns_.arity, table.n_rows, self.names)

        def encode_span(span: Span) -> None:
            place = codes.place[span.start : span.stop]
            self._encode_block(table, table.read_stored(span), place, codes.narrow, codes.wide)

        _map_table(encode_span, table, n_threads)
        return codes

    def _encode_block(
        self,
        table: Table,
        block: Numbers | SparseNumbers | Categories,
        place: NDArray[np.int64],
        narrow: NDArray[np.uint8],
        wide: NDArray[np.uint16],
    ) -> None:
        """Write the codes of the columns of a block to the rows ``place`` of narrow and wide."""
        if isinstance(block, Categories):
            row = narrow[place[0]] if place[0] >= 0 else wide[~place[0]]
            row[:] = self._encode_categories(table, block)
            return
        columns, start, stop = self.columns_, block.start, block.start + len(place)
        for j in np.flatnonzero(columns.kind[start:stop] == CATEGORIES):
            if not _is_empty(block, int(j)):
                raise _changed_kind(table, start + int(j), "categories", "numbers")
        cuts = columns.cuts
        how = cuts.values, cuts.offsets[start : stop + 1], columns.n_levels[start:stop]
        if isinstance(block, SparseNumbers):
            stored = block.values, block.rows, block.offsets
            infinite = _native.apply_cuts_sparse(*stored, *how, place, narrow, wide)
        else:
            infinite = _native.apply_cuts(for_kernels(block.values), *how, place, narrow, wide)
        if infinite >= 0:
            raise infinite_value(table, start + infinite)

    def _encode_categories(self, table: Table, block: Categories) -> NDArray[np.int64]:
        columns, j = self.columns_, block.start
        # Without missing values in the fit, this is the code of unknown ones.
        unknown, missing = int(columns.unknown[j]), int(columns.n_levels[j])
        # A column of the fit that was all missing has one level, and fits any kind.
        if columns.kind[j] != CATEGORIES and columns.n_levels[j] and block.levels:
            raise _changed_kind(table, j, "numbers", "strings or categories")
        code_of = {level: code for code, level in enumerate(columns.categories.get(j, []))}
        codes = [code_of.get(level, unknown) for level in block.levels]
        return np.array([*codes, missing], np.int64)[block.codes]


def _with_room(
    arity: NDArray[np.int64], n_samples: int, names: Sequence[str] | None = None
) -> Codes:
    """Allocate codes for columns of these arities and one level more."""
    return Codes.empty(arity + 1, n_samples, names)


def _is_empty(block: Numbers | SparseNumbers, j: int) -> bool:
    """Whether all values of column j of a block are missing. A sparse column has zeros."""
    is_dense = isinstance(block, Numbers)
    return is_dense and bool(Survey.of(block.values[:, j : j + 1], 1).is_empty[0])


def _changed_kind(table: Table, j: int, then: str, now: str) -> InvalidTableError:
    return InvalidTableError(
        f"The type of {table.label(j)} of X has changed: it holds {now}, but held {then} when the "
        "encoder was fitted. Convert it to the same type."
    )


def _target_column(y: Any, table: Table, discretizer: str) -> Column:
    if y is None:
        raise InvalidTargetError(
            f"discretizer={discretizer!r} needs the target y, but y is None. Pass y."
        )
    if isinstance(y, EncodedTarget):
        y = y.column
    if not isinstance(y, Column):
        return encode_target(y, table.n_rows).column
    if len(y.codes) != table.n_rows:
        raise InvalidTargetError(
            f"X and y have different lengths: X has {table.n_rows} rows and y has "
            f"{len(y.codes)} values."
        )
    return y


def _n_threads(table: Table, n_jobs: int | None) -> int:
    """Return how many threads are worth their start."""
    n_threads = resolve_n_jobs(n_jobs, outside=1)
    n_bytes = table.n_rows * table.n_columns * table.cell_bytes
    return 1 if n_bytes <= MAX_BYTES_OF_ONE_THREAD else n_threads


def _map_table(function: Callable[[Span], Result], table: Table, n_threads: int) -> list[Result]:
    """Return the results of a function for every span of a table, from left to right.

    Spans of numbers on several threads. Strings and categories are read by Python code, which
    takes longer on two threads that wait for each other: this thread reads them.
    """
    n_spans = 1 if n_threads == 1 else SPANS_PER_THREAD * n_threads
    n_cells = table.n_rows * table.n_columns // n_spans
    spans = table.spans(min(max(n_cells, MIN_SPAN_CELLS), MAX_SPAN_CELLS))
    if n_threads == 1:
        return [function(span) for span in spans]
    is_shared = [not _HAS_GIL or table.is_numeric(span) for span in spans]
    shared = [span for span, is_for_all in zip(spans, is_shared, strict=True) if is_for_all]
    others = [span for span, is_for_all in zip(spans, is_shared, strict=True) if not is_for_all]
    of_shared = iter(map_spans(function, shared, n_threads))
    of_others = iter(map_spans(function, others, 1))
    return [next(of_shared if is_for_all else of_others) for is_for_all in is_shared]


# --- learning and coding in one pass --------------------------------------------------------------


class _Learning:
    """Learns how the columns of a table are coded, and codes them.

    Numbers are learnt and coded by kernels, block by block on several threads; what they found is
    described once for all blocks: while one thread runs Python code, the others wait.
    """

    def __init__(
        self,
        encoder: Encoder,
        shape: tuple[int, int],
        y: Column | None,
        plane_classes: int,
        keeps_codes: bool,
    ) -> None:
        plane_classes = plane_classes if keeps_codes else 0
        n_rows, n_columns = shape
        self._max_levels = encoder.max_levels
        discretizer = DISCRETIZERS[encoder.discretizer]
        classes = _NO_CLASSES if y is None else y.codes.astype(np.int64)
        n_classes = 0 if y is None else y.arity
        self._method = discretizer.method, int(encoder.n_bins), classes, n_classes
        self._keeps_codes, self._plane_classes = keeps_codes, plane_classes
        n_kept = n_columns if keeps_codes else 0
        # Row j has the codes of column j, if they fit into a byte; the others are in ``_wide``.
        self._narrow = np.empty((n_kept, n_rows), np.uint8)
        self._wide: dict[int, NDArray[np.uint16]] = {}
        # Room for bit planes in one piece: many pieces of many threads would take from the system,
        # and give back, the memory that the codes of the next table need.
        n_words = 0
        if plane_classes:
            n_planes = _native.BitPlanes.most_levels - 1
            if not discretizer.needs_target:  # bins, and the level of missing values
                n_planes = min(n_planes, encoder.n_bins)
            n_words = n_planes * _native.BitPlanes.words_of_plane(n_rows)
        self._room = np.empty((n_kept if n_words else 0, n_words), np.uint64)
        self._described: list[ColumnDescriptions] = []
        self._planes: list[MadePlanes] = []
        self._table: Table  # the block that is coded
        self._start = 0  # its first column

    def add(self, table: Table, n_threads: int) -> None:
        """Learn and code the next columns."""
        self._table = table
        parts: list[LearntColumns | ColumnDescriptions]
        if self._keeps_codes and table.is_in_place:
            whole = table.read(Span(0, table.n_columns))
            kept = slice(self._start, self._start + table.n_columns)
            parts = [self._encode_numbers(whole, self._narrow[kept], self._room[kept], n_threads)]
        else:
            parts = _map_table(self._encode_span, table, n_threads)
        start = 0
        for kind, group in groupby(parts, type):
            found: list[Any] = list(group)
            if kind is LearntColumns:
                learnt = found[0] if len(found) == 1 else LearntColumns.concatenate(found)
                found = [self._describe_numbers(learnt, start)]
                at = self._start + start
                self._planes += [(at + first, made) for first, made in learnt.planes]
            self._described += found
            start += sum(map(len, found))
        self._start += table.n_columns

    def result(self, names: Sequence[str] | None) -> tuple[ColumnDescriptions, Codes]:
        """Return how all columns are coded, and their codes; none if they are not kept."""
        described = ColumnDescriptions.concatenate(self._described)
        arity = described.arity
        if not self._keeps_codes:
            return described, Codes.empty(arity[:0], 0)
        return described, Codes.from_rows(self._narrow, self._wide, arity, names, self._planes)

    def _encode_span(self, span: Span) -> LearntColumns | ColumnDescriptions:
        kept = slice(self._start + span.start, self._start + span.stop)
        narrow, room = self._narrow[kept], self._room[kept]
        if not self._keeps_codes:
            narrow = np.empty((span.stop - span.start, self._table.n_rows), np.uint8)
        block = self._table.read_stored(span)
        if isinstance(block, Categories):
            return self._encode_categories(block, narrow[0])
        return self._encode_numbers(block, narrow, room)

    def _encode_numbers(
        self,
        block: Any,
        narrow: NDArray[np.uint8],
        room: NDArray[np.uint64],
        n_threads: int = 1,
    ) -> LearntColumns:
        """Code a block of numbers by ``n_threads`` threads together."""
        if isinstance(block, SparseNumbers):
            stored = block.values, block.rows, block.offsets, self._table.n_rows
            learnt = _native.encode_sparse(*stored, *self._method, narrow)
        else:
            values, n_classes = for_kernels(block.values), self._plane_classes
            encoding = _native.Encoding(values, *self._method, narrow, n_threads, n_classes, room)
            if n_threads == 1:
                encoding.encode()
            else:
                map_spans(lambda _: encoding.encode(), range(n_threads), n_threads)
            learnt = encoding.result()
        if learnt.infinite_column >= 0:
            raise infinite_value(self._table, block.start + learnt.infinite_column)
        return learnt

    def _describe_numbers(self, learnt: LearntColumns, start: int) -> ColumnDescriptions:
        """Describe neighbouring columns of numbers; the first is column ``start`` of the block."""
        names = self._table.names
        numbers = find_in_numbers(
            learnt.minimum,
            learnt.maximum,
            self._table.n_rows,
            None if names is None else names[start : start + len(learnt.minimum)],
            lambda k: self._numbers(start + k),
        )
        # Copies: a view would keep the record of the kernels, with its bit planes.
        most_frequent, n_most_frequent = learnt.most_frequent.copy(), learnt.n_most_frequent.copy()
        described = ColumnDescriptions(
            np.logical_not(learnt.is_cut).astype(np.int8),
            learnt.n_levels.copy(),
            learnt.has_missing.copy(),
            Ragged.from_counts(learnt.cuts.copy(), learnt.n_cuts),
            Ragged.from_counts(learnt.distinct.copy(), learnt.n_distinct),
            {},
            {},
            most_frequent,
            n_most_frequent,
            np.array(numbers, np.int64),
        )
        for k in np.flatnonzero(described.arity > NARROW_LEVELS).tolist():
            missing = learnt.n_levels[k : k + 1]
            codes = self._wide_codes(start + k, described.cuts.row(k), missing)
            counts = np.bincount(codes)
            most_frequent[k], n_most_frequent[k] = counts.argmax(), counts.max()
            if self._keeps_codes:
                self._wide[self._start + start + k] = codes
        return described

    def _numbers(self, j: int) -> NDArray[Any]:
        """Return the values of a column of numbers; that of a row of weight w once."""
        block = self._table.read(Span(j, j + 1))
        assert isinstance(block, Numbers)
        return one_per_row(block.values[:, 0], self._table.rows)

    def _wide_codes(
        self, j: int, cuts: NDArray[np.float64], missing: NDArray[np.int64]
    ) -> NDArray[np.uint16]:
        """Return the codes of a numeric column of more than 256 levels, which is read again."""
        block = self._table.read(Span(j, j + 1))
        assert isinstance(block, Numbers)
        codes = np.empty((1, self._table.n_rows), np.uint16)
        offsets, place = np.array([0, len(cuts)], np.int64), np.array([~0], np.int64)
        none = np.empty((0, self._table.n_rows), np.uint8)
        _native.apply_cuts(for_kernels(block.values), cuts, offsets, missing, place, none, codes)
        row: NDArray[np.uint16] = codes[0]
        return row

    def _encode_categories(
        self, block: Categories, narrow: NDArray[np.uint8]
    ) -> ColumnDescriptions:
        """Code and describe a column of categories."""
        j, n_found, found = block.start, len(block.levels), block.codes
        counts = np.bincount(found + 1, minlength=n_found + 1)
        has_missing = bool(counts[0])
        limit = level_limit(self._max_levels, self._table.n_rows, has_missing)
        kept = kept_levels(counts[1:], limit)
        levels, n_levels, n_pooled = block.levels, n_found, {}
        if kept is not None:
            levels, n_levels = [block.levels[code] for code in kept.tolist()], len(kept) + 1
            n_pooled = {0: n_found - len(kept)}
            new = np.full(n_found + 1, len(kept), np.int64)
            new[kept], new[-1] = np.arange(len(kept)), -1
            found = new[found]
        codes: NDArray[np.uint8] | NDArray[np.uint16] = narrow
        if n_levels + has_missing > NARROW_LEVELS:
            codes = np.empty(len(found), np.uint16)
            if self._keeps_codes:
                self._wide[self._start + j] = codes
        np.copyto(codes, found, casting="unsafe")
        if has_missing:
            codes[found < 0] = n_levels
        n_present = int((one_per_row(block.codes, self._table.rows) >= 0).sum())
        is_identifier = bool(are_nearly_distinct(n_found, n_present))
        totals = np.bincount(codes)
        none = Ragged(np.empty(0), np.zeros(2, np.int64))
        return ColumnDescriptions(
            np.array([CATEGORIES], np.int8),
            np.array([n_levels], np.int64),
            np.array([has_missing]),
            none,
            none,
            {0: levels},
            n_pooled,
            np.array([totals.argmax()], np.int64),
            np.array([totals.max()], np.int64),
            np.zeros(int(is_identifier), np.int64),
        )


# --- functions ------------------------------------------------------------------------------------


def most_frequent(codes: Codes) -> NDArray[np.int64]:
    """Return the most frequent code of each column; the first of equally frequent ones."""
    found = np.empty(codes.n_columns, np.int64)
    found[codes.place >= 0] = _native.most_frequent(codes.narrow)
    found[codes.place < 0] = _native.most_frequent(codes.wide)
    return found

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
* A new category goes to the level of pooled categories if the column has one, otherwise to the
  level of missing values, otherwise to its most frequent level (the first of equally frequent
  ones). A missing value goes to the level of missing values if the column has one, otherwise to
  where a new category goes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import hocmim._native as _native
from hocmim.coding.codes import NARROW_LEVELS, Allocate, Codes, Column
from hocmim.coding.cuts import DEFAULT_DISCRETIZER, Survey, check_bins, for_kernels, get_discretizer
from hocmim.coding.fitted import (
    CATEGORIES,
    CUT,
    KINDS,
    EncodedBlock,
    Fitted,
    Learning,
    LearntNumbers,
    changed_kind,
    encode_block,
    join_blocks,
)
from hocmim.coding.rare import DEFAULT_MAX_LEVELS, MaxLevels, check_max_levels
from hocmim.coding.target import Target, encode_target
from hocmim.data.checks import check_features, infinite_value, set_features
from hocmim.data.columns import Categories, Numbers, Span, SparseNumbers
from hocmim.data.table import Table, as_table
from hocmim.errors import InvalidTargetError
from hocmim.parameters import JOBS, check_value
from hocmim.threads import map_spans, resolve_n_jobs

# Bytes of a table that one thread encodes before a second one has started.
MAX_BYTES_OF_ONE_THREAD = 1 << 22
# Cells of a span: fewer are not worth a call, and an interrupt waits for more.
MIN_SPAN_CELLS = 1 << 19
MAX_SPAN_CELLS = 1 << 20
SPANS_PER_THREAD = 16

_HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()

Result = TypeVar("Result")


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
        The code of new categories, and of missing values if there were none.
    arity : int
        Number of codes, the code of missing values included.
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


class ColumnDescriptions(Sequence[ColumnDescription]):
    """A description of each column, made on access."""

    def __init__(self, fitted: Fitted, unknown: NDArray[np.int64]) -> None:
        self._fitted = fitted
        self._unknown = unknown
        self._arity = fitted.arity  # computed from all columns on each access
        self.categories = fitted.categories  # the levels of each such column, by its index

    def __len__(self) -> int:
        return len(self._fitted.kind)

    @overload
    def __getitem__(self, j: int) -> ColumnDescription: ...
    @overload
    def __getitem__(self, j: slice) -> list[ColumnDescription]: ...
    def __getitem__(self, j: int | slice) -> ColumnDescription | list[ColumnDescription]:
        if isinstance(j, slice):
            return [self[i] for i in range(*j.indices(len(self)))]
        j = range(len(self))[j]
        fitted = self._fitted
        kind = KINDS[fitted.kind[j]]
        return ColumnDescription(
            kind,
            fitted.cuts.row(j),
            fitted.categories[j] if kind == "categories" else fitted.levels.row(j),
            int(fitted.n_levels[j]) if fitted.has_missing[j] else None,
            int(self._unknown[j]),
            int(self._arity[j]),
            int(fitted.n_levels[j]) - 1 if j in fitted.n_pooled else None,
            fitted.n_pooled.get(j, 0),
        )


class Encoder(BaseEstimator):
    """Turns tables into Codes.

    ``fit`` learns from one table how each column is coded; ``transform`` codes other tables.

    Parameters
    ----------
    discretizer : {"uniform", "quantile", "mdlp"}, default "quantile"
        How numbers are cut: equal width, equal frequency, or by the class (needs y).
    n_bins : int
        Numeric columns with more distinct values than this are cut; "uniform" and "quantile" cut
        them into (at most) this many bins.
    max_levels : int, "auto" or None
        The most levels of a column of strings or categories; of more, the rarest are pooled into
        one. "auto": half the square root of the number of rows, and at least 16. None: as many as
        codes have, 65 536.
    n_jobs : int or None
        Number of threads: None for one, -1 for all cores. It does not change the codes.

    Attributes
    ----------
    columns_ : sequence of ColumnDescription
        How each column was encoded.
    identifiers_ : ndarray of int64
        The columns that identify the rows: see ``hocmim.coding.identifiers``. They are encoded like
        the others.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table has column names.
    """

    def __init__(
        self,
        discretizer: str = DEFAULT_DISCRETIZER,
        n_bins: int = 5,
        *,
        max_levels: MaxLevels = DEFAULT_MAX_LEVELS,
        n_jobs: int | None = None,
    ) -> None:
        self.discretizer = discretizer
        self.n_bins = n_bins
        self.max_levels = max_levels
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how each column of X is coded. ``y`` (raw, or a Column) is for "mdlp" only."""
        self.fit_transform(X, y)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, *, allocate: Allocate | None = None, plane_classes: int = 0
    ) -> Codes:
        """Learn how each column of X is coded, and code it.

        The table is read once, block by block: a block is learnt and coded while it is in the
        cache. ``allocate`` makes the arrays of codes elsewhere than in memory, when the number of
        levels of every column is known; then the table is read twice. See
        :class:`hocmim.coding.codes.Allocate`. ``plane_classes`` is the number of classes of a
        search that follows: bit planes for it are made, too, if the codes are made in memory.
        """
        discretizer = get_discretizer(self.discretizer)
        n_bins = check_bins("n_bins", self.n_bins)
        table = as_table(X)
        check_features(self, table, reset=True)
        target = _target_column(y, table, self.discretizer) if discretizer.needs_target else None
        n_kept, n_classes = (table.n_columns, plane_classes) if allocate is None else (0, 0)
        how = Learning(discretizer, n_bins, target, check_max_levels(self.max_levels), n_classes)
        rows = np.empty((n_kept, table.n_rows), np.uint8)
        room = how.room_for_planes(n_kept, table.n_rows)

        def encode_span(span: Span) -> LearntNumbers | EncodedBlock:
            narrow = rows[span.start : span.stop]
            if allocate is not None:
                narrow = np.empty((span.stop - span.start, table.n_rows), np.uint8)
            room_of_span = room[span.start : span.stop]
            return encode_block(table, table.read_stored(span), how, narrow, room_of_span)

        if allocate is None and table.is_in_place:
            whole = table.read(Span(0, table.n_columns))
            blocks = [encode_block(table, whole, how, rows, room, self._n_threads(table))]
        else:
            blocks = self._map_table(encode_span, table)
        encoded = join_blocks(table, blocks)
        frequent = encoded.most_frequent, encoded.n_most_frequent
        self._set_fitted(encoded.fitted, *frequent, encoded.identifiers)
        if allocate is not None:
            return self._encode(table, allocate)
        names = getattr(self, "feature_names_in_", None)
        return Codes.from_rows(rows, encoded.wide, self.arity, names, encoded.made_planes)

    def _map_table(self, function: Callable[[Span], Result], table: Table) -> list[Result]:
        """Return the results of a function for every span of a table, from left to right.

        Spans of numbers on several threads. Strings and categories are read by Python code, which
        takes longer on two threads that wait for each other: this thread reads them.
        """
        n_threads = self._n_threads(table)
        spans = _spans(table, n_threads)
        is_shared = [not _HAS_GIL or table.is_numeric(span) for span in spans]
        shared = [span for span, is_for_all in zip(spans, is_shared, strict=True) if is_for_all]
        others = [span for span, is_for_all in zip(spans, is_shared, strict=True) if not is_for_all]
        of_shared = iter(map_spans(function, shared, n_threads))
        of_others = iter(map_spans(function, others, 1))
        return [next(of_shared if is_for_all else of_others) for is_for_all in is_shared]

    def _n_threads(self, table: Table) -> int:
        """Return how many threads are worth their start."""
        check_value("n_jobs", self.n_jobs, JOBS)
        if table.n_rows * table.n_columns * table.cell_bytes <= MAX_BYTES_OF_ONE_THREAD:
            return 1
        return resolve_n_jobs(self.n_jobs, outside=1)

    def _set_fitted(
        self,
        fitted: Fitted,
        most_frequent: NDArray[np.int64],
        n_most_frequent: NDArray[np.int64],
        identifiers: Sequence[int],
    ) -> None:
        self._fitted = fitted
        self._most_frequent, self._n_most_frequent = most_frequent, n_most_frequent
        self._unknown = np.where(fitted.has_missing, fitted.n_levels, most_frequent)
        for j in fitted.n_pooled:
            self._unknown[j] = fitted.n_levels[j] - 1
        self.columns_ = ColumnDescriptions(fitted, self._unknown)
        self.identifiers_ = np.array(identifiers, np.int64)

    @classmethod
    def from_fitted(
        cls,
        fitted: Fitted,
        names: Sequence[str] | None,
        most_frequent: NDArray[np.int64] | None = None,
        n_most_frequent: NDArray[np.int64] | None = None,
        identifiers: Sequence[int] = (),
        **parameters: Any,
    ) -> Self:
        """Return an encoder that was fitted by other code.

        Parameters
        ----------
        fitted : Fitted
        names : sequence of str, or None
        most_frequent : ndarray of int64, optional
            The most frequent code of each column, for new values.
        n_most_frequent : ndarray of int64, optional
            How many rows have it.
        identifiers : sequence of int
            The columns that identify the rows.
        **parameters
            The parameters of the encoder.
        """
        encoder = cls(**parameters)
        n_columns = len(fitted.kind)
        set_features(encoder, n_columns, names)
        nothing = np.zeros(n_columns, np.int64)
        frequent = nothing if most_frequent is None else most_frequent
        n_frequent = nothing if n_most_frequent is None else n_most_frequent
        encoder._set_fitted(fitted, frequent, n_frequent, identifiers)
        return encoder

    def fitted_parts(self) -> Fitted:
        """Return how the columns are coded; to be saved."""
        check_is_fitted(self)
        return self._fitted

    @property
    def arity(self) -> NDArray[np.int64]:
        """Number of codes of each column."""
        check_is_fitted(self)
        return self._fitted.arity

    @property
    def most_frequent(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The most frequent code of each column in the table of the fit, and its rows."""
        check_is_fitted(self)
        return self._most_frequent, self._n_most_frequent

    @property
    def is_cut(self) -> NDArray[np.bool_]:
        """Which columns are numbers that were cut into bins."""
        check_is_fitted(self)
        return self._fitted.kind == CUT

    def of_columns(self, start: int, stop: int) -> Self:
        """Return the encoder of columns start..stop-1."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return self.from_fitted(
            self._fitted.columns(start, stop),
            None if names is None else names[start:stop],
            self._most_frequent[start:stop],
            self._n_most_frequent[start:stop],
            [j - start for j in self.identifiers_.tolist() if start <= j < stop],
            **self.get_params(),
        )

    def with_most_frequent(
        self, most_frequent: NDArray[np.int64], n_most_frequent: NDArray[np.int64] | None = None
    ) -> Self:
        """Return the same encoder with the most frequent code of each column, and its rows."""
        check_is_fitted(self)
        return self.from_fitted(
            self._fitted,
            getattr(self, "feature_names_in_", None),
            most_frequent,
            n_most_frequent,
            self.identifiers_.tolist(),
            **self.get_params(),
        )

    def transform(self, X: Any) -> Codes:
        """Code another table with the same columns."""
        check_is_fitted(self)
        table = as_table(X)
        check_features(self, table, reset=False)
        return self._encode(table, Codes.empty)

    def transform_column(self, X: Any, j: int) -> Column:
        """Code one column of another table with the same columns."""
        check_is_fitted(self)
        table = as_table(X)
        check_features(self, table, reset=False)
        arity = int(self._fitted.arity[j])
        is_narrow = arity <= NARROW_LEVELS
        narrow = np.empty((int(is_narrow), table.n_rows), np.uint8)
        wide = np.empty((int(not is_narrow), table.n_rows), np.uint16)
        codes = narrow[0] if is_narrow else wide[0]
        block = table.read(Span(j, j + 1))
        if isinstance(block, Categories):
            codes[:] = self._encode_categories(table, block)
        else:
            place = np.array([0 if is_narrow else ~0], np.int64)
            self._encode_numbers(table, block, place, narrow, wide)
        return Column(codes, arity, j)

    def _encode(self, table: Table, allocate: Allocate) -> Codes:
        codes = allocate(self.arity, table.n_rows, getattr(self, "feature_names_in_", None))
        place, narrow, wide = codes.place, codes.narrow, codes.wide

        def encode_span(span: Span) -> None:
            block = table.read_stored(span)
            if isinstance(block, Categories):
                where = int(place[span.start])
                row = narrow[where] if where >= 0 else wide[~where]
                row[:] = self._encode_categories(table, block)
            else:
                self._encode_numbers(table, block, place[span.start : span.stop], narrow, wide)

        self._map_table(encode_span, table)
        return codes

    def _encode_numbers(
        self,
        table: Table,
        block: Numbers | SparseNumbers,
        place: NDArray[np.int64],
        narrow: NDArray[np.uint8],
        wide: NDArray[np.uint16],
    ) -> None:
        start, stop = block.start, block.start + len(place)
        for j in np.flatnonzero(self._fitted.kind[start:stop] == CATEGORIES):
            if not _is_empty(block, int(j)):
                raise changed_kind(table, start + int(j), "categories", "numbers")
        cuts = self._fitted.cuts
        how = cuts.values, cuts.offsets[start : stop + 1], self._unknown[start:stop]
        if isinstance(block, SparseNumbers):
            stored = block.values, block.rows, block.offsets
            infinite = _native.apply_cuts_sparse(*stored, *how, place, narrow, wide)
        else:
            values = for_kernels(block.values)
            infinite = _native.apply_cuts(values, *how, place, narrow, wide)
        if infinite >= 0:
            raise infinite_value(table, start + infinite)

    def _encode_categories(self, table: Table, block: Categories) -> NDArray[np.int64]:
        j = block.start
        unknown = int(self._unknown[j])
        missing = int(self._fitted.n_levels[j]) if self._fitted.has_missing[j] else unknown
        known: list[Any] = self._fitted.categories.get(j, [])
        # A column of the fit that was all missing has one level, and fits any kind.
        if self._fitted.kind[j] != CATEGORIES and self._fitted.n_levels[j] and block.levels:
            raise changed_kind(table, j, "numbers", "strings or categories")
        code_of = {level: code for code, level in enumerate(known)}
        codes = [code_of.get(level, unknown) for level in block.levels]
        return np.array([*codes, missing], np.int64)[block.codes]


def _is_empty(block: Numbers | SparseNumbers, j: int) -> bool:
    """Whether all values of column j of a block are missing. A sparse column has zeros."""
    is_dense = isinstance(block, Numbers)
    return is_dense and bool(Survey.of(block.values[:, j : j + 1], 1).is_empty[0])


def encode(
    X: Any,
    y: Any = None,
    *,
    discretizer: str = DEFAULT_DISCRETIZER,
    n_bins: int = 5,
    max_levels: MaxLevels = DEFAULT_MAX_LEVELS,
    n_jobs: int | None = None,
) -> Codes:
    """Return the codes of a table: ``Encoder(...).fit_transform(X, y)``.

    Parameters
    ----------
    X : table of shape (n_samples, n_columns)
        NumPy array, pandas or polars DataFrame, pyarrow Table, scipy sparse matrix, nested lists.
    y : array-like of shape (n_samples,)
        Only for ``discretizer="mdlp"``.
    discretizer, n_bins, max_levels, n_jobs
        See :class:`Encoder`.

    Examples
    --------
    >>> from hocmim.coding.encoder import encode
    >>> encode([[0.1, "b"], [0.7, "a"], [None, "b"]]).narrow
    array([[0, 1, 2],
           [1, 0, 1]], dtype=uint8)
    """
    encoder = Encoder(discretizer, n_bins, max_levels=max_levels, n_jobs=n_jobs)
    return encoder.fit_transform(X, y)


def _target_column(y: Any, table: Table, discretizer: str) -> Column:
    if y is None:
        raise InvalidTargetError(
            f"discretizer={discretizer!r} needs the target y, but y is None. Pass y."
        )
    if isinstance(y, Target):
        y = y.column
    if not isinstance(y, Column):
        return encode_target(y, table.n_rows).column
    if len(y.codes) != table.n_rows:
        raise InvalidTargetError(
            f"X and y have different lengths: X has {table.n_rows} rows and y has "
            f"{len(y.codes)} values."
        )
    return y


def most_frequent(codes: Codes) -> NDArray[np.int64]:
    """Return the most frequent code of each column; the first of equally frequent ones."""
    found = np.empty(codes.n_columns, np.int64)
    found[codes.place >= 0] = _native.most_frequent(codes.narrow)
    found[codes.place < 0] = _native.most_frequent(codes.wide)
    return found


def count_most_frequent(codes: Codes, frequent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rows have the given code of each column."""
    counts = [
        np.count_nonzero(codes.column(j).codes == code) for j, code in enumerate(frequent.tolist())
    ]
    return np.array(counts, np.int64)


def _spans(table: Table, n_threads: int) -> list[Span]:
    """Cut the columns into spans, several for each thread."""
    n_cells = table.n_rows * table.n_columns
    n_spans = 1 if n_threads == 1 else SPANS_PER_THREAD * n_threads
    return table.spans(min(max(n_cells // n_spans, MIN_SPAN_CELLS), MAX_SPAN_CELLS))

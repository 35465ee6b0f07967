"""A table into Codes, and a new table into the same Codes.

The rules, column by column:

* Numbers (booleans, integers, floats, dates as nanoseconds; see ``tables.py``) with more than
  ``n_bins`` distinct values are **cut** by the discretizer; otherwise the sorted distinct values
  are the **levels**.
* Strings and categorical columns: the sorted values that occur are the **categories**.
* Missing values, if there are any, are a level of their own, the last one.

In a table encoded later, with the fitted encoder:

* A number beyond the range seen goes to the first or the last bin; in a column that was not cut
  an unseen number goes to the nearest level.
* A category that was never seen says as little as a missing value does, and both go to one place:
  the level of missing values if the column has one, otherwise its most frequent level (the first
  of equally frequent ones).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, Self, TypeVar, overload

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import hocmim._native as _native
from hocmim.coding.codes import MAX_LEVELS, NARROW_LEVELS, Codes, Column
from hocmim.coding.cuts import Discretizer, Ragged, Survey, get_discretizer, midpoints
from hocmim.data.checks import check_features, infinite_value, set_features
from hocmim.data.columns import Categories, Numbers, Span
from hocmim.data.table import Table, as_table
from hocmim.data.target import as_target, is_continuous
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError

KINDS = ("cut", "levels", "categories")
CUT, LEVELS, CATEGORIES = range(3)

Item = TypeVar("Item")
Result = TypeVar("Result")
# Gives Codes to be filled: room(arity, n_samples, names).
Room = Callable[[NDArray[np.int64], int, Sequence[str] | None], Codes]


@dataclass(frozen=True, eq=False)
class ColumnDescription:
    """How one column was encoded.

    Attributes
    ----------
    kind : "cut", "levels" or "categories"
    cuts : ndarray of float64
        The code of a number is how many of these are not above it (empty for categories).
    levels : ndarray of float64, or list
        Numbers that were not cut, or categories: code k stands for ``levels[k]``. Empty for a
        column that was cut.
    missing : int or None
        The code of missing values, if there were any.
    unknown : int
        The code of categories never seen, and of missing values if there were none.
    arity : int
        Number of codes, the missing one included.
    """

    kind: str
    cuts: NDArray[np.float64]
    levels: NDArray[np.float64] | list[Any]
    missing: int | None
    unknown: int
    arity: int


class Fitted(NamedTuple):
    """How columns were encoded, one element a column, end to end where there are several."""

    kind: NDArray[np.int8]
    cuts: Ragged
    levels: Ragged
    categories: dict[int, list[Any]]
    has_missing: NDArray[np.bool_]
    n_levels: NDArray[np.int64]

    @property
    def arity(self) -> NDArray[np.int64]:
        """Number of codes of each column, the missing one included."""
        return self.n_levels + self.has_missing

    def columns(self, start: int, stop: int) -> Fitted:
        """Columns start..stop-1."""
        return Fitted(
            self.kind[start:stop],
            self.cuts.rows(start, stop),
            self.levels.rows(start, stop),
            {j - start: levels for j, levels in self.categories.items() if start <= j < stop},
            self.has_missing[start:stop],
            self.n_levels[start:stop],
        )


class ColumnDescriptions(Sequence[ColumnDescription]):
    """A description a column, made when asked for."""

    def __init__(self, fitted: Fitted, unknown: NDArray[np.int64]) -> None:
        self._fitted = fitted
        self._unknown = unknown

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
            int(fitted.arity[j]),
        )


class Encoder(BaseEstimator):
    """Turns tables into Codes: learns from one table how each column is coded, codes any other.

    Parameters
    ----------
    discretizer : "uniform", "quantile" or "mdlp"
        How numbers are cut: equal width, equal frequency, or by the class (needs y).
    n_bins : int
        Numeric columns with more distinct values than this are cut; "uniform" and "quantile" cut
        them into (at most) this many bins.
    n_jobs : int or None
        Threads over blocks of columns; None is one, -1 all cores. Never changes the codes.

    Attributes
    ----------
    columns_ : sequence of ColumnDescription
        How each column was encoded.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table has column names.
    """

    def __init__(
        self, discretizer: str = "uniform", n_bins: int = 5, *, n_jobs: int | None = None
    ) -> None:
        self.discretizer = discretizer
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how each column of X is coded. ``y`` (raw, or a Column) is for "mdlp" only."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, room: Room = Codes.empty) -> Codes:
        """Learn how each column of X is coded, and code it.

        ``room(arity, n_samples, names)`` gives Codes to be filled: in memory, or in files.
        """
        discretizer = get_discretizer(self.discretizer)
        n_bins = check_bins("n_bins", self.n_bins)
        table = as_table(X)
        check_features(self, table, reset=True)
        target = _target_column(y, table, self.discretizer) if discretizer.needs_target else None

        def fit_span(span: Span) -> Fitted:
            return _fit_block(table, table.read(span), discretizer, n_bins, target)

        fitted = _join(map_spans(fit_span, table.spans(), self.n_jobs))
        check_levels(fitted, table.label)
        # Nothing is unknown in the table learnt from, except what has a level of its own.
        self._set_fitted(fitted, np.zeros(table.n_columns, np.int64))
        codes = self._encode(table, room)
        self._set_fitted(fitted, most_frequent(codes))
        return codes

    def _set_fitted(self, fitted: Fitted, most_frequent: NDArray[np.int64]) -> None:
        self._fitted = fitted
        self._unknown = np.where(fitted.has_missing, fitted.n_levels, most_frequent)
        self.columns_ = ColumnDescriptions(fitted, self._unknown)

    @classmethod
    def from_fitted(
        cls,
        fitted: Fitted,
        names: Sequence[str] | None,
        most_frequent: NDArray[np.int64] | None = None,
        **parameters: Any,
    ) -> Self:
        """An encoder that was fitted elsewhere.

        Parameters
        ----------
        fitted : Fitted
        names : sequence of str, or None
        most_frequent : ndarray of int64, optional
            The most frequent code of each column, for values never seen.
        **parameters
            Of the encoder.
        """
        encoder = cls(**parameters)
        n_columns = len(fitted.kind)
        set_features(encoder, n_columns, names)
        if most_frequent is None:
            most_frequent = np.zeros(n_columns, np.int64)
        encoder._set_fitted(fitted, most_frequent)
        return encoder

    @property
    def arity(self) -> NDArray[np.int64]:
        """Number of codes of each column."""
        check_is_fitted(self)
        return self._fitted.arity

    def of_columns(self, start: int, stop: int) -> Self:
        """The encoder of columns start..stop-1 only."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return self.from_fitted(
            self._fitted.columns(start, stop),
            None if names is None else names[start:stop],
            self._unknown[start:stop],
            **self.get_params(),
        )

    def with_most_frequent(self, most_frequent: NDArray[np.int64]) -> Self:
        """The same encoder, told the most frequent code of each column."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return self.from_fitted(self._fitted, names, most_frequent, **self.get_params())

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

    def _encode(self, table: Table, room: Room) -> Codes:
        codes = room(self.arity, table.n_rows, getattr(self, "feature_names_in_", None))
        place, narrow, wide = codes.place, codes.narrow, codes.wide

        def encode_span(span: Span) -> None:
            block = table.read(span)
            if isinstance(block, Categories):
                where = int(place[span.start])
                row = narrow[where] if where >= 0 else wide[~where]
                row[:] = self._encode_categories(table, block)
            else:
                self._encode_numbers(table, block, place[span.start : span.stop], narrow, wide)

        map_spans(encode_span, table.spans(), self.n_jobs)
        return codes

    def _encode_numbers(
        self,
        table: Table,
        block: Numbers,
        place: NDArray[np.int64],
        narrow: NDArray[np.uint8],
        wide: NDArray[np.uint16],
    ) -> None:
        start, stop = block.start, block.start + block.values.shape[1]
        for j in np.flatnonzero(self._fitted.kind[start:stop] == CATEGORIES):
            if not (Survey.of(block.values[:, j : j + 1], 1)).is_empty[0]:
                raise _other_kind(table, start + int(j), "categories", "numbers")
        cuts = self._fitted.cuts
        infinite = _native.apply_cuts(
            block.values,
            cuts.values,
            cuts.offsets[start : stop + 1],
            self._unknown[start:stop],
            place,
            narrow,
            wide,
        )
        if infinite >= 0:
            raise infinite_value(table, start + infinite)

    def _encode_categories(self, table: Table, block: Categories) -> NDArray[np.int64]:
        j = block.start
        unknown = int(self._unknown[j])
        known: list[Any] = self._fitted.categories.get(j, [])
        # A column of numbers cannot be matched; one that was all missing has a single level.
        if self._fitted.kind[j] != CATEGORIES and self._fitted.n_levels[j] and block.levels:
            raise _other_kind(table, j, "numbers", "strings or categories")
        code_of = {level: code for code, level in enumerate(known)}
        codes = [code_of.get(level, unknown) for level in block.levels]
        return np.array([*codes, unknown], np.int64)[block.codes]


def encode(
    X: Any,
    y: Any = None,
    *,
    discretizer: str = "uniform",
    n_bins: int = 5,
    n_jobs: int | None = None,
) -> Codes:
    """The codes of a table: ``Encoder(...).fit_transform(X, y)``.

    Parameters
    ----------
    X : table of shape (n_samples, n_columns)
        NumPy array, pandas or polars DataFrame, pyarrow Table, scipy sparse matrix, nested lists.
    y : array-like of shape (n_samples,)
        Only for ``discretizer="mdlp"``.
    discretizer, n_bins, n_jobs
        See :class:`Encoder`.

    Examples
    --------
    >>> from hocmim.coding.encoder import encode
    >>> encode([[0.1, "b"], [0.7, "a"], [None, "b"]]).narrow
    array([[0, 1, 2],
           [1, 0, 1]], dtype=uint8)
    """
    return Encoder(discretizer, n_bins, n_jobs=n_jobs).fit_transform(X, y)


# --- targets --------------------------------------------------------------------------------------


class Target(NamedTuple):
    """A target as codes.

    ``classes[k]`` is what code k stands for, or None if y was cut; ``cuts`` are the cut points,
    or None if it was not.
    """

    column: Column
    classes: NDArray[Any] | None
    cuts: NDArray[np.float64] | None


def encode_target(
    y: Any, n_rows: int | None = None, *, bins: int = 5, discretizer: str = "uniform"
) -> Target:
    """The codes of a target.

    Strings, booleans and whole numbers are classes, in sorted order. A continuous y (numbers that
    are not all whole, as scikit-learn decides it) with more than ``bins`` distinct values is cut,
    as a column would be.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
    n_rows : int, optional
        The length it must have.
    bins : int
        How many bins a continuous y is cut into.
    discretizer : "uniform" or "quantile"
        How. (With "mdlp", which needs a target itself, y is cut by "quantile".)

    Raises
    ------
    InvalidTargetError
        If y has fewer than two classes or more than 65 536, another length, or values that are
        missing or infinite.
    """
    cutter = get_discretizer(discretizer)
    if cutter.needs_target:
        cutter = get_discretizer("quantile")
    bins = check_bins("bins", bins)
    values = as_target(y, n_rows)
    if is_continuous(values):
        return _continuous_target(values, bins, cutter)
    classes, codes = np.unique(values, return_inverse=True)
    return Target(_target_codes(codes, len(classes), values), classes, None)


def _continuous_target(values: NDArray[Any], bins: int, cutter: Discretizer) -> Target:
    block = values[:, None]
    survey = Survey.of(block, bins)
    if not survey.many[0]:
        classes, codes = np.unique(values, return_inverse=True)
        return Target(_target_codes(codes, len(classes), values), classes, None)
    cuts = cutter.cut(block, np.zeros(1, np.int64), survey, bins, None).values
    codes = np.searchsorted(cuts, values, side="right")
    return Target(_target_codes(codes, len(cuts) + 1, values), None, cuts)


def _target_codes(codes: NDArray[np.int64], arity: int, values: NDArray[Any]) -> Column:
    if len(codes) == 0 or codes.min() == codes.max():
        raise one_class(values)
    if arity > MAX_LEVELS:
        raise too_many_classes(arity)
    small = codes.astype(np.uint8) if arity <= NARROW_LEVELS else codes.astype(np.uint16)
    return Column(small, arity)


def one_class(values: NDArray[Any]) -> InvalidTargetError:
    """The error for a target that does not vary; ``values`` may be none."""
    only = f" ({values[0]!r})" if len(values) else ""
    return InvalidTargetError(
        f"y has only one class{only}, so no column can tell anything about it. Pass a target "
        "with at least two."
    )


def too_many_classes(n_classes: int | None = None) -> InvalidTargetError:
    """The error for a target of more classes than codes can tell, if known with how many."""
    count = "" if n_classes is None else f"{n_classes} classes, "
    return InvalidTargetError(
        f"y has {count}more than {MAX_LEVELS}{'' if count else ' classes'}. If it is a quantity, "
        "pass it as floating-point numbers divided by some unit, or cut it into classes first."
    )


def _target_column(y: Any, table: Table, discretizer: str) -> Column:
    if y is None:
        raise InvalidTargetError(f"discretizer={discretizer!r} needs the target y, and y is None.")
    if isinstance(y, Target):
        y = y.column
    if not isinstance(y, Column):
        return encode_target(y, table.n_rows).column
    if len(y.codes) != table.n_rows:
        raise InvalidTargetError(
            f"X and y have different lengths: X has {table.n_rows} rows and y {len(y.codes)}."
        )
    return y


# --- fitting --------------------------------------------------------------------------------------


def check_bins(parameter: str, n_bins: Any) -> int:
    """The number of bins, if it may be one."""
    is_integer = isinstance(n_bins, Integral) and not isinstance(n_bins, bool)
    if not is_integer or not 2 <= n_bins < MAX_LEVELS:
        raise InvalidParameterError(
            f"{parameter} must be an integer from 2 to {MAX_LEVELS - 1}. Got {n_bins!r} instead."
        )
    return int(n_bins)


def _fit_block(
    table: Table,
    block: Numbers | Categories,
    discretizer: Discretizer,
    n_bins: int,
    target: Column | None,
) -> Fitted:
    if isinstance(block, Categories):
        none = Ragged(np.empty(0), np.zeros(2, np.int64))
        return Fitted(
            np.array([CATEGORIES], np.int8),
            none,
            none,
            {block.start: block.levels},
            np.array([(block.codes < 0).any()]),
            np.array([len(block.levels)], np.int64),
        )
    survey = survey_numbers(table, block, n_bins)
    many = np.flatnonzero(survey.many)
    return fitted_numbers(survey, discretizer.cut(block.values, many, survey, n_bins, target))


def survey_numbers(table: Table, block: Numbers, n_bins: int) -> Survey:
    """The survey of a block; an infinite value is an error."""
    survey = Survey.of(block.values, n_bins)
    infinite = ~survey.is_empty & (np.isinf(survey.minimum) | np.isinf(survey.maximum))
    if infinite.any():
        raise infinite_value(table, block.start + int(np.argmax(infinite)))
    return survey


def fitted_numbers(survey: Survey, cut: Ragged) -> Fitted:
    """How numeric columns are coded: ``cut`` has the cuts of those with many values."""
    cuts = _interleave(survey.many, cut, midpoints(survey.distinct))
    n_levels = np.where(survey.is_empty, 0, cuts.counts + 1)
    kind = np.where(survey.many, CUT, LEVELS).astype(np.int8)
    return Fitted(kind, cuts, survey.distinct, {}, survey.has_missing, n_levels)


def _interleave(is_cut: NDArray[np.bool_], cut: Ragged, others: Ragged) -> Ragged:
    """Row j from ``cut`` (which has only the rows that are cut) or from ``others``."""
    counts = others.counts
    counts[is_cut] = cut.counts
    from_cut = np.repeat(is_cut, counts)
    values = np.empty(len(from_cut))
    values[from_cut] = cut.values
    values[~from_cut] = others.values
    return Ragged.from_counts(values, counts)


def _join(parts: list[Fitted]) -> Fitted:
    return Fitted(
        np.concatenate([part.kind for part in parts]),
        Ragged.concatenate([part.cuts for part in parts]),
        Ragged.concatenate([part.levels for part in parts]),
        {j: levels for part in parts for j, levels in part.categories.items()},
        np.concatenate([part.has_missing for part in parts]),
        np.concatenate([part.n_levels for part in parts]),
    )


def check_levels(fitted: Fitted, label: Callable[[int], str]) -> None:
    """Raise an error if a column has more levels than codes can tell."""
    too_wide = fitted.arity > MAX_LEVELS
    if too_wide.any():
        j = int(np.argmax(too_wide))
        raise InvalidTableError(
            f"Too many levels in {label(j)} of X: {fitted.arity[j]}, where {MAX_LEVELS} is the "
            "most. Drop it if it names the rows, or group its values."
        )


def most_frequent(codes: Codes) -> NDArray[np.int64]:
    """The most frequent code of each column; the first of equally frequent ones."""
    found = np.empty(codes.n_columns, np.int64)
    found[codes.place >= 0] = _native.most_frequent(codes.narrow)
    found[codes.place < 0] = _native.most_frequent(codes.wide)
    return found


def _other_kind(table: Table, j: int, then: str, now: str) -> InvalidTableError:
    return InvalidTableError(
        f"The type of {table.label(j)} of X has changed: it holds {now}, but held {then} when the "
        "encoder was fitted. Convert it to the same type."
    )


def map_spans(
    function: Callable[[Item], Result], spans: Sequence[Item], n_jobs: int | None
) -> list[Result]:
    """The function of every span, in order; it releases the GIL where it takes time."""
    n_threads = min(effective_n_jobs(n_jobs), len(spans))
    if n_threads <= 1:
        return [function(span) for span in spans]
    with ThreadPoolExecutor(n_threads) as pool:
        results: Iterator[Result] = pool.map(function, spans)
        return list(results)

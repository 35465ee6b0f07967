"""Tables that come in row partitions: encoded exactly as one table of all their rows would be.

Everything an engine needs is a pure function of picklable values, so that the same code runs in a
loop on one machine and as tasks on many::

    survey  = survey_partition(part, n_bins)               # for each partition
    survey  = survey.merge(other)                          # in any grouping: a tree reduction
    columns = columns_to_cut(survey, discretizer)          # none for "uniform"
    values  = read_numbers(part, columns)                  # of each partition, stacked
    cuts    = cut_columns(values, discretizer, n_bins, y)  # whole columns, some at a time
    encoder = fit_encoder(survey, discretizer, n_bins, cuts)
    codes   = encode_partition(part, encoder)              # for each partition
    encoder = encoder.with_most_frequent(most_frequent)    # of hocmim.coding.encoder, on all rows

and of a target ``survey_target``, ``merge``, ``fit_target`` and ``TargetCoding.encode``.

"uniform" needs what the survey has. "quantile" and "mdlp" are exact too, at the price of a second
pass: each column that is cut is brought together (8 bytes a row) and cut by the code for tables in
memory.

A partition is any table in memory (``hocmim.data.table``), also one without rows. The same column
may hold integers in one partition and floats in another; a partition where all of its values are
missing says nothing about its kind. ``RowSource`` gives the partitions of a Parquet data set or of
a list of tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import MAX_LEVELS, NARROW_LEVELS, Codes, Column
from hocmim.coding.cuts import Ragged, Survey, equal_widths, get_discretizer
from hocmim.coding.encoder import (
    CATEGORIES,
    Encoder,
    check_levels,
    fitted_numbers,
    one_class,
    survey_numbers,
    too_many_classes,
)
from hocmim.data.columns import Categories, column_label
from hocmim.data.table import as_table, take_columns
from hocmim.data.target import as_target, is_continuous
from hocmim.errors import InvalidColumnError, InvalidTableError, InvalidTargetError


@dataclass(frozen=True, eq=False)
class TableSurvey:
    """What is in the columns of some rows: all that says how each column is coded.

    Attributes
    ----------
    names : tuple of str, or None
    n_rows : int
    numbers : Survey
        Of every column; one of categories has no minimum and no maximum here.
    categories : dict of column index to sorted list
        The values that occur in the columns of strings or categories.
    """

    names: tuple[str, ...] | None
    n_rows: int
    numbers: Survey
    categories: dict[int, list[Any]]

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.numbers.many)

    def label(self, j: int) -> str:
        """What to call column j in a message."""
        return column_label(self.names, j)

    def merge(self, other: TableSurvey) -> TableSurvey:
        """The survey of the rows of both; associative."""
        self._check_same_columns(other)
        categories = {
            j: self._merged_levels(j, self.categories.get(j), other.categories.get(j))
            for j in self.categories.keys() | other.categories.keys()
        }
        numbers = self.numbers.merge(other.numbers)
        for j, levels in list(categories.items()):
            if not numbers.is_empty[j]:
                if levels:
                    raise InvalidTableError(
                        f"Some rows of {self.label(j)} of X hold numbers and others strings or "
                        "categories. Convert it to one type in all partitions."
                    )
                del categories[j]
        return TableSurvey(self.names, self.n_rows + other.n_rows, numbers, categories)

    @classmethod
    def concatenate(cls, parts: Sequence[TableSurvey]) -> TableSurvey:
        """The columns of all parts, side by side."""
        starts = np.cumsum([0, *(part.n_columns for part in parts)]).tolist()
        names = [name for part in parts for name in part.names or ()]
        return cls(
            tuple(names) if names else None,
            parts[0].n_rows,
            Survey.concatenate([part.numbers for part in parts]),
            {
                start + j: levels
                for start, part in zip(starts, parts, strict=False)
                for j, levels in part.categories.items()
            },
        )

    def _check_same_columns(self, other: TableSurvey) -> None:
        if self.names != other.names or self.n_columns != other.n_columns:
            mine, theirs = (
                f"{survey.n_columns} columns"
                if survey.names is None or self.n_columns != other.n_columns
                else ", ".join(survey.names[:5]) + (", …" if survey.n_columns > 5 else "")
                for survey in (self, other)
            )
            raise InvalidTableError(
                f"The partitions of X do not have the same columns in the same order: {mine} in "
                f"one, {theirs} in another."
            )

    def _merged_levels(self, j: int, a: list[Any] | None, b: list[Any] | None) -> list[Any]:
        if a is None or b is None or a == b:
            return (a if a is not None else b) or []
        try:
            levels = sorted({*a, *b})
        except TypeError as error:
            raise InvalidColumnError(
                f"The categories of {self.label(j)} of X are of different types in different "
                "partitions. Convert them to one type, for example with astype(str)."
            ) from error
        _check_n_levels(len(levels), self.label(j))
        return levels


def _check_n_levels(n_levels: int, label: str) -> None:
    """Stop before the levels of a column that names the rows fill the memory."""
    if n_levels > MAX_LEVELS:
        raise InvalidTableError(
            f"Too many levels in {label} of X: more than {MAX_LEVELS}. Drop it if it names the "
            "rows, or group its values."
        )


def survey_partition(X: Any, n_bins: int) -> TableSurvey:
    """Survey the rows of one partition."""
    table = as_table(X, min_rows=0)
    if table.n_rows == 0:
        return TableSurvey(table.names, 0, Survey.nothing(table.n_columns, n_bins), {})
    numbers, categories = [], {}
    for block in table.blocks():
        if isinstance(block, Categories):
            _check_n_levels(len(block.levels), table.label(block.start))
            categories[block.start] = block.levels
            nothing = Survey.nothing(1, n_bins)
            nothing.has_missing[0] = (block.codes < 0).any()
            numbers.append(nothing)
        else:
            numbers.append(survey_numbers(table, block, n_bins))
    return TableSurvey(table.names, table.n_rows, Survey.concatenate(numbers), categories)


def columns_to_cut(survey: TableSurvey, discretizer: str) -> NDArray[np.int64]:
    """The columns whose values are needed as a whole, by index; none for "uniform"."""
    needs_values = get_discretizer(discretizer).needs_values
    return np.flatnonzero(survey.numbers.many & needs_values)


def read_numbers(X: Any, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values of numeric columns of one partition, shape (n_rows, len(columns))."""
    table = as_table(take_columns(X, columns), min_rows=0)
    values = np.full(table.shape, np.nan, order="F")
    if table.n_rows:
        for block in table.blocks():
            if not isinstance(block, Categories):  # such a block is all missing: see merge
                values[:, block.start : block.start + block.values.shape[1]] = block.values
    return values


def cut_columns(
    values: NDArray[np.float64], discretizer: str, n_bins: int, y: Column | None = None
) -> Ragged:
    """The cuts of whole columns, one row a column. ``y`` is for "mdlp"."""
    survey = Survey.of(values, n_bins)
    every = np.arange(values.shape[1])
    return get_discretizer(discretizer).cut(values, every, survey, n_bins, y)


def fit_encoder(
    survey: TableSurvey, discretizer: str, n_bins: int, cuts: Ragged | None = None
) -> Encoder:
    """The encoder fitted to all rows. ``cuts`` are those of ``columns_to_cut``, in that order."""
    numbers = survey.numbers
    if cuts is None:
        many = np.flatnonzero(numbers.many)
        cuts = get_discretizer(discretizer).cut(np.empty((0, 0)), many, numbers, n_bins, None)
    fitted = fitted_numbers(numbers, cuts)
    for j, levels in survey.categories.items():
        fitted.kind[j] = CATEGORIES
        fitted.n_levels[j] = len(levels)
        fitted.categories[j] = levels
    check_levels(fitted, survey.label)
    return Encoder.from_fitted(fitted, survey.names, discretizer=discretizer, n_bins=n_bins)


def encode_partition(X: Any, encoder: Encoder) -> Codes:
    """The codes of one partition."""
    table = as_table(X, min_rows=0)
    if table.n_rows == 0:
        return Codes.empty(encoder.arity, 0, table.names)
    return encoder.transform(table)


# --- targets --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TargetSurvey:
    """What is in some rows of a target.

    Attributes
    ----------
    n_rows : int
    levels : ndarray or None
        Its sorted distinct values, of the type all rows have in common; None if there are more than
        codes can tell, or if it is continuous.
    is_continuous : bool
        Numbers that are not all whole.
    numbers : Survey or None
        Of a target of numbers, as one column.
    """

    n_rows: int
    levels: NDArray[Any] | None
    dtype: np.dtype[Any]
    is_continuous: bool
    numbers: Survey | None

    def merge(self, other: TargetSurvey) -> TargetSurvey:
        """The survey of the rows of both; associative."""
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        if (self.numbers is None) != (other.numbers is None):
            raise InvalidTargetError(
                "y must be made of strings or of numbers, and some of its partitions hold strings, "
                "others numbers."
            )
        dtype = np.result_type(self.dtype, other.dtype)
        is_continuous = self.is_continuous or other.is_continuous
        levels = None
        if self.levels is not None and other.levels is not None:
            levels = np.union1d(self.levels.astype(dtype), other.levels.astype(dtype))
        numbers = None
        if self.numbers is not None and other.numbers is not None:
            numbers = self.numbers.merge(other.numbers)
        return TargetSurvey(
            self.n_rows + other.n_rows,
            None if is_continuous else _few_levels(levels),
            dtype,
            is_continuous,
            numbers,
        )

    @property
    def is_cut(self) -> bool:
        """Whether it is continuous and has more distinct values than bins."""
        return self.is_continuous and self.numbers is not None and bool(self.numbers.many[0])

    def needs_values(self, discretizer: str) -> bool:
        """Whether its values are needed as a whole: a continuous y not cut by "uniform"."""
        return self.is_cut and get_discretizer(discretizer).needs_values


def _few_levels(levels: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if levels is None or len(levels) > MAX_LEVELS else levels


@dataclass(frozen=True, eq=False)
class TargetCoding:
    """How a target is coded: its classes, or the cuts of a continuous one."""

    classes: NDArray[Any] | None
    cuts: NDArray[np.float64] | None

    @property
    def arity(self) -> int:
        """Number of codes."""
        if self.classes is not None:
            return len(self.classes)
        assert self.cuts is not None
        return len(self.cuts) + 1

    def encode(self, y: Any) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """The codes of some rows."""
        values = as_target(y)
        if self.classes is None:
            assert self.cuts is not None
            codes = np.searchsorted(self.cuts, values, side="right")
        elif len(values) == 0:
            codes = np.empty(0, np.int64)
        else:
            found, inverse = np.unique(values, return_inverse=True)
            codes = np.searchsorted(self.classes, found)[inverse]
        return codes.astype(np.uint8) if self.arity <= NARROW_LEVELS else codes.astype(np.uint16)


def survey_target(y: Any, bins: int) -> TargetSurvey:
    """Survey some rows of a target."""
    values = as_target(y)
    is_number = values.dtype.kind in "biuf"
    is_quantity = is_continuous(values)
    return TargetSurvey(
        len(values),
        None if is_quantity else _few_levels(np.unique(values)),
        values.dtype,
        is_quantity,
        Survey.of(values.astype(np.float64)[:, None], bins) if is_number else None,
    )


def fit_target(
    survey: TargetSurvey, bins: int, discretizer: str, values: NDArray[Any] | None = None
) -> TargetCoding:
    """How the whole target is coded. ``values``: all of it, if ``needs_values``."""
    numbers = survey.numbers
    if survey.is_cut and numbers is not None:
        if not survey.needs_values(discretizer):
            return TargetCoding(None, equal_widths(numbers.minimum, numbers.maximum, bins)[0])
        if values is None:
            raise TypeError("the values of a continuous target are needed to cut it")
        whole = np.asarray(values, np.float64)[:, None]
        # "mdlp" needs a target itself: y is cut by "quantile" then.
        return TargetCoding(None, cut_columns(whole, "quantile", bins).values)
    classes = survey.levels
    if survey.is_continuous and numbers is not None:
        classes = numbers.distinct.row(0).astype(survey.dtype)
    if classes is None:
        raise too_many_classes()
    if len(classes) < 2:
        raise one_class(classes)
    return TargetCoding(classes, None)

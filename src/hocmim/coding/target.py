"""The codes of a target: its classes, or the bins of a continuous one.

``encode_target`` codes a target in memory. A target in parts is coded in steps, with the same
result: ``survey_target`` for each part, ``TargetSurvey.merge``, ``fit_target``, and
``TargetCoding.encode`` for each part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import MAX_LEVELS, Column, as_small_integers
from hocmim.coding.cuts import (
    DEFAULT_DISCRETIZER,
    Discretizer,
    Survey,
    check_bins,
    cut_columns,
    equal_widths,
    get_discretizer,
)
from hocmim.data.target import as_target, is_continuous
from hocmim.errors import InvalidTargetError

# Whole numbers up to this one are exact in 64-bit floating point.
EXACT = 1 << 53


class Target(NamedTuple):
    """A target as codes.

    Attributes
    ----------
    column : Column
    classes : ndarray or None
        The class of each code; None if y was cut into bins.
    cuts : ndarray of float64, or None
        The cut points; None if y was not cut.
    """

    column: Column
    classes: NDArray[Any] | None
    cuts: NDArray[np.float64] | None


def encode_target(
    y: Any, n_rows: int | None = None, *, bins: int = 5, discretizer: str = DEFAULT_DISCRETIZER
) -> Target:
    """Return the codes of a target.

    Strings, booleans and whole numbers are classes, in sorted order. A continuous y (numbers that
    are not all whole, as in scikit-learn) with more than ``bins`` distinct values is cut into bins,
    like a column.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
    n_rows : int, optional
        The length it must have.
    bins : int
        Number of bins of a continuous y.
    discretizer : {"uniform", "quantile", "mdlp"}, default "quantile"
        How y is cut. "mdlp" needs a target itself, so that y is cut by "quantile" instead.

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
        return _encode_continuous(values, bins, cutter)
    return _encode_classes(values)


def _encode_continuous(values: NDArray[Any], bins: int, cutter: Discretizer) -> Target:
    block = values[:, None]
    survey = Survey.of(block, bins)
    if not survey.many[0]:
        return _encode_classes(values)
    cuts = cutter.cut(block, np.zeros(1, np.int64), survey, bins, None).values
    codes = np.searchsorted(cuts, values, side="right")
    return Target(_as_column(codes, len(cuts) + 1, values), None, cuts)


def _encode_classes(values: NDArray[Any]) -> Target:
    classes, codes = _distinct(values)
    return Target(_as_column(codes, len(classes), values), classes, None)


def _distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted distinct values and the index of each value among them.

    Whole numbers of a small range are looked up in a table, others are sorted.
    """
    is_number = values.dtype.kind in "biuf" and len(values) > 0
    if is_number and not is_continuous(values):
        low, high = int(values.min()), int(values.max())
        if high - low < MAX_LEVELS and low >= -EXACT and high <= EXACT:
            places = values.astype(np.int64) - low
            occurs = np.zeros(high - low + 1, bool)
            occurs[places] = True
            classes = (np.flatnonzero(occurs) + low).astype(values.dtype)
            return classes, (np.cumsum(occurs) - 1)[places]
    classes, codes = np.unique(values, return_inverse=True)
    return classes, codes


def _as_column(codes: NDArray[np.int64], arity: int, values: NDArray[Any]) -> Column:
    if len(codes) == 0 or codes.min() == codes.max():
        raise _one_class(values)
    if arity > MAX_LEVELS:
        raise _too_many_classes(arity)
    return Column(as_small_integers(codes, arity), arity)


def _one_class(values: NDArray[Any]) -> InvalidTargetError:
    """Return the error for a target with one class, or without rows."""
    only = f" ({values[0]!r})" if len(values) else ""
    return InvalidTargetError(
        f"y has only one class{only}, so no column holds information about it. Pass a target with "
        "at least two classes."
    )


def _too_many_classes(n_classes: int | None = None) -> InvalidTargetError:
    count = "" if n_classes is None else f"{n_classes} classes, "
    return InvalidTargetError(
        f"y has {count}more than {MAX_LEVELS}{'' if count else ' classes'}. If it is a quantity, "
        "pass it as floating-point numbers divided by some unit, or cut it into classes first."
    )


# --- in parts -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TargetSurvey:
    """A summary of some rows of a target.

    Attributes
    ----------
    n_rows : int
    levels : ndarray or None
        The sorted distinct values; None if there are more than 65 536, or if y is continuous.
    dtype : dtype
        The type that all rows have in common.
    is_continuous : bool
        See :func:`hocmim.data.target.is_continuous`.
    numbers : Survey or None
        For a target of numbers, as one column.
    """

    n_rows: int
    levels: NDArray[Any] | None
    dtype: np.dtype[Any]
    is_continuous: bool
    numbers: Survey | None

    def merge(self, other: TargetSurvey) -> TargetSurvey:
        """Return the survey of the rows of both; associative."""
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        if (self.numbers is None) != (other.numbers is None):
            raise InvalidTargetError(
                "y must hold strings or numbers, but some of its partitions hold strings and "
                "others numbers. Convert it to one type."
            )
        dtype = np.result_type(self.dtype, other.dtype)
        is_quantity = self.is_continuous or other.is_continuous
        levels = None
        if self.levels is not None and other.levels is not None:
            levels = np.union1d(self.levels.astype(dtype), other.levels.astype(dtype))
        numbers = None
        if self.numbers is not None and other.numbers is not None:
            numbers = self.numbers.merge(other.numbers)
        return TargetSurvey(
            self.n_rows + other.n_rows,
            None if is_quantity else _unless_too_many(levels),
            dtype,
            is_quantity,
            numbers,
        )

    @property
    def is_cut(self) -> bool:
        """Whether y is continuous and has more distinct values than bins."""
        return self.is_continuous and self.numbers is not None and bool(self.numbers.many[0])

    def needs_values(self, discretizer: str) -> bool:
        """Whether all values are needed to cut it: a continuous y not cut by "uniform"."""
        return self.is_cut and get_discretizer(discretizer).needs_values


def _unless_too_many(levels: NDArray[Any] | None) -> NDArray[Any] | None:
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
        """Return the codes of some rows."""
        values = as_target(y)
        if self.classes is None:
            assert self.cuts is not None
            codes = np.searchsorted(self.cuts, values, side="right")
        elif len(values) == 0:
            codes = np.empty(0, np.int64)
        else:
            found, inverse = np.unique(values, return_inverse=True)
            codes = np.searchsorted(self.classes, found)[inverse]
        return as_small_integers(codes, self.arity)


def survey_target(y: Any, bins: int) -> TargetSurvey:
    """Survey some rows of a target."""
    values = as_target(y)
    is_number = values.dtype.kind in "biuf"
    is_quantity = is_continuous(values)
    return TargetSurvey(
        len(values),
        None if is_quantity else _unless_too_many(np.unique(values)),
        values.dtype,
        is_quantity,
        Survey.of(values.astype(np.float64)[:, None], bins) if is_number else None,
    )


def fit_target(
    survey: TargetSurvey, bins: int, discretizer: str, values: NDArray[Any] | None = None
) -> TargetCoding:
    """Return how the whole target is coded.

    ``values`` is the whole target, if ``survey.needs_values(discretizer)``.
    """
    numbers = survey.numbers
    if survey.is_cut and numbers is not None:
        if not survey.needs_values(discretizer):
            return TargetCoding(None, equal_widths(numbers.minimum, numbers.maximum, bins)[0])
        if values is None:
            raise TypeError("the values of a continuous target are needed to cut it")
        whole = np.asarray(values, np.float64)[:, None]
        # "mdlp" needs a target itself, so that y is cut by "quantile".
        return TargetCoding(None, cut_columns(whole, "quantile", bins).values)
    classes = survey.levels
    if survey.is_continuous and numbers is not None:
        classes = numbers.distinct.row(0).astype(survey.dtype)
    if classes is None:
        raise _too_many_classes()
    if len(classes) < 2:
        raise _one_class(classes)
    return TargetCoding(classes, None)

"""The codes of a target: its classes, or the bins of a quantity.

``encode_target`` codes a target in memory. A target in parts is coded in steps, with the same
result: ``survey_target`` for each part, ``TargetSurvey.merge``, ``fit_target``, and
``TargetCoding.encode`` for each part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import MAX_LEVELS, Column, as_small_integers
from hocmim.coding.cuts import Survey, check_bins, cut_columns, equal_widths, get_discretizer
from hocmim.data.target import (
    MAX_FEW_NUMBERS,
    TARGET_KINDS,
    TargetKind,
    TargetSummary,
    as_target,
    decide_kind,
    has_fractions,
    summarize_target,
)
from hocmim.errors import InvalidTargetError
from hocmim.parameters import OneOf, check_value
from hocmim.text import value_text

TARGET_DISCRETIZERS = ("quantile", "uniform")
TARGET_STRATEGIES = ("joint", "mean")


@dataclass(frozen=True)
class TargetOptions:
    """How a target is encoded.

    Attributes
    ----------
    kind : {"auto", "classes", "quantity"}
        See :func:`hocmim.data.target.decide_kind`.
    bins : int
        Number of bins of a quantity.
    discretizer : {"quantile", "uniform"}
        How a quantity is cut: equal frequency or equal width.
    strategy : {"joint", "mean"}
        What to do with several targets: see :mod:`hocmim.coding.targets`.
    """

    kind: str = "auto"
    bins: int = 3
    discretizer: str = "quantile"
    strategy: str = "joint"

    def __post_init__(self) -> None:
        check_value("target_kind", self.kind, OneOf(TARGET_KINDS))
        check_value("target_discretizer", self.discretizer, OneOf(TARGET_DISCRETIZERS))
        check_value("target_strategy", self.strategy, OneOf(TARGET_STRATEGIES))
        object.__setattr__(self, "bins", check_bins("target_bins", self.bins))

    def decide(self, summary: TargetSummary) -> TargetKind:
        """Return the kind of a target with this summary."""
        return decide_kind(summary, self.kind)


DEFAULT_OPTIONS = TargetOptions()

# Whole numbers up to this one are exact in 64-bit floating point.
EXACT = 1 << 53


class Target(NamedTuple):
    """A target as codes.

    Attributes
    ----------
    column : Column
    classes : ndarray or None
        The class of each code; None for a quantity.
    cuts : ndarray of float64, or None
        The cut points of a quantity; None for classes.
    guess : str
        Why it is treated as classes or as a quantity, if that is a guess.
    values : ndarray of float64, or None
        The values of a quantity; None for classes, or if they are not in memory.
    targets : tuple of Target
        The targets one by one, if y has several columns.
    strategy : {"", "joint", "mean"}
        What ``column`` is if y has several columns. "joint": the combinations of their values.
        "mean": the first target; the scores of all targets are averaged.
    """

    column: Column
    classes: NDArray[Any] | None
    cuts: NDArray[np.float64] | None
    guess: str = ""
    values: NDArray[np.float64] | None = None
    targets: tuple[Target, ...] = ()
    strategy: str = ""

    @property
    def each(self) -> tuple[Target, ...]:
        """The targets one by one."""
        return self.targets or (self,)

    def take(self, rows: NDArray[np.int64]) -> Target:
        """Return some rows of a single target."""
        column = Column(self.column.codes[rows], self.column.arity)
        return self._replace(
            column=column, values=None if self.values is None else self.values[rows]
        )

    @property
    def kind(self) -> TargetKind:
        """Whether it holds classes or a quantity."""
        return TargetKind("quantity" if self.classes is None else "classes", self.guess)


def encode_target(
    y: Any, n_rows: int | None = None, options: TargetOptions = DEFAULT_OPTIONS
) -> Target:
    """Return the codes of a target.

    Classes are coded in sorted order. A quantity with more than ``options.bins`` distinct values is
    cut into bins, like a column; one with fewer has a bin for each value.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
    n_rows : int, optional
        The length it must have.
    options : TargetOptions

    Raises
    ------
    InvalidTargetError
        If y has fewer than two classes or more than 65 536, another length, or values that are
        missing or infinite; or if it is declared a quantity and is not numeric.
    """
    values = as_target(y, n_rows)
    kind = options.decide(summarize_target(values))
    if kind.is_quantity:
        return _encode_quantity(values, options, kind.guess)
    classes, codes = _distinct(values)
    return Target(_as_column(codes, len(classes), values), classes, None, kind.guess)


def _encode_quantity(values: NDArray[Any], options: TargetOptions, guess: str) -> Target:
    block = values.astype(np.float64)[:, None]
    survey = Survey.of(block, options.bins)
    if survey.many[0]:
        cutter = get_discretizer(options.discretizer)
        cuts = cutter.cut(block, np.zeros(1, np.int64), survey, options.bins, None).values
    else:
        cuts = survey.distinct.row(0)[1:]
    codes = np.searchsorted(cuts, block[:, 0], side="right")
    return Target(_as_column(codes, len(cuts) + 1, values), None, cuts, guess, block[:, 0])


def _distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted distinct values and the index of each value among them.

    Whole numbers of a small range are looked up in a table, others are sorted.
    """
    is_number = values.dtype.kind in "biuf" and len(values) > 0
    if is_number and not has_fractions(values):
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
    only = f" ({value_text(values[0])})" if len(values) else ""
    return InvalidTargetError(
        f"y has only one class{only}, so no column holds information about it. Pass a target with "
        "at least two classes."
    )


def _too_many_classes(n_classes: int | None = None) -> InvalidTargetError:
    count = "" if n_classes is None else f"{n_classes} classes, "
    return InvalidTargetError(
        f"y has {count}more than {MAX_LEVELS}{'' if count else ' classes'}. If it is a quantity, "
        "pass target_kind='quantity'."
    )


# --- in parts -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TargetSurvey:
    """A summary of some rows of a target.

    Attributes
    ----------
    options : TargetOptions
    n_rows : int
    levels : ndarray or None
        The sorted distinct values; None if there are more than 65 536, or if y is certainly a
        quantity.
    dtype : dtype
        The type that all rows have in common.
    has_fractions : bool
        Whether a number is not whole.
    numbers : Survey or None
        For a target of numbers, as one column.
    """

    options: TargetOptions
    n_rows: int
    levels: NDArray[Any] | None
    dtype: np.dtype[Any]
    has_fractions: bool
    numbers: Survey | None

    @classmethod
    def of(cls, values: NDArray[Any], options: TargetOptions) -> TargetSurvey:
        """Survey the values of some rows."""
        is_number = values.dtype.kind in "biuf"
        limit = max(options.bins, MAX_FEW_NUMBERS)
        return cls(
            options,
            len(values),
            np.unique(values),
            values.dtype,
            has_fractions(values),
            Survey.of(values.astype(np.float64)[:, None], limit) if is_number else None,
        )._without_useless_levels()

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
        levels = None
        if self.levels is not None and other.levels is not None:
            levels = np.union1d(self.levels.astype(dtype), other.levels.astype(dtype))
        numbers = None
        if self.numbers is not None and other.numbers is not None:
            numbers = self.numbers.merge(other.numbers)
        return TargetSurvey(
            self.options,
            self.n_rows + other.n_rows,
            levels,
            dtype,
            self.has_fractions or other.has_fractions,
            numbers,
        )._without_useless_levels()

    def _without_useless_levels(self) -> TargetSurvey:
        is_quantity = self.has_fractions and self.options.kind == "auto"
        is_quantity |= self.options.kind == "quantity"
        are_too_many = self.levels is not None and len(self.levels) > MAX_LEVELS
        return replace(self, levels=None) if is_quantity or are_too_many else self

    @property
    def kind(self) -> TargetKind:
        """Whether the target holds classes or a quantity."""
        if self.numbers is None or self.dtype.kind == "b":
            return self.options.decide(TargetSummary(self.n_rows, False))
        n_distinct = None if self.levels is None else len(self.levels)
        if not self.numbers.many[0]:
            n_distinct = len(self.numbers.distinct.row(0))
        ends = float(self.numbers.minimum[0]), float(self.numbers.maximum[0])
        summary = TargetSummary(self.n_rows, True, self.has_fractions, n_distinct, *ends)
        return self.options.decide(summary)

    @property
    def is_cut(self) -> bool:
        """Whether y is a quantity and has more distinct values than bins."""
        if self.numbers is None or not self.kind.is_quantity:
            return False
        n_few = len(self.numbers.distinct.row(0))
        return bool(self.numbers.many[0]) or n_few > self.options.bins

    @property
    def needs_values(self) -> bool:
        """Whether all values are needed to cut it: a quantity not cut by "uniform"."""
        return self.is_cut and get_discretizer(self.options.discretizer).needs_values


@dataclass(frozen=True, eq=False)
class TargetCoding:
    """How a target is coded: its classes, or the cuts of a quantity."""

    classes: NDArray[Any] | None
    cuts: NDArray[np.float64] | None
    guess: str = ""

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


def survey_target(y: Any, options: TargetOptions) -> TargetSurvey:
    """Survey some rows of a target."""
    return TargetSurvey.of(as_target(y), options)


def fit_target(survey: TargetSurvey, values: NDArray[Any] | None = None) -> TargetCoding:
    """Return how the whole target is coded.

    ``values`` is the whole target, if ``survey.needs_values``.
    """
    kind, numbers = survey.kind, survey.numbers
    if kind.is_quantity and numbers is not None:
        cuts = _fit_cuts(survey, numbers, values)
        if len(cuts) == 0:
            raise _one_class(numbers.minimum)
        return TargetCoding(None, cuts, kind.guess)
    classes = survey.levels
    if classes is None and numbers is not None and not numbers.many[0]:
        classes = numbers.distinct.row(0).astype(survey.dtype)
    if classes is None:
        raise _too_many_classes()
    if len(classes) < 2:
        raise _one_class(classes)
    return TargetCoding(classes, None, kind.guess)


def _fit_cuts(
    survey: TargetSurvey, numbers: Survey, values: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Return the cut points of a quantity."""
    options = survey.options
    if not survey.is_cut:
        return numbers.distinct.row(0)[1:]
    if not survey.needs_values:
        return equal_widths(numbers.minimum, numbers.maximum, options.bins)[0]
    if values is None:
        raise TypeError("the values of a quantity are needed to cut it")
    whole = np.asarray(values, np.float64)[:, None]
    return cut_columns(whole, options.discretizer, options.bins).values


def encode_target_parts(
    parts: Callable[[], Iterable[Any]],
    options: TargetOptions,
) -> Target:
    """Return the codes of a target in parts; ``parts()`` reads them again each time."""
    nothing = survey_target(np.empty(0), options)
    survey = reduce(TargetSurvey.merge, (survey_target(y, options) for y in parts()), nothing)
    values = np.concatenate([as_target(y) for y in parts()]) if survey.needs_values else None
    coding = fit_target(survey, values)
    column = Column(np.concatenate([coding.encode(y) for y in parts()]), coding.arity)
    values = None if values is None else values.astype(np.float64)
    return Target(column, coding.classes, coding.cuts, coding.guess, values)

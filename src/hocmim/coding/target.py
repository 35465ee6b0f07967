"""The target as codes: its classes, or the bins of a quantity.

``Target`` says how y is read. ``encode_target`` examines y once: it decides what y holds, and
returns its codes. Several targets (y with more than one column) are one target by one of two
strategies:

"joint"
    The combinations of values that occur are the levels. This needs at least ``ROWS_PER_CELL`` rows
    for each combination on average; with fewer, information about the combinations is mostly
    chance, and "mean" is used.
"mean"
    The score of a column is the mean of its scores for each target.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import MAX_LEVELS, Column, as_small_integers
from hocmim.coding.cuts import Survey, cut_columns
from hocmim.coding.groups import join_columns
from hocmim.coding.identifiers import are_nearly_distinct
from hocmim.data.target import as_target, check_values
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError, warn_user
from hocmim.parameters import check_parameters, one_of, whole
from hocmim.text import value_text

TARGET_KINDS = ("auto", "classes", "quantity")
TARGET_DISCRETIZERS = ("quantile", "uniform")
TARGET_STRATEGIES = ("joint", "mean")
# The fewest rows for each combination of several targets, on average.
ROWS_PER_CELL = 5
# Numbers with at most this many distinct values are classes.
MAX_FEW_NUMBERS = 5
# Whole numbers with at most this many distinct values are classes, if most of them repeat.
MAX_FEW_WHOLE = 20
# Rows that show that numbers with fractions have many distinct values.
MAX_FIRST_ROWS = 4096
# Whole numbers in a smaller range are counted in a table.
MAX_LEVEL_RANGE = 1 << 20
# Whole numbers up to this one are exact in 64-bit floating point.
MAX_EXACT = 1 << 53


@dataclass(frozen=True)
class Target:
    """How the target is read: the parameter ``target`` of a selector.

    Parameters
    ----------
    kind : {"auto", "classes", "quantity"}, default "auto"
        What the target holds. "auto": decided from its values (see :func:`decide_kind`); a guess
        gives a ``HocmimWarning``.
    bins : int, default 3
        Into how many bins a quantity is cut.
    discretizer : {"quantile", "uniform"}, default "quantile"
        How a quantity is cut: equal frequency or equal width.
    strategy : {"joint", "mean"}, default "joint"
        For several targets. "joint": the combinations of their values are one target, if
        there are five rows for each on average. "mean": the score is the mean over the targets.

    Examples
    --------
    >>> from hocmim.coding.target import Target, encode_target
    >>> encode_target([0.5, 1.5, 2.5, 3.5, 4.5, 5.5], target=Target(bins=2)).cuts
    array([3.5])
    """

    kind: str = "auto"
    _: KW_ONLY
    bins: int = 3
    discretizer: str = "quantile"
    strategy: str = "joint"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kind": [one_of(TARGET_KINDS)],
        "bins": [whole(2, MAX_LEVELS - 1)],
        "discretizer": [one_of(TARGET_DISCRETIZERS)],
        "strategy": [one_of(TARGET_STRATEGIES)],
    }

    def __post_init__(self) -> None:
        check_parameters(self)

    @classmethod
    def of(cls, target: Target | str | None) -> Target:
        """Return the parameter ``target`` of a selector: None, a kind, or a Target."""
        if isinstance(target, cls):
            return target
        if target is None:
            return DEFAULT
        if isinstance(target, str) and target in TARGET_KINDS:
            return cls(target)
        raise InvalidParameterError(
            "target must be None, 'classes', 'quantity', or a Target such as Target(bins=5). Got "
            f"{value_text(target)} instead."
        )


DEFAULT = Target()


@dataclass(frozen=True, eq=False)
class EncodedTarget:
    """A target as codes."""

    column: Column
    classes: NDArray[Any] | None  # of each code; None for a quantity
    cuts: NDArray[np.float64] | None  # of a quantity; None for classes
    guess: str = ""  # why it is treated as classes or as a quantity, if that is a guess
    values: NDArray[np.float64] | None = None  # of a quantity; None for classes
    targets: tuple[EncodedTarget, ...] = ()  # one by one, if y has several columns
    # What ``column`` is if y has several columns. "joint": the combinations of their values.
    # "mean": the first target; the scores of all targets are averaged.
    strategy: str = ""

    @property
    def each(self) -> tuple[EncodedTarget, ...]:
        """The targets one by one."""
        return self.targets or (self,)

    @property
    def is_quantity(self) -> bool:
        """Whether it holds a quantity."""
        return self.classes is None

    @property
    def kind(self) -> str:
        """What it holds: "classes" or "quantity"."""
        return "quantity" if self.classes is None else "classes"

    def take(self, rows: NDArray[np.int64]) -> EncodedTarget:
        """Return some rows."""
        column = Column(self.column.codes[rows], self.column.arity)
        values = None if self.values is None else self.values[rows]
        targets = tuple(one.take(rows) for one in self.targets)
        return replace(self, column=column, values=values, targets=targets)


# --- what y holds ---------------------------------------------------------------------------------


class TargetKind(NamedTuple):
    """Whether a target holds classes or a quantity."""

    name: str  # "classes" or "quantity"
    guess: str = ""  # why, in one sentence, if it is a guess

    @property
    def is_quantity(self) -> bool:
        """Whether it is a quantity."""
        return self.name == "quantity"


def decide_kind(y: NDArray[Any], kind: str = "auto") -> TargetKind:
    """Return what a target holds; y is one column, as ``as_target`` returns it.

    "auto" decides in this order:

    * strings, booleans, and numbers with at most 5 distinct values are classes;
    * numbers with fractions are a quantity;
    * at most 20 distinct whole numbers are classes, if each occurs in two rows on average;
    * whole numbers without a gap from 0 or from 1 are classes, if each occurs in two rows on
      average (a guess);
    * other whole numbers are a quantity (a guess).
    """
    is_numeric = y.dtype.kind in "iuf" and len(y) > 0
    if kind == "quantity" and not is_numeric:
        raise InvalidTargetError(
            "The target is declared as a quantity, but y is not numeric. Pass numbers, or leave "
            "'quantity' out."
        )
    if kind != "auto":
        return TargetKind(kind)
    if not is_numeric:
        return TargetKind("classes")
    if _has_fractions(y):
        return TargetKind("classes" if _are_few(y) else "quantity")
    low, high = int(y.min()), int(y.max())
    n = _count_whole(y, low, high)
    are_repeated = 2 * n <= len(y)
    if n <= MAX_FEW_NUMBERS or (n <= MAX_FEW_WHOLE and are_repeated):
        return TargetKind("classes")
    if are_repeated and low in (0, 1) and n == high - low + 1:
        found = f"y has {n:,} whole numbers without a gap from {low}"
        return TargetKind("classes", f"{found}, so it is treated as classes.")
    return TargetKind(
        "quantity", f"y has {n:,} distinct whole numbers, so it is treated as a quantity."
    )


def _has_fractions(y: NDArray[Any]) -> bool:
    """Whether y holds numbers that are not all whole."""
    return y.dtype.kind == "f" and bool((y != np.rint(y)).any())


def _are_few(y: NDArray[Any]) -> bool:
    """Whether there are at most ``MAX_FEW_NUMBERS`` distinct values; the first rows may deny it."""
    first = len(np.unique(y[:MAX_FIRST_ROWS]))
    return first <= MAX_FEW_NUMBERS and len(np.unique(y)) <= MAX_FEW_NUMBERS


def _count_whole(y: NDArray[Any], low: int, high: int) -> int:
    """Return the number of distinct whole numbers, without sorting if their range is small."""
    if high - low >= MAX_LEVEL_RANGE or max(-low, high) > MAX_EXACT:
        return len(np.unique(y))
    occurs = np.zeros(high - low + 1, bool)
    occurs[y.astype(np.int64) - low] = True
    return int(np.count_nonzero(occurs))


def warn_about_guess(target: TargetKind | EncodedTarget) -> None:
    """Warn if the kind of a target is a guess, and say how to declare it."""
    if target.guess:
        kinds = "classes", "quantity"
        this, other = reversed(kinds) if target.is_quantity else kinds
        warn_user(f"{target.guess} Pass target={this!r} to confirm this, or target={other!r}.")


# --- its codes ------------------------------------------------------------------------------------


def encode_target(
    y: Any,
    n_rows: int | None = None,
    target: Target = DEFAULT,
) -> EncodedTarget:
    """Return the codes of a target of one column or of several; it must have ``n_rows`` rows.

    Classes are coded in sorted order. A quantity with more than ``target.bins`` distinct values is
    cut into bins, like a column; one with fewer has a bin for each value.
    """
    return encode_values(as_target(y, n_rows, several=True), target)


def encode_values(values: NDArray[Any], target: Target) -> EncodedTarget:
    """Return the codes of a target that ``as_target`` returned."""
    if values.ndim == 1:
        return _encode_one(values, target)
    return _join_targets([_encode_one(check_values(column), target) for column in values.T], target)


def _encode_one(values: NDArray[Any], target: Target) -> EncodedTarget:
    kind = decide_kind(values, target.kind)
    if kind.is_quantity:
        return _encode_quantity(values, target, kind.guess)
    classes, codes = _distinct(values)
    return EncodedTarget(_as_column(codes, len(classes), values), classes, None, kind.guess)


def _encode_quantity(values: NDArray[Any], target: Target, guess: str) -> EncodedTarget:
    block = values.astype(np.float64)[:, None]
    survey = Survey.of(block, target.bins)
    if survey.has_many[0]:
        cuts = cut_columns(block, target.discretizer, target.bins).values
    else:
        cuts = survey.distinct.row(0)[1:]
    codes = np.searchsorted(cuts, block[:, 0], side="right")
    column = _as_column(codes, len(cuts) + 1, values)
    return EncodedTarget(column, None, cuts, guess, block[:, 0])


def _distinct(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted distinct values and the index of each value among them.

    Whole numbers of a small range are looked up in a table, strings in a dictionary; others are
    sorted.
    """
    if values.dtype.kind == "O":
        levels = sorted(set(values.tolist()))
        index = {level: code for code, level in enumerate(levels)}
        codes = np.fromiter(map(index.__getitem__, values.tolist()), np.int64, len(values))
        return np.array(levels, object), codes
    is_number = values.dtype.kind in "biuf" and len(values) > 0
    if is_number and not _has_fractions(values):
        low, high = int(values.min()), int(values.max())
        if high - low < MAX_LEVELS and low >= -MAX_EXACT and high <= MAX_EXACT:
            places = values.astype(np.int64) - low
            occurs = np.zeros(high - low + 1, bool)
            occurs[places] = True
            classes = (np.flatnonzero(occurs) + low).astype(values.dtype)
            has_gaps = len(classes) < len(occurs)
            return classes, (np.cumsum(occurs) - 1)[places] if has_gaps else places
    return np.unique(values, return_inverse=True)


def _as_column(codes: NDArray[np.int64], arity: int, values: NDArray[Any]) -> Column:
    if len(codes) == 0 or codes.min() == codes.max():
        only = f" ({value_text(values[0])})" if len(values) else ""
        raise InvalidTargetError(
            f"y has only one class{only}, so no column holds information about it. Pass a target "
            "with at least two classes."
        )
    if are_nearly_distinct(arity, len(codes)):
        raise InvalidTargetError(
            f"y has {arity:,} classes in {len(codes):,} rows: nearly every row is a class of its "
            "own, so that nothing can be learnt about it. Is it an identifier? If it is a "
            "quantity, pass target='quantity'; if it is text that holds numbers, convert it."
        )
    if arity > MAX_LEVELS:
        raise InvalidTargetError(
            f"y has {arity} classes, more than {MAX_LEVELS}. If it is a quantity, pass "
            "target='quantity'."
        )
    return Column(as_small_integers(codes, arity), arity)


# --- in parts -------------------------------------------------------------------------------------


class Labels(NamedTuple):
    """Strings as the sorted distinct ones and the index of each row: each string is kept once."""

    levels: NDArray[Any]
    codes: NDArray[np.int64]


def read_part(y: Any) -> NDArray[Any] | Labels:
    """Return some rows of a target; ``join_parts`` makes the target of all rows of them."""
    values = as_target(y)
    return Labels(*_distinct(values)) if values.dtype.kind in "OUT" and len(values) else values


def join_parts(parts: Iterable[NDArray[Any] | Labels]) -> NDArray[Any]:
    """Return a target of which ``read_part`` read the rows, in the order of the parts."""
    found = [part for part in parts if len(part[0] if isinstance(part, Labels) else part)]
    are_labels = {isinstance(part, Labels) for part in found}
    if len(are_labels) > 1:
        raise InvalidTargetError(
            "y must hold strings or numbers, but some of its partitions hold strings and others "
            "numbers. Convert it to one type."
        )
    if not found:
        return np.empty(0)
    if are_labels == {False}:
        return np.concatenate(found)
    return np.concatenate([part.levels[part.codes] for part in found if isinstance(part, Labels)])


# --- several targets ------------------------------------------------------------------------------


def _join_targets(targets: Sequence[EncodedTarget], target: Target) -> EncodedTarget:
    """Return several targets as one."""
    if target.strategy == "joint":
        joint = _join([one.column for one in targets])
        if joint is not None:
            labels = _joint_labels(targets, joint)
            return EncodedTarget(joint, labels, None, targets=tuple(targets), strategy="joint")
    return replace(targets[0], guess="", values=None, targets=tuple(targets), strategy="mean")


def _join(columns: list[Column]) -> Column | None:
    """Return the combinations of values as one column; None if they are too many."""
    try:
        joint = join_columns(columns, "y")
    except InvalidTableError:  # more combinations than a column can have levels
        return None
    return joint if ROWS_PER_CELL * joint.arity <= len(joint.codes) else None


def _joint_labels(targets: Sequence[EncodedTarget], joint: Column) -> NDArray[Any]:
    """Return what each combination is, in words."""
    _, first = np.unique(joint.codes, return_index=True)
    labels = [_labels(target) for target in targets]
    codes = [target.column.codes for target in targets]
    found = np.empty(joint.arity, object)
    for cell, row in enumerate(first.tolist()):
        parts = zip(labels, codes, strict=True)
        found[cell] = ", ".join(names[int(code[row])] for names, code in parts)
    return found


def _labels(target: EncodedTarget) -> list[str]:
    """Return the classes as text, or the bins."""
    if target.cuts is None:
        assert target.classes is not None
        return [str(value) for value in target.classes.tolist()]
    cuts = [f"{cut:g}" for cut in target.cuts]
    between = [f"{low} to {high}" for low, high in pairwise(cuts)]
    return [f"below {cuts[0]}", *between, f"from {cuts[-1]}"]

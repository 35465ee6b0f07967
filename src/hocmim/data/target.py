"""The target y: one value for each row, none of them missing."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hocmim.data.columns import missing_objects, unmask
from hocmim.data.sparse import is_sparse
from hocmim.errors import InvalidTargetError, warn_user

TARGET_KINDS = ("auto", "classes", "quantity")
# Numbers with at most this many distinct values are classes.
MAX_FEW_NUMBERS = 5
# Whole numbers with at most this many distinct values are classes, if most of them repeat.
MAX_FEW_WHOLE = 20
# Rows that show that numbers with fractions have many distinct values.
MAX_FIRST_ROWS = 4096
# Whole numbers in a smaller range are counted in a table.
MAX_EXACT = 2**53  # whole numbers up to here are exact as floating-point numbers
MAX_LEVEL_RANGE = 1 << 20


@dataclass(frozen=True)
class TargetSummary:
    """What the kind of a target is decided by.

    Attributes
    ----------
    n_rows : int
    is_numeric : bool
        Whether the values are integers or floating-point numbers.
    has_fractions : bool
        Whether a value is not whole.
    n_distinct : int or None
        Number of distinct values; None if they were not counted because they are too many.
    minimum, maximum : float
        Of numbers.
    """

    n_rows: int
    is_numeric: bool
    has_fractions: bool = False
    n_distinct: int | None = None
    minimum: float = np.nan
    maximum: float = np.nan

    @property
    def is_repeated(self) -> bool:
        """Whether a value occurs in two rows or more, on average."""
        return self.n_distinct is not None and 2 * self.n_distinct <= self.n_rows

    @property
    def has_label_codes(self) -> bool:
        """Whether the values are 0, 1, …, C − 1 or 1, 2, …, C without a gap, and repeated."""
        return (
            self.is_repeated
            and self.minimum in (0, 1)
            and self.n_distinct == self.maximum - self.minimum + 1
        )


@dataclass(frozen=True)
class TargetKind:
    """Whether a target holds classes or a quantity.

    Attributes
    ----------
    name : {"classes", "quantity"}
    guess : str
        Why, in one sentence, if it is a guess; "" if not.
    """

    name: str
    guess: str = ""

    @property
    def is_quantity(self) -> bool:
        """Whether it is a quantity."""
        return self.name == "quantity"


def has_fractions(y: NDArray[Any]) -> bool:
    """Whether y holds numbers that are not all whole."""
    return y.dtype.kind == "f" and bool((y != np.rint(y)).any())


def summarize_target(y: NDArray[Any]) -> TargetSummary:
    """Return the summary of a target that ``as_target`` returned."""
    if y.dtype.kind not in "iuf" or len(y) == 0:
        return TargetSummary(len(y), False)
    ends = float(y.min()), float(y.max())
    if has_fractions(y):
        return TargetSummary(len(y), True, True, _count_few(y), *ends)
    return TargetSummary(len(y), True, False, _count_whole(y), *ends)


def _count_few(y: NDArray[Any]) -> int | None:
    """Return the number of distinct values; None if the first rows already have many."""
    if len(y) > MAX_FIRST_ROWS and len(np.unique(y[:MAX_FIRST_ROWS])) > MAX_FIRST_ROWS // 2:
        return None
    return len(np.unique(y))


def _count_whole(y: NDArray[Any]) -> int:
    """Return the number of distinct whole numbers, without sorting if their range is small."""
    low, high = int(y.min()), int(y.max())
    if high - low >= MAX_LEVEL_RANGE or max(-low, high) > MAX_EXACT:
        return len(np.unique(y))
    occurs = np.zeros(high - low + 1, bool)
    occurs[y.astype(np.int64) - low] = True
    return int(np.count_nonzero(occurs))


def decide_kind(summary: TargetSummary, kind: str = "auto") -> TargetKind:
    """Return the kind of a target.

    "auto" decides in this order:

    * strings, booleans, and numbers with at most 5 distinct values are classes;
    * numbers with fractions are a quantity;
    * at most 20 distinct whole numbers are classes, if each occurs in two rows on average;
    * whole numbers without a gap from 0 or from 1 are classes, if each occurs in two rows on
      average (a guess);
    * other whole numbers are a quantity (a guess).

    Parameters
    ----------
    summary : TargetSummary
    kind : {"auto", "classes", "quantity"}

    Raises
    ------
    InvalidTargetError
        If the kind is "quantity" and y does not hold numbers.
    """
    if kind == "quantity" and not summary.is_numeric:
        raise InvalidTargetError(
            "target_kind is 'quantity', but y is not numeric. Pass numbers, or leave target_kind "
            "out."
        )
    if kind != "auto":
        return TargetKind(kind)
    n = summary.n_distinct
    if not summary.is_numeric or (n is not None and n <= MAX_FEW_NUMBERS):
        return TargetKind("classes")
    if summary.has_fractions:
        return TargetKind("quantity")
    if n is not None and n <= MAX_FEW_WHOLE and summary.is_repeated:
        return TargetKind("classes")
    many = "very many" if n is None else f"{n:,}"
    if summary.has_label_codes:
        found = f"y has {many} whole numbers without a gap from {summary.minimum:.0f}"
        return TargetKind("classes", f"{found}, so it is treated as classes.")
    return TargetKind(
        "quantity", f"y has {many} distinct whole numbers, so it is treated as a quantity."
    )


def warn_about_guess(kind: TargetKind) -> None:
    """Warn if the kind of a target is a guess, and say how to declare it."""
    if kind.guess:
        other = "classes" if kind.is_quantity else "quantity"
        warn_user(
            f"{kind.guess} Pass target_kind={kind.name!r} to confirm this, or "
            f"target_kind={other!r}."
        )


def as_target(
    y: Any,
    n_rows: int | None = None,
    *,
    rows: NDArray[np.int64] | None = None,
    caller: str = "This method",
    several: bool = False,
) -> NDArray[Any]:
    """Return the target as a one-dimensional array of numbers, booleans or strings.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Or of shape (n_rows, n_targets), with ``several``.
    n_rows : int, optional
        The length it must have.
    rows : ndarray of int64, optional
        Return these values of y, in this order; the others are not checked.
    caller : str
        What needs y, for the error message.
    several : bool
        Whether y may have several columns. The array is two-dimensional then; call ``as_target``
        for each of its columns.

    Raises
    ------
    InvalidTargetError
        If y is None, has more than one column without ``several``, has another length than the
        table, or has a missing or infinite value.
    """
    if y is None:
        raise InvalidTargetError(f"{caller} requires y to be passed, but the target y is None.")
    array = _target_values(y, several)
    if n_rows is not None and len(array) != n_rows:
        raise InvalidTargetError(
            f"X and y have different lengths: X has {n_rows} rows and y has {len(array)} values."
        )
    if rows is not None:
        array = array[rows]
    if array.ndim == 2:
        for column in array.T:
            _check_values(column)
        return array
    return _check_values(array)


def _check_values(array: NDArray[Any]) -> NDArray[Any]:
    """Return the values of one target as numbers, booleans or strings."""
    if array.dtype.kind == "c":
        raise InvalidTargetError("Complex data not supported: y holds complex numbers.")
    if array.dtype.kind in "mM":
        raise InvalidTargetError("y holds dates or times. Convert y to numbers or to classes.")
    if array.dtype.kind == "O":
        array = _object_target(array)
    if array.dtype.kind == "f":
        if np.isnan(array).any():
            raise InvalidTargetError("Input y contains NaN. Drop the rows without a target.")
        if np.isinf(array).any():
            raise InvalidTargetError(
                f"Input y contains infinity or a value too large for {array.dtype!r}."
            )
    return array


def _target_values(y: Any, several: bool) -> NDArray[Any]:
    if type(y) is np.ndarray:
        array = y
    elif is_sparse(y):
        raise InvalidTargetError("Sparse data is not supported as y. Pass y.toarray().ravel().")
    elif nw.dependencies.is_into_series(y):
        series = nw.from_native(y, series_only=True)
        dtype = series.dtype
        textual = dtype in (nw.Categorical, nw.Enum) and not series.implementation.is_pandas_like()
        array = (series.cast(nw.String) if textual else series).to_numpy()
    else:
        if nw.dependencies.is_into_dataframe(y):
            y = nw.from_native(y, eager_only=True).to_numpy()
        array = unmask(y) if isinstance(y, np.ma.MaskedArray) else _as_array(y)
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # takes long to import

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=2,
        )
        array = array[:, 0]
    if several and array.ndim == 2 and array.shape[1] > 1:
        return array
    if array.ndim != 1:
        raise InvalidTargetError(
            f"y should be a 1d array, got an array of shape {array.shape} instead."
        )
    return array


def _as_array(y: Any) -> NDArray[Any]:
    try:
        array = np.asarray(y)
        if array.dtype.kind == "U" and not hasattr(y, "dtype"):
            array = np.asarray(y, dtype=object)  # a missing value among strings stays missing
    except (ValueError, TypeError) as error:
        raise InvalidTargetError(
            "y cannot be read as an array. Pass one value for each row of X."
        ) from error
    return array


def _object_target(array: NDArray[Any]) -> NDArray[Any]:
    """Convert an array of Python objects to strings or numbers."""
    if missing_objects(array).any():
        raise InvalidTargetError("Input y contains NaN. Drop the rows without a target.")
    types = set(map(type, array))
    if all(issubclass(t, str) for t in types):
        return array
    if all(issubclass(t, (bool, np.bool_)) for t in types):
        return array.astype(bool)
    if all(issubclass(t, (int, np.integer)) for t in types):
        return array.astype(np.int64)
    if all(issubclass(t, (numbers.Real, np.bool_, Decimal)) for t in types):
        return array.astype(np.float64)
    kinds = " and ".join(sorted(t.__qualname__ for t in types))
    raise InvalidTargetError(
        f"y must hold strings or numbers, but it holds {kinds}. Convert it to one of them."
    )

"""The target y as an array: one value for each row, none of them missing."""

from __future__ import annotations

import numbers
import warnings
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hocmim.data.columns import missing_objects, unmask
from hocmim.data.table import is_sparse
from hocmim.errors import InvalidTargetError


def as_target(
    y: Any,
    n_rows: int | None = None,
    *,
    rows: NDArray[np.int64] | None = None,
    caller: str = "This method",
    several: bool = False,
) -> NDArray[Any]:
    """Return the target as a one-dimensional array of numbers, booleans or strings.

    ``n_rows`` is the length it must have. With ``rows``, only these values are returned, in this
    order; the others are not checked. ``caller`` is what needs y, for a message. ``several``: y
    may have several columns, and so has the array then. InvalidTargetError: y is None, has
    another shape or length, or a missing or infinite value.
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
            check_values(column)
        return array
    return check_values(array)


def check_values(array: NDArray[Any]) -> NDArray[Any]:
    """Return the values of one target as numbers, booleans or strings."""
    if array.dtype.kind == "c":
        raise InvalidTargetError("Complex data not supported: y holds complex numbers.")
    if array.dtype.kind in "mM":
        raise InvalidTargetError("y holds dates or times. Convert y to numbers or to classes.")
    if array.dtype.kind == "O":
        array = _object_target(array)
    if array.dtype.kind == "f":
        if array.dtype.itemsize > 8:
            with np.errstate(over="ignore"):  # beyond 64 bits it is infinite
                array = array.astype(np.float64)
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
        array = _series_values(nw.from_native(y, series_only=True))
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


def _series_values(series: nw.Series[Any]) -> NDArray[Any]:
    dtype = series.dtype
    if dtype.is_nested():
        raise _unreadable(str(dtype))
    textual = dtype in (nw.Categorical, nw.Enum) and not series.implementation.is_pandas_like()
    try:
        return (series.cast(nw.String) if textual else series).to_numpy()
    except MemoryError:
        raise
    except Exception as error:  # each library has its own for types that NumPy does not have
        kind = getattr(series.to_native(), "type", dtype)
        raise _unreadable(str(kind)) from error


def _unreadable(kind: str) -> InvalidTargetError:
    return InvalidTargetError(
        f"y is of the type {kind}, which cannot be read. Convert it to strings or to numbers."
    )


def _as_array(y: Any) -> NDArray[Any]:
    try:
        array = np.asarray(y)
        if array.dtype.kind == "U" and not hasattr(y, "dtype"):
            array = np.asarray(y, dtype=object)  # a missing value among strings stays missing
    except (ValueError, TypeError, NotImplementedError) as error:
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
    try:
        if all(issubclass(t, (int, np.integer)) for t in types):
            return array.astype(np.int64)
        if all(issubclass(t, (numbers.Real, np.bool_, Decimal)) for t in types):
            return array.astype(np.float64)
    except OverflowError as error:
        raise InvalidTargetError(
            "A number in y is too large for 64 bits. Convert y to strings if it holds classes."
        ) from error
    kinds = " and ".join(sorted(t.__qualname__ for t in types))
    raise InvalidTargetError(
        f"y must hold strings or numbers, but it holds {kinds}. Convert it to one of them."
    )

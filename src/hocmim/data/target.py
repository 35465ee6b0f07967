"""The target y: one value for each row, none of them missing."""

from __future__ import annotations

import numbers
import warnings
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from hocmim.data.columns import missing_objects, unmask
from hocmim.errors import InvalidTargetError


def is_continuous(y: NDArray[Any]) -> bool:
    """Whether a target is a quantity: floating-point numbers that are not all whole.

    Anything else (strings, booleans, integers, whole floating-point numbers) holds classes, as in
    scikit-learn.
    """
    return y.dtype.kind == "f" and bool((y != np.rint(y)).any())


def as_target(
    y: Any,
    n_rows: int | None = None,
    *,
    rows: NDArray[np.int64] | None = None,
    caller: str = "This method",
) -> NDArray[Any]:
    """Return the target as a one-dimensional array of numbers, booleans or strings.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
    n_rows : int, optional
        The length it must have.
    rows : ndarray of int64, optional
        Return these values of y, in this order; the others are not checked.
    caller : str
        What needs y, for the error message.

    Raises
    ------
    InvalidTargetError
        If y is None, has more than one column, has another length than the table, or has a missing
        or infinite value.
    """
    if y is None:
        raise InvalidTargetError(f"{caller} requires y to be passed, but the target y is None.")
    array = _target_values(y)
    if n_rows is not None and len(array) != n_rows:
        raise InvalidTargetError(
            f"X and y have different lengths: X has {n_rows} rows and y has {len(array)} values."
        )
    if rows is not None:
        array = array[rows]
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


def _target_values(y: Any) -> NDArray[Any]:
    if sparse.issparse(y):
        raise InvalidTargetError("Sparse data is not supported as y. Pass y.toarray().ravel().")
    if nw.dependencies.is_into_series(y):
        series = nw.from_native(y, series_only=True)
        dtype = series.dtype
        textual = dtype in (nw.Categorical, nw.Enum) and not series.implementation.is_pandas_like()
        array = (series.cast(nw.String) if textual else series).to_numpy()
    else:
        if nw.dependencies.is_into_dataframe(y):
            y = nw.from_native(y, eager_only=True).to_numpy()
        array = unmask(y) if isinstance(y, np.ma.MaskedArray) else np.asarray(y)
        if array.dtype.kind == "U" and not hasattr(y, "dtype"):
            array = np.asarray(y, dtype=object)  # a missing value among strings stays missing
    if array.ndim == 2 and array.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=2,
        )
        array = array[:, 0]
    if array.ndim != 1:
        raise InvalidTargetError(
            f"y should be a 1d array, got an array of shape {array.shape} instead."
        )
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

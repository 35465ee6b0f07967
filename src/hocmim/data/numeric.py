"""A whole table as one array of numbers, for methods that do not use codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.data.checks import reject_infinite
from hocmim.data.columns import Categories
from hocmim.data.table import as_table

# Columns of numbers beyond 2 to this power, or all below its reciprocal, are extreme.
MAX_EXPONENT = 400


class NumericMatrix(NamedTuple):
    """What :func:`numeric_matrix` returns."""

    values: NDArray[np.float64]
    is_categorical: NDArray[np.bool_]
    has_missing: NDArray[np.bool_]


def numeric_matrix(X: Any) -> NumericMatrix:
    """Return the whole table as one array of numbers: a dense copy.

    Booleans are 0 and 1; dates and times are nanoseconds; a string or category is its index among
    the sorted values that occur. An infinite value is an InvalidTableError.
    """
    table = as_table(X)
    values = np.empty((table.n_rows, table.n_columns))
    is_categorical = np.zeros(table.n_columns, bool)
    for block in table.blocks():
        if isinstance(block, Categories):
            is_categorical[block.start] = True
            values[:, block.start] = np.where(block.codes < 0, np.nan, block.codes)
        else:
            values[:, block.start : block.start + block.values.shape[1]] = block.values
    has_missing = np.asarray(np.isnan(values).any(axis=0))
    reject_infinite(table, values)
    return NumericMatrix(values, is_categorical, has_missing)


def extreme_exponents(values: NDArray[np.float64]) -> NDArray[np.intc]:
    """Return an exponent e for each column: divided by 2**e, no square of a number overflows.

    0 for columns of usual numbers. There must be no missing values.
    """
    low, high = values.min(axis=0, initial=0.0), values.max(axis=0, initial=0.0)
    exponents = np.frexp(np.maximum(-low, high))[1]
    return np.where(np.abs(exponents) > MAX_EXPONENT, exponents, 0)

"""The Kendall transformation: pairs of rows in place of rows.

A column of n numbers becomes a column of n (n − 1) values: for each ordered pair of rows, whether
the first number is smaller than the second, equal or larger. Nothing is cut into bins, so that
nothing is lost but the distances. It is for small samples: n = 300 gives 89 700 pairs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.data.numeric import numeric_matrix
from hocmim.data.table import as_table
from hocmim.data.target import as_target
from hocmim.errors import InvalidTableError, InvalidTargetError

SMALLER, EQUAL, LARGER, MISSING = 0, 1, 2, 3
MAX_ROWS = 1000
MAX_CELLS = 2_000_000_000


class RowPairs(NamedTuple):
    """A table and a target of pairs of rows.

    Attributes
    ----------
    X : ndarray of uint8, shape (n (n − 1), n_columns)
        0: smaller, 1: equal, 2: larger, 3: one of the two is missing.
    y : ndarray of uint8, shape (n (n − 1),)
    """

    X: NDArray[np.uint8]
    y: NDArray[np.uint8]


def kendall_transform(X: Any, y: Any) -> RowPairs:
    """Return the Kendall transformation of a table and its target.

    Encode the pairs with ``Encoder(n_bins=4)``: then no comparison is cut. RowPairs of rows are not
    independent: a test that treats them as rows is wrong, and ``n_features_to_select`` must be a
    number.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        Numbers, booleans, or categories of two levels; at most 1000 rows.
    y : array of shape (n_samples,)
        Numbers, booleans or two classes.

    References
    ----------
    M. B. Kursa, Kendall transformation brings a robust categorical representation of ordinal data,
    Scientific Reports 12, 2022.

    Examples
    --------
    >>> from hocmim.coding.kendall import kendall_transform
    >>> kendall_transform([[1.5], [2.0], [1.5]], [3.0, 1.0, 2.0]).X[:, 0]
    array([0, 1, 2, 2, 1, 0], dtype=uint8)
    """
    pairs = compare_table(X)
    target = as_target(y, as_table(X).n_rows)
    if target.dtype.kind not in "biuf":
        labels, target = np.unique(target, return_inverse=True)
        if len(labels) > 2:
            raise InvalidTargetError(
                "y has more than two classes, which have no order. Pass numbers, or two classes."
            )
    return RowPairs(pairs, compare_rows(target.astype(np.float64)[:, None])[:, 0])


def compare_table(X: Any) -> NDArray[np.uint8]:
    """Return the comparisons of every ordered pair of rows of a table."""
    table = as_table(X, min_rows=2)
    if table.n_rows > MAX_ROWS or table.n_rows**2 * table.n_columns > MAX_CELLS:
        raise InvalidTableError(
            f"The Kendall transformation is for at most {MAX_ROWS} rows and {MAX_CELLS:.0e} "
            f"comparisons, and X has {table.n_rows} rows and {table.n_columns} columns. Use fewer "
            "rows, or cut the columns into bins."
        )
    values, is_categorical, _ = numeric_matrix(table)
    for j in np.flatnonzero(is_categorical):
        if np.nanmax(values[:, j], initial=0) > 1:
            raise InvalidTableError(
                f"{table.label(int(j))} of X has more than two categories, which have no order. "
                "Pass numbers, or one column for each category."
            )
    return compare_rows(values)


def compare_rows(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Compare every ordered pair of different rows, column by column."""
    n_rows, n_columns = values.shape
    is_pair = ~np.eye(n_rows, dtype=bool)
    found = np.empty((n_rows * (n_rows - 1), n_columns), np.uint8, order="F")
    for j, column in enumerate(values.T):
        first, second = column[:, None], column[None, :]
        codes = np.full((n_rows, n_rows), EQUAL, np.uint8)
        codes[first < second] = SMALLER
        codes[first > second] = LARGER
        codes[np.isnan(first) | np.isnan(second)] = MISSING
        found[:, j] = codes[is_pair]
    return found

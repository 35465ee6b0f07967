"""How much of the variance of a quantity some features explain together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hocmim.coding.codes import Column

# Levels of all columns together, up to which R² is computed.
MAX_TOTAL_LEVELS = 2000
# Eigenvalues of the normal equations below this share of the largest are 0.
DEPENDENT_SHARE = 1e-10


def explained_variance(columns: Sequence[Column], values: NDArray[np.float64]) -> float | None:
    """Return the adjusted R² of the linear model of y with one term for each level of each column.

    R² = 1 − (RSS / (N − p)) / (TSS / (N − 1)), p the number of free coefficients with the constant;
    0 if it would be negative. For one column it is the share of the variance of y between levels.

    Parameters
    ----------
    columns : sequence of Column
    values : ndarray of float64
        The target.

    Returns
    -------
    float or None
        None if the columns have more than 2000 levels, or as many free coefficients as rows.
    """
    n_levels = sum(column.arity for column in columns)
    if n_levels > MAX_TOTAL_LEVELS or n_levels == 0:
        return None
    centred = values - values.mean()
    total = float(centred @ centred)
    explained, n_free = _fit(columns, centred)
    n_rest = len(values) - n_free - 1
    if total <= 0 or n_rest <= 0:
        return None
    rest = max(0.0, total - explained)
    return max(0.0, 1.0 - (rest / n_rest) / (total / (len(values) - 1)))


def _fit(columns: Sequence[Column], centred: NDArray[np.float64]) -> tuple[float, int]:
    """Return the explained sum of squares and the number of free coefficients."""
    offsets = np.cumsum([0, *(column.arity for column in columns)])
    n_rows, n_levels = len(centred), int(offsets[-1])
    places = np.stack(
        [column.codes.astype(np.int64) + at for column, at in zip(columns, offsets, strict=False)],
        axis=1,
    )
    starts = np.arange(0, n_rows * len(columns) + 1, len(columns))
    indicators = sparse.csr_array(
        (np.ones(places.size), places.ravel(), starts), shape=(n_rows, n_levels)
    )
    sizes = np.asarray(indicators.sum(axis=0)).ravel()
    gram = (indicators.T @ indicators).toarray() - np.outer(sizes, sizes) / n_rows
    sums = np.asarray(indicators.T @ centred).ravel()
    eigenvalues, vectors = np.linalg.eigh(gram)
    is_free = eigenvalues > DEPENDENT_SHARE * max(float(eigenvalues[-1]), 1.0)
    parts = (vectors.T @ sums)[is_free] ** 2 / eigenvalues[is_free]
    return float(parts.sum()), int(np.count_nonzero(is_free))

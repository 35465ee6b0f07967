"""Sample weights: how often each row counts."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hocmim.data.columns import unmask
from hocmim.errors import InvalidWeightsError

MAX_ROWS = (1 << 32) - 2
"""The kernels count samples in 32 bits."""


def as_counts(sample_weight: Any, n_rows: int) -> NDArray[np.int64] | None:
    """Return how often each row counts; None if every row counts once.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), or None
        Whole numbers of 0 or more. One number is used for all rows.
    n_rows : int

    Raises
    ------
    InvalidWeightsError
        If they are not whole numbers of 0 or more, if there are not ``n_rows`` of them, or if all
        are zero.
    """
    if sample_weight is None:
        return None
    weights = _weight_values(sample_weight, n_rows)
    is_count = (weights >= 0) & (weights == np.rint(weights)) & np.isfinite(weights)
    if not is_count.all():
        row = int(np.argmin(is_count))
        raise InvalidWeightsError(
            f"sample_weight must be whole numbers of 0 or more, but the weight of row {row} is "
            f"{weights[row]}. A row of weight w counts as w equal rows, because an estimate "
            "depends on the number of samples. Multiply the weights by a factor that makes them "
            "counts and round them, or draw rows with these probabilities, for example with "
            "rng.choice(len(X), len(X), p=w / w.sum()), and pass no weights."
        )
    total = float(weights.sum())
    if total == 0:
        raise InvalidWeightsError(
            "All values of sample_weight are zero. Give at least two rows a weight."
        )
    if total > MAX_ROWS:
        raise InvalidWeightsError(
            f"sample_weight adds up to {total:.3g} rows, more than the maximum of {MAX_ROWS}. "
            "Divide the weights by a common factor and round them."
        )
    counts = weights.astype(np.int64)
    return None if (counts == 1).all() else counts


def repeated_rows(counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the index of each row as often as the row counts, in the order of the table."""
    return np.repeat(np.arange(len(counts)), counts)


def _weight_values(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    try:
        if nw.dependencies.is_into_series(sample_weight):
            sample_weight = nw.from_native(sample_weight, series_only=True).to_numpy()
        if isinstance(sample_weight, np.ma.MaskedArray):
            sample_weight = unmask(sample_weight)
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidWeightsError(
            f"sample_weight must be numbers, one for each row: {error}."
        ) from error
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.ndim != 1:
        raise InvalidWeightsError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array. Pass one "
            "weight for each row."
        )
    if len(weights) != n_rows:
        raise InvalidWeightsError(
            f"sample_weight has {len(weights)} values and X has {n_rows} rows. Pass one weight for "
            "each row."
        )
    return weights

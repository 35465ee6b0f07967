"""Sample weights: how often each row counts.

Scores are counted on rows that are repeated as often as they count. A test needs independent rows,
and a copy is none: see ``are_observations``.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hocmim.data.columns import unmask
from hocmim.data.target import as_target
from hocmim.errors import InvalidWeightsError
from hocmim.text import value_text

MAX_ROWS = 10**8
"""How many rows weights may make of a table: each row is repeated as often as it counts."""
# Possible rows for each row of a table from which on most rows should occur once; and the share of
# such rows from which on weights look like counts.
POSSIBLE_PER_ROW, MIN_SINGLE = 10, 0.25


def as_counts(sample_weight: Any, n_rows: int, y: Any = None) -> NDArray[np.int64] | None:
    """Return how often each row counts; None if every row counts once.

    If all weights are whole, a row of weight w counts as w equal rows. If there is a fraction, the
    weights are relative: see ``relative_counts``. "balanced" gives every class of y the same total.
    One number is used for all rows. InvalidWeightsError: they are not ``n_rows`` numbers of 0 or
    more, all are zero, or they add up to more than ``MAX_ROWS``.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, str):
        weights = _balanced(sample_weight, y, n_rows)
    else:
        weights = _weight_values(sample_weight, n_rows)
    is_weight = (weights >= 0) & np.isfinite(weights)
    if not is_weight.all():
        row = int(np.argmin(is_weight))
        raise InvalidWeightsError(
            f"sample_weight must be numbers of 0 or more, but the weight of row {row} is "
            f"{weights[row]}."
        )
    if (weights != np.rint(weights)).any():
        weights = relative_counts(weights).astype(np.float64)
    total = float(weights.sum())
    if total == 0:
        raise InvalidWeightsError(
            "All values of sample_weight are zero. Give at least two rows a weight."
        )
    if total > max(MAX_ROWS, n_rows):
        raise InvalidWeightsError(
            f"sample_weight adds up to {total:.3g} rows, more than the maximum of {MAX_ROWS:,}. "
            "Whole numbers are counts of rows. Divide relative weights by their mean."
        )
    counts = weights.astype(np.int64)
    return None if (counts == 1).all() else counts


def relative_counts(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how often each row counts, for weights that are not counts.

    The kernels count whole rows, and an estimate depends on their number. So the weights are
    scaled to a mean of 1 over the rows with a weight, which keeps the number of rows, and rounded
    up or down so that every group of rows of the same weight has its share to within one row.
    Within a group the rows that are left out or repeated are spread evenly over the table.
    """
    total = weights.sum()
    if not 1e-290 < total < 1e290:  # neither the sum nor its reciprocal may overflow
        weights = weights / weights.max()
        total = weights.sum()
    scaled = weights * (np.count_nonzero(weights) / total)
    order = np.argsort(scaled, kind="stable")
    ends = np.rint(np.cumsum(scaled[order])).astype(np.int64)
    counts = np.empty(len(weights), np.int64)
    counts[order] = np.diff(ends, prepend=0)
    return counts


def _balanced(name: str, y: Any, n_rows: int) -> NDArray[np.float64]:
    """Return N / (C n_c) for the rows of each class c, "balanced" in scikit-learn."""
    if name != "balanced":
        raise InvalidWeightsError(
            f"sample_weight must be numbers, one for each row, or 'balanced'. "
            f"Got {value_text(name)}."
        )
    target = as_target(y, n_rows)
    if target.dtype.kind == "f" and (target != np.rint(target)).any():
        raise InvalidWeightsError(
            "sample_weight='balanced' needs classes, and the target is a quantity."
        )
    _, codes, counts = np.unique(target, return_inverse=True, return_counts=True)
    return (n_rows / (len(counts) * counts))[codes]


def are_observations(
    sample_weight: Any, counts: NDArray[np.integer[Any]], classes: NDArray[Any]
) -> bool:
    """Return whether weights are counts: whether a row of weight w stands for w observations.

    Weights of an integer type are, except one weight for each class: that balances classes. Others,
    also whole numbers of a floating-point type, say how much a row counts. Then a test uses each
    row once. It asks whether X ⟂ Y | Z for the rows as they were observed. Weights that depend on Y
    alone, or on no column, do not change the answer.

    ``counts`` is what ``as_counts`` made of the weights; ``classes`` is the target, with each row
    as often as it counts.
    """
    if isinstance(sample_weight, str) or _as_array(sample_weight).dtype.kind not in "iu":
        return False
    of_sample = np.repeat(counts, counts)
    least = np.full(int(classes.max()) + 1, int(counts.max()))
    np.minimum.at(least, classes, of_sample)
    return bool((of_sample != least[classes]).any())


def look_relative(counts: NDArray[np.integer[Any]], n_levels: NDArray[np.integer[Any]]) -> bool:
    """Return whether weights that are used as counts do not look like counts.

    Of a table with far more possible rows than rows, most rows occur once. Integers of which few
    are 1 are rather survey weights, or the importance of a row. ``n_levels`` are those of each
    column and of the target.
    """
    positive = counts[counts > 0]
    is_sparse = np.log2(n_levels).sum() > np.log2(POSSIBLE_PER_ROW * len(positive))
    return bool(is_sparse and np.mean(positive == 1) < MIN_SINGLE)


def first_copies(counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return where each row comes first among the rows that are repeated."""
    ends = np.cumsum(counts, dtype=np.int64)
    return (ends - counts)[counts > 0]


def repeated_rows(counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the index of each row as often as the row counts, in the order of the table."""
    return np.repeat(np.arange(len(counts)), counts)


def _weight_values(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    try:
        weights = _as_array(sample_weight).astype(np.float64)
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


def _as_array(sample_weight: Any) -> NDArray[Any]:
    if nw.dependencies.is_into_series(sample_weight):
        sample_weight = nw.from_native(sample_weight, series_only=True).to_numpy()
    if isinstance(sample_weight, np.ma.MaskedArray):
        sample_weight = unmask(sample_weight)
    return np.asarray(sample_weight)

"""The Gini index of the best split."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hocmim.selectors.filters._base import Samples, WeightedFilter, column_blocks, level_counts


class GiniIndex(WeightedFilter):
    """G = min over thresholds t of (n_L/N) gini(x ≤ t) + (n_R/N) gini(x > t), gini = 1 − Σ_c p_c².

    Rewards a column with one threshold that separates the classes; **lower is better**, 0 is a
    perfect split. Each column is sorted once and every threshold between two distinct values is
    tried: O(D N (log N + C)).

    A constant column has no threshold; its score is the impurity of y, the worst possible.
    A categorical column is split into one level against all others, since its levels have no
    order.

    The parameters are those of every filter: see :class:`~hocmim.selectors.filters._base.Filter`.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        G of every column; lower is better.
    selected_, scores_, ranking_
        See :class:`~hocmim.selectors.base.Selector`.

    References
    ----------
    C. Gini, Variabilità e mutabilità, 1912; L. Breiman et al., Classification and Regression
    Trees, 1984.
    """

    method_name = "Gini"
    method_aliases = ("Gini index",)

    lower_is_better = True
    why_no_costs = "its scores are better if they are lower"

    def _score(self, samples: Samples) -> NDArray[np.float64]:
        return gini_index(samples.values, samples.y, samples.is_categorical)


def gini_index(
    X: NDArray[np.float64], y: NDArray[np.int32], is_categorical: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return the smallest impurity over the splits of every column, classes y = 0..C-1."""
    scores = np.empty(X.shape[1])
    for block in column_blocks(*X.shape):
        scores[block] = _best_threshold(np.ascontiguousarray(X[:, block].T), y)
    categorical = np.zeros(X.shape[1], bool) if is_categorical is None else is_categorical
    for j in np.flatnonzero(categorical):
        counts = level_counts(X[:, j], y)
        scores[j] = _impurity(counts[counts.sum(axis=1) > 0], np.bincount(y)).min()
    return scores


def _best_threshold(columns: NDArray[np.float64], y: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the smallest impurity of each row of ``columns`` (a row is a column of the table)."""
    order = np.argsort(columns, axis=1)
    values = np.take_along_axis(columns, order, axis=1)
    labels = y[order[:, :-1]]  # the last sample is never left of a threshold
    n_left = np.arange(1.0, len(y))
    left, right = np.zeros(labels.shape), np.zeros(labels.shape)
    for c, total in enumerate(np.bincount(y)):
        count = np.cumsum(labels == c, axis=1, dtype=np.float64)
        left += count**2
        right += (total - count) ** 2
    impurity = 1.0 - (left / n_left + right / (len(y) - n_left)) / len(y)
    impurity[values[:, 1:] == values[:, :-1]] = np.inf
    unsplit = 1.0 - np.sum((np.bincount(y) / len(y)) ** 2)
    return np.minimum(impurity.min(axis=1), unsplit)


def _impurity(left: NDArray[np.float64], totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the impurity of splits with ``left[s, c]`` samples of class c on the left."""
    right = totals - left
    n_left, n_right = left.sum(axis=1), right.sum(axis=1)
    pure = (left**2).sum(axis=1) / n_left
    pure += np.divide((right**2).sum(axis=1), n_right, out=np.zeros(len(left)), where=n_right > 0)
    return np.asarray(1.0 - pure / totals.sum())

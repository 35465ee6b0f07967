"""The Fisher score."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hocmim.selectors.filters._base import (
    BLOCK_CELLS,
    Samples,
    WeightedFilter,
    column_blocks,
    constant_columns,
    indicator,
    level_counts,
)

PERFECT = 1e-12
"""A column that leaves a smaller share of the variance of y unexplained explains y exactly."""


class FisherScore(WeightedFilter):
    """F = Σ_c n_c (μ_c − μ)² / Σ_c n_c σ_c².

    Rewards a column whose class means differ by more than the spread within classes. Cost O(ND).

    For a quantity y: the F statistic of the regression of y on the column,
    F = (R² / k) / ((1 − R²) / (N − k − 1)). k = 1 and R² is the squared correlation for a column of
    numbers; for a categorical column of L levels, k = L − 1 and R² is the share of the variance of
    y between levels (one-way analysis of variance). F is infinite if 1 − R² < 1e-12.

    A constant column scores 0, the worst. A column that is constant within every class but not
    overall separates the classes perfectly: its score is infinite and it ranks first. Several such
    columns are equally good, and the leftmost ranks first, as with all equal scores. A categorical
    column is treated as the vector of its level indicators: numerator and denominator are summed
    over them, so that the order of the levels does not matter.

    The parameters are those of every filter: see :class:`~hocmim.selectors.filters._base.Filter`.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        F of every column; higher is better.
    selected_, scores_, ranking_
        See :class:`~hocmim.selectors.base.Selector`.

    References
    ----------
    R. O. Duda, P. E. Hart, D. G. Stork, Pattern Classification, 2nd ed., Wiley 2001.
    """

    method_name = "Fisher"
    method_aliases = ("Fisher score",)
    ranks_quantities = True

    def _score(self, samples: Samples) -> NDArray[np.float64]:
        if samples.is_quantity:
            return regression_f(samples.values, samples.y, samples.is_categorical)
        return fisher_score(samples.values, samples.y, samples.is_categorical)


def fisher_score(
    X: NDArray[np.float64], y: NDArray[np.int32], is_categorical: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return the Fisher score of every column of X, classes y = 0..C-1."""
    members = indicator(y)
    scores = np.empty(X.shape[1])
    for block in column_blocks(*X.shape):
        between, within = _scatter(X[:, block], members, y)
        scores[block] = _ratio(between, within)
    categorical = np.zeros(X.shape[1], bool) if is_categorical is None else is_categorical
    for j in np.flatnonzero(categorical):
        if (X[:, j].max() + 1) * len(X) > BLOCK_CELLS:
            between, within = _scatter_of_counts(level_counts(X[:, j], y))
        else:
            between, within = _scatter(indicator(X[:, j].astype(np.int32)).T, members, y)
        scores[j] = _ratio(between.sum(), within.sum())
    return scores


def _scatter_of_counts(
    counts: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what ``_scatter`` does of the indicators of levels, without these: one a level."""
    sizes, of_level = counts.sum(axis=0), counts.sum(axis=1)
    shares = counts / sizes
    between = (sizes * (shares - (of_level / sizes.sum())[:, None]) ** 2).sum(axis=1)
    return between, (counts * (1 - shares)).sum(axis=1)


def _scatter(
    X: NDArray[np.float64], members: NDArray[np.float64], y: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sums of squares between and within classes; columns are centred before squaring."""
    sizes = members.sum(axis=1)[:, None]
    centred = X - X.mean(axis=0)
    means = members @ centred / sizes
    overall = centred.mean(axis=0)  # not exactly 0, by rounding
    between = (sizes * (means - overall) ** 2).sum(axis=0)
    within = ((centred - means[y]) ** 2).sum(axis=0)
    # Rounding turns an exact zero into about 1e-32, and 0/0 into any number: set both exactly.
    first = X[members.argmax(axis=1)]
    within[(first[y] == X).all(axis=0)] = 0.0
    between[constant_columns(X)] = 0.0
    return between, within


def _ratio(between: ArrayLike, within: ArrayLike) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(between, within)
    return np.where(np.asarray(between) == 0.0, 0.0, ratio)


def regression_f(
    X: NDArray[np.float64], y: NDArray[np.float64], is_categorical: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return the F statistic of the regression of y on every column of X; 0 for a constant."""
    n_samples, n_columns = X.shape
    share, n_free = np.empty(n_columns), np.ones(n_columns)
    target = y - y.mean()
    total = (target**2).sum()
    for block in column_blocks(n_samples, n_columns):
        centred = X[:, block] - X[:, block].mean(axis=0)
        spread = (centred**2).sum(axis=0)
        spread[constant_columns(X[:, block])] = np.inf  # so that the share is 0
        share[block] = (target @ centred) ** 2 / (spread * total)
    categorical = np.zeros(n_columns, bool) if is_categorical is None else is_categorical
    for j in np.flatnonzero(categorical):
        levels = X[:, j].astype(np.int64)
        sizes = np.bincount(levels)
        sums = np.bincount(levels, target)
        share[j] = (sums[sizes > 0] ** 2 / sizes[sizes > 0]).sum() / total
        n_free[j] = np.count_nonzero(sizes) - 1
    return _f_statistic(share, n_free, n_samples)


def _f_statistic(
    share: NDArray[np.float64], n_free: NDArray[np.float64], n_samples: int
) -> NDArray[np.float64]:
    """Return F from R² and the number of free coefficients."""
    rest = np.where(1 - share < PERFECT, 0.0, 1 - share)
    n_rest = np.maximum(n_samples - n_free - 1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = share / n_free / (rest / n_rest)
    statistic = np.where(n_rest == 0, 0.0, statistic)  # a level for each row fits anything
    return np.where((n_free == 0) | (share == 0), 0.0, statistic)

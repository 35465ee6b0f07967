"""ReliefF."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hocmim import _native
from hocmim.parameters import Number, check_value
from hocmim.selectors.filters._base import Samples, ScoringFilter, thread_pool
from hocmim.threads import ThreadPool

BLOCK_ROWS = 64
"""Rows of a block: fixed, so that sums do not depend on the number of threads."""


class ReliefF(ScoringFilter):
    """W_r = mean over samples of Σ_{c≠y} P(c)/(1−P(y)) d̄_r(misses of c) − d̄_r(hits).

    d̄_r is the mean difference in column r between a sample and its k nearest neighbours of its
    own class (hits) or of another class (misses of c); a difference is |x − x'| over the range of
    the column. Neighbours are nearest by the sum of the differences over all columns, and every
    sample is used. Rewards a column that separates near neighbours of different classes, also if
    it does so only together with others (XOR). Cost O(N² D). Besides the table, only the neighbours
    of a block of rows are in memory.

    Of a class with fewer than k (other) samples, all are used; a sample alone in its class has no
    hits. Distances are compared as means over the columns rounded to 12 decimals; among equally
    near samples the lowest row index is used. A constant column scores 0. A categorical
    column differs by 0 or 1. W lies in [−1, 1]; a column worse than noise is negative.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        How many columns to select; see :class:`~hocmim.selectors.base.RankingSelector`.
    n_neighbors : int, default=10
        k, the number of hits, and of misses a class.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn: None is one, -1 all processors. Never changes the result.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        W of every column; higher is better.
    selected_, scores_, ranking_
        See :class:`~hocmim.selectors.base.RankingSelector`.

    References
    ----------
    I. Kononenko, Estimating attributes: analysis and extensions of RELIEF, ECML 1994;
    M. Robnik-Šikonja, I. Kononenko, Theoretical and empirical analysis of ReliefF and RReliefF,
    Machine Learning 2003.
    """

    method_name = "ReliefF"

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        *,
        n_neighbors: int = 10,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def _score(self, samples: Samples) -> NDArray[np.float64]:
        k = self.n_neighbors
        check_value("n_neighbors", k, Number(1, is_whole=True))
        with thread_pool(self.n_jobs) as pool:
            return relieff(samples.values, samples.y, int(k), samples.is_categorical, pool)


def relieff(
    X: NDArray[np.float64],
    y: NDArray[np.int32],
    n_neighbors: int,
    is_categorical: ArrayLike | None = None,
    pool: ThreadPool | None = None,
) -> NDArray[np.float64]:
    """Return the ReliefF weight of every column of X, classes y = 0..C-1."""
    categorical = np.zeros(X.shape[1], bool) if is_categorical is None else is_categorical
    numeric, nominal = np.flatnonzero(~np.asarray(categorical)), np.flatnonzero(categorical)
    values, order = _scaled_by_range(X[:, numeric])
    codes = np.ascontiguousarray(X[:, nominal], np.int32)
    prior = np.bincount(y) / len(y)

    def contribution(start: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        sums = np.zeros(len(numeric)), np.zeros(len(nominal))
        stop = min(start + BLOCK_ROWS, len(y))
        _native.relieff_block(values, codes, y, prior, n_neighbors, start, stop, *sums)
        return sums

    weights = np.zeros(X.shape[1])
    for of_values, of_codes in (pool.map if pool else map)(
        contribution, range(0, len(y), BLOCK_ROWS)
    ):
        weights[numeric[order]] += of_values
        weights[nominal] += of_codes
    return weights / len(y)


def _scaled_by_range(
    X: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return columns divided by their range, the largest variance first.

    In this order the kernel can stop early on a distant row.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    scaled = (X - low) / span
    order = np.argsort(-scaled.var(axis=0), kind="stable")
    return np.ascontiguousarray(scaled[:, order]), order

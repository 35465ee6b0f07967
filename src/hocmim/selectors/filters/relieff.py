"""ReliefF, and RReliefF for a quantity."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import spatial

from hocmim import _native
from hocmim.coding.target import Target
from hocmim.parameters import JOBS, whole
from hocmim.search.constraints import Budget
from hocmim.selectors.filters._base import Filter, Samples, ScoringFilter, thread_pool
from hocmim.threads import ThreadPool

BLOCK_PAIRS = 1024
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
    hits. Distances are compared as means over the columns rounded to 12 decimals; samples as far
    as the k-th share its place, so the order of the rows does not matter. A constant column scores
    0. A categorical column differs by 0 or 1. W lies in [−1, 1]; a column worse than noise is
    negative.

    For a quantity y: RReliefF, W_r = p(d_r|d_y) − p(d_r|not d_y) =
    Σ d_y d_r / Σ d_y − Σ (1 − d_y) d_r / Σ (1 − d_y), sums over every sample and its k nearest
    neighbours, all with the same weight; d_y is |y − y'| over the range of y.

    Parameters
    ----------
    n_features_to_select, target, identifiers, keep, exclude, costs
        See :class:`~hocmim.selectors.filters._base.Filter`.
    n_neighbors : int, default=10
        k, the number of hits, and of misses of each class.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn: None is one, -1 all processors. Never changes the result.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        W of every column; higher is better.
    selected_, scores_, ranking_
        See :class:`~hocmim.selectors.base.Selector`.

    References
    ----------
    I. Kononenko, Estimating attributes: analysis and extensions of RELIEF, ECML 1994;
    M. Robnik-Šikonja, I. Kononenko, Theoretical and empirical analysis of ReliefF and RReliefF,
    Machine Learning 2003.
    """

    method_name = "ReliefF"
    ranks_quantities = True

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [whole(1)],
        "n_jobs": JOBS,
    }

    def __init__(
        self,
        n_features_to_select: int | float | Budget | None = 10,
        *,
        n_neighbors: int = 10,
        n_jobs: int | None = None,
        target: Target | str | None = None,
        identifiers: str = "drop",
        keep: Any = None,
        exclude: Any = None,
        costs: Any = None,
    ) -> None:
        self._init_as(Filter, locals())
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def _score(self, samples: Samples) -> NDArray[np.float64]:
        k = self.n_neighbors
        rank = rrelieff if samples.is_quantity else relieff
        with thread_pool(self.n_jobs) as pool:
            return rank(samples.values, samples.y, int(k), samples.is_categorical, pool)


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


def rrelieff(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    n_neighbors: int,
    is_categorical: ArrayLike | None = None,
    pool: ThreadPool | None = None,
) -> NDArray[np.float64]:
    """Return the RReliefF weight of every column of X, for a quantity y."""
    n_samples, n_columns = X.shape
    categorical = np.zeros(n_columns, bool) if is_categorical is None else is_categorical
    columns = _Differences(X, np.asarray(categorical, bool))
    target = (y - y.min()) / (y.max() - y.min())
    k = min(n_neighbors, n_samples - 1)

    def contribution(start: int) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        rows = np.arange(start, min(start + BLOCK_ROWS, n_samples))
        weights = neighbour_weights(columns.distances(rows), rows, k)
        of_block, near = np.nonzero(weights)
        here, weight = rows[of_block], weights[of_block, near]
        d_y = weight * np.abs(target[here] - target[near])
        both, alone = np.zeros(n_columns), np.zeros(n_columns)
        for first in range(0, len(near), BLOCK_PAIRS):  # some pairs at a time, to save memory
            pairs = slice(first, first + BLOCK_PAIRS)
            d = columns.between(here[pairs], near[pairs])
            both += d_y[pairs] @ d
            alone += weight[pairs] @ d
        return float(d_y.sum()), both, alone

    sum_y, both, alone = 0.0, np.zeros(n_columns), np.zeros(n_columns)
    for part in (pool.map if pool else map)(contribution, range(0, n_samples, BLOCK_ROWS)):
        sum_y, both, alone = sum_y + part[0], both + part[1], alone + part[2]
    sum_rest = n_samples * k - sum_y
    with_y = both / sum_y if sum_y > 0 else np.zeros(n_columns)
    return with_y - (alone - both) / sum_rest if sum_rest > 0 else with_y


class _Differences:
    """Differences of rows in every column: |x − x'| over the range, or 0 and 1 for categories."""

    def __init__(self, X: NDArray[np.float64], is_categorical: NDArray[np.bool_]) -> None:
        low, high = X.min(axis=0), X.max(axis=0)
        self._scaled = (X - low) / np.where(high > low, high - low, 1.0)
        self._is_categorical = is_categorical

    def between(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the differences of pairs of rows, shape (n_pairs, D)."""
        found = np.abs(self._scaled[rows] - self._scaled[others])
        found[:, self._is_categorical] = found[:, self._is_categorical] > 0
        return found

    def distances(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the mean difference of some rows to every row, rounded to 12 decimals."""
        numeric = self._scaled[:, ~self._is_categorical]
        nominal = self._scaled[:, self._is_categorical]
        total = np.zeros((len(rows), len(self._scaled)))
        if numeric.shape[1]:
            total += spatial.distance.cdist(numeric[rows], numeric, "cityblock")
        if nominal.shape[1]:
            total += spatial.distance.cdist(nominal[rows], nominal, "hamming") * nominal.shape[1]
        return np.round(total / len(self._is_categorical), 12)


def neighbour_weights(
    distances: NDArray[np.float64], rows: NDArray[np.intp], k: int
) -> NDArray[np.float64]:
    """Return 1 for the k nearest other rows of each row; those as far as the k-th share its place.

    Every other row has weight 0; the weights of a row sum to k.
    """
    found = distances.copy()
    found[np.arange(len(rows)), rows] = np.inf
    largest = np.partition(found, k - 1, axis=1)[:, k - 1 : k]
    is_nearer, is_equal = found < largest, found == largest
    n_more = k - is_nearer.sum(axis=1, keepdims=True)
    shared: NDArray[np.float64] = n_more / is_equal.sum(axis=1, keepdims=True)
    return np.where(is_equal, shared, is_nearer)


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

"""Neighbourhood component analysis for feature selection (NCA)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from hocmim import _native
from hocmim.coding.target import Target
from hocmim.parameters import JOBS, SEED, number, whole
from hocmim.search.constraints import Budget
from hocmim.selectors.filters._base import (
    Filter,
    Samples,
    ScoringFilter,
    constant_columns,
    thread_pool,
)
from hocmim.threads import ThreadPool

BLOCK_ROWS = 64
"""Rows of a block: fixed, so that sums do not depend on the number of threads."""

SPARSE_SHARE = 0.3
"""A column is sparse if at most this share of its rows differs from the most frequent value."""

NEGLIGIBLE_WEIGHT = 1e-22
"""Columns of smaller w² cannot change a distance in double precision, and are skipped."""


class NCA(ScoringFilter):
    """Maximise (1/N) Σ_i p_i − λ Σ_r w_r²; the score of column r is w_r².

    p_i = Σ_j p_ij [y_i = y_j] is the chance that sample i's random neighbour is of its own class,
    p_ij ∝ exp(−Σ_r w_r² |x_ir − x_jr| / σ), p_ii = 0. Rewards the columns whose weighted
    distance suits a nearest-neighbour classifier; all columns are weighted together. This is the
    diagonal, regularised form of MATLAB's ``fscnca``, not scikit-learn's
    ``NeighborhoodComponentsAnalysis``, which learns a projection.

    Columns are standardised first, and L-BFGS with the exact gradient starts from w = 1. The
    objective is not concave: the result is a local maximum. Cost O(N² D) an evaluation, memory
    O(N D); a column with one value in most rows, such as a word count, costs only the square of
    the number of its other rows.

    A constant column is excluded and scores 0, the worst. A categorical column is treated as
    numbers, the index of each level among the sorted levels.

    Parameters
    ----------
    n_features_to_select, target, identifiers, keep, exclude, costs
        See :class:`~hocmim.selectors.filters._base.Filter`.
    regularization : float or None, default=None
        λ, the weight of the penalty; None is 1/N, N the number of samples used.
    length_scale : float, default=1.0
        σ, the scale of the distances.
    max_samples : int, float or None, default=3000
        Use at most this many samples, or this fraction of them, drawn at random and stratified by
        class; None uses all. The cost of an evaluation grows with the square of this number.
    max_iter : int, default=1000
        Maximum number of L-BFGS iterations.
    tol : float, default=1e-6
        L-BFGS stops when no component of the gradient is larger, or when an iteration improves
        the objective by less than a hundredth of this.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn: None is one, -1 all processors. Never changes the result.
    random_state : int, RandomState or None, default=0
        Seed for drawing ``max_samples`` samples; not used if there are fewer.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        w² of every column; higher is better.
    objective_ : float
        The value of the objective.
    n_iter_ : int
        Number of L-BFGS iterations.
    converged_ : bool
        False if ``max_iter`` ended the search.
    n_samples_used_ : int
    selected_, scores_, ranking_
        See :class:`~hocmim.selectors.base.Selector`.

    References
    ----------
    W. Yang, K. Wang, W. Zuo, Neighborhood component feature selection for high-dimensional data,
    Journal of Computers 2012.
    """

    method_name = "NCA"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "regularization": [number(0), None],
        "length_scale": [number(0, closed="neither")],
        "max_samples": [whole(2), number(0, 1, "neither"), None],
        "max_iter": [whole(1)],
        "tol": [number(0)],
        "n_jobs": JOBS,
        "random_state": SEED,
    }

    def __init__(
        self,
        n_features_to_select: int | float | Budget | None = 10,
        *,
        regularization: float | None = None,
        length_scale: float = 1.0,
        max_samples: int | float | None = 3000,
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = 0,
        target: Target | str | None = None,
        identifiers: str = "drop",
        keep: Any = None,
        exclude: Any = None,
        costs: Any = None,
    ) -> None:
        self._init_as(Filter, locals())
        self.regularization = regularization
        self.length_scale = length_scale
        self.max_samples = max_samples
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _score(self, samples: Samples) -> NDArray[np.float64]:
        rows = self._draw_rows(samples.y)
        X, y = samples.values[rows], np.ascontiguousarray(samples.y[rows])
        varies = ~constant_columns(X)
        columns = split_columns(standardised(X[:, varies]))
        scale = float(self.length_scale)
        penalty = 1.0 / len(y) if self.regularization is None else float(self.regularization)
        with thread_pool(self.n_jobs) as pool:

            def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
                value, gradient = nca_objective(w, columns, y, penalty, scale, pool)
                return -value, -gradient

            found = self._minimize(loss, np.ones(int(varies.sum())))
        self.objective_, self.n_iter_ = -float(found.fun), int(found.nit)
        self.converged_ = bool(found.status != 1)
        self.n_samples_used_ = len(y)
        scores = np.zeros(len(varies))
        scores[varies] = found.x**2
        return scores

    def _minimize(self, loss: Callable[..., Any], start: NDArray[np.float64]) -> Any:
        """Minimise as SciPy does, also without weights, which SciPy 1.13 refuses."""
        from scipy.optimize import OptimizeResult, minimize  # takes long to import

        if start.size == 0:
            return OptimizeResult(x=start, fun=loss(start)[0], nit=0, status=0)
        options = {
            "maxiter": self.max_iter,
            "maxfun": 20 * self.max_iter,
            "gtol": self.tol,
            "ftol": 1e-2 * self.tol,
            "maxcor": 15,
        }
        return minimize(loss, start, jac=True, method="L-BFGS-B", options=options)

    def _draw_rows(self, y: NDArray[np.int32]) -> NDArray[np.intp] | slice:
        """Return which samples to use."""
        most = self.max_samples
        if isinstance(most, float):
            most = max(2, int(most * len(y)))
        if most is None or most >= len(y):
            return slice(None)
        return stratified_rows(y, int(most), self.random_state)


class SplitColumns(NamedTuple):
    """Standardised columns, dense and sparse ones separately: see :func:`split_columns`."""

    dense: NDArray[np.float64]  # shape (N, number of dense columns)
    dense_index: NDArray[np.intp]  # The indices of the dense and of the sparse columns
    sparse_index: NDArray[np.intp]
    by_row: sparse.csr_array  # The sparse columns minus their most frequent value
    by_column: sparse.csc_array


def split_columns(X: NDArray[np.float64]) -> SplitColumns:
    """Separate the columns with one value in most rows, whose differences are cheap to compute.

    Subtracting the most frequent value does not change differences; afterwards only pairs of rows
    that are both not 0 need work. A value of so many rows is the median of the column.
    """
    middle = np.partition(X, len(X) // 2, axis=0)[len(X) // 2]
    is_sparse = np.count_nonzero(middle != X, axis=0) <= SPARSE_SHARE * len(X)
    off_middle = X[:, is_sparse] - middle[is_sparse]
    return SplitColumns(
        np.ascontiguousarray(X[:, ~is_sparse]),
        np.flatnonzero(~is_sparse),
        np.flatnonzero(is_sparse),
        sparse.csr_array(off_middle),
        sparse.csc_array(off_middle),
    )


def nca_objective(
    weights: NDArray[np.float64],
    columns: SplitColumns,
    y: NDArray[np.int32],
    regularization: float,
    length_scale: float = 1.0,
    pool: ThreadPool | None = None,
) -> tuple[float, NDArray[np.float64]]:
    """(1/N) Σ_i p_i − λ Σ_r w_r² and its gradient.

    ∂/∂w_r = 2 w_r [ (1/Nσ) Σ_ij c_ij |x_ir − x_jr| − λ ],  c_ij = p_ij (p_i − [y_i = y_j]).
    """
    squares = weights**2
    # The largest weights first, so that the kernel can stop early on a distant sample.
    order = np.argsort(-squares[columns.dense_index], kind="stable")
    order = order[squares[columns.dense_index[order]] > NEGLIGIBLE_WEIGHT]
    dense = columns.dense_index[order]
    scaled = np.ascontiguousarray(columns.dense[:, order] * (squares[dense] / length_scale))
    sparse_weights = squares[columns.sparse_index] / length_scale
    norm = abs(columns.by_row) @ sparse_weights
    rows, cols = _entries(columns.by_row), _entries(columns.by_column)

    def share(start: int) -> tuple[float, tuple[NDArray[np.float64], ...]]:
        sums = np.zeros(len(dense)), np.zeros(len(sparse_weights)), np.zeros(len(y))
        stop = min(start + BLOCK_ROWS, len(y))
        p_same = _native.nca_block(
            scaled, *rows, *cols, sparse_weights, norm, y, start, stop, *sums
        )
        return p_same, sums

    p_same = 0.0
    moved, overlaps, by_row = (np.zeros(n) for n in (len(dense), len(sparse_weights), len(y)))
    for p_of_block, sums in (pool.map if pool else map)(share, range(0, len(y), BLOCK_ROWS)):
        p_same += p_of_block
        moved += sums[0]
        overlaps += sums[1]
        by_row += sums[2]
    slope = np.zeros(len(weights))
    slope[dense] = moved / squares[dense]  # moved has the factor w²/σ; slope has 1/σ
    slope[columns.sparse_index] = (abs(columns.by_column).T @ by_row - overlaps) / length_scale
    gradient = 2.0 * weights * (slope / len(y) - regularization)
    return p_same / len(y) - regularization * float(squares.sum()), gradient


def _entries(
    table: sparse.csr_array | sparse.csc_array,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return a compressed table as the arrays the kernel needs."""
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data


def standardised(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns of mean 0 and variance 1; none may be constant."""
    centred = X - X.mean(axis=0)
    return np.asarray(centred / centred.std(axis=0))


def stratified_rows(y: NDArray[np.int32], n_rows: int, random_state: Any) -> NDArray[np.intp]:
    """Draw ``n_rows`` samples, stratified by class, in ascending order."""
    rng = check_random_state(random_state)
    counts = np.bincount(y)
    exact = counts * (n_rows / len(y))
    take = np.floor(exact).astype(int)
    # The remaining samples go to the largest remainders.
    take[np.argsort(take - exact, kind="stable")[: n_rows - take.sum()]] += 1
    rows = [rng.permutation(np.flatnonzero(y == c))[:n] for c, n in enumerate(take)]
    return np.sort(np.concatenate(rows))

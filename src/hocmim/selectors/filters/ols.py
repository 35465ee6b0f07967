"""Feature selection by orthogonal least squares (FS-OLS)."""

from __future__ import annotations

import hashlib
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from threadpoolctl import threadpool_limits

from hocmim.coding.target import Target
from hocmim.errors import InvalidParameterError, not_installed
from hocmim.information.comparison import comparison_key
from hocmim.memory import affordable_threads
from hocmim.parameters import JOBS
from hocmim.search.constraints import Budget, Constraints
from hocmim.selectors.filters._base import (
    Filter,
    Samples,
    best_first,
    comparable,
    constant_columns,
    indicator,
)
from hocmim.threads import call_apart, resolve_n_jobs

DEPENDENT = 1e-6
"""A column whose length after orthogonalisation is smaller depends linearly on the others."""


class FSOLS(Filter):
    """J(X_k) = Σ_v cos²(q_k, v): q_k is X_k made orthogonal to the columns selected so far.

    v runs over an orthonormal basis of the centred class indicators; for a quantity it is the
    centred y. J is the sum of squared canonical correlations (for two classes and for a quantity,
    the squared multiple correlation) that X_k adds to the selected columns; the column with the
    largest J is selected, one after the other. Rewards columns that add to a linear
    model. Cost O(N D K C). The search is done by ``fastcan``, by the author of the method:
    ``pip install fastcan``.

    When no other column adds anything (after N − 1 columns at the latest), the remaining columns
    score 0 and follow in the order of the table, so that ``selected_`` always has K columns;
    ``n_useful_`` is the number of columns that add something. Constant columns score 0 and come
    last. Of columns that are equal or opposite, only the first can add something. A categorical
    column is treated as numbers, the index of each level among the sorted levels.

    Parameters
    ----------
    n_features_to_select, target, identifiers, keep, exclude, costs
        See :class:`~hocmim.selectors.filters._base.Filter`.
    n_jobs : int or None, default=None
        Threads of fastcan, as in scikit-learn: None is one, -1 all processors. Several
        threads can be much slower on a busy machine, because they synchronise at every step.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        J of every column: for a selected one when it was selected, for any other one after the
        last step. Higher is better.
    n_useful_ : int
        How many of the selected columns add something.
    ranking_ : ndarray of int64, shape (n_features_in_,)
        Selected columns in the order of selection, then the others by J.
    selected_, scores_
        See :class:`~hocmim.selectors.base.Selector`.

    References
    ----------
    S. Zhang, Z. Q. Lang, Orthogonal least squares based fast feature selection for linear
    classification, Pattern Recognition 2022.
    """

    method_name = "FS-OLS"
    method_aliases = ("OLS",)
    needed_packages = ("fastcan",)
    ranks_quantities = True
    why_no_costs = "fastcan searches without costs"

    _parameter_constraints: ClassVar[dict[str, Any]] = {"n_jobs": JOBS}

    def __init__(
        self,
        n_features_to_select: int | float | Budget | None = 10,
        *,
        n_jobs: int | None = None,
        target: Target | str | None = None,
        identifiers: str = "drop",
        keep: Any = None,
        exclude: Any = None,
        costs: Any = None,
    ) -> None:
        self._init_as(Filter, locals())
        self.n_jobs = n_jobs

    def extend(self, k: int, X: Any = None, y: Any = None) -> Self:
        """Select more columns, up to k in all.

        Parameters
        ----------
        k : int
            How many columns to select in all.
        X, y
            What the selector was fitted on. They are needed: the search is done again.
        """
        constraints, k = self._extended(k)
        if X is None:
            raise InvalidParameterError(
                "FS-OLS does not keep the table: pass it and the target, as in extend(k, X, y)."
            )
        samples, _ = self._read(X, y, identifiers=self.identifiers_, warns=False)
        return self._search(samples, constraints, k)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Self:
        samples, constraints = self._read(X, y, **options)
        n_selected = constraints.count(self.n_features_to_select)
        return self._search(samples, constraints, n_selected, options.get("warns", True))

    def _search(
        self, samples: Samples, constraints: Constraints, n_selected: int, warns: bool = False
    ) -> Self:
        is_open = ~constant_columns(samples.values)
        is_open[list(constraints.closed)] = False
        varies = np.flatnonzero(is_open)
        columns = unit_columns(samples.values[:, varies])
        targets = samples.y[:, None] if samples.is_quantity else indicator(samples.y).T
        keep = np.flatnonzero(np.isin(varies, constraints.keep))
        # OpenMP ends the process if it cannot start a thread.
        n_threads = affordable_threads(resolve_n_jobs(self.n_jobs, outside=1))
        with threadpool_limits(n_threads):
            found, gains = forward_ols_given(columns, targets, n_selected, keep, n_threads)
        chosen = varies[found]
        scores = np.zeros(len(is_open))
        scores[varies] = remaining_gain(columns, targets, found)
        others, closed = np.setdiff1d(varies, chosen), np.flatnonzero(~is_open)
        order = np.concatenate([chosen, others[best_first(scores[others])], closed])
        scores[chosen] = gains
        self.n_useful_ = len(chosen)
        return self._set_ranking(order, scores, constraints, n_selected, samples if warns else None)


def unit_columns(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns of mean 0 and length 1; none may be constant."""
    centred = X - X.mean(axis=0)
    return np.asarray(centred / np.linalg.norm(centred, axis=0))


def forward_ols(
    X: NDArray[np.float64], targets: NDArray[np.float64], n_selected: int, n_threads: int = 1
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Select at most ``n_selected`` columns and return their gains; fewer if no others add.

    ``targets`` has the class indicators, or a quantity, as columns.
    fastcan may treat the rounding error of a dependent column as a new direction. A QR
    factorisation finds such columns afterwards, and the search is repeated without them.
    """
    n_selected = min(n_selected, len(targets) - 1)  # centred columns span no more directions
    candidates = first_of_equals(X)
    while True:
        n_wanted = min(n_selected, len(candidates))
        found, gains = _longest_selection(X[:, candidates], targets, n_wanted, n_threads)
        found = candidates[found]
        own = np.abs(np.diagonal(np.linalg.qr(X[:, found], mode="r")))
        useful = (own > DEPENDENT) & (comparable(gains) > 0)
        if useful.all():
            return found, gains
        n_useful = int(useful.argmin())
        chosen = found[:n_useful]
        is_candidate = remaining_gain(X, targets, chosen) > 0.0
        is_candidate[found[n_useful]] = False
        if not is_candidate.any():
            return chosen, gains[:n_useful]
        is_candidate[chosen] = True
        candidates = np.flatnonzero(is_candidate)


def first_of_equals(X: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the first of each set of columns that are equal or opposite.

    Their gains are equal, and fastcan would choose one of them by its rounding errors. The others
    add nothing to the first.
    """
    rounded = comparison_key(X)
    leading = rounded[(rounded != 0.0).argmax(axis=0), np.arange(X.shape[1])]
    rounded *= np.sign(leading)
    rounded += 0.0  # -0.0 becomes 0.0
    first: dict[bytes, int] = {}
    for j in range(X.shape[1]):
        first.setdefault(hashlib.blake2b(rounded[:, j].tobytes(), digest_size=16).digest(), j)
    return np.fromiter(first.values(), np.intp, len(first))


def forward_ols_given(
    X: NDArray[np.float64],
    targets: NDArray[np.float64],
    n_selected: int,
    keep: NDArray[np.intp],
    n_threads: int = 1,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Select the columns to keep first, as far as they add anything, then the others given them.

    The others are made orthogonal to those that are kept, which is the next step of the search.
    """
    if not len(keep):
        return forward_ols(X, targets, n_selected, n_threads)
    found, first_gains = forward_ols(X[:, keep], targets, len(keep), n_threads)
    kept = keep[found]
    basis, _ = np.linalg.qr(X[:, kept])
    rest = X - basis @ (basis.T @ X)
    rest -= basis @ (basis.T @ rest)  # twice, because of rounding errors
    length = np.linalg.norm(rest, axis=0)
    is_open = length > DEPENDENT
    is_open[keep] = False
    others = np.flatnonzero(is_open)
    n_more = min(n_selected - len(keep), len(targets) - 1 - len(kept), len(others))
    if n_more <= 0:
        return kept, first_gains
    found, gains = forward_ols(rest[:, others] / length[others], targets, n_more, n_threads)
    return np.concatenate([kept, others[found]]), np.concatenate([first_gains, gains])


def _longest_selection(
    X: NDArray[np.float64], targets: NDArray[np.float64], n_wanted: int, n_threads: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the selection of fastcan: ``n_wanted`` columns, or fewer if it finds fewer."""
    try:
        from fastcan import FastCan
    except ImportError as error:
        raise not_installed("FS-OLS needs", "fastcan") from error
    found = None
    low, high = 0, n_wanted  # low can be selected, more than high cannot
    attempt = high
    while low < high:
        # A shorter selection is a prefix of a longer one, so that bisection finds the longest.
        try:
            found = call_apart(_fit, FastCan, attempt, X, targets, n_threads)
            low = attempt
        except RuntimeError:  # fastcan raises it if no column adds anything
            high = attempt - 1
        attempt = (low + high + 1) // 2
    if found is None:
        return np.zeros(0, np.intp), np.zeros(0)
    return np.asarray(found.indices_, np.intp), np.asarray(found.scores_, np.float64)


def _fit(
    kind: Any, k: int, X: NDArray[np.float64], targets: NDArray[np.float64], n_threads: int
) -> Any:
    """Fit fastcan. A limit of OpenMP holds in the thread that sets it."""
    with threadpool_limits(n_threads):
        return kind(k, tol=DEPENDENT, verbose=0).fit(X, targets)


def remaining_gain(
    X: NDArray[np.float64], targets: NDArray[np.float64], chosen: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the gain of each column over the chosen ones; 0 if it depends linearly on them."""
    basis_of_y = linalg.orth(targets - targets.mean(axis=0))
    basis, _ = np.linalg.qr(X[:, chosen])
    residual = X - basis @ (basis.T @ X)
    residual -= basis @ (basis.T @ residual)  # twice, because of rounding errors
    length = np.linalg.norm(residual, axis=0)
    gain = ((basis_of_y.T @ residual) ** 2).sum(axis=0)
    share = np.divide(gain, length**2, out=np.zeros(len(gain)), where=length > DEPENDENT)
    return np.where(comparable(share) > 0, share, 0.0)

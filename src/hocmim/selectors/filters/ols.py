"""Feature selection by orthogonal least squares (FS-OLS)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from threadpoolctl import threadpool_limits

from hocmim.errors import InvalidParameterError
from hocmim.search.constraints import Constraints
from hocmim.selectors.filters._base import (
    Filter,
    Samples,
    best_first,
    comparable,
    constant_columns,
    indicator,
)

DEPENDENT = 1e-6
"""A column whose length after orthogonalisation is smaller depends linearly on the others."""

TIE = 1e-12
"""Gains that differ by less are equal."""


class FSOLS(Filter):
    """J(X_k) = Σ_v cos²(q_k, v): q_k is X_k made orthogonal to the columns selected so far.

    v runs over an orthonormal basis of the centred class indicators; for a quantity it is the
    centred y. J is the sum of squared canonical correlations (for two classes and for a quantity,
    the squared multiple correlation) that X_k adds to the selected columns; the column with the
    largest J is selected, one after the other. Rewards columns that add to a linear
    model. Cost O(D K (N + C)).

    When no other column adds anything (after N − 1 columns at the latest), the remaining columns
    score 0 and follow in the order of the table, so that ``selected_`` always has K columns;
    ``n_useful_`` is the number of columns that add something. Constant columns score 0 and come
    last. Of columns that add the same, to 12 decimals, the first is selected. A categorical
    column is treated as numbers, the index of each level among the sorted levels.

    Parameters
    ----------
    n_features_to_select, target, identifiers, keep, exclude, costs
        See :class:`~hocmim.selectors.filters._base.Filter`.

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
    ranks_quantities = True
    why_no_costs = "its columns are selected one after the other, without costs"

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
        is_kept = np.isin(varies, constraints.keep)
        with threadpool_limits(1):  # sums of several threads have other rounding errors
            found, gains, rest = forward_ols(columns, targets, n_selected, is_kept)
        chosen = varies[found]
        scores = np.zeros(samples.values.shape[1])
        scores[varies] = rest
        others, constant = np.setdiff1d(varies, chosen), np.flatnonzero(~is_open)
        order = np.concatenate([chosen, others[best_first(scores[others])], constant])
        scores[chosen] = gains
        self.n_useful_ = len(chosen)
        return self._set_ranking(order, scores, constraints, n_selected, samples if warns else None)


def unit_columns(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns of mean 0 and length 1; none may be constant."""
    centred = X - X.mean(axis=0)
    return np.asarray(centred / np.linalg.norm(centred, axis=0))


def forward_ols(
    X: NDArray[np.float64],
    targets: NDArray[np.float64],
    n_selected: int,
    is_kept: NDArray[np.bool_],
) -> tuple[list[int], list[float], NDArray[np.float64]]:
    """Select columns one after the other: those to keep first, as far as they add anything.

    Returns the columns, fewer than ``n_selected`` if no others add, their gains, and the gain of
    each column after the last step. ``targets`` has the class indicators, or a quantity, as
    columns.
    """
    basis_of_y = linalg.orth(targets - targets.mean(axis=0))
    # Of each column, made orthogonal to the selected ones: its products with the target, and its
    # squared length.
    products, length = basis_of_y.T @ X, np.ones(X.shape[1])
    basis = np.empty((len(X), 0))
    chosen: list[int] = []
    gains: list[float] = []

    def gains_of_all() -> NDArray[np.float64]:
        squares = (products**2).sum(axis=0)
        share = np.divide(squares, length, out=np.zeros(len(length)), where=length > DEPENDENT**2)
        return np.where(comparable(share) > 0, share, 0.0)

    n_kept = int(is_kept.sum())
    for is_allowed, most in ((is_kept, n_kept), (~is_kept, n_selected - n_kept)):
        for _ in range(most):
            gain = np.where(is_allowed, gains_of_all(), 0.0)
            if not gain.any():
                break
            best = int(np.argmax(gain >= gain.max() - TIE))
            column = X[:, best]
            for _ in range(2):  # twice, because of rounding errors
                column = column - basis @ (basis.T @ column)
            column /= np.linalg.norm(column)
            basis = np.column_stack([basis, column])
            on_column, on_target = column @ X, basis_of_y.T @ column
            products -= np.outer(on_target, on_column)
            length -= on_column**2
            length[best] = 0.0
            chosen.append(best)
            gains.append(float((on_target**2).sum()))
    return chosen, gains, gains_of_all()

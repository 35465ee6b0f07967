"""Infinite latent feature selection (ILFS)."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.target import Target
from hocmim.parameters import number, whole
from hocmim.search.constraints import Budget
from hocmim.selectors.filters._base import (
    Filter,
    Samples,
    WeightedFilter,
    column_blocks,
    constant_columns,
    indicator,
)

DAMPING = 0.9
"""r·ρ(A) of the path weights: any value below 1 gives the same ranking."""


class ILFS(WeightedFilter):
    """s = row sums of (I − rA)⁻¹ − I, A_ij = p(relevant|i) p(relevant|j), r = 0.9/ρ(A).

    Rewards a column by all paths through it on a graph whose edges join relevant columns. The
    relevance of a column comes from a latent-variable model:

    1. Each sample's closeness to its own class mean in a column, among all class means:
       (1/d_y) / Σ_c (1/d_c) with d_c = (x − μ_c)². With two classes this is 1 − d_y/(d_1 + d_2).
       (The paper's common scale of the distances, a sum of squared variances, cancels.)
    2. Closeness in [0, 1] is cut into T tokens of equal width, the last one the closest.
    3. Token counts by column are modelled as p(token|i) = Σ_f p(token|f) p(f|i) with two factors,
       relevant and irrelevant, fitted by EM. It starts from linear ramps for p(token|f), rising
       for the relevant one, and from the share of discriminative tokens (the upper half; one
       sample is added to either half, as EM cannot leave an exact 0 or 1) for p(relevant|i).
    4. A = a aᵀ (the diagonal included) has rank one and ρ(A) = aᵀa, hence
       (I − rA)⁻¹ − I = rA/(1 − r aᵀa), and s_i = 9 a_i Σ_j a_j / Σ_j a_j². No D×D matrix is made.

    Cost O(N D C) and O(D T) an EM step. A constant column has no information about the
    classes: it is excluded from the model, has p(relevant) = 0 and scores 0, the worst. A
    categorical column is treated as numbers, the index of each level among the sorted levels.

    Parameters
    ----------
    n_features_to_select, target, identifiers, keep, exclude, costs
        See :class:`~hocmim.selectors.filters._base.Filter`.
    n_tokens : int, default=6
        T, the number of tokens.
    max_iter : int, default=1000
        Maximum number of EM steps.
    tol : float, default=1e-9
        EM stops when the log-likelihood grows by less than this share of its size.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        s of every column; higher is better.
    relevance_ : ndarray of float64, shape (n_features_in_,)
        p(relevant|i) of every column.
    log_likelihood_ : ndarray of float64, shape (n_iter_ + 1,)
        Before the first EM step and after each step; never decreases.
    n_iter_ : int
        Number of EM steps.
    selected_, scores_, ranking_
        See :class:`~hocmim.selectors.base.Selector`.

    References
    ----------
    G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli, Infinite Latent Feature Selection: A
    Probabilistic Latent Graph-Based Ranking Approach, ICCV 2017.
    """

    method_name = "ILFS"

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_tokens": [whole(2, 1000)],
        "max_iter": [whole(1)],
        "tol": [number(0)],
    }

    def __init__(
        self,
        n_features_to_select: int | float | Budget | None = 10,
        *,
        n_tokens: int = 6,
        max_iter: int = 1000,
        tol: float = 1e-9,
        target: Target | str | None = None,
        identifiers: str = "drop",
        keep: Any = None,
        exclude: Any = None,
        costs: Any = None,
    ) -> None:
        self._init_as(Filter, locals())
        self.n_tokens = n_tokens
        self.max_iter = max_iter
        self.tol = tol

    def _score(self, samples: Samples) -> NDArray[np.float64]:
        varies = ~constant_columns(samples.values)
        counts = token_counts(samples.values[:, varies], samples.y, self.n_tokens)
        model = fit_relevance(counts, max_iter=self.max_iter, tol=self.tol)
        self.relevance_ = np.zeros(len(varies))
        self.relevance_[varies] = model.relevance
        self.log_likelihood_ = model.log_likelihood
        self.n_iter_ = len(model.log_likelihood) - 1
        return path_scores(self.relevance_)


class RelevanceModel(NamedTuple):
    """A fitted two-factor model."""

    relevance: NDArray[np.float64]  # shape (D,). p(relevant|column).
    token_given_factor: NDArray[np.float64]  # shape (T, 2). p(token|relevant), p(token|irrelevant).
    log_likelihood: NDArray[np.float64]  # Before the first EM step and after each step


def closeness(X: NDArray[np.float64], y: NDArray[np.int32]) -> NDArray[np.float64]:
    """(1/d_y) / Σ_c (1/d_c) of every cell, d_c its squared distance to the mean of class c.

    A value equal to its own class mean has closeness 1, divided by the number of classes with the
    same mean.
    """
    members = indicator(y)
    means = members @ X / members.sum(axis=1)[:, None]
    own = (X - means[y]) ** 2
    # d_y/d_c summed over c is 1/closeness; for d_y = 0 it is the number of means at that place.
    total = np.zeros(X.shape)
    for mean in means:
        other = (X - mean) ** 2
        both = own <= np.finfo(float).tiny
        with np.errstate(divide="ignore", invalid="ignore"):
            total += np.where(both, other <= np.finfo(float).tiny, own / other)
    return np.asarray(1.0 / total)


def token_counts(
    X: NDArray[np.float64], y: NDArray[np.int32], n_tokens: int
) -> NDArray[np.float64]:
    """Count the samples of each column with each token: shape (T, D), the last the closest."""
    counts = np.empty((n_tokens, X.shape[1]))
    for block in column_blocks(*X.shape):
        # Rounded first: rounding errors must not decide the token of a closeness of exactly 1/2.
        tokens = np.floor(np.round(closeness(X[:, block], y), 12) * n_tokens)
        for t in range(n_tokens):
            at_least = tokens >= t if t == n_tokens - 1 else tokens == t
            counts[t, block] = at_least.sum(axis=0)
    return counts


def fit_relevance(
    counts: NDArray[np.float64], *, max_iter: int = 1000, tol: float = 1e-9
) -> RelevanceModel:
    """EM for p(token|column) = Σ_f p(token|f) p(f|column), two factors, counts of shape (T, D)."""
    n_tokens = len(counts)
    ramp = np.arange(1.0, n_tokens + 1)
    start = np.column_stack([ramp, ramp[::-1]]) / ramp.sum()
    share = (counts[n_tokens - n_tokens // 2 :].sum(axis=0) + 1.0) / (counts.sum(axis=0) + 2.0)
    factor = np.vstack([share, 1.0 - share])
    occurs = counts.any(axis=1)  # EM gives a token that never occurs probability 0 at once
    seen, token = counts[occurs], start[occurs]
    mixture = _mixture(token, factor)
    trace = [float(np.sum(seen * np.log(mixture)))]
    for _ in range(max_iter if seen.size else 0):
        ratio = seen / mixture
        # E and M step together, so that p(f|token, column) is not stored.
        new_token = token * (ratio @ factor.T)
        factor *= token.T @ ratio
        factor /= factor.sum(axis=0)
        token = new_token / new_token.sum(axis=0)
        mixture = _mixture(token, factor)
        trace.append(float(np.sum(seen * np.log(mixture))))
        if trace[-1] - trace[-2] <= tol * abs(trace[-1]):
            break
    token_given_factor = np.zeros((n_tokens, 2))
    token_given_factor[occurs] = token
    return RelevanceModel(factor[0], token_given_factor, np.array(trace))


def _mixture(token: NDArray[np.float64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p(token|column), kept above 0 if both factors underflow."""
    return np.maximum(token @ factor, np.finfo(float).tiny)


def path_scores(relevance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the row sums of (I − rA)⁻¹ − I for A = a aᵀ and r = 0.9/aᵀa, in closed form."""
    energy = relevance @ relevance
    if energy == 0.0:
        return np.zeros(len(relevance))
    r = DAMPING / energy
    return np.asarray(r * relevance * relevance.sum() / (1.0 - DAMPING))

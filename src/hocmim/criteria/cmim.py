"""Conditional mutual information maximization."""

from __future__ import annotations

from hocmim._native import Term
from hocmim.criteria.least import SINGLE_COLUMN_PLAN, LeastTermCriterion
from hocmim.information.estimators import SECOND_ORDER_ESTIMATOR


class CMIMCriterion(LeastTermCriterion):
    """J(X) = min( I(X;Y), min_{j∈S} I(X;Y|X_j) ).

    Rewards what X adds to the one selected feature that makes it most redundant; never more than X
    says by itself.

    Parameters
    ----------
    estimator : str
    with_relevance : bool
        False leaves I(X;Y) out of the minimum, as the formula in the paper on HOCMIM does. This is
        HOCMIM of order 1.

    Cost: K D terms at most, far fewer by lazy evaluation.

    References
    ----------
    Fleuret: Fast binary feature selection with conditional mutual information. Journal of Machine
    Learning Research 5, 2004.
    """

    plan = SINGLE_COLUMN_PLAN
    term = Term.conditional

    def __init__(
        self, estimator: str = SECOND_ORDER_ESTIMATOR, *, with_relevance: bool = True
    ) -> None:
        super().__init__(1, estimator, with_relevance=with_relevance)

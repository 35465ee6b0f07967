"""Conditional mutual information maximization."""

from __future__ import annotations

from hocmim._native import Term
from hocmim.criteria.base import SECOND_ORDER_ESTIMATOR
from hocmim.criteria.least import SINGLE_COLUMN_PLAN, LeastTermCriterion
from hocmim.criteria.method import Method


class CMIMCriterion(LeastTermCriterion):
    """J(X) = min_{j∈S} I(X;Y|X_j).

    Rewards what X adds to the one selected feature that makes it most redundant.

    Cost: K D terms at most, far fewer by lazy evaluation.

    References
    ----------
    Fleuret: Fast binary feature selection with conditional mutual information. Journal of Machine
    Learning Research 5, 2004.
    """

    plan = SINGLE_COLUMN_PLAN
    term = Term.conditional

    def __init__(self, estimator: str = SECOND_ORDER_ESTIMATOR) -> None:
        super().__init__(1, estimator)


METHODS = (
    Method(
        "CMIM",
        "CMIM",
        "conditional mutual information maximization",
        CMIMCriterion,
        CMIMCriterion,
    ),
)

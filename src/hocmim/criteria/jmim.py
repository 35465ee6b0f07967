"""Joint mutual information maximization."""

from __future__ import annotations

from hocmim._native import Term
from hocmim.criteria.least import SINGLE_COLUMN_PLAN, LeastTermCriterion
from hocmim.information.estimators import SECOND_ORDER_ESTIMATOR


class JMIMCriterion(LeastTermCriterion):
    """J(X) = min_{j∈S} I(X,X_j;Y); I(X;Y) while S is empty.

    Rewards what X says of Y together with the selected feature that helps it least.

    Cost: K D terms at most, fewer by lazy evaluation.

    References
    ----------
    Bennasar, Hicks, Setchi: Feature selection using joint mutual information maximisation. Expert
    Systems with Applications 42, 2015.
    """

    plan = SINGLE_COLUMN_PLAN
    term = Term.joint

    def __init__(self, estimator: str = SECOND_ORDER_ESTIMATOR) -> None:
        super().__init__(1, estimator)

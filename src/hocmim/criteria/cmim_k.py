"""Conditional mutual information maximization given several selected features at a time."""

from __future__ import annotations

from hocmim._native import Term
from hocmim.criteria.least import LeastTermCriterion
from hocmim.information.estimators import HIGH_ORDER_ESTIMATOR


class CMIMkCriterion(LeastTermCriterion):
    """J(X) = min_{T⊆S, |T|=k−1} I(X;Y|T): CMIM-3 over the pairs T of selected features, CMIM-4 over
    the triples.

    While |S| < k − 1 the one subset is T = S. Rewards what X adds to the k − 1 selected features
    that make it most redundant.

    Cost: K^(k−1) D / (k−1)! terms at most, far fewer by lazy evaluation.

    References
    ----------
    Sechidis, Azzimonti, Pocock, Corani, Weatherall, Brown, Machine Learning 108, 2019.
    """

    term = Term.conditional

    def __init__(self, k: int, estimator: str = HIGH_ORDER_ESTIMATOR) -> None:
        super().__init__(k - 1, estimator)

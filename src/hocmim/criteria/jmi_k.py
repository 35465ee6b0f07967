"""Joint mutual information with several selected features at a time."""

from __future__ import annotations

import numpy as np

from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.least import n_subset_terms, subsets_with_newest
from hocmim.information.counting import Joint, Values
from hocmim.information.estimators import HIGH_ORDER_ESTIMATOR


class JMIkCriterion(Criterion):
    """J(X) = Σ_{T⊆S, |T|=k−1} I(X,T;Y): JMI-3 over the pairs T of selected features, JMI-4 over
    the triples.

    While |S| < k − 1 the one subset is T = S. Rewards what X says of Y together with k − 1 selected
    features, on average over all of them.

    Cost: K^(k−1) D / (k−1)! terms: each step adds the subsets that hold the newest feature.

    References
    ----------
    Sechidis, Azzimonti, Pocock, Corani, Weatherall, Brown, Machine Learning 108, 2019.
    """

    def __init__(self, k: int, estimator: str = HIGH_ORDER_ESTIMATOR) -> None:
        super().__init__(estimator)
        self.size = k - 1

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with the relevance."""
        self.total = super().start(block, y).copy()
        return self.relevance

    def update(self, newest: Column) -> None:
        """Add the terms of every subset that holds the newest column."""
        super().update(newest)
        if len(self.selected) <= self.size:
            self.total = self.terms.joint(Joint.of(self.selected))
            return
        open_ = np.flatnonzero(self.is_candidate)
        if len(open_):
            for joint in subsets_with_newest(self.selected, self.size):
                self.total[open_] += self.terms.joint(joint, open_)

    def scores(self) -> Values:
        """The sum so far."""
        return self.total

    def n_terms(self, n_select: int) -> int:
        """Return K choose k − 1, nearly."""
        return n_subset_terms(self.size, n_select)

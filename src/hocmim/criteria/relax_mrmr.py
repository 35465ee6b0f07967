"""Relax-mRMR: redundancy with pairs of selected features."""

from __future__ import annotations

import numpy as np

from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.information.counting import Joint, Values
from hocmim.information.estimators import HIGH_ORDER_ESTIMATOR


class RelaxMRMRCriterion(Criterion):
    """J(X) = I(X;Y) − 1/|S| Σ_{j∈S} [I(X;X_j) − I(X;X_j|Y)] − η Σ_{j∈S} Σ_{i∈S, i≠j} I(X;X_i|X_j),
    η = 1/(|S| (|S|−1)).

    The joint mutual information less a second redundancy: rewards a feature that repeats no
    selected one, not even given another.

    Cost: K² D terms: each step adds the pairs that hold the newest feature, both ways round.

    References
    ----------
    Vinh, Zhou, Chan, Bailey: Can high-order dependencies improve mutual information based feature
    selection? Pattern Recognition 53, 2016.
    """

    def __init__(self, estimator: str = HIGH_ORDER_ESTIMATOR) -> None:
        super().__init__(estimator)

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with no redundancy."""
        super().start(block, y)
        self.redundancy = np.zeros(block.n_columns)
        self.pair_redundancy = np.zeros(block.n_columns)
        return self.relevance

    def update(self, newest: Column) -> None:
        """Add the redundancy with the newest column, and with it and each earlier one."""
        earlier = list(self.selected)
        super().update(newest)
        open_ = np.flatnonzero(self.is_candidate)
        if len(open_) == 0:
            return
        joint = Joint.of([newest])
        self.redundancy[open_] += self.terms.redundancy(joint, open_)
        for column in earlier:
            other = Joint.of([column])
            self.pair_redundancy[open_] += self.terms.conditional_with(joint, other, open_)
            self.pair_redundancy[open_] += self.terms.conditional_with(other, joint, open_)

    def scores(self) -> Values:
        """Relevance less the mean of both redundancies."""
        n = len(self.selected)
        singles = self.redundancy / max(n, 1)
        pairs = self.pair_redundancy / max(n * (n - 1), 1)
        return self.relevance - singles - pairs

    def n_terms(self, n_select: int) -> int:
        """Return one term for each selected feature, two for each pair."""
        return (n_select - 1) ** 2

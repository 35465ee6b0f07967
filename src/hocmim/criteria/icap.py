"""Interaction capping."""

from __future__ import annotations

import numpy as np

from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.searches import SECOND_ORDER_PLAN
from hocmim.information.counting import Joint, Values


class ICAPCriterion(Criterion):
    """J(X) = I(X;Y) − Σ_{j∈S} max(0, I(X;X_j) − I(X;X_j|Y)).

    Rewards relevance less its redundancies; a synergy with one feature makes up for none of them.

    Cost: K D terms.

    References
    ----------
    Jakulin: Machine learning based on attribute interactions. PhD thesis, University of Ljubljana,
    2005.
    """

    plan = SECOND_ORDER_PLAN

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with no redundancy."""
        super().start(block, y)
        self.loss = np.zeros(block.n_columns)
        return self.relevance

    def update(self, newest: Column) -> None:
        """Add the redundancy with the newest column where it is one."""
        super().update(newest)
        self.loss += np.maximum(0.0, self.terms.redundancy(Joint.of([newest])))

    def scores(self) -> Values:
        """Relevance less what is lost."""
        return self.relevance - self.loss

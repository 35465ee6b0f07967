"""Normalized joint mutual information maximization."""

from __future__ import annotations

import numpy as np

from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.searches import SECOND_ORDER_PLAN
from hocmim.information.counting import Joint, Values


class NJMIMCriterion(Criterion):
    """J(X) = min_{j∈S} I(X,X_j;Y) / H(X,X_j,Y); I(X;Y) while S is empty.

    Rewards what X says of Y together with the selected feature that helps it least, as a share of
    all the information in the three.

    Cost: K D terms.

    References
    ----------
    Bennasar, Hicks, Setchi: Feature selection using joint mutual information maximisation. Expert
    Systems with Applications 42, 2015.
    """

    plan = SECOND_ORDER_PLAN
    unit = "share"

    def start(self, block: Codes, y: Column) -> Values:
        """Start without a least share."""
        super().start(block, y)
        self.least = np.full(block.n_columns, np.inf)
        return self.relevance

    def update(self, newest: Column) -> None:
        """Compare the least share with that of the newest column."""
        super().update(newest)
        joint, entropy = self.terms.joint_and_entropy(Joint.of([newest]))
        share = np.divide(joint, entropy, out=np.zeros_like(entropy), where=entropy != 0)
        self.least = np.minimum(self.least, share)

    def scores(self) -> Values:
        """The least share."""
        return self.least if self.selected else self.relevance

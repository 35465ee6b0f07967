"""Double input symmetrical relevance."""

from __future__ import annotations

import numpy as np

from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.searches import SECOND_ORDER_PLAN
from hocmim.information.counting import Joint, Values


class DISRCriterion(Criterion):
    """J(X) = Σ_{j∈S} I(X,X_j;Y) / H(X,X_j,Y); I(X;Y) while S is empty.

    Rewards what X says of Y together with each selected feature, as a share of all there is to say:
    few levels are preferred to many. A ratio with H = 0 counts as 0.

    Cost: 2 K D terms.

    References
    ----------
    Meyer, Bontempi: On the use of variable complementarity for feature selection in cancer
    classification. Applications of Evolutionary Computing, 2006.
    """

    plan = SECOND_ORDER_PLAN
    unit = "share"

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with the relevance."""
        super().start(block, y)
        self.total = np.zeros(block.n_columns)
        return self.relevance

    def update(self, newest: Column) -> None:
        """Add the symmetrical relevance together with the newest column."""
        super().update(newest)
        relevance, entropy = self.terms.joint_and_entropy(Joint.of([newest]))
        self.total += np.divide(relevance, entropy, out=np.zeros_like(entropy), where=entropy != 0)

    def scores(self) -> Values:
        """The sum so far."""
        return self.total if self.selected else self.relevance

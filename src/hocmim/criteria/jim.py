"""Joint impurity."""

from __future__ import annotations

import numpy as np

from hocmim import _native
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.searches import SECOND_ORDER_PLAN
from hocmim.information.counting import Joint, Values


class JIMCriterion(Criterion):
    """J(X) = Σ_{j∈S} G(X,X_j;Y), G(X;Y) = Σ_{xy} p_xy² / p_x − Σ_y p_y²; G(X;Y) while S is empty.

    Rewards columns that lower the impurity of Y together with each selected feature. It is the
    joint mutual information with the impurity gain G in place of information.

    The scores are not in nats and need no estimator of information: ``estimator`` does not change
    the selection. It is used for the relevance I(X;Y), which is reported beside the scores, and in
    explanations.

    Cost: K D terms.

    References
    ----------
    Kursa: Praznik: high performance information-based feature selection. SoftwareX 16, 2021.
    """

    plan = SECOND_ORDER_PLAN
    unit = "impurity"

    def start(self, block: Codes, y: Column) -> Values:
        """Start from the gain of each column alone."""
        super().start(block, y)
        self.alone = self._gain(Joint.of([], block.n_samples))
        self.total = np.zeros(block.n_columns)
        return self.relevance

    def update(self, newest: Column) -> None:
        """Add the gain together with the newest column."""
        super().update(newest)
        self.total += self._gain(Joint.of([newest]))

    def scores(self) -> Values:
        """The sum so far."""
        return self.total if self.selected else self.alone

    def _gain(self, w: Joint) -> Values:
        """G(X,W;Y) of each column X."""
        columns, y = self.terms.columns, self.terms.y
        gain = np.empty(len(columns))
        _native.impurity_gain(columns, w.cells, w.n_cells, y.cells, y.n_cells, gain)
        self.count_terms(len(gain))
        return gain

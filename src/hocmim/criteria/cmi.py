"""Conditional mutual information given everything selected."""

from __future__ import annotations

from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.information.counting import Joint, Values


class CMICriterion(Criterion):
    """J(X) = I(X;Y|S).

    Rewards exactly what X adds to all selected features together, for as long as there are samples
    enough: once S tells every sample from every other, no column adds anything.

    Cost: K D terms.

    References
    ----------
    Brown, Pocock, Zhao, Luján: Conditional likelihood maximisation: a unifying framework for
    information theoretic feature selection. Journal of Machine Learning Research 13, 2012.
    """

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with the relevance."""
        self.added = super().start(block, y)
        self._all_selected = Joint.of([], block.n_samples)
        return self.relevance

    def update(self, newest: Column) -> None:
        """Condition on one column more."""
        super().update(newest)
        self._all_selected = self._all_selected.with_column(newest)
        self.added = self.terms.conditional(self._all_selected)

    def scores(self) -> Values:
        """What each column adds."""
        return self.added

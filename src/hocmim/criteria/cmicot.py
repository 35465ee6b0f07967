"""Conditional mutual information with complementary and opposing teams."""

from __future__ import annotations

import numpy as np

from hocmim import _native
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.searches import SearchPlan
from hocmim.information.counting import Values, native_list
from hocmim.information.estimators import SECOND_ORDER_ESTIMATOR

MAX_TEAM_SIZE = 16

# Candidates a call: few, so that work can be stopped in between.
CHUNK = 16


class CMICOTCriterion(Criterion):
    """J(X) = max over b ∈ B[X] of I(b, h_1..h_{t−1};Y|g_1..g_t).

    B[X] holds the binary representatives of X, [X > c] for c between consecutive levels that occur;
    S^bin those of all selected features. First b is given a complementary team, then both meet an
    opposing team, each found one member at a time:

        h_j = argmax over h ∈ S^bin ∪ B[X] of I(b;Y|h_1..h_{j−1},h)
        g_j = argmin over g ∈ S^bin of I(b,h_1..h_{j−1};Y|g_1..g_{j−1},g)

    While S is empty, J(X) = max over b of I(b;Y). A constant X scores 0. Among equals the first in
    S^bin wins (selected earliest, then lowest threshold), then the first in B[X]; the original
    chooses at random. Only for g_j, one that says the same as the newest of b, h_1.., h_{j−1} comes
    before all its equals: so a copy of a selected feature meets itself and scores 0. Rewards what X
    adds with the best help against the strongest competition.

    Cost: O(t² K² D) terms; remembered teams make it about 2 t for each
    representative and new column.

    References
    ----------
    Shishkin, Bezzubtseva, Drutsa, Shishkov, Gladkikh, Gusev, Serdyukov: Efficient high-order
    interaction-aware feature selection based on conditional mutual information. Advances in Neural
    Information Processing Systems 29, 2016.
    """

    plan = SearchPlan(blocks_per_thread=4)

    def __init__(self, team_size: int = 6, estimator: str = SECOND_ORDER_ESTIMATOR) -> None:
        super().__init__(estimator)
        self.team_size = team_size

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with the best representative of each column."""
        super().start(block, y)
        target = self.terms.y
        self._teams = _native.Cmicot(
            self.terms.columns, target.cells, target.n_cells, self.terms.estimator, self.team_size
        )
        self.best_of_own = np.zeros(block.n_columns)
        self._score_open()
        return self.relevance

    def update(self, newest: Column) -> None:
        """Try the representatives of the newest column in every team."""
        super().update(newest)
        self._teams.select(native_list([newest], len(newest.codes)), 0)
        self._score_open()

    def _score_open(self) -> None:
        open_ = np.flatnonzero(self.is_candidate)
        for at in range(0, len(open_), CHUNK):
            which = open_[at : at + CHUNK]
            scores = np.empty(len(which))
            self._teams.score(which, scores)
            self.best_of_own[which] = scores
            self.count_terms(len(which))

    def scores(self) -> Values:
        """The score of the best representative."""
        return self.best_of_own

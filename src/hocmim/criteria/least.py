"""The least of many terms: scores that only fall, and so need not all be computed."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from hocmim.codes import Codes, Column
from hocmim.counting import Joint, Positions, Values
from hocmim.criteria.base import Best, Criterion, comparison_key
from hocmim.criteria.subsets import Subsets, n_subset_terms

# A call of the kernels on one candidate costs as much as on several: these many go together.
CHUNK = 16


class LeastTermCriterion(Criterion):
    """J(X) = min over T ⊆ S with |T| = size of a term of X and T; T = S while |S| < size.

    A subset that comes to be can only lower the score. So what a candidate scored before is a bound,
    and one whose bound is below the best exact score is left as it is: it remembers how many subsets
    it has met, and meets the others when its bound comes to lead. The result, ties included, is the
    same as if every score were computed.
    """

    def __init__(self, size: int, estimator: str) -> None:
        super().__init__(estimator)
        self.size = size

    @abstractmethod
    def _term(self, joint: Joint, which: Positions | None = None) -> Values:
        """The term of each candidate and one subset."""

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with the relevance."""
        self.least = super().start(block, y).copy()
        self._subsets = Subsets(self.selected, self.size)
        self._n_met = np.zeros(block.n_columns, np.int64)
        return self.relevance

    def update(self, newest: Column) -> None:
        """Note the newest column; the terms of its subsets are computed when they are needed."""
        super().update(newest)
        if len(self.selected) <= self.size:  # still one subset, S: scores may rise
            self.least = self._term(Joint.of(self.selected))
            self._n_met[:] = len(self._subsets)

    def scores(self) -> Values:
        """The exact score of every open candidate."""
        self._meet_subsets(np.flatnonzero(self.open), -np.inf)
        return self.least

    def best(self) -> Best | None:
        """Return the best open candidate, computing no more terms than that takes."""
        if not self.open.any():
            return None
        keys = np.where(self.open, comparison_key(self.least), -np.inf)
        while True:
            position = int(np.argmax(keys))
            key = float(keys[position])
            if self.floor is not None and key < self.floor.key:
                return None
            if self._n_met[position] == len(self._subsets):
                if self.floor is not None:
                    self.floor.rise(key)
                return Best(key, position, float(self.least[position]))
            leading, bar = self._leading(keys)
            self._meet_subsets(leading, bar)
            keys[leading] = comparison_key(self.least[leading])

    def _leading(self, keys: Values) -> tuple[Positions, float]:
        """The candidates of largest bound that are not exact, and the key at which they lose."""
        is_exact = self._n_met == len(self._subsets)
        bar = max(self.floor.key if self.floor else -np.inf, keys[is_exact].max(initial=-np.inf))
        behind = np.flatnonzero(~is_exact & self.open & (keys >= bar))
        behind = behind[np.argsort(-keys[behind], kind="stable")]
        if len(behind) > CHUNK:
            bar = max(bar, float(keys[behind[CHUNK]]))
        return behind[:CHUNK], bar

    def _meet_subsets(self, candidates: Positions, bar: float) -> None:
        """Take these candidates through the subsets not yet met, until their keys are below bar."""
        n_met = self._n_met[candidates]
        going = n_met < len(self._subsets)
        while going.any():
            number = int(n_met[going].min())
            here = np.flatnonzero(going & (n_met == number))
            which = candidates[here]
            terms = self._term(self._subsets.joint(number), which)
            self.least[which] = np.minimum(self.least[which], terms)
            n_met[here] += 1
            is_leading = comparison_key(self.least[which]) >= bar
            going[here] = is_leading & (number + 1 < len(self._subsets))
        self._n_met[candidates] = n_met

    def n_terms(self, n_select: int) -> int:
        """Return K choose size, nearly; lazy evaluation needs fewer."""
        return n_subset_terms(self.size, n_select)

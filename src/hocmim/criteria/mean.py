"""The mean of a criterion over several targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

import numpy as np

from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.information.counting import SharedColumn, Values


class MeanCriterion(Criterion):
    """J(X) = 1/T Σ_t J_t(X): J_t is a criterion with target t of T.

    Rewards columns that say something about many of the targets. Cost: T times that of the
    criterion, without the savings of a search of its own.
    """

    def __init__(self, criterion: Criterion, targets: Sequence[Column]) -> None:
        super().__init__(criterion.estimator)
        self.sees_redundancy = criterion.sees_redundancy
        self.unit = criterion.unit
        self._criterion = criterion
        self._targets = tuple(targets)
        self._each: list[Criterion] = []

    def copy(self, on_terms: Callable[[int], None] | None = None) -> Self:
        """See Criterion."""
        fresh = super().copy(on_terms)
        fresh._each = [self._criterion.copy(on_terms) for _ in self._targets]
        return fresh

    def expect(self, n_select: int) -> None:
        """See Criterion."""
        self._criterion.expect(n_select)

    def start(self, block: Codes, y: Column) -> Values:
        """See Criterion; the targets are those of the constructor."""
        pairs = zip(self._each, self._targets, strict=True)
        found = [criterion.start(block, SharedColumn.of(target)) for criterion, target in pairs]
        self.relevance = np.mean(found, axis=0)
        return self.relevance

    def update(self, newest: Column) -> None:
        """See Criterion."""
        for criterion in self._each:
            criterion.update(newest)

    def scores(self) -> Values:
        """See Criterion."""
        return np.asarray(np.mean([criterion.scores() for criterion in self._each], axis=0))

    def n_terms(self, n_select: int) -> int:
        """See Criterion."""
        return len(self._targets) * self._criterion.n_terms(n_select)

"""The stopping test for rows in groups, such as several rows of one patient.

Rows of one group are alike, so they are not independent samples, and a test that treats them as
such finds columns by chance. Two tests remain valid, each for its own null hypothesis:

between groups
    H0: X ⟂ Y | Z for rows of different groups. One row is drawn at random from each group; these
    rows are independent, and the test of ``search.stopping`` is applied to them. This is repeated
    ``N_DRAWS`` times, and the p-value is twice the median of the p-values, at most 1, which is
    valid for any dependence between them.
within groups
    H0: X ⟂ Y | Z, group. The group is one more condition: X is permuted among the rows of one
    group and one cell of Z. It is left out if the target is constant in every group.

X is selected if one of the two is rejected. If both are made, the smaller p-value is doubled
(Bonferroni). If every group has one row, this is the test without groups.

References
----------
Hoffman, Sen, Weinberg: Within-cluster resampling. Biometrika 88, 2001.
Meinshausen, Meier, Bühlmann: p-values for high-dimensional regression. JASA 104, 2009 (the median).
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Column
from hocmim.data.row_groups import RowGroups
from hocmim.information.counting import Joint
from hocmim.search.discovery import ErrorControl
from hocmim.search.stopping import CLEAR, Question, StoppingRule

N_DRAWS = 11
# The p-value of a sample is multiplied by at most this: for the median, and for two tests.
MOST_PARTS = 4

Answer = tuple[float, NDArray[np.int64]]


class GroupedStoppingRule(StoppingRule):
    """A stopping rule for rows in groups: ``row_groups`` has the group of each sample."""

    def __init__(self, row_groups: RowGroups, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._groups = row_groups
        self._by_group = np.argsort(row_groups, kind="stable")
        sizes = np.bincount(row_groups)
        self._starts, self._sizes = np.cumsum(sizes) - sizes, sizes

    @property
    def groups_digest(self) -> str:
        """What tells these groups from others."""
        return hashlib.sha256(self._groups.tobytes()).hexdigest()

    @property
    def error_control(self) -> ErrorControl:
        """The error rate that the tests keep, with the number of groups."""
        return replace(super().error_control, n_groups=int(np.count_nonzero(self._sizes)))

    def _answer(self, question: Question, n_steps: int, n_hypotheses: float) -> Answer:
        if (self._sizes <= 1).all():
            return super()._answer(question, n_steps, n_hypotheses)
        clear = CLEAR / n_hypotheses / MOST_PARTS
        found = [self._between(question, n_steps, clear)]
        if self._varies_within(question.y):
            rng = np.random.default_rng([self.seed, n_steps, N_DRAWS, *self._nth_try])
            found.append(self._test_sets(question, rng, clear, extra=self._group_joint))
        p_value, given = min(found, key=lambda item: item[0])
        return min(1.0, len(found) * p_value), given

    def _varies_within(self, y: Column) -> bool:
        codes = y.codes[self._by_group]
        starts = self._starts[self._sizes > 0]
        return bool((np.maximum.reduceat(codes, starts) > np.minimum.reduceat(codes, starts)).any())

    def _between(self, question: Question, n_steps: int, clear: float) -> Answer:
        """Twice the median p-value of samples with one row of each group."""
        found = []
        for draw in range(N_DRAWS):
            rng = np.random.default_rng([self.seed, n_steps, draw, *self._nth_try])
            places = self._starts + (rng.random(len(self._sizes)) * self._sizes).astype(np.int64)
            rows = np.sort(self._by_group[places[self._sizes > 0]])
            found.append(self._test_sets(question.take(rows), rng, clear))
        found.sort(key=lambda item: item[0])
        p_value, given = found[len(found) // 2]
        return min(1.0, 2 * p_value), given

    def _group_joint(self, joint: Joint) -> Joint:
        """Return the cells of Z, each divided by group."""
        pairs = joint.cells.astype(np.int64) * (self._groups.max() + 1) + self._groups
        found, cells = np.unique(pairs, return_inverse=True)
        return Joint(cells.astype(np.uint32), len(found))

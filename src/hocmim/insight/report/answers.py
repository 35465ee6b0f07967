"""Why each feature was selected or not, for all features of a table.

``explain`` runs a criterion again on one feature; here it runs on blocks of them. The winners of
all steps are known, so that each block goes through the selection independently, on any thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes
from hocmim.criteria.base import Criterion
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.insight.basis import Basis
from hocmim.threads import ThreadPool, resolve_n_jobs

# Features a thread explains at a time.
BLOCK_COLUMNS = 512
# Redundancy is computed with this many selected features at most, the first ones.
MAX_COMPARED = 500
# Points of the curves of a page: steps times features.
MAX_CURVE_POINTS = 400_000


@dataclass(frozen=True, eq=False)
class Answers:
    """Why each feature was selected or not; arrays have one element a feature.

    Attributes
    ----------
    score : ndarray of float64
        When it was selected, or in the last step if it was not.
    closest_step : ndarray of int64
        The step, from 1, in which its score came closest to the largest; 0 if there was no search.
    closest_score : ndarray of float64
        Its score in that step.
    curve : ndarray of float64, shape (n steps shown, D)
        Its score at each of the steps shown; NaN after it was selected.
    order : ndarray of int64
        The size of its representative set in its last step; −1 if the criterion has none.
    members : list of ndarray of int64
        These sets, as places in the order of selection, from 0.
    most_redundant, next_redundant, most_synergistic : ndarray of int64
        Places of the features selected before it with the largest and second largest redundancy,
        and with the largest synergy; −1 if there is none.
    redundancy : ndarray of float64, shape (3, D)
        I(X;s) − I(X;s|Y) with each of the three, in nats; NaN if there is none.
    """

    score: Values
    closest_step: NDArray[np.int64]
    closest_score: Values
    curve: Values
    order: NDArray[np.int64]
    members: list[NDArray[np.int64]]
    most_redundant: NDArray[np.int64]
    next_redundant: NDArray[np.int64]
    most_synergistic: NDArray[np.int64]
    redundancy: Values


def steps_to_show(n_steps: int, n_columns: int) -> NDArray[np.int64]:
    """Return the steps, from 0, whose scores are kept: all, or some evenly spread ones."""
    n_shown = max(2, MAX_CURVE_POINTS // n_columns)
    return np.unique(np.rint(np.linspace(0, n_steps - 1, min(n_steps, n_shown))).astype(np.int64))


def explain_all(
    basis: Basis,
    steps: NDArray[np.int64],
    *,
    n_jobs: int | None = None,
    block_columns: int = BLOCK_COLUMNS,
) -> tuple[Values, Answers]:
    """Return the relevance of every feature, and why it was selected or not.

    Parameters
    ----------
    basis : Basis
        With the codes of all features.
    steps : ndarray of int64
        The steps, from 0, whose scores are kept.
    n_jobs : int or None
        Threads; never changes a result.
    block_columns : int
        Columns a block; never changes a result.
    """
    codes = basis.all_codes
    starts = range(0, codes.n_columns, block_columns)

    def explain_block(start: int) -> tuple[Values, Answers]:
        block = codes.block(start, start + block_columns)
        return _Block(basis, block, start).explain(steps)

    with ThreadPool(min(resolve_n_jobs(n_jobs), len(starts))) as pool:
        parts = list(pool.map(explain_block, starts))
    return np.concatenate([relevance for relevance, _ in parts]), _join([a for _, a in parts])


def _join(parts: Sequence[Answers]) -> Answers:
    def joined(attribute: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, attribute) for part in parts], axis=-1)

    members = [each for part in parts for each in part.members]
    arrays = {name: joined(name) for name in Answers.__dataclass_fields__ if name != "members"}
    return Answers(members=members, **arrays)


class _Block:
    """One block of features on its way through a selection whose winners are known."""

    def __init__(self, basis: Basis, block: Codes, start: int) -> None:
        self.basis, self.block, self.selected = basis, block, basis.selected_columns
        n = block.n_columns
        # How many features were selected before each one: all of them, if it was not selected.
        self.n_before = np.full(n, len(self.selected), np.int64)
        for place, column in enumerate(self.selected):
            if start <= column.index < start + n:
                self.n_before[column.index - start] = place

    def explain(self, steps: NDArray[np.int64]) -> tuple[Values, Answers]:
        """Return the relevance and the answers of the block."""
        n = self.block.n_columns
        terms = BlockTerms(self.block, Joint.of([self.basis.y]), self.basis.estimator)
        self.score, self.closest_score = np.full(n, np.nan), np.full(n, np.nan)
        self.closest_step = np.zeros(n, np.int64)
        self.curve = np.full((len(steps), n), np.nan)
        self.order = np.full(n, -1, np.int64)
        self.members = [np.empty(0, np.int64)] * n
        if self.basis.criterion is not None:
            self._search(self.basis.criterion.copy(), steps)
        (first, second, least), redundancy = self._most_redundant(terms)
        answers = Answers(
            score=self.score,
            closest_step=self.closest_step,
            closest_score=self.closest_score,
            curve=self.curve,
            order=self.order,
            members=self.members,
            most_redundant=first,
            next_redundant=second,
            most_synergistic=least,
            redundancy=redundancy,
        )
        return terms.relevance(), answers

    def _search(self, criterion: Criterion, steps: NDArray[np.int64]) -> None:
        """Record the score of every feature at each step, until it is selected."""
        best = self.basis.best
        shown = {int(step): row for row, step in enumerate(steps)}
        least_gap = np.full(self.block.n_columns, np.inf)
        criterion.start(self.block, self.basis.y)
        for step, (_, best_score) in enumerate(best):
            is_open = self.n_before >= step
            scores = np.where(is_open, criterion.scores(), np.nan)
            self.score[is_open] = scores[is_open]
            gap = best_score - scores
            is_closer = is_open & (gap < least_gap)
            least_gap[is_closer] = gap[is_closer]
            self.closest_step[is_closer] = step + 1
            self.closest_score[is_closer] = scores[is_closer]
            if step in shown:
                self.curve[shown[step]] = scores
            is_last = (self.n_before == step) | (is_open & (step == len(best) - 1))
            for position in np.flatnonzero(is_last):
                self._describe(int(position), criterion)
            if step < min(len(best) - 1, len(self.selected)):
                criterion.update(self.selected[step])

    def _describe(self, position: int, criterion: Criterion) -> None:
        details = criterion.describe(position)
        self.order[position] = details.get("order", -1)
        members = [self.basis.places[int(k)] for k in details.get("representative_set", ())]
        self.members[position] = np.array(members, np.int64)

    def _most_redundant(self, terms: BlockTerms) -> tuple[list[NDArray[np.int64]], Values]:
        """Return the features selected before each one with the largest redundancy and synergy."""
        n = self.block.n_columns
        first, second, least = (np.full(n, -1, np.int64) for _ in range(3))
        shared = np.full((3, n), np.nan)
        for place, column in enumerate(self.selected[:MAX_COMPARED]):
            value = terms.redundancy(Joint.of([column]))
            sign = np.where(place < self.n_before, np.sign(comparison_key(value)), 0.0)
            leads = (sign > 0) & ((first < 0) | (value > shared[0]))
            follows = (sign > 0) & ~leads & ((second < 0) | (value > shared[1]))
            second[leads], shared[1, leads] = first[leads], shared[0, leads]
            first[leads], shared[0, leads] = place, value[leads]
            second[follows], shared[1, follows] = place, value[follows]
            helps = (sign < 0) & ((least < 0) | (value < shared[2]))
            least[helps], shared[2, helps] = place, value[helps]
        return [first, second, least], shared

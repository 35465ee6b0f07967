"""The score per unit of cost, for columns that are not equally expensive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.criteria.searches import ONE_THREAD, Best, EagerSearch
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Values
from hocmim.threads import ThreadPool

if TYPE_CHECKING:
    from hocmim.criteria.base import Criterion

# Candidates that are scored together at first; then twice as many, and so on.
FIRST_CHUNK = 4


def per_cost(values: ArrayLike, costs: ArrayLike) -> Values:
    """Return scores, or their keys, per unit of cost: J / c, and J · c where J is not positive.

    A score of 0 or less says that a column adds nothing. Then a higher cost makes it worse, not
    better.
    """
    values, costs = np.asarray(values, np.float64), np.asarray(costs, np.float64)
    return np.where(values > 0, values / costs, values * costs)


class Bounded(NamedTuple):
    """The candidates of a block in one step, of which some are scored."""

    order: NDArray[np.intp]  # all columns, by their bounds, the largest first
    bounds: Values  # keys of the bounds per unit of cost, in the order of the columns
    keys: Values  # of the columns that are scored; −∞ for the others
    scores: Values  # NaN for the others


class PerCostSearch(EagerSearch):
    """Takes the candidate with the largest score per unit of cost; among equals the first.

    The score is rounded to 12 decimals before it is divided, so that the unit of the costs does not
    matter; scores are those of the criterion. If it bounds them, candidates are scored in
    the order of their bounds per unit of cost, until no bound reaches the best. ``costs`` are
    those of every column of the table.
    """

    def __init__(
        self, criteria: Sequence[Criterion], threads: ThreadPool = ONE_THREAD, *, costs: Values
    ) -> None:
        super().__init__(criteria, threads)
        self._bounded: dict[int, Bounded | None] = {}
        self._all_costs = costs
        self._costs: list[Values] = []  # of each block

    def start(self, blocks: Sequence[Codes], y: Column) -> Values:
        """Give every criterion its block; return the relevance of every column."""
        self._costs = [
            self._all_costs[block.start : block.start + block.n_columns] for block in blocks
        ]
        return super().start(blocks, y)

    def _forget_scores(self) -> None:
        super()._forget_scores()
        self._bounded = {}

    def _keys(self, block: int, scores: Values) -> Values:
        return per_cost(comparison_key(scores), self._costs[block])

    def _search(self, blocks: Sequence[int]) -> Iterable[Best | None]:
        """Search these blocks with every thread: some criteria do the work here."""
        return self.threads.map(self._search_block, blocks)

    def _search_block(self, block: int) -> Best | None:
        is_open = self.is_open[block]
        if not is_open.any():
            return None
        if block not in self._bounded:
            self._bounded[block] = self._bound(block)
        known = self._bounded[block]
        if known is None:
            return super()._search_block(block)
        n_at_a_time = FIRST_CHUNK
        waiting = known.order[is_open[known.order] & np.isnan(known.scores[known.order])]
        scored = is_open & ~np.isnan(known.scores)
        best = np.max(known.keys, where=scored, initial=-np.inf)
        while len(waiting) and known.bounds[waiting[0]] >= best:
            chunk, waiting = waiting[:n_at_a_time], waiting[n_at_a_time:]
            scores = self.criteria[block].scores_of(chunk)
            known.scores[chunk] = scores
            known.keys[chunk] = per_cost(comparison_key(scores), self._costs[block][chunk])
            best, n_at_a_time = max(best, known.keys[chunk].max()), 2 * n_at_a_time
        position = int(np.argmax(np.where(is_open, known.keys, -np.inf)))
        return Best(float(known.keys[position]), block, position, float(known.scores[position]))

    def _bound(self, block: int) -> Bounded | None:
        bounds = self.criteria[block].upper_bounds()
        if bounds is None:
            return None
        keys = self._keys(block, bounds)
        n = len(keys)
        order = np.argsort(-keys, kind="stable")
        return Bounded(order, keys, np.full(n, -np.inf), np.full(n, np.nan))

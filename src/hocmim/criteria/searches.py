"""How the best candidate is found among the blocks of a table, given a criterion on each.

``EagerSearch`` computes every score and takes the largest: all that a criterion's three methods
need. A criterion that can find its best candidate with less work names a search of its own in
its ``plan``. Every search gives the same candidates and scores to the last bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.errors import InvalidCriterionError
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import SharedColumn, Values
from hocmim.text import value_text
from hocmim.threads import ThreadPool

if TYPE_CHECKING:
    from hocmim.criteria.base import Criterion

# A shorter step ends before a second thread has started.
MIN_SECONDS_FOR_THREADS = 0.003
# What the first step is assumed to take, for each cell of the table: one term per column.
SECONDS_PER_CELL = 5e-9


class Best(NamedTuple):
    """The best candidate of a block, or of all: its comparison key, where it is, and its score."""

    key: float
    block: int
    position: int
    score: float


# Calls are made one after the other.
ONE_THREAD = ThreadPool(1)


class EagerSearch:
    """Computes the score of every candidate and takes the largest; among equals the first.

    Each block has a criterion of its own. The number of threads never changes a result.
    """

    def __init__(self, criteria: Sequence[Criterion], threads: ThreadPool = ONE_THREAD) -> None:
        self.criteria: Sequence[Criterion] = list(criteria)
        self.threads = threads
        # Which columns can be selected: not selected, and not set aside.
        self.is_open: list[NDArray[np.bool_]] = []
        # The scores of each block and their keys since the newest column was selected.
        self._scores: list[tuple[Values, Values] | None] = []
        # The best candidate of each block; a block without an entry has to be searched.
        self._best: dict[int, Best] = {}

    def start(self, blocks: Sequence[Codes], y: Column) -> Values:
        """Give every criterion its block; return the relevance of every column."""
        self.is_open = [np.ones(block.n_columns, bool) for block in blocks]
        self._forget_scores()
        target = SharedColumn.of(y)

        def start_block(criterion: Criterion, block: Codes, is_open: NDArray[np.bool_]) -> Values:
            return _checked(criterion, "start", criterion.start(block, target), is_open)

        parts = self.threads.map(start_block, self.criteria, blocks, self.is_open)
        return np.concatenate(list(parts))

    def update(self, newest: Column) -> None:
        """Give every criterion the newest selected column."""
        shared = SharedColumn.of(newest)
        list(self.threads.map(lambda criterion: criterion.update(shared), self.criteria))
        self._forget_scores()

    def _forget_scores(self) -> None:
        self._scores = [None] * len(self.criteria)
        self._best = {}

    def set_open(self, block: int, positions: Any, is_open: bool) -> None:
        """Take columns out of the candidates, or put them back."""
        self.is_open[block][positions] = is_open
        self._best.pop(block, None)

    def set_candidates(self, block: int, is_candidate: NDArray[np.bool_]) -> None:
        """Make exactly these columns of a block the candidates."""
        is_open = self.is_open[block]
        for positions, value in ((is_candidate & ~is_open, True), (is_open & ~is_candidate, False)):
            if positions.any():
                self.set_open(block, np.flatnonzero(positions), value)

    def best(self) -> Best | None:
        """Return the best candidate of all blocks; None if there is none."""
        blocks = [block for block in range(len(self.criteria)) if block not in self._best]
        for found in self._search(blocks):
            if found is not None:  # None may also mean: no candidate of the block can win now
                self._best[found.block] = found
        in_order = map(self._best.__getitem__, sorted(self._best))
        return max(in_order, key=itemgetter(0), default=None)

    def _search(self, blocks: Sequence[int]) -> Iterable[Best | None]:
        """Search these blocks. The work was done by ``update``, so no thread is worth its start."""
        return map(self._search_block, blocks)

    def _search_block(self, block: int) -> Best | None:
        """Return the best candidate of a block."""
        is_open = self.is_open[block]
        if not is_open.any():
            return None
        known = self._scores[block]
        if known is None:
            criterion = self.criteria[block]
            scores = _checked(criterion, "scores", criterion.scores(), is_open)
            known = self._scores[block] = scores, self._keys(block, scores)
        scores, keys = known
        position = int(np.argmax(np.where(is_open, keys, -np.inf)))
        return Best(float(keys[position]), block, position, float(scores[position]))

    def _keys(self, block: int, scores: Values) -> Values:
        """Return the keys by which the scores of a block are compared."""
        return comparison_key(scores)


def _checked(
    criterion: Criterion, method: str, returned: Any, is_open: NDArray[np.bool_]
) -> Values:
    """Return what a method returned; an error unless it is a finite number for each open column."""
    name = f"{type(criterion).__name__}.{method}()"
    must = f"{name} must return one number for each column of its block"
    try:
        values = np.asarray(returned, np.float64)
        what = f"one of shape {values.shape}"
    except (TypeError, ValueError):
        values, what = np.empty(0), value_text(returned)
    if returned is None or values.shape != is_open.shape:
        what = "None" if returned is None else what
        raise InvalidCriterionError(
            f"{must}: an array of shape {is_open.shape}. It returned {what}."
            + (" Call super().start(block, y) and return its result." if method == "start" else "")
        )
    is_bad = is_open & ~np.isfinite(values)
    if is_bad.any():
        position = int(is_bad.argmax())
        raise InvalidCriterionError(
            f"{must}, and it must be finite. It returned {values[position]} for number "
            f"{position} of {len(values)}."
        )
    return values


class RankingSearch(EagerSearch):
    """For criteria whose scores never change: every block is sorted once."""

    def __init__(self, criteria: Sequence[Criterion], threads: ThreadPool = ONE_THREAD) -> None:
        super().__init__(criteria, threads)
        # The best candidate of each block that is open; a block without an entry has to be asked.
        self._leaders: dict[int, Best | None] = {}
        self._ranked: dict[int, Ranked] = {}

    def start(self, blocks: Sequence[Codes], y: Column) -> Values:
        """Give every criterion its block; return the relevance of every column."""
        self._leaders, self._ranked = {}, {}
        return super().start(blocks, y)

    def update(self, newest: Column) -> None:
        """Give every criterion the newest selected column; no score changes."""
        for criterion in self.criteria:
            criterion.update(newest)

    def set_open(self, block: int, positions: Any, is_open: bool) -> None:
        """Take columns out of the candidates, or put them back."""
        super().set_open(block, positions, is_open)
        self._leaders.pop(block, None)
        if is_open and block in self._ranked:
            self._ranked[block].n_passed = 0

    def best(self) -> Best | None:
        """Return the best candidate of all blocks; None if there is none."""
        leader: Best | None = None
        for block in range(len(self.criteria)):
            if block not in self._leaders:
                self._leaders[block] = self._best_of(block)
            found = self._leaders[block]
            if found is not None and (leader is None or found.key > leader.key):
                leader = found
        return leader

    def _best_of(self, block: int) -> Best | None:
        if block not in self._ranked:
            criterion = self.criteria[block]
            scores = _checked(criterion, "scores", criterion.scores(), self.is_open[block])
            self._ranked[block] = Ranked(scores, comparison_key(scores))
        ranked, is_open = self._ranked[block], self.is_open[block]
        for place in range(ranked.n_passed, len(ranked.order)):
            position = ranked.order[place]
            if is_open[position]:
                ranked.n_passed = place
                key, score = float(ranked.keys[position]), float(ranked.scores[position])
                return Best(key, block, position, score)
        return None


class Ranked:
    """The candidates of a block from the best; the first ``n_passed`` are closed."""

    def __init__(self, scores: Values, keys: Values) -> None:
        self.scores, self.keys = scores, keys
        self.order = np.argsort(-keys, kind="stable").tolist()
        self.n_passed = 0


class LazySearch(EagerSearch):
    """For criteria whose ``update`` only takes note: the work is done when a score is needed.

    Threads take part once steps are long enough to be worth starting them.
    """

    def __init__(self, criteria: Sequence[Criterion], threads: ThreadPool = ONE_THREAD) -> None:
        super().__init__(criteria, threads)
        self._seconds = 0.0

    def start(self, blocks: Sequence[Codes], y: Column) -> Values:
        """Give every criterion its block; return the relevance of every column."""
        n_cells = sum(block.n_samples * block.n_columns for block in blocks)
        self._seconds = SECONDS_PER_CELL * n_cells
        return super().start(blocks, y)

    def update(self, newest: Column) -> None:
        """Give every criterion the newest selected column."""
        shared = SharedColumn.of(newest)
        for criterion in self.criteria:
            criterion.update(shared)
        self._forget_scores()

    @property
    def step_threads(self) -> ThreadPool:
        """The threads a step is worth."""
        return self.threads if self._seconds >= MIN_SECONDS_FOR_THREADS else ONE_THREAD

    def _search(self, blocks: Sequence[int]) -> Iterable[Best | None]:
        threads = self.step_threads if len(blocks) > 1 else ONE_THREAD
        began = time.perf_counter()
        found = list(threads.map(self._search_block, blocks))
        if len(blocks) == len(self.criteria):
            self._seconds = time.perf_counter() - began
        return found


class BestKey:
    """The largest key found in this step by any block: a candidate below it cannot be selected.

    Blocks on different threads share one. It saves work and never changes a result.
    """

    def __init__(self) -> None:
        self.key = -np.inf

    def raise_to(self, key: float) -> None:
        """Note that a candidate of this key was found (a lost race leaves a lower one)."""
        self.key = max(self.key, key)


@dataclass(frozen=True)
class SearchPlan:
    """How the best candidate of a criterion is found, and when threads are worth their start."""

    search: Callable[[Sequence[Any], ThreadPool], EagerSearch] = EagerSearch
    # More than one where some blocks may take much longer than others.
    blocks_per_thread: int = 1
    # Samples times columns below which a step ends before a second thread has started.
    min_cells_for_threads: int = 0


# Thread limits of criteria that count on bit planes, measured: one term per candidate in all, and
# one term per candidate and step.
FIRST_ORDER_PLAN = SearchPlan(RankingSearch, min_cells_for_threads=100_000_000)
SECOND_ORDER_PLAN = SearchPlan(min_cells_for_threads=4_000_000)

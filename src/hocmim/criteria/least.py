"""The smallest of many terms: scores that can only fall, so that few of them need computing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hocmim import _native
from hocmim._native import Term
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.searches import (
    ONE_THREAD,
    Best,
    BestKey,
    LazySearch,
    SearchPlan,
)
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Joint, Values, native_list
from hocmim.threads import ThreadPool

# Candidates that are given the same subset together: its cells are formed once for them.
CANDIDATES_PER_CHUNK = 32
# Samples that one call of the kernel counts at most, so that work can be stopped between calls.
SAMPLES_PER_CALL = 1 << 24
# With lazy evaluation of single columns a step takes less time than starting a thread.
LAZY_MIN_CELLS_FOR_THREADS = 100_000_000


class LeastTermSearch(LazySearch):
    """Evaluates lazily: the old score of a candidate bounds its new one.

    Blocks share the best key: a candidate whose bound is below the best exact score of any block is
    not evaluated.
    """

    criteria: Sequence[LeastTermCriterion]

    def __init__(
        self, criteria: Sequence[LeastTermCriterion], threads: ThreadPool = ONE_THREAD
    ) -> None:
        super().__init__(criteria, threads)
        self._best_key = BestKey()

    def _search(self, blocks: Sequence[int]) -> list[Best | None]:
        self._best_key.key = max((best.key for best in self._best.values()), default=-np.inf)
        return list(super()._search(blocks))

    def _search_block(self, block: int) -> Best | None:
        found = self.criteria[block].find_best(self.is_open[block], self._best_key)
        return None if found is None else Best(found[0], block, *found[1:])


class LeastTermCriterion(Criterion):
    """J(X) = min over T ⊆ S with |T| = size of a term of X and T; T = S while |S| < size.

    A new subset can only lower the score. So the score a candidate had before is a bound, and a
    candidate whose bound is below the best exact score is not evaluated: it remembers how many
    subsets it has met, and meets the others when its bound leads. The result, ties included, is the
    same as if every score were computed. ``with_relevance`` makes I(X;Y) one of the terms.
    """

    plan = SearchPlan(LeastTermSearch, blocks_per_thread=4)
    term: ClassVar[Term]  # of (X,T) and Y: conditional or joint

    def __init__(self, size: int, estimator: str, *, with_relevance: bool = False) -> None:
        super().__init__(estimator)
        self.size = size
        self.with_relevance = with_relevance

    def start(self, block: Codes, y: Column) -> Values:
        """Start from the relevance."""
        self.least = super().start(block, y).copy()
        self._selected = native_list([], block.n_samples)
        self._n_subsets = 0
        self._n_met = np.zeros(block.n_columns, np.int64)
        target = self.terms.y
        self._subsets = _native.LeastTerms(
            self.terms.columns,
            self._selected,
            self.size,
            target.cells,
            target.n_cells,
            self.term,
            self.terms.estimator,
        )
        self._by_planes = self.size == 1 and self._counts_on_planes(1)
        if self._by_planes:
            # Not those of self.terms: here one candidate and condition follows another.
            self._subsets.use_planes(self.terms.plane_terms(target))
        self._subsets.restart(self.least)
        return self.relevance

    def update(self, newest: Column) -> None:
        """Note the newest column. The terms of its subsets are computed when they are needed."""
        super().update(newest)
        self._selected.append(newest.codes, newest.arity)
        if self._by_planes:
            joint = Joint.of([newest])
            has_masks = self._counts_on_planes(joint.n_cells)
            self._subsets.append_masks(joint.masks if has_masks else None)
        n_selected = len(self.selected)
        self._n_subsets = comb(n_selected, self.size)
        if n_selected <= self.size:  # one subset, S: scores may rise
            everything = Joint.of(self.selected)
            is_joint = self.term == Term.joint
            self.least = (self.terms.joint if is_joint else self.terms.conditional)(everything)
            if self.with_relevance:
                self.least = np.minimum(self.relevance, self.least)
            self._n_met[:] = self._n_subsets
            self._subsets.restart(self.least)

    def _counts_on_planes(self, n_cells: int) -> bool:
        """Whether any candidate is counted on bit planes with a condition of so many cells."""
        n_masks = n_cells * self.terms.y.n_cells
        return bool(self.terms.pays_by_planes(n_masks, None).any())

    def scores(self) -> Values:
        """The exact score of every candidate."""
        self.scores_of(np.flatnonzero(self.is_candidate))
        return self.least

    def upper_bounds(self) -> Values | None:
        """See Criterion: the least term of the subsets met so far."""
        return self.least.copy() if self.selected else None

    def scores_of(self, positions: NDArray[np.intp]) -> Values:
        """The exact score of some candidates."""
        n_terms = 1
        while n_terms > 0:
            n_terms = self._subsets.evaluate(
                positions, self._n_met, self.least, -np.inf, self._terms_per_call
            )
            self.count_terms(n_terms)
        return self.least[positions]

    def find_best(
        self, is_open: NDArray[np.bool_], best: BestKey
    ) -> tuple[float, int, float] | None:
        """Return key, position and score of the best open candidate, with as few terms as possible.

        None if another block has a better one.
        """
        position = self._subsets.unfinished
        while position == self._subsets.unfinished:
            position, n_terms = self._subsets.best(
                is_open, self._n_met, self.least, best.key, self._chunk, self._terms_per_call
            )
            self.count_terms(n_terms)
        if position == self._subsets.none_found:
            return None
        score = float(self.least[position])
        key = float(comparison_key(score))
        best.raise_to(key)
        return key, position, score

    @property
    def _chunk(self) -> int:
        """How many candidates meet a subset together: one, where its cells are kept."""
        return 1 if self._by_planes and self.terms.planes.in_lanes else CANDIDATES_PER_CHUNK

    @property
    def _terms_per_call(self) -> int:
        return 1 + SAMPLES_PER_CALL // len(self.terms.y.cells)

    def n_terms(self, n_select: int) -> int:
        """Return about K choose size; lazy evaluation needs fewer."""
        return n_subset_terms(self.size, n_select)


# For criteria of size 1.
SINGLE_COLUMN_PLAN = SearchPlan(
    LeastTermSearch, blocks_per_thread=4, min_cells_for_threads=LAZY_MIN_CELLS_FOR_THREADS
)


# --- the subsets that hold the newest column ------------------------------------------------------


def subsets_with_newest(selected: Sequence[Column], size: int) -> Iterator[Joint]:
    """Yield each subset of that size with the latest of the columns, as one variable."""
    *earlier, newest = selected
    return _with_more(Joint.of([newest]), earlier, size - 1)


def _with_more(joint: Joint, columns: Sequence[Column], n_more: int) -> Iterator[Joint]:
    if n_more == 0:
        yield joint
        return
    for at, column in enumerate(columns):
        if at >= n_more - 1:
            yield from _with_more(joint.with_column(column), columns[:at], n_more - 1)


def n_subset_terms(size: int, n_select: int) -> int:
    """How many subsets a candidate meets until ``n_select`` columns are selected.

    The last column is never absorbed; fewer than ``size`` columns count as one subset.
    """
    n_absorbed = n_select - 1
    return min(n_absorbed, size - 1) + comb(n_absorbed, size)

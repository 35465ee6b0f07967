"""HOCMIM's search by bounds: only candidates that could be the best are followed.

What this module does saves time and never changes a bit. ``HOCMIM_BOUND=off`` in the environment
switches it off. docs/development/bounds.md has the proof.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Self

import numpy as np

import hocmim._native as _native
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.searches import ONE_THREAD, Best, LazySearch
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Joint, Values, native_list
from hocmim.threads import ThreadPool

if TYPE_CHECKING:
    from hocmim.criteria.hocmim import HOCMIMCriterion

# Work allowed for the proof that paths are bounded, for each sample and candidate: about what
# following every path takes.
PROOF_WORK_PER_CELL = 2_000


class SelectedCells:
    """The selected columns in order, and their cells: all columns as one variable.

    ``only_newest``: whether sets without the newest column are known to be separated.
    """

    def __init__(self, columns: tuple[Column, ...], cells: Joint, *, only_newest: bool) -> None:
        self.columns = columns
        self.cells = cells
        self._only_newest = only_newest
        self._answer: list[bool | None] = []
        self._search: _native.Separation | None = None
        self._lock = Lock()

    @classmethod
    def empty(cls, n_samples: int) -> Self:
        """No column is selected: all samples are in one cell."""
        return cls((), Joint(np.zeros(n_samples, np.uint32), 1), only_newest=False)

    def with_column(self, newest: Column) -> SelectedCells:
        """Return these columns and one more."""
        cells = self.cells.with_column(newest)
        # If the newest column splits no cell, sets without it stay separated.
        only_newest = cells.n_cells == self.cells.n_cells and self._answer == [True]
        return SelectedCells((*self.columns, newest), cells, only_newest=only_newest)

    def is_separated(self, size: int, most_work: int) -> bool | None:
        """Whether any ``size`` − 1 columns and one more, well chosen, have the cells of all.

        None if the proof takes more work than allowed. Threads that call this together share the
        work.
        """
        with self._lock:
            if self._answer:
                return self._answer[0]
            if self._search is None:
                native = native_list(self.columns, len(self.cells.cells))
                self._search = _native.Separation(native, size - 1, self._only_newest, most_work)
            search = self._search
        answer = search.holds()
        with self._lock:
            self._answer, self._search = [answer], None
        return answer


class BoundedSearch(LazySearch):
    """Follows the paths of candidates in the order of their bounds until no other can be better.

    The bound holds while |S| ≤ max_order. Beyond that it holds if the selected columns are
    separated (``SelectedCells.is_separated``). If it does not hold, every path is followed.

    Threads prove the bound and follow the first paths at the same time. If the proof fails, no work
    is lost: every path has to be followed then.
    """

    criteria: Sequence[HOCMIMCriterion]

    def __init__(
        self, criteria: Sequence[HOCMIMCriterion], threads: ThreadPool = ONE_THREAD
    ) -> None:
        super().__init__(criteria, threads)
        self._selected: SelectedCells | None = None  # None if no bound is looked for
        self._bounds: list[Values] | None = None  # on J, while no column splits a cell of S
        # A failed proof is tried again after 1, 2, 4 … more columns.
        self._next_try, self._pause = 1, 1
        self._is_first_of_step = True
        # Last levels are left unfinished once a score is below it.
        self._likely_best = np.inf

    def start(self, blocks: Sequence[Codes], y: Column) -> Values:
        """Give every criterion its block; return the relevance of every column."""
        can_bound = _native.bound_is_enabled() and self.criteria[0].can_be_bounded
        self._selected = SelectedCells.empty(len(y.codes)) if can_bound else None
        return super().start(blocks, y)

    def update(self, newest: Column) -> None:
        """Give every criterion the newest selected column."""
        super().update(newest)
        self._is_first_of_step = True
        if self._selected is not None:
            before, self._selected = self._selected, self._selected.with_column(newest)
            if self._selected.cells.n_cells > before.cells.n_cells:
                self._bounds = None

    def best(self) -> Best | None:
        """Return the best candidate of all blocks; None if there is none."""
        if self._selected is not None and len(self._selected.columns) >= self._next_try:
            began = time.perf_counter()
            search = self._bound_search(self._selected)
            if self._is_bounded(self._selected):
                block, position, score = search.best()
                if self._is_first_of_step:  # the runner-up takes less
                    self._seconds = time.perf_counter() - began
                self._is_first_of_step = False
                if block < 0:
                    return None
                return Best(float(comparison_key(score)), block, position, score)
            self._note_failed_proof(self._selected)
        return self._best_of_all_paths()

    def _best_of_all_paths(self) -> Best | None:
        """Update every path, but finish the last level only where the score could be the best."""
        if not _native.bound_is_enabled() or not self.criteria[0].selected:
            return super().best()
        began = time.perf_counter()
        threads = self.step_threads
        list(
            threads.map(lambda criterion: criterion.update_paths(self._likely_best), self.criteria)
        )
        search = _native.LastLevels([criterion.paths for criterion in self.criteria], self.is_open)
        list(threads.map(lambda _: search.work(), range(threads.n_threads)))
        block, position, score = search.best()
        if self._is_first_of_step:
            self._seconds = time.perf_counter() - began
        self._is_first_of_step = False
        if block < 0:
            return None
        found = Best(float(comparison_key(score)), block, position, score)
        self._likely_best = found.key  # of the runner-up, in the end
        return found

    def _bound_search(self, selected: SelectedCells) -> _native.BoundSearch:
        """Let the threads follow paths until the best candidate is known, or the proof fails."""
        threads = self.step_threads
        if self._bounds is None:
            bounds = threads.map(lambda criterion: criterion.bounds(selected.cells), self.criteria)
            self._bounds = list(bounds)
        n_best = 2 if self._is_first_of_step else 1  # the runner-up is asked for next
        search = _native.BoundSearch(
            [criterion.paths for criterion in self.criteria],
            self._bounds,
            self.is_open,
            n_best,
        )

        def take_part(thread: int) -> None:
            if thread > 0:
                search.work()
            if self._is_bounded(selected):
                search.work()

        list(threads.map(take_part, range(threads.n_threads)))
        return search

    def _is_bounded(self, selected: SelectedCells) -> bool | None:
        """Whether J(X; Z = S) bounds the J of paths that do not stop early; None if unknown."""
        # Of all columns that are not selected, also those that become candidates later.
        n_left = sum(int(criterion.is_candidate.sum()) for criterion in self.criteria)
        most_work = PROOF_WORK_PER_CELL * n_left * len(selected.cells.cells)
        return selected.is_separated(self.criteria[0].max_order, most_work)

    def _note_failed_proof(self, selected: SelectedCells) -> None:
        if self._is_bounded(selected) is None:  # more columns would take even more work
            self._selected = None
        else:
            self._next_try, self._pause = len(selected.columns) + self._pause, 2 * self._pause

"""The engine of one machine: threads over blocks of columns."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import joblib
import numpy as np

from hocmim.coding.codes import Codes, Column, column_digests, fingerprint
from hocmim.criteria.base import Best, Criterion, Floor
from hocmim.information.counting import Values

# A step of less is over before a second thread has begun, in much of it.
WORTH_THREADS_SECONDS = 0.003
# Columns a block, where the threads do not need smaller ones.
FEWEST_A_BLOCK = 16
# To begin with: a term a column.
SECONDS_A_CELL = 5e-9


class LocalEngine:
    """Owns the blocks of columns of one table and a criterion on each.

    Parameters
    ----------
    codes : Codes
    y : Column
    criterion : Criterion
        Copied for each block; itself never touched.
    n_jobs : int or None
        Threads; None or -1 for all cores. Never changes a result.
    block_size : int or None
        Columns a block; None lets the engine choose. Never changes a result.
    on_terms : callable, optional
        Called with how many terms were just computed, from any thread, many times a step.
    """

    def __init__(
        self,
        codes: Codes,
        y: Column,
        criterion: Criterion,
        *,
        n_jobs: int | None = None,
        block_size: int | None = None,
        on_terms: Callable[[int], None] | None = None,
    ) -> None:
        self.codes = codes
        self.y = y
        n_threads = joblib.cpu_count() if n_jobs is None else joblib.effective_n_jobs(n_jobs)
        if codes.n_samples * codes.n_columns < criterion.worth_threads:
            n_threads = 1
        if block_size is None:
            n_blocks = 1 if n_threads == 1 else criterion.blocks_per_thread * n_threads
            a_thread = -(-codes.n_columns // n_threads)
            block_size = max(-(-codes.n_columns // n_blocks), min(FEWEST_A_BLOCK, a_thread))
        self._starts = range(0, codes.n_columns, block_size)
        self._block_size = block_size
        self._criteria = [criterion.spawn() for _ in self._starts]
        # What each block found since the newest column was selected.
        self._bests: list[Best | None] = [None] * len(self._criteria)
        self._is_lazy = type(criterion).best is not Criterion.best
        # What the latest step took: whether threads pay depends on more than the table.
        self._seconds = SECONDS_A_CELL * codes.n_samples * codes.n_columns
        self._is_step_new = True
        self._floor = Floor()
        self._on_terms = on_terms
        self._is_left = False
        for spawned in self._criteria:
            spawned.floor, spawned.on_terms = self._floor, self._after_terms
        self._n_threads = min(n_threads, len(self._criteria))
        self._pool = ThreadPoolExecutor(self._n_threads) if self._n_threads > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_left = True
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _after_terms(self, n_terms: int) -> None:
        """End the work of threads whose result nobody waits for any more (Ctrl-C)."""
        if self._is_left:
            raise CancelledError
        if self._on_terms is not None:
            self._on_terms(n_terms)

    def _threads(self, are_worth_it: bool = True) -> Any:
        return self._pool if are_worth_it and self._pool is not None else _InTurn

    def fingerprint(self) -> str:
        """What tells this table and target from others."""
        blocks = [self.codes.block(at, at + self._block_size) for at in self._starts]
        digests = list(self._threads().map(column_digests, blocks))
        return fingerprint(np.concatenate(digests), self.y)

    def start(self) -> Values:
        """Hand every block to its criterion; return the relevance of every column."""
        blocks = [self.codes.block(at, at + self._block_size) for at in self._starts]
        start = self._threads().map(
            lambda criterion, block: criterion.start(block, self.y), self._criteria, blocks
        )
        return np.concatenate(list(start))

    def best(self) -> tuple[int, float] | None:
        """Return the column with the largest score, and its score; among equals the first."""
        if self._is_lazy and (winner := self._by_contest()) is not None:
            block, position, score = winner
            return (self._starts[block] + position, score) if block >= 0 else None
        known = [best.key for best in self._bests if best is not None]
        self._floor.key = max(known, default=-np.inf)
        waiting = [block for block, best in enumerate(self._bests) if best is None]
        # Reading off a maximum is over before a thread has begun; finding it lazily may not be.
        is_long = self._is_lazy and len(waiting) > 1 and self._seconds >= WORTH_THREADS_SECONDS
        threads = self._threads(is_long)
        began = time.perf_counter()
        found = list(threads.map(lambda block: self._criteria[block].best(), waiting))
        if len(waiting) == len(self._bests):
            self._seconds = time.perf_counter() - began
        for block, best in zip(waiting, found, strict=True):
            self._bests[block] = best
        bests = zip(self._bests, self._starts, strict=True)
        candidates = [(best, at) for best, at in bests if best is not None]
        if not candidates:
            return None
        best, at = max(candidates, key=lambda item: item[0].key)
        return at + best.position, best.score

    def _by_contest(self) -> tuple[int, int, float] | None:
        """What all blocks find together; None if the criterion leaves each to itself."""
        began = time.perf_counter()
        is_long = self._seconds >= WORTH_THREADS_SECONDS
        run = self._threads(is_long).map
        n_best = 2 if self._is_step_new else 1  # the runner-up is asked for next
        contest = type(self._criteria[0]).contest(self._criteria, run, n_best)
        if contest is None:
            return None
        n_threads = self._n_threads if is_long else 1
        for _ in run(lambda _: contest.work(), range(n_threads)):
            pass
        if (winner := contest.winner()) is None:
            return None
        if self._is_step_new:  # the runner-up is soon found
            self._seconds = time.perf_counter() - began
        self._is_step_new = False
        return winner

    def describe(self, index: int) -> dict[str, Any]:
        """What the criterion has to say of a column."""
        block, position = divmod(index, self._block_size)
        return self._criteria[block].describe(position)

    def set_aside(self, index: int) -> None:
        """Take a column out of the candidates."""
        block, position = divmod(index, self._block_size)
        self._criteria[block].open[position] = False
        self._bests[block] = None

    def select(self, index: int) -> None:
        """Take a column out of the candidates and absorb it as the newest selected."""
        self.set_aside(index)
        newest = self.codes.column(index)
        # A lazy criterion takes note, and leaves the work to ``best``.
        threads = self._threads(not self._is_lazy)
        list(threads.map(lambda criterion: criterion.update(newest), self._criteria))
        self._bests = [None] * len(self._criteria)
        self._is_step_new = True


class _InTurn:
    map = staticmethod(map)

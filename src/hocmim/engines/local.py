"""The engine of one machine: threads over blocks of columns."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import joblib
import numpy as np

from hocmim.codes import Codes, Column, column_digests, fingerprint
from hocmim.counting import Values
from hocmim.criteria.base import Best, Criterion, Floor


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
            block_size = -(
                -codes.n_columns
                // (1 if n_threads == 1 else criterion.blocks_per_thread * n_threads)
            )
        self._starts = range(0, codes.n_columns, block_size)
        self._block_size = block_size
        self._criteria = [criterion.spawn() for _ in self._starts]
        self._floor = Floor()
        self._on_terms = on_terms
        self._is_left = False
        for spawned in self._criteria:
            spawned.floor, spawned.on_terms = self._floor, self._after_terms
        n_threads = min(n_threads, len(self._criteria))
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

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

    def _map(self, function: Any, *arguments: Any) -> list[Any]:
        return list((self._pool or _InTurn).map(function, self._criteria, *arguments))

    def fingerprint(self) -> str:
        """What tells this table and target from others."""
        blocks = [self.codes.block(at, at + self._block_size) for at in self._starts]
        digests = list((self._pool or _InTurn).map(column_digests, blocks))
        return fingerprint(np.concatenate(digests), self.y)

    def start(self) -> Values:
        """Hand every block to its criterion; return the relevance of every column."""
        blocks = [self.codes.block(at, at + self._block_size) for at in self._starts]
        return np.concatenate(
            self._map(lambda criterion, block: criterion.start(block, self.y), blocks)
        )

    def best(self) -> tuple[int, float] | None:
        """Return the column with the largest score, and its score; among equals the first."""
        self._floor.key = -np.inf
        # Reading off a maximum is over before a thread has begun; finding it lazily may not be.
        is_lazy = type(self._criteria[0]).best is not Criterion.best
        bests: list[Best | None] = (
            self._map(lambda criterion: criterion.best())
            if is_lazy
            else [criterion.best() for criterion in self._criteria]
        )
        found = [(best, at) for best, at in zip(bests, self._starts, strict=True) if best]
        if not found:
            return None
        best, at = max(found, key=lambda item: item[0].key)
        return at + best.position, best.score

    def describe(self, index: int) -> dict[str, Any]:
        """What the criterion has to say of a column."""
        block, position = divmod(index, self._block_size)
        return self._criteria[block].describe(position)

    def set_aside(self, index: int) -> None:
        """Take a column out of the candidates."""
        block, position = divmod(index, self._block_size)
        self._criteria[block].open[position] = False

    def select(self, index: int) -> None:
        """Take a column out of the candidates and absorb it as the newest selected."""
        self.set_aside(index)
        newest = self.codes.column(index)
        self._map(lambda criterion: criterion.update(newest))


class _InTurn:
    map = staticmethod(map)

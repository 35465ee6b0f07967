"""The engine of one machine: threads over blocks of columns."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import joblib
import numpy as np

from hocmim.codes import Codes, Column
from hocmim.counting import Values
from hocmim.criteria.base import Best, Criterion

# More blocks than threads, so that a block with much to do does not keep the others waiting.
BLOCKS_PER_THREAD = 4


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
    """

    def __init__(
        self,
        codes: Codes,
        y: Column,
        criterion: Criterion,
        *,
        n_jobs: int | None = None,
        block_size: int | None = None,
    ) -> None:
        self.codes = codes
        self.y = y
        n_threads = joblib.cpu_count() if n_jobs is None else joblib.effective_n_jobs(n_jobs)
        if block_size is None:
            block_size = -(
                -codes.n_columns // (1 if n_threads == 1 else BLOCKS_PER_THREAD * n_threads)
            )
        self._starts = range(0, codes.n_columns, block_size)
        self._block_size = block_size
        self._criteria = [criterion.spawn() for _ in self._starts]
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
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _map(self, function: Any, *arguments: Any) -> list[Any]:
        return list((self._pool or _InTurn).map(function, self._criteria, *arguments))

    def start(self) -> Values:
        """Hand every block to its criterion; return the relevance of every column."""
        blocks = [self.codes.block(at, at + self._block_size) for at in self._starts]
        return np.concatenate(
            self._map(lambda criterion, block: criterion.start(block, self.y), blocks)
        )

    def best(self) -> tuple[int, float] | None:
        """Return the column with the largest score, and its score; among equals the first."""
        found: list[tuple[Best, int]] = [
            (best, start)
            for best, start in zip(self._map(Criterion.best), self._starts, strict=True)
            if best is not None
        ]
        if not found:
            return None
        best, start = max(found, key=lambda item: item[0].key)
        return start + best.position, best.score

    def describe(self, index: int) -> dict[str, Any]:
        """What the criterion has to say of a column."""
        block, position = divmod(index, self._block_size)
        return self._criteria[block].describe(position)

    def select(self, index: int) -> None:
        """Take a column out of the candidates and absorb it as the newest selected."""
        block, position = divmod(index, self._block_size)
        self._criteria[block].open[position] = False
        newest = self.codes.column(index)
        self._map(lambda criterion: criterion.update(newest))


class _InTurn:
    map = staticmethod(map)

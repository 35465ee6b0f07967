"""The engine of one machine: threads over blocks of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Self

import numpy as np

from hocmim.coding.codes import Codes, Column, column_digests, fingerprint
from hocmim.criteria.base import Criterion
from hocmim.criteria.searches import ONE_THREAD
from hocmim.information.counting import Values
from hocmim.threads import ThreadPool, resolve_n_jobs, stopped_by

# Columns in a block, unless the threads need smaller blocks.
MIN_COLUMNS_PER_BLOCK = 16


class LocalEngine(AbstractContextManager["LocalEngine"]):
    """Owns the blocks of columns of one table and a search over them.

    The criterion is copied for each block. Neither ``n_jobs`` nor ``block_size``, the columns in a
    block, changes a result. ``on_terms`` is called with how many terms were just computed (0 in the
    middle of a long computation), from any thread, many times a step. It may raise to stop.
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
        plan = criterion.plan
        n_threads = 1
        if codes.n_samples * codes.n_columns >= plan.min_cells_for_threads:
            n_threads = resolve_n_jobs(n_jobs)
        if block_size is None:
            n_blocks = 1 if n_threads == 1 else plan.blocks_per_thread * n_threads
            per_thread = -(-codes.n_columns // n_threads)
            least = min(MIN_COLUMNS_PER_BLOCK, per_thread)
            block_size = max(-(-codes.n_columns // n_blocks), least)
        self._block_size = block_size
        self._blocks = [codes]
        if block_size < codes.n_columns:
            starts = range(0, codes.n_columns, block_size)
            self._blocks = [codes.block(at, at + block_size) for at in starts]
        n_threads = min(n_threads, len(self._blocks))
        pool = None
        if n_threads > 1 or on_terms is not None:
            pool = ThreadPool(n_threads, None if on_terms is None else partial(on_terms, 0))

        # No method: the criteria would refer to the engine, and it to them. Then codes and bit
        # planes would stay in memory until the garbage collector finds them.
        def after_terms(n_terms: int) -> None:
            """Count terms; stop threads whose result is not needed any more, after Ctrl-C."""
            assert pool is not None
            pool.raise_if_stopped()
            if on_terms is not None:
                on_terms(n_terms)

        criteria = [criterion.copy(None if pool is None else after_terms) for _ in self._blocks]
        self._pool, self._threads = pool, pool or ONE_THREAD
        self._stopped_by = nullcontext() if pool is None else stopped_by(pool.check)
        self.search = plan.search(criteria, self._threads)
        # Columns that are no candidates: selected, set aside or closed.
        self._is_closed = np.zeros(codes.n_columns, bool)

    def __enter__(self) -> Self:
        self._stopped_by.__enter__()  # until the search ends
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped_by.__exit__(None, None, None)
        if self._pool is not None:
            self._pool.stop()

    def fingerprint(self) -> str:
        """Return what tells this table and target from others."""
        digests = list(self._threads.map(column_digests, self._blocks))
        return fingerprint(np.concatenate(digests), self.y)

    def start(self) -> Values:
        """Start the criterion on every block; return the relevance of every column."""
        self._is_closed[:] = False
        return self.search.start(self._blocks, self.y)

    def best(self) -> tuple[int, float] | None:
        """Return the column with the largest score, and its score; among equals the first."""
        found = self.search.best()
        if found is None:
            return None
        return found.block * self._block_size + found.position, found.score

    def describe(self, index: int) -> dict[str, Any]:
        """Return what the criterion says about a column."""
        block, position = divmod(index, self._block_size)
        return self.search.criteria[block].describe(position)

    def set_aside(self, index: int) -> None:
        """Take a column out of the candidates."""
        block, position = divmod(index, self._block_size)
        self._is_closed[index] = True
        self.search.set_open(block, position, False)

    def restrict(self, indices: Sequence[int] | None) -> None:
        """Make these columns the only candidates for now; None lifts the restriction."""
        is_candidate = np.ones(self.codes.n_columns, bool)
        if indices is not None:
            is_candidate[:] = False
            is_candidate[list(indices)] = True
        is_candidate &= ~self._is_closed
        for block, at in enumerate(range(0, len(is_candidate), self._block_size)):
            self.search.set_candidates(block, is_candidate[at : at + self._block_size])

    def reopen(self, indices: Iterable[int]) -> None:
        """Make columns that were set aside candidates again."""
        for index in indices:
            block, position = divmod(index, self._block_size)
            self._is_closed[index] = False
            self.search.set_open(block, position, True)

    def select(self, index: int) -> None:
        """Take a column out of the candidates and make it the newest selected column."""
        self.set_aside(index)
        self.search.update(self.codes.column(index))

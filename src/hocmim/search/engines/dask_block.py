"""The part of the Dask engine that runs on the workers: blocks of columns and their search."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np
import psutil
from dask.sizeof import sizeof
from distributed import get_worker
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column, column_digests
from hocmim.coding.store import plane_bytes
from hocmim.criteria.base import Criterion
from hocmim.criteria.search import ONE_THREAD, EagerSearch
from hocmim.information.counting import Values
from hocmim.threads import stopped_by


class Candidates(NamedTuple):
    """Which columns of the table can be selected: not those aside; if given, only some."""

    aside: tuple[int, ...]
    only: tuple[int, ...] | None = None

    def within(self, codes: Codes) -> NDArray[np.bool_]:
        """Return which columns of a block are candidates."""
        is_candidate = np.ones(codes.n_columns, bool)
        if self.only is not None:
            is_candidate[:] = False
            is_candidate[_places(self.only, codes)] = True
        is_candidate[_places(self.aside, codes)] = False
        return is_candidate


def _places(indices: tuple[int, ...], codes: Codes) -> NDArray[np.int64]:
    """Return the positions of those columns that are in a block."""
    positions = np.array(indices, np.int64) - codes.start
    return positions[(positions >= 0) & (positions < codes.n_columns)]


class Leader(NamedTuple):
    """One of the best candidates of a block."""

    key: float
    column: int
    score: float
    details: dict[str, Any]


class Report(NamedTuple):
    """The result of a step on one block.

    ``relevance`` is that of its columns if the search was started, otherwise None.
    """

    leaders: list[Leader]
    n_terms: int = 0
    relevance: Values | None = None


class CurrentTask:
    """Reports terms to the task that works on a block; the criterion keeps it for all steps.

    Not the block itself: it holds the criterion, and objects that refer to each other stay in
    memory until the garbage collector finds them.
    """

    on_terms: Callable[[int], None] | None = None

    def __call__(self, n_terms: int) -> None:
        """Count terms."""
        if self.on_terms is not None:
            self.on_terms(n_terms)


class Block:
    """Some columns of the table on a worker, and the state of the search on them.

    Only the codes are pickled. A block that was moved, copied or spilled has no search state.
    """

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self._search: EagerSearch | None = None
        self._n_selected = 0
        # The columns that were closed in the last step, by their positions.
        self._closed = np.empty(0, np.int64)
        self._task = CurrentTask()
        self._lock = Lock()
        _all_blocks.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self.codes,)

    def start(
        self,
        criterion: Criterion,
        y: Column,
        selected: Sequence[Column],
        candidates: Candidates,
        on_terms: Callable[[int], None] | None = None,
    ) -> Report:
        """Start the search and score the candidates given all these columns."""
        with self._lock:
            self._search, self._task.on_terms = None, on_terms
            search = criterion.plan.search([criterion.copy(self._task)], ONE_THREAD)
            relevance = search.start([_without_planes_if_memory_is_short(self.codes)], y)
            return self._score(search, selected, 0, candidates)._replace(relevance=relevance)

    def advance(
        self,
        newest: Column | None,
        n_selected: int,
        candidates: Candidates,
        on_terms: Callable[[int], None] | None = None,
    ) -> Report | None:
        """Score the candidates given one more column; None without the state of the last step."""
        with self._lock:
            is_newest_missing = self._n_selected == n_selected - 1
            if self._search is None or not (is_newest_missing or self._n_selected == n_selected):
                return None
            # An error in the middle of a step leaves a state that must not be used again.
            search, self._search = self._search, None
            self._task.on_terms = on_terms
            columns = [newest] if newest is not None and is_newest_missing else []
            return self._score(search, columns, self._n_selected, candidates)

    def forget_search(self) -> None:
        """Drop the state of the search: the next step has to start it again."""
        with self._lock:
            self._search = None

    def _score(
        self, search: EagerSearch, newest: Sequence[Column], n_selected: int, candidates: Candidates
    ) -> Report:
        search.set_candidates(0, candidates.within(self.codes))
        for column in newest:
            search.update(column)
        leaders = self._leaders(search)
        self._search, self._n_selected = search, n_selected + len(newest)
        return Report(leaders)

    def _leaders(self, search: EagerSearch) -> list[Leader]:
        """Return the two best candidates: one block may have the winner and the runner-up."""
        leaders: list[Leader] = []
        while len(leaders) < 2 and (found := search.best()) is not None:
            details = search.describe(0, found.position)
            index = self.codes.start + found.position
            leaders.append(Leader(found.key, index, found.score, details))
            search.set_open(0, found.position, False)
        search.set_open(0, [leader.column - self.codes.start for leader in leaders], True)
        return leaders


class _Blocks:
    """The blocks of this process.

    A worker in a thread of the program that is closed before its tasks are released, as when the
    scheduler is lost, is kept by Dask until the interpreter ends, and so are the blocks on it.
    Their objects of the kernels have to go before: nanobind reports what is left then.
    """

    def __init__(self) -> None:
        self._blocks: WeakSet[Block] = WeakSet()
        self._lock = Lock()
        self.is_ending = False

    def add(self, block: Block) -> None:
        """Remember a block as long as it exists."""
        with self._lock:
            self._blocks.add(block)

    def end(self) -> None:
        """Stop the steps that run, and drop the state of all searches."""
        self.is_ending = True
        with self._lock:
            blocks = list(self._blocks)
        for block in blocks:
            block.forget_search()


_all_blocks = _Blocks()
atexit.register(_all_blocks.end)


# Dask uses these sizes to decide where to move and when to spill values.
sizeof.register(Column, lambda column: column.codes.nbytes)
sizeof.register(Codes, lambda codes: codes.nbytes)
sizeof.register(Block, lambda block: block.codes.nbytes)


class TermCounter:
    """Counts the terms of a task, and ends the task if it was cancelled."""

    def __init__(self) -> None:
        self.n_terms = 0
        worker = get_worker()
        self._task = worker.state.tasks[worker.get_current_task()]

    def __call__(self, n_terms: int) -> None:
        """Add to the count."""
        self.n_terms += n_terms
        self.raise_if_cancelled()

    def raise_if_cancelled(self) -> None:
        """Raise CancelledError if the task was cancelled, or if the interpreter ends."""
        if _all_blocks.is_ending or self._task.state == "cancelled":
            raise CancelledError


def _without_planes_if_memory_is_short(codes: Codes) -> Codes:
    """Allow bit planes only if half of the memory of this worker stays free."""
    try:
        limit = get_worker().memory_manager.memory_limit
    except ValueError:  # not on a worker
        return codes
    used = psutil.Process().memory_info().rss + plane_bytes(codes.arity, codes.n_samples)
    return codes if not limit or used <= limit / 2 else replace(codes, planes=False)


def start_block(
    block: Block, criterion: Criterion, y: Column, selected: list[Column], candidates: Candidates
) -> Report:
    """Run ``Block.start`` as a task."""
    counter = TermCounter()
    with stopped_by(counter.raise_if_cancelled):
        report = block.start(criterion, y, selected, candidates, counter)
    return report._replace(n_terms=counter.n_terms)


def advance_block(
    block: Block, newest: Column | None, n_selected: int, candidates: Candidates
) -> Report | None:
    """Run ``Block.advance`` as a task."""
    counter = TermCounter()
    with stopped_by(counter.raise_if_cancelled):
        report = block.advance(newest, n_selected, candidates, counter)
    return report and report._replace(n_terms=counter.n_terms)


def copy_column(block: Block, index: int) -> Column:
    """Return a copy of a column of a block."""
    column = block.codes.column(index - block.codes.start)
    return Column(column.codes.copy(), column.arity, column.index)


def digest_columns(block: Block) -> NDArray[np.uint8]:
    """Return a digest of each column of a block."""
    return column_digests(block.codes)

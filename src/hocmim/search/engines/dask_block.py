"""The part of the Dask engine that runs on the workers: the search on a block of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.dask_codes import Block, all_blocks, fits_memory
from hocmim.coding.store import plane_bytes
from hocmim.criteria.base import Criterion
from hocmim.criteria.searches import ONE_THREAD, EagerSearch
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


class BlockReport(NamedTuple):
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

    def __init__(self, on_terms: Callable[[int], None] | None) -> None:
        self.on_terms = on_terms

    def __call__(self, n_terms: int) -> None:
        """Count terms."""
        if self.on_terms is not None:
            self.on_terms(n_terms)


@dataclass
class BlockSearch:
    """The state of the search on a block: ``Block.search``."""

    search: EagerSearch
    task: CurrentTask
    n_selected: int = 0


def start_search(
    block: Block,
    criterion: Criterion,
    y: Column,
    selected: Sequence[Column],
    candidates: Candidates,
    on_terms: Callable[[int], None] | None = None,
) -> BlockReport:
    """Start the search on a block and score the candidates given all these columns."""
    with block.lock:
        block.search = None
        task = CurrentTask(on_terms)
        search = criterion.plan.search([criterion.copy(task)], ONE_THREAD)
        codes = block.codes
        has_room = fits_memory(plane_bytes(codes.arity, codes.n_samples))
        relevance = search.start([replace(codes, can_have_planes=has_room)], y)
        report = _score(block, BlockSearch(search, task), selected, candidates)
        return report._replace(relevance=relevance)


def advance_search(
    block: Block,
    newest: Column | None,
    n_selected: int,
    candidates: Candidates,
    on_terms: Callable[[int], None] | None = None,
) -> BlockReport | None:
    """Score the candidates given one more column; None without the state of the last step."""
    with block.lock:
        state: BlockSearch | None = block.search
        if state is None or state.n_selected not in (n_selected - 1, n_selected):
            return None
        block.search = None  # an error in the middle of a step leaves a state that is not used
        state.task.on_terms = on_terms
        is_behind = state.n_selected == n_selected - 1
        columns = [newest] if newest is not None and is_behind else []
        return _score(block, state, columns, candidates)


def _score(
    block: Block, state: BlockSearch, newest: Sequence[Column], candidates: Candidates
) -> BlockReport:
    state.search.set_candidates(0, candidates.within(block.codes))
    for column in newest:
        state.search.update(column)
    leaders = _leaders(state.search, block.codes.start)
    state.n_selected += len(newest)
    block.search = state
    return BlockReport(leaders)


def _leaders(search: EagerSearch, start: int) -> list[Leader]:
    """Return the two best candidates: one block may have the winner and the runner-up."""
    leaders: list[Leader] = []
    while len(leaders) < 2 and (found := search.best()) is not None:
        details = search.criteria[0].describe(found.position)
        leaders.append(Leader(found.key, start + found.position, found.score, details))
        search.set_open(0, found.position, False)
    search.set_open(0, [leader.column - start for leader in leaders], True)
    return leaders


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
        if all_blocks.is_ending or self._task.state == "cancelled":
            raise CancelledError


def start_block(
    block: Block, criterion: Criterion, y: Column, selected: list[Column], candidates: Candidates
) -> BlockReport:
    """Run ``start_search`` as a task."""
    counter = TermCounter()
    with stopped_by(counter.raise_if_cancelled):
        report = start_search(block, criterion, y, selected, candidates, counter)
    return report._replace(n_terms=counter.n_terms)


def advance_block(
    block: Block, newest: Column | None, n_selected: int, candidates: Candidates
) -> BlockReport | None:
    """Run ``advance_search`` as a task."""
    counter = TermCounter()
    with stopped_by(counter.raise_if_cancelled):
        report = advance_search(block, newest, n_selected, candidates, counter)
    return report and report._replace(n_terms=counter.n_terms)

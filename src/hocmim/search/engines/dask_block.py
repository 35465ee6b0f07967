"""The part of the Dask engine that runs on the workers: the search on a block of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.dask_codes import Block, current_task, fits_memory, raise_if_cancelled
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


class TaskTerms:
    """Counts the terms of the task that works on a block, and ends a task that was cancelled.

    The criterion keeps it for all steps. It does not refer to the block, which holds the criterion:
    objects that refer to each other stay in memory until the garbage collector finds them.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Begin to count for the present task."""
        self.n_terms, self._task = 0, current_task()

    def __call__(self, n_terms: int) -> None:
        """Count terms."""
        self.n_terms += n_terms
        raise_if_cancelled(self._task)

    def check(self) -> None:
        """Raise CancelledError if the task was cancelled: for ``stopped_by``."""
        raise_if_cancelled(self._task)


@dataclass
class BlockSearch:
    """The state of the search on a block: ``Block.search``."""

    search: EagerSearch
    terms: TaskTerms
    n_selected: int = 0


def start_block(
    block: Block,
    criterion: Criterion,
    y: Column,
    selected: Sequence[Column],
    candidates: Candidates,
) -> BlockReport:
    """Start the search on a block and score the candidates given all these columns."""
    terms = TaskTerms()
    with block.lock, stopped_by(terms.check):
        block.search = None
        search = criterion.plan.search([criterion.copy(terms)], ONE_THREAD)
        codes = block.codes
        has_room = fits_memory(plane_bytes(codes.arity, codes.n_samples))
        relevance = search.start([replace(codes, can_have_planes=has_room)], y)
        report = _score(block, BlockSearch(search, terms), selected, candidates)
        return report._replace(relevance=relevance)


def advance_block(
    block: Block,
    newest: Column | None,
    n_selected: int,
    candidates: Candidates,
) -> BlockReport | None:
    """Score the candidates given one more column; None without the state of the last step."""
    with block.lock:
        state: BlockSearch | None = block.search
        if state is None or state.n_selected not in (n_selected - 1, n_selected):
            return None
        block.search = None  # an error in the middle of a step leaves a state that is not used
        state.terms.begin()
        is_behind = state.n_selected == n_selected - 1
        columns = [newest] if newest is not None and is_behind else []
        with stopped_by(state.terms.check):
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
    return BlockReport(leaders, state.terms.n_terms)


def _leaders(search: EagerSearch, start: int) -> list[Leader]:
    """Return the two best candidates: one block may have the winner and the runner-up."""
    leaders: list[Leader] = []
    while len(leaders) < 2 and (found := search.best()) is not None:
        details = search.criteria[0].describe(found.position)
        leaders.append(Leader(found.key, start + found.position, found.score, details))
        search.set_open(0, found.position, False)
    search.set_open(0, [leader.column - start for leader in leaders], True)
    return leaders

"""The engine of a Dask cluster: a search over blocks of columns on its workers.

A block is a value on one worker. Its search state is a function of the codes and of the columns
selected so far, so that it need not be saved: a block that was moved or lost starts again and
absorbs the selected columns. The loss of a worker costs time and does not change the result. A step
is one task for each block: the newest column goes to the workers, the two best candidates of each
block come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any

import numpy as np

from hocmim.coding.codes import Column, fingerprint
from hocmim.coding.dask_codes import DaskCodes
from hocmim.criteria.base import Criterion
from hocmim.information.counting import Values
from hocmim.search.engines.dask_block import (
    BlockReport,
    Candidates,
    Leader,
    advance_block,
    start_block,
)


class DaskEngine(AbstractContextManager["DaskEngine"]):
    """A criterion on blocks of columns on the workers of a Dask cluster.

    ``on_terms`` is called with the number of terms of each step.
    """

    def __init__(
        self,
        codes: DaskCodes,
        y: Column,
        criterion: Criterion,
        *,
        on_terms: Callable[[int], None] | None = None,
    ) -> None:
        self.codes = codes
        self.y = y
        self._criterion = criterion.copy()
        self._on_terms = on_terms
        self._selected: list[int] = []
        self._aside: set[int] = set()
        self._only: tuple[int, ...] | None = None  # the only candidates for now
        # Keys of the blocks whose search was started; a block that was moved has lost its state.
        self._started: set[str] = set()
        # The best candidates of each block given all selected columns; None if not computed yet.
        self._leaders: list[list[Leader]] | None = None

    def __exit__(self, *error: object) -> None:
        """Do nothing: the cluster releases everything on its workers."""

    def fingerprint(self) -> str:
        """Return the fingerprint of the codes and the target."""
        return fingerprint(self.codes.digests(), self.y)

    def start(self) -> Values:
        """Start the criterion on every block; return the relevance of every column."""
        self._started.clear()
        parts = [report.relevance for report in self._update()]
        return np.concatenate([part for part in parts if part is not None])

    def best(self) -> tuple[int, float] | None:
        """Return the column with the largest score, and its score; among equals the first."""
        if self._leaders is None or any(map(self._is_exhausted, self._leaders)):
            self._update()
        leaders = [leader for leader in self._all_leaders() if leader.column not in self._aside]
        if not leaders:
            return None
        best = max(leaders, key=lambda leader: (leader.key, -leader.column))
        return best.column, best.score

    def _all_leaders(self) -> Iterator[Leader]:
        return chain.from_iterable(self._leaders or ())

    def _is_exhausted(self, leaders: list[Leader]) -> bool:
        """Whether a block may have candidates beyond the two it returned, which are set aside."""
        return len(leaders) == 2 and all(leader.column in self._aside for leader in leaders)

    def describe(self, index: int) -> dict[str, Any]:
        """Return the details of a column that ``best`` returned."""
        return next(leader.details for leader in self._all_leaders() if leader.column == index)

    def set_aside(self, index: int) -> None:
        """Take a column out of the candidates."""
        self._aside.add(index)

    def restrict(self, indices: Sequence[int] | None) -> None:
        """Make these columns the only candidates for now; None lifts the restriction."""
        self._only = None if indices is None else tuple(indices)
        self._leaders = None

    def reopen(self, indices: Iterable[int]) -> None:
        """Make columns that were set aside candidates again."""
        self._aside -= set(indices)
        self._leaders = None

    def select(self, index: int) -> None:
        """Take a column out of the candidates and make it the newest selected column."""
        self.set_aside(index)
        self._selected.append(index)
        self._leaders = None

    def _update(self) -> list[BlockReport]:
        """Update every block with the selected columns; store and return the results."""
        reports = self.codes.cluster.reliably(self._update_blocks)
        if self._on_terms is not None:
            self._on_terms(sum(report.n_terms for report in reports))
        self._leaders = [report.leaders for report in reports]
        return reports

    def _update_blocks(self) -> list[BlockReport]:
        codes, candidates = self.codes, Candidates(tuple(sorted(self._aside)), self._only)
        keys = [block.key for block in codes.present()]
        reports: dict[int, BlockReport | None] = dict.fromkeys(range(len(keys)))
        started = [number for number, key in enumerate(keys) if key in self._started]
        if started:
            newest = codes.newest(self._selected[-1]) if self._selected else None
            found = codes.run(
                advance_block, newest, len(self._selected), candidates, numbers=started
            )
            reports.update(zip(started, found, strict=True))
        behind = [number for number, report in reports.items() if report is None]
        if behind:
            workers = [codes.layout.workers[number] for number in behind]
            [y] = codes.cluster.scatter([self.y], workers)
            selected = codes.several(self._selected, workers)
            found = codes.run(start_block, self._criterion, y, selected, candidates, numbers=behind)
            reports.update(zip(behind, found, strict=True))
            self._started.update(keys[number] for number in behind)
        return [report for report in reports.values() if report is not None]

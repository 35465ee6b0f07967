"""Forward selection: the one greedy loop.

First the column with the largest score given nothing (its relevance), then, while fewer than K are
selected and no rule says to stop, the column with the largest score given those selected. Scores
are compared after rounding to 12 decimals; among equals the lowest column index wins.

Columns to keep come first: they are the only candidates until all of them are selected. So the
criterion gives them an order and a score, and everything after them is selected given them.

A rule may set a candidate aside and have the next best tried. Candidates that were set aside come
back in the next step: given one more column they may add something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

import numpy as np

from hocmim.information.counting import Values
from hocmim.search.selection import Failure, Selection, Step, Stopping
from hocmim.search.spending import Spending


class Engine(Protocol):
    """What the search asks of an engine."""

    def fingerprint(self) -> str:
        """What tells this table and target from others; the same on every engine.

        Asked for before ``start``, and only for a checkpoint.
        """

    def start(self) -> Values:
        """Return the relevance of every column."""

    def best(self) -> tuple[int, float] | None:
        """Return the best candidate and its score."""

    def describe(self, index: int) -> dict[str, Any]:
        """What the criterion has to say of a column."""

    def set_aside(self, index: int) -> None:
        """Take a column out of the candidates."""

    def close(self, indices: Iterable[int]) -> None:
        """Take several columns out of the candidates; asked for after ``start``."""

    def restrict(self, indices: Sequence[int] | None) -> None:
        """Make these columns the only candidates for now, but not those set aside or closed.

        None lifts the restriction.
        """

    def reopen(self, indices: Iterable[int]) -> None:
        """Make columns that were set aside candidates again."""

    def select(self, index: int) -> None:
        """Absorb a column as the newest selected."""


class Verdict(Enum):
    """What a rule says about the best candidate."""

    SELECT = "select it"
    TRY_NEXT = "set it aside and try the next best"
    STOP = "end the search"


class Rule(Protocol):
    """What the search asks of a stopping rule."""

    def __call__(self, steps: Sequence[Step], best: Step) -> Verdict:
        """Judge the best candidate, given the steps so far."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The candidates of this step that were set aside, the best first."""

    def end(self) -> None:
        """Note that all candidates of this step were set aside, or that there were none."""


def forward_search(
    engine: Engine,
    n_select: int,
    *,
    stop: Rule | None = None,
    on_step: Callable[[int, Step], None] | None = None,
    taken: Sequence[Step] = (),
    keep: Sequence[int] = (),
    closed: Sequence[int] = (),
    spending: Spending | None = None,
) -> Selection:
    """Select ``n_select`` columns one after the other, or fewer if a rule says to stop.

    Parameters
    ----------
    engine : Engine
    n_select : int
        At least the number of columns to keep.
    stop : Rule, optional
        Called as ``stop(steps, step)`` with the steps taken and the best one next; its verdict is
        to select it, to try the next best, or to end the search before it. Not called for columns
        to keep.
    on_step : callable, optional
        Called as ``on_step(number, step)`` after each selection, ``number`` counting from 1.
    taken : sequence of Step
        Steps of the same search that were taken before: they are shown to the engine, whose state
        depends on nothing else, and not searched for again.
    keep : sequence of int
        Columns that are selected first.
    closed : sequence of int
        Columns that are never selected.
    spending : Spending, optional
        The search ends when no candidate can be paid for. That the score counts per unit of cost is
        up to the criterion of the engine.
    """
    relevance = engine.start()
    steps = list(taken[:n_select])
    stopping = None
    candidates = _Candidates(engine, keep, closed, spending)
    with _ending_at_interruption(steps):
        if len(steps) < n_select:
            for done in steps:
                engine.select(done.index)
        while len(steps) < n_select:
            candidates.open(steps)
            is_kept = len(steps) < len(keep)
            step = _best(engine) if is_kept else _best_accepted(engine, steps, stop)
            if step is None:
                stopping = candidates.why_none(steps)
                break
            engine.set_aside(step.index)
            step = Step(step.index, step.score, step.details, _best(engine), is_kept, step.failures)
            if step.failures:
                engine.reopen(failure.index for failure in step.failures)
            steps.append(step)
            if on_step is not None:
                on_step(len(steps), step)
            if len(steps) < n_select:
                engine.select(step.index)
    return Selection(tuple(steps), relevance, stopping, closed=tuple(closed), spending=spending)


class _Candidates:
    """Which columns an engine may select, step by step."""

    def __init__(
        self,
        engine: Engine,
        keep: Sequence[int],
        closed: Sequence[int],
        spending: Spending | None,
    ) -> None:
        self._engine, self._keep, self._spending = engine, keep, spending
        self._only: Sequence[int] | None = None
        if closed:
            engine.close(closed)

    def open(self, steps: Sequence[Step]) -> None:
        """Restrict the engine to the candidates of the next step."""
        if len(steps) < len(self._keep):
            self._restrict(self._keep)
            return
        only = None
        if self._spending is not None:
            is_affordable = self._spending.is_affordable([step.index for step in steps])
            if not is_affordable.all():
                only = np.flatnonzero(is_affordable).tolist()
        self._restrict(only)

    def why_none(self, steps: Sequence[Step]) -> Stopping | None:
        """Return the best of the columns that cost too much; None if all are selected."""
        if self._only is None:
            return None
        self._restrict(None)
        best = _best(self._engine)
        if best is None:
            return None
        return Stopping("over budget", best.index, best.score, np.nan, np.empty(0, np.int64))

    def _restrict(self, only: Sequence[int] | None) -> None:
        if only != self._only:
            self._engine.restrict(only)
            self._only = only


@dataclass
class Interruption:
    """Whether Ctrl-C ended a search."""

    happened: bool = False


_INTERRUPTION: ContextVar[Interruption | None] = ContextVar("interruption", default=None)


@contextmanager
def keep_selected_so_far() -> Iterator[Interruption]:
    """Within it Ctrl-C ends a search as a stopping rule would, with what is selected so far.

    Before anything is selected it is a KeyboardInterrupt as ever.
    """
    interruption = Interruption()
    token = _INTERRUPTION.set(interruption)
    try:
        yield interruption
    finally:
        _INTERRUPTION.reset(token)


@contextmanager
def no_partial_results() -> Iterator[None]:
    """Within it Ctrl-C is a KeyboardInterrupt: a search whose result must be complete."""
    token = _INTERRUPTION.set(None)
    try:
        yield
    finally:
        _INTERRUPTION.reset(token)


@contextmanager
def _ending_at_interruption(steps: Sequence[Step]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        interruption = _INTERRUPTION.get()
        if interruption is None or not steps:
            raise
        interruption.happened = True


def _best_accepted(engine: Engine, steps: Sequence[Step], rule: Rule | None) -> Step | None:
    """Return the best candidate that the rule accepts; None if the search ends."""
    while (step := _best(engine)) is not None:
        verdict = Verdict.SELECT if rule is None else rule(steps, step)
        if verdict is Verdict.SELECT:
            failures = () if rule is None else rule.failures
            return replace(step, failures=failures) if failures else step
        if verdict is Verdict.STOP:
            return None
        engine.set_aside(step.index)
    if rule is not None:
        rule.end()
    return None


def _best(engine: Engine) -> Step | None:
    found = engine.best()
    if found is None:
        return None
    index, score = found
    return Step(index, score, engine.describe(index))

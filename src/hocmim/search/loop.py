"""Forward selection: the one greedy loop.

First the column with the largest score given nothing (its relevance), then, while fewer than K are
selected and no rule says to stop, the column with the largest score given those selected. Scores
are compared after rounding to 12 decimals; among equals the lowest column index wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from hocmim.information.counting import Values
from hocmim.search.selection import Selection, Step


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

    def select(self, index: int) -> None:
        """Absorb a column as the newest selected."""


def forward_search(
    engine: Engine,
    n_select: int,
    *,
    stop: Callable[[Sequence[Step], Step], bool] | None = None,
    on_step: Callable[[int, Step], None] | None = None,
    taken: Sequence[Step] = (),
) -> Selection:
    """Select ``n_select`` columns one after the other, or fewer if a rule says to stop.

    Parameters
    ----------
    engine : Engine
    n_select : int
    stop : callable, optional
        Called as ``stop(steps, step)`` with the steps taken and the best one next; the search ends
        before that one if it returns True.
    on_step : callable, optional
        Called as ``on_step(number, step)`` after each selection, ``number`` counting from 1.
    taken : sequence of Step
        Steps of the same search that were taken before: they are shown to the engine, whose state
        depends on nothing else, and not searched for again.
    """
    relevance = engine.start()
    steps = list(taken[:n_select])
    with _ending_at_interruption(steps):
        if len(steps) < n_select:
            for done in steps:
                engine.select(done.index)
        while len(steps) < n_select:
            step = _best(engine)
            if step is None:
                break
            if stop is not None and stop(steps, step):
                break
            engine.set_aside(step.index)
            step = Step(step.index, step.score, step.details, _best(engine))
            steps.append(step)
            if on_step is not None:
                on_step(len(steps), step)
            if len(steps) < n_select:
                engine.select(step.index)
    return Selection(tuple(steps), relevance)


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
def _ending_at_interruption(steps: Sequence[Step]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        interruption = _INTERRUPTION.get()
        if interruption is None or not steps:
            raise
        interruption.happened = True


def _best(engine: Engine) -> Step | None:
    found = engine.best()
    if found is None:
        return None
    index, score = found
    return Step(index, score, engine.describe(index))

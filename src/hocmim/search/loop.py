"""Forward selection: the one greedy loop.

First the column with the largest score given nothing (its relevance), then, while fewer than K are
selected and no rule says to stop, the column with the largest score given those selected. Scores
are compared after rounding to 12 decimals; among equals the lowest column index wins.

Columns to keep come first: they are the only candidates until all of them are selected. So the
criterion gives them an order and a score, and everything after them is selected given them.

A rule may look at several candidates of a step, the best first, and choose one of them. The others
come back in the next step: given one more column they may add something.

Pairs and triples of columns may be candidates too (``search.joint_candidates``): if one wins, its
columns are selected one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hocmim.criteria.cost import per_cost
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Values
from hocmim.search.constraints import Constraints
from hocmim.search.joint_candidates import BestSet, JointCandidates
from hocmim.search.selection import Selection, Step, Stopping

if TYPE_CHECKING:
    from hocmim.search.engines.dask import DaskEngine
    from hocmim.search.engines.local import LocalEngine
    from hocmim.search.stopping import StoppingRule


def forward_search(
    engine: LocalEngine | DaskEngine,
    n_select: int,
    *,
    stop: StoppingRule | None = None,
    on_step: Callable[[int, Step], None] | None = None,
    earlier: Sequence[Step] = (),
    constraints: Constraints | None = None,
    joint: JointCandidates | None = None,
) -> Selection:
    """Select ``n_select`` columns one after the other, or fewer if a rule says to stop.

    Columns to keep are selected first, without asking ``stop``; closed ones never. With a budget
    the search ends when no candidate can be paid for; that the score counts per unit of cost is up
    to the criterion. ``on_step(number, step)`` is called after each selection, ``number`` counting
    from 1. ``earlier`` are steps of the same search that were made before: they are shown to the
    engine, whose state depends on nothing else, and not searched for again. ``joint`` are pairs
    and triples of columns that are candidates. After Ctrl-C Interrupted is raised with the
    selection so far, if something is selected.
    """
    relevance = engine.start()
    given = Constraints(len(relevance)) if constraints is None else constraints
    steps = continued(earlier, n_select) if earlier else []
    stopping = None
    candidates = _Candidates(engine, n_select, given, joint, relevance)

    def selection() -> Selection:
        return Selection(
            tuple(steps),
            relevance,
            stopping,
            excluded=given.excluded,
            identifiers=given.identifiers,
            constants=given.constants,
            spending=given.spending,
        )

    try:
        if len(steps) < n_select:
            for done in steps:
                candidates.select(done)
        while len(steps) < n_select:
            new = candidates.still_joining(steps)
            if not new:
                candidates.open(steps)
                is_kept = len(steps) < len(given.keep)
                step = candidates.best_accepted(steps, None if is_kept else stop, is_kept)
                if step is None:
                    stopping = candidates.why_none()
                    break
                new = candidates.with_members(step, steps)
            for step in new:
                steps.append(step)
                if on_step is not None:
                    on_step(len(steps), step)
                if len(steps) < n_select:
                    candidates.select(step)
    except KeyboardInterrupt as error:
        if not steps or isinstance(error, Interrupted):
            raise
        raise Interrupted(selection()) from error
    return selection()


def continued(earlier: Sequence[Step], n_select: int) -> list[Step]:
    """Return the first of the earlier steps that are steps of a search for ``n_select`` too.

    Not those from which on a pair lacked room that it may have now, and not a part of a pair that
    there is no room for.
    """
    steps = list(earlier[:n_select])
    if len(steps) < n_select:
        without_room = [number for number, step in enumerate(steps) if step.lacked_room]
        steps = steps[: without_room[0]] if without_room else steps
    last = steps[-1].interaction if steps else ()
    if len(set(last) - {step.index for step in steps}) > n_select - len(steps):
        while steps and steps[-1].interaction == last:
            steps.pop()
    return steps


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a search; ``selection`` has what was selected so far."""

    def __init__(self, selection: Selection) -> None:
        super().__init__()
        self.selection = selection


class _Candidates:
    """What may be selected, step by step: columns of an engine, and sets of columns."""

    def __init__(
        self,
        engine: LocalEngine | DaskEngine,
        n_select: int,
        constraints: Constraints,
        joint: JointCandidates | None,
        relevance: Values,
    ) -> None:
        self._engine, self._n_select, self._joint = engine, n_select, joint or None
        self._keep, self._closed = constraints.keep, constraints.closed
        self._spending = constraints.spending
        self._only: Sequence[int] | None = None
        for index in self._closed:
            engine.set_aside(index)
        if self._joint is not None:
            self._joint.start(relevance, self._closed)

    def select(self, step: Step) -> None:
        """Show a selected column to the engine and to the sets of columns."""
        self._engine.select(step.index)
        if self._joint is not None:
            self._joint.select(step.index)

    def still_joining(self, steps: Sequence[Step]) -> list[Step]:
        """Return the steps of the set whose first members were selected before an interruption."""
        if self._joint is None or not steps or not steps[-1].interaction:
            return []
        rest = self._joint.missing(steps[-1].interaction)
        return [replace(steps[-1], index=j, runner_up=None, failures=()) for j in rest]

    def with_members(self, step: Step, steps: Sequence[Step]) -> list[Step]:
        """Return the steps of a column, or of the columns of a set: the runner-up is a column."""
        members: tuple[int, ...] = (step.index,)
        if self._joint is not None:
            if step.interaction:
                members = self._joint.missing(step.interaction)
            self._joint.reopen()
            room = self._n_select - len(steps)
            step = replace(step, lacked_room=self._joint.lacks_room(room))
        for member in members:
            self._engine.set_aside(member)
        failed = [failure.index for failure in step.failures if not failure.interaction]
        first = replace(step, runner_up=_best(self._engine), is_kept=len(steps) < len(self._keep))
        if failed:
            self._engine.reopen(failed)
        rest = [replace(step, index=j, failures=()) for j in members[1:]]
        return [first, *rest]

    def best_accepted(
        self, steps: Sequence[Step], rule: StoppingRule | None, only_columns: bool
    ) -> Step | None:
        """Return the candidate that the rule chooses; None if the search ends."""
        judged: list[tuple[Step, BestSet | None]] = []
        while (found := self._best(steps, only_columns)) is not None:
            if rule is None:
                return found[0]
            judged.append(found)
            if not rule(steps, found[0]):
                break
            self._set_aside(*found)
        choice = None if rule is None else rule.choose()
        if choice is None:
            return None
        place, failures = choice
        after = [step.index for step, best_set in judged[place + 1 :] if best_set is None]
        if after:
            self._engine.reopen(after)
        step, _ = judged[place]
        return replace(step, failures=failures) if failures else step

    def _set_aside(self, step: Step, best_set: BestSet | None) -> None:
        """Take a candidate out for the rest of the step."""
        if best_set is None or self._joint is None:
            self._engine.set_aside(step.index)
        else:
            self._joint.set_aside(best_set.number)

    def _best(
        self, steps: Sequence[Step], only_columns: bool
    ) -> tuple[Step, BestSet | None] | None:
        """Return the best candidate: a column, or the first member of a set."""
        step = _best(self._engine)
        if self._joint is not None and not only_columns:
            best = self._joint.best(self._n_select - len(steps))
            if best is not None and (step is None or best.merit > self._merit(step)):
                details = self._joint.describe(best.number)
                return Step(best.missing[0], best.score, details, interaction=best.members), best
        return None if step is None else (step, None)

    def _merit(self, step: Step) -> float:
        """Return what a column is compared by."""
        key = comparison_key(step.score)
        if self._spending is not None:
            key = per_cost(key, self._spending.costs[step.index])
        return float(key)

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

    def why_none(self) -> Stopping | None:
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


def _best(engine: LocalEngine | DaskEngine) -> Step | None:
    found = engine.best()
    if found is None:
        return None
    index, score = found
    return Step(index, score, engine.describe(index))

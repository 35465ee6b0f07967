"""What a finished search is: one public record, in feature indices.

explain, report, compare, checkpoint and the command line read it. A *feature* is a column, or a
group of columns that is selected as one; ``Features`` translates between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.information.counting import Values
from hocmim.search.constraints import Constraints, Spending
from hocmim.search.discovery import ErrorControl


@dataclass(frozen=True)
class Interaction:
    """Two or three features that tell about the target what none of them tells alone.

    Attributes
    ----------
    members : tuple of int
        In ascending order.
    g : float
        The statistic: see ``hocmim.search.interactions``.
    df : int
        Its degrees of freedom.
    p_value : float
    adjusted_p_value : float
        Multiplied by the number of tests of pairs, or of triples.
    synergy : float
        G / 2N: what they tell together beyond what they tell alone, in nats.
    information : float
        I(members;Y): what they tell together, in nats (Miller–Madow).
    """

    members: tuple[int, ...]
    g: float
    df: int
    p_value: float
    adjusted_p_value: float
    synergy: float
    information: float


@dataclass(frozen=True)
class Failure:
    """A candidate that led in a step and was set aside, because it failed its test."""

    index: int
    score: float
    p_value: float  # corrected for the number of candidates
    interaction: tuple[int, ...] = ()  # the features of a pair or triple that failed


@dataclass(frozen=True)
class Step:
    """One selected feature: its index, its score, and what the criterion adds to it.

    Attributes
    ----------
    index : int
    score : float
        When it was selected.
    details : dict
        What ``Criterion.describe`` said of it then: ``order`` and ``representative_set`` for the
        criteria that have them.
    runner_up : Step or None
        The second best candidate of the same step.
    is_kept : bool
        Whether it was selected because it is in ``keep``: only such features were candidates.
    failures : tuple of Failure
        The candidates with a larger score that failed their test in this step.
    interaction : tuple of int
        If it was selected as a member of a pair or triple: all features of that. Then the score is
        that of the pair for each feature that joined with it, and the details are of the pair.
    lacked_room : bool
        Whether a pair or triple was no candidate, because fewer features were to be selected than
        it would have added. With a larger number this step may be another.
    """

    index: int
    score: float
    details: dict[str, Any]
    runner_up: Step | None = None
    is_kept: bool = False
    failures: tuple[Failure, ...] = ()
    interaction: tuple[int, ...] = ()
    lacked_room: bool = False

    @property
    def order(self) -> int:
        """The size of the representative set; −1 if the criterion has none."""
        return int(self.details.get("order", -1))

    @property
    def representative_set(self) -> NDArray[np.int64]:
        """The representative set, as feature indices; empty if the criterion has none."""
        return np.asarray(self.details.get("representative_set", ()), np.int64)


@dataclass(frozen=True)
class Stopping:
    """Why a selection ended before the number of features asked for was reached.

    Attributes
    ----------
    reason : {"not significant", "over budget"}
    index : int
        The best candidate of the step at which it ended; for "over budget", the best of those that
        cost more than what is left.
    score : float
    p_value : float
        Corrected for the number of candidates; NaN if it was not tested.
    given : ndarray of int64
        The features Z of the null hypothesis X ⟂ Y | Z.
    failures : tuple of Failure
        The other candidates that failed their test in this step, the best first.
    interaction : tuple of int
        If the best candidate is a pair or triple: all its features.
    """

    reason: str
    index: int
    score: float
    p_value: float
    given: NDArray[np.int64]
    failures: tuple[Failure, ...] = ()
    interaction: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Selection:
    """A finished selection, in feature indices.

    Attributes
    ----------
    steps : tuple of Step
        The selected features in the order of selection.
    relevance : ndarray of float64
        I(X;Y) of every feature; NaN if the method does not compute it.
    stopping : Stopping or None
        Why the selection ended early.
    p_values : ndarray of float64 or None
        Of each selected feature, with a stopping test; NaN for those in ``keep``.
    error_control : ErrorControl or None
        The error rate that the tests keep, with a stopping test.
    excluded : tuple of int
        The features that could not be selected, because they are in ``exclude``.
    identifiers : tuple of int
        The features that could not be selected, because they identify the rows.
    spending : Spending or None
        The cost of every feature, and the budget.
    interactions : tuple of Interaction
        The pairs and triples that the screen kept, selected or not.
    notes : tuple of str
        What the screen left out, and why; a sentence each.
    constants : tuple of int
        The features that could not be selected, because they have one level.
    """

    steps: tuple[Step, ...]
    relevance: Values
    stopping: Stopping | None = None
    p_values: Values | None = None
    error_control: ErrorControl | None = None
    excluded: tuple[int, ...] = ()
    identifiers: tuple[int, ...] = ()
    spending: Spending | None = None
    interactions: tuple[Interaction, ...] = ()
    notes: tuple[str, ...] = ()
    constants: tuple[int, ...] = ()

    @property
    def closed(self) -> tuple[int, ...]:
        """The features that could not be selected."""
        return tuple(sorted({*self.excluded, *self.identifiers, *self.constants}))

    @property
    def indices(self) -> NDArray[np.int64]:
        """The selected features in the order of selection."""
        return np.array([step.index for step in self.steps], np.int64)

    @property
    def scores(self) -> Values:
        """The score of each selected feature when it was selected."""
        return np.array([step.score for step in self.steps], np.float64)

    @property
    def is_kept(self) -> NDArray[np.bool_]:
        """Whether each selected feature was selected because it is in ``keep``."""
        return np.array([step.is_kept for step in self.steps], bool)

    @property
    def n_kept(self) -> int:
        """How many features were selected because they are in ``keep``: the first ones."""
        return int(self.is_kept.sum())

    @property
    def costs(self) -> Values | None:
        """The cost of each selected feature; None without costs."""
        return None if self.spending is None else self.spending.costs[self.indices]

    @property
    def constraints(self) -> Constraints:
        """What had to be selected, and what could not be."""
        keep = tuple(step.index for step in self.steps if step.is_kept)
        closed = self.excluded, self.identifiers
        return Constraints(len(self.relevance), keep, *closed, self.spending, self.constants)

    @property
    def has_representative_sets(self) -> bool:
        """Whether the criterion has representative sets."""
        return any("representative_set" in step.details for step in self.steps)

    @property
    def best(self) -> list[tuple[int, float]]:
        """The best candidate of each step and its score, the one the search ended before last."""
        best = [(step.index, step.score) for step in self.steps]
        if self.stopping is not None:
            best.append((self.stopping.index, self.stopping.score))
        return best

    def to_json(self) -> str:
        """Return the selection as text, to be stored; ``from_json`` restores it to the last bit."""
        from hocmim.search.saved_selection import selection_to_json  # imports this module

        return selection_to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Selection:
        """Return the selection that ``to_json`` wrote; InvalidFileError if it was changed."""
        from hocmim.search.saved_selection import selection_from_json

        return selection_from_json(text)

    def __len__(self) -> int:
        return len(self.steps)

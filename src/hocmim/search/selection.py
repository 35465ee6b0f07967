"""What a finished search is: one public record, in feature indices.

explain, report, compare, checkpoint and the command line read it. A *feature* is a column, or a
group of columns that is selected as one; ``Features`` translates between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim import html
from hocmim.information.counting import Values


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
    """

    index: int
    score: float
    details: dict[str, Any]
    runner_up: Step | None = None

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
    reason : {"not significant", "below min_gain"}
    index : int
        The best candidate of the step at which it ended.
    score : float
    p_value : float
        Corrected for the number of candidates; NaN if it was not tested.
    given : ndarray of int64
        The features Z of the null hypothesis X ⟂ Y | Z.
    """

    reason: str
    index: int
    score: float
    p_value: float
    given: NDArray[np.int64]


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
        Of each selected feature, with ``n_features_to_select="auto"``.
    """

    steps: tuple[Step, ...]
    relevance: Values
    stopping: Stopping | None = None
    p_values: Values | None = None

    @property
    def indices(self) -> NDArray[np.int64]:
        """The selected features in the order of selection."""
        return np.array([step.index for step in self.steps], np.int64)

    @property
    def scores(self) -> Values:
        """The score of each selected feature when it was selected."""
        return np.array([step.score for step in self.steps], np.float64)

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

    def __len__(self) -> int:
        return len(self.steps)

    def _repr_html_(self) -> str:
        """Return the steps as a table, for notebooks."""
        titles = ["rank", "feature (index)", "relevance", "score"]
        rows: list[list[Any]] = [
            [rank, step.index, float(self.relevance[step.index]), step.score]
            for rank, step in enumerate(self.steps, 1)
        ]
        if self.has_representative_sets:
            titles += ["order", "representative set"]
            for row, step in zip(rows, self.steps, strict=True):
                row += [step.order, ", ".join(map(str, step.representative_set.tolist()))]
        note = ""
        if self.stopping is not None:
            note = f"Stopped before feature {self.stopping.index}: {self.stopping.reason}."
        return html.table(titles, rows, f"{len(self)} selected features", note)

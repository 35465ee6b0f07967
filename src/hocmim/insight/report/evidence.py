"""The numbers of a report: the selection, and for every feature why it was selected or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.information.counting import Joint, Values
from hocmim.insight.basis import Basis
from hocmim.insight.reasons import Attempt, Overlap, Sentence, why, why_ranked, why_redundant
from hocmim.insight.report.answers import Answers, OnProgress, explain_all
from hocmim.insight.report.cumulative import Cumulative, cumulative_information

# The map of redundancy shows this many selected features at most, the first ones.
MAX_MAPPED = 60


@dataclass(frozen=True, eq=False)
class Evidence:
    """All numbers of a report. Arrays have one element a feature unless stated otherwise.

    Attributes
    ----------
    selector : estimator
    basis : Basis
        The selection and the codes of all features.
    relevance : ndarray of float64
    ranking : ndarray of int64
    answers : Answers
    redundancy : ndarray of float64
        Of each pair of the first selected features.
    cumulative : Cumulative
    target_entropy : float
        H(Y), plug-in estimate.
    n_classes : int
        Of the target, or of the first of several.
    r2 : float or None
        The adjusted R² of the selected features, for a target that is a quantity.
    """

    selector: Any
    basis: Basis
    relevance: Values
    ranking: NDArray[np.int64]
    answers: Answers
    redundancy: Values
    cumulative: Cumulative
    target_entropy: float
    n_classes: int
    r2: float | None = None

    @property
    def n_features(self) -> int:
        """How many features there are; a group of columns counts as one."""
        return len(self.relevance)

    @property
    def n_samples(self) -> int:
        """How many rows there are; a row of weight w counts w times."""
        return self.basis.n_samples

    @property
    def selected(self) -> NDArray[np.int64]:
        """The selected features, in the order of selection."""
        return self.basis.selection.indices

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.basis.method

    @property
    def is_search(self) -> bool:
        """Whether features were selected one after the other, by a criterion."""
        return self.basis.criterion is not None

    @property
    def is_in_nats(self) -> bool:
        """Whether the scores are information, in nats."""
        criterion = self.basis.criterion
        return criterion is not None and criterion.unit == "nats"

    def name(self, k: int) -> str:
        """Return the name of feature k, or ``column j``."""
        names = self.basis.features.names
        return f"column {self.basis.features.first[k]}" if names is None else str(names[k])

    def column_name(self, j: int) -> str:
        """Return the name of column j, or ``column j``."""
        names = self.basis.features.column_names
        return f"column {j}" if names is None else str(names[j])

    def overlap(self, k: int) -> Overlap | None:
        """Return the selected feature that repeats most of feature k, if there is one."""
        place = int(self.answers.most_redundant[k])
        if place < 0:
            return None
        return Overlap(int(self.selected[place]), float(self.answers.redundancy[0, k]))

    def reasons(self, k: int) -> list[Sentence]:
        """Say why feature k was selected or not, in the sentences of ``explain``."""
        relevance, overlap = float(self.relevance[k]), self.overlap(k)
        answers = self.answers
        if self.is_search:
            step = int(answers.closest_step[k])
            closest = Attempt(step, float(answers.closest_score[k])) if step else None
            return list(why(self.basis, k, relevance, closest, overlap))
        ranked = why_ranked(self.basis, k, int(self.ranking[k]), float(answers.score[k]))
        if k in self.basis.places:
            return list(ranked)
        return [*ranked, *why_redundant(relevance, overlap)]


def gather(
    selector: Any,
    basis: Basis,
    *,
    max_seconds: float | None = None,
    on_progress: OnProgress | None = None,
) -> Evidence:
    """Collect the numbers of a report.

    Parameters
    ----------
    selector : selector
        Fitted.
    basis : Basis
        With the codes of all features: ``selector.basis(X, y)``.
    max_seconds, on_progress
        See ``explain_all``.
    """
    n_jobs = getattr(selector, "n_jobs", None)
    relevance, answers = explain_all(
        basis, max_seconds=max_seconds, n_jobs=n_jobs, on_progress=on_progress
    )
    if basis.criterion is None:
        answers.score[:] = _ranking_scores(selector)
    targets = [one.column for one in basis.averaged]
    return Evidence(
        selector=selector,
        basis=basis,
        relevance=relevance,
        ranking=selector.ranking_[basis.features.first],
        answers=answers,
        redundancy=basis.redundancy_matrix(MAX_MAPPED),
        cumulative=cumulative_information(basis.selected_columns, *targets),
        target_entropy=basis.target_entropy,
        n_classes=Joint.of([basis.y]).n_cells,
        r2=basis.explained_variance(basis.selected_columns),
    )


def _ranking_scores(selector: Any) -> Values:
    """Return the score of every column, from a selector that ranks without a search."""
    for attribute in ("feature_scores_", "frequencies_"):
        if hasattr(selector, attribute):
            return np.asarray(getattr(selector, attribute), np.float64)
    scores = np.full(selector.n_features_in_, np.nan)
    scores[selector.selected_] = selector.scores_
    return scores

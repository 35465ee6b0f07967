"""The sentences that explain a selection: why a feature was selected, or why it was not.

``explain`` prints them and the report page shows them. A sentence is a template and its arguments,
so that the page can set names apart and send each template once; numbers in it are formatted here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hocmim.information.comparison import comparison_key
from hocmim.insight.basis import Basis
from hocmim.search.selection import Stopping
from hocmim.text import percent, quote

# A feature is called redundant if a selected one repeats at least this share of its relevance.
REDUNDANT_SHARE = 0.5

SELECTED = "{} selected {} as number {} of {}: its score, {}, was the largest."
RUNNER_UP = "The next candidate was {} with {}."
TIED = (
    "{} did not select {}: in step {} its score was equal to that of {}, {}, which comes first in "
    "the table."
)
NOT_LARGEST = (
    "{} did not select {}: its score was never the largest. It came closest in step {}, with {} "
    "against {} for {}."
)
NOT_SIGNIFICANT = (
    "{} did not select {}: it was the best candidate of step {}, but it adds nothing significant "
    "(p = {}), so the selection stopped."
)
BELOW_MIN_GAIN = (
    "{} did not select {}: it was the best candidate of step {}, but its score is below min_gain, "
    "so the selection stopped."
)
NOT_SCORED = (
    "{} did not select {}: its score was never the largest. Its score at each step is not on this "
    "page: call selector.explain, or run hocmim explain."
)
SELECTED_BY_RANK = "{} selected {} as number {} of {}; its score is {}."
RANKED = "{} did not select {}: it ranks {} of {}."
RANKED_WITH_SCORE = "{} did not select {}: it ranks {} of {}, with a score of {}."
NOT_SELECTED = "{} did not select {}."
LAST_SELECTED = "The last selected feature, {}, has a score of {}."
REPEATED = "{} repeats {} of its information about the target."
# Filled in twice: with a place for each member of the set, then with its arguments.
MINIMUM = (
    "Given {}, which make it most redundant, it adds {{}} nats; given one selected feature, {{}} "
    "on average."
)
LIFTED = "Chance alone can move the first value by {}, so the score is that value plus {}."
NOT_LIFTED = "Chance cannot move the first value here, so it is the score."
NOT_RELEVANT = "On its own it carries no information about the target."


class FeatureIndex(int):
    """An argument of a sentence that stands for the name of a feature."""


@dataclass(frozen=True)
class Sentence:
    """A template and what fills its places: text, or features shown by their names."""

    template: str
    arguments: tuple[str | FeatureIndex, ...]

    def text(self, basis: Basis) -> str:
        """Return the sentence, with names in quotes."""
        return self.template.format(
            *(
                quote(basis.name(argument)) if isinstance(argument, FeatureIndex) else argument
                for argument in self.arguments
            )
        )


@dataclass(frozen=True)
class Attempt:
    """The step in which a feature that was not selected came closest; its score in that step.

    ``details`` is what the criterion said about it then.
    """

    step: int
    score: float
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Overlap:
    """How much of the relevance of a feature the selected feature ``by`` repeats, in nats."""

    by: int
    redundancy: float


def why(
    basis: Basis, k: int, relevance: float, closest: Attempt | None, overlap: Overlap | None
) -> Iterator[Sentence]:
    """Say why feature k was selected or not by a search.

    Parameters
    ----------
    basis : Basis
    k : int
    relevance : float
        I(X;Y) of the feature.
    closest : Attempt or None
        Where it came closest, for a feature that was not selected; None if it was not scored.
    overlap : Overlap or None
        The selected feature that repeats most of it, if there is one.
    """
    selection = basis.selection
    if k in basis.places:
        yield from _why_selected(basis, k, basis.places[k])
        return
    if selection.stopping is not None and selection.stopping.index == k:
        yield _why_stopped(basis, k, selection.stopping)
    elif closest is not None:
        yield _why_not(basis, k, closest)
        yield from what_the_score_is(closest.details)
    else:
        yield Sentence(NOT_SCORED, (basis.method, FeatureIndex(k)))
    yield from why_redundant(relevance, overlap)


def _why_selected(basis: Basis, k: int, place: int) -> Iterator[Sentence]:
    step = basis.selection.steps[place]
    n_selected = f"{len(basis.selection)}"
    yield Sentence(
        SELECTED, (basis.method, FeatureIndex(k), f"{place + 1}", n_selected, f"{step.score:.4f}")
    )
    if step.runner_up is not None:
        runner_up = step.runner_up
        yield Sentence(RUNNER_UP, (FeatureIndex(runner_up.index), f"{runner_up.score:.4f}"))
    yield from what_the_score_is(step.details)


def what_the_score_is(details: Mapping[str, Any]) -> Iterator[Sentence]:
    """Say how a score between a minimum and an average came about, if a criterion has these."""
    members = [FeatureIndex(k) for k in details.get("representative_set", ())]
    if "minimum" not in details or not members:
        return
    places = ["{}"] * len(members)
    together = " and ".join(filter(None, [", ".join(places[:-1]), places[-1]]))
    if len(members) == 1:
        template = MINIMUM.replace("make", "makes").format(together)
    else:
        template = MINIMUM.format(together)
    numbers = (f"{details['minimum']:.4f}", f"{details['average']:.4f}")
    yield Sentence(template, (*members, *numbers))
    if details["lift"] > 0:
        yield Sentence(LIFTED, (f"{details['sigma']:.4f}", f"{details['lift']:.4f}"))
    elif details["sigma"] == 0:
        yield Sentence(NOT_LIFTED, ())


def _why_stopped(basis: Basis, k: int, stopping: Stopping) -> Sentence:
    start = (basis.method, FeatureIndex(k), f"{len(basis.selection) + 1}")
    if stopping.reason == "not significant":
        return Sentence(NOT_SIGNIFICANT, (*start, f"{stopping.p_value:.2g}"))
    return Sentence(BELOW_MIN_GAIN, start)


def _why_not(basis: Basis, k: int, closest: Attempt) -> Sentence:
    winner, winner_score = basis.best[closest.step - 1]
    start = (basis.method, FeatureIndex(k))
    step, score = f"{closest.step}", f"{closest.score:.4f}"
    if comparison_key(winner_score) <= comparison_key(closest.score):
        return Sentence(TIED, (*start, step, FeatureIndex(winner), score))
    end = (f"{winner_score:.4f}", FeatureIndex(winner))
    return Sentence(NOT_LARGEST, (*start, step, score, *end))


def why_ranked(basis: Basis, k: int, rank: int, score: float) -> Iterator[Sentence]:
    """Say why feature k was selected or not by a method that ranks features without a search.

    Parameters
    ----------
    basis : Basis
    k : int
    rank : int
    score : float
        NaN if the method gives none to features it does not select.
    """
    steps = basis.selection.steps
    start = (basis.method, FeatureIndex(k))
    if k in basis.places:
        place = basis.places[k]
        which = (f"{place + 1}", f"{len(steps)}")
        yield Sentence(SELECTED_BY_RANK, (*start, *which, _format(steps[place].score)))
        return
    place_of_all = (f"{rank:,}", f"{len(basis.features):,}")
    if score == score:
        yield Sentence(RANKED_WITH_SCORE, (*start, *place_of_all, _format(score)))
    elif rank > len(steps) + 1:
        yield Sentence(RANKED, (*start, *place_of_all))
    else:
        yield Sentence(NOT_SELECTED, start)
    if steps:
        last = steps[-1]
        yield Sentence(LAST_SELECTED, (FeatureIndex(last.index), _format(last.score)))


def why_redundant(relevance: float, overlap: Overlap | None) -> Iterator[Sentence]:
    """Say which selected feature repeats one that was not selected, or that it is irrelevant."""
    if comparison_key(relevance) <= 0:
        yield Sentence(NOT_RELEVANT, ())
    elif overlap is not None and is_redundant(relevance, overlap):
        share = redundant_share(relevance, overlap.redundancy)
        yield Sentence(REPEATED, (FeatureIndex(overlap.by), percent(share)))


def is_redundant(relevance: float, overlap: Overlap) -> bool:
    """Whether a selected feature repeats at least half of the relevance."""
    return overlap.redundancy >= REDUNDANT_SHARE * relevance > 0


def redundant_share(relevance: float, redundancy: float) -> float:
    """Return the share of a positive relevance that is repeated, at most 1.

    Both are estimated separately, so that the redundancy may come out larger than the relevance.
    """
    return min(1.0, round(redundancy / relevance, 12))


def _format(score: float) -> str:
    return f"{score:.4f}".replace("inf", "∞")

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
from hocmim.search.discovery import ErrorControl
from hocmim.search.selection import Failure, Selection, Stopping
from hocmim.search.spending import Spending
from hocmim.text import percent, quote

# A feature is called redundant if a selected one repeats at least this share of its relevance.
REDUNDANT_SHARE = 0.5

SELECTED = "{} selected {} as number {} of {}: its score, {}, was the largest."
SELECTED_PER_COST = (
    "{} selected {} as number {} of {}: its score per unit of cost, {}, was the largest. Its score "
    "is {}, and its cost {}."
)
KEPT = "{} selected {} as number {} of {} because it is in keep. Its score then was {}."
EXCLUDED = "{} could not select {}: it is in exclude."
ONLY_KEPT = "{} did not select {}: the features in keep are as many as it was to select."
TOO_EXPENSIVE = (
    "{} did not select {}: it costs {}, and {} was left of the budget in step {}, where its score "
    "per unit of cost was the largest."
)
OVER_BUDGET = (
    "{} did not select {}: it was the best of the remaining features, but it costs {}, and {} is "
    "left of the budget."
)
NOT_LARGEST_PER_COST = (
    "{} did not select {}: its score per unit of cost was never the largest. It came closest in "
    "step {}, with {} against {} for {}."
)
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
    "({}), so the selection stopped."
)
SIGNIFICANT = "It adds more than chance would: {}."
OTHERS_FAILED = "{} other candidates failed the test in this step."
FAILED = (
    "{} did not select {}: it had the largest score in step {}, but it adds nothing significant "
    "(p = {}), so the next best candidate was tried."
)
IDENTIFIER = (
    "{} left {} out: it identifies the rows, so that what it says about the target does not hold "
    "for new rows. Pass identifiers='keep' to keep it as a candidate."
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
    if k in basis.left_out:
        yield Sentence(IDENTIFIER, (basis.method, FeatureIndex(k)))
        return
    failed = _last_failure(selection, k)
    if k in selection.closed:
        yield Sentence(EXCLUDED, (basis.method, FeatureIndex(k)))
    elif selection.stopping is not None and selection.stopping.index == k:
        yield _why_stopped(basis, k, selection.stopping)
        if selection.stopping.failures:
            yield Sentence(OTHERS_FAILED, (f"{len(selection.stopping.failures)}",))
    elif failed is not None:
        step, failure = failed
        where = (f"{step}", f"{failure.p_value:.2g}")
        yield Sentence(FAILED, (basis.method, FeatureIndex(k), *where))
    elif closest is not None:
        yield _why_not(basis, k, closest)
        yield from what_the_score_is(closest.details)
    elif len(basis.best) == basis.n_kept:
        yield Sentence(ONLY_KEPT, (basis.method, FeatureIndex(k)))
    else:
        yield Sentence(NOT_SCORED, (basis.method, FeatureIndex(k)))
    yield from why_redundant(relevance, overlap)


def _last_failure(selection: Selection, k: int) -> tuple[int, Failure] | None:
    """Return the last step in which feature k led and failed its test, and what was found."""
    last = () if selection.stopping is None else selection.stopping.failures
    steps = [*(step.failures for step in selection.steps), last]
    found = [
        (number, failure)
        for number, failures in enumerate(steps, 1)
        for failure in failures
        if failure.index == k
    ]
    return found[-1] if found else None


def _why_selected(basis: Basis, k: int, place: int) -> Iterator[Sentence]:
    step = basis.selection.steps[place]
    start = (basis.method, FeatureIndex(k), f"{place + 1}", f"{len(basis.selection)}")
    spending = basis.selection.spending
    if step.is_kept:
        yield Sentence(KEPT, (*start, f"{step.score:.4f}"))
    elif spending is not None:
        merit = f"{basis.merit(step.score, k):.4f}"
        numbers = (merit, f"{step.score:.4f}", f"{spending.costs[k]:g}")
        yield Sentence(SELECTED_PER_COST, (*start, *numbers))
    else:
        yield Sentence(SELECTED, (*start, f"{step.score:.4f}"))
    control, p_values = basis.selection.error_control, basis.selection.p_values
    if control is not None and control.is_fdr and p_values is not None and not step.is_kept:
        yield Sentence(SIGNIFICANT, (tested(float(p_values[place]), control),))
    if step.runner_up is not None and not step.is_kept:
        runner_up = step.runner_up
        merit = f"{basis.merit(runner_up.score, runner_up.index):.4f}"
        yield Sentence(RUNNER_UP, (FeatureIndex(runner_up.index), merit))
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
    if stopping.reason == "over budget" and basis.selection.spending is not None:
        cost, left = basis.selection.spending.costs[k], basis.left_before(len(basis.selection))
        return Sentence(OVER_BUDGET, (basis.method, FeatureIndex(k), f"{cost:g}", f"{left:g}"))
    start = (basis.method, FeatureIndex(k), f"{len(basis.selection) + 1}")
    if stopping.reason == "not significant":
        test = tested(stopping.p_value, basis.selection.error_control)
        return Sentence(NOT_SIGNIFICANT, (*start, test))
    return Sentence(BELOW_MIN_GAIN, start)


def tested(p_value: float, control: ErrorControl | None) -> str:
    """Return a p-value in words; with the false-discovery rate it was adjusted for."""
    if control is None or not control.is_fdr:
        return f"p = {p_value:.2g}"
    return f"adjusted p = {p_value:.2g}, false-discovery rate {control.level:g}"


def _why_not(basis: Basis, k: int, closest: Attempt) -> Sentence:
    winner, winner_score = basis.best[closest.step - 1]
    start = (basis.method, FeatureIndex(k))
    step, score = f"{closest.step}", f"{closest.score:.4f}"
    if basis.selection.spending is not None:
        return _why_not_per_cost(basis, k, closest, basis.selection.spending)
    if comparison_key(winner_score) <= comparison_key(closest.score):
        return Sentence(TIED, (*start, step, FeatureIndex(winner), score))
    end = (f"{winner_score:.4f}", FeatureIndex(winner))
    return Sentence(NOT_LARGEST, (*start, step, score, *end))


def _why_not_per_cost(basis: Basis, k: int, closest: Attempt, spending: Spending) -> Sentence:
    winner, winner_score = basis.best[closest.step - 1]
    start = (basis.method, FeatureIndex(k))
    own, largest = basis.merit([closest.score, winner_score], [k, winner]).tolist()
    left, cost = basis.left_before(closest.step - 1), float(spending.costs[k])
    if cost > left and own >= largest:
        return Sentence(TOO_EXPENSIVE, (*start, f"{cost:g}", f"{left:g}", f"{closest.step}"))
    step, score = f"{closest.step}", f"{own:.4f}"
    if comparison_key(largest) <= comparison_key(own):
        return Sentence(TIED, (*start, step, FeatureIndex(winner), score))
    end = (f"{largest:.4f}", FeatureIndex(winner))
    return Sentence(NOT_LARGEST_PER_COST, (*start, step, score, *end))


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
    if k in basis.selection.closed:
        yield Sentence(EXCLUDED, start)
        return
    if k in basis.places:
        place = basis.places[k]
        which = (f"{place + 1}", f"{len(steps)}")
        template = KEPT if steps[place].is_kept else SELECTED_BY_RANK
        yield Sentence(template, (*start, *which, _format(steps[place].score)))
        return
    if k in basis.left_out:
        yield Sentence(IDENTIFIER, start)
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

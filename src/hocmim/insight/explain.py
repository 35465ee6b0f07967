"""Why a feature was selected or not: its score at every step, and its redundancy with the others.

An explanation runs the criterion again, on one feature only, with the same kernels on the same
codes: its numbers are those of the search to the last bit. A method that ranks all columns without
a search has a score and a rank for each column, and no steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hocmim.coding.codes import Codes, Column
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import SharedColumn, Values
from hocmim.insight.basis import Basis, column_of
from hocmim.insight.chart_data import (
    ALPHA,
    InteractionMap,
    column_p_values,
    interaction_map,
    strongest_interaction,
    why_together,
)
from hocmim.insight.encoding import Encoding, describe_encoding
from hocmim.search.discovery import ErrorControl
from hocmim.search.selection import Failure, Selection
from hocmim.text import count, one_line, percent, quote, some_of, visible

MAX_ENCODING_LENGTH = 500
# Targets whose relevance is listed.
MAX_TARGETS = 8
# A feature is called redundant if a selected one repeats at least this share of its relevance.
REDUNDANT_SHARE = 0.5


@dataclass(frozen=True)
class StepScore:
    """The score of a feature in one step of the search, beside the largest score of the step.

    Attributes
    ----------
    step : int
        From 1.
    score : float
        Of the explained feature.
    best : str
        The feature selected in this step. In the last step of a selection that stopped early: the
        best candidate.
    best_score : float
    order : int
        The size of its representative set; −1 if the criterion has none.
    representative_set : tuple of str
    details : dict
        What the criterion says about the feature in this step, such as
        ``minimum``, ``average``, ``sigma`` and ``lift``.
    """

    step: int
    score: float
    best: str
    best_score: float
    order: int
    representative_set: tuple[str, ...]
    details: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why one feature was selected or not. ``print`` it, or read its attributes.

    Attributes
    ----------
    feature : str
    index : int
        Its column, or the first column of a group.
    method : str
    rank : int or None
        1 for the feature selected first; None if it was not selected.
    relevance : float
        I(X;Y), in nats.
    p_value : float
        Of the relevance; of several targets the smallest.
    score : float
        When it was selected, or in the last step if it was not. NaN if the method gives none.
    representative_set : tuple of str
        Its representative set in that step; empty for criteria that have none.
    redundancy : dict of str to float
        I(X;s) − I(X;s|Y) with each feature s selected before it, in nats, in their order. Positive:
        s repeats information of X about Y. Negative: a synergy, both together have more information
        about Y than the sum of the two.
    replaced_by : str or None
        For a feature that was not selected: the selected feature that repeats most of its
        information about Y, if that is half or more.
    steps : tuple of StepScore
        Its score at each step, and the best one. Empty if the method does not search.
    reason : str
        Why it was selected or not, in sentences.
    encoding : Encoding
        How it was encoded: its cut points and the rows in each bin, or its levels.
    r2 : float or None
        For a target that is a quantity: the share of its variance between the bins or levels of the
        feature (adjusted R²). None for classes.
    relevance_of_targets : tuple of float
        For the mean over several targets: I(X;Y) of each. Relevance, redundancy, scores and R² are
        means over the targets then.
    interaction : InteractionMap or None
        The target over the levels of the strongest pair or triple that the feature belongs to, if
        the screen kept one. ``print`` it.
    """

    feature: str
    index: int
    method: str
    rank: int | None
    relevance: float
    p_value: float
    score: float
    representative_set: tuple[str, ...]
    redundancy: dict[str, float]
    replaced_by: str | None
    steps: tuple[StepScore, ...]
    reason: str
    encoding: Encoding
    r2: float | None = None
    relevance_of_targets: tuple[float, ...] = ()
    interaction: InteractionMap | None = None

    def shared(self, sign: int = 1) -> list[tuple[str, float]]:
        """Return the three features with the largest redundancy, or with −1 the largest synergy."""
        found = [(sign * value, name) for name, value in self.redundancy.items()]
        largest = sorted(((v, n) for v, n in found if comparison_key(v) > 0), reverse=True)
        return [(name, value) for value, name in largest[:3]]

    def facts(self) -> list[tuple[str, str]]:
        """Return the numbers with their titles, for a table of two columns."""
        relevance = f"{self.relevance:.4f} nats"
        if self.relevance_of_targets:
            each = [f"{value:.4f}" for value in self.relevance_of_targets]
            relevance += f", the mean over the targets: {some_of(each, MAX_TARGETS)}"
        found = [("relevance", relevance)]
        if self.r2 is not None:
            found.append(("R²", f"{self.r2:.4f}"))
        if self.score == self.score:
            found.append(("score", format_score(self.score)))
        if self.representative_set:
            found.append(("representative set", ", ".join(map(quote, self.representative_set))))
        found.append(("encoding", one_line(str(self.encoding), MAX_ENCODING_LENGTH)))
        redundant = [
            f"{quote(name)} {value:.4f}{self._share(value)}" for name, value in self.shared()
        ]
        synergy = [f"{quote(name)} {value:.4f}" for name, value in self.shared(-1)]
        named = (("redundant with", redundant), ("synergy with", synergy))
        return [*found, *((title, ", ".join(names)) for title, names in named if names)]

    def _share(self, value: float) -> str:
        if self.relevance <= 0 or self.p_value > ALPHA:
            return ""
        return f" ({percent(redundant_share(self.relevance, value))})"

    def __repr__(self) -> str:
        lines = [self.reason, "", *(f"  {title:<18}  {text}" for title, text in self.facts())]
        if self.steps:
            lines += ["", f"  {'step':>4}  {'its score':>9}  {'largest':>9}  selected"]
        for step in self.steps:
            lines.append(
                f"  {step.step:>4}  {step.score:>9.4f}  {step.best_score:>9.4f}  "
                f"{one_line(visible(step.best), 40)}"
            )
        if self.interaction is not None:
            lines += ["", str(self.interaction)]
        return "\n".join(lines)


def explain(selector: Any, feature: int | str, X: Any = None, y: Any = None) -> Explanation:
    """Say why a feature was selected or not.

    Parameters
    ----------
    selector : selector of hocmim
        Fitted.
    feature : int or str
        Its index or its name; of a group, that of one of its columns will do.
    X : table or path, optional
        What the selector was fitted on: needed for a feature that was not selected, since only the
        codes of the selected ones are kept.
    y : array, optional
        The target: needed, together with X, if the selector keeps no codes at all: a filter, or a
        selector from a file without codes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hocmim import HOCMIM
    >>> from hocmim.insight.explain import explain
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = HOCMIM(5).fit(X, y)
    >>> print(explain(selector, "mean radius", X).replaced_by)
    worst perimeter
    """
    return explain_column(*column_of(selector, feature, X, y))


def explain_column(basis: Basis, x: Column) -> Explanation:
    """Say why a feature was selected or not."""
    k, selected = x.index, basis.selected_columns
    rank = basis.places[k] + 1 if k in basis.places else None
    before = selected if rank is None else selected[: rank - 1]
    own = Codes.from_columns([x])
    terms = basis.terms(own)
    redundancy = {s.index: float(terms.redundancy(s.joint)[0]) for s in before}
    relevance = float(terms.relevance()[0])
    p_value = min(float(column_p_values(own, y.column)[0]) for y in basis.averaged)
    steps = tuple(_replay(basis, x, before))
    repeated_by = None
    if redundancy and rank is None:
        most = max(redundancy, key=lambda index: redundancy[index])
        if redundancy[most] >= REDUNDANT_SHARE * relevance > 0 and p_value <= ALPHA:
            repeated_by = most
    if rank is None and k in basis.selection.closed:
        reasons = [_why_closed(basis, k)]
    else:
        searched = basis.criterion is not None
        reasons = list(_why(basis, k, steps) if searched else _why_ranked(basis, k))
    if rank is None and k not in basis.left_out:
        reasons += [*_why_not_needed(basis, relevance, p_value, redundancy, repeated_by)]
    explained = [
        None if y.values is None else explained_variance(x, y.values) for y in basis.averaged
    ]
    one, picture = strongest_interaction(basis, k), None
    if one is not None:
        sentence = why_together(basis, one)
        picture = interaction_map(basis, one.members, sentence)
        reasons.append(sentence)
    return Explanation(
        feature=basis.name(k),
        index=int(basis.features.first[k]),
        method=basis.method,
        rank=rank,
        relevance=relevance,
        p_value=p_value,
        score=steps[-1].score if steps else float(basis.scores[k]),
        representative_set=steps[-1].representative_set if steps else (),
        redundancy={basis.name(index): value for index, value in redundancy.items()},
        replaced_by=None if repeated_by is None else basis.name(repeated_by),
        steps=steps,
        reason=" ".join(reasons),
        encoding=describe_encoding(basis, x),
        r2=None if None in explained else float(np.mean(np.array(explained, np.float64))),
        relevance_of_targets=basis.relevance_of_targets(x),
        interaction=picture,
    )


def explained_variance(x: Column, values: Values) -> float | None:
    """Return the adjusted share of the variance of a quantity between the levels of a column."""
    sizes = np.bincount(x.codes)
    centred = values - values.mean()
    total, n_levels = float(centred @ centred), int(np.count_nonzero(sizes))
    if total <= 0 or n_levels >= len(values):
        return None
    sums = np.bincount(x.codes, weights=centred)
    rest = total - float((sums**2 / np.maximum(sizes, 1)).sum())
    n_rows = len(values)
    return max(0.0, 1 - (rest / (n_rows - n_levels)) / (total / (n_rows - 1)))


def _replay(basis: Basis, x: Column, before: Sequence[SharedColumn]) -> Iterator[StepScore]:
    """Run the criterion on x alone, past the features selected before it."""
    if basis.criterion is None:
        return
    criterion = basis.criterion.copy()
    criterion.start(replace(Codes.from_columns([x]), start=x.index), basis.y)
    for number, (index, score) in enumerate(basis.best[: len(before) + 1], 1):
        own = float(criterion.scores()[0])
        details = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in criterion.describe(0).items()
        }
        members = tuple(basis.name(int(k)) for k in details.get("representative_set", ()))
        yield StepScore(
            number, own, basis.name(index), score, details.get("order", -1), members, details
        )
        if number <= len(before):
            criterion.update(before[number - 1])


# --- the sentences --------------------------------------------------------------------------------


def _why(basis: Basis, k: int, steps: Sequence[StepScore]) -> Iterator[str]:
    """Say why feature k was selected or not by a search."""
    selection, method, name = basis.selection, basis.method, quote(basis.name(k))
    failed = _last_failure(selection, k)
    closest = _closest(basis, k, steps)
    if k in basis.places:
        yield from _why_selected(basis, k, basis.places[k])
    elif selection.stopping is not None and selection.stopping.index == k:
        yield _why_stopped(basis, k)
        if selection.stopping.failures:
            n_failed = len(selection.stopping.failures)
            yield f"{count(n_failed, 'other candidate')} failed the test in this step."
    elif failed is not None:
        step, failure = failed
        test = tested(failure.p_value, selection.error_control)
        yield (
            f"{method} did not select {name}: it had one of the largest scores in step {step}, but "
            f"it was not the most significant ({test})."
        )
    elif closest is not None:
        yield _why_not(basis, k, closest)
        yield from _what_the_score_is(basis, closest.details)
    else:
        yield (
            f"{method} did not select {name}: the features in keep are as many as it was to select."
        )


def _why_closed(basis: Basis, k: int) -> str:
    """Say why feature k could not be selected."""
    name = quote(basis.name(k))
    if k in basis.left_out:
        return (
            f"{basis.method} left {name} out: it identifies the rows, so that what it says about "
            "the target does not hold for new rows. To select from it too, pass "
            "Encoder(identifiers='keep')."
        )
    why = "it has only one level" if k in basis.selection.constants else "it is in exclude"
    return f"{basis.method} could not select {name}: {why}."


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


def _closest(basis: Basis, k: int, steps: Sequence[StepScore]) -> StepScore | None:
    """Return where a feature came closest; None if it was never compared with the others."""
    compared = steps[basis.selection.n_kept :]
    if not compared:
        return None
    winners = [basis.best[one.step - 1] for one in compared]
    largest = basis.merit([score for _, score in winners], [index for index, _ in winners])
    own = basis.merit([one.score for one in compared], [k] * len(compared))
    return compared[int(np.argmin(largest - own))]


def _why_selected(basis: Basis, k: int, place: int) -> Iterator[str]:
    selection = basis.selection
    step, spending = selection.steps[place], selection.spending
    start = f"{basis.method} selected {quote(basis.name(k))} as number {place + 1} of"
    if step.is_kept:
        score = f"{step.score:.4f}"
        yield f"{start} {len(selection)} because it is in keep. Its score then was {score}."
    elif step.interaction:
        members = " and ".join(quote(basis.name(j)) for j in step.interaction if j != k)
        yield (
            f"{start} {len(selection)}, together with {members}: the score for each column they "
            f"add, {step.score:.4f}, was the largest."
        )
    elif spending is not None:
        yield (
            f"{start} {len(selection)}: its score per unit of cost, "
            f"{basis.merit(step.score, k):.4f}, was the largest. Its score is {step.score:.4f}, "
            f"and its cost {spending.costs[k]:g}."
        )
    else:
        but = ""
        if step.failures:
            but = f" but for {count(len(step.failures), 'candidate')} less significant"
        yield f"{start} {len(selection)}: its score, {step.score:.4f}, was the largest{but}."
    control, p_values = selection.error_control, selection.p_values
    if control is not None and control.is_fdr and p_values is not None and not step.is_kept:
        yield f"It adds more than chance would: {tested(float(p_values[place]), control)}."
    if step.runner_up is not None and not step.is_kept:
        next_one = step.runner_up
        merit = f"{basis.merit(next_one.score, next_one.index):.4f}"
        yield f"The next candidate was {quote(basis.name(next_one.index))} with {merit}."
    yield from _what_the_score_is(basis, step.details)


def _what_the_score_is(basis: Basis, details: Mapping[str, Any]) -> Iterator[str]:
    """Say how a score between a minimum and an average came about, if a criterion has these."""
    members = [quote(basis.name(int(k))) for k in details.get("representative_set", ())]
    if "minimum" not in details or not members:
        return
    together = " and ".join(filter(None, [", ".join(members[:-1]), members[-1]]))
    makes = "makes" if len(members) == 1 else "make"
    yield (
        f"Given {together}, which {makes} it most redundant, it adds {details['minimum']:.4f} "
        f"nats; given one selected feature, {details['average']:.4f} on average."
    )
    if details["lift"] > 0:
        yield (
            f"Chance alone can move the first value by {details['sigma']:.4f}, so the score is "
            f"that value plus {details['lift']:.4f}."
        )
    elif details["sigma"] == 0:
        yield "Chance cannot move the first value here, so it is the score."


def _why_stopped(basis: Basis, k: int) -> str:
    selection, start = basis.selection, f"{basis.method} did not select {quote(basis.name(k))}: it"
    assert selection.stopping is not None
    if selection.stopping.reason == "over budget" and selection.spending is not None:
        cost, left = selection.spending.costs[k], basis.left_before(len(selection))
        return (
            f"{start} was the best of the remaining features, but it costs {cost:g}, and {left:g} "
            "is left of the budget."
        )
    test = tested(selection.stopping.p_value, selection.error_control)
    return (
        f"{start} was the best candidate of step {len(selection) + 1}, but it adds nothing "
        f"significant ({test}), so the selection stopped."
    )


def tested(p_value: float, control: ErrorControl | None) -> str:
    """Return a p-value in words, with the level it is compared with."""
    if control is None:
        return f"p = {p_value:.2g}"
    if not control.is_fdr:
        return f"p = {p_value:.2g}, level {control.level:g}"
    return f"adjusted p = {p_value:.2g}, false-discovery rate {control.level:g}"


def _why_not(basis: Basis, k: int, closest: StepScore) -> str:
    winner, winner_score = basis.best[closest.step - 1]
    start = f"{basis.method} did not select {quote(basis.name(k))}:"
    spending, what = basis.selection.spending, "its score"
    own, largest = basis.merit([closest.score, winner_score], [k, winner]).tolist()
    if spending is not None:
        what = "its score per unit of cost"
        left, cost = basis.left_before(closest.step - 1), float(spending.costs[k])
        if cost > left and own >= largest:
            return (
                f"{start} it costs {cost:g}, and {left:g} was left of the budget in step "
                f"{closest.step}, where {what} was the largest."
            )
    if comparison_key(largest) <= comparison_key(own):
        return (
            f"{start} in step {closest.step} {what} was equal to that of "
            f"{quote(basis.name(winner))}, {own:.4f}, which comes first in the table."
        )
    return (
        f"{start} {what} was never the largest. It came closest in step {closest.step}, with "
        f"{own:.4f} against {largest:.4f} for {quote(basis.name(winner))}."
    )


def _why_ranked(basis: Basis, k: int) -> Iterator[str]:
    """Say why feature k was selected or not by a method that ranks features without a search."""
    steps, method, name = basis.selection.steps, basis.method, quote(basis.name(k))
    if k in basis.places:
        place = basis.places[k]
        start = f"{method} selected {name} as number {place + 1} of {len(steps)}"
        own = format_score(steps[place].score)
        is_kept = steps[place].is_kept
        yield f"{start} because it is in keep." if is_kept else f"{start}; its score is {own}."
        return
    rank, score = int(basis.ranking[k]), float(basis.scores[k])
    of_all = f"it ranks {rank:,} of {len(basis.features):,}"
    if score == score:
        yield f"{method} did not select {name}: {of_all}, with a score of {format_score(score)}."
    elif rank > len(steps) + 1:
        yield f"{method} did not select {name}: {of_all}."
    else:
        yield f"{method} did not select {name}."
    if steps:
        last = steps[-1]
        yield (
            f"The last selected feature, {quote(basis.name(last.index))}, has a score of "
            f"{format_score(last.score)}."
        )


def _why_not_needed(
    basis: Basis,
    relevance: float,
    p_value: float,
    redundancy: Mapping[int, float],
    repeated_by: int | None,
) -> Iterator[str]:
    """Say which selected feature repeats one that was not selected, or that it is irrelevant."""
    if comparison_key(relevance) <= 0:
        yield "On its own it carries no information about the target."
    elif p_value > ALPHA:
        yield f"On its own it tells no more about the target than chance (p = {p_value:.2g})."
    elif repeated_by is not None:
        share = percent(redundant_share(relevance, redundancy[repeated_by]))
        name = quote(basis.name(repeated_by))
        yield f"{name} repeats {share} of its information about the target."


def redundant_share(relevance: float, redundancy: float) -> float:
    """Return the share of a positive relevance that is repeated, at most 1.

    Both are estimated separately, so that the redundancy may come out larger than the relevance.
    """
    return min(1.0, round(redundancy / relevance, 12))


def format_score(score: float) -> str:
    """Return a score with four decimals; infinite ones as ∞."""
    return f"{score:.4f}".replace("inf", "∞")

"""The summary of a report, in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hocmim.insight.reasons import redundant_share, tested
from hocmim.insight.report.evidence import Evidence
from hocmim.insight.statement import statement
from hocmim.text import count, percent


class Name(str):
    """The name of a feature within a sentence: the page sets it apart."""


Sentence = list[str]
"""Pieces of text and Names, to be put one after the other."""


def summary(evidence: Evidence) -> Iterator[Sentence]:
    """Say what was selected, how much information it has, and why the selection stopped."""
    yield _what(evidence)
    n_targets = len(evidence.basis.averaged)
    if n_targets > 1:
        yield [
            f"There are {n_targets:,} targets. Relevance, scores, redundancy, entropy and "
            "information on this page are means over them, so “the target” stands for all of them."
        ]
    if len(evidence.selected):
        yield _how_much(evidence)
        if evidence.r2 is not None:
            yield [
                "A linear model with one term for each bin or level of the selected features "
                f"explains {percent(evidence.r2)} of the variance of the target (adjusted R²)."
            ]
    yield from _constraints(evidence)
    yield _why_it_stopped(evidence)
    k = _most_relevant_not_selected(evidence)
    if k is not None and len(evidence.selected):
        yield _about_not_selected(evidence, k)
    selection = evidence.basis.selection
    if selection.error_control is not None:
        yield [f"For a paper: “{statement(evidence.method, selection)}”"]


def _what(evidence: Evidence) -> Sentence:
    K, D = len(evidence.selected), evidence.n_features
    samples = count(evidence.n_samples, "sample")
    if K == 0:
        return [f"{evidence.method} selected none of {count(D, 'feature')}, from {samples}."]
    first = Name(evidence.name(int(evidence.selected[0])))
    alone = evidence.relevance[evidence.selected[0]]
    share = percent(alone / evidence.target_entropy)
    relevance = f"has {alone:.2f} nats of information about the target: {share} of its entropy."
    lead = f"{evidence.method} selected {K:,} of {count(D, 'feature')}, from {samples}. "
    if K == 1:
        return [lead, first, f" {relevance}"]
    return [f"{lead}The first, ", first, f", alone {relevance}"]


def _constraints(evidence: Evidence) -> Iterator[Sentence]:
    """Say what had to be selected, what could not be, and what the selected features cost."""
    selection = evidence.basis.selection
    if selection.n_kept:
        verb = "was" if selection.n_kept == 1 else "were"
        yield [f"{count(selection.n_kept, 'feature')} {verb} kept (keep): selected in any case."]
    if selection.closed:
        verb = "was" if len(selection.closed) == 1 else "were"
        yield [f"{count(len(selection.closed), 'feature')} {verb} excluded (exclude)."]
    if selection.spending is not None:
        total = selection.spending.total(selection.indices.tolist())
        budget = selection.spending.budget
        of_budget = "" if budget is None else f" of a budget of {budget:g}"
        yield [f"The selected features cost {total:g}{of_budget}."]


def _how_much(evidence: Evidence) -> Sentence:
    low, high = together(evidence)
    entropy = evidence.target_entropy
    subject = "Together they have" if len(evidence.selected) > 1 else "It has"
    if round(low, 2) == round(high, 2):
        return [f"{subject} about {low:.2f} of {entropy:.2f} nats ({percent(low / entropy)})."]
    return [
        f"{subject} between {low:.2f} and {high:.2f} of {entropy:.2f} nats "
        f"({percent(low / entropy)} to {percent(high / entropy)}). The lower figure is the part "
        "that chance cannot explain; the higher figure is the plug-in estimate, which includes "
        "chance."
    ]


def together(evidence: Evidence) -> tuple[float, float]:
    """Return I(S;Y) of the selected features: the part beyond chance, and the plug-in estimate."""
    if not len(evidence.selected):
        return 0.0, 0.0
    return float(evidence.cumulative.supported[-1]), float(evidence.cumulative.counted[-1])


def _why_it_stopped(evidence: Evidence) -> Sentence:
    stopping, K = evidence.basis.selection.stopping, len(evidence.selected)
    if not evidence.is_search:
        return [f"{evidence.method} ranks all features and selects the best {K:,}."]
    if stopping is None:
        if evidence.n_features == K:
            return ["All features were selected."]
        asked = evidence.selector.n_features_to_select
        if isinstance(asked, int) and asked > K:
            return [f"The selection was interrupted before {asked:,} features were selected."]
        return ["The selection stopped at the requested number of features."]
    best = Name(evidence.name(stopping.index))
    if stopping.reason == "over budget":
        lead = (
            "The selection stopped because no other feature can be paid for. The best of them is "
        )
        return [lead, best, "."]
    if stopping.reason == "not significant":
        test = f"({_tested(evidence, stopping.p_value)})."
        if K == 0:
            lead = "The best candidate, "
            return [lead, best, f", has no significant information about the target {test}"]
        lead = "The selection stopped because the best remaining candidate, "
        return [lead, best, f", adds nothing significant {test}"]
    return [
        "The selection stopped because the score of the best remaining candidate, ",
        best,
        f", is {stopping.score:.4f}, below min_gain = {evidence.selector.min_gain:g}.",
    ]


def _tested(evidence: Evidence, p_value: float) -> str:
    control = evidence.basis.selection.error_control
    if control is not None and control.is_fdr:
        return tested(p_value, control)
    return f"p = {p_value:.2g}, significance level {evidence.selector.alpha:g}"


def _most_relevant_not_selected(evidence: Evidence) -> int | None:
    is_candidate = np.ones(evidence.n_features, bool)
    is_candidate[evidence.selected] = False
    if not is_candidate.any():
        return None
    return int(np.argmax(np.where(is_candidate, evidence.relevance, -np.inf)))


def _about_not_selected(evidence: Evidence, k: int) -> Sentence:
    name = Name(evidence.name(k))
    relevance, overlap = float(evidence.relevance[k]), evidence.overlap(k)
    lead = "Of the features not selected, "
    sentence = [lead, name, f" has the largest relevance ({relevance:.2f} nats)"]
    if overlap is None or relevance <= 0:
        return [*sentence, "."]
    share = percent(redundant_share(relevance, overlap.redundancy))
    return [*sentence, ", but ", Name(evidence.name(overlap.by)), f" repeats {share} of it."]

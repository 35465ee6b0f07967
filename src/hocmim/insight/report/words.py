"""A selection in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hocmim.coding.encoder import ColumnDescription
from hocmim.coding.groups import column_name
from hocmim.insight.report.evidence import Basis, Evidence

MOST_LEVELS_SHOWN = 6
LEVEL_LENGTH = 24


class Name(str):
    """The name of a column within a sentence: the page sets it apart."""


Sentence = list[str]
"""Pieces of text and Names, to be put one after the other."""


def summary(evidence: Evidence) -> Iterator[Sentence]:
    """What was selected, how much it says, when and why it stopped."""
    yield _what(evidence)
    if len(evidence.selected):
        yield _how_much(evidence)
    yield _why_it_ended(evidence)
    left = _most_relevant_left(evidence)
    if left is not None and len(evidence.selected):
        yield _about_left(evidence, left)


def _what(evidence: Evidence) -> Sentence:
    K, D = len(evidence.selected), evidence.n_features
    looked = f"{evidence.method} looked at {count(D, 'feature')} of "
    looked += f"{count(evidence.n_samples, 'sample')} and took "
    if K == 0:
        return [looked + "none of them."]
    first = Name(evidence.name(int(evidence.selected[0])))
    alone = evidence.relevance[evidence.selected[0]]
    share = f", {percent(alone / evidence.target_entropy)} of what there is to know"
    told = f" It alone says {alone:.2f} nats about the target{share}."
    if K == 1:
        return [looked + "one: ", first, "." + told]
    return [looked + f"{K:,}, beginning with ", first, "." + told]


def _how_much(evidence: Evidence) -> Sentence:
    low, high = together(evidence)
    entropy = evidence.target_entropy
    K = len(evidence.selected)
    them = "Together they say" if K > 1 else "It says"
    if round(low, 2) == round(high, 2):
        return [f"{them} about {low:.2f} of {entropy:.2f} nats ({percent(low / entropy)})."]
    return [
        f"{them} between {low:.2f} and {high:.2f} of {entropy:.2f} nats "
        f"({percent(low / entropy)} to {percent(high / entropy)}): the lower figure is what "
        f"{count(evidence.n_samples, 'sample')} can vouch for, the higher one counts chance too."
    ]


def together(evidence: Evidence) -> tuple[float, float]:
    """What the selected features say together: what is vouched for, and the plug-in value."""
    if not len(evidence.selected):
        return 0.0, 0.0
    return float(evidence.cumulative.supported[-1]), float(evidence.cumulative.plugin[-1])


def _why_it_ended(evidence: Evidence) -> Sentence:
    stopping, K = evidence.stopping, len(evidence.selected)
    if stopping is None:
        if evidence.n_features == K:
            return ["It ended when no feature was left."]
        return ["It ended because as many were taken as were asked for."]
    best = Name(evidence.name(stopping.index))
    if stopping.reason == "not significant":
        tested = f"(p = {stopping.p_value:.2g}, level {evidence.selector.alpha:g})."
        if K == 0:
            return ["Not even the best, ", best, f", says more than chance might {tested}"]
        lead = "It stopped by itself: the best candidate left, "
        return [lead, best, f", adds no more than chance might {tested}"]
    return [
        "It stopped by itself: the score of the best candidate left, ",
        best,
        f", is {stopping.score:.4f}, below min_gain = {evidence.selector.min_gain:g}.",
    ]


def _most_relevant_left(evidence: Evidence) -> int | None:
    is_left = np.ones(evidence.n_features, bool)
    is_left[evidence.selected] = False
    if not is_left.any():
        return None
    return int(np.argmax(np.where(is_left, evidence.relevance, -np.inf)))


def _about_left(evidence: Evidence, left: int) -> Sentence:
    name = Name(evidence.name(left))
    relevance = float(evidence.relevance[left])
    sentence = ["Of those left, ", name, f" says most about the target ({relevance:.2f} nats)"]
    place = int(evidence.answers.most_redundant[left])
    if place < 0 or relevance <= 0:
        return [*sentence, "."]
    by = Name(evidence.name(int(evidence.selected[place])))
    share = evidence.answers.redundancy[0, left] / relevance
    return [*sentence, ", but ", by, f" repeats {percent(min(share, 1.0))} of it."]


def describe_feature(basis: Basis, k: int) -> str:
    """How a column was cut, or which columns a group is made of."""
    columns = basis.features.columns(k)
    if len(columns) == 1:
        return describe_encoding(basis.encoder.columns_[columns[0]])
    names = (column_name(basis.features.column_names, j) for j in columns[:MOST_LEVELS_SHOWN])
    more = ", …" if len(columns) > MOST_LEVELS_SHOWN else ""
    occur = count(int(basis.codes.arity[k]), "combination")
    return f"group of {len(columns)} columns ({', '.join(map(_level, names))}{more}): {occur} occur"


def describe_encoding(column: ColumnDescription) -> str:
    """How a column was cut, or which values it has."""
    parts = []
    if column.kind == "cut":
        cuts = ", ".join(f"{cut:.4g}" for cut in column.cuts[:MOST_LEVELS_SHOWN])
        more = ", …" if len(column.cuts) > MOST_LEVELS_SHOWN else ""
        parts.append(
            f"{len(column.cuts) + 1} bins, cut at {cuts}{more}" if cuts else "one bin, not cut"
        )
    elif len(column.levels):
        kind = "value" if column.kind == "levels" else "category"
        shown = ", ".join(map(_level, column.levels[:MOST_LEVELS_SHOWN]))
        more = ", …" if len(column.levels) > MOST_LEVELS_SHOWN else ""
        parts.append(f"{count(len(column.levels), kind)}: {shown}{more}")
    if column.missing is not None:
        parts.append("missing is a level of its own")
    return "; ".join(parts) or "no values"


def _level(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LEVEL_LENGTH else text[: LEVEL_LENGTH - 1] + "…"


def count(n: int, thing: str) -> str:
    """1 thing, 2 things, 12,345 things."""
    many = thing[:-1] + "ies" if thing.endswith("y") else thing + "s"
    return f"{n:,} {thing if n == 1 else many}"


def percent(share: float) -> str:
    """Of a share; never 100% of what is not all, never 0% of what is something."""
    if 0.995 <= share < 1:
        return f"{np.floor(share * 1000) / 10:.1f}%" if share < 0.9995 else "almost 100%"
    if 0 < share < 0.005:
        return "less than 1%"
    return f"{share:.0%}"

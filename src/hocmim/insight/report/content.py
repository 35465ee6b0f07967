"""What the template of a report shows: figures, rows, notes, and how to repeat the selection."""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from inspect import signature
from typing import Any

from hocmim.coding.target import Target
from hocmim.insight.encoding import describe_encoding
from hocmim.insight.notes import KINDS, Note
from hocmim.insight.reasons import redundant_share
from hocmim.insight.report.data import printable
from hocmim.insight.report.evidence import Evidence
from hocmim.insight.report.words import Name, Sentence, together
from hocmim.text import percent_range

LIBRARIES = ("hocmim", "numpy", "scipy", "scikit-learn", "narwhals")
# Rows of the table of selected features.
MAX_ROWS = 500
# Sentences of doubt in the summary.
MAX_DOUBTS = 3
# Targets that are described one by one.
MAX_TARGETS = 20

# Kinds of notes that cast doubt on a selected feature.
DOUBTS = {"copies target": "may copy the target", "id-like": "looks like an identifier"}
NOTE_TITLES = {
    "copies target": "Possible copies of the target",
    "id-like": "Possible identifiers",
    "constant": "Constant columns",
    "many levels": "Many levels",
    "uneven bins": "Most rows in one bin",
    "missing": "Missing values",
}


def tiles(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the figures at the top of the page, each with its label."""
    low, high = (min(1.0, v / evidence.target_entropy) for v in together(evidence))
    K, D, N = len(evidence.selected), evidence.n_features, evidence.n_samples
    found = [(f"{K:,} of {D:,}", "features selected")]
    if K:
        found.append((percent_range(low, high), "of the target explained"))
        if evidence.r2 is not None:
            found.append((f"{evidence.r2:.2f}", "R² of the selected features"))
    averaged = evidence.basis.averaged
    if len(averaged) > 1:
        return [*found, (f"{N:,}", "samples"), (f"{len(averaged):,}", "targets")]
    target = "bins of the target" if averaged[0].cuts is not None else "classes"
    return [*found, (f"{N:,}", "samples"), (f"{evidence.n_classes:,}", target)]


def targets_in_words(evidence: Evidence) -> list[str]:
    """Return what each target is, and the entropy."""
    averaged = evidence.basis.averaged
    entropy = f"H(Y) = {evidence.target_entropy:.4f} nats"
    if len(averaged) == 1:
        return [f"The target: {_target_in_words(averaged[0])}, {entropy}"]
    each = [f"Target {n}: {_target_in_words(one)}" for n, one in enumerate(averaged, 1)]
    return [*each[:MAX_TARGETS], f"{entropy}, the mean over {len(averaged):,} targets"]


def _target_in_words(target: Target) -> str:
    if target.cuts is None:
        return f"{target.column.arity:,} classes"
    cuts = ", ".join(f"{cut:.4g}".replace("-", "−") for cut in target.cuts)
    return f"a quantity, cut into {target.column.arity} bins at {cuts}"


def find_doubts(evidence: Evidence, notes: Sequence[Note]) -> dict[int, list[str]]:
    """Return the reasons to doubt selected features, by feature."""
    doubts: dict[int, list[str]] = {j: [] for j in evidence.selected.tolist()}
    for note in notes:
        k = int(evidence.basis.features.of_column[note.index])
        if k in doubts and note.kind in DOUBTS and DOUBTS[note.kind] not in doubts[k]:
            doubts[k].append(DOUBTS[note.kind])
    return doubts


def doubts_in_words(evidence: Evidence, doubts: dict[int, list[str]]) -> Iterator[Sentence]:
    """Say which selected features to check."""
    for j in [j for j, found in doubts.items() if found][:MAX_DOUBTS]:
        what = " and ".join(doubts[j])
        yield ["Check ", Name(evidence.name(j)), f" before you trust this selection: it {what}."]


def rows(evidence: Evidence, doubts: dict[int, list[str]]) -> list[dict[str, Any]]:
    """Return the rows of the table of selected features."""
    selection = evidence.basis.selection
    largest = max((float(evidence.relevance[k]) for k in evidence.selected), default=0.0)
    selected = evidence.basis.selected_columns
    found = []
    for place, step in enumerate(selection.steps[:MAX_ROWS]):
        k = step.index
        relevance, overlap = float(evidence.relevance[k]), evidence.overlap(k)
        has_share = overlap is not None and relevance > 0
        found.append(
            {
                "index": k,
                "name": evidence.name(k),
                "doubts": doubts[k],
                "relevance": relevance,
                "width": 100 * max(0.0, relevance) / largest if largest > 0 else 0.0,
                "score": step.score,
                "p_value": None if selection.p_values is None else float(selection.p_values[place]),
                "order": step.order,
                "is_kept": step.is_kept,
                "cost": None if selection.costs is None else float(selection.costs[place]),
                "encoding": str(describe_encoding(evidence.basis, selected[place])),
                "by": None if overlap is None else evidence.name(overlap.by),
                "share": redundant_share(relevance, overlap.redundancy)
                if overlap is not None and has_share
                else None,
            }
        )
    return found


def note_groups(notes: Sequence[Note]) -> list[tuple[str, list[Note]]]:
    """Return the notes by kind, under their titles."""
    of_kind = ((NOTE_TITLES[kind], [n for n in notes if n.kind == kind]) for kind in KINDS)
    return [(title, found) for title, found in of_kind if found]


def encoding_counts(evidence: Evidence) -> list[tuple[str, int]]:
    """Return how many columns are coded in which way."""
    titles = {
        "cut": f"numbers, cut into bins ({_cutting(evidence)})",
        "levels": "numbers with few values, each a level",
        "categories": "categories, each a level",
    }
    kinds = [column.kind for column in evidence.basis.encoder.columns_]
    counts = [(title, kinds.count(kind)) for kind, title in titles.items()]
    return [(title, n) for title, n in counts if n]


def _cutting(evidence: Evidence) -> str:
    encoder = evidence.basis.encoder
    how = {
        "uniform": f"{encoder.n_bins} of equal width",
        "quantile": f"up to {encoder.n_bins} of equal frequency",
        "mdlp": "MDLP, by the target",
    }
    return how[encoder.discretizer]


def call(selector: Any) -> str:
    """Return the Python code that repeats the selection and the report."""
    import hocmim

    kind = type(selector)
    module = "hocmim" if getattr(hocmim, kind.__name__, None) is kind else kind.__module__
    defaults = signature(kind).parameters
    arguments = ", ".join(
        f"{name}={value!r}"
        for name, value in selector.get_params(deep=False).items()
        if name == "n_features_to_select" or repr(value) != repr(defaults[name].default)
    )
    return (
        f"from {module} import {kind.__name__}\n\n"
        f"selector = {kind.__name__}({arguments})\n"
        "selector.fit(X, y)\n"
        'selector.report("report.html", X, y)'
    )


def facts(evidence: Evidence, fingerprint: str, source: str | None) -> list[tuple[str, str]]:
    """Return the data, the versions and the time of the report."""
    N, D = evidence.n_samples, evidence.basis.features.n_columns
    found = [("Data", f"{N:,} × {D:,}, fingerprint {fingerprint}")]
    if source:
        found.insert(0, ("Source", printable(source)))
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return [*found, ("Versions", versions), ("System", machine), ("Written", now)]


def parameters(selector: Any) -> list[tuple[str, str]]:
    """Return the parameters of the selector and their values."""
    return [(name, printable(repr(v))) for name, v in selector.get_params(deep=False).items()]


def target_name(y: Any) -> str:
    """Return the name of y, if it has one."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "the target"

"""The sentences of the page: the summary, the check of the table, and how columns are coded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hocmim.coding.target import EncodedTarget
from hocmim.data.table import Table
from hocmim.information.counting import Joint
from hocmim.insight.basis import Basis
from hocmim.insight.checks import DUPLICATES, KINDS, Finding, check_codes
from hocmim.insight.explain import Explanation, redundant_share, tested
from hocmim.insight.prediction import Prediction
from hocmim.insight.statement import statement
from hocmim.text import count, one_line, percent, quote, some_of

MAX_NAME_LENGTH = 80
# Targets that are described one by one; warnings in the summary; names of excluded columns.
MAX_TARGETS, MAX_DOUBTS, MAX_NAMED = 20, 3, 5
# Findings that cast doubt on a selected feature.
DOUBTS = {"leak": "may copy the target", "identifier": "identifies the rows"}
# What the check of the table looks for, always, with its words if there is none of it.
CHECKED = {
    "leak": "no leak",
    "identifier": "no identifier",
    "constant": "no constant column",
    "missing": "no missing values",
    "duplicates": "no duplicate rows",
}


def feature_name(basis: Basis, k: int) -> str:
    """Return the name of feature k, or ``column j``."""
    names = basis.features.names
    return f"column {basis.features.first[k]}" if names is None else str(names[k])


def in_words(basis: Basis, k: int) -> str:
    """Return the name of feature k, for a sentence."""
    return one_line(quote(feature_name(basis, k)), MAX_NAME_LENGTH)


# --- the summary ----------------------------------------------------------------------------------


def figures(basis: Basis, prediction: Prediction | None) -> list[tuple[str, str]]:
    """Return the figures at the top of the page, each with its label."""
    K, D = len(basis.selection), len(basis.features)
    found = [(f"{K:,} of {D:,}", "features selected")]
    if prediction is not None and prediction.is_rate:
        found.append((percent(prediction.accuracy), "right, in cases not seen"))
        found.append((percent(prediction.baseline), "right without a column"))
    elif prediction is not None:
        found.append((f"{prediction.accuracy:.2f}", f"{prediction.measure}, in cases not seen"))
    n_targets, n_classes = len(basis.averaged), Joint.of([basis.y]).n_cells
    of = "" if basis.target.cuts is not None else f" in {n_classes:,} classes"
    of = f", {n_targets:,} targets" if n_targets > 1 else of
    return [*found, (f"{basis.n_samples:,}", f"samples{of}")]


def summary(basis: Basis, prediction: Prediction | None) -> Iterator[str]:
    """Say what was selected and what it is worth, without a unit of information theory."""
    K, D = len(basis.selection), len(basis.features)
    of_all = f"{count(D, 'feature')}, from {count(basis.n_samples, 'sample')}."
    if not K:
        yield f"{basis.method} selected none of {of_all}"
    else:
        text = f"{basis.method} selected {K:,} of {of_all}"
        yield text if prediction is None else f"{text} {prediction.sentence}"
    if prediction is not None and prediction.caution:
        yield prediction.caution
    if len(basis.averaged) > 1:
        yield (
            f"There are {len(basis.averaged):,} targets. All figures on this page are means over "
            "them; the pictures of the target show the first."
        )
    yield from _constraints(basis)
    yield _why_it_stopped(basis)
    if basis.selection.error_control is not None:
        yield f"For a paper: “{statement(basis.method, basis.selection)}”"


def details(basis: Basis, explanations: Mapping[int, Explanation]) -> Iterator[str]:
    """Say how much information the first feature and the best of the others have."""
    selection, K = basis.selection, len(basis.selection)
    if not K:
        return
    k = selection.steps[0].index
    share = percent(max(0.0, basis.relevance[k]) / basis.target_entropy)
    which = f"The first, {in_words(basis, k)}, alone" if K > 1 else in_words(basis, k)
    yield (
        f"{which} has {basis.relevance[k]:.2f} nats of information about the target: {share} of "
        "its entropy."
    )
    for k, one in [(k, one) for k, one in explanations.items() if one.rank is None][:1]:
        text = f"Of the features not selected, {in_words(basis, k)} has the largest "
        text += f"relevance ({one.relevance:.2f} nats)"
        if one.relevance > 0 and one.shared():
            name, value = one.shared()[0]
            share = percent(redundant_share(one.relevance, value))
            text += f", but {one_line(quote(name), MAX_NAME_LENGTH)} repeats {share} of it"
        yield f"{text}."


def _constraints(basis: Basis) -> Iterator[str]:
    """Say what had to be selected, what could not be, and what the selected features cost."""
    selection = basis.selection
    left_out, constants = sorted(basis.left_out), selection.constants
    kept = [step.index for step in selection.steps if step.is_kept]
    identify = "it identifies" if len(left_out) == 1 else "they identify"
    have = "it has" if len(constants) == 1 else "they have"
    for features, text in (
        (kept, "kept (keep): selected in any case"),
        (selection.excluded, "excluded (exclude)"),
        (left_out, f"left out, because {identify} the rows"),
        (constants, f"left out, because {have} only one level"),
    ):
        if features:
            names = some_of([in_words(basis, k) for k in features], MAX_NAMED)
            were = "was" if len(features) == 1 else "were"
            yield f"{count(len(features), 'feature')} {were} {text}: {names}."
    if selection.spending is not None:
        total = selection.spending.total(selection.indices.tolist())
        budget = selection.spending.budget
        of_budget = "" if budget is None else f" of a budget of {budget:g}"
        yield f"The selected features cost {total:g}{of_budget}."


def _why_it_stopped(basis: Basis) -> str:
    stopping, K = basis.selection.stopping, len(basis.selection)
    if basis.criterion is None:
        return f"{basis.method} ranks all features and selects the best {K:,}."
    if stopping is None:
        if len(basis.features) - len(basis.selection.closed) <= K:
            return (
                "All features were selected."
                if not basis.selection.closed
                else ("All candidates were selected.")
            )
        asked = basis.parameters.get("n_features_to_select")
        if isinstance(asked, int) and asked > K:
            return f"The selection was interrupted before {asked:,} features were selected."
        if basis.validation is not None:
            return "Cross-validation chose the number of features."
        return "The selection stopped at the requested number of features."
    best = in_words(basis, stopping.index)
    if stopping.reason == "over budget":
        return (
            "The selection stopped because no other feature can be paid for. The best of them is "
            f"{best}."
        )
    test = tested(stopping.p_value, basis.selection.error_control)
    if K == 0:
        return (
            f"The best candidate, {best}, has no significant information about the target ({test})."
        )
    return (
        f"The selection stopped because the best remaining candidate, {best}, adds nothing "
        f"significant ({test})."
    )


# --- the table ------------------------------------------------------------------------------------


def find_oddities(basis: Basis, table: Table) -> list[Finding]:
    """Return what is odd in the table, as it was coded."""
    assert basis.column_codes is not None
    if basis.rows is not None:
        table = table.take(basis.rows)
    targets, names = basis.target.each, basis.features.column_names
    kinds = [kind for kind in KINDS if kind != DUPLICATES or basis.rows is None]
    return check_codes(
        basis.encoder, basis.column_codes, targets, names=names, kinds=kinds, table=table
    )


def find_doubts(basis: Basis, findings: Sequence[Finding]) -> dict[int, list[str]]:
    """Return the reasons to doubt selected features, by feature."""
    doubts: dict[int, list[str]] = {}
    for finding in findings:
        features = {int(basis.features.of_column[j]) for j in finding.columns}
        for k in sorted(features & set(basis.places)) if finding.kind in DOUBTS else ():
            doubts.setdefault(k, []).append(DOUBTS[finding.kind])
    return doubts


def warnings_of(basis: Basis, doubts: dict[int, list[str]]) -> Iterator[str]:
    """Say which selected features to check."""
    for k, reasons in list(doubts.items())[:MAX_DOUBTS]:
        what = " and ".join(reasons)
        yield f"Check {in_words(basis, k)} before you trust this selection: it {what}."


def table_check(findings: Sequence[Finding]) -> list[tuple[str, bool]]:
    """Return what was looked for in a few words each, and whether it is as it should be."""
    known = {finding.kind: finding for finding in findings}

    def found(finding: Finding) -> str:
        if finding.kind == DUPLICATES:
            return "duplicate rows"
        return f"{finding.kind}: {count(len(finding.names), 'column')}"

    checks = [
        (found(known[kind]), False) if kind in known else (none, True)
        for kind, none in CHECKED.items()
    ]
    return [*checks, *((found(known[kind]), False) for kind in known if kind not in CHECKED)]


def codings(basis: Basis) -> list[str]:
    """Say how many columns are coded in which way, and what the target is."""
    encoder = basis.encoder
    how = {
        "uniform": f"{encoder.n_bins} of equal width",
        "quantile": f"up to {encoder.n_bins} of equal frequency",
        "mdlp": "MDLP, by the target",
    }
    titles = {
        "cut": f"numbers, cut into bins ({how.get(encoder.discretizer, encoder.discretizer)})",
        "levels": "numbers with few values, each a level",
        "categories": "categories, each a level",
    }
    kinds = [column.kind for column in encoder.columns_]
    counts = [(kinds.count(kind), title) for kind, title in titles.items()]
    found = [f"{count(n, 'column')} of {title}" for n, title in counts if n]
    entropy = f"H(Y) = {basis.target_entropy:.4f} nats"
    if len(basis.averaged) == 1:
        return [*found, f"The target: {_describe_target(basis.target)}, {entropy}"]
    each = [f"Target {n}: {_describe_target(one)}" for n, one in enumerate(basis.averaged, 1)]
    n_targets = len(basis.averaged)
    return [*found, *each[:MAX_TARGETS], f"{entropy}, the mean over {n_targets:,} targets"]


def _describe_target(target: EncodedTarget) -> str:
    if target.cuts is None:
        return f"{target.column.arity:,} classes"
    cuts = ", ".join(f"{cut:.4g}".replace("-", "−") for cut in target.cuts)
    return f"a quantity, cut into {target.column.arity} bins at {cuts}"

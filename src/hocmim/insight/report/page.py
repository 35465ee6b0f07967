"""The report page: a list of explanations, pictures and a template, in one HTML file.

``make_page`` gathers what the template shows, section by section, in the order of the page:

=====================  ===========================================================================
summary                ``figures``, ``summary``
selected features      ``selected_rows``
information together   ``information_charts``
redundancy             ``charts.heat_map``
interactions           ``interaction_bars``
substitutes, tree      ``substitutes.Replacements``, ``feature_tree``
every feature          ``explain_features``, ``every_feature`` (the data of the search box)
data                   ``checks.check_codes``, ``codings``
reproduce              ``call``, ``facts``
=====================  ===========================================================================

``report.html`` is the template, ``report.css`` the style and ``report.js`` the script (search,
sorting, colours). ``insight/pages`` puts them into one file that loads nothing.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import platform
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes
from hocmim.coding.encoded import split_target
from hocmim.coding.target import EncodedTarget
from hocmim.data.table import Table, as_table
from hocmim.data.writing import check_writable, write_file
from hocmim.errors import not_installed
from hocmim.information.counting import Joint, Values
from hocmim.insight.basis import Basis, basis_of
from hocmim.insight.checks import DUPLICATES, KINDS, Finding, check_codes
from hocmim.insight.clusters import MAX_DISTANCE, cluster_codes
from hocmim.insight.explain import (
    Explanation,
    explain_column,
    redundant_share,
    tested,
)
from hocmim.insight.fingerprint import fingerprint
from hocmim.insight.pages import asset, document, sorting_script
from hocmim.insight.report.charts import LineChart, Tree, draw_tree, heat_map, line_chart
from hocmim.insight.statement import statement
from hocmim.insight.substitutes import MAX_COMPARED, Replacements
from hocmim.insight.synergy import SelectedInteractions, find_interactions
from hocmim.insight.together import Cumulative, cumulative_information
from hocmim.parameters import (
    BOOLEAN,
    FUNCTION_OR_NONE,
    PATH,
    TEXT,
    TEXTS,
    checked,
    number,
)
from hocmim.search.progress import ProgressCallback, ProgressEvent
from hocmim.text import count, escaped, one_line, percent, percent_range, quote
from hocmim.threads import ThreadPool, resolve_n_jobs

# About how long the explanations may take.
MAX_SECONDS = 10.0
# Features that are explained: selected ones, and the most relevant ones that were not selected.
MAX_SELECTED_EXPLAINED, MAX_OTHERS_EXPLAINED = 100, 40
# Rows of the table of selected features, and of the heat map of their redundancy.
MAX_ROWS, MAX_MAPPED = 500, 40
# Selected features whose substitutes are shown, and substitutes of each.
MAX_REPLACED, N_SUBSTITUTES = 50, 3
# Selected features that are combined, and interactions of each kind that are shown.
MAX_COMBINED, N_INTERACTIONS = 30, 8
# Features of the tree, and rows on which they are compared.
MAX_LEAVES, TREE_ROWS = 60, 5000
# Targets that are described one by one; warnings in the summary; columns listed for a finding.
MAX_TARGETS, MAX_DOUBTS, MAX_LISTED = 20, 3, 200
MAX_NAME_LENGTH = 80
# Columns a thread compares with the selected features at a time.
BLOCK_COLUMNS = 512
LIBRARIES = ("hocmim", "numpy", "scipy", "scikit-learn", "narwhals")
# Findings that cast doubt on a selected feature.
DOUBTS = {"leak": "may copy the target", "identifier": "identifies the rows"}


@checked(
    path=PATH,
    title=TEXT,
    target_name=TEXT,
    source=TEXT,
    command=TEXT,
    notes=TEXTS,
    overwrite=BOOLEAN,
    max_seconds=[number(0), None],
    progress=FUNCTION_OR_NONE,
)
def write_report(
    selector: Any,
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    target_name: str | None = None,
    source: str | None = None,
    command: str | None = None,
    notes: str | Sequence[str] | None = None,
    overwrite: bool = False,
    max_seconds: float | None = MAX_SECONDS,
    progress: ProgressCallback | None = None,
) -> Path:
    """Write a report on a selection: what was selected and why, and why other features were not.

    One HTML file that needs no network. It shows the selected features and what each adds, their
    information together, their redundancy and interactions, what could replace them, why a feature
    was selected or not, a list of all features, what is odd in the data, and how to repeat the
    selection. Needs ``pip install jinja2``.

    Parameters
    ----------
    selector : selector of hocmim
        Fitted.
    path : path
        Of the HTML file. It is written completely or not at all.
    X : table
        The table the selector was fitted on.
    y : array
        The target it was fitted on.
    title : str, optional
    target_name : str, optional
        The name of the target; by default the name of y, if it has one.
    source : str, optional
        Where the data come from, such as the name of a file.
    command : str, optional
        The command that repeats the report, if there is one.
    notes : str or sequence of str, optional
        Remarks of your own, one for each paragraph.
    overwrite : bool
        Whether to replace an existing file.
    max_seconds : float or None
        About how long the explanations may take. The selected features are explained first, then
        the most relevant ones that were not selected, up to 40. None: as long as it takes.
    progress : callable, optional
        Called with a ``hocmim.search.progress.ProgressEvent``, stages "encode" and "explain".

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    InvalidParameterError
        If the file already exists.
    InvalidTableError, InvalidTargetError
        If X or y is not what the selector was fitted on.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hocmim import HOCMIM
    >>> from hocmim.insight.report.page import write_report
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = HOCMIM(5).fit(X, y)
    >>> write_report(selector, "report.html", X, y)  # doctest: +SKIP
    """
    check_writable(path, overwrite=overwrite)  # before the work, and again when it is written
    page = make_page(
        selector,
        X,
        y,
        title=title,
        target_name=target_name,
        source=source,
        command=command,
        remarks=[notes] if isinstance(notes, str) else list(notes or ()),
        max_seconds=max_seconds,
        progress=progress,
    )
    data = page.encode("utf-8")
    hint = "Pass overwrite=True to replace it"
    return write_file(path, lambda file: file.write(data), overwrite=overwrite, hint=hint)


def make_page(
    selector: Any,
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    target_name: str | None = None,
    source: str | None = None,
    command: str | None = None,
    remarks: Sequence[str] = (),
    max_seconds: float | None = None,
    progress: ProgressCallback | None = None,
) -> str:
    """Return the page as HTML: see ``write_report``."""
    template = _environment().get_template("report.html")
    _tell(progress, "encode")
    X, y = split_target(X, y)
    table = as_table(X)
    basis = basis_of(selector, table, y)
    explanations = explain_features(basis, max_seconds, progress)
    repeated_by, repeated = most_repeated(basis)
    targets = [one.column for one in basis.averaged]
    together = cumulative_information(basis.selected_columns, *targets)
    findings = find_oddities(basis, table)
    doubts = find_doubts(basis, findings)
    matrix = basis.redundancy_matrix(MAX_MAPPED)
    K = len(basis.selection)
    interactions = find_interactions(basis, MAX_COMBINED) if K > 1 else None
    title = title or f"Features selected by {basis.method}"
    body = template.render(
        title=title,
        method=basis.method,
        source=source,
        target_name=target_name or _name_of_target(y),
        remarks=remarks,
        n_selected=K,
        n_features=len(basis.features),
        is_search=basis.criterion is not None,
        estimator=basis.estimator,
        has_costs=basis.selection.spending is not None,
        figures=figures(basis, together),
        summary=[*summary(basis, together, repeated_by, repeated), *_doubts(basis, doubts)],
        rows=selected_rows(basis, matrix, doubts),
        charts=information_charts(basis, together),
        heat=heat_map(matrix) if K > 1 else None,
        interactions=interactions,
        bars=interaction_bars(interactions) if interactions else [],
        substitutes=list(Replacements(basis).of_selected(N_SUBSTITUTES, MAX_REPLACED)) if K else [],
        tree=feature_tree(basis),
        min_share=1 - MAX_DISTANCE,
        explanations=[(one, _tag(one), step_chart(one)) for one in explanations.values()],
        findings=findings,
        most_listed=MAX_LISTED,
        codings=codings(basis),
        call=call(basis),
        command=command,
        facts=facts(basis, fingerprint(table, y), source),
        parameters=[(name, repr(value)) for name, value in basis.parameters.items()],
        feature_name=lambda k: feature_name(basis, k),
        feature_of=lambda j: int(basis.features.of_column[j]),
        places=basis.places,
    )
    scripts = [sorting_script(), asset(_FOLDER, "report.js")]
    data = every_feature(basis, repeated_by, repeated)
    style = asset(_FOLDER, "report.css")
    return document(printable(title), body, style=style, scripts=scripts, data=data)


_FOLDER = "hocmim.insight.report"


def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise not_installed("A report needs", "jinja2") from error
    environment = Environment(
        loader=PackageLoader(_FOLDER, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=printable,
    )
    environment.filters |= {"percent": percent, "number": _number}
    return environment


def _number(value: float, form: str = ".4f") -> str:
    """Format a number with a typographic minus sign; a dash if it is NaN."""
    text = "∞" if math.isinf(value) else f"{abs(value):{form}}"
    return "–" if math.isnan(value) else f"{'−' if value < 0 else ''}{text}"


def printable(value: Any) -> Any:
    """Return text with control characters and halves of surrogate pairs replaced by symbols.

    Marks of direction, which would show other letters in another order, become escapes.

    Also line breaks: what has lines is escaped in the template (``| e``), which is no text any
    more. Anything else than text is returned as it is.
    """
    if type(value) is not str or value.isprintable():
        return value
    return "".join(map(_symbol, value))


def _symbol(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0x80 <= code < 0xA0 or 0xD800 <= code < 0xE000:
        return "\ufffd"
    # Marks of direction and characters without a width, but not those that join emoji and letters.
    return character if character in "\u200c\u200d" else escaped(character)


def feature_name(basis: Basis, k: int) -> str:
    """Return the name of feature k, or ``column j``."""
    names = basis.features.names
    return f"column {basis.features.first[k]}" if names is None else str(names[k])


def _in_words(basis: Basis, k: int) -> str:
    """Return the name of feature k, for a sentence."""
    return one_line(quote(feature_name(basis, k)), MAX_NAME_LENGTH)


def _name_of_target(y: Any) -> str:
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "the target"


def _tell(
    progress: ProgressCallback | None, stage: str, done: int = 0, total: int | None = None
) -> None:
    if progress is not None:
        progress(ProgressEvent(stage, n_terms=done, n_terms_total=total))


# --- explanations ---------------------------------------------------------------------------------


def explain_features(
    basis: Basis, max_seconds: float | None = None, progress: ProgressCallback | None = None
) -> dict[int, Explanation]:
    """Explain the selected features, where the selection stopped, and the most relevant others.

    By feature index, selected ones first. As many as there is time for, and at least one.
    """
    best = [index for index, _ in basis.best]
    runners_up = [step.runner_up.index for step in basis.selection.steps if step.runner_up]
    by_relevance = np.argsort(-basis.relevance, kind="stable").tolist()
    others = [k for k in dict.fromkeys([*runners_up, *by_relevance]) if k not in basis.places]
    others.sort(key=lambda k: -basis.relevance[k])
    chosen = [*best[:MAX_SELECTED_EXPLAINED], *others[:MAX_OTHERS_EXPLAINED]]
    chosen = list(dict.fromkeys([*chosen, *best[len(basis.selection) :]]))
    found: dict[int, Explanation] = {}
    began = time.process_time()
    for k in chosen:
        is_late = max_seconds is not None and time.process_time() - began > max_seconds
        if found and is_late:
            break
        found[k] = explain_column(basis, basis.all_codes.column(k))
        _tell(progress, "explain", len(found), len(chosen))
    _tell(progress, "explain", len(found), len(found))
    return found


def _tag(one: Explanation) -> str:
    return "not selected" if one.rank is None else f"selected as number {one.rank}"


def step_chart(one: Explanation) -> LineChart | None:
    """Return the score of a feature at each step beside the largest one; None for one step."""
    if len(one.steps) < 2:
        return None
    lines = {
        "largest score": [step.best_score for step in one.steps],
        "its score": [step.score for step in one.steps],
    }
    titles = [f"step {step.step}: {one_line(step.best, MAX_NAME_LENGTH)}" for step in one.steps]
    return line_chart([step.step for step in one.steps], lines, titles)


def most_repeated(basis: Basis) -> tuple[NDArray[np.int64], Values]:
    """Return for every feature the selected one that repeats most of it, and how much.

    As places in the order of selection, −1 if no feature selected before it repeats anything; the
    redundancy I(X;s) − I(X;s|Y), in nats.
    """
    codes, D = basis.all_codes, len(basis.features)
    place, most = np.full(D, -1, np.int64), np.zeros(D)
    n_before = np.array([basis.places.get(k, len(basis.selection)) for k in range(D)])

    def compare(start: int) -> None:
        stop = min(D, start + BLOCK_COLUMNS)
        terms, part = basis.terms(codes.block(start, stop)), slice(start, stop)
        for rank, column in enumerate(basis.selected_columns[:MAX_COMPARED]):
            value = np.where(rank < n_before[part], terms.redundancy(column.joint), 0.0)
            is_more = value > most[part] + 1e-12
            place[part][is_more], most[part][is_more] = rank, value[is_more]

    starts = range(0, D, BLOCK_COLUMNS)
    with ThreadPool(min(resolve_n_jobs(basis.n_jobs), max(1, len(starts)))) as pool:
        for _ in pool.map(compare, starts):
            pass
    return place, most


def every_feature(basis: Basis, repeated_by: NDArray[np.int64], repeated: Values) -> dict[str, Any]:
    """Return the list of all features, for the search box: sorted by relevance.

    A row is a feature: its index, name, relevance, place in the order of selection (0: not
    selected), the selected feature that repeats most of it, and the percentage.
    """
    order = np.argsort(-basis.relevance, kind="stable").tolist()
    selected = basis.selection.indices.tolist()
    rows: list[list[Any]] = []
    for k in order:
        relevance, by = float(basis.relevance[k]), int(repeated_by[k])
        row = [
            k,
            printable(feature_name(basis, k)),
            round(relevance, 4),
            basis.places.get(k, -1) + 1,
        ]
        if by >= 0 and relevance > 0:
            row += [selected[by], percent(redundant_share(relevance, float(repeated[k])))]
        rows.append(row)
    return {"features": rows}


# --- summary --------------------------------------------------------------------------------------


def figures(basis: Basis, together: Cumulative) -> list[tuple[str, str]]:
    """Return the figures at the top of the page, each with its label."""
    K, D = len(basis.selection), len(basis.features)
    found = [(f"{K:,} of {D:,}", "features selected")]
    if K:
        low, high = (min(1.0, v / basis.target_entropy) for v in _ends(together))
        found.append((percent_range(low, high), "of the target explained"))
        r2 = basis.explained_variance(basis.selected_columns)
        if r2 is not None:
            found.append((f"{r2:.2f}", "R² of the selected features"))
    found.append((f"{basis.n_samples:,}", "samples"))
    if len(basis.averaged) > 1:
        return [*found, (f"{len(basis.averaged):,}", "targets")]
    what = "bins of the target" if basis.target.cuts is not None else "classes"
    return [*found, (f"{Joint.of([basis.y]).n_cells:,}", what)]


def _ends(together: Cumulative) -> tuple[float, float]:
    """Return I(S;Y) of all selected features: the part beyond chance, and the plug-in estimate."""
    return float(together.supported[-1]), float(together.counted[-1])


def summary(
    basis: Basis, together: Cumulative, repeated_by: NDArray[np.int64], repeated: Values
) -> Iterator[str]:
    """Say what was selected, how much information it has, and why the selection stopped."""
    selection, K, D = basis.selection, len(basis.selection), len(basis.features)
    of_all = f"{count(D, 'feature')}, from {count(basis.n_samples, 'sample')}."
    if not K:
        yield f"{basis.method} selected none of {of_all}"
    else:
        k = selection.steps[0].index
        share = percent(max(0.0, basis.relevance[k]) / basis.target_entropy)
        which = f"The first, {_in_words(basis, k)}, alone" if K > 1 else _in_words(basis, k)
        yield (
            f"{basis.method} selected {K:,} of {of_all} {which} has {basis.relevance[k]:.2f} nats "
            f"of information about the target: {share} of its entropy."
        )
    if len(basis.averaged) > 1:
        yield (
            f"There are {len(basis.averaged):,} targets. Relevance, scores, redundancy, entropy "
            "and information on this page are means over them, and “the target” stands for all "
            "of them."
        )
    if K:
        yield _how_much(basis, *_ends(together))
        r2 = basis.explained_variance(basis.selected_columns)
        if r2 is not None:
            yield (
                "A linear model with one term for each bin or level of the selected features "
                f"explains {percent(r2)} of the variance of the target (adjusted R²)."
            )
    yield from _constraints(basis)
    yield _why_it_stopped(basis)
    by_relevance = np.argsort(-basis.relevance, kind="stable").tolist()
    not_selected = [k for k in by_relevance if k not in basis.places]
    for k in not_selected[:1] if K else ():
        text = f"Of the features not selected, {_in_words(basis, k)} has the largest relevance "
        relevance, by = float(basis.relevance[k]), int(repeated_by[k])
        text += f"({relevance:.2f} nats)"
        if by >= 0 and relevance > 0:
            share = percent(redundant_share(relevance, float(repeated[k])))
            text += f", but {_in_words(basis, selection.steps[by].index)} repeats {share} of it"
        yield f"{text}."
    if selection.error_control is not None:
        yield f"For a paper: “{statement(basis.method, selection)}”"


def _how_much(basis: Basis, low: float, high: float) -> str:
    entropy = basis.target_entropy
    subject = "Together they have" if len(basis.selection) > 1 else "It has"
    if round(low, 2) == round(high, 2):
        return f"{subject} about {low:.2f} of {entropy:.2f} nats ({percent(low / entropy)})."
    return (
        f"{subject} between {low:.2f} and {high:.2f} of {entropy:.2f} nats "
        f"({percent(low / entropy)} to {percent(high / entropy)}). The lower figure is the part "
        "that chance cannot explain; the higher figure is the plug-in estimate, which includes "
        "chance."
    )


def _constraints(basis: Basis) -> Iterator[str]:
    """Say what had to be selected, what could not be, and what the selected features cost."""
    selection = basis.selection
    n_left_out, n_constant = len(basis.left_out), len(selection.constants)
    identify = "it identifies" if n_left_out == 1 else "they identify"
    have = "it has" if n_constant == 1 else "they have"
    for n, text in (
        (selection.n_kept, "kept (keep): selected in any case"),
        (len(selection.excluded), "excluded (exclude)"),
        (n_left_out, f"left out, because {identify} the rows"),
        (n_constant, f"left out, because {have} only one level"),
    ):
        if n:
            yield f"{count(n, 'feature')} {'was' if n == 1 else 'were'} {text}."
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
        return "The selection stopped at the requested number of features."
    best = _in_words(basis, stopping.index)
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


# --- the selected features ------------------------------------------------------------------------


def selected_rows(
    basis: Basis, matrix: Values, doubts: dict[int, list[str]]
) -> list[dict[str, Any]]:
    """Return the rows of the table of selected features, in the order of selection."""
    selection = basis.selection
    relevances = basis.relevance[selection.indices]
    largest = max(float(relevances.max(initial=0.0)), 1e-300)
    rows = []
    for place, step in enumerate(selection.steps[:MAX_ROWS]):
        relevance, by, share = float(relevances[place]), None, None
        before = matrix[place, :place] if place < len(matrix) else matrix[:0, 0]
        if len(before) and before.max() > 1e-12:
            most = int(np.argmax(before))
            by = feature_name(basis, selection.steps[most].index)
            share = redundant_share(relevance, float(before[most])) if relevance > 0 else None
        rows.append(
            {
                "index": step.index,
                "name": feature_name(basis, step.index),
                "doubts": doubts.get(step.index, []),
                "relevance": relevance,
                "width": 100 * max(0.0, relevance) / largest,
                "score": step.score,
                "p_value": None if selection.p_values is None else float(selection.p_values[place]),
                "order": step.order,
                "is_kept": step.is_kept,
                "cost": None if selection.costs is None else float(selection.costs[place]),
                "by": by,
                "share": share,
            }
        )
    return rows


def information_charts(basis: Basis, together: Cumulative) -> list[tuple[str, LineChart]]:
    """Return I(S;Y) against the number of selected features and, with costs, against their cost."""
    K = len(basis.selection)
    if not K:
        return []
    names = [
        one_line(feature_name(basis, step.index), MAX_NAME_LENGTH) for step in basis.selection.steps
    ]
    titles = [
        f"{k}  + {name}\n{cells:,} cells, {basis.n_samples / cells:.1f} samples each on average"
        for k, (name, cells) in enumerate(zip(names, together.n_cells.tolist(), strict=True), 1)
    ]
    lines = {
        "plug-in estimate": together.counted,
        "beyond chance": together.supported,
        "due to chance": together.chance,
        "entropy of the target": np.full(K, basis.target_entropy),
    }
    found = [
        ("features selected", line_chart(np.arange(1, K + 1), lines, titles, has_band=True)),
    ]
    costs = basis.selection.costs
    if costs is not None:
        shown = {name: [0.0, *lines[name]] for name in ("plug-in estimate", "beyond chance")}
        total = np.concatenate([[0.0], np.cumsum(costs)])
        titles = ["nothing", *(f"cost {c:g}: + {n}" for c, n in zip(total[1:], names, strict=True))]
        chart = line_chart(total, shown, titles, has_band=True, is_counted=False)
        found.append(("cost of the selected features", chart))
    return found


def interaction_bars(found: SelectedInteractions) -> list[dict[str, Any]]:
    """Return the largest synergies, then the largest redundancies, as bars on one scale.

    Places are in percent of the width; 50 is zero.
    """
    rows = [
        row
        for kind in ("synergy", "redundancy")
        for row in [row for row in found.rows if row.kind == kind][:N_INTERACTIONS]
    ]
    largest = max((max(abs(row.value), row.noise) for row in rows), default=1.0)
    return [
        {
            "pair": row,
            "left": 50 + 50 * min(0.0, row.value) / largest,
            "width": 50 * abs(row.value) / largest,
            "noise_left": 50 - 50 * row.noise / largest,
            "noise_width": 100 * row.noise / largest,
        }
        for row in rows
    ]


def feature_tree(basis: Basis) -> Tree | None:
    """Return the tree of all features, or of the selected and the most relevant ones."""
    by_relevance = np.argsort(-basis.relevance, kind="stable").tolist()
    chosen = list(dict.fromkeys([*basis.selection.indices.tolist(), *by_relevance]))
    leaves = sorted(chosen[:MAX_LEAVES])
    if len(leaves) < 2 or not len(basis.selection):
        return None
    codes = Codes.from_columns([basis.all_codes.column(k) for k in leaves])
    clusters = cluster_codes(codes, max_rows=TREE_ROWS, n_jobs=basis.n_jobs)
    assert clusters.linkage is not None
    return draw_tree(clusters.linkage, leaves, clusters.max_distance)


# --- data and how to repeat it --------------------------------------------------------------------


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


def _doubts(basis: Basis, doubts: dict[int, list[str]]) -> Iterator[str]:
    for k, reasons in list(doubts.items())[:MAX_DOUBTS]:
        what = " and ".join(reasons)
        yield f"Check {_in_words(basis, k)} before you trust this selection: it {what}."


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


def call(basis: Basis) -> str:
    """Return the Python code that repeats the selection and the report."""
    import hocmim

    name = basis.class_name
    kind = getattr(hocmim, name, None)
    is_public = kind is not None and kind.__module__ == basis.module
    defaults = signature(kind).parameters if is_public and kind is not None else {}
    given = {
        parameter: value
        for parameter, value in basis.parameters.items()
        if parameter == "n_features_to_select"
        or parameter not in defaults
        or repr(value) != repr(defaults[parameter].default)
    }
    kinds = {type(value).__name__ for value in given.values()}
    others = sorted(kind for kind in kinds if kind[0].isupper() and hasattr(hocmim, kind))
    imports = [f"from {'hocmim' if is_public else basis.module} import {name}"]
    imports += [f"from hocmim import {', '.join(others)}"] if others else []
    arguments = ", ".join(f"{parameter}={value!r}" for parameter, value in given.items())
    return (
        "\n".join(imports) + f"\n\nselector = {name}({arguments})\n"
        "selector.fit(X, y)\n"
        'selector.report("report.html", X, y)'
    )


def facts(basis: Basis, digits: str, source: str | None) -> list[tuple[str, str]]:
    """Return the data, the versions and the time of the report."""
    found = [("Data", f"{basis.n_samples:,} × {basis.features.n_columns:,}, fingerprint {digits}")]
    if source:
        found.insert(0, ("Source", source))
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return [*found, ("Versions", versions), ("System", machine), ("Written", now)]

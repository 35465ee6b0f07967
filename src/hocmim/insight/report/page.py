"""The report page: a list of explanations, pictures and a template, in one HTML file.

``make_page`` gathers what the template shows, section by section, in the order of the page:

=====================  ===========================================================================
summary                ``words.summary``, ``words.table_check``
selected columns       ``chart_data.target_by_level``; ``chart_data.sample_map`` for few rows
prediction             ``prediction.predict``
together               ``synergy.strongest_map``, ``interaction_bars``
stability              ``chart_data.frequencies_of``
all columns            ``chart_data.column_map``
table                  ``checks.check_codes``, ``words.codings``
details                ``words.details``, ``selected_rows``, ``substitutes.Replacements``
every feature          ``explain_features``, ``every_feature`` (the data of the search box)
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
from collections.abc import Sequence
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.encoded import split_target
from hocmim.data.table import as_table
from hocmim.data.writing import check_writable, write_file
from hocmim.errors import InvalidParameterError, not_installed
from hocmim.information.counting import Values
from hocmim.insight.basis import Basis, basis_of
from hocmim.insight.chart_data import (
    column_map,
    format_number,
    frequencies_of,
    is_wide,
    sample_map,
    target_by_level,
)
from hocmim.insight.explain import Explanation, explain_column, redundant_share
from hocmim.insight.fingerprint import fingerprint
from hocmim.insight.pages import asset, document, sorting_script
from hocmim.insight.prediction import Prediction, predict
from hocmim.insight.report import words
from hocmim.insight.report.charts import LineChart, line_chart, sample_paths, scatter
from hocmim.insight.report.words import MAX_NAME_LENGTH, feature_name
from hocmim.insight.substitutes import MAX_COMPARED, Replacements
from hocmim.insight.synergy import SelectedInteractions, find_interactions, strongest_map
from hocmim.parameters import (
    BOOLEAN,
    FUNCTION_OR_NONE,
    PATH,
    TEXT,
    TEXTS,
    checked,
    number,
)
from hocmim.search.progress import Progress, ProgressCallback
from hocmim.text import escaped, one_line, percent, value_text
from hocmim.threads import ThreadPool, resolve_n_jobs

# About how long the explanations may take.
MAX_SECONDS = 10.0
# Features that are explained: selected ones, and the most relevant ones that were not selected.
MAX_SELECTED_EXPLAINED, MAX_OTHERS_EXPLAINED = 100, 40
# Rows of the table of selected features, pictures of them, and those compared with each other.
MAX_ROWS, MAX_PICTURES, MAX_MAPPED = 500, 24, 40
# Selected features whose substitutes are shown, and substitutes of each.
MAX_REPLACED, N_SUBSTITUTES = 50, 3
# Selected features that are combined, and interactions of each kind that are shown.
MAX_COMBINED, N_INTERACTIONS = 30, 8
# Columns listed for a finding, and bars of the stability.
MAX_LISTED, MAX_BARS = 200, 20
# Columns a thread compares with the selected features at a time.
BLOCK_COLUMNS = 512
LIBRARIES = ("hocmim", "numpy", "scipy", "scikit-learn", "narwhals")


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
    stability: Any = None,
    overwrite: bool = False,
    max_seconds: float | None = MAX_SECONDS,
    progress: ProgressCallback | None = None,
) -> Path:
    """Write a report on a selection: what was selected and why, and why other features were not.

    One HTML file that needs no network. It shows how the target depends on each selected feature,
    how well they predict new rows, which work together, all features at a glance, what is odd in
    the table, what could replace a feature, why a feature was selected or not, and how to repeat
    the selection. Needs ``pip install jinja2``.

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
    stability : StabilitySelector, optional
        Fitted on the same table: how often each column is selected on resamples of the rows.
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
    if stability is not None and not hasattr(stability, "clusters_"):
        raise InvalidParameterError(
            f"stability must be a fitted StabilitySelector. Got {value_text(stability)} instead."
        )
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
        stability=selector if hasattr(selector, "clusters_") else stability,
        max_seconds=max_seconds,
        progress=progress,
    )
    data = page.encode("utf-8")
    return write_file(path, lambda file: file.write(data), overwrite=overwrite)


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
    stability: Any = None,
    max_seconds: float | None = None,
    progress: ProgressCallback | None = None,
) -> str:
    """Return the page as HTML: see ``write_report``."""
    template = _environment().get_template("report.html")
    told = Progress("report", progress)
    told.begin("encode", "reading the table")
    X, y = split_target(X, y)
    table = as_table(X)
    basis = basis_of(selector, table, y)
    explanations = explain_features(basis, max_seconds, told)
    repeated_by, repeated = most_repeated(basis)
    findings = words.find_oddities(basis, table)
    doubts = words.find_doubts(basis, findings)
    K = len(basis.selection)
    interactions = find_interactions(basis, MAX_COMBINED) if K > 1 else None
    samples = sample_map(basis, MAX_MAPPED) if K and is_wide(basis) else None
    prediction = predict(basis)
    names = [feature_name(basis, step.index) for step in basis.selection.steps]
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
        figures=words.figures(basis, prediction),
        summary=[*words.summary(basis, prediction), *words.warnings_of(basis, doubts)],
        checks=words.table_check(findings),
        doubts=doubts,
        pictures=[target_by_level(basis, c) for c in basis.selected_columns[:MAX_PICTURES]],
        samples=samples,
        sample_paths=sample_paths(samples) if samples else [],
        prediction=prediction,
        prediction_chart=prediction_chart(prediction) if prediction else None,
        together=strongest_map(basis, interactions),
        interactions=interactions,
        bars=interaction_bars(interactions) if interactions else [],
        notes=basis.selection.notes,
        stability=None if stability is None else frequencies_of(stability),
        most_bars=MAX_BARS,
        map=scatter(column_map(basis), [*basis.places], names, basis.selection.closed),
        details=list(words.details(basis, repeated_by, repeated)),
        rows=selected_rows(basis, doubts, repeated_by, repeated),
        substitutes=list(Replacements(basis).of_selected(N_SUBSTITUTES, MAX_REPLACED)) if K else [],
        explanations=[(one, _tag(one), step_chart(one)) for one in explanations.values()],
        findings=findings,
        most_listed=MAX_LISTED,
        codings=words.codings(basis),
        call=call(basis),
        command=command,
        facts=facts(basis, fingerprint(table, y), source),
        parameters=[(name, repr(value)) for name, value in basis.parameters.items()],
        feature_name=lambda k: feature_name(basis, k),
        feature_of=lambda j: int(basis.features.of_column[j]),
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
    environment.filters |= {"percent": percent, "number": _number, "short": format_number}
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


def _name_of_target(y: Any) -> str:
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "the target"


# --- explanations ---------------------------------------------------------------------------------


def explain_features(
    basis: Basis, max_seconds: float | None = None, progress: Progress | None = None
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
    progress = Progress("report") if progress is None else progress
    progress.begin("explain", "explaining columns", len(chosen))
    began = time.process_time()
    for k in chosen:
        is_late = max_seconds is not None and time.process_time() - began > max_seconds
        if found and is_late:
            break
        found[k] = explain_column(basis, basis.all_codes.column(k))
        progress.count("explaining columns, {}")
    progress.move(f"{len(found)} columns explained", len(found), len(found))
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


# --- the selected features ------------------------------------------------------------------------


def prediction_chart(found: Prediction) -> LineChart:
    """Return the accuracy against the number of features, beside that of none."""
    sizes, mean, error = found.validation.sizes, found.mean, found.standard_error
    lines = {"with the columns": mean, "without a column": np.full(len(sizes), found.baseline)}
    titles = [f"{size} columns" if size != 1 else "1 column" for size in sizes.tolist()]
    return line_chart(
        sizes,
        lines,
        titles,
        band=(mean - error, mean + error),
        has_zero=False,
        form=(lambda share: f"{100 * share:.4g}%") if found.is_rate else None,
    )


def selected_rows(
    basis: Basis, doubts: dict[int, list[str]], repeated_by: NDArray[np.int64], repeated: Values
) -> list[dict[str, Any]]:
    """Return the rows of the table of selected features, in the order of selection."""
    selection = basis.selection
    relevances = basis.relevance[selection.indices]
    largest = max(float(relevances.max(initial=0.0)), 1e-300)
    rows = []
    for place, step in enumerate(selection.steps[:MAX_ROWS]):
        relevance, by, share = float(relevances[place]), None, None
        if repeated_by[step.index] >= 0:
            by = feature_name(basis, selection.steps[repeated_by[step.index]].index)
            value = float(repeated[step.index])
            share = redundant_share(relevance, value) if relevance > 0 else None
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


# --- data and how to repeat it --------------------------------------------------------------------


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

"""The report page: a list of explanations, pictures and a template, in one HTML file.

``write_report`` gathers what the template ``report.html`` shows. The page runs no script and loads
nothing; its policy forbids both.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import platform
import re
import sys
import time
from collections.abc import Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from hocmim.coding.encoded import split_target
from hocmim.data.table import as_table
from hocmim.data.writing import check_writable, write_file
from hocmim.errors import InvalidParameterError, not_installed
from hocmim.insight.basis import Basis, basis_of
from hocmim.insight.chart_data import (
    format_number,
    frequencies_of,
    is_wide,
    sample_map,
    target_by_level,
)
from hocmim.insight.explain import Explanation, explain_column, redundant_share
from hocmim.insight.prediction import predict
from hocmim.insight.report import words
from hocmim.insight.report.charts import prediction_chart, sample_paths, scatter
from hocmim.insight.report.words import feature_name
from hocmim.insight.substitutes import Replacements
from hocmim.insight.synergy import find_interactions, strongest_map
from hocmim.parameters import BOOLEAN, FUNCTION_OR_NONE, PATH, TEXT, TEXTS, checked
from hocmim.search.progress import Progress, ProgressCallback
from hocmim.text import escaped, percent, value_text

# About how long the explanations may take, in seconds of the processor.
MAX_SECONDS = 10.0
# Features that are explained: selected ones, and the most relevant ones that were not selected.
MAX_SELECTED_EXPLAINED, MAX_OTHERS_EXPLAINED = 100, 40
# Pictures of selected features, and those whose levels are shown for each row.
MAX_PICTURES, MAX_MAPPED = 24, 40
# Selected features whose substitutes are shown, and substitutes of each.
MAX_REPLACED, N_SUBSTITUTES = 50, 3
# Selected features that are combined, and interactions of each kind that are shown.
MAX_COMBINED, N_INTERACTIONS = 30, 8
# Columns listed for a finding, and bars of the stability.
MAX_LISTED, MAX_BARS = 200, 20
LIBRARIES = ("hocmim", "numpy", "scipy", "scikit-learn", "narwhals")


@checked(
    path=PATH,
    title=TEXT,
    target_name=TEXT,
    source=TEXT,
    command=TEXT,
    notes=TEXTS,
    overwrite=BOOLEAN,
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
    progress: ProgressCallback | None = None,
) -> Path:
    """Write a report on a selection: what was selected and why, and why other features were not.

    One HTML file that needs no network. It shows how the target depends on each selected feature,
    how well they predict new rows, which work together, all features at a glance, what is odd in
    the table, what could replace a feature, why a feature was selected or not, and how to repeat
    the selection. All selected features are explained, up to 100, then the most relevant others, up
    to 40; if that takes more than about ten seconds, fewer. Needs ``pip install jinja2``.

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
    if hasattr(selector, "clusters_"):
        stability = selector
    template = _template()
    told = Progress("report", progress)
    told.begin("encode", "reading the table")
    X, y = split_target(X, y)
    table = as_table(X)
    basis = basis_of(selector, table, y)
    selection, K = basis.selection, len(basis.selection)
    explanations = explain_features(basis, told)
    findings = words.find_oddities(basis, table)
    doubts = words.find_doubts(basis, findings)
    interactions = find_interactions(basis, MAX_COMBINED) if K > 1 else None
    pairs = [] if interactions is None else interactions.rows
    samples = sample_map(basis, MAX_MAPPED) if K and is_wide(basis) else None
    prediction = predict(basis)
    names = [feature_name(basis, step.index) for step in selection.steps]
    page = template.render(
        style=resources.files(_FOLDER).joinpath("report.css").read_text("utf-8"),
        title=title or f"Features selected by {basis.method}",
        method=basis.method,
        source=source,
        target_name=target_name or _name_of_target(y),
        remarks=[notes] if isinstance(notes, str) else notes or (),
        n_selected=K,
        n_features=len(basis.features),
        is_search=basis.criterion is not None,
        estimator=basis.estimator,
        selection=selection,
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
        pairs=[
            pair
            for kind in ("synergy", "redundancy")
            for pair in [pair for pair in pairs if pair.kind == kind][:N_INTERACTIONS]
        ],
        stability=None if stability is None else frequencies_of(stability),
        most_bars=MAX_BARS,
        map=scatter(basis, names),
        details=list(words.details(basis, explanations)),
        substitutes=list(Replacements(basis).of_selected(N_SUBSTITUTES, MAX_REPLACED)) if K else [],
        explanations=explanations,
        repeated=repeated,
        findings=findings,
        most_listed=MAX_LISTED,
        codings=words.codings(basis),
        call=call(selector),
        command=command,
        facts=facts(basis, source),
        parameters=[(name, repr(value)) for name, value in basis.parameters.items()],
        feature_name=lambda k: feature_name(basis, k),
        feature_of=lambda j: int(basis.features.of_column[j]),
    )
    data = page.encode("utf-8")
    return write_file(path, lambda file: file.write(data), overwrite=overwrite)


_FOLDER = "hocmim.insight.report"


def _template() -> Any:
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
    return environment.get_template("report.html")


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


def explain_features(basis: Basis, progress: Progress) -> dict[int, Explanation]:
    """Explain the selected features, where the selection stopped, and the most relevant others.

    By feature index, selected ones first. As many as there is time for, and at least one.
    """
    best = [index for index, _ in basis.best]
    by_relevance = np.argsort(-basis.relevance, kind="stable").tolist()
    others = [k for k in by_relevance if k not in basis.places][:MAX_OTHERS_EXPLAINED]
    stopped_at = best[len(basis.selection) :]
    chosen = list(dict.fromkeys([*best[:MAX_SELECTED_EXPLAINED], *others, *stopped_at]))
    found: dict[int, Explanation] = {}
    progress.begin("explain", "explaining columns", len(chosen))
    began = time.process_time()
    for k in chosen:
        if found and time.process_time() - began > MAX_SECONDS:
            break
        found[k] = explain_column(basis, basis.all_codes.column(k))
        progress.count("explaining columns, {}")
    progress.move(f"{len(found)} columns explained", len(found), len(found))
    return found


def repeated(one: Explanation) -> tuple[str, str] | None:
    """Return the feature that repeats most of another one, and how much of it, if any does."""
    if one.relevance <= 0 or not one.shared():
        return None
    name, value = one.shared()[0]
    return name, percent(redundant_share(one.relevance, value))


# --- data and how to repeat it --------------------------------------------------------------------


def call(selector: Any) -> str:
    """Return the Python code that repeats the selection and the report."""
    import hocmim

    shown = selector.__repr__(N_CHAR_MAX=sys.maxsize)
    kind = type(selector)
    found = set(re.findall(r"\b[A-Z]\w*(?=\()", shown))
    public = ", ".join(sorted(word for word in found if hasattr(hocmim, word)))
    imports = [f"from hocmim import {public}"] if public else []
    if not hasattr(hocmim, kind.__name__):
        imports.append(f"from {kind.__module__} import {kind.__name__}")
    return (
        "\n".join(imports) + f"\n\nselector = {shown}\n"
        "selector.fit(X, y)\n"
        'selector.report("report.html", X, y)'
    )


def facts(basis: Basis, source: str | None) -> list[tuple[str, str]]:
    """Return the data, the versions and the time of the report."""
    found = [("Data", f"{basis.n_samples:,} × {basis.features.n_columns:,}")]
    if source:
        found.insert(0, ("Source", source))
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return [*found, ("Versions", versions), ("System", machine), ("Written", now)]

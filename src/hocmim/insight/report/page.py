"""The report page: numbers and words in one self-contained HTML file."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from hocmim.data.writing import check_writable, write_file
from hocmim.errors import not_installed
from hocmim.insight.pages import asset, document, sorting_script
from hocmim.insight.relations.clusters import MAX_LINKED
from hocmim.insight.report import content
from hocmim.insight.report.data import page_data, printable
from hocmim.insight.report.evidence import MAX_MAPPED
from hocmim.insight.report.material import MAX_SECONDS, Material, collect
from hocmim.insight.report.relations import (
    MIN_SHARE,
    bars,
    draw_map,
    draw_tree,
    relations_data,
)
from hocmim.insight.report.words import Name, summary
from hocmim.parameters import (
    BOOLEAN,
    FUNCTION_OR_NONE,
    PATH,
    TEXT,
    TEXTS,
    HasMethods,
    Number,
    checked,
)
from hocmim.search.progress import ProgressCallback
from hocmim.text import percent

# Notes of one kind are listed openly up to this number, and folded beyond it.
MAX_OPEN_NOTES = 12


SELECTOR = HasMethods(("basis", "get_support", "report"), "a fitted selector of hocmim")


@checked(
    selector=SELECTOR,
    path=PATH,
    title=TEXT,
    target_name=TEXT,
    source=TEXT,
    command=TEXT,
    notes=TEXTS,
    overwrite=BOOLEAN,
    max_seconds=Number(0, or_none=True),
    progress=FUNCTION_OR_NONE,
)
def write_report(
    selector: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
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
    """Write a report on a selection: what was selected and why, and why any feature was not.

    One HTML file that needs no network. It shows the selected features and what each adds, their
    information together, their redundancy, an answer for every feature, notes on the data, and how
    to repeat the selection. Needs ``pip install jinja2``.

    Parameters
    ----------
    selector : selector of hocmim
        Fitted.
    X : table
        The table it was fitted on.
    y : array
        The target it was fitted on.
    path : path
        Of the HTML file. It is written completely or not at all.
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
        About how long the scores at each step may take. If all features take longer, only those
        that add most to the selected ones are scored. None: all features.
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
    >>> from hocmim.insight.report import write_report
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = HOCMIM(5).fit(X, y)
    >>> write_report(selector, X, y, "report.html")  # doctest: +SKIP
    """
    check_is_fitted(selector)
    check_writable(path, overwrite=overwrite)  # before the work, and again when it is written
    page = make_page(
        collect(selector, X, y, max_seconds=max_seconds, progress=progress),
        target_name=target_name or content.target_name(y),
        title=title,
        source=source,
        command=command,
        remarks=[notes] if isinstance(notes, str) else list(notes or ()),
    )
    return write_page(page, path, overwrite=overwrite)


def write_page(
    page: str,
    path: str | os.PathLike[str],
    *,
    overwrite: bool,
    hint: str = "Pass overwrite=True to replace it",
) -> Path:
    """Write a page to a file, completely or not at all."""
    data = page.encode("utf-8")
    return write_file(path, lambda file: file.write(data), overwrite=overwrite, hint=hint)


def make_page(
    material: Material,
    *,
    target_name: str,
    title: str | None = None,
    source: str | None = None,
    command: str | None = None,
    remarks: Sequence[str] = (),
) -> str:
    """Return the page as HTML."""
    evidence, notes = material.evidence, material.notes
    title = title or f"Features selected by {evidence.method}"
    doubts = content.find_doubts(evidence, notes)
    template = _environment().get_template("report.html")
    body = template.render(
        title=printable(title),
        source=printable(source) if source else None,
        target_name=printable(target_name),
        remarks=[printable(remark) for remark in remarks],
        evidence=evidence,
        tiles=content.tiles(evidence),
        summary=[*summary(evidence), *content.doubts_in_words(evidence, doubts)],
        rows=content.rows(evidence, doubts),
        most_rows=content.MAX_ROWS,
        most_mapped=MAX_MAPPED,
        note_groups=content.note_groups(notes),
        most_notes=MAX_OPEN_NOTES,
        encodings=content.encoding_counts(evidence),
        targets=content.targets_in_words(evidence),
        call=content.call(evidence.selector),
        command=printable(command) if command else None,
        facts=content.facts(evidence, material.fingerprint, source),
        parameters=content.parameters(evidence.selector),
        **_related(material),
    )
    assets = ("hocmim.insight.report", "assets")
    scripts = [
        asset(*assets, "chart.umd.min.js"),
        asset(*assets, "chartjs-chart-matrix.min.js"),
        sorting_script(),
        asset(*assets, "report.js"),
        asset(*assets, "relations.js"),
    ]
    style = asset(*assets, "report.css") + asset(*assets, "relations.css")
    data = page_data(evidence, notes)
    data["relations"] = relations_data(material.relations, evidence.basis)
    return document(printable(title), body, style=style, scripts=scripts, data=data)


def _related(material: Material) -> dict[str, Any]:
    """Return what the template shows of related features."""
    found = material.relations
    return {
        "relations": found,
        "tree": draw_tree(found.tree if found else None),
        "cluster_map": draw_map(found.map if found else None),
        "interaction_bars": [bars(each) for each in (found.pairs, found.triples)] if found else [],
        "most_clustered": MAX_LINKED,
        "min_share": MIN_SHARE,
    }


def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise not_installed("A report needs", "jinja2") from error
    environment = Environment(
        loader=PackageLoader("hocmim.insight.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"printable": printable, "percent": percent, "number": _number}
    environment.tests["name"] = lambda piece: isinstance(piece, Name)
    return environment


def _number(value: float, form: str = ".4f") -> str:
    """Format a number with a typographic minus sign; a dash if it is NaN."""
    text = "∞" if math.isinf(value) else f"{abs(value):{form}}"
    return "–" if math.isnan(value) else f"{'−' if value < 0 else ''}{text}"

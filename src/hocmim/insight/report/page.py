"""The report page: numbers and words into one self-contained HTML file."""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import os
import platform
import secrets
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.groups import Features
from hocmim.data.table import as_table
from hocmim.data.target import as_target
from hocmim.errors import InvalidParameterError, MissingDependencyError
from hocmim.insight.notes import KINDS, Note, data_notes
from hocmim.insight.pages import asset, document, sorting_script
from hocmim.insight.report.evidence import MOST_COMPARED, MOST_MAPPED, Evidence, gather
from hocmim.insight.report.fingerprint import fingerprint
from hocmim.insight.report.words import (
    Name,
    Sentence,
    describe_feature,
    percent,
    summary,
    together,
)

LIBRARIES = ("hocmim", "numpy", "scipy", "scikit-learn", "narwhals")
# Rows of the table of selected features, and notes of one kind shown one by one.
MOST_ROWS = 500
MOST_NOTES = 12
# Sentences of doubt in the summary.
MOST_DOUBTS = 3
# Notes given in full in the answers to a search.
MOST_MESSAGES = 4000
# The largest code of a point of a curve; the one above it stands for none.
TOP = 65_534

# Kinds of notes that cast doubt on a feature that was selected.
DOUBTS = {"copies target": "may copy the target", "id-like": "looks like an identifier"}
NOTE_TITLES = {
    "copies target": "May copy the target",
    "id-like": "Look like identifiers",
    "constant": "Constant",
    "many levels": "Many levels",
    "missing": "Missing values",
}


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
) -> Path:
    """Write a page on a selection: what was taken and why, and for any feature why not.

    One HTML file that needs no network: the selected features and what each adds, what they say
    together, how they overlap, a search over all features, notes on the data, and what it takes to
    repeat it. Needs ``pip install "hocmim[report]"``.

    Parameters
    ----------
    selector : selector of hocmim
        Fitted.
    X : table
        The table it was fitted on.
    y : array
        The target it was fitted on.
    path : path
        Of the page. It appears there when it is complete.
    title : str, optional
    target_name : str, optional
        What to call the target; by default the name of y, if it has one.
    source : str, optional
        Where the data come from, such as the name of a file.
    command : str, optional
        The command that repeats this, if there is one.
    notes : str or sequence of str, optional
        Remarks of your own, one a paragraph.
    overwrite : bool
        Whether a file that is there already may be replaced.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    InvalidParameterError
        If the file is there already.
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
    path = Path(path)
    _check_place(path, overwrite)  # before the work, and again after it
    page = make_page(
        gather(selector, X, y),
        _data_notes(selector, X, y),
        fingerprint=fingerprint(X, y),
        target_name=target_name or _target_name(y),
        title=title,
        source=source,
        command=command,
        remarks=[notes] if isinstance(notes, str) else list(notes or ()),
    )
    _write(page, path, overwrite)
    return path


def make_page(
    evidence: Evidence,
    notes: Sequence[Note],
    *,
    fingerprint: str,
    target_name: str,
    title: str | None = None,
    source: str | None = None,
    command: str | None = None,
    remarks: Sequence[str] = (),
) -> str:
    """The page as HTML."""
    title = title or f"What {evidence.method} selected"
    doubts = _doubts(evidence, notes)
    template = _environment().get_template("report.html")
    body = template.render(
        title=printable(title),
        source=printable(source) if source else None,
        target_name=printable(target_name),
        remarks=[printable(remark) for remark in remarks],
        evidence=evidence,
        tiles=_tiles(evidence),
        summary=[*summary(evidence), *_doubts_in_words(evidence, doubts)],
        rows=_rows(evidence, doubts),
        most_rows=MOST_ROWS,
        most_mapped=MOST_MAPPED,
        note_groups=_note_groups(notes),
        most_notes=MOST_NOTES,
        encodings=_encoding_counts(evidence),
        call=_call(evidence.selector),
        command=printable(command) if command else None,
        facts=_facts(evidence, fingerprint, source),
        parameters=_parameters(evidence.selector),
    )
    assets = ("hocmim.insight.report", "assets")
    scripts = [
        asset(*assets, "chart.umd.min.js"),
        asset(*assets, "chartjs-chart-matrix.min.js"),
        sorting_script(),
        asset(*assets, "report.js"),
    ]
    style = asset(*assets, "report.css")
    return document(
        printable(title), body, style=style, scripts=scripts, data=_data(evidence, notes)
    )


def printable(text: Any) -> str:
    """Text with signs that have no picture replaced by one that has: line ends, tabs, halves."""
    return "".join(_picture(sign) for sign in str(text))


def _picture(sign: str) -> str:
    code = ord(sign)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return "\ufffd" if 0x80 <= code < 0xA0 or 0xD800 <= code < 0xE000 else sign


def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingDependencyError(
            'A report needs Jinja2. Install it with: pip install "hocmim[report]"'
        ) from error
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
    """A number with a minus sign of its own; a dash if there is none."""
    text = "∞" if abs(value) == np.inf else f"{abs(value):{form}}"
    return "–" if np.isnan(value) else f"{'−' if value < 0 else ''}{text}"


# --- what the template shows ----------------------------------------------------------------------


def _tiles(evidence: Evidence) -> list[tuple[str, str]]:
    """The figures at the top: what it is, what it is called."""
    low, high = (percent(min(1.0, v / evidence.target_entropy)) for v in together(evidence))
    K, D, N = len(evidence.selected), evidence.n_features, evidence.n_samples
    tiles = [(f"{K:,} of {D:,}", "features taken")]
    if K:
        share = low if low == high else f"{low.removesuffix('%')}–{high}"
        tiles.append((share, "of the target explained"))
    target = "bins of the target" if evidence.basis.target_cuts is not None else "classes"
    return [*tiles, (f"{N:,}", "samples"), (f"{evidence.n_classes:,}", target)]


def _doubts(evidence: Evidence, notes: Sequence[Note]) -> dict[int, list[str]]:
    """What casts doubt on selected features, by feature."""
    doubts: dict[int, list[str]] = {j: [] for j in evidence.selected.tolist()}
    for note in notes:
        k = int(evidence.basis.features.of_column[note.index])
        if k in doubts and note.kind in DOUBTS and DOUBTS[note.kind] not in doubts[k]:
            doubts[k].append(DOUBTS[note.kind])
    return doubts


def _doubts_in_words(evidence: Evidence, doubts: dict[int, list[str]]) -> Iterator[Sentence]:
    for j in [j for j, found in doubts.items() if found][:MOST_DOUBTS]:
        what = " and ".join(doubts[j])
        yield ["Look twice at ", Name(evidence.name(j)), f" before you trust this: it {what}."]


def _rows(evidence: Evidence, doubts: dict[int, list[str]]) -> list[dict[str, Any]]:
    """The selected features, one after the other."""
    answers = evidence.answers
    p_values, scores = evidence.p_values, evidence.scores
    largest = max((float(evidence.relevance[j]) for j in evidence.selected), default=0.0)
    rows = []
    for place, j in enumerate(evidence.selected[:MOST_ROWS].tolist()):
        relevance = float(evidence.relevance[j])
        by = int(answers.most_redundant[j])
        shared = float(answers.redundancy[0, j])
        rows.append(
            {
                "index": j,
                "name": evidence.name(j),
                "doubts": doubts[j],
                "relevance": relevance,
                "width": 100 * max(0.0, relevance) / largest if largest > 0 else 0.0,
                "score": float(scores[place]),
                "p_value": None if p_values is None else float(p_values[place]),
                "order": int(answers.order[j]),
                "by": evidence.name(int(evidence.selected[by])) if by >= 0 else None,
                "share": min(1.0, shared / relevance) if by >= 0 and relevance > 0 else None,
            }
        )
    return rows


def _data_notes(selector: Any, X: Any, y: Any) -> list[Note]:
    """Notes on the rows that were used, each once whatever its weight."""
    if not hasattr(selector, "encoder_"):
        return data_notes(X, y)
    table, counts = as_table(X), selector._row_counts
    target = y
    if counts is not None:
        used = np.flatnonzero(counts)
        target = as_target(y, table.n_rows, rows=used)
        table = table.take(used)
    return data_notes(table, target, encoder=selector.encoder_, target_bins=selector.target_bins)


def _note_groups(notes: Sequence[Note]) -> list[tuple[str, list[Note]]]:
    of_kind = ((NOTE_TITLES[kind], [n for n in notes if n.kind == kind]) for kind in KINDS)
    return [(title, found) for title, found in of_kind if found]


def _encoding_counts(evidence: Evidence) -> list[tuple[str, int]]:
    """How many columns were treated how."""
    titles = {
        "cut": f"numbers, cut into bins ({_cutting(evidence)})",
        "levels": "numbers of few values, each a level",
        "categories": "categories, each a level",
    }
    kinds = [column.kind for column in evidence.basis.encoder.columns_]
    counts = [(title, kinds.count(kind)) for kind, title in titles.items()]
    return [(title, n) for title, n in counts if n]


def _cutting(evidence: Evidence) -> str:
    encoder = evidence.basis.encoder
    how = {
        "uniform": f"{encoder.n_bins} of equal width",
        "quantile": f"{encoder.n_bins} of equal frequency",
        "mdlp": "MDLP, by the target",
    }
    return how[encoder.discretizer]


def _call(selector: Any) -> str:
    """Python that repeats the selection and the page."""
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


def _facts(evidence: Evidence, fingerprint: str, source: str | None) -> list[tuple[str, str]]:
    """What it was made from."""
    N, D = evidence.n_samples, evidence.basis.features.n_columns
    facts = [("Data", f"{N:,} × {D:,}, fingerprint {fingerprint}")]
    if source:
        facts.insert(0, ("Source", printable(source)))
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return [*facts, ("Versions", versions), ("System", machine), ("Written", now)]


def _parameters(selector: Any) -> list[tuple[str, str]]:
    return [(name, printable(repr(v))) for name, v in selector.get_params(deep=False).items()]


def _target_name(y: Any) -> str:
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "the target"


# --- what the scripts read ------------------------------------------------------------------------


def _data(evidence: Evidence, notes: Sequence[Note]) -> dict[str, Any]:
    """Everything the search box and the charts need, arrays packed."""
    answers, cumulative = evidence.answers, evidence.cumulative
    D, K = evidence.n_features, len(evidence.selected)
    stopping, features = evidence.stopping, evidence.basis.features
    low, high, curve = _pack_curve(answers.curve)
    return {
        "method": evidence.method,
        "bySearch": evidence.by_search,
        "inNats": evidence.by_search and evidence.method != "DISR",
        "nSamples": evidence.n_samples,
        "names": [printable(evidence.name(j)) for j in range(D)],
        "selected": evidence.selected.tolist(),
        "best": [feature for feature, _ in evidence.best],
        "bestScore": _pack([score for _, score in evidence.best], "<f8"),
        "runnersUp": _runners_up(evidence),
        "stopping": None
        if stopping is None
        else {
            "index": stopping.index,
            "reason": stopping.reason,
            "pValue": f"{stopping.p_value:.2g}",
        },
        "relevance": _pack(evidence.relevance, "<f8"),
        "score": _pack(answers.score, "<f8"),
        "ranking": _pack(evidence.selector.ranking_[features.first], "<u4"),
        "nearestStep": _pack(answers.nearest_step, "<u2" if K < TOP else "<u4"),
        "nearestScore": _pack(answers.nearest_score, "<f8"),
        "curve": {
            "steps": (evidence.curve_steps + 1).tolist(),
            "low": low,
            "high": high,
            "top": TOP,
            "codes": curve,
        },
        "order": _pack(answers.order, "<i2"),
        "nMembers": _pack([len(members) for members in answers.members], "<u2"),
        "memberKind": "u1" if K < 256 else "u2",
        "members": _pack(np.concatenate(answers.members), "<u1" if K < 256 else "<u2"),
        "mostRedundant": _pack(answers.most_redundant, "<i2"),
        "nextRedundant": _pack(answers.next_redundant, "<i2"),
        "mostSynergistic": _pack(answers.most_synergistic, "<i2"),
        "redundancy": [_pack(row, "<f8") for row in answers.redundancy],
        "nCompared": min(K, MOST_COMPARED),
        "map": [[round(float(v), 6) for v in row] for row in evidence.redundancy],
        "together": {
            "plugin": _rounded(cumulative.plugin),
            "chance": _rounded(cumulative.chance),
            "supported": _rounded(cumulative.supported),
            "cells": cumulative.n_cells.tolist(),
            "entropy": evidence.target_entropy,
        },
        "scores": _pack(evidence.scores, "<f8"),
        "columns": [features.columns(k) for k in range(D)] if features.groups else None,
        "encoding": [printable(describe_feature(evidence.basis, k)) for k in range(D)],
        "notes": [
            [int(features.of_column[note.index]), printable(_message(note, features))]
            for note in notes[:MOST_MESSAGES]
        ],
    }


def _message(note: Note, features: Features) -> str:
    """A note on a feature, which says of which of its columns it is."""
    is_group = len(features.columns(int(features.of_column[note.index]))) > 1
    return str(note) if is_group else note.message


def _pack(values: Any, kind: str) -> str:
    return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode()


def _pack_curve(curve: NDArray[np.float64]) -> tuple[float, float, str]:
    """Points of curves in 16 bits between the lowest and the highest; the last code is none."""
    known = curve[~np.isnan(curve)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    scaled = np.rint((curve - low) / ((high - low) or 1.0) * TOP)
    return low, high, _pack(np.where(np.isnan(curve), TOP + 1, scaled), "<u2")


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return [round(float(value), 6) for value in values]


def _runners_up(evidence: Evidence) -> dict[int, tuple[int, float]]:
    """The next best candidate of each step and its score."""
    if not evidence.by_search:
        return {}
    of_column = evidence.basis.features.of_column
    return {
        int(row["step"]): (int(of_column[row["candidate"]]), float(row["score"]))
        for row in evidence.selector.trace_
        if row["place"] == 2
    }


# --- writing --------------------------------------------------------------------------------------


def _check_place(path: Path, overwrite: bool) -> None:
    if path.is_dir():
        raise InvalidParameterError(f"{path} is a folder. Give the name of a file in it.")
    if not path.parent.is_dir():
        raise InvalidParameterError(f"There is no folder {path.parent} to write {path.name} in.")
    if path.exists() and not overwrite:
        raise InvalidParameterError(
            f"{path} is there already. Pass overwrite=True to replace it, or another path."
        )


def _write(page: str, path: Path, overwrite: bool) -> None:
    """Write the whole page or nothing, and take no other file's place unless told to."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_text(page, "utf-8", newline="\n")
        if overwrite:
            part.replace(path)
        else:
            _move_to_free_place(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()


def _move_to_free_place(part: Path, path: Path) -> None:
    try:
        os.link(part, path)  # fails if something is there, which a rename would replace
    except FileExistsError:
        _check_place(path, overwrite=False)
        raise
    except OSError:  # a file system without links
        _check_place(path, overwrite=False)
        part.replace(path)

"""The page of an experiment: one HTML file with every table, test and figure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from hocmim.data.writing import write_text
from hocmim.experiments.classifiers import TITLES
from hocmim.experiments.figures import COLOURS, error_curves
from hocmim.experiments.grid import Grid
from hocmim.experiments.report import Report, describe_machine
from hocmim.experiments.tables import Comparison
from hocmim.insight.pages import asset, document, sorting_script


def write_page(report: Report, svgs: Mapping[str, str], path: Path) -> None:
    """Write the page; ``svgs`` has the figures by name, as ``write_figures`` returns them."""
    write_text(path, make_page(report, svgs))


def make_page(report: Report, svgs: Mapping[str, str]) -> str:
    """Return the page as HTML."""
    sections = [*_summaries(report), *_comparisons(report, svgs), *_times(report, svgs)]
    sections += [*_errors(report), Section("machine", "Machine", "Machine", _machine())]
    links = "".join(f'<li><a href="#{each.name}">{each.short}</a></li>' for each in sections)
    body = "".join(
        f'<section id="{each.name}"><h2>{escape(each.title)}</h2>{each.content}</section>'
        for each in sections
    )
    page = "\n".join(
        [
            f"<header><h1>{escape(report.title)}</h1>",
            f"<p>{escape(report.about[0])}</p>",
            _details("Protocol", "".join(f"<p>{escape(p)}</p>" for p in report.about[1:])),
            _problems(report),
            f"</header><nav><ul>{links}</ul></nav><main>{body}</main>",
            "<footer>Click a heading to sort a table. Point at a curve to see its values.</footer>",
        ]
    )
    return document(
        report.title,
        page,
        style=asset("hocmim.experiments", "assets", "page.css"),
        scripts=[sorting_script(), asset("hocmim.experiments", "assets", "page.js")],
        data={"colours": COLOURS, "curves": _all_curves(report)},
    )


# --- sections -------------------------------------------------------------------------------------


class Section(NamedTuple):
    """A part of the page: its id, its name in the navigation, its heading, its HTML."""

    name: str
    short: str
    title: str
    content: str


def _problems(report: Report) -> str:
    problems = report.problems()
    if not problems:
        return ""
    items = "".join(f"<li>{escape(problem)}</li>" for problem in problems)
    return f'<div class="problems" role="note"><strong>Incomplete</strong><ul>{items}</ul></div>'


def _summaries(report: Report) -> Iterable[Section]:
    for name, grid in report.summaries.items():
        short = name.replace("_", " ").capitalize()
        yield Section(name, short, grid.title, table_html(grid, name))


def _comparisons(report: Report, svgs: Mapping[str, str]) -> Iterable[Section]:
    by_name: dict[str, Comparison] = {}
    for table in report.tables.values():
        by_name.setdefault(table.comparison.name, table.comparison)
    classifiers = list(dict.fromkeys(classifier for _, classifier, _ in report.tables))
    for name, comparison in by_name.items():
        panels = {f"{classifier}-{name}": classifier for classifier in classifiers}
        buttons = "".join(
            f'<button type="button" role="tab" data-panel="{panel}">{escape(TITLES[c])}</button>'
            for panel, c in panels.items()
        )
        content = "".join(
            f'<div class="panel" id="{panel}" role="tabpanel">{_panel(report, svgs, name, c)}</div>'
            for panel, c in panels.items()
        )
        title = comparison.title[0].upper() + comparison.title[1:]
        tabs = f'<div class="tabs" role="tablist">{buttons}</div>'
        yield Section(name, comparison.short, title, tabs + content)


def _panel(report: Report, svgs: Mapping[str, str], comparison: str, classifier: str) -> str:
    table = report.tables[comparison, classifier, "error"]
    parts = [f"<h3>{escape(table.title)}</h3>", table_html(table.grid(), mark_best=True)]
    tested = report.tests.get((comparison, classifier))
    if tested is None:
        parts.append("<p>The tests need at least 2 data sets and 3 methods.</p>")
    else:
        parts.append(f"<p>{escape(tested.summary())}</p>")
        parts.append(_figure(svgs, f"critical_difference_{classifier}_{comparison}"))
    duel = report.duels.get((comparison, classifier))
    if duel is not None:
        parts += [f"<h3>{escape(duel.title)}</h3>", table_html(duel)]
    if table.has_curves:
        parts.append("<h3>Average rank by number of features (1 is the best)</h3>")
        parts.append(_chart(f"ranks/{classifier}/{comparison}"))
    found = report.differences.get((comparison, classifier))
    if found is not None and found.datasets:
        title = f"Ours minus published (mean absolute difference {found.mean_absolute:.3f})"
        parts.append(_details(title, table_html(found.grid())))
    balanced = report.tables.get((comparison, classifier, "balanced error"))
    if balanced is not None:
        parts.append(_details("Balanced error", table_html(balanced.grid(), mark_best=True)))
    if tested is not None and tested.has_few_pairs:
        parts.append(_details("Every pair of methods", table_html(tested.grid())))
    return "".join(parts)


def _times(report: Report, svgs: Mapping[str, str]) -> Iterable[Section]:
    content = _figure(svgs, "times") + table_html(report.times.grid(report.reference))
    yield Section("times", "Times", "Execution times", content)


def _errors(report: Report) -> Iterable[Section]:
    options = "".join(
        f'<option value="errors/{classifier}/{escape(dataset)}">{escape(dataset)}, '
        f"{escape(TITLES[classifier])}</option>"
        for classifier, dataset in error_curves(report)
    )
    if options:
        select = f'<select id="error-choice" aria-label="Data set">{options}</select>'
        content = select + _chart("", "error-chart")
        yield Section("errors", "Error curves", "Error curves", content)


def _machine() -> str:
    rows = [line.strip("| ").split(" | ") for line in describe_machine().splitlines()[2:]]
    cells = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in rows)
    return f'<div class="scroll"><table class="machine"><tbody>{cells}</tbody></table></div>'


# --- pieces ---------------------------------------------------------------------------------------


def table_html(grid: Grid, kind: str = "", *, mark_best: bool = False) -> str:
    """Return a sortable table with its notes; summary rows stay at the end."""
    if not grid.rows:
        return _notes(grid)
    last = len(grid.rows) - grid.n_summary_rows
    heads = "".join(
        f'<th scope="col"><button type="button">{escape(name)}</button></th>'
        for name in grid.header
    )
    body = "".join(_row(row, mark_best) for row in grid.rows[:last])
    foot = "".join(_row(row, False) for row in grid.rows[last:])
    return (
        f'<div class="scroll"><table class="sortable {kind}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody><tfoot>{foot}</tfoot></table></div>{_notes(grid)}"
    )


def _row(cells: Iterable[str], mark_best: bool) -> str:
    return "<tr>" + "".join(_cell(cell, mark_best) for cell in cells) + "</tr>"


def _cell(text: str, mark_best: bool) -> str:
    best = ' class="best"' if mark_best and text.endswith("(1)") else ""
    return f"<td{best}>{escape(text)}</td>"


def _notes(grid: Grid) -> str:
    items = "".join(f"<li>{escape(note)}</li>" for note in grid.notes)
    return f'<ul class="notes">{items}</ul>' if items else ""


def _details(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def _chart(curves: str, name: str = "") -> str:
    identity = f' id="{name}"' if name else ""
    return (
        f'<figure><div class="chart"{identity} data-curves="{escape(curves)}">'
        '<div class="tip"></div></div><div class="legend"></div></figure>'
    )


def _figure(svgs: Mapping[str, str], name: str) -> str:
    """Return a figure whose black parts have the colour of the text, for dark mode."""
    if name not in svgs:
        return ""
    svg = svgs[name]
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = svg.replace("#000000", "currentColor").replace("fill: #ffffff", "fill: none")
    # Black text has no colour attribute in the SVG of matplotlib.
    svg = svg.replace("<svg ", '<svg fill="currentColor" ', 1)
    return f'<figure class="drawing" data-name="{escape(name)}">{svg}</figure>'


def _all_curves(report: Report) -> dict[str, Any]:
    curves: dict[str, Any] = {}
    for (comparison, classifier, measure), table in report.tables.items():
        if measure == "error" and table.has_curves:
            lines = dict(zip(table.comparison.methods, table.rank_curves(), strict=True))
            curves[f"ranks/{classifier}/{comparison}"] = _curves(table.title, lines, 2, down=True)
    for (classifier, dataset), found in error_curves(report).items():
        title = f"Error on {dataset}, {TITLES[classifier]}"
        curves[f"errors/{classifier}/{dataset}"] = _curves(title, found, 4, down=False)
    return curves


def _curves(title: str, lines: Mapping[str, Any], digits: int, *, down: bool) -> dict[str, Any]:
    rounded = {name: [round(float(v), digits) for v in line] for name, line in lines.items()}
    return {"title": title, "digits": digits, "down": down, "lines": rounded}

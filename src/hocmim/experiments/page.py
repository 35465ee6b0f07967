"""The page of an experiment: one HTML file with every table, test and figure, without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

from hocmim.data.writing import write_text
from hocmim.experiments.classifiers import TITLES
from hocmim.experiments.report import ExperimentReport, machine_grid

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: auto; padding: 1rem;
    color: #1d2733; background: #fff; }
.scroll { overflow-x: auto; } figure { margin: 1rem 0; }
figure svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 0.85rem; } tfoot { border-top: 1px solid; }
th, td { padding: 0.15rem 0.6rem; text-align: left; white-space: nowrap; }
th { border-bottom: 1px solid; } .best { font-weight: bold; }
.note { font-size: 0.85rem; margin: 0; }
"""
# Nothing is loaded, and no script runs: not even one in a name that was not escaped.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write_page(report: ExperimentReport, svgs: Mapping[str, str], path: Path) -> None:
    """Write the page; ``svgs`` has the figures by name, as ``write_figures`` returns them."""
    write_text(path, make_page(report, svgs))


def make_page(report: ExperimentReport, svgs: Mapping[str, str]) -> str:
    """Return the page as HTML."""
    title = escape(report.title)
    about = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in report.about[1:])
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>",
            f"<p>{escape(report.about[0])}</p>",
            _details("Protocol", about),
            "".join(f"<p><strong>{escape(problem)}</strong></p>" for problem in report.problems()),
            *(
                f"<h2>{escape(grid.title)}</h2>{grid.to_html()}"
                for grid in report.summaries.values()
            ),
            *_comparisons(report, svgs),
            "<h2>Execution times</h2>",
            _figure(svgs, "times"),
            report.times.grid(report.reference).to_html(),
            *_error_curves(svgs),
            f"<h2>Machine</h2>{machine_grid().to_html()}</body></html>",
        ]
    )


def _comparisons(report: ExperimentReport, svgs: Mapping[str, str]) -> Iterator[str]:
    named = {table.comparison.name: table.comparison for table in report.tables.values()}
    classifiers = dict.fromkeys(classifier for _, classifier, _ in report.tables)
    for name, comparison in named.items():
        yield f"<h2>{escape(comparison.title[0].upper() + comparison.title[1:])}</h2>"
        own = [c for c in classifiers if (name, c, "error") in report.tables]
        for number, classifier in enumerate(own):
            content = "".join(_results(report, svgs, name, classifier))
            yield _details(TITLES[classifier], content, is_open=number == 0)


def _results(
    report: ExperimentReport, svgs: Mapping[str, str], comparison: str, classifier: str
) -> Iterator[str]:
    key = comparison, classifier
    table = report.tables[(*key, "error")]
    yield f"<h3>{escape(table.title)}</h3>{table.grid().to_html()}"
    tested = report.tests.get(key)
    if tested is None:
        yield "<p>The tests need at least 2 data sets and 3 methods.</p>"
    else:
        yield f"<p>{escape(tested.summary())}</p>"
        yield _figure(svgs, f"critical_difference_{classifier}_{comparison}")
    duel = report.duels.get(key)
    if duel is not None:
        yield f"<h3>{escape(duel.title)}</h3>{duel.to_html()}"
    yield _figure(svgs, f"rank_by_features_{classifier}_{comparison}")
    found = report.differences.get(key)
    if found is not None and found.datasets:
        title = f"Ours minus published (mean absolute difference {found.mean_absolute:.3f})"
        yield _details(title, found.grid().to_html())
    balanced = report.tables.get((*key, "balanced error"))
    if balanced is not None:
        yield _details("Balanced error", balanced.grid().to_html())
    if tested is not None and tested.has_few_pairs:
        yield _details("Every pair of methods", tested.grid().to_html())


def _error_curves(svgs: Mapping[str, str]) -> Iterator[str]:
    names = [name for name in svgs if name.startswith("error_curves_")]
    if names:
        yield "<h2>Error curves</h2>"
    for name in names:
        yield _details(name.removeprefix("error_curves_"), _figure(svgs, name))


def _details(title: str, content: str, *, is_open: bool = False) -> str:
    is_open_text = " open" if is_open else ""
    return f"<details{is_open_text}><summary>{escape(title)}</summary>{content}</details>"


def _figure(svgs: Mapping[str, str], name: str) -> str:
    svg = svgs.get(name, "")
    return f"<figure>{svg[svg.index('<svg') :]}</figure>" if svg else ""

"""Figures of an experiment, as SVG and PDF. The same report gives the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hocmim.data.writing import safe_file_name, write_file, write_text
from hocmim.errors import not_installed
from hocmim.experiments.classifiers import TITLES
from hocmim.experiments.report import ExperimentReport
from hocmim.experiments.tables import ALPHA, ErrorTable, Significance
from hocmim.text import count, escaped

# Paul Tol's "bright" and "muted" colours, which colour-blind readers can distinguish.
COLOURS = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377",
    "#dd7733", "#44aa99", "#999933", "#a06040", "#7788cc", "#888888",
)  # fmt: skip
DASHES = ("-", "--", ":")
MAX_LABELLED_RANKS = 20  # on a longer scale only each fifth rank has a label
# A figure of so few data sets says that its result may change.
FEW_DATASETS = 5


def figures(report: ExperimentReport) -> Iterator[tuple[str, Any]]:
    """Return every figure with the name of its file."""
    for (comparison, classifier), tested in report.tests.items():
        yield f"critical_difference_{classifier}_{comparison}", draw_critical_difference(tested)
    for (comparison, classifier, measure), table in report.tables.items():
        if measure == "error" and table.has_curves:
            yield f"rank_by_features_{classifier}_{comparison}", draw_rank_curves(table)
    if report.times.datasets:
        yield "times", draw_times(report)
    yield from draw_error_curves(report)


def write_figures(report: ExperimentReport, folder: Path, *, pdf: bool = False) -> dict[str, str]:
    """Write every figure as SVG, and as PDF if asked; return the SVG of each by name."""
    import matplotlib as mpl
    import matplotlib.text

    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    with mpl.rc_context({"text.parse_math": False}):  # a $ in a name is no mathematics
        for name, figure in figures(report):
            for text in figure.findobj(mpl.text.Text):  # fonts have no control characters
                text.set_text(escaped(text.get_text(), keep="\n"))
            written[name] = to_svg(figure, name)
            write_text(folder / f"{name}.svg", written[name])
            if pdf:
                _write_pdf(figure, folder / f"{name}.pdf")
    return written


def _write_pdf(figure: Any, path: Path) -> None:
    unused = dict.fromkeys(("Creator", "Producer", "CreationDate"))
    write_file(
        path, lambda file: figure.savefig(file, format="pdf", metadata=unused), overwrite=True
    )


def to_svg(figure: Any, name: str) -> str:
    """Return the figure as SVG, with text as text and ids that are unique to the figure."""
    import matplotlib as mpl

    settings: dict[Any, Any] = {
        "svg.hashsalt": name,
        "svg.fonttype": "none",
        "svg.id": name,
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    }
    out = io.StringIO()
    with mpl.rc_context(settings):
        unused = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(out, format="svg", metadata=unused)
    return out.getvalue()


# --- critical differences -------------------------------------------------------------------------


def draw_critical_difference(tested: Significance) -> Any:
    """Draw average ranks on a line; bars join methods that do not differ significantly."""
    methods = tested.table.comparison.methods
    average = tested.friedman.average_ranks
    k = len(methods)
    order = np.argsort(average, kind="stable")
    # The names of the better half are on the right, the best one on top.
    right, left = order[: (k + 1) // 2], order[(k + 1) // 2 :][::-1]
    depth = max(len(right), len(left))
    bars = tested.groups()
    top = 0.5 + 0.28 * len(bars)
    figure, axes = _blank(7.0, 1.2 + 0.25 * (depth + len(bars)))
    axes.set_xlim(k + 0.25 * k, 1 - 0.25 * k)
    axes.set_ylim(-(top + 0.45 * depth), 2.0)
    _draw_scale(axes, k)
    _draw_distance(axes, k, tested.distance)
    for row, method in enumerate(right):
        _draw_name(
            axes, average[method], methods[method], -(top + 0.45 * row), 1 - 0.06 * k, "left"
        )
    for row, method in enumerate(left):
        _draw_name(
            axes, average[method], methods[method], -(top + 0.45 * row), k + 0.06 * k, "right"
        )
    for row, group in enumerate(bars):
        ends = [average[methods.index(method)] for method in (group[0], group[-1])]
        height = -0.3 - 0.28 * row
        reach = 0.006 * k
        axes.plot([ends[0] - reach, ends[1] + reach], [height, height], color="black", lw=3.5)
    axes.set_title(_title(tested.table), fontsize=9)
    return figure


def _draw_scale(axes: Any, k: int) -> None:
    axes.plot([1, k], [0, 0], color="black", lw=1)
    for rank in range(1, k + 1):
        axes.plot([rank, rank], [0, 0.15], color="black", lw=1)
        if k <= MAX_LABELLED_RANKS or rank == 1 or rank % 5 == 0:
            axes.text(rank, 0.25, str(rank), ha="center", va="bottom", fontsize=8)


def _draw_distance(axes: Any, k: int, distance: float) -> None:
    height = 1.25
    axes.plot([k, k - distance], [height, height], color="black", lw=1)
    for end in (k, k - distance):
        axes.plot([end, end], [height - 0.1, height + 0.1], color="black", lw=1)
    label = f"CD = {distance:.2f} (α = {ALPHA})"
    axes.text(k - distance / 2, height + 0.15, label, ha="center", va="bottom", fontsize=8)


def _draw_name(axes: Any, rank: float, name: str, height: float, end: float, side: str) -> None:
    axes.plot([rank, rank, end], [0, height, height], color="black", lw=0.8)
    text = f"{rank:.2f}  {name}" if side == "left" else f"{name}  {rank:.2f}"
    gap = " "
    axes.text(end, height, gap + text if side == "left" else text + gap, ha=side, va="center",
              fontsize=9)  # fmt: skip


# --- curves and bars ------------------------------------------------------------------------------


def draw_rank_curves(table: ErrorTable) -> Any:
    """Draw the average rank by number of features."""
    figure, axes = _plot(7.5, 4.2)
    _draw_lines(axes, dict(zip(table.comparison.methods, table.rank_curves(), strict=True)))
    axes.set_ylim(len(table.comparison.methods) + 0.3, 0.7)  # rank 1, the best, on top
    axes.set_ylabel("average rank (1 is the best)")
    axes.set_title(_title(table), fontsize=9)
    _legend(axes)
    return figure


def draw_error_curves(report: ExperimentReport) -> Iterator[tuple[str, Any]]:
    """Draw a figure for each data set: error by number of features, a panel for each classifier."""
    curves = error_curves(report)
    classifiers = list(dict.fromkeys(classifier for classifier, _ in curves))
    for dataset in dict.fromkeys(dataset for _, dataset in curves):
        figure, panels = _plot(4.6 * len(classifiers) + 1.6, 4.2, len(classifiers))
        for axes, classifier in zip(np.atleast_1d(panels), classifiers, strict=True):
            _draw_lines(axes, curves[classifier, dataset])
            axes.set_title(f"{dataset}, {TITLES[classifier]}", fontsize=9)
        np.atleast_1d(panels)[0].set_ylabel("error")
        _legend(np.atleast_1d(panels)[-1])
        yield f"error_curves_{safe_file_name(dataset)}", figure


def error_curves(report: ExperimentReport) -> dict[tuple[str, str], dict[str, Sequence[float]]]:
    """Return the error curve of every method, by (classifier, data set)."""
    found: dict[tuple[str, str], dict[str, Sequence[float]]] = {}
    for (_, classifier, measure), table in report.tables.items():
        if measure != "error" or not table.has_curves:
            continue
        for dataset, curves in table.curves.items():
            lines = found.setdefault((classifier, dataset), {})
            for method, curve in zip(table.comparison.methods, curves, strict=True):
                lines.setdefault(method, curve)
    return found


def draw_times(report: ExperimentReport) -> Any:
    """Draw the mean seconds of a selection, with the standard deviation over the data sets."""
    times = report.times
    figure, axes = _plot(max(7.0, 0.25 * len(times.methods)), 4.0)
    place, labels = 0, []
    for number, group in enumerate(report.time_groups):
        columns = [
            times.methods.index(method) for method in group.methods if method in times.methods
        ]
        if group.fastest_first:
            columns.sort(key=lambda column: float(times.mean[column]))
        spread = np.stack([np.zeros(len(columns)), times.deviation[columns]])
        axes.bar(np.arange(place, place + len(columns)), times.mean[columns], yerr=spread,
                 color=COLOURS[number], label=group.title,
                 error_kw={"lw": 1, "capsize": 2})  # fmt: skip
        labels += [times.methods[column] for column in columns]
        place += len(columns)
    axes.set_yscale("log")
    axes.set_xticks(range(place), labels, rotation=60, ha="right", fontsize=8)
    axes.set_ylabel("seconds of a selection")
    axes.set_title(f"Mean over {len(times.datasets)} data sets, with deviation", fontsize=9)
    axes.legend(fontsize=8, frameon=False)
    return figure


def _draw_lines(axes: Any, curves: Mapping[str, Any]) -> None:
    """Draw a line for each method; that of the first is wider."""
    for number, (method, curve) in enumerate(curves.items()):
        axes.plot(range(1, len(curve) + 1), curve, label=method,
                  color=COLOURS[number % len(COLOURS)],
                  ls=DASHES[number // len(COLOURS) % len(DASHES)],
                  lw=2.4 if number == 0 else 1.1, zorder=3 if number == 0 else 2)  # fmt: skip
    axes.set_xlabel("number of features")


def _legend(axes: Any) -> None:
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _title(table: ErrorTable) -> str:
    n = len(table.datasets)
    title = f"{table.comparison.title}, {TITLES[table.classifier]}"
    if n > FEW_DATASETS:
        return f"{title} ({n} data sets)"
    return f"{title}\nOnly {count(n, 'data set')}: the order may change with others."


def _plot(width: float, height: float, n_panels: int = 1) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise not_installed("Pictures need", "matplotlib") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(1, n_panels, sharey=True)
    for axes in np.atleast_1d(panels):
        axes.grid(alpha=0.25, lw=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels


def _blank(width: float, height: float) -> tuple[Any, Any]:
    figure, axes = _plot(width, height)
    axes.axis("off")
    return figure, axes

"""The picture of a comparison: error curves, overlap of the selections, stability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hocmim.insight import plots
from hocmim.text import one_line

if TYPE_CHECKING:
    from hocmim.experiments.compare import Comparison

COLOURS = plots.COLOURS


def draw(comparison: Comparison) -> Any:
    """Draw error curves, overlap and stability; return the figure."""
    pyplot = plots.import_matplotlib("matplotlib.pyplot")
    M = len(comparison.results)
    has_stability = any(np.isfinite(result.stability) for result in comparison.results)
    figure = pyplot.figure(figsize=(10.5, 4.6 + 0.16 * max(0, M - 4)), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.45, 1))
    _draw_curves(comparison, left.subplots())
    below = right.subplots(
        2 if has_stability else 1, 1, height_ratios=(1.5, 1)[: 1 + has_stability]
    )
    overlap, *rest = np.atleast_1d(below)
    _draw_overlap(comparison, overlap)
    if has_stability:
        _draw_stability(comparison, rest[0])
    return figure


def _colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def _draw_curves(comparison: Comparison, ax: Any) -> None:
    for at, result in enumerate(comparison.results):
        sizes, mean, half = result.sizes[1:], result.mean_error[1:], result.standard_error[1:]
        ax.fill_between(sizes, mean - half, mean + half, color=_colour(at), alpha=0.13, lw=0)
        style = {"marker": "o", "ms": 3.5, "lw": 1.8, "ls": "-" if at < len(COLOURS) else "--"}
        ax.plot(sizes, mean, color=_colour(at), label=one_line(result.method, 24), **style)
    without = comparison.results[0].mean_error[0]
    ax.set_xlabel(f"features (without features: {without:.2f})")
    ax.set_ylabel(f"{comparison.model}: {comparison.measure}", color=plots.INK)
    ax.set_ylim(bottom=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(color="#e6e9ed", lw=0.8)
    ax.set_axisbelow(True)
    plots.remove_frame(ax, keep=("bottom",))
    rows = f", {comparison.sample}" if comparison.sample else ""
    title = f"cross-validated, ± 1 standard error{rows}"
    ax.set_title(title, loc="left", color=plots.INK, fontsize=10)
    ax.legend(frameon=False, labelcolor=plots.INK)


def _draw_overlap(comparison: Comparison, ax: Any) -> None:
    colours = plots.import_matplotlib("matplotlib.colors")
    shades = colours.LinearSegmentedColormap.from_list("overlap", ["#f6f8fa", plots.BLUE])
    ax.imshow(comparison.overlap, cmap=shades, vmin=0, vmax=1, aspect="auto")
    M = len(comparison.results)
    for i in range(M):
        for j in range(M):
            value = comparison.overlap[i, j]
            ink = "white" if value > 0.55 else plots.INK
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=9)
    names = [one_line(result.method, 14) for result in comparison.results]
    ax.set_xticks(range(M), names, rotation=30 if M > 4 else 0)
    ax.set_yticks(range(M), names)
    plots.remove_frame(ax, keep=())
    ax.set_title("overlap of the selections (Jaccard)", loc="left", color=plots.INK, fontsize=10)


def _draw_stability(comparison: Comparison, ax: Any) -> None:
    for at, result in enumerate(comparison.results):
        ax.plot(result.stability_interval, [at, at], color=_colour(at), lw=2.5, alpha=0.45)
        ax.plot(result.stability, at, "o", color=_colour(at), ms=7)
    M = len(comparison.results)
    ax.set_yticks(range(M), [one_line(result.method, 14) for result in comparison.results])
    ax.set_ylim(M - 0.5, -0.5)
    ax.set_xlim(right=1.02)
    ax.grid(axis="x", color="#e6e9ed", lw=0.8)
    ax.set_axisbelow(True)
    plots.remove_frame(ax, keep=("bottom",))
    ax.set_title("stability over resamples", loc="left", color=plots.INK, fontsize=10)

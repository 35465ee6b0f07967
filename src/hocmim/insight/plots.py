"""Pictures of a selection, by matplotlib (``pip install matplotlib``), imported on use."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from hocmim.coding.groups import Features, column_name
from hocmim.errors import InvalidParameterError, not_installed
from hocmim.information.counting import Values
from hocmim.insight.basis import Basis
from hocmim.parameters import HasMethods
from hocmim.search.selection import Selection
from hocmim.text import one_line

BLUE, ORANGE, GREY, INK = "#2f6db3", "#d9792b", "#b9c0c8", "#333a42"
COLOURS = (BLUE, ORANGE, "#3a9d6e", "#a34fa8", "#c2403d", "#7a6a53", "#2aa4b8", "#5b5f97")
NAME_LENGTH = 26

AXES = HasMethods(("plot", "barh", "set_xlabel"), "matplotlib axes", or_none=True)


def score_curve(selection: Selection, features: Features, ax: Any, unit: str = "nats") -> Any:
    """Draw the score of each selected feature, and its relevance, in the order of selection.

    ``unit`` is that of the scores; relevance is in nats.
    """
    names = _selected_names(selection, features, at_least=1)
    scores, relevance = selection.scores, selection.relevance[selection.indices]
    K = len(names)
    ax = ax or make_axes((7.0, 1.1 + 0.3 * max(K, 3)))
    at = np.arange(K)
    ax.hlines(at, np.minimum(scores, relevance), np.maximum(scores, relevance), color=GREY, lw=2)
    ax.plot(relevance, at, "o", color="white", mec=BLUE, mew=1.6, ms=7, label="relevance I(X;Y)")
    ax.plot(scores, at, "o", color=BLUE, ms=8, label="score when selected")
    ax.set_yticks(at, [f"{name}  {rank}" for rank, name in enumerate(map(short_name, names), 1)])
    ax.set_ylim(K - 0.5, -0.5)
    ax.set_xlim(left=min(0.0, float(np.min(scores, initial=0.0)) * 1.1))
    ax.set_xlabel("nats" if unit == "nats" else f"score: {unit}, relevance: nats")
    ax.grid(axis="x", color="#e6e9ed", lw=0.8)
    ax.set_axisbelow(True)
    remove_frame(ax, keep=("bottom",))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=2, frameon=False, labelcolor=INK)
    return ax


def cost_curve(basis: Basis, ax: Any) -> Any:
    """Draw the information of the first selected features together against what they cost."""
    from hocmim.insight.report.cumulative import cumulative_information  # takes long to import

    names = _selected_names(basis.selection, basis.features, at_least=1)
    costs = basis.selection.costs
    if costs is None:
        raise InvalidParameterError("There are no costs to draw: fit with costs.")
    targets = [one.column for one in basis.averaged]
    found = cumulative_information(basis.selected_columns, *targets)
    ax = ax or make_axes((7.0, 4.2))
    x = np.concatenate([[0.0], np.cumsum(costs)])
    low, high = (np.concatenate([[0.0], values]) for values in (found.supported, found.counted))
    ax.fill_between(x, low, high, color=BLUE, alpha=0.15, lw=0)
    ax.plot(x, high, "-", color=BLUE, lw=1.2, label="plug-in estimate")
    ax.plot(x, low, "o-", color=BLUE, lw=2, ms=5, label="beyond chance")
    budget = basis.selection.spending.budget if basis.selection.spending is not None else None
    if budget is not None:
        ax.axvline(budget, color=ORANGE, ls="--", lw=1.2, label="budget")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    _name_points(ax, [short_name(name) for name in names], x[1:], low[1:])
    ax.set_xlabel("cost of the selected features")
    ax.set_ylabel("information about the target, nats")
    ax.yaxis.label.set_color(INK)
    remove_frame(ax, keep=("bottom", "left"))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=3, frameon=False, labelcolor=INK)
    return ax


def _name_points(ax: Any, names: Sequence[str], x: Values, y: Values) -> None:
    """Write names below points, but none where the name of a point before it is."""
    width, height = ax.get_figure().dpi_scale_trans.inverted().transform(ax.bbox.size) * 72
    points = ax.transLimits.transform(np.column_stack([x, y])) * (width, height)
    used: list[tuple[float, float, float]] = []
    for name, (left, bottom), place in zip(names, points, zip(x, y, strict=True), strict=True):
        right = left + 5 * len(name)
        if all(left > end or right < start or abs(bottom - at) > 9 for start, end, at in used):
            used.append((left, right, bottom))
            ax.annotate(name, place, (4, -10), textcoords="offset points", color=INK, size=8)


def redundancy_heatmap(basis: Basis, ax: Any) -> Any:
    """Draw the redundancy of each pair of selected features: blue redundancy, orange synergy."""
    names = _selected_names(basis.selection, basis.features, at_least=2)
    matrix = basis.redundancy_matrix()
    colors = import_matplotlib("matplotlib.colors")
    K = len(names)
    size = 2.6 + 0.38 * max(K, 4)
    ax = ax or make_axes((size + 0.9, size))
    off = np.array(matrix)
    np.fill_diagonal(off, np.nan)
    limit = float(np.nanmax(np.abs(off), initial=0.0)) or 1.0
    colours = colors.LinearSegmentedColormap.from_list("redundancy", [ORANGE, "#fbfbfb", BLUE])
    colours = colours.with_extremes(bad="#eceff2")
    image = ax.imshow(np.ma.masked_invalid(off), cmap=colours, vmin=-limit, vmax=limit)
    labels = [short_name(name) for name in names]
    ax.set_xticks(np.arange(K), labels, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(np.arange(K), labels)
    ax.set_xticks(np.arange(K + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(K + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", lw=1.5)
    remove_frame(ax, keep=())
    ax.tick_params(which="both", length=0)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, pad=0.03)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, colors=INK)
    bar.set_label("synergy  ←  nats  →  redundancy", color=INK)
    return ax


def redundancy_network(basis: Basis, min_share: float, ax: Any) -> Any:
    """Draw the selected features on a circle, with lines for redundancy and synergy.

    The area of a dot is its relevance. The width of a line is the redundancy (blue) or the synergy
    (orange); lines are drawn from ``min_share`` of the smaller relevance up.
    """
    names = _selected_names(basis.selection, basis.features, at_least=2)
    matrix = basis.redundancy_matrix()
    lines = import_matplotlib("matplotlib.lines")
    ax = ax or make_axes((7.5, 5.6))
    K = len(names)
    relevance = np.diagonal(matrix)
    angle = np.pi / 2 - 2 * np.pi * np.arange(K) / max(K, 1)
    x, y = np.cos(angle), np.sin(angle)
    largest = float(np.max(np.abs(matrix - np.diag(relevance)), initial=0.0)) or 1.0
    drawn = set()
    for i in range(K):
        for j in range(i + 1, K):
            value = float(matrix[i, j])
            if value == 0 or abs(value) < min_share * min(relevance[i], relevance[j]):
                continue
            strength = (abs(value) / largest) ** 2  # so that the strong ones stand out
            colour = BLUE if value > 0 else ORANGE
            drawn.add(colour)
            line = {"lw": 0.6 + 6 * strength, "alpha": 0.2 + 0.65 * strength, "zorder": 1}
            ax.plot(x[[i, j]], y[[i, j]], color=colour, solid_capstyle="round", **line)
    most = float(np.max(relevance, initial=0.0)) or 1.0
    areas = 60 + 700 * np.maximum(relevance, 0.0) / most
    ax.scatter(x, y, s=areas, color="white", zorder=2)
    ax.scatter(x, y, s=areas, color=BLUE, alpha=0.9, edgecolor="white", lw=1.5, zorder=3)
    for k, name in enumerate(names):
        side = "center" if abs(x[k]) < 0.15 else ("left" if x[k] > 0 else "right")
        up = 1.14 * y[k] + 0.03 * np.sign(y[k])
        ax.text(1.14 * x[k], up, short_name(name), ha=side, va="center", color=INK)
    ax.set_aspect("equal")
    ax.set_xlim(-1.9, 1.9)
    ax.set_ylim(-1.3, 1.3)
    ax.set_axis_off()
    kinds = [(BLUE, "redundancy"), (ORANGE, "synergy")]
    handles = [lines.Line2D([], [], color=c, lw=4, label=label) for c, label in kinds if c in drawn]
    ax.legend(handles=handles, loc="lower right", frameon=False, labelcolor=INK)
    return ax


def validation_curves(curves: Any, chosen: Any, runner_up: Any, label: str, ax: Any) -> Any:
    """Draw mean scores ± 1 standard error against the number of features.

    Parameters
    ----------
    curves : sequence
        Each has a ``name``, ``sizes``, ``mean`` and ``standard_error``.
    chosen, runner_up
        Each has a ``selector`` (the name of a curve), ``n_features`` and ``score``; the runner-up
        may be None.
    label : str
        What the scores are.
    ax : matplotlib axes or None
    """
    ax = ax or make_axes((7.5, 4.6))
    for at, curve in enumerate(curves):
        colour = COLOURS[at % len(COLOURS)]
        is_chosen = curve.name == chosen.selector
        style = {"color": colour, "alpha": 1.0 if is_chosen else 0.6, "lw": 1.9 if is_chosen else 1}
        shift = 0.06 * (at - (len(curves) - 1) / 2)  # so that error bars stand side by side
        ax.errorbar(
            curve.sizes + shift,
            curve.mean,
            yerr=curve.standard_error,
            label=short_name(curve.name),
            elinewidth=0.8,
            capsize=2,
            **style,
        )
    for one, marker, text in ((chosen, "*", "chosen"), (runner_up, "D", "runner-up")):
        if one is None:
            continue
        title = f"{text}: {short_name(one.selector)}, K = {one.n_features}"
        mark = {"ms": 15 if marker == "*" else 8, "mfc": "white", "mec": INK, "ls": "none"}
        ax.plot(one.n_features, one.score, marker, label=title, zorder=5, **mark)
    ax.set_xlabel("features")
    ax.set_ylabel(label, color=INK)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(color="#e6e9ed", lw=0.8)
    ax.set_axisbelow(True)
    remove_frame(ax, keep=("bottom",))
    ax.set_title("cross-validated mean ± 1 standard error", loc="left", color=INK, fontsize=10)
    ax.legend(frameon=False, labelcolor=INK, fontsize=9)
    return ax


def _selected_names(selection: Selection, features: Features, at_least: int) -> list[str]:
    """Return the names of the selected features; an error if there are too few to draw."""
    if len(selection) < at_least:
        raise InvalidParameterError(
            f"There is nothing to draw: {len(selection)} features were selected, and this picture "
            f"needs at least {at_least}."
        )
    return [column_name(features.names, int(k)) for k in selection.indices]


def make_axes(size: tuple[float, float]) -> Any:
    """Return new axes of this size in inches."""
    return import_matplotlib("matplotlib.pyplot").subplots(figsize=size, layout="constrained")[1]


def import_matplotlib(module: str) -> Any:
    """Import a module of matplotlib, or say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise not_installed("Pictures need", "matplotlib") from error


def remove_frame(ax: Any, keep: tuple[str, ...]) -> None:
    """Remove the frame of axes, except the sides to keep."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
        spine.set_color(GREY)
    ax.tick_params(length=0, colors=INK)
    ax.xaxis.label.set_color(INK)


def short_name(name: str) -> str:
    """Return a name on one line, not too long, with $ escaped: it would start mathematics."""
    return one_line(name, NAME_LENGTH).replace("$", r"\$")

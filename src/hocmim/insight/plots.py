"""Pictures of a selection, by matplotlib (``pip install matplotlib``), imported on use.

``plot(selector, kind)`` draws one of ``KINDS``; the functions below it draw each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from hocmim.coding.groups import Features, column_name
from hocmim.errors import InvalidParameterError, not_installed
from hocmim.information.counting import Values
from hocmim.insight.basis import Basis, basis_of, selection_of
from hocmim.insight.chart_data import (
    TargetByLevel,
    column_map,
    frequencies_of,
    sample_map,
    target_by_level,
)
from hocmim.insight.prediction import predict
from hocmim.insight.synergy import (
    SelectedInteractions,
    selected_interactions,
    strongest_map,
)
from hocmim.parameters import Like, check_value, one_of, whole
from hocmim.search.selection import Selection
from hocmim.text import one_line

BLUE, ORANGE, GREY, INK = "#2f6db3", "#d9792b", "#b9c0c8", "#333a42"
PALE = "#c9dbef"
COLOURS = (BLUE, ORANGE, "#3a9d6e", "#a34fa8", "#c2403d", "#7a6a53", "#2aa4b8", "#5b5f97")
NAME_LENGTH = 26

AXES_OR_NONE = [Like(("plot", "barh", "set_xlabel"), "matplotlib axes"), None]


# The kinds of pictures, each with its options.
KINDS: dict[str, tuple[str, ...]] = {
    "scores": (),
    "target": ("feature", "n"),
    "prediction": (),
    "interaction": (),
    "columns": (),
    "samples": (),
    "costs": (),
    "interactions": ("n", "max_features", "alpha"),
    "stability": ("n",),
}


def plot(
    selector: Any,
    kind: str = "scores",
    *,
    X: Any = None,
    y: Any = None,
    ax: Any = None,
    **options: Any,
) -> Any:
    """Draw a picture of a selection; return the axes.

    Parameters
    ----------
    selector : selector of hocmim
        Fitted.
    kind : str
        "scores": the score and the relevance of each selected feature.
        "target": the target by level or bin of the first ``n`` (6) selected features, or of one
        selected ``feature``: rates with intervals, or the distribution of a quantity.
        "prediction": how well a simple model predicts new rows with 0, 1, 2, … features.
        "costs": the same against what the features cost together; needs ``costs``.
        "interaction": the target over the levels of the two features that work together most.
        "columns": relevance and p-value of all features.
        "samples": the selected features of every row, sorted by class; for few rows.
        "interactions": the ``n`` (15) largest interactions of selected features, with what chance
        can give; other options as of ``selected_interactions``.
        "stability": how often each of the ``n`` (20) most frequent columns of a StabilitySelector
        was selected, alone or with its substitutes.
    X, y : optional
        The table and the target the selector was fitted on: needed, except for "scores" and
        "stability", if it keeps no codes, such as a filter.
    ax : matplotlib axes, optional
    **options
        Of the kind.

    Returns
    -------
    axes
        For "target" without a feature an array of them.
    """
    check_value("kind", kind, [one_of(tuple(KINDS))])
    check_value("ax", ax, AXES_OR_NONE)
    unknown = [name for name in options if name not in KINDS[kind]]
    if unknown:
        raise InvalidParameterError(f"A picture of the kind {kind!r} has no option {unknown[0]!r}.")
    if kind == "scores":
        return score_curve(*selection_of(selector), ax)
    if kind == "interactions":
        n = options.pop("n", 15)
        return interaction_chart(selected_interactions(selector, X, y, **options), n, ax)
    if kind == "stability":
        return stability_bars(selector, options.get("n", 20), ax)
    basis = basis_of(selector, X, y)
    if kind == "target":
        return target_charts(basis, ax, **options)
    draw: dict[str, Callable[[Basis, Any], Any]] = {
        "prediction": prediction_curve,
        "interaction": interaction_heatmap,
        "columns": column_scatter,
        "samples": sample_heatmap,
        "costs": partial(prediction_curve, by_cost=True),
    }
    return draw[kind](basis, ax)


# --- the target -----------------------------------------------------------------------------------


def target_charts(basis: Basis, ax: Any, feature: int | str | None = None, n: int = 6) -> Any:
    """Draw the target by level of one selected feature, or of the first n."""
    check_value("n", n, [whole(1)])
    _selected_names(basis.selection, basis.features)
    if feature is not None:
        k = basis.features.find(feature)
        if k not in basis.places:
            raise InvalidParameterError(f"{basis.name(k)!r} was not selected.")
        return target_chart(target_by_level(basis, basis.column(k)), ax)
    columns = basis.selected_columns[: n if ax is None else 1]
    found = [target_by_level(basis, column) for column in columns]
    if ax is not None:
        return target_chart(found[0], ax)
    n_across = min(3, len(found))
    n_down = -(-len(found) // n_across)
    most = max(len(one.rows) for one in found)
    size = (4.2 * n_across, n_down * (1.0 + 0.3 * most))
    figure, grid = import_matplotlib("matplotlib.pyplot").subplots(
        n_down, n_across, figsize=size, layout="constrained", squeeze=False
    )
    axes = grid.ravel()
    for one, each in zip(found, axes, strict=False):
        target_chart(one, each)
    for each in axes[len(found) :]:
        figure.delaxes(each)
    return axes[: len(found)]


def target_chart(found: TargetByLevel, ax: Any) -> Any:
    """Draw the target by level: rates with intervals, shares of classes, or boxes of a quantity."""
    rows = found.rows
    ax = ax or make_axes((5.0, 1.0 + 0.3 * max(3, len(rows))))
    at = np.arange(len(rows))
    if len(found.classes) > 2:
        left = np.zeros(len(rows))
        for place, name in enumerate(found.classes):
            width = np.array([row.shares[place] for row in rows])
            ax.barh(at, width, left=left, height=0.7, color=COLOURS[place], label=short_name(name))
            left += width
        ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=3, frameon=False, fontsize=7)
    elif found.classes:
        ax.axvline(found.overall, color=GREY, ls="--", lw=1)
        ax.barh(at, [row.value for row in rows], height=0.6, color=PALE)
        ax.hlines(at, [row.low for row in rows], [row.high for row in rows], color=BLUE, lw=2)
        ax.plot([row.value for row in rows], at, "o", color=BLUE, ms=5)
    else:
        ax.axvline(found.overall, color=GREY, ls="--", lw=1)
        ends = np.array([row.quantiles for row in rows])
        ax.hlines(at, ends[:, 0], ends[:, 4], color=BLUE, lw=1)
        ax.barh(at, ends[:, 3] - ends[:, 1], left=ends[:, 1], height=0.6, color=PALE)
        ax.vlines(ends[:, 2], at - 0.3, at + 0.3, color=BLUE, lw=1.5)
        ax.plot([row.value for row in rows], at, "D", color=ORANGE, ms=4)
    if found.classes:
        ax.set_xlim(0, 1.02)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.set_yticks(at, [f"{short_name(row.label)}  ({row.n_rows:,})" for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    what = "share of each class" if len(found.classes) > 2 else short_name(found.measure)
    ax.set_xlabel(what)
    title = short_name(found.feature)
    ax.set_title(title, loc="left", fontsize=10, color=INK, pad=18 if len(found.classes) > 2 else 6)
    remove_frame(ax, keep=("bottom",))
    return ax


def prediction_curve(basis: Basis, ax: Any, *, by_cost: bool = False) -> Any:
    """Draw the accuracy on new rows against the number of features or their cost."""
    _selected_names(basis.selection, basis.features)
    costs, spending = basis.selection.costs, basis.selection.spending
    if by_cost and costs is None:
        raise InvalidParameterError("There are no costs to draw: fit with costs.")
    found = predict(basis)
    if found is None:
        raise InvalidParameterError("There are too few rows, or no codes: pass X and y.")
    ax = ax or make_axes((7.0, 4.0))
    x, mean, error = found.validation.sizes, found.mean, found.standard_error
    if by_cost and costs is not None:
        x = np.concatenate([[0.0], np.cumsum(costs)])[: found.size + 1]
        mean, error = mean[: len(x)], error[: len(x)]
        if spending is not None and spending.budget is not None:
            ax.axvline(spending.budget, color=GREY, ls="--", lw=1.2, label="budget")
    ax.fill_between(x, mean - error, mean + error, color=BLUE, alpha=0.15, lw=0)
    ax.plot(x, mean, "o-", color=BLUE, ms=4, label="mean ± 1 standard error of the folds")
    ax.axhline(found.baseline, color=ORANGE, ls="--", lw=1.2, label="without a column")
    ax.plot(x[found.size], found.accuracy, "o", ms=10, mfc="none", mec=INK, label="selected")
    ax.set_xlabel("cost of the selected features" if by_cost else "features")
    ax.set_ylabel(f"{found.measure}, new rows", color=INK)
    if found.is_rate:
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    if not by_cost:
        ax.xaxis.get_major_locator().set_params(integer=True)
    remove_frame(ax, keep=("bottom", "left"))
    ax.legend(frameon=False, labelcolor=INK, fontsize=9)
    return ax


def interaction_heatmap(basis: Basis, ax: Any) -> Any:
    """Draw the target over the levels of the two features that work together most."""
    found = strongest_map(basis)
    if found is None:
        raise InvalidParameterError("No two columns were found that work together.")
    matplotlib = import_matplotlib("matplotlib.colors")
    shape = len(found.side), len(found.across)
    ax = ax or make_axes((2.8 + 0.9 * shape[1], 1.6 + 0.5 * shape[0]))
    strengths = found.strengths
    colours = matplotlib.LinearSegmentedColormap.from_list("rate", ["#f4f6f9", BLUE])
    ax.imshow(strengths, cmap=colours.with_extremes(bad="white"), vmin=0, vmax=1, aspect="auto")
    for i, j in np.ndindex(shape):
        text = f"{found.text(found.values[i][j])}\n{found.n_rows[i][j]:,}"
        colour = "white" if strengths[i, j] > 0.55 else INK
        ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=8)
    labels = [short_name(label) for label in found.across]
    ax.set_xticks(np.arange(shape[1]), labels, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_yticks(np.arange(shape[0]), [short_name(label) for label in found.side])
    ax.set_ylabel(short_name(found.features[0]), color=INK)
    ax.set_xlabel(short_name(found.across_title))
    ax.set_title(f"{short_name(found.measure)}, and rows", loc="left", fontsize=10, color=INK)
    remove_frame(ax, keep=())
    return ax


def column_scatter(basis: Basis, ax: Any) -> Any:
    """Draw relevance and −log10 p of all features, the selected ones with their names."""
    found = column_map(basis)
    chosen = basis.selection.indices
    ax = ax or make_axes((7.5, 4.6))
    others = np.setdiff1d(np.arange(len(found.relevance)), chosen)
    x, y = found.relevance, found.height
    ax.plot(x[others], y[others], "o", color=GREY, ms=4, alpha=0.6, mew=0, label="not selected")
    ax.plot(x[chosen], y[chosen], "o", color=BLUE, ms=6, label="selected")
    level = -np.log10(found.level)
    ax.axhline(level, color=ORANGE, ls="--", lw=1, label=f"p = 0.01 / {len(x):,} columns")
    _name_points(ax, [short_name(basis.name(int(k))) for k in chosen], x[chosen], y[chosen])
    ax.set_xlabel("relevance I(X;Y), nats")
    ax.set_ylabel("−log10 p", color=INK)
    remove_frame(ax, keep=("bottom", "left"))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=3, frameon=False, labelcolor=INK)
    return ax


def sample_heatmap(basis: Basis, ax: Any) -> Any:
    """Draw the selected features of every row, sorted by class: low is orange, high is blue."""
    _selected_names(basis.selection, basis.features)
    found = sample_map(basis)
    if not found.features:
        raise InvalidParameterError("There is nothing to draw: no selected column has numbers.")
    colors = import_matplotlib("matplotlib.colors")
    colours = colors.LinearSegmentedColormap.from_list("levels", [ORANGE, "#f4f6f9", BLUE])
    ax = ax or make_axes((8.0, 1.2 + 0.28 * len(found.features)))
    levels = np.ma.masked_invalid(found.levels)
    how = {"aspect": "auto", "interpolation": "nearest"}
    ax.imshow(levels, cmap=colours, vmin=0, vmax=1, **how)
    ends = np.cumsum([n for _, n in found.groups])
    for end in ends[:-1]:
        ax.axvline(end - 0.5, color="white", lw=3)
    middles = ends - np.array([n for _, n in found.groups]) / 2 - 0.5
    ax.set_xticks(middles, [short_name(name) for name, _ in found.groups])
    ax.set_yticks(np.arange(len(found.features)), [short_name(name) for name in found.features])
    remove_frame(ax, keep=())
    return ax


def stability_bars(selector: Any, n: int, ax: Any) -> Any:
    """Draw how often each column was selected, with its interval, and it or a substitute."""
    check_value("n", n, [whole(1)])
    found = frequencies_of(selector)
    rows = found.rows[:n]
    if not rows:
        raise InvalidParameterError("There is nothing to draw: no column was ever selected.")
    ax = ax or make_axes((7.0, 1.4 + 0.3 * max(3, len(rows))))
    at = np.arange(len(rows))
    label = "this column or a substitute"
    ax.barh(at, [row.with_substitutes for row in rows], height=0.7, color=PALE, label=label)
    ax.barh(at, [row.frequency for row in rows], height=0.34, color=BLUE, label="this column")
    ax.hlines(at, [row.low for row in rows], [row.high for row in rows], color=INK, lw=1.2)
    ax.axvline(found.threshold, color=ORANGE, ls="--", lw=1)
    names = [
        short_name(row.feature) + (f"  + {len(row.substitutes)}" if row.substitutes else "")
        for row in rows
    ]
    ax.set_yticks(at, names)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.set_xlabel(f"selected in this share of {found.n_resamples} resamples")
    remove_frame(ax, keep=("bottom",))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=2, frameon=False, labelcolor=INK)
    return ax


# --- the selection --------------------------------------------------------------------------------


def score_curve(selection: Selection, features: Features, unit: str, ax: Any) -> Any:
    """Draw the score of each selected feature, and its relevance, in the order of selection.

    ``unit`` is that of the scores; relevance is in nats.
    """
    names = _selected_names(selection, features)
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


def interaction_chart(interactions: SelectedInteractions, n: int, ax: Any) -> Any:
    """Draw the first n interactions as bars: orange synergy, blue redundancy, grey within chance.

    A grey line behind each bar is how far chance can move the value. Hollow bars have too few rows
    to tell.
    """
    check_value("n", n, [whole(1)])
    rows = interactions.rows[:n]
    ax = ax or make_axes((8.0, 1.2 + 0.32 * max(len(rows), 3)))
    at = np.arange(len(rows))
    colours = {"synergy": ORANGE, "redundancy": BLUE, "too few rows": "white"}
    noise = np.array([row.noise for row in rows])
    ax.hlines(at, -noise, noise, color=GREY, lw=7, alpha=0.45, label="within chance")
    for kind in ("synergy", "redundancy", "within chance", "too few rows"):
        places = [place for place, row in enumerate(rows) if row.kind == kind]
        if places:
            label = kind if kind != "within chance" else None
            values = [rows[place].value for place in places]
            style: dict[str, Any] = {"color": colours.get(kind, GREY)}
            if kind == "too few rows":
                style = {"color": "white", "edgecolor": INK, "hatch": "////", "lw": 0.6}
            ax.barh(places, values, height=0.4, label=label, **style)
    ax.set_yticks(at, [" × ".join(map(short_name, row.features)) for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.axvline(0, color=GREY, lw=1)
    ax.set_xlabel("nats")
    remove_frame(ax, keep=("bottom",))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=4, frameon=False)
    return ax


def validation_curves(curves: Any, chosen: Any, baseline: float, label: str, ax: Any) -> Any:
    """Draw mean scores ± 1 standard error against the number of features.

    Parameters
    ----------
    curves : sequence
        Each has a ``name``, ``sizes``, ``mean`` and ``standard_error``.
    chosen
        Has a ``selector`` (the name of a curve), ``n_features`` and ``score``.
    baseline : float
        The score without features; NaN is not drawn.
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
    title = f"chosen: {short_name(chosen.selector)}, K = {chosen.n_features}"
    mark = {"ms": 15, "mfc": "white", "mec": INK, "ls": "none"}
    ax.plot(chosen.n_features, chosen.score, "*", label=title, zorder=5, **mark)
    ax.axhline(baseline, color=INK, lw=1, ls="--", label="without features")
    ax.set_xlabel("features")
    ax.set_ylabel(label, color=INK)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(color="#e6e9ed", lw=0.8)
    ax.set_axisbelow(True)
    remove_frame(ax, keep=("bottom",))
    ax.set_title("cross-validated mean ± 1 standard error", loc="left", color=INK, fontsize=10)
    ax.legend(frameon=False, labelcolor=INK, fontsize=9)
    return ax


def _selected_names(selection: Selection, features: Features) -> list[str]:
    """Return the names of the selected features; an error if there are none."""
    if not len(selection):
        raise InvalidParameterError("There is nothing to draw: no feature was selected.")
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

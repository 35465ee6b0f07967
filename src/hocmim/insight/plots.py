"""Pictures of a selection, by matplotlib (``pip install matplotlib``), imported on use.

``plot(selector, kind)`` draws one of ``KINDS``; the functions below it draw each kind.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from hocmim.coding.groups import Features, column_name
from hocmim.errors import InvalidParameterError, not_installed
from hocmim.insight.basis import Basis, basis_of, selection_of
from hocmim.insight.chart_data import (
    ALPHA,
    TargetByLevel,
    column_heights,
    frequencies_of,
    sample_map,
    target_by_level,
)
from hocmim.insight.prediction import predict
from hocmim.insight.report.charts import place_names
from hocmim.insight.synergy import strongest_map
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
        "columns": relevance and p-value of all features, the selected ones named.
        "samples": the selected features of every row, sorted by class; for few rows.
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
    if kind == "stability":
        return stability_bars(selector, options.get("n", 20), ax)
    basis = basis_of(selector, X, y)
    if kind == "target":
        return target_charts(basis, ax, **options)
    if kind == "interaction":
        return interaction_heatmap(basis, ax)
    if kind == "columns":
        return column_scatter(basis, ax)
    if kind == "samples":
        return sample_heatmap(basis, ax)
    return prediction_curve(basis, ax, by_cost=kind == "costs")


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
    """Draw relevance and −log10 p of all features that could be selected; name the selected."""
    x, y, chosen = basis.relevance, column_heights(basis), basis.selection.indices
    others = np.setdiff1d(np.arange(len(x)), [*basis.selection.closed, *chosen])
    ax = ax or make_axes((7.5, 4.6))
    ax.plot(x[others], y[others], "o", color=GREY, ms=4, alpha=0.6, mew=0, label="not selected")
    ax.plot(x[chosen], y[chosen], "o", color=BLUE, ms=6, label="selected")
    label = f"p = {ALPHA} / {len(x):,} features"
    ax.axhline(-np.log10(ALPHA / len(x)), color=ORANGE, ls="--", lw=1, label=label)
    ax.margins(y=0.1)
    start, end = ax.get_xlim()
    ax.set_xlim(start, end + (end - start) / 4)  # room for names
    places = 100 * ax.transLimits.transform(np.column_stack([x, y])[chosen])
    names = [basis.name(int(k)) for k in chosen]
    for side, left, top, _, name in place_names(places[:, 0], 100 - places[:, 1], names):
        shift, align = (5, "left") if side == "right" else (-5, "right")
        ax.annotate(
            short_name(name),
            (left / 100, 1 - top / 100),
            (shift, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            ha=align,
            va="center",
            color=INK,
            size=8,
        )
    ax.set_xlabel("relevance I(X;Y), nats")
    ax.set_ylabel("−log10 p", color=INK)
    remove_frame(ax, keep=("bottom", "left"))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=3, frameon=False, labelcolor=INK)
    return ax


def sample_heatmap(basis: Basis, ax: Any) -> Any:
    """Draw the selected features of every row, sorted by class: low is orange, high is blue."""
    colors = import_matplotlib("matplotlib.colors")
    colours = colors.LinearSegmentedColormap.from_list("levels", [ORANGE, "#f4f6f9", BLUE])
    found = sample_map(basis)
    names, n_names = found.features, len(found.features)
    if not names:
        raise InvalidParameterError("There is nothing to draw: no column of numbers was selected.")
    ax = ax or make_axes((8.0, 1.2 + 0.28 * n_names))
    ax.imshow(found.levels, colours, aspect="auto", interpolation="nearest", vmin=0, vmax=1)
    sizes = np.array([n for _, n in found.groups])
    ends = np.cumsum(sizes) - 0.5
    ax.vlines(ends[:-1], -0.5, n_names - 0.5, color="white", lw=3)
    ax.set_xticks(ends - sizes / 2, [short_name(name) for name, _ in found.groups])
    ax.set_yticks(np.arange(n_names), [short_name(name) for name in names])
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


def validation_curves(curves: Any, chosen: Any, baseline: float, label: str, ax: Any) -> Any:
    """Draw mean scores ± 1 standard error against the number of features.

    A curve has a ``name``, ``sizes``, ``mean`` and ``standard_error``; ``chosen`` has the name of a
    curve, ``selector``, ``n_features`` and ``score``. ``baseline`` is the score without features.
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

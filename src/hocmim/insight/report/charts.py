"""Where the template of the page draws lines and points.

A picture is an SVG that stretches to the width of the page, with the words around it in HTML, so
that text keeps its size on a phone. Places are in percent or, inside an SVG, from 0 to 1000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from hocmim.information.counting import Values
from hocmim.insight.basis import Basis
from hocmim.insight.chart_data import ALPHA, SampleMap, column_heights
from hocmim.insight.prediction import Prediction
from hocmim.text import count, one_line

N_TICKS = 5
# Whole numbers up to this many are all ticks.
MAX_COUNTED = 12
# Characters of a name beside a point, and the height of a line, in percent of a picture.
MAX_LABEL, LABEL_HEIGHT = 26, 6
# Of a name: the side of the dot, left of the dot, top of the name, number, name; in percent.
Label = tuple[str, float, float, int, str]


@dataclass(frozen=True)
class Curve:
    """The accuracy on new rows against the number of features, as paths of SVG.

    ``ticks`` are (place, text); ``hints`` are (left, width, text) of each point.
    """

    line: str
    band: str
    baseline: float
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    hints: list[tuple[float, float, str]]


def prediction_chart(found: Prediction) -> Curve:
    """Lay out the accuracy, the band of its standard error, and the accuracy without a column."""
    sizes, mean, error = found.validation.sizes, found.mean, found.standard_error
    y_ticks = ticks(float((mean - error).min()), float((mean + error).max()))
    low, high = y_ticks[0], y_ticks[-1]
    x = 1000 * sizes / sizes[-1]

    def path(values: Values) -> list[str]:
        return [
            f"{a:.1f},{1000 * (high - b) / (high - low):.1f}"
            for a, b in zip(x, values, strict=True)
        ]

    def write(share: float) -> str:
        return f"{100 * share:.4g}%" if found.is_rate else _number(share, ".4g")

    edges = np.concatenate([[0.0], (x[1:] + x[:-1]) / 2, [1000.0]])
    texts = [
        f"{count(int(n), 'column')}: {write(value)}" for n, value in zip(sizes, mean, strict=True)
    ]
    return Curve(
        "M" + "L".join(path(mean)),
        "M" + "L".join([*path(mean + error), *path(mean - error)[::-1]]) + "Z",
        1000 * (high - found.baseline) / (high - low),
        [
            (100 * tick / float(sizes[-1]), _number(tick, "g"))
            for tick in ticks(0, float(sizes[-1]), is_counted=True)
            if tick <= sizes[-1]
        ],
        [(100 * (high - tick) / (high - low), write(tick)) for tick in y_ticks],
        list(zip(edges[:-1], np.diff(edges), texts, strict=True)),
    )


def _number(value: float, form: str = ".4f") -> str:
    return f"{value:{form}}".replace("-", "−").replace("inf", "∞").replace("nan", "–")


def ticks(low: float, high: float, is_counted: bool = False) -> list[float]:
    """Return about five round numbers that enclose the range from low to high.

    Examples
    --------
    >>> from hocmim.insight.report.charts import ticks
    >>> ticks(0, 0.63)
    [0.0, 0.2, 0.4, 0.6, 0.8]
    >>> ticks(1, 6, is_counted=True)
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    if not high > low:
        high = low + 1.0
    size = 10.0 ** floor(log10((high - low) / N_TICKS))
    step = next(size * m for m in (1, 2, 5, 10) if size * m * N_TICKS >= high - low)
    if is_counted:
        step = 1.0 if high - low <= MAX_COUNTED else max(1.0, step)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, last + 1)]


@dataclass(frozen=True)
class Scatter:
    """Points of all features, as paths of dots in units of the SVG.

    Selected features have labels where there is room. The level of p is from the top, in percent.
    """

    others: str
    chosen: str
    labels: list[Label]
    level: float
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]


def scatter(basis: Basis, names: Sequence[str]) -> Scatter:
    """Lay out relevance and −log10 p of all features; the selected ones have these names.

    Those that could not be selected are left out. Points nearer than a dot are drawn once.
    """
    x, y, selected = basis.relevance, column_heights(basis), [*basis.places]
    level = -log10(ALPHA / len(x))
    is_open = np.ones(len(x), bool)
    is_open[list(basis.selection.closed)] = False
    x_ticks = ticks(min(0.0, x[is_open].min(initial=0.0)), x[is_open].max(initial=0.0))
    y_ticks = ticks(0.0, y[is_open].max(initial=level))
    left = 100 * (x - x_ticks[0]) / (x_ticks[-1] - x_ticks[0])
    top = 100 * (1 - y / y_ticks[-1])
    is_open[list(selected)] = False
    points = np.column_stack([left, top])[is_open]
    places = np.unique(np.round(10 * points / 4).astype(int), axis=0)
    chosen = [(10 * left[k], 10 * top[k]) for k in selected]
    return Scatter(
        "".join(f"M{4 * a},{4 * b}h0" for a, b in places.tolist()),
        "".join(f"M{a:.0f},{b:.0f}h0" for a, b in chosen),
        place_names(left[selected], top[selected], names),
        100 * (1 - level / y_ticks[-1]),
        [(100 * (t - x_ticks[0]) / (x_ticks[-1] - x_ticks[0]), _number(t, "g")) for t in x_ticks],
        [(100 * (1 - t / y_ticks[-1]), _number(t, "g")) for t in y_ticks],
    )


def place_names(x: Values, y: Values, names: Sequence[str]) -> list[Label]:
    """Place names beside dots where they have room; x and y are in percent from the top left."""
    labels = []
    used = [(left - 0.7, left + 0.7, top) for left, top in zip(x.tolist(), y.tolist(), strict=True)]
    for number, (left, top, name) in enumerate(zip(x.tolist(), y.tolist(), names, strict=True), 1):
        text = one_line(name, MAX_LABEL)
        width = 0.95 * len(text)
        for is_left, shift in ((0, 0), (1, 0), (0, -1), (0, 1), (1, -1), (1, 1)):
            start = left + (1.0 if not is_left else -width - 2.0)
            at_top = top + shift * LABEL_HEIGHT
            near = [box for box in used if abs(box[2] - at_top) < LABEL_HEIGHT - 1]
            is_free = all(start > stop or start + width < begin for begin, stop, _ in near)
            if is_free and start > 0 and start + width < 100 and 0 < at_top < 100:
                used.append((start, start + width, at_top))
                side = "left" if is_left else "right"
                labels.append((side, left, at_top, number, text))
                break
    return labels


def sample_paths(found: SampleMap) -> list[tuple[int, str]]:
    """Return the cells of each level as a path, with the strength of its colour.

    From −100, the lowest, to 100. A cell is 10 × 10; neighbours of one level are one line.
    """
    paths: dict[int, list[str]] = {}
    for row, levels in enumerate(found.levels):
        known = np.where(np.isnan(levels), -1.0, levels)
        starts = np.flatnonzero(np.diff(known, prepend=-2.0))
        for start, stop in zip(starts, [*starts[1:], len(known)], strict=True):
            if known[start] >= 0:
                strength = round(200 * known[start]) - 100
                line = f"M{10 * start},{10 * row + 5}h{10 * (stop - start)}"
                paths.setdefault(strength, []).append(line)
    return [(strength, "".join(lines)) for strength, lines in sorted(paths.items())]

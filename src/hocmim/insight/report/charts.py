"""The pictures of the page, as numbers for its template: lines, a heat map and a tree.

The template draws a picture as an SVG that stretches to the width of the page, with the words
around it in HTML, so that text keeps its size on a phone. Places are in percent or, inside an SVG,
from 0 to 1000.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hocmim.information.counting import Values

N_TICKS = 5
# Points up to which each is marked by a dot.
MAX_DOTS = 40


@dataclass(frozen=True)
class LineChart:
    """Lines over a common axis.

    Attributes
    ----------
    lines : list of (name, path, dots)
        Paths of SVG; ``dots`` marks the points and is empty if there are many.
    band : str
        The area between the first two lines, as a path; empty without one.
    x_ticks, y_ticks : list of (place, text)
        From the left and from the top, in percent.
    hints : list of (left, width, text)
        What to show for each point, in units of the SVG.
    """

    lines: list[tuple[str, str, str]]
    band: str
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    hints: list[tuple[float, float, str]]


def line_chart(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    titles: Sequence[str],
    *,
    has_band: bool = False,
    is_counted: bool = True,
) -> LineChart:
    """Lay out lines over x.

    Parameters
    ----------
    x : ascending numbers
    lines : mapping of name to values
        NaN and infinite values are not drawn.
    titles : sequence of str
        Of each point.
    has_band : bool
        Whether to fill the area between the first two lines.
    is_counted : bool
        Whether x are whole numbers.
    """
    at = np.asarray(x, np.float64)
    values = {name: np.asarray(each, np.float64) for name, each in lines.items()}
    finite = np.concatenate([each[np.isfinite(each)] for each in values.values()])
    y_ticks = ticks(min(0.0, finite.min(initial=0.0)), finite.max(initial=0.0))
    low, high = y_ticks[0], y_ticks[-1]
    first, last = (float(at[0]), float(at[-1])) if len(at) > 1 else (at[0] - 0.5, at[0] + 0.5)
    place_x = 1000 * (at - first) / (last - first)

    def place_y(each: Values) -> Values:
        return np.asarray(1000 * (high - each) / (high - low))

    drawn = []
    for name, each in values.items():
        points = list(zip(place_x, place_y(each), strict=True))
        dots = "".join(f"M{a:.1f},{b:.1f}h0" for a, b in points if np.isfinite(b))
        drawn.append((name, _path(points), dots if len(at) <= MAX_DOTS else ""))
    band = ""
    if has_band:
        upper, lower = (place_y(each) for each in list(values.values())[:2])
        around = [*zip(place_x, upper, strict=True), *list(zip(place_x, lower, strict=True))[::-1]]
        band = _path(around) + "Z"
    x_ticks = [tick for tick in ticks(first, last, is_counted) if first <= tick <= last]
    edges = np.concatenate([[0.0], (place_x[1:] + place_x[:-1]) / 2, [1000.0]])
    texts = [
        "\n".join([title, *(f"{name}: {_number(each[k])}" for name, each in values.items())])
        for k, title in enumerate(titles)
    ]
    return LineChart(
        drawn,
        band,
        [(100 * (tick - first) / (last - first), _number(tick, "g")) for tick in x_ticks],
        [(100 * (high - tick) / (high - low), _number(tick, "g")) for tick in y_ticks],
        list(zip(edges[:-1], np.diff(edges), texts, strict=True)),
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    known = [(x, y) for x, y in points if np.isfinite(y)]
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in known) if known else ""


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
        step = max(1.0, step)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, last + 1)]


@dataclass(frozen=True)
class Tree:
    """A dendrogram: features from top to bottom, and the lines that join them.

    ``path`` is in units of 1000 for a distance of 1, and 10 for a feature.
    """

    leaves: list[int]
    path: str
    cut: float


def draw_tree(linkage: NDArray[np.float64], features: Sequence[int], cut: float) -> Tree:
    """Lay out the tree of ``scipy.cluster.hierarchy.linkage``; a leaf is one of the features."""
    from scipy.cluster.hierarchy import dendrogram  # takes long to import

    drawn: dict[str, Any] = dendrogram(linkage, no_plot=True)
    lines = [
        f"M{1000 * x0:.0f},{y0:.1f}H{1000 * x:.0f}V{y1:.1f}H{1000 * x1:.0f}"
        for (y0, _, _, y1), (x0, x, _, x1) in zip(drawn["icoord"], drawn["dcoord"], strict=True)
    ]
    return Tree([features[k] for k in drawn["leaves"]], "".join(lines), 1000 * cut)


def heat_map(matrix: Values) -> list[list[tuple[str, int, str]]]:
    """Return the cells of a matrix of redundancy: colour, strength in percent, and a hint."""
    off = np.abs(matrix[~np.eye(len(matrix), dtype=bool)])
    largest = max(float(off.max(initial=0.0)), 1e-12)
    return [
        [
            ("own", 0, f"{i + 1}: relevance {value:.4f} nats")
            if i == j
            else (
                "redundancy" if value > 0 else "synergy",
                round(100 * abs(value) / largest),
                f"{i + 1} × {j + 1}: {'redundancy' if value > 0 else 'synergy'} "
                f"{abs(value):.4f} nats",
            )
            for j, value in enumerate(row)
        ]
        for i, row in enumerate(matrix.tolist())
    ]

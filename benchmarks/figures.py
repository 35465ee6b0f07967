"""The plot: time against N, D and K, and the time of HOCMIM against the order."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from cases import BASE_D, BASE_K, BASE_N, GROWTH_METHODS, GROWTH_PEERS, ORDERS

COLOURS = {
    "HOCMIM": "#0072B2",
    "JMI": "#D55E00",
    "mRMR": "#009E73",
    "CMIM": "#CC79A7",
    "scikit-learn": "#444444",
    "fast-select": "#777777",
    "mrmr-selection": "#AAAAAA",
}
MARKERS = {"scikit-learn": "s", "fast-select": "^", "mrmr-selection": "D"}


def draw(records: list[dict[str, Any]], stem: Path) -> None:
    """Write stem.svg and stem.png, if matplotlib is installed."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    settings = {"svg.hashsalt": "hocmim", "font.size": 9, "axes.spines.top": False}
    with plt.rc_context(settings | {"axes.spines.right": False}):
        figure, axes = plt.subplots(1, 4, figsize=(14, 3.9), layout="constrained")
        for axis, dimension in zip(axes, ("n", "d", "k"), strict=False):
            growth_panel(axis, records, dimension)
        axes[0].set_ylabel("seconds (fit, 2 threads)")
        order_panel(axes[3], records)
        lines = {line.get_label(): line for axis in axes[:3] for line in axis.get_lines()}
        if lines:
            figure.legend(
                lines.values(), lines.keys(), loc="outside lower center", ncols=8, frameon=False
            )
        figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
        figure.savefig(stem.with_suffix(".png"), dpi=150)
        plt.close(figure)


def growth_panel(axis: Any, records: list[dict[str, Any]], dimension: str) -> None:
    base = {"n": BASE_N, "d": BASE_D, "k": BASE_K}
    fixed = {name: value for name, value in base.items() if name != dimension}
    who = [("hocmim", method) for method in GROWTH_METHODS] + list(GROWTH_PEERS)
    for package, method in who:
        points = medians_along(records, dimension, fixed, package, method)
        if not points:
            continue
        is_own = package == "hocmim"
        axis.plot(
            *zip(*points, strict=True),
            color=COLOURS[method if is_own else package],
            marker="o" if is_own else MARKERS[package],
            linestyle="-" if is_own else "--",
            linewidth=2 if method == "HOCMIM" else 1.2,
            markersize=4,
            label=method if is_own else f"{package} {method}",
        )
    axis.set(xscale="log", yscale="log", xlabel=dimension.upper())
    values = sorted({int(x) for line in axis.get_lines() for x in line.get_xdata()})
    shown = values[::2] if len(values) > 4 else values
    axis.set_xticks(shown, [str(value) for value in shown], minor=False)
    axis.set_xticks([], minor=True)
    others = ", ".join(f"{name.upper()} = {value}" for name, value in fixed.items())
    axis.set_title(f"{dimension.upper()} grows; {others}", fontsize=9)
    axis.grid(alpha=0.25)


def medians_along(
    records: list[dict[str, Any]],
    dimension: str,
    fixed: dict[str, int],
    package: str,
    method: str,
) -> list[tuple[int, float]]:
    """(value, median seconds) of one program over the runs that differ in one dimension."""
    times: dict[int, list[float]] = {}
    for record in records:
        if (
            record["status"] == "ok"
            and (record["package"], record["method"]) == (package, method)
            and record["kind"] == "fit"
            and not record["options"]
            and "x" in record["table"]
            and all(record[name] == value for name, value in fixed.items())
        ):
            times.setdefault(record[dimension], []).append(record["seconds"])
    return sorted((value, statistics.median(seconds)) for value, seconds in times.items())


def order_panel(axis: Any, records: list[dict[str, Any]]) -> None:
    """The time of HOCMIM divided by that of JMI on the same table."""
    found: dict[str, dict[int, list[float]]] = {}
    jmi: dict[str, list[float]] = {}
    for record in records:
        if record["status"] != "ok" or record["kind"] != "search" or record["threads"] != 2:
            continue
        if record["method"] == "HOCMIM":
            order = record["options"].get("max_order", 15)
            found.setdefault(record["table"], {}).setdefault(order, []).append(record["seconds"])
        elif record["method"] == "JMI":
            jmi.setdefault(record["table"], []).append(record["seconds"])
    for (name, orders), marker in zip(found.items(), "osD^v<>", strict=False):
        if name in jmi and len(orders) > 2:
            scale = statistics.median(jmi[name])
            points = sorted((o, statistics.median(t) / scale) for o, t in orders.items())
            axis.plot(*zip(*points, strict=True), marker=marker, markersize=4, label=name)
    axis.axhline(1, color=COLOURS["JMI"], linestyle=":", label="JMI")
    axis.set_yscale("log")
    axis.set_xlabel("max_order")
    axis.set_xticks(ORDERS, [str(order) for order in ORDERS])
    axis.set_xlim(0, max(ORDERS) + 0.5)
    axis.set_title("time of HOCMIM ÷ JMI, K = 50 (search)", fontsize=9)
    axis.grid(alpha=0.25)
    axis.legend(frameon=False, title="table")

"""How the time of each method grows with N, D, K and its settings; nothing jumps.

    python benchmarks/growth.py [METHOD ...] [--quick] [--write]       growth.md
    python benchmarks/growth.py --settings [--quick] [--write]         cliffs.md
    python benchmarks/growth.py --beside-jmi [--tables B C D E]        HOCMIM-R beside JMI

*Growth*: each method runs on one thread; times are processor time, the least of several runs, so
that a busy machine matters little. ``fit`` includes encoding of the user's table of small integers
(int8). N, D and K are doubled three times, one at a time, from 4000 × 500 and K = 10. The exponent
is the slope of a straight line through the logarithms of the times: 1 means that twice as much
takes twice the time. Once a search takes longer than ``--limit`` seconds, no larger size is run.
--write also draws docs/images/bench.png.

*Settings*: pairs of settings of which the second asks for less (a lower max_order or team_size, or
a smaller K) and should not take longer.

*HOCMIM-R beside JMI*: the searches take turns on two threads, and the fastest of five counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common import (
    DOCS,
    SIZES,
    TableSpec,
    as_codes,
    classes,
    code_matrix,
    least_seconds,
    markdown,
    options_of,
    search,
    table,
    write_result,
    write_table,
)
from hocmim import make_selector

METHODS = (
    *("MIM", "mRMR", "JMI", "DISR", "CIFE", "ICAP", "CMIM", "JMIM", "NJMIM", "JIM"),
    *("MIFS", "BetaGamma", "CMI", "HOCMIM-R", "HOCMIM", "JMI-3", "CMIM-3", "Relax-mRMR"),
    *("JMI-4", "CMIM-4", "CMICOT"),
)
# Fewer columns for methods that would take minutes.
COLUMNS_SELECTED = {"JMI-3": 30, "Relax-mRMR": 30, "JMI-4": 12, "CMIM-4": 20, "CMICOT": 10}
START = {"N": 4000, "D": 500, "K": 10}
N_DOUBLINGS = 3
SECONDS_OF_RUNS = 0.3  # short runs are repeated for so long
DRAWN = ("HOCMIM-R", "HOCMIM", "JMI", "MIM")


class Setting(NamedTuple):
    """A method, how many columns it selects, and its parameters."""

    method: str
    k: int = 50
    parameters: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        given = [f"{name}={value}" for name, value in self.parameters]
        return ", ".join([self.method, f"K={self.k}", *given])


class Tables:
    """The tables of these sizes as codes, and the processor time of searches on them."""

    def __init__(self) -> None:
        self._codes: dict[tuple[int, int], Any] = {}

    def seconds(self, setting: Setting, n: int, d: int, budget: float = SECONDS_OF_RUNS) -> float:
        """The fastest search on one thread."""
        spec = TableSpec(f"{n}x{d}", n, d)
        if (n, d) not in self._codes:
            self._codes[n, d] = as_codes(code_matrix(spec), classes(spec))
        made = make_selector(
            setting.method, n_features_to_select=setting.k, n_jobs=1, **dict(setting.parameters)
        )
        call = partial(search, *self._codes[n, d], made, setting.k)
        return least_seconds([call], budget, time.process_time, least_turns=1)[0]


# --- growth ---------------------------------------------------------------------------------------


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of log seconds over log sizes; NaN for fewer than three points."""
    if len(seconds) < 3:
        return float("nan")
    return float(np.polyfit(np.log(sizes[: len(seconds)]), np.log(seconds), 1)[0])


def growth(tables: Tables, method: str, limit: float) -> dict[str, dict[int, float]]:
    """The seconds of the search by N, D and K."""
    found: dict[str, dict[int, float]] = {name: {} for name in START}
    for name, times in found.items():
        for doubling in range(N_DOUBLINGS + 1):
            size = START[name] << doubling
            n, d, k = ({**START, name: size}[key] for key in ("N", "D", "K"))
            times[size] = tables.seconds(Setting(method, k), n, d)
            if times[size] > limit:
                break
    return found


def fit_seconds(method: str, spec: TableSpec, k: int) -> float:
    """The processor time of ``fit`` on one thread."""
    X, y = table(spec, np.int8), classes(spec)
    made = make_selector(method, n_features_to_select=k, n_jobs=1)
    return least_seconds([partial(made.fit, X, y)], SECONDS_OF_RUNS, time.process_time, 1)[0]


def measure(
    methods: Sequence[str], limit: float, spec: TableSpec, most: int = 50
) -> tuple[list[list[str]], dict[str, dict[str, dict[int, float]]]]:
    """A row for each method: columns selected, fit, search, their ratio, and the exponents."""
    tables, rows, curves = Tables(), [], {}
    for method in methods:
        k = min(most, COLUMNS_SELECTED.get(method, most))
        fit = fit_seconds(method, spec, k)
        alone = tables.seconds(Setting(method, k), spec.n_samples, spec.n_columns)
        curves[method] = growth(tables, method, limit)
        slopes = [exponent(list(times), list(times.values())) for times in curves[method].values()]
        shown = ["–" if np.isnan(each) else f"{each:.2f}" for each in slopes]
        times = [f"{1e3 * fit:.1f}", f"{1e3 * alone:.1f}", f"{fit / alone:.2f}"]
        rows.append([method, str(k), *times, *shown])
        print(" ".join(f"{cell:>12}" for cell in rows[-1]), file=sys.stderr, flush=True)
    return rows, curves


def draw(curves: dict[str, dict[str, dict[int, float]]], path: Path) -> None:
    """Draw the seconds of some methods against N, D and K."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.6), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, name in zip(panels, START, strict=True):
        for method in (method for method in DRAWN if method in curves):
            times = curves[method][name]
            axes.plot(list(times), list(times.values()), "o-", ms=4, label=method)
        others = ", ".join(f"{key} = {value}" for key, value in START.items() if key != name)
        axes.set(xscale="log", yscale="log", xlabel=name, title=others)
        axes.grid(alpha=0.25)
    panels[0].set_ylabel("seconds of a search, one thread")
    panels[-1].legend(frameon=False)
    figure.savefig(path, dpi=150, metadata={"Software": None})


# --- settings -------------------------------------------------------------------------------------

# The ones that ask for more first.
ORDERS = (20, 15, 5, 3, 2, 1)
PAIRS_OF_K = {
    "HOCMIM": (50, 20),
    "HOCMIM-R": (50, 20),
    "CMIM-3": (50, 20),
    "CMIM-4": (20, 10),
    "JMI-3": (30, 15),
    "JMI-4": (12, 8),
    "CMICOT": (10, 5),
    "Relax-mRMR": (30, 15),
    **dict.fromkeys(METHODS[:10], (50, 20)),
}


def pairs() -> Iterator[tuple[Setting, Setting]]:
    """Pairs of settings: the first asks for more."""
    for method in ("HOCMIM", "HOCMIM-R"):
        yield from pairwise(Setting(method, 50, (("max_order", order),)) for order in ORDERS)
    yield from pairwise(Setting("CMICOT", 10, (("team_size", size),)) for size in (6, 4, 2, 1))
    yield Setting("CMIM-4", 20), Setting("CMIM-3", 20)
    yield Setting("JMI-4", 12), Setting("JMI-3", 12)
    for method, (large, small) in PAIRS_OF_K.items():
        yield Setting(method, large), Setting(method, small)


def measure_pairs(
    chosen: Sequence[tuple[Setting, Setting]], spec: TableSpec
) -> dict[Setting, float]:
    """The fastest search of each setting."""
    tables, found = Tables(), {}
    for setting in dict.fromkeys(setting for pair in chosen for setting in pair):
        found[setting] = tables.seconds(setting, spec.n_samples, spec.n_columns)
        print(f"{setting}: {found[setting]:.3f} s", file=sys.stderr, flush=True)
    return found


def pairs_table(chosen: Sequence[tuple[Setting, Setting]], found: dict[Setting, float]) -> str:
    """A row for each pair; the ratio should not be above 1."""
    rows = [
        [a, f"{found[a]:.2g}", b, f"{found[b]:.2g}", f"{found[b] / found[a]:.2f}"]
        for a, b in chosen
    ]
    return markdown(["asks for more", "s", "asks for less", "s", "ratio"], rows)


def orders_table(found: dict[Setting, float]) -> str:
    """The seconds of HOCMIM and HOCMIM-R by max_order, for docs/."""
    seconds = {
        method: [found[Setting(method, 50, (("max_order", order),))] for order in ORDERS]
        for method in ("HOCMIM", "HOCMIM-R")
    }
    base = seconds["HOCMIM"][ORDERS.index(15)]
    rows = [
        [f"`max_order={order}`", f"{ours:.2g}", f"{ours / base:.2g}", f"{robust:.2g}"]
        for order, ours, robust in zip(ORDERS, *seconds.values(), strict=True)
    ]
    return markdown(["setting", "HOCMIM, s", "× order 15", "HOCMIM-R, s"], rows)


# --- HOCMIM-R beside JMI --------------------------------------------------------------------------


def beside_jmi(specs: Sequence[TableSpec], k: int = 50) -> str:
    """Seconds of the searches on two threads, and their ratio to JMI."""
    settings = {"JMI": {}, "HOCMIM-R": {}, "HOCMIM-R, max_order=3": {"max_order": 3}}
    rows = []
    for spec in specs:
        codes = as_codes(code_matrix(spec), classes(spec))
        calls = [
            partial(search, *codes, make_selector(name.split(",")[0], **given), k, 2)
            for name, given in settings.items()
        ]
        times = least_seconds(calls, 1.0, least_turns=5)
        for name, seconds in zip(settings, times, strict=True):
            size = f"{spec.n_samples} × {spec.n_columns}"
            rows.append([size, name, f"{seconds:.3f}", f"{seconds / times[0]:.2f}"])
    return markdown(["table", "method", "s", "× JMI"], rows)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("methods", nargs="*", metavar="METHOD")
    parser.add_argument("--limit", type=float, default=1.0)
    parser.add_argument("--settings", action="store_true")
    parser.add_argument("--beside-jmi", action="store_true")
    parser.add_argument("--tables", nargs="+", choices=SIZES, default=list("BCDE"))
    options = parser.parse_args()
    size = SIZES["A" if options.quick else "B"]
    title = f"{size.n_samples} × {size.n_columns}, processor time on one thread"
    if options.beside_jmi:
        print(beside_jmi([SIZES[name] for name in options.tables]))
    elif options.settings:
        chosen = list(pairs())
        found = measure_pairs(chosen, size)
        text = pairs_table(chosen, found)
        print(text)
        if options.write:
            write_result("cliffs.md", f"Settings at {title}", text)
            write_table("performance.md", "settings", orders_table(found))
    else:
        methods = options.methods or (DRAWN if options.quick else METHODS)
        rows, curves = measure(methods, options.limit, size)
        header = ["method", "selected", "fit, ms", "search, ms", "fit / search", "N", "D", "K"]
        text = markdown(header, rows)
        print(text)
        if options.write:
            note = "N, D and K: the exponents of the search."
            write_result("growth.md", f"`fit` and search at {title}", f"{note}\n\n{text}")
            draw(curves, DOCS / "images" / "bench.png")


if __name__ == "__main__":
    main()

"""``fit`` and search side by side for every method, and how the search grows with N, D and K.

    .venv/bin/python benchmarks/growth.py [METHOD ...] [--out benchmarks/results/growth.md]

Each method runs on one thread; times are processor time, the least of several runs, so that a busy
machine matters little. ``fit`` includes encoding of the user's table of small integers (int8).
Growth: N, D and K are doubled three times, one at a time, from 4000 × 500 and K = 10. The exponent
is the slope of a straight line through the logarithms of the times: 1 means that twice as much
takes twice the time. Once a search takes longer than ``--limit`` seconds, no larger size is run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import own
from cases import Case
from tables import SIZES, TableSpec, classes, code_matrix, table

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


def seconds_of(data: dict[str, Any], case: Case) -> float:
    """The processor time of the fastest run."""
    own.run(data, {**case, "k": 1})  # imports, and the pages of the table
    fastest, spent = np.inf, 0.0
    while np.isinf(fastest) or spent < SECONDS_OF_RUNS:
        began = time.process_time()
        own.run(data, case)
        taken = time.process_time() - began
        fastest, spent = min(fastest, taken), spent + taken
    return fastest


def prepared(spec: TableSpec) -> dict[str, Any]:
    """The table of a size as the user has it, and as codes."""
    return own.prepare(table(spec, np.int8), classes(spec), code_matrix(spec))


def case_of(method: str, k: int, kind: str) -> Case:
    return {"package": "hocmim", "method": method, "k": k, "kind": kind, "threads": 1}


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of log seconds over log sizes; NaN for fewer than three points."""
    if len(seconds) < 3:
        return float("nan")
    return float(np.polyfit(np.log(sizes[: len(seconds)]), np.log(seconds), 1)[0])


def growth(method: str, limit: float, tables: dict[tuple[int, int], dict[str, Any]]) -> list[float]:
    """The exponents of the search in N, D and K."""
    found = []
    for name in START:
        sizes = [START[name] << doubling for doubling in range(N_DOUBLINGS + 1)]
        seconds: list[float] = []
        for size in sizes:
            n, d, k = ({**START, name: size}[key] for key in ("N", "D", "K"))
            if (n, d) not in tables:
                tables[n, d] = prepared(TableSpec(f"{n}x{d}", n, d))
            seconds.append(seconds_of(tables[n, d], case_of(method, k, "search")))
            if seconds[-1] > limit:
                break
        found.append(exponent(sizes, seconds))
    return found


def measure(
    methods: Sequence[str], limit: float, most: int = 50, size: str = "B"
) -> list[list[str]]:
    """A row for each method: columns selected, fit, search, their ratio, and the exponents."""
    large, tables, rows = prepared(SIZES[size]), {}, []
    for method in methods:
        k = min(most, COLUMNS_SELECTED.get(method, most))
        fit, search = (seconds_of(large, case_of(method, k, kind)) for kind in ("fit", "search"))
        exponents = growth(method, limit, tables)
        shown = ["–" if np.isnan(each) else f"{each:.2f}" for each in exponents]
        rows.append(
            [
                method,
                str(k),
                f"{1e3 * fit:.1f}",
                f"{1e3 * search:.1f}",
                f"{fit / search:.2f}",
                *shown,
            ]
        )
        print(" ".join(f"{cell:>12}" for cell in rows[-1]), flush=True)
    return rows


def markdown(rows: list[list[str]], size: str) -> str:
    spec = SIZES[size]
    header = ["method", "selected", "fit, ms", "search, ms", "fit / search", "N", "D", "K"]
    lines = [" | ".join(["", *row, ""]).strip() for row in [header, ["---"] * len(header), *rows]]
    return (
        f"# `fit` and search at {spec.n_samples} × {spec.n_columns}, and their growth\n\n"
        "Processor time on one thread. N, D and K: the exponents of the search.\n\n"
        + "\n".join(lines)
        + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("methods", nargs="*", metavar="METHOD")
    parser.add_argument("--limit", type=float, default=5.0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = measure(options.methods or METHODS, options.limit)
    if options.out is not None:
        options.out.write_text(markdown(rows, "B"), "utf-8")


if __name__ == "__main__":
    main()

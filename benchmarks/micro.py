"""The kernels one by one: nanoseconds a sample and candidate, in units of a plain histogram.

    .venv/bin/python benchmarks/micro.py [--samples 2000] [--columns 500] [--levels 5]
                                         [--estimators plugin shrinkage] [--json file]

Every term of ``BlockTerms`` on one thread, with W of one, two and three columns.
The smallest of several goes, so that a kernel is compared with itself from one day to the next.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hocmim.information.counting import BlockTerms, Joint
from tables import TableSpec, as_codes, classes, code_matrix
from yardstick import histogram_ns

TERMS = ("information", "given_class", "redundancy", "conditional", "joint", "joint_entropy")
WIDTHS = (1, 2, 3)


def best_seconds(call: Callable[[], Any], budget: float, least: int = 3) -> float:
    """The smallest time of at least so many goes, more while the budget lasts."""
    times: list[float] = []
    while len(times) < least or sum(times) < budget:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(spec: TableSpec, estimators: list[str], budget: float = 0.05) -> list[dict[str, Any]]:
    """Every term, estimator and width of W on one table."""
    matrix, target = code_matrix(spec), classes(spec)
    codes, y = as_codes(matrix, target)
    plain = histogram_ns(matrix, target)
    rows = []
    for estimator in estimators:
        terms = BlockTerms(codes, Joint.of([y]), estimator)
        calls = {"relevance": (0, terms.relevance)}
        for width in WIDTHS:
            w = Joint.of([codes.column(j) for j in range(width)])
            for name in TERMS:
                calls[f"{name} {width}"] = (width, _bound(getattr(terms, name), w))
        for name, (width, call) in calls.items():
            seconds = best_seconds(call, budget)
            ns = seconds * 1e9 / spec.cells
            rows.append(
                {
                    "term": name.split()[0],
                    "estimator": estimator,
                    "width": width,
                    "ns": ns,
                    "yardsticks": ns / plain,
                }
            )
    return rows


def _bound(method: Callable[[Joint], Any], w: Joint) -> Callable[[], Any]:
    return lambda: method(w)


def markdown(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| term | estimator | columns in W | ns | ÷ plain histogram |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row["term"], row["estimator"], str(row["width"])]
        lines.append(
            "| " + " | ".join([*cells, f"{row['ns']:.3f}", f"{row['yardsticks']:.2f}"]) + " |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2_000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--levels", type=int, default=5)
    parser.add_argument("--kind", choices=("levels", "words", "genes"), default="levels")
    parser.add_argument("--estimators", nargs="+", default=["plugin", "shrinkage"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    spec = TableSpec("micro", options.samples, options.columns, options.kind, options.levels)
    rows = measure(spec, options.estimators)
    print(f"{options.samples} samples, {options.columns} columns, {options.levels} levels\n")
    print(markdown(rows))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Times of reports and comparisons on large tables, as tables in Markdown.

    .venv/bin/python benchmarks/pages.py [--results benchmarks/results] [--rounds 1]
                                         [--quick] [--docs]

Each case runs in its own process, which makes its table, selects the columns and then writes the
report or compares the methods. Only the latter is measured: seconds, processor time of all
threads, and the size of the page. ``hocmim report`` is measured as a whole, from a Parquet file.
The tables are written to ``pages.md`` in the folder of the results. With --quick three reports, one
command and the comparison with a sample of the rows; with --docs the table of reports is put into
docs/development/report.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from docs_tables import write_table
from tables import TableSpec, classes, table

WIDE = TableSpec("2000x20000", 2_000, 20_000)
N_SELECTED = 50
REPORTS = [
    (method, kind) for method in ("HOCMIM-R", "HOCMIM", "JMI") for kind in ("float64", "int8")
]
COMMANDS = [("HOCMIM-R", "float64"), ("HOCMIM", "float64"), ("JMI", "int8")]
LONG_ROWS, LONG_COLUMNS, LONG_CLASSES = 54_000, 9, 7


def wide_table(spec: TableSpec, kind: str) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Five levels as int8; or continuous numbers, whose whole parts are these levels."""
    X = table(spec, np.dtype(kind))
    if kind == "float64":
        X += np.random.default_rng(spec.seed).random(X.shape)
    return X, classes(spec)


def long_table(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Nine numeric columns, seven of them informative, and seven classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, LONG_CLASSES, n_rows)
    weight = np.array([1, 0.5, 0.3, 0.2, 0, 0, 0.1, 0.8, 0.05])
    spread = np.array([2, 2, 1, 3, 1, 1, 1, 5, 1])
    return y[:, None] * weight + rng.normal(0, spread, (n_rows, LONG_COLUMNS)), y


def measured(call: Any) -> tuple[Any, dict[str, float]]:
    """The result of a call, its seconds and its processor time."""
    began, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - cpu,
    }


def measure_report(method: str, kind: str, spec: TableSpec = WIDE) -> dict[str, Any]:
    """A report by ``selector.report``."""
    from hocmim import make_selector

    X, y = wide_table(spec, kind)
    k = min(N_SELECTED, spec.n_columns)
    selector = make_selector(method, n_features_to_select=k).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        page, times = measured(lambda: selector.report(Path(folder) / "report.html", X, y))
        text = page.read_text()
        found = re.search(r"([\d,]+) in all", text)
        scored = found[1] if found else f"{spec.n_columns:,}"
        return times | {"bytes": page.stat().st_size, "scored": scored}


def measure_command(method: str, kind: str, spec: TableSpec = WIDE) -> dict[str, Any]:
    """A report by ``hocmim report`` from a Parquet file, in a process of its own."""
    import pyarrow as pa
    from pyarrow import parquet

    X, y = wide_table(spec, kind)
    k = min(N_SELECTED, spec.n_columns)
    with tempfile.TemporaryDirectory() as folder:
        columns = {f"column_{j}": X[:, j] for j in range(spec.n_columns)} | {"target": y}
        parquet.write_table(pa.table(columns), Path(folder) / "table.parquet")
        del X, columns
        page = Path(folder) / "report.html"
        arguments = ["report", "table.parquet", "-t", "target", "-k", str(k), "-m", method]
        command = [sys.executable, "-m", "hocmim.cli", *arguments, "-q", "-o", str(page)]
        began, before = time.perf_counter(), os.times()
        subprocess.run(command, check=True, cwd=folder)
        after = os.times()
        used = after.children_user + after.children_system
        used -= before.children_user + before.children_system
        seconds = time.perf_counter() - began
        return {"seconds": seconds, "processor": used, "bytes": page.stat().st_size}


def measure_comparison(max_rows: int | None, n_rows: int = LONG_ROWS) -> dict[str, Any]:
    """A comparison of the default methods."""
    from hocmim import compare_methods

    X, y = long_table(n_rows)
    found, times = measured(
        lambda: compare_methods(X, y, n_features_to_select=LONG_COLUMNS, max_rows=max_rows)
    )
    curve = found.results[0].mean_error
    return times | {"rows": found.n_evaluated, "error": float(curve.min())}


MEASURES = {
    "report": measure_report,
    "command": measure_command,
    "compare": measure_comparison,
}


def measure_apart(measure: str, *arguments: Any, rounds: int = 1) -> dict[str, Any]:
    """The fastest of several rounds, each in a new process."""
    command = [sys.executable, __file__, "--inside", json.dumps([measure, *arguments])]
    results = []
    for _ in range(rounds):
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        results.append(json.loads(done.stdout))
    return min(results, key=lambda result: result["seconds"])


def lines(rounds: int, quick: bool = False) -> Iterator[str]:
    """The tables, line by line."""
    from hocmim.experiments.machine import processor

    yield "# Times of reports and comparisons\n"
    yield f"Machine: {os.cpu_count()} cores, {processor()}. By `python benchmarks/pages.py`, the"
    yield f"fastest of {rounds}. Load average when it began: {os.getloadavg()[0]:.1f}.\n"
    yield f"## Reports, {WIDE.n_samples:,} × {WIDE.n_columns:,}, {N_SELECTED} columns selected\n"
    yield "| method | type | seconds | processor time | page | features scored at each step |"
    yield "|---|---|---:|---:|---:|---:|"
    for method, kind in REPORTS[::2] if quick else REPORTS:
        found = measure_apart("report", method, kind, rounds=rounds)
        yield f"| {method} | {kind} | {_times(found)} | {_size(found)} | {found['scored']} |"
    yield "\n`hocmim report` from a Parquet file: reading, selection and report.\n"
    yield "| method | type | seconds | processor time | page |"
    yield "|---|---|---:|---:|---:|"
    for method, kind in COMMANDS[:1] if quick else COMMANDS:
        found = measure_apart("command", method, kind, rounds=rounds)
        yield f"| {method} | {kind} | {_times(found)} | {_size(found)} |"
    yield f"\n## Comparison of the default methods, {LONG_ROWS:,} × {LONG_COLUMNS}\n"
    yield "| `max_rows` | rows evaluated | seconds | processor time | lowest error of HOCMIM-R |"
    yield "|---|---:|---:|---:|---:|"
    for max_rows in (10_000,) if quick else (10_000, None):
        found = measure_apart("compare", max_rows, rounds=rounds)
        yield f"| {max_rows} | {found['rows']:,} | {_times(found)} | {found['error']:.3f} |"


def _times(found: dict[str, Any]) -> str:
    return f"{found['seconds']:.1f} | {found['processor']:.1f} s"


def _size(found: dict[str, Any]) -> str:
    return f"{found['bytes'] / 1e6:.1f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inside", metavar="JSON", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a few of the cases")
    parser.add_argument("--docs", action="store_true", help="renew the table in docs/")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    if options.inside:
        measure, *arguments = json.loads(options.inside)
        print(json.dumps(MEASURES[measure](*arguments)))
        return
    options.results.mkdir(parents=True, exist_ok=True)
    written = []
    with (options.results / "pages.md").open("w") as file:
        for line in lines(options.rounds, options.quick):
            print(line, flush=True)
            print(line, file=file, flush=True)
            written.append(line)
    if options.docs:
        tables = "\n".join(written).split("## Reports")[1]
        rows = takewhile(lambda line: line.startswith("|"), tables.splitlines()[2:])
        write_table("development/report.md", "pages", "\n".join(rows))


if __name__ == "__main__":
    main()

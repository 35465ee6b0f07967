"""Times of reports, comparisons and clusters of columns on large tables.

    python benchmarks/pages.py [--quick] [--write]

Reports of 2000 × 20 000 by ``selector.report``, with 50 columns selected; a comparison of the
default methods on 54 000 × 9, on a sample of the rows and on all; clusters of columns that were
made as one normal column and noisy copies of it. Seconds, processor time of all threads, and the
size of the page. --write puts the clusters into docs/development/report.md.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import TableSpec, classes, markdown, options_of, table, write_table
from hocmim import cluster_columns, compare_methods, make_selector

WIDE = TableSpec("wide", 2_000, 20_000)
N_SELECTED = 50
REPORTS = [(m, kind) for m in ("HOCMIM-R", "HOCMIM", "JMI") for kind in ("float64", "int8")]
LONG_ROWS, LONG_COLUMNS, LONG_CLASSES = 54_000, 9, 7
CLUSTERS = ((1000, 30), (1000, 3000), (2000, 8000))
QUICK_CLUSTERS = ((200, 30), (200, 60))
MEMBERS = 10


def measured(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    """The result of a call, its seconds and its processor time."""
    began, cpu = time.perf_counter(), time.process_time()
    result = call()
    times = time.perf_counter() - began, time.process_time() - cpu
    return result, [f"{seconds:.1f}" for seconds in times]


def report_row(method: str, kind: str, spec: TableSpec) -> list[str]:
    """A report of a table of five levels as int8; or of numbers whose whole parts are these."""
    X, y = table(spec, np.dtype(kind)), classes(spec)
    if kind == "float64":
        X += np.random.default_rng(spec.seed).random(X.shape)
    k = min(N_SELECTED, spec.n_columns)
    selector = make_selector(method, n_features_to_select=k).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        page, times = measured(lambda: selector.report(path, X, y))
        return [method, kind, *times, f"{page.stat().st_size / 1e6:.1f} MB"]


def long_table(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Nine numeric columns, seven of them informative, and seven classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, LONG_CLASSES, n_rows)
    weight = np.array([1, 0.5, 0.3, 0.2, 0, 0, 0.1, 0.8, 0.05])
    spread = np.array([2, 2, 1, 3, 1, 1, 1, 5, 1])
    return y[:, None] * weight + rng.normal(0, spread, (n_rows, LONG_COLUMNS)), y


def comparison_row(max_rows: int | None, n_rows: int) -> list[str]:
    """A comparison of the default methods."""
    X, y = long_table(n_rows)
    found, times = measured(
        lambda: compare_methods(X, y, n_features_to_select=LONG_COLUMNS, max_rows=max_rows)
    )
    error = float(found.results[0].mean_error.min())
    return [str(max_rows), f"{found.n_evaluated:,}", *times, f"{error:.3f}"]


def cluster_row(n_rows: int, n_columns: int) -> list[str]:
    """Clusters of a table in which every ten columns are one."""
    rng = np.random.default_rng(0)
    base = np.repeat(rng.normal(size=(n_rows, n_columns // MEMBERS)), MEMBERS, axis=1)
    X = base + 0.1 * rng.normal(size=base.shape)
    found, (_, spent) = measured(lambda: cluster_columns(X))
    is_known = np.array_equal(found.labels, np.arange(n_columns) // MEMBERS)
    size = f"{n_rows} × {n_columns}"
    return [size, found.method, spent, str(len(found)), "yes" if is_known else "no"]


def tables(quick: bool) -> Iterator[tuple[str, str]]:
    """The name of each table and the table."""
    wide = TableSpec("small", 300, 400) if quick else WIDE
    header = ["method", "type", "seconds", "processor time", "page"]
    yield "pages", markdown(header, (report_row(*case, wide) for case in REPORTS))
    header = ["`max_rows`", "rows evaluated", "seconds", "processor time", "lowest error"]
    n_rows = 1_000 if quick else LONG_ROWS
    limits = (100, None) if quick else (10_000, None)
    yield "comparison", markdown(header, (comparison_row(limit, n_rows) for limit in limits))
    header = ["rows × columns", "method", "processor time, s", "clusters", "as generated"]
    cases = QUICK_CLUSTERS if quick else CLUSTERS
    yield "clusters", markdown(header, (cluster_row(*case) for case in cases))


def main() -> None:
    options = options_of(__doc__).parse_args()
    made = {}
    for name, text in tables(options.quick):
        made[name] = text
        print(f"{text}\n", flush=True)
    if options.write:
        write_table("development/report.md", "clusters", made["clusters"])


if __name__ == "__main__":
    main()

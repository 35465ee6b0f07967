"""Time of clustering columns, and whether known clusters are found.

Each cluster is one normal column and noisy copies of it. --write puts the table into
docs/development/report.md.

    python benchmarks/clusters.py [--quick] [--write]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from docs_tables import write_table
from hocmim import cluster_columns

CASES = ((1000, 30, "average"), (1000, 3000, "average"), (2000, 8000, "leader"))
QUICK_CASES = ((200, 30, "average"), (200, 60, "leader"))
MEMBERS = 10


def make_table(n_rows: int, n_columns: int) -> np.ndarray:
    """Return a table with a cluster of every ten columns."""
    rng = np.random.default_rng(0)
    base = np.repeat(rng.normal(size=(n_rows, n_columns // MEMBERS)), MEMBERS, axis=1)
    return base + 0.1 * rng.normal(size=base.shape)


def measure(cases: tuple[tuple[int, int, str], ...]) -> str:
    """Return the table of times."""
    lines = [
        "| rows × columns | method | processor time, s | clusters | as generated |",
        "|---|---|---|---|---|",
    ]
    for n_rows, n_columns, method in cases:
        X = make_table(n_rows, n_columns)
        began = time.process_time()
        found = cluster_columns(X, method=method)
        spent = time.process_time() - began
        is_known = np.array_equal(found.labels, np.arange(n_columns) // MEMBERS)
        cells = [f"{n_rows} × {n_columns}", method, f"{spent:.1f}", str(len(found))]
        lines.append(f"| {' | '.join(cells)} | {'yes' if is_known else 'no'} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    table = measure(QUICK_CASES if options.quick else CASES)
    if options.write:
        write_table("development/report.md", "clusters", table)


if __name__ == "__main__":
    main()

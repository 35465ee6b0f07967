"""Peak memory of ``fit`` in addition to the user's table.

    .venv/bin/python benchmarks/memory.py [B C D E 1000000x1000] [--methods HOCMIM-R HOCMIM JMI]

Each size runs in its own process. The process makes its table a few columns at a time, fits a small
table once, resets its peak memory and fits. The tables B–E are float64; 1 000 000 × 1 000 is uint8
(K = 20). Allowed in addition to the table: the codes, one more byte per cell for bit planes,
16 bytes for each candidate and level of its representative set, 10 %, and 8 MiB for threads and
the allocator, which matters for B only. JMI has no representative sets.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tables import SIZES, TableSpec, classes, table

LARGE = TableSpec("1000000x1000", 1_000_000, 1_000)
METHODS = ("HOCMIM-R", "HOCMIM", "JMI")
OVERHEAD = 8 << 20


def peak_bytes() -> int:
    """The largest resident size since the last reset."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def reset_peak() -> None:
    """Reset the peak of the resident size, if the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        print("The peak includes the making of the table.", file=sys.stderr)


def measure(spec: TableSpec, method: str) -> dict[str, Any]:
    """Fit a method to the table of this spec; return its time and memory."""
    from hocmim import make_selector

    is_large = spec.name == LARGE.name
    X, y = table(spec, np.uint8 if is_large else np.float64), classes(spec)
    make_selector(method, n_features_to_select=5).fit(X[:200, :20].copy(), y[:200])
    reset_peak()
    before = peak_bytes()
    start = time.perf_counter()
    k = min(20 if is_large else 50, spec.n_columns)
    selector = make_selector(method, n_features_to_select=k).fit(X, y)
    n_levels = getattr(selector, "max_order", 0)
    seconds = time.perf_counter() - start
    codes = spec.cells  # five levels: one byte per cell
    return {
        "table": spec.name,
        "method": method,
        "k": len(selector.selected_),
        "seconds": seconds,
        "user_table": X.nbytes,
        "codes": codes,
        "extra": peak_bytes() - before,
        "allowed": int(1.1 * (2 * codes + 16 * spec.n_columns * n_levels)) + OVERHEAD,
        "peak": peak_bytes(),
    }


def spec_of(name: str) -> TableSpec:
    """A size by its letter, or N×D."""
    if name in SIZES:
        return SIZES[name]
    n_samples, n_columns = map(int, name.split("x"))
    return TableSpec(name, n_samples, n_columns)


def measure_apart(name: str, method: str, limit: float) -> dict[str, Any] | None:
    """``measure`` in a new process, killed after ``limit`` seconds."""
    command = [sys.executable, __file__, "--inside", name, "--methods", method]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout)


def markdown(rows: list[dict[str, Any]]) -> str:
    header = (
        "| table | method | K | seconds | user's table | codes | peak beyond the table | allowed "
        "| peak | within |"
    )
    lines = [header, "|---" * 10 + "|"]
    for row in rows:
        sizes = [row[name] for name in ("user_table", "codes", "extra", "allowed", "peak")]
        cells = [row["table"], row["method"], str(row["k"]), f"{row['seconds']:.1f}"]
        cells += [f"{size / 2**20:.1f} MiB" for size in sizes]
        cells += ["yes" if row["extra"] <= row["allowed"] else "**no**"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=["B", "C", "D", "E", LARGE.name])
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--inside", metavar="TABLE", help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds for each table")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(measure(spec_of(options.inside), options.methods[0])))
        return
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / "memory.json"
    rows = json.loads(file.read_text())["rows"] if file.exists() else []
    for name, method in product(options.tables, options.methods):
        row = measure_apart(name, method, options.limit)
        if row is None:
            print(f"{name}, {method}: not finished in {options.limit:g} s", file=sys.stderr)
            continue
        rows = [one for one in rows if (one["table"], one["method"]) != (name, method)]
        rows = sorted([*rows, row], key=lambda one: (one["table"], one["method"]))
        file.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
        print(f"{name}, {method}: {row['seconds']:.1f} s", file=sys.stderr)
    (options.results / "memory.md").write_text(markdown(rows))
    print(markdown(rows))


if __name__ == "__main__":
    main()

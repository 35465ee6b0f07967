"""HOCMIM on a table of 1 000 000 × 1 000, five levels: time and peak memory of the search.

    .venv/bin/python benchmarks/million.py [--samples 1000000] [--columns 1000] [-k 20]

The codes are made directly, one byte per cell, so that only the search is measured and not the
encoding (``benchmarks/memory.py`` measures ``fit``). The target is minutes, and 4 GB of memory.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from memory import peak_bytes, reset_peak
from tables import TableSpec, as_codes, classes, code_matrix

MAX_ORDER = 15
ALLOWED_BYTES = 4 << 30


def measure(spec: TableSpec, k: int, n_jobs: int | None) -> dict[str, Any]:
    """Select k columns of the table; return the time and memory."""
    from hocmim.criteria.hocmim import GreedyHOCMIM
    from hocmim.search.engines.local import LocalEngine
    from hocmim.search.loop import forward_search

    codes, y = as_codes(code_matrix(spec), classes(spec))
    reset_peak()
    before = peak_bytes()
    wall, cpu = time.perf_counter(), time.process_time()
    with LocalEngine(codes, y, GreedyHOCMIM(max_order=MAX_ORDER), n_jobs=n_jobs) as engine:
        steps = forward_search(engine, k).steps
    return {
        "samples": spec.n_samples,
        "columns": spec.n_columns,
        "k": len(steps),
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "codes": spec.cells,
        "extra": peak_bytes() - before,
        "peak": peak_bytes(),
        "selected": [step.index for step in steps],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=1_000)
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--out", type=Path, help="write the figures to this JSON file")
    options = parser.parse_args()
    spec = TableSpec("million", options.samples, options.columns)
    row = measure(spec, options.k, options.jobs)
    if options.out:
        options.out.write_text(json.dumps(row, indent=1) + "\n")
    print(
        f"{row['samples']} × {row['columns']}, K = {row['k']}: {row['seconds']:.1f} s "
        f"({row['cpu_seconds']:.1f} s of processor), codes {row['codes'] / 2**20:.0f} MiB, "
        f"{row['extra'] / 2**20:.1f} MiB beyond them, peak {row['peak'] / 2**20:.0f} MiB "
        f"({'within' if row['peak'] <= ALLOWED_BYTES else 'above'} 4 GB)"
    )


if __name__ == "__main__":
    main()

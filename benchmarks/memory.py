"""Peak memory of ``fit`` beyond the user's table; and selection from files larger than the memory.

    python benchmarks/memory.py [B C D E 1000000x1000] [--methods HOCMIM-R HOCMIM JMI] [--write]
    python benchmarks/memory.py --files [--rows 300000] [--columns 600] [--limit 160]

Each case runs in its own process. The process makes its table a few columns at a time, fits a small
table once, resets its peak memory and fits. The tables B–E are float64; 1 000 000 × 1 000 is uint8
(K = 20). Allowed in addition to the table: the codes, one more byte per cell for bit planes,
16 bytes for each candidate and level of its representative set, 10 %, and 8 MiB for threads and
the allocator, which matters for B only. JMI has no representative sets.

--files: a Parquet data set of standard normal numbers (incompressible; made once, in
``.benchmarks/``). MIM, JMI and HOCMIM (K = 10, one thread) are fitted with codes on disk and a
limit on the allocated memory (RLIMIT_DATA, in MiB beyond the interpreter and libraries), again with
the stored codes, and without a limit: processor seconds, and the peak of the memory allocated.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from common import (
    ROOT,
    SIZES,
    TableSpec,
    classes,
    markdown,
    options_of,
    peak_bytes,
    reset_peak,
    table,
    write_result,
)

LARGE = "1000000x1000"
METHODS = ("HOCMIM-R", "HOCMIM", "JMI")
OVERHEAD = 8 << 20
ROWS_PER_FILE = 50_000


def measure(name: str, method: str) -> dict[str, Any]:
    """Fit a method to the table of this size; return its time and memory."""
    from hocmim import make_selector

    shape = (SIZES[name].n_samples, SIZES[name].n_columns) if name in SIZES else name.split("x")
    spec = TableSpec(name, *map(int, shape))
    is_large = name == LARGE
    X, y = table(spec, np.uint8 if is_large else np.float64), classes(spec)
    make_selector(method, n_features_to_select=5).fit(X[:200, :20].copy(), y[:200])
    reset_peak()
    before, start = peak_bytes(), time.perf_counter()
    k = min(20 if is_large else 50, spec.n_columns)
    selector = make_selector(method, n_features_to_select=k).fit(X, y)
    n_levels = getattr(selector, "max_order", 0)
    return {
        "table": name,
        "method": method,
        "k": len(selector.selected_),
        "seconds": time.perf_counter() - start,
        "user_table": X.nbytes,
        "codes": spec.cells,  # five levels: one byte per cell
        "extra": peak_bytes() - before,
        "allowed": int(1.1 * (2 * spec.cells + 16 * spec.n_columns * n_levels)) + OVERHEAD,
        "peak": peak_bytes(),
    }


def report(rows: list[dict[str, Any]]) -> str:
    header = ["table", "method", "K", "seconds", "user's table", "codes"]
    header += ["peak beyond the table", "allowed", "peak", "within"]
    sizes = ("user_table", "codes", "extra", "allowed", "peak")
    return markdown(
        header,
        (
            [row["table"], row["method"], row["k"], f"{row['seconds']:.1f}"]
            + [f"{row[name] / 2**20:.1f} MiB" for name in sizes]
            + ["yes" if row["extra"] <= row["allowed"] else "**no**"]
            for row in rows
        ),
    )


# --- files ----------------------------------------------------------------------------------------


def make_files(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write files of 50 000 rows; two columns together determine the target."""
    import pyarrow as pa
    from pyarrow import parquet

    if folder.exists():
        return
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, ROWS_PER_FILE):
        X = rng.normal(size=(n_columns, min(ROWS_PER_FILE, n_rows - start)))
        columns = {f"x{j}": column for j, column in enumerate(X)}
        columns["y"] = ((X[3] > 0) & (X[7] > 0)).astype(np.int8)
        parquet.write_table(pa.table(columns), folder / f"{start:09}.parquet")


def allocated() -> int:
    """Private writable memory of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmData")).split()[1]) << 10


class Peak(threading.Thread):
    """The peak of the allocated memory, sampled a hundred times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.start_bytes = self.bytes = allocated()

    def run(self) -> None:
        """Sample until the process ends."""
        while True:
            self.bytes = max(self.bytes, allocated())
            time.sleep(0.01)


def measure_files(
    method: str, folder: str, codes_dir: str | None, limit: int | None
) -> dict[str, Any]:
    """One fit with the memory limit, in this process."""
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401

    from hocmim import make_selector

    make_selector(method, n_features_to_select=2, n_jobs=1).fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])
    peak = Peak()
    peak.start()
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (peak.start_bytes + (limit << 20),) * 2)
    before = time.process_time()
    selector = make_selector(method, n_features_to_select=10, codes_dir=codes_dir, n_jobs=1)
    selector.fit(folder, "y")
    return {
        "seconds": time.process_time() - before,
        "peak": peak.bytes - peak.start_bytes,
        "result": [selector.selected_.tolist(), selector.scores_.tolist()],
    }


def report_files(n_rows: int, n_columns: int, limit: int) -> str:
    scratch = ROOT / ".benchmarks"
    folder, codes_dir = scratch / f"normal-{n_rows}x{n_columns}", scratch / "codes"
    make_files(folder, n_rows, n_columns)
    raw, rows = n_rows * n_columns * 8, []
    for method in ("MIM", "JMI", "HOCMIM"):
        shutil.rmtree(codes_dir, ignore_errors=True)
        limited = ("files", method, str(folder), str(codes_dir), limit)
        found = [apart(*limited), apart(*limited), apart("files", method, str(folder), None, None)]
        assert all(one["result"] == found[0]["result"] for one in found), "results differ"
        rows.append([method, *(f"{one['seconds']:.1f} s, {one['peak'] >> 20}" for one in found)])
    shutil.rmtree(codes_dir, ignore_errors=True)
    header = ["method", "with the limit", "with the limit, stored codes", "no limit"]
    return (
        f"{n_rows:,} × {n_columns}, {raw / 1e9:.1f} GB of numbers; limit {limit} MiB "
        f"({raw / (limit << 20):.1f} times less). K = 10, one thread; processor seconds and MiB "
        f"allocated.\n\n{markdown(header, rows)}"
    )


# --- processes ------------------------------------------------------------------------------------


def apart(*arguments: Any) -> dict[str, Any]:
    """Measure in a new process whose allocators reserve no memory in advance."""
    allocators = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
    given = allocators if arguments[0] == "files" else {}
    command = [sys.executable, __file__, "--inside", json.dumps(arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, **given})
    return json.loads(done.stdout)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--columns", type=int, default=600)
    parser.add_argument("--limit", type=int, default=160)
    parser.add_argument("--inside", help="in the process of a case")
    options = parser.parse_args()
    if options.inside:
        what, *arguments = json.loads(options.inside)
        print(json.dumps((measure_files if what == "files" else measure)(*arguments)))
        return
    if options.files:
        print(report_files(options.rows, options.columns, options.limit))
        return
    tables = options.tables or (["B"] if options.quick else ["B", "C", "D", "E", LARGE])
    rows = []
    for name, method in product(tables, options.methods):
        rows.append(apart("fit", name, method))
        print(f"{name}, {method}: {rows[-1]['seconds']:.1f} s", file=sys.stderr)
    text = report(rows)
    print(text)
    if options.write:
        write_result("memory.md", "Memory", text)


if __name__ == "__main__":
    main()

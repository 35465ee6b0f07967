"""A fit from Parquet files, beside the same fit in memory and beside a plain read by pyarrow.

Processor time, wall time and peak of the resident memory of RobustHOCMIM(10), one process for each
run, three turns, the least of each. The ratio is the processor time from files by that of the fit
in memory and the plain read together. The selection and all scores must be equal to the last bit.
"By rows" is the way of tables whose codes do not fit into memory.

    python benchmarks/files.py [--rows N …] [--columns N] [--only KIND …] [--folder F] [--write]

--rows 10000000 --columns 200 --only mixed is the large run: without the fit in memory, which would
need 16 GB for the numbers alone. --quick makes small tables.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from common import markdown, options_of, peak_bytes, write_result, write_table

PAGE = "performance.md"
KINDS = ("numbers", "strings", "dates", "missing", "mixed")
ROUTES = ("read", "memory", "files", "by rows")
N_FILES, N_TURNS, ROWS_AT_ONCE = 8, 3, 1_000_000
# The fit in memory of more values is left out.
MOST_IN_MEMORY = 500_000_000
WORDS = np.array([f"level {k}" for k in range(30)])


def values(kind: str, y: Any, j: int, rng: np.random.Generator) -> pa.Array:
    """Column j of some rows; the first five of ten depend on y."""
    shift = 0.2 * y if j % 10 < 5 else 0.0
    if kind == "mixed":
        kind = KINDS[j % 4]
    x = rng.normal(size=len(y)) + shift
    if kind == "strings":
        return pa.array(WORDS[np.clip(x * 6 + 15, 0, 29).astype(int)])
    if kind == "dates":
        return pa.array((x * 4000 + 15_000).astype("datetime64[D]").astype("datetime64[us]"))
    return pa.array(x, mask=rng.random(len(y)) < 0.1 if kind == "missing" else None)


def write_files(folder: Path, kind: str, n_rows: int, n_columns: int) -> None:
    rng = np.random.default_rng(34)
    for file in range(N_FILES):
        rest = n_rows // N_FILES
        writer = None
        while rest:
            n = min(rest, ROWS_AT_ONCE)
            y = rng.integers(2, size=n)
            columns = {f"x{j}": values(kind, y, j, rng) for j in range(n_columns)}
            table = pa.table({**columns, "y": y})
            writer = writer or parquet.ParquetWriter(folder / f"{file}.parquet", table.schema)
            writer.write_table(table)
            rest -= n
        assert writer is not None
        writer.close()


def run(route: str, folder: str) -> dict[str, Any]:
    """One run, in a process of its own."""
    from hocmim import RobustHOCMIM
    from hocmim.coding import encoded_source

    warnings.simplefilter("ignore")
    RobustHOCMIM(2).fit(np.eye(8), np.arange(8) % 2)  # everything is imported
    X: Any = folder
    if route == "memory":
        X = parquet.read_table(folder)
    elif route == "by rows":
        encoded_source._column_blocks = lambda *_: []
    wall, cpu = time.perf_counter(), time.process_time()
    if route == "read":
        found: list[Any] = [parquet.read_table(folder).num_rows]
    else:
        fitted = RobustHOCMIM(10).fit(X, "y")
        found = [fitted.selected_.tolist(), fitted.scores_.tolist()]
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {"cpu": cpu, "wall": wall, "peak": peak_bytes(), "found": found}


def measure(folder: Path, routes: list[str], n_turns: int) -> dict[str, dict[str, Any]]:
    best: dict[str, dict[str, Any]] = {}
    for _ in range(n_turns):
        for route in routes:
            command = [sys.executable, __file__, "--one", route, "--folder", str(folder)]
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            one = json.loads(answer.stdout)
            before = best.setdefault(route, one)
            assert before["found"] == one["found"]
            best[route] = {
                key: before[key] if key == "found" else min(before[key], one[key]) for key in one
            }
    found = {json.dumps(best[route]["found"]) for route in routes if route != "read"}
    assert len(found) == 1, "the selections differ"
    return best


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--columns", type=int, default=40)
    parser.add_argument("--only", nargs="*", default=KINDS, choices=KINDS)
    parser.add_argument("--folder", type=Path, help="for the files; a temporary one by default")
    parser.add_argument("--turns", type=int, default=N_TURNS)
    parser.add_argument("--one", choices=ROUTES, help="(internal) one run, as JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run(options.one, str(options.folder))))
        return
    rows = []
    for n_rows in [8000] if options.quick else options.rows:
        for kind in options.only:
            with TemporaryDirectory(dir=options.folder) as name:
                folder = Path(name)
                write_files(folder, kind, n_rows, options.columns)
                size = sum(path.stat().st_size for path in folder.iterdir())
                fits = n_rows * options.columns <= MOST_IN_MEMORY
                routes = list(ROUTES) if fits else ["files"]
                best = measure(folder, routes, options.turns if fits else 1)
            cells = [f"{best[r]['cpu']:.2f}" if r in best else "" for r in ROUTES]
            base = best["read"]["cpu"] + best["memory"]["cpu"] if fits else 0.0
            ratios = [f"{best[r]['cpu'] / base:.2f}" if fits else "" for r in ("files", "by rows")]
            wall = [f"{best[r]['wall']:.2f}" if r in best else "" for r in ("memory", "files")]
            peak = [f"{best[r]['peak'] / 1e6:.0f}" if r in best else "" for r in ROUTES[1:]]
            rows.append(
                [f"{n_rows:,} × {options.columns}", kind, f"{size / 1e6:.0f}", *cells, *ratios,
                 *wall, *peak]
            )  # fmt: skip
            print(*rows[-1], sep=" | ", flush=True)
    header = ["table", "columns of", "files, MB", *(f"{r}, s" for r in ROUTES), "files: ratio",
              "by rows: ratio", "memory: wall, s", "files: wall, s",
              *(f"{r}: peak, MB" for r in ROUTES[1:])]  # fmt: skip
    text = markdown(header, rows)
    print(f"\n{text}")
    if options.write:
        write_result("files.md", "A fit from Parquet files", text)
        write_table(PAGE, "files", text)


if __name__ == "__main__":
    main()

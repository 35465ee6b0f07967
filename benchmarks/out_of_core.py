"""Selection from a Parquet data set several times larger than the memory limit of the process.

    .venv/bin/python benchmarks/out_of_core.py [--rows 300000] [--columns 600] [--limit 160]

Makes a data set of standard normal numbers (incompressible; once, in ``.benchmarks/``), then fits
MIM, JMI and HOCMIM (K = 10, one thread), each in its own process: with ``codes_dir`` and a limit on
the allocated memory (RLIMIT_DATA, in MiB beyond the interpreter and libraries), again with the
stored codes, and without a limit. Writes ``out_of_core.md``: processor seconds, and the peak of the
memory allocated beyond the libraries.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

ROWS_A_FILE = 50_000
METHODS = ("MIM", "JMI", "HOCMIM")


def make_data(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write files of 50 000 rows; two columns together determine the target."""
    import pyarrow as pa
    from pyarrow import parquet

    if folder.exists():
        return
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for start in range(0, n_rows, ROWS_A_FILE):
        X = rng.normal(size=(n_columns, min(ROWS_A_FILE, n_rows - start)))
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


def measure(method: str, folder: str, codes_dir: str | None, limit: int | None) -> dict[str, Any]:
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


def in_a_process(*arguments: Any) -> dict[str, Any]:
    """``measure`` in a new process whose allocators reserve no memory in advance."""
    allocators = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
    command = [sys.executable, __file__, "--measure", json.dumps(arguments)]
    environment = {**os.environ, **allocators}
    return json.loads(subprocess.run(command, check=True, stdout=-1, env=environment).stdout)


def report(arguments: argparse.Namespace, scratch: Path) -> str:
    """Make all measurements; return them as a table."""
    folder = scratch / f"normal-{arguments.rows}x{arguments.columns}"
    make_data(folder, arguments.rows, arguments.columns)
    raw = arguments.rows * arguments.columns * 8
    lines = [
        f"{arguments.rows:,} × {arguments.columns}, {raw / 1e9:.1f} GB of numbers; limit "
        f"{arguments.limit} MiB ({raw / (arguments.limit << 20):.1f} times less). "
        "K = 10, one thread; processor seconds and MiB allocated.",
        "",
        "| method | with the limit | with the limit, stored codes | no limit, codes in memory |",
        "|---|---|---|---|",
    ]
    for method in METHODS:
        codes_dir = scratch / "codes"
        shutil.rmtree(codes_dir, ignore_errors=True)
        found = [
            in_a_process(method, str(folder), str(codes_dir), arguments.limit),
            in_a_process(method, str(folder), str(codes_dir), arguments.limit),
            in_a_process(method, str(folder), None, None),
        ]
        assert all(one["result"] == found[0]["result"] for one in found), "results differ"
        cells = [f"{one['seconds']:.1f} s, {one['peak'] >> 20}" for one in found]
        lines.append(f"| {method} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    shutil.rmtree(codes_dir, ignore_errors=True)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--columns", type=int, default=600)
    parser.add_argument("--limit", type=int, default=160)
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(*json.loads(arguments.measure))))
        return
    text = report(arguments, Path(__file__).parents[1] / ".benchmarks")
    (arguments.results / "out_of_core.md").write_text(f"# Out of core\n\n{text}")


if __name__ == "__main__":
    main()

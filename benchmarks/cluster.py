"""The Dask engine beside threads; and files larger than memory on workers of 2 GB each.

    python benchmarks/cluster.py [--rounds 3] [--workers 2] [--quick] [--write]
    python benchmarks/cluster.py --files /scratch [--rows 1300000] [--columns 1000] [--write]

Two threads, one worker that does the whole search, and single-threaded worker processes that share
it in blocks, as if the table fitted none of them, take turns: seconds of ``fit``, medians. The
selections must be equal.

--files: a seeded table of float64 (10.4 GB by default) in Parquet files of 25 000 rows, in a folder
that is deleted afterwards. Dask kills a worker that exceeds its memory limit.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from common import (
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
from hocmim import make_selector
from hocmim.coding.dask_cluster import Cluster

LONG, WIDE = TableSpec("long", 2_000_000, 200), TableSpec("wide", 200_000, 2_000)
CASES = (
    (SIZES["E"], "HOCMIM", 10),
    (SIZES["E"], "JMI-3", 10),
    (SIZES["E"], "JMI", 50),
    (LONG, "JMI", 50),
    (WIDE, "JMI", 50),
)
FILE_ROWS = 25_000
N_INFORMATIVE = 40
FILE_METHODS = {"HOCMIM": 8, "JMI": 20}


@contextmanager
def workers(**settings: Any) -> Iterator[Any]:
    """A client of workers of one thread; two unless told otherwise."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", **settings}
    with LocalCluster(**options) as local, Client(local) as client:
        yield client


def bytes_sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


@contextmanager
def in_blocks(is_asked: bool) -> Iterator[None]:
    """As if no worker had memory for the codes of the table."""
    largest = Cluster.largest
    if is_asked:
        Cluster.largest = lambda self, n_bytes: None
    try:
        yield
    finally:
        Cluster.largest = largest


def overhead(spec: TableSpec, method: str, k: int, client: Any, rounds: int) -> list[str]:
    """Seconds of ``fit`` with threads, on one worker and in blocks; their ratios to threads."""
    X, y = table(spec, np.uint8), classes(spec)
    times: dict[str, list[float]] = {"threads": [], "whole": [], "blocks": []}
    found: set[tuple[int, ...]] = set()
    for _ in range(rounds):
        for name, seconds in times.items():
            given = {} if name == "threads" else {"engine": client}
            selector = make_selector(method, n_features_to_select=k, n_jobs=2, **given)
            start = time.perf_counter()
            with in_blocks(name == "blocks"):
                selector.fit(X, y)
            seconds.append(time.perf_counter() - start)
            found.add(tuple(selector.selected_.tolist()))
    assert len(found) == 1, "results differ"
    threads, whole, blocks = (statistics.median(each) for each in times.values())
    size = f"{spec.n_samples:,} × {spec.n_columns:,}"
    figures = [threads, whole, blocks, whole / threads, blocks / threads]
    return [size, f"{method}, K = {k}", *(f"{figure:.2f}" for figure in figures)]


# --- files ----------------------------------------------------------------------------------------


def write_files(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write columns, some of which depend on y or on such a column."""
    import pyarrow as pa
    from pyarrow import parquet

    for at in range(0, n_rows, FILE_ROWS):
        rng = np.random.default_rng([8, at])
        size = min(FILE_ROWS, n_rows - at)
        y = rng.integers(0, 2, size)
        X = rng.random((n_columns, size))
        for j in range(min(N_INFORMATIVE, n_columns // 2)):
            X[j] += y * (j + 1) / N_INFORMATIVE
            X[n_columns - 1 - j] += X[j]
        columns = {f"x{j}": column for j, column in enumerate(X)} | {"y": y}
        # Random digits: neither a dictionary nor compression makes them smaller.
        name = folder / f"part-{at // FILE_ROWS:05d}.parquet"
        parquet.write_table(pa.table(columns), name, compression="none", use_dictionary=False)


def measure_files(folder: Path, memory: str) -> list[list[str]]:
    """Seconds, peak of each worker and bytes sent of a fit from files; encoding is included."""
    rows = []
    with workers(memory_limit=memory) as client:
        for method, k in FILE_METHODS.items():
            client.run(reset_peak)
            start, before = time.perf_counter(), sum(client.run(bytes_sent).values())
            make_selector(method, n_features_to_select=k, engine=client).fit(str(folder), "y")
            seconds = time.perf_counter() - start
            sent = sum(client.run(bytes_sent).values()) - before
            peaks = ", ".join(f"{peak / 1e6:.0f}" for peak in client.run(peak_bytes).values())
            rows.append([f"{method}, K = {k}", f"{seconds:.1f}", peaks, f"{sent / 1e6:.1f}"])
    return rows


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--files", type=Path, metavar="FOLDER")
    parser.add_argument("--rows", type=int, default=1_300_000)
    parser.add_argument("--columns", type=int, default=1_000)
    parser.add_argument("--memory", default="2GB", help="of each worker")
    options = parser.parse_args()
    if options.files is not None:
        folder = Path(tempfile.mkdtemp(prefix="hocmim-", dir=options.files))
        try:
            write_files(folder, options.rows, options.columns)
            rows = measure_files(folder, options.memory)
        finally:
            shutil.rmtree(folder)
        header = ["method", "seconds", "peak of each worker, MB", "sent by workers, MB"]
        text = f"{options.rows:,} × {options.columns:,} of float64\n\n{markdown(header, rows)}"
        name, title = "dask_out_of_core.md", "Files larger than memory on a Dask cluster"
    else:
        with workers(n_workers=options.workers) as client:
            overhead(SIZES["A"], "JMI", 5, client, 1)  # imports on the workers
            cases = [(SIZES["A"], "JMI", 20)] if options.quick else CASES
            rows = [overhead(*case, client, options.rounds) for case in cases]
        header = ["table", "method", "two threads, s", "one worker, s", "blocks, s", "one worker"]
        text = markdown([*header, "blocks"], rows)
        name = "dask_overhead.md"
        title = f"`fit` with {options.workers} Dask workers beside two threads, and ratios"
    print(text)
    if options.write:
        write_result(name, title, text)


if __name__ == "__main__":
    main()

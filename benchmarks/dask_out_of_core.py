"""Selection from a Parquet data set larger than memory, on Dask workers of 2 GB each.

    .venv/bin/python benchmarks/dask_out_of_core.py --folder /data [--results benchmarks/results]

Writes a seeded table of float64 (10.4 GB by default) in files of 25 000 rows and starts two
single-threaded worker processes with a memory limit: Dask kills a worker that exceeds it. The
workers encode the table and run HOCMIM and JMI. Writes to ``dask_out_of_core.md`` the peak resident
size of each worker, and for each step its time and the bytes that workers sent. The files are
deleted afterwards.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from distributed import Client, LocalCluster
from pyarrow import parquet

from hocmim.coding.options import EncodingOptions
from hocmim.coding.target import TargetOptions
from hocmim.data.sources import open_source
from hocmim.search.engines.dask import open_dask_engine
from hocmim.search.engines.remote import open_cluster, open_files
from hocmim.search.loop import forward_search
from hocmim.selectors.registry import make_selector
from memory import peak_bytes, reset_peak

FILE_ROWS = 25_000
N_INFORMATIVE = 40
METHODS = {"HOCMIM": 8, "JMI": 20}


def write_files(folder: Path, n_rows: int, n_columns: int) -> int:
    """Write columns, some dependent on y or on such a column; return their size in bytes."""
    for at in range(0, n_rows, FILE_ROWS):
        rng = np.random.default_rng([8, at])
        size = min(FILE_ROWS, n_rows - at)
        y = rng.integers(0, 2, size)
        X = rng.random((n_columns, size))
        for j in range(min(N_INFORMATIVE, n_columns // 2)):
            X[j] += y * (j + 1) / N_INFORMATIVE
            X[n_columns - 1 - j] += X[j]
        columns = {f"x{j}": pa.array(column) for j, column in enumerate(X)}
        table = pa.table({**columns, "y": pa.array(y)})
        # Random digits: neither a dictionary nor compression makes them smaller.
        name = folder / f"part-{at // FILE_ROWS:05d}.parquet"
        parquet.write_table(table, name, compression="none", use_dictionary=False)
    return n_rows * n_columns * 8


def bytes_sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


class Recorder:
    """Times and bytes of each step, and the peak memory of each worker."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.lines: list[str] = []

    def sent(self) -> int:
        return sum(self.client.run(bytes_sent).values())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.client.run(reset_peak)
        start, sent = time.perf_counter(), self.sent()
        yield
        seconds, moved = time.perf_counter() - start, self.sent() - sent
        peaks = ", ".join(f"{peak / 1e6:.0f}" for peak in self.client.run(peak_bytes).values())
        self.say(f"| {name} | {seconds:.1f} | {peaks} | {moved / 1e6:.1f} |")

    def say(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)


def select(codes: Any, y: Any, method: str, recorder: Recorder) -> list[tuple[float, int]]:
    """Run a method; return the seconds and bytes of each step."""
    n_selected = METHODS[method]
    selector = make_selector(method, n_features_to_select=n_selected)
    selector.n_features_in_ = codes.n_columns
    steps: list[tuple[float, int]] = []
    last = [time.perf_counter(), recorder.sent()]

    def on_step(number: int, step: Any) -> None:
        now, sent = time.perf_counter(), recorder.sent()
        steps.append((now - last[0], sent - int(last[1])))
        last[:] = [time.perf_counter(), sent]

    with open_dask_engine(codes.cluster, codes, y, selector.make_criterion()) as engine:
        forward_search(engine, n_selected, on_step=on_step)
    return steps


def run(folder: Path, arguments: argparse.Namespace) -> list[str]:
    start = time.perf_counter()
    n_bytes = write_files(folder, arguments.rows, arguments.columns)
    seconds = time.perf_counter() - start
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=arguments.memory,
            dashboard_address=None,
        ) as local,
        Client(local) as client,
        open_cluster(client) as cluster,
    ):
        recorder = Recorder(client)
        recorder.say("# Out of core\n")
        recorder.say(
            f"{arguments.rows:,} × {arguments.columns:,} of float64, {n_bytes / 1e9:.1f} GB raw, "
            f"in {len(list(folder.iterdir()))} Parquet files (written in {seconds:.0f} s). Two "
            f"worker processes of one thread and {arguments.memory} each, on one machine of two "
            f"cores (load average {os.getloadavg()[0]:.0f}).\n"
        )
        recorder.say("| stage | seconds | peak of each worker, MB | sent by workers, MB |")
        recorder.say("|---|---|---|---|")
        source, _ = open_source(folder, "y")
        table = open_files(source, None, cluster)
        with recorder.stage("encoding: survey, then codes"):
            target = table.encode_target(TargetOptions(discretizer="uniform"))
            _, codes = table.encode(target.column, EncodingOptions("uniform", 5))
        steps = {}
        for method, n_selected in METHODS.items():
            with recorder.stage(f"{method}, K = {n_selected}"):
                steps[method] = select(codes, target.column, method, recorder)
        codes_gb = codes.n_samples * codes.n_columns / 1e9
        recorder.say(f"\nBlocks: {len(codes.blocks)}; codes: {codes_gb:.2f} GB.")
        for method, measured in steps.items():
            recorder.say(f"\n{method}, step by step: seconds (MB sent by workers)\n")
            recorder.say(", ".join(f"{s:.2f} ({b / 1e6:.1f})" for s, b in measured))
    return recorder.lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, help="folder for the temporary files")
    parser.add_argument("--rows", type=int, default=1_300_000)
    parser.add_argument("--columns", type=int, default=1_000)
    parser.add_argument("--memory", default="2GB", help="of each worker")
    parser.add_argument("--results", type=Path, help="folder for dask_out_of_core.md")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="dask_out_of_core-", dir=arguments.folder))
    try:
        lines = run(folder, arguments)
    finally:
        shutil.rmtree(folder)
    if arguments.results:
        arguments.results.mkdir(parents=True, exist_ok=True)
        (arguments.results / "dask_out_of_core.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

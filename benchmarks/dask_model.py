"""Measurements for the cost model of docs/development/scaling.md.

Processor time and bytes by N, D, K and W.

    .venv/bin/python benchmarks/dask_model.py [--results benchmarks/results]

The workers make tables of five levels as Dask arrays, encode them and run the selection. Time is
the sum of the processor time of all worker processes, which hardly depends on other load; bytes are
those that workers sent to each other and to the client. The table is written to ``dask_model.md``.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from dask_out_of_core import bytes_sent
from hocmim.coding.options import EncodingOptions
from hocmim.coding.target import TargetOptions
from hocmim.search.engines.cluster import Cluster
from hocmim.search.engines.dask import open_dask_engine
from hocmim.search.engines.remote import open_collection
from hocmim.search.loop import forward_search
from hocmim.selectors.registry import make_selector

BASE = (200_000, 100, 8, 2)
POINTS = [
    ("JMI", *BASE),
    ("JMI", 800_000, 100, 8, 2),
    ("JMI", 200_000, 400, 8, 2),
    ("JMI", 200_000, 100, 24, 2),
    ("JMI", 200_000, 100, 8, 1),
    ("JMI", 200_000, 100, 8, 4),
    ("HOCMIM", *BASE),
    ("HOCMIM", 800_000, 100, 8, 2),
    ("HOCMIM", 200_000, 400, 8, 2),
    ("HOCMIM", 200_000, 100, 8, 4),
]


class Usage:
    """Processor seconds of the workers and bytes they sent since the last call."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._last = self._now()

    def _now(self) -> np.ndarray[Any, Any]:
        seconds = sum(self._client.run(time.process_time).values())
        return np.array([seconds, sum(self._client.run(bytes_sent).values())])

    def since(self) -> tuple[float, float]:
        now = self._now()
        used, self._last = now - self._last, now
        return float(used[0]), float(used[1])


def measure(client: Client, method: str, n: int, d: int, k: int) -> tuple[float, ...]:
    """Seconds and bytes per cell of encoding; seconds per cell and step, bytes per step."""
    rng = da.random.default_rng(0)
    X = rng.integers(0, 5, size=(n, d), chunks=(n // 8, d), dtype=np.uint8)
    y = np.random.default_rng(1).integers(0, 2, n)
    selector = make_selector(method, n_features_to_select=k)
    selector.n_features_in_ = d
    with Cluster(client) as cluster:
        usage = Usage(client)
        table = open_collection(X, y, cluster)
        target = table.encode_target(TargetOptions(discretizer="uniform"))
        _, codes = table.encode(target.column, EncodingOptions("uniform", 5))
        encode_seconds, encode_bytes = usage.since()
        engine = open_dask_engine(cluster, codes, target.column, selector.make_criterion())
        relevance_steps = forward_search(engine, 1)
        assert len(relevance_steps.steps) == 1
        usage.since()
        engine = open_dask_engine(cluster, codes, target.column, selector.make_criterion())
        forward_search(engine, k)
        seconds, sent = usage.since()
    return encode_seconds / (n * d), encode_bytes / (n * d), seconds / (n * d * k), sent / (k - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, help="folder for dask_model.md")
    arguments = parser.parse_args()
    lines = [
        "# Processor time and bytes on a Dask cluster\n",
        "Sum over all workers; five levels, two classes, workers of one thread on one machine. "
        "Encoding includes making the table. Load average at the start: "
        f"{os.getloadavg()[0]:.0f}.\n",
        "| method | N | D | K | workers | encoding, ns per cell | encoding, bytes sent per cell | "
        "search, ns per cell and step | bytes sent per step ÷ N |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for n_workers in sorted({point[-1] for point in POINTS}):
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=None
            ) as local,
            Client(local) as client,
        ):
            measure(client, "JMI", 1000, 10, 2)  # imports on the workers
            for method, n, d, k, of_workers in POINTS:
                if of_workers == n_workers:
                    encode, moved, search, sent = measure(client, method, n, d, k)
                    lines.append(
                        f"| {method} | {n:,} | {d} | {k} | {n_workers} | {encode * 1e9:.1f} | "
                        f"{moved:.2f} | {search * 1e9:.3f} | {sent / n:.2f} |"
                    )
                    print(lines[-1], flush=True)
    if arguments.results:
        arguments.results.mkdir(parents=True, exist_ok=True)
        (arguments.results / "dask_model.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

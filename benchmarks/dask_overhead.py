"""Compare the Dask engine with the local engine on tables that fit one machine.

    .venv/bin/python benchmarks/dask_overhead.py [--rounds 3] [--results benchmarks/results]

Tables: size E (200 000 × 200, five levels), one with ten times the rows and one with ten times the
columns. Two single-threaded worker processes and two threads are measured alternately. Two ratios:
of the search alone, with the codes already on the workers, and of ``fit``, which includes encoding
and sending the codes. The script checks that the results are equal. The table is written to
``dask_overhead.md``.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from hocmim.coding.encoder import Encoder
from hocmim.coding.target import encode_target
from hocmim.search.engines.cluster import Cluster
from hocmim.search.engines.dask import open_dask_engine
from hocmim.search.engines.local import LocalEngine
from hocmim.search.loop import forward_search
from hocmim.selectors.registry import make_selector
from tables import SIZES, TableSpec, classes, table

LONG = TableSpec("2000000x200", 2_000_000, 200)
WIDE = TableSpec("200000x2000", 200_000, 2_000)
CASES = (
    (SIZES["E"], "HOCMIM", 10, {}),
    (SIZES["E"], "JMI-3", 10, {}),
    (SIZES["E"], "JMI", 50, {}),
    (LONG, "JMI", 50, {}),
    (WIDE, "JMI", 50, {}),
)


def seconds(function: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


class Case:
    """One method on one table, with either engine."""

    def __init__(self, spec: TableSpec, method: str, k: int, options: dict[str, Any]) -> None:
        self.X, self.y = table(spec, np.uint8), classes(spec)
        self.k = k
        self.name = f"{spec.n_samples:,} × {spec.n_columns} | {method}, K = {k}"
        self.make = lambda **more: make_selector(method, n_features_to_select=k, **options, **more)
        self.codes = Encoder(n_jobs=2).fit_transform(self.X)
        self.target = encode_target(self.y).column
        selector = self.make()
        selector.n_features_in_ = spec.n_columns
        self.criterion = selector.make_criterion()

    def search_local(self) -> list[int]:
        with LocalEngine(self.codes, self.target, self.criterion, n_jobs=2) as engine:
            return self._indices(engine)

    def search_dask(self, client: Client) -> tuple[float, list[int]]:
        with Cluster(client) as cluster:
            engine = open_dask_engine(cluster, self.codes, self.target, self.criterion)
            engine.codes.present()
            return seconds(lambda: self._indices(engine))

    def _indices(self, engine: Any) -> list[int]:
        return [step.index for step in forward_search(engine, self.k).steps]

    def fit(self, engine: Any) -> list[int]:
        return self.make(engine=engine, n_jobs=2).fit(self.X, self.y).selected_.tolist()


def measure(case: Case, client: Client, rounds: int) -> str:
    times: dict[str, list[float]] = {name: [] for name in ("search", "dask", "fit", "dask fit")}
    for _ in range(rounds):
        spent, expected = seconds(case.search_local)
        times["search"].append(spent)
        spent, found = case.search_dask(client)
        times["dask"].append(spent)
        assert found == expected
        for name, engine in (("fit", "local"), ("dask fit", client)):
            spent, found = seconds(lambda engine=engine: case.fit(engine))
            times[name].append(spent)
            assert found == expected
    search, dask, fit, dask_fit = (float(np.median(t)) for t in times.values())
    return (
        f"| {case.name} | {search:.2f} | {dask:.2f} | {dask / search:.2f} | {fit:.2f} | "
        f"{dask_fit:.2f} | {dask_fit / fit:.2f} | {1000 * (dask - search) / case.k:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="methods to run, such as HOCMIM,JMI; default: all")
    parser.add_argument("--short", action="store_true", help="size E only")
    parser.add_argument("--results", type=Path, help="folder for dask_overhead.md")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",") if arguments.only else [case[1] for case in CASES]
    cases = [
        case
        for case in CASES
        if case[1] in wanted and (case[0] is SIZES["E"] or not arguments.short)
    ]
    lines = [
        "# The Dask engine compared with the local engine\n",
        f"Seconds, medians of {arguments.rounds} alternating rounds; two threads and two worker "
        "processes of one thread, on a machine of two cores. Load average at the start: "
        f"{os.getloadavg()[0]:.0f}.\n",
        "| table | method | search, local | Dask | ratio | fit, local | Dask | ratio | "
        "extra ms per step |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        Client(local) as client,
    ):
        small = Case(SIZES["A"], "JMI", 5, {})
        small.fit(client)  # imports on the workers
        for spec, method, k, options in cases:
            lines.append(measure(Case(spec, method, k, options), client, arguments.rounds))
            print(lines[-1], flush=True)
    if arguments.results:
        arguments.results.mkdir(parents=True, exist_ok=True)
        (arguments.results / "dask_overhead.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

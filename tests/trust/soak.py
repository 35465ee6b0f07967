"""Fit every method again and again in one process, and look for growth.

``python tests/trust/soak.py --fits 1000`` fits each method so many times on tables that differ, and
compares memory, threads and open files after the first tenth with the end. ``--items 5000`` runs so
many items of an experiment (a split and a method each) in one process: at the minute that an item
of the published experiment takes, 24 hours are 1,440 items.
"""

from __future__ import annotations

import argparse
import gc
import os
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from hocmim.experiments.config import read_config
from hocmim.experiments.run import run
from hocmim.experiments.store import Store
from hocmim.selectors.registry import list_methods, make_selector

# Memory that an allocator may keep after a fit.
MOST_GROWTH_BYTES = 3 << 20

CONFIG = """
[run]
splits = {splits}
n_features = 3
[[dataset]]
path = "one.csv"
target = "y"
[[method]]
name = "JMI"
[[method]]
name = "HOCMIM-R"
[[method]]
name = "Fisher"
"""


def used() -> tuple[int, int, int]:
    """Return resident memory in bytes, threads and open files of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return (
        pages * os.sysconf("SC_PAGE_SIZE"),
        threading.active_count(),
        len(os.listdir("/proc/self/fd")),
    )


def check(name: str, n: int, before: tuple[int, ...], began: float) -> None:
    after = used()
    growth = after[0] - before[0]
    print(
        f"{name}: {n}, memory {growth / 1024:+.0f} KiB, threads {after[1] - before[1]:+d}, files "
        f"{after[2] - before[2]:+d}; {time.monotonic() - began:.0f} s",
        flush=True,
    )
    assert growth < MOST_GROWTH_BYTES, f"{name}: the memory grows"
    assert after[1:] == before[1:], f"{name}: threads or files are left"


def fit_again(name: str, n_fits: int) -> None:
    rng = np.random.default_rng(0)
    began = time.monotonic()
    for number in range(n_fits + n_fits // 10):
        if number == n_fits // 10:
            before = used()
        n = 24 + number % 9
        X, y = rng.normal(size=(n, 6)), np.arange(n) % 2
        selector = make_selector(name, n_features_to_select=2)
        if "n_jobs" in selector.get_params():
            selector.set_params(n_jobs=1 + number % 2)
        selector.fit(X, y).transform(X)
    check(f"{name}, fits", n_fits, before, began)


def run_items(n_items: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    rows = np.column_stack([X, X[:, 0] > 0])
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        header = ",".join([*"abcdef", "y"])
        np.savetxt(folder / "one.csv", rows, delimiter=",", header=header, comments="", fmt="%.6g")
        (folder / "config.toml").write_text(CONFIG.format(splits=n_items // 3))
        experiment = read_config(folder / "config.toml").experiment
        before = None
        # The first run fills caches and takes the memory of its results. The second takes no more.
        for results in (folder / "first.jsonl", folder / "second.jsonl"):
            run(experiment, Store(results))
            n_lines = len(results.read_text().splitlines())
            before = before or used()
        check("items of an experiment", n_lines, before, began)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("methods", nargs="*", help="all by default")
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--items", type=int, default=1440)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for name in given.methods or list_methods():
        fit_again(name, given.fits)
    if given.items:
        run_items(given.items)


if __name__ == "__main__":
    main()

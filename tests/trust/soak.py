"""Fit every method again and again in one process, and look for growth.

``python tests/trust/soak.py --fits 1000`` fits each method so many times on tables that differ, and
compares memory, threads and open files after the first tenth with the end.
"""

from __future__ import annotations

import argparse
import gc
import os
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from hocmim.selectors.registry import list_methods, make_selector

# Memory that an allocator may keep after a fit.
MOST_GROWTH_BYTES = 3 << 20


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


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("methods", nargs="*", help="all by default")
    parser.add_argument("--fits", type=int, default=1000)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for name in given.methods or list_methods():
        fit_again(name, given.fits)


if __name__ == "__main__":
    main()

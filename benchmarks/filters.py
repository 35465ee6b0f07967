"""Times of every filter on every data set of the paper.

    python benchmarks/filters.py --data FOLDER [--quick] [--write]

One fit each; 50 columns are selected, or all if there are fewer; ReliefF and NCA use all cores. The
filters do not accept missing values: they are replaced by the median of the column (only arrhythmia
has missing values). --write writes results/filters.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hocmim
from common import markdown, options_of, read_data, write_result

N_SELECTED = 50

FILTERS: dict[str, Callable[[int, int], Any]] = {
    "Fisher": lambda k, jobs: hocmim.FisherScore(k),
    "Gini": lambda k, jobs: hocmim.GiniIndex(k),
    "Kruskal–Wallis": lambda k, jobs: hocmim.KruskalWallis(k),
    "ReliefF": lambda k, jobs: hocmim.ReliefF(k, n_jobs=jobs),
    "ILFS": lambda k, jobs: hocmim.ILFS(k),
    "FS-OLS": lambda k, jobs: hocmim.FSOLS(k),
    "NCA": lambda k, jobs: hocmim.NCA(k, n_jobs=jobs),
}


def seconds(selector: Any, X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    start = time.perf_counter()
    selector.fit(X, y)
    elapsed = time.perf_counter() - start
    if np.isnan(selector.feature_scores_).any():
        raise RuntimeError(f"{selector} returned a score that is not a number")
    return elapsed


def row(name: str, X: NDArray[Any], y: NDArray[Any]) -> list[str]:
    """The size of a data set, and the seconds of each filter."""
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    k = min(N_SELECTED, X.shape[1])
    times = [seconds(make(k, -1), X, y) for make in FILTERS.values()]
    return [name, *map(str, (*X.shape, len(np.unique(y)))), *(f"{t:.2f}" for t in times)]


def main() -> None:
    options = options_of(__doc__, data=True).parse_args()
    if options.data is None or not options.data.is_dir():
        sys.exit("Name the folder of the data sets with --data.")
    sets = list(read_data(options.data).items())
    rows = [row(name, X.astype(float), y) for name, (X, y) in (sets[:2] if options.quick else sets)]
    text = markdown(["data", "N", "D", "C", *FILTERS], rows)
    print(text)
    if options.write:
        title = f"Seconds for one fit, {N_SELECTED} columns selected (all if there are fewer)"
        write_result("filters.md", title, text)


if __name__ == "__main__":
    main()

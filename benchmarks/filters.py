"""Times of every filter on every data set of the paper, as a table in Markdown.

    python benchmarks/filters.py --data FOLDER [--jobs -1] [--out FILE]

One fit each; 50 columns are selected, or all if there are fewer. The filters do not accept missing
values: they are replaced by the median of the column (only arrhythmia has missing values).
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import hocmim
from data_option import add_data_option
from hocmim.experiments.machine import processor
from hocmim.selectors.base import RankingSelector

N_SELECTED = 50

FILTERS: dict[str, Callable[[int, int], RankingSelector]] = {
    "Fisher": lambda k, jobs: hocmim.FisherScore(k),
    "Gini": lambda k, jobs: hocmim.GiniIndex(k),
    "Kruskal–Wallis": lambda k, jobs: hocmim.KruskalWallis(k),
    "ReliefF": lambda k, jobs: hocmim.ReliefF(k, n_jobs=jobs),
    "ILFS": lambda k, jobs: hocmim.ILFS(k),
    "FS-OLS": lambda k, jobs: hocmim.FSOLS(k),
    "NCA": lambda k, jobs: hocmim.NCA(k, n_jobs=jobs),
}


def read(path: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"].astype(float), file["y"]
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X), y


def seconds(selector: RankingSelector, X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    start = time.perf_counter()
    selector.fit(X, y)
    elapsed = time.perf_counter() - start
    if np.isnan(selector.feature_scores_).any():
        raise RuntimeError(f"{selector} returned a score that is not a number")
    return elapsed


def lines(folder: Path, jobs: int, note: str) -> Iterator[str]:
    yield "# Times of the filters\n"
    yield f"Seconds for one fit, {N_SELECTED} columns selected (all if there are fewer)."
    yield "Missing values were replaced by the column's median; NCA uses at most"
    yield f"{hocmim.NCA().max_samples} samples (its default); ReliefF and NCA use all cores.\n"
    yield f"Machine: {os.cpu_count()} cores, {processor()}. numpy {np.__version__}. {note}\n"
    yield f"| data | N | D | C | {' | '.join(FILTERS)} |"
    yield "|---" + "|---:" * (3 + len(FILTERS)) + "|"
    paths = sorted(folder.glob("*.npz"), key=lambda path: np.prod(read(path)[0].shape))
    for path in paths:
        X, y = read(path)
        n_selected = min(N_SELECTED, X.shape[1])
        times = [seconds(make(n_selected, jobs), X, y) for make in FILTERS.values()]
        cells = [path.stem, *X.shape, len(np.unique(y)), *(f"{t:.2f}" for t in times)]
        yield f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument(
        "--note", default="", help="a remark on the machine, printed above the table"
    )
    parser.add_argument("--out", type=Path, help="also write the table here")
    options = parser.parse_args()
    if not options.data.is_dir():
        sys.exit(f"There is no folder {options.data}: name one that holds .npz files with --data.")
    written = []
    for line in lines(options.data, options.jobs, options.note):
        print(line, flush=True)
        written.append(line)
    if options.out:
        options.out.write_text("\n".join(written) + "\n")


if __name__ == "__main__":
    main()

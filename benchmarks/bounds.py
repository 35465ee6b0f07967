"""Up to how many selected columns HOCMIM can bound the scores of paths, and the cost of this check.

Prints a table in Markdown; --write puts it into docs/development/performance.md. With --data, the
table also has the paper's data sets: one half of each, as in the published experiment.

    python benchmarks/bounds.py [--data FOLDER] [--write]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from data_option import add_data_option
from docs_tables import write_table
from hocmim import HOCMIM, _native
from tables import SIZES, classes, table

K = 50
# Without the bound, 50 columns take minutes: these numbers show the effect.
MOST_SELECTED = {"D": 21, "E": 17}


class CheckRecorder:
    """Records every check of the bound, its answer and its time."""

    said: list[tuple[int, bool | None]]
    seconds: float

    def __init__(self, columns: _native.Columns, *arguments: int) -> None:
        began = time.perf_counter()
        self._n_columns, self._is_beyond = len(columns), len(columns) > arguments[0] + 1
        self._search = Separation(columns, *arguments)
        CheckRecorder.seconds += time.perf_counter() - began

    def holds(self) -> bool | None:
        began = time.perf_counter()
        answer = self._search.holds()
        if self._is_beyond:
            CheckRecorder.said.append((self._n_columns, answer))
        CheckRecorder.seconds += time.perf_counter() - began
        return answer


Separation = _native.Separation


def row(name: str, X: NDArray, y: NDArray) -> str:
    """One table: up to which number of columns the bound holds, and why not further."""
    CheckRecorder.said, CheckRecorder.seconds = [], 0.0
    k = min(MOST_SELECTED.get(name, K), X.shape[1])
    began = time.perf_counter()
    HOCMIM(k, n_jobs=1).fit(X, y)
    seconds = time.perf_counter() - began
    bounded = [n for n, answer in CheckRecorder.said if answer]
    ended = {True: "K", False: "no bound", None: "check too expensive"}
    why = ended[CheckRecorder.said[-1][1]] if CheckRecorder.said else "K"
    size, last = f"{X.shape[0]} × {X.shape[1]}", max(bounded, default=15)
    return (
        f"| {name} | {size} | {k} | {last} | {why} | {CheckRecorder.seconds:.2f} | {seconds:.2f} |"
    )


def tables(data: Path | None) -> Iterator[tuple[str, NDArray, NDArray]]:
    for name, spec in SIZES.items():
        if spec.kind != "words":
            yield name, table(spec, np.uint8), classes(spec)
    for path in sorted(data.glob("*.npz")) if data else []:
        with np.load(path) as arrays:
            X, y = arrays["X"].astype(float), arrays["y"]
        part = np.random.default_rng(0).permutation(len(y))[: len(y) // 2]
        if X.shape[1] > 16 and part.size * X.shape[1] < 3_000_000:
            yield path.stem, X[part], y[part]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add_data_option(parser, required=False)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    _native.Separation = CheckRecorder  # type: ignore[misc, assignment]
    lines = [
        "| table | samples × columns | K | bounded up to \\|S\\| | why not further | "
        "check, s | total, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, X, y in tables(options.data):
        lines.append(row(name, X, y))
        print(lines[-1], flush=True)
    if options.write:
        write_table("development/performance.md", "bounds", "\n".join(lines))


if __name__ == "__main__":
    main()

"""With how many selected columns HOCMIM need not follow every path, and what it takes to know.

Prints a table in Markdown; with --write it goes into docs/performance.md. The paper's data sets are
looked at, too, if their folder is given: 50/50 splits, as in the experiment.

    python benchmarks/bounds.py [--data FOLDER] [--write]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hocmim import HOCMIM, _native
from into_docs import write_table
from tables import SIZES, classes, table

K = 50
# Where everybody is followed all the 50 take minutes: these are enough to see it.
MOST_SELECTED = {"D": 21, "E": 17}


class Listener:
    """What HOCMIM asks of the columns it has selected, and what it is told."""

    said: list[tuple[int, bool | None]]
    seconds: float

    def __init__(self, columns: _native.Columns, *arguments: int) -> None:
        began = time.perf_counter()
        self._n_columns, self._is_beyond = len(columns), len(columns) > arguments[0] + 1
        self._search = Separation(columns, *arguments)
        Listener.seconds += time.perf_counter() - began

    def holds(self) -> bool | None:
        began = time.perf_counter()
        answer = self._search.holds()
        if self._is_beyond:
            Listener.said.append((self._n_columns, answer))
        Listener.seconds += time.perf_counter() - began
        return answer


Separation = _native.Separation


def row(name: str, X: NDArray, y: NDArray) -> str:
    """One table: where the bound ends, and why."""
    Listener.said, Listener.seconds = [], 0.0
    k = min(MOST_SELECTED.get(name, K), X.shape[1])
    began = time.perf_counter()
    HOCMIM(k, n_jobs=1).fit(X, y)
    seconds = time.perf_counter() - began
    bounded = [n for n, answer in Listener.said if answer]
    ended = {True: "K", False: "no bound", None: "too much to find out"}
    why = ended[Listener.said[-1][1]] if Listener.said else "K"
    size, last = f"{X.shape[0]} × {X.shape[1]}", max(bounded, default=15)
    return f"| {name} | {size} | {k} | {last} | {why} | {Listener.seconds:.2f} | {seconds:.2f} |"


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
    parser.add_argument("--data", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    _native.Separation = Listener  # type: ignore[misc, assignment]
    lines = [
        "| table | samples × columns | K | bounded up to \\|S\\| | why not further | "
        "finding out, s | all, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, X, y in tables(options.data):
        lines.append(row(name, X, y))
        print(lines[-1], flush=True)
    if options.write:
        write_table("development/performance.md", "bounds", "\n".join(lines))


if __name__ == "__main__":
    main()

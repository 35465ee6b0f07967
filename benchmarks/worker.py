"""The process that runs one of the measured programs; the runner can kill it.

Reads one JSON request per line from standard input and answers each with one line on the original
standard output. All other output of the program is discarded.

    {"op": "load", "folder": …}      load the table in this folder (x.npy, y.npy, codes.npy)
    {"op": "warm", "case": …}        run the case on a small part of the table, not timed
    {"op": "run", "case": …}         run it; answers {"seconds": …, "selected": […]}

An answer with the key "error" means that the request failed; the process continues.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import statistics
import sys
import time
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

WARM_SAMPLES, WARM_COLUMNS, WARM_K = 200, 20, 5
SHORT_SECONDS, MOST_SHORT_RUNS = 0.1, 9  # shorter runs are repeated, at most 9 times


class Worker:
    """The program and its table."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.data: dict[str, Any] = {}
        self.small: dict[str, Any] = {}

    @property
    def program(self) -> ModuleType:
        if self.package == "hocmim":
            import own

            return own
        import peers

        return peers

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        folder = Path(request["folder"])
        # Copy-on-write mapping: all workers share one copy of the table in memory.
        X = np.asarray(np.load(folder / "x.npy", mmap_mode="c"))
        y = np.load(folder / "y.npy")
        codes = folder / "codes.npy"
        own = self.package == "hocmim" and codes.exists()
        matrix = np.asarray(np.load(codes, mmap_mode="c")) if own else None
        X.sum()  # maps the pages of the table before the timing starts
        small = slice(None, WARM_COLUMNS)
        part = np.unique(np.linspace(0, len(y) - 1, WARM_SAMPLES).astype(int))
        part = np.unique(np.concatenate([part, [np.flatnonzero(y == c)[0] for c in set(y)]]))
        few = None if matrix is None else contiguous_levels(matrix[small, part])
        self.data = self.program.prepare(X, y, matrix)
        self.small = self.program.prepare(np.ascontiguousarray(X[part][:, small]), y[part], few)
        return {}

    def warm(self, request: dict[str, Any]) -> dict[str, Any]:
        case = request["case"] | {"k": min(WARM_K, self.small["X"].shape[1])}
        self._before(self.small, case)
        self.program.run(self.small, case)
        return {"version": importlib.metadata.version(self.package)}

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Time the case; a short case is repeated, and the median is returned."""
        case = request["case"]
        times: list[float] = []
        while not times or (sum(times) < SHORT_SECONDS and len(times) < MOST_SHORT_RUNS):
            self._before(self.data, case)
            start = time.perf_counter()
            selected = self.program.run(self.data, case)
            times.append(time.perf_counter() - start)
        return {"seconds": statistics.median(times), "selected": selected}

    def _before(self, data: dict[str, Any], case: dict[str, Any]) -> None:
        if hasattr(self.program, "before"):
            self.program.before(data, case)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return getattr(self, request["op"])(request)
        except Exception as error:  # a peer may raise any error; the runner records it
            return {"error": f"{type(error).__name__}: {str(error)[:200]}"}


def contiguous_levels(matrix: Any) -> Any:
    """The codes, renumbered so that all levels occur."""
    rows = [np.unique(row, return_inverse=True)[1] for row in matrix]
    return np.array(rows, np.uint8)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    warnings.simplefilter("ignore")
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        answers.write(json.dumps(worker.answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()

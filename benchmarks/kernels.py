"""The kernels one by one, in units of a plain histogram; and how far HOCMIM's bound holds.

    python benchmarks/kernels.py [--samples 2000] [--columns 500] [--levels 5] [--write]
    python benchmarks/kernels.py --bounds [--data FOLDER] [--write]

Every term of ``BlockTerms`` on one thread, with W of one, two and three columns: the smallest of
several goes. --bounds: up to which number of selected columns the upper bound on the paths of
HOCMIM beyond max_order holds, and how long its check takes, on the tables of the benchmarks and on
half of each data set. --write puts that table into docs/development/performance.md.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common import (
    HERE,
    SIZES,
    TableSpec,
    as_codes,
    classes,
    code_matrix,
    least_seconds,
    markdown,
    options_of,
    read_data,
    table,
    write_table,
)

TERMS = ("information", "given_class", "redundancy", "conditional", "joint", "joint_entropy")
WIDTHS = (1, 2, 3)
ESTIMATORS = ("plugin", "shrinkage")
INCREMENTS = 1 << 26  # of a plain histogram, in one go


@cache
def yardstick() -> Any:
    """The compiled plain histogram."""
    source, compiler = HERE / "yardstick.cpp", os.environ.get("CXX", "c++")
    version = hashlib.sha256(source.read_bytes() + compiler.encode()).hexdigest()[:16]
    target = Path(tempfile.gettempdir()) / f"hocmim-yardstick-{os.getuid()}-{version}.so"
    if not target.exists():
        made = target.with_suffix(f".{os.getpid()}")
        flags = ["-O3", "-std=c++17", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, str(source), "-o", str(made)], check=True)
        made.replace(target)
    function = ctypes.CDLL(str(target)).histogram_ns
    function.restype = ctypes.c_double
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    function.argtypes = [pointer, size, pointer, size, ctypes.c_int64]
    return function


def histogram_ns(matrix: NDArray[np.uint8], y: NDArray[np.uint8]) -> float:
    """Nanoseconds per sample of counting columns against (another column, y), the least of five."""
    n_columns = max(1, min(len(matrix), INCREMENTS // 4 // matrix.shape[1]))
    x = np.ascontiguousarray(matrix[:n_columns])
    wy = (matrix[-1] * (int(y.max()) + 1) + y).astype(np.uint8)
    repeats = max(1, INCREMENTS // x.size)
    arguments = x.ctypes.data, len(x), wy.ctypes.data, len(wy), repeats
    return min(yardstick()(*arguments) for _ in range(5))


def measure(spec: TableSpec, budget: float = 0.05) -> list[list[str]]:
    """A row for each term, estimator and width of W."""
    from hocmim.information.counting import BlockTerms, Joint

    matrix, target = code_matrix(spec), classes(spec)
    codes, y = as_codes(matrix, target)
    plain = histogram_ns(matrix, target)
    rows = []
    for estimator in ESTIMATORS:
        terms = BlockTerms(codes, Joint.of([y]), estimator)
        calls: dict[tuple[str, int], Any] = {("relevance", 0): terms.relevance}
        for width in WIDTHS:
            w = Joint.of([codes.column(j) for j in range(width)])
            calls |= {(name, width): partial(getattr(terms, name), w) for name in TERMS}
        for (name, width), call in calls.items():
            ns = least_seconds([call], budget)[0] * 1e9 / spec.cells
            rows.append([name, estimator, str(width), f"{ns:.3f}", f"{ns / plain:.2f}"])
    return rows


# --- the bound of HOCMIM --------------------------------------------------------------------------

# Without the bound, 50 columns take minutes: these numbers show the effect.
MOST_SELECTED = {"D": 21, "E": 17}


def bound_row(name: str, X: NDArray[Any], y: NDArray[Any]) -> list[str]:
    """Up to which number of columns the bound holds, why not further, and its time."""
    from hocmim import HOCMIM, _native

    said: list[tuple[int, bool | None]] = []
    spent = 0.0
    original = _native.Separation

    class Recorder:
        def __init__(self, columns: Any, *arguments: int) -> None:
            nonlocal spent
            began = time.perf_counter()
            self._n_columns, self._is_beyond = len(columns), len(columns) > arguments[0] + 1
            self._search = original(columns, *arguments)
            spent += time.perf_counter() - began

        def holds(self) -> bool | None:
            nonlocal spent
            began = time.perf_counter()
            answer = self._search.holds()
            spent += time.perf_counter() - began
            if self._is_beyond:
                said.append((self._n_columns, answer))
            return answer

    k = min(MOST_SELECTED.get(name, 50), X.shape[1])
    _native.Separation = Recorder  # type: ignore[misc, assignment]
    try:
        began = time.perf_counter()
        HOCMIM(k, n_jobs=1).fit(X, y)
        seconds = time.perf_counter() - began
    finally:
        _native.Separation = original  # type: ignore[misc]
    last = max((n for n, answer in said if answer), default=15)
    why = {True: "K", False: "no bound", None: "check too expensive"}[said[-1][1] if said else True]
    size = f"{X.shape[0]} × {X.shape[1]}"
    return [name, size, str(k), str(last), why, f"{spent:.2f}", f"{seconds:.2f}"]


def bound_tables(data: Path | None) -> Iterator[tuple[str, NDArray[Any], NDArray[Any]]]:
    for name, spec in SIZES.items():
        if spec.kind != "words":
            yield name, table(spec, np.uint8), classes(spec)
    for name, (X, y) in (read_data(data) if data else {}).items():
        part = np.random.default_rng(0).permutation(len(y))[: len(y) // 2]
        if X.shape[1] > 16 and part.size * X.shape[1] < 3_000_000:
            yield name, X[part].astype(float), y[part]


def main() -> None:
    parser = options_of(__doc__, data=True)
    parser.add_argument("--samples", type=int, default=2_000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--levels", type=int, default=5)
    parser.add_argument("--bounds", action="store_true")
    options = parser.parse_args()
    if not options.bounds:
        spec = TableSpec("micro", options.samples, options.columns, n_levels=options.levels)
        header = ["term", "estimator", "columns in W", "ns", "÷ plain histogram"]
        print(markdown(header, measure(spec)))
        return
    header = ["table", "samples × columns", "K", "bounded up to \\|S\\|", "why not further"]
    header += ["check, s", "total, s"]
    text = markdown(header, (bound_row(*one) for one in bound_tables(options.data)))
    print(text)
    if options.write:
        write_table("development/performance.md", "bounds", text)


if __name__ == "__main__":
    main()

"""Times of encoding by type, order and size, against NumPy's minimum and maximum of the same table.

    python benchmarks/encoding.py [--sizes A B C D E] [--types int8 float64] [--quick] [--write]

A *read* is ``X.min(0); X.max(0)``, on one core: it reads the table twice. Booleans are read as
bytes, because NumPy's minimum of booleans in columns stops at the first False. Reads and encodings
take turns, and the smallest time of each is kept: processor time with one thread, elapsed time with
two. On a machine that is busy with other work the second says little. Integers and booleans have
few levels, floats are normally distributed; "levels as float64" are the integers as floats; of
columns "with missing" a tenth is NaN. A sparse table has at most a tenth of its cells, as CSR in
order C and as CSC in order F. Strings are objects, of which the pointers are read; categories are
those of pandas, of which the codes are read. All but the first six types are measured at A and B
only.

The second table has the whole ``fit`` of MIM and second-order methods (50 features, two threads)
against their search alone, with which it takes turns: the smallest times, and the median of the
ratios of all turns. MIM is compared with scikit-learn's ``SelectKBest(f_classif)`` on the same
table as float64. --write also renews the table of docs/performance.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_selection import SelectKBest, f_classif
from threadpoolctl import threadpool_limits

from common import (
    SIZES,
    TableSpec,
    classes,
    least_seconds,
    markdown,
    options_of,
    search,
    seconds_in_turns,
    table,
    write_result,
    write_table,
)
from hocmim import make_selector
from hocmim.coding.codes import Column
from hocmim.coding.encoder import Encoder

TYPES = ("bool", "int8", "int64", "float32", "float64", "levels as float64")
OTHER_TYPES = ("uint8", "int16", "int32", "uint64", "float64 with missing", "levels with missing")
OTHER_TYPES += ("sparse", "strings", "categories")
DISCRETIZERS = ("uniform", "quantile", "mdlp")
# The most reads an encoding may take on two cores, at sizes B, C and E.
GOALS = {"few levels": 8.0, "uniform": 4.0, "quantile": 12.0}
MOST_MDLP_CELLS = MOST_OTHER_CELLS = 2_000_000


class Case(NamedTuple):
    """One line of the table."""

    size: str
    dtype: str
    order: str
    discretizer: str
    threads: int

    @property
    def goal(self) -> float | None:
        """The most reads it may take."""
        if self.threads != 2 or self.size not in "BCE" or self.dtype == "float32":
            return None
        if self.dtype in OTHER_TYPES:
            return None
        return GOALS.get(self.discretizer if self.dtype == "float64" else "few levels")


def values_of(spec: TableSpec, dtype: str, order: str) -> Any:
    """The table of that type and order."""
    if dtype in ("sparse", "strings", "categories") or dtype.endswith("with missing"):
        return _other_values(spec, dtype, order)
    if dtype in ("float32", "float64"):
        shape = spec.n_samples, spec.n_columns
        values = np.random.default_rng(spec.seed).standard_normal(shape, np.float32)
    else:
        values = table(spec, np.int8)
        values = values > 1 if dtype == "bool" else values
    return np.asarray(values, "f8" if dtype == "levels as float64" else dtype, order=order)


def _other_values(spec: TableSpec, dtype: str, order: str) -> Any:
    """Tables that are not an array of one type without gaps."""
    is_float = dtype.startswith("float64")
    values = values_of(spec, "float64" if is_float else "levels as float64", order)
    chance = np.random.default_rng(spec.seed).random(values.shape, np.float32)
    if dtype == "sparse":
        as_sparse = sparse.csr_array if order == "C" else sparse.csc_array
        return as_sparse(np.where(chance < 0.1, values, 0))
    if dtype.endswith("with missing"):
        values[chance < 0.1] = np.nan
        return values
    texts = np.array([f"level {k}" for k in range(spec.n_levels)], object)[values.astype(int)]
    return (
        np.asarray(texts, order=order)
        if dtype == "strings"
        else pd.DataFrame(texts, dtype="category")
    )


def orders_of(dtype: str) -> str:
    """The orders of memory there are."""
    return "F" if dtype == "categories" else "CF"


# One thread is measured in processor time, which other work on the machine hardly changes.
CLOCKS = {1: time.process_time, 2: time.perf_counter}


def cases_of(size: str, dtype: str, order: str) -> Iterator[Case]:
    """The discretizers and numbers of threads to measure; few levels are never cut."""
    if dtype in OTHER_TYPES and SIZES[size].cells > MOST_OTHER_CELLS:
        return
    is_cut = dtype.startswith("float")
    for discretizer in DISCRETIZERS if is_cut else ("quantile",):
        if discretizer != "mdlp" or SIZES[size].cells <= MOST_MDLP_CELLS:
            for threads in (1, 2):
                yield Case(size, dtype, order, discretizer, threads)


def readable(X: Any) -> NDArray[Any]:
    """What a read reads: bytes of booleans, stored values, pointers, codes."""
    if isinstance(X, pd.DataFrame):
        return np.asarray([X[name].cat.codes for name in X]).T
    if sparse.issparse(X):
        return X.data
    if X.dtype == object:
        return np.ones_like(X, np.int64)  # as many as there are pointers
    return X.view(np.uint8) if X.dtype == bool else X


def read(values: NDArray[Any]) -> None:
    values.min(0)
    values.max(0)


def measure(sizes: list[str], types: list[str], budget: float) -> dict[Case, list[float]]:
    """Seconds of the encoding and of the read, by case."""
    found = {}
    for size in sizes:
        spec = SIZES[size]
        y = classes(spec)
        for dtype in types:
            for order in orders_of(dtype):
                cases = list(cases_of(size, dtype, order))
                X = values_of(spec, dtype, order) if cases else np.empty((0, 0))
                for case in cases:
                    encoder = Encoder(discretizer=case.discretizer)
                    encode = partial(encoder.fit_transform, X, y, n_jobs=case.threads)
                    calls = [encode, partial(read, readable(X))]
                    found[case] = least_seconds(calls, budget, CLOCKS[case.threads])
                    print(case, found[case], file=sys.stderr, flush=True)
    return found


FIT_METHODS = ("MIM", "mRMR", "JMI", "CMIM", "HOCMIM-R")
MOST_SEARCHES = 2.5  # of a fit
FIT_TURNS = 15  # the fewest


def measure_fits(sizes: list[str], budget: float, k: int = 50) -> list[list[str]]:
    """Milliseconds of fit, of the search alone and of scikit-learn, by size, type and method."""
    rows = []
    for size in sizes:
        spec = SIZES[size]
        y = classes(spec)
        for dtype in ("int8", "float64"):
            X = values_of(spec, dtype, "C")
            codes = Encoder().fit_transform(X, n_jobs=2)
            target = Column(y, 2)
            f_test = SelectKBest(f_classif, k=k)
            as_floats = np.asarray(X, np.float64)
            sklearn = 1e3 * least_seconds([partial(f_test.fit, as_floats, y)], budget)[0]
            for method in FIT_METHODS:
                selector = make_selector(method, n_features_to_select=k, n_jobs=2)
                calls = [
                    partial(selector.fit, X, y),
                    partial(search, codes, target, selector, k, 2),
                ]
                times = 1e3 * seconds_in_turns(calls, budget, least_turns=FIT_TURNS)
                fit, searched = times.min(0)
                median = np.median(times[:, 0] / times[:, 1])
                figures = [f"{value:.1f}" for value in (fit, searched)]
                figures += [f"{value:.2f}" for value in (fit / searched, median)]
                figures += [f"{sklearn:.1f}", f"{fit / sklearn:.2f}"]
                rows.append([size, dtype, method, *figures])
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def fit_report(rows: list[list[str]]) -> str:
    """The table of fits, and which are slow."""
    header = ["size", "type", "method", "fit, ms", "search, ms", "fit ÷ search", "median ratio"]
    header += ["f_classif, ms", "fit ÷ f_classif"]
    slow = [" ".join(row[:3]) for row in rows if row[2] != "MIM" and float(row[6]) > MOST_SEARCHES]
    behind = [" ".join(row[:3]) for row in rows if row[2] == "MIM" and float(row[8]) > 1]
    return "\n\n".join(
        [
            markdown(header, rows),
            f"More than {MOST_SEARCHES} searches: {', '.join(slow) or 'none'}.",
            f"MIM slower than f_classif: {', '.join(behind) or 'nowhere'}.",
        ]
    )


def one_thread_table(sizes: list[str], k: int = 50, repeats: int = 3) -> str:
    """Milliseconds of processor time of fit on one thread, by size and type, for docs/."""
    rows = []
    for size in sizes:
        spec = SIZES[size]
        y = classes(spec)
        for dtype in ("int8", "float64"):
            X = values_of(spec, dtype, "C")
            given = {"n_features_to_select": k, "n_jobs": 1}
            calls = [partial(make_selector(name, **given).fit, X, y) for name in FIT_METHODS]
            calls.append(partial(SelectKBest(f_classif, k=k).fit, np.asarray(X, np.float64), y))
            with threadpool_limits(1):
                times = least_seconds(calls, 0.5, time.process_time, repeats)
            fastest = [f"{1e3 * value:.{0 if value >= 0.1 else 1}f}" for value in times]
            rows.append([f"{spec.n_samples:,} × {spec.n_columns:,}", dtype, *fastest])
            print(rows[-1], file=sys.stderr, flush=True)
    return markdown(["table", "type", *FIT_METHODS, "`f_classif`"], rows)


def encoding_report(found: dict[Case, list[float]]) -> str:
    """The table of encodings, and the cases that miss their goal."""
    header = [*Case._fields, "read, ns per cell", "encoding, ns per cell", "÷ read", "goal"]
    rows, missed = [], []
    for case, times in found.items():
        encoding, reading = (1e9 * value / SIZES[case.size].cells for value in times)
        ratio, goal = encoding / reading, case.goal
        rows.append([*case, f"{reading:.2f}", f"{encoding:.2f}", f"{ratio:.1f}", goal or ""])
        if goal is not None and ratio > goal:
            missed.append(f"{' '.join(map(str, case))}: {ratio:.1f}, goal {goal:.0f}")
    return f"{markdown(header, rows)}\n\nMissed: {'; '.join(missed) or 'no goal'}."


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--sizes", nargs="+", choices="ABCDE")
    parser.add_argument("--types", nargs="+", default=[*TYPES, *OTHER_TYPES])
    options = parser.parse_args()
    sizes = options.sizes or list("AB" if options.quick else "ABCDE")
    budget = 0.1 if options.quick else 0.5
    text = encoding_report(measure(sizes, options.types, budget))
    text += f"\n\n{fit_report(measure_fits(sizes, budget))}"
    print(text)
    if options.write:
        method = "\n\n".join((__doc__ or "").strip().split("\n\n")[2:])
        write_result("encoding.md", "Encoding", f"{method}\n\n{text}")
        write_table("performance.md", "fits", one_thread_table(sizes))


if __name__ == "__main__":
    main()

"""Times of encoding by type, order and size, against NumPy's minimum and maximum of the same table.

    .venv/bin/python benchmarks/encoding.py [--sizes A B C D E] [--types int8 float64] [--fit]
                                            [--json FILE] [--before FILE] [--out FILE] [--docs]

A *read* is ``X.min(0); X.max(0)``, on one core: it reads the table twice. Booleans are read as
bytes, because NumPy's minimum of booleans in columns stops at the first False. Reads and encodings
take turns, and the smallest time of each is kept: processor time with one thread, elapsed time with
two. On a machine that is busy with other work the second says little. Integers and booleans have
few levels, floats are normally distributed; "levels as float64" are the integers as floats; of
columns "with missing" a tenth is NaN. A sparse table has at most a tenth of its cells, as CSR in
order C and as CSC in order F. Strings are objects, of which the pointers are read; categories are
those of pandas, of which the codes are read. All but the first six types are measured at A and B
only.
``--json`` stores the times, and ``--before`` compares them with the stored times of another
version, as multiples of the read of its own run. ``results/encoding_before.json`` is that of the
encoder that read a table twice, with one thread.

``--fit`` measures the whole ``fit`` of MIM and second-order methods (50 features, two threads)
against their search alone, with which it takes turns: the smallest times, and the median of the
ratios of all turns. Encoding uses two cores, and a search of this length often one: on a busy
machine the smallest time of a fit is seldom that of two idle cores. MIM is compared with
scikit-learn's ``SelectKBest(f_classif)`` on the same table as float64.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_selection import SelectKBest, f_classif
from threadpoolctl import threadpool_limits

from docs_tables import write_table
from hocmim import make_selector
from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoder import Encoder
from hocmim.experiments.machine import processor
from hocmim.search.engines.local import LocalEngine
from hocmim.search.loop import forward_search
from tables import SIZES, TableSpec, classes, table

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
    def key(self) -> str:
        return "|".join(map(str, self))

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


def seconds(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    call()
    return clock() - start


def seconds_in_turns(
    calls: list[Callable[[], Any]],
    budget: float,
    clock: Callable[[], float] = time.perf_counter,
    least_turns: int = 3,
) -> NDArray[np.float64]:
    """The times of calls that take turns: one row a turn."""
    times: list[list[float]] = []
    while len(times) < least_turns or sum(map(sum, times)) < budget:
        turn = [seconds(call, clock) for call in calls]
        if min(turn) > 0:  # the clock of a virtual machine may stand still
            times.append(turn)
    return np.array(times)


def least_seconds(
    calls: list[Callable[[], Any]],
    budget: float,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """The smallest time of each call; the calls take turns, at least three times."""
    return seconds_in_turns(calls, budget, clock).min(0).tolist()


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


def measure(sizes: list[str], types: list[str], budget: float) -> dict[str, list[float]]:
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
                    encoder = Encoder(case.discretizer, n_jobs=case.threads)
                    calls = [partial(encoder.fit_transform, X, y), partial(read, readable(X))]
                    found[case.key] = least_seconds(calls, budget, CLOCKS[case.threads])
                    print(case, found[case.key], file=sys.stderr, flush=True)
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
            codes = Encoder(n_jobs=2).fit_transform(X)
            target = Column(y, 2)
            f_test = SelectKBest(f_classif, k=k)
            as_floats = np.asarray(X, np.float64)
            sklearn = 1e3 * least_seconds([partial(f_test.fit, as_floats, y)], budget)[0]
            for method in FIT_METHODS:
                selector = make_selector(method, n_features_to_select=k, n_jobs=2)
                calls = [partial(selector.fit, X, y), partial(search, codes, target, selector, k)]
                times = 1e3 * seconds_in_turns(calls, budget, least_turns=FIT_TURNS)
                fit, alone = times.min(0)
                median = np.median(times[:, 0] / times[:, 1])
                figures = [f"{value:.1f}" for value in (fit, alone)]
                figures += [f"{value:.2f}" for value in (fit / alone, median)]
                figures += [f"{sklearn:.1f}", f"{fit / sklearn:.2f}"]
                rows.append([size, dtype, method, *figures])
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def search(codes: Codes, y: Column, selector: Any, k: int) -> None:
    """The search of a selector that was fitted before."""
    with LocalEngine(codes, y, selector.make_criterion(), n_jobs=2) as engine:
        forward_search(engine, k)


def fit_markdown(rows: list[list[str]]) -> str:
    """The table of fits."""
    header = ["size", "type", "method", "fit, ms", "search, ms", "fit ÷ search", "median ratio"]
    header += ["f_classif, ms", "fit ÷ f_classif"]
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    second_order = [row for row in rows if row[2] != "MIM"]
    for name, column in (("smallest times", 5), ("medians", 6)):
        slow = [" ".join(row[:3]) for row in second_order if float(row[column]) > MOST_SEARCHES]
        lines += ["", f"More than {MOST_SEARCHES} searches by {name}: {', '.join(slow) or 'none'}."]
    behind = [" ".join(row[:3]) for row in rows if row[2] == "MIM" and float(row[8]) > 1]
    lines += ["", f"MIM slower than f_classif: {', '.join(behind) or 'nowhere'}."]
    return "\n".join(lines)


def one_thread_table(sizes: list[str], k: int = 50, repeats: int = 3) -> str:
    """Milliseconds of processor time of fit on one thread, by size and type, for docs/."""
    lines = ["| table | type | " + " | ".join([*FIT_METHODS, "`f_classif`"]) + " |"]
    lines += ["|---|---|" + "---:|" * (len(FIT_METHODS) + 1)]
    for size in sizes:
        spec = SIZES[size]
        y = classes(spec)
        for dtype in ("int8", "float64"):
            X = values_of(spec, dtype, "C")
            floats = np.asarray(X, np.float64)
            given = {"n_features_to_select": k, "n_jobs": 1}
            calls = [partial(make_selector(name, **given).fit, X, y) for name in FIT_METHODS]
            calls.append(partial(SelectKBest(f_classif, k=k).fit, floats, y))
            with threadpool_limits(1):
                times: list[list[float]] = []
                while len(times) < repeats or sum(map(sum, times)) < 0.5:
                    times.append([seconds(call, time.process_time) for call in calls])
            found = [1e3 * min(column) for column in zip(*times, strict=True)]
            fastest = [f"{value:.{0 if value >= 100 else 1}f}" for value in found]
            cells = [f"{spec.n_samples:,} × {spec.n_columns:,}", dtype, *fastest]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def markdown(found: dict[str, list[float]], before: dict[str, list[float]] | None) -> str:
    """The table, and the cases that miss their goal or became slower."""
    header = ["size", "type", "order", "discretizer", "threads", "read, ns a cell"]
    header += ["encoding, ns a cell", "÷ read", "goal", *(["÷ read before"] if before else [])]
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    missed, slower = [], []
    for key, (encoding, reading) in found.items():
        size, dtype, order, discretizer, threads = key.split("|")
        case = Case(size, dtype, order, discretizer, int(threads))
        ratio, cells = encoding / reading, SIZES[size].cells
        row = [*key.split("|"), f"{reading * 1e9 / cells:.2f}", f"{encoding * 1e9 / cells:.2f}"]
        row += [f"{ratio:.1f}", "" if case.goal is None else f"{case.goal:.0f}"]
        if case.goal is not None and ratio > case.goal:
            missed.append(f"{' '.join(row[:5])}: {ratio:.1f}, goal {case.goal:.0f}")
        if before:
            earlier = before[key][0] / before[key][1] if key in before else float("nan")
            row.append("" if np.isnan(earlier) else f"{earlier:.1f}")
            if ratio > earlier:
                slower.append(f"{' '.join(row[:5])}: {ratio:.1f}, before {earlier:.1f}")
        lines.append("| " + " | ".join(row) + " |")
    lines += ["", "Missed: " + ("; ".join(missed) or "no goal") + "."]
    if before:
        lines += ["", "Slower than before: " + ("; ".join(slower) or "no case") + "."]
    return "\n".join(lines)


def _method() -> str:
    """How it was measured: what the docstring says after the command."""
    return "\n\n".join((__doc__ or "").strip().split("\n\n")[2:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=list("ABCDE"))
    parser.add_argument("--types", nargs="+", default=[*TYPES, *OTHER_TYPES])
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each case")
    parser.add_argument("--json", type=Path, help="store the times")
    parser.add_argument("--before", type=Path, help="times of another version")
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    parser.add_argument("--fit", action="store_true", help="also measure fits")
    parser.add_argument("--docs", action="store_true", help="renew the table in docs/")
    options = parser.parse_args()
    found = measure(options.sizes, options.types, options.budget)
    fits = measure_fits(options.sizes, options.budget) if options.fit else []
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    before = json.loads(options.before.read_text()) if options.before else None
    text = f"{processor()}, numpy {np.__version__}\n\n{markdown(found, before)}\n"
    if fits:
        text += f"\n{fit_markdown(fits)}\n"
    print(text)
    if options.docs:
        write_table("performance.md", "fits", one_thread_table(options.sizes))
    if options.out:
        options.out.write_text(f"# Encoding\n\n{_method()}\n\n{text}")


if __name__ == "__main__":
    main()

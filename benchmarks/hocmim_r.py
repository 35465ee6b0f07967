"""HOCMIM-R beside JMI: the time of the search alone, on the tables B, C, D and E.

    .venv/bin/python benchmarks/hocmim_r.py [B C D E] [--repeats 5] [-k 50] [--jobs 2]
    .venv/bin/python benchmarks/hocmim_r.py --million

The methods take turns, and the fastest of several runs counts: a busy machine slows down single
runs. Allowed: 3 times JMI, and with max_order=15 1.3 times max_order=3. ``--million``:
1 000 000 × 1 000, K = 20, at most 60 seconds.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from tables import SIZES, TableSpec, as_codes, classes, code_matrix

DEFAULT_TABLES = ("B", "C", "D", "E")


def methods() -> dict[str, Any]:
    """The criteria that are compared, by name."""
    from hocmim.criteria.beta_gamma import JMICriterion
    from hocmim.criteria.hocmim_r import RobustHOCMIMCriterion

    return {
        "JMI": JMICriterion(),
        "HOCMIM-R": RobustHOCMIMCriterion(),
        "HOCMIM-R, max_order=3": RobustHOCMIMCriterion(max_order=3),
    }


def search_seconds(codes: Any, y: Any, criterion: Any, k: int, n_jobs: int) -> tuple[float, int]:
    """Return the seconds of one search, and how many terms it computed."""
    from hocmim.search.engines.local import LocalEngine
    from hocmim.search.loop import forward_search

    n_terms: list[int] = []
    start = time.perf_counter()
    with LocalEngine(codes, y, criterion, n_jobs=n_jobs, on_terms=n_terms.append) as engine:
        forward_search(engine, k)
    return time.perf_counter() - start, sum(n_terms)


def compare(spec: TableSpec, k: int, n_jobs: int, repeats: int) -> None:
    """Print the seconds of each method, its ratio to JMI, and its terms a candidate and step."""
    codes, y = as_codes(code_matrix(spec), classes(spec))
    seconds = dict.fromkeys(methods(), float("inf"))
    terms = {}
    for _ in range(repeats):
        for name, criterion in methods().items():
            taken, terms[name] = search_seconds(codes, y, criterion, k, n_jobs)
            seconds[name] = min(seconds[name], taken)
    print(f"{spec.name}: {spec.n_samples} × {spec.n_columns}, K = {k}, {n_jobs} threads")
    for name, taken in seconds.items():
        share = terms[name] / (spec.n_columns * k)
        ratio = taken / seconds["JMI"]
        print(f"  {name:24} {taken:8.3f} s  {ratio:5.2f} × JMI  {share:5.2f} terms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(SIZES)}")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("-k", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--million", action="store_true")
    options = parser.parse_args()
    if options.million:
        compare(TableSpec("million", 1_000_000, 1_000), 20, options.jobs, 1)
        return
    for name in options.tables or DEFAULT_TABLES:
        compare(SIZES[name], options.k, options.jobs, options.repeats)


if __name__ == "__main__":
    main()

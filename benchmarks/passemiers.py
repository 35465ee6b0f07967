"""How much of the tables of Passemiers et al. can be found at all, and how much HOCMIM-R finds.

Two measurements, each the share of the p useful columns among the first p:

limit
    2048 columns. An oracle knows the three functions that decide the target and how often each
    holds. For every pair of columns and every function it computes the likelihood ratio of the
    target with and without this function of this pair, takes the best pair, and goes on with the
    other functions given what it took. No method that has to learn the functions can be expected
    to find more. It sees the columns in 24 bins, and in the 4 bins of our screen. "No test" is
    HOCMIM-R if its screen keeps the 100 strongest pairs, whatever their p-values.
sizes
    As the figures were published: the mean over tables of p, …, 512, 1024 and 2048 columns.

Rows are those of the published folds: five sixths of 1000, 500 and 250.

    python benchmarks/passemiers.py [--tables N] [--json FILE] [--write]

--json keeps what was measured; with a file that has it, nothing is measured again.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy.stats import norm

from common import markdown, options_of, write_table
from hocmim import RobustHOCMIM
from hocmim.experiments.interaction_tables import BEST_PUBLISHED, PASSEMIERS, passemiers_table
from hocmim.search.interactions import screen

PAGE = "development/interactions.md"
MOST_COLUMNS, FINE, COARSE = 2048, 24, 4
# Those of 2048 columns that HOCMIM-R does not find in all tables.
HARD = [("RING", 250), ("RING+XOR", 500), ("RING+XOR", 250)]
HARD += [("RING+XOR+SUM", rows) for rows in (1000, 500, 250)]
# The half-width of the ring, the limit of the product and that of the sum.
LIMITS = {"RING": (0.1151,), "RING+XOR": (0.0704, 0.0337), "RING+XOR+SUM": (0.0479, 0.0598, 1.4074)}
GRID = 1152  # points on each axis, to integrate a function over a bin


def ring(limit: float, a: Any, b: Any) -> Any:
    return np.abs(np.hypot(a - 0.5, b - 0.5) - 0.35) <= limit


def exclusive(limit: float, a: Any, b: Any) -> Any:
    return (a - 0.5) * (0.5 - b) >= limit


def total(limit: float, a: Any, b: Any) -> Any:
    return norm.cdf((a + b - limit) / 0.2)


def table(name: str, n_columns: int, n_rows: int, number: int) -> tuple[Any, Any, set[int]]:
    """X, y and the useful columns, which are anywhere."""
    rng = np.random.default_rng([list(PASSEMIERS).index(name), n_columns, n_rows, number])
    X, y, p = passemiers_table(name, n_columns, n_rows * 5 // 6, rng)
    order = rng.permutation(n_columns)
    return X[:, order], y, set(np.argsort(order)[:p].tolist())


def share(found: Any, useful: set[int]) -> float:
    return 100 * len(useful & {int(j) for j in found}) / len(useful)


# --- the oracle -----------------------------------------------------------------------------------


def binned(function: Callable[..., Any], n_bins: int) -> np.ndarray:
    """The probability that a function of two columns holds, for each pair of bins."""
    at = (np.arange(GRID) + 0.5) / GRID
    width = GRID // n_bins
    values = np.asarray(function(at[:, None], at[None]), float)
    return values.reshape(n_bins, width, n_bins, width).mean(axis=(1, 3))


def log_ratios(codes: np.ndarray, y: np.ndarray, holds: np.ndarray, no_other: Any) -> np.ndarray:
    """The log likelihood ratio of each pair of columns for one function.

    ``no_other`` is the probability that no other function holds, for each row.
    """
    is_1, no_other = (y == 1)[:, None], np.asarray(no_other, np.float32)[:, None]
    never, never_on_average = np.maximum(1 - holds, 1e-9).astype(np.float32), 1 - holds.mean()
    of_mean = np.where(is_1, 1 - never_on_average * no_other, never_on_average)
    found = np.zeros((codes.shape[1],) * 2, np.float32)
    for level, of_level in enumerate(never):
        p = of_level[codes]
        p = np.where(is_1, np.maximum(1 - p * no_other, 1e-9), p) / of_mean
        found += (codes == level).astype(np.float32).T @ np.log(p)
    np.fill_diagonal(found, -np.inf)
    return found


def oracle(X: np.ndarray, y: np.ndarray, functions: list[Any], n_bins: int) -> list[int]:
    """The best pair of each function, the clearest first, given those before."""
    codes = np.minimum((X * n_bins).astype(np.int64), n_bins - 1)
    parts = [binned(function, n_bins) for function in functions]
    absent, chosen = [np.full(len(y), 1 - holds.mean()) for holds in parts], []
    left = set(range(len(parts)))
    while left:
        best = (-np.inf, 0, 0, 0)
        for part in left:
            others = [one for other, one in enumerate(absent) if other != part]
            no_other = np.prod([np.ones(len(y)), *others], axis=0)
            ratios = log_ratios(codes, y, parts[part], no_other)
            ratios[chosen], ratios[:, chosen] = -np.inf, -np.inf
            i, j = np.unravel_index(ratios.argmax(), ratios.shape)
            best = max(best, (float(ratios[i, j]), part, int(i), int(j)))
        _, part, i, j = best
        chosen += [i, j]
        left.remove(part)
        absent[part] = np.maximum(1 - parts[part][codes[:, i], codes[:, j]], 1e-9)
    return chosen


# --- what is measured -----------------------------------------------------------------------------


def limit(name: str, n_rows: int, number: int) -> dict[str, float]:
    X, y, useful = table(name, MOST_COLUMNS, n_rows, number)
    makers = (ring, exclusive, total)
    functions = [partial(make, at) for make, at in zip(makers, LIMITS[name], strict=False)]
    found = {f"{n} bins": share(oracle(X, y, functions, n), useful) for n in (FINE, COARSE)}
    keep_all = partial(screen, alpha=1.0)
    with mock.patch("hocmim.search.search.screen", keep_all):
        found["no test"] = share(RobustHOCMIM(len(useful), n_jobs=1).fit(X, y).selected_, useful)
    return found


def n_columns_of(name: str) -> list[int]:
    p = PASSEMIERS[name]
    return [p, *(2**k for k in range(12) if 2**k > p)]


def cells(n_tables: int) -> Iterator[tuple[str, str, int, int, int]]:
    """Kind of measurement, table, columns, rows and number."""
    for number in range(n_tables):
        for name, n_rows in product(PASSEMIERS, BEST_PUBLISHED):
            for n_columns in n_columns_of(name):
                yield "sizes", name, n_columns, n_rows, number
        for name, n_rows in HARD:
            yield "limit", name, MOST_COLUMNS, n_rows, number


def measure(n_tables: int, path: Path | None) -> list[list[Any]]:
    results = json.loads(path.read_text()) if path is not None and path.exists() else []
    done = {tuple(cell) for cell, _ in results}
    for cell in cells(n_tables):
        if cell in done:
            continue
        kind, name, n_columns, n_rows, number = cell
        if kind == "limit":
            found = limit(name, n_rows, number)
        else:
            X, y, useful = table(name, n_columns, n_rows, number)
            selected = RobustHOCMIM(len(useful), n_jobs=1).fit(X, y).selected_
            found = {"HOCMIM-R": share(selected, useful)}
        results.append([cell, found])
        print(*cell, found, flush=True)
        if path is not None:
            path.write_text(json.dumps(results))
    return [one for one in results if one[0][-1] < n_tables]


def mean(values: list[float]) -> str:
    """Mean and standard error."""
    if not values:
        return ""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.1f} ± {error:.1f}" if error else f"{np.mean(values):.0f}"


def tables(results: list[list[Any]]) -> dict[str, str]:
    by_limit, by_size = [], []
    of: dict[tuple[str, int], dict[str, dict[int, list[float]]]] = {}
    for (kind, name, n_columns, n_rows, number), found in results:
        values = of.setdefault((name, n_rows), {})
        for title, value in found.items():
            values.setdefault(title, {}).setdefault(number, []).append(value)
            if kind == "sizes" and n_columns == MOST_COLUMNS:
                values.setdefault("2048", {}).setdefault(number, []).append(value)
    limits = (f"{FINE} bins", f"{COARSE} bins", "no test", "2048")
    for (name, n_rows), values in of.items():
        each = {title: [np.mean(v) for v in one.values()] for title, one in values.items()}
        best = BEST_PUBLISHED[n_rows][list(PASSEMIERS).index(name)]
        by_size.append([name, n_rows, mean(each["HOCMIM-R"]), best, mean(each["2048"])])
        if limits[0] in each:
            by_limit.append([name, n_rows, *(mean(each[title]) for title in limits)])
    return {
        "limit": markdown(["table", "rows", f"oracle, {FINE} bins", f"oracle, {COARSE} bins",
                           "HOCMIM-R, no test", "HOCMIM-R"], by_limit),
        "sizes": markdown(["table", "rows", "HOCMIM-R, mean over p to 2048 columns",
                           "best published, mean over 2 to 2048", "HOCMIM-R, 2048 columns"],
                          by_size),
    }  # fmt: skip


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--tables", type=int, default=10, help="of each kind and size")
    parser.add_argument("--json", type=Path, help="file for what was measured")
    options = parser.parse_args()
    for name, text in tables(measure(1 if options.quick else options.tables, options.json)).items():
        print(f"\n{text}")
        if options.write:
            write_table(PAGE, name, text)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

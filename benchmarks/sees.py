"""How often does each method find all useful columns? Tables whose useful columns are known.

Columns have two levels, and y follows a logistic model. Each method selects the number of useful
columns. Prints a table in Markdown: the share of tables in which a method selected all of them.
--write puts it into docs/development/methods.md.

    python benchmarks/sees.py [tables] [--write]
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import hocmim
from docs_tables import write_table

SEED = 2022
N_SAMPLES = 4000
N_NOISE = 10
# The useful columns, one per row; columns that repeat or blend them; the class.
Known = tuple[np.ndarray, list[np.ndarray], np.ndarray]
VARIANTS = {
    "HOCMIM-R": {},
    "HOCMIM": {},
    "HOCMIM, min_support=10": {"min_support": 10},
}


def classes(rng: np.random.Generator, useful: np.ndarray, weights: list[float]) -> np.ndarray:
    """The class of each sample, by a logistic model of the useful columns (one per row)."""
    return rng.random(useful.shape[1]) < 1 / (1 + np.exp(-np.array(weights) @ (useful - 0.5)))


def blend(rng: np.random.Generator, columns: np.ndarray) -> np.ndarray:
    """Each sample has the value of a random one of the columns; 6 % are flipped."""
    n_samples = columns.shape[1]
    chosen = columns[rng.integers(len(columns), size=n_samples), np.arange(n_samples)]
    return chosen ^ (rng.random(n_samples) < 0.06)


def copies(rng: np.random.Generator) -> Known:
    """Five useful columns and a copy of each of the first three."""
    useful = rng.integers(2, size=(5, N_SAMPLES))
    return useful, list(useful[:3]), classes(rng, useful, [3.0, 2.5, 2.0, 1.0, 0.9])


def blends(rng: np.random.Generator, n_blended: int) -> Known:
    """Strong columns, three blends of all of them, and two weak columns."""
    useful = rng.integers(2, size=(n_blended + 2, N_SAMPLES))
    strong = [3.0, 2.7, 2.4][:n_blended]
    others = [blend(rng, useful[:n_blended]) for _ in range(3)]
    return useful, others, classes(rng, useful, [*strong, 1.0, 0.9])


def synergy(rng: np.random.Generator) -> Known:
    """Two informative columns, and the exclusive or of two more, one of them informative alone."""
    useful = rng.integers(2, size=(4, N_SAMPLES))
    useful[3] = rng.random(N_SAMPLES) < 0.3
    seen = np.array([useful[0], useful[1], useful[2] ^ useful[3]])
    return useful, [], classes(rng, seen, [2.0, 1.8, 2.5])


def overlap(rng: np.random.Generator) -> Known:
    """Seven useful columns that are similar: each is the same coin with 20 % of values flipped."""
    coin = rng.integers(2, size=N_SAMPLES)
    useful = coin ^ (rng.random((7, N_SAMPLES)) < 0.2)
    return useful, [], classes(rng, useful, [1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.0])


CASES: dict[str, Callable[[np.random.Generator], Known]] = {
    "copies": copies,
    "blends of two": lambda rng: blends(rng, 2),
    "blends of three": lambda rng: blends(rng, 3),
    "a synergy of two": synergy,
    "useful columns alike": overlap,
}


def table_of(case: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, list[set[int]]]:
    """X, y, and for each useful column the columns equal to it; in random order."""
    useful, others, y = CASES[case](rng)
    columns = np.array([*useful, *others, *rng.integers(2, size=(N_NOISE, N_SAMPLES))])
    order = rng.permutation(len(columns))
    same = [set(np.flatnonzero((columns[order] == one).all(axis=1)).tolist()) for one in useful]
    return columns[order].T, y, same


def finds_all(name: str, X: np.ndarray, y: np.ndarray, same: list[set[int]]) -> bool:
    method = name.partition(",")[0]
    parameters = VARIANTS.get(name, {})
    selector = hocmim.make_selector(method, n_features_to_select=len(same), **parameters)
    selected = set(selector.fit(X, y).selected_.tolist())
    return all(selected & one for one in same)


def main(n_tables: int, write: bool) -> None:
    rng = np.random.default_rng(SEED)
    tables = {case: [table_of(case, rng) for _ in range(n_tables)] for case in CASES}
    lines = [
        f"| all useful columns found, with | {' | '.join(CASES)} |",
        "|---" * (1 + len(CASES)) + "|",
    ]
    slow = {"NCA"}  # takes minutes, and is not made for tables of two levels
    names = [*VARIANTS, *(n for n in hocmim.list_methods() if n not in {*VARIANTS, *slow})]
    for name in names:
        shares = [np.mean([finds_all(name, *table) for table in of]) for of in tables.values()]
        lines.append(f"| {name} | {' | '.join(f'{share:.0%}' for share in shares)} |")
        print(lines[-1], flush=True)
    if write:
        write_table("development/methods.md", "sees", "\n".join(lines))


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    main(numbers[0] if numbers else 20, "--write" in sys.argv)

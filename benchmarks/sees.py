"""How often does each method find all useful columns? Tables whose useful columns are known.

Columns have two levels, and y follows a logistic model. Each method selects the number of useful
columns. Prints two tables in Markdown: the share of tables in which a method selected all of them,
and for the harder cases also the mean share of the useful columns that it selected. --write puts
them into docs/development/methods.md. --only N (1 or 2) makes only one of the two tables.

    python benchmarks/sees.py [tables] [--only N] [--write]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import hocmim
from docs_tables import write_table

SEED = 2022
N_SAMPLES = 4000
N_NOISE = 10
VARIANTS = {
    "HOCMIM-R": {},
    "HOCMIM": {},
    "HOCMIM, min_support=10": {"min_support": 10},
}
SLOW = {"NCA"}  # takes minutes, and is not made for tables of two levels
NOT_RUN = {("ReliefF", "100 000 rows")}  # compares all pairs of rows: many minutes a table
SHARE_OF_LARGE_TABLES = 4  # a large case has one table for each four of the others


@dataclass(frozen=True, eq=False)
class Known:
    """The useful columns, one per row; columns that repeat or blend them; the class.

    ``repeats`` has (i, j) if column j of ``others`` repeats useful column i but for some noise.
    Either of the two counts as found.
    """

    useful: np.ndarray
    others: list[np.ndarray]
    y: np.ndarray
    repeats: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Case:
    """How a table of ``n_samples`` rows is made, and how many columns of noise it has."""

    make: Callable[[np.random.Generator, int], Known]
    n_samples: int = N_SAMPLES
    n_noise: int = N_NOISE
    is_large: bool = False


Table = tuple[np.ndarray, np.ndarray, list[set[int]]]


def classes(rng: np.random.Generator, useful: np.ndarray, weights: list[float]) -> np.ndarray:
    """The class of each sample, by a logistic model of the useful columns (one per row)."""
    return rng.random(useful.shape[1]) < 1 / (1 + np.exp(-np.array(weights) @ (useful - 0.5)))


def blend(rng: np.random.Generator, columns: np.ndarray) -> np.ndarray:
    """Each sample has the value of a random one of the columns; 6 % are flipped."""
    n_samples = columns.shape[1]
    chosen = columns[rng.integers(len(columns), size=n_samples), np.arange(n_samples)]
    return chosen ^ (rng.random(n_samples) < 0.06)


def copies(rng: np.random.Generator, n_samples: int) -> Known:
    """Five useful columns and a copy of each of the first three."""
    useful = rng.integers(2, size=(5, n_samples))
    return Known(useful, list(useful[:3]), classes(rng, useful, [3.0, 2.5, 2.0, 1.0, 0.9]))


def noisy_copies(rng: np.random.Generator, n_samples: int) -> Known:
    """The same with 1 % of the values of each copy flipped."""
    useful = rng.integers(2, size=(5, n_samples))
    others = list(useful[:3] ^ (rng.random((3, n_samples)) < 0.01))
    y = classes(rng, useful, [3.0, 2.5, 2.0, 1.0, 0.9])
    return Known(useful, others, y, ((0, 0), (1, 1), (2, 2)))


def blends(n_blended: int, weak: tuple[float, ...] = (1.0, 0.9)) -> Callable[..., Known]:
    """Strong columns, three blends of all of them, and two weak columns."""

    def make(rng: np.random.Generator, n_samples: int) -> Known:
        useful = rng.integers(2, size=(n_blended + 2, n_samples))
        strong = [3.0, 2.7, 2.4, 2.1][:n_blended]
        others = [blend(rng, useful[:n_blended]) for _ in range(3)]
        return Known(useful, others, classes(rng, useful, [*strong, *weak]))

    return make


def synergy(rng: np.random.Generator, n_samples: int) -> Known:
    """Two informative columns, and the exclusive or of two more, one of them informative alone."""
    useful = rng.integers(2, size=(4, n_samples))
    useful[3] = rng.random(n_samples) < 0.3
    seen = np.array([useful[0], useful[1], useful[2] ^ useful[3]])
    return Known(useful, [], classes(rng, seen, [2.0, 1.8, 2.5]))


def parity(rng: np.random.Generator, n_samples: int) -> Known:
    """Two informative columns, and the parity of three bits, each weakly informative alone."""
    useful = rng.integers(2, size=(5, n_samples))
    useful[2:] = rng.random((3, n_samples)) < 0.37
    seen = np.array([useful[0], useful[1], useful[2] ^ useful[3] ^ useful[4]])
    return Known(useful, [], classes(rng, seen, [2.0, 1.8, 2.5]))


def overlap(rng: np.random.Generator, n_samples: int) -> Known:
    """Seven useful columns that are similar: each is the same coin with 20 % of values flipped."""
    coin = rng.integers(2, size=n_samples)
    useful = coin ^ (rng.random((7, n_samples)) < 0.2)
    return Known(useful, [], classes(rng, useful, [1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.0]))


def many(rng: np.random.Generator, n_samples: int) -> Known:
    """Fifty useful columns of falling weight."""
    useful = rng.integers(2, size=(50, n_samples))
    return Known(useful, [], classes(rng, useful, np.linspace(1.5, 0.5, 50).tolist()))


CASES = {
    "copies": Case(copies),
    "blends of two": Case(blends(2)),
    "blends of three": Case(blends(3)),
    "a synergy of two": Case(synergy),
    "useful columns alike": Case(overlap),
}
HARDER = {
    "blends of four": Case(blends(4)),
    "copies with 1 % noise": Case(noisy_copies),
    "parity of three": Case(parity),
    "50 useful of 500": Case(many, n_noise=450, is_large=True),
    "100 rows": Case(copies, n_samples=100),
    "100 000 rows": Case(blends(3, (0.2, 0.15)), n_samples=100_000, is_large=True),
}


def table_of(case: Case, rng: np.random.Generator) -> Table:
    """X, y, and for each useful column the columns that count as it; in random order."""
    known = case.make(rng, case.n_samples)
    noise = rng.integers(2, size=(case.n_noise, case.n_samples))
    columns = np.array([*known.useful, *known.others, *noise])
    order = rng.permutation(len(columns))
    equal = [(columns[order] == one).all(axis=1) for one in known.useful]
    same = [set(np.flatnonzero(each).tolist()) for each in equal]
    for i, j in known.repeats:
        same[i].add(int(np.flatnonzero(order == len(known.useful) + j)[0]))
    return columns[order].T, known.y, same


def share_found(name: str, X: np.ndarray, y: np.ndarray, same: list[set[int]]) -> float:
    """The share of the useful columns that a method selects."""
    method = name.partition(",")[0]
    parameters = VARIANTS.get(name, {})
    selector = hocmim.make_selector(method, n_features_to_select=len(same), **parameters)
    selected = set(selector.fit(X, y).selected_.tolist())
    return float(np.mean([bool(selected & one) for one in same]))


def measure(cases: dict[str, Case], n_tables: int, seed: int, show_shares: bool) -> str:
    """Every method on the tables of each case, as a table in Markdown."""
    rng = np.random.default_rng(seed)
    numbers = {
        name: -(-n_tables // SHARE_OF_LARGE_TABLES) if case.is_large else n_tables
        for name, case in cases.items()
    }
    tables = {
        name: [table_of(case, rng) for _ in range(numbers[name])] for name, case in cases.items()
    }
    lines = [
        f"| all useful columns found, with | {' | '.join(cases)} |",
        "|---" * (1 + len(cases)) + "|",
    ]
    print("\n".join(lines), flush=True)
    names = [*VARIANTS, *(n for n in hocmim.list_methods() if n not in {*VARIANTS, *SLOW})]
    for name in names:
        cells = []
        for case, of in tables.items():
            if (name, case) in NOT_RUN:
                cells.append("–")
                continue
            shares = np.array([share_found(name, *table) for table in of])
            cell = f"{np.mean(shares == 1):.0%}"
            cells.append(f"{cell} ({shares.mean():.0%})" if show_shares else cell)
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=int, nargs="?", default=20)
    parser.add_argument("--only", type=int, choices=(1, 2), help="make only this table")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/")
    given = parser.parse_args()
    for number, name, cases in ((1, "sees", CASES), (2, "harder", HARDER)):
        if given.only in (None, number):
            table = measure(cases, given.tables, SEED + number - 1, show_shares=number == 2)
            if given.write:
                write_table("development/methods.md", name, table)


if __name__ == "__main__":
    main()

"""Which methods find the useful columns? Tables whose useful columns are known.

    python benchmarks/sees.py [sees harder parity levels] [--tables 20] [--quick] [--write]

*sees*, *harder*: columns have two levels, and y follows a logistic model. Each method selects the
number of useful columns. The share of tables in which a method selects all of them, and for the
harder cases also the mean share of the useful columns that it selects.

*parity*: y = b1 xor b2 xor b3: one bit or two are independent of y, and all three determine it. So
a method finds the first two only by chance. A method that detects the interaction selects the third
right after the second; any other finds the third by chance too.

*levels*: how many levels should a column of strings keep? Five useful columns: one of strings with
many levels, each with an effect of its own, and four of three levels; ten columns of noise are
strings with about a third of the rows as levels. The frequencies of levels fall like 1/rank. The
share of the useful columns among the first five selected, and how often the strings are among them.

--write puts the tables into docs/development/methods.md and levels.md.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

import hocmim
from common import markdown, options_of, write_table

SEED = 2022
N_SAMPLES = 4000
N_NOISE = 10
VARIANTS = {
    "HOCMIM-R": ("HOCMIM-R", {}),
    "HOCMIM-R, interactions=False": ("HOCMIM-R", {"interactions": False}),
    "HOCMIM": ("HOCMIM", {}),
    "HOCMIM, min_support=10": ("hocmim.criteria.hocmim:HOCMIMCriterion", {"min_support": 10}),
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
    method, parameters = VARIANTS.get(name, (name, {}))
    selector = hocmim.make_selector(method, n_features_to_select=len(same), **parameters)
    selected = set(selector.fit(X, y).selected_.tolist())
    return float(np.mean([bool(selected & one) for one in same]))


def measure(cases: dict[str, Case], n_tables: int, seed: int, show_shares: bool) -> str:
    """Every method on the tables of each case."""
    rng = np.random.default_rng(seed)
    numbers = {
        name: -(-n_tables // SHARE_OF_LARGE_TABLES) if case.is_large else n_tables
        for name, case in cases.items()
    }
    tables = {
        name: [table_of(case, rng) for _ in range(numbers[name])] for name, case in cases.items()
    }
    rows = []
    for name in [*VARIANTS, *(n for n in hocmim.list_methods() if n not in {*VARIANTS, *SLOW})]:
        cells = []
        for case, of in tables.items():
            if (name, case) in NOT_RUN:
                cells.append("–")
                continue
            shares = np.array([share_found(name, *table) for table in of])
            cell = f"{np.mean(shares == 1):.0%}"
            cells.append(f"{cell} ({shares.mean():.0%})" if show_shares else cell)
        rows.append([name, *cells])
        print(rows[-1], file=sys.stderr, flush=True)
    return markdown(["all useful columns found, with", *cases], rows)


# --- parity ---------------------------------------------------------------------------------------

PARITY_VARIANTS = {
    "HOCMIM-R": {},
    "HOCMIM-R, interactions=False": {"interactions": False},
    "HOCMIM": {},
    'HOCMIM, form="conditional"': {"form": "conditional"},
    'HOCMIM, estimator="plugin"': {"estimator": "plugin"},
}
PARITY_SHAPES = {"2000 samples, 10 noise columns": (2000, 13), "500 samples, 20": (500, 23)}


def parity_table(rng: np.random.Generator, n_samples: int, n_columns: int) -> Table:
    """Columns of fair coins, y the parity of three of them, and which these are."""
    X = rng.integers(2, size=(n_samples, n_columns))
    bits = rng.choice(n_columns, size=3, replace=False)
    return X, X[:, bits].sum(axis=1) % 2, [{bit} for bit in bits.tolist()]


def is_third_next(name: str, X: np.ndarray, y: np.ndarray, bits: list[set[int]]) -> bool:
    """Whether the third bit is selected right after the second."""
    given = PARITY_VARIANTS.get(name, {})
    selector = hocmim.make_selector(
        name.partition(",")[0], n_features_to_select=X.shape[1], **given
    )
    selected = selector.fit(X, y).selected_.tolist()
    _, second, third = sorted(selected.index(bit) for of in bits for bit in of)
    return third == second + 1


def by_chance(n_columns: int) -> float:
    """The probability of this in a random order."""
    orders = [(b, c) for c in range(2, n_columns) for b in range(1, c) for _ in range(b)]
    return float(np.mean([c == b + 1 for b, c in orders]))


def measure_parity(n_tables: int) -> str:
    rng = np.random.default_rng(SEED)
    tables = [
        [parity_table(rng, *shape) for _ in range(n_tables)] for shape in PARITY_SHAPES.values()
    ]
    rows = []
    methods = (name for name in hocmim.list_methods() if name not in PARITY_VARIANTS)
    for name in [*PARITY_VARIANTS, *methods]:
        shares = [np.mean([is_third_next(name, *one) for one in of]) for of in tables]
        rows.append([name, *(f"{share:.0%}" for share in shares)])
        print(rows[-1], file=sys.stderr, flush=True)
    chances = (by_chance(n_columns) for _, n_columns in PARITY_SHAPES.values())
    rows.append(["*in random order*", *(f"*{chance:.0%}*" for chance in chances)])
    return markdown(["third bit right after the second:", *PARITY_SHAPES], rows)


# --- levels ---------------------------------------------------------------------------------------

LEVEL_METHODS = ("MIM", "JMI", "HOCMIM-R")
LIMITS = ("auto", 8, 16, 32, 64, 128, 256, None)
LEVEL_ROWS = (300, 1000, 3000, 10_000)
N_LEVELS = 200
N_USEFUL = 5


def draw_levels(rng: np.random.Generator, n_rows: int, n_levels: int) -> np.ndarray:
    """Levels whose frequencies fall like 1/rank."""
    share = 1 / np.arange(1, n_levels + 1)
    return rng.choice(n_levels, n_rows, p=share / share.sum())


def levels_table(rng: np.random.Generator, n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """X and y; the useful columns come first."""
    places = draw_levels(rng, n_rows, N_LEVELS)
    few = rng.integers(3, size=(n_rows, N_USEFUL - 1))
    signal = rng.normal(size=N_LEVELS)[places] + few @ [0.8, 0.7, 0.6, 0.5]
    y = (signal + rng.logistic(size=n_rows) > np.median(signal)).astype(int)
    columns = {"place": places.astype(str)}
    columns |= {f"few{k}": few[:, k] for k in range(N_USEFUL - 1)}
    for k in range(N_NOISE):
        columns[f"noise{k}"] = draw_levels(rng, n_rows, n_rows // 3).astype(str)
    return pd.DataFrame(columns), y


def measure_levels(n_tables: int) -> str:
    rows = []
    for n_rows in LEVEL_ROWS:
        rng = np.random.default_rng(SEED)
        tables = [levels_table(rng, n_rows) for _ in range(n_tables)]
        for name in LEVEL_METHODS:
            cells = []
            for limit in LIMITS:
                selector = hocmim.make_selector(name, n_features_to_select=N_USEFUL)
                selector.set_params(encoder=hocmim.Encoder(max_levels=limit))
                chosen = [selector.fit(X, y).selected_ for X, y in tables]
                share = np.mean([(selected < N_USEFUL).mean() for selected in chosen])
                strings = np.mean([0 in selected for selected in chosen])
                cells.append(f"{share:.0%}, {strings:.0%}")
            rows.append([n_rows, name, *cells])
            print(rows[-1], file=sys.stderr, flush=True)
    return markdown(["rows", "method", *LIMITS], rows)


PARTS: dict[str, tuple[str, Callable[[int], str]]] = {
    "sees": ("methods", lambda n: measure(CASES, n, SEED, show_shares=False)),
    "harder": ("methods", lambda n: measure(HARDER, n, SEED + 1, show_shares=True)),
    "parity": ("methods", measure_parity),
    "levels": ("levels", measure_levels),
}


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--tables", type=int)
    options = parser.parse_args()
    warnings.simplefilter("ignore", hocmim.DataWarning)
    for name in options.parts or PARTS:
        page, make = PARTS[name]
        text = make(options.tables or (1 if options.quick else 20))
        print(f"{text}\n", flush=True)
        if options.write:
            write_table(f"development/{page}.md", name, text)


if __name__ == "__main__":
    main()

"""How many useful columns does each method find for a target that is a quantity?

Seeded tables whose useful columns are known: Friedman 1, 2 and 3, a linear model, and diabetes; all
with columns of noise, one with noisy copies. Each method selects as many columns as are useful. The
figure is the share of them among the selected columns; a copy counts as its original, once.
--write puts the tables into docs/development/regression.md.

    python benchmarks/regression.py [methods] [bins] [--tables 20] [--quick] [--write]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.datasets import (
    load_diabetes,
    make_friedman1,
    make_friedman2,
    make_friedman3,
    make_regression,
)
from sklearn.feature_selection import f_regression, mutual_info_regression

import hocmim
from common import markdown, options_of, write_table
from hocmim.errors import HocmimWarning

SEED = 2022
N_NOISE = 40
SIZES = (100, 300, 1000)
BINS = (2, 3, 4, 5, 6, 8, 10, 15)
METHODS = ("HOCMIM-R", "HOCMIM", "JMI", "MIM", "Fisher", "ReliefF", "FS-OLS")
BINNED = ("HOCMIM-R", "HOCMIM", "JMI", "MIM")
Select = Callable[[np.ndarray, np.ndarray, int], list[int]]


class Known(NamedTuple):
    """A table, its target, the useful column that each column stands for (-1: none), and K."""

    X: np.ndarray
    y: np.ndarray
    source: np.ndarray
    n_select: int


def with_noise(rng: np.random.Generator, useful: np.ndarray, y: np.ndarray, n_copies: int) -> Known:
    """Add copies of each useful column with noise, and columns of noise; shuffle the columns."""
    n_useful = useful.shape[1]
    sources = np.concatenate([np.tile(np.arange(n_useful), 1 + n_copies), np.full(N_NOISE, -1)])
    copies = []
    for _ in range(n_copies):
        copies.append(useful + 0.3 * useful.std(axis=0) * rng.normal(size=useful.shape))
    noise = np.column_stack([rng.permutation(useful[:, j % n_useful]) for j in range(N_NOISE)])
    X = np.column_stack([useful, *copies, noise])
    order = rng.permutation(X.shape[1])
    return Known(X[:, order], y, sources[order], n_useful)


def friedman(
    make: Callable[..., tuple[np.ndarray, np.ndarray]], n_useful: int, n_copies: int = 0
) -> Callable[[np.random.Generator, int], Known]:
    def table(rng: np.random.Generator, n_rows: int) -> Known:
        X, y = make(n_rows, random_state=int(rng.integers(2**31)))
        y = y + 0.3 * y.std() * rng.normal(size=n_rows)
        return with_noise(rng, X[:, :n_useful], y, n_copies)

    return table


def linear(rng: np.random.Generator, n_rows: int) -> Known:
    seed = int(rng.integers(2**31))
    X, y = make_regression(n_rows, 8, n_informative=8, random_state=seed)
    return with_noise(rng, X, y + 0.5 * y.std() * rng.normal(size=n_rows), 0)


def diabetes(rng: np.random.Generator, n_rows: int) -> Known:
    """At most 442 patients. All ten columns count as useful, and five are selected."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    rows = rng.permutation(len(y))[:n_rows]
    return with_noise(rng, X[rows], y[rows], 0)._replace(n_select=5)


TABLES: dict[str, Callable[[np.random.Generator, int], Known]] = {
    "Friedman 1": friedman(make_friedman1, 5),
    "Friedman 1, copies": friedman(make_friedman1, 5, 2),
    "Friedman 2": friedman(make_friedman2, 4),
    "Friedman 3": friedman(make_friedman3, 4),
    "linear": linear,
    "diabetes": diabetes,
}


def by_selector(method: str, **parameters: object) -> Select:
    def select(X: np.ndarray, y: np.ndarray, k: int) -> list[int]:
        selector = hocmim.make_selector(
            method, n_features_to_select=k, **({"target": "quantity"} | parameters)
        )
        return selector.fit(X, y).selected_.tolist()

    return select


def by_scores(scores: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Select:
    def select(X: np.ndarray, y: np.ndarray, k: int) -> list[int]:
        return np.argsort(-scores(X, y), kind="stable")[:k].tolist()

    return select


PEERS: dict[str, Select] = {
    "f_regression": by_scores(lambda X, y: f_regression(X, y)[0]),
    "mutual_info_regression": by_scores(lambda X, y: mutual_info_regression(X, y, random_state=0)),
}


def recovery(select: Select, known: Known) -> float:
    """The useful columns that are selected, or a copy of them, as a share of K."""
    found = known.source[select(known.X, known.y, known.n_select)]
    return len(set(found[found >= 0].tolist())) / known.n_select


def tables_of(case: str, n_rows: int, n_tables: int) -> list[Known]:
    return [
        TABLES[case](np.random.default_rng([SEED, n_rows, number]), n_rows)
        for number in range(n_tables)
    ]


def compare(selects: dict[str, Select], sizes: tuple[int, ...], n_tables: int) -> np.ndarray:
    """The mean recovery of each method, table and size."""
    found = np.empty((len(selects), len(TABLES), len(sizes)))
    for b, case in enumerate(TABLES):
        for c, n_rows in enumerate(sizes):
            tables = tables_of(case, n_rows, n_tables)
            for a, select in enumerate(selects.values()):
                found[a, b, c] = np.mean([recovery(select, known) for known in tables])
    return found


def methods_table(n_tables: int) -> str:
    selects = {name: by_selector(name) for name in METHODS} | PEERS
    found = compare(selects, (100, 1000), n_tables)
    titles = [f"{case}, {n}" for case in TABLES for n in ("100", "1000")]
    rows = [
        [name, *(f"{share:.0%}" for share in shares.ravel()), f"{shares.mean():.0%}"]
        for name, shares in zip(selects, found, strict=True)
    ]
    return markdown(["useful columns found, rows", *titles, "mean"], rows)


def bins_table(n_tables: int) -> str:
    rows = []
    for n_rows in SIZES:
        for cut in ("quantile", "uniform"):
            cells = []
            for bins in BINS:
                how = {"target": hocmim.Target("quantity", bins=bins, discretizer=cut)}
                selects = {name: by_selector(name, **how) for name in BINNED}
                cells.append(f"{compare(selects, (n_rows,), n_tables).mean():.1%}")
            rows.append([n_rows, cut, *cells])
    return markdown(["rows", "cut", *(f"{bins} bins" for bins in BINS)], rows)


PARTS = {"methods": methods_table, "bins": bins_table}


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--tables", type=int)
    options = parser.parse_args()
    warnings.simplefilter("ignore", HocmimWarning)
    for part in options.parts or PARTS:
        text = PARTS[part](options.tables or (1 if options.quick else 20))
        print(f"{text}\n", flush=True)
        if options.write:
            write_table("development/regression.md", part, text)


if __name__ == "__main__":
    main()

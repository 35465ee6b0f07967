"""Tables whose columns tell about the target only together, and how many of them a method finds.

Two families, made by formulas:

Passemiers et al.
    RING, XOR, RING+XOR and RING+XOR+SUM: uniform columns, of which 2, 2, 4 and 6 decide the target.
    The figures that they published are beside ours.
Epistasis
    Genotypes (0, 1, 2 copies of a rare allele) and a disease that depends on two or three of them
    through a penetrance table without marginal effects: no genotype alone, and of three no pair,
    changes the risk. In the heterogeneous table two pairs decide, each for half of the rows.

``python -m hocmim.experiments.interactions`` prints what HOCMIM-R finds, with and without its
screen for interactions, beside other methods.

References
----------
Passemiers, Folco, Raimondi, Birolo, Moreau, Fariselli: A quantitative benchmark of neural network
feature selection methods for detecting nonlinear signals. Scientific Reports 14, 2024.
Urbanowicz, Kiralis, Sinnott-Armstrong, Heberling, Fisher, Moore: GAMETES: a fast, direct algorithm
for generating pure, strict, epistatic models with random architectures. BioData Mining 5, 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PASSEMIERS = ("RING", "XOR", "RING+XOR", "RING+XOR+SUM")
N_FOLDS = 6
# Published: the share of the p true columns among the first p, in percent, at 1000 rows; the mean
# over 2 to 2048 columns.
PUBLISHED = {
    "random forest": (100, 54.5, 88.8, 85.3),
    "TreeSHAP": (100, 40.2, 81.7, 78.3),
    "mRMR": (100, 11.4, 81.7, 74.7),
    "mutual information": (92.6, 18.2, 39.6, 40.8),
    "LassoNet": (34.8, 81.8, 44.6, 64.2),
    "Relief": (40.2, 72.7, 37.1, 43.9),
}
# The best of all published methods by the number of rows.
BEST_PUBLISHED = {1000: (100, 82, 89, 85), 500: (98, 73, 66, 64), 250: (88, 48, 38, 51)}

# Columns that decide the disease, heritability, and number of models.
EPISTASIS = {"two-way": (2, 0.4, 1), "three-way": (3, 0.2, 1), "heterogeneous": (2, 0.4, 2)}
MINOR_ALLELE = 0.2
EPISTASIS_ROWS = 1600


class InteractionTable(NamedTuple):
    """A table, its target, and the columns that decide it."""

    X: NDArray[Any]
    y: NDArray[np.int64]
    useful: frozenset[int]


def passemiers_table(name: str, n_rows: int, n_columns: int, seed: int = 0) -> InteractionTable:
    """Return one of the four tables; ``n_columns`` is at least the number of useful ones."""
    kind = PASSEMIERS.index(name)
    n_useful = (2, 2, 4, 6)[kind]
    rng = np.random.default_rng([seed, kind, n_rows, n_columns])
    X = rng.random((n_rows, max(n_columns, n_useful)))
    distance = np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35)
    if kind == 0:
        y = distance <= 0.1151
    elif kind == 1:
        y = (X[:, 0] - 0.5) * (0.5 - X[:, 1]) >= 0
    elif kind == 2:
        y = (distance <= 0.0704) | ((X[:, 2] - 0.5) * (0.5 - X[:, 3]) >= 0.0337)
    else:
        y = (distance <= 0.0479) | ((X[:, 2] - 0.5) * (0.5 - X[:, 3]) >= 0.0598)
        y |= X[:, 4] + X[:, 5] + rng.normal(0, 0.2, n_rows) >= 1.4074
    return _shuffled(X, y, n_useful, rng)


def epistasis_table(
    name: str, n_columns: int, seed: int = 0, n_rows: int = EPISTASIS_ROWS
) -> InteractionTable:
    """Return a table of genotypes and a disease, with as many cases as controls."""
    order, heritability, n_models = EPISTASIS[name]
    rng = np.random.default_rng([seed, order, n_models, n_columns, n_rows])
    frequency = np.array([(1 - MINOR_ALLELE) ** 2, 2 * MINOR_ALLELE * (1 - MINOR_ALLELE),
                          MINOR_ALLELE**2])  # fmt: skip
    X = rng.choice(3, (n_rows, n_columns), p=frequency)
    y = np.arange(n_rows) % 2
    for model in range(n_models):
        rows = np.arange(n_rows) * n_models // n_rows == model
        columns = np.arange(order) + order * model
        risk = penetrance(order, heritability, frequency, rng)
        cells = np.ones(())
        for _ in range(order):
            cells = np.multiply.outer(cells, frequency)
        for disease in (0, 1):
            chosen = np.flatnonzero(rows & (y == disease))
            weight = (cells * (risk if disease else 1 - risk)).ravel()
            drawn = rng.choice(weight.size, len(chosen), p=weight / weight.sum())
            X[np.ix_(chosen, columns)] = np.stack(np.unravel_index(drawn, risk.shape), 1)
    order_of_rows = rng.permutation(n_rows)
    return _shuffled(X[order_of_rows], y[order_of_rows] == 1, order * n_models, rng)


def penetrance(
    order: int, heritability: float, frequency: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the risk of each combination of genotypes: no smaller set of them changes it.

    The heritability is the variance of the risk over K(1 − K), K being the mean risk.
    """
    while True:
        effect = rng.normal(size=(len(frequency),) * order)
        for axis in range(order):  # the mean over any of the columns is 0
            effect -= np.expand_dims(np.tensordot(effect, frequency, (axis, 0)), axis)
        weight = np.ones(())
        for _ in range(order):
            weight = np.multiply.outer(weight, frequency)
        low, high = -effect.min(), effect.max()
        possible = float((weight * effect**2).sum() / (low * high))
        if possible >= heritability:
            share = np.sqrt(heritability / possible)
            return np.asarray((low + share * effect) / (low + high))


def _shuffled(
    X: NDArray[Any], y: NDArray[np.bool_], n_useful: int, rng: np.random.Generator
) -> InteractionTable:
    """Shuffle the columns; the useful ones come first before."""
    order = rng.permutation(X.shape[1])
    useful = frozenset(np.flatnonzero(order < n_useful).tolist())
    return InteractionTable(X[:, order], y.astype(np.int64), useful)


Select = Callable[[NDArray[Any], NDArray[np.int64], int], Iterable[int]]


def share_found(select: Select, table: InteractionTable, folds: Sequence[int] = ()) -> float:
    """Return the share of the p useful columns among the first p selected.

    The mean over ``folds`` of six, each without a sixth of the rows; without folds, of all rows.
    """
    p = len(table.useful)
    n_found = []
    for fold in folds or [-1]:
        rows = np.arange(len(table.y)) % N_FOLDS != fold
        chosen = select(table.X[rows], table.y[rows], p)
        n_found.append(len(table.useful & {int(j) for j in chosen}))
    return float(np.mean(n_found)) / p


def passemiers_shares(
    select: Select,
    n_rows: int,
    columns: Sequence[int] = (8, 64, 512),
    folds: Sequence[int] = (0, 1),
) -> dict[str, float]:
    """Return the share found of each of the four tables, the mean over numbers of columns."""
    return {
        name: float(
            np.mean(
                [share_found(select, passemiers_table(name, n_rows, D), folds) for D in columns]
            )
        )
        for name in PASSEMIERS
    }


def epistasis_shares(
    select: Select, columns: Sequence[int] = (20, 100, 1000), seeds: Sequence[int] = (0, 1, 2)
) -> dict[str, dict[int, float]]:
    """Return the share found of each kind of table, by the number of columns."""
    return {
        name: {
            D: float(
                np.mean([share_found(select, epistasis_table(name, D, seed)) for seed in seeds])
            )
            for D in columns
        }
        for name in EPISTASIS
    }


def our_method(name: str, **parameters: Any) -> Select:
    """Return a method of this package as a function."""
    from hocmim import make_selector

    def select(X: NDArray[Any], y: NDArray[np.int64], p: int) -> Iterable[int]:
        return make_selector(name, n_features_to_select=p, **parameters).fit(X, y).selected_

    return select


def forest(X: NDArray[Any], y: NDArray[np.int64], p: int) -> Iterable[int]:
    """Return the columns that are most important to a random forest."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(300, random_state=0, n_jobs=-1).fit(X, y)
    return np.argsort(-model.feature_importances_, kind="stable")[:p]


METHODS: dict[str, Select] = {
    "HOCMIM-R": our_method("HOCMIM-R", interactions="auto"),
    "HOCMIM-R, interactions=False": our_method("HOCMIM-R", interactions=False),
    "JMI": our_method("JMI"),
    "mRMR": our_method("mRMR"),
    "random forest": forest,
}


def main(
    methods: Sequence[str] = tuple(METHODS),
    rows: Sequence[int] = (250, 500, 1000),
    columns: Sequence[int] = (8, 64, 512),
    epistasis_columns: Sequence[int] = (20, 100, 1000),
) -> None:
    """Print two tables, in Markdown: shares in percent."""
    print("| rows | method | " + " | ".join(PASSEMIERS) + " |")
    print("|---|---|" + "---|" * len(PASSEMIERS))
    for n_rows in rows:
        for name in methods:
            found = passemiers_shares(METHODS[name], n_rows, columns)
            shares = " | ".join(f"{100 * share:.0f}" for share in found.values())
            print(f"| {n_rows} | {name} | {shares} |", flush=True)
        best = " | ".join(str(share) for share in BEST_PUBLISHED[n_rows])
        print(f"| {n_rows} | best published | {best} |", flush=True)
    print("\n| epistasis | columns | " + " | ".join(methods) + " |")
    print("|---|---|" + "---|" * len(methods))
    shares_of = {name: epistasis_shares(METHODS[name], epistasis_columns) for name in methods}
    for kind in EPISTASIS:
        for D in epistasis_columns:
            shares = " | ".join(f"{100 * shares_of[name][kind][D]:.0f}" for name in methods)
            print(f"| {kind} | {D} | {shares} |")


if __name__ == "__main__":
    main()

"""Tables whose columns tell about the target only together.

Three families, made by formulas:

Passemiers et al.
    RING, XOR, RING+XOR and RING+XOR+SUM: uniform columns, of which 2, 2, 4 and 6 decide the target.
    The figures that they published are beside ours.
Epistasis
    Genotypes (0, 1, 2 copies of a rare allele) and a disease that depends on two or three of them
    through a penetrance table without marginal effects: no genotype alone, and of three no pair,
    changes the risk. In the heterogeneous table two pairs decide, each for half of the rows.
Hypercube
    Clusters at the corners of a cube of five dimensions, each corner of a random class, and fifteen
    linear combinations of the five columns, as in madelon (``make_classification``).

References
----------
Passemiers, Folco, Raimondi, Birolo, Moreau, Fariselli: A quantitative benchmark of neural network
feature selection methods for detecting nonlinear signals. Scientific Reports 14, 2024.
Urbanowicz, Kiralis, Sinnott-Armstrong, Heberling, Fisher, Moore: GAMETES: a fast, direct algorithm
for generating pure, strict, epistatic models with random architectures. BioData Mining 5, 2012.
Guyon: Design of experiments of the NIPS 2003 variable selection benchmark (madelon).
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification

# The columns that decide the target, which come first.
PASSEMIERS = {"RING": 2, "XOR": 2, "RING+XOR": 4, "RING+XOR+SUM": 6}
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
FREQUENCY = np.array(
    [(1 - MINOR_ALLELE) ** 2, 2 * MINOR_ALLELE * (1 - MINOR_ALLELE), MINOR_ALLELE**2]
)
N_INFORMATIVE, N_COMBINATIONS = 5, 15

Made = tuple[NDArray[np.float64], NDArray[np.int64], int]


def passemiers_table(name: str, n_columns: int, n_rows: int, rng: np.random.Generator) -> Made:
    """Return X, y and the number of useful columns, which come first."""
    X = rng.random((n_rows, n_columns))
    ring = np.abs(np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) - 0.35)
    if name == "RING":
        y = ring <= 0.1151
    elif name == "XOR":
        y = (X[:, 0] - 0.5) * (0.5 - X[:, 1]) >= 0
    else:
        exclusive = (X[:, 2] - 0.5) * (0.5 - X[:, 3])
        if name == "RING+XOR":
            y = (ring <= 0.0704) | (exclusive >= 0.0337)
        else:
            y = (ring <= 0.0479) | (exclusive >= 0.0598)
            y |= X[:, 4] + X[:, 5] + rng.normal(0, 0.2, n_rows) >= 1.4074
    return X, y.astype(np.int64), PASSEMIERS[name]


def epistasis_table(name: str, n_columns: int, n_rows: int, rng: np.random.Generator) -> Made:
    """Return genotypes, a disease with as many cases as controls, and the useful columns."""
    order, heritability, n_models = EPISTASIS[name]
    X = rng.choice(3, (n_rows, n_columns), p=FREQUENCY)
    y = np.arange(n_rows) % 2
    for model in range(n_models):
        rows = np.arange(n_rows) * n_models // n_rows == model
        columns = np.arange(order) + order * model
        risk = penetrance(order, heritability, rng)
        for disease in (0, 1):
            chosen = np.flatnonzero(rows & (y == disease))
            weight = (cells(order) * (risk if disease else 1 - risk)).ravel()
            drawn = rng.choice(weight.size, len(chosen), p=weight / weight.sum())
            X[np.ix_(chosen, columns)] = np.stack(np.unravel_index(drawn, risk.shape), 1)
    return X.astype(np.float64), y, order * n_models


def penetrance(order: int, heritability: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the risk of each combination of genotypes: no smaller set of them changes it.

    The heritability is the variance of the risk over K(1 − K), K being the mean risk.
    """
    while True:
        effect = rng.normal(size=(len(FREQUENCY),) * order)
        for axis in range(order):  # the mean over any of the columns is 0
            effect -= np.expand_dims(np.tensordot(effect, FREQUENCY, (axis, 0)), axis)
        low, high = -effect.min(), effect.max()
        possible = float((cells(order) * effect**2).sum() / (low * high))
        if possible >= heritability:
            share = np.sqrt(heritability / possible)
            return np.asarray((low + share * effect) / (low + high))


def cells(order: int) -> NDArray[np.float64]:
    """Return the frequency of each combination of genotypes."""
    return np.asarray(reduce(np.multiply.outer, [FREQUENCY] * order))


def hypercube_table(n_columns: int, n_rows: int, rng: np.random.Generator) -> Made:
    """Return X, y and the number of useful columns: the informative ones and combinations."""
    made: tuple[Any, Any] = make_classification(
        n_rows,
        n_columns,
        n_informative=N_INFORMATIVE,
        n_redundant=N_COMBINATIONS,
        n_clusters_per_class=2 ** (N_INFORMATIVE - 1),
        shuffle=False,
        random_state=int(rng.integers(2**31)),
    )
    return made[0], made[1].astype(np.int64), N_INFORMATIVE + N_COMBINATIONS

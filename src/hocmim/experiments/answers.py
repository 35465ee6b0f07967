"""Tables with known answers, generated from seeds: which columns are useful is known.

Three families, which need neither a network nor a folder of data:

* *Noise added to real tables* of scikit-learn. The original columns count as useful, the added ones
  as useless. Three kinds of added columns:

  ============  ==================================================================================
  random        an original column with its rows permuted: independent of the class
  corrupted     an original column plus normal noise of the same standard deviation
  second-order  the product of two standardised original columns
  ============  ==================================================================================

  Given the original columns, no added column tells anything about the class.

* *Classes of sampled Bayesian networks.* The useful columns are the Markov blanket of the class:
  its parents, its children and the other parents of its children. Given these, no other column
  tells anything about the class.

* *Interactions*: columns that tell about the class only together (:mod:`.interactions`).

The order of rows and columns is random. The same case, number and seed give the same table.

References
----------
V. Cherepanova et al., A performance-driven benchmark for feature selection in tabular deep
learning, NeurIPS 2023 (random, corrupted and second-order columns).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets

from hocmim.experiments.datasets import DataSet, make_data_set
from hocmim.experiments.interaction_tables import (
    EPISTASIS,
    PASSEMIERS,
    Made,
    epistasis_table,
    hypercube_table,
    passemiers_table,
)

# --- noise added to real tables -------------------------------------------------------------------

REAL = ("iris", "diabetes", "wine", "breast cancer", "digits")
KINDS = ("random", "corrupted", "second-order")
MIN_ADDED = 20
MAX_REAL_ROWS = 1000

Matrix = NDArray[np.float64]


def load_real(name: str) -> tuple[Matrix, NDArray[np.int64]]:
    """Return a table of scikit-learn without its constant columns.

    The class of diabetes is whether the progression is above the median.
    """
    load = getattr(sklearn_datasets, f"load_{name.replace(' ', '_')}")
    X, y = load(return_X_y=True)
    if name == "diabetes":
        y = y > np.median(y)
    return np.asarray(X[:, np.ptp(X, axis=0) > 0], np.float64), np.asarray(y, np.int64)


def added_columns(X: Matrix, kind: str, n_added: int, rng: np.random.Generator) -> Matrix:
    """Return columns that tell nothing about the class beyond the columns of X."""
    chosen = _draw_columns(X.shape[1], n_added, rng)
    if kind == "random":
        return rng.permuted(X[:, chosen], axis=0)
    if kind == "corrupted":
        noise = rng.normal(size=(len(X), n_added))
        return X[:, chosen] + noise * X[:, chosen].std(axis=0)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    others = (chosen + rng.integers(1, X.shape[1], size=n_added)) % X.shape[1]
    return np.asarray(standard[:, chosen] * standard[:, others])


def _draw_columns(n_columns: int, n_drawn: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw columns at random, each about equally often."""
    rounds = [rng.permutation(n_columns) for _ in range(-(-n_drawn // n_columns))]
    return np.concatenate(rounds)[:n_drawn]


def noisy_table(real: str, kind: str, rng: np.random.Generator) -> Made:
    """Return X, y and the number of useful columns, which come first.

    As many columns are added as there are, and at least ``MIN_ADDED``. Of a long table
    ``MAX_REAL_ROWS`` random rows are used.
    """
    X, y = load_real(real)
    rows = rng.permutation(len(X))[:MAX_REAL_ROWS]
    X, y = X[rows], y[rows]
    X = X[:, np.ptp(X, axis=0) > 0]
    added = added_columns(X, kind, max(X.shape[1], MIN_ADDED), rng)
    return np.hstack([X, added]), y, X.shape[1]


# --- Bayesian networks ----------------------------------------------------------------------------

MAX_PARENTS = 3
MIN_LEVELS, MAX_LEVELS = 2, 4
CONCENTRATION = 0.5
MIN_BLANKET, MAX_BLANKET = 5, 10
MAX_CLASS_SHARE = 0.7
MAX_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network of discrete variables; the parents of a variable have smaller numbers."""

    parents: list[list[int]]
    # The conditional probabilities, of shape (levels of parent 1, …, levels of the variable).
    tables: list[Matrix]

    def blanket(self, target: int) -> set[int]:
        """Return the Markov blanket: parents, children, and other parents of the children."""
        children = [child for child, of in enumerate(self.parents) if target in of]
        related = {*self.parents[target], *children}
        for child in children:
            related.update(self.parents[child])
        return related - {target}

    def sample(self, n_rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the levels of all variables, shape (n_rows, variables)."""
        values = np.empty((n_rows, len(self.parents)), np.int64)
        for variable, (of, table) in enumerate(zip(self.parents, self.tables, strict=True)):
            shares = table[tuple(values[:, parent] for parent in of)]
            limits = np.broadcast_to(shares, (n_rows, table.shape[-1])).cumsum(axis=1)
            drawn = (rng.random(n_rows)[:, None] > limits).sum(axis=1)
            values[:, variable] = np.minimum(drawn, table.shape[-1] - 1)
        return values


def random_network(n_variables: int, rng: np.random.Generator) -> Network:
    """Return a network with up to ``MAX_PARENTS`` random parents of each variable.

    Variables have 2 to 4 levels. Each row of a conditional table is drawn from a symmetric
    Dirichlet distribution.
    """
    levels = rng.integers(MIN_LEVELS, MAX_LEVELS + 1, size=n_variables)
    parents, tables = [], []
    for variable in range(n_variables):
        number = min(variable, int(rng.integers(MAX_PARENTS + 1)))
        of = sorted(rng.choice(variable, size=number, replace=False).tolist()) if number else []
        shape = tuple(int(levels[parent]) for parent in of)
        concentration = np.full(levels[variable], CONCENTRATION)
        parents.append(of)
        tables.append(rng.dirichlet(concentration, size=shape or None))
    return Network(parents, tables)


def network_table(n_columns: int, n_rows: int, rng: np.random.Generator) -> Made:
    """Return X, y and the number of useful columns, which come first.

    The class is a random variable with a Markov blanket of 5 to 10 columns, and no class has more
    than 70 % of the rows. If there is none, another network is drawn.
    """
    for _ in range(MAX_DRAWS):
        network = random_network(n_columns + 1, rng)
        values = network.sample(n_rows, rng)
        for target in rng.permutation(n_columns + 1).tolist():
            blanket = sorted(network.blanket(target))
            share = np.bincount(values[:, target]).max() / n_rows
            if MIN_BLANKET <= len(blanket) <= MAX_BLANKET and share <= MAX_CLASS_SHARE:
                others = sorted({*range(n_columns + 1)} - {target, *blanket})
                X = values[:, [*blanket, *others]].astype(np.float64)
                return X, values[:, target], len(blanket)
    raise RuntimeError(f"No network of {n_columns + 1} variables has a suitable class.")


# --- cases ----------------------------------------------------------------------------------------

NOISE, NETWORK, INTERACTION = "noise", "network", "interaction"
PASSEMIERS_ROWS, PASSEMIERS_COLUMNS = (1000, 500, 250), (8, 64, 512, 2048)
EPISTASIS_COLUMNS, EPISTASIS_ROWS = (20, 100, 1000), 1600
HYPERCUBE = "hypercube 500 × 2000"


class Case(NamedTuple):
    """A kind of table."""

    family: str  # "noise", "network" or "interaction"
    # Returns X, y and the number of useful columns, which come first
    make: Callable[[np.random.Generator], Made]


def passemiers_case(name: str, n_columns: int, n_rows: int) -> str:
    """Return the name of a case: ``n_rows`` are the rows of the published table."""
    return f"{name} {n_columns} × {n_rows}"


def _cases() -> Iterator[tuple[str, Case]]:
    for kind, real in product(KINDS, REAL):
        yield f"{real} + {kind}", Case(NOISE, partial(noisy_table, real, kind))
    for size in product((30, 100), (400, 2000, 10_000)):
        yield "network {} × {}".format(*size), Case(NETWORK, partial(network_table, *size))
    # Half of the rows select: as many as the published five folds of six, or as the name says.
    for name, columns, rows in product(PASSEMIERS, PASSEMIERS_COLUMNS, PASSEMIERS_ROWS):
        table = partial(passemiers_table, name, columns, 2 * (rows * 5 // 6))
        yield passemiers_case(name, columns, rows), Case(INTERACTION, table)
    for name, columns in product(EPISTASIS, EPISTASIS_COLUMNS):
        table = partial(epistasis_table, name, columns, 2 * EPISTASIS_ROWS)
        yield f"{name} {columns} × {EPISTASIS_ROWS}", Case(INTERACTION, table)
    yield HYPERCUBE, Case(INTERACTION, partial(hypercube_table, 500, 4000))


CASES = dict(_cases())


@dataclass(frozen=True)
class KnownSource:
    """The table of a case with a number."""

    case: str  # A name in ``CASES``
    number: int
    seed: int = 0

    @property
    def name(self) -> str:
        """The name of the table."""
        return f"{self.case} {self.number + 1}"

    def load(self) -> DataSet:
        """Generate the table, its rows and columns in random order."""
        at = list(CASES).index(self.case)
        rng = np.random.default_rng([self.seed, at, self.number])
        X, y, n_useful = CASES[self.case].make(rng)
        columns, rows = rng.permutation(X.shape[1]), rng.permutation(len(y))
        data = make_data_set(self.name, X[np.ix_(rows, columns)], y[rows])
        return replace(data, useful=tuple(np.flatnonzero(columns < n_useful).tolist()))

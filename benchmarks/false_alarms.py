"""How often the screen keeps a pair or triple by chance: tables without any synergy.

    python benchmarks/false_alarms.py [--quick] [--write] [--tables 100] [--columns 40]

Each table has α = 0.01 for its pairs and 0.01 for its triples. Shown are the shares of tables with
a kept pair and with a kept triple, beside the share with a pair by the plain χ² test, each with its
95 % interval. --write writes results/false_alarms.md and into docs/development/interactions.md.
"""

from itertools import product
from unittest import mock

import numpy as np
from scipy.stats import binomtest

from common import markdown, options_of, write_result, write_table
from hocmim.coding.codes import Codes, Column
from hocmim.search.interactions import ScreenedTable, screen


def uniform(rng, n, D, levels, classes):
    return rng.integers(0, levels, (n, D)), rng.integers(0, classes, n)


def skewed(rng, n, D, levels, classes):
    """Levels of very different frequency, a different distribution for each column."""
    p = [rng.dirichlet(np.full(levels, 0.5)) for _ in range(D)]
    return np.stack([rng.choice(levels, n, p=q) for q in p], 1), rng.integers(0, classes, n)


def rare_class(rng, n, D, levels, classes):
    """All classes but the first have 4 % of the rows each."""
    p = np.r_[1 - 0.04 * (classes - 1), np.full(classes - 1, 0.04)]
    return rng.integers(0, levels, (n, D)), rng.choice(classes, n, p=p)


def skewed_and_rare(rng, n, D, levels, classes):
    return skewed(rng, n, D, levels, classes)[0], rare_class(rng, n, D, levels, classes)[1]


def main_effects(rng, n, D, levels, classes):
    """A third of the columns depend on the target, independently of each other given it."""
    X, y = uniform(rng, n, D, levels, classes)
    for j in range(D // 3):
        X[:, j] = np.where(rng.random(n) < rng.uniform(0.05, 0.7), y % levels, X[:, j])
    return X, y


def one_main_effect(rng, n, D, levels, classes):
    X, y = uniform(rng, n, D, levels, classes)
    X[:, 0] = np.where(rng.random(n) < 0.8, y % levels, X[:, 0])
    return X, y


def correlated(rng, n, D, levels, classes):
    """Columns in families of five that share a base."""
    X, y = uniform(rng, n, D, levels, classes)
    base = rng.integers(0, levels, (n, 1 + D // 5))
    for j in range(D):
        X[:, j] = np.where(rng.random(n) < rng.uniform(0.3, 0.95), base[:, j // 5], X[:, j])
    return X, y


def correlated_main_effects(rng, n, D, levels, classes):
    """Families of five; the base of the first family depends on the target."""
    X, y = uniform(rng, n, D, levels, classes)
    base = rng.integers(0, levels, (n, 1 + D // 5))
    base[:, 0] = np.where(rng.random(n) < 0.6, y % levels, base[:, 0])
    for j in range(D):
        X[:, j] = np.where(rng.random(n) < rng.uniform(0.3, 0.95), base[:, j // 5], X[:, j])
    return X, y


def duplicated(rng, n, D, levels, classes):
    X, y = uniform(rng, n, D, levels, classes)
    X[:, 1::2] = X[:, ::2][:, : X[:, 1::2].shape[1]]
    X[:, :2] = (np.where(rng.random(n) < 0.5, y % levels, X[:, 0]))[:, None]
    return X, y


def near_copies(rng, n, D, levels, classes):
    """Every column twice, with some noise; the first ones depend on the target."""
    X, y = uniform(rng, n, D, levels, classes)
    X[:, 0] = np.where(rng.random(n) < 0.5, y % levels, X[:, 0])
    for j in range(0, D - 1, 2):
        X[:, j + 1] = np.where(rng.random(n) < 0.9, X[:, j], X[:, j + 1])
    return X, y


KINDS = [
    uniform,
    skewed,
    rare_class,
    skewed_and_rare,
    one_main_effect,
    main_effects,
    correlated,
    correlated_main_effects,
    duplicated,
    near_copies,
]
SHAPES = [
    (60, 2, 2),
    (60, 3, 3),
    (250, 5, 2),
    (300, 3, 10),
    (1000, 5, 4),
    (1000, 2, 2),
    (10000, 5, 2),
]


def compact(values):
    return np.unique(values, return_inverse=True)[1].astype(np.uint8)


def screened(X, y, **options):
    columns = [Column(compact(x), len(np.unique(x))) for x in X.T]
    columns = [column for column in columns if column.arity > 1]
    codes = Codes.from_columns(columns)
    target = Column(compact(y), len(np.unique(y)))
    levels = codes.arity  # in order, as bins are
    table = ScreenedTable(
        codes.column, levels, levels, np.arange(codes.n_columns), int(levels.max())
    )
    return screen(table, [target], n_jobs=1, **options)


def has_chi2_pair(X, y):
    """Whether the plain χ² test would keep a pair."""
    law = "hocmim.search.interactions.interaction_p_values"
    with mock.patch(law, lambda tables, g, most: 0 * g):
        return bool(screened(X, y, sizes=[2]).kept)


def interval(n_found, n_tables):
    """The share in percent and its 95 % interval (Clopper and Pearson)."""
    bounds = binomtest(n_found, n_tables).proportion_ci(0.95)
    return f"{n_found / n_tables:.1%} ({bounds.low:.1%} – {bounds.high:.1%})"


def count_kept(kind, n, levels, classes, n_tables, n_columns):
    """How many tables have a kept pair, a kept triple, and a pair by the plain χ² test."""
    rng = np.random.default_rng([n, levels, classes, KINDS.index(kind)])
    found = np.zeros(3, int)
    for _ in range(n_tables):
        X, y = kind(rng, n, n_columns, levels, classes)
        kept = screened(X, y).kept
        for size in (2, 3):
            found[size - 2] += any(len(one.members) == size for one in kept)
        found[2] += has_chi2_pair(X, y)
    return found


def summary(title, rows):
    """A line of a table: all tables of a kind or of a shape together."""
    n_tables = sum(n for n, _ in rows)
    found = sum(found for _, found in rows)
    return [title, n_tables, *(interval(int(k), n_tables) for k in found)]


def main():
    parser = options_of(__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--columns", type=int, default=40)
    options = parser.parse_args()
    shapes = SHAPES[:2] if options.quick else SHAPES
    counted = {}
    for kind, shape in product(KINDS, shapes):
        n_tables = options.tables if shape[0] < 5000 else options.tables // 4
        found = count_kept(kind, *shape, n_tables, options.columns)
        counted[kind, shape] = n_tables, found
        print(kind.__name__, *shape, n_tables, *found, flush=True)
    header = ["tables", "number", "a pair", "a triple", "a pair by χ²"]
    lines = []
    for kind in KINDS:
        rows = [counted[kind, shape] for shape in shapes]
        lines.append(summary(kind.__name__.replace("_", " "), rows))
    for shape in shapes:
        title = "{:,} rows, {} levels, {} classes".format(*shape)
        lines.append(summary(title, [counted[kind, shape] for kind in KINDS]))
    lines.append(summary("all", list(counted.values())))
    text = markdown(header, lines)
    print(text)
    if options.write:
        cells = [
            [kind.__name__.replace("_", " "), *shape, n_tables, *found]
            for (kind, shape), (n_tables, found) in counted.items()
        ]
        columns = ["kind", "rows", "levels", "classes", *header[1:]]
        title = "Tables without synergy in which the screen keeps a pair or a triple"
        write_result("false_alarms.md", title, f"{text}\n\n{markdown(columns, cells)}")
        write_table("development/interactions.md", "false alarms", text)


if __name__ == "__main__":
    main()

"""Small seeded tables for the golden test.

Only ``integers`` and ``random`` of a PCG64 generator are used, and plain arithmetic, so that the
tables are the same under every version of numpy.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse


class Table(NamedTuple):
    """A table, its target, and how many columns the cases select from it."""

    X: Any
    y: Any
    n_select: int


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


def mixed_with(rng, column, other, share):
    """The column, with this share of its values taken from another."""
    return np.where(rng.random(len(column)) < share, other, column)


def related(rng, n, levels, y):
    """Columns of so many levels each, which say more or less of y and of each other."""
    columns = []
    for j, k in enumerate(levels):
        column = mixed_with(rng, rng.integers(0, k, n), y % k, (j % 5) * 0.12)
        if j % 3 == 2:
            column = mixed_with(rng, column, columns[j - 2] % k, 0.5)
        columns.append(column)
    return np.column_stack(columns)


def bells(rng, n, D):
    """Numbers about 0, more of them near it."""
    return rng.random((n, D)) + rng.random((n, D)) + rng.random((n, D)) - 1.5


def levels():
    """Whole numbers of few levels."""
    rng = generator(1)
    y = rng.integers(0, 3, 300)
    return Table(related(rng, 300, [2, 3, 4, 5] * 5, y), y, 10)


def floats():
    """Numbers that are cut."""
    rng = generator(2)
    X = bells(rng, 200, 15)
    X[:, 7] = X[:, 0] * 2 + X[:, 7] * 0.25
    X[:, 8] = X[:, 1] ** 3
    X[:, 9] = np.floor(X[:, 2] * 8) / 8
    y = (X[:, 0] + X[:, 1] * X[:, 2] * 3 + bells(rng, 200, 1)[:, 0] * 0.25 > 0).astype(np.int64)
    return Table(X, y, 6)


def mixed():
    """A DataFrame of all kinds of columns, complete."""
    rng = generator(3)
    n = 240
    y = rng.integers(0, 2, n)
    words = np.array(["red", "green", "blue", "äther"])
    sizes = ["small", "middle", "large"]
    X = pd.DataFrame(
        {
            "number": bells(rng, n, 1)[:, 0] + y * 0.5,
            "whole": rng.integers(-3, 40, n),
            "small": rng.integers(0, 3, n).astype(np.int8),
            "flag": rng.random(n) < 0.3 + 0.3 * y,
            "word": words[mixed_with(rng, rng.integers(0, 4, n), y, 0.4)],
            "size": pd.Categorical.from_codes(
                mixed_with(rng, rng.integers(0, 3, n), 2 - y, 0.3), sizes, ordered=True
            ),
            "single": np.full(n, "same"),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "half": bells(rng, n, 1)[:, 0].astype(np.float32),
        }
    )
    X["copy"] = X["word"]
    X["either"] = X["flag"].to_numpy() ^ (y == 1) ^ (rng.random(n) < 0.1)
    target = pd.Series(np.array(["no", "yes"])[y], name="target")
    return Table(X, target, 6)


def gaps():
    """The same with missing values of each kind."""
    X, y, n_select = mixed()
    X = X.copy()
    rng = generator(4)
    for name, share in [("number", 0.2), ("word", 0.1), ("size", 0.3), ("day", 0.05)]:
        X[name] = X[name].where(rng.random(len(X)) >= share)
    X["nullable"] = pd.array(rng.integers(0, 4, len(X)), dtype="Int64")
    X.loc[rng.random(len(X)) < 0.15, "nullable"] = pd.NA
    X["nothing"] = np.nan
    return Table(X, y, n_select)


def wide():
    """Truth values, many more columns than rows."""
    rng = generator(5)
    y = rng.integers(0, 2, 60)
    X = rng.integers(0, 2, (60, 200))
    for j in range(0, 200, 7):
        X[:, j] = mixed_with(rng, X[:, j], y, 0.05 * (j % 10))
    return Table(X.astype(np.uint8), y, 6)


def ties():
    """Copies, renamed copies, the target itself and a column that is its opposite."""
    rng = generator(6)
    y = rng.integers(0, 2, 120)
    X = related(rng, 120, [3, 4, 2, 3, 4, 2, 3, 3], y)
    renamed = np.array([2, 0, 3, 1])[X]
    return Table(np.hstack([X[:, :4], X, renamed, 1 - y[:, None], y[:, None]]), y, 8)


def xor():
    """Exclusive ors of two and of three columns: none says anything alone."""
    rng = generator(7)
    X = rng.integers(0, 2, (256, 12))
    y = X[:, 3] ^ X[:, 8] ^ (rng.random(256) < 0.1)
    X[:, 11] = X[:, 0] ^ X[:, 5] ^ y
    return Table(X, y, 7)


def classes():
    """Eight classes, named."""
    rng = generator(8)
    y = rng.integers(0, 8, 320)
    X = related(rng, 320, [2, 5, 8, 3, 4, 5, 2], y)
    X = np.hstack([X, bells(rng, 320, 5) + y[:, None] * np.array([0, 0.05, 0.1, 0.2, 0.4])])
    return Table(X, np.array(list("hgfedcba"))[y], 6)


def regression():
    """A target of numbers."""
    rng = generator(9)
    X = bells(rng, 200, 12)
    X[:, 9:] = rng.integers(0, 4, (200, 3))
    y = X[:, 0] * 2 + X[:, 1] * X[:, 2] + X[:, 9] * 0.5 + bells(rng, 200, 1)[:, 0] * 0.25
    return Table(X, y, 6)


def constant():
    """Constant columns, and two that are not."""
    rng = generator(10)
    y = rng.integers(0, 2, 50)
    X = np.full((50, 6), 3.0)
    X[:, 1] = -0.5
    X[:, 2] = rng.integers(0, 3, 50)
    X[:, 4] = mixed_with(rng, rng.integers(0, 2, 50), y, 0.5)
    return Table(X, y, 5)


def many():
    """Columns of more than 256 levels, which take two bytes, among others."""
    rng = generator(11)
    n = 400
    y = rng.integers(0, 2, n)
    names = np.array([f"n{i:03}" for i in range(330)])
    first = rng.integers(0, 165, n) * 2 + mixed_with(rng, rng.integers(0, 2, n), y, 0.5)
    first[:330] = np.arange(330)
    last = rng.integers(0, 330, n)
    last[100:] = np.arange(300)
    X = pd.DataFrame(related(rng, n, [2, 3, 4, 5, 2, 3], y), columns=list("abcdef"))
    X.insert(2, "who", names[first])
    X["where"] = pd.Categorical.from_codes(last, names)
    return Table(X, y, 5)


def csr():
    """A sparse matrix of counts."""
    rng = generator(12)
    y = rng.integers(0, 2, 200)
    X = np.where(rng.random((200, 40)) < 0.12, rng.integers(1, 4, (200, 40)), 0)
    for j in range(0, 40, 6):
        X[:, j] = np.where(rng.random(200) < 0.02 * j * y, 2, X[:, j])
    return Table(sparse.csr_matrix(X.astype(np.float64)), y, 6)


def tiny():
    """Seven rows."""
    rng = generator(13)
    y = np.array([0, 1, 0, 1, 1, 0, 1])
    return Table(rng.integers(0, 3, (7, 5)), y, 4)


def holes():
    """An array of numbers with gaps."""
    rng = generator(14)
    y = rng.integers(0, 3, 150)
    X = bells(rng, 150, 9) + y[:, None] * np.array([0.0, 0.1, 0.2] * 3)
    X[:, 5] = rng.integers(0, 3, 150)
    X[rng.random((150, 9)) < 0.1 * np.arange(9) / 4] = np.nan
    return Table(X, y, 6)


def one_hot():
    """Three columns as they are, and two as one column for each of their levels."""
    rng = generator(15)
    y = rng.integers(0, 2, 220)
    plain = related(rng, 220, [3, 4, 2, 4, 3], y)
    X = pd.DataFrame(plain[:, :3], columns=["a", "b", "c"])
    for name, column in [("d", plain[:, 3]), ("e", plain[:, 4])]:
        for level in range(int(column.max()) + 1):
            X[f"{name}{level}"] = (column == level).astype(np.int64)
    return Table(X[["d0", "a", "d1", "e0", "d2", "b", "e1", "e2", "d3", "c"]], y, 3)


TABLES = {
    make.__name__: make
    for make in (
        levels,
        floats,
        mixed,
        gaps,
        wide,
        ties,
        xor,
        classes,
        regression,
        constant,
        many,
        csr,
        tiny,
        holes,
        one_hot,
    )
}


@cache
def table(name):
    """The table of that name; made once, and never changed by a case."""
    return TABLES[name]()


def weights(name):
    """Whole numbers, zeros among them, one for each row of the table."""
    return generator(99).integers(0, 4, table(name).X.shape[0])


def as_frame(name):
    """The table as a DataFrame with the target as its last column, y."""
    X, y, _ = table(name)
    frame = pd.DataFrame(X).rename(columns=str)
    return frame.assign(y=np.asarray(y))

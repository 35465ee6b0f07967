"""The tables of the golden record: small, seeded, made by ``integers`` and ``random`` only.

Those two draw the same numbers under every version of numpy.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse


class Table(NamedTuple):
    """A table and its target."""

    X: Any
    y: Any


def blend(rng, column, other, share):
    """The column, with about this share of its values taken from another."""
    return np.where(rng.random(len(column)) < share, other, column)


def related(rng, y, levels):
    """Columns with these numbers of levels, more or less related to y and to each other."""
    columns = []
    for j, k in enumerate(levels):
        column = blend(rng, rng.integers(0, k, len(y)), y % k, (j % 5) * 0.12)
        if j % 3 == 2:
            column = blend(rng, column, columns[j - 2] % k, 0.5)
        columns.append(column)
    return np.column_stack(columns)


def bells(rng, n, D):
    """Numbers about 0, most of them near it."""
    return rng.random((n, D)) + rng.random((n, D)) + rng.random((n, D)) - 1.5


def binary():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 250)
    return Table(related(rng, y, [2] * 20).astype(np.uint8), y)


def levels():
    """Two to five levels, three classes."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 300)
    return Table(related(rng, y, [2, 3, 4, 5] * 4), y)


def classes():
    """Twelve classes with names."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 12, 400)
    X = related(rng, y, [2, 5, 12, 3, 4, 6, 2])
    X = np.hstack([X, bells(rng, 400, 5) + y[:, None] * np.array([0, 0.05, 0.1, 0.2, 0.4])])
    return Table(X, np.array(list("lkjihgfedcba"))[y])


def floats():
    rng = np.random.default_rng(4)
    X = bells(rng, 200, 12)
    X[:, 7] = X[:, 0] * 2 + X[:, 7] * 0.25
    X[:, 8] = X[:, 1] * X[:, 1] * X[:, 1]
    X[:, 9] = np.floor(X[:, 2] * 8) / 8
    return Table(X, (X[:, 0] + X[:, 1] * X[:, 2] * 3 + bells(rng, 200, 1)[:, 0] > 0).astype(int))


def mixed():
    """A DataFrame with strings, categories, dates, missing values and identifiers."""
    rng = np.random.default_rng(5)
    n = 360
    y = rng.integers(0, 2, n)
    words = np.array(["red", "green", "blue", "äther"])
    days = pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    size = blend(rng, rng.integers(0, 3, n), 2 - y, 0.3)
    towns = blend(rng, rng.integers(0, 8, n) * rng.integers(0, 8, n), 50 + y, 0.2)
    X = pd.DataFrame(
        {
            "number": bells(rng, n, 1)[:, 0] + y * 0.5,
            "id": [f"row {i * 7919 % 1009}" for i in range(n)],
            "whole": rng.integers(-3, 40, n),
            "flag": rng.random(n) < 0.3 + 0.3 * y,
            "word": words[blend(rng, rng.integers(0, 4, n), y, 0.4)],
            "size": pd.Categorical.from_codes(size, ["small", "middle", "large"], ordered=True),
            "town": [f"town {i}" for i in towns],
            "same": np.full(n, "same"),
            "day": pd.Timestamp("2020-01-01") + days,
            "nothing": np.full(n, np.nan),
        }
    )
    X["copy"] = X["word"]
    for name, share in [("number", 0.2), ("word", 0.1), ("size", 0.3), ("day", 0.05)]:
        X[name] = X[name].where(rng.random(n) >= share)
    X["nullable"] = pd.array(blend(rng, rng.integers(0, 4, n), y, 0.3), dtype="Int64")
    X.loc[rng.random(n) < 0.15, "nullable"] = pd.NA
    return Table(X, pd.Series(np.array(["no", "yes"])[y], name="answer"))


def few():
    """Few rows and more columns than the other tables."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 60)
    X = rng.integers(0, 3, (60, 40))
    for j in range(0, 40, 3):
        X[:, j] = blend(rng, X[:, j], y, 0.05 * (j % 10))
    return Table(X, y)


def copies():
    """Copies, copies with other codes, blends of two columns, and the target's opposite."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 150)
    X = related(rng, y, [3, 4, 2, 3, 4, 2])
    blends = [blend(rng, X[:, j], X[:, j + 1], 0.5) for j in range(5)]
    return Table(np.column_stack([X[:, :3], X, np.array([2, 0, 3, 1])[X], *blends, 1 - y]), y)


def xor():
    """Exclusive ors: no column is informative alone."""
    rng = np.random.default_rng(8)
    X = rng.integers(0, 2, (256, 12))
    y = X[:, 3] ^ X[:, 8] ^ (rng.random(256) < 0.1)
    X[:, 11] = X[:, 0] ^ X[:, 5] ^ y
    return Table(X, y)


def skewed():
    """Rare levels and a rare class."""
    rng = np.random.default_rng(9)
    y = (rng.random(500) < 0.08).astype(int)
    share = rng.random((500, 14))
    rare = np.floor(share * share * share * np.arange(2, 16)).astype(int)
    for j in range(0, 14, 2):
        rare[:, j] = blend(rng, rare[:, j], y, 0.04 * j)
    return Table(rare, y)


def constant():
    """Five constant columns of nine."""
    rng = np.random.default_rng(10)
    y = rng.integers(0, 2, 80)
    X = np.full((80, 9), 3.0)
    X[:, 1] = -0.5
    for j in (2, 4, 5, 8):
        X[:, j] = blend(rng, rng.integers(0, j, 80), y, 0.08 * j)
    return Table(X, y)


def quantity():
    """A target of whole numbers that are amounts; some columns too."""
    rng = np.random.default_rng(11)
    X = bells(rng, 240, 12)
    X[:, 9:] = rng.integers(0, 4, (240, 3))
    y = X[:, 0] * 2 + X[:, 1] * X[:, 2] + X[:, 9] * 0.5 + bells(rng, 240, 1)[:, 0] * 0.25
    return Table(X, np.floor(y * 100).astype(int) + 900)


def targets():
    """Two targets of two and three classes."""
    rng = np.random.default_rng(12)
    y = np.column_stack([rng.integers(0, 2, 300), rng.integers(0, 3, 300)])
    parts = [related(rng, y[:, 0], [2, 3, 4, 3, 2]), related(rng, y[:, 1], [3, 4, 2, 3, 5])]
    return Table(np.hstack(parts), y)


def quantities():
    """Two targets: classes and an amount."""
    X, amount = quantity()
    rng = np.random.default_rng(13)
    kind = np.where(rng.random(240) < 0.5, X[:, 10] > 1, X[:, 3] > 0).astype(int)
    return Table(X, np.column_stack([kind, amount]))


def counts():
    """A sparse matrix of counts."""
    rng = np.random.default_rng(14)
    y = rng.integers(0, 2, 200)
    X = np.where(rng.random((200, 30)) < 0.12, rng.integers(1, 4, (200, 30)), 0)
    for j in range(0, 30, 6):
        X[:, j] = np.where(rng.random(200) < 0.02 * j * y, 2, X[:, j])
    return Table(sparse.csr_matrix(X.astype(np.float64)), y)


def holes():
    """Numbers with missing values."""
    rng = np.random.default_rng(15)
    y = rng.integers(0, 3, 200)
    X = bells(rng, 200, 9) + y[:, None] * np.array([0.0, 0.1, 0.2] * 3)
    X[:, 5] = rng.integers(0, 3, 200)
    X[rng.random((200, 9)) < 0.1 * np.arange(9) / 4] = np.nan
    return Table(X, y)


def one_hot():
    """Three columns as they are, and two columns with one-hot codes."""
    rng = np.random.default_rng(16)
    y = rng.integers(0, 2, 220)
    plain = related(rng, y, [3, 4, 2, 4, 3])
    X = pd.DataFrame(plain[:, :3], columns=["a", "b", "c"])
    for name, column in [("d", plain[:, 3]), ("e", plain[:, 4])]:
        for level in range(int(column.max()) + 1):
            X[f"{name}{level}"] = (column == level).astype(np.int64)
    return Table(X[["d0", "a", "d1", "e0", "d2", "b", "e1", "e2", "d3", "c"]], y)


TABLES = (
    binary, levels, classes, floats, mixed, few, copies, xor, skewed, constant, quantity, targets,
    quantities, counts, holes, one_hot,
)  # fmt: skip


@cache
def table(name):
    """The table with this name. No case changes it."""
    return {make.__name__: make for make in TABLES}[name]()


def weights(name, kind):
    """Weights of the rows: whole numbers with zeros, fractions, or the word "balanced"."""
    rng, n = np.random.default_rng(99), table(name).X.shape[0]
    whole = rng.integers(0, 4, n)
    return {"whole": whole, "fractional": 0.25 + whole * 0.5, "balanced": "balanced"}[kind]


def row_groups(name):
    """Groups of about four rows."""
    n = table(name).X.shape[0]
    return np.random.default_rng(98).integers(0, n // 4, n)


def as_frame(name):
    """The table as a DataFrame with the target as its last column, y."""
    X, y = table(name)
    return pd.DataFrame(X).rename(columns=str).assign(y=np.asarray(y))

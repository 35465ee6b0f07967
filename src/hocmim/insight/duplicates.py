"""Rows that occur more than once.

Every row counts as an observation of its own. A copy is none: a test that takes copies for
observations is too sure. So rows that repeat another one are counted, in all columns and targets:

1. Rows of equal codes, column by column. In most tables a few columns show that nearly all rows
   differ, and nothing more is read.
2. Of the rows that are left, those of equal values, if the table is in memory.
3. In a table of few columns and levels rows are equal by chance. A share p of all pairs of rows is
   equal in one half of the columns, and q in the other. If the halves were independent, p q would
   be equal in both. Rows are copies if ``BEYOND_CHANCE`` times as many are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes
from hocmim.coding.target import EncodedTarget
from hocmim.data.columns import Numbers
from hocmim.data.table import Table

# The share of repeated rows from which on they are mentioned.
MIN_SHARE = 0.01
BEYOND_CHANCE = 100
# Columns before rows are compared for the first time; then after twice as many each time.
FIRST_COLUMNS = 8
# An odd number with bits all over: keys of different rows are different.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

Keys = NDArray[np.uint64]


def count_repeated_rows(
    codes: Codes, targets: Sequence[EncodedTarget], table: Table | None = None
) -> int:
    """Return how many rows repeat another row, beyond what chance explains.

    0 if it is at most ``MIN_SHARE`` of the rows.
    """
    n_rows, n_columns = codes.n_samples, codes.n_columns
    keys = _keys(n_rows, [one.column.codes for one in targets])
    n_done, n_next = 0, FIRST_COLUMNS
    while n_done < n_columns:
        stop = min(n_next, n_columns)
        keys = _keys(n_rows, (codes.column(j).codes for j in range(n_done, stop)), keys)
        if _n_repeated(keys) <= MIN_SHARE * n_rows:
            return 0
        n_done, n_next = stop, 2 * n_next
    if table is not None:
        keys = _told_apart(keys, targets, table)
    n_repeated = _n_repeated(keys)
    if n_repeated <= MIN_SHARE * n_rows:
        return 0
    by_chance = np.prod([_share_of_pairs(half) for half in _halves(codes, targets, table)])
    return n_repeated if _share_of_pairs(keys) >= BEYOND_CHANCE * by_chance else 0


def _told_apart(keys: Keys, targets: Sequence[EncodedTarget], table: Table) -> Keys:
    """Tell rows of equal codes apart by their values; rows with a key of their own keep it."""
    _, place, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(sizes[place] > 1)
    quantities = [_bits(one.values[rows]) for one in targets if one.values is not None]
    of_rows = _keys(len(rows), quantities, keys[rows])
    found = keys.copy()
    found[rows] = _keys(len(rows), _values(table, rows), of_rows)
    return found


def _halves(codes: Codes, targets: Sequence[EncodedTarget], table: Table | None) -> list[Keys]:
    """Return the keys of the rows by every second column, and by the others with the targets."""
    n_rows = codes.n_samples
    if table is not None:
        columns: Iterable[NDArray[Any]] = _values(table, slice(None))
    else:
        columns = (codes.column(j).codes for j in range(codes.n_columns))
    halves = [np.zeros(n_rows, np.uint64), _keys(n_rows, [one.column.codes for one in targets])]
    for number, column in enumerate(columns):
        halves[number % 2] = _keys(n_rows, [column], halves[number % 2])
    return halves


def _values(table: Table, rows: NDArray[np.int64] | slice) -> Iterator[NDArray[Any]]:
    """Return the values of each column in some rows, as whole numbers that differ if they do."""
    for block in table.blocks():
        if isinstance(block, Numbers):
            yield from (_bits(column[rows]) for column in block.values.T)
        else:
            yield block.codes[rows]


def _keys(n_rows: int, columns: Iterable[NDArray[Any]], keys: Keys | None = None) -> Keys:
    """Return a number for each row that depends on all columns, and on the keys so far."""
    found = np.zeros(n_rows, np.uint64) if keys is None else keys.copy()
    for column in columns:
        found ^= found >> np.uint64(29)
        found *= MULTIPLIER
        found += column.astype(np.uint64)
    return found


def _bits(values: NDArray[Any]) -> Keys:
    """Return the bits of numbers as 64-bit floats, with one zero and one missing value."""
    numbers = values.astype(np.float64) + 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers.view(np.uint64)


def _n_repeated(keys: Keys) -> int:
    """Return the number of rows whose key another row before them has."""
    ordered = np.sort(keys)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def _share_of_pairs(keys: Keys) -> float:
    """Return the share of the pairs of rows that have the same key."""
    sizes = np.unique(keys, return_counts=True)[1].astype(np.float64)
    return float((sizes * (sizes - 1)).sum() / max(1, len(keys) * (len(keys) - 1)))

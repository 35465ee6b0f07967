"""Columns that identify the rows: the one rule, for tables of every kind.

A column is an identifier if it has at least ``ID_ROWS`` values and

* it holds strings or categories, and at least 95 % of its values are distinct: nearly one level a
  row, such as a name;
* or it holds whole numbers that are all distinct, and they fill at least half of their range: a row
  number, also of a random half of the rows. Of 20 random draws from a range of 40 numbers, all are
  distinct once in 300 times; with more rows the chance vanishes;
* or it holds whole numbers that are all distinct, and its name says what it is: id, user_id,
  PassengerId, uuid. Without such a name they are measurements, such as prices and populations.

Floats that are whole numbers are whole numbers. Numbers with a fraction, such as expression values,
dates and times are no identifiers. An identifier predicts the target of the rows it was seen with,
and of no others. With sample weights each row counts once, whatever its weight.

Numbers need an exact check only if name, minimum and maximum allow it: see
``may_be_identifiers``. ``DistinctIntegers`` of parts of the rows merge into those of all rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# What a selector does with them: see ``Encoder``.
IDENTIFIERS = ("drop", "keep", "warn")
# Distinct values among the present ones, and the fewest values that are judged.
ID_SHARE = 0.95
ID_ROWS = 20
# The share of the whole numbers between the least and the largest that occur.
MIN_DENSITY = 0.5
# From 2^53 every floating-point number is whole.
MAX_EXACT_WHOLE = 2.0**53
# Values among which most columns that are no identifiers have two equal ones, or a fraction.
HEAD_ROWS = 200
# "id", "user_id", "Id-Nr"; "PassengerId"; "PID".
_ID_NAME = re.compile(r"(?i:(?:^|[\W_])(?:[pu]?id|[ug]uid)$|^(?:[ug]u)?id[\W_])|[a-z0-9]I[dD]$")


def are_nearly_distinct(n_distinct: ArrayLike, n_present: ArrayLike) -> NDArray[np.bool_]:
    """Whether nearly every value of a column is distinct: for categories, the rule."""
    distinct, present = np.asarray(n_distinct), np.asarray(n_present)
    return (present >= ID_ROWS) & (distinct >= ID_SHARE * present)


def is_id_name(name: str) -> bool:
    """Whether the name of a column says that it identifies the rows.

    Examples
    --------
    >>> from hocmim.coding.identifiers import is_id_name
    >>> [is_id_name(name) for name in ("id", "host_id", "PassengerId", "paid", "humid", "idle")]
    [True, True, True, False, False, False]
    """
    return _ID_NAME.search(name) is not None


def may_be_identifiers(
    minimum: NDArray[np.float64],
    maximum: NDArray[np.float64],
    n_rows: int,
    names: Sequence[str] | None = None,
) -> NDArray[np.bool_]:
    """Whether columns of numbers of this minimum, maximum and name may identify the rows."""
    with np.errstate(over="ignore", invalid="ignore"):  # infinite or empty: no identifiers
        size = maximum - minimum + 1
    may_be = size * MIN_DENSITY <= n_rows
    if names is not None:
        may_be |= np.fromiter(map(is_id_name, map(str, names)), bool, len(may_be))
    may_be &= size >= ID_ROWS
    if not may_be.any():  # the usual case
        return may_be
    may_be &= (minimum == np.rint(minimum)) & (maximum == np.rint(maximum))
    return may_be & (np.maximum(np.abs(minimum), np.abs(maximum)) < MAX_EXACT_WHOLE)


@dataclass(frozen=True, eq=False)
class DistinctIntegers:
    """The values of a column, or of a part of its rows, if they are whole and all distinct."""

    values: NDArray[Any] | None  # sorted, not missing; None if one has a fraction or repeats

    @classmethod
    def of(cls, values: NDArray[Any]) -> DistinctIntegers:
        """Return the integers of a column."""
        if values.dtype.kind == "f":
            values = values[~np.isnan(values)]
        for part in (values[:HEAD_ROWS], values):
            found = np.sort(part)
            is_whole = part.dtype.kind != "f" or bool((found == np.rint(found)).all())
            if not is_whole or (found[1:] == found[:-1]).any():
                return cls(None)
        return cls(found)

    @classmethod
    def nothing(cls) -> DistinctIntegers:
        """Return the integers of no rows."""
        return cls(np.zeros(0))

    def merge(self, other: DistinctIntegers) -> DistinctIntegers:
        """Return the integers of the rows of both; associative."""
        if self.values is None or other.values is None:
            return DistinctIntegers(None)
        return DistinctIntegers.of(np.concatenate([self.values, other.values]))

    def identify(self, name: str | None = None) -> bool:
        """Whether the values identify the rows: they are row numbers, or the name says so."""
        if self.values is None or len(self.values) < ID_ROWS or self.values.dtype.kind == "b":
            return False
        size = float(self.values[-1]) - float(self.values[0]) + 1
        return len(self.values) >= MIN_DENSITY * size or (name is not None and is_id_name(name))


def find_in_numbers(
    minimum: NDArray[np.float64],
    maximum: NDArray[np.float64],
    n_rows: int,
    names: Sequence[str] | None,
    values_of: Callable[[int], NDArray[Any]],
) -> list[int]:
    """Return which columns of numbers identify the rows; ``values_of(k)`` reads column k."""
    may_be = may_be_identifiers(minimum, maximum, n_rows, names)
    return [
        k
        for k in np.flatnonzero(may_be).tolist()
        if DistinctIntegers.of(values_of(k)).identify(None if names is None else str(names[k]))
    ]


def one_per_row(values: NDArray[Any], rows: NDArray[np.int64] | None) -> NDArray[Any]:
    """Return the value of each row of the user's table once; weights repeat ``rows``."""
    return values if rows is None else values[np.unique(rows, return_index=True)[1]]

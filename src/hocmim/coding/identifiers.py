"""Columns that identify the rows: the one rule, for tables of every kind.

A column is an identifier if it has at least ``ID_ROWS`` values and

* it holds strings or categories, and at least 95 % of its values are distinct: nearly one level a
  row, such as a name;
* or it holds whole numbers that are all distinct and fill at least half of their range: a row
  number, also of a random half of the rows. Of 20 random draws from a range of 40 numbers, all are
  distinct once in 300 times; with more rows the chance vanishes. Other whole numbers of which
  nearly all are distinct, such as prices and populations, are measurements. Numbers with a
  fraction, dates and times are no identifiers.

An identifier predicts the target of the rows it was seen with, and of no others. With sample
weights each row counts once, whatever its weight.

Numbers need an exact check only if minimum and maximum allow a row number: see
``may_be_row_numbers``. ``Marks`` of parts of the rows merge into those of all rows.
"""

from __future__ import annotations

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


def are_nearly_distinct(n_distinct: ArrayLike, n_present: ArrayLike) -> NDArray[np.bool_]:
    """Whether nearly every value of a column is distinct: for categories, the rule."""
    distinct, present = np.asarray(n_distinct), np.asarray(n_present)
    return (present >= ID_ROWS) & (distinct >= ID_SHARE * present)


def may_be_row_numbers(
    minimum: NDArray[np.float64], maximum: NDArray[np.float64], n_rows: int
) -> NDArray[np.bool_]:
    """Whether columns of numbers with this minimum and maximum may be row numbers."""
    with np.errstate(over="ignore"):  # infinite: no row numbers
        size = maximum - minimum + 1
    may_be = (size >= ID_ROWS) & (size * MIN_DENSITY <= n_rows)
    if not may_be.any():  # the usual case
        return may_be
    may_be &= (minimum == np.rint(minimum)) & (maximum == np.rint(maximum))
    return may_be & (np.maximum(np.abs(minimum), np.abs(maximum)) < MAX_EXACT_WHOLE)


@dataclass(frozen=True, eq=False)
class Marks:
    """Which whole numbers occur in a column, or in a part of its rows.

    Attributes
    ----------
    first : int
        The number that the first mark stands for.
    seen : ndarray of bool
    n_values : int
        How many values are present; more than marks if a value occurs twice.
    are_whole : bool
    """

    first: int
    seen: NDArray[np.bool_]
    n_values: int
    are_whole: bool = True

    @classmethod
    def of(cls, values: NDArray[Any]) -> Marks:
        """Mark the values of a column whose range is not much larger than its rows."""
        if values.dtype.kind == "f":
            values = values[~np.isnan(values)]
            head = values[:ID_ROWS]
            if (head != np.rint(head)).any() or (values != np.rint(values)).any():
                return cls(0, np.zeros(0, bool), 0, False)
        if len(values) == 0:
            return cls.nothing()
        first = int(values.min())
        seen = np.zeros(int(values.max()) - first + 1, bool)
        seen[(values - values.dtype.type(first)).astype(np.int64)] = True
        return cls(first, seen, len(values))

    @classmethod
    def nothing(cls) -> Marks:
        """Return the marks of no rows."""
        return cls(0, np.zeros(0, bool), 0)

    def merge(self, other: Marks) -> Marks:
        """Return the marks of the rows of both; associative."""
        if not (self.are_whole and other.are_whole):
            return Marks(0, np.zeros(0, bool), 0, False)
        parts = [part for part in (self, other) if part.n_values]
        if len(parts) < 2:
            return parts[0] if parts else self
        first = min(part.first for part in parts)
        seen = np.zeros(max(part.first + len(part.seen) for part in parts) - first, bool)
        for part in parts:
            seen[part.first - first : part.first - first + len(part.seen)] |= part.seen
        return Marks(first, seen, self.n_values + other.n_values)

    @property
    def is_row_number(self) -> bool:
        """Whether the values are whole, all distinct, and fill most of their range."""
        return (
            self.are_whole
            and self.n_values >= ID_ROWS
            and self.n_values >= MIN_DENSITY * len(self.seen)
            and int(np.count_nonzero(self.seen)) == self.n_values
        )


def is_row_number(values: NDArray[Any]) -> bool:
    """Whether a column of numbers is a row number. Its range may be of any size."""
    if values.dtype.kind == "b" or len(values) < ID_ROWS:
        return False
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    if not low <= high:  # all are missing
        return False
    bounds = np.array([low]).astype(np.float64), np.array([high]).astype(np.float64)
    return bool(may_be_row_numbers(*bounds, len(values))[0]) and Marks.of(values).is_row_number


def once(values: NDArray[Any], rows: NDArray[np.int64] | None) -> NDArray[Any]:
    """Return the value of each row of the user's table once; weights repeat ``rows``."""
    return values if rows is None else values[np.unique(rows, return_index=True)[1]]


def identifiers_of_numbers(
    values: NDArray[np.float64], is_categorical: NDArray[np.bool_], rows: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return the identifiers of a table as ``numeric_matrix`` returns it, without missing values.

    ``rows`` are the rows of the user's table, if weights repeat them.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    is_found = np.zeros(len(low), bool)
    for j in np.flatnonzero(is_categorical).tolist():  # codes from 0 to the last level
        is_found[j] = are_nearly_distinct(high[j] + 1, len(once(values[:, j], rows)))
    suspects = may_be_row_numbers(low, high, len(values)) & ~is_categorical
    for j in np.flatnonzero(suspects).tolist():
        is_found[j] = Marks.of(once(values[:, j], rows)).is_row_number
    return np.flatnonzero(is_found)

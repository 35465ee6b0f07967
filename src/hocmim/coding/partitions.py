"""Encode a table in row partitions, exactly as one table of all rows.

Every step is a pure function of values that can be pickled. The same code runs in a loop on one
machine and as tasks on a cluster::

    survey  = survey_partition(part, n_bins)               # for each partition
    survey  = survey.merge(other)                          # in any grouping: a tree reduction
    columns = columns_to_cut(survey, discretizer)          # none for "uniform"
    values  = read_numbers(part, columns)                  # for each partition, then stacked
    cuts    = cut_columns(values, discretizer, n_bins, y)  # whole columns, some at a time
    columns = possible_row_numbers(survey)                 # a few, if any
    integers = integers_of_columns(part, columns)         # for each partition, then merged
    encoder = fit_encoder(survey, encoder, cuts, integers)
    codes   = encode_partition(part, encoder)              # for each partition
    encoder = with_most_frequent(encoder, count_frequent(codes))  # of all rows

"uniform" cuts by the survey alone. "quantile" and "mdlp" read the table once more: all values of a
column that is cut are collected (8 bytes for each row) and cut by the code for tables in memory.

A partition is any table in memory (``hocmim.data.table``), also one without rows. A column may hold
integers in one partition and floats in another. A partition in which all values of a column are
missing has no influence on the kind of the column. All distinct strings of a column are in memory
together, since the most frequent are known at the end only. ``hocmim.data.rows.RowSource`` gives
the partitions of a Parquet data set or of a list of tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes
from hocmim.coding.cuts import (
    CATEGORIES,
    CUT,
    DISCRETIZERS,
    LEVELS,
    ColumnDescriptions,
    Ragged,
    Survey,
    midpoints,
    uniform_cuts,
)
from hocmim.coding.encoder import Encoder, most_frequent
from hocmim.coding.identifiers import DistinctIntegers, are_nearly_distinct, may_be_identifiers
from hocmim.coding.rare import LevelCounts, kept_levels, level_limit
from hocmim.data.checks import infinite_value
from hocmim.data.columns import Categories, Numbers, column_label
from hocmim.data.table import Table, as_table, take_columns
from hocmim.errors import InvalidColumnError, InvalidTableError


@dataclass(frozen=True, eq=False)
class TableSurvey:
    """A summary of the columns of some rows; it determines how each column is coded."""

    names: tuple[str, ...] | None
    n_rows: int
    numbers: Survey  # of every column; categories have no minimum and no maximum
    categories: dict[int, LevelCounts]  # the values of columns of strings or categories

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.numbers.has_many)

    def label(self, j: int) -> str:
        """Return the name of column j for a message."""
        return column_label(self.names, j)

    def merge(self, other: TableSurvey) -> TableSurvey:
        """Return the survey of the rows of both; associative."""
        self._check_same_columns(other)
        categories = {
            j: self._merged_levels(j, self.categories.get(j), other.categories.get(j))
            for j in self.categories.keys() | other.categories.keys()
        }
        numbers = self.numbers.merge(other.numbers)
        for j, found in list(categories.items()):
            if not numbers.is_empty[j]:
                if found.levels:
                    raise InvalidTableError(
                        f"Some rows of {self.label(j)} of X hold numbers and others strings or "
                        "categories. Convert the column to one type in all partitions."
                    )
                del categories[j]
        return TableSurvey(self.names, self.n_rows + other.n_rows, numbers, categories)

    @classmethod
    def concatenate(cls, parts: Sequence[TableSurvey]) -> TableSurvey:
        """Return the columns of all parts, side by side."""
        starts = np.cumsum([0, *(part.n_columns for part in parts)]).tolist()
        names = [name for part in parts for name in part.names or ()]
        return cls(
            tuple(names) if names else None,
            parts[0].n_rows,
            Survey.concatenate([part.numbers for part in parts]),
            {
                start + j: found
                for start, part in zip(starts, parts, strict=False)
                for j, found in part.categories.items()
            },
        )

    def _check_same_columns(self, other: TableSurvey) -> None:
        if self.names != other.names or self.n_columns != other.n_columns:
            mine, theirs = (
                f"{survey.n_columns} columns"
                if survey.names is None or self.n_columns != other.n_columns
                else ", ".join(survey.names[:5]) + (", …" if survey.n_columns > 5 else "")
                for survey in (self, other)
            )
            raise InvalidTableError(
                f"The partitions of X do not have the same columns in the same order: {mine} in "
                f"one, {theirs} in another."
            )

    def _merged_levels(self, j: int, a: LevelCounts | None, b: LevelCounts | None) -> LevelCounts:
        if a is None or b is None:
            present = a if a is not None else b
            assert present is not None
            return present
        try:
            return a.merge(b)
        except TypeError as error:
            raise InvalidColumnError(
                f"The categories of {self.label(j)} of X are of different types in different "
                "partitions. Convert them to one type, for example with astype(str)."
            ) from error


def _survey_numbers(table: Table, block: Numbers, n_bins: int) -> Survey:
    """Survey a block; an infinite value is an error."""
    survey = Survey.of(block.values, n_bins)
    infinite = ~survey.is_empty & (np.isinf(survey.minimum) | np.isinf(survey.maximum))
    if infinite.any():
        raise infinite_value(table, block.start + int(np.argmax(infinite)))
    return survey


def survey_partition(X: Any, n_bins: int) -> TableSurvey:
    """Survey the rows of one partition."""
    table = as_table(X, min_rows=0)
    if table.n_rows == 0:
        return TableSurvey(table.names, 0, Survey.nothing(table.n_columns, n_bins), {})
    numbers, categories = [], {}
    for block in table.blocks():
        if isinstance(block, Categories):
            counts = np.bincount(block.codes + 1, minlength=len(block.levels) + 1)
            categories[block.start] = LevelCounts(block.levels, counts[1:])
            nothing = Survey.nothing(1, n_bins)
            nothing.has_missing[0] = counts[0] > 0
            numbers.append(nothing)
        else:
            numbers.append(_survey_numbers(table, block, n_bins))
    return TableSurvey(table.names, table.n_rows, Survey.concatenate(numbers), categories)


def columns_to_cut(survey: TableSurvey, discretizer: str) -> NDArray[np.int64]:
    """Return the indices of the columns that are cut by their values; none for "uniform"."""
    needs_values = DISCRETIZERS[discretizer].needs_values
    return np.flatnonzero(survey.numbers.has_many & needs_values)


def read_numbers(X: Any, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the values of numeric columns of one partition, shape (n_rows, len(columns))."""
    table = as_table(take_columns(X, columns), min_rows=0)
    values = np.full(table.shape, np.nan, order="F")
    if table.n_rows:
        for block in table.blocks():
            if not isinstance(block, Categories):  # otherwise all values are missing: see merge
                values[:, block.start : block.start + block.values.shape[1]] = block.values
    return values


def possible_row_numbers(survey: TableSurvey) -> NDArray[np.int64]:
    """Return the columns of numbers that may identify the rows; their values have to be read."""
    numbers = survey.numbers
    low, high = np.where(numbers.has_many, (numbers.minimum, numbers.maximum), 0.0)
    return np.flatnonzero(may_be_identifiers(low, high, survey.n_rows, survey.names))


def integers_of_columns(X: Any, columns: NDArray[np.int64]) -> list[DistinctIntegers]:
    """Return the integers of some numeric columns of one partition."""
    if not len(columns):
        return []
    return [DistinctIntegers.of(column) for column in read_numbers(X, columns).T]


def merge_integers(a: list[DistinctIntegers], b: list[DistinctIntegers]) -> list[DistinctIntegers]:
    """Return the integers of the rows of both; associative."""
    return [one.merge(other) for one, other in zip(a, b, strict=True)]


def fit_encoder(
    survey: TableSurvey,
    encoder: Encoder,
    cuts: Ragged | None = None,
    integers: Sequence[DistinctIntegers] = (),
) -> Encoder:
    """Return the encoder of all rows, with the parameters of ``encoder``.

    ``cuts`` are those of ``columns_to_cut``, ``integers`` those of ``possible_row_numbers``.
    """
    numbers = survey.numbers
    if cuts is None:
        many = np.flatnonzero(numbers.has_many)
        cuts = uniform_cuts(numbers, many, encoder.n_bins)
    cuts = _interleave(numbers.has_many, cuts, midpoints(numbers.distinct))
    n_levels = np.where(numbers.is_empty, 0, cuts.counts + 1)
    kind = np.where(numbers.has_many, CUT, LEVELS).astype(np.int8)
    suspects = possible_row_numbers(survey).tolist()
    identifiers = [
        j
        for j, found in zip(suspects, integers, strict=True)
        if found.identify(None if survey.names is None else survey.names[j])
    ]
    categories: dict[int, list[Any]] = {}
    n_pooled: dict[int, int] = {}
    for j, found in survey.categories.items():
        limit = level_limit(encoder.max_levels, survey.n_rows, bool(numbers.has_missing[j]))
        kept = kept_levels(found.counts, limit)
        kind[j], n_levels[j] = CATEGORIES, len(found.levels) if kept is None else len(kept) + 1
        categories[j] = found.levels
        if kept is not None:
            categories[j] = [found.levels[code] for code in kept.tolist()]
            n_pooled[j] = len(found.levels) - len(kept)
        if are_nearly_distinct(len(found.levels), found.n_present):
            identifiers.append(j)
    uncounted = np.zeros(survey.n_columns, np.int64)
    columns = ColumnDescriptions(
        kind,
        n_levels,
        numbers.has_missing,
        cuts,
        numbers.distinct,
        categories,
        n_pooled,
        uncounted,
        uncounted,
        np.array(sorted(identifiers), np.int64),
    )
    return encoder.with_columns(columns, survey.names)


def _interleave(is_cut: NDArray[np.bool_], cut: Ragged, others: Ragged) -> Ragged:
    """Return row j of ``others``, or the next row of ``cut`` where ``is_cut[j]``."""
    counts = others.counts
    counts[is_cut] = cut.counts
    from_cut = np.repeat(is_cut, counts)
    values = np.empty(len(from_cut))
    values[from_cut] = cut.values
    values[~from_cut] = others.values
    return Ragged.from_counts(values, counts)


def with_most_frequent(encoder: Encoder, frequent: NDArray[np.int64]) -> Encoder:
    """Return the same encoder with the most frequent codes: what ``count_frequent`` returned."""
    columns = replace(encoder.columns_, most_frequent=frequent[0], n_most_frequent=frequent[1])
    return encoder.with_columns(columns, encoder.names)


def count_frequent(codes: Codes) -> NDArray[np.int64]:
    """Return the most frequent code of each column, and below it how many rows have it."""
    frequent = most_frequent(codes)
    counts = [
        np.count_nonzero(codes.column(j).codes == code) for j, code in enumerate(frequent.tolist())
    ]
    return np.stack([frequent, np.array(counts, np.int64)])


def encode_partition(X: Any, encoder: Encoder) -> Codes:
    """Return the codes of one partition."""
    table = as_table(X, min_rows=0)
    if table.n_rows == 0:
        return Codes.empty(encoder.arity, 0, table.names)
    return encoder.transform(table)

"""Tables that come in row partitions: encoded exactly as one table of all their rows would be.

Everything an engine needs is a pure function of picklable values, so that the same code runs in a
loop on one machine and as tasks on many::

    survey  = survey_partition(part, n_bins)           # for each partition
    survey  = survey.merge(other)                      # in any grouping: a tree reduction
    columns = columns_to_cut(survey, discretizer)      # none for "uniform": one pass is enough
    values  = read_numbers(part, columns)              # of each partition, stacked: whole columns
    cuts    = cut_columns(values, discretizer, n_bins, y)   # some columns at a time; Ragged.concatenate
    encoder = fit_encoder(survey, discretizer, n_bins, cuts)
    codes   = encode_partition(part, encoder)          # for each partition: Codes of its rows
    encoder = with_most_frequent(encoder, frequent)    # hocmim.encode.most_frequent(codes of all rows)

and of a target ``survey_target``, ``merge``, ``fit_target`` and ``TargetCoding.encode``.

"uniform" needs what the survey has. "quantile" and "mdlp" are exact too, at the price of a second
pass: each column that is cut is brought together (8 bytes a row) and cut by the code for tables in
memory.

A partition is any table in memory (:mod:`hocmim.tables`), of no rows too. The same column may be
of integers in one and of floats in another; all missing values in one say nothing about its kind.
A :class:`RowSource` gives the partitions of a Parquet data set, or of a list of tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hocmim.codes import Codes, Column
from hocmim.discretize import Ragged, Survey
from hocmim.encode import Encoder


@dataclass(frozen=True, eq=False)
class TableSurvey:
    """What is in the columns of some rows: all that says how each column is coded.

    Attributes
    ----------
    names : tuple of str, or None
    n_rows : int
    numbers : Survey
        Of every column; one of categories counts as all missing here.
    categories : dict of column index to sorted list
        The values that occur in the columns of strings or categories.
    """

    names: tuple[str, ...] | None
    n_rows: int
    numbers: Survey
    categories: dict[int, list[Any]]

    def merge(self, other: TableSurvey) -> TableSurvey:
        """The survey of the rows of both; associative."""
        raise NotImplementedError


def survey_partition(X: Any, n_bins: int) -> TableSurvey:
    """Survey the rows of one partition."""
    raise NotImplementedError


def columns_to_cut(survey: TableSurvey, discretizer: str) -> NDArray[np.int64]:
    """The columns whose values are needed as a whole, by index; none for "uniform"."""
    raise NotImplementedError


def read_numbers(X: Any, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values of numeric columns of one partition, shape (n_rows, len(columns))."""
    raise NotImplementedError


def cut_columns(
    values: NDArray[np.float64], discretizer: str, n_bins: int, y: Column | None = None
) -> Ragged:
    """The cuts of whole columns, one row a column. ``y`` is for "mdlp"."""
    raise NotImplementedError


def fit_encoder(
    survey: TableSurvey, discretizer: str, n_bins: int, cuts: Ragged | None = None
) -> Encoder:
    """The encoder fitted to all rows. ``cuts`` are those of ``columns_to_cut``, in that order."""
    raise NotImplementedError


def encode_partition(X: Any, encoder: Encoder) -> Codes:
    """The codes of one partition."""
    raise NotImplementedError


def with_most_frequent(encoder: Encoder, most_frequent: NDArray[np.int64]) -> Encoder:
    """The encoder, told the most frequent code of each column over all rows.

    What it does with values never seen; to be called when the codes of all rows are known.
    """
    raise NotImplementedError


# --- targets --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TargetSurvey:
    """What is in some rows of a target; ``merge`` is associative."""

    def merge(self, other: TargetSurvey) -> TargetSurvey:
        """The survey of the rows of both."""
        raise NotImplementedError

    def needs_values(self, bins: int, discretizer: str) -> bool:
        """Whether its values are needed as a whole: a continuous y not cut by "uniform"."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class TargetCoding:
    """How a target is coded: its classes, or the cuts of a continuous one."""

    classes: NDArray[Any] | None
    cuts: NDArray[np.float64] | None

    @property
    def arity(self) -> int:
        """Number of codes."""
        raise NotImplementedError

    def encode(self, y: Any) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """The codes of some rows."""
        raise NotImplementedError


def survey_target(y: Any, bins: int) -> TargetSurvey:
    """Survey some rows of a target."""
    raise NotImplementedError


def fit_target(
    survey: TargetSurvey, bins: int, discretizer: str, values: NDArray[Any] | None = None
) -> TargetCoding:
    """How the whole target is coded. ``values``: all of it, if ``needs_values``."""
    raise NotImplementedError


# --- sources --------------------------------------------------------------------------------------


class Piece(Protocol):
    """Some rows of a source, picklable: read where they are needed."""

    n_rows: int

    def tables(self, columns: Sequence[int | str], max_cells: int) -> Iterator[Any]:
        """The rows in order, as tables in memory of about ``max_cells`` cells."""


class RowSource:
    """Row partitions in order: features, and a target if it is one of the columns.

    Attributes
    ----------
    names : tuple of str, or None
        Of the features.
    columns : tuple of str or int
        What to ask a piece for: the features.
    target : str, int or None
        What to ask a piece for: the target.
    n_rows, n_columns : int
    pieces : list of Piece
        A Parquet data set has one for each row group.
    """

    names: tuple[str, ...] | None
    columns: tuple[str | int, ...]
    target: str | int | None
    n_rows: int
    n_columns: int
    pieces: list[Piece]

    def fingerprint(self) -> str:
        """Says whether two sources hold the same data, without reading all of it from files."""
        raise NotImplementedError


def is_row_source(X: Any) -> bool:
    """Whether X is a path, a pyarrow data set or a RowSource: not a table in memory."""
    raise NotImplementedError


def open_source(X: Any, y: Any) -> tuple[RowSource, Any]:
    """X as a source, and y: None if it is a column of X, otherwise as it was given."""
    raise NotImplementedError

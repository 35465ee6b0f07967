"""Any table, read as blocks of numbers and columns of categories.

A table is a NumPy array, a pandas or polars DataFrame, a pyarrow Table (or anything else narwhals
reads eagerly, or that streams Arrow data), a scipy sparse matrix or array, or nested lists. Nothing
here copies a whole table: columns are read block by block, also of a sparse table and of a table
that is a selection of rows (:meth:`Table.take`). ``columns.py`` says how a column is read.
"""

from __future__ import annotations

import copy
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import pairwise
from os import PathLike
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from hocmim.data.columns import (
    Categories,
    Numbers,
    Span,
    SparseNumbers,
    column_label,
    days_as_nanoseconds,
    is_read_in_place,
    not_a_column,
    read_array,
    read_strings,
    stack_arrow,
    unmask,
)
from hocmim.data.sparse import checked_csc
from hocmim.data.times import TimeKinds, kind_of_array, kind_of_dtype
from hocmim.errors import InvalidTableError, not_installed

BLOCK_CELLS = 1 << 20
"""Cells read at a time by default: 8 MB of floating-point numbers."""

# The fewest columns of a row-major array that are read together, and the fewest bytes of a row.
MIN_ROW_COLUMNS = 32
MIN_ROW_BYTES = 128

_NOT_IN_NUMPY = (nw.Int128, nw.UInt128)


class Table(ABC):
    """A table, read by columns.

    ``native`` is the user's table (nested lists as an array), ``rows`` are the rows of it that are
    in the table, in this order; None for every row once. ``names`` is None if the columns have no
    names. As in scikit-learn, only strings are names: a DataFrame with the default integer labels
    has none. ``cell_bytes`` are those of a value; 8 if they differ.
    """

    cell_bytes = 8

    def __init__(self, native: Any, names: tuple[str, ...] | None = None) -> None:
        self.native = native
        self.n_rows, self.n_columns = native.shape
        self.names = names
        self.rows: NDArray[np.int64] | None = None

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return the table of these rows, in this order; a row may be repeated.

        It is a view: the rows of a block are taken when the block is read.
        """
        view = copy.copy(self)
        view.rows = rows if self.rows is None else self.rows[rows]
        view.n_rows = len(rows)
        return view

    @property
    def row_counts(self) -> NDArray[np.unsignedinteger[Any]] | None:
        """How often each row of ``native`` occurs in the table, in the smallest integer type."""
        if self.rows is None:
            return None
        counts = np.bincount(self.rows, minlength=self.native.shape[0])
        return counts.astype(np.min_scalar_type(counts.max()))

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return self.n_rows, self.n_columns

    def time_kinds(self, columns: Iterable[int]) -> TimeKinds:
        """Return which of these columns hold dates, times or durations."""
        return {}

    def label(self, j: int) -> str:
        """Return the name of column j for a message."""
        return column_label(self.names, j)

    @abstractmethod
    def spans(self, max_cells: int = BLOCK_CELLS) -> list[Span]:
        """Cut all columns into spans of about ``max_cells`` cells (at least one column)."""

    @abstractmethod
    def read(self, span: Span) -> Numbers | Categories:
        """Read the columns of a span; spans may be read in any order and from any thread."""

    def read_stored(self, span: Span) -> Numbers | SparseNumbers | Categories:
        """Read the columns of a span, without the zeros of a sparse table."""
        return self.read(span)

    def is_numeric(self, span: Span) -> bool:
        """Whether the columns of a span are numbers that need no work in Python to be read."""
        return True

    @property
    def is_in_place(self) -> bool:
        """Whether the whole table is numbers that ``read`` does not copy."""
        return False

    def blocks(self) -> Iterator[Numbers | Categories]:
        """Read all columns from left to right."""
        return (self.read(span) for span in self.spans())

    def _width(self, max_cells: int) -> int:
        # A block reads all rows of native, even if the table has few of them.
        return max(1, max_cells // max(1, self.n_rows, self.native.shape[0]))

    def _take_rows(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.rows is None:
            return values
        if values.flags.f_contiguous:  # column by column: several times faster
            return np.take(values.T, self.rows, axis=1).T
        return values[self.rows]


class ArrayTable(Table):
    """A two-dimensional NumPy array of one type."""

    def __init__(self, array: NDArray[Any]) -> None:
        super().__init__(array)
        if array.dtype.kind == "c":
            raise InvalidTableError(
                "Complex data not supported: X holds complex numbers. Pass the real and the "
                "imaginary parts as separate columns."
            )
        self._array = array
        self.cell_bytes = array.itemsize

    def time_kinds(self, columns: Iterable[int]) -> TimeKinds:
        """See Table."""
        if self._array.dtype.kind not in "OmM":
            return {}
        kinds = {j: kind_of_array(self._array[:, j]) for j in columns}
        return {j: kind for j, kind in kinds.items() if kind is not None}

    def spans(self, max_cells: int = BLOCK_CELLS) -> list[Span]:
        """See Table."""
        if not self.is_numeric(Span(0, self.n_columns)):
            return _cut(0, self.n_columns, 1)
        width = self._width(max_cells)
        if self.rows is None and not self._array.flags.f_contiguous:
            # Numbers are read in place, and the columns of a row-major array share cache lines.
            width = max(width, MIN_ROW_COLUMNS, MIN_ROW_BYTES // self._array.itemsize)
        return _cut_evenly(self.n_columns, width)

    def is_numeric(self, span: Span) -> bool:
        """See Table: all columns have one type."""
        return self._array.dtype.kind in "biufmM"

    @property
    def is_in_place(self) -> bool:
        """See Table."""
        return self.rows is None and is_read_in_place(self._array)

    def read(self, span: Span) -> Numbers | Categories:
        """See Table."""
        values = self._take_rows(self._array[:, span.start : span.stop])
        return read_array(values, span.start, self.names)


class SparseTable(Table):
    """A scipy sparse table; only one span at a time is made dense."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(matrix)
        if matrix.dtype.kind == "c":
            raise InvalidTableError("Complex data not supported: X holds complex numbers.")
        self._columns = checked_csc(matrix)
        if not self._columns.has_canonical_format:  # a value may be stored in several parts
            self._columns = self._columns.copy()
            self._columns.sum_duplicates()

    def spans(self, max_cells: int = BLOCK_CELLS) -> list[Span]:
        """See Table."""
        return _cut(0, self.n_columns, self._width(max_cells))

    def read(self, span: Span) -> Numbers | Categories:
        """See Table."""
        dense = self._columns[:, span.start : span.stop].toarray(order="F")
        return read_array(self._take_rows(dense), span.start, self.names)

    def read_stored(self, span: Span) -> Numbers | SparseNumbers | Categories:
        """See Table."""
        if self.rows is not None:
            return self.read(span)
        offsets = self._columns.indptr[span.start : span.stop + 1]
        stored = slice(offsets[0], offsets[-1])
        return SparseNumbers(
            span.start,
            self._columns.data[stored].astype(np.float64),
            self._columns.indices[stored].astype(np.int64),
            (offsets - offsets[0]).astype(np.int64),
        )


class FrameTable(Table):
    """A DataFrame of any library narwhals reads eagerly."""

    def __init__(self, frame: nw.DataFrame[Any], names: tuple[str, ...] | None) -> None:
        super().__init__(frame.to_native(), names)
        self._frame = frame
        self._dtypes = list(frame.schema.values())
        is_pandas = frame.implementation.is_pandas_like()
        self._storage = list(self.native.dtypes) if is_pandas else self._dtypes

    def dtype(self, j: int) -> nw.dtypes.DType:
        """Return the type of column j."""
        return self._dtypes[j]

    def series(self, j: int) -> nw.Series[Any]:
        """Return column j of the user's table."""
        return self._frame[:, j]

    def time_kinds(self, columns: Iterable[int]) -> TimeKinds:
        """See Table."""
        # Each type is looked at once: that takes microseconds.
        known = {dtype: kind_of_dtype(dtype) for dtype in set(self._dtypes)}
        if nw.Object() not in known and not any(known.values()):
            return {}
        kinds = {
            j: kind_of_array(self._frame[:, j].to_numpy())
            if self._dtypes[j] == nw.Object
            else known[self._dtypes[j]]
            for j in columns
        }
        return {j: kind for j, kind in kinds.items() if kind is not None}

    def spans(self, max_cells: int = BLOCK_CELLS) -> list[Span]:
        """See Table: neighbours of one numeric type are read together."""
        spans: list[Span] = []
        width = self._width(max_cells)
        start = 0
        while start < self.n_columns:
            stop = start + 1
            if self._dtypes[start].is_numeric():
                while stop < self.n_columns and self._storage[stop] == self._storage[start]:
                    stop += 1
            spans += _cut(start, stop, width)
            start = stop
        return spans

    def read(self, span: Span) -> Numbers | Categories:
        """See Table."""
        if self.is_numeric(span):
            if isinstance(self._storage[span.start], np.dtype):  # of pandas, several times faster
                values = self.native.iloc[:, span.start : span.stop].to_numpy()
            elif self._frame.implementation.is_pyarrow():
                values = stack_arrow(self.native.columns[span.start : span.stop])
            else:
                values = self._frame[:, span.start : span.stop].to_numpy()
            if values.dtype != object:
                return read_array(self._take_rows(values), span.start, self.names)
            columns = [self._read_column(j) for j in range(span.start, span.stop)]
            return Numbers(span.start, np.hstack([c.values for c in columns]))  # type: ignore[union-attr]
        return self._read_column(span.start)

    def is_numeric(self, span: Span) -> bool:
        """See Table."""
        dtype = self._dtypes[span.start]
        return dtype.is_numeric() and not dtype.is_decimal() and dtype not in _NOT_IN_NUMPY

    def _read_column(self, j: int) -> Numbers | Categories:
        series = self._frame[:, j]
        if self.rows is not None:
            series = series[self.rows]
        dtype = self._dtypes[j]
        if dtype in (nw.String, nw.Categorical, nw.Enum):
            return read_strings(series, j, self.label(j))
        if dtype.is_nested():
            raise not_a_column(self.label(j), str(dtype))
        try:
            if dtype == nw.Boolean:
                series = series.cast(nw.Int8) if series.null_count() else series
            elif dtype in _NOT_IN_NUMPY or dtype.is_decimal():
                series = series.cast(nw.Float64)
            elif dtype == nw.Date:
                return Numbers(j, days_as_nanoseconds(series)[:, None])
            values = series.to_numpy()
        except Exception as error:
            raise not_a_column(self.label(j), str(dtype)) from error
        return read_array(values[:, None], j, self.names)


def as_table(X: Any, *, min_rows: int = 1) -> Table:
    """Open any table as a :class:`Table`.

    InvalidTableError: X is not two-dimensional, has no columns or fewer rows than ``min_rows``, has
    complex numbers, or has two columns of one name.
    """
    table = X if isinstance(X, Table) else _open(X)
    check_shape(table.n_rows, table.n_columns, min_rows=min_rows)
    return table


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix of SciPy; there is none before its module is imported."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(X))


def check_shape(n_rows: int, n_columns: int, *, min_rows: int) -> None:
    """Raise InvalidTableError if there are no columns, or too few rows."""
    shape = f"(shape=({n_rows}, {n_columns}))"
    if n_columns < 1:
        raise InvalidTableError(
            f"Found array with 0 feature(s) {shape} while a minimum of 1 is required."
        )
    if n_rows < min_rows:
        raise InvalidTableError(
            f"Found array with {n_rows} sample(s) {shape} while a minimum of {min_rows} is "
            "required."
        )


def _open(X: Any) -> Table:
    if type(X) is np.ndarray:  # the usual case, without asking other libraries
        return ArrayTable(_as_array(X))
    if isinstance(X, (str, PathLike)):
        raise InvalidTableError(
            f"X is the path {str(X)!r}, but a table in memory is needed here. Read it first, for "
            "example with pandas.read_parquet. (The information-theoretic selectors, such as "
            "HOCMIM, also fit a Parquet data set by its path.)"
        )
    if is_sparse(X):
        if X.ndim != 2:
            raise _not_two_dimensional(X.ndim)
        return SparseTable(X)
    if not isinstance(X, (np.ndarray, list, tuple)):
        if nw.dependencies.is_into_dataframe(X):
            return _open_frame(X)
        if nw.dependencies.is_into_series(X):
            raise _not_two_dimensional(1)
        if hasattr(X, "collect") and nw.dependencies.is_polars_lazyframe(X):
            raise InvalidTableError(
                "X is a lazy frame, but a table in memory is needed here. Call .collect() and pass "
                "the result."
            )
        if hasattr(X, "__arrow_c_stream__"):
            return _open_frame(_from_arrow(X))
    return ArrayTable(_as_array(X))


def _from_arrow(X: Any) -> Any:
    """Return an object that streams Arrow data (a RecordBatch, a query) as a pyarrow Table."""
    is_read = nw.dependencies.is_into_dataframe(X) or nw.dependencies.is_into_series(X)
    if is_read or not hasattr(X, "__arrow_c_stream__"):
        return X
    try:
        import pyarrow
    except ImportError as error:
        raise not_installed(f"Reading a {type(X).__name__} needs", "pyarrow") from error
    return pyarrow.table(X)


def _open_frame(X: Any) -> Table:
    if getattr(getattr(X, "columns", None), "nlevels", 1) > 1:  # a MultiIndex of pandas
        joined = ["/".join(map(str, label)) for label in X.columns]
        X = X.copy(deep=False)
        X.columns = joined
    labels = list(X.column_names if hasattr(X, "column_names") else X.columns)
    if len(set(labels)) < len(labels):
        raise InvalidTableError(
            f"X has more than one column named {first_repeated(labels)!r}. Give every column a "
            "different name."
        )
    are_strings = [isinstance(label, str) for label in labels]
    if any(are_strings) and not all(are_strings):
        odd = labels[are_strings.index(False)]
        raise InvalidTableError(
            f"Some column names of X are strings and others are not (such as {odd!r}). Convert "
            "them all to strings, for example with X.columns = X.columns.astype(str)."
        )
    names = tuple(labels) if labels and all(are_strings) else None
    return FrameTable(nw.from_native(X, eager_only=True), names)


def _as_array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        return unmask(X)
    try:
        array = np.asarray(X)
        if array.dtype.kind == "U" and not hasattr(X, "dtype"):
            array = np.asarray(X, dtype=object)  # numbers in a mixed list stay numbers
    except ValueError as error:
        raise InvalidTableError(
            f"X cannot be read as a table: {error}. Give every row the same number of values."
        ) from error
    if array.ndim != 2:
        raise _not_two_dimensional(array.ndim)
    return array


def _not_two_dimensional(ndim: int) -> InvalidTableError:
    return InvalidTableError(
        f"Expected 2D array, got {'scalar' if ndim == 0 else f'{ndim}D'} array instead. Reshape "
        "your data either using array.reshape(-1, 1) if your data has a single feature or "
        "array.reshape(1, -1) if it contains a single sample."
    )


def first_repeated(labels: Iterable[Any]) -> Any | None:
    """Return the first label that is a duplicate, or None."""
    seen = set()
    for label in labels:
        if label in seen:
            return label
        seen.add(label)
    return None


def _cut(start: int, stop: int, width: int) -> list[Span]:
    return [Span(a, min(a + width, stop)) for a in range(start, stop, width)]


def _cut_evenly(n_columns: int, width: int) -> list[Span]:
    """Cut into spans of at most ``width`` columns that differ by at most one column."""
    n_spans = -(-n_columns // width)
    ends = [n_columns * k // n_spans for k in range(n_spans + 1)]
    return [Span(start, stop) for start, stop in pairwise(ends)]


def take_columns(X: Any, indices: ArrayLike) -> Any:
    """Return columns of X in the given order, in the same container and with the same types.

    Nested lists become a NumPy array; a sparse matrix that is neither CSR nor CSC becomes CSR.
    """
    places = np.asarray(indices, np.int64)
    X = _from_arrow(X)
    if is_sparse(X):
        return (X if X.format in ("csr", "csc") else X.tocsr())[:, places]
    if isinstance(X, np.ndarray):
        return X[:, places]
    if isinstance(X, (list, tuple)) or not nw.dependencies.is_into_dataframe(X):
        return _as_array(X)[:, places]
    if hasattr(X, "iloc"):
        return X.iloc[:, places]
    return nw.from_native(X, eager_only=True)[:, places.tolist()].to_native()


def take_rows(X: Any, indices: ArrayLike) -> Any:
    """Return rows of X in the given order, in the same container; nested lists as an array."""
    places = np.asarray(indices, np.int64)
    X = _from_arrow(X)
    if is_sparse(X):
        return X.tocsr()[places]
    if isinstance(X, np.ndarray):
        return X[places]
    if isinstance(X, (list, tuple)) or not nw.dependencies.is_into_dataframe(X):
        return _as_array(X)[places]
    if hasattr(X, "iloc"):
        return X.iloc[places]
    return nw.from_native(X, eager_only=True)[places.tolist()].to_native()

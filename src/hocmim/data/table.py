"""The gateway: any table, read as blocks of numbers and columns of categories.

A table is a NumPy array, a pandas or polars DataFrame, a pyarrow Table (or whatever else narwhals
reads eagerly, or streams Arrow data), a scipy sparse matrix or array, or nested lists. Nothing here
copies a whole table: columns are read block by block, a sparse table too, and so are the rows of a
table that is seen through an index of its rows (:meth:`Table.take`).

What a column is:

* **numbers**: booleans, integers, floating-point numbers, decimals; dates and times as nanoseconds
  (since 1970 UTC, since midnight, or of duration). Numbers are compared as 64-bit floating-point
  values. A missing value (NaN, None, NaT, NA, null, masked) is NaN.
* **categories**: strings and categorical columns. The levels are the values that occur, sorted; a
  missing value has no level.

Anything else (complex numbers, mixed or other Python objects, lists, structs) is an error that
names the column.
"""

from __future__ import annotations

import copy
import datetime as dt
import numbers
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from os import PathLike
from typing import Any, NamedTuple, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from hocmim.errors import (
    InvalidColumnError,
    InvalidTableError,
    InvalidTargetError,
    InvalidWeightsError,
    MissingDependencyError,
)

BLOCK_CELLS = 1 << 20
"""Cells read at a time unless told otherwise: 8 MB of floating-point numbers."""

MAX_ROWS = (1 << 32) - 2
"""The kernels count samples in 32 bits."""

_LINE_COLUMNS = 8

_NOT_IN_NUMPY = (nw.Int128, nw.UInt128)

_NANOSECONDS = {
    "W": 7 * 86_400e9,
    "D": 86_400e9,
    "h": 3_600e9,
    "m": 60e9,
    "s": 1e9,
    "ms": 1e6,
    "us": 1e3,
    "ns": 1.0,
    "ps": 1e-3,
    "fs": 1e-6,
    "as": 1e-9,
}


class Span(NamedTuple):
    """Columns start..stop-1, to be read together."""

    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numeric columns side by side: an (n_rows, width) array of booleans, integers or floats."""

    start: int
    values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Categories:
    """One column of categories: ``levels[codes[i]]`` is row i, code -1 is missing."""

    start: int
    codes: NDArray[np.int64]
    levels: list[Any]


class Table(ABC):
    """A table seen as columns.

    Attributes
    ----------
    n_rows, n_columns : int
    native : object
        The table as it was given (nested lists as an array).
    rows : ndarray of int64, or None
        Which rows of ``native`` are the rows of the table, in this order; None if all, once each.
    names : tuple of str, or None
        None when the columns have no names (or names that are not strings, as scikit-learn has
        it: a DataFrame with the default integer labels has no names).
    """

    def __init__(self, native: Any, names: tuple[str, ...] | None = None) -> None:
        self.native = native
        self.n_rows, self.n_columns = native.shape
        self.names = names
        self.rows: NDArray[np.int64] | None = None

    def take(self, rows: NDArray[np.int64]) -> Self:
        """Return the table of these rows, in this order, any of them any number of times.

        A view: a block is made of them when it is read, before anything is asked of its values.
        """
        view = copy.copy(self)
        view.rows = rows if self.rows is None else self.rows[rows]
        view.n_rows = len(rows)
        return view

    @property
    def row_counts(self) -> NDArray[np.unsignedinteger[Any]] | None:
        """How often each row of ``native`` is in the table, in as few bytes as can hold it."""
        if self.rows is None:
            return None
        counts = np.bincount(self.rows, minlength=self.native.shape[0])
        return counts.astype(np.min_scalar_type(counts.max()))

    @property
    def shape(self) -> tuple[int, int]:
        """(n_rows, n_columns)."""
        return self.n_rows, self.n_columns

    def label(self, j: int) -> str:
        """What to call column j in a message."""
        return column_label(self.names, j)

    @abstractmethod
    def spans(self, max_cells: int = BLOCK_CELLS) -> list[Span]:
        """All columns, cut into spans of about ``max_cells`` cells (at least one column)."""

    @abstractmethod
    def read(self, span: Span) -> Numbers | Categories:
        """The columns of one span; spans may be read in any order and from any thread."""

    def blocks(self, max_cells: int = BLOCK_CELLS) -> Iterator[Numbers | Categories]:
        """All columns from left to right."""
        return (self.read(span) for span in self.spans(max_cells))

    def _width(self, max_cells: int) -> int:
        # All rows of native are read, however few of them are taken then.
        return max(1, max_cells // max(1, self.n_rows, self.native.shape[0]))

    def _taken(self, values: NDArray[Any]) -> NDArray[Any]:
        if self.rows is None:
            return values
        if values.flags.f_contiguous:  # column by column: several times faster then
            return np.take(values.T, self.rows, axis=1).T
        return values[self.rows]


def column_label(names: Sequence[str] | None, j: int) -> str:
    """What to call column j in a message."""
    return f"column {j}" if names is None else f"column {names[j]!r}"


class ArrayTable(Table):
    """A two-dimensional NumPy array of one type."""

    def __init__(self, array: NDArray[Any]) -> None:
        super().__init__(array)
        if array.dtype.kind == "c":
            raise InvalidTableError(
                "Complex data not supported: X holds complex numbers. Pass the real and the "
                "imaginary parts as columns of their own."
            )
        self._array = array

    def spans(self, max_cells: int = BLOCK_CELLS) -> list[Span]:
        """See Table."""
        if self._array.dtype.kind not in "biufmM":
            return _cut(0, self.n_columns, 1)
        # Numbers are read in place, and the columns of a row-major array share cache lines.
        return _cut(0, self.n_columns, max(_LINE_COLUMNS, self._width(max_cells)))

    def read(self, span: Span) -> Numbers | Categories:
        """See Table."""
        values = self._taken(self._array[:, span.start : span.stop])
        return _read_array(values, span.start, self.label(span.start))


class SparseTable(Table):
    """A scipy sparse table; only one span at a time is ever dense."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(matrix)
        if matrix.dtype.kind == "c":
            raise InvalidTableError("Complex data not supported: X holds complex numbers.")
        self._columns = matrix.tocsc()

    def spans(self, max_cells: int = BLOCK_CELLS) -> list[Span]:
        """See Table."""
        return _cut(0, self.n_columns, self._width(max_cells))

    def read(self, span: Span) -> Numbers | Categories:
        """See Table."""
        dense = self._columns[:, span.start : span.stop].toarray(order="F")
        return _read_array(self._taken(dense), span.start, self.label(span.start))


class FrameTable(Table):
    """A DataFrame of any library narwhals reads eagerly."""

    def __init__(self, frame: nw.DataFrame[Any], names: tuple[str, ...] | None) -> None:
        super().__init__(frame.to_native(), names)
        self._frame = frame
        self._dtypes = list(frame.schema.values())
        is_pandas = frame.implementation.is_pandas_like()
        self._storage = list(self.native.dtypes) if is_pandas else self._dtypes

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
        dtype = self._dtypes[span.start]
        if dtype.is_numeric() and not dtype.is_decimal() and dtype not in _NOT_IN_NUMPY:
            values = self._frame[:, span.start : span.stop].to_numpy()
            if values.dtype != object:
                return _read_array(self._taken(values), span.start, self.label(span.start))
            columns = [self._read_column(j) for j in range(span.start, span.stop)]
            return Numbers(span.start, np.hstack([c.values for c in columns]))  # type: ignore[union-attr]
        return self._read_column(span.start)

    def _read_column(self, j: int) -> Numbers | Categories:
        series = self._frame[:, j]
        if self.rows is not None:
            series = series[self.rows]
        dtype = self._dtypes[j]
        if dtype in (nw.String, nw.Categorical, nw.Enum):
            return _read_strings(series, j, self.label(j))
        if dtype.is_nested():
            raise _not_a_column(self.label(j), str(dtype))
        try:
            if dtype == nw.Boolean:
                series = series.cast(nw.Int8) if series.null_count() else series
            elif dtype in _NOT_IN_NUMPY or dtype.is_decimal():
                series = series.cast(nw.Float64)
            elif dtype == nw.Date:
                series = series.cast(nw.Datetime("us"))
            values = series.to_numpy()
        except Exception as error:
            raise _not_a_column(self.label(j), str(dtype)) from error
        return _read_array(values[:, None], j, self.label(j))


def as_table(X: Any, *, min_rows: int = 1) -> Table:
    """Any table as a :class:`Table`.

    Parameters
    ----------
    X : array-like, DataFrame, pyarrow Table or sparse matrix of shape (n_rows, n_columns)
    min_rows : int
        Fewer rows than this are an error.

    Raises
    ------
    InvalidTableError
        If X is not two-dimensional, has no columns or too few rows, has complex numbers, or has
        two columns of one name.
    """
    table = X if isinstance(X, Table) else _open(X)
    check_shape(table.n_rows, table.n_columns, min_rows=min_rows)
    return table


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
    if isinstance(X, (str, PathLike)):
        raise InvalidTableError(
            f"X is the path {str(X)!r}, and a table in memory is needed here. Read it first, for "
            "example with pandas.read_parquet. (The information-theoretic selectors, HOCMIM and "
            "its relatives, also fit Parquet data sets by their path.)"
        )
    if sparse.issparse(X):
        if X.ndim != 2:
            raise _not_two_dimensional(X.ndim)
        return SparseTable(X)
    X = _from_arrow(X)
    if not isinstance(X, (np.ndarray, list, tuple)):
        if nw.dependencies.is_into_series(X):
            raise _not_two_dimensional(1)
        if nw.dependencies.is_into_dataframe(X):
            return _open_frame(X)
        if hasattr(X, "collect") and nw.dependencies.is_polars_lazyframe(X):
            raise InvalidTableError("X is a lazy frame. Call .collect() and pass the result.")
    return ArrayTable(_as_array(X))


def _from_arrow(X: Any) -> Any:
    """What streams Arrow data but is no DataFrame (a RecordBatch, a query) as a pyarrow Table."""
    is_read = nw.dependencies.is_into_dataframe(X) or nw.dependencies.is_into_series(X)
    if is_read or not hasattr(X, "__arrow_c_stream__"):
        return X
    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError(
            f"Reading a {type(X).__name__} needs pyarrow. Install it with: pip install pyarrow"
        ) from error
    return pyarrow.table(X)


def _open_frame(X: Any) -> Table:
    labels = list(X.column_names if hasattr(X, "column_names") else X.columns)
    repeated = first_repeated(labels)
    if repeated is not None:
        raise InvalidTableError(
            f"X has more than one column of the name {repeated!r}. Give every column a name of "
            "its own."
        )
    are_strings = [isinstance(label, str) for label in labels]
    if any(are_strings) and not all(are_strings):
        odd = labels[are_strings.index(False)]
        raise InvalidTableError(
            f"The column names of X mix strings and others (such as {odd!r}). Make them all "
            "strings, for example by X.columns = X.columns.astype(str)."
        )
    names = tuple(labels) if labels and all(are_strings) else None
    return FrameTable(nw.from_native(X, eager_only=True), names)


def _as_array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        return _unmasked(X)
    try:
        array = np.asarray(X)
        if array.dtype.kind == "U" and not hasattr(X, "dtype"):
            array = np.asarray(X, dtype=object)  # keeps the numbers of a mixed list numbers
    except ValueError as error:
        raise InvalidTableError(
            f"X cannot be read as a table: {error}. Give every row the same number of values."
        ) from error
    if array.ndim != 2:
        raise _not_two_dimensional(array.ndim)
    return array


def _unmasked(X: Any) -> NDArray[Any]:
    """A masked array with what is masked as missing."""
    if not np.ma.is_masked(X) or X.dtype.kind == "c":
        return np.asarray(X)
    if X.dtype.kind in "biuf":
        return np.asarray(X.astype(np.float64).filled(np.nan))
    if X.dtype.kind in "mM":
        return np.asarray(X.filled(np.array("NaT", X.dtype)))
    values = X.data.astype(object)
    values[X.mask] = None
    return np.asarray(values)


def _not_two_dimensional(ndim: int) -> InvalidTableError:
    return InvalidTableError(
        f"Expected 2D array, got {'scalar' if ndim == 0 else f'{ndim}D'} array instead. Reshape "
        "your data either using array.reshape(-1, 1) if your data has a single feature or "
        "array.reshape(1, -1) if it contains a single sample."
    )


def first_repeated(labels: Iterable[Any]) -> Any | None:
    """The first label that occurred before, if there is one."""
    seen = set()
    for label in labels:
        if label in seen:
            return label
        seen.add(label)
    return None


def _cut(start: int, stop: int, width: int) -> list[Span]:
    return [Span(a, min(a + width, stop)) for a in range(start, stop, width)]


# --- reading columns ------------------------------------------------------------------------------


def _read_array(values: NDArray[Any], start: int, label: str) -> Numbers | Categories:
    """Columns of one NumPy type; those that are not numbers come one at a time."""
    kind = values.dtype.kind
    if kind in "biuf" and not _is_plain(values):
        values = values.astype(values.dtype.newbyteorder("="))
    if kind in "biu" or values.dtype in (np.float32, np.float64):
        return Numbers(start, values)
    if kind == "f":
        return Numbers(start, values.astype(np.float32 if values.itemsize < 4 else np.float64))
    if kind in "mM":
        return Numbers(start, _nanoseconds(values))
    if kind == "T" and hasattr(values.dtype, "na_object"):
        return _read_objects(values[:, 0].astype(object), start, label)
    if kind in "UST":
        levels, codes = np.unique(values[:, 0], return_inverse=True)
        return Categories(start, codes.astype(np.int64), levels.tolist())
    if kind == "O":
        return _read_objects(values[:, 0], start, label)
    if kind == "c":
        raise InvalidTableError(f"Complex data not supported: {label} of X is complex.")
    raise _not_a_column(label, str(values.dtype))


def _is_plain(values: NDArray[Any]) -> bool:
    """Whether the kernels can read it in place: native byte order, whole steps, aligned."""
    steps_are_whole = not any(stride % values.itemsize for stride in values.strides)
    return values.dtype.isnative and values.flags.aligned and steps_are_whole


def _nanoseconds(values: NDArray[Any]) -> NDArray[np.float64]:
    unit, count = np.datetime_data(values.dtype)
    if unit not in _NANOSECONDS:  # months and years have no fixed length, days have
        values = values.astype(f"{values.dtype.kind}8[D]")
        unit, count = "D", 1
    # Scaled as floating point: dates far from 1970 do not fit 64-bit nanoseconds.
    scaled: NDArray[np.float64] = values.view(np.int64).astype(np.float64)
    scaled *= _NANOSECONDS[unit] * count
    scaled[np.isnat(values)] = np.nan
    return scaled


def _read_strings(series: nw.Series[Any], j: int, label: str) -> Categories:
    """A column of strings or categories of a DataFrame."""
    if series.implementation.is_pandas_like():
        codes, uniques = series.to_native().factorize()
        return _sorted_categories(j, np.asarray(codes, np.int64), uniques.tolist(), label)
    return _index_strings(series.cast(nw.String).to_list(), j)


def _index_strings(values: Sequence[str | None], j: int) -> Categories:
    """Strings, or None where one is missing, as indices of the sorted distinct ones."""
    levels = sorted(value for value in set(values) if value is not None)
    index: dict[str | None, int] = {level: code for code, level in enumerate(levels)}
    index[None] = -1
    return Categories(j, np.fromiter(map(index.__getitem__, values), np.int64, len(values)), levels)


def _read_objects(values: NDArray[Any], j: int, label: str) -> Numbers | Categories:
    """A column of Python objects: all strings, all numbers or all dates, apart from missing."""
    missing = _missing_objects(values)
    present = values[~missing]
    types = set(map(type, present))
    if not types:
        return Numbers(j, np.full((len(values), 1), np.nan))
    if all(issubclass(t, str) for t in types):
        strings = values.copy()
        strings[missing] = None
        return _index_strings(strings.tolist(), j)
    column = np.full((len(values), 1), np.nan)
    column[~missing, 0] = _objects_as_numbers(present, types, label)
    return Numbers(j, column)


def _objects_as_numbers(present: NDArray[Any], types: set[type], label: str) -> NDArray[Any]:
    if any(issubclass(t, (complex, np.complexfloating)) for t in types):
        raise InvalidTableError(f"Complex data not supported: {label} of X is complex.")
    try:
        if all(issubclass(t, (numbers.Real, np.bool_, Decimal)) for t in types):
            return present.astype(np.float64)
        if all(issubclass(t, (dt.date, np.datetime64)) for t in types):
            return _nanoseconds(np.array([_in_utc(t) for t in present], "datetime64[us]"))
        if all(issubclass(t, (dt.timedelta, np.timedelta64)) for t in types):
            return _nanoseconds(present.astype("timedelta64[us]"))
        if all(issubclass(t, dt.time) for t in types):
            day = dt.datetime.min
            since_midnight = [
                dt.datetime.combine(day, t.replace(tzinfo=None)) - day for t in present
            ]
            return _nanoseconds(np.array(since_midnight, "timedelta64[us]"))
    except OverflowError as error:
        raise InvalidTableError(
            f"A number in {label} of X is too large for 64-bit floating point."
        ) from error
    raise _not_a_column(label, " and ".join(sorted(t.__qualname__ for t in types)))


def _in_utc(time: Any) -> Any:
    """A time without its zone, by the clock of UTC; one that has no zone is taken as it is."""
    if getattr(time, "tzinfo", None) is None:
        return time
    return time.astimezone(dt.UTC).replace(tzinfo=None)


def _missing_objects(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which objects stand for a missing value: None, NaN, NaT, NA."""
    odd = [t for t in set(map(type, values)) if not issubclass(t, (str, int, np.bool_))]
    if not odd:  # the common case costs one pass over the types
        return np.zeros(len(values), bool)
    return np.fromiter(map(_is_missing, values), bool, len(values))


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, (float, np.floating, np.datetime64, np.timedelta64, Decimal)):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def _sorted_categories(
    j: int, codes: NDArray[np.int64], levels: list[Any], label: str
) -> Categories:
    """Number the levels in sorted order."""
    try:
        order = sorted(range(len(levels)), key=levels.__getitem__)
    except TypeError as error:
        kinds = " and ".join(sorted({type(level).__qualname__ for level in levels}))
        raise _not_a_column(label, kinds) from error
    rank = np.empty(len(levels) + 1, np.int64)
    rank[order] = np.arange(len(levels))
    rank[-1] = -1
    return Categories(j, rank[codes], [levels[i] for i in order])


def _not_a_column(label: str, found: str) -> InvalidColumnError:
    return InvalidColumnError(
        f"A column given as argument must be made of strings or of numbers, but {label} of X holds "
        f"{found}. Convert it (for example with astype(str)) or drop it."
    )


# --- numbers for methods that do not use codes ----------------------------------------------------


class NumericMatrix(NamedTuple):
    """A table as numbers: see :func:`numeric_matrix`."""

    values: NDArray[np.float64]
    is_categorical: NDArray[np.bool_]
    has_missing: NDArray[np.bool_]


def numeric_matrix(X: Any, *, allow_missing: bool = True) -> NumericMatrix:
    """The whole table as one array of numbers, for methods that work on raw values.

    Booleans are 0 and 1, dates and times nanoseconds; a column of strings or categories becomes
    the index of each value among the sorted values that occur. This *is* a dense copy.

    Parameters
    ----------
    X : Table or anything :func:`as_table` takes
    allow_missing : bool
        Whether a missing value is NaN in the result, or an error that names its column.

    Returns
    -------
    values : ndarray of float64, shape (n_rows, n_columns)
    is_categorical : ndarray of bool, shape (n_columns,)
    has_missing : ndarray of bool, shape (n_columns,)

    Raises
    ------
    InvalidTableError
        If a column holds an infinite value, or a missing one and ``allow_missing`` is false.
    """
    table = as_table(X)
    values = np.empty((table.n_rows, table.n_columns))
    is_categorical = np.zeros(table.n_columns, bool)
    for block in table.blocks():
        if isinstance(block, Categories):
            is_categorical[block.start] = True
            values[:, block.start] = np.where(block.codes < 0, np.nan, block.codes)
        else:
            values[:, block.start : block.start + block.values.shape[1]] = block.values
    has_missing = np.asarray(np.isnan(values).any(axis=0))
    reject_non_finite(table, values, allow_missing=allow_missing)
    return NumericMatrix(values, is_categorical, has_missing)


def check_finite(table: Table, *, allow_missing: bool = False) -> None:
    """Raise InvalidTableError if a column has an infinite (or a missing) value."""
    for block in table.blocks():
        if isinstance(block, Numbers):
            reject_non_finite(table, block.values, block.start, allow_missing=allow_missing)
        elif not allow_missing and (block.codes < 0).any():
            raise _missing(table, block.start)


def reject_non_finite(
    table: Table, values: NDArray[Any], start: int = 0, *, allow_missing: bool
) -> None:
    """Raise the error that names the first column of ``values`` which is not finite."""
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    infinite = np.isinf(values).any(axis=0)
    if infinite.any():
        raise infinite_value(table, start + int(np.argmax(infinite)))
    if not allow_missing:
        raise _missing(table, start + int(np.argmax(np.isnan(values).any(axis=0))))


def infinite_value(table: Table, j: int) -> InvalidTableError:
    """The error for an infinite value in column j."""
    return InvalidTableError(
        f"Input X contains infinity (inf) in {table.label(j)}. Replace it by a finite value, or by "
        "NaN if it stands for a missing one."
    )


def _missing(table: Table, j: int) -> InvalidTableError:
    return InvalidTableError(
        f"Input X contains NaN (a missing value) in {table.label(j)}. This method needs complete "
        "columns: fill the gaps first, for example with sklearn.impute.SimpleImputer."
    )


# --- taking columns back out ----------------------------------------------------------------------


def take_columns(X: Any, indices: ArrayLike) -> Any:
    """Columns of X in the given order, in the container X came in and with their types kept.

    Nested lists come back as a NumPy array, a sparse matrix that is neither CSR nor CSC as CSR.
    """
    places = np.asarray(indices, np.int64)
    X = _from_arrow(X)
    if sparse.issparse(X):
        return (X if X.format in ("csr", "csc") else X.tocsr())[:, places]
    if isinstance(X, np.ndarray):
        return X[:, places]
    if isinstance(X, (list, tuple)) or not nw.dependencies.is_into_dataframe(X):
        return _as_array(X)[:, places]
    if hasattr(X, "iloc"):
        return X.iloc[:, places]
    return nw.from_native(X, eager_only=True)[:, places.tolist()].to_native()


def take_rows(X: Any, indices: ArrayLike) -> Any:
    """Rows of X in the given order, in the container X came in; nested lists as an array."""
    places = np.asarray(indices, np.int64)
    X = _from_arrow(X)
    if sparse.issparse(X):
        return X.tocsr()[places]
    if isinstance(X, np.ndarray):
        return X[places]
    if isinstance(X, (list, tuple)) or not nw.dependencies.is_into_dataframe(X):
        return _as_array(X)[places]
    if hasattr(X, "iloc"):
        return X.iloc[places]
    return nw.from_native(X, eager_only=True)[places.tolist()].to_native()


def check_features(estimator: Any, table: Table, *, reset: bool) -> None:
    """Set, or check against, ``n_features_in_`` and ``feature_names_in_`` of an estimator."""
    X = table.native if table.names else table
    try:
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    except ValueError as error:
        raise InvalidTableError(str(error)) from None


def set_features(estimator: Any, n_columns: int, names: Sequence[str] | None) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_`` where there is no table to read them off."""
    estimator.n_features_in_ = n_columns
    if names is not None:
        estimator.feature_names_in_ = np.array(names, object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


# --- targets --------------------------------------------------------------------------------------


def as_target(
    y: Any,
    n_rows: int | None = None,
    *,
    rows: NDArray[np.int64] | None = None,
    caller: str = "This method",
) -> NDArray[Any]:
    """The target as a one-dimensional array: numbers, booleans or strings, none of them missing.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
    n_rows : int, optional
        The length it must have.
    rows : ndarray of int64, optional
        Take these values of it, in this order; nothing is asked of the others.
    caller : str
        Who needs it, for the message.

    Raises
    ------
    InvalidTargetError
        If y is None, has more than one column, another length than the table, or a value that is
        missing or infinite.
    """
    if y is None:
        raise InvalidTargetError(f"{caller} requires y to be passed, but the target y is None.")
    array = _target_values(y)
    if n_rows is not None and len(array) != n_rows:
        raise InvalidTargetError(
            f"X and y have different lengths: X has {n_rows} rows and y has {len(array)} values."
        )
    if rows is not None:
        array = array[rows]
    if array.dtype.kind == "c":
        raise InvalidTargetError("Complex data not supported: y holds complex numbers.")
    if array.dtype.kind in "mM":
        raise InvalidTargetError("y holds dates or times. Convert them to numbers or to classes.")
    if array.dtype.kind == "O":
        array = _object_target(array)
    if array.dtype.kind == "f":
        if np.isnan(array).any():
            raise InvalidTargetError("Input y contains NaN. Drop the rows without a target.")
        if np.isinf(array).any():
            raise InvalidTargetError(
                f"Input y contains infinity or a value too large for {array.dtype!r}."
            )
    return array


def _target_values(y: Any) -> NDArray[Any]:
    if sparse.issparse(y):
        raise InvalidTargetError("Sparse data is not supported as y. Pass y.toarray().ravel().")
    if nw.dependencies.is_into_series(y):
        series = nw.from_native(y, series_only=True)
        dtype = series.dtype
        textual = dtype in (nw.Categorical, nw.Enum) and not series.implementation.is_pandas_like()
        array = (series.cast(nw.String) if textual else series).to_numpy()
    else:
        if nw.dependencies.is_into_dataframe(y):
            y = nw.from_native(y, eager_only=True).to_numpy()
        array = _unmasked(y) if isinstance(y, np.ma.MaskedArray) else np.asarray(y)
        if array.dtype.kind == "U" and not hasattr(y, "dtype"):
            array = np.asarray(y, dtype=object)  # keeps a missing value among strings missing
    if array.ndim == 2 and array.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=2,
        )
        array = array[:, 0]
    if array.ndim != 1:
        raise InvalidTargetError(
            f"y should be a 1d array, got an array of shape {array.shape} instead."
        )
    return array


def _object_target(array: NDArray[Any]) -> NDArray[Any]:
    """An array of Python objects as strings or numbers."""
    if _missing_objects(array).any():
        raise InvalidTargetError("Input y contains NaN. Drop the rows without a target.")
    types = set(map(type, array))
    if all(issubclass(t, str) for t in types):
        return array
    if all(issubclass(t, (bool, np.bool_)) for t in types):
        return array.astype(bool)
    if all(issubclass(t, (int, np.integer)) for t in types):
        return array.astype(np.int64)
    if all(issubclass(t, (numbers.Real, np.bool_, Decimal)) for t in types):
        return array.astype(np.float64)
    kinds = " and ".join(sorted(t.__qualname__ for t in types))
    raise InvalidTargetError(f"y must be made of strings or of numbers, and it holds {kinds}.")


# --- weights --------------------------------------------------------------------------------------


def as_counts(sample_weight: Any, n_rows: int) -> NDArray[np.int64] | None:
    """Weights as how often each row counts; None if each counts once.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), or None
        Whole numbers of 0 or more. (One number is taken for all rows.)
    n_rows : int

    Raises
    ------
    InvalidWeightsError
        If they are not, if there are others than ``n_rows`` of them, or if all are zero.
    """
    if sample_weight is None:
        return None
    weights = _weight_values(sample_weight, n_rows)
    is_count = (weights >= 0) & (weights == np.rint(weights)) & np.isfinite(weights)
    if not is_count.all():
        row = int(np.argmin(is_count))
        raise InvalidWeightsError(
            f"sample_weight must be whole numbers of 0 or more, and the one of row {row} is "
            f"{weights[row]}. A row of weight w counts as w equal rows, since an estimate depends "
            "on how many samples there are. Multiply the weights by a number that makes them "
            "counts and round them, or draw rows with these probabilities, as in "
            "rng.choice(len(X), len(X), p=w / w.sum()), and pass no weights."
        )
    total = float(weights.sum())
    if total == 0:
        raise InvalidWeightsError("All of sample_weight is zero, so that no row is left.")
    if total > MAX_ROWS:
        raise InvalidWeightsError(
            f"sample_weight adds up to {total:.3g} rows, and {MAX_ROWS} is the most. Divide the "
            "weights by a common factor, and round them."
        )
    counts = weights.astype(np.int64)
    return None if (counts == 1).all() else counts


def repeated_rows(counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Every row as often as it counts, in the order of the table."""
    return np.repeat(np.arange(len(counts)), counts)


def _weight_values(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    try:
        if nw.dependencies.is_into_series(sample_weight):
            sample_weight = nw.from_native(sample_weight, series_only=True).to_numpy()
        if isinstance(sample_weight, np.ma.MaskedArray):
            sample_weight = _unmasked(sample_weight)
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidWeightsError(
            f"sample_weight must be numbers, one for each row: {error}."
        ) from error
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.ndim != 1:
        raise InvalidWeightsError(
            f"Sample weights must be 1D array or scalar, got {weights.ndim}D array. Pass one "
            "weight for each row."
        )
    if len(weights) != n_rows:
        raise InvalidWeightsError(
            f"sample_weight has {len(weights)} values and X has {n_rows} rows. Pass one weight for "
            "each row."
        )
    return weights

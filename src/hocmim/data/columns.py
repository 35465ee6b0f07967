"""Columns of a table as numbers or as categories.

* **numbers**: booleans, integers, floating-point numbers, decimals; dates and times as nanoseconds
  (since 1970 UTC, since midnight, or of duration). Numbers are compared as 64-bit floating-point
  values. A missing value (NaN, None, NaT, NA, null, masked) is NaN.
* **categories**: strings and categorical columns. The levels are the values that occur, sorted. A
  missing value has no level.

Anything else (complex numbers, mixed or other Python objects, lists, structs) is an error that
names the column.
"""

from __future__ import annotations

import datetime as dt
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import NoneType
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hocmim.errors import InvalidColumnError, InvalidTableError

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
    """Columns start..stop-1, read together."""

    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numeric columns side by side: an (n_rows, width) array of booleans, integers or floats."""

    start: int
    values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class SparseNumbers:
    """Numeric columns of a sparse table: all values are zero but the stored ones.

    The stored values of column k are ``values[offsets[k]:offsets[k + 1]]``, in the rows ``rows`` of
    the same places.
    """

    start: int
    values: NDArray[np.float64]
    rows: NDArray[np.int64]
    offsets: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Categories:
    """One column of categories: row i is ``levels[codes[i]]``; code -1 is missing."""

    start: int
    codes: NDArray[np.int64]
    levels: list[Any]


def column_label(names: Sequence[str] | None, j: int) -> str:
    """Return the name of column j for a message."""
    return f"column {j}" if names is None else f"column {names[j]!r}"


def read_array(
    values: NDArray[Any], start: int, names: Sequence[str] | None
) -> Numbers | Categories:
    """Read columns of one NumPy type; columns that are not numbers one at a time.

    ``names`` are those of all columns of the table, for a message.
    """
    if is_read_in_place(values):
        return Numbers(start, values)
    kind = values.dtype.kind
    if kind in "biu":
        return Numbers(start, values.astype(values.dtype.newbyteorder("=")))
    if kind == "f":
        with np.errstate(over="ignore"):  # beyond 64 bits it is infinite, which is an error later
            return Numbers(start, values.astype(np.float32 if values.itemsize < 4 else np.float64))
    if kind in "mM":
        return Numbers(start, _nanoseconds(values))
    label = column_label(names, start)
    if kind == "T" and hasattr(values.dtype, "na_object"):
        return _read_objects(values[:, 0].astype(object), start, label)
    if kind in "UST":
        levels, codes = np.unique(values[:, 0], return_inverse=True)
        return Categories(start, codes.astype(np.int64), levels.tolist())
    if kind == "O":
        return _read_objects(values[:, 0], start, label)
    if kind == "c":
        raise InvalidTableError(f"Complex data not supported: {label} of X is complex.")
    raise not_a_column(label, str(values.dtype))


def stack_arrow(columns: Sequence[Any]) -> NDArray[Any]:
    """Return pyarrow columns of one numeric type side by side, copied once; null as NaN."""
    n_rows = len(columns[0])
    chunks = [
        [chunk.to_numpy(zero_copy_only=False) for chunk in column.chunks] for column in columns
    ]
    types = [part.dtype for column in chunks for part in column]
    values = np.empty((n_rows, len(columns)), np.result_type(*types) if types else float, order="F")
    for k, parts in enumerate(chunks):
        if parts:
            np.concatenate(parts, out=values[:, k])
    return values


def is_read_in_place(values: NDArray[Any]) -> bool:
    """Whether an array is numbers that the kernels read where they are."""
    if values.dtype.kind not in "biu" and values.dtype not in (np.float32, np.float64):
        return False
    has_whole_strides = not np.remainder(values.strides, values.itemsize).any()
    return values.dtype.isnative and values.flags.aligned and has_whole_strides


def _nanoseconds(values: NDArray[Any]) -> NDArray[np.float64]:
    unit, count = np.datetime_data(values.dtype)
    if unit not in _NANOSECONDS:  # months and years have no fixed length
        values = values.astype(f"{values.dtype.kind}8[D]")
        unit, count = "D", 1
    # Scaled as floating point: dates far from 1970 overflow 64-bit nanoseconds.
    scaled: NDArray[np.float64] = values.view(np.int64).astype(np.float64)
    scaled *= _NANOSECONDS[unit] * count
    scaled[np.isnat(values)] = np.nan
    return scaled


def days_as_nanoseconds(dates: nw.Series[Any]) -> NDArray[np.float64]:
    """Return a column of dates as nanoseconds since 1970; any date of 32-bit days is allowed."""
    days = dates.cast(nw.Date).cast(nw.Int32).cast(nw.Float64).to_numpy()
    return np.asarray(days, np.float64) * _NANOSECONDS["D"]


def read_strings(series: nw.Series[Any], j: int, label: str) -> Categories:
    """Read a column of strings or categories of a DataFrame."""
    if series.implementation.is_pandas_like():
        values = series.to_native().array
        if hasattr(values, "categories"):
            codes = np.asarray(values.codes, np.int64)
            return _occurring_categories(j, codes, values.categories.tolist(), label)
        codes, uniques = series.to_native().factorize()
        return _sorted_categories(j, np.asarray(codes, np.int64), uniques.tolist(), label)
    if series.implementation.is_pyarrow():
        found = series.to_native()
        if getattr(found.type, "value_type", None) == "string":
            return _read_dictionary(found, j, label)
    try:
        strings = series.cast(nw.String)
    except NotImplementedError:  # pyarrow 17 and the type string_view
        return _index_strings(series.to_list(), j)
    if series.implementation.is_polars():
        levels = strings.drop_nulls().unique().sort().to_list()
        ranks = strings.cast(nw.Enum(levels)).to_native().to_physical().cast(int)
        return Categories(j, ranks.fill_null(-1).to_numpy(), levels)
    if series.implementation.is_pyarrow():
        encoded = strings.to_native().combine_chunks().dictionary_encode()
        places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        try:
            levels = encoded.dictionary.to_pylist()
        except UnicodeDecodeError as error:
            raise not_utf8(label) from error
        return _sorted_categories(j, places.astype(np.int64), levels, label)
    return _index_strings(strings.to_list(), j)


def _read_dictionary(column: Any, j: int, label: str) -> Categories:
    """Read a pyarrow column of strings with dictionaries, which may repeat one, or hold null."""
    array = column.unify_dictionaries().combine_chunks()
    codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    try:
        return _occurring_categories(j, codes, array.dictionary.to_pylist(), label)
    except UnicodeDecodeError as error:
        raise not_utf8(label) from error


def not_utf8(label: str) -> InvalidTableError:
    """Return the error for a column of text with bytes that are no text."""
    return InvalidTableError(
        f"The text in {label} of X is not UTF-8. Make the table again from its source."
    )


def _occurring_categories(
    j: int, codes: NDArray[np.int64], every: list[Any], label: str
) -> Categories:
    """Return categories of these levels: only those that occur, each once, and no None."""
    occurs = np.bincount(codes + 1, minlength=len(every) + 1)[1:] > 0
    distinct: dict[Any, int] = {}
    place = np.full(len(every) + 1, -1, np.int64)
    for code in np.flatnonzero(occurs).tolist():
        if every[code] is not None:
            place[code] = distinct.setdefault(every[code], len(distinct))
    return _sorted_categories(j, place[codes], list(distinct), label)


def _index_strings(values: Sequence[str | None], j: int) -> Categories:
    """Return strings (None if missing) as indices of the sorted distinct ones."""
    levels = sorted(value for value in set(values) if value is not None)
    index: dict[str | None, int] = {level: code for code, level in enumerate(levels)}
    index[None] = -1
    return Categories(j, np.fromiter(map(index.__getitem__, values), np.int64, len(values)), levels)


def _read_objects(values: NDArray[Any], j: int, label: str) -> Numbers | Categories:
    """Read a column of Python objects: all strings, all numbers, or all dates or times."""
    missing = missing_objects(values)
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
            with np.errstate(over="ignore"):  # a longer float that is infinite in 64 bits
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
    raise not_a_column(label, " and ".join(sorted(t.__qualname__ for t in types)))


def _in_utc(time: Any) -> Any:
    """Return a time in UTC, without its zone; a time without a zone is not changed."""
    if getattr(time, "tzinfo", None) is None:
        return time
    return time.astimezone(dt.UTC).replace(tzinfo=None)


def missing_objects(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which objects are missing values: None, NaN, NaT, NA."""
    types = set(map(type, values))
    if all(issubclass(t, (str, int, np.bool_)) for t in types):  # the common case, fast
        return np.zeros(len(values), bool)
    if all(issubclass(t, (str, int, np.bool_, NoneType)) for t in types):
        return np.fromiter((value is None for value in values), bool, len(values))
    return np.fromiter(map(_is_missing, values), bool, len(values))


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # a signalling NaN cannot be compared
    if isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def _sorted_categories(
    j: int, codes: NDArray[np.int64], levels: list[Any], label: str
) -> Categories:
    """Return categories whose levels are sorted."""
    try:
        order = sorted(range(len(levels)), key=levels.__getitem__)
    except TypeError as error:
        kinds = " and ".join(sorted({type(level).__qualname__ for level in levels}))
        raise not_a_column(label, kinds) from error
    rank = np.empty(len(levels) + 1, np.int64)
    rank[order] = np.arange(len(levels))
    rank[-1] = -1
    return Categories(j, rank[codes], [levels[i] for i in order])


def not_a_column(label: str, found: str) -> InvalidColumnError:
    """Return the error for a column that is neither numbers nor categories."""
    return InvalidColumnError(
        f"A column given as argument must be made of strings or of numbers, but {label} of X holds "
        f"{found}. Convert it (for example with astype(str)) or drop it."
    )


def unmask(X: Any) -> NDArray[Any]:
    """Return a masked array as an array whose masked values are missing."""
    if not np.ma.is_masked(X) or X.dtype.kind == "c":
        return np.asarray(X)
    if X.dtype.kind in "biuf":
        return np.asarray(X.astype(np.float64).filled(np.nan))
    if X.dtype.kind in "mM":
        return np.asarray(X.filled(np.array("NaT", X.dtype)))
    values = X.data.astype(object)
    values[X.mask] = None
    return np.asarray(values)

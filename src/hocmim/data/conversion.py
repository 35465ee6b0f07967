"""Convert the text of a table to numbers and dates, in the table's own kind of container.

``learn`` looks at each column of text and says how it is read; ``apply`` converts a table in the
ways that were learnt, so that a second table is read as the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hocmim.data.columns import Categories, Span, missing_objects, not_utf8
from hocmim.data.recognize import (
    CATEGORY,
    DATE,
    DATE_PARTS,
    NUMBER,
    Reading,
    TextSettings,
    looks_readable,
    recognize,
)
from hocmim.data.table import ArrayTable, FrameTable, Table, as_table, take_rows
from hocmim.errors import InvalidParameterError, InvalidTableError
from hocmim.text import did_you_mean, quote

# A column is read as a whole only if it looks like numbers or dates in some rows, evenly spaced.
SAMPLE_ROWS = 200
PARTS = ("year", "month", "day", "weekday", "hour")
WEEKDAYS = np.array(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], object)
# 1970-01-01 was a Thursday.
FIRST_WEEKDAY = 3


@dataclass(frozen=True)
class ColumnReading:
    """What was done with one column.

    Attributes
    ----------
    index : int
        The column of the table.
    name : str
        Its name, or "column 3" if the columns have no names.
    reading : Reading or None
        How its text is read; None if the column was not text and was declared to be something.
    declared : str or None
        What the user declared it to be.
    parts : tuple of str
        The parts that a column of dates is split into.
    """

    index: int
    name: str
    reading: Reading | None
    declared: str | None = None
    parts: tuple[str, ...] = ()

    def sentence(self, options: dict[str, str]) -> str:
        """Return what was done, in one line. ``options`` as in ``Reading.describe``."""
        return f"{quote(self.name)}: {self.describe(options)}."

    def describe(self, options: dict[str, str]) -> str:
        """Return what was done, without the name of the column."""
        if self.declared == CATEGORY:
            return "each distinct value is a category"
        parts = f"split into {', '.join(self.parts)}" if self.parts else ""
        said = self.reading.describe(options) if self.reading is not None else ""
        return ", ".join(filter(None, [said, parts]))


@dataclass(frozen=True)
class TextConversion:
    """How the columns of a table are converted."""

    columns: tuple[ColumnReading, ...]

    @classmethod
    def learn(cls, X: Any, settings: TextSettings | None = None) -> TextConversion:
        """Return how the columns of text of a table are read.

        Parameters
        ----------
        X : table
        settings : TextSettings, optional

        Raises
        ------
        InvalidParameterError
            If ``settings`` names no column of X, or a column that cannot be what they declare.
        """
        settings = settings or TextSettings()
        settings.check()
        table = as_table(X)
        names = _names(table)
        for name in settings.kinds:
            if name not in names:
                raise InvalidParameterError(
                    f"There is no column {quote(name)}.{did_you_mean(name, names)}"
                )
        sample = _sample_of(table)
        found = [
            _learn_column(table, sample, j, names[j], settings) for j in range(table.n_columns)
        ]
        return cls(tuple(column for column in found if column is not None))

    def apply(self, X: Any) -> Any:
        """Return a table with the columns converted; X is not changed."""
        table = as_table(X)
        columns: dict[int, list[tuple[str, NDArray[Any]]]] = {}
        for column in self.columns:
            is_read = column.reading is not None and column.reading.is_converted
            if (column.declared or is_read) and not _is_converted(table, column):
                columns[column.index] = _convert(table, column)
        if not columns:
            return table.native
        return _replace(table, columns)


def _names(table: Table) -> list[str]:
    if table.names is not None:
        return list(table.names)
    return [f"column {j}" for j in range(table.n_columns)]


# --- learning -------------------------------------------------------------------------------------


def _learn_column(
    table: Table, sample: Table, j: int, name: str, settings: TextSettings
) -> ColumnReading | None:
    kind = settings.kinds.get(name)
    if kind == CATEGORY:
        return ColumnReading(j, name, None, kind)
    if kind is None and not (may_be_text(sample, j) and _is_promising(sample, j)):
        return None
    if not _is_text(table, j):
        return None if kind is None else _declared_of_values(table, j, name, kind, settings)
    texts, counts, _ = _levels(table, j)
    wanted = DATE if kind == DATE_PARTS else kind
    reading = recognize(texts, counts, settings, wanted)
    if kind is None:
        return None if reading is None else ColumnReading(j, name, reading)
    return _declared_of_text(table, j, name, kind, reading)


def _declared_of_text(
    table: Table, j: int, name: str, kind: str, reading: Reading | None
) -> ColumnReading:
    if reading is None:
        raise InvalidTableError(f"No value of column {quote(name)} can be read as a {kind}.")
    if not reading.is_converted:
        raise InvalidTableError(
            f"Column {quote(name)} cannot be read as a {kind}: "
            f"{reading.describe(DECLARED_OPTIONS)}."
        )
    parts = _parts(name, _dates(table, j, reading)) if kind == DATE_PARTS else ()
    return ColumnReading(j, name, reading, kind, tuple(part for part, _ in parts))


DECLARED_OPTIONS = {name: f"{name} {{}}" for name in ("decimal", "thousands", "dates")}


def _declared_of_values(
    table: Table, j: int, name: str, kind: str, settings: TextSettings
) -> ColumnReading | None:
    """Return how a column that is not text becomes what the user declares."""
    is_date = bool(table.time_kinds([j]))
    if kind == NUMBER or (is_date and kind == DATE):
        return None
    if not is_date:
        texts, counts, _ = _levels(table, j)
        return _declared_of_text(table, j, name, kind, recognize(texts, counts, settings, DATE))
    parts = tuple(part for part, _ in _parts(name, _dates(table, j, None)))
    return ColumnReading(j, name, None, kind, parts)


def _is_text(table: Table, j: int) -> bool:
    if isinstance(table, FrameTable):
        return table.dtype(j) == nw.String or _has_strings(table, j)
    return isinstance(table, ArrayTable) and _has_strings(table, j)


def may_be_text(table: Table, j: int) -> bool:
    """Whether the type of a column allows strings."""
    if isinstance(table, FrameTable):
        return table.dtype(j) in (nw.String, nw.Object)
    return isinstance(table, ArrayTable) and table.native.dtype.kind in "OUT"


def _has_strings(table: Table, j: int) -> bool:
    """Whether the present values of a column of Python objects are strings."""
    values = _objects(table, j)
    if values is None:
        return False
    if values.dtype.kind in "UT":
        return True
    types = set(map(type, values)) if values.dtype.kind == "O" else set()
    if str not in types:
        return False
    return all(isinstance(value, str) for value in values[~missing_objects(values)])


def _objects(table: Table, j: int) -> NDArray[Any] | None:
    """Return a column as a NumPy array; None if it is not one of Python objects or strings."""
    if isinstance(table, ArrayTable):
        return np.asarray(table.native[:, j])
    if isinstance(table, FrameTable) and table.dtype(j) == nw.Object:
        return np.asarray(table.series(j).to_numpy())
    return None


def _sample_of(table: Table) -> Table:
    """Return evenly spaced rows of a table, as a small table."""
    n_rows = table.n_rows
    if n_rows <= SAMPLE_ROWS:
        return table
    rows = np.linspace(0, n_rows - 1, SAMPLE_ROWS).astype(np.int64)
    return as_table(take_rows(table.native, rows))


def _is_promising(sample: Table, j: int) -> bool:
    """Whether a column of a sample is text that looks like numbers or dates."""
    if isinstance(sample, FrameTable):
        try:
            values = sample.series(j).to_list()
        except UnicodeDecodeError as error:
            raise not_utf8(sample.label(j)) from error
    else:
        values = sample.native[:, j].tolist()
    distinct = {value for value in values if isinstance(value, str)}
    return looks_readable(sorted(distinct))


def _levels(table: Table, j: int) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values of a column as text, how often each occurs, and their codes."""
    block = table.read(Span(j, j + 1))
    if isinstance(block, Categories):
        codes, texts = block.codes, [str(level) for level in block.levels]
    else:
        numbers = np.asarray(block.values[:, 0])
        levels, codes = np.unique(numbers, return_inverse=True)
        texts = [_number_text(level) for level in levels.tolist()]
        is_missing = np.array([level != level for level in levels.tolist()], bool)
        codes = np.where(is_missing[codes], -1, codes)
    return texts, np.bincount(codes[codes >= 0], minlength=len(texts)), codes


def _number_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(value)


# --- converting -----------------------------------------------------------------------------------


def _is_converted(table: Table, column: ColumnReading) -> bool:
    """Whether a column holds numbers or dates already, as in a later table without odd texts."""
    if column.reading is None or column.parts or _is_text(table, column.index):
        return False
    return column.reading.kind == NUMBER or bool(table.time_kinds([column.index]))


def _convert(table: Table, column: ColumnReading) -> list[tuple[str, NDArray[Any]]]:
    """Return the names and values of the columns that stand for a column."""
    j, name = column.index, column.name
    if column.declared == CATEGORY:
        texts, _, codes = _levels(table, j)
        return [(name, np.array([*texts, None], object)[codes])]
    if column.declared == DATE_PARTS:
        parts = dict(_parts(name, _dates(table, j, column.reading), every=True))
        return [(part, parts[part]) for part in column.parts]
    reading = column.reading
    if reading is None:
        raise ValueError(name)
    return [(name, _parsed(table, j, reading))]


def _parsed(table: Table, j: int, reading: Reading) -> NDArray[Any]:
    texts, _, codes = _levels(table, j)
    values = reading.parse(texts)
    return np.append(values, np.array([np.nan]).astype(values.dtype))[codes]


def _dates(table: Table, j: int, reading: Reading | None) -> NDArray[np.datetime64]:
    if reading is not None:
        return _parsed(table, j, reading)
    block = table.read(Span(j, j + 1))
    if isinstance(block, Categories):
        raise InvalidTableError(f"{table.label(j)} of X held dates in fit, and holds text now.")
    nanoseconds = np.asarray(block.values[:, 0], np.float64)
    dates = np.full(len(nanoseconds), np.datetime64("NaT"), "datetime64[us]")
    is_known = ~np.isnan(nanoseconds)
    dates[is_known] = (nanoseconds[is_known] / 1e3).astype(np.int64).astype("datetime64[us]")
    return dates


def _parts(
    name: str, dates: NDArray[np.datetime64], *, every: bool = False
) -> list[tuple[str, NDArray[Any]]]:
    """Return the parts of dates; the hour only if some date has a time, unless ``every``."""
    missing = np.isnat(dates)
    days = dates.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    weekday = (days.astype(np.int64) + FIRST_WEEKDAY) % len(WEEKDAYS)
    numbers: dict[str, NDArray[Any]] = {
        "year": months.astype("datetime64[Y]").astype(np.int64) + 1970,
        "month": months.astype(np.int64) % 12 + 1,
        "day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
        "hour": (dates - days).astype("timedelta64[h]").astype(np.int64),
    }
    has_times = bool((dates[~missing] != days[~missing]).any())
    parts: list[tuple[str, NDArray[Any]]] = []
    for part in PARTS:
        if part == "weekday":
            names = WEEKDAYS[weekday]
            names[missing] = None
            parts.append((f"{name}.{part}", names))
        elif part != "hour" or has_times or every:
            values = numbers[part].astype(np.float64)
            values[missing] = np.nan
            parts.append((f"{name}.{part}", values))
    return parts


# --- writing into the table -----------------------------------------------------------------------


def _replace(table: Table, columns: dict[int, list[tuple[str, NDArray[Any]]]]) -> Any:
    if isinstance(table, FrameTable):
        return _replace_in_frame(table, columns)
    values: list[NDArray[Any]] = []
    for j in range(table.n_columns):
        old = [("", np.asarray(table.native[:, j]))]
        values += [new for _, new in columns.get(j, old)]
    if all(column.dtype.kind in "biuf" for column in values):
        return np.column_stack(values)
    array = np.empty((table.n_rows, len(values)), object)
    for j, column in enumerate(values):
        array[:, j] = list(column) if column.dtype.kind == "M" else column
    return array


def _replace_in_frame(table: FrameTable, columns: dict[int, list[tuple[str, NDArray[Any]]]]) -> Any:
    frame = nw.from_native(table.native, eager_only=True)
    labels = list(frame.columns)
    if table.names is None and any(len(new) > 1 for new in columns.values()):
        raise InvalidTableError("Dates can be split into parts only if the columns have names.")
    taken = set(labels)
    series: list[nw.Series[Any]] = []
    for j, label in enumerate(labels):
        if j not in columns:
            series.append(table.series(j))
            continue
        is_split = len(columns[j]) > 1
        for name, values in columns[j]:
            if is_split and name in taken:
                raise InvalidTableError(
                    f"The part {quote(name)} of {quote(str(label))} has the name of another "
                    "column. Rename that column."
                )
            series.append(
                _series(name if len(columns[j]) > 1 else label, values, frame.implementation)
            )
    if frame.implementation.is_pandas_like():
        native = [one.to_native() for one in series]
        pandas: Any = nw.get_native_namespace(frame)
        for one in native:
            one.index = table.native.index
        return pandas.concat(native, axis=1)
    return nw.from_dict({one.name: one for one in series}, backend=frame.implementation).to_native()


def _series(name: Any, values: NDArray[Any], backend: Any) -> nw.Series[Any]:
    if backend.is_pyarrow():
        import pyarrow as pa

        array = pa.array(values, from_pandas=True)  # NaN is a missing value
        return nw.from_native(pa.chunked_array([array]), series_only=True).alias(name)
    if backend.is_polars() and values.dtype.kind == "f":
        import polars as pl

        return nw.from_native(pl.Series(name, values, nan_to_null=True), series_only=True)
    made: Sequence[Any] | NDArray[Any] = values.tolist() if values.dtype == object else values
    return nw.new_series(name, made, backend=backend)

"""Read the text of a table as numbers and dates, in the table's own kind of container.

``TextConverter`` looks at each column of text and learns how it is read; a ``TableReading`` keeps
that, so that a second table is read as the first. ``recognize`` has the rules.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.data.checks import check_features
from hocmim.data.columns import Categories, Span, missing_objects, not_utf8
from hocmim.data.recognize import (
    CATEGORY,
    DATE,
    DATE_PARTS,
    KINDS,
    NUMBER,
    ORDERS,
    ColumnReading,
    Notation,
    looks_readable,
    recognize,
)
from hocmim.data.table import ArrayTable, FrameTable, Table, as_table, take_rows
from hocmim.data.values import require
from hocmim.errors import InvalidParameterError, InvalidTableError
from hocmim.text import did_you_mean, quote, value_text

if TYPE_CHECKING:
    from hocmim._sklearn import BaseEstimator, TransformerMixin
else:
    from sklearn.base import BaseEstimator, TransformerMixin

# A column is read as a whole only if it looks like numbers or dates in some rows, evenly spaced.
SAMPLE_ROWS = 200
PARTS = ("year", "month", "day", "weekday", "hour")
WEEKDAYS = np.array(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], object)
# 1970-01-01 was a Thursday.
FIRST_WEEKDAY = 3
# The kind of a column that is no text and is not converted.
BOOLEAN = "boolean"
# How messages name the settings.
PYTHON_OPTIONS = {name: f"{name}={{!r}}" for name in ("decimal", "thousands", "dates")}
DECLARED_OPTIONS = {name: f"{name} {{}}" for name in ("decimal", "thousands", "dates")}

Columns = dict[int, list[tuple[str, NDArray[Any]]]]


class TextConverter(TransformerMixin, BaseEstimator):
    """Read numbers and dates that are written as text, such as "1.234,5", "$12" or "31.01.2012".

    ``fit`` recognises how each column of text is read; ``transform`` reads it in this way, in other
    tables too. Columns that are not text are not changed.

    Parameters
    ----------
    decimal : {".", ","}, optional
        The decimal separator of all columns of numbers that it fits. By default it is recognised.
    thousands : {".", ",", " ", "'", "_"}, optional
        The separator of thousands. By default it is recognised.
    dates : str, optional
        "day-first", "month-first", "year-first", or a format such as "%d.%m.%Y". By default it is
        recognised.
    columns : mapping of str to str, optional
        What single columns hold: "number", "category", "date", or "date-parts", which splits a date
        into year, month, day, weekday and, if there are times, hour.

    Attributes
    ----------
    columns_ : tuple of ColumnReading
        What was found in each column of text that looks like numbers or dates, in the order of the
        table.
    messages_ : list of str
        The same as sentences.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table has column names.

    Examples
    --------
    >>> import pandas as pd
    >>> from hocmim import TextConverter
    >>> X = pd.DataFrame({"price": ["34,50", "12,5", "?"], "kind": ["a", "b", "a"]})
    >>> converter = TextConverter().fit(X)
    >>> converter.transform(X)["price"].tolist()
    [34.5, 12.5, nan]
    >>> for message in converter.messages_:
    ...     print(message.partition("; ")[0])
    'price': 2 values read as numbers with decimal separator ','
    """

    def __init__(
        self,
        *,
        decimal: str | None = None,
        thousands: str | None = None,
        dates: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self.decimal = decimal
        self.thousands = thousands
        self.dates = dates
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Recognise how the columns of text of X are read. ``y`` is not used."""
        table = as_table(X)
        self.columns_ = self.learn(table).columns
        check_features(self, table, reset=True)
        self.messages_ = [column.sentence(PYTHON_OPTIONS) for column in self.columns_]
        return self

    def transform(self, X: Any) -> Any:
        """Return X with its text read as numbers and dates, in the same kind of table.

        Nested lists become an array. A text that does not parse becomes a missing value.
        """
        check_is_fitted(self)
        table = as_table(X)
        check_features(self, table, reset=False)
        return TableReading(self.columns_).apply(table)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns of the result."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        parts = {column.index: column.parts for column in self.columns_ if column.parts}
        return np.array(
            [out for j, name in enumerate(names) for out in parts.get(j, (name,))], object
        )

    def __sklearn_tags__(self) -> Any:
        """Tags: any table, with missing values and strings."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags

    def check(self) -> None:
        """Raise an error if a parameter is not allowed."""
        for name, allowed in (("decimal", ".,"), ("thousands", ".,' _")):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and value in tuple(allowed)):
                listed = " ".join(repr(character) for character in allowed)
                raise InvalidParameterError(
                    f"{name} must be one of {listed}. Got {value_text(value)}."
                )
        if self.decimal is not None and self.decimal == self.thousands:
            raise InvalidParameterError(
                f"decimal and thousands must be different. Both are {self.decimal!r}."
            )
        if self.dates is not None:
            _check_dates(self.dates)
        if not (self.columns is None or isinstance(self.columns, Mapping)):
            raise InvalidParameterError(
                "columns must be a dict of names of columns and what they hold, such as "
                f"{{'zip': 'category'}}, or None. Got {value_text(self.columns)} instead."
            )
        for name, kind in (self.columns or {}).items():
            if not isinstance(kind, str) or kind not in KINDS:
                raise InvalidParameterError(
                    f"The kind of column {quote(name)} must be one of {', '.join(KINDS)}. Got "
                    f"{value_text(kind)}.{did_you_mean(str(kind), KINDS, n=1)}"
                )

    def learn(self, X: Any) -> TableReading:
        """Return how the columns of text of a table are read.

        Raises
        ------
        InvalidParameterError
            If ``columns`` names no column of X, or one that cannot be what it declares.
        """
        self.check()
        table = as_table(X)
        names = table.names or tuple(f"column {j}" for j in range(table.n_columns))
        for name in self.columns or {}:
            if name not in names:
                raise InvalidParameterError(
                    f"There is no column {quote(name)}.{did_you_mean(name, names)}"
                )
        sample = table
        if table.n_rows > SAMPLE_ROWS:
            rows = np.linspace(0, table.n_rows - 1, SAMPLE_ROWS).astype(np.int64)
            sample = as_table(take_rows(table.native, rows))
        found = [self._learn_column(table, sample, j, name) for j, name in enumerate(names)]
        return TableReading(tuple(column for column in found if column is not None))

    def _learn_column(self, table: Table, sample: Table, j: int, name: str) -> ColumnReading | None:
        kind = (self.columns or {}).get(name)
        if kind == CATEGORY:
            return ColumnReading(CATEGORY, name=name, index=j)
        if kind is None and not (may_be_text(sample, j) and _is_promising(sample, j)):
            return None
        is_text = _is_text(table, j)
        is_date = not is_text and bool(table.time_kinds([j]))
        if not is_text and (kind in (None, NUMBER) or (is_date and kind == DATE)):
            return None
        reading: ColumnReading | None = ColumnReading(DATE)
        if not is_date:
            texts, counts, _ = _levels(table, j)
            wanted = DATE if kind == DATE_PARTS else kind
            given = {key: getattr(self, key) for key in ("decimal", "thousands", "dates")}
            reading = recognize(texts, counts, wanted, **given)
        if reading is None:
            if kind is None:
                return None
            raise InvalidTableError(f"No value of column {quote(name)} can be read as a {kind}.")
        reading = replace(reading, name=name, index=j)
        if kind is not None and not reading.is_converted:
            said = reading.describe(DECLARED_OPTIONS)
            raise InvalidTableError(f"Column {quote(name)} cannot be read as a {kind}: {said}.")
        if kind == DATE_PARTS:
            parts = _parts(name, _dates(table, j, reading))
            reading = replace(reading, kind=kind, parts=tuple(part for part, _ in parts))
        return reading


def _check_dates(way: Any) -> None:
    if isinstance(way, str) and way in ORDERS:
        return
    if not (isinstance(way, str) and "%" in way):
        raise InvalidParameterError(
            f"dates must be one of {', '.join(ORDERS)}, or a format such as %d.%m.%Y. "
            f"Got {value_text(way)}."
        )
    try:
        dt.datetime.strptime(dt.datetime(2000, 1, 2).strftime(way), way)
    except ValueError as error:
        raise InvalidParameterError(f"{way!r} is not a format of dates: {error}.") from error


def convert_text(X: Any, **options: Any) -> tuple[Any, list[str]]:
    """Read the text of a table as numbers and dates; return the table and what was done.

    For a table that stands alone. To read a second table in the same way, such as the test set, use
    :class:`TextConverter`.

    Parameters
    ----------
    X : table, path, pyarrow data set or RowSource
        NumPy array, pandas or polars DataFrame, pyarrow Table, or nested lists. Or the path of a
        Parquet file or of a folder of them, which is not read into memory.
    **options
        The parameters of :class:`TextConverter`.

    Returns
    -------
    table
        In the same kind of container; for a path a RowSource, which ``fit`` of the
        information-theoretic selectors takes as it takes the path.
    messages : list of str
        A sentence for each column of text that looks like numbers or dates.

    Examples
    --------
    >>> from hocmim import convert_text
    >>> convert_text([["1,5", "a"], ["12,25", "b"]])
    (array([[1.5, 'a'],
           [12.25, 'b']], dtype=object), ["'column 0': 2 values read as numbers with decimal \
separator ','."])
    """
    from hocmim.data.sources import is_row_source, open_source
    from hocmim.data.text_source import convert_source

    converter = TextConverter(**options)
    if is_row_source(X):
        source, columns = convert_source(open_source(X)[0], converter)
        return source, [column.sentence(PYTHON_OPTIONS) for column in columns]
    converter.fit(X)
    return converter.transform(X), converter.messages_


# --- a table that is read as another --------------------------------------------------------------


@dataclass(frozen=True)
class TableReading:
    """How the columns of a table are read.

    Attributes
    ----------
    columns : tuple of ColumnReading
        Columns that are not here stay as they are.
    target : tuple of str
        The columns that are the target.
    missing : tuple of str
        More words for a missing value, in a file.
    has_header : bool
        Whether the first line of a text file has the names of the columns.
    substitutes : dict of str to tuple of str
        Columns that can replace a column, the best first; of those that have some.
    """

    columns: tuple[ColumnReading, ...] = ()
    target: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    has_header: bool = True
    substitutes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, table: Any, names: Sequence[str]) -> TableReading:
        """Return how these columns of a converted pyarrow table, and the target, are read again.

        A column that was not converted is read by its type, whatever the type in another file.
        """
        learnt = {part: one for one in self.columns for part in one.parts or (one.name,)}
        opened = as_table(table)
        assert isinstance(opened, FrameTable)
        found = []
        for name in (*names, *self.target):
            one = learnt.get(name)
            if one is None or not one.is_converted:
                j = table.column_names.index(name)
                dtype, is_date = opened.dtype(j), bool(opened.time_kinds([j]))
                kind = NUMBER if dtype.is_numeric() else DATE if is_date else CATEGORY
                one = ColumnReading(BOOLEAN if dtype == nw.Boolean else kind, name=name)
            found.append(one)
        return replace(self, columns=tuple(dict.fromkeys(found)))

    @property
    def as_text(self) -> list[str]:
        """The columns of a text file that are read as they are written."""
        return [one.name for one in self.columns if one.kind == CATEGORY or one.way is not None]

    def apply(self, X: Any) -> Any:
        """Return a table with the columns converted; X is not changed."""
        table = as_table(X)
        columns: Columns = {}
        for column in self.columns:
            if column.is_converted and not _is_as_read(table, column):
                columns[column.index] = _convert(table, column)
        return _replace(table, columns) if columns else table.native

    def origins(self, names: Sequence[str]) -> list[str]:
        """Return the columns of a file that these columns are made of: themselves, or dates."""
        origin = {part: column.name for column in self.columns for part in column.parts}
        return list(dict.fromkeys(origin.get(name, name) for name in names))

    def select(self, table: Any, names: Sequence[str]) -> Any:
        """Return these columns of a pyarrow table, in this order, read as in the first table.

        The table may have other columns, in another order. A column that it lacks has no values.
        """
        import pyarrow as pa

        needed = self.origins(names)
        kinds = {one.name: one for one in self.columns}
        for name in [name for name in needed if name not in table.column_names]:
            is_boolean = name in kinds and kinds[name].kind == BOOLEAN
            empty = pa.nulls(table.num_rows, pa.bool_() if is_boolean else pa.string())
            table = table.append_column(name, empty)
        here = [
            replace(kinds[name], index=j, name=name)
            for j, name in enumerate(needed)
            if name in kinds
        ]
        return TableReading(tuple(here)).apply(table.select(needed)).select(list(names))

    def content(self) -> dict[str, Any]:
        """Return the reading as JSON."""
        columns = [
            [one.name, one.kind, list(way) if isinstance(way := one.way, Notation) else way,
             list(one.parts)]
            for one in self.columns
        ]  # fmt: skip
        return {
            "columns": columns,
            "target": list(self.target),
            "missing": list(self.missing),
            "has_header": self.has_header,
            "substitutes": {name: list(others) for name, others in self.substitutes.items()},
        }

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> TableReading:
        """Return the reading that ``content`` described; MalformedError if it is not valid."""
        columns = []
        for name, kind, way, parts in content["columns"]:
            _require_names([name, *parts])
            require(kind in (*KINDS, BOOLEAN), "a kind of column is not known")
            is_notation = isinstance(way, list) and all(isinstance(one, str) for one in way)
            if is_notation and kind == NUMBER:
                way = Notation(*way)
            elif way is not None:
                require(isinstance(way, str) and kind in (DATE, DATE_PARTS), "a way is not valid")
                _check_dates(way)
            columns.append(ColumnReading(kind, way, name=name, parts=tuple(parts)))
        require(type(content["has_header"]) is bool, "has_header must be true or false")
        substitutes = {name: tuple(each) for name, each in content["substitutes"].items()}
        for names in (content["target"], content["missing"], *substitutes.values()):
            _require_names(names)
        lists = tuple(content["target"]), tuple(content["missing"])
        return cls(tuple(columns), *lists, content["has_header"], substitutes)


def _require_names(names: Sequence[Any]) -> None:
    require(all(isinstance(name, str) for name in names), "names must be strings")


# --- what a column holds --------------------------------------------------------------------------


def may_be_text(table: Table, j: int) -> bool:
    """Whether the type of a column allows strings."""
    if isinstance(table, FrameTable):
        return table.dtype(j) in (nw.String, nw.Object)
    return isinstance(table, ArrayTable) and table.native.dtype.kind in "OUT"


def _is_text(table: Table, j: int) -> bool:
    """Whether the present values of a column are strings."""
    if isinstance(table, FrameTable) and table.dtype(j) != nw.Object:
        return table.dtype(j) == nw.String
    if not may_be_text(table, j):
        return False
    values = np.asarray(
        table.series(j).to_numpy() if isinstance(table, FrameTable) else table.native[:, j]
    )
    if values.dtype.kind != "O":
        return True
    is_missing = missing_objects(values)
    return not is_missing.all() and all(isinstance(one, str) for one in values[~is_missing])


def _is_promising(sample: Table, j: int) -> bool:
    """Whether a column of a sample is text that looks like numbers or dates."""
    if isinstance(sample, FrameTable):
        try:
            values = sample.series(j).to_list()
        except UnicodeDecodeError as error:
            raise not_utf8(sample.label(j)) from error
    else:
        values = sample.native[:, j].tolist()
    return looks_readable(sorted({value for value in values if isinstance(value, str)}))


def _levels(table: Table, j: int) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values of a column as text, how often each occurs, and their codes."""
    block = table.read(Span(j, j + 1))
    if isinstance(block, Categories):
        codes, texts = block.codes, [str(level) for level in block.levels]
    else:
        levels, codes = np.unique(np.asarray(block.values[:, 0]), return_inverse=True)
        texts = [_number_text(level) for level in levels.tolist()]
        is_missing = np.array([level != level for level in levels.tolist()], bool)
        codes = np.where(is_missing[codes], -1, codes)
    return texts, np.bincount(codes[codes >= 0], minlength=len(texts)), codes


def _number_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(value)


# --- converting -----------------------------------------------------------------------------------


def _is_as_read(table: Table, column: ColumnReading) -> bool:
    """Whether a column needs no conversion, such as one without odd texts in a later table."""
    is_text = _is_text(table, column.index)
    if column.kind == CATEGORY:
        is_category = isinstance(table, FrameTable) and table.dtype(column.index) in (
            nw.Categorical,
            nw.Enum,
        )
        return is_text or is_category
    if column.parts or is_text:
        return False
    return column.kind == NUMBER or bool(table.time_kinds([column.index]))


def _convert(table: Table, column: ColumnReading) -> list[tuple[str, NDArray[Any]]]:
    """Return the names and values of the columns that stand for a column."""
    j, name = column.index, column.name
    if column.kind == CATEGORY:
        texts, _, codes = _levels(table, j)
        return [(name, np.array([*texts, None], object)[codes])]
    if column.kind == DATE_PARTS:
        parts = dict(_parts(name, _dates(table, j, column), every=True))
        return [(part, parts[part]) for part in column.parts]
    return [(name, _parsed(table, j, column))]


def _parsed(table: Table, j: int, reading: ColumnReading) -> NDArray[Any]:
    texts, _, codes = _levels(table, j)
    values = reading.parse(texts)
    return np.append(values, np.array([np.nan]).astype(values.dtype))[codes]


def _dates(table: Table, j: int, reading: ColumnReading) -> NDArray[np.datetime64]:
    if reading.way is not None or not table.time_kinds([j]):
        return _parsed(table, j, reading)
    block = table.read(Span(j, j + 1))
    nanoseconds = np.asarray(block.values[:, 0], np.float64)  # type: ignore[union-attr]
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
            values = WEEKDAYS[weekday]
            values[missing] = None
        elif part != "hour" or has_times or every:
            values = numbers[part].astype(np.float64)
            values[missing] = np.nan
        else:
            continue
        parts.append((f"{name}.{part}", values))
    return parts


# --- writing into the table -----------------------------------------------------------------------


def _replace(table: Table, columns: Columns) -> Any:
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


def _replace_in_frame(table: FrameTable, columns: Columns) -> Any:
    frame = nw.from_native(table.native, eager_only=True)
    labels = list(frame.columns)
    if table.names is None and any(len(new) > 1 for new in columns.values()):
        raise InvalidTableError("Dates can be split into parts only if the columns have names.")
    series: list[nw.Series[Any]] = []
    for j, label in enumerate(labels):
        if j not in columns:
            series.append(table.series(j))
            continue
        is_split = len(columns[j]) > 1
        for name, values in columns[j]:
            if is_split and name in labels:
                raise InvalidTableError(
                    f"The part {quote(name)} of {quote(str(label))} has the name of another "
                    "column. Rename that column."
                )
            series.append(_series(name if is_split else label, values, frame.implementation))
    if frame.implementation.is_pandas_like():
        native = [one.to_native() for one in series]
        pandas: Any = nw.get_native_namespace(frame)
        for one in native:
            one.index = table.native.index
        return pandas.concat(native, axis=1)
    if frame.implementation.is_pyarrow():  # narwhals forgets the type of a column without values
        import pyarrow as pa

        return pa.table({one.name: one.to_native() for one in series})
    return nw.from_dict({one.name: one for one in series}, backend=frame.implementation).to_native()


def _series(name: Any, values: NDArray[Any], backend: Any) -> nw.Series[Any]:
    if backend.is_pyarrow():
        import pyarrow as pa

        # NaN is a missing value; a column without values keeps its type.
        kind = pa.string() if values.dtype == object else pa.from_numpy_dtype(values.dtype)
        array = pa.array(values, kind, from_pandas=True)
        return nw.from_native(pa.chunked_array([array]), series_only=True).alias(name)
    if backend.is_polars() and values.dtype.kind == "f":
        import polars as pl

        return nw.from_native(pl.Series(name, values, nan_to_null=True), series_only=True)
    made: Sequence[Any] | NDArray[Any] = values.tolist() if values.dtype == object else values
    return nw.new_series(name, made, backend=backend)

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
from hocmim.parameters import check_value, one_of
from hocmim.text import did_you_mean, quote, value_text

if TYPE_CHECKING:
    from hocmim._sklearn import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
else:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

DECIMALS, THOUSANDS = (".", ","), (".", ",", " ", "'", "_")
# A column is read as a whole only if it looks like numbers or dates in some rows, evenly spaced.
SAMPLE_ROWS = 200
# The kind of a column that is no text and is not converted.
BOOLEAN = "boolean"
# How messages name the settings.
PYTHON_OPTIONS = {name: f"{name}={{!r}}" for name in ("decimal", "thousands", "dates")}
DECLARED_OPTIONS = {name: f"{name} {{}}" for name in ("decimal", "thousands", "dates")}


class TextConverter(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
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
        What single columns hold: "number", "category" or "date".

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

    def __sklearn_tags__(self) -> Any:
        """Tags: any table, with missing values and strings."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags

    def check(self) -> None:
        """Raise an error if a parameter is not allowed."""
        check_value("decimal", self.decimal, [one_of(DECIMALS), None])
        check_value("thousands", self.thousands, [one_of(THOUSANDS), None])
        check_value("columns", self.columns, [dict, None])
        if self.decimal is not None and self.decimal == self.thousands:
            raise InvalidParameterError(
                f"decimal and thousands must be different. Both are {self.decimal!r}."
            )
        if self.dates is not None:
            _check_dates(self.dates)
        for name, kind in (self.columns or {}).items():
            if not isinstance(kind, str) or kind not in KINDS:
                raise InvalidParameterError(
                    f"The kind of column {quote(name)} must be one of {', '.join(KINDS)}. Got "
                    f"{value_text(kind)}.{did_you_mean(str(kind), KINDS, n=1)}"
                )

    def learn(self, X: Any) -> TableReading:
        """Return how the columns of text of a table are read; ``columns`` must fit it."""
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
        if kind is None and not (_may_be_text(sample, j) and _is_promising(sample, j)):
            return None
        if not _is_text(table, j) and (kind != DATE or table.time_kinds([j])):
            return None
        texts, counts, _ = _levels(table, j)
        given = {key: getattr(self, key) for key in ("decimal", "thousands", "dates")}
        reading = recognize(texts, counts, kind, **given)
        if reading is None:
            if kind is None:
                return None
            raise InvalidTableError(f"No value of column {quote(name)} can be read as a {kind}.")
        reading = replace(reading, name=name, index=j)
        if kind is not None and not reading.is_converted:
            said = reading.describe(DECLARED_OPTIONS)
            raise InvalidTableError(f"Column {quote(name)} cannot be read as a {kind}: {said}.")
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


# --- a table that is read as another --------------------------------------------------------------


@dataclass(frozen=True)
class TableReading:
    """How the columns of a table are read; those that are not in ``columns`` stay as they are.

    ``target`` are the columns that are the target. ``missing`` and ``has_header`` say how the file
    was read. ``substitutes`` are the columns that can replace a column, the best first.
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
        learnt = {one.name: one for one in self.columns}
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
        columns = {
            column.index: _convert(table, column)
            for column in self.columns
            if column.is_converted and not _is_as_read(table, column)
        }
        return _replace(table, columns) if columns else table.native

    def select(self, table: Any, names: Sequence[str]) -> Any:
        """Return these columns of a pyarrow table, in this order, read as in the first table.

        The table may have other columns, in another order. A column that it lacks has no values.
        """
        import pyarrow as pa

        kinds = {one.name: one for one in self.columns}
        for name in [name for name in names if name not in table.column_names]:
            is_boolean = name in kinds and kinds[name].kind == BOOLEAN
            empty = pa.nulls(table.num_rows, pa.bool_() if is_boolean else pa.string())
            table = table.append_column(name, empty)
        here = [replace(kinds[name], index=j) for j, name in enumerate(names) if name in kinds]
        return TableReading(tuple(here)).apply(table.select(list(names)))

    def content(self) -> dict[str, Any]:
        """Return the reading as JSON."""
        columns = [
            [one.name, one.kind, list(one.way) if isinstance(one.way, Notation) else one.way]
            for one in self.columns
        ]
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
        for name, kind, way in content["columns"]:
            _require_names([name])
            require(kind in (*KINDS, BOOLEAN), "a kind of column is not known")
            is_notation = isinstance(way, list) and all(isinstance(one, str) for one in way)
            if is_notation and kind == NUMBER:
                way = Notation(*way)
            elif way is not None:
                require(isinstance(way, str) and kind == DATE, "a way is not valid")
                _check_dates(way)
            columns.append(ColumnReading(kind, way, name=name))
        require(type(content["has_header"]) is bool, "has_header must be true or false")
        substitutes = {name: tuple(each) for name, each in content["substitutes"].items()}
        for names in (content["target"], content["missing"], *substitutes.values()):
            _require_names(names)
        lists = tuple(content["target"]), tuple(content["missing"])
        return cls(tuple(columns), *lists, content["has_header"], substitutes)


def _require_names(names: Sequence[Any]) -> None:
    require(all(isinstance(name, str) for name in names), "names must be strings")


# --- what a column holds --------------------------------------------------------------------------


def _may_be_text(table: Table, j: int) -> bool:
    """Whether the type of a column allows strings."""
    if isinstance(table, FrameTable):
        return table.dtype(j) in (nw.String, nw.Object)
    return isinstance(table, ArrayTable) and table.native.dtype.kind in "OUT"


def _is_text(table: Table, j: int) -> bool:
    """Whether the present values of a column are strings."""
    if isinstance(table, FrameTable) and table.dtype(j) != nw.Object:
        return table.dtype(j) == nw.String
    if not _may_be_text(table, j):
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
    return not is_text and (column.kind == NUMBER or bool(table.time_kinds([column.index])))


def _convert(table: Table, column: ColumnReading) -> NDArray[Any]:
    """Return the values that stand for a column."""
    texts, _, codes = _levels(table, column.index)
    if column.kind == CATEGORY:
        return np.array([*texts, None], object)[codes]
    values = column.parse(texts)
    return np.append(values, np.array([np.nan]).astype(values.dtype))[codes]


def _replace(table: Table, columns: dict[int, NDArray[Any]]) -> Any:
    """Return the table, in its kind of container, with other values in these columns."""
    if isinstance(table, FrameTable):
        return _replace_in_frame(table.native, columns)
    values = [columns.get(j, np.asarray(table.native[:, j])) for j in range(table.n_columns)]
    if all(column.dtype.kind in "biuf" for column in values):
        return np.column_stack(values)
    array = np.empty((table.n_rows, len(values)), object)
    for j, column in enumerate(values):
        array[:, j] = list(column) if column.dtype.kind == "M" else column
    return array


def _replace_in_frame(native: Any, columns: dict[int, NDArray[Any]]) -> Any:
    frame = nw.from_native(native, eager_only=True)
    if frame.implementation.is_pandas_like():
        found = native.copy(deep=False)
        for j, values in columns.items():
            found[native.columns[j]] = values
        return found
    series = [_series(frame.columns[j], columns[j], frame.implementation) for j in columns]
    return frame.with_columns(series).to_native()


def _series(name: str, values: NDArray[Any], backend: Any) -> nw.Series[Any]:
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

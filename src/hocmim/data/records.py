"""Columns from Python values: the cells of a spreadsheet, the rows of a database."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any

from hocmim.data.formats import arrow


def table_from_columns(names: Sequence[str], columns: Iterable[Sequence[Any]]) -> Any:
    """Return a pyarrow table; None is a missing value."""
    arrays = [column_from_values(values) for values in columns]
    return arrow("pyarrow").Table.from_arrays(arrays, names=list(names))


def column_from_values(values: Sequence[Any]) -> Any:
    """Return a pyarrow array of values of one kind; mixed kinds become text.

    Integers and other numbers are one kind. Numbers without a fraction become integers if they fit
    into 64 bits, since spreadsheets have no integers; with a fraction among them, or a larger
    one, they become floating point. Dates and times of day are one kind.
    """
    pa = arrow("pyarrow")
    kinds = {_kind(value) for value in values if value is not None}
    if kinds == {"number"}:
        are_whole = all(value is None or _is_whole(value) for value in values)
        kind: Any = int if are_whole else float
        numbers = [None if value is None else kind(value) for value in values]
        return pa.array(numbers, pa.int64() if are_whole else pa.float64())
    if kinds == {"date"}:
        return pa.array([_as_datetime(value) for value in values], pa.timestamp("us"))
    if len(kinds) > 1 or kinds == {"other"}:
        values = [None if value is None else _as_text(value) for value in values]
    return pa.array(values)


def _is_whole(value: float) -> bool:
    """Whether a number is an integer of 64 bits; a float only if all its digits are exact."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return value.is_integer() and abs(value) < 2**53


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, dt.date):  # datetime is a date
        return "date"
    for kind, name in ((str, "text"), (dt.time, "time"), (dt.timedelta, "duration")):
        if isinstance(value, kind):
            return name
    return "other"


def _as_datetime(value: Any) -> Any:
    if value is None or isinstance(value, dt.datetime):
        return value
    return dt.datetime(value.year, value.month, value.day)


def _as_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

"""Which columns of a table hold dates, times of day or durations.

Values of such columns are read as nanoseconds (``columns.py``). Their kind says how to show a
number of nanoseconds to a user.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hocmim.data.columns import missing_objects

DATE, UTC_DATE, TIME, DURATION = "date", "UTC date", "time", "duration"

TimeKinds = dict[int, str]
"""The kind of each column of dates, times or durations, by the index of the column."""


def kind_of_dtype(dtype: nw.dtypes.DType) -> str | None:
    """Return the kind of a column of a DataFrame; None if it holds no times."""
    if dtype == nw.Datetime:
        return UTC_DATE if getattr(dtype, "time_zone", None) else DATE
    if dtype == nw.Date:
        return DATE
    if dtype == nw.Time:
        return TIME
    return DURATION if dtype == nw.Duration else None


def kind_of_storage(dtype: Any) -> str | None:
    """Return the kind of a NumPy or pandas type; None if it is not one of times."""
    if dtype.kind == "M":
        return UTC_DATE if getattr(dtype, "tz", None) else DATE
    return DURATION if dtype.kind == "m" else None


def kind_of_array(column: NDArray[Any]) -> str | None:
    """Return the kind of a column of an array, by its type or its first value."""
    if column.dtype.kind != "O":
        return kind_of_storage(column.dtype)
    present = (i for i in range(len(column)) if not missing_objects(column[i : i + 1])[0])
    return next((_kind_of_value(column[i]) for i in present), None)


def _kind_of_value(value: Any) -> str | None:
    if isinstance(value, dt.date | np.datetime64):
        return UTC_DATE if getattr(value, "tzinfo", None) else DATE
    if isinstance(value, dt.timedelta | np.timedelta64):
        return DURATION
    return TIME if isinstance(value, dt.time) else None

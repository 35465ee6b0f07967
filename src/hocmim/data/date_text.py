"""Dates that are written as text: 2012/01/31, 01/31/2012, 31.01.2012, 31 Jan 2012, also with times.

The *order* of a date says what its first number is. Dates are read as microseconds since 1970; a
time with a zone is read in UTC.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hocmim.errors import InvalidParameterError
from hocmim.text import value_text

YEAR_FIRST, DAY_FIRST, MONTH_FIRST = "year-first", "day-first", "month-first"
ORDERS = (YEAR_FIRST, DAY_FIRST, MONTH_FIRST)
MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
# Years of two digits, as in POSIX: 69 to 99 are of the 1900s, 00 to 68 of the 2000s.
FIRST_SHORT_YEAR = 69
SHORT_YEAR_DIGITS = 2
NOON = 12

_TIME = (
    r"(?:(?:[T ]|,\s?)\s?(?P<hour>\d{1,2}):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s?(?P<half>[AaPp]\.?[Mm]\.?)?\s?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)?)?"
)
_NAME = r"(?P<name>[A-Za-z]{3,9})\.?"
_YEAR = r"(?P<year>\d{4}|\d\d)"
_MONTH, _DAY = r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_PATTERNS = {
    YEAR_FIRST: (
        rf"{_YEAR}(?P<sep>[-/.]){_MONTH}(?P=sep){_DAY}",
        rf"(?P<year>\d{{4}})(?P<sep>[- ]){_NAME}(?P=sep){_DAY}",
    ),
    # A date with points is never month-first.
    DAY_FIRST: (
        rf"{_DAY}(?P<sep>[-/.]){_MONTH}(?P=sep){_YEAR}",
        rf"{_DAY}(?P<sep>[-/ ]){_NAME}(?P=sep){_YEAR}",
        rf"{_DAY}\.? {_NAME},? {_YEAR}",
    ),
    MONTH_FIRST: (
        rf"{_MONTH}(?P<sep>[-/]){_DAY}(?P=sep){_YEAR}",
        rf"{_NAME} {_DAY},? {_YEAR}",
    ),
}
_COMPILED = {
    order: [re.compile(pattern + _TIME) for pattern in patterns]
    for order, patterns in _PATTERNS.items()
}


def parse_dates(texts: Sequence[str], way: str) -> NDArray[np.datetime64]:
    """Return the date that each text stands for; NaT if it is not a date.

    Parameters
    ----------
    texts : sequence of str
    way : str
        One of ``ORDERS``, or a format of ``datetime.strptime``, such as "%Y%m%d".
    """
    parse: Callable[[str], dt.datetime | None]
    parse = _with_format(way) if "%" in way else _with_order(way)
    values = np.full(len(texts), np.datetime64("NaT"), "datetime64[us]")
    for i, text in enumerate(texts):
        found = parse(text.strip())
        if found is not None:
            values[i] = np.datetime64(found, "us")
    return values


def check_way(way: str) -> str:
    """Return a way to read dates; an error if it is neither an order nor a format."""
    if isinstance(way, str) and way in ORDERS:
        return way
    if isinstance(way, str) and "%" in way:
        try:
            dt.datetime.strptime(dt.datetime(2000, 1, 2).strftime(way), way)
        except ValueError as error:
            raise InvalidParameterError(f"{way!r} is not a format of dates: {error}.") from error
        return way
    raise InvalidParameterError(
        f"dates must be one of {', '.join(ORDERS)}, or a format such as %d.%m.%Y. "
        f"Got {value_text(way)}."
    )


def _with_format(way: str) -> Callable[[str], dt.datetime | None]:
    def parse(text: str) -> dt.datetime | None:
        try:
            return _in_utc(dt.datetime.strptime(text, way))
        except ValueError:
            return None

    return parse


def _with_order(order: str) -> Callable[[str], dt.datetime | None]:
    patterns = _COMPILED[order]

    def parse(text: str) -> dt.datetime | None:
        for pattern in patterns:
            found = pattern.fullmatch(text)
            if found is not None:
                return _as_datetime(found.groupdict())
        return None

    return parse


def _as_datetime(parts: dict[str, str | None]) -> dt.datetime | None:
    month = _month_number(parts.get("month") or parts.get("name") or "")
    try:
        hour = _hour(int(parts["hour"] or 0), parts["half"])
        fraction = (parts["part"] or "").ljust(6, "0")[:6]
        found = dt.datetime(
            _year(str(parts["year"])), month, int(str(parts["day"])),
            hour, int(parts["minute"] or 0), int(parts["second"] or 0), int(fraction),
        )  # fmt: skip
        return found - _offset(parts["zone"])
    except (ValueError, OverflowError):  # such as 31.02.2012
        return None


def _month_number(text: str) -> int:
    """Return 1 to 12 for a number, an English name or its first three letters; otherwise 0."""
    if text.isdigit():
        return int(text)
    name = text.lower()
    if name in MONTH_NAMES or name in ("sept", *(month[:3] for month in MONTH_NAMES)):
        return [month[:3] for month in MONTH_NAMES].index(name[:3]) + 1
    return 0


def _year(digits: str) -> int:
    year = int(digits)
    if len(digits) > SHORT_YEAR_DIGITS:
        return year
    return year + (1900 if year >= FIRST_SHORT_YEAR else 2000)


def _hour(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    if not 1 <= hour <= NOON:
        raise ValueError
    return hour % NOON + (NOON if half.lower().startswith("p") else 0)


def _offset(zone: str | None) -> dt.timedelta:
    if zone is None or zone[0] not in "+-":
        return dt.timedelta()
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    offset = dt.timedelta(hours=hours, minutes=minutes)
    return -offset if zone[0] == "-" else offset


def _in_utc(time: dt.datetime) -> dt.datetime:
    return time if time.tzinfo is None else time.astimezone(dt.UTC).replace(tzinfo=None)

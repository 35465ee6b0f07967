"""Dates, times of day and durations, stored as nanoseconds, as text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hocmim.data.times import DATE, UTC_DATE
from hocmim.text import count

SECOND, MINUTE, HOUR, DAY = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
"""In microseconds."""

FAR = 1 << 62
"""Microseconds from 1970 that NumPy shows in seconds only."""


def format_times(nanoseconds: Sequence[float], kind: str) -> list[str]:
    """Return points in time as text, with the digits that tell neighbours apart.

    Parameters
    ----------
    nanoseconds : sequence of float
        In ascending order.
    kind : str
        One of the kinds of ``hocmim.data.times``.

    Examples
    --------
    >>> from hocmim.insight.times import format_times
    >>> format_times([1577836800e9, 1578182400e9], "date")
    ['2020-01-01', '2020-01-05']
    >>> format_times([1577836800e9, 1577887200e9], "date")
    ['2020-01-01 00:00', '2020-01-01 14:00']
    >>> format_times([27_000e9, 100_000e9], "duration")
    ['07:30:00', '1 day 03:46:40']
    """
    times = [round(value / 1000) for value in nanoseconds]
    if kind in (DATE, UTC_DATE):
        return _format_dates(times, " UTC" if kind == UTC_DATE else "")
    return [_format_duration(time) for time in times]


def _format_dates(times: list[int], zone: str) -> list[str]:
    unit, step = _resolution(times)
    rounded = np.array([(time + step // 2) // step for time in times]).astype(f"datetime64[{unit}]")
    texts = np.datetime_as_string(rounded)
    return [str(text).replace("T", " ") + zone for text in texts]


def _resolution(times: list[int]) -> tuple[str, int]:
    """Return the coarsest unit that shows these times exactly, or nearly if they are far apart."""
    nearest = min((later - time for time, later in pairwise(times)), default=0)
    if all(time % DAY == 0 for time in times):
        return "D", DAY
    if nearest >= HOUR or all(time % MINUTE == 0 for time in times):
        return "m", MINUTE
    is_far = max(map(abs, times), default=0) >= FAR
    if nearest >= MINUTE or is_far or all(time % SECOND == 0 for time in times):
        return "s", SECOND
    return "us", 1


def _format_duration(time: int) -> str:
    sign, time = "−" if time < 0 else "", abs(time)
    days, rest = divmod(time, DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    seconds = f"{rest / SECOND:09.6f}".rstrip("0").removesuffix(".")
    clock = f"{hours:02}:{minutes:02}:{seconds}"
    if not days:
        return sign + clock
    return sign + count(days, "day") + (f" {clock}" if time % DAY else "")

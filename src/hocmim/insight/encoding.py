"""How a feature was encoded, in words and numbers: its cut points, and the rows in each bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, inf, log10

import numpy as np

from hocmim.coding.codes import Column
from hocmim.coding.cuts import ColumnDescription
from hocmim.coding.groups import column_name
from hocmim.data.times import DATE, UTC_DATE
from hocmim.insight.basis import Basis
from hocmim.text import count

# Bins, values, categories or columns of a group that are listed; of more, the first ones.
MAX_LISTED = 10
MAX_LEVEL_LENGTH = 24
# Digits of a cut point, and of its distance to the nearest other one.
DIGITS = 4
DIGITS_OF_DISTANCE = 2
# Cut points from this number on, or with more decimals, are shown with an exponent.
MAX_PLAIN = 1e9
MAX_DECIMALS = 9
# More digits than these do not change a floating-point number.
MAX_DIGITS = 17
# In microseconds.
SECOND, MINUTE, HOUR, DAY = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
# Microseconds from 1970 that NumPy shows in seconds only.
FAR = 1 << 62


@dataclass(frozen=True)
class Encoding:
    """How a feature was encoded. ``str(encoding)`` says it in words.

    Attributes
    ----------
    kind : {"cut", "levels", "categories", "group"}
        Numbers cut into bins; numbers with few values or categories, each value a level; a group of
        columns, each combination a level.
    cuts : tuple of float
        The cut points: bin k holds the values from ``cuts[k - 1]`` up to, but not including,
        ``cuts[k]``. Empty if the feature was not cut. Dates and times are in nanoseconds.
    shown_cuts : tuple of str
        The cut points as they are shown: rounded, dates as dates.
    levels : tuple of str
        The bins, values, categories or the columns of a group, in words. The last of the
        categories is "other (N levels)" if rare ones were pooled.
    has_missing : bool
        Whether there are missing values. They are a level of their own, the last one.
    arity : int
        How many levels there are, that of missing values included.
    n_rows : tuple of int
        How many rows each level has; a row of weight w counts w times. Empty for a group, or if the
        rows were not counted.
    n_pooled : int
        How many rare categories are in the last level.
    """

    kind: str
    cuts: tuple[float, ...]
    shown_cuts: tuple[str, ...]
    levels: tuple[str, ...]
    has_missing: bool
    arity: int
    n_rows: tuple[int, ...]
    n_pooled: int = 0

    def __str__(self) -> str:
        if self.kind == "group":
            columns = f"group of {len(self.levels)} columns ({_listed(self.levels)})"
            return f"{columns}: {count(self.arity, 'combination')} occur"
        parts = self._present()
        if self.has_missing:
            rows = f" ({count(self.n_rows[-1], 'row')})" if self.n_rows else ""
            parts.append(f"missing values{rows} are a level of their own")
        return "; ".join(parts) or "no values"

    def without_missing(self) -> str:
        """Return the bins or levels of the present values, in words."""
        return "; ".join(self._present()) or "no values"

    def _present(self) -> list[str]:
        return [self._cut()] if self.kind == "cut" else self._as_they_are()

    def _cut(self) -> str:
        if not self.cuts:
            return "one bin, not cut"
        text = f"{len(self.levels)} bins, cut at {_listed(self.shown_cuts)}"
        if not self.n_rows:
            return text
        sizes = [f"{n:,}" for n in self.n_rows[: len(self.levels)]]
        return f"{text}; rows in each bin: {_listed(sizes)}"

    def _as_they_are(self) -> list[str]:
        if not self.levels:
            return []
        noun = "value" if self.kind == "levels" else "category"
        shown = self.levels
        if self.n_rows:
            sizes = zip(self.levels, self.n_rows, strict=False)  # the last is of missing values
            shown = tuple(f"{level} ({count(n, 'row')})" for level, n in sizes)
        if self.n_pooled:
            n_kept = len(shown) - 1
            kept = f"the {n_kept:,} most frequent of {n_kept + self.n_pooled:,} categories"
            return [f"{kept}, and other: {_listed(shown)}"]
        return [f"levels as they are, {count(len(self.levels), noun)}: {_listed(shown)}"]


def describe_encoding(basis: Basis, x: Column, *, count_rows: bool = True) -> Encoding:
    """Describe how a feature was encoded."""
    columns = basis.features.columns(x.index)
    if len(columns) > 1:
        names = [column_name(basis.features.column_names, j) for j in columns]
        return Encoding("group", (), (), tuple(map(_shorten, names)), False, x.arity, ())
    column = basis.encoder.columns_[columns[0]]
    n_rows = np.bincount(x.codes, minlength=column.arity).tolist() if count_rows else []
    return describe_column(column, basis.time_kinds.get(columns[0]), n_rows)


def describe_column(
    column: ColumnDescription, time_kind: str | None, n_rows: Sequence[int] = ()
) -> Encoding:
    """Describe how a column was encoded."""
    is_cut = column.kind == "cut"
    cuts = column.cuts.tolist() if is_cut else []
    shown_cuts = format_cuts(cuts, time_kind)
    if is_cut:
        levels = describe_bins(shown_cuts)
    elif time_kind is not None:
        levels = format_times(np.asarray(column.levels).tolist(), time_kind)
    else:
        levels = [_shorten(level) for level in column.levels]
        if column.other is not None:
            levels.append(f"other ({count(column.n_pooled, 'level')})")
    return Encoding(
        column.kind,
        tuple(cuts),
        tuple(shown_cuts),
        tuple(levels),
        column.missing is not None,
        column.arity,
        tuple(n_rows),
        column.n_pooled,
    )


def describe_bins(shown: Sequence[str]) -> list[str]:
    """Describe the bins between formatted cut points: "below 2", "2 to 5", "5 or more"."""
    if not shown:
        return ["all values"]
    between = [f"{low} to {high}" for low, high in pairwise(shown)]
    return [f"below {shown[0]}", *between, f"{shown[-1]} or more"]


def format_cuts(cuts: Sequence[float], time_kind: str | None = None) -> list[str]:
    """Round cut points to four digits, or to more if neighbours would look equal.

    With ``time_kind`` they are nanoseconds, shown as dates, times or durations. Otherwise at least
    two digits of the distance to the nearest cut point are shown. Zeros at the end are not.

    Examples
    --------
    >>> from hocmim.insight.encoding import format_cuts
    >>> format_cuts([0.5, 13.218300000000001, 12345.6])
    ['0.5', '13.22', '12346']
    >>> format_cuts([1000.001, 1000.002])
    ['1000.001', '1000.002']
    """
    if time_kind is not None:
        return format_times(cuts, time_kind)
    if not cuts:
        return []
    distances = [high - low for low, high in pairwise(cuts)]
    nearest = map(min, [inf, *distances], [*distances, inf])
    return [_rounded(cut, distance) for cut, distance in zip(cuts, nearest, strict=True)]


def _rounded(cut: float, distance: float) -> str:
    """Return a cut point with as many digits as its distance to the nearest one needs."""
    if cut == 0:
        return "0"
    exponent = floor(log10(abs(cut)))
    decimals = DIGITS - 1 - exponent
    if 0 < distance < inf:
        decimals = max(decimals, DIGITS_OF_DISTANCE - 1 - floor(log10(distance)))
    if abs(cut) >= MAX_PLAIN or decimals > MAX_DECIMALS:
        return f"{cut:.{min(MAX_DIGITS, decimals + exponent + 1)}g}"
    text = f"{cut:.{max(decimals, 0)}f}"
    return text.rstrip("0").removesuffix(".") if "." in text else text


def _listed(words: Sequence[str]) -> str:
    return ", ".join([*words[:MAX_LISTED], *(["…"] if len(words) > MAX_LISTED else [])])


def _shorten(level: object) -> str:
    text = f"{level:.6g}" if isinstance(level, float) else str(level)
    return text if len(text) <= MAX_LEVEL_LENGTH else text[: MAX_LEVEL_LENGTH - 1] + "…"


# --- dates, times of day and durations, stored as nanoseconds -------------------------------------


def format_times(nanoseconds: Sequence[float], kind: str) -> list[str]:
    """Return points in time as text, with the digits that tell neighbours apart.

    Examples
    --------
    >>> from hocmim.insight.encoding import format_times
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

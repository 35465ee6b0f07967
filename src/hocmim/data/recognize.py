"""Numbers and dates that are written as text: how a column writes them, and what they stand for.

Numbers may have decimal commas, separators of thousands, currencies and percent signs (12.5% is
12.5): a *notation* says which character separates the decimals and which one groups of thousands.
Dates may be 2012/01/31, 01/31/2012, 31.01.2012 or 31 Jan 2012, also with times: the *order* says
what the first number is. A time with a zone is read in UTC.

A column of text is read as numbers or as dates if

* at least ``MIN_SHARE`` of its present values parse in one way. Texts such as "?" or "n/a"
  (``MISSING_TEXTS``) do not count as present;
* no other way that gives other values parses as many.

If two ways parse equally many values and give different ones, the column is ambiguous: it stays
text. A way that the user gives is used for every column that it fits, and only there. The notation
of programs (1234.5) wins over others that parse no more values. Whole numbers
with leading zeros, such as postal codes, are codes and stay text. Everything is decided on the
distinct values and how often they occur, so the order of the rows does not matter.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.text import count, one_line, quote

# The share of the present values that must parse.
MIN_SHARE = 0.95
# A column, and a way to read it, is not looked at further if it fails for more than half of some
# distinct values. The share is low, because a rare value counts as much as a frequent one here.
SAMPLE_VALUES, MIN_SAMPLE_SHARE = 50, 0.5
SHOWN_FAILURES, SHOWN_WIDTH = 3, 20
MISSING_TEXTS = frozenset(
    ["", "?", "-", "--", "\u2013", "\u2014", ".", "*", "na", "n/a", "#n/a", "n.a.", "nan", "nil",
     "none", "null", "nd", "n.d.", "missing", "unknown"]
)  # fmt: skip
NUMBER, DATE, CATEGORY = "number", "date", "category"
KINDS = (NUMBER, CATEGORY, DATE)
# What stays text: two ways fit; whole numbers with leading zeros.
AMBIGUOUS, CODE = "ambiguous", "code"


@dataclass(frozen=True)
class ColumnReading:
    """How a column of text is read.

    ``kind`` is one of ``KINDS``, or "ambiguous" or "code" (leading zeros): these stay text. ``way``
    is the notation of numbers, or the order or format of dates; None if the column is not text; for
    an ambiguous column "number" or "date". ``n_read`` rows were read, ``n_failed`` did not parse
    and are missing. ``failed`` are some of their texts, or the orders that fit an ambiguous date;
    ``example`` shows why a column stays text. ``name`` is "column 3" if columns have no names.
    """

    kind: str
    way: Notation | str | None = None
    n_read: int = 0
    n_failed: int = 0
    failed: tuple[str, ...] = ()
    example: str = ""
    name: str = ""
    index: int = 0

    @property
    def is_converted(self) -> bool:
        """Whether the column does not stay as it is."""
        return self.kind in KINDS

    def parse(self, texts: Sequence[str]) -> NDArray[Any]:
        """Return the numbers or dates of texts; those that do not parse are NaN or NaT."""
        way = self.way or (PLAIN if self.kind == NUMBER else YEAR_FIRST)
        return parse_numbers(texts, way) if isinstance(way, Notation) else parse_dates(texts, way)

    def sentence(self, options: Mapping[str, str]) -> str:
        """Return what was done, in one line. ``options`` as in ``describe``."""
        return f"{quote(self.name)}: {self.describe(options)}."

    def describe(self, options: Mapping[str, str]) -> str:
        """Return what was done, without the name of the column.

        ``options`` says how the user sets "decimal", "thousands" and "dates".
        """
        if self.kind == CATEGORY:
            return "each distinct value is a category"
        if self.kind == CODE:
            return f"whole numbers with leading zeros ({quote(self.example)}) stay text"
        if self.kind == AMBIGUOUS:
            return self._ambiguity(options)
        things = "numbers" if self.kind == NUMBER else "dates"
        how = _in_words(self.way) if isinstance(self.way, Notation) else f" ({self.way})"
        said = f"{count(self.n_read, 'value')} read as {things}{how}"
        if self.n_failed:
            shown = ", ".join(repr(one_line(text, SHOWN_WIDTH)) for text in self.failed)
            verb = "counts" if self.n_failed == 1 else "count"
            said += f"; {self.n_failed:,} did not parse ({shown}) and {verb} as missing"
        return said

    def _ambiguity(self, options: Mapping[str, str]) -> str:
        shown = quote(one_line(self.example, SHOWN_WIDTH))
        if self.way == DATE:
            first, second = (options["dates"].format(order) for order in self.failed[:2])
            return f"{shown} can be read as two dates, so it stays text. Pass {first} or {second}"
        mark = "," if "," in self.example else "."
        decimal, thousands = (options[name].format(mark) for name in ("decimal", "thousands"))
        return (
            f"the {mark!r} of {shown} can separate decimals or thousands, so it stays text. Pass "
            f"{decimal} or {thousands}"
        )


# --- which way a column is written ----------------------------------------------------------------


def recognize(
    texts: Sequence[str],
    counts: NDArray[np.int64],
    kind: str | None = None,
    *,
    decimal: str | None = None,
    thousands: str | None = None,
    dates: str | None = None,
) -> ColumnReading | None:
    """Return how a column of text is read; None if it is neither numbers nor dates.

    ``texts`` are the distinct values, ``counts`` how often each occurs. ``kind`` is "number" or
    "date" if the user says so: then any share of values may fail to parse. The others are
    parameters of ``TextConverter``.
    """
    if kind is None and not looks_readable(texts):
        return None
    column = _Column(texts, counts, 0.0 if kind else MIN_SHARE)
    if kind != DATE:
        given = _given_notations(decimal, thousands, texts)
        found = _as_numbers(column, given, is_declared=kind == NUMBER)
        if found is not None or kind == NUMBER:
            return found
    best = column.best([] if dates is None else [dates], parse_dates)
    best = best or column.best([*ORDERS, COMPACT] if kind == DATE else ORDERS, parse_dates)
    if len(best) > 1:
        orders = tuple(way for way, _ in best)
        return ColumnReading(AMBIGUOUS, DATE, failed=orders, example=column.differing(best))
    return column.reading(DATE, *best[0]) if best else None


def looks_readable(texts: Sequence[str]) -> bool:
    """Whether some distinct values of a column, evenly spaced, begin like numbers or dates."""
    sample = _sample(texts)
    n_good = sum(_BEGINS_RIGHT.match(text) is not None for text in sample)
    return bool(sample) and n_good >= MIN_SAMPLE_SHARE * len(sample)


def _sample(texts: Sequence[str]) -> list[str]:
    step = max(1, len(texts) // SAMPLE_VALUES)
    return [text for text in texts[::step] if not _means_missing(text)]


def _means_missing(text: str) -> bool:
    return text.strip().lower() in MISSING_TEXTS


Ways = list[tuple[Any, NDArray[Any]]]


class _Column(NamedTuple):
    """The distinct values of a column, how often each occurs, and the share that must parse."""

    texts: Sequence[str]
    counts: NDArray[np.int64]
    min_share: float

    def best(self, ways: Sequence[Any], parse: Callable[..., NDArray[Any]]) -> Ways:
        """Return the ways that parse most values, each with the values; one of equal results."""
        results = []
        sample = _sample(self.texts)
        for way in ways:
            if self.min_share and np.isnan(parse(sample, way)).mean() > 1 - MIN_SAMPLE_SHARE:
                continue
            values = parse(self.texts, way)
            results.append((int(self.counts[~np.isnan(values)].sum()), way, values))
        most = max((n_read for n_read, *_ in results), default=0)
        is_present = np.array([not _means_missing(text) for text in self.texts], bool)
        if most == 0 or most < self.min_share * int(self.counts[is_present].sum()):
            return []
        different: Ways = []
        for n_read, way, values in results:
            equal = (np.array_equal(values, known, equal_nan=True) for _, known in different)
            if n_read == most and not any(equal):
                different.append((way, values))
        return different

    def reading(self, kind: str, way: Any, values: NDArray[Any]) -> ColumnReading:
        is_failed = np.isnan(values)
        failed = sorted(self.texts[i] for i in np.flatnonzero(is_failed).tolist())
        n_failed = int(self.counts[is_failed].sum())
        n_read = int(self.counts.sum()) - n_failed
        return ColumnReading(kind, way, n_read, n_failed, tuple(failed[:SHOWN_FAILURES]))

    def differing(self, ways: Ways) -> str:
        """Return a text that the first two ways read differently."""
        first, second = ways[0][1], ways[1][1]
        return self.texts[int(np.argmax((first != second) & ~np.isnan(first)))]


def _as_numbers(
    column: _Column, given: Sequence[Notation], *, is_declared: bool
) -> ColumnReading | None:
    texts = column.texts
    best = column.best(given, parse_numbers)
    is_given = bool(best)
    best = best or column.best(_notations(texts), parse_numbers)
    if not best:
        return None
    if not is_declared and is_code(texts, column.counts):
        zero = next(text for text in texts if text.strip().startswith("0") and len(text) > 1)
        return ColumnReading(CODE, example=zero)
    by_way = dict(best)
    way = best[0][0] if is_given or len(best) == 1 else _usual(texts, by_way)
    if way in by_way:
        return column.reading(NUMBER, way, by_way[way])
    return ColumnReading(AMBIGUOUS, NUMBER, example=column.differing(best))


def is_code(texts: Sequence[str], counts: NDArray[np.int64]) -> bool:
    """Whether whole numbers are codes, such as postal codes: leading zeros, mostly one length.

    Numbers of several lengths are codes if at least ``MIN_ZERO_SHARE`` of them have a leading zero.
    """
    plain = [text.strip() for text in texts]
    is_whole = np.array([text.isdigit() for text in plain], bool)
    has_zero = np.array([len(t) > 1 and t[0] == "0" and t.isdigit() for t in plain], bool)
    n_whole, n_zero = counts[is_whole].sum(), counts[has_zero].sum()
    if n_zero == 0 or n_whole < counts.sum() * MIN_WHOLE_SHARE:
        return False
    by_length = np.bincount([len(text) for text in plain], weights=counts * is_whole)
    return bool(by_length.max() >= MIN_WHOLE_SHARE * n_whole or n_zero >= MIN_ZERO_SHARE * n_whole)


# --- numbers --------------------------------------------------------------------------------------

SPACES, APOSTROPHES = " \u00a0\u2009\u202f", "'\u2019"
MIN_WHOLE_SHARE, MIN_ZERO_SHARE = 0.95, 0.05
CURRENCY = (
    r"(?:[$\u00a3\u20ac\u00a5\u20b9\u20bd\u20a9\u20ba]|(?:US|C|A|R)\$"
    r"|USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|INR|BRL|CNY|z\u0142|kr\.?)"
)
# A comma groups thousands and a point separates decimals where these currencies are used; the euro
# is used with both.
POINT_CURRENCY = re.compile(r"[$\u00a3\u00a5\u20b9\u20a9]|USD|GBP|JPY|CAD|AUD|INR|CNY")
EURO = re.compile(r"\u20ac|EUR")
_BEGINS_RIGHT = re.compile(
    rf"\s*[+\-\u2212]?\s*(?:{CURRENCY}\s*)?[+\-\u2212]?[\d.,]|\s*[A-Z][a-z]{{2,8}}\.? \d"
)


class Notation(NamedTuple):
    """How numbers are written: the decimal separator, and that of thousands ("" for none)."""

    decimal: str
    thousands: str


# The notation of programs. It wins over others, unless they read more values.
PLAIN = Notation(".", "")
# Notations that give the same values for all texts count as one; the first stands for it.
NOTATIONS = (
    PLAIN,
    Notation(".", ","),
    Notation(",", ""),
    Notation(",", "."),
    Notation(".", " "),
    Notation(",", " "),
    Notation(".", "'"),
)


def _in_words(notation: Notation) -> str:
    """Return a notation in words, such as " with decimal separator ','"; empty for 1234.5."""
    names = {" ": "a space", "'": "an apostrophe"}
    parts = [
        f"{what} separator {names.get(mark, repr(mark))}"
        for what, mark in zip(("decimal", "thousands"), notation, strict=True)
        if mark and (what, mark) != ("decimal", ".")
    ]
    return f" with {' and '.join(parts)}" if parts else ""


def _notations(texts: Sequence[str]) -> list[Notation]:
    """Return the notations whose separators occur in these texts, and the one of programs."""
    characters = set("".join(texts))
    return [n for n in NOTATIONS if n == PLAIN or _occurs(n.thousands or n.decimal, characters)]


def _given_notations(
    decimal: str | None, thousands: str | None, texts: Sequence[str]
) -> list[Notation]:
    """Return the notations with the separators that the user gives.

    Without those that differ from the notation of programs by a separator that does not occur.
    """
    given: list[Notation] = []
    if decimal is not None and thousands is not None:
        given = [Notation(decimal, thousands)]
    elif decimal is not None:
        grouped = [n for n in NOTATIONS if n.decimal == decimal and n.thousands]
        given = [Notation(decimal, ""), *grouped]
    elif thousands is not None:
        given = [Notation("," if thousands == "." else ".", thousands)]
    characters = set("".join(texts))
    return [n for n in given if n == PLAIN or _occurs(n.thousands, characters) or n.decimal != "."]


def _usual(texts: Sequence[str], ways: Container[Notation]) -> Notation | None:
    """Return the notation that the texts themselves show, of several that fit; None without one."""
    if any(EURO.search(text) for text in texts):
        return None
    if PLAIN in ways:
        return PLAIN
    return Notation(".", ",") if any(POINT_CURRENCY.search(text) for text in texts) else None


def _occurs(separator: str, characters: set[str]) -> bool:
    return any(character in characters for character in _separators(separator))


def _separators(thousands: str) -> str:
    """Return the characters that count as a separator of thousands."""
    return SPACES if thousands == " " else APOSTROPHES if thousands == "'" else thousands


def parse_numbers(texts: Sequence[str], notation: Notation) -> NDArray[np.float64]:
    """Return the number that each text stands for; NaN if it is not a number."""
    pattern, group = _pattern(notation), _separators(notation.thousands)
    values = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        found = pattern.fullmatch(text.strip())
        if found is not None:
            values[i] = _value(found, group)
    return values


@cache
def _pattern(notation: Notation) -> re.Pattern[str]:
    whole = r"\d+"
    if notation.thousands:
        group = re.escape(_separators(notation.thousands))
        whole = rf"[1-9]\d{{0,2}}(?:[{group}]\d{{3}})+|\d+"
    point = re.escape(notation.decimal)
    return re.compile(
        rf"(?P<sign>[+\-\u2212]?)\s*(?:{CURRENCY}\s*)?(?P<sign2>[+\-\u2212]?)"
        rf"(?P<number>(?P<whole>{whole})?(?:{point}(?P<part>\d*))?)"
        r"(?P<exponent>[eE][+\-]?\d+)?"
        rf"\s*(?:%|{CURRENCY})?"
    )


def _value(found: re.Match[str], group: str) -> float:
    whole, part = found["whole"] or "", found["part"] or ""
    if not (whole or part) or (found["sign"] and found["sign2"]):
        return math.nan
    for character in group:
        whole = whole.replace(character, "")
    value = float(f"{whole}.{part}{found['exponent'] or ''}")
    if not math.isfinite(value):
        return math.nan
    is_negative = (found["sign"] or found["sign2"]) in ("-", "\u2212")
    return -value if is_negative else value


# --- dates ----------------------------------------------------------------------------------------

YEAR_FIRST, DAY_FIRST, MONTH_FIRST = "year-first", "day-first", "month-first"
ORDERS = (YEAR_FIRST, DAY_FIRST, MONTH_FIRST)
COMPACT = "%Y%m%d"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december", "sept", *MONTHS,
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
    """Return the date that each text stands for, in microseconds; NaT if it is not a date.

    ``way`` is one of ``ORDERS``, or a format of ``datetime.strptime``, such as "%Y%m%d".
    """
    parse = partial(_by_format if "%" in way else _by_order, way)
    found = [parse(text.strip()) for text in texts]
    return np.array(found, "datetime64[us]") if found else np.empty(0, "datetime64[us]")


def _by_format(way: str, text: str) -> dt.datetime | None:
    try:
        found = dt.datetime.strptime(text, way)
        return found if found.tzinfo is None else found.astimezone(dt.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def _by_order(order: str, text: str) -> dt.datetime | None:
    found = next(filter(None, (pattern.fullmatch(text) for pattern in _COMPILED[order])), None)
    if found is None:
        return None
    parts = found.groupdict()
    try:
        time = dt.datetime(
            _year(parts["year"]),
            int(parts["month"]) if parts.get("month") else _month(parts["name"]),
            int(parts["day"]),
            _hour(int(parts["hour"] or 0), parts["half"]),
            int(parts["minute"] or 0),
            int(parts["second"] or 0),
            int((parts["part"] or "").ljust(6, "0")[:6]),
        )
        return time - _offset(parts["zone"])
    except (ValueError, OverflowError):  # such as 31.02.2012
        return None


def _month(name: str) -> int:
    """Return 1 to 12 for an English name or its first three letters; otherwise 0."""
    return MONTHS.index(name.lower()[:3]) + 1 if name.lower() in MONTH_NAMES else 0


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
    offset = dt.timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return -offset if zone[0] == "-" else offset

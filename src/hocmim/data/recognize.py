"""Recognise numbers and dates that are written as text.

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

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.data.date_text import ORDERS, check_way, parse_dates
from hocmim.data.number_text import (
    CURRENCY,
    PLAIN,
    Notation,
    currency_notation,
    given_notations,
    has_euro,
    is_code,
    notations,
)
from hocmim.errors import InvalidParameterError
from hocmim.text import count, did_you_mean, one_line, quote, value_text

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
NUMBER, DATE, DATE_PARTS, CATEGORY = "number", "date", "date-parts", "category"
KINDS = (NUMBER, CATEGORY, DATE, DATE_PARTS)
COMPACT = "%Y%m%d"

_BEGINS_RIGHT = re.compile(
    rf"\s*[+\-\u2212]?\s*(?:{CURRENCY}\s*)?[+\-\u2212]?[\d.,]|\s*[A-Z][a-z]{{2,8}}\.? \d"
)


@dataclass(frozen=True)
class TextSettings:
    """What the user says about the text of a table; the rest is recognised.

    Attributes
    ----------
    decimal, thousands : str or None
        Separators of numbers. Columns that they do not fit are recognised as usual.
    dates : str or None
        The same for dates: "day-first", "month-first", "year-first", or a format such as
        "%d.%m.%Y".
    kinds : mapping of str to str
        The kind of single columns: "number", "category", "date" or "date-parts".
    """

    decimal: str | None = None
    thousands: str | None = None
    dates: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise an error if a value is not allowed."""
        for name, allowed in (("decimal", ".,"), ("thousands", ".,' _")):
            value = getattr(self, name)
            if value is not None and not (
                isinstance(value, str) and len(value) == 1 and value in allowed
            ):
                listed = " ".join(repr(character) for character in allowed)
                raise InvalidParameterError(
                    f"{name} must be one of {listed}. Got {value_text(value)}."
                )
        if self.decimal is not None and self.decimal == self.thousands:
            raise InvalidParameterError(
                f"decimal and thousands must be different. Both are {self.decimal!r}."
            )
        if self.dates is not None:
            check_way(self.dates)
        for name, kind in self.kinds.items():
            if not isinstance(kind, str) or kind not in KINDS:
                raise InvalidParameterError(
                    f"The kind of column {quote(name)} must be one of {', '.join(KINDS)}. Got "
                    f"{value_text(kind)}.{did_you_mean(str(kind), KINDS, n=1)}"
                )


@dataclass(frozen=True)
class Reading:
    """How a column of text is read.

    Attributes
    ----------
    kind : {"number", "date", "ambiguous", "code"}
        "ambiguous" and "code" (leading zeros) columns stay text.
    way : Notation, str or None
        The notation of numbers, or the order or format of dates.
    n_read, n_failed : int
        Rows that were read, and rows that did not parse and are missing.
    failed : tuple of str
        Some of the texts that did not parse.
    example : str
        A value that shows the ambiguity.
    """

    kind: str
    way: Notation | str | None = None
    n_read: int = 0
    n_failed: int = 0
    failed: tuple[str, ...] = ()
    example: str = ""

    @property
    def is_converted(self) -> bool:
        """Whether the column does not stay text."""
        return self.kind in (NUMBER, DATE)

    def parse(self, texts: Sequence[str]) -> NDArray[Any]:
        """Return the numbers or dates of texts; those that do not parse are NaN or NaT."""
        if isinstance(self.way, Notation):
            return self.way.parse(texts)
        return parse_dates(texts, str(self.way))

    def describe(self, options: Mapping[str, str]) -> str:
        """Return what was done, without the name of the column.

        Parameters
        ----------
        options : mapping of str to str
            How the user sets "decimal", "thousands" and "dates": ``OPTIONS`` or the like, each with
            a place for the value.
        """
        if self.kind == "code":
            return f"whole numbers with leading zeros ({quote(self.example)}) stay text"
        if self.kind == "ambiguous":
            return self._ambiguity(options)
        things = "numbers" if self.kind == NUMBER else "dates"
        how = self.way.describe() if isinstance(self.way, Notation) else f"({self.way})"
        said = " ".join(filter(None, [count(self.n_read, "value"), "read as", things, how]))
        if not self.n_failed:
            return said
        shown = ", ".join(quote(one_line(text, SHOWN_WIDTH)) for text in self.failed)
        verb = "counts" if self.n_failed == 1 else "count"
        return f"{said}; {self.n_failed:,} did not parse ({shown}) and {verb} as missing"

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


PYTHON_OPTIONS = {name: f"{name}={{!r}}" for name in ("decimal", "thousands", "dates")}


def looks_readable(texts: Sequence[str]) -> bool:
    """Whether some distinct values of a column, evenly spaced, begin like numbers or dates."""
    sample = _sample(texts)
    n_good = sum(_BEGINS_RIGHT.match(text) is not None for text in sample)
    return bool(sample) and n_good >= MIN_SAMPLE_SHARE * len(sample)


def _sample(texts: Sequence[str]) -> list[str]:
    step = max(1, len(texts) // SAMPLE_VALUES)
    return [text for text in texts[::step] if text.strip().lower() not in MISSING_TEXTS]


def recognize(
    texts: Sequence[str],
    counts: NDArray[np.int64],
    settings: TextSettings | None = None,
    kind: str | None = None,
) -> Reading | None:
    """Return how a column of text is read; None if it is neither numbers nor dates.

    Parameters
    ----------
    texts : sequence of str
        The distinct values.
    counts : ndarray of int64
        How often each occurs.
    settings : TextSettings, optional
    kind : {"number", "date"}, optional
        What the column holds, if the user says so: then any share of values may fail to parse.
    """
    settings = settings or TextSettings()
    if kind is None and not looks_readable(texts):
        return None
    is_present = np.array([t.strip().lower() not in MISSING_TEXTS for t in texts], bool)
    column = _Column(texts, counts, is_present, 0.0 if kind else MIN_SHARE)
    if kind != DATE:
        found = _as_numbers(column, settings, is_declared=kind == NUMBER)
        if found is not None or kind == NUMBER:
            return found
    return _as_dates(column, settings, is_declared=kind == DATE)


@dataclass(frozen=True, eq=False)
class _Column:
    """The distinct values of a column, how often each occurs, and the share that must parse."""

    texts: Sequence[str]
    counts: NDArray[np.int64]
    is_present: NDArray[np.bool_]
    min_share: float

    def best(
        self, ways: Sequence[Any], parse: Callable[[Sequence[str], Any], NDArray[Any]]
    ) -> list[tuple[Any, NDArray[Any]]]:
        """Return the ways that parse most values, each with the values; one of equal results."""
        results = []
        sample = _sample(self.texts)
        for way in ways:
            is_left_out = np.isnan(parse(sample, way)).mean() > 1 - MIN_SAMPLE_SHARE
            if self.min_share and is_left_out:
                continue
            values = parse(self.texts, way)
            n_read = int(self.counts[~np.isnan(values)].sum())
            results.append((n_read, way, values))
        most = max((n_read for n_read, *_ in results), default=0)
        n_present = int(self.counts[self.is_present].sum())
        if most == 0 or most < self.min_share * n_present:
            return []
        different: list[tuple[Any, NDArray[Any]]] = []
        for n_read, way, values in results:
            is_new = all(not _are_equal(values, known) for _, known in different)
            if n_read == most and is_new:
                different.append((way, values))
        return different

    def reading(self, kind: str, way: Any, values: NDArray[Any]) -> Reading:
        is_failed = np.isnan(values)
        failed = [self.texts[i] for i in np.flatnonzero(is_failed).tolist()]
        n_failed = int(self.counts[is_failed].sum())
        n_read = int(self.counts.sum()) - n_failed
        return Reading(kind, way, n_read, n_failed, tuple(sorted(failed)[:SHOWN_FAILURES]))


def _are_equal(left: NDArray[Any], right: NDArray[Any]) -> bool:
    return bool(np.array_equal(left, right, equal_nan=True))


def _as_numbers(column: _Column, settings: TextSettings, *, is_declared: bool) -> Reading | None:
    texts = column.texts
    given = given_notations(settings.decimal, settings.thousands, texts)
    best = column.best(given, _parse_numbers)
    is_given = bool(best)
    best = best or column.best(notations(texts), _parse_numbers)
    if not best:
        return None
    if not is_declared and is_code(texts, column.counts):
        zero = next(text for text in texts if text.strip().startswith("0") and len(text) > 1)
        return Reading("code", example=zero)
    way, values = best[0] if is_given else _choose(best, texts)
    if way is not None:
        return column.reading(NUMBER, way, values)
    differing = best[0][1] != best[1][1]
    example = texts[int(np.argmax(differing & ~np.isnan(best[0][1])))]
    return Reading("ambiguous", NUMBER, example=example)


def _parse_numbers(texts: Sequence[str], notation: Notation) -> NDArray[np.float64]:
    return notation.parse(texts)


def _choose(best: list[tuple[Any, NDArray[Any]]], texts: Sequence[str]) -> tuple[Any, NDArray[Any]]:
    """Return the notation that the text itself shows; None if it shows none."""
    if len(best) == 1:
        return best[0]
    by_way = dict(best)
    if PLAIN in by_way and not has_euro(texts):
        return PLAIN, by_way[PLAIN]
    usual = currency_notation(texts)
    return (usual, by_way[usual]) if usual in by_way else (None, best[0][1])


def _as_dates(column: _Column, settings: TextSettings, *, is_declared: bool) -> Reading | None:
    given = [] if settings.dates is None else [settings.dates]
    best = column.best(given, parse_dates)
    best = best or column.best([*ORDERS, COMPACT] if is_declared else ORDERS, parse_dates)
    if not best:
        return None
    if len(best) == 1:
        return column.reading(DATE, *best[0])
    differing = best[0][1] != best[1][1]
    example = column.texts[int(np.argmax(differing & ~np.isnat(best[0][1])))]
    return Reading("ambiguous", DATE, failed=tuple(way for way, _ in best), example=example)

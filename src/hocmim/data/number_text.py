"""Numbers that are written as text: decimal commas, thousands separators, currencies, percentages.

A *notation* says which character separates the decimals and which one groups of thousands. All
notations allow a sign, a currency sign or code before or after the number, and a percent sign
(12.5% is 12.5).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

SPACES = " \u00a0\u2009\u202f"
APOSTROPHES = "'\u2019"
MIN_WHOLE_SHARE = 0.95
MIN_ZERO_SHARE = 0.05
CURRENCY = (
    r"(?:[$\u00a3\u20ac\u00a5\u20b9\u20bd\u20a9\u20ba]|(?:US|C|A|R)\$"
    r"|USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|INR|BRL|CNY|z\u0142|kr\.?)"
)
# A comma groups thousands and a point separates decimals where these currencies are used.
POINT_CURRENCY = re.compile(r"[$\u00a3\u00a5\u20b9\u20a9]|USD|GBP|JPY|CAD|AUD|INR|CNY")
EURO = re.compile(r"\u20ac|EUR")


@dataclass(frozen=True)
class Notation:
    """How numbers are written: the decimal separator, and that of thousands ("" for none)."""

    decimal: str
    thousands: str

    def describe(self) -> str:
        """Return the notation in words, such as "with decimal comma"; empty for 1234.5."""
        names = {",": "','", ".": "'.'", " ": "a space", "'": "an apostrophe"}
        parts = []
        if self.decimal != ".":
            parts.append(f"decimal separator {names.get(self.decimal, repr(self.decimal))}")
        if self.thousands:
            parts.append(f"thousands separator {names.get(self.thousands, repr(self.thousands))}")
        return "with " + " and ".join(parts) if parts else ""

    def parse(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the number that each text stands for; NaN if it is not a number."""
        pattern, group = _pattern(self), _separators(self.thousands)
        values = np.full(len(texts), np.nan)
        for i, text in enumerate(texts):
            found = pattern.fullmatch(text.strip())
            if found is not None:
                values[i] = _value(found, self.decimal, group)
        return values


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


def notations(texts: Sequence[str]) -> list[Notation]:
    """Return the notations whose separators occur in these texts, and the one of programs."""
    characters = set("".join(texts))
    return [n for n in NOTATIONS if n == PLAIN or _occurs(n.thousands or n.decimal, characters)]


def given_notations(
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


def _occurs(separator: str, characters: set[str]) -> bool:
    return any(character in characters for character in _separators(separator))


def _separators(thousands: str) -> str:
    """Return the characters that count as a separator of thousands."""
    return SPACES if thousands == " " else APOSTROPHES if thousands == "'" else thousands


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


def _value(found: re.Match[str], decimal: str, group: str) -> float:
    whole, part = found["whole"] or "", found["part"] or ""
    if not whole and not part:
        return math.nan
    if found["sign"] and found["sign2"]:
        return math.nan
    for character in group:
        whole = whole.replace(character, "")
    value = float(f"{whole}.{part}{found['exponent'] or ''}")
    if not math.isfinite(value):
        return math.nan
    is_negative = (found["sign"] or found["sign2"]) in ("-", "\u2212")
    return -value if is_negative else value


def currency_notation(texts: Sequence[str]) -> Notation | None:
    """Return the notation of the countries that use the currency in these texts.

    None if there is no currency, or one that is used with points as well as with commas (the euro).
    """
    has_currency = any(POINT_CURRENCY.search(text) for text in texts)
    if not has_currency or has_euro(texts):
        return None
    return Notation(".", ",")


def has_euro(texts: Sequence[str]) -> bool:
    """Whether some of these texts are amounts in euros."""
    return any(EURO.search(text) for text in texts)


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

"""Text of messages: suggestions, names, counts, percentages, text cut to a width."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from math import floor
from typing import Any

# Characters of a wrong value that a message repeats.
MAX_VALUE_LENGTH = 200


def did_you_mean(name: str, known: Iterable[str], *, n: int = 3) -> str:
    """Return " Did you mean 'a' or 'b'?" for the known names nearest to a wrong one.

    Capitals do not matter. Empty if no name is near, or if the name is a number.

    Examples
    --------
    >>> from hocmim.text import did_you_mean
    >>> did_you_mean("Targett", ["colour", "target"])
    " Did you mean 'target'?"
    """
    if name.strip().isdigit():
        return ""
    import difflib  # only for an error message: it takes a while to import

    by_key: dict[str, list[str]] = {}
    for candidate in known:
        by_key.setdefault(candidate.casefold(), []).append(candidate)
    near = difflib.get_close_matches(name.casefold(), by_key, n=n)
    names = [candidate for key in near for candidate in by_key[key]][:n]
    return f" Did you mean {' or '.join(map(repr, names))}?" if names else ""


def value_text(value: object) -> str:
    """Return a value for the end of a message, such as "Got -1 instead.": short and on one line."""
    text = " ".join(repr(_plain(value)).split())
    if " at 0x" in text:  # an address says nothing to a reader
        return f"an object of type {type(value).__qualname__}"
    return one_line(text, MAX_VALUE_LENGTH)


def _plain(value: Any) -> Any:
    """Return a number or text of NumPy as that of Python, so that it is 1, not np.int64(1)."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "shape", None) == ()
    return value.item() if is_scalar and kind in tuple("biufU") else value


def visible(name: str) -> str:
    """Return a name to show; a stand-in for one without a visible character."""
    if name.strip():
        return name
    return "(blank name)" if name else "(empty name)"


def quote(name: str) -> str:
    """Return a name in quotes, for a sentence; a stand-in for an empty or blank one."""
    return repr(name) if name.strip() else visible(name)


def some_of(names: Sequence[str], most: int) -> str:
    """Return "a, b, c and 2 others": the first names, and how many more there are."""
    n_more = len(names) - most
    if n_more <= 0:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {count(n_more, 'other')}"


def count(n: int, thing: str) -> str:
    """Return "1 thing", "2 things", "3 days", "12,345 categories"."""
    is_regular = not thing.endswith("y") or thing.endswith(("ay", "ey", "oy"))
    plural = thing + "s" if is_regular else thing[:-1] + "ies"
    return f"{n:,} {thing if n == 1 else plural}"


def percent(share: float) -> str:
    """Return a share as a percentage; 0% and 100% only where they are exact."""
    if 0.995 <= share < 1:
        return f"{floor(share * 1000) / 10:.1f}%" if share < 0.9995 else "almost 100%"
    if 0 < share < 0.005:
        return "less than 1%"
    return f"{share:.0%}"


def text_table(titles: Sequence[str], rows: Sequence[Sequence[Any]], width: int = 40) -> str:
    """Return a table as lines of text: numbers to the right, names cut to a width.

    Examples
    --------
    >>> from hocmim.text import text_table
    >>> print(text_table(["feature", "score"], [["age", 0.25], ["dose", None]]))
    feature   score
    age      0.2500
    dose          –
    """

    def cell(value: Any) -> str:
        if value is None or value != value:
            return "–"
        return f"{value:.4f}" if isinstance(value, float) else one_line(visible(str(value)), width)

    is_number = [all(not isinstance(row[j], str) for row in rows) for j in range(len(titles))]
    lines = [list(titles), *([cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(size) if right else text.ljust(size)
            for text, size, right in zip(line, widths, is_number, strict=True)
        ).rstrip()
        for line in lines
    )


def escaped(text: str, keep: str = "\n\t") -> str:
    r"""Return text that a terminal shows and does not obey: other characters become escapes.

    These are control characters, escape sequences, marks of direction and characters without a
    width. They are written as in Python: an escape character is shown as ``\x1b``.
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in keep or unicodedata.category(character) == "Zs"
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def one_line(text: str, width: int) -> str:
    """Return text on one line, unprintable characters as escapes, cut to a width."""
    line = escaped(text, keep="")
    return line if len(line) <= width else line[: width - 1] + "…"

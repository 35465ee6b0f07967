"""How a feature was encoded, in words and numbers: its cut points, and the rows in each bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, inf, log10

import numpy as np

from hocmim.coding.codes import Column
from hocmim.coding.encoder import ColumnDescription
from hocmim.coding.groups import column_name
from hocmim.insight.basis import Basis
from hocmim.text import count

# Bins, values, categories or columns of a group that are listed; of more, the first ones.
MAX_LISTED = 10
MAX_LEVEL_LENGTH = 24
# Cut points show this many digits of the smallest distance between two of them, and of the largest.
DIGITS_OF_DISTANCE = 2
DIGITS_OF_LARGEST = 4
# Cut points from this number on, or with more decimals, are shown with an exponent.
MAX_PLAIN = 1e9
MAX_DECIMALS = 9


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
        ``cuts[k]``. Empty if the feature was not cut.
    levels : tuple of str
        The bins, values, categories or the columns of a group, in words.
    n_rows : tuple of int
        How many rows each bin, value or category has; empty for a group. A row of weight w counts
        w times.
    n_missing : int
        How many rows have no value. They are a level of their own.
    arity : int
        How many levels there are, that of missing values included.
    """

    kind: str
    cuts: tuple[float, ...]
    levels: tuple[str, ...]
    n_rows: tuple[int, ...]
    n_missing: int
    arity: int

    def __str__(self) -> str:
        if self.kind == "group":
            columns = f"group of {len(self.levels)} columns ({_listed(self.levels)})"
            return f"{columns}: {count(self.arity, 'combination')} occur"
        parts = [self._cut()] if self.kind == "cut" else self._as_they_are()
        if self.n_missing:
            parts.append(f"{count(self.n_missing, 'row')} with a missing value, a level of its own")
        return "; ".join(parts) or "no values"

    def _cut(self) -> str:
        if not self.cuts:
            return f"one bin, not cut: {count(self.n_rows[0], 'row')}"
        cuts = _listed(format_cuts(self.cuts))
        sizes = _listed([f"{n:,}" for n in self.n_rows])
        return f"{len(self.n_rows)} bins, cut at {cuts}; rows in each bin: {sizes}"

    def _as_they_are(self) -> list[str]:
        if not self.levels:
            return []
        noun = "value" if self.kind == "levels" else "category"
        sizes = zip(self.levels, self.n_rows, strict=True)
        shown = _listed([f"{level} ({count(n, 'row')})" for level, n in sizes])
        return [f"levels as they are, {count(len(self.levels), noun)}: {shown}"]


def describe_encoding(basis: Basis, x: Column) -> Encoding:
    """Describe how a feature was encoded.

    Parameters
    ----------
    basis : Basis
    x : Column
        The codes of the feature, with its feature index.
    """
    columns = basis.features.columns(x.index)
    if len(columns) > 1:
        names = [column_name(basis.features.column_names, j) for j in columns]
        return Encoding("group", (), tuple(map(_shorten, names)), (), 0, x.arity)
    return describe_column(basis.encoder.columns_[columns[0]], x)


def describe_column(column: ColumnDescription, x: Column) -> Encoding:
    """Describe how a column was encoded; ``x`` has its codes."""
    n_rows = np.bincount(x.codes, minlength=column.arity).tolist()
    n_missing = 0 if column.missing is None else n_rows.pop(column.missing)
    is_cut = column.kind == "cut"
    cuts = column.cuts.tolist() if is_cut else []
    levels = describe_bins(cuts) if is_cut else [_shorten(level) for level in column.levels]
    return Encoding(column.kind, tuple(cuts), tuple(levels), tuple(n_rows), n_missing, column.arity)


def describe_bins(cuts: Sequence[float]) -> list[str]:
    """Describe the bins between cut points: "below 2", "2 to 5", "5 or more"."""
    if not cuts:
        return ["all values"]
    shown = format_cuts(cuts)
    between = [f"{low} to {high}" for low, high in pairwise(shown)]
    return [f"below {shown[0]}", *between, f"{shown[-1]} or more"]


def format_cuts(cuts: Sequence[float]) -> list[str]:
    """Round cut points so that they differ: to the same decimals, without zeros at the end.

    Two digits of the smallest distance between two cut points are shown, and four of the largest
    cut point.

    Examples
    --------
    >>> from hocmim.insight.encoding import format_cuts
    >>> format_cuts([0.5, 13.218300000000001, 40.0])
    ['0.5', '13.22', '40']
    >>> format_cuts([1000.001, 1000.002])
    ['1000.001', '1000.002']
    """
    largest = max((abs(cut) for cut in cuts), default=0.0)
    if largest == 0:
        return ["0" for _ in cuts]
    distances = [high - low for low, high in pairwise(cuts) if 0 < high - low < inf]
    decimals = DIGITS_OF_LARGEST - 1 - floor(log10(largest))
    if distances:
        decimals = max(decimals, DIGITS_OF_DISTANCE - 1 - floor(log10(min(distances))))
    if largest >= MAX_PLAIN or decimals > MAX_DECIMALS:
        digits = min(17, decimals + floor(log10(largest)) + 1)
        return [f"{cut:.{digits}g}" for cut in cuts]
    return [_plain(cut, max(decimals, 0)) for cut in cuts]


def _plain(number: float, decimals: int) -> str:
    text = f"{number:.{decimals}f}"
    text = text.rstrip("0").removesuffix(".") if "." in text else text
    return "0" if text == "-0" else text


def _listed(words: Sequence[str]) -> str:
    return ", ".join([*words[:MAX_LISTED], *(["…"] if len(words) > MAX_LISTED else [])])


def _shorten(level: object) -> str:
    text = f"{level:.6g}" if isinstance(level, float) else str(level)
    return text if len(text) <= MAX_LEVEL_LENGTH else text[: MAX_LEVEL_LENGTH - 1] + "…"

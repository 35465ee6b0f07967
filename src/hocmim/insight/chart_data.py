"""The numbers of the pictures of a selection: ``plots`` and the report draw the same ones.

===================  ===============================================================================
``target_by_level``  the target by level or bin of a column: a rate or a mean, with its interval
``interaction_map``  the target over the levels of two or three columns that work together
``sample_map``       the selected columns of every row, sorted by class: for few rows
``column_heights``   how unlikely chance is, of every column
===================  ===============================================================================

Everything is computed from the codes. Of several targets the first is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from hocmim.coding.codes import Codes, Column
from hocmim.coding.groups import column_name, join_columns
from hocmim.errors import InvalidParameterError
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR
from hocmim.insight.basis import Basis
from hocmim.insight.encoding import Encoding, describe_bins, describe_encoding
from hocmim.search.interactions import merge_levels
from hocmim.search.moments import Margins, moments_of_g, share_of_permutations
from hocmim.search.selection import Interaction
from hocmim.text import count, one_line, percent, quote, value_text

CONFIDENCE = 0.95
# Levels of a column that are drawn; of more, neighbours are merged, or rare ones.
MAX_LEVELS = 8
# Levels of each of three columns, and of each of two.
MAX_LEVELS_OF_TRIPLE, MAX_LEVELS_OF_PAIR = 3, 6
# Classes whose shares are drawn; of more, the rarest are one.
MAX_CLASSES = 6
# Rows up to which each is drawn, and columns for each row from which on a table is wide.
MAX_SAMPLES, WIDE = 400, 2
# The smallest expected cell for which χ²(df) is as good as the exact moments.
LARGE_CELL = 20
ALPHA = 0.01
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# A cell of fewer rows has no colour: chance would give the strongest ones.
MIN_CELL_ROWS = 5
# Characters of a level in a table of text.
LABEL_WIDTH = 18


def wilson_intervals(counts: ArrayLike, n: ArrayLike, *, confidence: float = 0.95) -> Values:
    """Return Wilson's interval of each probability, from counts out of n. Shape (D, 2)."""
    n = np.asarray(n, np.float64)
    p, z = np.asarray(counts, np.float64) / n, special.ndtri((1 + confidence) / 2)
    middle = p + z**2 / (2 * n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)
    # For p = 0 and p = 1 the bound is exactly p; without this, rounding would change it.
    return np.column_stack([np.where(p == 0, 0.0, low), np.where(p == 1, 1.0, high)])


# --- the target -----------------------------------------------------------------------------------


class Shown(NamedTuple):
    """What is drawn of the target: values, and the codes of the classes or bins of the rows.

    A value is the quantity, or 1 for the class at ``place`` and 0 for the others. There are no
    ``classes`` of a quantity; the rarest of many are one.
    """

    values: Values
    classes: tuple[str, ...]
    codes: NDArray[Any]
    place: int = 0

    @property
    def is_rate(self) -> bool:
        """Whether a rate of a class is drawn, not the mean of a quantity."""
        return bool(self.classes)

    @property
    def measure(self) -> str:
        """What is drawn, in words."""
        if not self.is_rate:
            return "mean of the target"
        return f"share of {quote(self.classes[self.place])}"


def shown_target(basis: Basis, cells: NDArray[np.int64] | None = None) -> Shown:
    """Return what is drawn of the target.

    Of two classes the second; of more the one whose rate depends most on ``cells``, or the most
    frequent one.
    """
    target = basis.averaged[0]
    if target.values is not None and target.is_quantity:
        return Shown(target.values, (), target.column.codes)
    codes = target.column.codes.astype(np.int64)
    if target.classes is not None and len(target.classes) == target.column.arity:
        names = [str(name) for name in target.classes]
    elif target.cuts is not None:
        names = describe_bins([f"{cut:.4g}" for cut in target.cuts])
    else:
        names = [f"combination {k + 1}" for k in range(target.column.arity)]
    sizes = np.bincount(codes, minlength=len(names))
    if len(names) > MAX_CLASSES:
        frequent = np.sort(np.argsort(-sizes, kind="stable")[: MAX_CLASSES - 1])
        new = np.full(len(names), MAX_CLASSES - 1)
        new[frequent] = np.arange(len(frequent))
        names = [*(names[k] for k in frequent), f"{len(names) - len(frequent)} others"]
        codes = new[codes]
        sizes = np.bincount(codes, minlength=len(names))
    place = len(names) - 1
    if len(names) > 2:
        spread = sizes if cells is None else [_spread(codes == k, cells) for k in range(len(names))]
        place = int(np.argmax(spread))
    return Shown((codes == place).astype(np.float64), tuple(names), codes, place)


def _spread(values: NDArray[Any], cells: NDArray[np.int64]) -> float:
    """Return the variance of values between cells."""
    sizes = np.bincount(cells)
    means = np.bincount(cells, weights=values) / np.maximum(sizes, 1)
    return float(sizes @ (means - values.mean()) ** 2)


# --- levels of a column ---------------------------------------------------------------------------


class Levels(NamedTuple):
    """A column with few levels, all of which occur."""

    codes: NDArray[np.int64]
    labels: tuple[str, ...]
    is_ordered: bool


def few_levels(basis: Basis, column: Column, most: int = MAX_LEVELS) -> Levels:
    """Return a column with at most so many levels, and one of missing values."""
    encoding = describe_encoding(basis, column, count_rows=False)
    is_ordered = encoding.kind in ("cut", "levels")
    n_present = column.arity - encoding.has_missing
    merged = np.arange(column.arity)
    if n_present > most:
        present = Column(column.codes[column.codes < n_present], n_present)
        part = merge_levels(present, most, n_present if is_ordered else 0)
        merged[:n_present] = part
        merged[n_present:] = most
    labels: list[str] = []
    new = np.full(column.arity, -1)
    sizes = np.bincount(column.codes, minlength=column.arity)
    for part in np.unique(merged).tolist():
        members = np.flatnonzero(merged == part)
        if sizes[members].sum():
            new[members] = len(labels)
            labels.append(_label(encoding, members, n_present))
    return Levels(new[column.codes], tuple(labels), is_ordered)


def _label(encoding: Encoding, members: NDArray[np.int64], n_present: int) -> str:
    """Return the words for some levels that count as one."""
    first, last = int(members[0]), int(members[-1])
    if first >= n_present:
        return "missing"
    if encoding.kind == "group":
        return f"combination {first + 1}" if first == last else f"{len(members)} other combinations"
    if encoding.kind == "cut":
        between = [
            *encoding.shown_cuts[max(first - 1, 0) : first],
            *encoding.shown_cuts[last : last + 1],
        ]
        if len(between) < 2:
            sign = "≥" if first else "<"
            return f"{sign} {between[0]}" if between else "all values"
        return _range(*between)
    if first == last:
        return encoding.levels[first]
    if encoding.kind == "levels":
        return _range(encoding.levels[first], encoding.levels[last])
    return f"other ({len(members)} levels)"


def _range(low: str, high: str) -> str:
    is_plain = low[:1].isdigit() and high[:1].isdigit() and "-" not in low + high
    return f"{low}–{high}" if is_plain else f"{low} to {high}"


# --- the target by level --------------------------------------------------------------------------


@dataclass(frozen=True)
class LevelRow:
    """The target in the rows of one level: a rate or a mean, and its interval (95 %)."""

    label: str
    n_rows: int
    value: float
    low: float
    high: float
    shares: tuple[float, ...] = ()
    quantiles: tuple[float, ...] = ()  # 5, 25, 50, 75 and 95 % of a quantity


@dataclass(frozen=True)
class TargetByLevel:
    """The target by level or bin of a column; missing values are the last row."""

    feature: str
    index: int
    measure: str
    classes: tuple[str, ...]
    overall: float
    rows: tuple[LevelRow, ...]

    @property
    def span(self) -> tuple[float, float]:
        """The range of the axis: 0 to 1 for rates."""
        if self.classes:
            return 0.0, 1.0
        ends = [v for row in self.rows for v in (row.quantiles[0], row.quantiles[-1], row.value)]
        low, high = min(ends), max(ends)
        return (low, high) if high > low else (low - 0.5, high + 0.5)


def target_by_level(basis: Basis, column: Column) -> TargetByLevel:
    """Return the target by level of a column of the basis."""
    codes, labels, is_ordered = few_levels(basis, column)
    target = shown_target(basis)
    rows = [_level_row(label, target, codes == level) for level, label in enumerate(labels)]
    if not is_ordered and len(target.classes) <= 2:
        rows.sort(key=lambda row: (row.label == "missing", -row.value))
    overall = float(target.values.mean())
    name = basis.name(column.index)
    return TargetByLevel(name, column.index, target.measure, target.classes, overall, tuple(rows))


def _level_row(label: str, target: Shown, is_here: NDArray[np.bool_]) -> LevelRow:
    values, n = target.values[is_here], int(is_here.sum())
    mean = float(values.mean())
    if target.is_rate:
        [(low, high)] = wilson_intervals([values.sum()], n, confidence=CONFIDENCE)
        sizes = np.bincount(target.codes[is_here], minlength=len(target.classes))
        return LevelRow(label, n, mean, float(low), float(high), tuple((sizes / n).tolist()))
    half = 0.0
    if n > 1:
        quantile = special.stdtrit(n - 1, (1 + CONFIDENCE) / 2)
        half = float(quantile * values.std(ddof=1) / np.sqrt(n))
    quantiles = tuple(np.quantile(values, QUANTILES).tolist())
    return LevelRow(label, n, mean, mean - half, mean + half, (), quantiles)


# --- columns that work together -------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class InteractionMap:
    """The target over the levels of two columns, or of three. ``print`` it.

    Attributes
    ----------
    features : tuple of str
        The first is down the side, the others are across.
    sentence : str
        What the columns tell alone and together.
    measure : str
        What the values are.
    is_rate : bool
    overall : float
        The value of all rows.
    side, across : tuple of str
        The levels.
    values : tuple of tuples of float or None
        None where there is no row.
    n_rows : tuple of tuples of int
    """

    features: tuple[str, ...]
    sentence: str
    measure: str
    is_rate: bool
    overall: float
    side: tuple[str, ...]
    across: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...] = field(repr=False)
    n_rows: tuple[tuple[int, ...], ...] = field(repr=False)

    def text(self, value: float | None) -> str:
        """Return a value as text."""
        if value is None:
            return "–"
        return percent(value) if self.is_rate else format_number(value)

    @property
    def has_few(self) -> bool:
        """Whether a cell has too few rows for a colour."""
        return any(0 < n < MIN_CELL_ROWS for row in self.n_rows for n in row)

    @property
    def strengths(self) -> Values:
        """The strength of the colour of each cell, 0 to 1; NaN for few rows or none."""
        values = np.array(self.values, np.float64)
        values[np.array(self.n_rows) < MIN_CELL_ROWS] = np.nan
        if self.is_rate or np.isnan(values).all():
            return values
        low, high = np.nanmin(values), np.nanmax(values)
        return np.asarray((values - low) / (high - low)) if high > low else 0 * values + 0.5

    def __repr__(self) -> str:
        side, across = (one_line(name, 40) for name in (self.features[0], self.across_title))
        cells = [
            [f"{self.text(value)} ({n:,})" for value, n in zip(*rows, strict=True)]
            for rows in zip(self.values, self.n_rows, strict=True)
        ]
        table = [
            [side, *self.across],
            *([label, *row] for label, row in zip(self.side, cells, strict=True)),
        ]
        short = [[one_line(text, LABEL_WIDTH) for text in row] for row in table]
        widths = [max(map(len, column)) for column in zip(*short, strict=True)]
        lines = [
            "  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in short
        ]
        title = f"  {self.measure} (rows), {side} down, {across} across"
        return "\n".join([title, *lines])

    @property
    def across_title(self) -> str:
        """The name of what is across."""
        return " · ".join(self.features[1:])


def strongest_interaction(basis: Basis, k: int | None = None) -> Interaction | None:
    """Return the strongest interaction that the screen kept, those that were selected first.

    Of those with feature k, if it is given, that tell more together than k tells alone. None if
    there is none, or the codes are not at hand.
    """
    chosen = {tuple(sorted(step.interaction)) for step in basis.selection.steps}
    found = [
        one
        for one in basis.selection.interactions
        if all(map(basis.has_column, one.members))
        and (k is None or (k in one.members and one.synergy > basis.selection.relevance[k]))
    ]

    def order(one: Interaction) -> tuple[bool, bool]:
        return one.members not in chosen, not set(one.members) <= set(basis.places)

    return min(found, key=order, default=None)


def why_together(basis: Basis, one: Interaction) -> str:
    """Say what the columns of an interaction tell alone, and what they tell together."""
    names = [quote(basis.name(k)) for k in one.members]
    columns = [basis.column(k) for k in one.members]
    block = Codes.from_columns([*columns, join_columns(columns, "together")])
    *alone, told = np.maximum(basis.terms(block).relevance(), 0.0).tolist()
    p_values = np.min([column_p_values(block, y.column) for y in basis.averaged], axis=0)
    share = percent(min(1.0, told / basis.target_entropy))
    together = f"together they tell {told:.2f} nats, {share} of the target"
    if (p_values[:-1] > ALPHA).all():
        return f"{_listed(names)} say nothing alone; {together}."
    verbs = ["tells ", *[""] * (len(names) - 1)]
    parts = [f"{n} {verb}{v:.2f}" for n, verb, v in zip(names, verbs, alone, strict=True)]
    return f"Alone {_listed(parts)} nats; {together}."


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def interaction_map(basis: Basis, members: Sequence[int], sentence: str) -> InteractionMap:
    """Return the target over the levels of two or three features."""
    most = MAX_LEVELS_OF_PAIR if len(members) == 2 else MAX_LEVELS_OF_TRIPLE
    side, *others = (few_levels(basis, basis.column(k), most) for k in members)
    across = np.ravel_multi_index([one.codes for one in others], [len(o.labels) for o in others])
    labels = list(others[0].labels)
    for one in others[1:]:
        labels = [f"{label} · {other}" for label in labels for other in one.labels]
    cells = side.codes * len(labels) + across
    target = shown_target(basis, cells)
    shape = len(side.labels), len(labels)
    n_rows = np.bincount(cells, minlength=shape[0] * shape[1])
    sums = np.bincount(cells, weights=target.values, minlength=len(n_rows))
    means = [float(s / n) if n else None for s, n in zip(sums, n_rows, strict=True)]
    return InteractionMap(
        tuple(basis.name(k) for k in members),
        sentence,
        target.measure,
        target.is_rate,
        float(target.values.mean()),
        side.labels,
        tuple(labels),
        tuple(tuple(means[at : at + shape[1]]) for at in range(0, len(means), shape[1])),
        tuple(map(tuple, n_rows.reshape(shape).tolist())),
    )


# --- few rows: every one of them ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SampleMap:
    """The selected columns of every row, sorted by class.

    Levels are from 0, the lowest bin, to 1; NaN for missing values. Groups are the classes, or the
    bins of a quantity, and how many rows each has.
    """

    features: tuple[str, ...]
    indices: tuple[int, ...]
    levels: Values
    groups: tuple[tuple[str, int], ...]


def is_wide(basis: Basis) -> bool:
    """Whether a table has few rows and many columns of numbers, as those of genes."""
    numbers = [k for k in basis.places if _is_number(basis, k)]
    is_large = len(basis.features) >= WIDE * basis.n_samples
    return is_large and basis.n_samples <= MAX_SAMPLES and 2 * len(numbers) > len(basis.selection)


def _is_number(basis: Basis, k: int) -> bool:
    columns = basis.features.columns(k)
    return len(columns) == 1 and basis.encoder.columns_[columns[0]].kind == "cut"


def sample_map(basis: Basis, most: int = 40) -> SampleMap:
    """Return the selected columns of numbers, the first ones, of every row.

    Rows of a class are sorted by the first column, then the second, and so on.
    """
    columns = [c for c in basis.selected_columns if _is_number(basis, c.index)][:most]
    target = shown_target(basis)
    cuts = basis.averaged[0].cuts
    names = target.classes or describe_bins([f"{c:.4g}" for c in (() if cuts is None else cuts)])
    order = np.lexsort([*(c.codes for c in columns[::-1]), target.codes])
    levels = np.empty((len(columns), len(order)))
    for row, column in zip(levels, columns, strict=True):
        has_missing = describe_encoding(basis, column, count_rows=False).has_missing
        n_bins = column.arity - has_missing
        row[:] = column.codes[order] / max(1, n_bins - 1)
        row[row > 1] = np.nan
    sizes = np.bincount(target.codes, minlength=len(names)).tolist()
    groups = tuple((name, n) for name, n in zip(names, sizes, strict=True) if n)
    indices = tuple(c.index for c in columns)
    return SampleMap(tuple(map(basis.name, indices)), indices, levels, groups)


# --- all columns ----------------------------------------------------------------------------------


def feature_p_values(basis: Basis) -> Values:
    """Return the p-value of every feature by itself; of several targets the smallest."""
    each = [column_p_values(basis.all_codes, one.column) for one in basis.averaged]
    return np.asarray(np.minimum(1.0, len(each) * np.min(each, axis=0)))


def column_heights(basis: Basis) -> Values:
    """Return −log10 p of every feature, at most 300."""
    return -np.log10(np.maximum(feature_p_values(basis), 1e-300))


def column_p_values(codes: Codes, y: Column) -> Values:
    """Return the p-value of each column by the χ² law of ``hocmim.search.stopping``, Z = ∅.

    Where every cell is expected to hold 20 rows or more, χ²(df) itself is that law.
    """
    target = np.bincount(y.codes)
    target = target[target > 0].astype(np.int64)
    n = int(target.sum())
    g = 2 * n * BlockTerms(codes, Joint.of([y]), PLUGIN_ESTIMATOR).relevance()
    shape, scale = np.ones(codes.n_columns), np.full(codes.n_columns, np.inf)
    known: dict[bytes, tuple[float, float]] = {}
    probability = np.zeros(codes.n_columns)
    for j in range(codes.n_columns):
        column = codes.column(j)
        counts = np.bincount(column.codes)
        counts = np.sort(counts[counts > 0]).astype(np.int64)
        key = counts.tobytes()
        if key not in known:
            known[key] = _gamma(counts, target, n)
        shape[j], scale[j] = known[key]
        if counts[0] * target.min() < LARGE_CELL * n:
            cells = np.bincount(column.codes.astype(np.int64) * y.arity + y.codes)
            probability[j] = share_of_permutations(counts, target, n, cells)
    tail = special.gammaincc(shape, np.maximum(g, 0.0) / scale)
    return np.maximum(np.where(np.isfinite(scale), tail, 1.0), probability)


def _gamma(counts: NDArray[np.int64], target: NDArray[np.int64], n: int) -> tuple[float, float]:
    """Return shape and scale of the law of G; an infinite scale if G is always the same."""
    df = (len(counts) - 1) * (len(target) - 1)
    if df == 0:
        return 1.0, np.inf
    if counts[0] * target.min() >= LARGE_CELL * n:
        return df / 2, 2.0
    zeros = np.zeros(max(len(counts), len(target)), np.int64)
    sizes = [np.array([size], np.int64) for size in (n, len(counts), len(target))]
    of_x = counts, zeros[: len(counts)], sizes[1]
    margins = Margins(sizes[0], *of_x, target, zeros[: len(target)], sizes[2])
    mean, variance = moments_of_g(margins, df)
    return (mean**2 / variance, variance / mean) if variance > 0 else (1.0, np.inf)


# --- resamples ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FrequencyRow:
    """How often a column was selected, and it or a column of its cluster that was ever selected."""

    feature: str
    frequency: float
    low: float
    high: float
    substitutes: tuple[str, ...]
    with_substitutes: float


@dataclass(frozen=True)
class Frequencies:
    """How often columns, and clusters of near copies, were selected on resamples.

    A row is the most frequent column of a cluster. The stability is Nogueira's Φ.
    """

    rows: tuple[FrequencyRow, ...] = field(repr=False)
    n_resamples: int
    threshold: float
    stability: float
    interval: tuple[float, float]
    stability_of_clusters: float

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        often = [row for row in self.rows if row.frequency >= self.threshold]
        either = [row for row in self.rows if row.with_substitutes >= self.threshold]
        share = percent(self.threshold)
        return (
            f"On {self.n_resamples} resamples of the rows, {count(len(often), 'column')} were "
            f"selected in at least {share} of them; {len(either):,}, if a near copy counts as the "
            "column itself."
        )


def frequencies_of(selector: Any) -> Frequencies:
    """Return what a fitted StabilitySelector found."""
    if not hasattr(selector, "clusters_"):
        raise InvalidParameterError(
            f"selector must be a fitted StabilitySelector. Got {value_text(selector)} instead."
        )
    names = getattr(selector, "feature_names_in_", None)
    frequencies, intervals = selector.frequencies_, selector.frequency_intervals_
    rows = []
    for members, together in zip(
        selector.clusters_, selector.cluster_frequencies_.tolist(), strict=True
    ):
        first, *others = (column_name(names, int(j)) for j in members)
        low, high = intervals[members[0]].tolist()
        own = float(frequencies[members[0]])
        rows.append(FrequencyRow(first, own, low, high, tuple(others), together))
    rows.sort(key=lambda row: (-row.with_substitutes, -row.frequency))
    return Frequencies(
        tuple(rows),
        len(selector.selections_),
        float(selector.threshold),
        float(selector.stability_),
        selector.stability_interval_,
        float(selector.cluster_stability_),
    )


def format_number(value: float) -> str:
    """Return a number with about three digits: 0.0123, 1.23, 123, 12,346, 1.23e+09."""
    if value != 0 and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.3g}".replace("-", "−")
    digits = max(0, 2 - int(np.floor(np.log10(abs(value))))) if value else 0
    text = f"{value:,.{digits}f}"
    text = text.rstrip("0").removesuffix(".") if "." in text else text
    return text.replace("-", "−")

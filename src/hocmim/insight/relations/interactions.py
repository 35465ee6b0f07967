"""Synergy and redundancy of two or three selected features.

The interaction of a set A of features is what they tell about the target together, beyond what all
smaller sets of them tell, by inclusion and exclusion:

    T(A) = Σ_{B ⊆ A} (−1)^{|A|−|B|} I(B;Y)

Two: T = I(X,X′;Y) − I(X;Y) − I(X′;Y). Positive: synergy. Negative: redundancy, the features repeat
each other. For two this is −R of ``redundancy_matrix``. For three, T is what the pairs do not
account for. If it is positive and the three tell more than the sum of each alone, all three are
needed together, as in an exclusive or: synergy. If it is positive and they tell less than the sum,
all three repeat the same information, which the pairs count twice: redundancy. If it is negative,
pairs of them tell the same: redundancy.

The plug-in estimate of T is too large: many cells and few rows look like synergy. T is also

    T(A) = Σ_{B ⊆ A∖c} (−1)^{|A|−1−|B|} I(c;Y|B)      for any feature c of A

and the mean of each of these terms is known if the rows of c are permuted within the cells of B: a
closed form. The sum of these means is subtracted. Each c gives a correction; the estimate T̂ is the
one nearest to 0, and 0 if they disagree on the sign. It is a cautious value.

How far chance can move T̂ from 0, at the level α divided by the number of sets:

    noise = √( z² max(0, Var t − d/N)/N + (χ²_d,q − d)²/(4N²) )

t is the term of one row in T, z the normal quantile, and d the mean of 2N I(c;Y|A∖c) over the
permutations, the degrees of freedom of its χ² (the largest for any c). An interaction beyond this
level is called significant. Nothing is called significant where there are fewer than ``SUPPORT``
rows for each cell of A that occurs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hocmim import html
from hocmim.coding.codes import Column
from hocmim.errors import InvalidParameterError, not_installed
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Joint
from hocmim.insight.basis import Basis
from hocmim.parameters import Number, check_value
from hocmim.search.moments import Margins, mean_of_g
from hocmim.text import count, one_line, quote, value_text, visible

ORDERS = (2, 3)
# Rows for each cell of the features that occurs.
SUPPORT = 5
# By default so many features are combined, the first selected ones: 1770 pairs, 1140 triples.
MAX_FEATURES = {2: 60, 3: 20}
ALPHA = 0.05
MAX_LISTED = 20


@dataclass(frozen=True)
class Interaction:
    """The interaction of two or three features.

    Attributes
    ----------
    features : tuple of str
    places : tuple of int
        Their places in the order of selection, from 0.
    value : float
        T̂, in nats. For two: positive for synergy, negative for redundancy. For three see ``kind``.
    noise : float
        How far chance can move the value from 0, at the level ``alpha`` for all sets together.
    rows_per_cell : float
        Rows for each cell of the features that occurs.
    kind : {"synergy", "redundancy", "within chance", "too few rows"}
    """

    features: tuple[str, ...]
    places: tuple[int, ...]
    value: float
    noise: float
    rows_per_cell: float
    kind: str

    @property
    def is_significant(self) -> bool:
        """Whether chance does not explain the value."""
        return self.kind in ("synergy", "redundancy")


@dataclass(frozen=True)
class Interactions:
    """Interactions of the selected features, the largest first. ``print`` it, or iterate over it.

    Attributes
    ----------
    order : int
        How many features interact.
    rows : tuple of Interaction
        Sorted: first those beyond chance, by absolute value; then the others.
    n_features : int
        How many of the selected features were combined, the first ones.
    n_selected : int
    alpha : float
    """

    order: int
    rows: tuple[Interaction, ...] = field(repr=False)
    n_features: int
    n_selected: int
    alpha: float

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Interaction]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Interaction:
        return self.rows[place]

    @property
    def significant(self) -> tuple[Interaction, ...]:
        """The interactions beyond chance."""
        return tuple(row for row in self.rows if row.is_significant)

    def matrix(self) -> Any:
        """Return T̂ of each pair as a symmetric array, in the order of selection; NaN elsewhere."""
        if self.order != 2:
            raise InvalidParameterError("A matrix has pairs only: call interactions(order=2).")
        found = np.full((self.n_features, self.n_features), np.nan)
        for row in self.rows:
            i, j = row.places
            found[i, j] = found[j, i] = row.value
        return found

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in words."""
        what = "pair" if self.order == 2 else "set of three"
        sets = "pairs" if self.order == 2 else "sets of three"
        counted = count(len(self.rows), what) if self.order == 2 else f"{len(self.rows):,} {sets}"
        kinds = [row.kind for row in self.rows]
        found = [
            f"{counted} of {count(self.n_features, 'selected feature')}: "
            f"{kinds.count('synergy'):,} with synergy and {kinds.count('redundancy'):,} with "
            "redundancy beyond chance."
        ]
        n_thin = kinds.count("too few rows")
        if n_thin:
            have = "has" if n_thin == 1 else "have"
            found.append(f"{n_thin:,} {have} fewer than {SUPPORT} rows for each cell.")
        for kind in ("synergy", "redundancy"):
            largest = next((row for row in self.rows if row.kind == kind), None)
            if largest is not None:
                found.append(self.sentence(largest))
        return tuple(found)

    def sentence(self, row: Interaction) -> str:
        """Say what one interaction means."""
        *first, last = (quote(name) for name in row.features)
        names = f"{', '.join(first)} and {last}"
        size = f"{abs(row.value):.4f} nats"
        if row.kind == "synergy":
            if self.order == 2:
                return f"{names} together tell {size} more than the sum of the two alone."
            return f"{names} together tell {size} more than their pairs explain."
        if row.kind == "redundancy":
            if self.order == 2:
                return f"{names} repeat {size} of each other's information about the target."
            if row.value > 0:
                return f"{names} repeat the same information: {size} of it is in all three."
            return f"Pairs of {names} tell the same: {size} of it is counted twice."
        return f"{names}: {row.kind}."

    def to_pandas(self) -> Any:
        """Return the interactions as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise not_installed("to_pandas needs", "pandas") from error
        columns = [f"feature_{number}" for number in range(1, self.order + 1)]
        rows = [
            [*row.features, row.value, row.noise, row.rows_per_cell, row.kind] for row in self.rows
        ]
        return pd.DataFrame(rows, columns=[*columns, "value", "noise", "rows_per_cell", "kind"])

    def __str__(self) -> str:
        lines = [*self.sentences, "", f"  {'value':>8}  {'± chance':>8}  {'':<13}  features"]
        for row in self.rows[:MAX_LISTED]:
            names = " × ".join(one_line(visible(name), 30) for name in row.features)
            lines.append(f"  {row.value:>8.4f}  {row.noise:>8.4f}  {row.kind:<13}  {names}")
        if len(self.rows) > MAX_LISTED:
            lines.append(f"  … and {len(self.rows) - MAX_LISTED:,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the sentences and a table, for notebooks."""
        rows = [
            [*map(html.Name, row.features), row.value, row.noise, row.kind]
            for row in self.rows[:MAX_LISTED]
        ]
        titles = [*["feature"] * self.order, "value", "± chance", ""]
        return html.table(titles, rows, " ".join(self.sentences))


def find_interactions(
    basis: Basis, order: int = 2, *, max_features: int | None = None, alpha: float = ALPHA
) -> Interactions:
    """Return the interactions of the selected features: see ``hocmim.insight.relations``."""
    if not isinstance(order, Integral) or order not in ORDERS:
        raise InvalidParameterError(f"order must be 2 or 3. Got {value_text(order)} instead.")
    check_value("max_features", max_features, Number(order, is_whole=True, or_none=True))
    check_value("alpha", alpha, Number(0, 1, is_above=True, is_below=True))
    K = len(basis.selection)
    if order > K:
        raise InvalidParameterError(
            f"Interactions of order {order} need at least {order} selected features, and there are "
            f"{K}. Select more."
        )
    n = min(K, max_features or MAX_FEATURES[order])
    columns = basis.selected_columns[:n]
    sets = list(combinations(range(n), order))
    joints = [Joints(columns, one.column) for one in basis.averaged]
    found = [_interaction(basis, joints, places, alpha / len(sets)) for places in sets]
    found.sort(
        key=lambda row: (not row.is_significant, -comparison_key(abs(row.value)), row.places)
    )
    return Interactions(order, tuple(found), n, K, alpha)


class Joints:
    """Joint variables of some features, with and without y, and their counts."""

    def __init__(self, columns: Sequence[Column], y: Column) -> None:
        self.columns, self._y, self.n = columns, y, len(y.codes)
        self._joints: dict[tuple[tuple[int, ...], bool], Joint] = {}
        self._counts: dict[tuple[tuple[int, ...], bool], NDArray[np.int64]] = {}
        self._means: dict[tuple[int, tuple[int, ...]], float] = {}
        self._pairs: dict[tuple[int, ...], float] = {}

    def of(self, places: tuple[int, ...], with_y: bool) -> Joint:
        """Return the joint variable of features at sorted places."""
        key = places, with_y
        if key in self._joints:
            return self._joints[key]
        if with_y:
            joint = self.of(places, False).with_column(self._y)
        elif places:
            joint = self.of(places[:-1], False).with_column(self.columns[places[-1]])
        else:
            joint = Joint.of([], self.n)
        self._joints[key] = joint
        return joint

    def forget(self, n_kept: int) -> None:
        """Free the joint variables of more than ``n_kept`` features: there are many."""
        for known in (self._joints, self._counts):
            for key in [key for key in known if len(key[0]) > n_kept]:
                del known[key]

    def counts(self, places: tuple[int, ...], with_y: bool) -> NDArray[np.int64]:
        """Return how many rows each cell has."""
        key = places, with_y
        if key not in self._counts:
            joint = self.of(places, with_y)
            self._counts[key] = np.bincount(joint.cells, minlength=joint.n_cells)
        return self._counts[key]

    def row_of_cell(self, places: tuple[int, ...], with_y: bool) -> NDArray[np.int64]:
        """Return one row of each cell."""
        joint = self.of(places, with_y)
        rows = np.empty(joint.n_cells, np.int64)
        rows[joint.cells] = np.arange(self.n)
        return rows

    def mean_g(self, c: int, given: tuple[int, ...]) -> float:
        """Return the mean of 2N I(c;Y|given) if the rows of c are permuted within the cells."""
        key = c, given
        if key not in self._means:
            z = self.of(given, False)
            parts = [self._margin(z, tuple(sorted((c, *given))), False)]
            parts.append(self._margin(z, given, True))
            margins = Margins(self.counts(given, False), *parts[0], *parts[1])
            self._means[key] = mean_of_g(margins)
        return self._means[key]

    def _margin(self, z: Joint, places: tuple[int, ...], with_y: bool) -> tuple[Any, Any, Any]:
        """Return the counts within the cells of z, their cells, and how many each cell has."""
        cell = z.cells[self.row_of_cell(places, with_y)]
        order = np.argsort(cell, kind="stable")
        counts = self.counts(places, with_y)[order]
        return counts, cell[order].astype(np.int64), np.bincount(cell, minlength=z.n_cells)

    def pair(self, places: tuple[int, ...]) -> float:
        """Return T̂ of two features."""
        if places not in self._pairs:
            self._pairs[places] = measure(self, places, ALPHA)[0]
        return self._pairs[places]

    def chance(self, c: int, others: tuple[int, ...]) -> float:
        """Return the mean of 2N T over these permutations, term by term."""
        return sum(
            (-1) ** (len(others) - size) * self.mean_g(c, subset)
            for size in range(len(others) + 1)
            for subset in combinations(others, size)
        )


def _interaction(
    basis: Basis, joints: Sequence[Joints], places: tuple[int, ...], level: float
) -> Interaction:
    """Return the interaction of some features; of several targets, the means of value and noise."""
    measured = [measure(each, places, level) for each in joints]
    value, noise = (float(np.mean([found[at] for found in measured])) for at in (0, 1))
    beyond_sum = value
    if len(places) == max(ORDERS):
        beyond_sum += sum(
            float(np.mean([each.pair(pair) for each in joints])) for pair in combinations(places, 2)
        )
    for each in joints:
        each.forget(2 if len(each.columns) <= MAX_FEATURES[3] else 1)
    rows_per_cell = joints[0].n / measured[0][2]
    if rows_per_cell < SUPPORT:
        kind = "too few rows"
    elif abs(value) <= noise:
        kind = "within chance"
    else:
        kind = "synergy" if min(value, beyond_sum) > 0 else "redundancy"
    names = tuple(basis.name(basis.selection.steps[place].index) for place in places)
    return Interaction(names, places, value, noise, rows_per_cell, kind)


def measure(joints: Joints, places: tuple[int, ...], level: float) -> tuple[float, float, int]:
    """Return T̂, how far chance can move it, and the number of cells of the features."""
    n = joints.n
    whole = joints.of(places, True)
    rows = joints.row_of_cell(places, True)
    pointwise = np.zeros(whole.n_cells)
    for size in range(len(places) + 1):
        sign = (-1) ** (len(places) - size)
        for subset in combinations(places, size):
            for with_y in (True, False):
                logs = np.log(joints.counts(subset, with_y))
                of_cell = logs[joints.of(subset, with_y).cells[rows]]
                pointwise += (sign if with_y else -sign) * of_cell
    share = joints.counts(places, True) / n
    counted = float(share @ pointwise)
    variance = float(share @ (pointwise - counted) ** 2)
    values, degrees = [], 0.0
    for c in places:
        others = tuple(place for place in places if place != c)
        values.append(counted - joints.chance(c, others) / (2 * n))
        degrees = max(degrees, joints.mean_g(c, others))
    value = min(values) if min(values) > 0 else min(0.0, max(values))
    spread = special.ndtri(1 - level / 2) ** 2 * max(0.0, variance - degrees / n) / n
    degrees = max(degrees, 1.0)
    tail = (2 * special.gammaincinv(degrees / 2, 1 - level / 2) - degrees) / (2 * n)
    return value, float(np.sqrt(spread + tail**2)), joints.of(places, False).n_cells

"""Synergy and redundancy of two selected features.

The interaction of two features is what they tell about the target together, beyond what each tells:

    T = I(X,X′;Y) − I(X;Y) − I(X′;Y) = I(X;Y|X′) − I(X;Y)

Positive: synergy. Negative: redundancy, the features repeat each other; T is −R of
``redundancy_matrix``. The plug-in estimate of T is too large: many cells and few rows look like
synergy. The mean of I(X;Y|X′) − I(X;Y) is known if the rows of X are permuted within the levels of
X′, and as a whole: a closed form, which is subtracted. The same with X and X′ exchanged gives
another correction. The estimate T̂ is the one nearest to 0, and 0 if they disagree on the sign: a
cautious value.

How far chance can move T̂ from 0, at the level α divided by the number of pairs:

    noise = √( z² max(0, Var t − d/N)/N + (χ²_d,q − d)²/(4N²) )

t is the term of one row in T, z the normal quantile, and d the mean of 2N I(X;Y|X′) over the
permutations, the degrees of freedom of its χ² (the larger one of the two). An interaction beyond
this level is called significant. Nothing is called significant where there are fewer than
``SUPPORT`` rows for each cell of the two features that occurs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hocmim.coding.codes import Column
from hocmim.errors import InvalidParameterError
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Joint, Values
from hocmim.insight.basis import Basis, basis_of
from hocmim.insight.chart_data import (
    InteractionMap,
    interaction_map,
    strongest_interaction,
    why_together,
)
from hocmim.parameters import check_value, whole
from hocmim.search.moments import Margins, mean_of_g
from hocmim.text import count, one_line, quote, visible

# Rows for each cell of the features that occurs.
SUPPORT = 5
# By default so many features are combined, the first selected ones: 1770 pairs.
MAX_FEATURES = 60
ALPHA = 0.05
MAX_LISTED = 20


@dataclass(frozen=True)
class SelectedPair:
    """The interaction of two selected features.

    Attributes
    ----------
    features : tuple of str
    places : tuple of int
        Their places in the order of selection, from 0.
    value : float
        T̂, in nats: positive for synergy, negative for redundancy.
    noise : float
        How far chance can move the value from 0, at the level 0.05 for all pairs together.
    rows_per_cell : float
        Rows for each cell of the features that occurs.
    kind : {"synergy", "redundancy", "within chance", "too few rows"}
    """

    features: tuple[str, str]
    places: tuple[int, int]
    value: float
    noise: float
    rows_per_cell: float
    kind: str

    @property
    def is_significant(self) -> bool:
        """Whether chance does not explain the value."""
        return self.kind in ("synergy", "redundancy")

    @property
    def sentence(self) -> str:
        """What it means."""
        names, size = " and ".join(map(quote, self.features)), f"{abs(self.value):.4f} nats"
        if self.kind == "synergy":
            return f"{names} together tell {size} more than the sum of the two alone."
        if self.kind == "redundancy":
            return f"{names} repeat {size} of each other's information about the target."
        if self.kind == "too few rows":
            return (
                f"{names}: {self.rows_per_cell:.1f} rows for each cell are too few to tell synergy "
                "from chance."
            )
        return f"{names}: within chance."


@dataclass(frozen=True, repr=False)
class SelectedInteractions:
    """Interactions of the selected features, the largest first. ``print`` it, or iterate over it.

    Attributes
    ----------
    rows : tuple of SelectedPair
        Sorted: first those beyond chance, by absolute value; then the others.
    n_features : int
        How many of the selected features were combined, the first ones.
    n_selected : int
    """

    rows: tuple[SelectedPair, ...]
    n_features: int
    n_selected: int

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[SelectedPair]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> SelectedPair:
        return self.rows[place]

    @property
    def counted(self) -> tuple[str, ...]:
        """How many pairs are of which kind, in words."""
        kinds = [row.kind for row in self.rows]
        found = [
            f"{count(len(self.rows), 'pair')} of {count(self.n_features, 'selected feature')}: "
            f"{kinds.count('synergy'):,} with synergy and {kinds.count('redundancy'):,} with "
            "redundancy beyond chance."
        ]
        n_thin = kinds.count("too few rows")
        if n_thin:
            have = "has" if n_thin == 1 else "have"
            found.append(
                f"{n_thin:,} {have} fewer than {SUPPORT} rows for each cell, too few to tell: more "
                "rows, or fewer bins, would."
            )
        return tuple(found)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in words."""
        found = list(self.counted)
        for kind in ("synergy", "redundancy"):
            found += [row.sentence for row in self.rows if row.kind == kind][:1]
        return tuple(found)

    def __repr__(self) -> str:
        lines = [*self.sentences, "", f"  {'value':>8}  {'± chance':>8}  {'':<13}  features"]
        for row in self.rows[:MAX_LISTED]:
            names = " × ".join(one_line(visible(name), 30) for name in row.features)
            lines.append(f"  {row.value:>8.4f}  {row.noise:>8.4f}  {row.kind:<13}  {names}")
        if len(self.rows) > MAX_LISTED:
            lines.append(f"  … and {len(self.rows) - MAX_LISTED:,} more")
        return "\n".join(lines)


def selected_interactions(
    selector: Any,
    X: Any = None,
    y: Any = None,
    *,
    max_features: int | None = None,
) -> SelectedInteractions:
    """Return the synergy and redundancy of all pairs of selected features.

    I(X,X′;Y) − I(X;Y) − I(X′;Y), positive for synergy. Estimates are corrected for chance, and
    ``noise`` says how far chance can move them: see ``hocmim.insight.synergy``.

    Parameters
    ----------
    selector : selector of hocmim
        Fitted.
    X, y : optional
        The table and the target the selector was fitted on: needed if it keeps no codes, such as a
        filter.
    max_features : int or None
        Combine this many selected features, the first ones. None: 60.

    Returns
    -------
    SelectedInteractions
        ``print`` it; or iterate over it and read ``features``, ``value``, ``noise``, ``kind``.
    """
    return find_interactions(basis_of(selector, X, y), max_features)


def find_interactions(basis: Basis, max_features: int | None = None) -> SelectedInteractions:
    """Return the interactions of the selected features: see ``selected_interactions``."""
    check_value("max_features", max_features, [whole(2), None])
    K = len(basis.selection)
    if K < 2:
        raise InvalidParameterError(f"Interactions need two selected features, and there are {K}.")
    columns = basis.selected_columns[: max_features or MAX_FEATURES]
    names = [basis.name(column.index) for column in columns]
    pairs = list(combinations(range(len(columns)), 2))
    of_target = [Pairs(columns, one.column) for one in basis.averaged]
    rows = []
    for i, j in pairs:
        measured = [each.measure(i, j, ALPHA / len(pairs)) for each in of_target]
        value, noise, rows_per_cell = np.mean(measured, axis=0).tolist()
        if rows_per_cell < SUPPORT:
            kind = "too few rows"
        elif abs(value) <= noise:
            kind = "within chance"
        else:
            kind = "synergy" if value > 0 else "redundancy"
        rows.append(SelectedPair((names[i], names[j]), (i, j), value, noise, rows_per_cell, kind))
    rows.sort(key=lambda row: (not row.is_significant, -comparison_key(abs(row.value)), row.places))
    return SelectedInteractions(tuple(rows), len(columns), K)


def strongest_map(basis: Basis, found: SelectedInteractions | None = None) -> InteractionMap | None:
    """Return the target over the features that work together most; None if none do.

    The strongest of those the screen kept; for other methods the selected pair with the largest
    synergy (``found``, or computed).
    """
    one = strongest_interaction(basis)
    if one is not None:
        n_selected = len(set(one.members) & set(basis.places))
        words = {0: " None of them is selected.", len(one.members): ""}
        sentence = why_together(basis, one) + words.get(n_selected, " Not all are selected.")
        return interaction_map(basis, one.members, sentence)
    if found is None and len(basis.selection) > 1:
        found = find_interactions(basis)
    pair = next((row for row in found or () if row.kind == "synergy"), None)
    if pair is None:
        return None
    members = [int(basis.selection.indices[place]) for place in pair.places]
    return interaction_map(basis, members, pair.sentence)


class _Cells:
    """A joint variable: the cell of each row, the rows of each cell, and one row of each cell."""

    def __init__(self, joint: Joint) -> None:
        self.joint, self.cells = joint, joint.cells
        self.counts = np.bincount(joint.cells, minlength=joint.n_cells)

    @cached_property
    def row(self) -> NDArray[np.int64]:
        """A row of each cell."""
        rows = np.empty(self.joint.n_cells, np.int64)
        rows[self.cells] = np.arange(len(self.cells))
        return rows

    @cached_property
    def log_counts(self) -> Values:
        """The logarithm of the number of rows of each cell."""
        return np.asarray(np.log(self.counts))

    def within(self, z: _Cells) -> tuple[Any, Any, Any]:
        """Return the counts within the cells of z, their cells, and how many each cell has."""
        cell = z.cells[self.row]
        order = np.argsort(cell, kind="stable")
        return (
            self.counts[order],
            cell[order].astype(np.int64),
            np.bincount(cell, minlength=z.joint.n_cells),
        )


class Pairs:
    """The interactions of pairs of columns about one target; single columns are counted once."""

    def __init__(self, columns: Sequence[Column], y: Column) -> None:
        self._columns, self._y, self._n = columns, y, len(y.codes)
        self._nothing = _Cells(Joint.of([], self._n))
        self._target = self._with_y(self._nothing)
        self._single = [_Cells(Joint.of([column])) for column in columns]
        self._single_y = [self._with_y(cells) for cells in self._single]
        self._alone = [_mean_g(x, self._target, self._nothing) for x in self._single]

    def _with_y(self, cells: _Cells) -> _Cells:
        return _Cells(cells.joint.with_column(self._y))

    def measure(self, i: int, j: int, level: float) -> tuple[float, float, float]:
        """Return T̂, how far chance can move it, and the rows for each cell of the two features."""
        n = self._n
        both = _Cells(self._single[i].joint.with_column(self._columns[j]))
        every = self._with_y(both)
        pointwise = np.zeros(every.joint.n_cells)
        for sign, with_y, without in (
            (1, every, both),
            (-1, self._single_y[i], self._single[i]),
            (-1, self._single_y[j], self._single[j]),
            (1, self._target, self._nothing),
        ):
            for cells, side in ((with_y, sign), (without, -sign)):
                pointwise += side * cells.log_counts[cells.cells[every.row]]
        share = every.counts / n
        counted = float(share @ pointwise)
        variance = float(share @ (pointwise - counted) ** 2)
        given = [
            _mean_g(both, self._single_y[z], self._single[z]) for z in (j, i)
        ]  # of i given j, and of j given i
        values = [
            counted - (mean - self._alone[c]) / (2 * n)
            for c, mean in zip((i, j), given, strict=True)
        ]
        value = min(values) if min(values) > 0 else min(0.0, max(values))
        degrees = max(given)
        spread = special.ndtri(1 - level / 2) ** 2 * max(0.0, variance - degrees / n) / n
        degrees = max(degrees, 1.0)
        tail = (2 * special.gammaincinv(degrees / 2, 1 - level / 2) - degrees) / (2 * n)
        return value, float(np.sqrt(spread + tail**2)), n / both.joint.n_cells


def _mean_g(x: _Cells, y: _Cells, z: _Cells) -> float:
    """Return the mean of 2N I(X;Y|Z) if the rows of X are permuted within the cells of Z.

    ``x`` and ``y`` are joint with Z.
    """
    return mean_of_g(Margins(z.counts, *x.within(z), *y.within(z)))

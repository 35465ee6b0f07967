"""Which features belong together, on the page: substitutes, clusters and interactions."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.information.counting import Values
from hocmim.insight.basis import Basis
from hocmim.insight.relations.clusters import MAX_DISTANCE, Clusters, cluster_codes
from hocmim.insight.relations.interactions import Interaction, Interactions, find_interactions
from hocmim.insight.relations.substitutes import (
    MAX_COMPARED,
    Replacements,
    Substitutes,
    nearest_selected,
)

# Features of a dendrogram, at most: more leaves cannot be read.
MAX_LEAVES = 60
# Selected features whose substitutes are shown, the first ones; substitutes of each.
MAX_REPLACED, N_SUBSTITUTES = 100, 3
# Selected features whose interactions are shown: of two and of three. Interactions of each kind.
MAX_COMBINED = {2: 30, 3: 12}
N_INTERACTIONS = {2: 8, 3: 5}
# Features this near to a selected one are in its cluster.
MIN_SHARE = 1 - MAX_DISTANCE


@dataclass(frozen=True, eq=False)
class Relations:
    """Which features belong together.

    Attributes
    ----------
    nearest : ndarray of int64
        For each feature the place of the selected feature it shares most with; −1 for none.
    share : ndarray of float64
        How much they share, from 0 to 1.
    substitutes : list of Substitutes
        Of the first selected features, in the order of selection.
    pairs, triples : Interactions or None
        None if there are too few selected features.
    tree : Clusters or None
        Of all features, if there are few enough for a dendrogram.
    """

    nearest: NDArray[np.int64]
    share: Values
    substitutes: list[Substitutes]
    pairs: Interactions | None
    triples: Interactions | None
    tree: Clusters | None

    @property
    def cluster_sizes(self) -> list[int]:
        """How many features are in the cluster of each selected feature, itself included."""
        near = self.nearest[(self.nearest >= 0) & (self.share >= MIN_SHARE)]
        return np.bincount(near, minlength=int(self.nearest.max(initial=-1)) + 1).tolist()


def relate(basis: Basis, *, n_jobs: int | None = None) -> Relations:
    """Find substitutes, clusters around the selected features, and interactions."""
    D, K = basis.all_codes.n_columns, len(basis.selection)
    if not K:
        return Relations(np.full(D, -1, np.int64), np.zeros(D), [], None, None, None)
    replacements = Replacements(basis, n_jobs=n_jobs)
    selected = basis.selection.indices[:MAX_COMPARED]
    nearest, share = nearest_selected(replacements.shared, selected)
    shown = selected[:MAX_REPLACED].tolist()
    rows = replacements.shared.rows(shown)
    found = [replacements.of(k, N_SUBSTITUTES, row) for k, row in zip(shown, rows, strict=True)]
    of_order = {
        order: find_interactions(basis, order, max_features=most) if order <= K else None
        for order, most in MAX_COMBINED.items()
    }
    tree = None
    if 1 < D <= MAX_LEAVES:
        tree = cluster_codes(
            basis.all_codes,
            [one.column for one in basis.averaged],
            n_jobs=n_jobs,
            names=basis.features.names,
        )
    return Relations(nearest, share, found, of_order[2], of_order[3], tree)


@dataclass(frozen=True)
class Bar:
    """One interaction as a bar: places in percent of the width, 50 is zero."""

    interaction: Interaction
    sentence: str
    left: float
    width: float
    noise_left: float
    noise_width: float


def bars(found: Interactions | None) -> list[Bar]:
    """Return the largest synergies, then the largest redundancies, on one scale."""
    if found is None:
        return []
    most = N_INTERACTIONS[found.order]
    of_kind = {
        kind: [row for row in found.rows if row.kind == kind] for kind in ("synergy", "redundancy")
    }
    rows = [row for each in of_kind.values() for row in each[:most]]
    largest = max((max(abs(row.value), row.noise) for row in rows), default=1.0)
    return [
        Bar(
            row,
            found.sentence(row),
            left=50 + 50 * min(0.0, row.value) / largest,
            width=50 * abs(row.value) / largest,
            noise_left=50 - 50 * row.noise / largest,
            noise_width=100 * row.noise / largest,
        )
        for row in rows
    ]


@dataclass(frozen=True)
class Tree:
    """A dendrogram: features from top to bottom, and the lines that join them.

    ``path`` is in units of 1000 for a distance of 1, and 10 for a feature.
    """

    leaves: list[int]
    path: str
    cut: float


def draw_tree(clusters: Clusters | None) -> Tree | None:
    """Return the dendrogram of a page."""
    if clusters is None or clusters.linkage is None or len(clusters.linkage) == 0:
        return None
    from scipy.cluster.hierarchy import dendrogram  # takes long to import

    drawn = dendrogram(clusters.linkage, no_plot=True)
    return Tree(
        drawn["leaves"],
        "".join(_lines(drawn["icoord"], drawn["dcoord"])),
        1000 * clusters.max_distance,
    )


def _lines(rows: Any, distances: Any) -> Iterator[str]:
    for (y0, _, _, y1), (x0, x, _, x1) in zip(rows, distances, strict=True):
        yield f"M{1000 * x0:.0f},{y0:.1f}H{1000 * x:.0f}V{y1:.1f}H{1000 * x1:.0f}"


def relations_data(relations: Relations | None, basis: Basis) -> dict[str, Any] | None:
    """Return the data of the search box: the nearest selected feature, and substitutes."""
    if relations is None:
        return None
    return {
        "nearest": _pack(relations.nearest, "<i2"),
        "share": _pack(np.rint(100 * relations.share), "<u1"),
        "minShare": round(100 * MIN_SHARE),
        "substitutes": [
            [[int(basis.features.of_column[row.index]), each.cost(row)] for row in each]
            for each in relations.substitutes
        ],
    }


def _pack(values: Any, kind: str) -> str:
    return base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode()

"""Which features belong together, on the page: substitutes, clusters and interactions."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes
from hocmim.information.counting import Values
from hocmim.insight.basis import Basis
from hocmim.insight.relations.clusters import (
    MAX_DISTANCE,
    MAX_LINKED,
    Clusters,
    cluster_codes,
    sample_rows,
)
from hocmim.insight.relations.interactions import Interaction, Interactions, find_interactions
from hocmim.insight.relations.shared import SharedInformation
from hocmim.insight.relations.substitutes import (
    MAX_COMPARED,
    Replacements,
    Substitutes,
    nearest_selected,
)

# Features of a dendrogram, at most: more leaves cannot be read.
MAX_LEAVES = 60
# Clusters on the map of more features than that, and rows on which these are compared.
MAX_CLUSTERS, MAP_ROWS = 40, 1000
# Selected features whose substitutes are shown, the first ones; substitutes of each.
MAX_REPLACED, N_SUBSTITUTES = 100, 3
# Selected features whose interactions are shown: of two and of three. Interactions of each kind.
MAX_COMBINED = {2: 30, 3: 12}
N_INTERACTIONS = {2: 8, 3: 5}
# Features this near to a selected one are in its cluster.
MIN_SHARE = 1 - MAX_DISTANCE


@dataclass(frozen=True, eq=False)
class ClusterMap:
    """The clusters of many features, those that are shown, and how they are related.

    Attributes
    ----------
    clusters : Clusters
        Of all features.
    leaves : ndarray of int64
        One feature of each cluster that is shown: the first selected one, or the representative.
    linkage : ndarray of float64
        The tree of these features by average linkage.
    """

    clusters: Clusters
    leaves: NDArray[np.int64]
    linkage: NDArray[np.float64]

    @property
    def sizes(self) -> list[int]:
        """How many features the cluster of each leaf has."""
        return self.clusters.sizes[self.clusters.labels[self.leaves]].tolist()


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
    map : ClusterMap or None
        Of the largest clusters, if there are more.
    """

    nearest: NDArray[np.int64]
    share: Values
    substitutes: list[Substitutes]
    pairs: Interactions | None
    triples: Interactions | None
    tree: Clusters | None
    map: ClusterMap | None = None

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
        tree = _cluster(basis, n_jobs=n_jobs)
    of_many = map_clusters(basis, n_jobs) if MAX_LEAVES < D <= MAX_LINKED else None
    return Relations(nearest, share, found, of_order[2], of_order[3], tree, of_many)


def map_clusters(basis: Basis, n_jobs: int | None = None) -> ClusterMap | None:
    """Cluster many features, and relate the clusters of selected features and the largest ones.

    None if there are fewer than two clusters to show.
    """
    from scipy.cluster.hierarchy import linkage  # takes long to import

    codes = sample_rows(basis.all_codes, MAP_ROWS, 0)
    clusters = _cluster(basis, max_rows=MAP_ROWS, n_jobs=n_jobs)
    leaf_of: dict[int, int] = {}
    for k in basis.selection.indices.tolist():
        leaf_of.setdefault(int(clusters.labels[k]), k)
    by_size = np.argsort(-clusters.sizes, kind="stable")
    for cluster in by_size[clusters.sizes[by_size] > 1].tolist():
        leaf_of.setdefault(cluster, int(clusters.representatives[cluster]))
    leaves = np.array(list(leaf_of.values())[:MAX_CLUSTERS], np.int64)
    if len(leaves) < 2:
        return None
    columns = [codes.column(k) for k in leaves.tolist()]
    apart = SharedInformation(Codes.from_columns(columns), n_jobs=n_jobs).triangle()
    return ClusterMap(clusters, leaves, linkage(apart, "average"))


def _cluster(basis: Basis, **how: Any) -> Clusters:
    """Cluster all features of a basis; relevance is the mean over its targets."""
    targets = [one.column for one in basis.averaged]
    return cluster_codes(basis.all_codes, targets, names=basis.features.names, **how)


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

    ``path`` is in units of 1000 for a distance of 1, and 10 for a feature. ``sizes`` is how many
    features each leaf stands for.
    """

    leaves: list[int]
    path: str
    cut: float
    sizes: list[int]


def draw_tree(clusters: Clusters | None) -> Tree | None:
    """Return the dendrogram of a page: every feature is a leaf."""
    if clusters is None or clusters.linkage is None or len(clusters.linkage) == 0:
        return None
    n = len(clusters.labels)
    return _drawn(clusters.linkage, np.arange(n), [1] * n, clusters.max_distance)


def draw_map(found: ClusterMap | None) -> Tree | None:
    """Return the dendrogram of a page: a leaf stands for a cluster."""
    if found is None:
        return None
    return _drawn(found.linkage, found.leaves, found.sizes, found.clusters.max_distance)


def _drawn(
    linkage: NDArray[np.float64], features: NDArray[np.int64], sizes: list[int], cut: float
) -> Tree:
    from scipy.cluster.hierarchy import dendrogram  # takes long to import

    drawn = dendrogram(linkage, no_plot=True)
    return Tree(
        [int(features[k]) for k in drawn["leaves"]],
        "".join(_lines(drawn["icoord"], drawn["dcoord"])),
        1000 * cut,
        [sizes[k] for k in drawn["leaves"]],
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

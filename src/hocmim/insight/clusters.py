"""Clusters of columns that share information, and one representative of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hocmim.coding.codes import Codes
from hocmim.coding.encoded import split_target
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import column_name
from hocmim.coding.target import Target, encode_target
from hocmim.data.table import as_table
from hocmim.errors import InvalidTableError
from hocmim.information.averages import MeanTerms
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Joint, Values
from hocmim.information.estimators import UNBIASED_ESTIMATOR
from hocmim.insight.shared import Indices, SharedInformation
from hocmim.parameters import FUNCTION_OR_NONE, JOBS, checked, number
from hocmim.search.progress import Progress, ProgressCallback
from hocmim.text import count, one_line, quote, some_of, visible

AVERAGE, LEADER = "average", "leader"
# Up to this many columns all pairs are compared and linked: 64 MB of distances.
MAX_LINKED = 4000
# Candidates that are compared with the leaders at a time.
BATCH_COLUMNS = 2048
# Clusters and members that a printed or HTML table lists.
MAX_LISTED, MAX_MEMBERS = 30, 5

# 0.75 is a correlation of numbers of about 0.8. In 63 rows of 2300 simulated genes it joins 75 % of
# the members of modules with r = 0.8, all with 0.9, and no unrelated ones; 0.8 joins 2 % of these.
MAX_DISTANCE = 0.75
# Distances are computed on this many rows, chosen at random, if there are more.
MAX_ROWS, RANDOM_SEED = 5000, 0


@dataclass(frozen=True, eq=False, repr=False)
class Clusters:
    """Columns in clusters. ``print`` it, or read its attributes.

    Attributes
    ----------
    labels : ndarray of int64, shape (n_columns,)
        The cluster of each column, from 0; clusters are numbered by their first columns.
    representatives : ndarray of int64, shape (n_clusters,)
        The column that stands for each cluster: the most relevant one if y was given, otherwise
        the one that shares most with the others ("average") or the first ("leader").
    distance : ndarray of float64, shape (n_columns,)
        1 − share of each column with the representative of its cluster.
    method : {"average", "leader"}
    max_distance : float
    n_rows : int
        On how many rows distances were computed.
    names : sequence of str, or None
        Of the columns.
    """

    labels: Indices
    representatives: Indices
    distance: Values
    method: str
    max_distance: float
    n_rows: int
    names: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.representatives)

    @property
    def others(self) -> Indices:
        """The columns that represent no cluster: leave them out to keep one column per cluster."""
        return np.setdiff1d(np.arange(len(self.labels)), self.representatives)

    @property
    def sizes(self) -> Indices:
        """How many columns each cluster has."""
        return np.bincount(self.labels, minlength=len(self)).astype(np.int64)

    def members(self, cluster: int) -> Indices:
        """Return the columns of a cluster, the representative first, then the nearest."""
        columns = np.flatnonzero(self.labels == cluster)
        is_other = columns != self.representatives[cluster]
        return columns[np.lexsort((columns, comparison_key(self.distance[columns]), is_other))]

    def name(self, j: int) -> str:
        """Return the name of column j, or its index."""
        return column_name(self.names, j)

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        n_alone = int((self.sizes == 1).sum())
        return (
            f"{count(len(self.labels), 'column')} in {count(len(self), 'cluster')}; "
            f"{n_alone:,} of them {'has' if n_alone == 1 else 'have'} one column only. "
            f"{_PROMISE[self.method].format(f'{1 - self.max_distance:.0%}')}"
        )

    def listed(self) -> list[tuple[str, int, list[str]]]:
        """Return the largest clusters: representative, size, and the names of the other members."""
        order = np.argsort(-self.sizes, kind="stable")
        found = []
        for cluster in order[self.sizes[order] > 1][:MAX_LISTED].tolist():
            others = [self.name(j) for j in self.members(cluster)[1:].tolist()]
            name = self.name(int(self.representatives[cluster]))
            found.append((name, int(self.sizes[cluster]), others))
        return found

    def __repr__(self) -> str:
        lines = [self.sentence, ""]
        for name, size, others in self.listed():
            members = some_of([one_line(quote(other), 40) for other in others], MAX_MEMBERS)
            lines.append(f"  {size:>6,}  {one_line(visible(name), 40)}: {members}")
        return "\n".join(lines).rstrip()


_PROMISE = {
    AVERAGE: "Columns of a cluster share at least {} of their information on average.",
    LEADER: "Every column shares at least {} of its information with the representative of its "
    "cluster, and no two representatives share so much.",
}


@checked(
    max_distance=[number(0, 1)],
    encoder=[Encoder, None],
    n_jobs=JOBS,
    progress=FUNCTION_OR_NONE,
)
def cluster_columns(
    X: Any,
    y: Any = None,
    *,
    max_distance: float = MAX_DISTANCE,
    encoder: Encoder | None = None,
    target: Target | str | None = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> Clusters:
    """Cluster the columns of a table by the information they share.

    The distance of two columns is 1 − share, where

        share(X, X′) = (I(X;X′) − E[I]) / (max(H(X), H(X′)) − E[I])

    with plug-in estimates, and E[I] the mean over all permutations of the rows: what two columns
    with these levels share by chance. A copy is at distance 0, an unrelated column at 1. Distances
    are computed on 5000 rows, chosen at random, if there are more.

    Up to 4000 columns: average linkage of all pairs. The mean distance between two parts of a
    cluster is at most ``max_distance``. Of more columns each, in order of relevance (of the table
    if there is no y), joins the nearest representative before it if that is within
    ``max_distance``, otherwise it represents a new cluster: memory is proportional to the number of
    columns.

    Parameters
    ----------
    X : table of shape (n_samples, n_columns)
        As for ``fit`` of a selector.
    y : array of shape (n_samples,) or (n_samples, n_targets), optional
        The target: the most relevant column represents a cluster then.
    max_distance : float from 0 to 1, default 0.75
        How far apart columns of one cluster may be.
    encoder : Encoder, optional
        How columns are coded; a fitted one, such as ``selector.encoder_``, is used as it is.
    target : {None, "classes", "quantity"}
        What y is; None: decided from its values.
    n_jobs : int or None
        Threads; never changes a result.
    progress : callable, optional
        Called with a ``hocmim.search.progress.ProgressEvent``. It may raise to stop.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hocmim import cluster_columns
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clusters = cluster_columns(X, y)
    >>> X_one_each = X.iloc[:, clusters.representatives]
    """
    X, y = split_target(X, y)
    table = as_table(X)
    encoder = Encoder() if encoder is None else encoder
    is_fitted = hasattr(encoder, "columns_")
    how = encoder.transform if is_fitted else partial(encoder.fit_transform, y=y)
    codes = how(table, n_jobs=n_jobs)
    if codes.n_columns == 0:
        raise InvalidTableError("The table has no columns to cluster.")
    relevance = None
    if y is not None:
        found = encode_target(y, table.n_rows, Target.of(target))
        joints = [Joint.of([one.column]) for one in found.each]
        relevance = MeanTerms(codes, joints, UNBIASED_ESTIMATOR).relevance()
    told = Progress("cluster_columns", progress)
    told.begin("cluster", "comparing pairs of columns")

    def on_progress(done: int, total: int) -> None:
        told.move(f"comparing pairs of columns, {done:,} of {total:,}", done, total)

    codes = sample_rows(codes)
    shared = SharedInformation(codes, n_jobs=n_jobs, on_progress=on_progress)
    method = AVERAGE if codes.n_columns <= MAX_LINKED else LEADER
    cluster = _link if method == AVERAGE else _lead
    labels, representatives, distance = cluster(shared, relevance, max_distance)
    return Clusters(
        *_numbered(labels, representatives, distance),
        method,
        max_distance,
        codes.n_samples,
        table.names,
    )


def sample_rows(codes: Codes) -> Codes:
    """Return the codes of at most ``MAX_ROWS`` rows, chosen at random."""
    if codes.n_samples <= MAX_ROWS:
        return codes
    rng = np.random.default_rng(RANDOM_SEED)
    rows = np.sort(rng.choice(codes.n_samples, MAX_ROWS, replace=False))
    return codes.take(rows)


def _link(
    shared: SharedInformation, relevance: Values | None, max_distance: float
) -> tuple[Indices, Indices, Values]:
    """Cluster by average linkage of all pairs."""
    from scipy.cluster import hierarchy  # takes long to import

    D = shared.codes.n_columns
    if D == 1:
        return np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1)
    pairs = shared.triangle()
    tree = hierarchy.linkage(pairs, "average")
    # Rounded as all comparisons are: a mean distance of exactly max_distance is within it.
    labels = hierarchy.fcluster(tree, max_distance + 1e-12, "distance").astype(np.int64) - 1
    representatives = np.empty(int(labels.max()) + 1, np.int64)
    distance = np.empty(D)
    for cluster in range(len(representatives)):
        members = np.flatnonzero(labels == cluster)
        apart = _square(pairs, members, D)
        merit = -apart.sum(axis=1) if relevance is None else relevance[members]
        best = int(np.argmax(comparison_key(merit)))
        representatives[cluster] = members[best]
        distance[members] = apart[best]
    return labels, representatives, distance


def _square(pairs: Values, members: Indices, D: int) -> Values:
    """Return the distances of these columns, from those of all pairs."""
    n = len(members)
    apart = np.zeros((n, n))
    i, j = np.triu_indices(n, 1)
    a, b = members[i], members[j]
    apart[i, j] = apart[j, i] = pairs[D * a - a * (a + 1) // 2 + b - a - 1]
    return apart


def _lead(
    shared: SharedInformation, relevance: Values | None, max_distance: float
) -> tuple[Indices, Indices, Values]:
    """Cluster around leaders: each column joins the nearest leader before it, or becomes one."""
    D = shared.codes.n_columns
    order = np.arange(D, dtype=np.int64)
    if relevance is not None:
        order = np.argsort(-comparison_key(relevance), kind="stable")
    shared.total = D * (D - 1) // 2
    leaders: list[int] = []
    leader_of, distance = np.full(D, -1, np.int64), np.zeros(D)
    limit = comparison_key(max_distance)
    for at in range(0, D, BATCH_COLUMNS):
        batch = order[at : at + BATCH_COLUMNS]
        nearest, far = np.full(len(batch), -1, np.int64), np.full(len(batch), np.inf)
        for leader, row in zip(leaders, shared.rows(leaders, batch), strict=True):
            _move_nearer(nearest, far, leader, 1.0 - row.share)
        terms = shared.terms(batch)
        for place in range(len(batch)):
            j = int(batch[place])
            if nearest[place] >= 0 and comparison_key(far[place]) <= limit:
                leader_of[j], distance[j] = nearest[place], far[place]
                continue
            leaders.append(j)
            leader_of[j] = j
            rest = np.arange(place + 1, len(batch), dtype=np.int64)
            joint = Joint.of([shared.codes.column(j)])
            row = shared.row(j, terms.information(joint, rest), batch[rest])
            _move_nearer(nearest[place + 1 :], far[place + 1 :], j, 1.0 - row.share)
    representatives = np.array(leaders, np.int64)
    place_of = np.full(D, -1, np.int64)
    place_of[representatives] = np.arange(len(representatives))
    return place_of[leader_of], representatives, distance


def _move_nearer(nearest: Indices, far: Values, leader: int, distance: Values) -> None:
    """Note a leader where it is nearer than those before it."""
    is_nearer = comparison_key(distance) < comparison_key(np.minimum(far, 2.0))
    nearest[is_nearer], far[is_nearer] = leader, distance[is_nearer]


def _numbered(
    labels: Indices, representatives: Indices, distance: Values
) -> tuple[Indices, Indices, Values]:
    """Number the clusters by their first columns."""
    _, first = np.unique(labels, return_index=True)
    order = np.argsort(first, kind="stable")
    new = np.empty(len(order), np.int64)
    new[order] = np.arange(len(order))
    return new[labels], representatives[order], distance

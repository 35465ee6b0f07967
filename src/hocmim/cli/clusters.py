"""One column of each cluster, before a selection: the option, and how the table is reduced."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from hocmim.errors import InvalidParameterError

if TYPE_CHECKING:
    from hocmim.cli.data import Data
    from hocmim.cli.options import Settings
    from hocmim.insight.relations.clusters import Clusters

cluster_option = click.option(
    "--one-per-cluster",
    type=click.FloatRange(0, 1),
    metavar="DIST",
    help="First keep one column of each cluster of columns that are at most this far apart: 0 is "
    "copies only, 0.6 is 40% of their information shared.",
)


def find_clusters(
    data: Data,
    max_distance: float,
    *,
    jobs: int | None = None,
    progress: Any = None,
    **options: Any,
) -> Clusters:
    """Cluster the columns of a table in memory."""
    from hocmim.insight.relations.clusters import cluster_columns

    if not data.is_in_memory:
        raise InvalidParameterError(
            "Clusters need the table in memory: leave out --engine and --codes-dir."
        )
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    return cluster_columns(
        data.X,
        data.y,
        max_distance=max_distance,
        target_kind=data.target_kind,
        n_jobs=jobs,
        progress=progress,
        **given,
    )


def keep_one_per_cluster(
    data: Data, max_distance: float | None, settings: Settings, quiet: bool
) -> Data:
    """Return the table with one column of each cluster; unchanged if no distance is given."""
    if max_distance is None:
        return data
    if settings.group:
        raise InvalidParameterError(
            "--one-per-cluster cannot be used with --group: a group could lose columns."
        )
    from hocmim.cli import selection, show
    from hocmim.text import count

    with selection.bar("clustering", quiet) as move:
        clusters = find_clusters(
            data,
            max_distance,
            jobs=settings.jobs,
            n_bins=settings.bins,
            discretizer=None if settings.discretizer == "kendall" else settings.discretizer,
            progress=None if move is None else lambda done, total: move(done, total, ""),
        )
    kept = [data.names[j] for j in sorted(clusters.representatives.tolist())]
    if not quiet:
        found = f"{count(len(data.names), 'column')} in {count(len(kept), 'cluster')}"
        show.say(f"{found}; one column of each is kept.")
    return replace(data, X=data.X.select(kept), types={name: data.types[name] for name in kept})

"""Show clusters of columns that share information."""

from __future__ import annotations

import click

from hocmim.cli.options import (
    Source,
    force_option,
    json_option,
    quiet_option,
    with_source,
)


@click.command()
@with_source
@click.option(
    "--max-distance",
    type=click.FloatRange(0, 1),
    default=0.6,
    show_default=True,
    help="How far apart columns of one cluster may be: 0 is a copy, 1 is nothing shared.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(2),
    help="Compare the columns on this many rows, chosen at random.  [default: 5000]",
)
@click.option("-j", "--jobs", type=int, help="Number of threads.  [default: all cores]")
@json_option
@force_option
@quiet_option
def clusters(
    source: Source, max_distance: float, max_rows: int | None, jobs: int | None,
    json_path: str | None, force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Show which columns of FILE share information, in clusters.

    The column with the most information about the target represents a cluster. 'hocmim select
    --one-per-cluster 0.6' selects among the representatives only.

    \b
    Examples:
      hocmim clusters patients.csv --target diagnosis
      hocmim clusters genes.parquet -t class --max-distance 0.4 --json clusters.json
    """
    from hocmim.cli import show
    from hocmim.cli.clusters import find_clusters
    from hocmim.cli.data import load
    from hocmim.text import some_of, visible

    show.check_json(json_path, force)
    data = load(source, None, quiet)
    from hocmim.cli import selection  # takes long to import: after the errors in the file

    with selection.bar("clustering", quiet) as move:
        progress = None if move is None else lambda done, total: move(done, total, "")
        found = find_clusters(data, max_distance, jobs=jobs, max_rows=max_rows, progress=progress)
    members = [found.members(cluster).tolist() for cluster in range(len(found))]
    members.sort(key=lambda columns: (-len(columns), columns[0]))
    if json_path is not None:
        result = {
            "file": source.file,
            "target": source.target_name,
            "method": found.method,
            "max_distance": max_distance,
            "n_rows": found.n_rows,
            "clusters": [
                {
                    "representative": data.names[columns[0]],
                    "columns": [data.names[j] for j in columns],
                    "distances": [float(found.distance[j]) for j in columns],
                }
                for columns in members
            ],
        }
        show.json_result(result, json_path, force)
    if json_path != "-":
        rows = [
            (
                len(columns),
                data.names[columns[0]],
                some_of([visible(data.names[j]) for j in columns[1:]], 10) or None,
            )
            for columns in members
        ]
        titles = [("columns", "number"), ("representative", "name"), ("others", "name")]
        show.table(titles, rows)
    if not quiet:
        show.say(found.sentence, "dim")

"""Show what hocmim makes of each column of a table."""

from __future__ import annotations

from typing import Any

import click

from hocmim.cli import options, show
from hocmim.cli.command import Command
from hocmim.cli.data import TEXT_OPTIONS, read_columns, read_target, with_target
from hocmim.cli.options import Source
from hocmim.coding.encoder import Encoder
from hocmim.coding.target import Target
from hocmim.data.files import column_types
from hocmim.insight.checks import describe_columns
from hocmim.insight.clusters import MAX_DISTANCE, cluster_columns
from hocmim.text import count, one_line, some_of, visible

MAX_NAME_LENGTH, MAX_MEMBERS = 30, 10


@click.command(cls=Command)
@options.table
@options.option(
    "--clusters",
    is_flag=True,
    help="Show clusters of columns that share information; with -t the column with the most "
    "information about the target represents a cluster.",
)
@options.option(
    "--max-distance",
    type=click.FloatRange(0, 1),
    default=MAX_DISTANCE,
    show_default=True,
    metavar="DIST",
    help="With --clusters: how far apart columns of one cluster may be; 0 is a copy, 1 is nothing "
    "shared.",
)
@options.encoder
@options.json_path
@options.force
def columns(
    source: Source, clusters: bool, max_distance: float, given: dict[str, Any],
    json_path: str | None, force: bool,
) -> None:  # fmt: skip
    """Show what hocmim makes of each column of FILE, a line for each column.

    Its type, how its text was read, its bins or levels, missing values, and what to check: columns
    that are constant, identify the rows, or have many levels. With -t also columns that copy the
    target. Nothing is selected.

    \b
    Examples:
      hocmim columns patients.csv
      hocmim columns patients.csv -t diagnosis --as zip=category --dates day-first
      hocmim columns patients.csv -t diagnosis --clusters
    """
    show.check_output(json_path, force)
    table, read = read_columns(source, quiet=False)
    known = with_target(source, table)
    y = read_target(source, known, Target()) if source.target else None
    X, encoder = known.drop_columns(list(source.target)), Encoder(**given)
    if clusters:
        _clusters(source, X, y, encoder, max_distance, json_path, force)
        return
    said = {column.name: column.describe(TEXT_OPTIONS) for column in read.columns}
    types = column_types(X)
    found: list[dict[str, Any]] = [
        {
            "name": one.name,
            "type": types[one.name],
            "missing": one.n_missing,
            "encoding": one.encoding.without_missing(),
            "notes": [*([said[one.name]] if one.name in said else []), *one.notes],
        }
        for one in describe_columns(X, y, encoder=encoder)
    ]
    show.json_result({"file": source.file, "columns": found}, json_path, force)
    if json_path != "-":
        _print(found)


def _print(found: list[dict[str, Any]]) -> None:
    if not show.is_terminal():
        titles = [(title, "name") for title in ("column", "type", "missing", "encoding", "notes")]
        show.table(
            titles, [(*list(row.values())[:4], "; ".join(row["notes"]) or None) for row in found]
        )
        return
    pairs = []
    for row in found:
        missing = [f"{count(row['missing'], 'row')} missing"] if row["missing"] else []
        parts = [f"{row['type']}: {row['encoding']}", *missing, *row["notes"]]
        name = one_line(visible(row["name"]), MAX_NAME_LENGTH)
        pairs.append((name, "; ".join(part.rstrip(".") for part in parts) + "."))
    show.facts(pairs)


def _clusters(
    source: Source,
    X: Any,
    y: Any,
    encoder: Encoder,
    max_distance: float,
    json_path: str | None,
    force: bool,
) -> None:
    with show.bar("clustering", quiet=False) as move:
        found = cluster_columns(X, y, max_distance=max_distance, encoder=encoder, progress=move)
    members = [found.members(cluster).tolist() for cluster in range(len(found))]
    members.sort(key=lambda columns: (-len(columns), columns[0]))
    result = {
        "file": source.file,
        "target": source.target_name,
        "method": found.method,
        "max_distance": max_distance,
        "n_rows": found.n_rows,
        "clusters": [
            {
                "representative": found.name(columns[0]),
                "columns": [found.name(j) for j in columns],
                "distances": [float(found.distance[j]) for j in columns],
            }
            for columns in members
        ],
    }
    show.json_result(result, json_path, force)
    if json_path != "-":
        if show.is_terminal():  # the sentence counts the others
            members = [columns for columns in members if len(columns) > 1]
        show.table(
            [("columns", "number"), ("representative", "name"), ("others", "name")],
            [
                (
                    len(columns),
                    found.name(columns[0]),
                    some_of([visible(found.name(j)) for j in columns[1:]], MAX_MEMBERS) or None,
                )
                for columns in members
            ],
        )
    show.say(found.sentence, "dim")

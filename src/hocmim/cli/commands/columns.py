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
from hocmim.text import count, one_line, visible

MAX_NAME_LENGTH = 30


@click.command(cls=Command)
@options.table
@options.encoder
@options.json_path
@options.force
def columns(source: Source, given: dict[str, Any], json_path: str | None, force: bool) -> None:
    """Show what hocmim makes of each column of FILE, a line for each column.

    Its type, how its text was read, its bins or levels, missing values, and what to check: columns
    that are constant, identify the rows, or have many levels. With -t also columns that copy the
    target. Nothing is selected.

    \b
    Examples:
      hocmim columns patients.csv
      hocmim columns patients.csv -t diagnosis --as zip=category --dates day-first
    """
    show.check_output(json_path, force)
    table, read = read_columns(source)
    known = with_target(source, table)
    y = read_target(source, known, Target()) if source.target else None
    X, encoder = known.drop_columns(list(source.target)), Encoder(**given)
    said: dict[str, str] = {}
    for column in read.columns:
        for name in column.parts or (column.name,):
            said[name] = column.describe(TEXT_OPTIONS)
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

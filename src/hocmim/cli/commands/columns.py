"""Show what hocmim makes of each column of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from hocmim.cli.options import Source, force_option, json_option, with_table
from hocmim.cli.sections import SectionedCommand

MAX_NAME_LENGTH = 30


@click.command(cls=SectionedCommand)
@with_table
@json_option
@force_option
def columns(source: Source, json_path: str | None, force: bool) -> None:
    """Show what hocmim makes of each column of FILE, one line a column.

    Its type, how its text was read, its bins or levels, missing values, and what to check: columns
    that are constant, look like identifiers, or have many levels. With -t also columns that copy
    the target. Nothing is selected.

    \b
    Examples:
      hocmim columns patients.csv
      hocmim columns patients.csv -t diagnosis --as zip=category --dates day-first
    """
    from dataclasses import asdict

    from hocmim.cli import show

    show.check_json(json_path, force)
    found = _describe(source)
    if json_path is not None:
        result = {"file": source.file, "columns": [asdict(column) for column in found]}
        show.json_result(result, json_path, force)
    if json_path != "-":
        _print(found)


@dataclass(frozen=True)
class _Row:
    """One line of the output."""

    name: str
    type: str
    missing: int
    encoding: str
    notes: list[str]


def _describe(source: Source) -> list[_Row]:
    from hocmim.cli.data import TEXT_OPTIONS, load_columns
    from hocmim.data.files import column_types

    table, read, y = load_columns(source)
    from hocmim.insight.columns import describe_columns

    said: dict[str, str] = {}
    for column in read:
        for name in column.parts or (column.name,):
            said[name] = column.describe(TEXT_OPTIONS)
    features = table.drop_columns(list(source.target))
    types = column_types(features)
    return [
        _Row(
            summary.name,
            types[summary.name],
            summary.n_missing,
            summary.encoding.without_missing(),
            [*([said[summary.name]] if summary.name in said else []), *summary.notes],
        )
        for summary in describe_columns(features, y)
    ]


def _print(found: list[_Row]) -> None:
    from hocmim.cli import show
    from hocmim.text import count, one_line, visible

    if not show.is_terminal():
        titles = [(title, "name") for title in ("column", "type", "missing", "encoding", "notes")]
        rows: list[tuple[Any, ...]] = [
            (row.name, row.type, row.missing, row.encoding, "; ".join(row.notes)) for row in found
        ]
        show.table(titles, rows)
        return
    pairs = []
    for row in found:
        missing = [f"{count(row.missing, 'row')} missing"] if row.missing else []
        parts = [f"{row.type}: {row.encoding}", *missing, *row.notes]
        name = one_line(visible(row.name), MAX_NAME_LENGTH)
        pairs.append((name, "; ".join(part.rstrip(".") for part in parts) + "."))
    show.facts(pairs)

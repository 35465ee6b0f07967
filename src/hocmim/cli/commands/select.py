"""Select the columns with the most information about a target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hocmim.cli.options import (
    Settings,
    Source,
    check_settings,
    force_option,
    json_option,
    method_option,
    quiet_option,
    with_settings,
    with_source,
)

if TYPE_CHECKING:
    from hocmim.cli.data import Data
    from hocmim.cli.selection import Outcome, Row


@click.command()
@with_source
@method_option
@with_settings
@json_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write the selected columns and the target to this file (CSV, TSV, Parquet, Arrow).",
)
@force_option
@quiet_option
def select(
    source: Source, settings: Settings, method: str, json_path: str | None, output: Path | None,
    force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Select the columns of FILE that together have the most information about a target.

    FILE is a CSV, TSV, JSON lines, Parquet, Arrow or Feather file, also compressed; an Excel or
    OpenDocument file; or a table of a database, such as sqlite:///file.db?table=t. - reads CSV from
    standard input. hocmim warns about columns that look like identifiers or copies of the target,
    but does not exclude them. The result is a table on a terminal and tab-separated lines in a
    pipe. Ctrl-C stops the selection and keeps the features selected so far.

    \b
    Examples:
      hocmim select patients.csv --target diagnosis
      hocmim select patients.csv -t diagnosis -k auto --drop id --json out.json
      hocmim select genes.parquet -t class -k 50 --method DISR -o reduced.parquet
      hocmim select genes.parquet -t class -q | cut -f 2
      zcat big.csv.gz | hocmim select - -t y --set max_order=5 --bins 8
    """
    from hocmim.cli import show
    from hocmim.cli.data import load
    from hocmim.data import files

    show.check_json(json_path, force)
    check_settings(settings)
    if output is not None:
        files.output_format(output)
        show.check_output(output, force)
    data = load(source, settings, quiet)
    from hocmim.cli import selection  # takes long to import: after the errors in the file

    selector = selection.make(method, source, settings, data)
    outcome = selection.run(selector, data, quiet)
    rows = selection.rows(selector, data.names)
    notes = selection.notes(selector, data)
    if not quiet:
        show.data_notes(notes)
    if json_path is not None:
        show.json_result(_as_json(source, data, outcome, rows, notes), json_path, force)
    if json_path != "-":
        _print(rows)
    if output is not None:
        reduced = _reduced(source, data, outcome)
        files.write_table(reduced, output, overwrite=force, hint=show.OVERWRITE_HINT)
    if not quiet:
        _print_end(outcome, rows, data, settings)
        for path in filter(None, (output, json_path)):
            if path != "-":
                show.say(f"Wrote {path}{' (partial)' if outcome.is_partial else ''}.")
    if outcome.is_partial:
        raise click.exceptions.Exit(130)


def _print(rows: list[Row]) -> None:
    from hocmim.cli import show

    has_relevance = any(row.relevance is not None for row in rows)
    has_order = any(row.order is not None for row in rows)
    columns: list[tuple[str, str, list[Any]]] = [
        ("rank", "number", [row.rank for row in rows]),
        ("feature", "name", [row.feature for row in rows]),
        *([("relevance", "number", [row.relevance for row in rows])] if has_relevance else []),
        ("score", "number", [row.score for row in rows]),
        *([("order", "number", [row.order for row in rows])] if has_order else []),
    ]
    if has_relevance:
        columns.append(("most redundant with", "name", [row.redundant_with for row in rows]))
    titles = [(title, kind) for title, kind, _ in columns]
    show.table(titles, list(zip(*(values for *_, values in columns), strict=True)))


def _print_end(outcome: Outcome, rows: list[Row], data: Data, settings: Settings) -> None:
    """Print why the selection ended, and how long it took."""
    from hocmim.cli import show
    from hocmim.text import count

    if outcome.is_partial:
        resume = " Run the same command again to resume." if settings.checkpoint else ""
        text = f"Stopped after {count(len(rows), 'feature')}: the result is partial.{resume}"
        show.say(text, "yellow")
        return
    stopping = getattr(outcome.selector, "stopping_", None)
    if stopping is not None:
        name = show.quoted(data.names[stopping.index])
        why = (
            f"the best remaining candidate, {name}, adds nothing significant "
            f"(p = {stopping.p_value:.2g})"
            if stopping.reason == "not significant"
            else f"the score of the best remaining candidate, {name}, is {stopping.score:.4f}, "
            "below min_gain"
        )
        show.say(f"The selection stopped: {why}.")
    show.say(f"Selected {count(len(rows), 'feature')} in {outcome.seconds:.1f} s.", "dim")


def _as_json(
    source: Source, data: Data, outcome: Outcome, rows: list[Row], notes: list[Any]
) -> dict[str, Any]:
    from dataclasses import asdict

    from hocmim.cli import selection

    selector = outcome.selector
    return {
        **selection.described(source, selector, data),
        "partial": outcome.is_partial,
        "selected": [asdict(row) for row in rows],
        "columns": [data.names[j] for j in selector.selected_.tolist()],
        "stopped": selection.stopping(selector, data.names),
        "notes": [asdict(note) for note in notes],
        "types": data.types,
    }


def _reduced(source: Source, data: Data, outcome: Outcome) -> Any:
    """Return the selected columns, the best first, and the target; all rows of the file."""
    from hocmim.data.files import read_table

    columns = [data.names[j] for j in outcome.selector.selected_.tolist()]
    columns += source.target
    table = (
        data.table.select(columns)
        if data.is_in_memory
        else read_table(source.file, columns=columns)
    )
    if not outcome.is_partial:
        return table
    return table.replace_schema_metadata(
        {**(table.schema.metadata or {}), "hocmim.partial": "true"}
    )

"""Select the columns with the most information about a target."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hocmim.cli.clusters import cluster_option, keep_one_per_cluster
from hocmim.cli.options import (
    Settings,
    Source,
    Validation,
    check_settings,
    force_option,
    json_option,
    method_option,
    quiet_option,
    safe_csv_option,
    save_option,
    with_settings,
    with_source,
    with_validation,
)
from hocmim.cli.sections import SectionedCommand

if TYPE_CHECKING:
    from hocmim.cli.data import Data
    from hocmim.cli.selection import Outcome, Row


@click.command(cls=SectionedCommand)
@with_source
@method_option
@with_settings
@cluster_option
@with_validation
@json_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Write the selected columns and the target to this file (CSV, TSV, Parquet, Arrow).",
)
@save_option
@safe_csv_option
@force_option
@quiet_option
def select(
    source: Source, settings: Settings, validation: Validation, method: str, json_path: str | None,
    output: Path | None, save: Path | None, safe_csv: bool, force: bool, quiet: bool,
    one_per_cluster: float | None,
) -> None:  # fmt: skip
    """Select the columns of FILE that together have the most information about a target.

    FILE is a CSV, TSV, JSON lines, Parquet, Arrow or Excel file, also compressed, or a table of a
    database (sqlite:///file.db?table=t); - reads CSV from standard input. Columns that identify
    the rows are left out. Ctrl-C keeps the features selected so far.

    \b
    Examples:
      hocmim select patients.csv --target diagnosis
      hocmim select patients.csv -t diagnosis -k auto --json out.json
      hocmim select patients.csv -t diagnosis -k cv --groups patient
      hocmim select genes.parquet -t class -k 50 --method DISR -o reduced.parquet
    """
    from hocmim.cli import checks, show
    from hocmim.cli.data import load
    from hocmim.data import files

    show.check_json(json_path, force)
    check_settings(settings)
    checks.check_methods(method)
    checks.check_estimator(settings.estimator)
    if output is not None:
        files.output_format(output)
        show.check_output(output, force)
    if save is not None:
        show.check_output(save, force)
    data = load(source, settings, quiet)
    data = keep_one_per_cluster(data, one_per_cluster, settings, quiet)
    checks.check_number(settings, data.names)
    from hocmim.cli import selection  # takes long to import: after the errors in the file

    made = selection.make(method, source, settings, data, validation)
    outcome = selection.run(made, data, quiet)
    selector = getattr(made, "selector_", made)  # that a cross-validation chose
    outcome = replace(outcome, selector=selector)
    rows = selection.rows(selector, data.names)
    notes = selection.notes(selector, data)
    if not quiet:
        show.data_notes(notes)
    if json_path is not None:
        result = _as_json(source, data, outcome, rows, notes)
        if settings.k == "cv":
            result["cross_validation"] = selection.validation_json(made)
        show.json_result(result, json_path, force)
    if json_path != "-":
        _print(rows)
    if output is not None:
        reduced = _reduced(source, data, outcome)
        hint = show.OVERWRITE_HINT
        files.write_table(reduced, output, overwrite=force, hint=hint, is_safe=safe_csv)
    if save is not None:
        selector.save(save, overwrite=force)
    if not quiet:
        if settings.k == "cv":
            show.say(selection.describe_choice(made))
        _print_end(outcome, rows, data, settings)
        for path in filter(None, (output, json_path, save)):
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
    if any(row.kept for row in rows):
        columns.append(("kept", "text", ["kept" if row.kept else "" for row in rows]))
    if any(row.cost is not None for row in rows):
        columns.append(("cost", "number", [_cost(row.cost) for row in rows]))
    if has_relevance:
        columns.append(("most redundant with", "name", [row.redundant_with for row in rows]))
    titles = [(title, kind) for title, kind, _ in columns]
    show.table(titles, list(zip(*(values for *_, values in columns), strict=True)))


def _cost(cost: float | None) -> str | None:
    return None if cost is None else f"{cost:g}"


def _print_end(outcome: Outcome, rows: list[Row], data: Data, settings: Settings) -> None:
    """Print why the selection ended, and how long it took."""
    from hocmim.cli import show
    from hocmim.insight.reasons import tested
    from hocmim.text import count

    if outcome.is_partial:
        resume = " Run the same command again to resume." if settings.checkpoint else ""
        text = f"Stopped after {count(len(rows), 'feature')}: the result is partial.{resume}"
        show.say(text, "yellow")
        return
    stopping = getattr(outcome.selector, "stopping_", None)
    if stopping is not None:
        name = show.quoted(data.names[stopping.index])
        why = {
            "not significant": f"the best remaining candidate, {name}, adds nothing significant "
            f"({tested(stopping.p_value, outcome.selector.selection_.error_control)})",
            "below min_gain": f"the score of the best remaining candidate, {name}, is "
            f"{stopping.score:.4f}, below min_gain",
            "over budget": f"no other column can be paid for; the best of them is {name}",
        }[stopping.reason]
        show.say(f"The selection stopped: {why}.")
    total = getattr(outcome.selector, "total_cost_", None)
    if total is not None:
        show.say(f"The selected columns cost {total:g}.")
    if settings.fdr is not None:
        show.say(outcome.selector.statement())
    show.say(f"Selected {count(len(rows), 'feature')} in {outcome.seconds:.1f} s.", "dim")


def _as_json(
    source: Source, data: Data, outcome: Outcome, rows: list[Row], notes: list[Any]
) -> dict[str, Any]:
    from dataclasses import asdict

    from hocmim.cli import selection
    from hocmim.cli.data import TEXT_OPTIONS

    selector = outcome.selector
    return {
        **selection.described(source, selector, data),
        "partial": outcome.is_partial,
        "selected": [asdict(row) for row in rows],
        "columns": [data.names[j] for j in selector.selected_.tolist()],
        "stopped": selection.stopping(selector, data.names),
        "error_control": selection.error_control(selector),
        "total_cost": getattr(selector, "total_cost_", None),
        "notes": [asdict(note) for note in notes],
        "types": data.types,
        "text_columns": [column.sentence(TEXT_OPTIONS) for column in data.text_columns],
    }


def _reduced(source: Source, data: Data, outcome: Outcome) -> Any:
    """Return the selected columns, the best first, and the target; all rows of the file."""
    columns = [data.names[j] for j in outcome.selector.selected_.tolist()]
    columns += source.target
    table = data.table.select(columns) if data.is_in_memory else data.X.read(columns)
    if not outcome.is_partial:
        return table
    return table.replace_schema_metadata(
        {**(table.schema.metadata or {}), "hocmim.partial": "true"}
    )

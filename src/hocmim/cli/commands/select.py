"""Select the columns with the most information about a target."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from hocmim.cli import options, selection, show
from hocmim.cli.command import Command
from hocmim.cli.data import TEXT_OPTIONS, Data
from hocmim.data import files
from hocmim.data.reading import TableReading
from hocmim.insight.checks import LEAK
from hocmim.insight.explain import tested
from hocmim.insight.substitutes import substitutes
from hocmim.text import count, some_of

# Substitutes of a column that a model names, and up to how many cells they are looked for.
SAVED_SUBSTITUTES, MAX_SUBSTITUTE_CELLS = 3, 1_000_000_000

# Leaks that a warning names.
SHOWN_LEAKS = 5


@click.command(cls=Command)
@options.request
@options.json_path
@options.file_option(
    "-o",
    "--output",
    help="Write the selected columns and the target to this file (CSV, TSV, Parquet, Arrow).",
)
@options.file_option("--save", help="Save the selection to this JSON file, for 'hocmim apply'.")
@options.safe_csv
@options.force
def select(
    request: options.Request, json_path: str | None, output: Path | None, save: Path | None,
    safe_csv: bool, force: bool,
) -> None:  # fmt: skip
    """Select the columns of FILE that together have the most information about a target.

    FILE is a CSV, TSV, Parquet, Arrow or Excel file, also compressed; - reads CSV from standard
    input. Columns that identify the rows are left out. Ctrl-C keeps the features selected so far.

    \b
    Examples:
      hocmim select patients.csv --target diagnosis
      hocmim select patients.csv -t diagnosis -k significant --json out.json
      hocmim select patients.csv -t diagnosis -k cv -m JMI,mRMR --groups patient
      hocmim select genes.parquet -t class -k 50 --method DISR -o reduced.parquet
    """
    written = [path for path in (output, json_path, save) if path not in (None, "-")]
    for path in written:
        show.check_output(path, force)
    if output is not None:
        files.output_format(output)
    data, outcome = selection.select(request, without=LEAK)
    rows = [
        {**row, "check": "leak?" if row["feature"] in outcome.leaks else None}
        for row in selection.rows(outcome.selector, data.names)
    ]
    show.json_result(_as_json(request.source, data, outcome, rows), json_path, force)
    if json_path != "-":
        _print(outcome, rows)
    if output is not None:
        reduced = _reduced(request.source, data, outcome)
        hint = show.OVERWRITE_HINT
        files.write_table(reduced, output, overwrite=force, hint=hint, is_safe=safe_csv)
    if save is not None:
        outcome.selector.reading_ = _reading(data, outcome.selector)
        outcome.selector.save(save, overwrite=force)
    if not request.quiet:
        _print_leaks(outcome.leaks, [row["feature"] for row in rows])
        _print_end(outcome, rows, data, request.given)
        for path in written:
            show.say(f"Wrote {path}{' (partial)' if outcome.is_partial else ''}.")
    if outcome.is_partial:
        raise click.exceptions.Exit(130)


def _print(outcome: selection.Outcome, rows: list[dict[str, Any]]) -> None:
    choices: Any = getattr(outcome.validation, "choices_", [])
    if len(choices) > 1:
        titles = ("method", "features", outcome.validation.measure_, "standard error", "best", "at")
        show.table(
            [(title, "number" if at else "name") for at, title in enumerate(titles)],
            [
                (one.selector, one.n_features, one.score, one.standard_error, one.best_score,
                 one.best_n_features)
                for one in choices
            ],
        )  # fmt: skip
        show.heading(f"Selected by {choices[0].selector}")
    selector = outcome.selector
    is_search = hasattr(selector, "relevance_")
    columns = [
        ("rank", "number", True),
        ("feature", "name", True),
        ("relevance", "number", is_search),
        ("score", "number", True),
        ("p_value", "p", selector.selection_.p_values is not None),
        ("order", "number", hasattr(selector, "orders_") and not show.is_terminal()),
        ("kept", "text", selector.kept_.any()),
        ("cost", "number", selector.selection_.costs is not None),
        ("redundant_with", "name", is_search),
        ("check", "text", any(row["check"] for row in rows)),
    ]
    long = {"redundant_with": "redundant with", "p_value": "p"}
    used = [(key, kind) for key, kind, is_used in columns if is_used]
    if show.is_terminal():
        rows = _without_empty_scores(rows, outcome.leaks)
    show.table(
        [(long.get(key, key), kind) for key, kind in used],
        [[row[key] for key, _ in used] for row in rows],
    )


def _without_empty_scores(
    rows: list[dict[str, Any]], leaks: dict[str, float]
) -> list[dict[str, Any]]:
    """Leave out the scores after a column that explains all of the target: nothing is left."""
    places = [place for place, row in enumerate(rows, 1) if leaks.get(row["feature"], 0) >= 1]
    first = min(places, default=len(rows))
    return [*rows[:first], *({**row, "score": None} for row in rows[first:])]


def _print_leaks(leaks: dict[str, float], selected: list[str]) -> None:
    """Say which columns may be leaks, and how to leave them out."""
    if not leaks:
        return
    explain, them = ("explains", "it") if len(leaks) == 1 else ("explain", "them")
    named = some_of([show.quoted(name) for name in leaks], SHOWN_LEAKS)
    options = " ".join(f"--exclude {shlex.quote(name)}" for name in list(leaks)[:SHOWN_LEAKS])
    amount = "all" if min(leaks.values()) >= 1 else "nearly all"
    is_complete = any(leaks.get(name, 0) >= 1 for name in selected[:-1])
    after = " Scores after a column that explains all of it say nothing." if is_complete else ""
    show.warn(
        f"{named} {explain} {amount} of the target.{after} To leave {them} out, if known only "
        f"after the target is: {options}"
    )


def _print_end(
    outcome: selection.Outcome, rows: list[dict[str, Any]], data: Data, given: dict[str, Any]
) -> None:
    """Print why the selection ended, and how long it took."""
    selector, stopping = outcome.selector, getattr(outcome.selector, "stopping_", None)
    if outcome.is_partial:
        resume = " Run the same command again to resume." if "checkpoint" in given else ""
        text = f"Stopped after {count(len(rows), 'feature')}: the result is partial.{resume}"
        show.say(text, "yellow")
        return
    if outcome.validation is not None:
        show.say(outcome.validation.in_words())
    if stopping is not None:
        name = show.quoted(data.names[stopping.index])
        why = {
            "not significant": f"the best remaining candidate, {name}, adds nothing significant "
            f"({tested(stopping.p_value, selector.selection_.error_control)})",
            "over budget": f"no other column can be paid for; the best of them is {name}",
        }[stopping.reason]
        show.say(f"The selection stopped: {why}.")
    if selector.selection_.costs is not None:
        show.say(f"The selected columns cost {selector.total_cost_:g}.")
    if "fdr" in given:
        show.say(selector.statement())
    show.say(f"Selected {count(len(rows), 'feature')} in {outcome.seconds:.1f} s.", "dim")


def _as_json(
    source: options.Source, data: Data, outcome: selection.Outcome, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    selector = outcome.selector
    return {
        **selection.described(source, outcome, data),
        "selected": rows,
        "columns": [data.names[j] for j in selector.selected_.tolist()],
        "stopped": selection.stopping(selector, data.names),
        "error_control": selection.error_control(selector),
        "cross_validation": selection.validation_json(outcome.validation),
        "total_cost": None if selector.selection_.costs is None else selector.total_cost_,
        "types": data.types,
        "text_columns": [column.sentence(TEXT_OPTIONS) for column in data.reading.columns],
    }


def _reduced(source: options.Source, data: Data, outcome: selection.Outcome) -> Any:
    """Return the selected columns, the best first, and the target; all rows of the file."""
    table = _columns(data, [*_selected(data, outcome.selector), *source.target])
    return table.replace_schema_metadata({"hocmim.partial": "true"} if outcome.is_partial else None)


def _selected(data: Data, selector: Any) -> list[str]:
    return [data.names[j] for j in selector.selected_.tolist()]


def _columns(data: Data, names: list[str]) -> Any:
    return data.table.select(names) if data.is_in_memory else data.X.read(names)


def _reading(data: Data, selector: Any) -> TableReading:
    """Return how 'hocmim apply' reads another file, and what can replace a column it lacks."""
    names = _selected(data, selector)
    table = _columns(data, [*names, *data.reading.target])
    found = data.reading.of(table, names)
    n_cells = len(selector.selection_) * len(data.names) * data.n_rows
    if not data.is_in_memory or n_cells > MAX_SUBSTITUTE_CELLS:
        return found
    replaced = {
        one.feature: tuple(row.feature for row in one if one.replaces(row))[:SAVED_SUBSTITUTES]
        for one in substitutes(selector, data.X, data.y)
    }
    return replace(found, substitutes={name: each for name, each in replaced.items() if each})

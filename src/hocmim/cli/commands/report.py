"""Write a report on a selection: a web page in one file."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click
from sklearn.base import clone

from hocmim.cli import options, selection, show
from hocmim.cli.command import Command
from hocmim.errors import check_installed
from hocmim.insight.report.page import write_report
from hocmim.selectors.cv import SelectorCV
from hocmim.selectors.stability import StabilitySelector
from hocmim.text import count


@click.command(cls=Command)
@options.request
@options.file_option(
    "-o", "--output", required=True, help="HTML file to write, such as report.html."
)
@options.option(
    "--stability",
    is_flag=True,
    help="Also select on 50 resamples of the rows, and show how often each column comes out.",
)
@options.option("--title", metavar="TEXT", help="Title of the page.")
@options.force
def report(
    request: options.Request, output: Path, stability: bool, title: str | None, force: bool
) -> None:
    """Write a report on a selection from FILE: one HTML file that works offline.

    Runs the same selection as 'hocmim select' with the same options. The page shows how the target
    depends on each selected column, how well they predict, which work together, all columns at a
    glance, what is odd in the table, why each column was selected or not, and how to reproduce it.

    \b
    Examples:
      hocmim report patients.csv --target diagnosis -o report.html
      hocmim report genes.parquet -t class -k 50 -o genes.html --stability --force
    """
    show.check_output(output, force)
    check_installed("A report needs", "jinja2")
    data, outcome = selection.select(request, in_memory=True)
    notes = []
    if outcome.is_partial:
        notes.append("Partial: the selection was interrupted before it was complete.")
    if data.n_without_target:
        notes.append(f"{count(data.n_without_target, 'row')} without a target excluded.")
    if isinstance(outcome.validation, SelectorCV):
        notes.append(outcome.validation.in_words())
    resampled = None
    if stability:
        said = show.printed_warnings(quiet=True)  # they were said before
        with said, show.bar("stability", request.quiet) as move:
            resampled = StabilitySelector(_fixed(outcome.selector)).fit(
                data.X, data.y, data.weights, groups=data.groups, progress=move
            )
    with show.bar("explaining", request.quiet) as move:
        path = write_report(
            outcome.selector,
            output,
            data.X,
            data.y,
            title=title,
            target_name=request.source.target_name,
            source=request.source.file,
            command=shlex.join(["hocmim", *sys.argv[1:]]),
            notes=notes,
            stability=resampled,
            overwrite=force,
            progress=move,
        )
    if not request.quiet:
        show.say(f"Wrote {path}{' (partial)' if outcome.is_partial else ''}.")
    if outcome.is_partial:
        raise click.exceptions.Exit(130)


def _fixed(selector: Any) -> Any:
    """Return the selector for a resample: as many columns as were selected, chosen once."""
    inner = getattr(selector, "selector_", selector)
    return clone(inner).set_params(n_features_to_select=max(1, len(inner.selection_)))

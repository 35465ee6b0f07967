"""``hocmim report``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from hocmim.cli.options import (
    Settings,
    Source,
    force_option,
    method_option,
    quiet_option,
    with_settings,
    with_source,
)


@click.command()
@with_source
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="PAGE",
    help="The page to write, such as report.html.",
)
@click.option("--title", help="Of the page.")
@method_option
@with_settings
@force_option
@quiet_option
def report(
    source: Source, output: Path, title: str | None, settings: Settings, method: str, force: bool,
    quiet: bool,
) -> None:  # fmt: skip
    """Write a selection from FILE as a web page: one file, which works offline.

    The page has the selected features and what each adds, how they overlap, an answer to "why not
    this one" for every column, notes on the data, and what is needed to repeat it.

    \b
    Examples:
      hocmim report patients.csv --target diagnosis -o report.html
      hocmim report genes.parquet -t class -k 50 -o genes.html --force
    """
    from hocmim.cli import selection, show
    from hocmim.cli.data import load
    from hocmim.data.files import check_writable
    from hocmim.errors import InvalidParameterError
    from hocmim.insight.report.page import write_report

    check_writable(output, force=force)
    data = load(source, None, quiet)
    selector = selection.make(method, settings, data)
    if not hasattr(selector, "explain"):
        raise InvalidParameterError(
            f"{method} scores every column by itself, and there is no page of that. Take one of "
            "the information-theoretic methods, such as HOCMIM, CMIM, JMI or mRMR."
        )
    outcome = selection.run(selector, data, quiet)
    notes = selection.notes(selector, data)
    remarks = []
    if outcome.is_partial:
        remarks.append("Partial: the selection was stopped before it was complete.")
    if data.n_without_target:
        remarks.append(f"Left out: {show.counted(data.n_without_target, 'row')} without a target.")
    path = write_report(
        selector,
        data.X,
        data.y,
        output,
        title=title,
        target_name=source.target,
        source=source.file,
        command=shlex.join(["hocmim", *sys.argv[1:]]),
        notes=remarks,
        overwrite=force,
    )
    if not quiet:
        show.data_notes(notes)
        show.say(f"{path} is written{', partial' if outcome.is_partial else ''}.")
    if outcome.is_partial:
        raise click.exceptions.Exit(130)

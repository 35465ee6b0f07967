"""Write a report on a selection: a web page in one file."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from hocmim.cli.clusters import cluster_option, keep_one_per_cluster
from hocmim.cli.options import (
    Settings,
    Source,
    check_settings,
    force_option,
    method_option,
    quiet_option,
    with_settings,
    with_source,
)
from hocmim.cli.sections import SectionedCommand


@click.command(cls=SectionedCommand)
@with_source
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="OUT",
    help="HTML file to write, such as report.html.",
)
@click.option("--title", help="Title of the page.")
@method_option
@with_settings
@cluster_option
@force_option
@quiet_option
def report(
    source: Source, output: Path, title: str | None, settings: Settings, method: str, force: bool,
    quiet: bool, one_per_cluster: float | None,
) -> None:  # fmt: skip
    """Write a report on a selection from FILE: one HTML file that works offline.

    The page shows the selected features and what each adds, their redundancy, why any other column
    was not selected, notes on the data, and how to reproduce the selection.

    \b
    Examples:
      hocmim report patients.csv --target diagnosis -o report.html
      hocmim report genes.parquet -t class -k 50 -o genes.html --force
    """
    from hocmim.cli import checks, show
    from hocmim.cli.data import load
    from hocmim.errors import InvalidParameterError, check_installed
    from hocmim.text import count

    show.check_output(output, force)
    check_settings(settings)
    checks.check_methods(method)
    checks.check_estimator(settings.estimator)
    check_installed("A report needs", "jinja2")
    data = load(source, None, quiet)
    data = keep_one_per_cluster(data, one_per_cluster, settings, quiet)
    checks.check_number(settings, data.names)
    # These take long to import: after the errors in the file.
    from hocmim.cli import selection
    from hocmim.insight.report.material import collect
    from hocmim.insight.report.page import make_page, write_page

    selector = selection.make(method, source, settings, data)
    if data.weights is not None and not hasattr(selector, "explain"):
        raise InvalidParameterError(
            f"The report of {selector.display_name} takes no --weights: its information terms "
            "count every row once."
        )
    outcome = selection.run(selector, data, quiet)
    with selection.bar("explaining", quiet) as move:
        material = collect(selector, data.X, data.y, progress=selection.explain_progress(move))
    remarks = []
    if outcome.is_partial:
        remarks.append("Partial: the selection was interrupted before it was complete.")
    if data.n_without_target:
        remarks.append(f"{count(data.n_without_target, 'row')} without a target excluded.")
    page = make_page(
        material,
        target_name=source.target_name,
        title=title,
        source=source.file,
        command=shlex.join(["hocmim", *sys.argv[1:]]),
        remarks=remarks,
    )
    path = write_page(page, output, overwrite=force, hint=show.OVERWRITE_HINT)
    if not quiet:
        show.data_notes(material.notes)
        show.say(f"Wrote {path}{' (partial)' if outcome.is_partial else ''}.")
    if outcome.is_partial:
        raise click.exceptions.Exit(130)

"""Choose the method and the number of columns by cross-validation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hocmim.cli.options import (
    Source,
    Validation,
    exclude_option,
    force_option,
    json_option,
    keep_option,
    parameters_option,
    plot_option,
    quiet_option,
    seed_option,
    with_source,
    with_validation,
)
from hocmim.cli.sections import SectionedCommand
from hocmim.defaults import COMPARED_METHODS


@click.command(cls=SectionedCommand)
@with_source
@click.option(
    "-m",
    "--method",
    "methods",
    multiple=True,
    default=list(COMPARED_METHODS),
    show_default=True,
    metavar="A,B,…",
    help="Methods to choose from; 'hocmim info' lists all. A(x=1),A(x=2) are variants of one "
    "method. Repeatable.",
)
@click.option(
    "--max-features",
    type=click.IntRange(1),
    default=30,
    show_default=True,
    help="Largest number of columns to try.",
)
@keep_option
@exclude_option
@with_validation
@parameters_option
@seed_option
@click.option("-j", "--jobs", type=int, help="Fits of the model in parallel.  [default: 1]")
@json_option
@plot_option("the scores against the number of columns")
@force_option
@quiet_option
def tune(
    source: Source, methods: tuple[str, ...], max_features: int, keep: tuple[str, ...],
    exclude: tuple[str, ...], validation: Validation, parameters: tuple[tuple[str, Any], ...],
    seed: int, jobs: int | None, json_path: str | None, plot: Path | None, force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Choose the method and the number of columns of FILE by cross-validation.

    In each fold every method selects on the training rows. A model is fitted on the first 1, 2, …
    selected columns and scored on the other rows. Prints for each method the number of columns that
    the rule gives, the mean score and its standard error, and the best score; the best method
    first.

    \b
    Examples:
      hocmim tune patients.csv --target diagnosis
      hocmim tune patients.csv -t diagnosis -m HOCMIM -m 'mRMR,mRMR(n_bins=8)' --plot out.png
      hocmim tune patients.csv -t diagnosis --groups patient --scoring balanced_accuracy
    """
    from hocmim.cli import show
    from hocmim.cli.data import load
    from hocmim.cli.variants import check_names, make_variants

    show.check_json(json_path, force)
    if plot is not None:
        show.check_picture(plot, force)
    check_names(methods)
    data = load(source, None, quiet)
    # These take long to import: after the errors in the file.
    from hocmim.cli import constraints, selection

    common = {
        "target_bins": source.target_bins,
        "target_discretizer": source.target_discretizer,
        "target_strategy": source.target_strategy,
        "identifiers": source.identifiers,
        "keep": constraints.split(keep, data.names),
        "exclude": constraints.split(exclude, data.names),
    }
    given = {name: value for name, value in common.items() if value is not None}
    selectors = make_variants(methods, None, given | dict(parameters))
    made = selection.cross_validated(
        selectors, data, validation, seed, jobs, max_features=max_features
    )
    found = selection.run(made, data, quiet).selector
    if json_path is not None:
        result = selection.described(source, found.selector_, data)
        columns = [data.names[j] for j in found.selected_.tolist()]
        result |= {"columns": columns, "cross_validation": selection.validation_json(found)}
        show.json_result(result, json_path, force)
    if json_path != "-":
        _print(found)
    if not quiet:
        show.say(selection.describe_choice(found))
    if plot is not None:
        show.picture(lambda: found.plot_curves().figure, plot, force)
        if not quiet:
            show.say(f"Wrote {plot}.")


def _print(found: Any) -> None:
    from hocmim.cli import show

    place = {found.best_selector_: "chosen"}
    if len(found.choices_) > 1:
        place[found.runner_up_.selector] = "runner-up"
    show.table(
        [
            ("method", "name"),
            ("features", "number"),
            (found.choices_.measure, "number"),
            ("standard error", "number"),
            ("best", "number"),
            ("at", "number"),
            ("", "text"),
        ],
        [
            [one.selector, one.n_features, one.score, one.standard_error, one.best_score,
             one.best_n_features, place.get(one.selector, "")]
            for one in found.choices_
        ],
    )  # fmt: skip

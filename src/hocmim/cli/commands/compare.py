"""Compare the selections of several methods."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hocmim.cli.options import (
    Source,
    exclude_option,
    force_option,
    json_option,
    keep_option,
    parameters_option,
    plot_option,
    quiet_option,
    seed_option,
    with_source,
)
from hocmim.cli.sections import SectionedCommand
from hocmim.cli.values import read_how_many
from hocmim.defaults import COMPARED_METHODS

if TYPE_CHECKING:
    from hocmim.experiments.compare import Comparison

MAX_SIZES = 8


@click.command(cls=SectionedCommand)
@with_source
@click.option(
    "--methods",
    multiple=True,
    default=[",".join(COMPARED_METHODS)],
    show_default=True,
    metavar="A,B,…",
    help="Methods to compare; 'hocmim info' lists all. A(x=1),A(x=2) are variants of one method. "
    "Repeatable.",
)
@keep_option
@exclude_option
@click.option("--bins", type=click.IntRange(2), help="Bins of a numeric column.  [default: 5]")
@click.option(
    "--discretizer",
    type=click.Choice(["uniform", "quantile", "mdlp"]),
    help="How to choose the bins.  [default: quantile]",
)
@click.option("--estimator", metavar="NAME", help="Estimator of information of every method.")
@parameters_option
@click.option(
    "-k",
    "--features",
    "k",
    type=read_how_many,
    metavar="N|auto",
    help="Number of columns to select, or a fraction of them.  [default: 10]",
)
@click.option(
    "--cv",
    "--folds",
    "folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    help="Folds of the cross-validation of the error.",
)
@click.option(
    "--resamples",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Bootstrap samples for the stability; 0 for none.",
)
@click.option(
    "--model",
    type=click.Choice(["knn", "linear", "forest"]),
    default="knn",
    show_default=True,
    help="Model to fit on the selected columns.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(0),
    default=10_000,
    show_default=True,
    help="Fit and test the model on a sample of this many rows; 0 for all rows.",
)
@seed_option
@json_option
@plot_option("the comparison")
@force_option
@quiet_option
def compare(
    source: Source, methods: tuple[str, ...], keep: tuple[str, ...], exclude: tuple[str, ...],
    bins: int | None, discretizer: str | None, estimator: str | None,
    parameters: tuple[tuple[str, Any], ...], k: Any, folds: int, resamples: int, model: str,
    max_rows: int, seed: int, json_path: str | None, plot: Path | None, force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Compare the columns that several methods select from FILE.

    Prints the selected columns, the overlap of the selections (Jaccard index), the stability of
    each method over resamples of the rows, and the cross-validated error of a model on the first 1,
    2, … selected columns. In each fold the methods select on the training rows only. On a large
    table the model is fitted and tested on a random sample of the rows (--max-rows); methods select
    on all.

    \b
    Examples:
      hocmim compare patients.csv --target diagnosis --methods DISR,ICAP
      hocmim compare patients.csv -t diagnosis -k 20 --model forest --plot out.png
      hocmim compare patients.csv -t y --methods 'JMI,JMI(n_bins=8)'
    """
    from hocmim.cli import checks, show
    from hocmim.cli.data import load
    from hocmim.cli.variants import check_names, make_variants
    from hocmim.errors import InvalidParameterError

    show.check_json(json_path, force)
    if source.weights is not None:
        raise InvalidParameterError("compare takes no --weights.")
    if plot is not None:
        show.check_picture(plot, force)
    check_names(methods)
    checks.check_estimator(estimator)
    data = load(source, None, quiet)
    k = checks.how_many(k, len(data.names))
    # These take long to import: after the errors in the file.
    from hocmim.cli import constraints, selection
    from hocmim.experiments.compare import compare_methods

    common = {
        "n_bins": bins,
        "discretizer": discretizer,
        "estimator": estimator,
        "keep": constraints.split(keep, data.names),
        "exclude": constraints.split(exclude, data.names),
        "identifiers": source.identifiers,
    }
    common = {name: value for name, value in common.items() if value is not None}
    selectors = make_variants(methods, k, common | dict(parameters))
    with show.printed_warnings(quiet), selection.bar("comparing", quiet) as on_progress:
        found = compare_methods(
            data.X,
            data.y,
            selectors,
            cv=folds,
            groups=data.groups,
            n_resamples=resamples,
            model=model,
            max_rows=max_rows or None,
            random_state=seed,
            target_kind=data.target_kind,
            target_bins=source.target_bins,
            target_discretizer=source.target_discretizer,
            on_progress=on_progress,
        )
    if json_path is not None:
        show.json_result(_as_json(source, found, selectors), json_path, force)
    if json_path != "-":
        _print(found)
    if plot is not None:
        show.picture(found.plot, plot, force)
        if not quiet:
            show.say(f"Wrote {plot}.")


def _print(found: Comparison) -> None:
    """Print the tables: rounded and shortened on a terminal, complete in a pipe."""
    from hocmim.cli import show

    is_short = show.is_terminal()
    show.table(*_summary(found, is_short))
    show.heading("Selected features, the best first")
    most = max(len(result.selected) for result in found.results)
    show.table(
        [("rank", "number"), *((result.method, "name") for result in found.results)],
        [[place + 1, *(_name(found, result, place) for result in found.results)]
         for place in range(most)],
    )  # fmt: skip
    sample = f", {found.sample}" if found.sample else ""
    title = f"Cross-validated {found.measure} of a {found.model} by number of features{sample}"
    show.heading(title)
    sizes = max(found.results, key=lambda result: len(result.sizes)).sizes.tolist()
    sizes = _shown_sizes(sizes) if is_short else sizes
    show.table(
        [("method", "name"), *((str(size), "number") for size in sizes)],
        [[result.method, *_errors(result, sizes, is_short)] for result in found.results],
    )
    show.heading("Overlap of the selections (Jaccard index)")
    show.table(
        [("", "name"), *((result.method, "number") for result in found.results)],
        [
            [result.method, *(f"{value:.2f}" if is_short else value for value in row)]
            for result, row in zip(found.results, found.overlap.tolist(), strict=True)
        ],
    )


def _summary(found: Comparison, is_short: bool) -> tuple[list[tuple[str, str]], list[list[Any]]]:
    """Return the columns and rows of the first table."""
    import math

    has_stability = any(math.isfinite(result.stability) for result in found.results)
    columns = [("method", "name"), ("features", "number")]
    columns.append(("time" if is_short else "seconds", "number"))
    if has_stability:
        columns.append(("stability", "number"))
        ends = [("interval", "text")] if is_short else [("low", "number"), ("high", "number")]
        columns += ends
    columns += [(f"lowest {found.measure}", "number"), ("at size", "number")]
    rows = []
    for result in found.results:
        low, high = result.stability_interval
        best = int(result.mean_error.argmin())
        row: list[Any] = [result.method, len(result.selected)]
        row.append(f"{result.seconds:.2f} s" if is_short else result.seconds)
        if has_stability:
            row.append(_number(result.stability, is_short))
            row += [f"{low:.2f} to {high:.2f}"] if is_short else [low, high]
        row += [_number(float(result.mean_error[best]), is_short), int(result.sizes[best])]
        rows.append(row)
    return columns, rows


def _name(found: Comparison, result: Any, place: int) -> str | None:
    return found.names[result.selected[place]] if place < len(result.selected) else None


def _number(value: float, is_short: bool) -> str | float:
    return f"{value:.3f}" if is_short else value


def _errors(result: Any, sizes: list[int], is_short: bool) -> list[str | float | None]:
    error = dict(zip(result.sizes.tolist(), result.mean_error.tolist(), strict=True))
    return [_number(error[size], is_short) if size in error else None for size in sizes]


def _shown_sizes(sizes: list[int]) -> list[int]:
    """Return some of the sizes, with the first and the last."""
    if len(sizes) <= MAX_SIZES:
        return sizes
    last = len(sizes) - 1
    return [sizes[round(i * last / (MAX_SIZES - 1))] for i in range(MAX_SIZES)]


def _as_json(source: Source, found: Comparison, selectors: dict[str, Any]) -> dict[str, Any]:
    from hocmim.cli.selection import plain_parameters
    from hocmim.cli.show import finite

    return {
        "file": source.file,
        "target": source.target_name,
        "model": found.model,
        "measure": found.measure,
        "n_rows": found.n_rows,
        "n_evaluated": found.n_evaluated,
        "methods": [
            {
                "method": result.method,
                "parameters": plain_parameters(selectors[result.method]),
                "selected": [found.names[j] for j in result.selected],
                "seconds": result.seconds,
                "stability": finite(result.stability),
                "stability_interval": [finite(bound) for bound in result.stability_interval],
                "sizes": result.sizes.tolist(),
                "mean_error": [finite(value) for value in result.mean_error.tolist()],
                "standard_error": [finite(value) for value in result.standard_error.tolist()],
            }
            for result in found.results
        ],
        "overlap": found.overlap.tolist(),
        "votes": found.votes,
    }

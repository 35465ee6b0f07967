"""``hocmim compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hocmim.cli.options import (
    Source,
    force_option,
    json_option,
    quiet_option,
    read_how_many,
    with_source,
)

if TYPE_CHECKING:
    from hocmim.experiments.compare import Comparison

SHOWN_SIZES = 8


@click.command()
@with_source
@click.option(
    "--methods",
    default="HOCMIM,CMIM,mRMR",
    show_default=True,
    metavar="A,B,…",
    help="Methods to compare, as `hocmim info` lists them.",
)
@click.option("-k", type=read_how_many, metavar="N|auto", help="How many to select.  [default: 10]")
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="For errors.")
@click.option(
    "--resamples",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Bootstrap samples for the stability; 0 leaves it out.",
)
@click.option(
    "--model",
    type=click.Choice(["knn", "linear", "forest"]),
    default="knn",
    show_default=True,
    help="What is fitted on the selected columns.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@json_option
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="PICTURE",
    help="Draw it to this file: .png, .svg or .pdf.",
)
@force_option
@quiet_option
def compare(
    source: Source, methods: str, k: Any, folds: int, resamples: int, model: str, seed: int,
    json_path: str | None, plot: Path | None, force: bool, quiet: bool,
) -> None:  # fmt: skip
    """Compare what several methods select from FILE.

    Shows how much the selections overlap (Jaccard), how stable each is over resamples of the rows,
    and the cross-validated error of a model on the first 1, 2, … selected columns; the selection is
    made anew in each fold, on the training rows only.

    \b
    Examples:
      hocmim compare patients.csv --target diagnosis --methods HOCMIM,mRMR,JMI
      hocmim compare patients.csv -t diagnosis -k 20 --model forest --plot it.png
    """
    from hocmim.cli import selection, show
    from hocmim.cli.data import load
    from hocmim.data.files import check_writable
    from hocmim.experiments.compare import compare_methods

    show.check_json(json_path, force)
    if plot is not None:
        check_writable(plot, force=force)
        _check_picture(plot)
    data = load(source, None, quiet)
    names = [name.strip() for name in methods.split(",") if name.strip()]
    with show.warnings_in_our_words(quiet), selection.bar("comparing", quiet) as on_progress:
        found = compare_methods(
            data.X,
            data.y,
            names,
            selection.how_many(k, len(data.names)),
            n_folds=folds,
            n_resamples=resamples,
            model=model,
            random_state=seed,
            on_progress=on_progress,
        )
    if json_path is not None:
        show.json_result(_as_json(source, found), json_path, force)
    if json_path != "-":
        _print(found)
    if plot is not None:
        _save(found, plot, force)
        if not quiet:
            show.say(f"{plot} is written.")


def _check_picture(path: Path) -> None:
    from hocmim.errors import InvalidParameterError

    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InvalidParameterError(f"A picture is .png, .svg or .pdf. Got {str(path)!r}.")


def _save(found: Comparison, path: Path, force: bool) -> None:
    import matplotlib

    from hocmim.data.files import write_file

    matplotlib.use("Agg")
    figure = found.plot()
    kind = path.suffix.lower().removeprefix(".")
    write_file(path, lambda file: figure.savefig(file, format=kind, dpi=150), force=force)


def _print(found: Comparison) -> None:
    import math

    from hocmim.cli import show

    has_stability = any(math.isfinite(result.stability) for result in found.results)
    columns = [("method", "name"), ("features", "number"), ("time", "number")]
    columns += [("stability", "number"), ("interval", "text")] if has_stability else []
    columns += [(f"least {found.measure}", "number"), ("with", "number")]
    rows = []
    for result in found.results:
        low, high = result.stability_interval
        best = int(result.mean_error.argmin())
        stability = [_number(result.stability), f"{low:.2f} to {high:.2f}"] if has_stability else []
        rows.append(
            [
                result.method,
                len(result.selected),
                f"{result.seconds:.2f} s",
                *stability,
                _number(result.mean_error[best]),
                int(result.sizes[best]),
            ]
        )
    show.table(columns, rows)
    show.heading(f"{found.measure} of a {found.model} by number of features, cross-validated")
    sizes = _shown_sizes(max(found.results, key=lambda result: len(result.sizes)).sizes.tolist())
    show.table(
        [("method", "name"), *((str(size), "number") for size in sizes)],
        [[result.method, *_errors(result, sizes)] for result in found.results],
    )
    show.heading("overlap of the selections (Jaccard)")
    show.table(
        [("", "name"), *((result.method, "number") for result in found.results)],
        [
            [result.method, *(f"{value:.2f}" for value in row)]
            for result, row in zip(found.results, found.overlap, strict=True)
        ],
    )


def _number(value: float) -> str:
    return f"{value:.3f}"


def _errors(result: Any, sizes: list[int]) -> list[str | None]:
    error = dict(zip(result.sizes.tolist(), result.mean_error.tolist(), strict=True))
    return [_number(error[size]) if size in error else None for size in sizes]


def _shown_sizes(sizes: list[int]) -> list[int]:
    """Some of the sizes, the first and the last among them."""
    if len(sizes) <= SHOWN_SIZES:
        return sizes
    last = len(sizes) - 1
    return [sizes[round(i * last / (SHOWN_SIZES - 1))] for i in range(SHOWN_SIZES)]


def _as_json(source: Source, found: Comparison) -> dict[str, Any]:
    from hocmim.cli.show import finite

    return {
        "file": source.file,
        "target": source.target,
        "model": found.model,
        "measure": found.measure,
        "methods": [
            {
                "method": result.method,
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

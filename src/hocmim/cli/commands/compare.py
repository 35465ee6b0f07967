"""Compare the selections of several methods."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import click

from hocmim.cli import options, selection, show
from hocmim.cli.command import Command
from hocmim.cli.data import load
from hocmim.cli.parameters import CV, Given, make_selectors, options_of
from hocmim.defaults import COMPARED_METHODS, DEFAULT_K
from hocmim.errors import InvalidParameterError
from hocmim.experiments.compare import Comparison, compare_methods

MAX_SIZES = 7
# What the command passes itself.
ARGUMENTS = ("X", "y", "methods", "n_features_to_select", "groups", "random_state", "target",
             "progress")  # fmt: skip
comparison = options.collected(
    "comparison", options.only_given, options_of(compare_methods, "Comparison", without=ARGUMENTS)
)


@click.command(cls=Command)
@options.source
@options.option(
    "-m",
    "--methods",
    multiple=True,
    default=[",".join(COMPARED_METHODS)],
    show_default=True,
    metavar="A,B,…",
    help="Methods to compare; --list-methods shows all. A(max_order=1),A(max_order=2) are variants "
    "of one method. Repeatable.",
)
@options.collected("k", lambda given: given["k"], [options.COMPARED_NUMBER])
@comparison
@options.parameters
@options.json_path
@options.force
@options.collected("quiet", lambda given: given["quiet"], [options.QUIET])
def compare(
    source: options.Source, methods: tuple[str, ...], k: Any, comparison: Given, given: Given,
    json_path: str | None, force: bool, quiet: bool,
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
      hocmim compare patients.csv -t diagnosis -k 20 --model forest
      hocmim compare patients.csv -t y --methods 'JMI,HOCMIM(max_order=5)'
    """
    show.check_output(json_path, force)
    if source.weights is not None:
        raise InvalidParameterError("hocmim compare takes no --weights.")
    if k == CV:
        raise InvalidParameterError(
            "-k cv is for hocmim select, which chooses the number of columns. Pass a number."
        )
    selection.check_methods(*methods)
    data = load(source, given, quiet)
    selectors = make_selectors(methods, k, selection.with_kind(given, data), data.names)
    for selector in selectors.values():
        if selector.n_features_to_select == CV:  # by default: all methods get the same number
            selector.set_params(n_features_to_select=DEFAULT_K)
    seed = {key: given[key] for key in ("random_state",) if key in given}
    with show.printed_warnings(quiet), show.bar("comparing", quiet) as move:
        found = compare_methods(
            data.X,
            data.y,
            selectors,
            groups=data.groups,
            target=data.target,
            progress=move,
            **seed,
            **comparison,
        )
    show.json_result(_as_json(source, found, selectors), json_path, force)
    if json_path != "-":
        _print(found)


def _print(found: Comparison) -> None:
    """Print the tables."""
    titles = (
        "features",
        "seconds",
        "stability",
        "low",
        "high",
        f"lowest {found.measure}",
        "at size",
    )
    best = [int(result.mean_error.argmin()) for result in found.results]
    show.table(
        [("method", "name"), *((title, "number") for title in titles)],
        [
            [result.method, len(result.selected), result.seconds,
             *map(show.finite, (result.stability, *result.stability_interval)),
             float(result.mean_error[at]), int(result.sizes[at])]
            for result, at in zip(found.results, best, strict=True)
        ],
    )  # fmt: skip
    show.heading("Selected features, the best first")
    show.table(
        [("rank", "number"), *((result.method, "name") for result in found.results)],
        [
            [place, *(None if j is None else found.names[j] for j in selected)]
            for place, selected in enumerate(
                zip_longest(*(result.selected for result in found.results)), 1
            )
        ],
    )
    sample = f", {found.sample}" if found.sample else ""
    title = f"Cross-validated {found.measure} of a {found.model} by number of features{sample}"
    show.heading(title)
    sizes = max((result.sizes.tolist() for result in found.results), key=len)
    sizes = _shown_sizes(sizes) if show.is_terminal() else sizes
    errors = [
        dict(zip(result.sizes.tolist(), result.mean_error.tolist(), strict=True))
        for result in found.results
    ]
    show.table(
        [("method", "name"), *((str(size), "number") for size in sizes)],
        [
            [result.method, *map(error.get, sizes)]
            for result, error in zip(found.results, errors, strict=True)
        ],
    )
    show.heading("Overlap of the selections (Jaccard index)")
    show.table(
        [("method", "name"), *((result.method, "number") for result in found.results)],
        [[result.method, *row]
         for result, row in zip(found.results, found.overlap.tolist(), strict=True)],
    )  # fmt: skip


def _shown_sizes(sizes: list[int]) -> list[int]:
    """Return some of the sizes, with the first and the last."""
    if len(sizes) <= MAX_SIZES:
        return sizes
    last = len(sizes) - 1
    return [sizes[round(i * last / (MAX_SIZES - 1))] for i in range(MAX_SIZES)]


def _as_json(
    source: options.Source, found: Comparison, selectors: dict[str, Any]
) -> dict[str, Any]:
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
                "parameters": selectors[result.method].get_params(deep=False),
                "selected": [found.names[j] for j in result.selected],
                "seconds": result.seconds,
                "stability": show.finite(result.stability),
                "stability_interval": [show.finite(one) for one in result.stability_interval],
                "sizes": result.sizes.tolist(),
                "mean_error": [show.finite(value) for value in result.mean_error.tolist()],
                "standard_error": [show.finite(value) for value in result.standard_error.tolist()],
            }
            for result in found.results
        ],
        "overlap": found.overlap.tolist(),
        "votes": found.votes,
    }

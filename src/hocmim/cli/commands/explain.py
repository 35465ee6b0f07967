"""Explain why a column was selected or not."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import click

from hocmim.cli import options, selection, show
from hocmim.cli.command import Command, in_options
from hocmim.insight.explain import Explanation
from hocmim.insight.explain import explain as explain_feature
from hocmim.insight.substitutes import substitutes


@click.command(cls=Command)
@options.request
@options.option(
    "-f",
    "--feature",
    "features",
    multiple=True,
    required=True,
    metavar="NAME",
    help="Column to explain. Repeatable.",
)
@options.option(
    "--substitutes",
    "n_substitutes",
    type=click.IntRange(0, 50),
    default=0,
    metavar="N",
    help="Also show the N best substitutes of the column, and the loss of information.",
)
@options.json_path
@options.force
def explain(
    request: options.Request, features: tuple[str, ...], n_substitutes: int,
    json_path: str | None, force: bool,
) -> None:  # fmt: skip
    """Explain why a column of FILE was selected or not.

    Runs the same selection as 'hocmim select' with the same options. Then prints for the column its
    relevance, how it was cut into bins, its redundancy and synergy with the selected features, the
    selected feature that replaces it, and its score at every step next to the largest score.

    \b
    Examples:
      hocmim explain patients.csv --target diagnosis --feature age
      hocmim explain patients.csv -t diagnosis -f age -f weight -k 20 --json -
    """
    show.check_output(json_path, force)
    needs_memory = n_substitutes > 0
    data, outcome = selection.select(request, features=features, in_memory=needs_memory)
    selector = outcome.selector
    found = [
        replace(one, reason=in_options(one.reason))
        for one in (explain_feature(selector, feature, data.X, data.y) for feature in features)
    ]
    replaced = [
        substitutes(selector, data.X, data.y, feature, n=n_substitutes)
        for feature in (features if n_substitutes else ())
    ]
    result = selection.described(request.source, outcome, data) | {
        "explanations": [_as_json(one) for one in found],
        "substitutes": [asdict(one) for one in replaced],
    }
    show.json_result(result, json_path, force)
    if json_path != "-":
        for one in found:
            _print(one)
        for each in replaced:
            show.lines(f"\n{each}")
    if outcome.is_partial:
        raise click.exceptions.Exit(130)


def _as_json(explanation: Explanation) -> dict[str, Any]:
    return {**asdict(explanation), "score": show.finite(explanation.score)}


def _print(explanation: Explanation) -> None:
    if not show.is_terminal():
        show.lines(str(explanation))
        return
    show.paragraph(explanation.reason)
    show.facts(explanation.facts())
    if explanation.steps:
        show.table(
            [("step", "number"), ("its score", "number"), ("largest", "number"),
             ("selected", "name")],
            [(one.step, one.score, one.best_score, one.best) for one in explanation.steps],
        )  # fmt: skip
    if explanation.interaction is not None:
        show.lines(f"\n{explanation.interaction}")

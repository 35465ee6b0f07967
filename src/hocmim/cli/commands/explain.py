"""Explain why a column was selected or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hocmim.cli.clusters import cluster_option, keep_one_per_cluster
from hocmim.cli.options import (
    Settings,
    Source,
    check_settings,
    force_option,
    json_option,
    method_option,
    quiet_option,
    with_settings,
    with_source,
)
from hocmim.cli.sections import SectionedCommand

if TYPE_CHECKING:
    from hocmim.insight.explain import Explanation
    from hocmim.insight.relations.substitutes import Substitutes


@click.command(cls=SectionedCommand)
@with_source
@click.option(
    "-f",
    "--feature",
    "features",
    multiple=True,
    required=True,
    metavar="NAME",
    help="Column to explain. Repeatable.",
)
@click.option(
    "--substitutes",
    "n_substitutes",
    type=click.IntRange(0, 50),
    default=0,
    metavar="N",
    help="Also show the N best substitutes of the column, and the loss of information.",
)
@method_option
@with_settings
@cluster_option
@json_option
@force_option
@quiet_option
def explain(
    source: Source, features: tuple[str, ...], settings: Settings, method: str,
    json_path: str | None, force: bool, quiet: bool, one_per_cluster: float | None,
    n_substitutes: int,
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
    from dataclasses import asdict

    from hocmim.cli import checks, show
    from hocmim.cli.data import check_column, load

    show.check_json(json_path, force)
    check_settings(settings)
    checks.check_methods(method)
    checks.check_estimator(settings.estimator)
    data = load(source, settings, quiet)
    data = keep_one_per_cluster(data, one_per_cluster, settings, quiet)
    checks.check_number(settings, data.names)
    groups = [name for name, _ in settings.group]
    for feature in features:
        check_column(feature, [*data.names, *groups], source.file)
    from hocmim.cli import selection  # takes long to import: after the errors in the file

    selector = selection.make(method, source, settings, data)
    selection.check_can_explain(selector)
    outcome = selection.run(selector, data, quiet)
    found = [selector.explain(feature, data.X) for feature in features]
    replaced = [
        selector.substitutes(feature, data.X, n=n_substitutes)
        for feature in (features if n_substitutes else ())
    ]
    if json_path is not None:
        result = selection.described(source, selector, data) | {
            "partial": outcome.is_partial,
            "explanations": [asdict(explanation) for explanation in found],
        }
        if replaced:
            result["substitutes"] = [asdict(each) for each in replaced]
        show.json_result(result, json_path, force)
    if json_path != "-":
        for explanation in found:
            _print(explanation)
        for each in replaced:
            _print_substitutes(each)
    if outcome.is_partial:
        raise click.exceptions.Exit(130)


def _print(explanation: Explanation) -> None:
    from hocmim.cli import show
    from hocmim.text import visible

    if not show.is_terminal():
        show.lines(str(explanation))
        return
    show.paragraph(explanation.reason)
    facts: list[tuple[str, Any]] = [("relevance", f"{explanation.relevance:.4f} nats")]
    if explanation.r2 is not None:
        facts.append(("R²", f"{explanation.r2:.4f}"))
    facts.append(("score", f"{explanation.score:.4f}"))
    if explanation.representative_set:
        facts.append(
            ("representative set", ", ".join(map(visible, explanation.representative_set)))
        )
    facts.append(("encoding", str(explanation.encoding)))
    if explanation.replaced_by is not None:
        facts.append(("replaced by", visible(explanation.replaced_by)))
    show.facts(facts)
    if explanation.redundancy:
        show.table(
            [("selected before it", "name"), ("redundancy", "number"), ("", "text")],
            _shared(explanation),
        )
    show.table(
        [("step", "number"), ("its score", "number"), ("largest", "number"), ("selected", "name")],
        [(c.step, c.score, c.taken_score, c.taken) for c in explanation.contests],
    )


def _print_substitutes(found: Substitutes) -> None:
    from hocmim.cli import show
    from hocmim.text import percent

    if not show.is_terminal():
        show.lines(f"\n{found}")
        return
    for sentence in found.sentences:
        show.paragraph(sentence)
    titles = [("substitute", "name"), ("loss", "number"), ("± chance", "number"), ("share", "text")]
    rows = [(row.feature, row.loss, row.noise, percent(row.share)) for row in found]
    show.table(titles, rows)


def _shared(explanation: Explanation) -> list[tuple[str, float, str]]:
    """Return its redundancy with each feature selected before it, the largest first."""
    from hocmim.insight.reasons import redundant_share
    from hocmim.text import percent

    ordered = sorted(explanation.redundancy.items(), key=lambda item: -item[1])
    rows = []
    for name, value in ordered:
        if value <= 0:
            rows.append((name, value, "synergy"))
        elif explanation.relevance > 0:
            share = percent(redundant_share(explanation.relevance, value))
            rows.append((name, value, f"repeats {share} of its relevance"))
        else:
            rows.append((name, value, ""))
    return rows

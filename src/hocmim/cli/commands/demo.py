"""Select features of an example table and write a report."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import click

from hocmim.cli.options import force_option
from hocmim.defaults import DEFAULT_METHOD

N_SELECTED = 7


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("hocmim-demo.html"),
    show_default=True,
    metavar="OUT",
    help="HTML file to write.",
)
@force_option
def demo(output: Path, force: bool) -> None:
    """Select features of scikit-learn's breast cancer table and write a report.

    \b
    Examples:
      hocmim demo
      hocmim demo -o report.html --force
    """
    from hocmim.cli import show
    from hocmim.errors import check_installed

    check_installed("The demo needs", "jinja2", "pyarrow")
    show.check_output(output, force)

    import pyarrow
    from sklearn.datasets import load_breast_cancer

    from hocmim.selectors.registry import make_selector

    cancer = load_breast_cancer()
    table = pyarrow.table(dict(zip(cancer.feature_names, cancer.data.T, strict=True)))
    diagnosis = cancer.target_names[cancer.target]
    selector: Any = make_selector(DEFAULT_METHOD, n_features_to_select=N_SELECTED).fit(
        table, diagnosis
    )
    _print_selection(selector, *table.shape)
    page = selector.report(
        output,
        table,
        diagnosis,
        title="Breast cancer: seven of thirty measurements",
        source="Breast Cancer Wisconsin (Diagnostic), from scikit-learn",
        command="hocmim demo",
        overwrite=force,
    )
    click.echo(
        f"\nThe report, with an explanation of all {table.num_columns} features: {page.resolve()}"
    )


def _print_selection(selector: Any, n_samples: int, n_features: int) -> None:
    """Print the selected features in order, and what the last of them adds."""
    names = selector.feature_names_in_
    click.echo(f"Breast cancer: {n_samples} samples, {n_features} features, 2 classes.")
    click.echo(f"{DEFAULT_METHOD} selected, in this order (values in nats):\n")
    click.echo(f"{'':>3}  {'feature':<24} {'I(X;Y)':>7} {'score':>7}  representative set")
    steps = zip(selector.selected_, selector.scores_, selector.representative_sets_, strict=True)
    for rank, (index, score, members) in enumerate(steps, start=1):
        relevance = selector.relevance_[index]
        described = ", ".join(names[members[:3]]) + (", …" if len(members) > 3 else "")
        click.echo(
            f"{rank:>3}  {names[index]:<24} {relevance:7.4f} {score:7.4f}  {described or '–'}"
        )
    click.echo("\nWhat the last of them adds:\n")
    click.echo(textwrap.fill(selector.explain(int(selector.selected_[-1])).reason, 88))

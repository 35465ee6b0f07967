"""Select features of an example table and write a report."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import click

from hocmim.cli import options, show
from hocmim.cli.command import Command
from hocmim.defaults import DEFAULT_METHOD
from hocmim.errors import check_installed

N_SELECTED = 7


@click.command(cls=Command)
@options.file_option(
    "-o",
    "--output",
    default=Path("hocmim-demo.html"),
    show_default=True,
    help="HTML file to write.",
)
@options.force
def demo(output: Path, force: bool) -> None:
    """Select features of scikit-learn's breast cancer table and write a report.

    \b
    Examples:
      hocmim demo
      hocmim demo -o report.html --force
    """
    check_installed("The demo needs", "jinja2", "pyarrow")
    show.check_output(output, force)

    import pyarrow
    from sklearn.datasets import load_breast_cancer

    from hocmim.selectors.registry import make_selector

    cancer = load_breast_cancer()
    table = pyarrow.table(dict(zip(cancer.feature_names, cancer.data.T, strict=True)))
    diagnosis = cancer.target_names[cancer.target]
    selector: Any = make_selector(DEFAULT_METHOD, n_features_to_select=N_SELECTED)
    selector.fit(table, diagnosis)
    click.echo(f"Breast cancer: {table.num_rows} samples, {table.num_columns} features, 2 classes.")
    click.echo(f"{DEFAULT_METHOD} selected, in this order (values in nats):")
    _print_selection(selector)
    reason = selector.explain(selector.selected_[-1]).reason
    click.echo(f"\n{textwrap.fill(f'What the last of them adds: {reason}', 80)}")
    page = selector.report(
        output,
        table,
        diagnosis,
        title="Breast cancer: seven of thirty measurements",
        target_name="diagnosis",
        source="Breast Cancer Wisconsin (Diagnostic), from scikit-learn",
        command="hocmim demo",
        overwrite=force,
    )
    click.echo(
        f"\nThe report, with an explanation of all {table.num_columns} features: {page.resolve()}"
    )


def _print_selection(selector: Any) -> None:
    names = selector.feature_names_in_
    steps = zip(selector.selected_, selector.scores_, selector.representative_sets_, strict=True)
    show.table(
        [("", "number"), ("feature", "text"), ("I(X;Y)", "number"), ("score", "number"),
         ("representative set", "name")],
        [
            (rank, names[j], float(selector.relevance_[j]), float(score),
             ", ".join(names[members[:3]]) + (", …" if len(members) > 3 else "") or None)
            for rank, (j, score, members) in enumerate(steps, start=1)
        ],
    )  # fmt: skip

"""One method against each other one: wins, ties, losses and Wilcoxon's test."""

from __future__ import annotations

import numpy as np

from hocmim.experiments.classifiers import TITLES
from hocmim.experiments.grid import Grid
from hocmim.experiments.statistics import DECIMALS, wilcoxon_against
from hocmim.experiments.tables import ErrorTable


def against_grid(table: ErrorTable, method: str) -> Grid:
    """Return a row for each other method, from the most losses of ``method`` to the fewest.

    A positive mean difference means that the error of ``method`` is larger.
    """
    methods = table.comparison.methods
    column = methods.index(method)
    p_values, adjusted = wilcoxon_against(table.errors, column)
    rounded = np.round(table.errors, DECIMALS)
    signs = np.sign(rounded[:, [column]] - rounded)
    wins, ties, losses = ((signs == sign).sum(axis=0) for sign in (-1, 0, 1))
    differences = (table.errors[:, [column]] - table.errors).mean(axis=0)
    order = sorted(range(len(methods)), key=lambda j: (-losses[j], -differences[j]))
    rows = [
        [
            methods[j],
            str(wins[j]),
            str(ties[j]),
            str(losses[j]),
            f"{differences[j]:+.4f}",
            f"{p_values[j]:.4f}",
            f"{adjusted[j]:.4f}",
        ]
        for j in order
        if j != column
    ]
    header = [
        "other method", "wins", "ties", "losses", "mean difference", "Wilcoxon p", "with Holm",
    ]  # fmt: skip
    title = f"{method} against each, {TITLES[table.classifier]}: {table.comparison.title}"
    note = (
        f"Wins, ties and losses of {method} over {len(table.datasets)} data sets. A positive mean "
        f"difference means that the error of {method} is larger."
    )
    return Grid(title, header, rows, [note, *table.notes()])

"""The results printed in the paper: errors, ranks, average ranks, sizes of the data sets.

In the high-dimensional SVM table the rows of pcmac and pengleuk repeat those of the 3-NN table, a
misprint: :attr:`Published.misprints` lists them, and comparisons exclude them. The ranks are those
printed, computed from errors with more than the three printed digits. The average ranks of the
3-NN table of low-dimensional sets are over 16 sets, of which 15 are printed.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

MISPRINTED_ROWS = {("svm", "high"): ("pcmac", "pengleuk")}


@dataclass(frozen=True)
class PublishedSet:
    """A data set of the paper: its name here, the printed name, and its size."""

    name: str
    printed_name: str
    n_samples: int
    n_features: int
    n_classes: int

    @property
    def sizes(self) -> tuple[int, int, int]:
        """N, D and C."""
        return self.n_samples, self.n_features, self.n_classes

    @property
    def is_high_dimensional(self) -> bool:
        """Whether it is high-dimensional in the paper (D > 520)."""
        return self.n_features > 520


@dataclass(frozen=True)
class Published:
    """One table of the paper."""

    methods: tuple[str, ...]  # In the order of the columns
    errors: dict[str, dict[str, float]]  # By data set
    ranks: dict[str, dict[str, float]]
    average_ranks: dict[str, float]  # By method. As printed.
    misprints: tuple[str, ...] = ()  # Rows that are misprints


@cache
def published_sets() -> tuple[PublishedSet, ...]:
    """Return the 20 data sets of the paper, in its order."""
    return tuple(
        PublishedSet(
            row["name"],
            row["printed_name"],
            int(row["n_samples"]),
            int(row["n_features"]),
            int(row["n_classes"]),
        )
        for row in _rows("datasets.csv")
    )


@cache
def published_table(classifier: str, comparison: str) -> Published:
    """Return a table by classifier ("knn", "svm") and comparison ("low", "high", "filters")."""
    rows = _rows(f"{classifier}_{comparison}.csv")
    methods = tuple(
        column for column in rows[0] if column != "dataset" and not column.endswith(" rank")
    )
    body = {row["dataset"]: row for row in rows}
    average = body.pop("average rank")
    return Published(
        methods,
        {name: {m: float(row[m]) for m in methods} for name, row in body.items()},
        {name: {m: float(row[f"{m} rank"]) for m in methods} for name, row in body.items()},
        {m: float(average[f"{m} rank"]) for m in methods},
        MISPRINTED_ROWS.get((classifier, comparison), ()),
    )


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))

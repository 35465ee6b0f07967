"""The report of an experiment: tables, tests, differences and times, and the table files."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hocmim.experiments.classifiers import CLASSIFIERS, FINAL_CLASSIFIERS
from hocmim.experiments.grid import Grid
from hocmim.experiments.machine import installed_version, memory_gib, processor
from hocmim.experiments.protocol import Item, ItemOutcome, Protocol
from hocmim.experiments.published import Published
from hocmim.experiments.run import FailedItem
from hocmim.experiments.tables import (
    MEASURES,
    ComparisonPlan,
    Difference,
    ErrorTable,
    Significance,
    TimeTable,
    against_grid,
    difference,
    error_table,
    missing_notes,
    significance,
    time_table,
)

PACKAGES = ("hocmim", "numpy", "scipy", "scikit-learn", "fastcan", "narwhals")


@dataclass(frozen=True)
class TimeGroup:
    """Bars of one colour in the chart of times; ``fastest_first`` sorts them by their means."""

    title: str
    methods: tuple[str, ...]
    fastest_first: bool = False


@dataclass(frozen=True, eq=False)
class ExperimentReport:
    """The content of a report."""

    title: str
    about: tuple[str, ...]  # Paragraphs that describe the experiment
    tables: dict[tuple[str, str, str], ErrorTable]  # By (comparison, classifier, measure)
    differences: dict[tuple[str, str], Difference]  # By (comparison, classifier)
    times: TimeTable
    time_groups: tuple[TimeGroup, ...]
    reference: str  # The method whose times the others are compared with
    missing: dict[str, str]  # By data set
    failures: tuple[FailedItem, ...] = ()
    # By str. The tables at the top, by the name of their file.
    summaries: Mapping[str, Grid] = field(default_factory=dict)
    # By comparison. The method that is compared with each other one, in the comparisons that have
    # one.
    against: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def tests(self) -> dict[tuple[str, str], Significance]:
        """The tests of the plain errors, by (comparison, classifier), of large enough tables."""
        found = {
            (comparison, classifier): significance(table)
            for (comparison, classifier, measure), table in self.tables.items()
            if measure == "error"
        }
        return {key: tested for key, tested in found.items() if tested is not None}

    @cached_property
    def duels(self) -> dict[tuple[str, str], Grid]:
        """One method against each other one, by (comparison, classifier)."""
        return {
            (comparison, classifier): against_grid(table, self.against[comparison])
            for (comparison, classifier, measure), table in self.tables.items()
            if measure == "error" and comparison in self.against and len(table.datasets) > 1
        }

    def problems(self) -> list[str]:
        """Return sentences on missing data sets and failed items."""
        failed = [
            f"Failed: {failure.item.method} on {failure.item.dataset}, split "
            f"{failure.item.split + 1}: {failure.message}"
            for failure in self.failures
        ]
        return missing_notes(self.missing) + failed

    def grids(self) -> dict[str, Grid]:
        """Return every table, for programs, by the name of its file."""
        found = {}
        for (comparison, classifier, measure), table in self.tables.items():
            suffix = "" if measure == "error" else "_balanced_error"
            found[f"{classifier}_{comparison}{suffix}"] = table.numbers()
        for (comparison, classifier), each in self.differences.items():
            found[f"{classifier}_{comparison}_difference"] = each.grid()
        for (comparison, classifier), tested in self.tests.items():
            if tested.has_few_pairs:
                found[f"{classifier}_{comparison}_tests"] = tested.grid()
        for (comparison, classifier), grid in self.duels.items():
            found[f"{classifier}_{comparison}_against"] = grid
        found["times"] = self.times.grid(self.reference)
        return found | dict(self.summaries)


def make_report(
    outcomes: Mapping[Item, ItemOutcome],
    comparisons: Sequence[ComparisonPlan],
    protocol: Protocol,
    *,
    title: str,
    about: Sequence[str],
    missing: Mapping[str, str],
    times_of: ComparisonPlan,
    time_groups: Sequence[TimeGroup],
    reference: str,
    published: Mapping[tuple[str, str], Published] | None = None,
    failures: Sequence[FailedItem] = (),
    against: Mapping[str, str] | None = None,
) -> ExperimentReport:
    """Average the outcomes into tables.

    ``times_of`` has the methods and data sets whose times are shown; ``published`` the tables to
    compare with, by comparison and classifier.
    """
    tables = {
        (comparison.name, classifier, measure): error_table(
            outcomes, comparison, classifier, measure, missing
        )
        for classifier in (*CLASSIFIERS, *FINAL_CLASSIFIERS)
        if classifier in protocol.classifiers
        for comparison in comparisons
        for measure in MEASURES
    }
    differences = {
        key: difference(tables[(*key, "error")], theirs)
        for key, theirs in (published or {}).items()
        if (*key, "error") in tables
    }
    return ExperimentReport(
        title,
        tuple(about),
        tables,
        differences,
        time_table(outcomes, times_of, missing),
        tuple(time_groups),
        reference,
        dict(missing),
        tuple(failures),
        against=against or {},
    )


def describe_protocol(protocol: Protocol, n_splits: Mapping[str, int]) -> list[str]:
    """Describe the protocol in sentences."""
    numbers = sorted(set(n_splits.values()))
    splits = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
    given = {
        "binned": "the binned values",
        "raw": "the raw values",
        "standardised": "values standardised by the training half",
    }[protocol.classifier_input]
    how = {
        "uniform": "of equal width",
        "quantile": "of equal frequency",
        "mdlp": "by the class (MDLP; their number follows from the data)",
    }[protocol.discretizer]
    return [
        f"Each data set is split into random halves, {splits} times (seed {protocol.seed}). On one "
        f"half each method selects {protocol.n_features} features (all, if there are fewer). "
        f"{protocol.n_neighbors}-NN and linear SVMs (C = {protocol.C:g}; liblinear) are trained on "
        "this half with the first 1, 2, … selected features and tested on the other half. The "
        "result is the mean error over the number of features and over the splits.",
        f"Columns with more than {protocol.n_bins} distinct numbers are cut into {protocol.n_bins} "
        f"bins {how}, fitted on the training half. The classifiers use {given}; methods "
        "that do not cut columns into bins use raw values. Missing values are a "
        "level of their own for the information-theoretic methods. For the other filters and the "
        "classifiers they are replaced by the training median.",
        "The error is the share of misclassified test rows. The balanced error is the mean of this "
        "share over the classes. Ranks, tests and comparisons use the plain error unless stated "
        "otherwise.",
    ]


def machine_grid() -> Grid:
    """Return the machine and the versions."""
    memory = memory_gib()
    rows = [
        ("processor", processor()),
        ("cores", str(os.cpu_count())),
        ("memory", "unknown" if memory is None else f"{memory:.0f} GiB"),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", platform.python_version()),
        *((package, installed_version(package) or "not installed") for package in PACKAGES),
    ]
    return Grid("Machine", ["part", "value"], rows)


def write_tables(report: ExperimentReport, folder: Path, *, is_safe: bool = False) -> None:
    """Write every table as CSV.

    ``is_safe``: neutralise the cells that spreadsheets would run as formulas.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, grid in report.grids().items():
        grid.write(folder, name, is_safe=is_safe)

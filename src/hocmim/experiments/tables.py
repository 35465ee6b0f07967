"""Tables of an experiment in the layout of the paper: errors, ranks, tests and times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hocmim.errors import InvalidTableError
from hocmim.experiments.classifiers import TITLES
from hocmim.experiments.grid import Grid
from hocmim.experiments.protocol import Item, ItemOutcome
from hocmim.experiments.published import Published
from hocmim.experiments.statistics import (
    DECIMALS,
    Friedman,
    critical_difference,
    friedman,
    groups,
    nemenyi,
    rank_rows,
    wilcoxon_against,
    wilcoxon_holm,
)

MEASURES = ("error", "balanced error")
ALPHA = 0.1
MAX_METHODS_IN_PAIRS = 20


# --- errors and ranks -----------------------------------------------------------------------------


@dataclass(frozen=True)
class ComparisonPlan:
    """Which methods are compared on which data sets."""

    name: str
    title: str
    methods: tuple[str, ...]  # In the order of the table
    datasets: tuple[str, ...]
    repeats: str = "Splits"  # What the errors of a data set are averaged over


@dataclass(frozen=True, eq=False)
class ErrorTable:
    """Mean errors over the number of features and the splits."""

    comparison: ComparisonPlan
    classifier: str
    measure: str
    # dict of data set to ndarray of shape (methods, features). Mean over the splits, for the data
    # sets that every method has finished at least once.
    curves: dict[str, NDArray[np.float64]]
    # By data set. Splits finished by every method; the others are not used.
    n_splits: dict[str, int]
    missing: dict[str, str]  # By data set. Why a data set of the comparison is not in the table.

    @property
    def datasets(self) -> list[str]:
        """The data sets of the rows."""
        return list(self.curves)

    @cached_property
    def errors(self) -> NDArray[np.float64]:
        """Mean error, shape (data sets, methods)."""
        rows = [curve.mean(axis=1) for curve in self.curves.values()]
        return np.array(rows).reshape(len(rows), len(self.comparison.methods))

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """Rank of each method in its row."""
        return rank_rows(self.errors) if len(self.errors) else self.errors

    @property
    def average_ranks(self) -> NDArray[np.float64]:
        """The mean of the ranks over the data sets."""
        return np.asarray(self.ranks.mean(axis=0))

    @property
    def title(self) -> str:
        """The title of the table."""
        return f"Mean {self.measure} and rank, {TITLES[self.classifier]}: {self.comparison.title}"

    @property
    def has_curves(self) -> bool:
        """Whether there are errors with several numbers of features."""
        return any(curve.shape[1] > 1 for curve in self.curves.values())

    def notes(self) -> list[str]:
        """Return the number of splits, and the data sets that are not included."""
        return [*self._splits_note(), *missing_notes(self.missing)]

    def _splits_note(self) -> list[str]:
        by_number: dict[int, list[str]] = {}
        for name, number in self.n_splits.items():
            by_number.setdefault(number, []).append(name)
        if not by_number:
            return ["No data set is finished by every method."]
        parts = [f"{number} ({', '.join(names)})" for number, names in by_number.items()]
        text = ", ".join(parts) if len(by_number) > 1 else f"{next(iter(by_number))}"
        return [f"{self.comparison.repeats}: {text}."]

    def grid(self) -> Grid:
        """Return a table with error(rank) in each cell, as in the paper."""
        rows = [
            [name, *(f"{e:.3f}({r:g})" for e, r in zip(errors, ranks, strict=True))]
            for name, errors, ranks in zip(self.datasets, self.errors, self.ranks, strict=True)
        ]
        if rows:
            rows.append(["Average rank", *(f"{rank:.2f}" for rank in self.average_ranks)])
        header = ["data set", *self.comparison.methods]
        return Grid(self.title, header, rows, self.notes(), min(1, len(rows)))

    def numbers(self) -> Grid:
        """Return errors and ranks in separate columns, with all digits."""
        methods = self.comparison.methods
        header = ["dataset", "splits", *methods, *(f"{method} rank" for method in methods)]
        rows = [
            [name, str(self.n_splits[name]), *_all(errors, ".6f"), *_all(ranks, "g")]
            for name, errors, ranks in zip(self.datasets, self.errors, self.ranks, strict=True)
        ]
        if rows:
            blanks = [""] * (len(methods) + 1)
            rows.append(["average rank", *blanks, *_all(self.average_ranks, ".4f")])
        return Grid(self.title, header, rows, self.notes())

    def rank_curves(self) -> NDArray[np.float64]:
        """Return the average rank with m features, m = 1, 2, …, over the sets with at least m.

        Shape (methods, largest number of features).
        """
        longest = max((curve.shape[1] for curve in self.curves.values()), default=0)
        out = np.empty((len(self.comparison.methods), longest))
        for m in range(longest):
            at_m = [curve[:, m] for curve in self.curves.values() if curve.shape[1] > m]
            out[:, m] = rank_rows(np.array(at_m)).mean(axis=0)
        return out


def missing_notes(missing: Mapping[str, str]) -> list[str]:
    """Return a sentence for each data set that is not included."""
    return [f"Not included: {name}: {reason}" for name, reason in missing.items()]


def error_table(
    outcomes: Mapping[Item, ItemOutcome],
    comparison: ComparisonPlan,
    classifier: str,
    measure: str,
    missing: Mapping[str, str],
    values: Callable[[ItemOutcome], NDArray[np.float64]] | None = None,
) -> ErrorTable:
    """Average the outcomes over the splits that every method has finished.

    ``values`` returns what is averaged; by default the errors of the classifier.
    """
    values = values or (lambda outcome: outcome.errors(classifier, measure))
    splits_of: dict[tuple[str, str], set[int]] = {}
    for item in outcomes:
        splits_of.setdefault((item.dataset, item.method), set()).add(item.split)
    curves, n_splits = {}, {}
    absent = {name: missing[name] for name in comparison.datasets if name in missing}
    for name in comparison.datasets:
        if name in absent:
            continue
        done = [splits_of.get((name, method), set()) for method in comparison.methods]
        splits = sorted(set.intersection(*done))
        if not splits:
            absent[name] = "no split is finished by every method."
            continue
        curves[name] = np.array(
            [
                np.mean([values(outcomes[Item(s, name, m)]) for s in splits], axis=0)
                for m in comparison.methods
            ]
        )
        n_splits[name] = len(splits)
    return ErrorTable(comparison, classifier, measure, curves, n_splits, absent)


# --- tests ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Significance:
    """The significance tests of one table."""

    table: ErrorTable
    friedman: Friedman
    distance: float  # Nemenyi's critical difference at ``ALPHA``

    @property
    def has_few_pairs(self) -> bool:
        """Whether a table of every pair of methods is short enough to read."""
        return len(self.table.comparison.methods) <= MAX_METHODS_IN_PAIRS

    def groups(self) -> list[list[str]]:
        """Return the groups of methods that do not differ significantly (Nemenyi)."""
        methods = self.table.comparison.methods
        found = groups(self.friedman.average_ranks, self.distance)
        return [[methods[j] for j in group] for group in found]

    def worse_than(self, method: str) -> list[str]:
        """Return the methods whose average rank is worse by more than the critical difference."""
        methods = self.table.comparison.methods
        average = self.friedman.average_ranks
        limit = average[methods.index(method)] + self.distance
        return [name for name, rank in zip(methods, average, strict=True) if rank > limit]

    def summary(self) -> str:
        """Return the tests in sentences."""
        f, table = self.friedman, self.table
        together = "; ".join(", ".join(group) for group in self.groups()) or "none"
        equal = (
            f"Not significantly different: {together}."
            if self.has_few_pairs
            else "The bars of the diagram join methods that do not differ significantly."
        )
        return (
            f"Friedman over {len(table.datasets)} data sets: χ² = {f.chi_square:.2f}, "
            f"p = {f.p_value:.2g} (Iman–Davenport F = {f.f_statistic:.2f}, p = {f.f_p_value:.2g}). "
            f"Nemenyi's critical difference at α = {ALPHA}: {self.distance:.2f}. "
            f"{equal}"
        )

    def grid(self) -> Grid:
        """Return a table of every pair of methods."""
        methods, average = self.table.comparison.methods, self.friedman.average_ranks
        by_rank, by_sign = nemenyi(self.table.errors), wilcoxon_holm(self.table.errors)
        rows = [
            [
                methods[a],
                methods[b],
                f"{average[a] - average[b]:.3f}",
                f"{by_rank[a, b]:.4f}",
                f"{by_sign[a, b]:.4f}",
            ]
            for a in range(len(methods))
            for b in range(a + 1, len(methods))
        ]
        header = ["method", "other", "difference of average ranks", "Nemenyi p", "Wilcoxon–Holm p"]
        comparison = self.table.comparison
        title = f"Pairwise tests, {TITLES[self.table.classifier]}: {comparison.title}"
        return Grid(title, header, rows, [self.summary(), *self.table.notes()])


def significance(table: ErrorTable) -> Significance | None:
    """Test a table; None if it has fewer than 2 data sets or 3 methods."""
    try:
        tested = friedman(table.errors)
    except InvalidTableError:
        return None
    distance = critical_difference(len(table.comparison.methods), len(table.datasets), ALPHA)
    return Significance(table, tested, distance)


# --- one method against each other one ------------------------------------------------------------


def against_grid(table: ErrorTable, method: str) -> Grid:
    """Return wins, ties, losses and Wilcoxon's test of a method against each other one.

    From the most losses of ``method`` to the fewest. A positive mean difference means that the
    error of ``method`` is larger.
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
        [methods[j], str(wins[j]), str(ties[j]), str(losses[j]), f"{differences[j]:+.4f}",
         f"{p_values[j]:.4f}", f"{adjusted[j]:.4f}"]
        for j in order
        if j != column
    ]  # fmt: skip
    header = [
        "other method", "wins", "ties", "losses", "mean difference", "Wilcoxon p", "with Holm",
    ]  # fmt: skip
    title = f"{method} against each, {TITLES[table.classifier]}: {table.comparison.title}"
    note = (
        f"Wins, ties and losses of {method} over {len(table.datasets)} data sets. A positive mean "
        f"difference means that the error of {method} is larger."
    )
    return Grid(title, header, rows, [note, *table.notes()])


# --- against the published values -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Difference:
    """Our errors minus the published ones."""

    table: ErrorTable
    published: Published
    datasets: tuple[str, ...]  # In both tables, and not misprinted
    not_compared: tuple[str, ...] = field(default=())  # Notes on our rows that cannot be compared

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of the columns."""
        return self.table.comparison.methods

    def _published(self, what: Mapping[str, Mapping[str, float]]) -> NDArray[np.float64]:
        rows = [[what[name][method] for method in self.methods] for name in self.datasets]
        return np.array(rows).reshape(len(rows), len(self.methods))

    @cached_property
    def _rows(self) -> list[int]:
        return [self.table.datasets.index(name) for name in self.datasets]

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Ours minus published, shape (data sets, methods)."""
        return self.table.errors[self._rows] - self._published(self.published.errors)

    @property
    def mean_absolute(self) -> float:
        """The mean absolute difference over all cells."""
        return float(np.abs(self.values).mean())

    @cached_property
    def rank_correlations(self) -> NDArray[np.float64]:
        """Spearman correlation of our errors with the published ones, by row; NaN if constant."""
        theirs = self._published(self.published.errors)
        ours = self.table.errors[self._rows]
        return np.array([_spearman(a, b) for a, b in zip(ours, theirs, strict=True)])

    @property
    def average_ranks(self) -> NDArray[np.float64]:
        """Our ranks, averaged over these data sets only."""
        return np.asarray(self.table.ranks[self._rows].mean(axis=0))

    @property
    def published_average_ranks(self) -> NDArray[np.float64]:
        """The printed ranks among these methods, averaged over these data sets only."""
        return np.asarray(rank_rows(self._published(self.published.ranks)).mean(axis=0))

    def grid(self) -> Grid:
        """Return differences, their mean absolute value and the rank correlation of each row."""
        header = ["data set", *self.methods, "mean abs.", "rank corr."]
        rows = [
            [name, *(f"{d:+.3f}" for d in row), f"{np.abs(row).mean():.3f}", _correlation(rho)]
            for name, row, rho in zip(
                self.datasets, self.values, self.rank_correlations, strict=True
            )
        ]
        if rows:
            mean_abs = np.abs(self.values).mean(axis=0)
            rows += [
                ["Mean abs. difference", *_all(mean_abs, ".3f"), f"{self.mean_absolute:.3f}", ""],
                ["Average rank, ours", *_all(self.average_ranks, ".2f"), "", ""],
                ["Average rank, published", *_all(self.published_average_ranks, ".2f"), "", ""],
            ]
        title = f"Ours minus published, {TITLES[self.table.classifier]}: "
        notes = [*self.not_compared, *self.table.notes()]
        title += self.table.comparison.title
        return Grid(title, header, rows, notes, min(3, len(rows)))


def difference(table: ErrorTable, published: Published) -> Difference:
    """Compare a table with the published one, on the data sets that both have."""
    datasets, notes = [], []
    for name in table.datasets:
        if name not in published.errors:
            notes.append(f"Not compared: {name}: it is not in the table of the paper.")
        elif name in published.misprints:
            notes.append(f"Not compared: {name}: its row is a misprint, a copy of the 3-NN table.")
        else:
            datasets.append(name)
    return Difference(table, published, tuple(datasets), tuple(notes))


# --- times ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TimeTable:
    """Processor seconds of a selection, mean over the splits."""

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    seconds: NDArray[np.float64]  # shape (data sets, methods)
    missing: dict[str, str]  # By data set

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of each method over the data sets."""
        return np.asarray(self.seconds.mean(axis=0))

    @property
    def deviation(self) -> NDArray[np.float64]:
        """Standard deviation over the data sets."""
        return np.asarray(self.seconds.std(axis=0))

    def ratios(self, reference: str) -> NDArray[np.float64]:
        """Return the time of each method divided by that of the reference, by data set."""
        column = self.methods.index(reference)
        return np.asarray(self.seconds / self.seconds[:, [column]])

    def grid(self, reference: str) -> Grid:
        """Return the seconds of each data set, their mean and deviation, and ratios."""
        rows = [
            [name, *_all(row, ".3g")] for name, row in zip(self.datasets, self.seconds, strict=True)
        ]
        if rows:
            ratios = self.ratios(reference)
            rows += [
                ["Mean", *_all(self.mean, ".3g")],
                ["Standard deviation", *_all(self.deviation, ".3g")],
                [f"Ratio to {reference}, median", *_all(np.median(ratios, axis=0), ".3g")],
                [f"Ratio to {reference}, maximum", *_all(ratios.max(axis=0), ".3g")],
            ]
        notes = [
            "Each method uses one thread. Times include cutting the columns into bins.",
            *missing_notes(self.missing),
        ]
        header = ["data set", *self.methods]
        title = "Processor seconds of a selection"
        return Grid(title, header, rows, notes, min(4, len(rows)))


def time_table(
    outcomes: Mapping[Item, ItemOutcome], comparison: ComparisonPlan, missing: Mapping[str, str]
) -> TimeTable:
    """Return mean times of every method, on the data sets that all methods have finished."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for item, outcome in sorted(outcomes.items()):
        seconds.setdefault((item.dataset, item.method), []).append(outcome.seconds)
    datasets = [
        name
        for name in comparison.datasets
        if all((name, method) in seconds for method in comparison.methods)
    ]
    values = [[np.mean(seconds[name, m]) for m in comparison.methods] for name in datasets]
    return TimeTable(
        comparison.methods,
        tuple(datasets),
        np.array(values).reshape(len(datasets), len(comparison.methods)),
        {name: missing[name] for name in comparison.datasets if name in missing},
    )


def _all(values: Iterable[float], form: str) -> list[str]:
    return [format(float(value), form) for value in values]


def _spearman(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    if np.ptp(np.round(a, 12)) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(stats.spearmanr(np.round(a, 12), b).statistic)


def _correlation(rho: float) -> str:
    return "—" if np.isnan(rho) else f"{rho:.2f}"

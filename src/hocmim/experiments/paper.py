"""The experiment of the paper: its comparisons, and its claims next to our results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hocmim.experiments.datasets import FoundData
from hocmim.experiments.grid import Grid
from hocmim.experiments.protocol import Item, ItemOutcome, Method, Protocol
from hocmim.experiments.published import Published, published_sets, published_table
from hocmim.experiments.report import ExperimentReport, TimeGroup, describe_protocol, make_report
from hocmim.experiments.run import Experiment, FailedItem
from hocmim.experiments.tables import ComparisonPlan

HOCMIM = "HOCMIM"
LOW = published_table("knn", "low").methods
HIGH = published_table("knn", "high").methods
FILTERS = published_table("knn", "filters").methods
# Not in the paper: the same idea for small samples.
ROBUST = "HOCMIM-R"
PLAIN = f"{ROBUST} interactions=False"
METHODS = (*LOW, *FILTERS[1:], ROBUST, PLAIN)
METHOD_OF = {PLAIN: Method(PLAIN, ROBUST, {"interactions": False})}
MI = "information methods"

# As published: bins of equal width.
DISCRETIZER = "uniform"

QUICK_SETS = (
    "parkinsons", "spect", "breast", "ionosphere", "dermatology", "soybeansmall", "sonar",
    "penglung", "pengleuk",
)  # fmt: skip
QUICK_SPLITS = 3

TIME_GROUPS = (
    TimeGroup("other filters", FILTERS[1:], fastest_first=True),
    TimeGroup("second order", ("CMIM", "mRMR", "JMI", "DISR")),
    TimeGroup("third order", ("CMIM-3", "JMI-3", "Relax-mRMR")),
    TimeGroup("fourth order", ("CMIM-4", "JMI-4")),
    TimeGroup("higher orders", (HOCMIM, ROBUST, PLAIN, "CMICOT")),
)

KRUSKAL_NOTE = (
    "The published errors of Kruskal–Wallis are much larger than those of the statistic (0.217 on "
    "wdbc): the ranking seems to be reversed. Ours begins with the largest statistic."
)


def comparisons(only: Sequence[str] | None = None) -> tuple[ComparisonPlan, ...]:
    """Return the comparisons of the paper and three of HOCMIM-R, on all data sets or on some."""
    sets = [entry for entry in published_sets() if only is None or entry.name in only]
    low = tuple(entry.name for entry in sets if not entry.is_high_dimensional)
    high = tuple(entry.name for entry in sets if entry.is_high_dimensional)
    both = low + high
    return (
        ComparisonPlan("low", f"{MI}, low-dimensional sets", LOW, low),
        ComparisonPlan("high", f"{MI}, high-dimensional sets", HIGH, high),
        ComparisonPlan("filters", "HOCMIM and other filters, all sets", FILTERS, both),
        ComparisonPlan("robust", f"{ROBUST} and the {MI}", (ROBUST, *LOW), low),
        ComparisonPlan("robust_high", f"{ROBUST}, high-dimensional sets", (ROBUST, *HIGH), high),
        ComparisonPlan(
            "interactions", f"{ROBUST} with and without interactions", (ROBUST, PLAIN), both
        ),
    )


def paper_experiment(
    found: FoundData,
    protocol: Protocol,
    n_splits: Mapping[str, int],
    methods: Sequence[str] = METHODS,
) -> Experiment:
    """Return the experiment; not every method runs on the high-dimensional data sets.

    Columns are cut into bins of equal width, as published, whatever the protocol has.
    """
    plan = {}
    for entry in published_sets():
        if entry.name in found.sources:
            wanted = {ROBUST, PLAIN, *FILTERS, *(HIGH if entry.is_high_dimensional else LOW)}
            plan[entry.name] = [method for method in methods if method in wanted]
    return Experiment(
        replace(protocol, discretizer=DISCRETIZER),
        {name: found.sources[name] for name in plan},
        {name: METHOD_OF.get(name, Method(name)) for name in methods},
        {name: n_splits[name] for name in plan},
        plan,
    )


def paper_report(
    outcomes: Mapping[Item, ItemOutcome],
    experiment: Experiment,
    missing: Mapping[str, str],
    failures: Sequence[FailedItem] = (),
    *,
    only: Sequence[str] | None = None,
) -> ExperimentReport:
    """Return the report of the experiment, with the published values next to ours."""
    wanted = [_restrict(each, experiment) for each in comparisons(only)]
    wanted = [each for each in wanted if len(each.methods) > 1 and each.datasets]
    low = comparisons(only)[0]
    everything = tuple(m for m in METHODS if m in experiment.methods)
    report = make_report(
        outcomes,
        wanted,
        experiment.protocol,
        title="The published experiment",
        about=_about(experiment, only),
        missing=missing,
        times_of=replace(low, name="times", methods=everything),
        time_groups=TIME_GROUPS,
        reference=HOCMIM if HOCMIM in experiment.methods else everything[0],
        published=_published(),
        failures=failures,
        against={each.name: ROBUST for each in wanted if ROBUST in each.methods},
    )
    return replace(report, summaries={"claims": claims(report)})


def _restrict(comparison: ComparisonPlan, experiment: Experiment) -> ComparisonPlan:
    methods = tuple(name for name in comparison.methods if name in experiment.methods)
    return replace(comparison, methods=methods)


def _published() -> dict[tuple[str, str], Published]:
    """Compare both SVMs with that of the paper, which does not state if it is balanced."""
    return {
        (comparison, classifier): published_table(classifier.split("-")[0], comparison)
        for classifier in ("knn", "svm", "svm-balanced")
        for comparison in ("low", "high", "filters")
    }


def _about(experiment: Experiment, only: Sequence[str] | None) -> list[str]:
    part = [] if only is None else ["This is a part of the experiment, on " + ", ".join(only) + "."]
    return [
        "18 methods on the data sets of Souza, Premebida and Araújo, High-Order Conditional Mutual "
        "Information Maximization for dealing with High-Order Dependencies in Feature Selection, "
        "Pattern Recognition 131, 2022, with the published results next to ours; and HOCMIM-R, "
        "which is not in the paper, with and without its screen for interactions.",
        *part,
        *describe_protocol(experiment.protocol, experiment.n_splits),
        "The plain errors of both SVMs are compared with the published ones. Some published errors "
        "are larger than that of always predicting the most frequent class, which is possible for "
        "a class-balanced SVM.",
        KRUSKAL_NOTE,
    ]


# --- the paper's claims ---------------------------------------------------------------------------

# Claims on times: the slower method, the claim, and the largest ratio of its time to HOCMIM's.
TIME_CLAIMS = (
    ("CMICOT", "HOCMIM up to 6 times faster than CMICOT", 6),
    ("Relax-mRMR", "HOCMIM up to 10 times faster than Relax-mRMR", 10),
    ("CMIM-4", "HOCMIM up to 100 times faster than CMIM-4", 100),
    ("JMI-4", "HOCMIM up to 100 times faster than JMI-4", 100),
)

# The methods that are significantly worse than HOCMIM at α = 0.1 in the paper.
PUBLISHED_WORSE = {
    ("low", "knn"): ("JMI-3", "JMI-4", "CMICOT", "JMI", "DISR"),
    ("low", "svm"): ("CMICOT", "JMI-4", "DISR"),
    ("high", "knn"): (),
    ("high", "svm"): ("CMICOT",),
    ("filters", "knn"): ("ReliefF", "ILFS", "Fisher", "NCA", "Kruskal-Wallis", "Gini"),
    ("filters", "svm"): ("ReliefF", "ILFS", "Kruskal-Wallis", "Gini"),
}


def claims(report: ExperimentReport) -> Grid:
    """Return each claim of the paper next to our result."""
    rows = [*_rank_claims(report), *_significance_claims(report), *_time_claims(report)]
    header = ["claim", "published", "ours"]
    notes = ["Average ranks in brackets: the published ranks over the data sets compared here."]
    return Grid("Claims of the paper", header, rows, [*notes, *report.problems()])


def _rank_claims(report: ExperimentReport) -> list[list[str]]:
    rows = []
    for (comparison, classifier), found in report.differences.items():
        table = found.table
        if HOCMIM not in found.methods or not found.datasets:
            continue
        column = found.methods.index(HOCMIM)
        printed = found.published.average_ranks[HOCMIM]
        same = found.published_average_ranks[column]
        ours = table.average_ranks
        place = int((ours < ours[column]).sum()) + 1
        best = f"{found.methods[int(np.argmin(ours))]} {ours.min():.2f}"
        rows.append(
            [
                f"Average rank of HOCMIM, {_name(comparison, classifier)}",
                f"{printed:.2f} ({same:.2f})",
                f"{ours[column]:.2f} (sets: {len(table.datasets)}); place {place} of "
                f"{len(found.methods)}, best {best}",
            ]
        )
    return rows


def _significance_claims(report: ExperimentReport) -> list[list[str]]:
    rows = []
    for (comparison, classifier), tested in report.tests.items():
        theirs = PUBLISHED_WORSE.get((comparison, classifier.split("-")[0]))
        if theirs is None or HOCMIM not in tested.table.comparison.methods:
            continue
        ours = tested.worse_than(HOCMIM)
        rows.append(
            [
                f"Significantly worse than HOCMIM, {_name(comparison, classifier)}",
                ", ".join(theirs) or "none",
                f"{', '.join(ours) or 'none'} (Friedman p = {tested.friedman.p_value:.2g})",
            ]
        )
    return rows


def _time_claims(report: ExperimentReport) -> list[list[str]]:
    times = report.times
    if HOCMIM not in times.methods or not times.datasets:
        return []
    ratios = times.ratios(HOCMIM)
    rows = []
    for method, text, limit in TIME_CLAIMS:
        if method in times.methods:
            column = ratios[:, times.methods.index(method)]
            best = times.datasets[int(column.argmax())]
            ours = f"up to {column.max():.3g} ({best}); median {np.median(column):.3g}"
            rows.append([text, f"up to {limit}", ours])
    for method in ("CMIM", "mRMR", "JMI", "DISR"):
        if method in times.methods:
            column = 1 / ratios[:, times.methods.index(method)]
            rows.append(
                [
                    f"HOCMIM slower than {method}",
                    "slower",
                    f"{np.median(column):.3g} times as long (median), "
                    f"{column.min():.3g} to {column.max():.3g}",
                ]
            )
    return rows


def _name(comparison: str, classifier: str) -> str:
    title = {"low": "low-dimensional", "high": "high-dimensional", "filters": "among filters"}
    return f"{title[comparison]}, {classifier}"

"""The leaderboard: every method on tables with known answers, beside scikit-learn's selectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.defaults import DEFAULT_METHOD
from hocmim.experiments.answers import (
    CASES,
    EPISTASIS_COLUMNS,
    EPISTASIS_ROWS,
    HYPERCUBE,
    INTERACTION,
    NOISE,
    PASSEMIERS_COLUMNS,
    PASSEMIERS_ROWS,
    KnownSource,
    passemiers_case,
)
from hocmim.experiments.classifiers import FINAL_CLASSIFIERS
from hocmim.experiments.grid import Grid
from hocmim.experiments.interaction_tables import BEST_PUBLISHED, EPISTASIS, PASSEMIERS, PUBLISHED
from hocmim.experiments.peers import PEERS
from hocmim.experiments.protocol import Item, ItemOutcome, Method, Protocol
from hocmim.experiments.report import ExperimentReport, TimeGroup, make_report
from hocmim.experiments.run import Experiment, FailedItem
from hocmim.experiments.statistics import rank_rows
from hocmim.experiments.tables import ComparisonPlan, ErrorTable, error_table, time_table
from hocmim.selectors.registry import list_methods

N_TABLES = 5
# Up to 2048 columns, where some methods need seconds: one table for five of other cases.
SHARE_OF_INTERACTION_TABLES = 1 / 5
MAX_SELECTED = 30
RECOVERY = "recovery"
MEASURES = {
    RECOVERY: "recovery",
    "logistic": "logistic",
    "5-nn": "5-NN",
    "forest": "forest",
}

INTERACTIONS = "interactions"
SIGNIFICANT = f"{DEFAULT_METHOD} significant"
PLAIN = f"{DEFAULT_METHOD} interactions=False"
# Slow on the larger tables: fewer rows and fewer steps.
REDUCED = {"NCA": {"max_samples": 300, "max_iter": 100}}
METHODS: dict[str, Method] = {
    SIGNIFICANT: Method(SIGNIFICANT, DEFAULT_METHOD, {"n_features_to_select": "significant"}),
    PLAIN: Method(PLAIN, DEFAULT_METHOD, {"interactions": False}),
    **{name: Method(name, name, REDUCED.get(name, {})) for name in (*list_methods(), *PEERS)},
}
METHOD_NAMES = (DEFAULT_METHOD, *(name for name in METHODS if name != DEFAULT_METHOD))

Outcomes = Mapping[Item, ItemOutcome]
Answers = Mapping[tuple[str, int], frozenset[int]]


def known_experiment(
    n_tables: int = N_TABLES,
    methods: Sequence[str] = METHOD_NAMES,
    cases: Sequence[str] = tuple(CASES),
    seed: int = 0,
) -> Experiment:
    """Return the experiment: ``n_tables`` tables of each case, each split in halves once.

    On tables with interactions only the recovery is computed, without classifiers.
    """
    found = [
        KnownSource(case, number, seed)
        for number in range(n_tables)
        for case in cases
        if CASES[case].family != INTERACTION or number < n_tables * SHARE_OF_INTERACTION_TABLES
    ]
    sources = {source.name: source for source in found}
    protocol = Protocol(
        n_features=MAX_SELECTED,
        classifier_input="standardised",
        seed=seed,
        classifiers=FINAL_CLASSIFIERS,
    )
    return Experiment(
        protocol,
        sources,
        {name: METHODS[name] for name in methods},
        dict.fromkeys(sources, 1),
        dict.fromkeys(sources, tuple(methods)),
        {
            source.name: replace(protocol, classifiers=())
            for source in found
            if CASES[source.case].family == INTERACTION
        },
    )


# --- recovery -------------------------------------------------------------------------------------


class Recovery(NamedTuple):
    """How much of the useful columns was found; ``missed`` is 1 − F1."""

    precision: float
    recall: float
    missed: float


def recovery(selected: Iterable[int], useful: frozenset[int]) -> Recovery:
    """Compare the selected with the useful columns; an empty selection has precision 0."""
    chosen = set(selected)
    n_found = len(chosen & useful)
    precision = n_found / len(chosen) if chosen else 0.0
    missed = 1 - 2 * n_found / (len(chosen) + len(useful))
    return Recovery(precision, n_found / len(useful), missed)


def known_answers(experiment: Experiment) -> dict[tuple[str, int], frozenset[int]]:
    """Return the useful columns by case and number; generates every table again."""
    sources = _sources(experiment)
    return {(each.case, each.number): frozenset(each.load().useful) for each in sources.values()}


def by_case(outcomes: Outcomes, experiment: Experiment) -> dict[Item, ItemOutcome]:
    """Return the outcomes with the case as the data set, and the table's number as the split."""
    sources = _sources(experiment)
    found = {}
    for item, outcome in outcomes.items():
        source = sources[item.dataset]
        moved = Item(source.number, source.case, item.method)
        found[moved] = replace(outcome, item=moved)
    return found


def _sources(experiment: Experiment) -> dict[str, KnownSource]:
    found = experiment.sources.items()
    return {name: source for name, source in found if isinstance(source, KnownSource)}


# --- the report -----------------------------------------------------------------------------------


def comparisons(experiment: Experiment) -> list[ComparisonPlan]:
    """Return the comparisons: real tables with added columns and networks, each, interactions."""
    cases = list(dict.fromkeys(source.case for source in _sources(experiment).values()))
    noise = [case for case in cases if CASES[case].family == NOISE]
    together = [case for case in cases if CASES[case].family == INTERACTION]
    networks = [case for case in cases if case not in (*noise, *together)]
    methods = tuple(experiment.methods)
    groups = {
        ("all", "added columns and networks"): noise + networks,
        ("noise", "columns added to real tables"): noise,
        ("networks", "Bayesian networks"): networks,
        (INTERACTIONS, "columns that tell only together"): together,
    }
    return [
        ComparisonPlan(name, title, methods, tuple(group), "Tables")
        for (name, title), group in groups.items()
        if group
    ]


def known_report(
    outcomes: Outcomes, experiment: Experiment, failures: Sequence[FailedItem] = ()
) -> ExperimentReport:
    """Return the report: the leaderboards, the tests, and where the default method loses."""
    results = by_case(outcomes, experiment)
    answers = known_answers(experiment)
    wanted = comparisons(experiment)
    predicted = [each for each in wanted if each.name != INTERACTIONS]
    reference = _reference(experiment)
    report = make_report(
        results,
        predicted,
        experiment.protocol,
        title="Tables with known answers",
        about=_about(experiment),
        missing={},
        times_of=replace(wanted[0], name="times"),
        time_groups=[TimeGroup("methods", tuple(experiment.methods), fastest_first=True)],
        reference=reference,
        failures=failures,
        against={each.name: reference for each in wanted if len(each.methods) > 1},
    )
    found = {
        (each.name, RECOVERY, "error"): recovery_table(results, each, answers, "missed")
        for each in wanted
    }
    tables = found | {key: table for key, table in report.tables.items() if key[2] == "error"}
    summaries = {
        "leaderboard" if each.name == "all" else f"leaderboard_{each.name}": leaderboard(
            results, each, answers, tables
        )
        for each in predicted
    }
    if wanted[-1].name == INTERACTIONS:
        summaries |= interaction_boards(results, wanted[-1].methods, answers)
    once = [each for each in wanted if each.name in ("all", INTERACTIONS)]
    summaries["by_case"] = standing(tables, once, reference)
    return replace(report, tables=tables, summaries=summaries)


def recovery_table(
    results: Outcomes, comparison: ComparisonPlan, answers: Answers, part: str
) -> ErrorTable:
    """Average an attribute of :class:`Recovery` over the tables of each case."""
    value = attrgetter(part)

    def values(outcome: ItemOutcome) -> NDArray[np.float64]:
        useful = answers[outcome.item.dataset, outcome.item.split]
        return np.array([value(recovery(outcome.selected, useful))])

    return error_table(results, comparison, RECOVERY, "error", {}, values)


def leaderboard(
    results: Outcomes,
    comparison: ComparisonPlan,
    answers: Answers,
    tables: Mapping[tuple[str, str, str], ErrorTable],
) -> Grid:
    """Return a row for each method: average ranks, recovery, errors and time; the best first."""
    of = {measure: tables[comparison.name, measure, "error"] for measure in MEASURES}
    title = f"Leaderboard: {comparison.title}"
    header = [
        "method", "mean rank", *(f"rank, {short}" for short in MEASURES.values()),
        "precision", "recall", *(f"error, {MEASURES[c]}" for c in FINAL_CLASSIFIERS), "seconds",
    ]  # fmt: skip
    if not of[RECOVERY].datasets:
        return Grid(title, header, [], of[RECOVERY].notes())
    ranks = np.array([table.average_ranks for table in of.values()])
    share = [
        recovery_table(results, comparison, answers, part).errors.mean(axis=0)
        for part in ("precision", "recall")
    ]
    errors = [of[classifier].errors.mean(axis=0) for classifier in FINAL_CLASSIFIERS]
    seconds = time_table(results, comparison, {}).mean
    overall = ranks.mean(axis=0)
    rows = [
        [
            comparison.methods[j],
            *(f"{value:.2f}" for value in (overall[j], *ranks[:, j])),
            *(f"{value[j]:.3f}" for value in (*share, *errors)),
            f"{seconds[j]:.3g}",
        ]
        for j in np.argsort(overall, kind="stable")
    ]
    notes = [
        f"Ranks are averages over {len(of[RECOVERY].datasets)} cases; 1 is the best of "
        f"{len(rows)}. The mean rank is the mean of the four average ranks. Precision, recall, "
        "errors and seconds are means over the cases.",
        *of[RECOVERY].notes(),
    ]
    return Grid(title, header, rows, notes)


# --- interactions ---------------------------------------------------------------------------------


def interaction_boards(
    results: Outcomes, methods: Sequence[str], answers: Answers
) -> dict[str, Grid]:
    """Return the tables of Passemiers et al., those with most columns alone, and the others."""
    shares: dict[tuple[str, str], list[float]] = {}
    for item, outcome in results.items():
        useful = answers[item.dataset, item.split]
        first = useful.intersection(outcome.selected[: len(useful)])
        shares.setdefault((item.dataset, item.method), []).append(len(first) / len(useful))
    most = PASSEMIERS_COLUMNS[-1]
    listed = ", ".join(map(str, PASSEMIERS_COLUMNS[:-1]))
    epistasis = {
        f"{name} {n_columns}": [f"{name} {n_columns} × {EPISTASIS_ROWS}"]
        for name in EPISTASIS
        for n_columns in EPISTASIS_COLUMNS
    }
    ours = {
        "passemiers": share_board(
            f"Passemiers et al.: means over {listed} and {most} columns",
            _passemiers_columns(PASSEMIERS_COLUMNS), methods, shares, _published_rows(),
        ),
        f"passemiers_{most}": share_board(
            f"Passemiers et al.: {most} columns",
            _passemiers_columns([most]), methods, shares, _published_rows(),
        ),
        "epistasis": share_board(
            f"Epistasis ({EPISTASIS_ROWS} rows, by the number of columns) and a hypercube",
            epistasis | {HYPERCUBE: [HYPERCUBE]}, methods, shares,
        ),
    }  # fmt: skip
    return {name: board for name, board in ours.items() if board.header[1:]}


def share_board(
    title: str,
    columns: Mapping[str, Sequence[str]],
    methods: Sequence[str],
    shares: Mapping[tuple[str, str], Sequence[float]],
    published: Mapping[str, Mapping[str, float]] | None = None,
) -> Grid:
    """Return the share found, in percent; the best method first, the published values last.

    ``columns`` has the cases over which each column is a mean. Columns without results are left
    out, and methods that are not finished.
    """
    done = {case for case, _ in shares}
    shown = {title: cases for title, cases in columns.items() if done.issuperset(cases)}
    means = {
        method: [np.mean([shares[case, method] for case in cases]) for cases in shown.values()]
        for method in methods
        if all((case, method) in shares for cases in shown.values() for case in cases)
    }
    best = sorted(means, key=lambda method: -sum(means[method]))
    rows = [[name, *(f"{100 * share:.0f}" for share in means[name])] for name in best]
    for name, values in (published or {}).items():
        cells = [f"{values[title]:.3g}" if title in values else "" for title in shown]
        if any(cells):
            rows.append([f"published: {name}", *cells])
    notes = [
        "The share of the p useful columns among the first p selected, in percent. The row of all "
        "columns is chance: it takes them in the order of the table."
    ]
    if published:
        notes.append("Published values are means over 2 to 2048 columns.")
    return Grid(title, ["method", *shown], rows, notes)


def _passemiers_columns(n_columns: Sequence[int]) -> dict[str, list[str]]:
    return {
        f"{name} {n_rows}": [passemiers_case(name, each, n_rows) for each in n_columns]
        for n_rows in PASSEMIERS_ROWS
        for name in PASSEMIERS
    }


def _published_rows() -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {"the best of each": {}}
    for n_rows, best in BEST_PUBLISHED.items():
        for table, value in zip(PASSEMIERS, best, strict=True):
            rows["the best of each"][f"{table} {n_rows}"] = value
    for name, values in PUBLISHED.items():
        rows[name] = {f"{table} 1000": v for table, v in zip(PASSEMIERS, values, strict=True)}
    return rows


def standing(
    tables: Mapping[tuple[str, str, str], ErrorTable],
    comparisons: Sequence[ComparisonPlan],
    method: str,
) -> Grid:
    """Return the place of a method in each case and measure, beside the best method."""
    rows = []
    wanted = [(each, tables.get((each.name, m, "error"))) for each in comparisons for m in MEASURES]
    for comparison, table in wanted:
        if table is None:
            continue
        column = comparison.methods.index(method)
        for name, errors in zip(table.datasets, table.errors, strict=True):
            ranks = rank_rows(errors[None])[0]
            best = [comparison.methods[j] for j in np.flatnonzero(ranks == ranks.min())]
            others = f" and {len(best) - 1} more" if len(best) > 1 else ""
            rows.append(
                [
                    name,
                    MEASURES[table.classifier],
                    f"{errors[column]:.3f}",
                    f"{ranks[column]:g}",
                    f"{errors.min():.3f}",
                    f"{errors[column] - errors.min():.3f}",
                    (method if method in best else best[0]) + others,
                ]
            )
    header = ["case", "measure", method, "rank", "best", "difference", "best method"]
    note = f"Ranks of {method} among {len(comparisons[0].methods)} methods. Recovery is 1 − F1."
    return Grid(f"{method} in each case", header, rows, [note])


# --- the methods, and the text --------------------------------------------------------------------


def _reference(experiment: Experiment) -> str:
    methods = list(experiment.methods)
    return DEFAULT_METHOD if DEFAULT_METHOD in methods else methods[0]


def _about(experiment: Experiment) -> list[str]:
    protocol = experiment.protocol
    numbers = {source.number for source in _sources(experiment).values()}
    return [
        f"{len(experiment.methods)} methods, scikit-learn's own selectors among them, on generated "
        "tables whose useful columns are known: does a method find them, and how well do "
        "classifiers predict with its selection?",
        f"Each case has {len(numbers)} tables, generated from the seed {protocol.seed}. Added "
        "columns: a table of scikit-learn gets as many further columns as it has (at least 20): "
        "its own columns with permuted rows (random), its own columns plus normal noise of the "
        "same standard deviation (corrupted), or products of two of its standardised columns "
        "(second-order). The original columns are the useful ones: the others tell nothing beyond "
        "them. Networks: the class is a variable of a random Bayesian network (up to 3 parents, 2 "
        "to 4 levels, conditional probabilities from Dirichlet(0.5)); the useful columns are its "
        "Markov blanket, 5 to 10 columns. Cases are named by columns × rows.",
        "Interactions: columns that tell about the class only together; one table of each case, "
        "where others have five. RING, XOR and their mixtures are those of Passemiers et al., "
        "Scientific Reports 14, 2024, whose published figures are means over 2 to 2048 columns; as "
        "many rows select as in their six folds (five sixths of the number in "
        "the name). Epistasis: a disease that depends on two or three genotypes through a "
        "penetrance table without marginal effects; in the heterogeneous table two pairs decide, "
        "each for half of the rows. Hypercube: clusters at the corners of a cube of five columns, "
        "and fifteen linear combinations of them. Only the recovery is computed.",
        "A random half of the rows is used for the selection and for training, the other half for "
        f"the test. Every method selects as many columns as are useful, at most {MAX_SELECTED}; "
        f"so precision and recall differ only where it selects another number. {SIGNIFICANT} "
        "determines the number itself, SelectFromModel L1 can select fewer, all columns selects "
        "all.",
        "Recovery is F1 of the selected against the useful columns. Logistic regression, 5-NN and "
        "a random forest of 100 trees (scikit-learn, default parameters) use the selected columns, "
        "standardised by the training half. Their result is the share of misclassified test rows. "
        "Numeric columns are cut into 5 bins of equal frequency by the information-theoretic "
        "methods; all others use the values as they are.",
        "Slow methods are reduced: NCA uses at most 300 random training rows and 100 iterations, "
        "RFE drops a tenth of the columns in each step. Linear models of RFE and SelectFromModel "
        "use standardised columns; mutual_info_classif treats columns with at most 5 values as "
        "discrete.",
    ]

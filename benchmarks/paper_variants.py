"""Possible reasons why HOCMIM's rank differs from the published one, tested one at a time.

HOCMIM is ranked among the published eleven, HOCMIM-R among these and itself.

    python benchmarks/paper_variants.py --data DIR [--results results/paper] [--splits 10]

Reads the selections of a finished ``hocmim bench paper`` and changes one setting at a time: a
parameter of the method (its new selections replace the old ones in the table), or the input of 3-NN
(for all methods, with the same selections). The last rows resample the splits with
replacement: they show how much the rank varies by chance. Its own results are stored in
``.benchmarks/variants``: after an interruption the same command continues. --write writes
``variants.csv`` beside the results; ``python paper/figures.py`` puts it into docs/.
"""

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from common import ROOT, options_of
from hocmim.experiments.classifiers import CLASSIFIERS, TITLES, balanced_error, count_wrong
from hocmim.experiments.datasets import DataSource, find_published
from hocmim.experiments.grid import Grid
from hocmim.experiments.paper import DISCRETIZER, HOCMIM, LOW, ROBUST, comparisons
from hocmim.experiments.protocol import (
    Item,
    ItemOutcome,
    Method,
    Protocol,
    classifier_input,
    predict_curve,
    split_rows,
)
from hocmim.experiments.published import published_sets
from hocmim.experiments.run import Experiment, run
from hocmim.experiments.statistics import rank_rows
from hocmim.experiments.store import Store
from hocmim.experiments.tables import error_table, significance

EQUAL_FREQUENCY = "bins of equal frequency"
# The criterion itself, whose other parameters the selector does not have.
GREEDY = "hocmim.criteria.hocmim:HOCMIMCriterion"
VARIANTS = {
    "form = conditional": Method("", HOCMIM, {"form": "conditional"}),
    "path = min": Method("", GREEDY, {"path": "min"}),
    "max_order = 5": Method("", HOCMIM, {"max_order": 5}),
    "min_support = 10": Method("", GREEDY, {"min_support": 10}),
    "estimator = plugin": Method("", HOCMIM, {"estimator": "plugin"}),
    "tol = 0": Method("", HOCMIM, {"tol": 0}),
    EQUAL_FREQUENCY: Method("", ROBUST, {"encoder__discretizer": "quantile"}),
}
COMPARED = {HOCMIM: "low", ROBUST: "robust"}  # the comparison in which a method is ranked
INPUTS = ("raw", "standardised")
N_DRAWS = 1000

Outcomes = Mapping[Item, ItemOutcome]


def run_variants(sources: dict[str, DataSource], n_splits: int, path: Path, jobs: int) -> Outcomes:
    methods = {name: replace(method, name=name) for name, method in VARIANTS.items()}
    experiment = Experiment(
        Protocol(discretizer=DISCRETIZER),
        sources,
        methods,
        dict.fromkeys(sources, n_splits),
        dict.fromkeys(sources, tuple(methods)),
    )
    return run(experiment, Store(path), jobs=jobs, progress=print).outcomes


def classify_again(
    outcome: ItemOutcome, *, sources: dict[str, DataSource], protocol: Protocol
) -> ItemOutcome:
    """The same selection, with another input of the classifiers."""
    data = sources[outcome.item.dataset].load()
    halves = split_rows(data.y, outcome.item.split, protocol.seed)
    selected = np.array(outcome.selected)
    train, test = classifier_input(data, halves, selected, protocol)
    wrong, balanced = {}, {}
    for classifier in protocol.classifiers:
        guesses = predict_curve(classifier, train, data.y[halves.train], test, protocol)
        wrong[classifier] = count_wrong(guesses, data.y[halves.test]).tolist()
        balanced[classifier] = balanced_error(guesses, data.y[halves.test]).tolist()
    key = f"{outcome.key} {protocol.classifier_input}"
    return replace(outcome, key=key, wrong=wrong, balanced=balanced)


def run_inputs(
    outcomes: Outcomes, sources: dict[str, DataSource], given: str, path: Path, jobs: int
) -> Outcomes:
    """Every outcome, with another input of the classifiers."""
    store = Store(path)
    found = store.read()
    # A method whose selections have changed since is classified again.
    todo = [
        outcome
        for item, outcome in outcomes.items()
        if item not in found or found[item].selected != outcome.selected
    ]
    # Linear SVMs take minutes to converge on raw values of ujiindoor.
    protocol = Protocol(discretizer=DISCRETIZER, classifier_input=given, classifiers=("knn",))
    again = partial(classify_again, sources=sources, protocol=protocol)
    with store.appending() as append, ProcessPoolExecutor(jobs) as pool:
        for n_done, outcome in enumerate(pool.map(again, todo), start=1):
            append(outcome)
            found[outcome.item] = outcome
            if n_done % 50 == 0 or n_done == len(todo):
                print(f"{given}: {n_done}/{len(todo)}", flush=True)
    return found


def describe(outcomes: Outcomes, classifier: str, method: str) -> list[str]:
    """A method's average rank, place and mean error, and the methods significantly worse."""
    comparison = next(each for each in comparisons() if each.name == COMPARED[method])
    table = error_table(outcomes, comparison, classifier, "error", {})
    at = comparison.methods.index(method)
    ranks = table.average_ranks
    worse = significance(table).worse_than(method)
    return [
        f"{ranks[at]:.2f}",
        f"{int((ranks < ranks[at]).sum()) + 1} of {len(ranks)}",
        f"{table.errors[:, at].mean():.4f}",
        ", ".join(worse) or "none",
    ]


def chance(outcomes: Outcomes, classifier: str, n_splits: int) -> str:
    """The middle 90 % of HOCMIM's average rank over resamples of the splits."""
    sets = sorted({item.dataset for item in outcomes})
    errors = np.array(
        [
            [
                [outcomes[Item(split, name, m)].errors(classifier, "error").mean() for m in LOW]
                for name in sets
            ]
            for split in range(n_splits)
        ]
    )
    rng = np.random.default_rng(0)
    draws = rng.integers(n_splits, size=(N_DRAWS, n_splits))
    ranks = [rank_rows(errors[draw].mean(axis=0))[:, LOW.index(HOCMIM)].mean() for draw in draws]
    low, high = np.quantile(ranks, [0.05, 0.95])
    return f"{low:.2f} to {high:.2f}"


def main() -> None:
    parser = options_of(__doc__, data=True)
    parser.add_argument("--results", type=Path, default=ROOT / "results" / "paper")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()

    low = [entry for entry in published_sets() if not entry.is_high_dimensional]
    sources = find_published(given.data, low).sources
    everything = Store(given.results / "results.jsonl").read()
    published = {
        item: outcome
        for item, outcome in everything.items()
        if item.dataset in sources and item.method in (ROBUST, *LOW)
    }
    first = {item: outcome for item, outcome in published.items() if item.split < given.splits}
    folder = ROOT / ".benchmarks" / "variants"
    tried = run_variants(sources, given.splits, folder / "variants.jsonl", given.jobs)
    settings: dict[tuple[str, str], Outcomes] = {
        (method, "as in the paper's text"): first for method in COMPARED
    }
    for name, method in VARIANTS.items():
        changed = {
            Item(item.split, item.dataset, method.selector): outcome
            for item, outcome in tried.items()
            if item.method == name
        }
        settings[method.selector, name] = first | changed
    for name in INPUTS:
        again = run_inputs(first, sources, name, folder / f"{name}.jsonl", given.jobs)
        settings |= {(method, f"3-NN on {name} values"): again for method in COMPARED}

    header = [
        "method", "setting", "classifier", "average rank", "place", "mean error",
        "significantly worse",
    ]  # fmt: skip
    rows = [
        [method, name, TITLES[classifier], *describe(outcomes, classifier, method)]
        for (method, name), outcomes in sorted(settings.items(), key=lambda entry: entry[0][0])
        for classifier in next(iter(outcomes.values())).wrong
    ]
    n_all = 1 + max(item.split for item in published)
    rows += [
        [
            HOCMIM,
            f"{n_all} splits resampled: middle 90 %",
            TITLES[c],
            chance(published, c, n_all),
            "",
            "",
            "",
        ]
        for c in CLASSIFIERS
    ]
    notes = [
        f"{len(sources)} low-dimensional sets; splits: {given.splits}, except in the last rows."
    ]
    grid = Grid("The ranks when one setting changes", header, rows, notes)
    print(grid.to_csv())
    if given.write:
        grid.write(given.results, "variants", "csv")


if __name__ == "__main__":
    main()

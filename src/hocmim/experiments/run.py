"""Running the items without a result, in this process or in several."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from joblib import Parallel, cpu_count, delayed

from hocmim.errors import HocmimError, HocmimWarning
from hocmim.experiments.datasets import AnySource, DataSet
from hocmim.experiments.protocol import Item, ItemOutcome, Method, Protocol, outcome_key, run_item
from hocmim.experiments.store import Store, check_keys
from hocmim.search.progress import Progress, ProgressCallback


@dataclass(frozen=True)
class Experiment:
    """Data sets, methods, splits and the protocol of an experiment."""

    protocol: Protocol
    sources: Mapping[str, AnySource]  # By data set
    methods: Mapping[str, Method]  # By title
    n_splits: Mapping[str, int]  # By data set
    plan: Mapping[str, Sequence[str]]  # By data set. The methods to run on each.
    # Of the data sets that have another one.
    protocols: Mapping[str, Protocol] = field(default_factory=dict)

    def protocol_of(self, dataset: str) -> Protocol:
        """Return the protocol of a data set."""
        return self.protocols.get(dataset, self.protocol)

    def items(self) -> list[Item]:
        """Return every item: the first split of every data set, then the second, …"""
        return [
            Item(split, dataset, method)
            for split in range(max(self.n_splits.values(), default=0))
            for dataset, methods in self.plan.items()
            if split < self.n_splits[dataset]
            for method in methods
        ]


@dataclass(frozen=True)
class FailedItem:
    """An item that raised an error."""

    item: Item
    message: str


@dataclass(frozen=True)
class Results:
    """The outcomes, the failures and the warnings of an experiment.

    A warning begins with the name of the data set. It is there once for all methods and splits.
    """

    outcomes: dict[Item, ItemOutcome]
    failures: list[FailedItem]
    warnings: list[str] = field(default_factory=list)


def run(
    experiment: Experiment,
    store: Store,
    *,
    jobs: int = 1,
    progress: ProgressCallback | None = None,
) -> Results:
    """Run every item that is not in the store; append each outcome when it is finished.

    ``jobs`` is the number of processes, at most one per core. It changes no result except times.
    """
    known = store.read()
    check_keys(known, _keys(experiment), store.path)
    items = experiment.items()
    todo = [item for item in items if item not in known]
    results = Results({item: known[item] for item in items if item in known}, [])
    told = Progress("bench", progress)
    said: dict[tuple[str, str], str] = {}
    with store.appending() as append:
        told.begin("run", "running", len(items), done=len(items) - len(todo))
        # Unordered: an outcome is stored at once, and does not wait for a slower item.
        jobs = min(jobs, cpu_count())
        workers = Parallel(jobs, return_as="generator_unordered", pre_dispatch=f"{jobs + 2}")
        for outcome, caught in workers(delayed(_attempt)(experiment, item) for item in todo):
            for text in caught:
                # Other splits and methods give the same text with other numbers.
                said.setdefault((outcome.item.dataset, re.sub(r"\d+", "0", text)), text)
            if isinstance(outcome, FailedItem):
                results.failures.append(outcome)
            else:
                append(outcome)
                results.outcomes[outcome.item] = outcome
            item = outcome.item
            told.count("running, {}", f"{item.dataset}, split {item.split + 1}, {item.method}")
    results.warnings.extend(f"{dataset}: {text}" for (dataset, _), text in said.items())
    return results


def _keys(experiment: Experiment) -> dict[tuple[str, str], str]:
    keys = {}
    for dataset, names in experiment.plan.items():
        data, protocol = experiment.sources[dataset].load(), experiment.protocol_of(dataset)
        for name in names:
            keys[dataset, name] = outcome_key(data, experiment.methods[name], protocol)
    return keys


def _attempt(experiment: Experiment, item: Item) -> tuple[ItemOutcome | FailedItem, list[str]]:
    """Run an item; return its outcome and the warnings of hocmim."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HocmimWarning)
        outcome = _run_or_fail(experiment, item)
    texts = [str(one.message) for one in caught if issubclass(one.category, HocmimWarning)]
    for one in caught:
        if not issubclass(one.category, HocmimWarning):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return outcome, texts


def _run_or_fail(experiment: Experiment, item: Item) -> ItemOutcome | FailedItem:
    try:
        data = _load(experiment.sources[item.dataset])
        protocol = experiment.protocol_of(item.dataset)
        return run_item(data, item.split, experiment.methods[item.method], protocol)
    except HocmimError as error:
        return FailedItem(item, f"{error}")
    except (ValueError, ArithmeticError, MemoryError) as error:
        return FailedItem(item, f"{type(error).__name__}: {error}")


@lru_cache(maxsize=4)
def _load(source: AnySource) -> DataSet:
    return source.load()

"""Running the items without a result, in this process or in several."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from functools import lru_cache

from hocmim.errors import HocmimError
from hocmim.experiments.datasets import AnySource, DataSet
from hocmim.experiments.protocol import Item, Method, Outcome, Protocol, outcome_key, run_item
from hocmim.experiments.store import Store, check_keys

ITEMS_AHEAD = 2  # submitted beyond the running ones, so that no process waits


@dataclass(frozen=True)
class Experiment:
    """Data sets, methods, splits and the protocol of an experiment.

    Attributes
    ----------
    protocol : Protocol
    sources : dict of data set to AnySource
    methods : dict of title to Method
    n_splits : dict of data set to int
    plan : dict of data set to tuple of str
        The methods to run on each.
    """

    protocol: Protocol
    sources: Mapping[str, AnySource]
    methods: Mapping[str, Method]
    n_splits: Mapping[str, int]
    plan: Mapping[str, Sequence[str]]

    def items(self) -> list[Item]:
        """Return every item: the first split of every data set, then the second, …"""
        return [
            Item(split, dataset, method)
            for split in range(max(self.n_splits.values(), default=0))
            for dataset, methods in self.plan.items()
            if split < self.n_splits[dataset]
            for method in methods
        ]


@dataclass
class Progress:
    """The number of finished items, and an estimate of the remaining time.

    The time of an item is estimated by that of others with the same data set and method; if there
    are none, with the same data set; otherwise by the time for each cell of a table.
    """

    total: int
    sizes: Mapping[str, int]
    jobs: int = 1
    done: int = 0
    latest: str = ""
    _seconds: dict[tuple[str, ...], list[float]] = field(
        default_factory=lambda: defaultdict(list), repr=False
    )

    def learn(self, outcome: Outcome) -> None:
        """Record the time of an item."""
        item, seconds = outcome.item, outcome.total_seconds
        self._seconds[item.dataset, item.method].append(seconds)
        self._seconds[item.dataset,].append(seconds)
        self._seconds[()].append(seconds / self.sizes.get(item.dataset, 1))

    def seconds_left(self, items: Iterable[Item]) -> float | None:
        """Estimate the time of these items; None if no item is finished."""
        if not self._seconds[()]:
            return None
        return sum(self._expected(item) for item in items) / self.jobs

    def _expected(self, item: Item) -> float:
        for key in ((item.dataset, item.method), (item.dataset,)):
            if self._seconds[key]:
                return _mean(self._seconds[key])
        return _mean(self._seconds[()]) * self.sizes.get(item.dataset, 1)


@dataclass(frozen=True)
class Failure:
    """An item that raised an error."""

    item: Item
    message: str


@dataclass(frozen=True)
class Results:
    """The outcomes and the failures of an experiment."""

    outcomes: dict[Item, Outcome]
    failures: list[Failure]


Report = Callable[[Progress, float | None], None]


def run(
    experiment: Experiment, store: Store, *, jobs: int = 1, report: Report | None = None
) -> Results:
    """Run every item that is not in the store; append each outcome when it is finished.

    Parameters
    ----------
    experiment : Experiment
    store : Store
    jobs : int
        Number of processes. Never changes a result except times.
    report : callable
        Called with the progress and the remaining seconds after every item.
    """
    known = store.read()
    loaded = {name: source.load() for name, source in experiment.sources.items()}
    check_keys(known, _keys(experiment, loaded), store.path)
    sizes = {name: data.n_samples * data.n_features for name, data in loaded.items()}
    del loaded
    items = experiment.items()
    todo = [item for item in items if item not in known]
    progress = Progress(len(items), sizes, jobs, done=len(items) - len(todo))
    for item in items:
        if item in known:
            progress.learn(known[item])
    results = Results({item: known[item] for item in items if item in known}, [])
    with store.appending() as append:
        remaining = dict.fromkeys(todo)
        if report:
            report(progress, progress.seconds_left(remaining))
        for item, outcome in _outcomes(experiment, todo, jobs):
            del remaining[item]
            progress.done += 1
            progress.latest = f"{item.dataset}, split {item.split + 1}, {item.method}"
            if isinstance(outcome, Failure):
                results.failures.append(outcome)
            else:
                append(outcome)
                results.outcomes[item] = outcome
                progress.learn(outcome)
            if report:
                report(progress, progress.seconds_left(remaining))
    return results


def _keys(experiment: Experiment, loaded: Mapping[str, DataSet]) -> dict[tuple[str, str], str]:
    return {
        (dataset, name): outcome_key(loaded[dataset], experiment.methods[name], experiment.protocol)
        for dataset, names in experiment.plan.items()
        for name in names
    }


def _outcomes(
    experiment: Experiment, todo: list[Item], jobs: int
) -> Iterable[tuple[Item, Outcome | Failure]]:
    if jobs == 1 or len(todo) < 2:
        for item in todo:
            yield item, _attempt(experiment, item)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        jobs, context, initializer=_begin_worker, initargs=(experiment, os.getpid())
    ) as pool:
        try:
            yield from _in_pool(pool, todo, jobs)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _in_pool(
    pool: ProcessPoolExecutor, todo: list[Item], jobs: int
) -> Iterable[tuple[Item, Outcome | Failure]]:
    waiting = iter(todo)
    running: dict[Future[Outcome | Failure], Item] = {}

    def submit_some() -> None:
        for item in waiting:
            running[pool.submit(_work, item)] = item
            if len(running) >= jobs + ITEMS_AHEAD:
                return

    submit_some()
    while running:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), future.result()
        submit_some()


# --- in a worker process --------------------------------------------------------------------------

_experiment: Experiment | None = None


def _begin_worker(experiment: Experiment, parent: int) -> None:
    global _experiment
    _experiment = experiment
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, also if the parent was killed."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _work(item: Item) -> Outcome | Failure:
    assert _experiment is not None
    return _attempt(_experiment, item)


def _attempt(experiment: Experiment, item: Item) -> Outcome | Failure:
    try:
        data = _load(experiment.sources[item.dataset])
        return run_item(data, item.split, experiment.methods[item.method], experiment.protocol)
    except HocmimError as error:
        return Failure(item, f"{error}")
    except (ValueError, ArithmeticError, MemoryError) as error:
        return Failure(item, f"{type(error).__name__}: {error}")


@lru_cache(maxsize=4)
def _load(source: AnySource) -> DataSet:
    return source.load()


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

"""The engine of a Dask cluster: blocks of columns on its workers.

A block is a value on one worker, its criterion a memo on it: a function of the codes and of the
columns selected so far. It does not travel with the block, and is made anew, by taking in the
selected columns again, wherever a block arrives without it. So a worker that dies costs time and
never the answer. A step is one task a block: the newest column goes out, the two best candidates
come back.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from itertools import chain, count
from threading import Lock
from types import TracebackType
from typing import Any, NamedTuple, Self
from uuid import uuid4

import dask
import numpy as np
from distributed import Client, Future, KilledWorker, get_worker, wait
from distributed.client import FutureCancelledError, FuturesCancelledError

from hocmim.codes import NARROW_LEVELS, Codes, Column
from hocmim.counting import Values
from hocmim.criteria.base import Criterion
from hocmim.errors import ClusterError, InvalidParameterError

# A column up to this size goes out with the tasks themselves: one round trip less.
SMALL_COLUMN = 1 << 20
# The share of a worker's memory its codes may take; as much again is for bit planes and joint codes.
CODES_SHARE = 0.4
# The share of a worker's memory one block may take: what is moved, or lost, at a time.
BLOCK_SHARE = 0.1
# Between looks at whether the workers are still there.
CHECK_SECONDS = 2.0
# How long a cluster may be without workers, unless the Dask setting "hocmim.patience" says otherwise.
PATIENCE_SECONDS = 60.0
# A block lost this often within one step is not lost by chance.
MOST_LOSSES = 5


class WorkerLostError(Exception):
    """A worker with blocks on it is gone."""


Aside = tuple[int, ...]


# --- on the workers -------------------------------------------------------------------------------


class Leader(NamedTuple):
    """One of the best candidates of a block."""

    key: float
    index: int
    score: float
    details: dict[str, Any]


class Report(NamedTuple):
    """What a block has to say after a step.

    ``relevance`` of its columns only if it began anew.
    """

    leaders: list[Leader]
    n_terms: int = 0
    relevance: Values | None = None


class Block:
    """Some columns of the table on a worker, and what the criterion knows of them.

    Only the codes are pickled: a block that was moved, copied or spilled has no criterion.
    """

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self._criterion: Criterion | None = None
        self._n_absorbed = 0
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self.codes,)

    def __sizeof__(self) -> int:
        return self.codes.nbytes

    def begin(
        self,
        criterion: Criterion,
        y: Column,
        selected: Sequence[Column],
        aside: Aside,
        on_terms: Callable[[int], None] | None = None,
    ) -> Report:
        """Score the candidates given all these columns, from the beginning."""
        with self._lock:
            self._criterion = None
            criterion = criterion.spawn()
            criterion.on_terms = on_terms
            relevance = criterion.start(self.codes, y)
            return self._score(criterion, selected, 0, aside)._replace(relevance=relevance)

    def go_on(
        self,
        newest: Column | None,
        n_selected: int,
        aside: Aside,
        on_terms: Callable[[int], None] | None = None,
    ) -> Report | None:
        """Score the candidates given one column more; None if the state here is another."""
        with self._lock:
            is_newest_missing = self._n_absorbed == n_selected - 1
            if self._criterion is None or not (is_newest_missing or self._n_absorbed == n_selected):
                return None
            # An error at work must not leave a state that passes for a good one.
            criterion, self._criterion = self._criterion, None
            criterion.on_terms = on_terms
            columns = [newest] if newest is not None and is_newest_missing else []
            return self._score(criterion, columns, self._n_absorbed, aside)

    def _score(
        self, criterion: Criterion, newest: Sequence[Column], n_absorbed: int, aside: Aside
    ) -> Report:
        positions = np.array(aside, np.int64) - self.codes.start
        criterion.open[positions[(positions >= 0) & (positions < self.codes.n_columns)]] = False
        for column in newest:
            criterion.update(column)
        leaders = self._leaders(criterion)
        criterion.on_terms = None
        self._criterion, self._n_absorbed = criterion, n_absorbed + len(newest)
        return Report(leaders)

    def _leaders(self, criterion: Criterion) -> list[Leader]:
        """The two best candidates: the winner of the step and the runner-up may be here both."""
        leaders: list[Leader] = []
        while len(leaders) < 2 and (best := criterion.best()) is not None:
            details = criterion.describe(best.position)
            index = self.codes.start + best.position
            leaders.append(Leader(best.key, index, best.score, details))
            criterion.open[best.position] = False
        for leader in leaders:
            criterion.open[leader.index - self.codes.start] = True
        return leaders


class TermCounter:
    """Counts the terms of a task, and ends it when nobody waits for it any more."""

    def __init__(self) -> None:
        self.n_terms = 0
        worker = get_worker()
        self._task = worker.state.tasks[worker.get_current_task()]

    def __call__(self, n_terms: int) -> None:
        """Count."""
        self.n_terms += n_terms
        if self._task.state == "cancelled":
            raise CancelledError


def _begin(
    block: Block, criterion: Criterion, y: Column, selected: list[Column], aside: Aside
) -> Report:
    counter = TermCounter()
    report = block.begin(criterion, y, selected, aside, counter)
    return report._replace(n_terms=counter.n_terms)


def _go_on(block: Block, newest: Column | None, n_selected: int, aside: Aside) -> Report | None:
    counter = TermCounter()
    report = block.go_on(newest, n_selected, aside, counter)
    return report and report._replace(n_terms=counter.n_terms)


def _column(block: Block, index: int) -> Column:
    column = block.codes.column(index - block.codes.start)
    return Column(column.codes.copy(), column.arity, column.index)


# --- where the blocks are -------------------------------------------------------------------------


class Cluster:
    """A Client, with the errors and the patience of this package.

    Parameters
    ----------
    engine : "dask", distributed.Client or str
        "dask" for the Client that was made last, or the address of a scheduler.
    """

    def __init__(self, engine: Any) -> None:
        self._is_own = isinstance(engine, str) and engine != "dask"
        self.client = _client_of(engine)
        self._run = f"hocmim-{uuid4().hex[:12]}"
        self._numbers = count()
        self._patience = float(dask.config.get("hocmim.patience", PATIENCE_SECONDS))

    def close(self) -> None:
        """Close the client, if it was made here."""
        if self._is_own:
            self.client.close()

    def threads(self) -> dict[str, int]:
        """Address and threads of every worker; waits for the first."""
        began = time.monotonic()
        while not (threads := self._nthreads()):
            if time.monotonic() - began > self._patience:
                raise ClusterError(
                    f"The Dask cluster of {self._address} has had no workers for "
                    f"{self._patience:.0f} seconds. Start some and run again."
                )
            time.sleep(0.2)
        return dict(sorted(threads.items()))

    def _nthreads(self) -> dict[str, int]:
        try:
            return self.client.nthreads()
        except (OSError, TimeoutError, CancelledError) as error:
            raise self._lost_scheduler() from error

    def memory_limit(self) -> int:
        """The memory of the smallest worker; 0 if none has a limit."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return min((w["memory_limit"] for w in workers if w["memory_limit"]), default=0)

    def submit(self, function: Callable[..., Any], *arguments: Any, worker: str) -> Future:
        """A task on this worker and no other."""
        name = function.__name__.strip("_")
        return self.client.submit(
            function,
            *arguments,
            key=f"{name}-{self._run}-{next(self._numbers)}",
            workers=[worker],
            pure=False,
        )

    def scatter(self, values: list[Any], workers: Iterable[str]) -> list[Future]:
        """Values of the client's on each of these workers."""
        addresses = sorted(set(workers))
        if not values:
            return []
        try:
            return self.client.scatter(
                values, workers=addresses, broadcast=len(addresses) > 1, hash=False
            )
        except (OSError, TimeoutError, KeyError) as error:
            if self.client.status != "running":
                raise self._lost_scheduler() from error
            raise WorkerLostError from error

    def gather(self, futures: Sequence[Future], workers: Iterable[str]) -> list[Any]:
        """The results of tasks on these workers.

        Raises
        ------
        WorkerLostError
            If one of the workers is gone, or what a task needs went with one.
        ClusterError
            If the scheduler is gone, or a worker is paused for too long.
        """
        paused_since = time.monotonic()
        try:
            while True:
                try:
                    wait(futures, timeout=CHECK_SECONDS)
                    return self.client.gather(futures)
                except TimeoutError:
                    if not self._is_any_paused(set(workers)):
                        paused_since = time.monotonic()
                    if time.monotonic() - paused_since > self._patience:
                        raise self._paused() from None
        except (FutureCancelledError, FuturesCancelledError, CancelledError) as error:
            if self.client.status != "running" or "scheduler-connection-lost" in str(error):
                raise self._lost_scheduler() from error
            raise WorkerLostError from error
        except KilledWorker as error:
            raise ClusterError(
                f"The workers of the Dask cluster died one after the other on the same task: {error} "
                "They may have had too little memory; see their logs."
            ) from error

    def _is_any_paused(self, workers: set[str]) -> bool:
        """Whether one of the workers has stopped working for lack of memory."""
        if self.client.status != "running":
            raise self._lost_scheduler()
        if workers - self._nthreads().keys():
            raise WorkerLostError
        info = self.client.scheduler_info(n_workers=-1)["workers"]
        return any(info[w]["status"] == "paused" for w in workers & info.keys())

    @property
    def _address(self) -> str:
        scheduler = self.client.scheduler
        return scheduler.address if scheduler is not None else "an unknown address"

    def _paused(self) -> ClusterError:
        return ClusterError(
            f"A worker of the Dask cluster has been paused for {self._patience:.0f} seconds for lack "
            "of memory. Give the workers more memory, or take more of them."
        )

    def _lost_scheduler(self) -> ClusterError:
        return ClusterError(
            f"The connection to the Dask scheduler at {self._address} was lost. Start it again and "
            "run again; with checkpoint= the run goes on from the last selected column."
        )


def _client_of(engine: Any) -> Client:
    if isinstance(engine, Client):
        client = engine
    elif engine == "dask":
        try:
            client = Client.current()
        except ValueError as error:
            raise InvalidParameterError(
                "engine='dask' works on the Dask Client made last, and there is none. Make one, as "
                "by client = distributed.Client(), or pass the address of a scheduler, such as "
                "engine='tcp://10.0.0.1:8786'."
            ) from error
    else:
        try:
            return Client(engine, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"There is no Dask scheduler at {engine!r}: {error}. Check the address."
            ) from error
    if client.asynchronous:
        raise InvalidParameterError(
            "engine is an asynchronous Client. Pass one made without asynchronous=True."
        )
    return client


class Layout(NamedTuple):
    """Where each block begins, with the end of the last, and its worker."""

    bounds: list[int]
    workers: list[str]

    @classmethod
    def of(cls, column_bytes: Values, threads: dict[str, int], memory_limit: int) -> Layout:
        """One block a thread, or more where they would be too large for the workers' memory."""
        n_columns, total = len(column_bytes), float(column_bytes.sum())
        slots = [worker for worker, n_threads in threads.items() for _ in range(n_threads)]
        n_blocks = len(slots)
        if memory_limit:
            needed = total / CODES_SHARE
            if needed > memory_limit * len(threads):
                raise ClusterError(
                    f"The codes of X and counting them take about {needed / 1e9:.1f} GB, and the "
                    f"workers have {len(threads)} times {memory_limit / 1e9:.1f} GB. Take more "
                    "workers, or larger ones."
                )
            n_blocks = max(n_blocks, int(np.ceil(total / (BLOCK_SHARE * memory_limit))))
        n_blocks = min(n_columns, n_blocks)
        bounds = [i * n_columns // n_blocks for i in range(n_blocks + 1)]
        return cls(bounds, [slots[i * len(slots) // n_blocks] for i in range(n_blocks)])


class DaskCodes(ABC):
    """Codes in blocks on the workers of a cluster, as seen from the client.

    Attributes
    ----------
    n_samples, n_columns : int
    arity : ndarray of int64
    names : tuple of str, or None
    blocks : list of Future
    layout : Layout
    """

    blocks: list[Future]

    def __init__(
        self,
        cluster: Cluster,
        n_samples: int,
        arity: np.ndarray[Any, np.dtype[np.int64]],
        names: tuple[str, ...] | None,
    ) -> None:
        self.cluster = cluster
        self.n_samples = n_samples
        self.n_columns = len(arity)
        self.arity = arity
        self.names = names
        cell_bytes = np.where(arity <= NARROW_LEVELS, 1, 2)
        threads = cluster.threads()
        self.layout = Layout.of(cell_bytes * float(n_samples), threads, cluster.memory_limit())

    def block_of(self, index: int) -> int:
        """The number of the block a column is in."""
        return int(np.searchsorted(self.layout.bounds, index, side="right")) - 1

    def restore(self) -> None:
        """Move the blocks of workers that are gone to others, and make anew what was lost."""
        alive = list(self.cluster.threads())
        workers = self.layout.workers
        load = {worker: workers.count(worker) for worker in alive}
        for number, worker in enumerate(workers):
            if worker not in load:
                workers[number] = min(alive, key=load.__getitem__)
                load[workers[number]] += 1
            elif self.blocks[number].status not in ("cancelled", "lost", "error"):
                continue
            self.blocks[number] = self._make_block(number)

    @abstractmethod
    def _make_block(self, number: int) -> Future:
        """Put a block where the layout has it."""

    @abstractmethod
    def column(self, index: int) -> Column:
        """One column, brought to the client."""

    @abstractmethod
    def newest(self, index: int) -> Column | Future:
        """A column as an argument of a task on every block."""

    @abstractmethod
    def several(self, indices: Sequence[int], workers: Sequence[str]) -> list[Future]:
        """Columns as arguments of tasks on these workers."""

    def close(self) -> None:
        """Forget the blocks; the workers drop them."""
        self.blocks = []


class ScatteredCodes(DaskCodes):
    """Codes in the client's memory, and in blocks on the workers."""

    def __init__(self, cluster: Cluster, codes: Codes) -> None:
        super().__init__(cluster, codes.n_samples, codes.arity, codes.names)
        self._codes = codes
        self.blocks = [self._make_block(number) for number in range(len(self.layout.workers))]

    def _make_block(self, number: int) -> Future:
        start, stop = self.layout.bounds[number : number + 2]
        block = Block(self._codes.block(start, stop))
        return self.cluster.scatter([block], [self.layout.workers[number]])[0]

    def column(self, index: int) -> Column:
        """See DaskCodes."""
        return self._codes.column(index)

    def newest(self, index: int) -> Column | Future:
        """See DaskCodes."""
        column = self._codes.column(index)
        if column.codes.nbytes <= SMALL_COLUMN:
            return column
        return self.cluster.scatter([column], self.layout.workers)[0]

    def several(self, indices: Sequence[int], workers: Sequence[str]) -> list[Future]:
        """See DaskCodes."""
        return self.cluster.scatter([self._codes.column(j) for j in indices], workers)


# --- the engine -----------------------------------------------------------------------------------


class DaskEngine:
    """A criterion on blocks of columns on the workers of a Dask cluster.

    Parameters
    ----------
    codes : DaskCodes
        Closed with the engine.
    y : Column
    criterion : Criterion
        Copied for each block; itself never touched.
    on_terms : callable, optional
        Called with how many terms a step took.
    """

    def __init__(
        self,
        codes: DaskCodes,
        y: Column,
        criterion: Criterion,
        *,
        on_terms: Callable[[int], None] | None = None,
    ) -> None:
        self.codes = codes
        self.y = y
        self._cluster = codes.cluster
        self._criterion = criterion.spawn()
        self._on_terms = on_terms
        self._selected: list[int] = []
        self._aside: set[int] = set()
        # Keys of the blocks that know the criterion, unless they lost it.
        self._begun: set[str] = set()
        # What each block said last, given all selected columns; None if it was not asked yet.
        self._leaders: list[list[Leader]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.codes.close()

    def start(self) -> Values:
        """Hand every block to its criterion; return the relevance of every column."""
        self._begun.clear()
        parts = [report.relevance for report in self._ask()]
        return np.concatenate([part for part in parts if part is not None])

    def best(self) -> tuple[int, float] | None:
        """Return the column with the largest score, and its score; among equals the first."""
        if self._leaders is None or any(map(self._is_used_up, self._leaders)):
            self._ask()
        leaders = [leader for leader in self._known() if leader.index not in self._aside]
        if not leaders:
            return None
        best = max(leaders, key=lambda leader: (leader.key, -leader.index))
        return best.index, best.score

    def _known(self) -> Iterator[Leader]:
        return chain.from_iterable(self._leaders or ())

    def _is_used_up(self, leaders: list[Leader]) -> bool:
        """Whether a block may have candidates that it has not told of."""
        return len(leaders) == 2 and all(leader.index in self._aside for leader in leaders)

    def describe(self, index: int) -> dict[str, Any]:
        """What the criterion has to say of a column that ``best`` gave."""
        return next(leader.details for leader in self._known() if leader.index == index)

    def set_aside(self, index: int) -> None:
        """Take a column out of the candidates."""
        self._aside.add(index)

    def select(self, index: int) -> None:
        """Take a column out of the candidates and absorb it as the newest selected."""
        self.set_aside(index)
        self._selected.append(index)
        self._leaders = None

    def _ask(self) -> list[Report]:
        """Bring every block up to date with the selected columns and hear its best candidates."""
        for _ in range(MOST_LOSSES):
            try:
                reports = self._ask_blocks()
            except WorkerLostError:
                self.codes.restore()
                continue
            if self._on_terms is not None:
                self._on_terms(sum(report.n_terms for report in reports))
            self._leaders = [report.leaders for report in reports]
            return reports
        raise ClusterError(
            f"Workers of the Dask cluster were lost {MOST_LOSSES} times in one step. See their logs; "
            "they may have too little memory."
        )

    def _ask_blocks(self) -> list[Report]:
        blocks, aside = self.codes.blocks, tuple(sorted(self._aside))
        newest = self.codes.newest(self._selected[-1]) if self._selected else None
        reports: dict[int, Report | None] = dict.fromkeys(range(len(blocks)))
        known = [number for number, block in enumerate(blocks) if block.key in self._begun]
        rest = (newest, len(self._selected), aside)
        reports |= self._run(known, _go_on, *rest)
        missing = [number for number, report in reports.items() if report is None]
        if missing:
            workers = [self.codes.layout.workers[number] for number in missing]
            [y] = self._cluster.scatter([self.y], workers)
            selected = self.codes.several(self._selected, workers)
            reports |= self._run(missing, _begin, self._criterion, y, selected, aside)
            self._begun |= {blocks[number].key for number in missing}
        return [report for report in reports.values() if report is not None]

    def _run(
        self, numbers: Sequence[int], function: Callable[..., Any], *arguments: Any
    ) -> dict[int, Any]:
        """The results of a function of each of these blocks."""
        if not numbers:
            return {}
        workers = [self.codes.layout.workers[number] for number in numbers]
        futures = [
            self._cluster.submit(function, self.codes.blocks[number], *arguments, worker=worker)
            for number, worker in zip(numbers, workers, strict=True)
        ]
        try:
            return dict(zip(numbers, self._cluster.gather(futures, workers), strict=True))
        finally:
            for future in futures:
                future.release()

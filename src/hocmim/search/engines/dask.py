"""The engine of a Dask cluster: blocks of columns on its workers.

A block is a value on one worker, its criterion a memo on it: a function of the codes and of the
columns selected so far. It does not travel with the block, and is made anew, by taking in the
selected columns again, wherever a block arrives without it. So a worker that dies costs time and
never the answer. A step is one task a block: the newest column goes out, the two best candidates
come back.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, count
from threading import Lock
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar
from uuid import uuid4
from weakref import WeakSet

import dask
import numpy as np
import psutil
from dask.sizeof import sizeof
from distributed import Client, Future, KilledWorker, get_worker, wait
from distributed.comm import CommClosedError
from numpy.typing import NDArray

from hocmim.coding.codes import NARROW_LEVELS, Codes, Column, column_digests, fingerprint
from hocmim.coding.store import plane_bytes
from hocmim.criteria.base import Criterion
from hocmim.criteria.search import ONE_THREAD, EagerSearch
from hocmim.data.columns import Span
from hocmim.errors import ClusterError, InvalidParameterError
from hocmim.information.counting import Values
from hocmim.search.engines.remote import RemoteCodes

# A column up to this size goes out with the tasks themselves: one round trip less.
SMALL_COLUMN = 1 << 20
# The share of a worker's memory its codes may take; as much again is for bit planes and the like.
CODES_SHARE = 0.4
# The share of a worker's memory one block may take: what is moved, or lost, at a time.
BLOCK_SHARE = 0.1
# Between looks at whether the workers are still there.
CHECK_SECONDS = 2.0
# How long a cluster may do nothing, unless the setting "hocmim.patience" of Dask says otherwise.
PATIENCE_SECONDS = 60.0
# A block lost this often within one step is not lost by chance.
MOST_LOSSES = 5


class WorkerLostError(Exception):
    """A worker with blocks on it is gone."""


Aside = tuple[int, ...]
Result = TypeVar("Result")


# --- on the workers -------------------------------------------------------------------------------


class Leader(NamedTuple):
    """One of the best candidates of a block."""

    key: float
    column: int
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
    """Some columns of the table on a worker, and the state of the search there.

    Only the codes are pickled: a block that was moved, copied or spilled has no search.
    """

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self._search: EagerSearch | None = None
        self._n_selected = 0
        self._on_terms: Callable[[int], None] | None = None
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self.codes,)

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
            self._search, self._on_terms = None, on_terms
            search = criterion.plan.search([criterion.copy(self._after_terms)], ONE_THREAD)
            relevance = search.start([_with_planes_if_they_fit(self.codes)], y)
            return self._score(search, selected, 0, aside)._replace(relevance=relevance)

    def go_on(
        self,
        newest: Column | None,
        n_selected: int,
        aside: Aside,
        on_terms: Callable[[int], None] | None = None,
    ) -> Report | None:
        """Score the candidates given one column more; None if the state here is another."""
        with self._lock:
            is_newest_missing = self._n_selected == n_selected - 1
            if self._search is None or not (is_newest_missing or self._n_selected == n_selected):
                return None
            # After an error in the middle of a step the state must not be used again.
            search, self._search = self._search, None
            self._on_terms = on_terms
            columns = [newest] if newest is not None and is_newest_missing else []
            return self._score(search, columns, self._n_selected, aside)

    def _score(
        self, search: EagerSearch, newest: Sequence[Column], n_selected: int, aside: Aside
    ) -> Report:
        positions = np.array(aside, np.int64) - self.codes.start
        is_here = (positions >= 0) & (positions < self.codes.n_columns)
        search.set_open(0, positions[is_here], False)
        for column in newest:
            search.update(column)
        leaders = self._leaders(search)
        self._search, self._n_selected = search, n_selected + len(newest)
        return Report(leaders)

    def _after_terms(self, n_terms: int) -> None:
        """Report to the present task: a criterion keeps the function it was started with."""
        if self._on_terms is not None:
            self._on_terms(n_terms)

    def _leaders(self, search: EagerSearch) -> list[Leader]:
        """Return the two best candidates: this block may have the winner and the runner-up."""
        leaders: list[Leader] = []
        while len(leaders) < 2 and (found := search.best()) is not None:
            details = search.describe(0, found.position)
            index = self.codes.start + found.position
            leaders.append(Leader(found.key, index, found.score, details))
            search.set_open(0, found.position, False)
        search.set_open(0, [leader.column - self.codes.start for leader in leaders], True)
        return leaders


# What Dask is to know of their size: it moves and stores by it.
sizeof.register(Column, lambda column: column.codes.nbytes)
sizeof.register(Codes, lambda codes: codes.nbytes)
sizeof.register(Block, lambda block: block.codes.nbytes)


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


def _with_planes_if_they_fit(codes: Codes) -> Codes:
    """The codes, with bit planes only if these leave this worker half of its memory."""
    try:
        limit = get_worker().memory_manager.memory_limit
    except ValueError:  # not on a worker
        return codes
    taken = psutil.Process().memory_info().rss + plane_bytes(codes.arity, codes.n_samples)
    return codes if not limit or taken <= limit / 2 else replace(codes, planes=False)


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


def _digests(block: Block) -> NDArray[np.uint8]:
    return column_digests(block.codes)


# --- where the blocks are -------------------------------------------------------------------------


class Cluster:
    """A Client, with the errors and the patience of this package.

    Parameters
    ----------
    engine : "dask", distributed.Client or str
        "dask" for the Client that was made last, or the address of a scheduler.

    Attributes
    ----------
    threads : dict
        Address and threads of every worker there was at the last look.
    """

    def __init__(self, engine: Any) -> None:
        self._is_own = isinstance(engine, str) and engine != "dask"
        self.client = _client_of(engine)
        self._run = f"hocmim-{uuid4().hex[:12]}"
        self._numbers = count()
        # All that is on the workers for this run, to be dropped at its end whoever still holds it.
        self._futures: WeakSet[Future] = WeakSet()
        self._patience = float(dask.config.get("hocmim.patience", PATIENCE_SECONDS))
        self.threads: dict[str, int] = {}

    def __enter__(self) -> Self:
        try:
            self.look()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        for future in list(self._futures):
            future.release()
        if self._is_own:
            self.client.close()

    def engine(
        self,
        codes: Codes | RemoteCodes,
        y: Column,
        criterion: Criterion,
        on_terms: Callable[[int], None] | None = None,
    ) -> DaskEngine:
        """An engine on codes of the client's, or on codes that were made on the workers."""
        if isinstance(codes, Codes):
            codes = ScatteredCodes(self, codes)
        assert isinstance(codes, DaskCodes)
        return DaskEngine(codes, y, criterion, on_terms=on_terms)

    def look(self) -> None:
        """See which workers there are; wait for the first."""
        began = time.monotonic()
        while not (threads := self._nthreads()):
            if time.monotonic() - began > self._patience:
                raise self._stalled()
            time.sleep(0.2)
        self.threads = dict(sorted(threads.items()))

    def _nthreads(self) -> dict[str, int]:
        try:
            with self._errors():
                return self.client.nthreads()
        except OSError as error:
            raise self._lost_scheduler() from error

    def memory_limit(self) -> int:
        """The memory of the smallest worker; 0 if none has a limit."""
        workers = self._info().values()
        return min((w["memory_limit"] for w in workers if w["memory_limit"]), default=0)

    def _info(self) -> dict[str, dict[str, Any]]:
        """What the scheduler knows of each worker."""
        with self._errors():
            return self.client.scheduler_info(n_workers=-1)["workers"]

    def submit(
        self, function: Callable[..., Any], *arguments: Any, worker: str | None = None
    ) -> Future:
        """A task on this worker and no other, or on any."""
        name = function.__name__.strip("_")
        with self._errors():
            future = self.client.submit(
                function,
                *arguments,
                key=f"{name}-{self._run}-{next(self._numbers)}",
                workers=None if worker is None else [worker],
                pure=False,
            )
        self._futures.add(future)
        return future

    def compute(self, tasks: list[Any]) -> list[Future]:
        """Start tasks on the partitions of a Dask collection, on any worker."""
        with self._errors():
            futures: list[Future] = self.client.compute(tasks)
        self._futures.update(futures)
        return futures

    def scatter(self, values: list[Any], workers: Iterable[str]) -> list[Future]:
        """Values of the client's on each of these workers."""
        addresses = sorted(set(workers))
        if not values:
            return []
        try:
            with self._errors():
                futures: list[Future] = self.client.scatter(
                    values, workers=addresses, broadcast=len(addresses) > 1, hash=False
                )
        except (TimeoutError, KeyError) as error:  # there is no such worker any more
            raise WorkerLostError from error
        self._futures.update(futures)
        return futures

    def reliably(self, attempt: Callable[[], Result]) -> Result:
        """What the attempt returns; made again when a worker is lost in the middle of it."""
        for _ in range(MOST_LOSSES):
            try:
                return attempt()
            except WorkerLostError:
                self.look()
        raise ClusterError(
            f"Workers of the Dask cluster were lost {MOST_LOSSES} times in one step. They may have "
            "too little memory: see their logs."
        )

    def wait(self, futures: Sequence[Future], workers: Iterable[str] = ()) -> None:
        """Wait for tasks pinned to these workers, or to none.

        Raises
        ------
        WorkerLostError
            If one of the workers is gone, or what a task needs went with one.
        ClusterError
            If the scheduler is gone, or the workers do nothing for too long.
        """
        working = time.monotonic()
        while True:
            try:
                # wait() asks for the current client, and one opened by an address is not.
                with self._errors(), self.client.as_current():
                    wait(futures, timeout=CHECK_SECONDS)
                return
            except TimeoutError:
                if not self._is_stalled(set(workers)):
                    working = time.monotonic()
                elif time.monotonic() - working > self._patience:
                    raise self._stalled() from None

    def gather(self, futures: Sequence[Future], workers: Iterable[str] = ()) -> list[Any]:
        """The results of tasks: see ``wait``."""
        self.wait(futures, workers)
        with self._errors():
            return self.client.gather(list(futures))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Dask's errors as those of this package."""
        if self.client.status != "running":
            raise self._lost_scheduler()
        try:
            yield
        except (CancelledError, CommClosedError) as error:
            if self.client.status != "running" or "scheduler-connection-lost" in str(error):
                raise self._lost_scheduler() from error
            raise WorkerLostError from error
        except KilledWorker as error:
            raise ClusterError(
                f"Workers of the Dask cluster died one after the other on the same task: {error} "
                "They may have too little memory: see their logs."
            ) from error

    def _is_stalled(self, workers: set[str]) -> bool:
        """Whether nothing happens: no worker at all, or one of these has no memory left."""
        alive = self._nthreads()
        if workers - alive.keys():
            raise WorkerLostError
        info = self._info()
        return not alive or any(info[w]["status"] == "paused" for w in workers & info.keys())

    @property
    def _address(self) -> str:
        scheduler = self.client.scheduler
        return scheduler.address if scheduler is not None else "an unknown address"

    def _stalled(self) -> ClusterError:
        return ClusterError(
            f"The Dask cluster of {self._address} has done nothing for {self._patience:.0f} "
            "seconds: it has no workers, or some are paused for lack of memory. Start more of "
            "them, or larger ones."
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
            a_slot = int(np.ceil(total / (BLOCK_SHARE * memory_limit * len(slots))))
            n_blocks = len(slots) * max(1, a_slot)
        n_blocks = min(n_columns, n_blocks)
        bounds = [i * n_columns // n_blocks for i in range(n_blocks + 1)]
        return cls(bounds, [slots[i * len(slots) // n_blocks] for i in range(n_blocks)])


class DaskCodes(RemoteCodes):
    """Codes in blocks on the workers of a cluster, as seen from the client.

    Attributes
    ----------
    n_samples, n_columns : int
    arity : ndarray of int64
    layout : Layout
    blocks : list of Future or None
        None where a block is yet to be made, or was lost.
    """

    def __init__(self, cluster: Cluster, n_samples: int, arity: NDArray[np.int64]) -> None:
        self.cluster = cluster
        self.n_samples = n_samples
        self.n_columns = len(arity)
        self.arity = arity
        column_bytes = float(n_samples) * np.where(arity <= NARROW_LEVELS, 1, 2)
        self.layout = Layout.of(column_bytes, cluster.threads, cluster.memory_limit())
        self.blocks: list[Future | None] = [None] * len(self.layout.workers)

    @abstractmethod
    def _make_blocks(self, numbers: list[int]) -> None:
        """Put blocks where the layout has them."""

    @abstractmethod
    def newest(self, index: int) -> Column | Future:
        """A column as an argument of a task on every block."""

    @abstractmethod
    def several(self, indices: Sequence[int], workers: Sequence[str]) -> list[Future]:
        """Columns as arguments of tasks on these workers."""

    def span(self, number: int) -> Span:
        """The columns of a block."""
        return Span(*self.layout.bounds[number : number + 2])

    def block_of(self, index: int) -> int:
        """The number of the block a column is in."""
        return int(np.searchsorted(self.layout.bounds, index, side="right")) - 1

    def present(self) -> list[Future]:
        """Every block, made anew where it was lost, on another worker if its own is gone."""
        alive = list(self.cluster.threads)
        workers = self.layout.workers
        load = {worker: workers.count(worker) for worker in alive}
        missing = []
        for number, block in enumerate(self.blocks):
            if workers[number] not in load:
                workers[number] = min(alive, key=load.__getitem__)
                load[workers[number]] += 1
            elif block is not None and block.status in ("pending", "finished"):
                continue
            missing.append(number)
        if missing:
            self._make_blocks(missing)
        return [block for block in self.blocks if block is not None]

    def run(
        self, function: Callable[..., Any], *arguments: Any, numbers: Sequence[int] | None = None
    ) -> list[Any]:
        """The results of a function of each block, or of some, computed where they are."""
        blocks = self.present()
        if numbers is None:
            numbers = range(len(blocks))
        workers = [self.layout.workers[number] for number in numbers]
        futures = [
            self.cluster.submit(function, blocks[number], *arguments, worker=worker)
            for number, worker in zip(numbers, workers, strict=True)
        ]
        try:
            return self.cluster.gather(futures, workers)
        finally:
            for future in futures:
                future.release()


class ScatteredCodes(DaskCodes):
    """Codes in the client's memory, and in blocks on the workers."""

    def __init__(self, cluster: Cluster, codes: Codes) -> None:
        super().__init__(cluster, codes.n_samples, codes.arity)
        self._codes = codes

    def _make_blocks(self, numbers: list[int]) -> None:
        for number in numbers:
            block = Block(self._codes.block(*self.span(number)))
            [self.blocks[number]] = self.cluster.scatter([block], [self.layout.workers[number]])

    def column(self, index: int) -> Column:
        """See RemoteCodes."""
        return self._codes.column(index)

    def newest(self, index: int) -> Column | Future:
        """See DaskCodes."""
        column = self._codes.column(index)
        if column.codes.nbytes <= SMALL_COLUMN:
            return column
        return self.several([index], self.layout.workers)[0]

    def several(self, indices: Sequence[int], workers: Sequence[str]) -> list[Future]:
        """See DaskCodes."""
        return self.cluster.scatter([self._codes.column(j) for j in indices], workers)


class ComputedCodes(DaskCodes):
    """Codes that were made on the workers, and are nowhere else."""

    def __init__(self, cluster: Cluster, n_samples: int, arity: NDArray[np.int64]) -> None:
        super().__init__(cluster, n_samples, arity)
        self._columns: dict[int, Future] = {}
        self._fetched: dict[int, Column] = {}

    def column(self, index: int) -> Column:
        """See RemoteCodes."""
        if index not in self._fetched:
            [self._fetched[index]] = self.cluster.reliably(
                lambda: self.run(_column, index, numbers=[self.block_of(index)])
            )
        return self._fetched[index]

    def newest(self, index: int) -> Column | Future:
        """See DaskCodes."""
        return self.several([index], ())[0]

    def several(self, indices: Sequence[int], workers: Sequence[str]) -> list[Future]:
        """See DaskCodes: workers fetch them from each other."""
        blocks = self.present()
        for index in indices:
            known = self._columns.get(index)
            if known is None or known.status not in ("pending", "finished"):
                number = self.block_of(index)
                worker = self.layout.workers[number]
                self._columns[index] = self.cluster.submit(
                    _column, blocks[number], index, worker=worker
                )
        return [self._columns[index] for index in indices]


# --- the engine -----------------------------------------------------------------------------------


class DaskEngine:
    """A criterion on blocks of columns on the workers of a Dask cluster.

    Parameters
    ----------
    codes : DaskCodes
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
        self._criterion = criterion.copy()
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
        """Nothing to do: the cluster drops what is on its workers."""

    def fingerprint(self) -> str:
        """What tells this table and target from others."""
        digests = self.codes.cluster.reliably(lambda: self.codes.run(_digests))
        return fingerprint(np.concatenate(digests), self.y)

    def start(self) -> Values:
        """Hand every block to its criterion; return the relevance of every column."""
        self._begun.clear()
        parts = [report.relevance for report in self._ask()]
        return np.concatenate([part for part in parts if part is not None])

    def best(self) -> tuple[int, float] | None:
        """Return the column with the largest score, and its score; among equals the first."""
        if self._leaders is None or any(map(self._is_used_up, self._leaders)):
            self._ask()
        leaders = [leader for leader in self._known() if leader.column not in self._aside]
        if not leaders:
            return None
        best = max(leaders, key=lambda leader: (leader.key, -leader.column))
        return best.column, best.score

    def _known(self) -> Iterator[Leader]:
        return chain.from_iterable(self._leaders or ())

    def _is_used_up(self, leaders: list[Leader]) -> bool:
        """Whether a block may have candidates that it has not told of."""
        return len(leaders) == 2 and all(leader.column in self._aside for leader in leaders)

    def describe(self, index: int) -> dict[str, Any]:
        """What the criterion has to say of a column that ``best`` gave."""
        return next(leader.details for leader in self._known() if leader.column == index)

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
        reports = self.codes.cluster.reliably(self._ask_blocks)
        if self._on_terms is not None:
            self._on_terms(sum(report.n_terms for report in reports))
        self._leaders = [report.leaders for report in reports]
        return reports

    def _ask_blocks(self) -> list[Report]:
        codes, aside = self.codes, tuple(sorted(self._aside))
        keys = [block.key for block in codes.present()]
        reports: dict[int, Report | None] = dict.fromkeys(range(len(keys)))
        known = [number for number, key in enumerate(keys) if key in self._begun]
        if known:
            newest = codes.newest(self._selected[-1]) if self._selected else None
            told = codes.run(_go_on, newest, len(self._selected), aside, numbers=known)
            reports.update(zip(known, told, strict=True))
        behind = [number for number, report in reports.items() if report is None]
        if behind:
            workers = [codes.layout.workers[number] for number in behind]
            [y] = codes.cluster.scatter([self.y], workers)
            selected = codes.several(self._selected, workers)
            told = codes.run(_begin, self._criterion, y, selected, aside, numbers=behind)
            reports.update(zip(behind, told, strict=True))
            self._begun.update(keys[number] for number in behind)
        return [report for report in reports.values() if report is not None]

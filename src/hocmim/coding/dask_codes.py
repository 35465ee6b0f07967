"""Codes in blocks of columns on the workers of a Dask cluster."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np
import psutil
from dask.sizeof import sizeof
from distributed import Future, get_worker
from numpy.typing import NDArray

from hocmim.coding.codes import (
    NARROW_LEVELS,
    Codes,
    Column,
    RemoteCodes,
    column_digests,
    storage_places,
)
from hocmim.coding.dask_cluster import Cluster, Place
from hocmim.data.columns import Span
from hocmim.errors import ClusterError

# A column up to this size is an argument of the tasks; a larger one is copied to the workers first.
MAX_ARGUMENT_BYTES = 1 << 20
# Share of the memory of a worker for its codes; bit planes and counts take as much again.
CODES_SHARE = 0.4
# Share of the memory of a worker for all codes of a table: they are there twice while they arrive.
WHOLE_SHARE = 0.25
# Share of the memory of a worker for one block: the unit that is moved or lost.
BLOCK_SHARE = 0.1


class Block:
    """Some columns of the table on a worker, and what a search keeps with them.

    Only the codes are pickled: a block that was moved, copied or spilled has no search state.
    Whoever uses ``search`` holds ``lock``.
    """

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self.search: Any = None
        self.lock = Lock()
        all_blocks.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self.codes,)

    def column(self, index: int) -> Column:
        """Return a copy of a column, by its index in the whole table."""
        column = self.codes.column(index - self.codes.start)
        return Column(column.codes.copy(), column.arity, column.index)


class _Blocks:
    """The blocks of this process.

    A worker in a thread of the program that is closed before its tasks are released, as when the
    scheduler is lost, is kept by Dask until the interpreter ends, and so are the blocks on it.
    Their objects of the kernels have to go before: nanobind reports what is left then.
    """

    def __init__(self) -> None:
        self._blocks: WeakSet[Block] = WeakSet()
        self._lock = Lock()
        self.is_ending = False

    def add(self, block: Block) -> None:
        """Remember a block as long as it exists."""
        with self._lock:
            self._blocks.add(block)

    def end(self) -> None:
        """Stop the steps that run, and drop the state of all searches."""
        self.is_ending = True
        with self._lock:
            blocks = list(self._blocks)
        for block in blocks:
            with block.lock:
                block.search = None


all_blocks = _Blocks()
atexit.register(all_blocks.end)


# Dask uses these sizes to decide where to move and when to spill values.
sizeof.register(Column, lambda column: column.codes.nbytes)
sizeof.register(Codes, lambda codes: codes.nbytes)
sizeof.register(Block, lambda block: block.codes.nbytes)


class Layout(NamedTuple):
    """The bounds of the blocks (one more than there are blocks), and the worker of each."""

    bounds: list[int]
    workers: list[str]

    @classmethod
    def of(
        cls, column_bytes: NDArray[np.float64], threads: dict[str, int], memory_limit: int
    ) -> Layout:
        """Make one block for each thread, or more if they were too large for the workers."""
        n_columns, total = len(column_bytes), float(column_bytes.sum())
        slots = [worker for worker, n_threads in threads.items() for _ in range(n_threads)]
        n_blocks = len(slots)
        if memory_limit:
            needed = total / CODES_SHARE
            if needed > memory_limit * len(threads):
                raise ClusterError(
                    f"The search needs about {needed / 1e9:.1f} GB for the codes of X, but the "
                    f"workers have {len(threads)} times {memory_limit / 1e9:.1f} GB. Use more "
                    "workers, or larger ones."
                )
            per_slot = int(np.ceil(total / (BLOCK_SHARE * memory_limit * len(slots))))
            n_blocks = len(slots) * max(1, per_slot)
        n_blocks = min(n_columns, n_blocks)
        bounds = [i * n_columns // n_blocks for i in range(n_blocks + 1)]
        return cls(bounds, [slots[i * len(slots) // n_blocks] for i in range(n_blocks)])


def bytes_of_columns(arity: NDArray[np.int64], n_samples: int) -> NDArray[np.float64]:
    """Return the bytes of the codes of each column."""
    return float(n_samples) * np.where(arity <= NARROW_LEVELS, 1, 2)


def whole_on(cluster: Cluster, codes: Codes | RemoteCodes) -> Place | None:
    """Return the worker that can search all codes of a table; None if no worker can."""
    n_bytes = float(bytes_of_columns(codes.arity, codes.n_samples).sum())
    return cluster.largest(n_bytes / WHOLE_SHARE)


class DaskCodes:
    """Codes in blocks on the workers of a cluster: see RemoteCodes.

    ``make_blocks(codes, numbers)`` sets these elements of ``codes.blocks``, each on its worker of
    ``codes.layout``; an element is None if the block is not made yet, or was lost. ``local`` are
    the same codes, if they are in the memory of the client too.
    """

    def __init__(
        self,
        cluster: Cluster,
        n_samples: int,
        arity: NDArray[np.int64],
        make_blocks: Callable[[DaskCodes, list[int]], None],
        local: Codes | None = None,
    ) -> None:
        self.cluster = cluster
        self.n_samples = n_samples
        self.n_columns = len(arity)
        self.arity = arity
        column_bytes = bytes_of_columns(arity, n_samples)
        self.layout = Layout.of(column_bytes, cluster.threads, cluster.memory_limit())
        self.blocks: list[Future | None] = [None] * len(self.layout.workers)
        self._make_blocks = make_blocks
        self._local = local
        self._columns: dict[int, Future] = {}
        self._fetched: dict[int, Column] = {}

    @classmethod
    def scatter(cls, cluster: Cluster, codes: Codes) -> DaskCodes:
        """Copy codes of the client to the workers, in blocks."""

        def make_blocks(remote: DaskCodes, numbers: list[int]) -> None:
            for number in numbers:
                block = Block(codes.block(*remote.span(number)))
                worker = remote.layout.workers[number]
                [remote.blocks[number]] = cluster.scatter([block], [worker])

        return cls(cluster, codes.n_samples, codes.arity, make_blocks, codes)

    def span(self, number: int) -> Span:
        """Return the columns of a block."""
        return Span(*self.layout.bounds[number : number + 2])

    def block_of(self, index: int) -> int:
        """Return the number of the block of a column."""
        return int(np.searchsorted(self.layout.bounds, index, side="right")) - 1

    def present(self) -> list[Future]:
        """Return every block; make lost ones again, on another worker if theirs is gone."""
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
            self._make_blocks(self, missing)
        return [block for block in self.blocks if block is not None]

    def run(
        self, function: Callable[..., Any], *arguments: Any, numbers: Sequence[int] | None = None
    ) -> list[Any]:
        """Return the results of a function of each block, or of some, run on their workers."""
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

    def unite(self, worker: str) -> Future:
        """Bring all columns to one worker, as one block; return it."""
        if self.layout.workers == [worker] or len(self.blocks) == 1:
            self.layout.workers[:] = [worker]
            return self.present()[0]
        united = self.cluster.submit(_join_blocks, self.present(), worker=worker)
        self.cluster.wait([united], [worker])
        self.layout, self.blocks = Layout([0, self.n_columns], [worker]), [united]
        return united

    def column(self, index: int) -> Column:
        """Return one column, copied to this process."""
        if self._local is not None:
            return self._local.column(index)
        if index not in self._fetched:
            self._fetched[index] = self.column_once(index)
        return self._fetched[index]

    def column_once(self, index: int) -> Column:
        """Return one column; unlike ``column``, a copy is not kept for the next call."""
        if self._local is not None:
            return self._local.column(index)
        if index in self._fetched:
            return self._fetched[index]
        column: Column
        [column] = self.cluster.reliably(
            lambda: self.run(Block.column, index, numbers=[self.block_of(index)])
        )
        return column

    def digests(self) -> NDArray[np.uint8]:
        """Return a digest of each column."""
        return np.concatenate(self.cluster.reliably(lambda: self.run(_digest_columns)))

    def newest(self, index: int) -> Column | Future:
        """Return a column as an argument of a task on every block."""
        if self._local is not None:
            column = self._local.column(index)
            if column.codes.nbytes <= MAX_ARGUMENT_BYTES:
                return column
        return self.several([index], self.layout.workers)[0]

    def several(self, indices: Sequence[int], workers: Sequence[str]) -> list[Future]:
        """Return columns as arguments of tasks on these workers.

        Columns of the client are copied to the workers; workers copy others from each other.
        """
        if self._local is not None:
            return self.cluster.scatter([self._local.column(j) for j in indices], workers)
        blocks = self.present()
        for index in indices:
            known = self._columns.get(index)
            if known is None or known.status not in ("pending", "finished"):
                number = self.block_of(index)
                worker = self.layout.workers[number]
                self._columns[index] = self.cluster.submit(
                    Block.column, blocks[number], index, worker=worker
                )
        return [self._columns[index] for index in indices]


def _digest_columns(block: Block) -> NDArray[np.uint8]:
    return column_digests(block.codes)


def _join_blocks(blocks: list[Block]) -> Block:
    codes = [block.codes for block in blocks]
    arity = np.concatenate([block.arity for block in codes])
    narrow = np.concatenate([block.narrow for block in codes])
    wide = np.concatenate([block.wide for block in codes])
    return Block(Codes(narrow, wide, storage_places(arity), arity))


def current_task() -> Any:
    """Return the task of a Dask worker that this thread runs; None outside of workers."""
    try:
        worker = get_worker()
    except ValueError:
        return None
    return worker.state.tasks[worker.get_current_task()]


def raise_if_cancelled(task: Any) -> None:
    """Raise CancelledError if a task was cancelled, or if the interpreter ends."""
    if all_blocks.is_ending or (task is not None and task.state == "cancelled"):
        raise CancelledError


def fits_memory(n_bytes: int) -> bool:
    """Whether half of the memory of this worker is free once so many bytes are used."""
    try:
        limit = get_worker().memory_manager.memory_limit
    except ValueError:  # not on a worker
        return True
    return not limit or psutil.Process().memory_info().rss + n_bytes <= limit / 2

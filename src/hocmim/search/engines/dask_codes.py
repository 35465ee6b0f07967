"""Codes in blocks on the workers of a Dask cluster."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from distributed import Future
from numpy.typing import NDArray

from hocmim.coding.codes import NARROW_LEVELS, Codes, Column
from hocmim.data.columns import Span
from hocmim.errors import ClusterError
from hocmim.information.counting import Values
from hocmim.search.engines.cluster import Cluster
from hocmim.search.engines.dask_block import Block, copy_column
from hocmim.search.engines.remote import RemoteCodes

# A column up to this size is an argument of the tasks; a larger one is copied to the workers first.
MAX_ARGUMENT_BYTES = 1 << 20
# Share of the memory of a worker for its codes; bit planes and counts take as much again.
CODES_SHARE = 0.4
# Share of the memory of a worker for one block: the unit that is moved or lost.
BLOCK_SHARE = 0.1


class Layout(NamedTuple):
    """The bounds of the blocks (one more than there are blocks), and the worker of each."""

    bounds: list[int]
    workers: list[str]

    @classmethod
    def of(cls, column_bytes: Values, threads: dict[str, int], memory_limit: int) -> Layout:
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


class DaskCodes(RemoteCodes):
    """Codes in blocks on the workers of a cluster.

    Attributes
    ----------
    n_samples, n_columns : int
    arity : ndarray of int64
    layout : Layout
    blocks : list of Future or None
        None if a block is not made yet, or was lost.
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
        """Make blocks on the workers of the layout."""

    @abstractmethod
    def newest(self, index: int) -> Column | Future:
        """Return a column as an argument of a task on every block."""

    @abstractmethod
    def several(self, indices: Sequence[int], workers: Sequence[str]) -> list[Future]:
        """Return columns as arguments of tasks on these workers."""

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
            self._make_blocks(missing)
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


class ScatteredCodes(DaskCodes):
    """Codes in the memory of the client, copied to the workers in blocks."""

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
        if column.codes.nbytes <= MAX_ARGUMENT_BYTES:
            return column
        return self.several([index], self.layout.workers)[0]

    def several(self, indices: Sequence[int], workers: Sequence[str]) -> list[Future]:
        """See DaskCodes."""
        return self.cluster.scatter([self._codes.column(j) for j in indices], workers)


class ComputedCodes(DaskCodes):
    """Codes that are made on the workers, and exist only there."""

    def __init__(self, cluster: Cluster, n_samples: int, arity: NDArray[np.int64]) -> None:
        super().__init__(cluster, n_samples, arity)
        self._columns: dict[int, Future] = {}
        self._fetched: dict[int, Column] = {}

    def column(self, index: int) -> Column:
        """See RemoteCodes."""
        if index not in self._fetched:
            [self._fetched[index]] = self.cluster.reliably(
                lambda: self.run(copy_column, index, numbers=[self.block_of(index)])
            )
        return self._fetched[index]

    def newest(self, index: int) -> Column | Future:
        """See DaskCodes."""
        return self.several([index], ())[0]

    def several(self, indices: Sequence[int], workers: Sequence[str]) -> list[Future]:
        """See DaskCodes; workers copy the columns from each other."""
        blocks = self.present()
        for index in indices:
            known = self._columns.get(index)
            if known is None or known.status not in ("pending", "finished"):
                number = self.block_of(index)
                worker = self.layout.workers[number]
                self._columns[index] = self.cluster.submit(
                    copy_column, blocks[number], index, worker=worker
                )
        return [self._columns[index] for index in indices]

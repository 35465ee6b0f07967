"""A Dask cluster as the engine uses it: tasks, values on workers, and what happens on errors."""

from __future__ import annotations

import errno
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple, Self, TypeVar
from uuid import uuid4
from weakref import WeakSet

import dask
from distributed import Client, Future, KilledWorker, wait
from distributed.comm import CommClosedError, connect

from hocmim import _native
from hocmim.errors import ClusterError, InvalidParameterError

# Seconds between checks that the workers are alive.
CHECK_SECONDS = 2.0
# Seconds between reports while tasks run, and between checks whether to stop.
REPORT_SECONDS = 0.2
# Seconds a cluster may make no progress; the setting "hocmim.patience" of Dask overrides it.
PATIENCE_SECONDS = 60.0
# Seconds to open a connection from the client to a worker; behind a gateway there is none.
CONNECT_SECONDS = 1.0
# Attempts at one step; if workers are lost each time, the cause is not chance.
MAX_LOSSES = 5

Result = TypeVar("Result")


class WorkerLostError(Exception):
    """A worker with blocks on it is gone."""


class Place(NamedTuple):
    """A worker, with the threads of its machine and its memory in bytes."""

    threads: int
    memory: int
    worker: str


class Cluster:
    """A Client of Dask that raises the errors of this package and waits for slow workers.

    ``engine`` is a Client, "dask" for the Client that was made last, or the address of a scheduler.
    ``threads`` has the number of threads of every worker, as of the last ``find_workers``.
    """

    def __init__(self, engine: Any) -> None:
        self._is_own = isinstance(engine, str) and engine != "dask"
        self.client = _client_of(engine)
        self._run = f"hocmim-{uuid4().hex[:12]}"
        self._numbers = count()
        # Everything this run put on the workers; it is released at the end of the run.
        self._futures: WeakSet[Future] = WeakSet()
        self._patience = float(dask.config.get("hocmim.patience", PATIENCE_SECONDS))
        self.threads: dict[str, int] = {}
        self._reached: dict[str, bool] = {}

    def __enter__(self) -> Self:
        try:
            self.find_workers()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._close()

    def _close(self) -> None:
        for future in list(self._futures):
            future.release()
        if self._is_own:
            self.client.close()

    def find_workers(self) -> None:
        """Update ``threads``; wait for the first worker."""
        began = time.monotonic()
        while not (threads := self._nthreads()):
            if time.monotonic() - began > self._patience:
                raise self._stalled()
            time.sleep(0.2)
        self._check_versions(sorted(threads.keys() - self.threads.keys()))
        self.threads = dict(sorted(threads.items()))

    def _check_versions(self, workers: list[str]) -> None:
        """Raise an error if these workers have another version of hocmim."""

        def installed() -> str | None:  # pickled as code: hocmim may not be there
            from importlib import metadata

            try:
                return metadata.version("hocmim")
            except metadata.PackageNotFoundError:
                return None

        with self._errors():
            versions = self.client.run(installed, workers=workers, on_error="ignore")
        here = installed()
        for worker, there in sorted(versions.items()):
            if there not in (None, here):
                raise ClusterError(
                    f"The worker {worker} of the Dask cluster has hocmim {there}, and this process "
                    f"has hocmim {here}. Install the same version on all machines."
                )

    def _nthreads(self) -> dict[str, int]:
        try:
            with self._errors():
                return self.client.nthreads()
        except OSError as error:
            raise self._lost_scheduler() from error

    def largest(self, n_bytes: float) -> Place | None:
        """Return the worker for a search as a whole; None if these bytes do not fit into any.

        It uses the threads of all workers of its machine: they have nothing else to do.
        """
        workers = self._info()
        threads: Counter[str] = Counter()
        for worker in workers.values():
            threads[worker["host"]] += worker["nthreads"]
        places = [
            Place(threads[worker["host"]], worker["memory_limit"] or sys.maxsize, address)
            for address, worker in sorted(workers.items())
        ]
        return max((place for place in places if n_bytes <= place.memory), default=None)

    def memory_limit(self) -> int:
        """Return the memory of the smallest worker in bytes; 0 if there is no limit."""
        workers = self._info().values()
        return min((w["memory_limit"] for w in workers if w["memory_limit"]), default=0)

    def _info(self) -> dict[str, dict[str, Any]]:
        """Return the information of the scheduler about each worker.

        ``Client.scheduler_info`` may have none: the client updates it without workers, too.
        """
        with self._errors():
            return self.client.sync(self.client.scheduler.identity)["workers"]

    def submit(
        self, function: Callable[..., Any], *arguments: Any, worker: str | None = None
    ) -> Future:
        """Submit a task to this worker, or to any worker."""
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
        """Copy values of the client to each of these workers.

        They go through the scheduler, which takes two to ten times as long, only where the client
        cannot reach the workers.
        """
        addresses = sorted(set(workers))
        if not values:
            return []
        try:
            with self._errors():
                futures: list[Future] = self.client.scatter(
                    values,
                    workers=addresses,
                    broadcast=len(addresses) > 1,
                    direct=all(self._reaches(worker) for worker in addresses),
                    hash=False,
                )
        except (TimeoutError, KeyError) as error:  # the worker is gone
            raise WorkerLostError from error
        self._futures.update(futures)
        return futures

    def _reaches(self, worker: str) -> bool:
        """Whether this process can open a connection to a worker."""
        if worker not in self._reached:
            try:
                comm = self.client.sync(
                    connect, worker, timeout=CONNECT_SECONDS, **self.client.connection_args
                )
                comm.abort()
            except (OSError, CommClosedError):
                self._reached[worker] = False
            else:
                self._reached[worker] = True
        return self._reached[worker]

    def reliably(self, attempt: Callable[[], Result]) -> Result:
        """Return the result of a function; call it again if a worker was lost meanwhile."""
        for _ in range(MAX_LOSSES):
            try:
                return attempt()
            except WorkerLostError:
                self.find_workers()
        raise ClusterError(
            f"Workers of the Dask cluster were lost {MAX_LOSSES} times in one step. They may have "
            "too little memory: see their logs."
        )

    def wait(
        self,
        futures: Sequence[Future],
        workers: Iterable[str] = (),
        on_done: Callable[[int, int], None] | None = None,
    ) -> None:
        """Wait for tasks; those that are pinned to workers name them.

        ``on_done(done, total)`` is called with numbers of tasks, a few times a second. Raises
        WorkerLostError if one of the workers, or a value that a task needs, is lost; ClusterError
        if the scheduler is gone, or the workers make no progress for too long.
        """
        last_progress = checked = time.monotonic()
        stop_check = _native.stop_check()
        while True:
            try:
                # wait() uses the current client; a client opened by an address is not current.
                with self._errors(), self.client.as_current():
                    wait(futures, timeout=REPORT_SECONDS)
                if on_done is not None:
                    on_done(len(futures), len(futures))
                return
            except TimeoutError:
                if on_done is not None:
                    on_done(sum(future.done() for future in futures), len(futures))
                if stop_check is not None:
                    stop_check()
                if time.monotonic() - checked < CHECK_SECONDS:
                    continue
                checked = time.monotonic()
                if not self._is_stalled(set(workers)):
                    last_progress = time.monotonic()
                elif time.monotonic() - last_progress > self._patience:
                    raise self._stalled() from None

    def is_done(self, future: Future, worker: str, seconds: float) -> bool:
        """Wait so long for a task; whether it is done. WorkerLostError if the worker is gone."""
        try:
            with self._errors(), self.client.as_current():
                wait([future], timeout=seconds)
            return True
        except TimeoutError:
            if worker not in self._nthreads():
                raise WorkerLostError from None
            return False

    def ask(self, worker: str, function: Callable[..., Result], *arguments: Any) -> Result | None:
        """Return the result of a short function that a worker runs at once, beside its tasks.

        None if the worker does not answer.
        """
        with self._errors():
            answers = self.client.run(function, *arguments, workers=[worker], on_error="ignore")
        return answers.get(worker)

    def gather(
        self,
        futures: Sequence[Future],
        workers: Iterable[str] = (),
        on_done: Callable[[int, int], None] | None = None,
    ) -> list[Any]:
        """Return the results of tasks: see ``wait``."""
        self.wait(futures, workers, on_done)
        with self._errors():
            return self.client.gather(list(futures))

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise the errors of Dask as errors of this package."""
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
        except Exception as error:  # Dask passes on the error of a worker, or its text
            if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise ClusterError(
                    f"A worker of the Dask cluster cannot write to its disk: {error}. Free space "
                    "there, or start the workers with another --local-directory."
                ) from error
            if "ModuleNotFoundError" not in f"{type(error).__name__} {error}":
                raise
            raise ClusterError(
                f"A worker of the Dask cluster lacks a package: {error}. Install hocmim, the same "
                "version as here, and pyarrow on each worker."
            ) from error

    def _is_stalled(self, workers: set[str]) -> bool:
        """Whether there are no workers, or one of these is paused for lack of memory."""
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
            f"The Dask cluster at {self._address} has made no progress for "
            f"{self._patience:.0f} seconds: it has no workers, or some are paused for lack of "
            "memory. Start more workers, or larger ones."
        )

    def _lost_scheduler(self) -> ClusterError:
        return ClusterError(
            f"The connection to the Dask scheduler at {self._address} was lost. Restart it and run "
            "again; with checkpoint= the run continues from the last selected column."
        )


def _client_of(engine: Any) -> Client:
    if isinstance(engine, Client):
        client = engine
    elif engine == "dask":
        try:
            client = Client.current()
        except ValueError as error:
            raise InvalidParameterError(
                "engine='dask' uses the Dask Client that was made last, but there is none. Make "
                "one, for example with client = distributed.Client(), or pass the address of a "
                "scheduler, such as engine='tcp://10.0.0.1:8786'."
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
            "engine is an asynchronous Client. Pass a Client made without asynchronous=True."
        )
    return client

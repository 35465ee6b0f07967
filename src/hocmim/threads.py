"""How many threads to use, and threads that stop together."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import cache
from threading import Thread
from typing import Any, TypeVar

import joblib
from joblib.parallel import get_active_backend

from hocmim import _native
from hocmim.memory import affordable_threads
from hocmim.parameters import JOBS, check_value

SECONDS_BETWEEN_CHECKS = 0.05

Item = TypeVar("Item")
Result = TypeVar("Result")


def resolve_n_jobs(n_jobs: int | None, outside: int = -1) -> int:
    """Return how many threads ``n_jobs`` means here.

    A number means the same as in joblib; -1 is all cores. None follows the context: the ``n_jobs``
    of ``joblib.parallel_config``, at most all cores; without it 1 in a worker of joblib or in a
    task of Dask, which share the cores already; otherwise ``outside``.
    """
    check_value("n_jobs", n_jobs, JOBS)
    if n_jobs is not None:
        return int(joblib.effective_n_jobs(n_jobs))
    backend, n_in_context = get_active_backend()
    if n_in_context is not None:
        return min(int(backend.effective_n_jobs(n_in_context)), _n_cores())
    if (backend.nesting_level or 0) > 0 or _is_dask_task():
        return 1
    return _n_cores() if outside == -1 else outside


def _n_cores() -> int:
    """Return how many cores joblib finds for this process."""
    allowed = getattr(os, "sched_getaffinity", lambda _: ())(0)
    return _found_by_joblib(len(allowed), os.environ.get("LOKY_MAX_CPU_COUNT"))


@cache
def _found_by_joblib(n_allowed: int, limit: str | None) -> int:
    """Return ``joblib.cpu_count()``, which reads files: a tenth of the time of a small fit."""
    return int(joblib.cpu_count())


def _is_dask_task() -> bool:
    """Whether this thread runs a task of a Dask worker."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


class stopped_by(AbstractContextManager[None]):  # noqa: N801 (used as a function)
    """Within it, kernels of this thread call ``check`` from time to time; it may raise to stop.

    A class, because a search enters it several times a step and a generator takes longer.
    """

    __slots__ = ("_before", "_check")

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check

    def __enter__(self) -> None:
        self._before = _native.set_stop_check(self._check)

    def __exit__(self, *error: object) -> None:
        _native.set_stop_check(self._before)


def call_apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a long function of another package in a thread of its own, and return its result.

    Meanwhile this thread runs signal handlers and the check of the thread (``stopped_by``). If one
    of them raises, the call is left to itself: nothing can stop it, and its result is dropped. The
    function has to release the GIL, and must not change anything that is used afterwards.
    """
    outcome = _Call(lambda: function(*arguments))
    try:  # a daemon does not keep the interpreter from ending
        Thread(target=copy_context().run, args=(outcome.run,), daemon=True).start()
    except RuntimeError:  # the system allows no more threads
        outcome.run()
    check = _native.stop_check()
    while True:
        try:
            return outcome.result(timeout=SECONDS_BETWEEN_CHECKS)
        except TimeoutError:
            if outcome.done():  # the function raised it
                raise
        if check is not None:
            check()


class ThreadPool(AbstractContextManager["ThreadPool"]):
    """Threads for kernels that release the GIL. An error in one of them stops the others.

    Kernels look for the error about every 50 milliseconds (``core/interrupt.hpp``), so that Ctrl-C,
    a signal handler that raises, or a callback that raises ends all work at once.

    With one thread calls are made one after the other in this one. A limit on the address space may
    allow fewer than asked for. ``check`` is called from time to time by every thread; it may raise
    to stop all of them. The check of the thread that makes the pool (``stopped_by``), if it has
    one, is called as well.
    """

    def __init__(self, n_threads: int, check: Callable[[], None] | None = None) -> None:
        self.n_threads = n_threads = affordable_threads(n_threads)
        self._check, self._check_of_caller = check, _native.stop_check()
        self._pool = None
        if n_threads > 1:  # this thread is one of them
            self._pool = ThreadPoolExecutor(n_threads - 1, initializer=_native.prepare_thread)
        self._is_stopped = False
        self._error: BaseException | None = None  # the first

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End all calls, and wait for the threads."""
        self._is_stopped = True
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def raise_if_stopped(self) -> None:
        """Raise CancelledError if the results of this pool are not needed any more."""
        if self._is_stopped:
            raise CancelledError

    def check(self) -> None:
        """Raise if the pool is stopped, or if one of the checks raises: for ``stopped_by``."""
        self.raise_if_stopped()
        if self._check is not None:
            self._check()
        if self._check_of_caller is not None:
            self._check_of_caller()

    def map(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """Like the built-in map, with every thread. The calls begin at once.

        The thread that takes the results makes calls, too, while it waits for one.
        """
        if self._pool is None and self._check is None:
            return map(function, *arguments)
        if self._pool is None:
            return (self._call(function, given) for given in zip(*arguments, strict=False))
        if self._is_stopped:
            raise RuntimeError("This pool of threads is stopped.")
        calls = deque(
            _Call(lambda given=given: self._call(function, given))  # type: ignore[misc]
            for given in zip(*arguments, strict=False)
        )
        not_begun = calls.copy()
        for _ in range(min(self.n_threads, len(calls)) - 1):
            self._begin(not_begun)
        return self._results(calls, not_begun)

    def _begin(self, calls: deque[_Call]) -> None:
        """Let one more thread make calls. If none can be started, those that run do the work."""
        assert self._pool is not None
        try:
            self._pool.submit(_make_all, calls)
        except RuntimeError as error:
            if "start new thread" not in str(error):
                raise

    def _results(self, calls: deque[_Call], not_begun: deque[_Call]) -> Iterator[Any]:
        while calls:
            try:
                while not calls[0].done() and _make_next(not_begun):
                    pass
                result = calls.popleft().result()  # not kept once it is handed over
            except BaseException as error:  # of a call, or of a signal while waiting for it
                self._is_stopped = True
                if isinstance(error, CancelledError) and self._error is not None:
                    raise self._error from None
                raise
            yield result

    def _call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            self.raise_if_stopped()
            with stopped_by(self.check):
                return function(*arguments)
        except BaseException as error:
            if not self._is_stopped:
                self._error, self._is_stopped = error, True
            raise


def map_spans(
    function: Callable[[Item], Result],
    spans: Sequence[Item],
    n_jobs: int | None,
) -> list[Result]:
    """Return the results of a function for every span of work, in order, on several threads.

    An error or Ctrl-C ends the work of all threads.
    """
    if n_jobs == 1 or len(spans) <= 1:
        return [function(span) for span in spans]
    with ThreadPool(min(resolve_n_jobs(n_jobs, outside=1), len(spans))) as pool:
        return list(pool.map(function, spans))


class _Call(Future[Any]):
    """A call that is made once, by the thread that takes it."""

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__()
        self._function = function

    def run(self) -> None:
        """Make the call."""
        try:
            result = self._function()
        except BaseException as error:
            self.set_exception(error)
        else:
            self.set_result(result)
        finally:
            del self._function  # and what it holds


def _make_next(calls: deque[_Call]) -> bool:
    """Take the next call and make it; whether there was one. Threads may share the calls."""
    try:
        call = calls.popleft()
    except IndexError:
        return False
    call.run()
    return True


def _make_all(calls: deque[_Call]) -> None:
    while _make_next(calls):
        pass

"""How many threads to use, and threads that stop together."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import joblib
from joblib.parallel import get_active_backend

from hocmim import _native


def resolve_n_jobs(n_jobs: int | None, outside: int = -1) -> int:
    """Return how many threads ``n_jobs`` means here.

    A number means the same as in joblib; -1 is all cores. None follows the context: the ``n_jobs``
    of ``joblib.parallel_config``, at most all cores; without it 1 in a worker of joblib or in a
    task of Dask, which share the cores already; otherwise ``outside``.
    """
    if n_jobs is not None:
        return int(joblib.effective_n_jobs(n_jobs))
    backend, n_in_context = get_active_backend()
    if n_in_context is not None:
        return min(int(backend.effective_n_jobs(n_in_context)), int(joblib.cpu_count()))
    if (backend.nesting_level or 0) > 0 or _is_dask_task():
        return 1
    return int(joblib.cpu_count()) if outside == -1 else outside


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


@contextmanager
def stopped_by(check: Callable[[], None]) -> Iterator[None]:
    """Within it, kernels of this thread call ``check`` from time to time; it may raise to stop."""
    before = _native.set_stop_check(check)
    try:
        yield
    finally:
        _native.set_stop_check(before)


class ThreadPool:
    """Threads for kernels that release the GIL. An error in one of them stops the others.

    Kernels look for the error about every 50 milliseconds (``core/interrupt.hpp``), so that Ctrl-C,
    a signal handler that raises, or a callback that raises ends all work at once.

    Parameters
    ----------
    n_threads : int
        With 1 there is no other thread: calls are made one after the other in this one.
    check : callable, optional
        Called from time to time by every thread; it may raise to stop all of them. The check of
        the thread that makes the pool (``stopped_by``), if it has one, is called as well.
    """

    def __init__(self, n_threads: int, check: Callable[[], None] | None = None) -> None:
        self.n_threads = n_threads
        self._checks = [each for each in (check, _native.stop_check()) if each is not None]
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._is_stopped = False
        self._error: BaseException | None = None  # the first

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
        for check in self._checks:
            check()

    def map(self, function: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        """Like the built-in map, with every thread. The calls begin at once."""
        if self._pool is None:
            return (self._call(function, given) for given in zip(*arguments, strict=False))
        calls = [
            self._pool.submit(self._call, function, given)
            for given in zip(*arguments, strict=False)
        ]
        calls.reverse()
        return self._results(calls)

    def _results(self, calls: list[Future[Any]]) -> Iterator[Any]:
        while calls:  # a result is not kept once it is handed over
            try:
                result = calls.pop().result()
            except BaseException as error:  # of a call, or of a signal while waiting for it
                self._is_stopped = True
                for call in calls:
                    call.cancel()
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

"""Threads: how many n_jobs means, and that an error, a signal or a callback stops all of them."""

import os
import signal
import threading
import time
from concurrent.futures import CancelledError

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import hocmim
import warned
from hocmim import _native
from hocmim.threads import ThreadPool, call_apart, resolve_n_jobs, stopped_by
from interrupts import measure

# -- how many --------------------------------------------------------------------------------------


def test_none_outside_any_context():
    assert resolve_n_jobs(None) == joblib.cpu_count()
    assert resolve_n_jobs(None, outside=1) == 1


@pytest.mark.parametrize("outside", [1, -1])
def test_none_follows_the_context(outside):
    with joblib.parallel_config(n_jobs=1):
        assert resolve_n_jobs(None, outside) == 1
    with joblib.parallel_config(n_jobs=-1):
        assert resolve_n_jobs(None, outside) == joblib.cpu_count()
    with joblib.parallel_config(n_jobs=10**6):
        assert resolve_n_jobs(None, outside) == joblib.cpu_count()


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_none_is_one_thread_in_a_worker(backend):
    found = joblib.Parallel(n_jobs=2, backend=backend)(
        joblib.delayed(resolve_n_jobs)(n_jobs) for n_jobs in (None, None, 1, 3)
    )
    assert found == [1, 1, 1, 3]


@pytest.mark.filterwarnings(warned.PORT)
def test_none_is_one_thread_in_a_task_of_dask():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"
    ) as client:
        assert client.submit(resolve_n_jobs, None).result() == 1
    assert resolve_n_jobs(None) == joblib.cpu_count()


def threads_of_fit(estimator, X, y):
    """As a scorer: how many threads the fit of the selector could use."""
    return estimator[0].n_threads_


class Recorder(hocmim.JMI):
    """JMI that records how many threads its fit could use."""

    def fit(self, X, y):
        self.n_threads_ = resolve_n_jobs(self.n_jobs)
        return super().fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_grid_search_of_two_jobs_uses_two_threads(backend):
    rng = np.random.default_rng(17)
    X, y = rng.integers(4, size=(80, 12)), rng.integers(2, size=80)
    grid = {"recorder__n_features_to_select": [2, 5]}
    search = GridSearchCV(
        make_pipeline(Recorder(), GaussianNB()), grid, cv=2, scoring=threads_of_fit, n_jobs=2
    )
    with joblib.parallel_config(backend=backend):
        search.fit(X, y)
    assert search.cv_results_["mean_test_score"].tolist() == [1, 1]
    alone = hocmim.JMI(search.best_params_["recorder__n_features_to_select"]).fit(X, y)
    assert search.best_estimator_[0].selected_.tolist() == alone.selected_.tolist()


# -- a pool ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 3])
def test_map_keeps_the_order(n_threads):
    with ThreadPool(n_threads) as pool:
        assert list(pool.map(lambda a, b: a - b, range(9), range(1, 10))) == [-1] * 9
        assert list(pool.map(abs, [])) == []


# Seconds after which a fit would still be far from its end.
LONG = 20
columns = np.random.default_rng(0).integers(4, size=(20_000, 400))


def long_fit(n_jobs, **more):
    """A search of a minute or more."""
    hocmim.JMI4(30, n_jobs=n_jobs).fit(columns, columns[:, 0] % 2, **more)


@pytest.mark.parametrize("is_first", [True, False])
def test_an_error_in_one_thread_stops_the_others(is_first):
    def work(is_bad):
        if is_bad:
            time.sleep(0.3)
            raise ZeroDivisionError
        long_fit(1)

    began = time.monotonic()
    with ThreadPool(2) as pool, pytest.raises(ZeroDivisionError):
        list(pool.map(work, [is_first, not is_first]))
    assert time.monotonic() - began < LONG


def test_a_pool_that_is_stopped_makes_no_more_calls():
    pool = ThreadPool(2)
    pool.stop()
    with pytest.raises(RuntimeError):
        pool.map(abs, [1])
    with pytest.raises(CancelledError):
        pool.raise_if_stopped()


class Stop(BaseException):
    """Raised to stop a fit."""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_check_stops_kernels(n_jobs):
    end = time.monotonic() + 0.3

    def check():
        if time.monotonic() > end:
            raise Stop

    with stopped_by(check), pytest.raises(Stop):
        list(ThreadPool(n_jobs).map(long_fit, [1, 1]))
    assert time.monotonic() - end < LONG


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_handler_that_raises_stops_a_fit(n_jobs):
    def handler(*_):
        raise Stop

    before = signal.signal(signal.SIGUSR1, handler)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    began = time.monotonic()
    try:
        with pytest.raises(Stop):
            long_fit(n_jobs)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert time.monotonic() - began < LONG


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_that_raises_stops_a_fit(n_jobs):
    end = time.monotonic() + 1

    def callback(event):
        if time.monotonic() > end:
            raise Stop

    with pytest.raises(Stop):
        long_fit(n_jobs, progress=callback)
    assert time.monotonic() - end < LONG


# -- every method ----------------------------------------------------------------------------------

# Against a call that runs to its end, not a measure of speed.
WAIT_SECONDS = 30


EVERY_KIND = ["HOCMIM-R", "HOCMIM", "JMI", "JMI-4", "CMICOT", "ReliefF", "NCA", "FS-OLS", "ILFS"]
# Besides the methods.
OTHERS = ["encode", "StabilitySelector", "SelectorCV", "compare_methods", "report"]


@pytest.mark.slow
@pytest.mark.parametrize("method", [*EVERY_KIND, *OTHERS])
def test_control_c_stops_every_method(method):
    wait = measure(method, 20_000, 500, after=0.5, how="SIGINT")
    if wait.seconds is None:
        pytest.skip("the method ended before")
    assert wait.seconds < WAIT_SECONDS


# Kernels of a search, of a filter, and a call of another package.
@pytest.mark.slow
@pytest.mark.parametrize("how", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("method", ["HOCMIM", "JMI-4", "ReliefF", "FS-OLS"])
def test_other_signals_stop_a_method(method, how):
    wait = measure(method, 20_000, 500, after=0.5, how=how)
    assert wait.seconds is not None
    assert wait.seconds < WAIT_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("method", ["HOCMIM", "JMI-4", "SelectorCV"])
def test_a_progress_function_that_raises_stops_a_method(method):
    wait = measure(method, 20_000, 500, after=0.5, how="callback")
    assert wait.seconds is not None
    assert wait.seconds < WAIT_SECONDS


# -- threads that cannot be started ----------------------------------------------------------------


@pytest.mark.parametrize("n_started", [0, 1, 2])
def test_fewer_threads_where_no_more_can_be_started(monkeypatch, n_started):
    start, started = threading.Thread.start, []

    def start_some(thread):
        if len(started) >= n_started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    with ThreadPool(4) as pool:
        assert list(pool.map(lambda a, b: a + b, range(50), range(50))) == list(range(0, 100, 2))
        with pytest.raises(ZeroDivisionError):
            list(pool.map(lambda a: 1 // a, [2, 1, 0, 3]))
    assert len(started) == n_started


def test_a_fit_without_new_threads_selects_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3000)), rng.integers(0, 2, 400)
    expected = hocmim.RobustHOCMIM(5, n_jobs=4).fit(X, y)

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    found = hocmim.RobustHOCMIM(5, n_jobs=4).fit(X, y)
    assert found.selected_.tolist() == expected.selected_.tolist()
    assert found.scores_.tolist() == expected.scores_.tolist()


# -- calls of other packages -----------------------------------------------------------------------


def test_a_call_apart_returns_the_result_and_raises_the_error():
    assert call_apart(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        call_apart(divmod, 7, 0)
    with pytest.raises(TimeoutError, match="own"):
        call_apart(raise_timeout)


def raise_timeout():
    raise TimeoutError("own")


def test_a_check_that_raises_ends_the_wait_for_a_call_apart():
    may_end = threading.Event()
    n_checks = []

    def check():
        n_checks.append(1)
        if len(n_checks) == 3:
            raise Stop

    try:
        with stopped_by(check), pytest.raises(Stop):
            call_apart(may_end.wait, LONG)
        assert not may_end.is_set()
    finally:
        may_end.set()


def test_stop_checks_are_nested():
    with stopped_by(int):
        with stopped_by(float):
            assert _native.stop_check() is float
        assert _native.stop_check() is int
    assert _native.stop_check() is None


def test_a_call_apart_without_a_new_thread(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert call_apart(divmod, 7, 2) == (3, 1)

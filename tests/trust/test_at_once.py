"""Selectors in many threads and processes at once give the results of one."""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import joblib
import numpy as np
import pytest

import hocmim
import warned

# A search by bounds, one by lazy terms, one by teams, and a filter.
METHODS = {
    "HOCMIM-R": hocmim.RobustHOCMIM(4),
    "HOCMIM": hocmim.HOCMIM(4),
    "CMIM": hocmim.CMIM(4),
    "CMICOT": hocmim.CMICOT(3),
    "ReliefF": hocmim.ReliefF(4),
}
HANG_SECONDS = 240


def make_table(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 30))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)


def fit(name, seed, n_jobs=2):
    selector = METHODS[name]
    options = {"n_jobs": n_jobs} if "n_jobs" in selector.get_params() else {}
    fitted = type(selector)(**{**selector.get_params(), **options}).fit(*make_table(seed))
    return fitted.selected_.tolist(), fitted.scores_.tolist()


TASKS = [(name, seed) for seed in range(3) for name in METHODS]


@pytest.fixture(scope="module")
def expected():
    return [fit(*task, n_jobs=1) for task in TASKS]


def test_several_selectors_in_many_threads(expected):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fit, *zip(*TASKS, strict=True), timeout=HANG_SECONDS))
    assert found == expected


@pytest.mark.parametrize("name", ["HOCMIM-R", "CMIM"])
def test_one_selector_is_fitted_by_many_threads(name):
    X, y = make_table(0)
    selector = METHODS[name].set_params(n_jobs=2)
    alone = fit(name, 0)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: selector.fit(X, y), range(6), timeout=HANG_SECONDS))
    assert (selector.selected_.tolist(), selector.scores_.tolist()) == alone


def test_a_fitted_selector_is_used_by_many_threads():
    X, y = make_table(0)
    fitted = hocmim.RobustHOCMIM(4).fit(X, y)
    columns = X[:, np.sort(fitted.selected_)]
    words = str(fitted.explain(7, X))

    def use(number):
        return str(fitted.explain(7, X)) if number % 4 == 0 else fitted.transform(X)

    with ThreadPoolExecutor(8) as pool:
        for number, found in enumerate(pool.map(use, range(16), timeout=HANG_SECONDS)):
            assert found == words if number % 4 == 0 else (found == columns).all()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_after_use(method, expected):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{sys.platform} has no {method}")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        found = list(pool.map(fit, *zip(*TASKS, strict=True), timeout=HANG_SECONDS))
    assert found == expected


@pytest.mark.slow
@pytest.mark.filterwarnings(warned.PORT)
@pytest.mark.parametrize("backend", ["loky", "threading", "dask"])
def test_backends_of_joblib(backend, expected):
    work = [joblib.delayed(fit)(*task) for task in TASKS]
    if backend != "dask":
        assert joblib.Parallel(2, backend=backend, timeout=HANG_SECONDS)(work) == expected
        return
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 2}
    with (
        distributed.Client(**options, dashboard_address=":0"),
        joblib.parallel_config(backend="dask"),
    ):
        assert joblib.Parallel()(work) == expected

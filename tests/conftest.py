"""Fixtures for all tests, and which files one process runs."""

import gc

import pytest

# The tests of each of these files share an expensive fixture: a cluster, a browser, a build.
TOGETHER = (
    "insight/report/test_in_chromium.py",
    "coding/test_encoded.py",
    "search/test_constraints.py",
    "search/test_dask.py",
    "test_docs.py",
    "test_types.py",
    "trust/test_page_safety.py",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let one process run all tests of a file in ``TOGETHER``.

    The mark xdist_group has no effect with pytest 9.2 and pytest-xdist 3.8.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return file if file.endswith(TOGETHER) else nodeid

    return Scheduling(config, log)


@pytest.fixture(params=[False, True], ids=["threads for long searches", "threads always"])
def threads(request, monkeypatch):
    """Run with and without threads: the tables of tests are too small to get threads by default."""
    if request.param:
        monkeypatch.setattr("hocmim.criteria.searches.MIN_SECONDS_FOR_THREADS", 0.0)


@pytest.fixture
def no_collector():
    """Without the garbage collector, which frees objects that refer to each other, but late."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()

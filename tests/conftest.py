"""Fixtures for all tests."""

import pytest


@pytest.fixture(params=[False, True], ids=["threads for long searches", "threads always"])
def threads(request, monkeypatch):
    """Run with and without threads: the tables of tests are too small to get threads by default."""
    if request.param:
        monkeypatch.setattr("hocmim.criteria.search.MIN_SECONDS_FOR_THREADS", 0.0)

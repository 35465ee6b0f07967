"""Fixtures for all tests."""

import pytest


@pytest.fixture(params=[False, True], ids=["threads that pay", "threads always"])
def threads(request, monkeypatch):
    """Tables of tests are too small for a lazy criterion to get threads by itself."""
    if request.param:
        monkeypatch.setattr("hocmim.criteria.search.MIN_SECONDS_FOR_THREADS", 0.0)

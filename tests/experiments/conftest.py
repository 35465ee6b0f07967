"""Small data sets of the paper's sizes, and outcomes made up or computed once."""

import pytest
from made_up import make_arrays

from hocmim.experiments.datasets import DataSource, make_data_set, save
from hocmim.experiments.protocol import Method, Protocol
from hocmim.experiments.run import Experiment
from published_data import find_published_data


@pytest.fixture
def small_experiment(tmp_path):
    """Two made-up sets, three methods, two splits: twelve items of milliseconds each."""
    for name, seed in (("one", 0), ("two", 1)):
        save(make_data_set(name, *make_arrays(seed=seed)), tmp_path / "data")
    sources = {name: DataSource(name, tmp_path / "data" / f"{name}.npz") for name in ("one", "two")}
    methods = ("HOCMIM", "JMI", "Fisher")
    return Experiment(
        Protocol(n_features=4),
        sources,
        {name: Method(name) for name in methods},
        dict.fromkeys(sources, 2),
        dict.fromkeys(sources, methods),
    )


@pytest.fixture
def published_data():
    """The folder of the paper's data sets; the test is skipped where they are missing."""
    return find_published_data()

"""Data for the filter tests."""

import numpy as np
import pytest

from published_data import find_published_data


@pytest.fixture
def rng():
    return np.random.default_rng(20220601)


@pytest.fixture
def table(rng):
    """Sixty samples of three classes; columns with and without ties, and a constant one."""
    y = np.repeat(np.arange(3, dtype=np.int32), [10, 20, 30])
    rng.shuffle(y)
    X = np.column_stack(
        [
            rng.normal(size=60) + y,
            rng.integers(0, 4, 60),
            rng.normal(size=60) * 1e-9 + 1e6,
            np.full(60, 7.25),
            np.round(rng.exponential(size=60) + 0.5 * (y == 1), 1),
            rng.normal(size=60),
            rng.integers(0, 2, 60),
        ]
    )
    return X.astype(float), y


@pytest.fixture
def published_data():
    """A reader of the paper's data sets; the test is skipped where they are missing."""
    folder = find_published_data()

    def read(name):
        with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
            return file["X"].astype(float), file["y"].astype(np.int32)

    return read

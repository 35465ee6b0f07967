"""Rows that repeat another row: counted by value, and said where chance does not explain them."""

import numpy as np
import pandas as pd
import pytest

from hocmim import MIM, RobustHOCMIM, check_table
from hocmim.errors import DataWarning


def numbers(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(2, size=n), rng


def repeated(X, y=None):
    found = [one for one in check_table(X, y) if one.kind == "duplicates"]
    return int(found[0].sentence.split()[0].replace(",", "")) if found else 0


@pytest.mark.parametrize("n_copies", [0, 4, 5, 200])
def test_copies_are_counted_from_one_percent_on(n_copies):
    X, y, _ = numbers()
    rows = np.r_[np.arange(400), np.arange(n_copies)]
    assert repeated(X[rows], y[rows]) == (n_copies if n_copies > 4 else 0)


def test_they_are_those_of_pandas():
    X, y, rng = numbers(2000, 3)
    frame = pd.DataFrame(X.round(1)).add_prefix("x")
    frame["city"] = rng.choice([f"city {i}" for i in range(300)], 2000)  # pooled in the codes
    frame["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(50, size=2000), "D")
    frame.loc[::9, "x0"] = np.nan
    rows = np.sort(np.r_[np.arange(2000), rng.integers(2000, size=500)])
    frame, y = frame.iloc[rows], y[rows]
    assert repeated(frame, y) == frame.assign(y=y).duplicated().sum() == 500


def test_a_row_that_differs_in_the_target_or_within_a_bin_is_no_copy():
    X, y, _ = numbers()
    rows = np.r_[np.arange(400), np.arange(100)]
    copies = y[rows]
    copies[400:] = 1 - copies[400:]
    assert repeated(X[rows], copies) == 0
    moved = X[rows]
    moved[400:] += 1e-9
    assert repeated(moved, y[rows]) == 0
    quantity = np.linspace(0, 1, 500)
    assert repeated(X[rows], quantity) == 0


@pytest.mark.parametrize("is_dependent", [False, True])
def test_few_levels_are_equal_by_chance(is_dependent):
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=1000)
    X = rng.integers(2, size=(1000, 8))
    if is_dependent:
        X = np.where(rng.random(X.shape) < 0.8, y[:, None], X)
    assert pd.DataFrame(X).assign(y=y).duplicated().sum() > 400
    assert repeated(X, y) == 0


def test_fit_says_so_unless_weights_or_groups_do(recwarn):
    X, y, _ = numbers()
    rows = np.r_[np.arange(400), np.arange(100)]
    with pytest.warns(DataWarning, match="100 of 500 rows repeat another row.*too sure.*groups"):
        RobustHOCMIM("significant").fit(X[rows], y[rows])
    recwarn.clear()
    MIM(2).fit(X[rows], y[rows], groups=np.r_[np.arange(400), np.arange(100)])
    MIM(2).fit(X, y, sample_weight=1 + (np.arange(400) < 100))
    assert not [one for one in recwarn if "repeat" in str(one.message)]


def test_a_file_is_compared_by_codes(tmp_path):
    X, y, _ = numbers(d=12)
    rows = np.r_[np.arange(400), np.arange(100)]
    path = tmp_path / "copies.parquet"
    pd.DataFrame(X[rows]).add_prefix("x").assign(y=y[rows]).to_parquet(path)
    with pytest.warns(DataWarning, match="100 of 500 rows repeat another row: all codes are equal"):
        RobustHOCMIM(2).fit(path, "y")

"""How a feature was encoded: cut points that differ, the rows of each bin, and sentences."""

import numpy as np
import pandas as pd
import pytest

from hocmim import HOCMIM, JMI
from hocmim.insight.encoding import describe_bins, format_cuts

N = 100
Y = np.arange(N) % 2


def encodings(frame, y=Y, **parameters):
    selector = JMI(2, **parameters).fit(frame, y)
    return {name: selector.explain(name, frame).encoding for name in frame.columns}


@pytest.mark.parametrize(
    ("cuts", "shown"),
    [
        ([], []),
        ([0.0], ["0"]),
        ([1.0, 2.0, 10.0], ["1", "2", "10"]),
        ([0.1 + 0.2, 1 / 3], ["0.3", "0.3333"]),
        ([12345.678, 99999.9], ["12346", "100000"]),
        ([100.0001, 100.0002], ["100.0001", "100.0002"]),
        ([-0.00871234, 1.0], ["-0.008712", "1"]),
        ([1.6e18, 1.7e18], ["1.6e+18", "1.7e+18"]),
        ([1.23456e-12, 1.0], ["1.235e-12", "1"]),
        ([-1.7e308, 1.7e308], ["-1.7e+308", "1.7e+308"]),
    ],
)
def test_cut_points_are_rounded(cuts, shown):
    assert format_cuts(cuts) == shown


def test_different_cut_points_look_different():
    rng = np.random.default_rng(0)
    for scale in (1e-300, 1e-9, 1.0, 1e9, 1e300):
        for closeness in (1.0, 1e-3, 1e-9):
            cuts = np.unique(scale * (1 + closeness * rng.random(9))).tolist()
            assert len(set(format_cuts(cuts))) == len(cuts)
            np.testing.assert_allclose(np.float64(format_cuts(cuts)), cuts, rtol=1e-3)


def test_bins_in_words():
    assert describe_bins(["1.5", "3"]) == ["below 1.5", "1.5 to 3", "3 or more"]
    assert describe_bins([]) == ["all values"]


def test_every_kind_of_column():
    frame = pd.DataFrame(
        {
            "number": np.arange(N, dtype=float),
            "gaps": np.where(np.arange(N) < 10, np.nan, np.arange(N)),
            "few": np.arange(N) % 3,
            "word": np.array(["a", "b"])[Y],
            "empty": np.full(N, np.nan),
        }
    )
    found = encodings(frame)
    number = found["number"]
    assert (number.kind, number.cuts, number.arity) == ("cut", (20.0, 40.0, 60.0, 80.0), 5)
    assert number.n_rows == (20,) * 5
    assert {name: str(encoding) for name, encoding in found.items()} == {
        "number": "5 bins, cut at 20, 40, 60, 80; rows in each bin: 20, 20, 20, 20, 20",
        "gaps": "5 bins, cut at 28, 46, 64, 82; rows in each bin: 18, 18, 18, 18, 18; missing "
        "values (10 rows) are a level of their own",
        "few": "levels as they are, 3 values: 0 (34 rows), 1 (33 rows), 2 (33 rows)",
        "word": "levels as they are, 2 categories: a (50 rows), b (50 rows)",
        "empty": "missing values (100 rows) are a level of their own",
    }


def test_many_bins_and_long_words_are_shortened():
    frame = pd.DataFrame(
        {"number": np.arange(N), "word": [f"{'long' * 9} {i % 12}" for i in range(N)]}
    )
    found = encodings(frame, n_bins=20)
    assert str(found["number"]).count(", …") == 2
    assert len(found["number"].n_rows) == 20
    assert str(found["word"]).endswith(", …")


def test_groups_and_columns_that_are_not_cut():
    frame = pd.DataFrame({"a": Y, "b": 1 - Y, "noise": np.random.default_rng(1).normal(size=N)})
    selector = HOCMIM(1, feature_groups={"both": ["a", "b"]}, discretizer="mdlp").fit(frame, Y)
    assert str(selector.explain("both").encoding) == (
        "group of 2 columns (a, b): 2 combinations occur"
    )
    assert str(selector.explain("noise", frame).encoding) == "one bin, not cut"


def test_a_row_of_weight_three_counts_three_times():
    frame = pd.DataFrame({"x": np.arange(N) % 4, "y": Y})
    weight = np.where(frame["x"] == 0, 3, 1)
    selector = JMI(1).fit(frame, Y, sample_weight=weight)
    assert selector.explain("x", frame).encoding.n_rows == (75, 25, 25, 25)

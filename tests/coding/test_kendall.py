"""The Kendall transformation: pairs of rows."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from hocmim import JMI, Encoder, mi
from hocmim.coding.kendall import MAX_ROWS, kendall_transform
from hocmim.errors import InvalidTableError, InvalidTargetError

RNG = np.random.default_rng(0)
N = 60
X = pd.DataFrame(RNG.normal(size=(N, 6)), columns=list("abcdef"))
Y = X["b"] + 0.5 * X["e"] + 0.3 * RNG.normal(size=N)


def test_every_ordered_pair_is_compared():
    values = np.array([[1.0, 3.0], [2.0, np.nan], [1.0, 1.0]])
    pairs = kendall_transform(values, [0.5, 0.1, 0.1])
    expected = []
    for i, k in permutations(range(3), 2):
        row = []
        for first, second in zip(values[i], values[k], strict=True):
            missing = np.isnan(first) or np.isnan(second)
            row.append(3 if missing else 1 + int(np.sign(first - second)))
        expected.append(row)
    assert pairs.X.tolist() == expected
    assert pairs.y.tolist() == [2, 2, 0, 1, 0, 1]


def test_the_information_follows_the_rank_correlation():
    pairs = kendall_transform(X, Y)
    tau = np.array([kendalltau(X[name], Y).statistic for name in X])
    # Without ties: the sign of one is the sign of the other with probability (1 + tau) / 2.
    p = (1 + tau) / 2
    expected = np.log(2) + p * np.log(p) + (1 - p) * np.log(1 - p)
    found = [mi(pairs.X[:, j], pairs.y, estimator="plugin") for j in range(6)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    found = JMI(4, estimator="plugin", encoder=Encoder(4), target="classes").fit(*pairs)
    np.testing.assert_allclose(found.relevance_, expected, rtol=1e-9)
    assert set(found.selected_[:2].tolist()) == {1, 4}


def test_two_classes_and_categories():
    two = pd.DataFrame({"sex": np.where(X["a"] > 0, "f", "m"), "b": X["b"]})
    assert kendall_transform(two, two["sex"]).X[:, 0].tolist() == (
        kendall_transform(two, two["sex"]).y.tolist()
    )
    three = two.assign(town=np.array(["x", "y", "z"])[np.arange(N) % 3])
    with pytest.raises(InvalidTableError, match="column 'town' of X has more than two categories"):
        kendall_transform(three, two["sex"])
    with pytest.raises(InvalidTargetError, match="more than two classes, which have no order"):
        kendall_transform(two, three["town"])
    with pytest.raises(InvalidTableError, match="for at most 1000 rows"):
        kendall_transform(RNG.normal(size=(MAX_ROWS + 1, 2)), np.arange(1001) / 7)

"""The Kendall transformation: pairs of rows."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from hocmim import HOCMIM, JMI, MIM, mi
from hocmim.coding.kendall import MAX_ROWS, kendall_transform
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError

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
    selector = MIM(6, discretizer="kendall", estimator="plugin").fit(X, Y)
    np.testing.assert_allclose(selector.relevance_, expected, rtol=1e-9)


def test_the_selection_is_that_of_the_pairs():
    pairs = kendall_transform(X, Y)
    for n_bins in (2, 5):
        found = JMI(4, discretizer="kendall", n_bins=n_bins).fit(X, Y)
        expected = JMI(4, target_kind="classes").fit(pairs.X, pairs.y)
        assert found.selected_.tolist() == expected.selected_.tolist()
        assert found.scores_.tobytes() == expected.scores_.tobytes()
        assert found.feature_names_in_.tolist() == list("abcdef")
        assert found.target_kind_ == "quantity"
    assert set(found.selected_[:2].tolist()) == {1, 4}
    assert found.transform(X).shape == (N, 4)
    whole = JMI(4, discretizer="kendall").fit(X, Y.rank())  # no warning: only the order counts
    assert whole.scores_.tobytes() == found.scores_.tobytes()


def test_explanations():
    selector = HOCMIM(2, discretizer="kendall").fit(X, Y)
    for name, j in (("b", 1), ("a", 0)):
        assert selector.explain(name, X).relevance == selector.relevance_[j]
    with pytest.raises(InvalidTableError, match="X is not the table"):
        selector.explain("a", X[::-1])
    with pytest.raises(InvalidParameterError, match="A report is about rows"):
        selector.basis(X, Y)


def test_two_classes_and_categories():
    two = pd.DataFrame({"sex": np.where(X["a"] > 0, "f", "m"), "b": X["b"]})
    classes = np.where(X["a"] + 0.1 * X["c"] > 0, "yes", "no")
    assert MIM(1, discretizer="kendall").fit(two, classes).selected_.tolist() == [0]
    three = two.assign(town=np.array(["x", "y", "z"])[np.arange(N) % 3])
    with pytest.raises(InvalidTableError, match="column 'town' of X has more than two categories"):
        MIM(1, discretizer="kendall").fit(three, classes)
    with pytest.raises(InvalidTargetError, match="more than two classes, which have no order"):
        MIM(1, discretizer="kendall").fit(two, three["town"])


def test_what_is_refused(tmp_path):
    with pytest.raises(InvalidTableError, match="for at most 1000 rows"):
        MIM(1, discretizer="kendall").fit(RNG.normal(size=(MAX_ROWS + 1, 2)), np.arange(1001) / 7)
    with pytest.raises(InvalidParameterError, match="the pairs of discretizer='kendall' are not"):
        MIM("auto", discretizer="kendall").fit(X, Y)
    with pytest.raises(InvalidParameterError, match="for tables in memory, without weights"):
        MIM(1, discretizer="kendall").fit(X, Y, sample_weight=np.ones(N, int) * 2)
    X.assign(y=Y).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidParameterError, match="for tables in memory, without weights"):
        MIM(1, discretizer="kendall").fit(tmp_path / "t.parquet", "y")

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway
from sklearn.feature_selection import f_regression

from hocmim import FisherScore
from hocmim.selectors.filters.fisher import fisher_score, regression_f


def naive_fisher(column, y):
    """The formula, sample by sample, in exact arithmetic where it matters."""
    mean = sum(column) / len(column)
    between = within = 0.0
    for c in sorted(set(y.tolist())):
        members = [v for v, label in zip(column, y, strict=True) if label == c]
        class_mean = sum(members) / len(members)
        between += len(members) * (class_mean - mean) ** 2
        within += sum((v - class_mean) ** 2 for v in members)
    return between / within


def test_equals_the_naive_twin(table):
    X, y = table
    varied = [0, 1, 4, 5, 6]
    expected = [naive_fisher(X[:, j], y) for j in varied]
    np.testing.assert_allclose(fisher_score(X, y)[varied], expected, rtol=1e-12)


def test_a_large_offset_does_not_drown_the_signal(rng):
    y = np.repeat(np.arange(2, dtype=np.int32), 50)
    small = rng.normal(size=100) + y
    shifted = small + 2.0**30
    exact = shifted - 2.0**30  # what the doubles really hold
    score = fisher_score(np.column_stack([shifted, exact]), y)
    np.testing.assert_allclose(score[0], score[1], rtol=1e-9)


def test_constant_scores_zero_and_perfect_separation_is_infinite():
    y = np.array([0, 0, 1, 1, 2, 2], np.int32)
    X = np.column_stack([np.full(6, 0.1), [0.1, 0.1, 0.2, 0.2, 0.3, 0.3], [1.0, 2, 1, 2, 1, 2]])
    assert fisher_score(X, y).tolist() == [0.0, np.inf, 0.0]
    fitted = FisherScore(2).fit(X, y)
    assert fitted.selected_.tolist() == [1, 2]


def test_the_leftmost_of_equally_perfect_columns_ranks_first(rng):
    y = np.repeat([0, 1, 2], 4)
    X = np.column_stack([rng.normal(size=12), 5.0 * y, y, (y + 1) % 3])
    for order in ([0, 1, 2, 3], [3, 0, 2, 1]):
        fitted = FisherScore(3).fit(X[:, order], y)
        assert fitted.selected_.tolist() == [j for j in range(4) if order[j] != 0]


def test_categories_have_no_order(rng):
    y = np.repeat([0, 1, 2], 20)
    colour = np.array(["red", "blue", "green"])[(y + (rng.random(60) < 0.3)) % 3]
    renamed = pd.Series(colour).map({"red": "a", "blue": "c", "green": "b"})
    fitted = FisherScore(1).fit(pd.DataFrame({"colour": colour, "renamed": renamed}), y)
    np.testing.assert_allclose(*fitted.feature_scores_, rtol=1e-12)
    assert fitted.feature_scores_[0] > 0


def test_two_categories_score_like_a_binary_number(rng):
    y = np.repeat([0, 1], 20)
    x = (rng.random(40) < 0.3 + 0.4 * y).astype(int)
    frame = pd.DataFrame({"number": x, "category": np.where(x, "yes", "no")})
    np.testing.assert_allclose(*FisherScore(1).fit(frame, y).feature_scores_, rtol=1e-12)


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3), st.floats(-100, 100))
def test_is_invariant_under_affine_maps(seed, scale, shift):
    rng = np.random.default_rng(seed)
    y = np.arange(24, dtype=np.int32) % 3
    X = rng.normal(size=(24, 3))
    np.testing.assert_allclose(fisher_score(scale * X + shift, y), fisher_score(X, y), rtol=1e-6)


def test_blocks_of_columns_do_not_matter(rng, monkeypatch):
    X, y = rng.normal(size=(30, 50)), np.arange(30, dtype=np.int32) % 3
    whole = fisher_score(X, y)
    monkeypatch.setattr("hocmim.selectors.filters._base.BLOCK_CELLS", 100)
    np.testing.assert_allclose(fisher_score(X, y), whole, rtol=1e-13)


def test_a_quantity_gives_the_f_statistic_of_regression(rng):
    X = rng.normal(size=(80, 6)) * 10.0 ** rng.integers(-4, 5, 6)
    y = 3.0 * X[:, 1] / X[:, 1].std() + rng.normal(size=80)
    expected, _ = f_regression(X, y)
    np.testing.assert_allclose(regression_f(X, y), expected, rtol=1e-9)
    fitted = FisherScore(1).fit(X, y)
    assert fitted.selected_.tolist() == [1]
    np.testing.assert_array_equal(fitted.feature_scores_, regression_f(X, y))


def test_a_categorical_column_gives_the_f_statistic_of_its_levels(rng):
    level = rng.integers(0, 4, 60)
    y = rng.normal(size=60) + np.array([0, 2, 0, 1])[level]
    expected = f_oneway(*(y[level == k] for k in range(4))).statistic
    found = regression_f(level[:, None].astype(float), y, [True])
    np.testing.assert_allclose(found, [expected], rtol=1e-9)
    frame = pd.DataFrame({"noise": rng.normal(size=60), "letter": np.array(list("dbca"))[level]})
    fitted = FisherScore(1).fit(frame, y)
    np.testing.assert_allclose(fitted.scores_, [expected], rtol=1e-9)


def test_constant_and_exact_columns_for_a_quantity(rng):
    y = rng.normal(size=40)
    X = np.column_stack([np.full(40, 0.1), 3 - 2 * y, rng.normal(size=40), np.arange(40.0)])
    found = regression_f(X, y, [False, False, False, True])
    assert found[0] == 0.0
    assert found[1] == np.inf
    assert 0 < found[2] < np.inf
    assert found[3] == 0.0  # a level for each row


def test_weights_are_repeated_rows_for_a_quantity(rng):
    X, weight = rng.normal(size=(50, 4)), rng.integers(0, 4, 50)
    y = X[:, 0] + rng.normal(size=50)
    weighted = FisherScore(2).fit(X, y, sample_weight=weight)
    repeated = FisherScore(2).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.feature_scores_, repeated.feature_scores_, rtol=1e-12)

import numpy as np
import pandas as pd
import pytest

import warned
from hocmim import FisherScore, GiniIndex, KruskalWallis, ReliefF
from hocmim.errors import InvalidParameterError
from hocmim.selectors.filters.relieff import relieff, rrelieff

pytestmark = pytest.mark.filterwarnings(warned.LEAK)


def neighbours(others, distance, k):
    """The k nearest and the weight of each; those as far as the k-th share its place."""
    ordered = sorted(others, key=distance)
    if not ordered:
        return []
    last = distance(ordered[min(k, len(ordered)) - 1])
    nearer = [j for j in ordered if distance(j) < last]
    equal = [j for j in ordered if distance(j) == last]
    share = (min(k, len(ordered)) - len(nearer)) / len(equal)
    return [(j, 1.0) for j in nearer] + [(j, share) for j in equal]


def naive_relieff(X, y, k, is_categorical):
    """Kononenko's loop: one sample after the other."""
    n, d = X.shape
    span = [np.ptp(X[:, r]) or 1.0 for r in range(d)]

    def difference(i, j, r):
        if is_categorical[r]:
            return float(X[i, r] != X[j, r])
        return abs(X[i, r] - X[j, r]) / span[r]

    def distance(i, j):
        return round(sum(difference(i, j, r) for r in range(d)) / d, 12)

    prior = {c: np.mean(y == c) for c in np.unique(y)}
    weights = np.zeros(d)
    for i in range(n):
        for c in prior:
            others = [j for j in range(n) if j != i and y[j] == c]
            nearest = neighbours(others, lambda j: distance(i, j), k)  # noqa: B023
            share = -1.0 if c == y[i] else prior[c] / (1 - prior[y[i]])
            for j, weight in nearest:
                for r in range(d):
                    part = weight * difference(i, j, r) / min(k, len(others))
                    weights[r] += share * part / n
    return weights


@pytest.mark.parametrize("k", [1, 3, 10, 40])
def test_equals_the_naive_twin(table, k):
    """k = 40 is more than any class has: all of its samples are used."""
    X, y = table
    none = np.zeros(X.shape[1], bool)
    np.testing.assert_allclose(relieff(X, y, k), naive_relieff(X, y, k, none), atol=1e-12)


def test_equals_the_naive_twin_on_tied_distances(rng):
    X = rng.integers(0, 4, (50, 6)).astype(float)
    y = rng.integers(0, 2, 50).astype(np.int32)
    none = np.zeros(6, bool)
    np.testing.assert_allclose(relieff(X, y, 5), naive_relieff(X, y, 5, none), atol=1e-12)


@pytest.mark.parametrize("is_categorical", [[1, 0, 1, 0, 0], [1, 1, 1, 1, 1]])
def test_equals_the_naive_twin_with_categories(rng, is_categorical):
    X = rng.integers(0, 5, (40, 5)).astype(float)
    y = rng.integers(0, 3, 40).astype(np.int32)
    categorical = np.array(is_categorical, bool)
    expected = naive_relieff(X, y, 4, categorical)
    np.testing.assert_allclose(relieff(X, y, 4, categorical), expected, atol=1e-12)


def test_equals_the_naive_twin_on_many_columns(rng):
    """More columns than the kernel sums before it asks whether to give up."""
    y = np.arange(45, dtype=np.int32) % 3
    X = rng.normal(size=(45, 203))
    X[:, :9] += 3 * y[:, None]
    none = np.zeros(203, bool)
    np.testing.assert_allclose(relieff(X, y, 2), naive_relieff(X, y, 2, none), atol=1e-12)


def test_a_class_of_one_sample_has_no_hits(rng):
    X, y = rng.normal(size=(11, 3)), np.array([0] * 5 + [1] * 5 + [2], np.int32)
    none = np.zeros(3, bool)
    np.testing.assert_allclose(relieff(X, y, 10), naive_relieff(X, y, 10, none), atol=1e-12)


def test_finds_the_xor_pair_that_univariate_filters_miss(rng):
    X = rng.integers(0, 2, (400, 12)).astype(float)
    y = (X[:, 4] != X[:, 9]).astype(int)
    assert set(ReliefF(2).fit(X, y).selected_) == {4, 9}
    for univariate in (FisherScore, GiniIndex, KruskalWallis):
        assert set(univariate(2).fit(X, y).selected_) != {4, 9}


def test_agrees_with_skrebate_on_separated_columns(rng):
    skrebate = pytest.importorskip("skrebate")
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 10))
    X[:, [7, 2, 5, 0]] += np.outer(y, [8.0, 4.0, 2.5, 1.5])
    theirs = skrebate.ReliefF(n_neighbors=10).fit(X, y)
    ours = ReliefF(4, n_neighbors=10).fit(X, y)
    assert ours.selected_.tolist() == [7, 2, 5, 0]
    assert np.argsort(-theirs.feature_importances_)[:4].tolist() == [7, 2, 5, 0]
    correlation = np.corrcoef(theirs.feature_importances_, ours.feature_scores_)[0, 1]
    assert correlation > 0.99


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_change_nothing(rng, n_jobs):
    X, y = rng.normal(size=(300, 20)), rng.integers(0, 3, 300)
    one = ReliefF(3).fit(X, y).feature_scores_
    np.testing.assert_array_equal(ReliefF(3, n_jobs=n_jobs).fit(X, y).feature_scores_, one)


def test_order_of_columns_and_units_do_not_matter(rng):
    X, y = rng.normal(size=(80, 70)), rng.integers(0, 2, 80)
    shuffled = rng.permutation(70)
    one = ReliefF(3).fit(X, y).feature_scores_
    other = ReliefF(3).fit(1024 * X[:, shuffled], y).feature_scores_
    np.testing.assert_allclose(other, one[shuffled], atol=1e-13)


@pytest.mark.parametrize("is_quantity", [False, True])
def test_order_of_rows_does_not_matter(rng, is_quantity):
    """In binary tables most distances are equal."""
    for _ in range(30):
        X = rng.integers(0, 2, (40, 4)).astype(float)
        y = rng.normal(size=40) if is_quantity else rng.integers(0, 2, 40)
        rows = rng.permutation(40)
        one, other = ReliefF(2).fit(X, y), ReliefF(2).fit(X[rows], y[rows])
        np.testing.assert_allclose(other.feature_scores_, one.feature_scores_, atol=1e-14)
        assert other.selected_.tolist() == one.selected_.tolist()


def test_constant_columns_score_zero(table):
    X, y = table
    assert ReliefF(1).fit(X, y).feature_scores_[3] == 0.0


def test_categories_differ_by_zero_or_one():
    frame = pd.DataFrame({"c": ["a", "b", "c", "a", "b", "c"]})
    y = np.array([0, 1, 1, 0, 1, 1])
    expected = naive_relieff(np.array([[0], [1], [2], [0], [1], [2.0]]), y, 2, [True])
    np.testing.assert_allclose(ReliefF(1, n_neighbors=2).fit(frame, y).feature_scores_, expected)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, None])
def test_says_what_n_neighbors_may_be(table, k):
    with pytest.raises(InvalidParameterError, match="n_neighbors must be an int"):
        ReliefF(2, n_neighbors=k).fit(*table)


def naive_rrelieff(X, y, k, is_categorical):
    """Robnik-Šikonja and Kononenko's sums: one pair of neighbours after the other."""
    n, d = X.shape
    span = [np.ptp(X[:, r]) or 1.0 for r in range(d)]

    def difference(i, j, r):
        if is_categorical[r]:
            return float(X[i, r] != X[j, r])
        return abs(X[i, r] - X[j, r]) / span[r]

    def distance(i, j):
        return round(sum(difference(i, j, r) for r in range(d)) / d, 12)

    n_y, n_column, n_both = 0.0, np.zeros(d), np.zeros(d)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for j, weight in neighbours(others, lambda j: distance(i, j), k):  # noqa: B023
            of_y = weight * abs(y[i] - y[j]) / np.ptp(y) / k
            n_y += of_y
            for r in range(d):
                n_column[r] += weight * difference(i, j, r) / k
                n_both[r] += of_y * difference(i, j, r)
    return n_both / n_y - (n_column - n_both) / (n - n_y)


@pytest.mark.parametrize("k", [1, 5, 200])
def test_rrelieff_equals_the_naive_twin(rng, k):
    X = rng.normal(size=(70, 6)).round(1)
    X[:, 4] = rng.integers(0, 3, 70)
    X[:, 5] = 2.0
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=70)
    is_categorical = [False] * 4 + [True, False]
    found = rrelieff(X, y, k, is_categorical)
    np.testing.assert_allclose(found, naive_rrelieff(X, y, min(k, 69), is_categorical), atol=1e-12)
    assert found[5] == 0.0


def test_rrelieff_sees_an_interaction_and_not_the_threads(rng):
    X = rng.uniform(-1, 1, size=(400, 8))
    y = np.sign(X[:, 2]) * X[:, 5]
    fitted = ReliefF(2).fit(X, y)
    assert sorted(fitted.selected_.tolist()) == [2, 5]
    other = ReliefF(2, n_jobs=2).fit(X, y)
    assert other.feature_scores_.tobytes() == fitted.feature_scores_.tobytes()

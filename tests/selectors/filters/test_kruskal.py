import numpy as np
import pytest
from scipy import stats

from hocmim import KruskalWallis
from hocmim.selectors.filters.kruskal import kruskal_wallis


def scipy_statistic(column, y):
    return stats.kruskal(*[column[y == c] for c in np.unique(y)]).statistic


def test_equals_scipy_column_by_column_with_ties(table):
    X, y = table
    varied = [0, 1, 2, 4, 5, 6]
    expected = [scipy_statistic(X[:, j], y) for j in varied]
    np.testing.assert_allclose(kruskal_wallis(X, y)[varied], expected, rtol=1e-10)


@pytest.mark.parametrize("n_levels", [2, 3, 10])
def test_equals_scipy_on_heavy_ties(rng, n_levels):
    X = rng.integers(0, n_levels, (200, 20)).astype(float)
    y = rng.integers(0, 4, 200).astype(np.int32)
    expected = [scipy_statistic(column, y) for column in X.T]
    np.testing.assert_allclose(kruskal_wallis(X, y), expected, rtol=1e-9, atol=1e-11)


def test_equals_the_textbook_formula_without_ties(rng):
    x, y = rng.permutation(30).astype(float), np.arange(30, dtype=np.int32) % 3
    rank_sums = [sum(x[y == c] + 1) for c in range(3)]
    expected = 12 / (30 * 31) * sum(s**2 / 10 for s in rank_sums) - 3 * 31
    assert kruskal_wallis(x[:, None], y)[0] == pytest.approx(expected, rel=1e-12)


def test_a_constant_column_scores_zero_and_ranks_last(table):
    X, y = table
    fitted = KruskalWallis(2).fit(X, y)
    assert fitted.feature_scores_[3] == 0.0
    assert fitted.ranking_[3] == X.shape[1]


def test_only_the_order_of_values_counts(table):
    X, y = table
    X = X[:, [0, 5]]
    np.testing.assert_array_equal(kruskal_wallis(np.exp(X), y), kruskal_wallis(X, y))


def test_higher_is_better(rng):
    y = np.repeat([0, 1], 50)
    X = np.column_stack([rng.normal(size=100), rng.normal(size=100) + 2 * y])
    assert KruskalWallis(1).fit(X, y).selected_.tolist() == [1]


def test_paper_data(published_data):
    X, y = published_data("wdbc")
    expected = [scipy_statistic(column, y) for column in X.T]
    np.testing.assert_allclose(kruskal_wallis(X, y), expected, rtol=1e-9)

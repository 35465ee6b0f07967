import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import warned
from hocmim import GiniIndex
from hocmim.selectors.filters.gini import gini_index

pytestmark = pytest.mark.filterwarnings(warned.CLIPPED, warned.LEAK)


def impurity(labels):
    return 1.0 - sum((np.sum(labels == c) / len(labels)) ** 2 for c in set(labels.tolist()))


def naive_gini(column, y):
    """Every threshold in turn."""
    best = impurity(y)
    for threshold in sorted(set(column.tolist()))[:-1]:
        left, right = y[column <= threshold], y[column > threshold]
        split = (len(left) * impurity(left) + len(right) * impurity(right)) / len(y)
        best = min(best, split)
    return best


def test_equals_the_naive_twin(table):
    X, y = table
    expected = [naive_gini(column, y) for column in X.T]
    np.testing.assert_allclose(gini_index(X, y), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("j", [0, 1, 4, 5, 6])
def test_equals_the_first_split_of_a_tree(table, j):
    X, y = table
    tree = DecisionTreeClassifier(max_depth=1).fit(X[:, [j]], y).tree_
    share = tree.weighted_n_node_samples[1:] / len(y)
    assert gini_index(X[:, [j]], y)[0] == pytest.approx(share @ tree.impurity[1:], abs=1e-12)


def test_lower_is_better_and_constant_is_worst(table):
    X, y = table
    X = np.column_stack([X, y])
    fitted = GiniIndex(X.shape[1]).fit(X, y)
    assert fitted.lower_is_better
    assert fitted.feature_scores_[3] == pytest.approx(impurity(y))
    assert fitted.ranking_[3] == X.shape[1]
    assert np.all(np.diff(fitted.scores_) >= -1e-12)


def test_a_perfect_threshold_scores_zero():
    y = np.array([0, 0, 1, 1, 1], np.int32)
    assert gini_index(np.array([[1.0], [2], [3], [4], [4]]), y)[0] == pytest.approx(0, abs=1e-15)


def test_categories_are_split_one_against_the_rest():
    y = np.array([0, 1, 0, 0, 1, 0])
    frame = pd.DataFrame({"category": list("abcabc"), "number": [0, 1, 2, 0, 1, 2]})
    category, number = GiniIndex(1).fit(frame, y).feature_scores_
    assert category == pytest.approx(0, abs=1e-15)  # b against a and c
    assert number > 0.2  # no threshold cuts out the middle


def test_a_categorical_column_of_one_level_is_worst():
    y = np.array([0, 1, 0, 1])
    frame = pd.DataFrame({"one": list("aaaa"), "two": list("abab")})
    assert GiniIndex(2).fit(frame, y).feature_scores_.tolist() == [0.5, 0.0]

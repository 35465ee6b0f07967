"""The curves of the classifiers, against one scikit-learn fit for each number of features."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from hocmim import _native
from hocmim.experiments.classifiers import (
    balanced_error,
    class_weights,
    count_wrong,
    knn_curve,
    svm_curve,
)


def halves(n=90, M=7, n_classes=3, seed=0, levels=None):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    X = rng.normal(size=(n, M)) + y[:, None] * rng.random(M)
    if levels:
        X = np.clip(np.rint(X * 2) + 2, 0, levels - 1)
    return X[::2], y[::2].astype(np.int32), X[1::2], y[1::2].astype(np.int32)


def naive_knn(train, y, test, k=3):
    """By sorting all distances: (distance, row); the lowest of the most frequent classes."""
    curve = []
    for m in range(1, train.shape[1] + 1):
        distances = ((test[:, None, :m] - train[None, :, :m]) ** 2).sum(axis=2)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
        curve.append([np.bincount(y[rows]).argmax() for rows in nearest])
    return np.array(curve)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [1, 3, 4])
def test_knn_equals_scikit_learn_where_no_distances_tie(seed, k):
    train, y, test, _ = halves(seed=seed)
    found = knn_curve(train, y, test, k)
    for m in range(1, train.shape[1] + 1):
        model = KNeighborsClassifier(k, algorithm="brute").fit(train[:, :m], y)
        assert (found[m - 1] == model.predict(test[:, :m])).all()


@pytest.mark.parametrize("n", [20, 90, 700])
@pytest.mark.parametrize("levels", [2, 5])
def test_knn_with_ties_equals_the_definition(n, levels):
    train, y, test, _ = halves(n=n, seed=n, levels=levels)
    assert (knn_curve(train, y, test) == naive_knn(train, y, test)).all()
    # The same through the kernel of doubles: a shift by a half keeps every distance.
    assert (knn_curve(train + 0.5, y, test + 0.5) == naive_knn(train, y, test)).all()


def test_knn_takes_whole_numbers_too_large_for_the_small_kernel():
    train, y, test, _ = halves(levels=5)
    assert (knn_curve(train * 1000, y, test * 1000) == naive_knn(train, y, test)).all()


def test_knn_with_fewer_rows_than_neighbours():
    train, y = np.array([[0.0], [1.0]]), np.array([1, 0], np.int32)
    assert knn_curve(train, y, np.array([[0.1]]), 3).tolist() == [[0]]


def test_the_kernel_refuses_arrays_that_do_not_fit():
    train, test = np.zeros((2, 5)), np.zeros((2, 4))
    out = np.empty((2, 4), np.int32)
    y = np.zeros(5, np.int32)
    for arguments in [
        (train, y, 1, test[:1], 3, out),
        (train, y[:4], 1, test, 3, out),
        (train, y, 1, test, 6, out),
        (train, y, 1, test, 0, out),
        (train, y + 1, 1, test, 3, out),
        (train, y, 1, test, 3, out[:1]),
    ]:
        with pytest.raises(ValueError, match="knn_curve"):
            _native.knn_curve(*arguments)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_svm_equals_scikit_learn(balanced, n_classes):
    train, y, test, _ = halves(n=200, n_classes=n_classes)
    found = svm_curve(train, y, test, balanced=balanced)
    for m in range(1, train.shape[1] + 1):
        weight = "balanced" if balanced else None
        model = LinearSVC(dual=False, class_weight=weight).fit(train[:, :m], y)
        assert (found[m - 1] == model.predict(test[:, :m])).all()


@pytest.mark.parametrize("balanced", [False, True])
def test_svm_of_repeated_rows_is_the_svm_of_all_rows(balanced):
    train, y, test, _ = halves(n=400, levels=3)
    found = svm_curve(train, y, test, balanced=balanced)
    for m in (1, 2, 4, 7):
        weight = "balanced" if balanced else None
        model = LinearSVC(dual=False, class_weight=weight, tol=1e-8).fit(train[:, :m], y)
        margin = np.sort(model.decision_function(test[:, :m]), axis=1)
        clear = margin[:, -1] - margin[:, -2] > 1e-3
        assert clear.mean() > 0.5
        assert (found[m - 1] == model.predict(test[:, :m]))[clear].all()


def test_class_weights_skip_classes_that_do_not_occur():
    assert class_weights(np.array([0, 0, 0, 2], np.int32)) == {0: 4 / 6, 2: 2.0}


def test_errors():
    y = np.array([0, 0, 0, 1], np.int32)
    predictions = np.array([[0, 0, 0, 0], [1, 0, 0, 1]], np.int32)
    assert count_wrong(predictions, y).tolist() == [1, 1]
    expected = [1 - balanced_accuracy_score(y, row) for row in predictions]
    assert balanced_error(predictions, y).tolist() == pytest.approx(expected)

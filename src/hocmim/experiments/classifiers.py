"""Classifiers on the selected features.

Error curves, with the first 1, 2, … selected features:

=============  ====================================================================================
knn            3 nearest neighbours by Euclidean distance. Among training rows at the same distance
               the first in the training half, whose order is random, counts as nearer; among
               classes with the same number of votes the lowest wins, as in scikit-learn.
svm            linear support vector machine, C = 1
svm-balanced   the same with the errors on each class weighted by N / (C n_c), as in liblinear: in
               each problem of one class against the rest, the rest has weight 1
=============  ====================================================================================

With all selected features only, each of scikit-learn with its default parameters:

=============  ====================================================================================
logistic       logistic regression
5-nn           5 nearest neighbours by Euclidean distance
forest         random forest of 100 trees
=============  ====================================================================================

The linear SVM is ``LinearSVC`` of scikit-learn (**liblinear**), in the primal (squared hinge, one
class against the rest). Its time grows linearly with the rows, that of libsvm with the square,
which is too slow for ujiindoor. The primal solver uses no random numbers. One against the rest is
closer to the published errors than one against one of libsvm (libras: 0.48 and 0.38; published:
0.55).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context  # type: ignore[attr-defined]
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import hocmim._native as _native

CLASSIFIERS = ("knn", "svm", "svm-balanced")
FINAL_CLASSIFIERS = ("logistic", "5-nn", "forest")
TITLES = {
    "knn": "3-NN",
    "svm": "linear SVM",
    "svm-balanced": "class-balanced linear SVM",
    "logistic": "logistic regression",
    "5-nn": "5-NN",
    "forest": "random forest",
    "recovery": "recovery of the useful columns (1 − F1)",
}
MAX_INT16 = 32767

Matrix = NDArray[np.float64]
Labels = NDArray[np.int32]


def knn_curve(train: Matrix, y: Labels, test: Matrix, n_neighbors: int = 3) -> NDArray[np.int32]:
    """Predict the class of each test row with the first m columns, m = 1..M.

    A kernel adds the columns to the distances one by one: the curve costs about one search. Returns
    the shape (M, n_test).
    """
    kind = np.int16 if _fits_small(train, test) else np.float64
    columns: Any = np.ascontiguousarray(train.T, kind)
    rows: Any = np.ascontiguousarray(test.T, kind)
    out = np.empty(rows.shape, np.int32)
    k = min(n_neighbors, len(train))
    _native.knn_curve(columns, np.ascontiguousarray(y, np.int32), int(y.max()) + 1, rows, k, out)
    return out


def _fits_small(train: Matrix, test: Matrix) -> bool:
    """Whether all squared distances are integers that fit into 16 bits."""
    both = (train, test)
    if any((part != np.rint(part)).any() for part in both):
        return False
    low = np.minimum(*(part.min(axis=0) for part in both))
    high = np.maximum(*(part.max(axis=0) for part in both))
    in_range = max(abs(low).max(), abs(high).max()) <= MAX_INT16
    return bool(in_range and ((high - low) ** 2).sum() <= MAX_INT16)


def svm_curve(
    train: Matrix, y: Labels, test: Matrix, C: float = 1.0, *, balanced: bool = False
) -> NDArray[np.int32]:
    """Predict the class of each test row with the first m columns, m = 1..M.

    Equal training rows of one class are fitted as one weighted row, which is the same problem:
    binned values repeat often, especially with few columns. ``balanced``: each class has the same
    total weight. Returns the shape (M, n_test).
    """
    weight_of = class_weights(y) if balanced else None
    out = np.empty((train.shape[1], len(test)), np.int32)
    cells = y.astype(np.int64)
    for m in range(1, train.shape[1] + 1):
        cells, first, counts = _split(cells, train[:, m - 1])
        model = _fit(train[first, :m], y[first], counts, C, weight_of)
        scores = test[:, :m] @ model.coef_.T + model.intercept_
        out[m - 1] = model.classes_[_highest(scores)]
    return out


def class_weights(y: Labels) -> dict[int, float]:
    """Return N / (C n_c) of each class that occurs, "balanced" in scikit-learn."""
    classes, counts = np.unique(y, return_counts=True)
    weights = len(y) / (len(classes) * counts)
    return dict(zip(classes.tolist(), weights.tolist(), strict=True))


def _split(
    cells: NDArray[np.int64], column: Matrix
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Split cells by the values of a column; return the cells, a row of each, and their sizes."""
    levels, codes = np.unique(column, return_inverse=True)
    _, first, joint, counts = np.unique(
        cells * len(levels) + codes, return_index=True, return_inverse=True, return_counts=True
    )
    return joint, first, counts


def _fit(
    train: Matrix,
    y: Labels,
    counts: NDArray[np.int64],
    C: float,
    weight_of: dict[int, float] | None,
) -> LinearSVC:
    with warnings.catch_warnings(), config_context(assume_finite=True):
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        model = LinearSVC(C=C, dual=False, class_weight=weight_of)
        return model.fit(train, y, sample_weight=counts.astype(np.float64))


def _highest(scores: Matrix) -> NDArray[np.int64]:
    """Return the class index of each row; two classes have one score, positive for the second."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return scores.argmax(axis=1)


def predict_final(
    classifier: str, train: Matrix, y: Labels, test: Matrix, seed: int = 0
) -> NDArray[np.int32]:
    """Predict the class of each test row with all columns; without columns, the most frequent.

    ``classifier`` is one of ``FINAL_CLASSIFIERS``. Returns the shape (1, n_test).
    """
    if train.shape[1] == 0:
        return np.full((1, len(test)), np.bincount(y).argmax(), np.int32)
    model = {
        "logistic": LogisticRegression(max_iter=1000),
        "5-nn": KNeighborsClassifier(min(5, len(train))),
        "forest": RandomForestClassifier(100, random_state=seed),
    }[classifier]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(train, y).predict(test), np.int32)[None]


def count_wrong(predictions: NDArray[np.int32], y: Labels) -> NDArray[np.int64]:
    """Count the misclassified test rows, with 1, 2, … columns."""
    return np.asarray((predictions != y).sum(axis=1), np.int64)


def balanced_error(predictions: NDArray[np.int32], y: Labels) -> Matrix:
    """Return the mean over the classes of the share of misclassified test rows."""
    wrong = predictions != y
    return np.mean([wrong[:, y == label].mean(axis=1) for label in np.unique(y)], axis=0)

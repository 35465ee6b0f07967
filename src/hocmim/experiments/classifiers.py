"""Error curves: a classifier with the first 1, 2, … selected features.

=============  ====================================================================================
knn            3 nearest neighbours by Euclidean distance. Of training rows equally far the one
               that comes first in the training half is nearer (its order is random); of classes
               with equally many votes the lowest wins, as in scikit-learn.
svm            linear support vector machine, C = 1
svm-balanced   the same with the errors on each class weighted by N / (C n_c), in liblinear's way:
               of each class against the rest, the class has its weight and the rest has 1
=============  ====================================================================================

The linear SVM is scikit-learn's ``LinearSVC``, that is **liblinear**, in the primal (squared hinge,
one class against the rest). Of the two libraries scikit-learn has it takes time in proportion to
the rows where libsvm takes the square, so that ujiindoor can be had at all; the primal solver uses
no random numbers; and one against the rest comes nearer to the published errors than libsvm's one
against one (libras: 0.48 and 0.38 where 0.55 is printed).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context  # type: ignore[attr-defined]
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import hocmim._native as _native

CLASSIFIERS = ("knn", "svm", "svm-balanced")
TITLES = {"knn": "3-NN", "svm": "linear SVM", "svm-balanced": "class-balanced linear SVM"}
MOST_SMALL_SUM = 32767

Matrix = NDArray[np.float64]
Labels = NDArray[np.int32]


def knn_curve(train: Matrix, y: Labels, test: Matrix, n_neighbors: int = 3) -> NDArray[np.int32]:
    """The predicted class of each test row with the first m columns, m = 1..M.

    Distances grow column by column in a kernel: the whole curve costs about as much as one search.

    Parameters
    ----------
    train : ndarray of shape (n_train, M)
    y : ndarray of int32, shape (n_train,)
    test : ndarray of shape (n_test, M)
    n_neighbors : int

    Returns
    -------
    predictions : ndarray of int32, shape (M, n_test)
    """
    kind = np.int16 if _fits_small(train, test) else np.float64
    columns: Any = np.ascontiguousarray(train.T, kind)
    rows: Any = np.ascontiguousarray(test.T, kind)
    out = np.empty(rows.shape, np.int32)
    k = min(n_neighbors, len(train))
    _native.knn_curve(columns, np.ascontiguousarray(y, np.int32), int(y.max()) + 1, rows, k, out)
    return out


def _fits_small(train: Matrix, test: Matrix) -> bool:
    """Whether all squared distances are whole numbers that fit into 16 bits."""
    both = (train, test)
    if any((part != np.rint(part)).any() for part in both):
        return False
    low = np.minimum(*(part.min(axis=0) for part in both))
    high = np.maximum(*(part.max(axis=0) for part in both))
    in_range = max(abs(low).max(), abs(high).max()) <= MOST_SMALL_SUM
    return bool(in_range and ((high - low) ** 2).sum() <= MOST_SMALL_SUM)


def svm_curve(
    train: Matrix, y: Labels, test: Matrix, C: float = 1.0, *, balanced: bool = False
) -> NDArray[np.int32]:
    """The predicted class of each test row with the first m columns, m = 1..M.

    Equal training rows of one class are fitted as one row of so much weight, which is the same
    problem: binned values repeat often, above all with few columns.

    Parameters
    ----------
    train : ndarray of shape (n_train, M)
    y : ndarray of int32, shape (n_train,)
    test : ndarray of shape (n_test, M)
    C : float
    balanced : bool
        Whether each class has the same total weight.

    Returns
    -------
    predictions : ndarray of int32, shape (M, n_test)
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
    """N / (C n_c) of each class that occurs, what scikit-learn calls "balanced"."""
    classes, counts = np.unique(y, return_counts=True)
    weights = len(y) / (len(classes) * counts)
    return dict(zip(classes.tolist(), weights.tolist(), strict=True))


def _split(
    cells: NDArray[np.int64], column: Matrix
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cells split by the values of a column: the new cells, a row of each, and their sizes."""
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
    """The place of each row's class; two classes have one score, positive for the second."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.int64)
    return scores.argmax(axis=1)


def count_wrong(predictions: NDArray[np.int32], y: Labels) -> NDArray[np.int64]:
    """How many test rows are misclassified, with 1, 2, … columns."""
    return np.asarray((predictions != y).sum(axis=1), np.int64)


def balanced_error(predictions: NDArray[np.int32], y: Labels) -> Matrix:
    """The mean over the classes of the share of their test rows that is misclassified."""
    wrong = predictions != y
    return np.mean([wrong[:, y == label].mean(axis=1) for label in np.unique(y)], axis=0)

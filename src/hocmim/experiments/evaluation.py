"""The error of a model on selected columns, for a comparison of methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from hocmim.data.table import take_columns, take_rows
from hocmim.selectors.models import AsNumbers
from hocmim.selectors.resampling import draw_rows
from hocmim.selectors.splits import Fold

MAX_SIZES = 20


def evaluated_rows(
    strata: NDArray[np.int64], folds: Sequence[Fold], max_rows: int | None, seed: int
) -> NDArray[np.int64]:
    """Return the rows for the models: the same share of each test part and stratum.

    If the test parts are not a partition of the rows, the same share of each stratum.
    """
    if max_rows is None or len(strata) <= max_rows:
        return np.arange(len(strata))
    rng, share = np.random.RandomState(seed), max_rows / len(strata)
    tested = [test for _, test in folds]
    if np.array_equal(np.sort(np.concatenate(tested)), np.arange(len(strata))):
        parts = [test[draw_rows(strata[test], share, False, rng)] for test in tested]
        return np.sort(np.concatenate(parts))
    return draw_rows(strata, share, False, rng)


class Evaluation:
    """The errors of a model on selected columns, each computed once.

    Parameters
    ----------
    X : table
    y : ndarray of shape (n_rows,) or (n_rows, n_targets)
        Of several targets, the error is the mean over them; each has a model of its own.
    model : estimator
    rows : ndarray of int64
        The rows on which the model is fitted and tested, in order.
    """

    def __init__(self, X: Any, y: NDArray[Any], model: Any, rows: NDArray[np.int64]) -> None:
        self._rows, self._model = rows, model
        self._X = X if len(rows) == len(y) else take_rows(X, rows)
        self._y = y[rows]
        # By the number of the fold and the columns.
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    @property
    def n_rows(self) -> int:
        """How many rows the model is fitted and tested on."""
        return len(self._rows)

    @property
    def measure(self) -> str:
        """What the errors are."""
        return "error" if is_classifier(self._model) else "1 − R²"

    def curve(self, selected: tuple[int, ...], number: int, fold: Fold) -> dict[int, float]:
        """Return the error on the first 0, 1, 2, … of the selected columns, by their number.

        Methods that select the same columns share their errors. ``number`` tells the folds apart.
        """
        sizes = _sizes(len(selected))
        missing = [m for m in sizes if (number, selected[:m]) not in self._known]
        if missing:
            train, test = (np.flatnonzero(np.isin(self._rows, part)) for part in fold)
            matrix, ends = design_matrix(self._X, selected, train)
            for m in missing:
                error = _error(self._model, matrix[:, : ends[m]], self._y, train, test)
                self._known[number, selected[:m]] = error
        return {m: self._known[number, selected[:m]] for m in sizes}


def _sizes(most: int) -> list[int]:
    """Return the numbers of columns to try: all up to 20, about 20 of a larger number."""
    if most <= MAX_SIZES:
        return list(range(most + 1))
    return [0, *np.unique(np.rint(np.geomspace(1, most, MAX_SIZES)).astype(int)).tolist()]


def design_matrix(
    X: Any, columns: Sequence[int], train: NDArray[Any]
) -> tuple[NDArray[np.float64], list[int]]:
    """Return columns of a table as numbers for a model, prepared by the training rows.

    Returns
    -------
    matrix : ndarray of float64, one row a row of X
    ends : list of int
        The first m of the columns are ``matrix[:, :ends[m]]``.
    """
    if not columns:
        return np.empty((0, 0)), [0]
    chosen = take_columns(X, columns)
    numbers = AsNumbers().fit(take_rows(chosen, train))
    return numbers.transform(chosen), numbers.ends_


def _error(
    model: Any, matrix: NDArray[Any], y: NDArray[Any], train: NDArray[Any], test: NDArray[Any]
) -> float:
    if y.ndim > 1:
        return float(np.mean([_error(model, matrix, one, train, test) for one in y.T]))
    if matrix.shape[1]:
        predicted = clone(model).fit(matrix[train], y[train]).predict(matrix[test])
    elif is_classifier(model):
        classes, counts = np.unique(y[train], return_counts=True)
        predicted = np.full(len(test), classes[counts.argmax()])
    else:
        predicted = np.full(len(test), y[train].mean())
    if is_classifier(model):
        return float((predicted != y[test]).mean())
    squared = ((y[test] - predicted) ** 2).sum()
    return float(squared / ((y[test] - y[test].mean()) ** 2).sum())

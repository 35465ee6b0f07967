"""The error of a model on selected columns, for a comparison of methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from hocmim.data.columns import Categories
from hocmim.data.table import as_table, take_columns, take_rows
from hocmim.selectors.stability import draw_rows

MAX_SIZES = 20

Fold = tuple[NDArray[Any], NDArray[Any]]


def evaluated_rows(
    groups: NDArray[np.int64], folds: Sequence[Fold], max_rows: int | None, seed: int
) -> NDArray[np.int64]:
    """Return the rows for the models: the same share of each fold and group."""
    if max_rows is None or len(groups) <= max_rows:
        return np.arange(len(groups))
    rng, share = np.random.RandomState(seed), max_rows / len(groups)
    parts = [test[draw_rows(groups[test], share, False, rng)] for _, test in folds]
    return np.sort(np.concatenate(parts))


class Evaluation:
    """The errors of a model on selected columns, each computed once.

    Parameters
    ----------
    X : table
    y : ndarray
    model : estimator
    rows : ndarray of int64
        The rows on which the model is fitted and tested, in order.
    """

    def __init__(self, X: Any, y: NDArray[Any], model: Any, rows: NDArray[np.int64]) -> None:
        self._rows, self._model = rows, model
        self._X = X if len(rows) == len(y) else take_rows(X, rows)
        self._y = y[rows]
        # By the first test row, which tells the folds apart, and the columns.
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    @property
    def n_rows(self) -> int:
        """How many rows the model is fitted and tested on."""
        return len(self._rows)

    @property
    def measure(self) -> str:
        """What the errors are."""
        return "error" if is_classifier(self._model) else "1 − R²"

    def curve(
        self, selected: tuple[int, ...], train: NDArray[Any], test: NDArray[Any]
    ) -> dict[int, float]:
        """Return the error on the first 0, 1, 2, … of the selected columns, by their number.

        Methods that select the same columns share their errors.
        """
        sizes, fold = _sizes(len(selected)), int(test[0])
        missing = [m for m in sizes if (fold, selected[:m]) not in self._known]
        if missing:
            train, test = (np.flatnonzero(np.isin(self._rows, part)) for part in (train, test))
            matrix, ends = design_matrix(self._X, selected, train)
            for m in missing:
                error = _error(self._model, matrix[:, : ends[m]], self._y, train, test)
                self._known[fold, selected[:m]] = error
        return {m: self._known[fold, selected[:m]] for m in sizes}


def _sizes(most: int) -> list[int]:
    """Return the numbers of columns to try: all up to 20, about 20 of a larger number."""
    if most <= MAX_SIZES:
        return list(range(most + 1))
    return [0, *np.unique(np.rint(np.geomspace(1, most, MAX_SIZES)).astype(int)).tolist()]


def design_matrix(
    X: Any, columns: Sequence[int], train: NDArray[Any]
) -> tuple[NDArray[np.float64], list[int]]:
    """Return columns of a table as numbers for a model, prepared by the training rows.

    Numbers are standardised, missing ones are replaced by the median; categories are one-hot coded.

    Returns
    -------
    matrix : ndarray of float64, one row a row of X
    ends : list of int
        The first m of the columns are ``matrix[:, :ends[m]]``.
    """
    if not columns:
        return np.empty((as_table(X).n_rows, 0)), [0]
    parts: list[NDArray[np.float64]] = []
    for block in as_table(take_columns(X, columns)).blocks():
        if isinstance(block, Categories):
            seen = np.unique(block.codes[train])
            parts.append((block.codes[:, None] == seen[seen >= 0]).astype(np.float64))
        else:
            parts += [_standardised(column, train) for column in block.values.T]
    return np.hstack(parts), [0, *np.cumsum([part.shape[1] for part in parts]).tolist()]


def _standardised(column: NDArray[Any], train: NDArray[Any]) -> NDArray[np.float64]:
    values = column.astype(np.float64)
    present = values[train][~np.isnan(values[train])]
    values[np.isnan(values)] = np.median(present) if len(present) else 0.0
    spread = values[train].std()
    return ((values - values[train].mean()) / (spread if spread > 0 else 1.0))[:, None]


def _error(
    model: Any, matrix: NDArray[Any], y: NDArray[Any], train: NDArray[Any], test: NDArray[Any]
) -> float:
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

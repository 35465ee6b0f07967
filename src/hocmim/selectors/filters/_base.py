"""What the filters share: numbers in, one score a column out, and a ranking by it."""

from __future__ import annotations

from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from hocmim.data.numeric import numeric_matrix
from hocmim.errors import InvalidTableError, InvalidTargetError
from hocmim.selectors.base import RankingSelector

BLOCK_CELLS = 1 << 20
"""Cells a vectorised filter works on at a time: 8 MB of floating-point numbers."""


class Samples(NamedTuple):
    """A table and its target as a filter sees them.

    Attributes
    ----------
    values : ndarray of float64, shape (N, D)
        Categories are the index of each value among the sorted values that occur.
    is_categorical : ndarray of bool, shape (D,)
    y : ndarray of int32, shape (N,)
        Classes 0..n_classes-1, in sorted order of their labels.
    """

    values: NDArray[np.float64]
    is_categorical: NDArray[np.bool_]
    y: NDArray[np.int32]


class Filter(RankingSelector):
    """A selector that works on the raw table and ranks every column.

    Scores are compared after rounding to 12 decimals, or to 13 significant digits where they are
    10 or more (see :func:`comparable`); of equal columns the one with the lowest index comes first.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        The score of every column, in the order of the table.
    """

    lower_is_better: ClassVar[bool] = False

    def _read(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Samples, int]:
        """The numbers, the classes, and how many columns to select."""
        table, target = self._validate_input(X, y, sample_weight)
        n_selected = self._resolve_n_features(table.n_columns)
        method = type(self).__name__
        classes = class_codes(target, method)
        values, is_categorical, has_missing = numeric_matrix(table)
        if has_missing.any():
            column = table.label(int(has_missing.argmax()))
            raise InvalidTableError(
                f"Input X contains NaN (a missing value) in {column}, and {method} needs complete "
                "columns. Fill the gaps first, for example with sklearn.impute.SimpleImputer, or "
                "use a selector that copes with them: the information-theoretic ones (HOCMIM, "
                "CMIM, JMI, mRMR and their relatives) take missing as a level of its own."
            )
        return Samples(values, is_categorical, classes), n_selected

    def _set_ranking(
        self, order: NDArray[np.intp], scores: NDArray[np.float64], n_selected: int
    ) -> Self:
        """Set the fitted attributes from all columns in order, the best first."""
        ranking = np.empty(len(order), np.int64)
        ranking[order] = np.arange(1, len(order) + 1)
        self.feature_scores_ = scores
        selected = order[:n_selected]
        return self._set_selection(selected, scores[selected], ranking)


class ScoringFilter(Filter):
    """A filter that gives each column one score, once, and ranks by it."""

    def fit(self, X: Any, y: Any) -> Self:
        """Score every column of X and keep the best.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Numbers or categories, none missing.
        y : array of shape (n_samples,)
            Classes: integers, booleans or strings.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        samples, n_selected = self._read(X, y, sample_weight)
        scores = self._score(samples)
        order = best_first(scores, lower_is_better=self.lower_is_better)
        return self._set_ranking(order, scores, n_selected)

    @abstractmethod
    def _score(self, samples: Samples) -> NDArray[np.float64]:
        """One score a column."""


class WeightedFilter(ScoringFilter):
    """A filter for which a row that is there twice says twice as much, and nothing else."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score every column of X and keep the best.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Numbers or categories, none missing.
        y : array of shape (n_samples,)
            Classes: integers, booleans or strings.
        sample_weight : array of shape (n_samples,), optional
            Whole numbers: a row of weight w counts as w equal rows, one of weight 0 as none.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)


def class_codes(y: NDArray[Any], method: str) -> NDArray[np.int32]:
    """Classes as 0..n_classes-1, in sorted order of their labels."""
    if y.dtype.kind == "f" and np.any(y != np.rint(y)):
        raise InvalidTargetError(
            f"{method} needs classes, but y is continuous (it holds {y[y != np.rint(y)][0]!r}). "
            "Cut y into classes first, for example with pandas.qcut(y, 4, labels=False)."
        )
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise InvalidTargetError(
            f"{method} needs at least two classes, but y has one class only: {labels[0]!r}."
        )
    return codes.astype(np.int32)


def comparable(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores as the ranking compares them, so that no order of summation can decide a tie.

    |score| < 10: rounded to 12 decimals. Larger: to 13 significant digits, since an unbounded
    statistic has no more than that. Infinite scores stay infinite.
    """
    keys = np.array(scores, np.float64)
    finite = np.isfinite(keys)
    size = np.maximum(np.abs(keys[finite]), 1.0)
    decade = 10.0 ** np.floor(np.log10(size))
    keys[finite] = np.rint(keys[finite] / decade * 1e12) * decade
    return keys


def best_first(scores: NDArray[np.float64], *, lower_is_better: bool = False) -> NDArray[np.intp]:
    """Column indices from the best score to the worst; equal scores: the lowest index first."""
    keys = comparable(scores)
    return np.argsort(keys if lower_is_better else -keys, kind="stable")


def column_blocks(n_rows: int, n_columns: int) -> list[slice]:
    """All columns in blocks of about ``BLOCK_CELLS`` cells."""
    width = max(1, BLOCK_CELLS // max(1, n_rows))
    return [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]


def indicator(y: NDArray[np.int32]) -> NDArray[np.float64]:
    """One row a class: 1.0 where a sample belongs to it. Shape (n_classes, N)."""
    return (np.arange(y.max() + 1)[:, None] == y).astype(np.float64)


def constant_columns(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns have one value only."""
    return np.asarray((values == values[:1]).all(axis=0))


def thread_pool(n_jobs: int | None) -> ThreadPoolExecutor:
    """Threads for kernels that release the GIL; ``n_jobs`` as in joblib."""
    return ThreadPoolExecutor(max_workers=effective_n_jobs(n_jobs))

"""The base of the filters: they turn a numeric table into one score a column, and a ranking."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hocmim.data.numeric import numeric_matrix
from hocmim.data.target import TARGET_KINDS, decide_kind, summarize_target
from hocmim.errors import InvalidTableError, InvalidTargetError
from hocmim.parameters import OneOf, check_value
from hocmim.selectors.base import RankingSelector
from hocmim.threads import ThreadPool, resolve_n_jobs

BLOCK_CELLS = 1 << 20
"""Cells of a block of a vectorised filter: 8 MB of floating-point numbers."""


class Samples(NamedTuple):
    """A table and its target as arrays of numbers.

    Attributes
    ----------
    values : ndarray of float64, shape (N, D)
        A category is the index of its level among the sorted levels that occur.
    is_categorical : ndarray of bool, shape (D,)
    y : ndarray of shape (N,)
        Classes 0..n_classes-1 as int32, in sorted order of their labels; or the values of a
        quantity as float64.
    """

    values: NDArray[np.float64]
    is_categorical: NDArray[np.bool_]
    y: NDArray[Any]

    @property
    def is_quantity(self) -> bool:
        """Whether y is a quantity."""
        return self.y.dtype.kind == "f"


class Filter(RankingSelector):
    """A selector that scores the raw columns and ranks all of them.

    Scores are compared after rounding to 12 decimals, or to 13 significant digits where they are
    10 or more (see :func:`comparable`). Among equal scores the lowest column index comes first.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        The score of every column, in the order of the table.
    """

    lower_is_better: ClassVar[bool] = False
    # Whether the method has a form for a target that is a quantity.
    ranks_quantities: ClassVar[bool] = False
    target_kind: str

    def _read(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Samples, int]:
        """Return the numbers, the target, and how many columns to select."""
        check_value("target_kind", self.target_kind, OneOf(TARGET_KINDS))
        table, target = self._validate_input(X, y, sample_weight)
        n_selected = self._resolve_n_features(table.n_columns)
        method = type(self).__name__
        values_of_y = self._read_target(target)
        values, is_categorical, has_missing = numeric_matrix(table)
        if has_missing.any():
            column = table.label(int(has_missing.argmax()))
            raise InvalidTableError(
                f"Input X contains NaN (a missing value) in {column}, and {method} needs complete "
                "columns. Impute missing values first, for example with "
                "sklearn.impute.SimpleImputer, or use an information-theoretic selector such as "
                "HOCMIM, for which missing is a level of its own."
            )
        return Samples(values, is_categorical, values_of_y), n_selected

    def _read_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the codes of classes, or the values of a quantity."""
        kind = decide_kind(summarize_target(y), self.target_kind)
        method = type(self).__name__
        if kind.is_quantity and not self.ranks_quantities:
            raise InvalidTargetError(
                f"{method} needs classes, but y is a quantity. Cut y into classes first, for "
                "example with pandas.qcut(y, 4, labels=False), or pass target_kind='classes' if "
                "each of its values is a class."
            )
        self._set_target_kind(kind)
        return _numbers(y, method) if kind.is_quantity else class_codes(y, method)

    def _set_ranking(
        self, order: NDArray[np.intp], scores: NDArray[np.float64], n_selected: int
    ) -> Self:
        """Set the fitted attributes; ``order`` has all columns, the best first."""
        ranking = np.empty(len(order), np.int64)
        ranking[order] = np.arange(1, len(order) + 1)
        self.feature_scores_ = scores
        selected = order[:n_selected]
        return self._set_selection(selected, scores[selected], ranking)


class ScoringFilter(Filter):
    """A filter that computes one score for each column and ranks by it."""

    def fit(self, X: Any, y: Any) -> Self:
        """Score every column of X and select the best.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Numbers or categories, without missing values.
        y : array of shape (n_samples,)
            Classes, or a quantity if the method has a form for it: see ``target_kind``.

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
        """Return one score a column."""


class WeightedFilter(ScoringFilter):
    """A filter that accepts weights: a row of weight w counts exactly as w equal rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score every column of X and select the best.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Numbers or categories, without missing values.
        y : array of shape (n_samples,)
            Classes, or a quantity if the method has a form for it: see ``target_kind``.
        sample_weight : array of shape (n_samples,), optional
            Non-negative integers: a row of weight w counts as w equal rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)


def class_codes(y: NDArray[Any], method: str) -> NDArray[np.int32]:
    """Return classes as 0..n_classes-1, in sorted order of their labels."""
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise InvalidTargetError(
            f"{method} needs at least two classes, but y has only one: {labels[0]!r}."
        )
    return codes.astype(np.int32)


def _numbers(y: NDArray[Any], method: str) -> NDArray[np.float64]:
    values = y.astype(np.float64)
    if values.min() == values.max():
        raise InvalidTargetError(
            f"{method} needs a target that varies, but y has only one value: {values[0]!r}."
        )
    return values


def comparable(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round scores for the comparison, so that the order of summation cannot decide a tie.

    |score| < 10: to 12 decimals. Larger scores: to 13 significant digits, the precision of an
    unbounded statistic. Infinite scores stay infinite.
    """
    keys = np.array(scores, np.float64)
    finite = np.isfinite(keys)
    size = np.maximum(np.abs(keys[finite]), 1.0)
    decade = 10.0 ** np.floor(np.log10(size))
    keys[finite] = np.rint(keys[finite] / decade * 1e12) * decade
    return keys


def best_first(scores: NDArray[np.float64], *, lower_is_better: bool = False) -> NDArray[np.intp]:
    """Return column indices from best to worst; among equal scores the lowest index first."""
    keys = comparable(scores)
    return np.argsort(keys if lower_is_better else -keys, kind="stable")


def column_blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Divide all columns into blocks of about ``BLOCK_CELLS`` cells."""
    width = max(1, BLOCK_CELLS // max(1, n_rows))
    return [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]


def indicator(y: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return one row a class: 1.0 for the samples of the class. Shape (n_classes, N)."""
    return (np.arange(y.max() + 1)[:, None] == y).astype(np.float64)


def constant_columns(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns have only one value."""
    return np.asarray((values == values[:1]).all(axis=0))


def thread_pool(n_jobs: int | None) -> ThreadPool:
    """Return threads for kernels that release the GIL; ``n_jobs`` as in joblib."""
    return ThreadPool(resolve_n_jobs(n_jobs, outside=1))

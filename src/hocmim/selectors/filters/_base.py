"""The base of the filters: they turn a numeric table into one score a column, and a ranking."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.codes import NARROW_LEVELS, Column
from hocmim.coding.encoder import encode
from hocmim.coding.fitted import once
from hocmim.coding.groups import Features
from hocmim.coding.identifiers import (
    Marks,
    are_nearly_distinct,
    identifiers_or_decided,
    may_be_row_numbers,
)
from hocmim.coding.targets import encode_targets
from hocmim.criteria.cost import per_cost
from hocmim.data.numeric import extreme_exponents, numeric_matrix
from hocmim.data.table import Table
from hocmim.data.target import TARGET_KINDS, decide_kind, summarize_target
from hocmim.data.values import indices_below
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.insight.cautions import (
    IDENTIFIERS,
    MAX_CHECKED,
    only_identifiers,
    warn_about_identifiers,
    warn_about_ranked,
)
from hocmim.insight.notes import COPY_ROWS_PER_LEVEL
from hocmim.memory import BYTES_PER_NUMBER, prepare_products
from hocmim.parameters import OneOf, check_value
from hocmim.selectors.constrained import ConstrainedSelector
from hocmim.selectors.declared import add_parameters
from hocmim.selectors.parameters import CONSTRAINTS
from hocmim.text import value_text
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


class Filter(ConstrainedSelector):
    """A selector that scores the raw columns and ranks all of them.

    Columns to keep come first, in the order of their scores; excluded columns come last and are
    never selected. With costs the columns are ranked by the score per unit of cost. ``__init__`` of
    every filter has the parameters ``CONSTRAINTS`` besides its own.

    Scores are compared after rounding to 12 decimals, or to 13 significant digits where they are
    10 or more (see :func:`comparable`). Among equal scores the lowest column index comes first.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        The score of every column, in the order of the table.
    identifiers_ : ndarray of int64
        The columns that identify the rows. With ``identifiers="drop"`` they rank last and are not
        selected.
    """

    saved_attributes = ConstrainedSelector.saved_attributes | {
        "feature_scores_": (np.ndarray,),
        "_order": (np.ndarray,),
    }
    bytes_per_value: ClassVar[int] = BYTES_PER_NUMBER
    lower_is_better: ClassVar[bool] = False
    # Whether the method has a form for a target that is a quantity.
    ranks_quantities: ClassVar[bool] = False
    # Why the method has no score per unit of cost, if so.
    why_no_costs: ClassVar[str] = ""
    target_kind: str
    identifiers: str

    def _set_content(self, content: dict[str, Any], n_columns: int | None = None) -> None:
        super()._set_content(content, n_columns)
        if not hasattr(self, "_order"):  # a file of the first form
            self._order = np.argsort(self.ranking_)
        indices_below(self._order, self.n_features_in_, "order", distinct=True)
        self._restore_constraints()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            add_parameters(cls, CONSTRAINTS)

    def _read(
        self, X: Any, y: Any, sample_weight: Any = None, *, extend_to: int | None = None
    ) -> tuple[Samples, int]:
        """Return the numbers, the target, and how many columns to select."""
        check_value("target_kind", self.target_kind, OneOf(TARGET_KINDS))
        if self.costs is not None and self.why_no_costs:
            raise InvalidParameterError(
                f"{self.display_name} has no score per unit of cost: {self.why_no_costs}. Leave "
                "costs out, or use another method."
            )
        check_value("identifiers", self.identifiers, OneOf(IDENTIFIERS))
        table, target = self._validate_input(X, y, sample_weight, several=True)
        features = Features(table.n_columns, getattr(self, "feature_names_in_", None))
        self._extended_to = extend_to
        self._constraints = self._resolve_constraints(features)
        self._number_to_select(features, self._constraints)  # an error comes before the work
        prepare_products()
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
        self._find_identifiers(table, values, is_categorical)
        n_selected = self._number_to_select(features, self._constraints)
        return Samples(scale_extremes(values), is_categorical, values_of_y), n_selected

    def _find_identifiers(
        self, table: Table, values: NDArray[np.float64], is_categorical: NDArray[np.bool_]
    ) -> None:
        """Set identifiers_ and warn about them."""
        low, high = values.min(axis=0), values.max(axis=0)
        is_found = np.zeros(len(low), bool)
        for j in np.flatnonzero(is_categorical).tolist():  # codes from 0 to the last level
            n_rows = len(once(table, values[:, j]))
            is_found[j] = are_nearly_distinct(high[j] + 1, n_rows)
        suspects = may_be_row_numbers(low, high, len(values)) & ~is_categorical
        for j in np.flatnonzero(suspects).tolist():
            is_found[j] = Marks.of(once(table, values[:, j])).is_row_number
        self.identifiers_ = identifiers_or_decided(np.flatnonzero(is_found))
        if self.identifiers == "drop" and len(self.identifiers_) == table.n_columns:
            raise only_identifiers()
        found = self.identifiers_
        if self.identifiers == "drop":
            self._constraints = self._constraints.without(found.tolist())
            found = np.array(self._constraints.left_out, np.int64)
        warn_about_identifiers(table.names, found, self.identifiers)

    def _read_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the codes of classes, or the values of a quantity."""
        if y.ndim > 1:
            return self._read_targets(y)
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

    def _read_targets(self, y: NDArray[Any]) -> NDArray[np.int32]:
        """Return the combinations of the values of several targets, as codes of classes."""
        target = encode_targets(y, None, replace(self.target_options(), kind=self.target_kind))
        if target.strategy != "joint":
            raise InvalidTargetError(
                f"{self.display_name} takes several targets as one, whose classes are the "
                "combinations of their values, and here there are fewer than 5 rows for each "
                "combination. Fit on fewer targets, or use an information-theoretic selector such "
                "as HOCMIM with target_strategy='mean'."
            )
        for one in target.each:
            self._set_target_kind(one.kind)
        self.target_kind_ = tuple(one.kind.name for one in target.each)
        return target.column.codes.astype(np.int32)

    def _set_ranking(
        self,
        order: NDArray[np.intp],
        scores: NDArray[np.float64],
        n_selected: int,
        samples: Samples,
    ) -> Self:
        """Set the fitted attributes; ``order`` has all columns, the best first."""
        self.feature_scores_ = scores
        self._order = self._constrained_order(order)
        self._warn_about_first(samples)
        return self._select_first(n_selected)

    def _warn_about_first(self, samples: Samples) -> None:
        """Warn if one of the best columns gives the target away."""
        is_closed = np.isin(self._order, list(self._constraints.closed))
        first = self._order[~is_closed][:MAX_CHECKED].astype(np.int64)
        values, is_categorical = samples.values[:, first], samples.is_categorical[first]
        # With so many levels a column is no copy of a target: see insight.notes.
        is_checked = ~is_categorical | (values.max(axis=0) < len(values) / COPY_ROWS_PER_LEVEL)
        numbers = np.flatnonzero(~is_categorical)
        levels = np.flatnonzero(is_categorical & is_checked)
        coded = encode(values[:, numbers]) if len(numbers) else None
        columns = [coded.column(place) for place in range(len(numbers))] if coded else []
        columns += [_level_column(values[:, place]) for place in levels]
        if samples.is_quantity:
            y = encode(samples.y[:, None]).column(0)
        elif samples.y.max() < len(values) / COPY_ROWS_PER_LEVEL:
            y = _level_column(samples.y)
        else:
            return
        names = getattr(self, "feature_names_in_", None)
        warn_about_ranked(names, columns, first[np.concatenate([numbers, levels])], y)

    def _constrained_order(self, order: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return columns to keep first, then by score per unit of cost, excluded ones last."""
        keep, closed, spending = self._constraints.for_search().values()
        if spending is not None:
            keys = per_cost(comparable(self.feature_scores_), spending.costs)
            order = np.argsort(-keys, kind="stable")
        is_kept, is_closed = np.isin(order, keep), np.isin(order, closed)
        return np.concatenate([order[is_kept], order[~is_kept & ~is_closed], order[is_closed]])

    def _select_first(self, n_selected: int) -> Self:
        """Select the first columns of the order that can be paid for."""
        keep, closed, spending = self._constraints.for_search().values()
        order = self._order
        selected = order[:n_selected].tolist()
        if spending is not None and spending.budget is not None:
            selected = order[: len(keep)].tolist()
            for j in order[len(keep) : len(order) - len(closed)].tolist():
                if len(selected) < n_selected and spending.is_affordable(selected)[j]:
                    selected.append(j)
        rest = order[~np.isin(order, selected)]
        ranking = np.empty(len(order), np.int64)
        ranking[np.concatenate([np.array(selected, np.intp), rest])] = 1 + np.arange(len(order))
        self._set_selection(selected, self.feature_scores_[selected], ranking)
        steps = tuple(replace(step, is_kept=step.index in keep) for step in self.selection_.steps)
        self.selection_ = replace(self.selection_, steps=steps, closed=closed, spending=spending)
        return self

    def extend(self, k: int, X: Any = None, y: Any = None) -> Self:
        """Select more columns, up to k in all: the next ones of the ranking.

        Parameters
        ----------
        k : int
            How many columns to select in all.
        X, y : optional
            Not needed, because every column has its rank.
        """
        check_is_fitted(self)
        self._extended_to = self._check_extension(k)
        return self._select_first(self._extended_to)


class ScoringFilter(Filter):
    """A filter that computes one score for each column and ranks by it."""

    def fit(self, X: Any, y: Any) -> Self:
        """Score every column of X and select the best.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Numbers or categories, without missing values.
        y : array of shape (n_samples,), or (n_samples, n_targets)
            Classes, or a quantity if the method has a form for it: see ``target_kind``. Of several
            targets the combinations of values are the classes; quantities are cut into 3 bins.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        samples, n_selected = self._read(X, y, sample_weight)
        scores = self._score(samples)
        order = best_first(scores, lower_is_better=self.lower_is_better)
        return self._set_ranking(order, scores, n_selected, samples)

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
        y : array of shape (n_samples,), or (n_samples, n_targets)
            Classes, or a quantity if the method has a form for it: see ``target_kind``. Of several
            targets the combinations of values are the classes; quantities are cut into 3 bins.
        sample_weight : array of shape (n_samples,), optional
            Non-negative integers: a row of weight w counts as w equal rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)


def _level_column(values: NDArray[Any]) -> Column:
    """Return levels, which are 0, 1, 2, …, as codes."""
    arity = int(values.max()) + 1
    is_narrow = arity <= NARROW_LEVELS
    return Column(values.astype(np.uint8) if is_narrow else values.astype(np.uint16), arity)


def class_codes(y: NDArray[Any], method: str) -> NDArray[np.int32]:
    """Return classes as 0..n_classes-1, in sorted order of their labels."""
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise InvalidTargetError(
            f"{method} needs at least two classes, but y has only one: {value_text(labels[0])}."
        )
    return codes.astype(np.int32)


def _numbers(y: NDArray[Any], method: str) -> NDArray[np.float64]:
    values = y.astype(np.float64)
    if values.min() == values.max():
        raise InvalidTargetError(
            f"{method} needs a target that varies, but y has only one value: "
            f"{value_text(values[0])}."
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


def scale_extremes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numbers, with columns of very large or small ones multiplied by a power of two.

    No filter depends on the unit of a column, and squares of such numbers would overflow.
    """
    exponents = extreme_exponents(values)
    is_extreme = exponents != 0
    if is_extreme.any():
        values = values.copy()
        values[:, is_extreme] = np.ldexp(values[:, is_extreme], -exponents[is_extreme])
    return values


def indicator(y: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return one row a class: 1.0 for the samples of the class. Shape (n_classes, N)."""
    return (np.arange(y.max() + 1)[:, None] == y).astype(np.float64)


def level_counts(codes: NDArray[np.float64], y: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return how many samples of each class have each level: shape (n_levels, n_classes)."""
    levels = codes.astype(np.int64)
    n_classes = int(y.max()) + 1
    counts = np.bincount(levels * n_classes + y, minlength=(levels.max() + 1) * n_classes)
    return counts.reshape(-1, n_classes).astype(np.float64)


def constant_columns(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns have only one value."""
    return np.asarray((values == values[:1]).all(axis=0))


def thread_pool(n_jobs: int | None) -> ThreadPool:
    """Return threads for kernels that release the GIL; ``n_jobs`` as in joblib."""
    return ThreadPool(resolve_n_jobs(n_jobs, outside=1))

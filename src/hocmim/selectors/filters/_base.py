"""The base of the filters: they turn a numeric table into a score per column, and a ranking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.encoded import open_memory
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, column_name
from hocmim.coding.identifiers import (
    IDENTIFIERS,
    are_nearly_distinct,
    find_in_numbers,
    one_per_row,
)
from hocmim.coding.target import Target, decide_kind, encode_target, warn_about_guess
from hocmim.criteria.cost import per_cost
from hocmim.data.numeric import extreme_exponents, numeric_matrix
from hocmim.data.table import Table, as_table
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.insight.checks import LEAK, check_codes, warn_about, warn_about_identifiers
from hocmim.memory import BYTES_PER_NUMBER, prepare_products
from hocmim.parameters import check_parameters, check_value, one_of, whole
from hocmim.search.constraints import (
    COUNTS,
    Budget,
    Constraints,
    resolve_constraints,
)
from hocmim.search.selection import Selection, Step
from hocmim.search.stopping import StopTest
from hocmim.selectors.base import Selector, leave_out_identifiers
from hocmim.text import value_text
from hocmim.threads import ThreadPool, resolve_n_jobs

# Columns of a ranking that are looked at.
MAX_CHECKED = 64
BLOCK_CELLS = 1 << 20
"""Cells of a block of a vectorised filter: 8 MB of floating-point numbers."""


class Samples(NamedTuple):
    """A table and its target as arrays of numbers."""

    # shape (N, D). A category is the index of its level among the sorted levels that occur.
    values: NDArray[np.float64]
    is_categorical: NDArray[np.bool_]  # shape (D,)
    # shape (N,). Classes 0..n_classes-1 as int32, in sorted order of their labels; or the values of
    # a quantity as float64.
    y: NDArray[Any]

    @property
    def is_quantity(self) -> bool:
        """Whether y is a quantity."""
        return self.y.dtype.kind == "f"


class Filter(Selector):
    """A selector that scores the raw columns and ranks all of them.

    Columns to keep come first, in the order of their scores; excluded columns come last and are
    never selected. With costs the columns are ranked by the score per unit of cost.

    Scores are compared after rounding to 12 decimals, or to 13 significant digits where they are
    10 or more (see :func:`comparable`). Among equal scores the lowest column index comes first.

    Parameters
    ----------
    n_features_to_select : int, float, Budget or None, default 10
        How many columns to select: a number, a fraction of all, None for half of them, or as many
        as a ``Budget`` pays for.
    target : "classes", "quantity", Target or None
        What y holds. None: decided from y.
    identifiers : {"drop", "keep", "warn"}, default "drop"
        What to do with columns that identify the rows: see ``hocmim.coding.identifiers``.
    keep, exclude : names, indices, mask or callable, or None
        Columns that are selected in any case, and columns that are never selected.
    costs : array of numbers, dict of name to number, Series, or None
        What each column costs: columns are ranked by the score per unit of cost.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        The score of every column, in the order of the table.
    identifiers_ : ndarray of int64
        The columns that identify the rows. With ``identifiers="drop"`` they rank last and are not
        selected.
    target_kind_ : {"classes", "quantity"}
        What y holds; a tuple for several targets.
    """

    lower_is_better: ClassVar[bool] = False
    # Whether the method has a form for a target that is a quantity.
    ranks_quantities: ClassVar[bool] = False
    # Why the method has no score per unit of cost, if so.
    why_no_costs: ClassVar[str] = ""
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features_to_select": COUNTS,
        "target": [one_of(["classes", "quantity"]), Target, None],
        "identifiers": [one_of(IDENTIFIERS)],
    }

    def __init__(
        self,
        n_features_to_select: int | float | Budget | None = 10,
        *,
        target: Target | str | None = None,
        identifiers: str = "drop",
        keep: Any = None,
        exclude: Any = None,
        costs: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.identifiers = identifiers
        self.keep = keep
        self.exclude = exclude
        self.costs = costs

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls).get("_parameter_constraints", {})
        cls._parameter_constraints = Filter._parameter_constraints | own

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the columns of X and select the best.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Numbers or categories, without missing values.
        y : array of shape (n_samples,), or (n_samples, n_targets)
            Classes, or a quantity if the method has a form for it: see ``target``. Of several
            targets the combinations of values are the classes; quantities are cut into 3 bins.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def fit_part(
        self,
        X: Any,
        y: Any,
        identifiers: NDArray[np.int64] | None,
        *,
        warns: bool = False,
        **given: Any,
    ) -> Self:
        """See Selector."""
        weight = given.get("sample_weight")
        return self._fit(X, y, weight, identifiers=identifiers, warns=warns)

    @abstractmethod
    def _fit(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Self:
        """Rank the columns; ``options`` are those of ``_read``."""

    def _read(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        identifiers: NDArray[np.int64] | None = None,
        warns: bool = True,
    ) -> tuple[Samples, Constraints]:
        """Return the numbers and the target, and which columns may be selected.

        ``identifiers``: the columns that identify the rows, if they are known; ``warns``: whether
        to warn about them.
        """
        if isinstance(self.n_features_to_select, (str, StopTest)):
            raise InvalidParameterError(
                f"n_features_to_select={self.n_features_to_select!r} needs a stopping test, and "
                f"{self.display_name} has none: it ranks all columns. Pass a number, or use an "
                "information-theoretic selector such as RobustHOCMIM."
            )
        check_parameters(self)
        if self.costs is not None and self.why_no_costs:
            raise InvalidParameterError(
                f"{self.display_name} has no score per unit of cost: {self.why_no_costs}. Leave "
                "costs out, or use another method."
            )
        method = type(self).__name__
        table, target = open_memory(
            X, y, sample_weight, caller=method, bytes_per_value=BYTES_PER_NUMBER
        )
        features = Features(table.n_columns, table.names)
        asked = self.n_features_to_select
        constraints = resolve_constraints(features, self.keep, self.exclude, self.costs, asked)
        prepare_products()
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
        self.features_ = features
        self.identifiers_ = (
            _identifiers(table, values, is_categorical) if identifiers is None else identifiers
        )
        constraints = leave_out_identifiers(
            constraints, features, self.identifiers_, self.identifiers
        ).without_constants(np.flatnonzero(constant_columns(values)).tolist())
        if warns:
            shown = constraints.identifiers if self.identifiers == "drop" else self.identifiers_
            warn_about_identifiers(table.names, shown, self.identifiers)
        return Samples(scale_extremes(values), is_categorical, values_of_y), constraints

    def _read_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the codes of classes, or the values of a quantity; set the kind."""
        method, target = type(self).__name__, Target.of(self.target)
        if y.ndim > 1:
            found = encode_target(y, None, target)
            if found.strategy != "joint":
                raise InvalidTargetError(
                    f"{self.display_name} takes several targets as one, whose classes are the "
                    "combinations of their values, and here there are fewer than 5 rows for each "
                    "combination. Fit on fewer targets, or use an information-theoretic selector "
                    "such as HOCMIM with Target(strategy='mean')."
                )
            for one in found.each:
                warn_about_guess(one)
            self.target_kind_: Any = tuple(one.kind for one in found.each)
            return found.column.codes.astype(np.int32)
        kind = decide_kind(y, target.kind)
        if kind.is_quantity and not self.ranks_quantities:
            raise InvalidTargetError(
                f"{method} needs classes, but y is a quantity. Cut y into classes first, for "
                "example with pandas.qcut(y, 4, labels=False), or pass target='classes' if "
                "each of its values is a class."
            )
        warn_about_guess(kind)
        self.target_kind_ = kind.name
        return _numbers(y, method) if kind.is_quantity else class_codes(y, method)

    def _set_ranking(
        self,
        order: NDArray[np.intp],
        scores: NDArray[np.float64],
        constraints: Constraints,
        n_selected: int,
        samples: Samples | None = None,
    ) -> Self:
        """Set the fitted attributes; ``order`` has all columns, the best first.

        With ``samples`` there is a warning if one of the best columns gives the target away.
        """
        spending = constraints.spending
        if spending is not None:
            keys = per_cost(comparable(scores), spending.costs)
            order = np.argsort(-keys, kind="stable")
        is_kept, is_closed = np.isin(order, constraints.keep), np.isin(order, constraints.closed)
        self._order = np.concatenate(
            [order[is_kept], order[~is_kept & ~is_closed], order[is_closed]]
        )
        self.feature_scores_ = scores
        if samples is not None:
            n_open = len(order) - int(is_closed.sum())
            _warn_about_first(self.features_.column_names, self._order[:n_open], samples)
        return self._select_first(constraints, n_selected)

    def _select_first(self, constraints: Constraints, n_selected: int) -> Self:
        """Select the first columns of the order that can be paid for."""
        keep, closed, spending = constraints.keep, constraints.closed, constraints.spending
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
        scores = self.feature_scores_
        selection = Selection(
            tuple(Step(j, float(scores[j]), {}, is_kept=j in keep) for j in selected),
            np.full(len(order), np.nan),
            excluded=constraints.excluded,
            identifiers=constraints.identifiers,
            constants=constraints.constants,
            spending=spending,
        )
        return self._set_selection(selection, self.features_, ranking)

    def restore(
        self,
        selection: Selection,
        features: Features,
        scores: NDArray[np.float64],
        order: NDArray[np.int64],
    ) -> None:
        """Set the fitted attributes from a file."""
        self.features_, self.feature_scores_, self._order = features, scores, order
        self._select_first(selection.constraints, len(selection))

    def extend(self, k: int, X: Any = None, y: Any = None) -> Self:
        """Select more columns, up to k in all: the next ones of the ranking.

        Parameters
        ----------
        k : int
            How many columns to select in all.
        X, y : optional
            Not needed, because every column has its rank.
        """
        return self._select_first(*self._extended(k))

    def _extended(self, k: int) -> tuple[Constraints, int]:
        """Return the constraints of the fit, and k, or all candidates if they are fewer."""
        check_is_fitted(self)
        constraints = self.selection_.constraints
        check_value("k", k, [whole(len(self.selection_))])
        return constraints, constraints.count(k, "k")


class ScoringFilter(Filter):
    """A filter that computes one score for each column and ranks by it."""

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Self:
        samples, constraints = self._read(X, y, sample_weight, **options)
        n_selected = constraints.count(self.n_features_to_select)
        scores = self._score(samples)
        order = best_first(scores, lower_is_better=self.lower_is_better)
        judged = samples if options.get("warns", True) else None
        return self._set_ranking(order, scores, constraints, n_selected, judged)

    @abstractmethod
    def _score(self, samples: Samples) -> NDArray[np.float64]:
        """Return the score of each column."""


class WeightedFilter(ScoringFilter):
    """A filter that accepts weights: a row of weight w counts exactly as w equal rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score every column of X and select the best.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Numbers or categories, without missing values.
        y : array of shape (n_samples,), or (n_samples, n_targets)
            Classes, or a quantity if the method has a form for it: see ``target``. Of several
            targets the combinations of values are the classes; quantities are cut into 3 bins.
        sample_weight : array of shape (n_samples,), optional
            Non-negative integers: a row of weight w counts as w equal rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)


def _identifiers(
    table: Table, values: NDArray[np.float64], is_categorical: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the columns that identify the rows."""
    low, high = values.min(axis=0), values.max(axis=0)
    is_found = np.zeros(len(low), bool)
    for j in np.flatnonzero(is_categorical).tolist():  # codes from 0 to the last level
        n_rows = len(one_per_row(values[:, j], table.rows))
        is_found[j] = are_nearly_distinct(high[j] + 1, n_rows)
    numbers = find_in_numbers(
        low, high, len(values), table.names, lambda j: one_per_row(values[:, j], table.rows)
    )
    is_found[[j for j in numbers if not is_categorical[j]]] = True
    return np.flatnonzero(is_found)


def _warn_about_first(
    names: Sequence[str] | None, order: NDArray[np.intp], samples: Samples
) -> None:
    """Warn if one of the best columns gives the target away."""
    first = np.sort(order[:MAX_CHECKED].astype(np.int64))
    if not len(first):
        return
    table, encoder = as_table(samples.values[:, first]), Encoder()
    codes = encoder.fit_transform(table)
    labels = [column_name(names, j) for j in first.tolist()]
    kind = "quantity" if samples.is_quantity else "classes"
    targets = encode_target(samples.y, None, Target(kind)).each
    warn_about(check_codes(encoder, codes, targets, names=labels, kinds=(LEAK,), table=table))


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
    """Return a row for each class: 1.0 for the samples of the class. Shape (n_classes, N)."""
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

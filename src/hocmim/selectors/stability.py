"""Stability of a selection: the same selector on many resamples of the same table.

Φ = 1 − [1/D Σ_f M/(M−1) p_f (1−p_f)] / [k̄/D (1 − k̄/D)]

p_f is the share of M resamples in which column f was selected, k̄ the mean number of selected
columns. 1: always the same columns; 0: as stable as random columns. Nogueira, Sechidis, Brown 2018.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags

from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import resolve_groups
from hocmim.coding.identifiers import decided_identifiers, identifiers_or_decided
from hocmim.coding.target import TargetOptions
from hocmim.data.row_groups import RowGroups, as_row_groups
from hocmim.data.table import Table, take_rows
from hocmim.data.target import TARGET_KINDS, as_target
from hocmim.errors import InvalidParameterError, without_data_warnings
from hocmim.parameters import JOBS, SEED, HasMethods, Number, OneOf, check_value
from hocmim.selectors.base import RankingSelector
from hocmim.selectors.kinds import (
    joint_strata,
    strata,
    with_target_kind,
    with_target_kinds,
)
from hocmim.selectors.resampling import draw_groups, draw_rows
from hocmim.selectors.splits import groups_for, make_folds

# More would take days.
MAX_RESAMPLES = 1_000_000

SELECTOR = HasMethods(
    ("fit", "get_support"), "an estimator with fit and get_support, such as HOCMIM(10)"
)
FRACTION = Number(0, 1, is_above=True)
CONFIDENCE = Number(0, 1, is_above=True, is_below=True)


class Stability(NamedTuple):
    """The stability index, its variance, and its confidence interval."""

    value: float
    variance: float
    interval: tuple[float, float]


def stability_index(selections: ArrayLike, *, confidence: float = 0.95) -> Stability:
    """Return Φ of several selections from the same columns, with its confidence interval.

    Parameters
    ----------
    selections : array of bool, shape (M, D)
        Which columns each of M ≥ 2 selections contains.
    confidence : float
        Confidence level of the interval.

    Returns
    -------
    Stability
        ``value``, ``variance`` and ``interval``. All are NaN if Φ is not defined, because every
        selection contains every column, or every selection is empty.

    References
    ----------
    Nogueira, Sechidis, Brown: On the stability of feature selection algorithms. Journal of Machine
    Learning Research 18(174), 2018.

    Examples
    --------
    >>> from hocmim import stability_index
    >>> round(stability_index([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]).value, 3)
    0.333
    """
    check_value("confidence", confidence, CONFIDENCE)
    chosen = _as_selections(selections)
    M, D = chosen.shape
    frequency, sizes = chosen.mean(axis=0), chosen.sum(axis=1)
    share = sizes.mean() / D
    by_chance = share * (1 - share)
    if by_chance == 0:
        return Stability(np.nan, np.nan, (np.nan, np.nan))
    index = 1 - M / (M - 1) * (frequency * (1 - frequency)).mean() / by_chance
    size = sizes / D
    each = (chosen @ frequency / D - size * share) / by_chance
    each += index / 2 * (2 * size * share - size - share + 1) / by_chance
    variance = 4 / M**2 * ((each - each.mean()) ** 2).sum()
    half = norm.ppf((1 + confidence) / 2) * np.sqrt(variance)
    interval = float(index - half), float(min(index + half, 1.0))
    return Stability(float(index), float(variance), interval)


def _as_selections(selections: ArrayLike) -> NDArray[np.float64]:
    try:
        chosen = np.asarray(selections, np.float64)
    except (TypeError, ValueError):
        chosen = np.empty(0)
    if chosen.ndim != 2 or len(chosen) < 2 or not np.isin(chosen, (0, 1)).all():
        raise InvalidParameterError(
            "selections must be a table of 0 and 1 with one row a selection and at least two rows."
        )
    return chosen


def wilson_intervals(counts: ArrayLike, n: int, *, confidence: float = 0.95) -> NDArray[np.float64]:
    """Return Wilson's interval of each probability, from counts out of n. Shape (D, 2)."""
    p, z = np.asarray(counts, np.float64) / n, norm.ppf((1 + confidence) / 2)
    middle = p + z**2 / (2 * n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)
    # For p = 0 and p = 1 the bound is exactly p; without this, rounding would change it.
    return np.column_stack([np.where(p == 0, 0.0, low), np.where(p == 1, 1.0, high)])


class StabilitySelector(MetaEstimatorMixin, RankingSelector):
    """Selects the columns that another selector selects often on resamples of the rows.

    The selector is fitted on ``n_resamples`` resamples of the rows, stratified by class; for a
    quantity y all rows are one stratum. A column
    is selected if it is selected in at least the share ``threshold`` of them.

    Parameters
    ----------
    selector : estimator
        Any selector with ``get_support``, of this package or of scikit-learn.
    n_resamples : int, default 50
    resampling : {"bootstrap", "subsample"}
        Draw rows with replacement, or without.
    cv : splitter, iterable or None
        Use the training rows of each split in place of resamples, such as those of
        ``RepeatedStratifiedKFold`` or ``GroupShuffleSplit``; ``n_resamples``, ``resampling`` and
        ``sample_fraction`` do not count then.
    sample_fraction : float or None
        Size of a resample, as a fraction of all rows. None: 1 for the bootstrap, 0.5 for
        subsamples.
    threshold : float, default 0.5
        The share of resamples in which a column must be selected.
    n_features_to_select : int, float or None, default None
        Select this many columns, the most frequent ones, and ignore the threshold; None uses the
        threshold.
    confidence : float, default 0.95
        Confidence level of the intervals.
    random_state : int, RandomState or None, default 0
        Seed of the resamples.
    n_jobs : int or None
        Number of resamples fitted in parallel, as in joblib. None: one after the other, each with
        the threads of the selector. Never changes a result.
    target_kind : {"auto", "classes", "quantity"}, default "auto"
        What y holds, for the resampling and for the selector. "auto": what the selector declares,
        or else as :func:`hocmim.data.target.decide_kind` says. Decided once, on all rows.

    Attributes
    ----------
    selected_ : ndarray of int64, shape (K,)
        The selected columns, the most frequent first; among equals the first in the table.
    scores_ : ndarray of float64, shape (K,)
        Their frequencies.
    frequencies_ : ndarray of float64, shape (n_features_in_,)
        The share of resamples in which each column was selected.
    frequency_intervals_ : ndarray of float64, shape (n_features_in_, 2)
        Wilson's interval of each: for the frequency in an infinite number of resamples.
    stability_ : float
        Φ: 1 if all resamples give the same columns, 0 if they are as stable as random columns. NaN
        if every resample gives all columns, or none.
    stability_interval_ : tuple of float
    selections_ : ndarray of bool, shape (n_resamples, n_features_in_)
    features_ : Features
        The columns, and the groups of columns that the selector selects as one feature (its
        ``feature_groups``); a group counts as one here too.
    ranking_ : ndarray of int64, shape (n_features_in_,)
        The rank of every column by its frequency.

    References
    ----------
    Nogueira, Sechidis, Brown: On the stability of feature selection algorithms. Journal of Machine
    Learning Research 18(174), 2018.
    Meinshausen, Bühlmann: Stability selection. Journal of the Royal Statistical Society B 72, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hocmim import HOCMIM, StabilitySelector
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> stable = StabilitySelector(HOCMIM(5), n_resamples=20).fit(X, y)
    >>> stable.frequencies_.shape
    (30,)
    """

    saved_attributes = RankingSelector.saved_attributes | {
        "selections_": (np.ndarray,),
        "frequencies_": (np.ndarray,),
        "frequency_intervals_": (np.ndarray,),
        "stability_": (float,),
        "stability_interval_": (tuple,),
    }

    def __init__(
        self,
        selector: Any,
        n_resamples: int = 50,
        *,
        resampling: str = "bootstrap",
        sample_fraction: float | None = None,
        threshold: float = 0.5,
        n_features_to_select: int | float | None = None,
        confidence: float = 0.95,
        random_state: Any = 0,
        n_jobs: int | None = None,
        target_kind: str = "auto",
        cv: Any = None,
    ) -> None:
        self.selector = selector
        self.n_resamples = n_resamples
        self.resampling = resampling
        self.sample_fraction = sample_fraction
        self.threshold = threshold
        self.n_features_to_select = n_features_to_select
        self.confidence = confidence
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.target_kind = target_kind
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the selector on resamples of X and y, and count how often it selects each column.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Anything the selector accepts.
        y : array of shape (n_samples,), or (n_samples, n_targets)
            Several targets if the selector takes them: see its ``target_strategy``.
        sample_weight : array of shape (n_samples,), optional
            Non-negative integers: a row of weight w is w equal rows, each drawn independently. The
            selector is fitted without weights.
        groups : array of shape (n_samples,), optional
            A label for each row: a resample draws whole groups, such as all rows of one patient.
            Groups are stratified by their most frequent class.
        """
        fraction = self._check_parameters()
        has_tags = hasattr(self.selector, "__sklearn_tags__")
        takes_several = has_tags and get_tags(self.selector).target_tags.multi_output
        table, target = self._validate_input(X, y, sample_weight, several=takes_several)
        names = getattr(self, "feature_names_in_", None)
        feature_groups = getattr(self.selector, "feature_groups", None)
        self.features_ = resolve_groups(feature_groups, table.n_columns, names)
        if target.ndim == 1:
            selector, kind = with_target_kind(self.selector, target, self.target_kind)
            self._set_target_kind(kind)
            classes, has_classes = strata(target, kind), not kind.is_quantity
        else:
            selector, kinds = with_target_kinds(self.selector, target, self.target_kind)
            self.target_kind_ = tuple(kind.name for kind in kinds)
            classes, has_classes = joint_strata(target, kinds), False
        given_groups = as_row_groups(groups, table.native.shape[0])
        row_groups = given_groups
        if row_groups is not None and table.rows is not None:
            row_groups = row_groups[table.rows]
        if self.cv is None:
            draws = self._draws(classes, row_groups, fraction)
        else:
            draws = self._training_rows(X, y, table, has_classes, given_groups)
        identifiers = self._identifiers(table)
        supports = joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")(
            joblib.delayed(_support)(
                clone(selector),
                X,
                drawn if table.rows is None else table.rows[drawn],
                target[drawn],
                None if row_groups is None else row_groups[drawn],
                identifiers,
                number > 0,
            )
            for number, drawn in enumerate(draws)
        )
        self.selections_ = np.array(supports, bool).reshape(len(draws), table.n_columns)
        return self._keep()

    def _identifiers(self, table: Table) -> NDArray[np.int64] | None:
        """Return the columns that identify the rows, which a resample does not show."""
        if getattr(self.selector, "identifiers", "keep") == "keep":
            return None
        return identifiers_or_decided(Encoder(n_jobs=-1).fit(table).identifiers_)

    def _training_rows(
        self, X: Any, y: Any, table: Table, has_classes: bool, groups: RowGroups | None
    ) -> list[NDArray[np.int64]]:
        """Return the training rows of each split; all copies of a row are on the same side."""
        target = as_target(y, several=True)
        folds = make_folds(self.cv, X, target, groups, has_classes=has_classes)
        if table.rows is None:
            return [train for train, _ in folds]
        return [np.flatnonzero(np.isin(table.rows, train)) for train, _ in folds]

    def _draws(
        self, classes: NDArray[np.int64], groups: RowGroups | None, fraction: float
    ) -> list[NDArray[np.int64]]:
        """Return the rows of each resample."""
        rng = check_random_state(self.random_state)
        is_bootstrap = self.resampling == "bootstrap"
        if groups is None:
            return [
                draw_rows(classes, fraction, is_bootstrap, rng) for _ in range(self.n_resamples)
            ]
        return [
            draw_groups(groups, classes, fraction, is_bootstrap, rng)
            for _ in range(self.n_resamples)
        ]

    def target_options(self) -> TargetOptions:
        """Return how the selector encodes the target."""
        inner = getattr(self.selector, "target_options", TargetOptions)()
        kind = getattr(self, "target_kind_", self.target_kind)
        return replace(inner, kind=kind if isinstance(kind, str) else self.target_kind)

    def _check_parameters(self) -> float:
        """Check every parameter; return the size of a resample as a fraction of the rows."""
        check_value("selector", self.selector, SELECTOR)
        check_value("n_resamples", self.n_resamples, Number(2, MAX_RESAMPLES, is_whole=True))
        check_value("resampling", self.resampling, OneOf(("bootstrap", "subsample")))
        check_value("threshold", self.threshold, FRACTION)
        check_value("confidence", self.confidence, CONFIDENCE)
        check_value("target_kind", self.target_kind, OneOf(TARGET_KINDS))
        check_value("random_state", self.random_state, SEED)
        check_value("n_jobs", self.n_jobs, JOBS)
        if self.sample_fraction is None:
            return 1.0 if self.resampling == "bootstrap" else 0.5
        check_value("sample_fraction", self.sample_fraction, FRACTION)
        return float(self.sample_fraction)

    def _keep(self) -> Self:
        """Set the fitted attributes from the selections."""
        counts = self.selections_.sum(axis=0)
        n_resamples = len(self.selections_)
        self.frequencies_ = counts / n_resamples
        self.frequency_intervals_ = wilson_intervals(
            counts, n_resamples, confidence=self.confidence
        )
        first = self.features_.first  # the columns of a group are selected together
        self.stability_, _, self.stability_interval_ = stability_index(
            self.selections_[:, first], confidence=self.confidence
        )
        frequencies = self.frequencies_[first]
        order = np.argsort(-counts[first], kind="stable")
        if self.n_features_to_select is None:
            n_selected = int((frequencies >= self.threshold).sum())
        else:
            n_selected = self._resolve_n_features(len(order), self.features_.counted)
        ranking = np.empty(len(order), np.int64)
        ranking[order] = np.arange(1, len(order) + 1)
        selected = order[:n_selected]
        return self._set_selection(selected, frequencies[selected], ranking, self.features_)

    def __sklearn_tags__(self) -> Any:
        """Tags: accepts what the selector accepts."""
        tags = super().__sklearn_tags__()
        if hasattr(self.selector, "__sklearn_tags__"):
            of_selector = self.selector.__sklearn_tags__().input_tags
            tags.input_tags.allow_nan = of_selector.allow_nan
            tags.input_tags.sparse = of_selector.sparse
            tags.input_tags.categorical = of_selector.categorical
            of_target = self.selector.__sklearn_tags__().target_tags
            tags.target_tags.multi_output = of_target.multi_output
        return tags


def _support(
    selector: Any,
    X: Any,
    rows: NDArray[np.int64],
    y: NDArray[Any],
    groups: RowGroups | None,
    identifiers: NDArray[np.int64] | None,
    is_quiet: bool,
) -> NDArray[np.bool_]:
    given = {} if groups is None else groups_for(selector, groups)
    with decided_identifiers(identifiers), without_data_warnings(is_quiet):
        return np.asarray(selector.fit(take_rows(X, rows), y, **given).get_support(), bool)

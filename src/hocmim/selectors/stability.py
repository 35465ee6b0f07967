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
from sklearn.utils import check_random_state

from hocmim.coding.groups import resolve_groups
from hocmim.coding.target import TargetOptions
from hocmim.data.table import take_rows
from hocmim.data.target import TARGET_KINDS, TargetKind, decide_kind, summarize_target
from hocmim.errors import InvalidParameterError
from hocmim.parameters import Number, OneOf, check_value
from hocmim.selectors.base import RankingSelector

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
    chosen = np.asarray(selections, np.float64)
    if chosen.ndim != 2 or len(chosen) < 2 or not np.isin(chosen, (0, 1)).all():
        raise InvalidParameterError(
            "selections must be a table of 0 and 1 with one row a selection and at least two rows."
        )
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the selector on resamples of X and y, and count how often it selects each column.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Anything the selector accepts.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Non-negative integers: a row of weight w is w equal rows, each drawn independently. The
            selector is fitted without weights.
        """
        fraction = self._check_parameters()
        table, target = self._validate_input(X, y, sample_weight)
        names = getattr(self, "feature_names_in_", None)
        groups = getattr(self.selector, "feature_groups", None)
        self.features_ = resolve_groups(groups, table.n_columns, names)
        selector, kind = with_target_kind(self.selector, target, self.target_kind)
        self._set_target_kind(kind)
        rng = check_random_state(self.random_state)
        groups = strata(target, kind)
        draws = [
            draw_rows(groups, fraction, self.resampling == "bootstrap", rng)
            for _ in range(self.n_resamples)
        ]
        supports = joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")(
            joblib.delayed(_support)(
                clone(selector),
                X,
                drawn if table.rows is None else table.rows[drawn],
                target[drawn],
            )
            for drawn in draws
        )
        self.selections_ = np.array(supports, bool).reshape(self.n_resamples, table.n_columns)
        return self._keep()

    def target_options(self) -> TargetOptions:
        """Return how the selector encodes the target."""
        inner = getattr(self.selector, "target_options", TargetOptions)()
        return replace(inner, kind=getattr(self, "target_kind_", self.target_kind))

    def _check_parameters(self) -> float:
        """Check every parameter; return the size of a resample as a fraction of the rows."""
        if not hasattr(self.selector, "get_support"):
            raise InvalidParameterError(
                "selector must be an estimator with fit and get_support, such as HOCMIM(10). Got "
                f"{self.selector!r} instead."
            )
        check_value("n_resamples", self.n_resamples, Number(2, is_whole=True))
        check_value("resampling", self.resampling, OneOf(("bootstrap", "subsample")))
        check_value("threshold", self.threshold, FRACTION)
        check_value("confidence", self.confidence, CONFIDENCE)
        check_value("target_kind", self.target_kind, OneOf(TARGET_KINDS))
        if self.sample_fraction is None:
            return 1.0 if self.resampling == "bootstrap" else 0.5
        check_value("sample_fraction", self.sample_fraction, FRACTION)
        return float(self.sample_fraction)

    def _keep(self) -> Self:
        """Set the fitted attributes from the selections."""
        counts = self.selections_.sum(axis=0)
        self.frequencies_ = counts / self.n_resamples
        self.frequency_intervals_ = wilson_intervals(
            counts, self.n_resamples, confidence=self.confidence
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
        return tags


def with_target_kind(selector: Any, y: NDArray[Any], kind: str) -> tuple[Any, TargetKind]:
    """Return a selector that knows the kind of the target, and the kind.

    Parameters
    ----------
    selector : estimator
        A copy is returned; its ``target_kind``, if it has one and it is "auto", is set.
    y : ndarray
    kind : {"auto", "classes", "quantity"}
        "auto": the kind the selector declares, or else the one y looks like.
    """
    declared = selector.get_params(deep=False).get("target_kind")
    if kind == "auto" and declared in TARGET_KINDS:
        kind = declared
    found = decide_kind(summarize_target(y), kind)
    selector = clone(selector)
    if declared == "auto":
        selector.set_params(target_kind=found.name)
    return selector, found


def strata(y: NDArray[Any], kind: TargetKind) -> NDArray[np.int64]:
    """Return the group of each row, for stratified resampling: its class; 0 for a quantity."""
    if kind.is_quantity:
        return np.zeros(len(y), np.int64)
    return np.unique(y, return_inverse=True)[1]


def draw_rows(
    groups: NDArray[np.int64], fraction: float, with_replacement: bool, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Draw a fraction of the rows, in order; stratified, with at least one row a group."""
    parts = []
    for group in range(groups.max() + 1):
        rows = np.flatnonzero(groups == group)
        size = max(1, round(fraction * len(rows)))
        parts.append(rng.choice(rows, size, replace=with_replacement))
    return np.sort(np.concatenate(parts))


def _support(selector: Any, X: Any, rows: NDArray[np.int64], y: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(selector.fit(take_rows(X, rows), y).get_support(), bool)

"""How stable a selection is: the same selector on many resamples of the same table.

Φ = 1 − [1/D Σ_f M/(M−1) p_f (1−p_f)] / [k̄/D (1 − k̄/D)]

p_f is how often column f was selected in M resamples, k̄ how many columns were on average. 1: always
the same columns; 0: no better than columns drawn at random. Nogueira, Sechidis, Brown 2018.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import check_random_state

from hocmim.coding.groups import resolve_groups
from hocmim.data.table import take_rows
from hocmim.errors import InvalidParameterError
from hocmim.selectors.base import RankingSelector


class Stability(NamedTuple):
    """The stability index, its variance, and its confidence interval."""

    value: float
    variance: float
    interval: tuple[float, float]


def stability_index(selections: ArrayLike, *, confidence: float = 0.95) -> Stability:
    """Φ of several selections out of the same columns, with its interval.

    Parameters
    ----------
    selections : array of bool, shape (M, D)
        Which columns each of M ≥ 2 selections took.
    confidence : float
        Of the interval.

    Returns
    -------
    Stability
        ``value``, ``variance`` and ``interval``: all NaN where Φ is not defined, because every
        selection took every column, or none took any.

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
    taken = np.asarray(selections, np.float64)
    if taken.ndim != 2 or len(taken) < 2 or not np.isin(taken, (0, 1)).all():
        raise InvalidParameterError(
            "selections must be a table of 0 and 1, one row a selection, with at least two rows."
        )
    M, D = taken.shape
    frequency, sizes = taken.mean(axis=0), taken.sum(axis=1)
    share = sizes.mean() / D
    by_chance = share * (1 - share)
    if by_chance == 0:
        return Stability(np.nan, np.nan, (np.nan, np.nan))
    index = 1 - M / (M - 1) * (frequency * (1 - frequency)).mean() / by_chance
    size = sizes / D
    each = (taken @ frequency / D - size * share) / by_chance
    each += index / 2 * (2 * size * share - size - share + 1) / by_chance
    variance = 4 / M**2 * ((each - each.mean()) ** 2).sum()
    half = norm.ppf((1 + confidence) / 2) * np.sqrt(variance)
    interval = float(index - half), float(min(index + half, 1.0))
    return Stability(float(index), float(variance), interval)


def wilson_intervals(counts: ArrayLike, n: int, *, confidence: float = 0.95) -> NDArray[np.float64]:
    """Wilson's confidence interval of each probability, from counts out of n. Shape (D, 2)."""
    p, z = np.asarray(counts, np.float64) / n, norm.ppf((1 + confidence) / 2)
    middle = p + z**2 / (2 * n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)
    # At 0 and 1 the bound is p itself, but for rounding.
    return np.column_stack([np.where(p == 0, 0.0, low), np.where(p == 1, 1.0, high)])


class StabilitySelector(MetaEstimatorMixin, RankingSelector):
    """Selects the columns that another selector selects again and again on resamples.

    The selector is fitted on ``n_resamples`` resamples of the rows; a column is kept if it was
    selected in at least ``threshold`` of them. Classes keep their shares in each resample.

    Parameters
    ----------
    selector : estimator
        Any selector with ``get_support``, of this package or of scikit-learn.
    n_resamples : int, default 50
    resampling : {"bootstrap", "subsample"}
        Rows drawn with replacement, or without.
    sample_fraction : float or None
        Rows of a resample, as a fraction of all. None: all of them for the bootstrap, half of them
        for subsamples.
    threshold : float, default 0.5
        How often a column must be selected to be kept.
    n_features_to_select : int, float or None, default None
        Keep this many columns, those selected most often, whatever the threshold; None goes by the
        threshold.
    confidence : float, default 0.95
        Of the intervals.
    random_state : int, RandomState or None, default 0
        Seed of the resamples.
    n_jobs : int or None
        Resamples at a time, as in joblib. None: one after the other, with the threads of the
        selector itself. Never changes a result.

    Attributes
    ----------
    selected_ : ndarray of int64, shape (K,)
        The columns kept, the most frequent first; of equal ones the first in the table.
    scores_ : ndarray of float64, shape (K,)
        Their frequencies.
    frequencies_ : ndarray of float64, shape (n_features_in_,)
        The share of resamples in which each column was selected.
    frequency_intervals_ : ndarray of float64, shape (n_features_in_, 2)
        Wilson's interval of each: what the frequency would be with ever more resamples.
    stability_ : float
        Φ: 1 if all resamples gave the same columns, 0 if they are as random draws. NaN if every
        resample gave all columns, or none.
    stability_interval_ : tuple of float
    selections_ : ndarray of bool, shape (n_resamples, n_features_in_)
    features_ : Features
        The groups of columns the selector selects as one (its ``feature_groups``), which count as
        one here too, and the other columns.
    ranking_ : ndarray of int64, shape (n_features_in_,)
        Every column by its frequency.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the selector on resamples of X and y, and count what it selects.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Anything the selector takes.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Whole numbers: a row of weight w is w equal rows, each drawn on its own; the selector
            itself is passed no weights.
        """
        fraction = self._check_parameters()
        table, target = self._validate_input(X, y, sample_weight)
        names = getattr(self, "feature_names_in_", None)
        groups = getattr(self.selector, "feature_groups", None)
        self.features_ = resolve_groups(groups, table.n_columns, names)
        rng = check_random_state(self.random_state)
        draws = [
            _draw(target, fraction, self.resampling == "bootstrap", rng)
            for _ in range(self.n_resamples)
        ]
        supports = joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")(
            joblib.delayed(_support)(
                clone(self.selector),
                X,
                drawn if table.rows is None else table.rows[drawn],
                target[drawn],
            )
            for drawn in draws
        )
        self.selections_ = np.array(supports, bool).reshape(self.n_resamples, table.n_columns)
        return self._keep()

    def _check_parameters(self) -> float:
        """Check every parameter; return the fraction of the rows a resample holds."""
        if not hasattr(self.selector, "get_support"):
            raise InvalidParameterError(
                "selector must be an estimator with fit and get_support, such as HOCMIM(10). Got "
                f"{self.selector!r} instead."
            )
        n = self.n_resamples
        if not isinstance(n, Integral) or isinstance(n, bool) or n < 2:
            raise InvalidParameterError(
                f"n_resamples must be an integer of at least 2. Got {n!r} instead."
            )
        if self.resampling not in ("bootstrap", "subsample"):
            raise InvalidParameterError(
                f"resampling must be 'bootstrap' or 'subsample'. Got {self.resampling!r} instead."
            )
        _check_fraction("threshold", self.threshold)
        _check_fraction("confidence", self.confidence, below=1.0)
        if self.sample_fraction is None:
            return 1.0 if self.resampling == "bootstrap" else 0.5
        _check_fraction("sample_fraction", self.sample_fraction)
        return float(self.sample_fraction)

    def _keep(self) -> Self:
        """Set the fitted attributes from the selections."""
        counts = self.selections_.sum(axis=0)
        self.frequencies_ = counts / self.n_resamples
        self.frequency_intervals_ = wilson_intervals(
            counts, self.n_resamples, confidence=self.confidence
        )
        first = self.features_.first  # the columns of a group are all selected or none is
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
        """Tags: takes what the selector takes."""
        tags = super().__sklearn_tags__()
        if hasattr(self.selector, "__sklearn_tags__"):
            of_selector = self.selector.__sklearn_tags__().input_tags
            tags.input_tags.allow_nan = of_selector.allow_nan
            tags.input_tags.sparse = of_selector.sparse
            tags.input_tags.categorical = of_selector.categorical
        return tags


def _draw(
    y: NDArray[Any], fraction: float, replace: bool, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Rows of a resample, in order; classes keep their shares, and one row at least."""
    is_continuous = y.dtype.kind == "f" and bool((y != np.rint(y)).any())
    groups = np.zeros(len(y), np.int64) if is_continuous else np.unique(y, return_inverse=True)[1]
    parts = []
    for group in range(groups.max() + 1):
        rows = np.flatnonzero(groups == group)
        size = max(1, round(fraction * len(rows)))
        parts.append(rng.choice(rows, size, replace=replace))
    return np.sort(np.concatenate(parts))


def _support(selector: Any, X: Any, rows: NDArray[np.int64], y: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(selector.fit(take_rows(X, rows), y).get_support(), bool)


def _check_fraction(parameter: str, value: Any, *, below: float = np.inf) -> None:
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not 0 < value <= 1 or value >= below:
        limits = "a number above 0 and " + ("below 1" if below == 1 else "at most 1")
        raise InvalidParameterError(f"{parameter} must be {limits}. Got {value!r} instead.")

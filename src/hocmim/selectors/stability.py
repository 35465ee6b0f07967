"""Stability of a selection: the same selector on many resamples of the same table.

Φ = 1 − [1/D Σ_f M/(M−1) p_f (1−p_f)] / [k̄/D (1 − k̄/D)]

p_f is the share of M resamples in which column f was selected, k̄ the mean number of selected
columns. 1: always the same columns; 0: as stable as random columns. Nogueira, Sechidis, Brown 2018.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm
from sklearn.utils import check_random_state, get_tags

from hocmim._sklearn import MetaEstimatorMixin
from hocmim.coding.encoded import find_identifiers, open_memory
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, column_name, resolve_groups
from hocmim.coding.target import Target
from hocmim.data.row_groups import RowGroups, as_row_groups
from hocmim.data.table import Table, take_columns
from hocmim.data.weights import are_observations, as_counts, first_copies, repeated_rows
from hocmim.errors import InvalidParameterError
from hocmim.insight.chart_data import wilson_intervals
from hocmim.insight.clusters import cluster_columns
from hocmim.parameters import (
    FUNCTION_OR_NONE,
    JOBS,
    SEED,
    Like,
    check_parameters,
    check_value,
    number,
    one_of,
    whole,
)
from hocmim.search.constraints import COUNTS, Constraints
from hocmim.search.progress import Progress, ProgressCallback
from hocmim.search.selection import Selection, Step
from hocmim.selectors.base import Selector
from hocmim.selectors.kinds import strata, with_known_kinds
from hocmim.selectors.splits import draw_groups, draw_rows, fit_on_rows, make_folds
from hocmim.threads import stopped_by

# More would take days.
MAX_RESAMPLES = 1_000_000
# Confidence level of the intervals.
CONFIDENCE = 0.95


class Stability(NamedTuple):
    """The stability index, its variance, and its confidence interval."""

    value: float
    variance: float
    interval: tuple[float, float]


def stability_index(selections: ArrayLike) -> Stability:
    """Return Φ of several selections from the same columns, with its 95 % confidence interval.

    Parameters
    ----------
    selections : array of bool, shape (M, D)
        Which columns each of M ≥ 2 selections contains.

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
    >>> from hocmim.selectors.stability import stability_index
    >>> round(stability_index([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]).value, 3)
    0.333
    """
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
    half = norm.ppf((1 + CONFIDENCE) / 2) * np.sqrt(variance)
    interval = float(index - half), float(min(index + half, 1.0))
    return Stability(float(index), float(variance), interval)


def _as_selections(selections: ArrayLike) -> NDArray[np.float64]:
    try:
        chosen = np.asarray(selections, np.float64)
    except (TypeError, ValueError):
        chosen = np.empty(0)
    if chosen.ndim != 2 or len(chosen) < 2 or not np.isin(chosen, (0, 1)).all():
        raise InvalidParameterError(
            "selections must be a table of 0 and 1 with a row for each selection, at least two."
        )
    return chosen


class StabilitySelector(MetaEstimatorMixin, Selector):
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
        Draw as many rows as there are, with replacement; or half of them, without.
    cv : splitter, iterable or None
        Use the training rows of each split in place of resamples, such as those of
        ``RepeatedStratifiedKFold`` or ``GroupShuffleSplit``; ``n_resamples`` and ``resampling``
        do not count then.
    threshold : float, default 0.5
        The share of resamples in which a column must be selected.
    n_features_to_select : int, float or None, default None
        Select this many columns, the most frequent ones, and ignore the threshold; None uses the
        threshold.
    random_state : int, RandomState or None, default 0
        Seed of the resamples.
    n_jobs : int or None
        Number of resamples fitted in parallel, as in joblib. None: one after the other, each with
        the threads of the selector. Never changes a result.
    target : "classes", "quantity", Target or None
        What y holds, for the resampling and for the selector. None: what the selector declares, or
        else decided from y, once, on all rows.

    Attributes
    ----------
    selected_ : ndarray of int64, shape (K,)
        The selected columns, the most frequent first; among equals the first in the table.
    scores_ : ndarray of float64, shape (K,)
        Their frequencies.
    frequencies_ : ndarray of float64, shape (n_features_in_,)
        The share of resamples in which each column was selected.
    frequency_intervals_ : ndarray of float64, shape (n_features_in_, 2)
        Wilson's 95 % interval of each: for the frequency in an infinite number of resamples.
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
    clusters_ : list of ndarray of int64
        The columns that were ever selected, in clusters of near copies: of two columns with the
        same information each resample selects one. The most frequent column of each first. See
        ``hocmim.cluster_columns``.
    cluster_frequencies_ : ndarray of float64, shape (n_clusters,)
        The share of resamples in which some column of a cluster was selected: "this column or a
        substitute".
    cluster_stability_ : float
        Φ if the columns of a cluster count as one.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "selector": [
            Like(
                ("fit", "get_support"), "an estimator with fit and get_support, such as HOCMIM(10)"
            )
        ],
        "n_resamples": [whole(2, MAX_RESAMPLES)],
        "resampling": [one_of(["bootstrap", "subsample"])],
        "threshold": [number(0, 1, "right")],
        "n_features_to_select": COUNTS,
        "random_state": SEED,
        "n_jobs": JOBS,
        "target": [one_of(["classes", "quantity"]), Target, None],
    }

    def __init__(
        self,
        selector: Any,
        n_resamples: int = 50,
        *,
        resampling: str = "bootstrap",
        threshold: float = 0.5,
        n_features_to_select: int | float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        target: Target | str | None = None,
        cv: Any = None,
    ) -> None:
        self.selector = selector
        self.n_resamples = n_resamples
        self.resampling = resampling
        self.threshold = threshold
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.target = target
        self.cv = cv

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Fit the selector on resamples of X and y, and count how often it selects each column.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Anything the selector accepts.
        y : array of shape (n_samples,) or (n_samples, n_targets), str or list of str
            Or names of columns of X; the other columns are the features then. Several targets if
            the selector takes them: see its ``target``.
        sample_weight : array of shape (n_samples,), optional
            Integers are counts: a row of weight w is w equal rows, each drawn independently. Other
            weights, and one weight for each class, belong to their rows: rows are drawn, each with
            its weight.
        groups : array of shape (n_samples,), optional
            A label for each row: a resample draws whole groups, such as all rows of one patient.
            Groups are stratified by their most frequent class.
        progress : callable, optional
            Called with a ``hocmim.search.progress.ProgressEvent`` during the fit. It may raise to
            stop the fit.
        """
        check_value("progress", progress, FUNCTION_OR_NONE)
        return self._fit(X, y, sample_weight, groups, progress)

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
        arguments = (given.get(name) for name in ("sample_weight", "groups", "progress"))
        return self._fit(X, y, *arguments, identifiers=identifiers, warns=warns)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        progress: ProgressCallback | None,
        *,
        identifiers: NDArray[np.int64] | None = None,
        warns: bool = True,
    ) -> Self:
        check_parameters(self)
        has_tags = hasattr(self.selector, "__sklearn_tags__")
        takes_several = has_tags and get_tags(self.selector).target_tags.multi_output
        table, target = open_memory(X, y, caller=type(self).__name__, several=takes_several)
        counts = as_counts(sample_weight, table.n_rows, target)
        feature_groups = getattr(self.selector, "feature_groups", None)
        features = resolve_groups(feature_groups, table.n_columns, table.names)
        known, kinds = with_known_kinds({"": self.selector}, target, self.target)
        selector = known[""]
        names = tuple(kind.name for kind in kinds)
        self.target_kind_ = names[0] if target.ndim == 1 else names
        has_classes = target.ndim == 1 and not kinds[0].is_quantity
        row_groups = as_row_groups(groups, table.n_rows)
        are_counts = False
        if self.cv is None:
            rows = np.arange(table.n_rows) if counts is None else repeated_rows(counts)
            drawn = target[rows]
            classes = strata(drawn, kinds)
            are_counts = counts is not None and are_observations(sample_weight, counts, classes)
            if counts is not None and not are_counts:
                first = first_copies(counts)
                rows, classes = rows[first], classes[first]
            of_rows = None if row_groups is None else row_groups[rows]
            draws = [rows[places] for places in self._draws(classes, of_rows)]
        else:
            folds = make_folds(self.cv, table.native, target, row_groups, has_classes=has_classes)
            draws = [train for train, _ in folds]
        if counts is not None and not are_counts:
            draws = [np.repeat(rows, counts[rows]) for rows in draws]
        if identifiers is None and isinstance(selector, Selector):
            identifiers = find_identifiers(table)
        told = Progress(type(self).__name__, progress)
        told.begin("resample", "selecting on resamples", len(draws))
        parallel = joblib.Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        results = parallel(
            joblib.delayed(_support)(
                selector,
                table.native,
                target,
                rows,
                identifiers,
                groups=row_groups,
                are_counts=are_counts,
                warns=warns and number == 0,
            )
            for number, rows in enumerate(draws)
        )
        supports = []
        with stopped_by(told.on_wait):
            for support in results:
                supports.append(support)
                told.count("selecting on resamples, {}")
        self.selections_ = np.array(supports, bool).reshape(len(draws), table.n_columns)
        self._keep(features)
        return self._keep_clusters(table)

    def _draws(
        self, classes: NDArray[np.int64], groups: RowGroups | None
    ) -> list[NDArray[np.int64]]:
        """Return the rows of each resample."""
        how = (1.0, True) if self.resampling == "bootstrap" else (0.5, False)
        rng = check_random_state(self.random_state)
        if groups is None:
            return [draw_rows(classes, *how, rng) for _ in range(self.n_resamples)]
        return [draw_groups(groups, classes, *how, rng) for _ in range(self.n_resamples)]

    def _keep(self, features: Features) -> Self:
        """Set the fitted attributes from the selections."""
        counts = self.selections_.sum(axis=0)
        n_resamples = len(self.selections_)
        self.frequencies_: NDArray[np.float64] = counts / n_resamples
        self.frequency_intervals_ = wilson_intervals(counts, n_resamples, confidence=CONFIDENCE)
        first = features.first  # the columns of a group are selected together
        self.stability_, _, self.stability_interval_ = stability_index(self.selections_[:, first])
        frequencies = self.frequencies_[first]
        order = np.argsort(-counts[first], kind="stable")
        if self.n_features_to_select is None:
            n_selected = int((frequencies >= self.threshold).sum())
        else:
            n_selected = Constraints(len(order)).count(self.n_features_to_select)
        ranking = np.empty(len(order), np.int64)
        ranking[order] = np.arange(1, len(order) + 1)
        steps = tuple(Step(int(k), float(frequencies[k]), {}) for k in order[:n_selected])
        return self._set_selection(Selection(steps, np.full(len(order), np.nan)), features, ranking)

    def _keep_clusters(self, table: Table) -> Self:
        """Set the clusters of the columns that were ever selected."""
        ever = np.flatnonzero(self.selections_.any(axis=0))
        ever = ever[np.argsort(-self.frequencies_[ever], kind="stable")]
        labels = np.arange(len(ever))
        if len(ever) > 1:
            part = take_columns(table.native, ever)
            labels = cluster_columns(part, encoder=Encoder(identifiers="keep")).labels
        self.clusters_ = [ever[labels == label] for label in dict.fromkeys(labels.tolist())]
        some = [self.selections_[:, members].any(axis=1) for members in self.clusters_]
        chosen = np.array(some, bool).reshape(len(some), len(self.selections_)).T
        self.cluster_frequencies_: NDArray[np.float64] = chosen.mean(axis=0)
        # The others were never selected: each counts as a cluster of its own.
        n_never = self.selections_.shape[1] - len(ever)
        never = np.zeros((len(chosen), n_never), bool)
        self.cluster_stability_ = stability_index(np.hstack([chosen, never])).value
        return self

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        """Return the selected features, the most frequent first, and how often they were."""
        either = {
            int(j): float(share)
            for members, share in zip(self.clusters_, self.cluster_frequencies_, strict=True)
            for j in members
        }
        rows = []
        for rank, k in enumerate(self.selection_.indices.tolist(), 1):
            j = int(self.features_.first[k])
            name, interval = column_name(self.features_.names, k), self.frequency_intervals_[j]
            rows.append([rank, name, self.frequencies_[j], *interval, either.get(j, 0.0)])
        return ["rank", "feature", "frequency", "low", "high", "or a substitute"], rows

    def plot(self, kind: str = "stability", ax: Any = None, **options: Any) -> Any:
        """Draw how often columns were selected, with intervals; return the axes.

        Parameters
        ----------
        kind : str
            See ``hocmim.insight.plots.plot``.
        ax : matplotlib axes, optional
        **options
            Of the picture: ``n``, how many columns.
        """
        from hocmim.insight.plots import plot

        return plot(self, kind, ax=ax, **options)

    def __sklearn_tags__(self) -> Any:
        """Tags: accepts what the selector accepts."""
        tags = super().__sklearn_tags__()
        if hasattr(self.selector, "__sklearn_tags__"):
            of_selector = self.selector.__sklearn_tags__()
            tags.input_tags = of_selector.input_tags
            tags.target_tags.multi_output = of_selector.target_tags.multi_output
        return tags


def _support(*fit: Any, **options: Any) -> NDArray[np.bool_]:
    """Return which columns a selector selects on a resample: see ``fit_on_rows``."""
    return np.asarray(fit_on_rows(*fit, **options).get_support(), bool)

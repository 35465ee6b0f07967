"""The number of features, and the method, chosen by cross-validation.

For each selector the rule gives a number of features K, from the mean score over the splits:

best
    the K with the highest mean; among equals the smallest.
one-se
    the smallest K whose mean is at least the highest mean minus its standard error. The standard
    error is that of the mean over the splits, as if these were independent.

The baseline is the score without features. If the highest mean is not above it, by two standard
errors of the difference over the splits, no K is of use, and the smallest one is chosen.

Of several selectors the one with the highest mean at any K is used; among equals the one that
needs fewer features for it, then the first. Means are compared after rounding to 12 decimals.

Breiman, Friedman, Olshen, Stone: Classification and Regression Trees, 1984 (one standard error).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from hocmim._sklearn import MetaEstimatorMixin
from hocmim.coding.encoded import find_identifiers, open_memory
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, resolve_groups
from hocmim.coding.target import Target, TargetKind
from hocmim.data.checks import set_features
from hocmim.data.row_groups import RowGroups, as_row_groups
from hocmim.data.sources import is_dask_collection, is_row_source
from hocmim.data.table import take_rows
from hocmim.data.weights import are_observations, as_counts
from hocmim.defaults import DEFAULT_METHOD
from hocmim.errors import InvalidParameterError, InvalidTableError, warn_user
from hocmim.information.comparison import comparison_key
from hocmim.insight.plots import AXES_OR_NONE, validation_curves
from hocmim.memory import prepare_products
from hocmim.parameters import (
    FUNCTION_OR_NONE,
    JOBS,
    SEED,
    check_parameters,
    check_value,
    checked,
    one_of,
    whole,
)
from hocmim.search.constraints import resolve_constraints
from hocmim.search.progress import Progress, ProgressCallback
from hocmim.search.validation import MIN_GAIN, baseline_in_words, nothing_beats, sample_rows
from hocmim.selectors.base import Selector, leave_out_identifiers
from hocmim.selectors.curves import Curve, Model, Problem, baseline_scores, score_curves
from hocmim.selectors.kinds import strata, target_columns, with_known_kinds
from hocmim.selectors.models import DEFAULT_MODEL, make_model
from hocmim.selectors.registry import make_selector
from hocmim.selectors.splits import Fold, fit_on_rows, make_folds
from hocmim.text import count, value_text

RULES = ("best", "one-se")
# Every number of features up to this one is tried; beyond it, each is about a tenth larger.
MAX_CONSECUTIVE = 20


@dataclass(frozen=True)
class Choice:
    """A selector with the number of features that the rule gives it, and its mean score with them.

    ``best_n_features`` and ``best_score`` are those with the highest mean score.
    """

    selector: str
    n_features: int
    score: float
    standard_error: float
    best_n_features: int
    best_score: float


class SelectorCV(MetaEstimatorMixin, Selector):
    """Selects with the number of features, and the selector, that cross-validation chooses.

    In each split every selector searches the training rows once, which gives the features for every
    number of features K. A model is fitted on the first K features and scored on the test rows. A
    rule chooses K for each selector and the best selector, which is then fitted on all rows.

    Parameters
    ----------
    selectors : selector, or list or dict of selectors, optional
        One selector of hocmim; or several to choose from, which may differ in method, parameters
        and encoder: a list, or a dict with their names. Their ``n_features_to_select`` is set here.
        None: the default method.
    model : {"knn", "linear", "forest"} or estimator, default "knn"
        The model that is fitted on the selected columns. One of your own gets the columns as they
        are in X, in the order of X. For a model by name, missing numbers are replaced by the
        median, numbers standardised and categories one-hot coded, by the training rows.
    max_features : int or None, default 30
        The largest K; None for all features. Every K up to 20 is tried; beyond that each K is about
        a tenth larger than the one before.
    scoring : str, callable or None
        As in scikit-learn; higher is better. None: balanced accuracy for classes, the mean over
        the classes of the share of their rows that is predicted right, so that rare classes count
        as much as others; R² for a quantity.
    cv : int, splitter or iterable, default 5
        A number of shuffled folds, stratified by class, that keep ``groups`` together. Or a
        splitter of scikit-learn, or a list of (training rows, test rows).
    rule : {"best", "one-se"}
        "best": the K with the highest mean score. "one-se": the smallest K whose mean is within one
        standard error of the highest. See ``hocmim.selectors.cv``.
    target : "classes", "quantity", Target or None
        What y holds, for the model and for selectors that do not declare it.
    random_state : int or None, default 0
        Seed of the folds, and of a model by name.
    n_jobs : int or None
        Fits of the model in parallel, as in joblib. Searches run one after the other, each with
        the threads of its selector. Never changes a result.

    Attributes
    ----------
    best_n_features_ : int
        K, the number of selected features. A group of ``feature_groups`` counts as one;
        ``n_features_`` counts columns.
    best_selector_ : str
        The name of the chosen selector.
    best_score_ : float
        Its mean score with K features. It is the best of many, so it is optimistic: evaluate the
        whole of it on other rows, for example by ``cross_val_score`` of a pipeline.
    baseline_score_ : float
        The mean score without features: of always predicting the most frequent class (its
        frequency, where a score needs probabilities), or the mean. NaN if ``scoring`` has no score
        for it.
    beats_baseline_ : bool
        Whether the best mean score is higher than ``baseline_score_``, by two standard errors of
        the difference over the splits. If not, the fewest features are selected, with a warning.
    choices_ : tuple of Choice
        The choice of each selector, the best first; ``print(selector)`` shows them as a table.
    measure_ : str
        What the scores are.
    cv_results_ : dict of arrays
        For each selector and K: ``selector``, ``n_features``, the score of each split,
        ``mean_test_score``, ``std_test_score``, ``standard_error``, ``rank_test_score``.
    n_splits_ : int
    n_rows_ : int
        Rows that were split. With a model by name and a number of folds a sample of 5000 is enough.
    selector_ : selector
        The chosen selector with K features, fitted on all rows: ``selector_.explain(…)``.
    selected_, scores_, ranking_ : ndarray
        Of ``selector_``.
    target_kind_ : {"classes", "quantity"}
        A tuple of them for several targets.

    References
    ----------
    Breiman, Friedman, Olshen, Stone: Classification and Regression Trees, 1984.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hocmim import HOCMIM, JMI, SelectorCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = SelectorCV([HOCMIM(), JMI()], max_features=8).fit(X, y)
    >>> len(found.selected_) == found.best_n_features_ <= 8
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_features": [whole(1), None],
        "scoring": [str, *FUNCTION_OR_NONE],
        "rule": [one_of(RULES)],
        "target": [one_of(["classes", "quantity"]), Target, None],
        "random_state": SEED,
        "n_jobs": JOBS,
    }

    def __init__(
        self,
        selectors: Any = None,
        model: Any = DEFAULT_MODEL,
        *,
        max_features: int | None = 30,
        scoring: Any = None,
        cv: Any = 5,
        rule: str = "best",
        target: Target | str | None = None,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.selectors = selectors
        self.model = model
        self.max_features = max_features
        self.scoring = scoring
        self.cv = cv
        self.rule = rule
        self.target = target
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Choose K and the selector by cross-validation, and fit the selector on all rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            In memory: anything the selectors and the model accept.
        y : array of shape (n_samples,) or (n_samples, n_targets), str or list of str
            Or names of columns of X; the other columns are the features then. For several targets
            one model is fitted for each, and the score is the mean of theirs. The selectors treat
            several targets as their ``target`` says.
        sample_weight : array of shape (n_samples,) or "balanced", optional
            As for the selectors. A row of weight w is w equal rows on its side of a split, for the
            search, the model and the score.
        groups : array of shape (n_samples,), optional
            A label for each row: rows of one label, such as those of one patient, are never on both
            sides of a split.
        progress : callable, optional
            Called with a ``hocmim.search.progress.ProgressEvent`` during the fit. It may raise to
            stop the fit.
        """
        check_value("progress", progress, FUNCTION_OR_NONE)
        check_parameters(self)
        selectors = named_selectors(self.selectors)
        if is_row_source(X) or is_dask_collection(X):
            raise InvalidTableError(
                "Cross-validation needs a table in memory, because the model does. Read the table, "
                "or a sample of its rows, into memory first."
            )
        table, target = open_memory(X, y, caller=type(self).__name__)
        X = table.native
        set_features(self, table.n_columns, table.names)
        counts = as_counts(sample_weight, table.n_rows, target)
        row_groups = as_row_groups(groups, table.n_rows)
        selectors, kinds = with_known_kinds(selectors, target, self.target)
        names = tuple(kind.name for kind in kinds)
        self.target_kind_ = names[0] if target.ndim == 1 else names
        folds = self._folds(X, target, kinds, row_groups, counts)
        models = [
            self._model_of(one, kind)
            for one, kind in zip(target_columns(target), kinds, strict=True)
        ]
        problem = Problem(X, folds, models, is_numeric=isinstance(self.model, str))
        identifiers = find_identifiers(table)
        are_counts = False
        if counts is not None:
            classes = np.repeat(strata(target, kinds), counts)
            are_counts = are_observations(sample_weight, counts, classes)
        features = Features(table.n_columns, table.names)
        sizes = {
            name: self._sizes(selector, features, identifiers)
            for name, selector in selectors.items()
        }
        told = Progress(type(self).__name__, progress)
        prepare_products()
        told.begin("validate", "selecting on training rows", len(selectors) * len(folds))
        chosen = {}
        for split, (train, _) in enumerate(folds):
            for name, selector in selectors.items():
                selector.set_params(n_features_to_select=sizes[name][-1])
                found = fit_on_rows(
                    selector,
                    X,
                    target,
                    train,
                    identifiers,
                    are_counts=are_counts,
                    progress=told.on_wait,
                )
                order = found.selection_.indices.tolist()
                chosen[name, split] = [found.features_.expand([k]).tolist() for k in order]
                told.count("selecting on training rows, {}", name)
        self._curves = score_curves(problem, chosen, sizes, self.n_jobs, told)
        self.n_splits_ = len(folds)
        self._n_rows_in_all = table.n_rows if counts is None else int((counts > 0).sum())
        self.n_rows_ = len(np.unique(np.concatenate([rows for fold in folds for rows in fold])))
        self._baseline = baseline_in_words(None if kinds[0].is_quantity else target, len(kinds))
        self._choose({kind.name for kind in kinds}, baseline_scores(problem))
        if not self.beats_baseline_:
            warn_user(nothing_beats(self._baseline))
        best = selectors[self.best_selector_]
        best.set_params(n_features_to_select=self.best_n_features_)
        fitted = _fit_weighted(best, X, target, sample_weight, counts, progress)
        self.selector_ = fitted
        return self._set_selection(
            fitted.selection_, fitted.features_, fitted.ranking_[fitted.features_.first]
        )

    # --- what is cross-validated ------------------------------------------------------------------

    def _folds(
        self,
        X: Any,
        y: NDArray[Any],
        kinds: Sequence[TargetKind],
        groups: RowGroups | None,
        counts: NDArray[np.int64] | None,
    ) -> list[Fold]:
        is_one = y.ndim == 1
        rows, strata_of = np.arange(len(y)), y if is_one else strata(y, kinds)
        if isinstance(self.model, str) and isinstance(self.cv, Integral):
            units = rows if groups is None else groups
            rows = sample_rows(units, np.random.default_rng(self.random_state))
        is_all = len(rows) == len(y)
        folds = make_folds(
            self.cv,
            X if is_all else rows,
            strata_of[rows],
            None if groups is None else groups[rows],
            has_classes=not (is_one and kinds[0].is_quantity),
            seed=self.random_state,
        )
        folds = [(rows[train], rows[test]) for train, test in folds]
        if counts is None:
            return folds
        return [(np.repeat(a, counts[a]), np.repeat(b, counts[b])) for a, b in folds]

    def _model_of(self, y: NDArray[Any], kind: TargetKind) -> Model:
        """Return the model of one target."""
        from sklearn.metrics import check_scoring

        made, self._title = make_model(self.model, not kind.is_quantity, self.random_state)
        if isinstance(self.model, str) and "n_jobs" in made.get_params():
            made.set_params(n_jobs=None)  # the fits are parallel
        default = "balanced_accuracy" if is_classifier(made) else None
        try:
            return Model(made, check_scoring(made, scoring=self.scoring or default), y)
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(f"scoring cannot be used: {error}") from error

    def _sizes(self, selector: Any, columns: Features, identifiers: NDArray[np.int64]) -> list[int]:
        """Return the numbers of features to try, which include those to keep."""
        given = selector.get_params(deep=False)
        features = resolve_groups(
            given.get("feature_groups"), columns.n_columns, columns.column_names
        )
        constraints = resolve_constraints(
            features, given.get("keep"), given.get("exclude"), None, None
        )
        n_kept, n_open = len(constraints.keep), constraints.n_candidates
        most = n_open if self.max_features is None else int(self.max_features)
        mode = given.get("identifiers", "keep")
        if "encoder" in given:
            mode = (given["encoder"] or Encoder()).identifiers
        constraints = leave_out_identifiers(
            constraints, features, features.alone(identifiers), mode
        )
        most = min(most, constraints.n_candidates)
        return sizes_to_try(max(1, n_kept, most), max(1, n_kept))

    # --- the choice -------------------------------------------------------------------------------

    def _choose(self, kinds: set[str], baseline: NDArray[np.float64]) -> None:
        """Set what the rule gives; ``baseline`` has the score of each split without columns."""
        default = {"classes": "balanced accuracy", "quantity": "R²"}[min(kinds)]
        if len(kinds) > 1:
            default = "mean score"
        self.measure_: str = default
        if self.scoring:
            self.measure_ = self.scoring if isinstance(self.scoring, str) else "score"
        self.baseline_score_ = float(baseline.mean())
        self.beats_baseline_ = any(beats_baseline(curve, baseline) for curve in self._curves)
        self.choices_ = order_choices(self._curves, self.rule, baseline)
        best = self.choices_[0]
        self.best_selector_, self.best_score_ = best.selector, best.score
        self.best_n_features_: int = best.n_features
        self.cv_results_ = as_results(self._curves)

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        """Return the choice of each selector, and the score without features."""
        rows: list[list[Any]] = [
            [
                one.selector,
                one.n_features,
                one.score,
                one.standard_error,
                one.best_score,
                one.best_n_features,
            ]
            for one in self.choices_
        ]
        rows.append(["none", 0, self.baseline_score_, None, None, None])
        return ["selector", "K", self.measure_, "standard error", "best", "at K"], rows

    def in_words(self) -> str:
        """Return what was chosen, with the baseline beside it."""
        check_is_fitted(self)
        best = self.choices_[0]
        rows = count(self.n_rows_, "row")
        if self.n_rows_ < self._n_rows_in_all:
            rows += f", a sample of {self._n_rows_in_all:,}"
        text = (
            f"Cross-validation ({self.n_splits_} splits of {rows}; rule {self.rule}) chose "
            f"{best.selector} with {count(best.n_features, 'feature')}: "
            f"{self.measure_} {best.score:.4f} ± {best.standard_error:.4f}; without a feature, "
            f"{self.baseline_score_:.4f}."
        )
        return text if self.beats_baseline_ else f"{nothing_beats(self._baseline)} {text}"

    @property
    def display_name(self) -> str:
        """The name shown to users: that of the chosen selector, once it is chosen."""
        return self.selector_.display_name if hasattr(self, "selector_") else "SelectorCV"

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Save the chosen selector, fitted on all rows: see its ``save``."""
        check_is_fitted(self)
        return self.selector_.save(path, overwrite=overwrite)

    @checked(ax=AXES_OR_NONE)
    def plot_curves(self, ax: Any = None) -> Any:
        """Draw the mean score ± 1 standard error against K, the baseline, and mark the choice.

        Returns the axes.
        """
        check_is_fitted(self)
        label = f"{self._title}: {self.measure_}"
        return validation_curves(self._curves, self.choices_[0], self.baseline_score_, label, ax)

    def __sklearn_tags__(self) -> Any:
        """Tags: accepts what all selectors accept, and the model."""
        tags = super().__sklearn_tags__()
        of_all = [one.__sklearn_tags__() for one in named_selectors(self.selectors).values()]
        if not isinstance(self.model, str):
            of_all.append(self.model.__sklearn_tags__())
        else:
            tags.input_tags.allow_nan = True
        for flag in ("allow_nan", "sparse", "categorical"):
            accepted = all(getattr(one.input_tags, flag) for one in of_all)
            setattr(tags.input_tags, flag, accepted)
        return tags


def named_selectors(selectors: Any) -> dict[str, Any]:
    """Return the selectors by name: one, a list, or a dict."""
    if selectors is None:
        selectors = make_selector(DEFAULT_METHOD)
    if hasattr(selectors, "fit"):
        selectors = [selectors]
    if not isinstance(selectors, (list, tuple, Mapping)) or not selectors:
        raise InvalidParameterError(
            "selectors must be a selector, a list of selectors, or a dict of them. Got "
            f"{value_text(selectors)} instead."
        )
    is_named = isinstance(selectors, Mapping)
    found: dict[str, Any] = {}
    for one in selectors:
        selector = selectors[one] if is_named else one
        if not (
            isinstance(selector, Selector)
            and "n_features_to_select" in selector.get_params(deep=False)
        ):
            raise InvalidParameterError(
                "selectors must be selectors of hocmim with n_features_to_select, such as "
                f"HOCMIM(). Got {value_text(selector)} instead."
            )
        found[str(one) if is_named else _free_name(selector, found)] = selector
    return found


def _free_name(selector: Any, used: Mapping[str, Any]) -> str:
    """Return the name of the method; with its parameters if the name is in use."""
    name = selector.display_name
    if name not in used:
        return name
    declared = signature(type(selector)).parameters
    given = [
        f"{key}={value!r}"
        for key, value in selector.get_params(deep=False).items()
        if key != "n_features_to_select" and repr(value) != repr(declared[key].default)
    ]
    name = f"{name}({', '.join(given)})" if given else name
    number, free = 2, name
    while free in used:
        number, free = number + 1, f"{name} {number}"
    return free


def _fit_weighted(
    selector: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: Any,
    counts: NDArray[np.int64] | None,
    progress: ProgressCallback | None,
) -> Any:
    """Fit on all rows; a selector that takes no weights gets each row as often as it counts."""
    made, given = clone(selector), dict[str, Any]()
    accepted = signature(made.fit).parameters
    if progress is not None and "progress" in accepted:
        given["progress"] = progress
    if counts is not None and "sample_weight" in accepted:
        given["sample_weight"] = sample_weight
    elif counts is not None:
        rows = np.repeat(np.arange(len(y)), counts)
        X, y = take_rows(X, rows), y[rows]
    return made.fit(X, y, **given)


# --- the rule -------------------------------------------------------------------------------------


def sizes_to_try(most: int, least: int = 1) -> list[int]:
    """Return the numbers of features to try, from least to most.

    Every number up to 20, beyond it each about a tenth larger than the one before, and the ends.
    """
    sizes = list(range(1, min(most, MAX_CONSECUTIVE) + 1))
    while sizes[-1] < most:
        sizes.append(min(most, round(1.1 * sizes[-1])))
    return [least, *(size for size in sizes if size > least)]


def beats_baseline(curve: Curve, baseline: NDArray[np.float64]) -> bool:
    """Return whether the highest mean is above the baseline, of which there is one per split.

    True if there is nothing to compare with: a baseline of NaN.
    """
    gains = curve.scores[:, int(np.argmax(comparison_key(curve.mean)))] - baseline
    least = MIN_GAIN * gains.std(ddof=1) / np.sqrt(len(gains))
    return not (gains.mean() <= 0 or gains.mean() < least)


def choose_size(curve: Curve, rule: str, baseline: NDArray[np.float64] | float = np.nan) -> Choice:
    """Return the number of features that a rule gives; ``baseline``: the scores without any."""
    mean, error = curve.mean, curve.standard_error
    keys = comparison_key(mean)
    best = int(np.argmax(keys))
    place = best
    if rule == "one-se":
        place = int(np.argmax(keys >= comparison_key(mean[best] - error[best])))
    if not beats_baseline(curve, np.broadcast_to(baseline, len(curve.scores))):
        place = 0
    return Choice(
        curve.name,
        int(curve.sizes[place]),
        float(mean[place]),
        float(error[place]),
        int(curve.sizes[best]),
        float(mean[best]),
    )


def order_choices(
    curves: Sequence[Curve], rule: str, baseline: NDArray[np.float64] | float = np.nan
) -> tuple[Choice, ...]:
    """Return the choice of each selector, that of the best selector first."""

    def place(one: Choice) -> tuple[float, int]:
        return -float(comparison_key(one.best_score)), one.best_n_features

    return tuple(sorted((choose_size(curve, rule, baseline) for curve in curves), key=place))


def as_results(curves: Sequence[Curve]) -> dict[str, NDArray[Any]]:
    """Return the curves as arrays, one value for each selector and number of features.

    ``selector``, ``n_features``, ``split0_test_score`` and so on, ``mean_test_score``,
    ``std_test_score`` (as in scikit-learn), ``standard_error`` and ``rank_test_score``.
    """
    scores = np.hstack([curve.scores for curve in curves])
    names = [curve.name for curve in curves for _ in curve.sizes]
    mean = scores.mean(axis=0)
    keys = comparison_key(mean)
    results: dict[str, NDArray[Any]] = {
        "selector": np.array(names, object),
        "n_features": np.concatenate([curve.sizes for curve in curves]),
    }
    for split, values in enumerate(scores):
        results[f"split{split}_test_score"] = values
    results["mean_test_score"] = mean
    results["std_test_score"] = scores.std(axis=0)
    results["standard_error"] = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    results["rank_test_score"] = 1 + np.array([(keys > key).sum() for key in keys], np.int64)
    return results

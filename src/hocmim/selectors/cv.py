"""The number of features, and the method, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from inspect import signature
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
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
from hocmim.insight.plots import AXES_OR_NONE, validation_curves
from hocmim.parameters import (
    FUNCTION_OR_NONE,
    JOBS,
    SEED,
    check_parameters,
    check_value,
    checked,
    number,
    one_of,
    whole,
)
from hocmim.search.constraints import resolve_constraints
from hocmim.search.progress import Progress, ProgressCallback
from hocmim.search.validation import baseline_in_words, nothing_beats, sample_rows
from hocmim.selectors.base import Selector, leave_out_identifiers
from hocmim.selectors.choice import (
    RULES,
    Choices,
    as_results,
    beats_baseline,
    order_choices,
    sizes_to_try,
)
from hocmim.selectors.curves import Model, Problem, baseline_scores, cross_validate_sizes
from hocmim.selectors.kinds import strata, target_columns, with_known_kinds
from hocmim.selectors.models import DEFAULT_MODEL, make_model
from hocmim.selectors.registry import make_selector
from hocmim.selectors.splits import Fold, make_folds
from hocmim.text import count, value_text


class SelectorCV(MetaEstimatorMixin, Selector):
    """Selects with the number of features, and the selector, that cross-validation chooses.

    In each split every selector searches the training rows once, which gives the features for every
    number of features K. A model is fitted on the first K features and scored on the test rows. A
    rule chooses K for each selector and the best selector, which is then fitted on all rows.

    Parameters
    ----------
    selectors : selector, or list or dict of selectors, optional
        One selector of hocmim; or several to choose from, which may differ in method, parameters
        and encoder: a list, a list of (name, selector), or a dict. Their
        ``n_features_to_select`` is set here. None: the default method.
    model : {"knn", "linear", "forest"} or estimator, default "knn"
        The model that is fitted on the selected columns. One of your own gets the columns as they
        are in X, in the order of X. For a model by name, missing numbers are replaced by the
        median, numbers standardised and categories one-hot coded, by the training rows.
    max_features : int, float or None, default 30
        The largest K: a number (a table may have fewer), a fraction of the features, or None for
        all. Every K up to 20 is tried; beyond that each K is about a tenth larger than the one
        before.
    scoring : str, callable or None
        As in scikit-learn; higher is better. None: balanced accuracy for classes, the mean over
        the classes of the share of their rows that is predicted right, so that rare classes count
        as much as others; R² for a quantity.
    cv : int, splitter or iterable, default 5
        A number of shuffled folds, stratified by class, that keep ``groups`` together. Or a
        splitter of scikit-learn, or a list of (training rows, test rows).
    rule : {"best", "one-se"}
        "best": the K with the highest mean score. "one-se": the smallest K whose mean is within one
        standard error of the highest. See ``hocmim.selectors.choice``.
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
    best_index_ : int
        The place of the choice in ``cv_results_``.
    choices_ : Choices
        The choice of each selector, the best first; ``print`` shows a table.
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
        "max_features": [whole(1), number(0, 1, "right"), None],
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
        max_features: int | float | None = 30,
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
        **params: Any,
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
        **params
            For ``fit`` of the model. With scikit-learn's metadata routing: for the model, the
            scorer and the splitter, as they request it. Values with one entry per row are cut to
            the rows of each split.
        """
        check_value("progress", progress, FUNCTION_OR_NONE)
        selectors = self._check_parameters()
        _check_in_memory(X)
        table, target = open_memory(X, y, caller=type(self).__name__)
        X = table.native
        set_features(self, table.n_columns, table.names)
        counts = as_counts(sample_weight, table.n_rows, target)
        row_groups = as_row_groups(groups, table.n_rows)
        selectors, kinds = with_known_kinds(selectors, target, self.target)
        names = tuple(kind.name for kind in kinds)
        self.target_kind_ = names[0] if target.ndim == 1 else names
        routed = self._route(params)
        folds = self._folds(X, target, kinds, row_groups, counts, routed["splitter"])
        models = [
            self._model_of(one, kind)
            for one, kind in zip(target_columns(target), kinds, strict=True)
        ]
        is_numeric = isinstance(self.model, str)
        given = routed["model"], routed["scorer"]
        identifiers = find_identifiers(table)
        are_counts = False
        if counts is not None:
            classes = np.repeat(strata(target, kinds), counts)
            are_counts = are_observations(sample_weight, counts, classes)
        problem = Problem(X, target, folds, models, is_numeric, *given, identifiers, are_counts)
        features = Features(table.n_columns, table.names)
        sizes = {
            name: self._sizes(selector, features, identifiers)
            for name, selector in selectors.items()
        }
        told = Progress(type(self).__name__, progress)
        self._curves = cross_validate_sizes(selectors, sizes, problem, self.n_jobs, told)
        self.n_splits_ = len(folds)
        self._n_rows_in_all = table.n_rows if counts is None else int((counts > 0).sum())
        self.n_rows_ = len(np.unique(np.concatenate([rows for fold in folds for rows in fold])))
        self._baseline = baseline_in_words(None if kinds[0].is_quantity else target, len(kinds))
        self._choose({not kind.is_quantity for kind in kinds}, baseline_scores(problem))
        if not self.beats_baseline_:
            warn_user(nothing_beats(self._baseline))
        chosen = selectors[self.best_selector_].set_params(
            n_features_to_select=self.best_n_features_
        )
        fitted = _fit_weighted(chosen, X, target, sample_weight, counts, progress)
        self.selector_ = fitted
        return self._set_selection(
            fitted.selection_, fitted.features_, fitted.ranking_[fitted.features_.first]
        )

    # --- what is cross-validated ------------------------------------------------------------------

    def _check_parameters(self) -> dict[str, Any]:
        """Check the parameters; return the selectors by name."""
        check_parameters(self)
        return named_selectors(self.selectors)

    def _route(self, params: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the parameters of the model's fit, the scorer and the splitter."""
        if not import_module("sklearn").get_config()["enable_metadata_routing"]:
            return {"model": params, "scorer": {}, "splitter": {}}
        routed = process_routing(self, "fit", **params)
        return {
            "model": dict(routed.model.fit),
            "scorer": dict(routed.scorer.score),
            "splitter": dict(routed.splitter.split),
        }

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which metadata ``fit`` takes, and to whom it passes the rest.

        ``sample_weight`` and ``groups`` are its own; other metadata goes to the model, the
        scorer and the splitter, as they request it.
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_score = MethodMapping().add(caller="fit", callee="score")
        to_split = MethodMapping().add(caller="fit", callee="split")
        model = self._make_model(has_classes=None)[0]
        splitter = None if isinstance(self.cv, Integral) else self.cv
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(model=model, method_mapping=to_fit)
            .add(scorer=self._make_scorer(model), method_mapping=to_score)
            .add(splitter=splitter, method_mapping=to_split)
        )

    def _folds(
        self,
        X: Any,
        y: NDArray[Any],
        kinds: Sequence[TargetKind],
        groups: RowGroups | None,
        counts: NDArray[np.int64] | None,
        params: Mapping[str, Any],
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
            strata_of if is_all else strata_of[rows],
            groups if is_all or groups is None else groups[rows],
            has_classes=not (is_one and kinds[0].is_quantity),
            seed=self.random_state,
            split_params=params,
        )
        folds = [(rows[train], rows[test]) for train, test in folds]
        if counts is None:
            return folds
        return [(np.repeat(a, counts[a]), np.repeat(b, counts[b])) for a, b in folds]

    def _model_of(self, y: NDArray[Any], kind: TargetKind) -> Model:
        """Return the model of one target."""
        made, self._title = self._make_model(not kind.is_quantity)
        return Model(made, self._make_scorer(made), y)

    def _make_model(self, has_classes: bool | None) -> tuple[Any, str]:
        """Return the model and its title; ``has_classes`` None: the kind is not known yet."""
        if has_classes is None:
            has_classes = isinstance(self.model, str) or is_classifier(self.model)
        made, title = make_model(self.model, has_classes, self.random_state, "model")
        if isinstance(self.model, str) and "n_jobs" in made.get_params():
            made.set_params(n_jobs=None)  # the fits are parallel
        return made, title

    def _make_scorer(self, model: Any) -> Any:
        from sklearn.metrics import check_scoring

        default = "balanced_accuracy" if is_classifier(model) else None
        try:
            return check_scoring(model, scoring=self.scoring or default)
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
        if self.max_features is None:
            most = n_open
        elif isinstance(self.max_features, Integral):
            most = int(self.max_features)
        else:
            most = int(self.max_features * n_open)
        mode = _treatment_of_identifiers(given)
        constraints = leave_out_identifiers(
            constraints, features, features.alone(identifiers), mode
        )
        most = min(most, constraints.n_candidates)
        return sizes_to_try(max(1, n_kept, most), max(1, n_kept))

    # --- the choice -------------------------------------------------------------------------------

    def _choose(self, has_classes: set[bool], baseline: NDArray[np.float64]) -> None:
        """Set what the rule gives.

        ``has_classes``: whether targets are classes or quantities; ``baseline``: the scores of the
        splits without columns.
        """
        default = "balanced accuracy" if has_classes == {True} else "R²"
        if len(has_classes) > 1:
            default = "mean score"
        self._measure = (
            self.scoring if isinstance(self.scoring, str) else "score" if self.scoring else default
        )
        self.baseline_score_ = float(baseline.mean())
        self.beats_baseline_ = any(beats_baseline(curve, baseline) for curve in self._curves)
        self.choices_ = Choices(
            order_choices(self._curves, self.rule, baseline), self._measure, self.baseline_score_
        )
        best = self.choices_[0]
        self.best_selector_, self.best_score_ = best.selector, best.score
        self.best_n_features_: int = best.n_features
        self.cv_results_ = as_results(self._curves)
        is_best = (self.cv_results_["selector"] == best.selector) & (
            self.cv_results_["n_features"] == best.n_features
        )
        self.best_index_ = int(np.argmax(is_best))

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
            f"{self._measure} {best.score:.4f} ± {best.standard_error:.4f}; without a feature, "
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
        label = f"{self._title}: {self._measure}"
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
    """Return the selectors by name: one, a list, a list of (name, selector), or a dict."""
    if selectors is None:
        selectors = make_selector(DEFAULT_METHOD)
    if hasattr(selectors, "fit"):
        selectors = [selectors]
    if isinstance(selectors, Mapping):
        selectors = list(selectors.items())
    if not isinstance(selectors, (list, tuple)) or not selectors:
        raise InvalidParameterError(
            "selectors must be a selector, a list of selectors, a list of (name, selector), or a "
            f"dict of them. Got {value_text(selectors)} instead."
        )
    found: dict[str, Any] = {}
    for one in selectors:
        name, selector = one if isinstance(one, tuple) and len(one) == 2 else (None, one)
        if isinstance(selector, type) or not (
            isinstance(selector, Selector)
            and "n_features_to_select" in selector.get_params(deep=False)
        ):
            raise InvalidParameterError(
                "selectors must be selectors of hocmim with n_features_to_select, such as "
                f"HOCMIM(). Got {value_text(selector)} instead."
            )
        name = _free_name(selector, found) if name is None else str(name)
        if name in found:
            raise InvalidParameterError(f"selectors has the name {name!r} twice. Rename one.")
        found[name] = selector
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


def _check_in_memory(X: Any) -> None:
    if is_row_source(X) or is_dask_collection(X):
        raise InvalidTableError(
            "Cross-validation needs a table in memory, because the model does. Read the table, or "
            "a sample of its rows, into memory first."
        )


def _treatment_of_identifiers(parameters: Mapping[str, Any]) -> str:
    """Return what a selector does with columns that identify the rows, by its parameters."""
    if "encoder" in parameters:
        return (parameters["encoder"] or Encoder()).identifiers
    return str(parameters.get("identifiers", "keep"))


def _fit_weighted(
    selector: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: Any,
    counts: NDArray[np.int64] | None,
    progress: ProgressCallback | None,
) -> Any:
    """Fit on all rows; a selector that takes no weights gets each row as often as it counts."""
    made = clone(selector)
    accepted: Sequence[str] = list(signature(made.fit).parameters)
    given: dict[str, Any] = {}
    if progress is not None and "progress" in accepted:
        given["progress"] = progress
    if counts is None:
        return made.fit(X, y, **given)
    if "sample_weight" in accepted:
        return made.fit(X, y, sample_weight=sample_weight, **given)
    rows = np.repeat(np.arange(len(y)), counts)
    return made.fit(take_rows(X, rows), y[rows], **given)

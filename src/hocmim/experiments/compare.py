"""Compare methods on one table: their selections, the stability, and the prediction error.

* **overlap**: |A ∩ B| / |A ∪ B| of the columns two methods select from the table (Jaccard index).
* **stability**: Φ of each method's selections on bootstrap resamples (``stability_index``).
* **error curves**: in each fold of a cross-validation every method selects on the training rows. A
  model is fitted on the first 1, 2, … selected columns and tested on the test rows. The error is
  the share of wrong predictions, or 1 − R² for a target that is a quantity. On large tables the
  model is fitted and tested on a sample of these rows: models take most of the time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from hocmim import html
from hocmim.data.table import Table, as_table, take_rows
from hocmim.data.target import (
    TARGET_KINDS,
    TargetKind,
    as_target,
    decide_kind,
    summarize_target,
    warn_about_guess,
)
from hocmim.defaults import COMPARED_METHODS
from hocmim.errors import InvalidParameterError
from hocmim.experiments import comparison_figure
from hocmim.experiments.evaluation import Evaluation, Fold, evaluated_rows
from hocmim.parameters import Number, OneOf, check_value
from hocmim.selectors.registry import make_selector
from hocmim.selectors.stability import StabilitySelector, strata, with_target_kind
from hocmim.text import visible

# Module, classifier, regressor and parameters of each model, which is imported on use.
MODELS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "knn": ("neighbors", "KNeighborsClassifier", "KNeighborsRegressor", {"n_neighbors": 3}),
    "linear": ("linear_model", "LogisticRegression", "Ridge", {"max_iter": 1000}),
    "forest": ("ensemble", "RandomForestClassifier", "RandomForestRegressor", {"n_jobs": -1}),
}
# Rows on which models are fitted and tested, unless the caller chooses.
MAX_ROWS = 10_000
TITLES = {"knn": "3-NN", "linear": "linear model", "forest": "random forest"}

OnProgress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class MethodResult:
    """The results of one method.

    Attributes
    ----------
    method : str
    selected : tuple of int
        The columns it selects from the table, the best first.
    seconds : float
        The time of this selection.
    stability : float
        Φ over resamples; NaN if it was not computed or is not defined.
    stability_interval : (float, float)
    sizes : ndarray of int64
        Numbers of columns the model was fitted on, from 0 up to the smallest number of columns
        selected in any fold.
    errors : ndarray of float64, shape (n_folds, len(sizes))
    """

    method: str
    selected: tuple[int, ...]
    seconds: float
    stability: float
    stability_interval: tuple[float, float]
    sizes: NDArray[np.int64]
    errors: NDArray[np.float64]

    @property
    def mean_error(self) -> NDArray[np.float64]:
        """The mean over the folds, for each size."""
        return self.errors.mean(axis=0)

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """The standard error of the mean, with the folds treated as independent."""
        return self.errors.std(axis=0, ddof=1) / np.sqrt(len(self.errors))


@dataclass(frozen=True)
class Comparison:
    """The results of several methods on one table.

    Attributes
    ----------
    results : tuple of MethodResult
        In the order the methods were given.
    overlap : ndarray of float64, shape (n_methods, n_methods)
        Jaccard index of each pair of selections; 1 on the diagonal.
    names : tuple of str
        Of the columns.
    model : str
        The model whose errors are computed.
    measure : {"error", "1 − R²"}
    n_rows : int
        Rows of the table. All are used to select and for the stability.
    n_evaluated : int
        Rows on which the model was fitted and tested.
    """

    results: tuple[MethodResult, ...]
    overlap: NDArray[np.float64]
    names: tuple[str, ...]
    model: str
    measure: str
    n_rows: int
    n_evaluated: int

    @property
    def votes(self) -> dict[str, list[str]]:
        """The methods that select each column, the column with most methods first."""
        chosen: dict[int, list[str]] = {}
        for result in self.results:
            for j in result.selected:
                chosen.setdefault(j, []).append(result.method)
        order = sorted(chosen, key=lambda j: -len(chosen[j]))
        return {self.names[j]: chosen[j] for j in order}

    @property
    def sample(self) -> str:
        """On how many rows the errors were computed, in words; empty if on all rows."""
        if self.n_evaluated == self.n_rows:
            return ""
        return f"on {self.n_evaluated:,} of {self.n_rows:,} rows"

    def _repr_html_(self) -> str:
        """Return what each method selects, its stability and its lowest error, for notebooks."""
        titles = ["method", f"lowest {self.measure}", "at size", "stability", "selected"]
        rows = [
            [
                result.method,
                float(result.mean_error.min()),
                int(result.sizes[result.mean_error.argmin()]),
                float(result.stability),
                ", ".join(visible(self.names[j]) for j in result.selected),
            ]
            for result in self.results
        ]
        return html.table(titles, rows, f"Errors of a {self.model} {self.sample}".strip())

    def plot(self) -> Any:
        """Draw error curves, overlap and stability; return the figure."""
        return comparison_figure.draw(self)


def compare_methods(
    X: Any,
    y: Any,
    methods: Sequence[str] | Mapping[str, Any] = COMPARED_METHODS,
    n_features_to_select: int | float | str | None = 10,
    *,
    n_folds: int = 5,
    n_resamples: int = 20,
    model: Any = "knn",
    max_rows: int | None = MAX_ROWS,
    random_state: int = 0,
    target_kind: str = "auto",
    target_bins: int | None = None,
    target_discretizer: str | None = None,
    on_progress: OnProgress | None = None,
) -> Comparison:
    """Compare methods on one table: their selections, the stability, and the prediction error.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Classes, or a quantity.
    methods : sequence of str, or dict of name to selector
        Names from ``list_methods()``, or selectors.
    n_features_to_select : int, float, "auto" or None
        For methods given by name.
    n_folds : int
        Folds of the cross-validation, at least 2.
    n_resamples : int
        Bootstrap resamples for the stability, at least 2; 0 for none.
    model : {"knn", "linear", "forest"} or estimator
        The model to fit on the selected columns. Missing numbers are replaced by the median,
        numbers standardised and categories one-hot coded, by the training rows.
    max_rows : int or None
        On a table of more rows, the model is fitted and tested on a random sample of about this
        many, drawn by class; at least 100. None: on all rows. Methods always select on all training
        rows.
    random_state : int
        Seed of the folds, the resamples, the sample of rows and the forest.
    target_kind : {"auto", "classes", "quantity"}
        What y holds, for the model and for selectors whose own ``target_kind`` is "auto". "auto":
        what a selector declares, or else as :func:`hocmim.data.target.decide_kind` says.
    target_bins, target_discretizer : optional
        How methods given by name cut a quantity, if they cut it.
    on_progress : callable, optional
        Called as ``on_progress(done, total, method)`` with the number of selections made.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hocmim import compare_methods
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = compare_methods(X, y, ["MIM", "CIFE"], 3, n_resamples=5)
    >>> float(found.overlap[0, 1])
    0.2
    """
    cut = {"target_bins": target_bins, "target_discretizer": target_discretizer}
    selectors = _selectors(methods, n_features_to_select, cut)
    _check_numbers(n_folds, n_resamples, max_rows)
    table = as_table(X, min_rows=2)
    target = as_target(y, table.n_rows)
    kind = _common_kind(selectors, target, target_kind)
    fitted, title = _model(model, not kind.is_quantity, random_state)
    predicted = target.astype(float) if kind.is_quantity else _class_numbers(target)
    folds = _folds(predicted, n_folds, not kind.is_quantity, random_state)
    rows = evaluated_rows(strata(predicted, kind), folds, max_rows, random_state)
    evaluation = Evaluation(X, predicted, fitted, rows)
    steps = _Steps(len(selectors) * (1 + n_resamples + n_folds), on_progress)
    results = []
    for name, given in selectors.items():
        selector = with_target_kind(given, target, kind.name)[0]
        done = partial(steps.done, name)
        selected, seconds = _select(selector, X, target)
        done(1)
        stability, interval = _stability(selector, X, target, n_resamples, random_state)
        done(n_resamples)
        curve = _curve(selector, X, target, folds, evaluation, done)
        results.append(MethodResult(name, selected, seconds, stability, interval, *curve))
    return _as_comparison(results, table, evaluation, title)


def _as_comparison(
    results: Sequence[MethodResult], table: Table, evaluation: Evaluation, title: str
) -> Comparison:
    names = table.names or tuple(str(j) for j in range(table.n_columns))
    overlap = _overlap([result.selected for result in results])
    counts = table.n_rows, evaluation.n_rows
    return Comparison(tuple(results), overlap, names, title, evaluation.measure, *counts)


def _check_numbers(n_folds: Any, n_resamples: Any, max_rows: Any) -> None:
    check_value("n_folds", n_folds, Number(2, is_whole=True))
    check_value("n_resamples", n_resamples, Number(2, is_whole=True, or_zero=True))
    if max_rows is not None:
        check_value("max_rows", max_rows, Number(100, is_whole=True))


def _class_numbers(y: NDArray[Any]) -> NDArray[np.int64]:
    """Return the classes as 0, 1, 2, … in their sorted order."""
    return np.unique(y, return_inverse=True)[1]


class _Steps:
    """Counts the selections and reports them."""

    def __init__(self, total: int, callback: OnProgress | None) -> None:
        self._total, self._callback, self._n = total, callback, 0

    def done(self, method: str, number: int) -> None:
        self._n += number
        if self._callback is not None:
            self._callback(self._n, self._total, method)


def _common_kind(selectors: Mapping[str, Any], y: NDArray[Any], kind: str) -> TargetKind:
    """Return the kind of the target: declared, declared by selectors, or found. A guess warns."""
    check_value("target_kind", kind, OneOf(TARGET_KINDS))
    declared = {
        name: selector.get_params(deep=False).get("target_kind", "auto")
        for name, selector in selectors.items()
    }
    kinds = {kind, *declared.values()} - {"auto"}
    if len(kinds) > 1:
        raise InvalidParameterError(
            "The target is declared as classes and as a quantity: target_kind is "
            f"{kind!r}, and the methods have {declared}. Declare one kind."
        )
    found = decide_kind(summarize_target(y), kinds.pop() if kinds else "auto")
    warn_about_guess(found)
    return found


def _selectors(
    methods: Sequence[str] | Mapping[str, Any], k: Any, options: Mapping[str, Any]
) -> dict[str, Any]:
    if isinstance(methods, str) or not methods:
        raise InvalidParameterError(
            f"methods must be a list of names, such as {list(COMPARED_METHODS[1:3])}, or a dict of "
            f"selectors. Got {methods!r} instead."
        )
    if isinstance(methods, Mapping):
        return dict(methods)
    made = [make_selector(name, n_features_to_select=k) for name in methods]
    for selector in made:
        known = selector.get_params(deep=False)
        given = {name: value for name, value in options.items() if value is not None}
        selector.set_params(**{name: given[name] for name in given if name in known})
    return {selector.display_name: selector for selector in made}


def _model(model: Any, has_classes: bool, seed: int) -> tuple[Any, str]:
    """Return the estimator and its name."""
    if isinstance(model, str):
        if model not in MODELS:
            raise InvalidParameterError(
                f"model must be one of {', '.join(map(repr, MODELS))}, or an estimator. Got "
                f"{model!r} instead."
            )
        module, classifier, regressor, parameters = MODELS[model]
        kind = getattr(import_module(f"sklearn.{module}"), classifier if has_classes else regressor)
        made = kind(**parameters)
        has_seed = "random_state" in made.get_params()
        return made.set_params(random_state=seed) if has_seed else made, TITLES[model]
    if is_classifier(model) != has_classes:
        needed = (
            "a classifier, because the target has classes"
            if has_classes
            else "a regressor, because the target is a quantity"
        )
        raise InvalidParameterError(f"model must be {needed}. Got {model!r} instead.")
    return model, type(model).__name__


def _folds(y: NDArray[Any], n_folds: int, has_classes: bool, seed: int) -> list[Fold]:
    """Return training and test rows of each fold, stratified by class."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if has_classes else KFold
    try:
        with warnings.catch_warnings():  # about a class with fewer rows than folds
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            splitter = kind(n_folds, shuffle=True, random_state=seed)
            return list(splitter.split(np.zeros((len(y), 1)), y))
    except ValueError as error:
        raise InvalidParameterError(f"n_folds is too large for this table: {error}") from error


def _overlap(selections: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return the Jaccard index of each pair of selections; 1 for two empty ones."""
    sets = [set(selection) for selection in selections]
    return np.array([[len(a & b) / len(a | b) if a | b else 1.0 for b in sets] for a in sets])


def _select(selector: Any, X: Any, y: NDArray[Any]) -> tuple[tuple[int, ...], float]:
    began = time.perf_counter()
    selected = clone(selector).fit(X, y).selected_
    return tuple(selected.tolist()), time.perf_counter() - began


def _stability(
    selector: Any, X: Any, y: NDArray[Any], n_resamples: int, seed: int
) -> tuple[float, tuple[float, float]]:
    if n_resamples == 0:
        return np.nan, (np.nan, np.nan)
    stable = StabilitySelector(selector, n_resamples, random_state=seed).fit(X, y)
    return stable.stability_, stable.stability_interval_


def _curve(
    selector: Any,
    X: Any,
    y: NDArray[Any],
    folds: Sequence[Fold],
    evaluation: Evaluation,
    done: Callable[[int], None],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the sizes that all folds have, and the error of each fold and size."""
    curves = []
    for train, test in folds:
        chosen, _ = _select(selector, take_rows(X, train), y[train])
        curves.append(evaluation.curve(chosen, train, test))
        done(1)
    common = sorted(set.intersection(*(set(curve) for curve in curves)))
    errors = np.array([[curve[m] for m in common] for curve in curves])
    return np.array(common, np.int64), errors

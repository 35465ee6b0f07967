"""Compare methods on one table: their selections, the stability, and the prediction error.

* **overlap**: |A ∩ B| / |A ∪ B| of the columns two methods select from the table (Jaccard index).
* **stability**: Φ of each method's selections on bootstrap resamples (``stability_index``).
* **error curves**: in each fold of a cross-validation every method selects on the training rows. A
  model is fitted on the first 1, 2, … selected columns and tested on the test rows. The error is
  the share of wrong predictions, or 1 − R² for a target that is a quantity; of several targets the
  mean over them. On large tables the model is fitted and tested on a sample of these rows: models
  take most of the time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from hocmim import html
from hocmim.coding.encoded import find_identifiers, split_target
from hocmim.coding.target import Target, TargetKind
from hocmim.data.row_groups import RowGroups, as_row_groups
from hocmim.data.table import as_table
from hocmim.data.target import as_target
from hocmim.defaults import COMPARED_METHODS
from hocmim.errors import InvalidParameterError, InvalidTargetError
from hocmim.experiments import comparison_figure
from hocmim.memory import prepare_products
from hocmim.parameters import (
    FUNCTION_OR_NONE,
    SEED,
    ZERO,
    Like,
    check_value,
    checked,
    one_of,
    whole,
)
from hocmim.search.progress import Progress, ProgressCallback, ProgressEvent
from hocmim.selectors.base import Selector
from hocmim.selectors.curves import Model, Problem, score_curves
from hocmim.selectors.kinds import strata, with_known_kinds
from hocmim.selectors.models import make_model
from hocmim.selectors.registry import make_selector
from hocmim.selectors.splits import Fold, draw_rows, fit_on_rows, make_folds
from hocmim.selectors.stability import MAX_RESAMPLES, StabilitySelector
from hocmim.text import text_table, value_text, visible
from hocmim.threads import stopped_by

# Rows on which models are fitted and tested, unless the caller chooses.
MAX_ROWS = 10_000
# Numbers of columns that are tried: every one up to this, about as many of a larger number.
MAX_SIZES = 20

SELECTOR_CONSTRAINT = [
    Like(("fit", "get_support"), "a dict of names and selectors, such as HOCMIM(10)")
]


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

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        """Return what each method selects, its stability and its lowest error."""
        titles = ["method", f"lowest {self.measure}", "at size", "stability", "selected"]
        return titles, [
            [
                result.method,
                float(result.mean_error.min()),
                int(result.sizes[result.mean_error.argmin()]),
                float(result.stability),
                ", ".join(visible(self.names[j]) for j in result.selected),
            ]
            for result in self.results
        ]

    def __str__(self) -> str:
        caption = f"Errors of a {self.model} {self.sample}".strip()
        return f"{caption}\n{text_table(*self._table(), width=60)}"

    def _repr_html_(self) -> str:
        """Return the table for notebooks."""
        return html.table(*self._table(), f"Errors of a {self.model} {self.sample}".strip())

    def plot(self) -> Any:
        """Draw error curves, overlap and stability; return the figure."""
        return comparison_figure.draw(self)


@checked(
    random_state=SEED,
    target=[one_of(["classes", "quantity"]), Target, None],
    progress=FUNCTION_OR_NONE,
    n_resamples=[whole(2, MAX_RESAMPLES), ZERO],
    max_rows=[whole(100), None],
)
def compare_methods(
    X: Any,
    y: Any,
    methods: Sequence[str] | Mapping[str, Any] = COMPARED_METHODS,
    n_features_to_select: Any = 10,
    *,
    cv: Any = 5,
    groups: Any = None,
    n_resamples: int = 20,
    model: Any = "knn",
    max_rows: int | None = MAX_ROWS,
    random_state: int = 0,
    target: Target | str | None = None,
    progress: ProgressCallback | None = None,
) -> Comparison:
    """Compare the selections of methods on one table, their stability, and the prediction error.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
    y : array of shape (n_samples,) or (n_samples, n_targets)
        Classes or a quantity; several targets of one kind. Errors are means over the targets.
    methods : sequence of str, or dict of name to selector
        Names from ``list_methods()``, or selectors.
    n_features_to_select : int, float, None, "significant", StopTest or Budget
        For methods given by name.
    cv : int, splitter or iterable, default 5
        A number of shuffled folds, at least 2, stratified by class. Or a splitter of scikit-learn,
        or a list of (training rows, test rows).
    groups : array of shape (n_samples,), optional
        Labels of the rows that stay together.
    n_resamples : int
        Bootstrap resamples for the stability, at least 2; 0 for none.
    model : {"knn", "linear", "forest"} or estimator
        To fit on the selected columns. By the training rows, missing numbers are replaced by the
        median, numbers standardised and categories one-hot coded.
    max_rows : int or None
        On a table of more rows, the model is fitted and tested on a random sample of about this
        many, drawn by class; at least 100. None: on all rows. Methods select on all training rows.
    random_state : int
        Seed of the folds, the resamples, the sample of rows and the forest.
    target : "classes", "quantity", Target or None
        What y holds, for selectors that do not declare it.
    progress : callable, optional
        Called with a ``hocmim.search.progress.ProgressEvent`` a few times a second, from any
        thread. It may raise to stop the comparison.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hocmim import compare_methods
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> float(compare_methods(X, y, ["MIM", "CIFE"], 3, n_resamples=5).overlap[0, 1])
    0.2
    """
    selectors = _selectors(methods, n_features_to_select, target)
    X, y = split_target(X, y)
    table = as_table(X, min_rows=2)
    values = as_target(y, table.n_rows, several=True)
    selectors, kinds = with_known_kinds(selectors, values, target)
    kind = _kind_of_all(kinds)
    estimator, title = make_model(model, not kind.is_quantity, random_state)
    row_groups = as_row_groups(groups, table.n_rows)
    classes = strata(values, kinds)
    predicted = _as_numbers(values, kind)
    folds = _folds(cv, X, predicted, classes, row_groups, random_state)
    rows = evaluated_rows(classes, folds, max_rows, random_state)
    models = [Model(estimator, _score, one) for one in np.atleast_2d(predicted.T)]
    sampled = [(np.intersect1d(a, rows), np.intersect1d(b, rows)) for a, b in folds]
    problem = Problem(X, sampled, models, is_numeric=True)
    # Identifiers are those of the whole table: a part of the rows does not show them.
    ids = find_identifiers(table)
    steps = Progress("compare_methods", progress)
    prepare_products()
    with stopped_by(steps.on_wait):
        firsts: dict[str, tuple[tuple[int, ...], float]] = {}
        stabilities = {}
        n_selections = len(selectors) * (1 + n_resamples + len(folds))
        steps.begin("compare", "selecting", n_selections)
        for name, one in selectors.items():
            # Warnings of the data once, from the first method.
            began = time.perf_counter()
            fitted = fit_on_rows(
                one, X, values, np.arange(table.n_rows), ids, groups=row_groups, warns=not firsts
            )
            firsts[name] = _selected(fitted), time.perf_counter() - began
            steps.count("selecting, {}", name)
            stabilities[name] = _stability(
                one, X, values, row_groups, ids, n_resamples, random_state, steps
            )
        chosen = {}
        for split, (train, _) in enumerate(folds):
            for name, one in selectors.items():
                fitted = fit_on_rows(one, X, values, train, ids, groups=row_groups)
                chosen[name, split] = [[j] for j in _selected(fitted)]
                steps.count("selecting, {}", name)
        sizes = {
            name: _sizes(min(len(chosen[name, split]) for split in range(len(folds))))
            for name in selectors
        }
        curves = {one.name: one for one in score_curves(problem, chosen, sizes, None, steps)}
    results = tuple(
        MethodResult(
            name, *firsts[name], *stabilities[name], curves[name].sizes, -curves[name].scores
        )
        for name in selectors
    )
    names = table.names or tuple(str(j) for j in range(table.n_columns))
    overlap = _overlap([result.selected for result in results])
    measure = "error" if is_classifier(estimator) else "1 − R²"
    return Comparison(results, overlap, names, title, measure, table.n_rows, len(rows))


def _score(estimator: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the negative error: of the share of wrong predictions, or of 1 − R²."""
    if is_classifier(estimator):
        return -float(np.mean(estimator.predict(X) != y))
    return float(estimator.score(X, y)) - 1


def _kind_of_all(kinds: Sequence[TargetKind]) -> TargetKind:
    """Return the kind of the target, or of all targets."""
    if len({one.name for one in kinds}) > 1:
        names = ", ".join(one.name for one in kinds)
        raise InvalidTargetError(
            f"The targets are of two kinds ({names}), and errors of classes and of quantities have "
            "no common mean. Compare the methods for the targets of each kind."
        )
    return kinds[0]


def _as_numbers(y: NDArray[Any], kind: TargetKind) -> NDArray[Any]:
    """Return what a model predicts: a quantity, or the classes as 0, 1, 2, … in sorted order."""
    if kind.is_quantity:
        return y.astype(float)
    if y.ndim > 1:
        return np.column_stack([_as_numbers(as_target(column), kind) for column in y.T])
    return np.unique(y, return_inverse=True)[1]


def _selectors(
    methods: Sequence[str] | Mapping[str, Any], k: Any, target: Target | str | None
) -> dict[str, Any]:
    is_mapping = isinstance(methods, Mapping)
    is_listed = isinstance(methods, (list, tuple)) and all(isinstance(m, str) for m in methods)
    if not (is_mapping or is_listed) or not methods:
        raise InvalidParameterError(
            f"methods must be a list of names, such as {list(COMPARED_METHODS[1:3])}, or a dict of "
            f"selectors. Got {value_text(methods)} instead."
        )
    if isinstance(methods, Mapping):
        for selector in methods.values():
            check_value("methods", selector, SELECTOR_CONSTRAINT)
        return {str(name): selector for name, selector in methods.items()}
    made = [make_selector(name, n_features_to_select=k, target=target) for name in methods]
    return {selector.display_name: selector for selector in made}


def _folds(
    cv: Any,
    X: Any,
    y: NDArray[Any],
    classes: NDArray[np.int64],
    groups: Any,
    seed: int,
) -> list[Fold]:
    """Return the folds; of several targets the combinations of classes are stratified."""
    has_classes = bool(classes.any())
    y = classes if y.ndim > 1 and has_classes else y
    return make_folds(cv, X, y, groups, has_classes=has_classes, seed=seed)


def _overlap(selections: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return the Jaccard index of each pair of selections; 1 for two empty ones."""
    sets = [set(selection) for selection in selections]
    return np.array([[len(a & b) / len(a | b) if a | b else 1.0 for b in sets] for a in sets])


def _selected(fitted: Any) -> tuple[int, ...]:
    """Return the selected columns: the best first, or those of another selector in table order."""
    is_ours = isinstance(fitted, Selector)
    return tuple((fitted.selected_ if is_ours else fitted.get_support(indices=True)).tolist())


def _stability(
    selector: Any,
    X: Any,
    y: NDArray[Any],
    groups: RowGroups | None,
    identifiers: NDArray[np.int64],
    n_resamples: int,
    seed: int,
    steps: Progress,
) -> tuple[float, tuple[float, float]]:
    if n_resamples == 0:
        return np.nan, (np.nan, np.nan)
    stable = StabilitySelector(selector, n_resamples, random_state=seed)
    name, n_counted = getattr(selector, "display_name", type(selector).__name__), 0

    def count(event: ProgressEvent) -> None:
        nonlocal n_counted
        if event.done > n_counted:
            steps.count("selecting, {}", name, event.done - n_counted)
            n_counted = event.done
        else:
            steps.on_wait()

    stable.fit_part(X, y, identifiers, groups=groups, progress=count)
    return stable.stability_, stable.stability_interval_


def evaluated_rows(
    strata: NDArray[np.int64], folds: Sequence[Fold], max_rows: int | None, seed: int
) -> NDArray[np.int64]:
    """Return the rows for the models: the same share of each test part and stratum.

    If the test parts are not a partition of the rows, the same share of each stratum.
    """
    if max_rows is None or len(strata) <= max_rows:
        return np.arange(len(strata))
    rng, share = np.random.RandomState(seed), max_rows / len(strata)
    tested = [test for _, test in folds]
    if np.array_equal(np.sort(np.concatenate(tested)), np.arange(len(strata))):
        parts = [test[draw_rows(strata[test], share, False, rng)] for test in tested]
        return np.sort(np.concatenate(parts))
    return draw_rows(strata, share, False, rng)


def _sizes(most: int) -> list[int]:
    """Return the numbers of columns to try, up to the shortest selection of all folds."""
    if most <= MAX_SIZES:
        return list(range(most + 1))
    return [0, *np.unique(np.rint(np.geomspace(1, most, MAX_SIZES)).astype(int)).tolist()]

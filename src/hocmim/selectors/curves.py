"""Cross-validated scores of a model on the features that selectors select.

In each split every selector searches the training rows once. The search gives the features for
every number of features K. The model is fitted on the first K selected features of the training
rows and scored on the test rows. Selectors that select the same columns share the fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from hocmim.data.table import take_columns, take_rows
from hocmim.errors import InvalidParameterError
from hocmim.memory import prepare_products
from hocmim.search.progress import Progress
from hocmim.selectors.choice import Curve
from hocmim.selectors.models import NumericTransformer
from hocmim.selectors.splits import Fold, without_copies
from hocmim.text import value_text

Columns = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Model:
    """A model of one target: the estimator, ``scorer(estimator, X, y)``, and the target."""

    estimator: Any
    scorer: Callable[..., float]
    y: NDArray[Any]

    def fit_and_score(self, train: Part, test: Part) -> float:
        """Fit a copy of the estimator on the training part, and score it on the test part."""
        y = self.y[train.rows]
        if train.X.shape[1]:
            fitted = clone(self.estimator).fit(train.X, y, **train.params)
        else:  # a selector that selects nothing
            from sklearn.dummy import DummyClassifier, DummyRegressor

            dummy = DummyClassifier() if is_classifier(self.estimator) else DummyRegressor()
            fitted = dummy.fit(train.X, y)
        with warnings.catch_warnings():  # of balanced accuracy, if a split has no row of a class
            warnings.filterwarnings("ignore", "y_pred contains classes not in y_true", UserWarning)
            score = self.scorer(fitted, test.X, self.y[test.rows], **test.params)
        if not isinstance(score, Real):
            raise InvalidParameterError(
                f"scoring must return one number for each split. It returned {value_text(score)}."
            )
        return float(score)


@dataclass(frozen=True, eq=False)
class Part:
    """One side of a split: the columns of the model at its rows, and what else the model gets."""

    X: Any
    rows: NDArray[np.int64]
    params: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """What the model is fitted on, and how it is scored.

    Attributes
    ----------
    X : table
    y : ndarray
        What the selectors get; two-dimensional for several targets.
    folds : list of (training rows, test rows)
        A row may occur several times.
    models : list of Model
        One for each target. The score is the mean of theirs.
    is_numeric : bool
        Whether the models get the columns as ``NumericTransformer`` makes them.
    fit_params, score_params : mapping
        What else the model and the scorer get. A value with one entry per row is cut to the rows.
    identifiers : ndarray of int64
        The columns that identify the rows: those of the whole table, as some rows do not show them.
    are_counts : bool
        Whether rows that occur several times are observations of their own.
    """

    X: Any
    y: NDArray[Any]
    folds: Sequence[Fold]
    models: Sequence[Model]
    is_numeric: bool
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]
    identifiers: NDArray[np.int64]
    are_counts: bool = False


def cross_validate_sizes(
    selectors: Mapping[str, Any],
    sizes: Mapping[str, Sequence[int]],
    problem: Problem,
    n_jobs: int | None,
    progress: Progress,
) -> list[Curve]:
    """Return the scores of each selector in each split, for each number of features.

    Parameters
    ----------
    selectors : mapping of name to selector
    sizes : mapping of name to sequence of int
        The numbers of features to try with each selector, in increasing order.
    problem : Problem
    n_jobs : int or None
        Fits of the model in parallel, as in joblib.
    progress : Progress
    """
    prepare_products()
    progress.begin("validate", "selecting on training rows", len(selectors) * len(problem.folds))
    found: dict[tuple[str, int, int], Columns] = {}  # by selector, split and number of features
    for split, (train, _) in enumerate(problem.folds):
        for name, selector in selectors.items():
            made = clone(selector).set_params(n_features_to_select=sizes[name][-1])
            rows, given = without_copies(made, train, are_counts=problem.are_counts)
            if "progress" in signature(made.fit).parameters:
                given["progress"] = progress.on_wait
            made.fit_part(take_rows(problem.X, rows), problem.y[rows], problem.identifiers, **given)
            progress.count("selecting on training rows, {}", name)
            for size in sizes[name]:
                found[name, split, size] = first_columns(made, size)
    return score_curves(problem, found, sizes, n_jobs, progress)


def baseline_scores(problem: Problem) -> NDArray[np.float64]:
    """Return the score of each split without columns; NaN if ``scorer`` has none for it."""
    found = []
    for train, test in problem.folds:
        score_params = _check_method_params(problem.y, problem.score_params, test)
        sides = (
            Part(np.empty((len(train), 0)), train, {}),
            Part(np.empty((len(test), 0)), test, score_params),
        )
        try:
            found.append(fit_and_score(problem.models, *sides))
        except (AttributeError, TypeError, ValueError):  # a scorer of the user's own model
            found.append(np.nan)
    return np.array(found)


def first_columns(selector: Any, n_features: int) -> Columns:
    """Return the columns of the first features a fitted selector selected, in table order."""
    columns = selector.features_.expand(selector.selection_.indices[:n_features])
    return tuple(sorted(int(j) for j in columns))


def score_curves(
    problem: Problem,
    found: Mapping[tuple[str, int, int], Columns],
    sizes: Mapping[str, Sequence[int]],
    n_jobs: int | None,
    progress: Progress,
) -> list[Curve]:
    """Return the scores of ``found``, the columns by selector, split and number of features."""
    scores = _score_columns(problem, found, n_jobs, progress)
    splits = range(len(problem.folds))
    return [
        Curve(
            name,
            np.array(tried, np.int64),
            np.array([[scores[k, found[name, k, size]] for size in tried] for k in splits]),
        )
        for name, tried in sizes.items()
    ]


def _score_columns(
    problem: Problem,
    found: Mapping[tuple[str, int, int], Columns],
    n_jobs: int | None,
    progress: Progress,
) -> dict[tuple[int, Columns], float]:
    """Return the score of each split and set of columns, each computed once."""
    users: dict[tuple[int, Columns], list[str]] = {}
    for (name, split, _), columns in found.items():
        users.setdefault((split, columns), []).append(name)
    progress.begin("validate", "fitting models", len(users))
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    results = parallel(delayed(fit_and_score)(*task) for task in _tasks(problem, users))
    scores = {}
    for (key, names), score in zip(users.items(), results, strict=True):
        if not np.isfinite(score):
            raise InvalidParameterError(
                f"The score of split {key[0] + 1} with {len(key[1])} columns is {score}. Pass "
                "another scoring, or a cv whose test rows have every class."
            )
        scores[key] = float(score)
        progress.count("fitting models, {}", names[0])
    return scores


def _tasks(problem: Problem, keys: Mapping[tuple[int, Columns], Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of ``fit_and_score``; a worker gets the columns it needs only."""
    numbers: SplitNumbers | None = None
    for split, columns in keys:
        train, test = problem.folds[split]
        if problem.is_numeric:
            if numbers is None or numbers.split != split:
                used = sorted({j for one, of_key in keys if one == split for j in of_key})
                numbers = SplitNumbers(problem, split, used)
            X_train, X_test = numbers.take(columns)
        else:
            part = take_columns(problem.X, columns)
            X_train, X_test = take_rows(part, train), take_rows(part, test)
        yield (
            problem.models,
            Part(X_train, train, _check_method_params(problem.y, problem.fit_params, train)),
            Part(X_test, test, _check_method_params(problem.y, problem.score_params, test)),
        )


class SplitNumbers:
    """The columns of one split as numbers: prepared once, for every number of features."""

    def __init__(self, problem: Problem, split: int, columns: Sequence[int]) -> None:
        self.split = split
        train, test = problem.folds[split]
        part = take_columns(problem.X, columns)
        self._places = {j: place for place, j in enumerate(columns)}
        if not columns:
            self._train, self._test = np.empty((len(train), 0)), np.empty((len(test), 0))
            return
        rows = take_rows(part, train)
        numbers = NumericTransformer().fit(rows)
        self._ends = numbers.ends_
        self._train = numbers.transform(rows)
        self._test = numbers.transform(take_rows(part, test))

    def take(self, columns: Columns) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return training and test rows of some of the columns."""
        places = [self._places[j] for j in columns]
        indices = [k for at in places for k in range(self._ends[at], self._ends[at + 1])]
        return self._train[:, indices], self._test[:, indices]


def fit_and_score(models: Sequence[Model], train: Part, test: Part) -> float:
    """Return the mean score of the models of all targets."""
    return float(np.mean([model.fit_and_score(train, test) for model in models]))

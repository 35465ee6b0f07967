"""How well a model predicts with the first K features that selectors select, for every K.

In each split every selector searches the training rows once, which gives the features for every K.
The model is fitted on the first K features of the training rows and scored on the test rows.
Selectors that select the same columns share the fit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.parallel import Parallel, delayed

from hocmim.data.table import take_columns, take_rows
from hocmim.errors import InvalidParameterError
from hocmim.search.progress import Progress
from hocmim.selectors.models import NumericTransformer
from hocmim.selectors.splits import Fold
from hocmim.text import value_text

Columns = tuple[int, ...]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """The scores of one selector: a row for each split, a column for each number of features."""

    name: str
    sizes: NDArray[np.int64]
    scores: Matrix

    @property
    def mean(self) -> Matrix:
        """The mean over the splits, for each number of features."""
        return self.scores.mean(axis=0)

    @property
    def standard_error(self) -> Matrix:
        """The standard error of the mean, with the splits treated as independent."""
        return self.scores.std(axis=0, ddof=1) / np.sqrt(len(self.scores))


class Model(NamedTuple):
    """A model of one target: the estimator, ``scorer(estimator, X, y)``, and the target."""

    estimator: Any
    scorer: Callable[..., float]
    y: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """The table, the splits, in which a row may occur several times, and a model for each target.

    The score is the mean of the models' scores. ``is_numeric``: the models get the columns as
    ``NumericTransformer`` makes them.
    """

    X: Any
    folds: Sequence[Fold]
    models: Sequence[Model]
    is_numeric: bool


def baseline_scores(problem: Problem) -> Matrix:
    """Return the score of each split without columns; NaN if the scorer has none for it."""
    found = []
    for train, test in problem.folds:
        nothing = np.empty((len(train), 0)), np.empty((len(test), 0))
        try:
            found.append(_fit_and_score(problem.models, *nothing, train, test))
        except (AttributeError, TypeError, ValueError):  # a scorer of the user's own model
            found.append(np.nan)
    return np.array(found)


def score_curves(
    problem: Problem,
    chosen: Mapping[tuple[str, int], Sequence[Sequence[int]]],
    sizes: Mapping[str, Sequence[int]],
    n_jobs: int | None,
    progress: Progress,
) -> list[Curve]:
    """Return the scores of each selector in each split, for each number of features.

    ``chosen`` has the columns of each selected feature, by selector and split; ``sizes`` the
    numbers of features to try with each selector.
    """
    splits = range(len(problem.folds))
    found: dict[tuple[str, int, int], Columns] = {
        (name, split, size): tuple(sorted(j for of in chosen[name, split][:size] for j in of))
        for split in splits
        for name, tried in sizes.items()
        for size in tried
    }
    users: dict[tuple[int, Columns], str] = {}  # the first selector with these columns
    for (name, split, _), columns in found.items():
        users.setdefault((split, columns), name)
    progress.begin("validate", "fitting models", len(users))
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    results = parallel(delayed(_fit_and_score)(*task) for task in _tasks(problem, users))
    scores = {}
    for (key, name), score in zip(users.items(), results, strict=True):
        if not np.isfinite(score):
            raise InvalidParameterError(
                f"The score of split {key[0] + 1} with {len(key[1])} columns is {score}. Pass "
                "another scoring, or a cv whose test rows have every class."
            )
        scores[key] = score
        progress.count("fitting models, {}", name)
    return [
        Curve(
            name,
            np.array(tried, np.int64),
            np.array([[scores[k, found[name, k, size]] for size in tried] for k in splits]),
        )
        for name, tried in sizes.items()
    ]


def _tasks(problem: Problem, keys: Mapping[tuple[int, Columns], Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of ``_fit_and_score``; a worker gets only the columns that it needs."""
    numbers, split_of_numbers = None, -1
    for split, columns in keys:
        train, test = problem.folds[split]
        if problem.is_numeric:
            if split != split_of_numbers:
                used = sorted({j for one, of_key in keys if one == split for j in of_key})
                numbers, split_of_numbers = _SplitNumbers(problem, split, used), split
            assert numbers is not None
            X_train, X_test = numbers.take(columns)
        else:
            part = take_columns(problem.X, columns)
            X_train, X_test = take_rows(part, train), take_rows(part, test)
        yield problem.models, X_train, X_test, train, test


class _SplitNumbers:
    """The columns of one split as numbers: prepared once, for every number of features."""

    def __init__(self, problem: Problem, split: int, columns: Sequence[int]) -> None:
        train, test = problem.folds[split]
        self._places = {j: place for place, j in enumerate(columns)}
        if not columns:
            self._train, self._test = np.empty((len(train), 0)), np.empty((len(test), 0))
            return
        part = take_columns(problem.X, columns)
        rows = take_rows(part, train)
        numbers = NumericTransformer().fit(rows)
        self._ends = numbers.ends_
        self._train = numbers.transform(rows)
        self._test = numbers.transform(take_rows(part, test))

    def take(self, columns: Columns) -> tuple[Matrix, Matrix]:
        """Return training and test rows of some of the columns."""
        places = [self._places[j] for j in columns]
        indices = [k for at in places for k in range(self._ends[at], self._ends[at + 1])]
        return self._train[:, indices], self._test[:, indices]


def _fit_and_score(
    models: Sequence[Model],
    X_train: Any,
    X_test: Any,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> float:
    """Fit a copy of each model on the training rows; return the mean score on the test rows."""
    scores: list[Any] = []
    for model in models:
        made = clone(model.estimator)
        if not X_train.shape[1]:
            made = DummyClassifier() if is_classifier(made) else DummyRegressor()
        fitted = made.fit(X_train, model.y[train])
        with warnings.catch_warnings():  # of balanced accuracy, if a split has no row of a class
            warnings.filterwarnings("ignore", "y_pred contains classes not in y_true", UserWarning)
            score = model.scorer(fitted, X_test, model.y[test])
        if not isinstance(score, Real):
            raise InvalidParameterError(
                f"scoring must return one number for each split. It returned {value_text(score)}."
            )
        scores.append(score)
    return float(np.mean(scores))

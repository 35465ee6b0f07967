"""The selectors of scikit-learn, and others like them, with the interface of those of hocmim.

Each ranks the columns and has ``selected_``, the best first, after ``fit``. Where scikit-learn
gives a set of columns, they are ranked by the size of their coefficients or importances. Columns
are standardised before linear models.
"""

from __future__ import annotations

import inspect
import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    f_classif,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from hocmim.criteria.base import Criterion
from hocmim.errors import InvalidParameterError
from hocmim.selectors.base import Selector
from hocmim.selectors.registry import load_class, make_instance, make_selector

MAX_DISCRETE_LEVELS = 5
RFE_STEP = 0.1
N_TREES = 100
# What selectors call the number of columns to select.
SIZE_NAMES = ("n_features_to_select", "k", "max_features")

Matrix = NDArray[np.float64]


class Peer(BaseEstimator, ABC):
    """A selector of scikit-learn; subclasses rank the columns."""

    def __init__(self, n_features_to_select: int = 10, random_state: int = 0) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Peer:
        """Rank the columns and keep the first ``n_features_to_select``."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "Features .* are constant", UserWarning)
            warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)
            ranking = self.rank(np.asarray(X, np.float64), np.asarray(y))
        self.selected_ = ranking[: self.n_features_to_select]
        return self

    @abstractmethod
    def rank(self, X: Matrix, y: NDArray[Any]) -> NDArray[np.int64]:
        """Return the columns, the best first; columns that are never selected are left out."""


class KBestF(Peer):
    """``SelectKBest(f_classif)``."""

    def rank(self, X: Matrix, y: NDArray[Any]) -> NDArray[np.int64]:
        """Rank by the F statistic."""
        return by_score(SelectKBest(f_classif, k="all").fit(X, y).scores_)


class KBestMutualInformation(Peer):
    """``SelectKBest(mutual_info_classif)``; columns with at most 5 levels are discrete."""

    def rank(self, X: Matrix, y: NDArray[Any]) -> NDArray[np.int64]:
        """Rank by the estimate of the mutual information."""
        is_discrete = np.array([len(np.unique(x)) <= MAX_DISCRETE_LEVELS for x in X.T])
        return by_score(
            mutual_info_classif(X, y, discrete_features=is_discrete, random_state=self.random_state)
        )


class Elimination(Peer):
    """``RFE(LogisticRegression(), step=0.1)``: a tenth of the columns is dropped in each step."""

    def rank(self, X: Matrix, y: NDArray[Any]) -> NDArray[np.int64]:
        """Rank the columns that are kept by their coefficients."""
        model = RFE(
            LogisticRegression(max_iter=200),
            n_features_to_select=min(self.n_features_to_select, X.shape[1]),
            step=RFE_STEP,
        ).fit(standardise(X), y)
        kept = np.flatnonzero(model.support_)
        return kept[by_score(sizes(model.estimator_.coef_))]


class FromForest(Peer):
    """``SelectFromModel(RandomForestClassifier(), max_features=…)``."""

    def rank(self, X: Matrix, y: NDArray[Any]) -> NDArray[np.int64]:
        """Rank by the importances of a random forest."""
        model = RandomForestClassifier(N_TREES, random_state=self.random_state)
        return kept_by(SelectFromModel(model, threshold=-np.inf).fit(X, y))


class FromL1(Peer):
    """``SelectFromModel(LinearSVC(penalty="l1", dual=False), max_features=…)``.

    Columns with the coefficient 0 are not selected: there can be fewer than wanted.
    """

    def rank(self, X: Matrix, y: NDArray[Any]) -> NDArray[np.int64]:
        """Rank the columns with a coefficient by its size."""
        model = LinearSVC(penalty="l1", dual=False, random_state=self.random_state)
        return kept_by(SelectFromModel(model).fit(standardise(X), y))


class AllColumns(Peer):
    """No selection: all columns, however many are asked for."""

    def fit(self, X: Any, y: Any) -> Peer:
        """Keep every column."""
        self.selected_ = self.rank(X, y)
        return self

    def rank(self, X: Matrix, y: NDArray[Any]) -> NDArray[np.int64]:
        """Return the columns in the order of the table."""
        return np.arange(np.shape(X)[1])


PEERS: dict[str, type[Peer]] = {
    "SelectKBest f_classif": KBestF,
    "SelectKBest mutual_info_classif": KBestMutualInformation,
    "RFE logistic": Elimination,
    "SelectFromModel forest": FromForest,
    "SelectFromModel L1": FromL1,
    "all columns": AllColumns,
}


class Foreign:
    """Any selector of the scikit-learn kind: ``get_support``, and ``scores_`` or ``ranking_``.

    Columns with equal scores or ranks stay in the order of the table.
    """

    selected_: NDArray[np.int64]

    def __init__(self, kind: type[Any], name: str, parameters: dict[str, Any]) -> None:
        if not hasattr(kind, "get_support"):
            raise InvalidParameterError(
                f"{name} must be a selector with get_support(), as in scikit-learn, a selector of "
                "hocmim, or a subclass of hocmim.Criterion."
            )
        self.name = name
        known = inspect.signature(kind).parameters
        size = next((each for each in SIZE_NAMES if each in known), None)
        given = {key: value for key, value in parameters.items() if key != SIZE_NAMES[0]}
        if size is not None and SIZE_NAMES[0] in parameters:
            given.setdefault(size, parameters[SIZE_NAMES[0]])
        self.selector = make_instance(kind, name, given)

    def fit(self, X: Any, y: Any) -> Foreign:
        """Select columns; rank them by score."""
        self.selector.fit(np.asarray(X, np.float64), y)
        kept = np.flatnonzero(self.selector.get_support())
        if hasattr(self.selector, "scores_"):
            scores = np.asarray(self.selector.scores_)
        elif hasattr(self.selector, "ranking_"):
            scores = -np.asarray(self.selector.ranking_)
        else:
            raise InvalidParameterError(
                f"{self.name} has neither scores_ nor ranking_ after fit, so its columns have no "
                "order."
            )
        self.selected_ = kept[by_score(scores[kept])]
        return self

    def get_params(self) -> dict[str, Any]:
        """Return the parameters, the number of columns to select among them."""
        return {SIZE_NAMES[0]: None, **self.selector.get_params()}

    def set_params(self, **parameters: Any) -> Foreign:
        """Change parameters."""
        self.selector.set_params(**parameters)
        return self


# What an experiment runs.
AnySelector = Selector | Peer | Foreign


def make_any(name: str, **parameters: Any) -> AnySelector:
    """Return the selector with that name: of hocmim, of ``PEERS``, or ``module:Class``."""
    if name in PEERS:
        return PEERS[name](**parameters)
    if ":" in name:
        kind = load_class(name)
        if not issubclass(kind, (Criterion, Selector)):
            return Foreign(kind, name, parameters)
    return make_selector(name, **parameters)


def by_score(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return columns by falling score, NaN last; the first of equal ones first."""
    return np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")


def sizes(coefficients: Matrix) -> NDArray[np.float64]:
    """Return the sum of the absolute coefficients of each column over the classes."""
    return np.abs(np.atleast_2d(coefficients)).sum(axis=0)


def kept_by(model: SelectFromModel) -> NDArray[np.int64]:
    """Return the columns above the threshold of ``SelectFromModel``, the best first."""
    fitted = model.estimator_
    scores = sizes(fitted.coef_) if hasattr(fitted, "coef_") else fitted.feature_importances_
    order = by_score(scores)
    return order[model.get_support()[order]]


def standardise(X: Matrix) -> Matrix:
    """Return columns of mean 0 and standard deviation 1."""
    return np.asarray(StandardScaler().fit_transform(X))

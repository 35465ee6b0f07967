"""Models that measure a selection, and tables of any kind as numbers for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from hocmim.data.columns import Categories, Numbers
from hocmim.data.numeric import extreme_exponents
from hocmim.data.table import as_table
from hocmim.errors import InvalidParameterError
from hocmim.text import value_text

# Module, classifier, regressor and parameters of each model, which is imported on use.
MODELS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "knn": ("neighbors", "KNeighborsClassifier", "KNeighborsRegressor", {"n_neighbors": 3}),
    "linear": ("linear_model", "LogisticRegression", "Ridge", {"max_iter": 1000}),
    "forest": ("ensemble", "RandomForestClassifier", "RandomForestRegressor", {"n_jobs": -1}),
}
DEFAULT_MODEL = "knn"
# Standardised numbers are at most this, which single precision (of forests) can hold.
LARGEST = 1e30
TITLES = {"knn": "3-NN", "linear": "linear model", "forest": "random forest"}


def make_model(model: Any, has_classes: bool, seed: int | None) -> tuple[Any, str]:
    """Return a model and its title; ``seed`` is for a model by name."""
    if isinstance(model, str):
        if model not in MODELS:
            raise _no_model(model)
        module, classifier, regressor, parameters = MODELS[model]
        kind = getattr(import_module(f"sklearn.{module}"), classifier if has_classes else regressor)
        made = kind(**parameters)
        has_seed = "random_state" in made.get_params()
        return made.set_params(random_state=seed) if has_seed else made, TITLES[model]
    if isinstance(model, type) or not hasattr(model, "__sklearn_tags__"):
        raise _no_model(model)
    if is_regressor(model) if has_classes else is_classifier(model):
        needed = (
            "a classifier, because the target has classes"
            if has_classes
            else "a regressor, because the target is a quantity"
        )
        raise InvalidParameterError(f"model must be {needed}. Got {value_text(model)} instead.")
    return model, type(model).__name__


def _no_model(model: Any) -> InvalidParameterError:
    return InvalidParameterError(
        f"model must be one of {', '.join(map(repr, MODELS))}, or an estimator of scikit-learn. "
        f"Got {value_text(model)} instead."
    )


class Scaling(NamedTuple):
    """How a column is standardised: divided by 2**exponent, filled with the median, then scaled."""

    exponent: int
    median: float
    mean: float
    spread: float


class NumericTransformer(TransformerMixin, BaseEstimator):
    """Columns of any table as numbers for a model.

    Numbers are standardised, missing ones are replaced by the median; categories are one-hot coded.
    All of this is learned in ``fit``: medians, means, standard deviations and categories.

    Attributes
    ----------
    ends_ : list of int
        The first m columns of the table are the first ``ends_[m]`` columns of the result.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how each column becomes numbers."""
        table = as_table(X)
        self.n_features_in_ = table.n_columns
        self._columns: list[Scaling | list[Any]] = []
        for block in table.blocks():
            if isinstance(block, Categories):
                seen = np.unique(block.codes)
                self._columns.append([block.levels[code] for code in seen[seen >= 0].tolist()])
            else:
                self._columns += [_learned(column) for column in block.values.T]
        widths = [len(one) if isinstance(one, list) else 1 for one in self._columns]
        self.ends_ = [0, *np.cumsum(widths, dtype=int).tolist()]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the columns as numbers, a row for each row of X."""
        check_is_fitted(self)
        table = as_table(X)
        if table.n_columns != self.n_features_in_:
            raise InvalidParameterError(
                f"X has {table.n_columns} columns, and {self.n_features_in_} were fitted."
            )
        matrix = np.zeros((table.n_rows, self.ends_[-1]))
        for block in table.blocks():
            width = block.values.shape[1] if isinstance(block, Numbers) else 1
            for k in range(width):
                learned = self._columns[block.start + k]
                target = matrix[:, self.ends_[block.start + k] : self.ends_[block.start + k + 1]]
                if isinstance(learned, list):
                    # Numbers in a column that held strings are categories that were not seen.
                    if isinstance(block, Categories):
                        places = {level: at for at, level in enumerate(learned)}
                        found = np.array([places.get(level, -1) for level in block.levels] + [-1])
                        target[:] = found[block.codes][:, None] == np.arange(len(learned))
                else:
                    values = np.full(table.n_rows, np.nan)
                    if isinstance(block, Numbers):
                        values = block.values[:, k].astype(np.float64)
                    target[:, 0] = _standardised(values, learned)
        return matrix


def _learned(column: NDArray[Any]) -> Scaling:
    """Return what standardises a column; missing values count as the median."""
    values = column.astype(np.float64)
    is_present = ~np.isnan(values)
    present = values[is_present]
    exponent = int(extreme_exponents(present))
    present = np.ldexp(present, -exponent)
    median = float(np.median(present)) if len(present) else 0.0
    values[is_present], values[~is_present] = present, median
    spread = float(values.std())
    return Scaling(exponent, median, float(values.mean()), spread if spread > 0 else 1.0)


def _standardised(values: NDArray[np.float64], learned: Scaling) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # of rows that were not fitted
        values = np.ldexp(values, -learned.exponent)
        values[np.isnan(values)] = learned.median
        return np.clip((values - learned.mean) / learned.spread, -LARGEST, LARGEST)

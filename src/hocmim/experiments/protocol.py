"""The protocol: random halves, a selection on one, error curves on the other.

One *item* of work is a data set, a split and a method. It depends on nothing else, so items may be
done in any order, by any number of processes, today or tomorrow.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import hocmim
from hocmim.coding.encoder import Encoder
from hocmim.errors import InvalidParameterError, InvalidTargetError
from hocmim.experiments.classifiers import (
    CLASSIFIERS,
    balanced_error,
    count_wrong,
    knn_curve,
    svm_curve,
)
from hocmim.experiments.datasets import DataSet
from hocmim.selectors.base import RankingSelector
from hocmim.selectors.registry import make_selector

CLASSIFIER_INPUTS = ("binned", "raw", "standardised")
FILTER_INPUTS = ("raw", "binned")
MOST_DRAWS = 1000


@dataclass(frozen=True)
class Protocol:
    """What is done with every data set and method.

    Attributes
    ----------
    n_features : int
        How many features are selected (all, if there are fewer).
    n_bins : int
        Numbers with more distinct values are cut into so many bins of equal width, fitted on the
        training half.
    n_neighbors : int
        Of the nearest-neighbour classifier.
    C : float
        Of the support vector machine.
    classifier_input : "binned", "raw" or "standardised"
        What the classifiers are given. Standardised: by the training half's mean and deviation.
    filter_input : "raw" or "binned"
        What the methods are given that do not cut columns themselves.
    seed : int
    classifiers : tuple of str
    """

    n_features: int = 50
    n_bins: int = 5
    n_neighbors: int = 3
    C: float = 1.0
    classifier_input: str = "binned"
    filter_input: str = "raw"
    seed: int = 0
    classifiers: tuple[str, ...] = CLASSIFIERS

    def __post_init__(self) -> None:
        _check_choice("classifier_input", self.classifier_input, CLASSIFIER_INPUTS)
        _check_choice("filter_input", self.filter_input, FILTER_INPUTS)
        for classifier in self.classifiers:
            _check_choice("classifiers", classifier, CLASSIFIERS)
        for name, least in (("n_features", 1), ("n_bins", 2), ("n_neighbors", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidParameterError(
                    f"{name} must be an integer of at least {least}. Got {value!r} instead."
                )
        if not isinstance(self.C, (int, float)) or not 0 < self.C < np.inf:
            raise InvalidParameterError(f"C must be a number above 0. Got {self.C!r} instead.")


@dataclass(frozen=True)
class Method:
    """A column of the tables: its title, a selector's name, and parameters for it."""

    name: str
    selector: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def make(self, n_features: int, n_bins: int) -> RankingSelector:
        """The selector of so many features, with one thread, so that times can be compared."""
        selector = make_selector(self.selector or self.name)
        common = {"n_features_to_select": n_features, "n_bins": n_bins, "n_jobs": 1}
        known = selector.get_params()
        given = {key: value for key, value in common.items() if key in known}
        return make_selector(self.selector or self.name, **(given | dict(self.parameters)))


@dataclass(frozen=True, order=True)
class Item:
    """A piece of work. Items sort by split first, so that every data set is soon seen once."""

    split: int
    dataset: str
    method: str


@dataclass(frozen=True)
class Outcome:
    """What an item gave.

    Attributes
    ----------
    item : Item
    key : str
        Of everything the outcome depends on; see :func:`outcome_key`.
    selected : tuple of int
        The columns, in the order of selection.
    seconds : float
        Processor time of the selection.
    total_seconds : float
        Of the whole item.
    n_test : int
    wrong : dict of classifier to list of int
        Misclassified test rows with the first 1, 2, … features.
    balanced : dict of classifier to list of float
        The balanced error of the same.
    """

    item: Item
    key: str
    selected: tuple[int, ...]
    seconds: float
    total_seconds: float
    n_test: int
    wrong: dict[str, list[int]]
    balanced: dict[str, list[float]]

    def errors(self, classifier: str, measure: str) -> NDArray[np.float64]:
        """The curve of a measure: "error" or "balanced error"."""
        if measure == "error":
            return np.array(self.wrong[classifier], np.float64) / self.n_test
        return np.array(self.balanced[classifier], np.float64)


def outcome_key(data: DataSet, method: Method, protocol: Protocol) -> str:
    """A digest of the data, the method, the protocol and the version of this package."""
    parts = [data.fingerprint, method.selector or method.name, dict(method.parameters)]
    text = json.dumps([*parts, asdict(protocol), hocmim.__version__], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- one item -------------------------------------------------------------------------------------


class Halves(NamedTuple):
    """Row numbers of the training half and of the test half, in random order."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


def split_rows(y: NDArray[np.int32], split: int, seed: int = 0) -> Halves:
    """Random halves, the same for every method; ⌊N/2⌋ rows to train on, of two classes at least."""
    rng = np.random.default_rng([seed, split])
    for _ in range(MOST_DRAWS):
        order = rng.permutation(len(y))
        halves = Halves(order[: len(y) // 2], order[len(y) // 2 :])
        if len(np.unique(y[halves.train])) > 1:
            return halves
    raise InvalidTargetError("No random half of the rows holds two classes.")


def run_item(data: DataSet, split: int, method: Method, protocol: Protocol) -> Outcome:
    """Select on the training half; follow the errors of every classifier on the test half."""
    began = time.perf_counter()
    halves = split_rows(data.y, split, protocol.seed)
    y_train, y_test = data.y[halves.train], data.y[halves.test]
    with threadpool_limits(1):
        selector = method.make(min(protocol.n_features, data.n_features), protocol.n_bins)
        table = selector_input(data, halves.train, selector, protocol)
        start = time.process_time()  # one thread: what else the machine does does not count
        selected = selector.fit(table, y_train).selected_
        seconds = time.process_time() - start
        train, test = classifier_input(data, halves, selected, protocol)
        wrong, balanced = {}, {}
        for classifier in protocol.classifiers:
            predictions = predict_curve(classifier, train, y_train, test, protocol)
            wrong[classifier] = count_wrong(predictions, y_test).tolist()
            errors = balanced_error(predictions, y_test)
            balanced[classifier] = [round(float(error), 6) for error in errors]
    return Outcome(
        Item(split, data.name, method.name),
        outcome_key(data, method, protocol),
        tuple(int(j) for j in selected),
        round(seconds, 6),
        round(time.perf_counter() - began, 6),
        len(y_test),
        wrong,
        balanced,
    )


def selector_input(
    data: DataSet, rows: NDArray[np.int64], selector: RankingSelector, protocol: Protocol
) -> Any:
    """The training half as a selector gets it.

    The information-theoretic selectors cut columns themselves and take missing as a level. The
    others get gaps filled with the training median (the commonest category), and cut columns if
    the protocol says so.
    """
    if "discretizer" in selector.get_params():
        return data.rows(rows)
    if not data.has_missing and protocol.filter_input == "raw":
        return data.rows(rows)
    if protocol.filter_input == "raw" and not isinstance(data.X, np.ndarray):
        return _fill_arrow(data.rows(rows))
    columns = np.arange(data.n_features)
    values = data.numbers(rows, columns)
    filled, _ = fill_gaps(values, values)
    if protocol.filter_input == "raw":
        return filled
    return cut(filled, filled, data.is_categorical, protocol.n_bins)[0]


def classifier_input(
    data: DataSet, halves: Halves, selected: NDArray[np.int64], protocol: Protocol
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The selected columns of both halves as numbers: gaps filled, then binned or standardised."""
    train, test = fill_gaps(*(data.numbers(rows, selected) for rows in halves))
    if protocol.classifier_input == "raw":
        return train, test
    if protocol.classifier_input == "binned":
        return cut(train, test, data.is_categorical[selected], protocol.n_bins)
    scale = train.std(axis=0)
    scale[scale == 0] = 1
    return (train - train.mean(axis=0)) / scale, (test - train.mean(axis=0)) / scale


def cut(
    train: NDArray[np.float64],
    test: NDArray[np.float64],
    is_categorical: NDArray[np.bool_],
    n_bins: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both halves in bins of equal width on the training half; categories stay as they are."""
    encoder = Encoder("uniform", n_bins).fit(train)
    halves = []
    for values in (train, test):
        codes = encoder.transform(values)
        columns = [codes.column(j).codes for j in range(codes.n_columns)]
        binned = np.stack(columns, axis=1).astype(np.float64)
        halves.append(np.where(is_categorical, values, binned))
    return halves[0], halves[1]


def predict_curve(
    classifier: str,
    train: NDArray[np.float64],
    y: NDArray[np.int32],
    test: NDArray[np.float64],
    protocol: Protocol,
) -> NDArray[np.int32]:
    """The predictions of a classifier by name, with the first 1, 2, … columns."""
    if classifier == "knn":
        return knn_curve(train, y, test, protocol.n_neighbors)
    return svm_curve(train, y, test, protocol.C, balanced=classifier == "svm-balanced")


def fill_gaps(
    train: NDArray[np.float64], test: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Missing values replaced by the median of the training half (0 if it has none)."""
    gaps = np.isnan(train).any(axis=0) | np.isnan(test).any(axis=0)
    if not gaps.any():
        return train, test
    median = np.zeros(train.shape[1])
    known = gaps & ~np.isnan(train).all(axis=0)
    median[known] = np.nanmedian(train[:, known], axis=0)
    return np.where(np.isnan(train), median, train), np.where(np.isnan(test), median, test)


def _fill_arrow(table: Any) -> Any:
    """A pyarrow table without gaps: the median of numbers, the commonest of anything else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for column in table.columns:
        if column.null_count == 0:
            columns.append(column)
        elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            values = column.to_numpy().astype(np.float64)
            median = 0.0 if np.isnan(values).all() else np.nanmedian(values)
            columns.append(pa.chunked_array([np.where(np.isnan(values), median, values)]))
        else:
            modes = pc.mode(pc.index_in(column, pc.unique(column.drop_null())), 1)
            common = pc.unique(column.drop_null())[modes[0]["mode"].as_py()]
            columns.append(pc.fill_null(column, common))
    return pa.table(columns, names=table.column_names)


def _check_choice(parameter: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidParameterError(
            f"{parameter} must be one of {', '.join(map(repr, choices))}. Got {value!r} instead."
        )

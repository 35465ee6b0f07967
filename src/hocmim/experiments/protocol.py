"""The protocol of an experiment: select on a random half, compute error curves on the other.

An *item* is a data set, a split and a method. Items are independent of each other, so that they can
run in any order and in any number of processes.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import hocmim
from hocmim.coding.cuts import DEFAULT_DISCRETIZER, DISCRETIZERS
from hocmim.coding.encoder import Encoder
from hocmim.coding.target import Target, encode_target
from hocmim.errors import InvalidTargetError
from hocmim.experiments.classifiers import (
    CLASSIFIERS,
    FINAL_CLASSIFIERS,
    balanced_error,
    count_wrong,
    knn_curve,
    predict_final,
    svm_curve,
)
from hocmim.experiments.datasets import DataSet
from hocmim.experiments.peers import AnySelector, make_any
from hocmim.parameters import check_value, number, one_of, whole
from hocmim.selectors.base import Selector

CLASSIFIER_INPUTS = ("binned", "raw", "standardised")
MAX_DRAWS = 1000


@dataclass(frozen=True)
class Protocol:
    """The parameters of an experiment.

    Attributes
    ----------
    n_features : int
        How many features to select: all if there are fewer, and the number of useful ones if
        it is known and smaller.
    n_bins : int
        Numeric columns with more distinct values are cut into this many bins, fitted on the
        training half.
    discretizer : "uniform", "quantile" or "mdlp"
        How they are cut: equal width, equal frequency, or by the class.
    n_neighbors : int
        Of the k-nearest-neighbours classifier.
    C : float
        Of the support vector machine.
    classifier_input : "binned", "raw" or "standardised"
        Form of the features for the classifiers. Standardised by the training half.
    seed : int
    classifiers : tuple of str
        Those of ``CLASSIFIERS`` have error curves, those of ``FINAL_CLASSIFIERS`` one error, with
        all selected features.
    """

    n_features: int = 50
    n_bins: int = 5
    discretizer: str = DEFAULT_DISCRETIZER
    n_neighbors: int = 3
    C: float = 1.0
    classifier_input: str = "binned"
    seed: int = 0
    classifiers: tuple[str, ...] = CLASSIFIERS

    def __post_init__(self) -> None:
        check_value("discretizer", self.discretizer, [one_of(tuple(DISCRETIZERS))])
        check_value("classifier_input", self.classifier_input, [one_of(CLASSIFIER_INPUTS)])
        for classifier in self.classifiers:
            check_value("classifiers", classifier, [one_of((*CLASSIFIERS, *FINAL_CLASSIFIERS))])
        for name, minimum in (("n_features", 1), ("n_bins", 2), ("n_neighbors", 1), ("seed", 0)):
            check_value(name, getattr(self, name), [whole(minimum)])
        check_value("C", self.C, [number(0, closed="neither")])


@dataclass(frozen=True)
class Method:
    """A column of the tables: its title, the name of a selector, and its parameters.

    ``encoder__n_bins`` is the parameter ``n_bins`` of the encoder, as in scikit-learn. ``folder``
    is searched last for the module of a selector ``module:Class``.
    """

    name: str
    selector: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    folder: str = ""

    def make(self, n_features: int, protocol: Protocol) -> AnySelector:
        """Return the selector, with one thread, so that times can be compared."""
        name = self.selector or self.name
        with _importable(self.folder if ":" in name else ""):
            selector = make_any(name)
        common = {
            "n_features_to_select": n_features,
            "encoder": Encoder(protocol.n_bins, discretizer=protocol.discretizer),
            "target": "classes",
            "n_jobs": 1,
        }
        known = selector.get_params()
        given = {key: value for key, value in common.items() if key in known}
        own = {key: value for key, value in self.parameters.items() if "__" not in key}
        nested = {key: value for key, value in self.parameters.items() if "__" in key}
        made: AnySelector = make_any(name, **(given | own)).set_params(**nested)
        return made


@contextmanager
def _importable(folder: str) -> Iterator[None]:
    """Search a folder for modules too, after all others; in any process, so that workers can."""
    if folder:
        sys.path.append(folder)
    try:
        yield
    finally:
        if folder:
            sys.path.remove(folder)


@dataclass(frozen=True, order=True)
class Item:
    """A data set, a split and a method. Items sort by split first: all data sets come early."""

    split: int
    dataset: str
    method: str


@dataclass(frozen=True)
class ItemOutcome:
    """The result of an item."""

    item: Item
    key: str  # A digest of everything the outcome depends on; see :func:`outcome_key`
    selected: tuple[int, ...]  # The selected columns, in the order of selection
    seconds: float  # Processor time of the selection
    total_seconds: float  # Wall-clock time of the item
    n_test: int
    # By classifier. Misclassified test rows with the first 1, 2, … features, or with all.
    wrong: dict[str, list[int]]
    balanced: dict[str, list[float]]  # By classifier. The balanced error, in the same form.

    def errors(self, classifier: str, measure: str) -> NDArray[np.float64]:
        """Return the curve of a measure: "error" or "balanced error"."""
        if measure == "error":
            return np.array(self.wrong[classifier], np.float64) / self.n_test
        return np.array(self.balanced[classifier], np.float64)


def outcome_key(data: DataSet, method: Method, protocol: Protocol) -> str:
    """Return a digest of the data, the method, the protocol and the version of this package.

    The digests of stored results are without equal width, and with raw values for filters: the only
    way to cut columns of an earlier version, and a setting that later ones do not have.
    """
    parts = [data.fingerprint, method.selector or method.name, dict(method.parameters)]
    settings = asdict(protocol) | {"filter_input": "raw"}
    if protocol.discretizer == "uniform":
        del settings["discretizer"]
    text = json.dumps([*parts, settings, hocmim.__version__], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- one item -------------------------------------------------------------------------------------


class Halves(NamedTuple):
    """Row numbers of the training half and of the test half, in random order."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


def split_rows(y: NDArray[np.int32], split: int, seed: int = 0) -> Halves:
    """Return random halves, the same for every method; ⌊N/2⌋ training rows of ≥ 2 classes."""
    rng = np.random.default_rng([seed, split])
    for _ in range(MAX_DRAWS):
        order = rng.permutation(len(y))
        halves = Halves(order[: len(y) // 2], order[len(y) // 2 :])
        if len(np.unique(y[halves.train])) > 1:
            return halves
    raise InvalidTargetError("No random half of the rows has two classes.")


def run_item(data: DataSet, split: int, method: Method, protocol: Protocol) -> ItemOutcome:
    """Select on the training half; compute the errors of every classifier on the test half."""
    began = time.perf_counter()
    halves = split_rows(data.y, split, protocol.seed)
    y_train, y_test = data.y[halves.train], data.y[halves.test]
    with threadpool_limits(1):
        n_wanted = min(protocol.n_features, len(data.useful) or data.n_features)
        selector = method.make(n_wanted, protocol)
        table = selector_input(data, halves.train, selector, protocol)
        start = time.process_time()  # one thread: other processes do not count
        selected = selector.fit(table, y_train).selected_
        seconds = time.process_time() - start
        columns = tuple(int(j) for j in selected)
        wrong, balanced = {}, {}
        for classifier in protocol.classifiers:
            predictions = item_predictions(data, split, columns, classifier, protocol)
            wrong[classifier] = count_wrong(predictions, y_test).tolist()
            errors = balanced_error(predictions, y_test)
            balanced[classifier] = [round(float(error), 6) for error in errors]
    return ItemOutcome(
        Item(split, data.name, method.name),
        outcome_key(data, method, protocol),
        columns,
        round(seconds, 6),
        round(time.perf_counter() - began, 6),
        len(y_test),
        wrong,
        balanced,
    )


def item_predictions(
    data: DataSet, split: int, selected: tuple[int, ...], classifier: str, protocol: Protocol
) -> NDArray[np.int32]:
    """Return the predictions for the test half: a row for each number of columns, or one row.

    Classifiers without a curve get the columns in the order of the table: the same set of columns
    gives the same predictions, and they are computed once.
    """
    if classifier in FINAL_CLASSIFIERS:
        return _final_predictions(data, split, tuple(sorted(selected)), classifier, protocol)
    return _predictions(data, split, selected, classifier, protocol)


def _predictions(
    data: DataSet, split: int, selected: tuple[int, ...], classifier: str, protocol: Protocol
) -> NDArray[np.int32]:
    halves = split_rows(data.y, split, protocol.seed)
    columns = np.array(selected, np.int64)
    train, test = classifier_input(data, halves, columns, protocol)
    return predict_curve(classifier, train, data.y[halves.train], test, protocol)


_final_predictions = lru_cache(maxsize=512)(_predictions)


def selector_input(
    data: DataSet, rows: NDArray[np.int64], selector: AnySelector, protocol: Protocol
) -> Any:
    """Return the training half in the form the selector needs.

    The information-theoretic selectors cut columns into bins, and missing is a level. For the other
    selectors missing values are replaced by the training median (the most frequent category).
    Selectors of others get numbers.
    """
    if "encoder" in selector.get_params():
        return data.rows(rows)
    if isinstance(selector, Selector):
        if not data.has_missing:
            return data.rows(rows)
        if not isinstance(data.X, np.ndarray):
            return _impute_arrow(data.rows(rows))
    values = data.numbers(rows, np.arange(data.n_features))
    return impute(values, values)[0]


def classifier_input(
    data: DataSet, halves: Halves, selected: NDArray[np.int64], protocol: Protocol
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the selected columns of both halves: imputed, then binned or standardised."""
    train, test = impute(*(data.numbers(rows, selected) for rows in halves))
    if protocol.classifier_input == "raw":
        return train, test
    if protocol.classifier_input == "binned":
        return cut(train, test, data.y[halves.train], data.is_categorical[selected], protocol)
    scale = train.std(axis=0)
    scale[scale == 0] = 1
    return (train - train.mean(axis=0)) / scale, (test - train.mean(axis=0)) / scale


def cut(
    train: NDArray[np.float64],
    test: NDArray[np.float64],
    y_train: NDArray[np.int32],
    is_categorical: NDArray[np.bool_],
    protocol: Protocol,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cut both halves into bins fitted on the training half; keep categories."""
    target = encode_target(y_train, target=Target("classes"))
    encoder = Encoder(protocol.n_bins, discretizer=protocol.discretizer).fit(train, target)
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
    """Return the predictions of a classifier by name, with the first 1, 2, … columns, or all."""
    if classifier in FINAL_CLASSIFIERS:
        return predict_final(classifier, train, y, test, protocol.seed)
    if classifier == "knn":
        return knn_curve(train, y, test, protocol.n_neighbors)
    return svm_curve(train, y, test, protocol.C, balanced=classifier == "svm-balanced")


def impute(
    train: NDArray[np.float64], test: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Replace missing values by the median of the training half (0 if it has no values)."""
    gaps = np.isnan(train).any(axis=0) | np.isnan(test).any(axis=0)
    if not gaps.any():
        return train, test
    median = np.zeros(train.shape[1])
    known = gaps & ~np.isnan(train).all(axis=0)
    median[known] = np.nanmedian(train[:, known], axis=0)
    return np.where(np.isnan(train), median, train), np.where(np.isnan(test), median, test)


def _impute_arrow(table: Any) -> Any:
    """Impute a pyarrow table: numbers by the median, others by the most frequent value."""
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

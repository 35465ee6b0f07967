"""Splits, what methods and classifiers are given, and one whole item."""

import hashlib
import json
from dataclasses import asdict

import numpy as np
import pyarrow as pa
import pytest
from made_up import make_arrays
from sklearn.neighbors import KNeighborsClassifier

import hocmim
import warned
from hocmim.coding.cuts import DISCRETIZERS
from hocmim.errors import InvalidParameterError, InvalidTargetError
from hocmim.experiments.datasets import make_data_set
from hocmim.experiments.protocol import (
    Method,
    Protocol,
    classifier_input,
    impute,
    outcome_key,
    run_item,
    selector_input,
    split_rows,
)

pytestmark = pytest.mark.filterwarnings(warned.CLIPPED, warned.ONE_BIN)


def test_halves_are_the_same_every_time_and_differ_between_splits():
    y = np.arange(41, dtype=np.int32) % 3
    first, again, second = split_rows(y, 0), split_rows(y, 0), split_rows(y, 1)
    assert first.train.tolist() == again.train.tolist()
    assert first.train.tolist() != second.train.tolist()
    assert first.train.tolist() != split_rows(y, 0, seed=1).train.tolist()
    assert sorted([*first.train, *first.test]) == list(range(41))
    assert len(first.train) == 20


def test_a_training_half_has_two_classes():
    y = np.zeros(12, np.int32)
    y[0] = 1
    for split in range(20):
        assert len(np.unique(y[split_rows(y, split).train])) == 2
    with pytest.raises(InvalidTargetError, match="No random half"):
        split_rows(np.zeros(12, np.int32), 0)


def test_gaps_take_the_training_median():
    train = np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, np.nan], [5.0, np.nan]])
    test = np.array([[np.nan, 7.0]])
    filled, other = impute(train, test)
    assert filled[:, 0].tolist() == [1, 3, 3, 5]
    assert filled[:, 1].tolist() == [0, 0, 0, 0]
    assert other.tolist() == [[3, 7]]


def test_classifier_inputs():
    X, y = make_arrays(n=60, missing=0.1)
    data = make_data_set("set", X, y)
    halves = split_rows(data.y, 0)
    columns = np.array([3, 0])
    raw, _ = classifier_input(data, halves, columns, Protocol(classifier_input="raw"))
    expected = X[halves.train][:, columns]
    expected = np.where(np.isnan(expected), np.nanmedian(expected, axis=0), expected)
    assert np.array_equal(raw, expected)
    protocol = Protocol(classifier_input="standardised")
    scaled, other = classifier_input(data, halves, columns, protocol)
    assert scaled.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert scaled.std(axis=0) == pytest.approx(1)
    assert other.mean() != pytest.approx(0, abs=1e-12)
    train, test = classifier_input(data, halves, columns, Protocol(discretizer="uniform"))
    low, high = expected.min(axis=0), expected.max(axis=0)
    cuts = low + (high - low) * np.arange(1, 5)[:, None] / 5
    for j in range(2):
        assert train[:, j].tolist() == np.searchsorted(cuts[:, j], raw[:, j], "right").tolist()
    assert set(np.unique(test)) <= set(range(5))


def test_filters_get_complete_columns_and_others_the_table():
    X, y = make_arrays(n=60, missing=0.1)
    data = make_data_set("set", X, y)
    rows = split_rows(data.y, 0).train
    fisher, jmi = hocmim.FisherScore(), hocmim.JMI()
    assert np.isnan(selector_input(data, rows, jmi, Protocol())).any()
    filled = selector_input(data, rows, fisher, Protocol())
    assert not np.isnan(filled).any()
    assert len(np.unique(filled[:, 0])) > 5


@pytest.mark.parametrize("method", ["HOCMIM", "ReliefF"])
def test_a_table_with_categories_and_gaps(method):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    colour = [None if rng.random() < 0.1 else "red blue green"[4 * c :][:3] for c in y]
    size = [None if rng.random() < 0.1 else float(v) for v in rng.normal(size=80)]
    data = make_data_set("set", pa.table({"size": size, "colour": colour}), y)
    protocol = Protocol(classifiers=("knn",))
    outcome = run_item(data, 0, Method(method), protocol)
    assert outcome.selected[0] == 1
    assert np.mean(outcome.errors("knn", "error")) < 0.3


def test_an_item_is_what_it_says():
    X, y = make_arrays(n=80, n_classes=3)
    data = make_data_set("set", X, y)
    protocol = Protocol(n_features=4, classifier_input="raw")
    outcome = run_item(data, 2, Method("JMI"), protocol)
    halves = split_rows(data.y, 2)
    selected = hocmim.JMI(4).fit(X[halves.train], y[halves.train]).selected_
    assert outcome.selected == tuple(selected)
    for m in (1, 4):
        columns = selected[:m]
        model = KNeighborsClassifier(3).fit(X[halves.train][:, columns], y[halves.train])
        wrong = (model.predict(X[halves.test][:, columns]) != y[halves.test]).sum()
        assert outcome.wrong["knn"][m - 1] == wrong
    assert outcome.errors("knn", "error")[3] == outcome.wrong["knn"][3] / 40
    assert set(outcome.balanced) == {"knn", "svm", "svm-balanced"}
    assert outcome.seconds <= outcome.total_seconds


def test_the_key_knows_everything_the_outcome_depends_on():
    data = make_data_set("set", *make_arrays())
    other = make_data_set("set", *make_arrays(seed=1))
    hocmim_ = Method("HOCMIM")
    keys = [
        outcome_key(data, hocmim_, Protocol()),
        outcome_key(other, hocmim_, Protocol()),
        outcome_key(data, Method("HOCMIM", parameters={"max_order": 5}), Protocol()),
        outcome_key(data, Method("HOCMIM", "JMI"), Protocol()),
        outcome_key(data, hocmim_, Protocol(seed=1)),
    ]
    assert len(set(keys)) == len(keys)
    assert outcome_key(data, Method("title", "HOCMIM"), Protocol()) == keys[0]


def test_equal_width_keeps_the_keys_of_earlier_results():
    data, method = make_data_set("set", *make_arrays()), Method("HOCMIM")
    protocol = Protocol(discretizer="uniform")
    settings = asdict(protocol) | {"filter_input": "raw"}
    del settings["discretizer"]
    parts = [data.fingerprint, "HOCMIM", {}, settings, hocmim.__version__]
    text = json.dumps(parts, sort_keys=True, default=str)
    earlier = hashlib.sha256(text.encode()).hexdigest()[:16]
    keys = [outcome_key(data, method, Protocol(discretizer=name)) for name in DISCRETIZERS]
    assert keys[0] == earlier
    assert len(set(keys)) == 3
    assert outcome_key(data, method, Protocol()) == keys[1]  # equal frequency is the default


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_selectors_and_classifiers_get_the_same_bins(discretizer):
    X, y = make_arrays(n=80)
    data = make_data_set("set", X, y)
    protocol = Protocol(n_features=4, discretizer=discretizer, classifiers=("knn",))
    outcome = run_item(data, 0, Method("JMI"), protocol)
    halves = split_rows(data.y, 0)
    selector = hocmim.JMI(4, encoder=hocmim.Encoder(discretizer=discretizer)).fit(
        X[halves.train], y[halves.train]
    )
    assert outcome.selected == tuple(selector.selected_)
    binned, _ = classifier_input(data, halves, selector.selected_, protocol)
    codes = selector.encoder_.transform(X[halves.train])
    for place, j in enumerate(selector.selected_):
        assert binned[:, place].tolist() == codes.column(int(j)).codes.tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        {"classifier_input": "rawish"},
        {"classifiers": ("knn", "tree")},
        {"n_features": 0},
        {"n_bins": 1},
        {"discretizer": "equal"},
        {"n_neighbors": 2.5},
        {"seed": -1},
        {"C": 0},
    ],
)
def test_wrong_protocols(wrong):
    with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
        Protocol(**wrong)

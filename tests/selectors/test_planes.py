"""Bit planes that the encoder makes for the search of a fit, and how long they and codes live."""

from __future__ import annotations

import pickle
import weakref
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import hocmim.coding.encoder as encoder_module
import hocmim.information.counting as counting
from hocmim import CMIM, JMI, MIM, make_selector
from hocmim.coding.encoder import Encoder
from hocmim.coding.target import encode_target
from hocmim.search.engines.local import LocalEngine
from hocmim.search.loop import forward_search
from hocmim.selectors.base import InformationSelector
from hocmim.selectors.registry import METHODS


def table(n_rows, n_columns=60):
    """Numbers, a few missing, and columns of two to twelve values."""
    rng = np.random.default_rng(n_rows)
    y = rng.integers(3, size=n_rows)
    X = rng.normal(size=(n_rows, n_columns)) + 0.2 * y[:, None] * (rng.random(n_columns) < 0.3)
    X[:, ::4] = rng.integers(2 + np.arange(n_columns)[::4] % 11, size=X[:, ::4].shape)
    X[rng.random(X.shape) < 0.001] = np.nan
    return X, y


@pytest.fixture
def several_spans(monkeypatch):
    """Small tables in several spans, wide enough for groups of eight, on several threads."""
    monkeypatch.setattr(encoder_module, "MAX_BYTES_OF_ONE_THREAD", 0)
    monkeypatch.setattr(encoder_module, "MIN_SPAN_CELLS", 1)
    monkeypatch.setattr(encoder_module, "SPANS_PER_THREAD", 1)


@pytest.fixture
def made(monkeypatch):
    """For each block of a search, how many columns the planes are of that were given to it."""
    found = []

    class Native:
        def __getattr__(self, name):
            return getattr(native, name)

        def BitPlanes(self, columns, given):  # noqa: N802 (the name of a class)
            found.append(sum(planes.n_columns for _, planes in given))
            return native.BitPlanes(columns, given)

    native = counting._native
    monkeypatch.setattr(counting, "_native", Native())
    return found


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize("n_rows", [300, 4500])
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("method", [MIM, JMI, CMIM])
def test_a_fit_is_the_search_of_plain_codes(method, n_jobs, n_rows, container, several_spans, made):
    """Of few samples and of many: the planes lie differently. A frame is read in spans."""
    X, y = table(n_rows)
    selector = method(10, n_jobs=n_jobs).fit(container(X), y)
    assert sum(made) >= X.shape[1]
    made.clear()
    codes = Encoder().fit_transform(X, n_jobs=n_jobs)
    target = encode_target(y, n_rows).column
    with LocalEngine(codes, target, selector.make_criterion(), n_jobs=1) as engine:
        selection = forward_search(engine, 10)
    assert sum(made) == 0
    assert selector.selected_.tolist() == selection.indices.tolist()
    assert selector.scores_.tobytes() == selection.scores.tobytes()
    assert selector.relevance_.tobytes() == selection.relevance.tobytes()


def test_the_codes_are_the_same_and_copies_have_no_planes(several_spans):
    X, _ = table(300)
    plain = Encoder().fit_transform(X, n_jobs=2)
    codes = Encoder().fit_transform(X, n_jobs=2, plane_classes=3)
    np.testing.assert_array_equal(codes.narrow, plain.narrow)
    assert not plain.made_planes
    starts = [start for start, _ in codes.made_planes]
    assert len(starts) > 1
    assert starts == sorted(starts)
    copied = pickle.loads(pickle.dumps(codes))
    assert copied.made_planes == ()
    assert copied.arity.tolist() == codes.arity.tolist()
    assert replace(codes, can_have_planes=False).made_planes == codes.made_planes


def test_a_fitted_selector_keeps_no_planes(made):
    X, y = table(300)
    selector = CMIM(5).fit(X, y)
    assert sum(made) == X.shape[1]
    assert selector._encoded.codes.made_planes == ()
    assert selector.extend(8).n_features_ == 8


def test_no_planes_for_an_estimator_that_counts_samples(made):
    X, y = table(300)
    assert CMIM(5, estimator="jeffreys").fit(X, y).n_features_ == 5
    assert not made


INFORMATION_METHODS = [
    name for name, kind in METHODS.items() if issubclass(kind, InformationSelector)
]


@pytest.mark.parametrize("n_features", [4, "significant"])
@pytest.mark.parametrize("name", INFORMATION_METHODS)
def test_a_fit_frees_the_codes_and_planes_of_the_one_before(name, n_features, no_collector):
    X, y = table(120, 20)
    selector = make_selector(name, n_features_to_select=n_features)
    codes = weakref.ref(selector.fit(X, y)._encoded.codes.narrow)
    selector.fit(X, y)
    assert codes() is None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_frees_its_planes(n_jobs, no_collector, monkeypatch):
    terms = []
    init = counting.BlockTerms.__init__

    def remember(self, *arguments):
        init(self, *arguments)
        terms.append(weakref.ref(self))

    monkeypatch.setattr(counting.BlockTerms, "__init__", remember)
    X, y = table(300)
    codes = Encoder().fit_transform(X)
    target = encode_target(y, 300).column
    with LocalEngine(codes, target, JMI(3).make_criterion(), n_jobs=n_jobs) as engine:
        forward_search(engine, 3)
    del engine
    assert terms
    assert not any(of_block() for of_block in terms)

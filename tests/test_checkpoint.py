"""Searches that are interrupted, by exceptions and by kill -9, against searches that are not."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from hocmim import HOCMIM, JMI, MIM, CriterionSelector, list_methods, make_selector
from hocmim.codes import column_digests, fingerprint
from hocmim.criteria.base import Criterion
from hocmim.criteria.cmim_k import CMIMkCriterion
from hocmim.encode import encode, encode_target
from hocmim.engines.local import LocalEngine
from hocmim.errors import InvalidFileError, InvalidParameterError
from hocmim.search import Selection
from hocmim.selectors import InformationSelector

INFORMATION = [name for name in list_methods() if isinstance(make_selector(name), InformationSelector)]


def table(n=300, d=12, seed=0):
    """Informative columns, copies of them and an exclusive or, among noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.integers(0, 3, (n, d))
    X[:, 1] = (y + rng.integers(0, 3, n) // 2) % 2
    X[:, 4] = np.where(rng.random(n) < 0.9, X[:, 1], X[:, 4])
    X[:, 7] = rng.integers(0, 2, n)
    X[:, 9] = X[:, 7] ^ y
    X[:, 10] = np.where(rng.random(n) < 0.3, y, X[:, 10])
    return X, y


def assert_same(one, two):
    """Everything a fit leaves behind is the same."""
    for name in ("selected_", "scores_", "relevance_", "ranking_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    for name in ("p_values_", "orders_"):
        assert hasattr(one, name) == hasattr(two, name)
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert one.trace_.columns.keys() == two.trace_.columns.keys()
    for name, column in one.trace_.columns.items():
        assert column.dtype == two.trace_[name].dtype
        assert column.tolist() == two.trace_[name].tolist(), name
    sets = [getattr(selector, "representative_sets_", []) for selector in (one, two)]
    for a, b in zip(*sets, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    assert str(one.stopping_) == str(two.stopping_)


class Interrupted(Exception):
    pass


def fit_until(selector, n_steps, X, y, monkeypatch):
    """Fit, and raise when that many columns are selected and the next is looked for."""
    with monkeypatch.context() as patch:
        selected = []
        select = LocalEngine.select

        def interrupt(engine, index):
            selected.append(index)
            if len(selected) == n_steps:
                raise Interrupted
            select(engine, index)

        patch.setattr(LocalEngine, "select", interrupt)
        with pytest.raises(Interrupted):
            selector.fit(X, y)


@pytest.mark.parametrize("n_steps", [1, 4])
@pytest.mark.parametrize("method", INFORMATION)
def test_every_selector_ends_as_if_it_had_not_been_interrupted(method, n_steps, tmp_path, monkeypatch):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    fit_until(make_selector(method, n_features_to_select=6, checkpoint=path), n_steps, X, y, monkeypatch)
    n_searched = []
    best = LocalEngine.best
    monkeypatch.setattr(LocalEngine, "best", lambda engine: n_searched.append(1) or best(engine))
    resumed = make_selector(method, n_features_to_select=6, checkpoint=path).fit(X, y)
    assert len(n_searched) == 2 * (6 - n_steps)  # the winner and the runner-up of the others only
    assert_same(resumed, make_selector(method, n_features_to_select=6).fit(X, y))


@pytest.mark.parametrize("stop", ["chi2", "permutation"])
@pytest.mark.parametrize("n_steps", [1, 2])
def test_a_stopping_rule_goes_on_where_it_was(stop, n_steps, tmp_path, monkeypatch):
    X, y = table(600)
    parameters = {"n_features_to_select": "auto", "stop": stop, "n_permutations": 199}
    expected = HOCMIM(**parameters).fit(X, y)
    assert len(expected.selected_) > n_steps
    assert expected.stopping_ is not None
    path = tmp_path / "run.checkpoint"
    fit_until(HOCMIM(**parameters, checkpoint=path), n_steps, X, y, monkeypatch)
    assert_same(HOCMIM(**parameters, checkpoint=path).fit(X, y), expected)
    monkeypatch.setattr(LocalEngine, "best", None)  # the end of it is in the file as well
    assert_same(HOCMIM(**parameters, checkpoint=path).fit(X, y), expected)


def test_permutations_of_no_seed_go_on_with_the_seed_they_began_with(tmp_path, monkeypatch):
    X, y = table(600)
    parameters = {"n_features_to_select": "auto", "stop": "permutation", "n_permutations": 19}
    path = tmp_path / "run.checkpoint"
    fit_until(HOCMIM(**parameters, random_state=None, checkpoint=path), 1, X, y, monkeypatch)
    first = HOCMIM(**parameters, random_state=None, checkpoint=path).fit(X, y)
    seeds = json.loads(path.read_text().partition("\n")[2])["state"]["dict"]["seed"]
    assert isinstance(seeds, int)
    assert_same(HOCMIM(**parameters, random_state=None, checkpoint=path).fit(X, y), first)


def test_min_gain_ends_a_resumed_search_too(tmp_path, monkeypatch):
    X, y = table()
    expected = JMI(8, min_gain=0.3).fit(X, y)
    assert 1 < len(expected.selected_) < 8
    path = tmp_path / "run.checkpoint"
    fit_until(JMI(8, min_gain=0.3, checkpoint=path), 1, X, y, monkeypatch)
    assert_same(JMI(8, min_gain=0.3, checkpoint=path).fit(X, y), expected)
    # Before the end of it, nothing says how it ended.
    n = len(expected.selected_)
    assert_same(JMI(n, min_gain=0.3, checkpoint=path).fit(X, y), JMI(n, min_gain=0.3).fit(X, y))
    assert_same(JMI(12, min_gain=0.3, checkpoint=path).fit(X, y), expected)


@pytest.mark.parametrize("search", ["greedy", "exhaustive"])
def test_a_finished_checkpoint_gives_its_result_and_goes_on_if_more_is_asked(
    search, tmp_path, monkeypatch
):
    X, y = table()
    path = tmp_path / "run.checkpoint"
    parameters = {"search": search, "max_order": 3 if search == "exhaustive" else 15}
    # Only two are selected, so no set is larger than one; the next ones have larger sets.
    HOCMIM(2, **parameters, checkpoint=path).fit(X, y)
    more = HOCMIM(7, **parameters, checkpoint=path).fit(X, y)
    expected = HOCMIM(7, **parameters).fit(X, y)
    assert expected.orders_.max() > 1
    assert_same(more, expected)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(LocalEngine, "best", None)
        patch.setattr(LocalEngine, "select", None)
        assert_same(HOCMIM(7, **parameters, checkpoint=path).fit(X, y), expected)
        fewer = HOCMIM(3, **parameters, checkpoint=path).fit(X, y)
    assert_same(fewer, HOCMIM(3, **parameters).fit(X, y))
    assert path.read_bytes() == before

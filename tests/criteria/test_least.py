"""Lazy evaluation: the same result, ties included, from fewer terms."""

from math import comb

import numpy as np
import pytest

import naive
from coded import encode
from hocmim.coding.codes import Codes, Column
from hocmim.criteria import least
from hocmim.criteria.cmim import CMIMCriterion
from hocmim.criteria.cmim_k import CMIMkCriterion
from hocmim.criteria.jmim import JMIMCriterion
from hocmim.criteria.least import n_subset_terms, subsets_with_newest
from hocmim.criteria.searches import SearchPlan
from hocmim.search.engines.local import LocalEngine
from hocmim.search.loop import forward_search

CRITERIA = {
    "CMIM": CMIMCriterion,
    "CMIM, bare": lambda estimator: CMIMCriterion(estimator, with_relevance=False),
    "JMIM": JMIMCriterion,
    "CMIM-3": lambda estimator: CMIMkCriterion(3, estimator),
    "CMIM-4": lambda estimator: CMIMkCriterion(4, estimator),
}


def eagerly(criterion):
    """The same criterion, searched by computing every score."""
    kind = type(f"Eager{type(criterion).__name__}", (type(criterion),), {"plan": SearchPlan()})
    copied = criterion.copy()
    copied.__class__ = kind
    return copied


def search(criterion, codes, target, K, n_jobs=1, block_size=None):
    """The steps as (index, score), and how many terms they took after the first."""
    n_terms = []
    engine = LocalEngine(
        codes, target, criterion, n_jobs=n_jobs, block_size=block_size, on_terms=n_terms.append
    )
    with engine:
        selection = forward_search(engine, K)
    return [(step.index, step.score) for step in selection.steps], sum(n_terms)


def coded(X, y):
    return encode(X, n_bins=16), encode(y[:, None], n_bins=16).column(0)


@pytest.mark.parametrize("estimator", naive.ESTIMATORS)
@pytest.mark.parametrize("name", CRITERIA)
def test_lazy_is_eager(name, estimator):
    for X, y in naive.random_tables(900, 12, (10, 90), D=14, levels=5):
        codes, target = coded(X, y)
        criterion = CRITERIA[name](estimator)
        eager, n_eager = search(eagerly(criterion), codes, target, 9)
        for block_size in (None, 1, 4):
            lazy, n_lazy = search(criterion, codes, target, 9, block_size=block_size)
            assert lazy == eager
            assert n_lazy <= n_eager


@pytest.mark.parametrize("estimator", ["plugin", "shrinkage"])
@pytest.mark.parametrize("n_samples", [300, 5000])
@pytest.mark.parametrize("name", ["CMIM", "CMIM, bare", "JMIM"])
def test_lazy_is_eager_where_some_columns_have_planes(name, n_samples, estimator):
    """Of few samples and of many: the planes lie differently."""
    rng = np.random.default_rng(n_samples)
    y = rng.integers(3, size=n_samples)
    arities = [2, 5, 40, 3, 200, 300, 9, 1, 5, 5, 2, 7]
    columns = []
    for arity in arities:
        noise = rng.integers(arity, size=n_samples)
        levels = np.where(rng.random(n_samples) < 0.2, y % arity, noise)
        columns.append(Column(levels.astype(np.uint8 if arity <= 256 else np.uint16), arity))
    codes, target = Codes.from_columns(columns), Column(y.astype(np.uint8), 3)
    criterion = CRITERIA[name](estimator)
    eager, _ = search(eagerly(criterion), codes, target, 9)
    assert search(criterion, codes, target, 9)[0] == eager
    assert search(criterion, codes, target, 9, block_size=5)[0] == eager


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("chunk", [1, 2, 5])
@pytest.mark.parametrize("name", CRITERIA)
def test_chunks_change_nothing(name, chunk, monkeypatch):
    """Small chunks leave candidates behind by different numbers of subsets; so do small calls."""
    for X, y in naive.random_tables(901, 8, (20, 60), D=20, levels=4):
        codes, target = coded(X, y)
        criterion = CRITERIA[name]("shrinkage")
        eager, _ = search(eagerly(criterion), codes, target, 10)
        with monkeypatch.context() as patched:
            patched.setattr(least, "CANDIDATES_PER_CHUNK", chunk)
            patched.setattr(least, "SAMPLES_PER_CALL", 100)
            assert search(criterion, codes, target, 10)[0] == eager
            assert search(criterion, codes, target, 10, n_jobs=3)[0] == eager


@pytest.mark.parametrize("name", ["CMIM", "CMIM, bare", "CMIM-3"])
def test_lazy_saves_terms(name):
    """A few informative columns among noise: most noise is never looked at again."""
    rng = np.random.default_rng(902)
    y = rng.integers(2, size=500)
    X = rng.integers(3, size=(500, 400))
    strong = rng.random((500, 20)) < 0.3
    X[:, :20] = np.where(strong, 2 * y[:, None], X[:, :20])
    codes, target = coded(X, y)
    criterion = CRITERIA[name]("plugin")
    eager, n_eager = search(eagerly(criterion), codes, target, 12)
    lazy, n_lazy = search(criterion, codes, target, 12)
    assert lazy == eager
    assert n_lazy < n_eager / 2


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_subsets_come_once_each(size):
    rng = np.random.default_rng(903)
    codes = encode(rng.integers(2, size=(64, 7)), n_bins=16)
    selected, met, n_terms = [], 0, 0
    for j in range(7):
        selected.append(codes.column(j))
        if len(selected) >= size:
            new = list(subsets_with_newest(selected, size))
            assert len(new) == comb(j, size - 1)
            met += len(new)
            n_terms += len(new)
        else:
            n_terms += 1
        assert met == comb(len(selected), size)
        assert n_terms == n_subset_terms(size, len(selected) + 1)


@pytest.mark.parametrize("name", CRITERIA)
def test_a_candidate_closed_and_opened_again_is_found_again(name):
    for X, y in naive.random_tables(903, 6, (20, 60), D=10, levels=4):
        codes, target = coded(X, y)
        criterion = CRITERIA[name]("plugin")
        search = criterion.plan.search([criterion.copy()])
        search.start([codes], target)
        for _ in range(4):
            best = search.best()
            search.set_open(0, best.position, False)
            assert search.best() != best
            search.set_open(0, best.position, True)
            assert search.best() == best
            search.set_open(0, best.position, False)
            search.update(codes.column(best.position))

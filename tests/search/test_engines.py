"""The local engine, and HOCMIM's short cuts against the straightforward path."""

import numpy as np
import pytest

import naive
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.hocmim import HOCMIMCriterion
from hocmim.criteria.searches import SearchPlan
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import BlockTerms, Joint
from hocmim.search.engines.local import LocalEngine
from hocmim.search.loop import forward_search


class StraightforwardHOCMIM(Criterion):
    """Every representative set from scratch at every step, no path remembered, no bound used."""

    def __init__(self, *, max_order, tol, form, estimator):
        super().__init__(estimator)
        self.max_order, self.tol, self.form = max_order, tol, form

    def start(self, block, y):
        joint = Joint.of([y])
        self.single = [
            BlockTerms(block.block(k, k + 1), joint, self.estimator) for k in range(block.n_columns)
        ]
        return super().start(block, y)

    def scores(self):
        return np.array([self.path(k)[0] for k in range(len(self.relevance))])

    def path(self, k):
        relevance = self.relevance[k]
        score, members = relevance, []
        while len(members) < min(self.max_order, len(self.selected)):
            others = [s for s in range(len(self.selected)) if s not in members]
            values = [self.redundancy(k, [*members, s]) for s in others]
            best = int(np.argmax(comparison_key(values)))
            members.append(others[best])
            score = relevance - values[best]
            if comparison_key(relevance) > 0 and comparison_key(score) < comparison_key(
                self.tol * relevance
            ):
                break
        return score, members

    def redundancy(self, k, members):
        joint = Joint.of([self.selected[s] for s in members])
        if self.form == "conditional":
            return self.relevance[k] - self.single[k].conditional(joint)[0]
        return self.single[k].redundancy(joint)[0]

    def describe(self, position):
        members = self.path(position)[1]
        return {"representative_set": [self.selected[s].index for s in members]}


def coded(X, y):
    columns = [Column(column.astype(np.uint8), int(column.max()) + 1) for column in np.asarray(X).T]
    return Codes.from_columns(columns), Column(y.astype(np.uint8), int(y.max()) + 1)


def correlated_table(n_samples, n_columns, levels, n_classes, seed):
    """Columns that share a hidden cause with the class, some copied with noise."""
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=n_samples)
    strength = rng.uniform(0, 1, n_columns) * (rng.random(n_columns) < 0.6)
    values = cause[:, None] * strength + rng.normal(size=(n_samples, n_columns))
    X = np.stack([np.digitize(v, np.quantile(v, np.arange(1, levels) / levels)) for v in values.T])
    noisy = rng.random(X[1::3].shape) < 0.2
    X[1::3] = np.where(noisy, X[1::3], X[: len(X[1::3])])
    edges = np.quantile(cause, np.arange(1, n_classes) / n_classes)
    return X.T, np.digitize(cause + 0.5 * rng.normal(size=n_samples), edges)


def search(X, y, criterion, n_select, **engine):
    codes, target = coded(X, y)
    with LocalEngine(codes, target, criterion, **engine) as local:
        return forward_search(local, n_select)


def with_runner_ups(steps):
    return [(one.index, one.score) for step in steps for one in (step, step.runner_up) if one]


def assert_same(found, expected):
    assert len(found.steps) == len(expected.steps)
    assert with_runner_ups(found.steps) == with_runner_ups(expected.steps)
    assert [list(step.details["representative_set"]) for step in found.steps] == [
        list(step.details["representative_set"]) for step in expected.steps
    ]


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("form", ["redundancy", "conditional"])
@pytest.mark.parametrize(
    ("estimator", "n_samples", "levels", "n_classes", "max_order"),
    [
        ("shrinkage", 900, 5, 2, 4),
        ("shrinkage", 700, 3, 4, 5),
        ("shrinkage", 600, 9, 3, 3),
        ("plugin", 900, 5, 2, 4),
        ("miller_madow", 500, 4, 3, 3),
        ("grassberger", 500, 4, 3, 3),
        ("jeffreys", 400, 3, 2, 3),
    ],
)
def test_short_cuts_do_not_change_a_bit(estimator, n_samples, levels, n_classes, max_order, form):
    X, y = correlated_table(n_samples, 14, levels, n_classes, seed=levels)
    parameters = {"max_order": max_order, "tol": 0.01, "form": form, "estimator": estimator}
    expected = search(X, y, StraightforwardHOCMIM(**parameters), 10, n_jobs=1)
    assert_same(search(X, y, HOCMIMCriterion(**parameters), 10, n_jobs=2), expected)


class EagerHOCMIM(HOCMIMCriterion):
    """Follows every path at every step."""

    plan = SearchPlan()


@pytest.mark.parametrize("path", ["last", "min"])
@pytest.mark.parametrize("form", ["redundancy", "conditional"])
@pytest.mark.parametrize("estimator", ["shrinkage", "plugin"])
def test_following_only_contenders_does_not_change_a_bit(estimator, form, path):
    for seed in range(4):
        X, y = correlated_table(300, 40, 4, 3, seed)
        parameters = {"estimator": estimator, "form": form, "path": path, "max_order": 9}
        expected = search(X, y, EagerHOCMIM(**parameters), 14, n_jobs=1)
        assert_same(search(X, y, HOCMIMCriterion(**parameters), 14, n_jobs=1), expected)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("block_size", [1, 7, 16, 1000])
@pytest.mark.parametrize(
    "criterion",
    [
        HOCMIMCriterion(),
        HOCMIMCriterion(max_order=3, estimator="plugin", path="min"),
        HOCMIMCriterion(min_support=3, form="conditional"),
    ],
    ids=["default", "min path", "support"],
)
def test_blocks_and_threads_do_not_change_a_bit(criterion, block_size):
    for X, y in naive.random_tables(410, 2, (150, 250), D=40):
        expected = search(X, y, criterion, 9, n_jobs=1, block_size=40)
        for n_jobs in (1, 3):
            found = search(X, y, criterion, 9, n_jobs=n_jobs, block_size=block_size)
            assert_same(found, expected)


def test_wide_and_narrow_columns_in_one_block():
    rng = np.random.default_rng(7)
    wide = Column(rng.integers(0, 300, 500).astype(np.uint16), 300)
    narrow = Column(rng.integers(0, 3, 500).astype(np.uint8), 3)
    codes = Codes.from_columns([narrow, wide, narrow, wide, narrow], list("abcde"))
    block = codes.block(1, 4)
    assert (block.start, block.n_columns, block.names) == (1, 3, ("b", "c", "d"))
    for j in range(3):
        np.testing.assert_array_equal(block.column(j).codes, codes.column(j + 1).codes)
        assert block.column(j).index == j + 1
    y = Column(rng.integers(0, 2, 500).astype(np.uint8), 2)
    whole = BlockTerms(codes, Joint.of([y]), "plugin").relevance()
    np.testing.assert_array_equal(
        BlockTerms(block, Joint.of([y]), "plugin").relevance(), whole[1:4]
    )

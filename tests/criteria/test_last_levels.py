"""HOCMIM's paths with unfinished last levels, against paths that are all followed to their ends."""

import itertools

import numpy as np
import pytest

import naive
from coded import encode
from hocmim import CriterionSelector, Encoder, _native
from hocmim.coding.target import encode_target
from hocmim.criteria.hocmim import HOCMIMCriterion


def random_table(seed):
    """A few relevant columns, sometimes a copy, from binary columns to columns of many levels."""
    rng = np.random.default_rng([seed, 1703])
    n_rows, n_columns, n_levels = rng.integers([40, 10, 2], [300, 20, 13])
    y = rng.integers(rng.integers(2, 4), size=n_rows)
    X = rng.integers(n_levels, size=(n_rows, n_columns))
    is_relevant = rng.random((n_rows, 4)) < 0.3
    X[:, :4] = np.where(is_relevant, y[:, None], X[:, :4])
    if seed % 2:
        X[:, 5] = X[:, 0]
    return X, y


def answer(selector):
    """Everything a search found, runners-up included, with every bit of the scores."""
    return [
        (s.index, s.score.hex(), s.representative_set.tolist())
        for step in selector.selection_.steps
        for s in (step, step.runner_up)
        if s is not None
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["last", "min"])
@pytest.mark.parametrize("form", ["redundancy", "conditional"])
@pytest.mark.parametrize("estimator", ["shrinkage", "plugin", "miller_madow", "jeffreys"])
def test_unfinished_levels_do_not_change_a_bit(monkeypatch, estimator, form, path):
    settings = itertools.cycle(itertools.product((1, 2, 3, 5), (0, 2, 8), (0.01, 0.4)))
    for seed in range(12):
        X, y = random_table(seed)
        for max_order, min_support, tol in itertools.islice(settings, 4):
            criterion = HOCMIMCriterion(
                max_order=max_order,
                min_support=min_support,
                tol=tol,
                estimator=estimator,
                form=form,
                path=path,
            )
            selector = CriterionSelector(criterion, 9, encoder=Encoder(16))
            found = answer(selector.fit(X, y))
            with monkeypatch.context() as patch:
                patch.setenv("HOCMIM_BOUND", "off")
                assert found == answer(selector.fit(X, y))


@pytest.mark.parametrize("min_support", [0, 3])
def test_unfinished_levels_agree_with_the_naive_twin(min_support):
    for seed in range(20, 22):
        X, y = random_table(seed)
        parameters = {"estimator": "shrinkage", "max_order": 2, "min_support": min_support}
        criterion = HOCMIMCriterion(**parameters)
        selector = CriterionSelector(criterion, 7, encoder=Encoder(16)).fit(X, y)
        naive.assert_selects_as_hocmim(selector, X, y, **parameters)


@pytest.mark.parametrize("parameters", [{"max_order": 2}, {"min_support": 30}])
def test_last_levels_are_left_and_finished(parameters):
    rng = np.random.default_rng(18)
    X, y = rng.integers(4, size=(400, 60)), rng.integers(2, size=400)
    codes, target = encode(X), encode_target(y).column
    criterion, twin = HOCMIMCriterion(**parameters), HOCMIMCriterion(**parameters)
    for each in (criterion, twin):
        each.start(codes, target)
    n_unfinished = 0
    for j in range(10):
        for each in (criterion, twin):
            each.update(codes.column(j))
        criterion.update_paths(0.1)
        candidates = np.flatnonzero(criterion.is_candidate)
        n_unfinished += criterion.paths.n_unfinished(candidates)
        twin.scores()
        assert twin.paths.n_unfinished(candidates) == 0
    assert n_unfinished > 100
    assert criterion.scores()[10:].tobytes() == twin.scores()[10:].tobytes()
    assert criterion.paths.n_unfinished(candidates) == 0


def test_paths_must_be_up_to_date():
    rng = np.random.default_rng(19)
    codes, target = encode(rng.integers(4, size=(50, 5))), encode_target(rng.integers(2, size=50))
    criterion = HOCMIMCriterion(max_order=2)
    criterion.start(codes, target.column)
    criterion.update(codes.column(0))
    with pytest.raises(ValueError, match="not up to date"):
        _native.LastLevels([criterion.paths], [criterion.is_candidate])

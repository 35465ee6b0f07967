"""Stability over resamples: the published formulas, and stable and unstable data."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import warned
from hocmim import HOCMIM, MIM, FisherScore, StabilitySelector, errors
from hocmim.insight.chart_data import wilson_intervals
from hocmim.selectors.stability import stability_index

pytestmark = pytest.mark.filterwarnings(
    warned.LEAK,
    warned.NOTHING_SELECTED,
    "ignore:divide by zero:RuntimeWarning",  # in SelectKBest
)


def telling_table(seed=0, n=300, n_noise=15, strength=1.0):
    """Three columns of about the same relevance, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, 3 + n_noise))
    X[:, :3] += strength * y[:, None]
    return X, y


# -- the index -------------------------------------------------------------------------------------


def naive_stability(Z):
    """Definition 4 and Theorem 7 of Nogueira et al., feature by feature and run by run."""
    M, D = Z.shape
    p = [sum(Z[i][f] for i in range(M)) / M for f in range(D)]
    k = [sum(Z[i]) for i in range(M)]
    mean_k = sum(k) / M
    by_chance = mean_k / D * (1 - mean_k / D)
    phi = 1 - sum(M / (M - 1) * q * (1 - q) for q in p) / D / by_chance
    each = []
    for i in range(M):
        overlap = sum(Z[i][f] * p[f] for f in range(D)) / D
        correction = 2 * k[i] * mean_k / D**2 - k[i] / D - mean_k / D + 1
        each.append((overlap - k[i] * mean_k / D**2 + phi / 2 * correction) / by_chance)
    mean = sum(each) / M
    return phi, 4 / M**2 * sum((value - mean) ** 2 for value in each)


@pytest.mark.parametrize("seed", range(5))
def test_index_and_variance_by_the_formula(seed):
    rng = np.random.default_rng(seed)
    selections = rng.random((12, 9)) < rng.random(9)
    found = stability_index(selections)
    value, variance = naive_stability(selections.astype(int))
    assert found.value == pytest.approx(value)
    assert found.variance == pytest.approx(variance)
    half = 1.959963984540054 * variance**0.5
    assert found.interval == pytest.approx((value - half, value + half))


def test_index_is_the_mean_correlation_for_equal_sizes():
    """With the same number of columns each time, Φ is the mean pairwise Pearson correlation."""
    rng = np.random.default_rng(0)
    selections = np.array([np.isin(np.arange(10), rng.choice(10, 4, False)) for _ in range(8)])
    pairs = [np.corrcoef(a, b)[0, 1] for a, b in combinations(selections.astype(float), 2)]
    assert stability_index(selections).value == pytest.approx(np.mean(pairs))


def test_variance_is_close_to_the_jackknifes():
    rng = np.random.default_rng(1)
    selections = rng.random((60, 20)) < np.linspace(0.05, 0.95, 20)
    without = [stability_index(np.delete(selections, i, axis=0)).value for i in range(60)]
    jackknife = 59 / 60 * np.square(np.array(without) - np.mean(without)).sum()
    assert stability_index(selections).variance == pytest.approx(jackknife, rel=0.1)


def test_interval_covers():
    """Of 200 intervals at 95 %, 190 should hold the true value: 175 and more is within 3.5 sd."""
    rng = np.random.default_rng(2)
    p = np.linspace(0.05, 0.95, 20)
    share = p.mean()
    true = 1 - (p * (1 - p)).mean() / (share * (1 - share))
    intervals = [stability_index(rng.random((40, 20)) < p).interval for _ in range(200)]
    assert sum(low <= true <= high for low, high in intervals) >= 175


def test_extremes():
    same = np.tile([1, 1, 0, 0, 0], (10, 1))
    assert stability_index(same).value == 1.0
    assert stability_index(same).interval == pytest.approx((1.0, 1.0))
    rng = np.random.default_rng(3)
    random = np.array([np.isin(np.arange(30), rng.choice(30, 5, False)) for _ in range(200)])
    low, high = stability_index(random).interval
    assert low < 0.02
    assert high > -0.02
    for constant in (np.zeros((3, 4)), np.ones((3, 4))):
        assert np.isnan(stability_index(constant).value)


@pytest.mark.parametrize("selections", [[[1, 0]], [1, 0], [[1, 2], [0, 1]]])
def test_index_of_something_else(selections):
    with pytest.raises(errors.InvalidParameterError, match="selections must be"):
        stability_index(selections)


def test_wilson_intervals_solve_their_equation():
    """The bounds are the p at which the count is z standard deviations from its mean."""
    counts, n, z = np.array([0, 3, 25, 49, 50]), 50, 1.959963984540054
    low, high = wilson_intervals(counts, n).T
    for bound in (low, high):
        inside = (bound > 0) & (bound < 1)
        distance = np.abs(counts - n * bound)[inside]
        np.testing.assert_allclose(distance, z * np.sqrt(n * bound * (1 - bound))[inside])
    assert (low <= counts / n).all()
    assert (counts / n <= high).all()


# -- the selector ----------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        StabilitySelector(HOCMIM(1), n_resamples=5),
        StabilitySelector(SelectKBest(k=1), n_resamples=5, resampling="subsample"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_stable_data():
    X, y = telling_table(strength=1.5)
    selector = StabilitySelector(HOCMIM(3), n_resamples=20).fit(X, y)
    assert sorted(selector.selected_.tolist()) == [0, 1, 2]
    assert (selector.frequencies_[:3] >= 0.9).all()
    assert selector.frequencies_.sum() == pytest.approx(3)
    assert selector.stability_ > 0.9
    low, high = selector.stability_interval_
    assert low <= selector.stability_ <= high


def test_unstable_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 30)), rng.integers(2, size=200)
    noise = StabilitySelector(MIM(5), n_resamples=30).fit(X, y)
    stable = StabilitySelector(MIM(3), n_resamples=30).fit(*telling_table(strength=1.5))
    assert noise.stability_ < 0.6
    assert noise.stability_interval_[1] < stable.stability_interval_[0]
    assert len(noise.selected_) < 8


def test_attributes_agree():
    X, y = telling_table(strength=0.4)
    selector = StabilitySelector(HOCMIM("significant"), n_resamples=25, threshold=0.3).fit(X, y)
    assert selector.selections_.shape == (25, 18)
    np.testing.assert_array_equal(selector.frequencies_, selector.selections_.mean(axis=0))
    assert set(selector.selected_) == set(np.flatnonzero(selector.frequencies_ >= 0.3))
    np.testing.assert_array_equal(selector.scores_, selector.frequencies_[selector.selected_])
    assert (np.diff(selector.scores_) <= 0).all()
    low, high = selector.frequency_intervals_.T
    assert ((low <= selector.frequencies_) & (selector.frequencies_ <= high)).all()
    assert selector.stability_ == stability_index(selector.selections_).value
    assert sorted(selector.ranking_.tolist()) == list(range(1, 19))
    assert selector.transform(X).shape == (300, len(selector.selected_))


def test_a_number_of_columns():
    X, y = telling_table()
    selector = StabilitySelector(MIM(4), n_resamples=10, n_features_to_select=6).fit(X, y)
    assert len(selector.selected_) == 6
    titles, *rows = str(selector).removeprefix(repr(selector)).split("\n")[1:]
    assert titles.endswith("or a substitute")
    for row, j in zip(rows, selector.selected_, strict=True):
        _, name, *numbers = row.split()
        assert name == str(j)
        found = [selector.frequencies_[j], *selector.frequency_intervals_[j]]
        assert numbers[:3] == [f"{value:.4f}" for value in found]
        assert numbers[3] >= numbers[0]


def test_nothing_stable_is_said():
    rng = np.random.default_rng(0)
    selector = StabilitySelector(MIM(2), n_resamples=10, threshold=1).fit(
        rng.normal(size=(60, 40)), rng.integers(0, 2, 60)
    )
    assert str(selector).endswith("No feature was selected.")


def test_seeds_and_threads():
    X, y = telling_table(strength=0.3)
    make = lambda **kw: StabilitySelector(MIM(3), n_resamples=12, **kw).fit(X, y)  # noqa: E731
    first = make()
    assert make(n_jobs=2).selections_.tobytes() == first.selections_.tobytes()
    assert make(random_state=1).selections_.tobytes() != first.selections_.tobytes()


def test_resamples_keep_rare_classes():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2], [95, 3, 2])
    X = rng.normal(size=(100, 4)) + y[:, None]
    for parameters in ({}, {"resampling": "subsample"}):
        selector = StabilitySelector(FisherScore(2), n_resamples=20, **parameters).fit(X, y)
        assert selector.selections_.sum(axis=1).tolist() == [2] * 20


def test_any_table():
    X, y = telling_table()
    names = [f"c{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    expected = StabilitySelector(HOCMIM(3), n_resamples=6).fit(X, y)
    tables = [frame, pl.from_pandas(frame), pa.table(frame), sparse.csc_array(X), X.tolist()]
    for table in tables:
        found = StabilitySelector(HOCMIM(3), n_resamples=6).fit(table, y)
        assert found.selections_.tobytes() == expected.selections_.tobytes()
    words = frame.assign(word=np.where(y, "yes", "no"), gap=np.where(y, np.nan, 1.0))
    found = StabilitySelector(HOCMIM(1), n_resamples=6).fit(words, y)
    assert found.get_feature_names_out().tolist() == ["word"]


def test_continuous_target():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 5))
    selector = StabilitySelector(MIM(1), n_resamples=8).fit(X, X[:, 2] + 0.1 * rng.normal(size=200))
    assert selector.selected_.tolist() == [2]


def test_in_a_pipeline_and_cloned():
    X, y = telling_table()
    selector = StabilitySelector(MIM(3), n_resamples=5)
    assert clone(selector).get_params()["selector__n_features_to_select"] == 3
    pipeline = make_pipeline(selector, DecisionTreeClassifier(random_state=0)).fit(X, y)
    assert pipeline.score(X, y) > 0.9


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_resamples": 1},
        {"n_resamples": 2.5},
        {"resampling": "jackknife"},
        {"threshold": 1.2},
        {"selector": DecisionTreeClassifier()},
    ],
)
def test_mistakes_get_a_sentence(parameters):
    X, y = telling_table()
    with pytest.raises(errors.InvalidParameterError, match=f"{next(iter(parameters))} must be"):
        StabilitySelector(**{"selector": MIM(2), **parameters}).fit(X, y)

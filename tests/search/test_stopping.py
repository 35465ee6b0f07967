"""When to stop: the null distribution is right, what there is is found, and noise is not."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import chi2, fisher_exact
from sklearn.metrics.cluster import contingency_matrix, expected_mutual_information

import hocmim
import warned
from hocmim import HOCMIM, MIM, Encoder, StopTest, errors
from hocmim.coding.codes import Column
from hocmim.information.counting import Joint
from hocmim.search.moments import Margins, mean_of_g, moments_of_pearson, table_probability
from hocmim.search.row_groups import GroupedStoppingRule
from hocmim.search.selection import Step
from hocmim.search.stopping import (
    StoppingRule,
    Strata,
    chi2_p_value,
    dependent_features,
    permutation_p_value,
)
from hocmim.selectors.base import InformationSelector
from hocmim.selectors.registry import METHODS

pytestmark = pytest.mark.filterwarnings(warned.TEXT)

BY_INFORMATION = [name for name, kind in METHODS.items() if issubclass(kind, InformationSelector)]
FILTERS = [name for name in METHODS if name not in BY_INFORMATION]


def margins_of(found):
    return Margins.of(found.x, found.y, found.z, found.starts)


def column(values, index=-1):
    codes = np.asarray(values).astype(np.uint8)
    return Column(codes, int(codes.max()) + 1, index)


def strata(x, y, z=None):
    z = np.zeros(len(x), int) if z is None else np.unique(z, return_inverse=True)[1]
    return Strata(column(x), column(y), Joint(z.astype(np.uint32), int(z.max()) + 1))


def naive_g(x, y, z):
    """G = 2 Σ c ln(c / expected), cell by cell."""
    total = 0.0
    for cell in np.unique(z):
        table = contingency_matrix(x[z == cell], y[z == cell])
        expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / table.sum()
        seen = table > 0
        total += 2 * (table[seen] * np.log(table[seen] / expected[seen])).sum()
    return total


def naive_pearson(x, y, z):
    total = 0.0
    for cell in np.unique(z):
        table = contingency_matrix(x[z == cell], y[z == cell])
        expected = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / table.sum()
        total += ((table - expected) ** 2 / expected).sum()
    return total


def known_table(seed, n=3000, n_noise=20):
    """Four telling columns, an exclusive or of the last two of six, two copies, noise."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(3, size=(n, 4))
    fair, other = rng.integers(2, size=n), (rng.random(n) < 0.3).astype(int)
    signal = levels @ [0.8, 0.67, 0.6, 0.53] + 2.2 * (fair ^ other)
    y = (signal + 0.8 * rng.logistic(size=n) > np.median(signal)).astype(int)
    noise = rng.integers(3, size=(n, n_noise))
    return np.column_stack([levels, fair, other, levels[:, :2], noise]), y


# -- the null distribution -------------------------------------------------------------------------


@pytest.mark.slow
def test_moments_over_every_permutation():
    x = np.array([0, 0, 1, 2, 1, 0, 0, 1, 1, 2, 0, 1])
    y = np.array([0, 1, 1, 0, 1, 0, 2, 0, 2, 1, 0, 1])
    z = np.repeat([0, 1, 2], [7, 3, 2])
    g, pearson = [], []
    for first in permutations(range(7)):
        order = np.array([*first, 7, 8, 9, 10, 11])
        g.append(naive_g(x[order], y, z))
        pearson.append(naive_pearson(x[order], y, z))
    # The cells are permuted independently: their moments add up.
    small_g = [naive_g(x[7 + np.array(p)], y[7:10], np.zeros(3)) for p in permutations(range(3))]
    small_p = [
        naive_pearson(x[7 + np.array(p)], y[7:10], np.zeros(3)) for p in permutations(range(3))
    ]
    fixed = naive_g(x[7:10], y[7:10], np.zeros(3))
    margins = margins_of(strata(x, y, z))
    assert mean_of_g(margins) == pytest.approx(np.mean(g) - fixed + np.mean(small_g))
    mean, variance = moments_of_pearson(margins)
    fixed = naive_pearson(x[7:10], y[7:10], np.zeros(3))
    assert mean == pytest.approx(np.mean(pearson) - fixed + np.mean(small_p))
    assert variance == pytest.approx(np.var(pearson) + np.var(small_p))


def test_the_probability_of_a_table_is_its_share_of_the_permutations():
    x, y = np.array([0, 0, 1, 2, 1, 0, 0]), np.array([0, 1, 1, 0, 1, 0, 2])
    z = np.array([0, 0, 0, 0, 0, 1, 1])
    kept = strata(x, y, z)  # of cell 1 nothing is kept: x is constant there
    table = naive_table(kept.x, kept.y)
    orders = [kept.x[list(order)] for order in permutations(range(len(kept.x)))]
    share = np.mean([naive_table(order, kept.y) == table for order in orders])
    found = table_probability(margins_of(kept), kept.x, kept.y, kept.z)
    assert found == pytest.approx(share)


def naive_table(x, y):
    return sorted(Counter(zip(x.tolist(), y.tolist(), strict=True)).items())


@pytest.mark.parametrize("n_ones", [2, 3, 4, 5])
def test_a_p_value_of_rare_levels_is_that_of_fishers_test(n_ones):
    """All ones of x are in the rare class: no table is more extreme."""
    x, y = np.zeros(100, int), np.zeros(100, int)
    x[:n_ones], y[:6] = 1, 1
    _, exact = fisher_exact([[94, 6 - n_ones], [0, n_ones]])
    assert chi2_p_value(strata(x, y)) == pytest.approx(exact)
    p_value = permutation_p_value(strata(x, y), 19, np.random.default_rng(0), level=1e-6)
    assert p_value >= exact * (1 - 1e-9)


@pytest.mark.parametrize(("n", "k"), [(30, 3), (2000, 5), (200_000, 4)])
def test_mean_is_the_expected_mutual_information(n, k):
    rng = np.random.default_rng(n)
    x, y = rng.integers(k, size=n), (rng.random(n) < 0.2).astype(int)
    table = sparse.csr_matrix(contingency_matrix(x, y))
    expected = 2 * n * expected_mutual_information(table, n)
    assert mean_of_g(margins_of(strata(x, y))) == pytest.approx(expected, rel=1e-4)


def test_g_of_the_cells_that_vary_is_g_of_all():
    rng = np.random.default_rng(0)
    x, y, z = rng.integers(3, size=200), rng.integers(2, size=200), rng.integers(60, size=200)
    kept = strata(x, y, z)
    assert len(kept.x) < 200
    assert kept.g(kept.x[None])[0] == pytest.approx(naive_g(x, y, z))


def test_chi2_is_the_textbooks_in_large_cells():
    rng = np.random.default_rng(1)
    x, y = rng.integers(4, size=50_000), rng.integers(3, size=50_000)
    g = naive_g(x, y, np.zeros(50_000))
    assert chi2_p_value(strata(x, y)) == pytest.approx(chi2.sf(g, 6), rel=1e-2)


@pytest.mark.parametrize(("n", "k", "n_cells"), [(300, 3, 1), (300, 5, 30), (1000, 2, 250)])
def test_p_values_under_the_null(n, k, n_cells):
    """Of 400 p-values 20 are below 0.05, give or take 3.5 standard deviations."""
    rng = np.random.default_rng(2)
    p_values = []
    for _ in range(400):
        z = rng.integers(n_cells, size=n)
        x, y = (rng.integers(k, size=n) + z) % k, (rng.random(n) < 0.3 + 0.4 * (z % 2)).astype(int)
        p_values.append(chi2_p_value(strata(x, y, z)))
    n_below = int((np.array(p_values) < 0.05).sum())
    assert 5 <= n_below <= 36  # a little conservative in small cells


def test_permutation_p_value_is_the_share_of_permutations():
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=100)
    assert permutation_p_value(strata(y, y), 99, rng, level=0.01) == 0.01
    p_values = [
        permutation_p_value(strata(rng.integers(3, size=60), y[:60]), 99, rng, level=0.01)
        for _ in range(200)
    ]
    assert 2 <= (np.array(p_values) <= 0.05).sum() <= 20  # 10 expected


def test_permutation_tail_agrees_with_chi2():
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=1000)
    x = np.where(rng.random(1000) < 0.2, 2 * y, rng.integers(3, size=1000))
    z = rng.integers(20, size=1000)
    found = permutation_p_value(strata(x, y, z), 999, rng, level=1e-9)
    expected = chi2_p_value(strata(x, y, z))
    assert expected < 1e-6
    assert np.log(found) == pytest.approx(np.log(expected), rel=0.25)


def test_permutations_stay_in_their_cells():
    rng = np.random.default_rng(5)
    cells = strata(rng.integers(4, size=100), rng.integers(2, size=100), rng.integers(7, size=100))
    (rows,) = cells.permutations(5, rng)
    for row in rows:
        assert (row != cells.x).any()
        for z in range(7):
            assert sorted(row[cells.z == z]) == sorted(cells.x[cells.z == z])


def test_dependent_features():
    rng = np.random.default_rng(6)
    a, b, c = (column(rng.integers(3, size=1000), i) for i in range(3))
    y = column((a.codes + b.codes + rng.integers(3, size=1000)) > 3)
    copy = column(np.where(rng.random(1000) < 0.1, 0, a.codes))
    both = column((a.codes + b.codes) // 2)
    noise = column(rng.integers(3, size=1000))

    def indices(x):
        return sorted(s.index for s in dependent_features(x, [a, b, c], y))

    assert indices(copy) == [0]
    assert indices(both) == [0, 1]
    assert indices(noise) == []


@pytest.mark.parametrize("seed", range(10))
def test_an_estimate_of_redundancy_leaves_no_dependence_out(seed):
    """Given too small a set, a column that adds nothing to S seems to add something."""
    rng = np.random.default_rng(seed)
    a, *others = (column(rng.integers(3, size=300), i) for i in range(5))
    y = column(rng.random(300) < 0.4 + 0.1 * a.codes)
    x = column(np.where(rng.random(300) < 0.5, a.codes, rng.integers(3, size=300)))
    assert [s.index for s in dependent_features(x, [a, *others], y)] == [0]


# -- what is selected ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["chi2", "permutation"])
def test_known_answers(stop):
    """All six are found and nothing else, but for 1 table in 5 (docs/development/stopping.md)."""
    exact = 0
    for seed in range(5):
        selector = HOCMIM(StopTest(test=stop)).fit(*known_table(seed))
        groups = {int(j) % 6 if j < 8 else "noise" for j in selector.selected_}
        exact += len(selector.selected_) == 6 and groups == {0, 1, 2, 3, 4, 5}
        assert (selector.p_values_ <= 0.01).all()
        assert selector.stopping_.reason == "not significant"
        assert selector.stopping_.p_value > 0.01
        assert selector.stopping_.index not in selector.selected_
    assert exact >= 4


@pytest.mark.parametrize("stop", ["chi2", "permutation"])
@pytest.mark.parametrize(
    ("n", "D", "rare"), [(300, 100, False), (300, 100, True), (100, 1000, True)]
)
def test_noise(stop, n, D, rare):
    """At a level of 0.01, 2 of 30 tables with a column are 1 in 27 by chance, 3 are 1 in 300."""
    n_selected = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.poisson(0.05, size=(n, D)) if rare else rng.normal(size=(n, D))
        y = (rng.random(n) < (0.1 if rare else 0.5)).astype(int)
        selector = HOCMIM(StopTest(test=stop, n_permutations=200)).fit(X, y)
        n_selected.append(len(selector.selected_))
    assert np.count_nonzero(n_selected) <= 2


@pytest.mark.parametrize("name", BY_INFORMATION)
def test_a_selection_is_the_start_of_a_longer_one(name):
    X, y = known_table(1, n=600, n_noise=5)
    auto = hocmim.make_selector(name, n_features_to_select=StopTest(max_tries=1)).fit(X, y)
    K = len(auto.selected_)
    assert 1 <= K < 13
    assert len(auto.p_values_) == K
    longer = hocmim.make_selector(name, n_features_to_select=K + 1).fit(X, y)
    assert longer.selected_[:K].tolist() == auto.selected_.tolist()
    assert longer.scores_[:K].tobytes() == auto.scores_.tobytes()
    assert auto.stopping_.index == longer.selected_[K]
    assert auto.stopping_.score == longer.scores_[K]
    assert longer.stopping_ is None
    assert not hasattr(longer, "p_values_")


def weather(seed=0, n=600):
    """A table in the shape of the weather data: a date as text comes first, then measurements."""
    rng = np.random.default_rng(seed)
    rain, wind = rng.gamma(0.4, 8, n) * (rng.random(n) < 0.4), rng.gamma(4, 0.9, n)
    warm = 16 + 9 * np.sin(np.arange(n) / 58) + rng.normal(0, 2, n)
    y = np.where(rain > 3, "rain", np.where(warm + rng.normal(0, 3, n) > 20, "sun", "drizzle"))
    days = np.datetime64("2012-01-01") + np.arange(n)
    date = [str(day).replace("-", "/") for day in days]
    X = pd.DataFrame(
        {
            "date": date,
            "precipitation": rain,
            "temp_max": warm,
            "temp_min": warm - rng.gamma(4, 1.5, n),
            "wind": wind,
        }
    )
    return X, y


@pytest.mark.parametrize("stop", ["chi2", "permutation"])
@pytest.mark.parametrize("name", ["MIM", "JMI", "CMIM", "HOCMIM-R"])
def test_a_candidate_that_fails_is_set_aside_and_the_next_is_tried(name, stop):
    X, y = weather()
    test = StopTest(test=stop, n_permutations=199)
    encoder = Encoder(identifiers="keep", max_levels=None)
    parameters = {"n_features_to_select": test, "encoder": encoder}
    selector = hocmim.make_selector(name, **parameters).fit(X, y)
    without = hocmim.make_selector(name, **parameters).fit(X.drop(columns="date"), y)
    assert {"precipitation", "temp_max"} <= set(selector.get_feature_names_out())
    assert "date" not in selector.get_feature_names_out()
    assert set(selector.get_feature_names_out()) <= set(without.get_feature_names_out())
    assert len(selector.p_values_) == len(selector.selected_)
    assert (selector.p_values_ <= test.alpha).all()
    first = selector.selection_.steps[0]
    if name == "MIM":  # the plug-in estimate of a date is the largest
        assert [failure.index for failure in first.failures] == [0]
        assert first.failures[0].score > first.score
        once = MIM(replace(test, max_tries=1), encoder=encoder).fit(X, y)
        assert once.selected_.size == 0
        assert "adds nothing significant (p = 1, level 0.01)" in selector.explain("date", X).reason


def test_at_most_max_tries_candidates_fail():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(200, 30)), rng.integers(2, size=200)
    for max_tries in (1, 4, 50):
        selector = MIM(StopTest(max_tries=max_tries)).fit(X, y)
        stopping = selector.stopping_
        assert selector.selected_.size == 0
        assert len(stopping.failures) + 1 == min(max_tries, 30)
        tried = [stopping.index, *(failure.index for failure in stopping.failures)]
        ranked = MIM(30).fit(X, y).selected_.tolist()
        assert tried == ranked[: len(tried)]
        assert stopping.p_value > 0.01
        assert all(failure.p_value > 0.01 for failure in stopping.failures)


class FixedOrder(hocmim.Criterion):
    """Prefers the last columns, whatever they say about the target."""

    def scores(self):
        return np.arange(len(self.relevance), dtype=float)


def test_a_candidate_that_failed_comes_back():
    """The second bit of an exclusive or fails alone, and passes given the first."""
    rng = np.random.default_rng(3)
    first, second = rng.integers(2, size=500), (rng.random(500) < 0.3).astype(int)
    X = np.column_stack([rng.integers(2, size=(500, 3)), first, second])
    selector = hocmim.CriterionSelector(FixedOrder(), "significant", n_jobs=1).fit(
        X, first ^ second
    )
    assert selector.selected_.tolist() == [3, 4]
    steps = selector.selection_.steps
    assert [[failure.index for failure in step.failures] for step in steps] == [[4], []]
    assert steps[0].failures[0].p_value > 0.01


@pytest.mark.parametrize("kind", ["normal", "rare", "strings"])
def test_trying_the_next_keeps_the_error_rate(kind):
    """On tables of noise, nothing is selected in all but about alpha of the tables."""
    n_selected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = rng.integers(2, size=120)
        if kind == "normal":
            X = rng.normal(size=(120, 30))
        elif kind == "rare":
            X = rng.poisson(0.1, size=(120, 30))
        else:
            X = pd.DataFrame(
                {f"s{k}": rng.integers(3 + 2 * k, size=120).astype(str) for k in range(30)}
            )
        selector = MIM(StopTest(0.05), encoder=Encoder(identifiers="keep")).fit(X, y)
        n_selected += len(selector.selected_) > 0
    # 60 tables at 5 %: 3 expected; more than 9 has a probability below 1 in 1000.
    assert n_selected <= 9


def test_mim_takes_copies_and_the_others_do_not():
    rng = np.random.default_rng(7)
    y = rng.integers(2, size=300)
    x = np.where(rng.random(300) < 0.7, y, 1 - y)
    X = np.column_stack([x, x, 1 - x, rng.integers(2, size=(300, 4))])
    assert MIM("significant").fit(X, y).selected_.tolist() == [0, 1, 2]
    for name in ("HOCMIM", "CMIM", "JMI", "mRMR"):
        selector = hocmim.make_selector(name, n_features_to_select="significant").fit(X, y)
        assert selector.selected_.tolist() == [0]


def test_seeds_and_threads():
    X, y = known_table(2, n=500)
    test = StopTest(test="permutation", n_permutations=50)
    first = HOCMIM(test, n_jobs=1).fit(X, y)
    again = HOCMIM(test).fit(X, y)
    other = HOCMIM(replace(test, random_state=1)).fit(X, y)
    assert first.p_values_.tobytes() == again.p_values_.tobytes()
    assert first.stopping_.p_value == again.stopping_.p_value
    assert first.p_values_.tobytes() != other.p_values_.tobytes()


@pytest.mark.parametrize("groups", [None, np.arange(500)])
def test_every_member_of_a_pair_has_to_add_something(groups):
    """A useful column brings no noise with it; both bits of an exclusive or pass."""
    rng = np.random.default_rng(4)
    useful, noise, first, second = (column(rng.integers(2, size=500), j) for j in range(4))
    y = column(useful.codes * 2 + (first.codes ^ second.codes))
    columns = [useful, noise, first, second]
    table = (StopTest(), columns.__getitem__, y, 4)
    rule = StoppingRule(*table, n_sets=6)
    if groups is not None:
        rule = GroupedStoppingRule(groups, *table, n_sets=6)
    for members, is_selected in (((0, 1), False), ((2, 3), True), ((0, 2), False)):
        rule([], Step(members[0], 0.1, {}, interaction=members))
        assert (rule.choose() is not None) == is_selected
    given = [Step(2, 0.1, {})]
    rule(given, Step(3, 0.1, {}, interaction=(2, 3)))
    assert rule.choose() == (0, ())
    # Six sets have a tenth of the level.
    p_value = chi2_p_value(strata(second.codes, y.codes, first.codes))
    assert rule.p_values[0] == pytest.approx(60 * p_value)


def test_pairs_of_pure_noise_stay_within_the_level():
    """Columns and pairs together: 12 of 60 tables expected, give or take 3.5 deviations."""
    n_any = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(2, size=(200, 8)), rng.integers(2, size=200)
        selector = hocmim.RobustHOCMIM(StopTest(0.2), interactions=True).fit(X, y)
        assert selector.selection_.error_control.n_sets == 28 + 56
        n_any += len(selector.selected_) > 0
    assert n_any <= 22


def test_no_column_with_a_score_of_0_or_less_is_selected():
    """By the criterion itself such a column adds nothing, whatever its p-value."""
    X, y = known_table(2, n=500)

    class LessThanHalf(hocmim.Criterion):
        def scores(self):
            return self.relevance - np.sort(self.relevance)[-2]

    found = MIM("significant").fit(X, y).selected_
    selector = hocmim.CriterionSelector(LessThanHalf(), "significant", n_jobs=1).fit(X, y)
    assert len(found) > 2
    assert selector.selected_.tolist() == found[:1].tolist()
    assert selector.stopping_.score == 0
    assert selector.stopping_.p_value == 1


def test_all_columns_may_be_taken():
    rng = np.random.default_rng(8)
    X = rng.integers(2, size=(500, 2))
    selector = HOCMIM("significant").fit(X, X @ [1, 2])
    assert sorted(selector.selected_.tolist()) == [0, 1]
    assert selector.stopping_ is None


# -- nothing selected, mistakes --------------------------------------------------------------------


def test_nothing_selected():
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(100, 5)), rng.integers(2, size=100)
    selector = HOCMIM("significant").fit(X, y)
    assert selector.selected_.shape == selector.scores_.shape == selector.p_values_.shape == (0,)
    assert selector.ranking_.tolist() == [1] * 5
    assert not selector.get_support().any()
    assert selector.get_feature_names_out().tolist() == []
    assert selector.representative_sets_ == []
    for table in (X, sparse.csr_array(X), X.tolist()):
        with pytest.warns(UserWarning, match="No features were selected"):
            assert selector.transform(table).shape == (100, 0)
    for library in (pd, pl):
        frame = (
            library.DataFrame(X, [*"abcde"])
            if library is pl
            else pd.DataFrame(X, columns=[*"abcde"])
        )
        output = "polars" if library is pl else "pandas"
        named = HOCMIM("significant").set_output(transform=output).fit(frame, y)
        with pytest.warns(UserWarning, match="No features were selected"):
            reduced = named.transform(frame)
        assert isinstance(reduced, library.DataFrame)
        assert reduced.shape[1] == 0


@pytest.mark.parametrize("name", FILTERS)
def test_filters_have_no_test(name):
    X, y = known_table(0, n=50)
    with pytest.raises(errors.InvalidParameterError, match=r"'significant'.*ranks all columns"):
        hocmim.make_selector(name, n_features_to_select="significant").fit(X, y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"test": "never"},
        {"alpha": 1.5},
        {"alpha": "low"},
        {"n_permutations": 0},
        {"max_tries": 0},
        {"random_state": "seed"},
    ],
)
def test_mistakes_get_a_sentence(parameters):
    with pytest.raises(errors.InvalidParameterError, match=f"{next(iter(parameters))} must be"):
        StopTest(**parameters)


def test_verbose_does_not_say_of_how_many(capsys):
    HOCMIM("significant", verbose=1).fit(*known_table(0))
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith("HOCMIM: 1  ")

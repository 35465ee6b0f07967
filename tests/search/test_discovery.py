"""The false-discovery rate of a selection: its levels, its rate, its words."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from coded import encode
from hocmim import (
    HOCMIM,
    JMI,
    MIM,
    Budget,
    Encoder,
    RobustHOCMIM,
    StopTest,
    Target,
    load,
    make_selector,
)
from hocmim.coding.codes import Column
from hocmim.errors import InvalidParameterError
from hocmim.information.counting import Joint
from hocmim.search.discovery import SHARE_OF_SETS, discoveries, n_hypotheses_of
from hocmim.search.stopping import (
    CLEAR,
    Strata,
    chi2_p_value,
    conditioning_sets,
)


def table(seed, n=500, n_useful=8, n_noise=30):
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n, n_useful + n_noise))
    signal = X[:, :n_useful] @ np.linspace(1.2, 0.4, n_useful)
    y = (rng.random(n) < 1 / (1 + np.exp(signal.mean() - signal))).astype(int)
    return X, y


def naive_p_value(target, x, before, clear):
    """The p-value of a column given those before it, corrected for its sets."""
    found = 1.0
    for given, n_possible in conditioning_sets(x, before, target):
        p_value = chi2_p_value(Strata(x, target, Joint.of(given, len(target.codes))))
        found = min(found, p_value * n_possible)
        if found <= clear:
            break
    return found


def naive_discoveries(X, y, method, max_tries, share, is_fdr, level):
    """Each step: of the best candidates, one search each, the one with the smallest m p."""
    codes, target = encode(X), Column(y.astype(np.uint8), 2)
    n_hypotheses = X.shape[1] / share
    selected, adjusted = [], []
    while True:
        tried, p_values = [], []
        while len(tried) < max_tries:
            size = len(selected) + 1
            search = make_selector(method, n_features_to_select=size, keep=selected, exclude=tried)
            if method == "HOCMIM-R":
                search.set_params(interactions=False)
            search.fit(X, y)
            tried.append(int(search.selected_[-1]))
            if search.scores_[-1] <= 0:
                p_values.append(n_hypotheses)
                break
            x, before = codes.column(tried[-1]), [codes.column(j) for j in selected]
            p_value = naive_p_value(target, x, before, CLEAR / n_hypotheses)
            p_values.append(p_value * n_hypotheses)
            if len(tried) * p_values[-1] <= CLEAR:
                break
        places = np.arange(1, len(tried) + 1)
        best = int(np.argmin(places * p_values))
        corrected = np.minimum(1, places * p_values / (size if is_fdr else 1))
        if corrected[best] > level:
            return selected, adjusted, tried, corrected.tolist()
        selected.append(tried[best])
        adjusted.append(corrected[best])


@pytest.mark.parametrize("method", ["HOCMIM-R", "HOCMIM", "JMI", "CMIM", "mRMR"])
@pytest.mark.parametrize(("kind", "level", "max_tries"), [("fdr", 0.05, 4), ("alpha", 0.3, 3)])
def test_levels_are_those_of_the_definition(method, kind, level, max_tries):
    X, y = table(3)
    test = StopTest(**{kind: level}, max_tries=max_tries)
    selector = make_selector(method, n_features_to_select=test).fit(X, y)
    share = 1 - SHARE_OF_SETS if method == "HOCMIM-R" else 1
    expected = naive_discoveries(X, y, method, max_tries, share, kind == "fdr", level)
    selected, adjusted, tried, ended = expected
    assert 2 < len(selected) < 20
    assert selector.selected_.tolist() == selected
    np.testing.assert_allclose(selector.p_values_, adjusted, rtol=1e-12)
    stopping = selector.stopping_
    assert [stopping.index, *(one.index for one in stopping.failures)] == tried
    p_values = [stopping.p_value, *(one.p_value for one in stopping.failures)]
    np.testing.assert_allclose(p_values, ended, rtol=1e-12)


@pytest.mark.parametrize("method", ["HOCMIM-R", "CMIM"])
def test_levels_cut_one_sequence(method):
    """Genes of 160 rows, correlated in modules: a looser level gives the same columns and more."""
    sizes = []
    for seed in range(4):
        rng = np.random.default_rng([seed, 7])
        y = np.arange(160) % 4
        factor = rng.normal(size=(160, 16))
        factor[:, :8] += 1.5 * (y[:, None] == np.arange(8) % 4)
        X = np.repeat(factor, 8, axis=1) + 0.8 * rng.normal(size=(160, 128))
        tests = [*(StopTest(q) for q in (0.001, 0.01, 0.1)), StopTest(fdr=0.1), StopTest(fdr=0.3)]
        found = [
            make_selector(method, n_features_to_select=test).fit(X, y).selected_.tolist()
            for test in tests
        ]
        for strict, loose in pairwise(found):
            assert loose[: len(strict)] == strict
        sizes.append([len(one) for one in found])
    assert (np.ptp(sizes, axis=1) > 0).any()


def test_columns_and_sets_share_the_level():
    assert n_hypotheses_of(30, 0, is_set=False) == 30
    shares = [1 / n_hypotheses_of(30, 435, is_set=is_set) for is_set in (False, True)]
    assert 30 * shares[0] + 435 * shares[1] == pytest.approx(1)


def test_a_set_counts_as_the_features_that_it_adds():
    assert discoveries(0, 1) == discoveries(0, 3) == 1
    assert discoveries(4, 1) == 5
    assert discoveries(4, 2) == 3


def test_it_finds_more_than_the_same_alpha():
    found = {"alpha": 0, "fdr": 0}
    for seed in range(8):
        X, y = table(seed)
        for name in found:
            selector = RobustHOCMIM(StopTest(**{name: 0.1})).fit(X, y)
            found[name] += sum(j < 8 for j in selector.selected_)
    assert found["fdr"] > found["alpha"] + 3


def test_rate_on_noise_and_on_mixed_tables():
    """On noise a quarter of 80 tables is expected at fdr=0.25, give or take 3.5 deviations."""
    n_any, shares = 0, []
    for seed in range(80):
        rng = np.random.default_rng([seed, 1])
        X, y = rng.integers(3, size=(200, 25)), rng.integers(2, size=200)
        n_any += len(RobustHOCMIM(StopTest(fdr=0.25)).fit(X, y).selected_) > 0
        X, y = table(seed, n=300, n_useful=5)
        selected = RobustHOCMIM(StopTest(fdr=0.25)).fit(X, y).selected_
        shares.append(np.mean(selected >= 5) if len(selected) else 0.0)
    assert 5 <= n_any <= 34
    assert np.mean(shares) <= 0.25


def test_groups_count_as_one_feature():
    X, y = table(8)
    groups = {"first two": [0, 1], "noise": list(range(20, 30))}
    selector = JMI(StopTest(fdr=0.1), feature_groups=groups).fit(X, y)
    control = selector.selection_.error_control
    assert (control.n_features, control.n_samples) == (28, 500)
    assert "of 28 features" in selector.statement()


@pytest.mark.parametrize("fdr", [0, 1, -0.1, 1.5, "low", True])
def test_bad_rates(fdr):
    with pytest.raises(InvalidParameterError, match="fdr must be a float in the range"):
        StopTest(fdr=fdr)


def test_columns_that_are_cut_by_the_target_have_no_such_rate():
    X, y = table(0)
    with pytest.raises(InvalidParameterError, match="cut without the target"):
        HOCMIM(StopTest(fdr=0.1), encoder=Encoder(discretizer="mdlp")).fit(X, y)


# -- words -----------------------------------------------------------------------------------------


def test_statement_of_a_false_discovery_rate():
    X, y = table(9)
    selector = RobustHOCMIM(StopTest(fdr=0.05)).fit(X, y)
    text = selector.statement()
    assert f"We selected {len(selector.selected_)} of 38 features with HOCMIM-R (hocmim " in text
    assert "N = 500" in text
    assert "The false-discovery rate was controlled at 5 %: the expected share of selected" in text
    assert "add no information about the target to the features selected before them" in text
    assert "to the features selected before them or with them" in text
    assert (
        "(G-tests of conditional independence with Benjamini–Hochberg levels for features" in text
    )
    assert text.endswith("and for 9,139 pairs and triples).")
    text = RobustHOCMIM(StopTest(fdr=0.05), interactions=False).fit(X, y).statement()
    assert text.endswith("(G-tests of conditional independence with Benjamini–Hochberg levels).")


def test_statement_of_permutations_and_their_seed():
    X, y = table(9)
    how = {"fdr": 0.125, "test": "permutation", "n_permutations": 99}
    text = HOCMIM(StopTest(random_state=7, **how)).fit(X, y).statement()
    assert "at most 12.5 %" in text
    assert "99 permutations, random seed 7, with Benjamini–Hochberg" in text
    state = np.random.RandomState(0)
    assert "seed" not in HOCMIM(StopTest(random_state=state, **how)).fit(X, y).statement()


def test_statement_of_other_selections():
    X, y = table(9)
    text = HOCMIM(StopTest(alpha=0.05)).fit(X, y).statement()
    assert "The family-wise error rate was controlled at 5 %: the probability" in text
    assert "Bonferroni correction" in text
    text = MIM(StopTest(fdr=0.1)).fit(X, y).statement()
    assert "features that have no information about the target is at most 10 %" in text
    assert "G-tests of independence" in text
    text = HOCMIM(3).fit(X, y).statement()
    assert text.endswith("The number of features was given; they were not tested.")
    y = np.random.default_rng(0).integers(2, size=(500, 2))
    text = JMI(StopTest(fdr=1e-6), target=Target(strategy="mean")).fit(X, y).statement()
    assert text.startswith("We selected none of 38 features with JMI")
    assert "any of the targets" in text


def test_statement_of_groups_weights_and_what_was_given():
    X, y = table(9)
    rows = np.repeat(np.arange(250), 2)
    text = JMI(StopTest(fdr=0.1)).fit(X, y, groups=rows).statement()
    assert "N = 500 in 250 groups)." in text
    assert "Rows of one group were not treated as independent: the tests used one row of" in text
    text = JMI(StopTest(alpha=0.1), keep=[0, 20], exclude=[1]).fit(X, y, sample_weight=rows % 3)
    text = text.statement()
    assert f"N = {(rows % 3).sum()}, rows counted by their weights)." in text
    assert "2 features of them were given, not tested. 1 feature was excluded in advance." in text
    assert "the probability of selecting any other feature that adds no information" in text
    costs = np.arange(1, 39)
    text = JMI(StopTest(fdr=0.1), keep=[0], costs=costs).fit(X, y).statement()
    assert "1 feature of them was given, not tested. Features were compared by their" in text
    assert "by their score per unit of cost. The false-discovery" in text
    assert "the expected share of the other selected features that add no information" in text
    text = JMI(Budget(40), costs=costs).fit(X, y).statement()
    assert text.endswith("within a budget of 40. The features were not tested.")
    assert "group" not in text
    text = JMI(3, keep=[0], exclude=[4, 5]).fit(X, y).statement()
    assert "1 feature of them was given. 2 features were excluded in advance. The number" in text


def test_the_statement_is_saved(tmp_path):
    X, y = table(9)
    found = JMI(StopTest(fdr=0.1)).fit(X, y, np.arange(500) % 3, groups=np.arange(500) // 2)
    assert load(found.save(tmp_path / "model.json")).statement() == found.statement()


def test_explanations_give_the_rate():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = RobustHOCMIM(StopTest(fdr=0.1)).fit(X, y)
    reason = selector.explain(int(selector.selected_[0])).reason
    assert "It adds more than chance would: adjusted p = " in reason
    reason = selector.explain(selector.stopping_.index, X).reason
    assert f"adjusted p = {selector.stopping_.p_value:.2g}, false-discovery rate 0.1)" in reason
    assert "adjusted" not in RobustHOCMIM("significant").fit(X, y).explain("worst perimeter").reason


def test_report_has_the_statement(tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = RobustHOCMIM(StopTest(fdr=0.1)).fit(X, y)
    page = selector.report(tmp_path / "page.html", X, y).read_text(encoding="utf-8")
    assert f"For a paper: “{selector.statement()}”" in page
    assert "fdr=0.1" in page
    page = RobustHOCMIM(3).fit(X, y).report(tmp_path / "three.html", X, y)
    assert "For a paper" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("stop", ["chi2", "permutation"])
def test_threads_do_not_change_a_bit(stop):
    X, y = table(5, n_noise=120)
    test = StopTest(fdr=0.2, test=stop, n_permutations=199, random_state=4)
    one, many = (RobustHOCMIM(test, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 4))
    assert len(one.selected_) > 2
    assert one.selected_.tolist() == many.selected_.tolist()
    assert one.p_values_.tolist() == many.p_values_.tolist()
    assert one.stopping_.p_value == many.stopping_.p_value

"""The false-discovery rate of a selection: its levels, its rate, its words."""

from math import inf

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
    Engine,
    RobustHOCMIM,
    StopTest,
    Target,
    load,
    make_selector,
)
from hocmim.coding.codes import Column
from hocmim.errors import InvalidParameterError
from hocmim.information.counting import Joint
from hocmim.search.discovery import discovery_factor
from hocmim.search.stopping import ConditioningSets, Strata, chi2_p_value, redundant_features


def table(seed, n=500, n_useful=8, n_noise=30):
    rng = np.random.default_rng(seed)
    X = rng.integers(3, size=(n, n_useful + n_noise))
    signal = X[:, :n_useful] @ np.linspace(1.2, 0.4, n_useful)
    y = (rng.random(n) < 1 / (1 + np.exp(signal.mean() - signal))).astype(int)
    return X, y


def naive_p_value(codes, target, x, before, q):
    """The p-value of a column given those before it, corrected for its sets."""
    sets = ConditioningSets(x, before, target, redundant_features(x, before, target, q))
    n_rows = len(target.codes)
    return [
        chi2_p_value(Strata(x, target, Joint.of(given, n_rows))) * sets.n_possible for given in sets
    ]


def naive_discoveries(X, y, method, q, max_tries):
    """Each step: test the best candidates, one search each, at the level q k / (m D)."""
    codes, target = encode(X), Column(y.astype(np.uint8), 2)
    selected, adjusted = [], []
    while True:
        failed, ended = [], []
        while len(failed) < max_tries:
            size = len(selected) + 1
            search = make_selector(method, n_features_to_select=size, keep=selected, exclude=failed)
            best = int(search.fit(X, y).selected_[-1])
            factor = (1 + len(failed)) * X.shape[1] / size
            before = [codes.column(j) for j in selected]
            found = inf
            for p_value in naive_p_value(codes, target, codes.column(best), before, q):
                found = min(found, p_value * factor)
                if found <= q:
                    break
            if found <= q:
                selected.append(best)
                adjusted.append(found)
                break
            failed.append(best)
            ended.append(min(found, 1.0))
        else:
            return selected, adjusted, failed, ended


@pytest.mark.parametrize("method", ["HOCMIM-R", "HOCMIM", "JMI", "CMIM", "mRMR"])
@pytest.mark.parametrize(("q", "max_tries"), [(0.05, 4), (0.3, 1)])
def test_levels_are_those_of_the_definition(method, q, max_tries):
    X, y = table(3)
    selected, adjusted, failed, ended = naive_discoveries(X, y, method, q, max_tries)
    test = StopTest(fdr=q, max_tries=max_tries)
    selector = make_selector(method, n_features_to_select=test).fit(X, y)
    assert 2 < len(selected) < 20
    assert selector.selected_.tolist() == selected
    np.testing.assert_allclose(selector.p_values_, adjusted, rtol=1e-12)
    stopping = selector.stopping_
    assert [stopping.index, *(one.index for one in stopping.failures)] == failed
    p_values = [stopping.p_value, *(one.p_value for one in stopping.failures)]
    np.testing.assert_allclose(p_values, ended, rtol=1e-12)


def test_only_significant_features_raise_the_level():
    assert discovery_factor(30, [], 0.1) == 30
    assert discovery_factor(30, [0.01, 0.1], 0.1) == 10
    # Not significant, or selected without a test: neither is a discovery.
    assert discovery_factor(30, [0.01, 0.2, np.nan], 0.1) == 15
    # The third candidate of a step, after two that failed.
    assert discovery_factor(30, [0.01, 0.1], 0.1, 2) == 30


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


@pytest.mark.parametrize("stop", ["chi2", "permutation"])
def test_threads_do_not_change_a_bit(stop):
    X, y = table(5, n_noise=120)
    test = StopTest(fdr=0.2, test=stop, n_permutations=199, random_state=4)
    one, many = (RobustHOCMIM(test, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 4))
    assert len(one.selected_) > 2
    assert one.selected_.tolist() == many.selected_.tolist()
    assert one.p_values_.tolist() == many.p_values_.tolist()
    assert one.stopping_.p_value == many.stopping_.p_value


def test_random_state_decides_the_permutations():
    X, y = table(6, n=200)
    tests = [StopTest(fdr=0.9, test="permutation", random_state=seed) for seed in (0, 0, 1)]
    p_values = [HOCMIM(test).fit(X, y).p_values_.tolist() for test in tests]
    assert p_values[0] == p_values[1] != p_values[2]


def test_it_continues_from_a_checkpoint(tmp_path):
    def interrupt(event):
        if event.n_selected == 3:
            raise InterruptedError

    X, y = table(7)
    whole = JMI(StopTest(fdr=0.2)).fit(X, y)
    assert len(whole.selected_) > 3
    resumed = JMI(StopTest(fdr=0.2), engine=Engine(checkpoint=tmp_path / "run"))
    with pytest.raises(InterruptedError):
        resumed.fit(X, y, progress=interrupt)
    resumed.fit(X, y)
    assert resumed.selected_.tolist() == whole.selected_.tolist()
    assert resumed.p_values_.tolist() == whole.p_values_.tolist()
    with pytest.raises(Exception, match=r"n_features_to_select was .*fdr.*0\.2"):
        JMI(StopTest(fdr=0.1), engine=Engine(checkpoint=tmp_path / "run")).fit(X, y)


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
    assert "(G-tests of conditional independence with Benjamini–Hochberg levels)" in text


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

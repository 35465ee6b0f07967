"""keep and exclude on every method, and wherever a selector is used."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hocmim import (
    JMI,
    MIM,
    Budget,
    Engine,
    FisherScore,
    RobustHOCMIM,
    SelectorCV,
    StabilitySelector,
    StopTest,
    list_methods,
    load,
    make_selector,
)

RNG = np.random.default_rng(5)
N, NAMES = 90, list("abcdefgh")
X = pd.DataFrame(RNG.normal(size=(N, 8)).round(2), columns=NAMES)
Y = (X["a"] + X["b"] + 0.5 * RNG.normal(size=N) > 0).astype(int).rename("y")
KEPT, EXCLUDED = {6, 7}, {0, 3}  # noise is kept, and the best column is excluded
FORMS = {
    "names": {"keep": ["h", "g"], "exclude": ["a", "d"]},
    "indices": {"keep": [7, 6], "exclude": np.array([0, 3])},
    "mask": {"keep": [False] * 6 + [True] * 2, "exclude": np.isin(range(8), [0, 3])},
    "callable": {
        "keep": lambda names: [name for name in names if name > "f"],
        "exclude": lambda names: np.isin(names, ["a", "d"]),
    },
}


def bits(selector):
    return selector.selected_.tolist(), selector.scores_.tobytes(), str(selector.selection_.steps)


def assert_kept(selector, n_selected=4):
    """Kept columns are first, count towards K and are marked; excluded ones are not selected."""
    selected = selector.selected_.tolist()
    assert len(selected) == n_selected
    assert set(selected[:2]) == KEPT
    assert not set(selected) & EXCLUDED
    assert selector.kept_.tolist() == [True, True, *[False] * (n_selected - 2)]


@pytest.mark.parametrize("name", list_methods())
def test_every_method_and_form(name):
    found = [
        make_selector(name, n_features_to_select=4, **limits).fit(X, Y) for limits in FORMS.values()
    ]
    for one in found:
        assert_kept(one)
        assert bits(one) == bits(found[0])


def in_groups(**limits):
    groups = {"pair": ["g", "h"]}
    found = JMI("significant", feature_groups=groups, keep=["pair"], exclude=limits["exclude"])
    found.fit(X, Y)
    assert np.isnan(found.p_values_[:2]).all()
    assert (found.p_values_[2:] <= 0.01).all()
    assert found.selected_.tolist() == [6, 7, 1]
    assert found.kept_.tolist() == [True, True, False]


def with_a_test(**limits):
    found = RobustHOCMIM(StopTest(fdr=0.2), **limits).fit(X, Y)
    assert_kept(found, len(found.selected_))
    assert 1 in found.selected_
    assert "2 features of them were given, not tested. 2 features were excl" in found.statement()


def in_resamples(**limits):
    found = StabilitySelector(JMI(4, **limits), n_resamples=6).fit(X, Y)
    assert (found.frequencies_[[6, 7]] == 1).all()
    assert (found.frequencies_[[0, 3]] == 0).all()


def in_cross_validation(**limits):
    found = SelectorCV([JMI(**limits), FisherScore(**limits)], cv=3, rule="best").fit(X, Y)
    assert set(found.cv_results_["n_features"]) == {2, 3, 4, 5, 6}
    assert_kept(found.selector_, found.best_n_features_)


def in_a_pipeline(**limits):
    scaler = StandardScaler().set_output(transform="pandas")
    found = make_pipeline(scaler, MIM(4, **limits)).fit(X, Y)
    assert_kept(found[-1])


USES = (in_groups, with_a_test, in_resamples, in_cross_validation, in_a_pipeline)


@pytest.mark.parametrize("use", USES)
def test_every_use(use):
    for limits in (FORMS["names"], FORMS["callable"]):
        use(**limits)


def test_codes_on_disk_and_files(tmp_path):
    limits = FORMS["mask"]
    expected = JMI(4, **limits).fit(X, Y)
    stored = JMI(4, engine=Engine(codes_dir=tmp_path / "codes"), **limits).fit(X, Y)
    assert bits(stored) == bits(expected)
    X.assign(y=Y).to_parquet(tmp_path / "table.parquet")
    read = JMI(4, **limits).fit(tmp_path / "table.parquet", "y")
    assert bits(read) == bits(expected)


@pytest.mark.parametrize("name", list_methods())
def test_extend_after_load(name, tmp_path):
    """With what was kept, excluded and paid, to the last bit."""
    limits = {"keep": ["h"], "exclude": ["d"]}
    two, five = 2, 5
    if name not in ("FS-OLS", "Gini"):  # they have no score per unit of cost
        limits["costs"] = [1, 2, 1, 3, 1, 2, 1, 1]
        two, five = Budget(6.5, 2), Budget(6.5, 5)
    longer = make_selector(name, n_features_to_select=five, **limits).fit(X, Y)
    short = make_selector(name, n_features_to_select=two, **limits).fit(X, Y)
    loaded = load(short.save(tmp_path / "model.json"))
    assert bits(loaded.extend(5, X, Y)) == bits(longer)

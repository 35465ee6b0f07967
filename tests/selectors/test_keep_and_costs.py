"""What keep, exclude, costs and Budget may be, and what a fitted selector says about them."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

import hocmim
import warned
from hocmim import Budget, Engine, Target
from hocmim.errors import HocmimWarning, InvalidParameterError, InvalidTableError
from hocmim.selectors.filters._base import Filter
from hocmim.selectors.registry import list_methods, make_selector

pytestmark = pytest.mark.filterwarnings(warned.LEAK)

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
FILTERS = [name for name in list_methods() if isinstance(make_selector(name), Filter)]
NAMES = X.columns.to_numpy()


def bits(selector):
    return selector.selected_.tolist(), selector.scores_.tobytes(), str(selector.selection_.steps)


@pytest.mark.parametrize(
    "keep",
    [
        ["mean texture", "mean area"],
        [1, 3],
        np.array([3, 1]),
        ["mean texture", 3],
        NAMES[[1, 3]],
        pd.Index(["mean texture", "mean area"]),
        np.isin(np.arange(30), [1, 3]),
        np.isin(np.arange(30), [1, 3]).tolist(),
        lambda names: ["mean texture", "mean area"],
        lambda names: np.isin(names, ["mean texture", "mean area"]),
    ],
)
def test_forms_of_keep_and_exclude(keep):
    expected = {1, 3}
    found = hocmim.JMI(5, keep=keep).fit(X, Y)
    assert set(found.selected_[:2].tolist()) == expected
    assert found.kept_.tolist() == [True, True, False, False, False]
    others = hocmim.JMI(28, exclude=keep).fit(X, Y)
    assert not expected & set(others.selected_.tolist())


def test_one_name_or_index():
    assert hocmim.JMI(2, keep="mean texture").fit(X, Y).selected_[0] == 1
    assert hocmim.JMI(2, keep=1).fit(X.to_numpy(), Y).selected_[0] == 1
    assert hocmim.JMI(2, keep=[]).fit(X, Y).kept_.sum() == 0


def test_a_callable_gets_indices_if_there_are_no_names():
    found = hocmim.JMI(2, keep=lambda names: names[names == 7]).fit(X.to_numpy(), Y)
    assert found.selected_[0] == 7


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"keep": ["mean textur"]}, "Did you mean 'mean texture'"),
        ({"keep": [30]}, "keep has 30. Give a column by its name, or by its index from 0 to 29"),
        ({"exclude": [-1]}, "exclude has -1. Give a column by its name"),
        ({"keep": 1.5}, "keep must be names or indices of columns"),
        ({"keep": [1.5]}, "keep has 1.5. Give a column by its name"),
        ({"keep": {"mean area": 1}}, "keep must be names or indices of columns"),
        ({"keep": [True, False]}, "a mask of 2 booleans, but X has 30 columns"),
        ({"keep": [3], "exclude": ["mean area"]}, "'mean area' is in keep and in exclude"),
        ({"exclude": range(30)}, "exclude has all columns"),
        ({"keep": range(4)}, "keep has 4 features, and n_features_to_select is 3"),
        ({"costs": np.ones(29)}, "one positive number for each of the 30 columns"),
        ({"costs": 3}, "one positive number for each of the 30 columns"),
        ({"costs": {"mean area": 0}}, "The cost of column 'mean area' is 0"),
        ({"costs": {"mean area": np.nan}}, "costs must be positive"),
        ({"costs": {"area": 1}}, "costs has the column 'area', but X has no column"),
        ({"costs": {"mean area": "3"}}, "costs must be positive numbers"),
    ],
)
@pytest.mark.parametrize("name", ["JMI", "FisherScore"])
def test_errors(name, parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        getattr(hocmim, name)(3, **parameters).fit(X, Y)


@pytest.mark.parametrize("name", ["JMI", "FisherScore"])
def test_errors_of_budgets(name):
    make = getattr(hocmim, name)
    for selector, message in [
        (make(Budget(3)), "the columns have no costs"),
        (make(Budget(0.5), costs=np.ones(30)), "the cheapest column costs 1"),
        (make(Budget(3), costs=np.full(30, 2), keep=[1, 2]), "keep cost 4, more than"),
    ]:
        with pytest.raises(InvalidParameterError, match=message):
            selector.fit(X, Y)
    for given in ((0,), (-1,), (3, 0), ("3",)):
        with pytest.raises(InvalidParameterError, match="must be"):
            Budget(*given)


def test_a_number_larger_than_that_of_the_candidates_is_clipped():
    for asked in (3, 10, 40):
        for name in ("JMI", "FisherScore"):
            selector = getattr(hocmim, name)(asked, exclude=range(28))
            message = f"n_features_to_select is {asked}, but only 2 features can be selected"
            with pytest.warns(HocmimWarning, match=message):
                assert selector.fit(X, Y).n_features_ == 2
    with pytest.warns(HocmimWarning, match="n_features_to_select is 31, but only 30 features"):
        stable = hocmim.StabilitySelector(hocmim.MIM(5), 4, n_features_to_select=31).fit(X, Y)
    assert stable.n_features_ == 30


def test_names_need_names():
    with pytest.raises(InvalidParameterError, match="have no names"):
        hocmim.JMI(3, keep=["a"]).fit(X.to_numpy(), Y)


def test_forms_of_costs():
    costs = np.arange(1, 31) / 2
    forms = [costs, costs.tolist(), dict(zip(NAMES, costs, strict=True)), pd.Series(costs, NAMES)]
    found = [bits(hocmim.CMIM(6, costs=form).fit(X, Y)) for form in forms]
    assert found[1:] == found[:1] * 3
    some = hocmim.CMIM(6, costs={"mean area": 3, 5: 2.5}).fit(X, Y)
    assert some.selection_.spending.costs[[0, 3, 5]].tolist() == [1, 3, 2.5]


def test_equal_costs_change_nothing():
    for name in ("JMI", "HOCMIM", "RobustHOCMIM", "CMIM3"):
        plain = getattr(hocmim, name)(6).fit(X, Y)
        costed = getattr(hocmim, name)(6, costs=np.full(30, 7.0)).fit(X, Y)
        assert bits(costed) == bits(plain)
        assert costed.total_cost_ == 42


def test_keeping_what_is_selected_first_changes_nothing():
    for name in ("JMI", "HOCMIM", "RobustHOCMIM", "CMIM3"):
        plain = getattr(hocmim, name)(6).fit(X, Y)
        first = plain.selected_[0]
        kept = getattr(hocmim, name)(6, keep=[first]).fit(X, Y)
        assert kept.selected_.tolist() == plain.selected_.tolist()
        assert kept.scores_.tobytes() == plain.scores_.tobytes()


def test_groups():
    groups = {"sizes": ["mean radius", "mean area"], "worst": ["worst radius", "worst area"]}
    costs = {"mean radius": 2, "worst": 9}
    found = hocmim.JMI(
        Budget(20, 4), feature_groups=groups, keep=["mean area"], exclude=["worst"], costs=costs
    ).fit(X, Y)
    assert found.selected_[:2].tolist() == [0, 3]
    assert found.kept_.tolist() == [True, True, *[False] * 3]
    assert not {20, 23} & set(found.selected_.tolist())
    assert found.total_cost_ == 2 + 1 + 3
    spending = found.selection_.spending
    assert spending.costs[found.features_.find("worst")] == 9


def test_as_many_as_the_budget_pays_for():
    found = hocmim.JMI(Budget(9), costs=np.full(30, 2.0)).fit(X, Y)
    assert (found.n_features_, found.total_cost_) == (4, 8)
    assert found.stopping_.reason == "over budget"
    assert hocmim.JMI(Budget(30), costs=np.ones(30)).fit(X, Y).n_features_ == 30
    assert not hasattr(hocmim.JMI(3).fit(X, Y), "total_cost_")


def test_row_source_and_codes_on_disk(tmp_path):
    pytest.importorskip("pyarrow")
    file = tmp_path / "table.parquet"
    X.assign(y=Y).to_parquet(file)
    limits = {"keep": ["mean texture"], "exclude": [0], "costs": np.arange(1, 31)}
    here = hocmim.RobustHOCMIM(Budget(60, 5), **limits).fit(X, Y)
    engine = Engine(codes_dir=tmp_path / "codes")
    there = hocmim.RobustHOCMIM(Budget(60, 5), engine=engine, **limits).fit(file, "y")
    assert bits(there) == bits(here)
    assert bits(there.extend(7)) == bits(here.extend(7))


# --- extend ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list_methods())
def test_extend_gives_the_bits_of_a_longer_run(name):
    limits = {"max_samples": 100} if name == "NCA" else {}
    limits |= {"keep": [1], "exclude": [22]}
    longer = make_selector(name, n_features_to_select=6, **limits).fit(X, Y)
    found = make_selector(name, n_features_to_select=3, **limits).fit(X, Y)
    first = found.selected_.tolist()
    table = (X, Y) if name == "FS-OLS" else ()
    assert found.extend(3, *table).selected_.tolist() == first
    found.extend(4, *table).extend(6, *table)
    assert bits(found) == bits(longer)
    assert found.ranking_.tolist() == longer.ranking_.tolist()
    assert found.n_features_to_select == 3
    if hasattr(longer, "trace_"):
        assert str(found.trace_) == str(longer.trace_)
        assert str(found.explain(0, X)) == str(longer.explain(0, X))
        assert str(found.explain(found.selected_[-1])) == str(longer.explain(found.selected_[-1]))


def test_copies_extend_with_the_table():
    longer = bits(hocmim.HOCMIM(6).fit(X, Y))
    for copied in (
        pickle.loads(pickle.dumps(hocmim.HOCMIM(3).fit(X, Y))),
        copy.deepcopy(hocmim.HOCMIM(3).fit(X, Y)),
    ):
        with pytest.raises(InvalidParameterError, match=r"as in extend\(k, X, y\)"):
            copied.extend(6)
        assert bits(copied.extend(6, X, Y)) == longer
        assert bits(copied.extend(7)) == bits(hocmim.HOCMIM(7).fit(X, Y))


def test_codes_are_not_pickled():
    wide = np.random.default_rng(0).integers(5, size=(500, 2000))
    y = wide[:, 0] > 1
    found = hocmim.MIM(2).fit(wide, y)
    assert len(pickle.dumps(found)) < wide.size


def test_codes_beyond_the_limit_are_not_kept(monkeypatch):
    monkeypatch.setattr("hocmim.coding.encoded.MAX_KEPT_BYTES", len(X) * 30 - 1)
    found = hocmim.JMI(3).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="does not have the codes"):
        found.extend(4)
    monkeypatch.setattr("hocmim.coding.encoded.MAX_KEPT_BYTES", len(X) * 30)
    assert hocmim.JMI(3).fit(X, Y).extend(4).n_features_ == 4


def test_extend_needs_the_table_of_the_fit():
    found = hocmim.JMI(3).fit(X, Y)
    before = bits(found)
    for other in ((X.iloc[::-1], Y), (X.iloc[:, :9], Y), (X.iloc[:, ::-1], Y)):
        with pytest.raises(InvalidTableError, match="not the table the selector was fitted on"):
            found.extend(5, *other)
        assert bits(found) == before
    assert bits(found.extend(5)) == bits(hocmim.JMI(5).fit(X, Y))


@pytest.mark.parametrize("k", [2, 4.0, "significant", None, True])
def test_bad_extensions(k):
    for found in (hocmim.JMI(3).fit(X, Y), hocmim.FisherScore(3).fit(X, Y)):
        with pytest.raises(
            InvalidParameterError, match=r"k must be an int in the range \[3, inf\)"
        ):
            found.extend(k)


@pytest.mark.parametrize("method", [hocmim.JMI, hocmim.FisherScore])
@pytest.mark.parametrize("n_columns", [1, 30])
def test_an_extension_past_the_last_column_is_clipped(method, n_columns):
    table = X.iloc[:, :n_columns]
    found = method(1).fit(table, Y)
    with pytest.warns(UserWarning, match=rf"k is 31, but only {n_columns} feature"):
        found.extend(31)
    assert bits(found) == bits(method(n_columns).fit(table, Y))


def test_extend_past_the_stop_of_a_test():
    found = hocmim.JMI("significant").fit(X, Y)
    n_tested = found.n_features_
    assert hasattr(found, "p_values_")
    found.extend(n_tested + 3)
    assert bits(found) == bits(hocmim.JMI(n_tested + 3).fit(X, Y))
    assert found.stopping_ is None
    assert not hasattr(found, "p_values_")
    assert found.fit(X, Y).n_features_ == n_tested


def test_extend_stays_within_the_budget():
    costs = np.full(30, 2.0)
    found = hocmim.JMI(Budget(9, 2), costs=costs).fit(X, Y).extend(20)
    assert bits(found) == bits(hocmim.JMI(Budget(9), costs=costs).fit(X, Y))
    assert found.n_features_ == 4


def test_extend_writes_to_the_checkpoint(tmp_path):
    file = tmp_path / "checkpoint"
    found = hocmim.JMI(3, engine=Engine(checkpoint=file)).fit(X, Y).extend(5)
    assert bits(found) == bits(hocmim.JMI(5).fit(X, Y))
    assert bits(hocmim.JMI(5, engine=Engine(checkpoint=file)).fit(X, Y)) == bits(found)
    file.unlink()
    assert bits(found.extend(7)) == bits(hocmim.JMI(7).fit(X, Y))


def test_extend_with_weights_and_several_targets():
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    longer = bits(hocmim.JMI(5).fit(X, Y, weights))
    assert bits(hocmim.JMI(3).fit(X, Y, weights).extend(5)) == longer
    assert bits(hocmim.JMI(3).fit(X, Y, weights).extend(5, X, Y, weights)) == longer
    several = np.column_stack([Y, X["mean area"] > 500])
    for strategy in ("joint", "mean"):
        settings = {"target": Target(strategy=strategy), "keep": [2]}
        longer = bits(hocmim.JMI(5, **settings).fit(X, several))
        assert bits(hocmim.JMI(3, **settings).fit(X, several).extend(5)) == longer


# --- filters --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILTERS)
def test_filters_keep_and_exclude(name):
    plain = make_selector(name, n_features_to_select=30).fit(X, Y)
    found = make_selector(name, n_features_to_select=5, keep=[9, 11], exclude=[7, 27]).fit(X, Y)
    assert set(found.selected_[:2].tolist()) == {9, 11}
    assert found.kept_.tolist() == [True, True, False, False, False]
    assert sorted(found.ranking_[[7, 27]].tolist()) == [29, 30]
    assert found.selection_.closed == (7, 27)
    if name != "FS-OLS":  # which selects given what is kept
        rest = [j for j in plain.selected_.tolist() if j not in (7, 9, 11, 27)]
        assert found.selected_[2:].tolist() == rest[:3]


@pytest.mark.parametrize("name", FILTERS)
def test_filters_with_costs(name):
    costs = np.random.default_rng(0).choice([1.0, 3.0, 8.0], 30)
    selector = make_selector(name, n_features_to_select=Budget(20, 15), costs=costs)
    if name in ("FS-OLS", "Gini"):
        with pytest.raises(InvalidParameterError, match="no score per unit of cost"):
            selector.fit(X, Y)
        return
    found = selector.fit(X, Y)
    scores = found.feature_scores_
    merit = np.where(scores > 0, scores / costs, scores * costs)
    expected, left = [], 20.0
    for j in sorted(range(30), key=lambda j: -merit[j]):
        if costs[j] <= left:
            expected.append(j)
            left -= costs[j]
    assert found.selected_.tolist() == expected
    assert found.total_cost_ == costs[expected].sum()


def test_fs_ols_selects_given_what_is_kept():
    """As fastcan does with ``indices_include``."""
    fastcan = pytest.importorskip("fastcan")
    found = hocmim.FSOLS(6, keep=[9, 11]).fit(X, Y)
    include = found.selected_[:2]
    reference = fastcan.FastCan(6, indices_include=include, verbose=0).fit(X, Y.to_frame())
    assert found.selected_.tolist() == reference.indices_.tolist()
    np.testing.assert_allclose(found.scores_, reference.scores_, rtol=0, atol=1e-9)


def test_fs_ols_keeps_columns_that_add_nothing():
    table = X.assign(constant=1.0, copy=X["mean area"])
    found = hocmim.FSOLS(6, keep=["constant", "copy", "mean area"]).fit(table, Y)
    assert {3, 30, 31} == set(found.selected_[:3].tolist())
    assert found.kept_.sum() == 3
    assert found.n_features_ == 6


# --- what scikit-learn's selectors have -----------------------------------------------------------


def every_selector():
    for name in list_methods():
        yield make_selector(name, n_features_to_select=4)
    yield hocmim.StabilitySelector(hocmim.JMI(4), n_resamples=5)


@pytest.mark.parametrize("selector", [*every_selector()], ids=lambda s: type(s).__name__)
def test_support_and_inverse_transform(selector):
    assert not hasattr(selector, "support_")
    assert not hasattr(clone(selector), "n_features_")
    few = X.iloc[::4]
    selector.fit(few, Y.iloc[::4])
    assert selector.support_.dtype == bool
    assert np.flatnonzero(selector.support_).tolist() == sorted(selector.selected_.tolist())
    assert selector.get_support(indices=True).tolist() == sorted(selector.selected_.tolist())
    assert selector.n_features_ == selector.support_.sum() == len(selector.selected_)
    back = selector.inverse_transform(selector.transform(few))
    assert isinstance(back, np.ndarray)
    np.testing.assert_array_equal(back, few.to_numpy() * selector.support_)

"""What explanations and pages say of kept columns, costs and budgets."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import hocmim
from hocmim import Budget

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


def test_kept_and_excluded_columns_are_explained():
    found = hocmim.JMI(4, keep=["mean texture"], exclude=["worst area"]).fit(X, Y)
    assert found.explain("mean texture").reason.startswith(
        "JMI selected 'mean texture' as number 1 of 4 because it is in keep."
    )
    assert found.explain("worst area", X).reason.startswith(
        "JMI could not select 'worst area': it is in exclude."
    )
    assert "was the largest" in found.explain(int(found.selected_[1])).reason
    rows = [row for row in found.trace_ if row["place"] == 1]
    assert [bool(row["kept"]) for row in rows] == [True, False, False, False]
    assert "kept" in str(found.trace_)


def test_in_steps_of_kept_columns_others_are_not_compared():
    """A column with a larger score than a kept one did not come closest there."""
    found = hocmim.JMI(4, keep=["smoothness error"]).fit(X, Y)
    best = found.explain("worst area", X)
    assert best.steps[0].score > best.steps[0].best_score
    assert "in step 1" not in best.reason
    assert best.steps[1].score < best.steps[1].best_score
    only = hocmim.JMI(2, keep=[1, 9]).fit(X, Y)
    assert "the features in keep are as many" in only.explain(0, X).reason


def test_costs_are_explained():
    costs = dict.fromkeys(X.columns[20:], 6.0)
    found = hocmim.JMI(Budget(5), costs=costs).fit(X, Y)
    first = found.explain(int(found.selected_[0])).reason
    assert "its score per unit of cost" in first
    assert "and its cost 1." in first
    stopped = found.explain(found.stopping_.index, X).reason
    assert "but it costs" in stopped
    assert "0 is left of the budget" in stopped
    expensive = found.explain("worst area", X).reason
    assert "per unit of cost was never the largest" in expensive


def test_a_column_that_would_have_won_but_for_the_budget():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    table = np.column_stack([np.where(rng.random(400) < p, y, 1 - y) for p in (0.9, 0.88, 0.7)])
    found = hocmim.MIM(Budget(2, n_features=2), costs=[1.0, 2.0, 1.0]).fit(table, y)
    assert found.selected_.tolist() == [0, 2]
    assert found.explain(1, table).reason.startswith(
        "MIM did not select '1': it costs 2, and 1 was left of the budget in step 2, where its "
        "score per unit of cost was the largest."
    )


def page_of(selector, tmp_path):
    pytest.importorskip("jinja2")
    return selector.report(tmp_path / "page.html", X, Y).read_text("utf-8")


@pytest.mark.parametrize("name", ["JMI", "FisherScore"])
def test_report(name, tmp_path):
    costs = np.arange(1, 31) / 2
    limits = {"keep": ["mean texture"], "exclude": ["worst area", 0], "costs": costs}
    found = getattr(hocmim, name)(Budget(30, n_features=5), **limits).fit(X, Y)
    page = page_of(found, tmp_path)
    assert "1 feature was kept" in page
    assert "2 features were excluded" in page
    assert f"The selected features cost {found.total_cost_:g} of a budget of 30." in page
    assert ">Cost</th>" in page
    assert '<span class="tag">kept</span>' in page
    assert "it is in exclude" in page


def test_report_without_costs(tmp_path):
    page = page_of(hocmim.JMI(3).fit(X, Y), tmp_path)
    assert ">Cost</th>" not in page
    assert "kept</span>" not in page


def test_report_of_a_budget_that_ended_the_selection(tmp_path):
    page = page_of(hocmim.JMI(Budget(10), costs=np.full(30, 3)).fit(X, Y), tmp_path)
    assert "no other feature can be paid for" in page

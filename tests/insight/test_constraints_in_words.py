"""What explanations, pictures, pages and commands say of kept columns, costs and budgets."""

import json

import matplotlib
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer

import hocmim
from hocmim.cli import main
from hocmim.errors import InvalidParameterError

matplotlib.use("Agg")
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
    assert "kept" in found.trace_._repr_html_()
    assert "kept" in found.selection_._repr_html_()


def test_steps_of_kept_columns_are_no_contests():
    """A column with a larger score than a kept one did not come closest there."""
    found = hocmim.JMI(4, keep=["smoothness error"]).fit(X, Y)
    best = found.explain("worst area", X)
    assert best.contests[0].score > best.contests[0].taken_score
    assert "in step 1" not in best.reason
    assert best.contests[1].score < best.contests[1].taken_score
    only = hocmim.JMI(2, keep=[1, 9]).fit(X, Y)
    assert "the features in keep are as many" in only.explain(0, X).reason


def test_costs_are_explained():
    costs = dict.fromkeys(X.columns[20:], 6.0)
    found = hocmim.JMI(None, costs=costs, budget=5).fit(X, Y)
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
    found = hocmim.MIM(2, costs=[1.0, 2.0, 1.0], budget=2).fit(table, y)
    assert found.selected_.tolist() == [0, 2]
    assert found.explain(1, table).reason.startswith(
        "MIM did not select '1': it costs 2, and 1 was left of the budget in step 2, where its "
        "score per unit of cost was the largest."
    )


def test_picture_of_costs():
    pytest.importorskip("matplotlib")
    found = hocmim.JMI(4, costs=np.arange(1, 31), budget=60).fit(X, Y)
    ax = found.plot_cost_curve()
    drawn = ax.lines[0].get_xdata()
    assert drawn.tolist() == [0, *np.cumsum(found.selected_ + 1).tolist()]
    assert "budget" in [line.get_label() for line in ax.lines]
    with pytest.raises(InvalidParameterError, match="no costs to draw"):
        hocmim.JMI(4).fit(X, Y).plot_cost_curve()


def page_of(selector, tmp_path):
    pytest.importorskip("jinja2")
    return selector.report(tmp_path / "page.html", X, Y).read_text("utf-8")


@pytest.mark.parametrize("name", ["JMI", "FisherScore"])
def test_report(name, tmp_path):
    costs = np.arange(1, 31) / 2
    limits = {"keep": ["mean texture"], "exclude": ["worst area", 0], "costs": costs, "budget": 30}
    found = getattr(hocmim, name)(5, **limits).fit(X, Y)
    page = page_of(found, tmp_path)
    assert "1 feature was kept" in page
    assert "2 features were excluded" in page
    assert f"The selected features cost {found.total_cost_:g} of a budget of 30." in page
    assert 'id="cost-chart"' in page
    assert "drawCosts" in page
    assert '<span class="tag">kept</span>' in page
    assert "it is in exclude" in page


def test_report_without_costs(tmp_path):
    page = page_of(hocmim.JMI(3).fit(X, Y), tmp_path)
    assert 'id="cost-chart"' not in page
    assert "kept</span>" not in page


def test_report_of_a_budget_that_ended_the_selection(tmp_path):
    page = page_of(hocmim.JMI(None, costs=np.full(30, 3), budget=10).fit(X, Y), tmp_path)
    assert "no other feature can be paid for" in page


# --- commands -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "cells.csv"
    X.assign(target=Y).to_csv(path, index=False)
    return str(path)


def run(*arguments, exit_code=0):
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == exit_code, done.output
    return done


def selected(file, *options):
    done = run("select", file, "-t", "target", "-q", "--json", "-", *options)
    return json.loads(done.stdout)


def test_select_with_kept_and_excluded_columns(file):
    found = selected(file, "-k", "4", "--keep", "mean texture", "--exclude", "worst area,mean area")
    expected = hocmim.RobustHOCMIM(
        4, keep=["mean texture"], exclude=["worst area", "mean area"]
    ).fit(X, Y)
    assert found["columns"] == X.columns[expected.selected_].tolist()
    assert [row["kept"] for row in found["selected"]] == [True, False, False, False]
    table = run("select", file, "-t", "target", "-k", "2", "--keep", "mean texture").stdout
    assert table.splitlines()[0].split("\t")[5] == "kept"
    auto = selected(file, "-k", "auto", "--keep", "mean texture,mean area")
    assert [row["p_value"] is None for row in auto["selected"]][:3] == [True, True, False]


def test_select_with_costs(file, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("name,cost\nworst area,7\nworst radius,3\nnot in the table,9\n")
    found = selected(file, "--costs", str(costs), "--budget", "5")
    again = selected(file, "--costs", "worst area=7,worst radius=3", "--budget", "5")
    assert found["selected"] == again["selected"]
    assert found["total_cost"] == 5
    assert found["stopped"]["reason"] == "over budget"
    assert sum(row["cost"] for row in found["selected"]) == 5
    text = run("select", file, "-t", "target", "--costs", str(costs), "--budget", "5").output
    assert "The selected columns cost 5." in text
    assert "no other column can be paid for" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--costs", "worst area=x"], "'x' is not a number"),
        (["--costs", "worst are=3"], "Did you mean 'worst area'"),
        (["--budget", "3"], "Pass costs too"),
        (["--keep", "mean textur"], "Did you mean 'mean texture'"),
        (["-k", "1", "--keep", "mean texture,mean area"], "Pass at least 2"),
    ],
)
def test_errors_of_the_command_line(file, options, message):
    done = CliRunner().invoke(main, ["select", file, "-t", "target", *options])
    assert done.exit_code != 0
    assert message in " ".join(done.output.split())


def test_a_file_of_costs_without_the_columns(file, tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("column,price\nworst area,7\n")
    done = CliRunner().invoke(main, ["select", file, "-t", "target", "--costs", str(costs)])
    assert done.exit_code != 0
    assert "must have the columns name and cost" in " ".join(done.output.split())


def test_compare_and_explain_take_them_too(file):
    options = ["--keep", "mean texture", "--exclude", "worst area"]
    done = run("compare", file, "-t", "target", "-k", "3", "--methods", "MIM,Fisher", "-q",
               "--resamples", "0", "--folds", "2", *options)  # fmt: skip
    assert "worst area" not in done.stdout
    assert done.stdout.count("mean texture") >= 2
    done = run("explain", file, "-t", "target", "-f", "worst area", "-k", "3", "-q", *options)
    assert "it is in exclude" in done.stdout

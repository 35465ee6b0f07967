"""Commands with columns to keep and to exclude, costs and a budget."""

import json

import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer

import hocmim
from hocmim.cli import main

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


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
    auto = selected(file, "-k", "significant", "--keep", "mean texture,mean area")
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
               "--n-resamples", "0", "--cv", "2", *options)  # fmt: skip
    assert "worst area" not in done.stdout
    assert done.stdout.count("mean texture") >= 2
    done = run("explain", file, "-t", "target", "-f", "worst area", "-k", "3", "-q", *options)
    assert "it is in exclude" in done.stdout

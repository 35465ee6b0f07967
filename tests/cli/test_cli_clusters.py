"""Clusters and substitutes on the command line."""

import json

import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer

from hocmim import cluster_columns
from hocmim.cli import main

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "cancer.csv"
    X.assign(diagnosis=Y).to_csv(path, index=False)
    return str(path)


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def test_the_clusters_of_a_table(file):
    found = json.loads(run("clusters", file, "-t", "diagnosis", "-q", "--json", "-").stdout)
    expected = cluster_columns(X, Y)
    names = [each["representative"] for each in found["clusters"]]
    assert sorted(names) == sorted(X.columns[expected.representatives])
    assert sum(len(each["columns"]) for each in found["clusters"]) == 30
    lines = run("clusters", file, "-t", "diagnosis", "-q").stdout.splitlines()
    assert lines[0].split("\t") == ["columns", "representative", "others"]
    assert lines[1].startswith("6\tworst perimeter\tworst radius")


def test_one_column_per_cluster_is_selected_from(file):
    arguments = ("-t", "diagnosis", "-k", "20", "--one-per-cluster", "0.6", "-q")
    lines = run("select", file, *arguments).stdout.splitlines()[1:]
    chosen = [line.split("\t")[1] for line in lines]
    assert sorted(chosen) == sorted(X.columns[cluster_columns(X, Y).representatives])
    run("select", file, "-t", "diagnosis", "-k", "21", "--one-per-cluster", "0.6", code=2)


def test_explain_shows_substitutes(file):
    arguments = ("-t", "diagnosis", "-k", "8", "-f", "worst perimeter", "-q")
    text = run("explain", file, *arguments, "--substitutes", "2").stdout
    assert "'worst perimeter' can be replaced by 'worst radius'" in text
    assert "can be replaced" not in run("explain", file, *arguments).stdout
    found = json.loads(run("explain", file, *arguments, "--substitutes", "2", "--json", "-").stdout)
    assert [row["feature"] for row in found["substitutes"][0]["rows"]] == [
        "worst radius",
        "worst area",
    ]


def test_what_cannot_be_combined(file):
    arguments = ("select", file, "-t", "diagnosis", "--one-per-cluster", "0.6")
    result = run(*arguments, "--group", "g=mean area,mean radius", code=2)
    assert "cannot be used with --group" in result.output
    run("select", file, "-t", "diagnosis", "--one-per-cluster", "2", code=2)

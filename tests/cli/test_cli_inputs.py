"""Tables, columns, weights and methods as they are named on the command line."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import hocmim
from hocmim.cli import main
from hocmim.data.files import read_table

CRITERION = """
import hocmim

class Scaled(hocmim.Criterion):
    def __init__(self, factor=1.0, estimator="plugin"):
        super().__init__(estimator)
        self.factor = factor

    def scores(self):
        return self.factor * self.relevance
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    rng = np.random.default_rng(0)
    y = rng.random(150) < 0.2
    table = pd.DataFrame({f"x{j}": rng.integers(0, 3, 150) + (j == 2) * y for j in range(5)})
    table["a,b"] = rng.integers(0, 2, 150)
    table["w"] = rng.random(150).round(3) + 0.001
    table["y"] = np.where(y, "ill", "well")
    table.to_csv("t.csv", index=False)
    (tmp_path / "mine.py").write_text(CRITERION)
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def selected(*arguments):
    found = json.loads(run("select", *arguments, "-t", "y", "-q", "--json", "-").stdout)
    return found["columns"], found


def test_features_is_the_long_name_of_k(folder):
    for name in ("-k", "--features"):
        assert len(selected("t.csv", name, 3)[0]) == 3
    found = run("compare", "t.csv", "-t", "y", "--features", 2, "--resamples", 0, "--folds", 2,
                "--methods", "MIM", "--json", "-")  # fmt: skip
    assert len(json.loads(found.stdout)["methods"][0]["selected"]) == 2


def test_drop_takes_several_columns(folder):
    columns, _ = selected("t.csv", "--drop", "x0,x1", "--drop", "w", "-k", 4)
    assert set(columns) == {"x2", "x3", "x4", "a,b"}
    columns, _ = selected("t.csv", "--drop", "a,b", "-k", 6)
    assert set(columns) == {"x0", "x1", "x2", "x3", "x4", "w"}
    said = run("select", "t.csv", "-t", "y", "--drop", "x0,z1", code=2).stderr
    assert "no column 'z1'" in said


@pytest.mark.parametrize("command", ["select", "explain", "report"])
def test_weights_of_a_column(folder, command):
    end = {"explain": ("-f", "x2"), "report": ("-o", "r.html"), "select": ()}[command]
    run(command, "t.csv", "-t", "y", "--weights", "w", "-k", 2, *end)


def test_weights_are_those_of_the_library(folder):
    columns, found = selected("t.csv", "--weights", "w", "-k", 3)
    assert found["n_features"] == 6
    table = read_table("t.csv")
    X, y = table.drop_columns(["w", "y"]), table.column("y").to_numpy()
    w = table.column("w").to_numpy()
    expected = hocmim.RobustHOCMIM(3).fit(X, y, sample_weight=w)
    assert columns == [X.column_names[j] for j in expected.selected_]
    assert [row["score"] for row in found["selected"]] == expected.scores_.tolist()
    _, found = selected("t.csv", "--drop", "w", "--weights", "balanced", "-k", 3)
    expected = hocmim.RobustHOCMIM(3).fit(X, y, sample_weight="balanced")
    assert [row["score"] for row in found["selected"]] == expected.scores_.tolist()
    assert "'a,b'" not in run("select", "t.csv", "-t", "y", "--weights", "y2", code=2).stdout
    said = run("select", "t.csv", "-t", "y", "--weights", "x0", "-m", "ReliefF", code=2).stderr
    assert "ReliefF takes no --weights" in said
    said = run("select", "t.csv", "-t", "x0", "--weights", "y", code=2).stderr
    assert "The weights 'y' must be numbers. They are text." in said


def test_a_table_of_a_database_and_a_sheet(folder):
    with sqlite3.connect("t.db") as database:
        pd.read_csv("t.csv").to_sql("t", database, index=False)
    database.close()
    expected, _ = selected("t.csv", "-k", 3)
    columns, found = selected("sqlite:///t.db?table=t", "-k", 3)
    assert columns == expected
    assert found["file"] == "sqlite:///t.db?table=t"
    said = run("select", "sqlite:///t.db", code=2).stderr
    assert "sqlite:///t.db has 'x0', 'x1'" in said


def test_a_criterion_of_ones_own(folder):
    columns, found = selected("t.csv", "-m", "mine:Scaled", "--set", "factor=2.0", "-k", 2)
    table = read_table("t.csv")
    X, y = table.drop_columns("y"), table.column("y").to_numpy()
    expected = hocmim.MIM(2, estimator="plugin").fit(X, y)
    assert columns == [X.column_names[j] for j in expected.selected_]
    assert found["method"] == "Scaled"
    scores = [row["score"] for row in found["selected"]]
    assert scores == pytest.approx((2 * expected.scores_).tolist())
    wrong = {
        "mnie:Scaled": "no module 'mnie'",
        "mine:Scald": "no class 'Scald' in the module 'mine'. Did you mean 'Scaled'",
        "json:JSONDecoder": "must be a subclass of hocmim.Criterion",
    }
    for method, message in wrong.items():
        assert message in run("select", "t.csv", "-t", "y", "-m", method, code=2).stderr
    said = run("select", "t.csv", "-t", "y", "-m", "mine:Scaled", "--set", "fcator=2", code=2)
    assert "mine:Scaled: " in said.stderr
    assert "fcator" in said.stderr


@pytest.mark.slow
def test_a_criterion_of_ones_own_in_an_experiment(folder):
    (folder / "e.toml").write_text(
        '[run]\nout = "out"\nsplits = 1\nn_features = 2\n[[dataset]]\npath = "t.csv"\n'
        '[[method]]\nname = "mine"\nmethod = "mine:Scaled"\nparameters = { factor = 3.0 }\n'
        '[[method]]\nname = "MIM"\n'
    )
    run("bench", "run", "e.toml", "--jobs", 2)
    assert "| mine" in (folder / "out" / "tables" / "times.md").read_text()


@pytest.mark.parametrize("method", ["Fisher", "ReliefF", "Kruskal-Wallis"])
def test_a_report_of_a_filter(folder, method):
    run("report", "t.csv", "-t", "y", "-k", 2, "-m", method, "-o", "r.html", "-q")
    page = (folder / "r.html").read_text()
    assert f"{method} selected 2 of 7 features" in page
    assert f"{method} ranks all features and selects the best 2." in page


def test_a_report_of_a_filter_takes_no_weights(folder):
    command = ("report", "t.csv", "-t", "y", "-k", 2, "-m", "Fisher", "-o", "r.html")
    assert "takes no --weights" in run(*command, "--weights", "w", code=2).stderr

"""``hocmim compare``: parameters and variants of methods, selected names, complete tables."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import hocmim
from hocmim.cli import main
from hocmim.data.files import read_table

LONG = "a column with a name that is much longer than a narrow terminal can show"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 120)
    table = pd.DataFrame({f"x{j}": rng.normal(size=120) + 0.4 * j * y for j in range(11)})
    table[LONG] = rng.normal(size=120) + 5 * y
    table["y"] = y
    table.to_csv("t.csv", index=False)
    return tmp_path


def run(*arguments, code=0, env=None):
    command = ("compare", "t.csv", "-t", "y", "--folds", 2, "--resamples", 2, *arguments)
    result = CliRunner().invoke(main, [str(argument) for argument in command], env=env)
    assert result.exit_code == code, result.output
    return result


def methods_of(*arguments):
    found = json.loads(run(*arguments, "--json", "-").stdout)
    return {method["method"]: method for method in found["methods"]}


def test_variants_of_one_method(folder):
    found = methods_of(
        "-k", 3, "--methods", "MIM, HOCMIM(max_order=1)", "--methods", "HOCMIM(max_order=2,tol=.1)"
    )
    assert list(found) == ["MIM", "HOCMIM(max_order=1)", "HOCMIM(max_order=2,tol=0.1)"]
    assert found["HOCMIM(max_order=2,tol=0.1)"]["parameters"]["max_order"] == 2
    table = read_table("t.csv")
    X, y = table.drop_columns("y"), table.column("y").to_numpy()
    selector = hocmim.HOCMIM(3, max_order=1).fit(X, y)
    names = [X.column_names[j] for j in selector.selected_]
    assert found["HOCMIM(max_order=1)"]["selected"] == names


def test_parameters_reach_every_method_that_has_them(folder):
    found = methods_of(
        "-k", 2, "--methods", "JMI,Fisher,HOCMIM(max_order=4)", "--bins", 3, "--discretizer",
        "uniform", "--estimator", "plugin", "--set", "max_order=2",
    )  # fmt: skip
    jmi = found["JMI"]["parameters"]
    assert (jmi["n_bins"], jmi["discretizer"], jmi["estimator"]) == (3, "uniform", "plugin")
    assert found["HOCMIM(max_order=4)"]["parameters"]["max_order"] == 4
    assert "n_bins" not in found["Fisher"]["parameters"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--methods", "MIM,JMI", "--set", "max_ordr=2"), "None of the methods has a parameter"),
        (("--methods", "MIM,MIM"), "MIM is listed twice"),
        (("--methods", "HOCMIM(max_order=2"), "A parenthesis is not closed"),
        (("--methods", "HOCMIM(max_order=2)x"), "is not of the form NAME(parameter=value)"),
        (("--methods", "HOCMIM(max_order=-2)"), "max_order must be"),
        (("--methods", "HOCMIM(colour=2)"), "HOCMIM has no parameter 'colour'"),
        (("--weights", "x0"), "compare takes no --weights"),
    ],
)
def test_mistakes_are_sentences(folder, arguments, message):
    assert message in run(*arguments, code=2).stderr


def test_tables_are_complete_in_a_pipe(folder):
    out = run("-k", 10, "--methods", "MIM,JMI", "-q").stdout
    blocks = [block.splitlines() for block in out.split("# ")]
    summary, names, errors, overlap = blocks
    rows = list(csv.reader(io.StringIO("\n".join(names[1:])), delimiter="\t"))
    assert rows[0] == ["rank", "MIM", "JMI"]
    assert [row[0] for row in rows[1:]] == [str(rank) for rank in range(1, 11)]
    assert LONG in out
    assert errors[1].split("\t") == ["method", *map(str, range(11))]
    assert all(len(cell) > 6 or cell in ("MIM", "JMI") for cell in errors[2].split("\t")[1:3])
    assert overlap[2].startswith("MIM\t1.0\t")
    assert summary[0].split("\t")[2:6] == ["seconds", "stability", "low", "high"]


def test_a_terminal_shows_the_names(folder):
    env = {"FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": "80", "LINES": "40"}
    shown = run("-k", 12, "--methods", "MIM,JMI", env=env).stdout
    assert "Selected features, the best first" in shown
    assert "a column with a name" in shown
    assert max(map(len, shown.splitlines())) <= 80

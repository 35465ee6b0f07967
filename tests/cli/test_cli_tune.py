"""Cross-validation on the command line: ``select -k cv`` and ``tune``."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from hocmim import SelectorCV, make_selector
from hocmim.cli import main


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    X = pd.DataFrame(rng.normal(size=(90, 5)), columns=list("abcde"))
    X["c"] += 2 * y
    path = tmp_path / "t.csv"
    X.assign(y=np.where(y, "yes", "no"), patient=np.arange(90) // 3).to_csv(path, index=False)
    return path


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def by_hand(file, selectors, cv):
    frame = pd.read_csv(file)
    X, y = frame.drop(columns=["y", "patient"]), frame["y"]
    return SelectorCV(selectors, cv=cv).fit(X, y, groups=frame["patient"].astype(str))


def test_select_chooses_k(file):
    given = ("select", file, "-t", "y", "-k", "cv", "--cv", 3, "--groups", "patient", "-m", "JMI")
    result = json.loads(run(*given, "-q", "--json", "-").stdout)
    expected = by_hand(file, make_selector("JMI"), 3)
    assert result["cross_validation"]["n_features"] == expected.best_n_features_
    assert result["columns"] == ["abcde"[j] for j in expected.selected_]
    assert "Cross-validation (3 splits, rule one-se) chose JMI" in run(*given).stderr


def test_tune_prints_the_best_first(file, tmp_path):
    given = ("tune", file, "-t", "y", "-m", "JMI", "-m", "MIM", "--groups", "patient")
    done = run(*given, "--plot", tmp_path / "out.png", "--json", tmp_path / "out.json")
    assert done.exit_code == 0, done.output
    expected = by_hand(file, [make_selector("JMI"), make_selector("MIM")], 5)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [line[0] for line in lines[1:]] == [one.selector for one in expected.choices_]
    assert float(lines[1][2]) == expected.best_score_
    assert lines[1][-1] == "chosen"
    assert lines[2][-1] == "runner-up"
    assert (tmp_path / "out.png").stat().st_size > 1000
    stored = json.loads((tmp_path / "out.json").read_text())
    assert stored["cross_validation"]["selector"] == expected.best_selector_


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("select", "-t", "y", "--groups", "nobody"), "There is no column 'nobody'"),
        (("select", "-t", "y", "--groups", "y"), "is the target"),
        (("report", "-t", "y", "-k", "cv", "-o", "x.html"), "-k cv is for hocmim select"),
        (("tune", "-t", "y", "--scoring", "beauty"), "scoring cannot be used"),
    ],
)
def test_wrong_options(file, given, message):
    done = run(given[0], file, *given[1:])
    assert done.exit_code == 2
    assert message in done.stderr


def test_several_targets(file):
    frame = pd.read_csv(file)
    frame["z"] = np.where(frame["a"] > 0, "up", "down")
    frame.to_csv(file, index=False)
    X, targets = frame[list("abcde")], frame[["y", "z"]]
    expected = SelectorCV([make_selector("JMI"), make_selector("MIM")], cv=3).fit(X, targets)
    given = (file, "-t", "y", "-t", "z", "--drop", "patient", "--cv", 3, "-q", "--json", "-")
    tuned = json.loads(run("tune", *given, "-m", "JMI,MIM").stdout)
    assert tuned["cross_validation"]["score"] == expected.best_score_
    assert tuned["columns"] == ["abcde"[j] for j in expected.selected_]
    chosen = json.loads(run("select", *given, "-k", "cv", "-m", "JMI").stdout)
    assert chosen["cross_validation"]["measure"] == "accuracy"
    assert set(chosen["columns"]) >= {"a", "c"}

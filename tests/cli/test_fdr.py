"""hocmim select --fdr."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from hocmim.cli import main


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(10)
    X = rng.integers(3, size=(500, 30))
    y = X[:, :6] @ np.linspace(1.2, 0.5, 6) + rng.logistic(size=500) > 5
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(30)]).assign(y=y)
    frame.to_csv(tmp_path / "table.csv", index=False)
    return str(tmp_path / "table.csv")


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_command_line(file, tmp_path):
    out = tmp_path / "out.json"
    result = run("select", file, "-t", "y", "--fdr", "0.1", "--json", str(out))
    assert result.exit_code == 0, result.output
    written = json.loads(out.read_text(encoding="utf-8"))
    control = written["error_control"]
    assert (control["rate"], control["level"]) == ("false-discovery rate", 0.1)
    assert control["statement"] in " ".join(result.output.split())
    assert len(written["selected"]) > 2
    assert all(row["p_value"] <= 0.1 for row in written["selected"])
    assert written["parameters"]["fdr"] == 0.1
    run("select", file, "-t", "y", "-k", "3", "--json", str(out), "--force")
    assert json.loads(out.read_text(encoding="utf-8"))["error_control"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "5", "--fdr", "0.1"], "--fdr decides how many columns are selected"),
        (["--fdr", "1.5"], "1.5 is not in the range"),
        (["--fdr", "0.1", "-m", "fisher"], "Fisher has no parameter 'fdr'"),
    ],
)
def test_command_line_errors(file, arguments, message):
    result = run("select", file, "-t", "y", *arguments)
    assert result.exit_code != 0
    assert message in result.output

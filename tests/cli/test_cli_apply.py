"""hocmim select --save, hocmim apply, and CSV cells that spreadsheets would run."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from hocmim import JMI, load
from hocmim.cli import main


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    frame["y"] = (frame["d"] + frame["b"] > 0).astype(int)
    frame["note"] = "=1+1"
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert run("select", tmp_path / "t.csv", "-t", "y", "-k", "2", "--drop", "note",
               "--save", tmp_path / "m.json", "-m", "JMI").exit_code == 0  # fmt: skip
    return tmp_path


def run(*arguments, **options):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], **options)


def test_apply_writes_the_selected_columns(folder):
    frame = pd.read_csv(folder / "t.csv")
    selector = load(folder / "m.json")
    order = [list("abcde")[j] for j in selector.selected_]
    shuffled = frame[["note", "e", "d", "c", "b", "a"]]
    shuffled.to_parquet(folder / "new.parquet")
    for arguments, columns in (
        ((), sorted(order)),
        (("--order", "selection", "--keep", "note"), ["note", *order]),
    ):
        out = folder / "out.parquet"
        done = run("apply", folder / "m.json", folder / "new.parquet", "-o", out, "--force",
                   *arguments)  # fmt: skip
        assert done.exit_code == 0, done.output
        pd.testing.assert_frame_equal(pd.read_parquet(out), frame[columns])
    codes = run("apply", folder / "m.json", folder / "t.csv", "--encoded")
    expected = JMI(2).fit(frame[list("abcde")], frame["y"]).encoder_.transform(frame[list("abcde")])
    rows = [list(map(int, line.split(","))) for line in codes.stdout.splitlines()[1:]]
    np.testing.assert_array_equal(np.array(rows).T, expected.narrow[sorted(selector.selected_)])


def test_formulas_are_neutralised_on_request(folder):
    arguments = ("apply", folder / "m.json", folder / "t.csv", "--keep", "note")
    assert '"=1+1"' in run(*arguments).stdout
    assert '"\'=1+1"' in run(*arguments, "--safe-csv").stdout


def test_problems_are_sentences(folder):
    model, table = folder / "m.json", folder / "t.csv"
    pd.read_csv(table)[["a", "b"]].to_csv(folder / "few.csv", index=False)
    assert "There is no column 'd'" in run("apply", model, folder / "few.csv").output
    assert "is not a selector file" in run("apply", table, table).output
    assert "already exists. Pass --force" in run("apply", model, table, "-o", table).output
    model.write_bytes(model.read_bytes()[:-5])
    assert "is damaged" in run("apply", model, table).output

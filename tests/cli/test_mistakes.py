"""Every mistake is a sentence and an exit code, before any work; nothing is written."""

import os
import re
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import hocmim
from hocmim import errors
from hocmim.cli import main
from hocmim.data.files import column_names, read_table

SELECT = ("select", "mixed.csv", "-t", "outcome")
COMPARE = ("compare", "mixed.csv", "-t", "outcome")
WRONG = [
    (("select", "mixde.csv", "-t", "outcome"), 2, "'mixde.csv' does not exist. Did you mean 'mix"),
    (("select", "mixed.csv", "-t", "Outcom"), 2, "no column 'Outcom' .*Did you mean 'outcome'?"),
    (("select", "mixed.csv", "-t", "zzzzz"), 2, "no column 'zzzzz' .*columns are 'id', .*others"),
    (("select", "mixed.csv", "-t", "same"), 1, "'same' has only one value .'1'."),
    (("select", "mixed.csv", "-t", "when"), 1, "y holds dates or times"),
    (("select", "mixed.csv"), 2, "Missing option -t NAME, .*'id', 'age'"),
    ((*SELECT, "--drop", "leek"), 2, "no column 'leek' .*Did you mean 'leak'?"),
    ((*SELECT, "--drop", "outcome"), 2, "is the target and cannot be dropped"),
    ((*SELECT, "--groups", "nobody"), 2, "no column 'nobody'"),
    ((*SELECT, "--groups", "outcome"), 2, "is the target and cannot be --groups"),
    ((*SELECT, "-k", "0"), 2, "'0' is not a number of columns"),
    ((*SELECT, "-k", "many"), 2, "'many' is not a number of columns"),
    ((*SELECT, "-m", "hocmin"), 2, "no method 'hocmin'. Did you mean 'HOCMIM'"),
    ((*SELECT, "-m", "JMI,MIM", "-k", "3"), 2, "A list of methods is for -k cv"),
    ((*SELECT, "-m", "JMI,JMI", "-k", "cv"), 2, "JMI is listed twice"),
    ((*SELECT, "-m", "HOCMIM(max_order=2"), 2, "A parenthesis is not closed"),
    ((*SELECT, "-m", "HOCMIM(max_order)"), 2, "is not of the form NAME.parameter=value"),
    ((*SELECT, "-m", "HOCMIM(colour=2)"), 2, "HOCMIM has no parameter 'colour'"),
    ((*SELECT, "-m", "Fisher"), 1, "Input X contains NaN .a missing value. in column 'dose'"),
    ((*SELECT, "-m", "Fisher", "--n-bins", "4"), 2, "Fisher takes no --n-bins"),
    ((*SELECT, "-m", "Fisher", "-k", "significant"), 2, "has no stopping test. Pass a number"),
    ((*SELECT, "--n-bins", "1"), 2, "--n-bins must be an int in the range .2, "),
    ((*SELECT, "--discretizer", "mdpl"), 2, "--discretizer must be one of .*'mdlp'"),
    ((*SELECT, "--estimator", "x"), 2, "--estimator must be one of 'plugin'"),
    ((*SELECT, "--fdr", "1.5"), 2, "--fdr must be a float"),
    ((*SELECT, "-k", "5", "--fdr", "0.1"), 2, "Leave out -k, or pass -k significant"),
    ((*SELECT, "--budget", "3"), 2, "The budget is 3, but the columns have no costs"),
    ((*SELECT, "--costs", "age=much"), 2, "--costs age=much: 'much' is not a number"),
    ((*SELECT, "--feature-group", "a"), 2, "not of the form name=column,column"),
    ((*SELECT, "--keep", "agee"), 2, "Did you mean 'age'"),
    ((*SELECT, "--json", "mixed.csv"), 2, "mixed.csv already exists. Pass --force"),
    ((*SELECT, "--output", "mixed.csv"), 2, "mixed.csv already exists. Pass --force"),
    ((*SELECT, "--output", "reduced"), 2, "does not show the format to write"),
    ((*SELECT, "--output", "no/r.csv"), 2, "The folder no does not exist"),
    ((*SELECT, "--checkpoint", "no/c"), 2, "The folder no does not exist"),
    ((*SELECT, "--target-kind", "quantity"), 1, "'outcome' is not numeric"),
    ((*SELECT, "--encoding", "ascii"), 1, "not text in the encoding ascii"),
    ((*SELECT, "--delimiter", ";"), 2, "no column 'outcome'"),
    (("select", "empty.csv", "-t", "y"), 1, "'empty.csv' is empty"),
    (("select", "only.csv", "-t", "y"), 1, "has no columns besides the target 'y'"),
    (("select", "none.csv", "-t", "y"), 1, "The target 'y' has no values"),
    (("select", "binary.csv", "-t", "y"), 1, "is not a table"),
    (("select", "infinite.csv", "-t", "y"), 1, "infinity .inf. in column 'x'"),
    (("select", "nested.parquet", "-t", "y"), 1, "column 'x' of X holds .*drop it"),
    (("select", "folder", "-t", "y"), 2, "contains no Parquet files"),
    (("explain", "mixed.csv", "-t", "outcome", "-f", "agee"), 2, "Did you mean 'age'?"),
    ((*COMPARE, "--methods", "jm,MIM"), 2, "Did you mean 'JMI'"),
    ((*COMPARE, "--plot", "p.gif"), 2, "needs a .png, .svg or"),
    ((*COMPARE, "--weights", "age"), 2, "compare takes no --weights"),
    ((*COMPARE, "-k", "cv"), 2, "-k cv is for hocmim select"),
    (("selct", "mixed.csv"), 2, "no command 'selct'. Did you mean 'select'?"),
    ((*SELECT, "--bins", "4"), 2, "No such option.*--bins.*--n-bins"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG, ids=lambda value: str(value)[:60])
def test_a_mistake(run, folder, arguments, code, message):
    (folder / "empty.csv").touch()
    (folder / "only.csv").write_text("y\n1\n2\n")
    (folder / "none.csv").write_text("x,y\n1,\n2,\n")
    (folder / "binary.csv").write_bytes(b"\x89PNG\0\0\0")
    (folder / "infinite.csv").write_text("x,y\n1,a\ninf,b\n2,a\n3,b\n4,a\n5,b\n6,a\n")
    pq.write_table(pa.table({"x": [[1], [2]], "y": ["a", "b"]}), folder / "nested.parquet")
    (folder / "folder").mkdir()
    before = sorted(os.listdir())
    result = run(*arguments, code=code)
    assert result.stdout == ""
    (sentence,) = re.findall(r"^Error: (.*)", result.stderr, re.MULTILINE)
    assert re.search(message, sentence), sentence
    assert result.stderr.rstrip().endswith(sentence.rstrip())
    assert sorted(os.listdir()) == before


def test_a_bug_is_no_traceback_unless_asked_for(run, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("hocmim.data.writing.check_writable", fail)
    said = run(*SELECT, "--json", "x.json", code=1).stderr
    assert "Unexpected error: ZeroDivisionError: a bug" in said
    assert "HOCMIM_DEBUG=1" in said
    result = CliRunner().invoke(main, [*SELECT, "--json", "x"], env={"HOCMIM_DEBUG": "1"})
    assert isinstance(result.exception, ZeroDivisionError)


def test_force_replaces(run):
    for _ in range(2):
        run(*SELECT, "-k", 1, "--json", "out.json", "-o", "out.csv", "--save", "m.json", "--force")
    assert read_table("out.csv").column_names == ["leak", "outcome"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("matplotlib", ("compare", "--plot", "p.pdf"), "A plot needs matplotlib"),
        ("jinja2", ("report", "-o", "r.html"), "A report needs jinja2"),
        ("distributed", ("select", "--cluster", "dask"), "--cluster needs distributed"),
    ],
)
def test_a_package_that_is_not_installed(run, monkeypatch, name, arguments, message):
    def work(*_, **__):
        raise AssertionError("worked before it checked")

    monkeypatch.setattr("hocmim.cli.data.read_table", work)
    monkeypatch.setitem(sys.modules, name, None)
    command, *options = arguments
    said = run(command, "mixed.csv", "-t", "outcome", *options, code=1).stderr
    assert message in said
    assert f"pip install {name}" in said


def test_a_method_whose_package_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastcan", None)
    with pytest.raises(errors.MissingDependencyError, match="FS-OLS needs fastcan"):
        hocmim.make_selector("FS-OLS")


BLANKS = "a,b,,  ,y\n" + "1,2,3,1,0\n2,1,3,1,1\n1,2,4,2,0\n2,2,4,2,1\n" * 3


def test_blank_names_have_a_stand_in(run, folder):
    (folder / "blanks.csv").write_text(BLANKS)
    given = ("blanks.csv", "-t", "y")
    result = run("select", *given, "-k", 4)
    names = [line.split("\t")[1] for line in result.stdout.splitlines()[1:]]
    assert sorted(names) == ["(blank name)", "(empty name)", "a", "b"]
    assert "(empty name)" in run("select", *given, "-k", 4, width=80).stdout
    assert "(empty name)" in run("explain", *given, "-f", "").stdout


@pytest.mark.parametrize(("file", "comma"), [("blanks.csv", ","), ("tabs.tsv", "\t")])
def test_a_missing_target_lists_the_columns(run, folder, file, comma):
    (folder / file).write_text(BLANKS.replace(",", comma))
    assert run("report", file, "-o", "x.html", code=2).stderr == (
        f"Error: Missing option -t NAME, the target column. {file} has 'a', 'b', (empty name), "
        "(blank name), 'y'.\n"
    )
    assert column_names(file) == ["a", "b", "", "  ", "y"]
    said = run("select", file, "--no-header", code=2).stderr
    assert "has 'f0', 'f1', 'f2', 'f3', 'f4'." in said
    assert "Missing argument 'FILE'" in run("select", code=2).stderr

"""The command line as a user meets it: results, warnings, files, every error a sentence."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from rich.cells import cell_len

import hocmim
from hocmim import RobustHOCMIM
from hocmim.cli import main
from hocmim.data.files import read_table, write_table
from made_tables import HOSTILE, N, mixed_table, write_wide_table

# (rich takes COLUMNS of such a terminal only with LINES.)
TERMINAL = {"FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": "80", "LINES": "40"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the mixed table, where commands run."""
    monkeypatch.chdir(tmp_path)
    mixed_table().to_csv("mixed.csv", index=False)
    return tmp_path


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    return write_wide_table(tmp_path_factory.mktemp("wide") / "genes.parquet")


def run(*arguments, code=0, stdin=None, env=None):
    result = CliRunner().invoke(main, [str(a) for a in arguments], input=stdin, env=env)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


SELECT = ("select", "mixed.csv", "-t", "outcome")


# --- select ---------------------------------------------------------------------------------------


def test_select_gives_what_the_library_selects(folder):
    result = run(*SELECT, "-k", 6)
    table = read_table("mixed.csv")
    known = table.filter(table.column("outcome").is_valid())
    X, y = known.drop_columns("outcome"), known.column("outcome").to_numpy()
    X, _ = hocmim.convert_text(X)
    selector = RobustHOCMIM(6).fit(X, y)
    rows = rows_of(result.stdout)
    unescaped = [row["feature"].replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
                 for row in rows]  # fmt: skip
    assert unescaped == [X.column_names[j] for j in selector.selected_]
    assert [float(row["score"]) for row in rows] == selector.scores_.tolist()
    assert [float(row["relevance"]) for row in rows] == (
        selector.relevance_[selector.selected_].tolist()
    )
    assert [int(row["order"]) for row in rows] == selector.orders_.tolist()
    matrix = selector.redundancy_matrix()
    for at, row in enumerate(rows):
        before = matrix[at, :at]
        most = unescaped[before.argmax()] if at and before.max() > 0 else ""
        assert row["most_redundant_with"] == most.replace("\\", "\\\\").replace("\t", "\\t")


def test_select_says_what_it_found_on_standard_error(folder):
    said = run(*SELECT, "-k", 2).stderr
    for expected in (
        f"mixed.csv: {N - 1} rows, 11 features (4 integer, 3 float, 2 text",
        "target 'outcome': 2 classes",
        "1 row without a target excluded.",
        "did not parse ('?') and count as missing.",
        "'leak' explains 100% of the target",
        "'id' looks like an identifier: 119 of its 119 values are distinct.",
        "'when' looks like an identifier",
        "'same' has the same value in every row.",
        "The other columns are not excluded. To exclude one, pass --drop.",
        "2 columns have missing values (most: 'dose', ",
    ):
        assert expected in said


def test_quiet_leaves_the_result_only(folder):
    result = run(*SELECT, "-k", 2, "-q")
    assert result.stderr == ""
    assert len(result.stdout.splitlines()) == 3


def test_drop_and_missing(folder):
    result = run(*SELECT, "-k", 9, "--drop", "leak", "--drop", "id", "--missing", "?")
    features = [row["feature"] for row in rows_of(result.stdout)]
    assert len(features) == 9
    assert not {"leak", "id"} & set(features)
    assert "'lab'" not in result.stderr


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_table_fits_the_terminal(folder, width):
    env = TERMINAL | {"COLUMNS": str(width)}
    lines = run(
        *SELECT, "--keep-identifiers", "-k", "10", "--drop", "leak", env=env
    ).stdout.splitlines()
    lines = [line for line in lines if line.strip()]
    assert len(lines) == 2 + 10
    decimals = 4 if width >= 80 else 2
    relevance = "relevance" if width >= 80 else "rele…"
    assert lines[0].split()[:4] == ["rank", "feature", relevance, "score"]
    for rank, line in enumerate(lines[2:], 1):
        assert cell_len(line) <= width
        number = rf"[ -]?\d\.\d{{{decimals}}}"
        assert re.match(rf" *{rank}   .*   {number}   {number}   ", line)
    assert any("<b>bol" in line and "…" in line for line in lines)


def test_methods_that_know_less_show_less(folder):
    hocmim.data.files.write_table(
        read_table("mixed.csv").select(["age", "smoker", "leak"]), "few.csv"
    )
    result = run("select", "few.csv", "-t", "leak", "-k", 1, "--method", "fisher score")
    assert result.stdout.splitlines()[0] == "rank\tfeature\tscore"
    result = run(*SELECT, "-m", "jmi")
    assert result.stdout.splitlines()[0] == "rank\tfeature\trelevance\tscore\tmost_redundant_with"


def test_parameters_reach_the_method(folder):
    result = run(
        *SELECT, "-k", 3, "-m", "HOCMIM", "--bins", 8, "--discretizer", "quantile",
        "--estimator", "plugin", "--seed", 4, "--jobs", 1, "--set", "max_order=2",
        "--set", "path=min", "--set", "min_gain=none", "--json", "-",
    )  # fmt: skip
    parameters = json.loads(result.stdout)["parameters"]
    expected = {"n_features_to_select": 3, "n_bins": 8, "discretizer": "quantile",
                "estimator": "plugin", "random_state": 4, "n_jobs": 1, "max_order": 2,
                "path": "min"}  # fmt: skip
    assert expected.items() <= parameters.items()
    assert "min_gain" not in parameters


def test_json_to_standard_output_is_all_there_is(folder):
    result = run(*SELECT, "-k", 3, "--json", "-")
    found = json.loads(result.stdout)
    assert found["partial"] is False
    assert found["columns"] == [row["feature"] for row in found["selected"]]
    assert found["types"][HOSTILE] == "integer"
    assert {note["kind"] for note in found["notes"]} >= {"id-like", "copies target"}
    assert found["n_rows"] == N - 1
    assert found["hocmim"] == hocmim.__version__


def test_auto_says_where_it_stopped(folder):
    result = run(*SELECT, "-k", "auto", "--drop", "leak", "--json", "out.json")
    assert "The selection stopped: the best remaining candidate, '" in result.stderr
    found = json.loads((folder / "out.json").read_text())
    assert found["stopped"]["reason"] == "not significant"
    assert all(row["p_value"] <= 0.01 for row in found["selected"])
    assert 1 <= len(found["selected"]) == len(rows_of(result.stdout)) < 10


@pytest.mark.parametrize("name", ["reduced.csv", "reduced.tsv.gz", "reduced.parquet", "r.feather"])
def test_output_has_the_selected_columns_and_the_target(folder, name):
    result = run(*SELECT, "-k", 4, "--output", name)
    reduced = read_table(name)
    features = run(*SELECT, "-k", 4, "--json", "-")
    assert reduced.column_names == [*json.loads(features.stdout)["columns"], "outcome"]
    assert reduced.to_pydict() == read_table("mixed.csv").select(reduced.column_names).to_pydict()
    assert f"Wrote {name}." in result.stderr


@pytest.mark.parametrize("name", ["t.tsv", "t.csv.gz", "t.parquet", "t.parquet.gz", "t.arrow"])
def test_every_format_gives_the_same(folder, name):
    write_table(read_table("mixed.csv"), name)
    assert run("select", name, "-t", "outcome").stdout == run(*SELECT).stdout


def test_standard_input(folder):
    text = (folder / "mixed.csv").read_bytes()
    result = run("select", "-", "-t", "outcome", stdin=text)
    assert result.stdout == run(*SELECT).stdout
    assert result.stderr.startswith("standard input: ")


def test_no_header_and_delimiter_and_encoding(folder):
    (folder / "plain.txt").write_bytes(
        b"".join(f"{i % 2}#{i % 3}#{'äö'[i % 2]}\n".encode("latin-1") for i in range(30))
    )
    result = run(
        "select", "plain.txt", "-t", "f2", "--no-header", "--delimiter", "#",
        "--encoding", "latin-1", "-k", 1,
    )  # fmt: skip
    assert rows_of(result.stdout)[0]["feature"] == "f0"


def test_kinds_of_target(folder):
    rng = np.random.default_rng(0)
    price = rng.permutation(400)
    table = pa.table({"size": price // 10 + rng.integers(0, 3, 400), "x": rng.normal(size=400),
                      "price": price, "cost": price / 7})  # fmt: skip
    write_table(table, "t.csv")
    drop = ("--drop", "cost")
    kinds = {
        "guessed": run("select", "t.csv", "-t", "price", "-k", 1, *drop),
        "quantity": run(
            "select", "t.csv", "-t", "price", "-k", 1, *drop, "--target-kind", "quantity"
        ),
        "cost": run("select", "t.csv", "-t", "cost", "-k", 1, "--drop", "price"),
    }
    for result in kinds.values():
        said = "target '\\w+': a quantity, 400 distinct values"
        assert re.search(said, result.stderr)
        # The bins are the same for a quantity and its multiple.
        assert result.stdout == kinds["cost"].stdout
        assert "target_kind" not in result.stderr
    guess = "A guess: if it holds classes, pass --target-kind classes"
    assert [guess in result.stderr for result in kinds.values()] == [True, False, False]
    said = run("select", "t.csv", "-t", "cost", "-k", 1, "--target-kind", "classes").stderr
    assert "400 classes" in said
    labels = pa.table({"x": np.arange(600) % 7, "letter": np.arange(600) % 30})
    write_table(labels, "letters.csv")
    said = run("select", "letters.csv", "-t", "letter", "-k", 1).stderr
    assert "30 classes" in said
    assert "A guess: if it holds a quantity, pass --target-kind quantity" in said


@pytest.mark.parametrize("strategy", ["joint", "mean"])
def test_several_targets(folder, strategy):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    frame["y"] = np.where(frame["a"] > 0, "yes", "no")
    frame["z"] = frame["c"].where(frame["c"] < 2)  # some are missing
    write_table(pa.Table.from_pandas(frame), "t.csv")
    arguments = ("select", "t.csv", "-t", "y", "-t", "z", "-k", 2, "--target-strategy", strategy)
    result = run(*arguments, "--json", "-", "-o", "few.csv")
    known = frame.dropna()
    selector = RobustHOCMIM(2, target_strategy=strategy).fit(known[list("abcd")], known[["y", "z"]])
    found = json.loads(result.stdout)
    assert [row["score"] for row in found["selected"]] == selector.scores_.tolist()
    assert sorted(found["columns"]) == ["a", "c"]
    assert found["target"] == "y, z"
    assert "target 'y': 2 classes ('no' " in result.stderr
    assert "target 'z': a quantity" in result.stderr
    assert f"{len(frame) - len(known)} rows without a target excluded" in result.stderr
    assert read_table("few.csv").column_names[-2:] == ["y", "z"]
    write_table(pa.Table.from_pandas(known, preserve_index=False), "t.parquet")
    again = run(*arguments[:1], "t.parquet", *arguments[2:], "--codes-dir", "codes", "--json", "-")
    assert json.loads(again.stdout)["selected"][0]["score"] == selector.scores_[0]
    said = run("compare", "t.csv", "-t", "y", "-t", "z", code=1).stderr
    assert "two kinds (classes, quantity)" in said
    said = run("explain", *arguments[1:], "-f", "b").stdout
    assert ("the mean over the targets" in said) == (strategy == "mean")
    run("report", *arguments[1:], "-o", "page.html")
    assert ("There are 2 targets" in Path("page.html").read_text()) == (strategy == "mean")


def test_compare_and_filters_take_several_targets(folder):
    columns = {"y": ["no", "yes"] * 20, "z": ["a", "a", "b", "b"] * 10}
    rows = range(40)
    columns["x"] = [row % 2 for row in rows]
    columns["w"] = [(row // 2) % 2 for row in rows]
    columns["v"] = [row % 3 for row in rows]
    write_table(pa.table(columns), "several.csv")
    how = ("several.csv", "-t", "y", "-t", "z", "-k", "2")
    found = run("compare", *how, "--methods", "MIM,Fisher Score", "--json", "-")
    for method in json.loads(found.stdout)["methods"]:
        assert sorted(method["selected"]) == ["w", "x"]
        assert method["mean_error"][-1] == 0
    assert run("select", *how, "-m", "Fisher Score", "-q").stdout.split()[-1]


@pytest.mark.parametrize("command", ["select", "explain", "report", "compare"])
def test_every_command_cuts_the_target_as_it_is_told(folder, command):
    rng = np.random.default_rng(0)
    y = np.rint(np.exp(rng.normal(5, 1, 300))).astype(int)
    frame = pd.DataFrame({"a": y + rng.integers(0, 9, 300), "b": rng.normal(size=300), "y": y})
    write_table(pa.Table.from_pandas(frame), "t.parquet")
    options = ("--target-kind", "quantity", "--target-bins", 4, "--target-discretizer", "uniform")
    how = {"target_kind": "quantity", "target_bins": 4, "target_discretizer": "uniform"}
    expected = RobustHOCMIM(2, **how).fit(frame[["a", "b"]], frame["y"])
    arguments = (command, "t.parquet", "-t", "y", "-k", 2, *options)
    if command == "report":
        run(*arguments, "-o", "page.html")
        assert "bins of the target" in (folder / "page.html").read_text()
        return
    if command == "compare":
        found = json.loads(run(*arguments, "--json", "-", "--resamples", 0).stdout)
        assert found["measure"] == "1 − R²"
        return
    feature = ("-f", "a") if command == "explain" else ()
    for place in ((), ("--codes-dir", "codes")):
        found = json.loads(run(*arguments, *feature, *place, "--json", "-").stdout)
        rows = found["selected"] if command == "select" else found["explanations"]
        assert rows[0]["score"] == expected.scores_[0]
        assert found["parameters"]["target_bins"] == 4


def test_a_wide_parquet_file(wide):
    path, X, y = wide
    result = run("select", path, "-t", "class", "-k", 10, "--json", "-")
    found = json.loads(result.stdout)
    selector = RobustHOCMIM(10).fit(X, y)
    assert [row["index"] for row in found["selected"]] == selector.selected_.tolist()
    assert [row["score"] for row in found["selected"]] == selector.scores_.tolist()
    assert "2,000 rows, 5,000 features (5,000 integer)" in result.stderr


def test_codes_on_disk_and_a_checkpoint_give_the_same(folder):
    table = read_table("mixed.csv")
    known = table.filter(table.column("outcome").is_valid())
    write_table(hocmim.convert_text(known)[0], "mixed.parquet")
    arguments = ("select", "mixed.parquet", "-t", "outcome", "-k", 5)
    expected = run(*arguments)
    for _ in range(2):  # the second time from what is on disk
        result = run(*arguments, "--codes-dir", "codes", "--checkpoint", "point", "-o", "few.csv",
                     "--force")  # fmt: skip
        assert result.stdout == expected.stdout
        assert "The file is not read into memory" in result.stderr
        assert (folder / "codes").is_dir()
        assert (folder / "point").exists()
        assert read_table("few.csv").column_names[-1] == "outcome"
    fewer = (*arguments, "--drop", "leak")
    assert run(*fewer, "--codes-dir", "codes").stdout == run(*fewer).stdout
    said = run(*arguments, "--codes-dir", "codes", "--weights", "age", code=2).stderr
    assert "--weights and --groups cannot be used with --engine dask or --codes-dir" in said


def test_groups_are_selected_as_one(folder):
    arguments = (*SELECT, "-k", 3, "--drop", "leak", "--group", "who=age,town,smoker")
    found = json.loads(run(*arguments, "--json", "-").stdout)
    assert "who" in [row["feature"] for row in found["selected"]]
    assert {"age", "town", "smoker"} <= set(found["columns"])
    assert len(found["selected"]) == 3
    assert len(found["columns"]) == 5
    assert run(*arguments, "-o", "few.csv").exit_code == 0
    assert read_table("few.csv").num_columns == 6
    explained = run("explain", *arguments[1:], "-f", "who").stdout
    assert explained.startswith("HOCMIM-R selected 'who'")
    said = run(*SELECT, "--group", "who=age,twon", code=2).stderr
    assert "Did you mean 'town'?" in said


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same(folder):
    distributed = pytest.importorskip("distributed")
    table = read_table("mixed.csv")
    write_table(table.filter(table.column("outcome").is_valid()), "mixed.parquet")
    arguments = ("select", "mixed.parquet", "-t", "outcome", "-k", 5)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address=None,
        silence_logs=50,
    ) as cluster:
        address = cluster.scheduler_address
        result = run(*arguments, "--engine", "dask", "--scheduler", address)
    assert result.stdout == run(*arguments).stdout


# --- what can go wrong ----------------------------------------------------------------------------

WRONG = [
    (("select", "mixde.csv", "-t", "outcome"), 2, "'mixde.csv' does not exist. Did you mean 'mix"),
    (("select", "mixed.csv", "-t", "Outcom"), 2, "no column 'Outcom' .*Did you mean 'outcome'?"),
    (("select", "mixed.csv", "-t", "zzzzz"), 2, "no column 'zzzzz' .*columns are 'id', .*others"),
    (("select", "mixed.csv", "-t", "same"), 1, "'same' has only one value .'1'."),
    (("select", "mixed.csv", "-t", "when"), 1, "y holds dates or times"),
    (("select", "mixed.csv"), 2, "Missing option -t NAME, .*'id', 'age'"),
    ((*SELECT, "--drop", "leek"), 2, "no column 'leek' .*Did you mean 'leak'?"),
    ((*SELECT, "--drop", "outcome"), 2, "is the target and cannot be dropped"),
    ((*SELECT, "-k", "12"), 2, "-k is 12, but there are only 11 features."),
    ((*SELECT, "-k", "0"), 2, "'0' is not a number of columns"),
    ((*SELECT, "-k", "many"), 2, "'many' is not a number of columns"),
    ((*SELECT, "-m", "hocmin"), 2, "no method 'hocmin'. Did you mean 'HOCMIM'"),
    ((*SELECT, "-m", "Fisher"), 1, "Input X contains NaN .a missing value. in column 'dose'"),
    ((*SELECT, "-m", "Fisher", "--bins", "4"), 2, "Fisher has no parameter 'n_bins'"),
    ((*SELECT, "--bins", "1"), 2, "1 is not in the range x>=2"),
    ((*SELECT, "--set", "max_order=-1"), 2, "max_order must be an integer of at least 1"),
    ((*SELECT, "--set", "colour=red"), 2, "HOCMIM-R has no parameter 'colour'"),
    ((*SELECT, "--set", "colour"), 2, "not of the form name=value"),
    ((*SELECT, "--group", "a"), 2, "not of the form name=column,column"),
    ((*SELECT, "--scheduler", "tcp://x:1"), 2, "--scheduler needs --engine dask"),
    ((*SELECT, "--json", "mixed.csv"), 2, "mixed.csv already exists. Pass --force"),
    ((*SELECT, "--output", "mixed.csv"), 2, "mixed.csv already exists. Pass --force"),
    ((*SELECT, "--output", "reduced"), 2, "does not show the format to write"),
    ((*SELECT, "--output", "no/r.csv"), 2, "The folder no does not exist"),
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
    (("explain", "mixed.csv", "-t", "outcome", "-f", "age", "-m", "Gini"), 2, "scores every"),
    (("compare", "mixed.csv", "-t", "outcome", "--methods", "jm,MIM"), 2, "Did you mean 'JMI'"),
    (("compare", "mixed.csv", "-t", "outcome", "--plot", "p.gif"), 2, "needs a .png, .svg or"),
    (("compare", "mixed.csv", "-t", "outcome", "--folds", "1"), 2, "1 is not in the range x>=2"),
    (("selct", "mixed.csv"), 2, "no command 'selct'. Did you mean 'select'?"),
    (("select", "mixed.csv", "-t", "outcome", "--bin", "4"), 2, "No such option.*--bin"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG, ids=lambda value: str(value)[:60])
def test_every_mistake_is_a_sentence_and_an_exit_code(folder, arguments, code, message):
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


def test_an_error_of_ours_is_no_traceback_unless_asked_for(folder, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("hocmim.data.writing.check_writable", fail)
    said = run(*SELECT, "--json", "x.json", code=1).stderr
    assert "Unexpected error: ZeroDivisionError: a bug" in said
    assert "HOCMIM_DEBUG=1" in said
    result = CliRunner().invoke(main, [*SELECT, "--json", "x"], env={"HOCMIM_DEBUG": "1"})
    assert isinstance(result.exception, ZeroDivisionError)


def test_force_replaces(folder):
    for _ in range(2):
        run(*SELECT, "-k", 1, "--json", "out.json", "-o", "out.csv", "--force")
    assert json.loads((folder / "out.json").read_text())["selected"][0]["feature"] == "leak"
    assert read_table("out.csv").column_names == ["leak", "outcome"]


# --- the other commands ---------------------------------------------------------------------------


def test_explain_left_and_taken(folder):
    arguments = ("explain", "mixed.csv", "-t", "outcome", "--drop", "leak", "-k", 3)
    result = run(*arguments, "-f", "age", "-f", "town", "--json", "-")
    found = {e["feature"]: e for e in json.loads(result.stdout)["explanations"]}
    table = read_table("mixed.csv")
    known = table.filter(table.column("outcome").is_valid())
    X, y = known.drop_columns(["outcome", "leak"]), known.column("outcome").to_numpy()
    X, _ = hocmim.convert_text(X)
    selector = RobustHOCMIM(3).fit(X, y)
    for name, explanation in found.items():
        expected = selector.explain(name, X)
        assert explanation["reason"] == expected.reason
        assert explanation["redundancy"] == expected.redundancy
        assert [c["score"] for c in explanation["contests"]] == [c.score for c in expected.contests]
        plain = run(*arguments, "-f", name).stdout
        assert plain == str(expected) + "\n"


def skewed_table():
    """A column that is mostly zeros, one with a long tail, and one with three values."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    return pd.DataFrame(
        {
            "count": np.where(np.arange(200) < 180, 0, np.arange(200) - 150),
            "price": np.exp(rng.normal(3 + y, 2, 200)),
            "grade": rng.integers(0, 3, 200),
            "y": np.where(y == 1, "ill", "well"),
        }
    )


def test_equal_frequency_is_the_default(folder):
    skewed_table().to_csv("skewed.csv", index=False)
    arguments = ("skewed.csv", "-t", "y", "-k", 3)
    by_default = run("select", *arguments, "--json", "-")
    found = json.loads(by_default.stdout)
    assert found["parameters"]["discretizer"] == hocmim.HOCMIM().discretizer == "quantile"
    assert "default: quantile" in " ".join(run("select", "--help-all").stdout.split())
    named = run("select", *arguments, "--discretizer", "quantile", "--json", "-")
    assert json.loads(named.stdout)["selected"] == found["selected"]


def test_bins_are_shown_and_uneven_ones_noted(folder):
    skewed_table().to_csv("skewed.csv", index=False)
    arguments = ("skewed.csv", "-t", "y", "-k", 3)
    said = run("select", *arguments).stderr
    assert "'count' has 90% of its rows in one bin (below 30): the values in this bin" in said
    assert "'price' has" not in said
    assert "--drop" not in said
    said = run("select", *arguments, "--discretizer", "uniform").stderr
    assert re.search(r"'price' has 9\d% of its rows in one bin", said)
    assert 'Try the discretizer "quantile"' in said
    features = ("-f", "count", "-f", "grade")
    for env in (None, {**TERMINAL, "COLUMNS": "200"}):
        text = run("explain", *arguments, *features, env=env).stdout
        assert re.search(r"encoding +2 bins, cut at 30; rows in each bin: 180, 20", text)
        assert re.search(r"encoding +levels as they are, 3 values: 0 \(\d+ rows\)", text)
    result = json.loads(run("explain", *arguments, *features, "--json", "-").stdout)
    encoding = result["explanations"][0]["encoding"]
    assert (encoding["kind"], encoding["cuts"][0], encoding["n_rows"][0]) == ("cut", 30, 180)


def test_explain_on_a_terminal(folder):
    arguments = ("explain", "mixed.csv", "-t", "outcome", "--drop", "leak", "-k", 4, "-q")
    shown = run(*arguments, "-f", "town", env=TERMINAL).stdout
    assert "HOCMIM-R did not select 'town'" in " ".join(shown.split())
    for word in ("relevance", "representative set", "selected before it", "its score", "synergy"):
        assert word in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_compare(folder):
    arguments = ("compare", "mixed.csv", "-t", "outcome", "--drop", "leak", "-k", 4, "--folds", 3)
    arguments += ("--resamples", 4, "--methods", "hocmim, mRMR")
    found = json.loads(run(*arguments, "--json", "-").stdout)
    assert [method["method"] for method in found["methods"]] == ["HOCMIM", "mRMR"]
    assert found["methods"][0]["sizes"] == [0, 1, 2, 3, 4]
    a, b = (set(method["selected"]) for method in found["methods"])
    assert found["overlap"][0][1] == len(a & b) / len(a | b)
    shown = run(*arguments, "--plot", "picture.svg", env=TERMINAL).stdout
    for method in found["methods"]:
        errors = "   ".join(f"{value:.3f}" for value in method["mean_error"])
        assert f"{method['method']}" in shown
        assert errors in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert (folder / "picture.svg").read_text().count("stability over resamples") == 1
    assert "already exists" in run(*arguments, "--plot", "picture.svg", code=2).stderr


def test_compare_on_a_sample_of_the_rows(folder):
    arguments = ("compare", "mixed.csv", "-t", "outcome", "-k", 2, "--resamples", 0)
    arguments += ("--methods", "MIM", "--folds", 2)
    found = json.loads(run(*arguments, "--max-rows", 100, "--json", "-").stdout)
    assert 96 <= found["n_evaluated"] <= 104 < found["n_rows"]
    sentence = f"by number of features, on {found['n_evaluated']} of {found['n_rows']} rows\n"
    assert sentence in run(*arguments, "--max-rows", 100).stdout
    for more in ((), ("--max-rows", 0)):
        assert "by number of features\n" in run(*arguments, *more).stdout
    assert "max_rows must be" in run(*arguments, "--max-rows", 5, code=2).stderr


def test_results_have_the_name_of_the_method(folder):
    found = json.loads(run(*SELECT, "-k", 2, "--json", "-").stdout)
    assert found["method"] == "HOCMIM-R"
    run("report", *SELECT[1:], "-k", 2, "-o", "report.html")
    assert "RobustHOCMIM" not in re.sub(
        r"<pre>.*?</pre>", "", (folder / "report.html").read_text(), flags=re.S
    )


def test_info_lists_versions_and_methods():
    found = json.loads(run("info", "--json", "-").stdout)
    assert found["libraries"]["numpy"] == np.__version__
    assert found["methods"] == hocmim.list_methods()
    assert found["kernels"] == found["kernels_built"][0]
    shown = run("info", env=TERMINAL).stdout
    assert "Relax-mRMR" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_info_says_how_to_get_what_is_not_there(monkeypatch):
    monkeypatch.setattr(
        "hocmim.experiments.machine.installed_version", lambda name: None if name == "dask" else "1"
    )
    assert "not installed (computing on a cluster: pip install dask)" in run("info").stdout


def test_report_refuses_to_overwrite(folder):
    pytest.importorskip("hocmim.insight.report")
    (folder / "page.html").write_text("mine")
    arguments = ("report", "mixed.csv", "-t", "outcome", "-o", "page.html", "-k", 3)
    assert "already exists" in run(*arguments, code=2).stderr
    assert (folder / "page.html").read_text() == "mine"
    run(*arguments, "--force")
    page = (folder / "page.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "looks like an identifier" in page
    assert "<b>bold</b>" not in page


# --- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["select", "explain", "report", "compare", "info"])
def test_help_has_examples_and_ends_well(command):
    text = run(command, "--help").stdout
    assert f"hocmim {command} " in text or f"hocmim {command}\n" in text
    assert "\n  Examples:\n    hocmim" in text
    assert max(map(len, text.splitlines())) <= 80


def test_help_and_version_import_nothing_heavy():
    """So that they are there at once."""
    code = (
        "import sys; from hocmim.cli import main; main(sys.argv[1:], standalone_mode=False); "
        "heavy = {'sklearn', 'numpy', 'pyarrow', 'rich'} & set(sys.modules); "
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    for arguments in (["--help"], ["--version"], ["select", "--help"], ["compare", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout


def test_a_module_of_the_folder_is_a_command():
    from hocmim.cli import commands

    modules = sorted(path.stem for path in Path(commands.__file__).parent.glob("[!_]*.py"))
    listed = re.findall(r"^  (\w+) +[A-Z].*\.$", run("--help").stdout, re.MULTILINE)
    assert listed == modules
    for module in modules:
        assert f"Usage: hocmim {module}" in run(module, "--help").stdout


def test_bench_is_still_there():
    assert "Run the published experiment" in run("bench", "--help").stdout


def test_identifiers_are_left_out_and_said_once(folder):
    found = run(*SELECT, "-k", 3, "--json", "-")
    assert "id" not in json.loads(found.stdout)["columns"]
    assert found.stderr.count("'id' looks like an identifier") == 1
    assert "identify the rows" not in found.stderr
    assert "It was left out." in found.stderr
    kept = run(*SELECT, "-k", 3, "--keep-identifiers")
    assert "left out" not in kept.stderr

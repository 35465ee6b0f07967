"""explain, report, columns, compare, apply and demo."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer

import hocmim
import warned
from hocmim import JMI, RobustHOCMIM, cluster_columns, load
from hocmim.data.files import read_table, write_table

pytestmark = pytest.mark.filterwarnings(warned.IDENTIFIER)

GIVEN = ("mixed.csv", "-t", "outcome", "--drop", "leak")


@pytest.fixture
def known(folder):
    table = read_table("mixed.csv")
    known = table.filter(table.column("outcome").is_valid())
    X = hocmim.TextConverter().fit_transform(known.drop_columns(["outcome", "leak"]))
    return X, known.column("outcome").to_numpy()


# --- explain --------------------------------------------------------------------------------------


def test_explain(run, known):
    arguments = ("explain", *GIVEN, "-k", 3)
    result = run(*arguments, "-f", "age", "-f", "town", "--json", "-")
    found = {one["feature"]: one for one in json.loads(result.stdout)["explanations"]}
    selector = RobustHOCMIM(3).fit(*known)
    for name, explanation in found.items():
        expected = selector.explain(name, known[0])
        assert explanation["reason"] == expected.reason
        assert explanation["redundancy"] == expected.redundancy
        assert [one["score"] for one in explanation["steps"]] == [
            one.score for one in expected.steps
        ]
        assert run(*arguments, "-f", name).stdout == str(expected) + "\n"


def test_explain_speaks_of_options(run):
    assert (
        "To select from it too, pass --identifiers keep."
        in run("explain", *GIVEN, "-k", 3, "-f", "id").stdout
    )


def test_explain_on_a_terminal(run):
    shown = run("explain", *GIVEN, "-k", 4, "-q", "-f", "town", width=80).stdout
    assert "HOCMIM-R did not select 'town'" in " ".join(shown.split())
    for word in ("relevance", "representative set", "redundant with", "its score"):
        assert word in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_explain_a_filter(run):
    text = run("explain", *GIVEN, "-m", "Gini", "--drop", "dose,lab", "-f", "town", "-k", 2).stdout
    assert re.match(r"Gini did not select 'town': it ranks \d of 8", text)


def test_explain_shows_substitutes(run):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.assign(y=y).to_csv("cancer.csv", index=False)
    arguments = ("explain", "cancer.csv", "-t", "y", "-k", 8, "-f", "worst perimeter", "-q")
    assert "can be replaced" not in run(*arguments).stdout
    text = run(*arguments, "--substitutes", 2).stdout
    assert "'worst perimeter' can be replaced by 'worst radius'" in text
    found = json.loads(run(*arguments, "--substitutes", 2, "--json", "-").stdout)
    names = [row["feature"] for row in found["substitutes"][0]["rows"]]
    assert names == ["worst radius", "worst area"]


def test_explain_a_file_that_is_not_in_memory(run, known):
    X, y = known
    write_table(X.append_column("outcome", pa.array(y)), "mixed.parquet")
    given = ("mixed.parquet", "-t", "outcome", "-k", 3)
    expected = run("explain", *given, "-f", "town", "--substitutes", 2).stdout
    codes = ("--codes-dir", "codes")
    assert run("explain", *given, "-f", "town", "--substitutes", 2, *codes).stdout == expected
    assert expected.startswith(run("explain", *given, "-f", "town", *codes).stdout.rstrip())
    run("report", *given, "-o", "page.html", *codes)


# --- report and demo ------------------------------------------------------------------------------


def test_report_refuses_to_overwrite(run, folder):
    (folder / "page.html").write_text("mine")
    arguments = ("report", "mixed.csv", "-t", "outcome", "-o", "page.html", "-k", 3)
    assert "already exists. Pass --force" in run(*arguments, code=2).stderr
    assert (folder / "page.html").read_text() == "mine"
    run(*arguments, "--force", "--title", "A title")
    page = (folder / "page.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "A title" in page
    assert "1 row without a target excluded." in page
    assert "<b>bold</b>" not in page


def test_report_with_stability(run, folder):
    given = ("report", *GIVEN, "-k", 2, "-q", "--force")
    run(*given, "-o", "without.html")
    assert 'id="stability"' not in (folder / "without.html").read_text()
    run(*given, "-o", "with.html", "--stability")
    page = (folder / "with.html").read_text()
    assert "On 50 resamples of the rows" in page
    run(*given, "-o", "filter.html", "--stability", "-m", "Fisher", "--drop", "dose,lab")
    assert "On 50 resamples of the rows" in (folder / "filter.html").read_text()


def test_explain_columns_that_say_nothing_alone(run, folder):
    rng = np.random.default_rng(0)
    coins = rng.integers(0, 2, (200, 6))
    rows = [",".join(map(str, [*row, row[1] ^ row[4]])) for row in coins]
    (folder / "coins.csv").write_text("\n".join(["a,b,c,d,e,f,y", *rows]))
    given = ("explain", "coins.csv", "-t", "y", "-k", 2, "-f", "b", "-q")
    for width in (None, 80):
        text = run(*given, **({} if width is None else {"width": width})).stdout
        assert "'b' and 'e' say nothing alone; together they tell 0.6" in " ".join(text.split())
        assert "share of '1' (rows), b down, e across" in text
    found = json.loads(run(*given, "--json", "-").stdout)["explanations"][0]["interaction"]
    assert found["values"] == [[0.0, 1.0], [1.0, 0.0]]


def test_report_of_a_filter(run, folder):
    given = ("report", *GIVEN, "--drop", "dose,lab", "-k", 2, "-m", "Fisher", "-o", "r.html", "-q")
    run(*given)
    assert "Fisher selected 2 of 8 features" in (folder / "r.html").read_text()


@pytest.mark.slow
def test_demo(run, folder):
    text = run("demo").stdout
    assert "worst perimeter" in text
    assert (folder / "hocmim-demo.html").exists()


# --- columns --------------------------------------------------------------------------------------


def test_columns(run):
    lines = run("columns", "mixed.csv", "-t", "outcome").stdout.splitlines()
    assert lines[0] == "column\ttype\tmissing\tencoding\tnotes"
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in lines[1:]}
    assert rows["id"][-1] == "identifies the rows"
    assert rows["leak"][-1] == "explains 100% of the target"
    assert rows["same"][-1] == "has the same value in every row"
    assert rows["dose"][1] != "0"
    assert rows["age"][-1] == ""
    assert rows["age"][2].startswith("5 bins, cut at ")
    found = json.loads(run("columns", "mixed.csv", "--n-bins", 3, "--json", "-").stdout)
    assert found["columns"][1]["encoding"].startswith("3 bins, cut at ")
    shown = run("columns", "mixed.csv", width=80).stdout
    assert max(map(len, shown.splitlines())) <= 80


def test_columns_in_clusters(run):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.assign(diagnosis=y).to_csv("cancer.csv", index=False)
    given = ("columns", "cancer.csv", "-t", "diagnosis", "--clusters")
    found = json.loads(run(*given, "--json", "-").stdout)
    names = [each["representative"] for each in found["clusters"]]
    assert sorted(names) == sorted(X.columns[cluster_columns(X, y).representatives])
    lines = run(*given).stdout.splitlines()
    assert lines[0].split("\t") == ["columns", "representative", "others"]
    assert len(lines) == 1 + len(names)
    assert any(line.startswith("6\tworst perimeter\tworst radius") for line in lines)
    shown = run(*given, width=100).stdout.splitlines()[3:]  # singles are counted, not listed
    assert len(shown) == sum(len(each["columns"]) > 1 for each in found["clusters"])
    finer = json.loads(run(*given, "--max-distance", 0.2, "--json", "-").stdout)
    assert len(finer["clusters"]) > len(found["clusters"])


# --- compare --------------------------------------------------------------------------------------

COMPARE = ("compare", *GIVEN, "--n-resamples", 2, "--cv", 2)


def compared(run, *arguments):
    found = json.loads(run(*COMPARE, *arguments, "--json", "-").stdout)
    return {method["method"]: method for method in found["methods"]}


def test_compare(run, folder, known):
    arguments = (*COMPARE, "-k", 4, "--methods", "hocmim, mRMR")
    found = json.loads(run(*arguments, "--json", "-").stdout)
    assert [method["method"] for method in found["methods"]] == ["HOCMIM", "mRMR"]
    assert found["methods"][0]["sizes"] == [0, 1, 2, 3, 4]
    a, b = (set(method["selected"]) for method in found["methods"])
    assert found["overlap"][0][1] == len(a & b) / len(a | b)
    shown = run(*arguments, "--plot", "picture.svg", width=80).stdout
    for method in found["methods"]:
        assert "   ".join(f"{value:.4f}" for value in method["mean_error"]) in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "stability over resamples" in (folder / "picture.svg").read_text()


def test_compare_variants_of_one_method(run, known):
    variants = ("MIM, HOCMIM(max_order=1)", "-m", "HOCMIM(max_order=2,tol=.1)")
    found = compared(run, "-k", 3, "-m", *variants)
    assert list(found) == ["MIM", "HOCMIM(max_order=1)", "HOCMIM(max_order=2,tol=0.1)"]
    X, y = known
    selector = hocmim.HOCMIM(3, max_order=1).fit(X, y)
    names = [X.column_names[j] for j in selector.selected_]
    assert found["HOCMIM(max_order=1)"]["selected"] == names


def test_compare_gives_parameters_to_every_method_that_has_them(run):
    found = compared(
        run, "--drop", "dose,lab", "-k", 2, "-m", "JMI,Fisher,HOCMIM(max_order=4)", "--n-bins", 3,
    )  # fmt: skip
    assert found["JMI"]["parameters"]["encoder"]["n_bins"] == 3
    assert found["HOCMIM(max_order=4)"]["parameters"]["max_order"] == 4
    assert "encoder" not in found["Fisher"]["parameters"]


def test_compare_is_complete_in_a_pipe(run):
    out = run(*COMPARE, "-k", 6, "-m", "MIM,JMI", "-q").stdout
    summary, names, errors, overlap = (block.splitlines() for block in out.split("# "))
    rows = list(csv.reader(io.StringIO("\n".join(names[1:])), delimiter="\t"))
    assert rows[0] == ["rank", "MIM", "JMI"]
    assert [row[0] for row in rows[1:]] == [str(rank) for rank in range(1, 7)]
    assert errors[1].split("\t") == ["method", *map(str, range(7))]
    assert overlap[2].startswith("MIM\t1.0\t")
    assert summary[0].split("\t")[2:6] == ["seconds", "stability", "low", "high"]


# --- apply ----------------------------------------------------------------------------------------


@pytest.fixture
def saved(run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    frame["y"] = (frame["d"] + frame["b"] > 0).astype(int)
    frame["note"] = "=1+1"
    frame.to_csv("t.csv", index=False)
    run("select", "t.csv", "-t", "y", "-k", "2", "--drop", "note", "--save", "m.json", "-m", "JMI")
    return frame


def test_apply_writes_the_selected_columns(run, saved):
    order = [list("abcde")[j] for j in load("m.json").selected_]
    saved[["note", "e", "d", "c", "b", "a"]].to_parquet("new.parquet")
    for arguments, columns in (((), order), (("--keep", "note"), ["note", *order])):
        run("apply", "m.json", "new.parquet", "-o", "out.parquet", "--force", *arguments)
        pd.testing.assert_frame_equal(pd.read_parquet("out.parquet"), saved[columns])
    codes = run("apply", "m.json", "t.csv", "--encoded").stdout
    X = saved[list("abcde")]
    expected = JMI(2).fit(X, saved["y"]).encoder_.transform(X)
    rows = [list(map(int, line.split(","))) for line in codes.splitlines()[1:]]
    for at, j in enumerate(load("m.json").selected_):
        assert [row[at] for row in rows] == expected.column(int(j)).codes.tolist()
    assert [row[-1] for row in rows] == saved["y"].tolist()


def test_apply_neutralises_formulas_on_request(run, saved):
    arguments = ("apply", "m.json", "t.csv", "--keep", "note")
    assert '"=1+1"' in run(*arguments).stdout
    assert '"\'=1+1"' in run(*arguments, "--safe-csv").stdout


def test_apply_says_what_is_wrong(run, saved, folder):
    saved[["a", "b"]].to_csv("few.csv", index=False)
    assert (
        "lacks 1 of the 2 selected columns: 'd'."
        in run("apply", "m.json", "few.csv", code=1).stderr
    )
    assert "is not a selector file" in run("apply", "t.csv", "t.csv", code=1).stderr
    said = run("apply", "m.json", "t.csv", "-o", "t.csv", code=2).stderr
    assert "already exists. Pass --force" in said
    (folder / "m.json").write_bytes((folder / "m.json").read_bytes()[:-5])
    assert "is damaged" in run("apply", "m.json", "t.csv", code=1).stderr

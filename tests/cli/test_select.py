"""``hocmim select``: the result is that of the library, and what is odd is said."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from rich.cells import cell_len

import hocmim
import warned
from hocmim import RobustHOCMIM, SelectorCV, StopTest, Target, make_selector
from hocmim.data.files import read_table, write_table
from made_tables import HOSTILE, N, write_wide_table

pytestmark = pytest.mark.filterwarnings(warned.IDENTIFIER, warned.LEAK)

SELECT = ("select", "mixed.csv", "-t", "outcome")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def known_table(drop=()):
    table = read_table("mixed.csv")
    known = table.filter(table.column("outcome").is_valid())
    X = hocmim.TextConverter().fit_transform(known.drop_columns(["outcome", *drop]))
    return X, known.column("outcome").to_numpy()


def test_it_gives_what_the_library_selects(run):
    rows = rows_of(run(*SELECT, "-k", 6).stdout)
    X, y = known_table()
    selector = RobustHOCMIM(6).fit(X, y)
    unescaped = [row["feature"].replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
                 for row in rows]  # fmt: skip
    assert unescaped == [X.column_names[j] for j in selector.selected_]
    assert [float(row["score"]) for row in rows] == selector.scores_.tolist()
    assert [int(row["order"]) for row in rows] == selector.orders_.tolist()
    matrix = selector.redundancy_matrix()
    for at, row in enumerate(rows):
        before = matrix[at, :at]
        most = unescaped[before.argmax()] if at and before.max() > 0 else ""
        assert row["redundant_with"] == most.replace("\\", "\\\\").replace("\t", "\\t")


def test_it_says_what_it_found_on_standard_error(run):
    said = run(*SELECT, "-k", 2).stderr
    for expected in (
        f"mixed.csv: {N - 1} rows, 11 features (4 integer, 3 float, 2 text",
        "target 'outcome': 2 classes",
        "1 row without a target excluded.",
        "did not parse ('?') and count as missing.",
        "Warning: 'leak' explains all of the target. Scores after a column that explains all of it "
        "say nothing. To leave it out, if known only after the target is: --exclude leak\n",
        "Warning: 1 column identifies the rows: 'id'. It is no candidate. To select from it too, "
        "pass --identifiers keep.",
    ):
        assert said.count(expected) == 1
    assert run(*SELECT, "-k", 2, "-q").stderr == ""
    assert "identifies" not in run(*SELECT, "-k", 2, "--identifiers", "keep").stderr


def test_the_warnings_are_those_of_the_library(run):
    found = json.loads(run(*SELECT, "-k", 3, "--json", "-", "-q").stdout)["warnings"]
    with pytest.warns(hocmim.DataWarning) as caught:
        RobustHOCMIM(3).fit(*known_table())
    expected = [str(one.message) for one in caught]
    assert found == [text.replace("Encoder(identifiers='keep')", "--identifiers keep")
                     for text in expected]  # fmt: skip
    said = run(*SELECT, "-k", 50).stderr
    assert "-k is 50, but only 9 features can be selected. All of them are selected." in said


def test_the_table_is_encoded_once(run, monkeypatch):
    from hocmim.coding.encoder import Encoder

    calls = []
    for name in ("fit_transform", "transform"):
        method = getattr(Encoder, name)
        monkeypatch.setattr(
            Encoder, name, lambda *a, m=method, **k: (calls.append(m), m(*a, **k))[1]
        )
    run(*SELECT, "-k", 3, "-m", "JMI")
    assert len(calls) == 1


def test_json(run):
    found = json.loads(run(*SELECT, "-k", 3, "--json", "-").stdout)
    assert found["partial"] is False
    assert found["columns"] == [row["feature"] for row in found["selected"]]
    assert found["types"][HOSTILE] == "integer"
    assert found["n_rows"] == N - 1
    assert found["hocmim"] == hocmim.__version__
    assert found["method"] == "HOCMIM-R"


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_table_fits_the_terminal(run, width):
    options = ("--identifiers", "keep", "-k", "9", "--drop", "leak")
    lines = run(*SELECT, *options, width=width).stdout.splitlines()
    lines = [line for line in lines if line.strip()]
    assert len(lines) == 2 + 9
    for rank, line in enumerate(lines[2:], 1):
        assert cell_len(line.rstrip()) <= width
        number = r"-?\d\.\d{4}"
        assert re.match(rf" *{rank}   .* {number} +{number}   ", line)
    assert any("<b>" in line and "…" in line for line in lines)


def test_methods_that_know_less_show_less(run):
    write_table(read_table("mixed.csv").select(["age", "smoker", "leak"]), "few.csv")
    result = run("select", "few.csv", "-t", "leak", "-k", 1, "--method", "fisher score")
    assert result.stdout.splitlines()[0] == "rank\tfeature\tscore"
    result = run(*SELECT, "-m", "jmi")
    assert result.stdout.splitlines()[0] == "rank\tfeature\trelevance\tscore\tredundant_with\tcheck"


def test_a_leak_is_marked_in_its_row_and_scores_after_it_are_left_out(run):
    result = run(*SELECT, "-k", 3, width=100)
    lines = [line.split() for line in result.stdout.splitlines()[2:]]
    [leak] = [row for row in lines if row[1:2] == ["leak"]]
    assert leak[-1] == "leak?"
    for row in lines[lines.index(leak) + 1 :]:
        assert row.count("–") >= 1  # the score; relevance stays
    assert result.stderr.index("Warning: 1 column") < result.stderr.index(
        "Warning: 'leak' explains"
    )


def test_a_leak_that_was_not_selected_says_nothing_about_scores(run):
    result = run(*SELECT, "-k", 1, "--keep", "age", width=100)
    assert "leak?" not in result.stdout
    assert "check" not in result.stdout
    assert "'leak' explains all of the target. To leave it out" in result.stderr


def test_a_p_value_stands_beside_its_level(run):
    result = run("select", "mixed.csv", "-t", "outcome", "--drop", "leak", "-k", "significant")
    assert re.search(r"adds nothing significant \(p = [\d.e-]+, level 0.01\)", result.stderr)
    [row] = rows_of(result.stdout)[:1]
    assert float(row["p"]) < 0.01
    shown = run(
        "select", "mixed.csv", "-t", "outcome", "--drop", "leak", "-k", "significant", width=100
    )
    assert " p " in shown.stdout.splitlines()[1]


# --- how many -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [("4", 4), ("0.2", 2), ("half", 5)])
def test_how_many(run, k, n):
    assert len(rows_of(run(*SELECT, "-k", k).stdout)) == n


def test_significant_says_where_it_stopped(run, folder):
    result = run(*SELECT, "-k", "significant", "--drop", "leak", "--json", "out.json")
    assert "The selection stopped: the best remaining candidate, '" in result.stderr
    found = json.loads((folder / "out.json").read_text())
    assert found["stopped"]["reason"] == "not significant"
    assert all(row["p_value"] <= 0.01 for row in found["selected"])


def test_the_options_of_the_test_imply_it(run):
    found = json.loads(run(*SELECT, "--fdr", "0.1", "--drop", "leak", "--json", "-").stdout)
    X, y = known_table(drop=["leak"])
    selector = RobustHOCMIM(StopTest(fdr=0.1)).fit(X, y)
    assert [row["p_value"] for row in found["selected"]] == selector.p_values_.tolist()
    assert found["error_control"]["level"] == 0.1
    assert found["error_control"]["statement"] == selector.statement()
    assert found["parameters"]["n_features_to_select"]["fdr"] == 0.1


def test_a_budget(run):
    options = ("--drop", "leak", "--costs", "age=3,dose=2", "--budget", 4, "--keep", "town")
    result = run(*SELECT, *options, "--json", "-")
    found = json.loads(result.stdout)
    assert found["selected"][0]["feature"] == "town"
    assert found["selected"][0]["kept"]
    assert found["total_cost"] <= 4
    assert "The selected columns cost 4." in result.stderr
    pd.DataFrame({"name": ["age", "other"], "cost": [100, 1]}).to_csv("costs.csv")
    found = json.loads(run(*SELECT, "--costs", "costs.csv", "--budget", 4, "--json", "-").stdout)
    assert "age" not in found["columns"]


@pytest.fixture
def patients(folder):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    X = pd.DataFrame(rng.normal(size=(90, 5)), columns=list("abcde"))
    X["c"] += 2 * y
    frame = X.assign(y=np.where(y, "yes", "no"), patient=np.arange(90) // 3)
    frame.to_csv("patients.csv", index=False)
    return frame


def test_cross_validation_chooses_the_number_and_the_method(run, patients):
    given = ("select", "patients.csv", "-t", "y", "-k", "cv", "--groups", "patient")
    result = run(*given, "-m", "JMI,MIM", "--json", "out.json")
    X, y = patients[list("abcde")], patients["y"]
    expected = SelectorCV([make_selector("JMI"), make_selector("MIM")])
    expected.fit(X, y, groups=patients["patient"].astype(str))
    with open("out.json") as file:
        found = json.load(file)
    assert found["columns"] == ["abcde"[j] for j in expected.selected_]
    assert found["cross_validation"]["score"] == expected.best_score_
    choices, selected = result.stdout.split("# ")
    assert [line.split("\t")[0] for line in choices.splitlines()[1:]] == [
        one.selector for one in expected.choices_
    ]
    assert selected.startswith(f"Selected by {expected.best_selector_}\nrank\t")
    assert " (5 splits of 90 rows; rule best) chose " in " ".join(result.stderr.split())
    assert f"; without a feature, {expected.baseline_score_:.4f}." in " ".join(
        result.stderr.split()
    )
    assert found["cross_validation"]["baseline"] == expected.baseline_score_
    run("report", *given[1:], "-o", "page.html")
    run("explain", *given[1:], "-f", "a")


def test_cross_validation_of_one_method_says_the_baseline(run, patients):
    result = run("select", "patients.csv", "-t", "y", "--json", "out.json")
    with open("out.json") as file:
        found = json.load(file)["cross_validation"]
    assert found["score"] > found["baseline"]
    assert found["beats_baseline"]
    assert found["n_features"] == len(result.stdout.splitlines()) - 1
    share = np.exp(found["baseline"])
    assert f"without a column, {share:.1%}." in " ".join(result.stderr.split())
    assert run("select", "patients.csv", "-t", "y", "-k", "cv").stdout == result.stdout


@pytest.mark.parametrize("method", ["HOCMIM-R", "JMI,Fisher"])
def test_always_no_is_no_result(run, method):
    """At 1 : 99 no command presents the accuracy of "always no" as a result."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(1000, 5)), columns=list("abcde"))
    frame.assign(y=np.where(np.arange(1000) % 100, "no", "yes")).to_csv("rare.csv", index=False)
    result = run("select", "rare.csv", "-t", "y", "-m", method, "--json", "out.json")
    said = " ".join(result.stderr.split())
    assert "No number of columns predicts better than always answering 'no'." in said
    with open("out.json") as file:
        found = json.load(file)
    assert not found["cross_validation"]["beats_baseline"]
    assert len(found["columns"]) == 1


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["reduced.csv", "reduced.tsv.gz", "reduced.parquet", "r.feather"])
def test_output_has_the_selected_columns_and_the_target(run, name):
    result = run(*SELECT, "-k", 4, "--output", name)
    reduced = read_table(name)
    columns = json.loads(run(*SELECT, "-k", 4, "--json", "-").stdout)["columns"]
    assert reduced.column_names == [*columns, "outcome"]
    assert reduced.to_pydict() == read_table("mixed.csv").select(reduced.column_names).to_pydict()
    assert f"Wrote {name}." in result.stderr


@pytest.mark.parametrize("name", ["t.tsv", "t.csv.gz", "t.parquet", "t.parquet.gz", "t.arrow"])
def test_every_format_gives_the_same(run, name):
    write_table(read_table("mixed.csv"), name)
    assert run("select", name, "-t", "outcome").stdout == run(*SELECT).stdout


def test_standard_input(run, folder):
    text = (folder / "mixed.csv").read_bytes()
    result = run("select", "-", "-t", "outcome", stdin=text)
    assert result.stdout == run(*SELECT).stdout
    assert result.stderr.startswith("standard input: ")


def test_drop_and_missing(run):
    result = run(*SELECT, "-k", 8, "--drop", "leak,id", "--missing", "?")
    features = [row["feature"] for row in rows_of(result.stdout)]
    assert len(features) == 8
    assert not {"leak", "id"} & set(features)
    assert "'lab'" not in result.stderr


def test_no_header_and_delimiter_and_encoding(run, folder):
    (folder / "plain.txt").write_bytes(
        b"".join(f"{i % 2}#{i % 3}#{'äö'[i % 2]}\n".encode("latin-1") for i in range(30))
    )
    result = run(
        "select", "plain.txt", "-t", "f2", "--no-header", "--delimiter", "#",
        "--encoding", "latin-1", "-k", 1,
    )  # fmt: skip
    assert rows_of(result.stdout)[0]["feature"] == "f0"


def test_a_wide_parquet_file(run, folder):
    path, X, y = write_wide_table(folder / "genes.parquet")
    result = run("select", path, "-t", "class", "-k", 10, "--json", "-")
    found = json.loads(result.stdout)
    selector = RobustHOCMIM(10).fit(X, y)
    assert [row["score"] for row in found["selected"]] == selector.scores_.tolist()
    assert "2,000 rows, 5,000 features (5,000 integer)" in result.stderr


def test_codes_on_disk_and_a_checkpoint_give_the_same(run, folder):
    table = read_table("mixed.csv")
    known = table.filter(table.column("outcome").is_valid())
    write_table(hocmim.TextConverter().fit_transform(known), "mixed.parquet")
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
    said = run(*arguments, "--codes-dir", "codes", "--weights", "age", code=2).stderr
    assert "--weights cannot be used with --cluster or --codes-dir" in said


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same(run):
    distributed = pytest.importorskip("distributed")
    table = read_table("mixed.csv")
    write_table(table.filter(table.column("outcome").is_valid()), "mixed.parquet")
    arguments = ("select", "mixed.parquet", "-t", "outcome", "-k", 5)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        dashboard_address=":0",
        silence_logs=50,
    ) as cluster:
        result = run(*arguments, "--cluster", cluster.scheduler_address)
    assert result.stdout == run(*arguments).stdout


# --- targets, weights, groups ---------------------------------------------------------------------


def test_kinds_of_target(run):
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
        assert re.search("target '\\w+': a quantity, 400 distinct values", result.stderr)
        # The bins are the same for a quantity and its multiple.
        assert result.stdout == kinds["cost"].stdout
    guess = "A guess: if it holds classes, pass --target-kind classes"
    assert [guess in result.stderr for result in kinds.values()] == [True, False, False]
    classes = ("select", "t.csv", "-t", "cost", "-k", 1, "--target-kind", "classes")
    said = run(*classes, code=1).stderr
    assert "y has 400 classes in 400 rows: nearly every row is a class of its own" in said
    assert "If it is a quantity, pass --target-kind quantity" in said


def test_few_groups_name_keep_for_batches(run):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=160)
    table = {"a": rng.normal(size=160) + y, "batch": np.arange(160) % 4, "y": y,
             "many": np.arange(160) % 40}  # fmt: skip
    write_table(pa.table(table), "t.csv")
    few = ("select", "t.csv", "-t", "y", "-k", "significant", "--groups")
    said = run(*few, "batch").stderr
    assert "The rows are in 4 groups." in said
    assert "pass --keep batch instead of groups" in " ".join(said.split())
    assert "groups." not in run(*few, "many").stderr


@pytest.mark.parametrize("strategy", ["joint", "mean"])
def test_several_targets(run, folder, strategy):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    frame["y"] = np.where(frame["a"] > 0, "yes", "no")
    frame["z"] = frame["c"].where(frame["c"] < 2)  # some are missing
    write_table(pa.Table.from_pandas(frame), "t.csv")
    arguments = ("select", "t.csv", "-t", "y", "-t", "z", "-k", 2, "--target-strategy", strategy)
    result = run(*arguments, "--json", "-", "-o", "few.csv")
    known = frame.dropna()
    selector = RobustHOCMIM(2, target=Target(strategy=strategy))
    selector.fit(known[list("abcd")], known[["y", "z"]])
    found = json.loads(result.stdout)
    assert [row["score"] for row in found["selected"]] == selector.scores_.tolist()
    assert found["target"] == "y, z"
    assert "target 'y': 2 classes ('no' " in result.stderr
    assert "target 'z': a quantity" in result.stderr
    assert f"{len(frame) - len(known)} rows without a target excluded" in result.stderr
    assert read_table("few.csv").column_names[-2:] == ["y", "z"]
    said = run("explain", *arguments[1:], "-f", "b").stdout
    assert ("the mean over the targets" in said) == (strategy == "mean")
    run("report", *arguments[1:], "-o", "page.html")


def test_weights_are_those_of_the_library(run):
    rng = np.random.default_rng(0)
    y = rng.random(150) < 0.2
    table = pd.DataFrame({f"x{j}": rng.integers(0, 3, 150) + (j == 2) * y for j in range(5)})
    table["w"] = rng.random(150).round(3) + 0.001
    table["y"] = np.where(y, "ill", "well")
    table.to_csv("t.csv", index=False)
    for weights, values in (("w", table["w"]), ("balanced", "balanced")):
        given = ("select", "t.csv", "-t", "y", "-k", 3, "--weights", weights)
        drop = () if weights == "w" else ("--drop", "w")
        found = json.loads(run(*given, *drop, "--json", "-").stdout)
        expected = RobustHOCMIM(3).fit(table[[f"x{j}" for j in range(5)]], table["y"], values)
        assert [row["score"] for row in found["selected"]] == expected.scores_.tolist()
        run("report", *given[1:], *drop, "-o", f"{weights}.html")
    given = ("select", "t.csv", "-t", "y", "-k", 3, "--weights", "w", "-m", "ReliefF")
    said = run(*given, code=2).stderr
    assert "ReliefF takes no --weights" in said
    said = run("select", "t.csv", "-t", "x0", "--weights", "y", code=2).stderr
    assert "The weights 'y' must be numbers. They are text." in said


def test_feature_groups_are_selected_as_one(run):
    arguments = (*SELECT, "-k", 3, "--drop", "leak", "--feature-group", "who=age,town,smoker")
    found = json.loads(run(*arguments, "--json", "-").stdout)
    assert "who" in [row["feature"] for row in found["selected"]]
    assert len(found["selected"]) == 3
    assert len(found["columns"]) == 5
    assert run("explain", *arguments[1:], "-f", "who").stdout.startswith("HOCMIM-R selected 'who'")
    said = run(*SELECT, "--feature-group", "who=age,twon", code=2).stderr
    assert "Did you mean 'town'?" in said


def test_one_column_per_cluster(run):
    table = read_table("mixed.csv")
    write_table(table.append_column("again", table.column("age")), "twice.csv")
    given = ("select", "twice.csv", "-t", "outcome", "--drop", "when", "-k", 10)
    given += ("--one-per-cluster", 0.3)
    result = run(*given, "--json", "-")
    columns = json.loads(result.stdout)["columns"]
    assert len({"age", "again"} & set(columns)) == 1
    assert "11 columns in 10 clusters; one column of each is kept." in result.stderr
    said = run(*given, "--feature-group", "a=age,town", code=2).stderr
    assert "cannot be used with --feature-group" in said


CRITERION = """
import hocmim

class Scaled(hocmim.Criterion):
    def __init__(self, factor=1.0, estimator="plugin"):
        super().__init__(estimator)
        self.factor = factor

    def scores(self):
        return self.factor * self.relevance
"""


def test_a_criterion_of_ones_own(run, folder):
    (folder / "mine.py").write_text(CRITERION)
    found = json.loads(run(*SELECT, "-m", "mine:Scaled(factor=2.0)", "-k", 2, "--json", "-").stdout)
    expected = hocmim.MIM(2, estimator="plugin").fit(*known_table())
    assert found["method"] == "Scaled"
    scores = [row["score"] for row in found["selected"]]
    assert scores == pytest.approx((2 * expected.scores_).tolist())
    wrong = {
        "mnie:Scaled": "no module 'mnie'",
        "mine:Scald": "no class 'Scald' in the module 'mine'. Did you mean 'Scaled'",
        "json:JSONDecoder": "must be a subclass of hocmim.Criterion",
        "mine:Scaled(fcator=2)": "mine:Scaled: ",
    }
    for method, message in wrong.items():
        assert message in run(*SELECT, "-m", method, code=2).stderr

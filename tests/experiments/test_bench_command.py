"""The command: the paper's experiment in a very small form, and one of one's own."""

import csv
import lzma
import re
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from click.testing import CliRunner
from made_up import make_arrays
from sklearn.feature_selection import f_classif

import hocmim
from hocmim.cli import main
from hocmim.cli.commands import bench as commands
from hocmim.errors import InvalidParameterError
from hocmim.experiments import datasets
from hocmim.experiments import run as run_module
from hocmim.experiments.config import read_config
from hocmim.experiments.datasets import fetch_published, make_data_set, save
from hocmim.experiments.protocol import Item, split_rows
from hocmim.experiments.published import published_sets
from hocmim.experiments.store import Store


def invoke(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def paper_folder(tmp_path):
    """Made-up sets of the sizes of soybeansmall, spect and parkinsons; the others are missing."""
    folder = tmp_path / "data"
    for entry in published_sets():
        if entry.name in ("soybeansmall", "spect", "parkinsons"):
            size = (entry.n_samples, entry.n_features, entry.n_classes)
            save(make_data_set(entry.name, *make_arrays(*size)), folder)
    return folder


def test_version_and_help():
    assert hocmim.__version__ in invoke("--version")
    assert "paper" in invoke("bench", "--help")


@pytest.mark.slow
def test_the_paper_in_small(paper_folder, tmp_path):
    command = ["bench", "paper", "--data", paper_folder, "--out", tmp_path / "out", "--quick"]
    command += ["--splits", 1, "--methods", "HOCMIM,JMI,CMIM,Fisher,Gini,FS-OLS"]
    output = invoke(*command)
    assert "Not included: sonar" in output
    assert "36 of 36" not in output
    assert "18 of 18" in output
    out = tmp_path / "out"
    with (out / "tables" / "knn_low.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["dataset"] for row in rows[:3]] == ["parkinsons", "spect", "soybeansmall"]
    for name in ("knn_low", "svm_filters", "svm-balanced_low_difference", "times"):
        assert "Not included: sonar" in (out / "tables" / f"{name}.csv").read_text()
    assert "Not included: sonar" in (out / "index.html").read_text()
    assert (out / "figures" / "critical_difference_knn_low.svg").exists()
    assert "\ncores," in (out / "machine.csv").read_text()
    tables = {path.name: path.read_bytes() for path in (out / "tables").iterdir()}
    results = out / "results.jsonl"
    assert len(results.read_text().splitlines()) == 18
    # The same command again, on the compressed store, computes nothing and writes the same tables.
    (out / "results.jsonl.xz").write_bytes(lzma.compress(results.read_bytes()))
    results.unlink()
    invoke(*command)
    assert {path.name: path.read_bytes() for path in (out / "tables").iterdir()} == tables
    assert not results.exists()


@pytest.mark.slow
def test_two_runs_give_the_same_tables(paper_folder, tmp_path):
    for out in ("first", "second"):
        invoke(
            "bench", "paper", "--data", paper_folder, "--out", tmp_path / out, "--splits", 2,
            "--datasets", "soybeansmall,spect", "--methods", "HOCMIM,NCA,ReliefF",
        )  # fmt: skip
    for path in (tmp_path / "first" / "tables").iterdir():
        if not path.name.startswith(("times", "claims")):
            assert path.read_bytes() == (tmp_path / "second" / "tables" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "nowhere"], "The folder nowhere does not exist"),
        (["--methods", "HOCMIN"], "There is no method 'HOCMIN'"),
        (["--datasets", "iris"], "There is no data set 'iris'"),
        (["--splits-of", "sonar=x"], "--splits-of needs NAME=N"),
    ],
)
def test_wrong_arguments(paper_folder, tmp_path, arguments, message):
    command = ["bench", "paper", "--data", paper_folder, "--out", tmp_path / "out", "--quick"]
    assert message in invoke(*command, *arguments, code=1)


@pytest.mark.slow
def test_splits_of_one_set(paper_folder, tmp_path):
    invoke(
        "bench", "paper", "--data", paper_folder, "--out", tmp_path / "out", "--splits", 2,
        "--splits-of", "spect=1", "--datasets", "spect,soybeansmall", "--methods", "CMIM,JMI,DISR",
    )  # fmt: skip
    text = (tmp_path / "out" / "tables" / "knn_low.csv").read_text()
    assert "Splits: 1 (spect), 2 (soybeansmall)." in text


# -- one's own -------------------------------------------------------------------------------------

OWN = """
[run]
out = "results"
splits = 2
n_features = 3
classifiers = ["knn"]

[[dataset]]
path = "mine.csv"
target = "label"

[[dataset]]
name = "other"
path = "other.npz"
splits = 1

[[method]]
name = "HOCMIM"

[[method]]
name = "HOCMIM, order 1"
method = "HOCMIM"
parameters = { max_order = 1 }
"""


@pytest.fixture
def own(tmp_path):
    X, y = make_arrays()
    np.savetxt(
        tmp_path / "mine.csv",
        np.column_stack([y, X]),
        delimiter=",",
        header="label,a,b,c,d,e,f",
        comments="",
    )
    save(make_data_set("other", *make_arrays(seed=1)), tmp_path)
    path = tmp_path / "config.toml"
    path.write_text(OWN)
    return path


@pytest.mark.slow
def test_an_experiment_of_ones_own(own):
    invoke("bench", "run", own)
    out = own.parent / "results"
    table = (out / "tables" / "knn_all.csv").read_text()
    assert table.startswith('dataset,splits,HOCMIM,"HOCMIM, order 1",')
    assert "\nmine,2,0." in table
    assert "Splits: 2 (mine), 1 (other)." in table
    assert not (out / "tables" / "svm_all.csv").exists()
    page = (out / "index.html").read_text()
    assert "The tests need at least" in page
    invoke("bench", "run", own, "--only-report")
    assert (out / "index.html").read_text() == page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('path = "mine.csv"', 'path = "mine.csv"\nclass = "x"', "unknown key 'class'"),
        ("n_features = 3", "n_featurs = 3", "unknown key 'n_featurs'"),
        ("max_order = 1", "max_ordr = 1", "HOCMIM has no parameter 'max_ordr'"),
        ('name = "HOCMIM"\n', 'name = "HOCMIN"\n', "There is no method 'HOCMIN'"),
        ('target = "label"', 'target = "klass"', "no column 'klass'"),
        ("splits = 2", "splits = 0", "splits must be an integer"),
        ('path = "other.npz"', 'path = "gone.npz"', "gone.npz does not exist"),
        ('["knn"]', '["tree"]', "classifiers must be one of"),
        ("[run]", "[run", "not valid TOML"),
        ('out = "results"', "", "No folder for the results"),
    ],
)
def test_wrong_configurations(own, old, new, message):
    assert old in OWN
    own.write_text(OWN.replace(old, new))
    assert message in " ".join(invoke("bench", "run", own, code=1).split())


FOREIGN = '''
import numpy as np
from sklearn.feature_selection import SelectKBest


class Reversed(SelectKBest):
    """The last columns, by a score."""

    def fit(self, X, y):
        self.scores_ = np.arange(X.shape[1])
        self.pvalues_ = None
        return self

    def _get_support_mask(self):
        return np.arange(len(self.scores_)) >= len(self.scores_) - self.k
'''


@pytest.mark.parametrize("jobs", [1, 2])
def test_any_selector_of_the_scikit_learn_kind(own, jobs):
    """Also of a module beside the configuration, in this process and in others."""
    (own.parent / f"theirs{jobs}.py").write_text(FOREIGN)
    methods = ("sklearn.feature_selection:SelectKBest", f"theirs{jobs}:Reversed")
    entries = "\n".join(f'[[method]]\nname = "{name}"' for name in methods)
    own.write_text(OWN[: OWN.index("[[method]]")] + entries)
    invoke("bench", "run", own, "--jobs", jobs)
    found = Store(own.parent / "results" / "results.jsonl").read()
    assert found[Item(0, "mine", methods[1])].selected == (5, 4, 3)
    data = read_config(own).experiment.sources["mine"].load()
    rows = split_rows(data.y, 0).train
    scores, _ = f_classif(data.X[rows], data.y[rows])
    assert found[Item(0, "mine", methods[0])].selected == tuple(np.argsort(-scores)[:3])
    assert str(own.parent) not in sys.path


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("sklearn.svm:SVC", "sklearn.svm:SVC must be a selector with get_support()"),
        ("sklearn.feature_selection:SelectFromModel", "missing 1 required positional argument"),
        ("sklearn.feature_selection:VarianceThreshold", "neither scores_ nor ranking_"),
    ],
)
def test_selectors_that_cannot_be_used(own, method, message):
    own.write_text(OWN.replace('name = "HOCMIM"\n', f'name = "{method}"\n'))
    assert message in " ".join(invoke("bench", "run", own, code=1).split())


def test_a_module_beside_the_configuration_replaces_no_other(own):
    (own.parent / "lzma.py").write_text("raise RuntimeError('not the module of Python')")
    before = list(sys.path)
    read_config(own)
    own.write_text(OWN.replace('method = "HOCMIM"', 'method = "lzma:JMI"'))
    with pytest.raises(InvalidParameterError, match="no class 'JMI'"):
        read_config(own)
    assert sys.path == before


@pytest.mark.parametrize("text", ["jobs = 0", "jobs = 2000000"])
def test_the_number_of_processes_is_bounded(own, text):
    own.write_text(OWN.replace("splits = 2", f"splits = 2\n{text}"))
    assert "jobs in [run] must be an int in the range [1, " in invoke("bench", "run", own, code=1)


def test_no_more_processes_than_cores(own, monkeypatch):
    asked = []

    def workers(jobs, **_):
        asked.append(jobs)
        return lambda calls: (call[0](*call[1]) for call in calls)

    monkeypatch.setattr(run_module, "Parallel", workers)
    invoke("bench", "run", own, "--jobs", 1000)
    assert asked == [joblib.cpu_count()]


def test_methods_have_the_names_of_make_selector(paper_folder, tmp_path):
    command = ["bench", "paper", "--data", paper_folder, "--out", tmp_path / "out", "--splits", 1]
    output = invoke(*command, "--datasets", "spect", "--methods", "MRMR,jmi,mrmr")
    assert "2 of 2" in output


def test_control_characters_in_a_title_give_no_warning(own):
    own.write_text(OWN.replace('name = "other"', 'name = "bell\\u0007"'))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        invoke("bench", "run", own)
    svg = next((own.parent / "results" / "figures").glob("error_curves_bell*"))
    assert r"bell\x07" in svg.read_text()


@pytest.mark.parametrize("jobs", [1, 2])
def test_warnings_of_the_data_name_the_data_set_once(own, jobs):
    X, y = make_arrays()
    lines = [f"{c},{x[0]},id{row}" for row, (c, x) in enumerate(zip(y, X, strict=True))]
    (own.parent / "mine.csv").write_text("\n".join(["label,a,code", *lines]))
    output = invoke("bench", "run", own, "--jobs", jobs)
    said = re.findall("Warning: (.*)", output)
    assert sorted(text.split()[:4] for text in said) == [
        ["mine:", "1", "column", "identifies"],
        ["mine:", "n_features_to_select", "is", "2,"],
    ]
    assert output.index("6 of 6") < output.index("Warning: mine: ")


def test_a_failing_method_is_told(own):
    own.write_text(OWN.replace("max_order = 1", "max_order = 0"))
    output = invoke("bench", "run", own, code=1)
    assert "Failed: HOCMIM, order 1 on mine" in output
    page = (own.parent / "results" / "index.html").read_text()
    assert "max_order must be" in page


def test_fetch(tmp_path, monkeypatch):
    def fetch(entry):
        if entry.name in datasets.ELSEWHERE:
            return fetch_published(entry)
        size = (entry.n_samples, entry.n_features, entry.n_classes)
        return make_data_set(entry.name, *make_arrays(*size))

    monkeypatch.setattr(commands, "fetch_published", fetch)
    output = invoke("bench", "fetch", "sonar", "german", "--out", tmp_path)
    assert (tmp_path / "sonar.npz").exists()
    assert "german is not on OpenML" in " ".join(output.split())


def test_the_configuration_in_the_docs_works(own):
    text = (Path(__file__).parents[2] / "docs" / "development" / "paper.md").read_text()
    example = re.search(r"```toml\n(.*?)```", text, re.S)[1]
    own.write_text(example.replace('"class"', '"label"'))
    found = read_config(own)
    assert found.title == "Mine"
    assert found.experiment.n_splits == {"mine": 10}
    assert list(found.experiment.methods) == ["HOCMIM", "HOCMIM, order 5"]
    assert found.experiment.protocol.classifiers == ("knn", "svm")

"""keep and exclude in every form, on every method, and everywhere a selector is used."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hocmim import (
    JMI,
    MIM,
    FisherScore,
    RobustHOCMIM,
    SelectorCV,
    StabilitySelector,
    compare_methods,
    list_methods,
    load,
    make_selector,
)
from hocmim.cli import main
from hocmim.errors import MissingDependencyError

RNG = np.random.default_rng(5)
N, NAMES = 90, list("abcdefgh")
X = pd.DataFrame(RNG.normal(size=(N, 8)).round(2), columns=NAMES)
Y = (X["a"] + X["b"] + 0.5 * RNG.normal(size=N) > 0).astype(int).rename("y")
KEPT, EXCLUDED = {6, 7}, {0, 3}  # noise is kept, and the best column is excluded
FORMS = {
    "names": {"keep": ["h", "g"], "exclude": ["a", "d"]},
    "indices": {"keep": [7, 6], "exclude": np.array([0, 3])},
    "mask": {"keep": [False] * 6 + [True] * 2, "exclude": np.isin(range(8), [0, 3])},
    "callable": {
        "keep": lambda names: [name for name in names if name > "f"],
        "exclude": lambda names: np.isin(names, ["a", "d"]),
    },
}


def fit(selector):
    try:
        return selector.fit(X, Y)
    except MissingDependencyError as error:
        pytest.skip(str(error))


def bits(selector):
    return selector.selected_.tolist(), selector.scores_.tobytes(), str(selector.selection_.steps)


def assert_kept(selector, n_selected=4):
    """Kept columns are first, count towards K and are marked; excluded ones are not selected."""
    selected = selector.selected_.tolist()
    assert len(selected) == n_selected
    assert set(selected[:2]) == KEPT
    assert not set(selected) & EXCLUDED
    assert selector.kept_.tolist() == [True, True, *[False] * (n_selected - 2)]


@pytest.mark.parametrize("name", list_methods())
def test_every_method_and_form(name):
    found = [
        fit(make_selector(name, n_features_to_select=4, **limits)) for limits in FORMS.values()
    ]
    for one in found:
        assert_kept(one)
        assert bits(one) == bits(found[0])


def in_groups(**limits):
    groups = {"pair": ["g", "h"]}
    found = JMI("auto", feature_groups=groups, keep=["pair"], exclude=limits["exclude"]).fit(X, Y)
    assert np.isnan(found.p_values_[:2]).all()
    assert (found.p_values_[2:] <= found.alpha).all()
    assert found.selected_.tolist() == [6, 7, 1]
    assert found.kept_.tolist() == [True, True, False]


def automatically(**limits):
    found = RobustHOCMIM("auto", fdr=0.2, **limits).fit(X, Y)
    assert_kept(found, len(found.selected_))
    assert 1 in found.selected_
    assert "2 features of them were given, not tested. 2 features were excl" in found.statement()


def in_resamples(**limits):
    found = StabilitySelector(JMI(4, **limits), n_resamples=6).fit(X, Y)
    assert (found.frequencies_[[6, 7]] == 1).all()
    assert (found.frequencies_[[0, 3]] == 0).all()


def in_cross_validation(**limits):
    found = SelectorCV([JMI(**limits), FisherScore(**limits)], cv=3, rule="best").fit(X, Y)
    assert set(found.cv_results_["n_features"]) == {2, 3, 4, 5, 6}
    assert_kept(found.selector_, found.best_n_features_)


def in_comparisons(**limits):
    selectors = {"a": JMI(4, **limits), "b": FisherScore(4, **limits)}
    for one in compare_methods(X, Y, selectors, cv=2, n_resamples=3).results:
        selected = {NAMES[j] for j in one.selected}
        assert {"g", "h"} <= selected
        assert not {"a", "d"} & selected


def in_a_pipeline(**limits):
    scaler = StandardScaler().set_output(transform="pandas")
    found = make_pipeline(scaler, MIM(4, **limits)).fit(X, Y)
    assert_kept(found[-1])


USES = (
    in_groups, automatically, in_resamples, in_cross_validation, in_comparisons, in_a_pipeline
)  # fmt: skip


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("form", FORMS)
def test_every_use_and_form(use, form):
    use(**FORMS[form])


@pytest.mark.parametrize("form", FORMS)
def test_codes_on_disk_and_files(form, tmp_path):
    expected = JMI(4, **FORMS[form]).fit(X, Y)
    stored = JMI(4, codes_dir=tmp_path / "codes", **FORMS[form]).fit(X, Y)
    assert bits(stored) == bits(expected)
    pytest.importorskip("pyarrow")
    X.assign(y=Y).to_parquet(tmp_path / "table.parquet")
    read = JMI(4, **FORMS[form]).fit(tmp_path / "table.parquet", "y")
    assert bits(read) == bits(expected)


@pytest.mark.parametrize("name", list_methods())
def test_extend_after_load(name, tmp_path):
    """With what was kept, excluded and paid, to the last bit."""
    limits = {"keep": ["h"], "exclude": ["d"]}
    if name not in ("FS-OLS", "Gini"):  # they have no score per unit of cost
        limits |= {"costs": [1, 2, 1, 3, 1, 2, 1, 1], "budget": 6.5}
    longer = fit(make_selector(name, n_features_to_select=5, **limits))
    short = fit(make_selector(name, n_features_to_select=2, **limits))
    loaded = load(short.save(tmp_path / "model.json"))
    assert bits(loaded.extend(5, X, Y)) == bits(longer)
    again = load(short.save(tmp_path / "codes.json", with_codes=True))
    assert bits(again.extend(5, X, Y)) == bits(longer)


COMMANDS = {
    "select": ("-m", "JMI", "-k", 4, "--json", "-"),
    "select by a filter": ("-m", "FisherScore", "-k", 4, "--json", "-"),
    "select auto": ("-m", "JMI", "-k", "auto", "--json", "-"),
    "select fdr": ("-m", "JMI", "--fdr", 0.2, "--json", "-"),
    "select cv": ("-m", "JMI", "-k", "cv", "--cv", 3, "--json", "-"),
    "tune": ("-m", "JMI,FisherScore", "--cv", 3, "--json", "-"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command, tmp_path):
    file = tmp_path / "table.csv"
    X.assign(y=Y).to_csv(file, index=False)
    given = [command.split()[0], file, "-t", "y", "--keep", "g,h", "--exclude", "a,d", "-q"]
    done = CliRunner().invoke(main, [str(one) for one in (*given, *COMMANDS[command])])
    assert done.exit_code == 0, done.output
    columns = json.loads(done.stdout)["columns"]
    assert set(columns[:2]) == {"g", "h"}
    assert not {"a", "d"} & set(columns)


def test_commands_that_explain_and_compare(tmp_path):
    file = tmp_path / "table.csv"
    X.assign(y=Y).to_csv(file, index=False)

    def run(command, *given):
        limits = ("-t", "y", "-k", "4", "--keep", "g,h", "--exclude", "a,d", "-q")
        done = CliRunner().invoke(main, [command, str(file), *limits, *given])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "because it is in keep" in run("explain", "-m", "JMI", "-f", "g").replace("\n", " ")
    assert "it is in exclude" in run("explain", "-m", "JMI", "-f", "a").replace("\n", " ")
    page = tmp_path / "page.html"
    run("report", "-m", "JMI", "-o", str(page))
    assert "kept" in page.read_text(encoding="utf-8")
    folds = ("--folds", "2", "--resamples", "3", "--json", str(tmp_path / "out.json"))
    run("compare", "--methods", "JMI,FisherScore", *folds)
    for one in json.loads((tmp_path / "out.json").read_text())["methods"]:
        assert {"g", "h"} <= set(one["selected"])
        assert not {"a", "d"} & set(one["selected"])

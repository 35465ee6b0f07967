"""Tables with known answers, scikit-learn's selectors beside ours, and the leaderboard."""

import csv
import itertools

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    f_classif,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from hocmim.cli import main
from hocmim.experiments import answers, known
from hocmim.experiments.answers import CASES, KnownSource, Network, network_table, random_network
from hocmim.experiments.classifiers import predict_final
from hocmim.experiments.peers import PEERS, make_any
from hocmim.experiments.protocol import Item, ItemOutcome, Method, Protocol, run_item

# -- the tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["wine + random", "iris + second-order", "network 30 × 400"])
def test_the_seed_determines_the_table(case):
    first, again = KnownSource(case, 0).load(), KnownSource(case, 0).load()
    assert first.fingerprint == again.fingerprint
    others = [KnownSource(case, 1).load(), KnownSource(case, 0, seed=1).load()]
    assert first.fingerprint not in {other.fingerprint for other in others}


@pytest.mark.parametrize("kind", answers.KINDS)
def test_the_useful_columns_are_the_original_ones(kind):
    data = KnownSource(f"wine + {kind}", 0).load()
    X, _ = load_wine(return_X_y=True)
    assert data.n_features == 13 + 20
    useful = data.X[:, data.useful]
    # Rows and columns are in another order: compare the sorted columns as sets.
    found = {tuple(np.sort(column)) for column in useful.T}
    assert found == {tuple(np.sort(column)) for column in X.T}
    assert data.useful != tuple(range(13))


def test_random_columns_have_the_values_of_a_column_in_another_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    added = answers.added_columns(X, "random", 7, rng)
    values = [np.sort(column) for column in X.T]
    assert all(any((np.sort(a) == v).all() for v in values) for a in added.T)
    assert not any((a == x).all() for a, x in itertools.product(added.T, X.T))


def test_corrupted_columns_follow_a_column_and_products_two():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4)) * [1, 10, 100, 1000]
    corrupted = answers.added_columns(X, "corrupted", 4, rng)
    best = np.abs(np.corrcoef(corrupted.T, X.T)[:4, 4:]).max(axis=1)
    np.testing.assert_allclose(best, np.sqrt(0.5), atol=0.02)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    pairs = [standard[:, a] * standard[:, b] for a, b in itertools.combinations(range(4), 2)]
    for product in answers.added_columns(X, "second-order", 6, rng).T:
        assert any(np.allclose(product, pair) for pair in pairs)


def test_the_markov_blanket_of_a_network_by_hand():
    # 0 → 2 ← 1, 2 → 3, 2 → 5 ← 4; 6 alone
    network = Network([[], [], [0, 1], [2], [], [2, 4], []], [])
    assert network.blanket(2) == {0, 1, 3, 5, 4}
    assert network.blanket(0) == {2, 1}
    assert network.blanket(6) == set()


def test_samples_follow_the_conditional_tables():
    tables = [np.array([0.2, 0.8]), np.array([[0.9, 0.1, 0.0], [0.0, 0.3, 0.7]])]
    values = Network([[], [0]], tables).sample(40_000, np.random.default_rng(0))
    assert abs(values[:, 0].mean() - 0.8) < 0.01
    for level, shares in enumerate(tables[1]):
        given = values[values[:, 0] == level, 1]
        np.testing.assert_allclose(np.bincount(given, minlength=3) / len(given), shares, atol=0.02)


def test_given_the_blanket_no_other_column_tells_anything():
    """By enumeration of a small network: P(class | all others) depends on the blanket only."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        network = random_network(6, rng)
        levels = [table.shape[-1] for table in network.tables]
        joint = np.empty(levels)
        for cell in itertools.product(*map(range, levels)):
            chances = [
                table[(*(cell[parent] for parent in of), cell[variable])]
                for variable, (of, table) in enumerate(
                    zip(network.parents, network.tables, strict=True)
                )
            ]
            joint[cell] = np.prod(chances)
        assert np.isclose(joint.sum(), 1)
        target = int(rng.integers(6))
        given_all = joint / joint.sum(axis=target, keepdims=True)
        others = tuple({*range(6)} - {target, *network.blanket(target)})
        marginal = joint.sum(axis=others, keepdims=True)
        given_blanket = marginal / marginal.sum(axis=target, keepdims=True)
        np.testing.assert_allclose(given_all, np.broadcast_to(given_blanket, levels), atol=1e-9)


def test_network_tables_have_a_blanket_of_the_stated_size():
    X, y, n_useful = network_table(30, 300, np.random.default_rng(0))
    assert X.shape == (300, 30)
    assert answers.MIN_BLANKET <= n_useful <= answers.MAX_BLANKET
    assert np.bincount(y).max() <= answers.MAX_CLASS_SHARE * 300


# -- scikit-learn's selectors ----------------------------------------------------------------------


def standard(X):
    return StandardScaler().fit_transform(X)


def same_as_peer(name, X, expected):
    selected = make_any(name, n_features_to_select=5).fit(X, Y).selected_
    assert len(selected) == 5
    assert set(selected.tolist()) == set(np.flatnonzero(expected).tolist())


X, Y = load_breast_cancer(return_X_y=True)


def test_selectkbest_selects_as_scikit_learn_does():
    same_as_peer("SelectKBest f_classif", X, SelectKBest(f_classif, k=5).fit(X, Y).get_support())

    def information(X, y):
        return mutual_info_classif(X, y, random_state=0)

    expected = SelectKBest(information, k=5).fit(X, Y).get_support()
    same_as_peer("SelectKBest mutual_info_classif", X, expected)


def test_rfe_and_l1_select_as_scikit_learn_does():
    rfe = RFE(LogisticRegression(max_iter=200), n_features_to_select=5, step=0.1)
    same_as_peer("RFE logistic", X, rfe.fit(standard(X), Y).support_)
    model = LinearSVC(penalty="l1", dual=False, random_state=0)
    l1 = SelectFromModel(model, max_features=5).fit(standard(X), Y)
    same_as_peer("SelectFromModel L1", X, l1.get_support())


def test_l1_can_select_fewer_columns():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(60, 8))
    y = (noise[:, 3] > 0).astype(int)
    model = LinearSVC(penalty="l1", dual=False, random_state=0).fit(standard(noise), y)
    n_nonzero = int((np.abs(model.coef_) > 1e-5).sum())
    found = make_any("SelectFromModel L1", n_features_to_select=8).fit(noise, y).selected_
    assert len(found) == n_nonzero < 8
    assert found[0] == 3


@pytest.mark.parametrize("name", PEERS)
def test_peers_rank_a_clear_column_first(name):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(120, 6))
    y = (table[:, 4] > 0).astype(int)
    selected = make_any(name, n_features_to_select=2).fit(table, y).selected_
    if name == "all columns":
        assert selected.tolist() == [0, 1, 2, 3, 4, 5]
    else:
        assert selected[0] == 4


# -- one item --------------------------------------------------------------------------------------


def test_without_columns_the_most_frequent_class_is_predicted():
    y = np.array([0, 1, 1, 1, 2], np.int32)
    empty = np.empty((5, 0))
    for classifier in known.FINAL_CLASSIFIERS:
        assert predict_final(classifier, empty, y, empty).tolist() == [[1] * 5]


def test_an_item_selects_as_many_columns_as_are_useful():
    data = KnownSource("iris + random", 0).load()
    protocol = known.known_experiment(1).protocol
    outcome = run_item(data, 0, Method("MIM"), protocol)
    assert len(outcome.selected) == len(data.useful) == 4
    assert {len(wrong) for wrong in outcome.wrong.values()} == {1}
    assert set(outcome.wrong) == set(known.FINAL_CLASSIFIERS)
    automatic = run_item(data, 0, known.METHODS[known.SIGNIFICANT], protocol)
    assert len(automatic.selected) != 4 or automatic.selected != outcome.selected


def test_the_same_columns_give_the_same_error():
    data = KnownSource("wine + random", 0).load()
    protocol = known.known_experiment(1).protocol
    everything = Protocol(**(vars(protocol) | {"n_features": data.n_features}))
    assert everything.n_features > len(data.useful)
    unknown = data.__class__(data.name, data.X, data.y, data.classes)
    first, second = (
        run_item(unknown, 0, Method(name), everything) for name in ("MIM", "all columns")
    )
    assert first.selected != second.selected
    assert first.wrong == second.wrong


# -- recovery and the leaderboard ------------------------------------------------------------------


def test_recovery_by_hand():
    useful = frozenset({1, 2, 3, 4})
    assert known.recovery([1, 2, 9], useful) == pytest.approx((2 / 3, 1 / 2, 1 - 4 / 7))
    assert known.recovery([], useful) == (0, 0, 1)
    assert known.recovery([4, 3, 2, 1], useful) == (1, 1, 0)


@pytest.fixture
def made_up():
    """Three methods on two cases of two tables: "MIM" is always right, "Gini" never."""
    methods = ("HOCMIM-R", "MIM", "Gini")
    experiment = known.known_experiment(2, methods, ("iris + random", "network 30 × 400"))
    outcomes = {}
    for item in experiment.items():
        useful = experiment.sources[item.dataset].load().useful
        wanted = {"HOCMIM-R": useful[:2], "MIM": useful, "Gini": (-1,)}[item.method]
        wrong = {"HOCMIM-R": [2], "MIM": [1], "Gini": [5]}[item.method]
        errors = dict.fromkeys(known.FINAL_CLASSIFIERS, wrong)
        outcomes[item] = ItemOutcome(item, "", tuple(wanted), 0.5, 1.0, 10, errors, errors)
    return experiment, outcomes


def test_tables_of_a_case_are_averaged(made_up):
    experiment, outcomes = made_up
    found = known.by_case(outcomes, experiment)
    assert {(item.split, item.dataset) for item in found} == {
        (number, case) for number in (0, 1) for case in ("iris + random", "network 30 × 400")
    }
    report = known.known_report(outcomes, experiment)
    table = report.tables["all", "recovery", "error"]
    assert table.comparison.methods == ("HOCMIM-R", "MIM", "Gini")
    np.testing.assert_allclose(table.errors[0], [1 - 2 * 2 / (2 + 4), 0, 1])
    assert "Tables: 2." in table.notes()


def test_the_leaderboard_by_hand(made_up):
    experiment, outcomes = made_up
    report = known.known_report(outcomes, experiment)
    board = report.summaries["leaderboard_noise"]
    rows = {row[0]: dict(zip(board.header, row, strict=True)) for row in board.rows}
    assert [row[0] for row in board.rows] == ["MIM", "HOCMIM-R", "Gini"]
    assert rows["MIM"]["mean rank"] == "1.00"
    assert rows["HOCMIM-R"]["rank, recovery"] == "2.00"
    assert (rows["HOCMIM-R"]["precision"], rows["HOCMIM-R"]["recall"]) == ("1.000", "0.500")
    assert rows["Gini"]["error, forest"] == "0.500"
    assert rows["Gini"]["seconds"] == "0.5"


def test_losses_are_shown(made_up):
    experiment, outcomes = made_up
    report = known.known_report(outcomes, experiment)
    against = report.duels["all", "forest"]
    assert [row[:4] for row in against.rows] == [["MIM", "0", "0", "2"], ["Gini", "2", "0", "0"]]
    assert against.rows[0][4] == "+0.1000"
    by_case = report.summaries["by_case"]
    first = dict(zip(by_case.header, by_case.rows[0], strict=True))
    assert (first["rank"], first["best method"]) == ("2", "MIM")
    assert first["difference"] == "0.333"


def test_every_method_of_the_registry_is_in_the_leaderboard():
    from hocmim import list_methods

    assert {*list_methods(), *PEERS, known.SIGNIFICANT, known.PLAIN} == set(known.METHOD_NAMES)
    assert known.METHOD_NAMES[0] == "HOCMIM-R"
    for name in known.METHOD_NAMES:
        known.METHODS[name].make(3, Protocol())


def invoke(*arguments, code=0):
    result = CliRunner().invoke(main, ["bench", "known", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.slow
def test_the_command_resumes_and_rebuilds(tmp_path):
    command = ["--out", tmp_path, "--tables", 1, "--cases", "iris + random,network 30 × 400"]
    command += ["--methods", "HOCMIM-R,MIM,SelectKBest f_classif,HOCMIM-R significant"]
    assert "8 of 8" in invoke(*command)
    store = tmp_path / "results.jsonl"
    lines = store.read_text().splitlines(keepends=True)
    assert len(lines) == 8
    tables = {path.name: path.read_bytes() for path in (tmp_path / "tables").iterdir()}
    with (tmp_path / "tables" / "leaderboard.csv").open() as file:
        rows = [row for row in csv.reader(file) if not row[0].startswith("#")]
    assert len(rows) == 5
    store.write_text("".join(lines[:5]))
    invoke(*command)
    assert len(store.read_text().splitlines()) == 8
    again = {path.name: path.read_bytes() for path in (tmp_path / "tables").iterdir()}
    timed = {name for name in tables if name.startswith(("times", "leaderboard"))}
    assert {n: t for n, t in again.items() if n not in timed} == {
        n: t for n, t in tables.items() if n not in timed
    }
    invoke(*command, "--only-report")
    assert {p.name: p.read_bytes() for p in (tmp_path / "tables").iterdir()} == again
    page = (tmp_path / "index.html").read_text()
    assert "Leaderboard: added columns and networks" in page
    assert "HOCMIM-R against each" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "HOCMIN"], "There is no method 'HOCMIN'"),
        (["--cases", "iris"], "There is no case 'iris'"),
    ],
)
def test_wrong_arguments(tmp_path, arguments, message):
    assert message in invoke("--out", tmp_path, *arguments, code=1)


def test_cases_have_unique_names_without_commas():
    assert len(CASES) == 21 + 4 * 4 * 3 + 3 * 3 + 1
    assert not any("," in name for name in (*CASES, *known.METHOD_NAMES))
    experiment = known.known_experiment(3)
    assert len(experiment.items()) == (3 * 21 + 58) * len(known.METHOD_NAMES)
    assert Item(0, "iris + random 2", "MIM") in experiment.items()

"""Tables whose columns tell about the target only together."""

import numpy as np
import pytest

from hocmim.experiments import known
from hocmim.experiments.answers import CASES, KnownSource
from hocmim.experiments.interaction_tables import (
    BEST_PUBLISHED,
    EPISTASIS,
    FREQUENCY,
    PASSEMIERS,
    PUBLISHED,
    cells,
    epistasis_table,
    hypercube_table,
    passemiers_table,
    penetrance,
)
from hocmim.experiments.protocol import ItemOutcome, run_item


def share_found(name, case):
    """The share of the p useful columns of the first table that are among the first p selected."""
    data = KnownSource(case, 0).load()
    protocol = known.known_experiment(1, [name], [case]).protocol_of(f"{case} 1")
    outcome = run_item(data, 0, known.METHODS[name], protocol)
    return len(set(outcome.selected) & set(data.useful)) / len(data.useful)


@pytest.mark.parametrize("order", [2, 3])
def test_no_smaller_set_of_genotypes_changes_the_risk(order):
    risk = penetrance(order, 0.2, np.random.default_rng(0))
    assert risk.min() >= 0
    assert risk.max() <= 1
    mean = (cells(order) * risk).sum()
    for axis in range(order):
        without_one = np.tensordot(risk, FREQUENCY, (axis, 0))
        np.testing.assert_allclose(without_one, mean, atol=1e-12)
    heritability = (cells(order) * (risk - mean) ** 2).sum() / (mean * (1 - mean))
    assert heritability == pytest.approx(0.2)


@pytest.mark.parametrize("name", EPISTASIS)
def test_epistasis_is_found(name):
    X, y, n_useful = epistasis_table(name, 20, 400, np.random.default_rng(0))
    assert X.shape == (400, 20)
    assert y.mean() == 0.5
    assert n_useful == {"two-way": 2, "three-way": 3, "heterogeneous": 4}[name]
    for columns in (20, 100):
        assert share_found("HOCMIM-R", f"{name} {columns} × 1600") == 1
    assert share_found(known.PLAIN, f"{name} 100 × 1600") < 1


@pytest.mark.parametrize("name", PASSEMIERS)
def test_the_target_of_passemiers_is_balanced(name):
    _, y, n_useful = passemiers_table(name, 8, 10_000, np.random.default_rng(0))
    assert 0.48 < y.mean() < 0.52
    assert n_useful == PASSEMIERS[name]
    assert share_found("HOCMIM-R", f"{name} 64 × 1000") >= 0.6


def test_five_sixths_of_the_published_rows_select():
    data = KnownSource("XOR 64 × 250", 0).load()
    assert data.n_samples == 2 * 208
    assert data.n_features == 64
    assert share_found("HOCMIM-R", "XOR 64 × 250") == 1


def test_the_corners_of_a_cube_tell_only_together():
    X, y, n_useful = hypercube_table(30, 20_000, np.random.default_rng(0))
    assert X.shape == (20_000, 30)
    assert n_useful == 20
    # A combination is a linear function of the five informative columns, the others are not.
    rest = X - X[:, :5] @ np.linalg.lstsq(X[:, :5], X, rcond=None)[0]
    np.testing.assert_allclose(rest[:, :20], 0, atol=1e-9)
    assert (rest[:, 20:].std(axis=0) > 0.5).all()
    signs = (X[:, :5] > 0) @ (1 << np.arange(5))
    share = np.array([y[signs == corner].mean() for corner in range(32)])
    assert np.ptp(share) > 0.5


def test_only_the_recovery_is_computed():
    cases = ["XOR 8 × 250", "iris + random"]
    experiment = known.known_experiment(6, ["MIM"], cases)
    assert [item.dataset for item in experiment.items()] == [
        "XOR 8 × 250 1", "iris + random 1", "XOR 8 × 250 2", "iris + random 2",
        *(f"iris + random {number}" for number in (3, 4, 5, 6)),
    ]  # fmt: skip
    data = experiment.sources["XOR 8 × 250 1"].load()
    protocol = experiment.protocol_of("XOR 8 × 250 1")
    assert run_item(data, 0, known.METHODS["MIM"], protocol).wrong == {}
    assert experiment.protocol_of("iris + random 1").classifiers == known.FINAL_CLASSIFIERS


@pytest.fixture
def made_up():
    """Two methods on all cases with interactions: "MIM" finds one column of each, "JMI" all."""
    cases = [name for name, case in CASES.items() if case.family == "interaction"]
    experiment = known.known_experiment(1, ("MIM", "JMI"), cases)
    outcomes = {}
    for item in experiment.items():
        useful = experiment.sources[item.dataset].load().useful
        wanted = {"MIM": (*useful[:1], *[-1] * len(useful), *useful[1:]), "JMI": useful}
        outcomes[item] = ItemOutcome(item, "", wanted[item.method], 0.5, 1.0, 10, {}, {})
    return experiment, outcomes


@pytest.mark.slow
def test_the_published_figures_are_beside_ours(made_up):
    experiment, outcomes = made_up
    report = known.known_report(outcomes, experiment)
    boards = {name: grid for name, grid in report.summaries.items() if name != "by_case"}
    assert list(boards) == ["passemiers", "passemiers_2048", "epistasis"]
    for name in ("passemiers", "passemiers_2048"):
        board = boards[name]
        rows = {row[0]: dict(zip(board.header, row, strict=True)) for row in board.rows}
        assert list(rows)[:2] == ["JMI", "MIM"]
        assert len(board.header) == 1 + len(PASSEMIERS) * len(BEST_PUBLISHED)
        assert rows["MIM"]["RING+XOR 500"] == "25"
        assert rows["JMI"]["RING+XOR+SUM 250"] == "100"
        assert rows["published: the best of each"]["XOR 250"] == "48"
        assert rows["published: LassoNet"]["XOR 1000"] == "81.8"
        assert rows["published: LassoNet"]["XOR 250"] == ""
        assert len(rows) == 2 + 1 + len(PUBLISHED)
    assert boards["epistasis"].rows[1][:5] == ["MIM", "50", "50", "50", "33"]
    assert list(report.tables) == [("interactions", "recovery", "error")]


@pytest.mark.slow
def test_a_method_that_is_not_finished_is_left_out(made_up):
    experiment, outcomes = made_up
    done = {i: o for i, o in outcomes.items() if i.dataset != "XOR 8 × 250 1" or i.method != "JMI"}
    boards = known.known_report(done, experiment).summaries
    assert [row[0] for row in boards["passemiers"].rows][:2] == [
        "MIM", "published: the best of each",
    ]  # fmt: skip
    assert [row[0] for row in boards["epistasis"].rows] == ["JMI", "MIM"]

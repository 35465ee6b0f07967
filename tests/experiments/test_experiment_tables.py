"""Tables by hand-made outcomes: errors, ranks, differences, times, the three formats."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from hocmim.experiments import paper
from hocmim.experiments.protocol import Item, ItemOutcome, Method, Protocol
from hocmim.experiments.published import Published, published_table
from hocmim.experiments.report import machine_grid
from hocmim.experiments.run import Experiment, FailedItem
from hocmim.experiments.tables import (
    ComparisonPlan,
    difference,
    error_table,
    significance,
    time_table,
)

METHODS = ("A", "B", "C")
COMPARISON = ComparisonPlan("test", "three methods", METHODS, ("one", "two", "three"))


def outcome(dataset, split, method, wrong, seconds=1.0, n_test=10):
    item = Item(split, dataset, method)
    balanced = [count / n_test / 2 for count in wrong]
    classifiers = ("knn", "svm", "svm-balanced")
    return ItemOutcome(
        item,
        "key",
        tuple(range(len(wrong))),
        seconds,
        2 * seconds,
        n_test,
        dict.fromkeys(classifiers, wrong),
        dict.fromkeys(classifiers, balanced),
    )


def outcomes(*made):
    return {each.item: each for each in made}


@pytest.fixture
def some():
    return outcomes(
        outcome("one", 0, "A", [4, 2], 1.0),
        outcome("one", 1, "A", [2, 0], 3.0),
        outcome("one", 0, "B", [5, 3], 4.0),
        outcome("one", 1, "B", [3, 1], 4.0),
        outcome("one", 0, "C", [4, 2], 0.5),
        outcome("one", 1, "C", [2, 0], 0.5),
        outcome("two", 0, "A", [5], 2.0),
        outcome("two", 0, "B", [1], 1.0),
        outcome("two", 0, "C", [2], 1.0),
        outcome("two", 1, "C", [9], 1.0),  # a split the others have not finished
    )


def test_errors_and_ranks(some):
    table = error_table(some, COMPARISON, "knn", "error", {"three": "no file."})
    assert table.errors == pytest.approx(np.array([[0.2, 0.3, 0.2], [0.5, 0.1, 0.2]]))
    assert table.ranks.tolist() == [[1.5, 3, 1.5], [3, 1, 2]]
    assert table.average_ranks.tolist() == [2.25, 2, 1.75]
    assert table.n_splits == {"one": 2, "two": 1}
    grid = table.grid()
    assert grid.rows[0] == ["one", "0.200(1.5)", "0.300(3)", "0.200(1.5)"]
    assert grid.rows[-1] == ["Average rank", "2.25", "2.00", "1.75"]
    assert grid.notes == ["Splits: 2 (one), 1 (two).", "Not included: three: no file."]
    halved = error_table(some, COMPARISON, "knn", "balanced error", {})
    assert halved.errors == pytest.approx(table.errors / 2)
    assert halved.missing == {"three": "no split is finished by every method."}


def test_rank_curves(some):
    table = error_table(some, COMPARISON, "knn", "error", {})
    # With one feature both sets count, with two only the one that has them.
    assert table.rank_curves()[:, 0].tolist() == [2.25, 2, 1.75]
    assert table.rank_curves()[:, 1].tolist() == [1.5, 3, 1.5]


def test_csv_has_all_digits(some):
    text = error_table(some, COMPARISON, "knn", "error", {"three": "gone."}).numbers().to_csv()
    body = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#"))
    rows = list(csv.DictReader(io.StringIO(body)))
    assert rows[0]["B"] == "0.300000"
    assert rows[0]["A rank"] == "1.5"
    assert rows[0]["splits"] == "2"
    assert rows[-1]["C rank"] == "1.7500"
    assert text.endswith("# Not included: three: gone.\n")


def test_difference(some):
    table = error_table(some, COMPARISON, "knn", "error", {})
    published = Published(
        METHODS,
        {"one": {"A": 0.25, "B": 0.3, "C": 0.1}, "two": {"A": 0.5, "B": 0.2, "C": 0.3}},
        {"one": {"A": 2, "B": 3, "C": 1}, "two": {"A": 3, "B": 1, "C": 2}},
        {"A": 2.5, "B": 2, "C": 1.5},
    )
    found = difference(table, published)
    assert found.values == pytest.approx(np.array([[-0.05, 0, 0.1], [0, -0.1, -0.1]]))
    assert found.mean_absolute == pytest.approx(0.35 / 6)
    assert found.rank_correlations[1] == pytest.approx(1)
    assert found.published_average_ranks.tolist() == [2.5, 2, 1.5]
    two = replace(found, table=error_table(some, replace(COMPARISON, methods=("A", "B")), "knn",
                                           "error", {}))  # fmt: skip
    assert two.published_average_ranks.tolist() == [1.5, 1.5]
    rows = found.grid().rows
    assert rows[0] == ["one", "-0.050", "+0.000", "+0.100", "0.050", "0.87"]
    assert rows[-3][-2] == "0.058"
    only_one = difference(table, replace(published, misprints=("two",)))
    assert only_one.datasets == ("one",)
    assert "misprint" in only_one.grid().notes[0]


def test_times(some):
    table = time_table(some, COMPARISON, {"three": "gone."})
    assert table.datasets == ("one", "two")
    assert table.seconds.tolist() == [[2, 4, 0.5], [2, 1, 1]]
    assert table.mean.tolist() == [2, 2.5, 0.75]
    assert table.deviation.tolist() == [0, 1.5, 0.25]
    assert table.ratios("A").tolist() == [[1, 2, 0.25], [1, 0.5, 0.5]]
    assert table.grid("A").rows[-1] == ["Ratio to A, maximum", "1", "2", "0.5"]
    assert "Not included: three: gone." in table.grid("A").notes


def test_significance(some):
    found = significance(error_table(some, COMPARISON, "knn", "error", {}))
    assert len(found.grid().rows) == 3
    assert found.groups() == [["C", "B", "A"]]
    assert "Friedman over 2 data sets" in found.summary()
    one = replace(COMPARISON, datasets=("one",))
    assert significance(error_table(some, one, "knn", "error", {})) is None


def test_a_clear_loser_is_told_apart():
    rng = np.random.default_rng(0)
    names = tuple(f"set {i}" for i in range(20))
    made = outcomes(
        *(
            outcome(name, 0, m, [int(rng.integers(3)) + (6 if m == "C" else 0)])
            for name in names
            for m in METHODS
        )
    )
    table = error_table(made, replace(COMPARISON, datasets=names), "knn", "error", {})
    assert significance(table).worse_than("A") == ["C"]


def test_nothing_finished_is_said():
    table = error_table({}, COMPARISON, "knn", "error", {})
    assert table.grid().rows == []
    assert table.grid().notes[0] == "No data set is finished by every method."
    assert table.rank_curves().shape == (3, 0)
    assert time_table({}, COMPARISON, {}).grid("A").rows == []


# -- the paper -------------------------------------------------------------------------------------


def test_the_papers_comparisons():
    low, high, filters, robust, robust_high, interactions = paper.comparisons()
    assert (len(low.methods), len(low.datasets)) == (11, 15)
    assert (len(high.methods), len(high.datasets)) == (6, 5)
    assert (len(filters.methods), len(filters.datasets)) == (8, 20)
    assert robust.methods == ("HOCMIM-R", *low.methods)
    assert robust_high.methods == ("HOCMIM-R", *high.methods)
    assert interactions.methods == ("HOCMIM-R", "HOCMIM-R interactions=False")
    assert interactions.datasets == filters.datasets
    assert len(set(paper.METHODS)) == 20
    assert {m for group in paper.TIME_GROUPS for m in group.methods} == set(paper.METHODS)


def published_outcomes(sets):
    """Outcomes that err exactly as published."""
    made = []
    for comparison in ("low", "high", "filters"):
        for name, errors in published_table("knn", comparison).errors.items():
            for method, error in errors.items():
                if name in sets:
                    wrong = [round(1000 * error)]
                    made.append(outcome(name, 0, method, wrong, n_test=1000))
    return outcomes(*made)


def test_published_errors_give_published_ranks_and_no_difference():
    sets = list(published_table("knn", "low").errors)
    experiment = Experiment(
        Protocol(),
        {},
        {name: Method(name) for name in paper.METHODS},
        {"sonar": 1},
        {},
    )
    missing = {"gisette": "not there.", "gli-85": "not there."}
    failure = FailedItem(Item(0, "sonar", "NCA"), "it broke.")
    report = paper.paper_report(published_outcomes(sets), experiment, missing, [failure])
    found = report.differences["low", "knn"]
    assert found.mean_absolute == pytest.approx(0, abs=1e-9)
    assert found.rank_correlations == pytest.approx(1)
    # Ranks of rounded errors share ties; the printed ones do not, and average 44 / 15.
    assert found.published_average_ranks[0] == pytest.approx(44 / 15)
    assert found.average_ranks[0] == pytest.approx(44 / 15, abs=0.4)
    # The paper: HOCMIM differs from JMI-3, JMI-4, CMICOT, JMI and DISR at α = 0.1.
    worse = report.tests["low", "knn"].worse_than("HOCMIM")
    assert set(worse) == set(paper.PUBLISHED_WORSE["low", "knn"])
    assert all("gisette" in " ".join(report.tables[key].notes()) for key in report.tables
               if key[0] in ("high", "filters"))  # fmt: skip
    claims = {row[0]: row for row in report.summaries["claims"].rows}
    rank = claims["Average rank of HOCMIM, low-dimensional, knn"]
    assert rank[1] == "2.88 (2.93)"
    assert "place 1 of 11" in rank[2]
    assert any("it broke" in note for note in report.summaries["claims"].notes)


def test_machine():
    parts = [part for part, _ in machine_grid().rows]
    assert {"cores", "numpy"} <= set(parts)

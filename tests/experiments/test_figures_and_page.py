"""Figures are drawn alike every time; the page holds everything, loads nothing and runs nothing."""

import re
from dataclasses import replace

import pytest
from made_up import make_arrays

from hocmim.experiments.config import config_report, read_config
from hocmim.experiments.datasets import make_data_set, save
from hocmim.experiments.figures import draw_critical_difference, figures, write_figures
from hocmim.experiments.page import make_page
from hocmim.experiments.run import run
from hocmim.experiments.store import Store

CONFIG = """
[run]
title = "Two sets <of> ours"
splits = 2
n_features = 5

[[dataset]]
path = "data/one.npz"
[[dataset]]
path = "data/two.npz"

[[method]]
name = "HOCMIM"
[[method]]
name = "HOCMIM, order 1"
method = "HOCMIM"
parameters = { max_order = 1 }
[[method]]
name = "Fisher"
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiment")
    for name, seed in (("one", 0), ("two", 1)):
        save(make_data_set(name, *make_arrays(seed=seed)), folder / "data")
    path = folder / "config.toml"
    path.write_text(CONFIG)
    config = read_config(path)
    results = run(config.experiment, Store(folder / "results.jsonl"))
    return config_report(config, results.outcomes, results.failures)


@pytest.mark.slow
def test_every_figure_is_the_same_again(report, tmp_path):
    written = write_figures(report, tmp_path / "one", pdf=True)
    assert {
        "critical_difference_knn_all",
        "rank_by_features_svm_all",
        "times",
        "error_curves_one",
        "error_curves_two",
    } <= set(written)
    assert write_figures(report, tmp_path / "two", pdf=True) == written
    for name, svg in written.items():
        assert "HOCMIM" in svg
        assert (tmp_path / "one" / f"{name}.svg").read_text("utf-8") == svg
        drawn = (tmp_path / "one" / f"{name}.pdf").read_bytes()
        assert drawn.startswith(b"%PDF")
        assert drawn == (tmp_path / "two" / f"{name}.pdf").read_bytes()


def test_the_best_is_on_the_right(report):
    tested = report.tests["all", "knn"]
    axes = draw_critical_difference(tested).axes[0]
    left, right = axes.get_xlim()
    assert left > right  # rank 1 is on the right
    average = tested.friedman.average_ranks
    texts = {text.get_text().strip(): text for text in axes.texts}
    best = tested.table.comparison.methods[average.argmin()]
    label = next(text for name, text in texts.items() if name.endswith(f"  {best}"))
    assert label.get_position()[0] < average.min()
    assert any("CD = " in name for name in texts)


def test_figures_have_a_line_for_each_method_and_say_on_how_many_sets_they_rest(report):
    drawn = dict(figures(report))
    axes = drawn["rank_by_features_knn_all"].axes[0]
    assert [line.get_label() for line in axes.get_lines()] == [
        "HOCMIM", "HOCMIM, order 1", "Fisher",
    ]  # fmt: skip
    assert len(axes.get_lines()[0].get_xdata()) == 5
    assert "Only 2 data sets" in axes.get_title()
    assert len(drawn["times"].axes[0].patches) == 3


@pytest.mark.slow
def test_the_page_holds_everything_and_asks_for_nothing(report, tmp_path):
    svgs = write_figures(report, tmp_path)
    page = make_page(replace(report, missing={"gone": "there is no gone.csv."}), svgs)
    assert "Two sets &lt;of&gt; ours" in page
    assert "Not included: gone: there is no gone.csv." in page
    assert page.count("<svg") == len(svgs)
    numbers = [table.numbers() for table in report.tables.values()]
    others = [grid for grid in report.grids().values() if grid not in numbers]
    assert len(others) < len(report.grids())
    for grid in (*others, *(table.grid() for table in report.tables.values())):
        assert grid.to_html() in page
    # No address is loaded: what is left of them are names of XML and parts of a figure.
    assert not re.findall(r"""\b(?:src|href)=["'](?!#)""", page)
    assert not re.search(r"<script|@import|url\((?!#)", page)

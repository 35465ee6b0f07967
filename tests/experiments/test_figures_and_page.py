"""Figures are drawn alike every time; the page works in a browser without a network."""

import json
import re
import time

import numpy as np
import pytest
from made_up import make_arrays

from browser import Recorder, open_chromium, phone, script, scroll_cues, served
from hocmim.experiments.config import config_report, read_config
from hocmim.experiments.datasets import make_data_set, save
from hocmim.experiments.figures import (
    GREY,
    LABEL_GAP,
    draw_critical_difference,
    draw_rank_curves,
    figures,
    write_figures,
)
from hocmim.experiments.page import make_page, write_page
from hocmim.experiments.run import run
from hocmim.experiments.store import Store
from hocmim.experiments.tables import Comparison, ErrorTable

CONFIG = """
[run]
title = "Two sets <of> ours"
splits = 2
n_features = 5

[[dataset]]
path = "data/one.npz"
[[dataset]]
path = "data/two.npz"
[[dataset]]
path = "data/gone.csv"

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
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("experiment")


@pytest.fixture(scope="module")
def report(folder):
    for name, seed in (("one", 0), ("two", 1)):
        save(make_data_set(name, *make_arrays(seed=seed)), folder / "data")
    path = folder / "config.toml"
    path.write_text(CONFIG)
    config = read_config(path)
    results = run(config.experiment, Store(folder / "results.jsonl"))
    return config_report(config, results.outcomes, results.failures)


@pytest.fixture(scope="module")
def written(report, folder):
    return write_figures(report, folder / "figures")


@pytest.mark.slow
def test_every_figure_is_written_twice(report, written, folder, tmp_path):
    names = {
        "critical_difference_knn_all",
        "rank_by_features_svm_all",
        "times",
        "error_curves_one",
        "error_curves_two",
    }
    assert names <= set(written)
    for name in written:
        assert (folder / "figures" / f"{name}.svg").read_text() == written[name]
        assert (folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "HOCMIM" in written[name]
    assert write_figures(report, tmp_path / "again") == written


def test_the_best_is_on_the_right(report):
    tested = report.tests["all", "knn"]
    figure = draw_critical_difference(tested)
    axes = figure.axes[0]
    left, right = axes.get_xlim()
    assert left > right  # rank 1 is on the right
    average = tested.friedman.average_ranks
    texts = {text.get_text().strip(): text for text in axes.texts}
    best = tested.table.comparison.methods[average.argmin()]
    label = next(text for name, text in texts.items() if name.endswith(f"  {best}"))
    assert label.get_position()[0] < average.min()
    assert any("CD = " in name for name in texts)


def test_figures_have_one_line_a_method(report):
    drawn = dict(figures(report))
    lines = drawn["rank_by_features_knn_all"].axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["HOCMIM", "HOCMIM, order 1", "Fisher"]
    assert len(lines[0].get_xdata()) == 5
    assert len(drawn["times"].axes[0].patches) == 3


def test_the_leaders_are_coloured_and_every_line_has_its_name():
    rng = np.random.default_rng(0)
    methods = tuple(f"method {j}" for j in range(11))
    curves = rng.random((11, 8)) + np.linspace(0, 2, 11)[::-1, None]
    comparison = Comparison("all", "all methods", methods, ("one", "two", "three"))
    data = dict.fromkeys(comparison.datasets, curves)
    table = ErrorTable(comparison, "knn", "error", data, dict.fromkeys(data, 3), {})
    axes = draw_rank_curves(table).axes[0]
    assert axes.get_legend() is None
    colours = {line.get_label(): line.get_color() for line in axes.get_lines()}
    assert len(colours) == 11
    ranks = np.asarray(table.rank_curves()).mean(axis=1)
    best = {methods[j] for j in ranks[1:].argsort()[:4] + 1}
    coloured = {method for method, colour in colours.items() if colour != GREY}
    assert coloured == {"method 0", *best}
    assert len({colours[method] for method in coloured}) == 5
    names = {text.get_text(): text for text in axes.texts}
    assert set(names) == set(methods)
    heights = sorted(text.xyann[1] for text in names.values())
    assert np.diff(heights).min() >= 11 * LABEL_GAP - 0.02
    for method, text in names.items():
        assert text.get_color() == colours[method]
    assert "Only 3 data sets" in axes.get_title()


def test_a_figure_says_how_many_data_sets_it_rests_on(report):
    for name, figure in figures(report):
        if name.startswith(("critical", "rank")):
            assert "Only 2 data sets" in figure.axes[0].get_title()


@pytest.mark.slow
def test_figures_as_pdf(report, tmp_path):
    for folder in ("one", "two"):
        write_figures(report, tmp_path / folder, pdf=True)
    for path in (tmp_path / "one").glob("*.pdf"):
        assert path.read_bytes().startswith(b"%PDF")
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    names = {kind: len(list((tmp_path / "one").glob(f"*.{kind}"))) for kind in ("pdf", "svg")}
    assert names["pdf"] == names["svg"] > 0


@pytest.mark.slow
def test_the_page_asks_for_nothing(report, written):
    page = make_page(report, written)
    assert "Two sets &lt;of&gt; ours" in page
    assert "Not included: gone: the file gone.csv does not exist." in page
    # No address is loaded: what is left of them are names of XML.
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)""", page)
    assert "@import" not in page
    assert "url(http" not in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    assert len(data["curves"]["errors/knn/one"]["lines"]["Fisher"]) == 5


# -- in a browser ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium():
    with open_chromium() as session:
        yield session


@pytest.fixture
def page(report, written, folder, chromium):
    """The page, opened from a server that notes what is asked of it."""
    write_page(report, written, folder / "index.html")
    with served(folder) as address:
        chromium.set_window_size(1280, 900)
        chromium.get(f"{address}/index.html")
        yield chromium


@pytest.mark.slow
def test_page_in_chromium(page, tmp_path):
    assert script(page, "document.documentElement.dataset.ready") == "yes"
    assert page.get_log("browser") == []
    assert Recorder.asked == ["/index.html"]
    for name in ("all", "times", "errors", "machine"):
        assert script(page, f"document.querySelector('#{name} h2').offsetHeight") > 0
    assert script(page, "document.querySelectorAll('#all .panel:not([hidden])').length") == 1
    assert script(page, "document.querySelectorAll('#all figure.drawing svg').length") == 3
    assert script(page, "document.querySelectorAll('#error-chart path').length") == 3
    assert page.save_screenshot(str(tmp_path / "page.png"))
    assert (tmp_path / "page.png").stat().st_size > 20_000


@pytest.mark.slow
def test_tabs_sorting_and_hover(page):
    page.execute_script("document.querySelectorAll('#all .tabs button')[1].click()")
    assert script(page, "document.querySelector('#all .panel:not([hidden])').id") == "svm-all"
    column = (
        "[...document.querySelectorAll('#svm-all table tbody')[0].rows]"
        ".map(row => parseFloat(row.cells[1].textContent))"
    )
    heading = "document.querySelectorAll('#svm-all table')[0].tHead.rows[0].cells[1]"
    for order in ("ascending", "descending"):
        page.execute_script(f"{heading}.querySelector('button').click()")
        assert script(page, f"{heading}.getAttribute('aria-sort')") == order
        values = script(page, column)
        assert values == sorted(values, reverse=order == "descending")
    from selenium.webdriver.common.action_chains import ActionChains

    chart = page.find_element("id", "error-chart")
    page.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", chart
    )
    ActionChains(page).move_to_element(chart).perform()
    tip = script(page, "document.querySelector('#error-chart .tip').innerText")
    assert tip.startswith("3 features")
    assert tip.count("\n") == 3
    page.execute_script("document.querySelector('#errors .legend button').click()")
    assert script(page, "document.querySelectorAll('#error-chart path.dim').length") == 2
    assert page.get_log("browser") == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_and_colour_scheme(page, scheme):
    with phone(page, scheme):
        # Nothing is wider than the screen, but for tables that scroll by themselves.
        assert script(page, "document.documentElement.scrollWidth") <= 390
        paper, ink = (
            sum(map(int, re.findall(r"\d+", script(page, f"getComputedStyle(document.body).{p}"))))
            for p in ("backgroundColor", "color")
        )
        assert (paper > ink) == (scheme == "light")
        time.sleep(0.5)  # until the page has noticed its new size
        page.execute_script(
            "for (const part of document.querySelectorAll('details')) part.open = true"
        )
        time.sleep(0.5)
        cues = scroll_cues(page)
        assert any(hides for hides, _ in cues)
        assert all(hides == says for hides, says in cues), cues
        page.execute_script(
            "for (const box of document.querySelectorAll('.scroll')) box.scrollLeft = 1e4"
        )
        time.sleep(0.5)
        assert not any(says for _, says in scroll_cues(page))
        letter = script(page, "getComputedStyle(document.querySelector('#all svg text')).fill")
        assert (sum(map(int, re.findall(r"\d+", letter))) < 384) == (scheme == "light")

"""The parts of a page on related features: substitutes, clusters and interactions."""

import base64
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from hocmim import JMI, FisherScore, RobustHOCMIM
from hocmim.insight.report.material import collect
from hocmim.insight.report.relations import MAX_LEAVES, bars, draw_map, draw_tree

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def test_the_page_has_the_substitutes_of_the_selector(tmp_path):
    selector = RobustHOCMIM(5).fit(X, Y)
    page = selector.report(tmp_path / "report.html", X, Y).read_text()
    sent = data_of(page)["relations"]
    for place, j in enumerate(selector.selected_.tolist()):
        found = selector.substitutes(j, X, n=3)
        assert sent["substitutes"][place] == [[row.index, found.cost(row)] for row in found]
    for section in ('id="related"', 'id="interactions"', 'class="tree"'):
        assert section in page


def test_every_feature_belongs_to_the_selected_one_it_shares_most_with():
    selector = JMI(4).fit(X, Y)
    relations = collect(selector, X, Y).relations
    tree = relations.tree
    assert len(tree.labels) == 30
    assert relations.nearest[selector.selected_].tolist() == [0, 1, 2, 3]
    assert sum(relations.cluster_sizes) <= 30
    assert all(size >= 1 for size in relations.cluster_sizes)


def test_the_tree_has_every_feature_once():
    selector = JMI(4).fit(X, Y)
    drawn = draw_tree(collect(selector, X, Y).relations.tree)
    assert sorted(drawn.leaves) == list(range(30))
    assert drawn.path.count("M") == 29
    assert draw_tree(None) is None


def test_many_features_have_a_map_of_clusters_and_are_found_by_search(tmp_path):
    rng = np.random.default_rng(0)
    base = rng.normal(size=(150, 10))
    wide = np.repeat(base, 10, axis=1) + 0.1 * rng.normal(size=(150, 100))
    y = (base[:, 0] > 0).astype(int)
    selector = JMI(3).fit(wide, y)
    page = selector.report(tmp_path / "report.html", wide, y).read_text()
    assert wide.shape[1] > MAX_LEAVES
    assert "A map of all 100 features: the largest clusters" in page
    drawn = collect(selector, wide, y).relations.map
    assert sorted(k // 10 for k in drawn.leaves.tolist()) == list(range(10))
    assert sum(drawn.sizes) == 100
    tree = draw_map(drawn)
    assert sorted(tree.leaves) == sorted(drawn.leaves.tolist())
    assert page.count('class="leaf cluster') == 10
    # The cluster of a selected feature is shown by this feature.
    assert selector.selected_[0] in drawn.leaves
    assert tree.sizes[tree.leaves.index(selector.selected_[0])] == 10
    sent = data_of(page)["relations"]
    nearest = np.frombuffer(base64.b64decode(sent["nearest"]), "<i2")
    share = np.frombuffer(base64.b64decode(sent["share"]), "u1")
    best = selector.selected_[0]
    group = np.arange(100) // 10 == best // 10
    is_near_selected = np.isin(
        nearest[group], np.flatnonzero(selector.selected_ // 10 == best // 10)
    )
    assert is_near_selected.all()
    assert (share[group] >= 40).all()


def test_bars_are_within_the_chart():
    found = JMI(6).fit(X, Y).interactions()
    drawn = bars(found)
    assert drawn
    for bar in drawn:
        assert bar.interaction.is_significant
        assert 0 <= bar.left <= bar.left + bar.width <= 100 + 1e-9
    assert bars(None) == []


@pytest.mark.parametrize("selector", [FisherScore(3), RobustHOCMIM(1), JMI(2)])
def test_any_selector_has_the_section(tmp_path, selector):
    page = selector.fit(X, Y).report(tmp_path / "report.html", X, Y).read_text()
    assert 'id="related"' in page
    assert ('id="interactions"' in page) == (len(selector.selected_) > 1)


def test_names_are_escaped(tmp_path):
    names = {"worst radius": "<img src=x onerror=1>", "worst perimeter": "</script><b>"}
    table = X.rename(columns=names)
    page = RobustHOCMIM(4).fit(table, Y).report(tmp_path / "report.html", table, Y).read_text()
    assert "<img src=x" not in page
    assert "</script><b>" not in page


def test_nothing_selected(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    y = np.arange(60) % 2
    selector = RobustHOCMIM("auto").fit(table, y)
    assert len(selector.selected_) == 0
    page = selector.report(tmp_path / "report.html", table, y).read_text()
    assert 'id="related"' not in page

"""What notebooks show: comparisons, fitted selectors, progress."""

import numpy as np
import pandas as pd
import pytest

import hocmim
import warned

pytestmark = pytest.mark.filterwarnings(warned.LEAK)

HOSTILE = "<b>bold</b> & 'x'"


def table():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 80)
    columns = {f"x{j}": rng.integers(0, 3, 80) + (j == 1) * y for j in range(5)}
    return pd.DataFrame({**columns, HOSTILE: rng.normal(size=80) + 2 * y, "": y ^ 1}), y


def test_a_comparison():
    X, y = table()
    found = hocmim.compare_methods(X, y, ["MIM", "JMI"], 2, cv=2, n_resamples=0)
    shown = found._repr_html_()
    assert "<b>" not in shown
    assert "(empty name)" in shown
    assert f">{found.results[0].mean_error.min():.4f}<" in shown


@pytest.mark.parametrize("method", hocmim.list_methods())
def test_every_selector_before_and_after_its_fit(method):
    X, y = table()
    for data in (X, X.to_numpy()):
        selector = hocmim.make_selector(method, n_features_to_select=2)
        assert type(selector).__name__ in selector._repr_html_()
        shown = selector.fit(data, y)._repr_html_()
        assert type(selector).__name__ in shown
        assert selector._repr_mimebundle_()["text/plain"] == repr(selector)
        assert "<b>bold</b>" not in shown


def test_selectors_and_comparisons_print_a_table():
    X, y = table()
    selector = hocmim.JMI("significant")
    assert str(selector) == repr(selector)
    shown = str(selector.fit(X, y)).splitlines()
    assert shown[0] == repr(selector)
    assert shown[1].split() == ["rank", "feature", "score", "relevance", "p"]
    assert len(shown) == 2 + selector.n_features_
    first = selector.selection_.steps[0]
    assert f"{first.score:.4f}" in shown[2]
    assert f">{first.score:.4f}<" in selector._repr_html_()
    found = hocmim.compare_methods(X, y, ["MIM", "JMI"], 2, cv=2, n_resamples=0)
    lines = str(found).splitlines()
    assert lines[1].split()[:3] == ["method", "lowest", "error"]
    assert f"{found.results[1].mean_error.min():.4f}" in lines[3]

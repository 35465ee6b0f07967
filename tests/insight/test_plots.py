"""Pictures: what is drawn is what was found, and names are no mathematics."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from hocmim import HOCMIM, JMI, MIM, Budget, errors
from hocmim.insight.plots import plot
from hocmim.insight.synergy import redundancy_matrix

CANCER = load_breast_cancer(return_X_y=True, as_frame=True)
KINDS = ("scores", "redundancy", "interactions")


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_pictures(pyplot):
    X, y = CANCER
    selector = HOCMIM(5).fit(X, y)
    names = X.columns[selector.selected_].tolist()
    scores = plot(selector)
    assert [t.get_text()[:-3] for t in scores.get_yticklabels()] == names
    drawn = {line.get_label(): line.get_xdata() for line in scores.lines}
    np.testing.assert_array_equal(drawn["score when selected"], selector.scores_)
    heat = plot(selector, "redundancy")
    assert [t.get_text() for t in heat.get_xticklabels()] == names
    shown = heat.images[0].get_array()
    assert shown[0, 1] == redundancy_matrix(selector)[0, 1]
    assert shown.mask.diagonal().all()
    _, ax = pyplot.subplots()
    assert selector.plot("scores", ax=ax) is ax
    for picture in (scores, heat):
        picture.figure.canvas.draw()


def test_costs(pyplot):
    X, y = CANCER
    selector = JMI(Budget(60, n_features=4), costs=np.arange(1, 31)).fit(X, y)
    ax = plot(selector, "costs")
    assert ax.lines[0].get_xdata().tolist() == [0, *np.cumsum(selector.selected_ + 1).tolist()]
    assert "budget" in [line.get_label() for line in ax.lines]
    with pytest.raises(errors.InvalidParameterError, match="no costs to draw"):
        plot(JMI(4).fit(X, y), "costs")


def test_names_are_no_mathematics(pyplot):
    from matplotlib.text import Text

    rng = np.random.default_rng(0)
    y = rng.integers(2, size=150)
    names = ["$\\frac$", "a_$b", "<b>", "x" * 500]
    frame = pd.DataFrame(rng.integers(3, size=(150, 4)) + y[:, None], columns=names)
    selector = MIM(4).fit(frame, y)
    for kind in KINDS:
        picture = plot(selector, kind)
        picture.figure.canvas.draw()  # raises if it were parsed as mathematics
        shown = [text.get_text() for text in picture.findobj(Text)]
        assert any("frac" in text for text in shown)


def test_mistakes_get_a_sentence(monkeypatch):
    X, y = CANCER
    selector = MIM(2).fit(X, y)
    with pytest.raises(errors.InvalidParameterError, match="kind must be"):
        plot(selector, "pie")
    with pytest.raises(errors.InvalidParameterError, match="has no option 'n'"):
        plot(selector, "scores", n=3)
    with pytest.raises(errors.InvalidParameterError, match="ax must be"):
        plot(selector, ax="here")
    rng = np.random.default_rng(4)
    nothing = HOCMIM("significant").fit(rng.normal(size=(100, 4)), rng.integers(2, size=100))
    with pytest.raises(errors.InvalidParameterError, match="nothing to draw"):
        plot(nothing)
    for module in ("matplotlib", "matplotlib.pyplot", "matplotlib.colors"):
        monkeypatch.setitem(sys.modules, module, None)
    for kind in KINDS:
        with pytest.raises(errors.MissingDependencyError, match="pip install matplotlib"):
            plot(selector, kind)

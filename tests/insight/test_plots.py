"""Pictures: what is drawn is what was found, and names are no mathematics."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import warned
from hocmim import HOCMIM, JMI, MIM, Budget, RobustHOCMIM, StabilitySelector, errors
from hocmim.insight import plots
from hocmim.insight.basis import basis_of
from hocmim.insight.chart_data import column_heights, frequencies_of, sample_map, target_by_level
from hocmim.insight.plots import plot
from hocmim.insight.prediction import predict
from made_tables import coins, copies

pytestmark = pytest.mark.filterwarnings(warned.GUESSED)

CANCER = load_breast_cancer(return_X_y=True, as_frame=True)
KINDS = ("scores", "target", "columns")


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
    _, ax = pyplot.subplots()
    assert selector.plot("scores", ax=ax) is ax
    scores.figure.canvas.draw()


def test_costs(pyplot):
    X, y = CANCER
    selector = JMI(Budget(60, n_features=4), costs=np.arange(1, 31)).fit(X, y)
    ax = plot(selector, "costs")
    costs = [0, *np.cumsum(selector.selected_ + 1).tolist()]
    [curve] = [line for line in ax.lines if str(line.get_label()).startswith("mean")]
    assert curve.get_xdata().tolist() == costs
    assert curve.get_ydata().tolist() == predict(basis_of(selector)).mean.tolist()
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
        picture = np.atleast_1d(plot(selector, kind))[0].figure
        picture.canvas.draw()  # raises if it were parsed as mathematics
        shown = [text.get_text() for text in picture.findobj(Text)]
        assert any("frac" in text for text in shown)


def test_plots_draw_the_same_numbers(pyplot):
    X, y = CANCER
    selector = RobustHOCMIM(4).fit(X, y)
    basis = basis_of(selector)
    axes = selector.plot("target")
    assert len(axes) == 4
    for ax, column in zip(axes, basis.selected_columns, strict=True):
        rows = target_by_level(basis, column).rows
        assert ax.lines[1].get_xdata() == pytest.approx([row.value for row in rows])
        assert ax.get_yticklabels()[0].get_text() == f"{rows[0].label}  ({rows[0].n_rows})"
    one = selector.plot("target", feature="worst smoothness")
    assert one.get_title(loc="left") == "worst smoothness"
    curve = selector.plot("prediction")
    np.testing.assert_array_equal(curve.lines[0].get_ydata(), predict(basis).mean)
    columns = selector.plot("columns")
    others, chosen = columns.lines[:2]
    np.testing.assert_array_equal(chosen.get_xdata(), selector.relevance_[selector.selected_])
    np.testing.assert_array_equal(chosen.get_ydata(), column_heights(basis)[selector.selected_])
    assert len(others.get_xdata()) == 26
    assert [text.get_text() for text in columns.texts] == X.columns[selector.selected_].tolist()
    heat = selector.plot("samples").images[0].get_array()
    np.testing.assert_array_equal(heat, sample_map(basis).levels)
    with pytest.raises(errors.InvalidParameterError, match="was not selected"):
        selector.plot("target", feature="mean radius")
    frame, same = coins()
    heat = RobustHOCMIM(2).fit(frame, same).plot("interaction")
    assert heat.images[0].get_array().tolist() == [[1, 0], [0, 1]]
    assert {text.get_text() for text in heat.texts} >= {"100%\n125", "0%\n120"}
    with pytest.raises(errors.InvalidParameterError, match="work together"):
        RobustHOCMIM(1).fit(frame[["coin 3"]], same).plot("interaction")
    with pytest.raises(errors.InvalidParameterError, match="no column of numbers was selected"):
        RobustHOCMIM(2).fit(frame, same).plot("samples")


def test_plots_of_classes_a_quantity_and_stability(pyplot):
    wine = load_wine(return_X_y=True, as_frame=True)
    selector = JMI(2).fit(*wine)
    [first, _] = selector.plot("target")
    shares = target_by_level(basis_of(selector), basis_of(selector).selected_columns[0]).rows
    widths = [bar.get_width() for bar in first.patches]
    assert sum(widths) == pytest.approx(len(shares))
    [ax] = JMI(1).fit(*load_diabetes(return_X_y=True)).plot("target")
    assert len(ax.lines) == 2
    groups = JMI(1).fit(*load_diabetes(return_X_y=True)).plot("samples").get_xticklabels()
    assert [text.get_text() for text in groups] == ["below 100", "100 to 184", "184 or more"]
    stable = StabilitySelector(RobustHOCMIM(3), n_resamples=10).fit(*copies())
    ax = stable.plot(n=5)
    rows = frequencies_of(stable).rows[:5]
    assert [bar.get_width() for bar in ax.patches] == [
        *(row.with_substitutes for row in rows), *(row.frequency for row in rows)
    ]  # fmt: skip
    with pytest.raises(errors.InvalidParameterError, match="StabilitySelector"):
        plot(selector, "stability")
    rng = np.random.default_rng(8)
    noise = rng.integers(3, size=(80, 4)), rng.integers(2, size=80)
    with pytest.raises(errors.InvalidParameterError, match="no column was ever selected"):
        StabilitySelector(JMI("significant"), n_resamples=3).fit(*noise).plot()
    for picture in pyplot.get_fignums():
        pyplot.figure(picture).canvas.draw()


def test_every_kind_without_matplotlib(monkeypatch):
    selector = RobustHOCMIM(2).fit(*coins())
    for module in ("matplotlib", "matplotlib.pyplot", "matplotlib.colors"):
        monkeypatch.setitem(sys.modules, module, None)
    for kind in set(plots.KINDS) - {"costs", "stability"}:
        with pytest.raises(errors.MissingDependencyError, match="pip install matplotlib"):
            plot(selector, kind)


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

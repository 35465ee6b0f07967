"""Comparing methods, against the same computed naively with scikit-learn's own tools."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from hocmim import HOCMIM, StabilitySelector, compare_methods, make_selector
from hocmim.errors import InvalidParameterError
from hocmim.experiments.compare import evaluated_rows
from hocmim.experiments.comparison_figure import COLOURS

RNG = np.random.default_rng(5)
N = 150
Y = RNG.integers(0, 3, N)
X = pd.DataFrame(
    {
        "noise": RNG.normal(size=N),
        "good": Y + RNG.normal(0, 0.8, N),
        "gaps": np.where(RNG.random(N) < 0.2, np.nan, Y + RNG.normal(0, 1.5, N)),
        "colour": np.where(RNG.random(N) < 0.6, np.array(["red", "green", "blue"])[Y], "grey"),
        "flag": RNG.random(N) < 0.3 + 0.2 * Y,
        "empty": np.full(N, np.nan),
    }
)


def naive_error(columns, train, test, y, model, is_class):
    """One point of a curve, by a scikit-learn pipeline."""
    if not columns:
        if is_class:
            guess = np.full(len(test), np.bincount(y[train]).argmax())
        else:
            guess = np.full(len(test), y[train].mean())
    else:
        words = [name for name in columns if name == "colour"]
        numbers = [name for name in columns if name != "colour"]
        frame = X[columns].assign(**{name: X[name].astype(float) for name in numbers})
        fill = SimpleImputer(strategy="median", keep_empty_features=True)
        pipeline = make_pipeline(
            make_column_transformer(
                (make_pipeline(fill, StandardScaler()), numbers),
                (OneHotEncoder(handle_unknown="ignore"), words),
                sparse_threshold=0,
            ),
            model,
        )
        guess = pipeline.fit(frame.iloc[train], y[train]).predict(frame.iloc[test])
    return (guess != y[test]).mean() if is_class else 1 - r2_score(y[test], guess)


@pytest.mark.parametrize(
    ("model", "is_class", "naive"),
    [
        ("knn", True, KNeighborsClassifier(3)),
        pytest.param("linear", True, LogisticRegression(max_iter=1000), marks=pytest.mark.slow),
        ("knn", False, KNeighborsRegressor(3)),
        ("linear", False, Ridge()),
    ],
)
def test_error_curves_by_hand(model, is_class, naive):
    y = Y if is_class else Y + RNG.normal(0, 0.3, N)
    found = compare_methods(X, y, ["HOCMIM", "mrmr"], 5, cv=3, n_resamples=0, model=model)
    folds = (StratifiedKFold if is_class else KFold)(3, shuffle=True, random_state=0)
    assert found.measure == ("error" if is_class else "1 − R²")
    for result in found.results:
        assert result.sizes.tolist() == list(range(6))
        for fold, (train, test) in enumerate(folds.split(X, y)):
            selector = make_selector(result.method, n_features_to_select=5)
            chosen = X.columns[selector.fit(X.iloc[train], y[train]).selected_].tolist()
            expected = [naive_error(chosen[:m], train, test, y, naive, is_class) for m in range(6)]
            assert result.errors[fold] == pytest.approx(expected, abs=1e-6)
        assert result.mean_error == pytest.approx(result.errors.mean(axis=0))


@pytest.mark.parametrize("is_class", [True, False])
def test_a_sample_of_the_rows_is_evaluated_and_all_training_rows_select(is_class):
    y = Y if is_class else Y + np.random.default_rng(1).normal(0, 0.3, N)
    model = KNeighborsClassifier(3) if is_class else KNeighborsRegressor(3)
    found = compare_methods(X, y, ["JMI"], 4, cv=3, n_resamples=0, max_rows=100)
    kind = (StratifiedKFold if is_class else KFold)(3, shuffle=True, random_state=0)
    folds = list(kind.split(X, y))
    groups = y.astype(np.int64) if is_class else np.zeros(len(y), np.int64)
    rows = evaluated_rows(groups, folds, 100, 0)
    assert abs(len(np.unique(rows)) - 100) <= 4
    assert (found.n_rows, found.n_evaluated) == (N, len(rows))
    assert found.sample == f"on {len(rows)} of 150 rows"
    shares = [np.isin(test, rows).mean() for _, test in folds]
    assert np.ptp(shares) < 0.05
    (result,) = found.results
    for fold, (train, test) in enumerate(folds):
        selector = make_selector("JMI", n_features_to_select=4).fit(X.iloc[train], y[train])
        chosen = X.columns[selector.selected_].tolist()
        train, test = np.intersect1d(train, rows), np.intersect1d(test, rows)
        expected = [naive_error(chosen[:m], train, test, y, model, is_class) for m in range(5)]
        assert result.errors[fold] == pytest.approx(expected, abs=1e-6)


def test_small_tables_are_evaluated_on_all_rows():
    found = compare_methods(X, Y, ["MIM"], 2, cv=2, n_resamples=0)
    assert (found.n_evaluated, found.sample) == (N, "")
    same = compare_methods(X, Y, ["MIM"], 2, cv=2, n_resamples=0, max_rows=None)
    assert same.results[0].errors.tolist() == found.results[0].errors.tolist()


def test_equal_selections_are_evaluated_once():
    fits = []

    class Counting(KNeighborsClassifier):
        def fit(self, X, y):
            fits.append(X.shape[1])
            return super().fit(X, y)

    methods = {"one": HOCMIM(3), "two": HOCMIM(3), "three": HOCMIM(2)}
    found = compare_methods(X, Y, methods, cv=2, n_resamples=0, model=Counting(3))
    assert len(fits) == 2 * 3
    one, two, three = (result.errors for result in found.results)
    assert one.tolist() == two.tolist()
    assert one[:, :3].tolist() == three.tolist()


def test_overlap_and_votes_by_hand():
    found = compare_methods(X, Y, ["HOCMIM", "MIM", "CIFE"], 3, cv=2, n_resamples=0)
    chosen = [set(make_selector(m, n_features_to_select=3).fit(X, Y).selected_.tolist())
              for m in ("HOCMIM", "MIM", "CIFE")]  # fmt: skip
    for i, a in enumerate(chosen):
        for j, b in enumerate(chosen):
            assert found.overlap[i, j] == len(a & b) / len(a | b)
    for name, methods in found.votes.items():
        at = X.columns.get_loc(name)
        assert [m for m, c in zip(("HOCMIM", "MIM", "CIFE"), chosen, strict=True) if at in c] == (
            methods
        )
    counts = [len(methods) for methods in found.votes.values()]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == 9


def test_stability_is_that_of_the_stability_selector():
    found = compare_methods(X, Y, {"mine": HOCMIM(2)}, cv=2, n_resamples=6, random_state=3)
    stable = StabilitySelector(HOCMIM(2), 6, random_state=3).fit(X, Y)
    assert found.results[0].method == "mine"
    assert found.results[0].stability == stable.stability_
    assert found.results[0].stability_interval == stable.stability_interval_


def test_the_selection_never_sees_the_rows_held_out():
    """With labels drawn by lot the error is that of chance, however many columns there are."""
    rng = np.random.default_rng(0)
    noise, y = rng.integers(0, 3, (80, 2000)), np.arange(80) % 2
    found = compare_methods(noise, y, ["MIM"], 5, n_resamples=0, cv=4)
    assert 0.35 < found.results[0].mean_error[1:].mean() < 0.65


def test_auto_gives_curves_as_long_as_the_shortest_selection():
    found = compare_methods(X, Y, ["HOCMIM"], "significant", cv=3, n_resamples=0)
    (result,) = found.results
    sizes = []
    for train, _ in StratifiedKFold(3, shuffle=True, random_state=0).split(X, Y):
        sizes.append(len(HOCMIM("significant").fit(X.iloc[train], Y[train]).selected_))
    assert result.sizes.tolist() == list(range(min(sizes) + 1))


def test_many_features_are_tried_at_some_numbers_only():
    wide = RNG.integers(0, 3, (60, 40))
    found = compare_methods(wide, np.arange(60) % 2, ["MIM"], 40, cv=2, n_resamples=0)
    sizes = found.results[0].sizes
    assert sizes[0] == 0
    assert sizes[-1] == 40
    assert len(sizes) <= 21
    assert found.names[3] == "3"


def test_progress_counts_every_selection_and_fit():
    told = []
    compare_methods(X, Y, ["MIM", "JMI"], 2, cv=2, n_resamples=3, progress=told.append)
    selecting = [event for event in told if event.stage == "compare"]
    fitting = [event for event in told if event.stage == "validate"]
    assert told == selecting + fitting
    # 2 selections, 6 resamples, 4 folds
    assert [event.done for event in selecting if event.name is not None] == list(range(1, 13))
    assert (selecting[-1].done, selecting[-1].total, selecting[-1].name) == (12, 12, "JMI")
    # 2 folds; both methods share the model without columns, and perhaps others
    assert [event.done for event in fitting] == list(range(fitting[-1].total + 1))
    assert 2 * 3 <= fitting[-1].total <= 2 * 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"methods": "HOCMIM"}, "must be a list of names"),
        ({"methods": []}, "must be a list of names"),
        ({"methods": ["hocmin"]}, "Did you mean 'HOCMIM'"),
        ({"cv": 1}, r"cv must be an int in the range \[2, inf\)\. Got 1 instead"),
        (
            {"n_resamples": 1},
            r"n_resamples must be an int in the range \[2, 1000000\] or 0\. Got 1 instead",
        ),
        ({"cv": 1000}, "cv is too large"),
        ({"max_rows": 99}, r"max_rows must be an int in the range \[100, inf\) or None\. Got 99"),
        ({"model": "oracle"}, "model must be one of 'knn'"),
        ({"model": Ridge()}, "model must be a classifier"),
    ],
)
def test_wrong_parameters(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        compare_methods(X, Y, **settings)


@pytest.mark.parametrize("n_resamples", [0, 3])
def test_the_picture(n_resamples):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = compare_methods(X, Y, ["HOCMIM", "MIM"], 3, cv=2, n_resamples=n_resamples)
    figure = found.plot()
    curves, overlap, *rest = figure.axes
    assert len(rest) == (n_resamples > 0)
    drawn = [line for line in curves.lines if line.get_label() in ("HOCMIM", "MIM")]
    for line, result, colour in zip(drawn, found.results, COLOURS, strict=False):
        assert line.get_xdata().tolist() == [1, 2, 3]
        assert line.get_ydata().tolist() == result.mean_error[1:].tolist()
        assert line.get_color() == colour
    assert [text.get_text() for text in overlap.texts][1] == f"{found.overlap[0, 1]:.2f}"

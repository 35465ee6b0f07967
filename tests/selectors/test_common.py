"""The contract every selector keeps, run over every selector there is."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import hocmim
import warned
from hocmim.errors import HocmimError, InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.selectors.registry import METHODS

pytestmark = pytest.mark.filterwarnings(warned.CLIPPED, warned.LEAK, warned.REPEATED_ROWS)

every_method = pytest.mark.parametrize("name", METHODS)


def make(name, K, **parameters):
    return hocmim.make_selector(name, n_features_to_select=K, **parameters)


def allows_missing(name):
    return make(name, 1).__sklearn_tags__().input_tags.allow_nan


def table(n=60, D=6, n_classes=3, seed=0):
    """Columns of falling relevance to y, of numbers, all of them different."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    X = rng.normal(size=(n, D)) + y[:, None] * np.linspace(2, 0, D)
    return np.round(X, 3), y


def assert_sound(selector, D, K):
    """The fitted attributes agree with each other."""
    selected = selector.selected_
    assert selected.dtype == selector.ranking_.dtype == np.int64
    assert selector.scores_.dtype == np.float64
    assert len(selected) == len(selector.scores_) == len(set(selected.tolist())) == K
    assert not np.isnan(selector.scores_).any()
    assert selector.n_features_in_ == len(selector.ranking_) == D
    assert selector.ranking_[selected].tolist() == list(range(1, K + 1))
    assert (np.delete(selector.ranking_, selected) > K).all()
    assert selector.get_support(indices=True).tolist() == sorted(selected.tolist())


def assert_same(found, expected):
    assert found.selected_.tolist() == expected.selected_.tolist()
    assert found.scores_.tobytes() == expected.scores_.tobytes()
    assert found.ranking_.tobytes() == expected.ranking_.tobytes()


# -- scikit-learn ----------------------------------------------------------------------------------


@pytest.mark.slow
@parametrize_with_checks([hocmim.make_selector(name) for name in METHODS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_method
def test_parameters_are_those_of_the_signature(name):
    selector = make(name, 3)
    signature = inspect.signature(METHODS[name])
    assert set(signature.parameters) == set(selector.get_params())
    assert next(iter(signature.parameters)) == "n_features_to_select"
    assert METHODS[name]().n_features_to_select == 10
    if "estimator" in signature.parameters:
        shared = {"estimator", "encoder", "target", "keep", "exclude", "engine", "n_jobs"}
        assert shared <= set(signature.parameters)


@every_method
def test_clone_and_pickle(name):
    X, y = table()
    selector = make(name, 3)
    copy = clone(selector)
    assert copy is not selector
    assert copy.get_params() == selector.get_params()
    fitted = selector.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert_same(again, fitted)
    assert again.transform(X).tobytes() == fitted.transform(X).tobytes()


@every_method
def test_pipeline_and_grid_search(name):
    X, y = table()
    pipeline = make_pipeline(make(name, 2), DecisionTreeClassifier(random_state=0))
    step = pipeline.steps[0][0]
    search = GridSearchCV(pipeline, {f"{step}__n_features_to_select": [1, 4]}, cv=2)
    search.fit(X, y)
    assert search.best_score_ > 1 / 3
    assert search.predict(X).shape == y.shape


# -- columns and their order -----------------------------------------------------------------------


@every_method
def test_fitted_attributes(name):
    X, y = table()
    for K in (1, 3, 6):
        assert_sound(make(name, K).fit(X, y), 6, K)
    assert_sound(make(name, 0.5).fit(X, y), 6, 3)
    assert_sound(make(name, None).fit(X, y), 6, 3)


@every_method
def test_names_and_order_are_kept(name):
    X, y = table()
    names = list("fedcba")
    frame = pd.DataFrame(X, columns=names)
    selector = make(name, 3).fit(frame, y)
    assert_same(selector, make(name, 3).fit(X, y))
    kept = [names[j] for j in sorted(selector.selected_)]
    assert selector.feature_names_in_.tolist() == names
    assert selector.get_feature_names_out().tolist() == kept
    reduced = selector.set_output(transform="pandas").transform(frame)
    pd.testing.assert_frame_equal(reduced, frame[kept])
    np.testing.assert_array_equal(make(name, 3).fit(X, y).transform(X), frame[kept])


@every_method
def test_more_columns_extend_a_selection(name):
    """The first columns of a longer selection are the shorter one."""
    X, y = table()
    few, all_ = make(name, 2).fit(X, y), make(name, 6).fit(X, y)
    assert all_.selected_[:2].tolist() == few.selected_.tolist()
    np.testing.assert_array_equal(all_.scores_[:2], few.scores_)


@every_method
def test_first_column_is_the_relevant_one(name):
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=100)
    X = rng.integers(3, size=(100, 5))
    X[:, 3] = np.where(rng.random(100) < 0.8, 2 * y, X[:, 3])
    assert make(name, 2).fit(X, y).selected_[0] == 3


@every_method
def test_one_column(name):
    X, y = table(D=1)
    for K in (1, 1.0, None):
        assert_sound(make(name, K).fit(X, y), 1, 1)


@every_method
def test_output_keeps_its_types(name):
    X, y = table(D=4)
    columns = {
        "whole": (X[:, 0] * 3).astype(np.int16),
        "half": X[:, 1].astype(np.float32),
        "flag": X[:, 2] > 0,
        "number": X[:, 3],
    }
    frame = pd.DataFrame(columns)
    pandas = make(name, 4).set_output(transform="pandas").fit_transform(frame, y)
    pd.testing.assert_frame_equal(pandas, frame)
    lazily = pl.DataFrame(columns)
    polars = make(name, 3).set_output(transform="polars").fit(lazily, y)
    kept = polars.get_feature_names_out().tolist()
    assert polars.transform(lazily).equals(lazily.select(kept))
    assert polars.transform(lazily).schema == lazily.select(kept).schema


# -- what is in the columns ------------------------------------------------------------------------


@every_method
@pytest.mark.filterwarnings("ignore:.*constant")
def test_constant_columns_are_no_candidates(name):
    X, y = table(D=5)
    X[:, [1, 3]] = 7.0
    with pytest.warns(hocmim.errors.HocmimWarning, match="only 3 features can be selected"):
        selector = make(name, 5).fit(X, y)
    assert_sound(selector, 5, 3)
    assert sorted(selector.selected_.tolist()) == [0, 2, 4]
    assert selector.selection_.constants == (1, 3)
    alone = make(name, 3).fit(X[:, [0, 2, 4]], y)
    assert [(0, 2, 4)[j] for j in alone.selected_] == selector.selected_.tolist()


@pytest.mark.parametrize("name", ["HOCMIM-R", "JMI", "DISR"])
def test_constant_columns_change_no_test(name):
    X, y = table(D=5)
    wide = np.hstack([np.ones((len(X), 20)), X])
    alone, selector = make(name, "significant").fit(X, y), make(name, "significant").fit(wide, y)
    assert selector.selected_.tolist() == [20 + j for j in alone.selected_.tolist()]
    np.testing.assert_array_equal(selector.selection_.p_values, alone.selection_.p_values)


@every_method
@pytest.mark.filterwarnings("ignore:.*constant")
def test_nothing_but_constant_columns(name):
    """Equal columns: the first in the table is taken first."""
    _, y = table()
    with pytest.warns(hocmim.DataWarning, match="Every column has only one level"):
        selector = make(name, 3).fit(np.ones((60, 3)), y)
    assert_sound(selector, 3, 3)
    assert selector.selected_.tolist() == [0, 1, 2]


@every_method
def test_equal_columns_in_the_order_of_the_table(name):
    X, y = table(D=1)
    selector = make(name, 4).fit(np.repeat(X, 4, axis=1), y)
    assert selector.selected_[0] == 0
    assert_sound(selector, 4, 4)


@every_method
def test_missing_values(name):
    X, y = table()
    X[::7, 0] = np.nan
    X[:, 5] = np.where(y == 0, np.nan, 1.0)  # missing says which class it is
    if not allows_missing(name):
        with pytest.raises(InvalidTableError, match=r"NaN.*column 0"):
            make(name, 3).fit(X, y)
        return
    selector = make(name, 6).fit(X, y)
    assert_sound(selector, 6, 6)
    assert selector.relevance_[5] > 0.3
    assert np.isnan(selector.transform(X)).sum() == np.isnan(X).sum()
    filled = np.where(np.isnan(X[:, [5]]), 99.0, X[:, [5]])  # a level like any other
    np.testing.assert_array_equal(make(name, 1).fit(filled, y).relevance_, selector.relevance_[5:])


@every_method
def test_columns_of_strings(name):
    rng = np.random.default_rng(2)
    y = rng.choice(["no", "yes"], size=80)
    frame = pd.DataFrame(
        {
            "noise": rng.choice(["a", "b", "c"], size=80),
            "telling": np.where(rng.random(80) < 0.9, np.where(y == "yes", "up", "down"), "up"),
            "number": rng.normal(size=80),
            "kind": pd.Categorical(rng.choice(["x", "y"], size=80)),
        }
    )
    selector = make(name, 2).set_output(transform="pandas").fit(frame, y)
    assert_sound(selector, 4, 2)
    assert selector.selected_[0] == 1
    kept = [frame.columns[j] for j in sorted(selector.selected_)]
    pd.testing.assert_frame_equal(selector.transform(frame), frame[kept])


@every_method
@pytest.mark.parametrize("n_classes", [2, 3, 15])
def test_number_of_classes(name, n_classes):
    X, y = table(n=150, n_classes=n_classes)
    selector = make(name, 3).fit(X, y)
    assert_sound(selector, 6, 3)
    named = np.array([f"class {chr(97 + c)}" for c in range(15)])[y]
    assert_same(make(name, 3).fit(X, named), selector)


# -- never by chance -------------------------------------------------------------------------------


@every_method
def test_threads_do_not_change_a_bit(name):
    X, y = table(n=120, D=23)
    if "n_jobs" not in make(name, 5).get_params():
        assert_same(make(name, 5).fit(X, y), make(name, 5).fit(X, y))
        return
    alone = make(name, 5, n_jobs=1).fit(X, y)
    for n_jobs in (2, 3, None):
        assert_same(make(name, 5, n_jobs=n_jobs).fit(X, y), alone)


@every_method
def test_order_of_samples_does_not_matter(name):
    X, y = table(n=90)
    order = np.random.default_rng(3).permutation(90)
    first, second = make(name, 6).fit(X, y), make(name, 6).fit(X[order], y[order])
    assert second.selected_.tolist() == first.selected_.tolist()
    np.testing.assert_allclose(second.scores_, first.scores_, rtol=1e-9, atol=1e-9)


@every_method
def test_fit_leaves_its_input_and_parameters_alone(name):
    X, y = table()
    selector = make(name, 3)
    before, parameters = (X.copy(), y.copy()), selector.get_params()
    X.setflags(write=False)
    y.setflags(write=False)
    selector.fit(X, y)
    assert selector.get_params() == parameters
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


# -- what goes wrong gets a sentence ---------------------------------------------------------------


@every_method
@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"K": 0}, InvalidParameterError, "n_features_to_select must be"),
        ({"X": np.empty((60, 0))}, InvalidTableError, "0 feature"),
        ({"y": np.zeros(60, int)}, InvalidTargetError, "class"),
        ({"y": np.zeros(50, int)}, InvalidTargetError, "50"),
    ],
)
def test_mistakes_get_a_sentence(name, change, error, says):
    X, y = table()
    given = {"X": X, "y": y, "K": 2, **change}
    with pytest.raises(error, match=says) as caught:
        make(name, given["K"]).fit(given["X"], given["y"])
    assert isinstance(caught.value, HocmimError)
    assert str(caught.value).endswith((".", ")"))

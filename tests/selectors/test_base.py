"""What every selector shares, through two small selectors made for the purpose."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from hocmim.coding.encoder import encode
from hocmim.coding.target import encode_target
from hocmim.data.numeric import numeric_matrix
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.selectors.base import RankingSelector


class CovarianceSelector(RankingSelector):
    """Ranks every column by |covariance with the class code|; needs complete columns."""

    def __init__(self, n_features_to_select=None):
        self.n_features_to_select = n_features_to_select

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        return tags

    def fit(self, X, y):
        table, y = self._validate_input(X, y)
        self._resolve_n_features(table.n_columns)
        values = numeric_matrix(table, allow_missing=False).values
        classes = encode_target(y).column.codes.astype(float)
        scores = np.abs((values - values.mean(0)).T @ (classes - classes.mean()))
        order = np.argsort(-scores, kind="stable")
        selected = order[: self._resolve_n_features(len(order))]
        ranking = np.argsort(order, kind="stable") + 1
        return self._set_selection(selected, scores[selected], ranking)


class LevelSelector(RankingSelector):
    """Selects the columns with the most levels, one after the other; takes missing values."""

    def __init__(self, n_features_to_select=None):
        self.n_features_to_select = n_features_to_select

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X, y):
        table, y = self._validate_input(X, y)
        encode_target(y)
        n_selected = self._resolve_n_features(table.n_columns)
        arity = encode(table).arity
        selected = np.argsort(-arity, kind="stable")[:n_selected]
        return self._set_selection(selected, arity[selected])


@parametrize_with_checks(
    [CovarianceSelector(), CovarianceSelector(1), LevelSelector(), LevelSelector(1)]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


# --- how many -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "n_columns", "expected"),
    [
        (1, 7, 1),
        (7, 7, 7),
        (np.int32(3), 7, 3),
        (10, 7, 7),  # the default: all of them
        (None, 7, 3),
        (None, 1, 1),
        (0.5, 7, 3),
        (1.0, 7, 7),
        (0.01, 7, 1),
        (np.float32(0.5), 8, 4),
    ],
)
def test_how_many(asked, n_columns, expected):
    assert CovarianceSelector(asked)._resolve_n_features(n_columns) == expected


@pytest.mark.parametrize("asked", [0, -1, 8, 0.0, 1.5, -0.5, float("nan"), "all", True, [3]])
def test_how_many_not(asked):
    with pytest.raises(InvalidParameterError, match=r"n_features_to_select must be .* Got "):
        CovarianceSelector(asked).fit(np.zeros((4, 7)), [0, 1, 0, 1])


def test_parameters_are_not_touched_before_fit():
    assert CovarianceSelector("nonsense").n_features_to_select == "nonsense"


# --- the ranking ----------------------------------------------------------------------------------


def test_columns_not_chosen_share_the_next_rank():
    X = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 2, 1], [0, 1, 3, 2]])
    selector = LevelSelector(2).fit(X, [0, 1, 0, 1])
    assert selector.selected_.tolist() == [2, 3]
    assert selector.scores_.tolist() == [4.0, 3.0]
    assert selector.ranking_.tolist() == [3, 3, 1, 2]
    assert selector.get_support().tolist() == [False, False, True, True]


def test_a_full_ranking_ranks_every_column_and_ties_go_to_the_left():
    X = np.array([[0, 0, 5, 0], [1, 2, 5, 1], [0, 0, 5, 0], [1, 2, 5, 1]])
    selector = CovarianceSelector(1).fit(X, [0, 1, 0, 1])
    assert selector.selected_.tolist() == [1]
    assert selector.ranking_.tolist() == [2, 1, 4, 3]
    assert selector.selected_.dtype == selector.ranking_.dtype == np.int64
    assert selector.scores_.dtype == np.float64


# --- what comes out -------------------------------------------------------------------------------


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "two": pd.array([1, 1, None, 2], dtype="Int64"),
            "one": ["same"] * 4,
            "four": pd.Categorical(["d", "a", "b", "c"], categories=list("abcde")),
            "three": pd.array(["x", None, "y", "y"], dtype="string"),
        },
        index=[5, 6, 7, 8],
    )


Y = [0, 1, 0, 1]


def test_numpy_stays_numpy_in_the_order_of_the_table():
    X = np.array([[0, 0, 0], [0, 1, 1], [0, 1, 2], [0, 1, 3]], np.int16)
    selector = LevelSelector(2).fit(X, Y)
    assert selector.selected_.tolist() == [2, 1]
    chosen = selector.transform(X)
    assert chosen.dtype == np.int16
    np.testing.assert_array_equal(chosen, X[:, [1, 2]])
    assert LevelSelector(2).fit_transform(X, Y).tolist() == chosen.tolist()


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_stays_sparse(make):
    X = np.array([[0, 0, 0], [0, 1, 1], [0, 1, 2], [0, 1, 3.0]])
    selector = LevelSelector(2).fit(make(X), Y)
    chosen = selector.transform(make(X))
    assert type(chosen) is make
    np.testing.assert_array_equal(chosen.toarray(), X[:, [1, 2]])
    back = selector.inverse_transform(chosen)
    assert sparse.issparse(back)
    np.testing.assert_array_equal(back.toarray(), X)


def test_a_frame_becomes_an_array_unless_asked_otherwise(frame):
    chosen = LevelSelector(2).fit(frame, Y).transform(frame)
    assert isinstance(chosen, np.ndarray)
    assert chosen[:, 1].tolist() == ["d", "a", "b", "c"]
    nullable = pd.DataFrame({"a": pd.array([1, 2, None, 4], "Int64"), "b": pd.array([0.5] * 4)})
    numbers = LevelSelector(2).fit(nullable, Y).transform(nullable)
    np.testing.assert_array_equal(numbers, [[1, 0.5], [2, 0.5], [np.nan, 0.5], [4, 0.5]])
    assert numbers.dtype == np.float64
    plain = pd.DataFrame({"a": [1.5, 2, 3, 4]})
    LevelSelector(1).fit(plain, Y).transform(plain)[:] = 0  # a copy, as an array gives
    assert plain["a"].tolist() == [1.5, 2, 3, 4]


def test_pandas_keeps_types_and_index(frame):
    selector = LevelSelector(3).set_output(transform="pandas").fit(frame, Y)
    assert selector.selected_.tolist() == [2, 0, 3]
    before = frame.copy()
    pd.testing.assert_frame_equal(selector.transform(frame), frame[["two", "four", "three"]])
    pd.testing.assert_frame_equal(frame, before)
    assert selector.get_feature_names_out().tolist() == ["two", "four", "three"]
    assert selector.feature_names_in_.tolist() == list(frame.columns)


def test_polars_keeps_types(frame):
    polars = pl.DataFrame(
        {
            "one": [1] * 4,
            "c": pl.Series(["d", "a", "b", "c"], dtype=pl.Categorical),
            "i": pl.Series([1, None, 2, 2], dtype=pl.Int8),
            "t": pl.Series([1, 2, 3, 4], dtype=pl.Datetime("ms")),
        }
    )
    selector = LevelSelector(3).set_output(transform="polars").fit(polars, Y)
    chosen = selector.transform(polars)
    assert chosen.equals(polars.select("c", "i", "t"))
    assert chosen.schema == polars.select("c", "i", "t").schema


@pytest.mark.parametrize("wanted", ["pandas", "polars"])
def test_one_frame_library_in_and_another_out(frame, wanted):
    plain = frame[["four", "one"]].astype(str).reset_index(drop=True)
    tables = {
        "pandas": plain,
        "polars": pl.from_pandas(plain),
        "arrow": pa.Table.from_pandas(plain),
    }
    for table in tables.values():
        chosen = LevelSelector(1).set_output(transform=wanted).fit_transform(table, Y)
        assert isinstance(chosen, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[wanted])
        assert list(chosen.columns) == ["four"]
        assert list(chosen["four"]) == ["d", "a", "b", "c"]


def test_arrow_tables(frame):
    table = pa.Table.from_pandas(frame[["two", "four"]], preserve_index=False)
    selector = LevelSelector(1).fit(table, Y)
    assert selector.feature_names_in_.tolist() == ["two", "four"]
    assert selector.transform(table).tolist() == [["d"], ["a"], ["b"], ["c"]]


def test_inverse_transform_puts_columns_back():
    X = np.array([[0, 0.5, np.nan], [0, 1, 1], [0, 1, 2], [0, 1, 3]])
    selector = LevelSelector(2).fit(X, Y)
    np.testing.assert_array_equal(selector.inverse_transform(selector.transform(X)), X)
    frame = selector.set_output(transform="pandas").transform(X).convert_dtypes()
    np.testing.assert_array_equal(selector.inverse_transform(frame), X)
    with pytest.raises(InvalidTableError, match="X has 3 columns, but LevelSelector selected 2"):
        selector.inverse_transform(X)


def test_clone_pickle_and_pipeline(frame):
    selector = LevelSelector(2).fit(frame, Y)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.selected_, selector.selected_)
    assert clone(selector).get_params() == {"n_features_to_select": 2}
    X = np.random.default_rng(0).normal(size=(20, 6))
    pipeline = make_pipeline(StandardScaler(), CovarianceSelector(0.5))
    assert pipeline.fit_transform(X, X[:, 0] > 0).shape == (20, 3)


# --- errors ---------------------------------------------------------------------------------------


def test_transform_checks_the_table(frame):
    with pytest.raises(NotFittedError):
        LevelSelector().transform(frame)
    selector = LevelSelector().fit(frame, Y)
    with pytest.raises(InvalidTableError, match="Feature names unseen at fit time:\n- other"):
        selector.transform(frame.rename(columns={"two": "other"}))
    X = np.random.default_rng(0).normal(size=(4, 3))
    strict = CovarianceSelector().fit(X, Y)
    with pytest.raises(InvalidTableError, match="X has 2 features, but CovarianceSelector is exp"):
        strict.transform(X[:, :2])
    X[1, 2] = np.nan
    with pytest.raises(InvalidTableError, match=r"NaN .* column 2"):
        strict.transform(X)
    with pytest.raises(InvalidTableError, match=r"NaN .* column 2"):
        strict.fit(X, Y)


def test_names_of_an_earlier_fit_are_forgotten(frame):
    selector = LevelSelector().fit(frame, Y)
    selector.fit(np.arange(8).reshape(4, 2), Y)
    assert not hasattr(selector, "feature_names_in_")


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (np.zeros((1, 3)), [1], InvalidTableError, "1 sample"),
        (np.zeros((4, 3)), [0, 1, 1], InvalidTargetError, "X has 4 rows and y has 3 values"),
        (np.zeros((4, 3)), [1, 1, 1, 1], InvalidTargetError, "only one class"),
        (np.zeros((4, 3)), None, InvalidTargetError, "This LevelSelector estimator requires y"),
        (np.zeros((4, 3)), [0, 1, np.nan, 1], InvalidTargetError, "contains NaN"),
    ],
)
def test_bad_input(X, y, error, message):
    with pytest.raises(error, match=message):
        LevelSelector().fit(X, y)

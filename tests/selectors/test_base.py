"""What every selector shares, through two small selectors made for the purpose, and HOCMIM."""

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

import warned
from coded import encode
from hocmim import HOCMIM, Target
from hocmim.coding.encoded import open_memory
from hocmim.coding.groups import Features
from hocmim.coding.target import encode_target
from hocmim.errors import (
    HocmimWarning,
    InvalidColumnError,
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
)
from hocmim.search.constraints import Constraints
from hocmim.search.selection import Selection, Step
from hocmim.selectors.base import Selector
from hocmim.selectors.filters._base import ScoringFilter

pytestmark = pytest.mark.filterwarnings(warned.IDENTIFIER, warned.LEAK)


class CovarianceSelector(ScoringFilter):
    """Ranks every column by |covariance with the class code|; needs complete columns."""

    def _score(self, samples):
        values, y = samples.values, samples.y
        return np.abs((values - values.mean(0)).T @ (y - y.mean()))


class LevelSelector(Selector):
    """Selects the columns with the most levels, one after the other; takes missing values."""

    def __init__(self, n_features_to_select=None):
        self.n_features_to_select = n_features_to_select

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X, y):
        table, y = open_memory(X, y, caller="LevelSelector")
        encode_target(y)
        n_selected = Constraints(table.n_columns).count(self.n_features_to_select)
        arity = encode(table).arity
        first = np.argsort(-arity, kind="stable")[:n_selected]
        steps = tuple(Step(int(j), float(arity[j]), {}) for j in first)
        selection = Selection(steps, np.full(len(arity), np.nan))
        return self._set_selection(selection, Features(table.n_columns, table.names))

    def fit_part(self, X, y, identifiers, *, warns=False, **given):
        return self.fit(X, y)


@parametrize_with_checks([CovarianceSelector(None), LevelSelector(1)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


# --- how many -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "n_columns", "expected"),
    [
        (1, 7, 1),
        (7, 7, 7),
        (np.int32(3), 7, 3),
        (None, 7, 3),
        (None, 1, 1),
        (0.5, 7, 3),
        (1.0, 7, 7),
        (0.01, 7, 1),
        (np.float32(0.5), 8, 4),
    ],
)
def test_how_many(asked, n_columns, expected):
    assert Constraints(n_columns).count(asked) == expected


@pytest.mark.parametrize("asked", [8, 10, 1000])
def test_a_number_larger_than_that_of_the_candidates_is_clipped(asked):
    with pytest.warns(HocmimWarning, match=f"n_features_to_select is {asked}, but only 5 features"):
        assert Constraints(7, excluded=(1, 2)).count(asked) == 5


@pytest.mark.parametrize("asked", [0, -1, 0.0, 1.5, -0.5, float("nan"), True, [3]])
def test_how_many_not(asked):
    for selector in (CovarianceSelector(asked), HOCMIM(asked)):
        with pytest.raises(InvalidParameterError, match=r"n_features_to_select must be .* Got "):
            selector.fit(np.zeros((4, 7)), [0, 1, 0, 1])


def test_words_for_a_number():
    with pytest.raises(InvalidParameterError, match=r"n_features_to_select must be .* Got 'all'"):
        HOCMIM("all").fit(np.zeros((4, 7)), [0, 1, 0, 1])
    with pytest.raises(InvalidParameterError, match="'significant' needs a stopping test"):
        CovarianceSelector("significant").fit(np.zeros((4, 7)), [0, 1, 0, 1])


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
    selector = CovarianceSelector(1, identifiers="keep").fit(X, [0, 1, 0, 1])
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
    strict = CovarianceSelector(2).fit(X, Y)
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


# --- HOCMIM: bad tables get a sentence, good ones of any kind are taken as they are ---------------

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(40, 4))
LABELS = RNG.integers(0, 2, 40)


def with_value(value, dtype=float):
    table = NUMBERS.astype(dtype)
    table[3, 2] = value
    return table


BAD_TABLES = [
    (np.empty((0, 4)), LABELS[:0], InvalidTableError, "0 sample"),
    (np.empty((40, 0)), LABELS, InvalidTableError, "0 feature"),
    (NUMBERS[:1], LABELS[:1], InvalidTableError, "1 sample"),
    (NUMBERS, np.zeros(40), InvalidTargetError, "class"),
    (NUMBERS, LABELS[:30], InvalidTargetError, "30"),
    (NUMBERS, np.where(LABELS, np.nan, 1.0), InvalidTargetError, "NaN"),
    (NUMBERS, np.where(LABELS, np.inf, 1.0), InvalidTargetError, "infin"),
    (with_value(np.inf), LABELS, InvalidTableError, "column 2"),
    (with_value(1j, complex), LABELS, InvalidTableError, "[Cc]omplex"),
    (with_value({}, object), LABELS, InvalidColumnError, "column 2"),
    (
        pd.DataFrame(NUMBERS, columns=["a", "b", "a", "d"]),
        LABELS,
        InvalidTableError,
        "'a'",
    ),
    (
        pd.DataFrame(with_value(-np.inf), columns=list("abcd")),
        LABELS,
        InvalidTableError,
        "'c'",
    ),
]


@pytest.mark.parametrize(("table", "y", "error", "says"), BAD_TABLES)
def test_bad_tables_get_a_sentence(table, y, error, says):
    with pytest.raises(error, match=says) as caught:
        HOCMIM(2).fit(table, y)
    assert str(caught.value).rstrip().endswith((".", ")"))


def test_more_levels_than_codes_hold_are_no_error():
    names = pd.Series([f"v{i}" for i in range(70_000)])
    table = pd.DataFrame({"few": np.arange(70_000) % 3, "many": names})
    selector = HOCMIM(1).fit(table, np.arange(70_000) % 2)
    assert selector.selected_.tolist() == [0]
    assert selector.identifiers_.tolist() == [1]


def mixed_frame():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 120)
    return (
        pd.DataFrame(
            {
                "number": np.where(rng.random(120) < 0.1, np.nan, y + rng.normal(size=120)),
                "whole": rng.integers(0, 9, 120),
                "flag": y == 1,
                "word": np.array(["red", "green", "blue"])[y * (rng.random(120) < 0.7)],
                "kind": pd.Categorical(np.array(["x", "y"])[rng.integers(0, 2, 120)]),
                "constant": 1,
            }
        ),
        y,
    )


def test_a_frame_of_mixed_columns():
    frame, y = mixed_frame()
    selector = HOCMIM(3).fit(frame, y)
    assert set(selector.get_feature_names_out()) == {"number", "flag", "word"}
    assert selector.relevance_[5] == 0.0
    reduced = selector.set_output(transform="pandas").transform(frame)
    pd.testing.assert_frame_equal(reduced, frame[["number", "flag", "word"]])


def test_polars_in_polars_out():
    frame, y = mixed_frame()
    table = pl.from_pandas(frame)
    selector = HOCMIM(3).set_output(transform="polars").fit(table, y)
    assert selector.transform(table).equals(table.select("number", "flag", "word"))
    assert selector.selected_.tolist() == HOCMIM(3).fit(frame, y).selected_.tolist()


def test_sparse_gives_the_same():
    rng = np.random.default_rng(2)
    dense = rng.poisson(0.3, (200, 30))
    y = (dense[:, 3] + dense[:, 7] > 0).astype(int)
    expected = HOCMIM(5).fit(dense, y)
    for form in (sparse.csr_array, sparse.csc_matrix):
        found = HOCMIM(5).fit(form(dense), y)
        assert found.selected_.tolist() == expected.selected_.tolist()
        assert found.scores_.tobytes() == expected.scores_.tobytes()
        assert sparse.issparse(found.transform(form(dense)))


def test_a_continuous_target_is_cut():
    table = np.random.default_rng(3).normal(size=(300, 6))
    selector = HOCMIM(1, target=Target(bins=4)).fit(table, 2 * table[:, 4])
    assert selector.selected_.tolist() == [4]
    assert len(selector.target_cuts_) == 3


def test_verbose_prints_a_line_a_step(capsys):
    HOCMIM(2, verbose=1).fit(NUMBERS, LABELS)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("HOCMIM: 1/2")

"""HOCMIM as an estimator: bad input gets a sentence, good input of any kind is taken as it is."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from hocmim import HOCMIM, errors

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = RNG.integers(0, 2, 40)


@parametrize_with_checks(
    [HOCMIM(1), HOCMIM(None, estimator="plugin"), HOCMIM(0.5, form="conditional", n_jobs=1)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def with_value(value, dtype=float):
    table = X.astype(dtype)
    table[3, 2] = value
    return table


BAD_TABLES = [
    (np.empty((0, 4)), Y[:0], errors.InvalidTableError, "0 sample"),
    (np.empty((40, 0)), Y, errors.InvalidTableError, "0 feature"),
    (X[:1], Y[:1], errors.InvalidTableError, "1 sample"),
    (X, np.zeros(40), errors.InvalidTargetError, "class"),
    (X, Y[:30], errors.InvalidTargetError, "30"),
    (X, np.where(Y, np.nan, 1.0), errors.InvalidTargetError, "NaN"),
    (X, np.where(Y, np.inf, 1.0), errors.InvalidTargetError, "infin"),
    (with_value(np.inf), Y, errors.InvalidTableError, "column 2"),
    (with_value(1j, complex), Y, errors.InvalidTableError, "[Cc]omplex"),
    (with_value({}, object), Y, errors.InvalidColumnError, "column 2"),
    (
        pd.DataFrame(X, columns=["a", "b", "a", "d"]),
        Y,
        errors.InvalidTableError,
        "'a'",
    ),
    (
        pd.DataFrame(with_value(-np.inf), columns=list("abcd")),
        Y,
        errors.InvalidTableError,
        "'c'",
    ),
]


@pytest.mark.parametrize(("table", "y", "error", "says"), BAD_TABLES)
def test_bad_tables_get_a_sentence(table, y, error, says):
    with pytest.raises(error, match=says) as caught:
        HOCMIM(2).fit(table, y)
    assert str(caught.value).rstrip().endswith((".", ")"))


@pytest.mark.parametrize("wanted", [0, -1, 5, 1.5, 0.0, "many", True])
def test_bad_numbers_of_features_get_a_sentence(wanted):
    with pytest.raises(errors.InvalidParameterError, match="n_features_to_select must be"):
        HOCMIM(wanted).fit(X, Y)


def test_more_levels_than_codes_hold_are_no_error():
    names = pd.Series([f"v{i}" for i in range(70_000)])
    table = pd.DataFrame({"few": np.arange(70_000) % 3, "many": names})
    selector = HOCMIM(1).fit(table, np.arange(70_000) % 2)
    assert selector.selected_.tolist() == [0]
    assert selector.identifiers_.tolist() == [1]


@pytest.mark.parametrize(("wanted", "n_selected"), [(3, 3), (0.5, 2), (1.0, 4), (None, 2)])
def test_how_many(wanted, n_selected):
    assert len(HOCMIM(wanted).fit(X, Y).selected_) == n_selected


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
    rng = np.random.default_rng(3)
    table = rng.normal(size=(300, 6))
    y = 2 * table[:, 4] + 0.1 * rng.normal(size=300)
    selector = HOCMIM(1, target_bins=4).fit(table, y)
    assert selector.selected_.tolist() == [4]
    assert len(selector.target_cuts_) == 3


def test_pickle_clone_pipeline_and_grid_search():
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = HOCMIM(4).fit(frame, y)
    copy = pickle.loads(pickle.dumps(selector))
    assert copy.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()
    assert clone(selector).get_params() == selector.get_params()
    pipeline = make_pipeline(HOCMIM(), KNeighborsClassifier())
    grid = GridSearchCV(pipeline, {"hocmim__n_features_to_select": [2, 5]}, cv=3).fit(frame, y)
    assert grid.best_score_ > 0.85


def test_verbose_prints_a_line_a_step(capsys):
    HOCMIM(2, verbose=1).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("HOCMIM: 1/2")

"""What every filter promises."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import hocmim
import warned
from hocmim.errors import (
    HocmimWarning,
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
)
from hocmim.selectors.filters._base import Filter, best_first, comparable
from hocmim.selectors.registry import METHODS

pytestmark = pytest.mark.filterwarnings(warned.CLIPPED, warned.LEAK)

FILTERS = [kind for kind in METHODS.values() if issubclass(kind, Filter)]


@pytest.fixture(params=FILTERS, ids=lambda cls: cls.__name__)
def make(request):
    return request.param


@pytest.fixture
def signal(rng):
    """Ninety samples of three classes; columns 2 and 5 of eight carry them."""
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 8))
    X[:, 2] += 4 * y
    X[:, 5] += 4 * (y == 1)
    return X, y


def test_finds_the_signal(make, signal):
    assert set(make(2).fit(*signal).selected_) == {2, 5}


def test_attributes_fit_together(make, signal):
    X, y = signal
    fitted = make(3).fit(X, y)
    assert fitted.selected_.dtype == np.int64
    assert fitted.feature_scores_.shape == (8,)
    np.testing.assert_array_equal(fitted.scores_, fitted.feature_scores_[fitted.selected_])
    assert sorted(fitted.ranking_) == list(range(1, 9))
    np.testing.assert_array_equal(fitted.ranking_[fitted.selected_], [1, 2, 3])
    np.testing.assert_array_equal(fitted.transform(X), X[:, np.sort(fitted.selected_)])


def test_a_smaller_selection_begins_a_larger_one(make, signal):
    few, many = make(3).fit(*signal), make(8).fit(*signal)
    np.testing.assert_array_equal(many.selected_[:3], few.selected_)


def test_order_of_rows_and_columns_does_not_matter(make, signal, rng):
    X, y = signal
    rows, columns = rng.permutation(90), rng.permutation(8)
    fitted = make(4).fit(X, y)
    moved = make(4).fit(X[rows][:, columns], y[rows])
    np.testing.assert_array_equal(columns[moved.selected_], fitted.selected_)
    # NCA stops within its tolerance of the optimum, not on it.
    tolerance = 1e-3 if make is hocmim.NCA else 1e-9
    np.testing.assert_allclose(
        moved.feature_scores_, fitted.feature_scores_[columns], rtol=tolerance, atol=tolerance
    )


def test_equal_columns_the_lowest_index_first(make, signal):
    X, y = signal
    fitted = make(16).fit(np.hstack([X, X]), y)
    rank = fitted.ranking_
    assert np.all(rank[:8] < rank[8:])


def test_labels_of_classes_do_not_matter(make, signal):
    X, y = signal
    fitted = make(3).fit(X, y)
    named = make(3).fit(X, np.array(["a", "b", "c"])[y])
    np.testing.assert_array_equal(named.feature_scores_, fitted.feature_scores_)


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, sparse.csr_array])
def test_containers_do_not_matter(make, signal, container):
    X, y = signal
    names = [f"x{j}" for j in range(8)]
    table = (
        container(X)
        if container is sparse.csr_array
        else container(dict(zip(names, X.T, strict=True)))
    )
    np.testing.assert_array_equal(
        make(3).fit(table, y).feature_scores_, make(3).fit(X, y).feature_scores_
    )


def test_constant_columns_are_worst_and_finite(make, signal):
    X, y = signal
    X = np.insert(X, 0, 1.5, axis=1)
    fitted = make(9).fit(X, y)
    assert np.isfinite(fitted.feature_scores_).all()
    scores = comparable(fitted.feature_scores_) * (-1 if make.lower_is_better else 1)
    if make is not hocmim.ReliefF:  # there 0 is better than the noise below it
        assert scores[0] == scores.min()


def test_categorical_columns_are_read(make, signal):
    X, y = signal
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    frame["letter"] = np.array(["low", "mid", "top"])[y]
    fitted = make(1).fit(frame, y)
    assert np.isfinite(np.delete(fitted.feature_scores_, 8)).all()
    assert not np.isnan(fitted.feature_scores_[8])
    assert fitted.ranking_[8] <= 3


def test_a_missing_value_is_refused_and_the_way_out_named(make, signal):
    X, y = signal
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    frame.loc[7, "x4"] = np.nan
    with pytest.raises(InvalidTableError, match=r"column 'x4', and .*HOCMIM.*level of its own"):
        make(2).fit(frame, y)


@pytest.mark.parametrize("scale", [1.0, 1000])
def test_a_quantity_is_ranked_for_or_refused(make, signal, scale):
    X, _ = signal
    y = np.rint(scale * X[:, 0]) if scale > 1 else X[:, 0]  # whole numbers, or fractions
    selector = make(1, target="quantity")
    if selector.ranks_quantities:
        assert selector.fit(X, y).selected_.tolist() == [0]
        assert selector.target_kind_ == "quantity"
        return
    with pytest.raises(InvalidTargetError, match=r"needs classes, but y is a quantity\. Cut y"):
        selector.fit(X, y)


def test_a_guess_about_the_target_gives_a_warning(make, signal):
    X, y = signal
    selector = make(1)
    whole = np.rint(1000 * X[:, 0]).astype(int)
    if selector.ranks_quantities:
        with pytest.warns(HocmimWarning, match="distinct whole numbers, so it is treated as a q"):
            selector.fit(X, whole)
    with pytest.raises(InvalidTargetError, match="y is not numeric"):
        make(1, target="quantity").fit(X, y.astype(str))
    with pytest.raises(InvalidParameterError, match=r"target must be .*'quantity'"):
        make(1, target="number").fit(X, y)


def test_a_constant_quantity_is_refused(make, signal):
    X, _ = signal
    with pytest.raises(InvalidTargetError, match=r"has only one value|needs classes"):
        make(2, target="quantity").fit(X, np.full(90, 0.5))


def test_one_class_is_refused(make, signal):
    X, _ = signal
    with pytest.raises(InvalidTargetError, match="at least two classes"):
        make(2).fit(X, np.ones(90))


def test_comparison_rounds_small_scores_to_twelve_decimals_and_large_ones_to_their_digits():
    a = np.array([0.1 + 0.2, 3e8 + 1e-7, 9.9999999999999])
    b = np.array([0.3, 3e8, 10.0])
    assert not np.array_equal(a, b)
    np.testing.assert_array_equal(comparable(a), comparable(b))
    assert comparable(np.array([1.0]))[0] != comparable(np.array([1.0 + 2e-12]))[0]
    assert comparable(np.array([np.inf, -np.inf])).tolist() == [np.inf, -np.inf]


def test_comparison_keeps_the_order(rng):
    scores = np.sort(rng.normal(size=1000) * 10.0 ** rng.integers(-15, 15, 1000))
    assert np.all(np.diff(comparable(scores)) >= 0)
    assert best_first(np.array([1.0, np.inf, 1.0 + 1e-14, 0.0])).tolist() == [1, 0, 2, 3]


@pytest.mark.parametrize("name", ["soybeansmall", "penglung", "dermatology"])
def test_paper_data(make, published_data, name):
    X, y = published_data(name)
    fitted = make(min(50, X.shape[1])).fit(X, y)
    assert not np.isnan(fitted.feature_scores_).any()
    assert sorted(fitted.ranking_) == list(range(1, X.shape[1] + 1))

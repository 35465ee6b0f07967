import numpy as np
import pytest
from scipy.optimize import check_grad

import warned
from hocmim import NCA
from hocmim.errors import InvalidParameterError
from hocmim.selectors.filters import nca
from hocmim.selectors.filters.nca import split_columns, standardised, stratified_rows

pytestmark = pytest.mark.filterwarnings(warned.CONSTANT)


def nca_objective(w, X, y, penalty, scale=1.0):
    return nca.nca_objective(w, split_columns(X), y, penalty, scale)


def naive_objective(w, X, y, penalty, scale):
    n = len(y)
    total = 0.0
    for i in range(n):
        kernel = [
            0.0 if j == i else np.exp(-sum(w**2 * abs(X[i] - X[j])) / scale) for j in range(n)
        ]
        total += sum(k for j, k in enumerate(kernel) if y[j] == y[i]) / sum(kernel)
    return total / n - penalty * sum(w**2)


@pytest.fixture(params=["dense", "sparse", "mixed"])
def samples(rng, request):
    """Sparse columns are mostly 0.5, with values on both sides of it."""
    X = rng.normal(size=(37, 9))
    columns = {"dense": slice(0), "sparse": slice(9), "mixed": slice(2, 7)}[request.param]
    X[:, columns] = np.where(rng.random((37, 9)) < 0.2, X, 0.5)[:, columns]
    n_sparse = len(split_columns(X).sparse_index)
    assert n_sparse == {"dense": 0, "sparse": 9, "mixed": 5}[request.param]
    return X, rng.integers(0, 3, 37).astype(np.int32)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_objective_equals_the_naive_twin(samples, rng, scale):
    w = rng.uniform(0.1, 1.0, 9)
    value, _ = nca_objective(w, *samples, 0.03, scale)
    assert value == pytest.approx(naive_objective(w, *samples, 0.03, scale), rel=1e-12)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_gradient_equals_finite_differences(samples, rng, scale):
    w = rng.uniform(-1.0, 1.0, 9)
    error = check_grad(
        lambda v: naive_objective(v, *samples, 0.03, scale),
        lambda v: nca_objective(v, *samples, 0.03, scale)[1],
        w,
    )
    assert error < 1e-6


def test_gradient_with_a_zero_weight(samples, rng):
    w = rng.uniform(0.1, 1.0, 9)
    w[4] = 0.0
    _, gradient = nca_objective(w, *samples, 0.03)
    error = check_grad(lambda v: naive_objective(v, *samples, 0.03, 1.0), lambda v: gradient, w)
    assert error < 1e-6


def test_far_neighbours_are_given_up_without_harm(rng):
    """More columns than the kernel sums before it looks, and distances far beyond exp's range."""
    X, y = 5 * rng.normal(size=(30, 150)), rng.integers(0, 2, 30).astype(np.int32)
    w = rng.uniform(0.0, 0.6, 150)
    value, gradient = nca_objective(w, X, y, 0.01)
    assert value == pytest.approx(naive_objective(w, X, y, 0.01, 1.0), rel=1e-12)
    step = 1e-5 * np.eye(150)[17]
    slope = (
        naive_objective(w + step, X, y, 0.01, 1.0) - naive_objective(w - step, X, y, 0.01, 1.0)
    ) / 2e-5
    assert gradient[17] == pytest.approx(slope, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_separates_two_informative_columns_from_98_of_noise(seed):
    """The standard synthetic: a mixture in two columns, no one of which tells the classes apart."""
    rng = np.random.default_rng(seed)
    n = 200
    y = np.arange(n) % 2
    corner = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 100))
    X[:, 30] = 3 * corner + rng.normal(scale=0.5, size=n)
    X[:, 70] = 3 * (corner ^ y) + rng.normal(scale=0.5, size=n)
    fitted = NCA(2).fit(X, y)
    assert set(fitted.selected_) == {30, 70}
    noise = np.delete(fitted.feature_scores_, [30, 70])
    assert fitted.scores_.min() > 5 * noise.max()
    assert np.sum(noise < 1e-4) >= 97  # one column of noise may be of use by chance


def test_reaches_a_stationary_point(table):
    X, y = table
    fitted = NCA(2, tol=1e-9).fit(X, y)
    assert fitted.converged_
    varies = np.ptp(X, axis=0) > 0
    w = np.sqrt(fitted.feature_scores_[varies])
    value, gradient = nca_objective(w, standardised(X[:, varies]), y, 1 / len(y))
    assert value == pytest.approx(fitted.objective_, rel=1e-12)
    assert np.abs(gradient).max() < 1e-4
    start, _ = nca_objective(np.ones_like(w), standardised(X[:, varies]), y, 1 / len(y))
    assert fitted.objective_ > start
    assert fitted.n_iter_ >= 1


def test_constant_columns_score_zero_and_units_do_not_matter(table):
    X, y = table
    one = NCA(2).fit(X, y)
    assert one.feature_scores_[3] == 0.0
    varied = [0, 1, 5, 6]
    other = NCA(2).fit(4 * X[:, varied], y).feature_scores_
    np.testing.assert_array_equal(other, NCA(2).fit(X[:, varied], y).feature_scores_)


def test_all_columns_constant():
    fitted = NCA(1).fit(np.ones((6, 2)), [0, 1] * 3)
    assert fitted.feature_scores_.tolist() == [0.0, 0.0]
    assert fitted.selected_.tolist() == [0]


def test_threads_change_nothing(rng):
    X, y = rng.normal(size=(120, 20)), rng.integers(0, 3, 120)
    one = NCA(3).fit(X, y)
    two = NCA(3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.feature_scores_, two.feature_scores_)
    assert one.objective_ == two.objective_


def test_max_samples_draws_of_each_class_its_share(rng):
    y = np.repeat(np.arange(3, dtype=np.int32), [60, 30, 10])
    rows = stratified_rows(y, 20, 0)
    assert np.bincount(y[rows]).tolist() == [12, 6, 2]
    assert np.array_equal(rows, np.unique(rows))
    assert np.array_equal(rows, stratified_rows(y, 20, 0))
    assert not np.array_equal(rows, stratified_rows(y, 20, 1))
    assert len(stratified_rows(y, 17, 0)) == 17


def test_max_samples_bounds_the_work(rng):
    X, y = rng.normal(size=(200, 5)), np.arange(200) % 2
    X[:, 3] += 3 * y
    fitted = NCA(1, max_samples=50).fit(X, y)
    assert fitted.n_samples_used_ == 50
    assert fitted.selected_.tolist() == [3]
    assert NCA(1, max_samples=0.25).fit(X, y).n_samples_used_ == 50
    assert NCA(1, max_samples=None).fit(X, y).n_samples_used_ == 200


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("regularization", -1.0),
        ("length_scale", 0.0),
        ("max_samples", 1),
        ("max_samples", 1.5),
        ("max_iter", 0),
        ("tol", -1e-3),
        ("tol", "small"),
    ],
)
def test_says_what_a_parameter_may_be(table, parameter, value):
    with pytest.raises(InvalidParameterError, match=f"{parameter} must be .* Got {value!r}"):
        NCA(2, **{parameter: value}).fit(*table)

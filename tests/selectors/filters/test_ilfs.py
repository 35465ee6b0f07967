import tracemalloc

import numpy as np
import pytest

import warned
from hocmim import ILFS
from hocmim.errors import InvalidParameterError
from hocmim.selectors.filters.ilfs import closeness, fit_relevance, path_scores, token_counts

pytestmark = pytest.mark.filterwarnings(warned.CONSTANT, warned.LEAK)


def naive_closeness(X, y):
    means = {c: X[y == c].mean(axis=0) for c in np.unique(y)}
    out = np.empty(X.shape)
    for i, j in np.ndindex(*X.shape):
        distance = {c: (X[i, j] - means[c][j]) ** 2 for c in means}
        out[i, j] = (1 / distance[y[i]]) / sum(1 / d for d in distance.values())
    return out


def naive_em_step(counts, token, factor):
    """One step of PLSA with p(f|token, column) written out."""
    posterior = token[:, None, :] * factor.T[None, :, :]
    posterior /= posterior.sum(axis=2, keepdims=True)
    weighted = counts[:, :, None] * posterior
    new_token = weighted.sum(axis=1)
    new_factor = weighted.sum(axis=0).T
    return new_token / new_token.sum(axis=0), new_factor / new_factor.sum(axis=0)


def test_closeness_equals_the_naive_twin(rng):
    X, y = rng.normal(size=(40, 5)), rng.integers(0, 4, 40).astype(np.int32)
    np.testing.assert_allclose(closeness(X, y), naive_closeness(X, y), rtol=1e-9)


def test_closeness_for_two_classes_is_the_papers(rng):
    X, y = rng.normal(size=(40, 5)), np.arange(40, dtype=np.int32) % 2
    d = [(X - X[y == c].mean(axis=0)) ** 2 for c in (0, 1)]
    expected = 1 - np.where(y[:, None] == 0, d[0], d[1]) / (d[0] + d[1])
    np.testing.assert_allclose(closeness(X, y), expected, rtol=1e-9)


def test_closeness_on_a_class_mean():
    y = np.array([0, 0, 1, 1, 2, 2], np.int32)
    X = np.array([[1.0], [1], [3], [3], [3], [3]])
    assert closeness(X, y).ravel().tolist() == [1, 1, 0.5, 0.5, 0.5, 0.5]


def test_token_counts(rng):
    X, y = rng.normal(size=(50, 4)), np.arange(50, dtype=np.int32) % 2
    counts = token_counts(X, y, 6)
    edges = np.linspace(0, 1, 7)
    expected = np.array([np.histogram(c, edges)[0] for c in closeness(X, y).T]).T
    np.testing.assert_array_equal(counts, expected)


def test_em_equals_the_naive_twin(rng):
    counts = rng.integers(0, 30, (6, 25)).astype(float)
    ramp = np.arange(1.0, 7)
    token = np.column_stack([ramp, ramp[::-1]]) / 21
    share = (counts[3:].sum(axis=0) + 1) / (counts.sum(axis=0) + 2)
    factor = np.vstack([share, 1 - share])
    for _ in range(7):
        token, factor = naive_em_step(counts, token, factor)
    model = fit_relevance(counts, max_iter=7, tol=0.0)
    np.testing.assert_allclose(model.relevance, factor[0], rtol=1e-10)
    np.testing.assert_allclose(model.token_given_factor, token, rtol=1e-10)
    likelihood = np.sum(counts * np.log(token @ factor))
    assert model.log_likelihood[-1] == pytest.approx(likelihood, rel=1e-12)


def test_em_updates_the_tokens_too(rng):
    counts = rng.integers(1, 30, (6, 25)).astype(float)
    one = fit_relevance(counts, max_iter=1).token_given_factor
    many = fit_relevance(counts, max_iter=50).token_given_factor
    assert np.abs(one - many).max() > 1e-3


@pytest.mark.parametrize("seed", range(8))
def test_likelihood_never_falls(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.exponential(10, (6, 40))).astype(float)
    counts[rng.integers(6)] = 0  # a token that no column has
    trace = fit_relevance(counts, max_iter=400, tol=0.0).log_likelihood
    assert len(trace) > 10
    assert np.all(np.diff(trace) >= -1e-12 * abs(trace[0]))
    assert trace[-1] > trace[0]


def test_recovers_a_planted_mixture(rng):
    ramp = np.arange(1.0, 7)
    token = np.column_stack([ramp, ramp[::-1]]) / 21
    truth = rng.uniform(size=300)
    truth[:20], truth[20:40] = 0.0, 1.0
    counts = 5000 * token @ np.vstack([truth, 1 - truth])
    found = fit_relevance(counts, max_iter=3000, tol=0.0).relevance
    assert np.corrcoef(found, truth)[0, 1] > 0.999


def test_closed_form_equals_the_matrix_inverse(rng):
    for d in (1, 2, 5, 30):
        a = rng.uniform(size=d)
        graph = np.outer(a, a)
        r = 0.9 / np.abs(np.linalg.eigvalsh(graph)).max()
        paths = np.linalg.inv(np.eye(d) - r * graph) - np.eye(d)
        np.testing.assert_allclose(path_scores(a), paths.sum(axis=1), rtol=1e-9)


def test_finds_the_columns_that_tell_many_classes_apart(rng):
    y = np.arange(300) % 5
    X = rng.normal(size=(300, 30))
    X[:, [3, 11, 20]] += 5 * y[:, None]
    fitted = ILFS(3).fit(X, y)
    assert set(fitted.selected_) == {3, 11, 20}
    assert len(fitted.log_likelihood_) == fitted.n_iter_ + 1


def test_constant_columns_are_irrelevant(table):
    X, y = table
    fitted = ILFS(2).fit(X, y)
    assert fitted.relevance_[3] == 0.0
    assert fitted.feature_scores_[3] == 0.0
    assert ILFS(1).fit(np.ones((6, 2)), [0, 1] * 3).feature_scores_.tolist() == [0.0, 0.0]


def test_twenty_thousand_columns_take_no_square_matrix(rng):
    X, y = rng.normal(size=(85, 22283)), np.arange(85) % 2
    tracemalloc.start()
    fitted = ILFS(50).fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 30  # a D×D matrix alone would be 4 GB
    assert np.isfinite(fitted.feature_scores_).all()


@pytest.mark.parametrize(
    ("parameter", "value"), [("n_tokens", 1), ("max_iter", 0), ("max_iter", 2.0), ("tol", -1.0)]
)
def test_says_what_a_parameter_may_be(table, parameter, value):
    with pytest.raises(InvalidParameterError, match=f"{parameter} must be .* Got {value!r}"):
        ILFS(2, **{parameter: value}).fit(*table)

import builtins

import numpy as np
import pytest

import warned
from hocmim import FSOLS
from hocmim.errors import MissingDependencyError

pytestmark = pytest.mark.filterwarnings(warned.CONSTANT)

pytest.importorskip("fastcan")


def naive_selection(X, y, n_selected):
    """Stepwise least squares: the column whose addition explains most of the classes."""
    targets = y[:, None] if y.dtype.kind == "f" else np.eye(y.max() + 1)[y][:, :-1]
    basis, _ = np.linalg.qr(targets - targets.mean(axis=0))
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # of no effect but on the conditioning

    def explained(columns):
        design = X[:, columns]
        fitted = design @ np.linalg.lstsq(design, basis, rcond=None)[0]
        return float(np.sum(fitted**2))

    selected, gains = [], []
    for _ in range(n_selected):
        before = explained(selected) if selected else 0.0
        gain = {
            j: explained([*selected, j]) - before for j in range(X.shape[1]) if j not in selected
        }
        best = max(gain, key=gain.__getitem__)
        selected.append(best)
        gains.append(gain[best])
    return selected, gains


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_equals_stepwise_least_squares(rng, n_classes):
    y = rng.integers(0, n_classes, 120)
    X = rng.normal(size=(120, 15)) * 10.0 ** rng.integers(-4, 5, 15)
    X[:, [2, 8]] += np.outer(y, 0.8 * X[:, [2, 8]].std(axis=0))
    X[:, 5] = X[:, 2] + 0.5 * X[:, 8] + 0.1 * X[:, 5].std() * rng.normal(size=120)
    selected, gains = naive_selection(X, y, 10)
    fitted = FSOLS(10).fit(X, y)
    assert fitted.selected_.tolist() == selected
    np.testing.assert_allclose(fitted.scores_, gains, rtol=1e-8, atol=1e-12)
    assert fitted.n_useful_ == 10


def test_scores_of_the_rest_are_what_they_would_add(rng):
    X, y = rng.normal(size=(80, 8)), np.arange(80) % 3
    _, gains = naive_selection(X, y, 4)
    fitted = FSOLS(3).fit(X, y)
    rest = np.setdiff1d(np.arange(8), fitted.selected_)
    assert fitted.feature_scores_[rest].max() == pytest.approx(gains[3], rel=1e-9)
    assert sorted(fitted.ranking_) == list(range(1, 9))
    np.testing.assert_array_equal(fitted.ranking_[fitted.selected_], [1, 2, 3])
    by_rank = rest[np.argsort(fitted.ranking_[rest])]
    assert np.all(np.diff(fitted.feature_scores_[by_rank]) <= 0)


@pytest.mark.parametrize("n_samples", [40, 5000])
def test_dependent_columns_follow_in_order(rng, n_samples):
    X = rng.normal(size=(n_samples, 7))
    y = (X[:, 1] + 0.5 * X[:, 4] + rng.normal(size=n_samples) > 0).astype(int)
    X[:, 0] = 3.5
    X[:, 3] = 2 * X[:, 1] - 1
    X[:, 6] = X[:, 2] - X[:, 4]
    fitted = FSOLS(6).fit(X, y)
    assert fitted.n_useful_ == 4
    chosen = fitted.selected_[:4].tolist()
    assert len({1, 3} & set(chosen)) == 1  # a copy is never taken with its original
    assert len({2, 4, 6} & set(chosen)) == 2
    rest = fitted.selected_[4:].tolist()
    assert rest == sorted(rest)
    assert fitted.scores_[4:].tolist() == [0.0, 0.0]
    assert fitted.selection_.constants == (0,)
    assert np.all(fitted.scores_[:4] > 0)


def test_copies_go_to_the_lowest_index(rng):
    x = rng.normal(size=(50, 1))
    y = (x[:, 0] > 0).astype(int)
    fitted = FSOLS(3).fit(np.hstack([x, x, x]), y)
    assert fitted.selected_.tolist() == [0, 1, 2]
    assert fitted.n_useful_ == 1


def test_more_columns_than_samples(rng):
    """N − 1 directions are all there are: nothing beyond is chosen for a reason."""
    X, y = rng.normal(size=(12, 40)), np.arange(12) % 3
    fitted = FSOLS(30).fit(X, y)
    assert fitted.n_useful_ <= 11
    assert fitted.scores_.sum() == pytest.approx(2.0)  # three classes: two canonical correlations
    assert len(set(fitted.selected_.tolist())) == 30
    rest = fitted.selected_[fitted.n_useful_ :]
    assert np.all(np.diff(rest) > 0)
    assert np.all(fitted.scores_[fitted.n_useful_ :] == 0)


def test_all_columns_constant():
    fitted = FSOLS(2).fit(np.ones((6, 3)), [0, 1] * 3)
    assert fitted.selected_.tolist() == [0, 1]
    assert fitted.n_useful_ == 0


def test_says_how_to_install_fastcan(monkeypatch, rng):
    original = builtins.__import__

    def without_fastcan(name, *args, **kwargs):
        if name == "fastcan":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_fastcan)
    with pytest.raises(MissingDependencyError, match="pip install fastcan"):
        FSOLS(1).fit(rng.normal(size=(10, 2)), np.arange(10) % 2)


def test_paper_data(published_data):
    X, y = published_data("sonar")
    selected, gains = naive_selection(X, y, 12)
    fitted = FSOLS(12).fit(X, y)
    assert fitted.selected_.tolist() == selected
    np.testing.assert_allclose(fitted.scores_, gains, rtol=1e-7)


def test_a_quantity_equals_stepwise_least_squares(rng):
    X = rng.normal(size=(120, 15))
    y = X[:, 3] + 0.5 * X[:, 7] - 0.2 * X[:, 1] + 0.3 * rng.normal(size=120)
    X[:, 5] = X[:, 3] + 0.1 * X[:, 5]
    selected, gains = naive_selection(X, y, 8)
    fitted = FSOLS(8).fit(X, y)
    assert fitted.selected_.tolist() == selected
    np.testing.assert_allclose(fitted.scores_, gains, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_of_equal_and_opposite_columns_the_first_is_selected(seed):
    """Whatever the rounding errors of their lengths and means are."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 90)
    x = y + rng.normal(size=90)
    noise = rng.normal(size=(90, 3))
    X = np.column_stack([noise[:, 0], 3 * x + 1, noise[:, 1], 5 - x, x / 7, noise[:, 2]])
    selector = FSOLS(4).fit(X, y)
    assert selector.selected_[0] == 1
    assert set(selector.selected_) == {0, 1, 2, 5}
    assert selector.feature_scores_[[3, 4]].tolist() == [0, 0]

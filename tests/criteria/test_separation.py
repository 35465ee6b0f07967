"""Whether few columns tell apart all that all of them do, and what HOCMIM makes of it."""

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest

import naive
from hocmim import CriterionSelector, Encoder, _native
from hocmim.coding.codes import Column
from hocmim.criteria.bound import SelectedCells
from hocmim.criteria.hocmim import HOCMIMCriterion
from hocmim.information.counting import native_list

PLENTY = 10**12


def some_columns(rng, n_samples, n_columns, n_levels):
    """Columns, the later ones sometimes copies of earlier ones with a few values changed."""
    columns = []
    for j in range(n_columns):
        codes = rng.integers(n_levels, size=n_samples)
        if j and rng.random() < 0.4:
            codes = np.where(rng.random(n_samples) < 0.8, columns[rng.integers(j)], codes)
        columns.append(codes)
    return np.array(columns, np.uint8)


def as_native(columns):
    return native_list([Column(c, int(c.max()) + 1) for c in columns], columns.shape[1])


def find_out(columns, size, only_newest=False, most_work=PLENTY):
    return _native.Separation(as_native(columns), size, only_newest, most_work).holds()


def n_cells(columns):
    return len(set(zip(*columns.tolist(), strict=True)))


def are_separated(columns, size, only_newest=False):
    """The same by trying every set and every column."""
    everything = range(len(columns))
    sets = [T for T in combinations(everything, size) if not only_newest or everything[-1] in T]
    return all(
        any(n_cells(columns[[*T, s]]) == n_cells(columns) for s in everything if s not in T)
        for T in sets
        if len(T) < len(columns)
    )


@pytest.mark.parametrize("seed", range(8))
def test_every_set_is_tried(seed):
    rng = np.random.default_rng([900, seed])
    answers = []
    for _ in range(60):
        n_columns = int(rng.integers(2, 8))
        columns = some_columns(rng, int(rng.integers(2, 30)), n_columns, int(rng.integers(2, 9)))
        for size in range(n_columns):
            found = find_out(columns, size)
            assert found is are_separated(columns, size)
            answers.append(found)
    assert 0.1 < np.mean(answers) < 0.9


@pytest.mark.parametrize("seed", range(4))
def test_sets_with_the_newest_column_are_enough_if_it_held_before(seed):
    """And if the newest column splits no cell of all the others."""
    rng = np.random.default_rng([901, seed])
    n_newest_only = 0
    for _ in range(60):
        columns = some_columns(rng, int(rng.integers(5, 30)), 7, int(rng.integers(4, 12)))
        for size in range(1, 6):
            found = find_out(columns, size, only_newest=True)
            assert found is are_separated(columns, size, only_newest=True)
            splits_none = n_cells(columns[:-1]) == n_cells(columns)
            if splits_none and are_separated(columns[:-1], size):
                assert found is are_separated(columns, size)
                n_newest_only += 1
    assert n_newest_only > 50


def test_hundreds_of_pairs():
    """Enough of them for several blocks of bits, found and not found."""
    rng = np.random.default_rng(902)
    answers = set()
    for n_levels in (2, 3, 4, 6):
        columns = some_columns(rng, 120, 9, n_levels)
        for size in range(2, 9):
            found = find_out(columns, size)
            assert found is are_separated(columns, size)
            answers.add(found)
    assert answers == {True, False}


def test_it_gives_up():
    rng = np.random.default_rng(903)
    columns = some_columns(rng, 200, 8, 4)
    assert find_out(columns, 4) is not None
    assert find_out(columns, 4, most_work=1000) is None
    assert find_out(rng.integers(2, size=(8, 2000)).astype(np.uint8), 3) is None  # too many pairs
    wide = native_list([Column(rng.integers(300, size=50).astype(np.uint16), 300)] * 3, 50)
    assert _native.Separation(wide, 1, False, PLENTY).holds() is None
    assert find_out(np.eye(65, dtype=np.uint8), 1) is None


def test_threads_share_the_work():
    """Whoever asks, and whenever, is told the same."""
    rng = np.random.default_rng(907)
    answers = []
    for n_levels in (4, 5, 8, 10):
        columns = as_native(some_columns(rng, 300, 10, n_levels))
        for size in range(4, 9):
            alone = _native.Separation(columns, size, False, PLENTY).holds()
            search = _native.Separation(columns, size, False, PLENTY)
            with ThreadPoolExecutor(4) as pool:
                assert set(pool.map(lambda _, search=search: search.holds(), range(8))) == {alone}
            answers.append(alone)
    assert set(answers) == {True, False}


def test_cells_of_the_selected_columns():
    rng = np.random.default_rng(904)
    first, second = (Column(c, 3) for c in rng.integers(3, size=(2, 20)).astype(np.uint8))
    one = SelectedCells.empty(20).with_column(first)
    both = one.with_column(second)
    assert one.columns == (first,)
    assert both.columns == (first, second)
    assert one.cells.n_cells == 3
    assert both.cells.n_cells == len(set(zip(first.codes, second.codes, strict=True)))


def tables(seed, count, n_samples, n_columns, n_levels):
    """Columns of which half follow the class a little, or each other."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        y = rng.integers(2, size=n_samples)
        X = rng.integers(n_levels, size=(n_samples, n_columns))
        for j in range(n_columns // 2):
            X[:, j] = np.where(rng.random(n_samples) < 0.3, y, X[:, rng.integers(n_columns)])
        yield X, y


def answer(selector):
    sets = [Z.tolist() for Z in selector.representative_sets_]
    return selector.selected_.tolist(), selector.scores_.tobytes(), selector.orders_.tolist(), sets


@pytest.fixture
def answers(monkeypatch):
    """What is said of more than max_order columns."""
    said = []

    class Listener:
        def __init__(self, columns, size, only_newest, most_work):
            self.search = Separation(columns, size, only_newest, most_work)
            self.is_beyond = len(columns) > size + 1

        def holds(self):
            found = self.search.holds()
            if self.is_beyond:
                said.append(found)
            return found

    Separation = _native.Separation
    monkeypatch.setattr(_native, "Separation", Listener)
    return said


@pytest.mark.parametrize("path", ["last", "min"])
@pytest.mark.parametrize("form", ["redundancy", "conditional"])
@pytest.mark.parametrize("estimator", ["shrinkage", "plugin", "miller_madow"])
def test_bounds_do_not_change_a_bit(monkeypatch, answers, threads, estimator, form, path):
    """Beyond max_order, with paths followed where they could win and with all of them followed."""
    parameters = {"estimator": estimator, "form": form, "path": path, "max_order": 5}
    for X, y in tables(905, 4, 40, 30, 9):
        selector = CriterionSelector(HOCMIMCriterion(**parameters), 14, encoder=Encoder(9))
        bounded = answer(selector.fit(X, y))
        with monkeypatch.context() as patch:
            patch.setenv("HOCMIM_BOUND", "off")
            assert bounded == answer(selector.fit(X, y))
    assert set(answers) == {True, False}


@pytest.mark.parametrize("form", ["redundancy", "conditional"])
def test_bounded_paths_agree_with_the_naive_twin(answers, form):
    parameters = {"estimator": "shrinkage", "form": form, "max_order": 3}
    for X, y in tables(906, 4, 25, 9, 14):
        criterion = HOCMIMCriterion(**parameters)
        selector = CriterionSelector(criterion, 8, encoder=Encoder(14)).fit(X, y)
        assert len(selector.selected_) == 8
        naive.assert_selects_as_hocmim(selector, X, y, **parameters)
    assert True in answers

"""Groups of rows: the stopping test, resamples, and the labels."""

import numpy as np
import pytest
from sklearn.model_selection import GroupShuffleSplit

import warned
from hocmim import HOCMIM, MIM, StabilitySelector, StopTest
from hocmim.data.row_groups import as_row_groups
from hocmim.errors import InvalidParameterError
from hocmim.selectors.splits import draw_groups

pytestmark = pytest.mark.filterwarnings(warned.FEW_GROUPS)


def grouped(seed, effect=0.0, n_groups=40, size=8):
    """Columns with group effects; the target is constant in a group."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    y = rng.permutation(np.arange(n_groups) % 2)[groups]
    X = rng.normal(size=(n_groups, 10))[groups] + 0.5 * rng.normal(size=(len(groups), 10))
    X[:, 0] += effect * y
    return X, y, groups


@pytest.mark.parametrize("stop", ["chi2", "permutation"])
def test_noise_is_kept_out_where_the_plain_test_is_wrong(stop):
    selector = HOCMIM(StopTest(test=stop, n_permutations=99))
    tables = [grouped(seed) for seed in range(6)]
    plain = [len(selector.fit(X, y).selected_) for X, y, _ in tables]
    with_groups = [len(selector.fit(X, y, groups=groups).selected_) for X, y, groups in tables]
    assert min(plain) > 0
    assert max(with_groups) == 0


def test_a_strong_column_is_found():
    X, y, groups = grouped(0, effect=4.0)
    assert HOCMIM("significant").fit(X, y, groups=groups).selected_.tolist() == [0]


def test_information_within_groups_is_found():
    """The target is an effect of the group plus a column; groups alone cannot show it."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(8), 60)
    X = rng.normal(size=(480, 5))
    y = (3 * rng.normal(size=8)[groups] + 2 * X[:, 3] + rng.logistic(size=480) > 0).astype(int)
    assert 3 in HOCMIM("significant").fit(X, y, groups=groups).selected_


def test_groups_of_one_row_change_nothing():
    X, y, _ = grouped(1, effect=1.0)
    plain = HOCMIM("significant").fit(X, y)
    grouped_ = HOCMIM("significant").fit(X, y, groups=np.arange(len(y)))
    assert plain.selected_.tolist() == grouped_.selected_.tolist()
    assert plain.p_values_.tobytes() == grouped_.p_values_.tobytes()


def test_weights_repeat_rows_of_a_group():
    X, y, groups = grouped(0, effect=4.0, n_groups=30, size=3)
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    one = HOCMIM("significant").fit(X, y, sample_weight=weight, groups=groups)
    two = HOCMIM("significant").fit(X[rows], y[rows], groups=groups[rows])
    assert one.p_values_.tobytes() == two.p_values_.tobytes()


def test_resamples_draw_whole_groups():
    groups = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 5])
    classes = np.array([0, 0, 1, 1, 0, 0, 1, 1, 1, 0])
    rng = np.random.RandomState(0)
    for _ in range(20):
        times = np.bincount(draw_groups(groups, classes, 1.0, True, rng), minlength=10)
        for group in range(6):
            assert len(set(times[groups == group])) == 1
        half = draw_groups(groups, classes, 0.5, False, rng)
        assert len(set(half.tolist())) == len(half)


def test_stability_with_groups_and_with_a_splitter():
    X, y, groups = grouped(0, effect=2.0)
    found = StabilitySelector(MIM(2), 10).fit(X, y, groups=groups)
    assert found.selections_.shape == (10, 10)
    splitter = GroupShuffleSplit(7, random_state=0)
    split = StabilitySelector(MIM(2), cv=splitter).fit(X, y, groups=groups)
    by_hand = [MIM(2).fit(X[a], y[a]).get_support() for a, _ in splitter.split(X, y, groups)]
    np.testing.assert_array_equal(split.selections_, by_hand)
    assert split.frequencies_.tolist() == np.mean(by_hand, axis=0).tolist()


@pytest.mark.parametrize(
    ("groups", "message"),
    [([1, 2], "one label for each row"), ([1.0, np.nan, 2.0], "none may be missing"),
     (["a", "a", "a"], "only one label")],
)  # fmt: skip
def test_wrong_labels(groups, message):
    with pytest.raises(InvalidParameterError, match=message):
        as_row_groups(groups, 3)

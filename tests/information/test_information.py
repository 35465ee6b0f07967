"""entropy, mi and cmi: Shannon's laws, the naive twin, and what may be passed to them."""

from math import log

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hocmim
import naive
from hocmim.errors import HocmimError, InvalidParameterError

NON_NEGATIVE = ["plugin", "shrinkage"]
every_estimator = pytest.mark.parametrize("estimator", naive.ESTIMATORS)
non_negative = pytest.mark.parametrize("estimator", NON_NEGATIVE)
quick = settings(max_examples=60, deadline=None)


@st.composite
def tables(draw, columns, levels=5):
    """A small array of levels, one column for each argument."""
    n = draw(st.integers(2, 40))
    cell = st.integers(0, levels - 1)
    rows = st.lists(st.tuples(*[cell] * columns), min_size=n, max_size=n)
    return np.array(draw(rows))


def value(function, *arguments, **options):
    found = function(*arguments, **options)
    assert isinstance(found, float)
    return found


# -- Shannon's laws --------------------------------------------------------------------------------


@non_negative
@quick
@given(table=tables(4))
def test_never_negative(estimator, table):
    x, y, Z = table[:, 0], table[:, 1], table[:, 2:]
    assert value(hocmim.entropy, table, estimator=estimator) >= 0
    assert value(hocmim.mi, x, y, estimator=estimator) >= -1e-12
    assert value(hocmim.mi, x, Z, estimator=estimator) >= -1e-12
    assert value(hocmim.cmi, x, y, Z, estimator=estimator) >= -1e-12


@quick
@given(table=tables(4))
def test_chain_rules(table):
    H, I, J = hocmim.entropy, hocmim.mi, hocmim.cmi  # noqa: E741
    x, y, Z = table[:, :1], table[:, 1:2], table[:, 2:]
    xZ, yZ, xy = np.hstack([x, Z]), np.hstack([y, Z]), np.hstack([x, y])
    assert pytest.approx(H(x) + H(y) - H(xy), abs=1e-12) == I(x, y)
    assert pytest.approx(H(xZ) + H(yZ) - H(table) - H(Z), abs=1e-12) == J(x, y, Z)
    assert pytest.approx(I(Z, y) + J(x, y, Z), abs=1e-12) == I(xZ, y)
    assert pytest.approx(H(x), abs=1e-12) == I(x, x)


@quick
@given(table=tables(4))
def test_symmetry(table):
    x, y, Z = table[:, 0], table[:, 1], table[:, 2:]
    for estimator in naive.ESTIMATORS:
        forth, back = (hocmim.mi(*pair, estimator=estimator) for pair in ((x, y), (y, x)))
        assert forth == pytest.approx(back, abs=1e-12)
        if estimator != "shrinkage":  # there the first argument is the candidate
            forth, back = (hocmim.cmi(*pair, Z, estimator=estimator) for pair in ((x, y), (y, x)))
            assert forth == pytest.approx(back, abs=1e-12)


@quick
@given(table=tables(3), merged=st.lists(st.integers(0, 4), min_size=5, max_size=5))
def test_data_processing(table, merged):
    """No function of x tells more of y than x does, and none is more uncertain."""
    x, y, z = table.T
    coarse = np.array(merged)[x]
    assert hocmim.entropy(coarse) <= hocmim.entropy(x) + 1e-12
    assert hocmim.mi(coarse, y) <= hocmim.mi(x, y) + 1e-12
    assert hocmim.cmi(coarse, y, z) <= hocmim.cmi(x, y, z) + 1e-12
    assert hocmim.mi(x, y) <= hocmim.mi(np.stack([x, z], axis=1), y) + 1e-12
    assert hocmim.mi(x, y) <= min(hocmim.entropy(x), hocmim.entropy(y)) + 1e-12


@pytest.mark.slow
@every_estimator
@quick
@given(table=tables(4), data=st.data())
def test_names_and_the_order_of_samples_do_not_matter(estimator, table, data):
    rows = data.draw(st.permutations(range(len(table))))
    names = np.array(data.draw(st.permutations([-7, 0, 3, 1_000_000, 12])))
    other = names[table[rows]]
    for function, parts in (
        (hocmim.entropy, [slice(0, 4)]),
        (hocmim.mi, [0, slice(1, 3)]),
        (hocmim.cmi, [0, 1, slice(2, 4)]),
    ):
        before, after = (
            function(*(t[:, part] for part in parts), estimator=estimator) for t in (table, other)
        )
        assert after == pytest.approx(before, abs=1e-12)


@every_estimator
@quick
@given(table=tables(3))
def test_bits_are_nats_over_log_two(estimator, table):
    x, y, z = table.T
    for function, arguments in (
        (hocmim.entropy, (x,)),
        (hocmim.mi, (x, y)),
        (hocmim.cmi, (x, y, z)),
    ):
        nats = function(*arguments, estimator=estimator)
        assert function(*arguments, estimator=estimator, unit="nats") == nats
        in_bits = function(*arguments, estimator=estimator, unit="bits")
        assert in_bits == pytest.approx(nats / log(2), rel=1e-14, abs=1e-300)


# -- the naive twin --------------------------------------------------------------------------------


@every_estimator
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_the_naive_twin(estimator, seed):
    """Arguments of one, two and three columns in every place."""
    rng = np.random.default_rng([600, seed])
    for X, y in naive.random_tables([601, seed], 12, (2, 150), D=8):
        table = np.column_stack([X, y])
        order = rng.permutation(9)
        ends = np.cumsum(rng.integers(1, 4, size=3))
        parts = np.split(order, ends)[:3]
        arrays = [table[:, part] for part in parts]
        sets = [naive.columns(array) for array in arrays]
        for function, twin, size in (
            (hocmim.entropy, naive.entropy, 1),
            (hocmim.mi, naive.mi, 2),
            (hocmim.cmi, naive.cmi, 3),
        ):
            found = value(function, *arrays[:size], estimator=estimator)
            assert found == pytest.approx(twin(*sets[:size], estimator), abs=1e-9)


@every_estimator
def test_many_levels_agree_with_the_naive_twin(estimator):
    """Joint variables with more cells than a byte counts, up to one a sample."""
    rng = np.random.default_rng(602)
    x, y, z = (rng.integers(k, size=400) for k in (6, 3, 5))
    many = np.arange(400) // 2
    Z = np.column_stack([z, many, z])
    sets = [naive.columns(a.reshape(400, -1)) for a in (x, y, Z)]
    found = hocmim.cmi(x, y, Z, estimator=estimator)
    assert found == pytest.approx(naive.cmi(*sets, estimator), abs=1e-9)
    found = hocmim.mi(Z, y, estimator=estimator)
    assert found == pytest.approx(naive.mi(sets[2], sets[1], estimator), abs=1e-9)


def test_the_product_of_levels_may_be_astronomic():
    """Forty columns of four levels: 4⁴⁰ combinations, of which as many occur as there are rows."""
    rng = np.random.default_rng(603)
    Z = rng.integers(4, size=(200, 40))
    assert hocmim.entropy(Z) == pytest.approx(log(200))
    y = rng.integers(2, size=200)
    assert hocmim.mi(Z, y) == pytest.approx(hocmim.entropy(y))
    assert hocmim.cmi(Z[:, 0], y, Z[:, 1:]) == pytest.approx(0, abs=1e-12)


def test_closed_forms():
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    for estimator in NON_NEGATIVE:
        assert hocmim.mi(a, b, estimator=estimator) == pytest.approx(0, abs=1e-15)
    assert hocmim.entropy(a, unit="bits") == pytest.approx(1)
    assert hocmim.cmi(a, a ^ b, b, unit="bits") == pytest.approx(1)
    assert hocmim.mi(np.column_stack([a, b]), a ^ b, unit="bits") == pytest.approx(1)
    assert hocmim.entropy([5, 5, 5]) == 0
    assert hocmim.entropy(a, estimator="miller_madow") == pytest.approx(log(2) + 1 / 8)


def test_shrinkage_takes_the_candidate_first():
    """Rows are candidate × condition, so the first two arguments may not be exchanged."""
    X, y = next(naive.random_tables(604, 1, (40, 41), D=2, levels=4, ties=False))
    x, z = X.T
    there, back = (hocmim.cmi(*pair, z, estimator="shrinkage") for pair in ((x, y), (y, x)))
    assert abs(there - back) > 1e-6


# -- what may be passed ----------------------------------------------------------------------------

ANIMALS = ["cat", "dog", "cat", "emu", "dog", "cat"]
NUMBERS = [1, 2, 1, 3, 2, 2]


@pytest.mark.parametrize(
    "same",
    [
        ANIMALS,
        np.array(ANIMALS),
        np.array(ANIMALS, dtype=object),
        pd.Series(ANIMALS),
        pd.Series(ANIMALS, dtype="category"),
        pd.DataFrame({"animal": ANIMALS}),
        pl.Series(ANIMALS),
        pl.DataFrame({"animal": ANIMALS}),
        np.array([0, 1, 0, 2, 1, 0]),
        np.array([[0], [1], [0], [2], [1], [0]], dtype=np.uint8),
        [0.25, -1e9, 0.25, 1e-9, -1e9, 0.25],
    ],
    ids=lambda same: f"{type(same).__module__.split('.')[0]}.{type(same).__name__}",
)
def test_levels_may_be_anything(same):
    expected = naive.mi(((0, 1, 0, 2, 1, 0),), (tuple(NUMBERS),))
    assert hocmim.mi(same, NUMBERS) == pytest.approx(expected)
    assert hocmim.mi(NUMBERS, same) == pytest.approx(expected)
    assert hocmim.entropy(same) == pytest.approx(naive.entropy(((0, 1, 0, 2, 1, 0),)))


def test_floats_are_not_cut():
    x = np.random.default_rng(605).normal(size=300)
    assert hocmim.entropy(x) == pytest.approx(log(300))


def test_mixed_columns_are_one_variable():
    frame = pd.DataFrame({"a": ANIMALS, "b": NUMBERS, "c": [True, False] * 3})
    sets = (0, 1, 0, 2, 1, 0), tuple(NUMBERS), (1, 0) * 3
    assert hocmim.entropy(frame) == pytest.approx(naive.entropy(sets))
    assert hocmim.cmi(frame["a"], frame["b"], frame[["c"]]) == pytest.approx(
        naive.cmi(sets[:1], sets[1:2], sets[2:])
    )


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [1, 2, 3])
def test_an_unknown_estimator_is_told_the_choices(arguments):
    function = [hocmim.entropy, hocmim.mi, hocmim.cmi][arguments - 1]
    with pytest.raises(InvalidParameterError) as caught:
        function(*[NUMBERS] * arguments, estimator="bayes")
    assert "bayes" in str(caught.value)
    assert all(name in str(caught.value) for name in naive.ESTIMATORS)


def test_an_unknown_unit_is_told_the_choices():
    with pytest.raises(InvalidParameterError, match=r"(?s)(?=.*nats)(?=.*bits)(?=.*hartleys)"):
        hocmim.entropy(NUMBERS, unit="hartleys")


@pytest.mark.parametrize(
    ("function", "lengths"),
    [(hocmim.mi, (6, 5)), (hocmim.cmi, (6, 5, 6)), (hocmim.cmi, (6, 6, 5))],
)
def test_unequal_lengths_are_named(function, lengths):
    with pytest.raises(HocmimError, match=r"(?s)(?=.*\b5\b)(?=.*\b6\b)") as caught:
        function(*(NUMBERS[:length] for length in lengths))
    assert isinstance(caught.value, ValueError)


def test_no_samples():
    with pytest.raises(HocmimError):
        hocmim.entropy([])

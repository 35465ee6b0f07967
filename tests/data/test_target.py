"""Whether a target holds classes or a quantity."""

import datetime
import warnings

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_linnerud, load_wine

from hocmim import MIM
from hocmim.coding.target import decide_kind, warn_about_guess
from hocmim.errors import HocmimWarning, InvalidTargetError

RNG = np.random.default_rng(0)


def kind_of(y, declared="auto"):
    return decide_kind(np.asarray(y), declared)


CERTAIN = {
    "strings": (np.array(["a", "b"] * 50), "classes"),
    "many strings": (np.arange(500).astype(str), "classes"),
    "booleans": (RNG.random(100) < 0.5, "classes"),
    "digits": (load_digits().target, "classes"),
    "wine": (load_wine().target, "classes"),
    "whole floats": (load_digits().target.astype(float), "classes"),
    "a rating from 3 to 9": (RNG.integers(3, 10, 1000), "classes"),
    "few labels with gaps": (np.repeat([7, 100, 2000], 5), "classes"),
    "six fractions": (np.tile([0.25, 0.5, 1.0, 2.0, 4.0, 8.0], 9), "quantity"),
    "fractions": (RNG.normal(size=50), "quantity"),
    "few fractions": (np.tile([0.25, 0.5, 1.0], 9), "classes"),
    "five fractions": (np.tile([0.25, 0.5, 1.0, 2.0, 4.0], 9), "classes"),
}
GUESSED = {
    "diabetes": (load_diabetes().target, "quantity"),
    "linnerud": (load_linnerud().target[:, 0], "quantity"),
    "prices": (np.rint(np.exp(RNG.normal(8, 1, 5000))).astype(int), "quantity"),
    "ages": (RNG.integers(18, 90, 5000), "quantity"),
    "counts": (RNG.poisson(200, 5000), "quantity"),
    "years": (RNG.integers(1922, 2012, 10_000), "quantity"),
    "26 letters": (np.tile(np.arange(1, 27), 300), "classes"),
    "40 people": (np.repeat(np.arange(40), 10), "classes"),
    "100 species": (np.repeat(np.arange(100), 16), "classes"),
    "row numbers": (np.arange(300), "quantity"),
    "unsigned": (RNG.integers(0, 10_000, 2000).astype(np.uint16), "quantity"),
    "large": (RNG.integers(-(2**62), 2**62, 200), "quantity"),
}


@pytest.mark.parametrize("name", CERTAIN)
def test_what_is_certain(name):
    y, expected = CERTAIN[name]
    assert (kind_of(y).name, kind_of(y).guess) == (expected, "")


@pytest.mark.parametrize("name", GUESSED)
def test_what_is_guessed(name):
    y, expected = GUESSED[name]
    kind = kind_of(y)
    assert kind.name == expected
    assert f"treated as {'a quantity' if kind.is_quantity else 'classes'}." in kind.guess
    other = "classes" if kind.is_quantity else "quantity"
    with pytest.warns(HocmimWarning, match=f"or target='{other}'"):
        warn_about_guess(kind)
    for declared in ("classes", "quantity"):
        assert (kind_of(y, declared).name, kind_of(y, declared).guess) == (declared, "")


def test_the_counted_values_are_the_distinct_ones():
    for y in (RNG.integers(-50, 50, 400), RNG.integers(0, 2**40, 100), RNG.integers(0, 9**7, 99)):
        assert f"y has {len(np.unique(y)):,} distinct whole numbers" in kind_of(y).guess
    late = np.repeat([0.5, 1.0, 2.0, 4.0], 2000)  # few values in the first rows
    assert kind_of(late).name == "classes"
    assert kind_of(np.append(late, [8.0, 16.0])).name == "quantity"


def test_words_are_no_quantity():
    with pytest.raises(InvalidTargetError, match="y is not numeric"):
        kind_of(np.array(["a", "b"]), "quantity")


def test_warnings_can_be_switched_off():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=HocmimWarning)
        warn_about_guess(kind_of(load_diabetes().target))


def test_targets_of_odd_arrow_types():
    X = np.arange(50.0)[:, None]
    times = pa.array([datetime.time(1, 2, k) for k in range(50)])
    with pytest.raises(InvalidTargetError, match="it holds time"):
        MIM(1).fit(X, times)
    types, offsets = pa.array([0] * 50, pa.int8()), pa.array(range(50), pa.int32())
    union = pa.UnionArray.from_dense(types, offsets, [pa.array(range(50))])
    with pytest.raises(InvalidTargetError, match="y cannot be read as an array"):
        MIM(1).fit(X, union)

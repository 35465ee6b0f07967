"""Every parameter is checked before work starts, and gets the same sentence."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import hocmim
from hocmim.errors import InvalidParameterError
from hocmim.parameters import JOBS, PATH_OR_NONE, SEED, Number

rng = np.random.default_rng(0)
X = rng.integers(0, 3, (60, 4))
Y = X[:, 0] % 2
BAD_JOBS = [0, 1.5, float("nan"), float("inf"), "2", True, [1], np.array([1, 2])]


@pytest.mark.parametrize("n_jobs", BAD_JOBS, ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda n: hocmim.MIM(2, n_jobs=n).fit(X, Y),
        lambda n: hocmim.RobustHOCMIM(2, n_jobs=n).fit(X, Y),
        lambda n: hocmim.ReliefF(2, n_jobs=n).fit(X, Y),
        lambda n: hocmim.encode(X, n_jobs=n),
        lambda n: hocmim.StabilitySelector(hocmim.MIM(2), n_jobs=n).fit(X, Y),
    ],
    ids=["MIM", "HOCMIM-R", "ReliefF", "encode", "StabilitySelector"],
)
def test_a_wrong_number_of_jobs(call, n_jobs):
    with pytest.raises(InvalidParameterError, match="n_jobs must be an integer other than 0"):
        call(n_jobs)


@pytest.mark.parametrize("value", [[], {}, None, "BITS", 3, np.array(["bits", "nats"])], ids=repr)
@pytest.mark.parametrize("name", ["unit", "estimator"])
@pytest.mark.parametrize(
    "call",
    [
        lambda **given: hocmim.entropy(Y, **given),
        lambda **given: hocmim.mi(X, Y, **given),
        lambda **given: hocmim.cmi(X[:, 0], Y, X[:, 1], **given),
    ],
    ids=["entropy", "mi", "cmi"],
)
def test_a_wrong_unit_or_estimator(call, name, value):
    with pytest.raises(InvalidParameterError, match=f"{name} must be one of"):
        call(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("random_state", "seed"),
        ("random_state", -1),
        ("random_state", 2**32),
        ("random_state", np.array([1, 2])),
        ("codes_dir", 3),
        ("codes_dir", ""),
        ("checkpoint", ["a"]),
        ("verbose", -1),
        ("verbose", "yes"),
        ("estimator", np.array(["plugin"])),
        ("min_gain", float("nan")),
    ],
    ids=repr,
)
def test_a_wrong_parameter_of_a_selector(name, value):
    with pytest.raises(InvalidParameterError, match=f"^{name} must be "):
        hocmim.MIM(2, **{name: value}).fit(X, Y)


@pytest.mark.parametrize("model", [{}, 3, None, LogisticRegression, "tree"], ids=repr)
def test_a_wrong_model(model):
    with pytest.raises(InvalidParameterError, match="model must be one of"):
        hocmim.compare_methods(X, Y, ["mim"], model=model)


@pytest.mark.parametrize("selections", ["abc", None, 3, {}, [[0, 1], [1]], [[0, 2], [1, 1]]])
def test_wrong_selections(selections):
    with pytest.raises(InvalidParameterError, match="selections must be a table of 0 and 1"):
        hocmim.stability_index(selections)


def test_a_wrong_confidence():
    with pytest.raises(InvalidParameterError, match="confidence must be"):
        hocmim.stability_index([[0, 1], [1, 0]], confidence=2)


def test_constraints_allow_what_they_say():
    assert all(JOBS.allows(value) for value in (None, 1, -1, np.int64(3), -(10**6)))
    assert all(SEED.allows(value) for value in (None, 0, 2**32 - 1, np.random.RandomState(0)))
    assert all(PATH_OR_NONE.allows(value) for value in (None, "a", Path("a")))
    assert Number(0, is_whole=True, or_boolean=True).allows(True)
    assert not Number(0, is_whole=True).allows(True)

"""Every parameter is checked before work starts, and gets the same sentence."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import hocmim
from coded import encode
from hocmim.errors import InvalidParameterError
from hocmim.parameters import JOBS, PATH_OR_NONE, SEED, check_value, one_of, whole
from hocmim.selectors.stability import stability_index

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
        lambda n: encode(X, n_jobs=n),
        lambda n: hocmim.StabilitySelector(hocmim.MIM(2), n_jobs=n).fit(X, Y),
    ],
    ids=["MIM", "HOCMIM-R", "ReliefF", "encode", "StabilitySelector"],
)
def test_a_wrong_number_of_jobs(call, n_jobs):
    with pytest.raises(InvalidParameterError, match="n_jobs must be"):
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
        ("verbose", -1),
        ("verbose", "yes"),
        ("estimator", np.array(["plugin"])),
        ("encoder", "quantile"),
        ("target", "number"),
        ("engine", 3),
    ],
    ids=repr,
)
def test_a_wrong_parameter_of_a_selector(name, value):
    with pytest.raises(InvalidParameterError, match=f"^{name} must be "):
        hocmim.MIM(2, **{name: value}).fit(X, Y)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (hocmim.StopTest, "random_state", -1),
        (hocmim.StopTest, "random_state", np.array([1, 2])),
        (hocmim.StopTest, "alpha", float("nan")),
        (hocmim.Engine, "codes_dir", 3),
        (hocmim.Engine, "codes_dir", ""),
        (hocmim.Engine, "checkpoint", ["a"]),
    ],
    ids=repr,
)
def test_a_wrong_parameter_of_a_record(kind, name, value):
    with pytest.raises(InvalidParameterError, match=f"^{name} must be "):
        kind(**{name: value})


@pytest.mark.parametrize("name", hocmim.list_methods())
def test_at_most_14_parameters(name):
    kind = type(hocmim.make_selector(name))
    assert len(inspect.signature(kind).parameters) <= 14
    for other in (hocmim.CriterionSelector, hocmim.SelectorCV, hocmim.StabilitySelector):
        assert len(inspect.signature(other).parameters) <= 14


@pytest.mark.parametrize("selections", ["abc", None, 3, {}, [[0, 1], [1]], [[0, 2], [1, 1]]])
def test_wrong_selections(selections):
    with pytest.raises(InvalidParameterError, match="selections must be a table of 0 and 1"):
        stability_index(selections)


@pytest.mark.parametrize(
    ("constraints", "allowed", "refused"),
    [
        (JOBS, [None, 1, -1, np.int64(3), -(10**6)], [0, True, 1.0]),
        (SEED, [None, 0, 2**32 - 1, np.random.RandomState(0)], [-1, "0"]),
        (PATH_OR_NONE, [None, "a", Path("a")], ["", 3, "a\0"]),
        ([whole(0), "boolean"], [0, 7, True], [-1, 0.5]),
        ([one_of(["b", "a"])], ["a", "b"], ["c", None, ["a"]]),
    ],
)
def test_constraints_allow_what_they_say(constraints, allowed, refused):
    for value in allowed:
        check_value("it", value, constraints)
    for value in refused:
        with pytest.raises(InvalidParameterError, match=r"^it must be .* Got .* instead\.$"):
            check_value("it", value, constraints)


def test_choices_are_listed_in_their_order():
    with pytest.raises(InvalidParameterError, match=r"it must be one of 'b', 'a', 'c'. Got 3"):
        check_value("it", 3, [one_of(["b", "a", "c"])])

"""HOCMIM_BOUND turns the search by bounds on and off."""

import pytest

from hocmim import _native


@pytest.mark.parametrize(
    ("given", "expected"), [(None, True), ("", True), ("on", True), ("off", False)]
)
def test_the_variable_turns_the_bound_off(monkeypatch, given, expected):
    monkeypatch.delenv("HOCMIM_BOUND", raising=False)
    if given is not None:
        monkeypatch.setenv("HOCMIM_BOUND", given)
    assert _native.bound_is_enabled() is expected


def test_another_value_is_an_error(monkeypatch):
    monkeypatch.setenv("HOCMIM_BOUND", "no")
    with pytest.raises(ValueError, match="must be 'on' or 'off'"):
        _native.bound_is_enabled()

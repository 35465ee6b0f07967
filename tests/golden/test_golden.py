"""Selections, scores, p-values and explanations are as recorded in golden.json."""

import json
from functools import cache

import pytest

import hocmim
from golden.cases import FILTERS, INFORMATION, all_cases
from golden.record import RECORD, machine, result

CASES = all_cases()


@cache
def recorded():
    return json.loads(RECORD.read_text("utf-8"))


def differences(then, now, is_same_machine, where=""):
    """Where a result is not as recorded, a text per place."""
    if isinstance(then, dict) and isinstance(now, dict):
        for name in dict.fromkeys([*then, *now]):
            parts = then.get(name, "(nothing)"), now.get(name, "(nothing)")
            yield from differences(*parts, is_same_machine, f"{where}{name}: ")
    elif not is_same_machine and _is_inexact(then) and _is_inexact(now):
        yield from differences(then.split()[1:], now.split()[1:], True, where)
    elif then != now:
        yield f"{where}\n    recorded {then}\n    now      {now}"


def _is_inexact(text):
    return isinstance(text, str) and text.startswith("~")


def test_every_method_is_recorded():
    assert sorted(hocmim.list_methods()) == sorted([*INFORMATION, *FILTERS])


def test_every_case_has_a_record_and_every_record_a_case():
    names = {case.get("same_as", name) for name, case in CASES.items()}
    assert names == set(recorded()) - {"machine"}


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name):
    case = CASES[name]
    if case.get("way", "").startswith("dask"):
        pytest.importorskip("distributed")
    then = recorded()[case.get("same_as", name)]
    is_same_machine = machine() == recorded()["machine"]
    found = list(differences(then, json.loads(json.dumps(result(case))), is_same_machine))
    if found:
        pytest.fail("\n".join([f"Not as recorded: {name}", *found]), pytrace=False)

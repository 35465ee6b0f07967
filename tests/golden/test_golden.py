"""Selections, scores and explanations are what they were when golden.jsonl was recorded."""

import json
from functools import cache
from pathlib import Path

import pytest

from golden.cases import all_cases, cluster

RECORD = Path(__file__).with_name("golden.jsonl")
CASES = all_cases()
GROUPS = list(dict.fromkeys(case.group for case in CASES.values()))
MOST_SHOWN = 20


@pytest.fixture(autouse=True)
def p_values_of_the_tail_only(monkeypatch):
    """A deliberate change since the record: a p-value is at least the probability of the table.

    It is switched off here, so that everything else is compared; tests/search/test_stopping.py
    tests it.
    """
    monkeypatch.setattr("hocmim.search.stopping.table_probability", lambda *table: 0.0)


@cache
def read_record():
    """What was recorded, by the key of the case."""
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    return dict(json.loads(line) for line in lines)


def produced(group, folder):
    """What the cases of a group give now."""
    found = {}
    for number, case in enumerate(case for case in CASES.values() if case.group == group):
        own = folder / str(number)
        own.mkdir()
        found[case.key] = json.loads(json.dumps(case.run(own)))
    return found


def differences(then, now, where=""):
    """Where two records differ, and how; one line a place."""
    if isinstance(then, dict) and isinstance(now, dict):
        for name in dict.fromkeys([*then, *now]):
            missing = "(nothing)"
            yield from differences(
                then.get(name, missing), now.get(name, missing), f"{where}.{name}"
            )
    elif then != now and not (where.endswith("bits") and is_of_another_kernel(then, now)):
        yield f"  {where.lstrip('.') or 'all'}\n    recorded {then}\n    now      {now}"


def is_of_another_kernel(then, now):
    """Whether bits were recorded with another BLAS: see golden/describe.py."""
    return ":" in then and ":" in now and then.partition(":")[0] != now.partition(":")[0]


def compare(group, folder):
    recorded = read_record()
    lines, n_cases = [], 0
    for key, now in produced(group, folder).items():
        found = list(differences(recorded.get(key, "(nothing)"), now))
        n_cases += bool(found)
        lines += [key, *found] if found else []
    if lines:
        shown = "\n".join(lines[:MOST_SHOWN])
        more = f"\nand {len(lines) - MOST_SHOWN} lines more" if len(lines) > MOST_SHOWN else ""
        pytest.fail(f"{n_cases} cases are not as recorded:\n{shown}{more}", pytrace=False)


def test_every_case_is_recorded_and_no_other():
    recorded = read_record()
    assert sorted(set(CASES) - set(recorded)) == [], "cases without a record"
    assert sorted(set(recorded) - set(CASES)) == [], "records without a case"
    assert list(recorded) == sorted(recorded), "not in order"


@pytest.mark.slow
@pytest.mark.parametrize("group", [group for group in GROUPS if group != "dask"])
def test_as_recorded(group, tmp_path):
    compare(group, tmp_path)


@pytest.mark.slow
def test_as_recorded_on_a_cluster(tmp_path):
    pytest.importorskip("distributed")
    with cluster():
        compare("dask", tmp_path)

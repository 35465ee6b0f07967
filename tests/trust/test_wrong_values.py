"""Wrong values of every type for the parameters of every public function, class and method."""

import pytest
import wrong_values
from wrong_values import WRONG, calls, fault

# Every value for the classes and functions in which a fault was found, or that have their own
# checks. The other methods declare the parameters of MIM; ``make trust`` tries them too.
TRIED = {
    "Budget", "Criterion", "CriterionSelector", "Encoder", "Engine", "FSOLS", "ILFS", "JMI.explain",
    "JMI.get_feature_names_out", "JMI.get_support", "JMI.plot columns", "JMI.save", "MIM",
    "NCA", "RobustHOCMIM", "SelectorCV", "SelectorCV.plot_curves", "StabilitySelector", "StopTest",
    "Target", "TextConverter",
    "check_table", "cluster_columns", "cmi", "compare_methods", "describe_columns",
    "interactions", "load", "make_selector", "mi", "selected_interactions",
    "stability_index", "substitutes", "write_report",
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TRIED))
def test_a_wrong_value_gets_a_sentence(name, tmp_path):
    found, n_tried = [], 0
    for owner, parameter, call in calls(tmp_path, only=name):
        for label, value in WRONG.items():
            text = fault(owner, parameter, call, value)
            n_tried += 1
            if text:
                found.append(f"{owner}({parameter}={label}): {text[:300]}")
    assert n_tried
    assert found == []


def test_the_names_are_those_of_the_package(tmp_path):
    known = {owner for owner, _, _ in calls(tmp_path)}
    assert known >= TRIED
    public = {name for name in wrong_values.hocmim.__all__ if not name.startswith("__")}
    # Functions without parameters of their own, or whose parameters are those of another.
    passed_on = {"DataWarning", "Joint", "list_methods"}
    assert public - passed_on <= known

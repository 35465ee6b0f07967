"""What a type checker tells a user: wrong calls are reported, right ones have types.

mypy runs on a file of a user, in a folder of its own: with no configuration but the default.
"""

import re
import subprocess
import sys

import pytest

HEAD = """
from hocmim import (
    JMI, Budget, Encoder, Engine, FisherScore, HOCMIM, RobustHOCMIM, SelectorCV, StabilitySelector,
    StopTest, Target, load, make_selector,
)
X, y = [[0, 1], [1, 0]], [0, 1]
selector = RobustHOCMIM(5)
"""
# A wrong line, and what is said about it.
WRONG = {
    "RobustHOCMIM(5, n_bin=3)": 'Unexpected keyword argument "n_bin"',
    'RobustHOCMIM("five")': 'incompatible type "Literal[',
    "RobustHOCMIM(5).selectd_": 'has no attribute "selectd_"',
    "JMI(5, 3)": "Too many positional arguments",
    "JMI(5, encoder=3)": 'incompatible type "int"; expected "Encoder | None"',
    "HOCMIM(5).fit(X, y).scors_": 'has no attribute "scors_"',
    "HOCMIM(5).fit(X)": 'Missing positional argument "y"',
    "HOCMIM(5).fit(X, y, group=y)": 'Unexpected keyword argument "group"',
    'FisherScore("significant")': 'incompatible type "str"',
    "FisherScore(3).feature_score_": 'has no attribute "feature_score_"',
    "SelectorCV(JMI()).best_n_feature_": 'has no attribute "best_n_feature_"',
    "StabilitySelector(JMI()).frequency_": 'has no attribute "frequency_"',
    "make_selector('jmi').selectd_": 'has no attribute "selectd_"',
    "Encoder(5).column_": 'has no attribute "column_"',
    "Encoder(n_bin=5)": 'Unexpected keyword argument "n_bin"',
    "Target(bin=3)": 'Unexpected keyword argument "bin"',
    "StopTest(alfa=0.1)": 'Unexpected keyword argument "alfa"',
    "Engine(check_point='a')": 'Unexpected keyword argument "check_point"',
}
RIGHT = [
    'RobustHOCMIM("significant")',
    "RobustHOCMIM(StopTest(0.05, fdr=0.1))",
    "RobustHOCMIM(Budget(10), costs=[1, 2])",
    "RobustHOCMIM(None, target='classes', engine=Engine(codes_dir='codes'))",
    "JMI(0.5, target=Target(bins=4), encoder=Encoder(3)).set_params(verbose=1).fit(X, y, [1, 2])",
    "SelectorCV([JMI(), FisherScore()], 'forest', cv=3).fit(X, 'y').transform(X)",
    "make_selector('jmi', n_features_to_select=3).fit(X, y)",
]
# An expression, and a part of its type.
REVEALED = {
    "selector": "RobustHOCMIM",
    "selector.fit(X, y)": "RobustHOCMIM",
    "selector.set_params(max_order=3)": "RobustHOCMIM",
    "selector.extend(7)": "RobustHOCMIM",
    "selector.selected_": "ndarray",
    "selector.scores_": "ndarray",
    "selector.relevance_": "ndarray",
    "selector.classes_": "ndarray",
    "selector.target_kind_": "str",
    "selector.get_support()": "ndarray",
    "selector.get_feature_names_out()": "ndarray",
    "selector.n_features_": "int",
    "selector.explain(0)": "Explanation",
    "selector.selection_": "Selection",
    "selector.statement()": "str",
    "FisherScore(3).fit(X, y)": "FisherScore",
    "SelectorCV(JMI()).fit(X, y).best_n_features_": "int",
    "StabilitySelector(JMI()).fit(X, y).frequencies_": "ndarray",
    "load('a.json')": "Selector",
    "make_selector('jmi').fit(X, y)": "Selector",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What mypy says about each line."""
    pytest.importorskip("mypy", reason="mypy is not installed: pip install mypy")
    folder = tmp_path_factory.mktemp("user")
    revealed = [f"reveal_type({expression})" for expression in REVEALED]
    lines = [*HEAD.splitlines(), *WRONG, *RIGHT, *revealed]
    (folder / "user.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "user.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = dict.fromkeys(lines, "")
    for number, text in re.findall(r"(?m)^user\.py:(\d+): (.*)$", done.stdout):
        found[lines[int(number) - 1]] += text
    assert any(found.values()), done.stdout + done.stderr
    return found


@pytest.mark.slow
def test_wrong_calls_are_reported(said):
    assert {line: said[line] for line in WRONG if WRONG[line] not in said[line]} == {}


@pytest.mark.slow
def test_right_calls_are_not(said):
    assert {line: said[line] for line in [*HEAD.splitlines(), *RIGHT] if said[line]} == {}


@pytest.mark.slow
def test_results_have_types(said):
    types = {one: said[f"reveal_type({one})"].partition("Revealed type is ")[2] for one in REVEALED}
    assert {one: types[one] for one in REVEALED if REVEALED[one] not in types[one]} == {}
    assert [one for one in REVEALED if types[one] == '"Any"'] == []

"""The public names of the package."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

import hocmim

SOURCE = Path(hocmim.__file__).read_text(encoding="utf-8")


def typed_names():
    """Return the names that type checkers see, and the module of each."""
    (block,) = (
        node
        for node in ast.parse(SOURCE).body
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    )
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    names = {}
    for node in imports:
        for alias in node.names:
            assert alias.asname == alias.name  # a public name of the package
            names[alias.name] = node.module.removeprefix("hocmim.")
    return names


def test_type_checkers_and_programs_see_the_same_names():
    lazy = {name: module for module, names in hocmim._NAMES_OF.items() for name in names}
    assert typed_names() == lazy
    assert sum(map(len, hocmim._NAMES_OF.values())) == len(lazy)


def test_dir_shows_public_names_only():
    assert dir(hocmim) == sorted(hocmim.__all__) == sorted([*typed_names(), "__version__"])
    with pytest.raises(AttributeError, match="has no attribute 'RobustHOCMIN'"):
        hocmim.RobustHOCMIN  # noqa: B018


def test_the_package_does_not_import_scikit_learn():
    code = "import hocmim, sys; dir(hocmim); assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_selector_has_few_ancestors():
    assert len(hocmim.RobustHOCMIM.__mro__) <= 15
    own = [kind for kind in hocmim.RobustHOCMIM.__mro__ if kind.__module__.startswith("hocmim")]
    assert len(own) <= 4


def test_selectors_are_those_of_scikit_learn():
    from hocmim import make_selector  # not the class itself

    for name in hocmim.list_methods():
        selector = make_selector(name)
        assert isinstance(selector, SelectorMixin)
        assert isinstance(selector, BaseEstimator)

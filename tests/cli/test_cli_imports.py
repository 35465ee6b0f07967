"""A command imports only what it needs: most of the time of a short one is that of imports."""

import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.feature_selection import SelectorMixin

import hocmim
from hocmim.selectors.names import method_names
from hocmim.selectors.registry import METHODS

SCRIPT = """
import json, sys
from hocmim.cli import main
try:
    main({arguments!r})
except SystemExit as end:
    code = end.code
modules = ["sklearn", "scipy", "scipy.stats._stats_py", "pandas", "sklearn.feature_selection",
           "pyarrow", "scipy.special._ufuncs", "scipy.spatial._qhull", "numpy.f2py.crackfortran"]
print(json.dumps([code, [name for name in modules if sys.modules.get(name)]]), file=sys.stderr)
"""


def imported(folder, *arguments):
    """Run a command in a new process; return its exit code and the libraries it imported."""
    script = SCRIPT.format(arguments=list(arguments))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder
    )
    return json.loads(done.stderr.splitlines()[-1])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n" + "1,2,x\n2,2,z\n1,1,x\n2,1,z\n" * 5)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (("select", "t.csv"), ["pyarrow"]),
        (("select", "absent.csv", "-t", "y"), ["pyarrow"]),
        (("report", "t.csv", "-t", "yy", "-o", "r.html"), ["pyarrow"]),
        (("compare", "t.csv", "-t", "y", "--drop", "bb"), ["pyarrow"]),
        (("explain", "t.csv", "-t", "y", "-f", "a", "--checkpoint", "no/c"), []),
        (("select", "t.csv", "-t", "y", "--bins", "x"), []),
        (("select", "t.csv", "-t", "y", "--as", "bb=number"), ["pyarrow"]),
        (("select", "t.csv", "-t", "y", "--dates", "days"), []),
        (("columns", "absent.csv"), ["pyarrow"]),
        (("select", "t.csv", "-t", "y", "-m", "HOCMIN"), []),
        (("report", "t.csv", "-t", "y", "-m", "absent", "-o", "r.html"), []),
        (("compare", "t.csv", "-t", "y", "--methods", "HOCMIM,absent(x=1)"), []),
        (("tune", "t.csv", "-t", "y", "--methods", "absent"), []),
        (("select", "t.csv", "-t", "y", "--estimator", "absent"), []),
        (("select", "t.csv", "-t", "y", "-k", "9"), ["pyarrow"]),
        (("compare", "t.csv", "-t", "y", "-k", "9"), ["pyarrow"]),
        (("explain", "t.csv", "-t", "y", "-f", "absent"), ["pyarrow"]),
    ],
)
def test_errors_do_not_wait_for_scikit_learn(folder, arguments, needed):
    assert imported(folder, *arguments) == [2, needed]


def test_the_names_of_the_methods_need_no_scikit_learn(folder):
    assert imported(folder, "info", "--json", "-") == [0, []]
    names, aliases = method_names()
    assert names == hocmim.list_methods()
    assert aliases == METHODS.aliases


def test_a_selection_imports_neither_pandas_nor_statistics(folder):
    code, found = imported(folder, "select", "t.csv", "-t", "y", "-k", "2")
    assert code == 0
    # scikit-learn 1.6 uses scipy.special while it is imported.
    is_old = sklearn.__version__.startswith("1.6.")
    assert found == ["sklearn", "scipy", "pyarrow"] + is_old * ["scipy.special._ufuncs"]


@pytest.mark.slow
def test_commands_that_convert_columns_work_without_pandas(folder):
    """pyarrow asks for pandas when it converts values and tables."""
    with sqlite3.connect(folder / "t.db") as database:
        database.execute("CREATE TABLE t (a, b, y)")
        rows = [(i % 3, i % 2, "x" if i % 2 else "z") for i in range(20)]
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    database.close()
    for arguments in (
        ("select", "sqlite:///t.db", "-t", "y"),
        ("compare", "t.csv", "-t", "y", "--methods", "MIM", "--folds", "2", "--resamples", "2"),
        ("explain", "t.csv", "-t", "y", "-f", "a"),
        ("report", "t.csv", "-t", "y", "-o", "r.html"),
    ):
        code, found = imported(folder, *arguments)
        assert code == 0
        assert "pandas" not in found


def test_a_filter_loads_the_statistics_it_uses(folder):
    code, found = imported(folder, "select", "t.csv", "-t", "y", "-m", "Kruskal")
    assert code == 0
    assert "scipy.stats._stats_py" in found


def test_selectors_are_selectors_for_scikit_learn():
    for name in hocmim.__all__:
        kind = getattr(hocmim, name)
        if isinstance(kind, type) and hasattr(kind, "get_support"):
            assert issubclass(kind, SelectorMixin)
    assert issubclass(hocmim.HOCMIM, SelectorMixin)


def test_support_names_and_inverse_are_those_of_scikit_learn():
    """Compared with the methods of SelectorMixin itself."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40, 6)).astype(float), rng.integers(0, 2, 40)
    selector = hocmim.HOCMIM(3).fit(X, y)
    assert (selector.get_support() == SelectorMixin.get_support(selector)).all()
    indices = selector.get_support(indices=True)
    assert (indices == SelectorMixin.get_support(selector, indices=True)).all()
    names = SelectorMixin.get_feature_names_out(selector)
    assert selector.get_feature_names_out().tolist() == names.tolist()
    chosen = sparse.csr_matrix(selector.transform(X))
    full = selector.inverse_transform(chosen)
    assert full.format == "csc"
    assert (full.toarray() == selector.inverse_transform(chosen.toarray())).all()

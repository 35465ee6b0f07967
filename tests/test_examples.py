"""The examples run, and the code in the README and in docstrings does what it says."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hocmim

ROOT = Path(__file__).parents[1]


def run(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout


def test_demo_says_what_it_chose_and_why_it_stopped():
    out = run("examples/demo.py")
    assert "worst concave points" in out
    assert "Where it stopped looking" in out
    page = Path(out.splitlines()[-1].split(": ")[-1])
    assert "Breast cancer: ten of thirty measurements" in page.read_text("utf-8")


def python_blocks(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def test_readme_code_runs():
    blocks = python_blocks(ROOT / "README.md")
    assert blocks
    for block in blocks:
        assert "worst concave points" in run("-c", block)


PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if python_blocks(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_a_docs_page_runs(page, tmp_path):
    """The blocks of a page, one after the other as a reader would run them."""
    code = "import matplotlib; matplotlib.use('Agg')\n" + "\n".join(python_blocks(page))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr


GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))


@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_gallery_script_draws(script):
    code = (
        "import matplotlib, runpy\n"
        "matplotlib.use('Agg')\n"
        "from matplotlib import pyplot as plt\n"
        f"runpy.run_path({str(script)!r})\n"
        "assert plt.get_fignums() and all(plt.figure(n).axes for n in plt.get_fignums())\n"
    )
    run("-W", "error::UserWarning", "-W", "error::FutureWarning", "-c", code)


MODULES = [
    module.name
    for module in pkgutil.walk_packages(hocmim.__path__, "hocmim.")
    if not module.name.endswith("_native")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0

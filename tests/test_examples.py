"""The examples run, and the code in README, docs and docstrings prints the output shown."""

import doctest
import importlib
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import docs_output

ROOT = Path(__file__).parents[1]
TERMINAL = {"FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": "80"}


def run(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout


def shown_selection(out):
    """The names and scores in the table that the demo prints."""
    rows = re.findall(r"(?m)^\d+\t(.+?)\t[\d.]+\t([\d.]+)\t", out)
    return [name for name, _ in rows], [float(score) for _, score in rows]


def test_demo_prints_the_selection_and_writes_the_report(tmp_path):
    out = run("-m", "hocmim", "demo", "-o", str(tmp_path / "page.html"))
    names, scores = shown_selection(out)
    assert len(names) == 7
    assert all(earlier > later for earlier, later in pairwise(scores))
    chosen = load_breast_cancer(as_frame=True).data[names]
    alike = np.abs(np.corrcoef(chosen.T)) - np.eye(len(names))
    assert alike.max() < 0.95  # no near copies: of all thirty columns the closest have 0.998
    assert "What the last of them adds" in out
    page = Path(out.splitlines()[-1].split(": ")[-1])
    assert page == tmp_path.resolve() / "page.html"
    assert "Breast cancer: seven of thirty measurements" in page.read_text("utf-8")


def test_demo_does_not_overwrite_a_file_unless_told(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine", "utf-8")
    command = [sys.executable, "-m", "hocmim", "demo", "-o", str(page)]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "already exists" in refused.stderr
    assert "--force" in refused.stderr
    assert refused.stdout == ""  # before the work is done
    assert page.read_text("utf-8") == "mine"
    assert subprocess.run([*command, "--force"], capture_output=True).returncode == 0
    assert "Breast cancer" in page.read_text("utf-8")


def test_demo_prints_to_an_output_without_all_characters(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "hocmim", "demo", "-o", "page.html"],
        cwd=tmp_path, capture_output=True,
        env={**os.environ, **TERMINAL, "PYTHONIOENCODING": "latin-1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"worst perimeter" in done.stdout
    assert b"?" in done.stdout  # for –
    assert "–" in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", docs_output.python_pages(), ids=lambda page: page.stem)
def test_code_of_a_page_prints_what_the_page_shows(page, tmp_path):
    for code, shown, real in docs_output.run_python(page, tmp_path):
        if shown is not None:
            assert docs_output.matches(shown, real), (
                f"{code}\n{docs_output.difference(shown, real)}\n"
                "If the new output is right: python tests/docs_output.py --write"
            )


@pytest.mark.parametrize("page", docs_output.pages(), ids=lambda page: page.stem)
def test_every_output_follows_its_code(page):
    """A ``text`` block that no test compares could be wrong."""
    text = page.read_text("utf-8")
    compared = sum(m[2] is not None for m in docs_output.PYTHON.finditer(text))
    assert text.count("```text\n") == compared


@pytest.mark.parametrize(
    ("shown", "real", "is_equal"),
    [
        ("a 1\nb 2", "a 1  \n\nb 2\n", True),
        ("a 1\nb 2", "a 1\nb 3", False),
        ("a 1\n…\nd 4", "a 1\nb 2\nc 3\nd 4", True),
        ("a 1\n…\nd 4", "a 1\nb 2\nd 5", False),
        ("in 0.2 s", "in 13.45 s", True),
    ],
)
def test_outputs_are_compared(shown, real, is_equal):
    assert docs_output.matches(shown, real) == is_equal
    assert docs_output.matches(docs_output.shortened(shown, real), real)


GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))


@pytest.mark.slow
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


SOURCE = ROOT / "src"
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0
    assert found.attempted > 0

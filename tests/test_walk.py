"""The first steps of a new user: a fresh environment, `make demo`, every command on two tables.

The environment has only what `make demo` installs, so that a missing dependency shows.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from browser import open_chromium, script
from made_tables import mixed_table, write_wide_table

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A copy of the repository, in which `make demo` was run."""
    checkout = tmp_path_factory.mktemp("walk") / "hocmim"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("NOT A CHECKOUT: this test needs the files that git lists.")
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith("results/"):
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, checkout / name)
    demo = subprocess.run(
        ["make", "demo", f"PYTHON={sys.executable}"],
        cwd=checkout, capture_output=True, text=True, env=_environment(),
    )  # fmt: skip
    assert demo.returncode == 0, demo.stdout + demo.stderr
    (checkout / "demo.txt").write_text(demo.stdout)
    return checkout


def _environment():
    """The environment variables without those that the tests set."""
    inherited = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VIRTUAL_ENV", "PYTHONPATH", "COLUMNS")
    return {name: value for name, value in os.environ.items() if name not in inherited}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    mixed_table().to_csv(folder / "mixed.csv", index=False)
    whole, *_ = write_wide_table(folder / "whole.parquet")
    genes = parquet.read_table(whole).slice(length=300)
    parquet.write_table(genes, folder / "genes.parquet")
    return folder


def walk(place, folder, *arguments):
    """Run the command in the fresh environment; its standard output."""
    command = [place / ".venv" / "bin" / "hocmim", *map(str, arguments)]
    result = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=_environment(), timeout=600
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout


def test_demo_prints_the_result_and_writes_the_page(place):
    said = (place / "demo.txt").read_text()
    assert "1  worst perimeter" in said
    page = place / next(word for word in said.split() if word.endswith(".html"))
    assert page.is_file()
    assert page.is_relative_to(place)


def test_info(place, tables):
    said = walk(place, tables, "info")
    assert "hocmim" in said
    assert "not installed" in said  # neither pandas nor Dask is installed


@pytest.mark.parametrize(
    ("table", "options", "informative"),
    [
        ("mixed.csv", ("-t", "outcome", "-k", 4, "--drop", "leak", "--drop", "id"), "age"),
        ("genes.parquet", ("-t", "class", "-k", 10), "g0"),
    ],
)
class TestCommands:
    """Every command on a CSV of mixed types with missing values and on a wide Parquet file."""

    def test_select(self, place, tables, table, options, informative):
        found = json.loads(walk(place, tables, "select", table, *options, "--json", "-"))
        names = [feature["feature"] for feature in found["selected"]]
        assert informative in names
        assert len(names) == options[3]

    def test_explain(self, place, tables, table, options, informative):
        said = walk(place, tables, "explain", table, *options, "--feature", informative)
        assert informative in said

    def test_compare(self, place, tables, table, options, informative):
        methods = ("--methods", "mRMR,JMI", "--folds", 3, "--resamples", 3)
        said = walk(place, tables, "compare", table, *options, *methods)
        assert "mRMR" in said

    def test_report(self, place, tables, table, options, informative):
        page = tables / f"{table}.html"
        walk(place, tables, "report", table, *options, "-o", page)
        with open_chromium() as browser:
            browser.get(page.as_uri())
            assert informative in script(browser, "document.body.innerText")
            assert script(browser, "document.querySelector('h1').innerText")
            assert not [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]

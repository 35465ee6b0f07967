"""The documentation builds without a warning, has every public name, and needs no network."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

import hocmim

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
TOOLS = ("sphinx", "myst_parser", "numpydoc", "sphinx_gallery", "sphinx_copybutton", "furo")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages, built from a copy of the sources without the files of earlier builds.

    The scripts of the gallery are not run here: test_examples.py runs them.
    """
    missing = [tool for tool in TOOLS if importlib.util.find_spec(tool) is None]
    if missing:
        pytest.skip(f"Not installed: {', '.join(missing)}. Run pip install -e '.[docs]'.")
    copy = tmp_path_factory.mktemp("docs")
    for folder in ("docs", "examples", "benchmarks/results"):
        built = shutil.ignore_patterns("generated", "gallery" if folder == "docs" else "")
        shutil.copytree(ROOT / folder, copy / folder, ignore=built)
    shutil.copy(ROOT / "CHANGELOG.md", copy)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-D", "plot_gallery=0"]
    done = subprocess.run(
        [*command, "docs", "site"], cwd=copy, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return copy / "site"


def pages(site):
    found = sorted(page for page in site.rglob("*.html") if "_static" not in page.parts)
    assert len(found) > 50
    return found


def test_every_public_name_has_a_page(site):
    from sphinx.util.inventory import InventoryFile

    entries = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="").data
    shown = {name for kind, of in entries.items() if kind.startswith("py:") for name in of}
    names = {f"hocmim.{name}" for name in hocmim.__all__ if not name.startswith("__")}
    assert names - shown == set()
    assert "hocmim.selectors.base.InformationSelector.explain" in shown
    assert "hocmim.errors.InvalidTableError" in shown


def test_every_method_has_a_row(site):
    """In the table of the criteria or in that of the filters; conf.py adds those without one."""
    text = (site / "choosing.html").read_text()
    kinds = [type(hocmim.make_selector(name)).__name__ for name in hocmim.list_methods()]
    assert [kind for kind in kinds if not re.search(rf"<td>.*\b{kind}\b", text)] == []


class Requests(HTMLParser):
    """The addresses a browser requests when it opens a page."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in ("script", "img", "iframe", "source", "video"):
            self.found += [attrs.get("src"), *(attrs.get("srcset") or "").split(",")]
        if tag == "link" and attrs.get("rel") not in ("canonical", "index", "next", "prev"):
            self.found.append(attrs.get("href"))


def test_pages_need_no_network(site):
    away = re.compile(r"\s*(https?:)?//")
    for page in pages(site):
        requests = [address for address in Requests(page).found if address]
        assert requests, page
        assert [address for address in requests if away.match(address)] == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import )['\"]?(https?:)?//", sheet.read_text()), sheet


def test_formulas_have_subscripts_and_names_are_links(site):
    page = (site / "api/generated/hocmim.RelaxMRMR.html").read_text()
    assert "J(X) = I(X;Y) − 1/|S| Σ<sub>j∈S</sub>" in page
    assert 'href="hocmim.search.selection.Stopping.html#hocmim.search.selection.Stopping"' in page
    for page in pages(site):
        text = page.read_text()
        assert not re.search(r":(sub|py:obj|class|func):`", text), page
        assert 'class="problematic"' not in text, page


def test_internal_links_have_targets(site):
    identifiers = {
        page: set(re.findall(r'\bid="([^"]+)"', page.read_text())) for page in pages(site)
    }
    link = re.compile(r'href="([^"#:?]*)(?:\?[^"#]*)?(?:#([^"]*))?"')
    for page in identifiers:
        for address, anchor in link.findall(page.read_text()):
            target = (page.parent / address).resolve() if address else page
            assert target.exists(), (page, address)
            if anchor and target in identifiers:
                assert anchor in identifiers[target], (page, address, anchor)


def test_every_page_names_its_version(site):
    for page in pages(site):
        assert f"hocmim {hocmim.__version__}" in page.read_text(), page


def test_every_page_can_be_reached_from_the_start_page(site):
    link = re.compile(r'href="([^"#:?]+\.html)')
    reached, todo = set(), [site / "index.html"]
    while todo:
        page = todo.pop()
        if page not in reached:
            reached.add(page)
            addresses = link.findall(page.read_text())
            todo += [(page.parent / address).resolve() for address in addresses]
    assert set(pages(site)) - reached == set()


def test_the_start_page_lists_every_page_of_the_guide():
    """In its tables, where a reader looks for a task, not only in the menu."""
    start = (ROOT / "docs" / "index.md").read_text("utf-8")
    tables = start[: start.index("```{toctree}")]
    guide = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert {name for name in guide if f"({name})" not in tables} == set()


def test_links_and_commands_of_the_readme_exist():
    text = (ROOT / "README.md").read_text("utf-8")
    links = [link for pair in re.findall(r'\]\(([^)]+)\)|src="([^"]+)"', text) for link in pair]
    files = [link for link in links if link and not link.startswith("https://")]
    assert len(files) > 10
    assert [name for name in files if not (ROOT / name).exists()] == []
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"`make ([a-z-]+)", text)
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        assert re.search(rf"(?m)^{target}:", makefile)
    commands = re.findall(r"`\.venv/bin/(?:python|pytest) ([^`]+)`", text)
    names = [name for command in commands for name in command.split()]
    assert names
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_citation_has_the_version_and_the_method():
    """The version of pyproject.toml, and its date once the changelog has it."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"(?m)^version: (.+)$", citation)[1] == version
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = re.search(rf"(?m)^## \[{re.escape(version)}\] - (\S+)$", changelog)
    if released:
        assert f"date-released: {released[1]}" in citation
    else:
        assert "## [Unreleased]" in changelog
    for text in (ROOT / "README.md", ROOT / "paper" / "paper.bib", ROOT / "CITATION.cff"):
        assert "10.1016/j.patcog.2022.108895" in text.read_text("utf-8"), text


def test_every_test_of_the_findings_exists():
    page = (ROOT / "docs/development/portability.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page)
    assert {f"B{number}" for number in range(1, 15)} <= set(re.findall(r"\bB\d+\b", page))
    for path, name in named:
        assert f"\ndef {name}(" in (ROOT / path).read_text("utf-8"), f"{path}::{name}"

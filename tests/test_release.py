"""scripts/release, in a repository made of this checkout's files."""

import hashlib
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = ("pyproject.toml", "CITATION.cff", "packaging/conda/recipe.yaml", "CHANGELOG.md")
VERSION = "98.7.6"
# The targets that the script calls, in a few milliseconds.
MAKEFILE = f"""test:
\tcp pyproject.toml tested.toml
wheel:
\tmkdir -p dist
\tprintf built >dist/hocmim-{VERSION}.tar.gz
"""

pytestmark = pytest.mark.skipif(
    not (shutil.which("git") and shutil.which("make")), reason="needs git and make"
)


def git(checkout, *arguments):
    done = subprocess.run(
        ["git", *arguments], cwd=checkout, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit_all(checkout):
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "state")


@pytest.fixture
def checkout(tmp_path):
    for name in (*NAMED, "scripts/release"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    current = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/cli.md").write_text(f"(hocmim {current}, N = 569)\n", "utf-8")
    changelog = f"# Changelog\n\n## [Unreleased]\n\n- Wings.\n\n## [{current}]\n\n- Legs.\n"
    (tmp_path / "CHANGELOG.md").write_text(changelog, "utf-8")
    (tmp_path / "Makefile").write_text(MAKEFILE, "utf-8")
    (tmp_path / ".gitignore").write_text("dist\ntested.toml\n", "utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "user.name", "a")
    git(tmp_path, "config", "user.email", "a@b")
    commit_all(tmp_path)
    return tmp_path


def release(checkout, *arguments, version=VERSION):
    return subprocess.run(
        [sys.executable, "scripts/release", version, "--date", "2030-01-02", *arguments],
        cwd=checkout, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip


def text_of(checkout, name):
    return (checkout / name).read_text("utf-8")


def test_a_release_sets_the_version_tests_builds_tags_and_writes_notes(checkout):
    done = release(checkout)
    assert done.returncode == 0, done.stderr
    assert tomllib.loads(text_of(checkout, "pyproject.toml"))["project"]["version"] == VERSION
    citation = text_of(checkout, "CITATION.cff")
    assert f"\nversion: {VERSION}\ndate-released: 2030-01-02\n" in citation
    assert f'\n  version: "{VERSION}"\n' in text_of(checkout, "packaging/conda/recipe.yaml")
    assert text_of(checkout, "docs/cli.md") == f"(hocmim {VERSION}, N = 569)\n"
    title = f"## [Unreleased]\n\n## [{VERSION}] - 2030-01-02\n\n- Wings."
    assert title in text_of(checkout, "CHANGELOG.md")
    assert git(checkout, "status", "--porcelain") == ""
    assert VERSION in text_of(checkout, "tested.toml")
    assert git(checkout, "describe") == f"v{VERSION}"
    notes = text_of(checkout, f"dist/release-notes-{VERSION}.md")
    assert "- Wings." in notes
    assert "- Legs." not in notes
    assert hashlib.sha256(b"built").hexdigest() in notes


def test_a_dry_run_changes_nothing_and_shows_the_changes(checkout):
    done = release(checkout, "--dry-run")
    assert f'+version = "{VERSION}"' in done.stdout
    assert git(checkout, "status", "--porcelain") == git(checkout, "tag") == ""


def test_a_failing_test_leaves_the_files_as_they_were(checkout):
    (checkout / "Makefile").write_text("test:\n\tfalse\n", "utf-8")
    commit_all(checkout)
    done = release(checkout)
    assert done.returncode == 1
    assert "make test failed" in done.stderr
    assert git(checkout, "status", "--porcelain") == git(checkout, "tag") == ""


def change_a_file(checkout):
    (checkout / "Makefile").write_text("", "utf-8")


def empty_the_changelog(checkout):
    (checkout / "CHANGELOG.md").write_text("## [Unreleased]\n\n## [0.1.0]\n\n- A.\n", "utf-8")
    commit_all(checkout)


@pytest.mark.parametrize(
    ("prepare", "version", "message"),
    [
        (change_a_file, VERSION, "not committed"),
        (lambda checkout: git(checkout, "tag", f"v{VERSION}"), VERSION, "already exists"),
        (empty_the_changelog, VERSION, "has nothing under"),
        (lambda _: None, "next", "is not a version"),
    ],
)
def test_what_is_in_the_way_of_a_release_is_named(checkout, prepare, version, message):
    prepare(checkout)
    done = release(checkout, version=version)
    assert done.returncode == 1
    assert done.stderr.startswith("No release: ")
    assert message in done.stderr

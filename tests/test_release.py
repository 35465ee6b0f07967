"""scripts/release, in a repository made of this checkout's files."""

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMING_THE_VERSION = (
    "pyproject.toml", "CITATION.cff", "packaging/conda/recipe.yaml", "docs/cli.md",
    "docs/error_control.md", "docs/development/formats.md",
)  # fmt: skip
FILES = (*NAMING_THE_VERSION, "CHANGELOG.md", "scripts/release")
VERSION = "98.7.6"
# The targets that the script calls, in a few milliseconds.
MAKEFILE = f"""test:
\tcp pyproject.toml tested.toml
wheel:
\tmkdir -p dist
\tgit log -1 --format=%s >built
\tprintf built >dist/hocmim-{VERSION}.tar.gz
"""

pytestmark = pytest.mark.skipif(
    not (shutil.which("git") and shutil.which("make")), reason="needs git and make"
)


def git(checkout, *arguments):
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=checkout, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def commit_all(checkout):
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "state")


@pytest.fixture
def checkout(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changelog = tmp_path / "CHANGELOG.md"
    text = changelog.read_text("utf-8")
    changelog.write_text(
        text.replace("## [Unreleased]", "## [Unreleased]\n\n### Added\n- Wings.", 1), "utf-8"
    )
    (tmp_path / "Makefile").write_text(MAKEFILE, "utf-8")
    (tmp_path / ".gitignore").write_text("dist\ntested.toml\nbuilt\n", "utf-8")
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


def contents(checkout):
    return {name: (checkout / name).read_text("utf-8") for name in FILES}


def test_a_release_sets_the_version_tags_builds_and_writes_notes(checkout):
    done = release(checkout)
    assert done.returncode == 0, done.stderr
    texts = contents(checkout)
    project = tomllib.loads(texts["pyproject.toml"])["project"]
    assert project["version"] == VERSION
    assert "Development Status :: 5 - Production/Stable" in project["classifiers"]
    assert f"\nversion: {VERSION}\ndate-released: 2030-01-02\n" in texts["CITATION.cff"]
    assert f'\n  version: "{VERSION}"\n' in texts["packaging/conda/recipe.yaml"]
    assert f"(hocmim {VERSION}, N = 569)" in texts["docs/cli.md"]
    title = f"## [Unreleased]\n\n## [{VERSION}] - 2030-01-02\n\n### Added\n- Wings."
    assert title in texts["CHANGELOG.md"]
    assert git(checkout, "status", "--porcelain") == ""
    assert git(checkout, "log", "-1", "--format=%s") == f"Release {VERSION}"
    # Tested with the new version, built from the commit, tagged when all that had passed.
    assert VERSION in (checkout / "tested.toml").read_text("utf-8")
    assert (checkout / "built").read_text("utf-8") == f"Release {VERSION}\n"
    assert git(checkout, "describe") == f"v{VERSION}"
    notes = (checkout / f"dist/release-notes-{VERSION}.md").read_text("utf-8")
    assert notes.startswith(f"# hocmim {VERSION}\n\n### Added\n- Wings.")
    assert "0.1.0" not in re.findall(r"(?m)^#+ .*", notes)  # no section of an earlier version
    assert hashlib.sha256(b"built").hexdigest() in notes


def test_a_dry_run_changes_nothing_and_says_what_would_be_done(checkout):
    before = contents(checkout)
    done = release(checkout, "--dry-run")
    assert done.returncode == 0, done.stderr
    for line in (f'+version = "{VERSION}"', "  make test", f"  git tag -a v{VERSION}", "- Wings."):
        assert line in done.stdout
    assert contents(checkout) == before
    assert git(checkout, "tag") == ""
    assert not (checkout / "dist").exists()


def test_without_tag_there_is_a_commit_only(checkout):
    done = release(checkout, "--no-tag", "--no-tests", "--no-build")
    assert done.returncode == 0, done.stderr
    assert git(checkout, "tag") == ""
    assert git(checkout, "log", "-1", "--format=%s") == f"Release {VERSION}"
    assert not (checkout / "tested.toml").exists()
    assert not (checkout / "dist").exists()
    assert f"git tag -a v{VERSION}" in done.stdout  # what is left to do


def test_without_commit_only_the_files_change(checkout):
    done = release(checkout, "--no-commit", "--no-build")
    assert done.returncode == 0, done.stderr
    assert git(checkout, "log", "-1", "--format=%s") == "state"
    changed = git(checkout, "diff", "--name-only").splitlines()
    assert set(changed) == {*NAMING_THE_VERSION, "CHANGELOG.md"}


def test_a_failing_test_leaves_the_files_as_they_were(checkout):
    (checkout / "Makefile").write_text("test:\n\tfalse\n", "utf-8")
    commit_all(checkout)
    before = contents(checkout)
    done = release(checkout)
    assert done.returncode == 1
    assert "make test failed" in done.stderr
    assert contents(checkout) == before
    assert git(checkout, "status", "--porcelain") == ""


def test_a_version_before_1_is_beta(checkout):
    text = (checkout / "pyproject.toml").read_text("utf-8")
    current = tomllib.loads(text)["project"]["version"]
    for name in NAMING_THE_VERSION:
        path = checkout / name
        path.write_text(path.read_text("utf-8").replace(current, "0.1.0"), "utf-8")
    commit_all(checkout)
    done = release(checkout, "--no-tests", "--no-build", version="0.9.0rc1")
    assert done.returncode == 0, done.stderr
    assert "Development Status :: 4 - Beta" in (checkout / "pyproject.toml").read_text("utf-8")


def change_a_file(checkout):
    (checkout / "Makefile").write_text("", "utf-8")


def set_tag(checkout):
    git(checkout, "tag", f"v{VERSION}")


def name_another_version(checkout):
    path = checkout / "CITATION.cff"
    path.write_text(re.sub(r"(?m)^version: .*", "version: 0.0.3", path.read_text("utf-8")), "utf-8")
    commit_all(checkout)


def empty_the_changelog(checkout):
    (checkout / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n\n- A.\n", "utf-8"
    )
    commit_all(checkout)


@pytest.mark.parametrize(
    ("prepare", "version", "message"),
    [
        (change_a_file, VERSION, "not committed"),
        (set_tag, VERSION, "already exists"),
        (name_another_version, VERSION, "CITATION.cff: 0.0.3"),
        (empty_the_changelog, VERSION, "has nothing under"),
        (lambda _: None, "0.0.1", "is not later than"),
        (lambda _: None, "next", "is not a version"),
    ],
)
def test_what_is_in_the_way_of_a_release_is_named(checkout, prepare, version, message):
    prepare(checkout)
    before = contents(checkout)
    done = release(checkout, version=version)
    assert done.returncode == 1
    assert done.stderr.startswith("No release: ")
    assert message in done.stderr
    assert contents(checkout) == before

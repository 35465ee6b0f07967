"""The files around the package agree: metadata, recipe, workflows, scripts."""

import ast
import os
import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = {
    path.name: path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")
}


def test_the_version_is_the_same_everywhere():
    version = PROJECT["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    assert f'\n  version: "{version}"\n' in recipe
    released = re.findall(r"(?m)^## \[([\d.]+)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert released[0] == version


def test_the_recipe_has_the_versions_of_the_metadata():
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    listed = dict(re.findall(r"(?m)^ +- ([\w-]+) >=([\d.]+)$", recipe))
    extras = PROJECT["optional-dependencies"]
    for requirement in (*PROJECT["dependencies"], *extras["cli"], *extras["report"]):
        if not requirement.startswith("hocmim"):
            name, version = requirement.split(">=")
            assert listed[name] == version


def test_workflows_call_targets_that_exist():
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
    text = "".join(WORKFLOWS.values())
    called = set(re.findall(r"run: (?:sudo )?make ([a-z-]+)|\{ target: ([a-z-]+)", text))
    names = {name for pair in called for name in pair if name}
    assert {"lint", "test", "test-fast", "wheel"} <= names <= targets


def test_actions_are_pinned_by_a_hash():
    used = [line for text in WORKFLOWS.values() for line in re.findall(r"uses: (.*)", text)]
    assert used
    for line in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line)


def test_metadata_names_every_python_that_the_workflows_test():
    shown = {
        version for text in WORKFLOWS.values() for version in re.findall(r'"(3\.\d+)t?"', text)
    }
    prefix = "Programming Language :: Python :: 3."
    named = {"3." + c.removeprefix(prefix) for c in PROJECT["classifiers"] if c.startswith(prefix)}
    assert shown == named


def test_scripts_are_programs_without_errors_of_syntax():
    for path in (ROOT / "scripts").iterdir():
        text = path.read_text("utf-8")
        assert os.access(path, os.X_OK), path
        shell = re.match(r"#!(?:/bin/|/usr/bin/env )(sh|bash|python3)\n", text)[1]
        if shell == "python3":
            ast.parse(text)
        else:
            subprocess.run([shell, "-n", str(path)], check=True)


def test_text_files_are_opened_with_an_encoding():
    """Without one, Windows would read UTF-8 as its own code page."""
    calls = re.compile(r"\.(read_text|write_text)\(\)|open\([^)]*\"[rwa]t?\"\)")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sorted((ROOT / "src/hocmim").rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if calls.search(line) and "/proc" not in line and path.name != "memory.py"
    ]
    assert not found  # memory.py reads /proc and /sys

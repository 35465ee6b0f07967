"""Run the code of the docs and compare what it prints with the output the pages show.

A ``python`` block that is followed by a ``text`` block prints that text. The blocks of a page run
one after the other in one interpreter, as a reader would run them. In a ``console`` block a line
that begins with ``$`` is a command; the lines below it are its output on a terminal of 80 columns.

In an output a line of ``…`` stands for any lines, and a time (``0.2 s``) for any time.

``python tests/docs_output.py --write`` replaces every output that differs by the real one.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```\n", re.DOTALL)
TIME = re.compile(r"\d+\.\d+ s\b")
RUN = """
import contextlib, io, json, sys
import matplotlib
matplotlib.use("Agg")
names = {"__name__": "__main__"}
outputs = []
for code in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(code, "block", "exec"), names)
    outputs.append(output.getvalue())
print("outputs:" + json.dumps(outputs))
"""


def pages() -> list[Path]:
    """README and every page of the docs, without those that a build made."""
    docs = ROOT / "docs"
    made = {"generated", "gallery"}
    found = [page for page in sorted(docs.rglob("*.md")) if not made & set(page.parts)]
    return [ROOT / "README.md", *found]


def python_pages() -> list[Path]:
    """The pages with code."""
    return [page for page in pages() if PYTHON.search(page.read_text("utf-8"))]


def console_pages() -> list[Path]:
    """The pages with commands."""
    return [page for page in pages() if CONSOLE.search(page.read_text("utf-8"))]


def run_python(page: Path, folder: Path) -> list[tuple[str, str | None, str]]:
    """Run the blocks of a page; return the code, the output shown (or None) and the real one."""
    blocks = [match.groups() for match in PYTHON.finditer(page.read_text("utf-8"))]
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps([code for code, _ in blocks])],
        capture_output=True, text=True, cwd=folder, check=False,
        env={**os.environ, "COLUMNS": "80"},
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(f"{page.name}: {done.stderr}")
    outputs = json.loads(done.stdout.rpartition("outputs:")[2])
    return [(code, shown, real) for (code, shown), real in zip(blocks, outputs, strict=True)]


def split_commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with its output; a command may have several lines."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    if parts[0]:
        raise ValueError(f"A console block must begin with a command: {parts[0]!r}")
    for part in parts[1:]:
        lines = part.splitlines()
        end = 1
        while lines[end - 1].endswith("\\") or "\n".join(lines[:end]).count('"') % 2:
            end += 1
        yield "\n".join(lines[:end]), "\n".join(lines[end:])


def make_shell(folder: Path) -> Callable[[str], str]:
    """Return a function that runs a command in a folder and returns what it prints."""
    binaries = folder / "bin"
    binaries.mkdir()
    (binaries / "hocmim").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hocmim.cli "$@"\n')
    (binaries / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for script in binaries.iterdir():
        script.chmod(0o755)
    terminal = {"FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": "80", "LINES": "40"}
    env = {**os.environ, **terminal, "PATH": f"{binaries}:{os.environ['PATH']}"}

    def run(command: str) -> str:
        # The output of a command with a pipe is no terminal.
        in_pipe = {"FORCE_COLOR": ""} if "|" in command else {}
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=folder,
            env=env | in_pipe,
        ).stdout  # fmt: skip

    return run


def comparable(text: str) -> str:
    """An output without empty lines, spaces at the end of a line, and times."""
    lines = [line.rstrip() for line in TIME.sub("0.0 s", text).splitlines()]
    return "\n".join(line for line in lines if line)


def matches(shown: str, real: str) -> bool:
    """Whether an output is the one shown."""
    parts = re.split(r"^…$", comparable(shown), flags=re.MULTILINE)
    pattern = ".*".join(re.escape(part.strip("\n")) for part in parts)
    return re.fullmatch(pattern, comparable(real), re.DOTALL) is not None


def difference(shown: str, real: str) -> str:
    """The difference of two outputs, for the message of a test."""
    lines = difflib.unified_diff(
        comparable(shown).splitlines(), comparable(real).splitlines(), "shown", "real", lineterm=""
    )
    return "\n".join(lines)


def shortened(shown: str, real: str) -> str:
    """The real output, shortened in the same place as the one shown."""
    lines = [line.rstrip() for line in real.splitlines()]
    if "…" not in shown.splitlines():
        return "\n".join(lines)
    head, _, tail = (part.strip("\n").splitlines() for part in re.split(r"(?m)^(…)$", shown)[:3])
    return "\n".join([*lines[: len(head)], "…", *(lines[-len(tail) :] if tail else [])])


def renew(page: Path) -> bool:
    """Replace the outputs of a page that differ from the real ones; return whether any did."""
    text = page.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        results = iter(run_python(page, Path(folder)) if PYTHON.search(text) else ())

        def with_output(match: re.Match[str]) -> str:
            code, shown, real = next(results)
            if shown is None or matches(shown, real):
                return match[0]
            return f"```python\n{code}```\n\n```text\n{shortened(shown, real).rstrip()}\n```\n"

        renewed = PYTHON.sub(with_output, text)
    with tempfile.TemporaryDirectory() as folder:
        run = make_shell(Path(folder))

        def with_outputs(match: re.Match[str]) -> str:
            lines = []
            for command, shown in split_commands(match[1]):
                real = run(command)
                is_right = matches(shown, real)
                output = (shown if is_right else shortened(shown, real)).strip("\n")
                lines += [f"$ {command}", *([output] if output else [])]
            return "```console\n" + "\n".join(lines) + "\n```\n"

        renewed = CONSOLE.sub(with_outputs, renewed)
    page.write_text(renewed, "utf-8")
    return renewed != text


def main() -> None:
    """Renew the outputs of the pages named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", required=True, help="edit the pages")
    parser.add_argument("pages", nargs="*", type=Path, help="default: README and all of docs/")
    arguments = parser.parse_args()
    for page in arguments.pages or sorted({*python_pages(), *console_pages()}):
        print(f"{page}: {'renewed' if renew(page) else 'unchanged'}")


if __name__ == "__main__":
    main()

"""The page on the command line: its commands are run, one after the other, and print what it says.

In a ``console`` block a line that begins with ``$`` is a command and what follows is what it prints
on a terminal of 80 columns. A line of ``…`` stands for any lines; times stand for any times.

``python tests/cli/test_cli_docs.py`` writes the output of the commands into the page, in blocks
without ``…``.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def console_blocks(page):
    return re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


def commands(block):
    """Commands, which may run over several lines, and what they print."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert parts[0] == ""
    for part in parts[1:]:
        lines = part.splitlines()
        end = 1
        while lines[end - 1].endswith("\\") or "\n".join(lines[:end]).count('"') % 2:
            end += 1
        yield "\n".join(lines[:end]), "\n".join(lines[end:])


def comparable(text):
    lines = [line.rstrip() for line in re.sub(r"\d+\.\d+ s\b", "0.0 s", text).splitlines()]
    return "\n".join(line for line in lines if line)


def as_pattern(printed):
    parts = re.split(r"^…$", comparable(printed), flags=re.MULTILINE)
    return ".*".join(re.escape(part.strip("\n")) for part in parts)


def make_shell(folder):
    """Return a function that runs a command as in a terminal of 80 columns."""
    binaries = folder / "bin"
    binaries.mkdir()
    (binaries / "hocmim").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hocmim.cli "$@"\n')
    (binaries / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    for script in binaries.iterdir():
        script.chmod(0o755)
    terminal = {"FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": "80", "LINES": "40"}
    env = {**os.environ, **terminal, "PATH": f"{binaries}:{os.environ['PATH']}"}

    def run(command):
        # A pipe within the command is one for the command too.
        in_pipe = {"FORCE_COLOR": ""} if "|" in command else {}
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=folder,
            env=env | in_pipe,
        )  # fmt: skip

    return run


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return make_shell(tmp_path_factory.mktemp("page"))


def test_the_page_says_what_the_commands_print(shell):
    blocks = console_blocks(PAGE)
    assert len(blocks) >= 8
    for block in blocks:
        for command, printed in commands(block):
            done = shell(command)
            assert re.fullmatch(as_pattern(printed), comparable(done.stdout), re.DOTALL), (
                f"$ {command}\n{done.stdout}"
            )


def test_every_command_is_on_the_page():
    page = PAGE.read_text("utf-8")
    for command in ("select", "explain", "report", "compare", "info", "bench"):
        assert f"hocmim {command}" in page


def write_outputs(shell):
    """Write what the commands print into the page."""
    text = PAGE.read_text("utf-8")
    for block in console_blocks(PAGE):
        parts = []
        for command, printed in commands(block):
            lines = [line.rstrip() for line in shell(command).stdout.splitlines()]
            new = printed if "…" in printed.splitlines() else "\n".join(lines).strip("\n")
            parts.append(f"$ {command}\n{new}\n" if new else f"$ {command}\n")
        text = text.replace(f"```console\n{block}```", f"```console\n{''.join(parts)}```")
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write_outputs(make_shell(Path(folder)))

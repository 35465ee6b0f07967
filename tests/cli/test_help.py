"""The stored help of the commands."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from hocmim.cli import main
from hocmim.cli.help import _FILE, describe_all


def test_the_stored_help_is_that_of_the_commands():
    stored = json.loads(_FILE.read_text(encoding="utf-8"))
    assert stored == describe_all(), "run: python -m hocmim.cli.help"


@pytest.mark.parametrize("arguments", [["--help"], ["table.csv", "-h"], ["-k", "3", "--help-all"]])
def test_help_does_not_import_the_library(arguments):
    code = (
        "import sys; from hocmim.cli import main\n"
        f"try: main(['select', *{arguments}])\n"
        "finally: assert not {'numpy', 'sklearn', 'hocmim._native'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--method" in done.stdout
    assert ("--codes-dir" in done.stdout) == ("--help-all" in arguments)


def test_other_calls_use_the_command_itself():
    done = CliRunner().invoke(main, ["select", "missing.csv", "-t", "y"])
    assert done.exit_code == 2
    assert "missing.csv" in done.output

"""A small part of what ``make trust`` runs: killed runs, runs at once, damaged files, long runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
KINDS = ("checkpoint", "codes", "report", "save")


def run(script, *arguments):
    done = subprocess.run(
        [sys.executable, HERE / script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(HERE)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script forks")
def test_killed_runs_end_with_the_bytes_of_an_uninterrupted_run():
    printed = run("crash.py", "--kills", "10", "--together", "3")
    assert [line.partition(":")[0] for line in printed.splitlines()] == list(KINDS)


def test_damaged_files_are_recognised():
    printed = run("flips.py", "--flips", "60")
    assert len(printed.splitlines()) == 6


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_many_fits_in_one_process_leave_nothing():
    printed = run("soak.py", "HOCMIM-R", "CMICOT", "ReliefF", "--fits", "60")
    assert len(printed.splitlines()) == 3

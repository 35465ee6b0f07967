"""A process that used the kernels ends without a word."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CALL_THAT_GOES_ON = """
import time
from hocmim import threads

def check():
    raise ZeroDivisionError

try:
    with threads.stopped_by(check):
        threads.call_apart(time.sleep, 60)
except ZeroDivisionError:
    pass
"""
FORKED = """
import os
import numpy as np
import hocmim

X, y = np.arange(600).reshape(100, 6) % 7, np.arange(100) % 2
hocmim.RobustHOCMIM(2, n_jobs=2).fit(X, y)
child = os.fork()
hocmim.RobustHOCMIM(2, n_jobs=2).fit(X, y)
if child:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


def end(*command):
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.slow
def test_nothing_of_the_module_is_left_at_the_end():
    ended = end(HERE / "bindings.py")
    assert ended.stderr == ""
    assert ended.returncode == 0
    assert int(ended.stdout) > 20


@pytest.mark.parametrize("script", [CALL_THAT_GOES_ON, FORKED], ids=["a call goes on", "fork"])
def test_nothing_is_left_by_threads_and_processes(script):
    ended = end("-c", script)
    assert (ended.stderr, ended.returncode) == ("", 0)

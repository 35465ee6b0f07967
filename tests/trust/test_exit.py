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

# The worker is in this process. Dask keeps it after it was closed, with the blocks on it.
LOST_SCHEDULER = """
import dask
import numpy as np
from distributed import Client, LocalCluster
import hocmim
import hocmim.coding.dask_codes
from hocmim.errors import ClusterError
from hocmim.search.engines.dask import DaskEngine

hocmim.coding.dask_codes.whole_on = lambda *_: None  # by blocks of columns

def close_and_select(engine, index, select=DaskEngine.select):
    cluster.close()
    select(engine, index)

DaskEngine.select = close_and_select
rng = np.random.default_rng(0)
X, y = rng.integers(0, 4, (300, 20)), rng.integers(0, 2, 300)
with dask.config.set({"distributed.comm.timeouts.connect": "1s", "hocmim.patience": 1}):
    cluster = LocalCluster(
        1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    )
    with Client(cluster) as client:
        try:
            hocmim.JMI(5, engine=client).fit(X, y)
        except ClusterError:
            print("lost")
"""
# The process ends in the middle of a search on a worker of its own.
UNFINISHED_ON_DASK = """
import threading
import numpy as np
from distributed import Client, LocalCluster
import hocmim
import hocmim.coding.dask_codes
from hocmim.search.engines.dask import DaskEngine

hocmim.coding.dask_codes.whole_on = lambda *_: None  # by blocks of columns

def stay(engine, index):
    is_waiting.set()
    threading.Event().wait()

DaskEngine.select = stay
is_waiting = threading.Event()
rng = np.random.default_rng(0)
X, y = rng.integers(0, 4, (300, 20)), rng.integers(0, 2, 300)
cluster = LocalCluster(
    1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
)
client = Client(cluster)
fit = hocmim.JMI(5, engine=client).fit
threading.Thread(target=fit, args=(X, y), daemon=True).start()
assert is_waiting.wait(120)
print("waits")
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
    # From 3.12 on Python warns of every fork beside threads, such as those of OpenBLAS.
    ended = end("-W", "ignore:This process:DeprecationWarning", "-c", script)
    assert (ended.stderr, ended.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("script", "printed"),
    [(LOST_SCHEDULER, "lost"), (UNFINISHED_ON_DASK, "waits")],
    ids=["lost scheduler", "unfinished"],
)
def test_nothing_is_left_on_a_worker_of_dask_in_this_process(script, printed):
    pytest.importorskip("distributed")
    ended = end("-W", "ignore", "-c", script)
    assert "nanobind" not in ended.stderr
    assert ended.stdout.split() == [printed]
    assert ended.returncode == 0

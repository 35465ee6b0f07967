"""Stop a method in another process, in the middle of its work, and measure how long it runs on.

The wait is the time from the signal (or from the moment the callback may raise) to the exception in
the caller. What ends before it is stopped is not measured.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import dataclass

# Reads lines "METHOD HOW AFTER". Prints "begin"; then "stopped TIME" or "finished".
CHILD = """
import pathlib, signal, sys, tempfile, time
import numpy as np
import hocmim

n_rows, n_columns, n_jobs = map(int, sys.argv[1:])
rng = np.random.default_rng(15)
y = rng.integers(2, size=n_rows)
X = rng.integers(5, size=(n_rows, n_columns), dtype=np.int8)
X[:, : n_columns // 2] += (rng.random((n_rows, n_columns // 2)) < 0.05 * y[:, None]).astype(np.int8)

class Stop(BaseException):
    pass

def stop(*_):
    raise Stop

signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGHUP, stop)

K = min(50, n_columns)

# A function that takes a progress callback or None, and does the work.
def work_of(name):
    if name == "encode":
        floats, selector = np.tile(rng.standard_normal(X.shape), 6), hocmim.MIM(K, n_jobs=n_jobs)
        return lambda callback: selector.fit(floats, y, progress=callback)
    if name == "report":
        selector = hocmim.RobustHOCMIM(K, n_jobs=n_jobs).fit(X, y)
        folder = tempfile.TemporaryDirectory()
        page = pathlib.Path(folder.name) / "page.html"
        return lambda callback: (folder, selector.report(page, X, y, progress=callback))
    if name == "compare_methods":
        compare = hocmim.compare_methods
        return lambda callback: compare(X, y, progress=callback)
    selectors = {
        "StabilitySelector": hocmim.StabilitySelector(hocmim.RobustHOCMIM(K), n_jobs=n_jobs),
        "SelectorCV": hocmim.SelectorCV(max_features=K, n_jobs=n_jobs),
    }
    selector = selectors.get(name) or hocmim.make_selector(name, n_features_to_select=K)
    if "n_jobs" in selector.get_params():
        selector.set_params(n_jobs=n_jobs)
    return lambda callback: selector.fit(X, y, **({"progress": callback} if callback else {}))

def run(name, how, after):
    work = work_of(name)
    print("begin", flush=True)
    may_stop = time.monotonic() + after

    def callback(*event):
        if time.monotonic() > may_stop:
            raise Stop

    try:
        work(callback if how == "callback" else None)
    except (KeyboardInterrupt, Stop):
        return f"stopped {time.monotonic() - (may_stop if how == 'callback' else 0)}"
    return "finished"

print("ready", flush=True)
for line in sys.stdin:
    try:
        name, how, after = line.rsplit(maxsplit=2)
        answer = run(name, how, float(after))
    except (KeyboardInterrupt, Stop):
        answer = "finished"
    try:
        print(answer, flush=True)
    except (KeyboardInterrupt, Stop):
        pass
"""


@dataclass(frozen=True)
class Wait:
    """How long a method ran on after it was stopped; None if it had ended before."""

    method: str
    how: str
    after: float
    seconds: float | None


class Child:
    """A process that does one work after the other."""

    def __init__(self, n_rows: int, n_columns: int, n_jobs: int) -> None:
        command = [sys.executable, "-c", CHILD, str(n_rows), str(n_columns), str(n_jobs)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._expect("ready")

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        return self._process.stdout.readline().strip()

    def _expect(self, answer: str) -> None:
        found = self._read()
        if found != answer:
            raise RuntimeError(f"the process said {found!r} instead of {answer!r}")

    def measure(self, method: str, how: str, after: float) -> Wait:
        """Stop a method ``after`` seconds: how is the name of a signal, or "callback"."""
        self._process.stdin.write(f"{method} {how} {after}\n")
        self._process.stdin.flush()
        self._expect("begin")
        sent = 0.0
        if how != "callback":
            time.sleep(after)
            sent = time.monotonic()  # of the system: the same in both processes
            self._process.send_signal(signal.Signals[how])
        answer, _, seconds = self._read().partition(" ")
        return Wait(method, how, after, float(seconds) - sent if answer == "stopped" else None)


def measure(method: str, n_rows: int, n_columns: int, *, after: float, how: str) -> Wait:
    """Stop a method ``after`` seconds, on two threads; how is a signal, or "callback"."""
    with Child(n_rows, n_columns, 2) as child:
        return child.measure(method, how, after)

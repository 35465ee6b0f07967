"""How long a method takes to stop after Ctrl-C, SIGTERM, SIGHUP or a progress callback that raises.

Each method runs in another process, which is stopped in the middle of ``fit``; so do the encoding
of floats, StabilitySelector, SelectorCV, compare_methods and a report. The wait is the time from
the signal (or from the moment the callback may raise) to the exception in the caller. What ends
before it is stopped is not measured.

    python benchmarks/interrupts.py [--quick] [--write] [--rows 20000] [--columns 500] [METHOD ...]

With --quick each method is stopped once, by Ctrl-C. --write writes results/interrupts.md.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from common import markdown, options_of, write_result

# When a method is stopped, in seconds after ``fit`` is called.
DELAYS = (0.3, 1.5)
HOWS = ("SIGINT", "SIGTERM", "SIGHUP", "callback")
# What can be stopped besides the methods.
OTHERS = ("encode", "StabilitySelector", "SelectorCV", "compare_methods", "report")

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


def measure(
    methods: list[str],
    n_rows: int,
    n_columns: int,
    *,
    delays: tuple[float, ...] = DELAYS,
    n_jobs: int = 2,
    hows: tuple[str, ...] = HOWS,
) -> Iterator[Wait]:
    """Stop each method in each way after each delay."""
    for method in methods:
        ways = [how for how in hows if how != "callback" or has_progress(method)]
        left = [(how, after) for how in ways for after in delays]
        while left:
            with Child(n_rows, n_columns, n_jobs) as child:
                while left:
                    wait = child.measure(method, *left.pop(0))
                    yield wait
                    if wait.seconds is None:  # the signal came too late, and may end the process
                        break


def has_progress(method: str) -> bool:
    """Whether it takes a progress callback."""
    from sklearn.utils.validation import has_fit_parameter

    import hocmim

    if method in OTHERS:
        kind = getattr(hocmim, method, None)
        return not isinstance(kind, type) or has_fit_parameter(kind, "progress")
    return has_fit_parameter(hocmim.make_selector(method), "progress")


def as_table(waits: list[Wait]) -> str:
    """A row for each method, a column for each way: the longest wait."""
    hows = list(dict.fromkeys(wait.how for wait in waits))
    longest: dict[tuple[str, str], float] = {}
    for wait in waits:
        if wait.seconds is not None:
            key = wait.method, wait.how
            longest[key] = max(wait.seconds, longest.get(key, 0.0))
    rows = []
    for method in dict.fromkeys(wait.method for wait in waits):
        cells = (longest.get((method, how)) for how in hows)
        rows.append([method, *("–" if cell is None else f"{cell:.2f}" for cell in cells)])
    return markdown(["method", *hows], rows)


def main() -> None:
    import hocmim

    parser = options_of(__doc__)
    parser.add_argument("methods", nargs="*", metavar="METHOD")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=500)
    options = parser.parse_args()
    delays, hows = ((0.5,), ("SIGINT",)) if options.quick else (DELAYS, HOWS)
    methods = options.methods or [*hocmim.list_methods(), *OTHERS]
    waits = []
    for wait in measure(methods, options.rows, options.columns, delays=delays, hows=hows):
        waits.append(wait)
        print(wait, file=sys.stderr)
    text = as_table(waits)
    print(text)
    if options.write:
        note = (
            f"Longest wait in seconds, {options.rows} × {options.columns}, K = 50, 2 threads, "
            f"stopped {' and '.join(map(str, delays))} s after the call. –: it had ended before, "
            f"or has no callback. Load average {os.getloadavg()[0]:.0f}."
        )
        write_result("interrupts.md", "Interrupts", f"{note}\n\n{text}")


if __name__ == "__main__":
    main()

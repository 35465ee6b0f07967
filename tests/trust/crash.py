"""Kill runs that write files, again and again, and compare the end with an uninterrupted run.

``python tests/trust/crash.py --kills 200`` kills each kind of run (a checkpointed selection,
encoding to disk, writing a report, saving a selector) at least 200 times with SIGKILL: half of the
times at a random moment, half of the times just before a random file operation. A killed run is
started again in the same folder until it ends. Then every file must have the bytes of an
uninterrupted run, and no other file may be there.

``--together 20`` starts several runs at once on the same folder, 20 times for each kind.

Children are forked from a process that has imported everything, so that a run takes milliseconds.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from hocmim import JMI, Engine, RobustHOCMIM, load
from hocmim.data import documents
from hocmim.errors import HocmimError

FILE_EVENTS = ("open", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate")
N_TOGETHER = 3
BUSY = 3  # exit code of a run that was told that another one is running


def table(n=400, d=12):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, d))).add_prefix("x")
    X["word"] = rng.choice(["a", "b", "c", None], n)
    X["many"] = [f"v{row % 300}" for row in range(n)]
    y = ((X["x0"] > 0) ^ (X["word"] == "a")).astype(int) + (X["x1"] > 1)
    return X, y.to_numpy()


X, Y = table()
FITTED = RobustHOCMIM(5, n_jobs=1).fit(X, Y)


def select(folder: Path) -> None:
    engine = Engine(checkpoint=folder / "run.checkpoint")
    RobustHOCMIM(10, engine=engine, n_jobs=1).fit(X, Y)


def encode(folder: Path) -> None:
    fitted = JMI(3, engine=Engine(codes_dir=folder / "codes"), n_jobs=1).fit(X, Y)
    assert fitted.selected_.tolist() == EXPECTED


EXPECTED = JMI(3, n_jobs=1).fit(X, Y).selected_.tolist()


def report(folder: Path) -> None:
    FITTED.report(folder / "report.html", X, Y, overwrite=True)


def save(folder: Path) -> None:
    path = FITTED.save(folder / "model.json", overwrite=True)
    assert load(path).selected_.tolist() == FITTED.selected_.tolist()


WORK: dict[str, Callable[[Path], None]] = {
    "checkpoint": select,
    "codes": encode,
    "report": report,
    "save": save,
}


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder; of a report, what does not depend on the time."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    if "report.html" in found:  # it says when it was made
        found["report.html"] = re.sub(rb"[\d-]{10} \d\d:\d\d UTC", b"", found["report.html"])
    return found


def check_between(folder: Path) -> None:
    """Check what a killed run left: no file under its final name is incomplete."""
    checkpoint = folder / "run.checkpoint"
    if checkpoint.exists():
        documents.read_document(checkpoint, "checkpoint", lambda content: content)
    for document in folder.glob("codes/[!w]*/codes.json"):
        documents.read_document(document, "codes", lambda content: content)
    if (folder / "model.json").exists():
        load(folder / "model.json")
    if (folder / "report.html").exists():
        assert (folder / "report.html").read_bytes().rstrip().endswith(b"</html>")


def start(work: Callable[[Path], None], folder: Path, die_at: int | None = None) -> int:
    """Fork a run; it kills itself before file operation number ``die_at``."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        warnings.simplefilter("ignore")
        seen = [0]

        def count_event(event: str, arguments: tuple) -> None:
            if event in FILE_EVENTS and str(folder) in str(arguments[:1]):
                seen[0] += 1
                if seen[0] == die_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count_event)
        work(folder)
        if die_at == 0:
            Path(f"{folder}.events").write_text(str(seen[0]))
        code = 0
    except HocmimError as error:
        code = BUSY if "Another run is" in str(error) else 1
        if code == 1:
            print(error, file=sys.stderr)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    finally:
        os._exit(code)


def end(child: int) -> int:
    """Wait for a run; return its exit code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def reference(work: Callable[[Path], None], root: Path) -> tuple[dict[str, bytes], float, int]:
    """Return the files of an uninterrupted run, its time, and its number of file operations."""
    folder = root / "whole"
    folder.mkdir()
    work(root_warm(root))  # in this process: imports what is imported late
    began = time.monotonic()
    assert end(start(work, folder, 0)) == 0
    seconds = time.monotonic() - began
    return contents(folder), seconds, int(Path(f"{folder}.events").read_text())


def root_warm(root: Path) -> Path:
    (root / "warm").mkdir()
    return root / "warm"


def kill_runs(name: str, n_kills: int, seed: int, root: Path) -> tuple[int, int]:
    """Kill runs until ``n_kills`` were killed; return kills and runs that ended."""
    rng, work = random.Random(seed), WORK[name]
    expected, seconds, n_events = reference(work, root)
    killed = ended = 0
    while killed < n_kills or ended == 0:
        folder = root / f"run{ended}"
        folder.mkdir()
        n_attempts = 0
        while True:
            n_attempts += 1
            is_last = killed >= n_kills or n_attempts > 25
            by_event = rng.random() < 0.5
            die_at = rng.randint(1, n_events) if by_event and not is_last else None
            child = start(work, folder, die_at)
            if not by_event and not is_last:
                time.sleep(rng.uniform(0, seconds))
                os.kill(child, signal.SIGKILL)
            code = end(child)
            if code == 0:
                break
            assert code == -signal.SIGKILL, f"{name}: exit code {code} after {killed} kills"
            killed += 1
            check_between(folder)
        found = contents(folder)
        assert list(found) == list(expected), f"{name}: {list(found)}"
        assert found == expected, f"{name}: the files differ after {killed} kills"
        ended += 1
        shutil.rmtree(folder)
    return killed, ended


def run_together(name: str, n_rounds: int, root: Path) -> tuple[int, int]:
    """Start several runs on one folder at once; return how many ended and how many had to wait."""
    work = WORK[name]
    expected, *_ = reference(work, root)
    n_ended = n_busy = 0
    for number in range(n_rounds):
        folder = root / f"round{number}"
        folder.mkdir()
        codes = [end(child) for child in [start(work, folder) for _ in range(N_TOGETHER)]]
        assert set(codes) <= {0, BUSY}, f"{name}: exit codes {codes}"
        assert 0 in codes, f"{name}: no run ended"
        assert contents(folder) == expected, f"{name}: the files differ"
        n_ended += codes.count(0)
        n_busy += codes.count(BUSY)
        shutil.rmtree(folder)
    return n_ended, n_busy


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", default=list(WORK), help=f"of {', '.join(WORK)}")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--together", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    for name in given.kinds:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            killed, ended = kill_runs(name, given.kills, given.seed, Path(folder))
        with tempfile.TemporaryDirectory() as folder:
            together, busy = run_together(name, given.together, Path(folder))
        print(
            f"{name}: {killed} kills, {ended} resumed runs equal to the uninterrupted one; "
            f"{given.together} times {N_TOGETHER} runs at once: {together} ended equal, {busy} "
            f"were told to wait; {time.monotonic() - began:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""Compare the speed of hocmim and of other packages in one run.

    make bench            all tables (a quarter of an hour on two idle cores)
    make bench QUICK=1    a few small tables (two minutes)

Each package runs in its own process on the same seeded tables. Each round measures all cases of a
table once and starts with a different case, so that other load on the machine affects all cases
alike. The first call of each program, on a small table, is not timed. Each measurement is saved at
once: after an interruption the same command continues, and ``--fresh`` starts again. A program that
exceeds its time limit is killed. The runner records this, and skips larger tables for which it
predicts several times the limit. It also skips a case that cannot be faster than another case of
the same table that exceeded the limit; the limit is then a lower bound for both. No case starts
after ``--minutes``; the report lists the cases that were not measured.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import numpy as np

import cases as case_lists
import peers
import report
import tables
import yardstick
from cases import Case, Group, case_key
from data_option import add_data_option

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WARM_LIMIT = 120.0  # seconds for imports, compilation by numba, and loading a table
CASE_BUDGET = 4.0  # seconds after which a case is not repeated
SKIP_FACTOR = 3.0  # a peer is skipped if the prediction is this many times the limit


class OverTimeError(Exception):
    """A worker did not answer in time."""


class WorkerProcess:
    """The worker process of one package; started on first use, and again after it was killed."""

    def __init__(self, package: str, python: str) -> None:
        self.package = package
        self.version = ""
        self._python = python
        self._process: subprocess.Popen[str] | None = None
        self._folder: Path | None = None
        self._warm: set[tuple[str, ...]] = set()

    def _start(self) -> None:
        threads = {f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
        self._process = subprocess.Popen(
            [self._python, str(HERE / "worker.py"), self.package],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=os.environ | threads,
        )
        self._answers: Queue[str] = Queue()
        threading.Thread(
            target=_forward, args=(self._process.stdout, self._answers), daemon=True
        ).start()

    def ask(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer = self._answers.get(timeout=limit)
        except (Empty, BrokenPipeError):
            self.stop()
            raise OverTimeError from None
        if not answer:
            self.stop()
            return {"error": "the process ended without an answer"}
        return json.loads(answer)

    def measure(self, folder: Path, case: Case, limit: float) -> dict[str, Any]:
        """Run the case once; load the table and warm up first if necessary."""
        if self._folder != folder:
            answer = self.ask({"op": "load", "folder": str(folder)}, WARM_LIMIT)
            if "error" in answer:
                return answer
            self._folder = folder
        warm = (case["method"], case["kind"])
        if warm not in self._warm:
            answer = self.ask({"op": "warm", "case": case}, WARM_LIMIT)
            if "error" in answer:
                return answer
            self.version = answer["version"]
            self._warm.add(warm)
        return self.ask({"op": "run", "case": case}, limit)

    def stop(self) -> None:
        """End the process and its child processes."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
            self._folder = None
            self._warm.clear()


def _forward(stream: Any, answers: Queue[str]) -> None:
    for line in stream:
        answers.put(line)
    answers.put("")


class Store:
    """The measurements, one JSON object per line; none is repeated."""

    def __init__(self, path: Path, fresh: bool = False) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if fresh:
            path.unlink(missing_ok=True)
        lines = path.read_text().splitlines() if path.exists() else []
        records = [json.loads(line) for line in lines]
        # Failures are measured again: the package may have been installed since.
        self.records: list[dict[str, Any]] = [r for r in records if r["status"] != "error"]

    def add(self, record: dict[str, Any]) -> None:
        self.records.append(record)
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def of(self, key: str, build: str) -> list[dict[str, Any]]:
        """The measurements of a case; for hocmim, only those of this build."""
        return [r for r in self.records if r["key"] == key and r["build"] in (build, "peer")]


def build_of_hocmim() -> str:
    """A fingerprint of the installed package; measurements of another build are not used."""
    import hocmim

    digest = hashlib.sha256()
    folders = {Path(path) for path in hocmim.__path__}
    from hocmim import _native

    folders.add(Path(_native.__file__).parent)
    for folder in sorted(folders):
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".py", ".so"):
                digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


class Runner:
    """Measures groups of cases in rounds."""

    def __init__(
        self, store: Store, peers_python: str, scratch: Path, seconds: float = np.inf
    ) -> None:
        self.store = store
        self.left_out: list[str] = []  # tables with runs that were not started in time
        self._deadline = time.monotonic() + seconds
        self.build = build_of_hocmim()
        self._peers_python = peers_python
        self._workers: dict[str, WorkerProcess] = {}
        self._scratch = scratch
        self._rates: dict[tuple[str, str], float] = defaultdict(float)
        self._largest: dict[tuple[str, str], int] = defaultdict(int)
        self._is_bound: dict[tuple[str, str], bool] = defaultdict(bool)
        for record in store.records:
            self._learn(record)

    def close(self) -> None:
        for worker in self._workers.values():
            worker.stop()

    def run(self, groups: Iterable[Group]) -> None:
        for group in groups:
            if self._is_done(group):
                continue
            if time.monotonic() > self._deadline:
                self.left_out.append(group.name)
                continue
            folder = self._write_table(group)
            try:
                self._measure_yardstick(group, folder)
                for repeat in range(group.repeats):
                    shift = repeat % len(group.cases)
                    for case in group.cases[shift:] + group.cases[:shift]:
                        self._visit(group, folder, case, repeat)
            finally:
                shutil.rmtree(folder)

    def _is_done(self, group: Group) -> bool:
        """Whether all runs of all cases of the group are made."""
        return not any(
            self._is_wanted(group, case, repeat)
            for case in group.cases
            for repeat in range(group.repeats)
        )

    def _is_wanted(self, group: Group, case: Case, repeat: int) -> bool:
        limit = group.limit_of(case)
        done = [
            record
            for record in self.store.of(case_key(group.name, case), self.build)
            if record["status"] != "limit" or record["limit"] >= limit
        ]
        spent = sum(record["seconds"] or 0.0 for record in done)
        is_open = all(record["status"] == "ok" for record in done)
        return is_open and len(done) <= repeat and spent < CASE_BUDGET

    def _visit(self, group: Group, folder: Path, case: Case, repeat: int) -> None:
        if not self._is_wanted(group, case, repeat):
            return
        if time.monotonic() > self._deadline:
            if group.name not in self.left_out:
                self.left_out.append(group.name)
            return
        is_own = case["package"] == "hocmim"
        limit = group.limit_of(case)
        shape = np.load(folder / "x.npy", mmap_mode="r").shape
        record: dict[str, Any] = {
            "key": case_key(group.name, case),
            "table": group.name,
            "n": shape[0],
            "d": shape[1],
            **case,
            "limit": limit,
            "seconds": None,
            "build": self.build if is_own else "peer",
        }
        predicted = self._rates[case["package"], case["method"]] * work_of(record)
        faster = self._find_faster_over_limit(group, case, limit)
        if faster is not None:
            record |= {"status": "limit", "implied_by": faster}
        elif not is_own and predicted > SKIP_FACTOR * limit:
            is_bound = self._is_bound[case["package"], case["method"]]
            record |= {"status": "skipped", "predicted": predicted, "is_bound": is_bound}
        else:
            record |= self._measure(folder, case, limit)
        self._learn(record)
        self.store.add(record)
        print(report.line(record), file=sys.stderr, flush=True)

    def _find_faster_over_limit(self, group: Group, case: Case, limit: float) -> str | None:
        """A case of this table that exceeded the limit and is not slower than this case."""
        for record in self.store.records:
            if (
                record["table"] == group.name
                and record["status"] == "limit"
                and record["limit"] >= limit
                and "implied_by" not in record
                and record["build"] in (self.build, "peer")
                and case_lists.is_part_of(record, case)
            ):
                return report.label(record)
        return None

    def _measure(self, folder: Path, case: Case, limit: float) -> dict[str, Any]:
        python = sys.executable if case["package"] == "hocmim" else self._peers_python
        worker = self._workers.setdefault(case["package"], WorkerProcess(case["package"], python))
        try:
            answer = worker.measure(folder, case, limit)
        except OverTimeError:
            return {"status": "limit", "version": worker.version}
        if "error" in answer:
            return {"status": "error", "error": answer["error"], "version": worker.version}
        return {"status": "ok", "version": worker.version, **answer}

    def _learn(self, record: dict[str, Any]) -> None:
        """Remember the seconds per unit of work of a program."""
        if record["status"] not in ("ok", "limit") or "package" not in record:
            return
        work = work_of(record)
        took = record["seconds"] if record["status"] == "ok" else record["limit"]
        # Small tables overestimate the rate: the rate of the largest table is kept.
        who = record["package"], record["method"]
        if work >= self._largest[who]:
            self._largest[who] = work
            self._rates[who] = took / work
            self._is_bound[who] = record["status"] == "limit"

    def _write_table(self, group: Group) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="table-", dir=self._scratch))
        if isinstance(group.table, Path):
            X, y = half_of(group.table)
            np.save(folder / "x.npy", X)
            np.save(folder / "y.npy", y)
            return folder
        spec = group.table
        shape = spec.n_samples, spec.n_columns
        x = np.lib.format.open_memmap(folder / "x.npy", "w+", np.int64, shape)
        tables.table(spec, out=x)
        codes = np.lib.format.open_memmap(folder / "codes.npy", "w+", np.uint8, shape[::-1])
        tables.code_matrix(spec, out=codes)
        np.save(folder / "y.npy", tables.classes(spec))
        return folder

    def _measure_yardstick(self, group: Group, folder: Path) -> None:
        if not (folder / "codes.npy").exists() or self.store.of(f"yardstick|{group.name}", "peer"):
            return
        matrix = np.load(folder / "codes.npy", mmap_mode="r")
        self.store.add(
            {
                "key": f"yardstick|{group.name}",
                "table": group.name,
                "build": "peer",
                "status": "yardstick",
                "ns": yardstick.histogram_ns(matrix, np.load(folder / "y.npy")),
            }
        )
        if not self.store.of("stream", "peer"):
            one, two = yardstick.stream_bytes(1), yardstick.stream_bytes(2)
            self.store.add(
                {
                    "key": "stream",
                    "table": "-",
                    "build": "peer",
                    "status": "yardstick",
                    "bytes": [one, two],
                }
            )


def work_of(record: dict[str, Any]) -> int:
    """The quantity that the time of a case is proportional to."""
    return peers.work(record["package"], record["method"], record["n"], record["d"], record["k"])


def half_of(file: Path) -> tuple[Any, Any]:
    """The training half of a data set, as in the published experiment."""
    with np.load(file, allow_pickle=False) as data:
        X, y = data["X"], data["y"]
    half = np.random.default_rng(0).permutation(len(y))[: len(y) // 2]
    return np.ascontiguousarray(X[half]), np.ascontiguousarray(y[half])


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small tables, two minutes")
    parser.add_argument("--fresh", action="store_true", help="delete earlier measurements")
    parser.add_argument("--no-peers", action="store_true", help="hocmim's own methods only")
    parser.add_argument(
        "--only", nargs="+", metavar="TAG", help="sizes, order, N, D, K, paper, long"
    )
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="A, B, …, or a data set")
    parser.add_argument("--report-only", action="store_true", help="write the report again")
    add_data_option(parser, required=False)
    parser.add_argument("--peers-python", default=str(ROOT / ".venv-peers" / "bin" / "python"))
    parser.add_argument("--minutes", type=float, default=20.0, help="start no case after this time")
    parser.add_argument("--results", type=Path, help="folder of the report")
    parser.add_argument("--store", type=Path, help="the file of measurements")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    label = "quick" if options.quick else "full"
    kept = ROOT / ".benchmarks"
    results = options.results or (kept / "quick" if options.quick else HERE / "results")
    store = Store(options.store or kept / f"{label}.jsonl", options.fresh)
    with_peers = not options.no_peers and Path(options.peers_python).exists()
    if not with_peers and not options.no_peers:
        print("The peers are not installed (make peers): only hocmim runs.", file=sys.stderr)
    groups = (case_lists.quick_groups if options.quick else case_lists.all_groups)(
        options.data, with_peers
    )
    if options.only:
        groups = [group for group in groups if set(group.tags) & set(options.only)]
    if options.tables:
        groups = [group for group in groups if group.name in options.tables]
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hocmim-bench-") as scratch:
        seconds = 60 * options.minutes
        runner = Runner(store, options.peers_python, Path(scratch), seconds)
        try:
            if not options.report_only:
                runner.run(groups)
        finally:
            runner.close()
    report.write(store.records, runner.build, results, runner.left_out)
    if runner.left_out:
        left_out = ", ".join(runner.left_out)
        print(f"Time limit reached. The same command continues with {left_out}.", file=sys.stderr)
    print(f"{results / 'bench.md'} after {time.monotonic() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()

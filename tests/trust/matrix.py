"""The whole matrix of bad input: every entry point with every kind of table, or of file.

Every entry point (with --commands: every kind of file) has a process of its own, so that a crash is
a finding and not the end. Usage:
    PYTHONPATH=tests python tests/trust/matrix.py [--commands] [--only TEXT] [--verbose]
"""

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from bad_files import FILES, TARGET, commands, csv_text, table
from bad_tables import KINDS
from entry_points import ENTRY_POINTS, fit
from judge import fault_of_run, judge

from hocmim import MIM

SECONDS_OF_A_PROCESS = 1800
# A fit that asks for more gets MemoryError, and does not end the machine.
ADDRESS_SPACE = 6 << 30


def try_tables(entry, verbose):
    """Try one entry point with all kinds of tables; print faults and a summary."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, resource.RLIM_INFINITY))
    tally = {"works": 0, "error": 0, "fault": 0}
    for kind, make in KINDS.items():
        print(f"trying\t{entry}\t{kind}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            arguments = make()
            verdict, text, seconds = judge(
                lambda: ENTRY_POINTS[entry](Path(folder), *arguments)  # noqa: B023
            )
        tally[verdict] += 1
        if verdict == "fault" or verbose or seconds > 20:
            print(f"{verdict}\t{entry}\t{kind}\t{seconds:.1f}\t{text[:600]!r}", flush=True)
    print("tally", *tally.values(), flush=True)


def try_commands(kind, verbose):
    """Try all commands with one kind of file; print faults and a summary."""
    tally = [0, 0, 0]
    data = table().to_pandas()
    for command in commands("", Path(), ""):
        print(f"trying\t{kind}\t{command}", flush=True)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            model = MIM(2).fit(data.drop(columns=TARGET), data[TARGET]).save(folder / "m.json")
            (folder / "good.csv").write_text(csv_text())
            (folder / "in").mkdir()
            words = commands(FILES[kind](folder / "in"), folder, model)[command]
            os.chdir(folder)
            code, fault = fault_of_run(words, folder)
            os.chdir("/")
        tally[2 if fault else min(code, 1)] += 1
        if fault or verbose:
            print(f"fault\t{kind}\t{command}\t{fault!r:.700}", flush=True)
    print("tally", *tally, flush=True)


def run_forked(call):
    """Make a call in a fork of this process; return its exit code and what it printed.

    A fork of a process that has imported everything starts in milliseconds.
    """
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name, kind) for kind in ("out", "err")]

        def redirected():
            for number, path in enumerate(paths, 1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
            call()

        sys.stdout.flush()
        child = multiprocessing.get_context("fork").Process(target=redirected)
        child.start()
        child.join(SECONDS_OF_A_PROCESS)
        child.kill()
        child.join()
        return child.exitcode, *(path.read_text(errors="replace") for path in paths)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--commands", action="store_true", help="files on the command line")
    parser.add_argument("--only", default="", help="only entry points or files with this text")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:  # imports what is imported late
        fit("MIM", *KINDS["good"]())
        file = FILES["good CSV"](Path(name))
        fault_of_run(["select", file, "-t", TARGET, "-k", "2"], Path(name))
    tried, names = (try_commands, FILES) if given.commands else (try_tables, ENTRY_POINTS)
    calls = {name: partial(tried, name, given.verbose) for name in names if given.only in name}
    totals, n_faults = [0, 0, 0], 0
    for name, call in calls.items():
        began = time.monotonic()
        code, stdout, stderr = run_forked(call)
        seconds, lines = time.monotonic() - began, stdout.splitlines()
        for line in lines:
            if not line.startswith(("trying", "tally")):
                print(line, flush=True)
        if code != 0 or not lines or not lines[-1].startswith("tally"):
            print(f"CRASH\t{name}\t{code}\t{lines[-1:]}\t{stderr[-1500:]}", flush=True)
            n_faults += 1
            continue
        if stderr.strip() and not given.commands:
            print(f"fault\t{name}\tprinted to standard error: {stderr[-500:]!r}", flush=True)
            n_faults += 1
        counts = [int(word) for word in lines[-1].split()[1:]]
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
        n_faults += counts[2]
        summary = f"{counts[0]} work, {counts[1]} errors, {counts[2]} faults"
        print(f"{name}: {summary}; {seconds:.0f} s", flush=True)
    print(
        f"{sum(totals)} combinations: {totals[0]} work, {totals[1]} documented errors, "
        f"{totals[2]} faults; {n_faults} findings"
    )
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())

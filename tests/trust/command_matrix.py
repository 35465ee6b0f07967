"""The matrix of the command line: every command that reads a table with every kind of file.

Every kind of file has a process of its own, which ends by itself if a command hangs. Usage:
    python tests/trust/command_matrix.py [--file TEXT] [--command TEXT]
"""

import argparse
import faulthandler
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

# Of processor time; and on the clock, because a busy machine is several times slower.
SECONDS_OF_A_COMMAND = 60
SECONDS_UNTIL_A_HANG = 600
SECONDS_OF_A_FILE = 3600
# Every file that a command writes; after an error none of them exists.
WRITTEN = ("out.csv", "out.json", "out.model", "page.html", "applied.csv")


def fault_of_run(words, folder):
    """Run a command in this process; return (exit code, what is wrong or None)."""
    from click.testing import CliRunner
    from judge import fault_of_message, unsafe_characters

    from hocmim.cli import main

    began = time.process_time()
    faulthandler.dump_traceback_later(SECONDS_UNTIL_A_HANG, exit=True)
    result = CliRunner().invoke(main, [str(word) for word in words])
    faulthandler.cancel_dump_traceback_later()
    seconds = time.process_time() - began
    code, said = result.exit_code, result.stderr
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return code, f"traceback: {result.exception!r}"
    if seconds > SECONDS_OF_A_COMMAND:
        return code, f"took {seconds:.0f} s"
    if code not in (0, 1, 2):
        return code, f"exit code {code}"
    if "Unexpected error" in said or "Traceback" in result.output:
        return code, said
    if unsafe_characters(result.output, allowed="\n\t"):
        return code, f"unsafe characters in {result.output!r}"
    if code:
        message = said.rpartition("Error: ")[2].strip()
        if not message or fault_of_message(message):
            return code, fault_of_message(message) or f"no error message: {said!r}"
        found = [name for name in WRITTEN if (folder / name).exists()]
        if found:
            return code, f"half written: {found}"
    if list(folder.rglob("*.part")):
        return code, "a temporary file is left"
    return code, None


def run_file(kind, only):
    """Try all commands with one kind of file; print faults and a summary."""
    from bad_files import FILES, TARGET, commands, csv_text, table

    from hocmim import MIM

    tally = [0, 0, 0]
    data = table().to_pandas()
    for command in commands("", Path(), ""):
        if only not in command:
            continue
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
        if fault:
            print(f"fault\t{kind}\t{command}\t{fault[:700]!r}", flush=True)
    print("tally", *tally, flush=True)


def main():
    from bad_files import FILES
    from forked import run_forked

    parser = argparse.ArgumentParser()
    parser.add_argument("--file", default="", help="only files with this text")
    parser.add_argument("--command", default="", help="only commands with this text")
    parser.add_argument("--jobs", type=int, default=1, help="files at a time")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:  # imports what is imported late
        file = FILES["good CSV"](Path(folder))
        fault_of_run(["select", file, "-t", "target", "-k", "2"], Path(folder))
    kinds = [kind for kind in FILES if given.file in kind]
    calls = {kind: partial(run_file, kind, given.command) for kind in kinds}
    totals, n_faults = [0, 0, 0], 0
    for kind, code, stdout, stderr, seconds in run_forked(calls, given.jobs, SECONDS_OF_A_FILE):
        lines = stdout.splitlines()
        for line in lines:
            if line.startswith("fault"):
                print(line, flush=True)
        if code != 0 or not lines or not lines[-1].startswith("tally"):
            print(f"CRASH\t{kind}\t{code}\t{lines[-1:]}\t{stderr[-1500:]}", flush=True)
            n_faults += 1
            continue
        counts = [int(word) for word in lines[-1].split()[1:]]
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
        n_faults += counts[2]
        print(f"{kind}: {counts[0]} work, {counts[1]} errors, {counts[2]} faults; {seconds:.0f} s",
              flush=True)  # fmt: skip
    print(f"{sum(totals)} commands: {totals[0]} work, {totals[1]} errors, {totals[2]} faults; "
          f"{n_faults} findings")  # fmt: skip
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())

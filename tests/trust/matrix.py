"""The whole matrix of bad input: every entry point with every kind of table.

Every entry point has a process of its own, so that a crash is a finding and not the end. Usage:
    python tests/trust/matrix.py [--entry TEXT] [--kind TEXT] [--verbose]
"""

import argparse
import resource
import sys
import tempfile
from functools import partial
from pathlib import Path

SECONDS_OF_AN_ENTRY_POINT = 1800
# A fit that asks for more gets MemoryError, and does not end the machine.
ADDRESS_SPACE = 6 << 30


def run_entry(entry, kinds, verbose):
    """Try one entry point with all kinds; print a line for each fault and a summary."""
    from bad_tables import KINDS
    from entry_points import ENTRY_POINTS
    from judge import judge

    tally = {"works": 0, "error": 0, "fault": 0}
    for kind in kinds:
        print(f"trying\t{entry}\t{kind}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            arguments = KINDS[kind]()
            verdict, text, seconds = judge(
                lambda: ENTRY_POINTS[entry](Path(folder), *arguments)  # noqa: B023
            )
        tally[verdict] += 1
        if verdict == "fault" or verbose or seconds > 20:
            print(f"{verdict}\t{entry}\t{kind}\t{seconds:.1f}\t{text[:600]!r}", flush=True)
    print("tally", *tally.values(), flush=True)


def run_limited(entry, kinds, verbose):
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, resource.RLIM_INFINITY))
    run_entry(entry, kinds, verbose)


def main():
    from bad_tables import KINDS
    from entry_points import ENTRY_POINTS, fit
    from forked import run_forked

    parser = argparse.ArgumentParser()
    parser.add_argument("--entry", default="", help="only entry points with this text")
    parser.add_argument("--kind", default="", help="only kinds with this text")
    parser.add_argument("--jobs", type=int, default=1, help="entry points at a time")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    kinds = [kind for kind in KINDS if given.kind in kind]
    fit("MIM", *KINDS["good"]())  # imports what is imported late
    calls = {
        entry: partial(run_limited, entry, kinds, given.verbose)
        for entry in ENTRY_POINTS
        if given.entry in entry
    }
    totals, n_faults = [0, 0, 0], 0
    for entry, code, stdout, stderr, seconds in run_forked(
        calls, given.jobs, SECONDS_OF_AN_ENTRY_POINT
    ):
        lines = stdout.splitlines()
        shown = [line for line in lines if not line.startswith(("trying", "tally"))]
        print("\n".join(shown), end="\n" * bool(shown), flush=True)
        if code != 0 or not lines or not lines[-1].startswith("tally"):
            print(f"CRASH\t{entry}\t{code}\t{lines[-1:]}\t{stderr[-1500:]}", flush=True)
            n_faults += 1
            continue
        if stderr.strip():
            print(f"fault\t{entry}\tprinted to standard error: {stderr[-500:]!r}", flush=True)
            n_faults += 1
        counts = [int(word) for word in lines[-1].split()[1:]]
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
        n_faults += counts[2]
        print(
            f"{entry}: {counts[0]} work, {counts[1]} errors, {counts[2]} faults; {seconds:.0f} s",
            flush=True,
        )
    print(
        f"{sum(totals)} combinations: {totals[0]} work, {totals[1]} documented errors, "
        f"{totals[2]} faults; {n_faults} findings"
    )
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())

"""Everything that ``make trust`` runs, two parts at a time.

``python tests/trust/run.py`` prints the time and the last line of each part, and the whole output
of a part that fails. All output is in build/trust. ``--only TEXT`` runs the parts with this text.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LOGS = ROOT / "build" / "trust"
SECONDS_OF_FUZZING = "300"


def script(name: str, *options: str) -> list[str]:
    return [sys.executable, str(HERE / name), *options]


# The longest first, so that both cores end at about the same time.
PARTS = {
    "fuzzing": [str(ROOT / "scripts" / "fuzz")],
    "numbers": script("numerics.py", "--rows", "3000000"),
    "bad tables": script("matrix.py"),
    "long runs": script("soak.py", "--fits", "500"),
    "killed runs": script("crash.py", "--kills", "150", "--together", "20"),
    "bad files": script("matrix.py", "--commands"),
    "any file": [sys.executable, "-m", "pytest", "-q", str(ROOT / "tests/data/test_any_file.py")],
    "damaged files": script("flips.py", "--flips", "2000"),
    "wrong values": script("wrong_values.py"),
}


def run_part(name: str) -> tuple[str, int, float]:
    """Run a part; return its name, its exit code and its time."""
    path = log_of(name)
    environment = {
        "HOCMIM_EXAMPLES": "1000",
        "FUZZ_SECONDS": SECONDS_OF_FUZZING,
        "MPLBACKEND": "agg",
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(HERE.parent),
    }
    began = time.monotonic()
    with path.open("wb") as log:
        done = subprocess.run(
            PARTS[name],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return name, done.returncode, time.monotonic() - began


def log_of(name: str) -> Path:
    return LOGS / f"{name.replace(' ', '-')}.log"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="only parts with this text")
    parser.add_argument("--jobs", type=int, default=2, help="parts at a time")
    given = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    began, failed = time.monotonic(), []
    with ThreadPoolExecutor(given.jobs) as pool:
        runs = [pool.submit(run_part, name) for name in PARTS if given.only in name]
        for run in as_completed(runs):
            name, code, seconds = run.result()
            lines = log_of(name).read_text(errors="replace").splitlines()
            shown = lines if code else lines[-1:]
            print(f"{name}: {'failed' if code else 'passed'}; {seconds:.0f} s", flush=True)
            print("\n".join(f"    {line}" for line in shown), flush=True)
            failed += [name] * bool(code)
    print(
        f"{len(runs) - len(failed)} of {len(runs)} parts passed; {time.monotonic() - began:.0f} s"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The speed of hocmim and of other packages on the same seeded tables.

    make bench            all tables: about half an hour on two idle cores
    make bench QUICK=1    small tables: two minutes

Each case runs in a process of its own (peers.py), which is killed at its limit. A program that
would take three times its limit on a larger table, by its time on the largest so far, is not
started there. Measurements of other packages are kept in ``.benchmarks/`` and not repeated;
``--fresh`` measures them again. --write writes results/bench.md.
"""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from common import (
    HERE,
    ROOT,
    SIZES,
    TableSpec,
    classes,
    code_matrix,
    markdown,
    options_of,
    write_result,
)
from kernels import histogram_ns
from peers import PEERS

SECOND_ORDER = ("MIM", "mRMR", "JMI", "DISR", "CIFE", "CMIM")
HIGHER_ORDER = ("HOCMIM-R", "HOCMIM")
K = 50
LIMIT, OWN_LIMIT = 10.0, 30.0  # seconds
SETUP_SECONDS = 120.0  # for imports, compilation by numba, and the table
SKIP_FACTOR = 3.0
KEPT = ROOT / ".benchmarks" / "packages.json"
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"

Case = dict[str, Any]


def cases_of(spec: TableSpec) -> list[Case]:
    """Every method of hocmim (fit, search on two threads and on one) and of other packages."""
    common = {"spec": asdict(spec), "k": min(K, spec.n_columns)}
    own = [("encode", "encode", 2)]
    for kind, threads in (("fit", 2), ("search", 2), ("search", 1)):
        own += [(method, kind, threads) for method in (*SECOND_ORDER, *HIGHER_ORDER)]
    if spec.name in "AB":
        own += [("JMI-3", "fit", 2), ("CMIM-3", "fit", 2)]
    if spec.name == "A":
        own += [("Relax-mRMR", "fit", 2), ("CMICOT", "fit", 2)]
    cases = [
        {**common, "package": "hocmim", "method": method, "kind": kind, "threads": threads}
        for method, kind, threads in own
    ]
    return cases + [
        {**common, "package": package, "method": method, "kind": "fit", "threads": 2}
        for package, method in PEERS
    ]


def key_of(case: Case) -> str:
    names = ("package", "method", "kind", "k", "threads")
    return "|".join([case["spec"]["name"], *(str(case[name]) for name in names)])


def run(case: Case, python: str) -> dict[str, Any]:
    """Measure a case in a process that is killed at its limit."""
    limit = OWN_LIMIT if case["package"] == "hocmim" else LIMIT
    request = json.dumps(case | {"limit": limit})
    try:
        done = subprocess.run(
            [python, str(HERE / "peers.py"), request],
            capture_output=True, text=True, timeout=SETUP_SECONDS + limit,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": "it was not ready in time"}
    if done.returncode == -signal.SIGALRM:
        return {"limit": limit}
    return json.loads(done.stdout or '{"error": "it ended without an answer"}')


def measure(specs: list[TableSpec], fresh: bool = False) -> dict[str, Case]:
    """All cases of these tables with their results, by key."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() and not fresh else {}
    found: dict[str, Case] = {}
    rates: dict[tuple[str, str], float] = {}  # seconds per cell, of the largest table so far
    for spec in specs:
        for case in cases_of(spec):
            key, who = key_of(case), (case["package"], case["method"])
            is_own = case["package"] == "hocmim"
            expected = rates.get(who, 0.0) * spec.cells
            if not is_own and key in kept:
                result = kept[key]
            elif not is_own and not PEERS_PYTHON.exists():
                continue
            elif not is_own and expected > SKIP_FACTOR * LIMIT:
                result = {"expected": expected}
            else:
                result = run(case, sys.executable if is_own else str(PEERS_PYTHON))
            if "runs" in result:
                rates[who] = statistics.median(result["runs"]) / spec.cells
            elif "limit" in result:
                rates[who] = result["limit"] / spec.cells
            found[key] = case | result
            print(key, outcome(result), file=sys.stderr, flush=True)
            if not is_own and "error" not in result:
                kept[key] = result
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(kept))
    return found


def outcome(result: dict[str, Any]) -> str:
    """The median time, or the reason why there is none."""
    if "runs" in result:
        return f"{statistics.median(result['runs']):.4g} s"
    if "limit" in result:
        return f"> {result['limit']:g} s"
    if "expected" in result:
        return f"not run (about {result['expected']:.0f} s)"
    return f"failed: {result['error']}"


def report(found: dict[str, Case]) -> str:
    """A row for each case."""
    specs = {case["spec"]["name"]: TableSpec(**case["spec"]) for case in found.values()}
    plain = {name: histogram_ns(code_matrix(spec), classes(spec)) for name, spec in specs.items()}
    fits = {
        (case["spec"]["name"], case["method"]): case
        for case in found.values()
        if (case["package"], case["kind"]) == ("hocmim", "fit") and "runs" in case
    }
    rows = []
    for case in found.values():
        spec = specs[case["spec"]["name"]]
        threads = ", 1 thread" if case["threads"] == 1 else ""
        program = f"{case['package']} ({case['kind']}{threads})"
        row = [spec.name, case["method"], program, len(case.get("runs", [])), outcome(case)]
        if "runs" in case:
            ours = fits.get((spec.name, case["method"]))
            median = statistics.median(case["runs"])
            row.append(f"{min(case['runs']):.3g}..{max(case['runs']):.3g}")
            row.append(f"{median / statistics.median(ours['runs']):.3g}" if ours else "")
            row.append(f"{median / (spec.cells * case['k'] * plain[spec.name] * 1e-9):.3g}")
            row.append(agreement(case, ours) if ours else "")
        rows.append([*row, *[""] * (9 - len(row))])
    programs = {case["package"]: case["version"] for case in found.values() if "version" in case}
    header = ["size", "method", "program", "runs", "median", "min..max", "÷ hocmim"]
    return "\n\n".join(
        [
            f"Programs: {', '.join(f'{name} {v}' for name, v in sorted(programs.items()))}.",
            "The input of `fit` is the user's integer table, that of `search` its codes; two "
            "threads. ÷ hocmim: time divided by that of hocmim's `fit` with the same method. "
            "÷ yardstick: time divided by that of a plain histogram of N·D·K samples on one core. "
            "Same: how many of the selected columns hocmim's method of that name selected too.",
            markdown([*header, "÷ yardstick", "same"], rows),
        ]
    )


def agreement(case: Case, ours: Case) -> str:
    if case["selected"] == ours["selected"]:
        return "all, in order"
    if not case["selected"] or case["kind"] == "encode":
        return ""
    n_same = len(set(case["selected"]) & set(ours["selected"]))
    return f"{n_same} of {len(ours['selected'])}"


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--tables", nargs="+", choices=SIZES, help="default: all")
    parser.add_argument("--fresh", action="store_true", help="measure other packages again")
    options = parser.parse_args()
    if not PEERS_PYTHON.exists():
        print("No other packages are installed (make bench installs them).", file=sys.stderr)
    names = options.tables or ("AB" if options.quick else SIZES)
    text = report(measure([SIZES[name] for name in names], options.fresh))
    print(text)
    if options.write:
        write_result("bench.md", "Benchmarks", text)


if __name__ == "__main__":
    main()

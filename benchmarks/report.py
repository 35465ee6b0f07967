"""The report of the measurements: bench.json, bench.md and the plot."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import figures
from cases import PAPER_METHODS, Case, case_key, own
from claims import PAPER_RATIOS, Claim, Medians, evaluate, paper_ratios
from hocmim.experiments.machine import processor
from tables import SIZES

# Seconds of a C and OpenMP toolbox for R with two threads, measured earlier on a similar machine.
# It is not on the package index, so these values are quoted and not measured again.
QUOTED = {
    ("B", "mRMR"): 0.16,
    ("B", "JMI"): 0.20,
    ("B", "DISR"): 0.27,
    ("B", "JMI-3"): 7.0,
    ("C", "CMIM"): 0.05,
    ("E", "JMI"): 3.0,
}


def machine_line() -> str:
    """The processor, its cores and the system; not the name of the machine."""
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{processor()}, {os.cpu_count()} cores, {system}"


def line(record: dict[str, Any]) -> str:
    """One measurement as a line for the terminal."""
    options = "".join(f" {name}={value}" for name, value in record["options"].items())
    name = f"{record['package']} {record['method']}{options}"
    what = f"{record['table']:>12} k={record['k']:<3} {name:<34}"
    return f"{what} {record['kind']:<6} {record['threads']} thread(s)  {outcome([record])}"


def outcome(records: list[dict[str, Any]]) -> str:
    """The median time of a case, or the reason why it has none."""
    seconds = [record["seconds"] for record in records if record["status"] == "ok"]
    if seconds:
        return f"{statistics.median(seconds):.3g} s"
    record = records[-1]
    if record["status"] == "limit":
        implied = f" (not run: {record['implied_by']})" if "implied_by" in record else ""
        return f"> {record['limit']:g} s{implied}"
    if record["status"] == "skipped":
        about = "over" if record.get("is_bound") else "about"
        return f"not run ({about} {record['predicted']:.0f} s)"
    return f"failed: {record['error']}"


def write(
    records: list[dict[str, Any]], build: str, folder: Path, left_out: Sequence[str] = ()
) -> None:
    """Write the report of the measurements that belong to this build."""
    folder.mkdir(parents=True, exist_ok=True)
    records = [record for record in records if record["build"] in (build, "peer")]
    memory_file = folder / "memory.json"
    memory = json.loads(memory_file.read_text())["rows"] if memory_file.exists() else []
    claims = evaluate(records, memory)
    figures.draw(records, folder / "bench")
    (folder / "bench.md").write_text(markdown(records, claims, left_out))
    (folder / "bench.json").write_text(json.dumps(content(records, claims), indent=1) + "\n")


def content(records: list[dict[str, Any]], claims: list[Claim]) -> dict[str, Any]:
    summaries = []
    for own_records in by_key(records).values():
        first = {k: v for k, v in own_records[0].items() if k not in ("seconds", "selected")}
        runs = [record["seconds"] for record in own_records if record["status"] == "ok"]
        summaries.append(
            first | {"runs": runs, "median": statistics.median(runs) if runs else None}
        )
    return {
        "machine": machine_line(),
        "yardsticks_ns": Medians(records).yardsticks,
        "stream_bytes_per_second": stream(records),
        "cases": summaries,
        "claims": [vars(claim) | {"met": claim.met} for claim in claims],
    }


def by_key(records: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The measurements of each case."""
    found: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if record["status"] != "yardstick":
            found.setdefault(record["key"], []).append(record)
    return found


def stream(records: list[dict[str, Any]]) -> list[float]:
    return next((record["bytes"] for record in records if record["key"] == "stream"), [])


def markdown(
    records: list[dict[str, Any]], claims: list[Claim], left_out: Sequence[str] = ()
) -> str:
    medians = Medians(records)
    parts = [
        "# Benchmarks",
        "Written by `make bench`. docs/development/performance.md describes the method.",
        f"Machine: {machine_line()}.",
        versions_text(records),
        yardstick_text(records, medians),
        f"Time limit reached. Not measured in full: {', '.join(left_out)}." if left_out else "",
        "## Claims",
        claims_table(claims),
        "## Comparison of packages",
        "Medians of the runs. The input of `fit` is the user's integer table, that of `search` its "
        "codes. One yardstick is the time of a plain histogram of N·D·K samples on one core. "
        "÷ hocmim: time divided by that of hocmim's `fit` with the same method and two threads. "
        "Same: how many of the K selected columns hocmim's method of that name selected too.",
        side_by_side(records, medians),
        "![time against N, D, K and order](bench.svg)",
    ]
    if any(key in SIZES for key in medians.yardsticks):
        parts += ["## Encoding and search", encoding_table(medians)]
    ratios = paper_table(medians)
    if ratios:
        parts += ["## The paper's low-dimensional data sets", PAPER_TEXT, ratios]
    parts += ["## Quoted values", QUOTED_TEXT, quoted_table(medians)]
    return "\n\n".join(part for part in parts if part) + "\n"


PAPER_TEXT = (
    "Half of each set; 50 columns are selected, or all if there are fewer. All methods are those "
    "of hocmim; `fit` with two threads. Values are times divided by that of HOCMIM (max_order=15, "
    "defaults). > : the run was killed at the limit."
)
QUOTED_TEXT = (
    "A C and OpenMP toolbox for R with two threads, measured earlier on a similar machine. It is "
    "not on the package index and was not measured in this run."
)


def versions_text(records: list[dict[str, Any]]) -> str:
    found = {record["package"]: record["version"] for record in records if record.get("version")}
    return f"Programs: {', '.join(f'{name} {found[name]}' for name in sorted(found))}."


def yardstick_text(records: list[dict[str, Any]], medians: Medians) -> str:
    values = [f"{name} {ns:.2f}" for name, ns in medians.yardsticks.items() if name in SIZES]
    text = f"Plain histogram on one core, ns per sample: {', '.join(values) or 'not measured'}."
    if stream(records):
        one, two = (value / 1e9 for value in stream(records))
        text += f" Reading memory: {one:.0f} GB/s on one core, {two:.0f} GB/s on two."
    return text


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def claims_table(claims: list[Claim]) -> str:
    rows = []
    for claim in claims:
        sign = "≥" if claim.at_least else "≤"
        measured = "not measured" if claim.measured is None else f"{claim.measured:.3g}"
        met = {True: "yes", False: "**no**", None: "–"}[claim.met]
        measured = f"> {measured}" if claim.bound else measured
        target = f"{sign} {claim.target:g}"
        rows.append([claim.letter, claim.what, measured, target, met, claim.note])
    return table(["", "claim", "measured", "target", "met", "note"], rows)


def label(record: dict[str, Any]) -> str:
    options = "".join(f", {name}={value}" for name, value in record["options"].items())
    kind = record["kind"] if record["package"] == "hocmim" else "fit"
    threads = "" if record["threads"] == 2 else ", 1 thread"
    return f"{record['package']} ({kind}{options}{threads})"


def side_by_side(records: list[dict[str, Any]], medians: Medians) -> str:
    rows = []
    order = {name: number for number, name in enumerate(SIZES)}
    groups = [g for g in by_key(records).values() if g[0]["table"] in order]
    groups = [g for g in groups if g[0]["kind"] != "encode"]
    methods = list(dict.fromkeys(g[0]["method"] for g in groups))
    groups.sort(key=lambda g: (order[g[0]["table"]], methods.index(g[0]["method"])))
    for group in groups:
        rows.append(row_of(group, medians, records))
    header = ["size", "method", "program", "runs", "median", "min..max", "÷ hocmim", "÷ yardstick"]
    return table([*header, "same"], rows)


def row_of(
    group: list[dict[str, Any]], medians: Medians, records: list[dict[str, Any]]
) -> list[str]:
    first = group[0]
    seconds = [record["seconds"] for record in group if record["status"] == "ok"]
    fit = own(first["method"], first["k"])
    cells = [first["table"], first["method"], label(first), str(len(seconds)), outcome(group)]
    if not seconds:
        return [*cells, "", at_least(first, medians.of(first["table"], fit)), "", ""]
    ours = medians.of(first["table"], fit)
    yardsticks = medians.in_yardsticks(first["table"], as_case(first))
    return [
        *cells,
        f"{min(seconds):.3g}..{max(seconds):.3g}",
        "" if ours is None else f"{statistics.median(seconds) / ours:.3g}",
        "" if yardsticks is None else f"{yardsticks:.3g}",
        agreement(first, fit, records),
    ]


def at_least(record: dict[str, Any], ours: float | None) -> str:
    if ours is None or record["status"] == "error":
        return ""
    is_over = record["status"] == "limit"
    sign = "> " if is_over or record.get("is_bound") else "≈ "
    return f"{sign}{record['limit' if is_over else 'predicted'] / ours:.3g}"


def as_case(record: dict[str, Any]) -> Case:
    return {name: record[name] for name in own("")}


def agreement(record: dict[str, Any], fit: Case, records: list[dict[str, Any]]) -> str:
    """How many of the selected columns hocmim's method of this name selected too."""
    key = case_key(record["table"], fit)
    ours = next((r["selected"] for r in records if r["key"] == key and r["status"] == "ok"), [])
    chosen = record.get("selected") or []
    if not ours or not chosen or record["options"]:
        return ""
    if chosen == ours:
        return "all, in order"
    return f"{len(set(chosen) & set(ours))} of {len(ours)}"


def encoding_table(medians: Medians) -> str:
    rows = []
    for name, spec in SIZES.items():
        k = min(50, spec.n_columns)
        cases = [own("encode", k, "encode")]
        cases += [own(m, k, kind) for m in ("JMI", "HOCMIM") for kind in ("search", "fit")]
        times = [medians.of(name, case) for case in cases]
        if any(time is not None for time in times):
            shown = ["" if time is None else f"{time:.3g}" for time in times]
            rows.append([name, f"{spec.n_samples} × {spec.n_columns}", *shown])
    columns = ["encoding", "JMI search", "JMI fit", "HOCMIM search", "HOCMIM fit"]
    return table(["size", "N × D", *columns], rows)


def paper_table(medians: Medians) -> str:
    ratios = paper_ratios(medians)
    if not ratios:
        return ""
    methods = PAPER_METHODS[1:]
    rows = []
    for name, of_set in ratios.items():
        times = [t for key, t in medians.times.items() if key.startswith(f"{name}|hocmim|HOCMIM|")]
        shown = [f"{'> ' if b else ''}{value:.3g}" for value, b in map(of_set.get, methods)]
        rows.append([name, f"{times[0]:.3g}", *shown])
    middle = [statistics.median(r[m][0] for r in ratios.values() if m in r) for m in methods]
    rows.append(["median", "", *(f"{value:.3g}" for value in middle)])
    rows.append(["the paper: up to", "", *(f"{PAPER_RATIOS[m]:g}" for m in methods)])
    return table(["set", "HOCMIM, s", *methods], rows)


def quoted_table(medians: Medians) -> str:
    rows = []
    for (name, method), seconds in QUOTED.items():
        ours = medians.of(name, own(method))
        measured = ["", ""] if ours is None else [f"{ours:.3g} s", f"{seconds / ours:.3g}"]
        rows.append([name, method, f"{seconds:g} s", *measured])
    return table(["size", "method", "quoted", "hocmim fit", "quoted ÷ hocmim"], rows)

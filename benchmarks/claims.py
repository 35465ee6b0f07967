"""The project's claims on speed and memory, each with the measured value."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

from cases import PAPER_METHODS, PAPER_SETS, SECOND_ORDER, Case, K, case_key, own
from tables import SIZES

# How many times faster than these methods HOCMIM is in the paper.
PAPER_RATIOS = {"CMICOT": 6.0, "Relax-mRMR": 10.0, "JMI-4": 100.0, "CMIM-4": 100.0}


@dataclass(frozen=True)
class Claim:
    """One claim: ``measured`` against ``target``; ``bound`` if a run exceeded its limit."""

    letter: str
    what: str
    measured: float | None
    target: float
    at_least: bool = False
    bound: bool = False
    note: str = ""

    @property
    def met(self) -> bool | None:
        """None if it was not measured, or if the lower bound does not decide it."""
        if self.measured is None:
            return None
        is_met = self.measured >= self.target if self.at_least else self.measured <= self.target
        # A lower bound can only show that "at least" is met, or that "at most" is not.
        return None if self.bound and is_met != self.at_least else is_met


class Medians:
    """The median time of each case, and each table's yardstick."""

    def __init__(self, records: list[dict[str, Any]]) -> None:
        times: dict[str, list[float]] = {}
        self.limits: dict[str, float] = {}
        self.yardsticks: dict[str, float] = {}
        for record in records:
            if record["status"] == "ok":
                times.setdefault(record["key"], []).append(record["seconds"])
            elif record["status"] == "limit":
                self.limits[record["key"]] = record["limit"]
            elif "ns" in record:
                self.yardsticks[record["table"]] = record["ns"]
        self.times = {key: statistics.median(values) for key, values in times.items()}

    def of(self, table: str, case: Case) -> float | None:
        return self.times.get(case_key(table, case))

    def ratio(self, table: str, case: Case, other: Case) -> tuple[float | None, bool]:
        """Time of a case divided by that of another; True if it is only a lower bound."""
        key, below = case_key(table, case), self.of(table, other)
        if below is None:
            return None, False
        if key in self.times:
            return self.times[key] / below, False
        return (self.limits[key] / below, True) if key in self.limits else (None, False)

    def in_yardsticks(self, table: str, case: Case, increments: int | None = None) -> float | None:
        """Time in units of the plain histogram of N·D·K samples on one core."""
        seconds, ns = self.of(table, case), self.yardsticks.get(table)
        if seconds is None or ns is None:
            return None
        increments = increments or SIZES[table].cells * case["k"]
        return seconds / (increments * ns * 1e-9)


def evaluate(records: list[dict[str, Any]], memory: list[dict[str, Any]]) -> list[Claim]:
    medians = Medians(records)
    return [
        *_against_yardstick(medians),
        *_lazy(medians),
        *_order(medians),
        *_paper(medians),
        *_memory(memory),
    ]


def _against_yardstick(medians: Medians) -> list[Claim]:
    claims = []
    for table in "BCDEF":
        target = 0.03 if table == "F" else 0.3
        for method in SECOND_ORDER[:-1]:
            case = own(method, kind="search")
            whole = medians.in_yardsticks(table, own(method))
            note = "" if whole is None else f"{whole:.3f} with encoding"
            if method == "MIM":  # counts N·D samples only
                cells = medians.in_yardsticks(table, case, SIZES[table].cells)
                note += "" if cells is None else f"; {cells:.2f} of N·D increments"
            measured = medians.in_yardsticks(table, case)
            what = f"{method} at {table}, time ÷ plain histogram of N·D·K"
            claims.append(Claim("a", what, measured, target, note=note))
    return claims


def _lazy(medians: Medians) -> list[Claim]:
    ratio, bound = medians.ratio("C", own("CMIM", kind="search"), own("MIM", kind="search"))
    return [Claim("b", "lazy CMIM at C, time ÷ MIM", ratio, 2.0, bound=bound)]


def _order(medians: Medians) -> list[Claim]:
    hocmim, third = own("HOCMIM", kind="search"), own("HOCMIM", kind="search", max_order=3)
    claims = []
    for table in "BCDE":
        ratio, bound = medians.ratio(table, hocmim, own("JMI", kind="search"))
        claims.append(Claim("c", f"HOCMIM at {table}, time ÷ JMI", ratio, 8.0, bound=bound))
    for table in "BCDE":
        ratio, bound = medians.ratio(table, hocmim, third)
        what = f"HOCMIM at {table}, time with max_order=15 ÷ max_order=3"
        claims.append(Claim("d", what, ratio, 2.0, bound=bound))
    seconds = medians.of("G", own("HOCMIM"))
    claims.append(Claim("d", "HOCMIM at G, seconds with encoding", seconds, 10.0))
    return claims


def paper_ratios(medians: Medians) -> dict[str, dict[str, tuple[float, bool]]]:
    """Time of each method divided by HOCMIM's, for each set; True for a lower bound."""
    ratios: dict[str, dict[str, tuple[float, bool]]] = {}
    for table in PAPER_SETS:
        for method in PAPER_METHODS[1:]:
            found = _paper_ratio(medians, table, method)
            if found is not None:
                ratios.setdefault(table, {})[method] = found
    return ratios


def _paper_ratio(medians: Medians, table: str, method: str) -> tuple[float, bool] | None:
    for k in range(1, K + 1):
        ratio, bound = medians.ratio(table, own(method, k), own("HOCMIM", k))
        if ratio is not None:
            return ratio, bound
    return None


def _paper(medians: Medians) -> list[Claim]:
    ratios = paper_ratios(medians)
    claims = []
    for method, target in PAPER_RATIOS.items():
        found = [of_set[method] for of_set in ratios.values() if method in of_set]
        middle = statistics.median(value for value, _ in found) if found else None
        largest = max(found, default=None)
        note = ""
        if largest is not None:
            note = f"largest {'> ' if largest[1] else ''}{largest[0]:.0f}; {len(found)} sets"
        what = f"{method} on the paper's low-dimensional sets, time ÷ HOCMIM (median set)"
        claims.append(Claim("e", what, middle, target, at_least=True, note=note))
        if largest is not None:
            what = f"{method}, time ÷ HOCMIM on the set where it is largest (the paper's “up to”)"
            claims.append(Claim("e", what, largest[0], target, at_least=True, bound=largest[1]))
    return claims


def _memory(memory: list[dict[str, Any]]) -> list[Claim]:
    claims = []
    for row in memory:
        what = f"{row['method']} at {row['table']}: peak beyond the table ÷ allowed"
        note = (
            f"{row['extra'] / 2**20:.0f} MiB beyond a table of {row['user_table'] / 2**20:.0f} MiB;"
            f" codes {row['codes'] / 2**20:.0f} MiB"
        )
        claims.append(Claim("f", what, row["extra"] / row["allowed"], 1.0, note=note))
        if row["table"] == "1000000x1000":
            what = "HOCMIM at 1 000 000 × 1 000, K = 20, peak GiB of the whole process"
            claims.append(Claim("f", what, row["peak"] / 2**30, 4.0))
            what = "HOCMIM at 1 000 000 × 1 000, K = 20, minutes"
            claims.append(Claim("f", what, row["seconds"] / 60, 10.0))
    return claims

"""Pairs of settings of which the second asks for less: it should not take longer.

Less is a lower max_order or team_size, a higher min_support, or a smaller K. Each pair is measured
in turns in one process on one thread, as processor time of the search, and the fastest run of each
counts; short searches are repeated. Prints every pair whose ratio is above 1.2; --all prints all of
them, --out writes that table to a file, and --docs puts the times of HOCMIM into docs/.

    python benchmarks/cliffs.py [--all] [--out FILE] [--docs] [--quick] [--repeats 2]
                                [--seconds 60] [METHOD ...]

With --quick each setting is measured once, and those of HOCMIM that take longest are left out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from docs_tables import write_table
from hocmim import encode, make_selector
from hocmim.coding.target import encode_target
from hocmim.search.engines.local import LocalEngine
from hocmim.search.loop import forward_search
from tables import SIZES, TableSpec, classes, table

LIMIT = 1.2
# Of HOCMIM and HOCMIM-R, the ones that ask for more first.
SETTINGS = {"max_order": (20, 15, 5, 3, 2, 1), "min_support": (0, 3, 10, 30)}
# A shorter search is repeated for so long in each round.
MIN_SECONDS = 0.5


@dataclass(frozen=True)
class Setting:
    """A method, how many columns it selects, and its parameters."""

    method: str
    k: int = 50
    parameters: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = [f"{name}={value}" for name, value in self.parameters.items()]
        return ", ".join([self.method, f"K={self.k}", *given])


def less(method: str, k: int, name: str, values: tuple[Any, ...]) -> Iterator[list[Setting]]:
    """Pairs of neighbouring values of a parameter, the first asks for more; and first to last."""
    settings = [Setting(method, k, {name: value}) for value in values]
    pairs = list(pairwise(settings))
    if len(settings) > 2:
        pairs.append((settings[0], settings[-1]))
    yield from map(list, pairs)


def pairs() -> Iterator[list[Setting]]:
    """All pairs: first the one that asks for more."""
    for parameter, values in SETTINGS.items():
        yield from less("HOCMIM", 50, parameter, values)
    yield from ([Setting("HOCMIM", 50, {"max_order": n}) for n in (15, low)] for low in (3, 2))
    yield [Setting("HOCMIM", 50, {"min_support": value}) for value in (0, 10)]
    yield from less("HOCMIM-R", 50, "max_order", SETTINGS["max_order"])
    yield from less("HOCMIM-R", 50, "min_support", (1, *SETTINGS["min_support"][1:]))
    yield from less("CMICOT", 10, "team_size", (6, 4, 2, 1))
    yield [Setting("CMIM-4", 20), Setting("CMIM-3", 20)]
    yield [Setting("JMI-4", 12), Setting("JMI-3", 12)]
    for method, large, small in (
        ("HOCMIM", 50, 20),
        ("HOCMIM", 20, 10),
        ("HOCMIM-R", 50, 20),
        ("CMIM-3", 50, 20),
        ("CMIM-4", 20, 10),
        ("MIM", 50, 20),
        ("mRMR", 50, 20),
        ("JMI", 50, 20),
        ("DISR", 50, 20),
        ("CIFE", 50, 20),
        ("ICAP", 50, 20),
        ("CMIM", 50, 20),
        ("JMIM", 50, 20),
        ("NJMIM", 50, 20),
        ("CMI", 50, 20),
        ("JIM", 50, 20),
        ("JMI-3", 30, 15),
        ("JMI-4", 12, 8),
        ("CMICOT", 10, 5),
        ("Relax-mRMR", 30, 15),
    ):
        yield [Setting(method, large), Setting(method, small)]


def takes_long(setting: Setting) -> bool:
    """Whether it takes more than five seconds at B."""
    return setting.method == "CMICOT" or (
        setting.method == "HOCMIM"
        and (
            setting.parameters.get("max_order") == 5
            or setting.parameters.get("min_support") in (3, 10)
        )
    )


class Stopwatch:
    """Measures settings on one table, each at most once a round."""

    def __init__(self, spec: TableSpec, most_seconds: float) -> None:
        self._codes = encode(table(spec))
        self._y = encode_target(classes(spec)).column
        self._most_seconds = most_seconds

    def seconds(self, setting: Setting) -> float:
        """The fastest of some searches: of one if it takes long."""
        fastest = self._once(setting)
        for _ in range(int(MIN_SECONDS / max(fastest, 0.01)) if fastest < MIN_SECONDS else 0):
            fastest = min(fastest, self._once(setting))
        return fastest

    def _once(self, setting: Setting) -> float:
        """Processor time of a search; infinite if it takes too long."""
        selector = make_selector(
            setting.method, n_features_to_select=setting.k, n_jobs=1, **setting.parameters
        )
        criterion = selector.make_criterion()
        criterion.expect(setting.k)
        began = time.process_time()

        def stop_late(_: int) -> None:
            if time.process_time() - began > self._most_seconds:
                raise TimeoutError

        try:
            with LocalEngine(
                self._codes, self._y, criterion, n_jobs=1, on_terms=stop_late
            ) as engine:
                forward_search(engine, setting.k)
        except TimeoutError:
            return np.inf
        return time.process_time() - began


def measure(stopwatch: Stopwatch, chosen: list[list[Setting]], repeats: int) -> dict[str, float]:
    """The fastest run of each setting; the settings take turns."""
    settings = {str(setting): setting for pair in chosen for setting in pair}
    fastest: dict[str, float] = {}
    for _ in range(repeats):
        for name, setting in settings.items():
            if fastest.get(name) == np.inf:
                continue
            fastest[name] = min(fastest.get(name, np.inf), stopwatch.seconds(setting))
            print(f"{name}: {fastest[name]:.3f} s", file=sys.stderr, flush=True)
    return fastest


def as_table(chosen: list[list[Setting]], fastest: dict[str, float], with_all: bool) -> str:
    """One row a pair."""
    lines = ["| asks for more | s | asks for less | s | ratio |", "|---|---|---|---|---|"]
    for more, less_ in chosen:
        a, b = fastest[str(more)], fastest[str(less_)]
        ratio = np.nan if np.isinf(a) else b / a
        if with_all or ratio > LIMIT:
            shown = " | ".join([str(more), _shown(a), str(less_), _shown(b)])
            lines.append(f"| {shown} | {'–' if np.isnan(ratio) else f'{ratio:.2f}'} |")
    return "\n".join(lines) + "\n"


def by_setting(fastest: dict[str, float]) -> str:
    """One row a setting that was measured with HOCMIM: its seconds, and those of HOCMIM-R."""
    base = fastest[str(Setting("HOCMIM", 50, {"max_order": 15}))]
    header = "| setting | HOCMIM, s | × order 15 | HOCMIM-R, s |"
    lines = [header, "|---|---:|---:|---:|"]
    for parameter, values in SETTINGS.items():
        for value in values:
            ours, robust = (
                fastest.get(str(Setting(method, 50, {parameter: value})), np.nan)
                for method in ("HOCMIM", "HOCMIM-R")
            )
            cells = [_shown(ours), f"{ours / base:.2g}", _shown(robust)]
            lines.append(f"| `{parameter}={value}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def _shown(seconds: float) -> str:
    if np.isnan(seconds):
        return "–"
    return "too long" if np.isinf(seconds) else f"{seconds:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("methods", nargs="*", default=[], metavar="METHOD")
    parser.add_argument("--table", default="B", choices=list(SIZES))
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="a search is stopped after this")
    parser.add_argument("--all", action="store_true", help="print every pair")
    parser.add_argument("--out", type=Path, help="write the table of all pairs to this file")
    parser.add_argument("--docs", action="store_true", help="renew the tables in docs/")
    parser.add_argument("--quick", action="store_true", help="one run, without the longest")
    given = parser.parse_args()
    spec = SIZES[given.table]
    chosen = [pair for pair in pairs() if not given.methods or pair[0].method in given.methods]
    if given.quick:
        chosen = [pair for pair in chosen if not any(map(takes_long, pair))]
    repeats = 1 if given.quick else given.repeats
    fastest = measure(Stopwatch(spec, given.seconds), chosen, repeats)
    found = as_table(chosen, fastest, given.all)
    print(found)
    if given.out:
        size = f"{spec.n_samples} × {spec.n_columns}"
        title = f"# Cliffs\n\nProcessor time of the search at {size}, one thread.\n\n"
        given.out.write_text(title + as_table(chosen, fastest, True), encoding="utf-8")
    if given.docs:
        write_table("performance.md", "settings", by_setting(fastest))
        write_table("development/performance.md", "cliffs", found)


if __name__ == "__main__":
    main()

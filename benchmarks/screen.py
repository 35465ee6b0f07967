"""How long the screen for interactions takes, and how weak an interaction it sees.

    python benchmarks/screen.py [--quick] [--write]

Times: seconds of processor time on one thread, the least of three, of tables of normal numbers. The
limit is the time of one AND and popcount for each pair of levels but one of each column and 64
rows, measured by the kernel itself on columns of two levels and many rows, where nothing else takes
time. Power: the synergy in nats that is seen in half of the tables. --write writes the tables of
docs/development/interactions.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from common import markdown, options_of, write_table
from hocmim import JMI, RobustHOCMIM, _native
from hocmim.coding.encoded import encode_table
from hocmim.search.interactions import ALPHA, ScreenedTable, levels_for, screen

K = 50
SHAPES = [(2000, 1000), (20_000, 500), (2000, 5000), (2000, 20_000)]
QUICK_SHAPES = [(200, 60)]
ROWS = (100, 300, 1000, 3000, 10_000)
COLUMNS = (30, 100, 300, 1000, 5000)
TIMES_HEADER = [
    "rows × columns",
    "JMI, s",
    "`interactions=False`, s",
    '`"auto"`, s',
    "screen of pairs, s",
    "screen / JMI",
    "ns per pair and 64 rows",
    "limit",
]


def least_time(function: Callable[[], Any], n: int = 3) -> float:
    times = []
    for _ in range(n):
        began = time.process_time()
        function()
        times.append(time.process_time() - began)
    return min(times)


def popcount_limit() -> float:
    """Nanoseconds of one AND and popcount of 64 rows, on one thread."""
    rng = np.random.default_rng(0)
    n, D = 1 << 18, 64
    order, sizes = np.arange(n, dtype=np.uint32), [n // 2, n // 2]
    kernel = _native.InteractionScreen([2] * D, order, sizes, 2, 1)
    kernel.set(0, rng.integers(0, 2, (D, n), np.uint8))
    none = np.full((4, 4), np.inf)
    seconds = least_time(lambda: kernel.search(0, kernel.n_groups, none, 1))
    n_pairs = sum(8 * (g + 1) * 8 for g in range(D // 8))  # a group is counted with itself
    return seconds * 1e9 / n_pairs / (n / 64)


def time_row(n: int, D: int, limit: float) -> list[str]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, D))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    encoded = encode_table(X, y, n_jobs=1)
    table = ScreenedTable.of(encoded)
    found = screen(table, [encoded.target.column], sizes=[2], n_jobs=1)
    jmi = least_time(lambda: JMI(K, n_jobs=1).fit(X, y))
    off = least_time(lambda: RobustHOCMIM(K, interactions=False, n_jobs=1).fit(X, y))
    on = least_time(lambda: RobustHOCMIM(K, n_jobs=1).fit(X, y))
    times = [f"{seconds:.3f}" for seconds in (jmi, off, on)]
    if found.notes:
        return [f"{n:,} × {D:,}", *times, "left out", "", "", ""]
    pairs = least_time(lambda: screen(table, [encoded.target.column], sizes=[2], n_jobs=1))
    levels = levels_for(n, 2, 5, 2, D * (D - 1) // 2, 10**10)
    assert levels is not None
    n_cells = sum((bins - 1) ** 2 for bins in range(2, min(levels, 4) + 1))
    per_pair = pairs * 1e9 / (D * (D - 1) / 2) / (n / 64)
    ratios = [f"{pairs:.3f}", f"{pairs / jmi:.1f}", f"{per_pair:.2f}", f"{limit * n_cells:.2f}"]
    return [f"{n:,} × {D:,}", *times, *ratios]


def seen_synergy(n: int, D: int, bins: int, classes: int = 2) -> float:
    """Synergy in nats that bins see with probability 1/2 by the χ² test; numbers in a table."""
    n_pairs, df = D * (D - 1) // 2, (bins - 1) ** 2 * (classes - 1)
    most = min(4, levels_for(n, classes, 5, 2, n_pairs, 10**10) or 0)
    if bins > most:
        return np.nan
    needed = chi2.isf(ALPHA / (n_pairs * (most - 1)), df)
    return float(brentq(lambda lack: ncx2.sf(needed, df, lack) - 0.5, 0.0, 2 * needed)) / (2 * n)


def seen_share(n: int, D: int, bins: int, synergy: float, n_tables: int, seed: int = 0) -> float:
    """The share of tables in which a pair of this synergy is kept: a pattern of so many bins."""
    rng = np.random.default_rng([seed, n, D, bins])
    phase = np.arange(bins)
    pattern = np.where((phase[:, None] + phase) % 2, 1.0, -1.0)  # a chess board
    pattern -= pattern.mean(axis=0)
    pattern -= pattern.mean(axis=1)[:, None]

    def synergy_of(strength: float) -> float:
        p = 0.5 + strength * pattern / np.abs(pattern).max() / 2
        told = p * np.log(2 * p) + (1 - p) * np.log(2 * (1 - p))
        return float(told.mean()) - synergy

    strength = brentq(synergy_of, 0.0, 1 - 1e-9)
    n_seen = 0
    for _ in range(n_tables):
        X = rng.random((n, D))
        cell = np.minimum((X[:, :2] * bins).astype(int), bins - 1)
        p = 0.5 + strength * pattern[cell[:, 0], cell[:, 1]] / np.abs(pattern).max() / 2
        encoded = encode_table(X, (rng.random(n) < p).astype(int), n_jobs=1)
        found = screen(ScreenedTable.of(encoded), [encoded.target.column], sizes=[2], n_jobs=1)
        n_seen += any(one.members == (0, 1) for one in found.kept)
    return n_seen / n_tables


def power_rows(n_tables: int) -> list[list[str]]:
    rows = []
    for bins in (2, 4):
        for n in ROWS:
            cells = []
            for D in COLUMNS:
                synergy = seen_synergy(n, D, bins)
                cells.append("–" if np.isnan(synergy) else f"{synergy:.4f}")
            measured = seen_synergy(n, 30, bins)
            share = (
                "–" if np.isnan(measured) else f"{seen_share(n, 30, bins, measured, n_tables):.0%}"
            )
            rows.append([f"{bins} × {bins}", f"{n:,}", *cells, share])
    return rows


def main() -> None:
    options = options_of(__doc__ or "").parse_args()
    limit = popcount_limit()
    print(f"an AND and popcount of 64 rows: {limit:.4f} ns", flush=True)
    shapes = QUICK_SHAPES if options.quick else SHAPES
    times = markdown(TIMES_HEADER, [time_row(n, D, limit) for n, D in shapes])
    print(times, flush=True)
    header = ["pattern", "rows", *(f"{D} columns" for D in COLUMNS), "seen, 30 columns"]
    power = markdown(header, power_rows(10 if options.quick else 200))
    print(power)
    if options.write:
        write_table("development/interactions.md", "times", times)
        write_table("development/interactions.md", "power", power)


if __name__ == "__main__":
    main()

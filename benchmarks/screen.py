"""How long the screen for interactions takes, beside a fit of JMI and the limit of the processor.

python benchmarks/screen.py

The limit is the time of one AND and popcount for each pair of levels but one of each column and 64
rows. It is measured by the kernel itself on columns of two levels and many rows, where nothing else
takes time.
"""

import os
import time

import numpy as np

from hocmim import JMI, RobustHOCMIM, _native

K = 50
SHAPES = [(2000, 1000), (20_000, 500), (2000, 5000), (2000, 20_000)]


def shortest(function, n=3):
    times = []
    for _ in range(n):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def popcount_limit():
    """Nanoseconds of one AND and popcount of 64 rows, on one thread."""
    rng = np.random.default_rng(0)
    n, D = 1 << 18, 64
    X = rng.integers(0, 2, (D, n), np.uint8)
    order, sizes = np.arange(n, dtype=np.uint32), [n // 2, n // 2]
    kernel = _native.InteractionScreen([2] * D, order, sizes, 2, 1)
    kernel.set(0, X)
    none = np.full((4, 4), np.inf)
    seconds = shortest(lambda: kernel.search(0, kernel.n_groups, none, 1))
    n_groups = D // 8
    n_pairs = sum(8 * (g + 1) * 8 for g in range(n_groups))  # a group is counted with itself
    return seconds * 1e9 / n_pairs / (n / 64)


def main():
    limit, n_threads = popcount_limit(), len(os.sched_getaffinity(0))
    print(f"an AND and popcount of 64 rows: {limit:.3f} ns\n")
    print("| rows | columns | JMI | interactions=False | interactions='auto' | screen / JMI "
          "| ns per pair and 64 rows, thread | limit |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for n, D in SHAPES:
        rng = np.random.default_rng(1)
        X = rng.normal(size=(n, D))
        y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
        jmi = shortest(lambda X=X, y=y: JMI(K).fit(X, y))
        off = shortest(lambda X=X, y=y: RobustHOCMIM(K, interactions=False).fit(X, y))
        selector = RobustHOCMIM(K, interactions="auto")
        on = shortest(lambda X=X, y=y, selector=selector: selector.fit(X, y))
        screen = on - off
        levels = 5 if D <= 2500 else 3
        per_pair = screen * 1e9 * n_threads / (D * (D - 1) / 2) / (n / 64)
        note = " ".join(selector.selection_.notes)
        times = f"{jmi:.3f} s | {off:.3f} s | {on:.3f} s | {screen / jmi:.1f}"
        by_pair = f"{per_pair:.2f} | {limit * (levels - 1) ** 2:.2f}"
        print(f"| {n} | {D} | {times} | {by_pair} | {note}", flush=True)


if __name__ == "__main__":
    main()

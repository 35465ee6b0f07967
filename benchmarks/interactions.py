"""How often chance alone gives an interaction of selected features: pairs without any.

python benchmarks/interactions.py
"""

from itertools import combinations

import numpy as np

from hocmim.coding.codes import Column
from hocmim.insight.synergy import SUPPORT, Pairs

N_TABLES = 60
ALPHA = 0.05
N_COLUMNS = 6


def make(kind, n, k, n_classes, rng):
    """Return columns and a target without interactions."""
    y = rng.integers(0, n_classes, n)
    columns = [rng.integers(0, k, n) for _ in range(N_COLUMNS)]
    if kind == "related":
        base = rng.integers(0, k, n)
        columns = [np.where(rng.random(n) < 0.7, base, c) for c in columns]
    elif kind == "one informative":
        columns[0] = np.where(rng.random(n) < 0.5, y % k, columns[0])
    return [Column(c.astype(np.uint8), k) for c in columns], Column(y.astype(np.uint8), n_classes)


def main():
    rng = np.random.default_rng(0)
    n_beyond = n_all = 0
    both = list(combinations(range(N_COLUMNS), 2))
    sizes = ((100, 2, 2), (100, 3, 2), (300, 5, 2), (1000, 5, 3), (3000, 5, 4))
    for kind in ("unrelated", "related", "one informative"):
        for n, k, n_classes in sizes:
            beyond = 0
            for _ in range(N_TABLES):
                pairs = Pairs(*make(kind, n, k, n_classes, rng))
                found = (pairs.measure(i, j, ALPHA / len(both)) for i, j in both)
                beyond += any(abs(v) > noise and rows >= SUPPORT for v, noise, rows in found)
            n_beyond, n_all = n_beyond + beyond, n_all + N_TABLES
            print(f"{kind:16} {n:5} rows {k} levels: {beyond} of {N_TABLES}", flush=True)
    print(f"{n_beyond} of {n_all} tables have an interaction beyond chance")


if __name__ == "__main__":
    main()

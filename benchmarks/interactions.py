"""How often chance alone gives an interaction: families of pairs and triples without any.

python benchmarks/interactions.py
"""

from itertools import combinations

import numpy as np

from hocmim.coding.codes import Column
from hocmim.insight.synergy import SUPPORT, Joints, measure

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
    for order in (2, 3):
        sets = list(combinations(range(N_COLUMNS), order))
        for kind in ("unrelated", "related", "one informative"):
            for n, k, n_classes in (
                (100, 2, 2),
                (100, 3, 2),
                (300, 5, 2),
                (1000, 5, 3),
                (3000, 5, 4),
            ):
                beyond = 0
                for _ in range(N_TABLES):
                    joints = Joints(*make(kind, n, k, n_classes, rng))
                    found = (measure(joints, places, ALPHA / len(sets)) for places in sets)
                    beyond += any(abs(v) > noise and n >= SUPPORT * c for v, noise, c in found)
                n_beyond, n_all = n_beyond + beyond, n_all + N_TABLES
                print(
                    f"{order} {kind:16} {n:5} rows {k} levels: {beyond} of {N_TABLES}", flush=True
                )
    print(f"{n_beyond} of {n_all} tables have an interaction beyond chance")


if __name__ == "__main__":
    main()

"""Time of clustering columns.

python benchmarks/clusters.py
"""

import time

import numpy as np

from hocmim import cluster_columns


def main():
    rng = np.random.default_rng(0)
    for n, d, method in ((1000, 3000, "average"), (2000, 8000, "leader")):
        X = rng.normal(size=(n, d))
        began, used = time.perf_counter(), time.process_time()
        found = cluster_columns(X, method=method)
        took, used = time.perf_counter() - began, time.process_time() - used
        print(f"{n} × {d}, {method}: {took:.1f} s, processor {used:.1f} s, {len(found)} clusters")


if __name__ == "__main__":
    main()

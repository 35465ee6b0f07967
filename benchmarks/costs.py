"""Time of a fit with and without costs, and of extending a selection by two columns."""

from __future__ import annotations

import time

import numpy as np

import hocmim

N_ROWS, N_COLUMNS, K = 2000, 1000, 10


def seconds(function: object) -> float:
    """Return the shorter of two runs."""
    found = []
    for _ in range(2):
        began = time.perf_counter()
        function()  # type: ignore[operator]
        found.append(time.perf_counter() - began)
    return min(found)


def main() -> None:
    """Print one line a method."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=N_ROWS) > 0).astype(int)
    for name in ("RobustHOCMIM", "HOCMIM", "JMI", "CMIM", "CMIM3"):
        kind = getattr(hocmim, name)
        plain = seconds(lambda kind=kind: kind(K, n_jobs=1).fit(X, y))
        costed = seconds(lambda kind=kind: kind(K, n_jobs=1, costs=np.ones(N_COLUMNS)).fit(X, y))
        fitted = kind(K, n_jobs=1).fit(X, y)
        began = time.perf_counter()
        fitted.extend(K + 2)
        more = time.perf_counter() - began
        print(f"{name:<13} plain {plain:.2f} s  costs {costed:.2f} s  extend {more:.2f} s")


if __name__ == "__main__":
    main()

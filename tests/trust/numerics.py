"""The largest numerical error of every estimator on large tables, against 50 digits.

``python tests/trust/numerics.py --rows 10000000`` compares entropy, mi and cmi with
``tests/information/precise.py`` on tables of 1,000 rows and more, up to so many. It prints the
largest error of each size, in nats, and fails above what docs/development/kernels.md promises.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "information"))

import extremes


def promised(n: int) -> float:
    """What docs/development/kernels.md promises for n rows, in nats."""
    return max(1e-11, 2 * n * 2.0**-53)


def tables(n: int):
    yield from extremes.copies(n)
    yield from extremes.independent(n)
    yield from extremes.skewed(n, 1, 40 if n > 1_000_000 else 300)
    yield from extremes.alone(n)
    yield from extremes.many_columns(n)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="the largest table")
    given = parser.parse_args(arguments)
    n = 1_000
    while n <= given.rows:
        began = time.monotonic()
        found = list(extremes.errors(tables(n)))
        name, function, estimator, error = max(found, key=lambda one: one[-1])
        print(
            f"{n:,} rows: {len(found)} values, largest error {error:.1e} nats ({function}, "
            f"{estimator}, {name}); {time.monotonic() - began:.0f} s",
            flush=True,
        )
        assert error < promised(n)
        n *= 10


if __name__ == "__main__":
    main()

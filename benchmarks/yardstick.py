"""The two yardsticks: a plain histogram, one increment a sample, and reading memory.

    .venv/bin/python benchmarks/yardstick.py

Both run in C++ on one core (``src/native/yardstick.cpp``), in the same run as what they measure.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from hocmim import _native

INCREMENTS = 40_000_000  # enough for 30 ms
STREAM_BYTES = 256 << 20  # beyond any cache


def histogram_ns(matrix: NDArray[np.uint8], y: NDArray[np.uint8]) -> float:
    """Nanoseconds a sample of counting columns of this table against (another column, y).

    The smallest of five goes: what the machine can do when nothing else disturbs it.
    """
    n_columns = max(1, min(len(matrix), INCREMENTS // 4 // matrix.shape[1]))
    columns = np.ascontiguousarray(matrix[:n_columns])
    wy = (matrix[-1] * (int(y.max()) + 1) + y).astype(np.uint8)
    repeats = max(1, INCREMENTS // columns.size)
    return min(_native.histogram_yardstick(columns, wy, repeats) for _ in range(5))


def stream_bytes(n_threads: int = 1) -> float:
    """Bytes a second that so many cores read together: the largest of three goes."""
    parts = np.array_split(np.ones(STREAM_BYTES // 8, np.uint64), n_threads)
    with ThreadPoolExecutor(n_threads) as pool:
        return max(
            sum(pool.map(lambda part: _native.stream_yardstick(part, 4), parts)) for _ in range(3)
        )


def main() -> None:
    from tables import SIZES, classes, code_matrix

    for name in "ABD":
        spec = SIZES[name]
        print(f"{name}: {histogram_ns(code_matrix(spec), classes(spec)):.3f} ns an increment")
    for n_threads in (1, 2):
        print(f"{n_threads} core(s): {stream_bytes(n_threads) / 1e9:.1f} GB/s")


if __name__ == "__main__":
    main()

"""The two yardsticks: a plain histogram, one increment a sample, and reading memory.

    .venv/bin/python benchmarks/yardstick.py

Both run in C++ on one core (``benchmarks/yardstick.cpp``), in the same run as what they measure.
The system compiler makes a shared library of it on first use, in the folder of temporary files.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SOURCE = Path(__file__).with_suffix(".cpp")
INCREMENTS = 40_000_000  # enough for 30 ms
STREAM_BYTES = 256 << 20  # beyond any cache


@cache
def library() -> ctypes.CDLL:
    """The compiled yardsticks."""
    compiler = os.environ.get("CXX", "c++")
    version = hashlib.sha256(SOURCE.read_bytes() + compiler.encode()).hexdigest()[:16]
    target = Path(tempfile.gettempdir()) / f"hocmim-yardstick-{os.getuid()}-{version}.so"
    if not target.exists():
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder) / "yardstick.so"
            options = ["-O3", "-std=c++17", "-shared", "-fPIC"]
            subprocess.run([compiler, *options, str(SOURCE), "-o", str(made)], check=True)
            partial = target.with_suffix(f".{os.getpid()}")
            partial.write_bytes(made.read_bytes())
            partial.replace(target)
    found = ctypes.CDLL(str(target))
    for name in ("histogram_ns_8", "histogram_ns_16"):
        function = getattr(found, name)
        function.restype = ctypes.c_double
        function.argtypes = [
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int64,
        ]
    found.stream_bytes_per_second.restype = ctypes.c_double
    found.stream_bytes_per_second.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64]
    return found


def count_once(x: NDArray[np.uint8], wy: NDArray[np.uint8 | np.uint16], repeats: int) -> float:
    """Nanoseconds an increment of a plain histogram of (x,wy), one row of x at a time."""
    x, wy = np.ascontiguousarray(x, np.uint8), np.ascontiguousarray(wy)
    if x.ndim != 2 or x.shape[1] != len(wy) or x.size == 0 or repeats < 1:
        raise ValueError("x and wy do not fit together")
    count = {1: library().histogram_ns_8, 2: library().histogram_ns_16}[wy.itemsize]
    return count(x.ctypes.data, len(x), wy.ctypes.data, len(wy), repeats)


def read_once(words: NDArray[np.uint64], repeats: int) -> float:
    """Bytes a second read from memory on one core."""
    words = np.ascontiguousarray(words, np.uint64)
    if words.size == 0 or repeats < 1:
        raise ValueError("words must not be empty, and repeats must be at least 1")
    return library().stream_bytes_per_second(words.ctypes.data, words.size, repeats)


def histogram_ns(matrix: NDArray[np.uint8], y: NDArray[np.uint8]) -> float:
    """Nanoseconds a sample of counting columns of this table against (another column, y).

    The smallest of five goes: what the machine can do when nothing else disturbs it.
    """
    n_columns = max(1, min(len(matrix), INCREMENTS // 4 // matrix.shape[1]))
    columns = np.ascontiguousarray(matrix[:n_columns])
    wy = (matrix[-1] * (int(y.max()) + 1) + y).astype(np.uint8)
    repeats = max(1, INCREMENTS // columns.size)
    return min(count_once(columns, wy, repeats) for _ in range(5))


def stream_bytes(n_threads: int = 1) -> float:
    """Bytes a second that so many cores read together: the largest of three goes."""
    parts = np.array_split(np.ones(STREAM_BYTES // 8, np.uint64), n_threads)
    with ThreadPoolExecutor(n_threads) as pool:
        return max(sum(pool.map(lambda part: read_once(part, 4), parts)) for _ in range(3))


def main() -> None:
    from tables import SIZES, classes, code_matrix

    for name in "ABD":
        spec = SIZES[name]
        print(f"{name}: {histogram_ns(code_matrix(spec), classes(spec)):.3f} ns an increment")
    for n_threads in (1, 2):
        print(f"{n_threads} core(s): {stream_bytes(n_threads) / 1e9:.1f} GB/s")


if __name__ == "__main__":
    main()

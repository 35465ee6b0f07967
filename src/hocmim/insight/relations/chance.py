"""How much information two columns share by chance: the mean over all permutations.

It depends only on how many rows each level of the two columns has:

    E[I] = Σ_ij f(a_i, b_j),   f(a, b) = {E[c ln c] − (ab/N) ln(ab/N)} / N

c is the number of rows with level i and level j; it is hypergeometric. So f is tabulated over the
counts that occur, and columns with the same counts have the same values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from hocmim.information.counting import Values
from hocmim.search.moments import mean_c_log_c

Counts = NDArray[np.int64]

# With more distinct counts than this, counts above SMALL_COUNT are rounded to a grid.
MAX_DISTINCT = 256
SMALL_COUNT = 32
GRID_STEP = 1.05
# From this mean on, E[c ln c] is its series: the first term left out is below 0.02 % of the sum.
SERIES_MEAN = 100.0

# Means are kept for columns with the same counts, up to this many (64 MiB).
MAX_KEPT_MEANS = 1 << 23


class Chance:
    """The mean information of pairs of columns if the rows of one are permuted.

    Parameters
    ----------
    counts : sequence of ndarray of int64
        For each column, how many rows have each of its levels; levels without rows may be left out.

    Notes
    -----
    Exact up to ``MAX_DISTINCT`` different counts, with a series where ab/N is at least 100. With
    more, counts above 32 are rounded by at most 2.5 %, which changes E[I] by about as much.
    """

    def __init__(self, counts: Sequence[Counts]) -> None:
        sorted_counts = [np.sort(each[each > 0]) for each in counts]
        self._n = float(sorted_counts[0].sum()) if sorted_counts else 0.0
        classes: dict[bytes, int] = {}
        self.class_of = np.array(
            [classes.setdefault(each.tobytes(), len(classes)) for each in sorted_counts], np.int64
        )
        kinds = [np.frombuffer(key, np.int64) for key in classes]
        flat = np.concatenate(kinds) if kinds else np.empty(0, np.int64)
        if len(np.unique(flat)) > MAX_DISTINCT:
            flat = _on_grid(flat)
        self._distinct, column = np.unique(flat, return_inverse=True)
        row = np.repeat(np.arange(len(kinds)), [len(kind) for kind in kinds])
        # How many levels of each class of columns have each of the distinct counts.
        shape = (len(kinds), len(self._distinct))
        self._levels = sparse.csr_array((np.ones(len(flat)), (row, column)), shape=shape)
        self._rows: dict[int, Values] = {}
        self._means: dict[int, Values] = {}

    def mean(self, j: int) -> Values:
        """Return E[I] of column j with every column."""
        of_class = int(self.class_of[j])
        if of_class not in self._means:
            first, last = self._levels.indptr[of_class : of_class + 2]
            total = np.zeros(len(self._distinct))
            for which, times in zip(
                self._levels.indices[first:last].tolist(),
                self._levels.data[first:last].tolist(),
                strict=True,
            ):
                total += times * self._row(which)
            if len(self._means) * self._levels.shape[0] >= MAX_KEPT_MEANS:
                self._means.clear()
            self._means[of_class] = self._levels @ total
        return self._means[of_class][self.class_of]

    def _row(self, which: int) -> Values:
        """Return f(a, b) of one distinct count with all of them."""
        if which not in self._rows:
            a = np.full(len(self._distinct), self._distinct[which])
            self._rows[which] = _mean_of_cell(a, self._distinct, self._n)
        return self._rows[which]


def _on_grid(counts: Counts) -> Counts:
    """Round counts above SMALL_COUNT to the nearest power of GRID_STEP times it."""
    steps = np.rint(np.log(np.maximum(counts, SMALL_COUNT) / SMALL_COUNT) / np.log(GRID_STEP))
    rounded = np.rint(SMALL_COUNT * GRID_STEP**steps).astype(np.int64)
    return np.where(counts > SMALL_COUNT, rounded, counts)


def _mean_of_cell(a: Counts, b: Counts, n: float) -> Values:
    """Return f(a, b): see the formula above."""
    first, second = (np.minimum(counts, n).astype(np.float64) for counts in (a, b))
    mean = first * second / n
    variance = mean * (1 - first / n) * (1 - second / n) * n / max(n - 1, 1)
    third = variance * (1 - 2 * first / n) * (1 - 2 * second / n)
    found = variance / (2 * mean) - third / (6 * mean**2) + 3 * variance**2 / (12 * mean**3)
    small = mean < SERIES_MEAN
    if small.any():
        tables = np.column_stack([first, second, np.full(len(first), n)])[small].astype(np.int64)
        found[small] = mean_c_log_c(*tables.T) - special.xlogy(mean[small], mean[small])
    return found / n

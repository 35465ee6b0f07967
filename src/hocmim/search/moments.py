"""Moments of statistics of contingency tables over all permutations of a column.

X is permuted among the samples of each cell of Z; then the counts of its levels in each cell, and
those of Y, stay the same.

References
----------
Dawson: A simplified expression for the variance of the χ²-function on a contingency table.
Biometrika 41, 1954.
Vinh, Epps, Bailey: Information theoretic measures for clusterings comparison: variants, properties,
normalization and correction for chance. JMLR 11, 2010 (E[G]).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from hocmim.information.counting import Values


@dataclass(frozen=True)
class Margins:
    """Counts that permutations do not change: in each cell of Z, of samples and of each x and y.

    ``a[i]`` of the samples in cell ``z_of_x[i]`` have the i-th level; ``b`` and ``z_of_y`` are the
    same for y. ``k_x`` and ``k_y`` count the levels in each cell.
    """

    n: NDArray[np.int64]
    a: NDArray[np.int64]
    z_of_x: NDArray[np.int64]
    k_x: NDArray[np.int64]
    b: NDArray[np.int64]
    z_of_y: NDArray[np.int64]
    k_y: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        x: NDArray[Any],
        y: NDArray[Any],
        z: NDArray[np.uint32],
        starts: NDArray[np.int64],
    ) -> Margins:
        """Count the samples of each cell and level; z is sorted, and cell c begins at starts[c]."""
        n = np.diff(starts)
        return cls(n, *_margin(z, x, len(n)), *_margin(z, y, len(n)))


def mean_of_g(margins: Margins) -> float:
    """Return E[G] = 2 Σ_z {Σ_xy E[c ln c] − Σ_x a ln a − Σ_y b ln b + n ln n}.

    The mean is over all permutations. c is the count of (x, y) among the n samples of a cell, of
    which a have x and b have y; it is hypergeometric.
    """
    # All pairs of a level x and a level y of the same cell.
    n_pairs = margins.k_y[margins.z_of_x]
    first_y = (np.cumsum(margins.k_y) - margins.k_y)[margins.z_of_x]
    with_y = _ranges(first_y, n_pairs)
    a, n = np.repeat(margins.a, n_pairs), np.repeat(margins.n[margins.z_of_x], n_pairs)
    tables = np.column_stack([a, margins.b[with_y], n])
    distinct, times = np.unique(tables, axis=0, return_counts=True)
    total = float(times @ mean_c_log_c(*distinct.T))
    for counts, sign in ((margins.a, -1), (margins.b, -1), (margins.n, 1)):
        total += sign * float(special.xlogy(counts, counts).sum())
    return 2 * total


def moments_of_pearson(margins: Margins) -> tuple[float, float]:
    """Return mean and variance of Pearson's χ² over all permutations, summed over the cells."""
    n = margins.n.astype(np.float64)
    mean = n / (n - 1) * (margins.k_x - 1) * (margins.k_y - 1)
    v_x, w_x = _dawson_terms(n, margins.k_x, margins.a, margins.z_of_x)
    v_y, w_y = _dawson_terms(n, margins.k_y, margins.b, margins.z_of_y)
    # In cells of 2 samples χ² is constant; in cells of 3, v = w.
    spread = np.where(n > 3, 2 * n / np.maximum(n - 3, 1) * (v_x - w_x) * (v_y - w_y), 0.0)
    variance = np.where(n > 2, spread + n**2 / (n - 1) * w_x * w_y, 0.0)
    return float(mean.sum()), float(variance.sum())


def moments_of_g(margins: Margins, df: float) -> tuple[float, float]:
    """Return mean and variance of G over all permutations, the variance by that of Pearson's χ²."""
    mean, (pearson, spread) = mean_of_g(margins), moments_of_pearson(margins)
    return mean, mean**2 * min(2 / df, spread / pearson**2)


def table_probability(
    margins: Margins, x: NDArray[Any], y: NDArray[Any], z: NDArray[np.uint32]
) -> float:
    """Return the share of the permutations that give the table of x, y and z."""
    pairs = x.astype(np.int64) * (int(y.max(initial=0)) + 1) + y
    cells, _, _ = _margin(z, pairs, len(margins.n))
    return share_of_permutations(margins.a, margins.b, margins.n, cells)


def share_of_permutations(
    a: NDArray[np.int64], b: NDArray[np.int64], n: ArrayLike, cells: NDArray[np.int64]
) -> float:
    """Π_z Π_x a! Π_y b! / (n! Π_xy c!): the multivariate hypergeometric distribution."""
    parts = ((a, 1), (b, 1), (np.asarray(n), -1), (cells, -1))
    return float(np.exp(sum(sign * special.gammaln(c + 1.0).sum() for c, sign in parts)))


def _dawson_terms(
    n: Values, k: NDArray[np.int64], counts: NDArray[np.int64], z: NDArray[np.int64]
) -> tuple[Values, Values]:
    """Return the terms v = (k−1)(n−k)/(n−1) and w = (Σ n/count − k²)/(n−2) of each cell."""
    inverse = np.bincount(z, weights=n[z] / counts, minlength=len(n))
    return (k - 1) * (n - k) / (n - 1), (inverse - k**2) / np.maximum(n - 2, 1)


def mean_c_log_c(a: NDArray[np.int64], b: NDArray[np.int64], n: NDArray[np.int64]) -> Values:
    """Return E[c ln c] of c ~ Hypergeometric(n, a, b), within 12 standard deviations."""
    mean = a * b / n
    spread = 12 * np.sqrt(mean * (1 - a / n) * (1 - b / n) * n / np.maximum(n - 1, 1)) + 12
    low = np.maximum(np.maximum(0, a + b - n), np.floor(mean - spread)).astype(np.int64)
    high = np.minimum(np.minimum(a, b), np.ceil(mean + spread)).astype(np.int64)
    sizes = high - low + 1
    first = np.cumsum(sizes) - sizes
    c = _ranges(low, sizes)
    a, b, n = (np.repeat(values, sizes) for values in (a, b, n))
    weight = np.exp(_log_choose(a, c) + _log_choose(n - a, b - c) - _log_choose(n, b))
    return np.add.reduceat(weight * special.xlogy(c, c), first) / np.add.reduceat(weight, first)


def _log_choose(n: NDArray[np.int64], k: NDArray[np.int64]) -> Values:
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)


def _margin(
    z: NDArray[np.uint32], codes: NDArray[Any], n_cells: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the count of each pair (z, code), its z, and the number of pairs of each z."""
    n_codes = int(codes.max(initial=0)) + 1
    found, counts = np.unique(z.astype(np.int64) * n_codes + codes, return_counts=True)
    cell = found // n_codes
    return counts, cell, np.bincount(cell, minlength=n_cells)


def _ranges(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return starts[i], starts[i] + 1, … (sizes[i] numbers) for each i, concatenated."""
    first = np.cumsum(sizes) - sizes
    return np.arange(int(sizes.sum())) - np.repeat(first - starts, sizes)

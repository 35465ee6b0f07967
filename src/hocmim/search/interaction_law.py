"""How often chance alone gives an interaction G: the law for small samples and dependent columns.

G = 2N T, T = Σ_{B ⊆ A} (−1)^{|A|−|B|} I(B;Y) for a set A of two or three columns. T is symmetric in
all its variables, the columns and the target. There is no interaction if one of them, V, is
independent of all others together. For each V, the law of G under this hypothesis is

    G ~ s Σ_k λ_k χ²(v − 1) + a normal variable of variance 4N max(0, Var t − max(G, κ)/N)

v counts the levels of V. λ_k are the eigenvalues of M = Σ_B (−1)^{|A|−|B|} P_B, where P_B averages
a function of the other variables over the cells of the subset B of them. If these are independent
of each other, Π (a − 1) eigenvalues are 1 and the others 0: the χ² law. If two of them depend on
each other (correlated columns, or a column with a main effect on the target), others are ± their
canonical correlations, and G varies more than that χ².

s gives G the mean that it has over all permutations of V, from the sum of E[2N Î] of its terms. In
small cells it differs from the degrees of freedom. Each term is exact if an expected count is below
``FEW``, and otherwise Williams' expansion (a−1)(b−1) + (Σ N/n_i − 1)(Σ N/n_j − 1)/6N.

The normal variable is for columns that all depend on each other: then the mean of G may be 0 or
less and its standard deviation of the order √N. t is the term of a row in T. Of its variance, κ/N
with κ = (v − 1) Σ λ² belongs to the χ² part, and G/N is what an interaction brings with it.

The tail P(G ≥ g) is that of the saddlepoint approximation (Lugannani and Rice), which is accurate
where p-values are tiny. It is at least the probability of the observed table over all permutations
of V. The p-value is the largest for any V: all hypotheses have to be rejected.

References
----------
Kuonen: Saddlepoint approximations for distributions of quadratic forms in normal variables.
Biometrika 86, 1999.
Williams: Improved likelihood ratio tests for complete contingency tables. Biometrika 63, 1976.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hocmim.information.counting import Values

Counts = NDArray[np.int64]

# Expected counts from which on the expansion of the mean is accurate.
FEW = 10


def interaction_p_value(table: Counts, g: float) -> float:
    """Return the p-value of G = g, of a table of counts with an axis for each variable."""
    _, variance = interaction_information(table)
    return max(_tail_without(table, axis, g, variance) for axis in range(table.ndim))


def interaction_information(table: Counts) -> tuple[float, float]:
    """Return T of a table, in nats, and the variance of the term t of a row."""
    n = table.sum()
    occupied = table > 0
    t = np.zeros(table.shape)
    # T is symmetric: Σ over all subsets of the variables of ± log of the share of the cell.
    for axes in _subsets(range(table.ndim)):
        rest = tuple(k for k in range(table.ndim) if k not in axes)
        share = table.sum(axis=rest, keepdims=True) / n if rest else table / n
        sign = -1.0 if (table.ndim - len(axes)) % 2 else 1.0
        t = t + sign * np.log(np.where(share > 0, share, 1.0))
    p, t = table[occupied] / n, t[occupied]
    mean = float(p @ t)
    return mean, float(p @ (t - mean) ** 2)


def _tail_without(table: Counts, axis: int, g: float, variance: float) -> float:
    """Return P(G ≥ g) if the variable of this axis is independent of all others.

    ``variance`` is that of the term of a row.
    """
    counts = np.moveaxis(table, axis, -1)
    v = counts.sum(axis=tuple(range(counts.ndim - 1)))
    others = counts.sum(axis=-1)
    v = v[v > 0]
    eigenvalues = _eigenvalues(others)
    df = (len(v) - 1) * eigenvalues.sum()
    kappa = (len(v) - 1) * float(eigenvalues @ eigenvalues)
    n = int(v.sum())
    linear = 4 * n * max(0.0, variance - max(g, kappa) / n)
    scale = 1.0
    if df > 0.5:
        scale = max(0.1, _mean(others, v) / df)
    tail = _saddlepoint_tail(g, scale * eigenvalues, len(v) - 1, linear)
    return max(tail, _table_probability(table, others, v))


def _eigenvalues(counts: Counts) -> Values:
    """Return the eigenvalues of M = Σ_B (−1)^{|A|−|B|} P_B that are not 0."""
    return _of_two(counts) if counts.ndim == 2 else _of_several(counts)


def _of_two(counts: Counts) -> Values:
    """Return them for two variables: ± the canonical correlations ρ, and otherwise 1.

    Where ρ = 1, a function of one variable is a function of the other: −1 instead.
    """
    root = np.sqrt(np.outer(counts.sum(axis=1), counts.sum(axis=0)))
    found = np.linalg.svd(counts / np.maximum(root, 1.0), compute_uv=False)[1:]  # without constants
    n_equal = int((found > 1 - 1e-9).sum())
    between = found[(found > 1e-9) & (found <= 1 - 1e-9)]
    n_seen = np.count_nonzero(counts.any(axis=1)) + np.count_nonzero(counts.any(axis=0))
    n_ones = np.count_nonzero(counts) - (n_seen - 1) + n_equal
    return np.concatenate([np.ones(n_ones), between, -between, -np.ones(n_equal)])


def _of_several(counts: Counts) -> Values:
    """Return them from the matrix itself."""
    cells = np.argwhere(counts > 0)
    root = np.sqrt(counts[counts > 0].astype(np.float64))
    size = counts.ndim
    total = np.zeros((len(cells), len(cells)))
    for axes in _subsets(range(size)):
        part = np.ravel_multi_index(
            tuple(cells[:, k] for k in axes), tuple(counts.shape[k] for k in axes)
        )
        weight = np.bincount(part, weights=root**2)[part]
        is_same = part[:, None] == part[None, :]
        sign = -1.0 if (size - len(axes)) % 2 else 1.0
        total += sign * is_same * (root[:, None] * root[None, :]) / weight[:, None]
    # P of no variables, the mean: its sign makes the eigenvalue of constants 0.
    total += (-1.0) ** size * np.outer(root, root) / (root @ root)
    found = np.linalg.eigvalsh((total + total.T) / 2)
    return found[np.abs(found) > 1e-9]


def _mean(others: Counts, v: Counts) -> float:
    """Return E[G] over all permutations of V, from its counts and those of the other variables."""
    total = 0.0
    for axes in _subsets(range(others.ndim)):
        rest = tuple(k for k in range(others.ndim) if k not in axes)
        cells = others.sum(axis=rest).ravel() if rest else others.ravel()
        sign = -1.0 if (others.ndim - len(axes)) % 2 else 1.0
        total += sign * _mean_of_two(cells[cells > 0].tobytes(), v.tobytes())
    return total


@lru_cache(4096)  # columns that were cut into bins of equal frequency have the same counts
def _mean_of_two(counts_u: bytes, counts_v: bytes) -> float:
    """Return E[2N Î(U;V)] over all permutations, from the counts of the two variables."""
    u, v = (np.frombuffer(counts, np.int64) for counts in (counts_u, counts_v))
    n = int(v.sum())
    if u.min() * v.min() >= FEW * n:
        spread = ((n / u).sum() - 1) * ((n / v).sum() - 1)
        return float((len(u) - 1) * (len(v) - 1) + spread / (6 * n))
    (a, times_a), (b, times_b) = (np.unique(side, return_counts=True) for side in (u, v))
    a, b = (side.ravel() for side in np.broadcast_arrays(a[:, None], b[None, :]))
    total = np.outer(times_a, times_b).ravel() @ _mean_c_log_c(a, b, n)
    total += n * np.log(n) - special.xlogy(u, u).sum() - special.xlogy(v, v).sum()
    return float(2 * total)


def _mean_c_log_c(a: Counts, b: Counts, n: int) -> Values:
    """Return E[c ln c] of c ~ Hypergeometric(n, a, b), within 10 standard deviations and 20."""
    mean = a * b / n
    spread = 20 + 10 * np.sqrt(mean * (1 - a / n) * (1 - b / n) * n / max(n - 1, 1))
    low = np.maximum(np.maximum(0, a + b - n), np.floor(mean - spread)).astype(np.int64)
    high = np.minimum(np.minimum(a, b), np.ceil(mean + spread)).astype(np.int64)
    c = low[:, None] + np.arange(int((high - low).max()) + 1)
    a, b = a[:, None], b[:, None]
    is_possible = c <= high[:, None]
    c = np.minimum(c, high[:, None])
    f = _log_factorial(n)
    weight = np.where(is_possible, np.exp(f(a) - f(c) - f(a - c) - f(b - c) - f(n - a - b + c)
                                          + f(n - a) + f(b) + f(n - b) - f(n)), 0.0)  # fmt: skip
    return (weight * special.xlogy(c, c)).sum(axis=1) / weight.sum(axis=1)


@lru_cache(4)
def _log_factorial(n: int) -> Callable[[Any], Any]:
    """Return a function of counts up to n: a table, which is faster, unless n is large."""
    if n > 1 << 20:
        return lambda count: special.gammaln(count + 1.0)
    return special.gammaln(np.arange(1.0, n + 2)).__getitem__


def _table_probability(table: Counts, others: Counts, v: Counts) -> float:
    """Return the share of the permutations of V that give this table."""
    parts = ((others, 1), (v, 1), (table, -1), (v.sum(), -1))
    return float(np.exp(sum(sign * special.gammaln(c + 1.0).sum() for c, sign in parts)))


def _saddlepoint_tail(g: float, weights: Values, df: int, linear: float) -> float:
    """Return P(Σ w χ²(df) + Z ≥ g), Z normal of this variance; 1 up to the mean."""
    mean = df * weights.sum()
    if g <= mean or df == 0 or not len(weights):
        return 1.0
    largest = max(0.0, float(weights.max()))
    if largest == 0 and linear == 0:
        return 0.0
    # The saddlepoint t: the slope of the cumulant generating function is g. Newton's method on an
    # interval that gets smaller; the slope grows with t, up to infinity at 1 / (2 max w).
    low, high = 0.0, 1 / (2 * largest) if largest > 0 else np.inf
    t = min((g - mean) / (2 * df * float(weights @ weights) + linear), 0.5 * high)
    for _ in range(100):
        rest = 1 - 2 * t * weights
        off = df * float((weights / rest).sum()) + linear * t - g
        low, high = (t, high) if off < 0 else (low, t)
        step = off / (2 * df * float(((weights / rest) ** 2).sum()) + linear)
        if abs(step) <= 1e-12 * t:
            break
        t = t - step if low < t - step < high else (low + high) / 2
    rest = 1 - 2 * t * weights
    value = -0.5 * df * float(np.log(rest).sum()) + linear * t * t / 2
    curvature = 2 * df * float(((weights / rest) ** 2).sum()) + linear
    w, u = np.sqrt(max(2 * (t * g - value), 0.0)), t * np.sqrt(curvature)
    if w < 1e-4:
        return 0.5
    density = np.exp(-w * w / 2) / np.sqrt(2 * np.pi)
    return float(max(special.ndtr(-w) + density * (1 / u - 1 / w), 0.0))


def _subsets(axes: Any) -> Iterator[tuple[int, ...]]:
    """Return the subsets of these axes that are not empty."""
    axes = list(axes)
    return chain.from_iterable(combinations(axes, size) for size in range(1, len(axes) + 1))

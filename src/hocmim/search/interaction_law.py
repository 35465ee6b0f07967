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
small cells it differs from the degrees of freedom. Each cell adds E[c ln c] of its count c: exact
if its mean is below ``FEW``, and otherwise by the first four moments of c.

The eigenvalues of three variables take the cube of their cells. Beyond ``MOST_CELLS`` cells the law
has the eigenvalues 1 and −1 only, as often as Σ λ and Σ λ² need, which sums over the cells give.
No table that was tried has an eigenvalue above 1: with its variance this law has the longest tail.

The normal variable is for columns that all depend on each other: then the mean of G may be 0 or
less and its standard deviation of the order √N. t is the term of a row in T. Of its variance, κ/N
with κ = (v − 1) Σ λ² belongs to the χ² part, and G/N is what an interaction brings with it.

The tail P(G ≥ g) is that of the saddlepoint approximation (Lugannani and Rice), which is accurate
where p-values are tiny. It is at least the probability of the observed table over all permutations
of V. The p-value is the largest for any V: all hypotheses have to be rejected. The target, which
has the smallest law, comes first, and where it is not rejected the others are not looked at.

References
----------
Kuonen: Saddlepoint approximations for distributions of quadratic forms in normal variables.
Biometrika 86, 1999.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hocmim.information.counting import Values

Counts = NDArray[np.int64]

# Expected counts from which on the moments of a count give the mean of c ln c.
FEW = 10
# A count whose mean is below ``FEW`` is below this, but for a probability of 1e-20.
BEYOND_FEW = 64
# Cells of three variables up to which their eigenvalues are found, in about 2 ms.
MOST_CELLS = 256
# Elements of the matrices that are made at once.
MOST_VALUES = 1 << 20


def interaction_p_values(tables: Counts, g: Values, most: float = 1.0) -> Values:
    """Return the p-values of some sets of columns.

    ``tables`` has the counts of each set, with an axis for each of its variables, the class last;
    all have as many rows. ``most`` is the largest p-value that matters: one above it may be too
    small, but is above it.
    """
    _, variance = interaction_information(tables)
    target = tables.ndim - 1
    p_values = _largest_p_values(tables, g, variance, [target])
    rest = np.flatnonzero(p_values <= most)
    if len(rest):
        others = _largest_p_values(tables[rest], g[rest], variance[rest], range(1, target))
        p_values[rest] = np.maximum(p_values[rest], others)
    return p_values


def _largest_p_values(tables: Counts, g: Values, variance: Values, axes: Sequence[int]) -> Values:
    """Return the largest p-values for the variables of these axes."""
    laws = [_law_without(tables, axis, g, variance) for axis in axes]
    weights, times = _stacked([law.weights for law in laws]), _stacked([law.times for law in laws])
    linear = np.hstack([law.linear for law in laws])
    tails = _saddlepoint_tail(np.tile(g, len(laws)), weights, times, linear)
    least = np.hstack([law.least for law in laws])
    return np.asarray(np.maximum(tails, least).reshape(len(laws), -1).max(axis=0))


def interaction_information(tables: Counts) -> tuple[Values, Values]:
    """Return T of each table, in nats, and the variance of the term t of a row."""
    p = tables / tables[0].sum()
    t = np.zeros(tables.shape)
    # T is symmetric: Σ over all subsets of the variables of ± log of the share of the cell.
    for sign, rest in _margins(tables.ndim):
        share = p.sum(axis=rest, keepdims=True)
        t += sign * np.log(np.where(share > 0, share, 1.0))
    every = tuple(range(1, tables.ndim))
    mean = (p * t).sum(axis=every, keepdims=True)
    return mean.ravel(), (p * (t - mean) ** 2).sum(axis=every)


def _stacked(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the rows of all parts, filled with 0 where a part has fewer columns."""
    n_rows = [len(part) for part in parts]
    stacked = np.zeros((sum(n_rows), max(part.shape[1] for part in parts)))
    for part, rows in zip(parts, np.split(stacked, np.cumsum(n_rows)[:-1]), strict=True):
        rows[:, : part.shape[1]] = part
    return stacked


class _Law(NamedTuple):
    """The law of G of some sets, Σ w χ²(times) + a normal variable, and the least p-value."""

    weights: Values
    times: Values
    linear: Values
    least: Values


def _law_without(tables: Counts, axis: int, g: Values, variance: Values) -> _Law:
    """Return the law if the variable of this axis is independent of all others.

    ``variance`` is that of the term of a row.
    """
    others = tables.sum(axis=axis)
    v = tables.sum(axis=tuple(k for k in range(1, tables.ndim) if k != axis))
    n = int(v[0].sum())
    eigenvalues, times = _eigenvalues(others)
    times = times * (np.count_nonzero(v, axis=1) - 1)[:, None]
    df, kappa = (times * eigenvalues).sum(axis=1), (times * eigenvalues**2).sum(axis=1)
    linear = 4 * n * np.maximum(0.0, variance - np.maximum(g, kappa) / n)
    is_few = df <= 0.5
    scale = np.maximum(0.1, _mean(others, v) / np.where(is_few, 1.0, df))
    weights = np.where(is_few, 1.0, scale)[:, None] * eigenvalues
    return _Law(weights, times, linear, _table_probability(tables, others, v))


def _eigenvalues(counts: Counts) -> tuple[Values, Values]:
    """Return the eigenvalues of M, and how often each occurs."""
    if counts.ndim == 3:
        return _of_two(counts)
    return _of_several(counts) if counts[0].size <= MOST_CELLS else _of_many_cells(counts)


def _of_two(counts: Counts) -> tuple[Values, Values]:
    """Return the eigenvalues of M for two variables, and how often each occurs.

    They are ± the canonical correlations ρ, and otherwise 1. Where ρ = 1, a function of one
    variable is a function of the other: −1 instead.
    """
    rows, columns = counts.sum(axis=2), counts.sum(axis=1)
    root = np.sqrt(rows[:, :, None] * columns[:, None, :])
    found = np.linalg.svd(counts / np.maximum(root, 1.0), compute_uv=False)[:, 1:]  # not constants
    is_equal = found > 1 - 1e-9
    between = np.where((found > 1e-9) & ~is_equal, found, 0.0)
    n_equal = np.count_nonzero(is_equal, axis=1)
    n_seen = np.count_nonzero(rows, axis=1) + np.count_nonzero(columns, axis=1)
    n_ones = np.count_nonzero(counts, axis=(1, 2)) - (n_seen - 1) + n_equal
    ones = np.ones((len(counts), 1))
    once = np.ones(between.shape)
    return (
        np.hstack([ones, -ones, between, -between]),
        np.hstack([n_ones[:, None], n_equal[:, None], once, once]),
    )


def _of_several(counts: Counts) -> tuple[Values, Values]:
    """Return the eigenvalues of M from the matrix itself, and how often each occurs."""
    shape, n_cells = counts.shape[1:], int(np.prod(counts.shape[1:]))
    cells = np.indices(shape).reshape(len(shape), n_cells)
    n_at_once = max(1, MOST_VALUES // n_cells**2)
    found = np.empty((len(counts), n_cells))
    for start in range(0, len(counts), n_at_once):
        part = counts[start : start + n_at_once]
        # P of no variables, the mean: its sign makes the eigenvalue of constants 0.
        total = np.full((len(part), n_cells, n_cells), (-1.0) ** len(shape) / part[0].sum())
        for sign, rest in _margins(counts.ndim):
            kept = [k for k in range(len(shape)) if k + 1 not in rest]
            is_same = (cells[kept, :, None] == cells[kept, None, :]).all(axis=0)
            weight = np.broadcast_to(part.sum(axis=rest, keepdims=True), part.shape)
            total += sign * is_same / np.maximum(weight, 1).reshape(-1, n_cells, 1)
        root = np.sqrt(part.reshape(-1, n_cells))
        total *= root[:, :, None] * root[:, None, :]
        found[start : start + n_at_once] = np.linalg.eigvalsh(total)
    return np.where(np.abs(found) > 1e-9, found, 0.0), np.ones(found.shape)


def _of_many_cells(counts: Counts) -> tuple[Values, Values]:
    """Return 1 and −1, and how often each has to occur for the Σ λ and Σ λ² of M.

    Σ λ² is a sum over pairs of subsets, tr P_B P_B' = Σ p(b,b')² / (p(b) p(b')).
    """
    every = tuple(range(1, counts.ndim))
    margins = [*_margins(counts.ndim), ((-1.0) ** len(every), every)]
    total, squares = np.zeros(len(counts)), np.zeros(len(counts))
    for sign, rest in margins:
        one = counts.sum(axis=rest, keepdims=True)
        total += sign * np.count_nonzero(one, axis=every)
        for other_sign, other_rest in margins:
            other = counts.sum(axis=other_rest, keepdims=True)
            both = counts.sum(axis=tuple(set(rest) & set(other_rest)), keepdims=True)
            terms = (both / np.maximum(one, 1)) * (both / np.maximum(other, 1))
            squares += sign * other_sign * terms.sum(axis=every)
    times = np.column_stack([squares + total, squares - total]) / 2
    return np.tile([1.0, -1.0], (len(counts), 1)), np.maximum(times, 0.0)


def _mean(others: Counts, v: Counts) -> Values:
    """Return E[G] over all permutations of V, from its counts and those of the other variables.

    G is an alternating sum of 2N Î(U;V), each of which is 2 Σ c ln c − 2 Σ u ln u + terms of V.
    """
    n = int(v[0].sum())
    margins = [
        (sign, others.sum(axis=rest).reshape(len(v), -1)) for sign, rest in _margins(others.ndim)
    ]
    u = np.hstack([counts for _, counts in margins])
    signs = np.repeat([sign for sign, _ in margins], [counts.shape[1] for _, counts in margins])
    both, where = np.unique(u[:, :, None] * (n + 1) + v[:, None, :], return_inverse=True)
    c_log_c = _mean_c_log_c(both // (n + 1), both % (n + 1), n)[where].reshape(*u.shape, -1)
    total = (c_log_c.sum(axis=2) - special.xlogy(u, u)) @ signs
    total += sum(sign for sign, _ in margins) * (n * np.log(n) - special.xlogy(v, v).sum(axis=1))
    return np.asarray(2 * total)


def _mean_c_log_c(a: Counts, b: Counts, n: int) -> Values:
    """Return E[c ln c] of c ~ Hypergeometric(n, a, b): exact, or for large means by moments."""
    mean = a * b / n
    variance = mean * (1 - a / n) * (1 - b / n) * n / max(n - 1, 1)
    third = variance * (1 - 2 * a / n) * (1 - 2 * b / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = special.xlogy(mean, mean) + variance / (2 * mean) - third / (6 * mean**2)
        found += (3 * variance**2 + variance) / (12 * mean**3)
    is_small = mean < FEW
    found[is_small] = _exact_mean_c_log_c(a[is_small], b[is_small], n)
    return np.asarray(found)


def _exact_mean_c_log_c(a: Counts, b: Counts, n: int) -> Values:
    """Return E[c ln c] of counts whose mean is below ``FEW``, as a sum over c."""
    a, b = a[:, None], b[:, None]
    c = np.maximum(0, a + b - n) + np.arange(BEYOND_FEW)
    weight = np.ones(c.shape)  # P(c) up to a factor, from P(c + 1) / P(c)
    weight[:, 1:] = ((a - c) * (b - c) / ((c + 1) * (n - a - b + c + 1)))[:, :-1]
    weight = np.cumprod(weight, axis=1)
    return np.asarray((weight * special.xlogy(c, c)).sum(axis=1) / weight.sum(axis=1))


def _log_factorial(count: Any) -> Any:
    return special.gammaln(count + 1.0)


def _table_probability(tables: Counts, others: Counts, v: Counts) -> Values:
    """Return the share of the permutations of V that give each table."""
    total = -_log_factorial(v[0].sum())
    for counts, sign in ((others, 1), (v, 1), (tables, -1)):
        total = total + sign * _log_factorial(counts).reshape(len(v), -1).sum(axis=1)
    return np.asarray(np.exp(total))


def _saddlepoint_tail(g: Values, weights: Values, df: Values, linear: Values) -> Values:
    """Return P(Σ w χ²(df) + Z ≥ g), Z normal of variance ``linear``; 1 up to the mean.

    ``weights`` and ``df`` have a row for each sum.
    """
    tail = np.ones(len(g))
    weights = np.where(df > 0, weights, 0.0)
    largest = weights.max(axis=1, initial=0.0) + 0.0  # not −0
    tail[(largest == 0) & (linear == 0) & df.any(axis=1)] = 0.0
    is_open = (g > (df * weights).sum(axis=1)) & ((largest > 0) | (linear > 0))
    is_open &= df.any(axis=1)
    tail[is_open] = _saddlepoint(*(part[is_open] for part in (g, weights, df, linear, largest)))
    return tail


def _saddlepoint(g: Values, w: Values, df: Values, linear: Values, largest: Values) -> Values:
    """Return the tails of some sums above their means."""
    # The saddlepoint t: the slope of the cumulant generating function is g. The slope grows with t,
    # at least as mean + linear t, and up to infinity at 1 / (2 max w): Newton's method for its
    # inverse, which is nearly a line, on an interval that gets smaller.
    excess = g - (df * w).sum(axis=1)
    low = np.zeros(len(g))
    with np.errstate(divide="ignore"):
        high = np.minimum(0.5 / largest, excess / linear)
    t = np.minimum(excess / (2 * (df * w * w).sum(axis=1) + linear), 0.5 * high)
    for _ in range(100):
        ratio = w / (1 - 2 * t[:, None] * w)
        slope = (df * ratio).sum(axis=1) + linear * t
        curvature = 2 * (df * ratio * ratio).sum(axis=1) + linear
        low, high = np.where(slope < g, t, low), np.where(slope < g, high, t)
        step = (g - slope) / curvature
        is_done = np.abs(step) <= 1e-9 * t
        if is_done.all():
            break
        step = np.where((slope > 0) & (g > 0), step * slope / g, step)
        is_inside = (low < t + step) & (t + step < high)
        t = np.where(is_done, t, np.where(is_inside, t + step, (low + high) / 2))
    value = linear * t * t / 2 - 0.5 * (df * np.log1p(-2 * t[:, None] * w)).sum(axis=1)
    root, u = np.sqrt(np.maximum(2 * (t * g - value), 0.0)), t * np.sqrt(curvature)
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.exp(-root * root / 2) / np.sqrt(2 * np.pi)
        tail = np.maximum(special.ndtr(-root) + density * (1 / u - 1 / root), 0.0)
    return np.where(root < 1e-4, 0.5, tail)


def _margins(ndim: int) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Return the axes to sum for each subset of the axes 1, …, and its sign in T."""
    axes = range(1, ndim)
    for n_summed in range(ndim - 1):
        for rest in combinations(axes, n_summed):
            yield (-1.0) ** n_summed, rest

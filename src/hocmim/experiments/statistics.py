"""Significance tests over several data sets, as recommended by Demšar (2006).

Rows are data sets, columns are methods, and smaller is better.

References
----------
J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from hocmim.errors import InvalidTableError

DECIMALS = 12


@dataclass(frozen=True, eq=False)
class Friedman:
    """Friedman's test: whether the methods differ at all."""

    average_ranks: NDArray[np.float64]
    # Friedman's statistic, corrected for ties, and its p-value (k − 1 degrees of freedom)
    chi_square: float
    p_value: float
    f_statistic: float  # The less conservative statistic of Iman and Davenport
    f_p_value: float


def rank_rows(errors: ArrayLike) -> NDArray[np.float64]:
    """Rank each row, 1 for the smallest error; equal errors get their average rank."""
    rounded = np.round(np.asarray(errors, np.float64), DECIMALS)
    return np.asarray(stats.rankdata(rounded, axis=1))


def friedman(errors: ArrayLike) -> Friedman:
    """χ²_F = 12M/(k(k+1)) [Σ R_j² − k(k+1)²/4] over ties, F_F = (M−1)χ²/(M(k−1) − χ²).

    ``errors`` has the shape (M, k): M data sets, at least 2; k methods, at least 3.
    """
    table = _check(errors, min_methods=3)
    n_sets, k = table.shape
    ranks = rank_rows(table)
    if (ranks == ranks[:, :1]).all():
        return Friedman(ranks.mean(axis=0), 0.0, 1.0, 0.0, 1.0)
    chi_square, p_value = stats.friedmanchisquare(*ranks.T)
    remainder = n_sets * (k - 1) - chi_square
    f_statistic = (n_sets - 1) * chi_square / remainder if remainder > 0 else np.inf
    f_p_value = stats.f.sf(f_statistic, k - 1, (k - 1) * (n_sets - 1))
    return Friedman(
        ranks.mean(axis=0), float(chi_square), float(p_value), float(f_statistic), float(f_p_value)
    )


def critical_difference(k: int, n_sets: int, alpha: float = 0.1) -> float:
    """CD = q_α √(k(k+1)/(6M)), q_α the studentized range quantile at (1−α; k, ∞) over √2."""
    quantile = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(k * (k + 1) / (6 * n_sets)))


def nemenyi(errors: ArrayLike) -> NDArray[np.float64]:
    """Return the p-value of each pair of methods, shape (k, k): Nemenyi's test."""
    table = _check(errors, min_methods=2)
    n_sets, k = table.shape
    average = rank_rows(table).mean(axis=0)
    distance = np.abs(average[:, None] - average) / np.sqrt(k * (k + 1) / (6 * n_sets))
    p_values = stats.studentized_range.sf(distance * np.sqrt(2), k, np.inf)
    np.fill_diagonal(p_values, 1.0)
    return np.asarray(p_values)


def wilcoxon_holm(errors: ArrayLike) -> NDArray[np.float64]:
    """Return the p-value of each pair, shape (k, k): Wilcoxon's signed-rank test, Holm-adjusted.

    Data sets with equal errors of both methods are split between them, as in Demšar.
    """
    table = _check(errors, min_methods=2)
    k = table.shape[1]
    pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
    raw = [_wilcoxon(table[:, a] - table[:, b]) for a, b in pairs]
    p_values = np.ones((k, k))
    for (a, b), p_value in zip(pairs, holm(raw), strict=True):
        p_values[a, b] = p_values[b, a] = p_value
    return p_values


def wilcoxon_against(
    errors: ArrayLike, column: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Test one method against each other one: Wilcoxon's signed-rank test.

    Returns the p-values, plain and Holm-adjusted for the k − 1 tests; 1 at ``column`` itself.
    """
    table = _check(errors, min_methods=2)
    others = [j for j in range(table.shape[1]) if j != column]
    p_values, adjusted = np.ones(table.shape[1]), np.ones(table.shape[1])
    p_values[others] = [_wilcoxon(table[:, column] - table[:, j]) for j in others]
    adjusted[others] = holm(p_values[others])
    return p_values, adjusted


def _wilcoxon(differences: NDArray[np.float64]) -> float:
    rounded = np.round(differences, DECIMALS)
    if not rounded.any():
        return 1.0
    return float(stats.wilcoxon(rounded, zero_method="zsplit").pvalue)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values: the i-th smallest of n times n − i + 1, at least the one before it."""
    raw = np.asarray(p_values, np.float64)
    order = np.argsort(raw, kind="stable")
    scaled = raw[order] * np.arange(len(raw), 0, -1)
    adjusted = np.empty(len(raw))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def groups(average_ranks: ArrayLike, distance: float) -> list[list[int]]:
    """Return the largest groups of two or more methods with average ranks within a distance.

    Each group is a list of indices, the best rank first; groups are sorted by their best rank.
    """
    average = np.asarray(average_ranks, np.float64)
    order = np.argsort(average, kind="stable")
    found: list[list[int]] = []
    reached = -1
    for start, first in enumerate(order):
        end = int(np.flatnonzero(average[order] - average[first] <= distance + 1e-12)[-1])
        if end > reached and end > start:
            found.append([int(j) for j in order[start : end + 1]])
        reached = max(reached, end)
    return found


def _check(errors: ArrayLike, min_methods: int) -> NDArray[np.float64]:
    table = np.asarray(errors, np.float64)
    if table.ndim != 2 or len(table) < 2 or table.shape[1] < min_methods:
        raise InvalidTableError(
            f"The test needs at least 2 data sets (rows) and {min_methods} methods (columns). "
            f"Got a table of shape {table.shape}."
        )
    if np.isnan(table).any():
        raise InvalidTableError("The test needs the error of every method on every data set.")
    return table

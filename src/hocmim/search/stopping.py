"""When to stop: does the best candidate add more information than chance?

X is the candidate with the largest score. The null hypothesis is that it adds no information,
H0: X ⟂ Y | Z, and the statistic is G = 2N I(X;Y|Z), plug-in. Given all of S there would soon be too
few samples in each cell. So Z ⊆ S holds the features that X is redundant with, or that have a
synergy with X:

1. Z = R, the selected features X is redundant with. Greedily, the s with the largest
   I(X;s|R) − I(X;s|R,Y) joins (Miller–Madow), while this is positive, X depends on s given R (level
   alpha / |S|), and the cells of R hold ``SUPPORT`` samples on average. A feature that X does not
   depend on cannot make X redundant, so Z does not include it.
2. Z = R ∪ s, the s with the largest I(X;Y|R,s): a synergy, as in an exclusive or.
3. Z = S, if its cells hold ``SUPPORT`` samples on average.

X is selected if H0 is rejected for one of the three sets. X is the best of D − |S| candidates, and
there are 1 + |S∖R| + 1 possible sets Z. p-values are multiplied by the product of these two numbers
(Bonferroni, valid for any criterion). Selection continues while the result is at most alpha. A
criterion that ignores redundancy is tested with Z = ∅ only.

permutation
    X is permuted among the samples of each cell of Z, which is exactly H0. The p-value is
    (1 + #{G* ≥ G}) / (1 + n) if n permutations can resolve the corrected level, or if 10 of them
    reach G. Otherwise it is the tail of the gamma distribution with the mean and variance of G*, or
    that of chi2 if it is larger.
chi2
    G is compared with a·χ²(ν), whose mean is E[G] and whose variance is
    Var[χ²] (E[G] / E[χ²])², but at most that of χ²(df) scaled to the same mean. E and Var are taken
    over all permutations: E[G] and the moments of Pearson's χ² have closed forms. For large cells
    a = 1 and ν = df = Σ_z (k_x(z)−1)(k_y(z)−1), the levels that occur in each cell z of Z; in small
    cells, where χ²(df) is inaccurate, these moments are still exact.

References
----------
Dawson: A simplified expression for the variance of the χ²-function on a contingency table.
Biometrika 41, 1954.
Vinh, Epps, Bailey: Information theoretic measures for clusterings comparison: variants, properties,
normalization and correction for chance. JMLR 11, 2010 (E[G]).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaln, xlogy
from sklearn.utils import check_random_state

from hocmim.coding.codes import Codes, Column
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR, UNBIASED_ESTIMATOR
from hocmim.search.selection import Step, Stopping

STOPS = ("permutation", "chi2")
# The fewest samples that a cell of Z holds on average.
SUPPORT = 5
# The fewest permutations that must reach G for their share to be the p-value.
ENOUGH_REACHED = 10
# Bytes of permuted columns that are in memory at a time.
BYTES_AT_A_TIME = 1 << 24


class StoppingRule:
    """Whether selection ends before the best candidate; for ``search.loop.forward_search``.

    Parameters
    ----------
    column : callable
        ``column(j)`` returns column j of the table.
    y : Column or sequence of Column
        The target; or several, each of which is tested. The p-value is the least one times their
        number.
    n_columns : int
        D.
    test : {"permutation", "chi2"} or None
        None for no test.
    alpha : float
        The level of the test: the probability of selecting a column by chance.
    n_permutations : int
    random_state : int, RandomState or None
        Random seed of the permutations.
    min_gain : float or None
        End before a candidate with a lower score.
    given_selected : bool
        False for a criterion that ignores redundancy: Z = ∅.

    Attributes
    ----------
    seed : int
        Random seed of the permutations.
    p_values : list of float
        The corrected p-value of each candidate that was tested.
    stopping : Stopping or None
        Why selection ended; None while it continues.
    """

    def __init__(
        self,
        column: Callable[[int], Column],
        y: Column | Sequence[Column],
        n_columns: int,
        *,
        test: str | None,
        alpha: float = 0.01,
        n_permutations: int = 999,
        random_state: Any = 0,
        min_gain: float | None = None,
        given_selected: bool = True,
    ) -> None:
        self._column = column
        self._targets = [y] if isinstance(y, Column) else list(y)
        self._n_columns = n_columns
        self._test = test
        self._alpha = alpha
        self._n_permutations = n_permutations
        self._random_state = random_state
        self._min_gain = min_gain
        self._given_selected = given_selected
        self.p_values: list[float] = []
        self.stopping: Stopping | None = None

    @cached_property
    def seed(self) -> int:
        """Random seed of the permutations; a random state is not made before it is needed."""
        return int(check_random_state(self._random_state).randint(np.iinfo(np.int32).max))

    def __call__(self, steps: Sequence[Step], best: Step) -> bool:
        """Return whether selection ends before the best candidate, given the steps so far."""
        p_value, given = np.nan, np.empty(0, np.int64)
        if self._min_gain is not None and _key(best.score) < _key(self._min_gain):
            reason = "below min_gain"
        elif self._test is None:
            return False
        else:
            reason = "not significant"
            p_value, given = self._p_value(steps, best)
            self.p_values.append(p_value)
            if p_value <= self._alpha:
                return False
        self.stopping = Stopping(reason, best.index, best.score, p_value, given)
        return True

    def _p_value(self, steps: Sequence[Step], best: Step) -> tuple[float, NDArray[np.int64]]:
        """Return the corrected p-value of the best candidate, and its Z."""
        found = [self._p_value_for(y, steps, best) for y in self._targets]
        p_value, given = min(found, key=lambda item: item[0])
        return min(1.0, p_value * len(found)), given

    def _p_value_for(
        self, y: Column, steps: Sequence[Step], best: Step
    ) -> tuple[float, NDArray[np.int64]]:
        """Return the corrected p-value of the best candidate for one target, and its Z."""
        x = self._column(best.index)
        selected = [self._column(step.index) for step in steps] if self._given_selected else []
        rng = np.random.default_rng([self.seed, len(steps)])
        redundant = redundant_features(x, selected, y, self._alpha)
        sets = ConditioningSets(x, selected, y, redundant)
        n_tests = (self._n_columns - len(steps)) * sets.n_possible
        found: list[tuple[float, NDArray[np.int64]]] = []
        for given in sets:
            strata = Strata(x, y, Joint.of(given, len(x.codes)))
            if self._test == "chi2":
                p_value = chi2_p_value(strata)
            else:
                p_value = permutation_p_value(
                    strata, self._n_permutations, rng, level=self._alpha / n_tests
                )
            indices = np.array([z.index for z in given], np.int64)
            found.append((min(1.0, p_value * n_tests), indices))
            if found[-1][0] <= self._alpha:
                break
        return min(found, key=lambda item: item[0])


def redundant_features(
    x: Column, selected: Sequence[Column], y: Column, alpha: float
) -> list[Column]:
    """Return R: the selected features that x is redundant with, limited by ``SUPPORT``."""
    chosen: list[Column] = []
    joint, rest = Joint.of([], len(x.codes)), list(selected)
    while rest:
        redundancy = _redundancy(x, rest, y, joint)
        best = int(np.argmax(comparison_key(redundancy)))
        larger = joint.with_column(rest[best])
        if redundancy[best] <= 0 or len(x.codes) < SUPPORT * larger.n_cells:
            break
        if chi2_p_value(Strata(x, rest[best], joint)) * len(selected) > alpha:
            break
        chosen.append(rest.pop(best))
        joint = larger
    return chosen


def _redundancy(x: Column, columns: Sequence[Column], y: Column, given: Joint) -> Values:
    """Return I(X;s|Z) − I(X;s|Z,Y) of each column s, Miller–Madow."""
    terms = BlockTerms(Codes.from_columns(columns), Joint.of([x]), UNBIASED_ESTIMATOR)
    return terms.conditional(given) - terms.conditional(given.with_column(y))


class ConditioningSets:
    """The sets Z of the tests X ⟂ Y | Z, in order; ``n_possible`` counts the possible sets."""

    def __init__(
        self, x: Column, selected: Sequence[Column], y: Column, redundant: Sequence[Column]
    ) -> None:
        self._x, self._y = x, y
        self._selected, self._redundant = list(selected), list(redundant)
        in_redundant = {column.index for column in redundant}
        self._rest = [column for column in selected if column.index not in in_redundant]
        self.n_possible = 1 + len(self._rest) + bool(self._rest)

    def __iter__(self) -> Iterator[list[Column]]:
        yield self._redundant
        if self._rest:
            joint = Joint.of(self._redundant, len(self._x.codes))
            redundancy = _redundancy(self._x, self._rest, self._y, joint)
            partner = self._rest[int(np.argmin(comparison_key(redundancy)))]
            yield [*self._redundant, partner]
        if len(self._rest) > 1:
            everything = Joint.of(self._selected)
            if len(everything.cells) >= SUPPORT * everything.n_cells:
                yield self._selected


class Strata:
    """The samples of X and Y cell by cell of Z, without the cells where X or Y is constant.

    Attributes
    ----------
    x, y, z : ndarray
        The codes of the samples in the other cells, sorted by z; z counts the cells from 0.
    starts : ndarray
        The start of each cell, and the end of the last.
    """

    def __init__(self, x: Column, y: Column, given: Joint) -> None:
        order = np.argsort(given.cells, kind="stable")
        x_codes, y_codes, z = x.codes[order], y.codes[order], given.cells[order]
        varies = _varies(x_codes, z) & _varies(y_codes, z)
        kept = varies[np.cumsum(np.diff(z, prepend=z[:1]) != 0)]
        self.x, self.y = x_codes[kept], y_codes[kept]
        sizes = np.diff(_bounds(z))[varies]
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.z = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
        self.arity = x.arity
        self._y_joint = Joint.of([Column(self.y, y.arity)]) if len(self.y) else None
        self._z_joint = Joint(self.z, len(sizes))

    def g(self, columns: NDArray[Any]) -> Values:
        """Return G = 2N I(X;Y|Z) of each row of an array of X codes."""
        if self._y_joint is None:
            return np.zeros(len(columns))
        codes = Codes.from_columns([Column(row, self.arity) for row in columns])
        terms = BlockTerms(codes, self._y_joint, PLUGIN_ESTIMATOR)
        return 2 * len(self.z) * terms.conditional(self._z_joint)

    def permutations(self, n: int, rng: np.random.Generator) -> Iterator[NDArray[Any]]:
        """Return n rows of X in all, each permuted within the cells."""
        at_a_time = max(1, BYTES_AT_A_TIME // max(1, self.x.nbytes))
        for done in range(0, n, at_a_time):
            rows = np.tile(self.x, (min(at_a_time, n - done), 1))
            for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
                rows[:, start:stop] = rng.permuted(rows[:, start:stop], axis=1)
            yield rows


def permutation_p_value(
    strata: Strata, n_permutations: int, rng: np.random.Generator, *, level: float
) -> float:
    """Return the share of permutations that reach G, or the tail of a fitted distribution.

    Parameters
    ----------
    strata : Strata
    n_permutations : int
    rng : Generator
    level : float
        The p-value that the permutations must resolve.
    """
    g = float(strata.g(strata.x[None])[0])
    null = np.concatenate([strata.g(rows) for rows in strata.permutations(n_permutations, rng)])
    n_reached = int((comparison_key(null) >= _key(g)).sum())
    share = (1 + n_reached) / (1 + n_permutations)
    mean, variance = float(null.mean()), float(null.var(ddof=1)) if len(null) > 1 else 0.0
    if 1 / (1 + n_permutations) <= level or n_reached >= ENOUGH_REACHED or variance <= 0:
        return share
    # With few samples G* has few distinct values, and the fitted tail is too small.
    return max(chi2_p_value(strata), _gamma_tail(g, mean, variance))


def chi2_p_value(strata: Strata) -> float:
    """Return the tail of the scaled χ² that has the moments of G over all permutations."""
    margins = Margins.of(strata)
    df = float(((margins.k_x - 1) * (margins.k_y - 1)).sum())
    if df == 0:
        return 1.0
    mean = mean_of_g(margins)
    pearson_mean, pearson_variance = moments_of_pearson(margins)
    variance = mean**2 * min(2 / df, pearson_variance / pearson_mean**2)
    g = float(strata.g(strata.x[None])[0])
    if variance == 0:  # every permutation gives the same G
        return 1.0
    return _gamma_tail(g, mean, variance)


def _gamma_tail(g: float, mean: float, variance: float) -> float:
    """Return P(G ≥ g) of the gamma distribution with this mean and variance."""
    # The same bits as scipy.stats.gamma.sf, without importing scipy.stats, which takes long.
    return float(gammaincc(mean**2 / variance, max(g, 0.0) / (variance / mean)))


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
    def of(cls, strata: Strata) -> Margins:
        """Count the samples of each cell and level."""
        n = np.diff(strata.starts)
        return cls(n, *_margin(strata.z, strata.x, len(n)), *_margin(strata.z, strata.y, len(n)))


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
    total = float(times @ _mean_c_log_c(*distinct.T))
    for counts, sign in ((margins.a, -1), (margins.b, -1), (margins.n, 1)):
        total += sign * float(xlogy(counts, counts).sum())
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


def _dawson_terms(
    n: Values, k: NDArray[np.int64], counts: NDArray[np.int64], z: NDArray[np.int64]
) -> tuple[Values, Values]:
    """Return the terms v = (k−1)(n−k)/(n−1) and w = (Σ n/count − k²)/(n−2) of each cell."""
    inverse = np.bincount(z, weights=n[z] / counts, minlength=len(n))
    return (k - 1) * (n - k) / (n - 1), (inverse - k**2) / np.maximum(n - 2, 1)


def _mean_c_log_c(a: NDArray[np.int64], b: NDArray[np.int64], n: NDArray[np.int64]) -> Values:
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
    return np.add.reduceat(weight * xlogy(c, c), first) / np.add.reduceat(weight, first)


def _log_choose(n: NDArray[np.int64], k: NDArray[np.int64]) -> Values:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


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


def _bounds(z: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the start of each cell of sorted z, and the end of the last."""
    return np.concatenate([[0], np.flatnonzero(np.diff(z)) + 1, [len(z)]])


def _varies(codes: NDArray[Any], z: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return in which cells of sorted z the codes are not all equal."""
    starts = _bounds(z)[:-1]
    return np.maximum.reduceat(codes, starts) > np.minimum.reduceat(codes, starts)


def _key(value: float) -> float:
    return float(comparison_key(value))

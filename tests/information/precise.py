"""entropy, mi and cmi with 50 digits (mpmath), for tables too large for ``naive``.

Written from the definitions in ``hocmim.information.estimators``, over the cells that occur: empty
cells have closed forms, and cells with the same counts are evaluated once. Sums of counts are exact
integers.
"""

from fractions import Fraction

import mpmath
import numpy as np

mpmath.mp.dps = 50


def number(*columns):
    """Return the columns as one variable: the number of the cell of each row."""
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        codes = numbered(np.asarray(column))
        joint = numbered(joint * (int(codes.max()) + 1) + codes)
    return joint


def numbered(values):
    """Return the index of each value among the sorted values that occur."""
    if values.dtype.kind in "iu" and values.min() >= 0 and values.max() <= 4 * len(values) + 64:
        return (np.cumsum(np.bincount(values) > 0) - 1)[values]  # without sorting
    return np.unique(values, return_inverse=True)[1].ravel()


def count(variable):
    """Return how often each count occurs: {3: 2} for two cells of three rows each."""
    sizes, times = np.unique(np.bincount(variable), return_counts=True)
    return dict(zip(sizes.tolist(), times.tolist(), strict=True))


def sum_over(counts, function, half=0, n_cells=None):
    """Sum a function of the counts, ``half`` added to each, over all cells or ``n_cells``."""
    half = mpmath.mpf(half)
    total = mpmath.fsum(times * function(size + half) for size, times in counts.items())
    empty = 0 if n_cells is None else n_cells - sum(counts.values())
    return total + (empty * function(half) if empty else 0)


def c_log_c(c):
    return c * mpmath.log(c) if c > 0 else mpmath.mpf(0)


def c_g(c):
    """c G(c) of Grassberger's estimator."""
    c = int(c)
    half = mpmath.mpf(c) / 2
    rest = mpmath.digamma(half + mpmath.mpf(1) / 2) - mpmath.digamma(half)
    return c * (mpmath.digamma(c) + (-1) ** c * rest / 2)


def levels(variable):
    return int(variable.max()) + 1


# -- sums of a function of the counts --------------------------------------------------------------


def entropy(estimator, x):
    n, counts = len(x), count(x)
    if estimator == "jeffreys":
        mass = n + mpmath.mpf(levels(x)) / 2
        return mpmath.log(mass) - sum_over(counts, c_log_c, 0.5) / mass
    f = c_g if estimator == "grassberger" else c_log_c
    value = mpmath.log(n) - sum_over(counts, f) / n
    if estimator == "miller_madow":
        value += mpmath.mpf(levels(x) - 1) / (2 * n)
    return value


def mi(estimator, x, y):
    if estimator == "shrinkage":
        table = Table(x, y)
        return table.information(table.intensity())
    if 1 in (levels(x), levels(y)):
        return mpmath.mpf(0)
    xy = number(x, y)
    if estimator == "jeffreys":
        k_x, k_y = levels(x), levels(y)
        mass = len(x) + mpmath.mpf(k_x * k_y) / 2
        rows = sum_over(count(x), c_log_c, mpmath.mpf(k_y) / 2)
        columns = sum_over(count(y), c_log_c, mpmath.mpf(k_x) / 2)
        cells = sum_over(count(xy), c_log_c, 0.5, k_x * k_y)
        return mpmath.log(mass) - (rows + columns - cells) / mass
    plain = "plugin" if estimator == "miller_madow" else estimator
    value = entropy(plain, x) + entropy(plain, y) - entropy(plain, xy)
    if estimator == "miller_madow":
        value -= mpmath.mpf((levels(x) - 1) * (levels(y) - 1)) / (2 * len(x))
    return value


def cmi(estimator, x, y, z):
    xz, yz, xyz = number(x, z), number(y, z), number(x, y, z)
    if estimator == "shrinkage":
        joint = Table(xz, y)
        intensity = joint.intensity()
        return joint.information(intensity) - Table(z, y).information(intensity)
    if estimator == "jeffreys":
        k_x, k_y, k_z = levels(x), levels(y), levels(z)
        mass = len(x) + mpmath.mpf(k_x * k_y * k_z) / 2
        cells = sum_over(count(xyz), c_log_c, 0.5, k_x * k_y * k_z)
        given = sum_over(count(z), c_log_c, mpmath.mpf(k_x * k_y) / 2)
        left = sum_over(count(xz), c_log_c, mpmath.mpf(k_y) / 2, k_x * k_z)
        right = sum_over(count(yz), c_log_c, mpmath.mpf(k_x) / 2, k_y * k_z)
        return (cells + given - left - right) / mass
    plain = "plugin" if estimator == "miller_madow" else estimator
    entropies = [entropy(plain, each) for each in (xz, yz, xyz, z)]
    value = entropies[0] + entropies[1] - entropies[2] - entropies[3]
    if estimator == "miller_madow":
        value -= mpmath.mpf(_freedom(xz, yz, z)) / (2 * len(x))
    return value


def _freedom(xz, yz, z):
    """Σ_z (k_x(z) − 1)(k_y(z) − 1)."""

    def levels_by_cell(joint):
        cell = np.empty(levels(joint), dtype=np.int64)
        cell[joint] = z
        return np.bincount(cell, minlength=levels(z))

    # Each factor is below N, and the first ones add up to less than N: the sum is below N².
    return int(((levels_by_cell(xz) - 1) * (levels_by_cell(yz) - 1)).sum())


# -- shrinkage -------------------------------------------------------------------------------------


class Table:
    """The cells of two variables that occur, as counts (c, n_r, n_c) and how often each is met."""

    def __init__(self, x, y):
        self.n = len(x)
        self.rows, self.columns = count(x), count(y)
        xy = number(x, y)
        # The counts (c, n_r, n_c) of each row of the data; a cell of c rows is met c times.
        of_data = [np.bincount(each)[each] for each in (xy, x, y)]
        kind = number(*of_data)
        first = np.empty(levels(kind), dtype=np.int64)
        first[kind] = np.arange(self.n)
        kinds = np.column_stack([each[first] for each in of_data]).tolist()
        times = np.bincount(kind).tolist()
        self.kinds = {
            tuple(each): n_rows // each[0] for each, n_rows in zip(kinds, times, strict=True)
        }

    def intensity(self):
        """λ, exact but for the last division."""
        n = self.n
        Q = Fraction(sum(t * c * c for (c, _, _), t in self.kinds.items()), n**2)
        X = Fraction(sum(t * c * r * k for (c, r, k), t in self.kinds.items()), n**3)
        A = Fraction(sum(times * r**2 for r, times in self.rows.items()), n**2)
        B = Fraction(sum(times * k**2 for k, times in self.columns.items()), n**2)
        var = (1 - Q) / n
        cov = ((n - 1) * (A + B - 2 * X) + 1 - Q) / n**2
        ml2 = ((n - 1) * Q + 1) / n
        mlind = ((n**2 - 3 * n + 2) * X + (n - 1) * (A + B + Q) + 1) / n**2
        ind2 = (
            (n - 1) * (n - 2) * (n - 3) * A * B
            + (n - 1) * (n - 2) * (A + B + 4 * X)
            + (n - 1) * (2 * (A + B) + 2 * Q + 1)
            + 1
        ) / n**3
        spread = ml2 + ind2 - 2 * mlind
        return (
            Fraction(1) if spread <= 0 else min(Fraction(1), max(Fraction(0), (var - cov) / spread))
        )

    def information(self, intensity):
        """Σ p* log(p*/ind) over all cells, p* = λ ind + (1−λ) p."""
        n, shrunk, independent = self.n, [], Fraction(0)
        for (c, r, k), times in self.kinds.items():
            ind = Fraction(r * k, n**2)
            p = intensity * ind + (1 - intensity) * Fraction(c, n)
            independent += times * ind
            if p > 0:
                shrunk.append(times * _real(p) * mpmath.log(_real(p / ind)))
        empty = 1 - independent
        if intensity > 0 and empty > 0:
            shrunk.append(_real(intensity * empty) * mpmath.log(_real(intensity)))
        return mpmath.fsum(shrunk)


def _real(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator

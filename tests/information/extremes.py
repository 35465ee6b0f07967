"""Tables at the limits of the estimators, and the largest error found on them."""

import mpmath
import numpy as np
import precise

from hocmim import cmi, entropy, mi
from hocmim.information.estimators import ESTIMATORS


def two_rows():
    """Every table of two rows: the two values of a column are equal, or they are not."""
    for bits in range(8):
        yield f"N = 2, {bits:03b}", *([[0], [bits >> k & 1]] for k in range(3))


def copies(n):
    """Columns that differ from the target in no row, in one, or in all but one."""
    y = np.arange(n) % 3
    one, most = y.copy(), np.zeros(n, dtype=np.int64)
    one[n // 2] = (one[n // 2] + 1) % 3
    most[0] = 1
    for name, x in {"equal": y, "one row differs": one, "one row alone": most}.items():
        yield f"N = {n:,}, {name}", x[:, None], y[:, None], (np.arange(n) % 2)[:, None]


def independent(n):
    """x, y and z take every combination equally often: all information is 0."""
    i = np.arange(n)
    yield f"N = {n:,}, independent", i[:, None] % 10, i[:, None] // 10 % 10, i[:, None] // 100 % 10


def skewed(n, seed, n_levels):
    """Few levels are frequent, and most are rare."""
    rng = np.random.default_rng(seed)
    x, z = (np.minimum(rng.geometric(0.02, n), n_levels)[:, None] for _ in range(2))
    y = np.where(rng.random(n)[:, None] < 0.3, (x + z) % 7, rng.integers(0, 7, (n, 1)))
    yield f"N = {n:,}, skewed", x, y, z


def alone(n):
    """Every row is a level of its own, for one variable or for each."""
    i = np.arange(n)[:, None]
    yield f"N = {n:,}, all alone", i % 60_000, i, i % 2
    yield f"N = {n:,}, pairs", i // 2 % 60_000, i % (n // 2), i % 5


def many_columns(n, seed=0):
    """Sets of columns whose arities have a product beyond 2⁶³.

    The first set has at most 50,000 combinations, since cmi takes 65,536. The second half of the
    rows repeats the first.
    """
    rng = np.random.default_rng(seed)
    half = np.arange(n) % (n // 2)
    first = half if n <= 100_000 else rng.integers(0, 50_000, n // 2)[half]
    X = rng.integers(0, 300, (min(n // 2, 50_000), 8), dtype=np.int16)[first]
    Y, Z = (rng.integers(0, 300, (n // 2, 8), dtype=np.int16)[half] for _ in range(2))
    yield f"N = {n:,}, products beyond 2⁶³", X, Y, Z


def errors(tables):
    """Yield the table, the function, the estimator and the error of each value."""
    for name, X, Y, Z in tables:
        X, Y, Z = (np.asarray(each) for each in (X, Y, Z))
        x, y, z = (precise.number(*each.T) for each in (X, Y, Z))
        for estimator in ESTIMATORS:
            for function, found, expected in (
                ("H", entropy(X, estimator=estimator), precise.entropy(estimator, x)),
                ("I", mi(X, Y, estimator=estimator), precise.mi(estimator, x, y)),
                ("I|", cmi(X, Y, Z, estimator=estimator), precise.cmi(estimator, x, y, z)),
            ):
                yield name, function, estimator, float(abs(mpmath.mpf(found) - expected))

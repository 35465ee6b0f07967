"""Every estimator at extremes, against 50 digits; ``tests/trust/numerics.py`` has larger tables."""

import extremes
import numpy as np
import precise
import pytest

import naive

# In nats; docs/development/kernels.md has the bound for any number of rows.
MOST_ERROR = 1e-11


def largest(tables):
    return max(extremes.errors(tables), key=lambda found: found[-1])


@pytest.mark.parametrize(
    "tables",
    [
        extremes.two_rows(),
        extremes.copies(300),
        extremes.copies(100_000),
        extremes.independent(100_000),
        extremes.skewed(50_000, 1, 300),
        extremes.alone(20_000),
        extremes.many_columns(4_000),
    ],
    ids=["two rows", "copies", "many copies", "independent", "skewed", "alone", "many columns"],
)
def test_every_estimator_is_as_exact_as_promised(tables):
    *what, error = largest(tables)
    assert error < MOST_ERROR, what


@pytest.mark.parametrize("estimator", naive.ESTIMATORS)
def test_the_twin_agrees_with_the_definitions(estimator):
    rng = np.random.default_rng(0)
    for n in (2, 5, 30):
        x, y, z = (rng.integers(0, 4, n) for _ in range(3))
        X, Y, Z = (naive.columns(each[:, None]) for each in (x, y, z))
        x, y, z = (precise.number(each) for each in (x, y, z))
        assert float(precise.entropy(estimator, x)) == pytest.approx(
            naive.entropy(X, estimator), abs=1e-12
        )
        assert float(precise.mi(estimator, x, y)) == pytest.approx(
            naive.mi(X, Y, estimator), abs=1e-12
        )
        assert float(precise.cmi(estimator, x, y, z)) == pytest.approx(
            naive.cmi(X, Y, Z, estimator), abs=1e-12
        )

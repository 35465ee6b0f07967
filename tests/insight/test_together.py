"""How much of the variance of a quantity features explain together."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import OneHotEncoder

from hocmim import HOCMIM, FisherScore
from hocmim.coding.codes import Column
from hocmim.insight.basis import basis_of
from hocmim.insight.together import MAX_TOTAL_LEVELS, explained_variance

RNG = np.random.default_rng(0)


def column(codes, arity):
    return Column(np.asarray(codes, np.uint8), arity)


def adjusted(columns, y):
    """By scikit-learn, on one-hot columns without the first level of each."""
    codes = np.column_stack([c.codes for c in columns])
    X = OneHotEncoder(drop="first", sparse_output=False).fit_transform(codes)
    n_free = np.linalg.matrix_rank(X - X.mean(axis=0))
    r2 = LinearRegression().fit(X, y).score(X, y)
    return 1 - (1 - r2) * (len(y) - 1) / (len(y) - n_free - 1)


@pytest.mark.parametrize("arities", [(2,), (5,), (3, 4), (5, 5, 5, 2)])
def test_equals_least_squares(arities):
    columns = [column(RNG.integers(0, k, 200), k) for k in arities]
    y = columns[0].codes * 1e3 + 800 * RNG.normal(size=200)
    np.testing.assert_allclose(explained_variance(columns, y), adjusted(columns, y), rtol=1e-9)


def test_dependent_and_empty_levels():
    a = column(RNG.integers(0, 3, 100), 5)  # two levels do not occur
    copy = column(2 - a.codes, 3)
    y = a.codes + RNG.normal(size=100)
    once = explained_variance([a], y)
    np.testing.assert_allclose(explained_variance([a, copy, a], y), once, rtol=1e-9)
    assert explained_variance([column(np.zeros(100), 1)], y) == 0.0


def test_when_there_is_none():
    y = RNG.normal(size=20)
    assert explained_variance([], y) is None
    assert explained_variance([Column(np.arange(20, dtype=np.uint8), 20)], y) is None
    wide = Column(np.zeros(20, np.uint16), MAX_TOTAL_LEVELS + 1)
    assert explained_variance([wide], y) is None


def test_noise_explains_nothing():
    found = [
        explained_variance([column(RNG.integers(0, 5, 100), 5)], RNG.normal(size=100))
        for _ in range(50)
    ]
    assert np.mean(found) < 0.03


@pytest.mark.parametrize("kind", ["quantity", "classes"])
def test_explanations_and_reports_have_it_for_a_quantity(tmp_path, kind):
    X = pd.DataFrame(RNG.normal(size=(300, 4)), columns=list("abcd"))
    y = np.rint(100 * X["b"]).astype(int)
    selector = HOCMIM(2, target=kind).fit(X, y)
    found = selector.explain("b", X)
    page = selector.report(tmp_path / "page.html", X, y).read_text()
    if kind == "classes":
        assert found.r2 is None
        assert "R²" not in str(found)
        assert "R², in cases not seen" not in page
        return
    x = selector.encoder_.transform(X).column(1)
    np.testing.assert_allclose(found.r2, adjusted([x], y), rtol=1e-9)
    assert f"R²                  {found.r2:.4f}" in str(found)
    assert "R², in cases not seen" in page
    assert "of the variance of the target (adjusted R²)" in page
    assert selector.explain("a", X).r2 < 0.1
    basis = basis_of(FisherScore(1, target="quantity").fit(X, y), X, y)
    np.testing.assert_allclose(basis.explained_variance(basis.selected_columns), found.r2)

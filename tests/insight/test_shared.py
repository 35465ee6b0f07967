"""Shared information against scikit-learn's adjusted mutual information, and its identities."""

import numpy as np
import pytest
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.metrics.cluster import expected_mutual_information

from hocmim.coding.codes import Codes, Column
from hocmim.insight import shared as module
from hocmim.insight.shared import Chance, SharedInformation


def column(values, n_levels):
    kind = np.uint8 if n_levels <= 256 else np.uint16
    return Column(np.asarray(values).astype(kind), n_levels)


def related(rng, n, k, n_columns):
    """Columns that repeat one of them to different degrees, and a binary one."""
    base = rng.integers(0, k, n)
    columns = [
        column(np.where(rng.random(n) < share, base, rng.integers(0, k, n)), k)
        for share in np.linspace(0, 1, n_columns)
    ]
    return [*columns, column(rng.integers(0, 2, n), 2)]


def shares(columns, **options):
    shared = SharedInformation(Codes.from_columns(columns), **options)
    return np.array([row.share for row in shared.rows(range(len(columns)))])


@pytest.mark.parametrize(("n", "k"), [(60, 5), (200, 20), (3000, 3), (500, 300)])
def test_it_is_the_adjusted_mutual_information(n, k):
    columns = related(np.random.default_rng(n), n, k, 6)
    naive = [
        [adjusted_mutual_info_score(a.codes, b.codes, average_method="max") for b in columns]
        for a in columns
    ]
    assert np.allclose(shares(columns), np.clip(naive, 0, 1), atol=1e-8)


def test_many_distinct_counts_are_rounded_with_little_effect(monkeypatch):
    monkeypatch.setattr(module, "MAX_DISTINCT", 4)
    rng = np.random.default_rng(0)
    columns = [rng.choice(8, 4000, p=rng.dirichlet(np.ones(8))) for _ in range(6)]
    counts = [np.bincount(values, minlength=8) for values in columns]
    found = Chance(counts)
    for i in range(6):
        for j in range(6):
            table = np.histogram2d(columns[i], columns[j], 8)[0].astype(np.int64)
            table = table[table.sum(1) > 0][:, table.sum(0) > 0]
            assert found.mean(i)[j] == pytest.approx(
                expected_mutual_information(table, 4000), rel=0.03
            )


def test_copies_constants_and_identifiers():
    rng = np.random.default_rng(2)
    x = column(rng.integers(0, 5, 100), 5)
    renamed = column((4 - x.codes.astype(int)), 5)
    one = column(np.zeros(100), 1)
    rows = column(np.arange(100), 100)
    found = shares([x, renamed, one, rows, rows])
    assert found[0, 1] == pytest.approx(1)
    assert not found[2].any()  # a constant
    assert not found[3].any()  # an identifier: chance gives as much


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("block_columns", [1, 3, 512])
def test_pairs_do_not_depend_on_blocks_or_threads(n_jobs, block_columns):
    columns = related(np.random.default_rng(3), 150, 6, 9)
    once = SharedInformation(Codes.from_columns(columns), n_jobs=1)
    other = SharedInformation(
        Codes.from_columns(columns), n_jobs=n_jobs, block_columns=block_columns
    )
    assert np.array_equal(once.triangle(), other.triangle())
    full = shares(columns, n_jobs=n_jobs, block_columns=block_columns)
    apart = squareform(other.triangle())
    off = ~np.eye(10, dtype=bool)
    assert np.allclose(apart[off], 1 - full[off], atol=1e-12)


def test_p_values_of_unrelated_columns_are_uniform():
    rng = np.random.default_rng(4)
    columns = [column(rng.integers(0, 4, 300), 4) for _ in range(40)]
    shared = SharedInformation(Codes.from_columns(columns))
    p = np.array([row.p_values(300) for row in shared.rows(range(40))])
    assert 0.02 < (p[np.triu_indices(40, 1)] < 0.05).mean() < 0.09

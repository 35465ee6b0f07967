"""The tests over several data sets, against Demšar's textbook values and scikit-posthocs."""

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import stats

from hocmim.errors import InvalidTableError
from hocmim.experiments.statistics import (
    critical_difference,
    friedman,
    groups,
    holm,
    nemenyi,
    rank_rows,
    wilcoxon_against,
    wilcoxon_holm,
)

# Demšar 2006, tables 2 and 6: AUC of C4.5, C4.5+m, C4.5+cf, C4.5+m+cf on 14 data sets.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.976, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
# His tables 5: critical values q of Nemenyi's test for 2..10 classifiers.
Q_05 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
Q_10 = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]


def random_errors(seed=3, n_sets=12, k=5):
    rng = np.random.default_rng(seed)
    return np.round(rng.random((n_sets, k)) + np.linspace(0, 0.4, k), 2)


def test_demsar_average_ranks_and_friedman():
    found = friedman(1 - DEMSAR)
    assert found.average_ranks.round(3).tolist() == [3.143, 2.000, 2.893, 1.964]
    # He does not correct for ties: 9.28 and 3.69 from the same ranks.
    M, k = DEMSAR.shape
    plain = 12 * M / (k * (k + 1)) * ((found.average_ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.005)
    assert (M - 1) * plain / (M * (k - 1) - plain) == pytest.approx(3.69, abs=0.005)
    assert found.chi_square >= plain
    assert found.p_value == pytest.approx(stats.chi2.sf(found.chi_square, 3))
    assert found.f_p_value < 0.05


def test_friedman_without_ties_is_the_plain_formula():
    rng = np.random.default_rng(0)
    errors = rng.permuted(np.tile(np.arange(4.0), (9, 1)), axis=1)
    found = friedman(errors)
    ranks = (errors + 1).mean(axis=0)
    assert found.chi_square == pytest.approx(12 * 9 / 20 * ((ranks**2).sum() - 4 * 25 / 4))


@pytest.mark.parametrize(("alpha", "table"), [(0.05, Q_05), (0.10, Q_10)])
def test_critical_values_are_the_textbook_ones(alpha, table):
    for k, q in enumerate(table, start=2):
        n_sets = 14
        found = critical_difference(k, n_sets, alpha) / np.sqrt(k * (k + 1) / (6 * n_sets))
        assert found == pytest.approx(q, abs=0.0015)


def test_demsar_critical_differences():
    assert critical_difference(4, 14, 0.05) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)


def test_demsar_wilcoxon():
    # C4.5 against C4.5+m: the smaller rank sum is 12, below the critical 21 of 14 sets at 0.05.
    result = stats.wilcoxon(DEMSAR[:, 0].round(3) - DEMSAR[:, 1].round(3), zero_method="zsplit")
    two = wilcoxon_holm(1 - DEMSAR[:, :2])
    assert two[0, 1] == pytest.approx(result.pvalue, rel=1e-6)
    differences = np.round(DEMSAR[:, 1] - DEMSAR[:, 0], 12)
    ranks = stats.rankdata(np.abs(differences))
    smaller = ranks[differences < 0].sum() + ranks[differences == 0].sum() / 2
    assert smaller == 12
    assert two[0, 1] < 0.05


@pytest.mark.parametrize("seed", range(4))
def test_nemenyi_agrees_with_scikit_posthocs(seed):
    errors = random_errors(seed)
    theirs = scikit_posthocs.posthoc_nemenyi_friedman(errors).to_numpy()
    assert np.allclose(nemenyi(errors), theirs, atol=2e-3)


@pytest.mark.parametrize("seed", range(4))
def test_wilcoxon_holm_agrees_with_scikit_posthocs(seed):
    errors = np.random.default_rng(seed).random((12, 5))
    long = pd.DataFrame(errors).melt(var_name="method", value_name="error")
    theirs = scikit_posthocs.posthoc_wilcoxon(
        long, val_col="error", group_col="method", p_adjust="holm"
    )
    assert np.allclose(wilcoxon_holm(errors), theirs.to_numpy(), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_one_against_each_is_adjusted_for_its_own_tests_only(seed):
    errors = np.random.default_rng(seed).random((12, 5))
    plain, adjusted = wilcoxon_against(errors, 2)
    others = [0, 1, 3, 4]
    expected = [stats.wilcoxon(errors[:, 2], errors[:, j]).pvalue for j in others]
    assert np.allclose(plain[others], expected)
    assert np.allclose(adjusted[others], holm(expected))
    assert plain[2] == adjusted[2] == 1
    # Four tests in place of ten: the adjusted p-values are never larger.
    assert (adjusted <= wilcoxon_holm(errors)[2] + 1e-12).all()


def test_nemenyi_and_the_critical_difference_agree():
    errors = random_errors()
    average = rank_rows(errors).mean(axis=0)
    distance = critical_difference(errors.shape[1], len(errors), 0.1)
    apart = np.abs(average[:, None] - average) > distance
    assert apart.any()
    assert ((nemenyi(errors) < 0.1) == apart).all()


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]


def test_ranks_share_ties():
    assert rank_rows([[0.3, 0.1, 0.1 + 1e-15]]).tolist() == [[3, 1.5, 1.5]]


def test_groups_are_the_largest_ones():
    assert groups([1.0, 2.0, 3.0, 6.0], 1.5) == [[0, 1], [1, 2]]
    assert groups([1.0, 2.0, 3.0], 5) == [[0, 1, 2]]
    assert groups([3.0, 1.0], 1.0) == []


def test_methods_that_never_differ():
    found = friedman(np.ones((4, 3)))
    assert found.p_value == 1.0
    assert found.average_ranks.tolist() == [2, 2, 2]
    assert (wilcoxon_holm(np.ones((4, 3))) == 1).all()


@pytest.mark.parametrize("errors", [np.ones((1, 4)), np.ones((5, 2)), [[1, np.nan, 2]] * 3])
def test_too_little_is_refused(errors):
    with pytest.raises(InvalidTableError, match="The test needs"):
        friedman(errors)

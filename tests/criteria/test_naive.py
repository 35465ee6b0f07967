"""The oracle against numbers that come from somewhere else: the paper, algebra, SciPy."""

from itertools import product
from math import fsum, isclose, log, prod

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma

import naive

X_EXAMPLE, Y_EXAMPLE = naive.worked_example()
PLAIN = {"estimator": "plugin", "tol": 0.0}


def random_tables(count, seed, n=(10, 60), levels=4, classes=3, D=5):
    """Tables without copies, as columns."""
    shape = {"levels": levels, "classes": classes, "ties": False}
    for X, y in naive.random_tables(seed, count, n, D, **shape):
        yield naive.columns(X), tuple(y.tolist())


# -- the worked example ----------------------------------------------------------------------------


def printed(value, digits):
    return isclose(naive.bits(value), digits, abs_tol=0.0005 + 1e-12)


def test_relevance_of_the_worked_example():
    values = [naive.mi((x,), (Y_EXAMPLE,)) for x in X_EXAMPLE]
    assert all(map(printed, values, [0.006, 0.046, 0.256, 0.006, 0.171]))


@pytest.mark.parametrize("form", ["redundancy", "conditional"])
@pytest.mark.parametrize(
    ("selected", "candidate", "levels"),
    [
        ([3], 1, [(-0.109, [3])]),
        ([3], 2, [(-0.144, [3])]),
        ([3], 4, [(-0.109, [3])]),
        ([3], 5, [(0.105, [3])]),
        ([3, 2], 1, [(-0.043, [2]), (-0.119, [2, 3])]),
        ([3, 2], 4, [(-0.109, [3]), (-0.243, [3, 2])]),
        ([3, 2], 5, [(0.105, [3]), (0.122, [3, 2])]),
        ([3, 2, 4], 1, [(-0.043, [2]), (-0.080, [2, 4]), (-0.270, [2, 4, 3])]),
        ([3, 2, 4], 5, [(0.105, [3]), (0.122, [3, 2]), (0.095, [3, 2, 4])]),
    ],
)
def test_redundancies_of_the_worked_example(selected, candidate, levels, form):
    selected = [j - 1 for j in selected]
    found = naive.hocmim_orders(
        candidate - 1,
        selected,
        X_EXAMPLE,
        Y_EXAMPLE,
        max_order=15,
        tol=0.01,
        estimator="plugin",
        form=form,
        min_support=0,
        search="greedy",
    )
    assert [[s + 1 for s in Z] for _, _, Z in found] == [Z for _, Z in levels]
    assert all(printed(R, digits) for (_, R, _), (digits, _) in zip(found, levels, strict=True))


@pytest.mark.parametrize(
    ("max_order", "ranking"), [(1, [3, 2, 4, 5, 1]), (2, [3, 2, 4, 1, 5]), (3, [3, 2, 4, 1, 5])]
)
@pytest.mark.parametrize("form", ["redundancy", "conditional"])
def test_rankings_of_the_worked_example(max_order, ranking, form):
    selected, *_ = naive.hocmim(X_EXAMPLE, Y_EXAMPLE, 5, max_order=max_order, form=form, **PLAIN)
    assert [k + 1 for k in selected] == ranking


# -- closed forms ----------------------------------------------------------------------------------

COINS = tuple(zip(*product([0, 1], repeat=3), strict=True))  # three fair independent coins
A, B, C = ((coin,) for coin in COINS)
XOR = (tuple(a ^ b for a, b in zip(*COINS[:2], strict=True)),)


def test_closed_forms_of_the_plug_in():
    assert naive.entropy(A) == pytest.approx(log(2))
    assert naive.entropy(COINS) == pytest.approx(3 * log(2))
    assert naive.mi(A, B) == 0
    assert naive.mi(A, A) == pytest.approx(log(2))
    assert naive.mi(A, XOR) == 0
    assert naive.cmi(A, XOR, B) == pytest.approx(log(2))
    assert naive.mi(A + B, XOR) == pytest.approx(log(2))
    assert naive.cmi(A, A, A) == 0
    assert naive.cmi(A, A, ()) == naive.mi(A, A)
    assert naive.entropy(((0, 0, 0, 1),)) == pytest.approx(log(4) - 0.75 * log(3))


@pytest.mark.parametrize("estimator", ["plugin", "shrinkage", "miller_madow", "jeffreys"])
def test_a_constant_informs_about_nothing(estimator):
    constant, y = ((7,) * 9,), ((0, 1, 2) * 3,)
    z = ((0, 0, 0, 0, 1, 1, 1, 1, 1),)
    assert naive.mi(constant, y, estimator) == pytest.approx(0, abs=1e-15)
    assert naive.mi(y, constant, estimator) == pytest.approx(0, abs=1e-15)
    assert naive.cmi(constant, y, z, estimator) == pytest.approx(0, abs=1e-15)
    assert naive.cmi(y, constant, z, estimator) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("estimator", naive.ESTIMATORS)
def test_a_set_is_one_variable(estimator):
    for X, y in random_tables(10, seed=1):
        as_one = (tuple(hash(cell) for cell in naive.cells(X[:2])),)
        given = (tuple(hash(cell) for cell in naive.cells(X[2:4])),)
        assert naive.entropy(X[:2], estimator) == naive.entropy(as_one, estimator)
        assert naive.mi(X[:2], (y,), estimator) == naive.mi(as_one, (y,), estimator)
        assert naive.cmi(X[:2], (y,), X[2:4], estimator) == naive.cmi(
            as_one, (y,), given, estimator
        )


def test_plug_in_entropy_is_scipys():
    for X, _ in random_tables(10, seed=2):
        table = naive.counts(X[:2])
        assert naive.entropy(X[:2]) == pytest.approx(stats.entropy(list(table.values())))


def test_plug_in_information_is_a_difference_of_entropies():
    H = naive.entropy
    for X, y in random_tables(20, seed=3):
        x, z, y = X[:1], X[1:3], (y,)
        assert naive.mi(x, y) == pytest.approx(H(x) + H(y) - H(x + y), abs=1e-12)
        expected = H(x + z) + H(y + z) - H(x + y + z) - H(z)
        assert naive.cmi(x, y, z) == pytest.approx(expected, abs=1e-12)


def test_key_rounds_half_to_even():
    assert [naive.key(v * 1e-12) for v in (0.5, 1.5, 2.5, -0.5, -1.5)] == [0, 2, 2, 0, -2]
    assert naive.largest([3, 1, 2], lambda _: 0.1 + 0.2) == 3
    assert naive.largest(["a", "b"], {"a": 0.3, "b": 0.1 + 0.2}.get) == "a"


# -- the other estimators --------------------------------------------------------------------------


def test_grassberger_with_scipys_digamma():
    for c in [*range(1, 40), 101, 500]:
        expected = digamma(c) + 0.5 * (-1) ** c * (digamma((c + 1) / 2) - digamma(c / 2))
        assert naive.grassberger_g(c) == pytest.approx(expected, rel=1e-12)
    counts, n = [4, 3, 2, 1], 10
    x = (tuple(np.repeat(range(4), counts).tolist()),)
    expected = log(n) - sum(c * naive.grassberger_g(c) for c in counts) / n
    assert naive.entropy(x, "grassberger") == pytest.approx(expected)


def test_grassberger_is_less_biased_than_the_plug_in():
    rng = np.random.default_rng(4)
    samples = [(tuple(rng.integers(8, size=16).tolist()),) for _ in range(400)]
    bias = {e: np.mean([naive.entropy(x, e) for x in samples]) - log(8) for e in naive.ESTIMATORS}
    assert bias["plugin"] < -0.2
    assert abs(bias["grassberger"]) < 0.05
    assert abs(bias["miller_madow"]) < 0.1
    assert bias["shrinkage"] == bias["plugin"]


def test_miller_madow():
    x, y, z = ((0, 0, 1, 1, 2, 2),), ((0, 1, 0, 1, 0, 1),), ((0, 0, 0, 0, 1, 1),)
    assert naive.entropy(x, "miller_madow") == pytest.approx(log(3) + 2 / 12)
    assert naive.mi(x, y, "miller_madow") == pytest.approx(-2 * 1 / 12)
    # z = 0 holds x in {0, 1} and y in {0, 1}; z = 1 holds x = 2 only.
    assert naive.cmi(x, y, z, "miller_madow") == pytest.approx(-(1 * 1 + 0 * 1) / 12)


def test_jeffreys():
    x, y = ((0, 0, 0, 1),), ((0, 0, 1, 1),)
    assert naive.entropy(x, "jeffreys") == pytest.approx(stats.entropy([3.5, 1.5]))
    # counts 2 1 / 0 1, with ½ more: 2.5 1.5 / 0.5 1.5, margins 4 2 and 3 3.
    p = np.array([[2.5, 1.5], [0.5, 1.5]]) / 6
    expected = stats.entropy(p.ravel(), np.outer(p.sum(1), p.sum(0)).ravel())
    assert naive.mi(x, y, "jeffreys") == pytest.approx(expected)


def test_jeffreys_given_a_third():
    rng = np.random.default_rng(5)
    x, y, z = rng.integers([3, 2, 2], size=(30, 3)).T
    w = np.full((3, 2, 2), 0.5)
    np.add.at(w, (x, y, z), 1)
    p = w / w.sum()
    expected = sum(
        p[:, :, c].sum()
        * stats.entropy(p[:, :, c].ravel(), np.outer(p[:, :, c].sum(1), p[:, :, c].sum(0)).ravel())
        for c in range(2)
    )
    X, Y, Z = ((tuple(v.tolist()),) for v in (x, y, z))
    assert naive.cmi(X, Y, Z, "jeffreys") == pytest.approx(expected)


# -- shrinkage -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "shape"),
    [*product([1, 2, 3, 4, 5], [(2, 2)]), *product([1, 2, 3, 4], [(2, 3)]), (3, (3, 3))],
)
def test_shrinkage_moments_by_counting_every_sample(n, shape):
    """Expectations over all samples of size n, each weighted by its probability."""
    p = np.random.default_rng(n).dirichlet(np.ones(shape[0] * shape[1])).reshape(shape)
    mean = {"p": 0, "ind": 0, "pp": 0, "p·ind": 0, "ind·ind": 0}
    for sample in product(list(np.ndindex(*shape)), repeat=n):
        weight = prod(p[cell] for cell in sample)
        q = np.zeros(shape)
        for cell in sample:
            q[cell] += 1 / n
        ind = np.outer(q.sum(1), q.sum(0))
        for name, value in zip(mean, (q, ind, q * q, q * ind, ind * ind), strict=True):
            mean[name] = mean[name] + weight * value
    var = (mean["pp"] - mean["p"] ** 2).sum()
    cov = (mean["p·ind"] - mean["p"] * mean["ind"]).sum()
    expected = [var, cov, mean["pp"].sum(), mean["p·ind"].sum(), mean["ind·ind"].sum()]
    cells = {cell: float(p[cell]) for cell in np.ndindex(*shape)}
    margins = [dict(enumerate(p.sum(axis).tolist())) for axis in (1, 0)]
    assert naive.shrinkage_moments(cells, *margins, n) == pytest.approx(expected, abs=1e-13)


def test_shrinkage_vanishes_with_many_dependent_samples():
    rng = np.random.default_rng(6)
    intensities = []
    for n in (20, 200, 20_000):
        x = rng.integers(3, size=n)
        y = np.where(rng.random(n) < 0.5, x, rng.integers(3, size=n))
        X, Y = ((tuple(v.tolist()),) for v in (x, y))
        intensities.append(naive.shrinkage_intensity(X, Y))
    assert intensities[0] > intensities[1] > intensities[2]
    assert intensities[2] < 1e-3
    assert naive.mi(X, Y, "shrinkage") == pytest.approx(naive.mi(X, Y), abs=1e-3)


def test_shrinkage_kills_what_looks_independent():
    assert naive.shrinkage_intensity(A, B) == 1
    assert naive.mi(A, B, "shrinkage") == pytest.approx(0, abs=1e-15)


def test_shrunk_information():
    """0 ≤ MI* ≤ MI, 0 ≤ CMI*, symmetric without a condition, λ in [0, 1]."""
    for X, y in random_tables(40, seed=7, n=(5, 40)):
        x, z, y = X[:1], X[1:3], (y,)
        assert 0 <= naive.shrinkage_intensity(x + z, y) <= 1
        shrunk = naive.mi(x, y, "shrinkage")
        assert -1e-15 <= shrunk <= naive.mi(x, y) + 1e-15
        assert shrunk == pytest.approx(naive.mi(y, x, "shrinkage"), abs=1e-14)
        assert naive.cmi(x, y, z, "shrinkage") >= -1e-15


def test_shrinking_keeps_the_margins():
    """So MI* is the plug-in formula applied to p*, whose margins it computes itself."""
    for X, y in random_tables(20, seed=8):
        x, y = X[:1], (y,)
        lam = naive.shrinkage_intensity(x, y)
        p, px, py = map(naive.probabilities, (naive.counts(*s) for s in ((x, y), (x,), (y,))))
        shrunk = {
            (a, b): lam * px[a,] * py[b,] + (1 - lam) * p.get((a, b), 0.0)
            for ((a,), (b,)) in product(px, py)
        }
        assert fsum(shrunk.values()) == pytest.approx(1)
        for (a,), share in px.items():
            assert fsum(w for (c, _), w in shrunk.items() if c == a) == pytest.approx(share)
        assert naive.mi(x, y, "shrinkage") == pytest.approx(
            naive.mi_of({cell: w for cell, w in shrunk.items() if w > 0}), abs=1e-13
        )


def test_shrunk_condition_is_a_difference_under_one_intensity():
    """Four cells: rows (x, z) and columns y written out by hand as a table."""
    x, z, y = (0, 0, 1, 1, 1), (0, 1, 0, 1, 1), (0, 1, 0, 1, 0)
    p = np.array([[1, 0], [0, 1], [1, 0], [1, 1]]) / 5  # rows 00, 01, 10, 11
    lam = naive.shrinkage_intensity((x, z), (y,))
    shrunk = lam * np.outer(p.sum(1), p.sum(0)) + (1 - lam) * p
    summed = shrunk[:2] + shrunk[2:]  # over x
    joint = stats.entropy(shrunk.ravel(), np.outer(p.sum(1), p.sum(0)).ravel())
    alone = stats.entropy(summed.ravel(), np.outer(summed.sum(1), p.sum(0)).ravel())
    assert 0 < lam < 1
    assert naive.cmi((x,), (y,), (z,), "shrinkage") == pytest.approx(joint - alone)


# -- HOCMIM and its relatives ----------------------------------------------------------------------


def same(first, second):
    assert first[0] == second[0]
    assert first[1] == pytest.approx(second[1], abs=1e-12)


@pytest.mark.parametrize("form", ["redundancy", "conditional"])
@pytest.mark.parametrize(
    ("name", "of_relative", "parameters"),
    [
        ("CMIM", {"with_relevance": False}, {"max_order": 1}),
        ("CMIM3", {}, {"max_order": 2, "search": "exhaustive"}),
        ("CMIM4", {}, {"max_order": 3, "search": "exhaustive"}),
        ("CMI", {}, {"max_order": 15}),
        ("CMI", {}, {"max_order": 15, "search": "exhaustive"}),
        ("MIM", {}, {"min_support": 1000}),
    ],
)
def test_hocmim_is_its_relatives(name, of_relative, parameters, form):
    for X, y in random_tables(25, seed=9, D=6):
        found = naive.hocmim(X, y, 5, form=form, **PLAIN, **parameters)
        same(found, naive.select(name, X, y, 5, **of_relative))


def test_path_min_is_the_smallest_along_the_path():
    shallower = 0
    for X, y in random_tables(20, seed=10):
        S = [0, 1, 2, 3]
        J, Z, order, R = naive.hocmim_candidate(4, S, X, y, path="min", **PLAIN)
        *_, full_order, full_R = naive.hocmim_candidate(4, S, X, y, path="last", **PLAIN)
        assert full_R == R
        keys = [naive.key(r) for r in R]
        assert order == len(Z) == 1 + keys.index(max(keys))
        assert naive.mi(X[4:], (y,)) - J == pytest.approx(max(R))
        shallower += order < full_order
    assert shallower > 0


def test_min_support_stops_the_path_where_cells_run_out():
    """Two levels a column: 1, 2, 4, 8 cells, hence 16, 8, 4, 2 samples in each."""
    X = tuple(zip(*product([0, 1], repeat=4), strict=True))
    y = X[0]
    for min_support, order in [(0, 3), (2, 3), (4, 3), (4.5, 2), (8, 2), (9, 1), (16, 1), (17, 0)]:
        found = naive.hocmim_candidate(3, [0, 1, 2], X, y, min_support=min_support, **PLAIN)
        assert found[2] == order


def test_early_stop():
    """A copy of the target in S leaves nothing: the candidate stops at level 1."""
    for X, y in random_tables(10, seed=11):
        X = (y, *X)
        J, Z, order, _ = naive.hocmim_candidate(3, [1, 0, 2], X, y, estimator="plugin")
        if naive.key(naive.mi(X[3:4], (y,))) > 0:
            assert (naive.key(J), Z, order) == (0, [0], 1)
    # without relevance there is no early stop
    X, y = COINS[:2], XOR[0]
    assert naive.hocmim_candidate(0, [1], (X[0], X[0]), y, estimator="plugin")[2] == 1
    assert naive.hocmim_candidate(0, [1, 2], (X[0], X[0], X[0]), y, estimator="plugin")[2] == 2


def test_hocmim_finds_exclusive_or():
    X = (COINS[2], COINS[0], COINS[1])
    selected, scores, sets, orders = naive.hocmim(X, XOR[0], 3, estimator="plugin")
    assert selected == [0, 1, 2]
    assert scores == pytest.approx([0, 0, log(2)])
    assert sets[2] == [0, 1]
    assert orders == [0, 1, 2]


# -- the other criteria ----------------------------------------------------------------------------


def test_every_criterion_begins_with_relevance():
    parameters = {
        "MIFS": {"beta": 0.7},
        "BetaGamma": {"beta": 0.7, "gamma": 0.2},
        "CMICOT": {"team_size": 3},
    }
    for X, y in random_tables(5, seed=12, levels=2):
        for name, criterion in naive.CRITERIA.items():
            for k in range(len(X)):
                score = criterion(k, [], X, y, "plugin", **parameters.get(name, {}))
                alone = naive.impurity_gain if name == "JIM" else naive.mi
                assert score == pytest.approx(alone((X[k],), (y,)), abs=1e-15)


def test_impurity_gain():
    """Levels 0 0 0 1, classes 0 0 1 1: (4 + 1)/3 + 1/1 = 8/3 of 4 samples, less 2 · ¼."""
    x, y = ((0, 0, 0, 1),), ((0, 0, 1, 1),)
    assert naive.impurity_gain(x, y) == pytest.approx(8 / 3 / 4 - 1 / 2)
    assert naive.impurity_gain(y, y) == pytest.approx(1 / 2)
    assert naive.impurity_gain(((7,) * 4,), y) == pytest.approx(0, abs=1e-15)
    assert naive.impurity_gain(A, XOR) == pytest.approx(0, abs=1e-15)
    assert naive.impurity_gain(A + B, XOR) == pytest.approx(1 / 2)


def test_jmi_is_a_sum_of_joint_informations():
    """Σ_j I(X_k X_j;Y) − Σ_j I(X_j;Y) = |S| · JMI for the plug-in."""
    for X, y in random_tables(20, seed=13):
        S = [0, 2, 3]
        joint = fsum(naive.mi((X[4], X[j]), (y,)) - naive.mi((X[j],), (y,)) for j in S)
        assert naive.jmi(4, S, X, y, "plugin") == pytest.approx(joint / 3, abs=1e-13)


def test_criteria_of_one_selected_feature():
    for X, y in random_tables(20, seed=14):
        args = (1, [0], X, y, "plugin")
        conditional = naive.cmi(X[1:2], (y,), X[0:1])
        for same_as in (naive.jmi, naive.cife, naive.cmim3, naive.cmim4, naive.cmi_all):
            assert same_as(*args) == pytest.approx(conditional, abs=1e-13)
        assert naive.relax_mrmr(*args) == pytest.approx(conditional, abs=1e-13)
        assert naive.cmim(*args, with_relevance=False) == conditional
        assert naive.cmim(*args) == min(conditional, naive.mi(X[1:2], (y,)))
        assert naive.icap(*args) == pytest.approx(naive.cmim(*args), abs=1e-13)
        assert naive.jmi3(*args) == naive.jmi4(*args) == naive.jmim(*args)
        assert naive.disr(*args) == pytest.approx(naive.jmi3(*args) / naive.entropy((*X[:2], y)))
        assert naive.njmim(*args) == naive.disr(*args)
        assert naive.jim(*args) == naive.impurity_gain(X[:2], (y,))


def test_relax_mrmr_by_hand():
    mi, cmi = naive.mi, naive.cmi
    for X, y in random_tables(5, seed=15):
        a, b, x = X[0:1], X[1:2], X[2:3]
        expected = (
            mi(x, (y,))
            - (mi(x, a) + mi(x, b)) / 2
            + (cmi(x, a, (y,)) + cmi(x, b, (y,))) / 2
            - (cmi(x, a, b) + cmi(x, b, a)) / 2
        )
        assert naive.relax_mrmr(2, [0, 1], X, y, "plugin") == pytest.approx(expected, abs=1e-13)


def test_representatives_carry_the_same_information():
    assert naive.representatives((5, 2, 9, 2)) == [(1, 0, 1, 0), (0, 0, 1, 0)]
    assert naive.representatives((3, 3)) == []
    for X, y in random_tables(10, seed=16):
        for x in X:
            indicators = tuple(naive.representatives(x))
            assert len(indicators) == len(set(x)) - 1
            assert naive.mi(indicators, (y,)) == pytest.approx(naive.mi((x,), (y,)))


def test_cmicot_scores_a_copy_zero():
    for X, y in random_tables(15, seed=17, levels=3):
        assert naive.cmicot(3, [0, 1, 2], (*X[:3], X[1]), y, "plugin", 6) == pytest.approx(
            0, abs=1e-12
        )


def test_cmicot_finds_the_partner():
    """a is worthless alone; with b as helper it is worth a bit, which c as opponent cannot take."""
    X = (COINS[2], COINS[1], COINS[0])
    score = naive.cmicot(2, [0, 1], X, XOR[0], "plugin", 3)
    assert score == pytest.approx(log(2))

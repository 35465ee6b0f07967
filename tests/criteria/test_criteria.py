"""Every selector against its naive twin, and what it must and must not choose."""

import numpy as np
import pytest

import hocmim
import naive
import warned
from coded import encode
from hocmim import _native
from hocmim.coding.codes import Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.jim import JIMCriterion
from hocmim.criteria.njmim import NJMIMCriterion
from hocmim.errors import InvalidCriterionError
from hocmim.information.counting import native_list
from hocmim.search.engines.local import LocalEngine
from hocmim.search.loop import forward_search
from hocmim.selectors.base import InformationSelector
from hocmim.selectors.registry import METHODS

pytestmark = pytest.mark.filterwarnings(warned.LEAK, warned.TEXT)

UNCUT = hocmim.Encoder(16)  # integer columns of up to 16 levels are taken as they are

# name, parameters, tables of a batch for plug-in and shrinkage, (samples, columns, selected)
SECOND_ORDER, THIRD_ORDER, FOURTH_ORDER = 25, 20, 15
SELECTORS = [
    ("MIM", {}, SECOND_ORDER),
    ("MIFS", {"beta": 1.0}, SECOND_ORDER),
    ("MIFS", {"beta": 0.3}, SECOND_ORDER),
    ("MRMR", {}, SECOND_ORDER),
    ("JMI", {}, SECOND_ORDER),
    ("CIFE", {}, SECOND_ORDER),
    ("BetaGamma", {"beta": 0.4, "gamma": 0.9}, SECOND_ORDER),
    ("BetaGamma", {"beta": 0.0, "gamma": 0.5}, SECOND_ORDER),
    ("DISR", {}, SECOND_ORDER),
    ("CMIM", {}, SECOND_ORDER),
    ("CMIM", {"with_relevance": False}, SECOND_ORDER),
    ("ICAP", {}, SECOND_ORDER),
    ("JMIM", {}, SECOND_ORDER),
    ("NJMIM", {}, SECOND_ORDER),
    ("JIM", {}, SECOND_ORDER),
    ("CMI", {}, SECOND_ORDER),
    ("RelaxMRMR", {}, THIRD_ORDER),
    ("JMI3", {}, THIRD_ORDER),
    ("CMIM3", {}, THIRD_ORDER),
    ("JMI4", {}, FOURTH_ORDER),
    ("CMIM4", {}, FOURTH_ORDER),
]
INFORMATION = [name for name, kind in METHODS.items() if issubclass(kind, InformationSelector)]
NAMES = sorted({name for name, _, _ in SELECTORS} | {"CMICOT", "HOCMIM"})
every_selector = pytest.mark.parametrize(
    ("name", "parameters", "count"),
    [pytest.param(*row, id="-".join(map(str, [row[0], *row[1].values()]))) for row in SELECTORS],
)


def selector(name, K, **parameters):
    return getattr(hocmim, name)(K, encoder=UNCUT, **parameters)


def assert_agrees(name, X, y, K, estimator, parameters):
    found = selector(name, K, estimator=estimator, **parameters).fit(X, y)
    columns, target = naive.columns(X), tuple(y.tolist())
    selected, scores = naive.select(name, columns, target, K, estimator, **parameters)
    assert found.selected_.tolist() == selected
    np.testing.assert_allclose(found.scores_, scores, rtol=0, atol=1e-9)
    if name != "CMICOT":
        relevance = [naive.mi((x,), (target,), estimator) for x in columns]
        np.testing.assert_allclose(found.relevance_, relevance, rtol=0, atol=1e-9)


# -- the naive twin: the same tables for all, so that it can remember what they share --------------


@pytest.mark.slow
@every_selector
@pytest.mark.parametrize("estimator", ["plugin", "shrinkage"])
@pytest.mark.parametrize("seed", range(2))
def test_agrees_with_the_naive_twin(name, parameters, count, estimator, seed):
    for X, y in naive.random_tables([700, seed], count, (10, 60), D=6, levels=5):
        assert_agrees(name, X, y, 5, estimator, parameters)
    X, y = next(naive.random_tables([701, seed], 1, (400, 501), D=7))
    assert_agrees(name, X, y, 6, estimator, parameters)


@every_selector
@pytest.mark.parametrize("estimator", ["miller_madow", "grassberger", "jeffreys"])
def test_agrees_with_the_naive_twin_for_other_estimators(name, parameters, count, estimator):
    for X, y in naive.random_tables(702, 6, (10, 60), D=5, levels=4):
        assert_agrees(name, X, y, 4, estimator, parameters)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("team_size", [1, 2, 3, 6])
def test_cmicot_agrees_with_the_naive_twin(team_size, seed):
    for X, y in naive.random_tables([703, seed], 12, (10, 80), D=5, levels=4):
        assert_agrees("CMICOT", X, y, 4, "plugin", {"team_size": team_size})


@pytest.mark.parametrize("estimator", naive.ESTIMATORS[1:])
def test_cmicot_agrees_with_the_naive_twin_for_other_estimators(estimator):
    for X, y in naive.random_tables(704, 6, (10, 40), D=4, levels=4):
        assert_agrees("CMICOT", X, y, 4, estimator, {"team_size": 3})


def test_default_team_is_six():
    X, y = next(naive.random_tables(705, 1, (100, 101), D=5, levels=4))
    defaults, six = selector("CMICOT", 5), selector("CMICOT", 5, team_size=6)
    assert defaults.fit(X, y).scores_.tobytes() == six.fit(X, y).scores_.tobytes()
    assert_agrees("CMICOT", X, y, 5, "plugin", {"team_size": 6})


@pytest.mark.parametrize("name", NAMES)
def test_default_estimators_are_the_papers(name):
    """Shrinkage where the paper used it; everything else is plug-in."""
    shrunk = {"HOCMIM", "RelaxMRMR", "JMI3", "JMI4", "CMIM3", "CMIM4"}
    expected = "shrinkage" if name in shrunk else "plugin"
    assert getattr(hocmim, name)().get_params()["estimator"] == expected


@pytest.mark.parametrize("name", NAMES)
def test_the_unit_of_the_scores(name):
    units = {"DISR": "share", "NJMIM": "share", "JIM": "impurity"}
    assert getattr(hocmim, name)().make_criterion().unit == units.get(name, "nats")


# -- identities ------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["plugin", "shrinkage"])
@pytest.mark.parametrize(
    ("name", "beta", "gamma"), [("MIM", 0.0, 0.0), ("MIFS", 1.0, 0.0), ("CIFE", 1.0, 1.0)]
)
def test_one_family(name, beta, gamma, estimator):
    options = {"beta": beta} if name == "MIFS" else {}
    for X, y in naive.random_tables(706, 10, (20, 200), D=8):
        member = selector(name, 6, estimator=estimator, **options).fit(X, y)
        family = selector("BetaGamma", 6, beta=beta, gamma=gamma, estimator=estimator).fit(X, y)
        assert member.selected_.tolist() == family.selected_.tolist()
        np.testing.assert_allclose(member.scores_, family.scores_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_change_a_bit(name):
    for X, y in naive.random_tables(707, 2, (60, 120), D=20):
        alone = selector(name, 6, n_jobs=1).fit(X, y)
        for n_jobs in (2, 4):
            found = selector(name, 6, n_jobs=n_jobs).fit(X, y)
            assert found.selected_.tolist() == alone.selected_.tolist()
            assert found.scores_.tobytes() == alone.scores_.tobytes()
            assert found.relevance_.tobytes() == alone.relevance_.tobytes()


# -- CMIM with the relevance in its minimum, and without -------------------------------------------


@pytest.fixture
def partner_and_part():
    """Every combination of three bits a, b, d. Columns: A = (a, d), B = b, C = (a⊕b) ∧ d.

    The target is Y = (a⊕b, d): four classes.
    """
    a, b, d = np.array(np.meshgrid(*[[0, 1]] * 3)).reshape(3, -1)
    return np.stack([2 * a + d, b, (a ^ b) & d], axis=1), 2 * (a ^ b) + d


def test_cmim_is_fleurets(partner_and_part):
    """The selection of FEAST and of praznik from version 3.0, by hand.

    I(A;Y) = H(d) = log 2, since a says nothing about a⊕b. I(B;Y) = 0. I(C;Y) = H(C) = H(¼) = 0.562,
    since Y determines C. A is first.

    I(B;Y|A) = log 2: given a and d, b and Y determine each other.
    I(C;Y|A) = H(C|A) = ½ log 2: C = 0 where d = 0, and a fair coin where d = 1.
    B scores min(0, log 2) = 0 and C scores min(0.562, ½ log 2) = ½ log 2. C is second, B is last.
    """
    X, y = partner_and_part
    found = selector("CMIM", 3).fit(X, y)
    assert found.selected_.tolist() == [0, 2, 1]
    np.testing.assert_allclose(found.scores_, [np.log(2), np.log(2) / 2, 0], rtol=0, atol=1e-12)


def test_the_bare_minimum_selects_the_partner_first(partner_and_part):
    """Without I(X;Y), B scores I(B;Y|A) = log 2 and comes before C.

    Then C scores min(I(C;Y|A), I(C;Y|B)) = min(½ log 2, 0.562), since B is independent of Y.
    """
    X, y = partner_and_part
    found = selector("CMIM", 3, with_relevance=False).fit(X, y)
    assert found.selected_.tolist() == [0, 1, 2]
    expected = [np.log(2), np.log(2), np.log(2) / 2]
    np.testing.assert_allclose(found.scores_, expected, rtol=0, atol=1e-12)


# -- JIM -------------------------------------------------------------------------------------------


def test_the_estimator_does_not_change_a_selection_by_impurity():
    X, y = next(naive.random_tables(711, 1, (100, 101), D=8))
    plugin, shrinkage = (selector("JIM", 6, estimator=e).fit(X, y) for e in naive.ESTIMATORS[:2])
    assert plugin.selected_.tolist() == shrinkage.selected_.tolist()
    assert plugin.scores_.tobytes() == shrinkage.scores_.tobytes()
    assert plugin.relevance_.tobytes() != shrinkage.relevance_.tobytes()


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("criterion", [JIMCriterion(), NJMIMCriterion()])
def test_blocks_do_not_change_a_bit(criterion):
    for X, y in naive.random_tables(713, 4, (20, 300), D=20):
        codes = encode(X, n_bins=16)
        target = encode(y[:, None], n_bins=16).column(0)
        found = set()
        for n_jobs, block_size in [(1, 20), (1, 1), (2, 3), (4, 7)]:
            with LocalEngine(
                codes, target, criterion, n_jobs=n_jobs, block_size=block_size
            ) as engine:
                steps = forward_search(engine, 8).steps
            found.add(tuple((step.index, step.score) for step in steps))
        assert len(found) == 1


@pytest.mark.parametrize("arity", [2, 5, 60, 300, 3000])
@pytest.mark.parametrize("n_cells", [1, 3, 50, 2000])
def test_impurity_gain_of_any_size(arity, n_cells):
    """Tables with fewer counters than samples are counted in another way than larger ones."""
    rng = np.random.default_rng([arity, n_cells])
    x, w, y = rng.integers([arity, n_cells, 3], size=(4000, 3)).T
    y = np.where(rng.random(4000) < 0.3, x % 3, y).astype(np.uint32)
    columns = native_list([Column(x.astype(np.uint8 if arity <= 256 else np.uint16), arity)], 4000)
    gain = np.empty(1)
    _native.impurity_gain(columns, w.astype(np.uint32), n_cells, y, 3, gain)
    X, W, Y = ((tuple(v.tolist()),) for v in (x, w, y))
    assert gain[0] == pytest.approx(naive.impurity_gain(X + W, Y), abs=1e-13)
    # Renamed levels and rows in another order: the same bits.
    order, name = rng.permutation(4000), rng.permutation(arity)
    renamed = Column(name[x][order].astype(np.uint16), arity)
    again, cells = np.empty(1), np.ascontiguousarray(w[order].astype(np.uint32))
    _native.impurity_gain(native_list([renamed], 4000), cells, n_cells, y[order], 3, again)
    assert again.tobytes() == gain.tobytes()


def test_both_ways_of_counting_impurity_give_the_same_bits():
    """A larger declared arity makes the table too large; the levels that occur are the same."""
    rng = np.random.default_rng(712)
    for _ in range(20):
        n = int(rng.integers(200, 3000))
        x, w, y = rng.integers([4, 3, 2], size=(n, 3)).T.astype(np.uint32)
        columns = native_list([Column(x.astype(np.uint8), arity) for arity in (4, 256)], n)
        columns.append(x.astype(np.uint16), 60_000)
        gain = np.empty(3)
        _native.impurity_gain(columns, np.ascontiguousarray(w), 3, np.ascontiguousarray(y), 2, gain)
        assert gain[1:].tobytes() == gain[[0, 0]].tobytes()


def test_wrong_arguments_of_the_impurity_kernel():
    columns = native_list([Column(np.zeros(4, np.uint8), 1)], 4)
    cells, out = np.array([0, 1, 2, 0], np.uint32), np.empty(1)
    for w, n_cells, y, n_classes, to in [
        (cells, 2, cells, 3, out),
        (cells, 3, cells, 2, out),
        (cells[:3], 3, cells, 3, out),
        (cells, 3, cells[:3], 3, out),
        (cells, 3, cells, 3, np.empty(2)),
    ]:
        with pytest.raises(ValueError, match=r"not below their number|do not fit together"):
            _native.impurity_gain(columns, w, n_cells, y, n_classes, to)


# -- what they choose ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_parity_repeats_no_feature(name):
    """Every score is 0 or a tie at first: a poor loop takes the same feature again."""
    X = np.array(np.meshgrid(*[[0, 1]] * 5)).reshape(5, -1).T
    y = X[:, 0] ^ X[:, 1] ^ X[:, 2]
    for K in (3, 5):
        selected = selector(name, K, estimator="plugin").fit(X, y).selected_.tolist()
        assert len(set(selected)) == K


@pytest.fixture
def strong_copies_weak():
    """Columns: a strong feature, a copy, a renamed copy, a weak but informative feature."""
    rng = np.random.default_rng(708)
    y = rng.integers(3, size=400)
    strong, weak = (np.where(rng.random(400) < p, y, rng.integers(3, size=400)) for p in (0.7, 0.4))
    return np.stack([strong, strong, (strong + 1) % 3, weak], axis=1), y


@pytest.mark.parametrize("estimator", ["plugin", "shrinkage"])
@pytest.mark.parametrize("name", ["HOCMIM", "CMIM", "CMIM3", "CMIM4", "CMI", "CMICOT"])
def test_a_copy_waits_for_the_informative(strong_copies_weak, name, estimator):
    X, y = strong_copies_weak
    selected = selector(name, 4, estimator=estimator).fit(X, y).selected_.tolist()
    assert selected[:2] == [0, 3]


@pytest.mark.parametrize("name", ["CMIM", "CMIM3", "CMIM4", "CMI", "CMICOT"])
def test_a_copy_scores_zero(strong_copies_weak, name):
    X, y = strong_copies_weak
    found = selector(name, 4, estimator="plugin").fit(X[:, [0, 1, 3, 1]], y)
    assert found.selected_.tolist() == [0, 2, 1, 3]
    np.testing.assert_allclose(found.scores_[2:], 0, rtol=0, atol=1e-12)


def test_cmicot_scores_a_copy_zero():
    """Two columns, then a copy of each: nothing is left once the two are chosen."""
    for X, y in naive.random_tables(709, 30, (100, 200), D=2, levels=4, ties=False):
        found = selector("CMICOT", 4).fit(X[:, [0, 1, 0, 1]], y)
        scores = dict(zip(found.selected_.tolist(), found.scores_, strict=True))
        assert min(scores[0], scores[2]) == pytest.approx(0, abs=1e-12)
        assert min(scores[1], scores[3]) == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("team_size", [2, 3, 6])
def test_cmicot_scores_a_copy_zero_whatever_ties_there_are(team_size):
    """Small tables are full of ties: every order of selection must leave a copy nothing."""
    rng = np.random.default_rng(710)
    for _ in range(150):
        X = rng.integers(2, size=(rng.integers(6, 12), 3))
        y = rng.integers(2, size=len(X))
        if len(set(y)) < 2:
            continue
        X = X[:, [0, 1, 2, 2]]
        X[:, 3] ^= rng.integers(2)  # a copy, or its negation
        found = selector("CMICOT", 4, team_size=team_size).fit(X, y)
        scores = dict(zip(found.selected_.tolist(), found.scores_, strict=True))
        assert min(scores[2], scores[3]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", INFORMATION)
@pytest.mark.parametrize("many", ["levels of a selected column", "classes"])
def test_any_number_of_levels_and_classes(name, many):
    """More than the kernels on bit planes can have: counted by samples."""
    rng = np.random.default_rng(8)
    n_samples = 1500
    y = rng.integers(2, size=n_samples)
    X = rng.integers(3, size=(n_samples, 5))
    if many == "classes":
        y = rng.integers(600, size=n_samples)
        X[:, 2] = y % 3
    else:
        X[:, 2] = 2 * rng.integers(600, size=n_samples) + y
    found = hocmim.make_selector(name, n_features_to_select=3).fit(X.astype(str), y.astype(str))
    assert 2 in found.selected_


class Wrong(Criterion):
    """A criterion of a user, with a fault in its scores."""

    def __init__(self, fault):
        super().__init__()
        self.fault = fault

    def start(self, block, y):
        relevance = super().start(block, y)
        return None if self.fault == "start" else relevance

    def scores(self):
        scores = self.relevance.copy()
        if self.fault == "short":
            return scores[:-1]
        if self.fault == "text":
            return ["high"] * len(scores)
        scores[2] = {"nan": np.nan, "inf": -np.inf}[self.fault]
        return scores


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("short", r"shape \(4,\). It returned one of shape \(3,\)"),
        ("nan", "it must be finite. It returned nan for number 2 of 4"),
        ("inf", "it must be finite. It returned -inf for number 2 of 4"),
        ("text", r"shape \(4,\). It returned \['high', 'high', 'high', 'high'\]"),
    ],
)
def test_wrong_scores_of_an_own_criterion_are_an_error(fault, message):
    X = np.random.default_rng(3).integers(3, size=(50, 4))
    selector = hocmim.CriterionSelector(Wrong(fault), 2, n_jobs=1)
    expected = rf"Wrong\.scores\(\) must return one number for each column.*{message}"
    with pytest.raises(InvalidCriterionError, match=expected):
        selector.fit(X, X[:, 0] > 1)


def test_a_criterion_that_does_not_start_is_an_error():
    X = np.random.default_rng(3).integers(3, size=(50, 4))
    expected = r"Wrong\.start\(\) must return .* It returned None\. Call super\(\)\.start"
    with pytest.raises(InvalidCriterionError, match=expected):
        hocmim.CriterionSelector(Wrong("start"), 2).fit(X, X[:, 0] > 1)


def test_constant_columns_score_zero():
    X, y = next(naive.random_tables(710, 1, (50, 51), D=4))
    X[:, 1] = 5
    for name in ("MIM", "MIFS", "MRMR", "JMI", "CIFE", "CMIM", "ICAP", "CMI", "CMICOT"):
        found = selector(name, 3, estimator="plugin", keep=[1]).fit(X, y)
        scores = dict(zip(found.selected_.tolist(), found.scores_, strict=True))
        assert abs(scores[1]) < 1e-12

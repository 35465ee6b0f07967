"""HOCMIM through its public face: the paper's example, the identities, and the naive twin."""

from itertools import product

import numpy as np
import pytest

import hocmim
import naive
import warned
from hocmim import HOCMIM, CriterionSelector, Encoder
from hocmim.criteria.hocmim import HOCMIMCriterion
from hocmim.errors import InvalidParameterError

pytestmark = pytest.mark.filterwarnings(warned.LEAK)

UNCUT = Encoder(16)  # integer columns of up to 16 levels are taken as they are
X_EXAMPLE, Y_EXAMPLE = (np.array(part).T for part in naive.worked_example())
FORMS = ["redundancy", "conditional"]


def fit(X, y, K, *, encoder=UNCUT, n_jobs=None, **parameters):
    criterion = HOCMIMCriterion(**parameters)
    return CriterionSelector(criterion, K, encoder=encoder, n_jobs=n_jobs).fit(X, y)


def assert_same_answer(found, expected, exactly=True):
    """The same features, orders and sets; scores to the last bit, or to 12 decimals."""
    assert found.selected_.tolist() == expected.selected_.tolist()
    assert found.orders_.tolist() == expected.orders_.tolist()
    assert [Z.tolist() for Z in found.representative_sets_] == [
        Z.tolist() for Z in expected.representative_sets_
    ]
    if exactly:
        assert found.scores_.tobytes() == expected.scores_.tobytes()
        assert found.relevance_.tobytes() == expected.relevance_.tobytes()
    else:
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=0, atol=1e-12)


# -- the worked example ----------------------------------------------------------------------------


def test_relevance_of_the_worked_example():
    selector = fit(X_EXAMPLE, Y_EXAMPLE, 5, estimator="plugin")
    found = np.round(naive.bits(selector.relevance_), 3)
    np.testing.assert_array_equal(found, [0.006, 0.046, 0.256, 0.006, 0.171])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("max_order", "ranking"), [(1, [3, 2, 4, 5, 1]), (2, [3, 2, 4, 1, 5]), (3, [3, 2, 4, 1, 5])]
)
def test_rankings_of_the_worked_example(max_order, ranking, form):
    selector = fit(X_EXAMPLE, Y_EXAMPLE, 5, max_order=max_order, estimator="plugin", form=form)
    assert (selector.selected_ + 1).tolist() == ranking
    assert (np.argsort(selector.ranking_, kind="stable") + 1).tolist() == ranking


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("max_order", "redundancies", "sets"),
    [
        # R of each feature when it was chosen, and the set it was measured against
        (1, [0, -0.144, -0.109, 0.105], [[], [3], [3], [3]]),
        (2, [0, -0.144, -0.243, -0.080], [[], [3], [3, 2], [2, 4]]),
        (3, [0, -0.144, -0.243, -0.270], [[], [3], [3, 2], [2, 4, 3]]),
    ],
)
def test_scores_of_the_worked_example(max_order, redundancies, sets, form):
    selector = fit(X_EXAMPLE, Y_EXAMPLE, 4, max_order=max_order, estimator="plugin", form=form)
    R = naive.bits(selector.relevance_[selector.selected_] - selector.scores_)
    np.testing.assert_allclose(R, redundancies, rtol=0, atol=0.0005 + 1e-12)
    assert [(Z + 1).tolist() for Z in selector.representative_sets_] == sets
    assert selector.orders_.tolist() == [len(Z) for Z in sets]


# -- the naive twin --------------------------------------------------------------------------------

BATCHES = [  # (samples, columns, selected, tables in a batch, batches)
    ((10, 40), 8, 7, 12, 4),
    ((40, 120), 8, 6, 6, 3),
    ((120, 300), 6, 5, 4, 2),
    ((400, 501), 6, 5, 2, 2),
]
BATCHES = [
    pytest.param(seed, n, D, K, count, id=f"{n[0]}..{n[1]}-{seed}")
    for n, D, K, count, batches in BATCHES
    for seed in range(batches)
]


def assert_agrees(X, y, K, parameters):
    columns, target = naive.columns(X), tuple(y.tolist())
    selector = fit(X, y, K, **parameters)
    assert len(selector.selected_) == K
    naive.assert_selects_as_hocmim(selector, X, y, **parameters)
    relevance = [naive.mi((x,), (target,), parameters["estimator"]) for x in columns]
    np.testing.assert_allclose(selector.relevance_, relevance, rtol=0, atol=1e-9)
    ranked = np.argsort(selector.ranking_, kind="stable")[:K]
    assert ranked.tolist() == selector.selected_.tolist()


def some_options(rng):
    return {
        "path": str(rng.choice(["last", "min"])),
        "min_support": float(rng.choice([0, 0, 1, 2.5, 6])),
        "max_order": int(rng.choice([1, 2, 3, 15, 15])),
        "tol": float(rng.choice([0.01, 0.01, 0.0, 0.2])),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "n", "D", "K", "count"), BATCHES)
def test_agrees_with_the_naive_twin(seed, n, D, K, count):
    rng = np.random.default_rng([seed, n[0]])
    for X, y in naive.random_tables([seed, n[0], 1], count, n, D):
        for estimator, form in product(["plugin", "shrinkage"], FORMS):
            for _ in range(2):
                parameters = {"estimator": estimator, "form": form, **some_options(rng)}
                assert_agrees(X, y, K, parameters)


@pytest.mark.parametrize("estimator", ["miller_madow", "grassberger", "jeffreys"])
@pytest.mark.parametrize("form", FORMS)
def test_agrees_with_the_naive_twin_for_other_estimators(estimator, form):
    rng = np.random.default_rng(100)
    for X, y in naive.random_tables(100, 10, (10, 80), D=6, levels=5):
        assert_agrees(X, y, 5, {"estimator": estimator, "form": form, **some_options(rng)})


def test_defaults_are_the_papers():
    X, y = next(naive.random_tables(102, 1, (200, 201), D=8))
    papers = {
        "max_order": 15,
        "tol": 0.01,
        "estimator": "shrinkage",
        "form": "redundancy",
        "path": "last",
        "min_support": 0,
    }
    defaults = HOCMIM(6, encoder=UNCUT).fit(X, y)
    assert_same_answer(defaults, fit(X, y, 6, **papers))
    naive.assert_selects_as_hocmim(defaults, X, y, estimator="shrinkage")


def test_wide_columns_agree_with_the_naive_twin():
    """More than 256 levels in a column: two bytes a cell."""
    rng = np.random.default_rng(103)
    X, y = naive.random_table(rng, 600, 5, levels=4, classes=3)
    X[:, 2] = rng.integers(500, size=600)
    X[:, 4] = np.arange(600)
    for form in FORMS:
        parameters = {"estimator": "plugin", "form": form, "max_order": 3}
        selector = fit(X, y, 5, encoder=Encoder(1000), **parameters)
        assert len(selector.selected_) == 5
        naive.assert_selects_as_hocmim(selector, X, y, **parameters)


# -- identities ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("relative", "of_relative", "parameters"),
    [
        ("CMIM", {"with_relevance": False}, {"max_order": 1}),
        ("CMI", {}, {"max_order": 15}),
    ],
)
def test_hocmim_is_its_relatives(relative, of_relative, parameters, form):
    for X, y in naive.random_tables(200, 10, (20, 200), D=7):
        found = fit(X, y, 6, form=form, tol=0.0, estimator="plugin", **parameters)
        plain = {"estimator": "plugin", "encoder": UNCUT}
        expected = getattr(hocmim, relative)(6, **plain, **of_relative).fit(X, y)
        assert found.selected_.tolist() == expected.selected_.tolist()
        np.testing.assert_allclose(found.scores_, expected.scores_, rtol=0, atol=1e-12)


def test_plug_in_forms_are_equal():
    for X, y in naive.random_tables(201, 20, (20, 200), D=7):
        redundancy, conditional = (fit(X, y, 6, estimator="plugin", form=f) for f in FORMS)
        assert_same_answer(redundancy, conditional, exactly=False)


def test_min_support_beyond_the_samples_is_relevance():
    for X, y in naive.random_tables(202, 5, (20, 60), D=7):
        selector = fit(X, y, 7, min_support=61)
        assert selector.orders_.tolist() == [0] * 7
        np.testing.assert_array_equal(selector.scores_, selector.relevance_[selector.selected_])


def test_more_features_only_add_to_fewer():
    for X, y in naive.random_tables(203, 5, (20, 200), D=8):
        most = fit(X, y, 8)
        for K in range(1, 8):
            assert fit(X, y, K).selected_.tolist() == most.selected_[:K].tolist()


# -- symmetries ------------------------------------------------------------------------------------

SYMMETRIC = [
    {"estimator": "plugin", "max_order": 2},
    {"estimator": "shrinkage"},
    {"estimator": "shrinkage", "form": "conditional", "path": "min"},
    {"estimator": "shrinkage", "min_support": 5},
]


@pytest.mark.parametrize("parameters", SYMMETRIC, ids=str)
def test_permuting_columns_permutes_the_answer(parameters):
    rng = np.random.default_rng(300)
    for X, y in naive.random_tables(300, 8, (300, 400), D=8, ties=False):
        order = rng.permutation(8)
        before, after = fit(X, y, 5, **parameters), fit(X[:, order], y, 5, **parameters)
        assert order[after.selected_].tolist() == before.selected_.tolist()
        assert after.orders_.tolist() == before.orders_.tolist()
        assert [order[Z].tolist() for Z in after.representative_sets_] == [
            Z.tolist() for Z in before.representative_sets_
        ]
        np.testing.assert_array_equal(after.scores_, before.scores_)
        np.testing.assert_array_equal(after.relevance_, before.relevance_[order])


@pytest.mark.parametrize("parameters", SYMMETRIC, ids=str)
def test_renaming_levels_changes_nothing(parameters):
    rng = np.random.default_rng(301)
    for X, y in naive.random_tables(301, 8, (20, 200), D=8):
        renamed = np.stack([rng.permutation(50)[column] for column in X.T], axis=1)
        classes = np.array(list("zebra"))[y]
        found = fit(renamed, classes, 6, **parameters)
        assert_same_answer(found, fit(X, y, 6, **parameters), exactly=False)


@pytest.mark.parametrize("parameters", SYMMETRIC, ids=str)
def test_permuting_rows_changes_nothing(parameters):
    rng = np.random.default_rng(302)
    for X, y in naive.random_tables(302, 8, (20, 200), D=8):
        order = rng.permutation(len(y))
        found = fit(X[order], y[order], 6, **parameters)
        assert_same_answer(found, fit(X, y, 6, **parameters), exactly=False)


# -- threads and blocks ----------------------------------------------------------------------------

EVERYWHERE = [
    {"estimator": estimator, "form": form, **options}
    for (estimator, form), options in zip(
        product(["plugin", "shrinkage"], FORMS),
        [{"path": "min"}, {"min_support": 3}, {}, {"max_order": 3}],
        strict=True,
    )
]


@pytest.mark.parametrize("parameters", EVERYWHERE, ids=str)
def test_threads_do_not_change_a_bit(parameters):
    for X, y in naive.random_tables(400, 3, (100, 300), D=40):
        alone = fit(X, y, 12, n_jobs=1, **parameters)
        for n_jobs in (2, 4, -1):
            assert_same_answer(fit(X, y, 12, n_jobs=n_jobs, **parameters), alone)


# -- what it finds ---------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("estimator", ["plugin", "shrinkage"])
def test_finds_three_bit_parity(estimator, form):
    """Each bit alone, and each pair, tells nothing: noise can only be passed over at order 2."""
    rng = np.random.default_rng(500)
    X = rng.integers(2, size=(2000, 6))
    y = X[:, 0] ^ X[:, 2] ^ X[:, 5]
    selector = fit(X, y, 6, estimator=estimator, form=form)
    last_bit = max(selector.selected_.tolist().index(bit) for bit in (0, 2, 5))
    assert selector.scores_[last_bit] > 0.6
    assert sorted(selector.selected_) == list(range(6))
    assert {0, 2, 5} <= {selector.selected_[last_bit], *selector.representative_sets_[last_bit]}


@pytest.mark.parametrize("form", FORMS)
def test_a_copy_waits_for_the_informative(form):
    rng = np.random.default_rng(501)
    y = rng.integers(3, size=400)
    strong, weak = (np.where(rng.random(400) < p, y, rng.integers(3, size=400)) for p in (0.7, 0.4))
    X = np.stack([strong, strong, (strong + 1) % 3, weak], axis=1)
    selector = fit(X, y, 4, form=form)
    assert selector.selected_[:2].tolist() == [0, 3]


def test_constant_columns_score_zero():
    X, y = next(naive.random_tables(502, 1, (50, 51), D=5))
    X[:, 1], X[:, 3] = 0, 7
    for estimator, form in product(["plugin", "shrinkage", "jeffreys"], FORMS):
        selector = fit(X, y, 3, estimator=estimator, form=form)
        np.testing.assert_allclose(selector.relevance_[[1, 3]], 0, atol=1e-15)
        assert sorted(selector.selected_.tolist()) == [0, 2, 4]


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"max_order": 0}, "max_order"),
        ({"tol": -0.1}, "tol"),
        ({"estimator": "bayes"}, "plugin.*shrinkage|shrinkage.*plugin"),
        ({"form": "other"}, "form.*(redundancy.*conditional|conditional.*redundancy)"),
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"n_features_to_select": "all"}, "n_features_to_select"),
    ],
    ids=str,
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises(InvalidParameterError, match=f"(?s){sentence}"):
        HOCMIM(**{"n_features_to_select": 3, **parameters}).fit(X_EXAMPLE, Y_EXAMPLE)

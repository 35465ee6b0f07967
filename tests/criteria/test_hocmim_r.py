"""HOCMIM-R against its naive twin, lazy against eager search, and what its score means."""

import numpy as np
import pytest

import naive
from coded import encode
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.hocmim_r import RobustHOCMIMCriterion, RobustSearch
from hocmim.criteria.searches import SearchPlan
from hocmim.search.engines.local import LocalEngine
from hocmim.search.loop import forward_search

VARIANTS = [
    {},
    {"max_order": 1},
    {"max_order": 2, "min_support": 0},
    {"min_support": 0},
    {"min_support": 1.5, "weight": 0.5, "limit": 1},
    {"weight": 0},
    {"weight": 1, "limit": 100},
    {"limit": 0, "min_support": 10},
]


class Eager(RobustHOCMIMCriterion):
    """Searched by computing every score."""

    plan = SearchPlan()


class Lazy(RobustHOCMIMCriterion):
    """Searched by bounds, with threads on tables of any size."""

    plan = SearchPlan(RobustSearch)


def coded(X, y):
    return encode(X, n_bins=16), encode(y[:, None], n_bins=16).column(0)


def search(criterion, codes, target, K, n_jobs=1, block_size=None):
    """The steps of a search, and how many terms they took."""
    n_terms = []
    with LocalEngine(
        codes, target, criterion, n_jobs=n_jobs, block_size=block_size, on_terms=n_terms.append
    ) as engine:
        return forward_search(engine, K).steps, sum(n_terms)


def recorded(steps):
    """All that is known of the steps, in a form that compares bit by bit."""
    return [
        (step.index, step.score, *(np.asarray(value).tolist() for value in step.details.values()))
        for step in steps
        for step in (step, step.runner_up)
        if step is not None
    ]


def assert_is_twin(steps, X, y, **parameters):
    """The steps are those of the naive twin; its numbers to 1e-9."""
    columns = naive.columns(np.asarray(X)), tuple(np.asarray(y).tolist())
    selected, scores, chosen = naive.robust_hocmim(*columns, len(steps), **parameters)
    assert [step.index for step in steps] == selected, parameters
    np.testing.assert_allclose([step.score for step in steps], scores, rtol=0, atol=1e-9)
    for step, (_, Z, *numbers) in zip(steps, chosen, strict=True):
        assert step.representative_set.tolist() == Z
        assert step.order == len(Z)
        found = [step.details[name] for name in ("minimum", "average", "sigma")]
        np.testing.assert_allclose(found, numbers, rtol=0, atol=1e-9)
        assert step.details["lift"] == pytest.approx(step.score - numbers[0], abs=1e-9)


def columns_of(arities, y, rng, strength=0.2):
    """Columns of these arities, all levels present, that follow y in part."""
    columns = []
    for arity in arities:
        levels = rng.permutation(np.arange(len(y)) % arity)
        follows = rng.random(len(y)) < strength
        levels[follows] = y[follows] % arity
        levels = np.unique(levels, return_inverse=True)[1]
        dtype = np.uint8 if arity <= 256 else np.uint16
        columns.append(Column(levels.astype(dtype), int(levels.max()) + 1))
    return columns


# -- the naive twin --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_selects_as_the_twin(parameters, seed):
    for X, y in naive.random_tables(1600 + seed, 4, (10, 90), D=8, levels=6):
        codes, target = coded(X, y)
        steps, _ = search(RobustHOCMIMCriterion(**parameters), codes, target, 8)
        assert_is_twin(steps, X, y, **parameters)


@pytest.mark.parametrize("estimator", naive.ESTIMATORS)
def test_takes_any_estimator(estimator):
    for X, y in naive.random_tables(1620, 6, (10, 60), D=7, levels=5):
        codes, target = coded(X, y)
        steps, _ = search(RobustHOCMIMCriterion(estimator=estimator), codes, target, 7)
        assert_is_twin(steps, X, y, estimator=estimator)


@pytest.mark.slow
@pytest.mark.parametrize("n_samples", [300, 4500])
def test_columns_of_few_and_many_levels(n_samples):
    """With bit planes, with one byte and with two bytes per cell."""
    rng = np.random.default_rng(n_samples)
    y = rng.permutation(np.arange(n_samples) % 3)
    columns = columns_of([2, 5, 40, 3, 200, 300, 9, 1, 10], y, rng)
    codes, target = Codes.from_columns(columns), Column(y.astype(np.uint8), 3)
    X = np.column_stack([column.codes for column in columns])
    steps, _ = search(RobustHOCMIMCriterion(), codes, target, 7)
    assert_is_twin(steps, X, y)


@pytest.mark.parametrize("n_classes", [9, 40, 300])
def test_many_classes(n_classes):
    rng = np.random.default_rng(n_classes)
    y = rng.permutation(np.arange(900) % n_classes)
    columns = columns_of([2, 5, 4, 3, 20, 6, 2], y, rng, strength=0.5)
    dtype = np.uint8 if n_classes <= 256 else np.uint16
    codes, target = Codes.from_columns(columns), Column(y.astype(dtype), n_classes)
    X = np.column_stack([column.codes for column in columns])
    steps, _ = search(RobustHOCMIMCriterion(), codes, target, 6)
    assert_is_twin(steps, X, y)


def test_many_samples_in_a_cell():
    """Cells of more than 255 samples are counted in another way."""
    rng = np.random.default_rng(1621)
    y = rng.integers(2, size=6000)
    X = rng.integers(3, size=(6000, 6))
    X[:, :3] = np.where(rng.random((6000, 3)) < 0.3, y[:, None], X[:, :3])
    X[:, 5] = X[:, 0] ^ (X[:, 1] & 1)
    codes, target = coded(X, y)
    steps, _ = search(RobustHOCMIMCriterion(), codes, target, 6)
    assert_is_twin(steps, X, y)


def test_missing_values_are_a_level():
    rng = np.random.default_rng(1622)
    y = rng.integers(2, size=120)
    X = rng.integers(3, size=(120, 6)).astype(float)
    X[:, 0] += y
    X[rng.random(X.shape) < 0.2] = np.nan
    codes, target = coded(X, y)
    steps, _ = search(RobustHOCMIMCriterion(), codes, target, 6)
    assert_is_twin(steps, np.where(np.isnan(X), 9, X).astype(int), y)


def test_repeated_rows_count_as_rows():
    """A whole weight is a row that often."""
    rng = np.random.default_rng(1623)
    for X, y in naive.random_tables(1623, 5, (20, 50), D=7, levels=4):
        times = rng.integers(1, 5, size=len(y))
        X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
        codes, target = coded(X, y)
        steps, _ = search(RobustHOCMIMCriterion(), codes, target, 7)
        assert_is_twin(steps, X, y)


# -- lazy and eager --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("parameters", VARIANTS, ids=str)
def test_lazy_is_eager(parameters):
    for X, y in naive.random_tables(1630, 25, (10, 200), D=20, levels=6):
        codes, target = coded(X, y)
        eager, _ = search(Eager(**parameters), codes, target, 12)
        for block_size in (None, 1, 7):
            lazy, _ = search(Lazy(**parameters), codes, target, 12, block_size=block_size)
            assert recorded(lazy) == recorded(eager)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [2, 4])
@pytest.mark.parametrize("estimator", ["miller_madow", "plugin", "shrinkage"])
def test_threads_change_nothing(estimator, n_jobs):
    for X, y in naive.random_tables(1631, 12, (30, 300), D=24, levels=5):
        codes, target = coded(X, y)
        eager, _ = search(Eager(estimator=estimator), codes, target, 12)
        for block_size in (2, 5, None):
            criterion = Lazy(estimator=estimator)
            lazy, _ = search(criterion, codes, target, 12, n_jobs, block_size)
            assert recorded(lazy) == recorded(eager)


@pytest.mark.parametrize("n_samples", [700, 5000])
def test_lazy_is_eager_on_a_larger_table(n_samples):
    """With all arities, more than 64 words of bits, and deep sets."""
    rng = np.random.default_rng(n_samples)
    y = rng.permutation(np.arange(n_samples) % 2)
    arities = [2, 5, 40, 3, 200, 300, 9, 1, 5, 5, 2, 7, 2, 2, 3, 4, 4, 4, 2, 3]
    codes = Codes.from_columns(columns_of(arities, y, rng, 0.15))
    target = Column(y.astype(np.uint8), 2)
    eager, _ = search(Eager(), codes, target, 16)
    for n_jobs, block_size in ((1, None), (1, 3), (2, 6), (4, 1)):
        lazy, n_lazy = search(Lazy(), codes, target, 16, n_jobs, block_size)
        assert recorded(lazy) == recorded(eager)
        assert n_lazy <= 16 * 20 * 16


def test_sets_that_are_dropped_are_formed_again():
    """With so many samples only a few sets are kept at a time."""
    rng = np.random.default_rng(1635)
    n_samples = 600_000
    y = rng.integers(2, size=n_samples, dtype=np.uint8)
    columns = []
    for j in range(14):
        noise = rng.integers(3, size=n_samples, dtype=np.uint8)
        columns.append(Column(np.where(rng.random(n_samples) < 0.02 * j, y, noise), 3))
    codes, target = Codes.from_columns(columns), Column(y, 2)
    eager, _ = search(Eager(), codes, target, 9)
    for n_jobs, block_size in ((1, None), (2, 5)):
        assert recorded(search(Lazy(), codes, target, 9, n_jobs, block_size)[0]) == recorded(eager)


def test_lazy_saves_terms():
    """A few informative columns among noise: most noise meets no newcomer."""
    rng = np.random.default_rng(1632)
    y = rng.integers(2, size=500)
    X = rng.integers(3, size=(500, 400))
    X[:, :20] = np.where(rng.random((500, 20)) < 0.3, 2 * y[:, None], X[:, :20])
    codes, target = coded(X, y)
    _, n_terms = search(Lazy(), codes, target, 12)
    assert n_terms < 400 * 12 * 1.5


def test_calls_of_any_length_change_nothing(monkeypatch):
    for X, y in naive.random_tables(1633, 6, (20, 60), D=14, levels=4):
        codes, target = coded(X, y)
        eager, _ = search(Eager(), codes, target, 10)
        with monkeypatch.context() as patched:
            patched.setattr("hocmim.criteria.hocmim_r.SAMPLES_PER_CALL", 1)
            assert recorded(search(Lazy(), codes, target, 10, 2, 3)[0]) == recorded(eager)


def test_a_candidate_closed_and_opened_again_is_found_again():
    for X, y in naive.random_tables(1634, 6, (20, 60), D=10, levels=4):
        codes, target = coded(X, y)
        robust = RobustSearch([RobustHOCMIMCriterion()])
        robust.start([codes], target)
        for _ in range(4):
            best = robust.best()
            robust.set_open(0, best.position, False)
            assert robust.best() != best
            robust.set_open(0, best.position, True)
            assert robust.best() == best
            robust.set_open(0, best.position, False)
            robust.update(codes.column(best.position))


# -- what the score means --------------------------------------------------------------------------


def described(codes, target, selected, **parameters):
    """What the criterion says of every column once these columns are selected."""
    criterion = RobustHOCMIMCriterion(**parameters)
    criterion.start(codes, target)
    for index in selected:
        criterion.update(codes.column(index))
    scores = criterion.scores()
    return [{"score": scores[j]} | criterion.describe(j) for j in range(codes.n_columns)]


def test_the_minimum_only_falls():
    for X, y in naive.random_tables(1640, 20, (20, 200), D=12, levels=4):
        codes, target = coded(X, y)
        criterion = RobustHOCMIMCriterion()
        criterion.start(codes, target)
        minimum = np.full(12, np.inf)
        for newest in range(11):
            criterion.update(codes.column(newest))
            criterion.scores()
            for j in range(newest + 1, 12):
                details = criterion.describe(j)
                assert details["minimum"] <= minimum[j]
                assert details["average"] >= details["minimum"] - 1e-12
                assert details["lift"] >= -1e-12
                minimum[j] = details["minimum"]


def informative_table(n_samples=3000, n_columns=6, seed=1641):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_samples)
    X = rng.integers(3, size=(n_samples, n_columns))
    follows = rng.random(X.shape) < rng.uniform(0.3, 0.5, size=n_columns)
    return np.where(follows, y[:, None], X), y


def assert_adds_nothing(details, representatives):
    assert set(details["representative_set"].tolist()) <= set(representatives)
    assert details["minimum"] == details["sigma"] == details["lift"] == details["score"] == 0.0
    assert details["average"] > 0.001


def test_a_copy_of_a_selected_column_scores_zero():
    X, y = informative_table()
    X = np.column_stack([X, 2 - X[:, 1]])
    codes, target = coded(X, y)
    assert_adds_nothing(described(codes, target, [0, 1, 2])[6], [1])


def test_a_blend_of_selected_columns_scores_zero():
    X, y = informative_table()
    X = np.column_stack([X, X[:, 0] + X[:, 1], 3 * X[:, 1] + X[:, 2]])
    codes, target = coded(X, y)
    blends = described(codes, target, [0, 1, 2])
    assert_adds_nothing(blends[6], [0, 1])
    assert_adds_nothing(blends[7], [0, 1, 2])
    # Without samples for a set of two, nothing can be known of it.
    assert described(codes, target, [0, 1, 2], min_support=3000)[6]["score"] > 0


def test_the_last_column_of_a_one_hot_block_scores_zero():
    rng = np.random.default_rng(1643)
    levels = rng.integers(4, size=3000)
    y = (rng.random(3000) < np.array([0.1, 0.35, 0.65, 0.9])[levels]).astype(int)
    codes, target = coded((levels[:, None] == np.arange(4)).astype(int), y)
    assert_adds_nothing(described(codes, target, [0, 1, 2])[3], [0, 1, 2])


def test_an_exclusive_or_is_found():
    rng = np.random.default_rng(1642)
    X = rng.integers(2, size=(400, 12))
    X[:, 3] |= rng.random(400) < 0.4  # column 7 gets some relevance, and column 3 has none
    y = X[:, 3] ^ X[:, 7]
    codes, target = coded(X, y)
    steps, _ = search(RobustHOCMIMCriterion(), codes, target, 2)
    assert [step.index for step in steps] == [7, 3]
    assert steps[1].score > 0.3


def test_the_score_falls_back_to_the_minimum_with_many_samples():
    X, y = informative_table(n_samples=60_000)
    codes, target = coded(X, y)
    for details in described(codes, target, [0, 1, 2])[3:]:
        assert 0 <= details["score"] - details["minimum"] <= 4.001 * details["sigma"] < 1e-3


def test_before_anything_is_selected_the_score_is_the_relevance():
    X, y = informative_table(n_samples=200)
    codes, target = coded(X, y)
    criterion = RobustHOCMIMCriterion()
    relevance = criterion.start(codes, target)
    details = criterion.describe(2)
    assert criterion.scores() is relevance
    assert details["order"] == len(details["representative_set"]) == 0
    assert details["minimum"] == details["average"] == relevance[2]
    assert details["sigma"] == details["lift"] == 0


@pytest.mark.parametrize(
    "parameters", [{"max_order": 0}, {"weight": 1.5}, {"weight": -1}, {"limit": -1}]
)
def test_parameters_out_of_range_are_refused(parameters):
    X, y = informative_table(n_samples=50)
    codes, target = coded(X, y)
    with pytest.raises(ValueError, match="out of range"):
        RobustHOCMIMCriterion(**parameters).start(codes, target)

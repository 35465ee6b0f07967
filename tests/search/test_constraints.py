"""keep, exclude, costs and budget: every method against the naive loop, on every engine."""

import numpy as np
import pytest

import hocmim
import naive
import warned
from hocmim import Budget, Encoder, Engine, StopTest
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.cost import per_cost
from hocmim.criteria.searches import SearchPlan
from hocmim.errors import InvalidFileError
from hocmim.search.constraints import Constraints, Spending
from hocmim.search.engines.local import LocalEngine
from hocmim.search.loop import forward_search
from hocmim.selectors.base import InformationSelector
from hocmim.selectors.registry import METHODS

pytestmark = pytest.mark.filterwarnings(warned.PORT)

CLASSES = [kind.__name__ for kind in METHODS.values() if issubclass(kind, InformationSelector)]
PARAMETERS = {
    "MIFS": {"beta": 0.4},
    "BetaGamma": {"beta": 0.4, "gamma": 0.9},
    "CMICOT": {"team_size": 2},
}
UNCUT = {"encoder": Encoder(16)}
every_method = pytest.mark.parametrize("name", CLASSES)


def naive_selection(name, X, y, K, limits):
    columns, target = naive.columns(X), tuple(y.tolist())
    if name == "HOCMIM":
        return naive.hocmim(columns, target, K, limits)[:2]
    if name == "RobustHOCMIM":
        return naive.robust_hocmim(columns, target, K, limits)[:2]
    estimator = getattr(hocmim, name)().estimator
    parameters = PARAMETERS.get(name, {})
    return naive.select(name, columns, target, K, estimator, limits, **parameters)


def make(name, K, **parameters):
    return getattr(hocmim, name)(K, **UNCUT, **PARAMETERS.get(name, {}), **parameters)


@every_method
def test_keep_and_exclude_as_the_naive_loop(name):
    for number, (X, y) in enumerate(naive.random_tables(40, 5, D=8, levels=4)):
        rng = np.random.default_rng(number)
        order = rng.permutation(8).tolist()
        keep, exclude = order[: number % 4], order[4 : 4 + number % 3]
        K = max(5, len(keep))
        found = make(name, K, keep=keep, exclude=exclude).fit(X, y)
        limits = {"keep": keep, "exclude": exclude}
        selected, scores = naive_selection(name, X, y, K, limits)
        assert found.selected_.tolist() == selected
        np.testing.assert_allclose(found.scores_, scores, rtol=0, atol=1e-9)
        assert found.kept_.tolist() == [j in keep for j in selected]


@every_method
def test_costs_and_budget_as_the_naive_loop(name):
    n_over = 0
    for number, (X, y) in enumerate(naive.random_tables(41, 5, D=8, levels=4)):
        rng = np.random.default_rng(number)
        costs = rng.choice([0.5, 1, 2, 3, 7], 8).astype(float)
        keep, exclude = [int(rng.integers(8))], []
        exclude = [j for j in [int(rng.integers(8))] if j not in keep]
        budget = float(costs[keep].sum() + rng.choice([0.5, 4, 100]))
        limits = {"keep": keep, "exclude": exclude, "costs": costs.tolist(), "budget": budget}
        selected, scores = naive_selection(name, X, y, 6, limits)
        asked = Budget(budget, 6)
        found = make(name, asked, keep=keep, exclude=exclude, costs=costs).fit(X, y)
        assert found.selected_.tolist() == selected
        np.testing.assert_allclose(found.scores_, scores, rtol=0, atol=1e-9)
        assert found.total_cost_ == pytest.approx(costs[selected].sum())
        assert found.total_cost_ <= budget
        n_over += found.stopping_ is not None and found.stopping_.reason == "over budget"
    assert n_over > 0


def table(n_samples=240, n_columns=40, seed=0):
    """Columns that share a cause with the target, copies and noise."""
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=n_samples)
    strength = rng.uniform(0, 1, n_columns) * (rng.random(n_columns) < 0.7)
    X = np.digitize(
        cause[:, None] * strength + rng.normal(size=(n_samples, n_columns)), [-0.8, 0, 0.8]
    )
    X[:, 5] = X[:, n_columns // 2]
    return X, np.digitize(cause + 0.4 * rng.normal(size=n_samples), [-0.5, 0.5])


def coded(X, y):
    columns = [Column(column.astype(np.uint8), int(column.max()) + 1) for column in X.T]
    return Codes.from_columns(columns), Column(y.astype(np.uint8), int(y.max()) + 1)


def record(selection):
    """Everything a search found, to the last bit."""
    steps = [
        (one.index, one.score.hex(), one.is_kept, str(one.details))
        for step in selection.steps
        for one in (step, step.runner_up)
        if one is not None
    ]
    stopping = selection.stopping
    return steps, stopping and (stopping.reason, stopping.index, stopping.score.hex())


COSTS = np.random.default_rng(1).choice([1.0, 2.0, 5.0], 40)
LIMITS = {
    "keep": Constraints(40, (31, 3, 17), (0, 20, 39)),
    "costs": Constraints(40, (31, 3), (0,), (20,), Spending(COSTS, 30.0)),
}


@every_method
@pytest.mark.parametrize("kind", LIMITS)
def test_bits_do_not_depend_on_threads_blocks_or_laziness(name, kind):
    X, y = table()
    codes, target = coded(X, y)
    constraints = LIMITS[kind]
    criterion = make(name, 12).make_criterion()
    if kind == "costs":
        criterion = criterion.per_cost(COSTS)
    eager = criterion.copy()
    if kind == "keep":
        eager.plan = SearchPlan()  # every score of every step
    else:
        eager.upper_bounds = lambda: None
    found = []
    for one, settings in [
        (eager, {"n_jobs": 1}),
        (criterion, {"n_jobs": 1}),
        (criterion, {"n_jobs": 4, "block_size": 7}),
        (criterion, {"n_jobs": 2, "block_size": 1}),
    ]:
        with LocalEngine(codes, target, one, **settings) as engine:
            found.append(record(forward_search(engine, 12, constraints=constraints)))
    assert found[1:] == found[:1] * 3
    if kind == "keep":
        kept = [step[0] for step in found[0][0] if step[2]]
        assert set(kept) == {31, 3, 17}


@every_method
def test_a_search_goes_on_from_any_step_of_another(name):
    """So that checkpoints and extend give the bits of a longer run."""
    X, y = table(120, 24, seed=2)
    codes, target = coded(X, y)
    costs = np.random.default_rng(1).choice([1.0, 2.0, 5.0], 24)
    constraints = Constraints(24, (3, 17), (0,), spending=Spending(costs, 25.0))
    criterion = make(name, 9).make_criterion().per_cost(costs)

    def search(n_select, earlier=()):
        with LocalEngine(codes, target, criterion) as engine:
            return forward_search(engine, n_select, earlier=earlier, constraints=constraints)

    whole = search(9)
    for n_first in (1, 2, 5):
        assert record(search(9, search(n_first).steps)) == record(whole)


def test_per_cost_of_scores_that_are_not_positive():
    assert per_cost([4.0, 0.0, -2.0, -2.0], [2.0, 5.0, 1.0, 3.0]).tolist() == [2, 0, -2, -6]


def test_the_unit_of_the_costs_does_not_matter():
    X, y = table()
    costs = np.random.default_rng(3).choice([1.0, 2.0, 5.0], 40)
    found = [
        hocmim.JMI(Budget(unit * 20, 10), costs=unit * costs).fit(X, y) for unit in (1.0, 2.0**30)
    ]
    assert found[0].selected_.tolist() == found[1].selected_.tolist()


def test_a_budget_of_sums_that_are_rounded():
    X, y = table(n_columns=6)
    found = hocmim.MIM(Budget(0.3), costs=[0.1, 0.1, 0.1, 5, 5, 5]).fit(X, y)
    assert sorted(found.selected_.tolist()) == [0, 1, 2]


@pytest.mark.parametrize("stop", ["chi2", "permutation"])
def test_what_is_kept_is_not_tested(stop):
    X, y = table(400, 12, seed=5)
    X[:, 7] = np.random.default_rng(0).integers(4, size=400)  # noise
    found = hocmim.JMI(StopTest(test=stop), keep=[7, 2]).fit(X, y)
    assert found.kept_.tolist() == [True, True] + [False] * (found.n_features_ - 2)
    assert np.isnan(found.p_values_[:2]).all()
    assert (found.p_values_[2:] <= 0.01).all()
    assert found.n_features_ > 2
    assert set(found.selected_[:2].tolist()) == {7, 2}


def test_excluded_columns_are_no_candidates_of_the_test():
    """The p-value is corrected for the number of candidates."""
    X, y = table(400, 12, seed=5)
    everything = hocmim.JMI("significant").fit(X, y)
    first = everything.selected_[0]
    others = [j for j in range(12) if j != first][:6]
    found = hocmim.JMI("significant", exclude=others).fit(X, y)
    assert found.selected_[0] == first
    assert found.p_values_[0] == pytest.approx(everything.p_values_[0] / 2)


def test_checkpoint(tmp_path):
    X, y = table()
    limits = {"keep": [4, 9], "exclude": [1], "costs": np.full(40, 2.0)}
    engine = Engine(checkpoint=tmp_path / "checkpoint")
    whole = hocmim.JMI(Budget(16, 7), **limits).fit(X, y)
    for k in (1 + 2, 5, 7):
        found = hocmim.JMI(Budget(16, k), engine=engine, **limits).fit(X, y)
        assert record(found.selection_)[0] == record(whole.selection_)[0][: 2 * k - 1]
    assert found.kept_.sum() == 2
    for other in ({"keep": [4]}, {"exclude": [2]}, {"costs": np.full(40, 3.0)}):
        with pytest.raises(InvalidFileError, match=f"{next(iter(other))} was"):
            hocmim.JMI(Budget(16, 7), engine=engine, **{**limits, **other}).fit(X, y)
    with pytest.raises(InvalidFileError, match="budget was"):
        hocmim.JMI(Budget(17, 7), engine=engine, **limits).fit(X, y)
    # Names, indices and functions that mean the same are the same search.
    by_function = {**limits, "keep": lambda names: names[[4, 9]]}
    same = hocmim.JMI(Budget(16, 7), engine=engine, **by_function)
    assert record(same.fit(X, y).selection_) == record(whole.selection_)


@every_method
def test_dask(name, dask_client):
    X, y = table(120, 24, seed=2)
    costs = np.random.default_rng(1).choice([1.0, 2.0, 5.0], 24)
    for asked, limits in (
        (8, {"keep": [17, 3, 23], "exclude": [0, 20]}),
        (Budget(14, 8), {"keep": [17], "exclude": [5], "costs": costs}),
    ):
        here = make(name, asked, **limits).fit(X, y)
        there = make(name, asked, engine=dask_client, **limits).fit(X, y)
        assert record(there.selection_) == record(here.selection_)
        there.extend(9)
        assert record(there.selection_) == record(here.extend(9).selection_)

"""Interactions: the screen and the search with pairs and triples, against their naive twins."""

import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import hocmim
import naive
import warned
from hocmim import Budget, Engine, RobustHOCMIM, Target, _native
from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoded import encode_table
from hocmim.criteria.hocmim_r import RobustHOCMIMCriterion, RobustSearch
from hocmim.criteria.searches import SearchPlan
from hocmim.errors import InvalidParameterError
from hocmim.search import interaction_law
from hocmim.search.constraints import Constraints, Spending
from hocmim.search.engines.local import LocalEngine
from hocmim.search.interactions import (
    ScreenedTable,
    levels_for,
    merge_levels,
    screen,
)
from hocmim.search.joint_candidates import JointCandidates
from hocmim.search.loop import forward_search

pytestmark = pytest.mark.filterwarnings(warned.REPEATED_ROWS)

VECTORS = json.loads((Path(__file__).parent / "interaction_vectors.json").read_text())


def published_table(seed):
    """A table of integers with exclusive ors, copies and noise, and y."""
    rng = np.random.default_rng([2026, seed])
    n, D = int(rng.integers(350, 1200)), int(rng.integers(10, 40))
    levels, classes, kind = int(rng.integers(2, 5)), 2 + seed % 2, seed % 6
    X = rng.integers(0, levels, (n, D))
    p = rng.permutation(D)[:6]
    a, b, c, d, e, _ = (X[:, i] for i in p)
    noise = rng.random(n)
    exclusive = (a >= levels / 2) ^ (b >= levels / 2)
    if kind == 0:
        z = exclusive
    elif kind == 1:
        z = exclusive * 2 + (c >= levels / 2) >= 2
    elif kind == 2:
        z = exclusive | ((c >= levels / 2) ^ (d >= levels / 2)) & (noise < 0.8)
    elif kind == 3:
        X[:, p[4]] = np.where(rng.random(n) < 0.9, a, e)
        z = exclusive | (c == 0) & (d == 0)
    elif kind == 4:
        z = (a + b + c) >= 3 * (levels - 1) / 2
    else:
        X[:, p[5]] = b
        z = exclusive
    y = z.astype(int)
    flip = rng.random(n) < 0.12
    y = np.where(flip, rng.integers(0, 2, n), y)
    if classes == 3:
        y = np.where((d == 0) & (rng.random(n) < 0.5), 2, y)
    return X, y


def as_codes(X, y):
    """The columns of an array of small integers as they are, and the target."""
    columns = [Column(np.ascontiguousarray(x, np.uint8), int(x.max()) + 1) for x in X.T]
    return Codes.from_columns(columns), Column(y.astype(np.uint8), int(y.max()) + 1)


def screened(codes, *targets, n_bins=255, **options):
    """The screen of columns as they are."""
    nothing = np.zeros(codes.n_columns, np.int64)
    table = ScreenedTable(codes.column, codes.arity, nothing, np.arange(codes.n_columns), n_bins)
    return screen(table, targets, **options)


class Eager(RobustHOCMIMCriterion):
    """Searched by computing every score."""

    plan = SearchPlan()


class Lazy(RobustHOCMIMCriterion):
    """Searched by bounds, with threads on tables of any size."""

    plan = SearchPlan(RobustSearch)


def search(codes, y, K, sets, criterion=None, n_jobs=1, block_size=None, **constraints):
    """The selection with these sets of columns as candidates."""
    criterion = Lazy() if criterion is None else criterion
    given = Constraints(codes.n_columns, **constraints)
    joint = JointCandidates(
        sets, codes.column, codes.n_columns, y, criterion.of_sets(), spending=given.spending
    )
    with LocalEngine(codes, y, criterion, n_jobs=n_jobs, block_size=block_size) as engine:
        return forward_search(engine, K, joint=joint, constraints=given)


def recorded(selection):
    """All that is known of the steps, in a form that compares bit by bit."""
    return [
        (
            step.index,
            step.score,
            step.interaction,
            step.lacked_room,
            *(np.asarray(value).tolist() for value in step.details.values()),
        )
        for step in selection.steps
        for step in (step, step.runner_up)
        if step is not None
    ]


def random_sets(rng, D, n_sets):
    """Different pairs and triples; many share members."""
    found = {
        tuple(sorted(rng.permutation(D)[: rng.integers(2, 4)].tolist())) for _ in range(n_sets)
    }
    return sorted(found)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"seed {vector['seed']}")
def test_vectors(vector):
    X, y = published_table(vector["seed"])
    assert [X.sum(), y.sum()] == vector["sums"]
    codes, target = as_codes(X, y)
    kept = [one.members for one in screened(codes, target, sizes=[2]).kept]
    expected = [tuple(pair) for pair in vector["kept_pairs"]]
    assert set(kept) == set(expected)
    if vector["compare_first"] > 1:  # otherwise there are copies, and pairs tie
        assert kept == expected
    selected = search(codes, target, 8, kept).indices.tolist()
    n = vector["compare_first"]
    assert selected[:n] == vector["selected"][:n]
    selector = RobustHOCMIM(8).fit(X, y)
    assert [one.members for one in selector.interactions_ if len(one.members) == 2] == kept
    assert selector.selected_[:n].tolist() == vector["selected"][:n]


@pytest.mark.parametrize("size", [2, 3])
def test_screen_is_that_of_the_naive_twin(size):
    rng = np.random.default_rng(size)
    n_kept = 0
    for seed in range(24):
        n = int(rng.integers(150, 400))
        X, y = naive.random_table(rng, n, 7, levels=4, classes=3)
        a, b = X[:, 0] > 0, X[:, 1] > 0
        if seed % 3 == 0:
            y = (a ^ b ^ ((X[:, 2] > 0) & (size == 3))).astype(int)
        X = np.stack([np.unique(x, return_inverse=True)[1] for x in X.T], 1)
        y = np.unique(y, return_inverse=True)[1]
        codes, target = as_codes(X, y)
        classes = tuple(y.tolist())
        L = naive.screened_levels(n, len(set(classes)), int(X.max()) + 1, size)
        columns = tuple(x if max(x) < L else naive.merged(x, L) for x in naive.columns(X))
        everything = screened(codes, target, sizes=[size], alpha=1, most=1000).kept
        for one in everything:
            members = naive.at(columns, *one.members)
            G = 2 * n * naive.interaction_information(members, classes)
            assert one.g == pytest.approx(G, abs=1e-8)
            assert one.df == naive.degrees_of_freedom(members, classes)
            told = naive.mi(members, (classes,), "miller_madow")
            assert one.information == pytest.approx(told, abs=1e-9)
            assert one.synergy == one.g / (2 * n)
        kept = screened(codes, target, sizes=[size]).kept
        expected = naive.screen(columns, classes, size)
        by_chi2 = [members for members, *_ in expected]
        # The p-values of small samples are larger: they keep fewer, in the same order.
        assert [one.members for one in kept] == [
            members for members in by_chi2 if members in {one.members for one in kept}
        ]
        p_values = {members: p for members, _, _, p in expected}
        for one in kept:
            assert one.p_value >= p_values[one.members] * (1 - 1e-9)
            n_sets = len(list(combinations(range(7), size)))
            assert one.adjusted_p_value == min(1.0, one.p_value * n_sets) <= 0.01
        n_kept += len(kept)
    assert n_kept > 8


def test_triples_that_repeat_each_other_are_not_kept():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = np.stack([np.where(rng.random(2000) < 0.8, y, rng.integers(0, 2, 2000)) for _ in "abc"], 1)
    codes, target = as_codes(X, y)
    columns, classes = naive.columns(X), tuple(y.tolist())
    assert naive.interaction_information(columns, classes) > 0.05
    assert screened(codes, target).kept == ()


def test_search_is_that_of_the_naive_twin():
    rng = np.random.default_rng(1)
    n_joined = n_shared = n_at_end = 0
    tables = naive.random_tables(2, 210, n=(20, 60), D=7, levels=4, classes=3)
    for number, (X, y) in enumerate(tables):
        sets, K = random_sets(rng, 7, 4), int(rng.integers(2, 8))
        if number % 3 == 0:  # copies of a pair
            X[:, 5:] = X[:, :2]
            sets = sorted({*sets, (0, 1), (5, 6)})
        codes, target = as_codes(X, y)
        limits = {}
        if rng.random() < 0.3:
            order = rng.permutation(7).tolist()
            limits = {"keep": order[:1], "exclude": order[1:2]}
        K = min(K, 7 - len(limits.get("exclude", ())))
        given = {"keep": limits.get("keep", ()), "excluded": limits.get("exclude", ())}
        found = search(codes, target, K, sets, **given)
        columns, classes = naive.columns(X), tuple(y.tolist())
        selected, scores, joined = naive.robust_interactions(columns, classes, K, sets, limits)
        assert found.indices.tolist() == selected
        np.testing.assert_allclose(found.scores, scores, rtol=0, atol=1e-9)
        assert [step.interaction for step in found.steps] == joined
        n_joined += any(joined)
        n_shared += any(joined.count(members) == 1 for members in joined if members)
        n_at_end += bool(joined[-1])
        eager = search(codes, target, K, sets, Eager(), **given)
        assert recorded(eager) == recorded(found)
    assert min(n_joined, n_shared, n_at_end) > 10


def test_without_sets_the_search_is_that_of_single_columns():
    for X, y in naive.random_tables(3, 20, n=(30, 80), D=8, levels=4):
        codes, target = as_codes(X, y)
        with LocalEngine(codes, target, Lazy()) as engine:
            alone = forward_search(engine, 6)
        assert recorded(search(codes, target, 6, [])) == recorded(alone)


def exclusive_or(seed=0, n=600, D=12, n_pairs=2):
    """A table whose target is an exclusive or of two columns, with a weak third one."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, D))
    y = (X[:, 3] > 0.5) ^ (X[:, 7] > 0.5)
    if n_pairs > 1:
        y = np.where(rng.random(n) < 0.3, (X[:, 1] > 0.5) ^ (X[:, 5] > 0.5), y)
    return X, np.where(rng.random(n) < 0.05, rng.random(n) < 0.5, y).astype(int)


@pytest.mark.parametrize("seed", range(3))
def test_threads_and_blocks_change_nothing(seed, monkeypatch):
    monkeypatch.setattr("hocmim.search.interactions.OPERATIONS_FOR_THREADS", 0)
    monkeypatch.setattr("hocmim.search.interactions.OPERATIONS_PER_CALL", 10**4)
    X, y = published_table(seed + 1)
    codes, target = as_codes(X, y)
    sets = [one.members for one in screened(codes, target, n_jobs=1).kept]
    assert sets == [one.members for one in screened(codes, target, n_jobs=3).kept]
    one = recorded(search(codes, target, 8, sets))
    assert one == recorded(search(codes, target, 8, sets, n_jobs=3, block_size=2))


def test_columns_that_are_merged_again_give_the_same(monkeypatch):
    X, y = exclusive_or()
    kept = RobustHOCMIM(4).fit(X, y).interactions_
    monkeypatch.setattr("hocmim.search.interactions.MOST_MERGED_BYTES", 0)
    assert RobustHOCMIM(4).fit(X, y).interactions_ == kept != []


def test_instruction_sets_give_the_same_bits(tmp_path):
    script = tmp_path / "kept.py"
    script.write_text(
        "import numpy as np, sys\n"
        "from hocmim import RobustHOCMIM\n"
        "rng = np.random.default_rng(0)\n"
        "X = rng.normal(size=(500, 30)); X[::7, 3] = np.nan\n"
        "y = ((X[:, 3] > 0) ^ (X[:, 5] > 0)) + 1 * (X[:, 8] > 1)\n"
        "s = RobustHOCMIM(5, interactions='auto').fit(X, y)\n"
        "print([(i.members, i.g.hex()) for i in s.interactions_], s.selected_)\n"
    )
    outputs = set()
    for isa in _native.instruction_sets():
        run = subprocess.run(
            [sys.executable, script],
            env={**os.environ, "HOCMIM_ISA": isa},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1
    assert "(3, 5)" in outputs.pop()


def test_an_exclusive_or_is_found():
    X, y = exclusive_or(n_pairs=1)
    selector = RobustHOCMIM(2).fit(X, y)
    assert sorted(selector.selected_) == [3, 7]
    assert [step.interaction for step in selector.selection_.steps] == [(3, 7), (3, 7)]
    [pair] = selector.interactions_
    assert pair.members == (3, 7)
    assert pair.synergy > 0.2
    assert "'3' and '7' say nothing alone; together they tell 0." in str(selector.explain(3))
    without = selector.set_params(interactions=False).fit(X, y)
    assert sorted(without.selected_) != [3, 7]
    assert not hasattr(without, "interactions_")


def test_a_triple_is_found():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 15))
    y = X[:, 2] ^ X[:, 8] ^ X[:, 11]
    selector = RobustHOCMIM(3).fit(X, y)
    assert sorted(selector.selected_) == [2, 8, 11]
    assert [one.members for one in selector.interactions_] == [(2, 8, 11)]


def test_extending_gives_what_fit_gives():
    X, y = exclusive_or(seed=4, D=8)
    fitted = {K: RobustHOCMIM(K).fit(X, y) for K in range(1, 9)}
    for K, larger in combinations(fitted, 2):
        extended = RobustHOCMIM(K).fit(X, y).extend(larger)
        assert recorded(extended.selection_) == recorded(fitted[larger].selection_), (K, larger)
        assert extended.interactions_ == fitted[larger].interactions_
    assert fitted[1].selected_[0] != fitted[2].selected_[0]  # one column has no room for a pair


def test_a_checkpoint_continues_at_every_step(tmp_path):
    X, y = exclusive_or(seed=4, D=8)
    whole = RobustHOCMIM(6).fit(X, y)

    class StopError(Exception):
        pass

    for n_steps in range(1, 6):
        path = tmp_path / f"{n_steps}.ckpt"

        def stop(event, n_steps=n_steps):
            if event.done >= n_steps:
                raise StopError

        with pytest.raises(StopError):
            RobustHOCMIM(6, engine=Engine(checkpoint=path)).fit(X, y, progress=stop)
        for K in (6, 7, 5, 4, 8):
            continued = RobustHOCMIM(K, engine=Engine(checkpoint=path)).fit(X, y)
            again = RobustHOCMIM(K).fit(X, y)
            assert continued.selected_.tolist() == again.selected_.tolist(), (n_steps, K)
            assert continued.scores_.tolist() == again.scores_.tolist()
    assert [step.interaction for step in whole.selection_.steps].count((3, 7)) == 2


def test_with_the_dask_engine():
    distributed = pytest.importorskip("distributed")
    X, y = exclusive_or()
    local = RobustHOCMIM(5).fit(X, y)
    with distributed.Client(n_workers=1, threads_per_worker=2, processes=False,
                            dashboard_address=":0") as client:  # fmt: skip
        remote = RobustHOCMIM(5, engine=client).fit(X, y)
        assert recorded(remote.selection_) == recorded(local.selection_)
        assert remote.interactions_ == local.interactions_ != []
        dask_array = pytest.importorskip("dask.array")
        chunks = dask_array.from_array(X, chunks=(200, X.shape[1]))
        collection = RobustHOCMIM(5, engine=client).fit(
            chunks, dask_array.from_array(y, chunks=200)
        )
        assert collection.selected_.tolist() == local.selected_.tolist()
        assert collection.interactions_ == local.interactions_


def test_weights_are_repeated_rows():
    X, y = exclusive_or(n=300)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = RobustHOCMIM(4).fit(X, y, sample_weight=weights)
    repeated = RobustHOCMIM(4).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.interactions_ == repeated.interactions_ != []
    assert weighted.selected_.tolist() == repeated.selected_.tolist()


@pytest.mark.parametrize("weights", ["balanced", "relative"])
def test_weights_that_are_no_counts_do_not_make_rows(weights):
    rng = np.random.default_rng(0)
    X, y = exclusive_or(n=200, n_pairs=1)
    noise = rng.random(X.shape)
    given = weights if weights == "balanced" else rng.choice([1.0, 2.0, 3.0], len(y))
    y = np.where(rng.random(len(y)) < 0.2, 1, y)  # not balanced
    for table in (X, noise):
        found = RobustHOCMIM(2).fit(table, y, sample_weight=given).interactions_
        plain = RobustHOCMIM(2).fit(table, y).interactions_
        assert [one.members for one in found] == [one.members for one in plain]
        for one in found:
            assert round(one.g / (2 * one.synergy)) <= len(y)  # the rows that were counted
    assert RobustHOCMIM(2).fit(X, y, sample_weight=given).interactions_ != []


@pytest.mark.parametrize("n_features_to_select", ["significant", "cv", 2])
def test_rows_in_groups_count_as_independent_and_it_is_said(n_features_to_select):
    X, y = exclusive_or(n=300, n_pairs=1)
    groups = np.arange(300) // 3
    alone = RobustHOCMIM(n_features_to_select).fit(X, y)
    grouped = RobustHOCMIM(n_features_to_select).fit(X, y, groups=groups)
    assert grouped.interactions_ == alone.interactions_ != []
    assert alone.selection_.notes == ()
    [note] = grouped.selection_.notes
    assert note.startswith("Interactions were screened as if the rows of a group were independent.")


def test_a_part_of_the_rows_is_cut_as_the_whole_table():
    X, y = exclusive_or(n=300, n_pairs=1)
    encoded = encode_table(X, y)
    rows = np.flatnonzero(np.arange(300) % 3 > 0)
    part = ScreenedTable.of(encoded.take(rows))
    again = part.cut_again(2)
    for j in range(X.shape[1]):
        expected = X[rows, j] >= np.median(X[:, j])
        assert again.column(j).codes.astype(bool).tolist() == expected.tolist()


def test_keep_exclude_and_feature_groups():
    X, y = exclusive_or(n_pairs=1)
    kept = RobustHOCMIM(2, keep=[7]).fit(X, y)
    assert kept.selected_.tolist() == [7, 3]
    assert [step.interaction for step in kept.selection_.steps] == [(), ()]  # 3 adds as much alone
    excluded = RobustHOCMIM(3, exclude=[7]).fit(X, y)
    assert excluded.interactions_ == []
    grouped = RobustHOCMIM(2, feature_groups=[[3, 4], [7, 8]]).fit(X > 0.5, y)
    assert sorted(grouped.selected_) == [3, 4, 7, 8]
    assert [one.members for one in grouped.interactions_] == [(3, 7)]  # by their first columns


def test_missing_values_are_a_level():
    X, y = exclusive_or(n_pairs=1)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    selector = RobustHOCMIM(2).fit(X, y)
    assert sorted(selector.selected_) == [3, 7]
    assert selector.interactions_[0].df == 4 * 4  # four bins and the level of missing values


def test_several_targets():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 10))
    Y = np.stack([X[:, 1] ^ X[:, 4], X[:, 2] ^ X[:, 7]], 1)
    for strategy in ("joint", "mean"):
        selector = RobustHOCMIM(4, target=Target(strategy=strategy)).fit(X, Y)
        assert sorted(selector.selected_) == [1, 2, 4, 7], strategy
        assert {(1, 4), (2, 7)} <= {one.members for one in selector.interactions_}


def test_costs_and_budget():
    X, y = exclusive_or(n_pairs=1)
    costs = np.ones(X.shape[1])
    costs[[3, 7]] = 5
    assert sorted(RobustHOCMIM(2, costs=costs).fit(X, y).selected_) == [3, 7]
    within = RobustHOCMIM(Budget(9), costs=costs).fit(X, y)
    assert not {3, 7} <= set(within.selected_)
    assert within.total_cost_ <= 9


def test_costs_are_the_price_of_a_set():
    for X, y in naive.random_tables(5, 30, n=(30, 60), D=6, levels=3):
        codes, target = as_codes(X, y)
        sets = [(0, 1), (2, 5), (1, 3, 4)]
        equal = search(codes, target, 5, sets, spending=Spending(np.ones(6)))
        plain = search(codes, target, 5, sets)
        n = 0  # with costs, scores below 0 are multiplied
        while n < 5 and plain.steps[n].score > 0:
            assert equal.steps[n].index == plain.steps[n].index
            n += 1


def test_selecting_what_is_significant():
    X, y = exclusive_or(n_pairs=1)
    selector = RobustHOCMIM("significant").fit(X, y)
    assert sorted(selector.selected_) == [3, 7]
    assert selector.p_values_.max() < 1e-6
    assert selector.stopping_ is not None
    noise = RobustHOCMIM("significant").fit(X, np.random.default_rng(1).permutation(y))
    assert len(noise.selected_) == 0


def test_a_saved_selection(tmp_path):
    X, y = exclusive_or()
    selector = RobustHOCMIM(4).fit(X, y)
    path = tmp_path / "selector.json"
    selector.save(path)
    loaded = hocmim.load(path)
    assert loaded.interactions_ == selector.interactions_ != []
    assert recorded(loaded.selection_) == recorded(selector.selection_)


def ring(n, seed=0):
    """A table whose target is a ring in two columns: two bins of each do not show it."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 6))
    return X, (np.abs(np.hypot(X[:, 2] - 0.5, X[:, 4] - 0.5) - 0.35) <= 0.115).astype(int)


@pytest.mark.parametrize("table", [exclusive_or(n=120, n_pairs=1), exclusive_or(), ring(300)])
def test_numbers_are_cut_into_several_numbers_of_bins(table, monkeypatch):
    X, y = table
    found = [one for one in hocmim.interactions(X, y) if len(one.members) == 2]
    assert found == RobustHOCMIM(2).fit(X, y).interactions_[: len(found)]
    assert len(found) > 0
    most = min(4, naive.screened_levels(len(y), 2, 5, 2))
    expected = naive.screen_of_numbers(X, tuple(y.tolist()), range(2, most + 1))
    for one in found:
        df, p, G = expected[one.members]
        assert (one.df, one.g) == (df, pytest.approx(G))
        assert one.p_value >= p * (1 - 1e-9)
        n_tests = len(expected) * (most - 1)
        assert one.adjusted_p_value == pytest.approx(one.p_value * n_tests)
    clear = {pair for pair, (_, p, _) in expected.items() if p * n_tests < 1e-6}
    assert clear <= {one.members for one in found}
    # Without the values, neighbouring bins of the codes are merged.
    monkeypatch.setattr("hocmim.search.interactions.MOST_CELLS_CUT_AGAIN", 0)
    pair = hocmim.interactions(X, y, alpha=1)[0]
    fifths = naive.columns(as_fifths(X[:, pair.members]))
    merged = [[naive.merged(c, L, 5) for c in fifths] for L in range(2, most + 1)]
    found = [2 * len(y) * naive.interaction_information(m, tuple(y.tolist())) for m in merged]
    assert any(pair.g == pytest.approx(G) for G in found)


def test_synergy_of_coarse_bins_alone_is_none():
    """Two noisy copies of a column, of which two bins keep different parts."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    base = np.where(rng.random(3000) < 0.6, y, rng.integers(0, 5, 3000))
    X = np.stack(
        [np.where(rng.random(3000) < p, base, rng.integers(0, 5, 3000)) for p in (0.8, 0.9)], 1
    )
    X[:, 1] = np.where((X[:, 1] == 0) & (rng.random(3000) < 0.4), 1, X[:, 1])
    classes, five = tuple(y.tolist()), naive.columns(X)
    two = [naive.merged(column, 2, 5) for column in five]
    assert stats.chi2.sf(6000 * naive.interaction_information(two, classes), 1) < 1e-9
    assert naive.interaction_information(five, classes) < 0
    assert len(hocmim.interactions(X + 0.0, y)) == 0


def as_fifths(X):
    return np.stack([np.digitize(x, np.quantile(x, [0.2, 0.4, 0.6, 0.8])) for x in X.T], 1)


@pytest.mark.parametrize("n_ordered", [0, 6])
def test_merged_levels(n_ordered):
    rng = np.random.default_rng(n_ordered)
    for _ in range(60):
        arity, L = int(rng.integers(6, 9 if n_ordered == 0 else 8)), int(rng.integers(2, 6))
        codes = rng.choice(arity, 80, p=rng.dirichlet(np.ones(arity))).astype(np.uint8)
        merged = merge_levels(Column(codes, arity), L, n_ordered)[codes]
        assert tuple(merged.tolist()) == naive.merged(tuple(codes.tolist()), L, n_ordered)
        assert merged.max() < L + (n_ordered > 0)


def test_levels_and_budget():
    for size, n, classes in ((2, 60, 2), (2, 250, 2), (2, 160, 2), (3, 1600, 2), (3, 80, 3)):
        expected = naive.screened_levels(n, classes, 5, size)
        assert levels_for(n, classes, 5, size, 1, np.inf) == expected
    n_pairs = 5000 * 4999 // 2
    assert levels_for(2000, 2, 5, 2, n_pairs, 10**10) == 3
    assert levels_for(2000, 2, 5, 2, 20000 * 19999 // 2, 10**10) is None
    assert levels_for(2000, 2, 5, 2, 20000 * 19999 // 2, np.inf) == 5


def test_what_is_left_out_is_said(monkeypatch):
    X, y = exclusive_or(n_pairs=1)
    [note] = RobustHOCMIM(2).fit(X[:30], y[:30]).selection_.notes
    assert (
        note == "Interactions were not screened: 30 rows are fewer than 20 for each of 2 classes."
    )
    monkeypatch.setattr("hocmim.search.interactions.MOST_OPERATIONS", 2000)
    selector = RobustHOCMIM(2).fit(X, y)
    assert selector.interactions_ == []
    pairs, triples = selector.selection_.notes
    assert pairs == (
        "Pairs of columns were not screened for interactions: 66 pairs of 600 rows are more than "
        "interactions='auto' allows. Pass interactions=True to screen them."
    )
    assert triples.startswith("Triples of columns")
    assert RobustHOCMIM(2, interactions=True).fit(X, y).interactions_ != []


def test_progress_and_interruption():
    X, y = exclusive_or(n=500, D=60)
    stages = []
    RobustHOCMIM(3).fit(X, y, progress=lambda event: stages.append(event.stage))
    assert list(dict.fromkeys(stages)) == ["encode", "screen", "search"]

    def stop(event):
        if event.stage == "screen":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        RobustHOCMIM(3).fit(X, y, progress=stop)


def test_wrong_value():
    with pytest.raises(InvalidParameterError, match="interactions must be"):
        RobustHOCMIM(2, interactions="yes").fit(*exclusive_or())


def test_the_screen_alone():
    X, y = exclusive_or(n_pairs=1)
    found = hocmim.interactions(X, y)
    assert list(found) == RobustHOCMIM(2).fit(X, y).interactions_
    assert "1 interaction" in str(found)
    assert found[0].adjusted_p_value <= 0.01
    assert "3 × 7" in str(found)
    assert hocmim.interactions(X, y, alpha=1)[0] == found[0]


def test_eigenvalues_of_two_variables_are_their_correlations():
    rng = np.random.default_rng(0)
    tables = [rng.integers(0, 9, (4, 3)), rng.poisson(1.0, (5, 5)), np.diag([3, 4, 5])]
    block = np.zeros((4, 4), np.int64)
    block[:2, :2], block[2:, 2:] = [[3, 4], [5, 1]], [[2, 2], [6, 1]]
    for counts in [*tables, block]:
        spectra = [
            law(counts[None]) for law in (interaction_law._of_two, interaction_law._of_several)
        ]
        two, several = (
            np.sort(np.repeat(found[0], times[0].astype(int))) for found, times in spectra
        )
        two, several = (found[np.abs(found) > 1e-8] for found in (two, several))
        np.testing.assert_allclose(two, several, atol=1e-8)


def test_the_tail_is_that_of_chi2_where_it_should_be():
    for df, g in ((1, 30.0), (4, 50.0), (16, 60.0), (3, 5.0)):
        sums = np.array([g]), np.ones((1, 1)), np.array([[df]]), np.zeros(1)
        tail = interaction_law._saddlepoint_tail(*sums)
        assert tail == pytest.approx(stats.chi2.sf(g, df), rel=0.08)


def test_the_tail_is_that_of_a_normal_variable_where_it_should_be():
    for weight in (0.0, -1.0):  # 0 or −χ²(1), which is nothing beside a normal variable this wide
        sums = np.array([300.0]), np.array([[weight]]), np.array([[1]]), np.array([1e4])
        assert interaction_law._saddlepoint_tail(*sums) == pytest.approx(stats.norm.sf(3), rel=0.04)
    below = np.array([1.0]), np.ones((1, 1)), np.array([[2]]), np.zeros(1)
    assert interaction_law._saddlepoint_tail(*below) == 1  # up to the mean


def count_table(columns, shape):
    table = np.zeros(shape, np.int64)
    np.add.at(table, tuple(columns), 1)
    return table


@pytest.mark.parametrize("n", [40, 400, 4000])
def test_the_mean_over_permutations(n):
    rng = np.random.default_rng(1)
    a, b, y = (rng.integers(0, k, n) for k in (3, 2, 2))
    table = count_table((a, b, y), (3, 2, 2))
    drawn = np.stack([count_table((a, b, rng.permutation(y)), (3, 2, 2)) for _ in range(3000)])
    g = 2 * n * interaction_law.interaction_information(drawn)[0]
    [expected] = interaction_law._mean(table.sum(axis=2)[None], table.sum(axis=(0, 1))[None])
    assert g.mean() == pytest.approx(expected, abs=4 * g.std() / 3000**0.5)


def test_the_mean_of_a_count():
    n = 600
    a, b = (side.ravel() for side in np.meshgrid([0, 1, 7, 90, 400, 599, 600], [3, 80, 300, 590]))
    c = np.arange(n + 1)
    weights = stats.hypergeom.pmf(c, n, a[:, None], b[:, None])
    expected = (weights * special.xlogy(c, c)).sum(axis=1)
    found = interaction_law._mean_c_log_c(a, b, n)
    np.testing.assert_allclose(found, expected, atol=0.01)
    is_small = a * b < interaction_law.FEW * n
    np.testing.assert_allclose(found[is_small], expected[is_small], atol=1e-9)


def test_a_set_is_judged_by_its_own_counts_alone():
    rng = np.random.default_rng(2)
    for shape in ((3, 4, 2), (3, 2, 2, 3)):
        tables = np.stack(
            [count_table([rng.integers(0, k, 200) for k in shape], shape) for _ in range(12)]
        )
        tables[0][0] += tables[0][1]  # a level that does not occur
        tables[0][1] = 0
        tables[1] = 0
        for k in range(200):
            tables[1][tuple(k % min(shape) for _ in shape)] += 1  # all variables are copies
        g = rng.uniform(5, 60, 12)
        p_values = interaction_law.interaction_p_values(tables, g)
        alone = [
            interaction_law.interaction_p_values(t[None], g[k : k + 1])
            for k, t in enumerate(tables)
        ]
        np.testing.assert_allclose(p_values, np.ravel(alone), rtol=1e-6)
        without = np.delete(tables[:1], 1, axis=1)
        assert interaction_law.interaction_p_values(without, g[:1]) == pytest.approx(p_values[0])
        assert (p_values >= 0).all()
        assert (p_values <= 1).all()


def tables_of_triples(shape, n_rows):
    """Tables of three columns and a class: independent, correlated, with main effects, a sum."""
    rng = np.random.default_rng(3)
    levels, n_classes = shape[0], shape[-1]
    y = rng.integers(0, n_classes, n_rows)
    noise = rng.normal(size=(3, n_rows))
    effect = np.sin(y * np.array([[1], [2], [3]]))
    columns = [noise, noise + rng.normal(size=n_rows), noise + effect, noise + noise[0] + effect]
    cut = [np.clip(x * levels / 5 + levels / 2, 0, levels - 1).astype(int) for x in columns]
    added = np.where(rng.random(n_rows) < 0.2, cut[0].sum(axis=0) % n_classes, y)
    return np.stack(
        [count_table((*x, y), shape) for x in cut] + [count_table((*cut[0], added), shape)]
    )


def test_many_cells_have_the_law_of_their_first_two_moments(monkeypatch):
    tables = tables_of_triples((4, 4, 4, 10), 5000)
    for others in (tables.sum(axis=1), tables.sum(axis=4)):
        exact, times = interaction_law._of_several(others)
        signs, n_times = interaction_law._of_many_cells(others)
        for power in (1, 2):
            expected = (times * exact**power).sum(axis=1)
            np.testing.assert_allclose((n_times * signs**power).sum(axis=1), expected)
    for g in (120.0, 200.0, 300.0):
        monkeypatch.setattr(interaction_law, "MOST_CELLS", 1 << 20)
        expected = interaction_law.interaction_p_values(tables, np.full(len(tables), g))
        monkeypatch.setattr(interaction_law, "MOST_CELLS", 0)
        found = interaction_law.interaction_p_values(tables, np.full(len(tables), g))
        np.testing.assert_allclose(np.log(found), np.log(expected), rtol=0.01, atol=0.01)


def test_p_values_that_do_not_matter_are_only_known_to_be_too_large():
    tables = tables_of_triples((3, 3, 3, 4), 2000)
    g = np.array([20.0, 40.0, 60.0, 80.0, 100.0])
    exact = interaction_law.interaction_p_values(tables, g)
    found = interaction_law.interaction_p_values(tables, g, most=1e-3)
    matters = exact <= 1e-3
    assert 0 < matters.sum() < len(g)
    np.testing.assert_allclose(found[matters], exact[matters], rtol=1e-6)
    assert (found[~matters] > 1e-3).all()


def test_the_work_after_the_kernel_is_bounded_for_many_classes(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, (9000, 8))
    y = np.where(rng.random(9000) < 0.3, X[:, [1, 4, 6]].sum(axis=1) % 3, rng.integers(0, 30, 9000))
    sizes = []
    eigvalsh = np.linalg.eigvalsh

    def watched(matrices):
        sizes.append(matrices.shape[-1])
        return eigvalsh(matrices)

    monkeypatch.setattr(np.linalg, "eigvalsh", watched)
    selector = RobustHOCMIM(3, target="classes").fit(X.astype(str), y)
    assert [one.members for one in selector.selection_.interactions] == [(1, 4, 6)]
    assert sizes == [27]  # of the three columns; with the classes there are 270 cells


def test_files_and_folders_of_codes_give_the_same(tmp_path):
    X, y = exclusive_or(n=120, n_pairs=1)  # cut again, into three levels
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    frame.to_parquet(tmp_path / "table.parquet")
    kept = RobustHOCMIM(2).fit(frame, "y").interactions_
    assert RobustHOCMIM(2).fit(tmp_path / "table.parquet", "y").interactions_ == kept != []
    stored = RobustHOCMIM(2, engine=Engine(codes_dir=tmp_path / "codes"))
    assert stored.fit(frame, "y").interactions_ == kept
    assert list(hocmim.interactions(frame, "y")) == kept

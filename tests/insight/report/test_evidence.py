"""The numbers of a report are those of explain, to the last bit, for every column at once."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer

import hocmim
from hocmim import HOCMIM, JMI, CriterionSelector, errors
from hocmim.coding.groups import column_name
from hocmim.criteria.cmim import CMIMCriterion
from hocmim.information.counting import BlockTerms, Joint
from hocmim.insight.report import fingerprint
from hocmim.insight.report.answers import N_PILOT, explain_all, steps_to_show
from hocmim.insight.report.cumulative import cumulative_information, mean_information
from hocmim.insight.report.evidence import gather as gather_from
from hocmim.selectors.information import InformationSelector
from hocmim.selectors.registry import METHODS

BY_INFORMATION = [name for name, kind in METHODS.items() if issubclass(kind, InformationSelector)]
OTHERS = [name for name in METHODS if name not in BY_INFORMATION]
CANCER = load_breast_cancer(return_X_y=True, as_frame=True)


def table(n=150, D=12, seed=0):
    """Columns that overlap with each other and with y."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(3, size=(n, 4))
    y = (hidden[:, 0] + hidden[:, 1] * hidden[:, 2] > 2).astype(int)
    X = hidden[:, rng.integers(4, size=D)] + (rng.random((n, D)) < 0.3)
    return X, y


def gather(selector, X, y):
    return gather_from(selector, selector.basis(X, y))


def make(name):
    if name == "own":
        return CriterionSelector(CMIMCriterion("shrinkage"), n_features_to_select=5)
    return hocmim.make_selector(name, n_features_to_select=5)


def taken(evidence, place):
    """The name of a selected feature by its place, as explain calls it."""
    return column_name(evidence.basis.features.names, int(evidence.selected[place]))


def check_against_explain(selector, X, y):
    found = gather(selector, X, y)
    answers = found.answers
    assert answers.scored.tolist() == list(range(found.n_features))
    for j, column in enumerate(found.basis.features.first.tolist()):
        one = selector.explain(column, X)
        assert found.relevance[j] == one.relevance
        assert answers.score[j] == one.score
        assert answers.order[j] == one.contests[-1].order
        members = [taken(found, place) for place in answers.members[j]]
        assert tuple(members) == one.representative_set
        curve = answers.curve[: len(one.contests), j].tolist()
        assert curve == [contest.score for contest in one.contests]
        assert np.isnan(answers.curve[len(one.contests) :, j]).all()
        nearest = min(one.contests, key=lambda contest: contest.taken_score - contest.score)
        assert (answers.closest_step[j], answers.closest_score[j]) == (nearest.step, nearest.score)
        shared = sorted(one.redundancy.values(), reverse=True)
        positive = [value for value in shared if value > 1e-12]
        assert (
            answers.redundancy[0, j] == positive[0] if positive else answers.most_redundant[j] < 0
        )
        assert (
            answers.redundancy[1, j] == positive[1]
            if len(positive) > 1
            else answers.next_redundant[j] < 0
        )
        if shared and shared[-1] < -1e-12:
            assert answers.redundancy[2, j] == shared[-1]
        if one.replaced_by is not None:
            assert taken(found, answers.most_redundant[j]) == one.replaced_by
    return found


@pytest.mark.parametrize("name", [*BY_INFORMATION, "own"])
def test_every_answer_is_that_of_explain(name):
    X, y = table()
    check_against_explain(make(name).fit(X, y), X, y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"search": "exhaustive", "max_order": 2},
        {"path": "min", "form": "conditional", "max_order": 3},
        {"min_support": 10.0, "estimator": "miller_madow"},
        {"n_features_to_select": "auto"},
        {"min_gain": 0.05},
        {"n_features_to_select": 1},
        {"n_features_to_select": 12},
    ],
    ids=str,
)
def test_variants_of_hocmim(parameters):
    X, y = table(seed=3)
    selector = HOCMIM(**({"n_features_to_select": 6} | parameters)).fit(X, y)
    check_against_explain(selector, X, y)


def test_real_columns_with_names():
    X, y = CANCER
    check_against_explain(HOCMIM(8).fit(X, y), X, y)


@pytest.mark.parametrize("name", ["HOCMIM", "CMIM-3", "CMICOT"])
def test_blocks_and_threads_change_nothing(name):
    X, y = table(D=40, seed=2)
    selector = make(name).fit(X, y)
    usual = gather(selector, X, y)
    found = [
        explain_all(usual.basis, n_jobs=jobs, block_columns=width)
        for jobs, width in ((1, 40), (2, 7), (2, 1))
    ]
    for relevance, answers in found[1:]:
        assert relevance.tobytes() == found[0][0].tobytes()
        for field in ("score", "curve", "closest_score", "redundancy", "order", "most_redundant"):
            assert getattr(answers, field).tobytes() == getattr(found[0][1], field).tobytes()


@pytest.mark.parametrize("name", ["HOCMIM", "HOCMIM-R", "JMI"])
def test_without_time_only_the_features_of_most_interest_are_scored(name):
    X, y = table(n=80, D=100, seed=4)
    selector = hocmim.make_selector(name, n_features_to_select=6).fit(X, y)
    basis = selector.basis(X, y)
    _, every = explain_all(basis)
    _, some = explain_all(basis, max_seconds=0.0)
    assert len(every.scored) == 100
    assert len(some.scored) == N_PILOT < 100
    rest = np.setdiff1d(np.arange(100), some.scored)
    runners_up = [step.runner_up.index for step in selector.selection_.steps]
    assert {*selector.selected_.tolist(), *runners_up} <= set(some.scored.tolist())
    for field in ("score", "closest_score", "order", "closest_step"):
        one, other = getattr(every, field), getattr(some, field)
        assert one[some.scored].tobytes() == other[some.scored].tobytes()
    assert np.isnan(some.score[rest]).all()
    assert (some.closest_step[rest] == 0).all()
    assert some.curve.tobytes() == every.curve[:, some.scored].tobytes()
    for field in ("redundancy", "most_redundant", "next_redundant", "most_synergistic"):
        assert getattr(every, field).tobytes() == getattr(some, field).tobytes()
    codes, joint = basis.all_codes, Joint.of([basis.y])
    terms = BlockTerms(codes, joint, basis.estimator)
    added = np.mean([terms.relevance() - terms.redundancy(Joint.of([s]))
                     for s in basis.selected_columns], axis=0)  # fmt: skip
    others = np.setdiff1d(some.scored, [*selector.selected_, *runners_up])
    assert added[others].min() >= added[rest].max()


def test_progress_ends_at_its_total_and_an_exception_stops_it():
    X, y = table(D=100)
    basis = JMI(5).fit(X, y).basis(X, y)
    told = []
    explain_all(basis, on_progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (1000, 1000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    told.clear()
    explain_all(basis, max_seconds=0.0, on_progress=lambda *a: told.append(a))
    assert told[-1] == (500 + 5 * N_PILOT,) * 2

    def stop(done, total):
        if done > 300:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explain_all(basis, n_jobs=2, block_columns=10, on_progress=stop)


@pytest.mark.parametrize("name", OTHERS)
def test_other_filters(name):
    X, y = CANCER
    selector = hocmim.make_selector(name, n_features_to_select=4).fit(X, y)
    found = gather(selector, X, y)
    assert found.answers.score.tobytes() == selector.feature_scores_.tobytes()
    assert not found.is_search
    assert (found.answers.order == -1).all()
    assert found.redundancy.shape == (4, 4)
    relevance = hocmim.mi(hocmim.encode(X[["mean radius"]]).narrow[0], y)
    assert found.relevance[0] == pytest.approx(relevance, abs=1e-12)


@pytest.mark.parametrize("parameters", [{}, {"n_features_to_select": "auto"}], ids=str)
def test_groups_of_columns(parameters):
    X, y = CANCER
    groups = {"radius": ["mean radius", "worst radius"], "texture": [1, 21], "points": [7, 17, 27]}
    selector = HOCMIM(**({"n_features_to_select": 5} | parameters), feature_groups=groups).fit(X, y)
    found = check_against_explain(selector, X, y)
    assert found.n_features == 26
    assert len(selector.selected_) > len(found.selected)
    scores = found.basis.selection.scores.tolist()
    assert scores == [score for _, score in found.basis.best[: len(found.selected)]]
    assert found.name(0) == "radius"


def test_weights_of_rows():
    X, y = table()
    weights = np.random.default_rng(0).integers(3, size=len(y))
    selector = HOCMIM(5).fit(X, y, sample_weight=weights)
    weighted = check_against_explain(selector, X, y)
    X, y = np.repeat(X, weights, axis=0), np.repeat(y, weights)
    repeated = gather(HOCMIM(5).fit(X, y), X, y)
    assert weighted.answers.score.tobytes() == repeated.answers.score.tobytes()
    assert weighted.cumulative.supported.tolist() == repeated.cumulative.supported.tolist()


def test_frequencies_of_a_stability_selector():
    X, y = table()
    selector = hocmim.StabilitySelector(JMI(3), n_resamples=5).fit(X, y)
    assert gather(selector, X, y).answers.score.tolist() == selector.frequencies_.tolist()


def test_nothing_selected():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(80, 6)), rng.integers(2, size=80)
    selector = HOCMIM("auto").fit(X, y)
    assert len(selector.selected_) == 0
    found = check_against_explain(selector, X, y)
    assert len(found.cumulative.counted) == 0
    assert found.redundancy.shape == (0, 0)


def test_another_table_is_refused():
    X, y = CANCER
    selector = HOCMIM(3).fit(X, y)
    with pytest.raises(errors.InvalidTableError, match="not the table the selector was fitted on"):
        gather(selector, X[::-1], y)
    with pytest.raises(errors.InvalidTargetError, match="not the target the selector was fitted"):
        gather(selector, X, 1 - y)


def test_steps_are_thinned_for_many_columns():
    assert steps_to_show(10, 30).tolist() == list(range(10))
    thinned = steps_to_show(100, 20_000)
    assert len(thinned) == 20
    assert (thinned[0], thinned[-1]) == (0, 99)
    assert steps_to_show(0, 5).tolist() == []


# -- together --------------------------------------------------------------------------------------


def test_mean_information_is_the_mean_over_permutations():
    rng = np.random.default_rng(1)
    x, y = rng.integers(6, size=40), rng.integers(3, size=40)
    permuted = [hocmim.mi(x, rng.permutation(y)) for _ in range(4000)]
    expected = mean_information(np.bincount(x), np.bincount(y))
    assert expected == pytest.approx(np.mean(permuted), abs=4 * np.std(permuted) / 4000**0.5)


def test_cumulative_information_by_definition():
    X, y = table()
    selector = JMI(5).fit(X, y)
    found = gather(selector, X, y).cumulative
    for k in range(1, 6):
        assert found.counted[k - 1] == pytest.approx(hocmim.mi(X[:, selector.selected_[:k]], y))
        assert found.n_cells[k - 1] == len(np.unique(X[:, selector.selected_[:k]], axis=0))
    above = found.counted - found.chance
    assert found.supported.tolist() == np.maximum.accumulate(np.maximum(above, 0)).tolist()


def test_columns_that_tell_every_sample_apart_are_not_believed():
    """The plug-in says all there is to know; what is vouched for is next to nothing."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(5, size=(100, 8)), rng.integers(2, size=100)
    selector = hocmim.MIM(8).fit(X, y)
    found = gather(selector, X, y)
    assert found.cumulative.counted[-1] == pytest.approx(found.target_entropy)
    assert found.cumulative.supported[-1] < 0.15 * found.target_entropy


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3, 0.5])
def test_the_truth_is_between_the_two_edges(noise):
    """On average over tables of a distribution whose information is known."""
    rng = np.random.default_rng(7)
    p = np.array([noise, 1 - noise])
    truth = np.log(2) + float((p[p > 0] * np.log(p[p > 0])).sum())
    low, high = [], []
    for _ in range(60):
        X = rng.integers(4, size=(120, 2))
        y = (X[:, 0] % 2) ^ (rng.random(120) < noise)
        target = hocmim.encode(y[:, None].astype(float)).column(0)
        codes = hocmim.encode(X)
        found = cumulative_information([codes.column(0), codes.column(1)], target)
        low.append(found.counted[-1] - found.chance[-1])
        high.append(found.counted[-1])
    tolerance = 4 * np.std(low) / 60**0.5
    assert np.mean(low) <= truth + tolerance
    # The plug-in underestimates H(Y) itself, by 1/2N for two classes.
    assert truth <= np.mean(high) + tolerance + 1 / 240


# -- fingerprint -----------------------------------------------------------------------------------


def test_fingerprint_does_not_depend_on_the_library():
    X, y = CANCER
    expected = fingerprint(X, y)
    tables = [X.to_numpy(), pl.from_pandas(X), pa.Table.from_pandas(X), sparse.csc_array(X)]
    assert {fingerprint(table, y) for table in tables} == {expected}
    assert fingerprint(np.asfortranarray(X), list(y)) == expected


def test_fingerprint_sees_every_value():
    X = pd.DataFrame({"a": [0.0, 1.0, np.nan], "b": ["x", "y", None]})
    y = [0, 1, 0]
    expected = fingerprint(X, y)
    assert fingerprint(X.assign(a=[-0.0, 1.0, np.nan]), y) == expected
    others = [
        (X.assign(a=[0.0, 1.5, np.nan]), y),
        (X.assign(b=["x", "z", None]), y),
        (X.assign(b=["y", "x", None]), y),
        (X[["b", "a"]], y),
        (X, [0, 1, 1]),
        (X, ["0", "1", "0"]),
    ]
    found = [fingerprint(*other) for other in others]
    assert len({expected, *found}) == 1 + len(others)

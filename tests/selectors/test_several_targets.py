"""y with several columns."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_selection import SelectKBest, f_classif

import warned
from hocmim import (
    CMIM,
    HOCMIM,
    JMI,
    MIM,
    Encoder,
    Engine,
    FisherScore,
    StabilitySelector,
    Target,
    check_table,
    load,
    make_selector,
    selected_interactions,
    substitutes,
)
from hocmim.coding.target import encode_target
from hocmim.errors import DataWarning, HocmimWarning, InvalidParameterError, InvalidTargetError
from hocmim.insight.basis import basis_of
from hocmim.selectors.base import InformationSelector
from hocmim.selectors.registry import METHODS

pytestmark = pytest.mark.filterwarnings(warned.REPEATED_ROWS)

RNG = np.random.default_rng(0)
N = 400
X = RNG.normal(size=(N, 8))
A = (X[:, 0] + 0.3 * RNG.normal(size=N) > 0).astype(int)
B = np.where(X[:, 5] + 0.3 * RNG.normal(size=N) > 0, "up", "down")
C = X[:, 3] + 0.2 * RNG.normal(size=N)
FRAME = pd.DataFrame({"a": A, "b": B, "c": C})
INFORMATION = [name for name, kind in METHODS.items() if issubclass(kind, InformationSelector)]
MEAN = Target(strategy="mean")


def joint_of(frame):
    """The combinations of values, as strings."""
    bins = encode_target(frame["c"]).column.codes
    return frame["a"].astype(str) + frame["b"] + bins.astype(str)


def test_joint_is_the_selection_for_the_combinations():
    several = HOCMIM(4).fit(X, FRAME)
    one = HOCMIM(4).fit(X, joint_of(FRAME))
    assert several.selected_.tolist() == one.selected_.tolist()
    np.testing.assert_allclose(several.scores_, one.scores_, rtol=1e-12)
    assert set(several.selected_[:3].tolist()) == {0, 3, 5}
    assert several.target_strategy_ == "joint"
    assert several.target_kind_ == ("classes", "classes", "quantity")
    assert several.classes_[0].startswith("0, down, below -")
    assert len(several.classes_) == joint_of(FRAME).nunique()
    assert one.target_strategy_ == ""


def test_any_table_of_targets():
    frame = FRAME[["a", "c"]]
    expected = JMI(3).fit(X, frame)
    for y in (frame.to_numpy(), frame.to_numpy().tolist(), pl.from_pandas(frame)):
        assert JMI(3).fit(X, y).scores_.tobytes() == expected.scores_.tobytes()


@pytest.mark.parametrize("method", INFORMATION)
def test_mean_is_the_mean_of_the_scores(method):
    how = {"n_features_to_select": 1, "target": MEAN}
    found = make_selector(method, **how).fit(X, FRAME)
    each = [
        make_selector(method, n_features_to_select=1).fit(X, FRAME[name]).relevance_
        for name in FRAME
    ]
    np.testing.assert_allclose(found.relevance_, np.mean(each, axis=0), rtol=1e-12)
    three = make_selector(method, **{**how, "n_features_to_select": 3}).fit(X, FRAME)
    assert three.selected_[0] == found.selected_[0]
    # A target twice is the target once.
    twice = make_selector(method, **{**how, "n_features_to_select": 4})
    twice.fit(X, np.column_stack([A, A]))
    once = make_selector(method, n_features_to_select=4).fit(X, A)
    assert twice.selected_.tolist() == once.selected_.tolist()
    np.testing.assert_allclose(twice.scores_, once.scores_, rtol=1e-12)


def test_mean_by_hand_after_the_first_step():
    selector = JMI(3, target=MEAN, estimator="plugin").fit(X, FRAME)
    chosen = selector.selected_.tolist()
    scores = []
    for name in FRAME:
        one = JMI(8, estimator="plugin").fit(X, FRAME[name])
        criterion = one.make_criterion().copy()
        codes = one.encoder_.transform(X)
        criterion.start(codes, basis_of(one).y)
        for j in chosen[:2]:
            criterion.update(codes.column(j))
        scores.append(criterion.scores())
    mean = np.mean(scores, axis=0)
    mean[chosen[:2]] = -np.inf
    assert int(mean.argmax()) == chosen[2]
    np.testing.assert_allclose(selector.scores_[2], mean.max(), rtol=1e-12)


def test_too_many_combinations_give_the_mean_and_a_warning():
    y = RNG.integers(0, 4, (N, 5))
    y[:, 0] = A
    with pytest.warns(HocmimWarning, match="fewer than 5 rows for each combination"):
        found = MIM(2).fit(X, y)
    assert found.target_strategy_ == "mean"
    with warnings.catch_warnings():
        warnings.simplefilter("error", HocmimWarning)
        declared = MIM(2, target=MEAN).fit(X, y)
    assert declared.scores_.tobytes() == found.scores_.tobytes()
    assert len(found.classes_) == 5
    labels = np.arange(2 * 70_000) % 70_000
    many = np.column_stack([labels // 300, labels % 300])
    assert encode_target(many).strategy == "mean"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_and_checkpoints_give_the_same(tmp_path, n_jobs):
    engine = Engine(checkpoint=tmp_path / "point")
    expected = CMIM(4, target=MEAN).fit(X, FRAME)
    for _ in range(2):
        found = CMIM(4, target=MEAN, n_jobs=n_jobs, engine=engine).fit(X, FRAME)
        assert found.scores_.tobytes() == expected.scores_.tobytes()
    other = FRAME.assign(c=-(FRAME["c"] ** 2))
    with pytest.raises(ValueError, match="point"):
        CMIM(4, target=MEAN, engine=engine).fit(X, other)


def test_the_test_stops_for_several_targets():
    for strategy in ("joint", "mean"):
        found = MIM("significant", target=Target(strategy=strategy)).fit(X, FRAME[["a", "c"]])
        assert set(found.selected_.tolist()) >= {0, 3}
        assert len(found.selected_) <= 4
        assert found.stopping_.reason == "not significant"


def test_files_and_memory_agree(tmp_path):
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    pd.concat([table, FRAME], axis=1).to_parquet(tmp_path / "t.parquet", row_group_size=90)
    for strategy in ("joint", "mean"):
        expected = JMI(3, target=Target(strategy=strategy)).fit(table, FRAME)
        found = JMI(3, target=Target(strategy=strategy)).fit(
            tmp_path / "t.parquet", ["a", "b", "c"]
        )
        assert found.feature_names_in_.tolist() == table.columns.tolist()
        assert found.selected_.tolist() == expected.selected_.tolist()
        assert found.scores_.tobytes() == expected.scores_.tobytes()


def test_weights_repeat_rows_of_all_targets():
    weight = RNG.integers(0, 3, N)
    found = JMI(3).fit(X, FRAME, sample_weight=weight)
    repeated = JMI(3).fit(np.repeat(X, weight, axis=0), FRAME.loc[FRAME.index.repeat(weight)])
    assert found.scores_.tobytes() == repeated.scores_.tobytes()


TABLE = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])


def test_explanations_and_reports_of_the_combinations(tmp_path):
    joint = HOCMIM(3).fit(TABLE, FRAME)
    assert joint.explain("x1", TABLE).relevance == joint.relevance_[1]
    assert joint.explain("x1", TABLE).relevance_of_targets == ()
    page = joint.report(tmp_path / "page.html", TABLE, FRAME)
    assert page.exists()


@pytest.mark.parametrize("method", ["HOCMIM", "HOCMIM-R", "JMI", "CMIM", "CMICOT"])
def test_an_explanation_of_the_mean_is_the_mean_of_explanations(method):
    selector = make_selector(method, n_features_to_select=3, target=MEAN)
    selector.fit(TABLE, FRAME)
    name = next(f"x{j}" for j in range(8) if j not in selector.selected_)
    found = selector.explain(name, TABLE)
    assert found.relevance == selector.relevance_[int(name[1:])]
    first = f"x{selector.selected_[0]}"
    each = []
    for target in FRAME:
        one = make_selector(method, n_features_to_select=2, keep=[first])
        each.append(one.fit(TABLE, FRAME[target]).explain(name, TABLE))
    np.testing.assert_allclose(found.relevance_of_targets, [one.relevance for one in each])
    np.testing.assert_allclose(
        found.redundancy[first], np.mean([one.redundancy[first] for one in each]), atol=1e-12
    )
    # The first two scores: given nothing, and given the first selected feature.
    for step in (0, 1):
        mean = np.mean([one.steps[step].score for one in each])
        np.testing.assert_allclose(found.steps[step].score, mean, atol=1e-12)
    assert "the mean over the targets: " in str(found)


def test_a_target_twice_explains_as_the_target_once(tmp_path):
    once = HOCMIM(3).fit(TABLE, C)
    twice = HOCMIM(3, target=MEAN).fit(TABLE, np.column_stack([C, C]))
    one, two = once.explain("x1", TABLE), twice.explain("x1", TABLE)
    assert (one.redundancy, one.r2, one.score) == (two.redundancy, two.r2, two.score)
    np.testing.assert_array_equal(once.redundancy_matrix(), twice.redundancy_matrix())
    assert list(selected_interactions(once)) == list(selected_interactions(twice))
    first, second = (substitutes(s, TABLE, feature="x3") for s in (once, twice))
    assert list(first) == list(second)


def test_a_report_of_the_mean_says_what_it_is(tmp_path):
    mean = HOCMIM(3, target=MEAN).fit(TABLE, FRAME)
    page = mean.report(tmp_path / "page.html", TABLE, FRAME).read_text()
    assert "There are 3 targets. All figures on this page are means over" in page
    assert "Target 2: 2 classes" in page
    assert "Target 3: a quantity, cut into 3 bins at " in page
    assert "samples, 3 targets</span>" in page
    other = FRAME.assign(c=-FRAME["c"])
    with pytest.raises(InvalidTargetError, match="y is not the target the selector was fitted on"):
        mean.report(tmp_path / "other.html", TABLE, other)
    # With weights the page is about the rows with a weight.
    weight = np.arange(N) % 3
    mean.fit(TABLE, FRAME, sample_weight=weight)
    page = mean.report(tmp_path / "weighted.html", TABLE, FRAME).read_text()
    assert f"<b>{weight.sum():,}</b><span>samples" in page


def test_a_saved_mean_comes_back(tmp_path):
    mean = JMI(3, target=MEAN).fit(TABLE, FRAME)
    loaded = load(mean.save(tmp_path / "model.json"))
    assert loaded.target_kind_ == mean.target_kind_
    assert len(loaded.target_cuts_) == len(loaded.classes_) == 3
    assert str(loaded.trace_) == str(mean.trace_)
    assert loaded.extend(4, TABLE, FRAME).selected_[:3].tolist() == mean.selected_.tolist()


@pytest.mark.parametrize("strategy", ["joint", "mean"])
def test_a_column_that_gives_one_of_the_targets_away(strategy):
    table = TABLE.assign(leak=A)
    with pytest.warns(DataWarning, match="'leak' explains all of one of the targets"):
        MIM(2, target=Target(strategy=strategy)).fit(table, FRAME[["c", "a"]])
    kinds = [finding.kind for finding in check_table(table, FRAME[["c", "a"]])]
    assert kinds == ["leak"]


FILTERS = [name for name in METHODS if name not in INFORMATION]


@pytest.mark.parametrize("method", FILTERS)
def test_filters_rank_for_the_combinations(method, tmp_path):
    if method == "FS-OLS":
        pytest.importorskip("fastcan")
    several = make_selector(method, n_features_to_select=3).fit(TABLE, FRAME)
    codes = encode_target(FRAME).column.codes
    one = make_selector(method, n_features_to_select=3, target="classes").fit(TABLE, codes)
    np.testing.assert_array_equal(several.feature_scores_, one.feature_scores_)
    assert several.target_kind_ == ("classes", "classes", "quantity")
    several.report(tmp_path / "page.html", TABLE, FRAME)
    loaded = load(several.save(tmp_path / "model.json"))
    assert loaded.target_kind_ == several.target_kind_


@pytest.mark.parametrize("method", FILTERS)
def test_filters_say_that_there_are_too_many_combinations(method):
    if method == "FS-OLS":
        pytest.importorskip("fastcan")
    many = np.column_stack([FRAME["a"], np.arange(N) % 50, np.arange(N) // 10])
    with pytest.raises(InvalidTargetError, match="fewer than 5 rows for each combination"):
        make_selector(method, target="classes").fit(X, many)


def test_stability_of_a_filter(tmp_path):
    stable = StabilitySelector(FisherScore(3), n_resamples=4).fit(TABLE, FRAME[["a", "b"]])
    assert {0, 5} <= set(stable.selected_.tolist())
    stable.report(tmp_path / "page.html", TABLE, FRAME[["a", "b"]])


def test_what_is_refused():
    with pytest.raises(InvalidTargetError, match="y should be a 1d array"):
        StabilitySelector(SelectKBest(f_classif, k=2)).fit(X, FRAME)
    with pytest.raises(InvalidParameterError, match="discretizer='mdlp' cuts the columns by one"):
        MIM(2, encoder=Encoder(discretizer="mdlp"), target=MEAN).fit(X, FRAME)
    with pytest.raises(InvalidParameterError, match="strategy"):
        Target(strategy="sum")
    gap = FRAME.assign(c=FRAME["c"].where(FRAME["c"] > 0))
    with pytest.raises(InvalidTargetError, match="Input y contains NaN"):
        MIM(2).fit(X, gap)
    assert encode_target(FRAME, N).column.arity == 12


@pytest.mark.parametrize("strategy", ["joint", "mean"])
def test_stability_takes_several_targets(strategy):
    selector = HOCMIM(3, target=Target(strategy=strategy))
    stable = StabilitySelector(selector, n_resamples=6).fit(X, FRAME)
    assert sorted(stable.selected_[:3].tolist()) == [0, 3, 5]
    assert stable.frequencies_[[0, 3, 5]].min() > 0.5
    assert stable.target_kind_ == ("classes", "classes", "quantity")
    # Two targets of classes: every resample has all combinations.
    classes = StabilitySelector(selector, n_resamples=4).fit(X, FRAME[["a", "b"]])
    assert {0, 5} <= set(classes.selected_.tolist())

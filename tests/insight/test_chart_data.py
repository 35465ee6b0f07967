"""The numbers of the pictures: those of a table of pandas, of the tests, of cross-validation."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_diabetes

import hocmim
import warned
from hocmim import JMI, MIM, FisherScore, RobustHOCMIM, StabilitySelector
from hocmim.information.counting import Joint
from hocmim.insight.basis import basis_of
from hocmim.insight.chart_data import (
    feature_p_values,
    few_levels,
    format_number,
    frequencies_of,
    interaction_map,
    is_wide,
    sample_map,
    target_by_level,
)
from hocmim.insight.prediction import predict
from hocmim.search.stopping import Strata, chi2_p_value
from made_tables import coins, copies

pytestmark = pytest.mark.filterwarnings(warned.GUESSED)

CANCER = load_breast_cancer(return_X_y=True, as_frame=True)


# -- the target by level ---------------------------------------------------------------------------


def test_rates_and_intervals():
    X, y = CANCER
    basis = basis_of(RobustHOCMIM(2).fit(X, y))
    found = target_by_level(basis, basis.selected_columns[0])
    bins = pd.cut(X["worst perimeter"], [-np.inf, *basis.encoder.columns_[22].cuts, np.inf],
                  right=False)  # fmt: skip
    expected = y.groupby(bins, observed=False).agg(["size", "sum", "mean"])
    assert found.feature == "worst perimeter"
    assert found.measure == "share of '1'"
    assert found.overall == y.mean()
    assert found.rows[0].label.startswith("< ")
    for row, (_, (n, n_ones, rate)) in zip(found.rows, expected.iterrows(), strict=True):
        assert (row.n_rows, row.value) == (n, rate)
        assert row.shares == pytest.approx((1 - rate, rate))
        interval = binomtest(int(n_ones), int(n)).proportion_ci(method="wilson")
        assert (row.low, row.high) == pytest.approx((interval.low, interval.high))


def test_means_and_quantiles_of_a_quantity():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X["sex"] = np.where(X["sex"] > 0, "a", "b")
    selector = JMI(10).fit(X, y)
    basis = basis_of(selector)
    of_sex = target_by_level(basis, basis.column(1))
    expected = y.groupby(X["sex"]).describe()
    for row in of_sex.rows:
        one = expected.loc[row.label]
        assert row.value == pytest.approx(one["mean"])
        assert row.quantiles[1:4] == pytest.approx(one[["25%", "50%", "75%"]].tolist())
        half = 1.97 * one["std"] / np.sqrt(one["count"])
        assert row.high - row.value == pytest.approx(half, rel=0.01)
    assert of_sex.rows[0].value > of_sex.rows[1].value  # of categories the largest first
    low, high = of_sex.span
    assert low < of_sex.overall < high


def test_many_levels_become_few():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=600)
    frame = pd.DataFrame({
        "town": [f"town {k}" for k in np.minimum(rng.geometric(0.12, 600), 20)],
        "age": np.where(rng.random(600) < 0.1, np.nan, rng.integers(0, 20, 600)),
        "size": rng.normal(size=600),
    })  # fmt: skip
    selector = MIM(3, encoder=hocmim.Encoder(n_bins=15)).fit(frame, y)
    basis = basis_of(selector)
    for k, name in enumerate(frame):
        codes, labels, is_ordered = few_levels(basis, basis.column(k), 4)
        assert is_ordered == (name != "town")
        assert len(labels) == 4 + (name == "age")
        assert sorted(set(codes.tolist())) == list(range(len(labels)))
        column = basis.column(k)
        merged = pd.DataFrame({"full": column.codes, "few": codes}).drop_duplicates()
        assert len(merged) == len(set(column.codes.tolist()))  # levels are merged, never divided
    assert labels[0].startswith("< ")
    assert labels[-1].startswith("≥ ")
    towns = few_levels(basis, basis.column(0), 4).labels
    assert towns[:3] == tuple(frame["town"].value_counts().index[:3])
    assert towns[3].startswith("other (")
    assert few_levels(basis, basis.column(1), 4).labels[-1] == "missing"


def test_of_many_classes_the_rarest_are_one():
    rng = np.random.default_rng(2)
    y = np.minimum(rng.geometric(0.3, 800), 12)
    X = pd.DataFrame({"a": y + rng.normal(size=800), "b": rng.normal(size=800)})
    basis = basis_of(JMI(1, target="classes").fit(X, y))
    found = target_by_level(basis, basis.selected_columns[0])
    assert found.classes == ("1", "2", "3", "4", "5", "7 others")
    assert all(sum(row.shares) == pytest.approx(1) for row in found.rows)


# -- columns that work together --------------------------------------------------------------------


def test_a_map_of_two_columns():
    X, y = coins()
    selector = RobustHOCMIM(2).fit(X, y)
    one = selector.explain("coin 3")
    picture = one.interaction
    assert picture.sentence == (
        "'coin 3' and 'coin 7' say nothing alone; together they tell 0.69 nats, 99.5% of the "
        "target."
    )
    assert picture.sentence in one.reason
    expected = y.groupby([X["coin 3"], X["coin 7"]]).agg(["mean", "size"]).unstack()
    assert np.array_equal(picture.values, expected["mean"])
    assert np.array_equal(picture.n_rows, expected["size"])
    assert str(picture).splitlines() == [
        "  share of '1' (rows), coin 3 down, coin 7 across",
        "  coin 3           0           1",
        "  0       100% (125)    0% (130)",
        "  1         0% (120)  100% (125)",
    ]
    assert str(picture) in str(one)
    json.dumps(asdict(picture), allow_nan=False)


def test_a_map_of_three_columns_and_of_a_quantity():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 2, (600, 4)), columns=list("abcd"))
    y = 10.0 * (X["a"] ^ X["b"] ^ X["c"]) + rng.normal(size=600)
    basis = basis_of(JMI(4, target="quantity").fit(X, y))
    found = interaction_map(basis, [0, 1, 2], "")
    assert found.across == ("0 · 0", "0 · 1", "1 · 0", "1 · 1")
    expected = y.groupby([X["a"], X["b"], X["c"]]).mean().to_numpy().reshape(2, 4)
    np.testing.assert_allclose(np.array(found.values), expected)
    assert not found.is_rate


def test_empty_cells():
    X = pd.DataFrame({"a": [0, 0, 1, 1] * 20, "b": [0, 1, 0, 0] * 20})
    basis = basis_of(JMI(2).fit(X, [0, 1, 1, 0] * 20))
    found = interaction_map(basis, [0, 1], "")
    assert found.values[1][1] is None
    assert found.n_rows[1][1] == 0
    assert "– (0)" in str(found)
    assert not found.has_few


def test_cells_of_few_rows_have_no_colour():
    X = pd.DataFrame({"a": [0, 0, 1, 1] * 20 + [2] * 3, "b": [0, 1, 0, 1] * 20 + [0] * 3})
    y = np.r_[np.tile([1.0, 2.0, 3.0, 5.0], 20), [99.0] * 3]
    basis = basis_of(JMI(2, target="quantity").fit(X, y))
    found = interaction_map(basis, [0, 1], "")
    assert found.values[2] == (99.0, None)
    assert found.has_few
    np.testing.assert_equal(found.strengths, [[0, 0.25], [0.5, 1], [np.nan, np.nan]])


def test_no_map_where_a_column_tells_more_alone():
    X, y = CANCER
    selector = RobustHOCMIM(5).fit(X, y)
    assert selector.interactions_
    assert selector.explain("worst perimeter").interaction is None


# -- all columns, every sample ---------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 12])
def test_p_values_are_those_of_the_stopping_test(step):
    X, y = CANCER
    X, y = X[::step].assign(rare=np.arange(len(X[::step])) < 2, constant=1), y[::step]
    basis = basis_of(JMI(3).fit(X, y))
    found = feature_p_values(basis)
    nothing = Joint.of([], basis.n_samples)
    columns = map(basis.all_codes.column, range(X.shape[1]))
    expected = [chi2_p_value(Strata(column, basis.y, nothing)) for column in columns]
    # Of cells with 20 rows or more, χ²(df) is used.
    tolerance = 0.02 if step == 1 else 1e-9
    np.testing.assert_allclose(np.log(found), np.log(expected), rtol=tolerance, atol=1e-9)


def test_every_sample_sorted_by_class():
    rng = np.random.default_rng(4)
    y = np.repeat(["a", "b", "c"], [20, 15, 10])
    X = rng.normal(size=(45, 200)) + 2 * (y == "b")[:, None]
    X[3, :] = np.nan
    selector = MIM(5).fit(X, y)
    basis = basis_of(selector)
    assert is_wide(basis)
    found = sample_map(basis)
    assert found.groups == (("a", 20), ("b", 15), ("c", 10))
    assert found.indices == tuple(selector.selected_)
    assert found.levels.shape == (5, 45)
    assert np.nanmin(found.levels) == 0
    assert np.nanmax(found.levels) == 1
    assert np.isnan(found.levels).sum() == 5
    assert np.isnan(found.levels[:, :20]).sum() == 5
    assert found.levels[0, 20:35].mean() > np.nanmean(found.levels[0, :20]) + 0.3
    assert not is_wide(basis_of(MIM(2).fit(*CANCER)))


# -- prediction ------------------------------------------------------------------------------------


def test_the_choice_of_k_is_not_validated_twice():
    X, y = CANCER
    selector = RobustHOCMIM("cv").fit(X, y)
    found = predict(basis_of(selector))
    assert found.validation is selector.validation_
    assert found.accuracy == selector.validation_.accuracy.mean(axis=0)[selector.n_features_]


def test_a_fixed_number_has_the_scores_of_the_choice():
    X, y = CANCER
    chosen = RobustHOCMIM("cv").fit(X, y).validation_
    found = predict(basis_of(RobustHOCMIM(6, interactions=False).fit(X, y)))
    without = RobustHOCMIM("cv", interactions=False).fit(X, y).validation_
    np.testing.assert_allclose(found.validation.accuracy, without.accuracy[:, :7])
    assert found.baseline == chosen.accuracy.mean(axis=0)[0] == pytest.approx(y.mean(), abs=0.01)


def test_selected_noise_predicts_nothing():
    """Columns selected on all rows would predict well: they are selected anew in each fold."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 3000)), np.repeat([0, 1], 30)
    honest = predict(basis_of(MIM(10).fit(X, y)))
    assert honest.is_repeated
    assert honest.accuracy < 0.7
    biased = predict(basis_of(FisherScore(10).fit(X, y), X, y))
    assert not biased.is_repeated
    assert biased.accuracy > 0.8
    assert "too good" in biased.caution
    assert "too good" not in honest.caution
    low, high = binomtest(round(60 * honest.accuracy), 60).proportion_ci(method="wilson")
    assert f"60 rows are few: the true share may be from {low:.0%} to {high:.0%}." in honest.caution


def test_sentences():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    found = predict(basis_of(JMI(2).fit(X, y)))
    assert found.sentence == (
        f"With these 2 columns a simple model explains {found.accuracy:.0%} of the variance of the "
        "target in cases it has not seen; always answering the mean explains none of it."
    )
    rare = np.zeros(400, int)
    rare[:12] = 1
    rng = np.random.default_rng(6)
    noise = pd.DataFrame(rng.normal(size=(400, 3)))
    found = predict(basis_of(JMI(1).fit(noise, rare)))
    assert "in 97%" in found.sentence
    assert found.caution == "The columns do not predict better than no columns at all."
    many = predict(basis_of(MIM(60).fit(pd.concat([X] * 7, axis=1).to_numpy(), y)))
    assert many.sentence.startswith("With the first 50 columns")


# -- stability -------------------------------------------------------------------------------------


def test_a_column_or_a_substitute():
    X, y = copies()
    stable = StabilitySelector(RobustHOCMIM(3), n_resamples=30).fit(X, y)
    groups = [set((members // 4).tolist()) for members in stable.clusters_ if members[0] < 12]
    assert all(len(group) == 1 for group in groups)  # copies of one signal
    ever = np.flatnonzero(stable.selections_.any(axis=0))
    assert sorted(np.concatenate(stable.clusters_)) == ever.tolist()
    for members, share in zip(stable.clusters_, stable.cluster_frequencies_, strict=True):
        assert share == stable.selections_[:, members].any(axis=1).mean()
        assert stable.frequencies_[members[0]] == stable.frequencies_[members].max()
    assert stable.frequencies_.max() < 0.8
    assert np.sort(stable.cluster_frequencies_)[-3:].min() > 0.9
    assert stable.cluster_stability_ > stable.stability_ + 0.3
    found = frequencies_of(stable)
    assert [row.with_substitutes for row in found.rows] == sorted(
        stable.cluster_frequencies_, reverse=True
    )
    assert "3, if a near copy counts as the column itself." in found.sentence


def test_nothing_ever_selected():
    rng = np.random.default_rng(8)
    X, y = rng.integers(3, size=(80, 4)), rng.integers(2, size=80)
    stable = StabilitySelector(JMI("significant"), n_resamples=3).fit(X, y)
    assert stable.clusters_ == []
    assert np.isnan(stable.cluster_stability_)
    assert frequencies_of(stable).rows == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.012345, "0.0123"), (-1.5, "−1.5"), (123.4, "123"), (12345.6, "12,346"),
     (1.5e9, "1.5e+09"), (100, "100")],
)  # fmt: skip
def test_numbers_have_about_three_digits(value, text):
    assert format_number(value) == text

"""Cut points against their definitions, written as loops."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hocmim.coding.codes import Column
from hocmim.coding.cuts import (
    Ragged,
    Survey,
    cut_columns,
    midpoints,
)

# Few enough values for ties, many enough for cuts.
numbers = st.one_of(
    st.integers(-8, 8).map(float),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda v: round(v, 3)),
    st.just(float("nan")),
)
columns = st.lists(numbers, min_size=1, max_size=80)


def uniform_cuts(values, n_bins):
    return cut_columns(np.array(values, float)[:, None], "uniform", n_bins).values


def quantile_cuts(values, n_bins):
    return cut_columns(np.array(values, float)[:, None], "quantile", n_bins).values


def mdlp_cuts(values, y):
    classes = Column(np.array(y, np.uint16), int(max(y)) + 1)
    return cut_columns(np.array(values, float)[:, None], "mdlp", 5, classes).values


def naive_uniform(values, n_bins):
    present = [v for v in values if v == v]
    if not present:
        return []
    low, high = min(present), max(present)
    return [low + (high - low) * k / n_bins for k in range(1, n_bins)]


def naive_quantile(values, n_bins):
    ordered = sorted(v for v in values if v == v)
    cuts = set()
    for k in range(1, n_bins):
        if ordered:
            value = ordered[k * len(ordered) // n_bins]
            above = [v for v in ordered if v > ordered[0]]
            if value == ordered[0]:
                value = min(above, default=None)
            cuts.add(value)
    return sorted(cuts - {None})


def entropy(classes):
    n = len(classes)
    # n log n - sum c log c, as in the definition of n times the entropy
    return sum(-c / n * math.log2(c / n) for c in Counter(classes).values())


def naive_mdlp(values, classes):
    samples = sorted((v, c) for v, c in zip(values, classes, strict=True) if v == v)
    cuts = []

    def split(part):
        n = len(part)
        best = None
        for i in range(1, n):
            if part[i - 1][0] == part[i][0]:
                continue
            below = {c for v, c in part if v == part[i - 1][0]}
            above = {c for v, c in part if v == part[i][0]}
            if len(below | above) == 1:
                continue
            one, two = [c for _, c in part[:i]], [c for _, c in part[i:]]
            mean = (len(one) * entropy(one) + len(two) * entropy(two)) / n
            if best is None or round(mean * 1e12) < best[0]:
                best = (round(mean * 1e12), i, one, two, mean)
        if best is None:
            return
        _, i, one, two, mean = best
        everything = one + two
        k, k1, k2 = len(set(everything)), len(set(one)), len(set(two))
        delta = math.log2(3**k - 2) - (
            k * entropy(everything) - k1 * entropy(one) - k2 * entropy(two)
        )
        gain = entropy(everything) - mean
        if round(gain * 1e12) > round((math.log2(n - 1) + delta) / n * 1e12):
            cuts.append(part[i - 1][0] / 2 + part[i][0] / 2)
            split(part[:i])
            split(part[i:])

    split(samples)
    return sorted(cuts)


@given(columns, st.integers(2, 20))
@settings(max_examples=200, deadline=None)
def test_uniform(values, n_bins):
    assume(not np.isnan(values).all())
    np.testing.assert_array_equal(uniform_cuts(values, n_bins), naive_uniform(values, n_bins))


@given(columns, st.integers(2, 20))
@settings(max_examples=300, deadline=None)
def test_quantile(values, n_bins):
    np.testing.assert_array_equal(quantile_cuts(values, n_bins), naive_quantile(values, n_bins))


def test_quantile_bins_of_distinct_values_differ_by_at_most_one():
    values = np.random.default_rng(0).permutation(1003)
    codes = np.searchsorted(quantile_cuts(values, 7), values, side="right")
    sizes = np.bincount(codes)
    assert len(sizes) == 7
    assert sizes.max() - sizes.min() <= 1


def test_quantile_keeps_a_column_that_is_mostly_zeros():
    values = np.zeros(100)
    values[:8] = np.arange(1, 9)
    assert quantile_cuts(values, 5).tolist() == [1.0]


def test_uniform_over_more_than_the_largest_number():
    cuts = uniform_cuts([-1.7e308, 0.0, 1.7e308], 4)
    np.testing.assert_allclose(cuts, [-0.85e308, 0.0, 0.85e308], atol=1e293)


@pytest.mark.parametrize("seed", range(40))
def test_mdlp_against_the_recursion(seed):
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(2, 250)), int(rng.integers(2, 6))
    y = rng.integers(0, n_classes, n)
    values = y * rng.choice([0.0, 0.5, 2.0]) + rng.normal(size=n)
    if seed % 2:
        values = np.round(values, 1)  # ties, and equal splits
    values[rng.random(n) < 0.1 * (seed % 3)] = np.nan
    np.testing.assert_array_equal(mdlp_cuts(values, y), naive_mdlp(values.tolist(), y.tolist()))


def test_mdlp_finds_the_borders_of_the_classes():
    values = np.arange(90.0)
    y = np.repeat([0, 1, 0], 30)
    np.testing.assert_array_equal(mdlp_cuts(values, y), [29.5, 59.5])


def test_mdlp_leaves_noise_alone():
    rng = np.random.default_rng(1)
    cut = [len(mdlp_cuts(rng.normal(size=300), rng.integers(0, 2, 300))) for _ in range(50)]
    assert np.mean(np.array(cut) > 0) <= 0.1


def test_mdlp_with_a_thousand_classes():
    y = np.repeat(np.arange(1000), 2)
    assert np.isfinite(mdlp_cuts(y.astype(float), y)).all()


def test_mdlp_of_one_class_or_no_values():
    assert len(mdlp_cuts([1.0, 2.0, 3.0], [0, 0, 0])) == 0
    assert len(mdlp_cuts([np.nan, np.nan], [0, 1])) == 0


@pytest.mark.parametrize("n_bins", [5, 40])
def test_cuts_do_not_depend_on_the_order_of_the_rows(n_bins):
    rng = np.random.default_rng(2)
    values, y = np.round(rng.normal(size=500), 2), rng.integers(0, 3, 500)
    order = rng.permutation(500)
    np.testing.assert_array_equal(
        quantile_cuts(values, n_bins), quantile_cuts(values[order], n_bins)
    )
    np.testing.assert_array_equal(mdlp_cuts(values, y), mdlp_cuts(values[order], y[order]))


def test_survey_sees_what_numpy_sees():
    rng = np.random.default_rng(3)
    for dtype in ("f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"):
        values = rng.integers(0, 2 if dtype == "?" else 12, (150, 40)).astype(dtype)
        values[:, ::3] = values[:1, ::3]
        if dtype[0] == "f":
            values[::7, 5:15] = np.nan
            values[:, 3] = np.nan
        for array in (values, np.asfortranarray(values), values[::-2, ::3], values[:0]):
            _check_survey(Survey.of(array, 6), array.astype(float))


def _check_survey(survey, values):
    for j, column in enumerate(values.T):
        present = column[~np.isnan(column)]
        distinct = np.unique(present)
        assert survey.has_missing[j] == np.isnan(column).any()
        assert survey.is_empty[j] == (len(present) == 0)
        assert survey.has_many[j] == (len(distinct) > 6)
        if len(present):
            assert (survey.minimum[j], survey.maximum[j]) == (present.min(), present.max())
        expected = [] if len(distinct) > 6 else distinct
        np.testing.assert_array_equal(survey.distinct.row(j), expected)


def test_surveys_of_parts_merge_into_the_survey_of_the_whole():
    rng = np.random.default_rng(4)
    values = rng.integers(0, 9, (60, 30)) * 1.0
    values[:, 10:20] %= 4
    values[rng.random(values.shape) < 0.05] = np.nan
    values[:30, 0] = np.nan
    values[:, 1] = np.nan
    whole = Survey.of(values, 5)
    parts = [Survey.of(values[a:b], 5) for a, b in ((0, 1), (1, 30), (30, 30), (30, 60))]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    for field in ("minimum", "maximum", "has_missing", "has_many"):
        np.testing.assert_array_equal(getattr(merged, field), getattr(whole, field))
    np.testing.assert_array_equal(merged.distinct.values, whole.distinct.values)
    np.testing.assert_array_equal(merged.distinct.offsets, whole.distinct.offsets)


def test_midpoints_separate_neighbouring_numbers():
    tiny = np.nextafter(1.0, 2.0)
    levels = Ragged.from_counts(
        np.array([1.0, tiny, 3.0, -1e308, 1e308, 7.0]), np.array([3, 0, 2, 1, 0])
    )
    cuts = midpoints(levels)
    assert cuts.counts.tolist() == [2, 0, 1, 0, 0]
    for j in (0, 2, 3):
        row = levels.row(j)
        codes = np.searchsorted(cuts.row(j), row, side="right")
        assert codes.tolist() == list(range(len(row)))

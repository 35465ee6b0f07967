"""Interactions: a naive twin from the formula, known answers, and the level of chance."""

from itertools import combinations
from math import log

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from hocmim import JMI, MIM, Encoder, FisherScore, errors, selected_interactions
from hocmim.coding.codes import Column
from hocmim.insight.synergy import Pairs


def column(values, n_levels):
    return Column(np.asarray(values, np.uint8), n_levels)


def naive_information(columns, y):
    """I(columns;y), plug-in."""
    n, cells = len(y), list(zip(*columns, strict=True)) if columns else [()] * len(y)
    total = 0.0
    for cell, value in set(zip(cells, y, strict=True)):
        c = sum(a == cell and b == value for a, b in zip(cells, y, strict=True))
        total += c / n * log(c * n / (cells.count(cell) * y.count(value)))
    return total


def naive_interaction(columns, y):
    """T by inclusion and exclusion, plug-in."""
    m = len(columns)
    return sum(
        (-1) ** (m - size) * naive_information(subset, y)
        for size in range(m + 1)
        for subset in combinations(columns, size)
    )


def naive_chance(columns, y, rng, n_permutations):
    """The mean of T's terms I(c;Y|B) if c is permuted within the cells of B, for each c."""
    found = []
    for at, c in enumerate(columns):
        others = [x for place, x in enumerate(columns) if place != at]
        total = 0.0
        for size in range(len(others) + 1):
            for given in combinations(others, size):
                cells = list(zip(*given, strict=True)) if given else [()] * len(y)
                mean = 0.0
                for _ in range(n_permutations):
                    moved = list(c)
                    for cell in set(cells):
                        rows = [i for i in range(len(y)) if cells[i] == cell]
                        for i, j in zip(rows, rng.permutation(rows), strict=True):
                            moved[i] = c[j]
                    with_c = naive_information([*given, moved], y)
                    mean += (with_c - naive_information(list(given), y)) / n_permutations
                total += (-1) ** (len(others) - size) * mean
        found.append(total)
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_against_the_naive_twin(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 40).tolist()
    columns = [
        [int(v) if rng.random() < 0.6 else int(rng.integers(0, 2)) for v in y] for _ in range(2)
    ]
    pairs = Pairs([column(c, 2) for c in columns], column(y, 2))
    value, _, rows_per_cell = pairs.measure(0, 1, 0.05)
    assert rows_per_cell == 40 / len(set(zip(*columns, strict=True)))
    plugin = naive_interaction(columns, y)
    corrected = [plugin - mean for mean in naive_chance(columns, y, rng, 300)]
    expected = min(corrected) if min(corrected) > 0 else min(0.0, max(corrected))
    assert value == pytest.approx(expected, abs=0.008)


def test_an_exclusive_or_is_synergy_and_nothing_else_is():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.integers(0, 2, (400, 4)), columns=list("abcd"))
    y = np.where(rng.random(400) < 0.9, X["a"] ^ X["b"], 1 - (X["a"] ^ X["b"]))
    found = selected_interactions(MIM(4).fit(X, y))
    assert [set(row.features) for row in found if row.is_significant] == [{"a", "b"}]
    assert found[0].kind == "synergy"
    assert "more than" in found.sentences[-1]


def test_copies_are_redundant_by_all_they_tell():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 500)
    X = pd.DataFrame({"a": a, "b": 1 - a, "c": a, "d": rng.integers(0, 2, 500)})
    y = np.where(rng.random(500) < 0.8, a, 1 - a)
    selector = MIM(4).fit(X, y)
    found = selected_interactions(selector)
    significant = [row for row in found if row.is_significant]
    assert {row.kind for row in significant} == {"redundancy"}
    assert all("d" not in row.features for row in significant)
    assert abs(found[0].value) == pytest.approx(selector.relevance_[0], abs=0.01)


@pytest.mark.parametrize("kind", ["independent", "related", "one informative"])
@pytest.mark.parametrize(("n", "k"), [(100, 2), (300, 5)])
def test_noise_is_not_shown_as_an_interaction(kind, n, k):
    rng = np.random.default_rng([n, k, 2])
    n_families = 0
    for _ in range(25):
        y = rng.integers(0, 2, n)
        base = rng.integers(0, k, n)
        columns = [rng.integers(0, k, n) for _ in range(4)]
        if kind == "related":
            columns = [np.where(rng.random(n) < 0.6, base, c) for c in columns]
        elif kind == "one informative":
            columns[0] = np.where(rng.random(n) < 0.5, y, columns[0])
        pairs = Pairs([column(c, k) for c in columns], column(y, 2))
        found = [pairs.measure(i, j, 0.05 / 6) for i, j in combinations(range(4), 2)]
        n_families += any(abs(value) > noise for value, noise, _ in found)
    assert n_families <= 4  # 25 families at the level 0.05: more than 4 have p < 0.01


def test_pairs_are_the_redundancy_with_the_other_sign():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = JMI(6).fit(X, y)
    redundancy = selector.redundancy_matrix()
    for row in selected_interactions(selector):
        # Both estimate the same; one is corrected for chance.
        assert row.value == pytest.approx(-redundancy[row.places], abs=0.03)


def test_too_few_rows_are_not_significant():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 9, (60, 3)), rng.integers(0, 2, 60)
    found = selected_interactions(MIM(3, encoder=Encoder(n_bins=9)).fit(X, y))
    assert {row.kind for row in found} == {"too few rows"}
    assert "fewer than 5 rows" in str(found)


def test_only_the_first_features_are_combined():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    found = selected_interactions(JMI(8).fit(X, y), max_features=4)
    assert (len(found), found.n_features, found.n_selected) == (6, 4, 8)


def test_a_filter_needs_the_table():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = FisherScore(4).fit(X, y)
    assert len(selected_interactions(selector, X, y)) == 4 * 3 // 2


def test_wrong_values():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    with pytest.raises(errors.InvalidParameterError, match="need two selected features"):
        selected_interactions(JMI(1).fit(X, y))
    with pytest.raises(errors.InvalidParameterError, match="max_features must be"):
        selected_interactions(JMI(2).fit(X, y), max_features=1)
    with pytest.raises(errors.InvalidTableError, match="keeps no codes"):
        selected_interactions(FisherScore(3).fit(X, y))

"""Interactions: a naive twin from the formula, known answers, and the level of chance."""

from itertools import combinations
from math import log

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from hocmim import JMI, MIM, errors
from hocmim.coding.codes import Column
from hocmim.insight.relations.interactions import Joints, measure


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


@pytest.mark.parametrize("order", [2, 3])
def test_against_the_naive_twin(order):
    rng = np.random.default_rng(order)
    y = rng.integers(0, 2, 40).tolist()
    columns = [
        [int(v) if rng.random() < 0.6 else int(rng.integers(0, 2)) for v in y] for _ in range(order)
    ]
    joints = Joints([column(c, 2) for c in columns], column(y, 2))
    value, _, n_cells = measure(joints, tuple(range(order)), 0.05)
    assert n_cells == len(set(zip(*columns, strict=True)))
    plugin, chance = naive_interaction(columns, y), naive_chance(columns, y, rng, 300)
    for c, mean in enumerate(chance):
        others = tuple(place for place in range(order) if place != c)
        assert joints.chance(c, others) / 80 == pytest.approx(mean, abs=0.008)
    exact = [
        plugin - joints.chance(c, tuple(p for p in range(order) if p != c)) / 80
        for c in range(order)
    ]
    expected = min(exact) if min(exact) > 0 else min(0.0, max(exact))
    assert value == pytest.approx(expected, abs=1e-9)


def exclusive_or(n, n_inputs, rng):
    X = rng.integers(0, 2, (n, 4))
    y = X[:, :n_inputs].sum(axis=1) % 2
    names = ["a", "b", "c", "d"]
    return pd.DataFrame(X, columns=names), np.where(rng.random(n) < 0.9, y, 1 - y)


@pytest.mark.parametrize("order", [2, 3])
def test_an_exclusive_or_is_synergy_and_nothing_else_is(order):
    X, y = exclusive_or(400, order, np.random.default_rng(order))
    found = MIM(4).fit(X, y).interactions(order)
    assert [set(row.features) for row in found.significant] == [set("abc"[:order])]
    assert found[0].kind == "synergy"
    assert "more than" in found.sentences[-1]


def test_copies_are_redundant_by_all_they_tell():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 500)
    X = pd.DataFrame({"a": a, "b": 1 - a, "c": a, "d": rng.integers(0, 2, 500)})
    y = np.where(rng.random(500) < 0.8, a, 1 - a)
    selector = MIM(4).fit(X, y)
    for order in (2, 3):
        found = selector.interactions(order)
        assert {row.kind for row in found.significant} == {"redundancy"}
        assert all("d" not in row.features for row in found.significant)
        assert abs(found[0].value) == pytest.approx(selector.relevance_[0], abs=0.01)


@pytest.mark.parametrize("kind", ["independent", "related", "one informative"])
@pytest.mark.parametrize(("n", "k", "order"), [(100, 2, 2), (300, 5, 2), (150, 2, 3), (700, 3, 3)])
def test_noise_is_not_shown_as_an_interaction(kind, n, k, order):
    rng = np.random.default_rng([n, k, order])
    n_families = 0
    for _ in range(25):
        y = rng.integers(0, 2, n)
        base = rng.integers(0, k, n)
        columns = [rng.integers(0, k, n) for _ in range(4)]
        if kind == "related":
            columns = [np.where(rng.random(n) < 0.6, base, c) for c in columns]
        elif kind == "one informative":
            columns[0] = np.where(rng.random(n) < 0.5, y, columns[0])
        joints = Joints([column(c, k) for c in columns], column(y, 2))
        sets = list(combinations(range(4), order))
        found = [measure(joints, places, 0.05 / len(sets)) for places in sets]
        n_families += any(abs(value) > noise for value, noise, _ in found)
    assert n_families <= 4  # 25 families at the level 0.05: more than 4 have p < 0.01


def test_pairs_are_the_redundancy_with_the_other_sign():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = JMI(6).fit(X, y)
    found = selector.interactions().matrix()
    redundancy = selector.redundancy_matrix()
    off = ~np.eye(6, dtype=bool)
    # Both estimate the same; one is corrected for chance.
    assert np.allclose(found[off], -redundancy[off], atol=0.03)
    assert np.isnan(np.diag(found)).all()


def test_too_few_rows_are_not_significant():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 9, (60, 3)), rng.integers(0, 2, 60)
    found = MIM(3, n_bins=9).fit(X, y).interactions(3)
    assert found[0].kind == "too few rows"
    assert not found.significant
    assert "fewer than 5 rows" in str(found)


def test_only_the_first_features_are_combined():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    found = JMI(8).fit(X, y).interactions(3, max_features=4)
    assert (len(found), found.n_features, found.n_selected) == (4, 4, 8)
    assert found.to_pandas().shape == (4, 7)


def test_a_picture_and_a_notebook():
    pytest.importorskip("matplotlib").use("agg")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.rename(columns={"worst perimeter": "<b>$x$"})
    selector = JMI(4).fit(X, y)
    axes = selector.plot_interactions(n=3)
    assert len(axes.get_yticklabels()) == 3
    assert "<b>" not in selector.interactions()._repr_html_()


def test_wrong_values():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = JMI(2).fit(X, y)
    with pytest.raises(errors.InvalidParameterError, match="order must be 2 or 3"):
        selector.interactions(4)
    with pytest.raises(errors.InvalidParameterError, match="need at least 3 selected"):
        selector.interactions(3)
    with pytest.raises(errors.InvalidParameterError, match="alpha must be"):
        selector.interactions(alpha=0)
    with pytest.raises(errors.InvalidParameterError, match="pairs only"):
        JMI(3).fit(X, y).interactions(3).matrix()

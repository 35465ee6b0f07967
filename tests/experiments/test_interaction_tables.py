"""Tables whose columns tell about the target only together."""

import numpy as np
import pytest

from hocmim.experiments.interactions import (
    BEST_PUBLISHED,
    EPISTASIS,
    METHODS,
    PASSEMIERS,
    epistasis_table,
    main,
    passemiers_table,
    penetrance,
    share_found,
)

FREQUENCY = np.array([0.64, 0.32, 0.04])


@pytest.mark.parametrize("order", [2, 3])
def test_no_smaller_set_of_genotypes_changes_the_risk(order):
    risk = penetrance(order, 0.2, FREQUENCY, np.random.default_rng(0))
    assert risk.min() >= 0
    assert risk.max() <= 1
    weight = np.ones(())
    for _ in range(order):
        weight = np.multiply.outer(weight, FREQUENCY)
    mean = (weight * risk).sum()
    for axis in range(order):
        without_one = np.tensordot(risk, FREQUENCY, (axis, 0))
        np.testing.assert_allclose(without_one, mean, atol=1e-12)
    heritability = (weight * (risk - mean) ** 2).sum() / (mean * (1 - mean))
    assert heritability == pytest.approx(0.2)


@pytest.mark.parametrize("name", EPISTASIS)
def test_epistasis_is_found(name):
    for n_columns in (20, 100):
        table = epistasis_table(name, n_columns, seed=1)
        assert table.y.mean() == 0.5
        assert len(table.useful) == {"two-way": 2, "three-way": 3, "heterogeneous": 4}[name]
        assert share_found(METHODS["HOCMIM-R"], table) == 1
    assert share_found(METHODS["HOCMIM-R, interactions=False"], table) < 1


@pytest.mark.parametrize("name", PASSEMIERS)
def test_the_target_has_both_classes(name):
    table = passemiers_table(name, 1000, 8)
    assert 0.4 < table.y.mean() < 0.6
    assert len(table.useful) == {"RING": 2, "XOR": 2, "RING+XOR": 4, "RING+XOR+SUM": 6}[name]
    assert share_found(METHODS["HOCMIM-R"], table, folds=[0]) >= 0.6


def test_an_exclusive_or_of_few_rows_is_found():
    assert share_found(METHODS["HOCMIM-R"], passemiers_table("XOR", 250, 64), folds=[0, 1]) == 1


def test_the_page(capsys):
    main(["HOCMIM-R"], rows=[250], columns=[8], epistasis_columns=[20])
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].startswith("| 250 | best published | 88 | 48")
    assert sum(line.startswith("| three-way | 20 |") for line in lines) == 1
    assert set(BEST_PUBLISHED) == {250, 500, 1000}

"""How many columns: cross-validation on the codes, against a model written with loops."""

import numpy as np
import pandas as pd
import pytest

import hocmim
from hocmim.coding.encoded import encode_table
from hocmim.errors import HocmimWarning, InvalidParameterError
from hocmim.search import validation
from hocmim.search.validation import cross_validate


def table(seed, n_rows=60):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows),
            "gap": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows)),
            "word": rng.choice(["a", "b", "c"], n_rows),
            "bit": rng.integers(2, size=n_rows),
        }
    )
    y = (frame["number"] + (frame["word"] == "a") + rng.normal(size=n_rows) > 0).astype(int)
    return frame, y.to_numpy()


def slow_scores(encoded, order, train, test):
    """Log probability and accuracy with the first 0, 1, 2, … features, by loops."""
    codes = [encoded.codes.column(k) for k in order]
    y, n_classes = encoded.target.column.codes, encoded.target.column.arity
    prior = [(sum(y[i] == c for i in train) + 1 / n_classes) / (len(train) + 1) for c in (0, 1)]

    def apart(k, a, b):
        column = encoded.encoder.columns_[k]
        if column.kind == "categories" or column.missing in (a, b) or a == b:
            return 0 if a == b else validation.UNIT
        n = column.arity - (column.missing is not None)
        return abs(int(a) - int(b)) * validation.UNIT // (n - 1)

    found = []
    for size in range(len(order) + 1):
        logs, right = [], []
        for row in test:
            p = list(prior)
            if size:
                distance = [
                    sum(
                        apart(order[m], codes[m].codes[row], codes[m].codes[i]) for m in range(size)
                    )
                    for i in train
                ]
                near = sorted(range(len(train)), key=lambda i: (distance[i], i))[:5]
                for i in near:
                    p[y[train[i]]] += 1
                p = [value / 6 for value in p]
            logs.append(np.log(p[y[row]]))
            right.append(int(np.argmax(p)) == y[row])
        found.append((np.mean(logs), np.mean(right)))
    return np.array(found).T


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_the_model_written_with_loops(seed):
    X, y = table(seed)
    encoded = encode_table(X, y)
    seen = []

    def search_rows(part, k):
        selection = hocmim.JMI(k)._fit(*rows_of(part), None, None, None, warns=False).selection_
        seen.append((part, selection.indices.tolist()))
        return selection

    def rows_of(part):
        codes = [part.codes.column(k).codes for k in range(part.codes.n_columns)]
        return np.column_stack(codes).astype(float), part.target.column.codes

    found = cross_validate(encoded, search_rows, 4)
    assert found.sizes.tolist() == [0, 1, 2, 3, 4]
    assert found.n_rows == len(y)
    keys = np.column_stack([encoded.codes.column(k).codes for k in range(4)] + [y])
    for fold, (part, order) in enumerate(seen):
        rows = np.column_stack([part.codes.column(k).codes for k in range(4)])
        rows = np.column_stack([rows, part.target.column.codes])
        train, left = [], list(range(len(y)))
        for one in rows:  # the row of the table that a row of the part is; equal rows in any order
            at = next(i for i in left if (keys[i] == one).all())
            train.append(at)
            left.remove(at)
        expected = slow_scores(encoded, order, train, left)
        np.testing.assert_allclose(found.scores[fold], expected[0], atol=1e-12)
        np.testing.assert_allclose(found.accuracy[fold], expected[1], atol=1e-12)


def test_the_best_number_is_selected_and_reported():
    X, y = table(0, 300)
    selector = hocmim.RobustHOCMIM("cv").fit(X, y)
    found = selector.validation_
    mean = found.scores.mean(axis=0)
    assert len(selector.selection_) == found.best == 1 + int(np.argmax(mean[1:]))
    assert found.beats_baseline
    assert mean[found.best] > mean[0]
    assert selector.selected_.tolist() == (
        hocmim.RobustHOCMIM(found.best).fit(X, y).selected_.tolist()
    )
    assert not hasattr(selector.set_params(n_features_to_select=2).fit(X, y), "validation_")


def test_noise_beats_nothing_and_that_is_said():
    rng = np.random.default_rng(0)
    with pytest.warns(HocmimWarning, match="No number of columns predicts the target better"):
        hocmim.JMI("cv").fit(rng.normal(size=(300, 10)), rng.integers(2, size=300))


def test_a_rare_class_counts():
    """Accuracy would choose nothing: always "no" is right in 95 % of the rows."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 8))
    y = rng.random(1000) < 1 / (1 + np.exp(5.5 - 2 * X[:, 0] - 2 * X[:, 1]))
    selector = hocmim.RobustHOCMIM("cv").fit(X, y)
    assert {0, 1} <= set(selector.selected_.tolist())
    assert selector.validation_.beats_baseline


def test_groups_and_copies_of_a_row_are_on_one_side():
    X, y = table(1, 80)
    groups = np.repeat(np.arange(20), 4)
    sides = []

    def search_rows(part, k):
        sides.append(part)
        return hocmim.MIM(k).fit(X, y).selection_

    for encoded in (
        encode_table(X, y, groups=groups),
        encode_table(X, y, sample_weight=np.full(80, 3)),
    ):
        units = validation._units(encoded)
        folds = validation._folds(encoded.target.column.codes, units, np.random.default_rng(0))
        assert all(len(set(folds[units == unit])) == 1 for unit in np.unique(units))
        assert sorted(set(folds)) == [0, 1, 2, 3, 4]
        cross_validate(encoded, search_rows, 2)
    assert all(part.row_counts is None for part in sides)


def test_a_sample_of_a_large_table():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(5000, 6))
    selector = hocmim.RobustHOCMIM("cv").fit(X, (X[:, 2] > 0) ^ (rng.random(5000) < 0.1))
    found = selector.validation_
    assert found.n_rows <= validation.MAX_ROWS < found.n_rows_in_all == 5000
    assert selector.selected_[0] == 2


def test_quantities_several_targets_files_and_columns_to_keep(tmp_path):
    X, y = table(2, 200)
    quantity = X["number"] * 3 + y
    found = hocmim.RobustHOCMIM("cv").fit(X, quantity)
    assert found.validation_.measure == "R²"
    assert found.selected_[0] == 0
    several = pd.DataFrame({"a": y, "b": quantity})
    mean = hocmim.JMI("cv", target=hocmim.Target(strategy="mean")).fit(X, several)
    assert mean.validation_.measure == "mean score"
    kept = hocmim.JMI("cv", keep=["bit", "word"]).fit(X, y)
    assert {"bit", "word"} <= set(kept.get_feature_names_out())
    assert len(kept.selection_) >= 2
    X.assign(y=y).to_parquet(tmp_path / "t.parquet")
    stored = hocmim.RobustHOCMIM("cv").fit(tmp_path / "t.parquet", "y")
    assert stored.selected_.tolist() == hocmim.RobustHOCMIM("cv").fit(X, y).selected_.tolist()


def test_parts_of_rows_have_the_codes_of_these_rows():
    X, y = table(0)
    encoded, rows = encode_table(X, y), np.array([5, 1, 40])
    part = encoded.take(rows)
    for k in range(4):
        expected = encoded.codes.column(k).codes[rows]
        np.testing.assert_array_equal(part.codes.column(k).codes, expected)
    assert part.target.column.codes.tolist() == y[rows].tolist()


def test_filters_have_no_cross_validation():
    X, y = table(0)
    with pytest.raises(InvalidParameterError, match="has none: it ranks all columns"):
        hocmim.FisherScore("cv").fit(X.drop(columns="gap"), y)

"""How many columns: cross-validation on the codes, against a model written with loops."""

import warnings

import numpy as np
import pandas as pd
import pytest

import hocmim
from hocmim.coding.encoded import encode_table
from hocmim.errors import InvalidParameterError
from hocmim.search import search as search_module
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


def slow_votes(encoded, order, train, test):
    """Of each test row, with the first 0, 1, 2, … features: neighbours of its class, all, prior."""
    codes = [encoded.codes.column(k) for k in order]
    y, n_classes = encoded.target.column.codes, encoded.target.column.arity
    prior = [(sum(y[i] == c for i in train) + 1 / n_classes) / (len(train) + 1) for c in (0, 1)]

    def apart(k, a, b):
        column = encoded.encoder.columns_[k]
        if column.kind == "categories" or column.missing in (a, b) or a == b:
            return 0 if a == b else validation.UNIT
        n = column.arity - (column.missing is not None)
        return abs(int(a) - int(b)) * validation.UNIT // (n - 1)

    found = {}
    for size in range(len(order) + 1):
        for row in test:
            distance = [
                sum(apart(order[m], codes[m].codes[row], codes[m].codes[i]) for m in range(size))
                for i in train
            ]
            near = [i for i, one in zip(train, distance, strict=True) if one <= sorted(distance)[4]]
            hits = sum(y[i] == y[row] for i in near)
            found.setdefault(size, []).append((hits, len(near), prior[y[row]]))
    return found


def slow_scores(folds, size):
    """The mean log probability of each fold: the votes for the prior are those of other folds."""

    def log_p(fold, w):
        return [
            np.log((hits + w * prior) / (n_near + w)) if size else np.log(prior)
            for hits, n_near, prior in folds[fold][size]
        ]

    found = []
    for fold in range(len(folds)):
        others = [other for other in range(len(folds)) if other != fold]
        sums = {w: sum(sum(log_p(other, w)) for other in others) for w in validation.PRIOR_VOTES}
        found.append(log_p(fold, max(sums, key=sums.get)))
    return found


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
    folds = []
    for part, order in seen:
        rows = np.column_stack([part.codes.column(k).codes for k in range(4)])
        rows = np.column_stack([rows, part.target.column.codes])
        train, left = [], list(range(len(y)))
        for one in rows:  # the row of the table that a row of the part is; equal rows in any order
            at = next(i for i in left if (keys[i] == one).all())
            train.append(at)
            left.remove(at)
        folds.append(slow_votes(encoded, order, train, left))
    none = np.concatenate(slow_scores(folds, 0))
    for size in found.sizes:
        expected = slow_scores(folds, size)
        np.testing.assert_allclose(
            found.scores[:, size], [np.mean(one) for one in expected], atol=1e-12
        )
        gain = np.concatenate(expected) - none
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        np.testing.assert_allclose(found.gain_errors[size], error, atol=1e-12)


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


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_noise_beats_nothing_and_that_is_said(share):
    """Also at 1 : 99, where a model that always answers 0 is right in 99 % of the rows."""
    said = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.random(1000) < share
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = hocmim.RobustHOCMIM("cv").fit(rng.normal(size=(1000, 10)), y.astype(int))
        sentence = "No number of columns predicts better than always answering "
        is_said = [one for one in caught if sentence in str(one.message)]
        assert bool(is_said) == (not found.validation_.beats_baseline)
        assert (sentence in found.validation_.in_words()) == bool(is_said)
        if is_said:
            assert len(found.selection_) == found.validation_.best == 1
        said.append(bool(is_said))
    assert sum(said) >= 9


def test_a_rare_class_counts():
    """Accuracy would choose nothing: always "no" is right in 95 % of the rows."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 8))
    y = rng.random(1000) < 1 / (1 + np.exp(5.5 - 2 * X[:, 0] - 2 * X[:, 1]))
    selector = hocmim.RobustHOCMIM("cv").fit(X, y)
    assert {0, 1} <= set(selector.selected_.tolist())
    assert selector.validation_.beats_baseline


def test_a_weak_dependence_and_an_exclusive_or_are_found():
    """Five votes alone predict worse than none where the classes are 60 : 40 at best."""
    rng = np.random.default_rng(0)
    bits = rng.integers(2, size=(4000, 6))
    weak = rng.random(4000) < 0.4 + 0.2 * bits[:, 3]
    found = hocmim.RobustHOCMIM("cv").fit(bits, weak)
    assert found.validation_.beats_baseline
    assert found.selected_[0] == 3
    together = bits[:, 1] ^ bits[:, 4] ^ (rng.random(4000) < 0.2)
    found = hocmim.RobustHOCMIM("cv").fit(bits, together)
    assert found.validation_.beats_baseline
    assert set(found.selected_[:2].tolist()) == {1, 4}


def test_codes_that_saw_the_target_are_refused():
    X, y = table(0)
    encoder = hocmim.Encoder(discretizer="mdlp")
    with pytest.raises(InvalidParameterError, match="cut without the target"):
        hocmim.JMI("cv", encoder=encoder).fit(X, y)


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
    X = rng.integers(3, size=(7000, 6))
    selector = hocmim.RobustHOCMIM("cv").fit(X, (X[:, 2] > 0) ^ (rng.random(7000) < 0.1))
    found = selector.validation_
    assert found.n_rows == validation.MAX_ROWS < found.n_rows_in_all == 7000
    assert selector.selected_[0] == 2
    assert "5,000 rows, a sample of 7,000" in found.in_words()


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


def test_columns_are_screened_once_if_no_pair_is_found(monkeypatch):
    """A fold screens its own rows only if there is a pair in all rows; it never gets that pair."""
    seen = []
    real = search_module.screen

    def screen(table, *args, **kwargs):
        found = real(table, *args, **kwargs)
        seen.append(found.kept)
        return found

    monkeypatch.setattr(search_module, "screen", screen)
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(600, 6))
    alone = X[:, 2] ^ (rng.random(600) < 0.2)
    together = X[:, 1] ^ X[:, 4] ^ (rng.random(600) < 0.2)
    for y, n_screens in ((alone, 1), (together, 1 + validation.N_FOLDS)):
        seen.clear()
        found = hocmim.RobustHOCMIM("cv").fit(X, y)
        assert len(seen) == n_screens
        plain = hocmim.RobustHOCMIM(found.validation_.best).fit(X, y)
        assert found.scores_.tobytes() == plain.scores_.tobytes()
        assert found.selection_.interactions == plain.selection_.interactions

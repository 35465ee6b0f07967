"""Substitutes: a naive twin from the formula, known answers, and words."""

from itertools import product
from math import log, sqrt

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from coded import encode
from hocmim import HOCMIM, JMI, FisherScore, RobustHOCMIM, errors, substitutes
from hocmim.insight.substitutes import SUPPORT, Substitute, Substitutes

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
SELECTOR = RobustHOCMIM(6).fit(X, Y)


def codes_of(name):
    return encode(X[[name]]).narrow[0]


def naive_cmi(x, y, given):
    """I(x;y|z), plug-in, and its degrees of freedom, cell by cell."""
    n, total, freedom = len(y), 0.0, 0
    cells = list(zip(*given, strict=True)) if given else [()] * n
    for cell in set(cells):
        rows = [i for i in range(n) if cells[i] == cell]
        xs, ys = [x[i] for i in rows], [y[i] for i in rows]
        freedom += (len(set(xs)) - 1) * (len(set(ys)) - 1)
        for a, b in product(set(xs), set(ys)):
            c = sum(u == a and v == b for u, v in zip(xs, ys, strict=True))
            if c:
                total += c / n * log(c * len(rows) / (xs.count(a) * ys.count(b)))
    return total, freedom


def naive_value(name, others):
    """V(x): the smallest corrected I(x;Y|Z_j); and its noise."""
    n, y, x = len(Y), Y.tolist(), codes_of(name).tolist()
    columns = {other: codes_of(other).tolist() for other in others}

    def corrected(given):
        value, freedom = naive_cmi(x, y, given)
        return value - freedom / (2 * n), freedom

    order = sorted(others, key=lambda other: corrected([columns[other]])[0])
    found = [corrected([])]
    for j in range(1, len(order) + 1):
        given = [columns[other] for other in order[:j]]
        if j > 1 and n < SUPPORT * len(set(zip(*given, strict=True))):
            break
        found.append(corrected(given))
    value, freedom = min(found)
    return max(0.0, value), sqrt(freedom / 2) / n


@pytest.mark.parametrize("feature", ["worst perimeter", "worst concavity"])
def test_a_selected_feature_against_the_naive_twin(feature):
    names = X.columns[SELECTOR.selected_].tolist()
    assert feature in names
    others = [name for name in names if name != feature]
    found = substitutes(SELECTOR, X, Y, feature, n=3)
    own, own_noise = naive_value(feature, others)
    assert found.is_selected
    assert found.adds == pytest.approx(own, abs=1e-9)
    for row in found:
        value, noise = naive_value(row.feature, others)
        assert row.loss == pytest.approx(own - value, abs=1e-9)
        assert row.noise == pytest.approx(max(noise, own_noise), abs=1e-9)
        assert row.feature not in names
    keys = [(row.loss_beyond_chance, -row.share) for row in found]
    assert keys == sorted(keys)


def test_a_feature_that_was_not_selected_is_compared_alone():
    found = substitutes(SELECTOR, X, None, "mean radius")
    assert not found.is_selected
    value, _ = naive_value("mean radius", [])
    assert found.adds == pytest.approx(value, abs=1e-9)
    best = found[0]
    assert best.feature in ("mean area", "mean perimeter")
    assert best.loss == pytest.approx(value - naive_value(best.feature, [])[0], abs=1e-9)


def test_a_copy_replaces_at_no_loss_and_noise_does_not_replace():
    rng = np.random.default_rng(0)
    n = 400
    a, b = rng.integers(0, 3, n), rng.integers(0, 3, n)
    y = ((a + b) > 2).astype(int)
    table = pd.DataFrame({"a": a, "b": b, "copy": 2 - a})
    for j in range(20):
        table[f"noise {j}"] = rng.integers(0, 3, n)
    selector = RobustHOCMIM(2).fit(table, y)
    assert sorted(selector.get_feature_names_out()) == ["a", "b"]
    found = substitutes(selector, table, y, "a")
    assert [row.feature for row in found] == ["copy"]
    assert found[0].loss == pytest.approx(0, abs=1e-12)
    assert found[0].share == pytest.approx(1)
    assert "'a' can be replaced by 'copy' at no loss; they share 100%" in str(found)
    assert not len(substitutes(selector, table, y, "b"))
    assert "No other feature shares" in str(substitutes(selector, table, y, "b"))


def test_threads_do_not_matter_and_n_only_cuts():
    one = HOCMIM(5, n_jobs=1).fit(X, Y)
    two = HOCMIM(5, n_jobs=2).fit(X, Y)
    feature = X.columns[one.selected_[0]]
    rows = substitutes(one, X, None, feature).rows
    assert rows == substitutes(two, X, None, feature).rows
    assert substitutes(one, X, None, feature, n=2).rows == rows[:2]


def test_in_words_as_a_table_and_in_a_notebook():
    found = substitutes(SELECTOR, X, None, "worst perimeter", n=4)
    assert found.sentences[1].startswith("'worst perimeter' can be replaced by '")
    assert str(found).count("\n") == len(found.sentences) + 2 + 4


def test_wrong_values():
    with pytest.raises(errors.InvalidParameterError, match="Did you mean 'worst area'"):
        substitutes(SELECTOR, X, None, "worst aera")
    with pytest.raises(errors.InvalidParameterError, match="n must be"):
        substitutes(SELECTOR, X, None, "worst area", n=0)
    with pytest.raises(errors.InvalidTargetError, match="not the target"):
        substitutes(SELECTOR, X, Y[::-1].to_numpy(), "worst area")
    with pytest.raises(errors.InvalidTableError, match="not the table"):
        substitutes(SELECTOR, X[::-1], None, "worst area")


def test_all_selected_features_and_a_filter():
    found = substitutes(SELECTOR, X, Y, n=2)
    assert [each.feature for each in found] == X.columns[SELECTOR.selected_].tolist()
    assert found[0] == substitutes(SELECTOR, X, Y, found[0].feature, n=2)
    ranked = FisherScore(2).fit(X, Y)
    assert substitutes(ranked, X, Y)[0].is_selected
    with pytest.raises(errors.InvalidTableError, match="pass the table and the target"):
        substitutes(ranked, X)


def test_only_what_replaces_something_is_called_a_substitute():
    rng = np.random.default_rng(0)
    n = 2000
    a, b = rng.normal(size=(2, n))
    y = (a + b > 0) * 1
    weak = 0.25 * a + rng.normal(size=n)  # shares information with a, and replaces little of it
    frame = pd.DataFrame({"a": a, "b": b, "weak": weak, "noise": rng.normal(size=n)})
    selector = JMI(2).fit(frame, y)
    found = substitutes(selector, frame, y, "a")
    assert [row.feature for row in found] == ["weak"]
    assert not found.replaces(found[0])
    assert found.sentences[1] == "No other feature can replace it: those below lose most of that."
    nothing = substitutes(selector, frame, y, "noise")
    assert not nothing.is_beyond_chance
    assert len(nothing.sentences) == 1
    assert "nats, no more than chance gives." in nothing.sentences[0]


def test_a_substitute_that_adds_more_says_so():
    row = Substitute(
        "b", 1, loss=-0.16, share=0.5, adds=0.26, noise=0.04, relevance=1, is_selected=False
    )
    found = Substitutes("a", 0, True, 0.1, 0.04, 0.69, (row,), 1)
    assert found.cost(row) == "at no loss (it adds 0.1600 nats more)"

"""Rare levels are pooled: the rule, the codes, and what new values become."""

from collections import Counter
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

import hocmim
import warned
from hocmim.coding.encoder import Encoder
from hocmim.errors import DataWarning, InvalidParameterError

pytestmark = pytest.mark.filterwarnings(warned.TEXT)


def naive_levels(values, limit):
    """The levels that stay, by sorting pairs of counts and names."""
    counts = Counter(value for value in values if value is not None)
    if len(counts) <= limit:
        return sorted(counts)
    return sorted(sorted(counts, key=lambda level: (-counts[level], level))[: limit - 1])


@pytest.mark.parametrize("limit", [2, 3, 10, 40, 100])
@pytest.mark.parametrize("has_missing", [False, True])
def test_the_most_frequent_levels_stay_and_the_others_are_one(limit, has_missing):
    rng = np.random.default_rng(limit)
    values = rng.zipf(1.4, 500).clip(0, 70).astype(str).astype(object)
    if has_missing:
        values[rng.random(500) < 0.1] = None
    encoder = Encoder(max_levels=limit)
    codes = encoder.fit_transform(pd.DataFrame({"a": values})).column(0)
    column = encoder.columns_[0]
    kept = naive_levels(values, limit)
    assert list(column.levels) == kept
    n_found = len(set(values) - {None})
    assert column.n_pooled == n_found - len(kept)
    other = len(kept) if n_found > limit else None
    assert column.other == other
    missing = len(kept) + (other is not None)
    expected = [
        missing if value is None else kept.index(value) if value in kept else other
        for value in values
    ]
    assert codes.codes.tolist() == expected
    assert column.arity == codes.arity == missing + has_missing
    # New levels go to "other", or are unknown; missing values that the fit did not see are, too.
    is_unknown = other is None or not has_missing
    with pytest.warns(DataWarning) if is_unknown else nullcontext():
        again = encoder.transform(pd.DataFrame({"a": np.array(["new", None], object)})).column(0)
    assert again.codes.tolist() == [column.arity if other is None else other, missing]


def test_auto_keeps_half_the_root_of_the_rows_and_at_least_16():
    for n, expected in [(100, 16), (1000, 16), (10_000, 50)]:
        values = np.random.default_rng(0).integers(300, size=n).astype(str)
        column = Encoder().fit(pd.DataFrame({"a": values})).columns_[0]
        assert len(column.levels) + 1 == expected
    few = pd.DataFrame({"a": [f"{i}" for i in range(16)]})
    assert Encoder().fit(few).columns_[0].other is None


def test_more_than_65535_levels_are_no_error():
    names = pd.DataFrame({"id": np.arange(70_000).astype(str)})
    names["kind"] = pd.Categorical(np.arange(70_000))
    encoder = Encoder(max_levels=None)
    codes = encoder.fit_transform(names)
    assert codes.arity.tolist() == [65_535, 65_535]
    assert [column.n_pooled for column in encoder.columns_] == [70_000 - 65_534] * 2
    assert encoder.identifiers_.tolist() == [0, 1]


def test_integers_as_categories_are_pooled_too():
    kind = pd.Categorical(np.repeat(np.arange(40), np.arange(1, 41)))
    column = Encoder(max_levels=5).fit(pd.DataFrame({"kind": kind})).columns_[0]
    assert list(column.levels) == [36, 37, 38, 39]
    assert column.n_pooled == 36


@pytest.mark.parametrize("wrong", [1, 0, "few", 3.5, 70_000, True])
def test_a_wrong_number_of_levels_is_an_error(wrong):
    X = pd.DataFrame({"a": list("ab") * 20, "b": np.tile([0, 0, 1, 1], 10)})
    with pytest.raises(InvalidParameterError, match=r"max_levels must be an int .* or None"):
        Encoder(max_levels=wrong).fit(X)


def test_explanations_show_the_pooled_levels():
    rng = np.random.default_rng(0)
    place = rng.integers(100, size=900)
    X = pd.DataFrame({"place": place.astype(str), "x": rng.normal(size=900)})
    selector = hocmim.MIM(2).fit(X, place < 40)
    assert "other (85 levels) (" in str(selector.explain("place").encoding).replace(", …", "") or (
        selector.explain("place").encoding.levels[-1] == "other (85 levels)"
    )


def test_pooling_keeps_noise_from_leading():
    """A useful column is found beside columns of very many levels; without pooling it is not."""
    rng = np.random.default_rng(4)
    n = 2000
    few = rng.integers(3, size=n)
    y = (few + rng.logistic(size=n) > 1).astype(int)
    columns = {f"noise{k}": rng.integers(n // 3, size=n).astype(str) for k in range(5)}
    X = pd.DataFrame({**columns, "few": few})
    assert hocmim.MIM(1).fit(X, y).selected_.tolist() == [5]
    assert hocmim.MIM(1, encoder=Encoder(max_levels=None)).fit(X, y).selected_.tolist() != [5]

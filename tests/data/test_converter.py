"""Text of tables as numbers and dates, in every kind of table, and the same in a second table."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import warned
from hocmim import MIM, RobustHOCMIM, TextConverter
from hocmim.errors import (
    HocmimWarning,
    InvalidParameterError,
    InvalidTableError,
    TextWarning,
)

pytestmark = pytest.mark.filterwarnings(warned.IDENTIFIER)

COLUMNS = {
    "price": ["$1,234", "$5", None, "$7", "?"],
    "day": ["31.01.2012", "01.02.2012", "03.03.2013", None, "05.03.2013"],
    "zip": ["02134", "90210", "11111", "22222", "33333"],
    "n": [1, 2, 3, 4, 5],
    "kind": ["a", "b", None, "a", "b"],
    "open": ["1,234", "2,345", "3,456", "4,567", "5,678"],
}


def convert(X, **options):
    converter = TextConverter(**options)
    return converter.fit_transform(X), converter.messages_


@parametrize_with_checks([TextConverter()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_kind_of_table_gives_the_same(frame):
    table, messages = convert(frame(COLUMNS), columns={"day": "date", "n": "category"})
    assert type(table) is type(frame(COLUMNS))
    table = table.to_pandas() if not isinstance(table, pd.DataFrame) else table
    assert list(table) == list(COLUMNS)
    assert table["price"].fillna(-1).tolist() == [1234, 5, -1, 7, -1]
    days = [None if day is None else pd.to_datetime(day, dayfirst=True) for day in COLUMNS["day"]]
    assert [None if pd.isna(day) else day for day in table["day"]] == days
    assert table["n"].tolist() == list("12345")
    assert table["zip"].tolist() == COLUMNS["zip"]
    assert table["open"].tolist() == COLUMNS["open"]
    assert messages == [
        "'price': 3 values read as numbers with thousands separator ','; 1 did not parse ('?') and "
        "counts as missing.",
        "'day': 4 values read as dates (day-first).",
        "'zip': whole numbers with leading zeros ('02134') stay text.",
        "'n': each distinct value is a category.",
        "'open': the ',' of '1,234' can separate decimals or thousands, so it stays text. Pass "
        "decimal=',' or thousands=','.",
    ]


def test_arrays_and_lists():
    lists = [["1,5", "a", 1], ["2,5", "b", 2], [None, "a", 3]]
    for X in (lists, np.array(lists, object)):
        table, messages = convert(X)
        assert messages == ["'column 0': 2 values read as numbers with decimal separator ','."]
        assert table[:2].tolist() == [[1.5, "a", 1], [2.5, "b", 2]]
        assert np.isnan(table[2, 0])
    table, _ = convert(np.array([["1,5", "2"], ["2,5", "3"]]))
    assert table.dtype == float
    dates, _ = convert(np.array([["31.01.2012"], ["01.02.2012"]], object))
    assert dates[0, 0] == np.datetime64("2012-01-31")


def test_a_table_without_such_text_is_the_same_object():
    for X in (pd.DataFrame({"a": [1.5, 2], "b": ["x", "y"]}), np.eye(3)):
        table, messages = convert(X)
        assert table is X
        assert messages == []


def test_a_second_table_is_read_as_the_first():
    first = pd.DataFrame({"a": ["12,5", "1,234", "x1"] * 7 + ["3,5"] * 19, "b": range(40)})
    converter = TextConverter(columns={"a": "number"}).fit(first)
    second = pd.DataFrame({"a": ["1,234", "2,345"], "b": [0, 1]})
    # Alone, the second table would be ambiguous.
    assert convert(second)[0]["a"].tolist() == ["1,234", "2,345"]
    assert converter.transform(second)["a"].tolist() == [1.234, 2.345]
    # A later table may hold numbers already.
    clean = pd.DataFrame({"a": [1.5, 2.5], "b": [0, 1]})
    assert converter.transform(clean)["a"].tolist() == [1.5, 2.5]
    with pytest.raises(InvalidTableError, match="feature names"):
        converter.transform(second.rename(columns={"a": "c"}))


def test_in_a_pipeline():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    price = [f"{v:.2f}".replace(".", ",") for v in rng.normal(size=200) + 10 + 3 * y]
    X = pd.DataFrame({"price": price, "noise": rng.normal(size=200)})
    pipeline = make_pipeline(TextConverter(), RobustHOCMIM(1)).fit(X, y)
    assert pipeline.get_feature_names_out().tolist() == ["price"]
    encoder = pipeline[-1].encoder_
    assert encoder.columns_[0].kind == "cut"
    assert pipeline.transform(X).dtype == float


def test_the_index_of_a_frame_is_kept():
    X = pd.DataFrame({"a": ["1,5", "2,5"], "b": [1, 2]}, index=["u", "v"])
    table, _ = convert(X)
    assert table.index.tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"pricee": "number"}, InvalidParameterError, "no column 'pricee'. Did you mean 'price'"),
        ({"price": "money"}, InvalidParameterError, "must be one of number, category, date"),
        ({"kind": "number"}, InvalidTableError, "No value of column 'kind' can be read"),
        ({"open": "number"}, InvalidTableError, "Pass decimal , or thousands ,"),
        ({"n": "date"}, InvalidTableError, "No value of column 'n' can be read as a date"),
    ],
)  # fmt: skip
def test_what_a_column_cannot_be(columns, error, message):
    with pytest.raises(error, match=message):
        convert(pd.DataFrame(COLUMNS), columns=columns)


def text_table(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "price": [f"{v:.2f}".replace(".", ",") for v in 10 * rng.random(n)],
            "town": rng.choice(list("abcdefgh"), n),
            "zip": [f"{v:05}" for v in rng.integers(0, 99_999, n)],
            "few": rng.choice(["1", "2"], n),
        }
    ), rng.integers(0, 2, n)


def test_fit_warns_of_text_that_looks_like_numbers():
    X, y = text_table()
    with pytest.warns(TextWarning) as given:
        MIM(1).fit(X, y)
    (found,) = [one for one in given if one.category is TextWarning]
    assert found.filename == __file__
    said = str(found.message)
    assert said.startswith(
        "1 column of text that looks like numbers or dates is treated as categories: 'price'. "
    )
    assert not any(name in said for name in ("town", "zip", "few"))
    assert issubclass(TextWarning, HocmimWarning)


def test_fit_does_not_warn_of_what_is_declared_or_converted():
    X, y = text_table()
    with warnings.catch_warnings():
        warnings.simplefilter("error", TextWarning)
        MIM(1).fit(convert(X)[0], y)
        MIM(1).fit(X.astype({"price": "category"}), y)

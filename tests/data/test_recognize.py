"""Numbers and dates that are written as text: what is recognised, refused and read."""

import datetime as dt
import random
from collections import Counter

import numpy as np
import pytest

from hocmim.data.reading import TextConverter
from hocmim.data.recognize import (
    MIN_SHARE,
    NOTATIONS,
    Notation,
    parse_dates,
    parse_numbers,
    recognize,
)
from hocmim.errors import InvalidParameterError

OPTIONS = {name: f"--{name} {{}}" for name in ("decimal", "thousands", "dates")}


def found(texts, kind=None, **settings):
    counts = Counter(texts)
    return recognize(list(counts), np.array(list(counts.values())), kind, **settings)


def read(texts, kind=None, **settings):
    return found(texts, kind, **settings).parse(texts).tolist()


@pytest.mark.parametrize(
    ("texts", "expected", "notation"),
    [
        (["1", "2.5", "-3e2"], [1, 2.5, -300], Notation(".", "")),
        (["1.234", "2.345"], [1.234, 2.345], Notation(".", "")),
        (["1,5", "12,25", "7"], [1.5, 12.25, 7], Notation(",", "")),
        (["0,123", "0,456"], [0.123, 0.456], Notation(",", "")),
        (["1234,567", "1,234"], [1234.567, 1.234], Notation(",", "")),
        (["1,234", "1,234,567"], [1234, 1234567], Notation(".", ",")),
        (["1,234.50", "12"], [1234.5, 12], Notation(".", ",")),
        (["1.234,50", "12"], [1234.5, 12], Notation(",", ".")),
        (["1.234.567", "12"], [1234567, 12], Notation(",", ".")),
        (["1 234", "12 345 678"], [1234, 12345678], Notation(".", " ")),
        (["1\u202f234,5", "12"], [1234.5, 12], Notation(",", " ")),
        (["1'234.5", "12"], [1234.5, 12], Notation(".", "'")),
        (["$1,234", "-$56", "$-7"], [1234, -56, -7], Notation(".", ",")),
        (["£1,234", "£9,999"], [1234, 9999], Notation(".", ",")),
        (["12,5 €", "7 €"], [12.5, 7], Notation(",", "")),
        (["12.5%", "3 %"], [12.5, 3], Notation(".", "")),
        (["\u22123", "+4", " 5 "], [-3, 4, 5], Notation(".", "")),
    ],
)
def test_numbers(texts, expected, notation):
    assert found(texts).way == notation
    assert read(texts) == expected


@pytest.mark.parametrize(
    "texts",
    [
        ["1,234", "2,345", "56"],
        ["1,234%", "9,999%"],
        ["1,234 €", "2,345 €"],
        ["1.234 €", "2.345 €"],
    ],
)
def test_a_separator_before_three_digits_is_ambiguous(texts):
    reading = found(texts)
    assert reading.kind == "ambiguous"
    mark = "," if "," in texts[0] else "."
    assert reading.describe(OPTIONS) == (
        f"the {mark!r} of {texts[0]!r} can separate decimals or thousands, so it stays text. Pass "
        f"--decimal {mark} or --thousands {mark}"
    )
    as_decimal = read(texts, decimal=mark)
    as_thousands = read(texts, thousands=mark)
    assert as_thousands[0] == 1000 * as_decimal[0]


@pytest.mark.parametrize(
    ("texts", "order", "expected"),
    [
        (["2012/01/31", "2012/1/2"], "year-first", [(2012, 1, 31), (2012, 1, 2)]),
        (["2012-01-31", "2012-02-01"], "year-first", [(2012, 1, 31), (2012, 2, 1)]),
        (["01/31/2012", "02/01/2012"], "month-first", [(2012, 1, 31), (2012, 2, 1)]),
        (["31/01/2012", "02/01/2012"], "day-first", [(2012, 1, 31), (2012, 1, 2)]),
        (["31.01.2012", "02.01.2012"], "day-first", [(2012, 1, 31), (2012, 1, 2)]),
        (["01.02.2012", "03.04.2012"], "day-first", [(2012, 2, 1), (2012, 4, 3)]),
        (["12/31/99", "01/02/03"], "month-first", [(1999, 12, 31), (2003, 1, 2)]),
        (["31-Jan-2012", "1-Sept-1999"], "day-first", [(2012, 1, 31), (1999, 9, 1)]),
        (["January 31, 2012", "May 2 2013"], "month-first", [(2012, 1, 31), (2013, 5, 2)]),
        (["5 March 2020", "17 Dec 2021"], "day-first", [(2020, 3, 5), (2021, 12, 17)]),
        (["2012-01-31T10:20:30.5", "2012-02-01 07:05"], "year-first",
         [(2012, 1, 31, 10, 20, 30, 500_000), (2012, 2, 1, 7, 5)]),
        (["2012-01-31T10:00Z", "2012-01-31 10:00+02:00"], "year-first",
         [(2012, 1, 31, 10), (2012, 1, 31, 8)]),
        (["1/31/2012 12:05 AM", "1/31/2012 3:05 pm"], "month-first",
         [(2012, 1, 31, 0, 5), (2012, 1, 31, 15, 5)]),
    ],
)  # fmt: skip
def test_dates(texts, order, expected):
    assert found(texts).kind == "date"
    assert found(texts).way == order
    assert read(texts) == [dt.datetime(*parts) for parts in expected]


def test_dates_that_fit_two_orders_are_ambiguous():
    texts = ["01/02/2012", "11/12/2013"]
    assert found(texts).describe(OPTIONS) == (
        "'01/02/2012' can be read as two dates, so it stays text. Pass --dates day-first or "
        "--dates month-first"
    )
    assert read(texts, dates="day-first")[0] == dt.datetime(2012, 2, 1)
    assert read(texts, dates="month-first")[0] == dt.datetime(2012, 1, 2)
    assert read(texts, dates="%d/%m/%Y")[0] == dt.datetime(2012, 2, 1)
    assert found(["31.01.12", "01.02.12"]).kind == "ambiguous"
    assert found(["05/05/2012", "06/06/2012"]).kind == "date"  # both orders give the same


def test_what_the_user_says_holds_where_it_fits():
    texts = ["2012-01-31", "2012-02-01"]
    for dates in ("day-first", "month-first", "%m/%d/%Y"):
        assert found(texts, dates=dates).way == "year-first"
    assert found(["01/31/2012"], dates="day-first").way == "month-first"
    assert read(["1.5", "2.25"], decimal=",") == [1.5, 2.25]
    assert read(["1.234", "2.345"], decimal=",") == [1234, 2345]
    assert read(["1.234", "2.345"], thousands=".") == [1234, 2345]
    assert read(["1_234", "2_345"], thousands="_") == [1234, 2345]
    # The user's word counts more than the few values that it does not fit.
    texts = ["1,234"] * 99 + ["12,5"]
    assert read(texts)[0] == 1.234
    assert read(texts, thousands=",")[0] == 1234


def test_a_date_that_does_not_exist_does_not_parse():
    values = parse_dates(["31.02.2012", "29.02.2012", "29.02.2013", "1.13.2012"], "day-first")
    assert np.isnat(values).tolist() == [True, False, True, True]


@pytest.mark.parametrize("n_failed", [0, 5, 6])
def test_the_share_that_must_parse(n_failed):
    assert MIN_SHARE == 0.95
    texts = [f"{i},5" for i in range(100 - n_failed)] + [f"x{i}" for i in range(n_failed)]
    reading = found(texts)
    if n_failed > 5:
        assert reading is None
        assert found(texts, kind="number").n_failed == 6
        return
    assert (reading.n_read, reading.n_failed) == (100 - n_failed, n_failed)
    if n_failed:
        assert reading.describe(OPTIONS) == (
            "95 values read as numbers with decimal separator ','; 5 did not parse ('x0', 'x1', "
            "'x2') and count as missing"
        )


def test_rows_count_and_not_distinct_values():
    texts = ["1", "2", "3"] * 100 + ["a", "b", "c"]
    assert found(texts).n_failed == 3


@pytest.mark.parametrize("word", ["?", "n/a", "-", "NaN", "", "unknown"])
def test_words_for_missing_values_may_be_many(word):
    reading = found(["1,5", "2,5"] + [word] * 8)
    assert (reading.n_read, reading.n_failed, reading.failed) == (2, 8, (word,))


@pytest.mark.parametrize(
    "texts",
    [
        ["a", "b"], ["x1", "x2"], ["1 room", "2 rooms"], ["10-20", "20-30"], ["?", "-"],
        ["1.2.3", "1.10.4"], ["A", "12", "B", "7"], ["12:30", "13:45"], [""],
        ["1,23,456", "2,34,567"], ["2012-01-31", "31.01.2012", "01/31/2012"],
    ],
)  # fmt: skip
def test_other_text_stays_text(texts):
    assert found(texts) is None


def test_postal_codes_are_no_numbers():
    texts = ["02134", "90210", "10115"]
    assert found(texts).kind == "code"
    assert not found(texts).is_converted
    assert found(texts).describe(OPTIONS) == "whole numbers with leading zeros ('02134') stay text"
    assert read(texts, kind="number") == [2134, 90210, 10115]
    # One odd zero among numbers of all lengths is no code.
    assert found([str(i) for i in range(1000)] + ["007"]).kind == "number"
    assert found(["0", "1", "10"]).kind == "number"
    assert found(["0.5", "1.5"]).kind == "number"


def test_a_declared_date_may_be_digits():
    assert read(["20120131", "20120201"], kind="date")[0] == dt.datetime(2012, 1, 31)
    assert found(["20120131", "20120201"]).kind == "number"


def test_the_order_of_the_values_does_not_matter():
    texts = [f"{i % 7},{i:03}" for i in range(300)] + ["?", "odd"] * 3
    expected = found(texts)
    for seed in range(5):
        random.Random(seed).shuffle(texts)
        assert found(texts) == expected


def test_every_notation_reads_what_it_writes():
    rng = random.Random(0)
    for notation in NOTATIONS:
        for _ in range(200):
            value = round(rng.uniform(-1e7, 1e7), rng.randint(0, 3))
            text = f"{value:,}" if notation.thousands else f"{value}"
            text = text.replace(",", "t").replace(".", notation.decimal)
            text = text.replace("t", notation.thousands)
            assert parse_numbers([text], notation) == [value]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (TextConverter(decimal=";"), "decimal must be one of"),
        (TextConverter(thousands="x"), "thousands must be one of"),
        (TextConverter(decimal=",", thousands=","), "must be different"),
        (
            TextConverter(dates="days"),
            "dates must be one of year-first, day-first, month-first, or",
        ),
        (TextConverter(columns={"a": "numbers"}), "Did you mean 'number'"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(InvalidParameterError, match=message):
        settings.check()

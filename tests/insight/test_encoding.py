"""How a feature was encoded: cut points that differ, the rows of each bin, dates as dates."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import warned
from hocmim import HOCMIM, JMI, Encoder, FisherScore, check_table
from hocmim.data.table import as_table
from hocmim.insight.encoding import describe_bins, format_cuts, format_times

pytestmark = pytest.mark.filterwarnings(
    warned.CLIPPED, warned.IDENTIFIER, warned.LEAK, warned.ONE_BIN
)

N = 100
Y = np.arange(N) % 2


def encodings(frame, y=Y, **parameters):
    selector = JMI(2, **parameters).fit(frame, y)
    return {name: selector.explain(name, frame).encoding for name in frame.columns}


@pytest.mark.parametrize(
    ("cuts", "shown"),
    [
        ([], []),
        ([0.0], ["0"]),
        ([1.0, 2.0, 10.0], ["1", "2", "10"]),
        ([0.1 + 0.2, 1 / 3], ["0.3", "0.3333"]),
        ([12345.678, 99999.9], ["12346", "100000"]),
        ([100.0001, 100.0002], ["100.0001", "100.0002"]),
        ([-0.00871234, 1.0], ["-0.008712", "1"]),
        ([1.6e18, 1.7e18], ["1.6e+18", "1.7e+18"]),
        ([1.23456e-12, 1.0], ["1.235e-12", "1"]),
        ([-1.7e308, 1.7e308], ["-1.7e+308", "1.7e+308"]),
    ],
)
def test_cut_points_are_rounded(cuts, shown):
    assert format_cuts(cuts) == shown


def test_different_cut_points_look_different():
    rng = np.random.default_rng(0)
    for scale in (1e-300, 1e-9, 1.0, 1e9, 1e300):
        for closeness in (1.0, 1e-3, 1e-9):
            cuts = np.unique(scale * (1 + closeness * rng.random(9))).tolist()
            assert len(set(format_cuts(cuts))) == len(cuts)
            np.testing.assert_allclose(np.float64(format_cuts(cuts)), cuts, rtol=1e-3)


def test_bins_in_words():
    assert describe_bins(["1.5", "3"]) == ["below 1.5", "1.5 to 3", "3 or more"]
    assert describe_bins([]) == ["all values"]


def test_every_kind_of_column():
    frame = pd.DataFrame(
        {
            "number": np.arange(N, dtype=float),
            "gaps": np.where(np.arange(N) < 10, np.nan, np.arange(N)),
            "few": np.arange(N) % 3,
            "word": np.array(["a", "b"])[Y],
            "empty": np.full(N, np.nan),
        }
    )
    found = encodings(frame)
    number = found["number"]
    assert (number.kind, number.cuts, number.arity) == ("cut", (20.0, 40.0, 60.0, 80.0), 5)
    assert number.n_rows == (20,) * 5
    assert {name: str(encoding) for name, encoding in found.items()} == {
        "number": "5 bins, cut at 20, 40, 60, 80; rows in each bin: 20, 20, 20, 20, 20",
        "gaps": "5 bins, cut at 28, 46, 64, 82; rows in each bin: 18, 18, 18, 18, 18; missing "
        "values (10 rows) are a level of their own",
        "few": "levels as they are, 3 values: 0 (34 rows), 1 (33 rows), 2 (33 rows)",
        "word": "levels as they are, 2 categories: a (50 rows), b (50 rows)",
        "empty": "missing values (100 rows) are a level of their own",
    }


def test_many_bins_and_long_words_are_shortened():
    frame = pd.DataFrame(
        {"number": np.arange(N), "word": [f"{'long' * 9} {i % 12}" for i in range(N)]}
    )
    found = encodings(frame, encoder=Encoder(n_bins=20))
    assert str(found["number"]).count(", …") == 2
    assert len(found["number"].n_rows) == 20
    assert str(found["word"]).endswith(", …")


def test_groups_and_columns_that_are_not_cut():
    frame = pd.DataFrame({"a": Y, "b": 1 - Y, "noise": np.random.default_rng(1).normal(size=N)})
    selector = HOCMIM(
        1, feature_groups={"both": ["a", "b"]}, encoder=Encoder(discretizer="mdlp")
    ).fit(frame, Y)
    assert str(selector.explain("both").encoding) == (
        "group of 2 columns (a, b): 2 combinations occur"
    )
    assert str(selector.explain("noise", frame).encoding) == "one bin, not cut"


def test_a_row_of_weight_three_counts_three_times():
    frame = pd.DataFrame({"x": np.arange(N) % 4, "y": Y})
    weight = np.where(frame["x"] == 0, 3, 1)
    selector = JMI(1).fit(frame, Y, sample_weight=weight)
    assert selector.explain("x", frame).encoding.n_rows == (75, 25, 25, 25)


# -- dates, times and durations --------------------------------------------------------------------

LATE = (np.arange(N) >= 40).astype(int)
DAYS = pd.date_range("2020-01-01", periods=N, freq="D")
CUTS = "cut at 2020-01-21, 2020-02-10, 2020-03-01, 2020-03-21"


def in_nanoseconds(*texts):
    return [float(np.datetime64(text, "ns").astype(np.int64)) for text in texts]


@pytest.mark.parametrize(
    "texts",
    [
        ["2020-01-01"],
        ["1969-07-20", "2020-02-29"],
        ["2020-01-01 00:00", "2020-01-02 12:30"],
        ["2020-01-01 00:00:05", "2020-01-01 00:00:07"],
        ["2020-01-01 00:00:05.000250", "2020-01-01 00:00:05.000500"],
    ],
)
def test_dates_have_the_digits_they_need(texts):
    assert format_times(in_nanoseconds(*texts), "date") == texts


def test_times_far_apart_are_rounded():
    times = in_nanoseconds("2020-01-01 10:00:31", "2021-01-01 10:00:29")
    assert format_times(times, "date") == ["2020-01-01 10:01", "2021-01-01 10:00"]
    assert format_times(times[:1], "UTC date") == ["2020-01-01 10:00:31 UTC"]


def test_dates_that_nanoseconds_cannot_hold():
    millennium = (dt.datetime(1000, 1, 1) - dt.datetime(1970, 1, 1)) / dt.timedelta(microseconds=1)
    assert format_times([millennium * 1000], "date") == ["1000-01-01"]
    (far,) = format_times([9.3e24 + 1e9], "date")
    assert np.datetime64(far.replace(" ", "T")) == np.datetime64(round(9.3e15) + 1, "s")


def test_durations_and_times_of_day():
    seconds = [-90, 0, 0.25, 27_000, 86_400, 2 * 86_400 + 61]
    assert format_times([1e9 * value for value in seconds], "duration") == [
        "−00:01:30",
        "00:00:00",
        "00:00:00.25",
        "07:30:00",
        "1 day",
        "2 days 00:01:01",
    ]


def frame(days):
    return pd.DataFrame({"noise": np.arange(N) % 3, "day": days})


TABLES = {
    "pandas": frame(DAYS),
    "pandas objects": frame([day.date() for day in DAYS]),
    "polars": pl.from_pandas(frame(DAYS)),
    "polars dates": pl.from_pandas(frame(DAYS)).with_columns(pl.col("day").cast(pl.Date)),
    "arrow": pa.Table.from_pandas(frame(DAYS)),
    "array": np.column_stack([np.full(N, DAYS[0], "datetime64[s]"), DAYS.to_numpy()]),
    "objects": frame(DAYS).astype(object).to_numpy(),
}


@pytest.mark.parametrize("name", TABLES)
def test_cut_points_of_dates_are_dates(name, tmp_path):
    table = TABLES[name]
    selector = JMI(1).fit(table, LATE)
    assert CUTS in str(selector.explain(1))
    assert selector.explain(1).encoding.levels[0] == "below 2020-01-21"
    assert CUTS in selector.report(tmp_path / "report.html", table, LATE).read_text()


def test_a_date_that_was_not_selected(tmp_path):
    table = frame(DAYS)[["day"]].assign(half=LATE)[["half", "day"]]
    selector = JMI(1).fit(table, LATE)
    assert selector.selected_.tolist() == [0]
    assert CUTS in str(selector.explain("day", table))
    assert CUTS in selector.report(tmp_path / "report.html", table, LATE).read_text()
    page = FisherScore(1).fit(table, LATE).report(tmp_path / "filter.html", table, LATE)
    assert CUTS in page.read_text()


def test_a_parquet_file(tmp_path):
    path = tmp_path / "table.parquet"
    frame(DAYS).assign(y=LATE).to_parquet(path)
    selector = JMI(1).fit(path, "y")
    assert CUTS in str(selector.explain("day"))
    frame(DAYS).assign(half=LATE)[["half", "day"]].to_parquet(path)
    assert CUTS in str(JMI(1).fit(path, LATE).explain("day", path))


def test_dates_with_few_values_and_with_a_time_zone():
    few = frame(np.where(LATE, DAYS[0], DAYS[1]))
    assert "2020-01-01 (60 rows), 2020-01-02 (40 rows)" in str(JMI(1).fit(few, LATE).explain("day"))
    zone = frame(DAYS.tz_localize("Asia/Tokyo"))
    assert "cut at 2020-01-20 15:00 UTC, " in str(JMI(1).fit(zone, LATE).explain("day"))


def test_times_of_day_and_durations():
    table = pl.DataFrame(
        {
            "time": [dt.time(i // 10, 6 * (i % 10)) for i in range(N)],
            "duration": [dt.timedelta(hours=12 * i) for i in range(N)],
        }
    )
    selector = JMI(2).fit(table, LATE)
    assert "cut at 02:00:00, 04:00:00, 06:00:00, 08:00:00" in str(selector.explain("time"))
    assert "cut at 10 days, 20 days, 30 days, 40 days" in str(selector.explain("duration"))


def test_findings_on_bins_of_dates():
    days = DAYS.to_numpy().copy()
    days[:85] = days[0]
    details = [f.details[0] for f in check_table(frame(days), LATE) if f.kind == "uneven bins"]
    assert details == ["has 85% of its rows in one bin (below 2020-03-26)"]


def test_columns_without_times():
    assert as_table(np.zeros((3, 2))).time_kinds(range(2)) == {}
    objects = np.array([[None, "a"], [1, "b"]], object)
    assert as_table(objects).time_kinds(range(2)) == {}
    assert as_table(pd.DataFrame({"a": [None, 1.5]})).time_kinds([0]) == {}

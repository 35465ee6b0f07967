"""Dates, times and durations as text, and cut points of columns that hold them."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hocmim import JMI, FisherScore, data_notes
from hocmim.data.table import as_table
from hocmim.insight.times import format_times

N = 100
Y = (np.arange(N) >= 40).astype(int)
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
    selector = JMI(1).fit(table, Y)
    assert CUTS in str(selector.explain(1))
    assert selector.explain(1).encoding.levels[0] == "below 2020-01-21"
    assert CUTS in selector.report(tmp_path / "report.html", table, Y).read_text()


def test_a_date_that_was_not_selected(tmp_path):
    table = frame(DAYS)[["day"]].assign(half=Y)[["half", "day"]]
    selector = JMI(1).fit(table, Y)
    assert selector.selected_.tolist() == [0]
    assert CUTS in str(selector.explain("day", table))
    assert CUTS in selector.report(tmp_path / "report.html", table, Y).read_text()
    page = FisherScore(1).fit(table, Y).report(tmp_path / "filter.html", table, Y)
    assert CUTS in page.read_text()


def test_a_parquet_file(tmp_path):
    path = tmp_path / "table.parquet"
    frame(DAYS).assign(y=Y).to_parquet(path)
    selector = JMI(1).fit(path, "y")
    assert CUTS in str(selector.explain("day"))
    frame(DAYS).assign(half=Y)[["half", "day"]].to_parquet(path)
    assert CUTS in str(JMI(1).fit(path, Y).explain("day", path))


def test_dates_with_few_values_and_with_a_time_zone():
    few = frame(np.where(Y, DAYS[0], DAYS[1]))
    assert "2020-01-01 (60 rows), 2020-01-02 (40 rows)" in str(JMI(1).fit(few, Y).explain("day"))
    zone = frame(DAYS.tz_localize("Asia/Tokyo"))
    assert "cut at 2020-01-20 15:00 UTC, " in str(JMI(1).fit(zone, Y).explain("day"))


def test_times_of_day_and_durations():
    table = pl.DataFrame(
        {
            "time": [dt.time(i // 10, 6 * (i % 10)) for i in range(N)],
            "duration": [dt.timedelta(hours=12 * i) for i in range(N)],
        }
    )
    selector = JMI(2).fit(table, Y)
    assert "cut at 02:00:00, 04:00:00, 06:00:00, 08:00:00" in str(selector.explain("time"))
    assert "cut at 10 days, 20 days, 30 days, 40 days" in str(selector.explain("duration"))


def test_notes_on_bins_of_dates():
    days = DAYS.to_numpy().copy()
    days[:85] = days[0]
    notes = data_notes(frame(days), Y)
    assert "one bin (below 2020-03-26)" in next(str(n) for n in notes if n.kind == "uneven bins")


def test_columns_without_times():
    assert as_table(np.zeros((3, 2))).time_kinds(range(2)) == {}
    objects = np.array([[None, "a"], [1, "b"]], object)
    assert as_table(objects).time_kinds(range(2)) == {}
    assert as_table(pd.DataFrame({"a": [None, 1.5]})).time_kinds([0]) == {}

"""Text in files that are not read into memory becomes numbers and dates as it does in memory."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import warned
from hocmim import JMI, Engine, convert_text
from hocmim.cli import main
from hocmim.data.reading import TextConverter
from hocmim.data.rows import RowSource
from hocmim.data.sources import open_source
from hocmim.data.text_source import convert_source
from hocmim.errors import InvalidParameterError
from row_tables import source_of

pytestmark = pytest.mark.filterwarnings(warned.IDENTIFIER)

N = 900
RNG = np.random.default_rng(3)
AMOUNT = RNG.normal(1500, 800, N)
DAY = RNG.integers(0, 900, N)
TABLE = pd.DataFrame(
    {
        "amount": [f"${value:,.2f}" for value in AMOUNT],
        "share": [f"{value:.2f}".replace(".", ",") for value in RNG.uniform(0, 99, N)],
        "day": (np.datetime64("2012-01-31") + DAY).astype("datetime64[D]").astype(str),
        "zip": [f"{value:05d}" for value in RNG.integers(1000, 99999, N)],
        "kind": RNG.choice(["a", "b", "c"], N),
        "count": RNG.integers(0, 40, N),
        "y": np.where(AMOUNT + 2 * DAY > 2300, "high", "low"),
    }
)
TABLE["day"] = [f"{text[8:]}.{text[5:7]}.{text[:4]}" for text in TABLE["day"]]
TABLE.loc[:299, "share"] = None  # whole row groups without a value
TABLE.loc[::7, "share"] = None
TABLE.loc[5, "amount"] = "n/a"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.parquet"
    TABLE.to_parquet(path, row_group_size=100)
    return path


def read_all(source):
    return source.read(list(source.columns)).to_pandas()


def test_a_source_is_read_as_a_table_in_memory(file):
    source, messages = convert_text(file)
    expected, said = convert_text(TABLE)
    assert messages == said
    assert any("'amount': 899 values read as numbers" in message for message in messages)
    assert any("'zip': whole numbers with leading zeros" in message for message in messages)
    pd.testing.assert_frame_equal(read_all(source), expected, check_dtype=False)
    assert isinstance(source, RowSource)
    # Some columns, in another order, a few rows at a time.
    (piece,) = pickle.loads(pickle.dumps(source.pieces))
    parts = [part for _, part in piece.tables([["kind", "amount"]], 150)]
    assert len(parts) > 1
    assert parts[1].column_names == ["kind", "amount"]
    values = [value for part in parts for value in part["amount"].to_pylist()]
    np.testing.assert_array_equal(np.array(values, float), expected["amount"])


def test_settings_and_parts(file):
    columns = {"day": "date-parts", "zip": "number", "count": "category"}
    source, _ = convert_text(file, columns=columns, dates="day-first")
    expected, _ = convert_text(TABLE, columns=columns, dates="day-first")
    assert list(source.columns) == expected.columns.tolist()
    pd.testing.assert_frame_equal(read_all(source), expected, check_dtype=False)
    with pytest.raises(InvalidParameterError, match="There is no column 'dya'"):
        convert_text(file, columns={"dya": "date"})


def test_what_needs_no_conversion_is_the_same_source(tmp_path):
    plain = TABLE[["kind", "count", "y"]]
    plain.to_parquet(tmp_path / "plain.parquet")
    source, _ = open_source(tmp_path / "plain.parquet")
    assert convert_source(source) == (source, ())
    tables = source_of(TABLE[:400], TABLE[400:])
    converted, read = convert_source(tables, TextConverter())
    assert [column.name for column in read] == ["amount", "share", "day", "zip"]
    assert converted.fingerprint != tables.fingerprint


def test_fit_on_a_converted_source(file, tmp_path):
    source, _ = convert_text(file)
    memory, _ = convert_text(TABLE)
    expected = JMI(3).fit(memory.drop(columns="y"), memory["y"])
    for options in ({}, {"engine": Engine(codes_dir=tmp_path / "codes")}):
        found = JMI(3, **options).fit(source, "y")
        assert found.selected_.tolist() == expected.selected_.tolist()
        assert found.scores_.tobytes() == expected.scores_.tobytes()
    name = found.get_feature_names_out()[0]
    assert str(found.explain(name)) == str(expected.explain(name))


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.stderr
    return result


@pytest.mark.parametrize("options", [(), ("--as", "day=date-parts", "--drop", "zip,kind")])
def test_the_command_line_reads_text_whichever_way_the_file_is_read(file, tmp_path, options):
    select = ("select", file, "-t", "y", "-k", "3", *options)
    memory = run(*select, "--json", "-", "-o", tmp_path / "memory.csv")
    by_path = run(
        *select, "--json", "-", "-o", tmp_path / "path.csv", "--codes-dir", tmp_path / "c"
    )
    first, second = (json.loads(found.stdout) for found in (memory, by_path))
    assert first["selected"] == second["selected"]
    assert first["columns"] == second["columns"]
    assert "'amount': 899 values read as numbers" in by_path.stderr
    assert (tmp_path / "memory.csv").read_text() == (tmp_path / "path.csv").read_text()


def test_text_that_is_a_target(file, tmp_path):
    """A quantity that is written as text is a quantity, by path as well."""
    select = ("select", file, "-t", "amount", "-k", "2", "--missing", "n/a", "--json", "-", "-q")
    complete = TABLE.drop(index=5)
    complete.to_parquet(file, row_group_size=100)
    found = [json.loads(run(*select, *more).stdout) for more in ((), ("--codes-dir", tmp_path))]
    assert found[0]["selected"] == found[1]["selected"]

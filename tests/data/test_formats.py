"""Spreadsheets, databases, JSON lines and compressed files give the table that CSV gives."""

import datetime as dt
import gzip
import sqlite3
import sys
import zipfile
from contextlib import closing

import pyarrow as pa
import pytest

from hocmim.data.files import column_names, read_table, write_table
from hocmim.data.records import column_from_values
from hocmim.data.sheets import read_sheet
from hocmim.errors import InvalidParameterError, InvalidTableError, MissingDependencyError
from made_sheets import escaped, write_xlsx

ROWS = [
    ("age", "town", "dose", "seen", "y"),
    (31, "Ulm", 0.5, dt.datetime(2020, 1, 31), "ill"),
    (42, "Köln & Bonn", None, dt.datetime(2020, 2, 1), "well"),
    (53, None, 2.25, None, "ill"),
]
EXPECTED = {
    "age": [31, 42, 53],
    "town": ["Ulm", "Köln & Bonn", None],
    "dose": [0.5, None, 2.25],
    "seen": [dt.datetime(2020, 1, 31), dt.datetime(2020, 2, 1), None],
    "y": ["ill", "well", "ill"],
}
CSV = "\n".join(",".join("" if v is None else str(v) for v in row) for row in ROWS) + "\n"


def write_ods(path, rows):
    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        if isinstance(value, dt.datetime):
            shown = value.date().isoformat()
            return f'<table:table-cell office:value-type="date" office:date-value="{shown}"/>'
        if isinstance(value, (int, float)):
            return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        text = f"<text:p>{escaped(value)}</text:p>"
        return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'

    names = "urn:oasis:names:tc:opendocument:xmlns"
    body = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr(
            "content.xml",
            f'<office:document-content xmlns:office="{names}:office:1.0" '
            f'xmlns:table="{names}:table:1.0" xmlns:text="{names}:text:1.0"><office:body>'
            f'<office:spreadsheet><table:table table:name="one">{body}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
        book.writestr("META-INF/manifest.xml", "<manifest/>")


def write_sqlite(path, tables=("t",)):
    with sqlite3.connect(path) as database:
        for name in tables:
            quoted = '"' + name.replace('"', '""') + '"'
            database.execute(f"CREATE TABLE {quoted} (age, town, dose, seen, y)")
            rows = [tuple(str(v) if isinstance(v, dt.date) else v for v in r) for r in ROWS[1:]]
            database.executemany(f"INSERT INTO {quoted} VALUES (?, ?, ?, ?, ?)", rows)
    database.close()


def check(table):
    found = table.to_pydict()
    for name, expected in EXPECTED.items():
        values = found[name]
        if name == "seen":
            values = [None if v is None else dt.datetime.fromisoformat(str(v)) for v in values]
        assert values == expected
        assert [type(v) for v in found[name] if v is not None and name in ("age", "dose")] == [
            type(v) for v in expected if v is not None and name in ("age", "dose")
        ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_excel(folder):
    pytest.importorskip("python_calamine")
    write_xlsx("t.xlsx", {"first": ROWS, "second & last": [("a",), (1.5,)]})
    check(read_table("t.xlsx"))
    assert column_names("t.xlsx") == list(EXPECTED)
    assert read_table("t.xlsx?sheet=second & last").to_pydict() == {"a": [1.5]}
    assert read_table("t.xlsx", missing=("Ulm",)).column("town").to_pylist()[0] is None
    assert read_table("t.xlsx", header=False).column_names == ["f0", "f1", "f2", "f3", "f4"]
    with pytest.raises(InvalidParameterError, match=r"no sheet 'frist' .*Did you mean 'first'"):
        read_table("t.xlsx?sheet=frist")
    (folder / "bad.xlsx").write_bytes(b"not a workbook")
    with pytest.raises(InvalidTableError, match=r"'bad.xlsx' cannot be read as a table"):
        read_table("bad.xlsx")


def test_opendocument(folder):
    pytest.importorskip("python_calamine")
    write_ods("t.ods", ROWS)
    check(read_table("t.ods"))


def test_without_calamine(folder, monkeypatch):
    write_xlsx("t.xlsx", {"first": ROWS})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingDependencyError, match="pip install python-calamine"):
        read_sheet(folder / "t.xlsx", None, (), True)


def test_whole_numbers_of_64_bits_from_sqlite(folder):
    large = [2**60 + 1, 2**60 + 2, -(2**60)]
    with closing(sqlite3.connect("large.db")) as database:
        database.execute("create table t (id integer, y integer)")
        database.executemany("insert into t values (?, 1)", [(value,) for value in large])
        database.commit()
    assert read_table("sqlite:///large.db")["id"].to_pylist() == large


def test_sqlite(folder):
    write_sqlite("one.db")
    check(read_table("sqlite:///one.db"))
    check(read_table(f"sqlite:///{folder}/one.db?table=t"))
    assert column_names("sqlite:///one.db") == list(EXPECTED)
    write_sqlite("two.db", ("t", 'with "quotes"'))
    check(read_table('sqlite:///two.db?table=with "quotes"'))
    with pytest.raises(InvalidParameterError, match=r"has 't', 'with .quotes.'. Add .table=NAME"):
        read_table("sqlite:///two.db")
    with pytest.raises(InvalidParameterError, match=r"no table 'tt'.*Did you mean 't'"):
        read_table("sqlite:///two.db?table=tt")
    with pytest.raises(InvalidParameterError, match=r"'no.db' does not exist"):
        read_table("sqlite:///no.db?table=t")
    with pytest.raises(InvalidParameterError, match="is not of the form sqlite:///file"):
        read_table("sqlite:///one.db?tabel=t")
    with pytest.raises(InvalidTableError, match=r"is a database. .*sqlite:///one.db\?table=NAME"):
        read_table("one.db")
    (folder / "bad.db").write_bytes(b"not a database" * 100)
    with pytest.raises(InvalidTableError, match=r"'bad.db' cannot be read: file is not a database"):
        read_table("sqlite:///bad.db")


def test_duckdb(folder):
    duckdb = pytest.importorskip("duckdb")
    table = pa.table(EXPECTED)
    with duckdb.connect("t.duckdb") as database:
        database.register("arrow", table)
        database.execute("CREATE TABLE t AS SELECT * FROM arrow")
    check(read_table("duckdb:///t.duckdb?table=t"))
    with pytest.raises(InvalidParameterError, match="no table 'x'"):
        read_table("duckdb:///t.duckdb?table=x")
    with pytest.raises(InvalidTableError, match="is a database"):
        read_table("t.duckdb")


def test_json_lines(folder):
    lines = ['{"age": 31, "y": "ill"}', '{"age": 42.5, "y": null}', '{"y": "well"}']
    (folder / "t.jsonl").write_text("\n".join(lines))
    expected = {"age": [31, 42.5, None], "y": ["ill", None, "well"]}
    assert read_table("t.jsonl").to_pydict() == expected
    with gzip.open("t.ndjson.gz", "wt") as file:
        file.write("\n".join(lines))
    assert read_table("t.ndjson.gz").to_pydict() == expected
    (folder / "bad.jsonl").write_text('{"age": 31')
    with pytest.raises(InvalidTableError, match=r"'bad.jsonl' cannot be read as a table"):
        read_table("bad.jsonl")


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zst", "t.parquet.zst", "t.arrow.gz", "t.tsv"])
def test_compressed_files_as_written(folder, name):
    table = pa.table(EXPECTED)
    write_table(table, name)
    check(read_table(name))
    (folder / name).rename("without_suffix")
    if "csv" in name or "parquet" in name:
        check(read_table("without_suffix"))


def test_zip(folder):
    for name, members in {
        "t.csv.zip": {"t.csv": CSV, "__MACOSX/t.csv": "x"},
        "t.zip": {"folder/": "", "folder/t.tsv": CSV.replace(",", "\t")},
    }.items():
        with zipfile.ZipFile(name, "w") as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        check(read_table(name))
        assert column_names(name) == list(EXPECTED)
    with zipfile.ZipFile("two.zip", "w") as archive:
        archive.writestr("a.csv", CSV)
        archive.writestr("b.csv", CSV)
    with pytest.raises(InvalidTableError, match=r"must contain one file. It contains 2: a.csv, b"):
        read_table("two.zip")
    for name in ("out.zip", "out.csv.zip", "out.xlsx", "out.jsonl"):
        with pytest.raises(InvalidParameterError, match=r"End it with one of .csv, .tsv"):
            write_table(pa.table(EXPECTED), name)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, None, 2.0], pa.array([1, None, 2])),
        ([1, 2.5], pa.array([1.0, 2.5])),
        ([2**60 + 7, None, -(2**63)], pa.array([2**60 + 7, None, -(2**63)])),
        ([2**60 + 7, 0.5], pa.array([float(2**60 + 7), 0.5])),
        ([2**64, 1], pa.array([2.0**64, 1.0])),
        ([2.0**60, 1.0], pa.array([2.0**60, 1.0])),
        ([True, None], pa.array([True, None])),
        ([1.0, "x"], pa.array(["1", "x"])),
        ([b"ab", None], pa.array(["ab", None])),
        ([dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3)],
         pa.array([dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3)])),
        ([None, None], pa.nulls(2)),
    ],
)  # fmt: skip
def test_columns_of_values(values, expected):
    assert column_from_values(values).equals(expected)

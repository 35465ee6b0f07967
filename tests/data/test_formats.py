"""Spreadsheets and compressed files give the table that CSV gives; others say how to convert."""

import datetime as dt
import re
import sys
import zipfile

import pyarrow as pa
import pytest

from hocmim import JMI
from hocmim.data.files import column_names, read_table, write_table
from hocmim.data.sheets import column_of_cells, read_sheet
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


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("t.jsonl", "COPY (FROM 't.jsonl') TO 'table.parquet'"),
        ("t.json", "COPY (FROM 't.json') TO 'table.parquet'"),
        ("t.duckdb", "COPY t TO 'table.parquet'"),
        ("duckdb:///t.duckdb?table=t", "COPY t TO 'table.parquet'"),
        ("sqlite:///t.db", None),
        ("t.sqlite", None),
    ],
)
def test_what_is_not_read_is_converted_as_the_error_says(folder, file, command):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect("t.duckdb") as database:
        database.register("arrow", pa.table(EXPECTED))
        database.execute("CREATE TABLE t AS SELECT * FROM arrow")
        if "json" in file:
            database.execute(f"COPY t TO '{file}' (FORMAT json)")
        if command is not None:
            database.execute(command)
            check(read_table("table.parquet"))
    (folder / "t.sqlite").write_bytes(b"SQLite format 3\0")
    for read in (read_table, column_names, lambda path: JMI(1).fit(path, "y")):
        if read in (read_table, column_names) or ":" in file:
            with pytest.raises(InvalidTableError, match="which hocmim does not read") as caught:
                read(file)
            assert repr(file) in str(caught.value)
    if command is not None:
        said = command.replace("'t.json", "'FILE").replace("COPY t", "COPY NAME")
        assert re.sub("FILEl?'", "FILE'", said) in str(caught.value)


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
    for name in ("out.zip", "out.csv.zip", "out.xlsx"):
        with pytest.raises(InvalidParameterError, match=r"End it with one of .csv, .tsv"):
            write_table(pa.table(EXPECTED), name)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, None, 2.0], pa.array([1, None, 2])),
        ([1, 2.5], pa.array([1.0, 2.5])),
        ([2.0**60, 1.0], pa.array([2.0**60, 1.0])),
        ([True, None], pa.array([True, None])),
        ([1.0, "x"], pa.array(["1", "x"])),
        ([dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3)],
         pa.array([dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3)])),
        ([None, None], pa.nulls(2)),
    ],
)  # fmt: skip
def test_columns_of_cells(values, expected):
    assert column_of_cells(values).equals(expected)

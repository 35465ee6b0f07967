"""Bad and unusual files, and the commands that read them: the matrix of the command line.

A kind is a function of a folder. It writes a file there and returns its path.
"""

import gzip
import os
import zipfile
from functools import partial

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from bad_tables import HOSTILE_TEXT, frame

from made_sheets import write_with_cell

TARGET = "target"


def table():
    X, y = frame()
    return pa.table({**{name: X[name].to_numpy() for name in X}, TARGET: y.to_numpy()})


def csv_text(names=None):
    X, y = frame()
    X.columns = names or list(X.columns)
    X[TARGET] = y
    return X.to_csv(index=False)


def _bytes(name, data):
    def write(folder):
        path = folder / name
        path.write_bytes(data() if callable(data) else data)
        return path

    return write


def _csv(text, name="t.csv", encoding="utf-8"):
    return _bytes(name, lambda: (text() if callable(text) else text).encode(encoding, "replace"))


def _changed(kind, change):
    """A Parquet or Arrow file whose bytes are changed."""

    def write(folder):
        path = folder / f"t.{kind}"
        if kind == "parquet":
            pyarrow.parquet.write_table(table(), path)
        else:
            pyarrow.feather.write_feather(table(), path)
        path.write_bytes(change(path.read_bytes()))
        return path

    return write


def _flip(data):
    return bytes(b ^ 0xA5 if 20 <= at < len(data) - 20 and at % 7 == 0 else b
                 for at, b in enumerate(data))  # fmt: skip


def _lines(change):
    return lambda: "".join(change(csv_text().splitlines(keepends=True)))


def _quoted_names(text):
    """A table whose names and labels hold this text."""

    def write(folder):
        X, y = frame()
        safe = text.encode("utf-8", "replace").decode()
        names = [safe, *(f"{safe}{j}" for j in range(1, X.shape[1]))]
        columns = {name: X[old].to_numpy() for name, old in zip(names, X, strict=True)}
        labels = [safe if value else "other" for value in y]
        path = folder / "t.parquet"
        pyarrow.parquet.write_table(pa.table({**columns, TARGET: labels}), path)
        return path

    return write


def _typed(values, kind):
    def write(folder):
        rows = table()
        cells = [values[row % len(values)] for row in range(rows.num_rows)]
        path = folder / "t.parquet"
        pyarrow.parquet.write_table(rows.append_column("odd", pa.array(cells, kind)), path)
        return path

    return write


def _folder(folder):
    (folder / "t.csv").mkdir()
    return folder / "t.csv"


def _fifo(folder, name="t.csv"):
    os.mkfifo(folder / name)
    return folder / name


def _unreadable(folder):
    path = _csv(csv_text)(folder)
    path.chmod(0)
    return path


def _loop(folder):
    (folder / "t.csv").symlink_to("t.csv")
    return folder / "t.csv"


def _zip(folder, members=("a.csv", "b.csv")):
    with zipfile.ZipFile(folder / "t.csv.zip", "w") as archive:
        for member in members:
            archive.writestr(member, csv_text())
    return folder / "t.csv.zip"


def _far_cell(folder):
    write_with_cell(folder / "t.xlsx", "XFD1048576")
    return folder / "t.xlsx"


def _wide(folder):
    names = ",".join(f"c{j}" for j in range(20_000))
    rows = "\n".join(",".join("01"[(i * j) % 2] for j in range(20_000)) + f",{i % 2}"
                     for i in range(6))  # fmt: skip
    return _csv(f"{names},{TARGET}\n{rows}\n")(folder)


SPECIAL = {"fifo", "fifo parquet", "unreadable file"}
FILES = {
    "good CSV": _csv(csv_text),
    "good Parquet": _changed("parquet", bytes),
    "good Arrow": _changed("arrow", bytes),
    "missing file": lambda folder: folder / "absent.csv",
    "empty file": _csv(""),
    "empty Parquet": _bytes("t.parquet", b""),
    "blank lines": _csv("\n\n\n"),
    "header only": _csv("a,b,target\n"),
    "one row": _csv("a,b,target\n1,2,0\n"),
    "one column": _csv(f"{TARGET}\n1\n2\n"),
    "one class": _csv("a,b,target\n" + "1,2,0\n3,1,0\n" * 9),
    "constant": _csv("a,b,target\n" + "1,2,0\n1,2,1\n" * 9),
    "all missing": _csv("a,b,target\n" + ",,0\n,,1\n" * 9),
    "target missing everywhere": _csv("a,b,target\n" + "1,2,\n2,1,\n" * 9),
    "infinities": _csv("a,b,target\n" + "inf,2,0\n-inf,nan,1\n" * 9),
    "int64 extremes": _csv("a,b,target\n" + f"{2**63 - 1},{10**30},0\n{-(2**63)},1,1\n" * 9),
    "70 000 levels": _csv(
        lambda: "a,b,target\n" + "".join(f"v{i},{i % 3},{i % 2}\n" for i in range(70_000))
    ),
    "20 000 columns": _wide,
    "duplicate names": _csv(lambda: csv_text(["a", "a", "b", "c", "d"])),
    "empty names": _csv(lambda: csv_text(["", " ", "  ", "e", "f"])),
    "a feature named like the target": _csv(lambda: csv_text([TARGET, "a", "b", "c", "d"])),
    "ragged": _csv(_lines(lambda lines: [*lines[:5], "1,2\n", *lines[5:]])),
    "too many fields": _csv(_lines(lambda lines: [*lines[:5], "1,2,3,4,5,6,7,8,9\n", *lines[5:]])),
    "an open quote": _csv(_lines(lambda lines: [*lines[:5], '"1,2,3,4,5,0\n', *lines[5:]])),
    "a quote inside": _csv(_lines(lambda lines: [lines[0], '1,a"b,3,4,5,0\n', *lines[2:]])),
    "quoted line breaks": _csv(_lines(lambda lines: [lines[0], '1,"a\nb",3,4,5,0\n', *lines[2:]])),
    "BOM": _csv(csv_text, encoding="utf-8-sig"),
    "UTF-16": _csv(csv_text, encoding="utf-16"),
    "UTF-16 without BOM": _csv(csv_text, encoding="utf-16-le"),
    "UTF-32": _csv(csv_text, encoding="utf-32"),
    "Latin-1": _csv(lambda: csv_text(["é", "ü", "b", "c", "d"]), encoding="latin-1"),
    "NUL bytes": _csv(_lines(lambda lines: [lines[0], "1,\0,3,4,5,0\n", *lines[2:]])),
    "NUL bytes far down": _csv(_lines(lambda lines: [*lines * 300, "1,\0,3,4,5,0\n"])),
    "carriage returns": _csv(_lines(lambda lines: [line.replace("\n", "\r") for line in lines])),
    "random bytes": _bytes("t.csv", bytes(range(256)) * 40),
    "random Parquet": _bytes("t.parquet", bytes(range(256)) * 40),
    "truncated Parquet": _changed("parquet", lambda data: data[: len(data) // 2]),
    "Parquet without its end": _changed("parquet", lambda data: data[:-9]),
    "corrupt Parquet": _changed("parquet", _flip),
    "Parquet in CSV": _changed("parquet", lambda data: csv_text().encode()),
    "truncated Arrow": _changed("arrow", lambda data: data[: len(data) // 2]),
    "corrupt Arrow": _changed("arrow", _flip),
    "empty Arrow": _bytes("t.arrow", b""),
    "nested list": _typed([[1], None], pa.list_(pa.int64())),
    "nested struct": _typed([{"a": 1}], pa.struct([("a", pa.int64())])),
    "map": _typed([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    "decimals": _typed(["1.5", None], pa.string()),
    "dates out of range": _typed([2**31 - 1, -(2**31)], pa.date32()),
    "timestamps out of range": _typed([2**62, -(2**62)], pa.timestamp("us")),
    "truncated gzip": _bytes("t.csv.gz", lambda: gzip.compress(csv_text().encode())[:-20]),
    "no gzip": _csv(csv_text, "t.csv.gz"),
    "no zip": _csv(csv_text, "t.csv.zip"),
    "zip of two": _zip,
    "no Excel": _csv(csv_text, "t.xlsx"),
    "JSON": _csv('{"a": 1, "target": 0}\n', "t.jsonl"),
    "a cell far away": _far_cell,
    "views of text": _typed(["a", None, "b"], pa.string_view()),
    "categories of formulas": _typed(["=1+1", "@x"], pa.dictionary(pa.int8(), pa.string())),
    "unknown suffix": _csv(csv_text, "t.sav"),
    "a database": _csv(csv_text, "t.db"),
    "an address of a database": lambda folder: f"sqlite:///{folder}/t?table=x'; DROP TABLE y",
    "a folder": _folder,
    "an empty folder": lambda folder: folder,
    "fifo": _fifo,
    "fifo parquet": partial(_fifo, name="t.parquet"),
    "a device": lambda folder: "/dev/null",
    "an endless device": lambda folder: "/dev/zero",
    "unreadable file": _unreadable,
    "a link to itself": _loop,
    "a long path": lambda folder: folder / ("x" * 300 + ".csv"),
    "NUL in the path": lambda folder: f"{folder}/a\0b.csv",
    "a hostile path": lambda folder: f"{folder}/\x1b[31mred\u202e.csv",
    **{f"names with {key}": _quoted_names(text) for key, text in HOSTILE_TEXT.items()},
}


def commands(file, folder, model):
    """Every command that reads a table, as words of the command line."""
    target = ("-t", TARGET)
    return {
        "select": ("select", file, *target, "-k", "2"),
        "select to files": (
            "select", file, *target, "-k", "2", "-o", folder / "out.csv", "--json",
            folder / "out.json", "--save", folder / "out.model", "--safe-csv",
        ),
        "select on disk": (
            "select", file, *target, "-k", "2", "--codes-dir", folder / "codes", "--checkpoint",
            folder / "state",
        ),
        "select json": ("select", file, *target, "-k", "2", "--json", "-"),
        "explain": ("explain", file, *target, "-k", "2", "-f", "f1", "--substitutes", "2"),
        "report": ("report", file, *target, "-k", "2", "-o", folder / "page.html"),
        "compare": (
            "compare", file, *target, "-k", "2", "--methods", "MIM,JMI", "--cv", "2",
            "--n-resamples", "2",
        ),
        "select by cross-validation": ("select", file, *target, "-m", "MIM", "-k", "cv"),
        "clusters": ("columns", file, *target, "--clusters"),
        "columns": ("columns", file, *target),
        "columns without a target": ("columns", file),
        "apply": ("apply", model, file, "-o", folder / "applied.csv"),
        "apply a bad model": ("apply", file, folder / "good.csv"),
        "bench run": ("bench", "run", file, "--out", folder / "bench"),
        "missing target": ("select", file, "-t", "absent\x1b[31m"),
    }  # fmt: skip

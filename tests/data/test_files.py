"""Table files: every format read and written, every way a file can be wrong told in a sentence."""

import gzip
import os
import stat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hocmim import MIM
from hocmim.data.files import column_types, file_format, numbers_as_text, read_table, write_table
from hocmim.data.writing import write_file
from hocmim.errors import InvalidParameterError, InvalidTableError

HOSTILE = pa.table(
    {
        'a,"b': pa.array(["x", None, 'y"z']).dictionary_encode(),
        "<b>\n\t[red]": [1.5, None, 2],
        "🦔" * 100: pa.array([True, False, None]),
        " ": [1, 2, 3],
    }
)
FORMATS = ("csv", "tsv", "csv.gz", "tsv.gz", "parquet", "parquet.gz", "arrow", "feather", "ipc.gz")


@pytest.mark.parametrize("suffix", FORMATS)
def test_what_is_written_is_read(tmp_path, suffix):
    path = write_table(HOSTILE, tmp_path / f"Table.{suffix.upper()}")
    assert read_table(path).to_pydict() == HOSTILE.to_pydict()
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_first_bytes_tell_a_file_without_a_suffix(tmp_path, suffix):
    path = write_table(HOSTILE, tmp_path / f"table.{suffix}").rename(tmp_path / "table")
    assert read_table(path).to_pydict() == HOSTILE.to_pydict()


def test_types_are_inferred_and_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "i,f,b,s,d,t,empty\n1,1.5,true,x,2020-01-01,10:00:00,\n,NA,false,,2020-01-02,NA,\n"
    )
    table = read_table(path)
    assert column_types(table) == {
        "i": "integer",
        "f": "float",
        "b": "boolean",
        "s": "text",
        "d": "date",
        "t": "time",
        "empty": "float",
    }
    assert table.column("s").to_pylist() == ["x", None]
    assert column_types(HOSTILE)['a,"b'] == "category"


def test_a_value_far_down_changes_the_type_and_is_no_error(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 200_000 + "x\n")
    assert column_types(read_table(path)) == {"a": "text"}


def test_numbers_with_something_else_between_them(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n?,x,1\n1,2,2\n2.5,y,3\n-3e4,z,4\n")
    assert numbers_as_text(read_table(path)) == {"a": ["?"]}
    assert column_types(read_table(path, missing=["?"]))["a"] == "float"


@pytest.mark.parametrize(
    ("name", "text", "settings"),
    [
        ("a.csv", "x;y\n1;2\n", {}),
        ("a.csv", 'x\t"y"\n1\t2\n', {}),
        ("a.tsv", "x,y\n1,2\n", {}),
        ("a.txt", "x|y\n1|2\n", {}),
        ("a.csv", "x:y\n1:2\n", {"delimiter": ":"}),
        ("a.csv", "\ufeffx,y\r\n1,2\r\n", {}),
        ("a.csv", "1,2\n", {"header": False}),
    ],
)
def test_dialects(tmp_path, name, text, settings):
    path = tmp_path / name
    path.write_text(text, "utf-8", newline="")
    table = read_table(path, **settings)
    names = ["x", "y"] if settings.get("header", True) else ["f0", "f1"]
    assert table.to_pydict() == {names[0]: [1], names[1]: [2]}


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,ort\n1,Köln\n".encode(encoding))
    with pytest.raises(InvalidTableError, match=f"not text in the encoding.*--encoding {encoding}"):
        read_table(path)
    assert read_table(path, encoding=encoding).to_pydict() == {"größe": [1], "ort": ["Köln"]}


def test_a_folder_of_parquet_files_is_one_table(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for part in range(3):
        pq.write_table(pa.table({"a": [part], "b": ["x"]}), folder / f"{part}.parquet")
    assert read_table(folder).to_pydict() == {"a": [0, 1, 2], "b": ["x"] * 3}


WRONG = {
    "empty.csv": (b"", "is empty"),
    "blank.csv": (b"\n\n  \n", "is empty"),
    "header.csv": (b"a,b\n", "has no rows"),
    "ragged.csv": (b"a,b\n1,2\n3\n", r"row 3 has 1 field, the first row has 2\."),
    "wide.csv": (b"a,b\n1,2,3\n", r"row 2 has 3 fields, the first row has 2\."),
    "letter.txt": (b"Dear all,\nthis is prose.\nIt, has, commas.\n", "cannot be read as a table"),
    "latin.csv": ("é,b\n1,2\n".encode("latin-1"), "not text in the encoding utf-8"),
    "twice.csv": (b"a,a\n1,2\n", "more than one column named 'a'"),
    "picture.csv": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not a table. hocmim reads CSV, TSV"),
    "sheet.xlsx": (b"PK\3\4", "cannot be read as a table: .*[^.][.]$"),
    "plain.csv.gz": (b"a,b\n1,2\n", "cannot be read as a table: incorrect header check"),
    "cut.csv.gz": (gzip.compress(b"a,b\n1,2\n" * 999)[:-20], "cannot be read as a table"),
    "text.parquet": (b"a,b\n1,2\n", "cannot be read as a table"),
    "text.feather": (b"a,b\n1,2\n", "cannot be read as a table"),
    "no.parquet": (b"", "cannot be read as a table"),
    "text.parquet.gz": (b"a,b\n1,2\n", "cannot be read as a table"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_table_is_told_in_a_sentence(tmp_path, name):
    content, message = WRONG[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidTableError, match=message) as caught:
        read_table(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_requests(tmp_path):
    (tmp_path / "train.csv").write_text("a\n1\n")
    with pytest.raises(InvalidParameterError, match=r"trian.csv' does not .* Did you mean .*train"):
        read_table(tmp_path / "trian.csv")
    with pytest.raises(InvalidParameterError, match="does not exist"):
        read_table(tmp_path / "none" / "x.csv")
    with pytest.raises(InvalidParameterError, match="contains no Parquet"):
        read_table(tmp_path)
    with pytest.raises(InvalidParameterError, match="Unknown encoding: nonsense"):
        read_table(tmp_path / "train.csv", encoding="nonsense")
    with pytest.raises(InvalidParameterError, match="one character"):
        read_table(tmp_path / "train.csv", delimiter="ab")
    with pytest.raises(InvalidParameterError, match="does not show the format"):
        write_table(HOSTILE, tmp_path / "reduced")
    with pytest.raises(InvalidParameterError, match="does not show the format"):
        write_table(HOSTILE, tmp_path / "reduced.json")
    with pytest.raises(InvalidParameterError, match="does not exist"):
        write_table(HOSTILE, tmp_path / "none" / "x.csv")
    with pytest.raises(InvalidParameterError, match="is a folder"):
        write_file(tmp_path, print)


def test_nothing_is_overwritten_unless_asked(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("mine")
    with pytest.raises(InvalidParameterError, match=r"already exists\. Pass overwrite=True"):
        write_table(HOSTILE, path)
    assert path.read_text() == "mine"
    write_table(HOSTILE, path, overwrite=True)
    assert read_table(path).num_rows == 3


def test_a_file_that_came_in_the_meantime_is_not_overwritten(tmp_path):
    path = tmp_path / "t.txt"

    def write(file):
        file.write(b"ours")
        path.write_text("theirs")

    with pytest.raises(InvalidParameterError, match="already exists"):
        write_file(path, write)
    assert path.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["t.txt"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_failure_leaves_what_was_there_and_no_half_file(tmp_path, overwrite):
    path = tmp_path / "t.txt"
    if overwrite:
        path.write_text("before")

    def fail(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(path, fail, overwrite=overwrite)
    assert os.listdir(tmp_path) == (["t.txt"] if overwrite else [])
    assert not overwrite or path.read_text() == "before"


def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "usual").write_text("")
    write_file(tmp_path / "ours", lambda file: file.write(b"x"))
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "ours")]
    assert modes[0] == modes[1]


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    write_file("/dev/null", lambda file: file.write(b"x"), overwrite=True)
    assert not os.path.isfile("/dev/null")


def test_the_same_table_gives_the_same_gzipped_bytes(tmp_path):
    one, two = (write_table(HOSTILE, tmp_path / name) for name in ("a.csv.gz", "b.csv.gz"))
    assert one.read_bytes() == two.read_bytes()


def test_a_wide_csv_is_read_as_it_was_written(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3000))
    path = write_table(pa.table({f"x{j}": X[:, j] for j in range(3000)}), tmp_path / "wide.csv")
    assert file_format(path) == ("csv", None)
    table = read_table(path)
    assert np.array_equal(np.column_stack([c.to_numpy() for c in table.columns]), X)


@pytest.mark.parametrize("make", [
    lambda cells: cells,
    lambda cells: cells.dictionary_encode(),
    lambda cells: cells.cast(pa.large_string()),
    lambda cells: cells.cast(pa.binary()),
    lambda cells: cells.cast(pa.binary()).dictionary_encode(),
    lambda cells: cells.cast(pa.string_view()),
])  # fmt: skip
def test_formulas_in_columns_of_every_type_of_text(tmp_path, make):
    cells = make(pa.array(["=1+1", "-5", None, "@x"]))
    path = write_table(
        pa.table({"+a": cells, "n": [-1, 2, 3, 4]}), tmp_path / "t.csv", is_safe=True
    )
    lines = path.read_text().replace('"', "").splitlines()
    assert lines == ["'+a,n", "'=1+1,-1", "-5,2", ",3", "'@x,4"]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_views_of_text(tmp_path, suffix):
    """pyarrow cannot filter them."""
    text = pa.array(["a", None, "b"])
    write_table(pa.table({"t": text.cast(pa.string_view())}), tmp_path / f"t.{suffix}")
    found = read_table(tmp_path / f"t.{suffix}")
    assert found.filter(pa.array([True, False, True])).column("t").to_pylist() == ["a", "b"]


@pytest.mark.parametrize("damage", ["content", "end"])
def test_a_damaged_parquet_file_by_its_path(tmp_path, damage):
    path = tmp_path / "damaged.parquet"
    table = pa.table({"a": np.arange(500.0), "y": np.arange(500) % 2})
    pq.write_table(table, path)
    whole = path.read_bytes()
    damaged = whole[:40] + b"\xff" * 50 + whole[90:] if damage == "content" else whole[:300]
    path.write_bytes(damaged)
    with pytest.raises(InvalidTableError, match=r"damaged\.parquet.* cannot be read as Parquet"):
        MIM(1).fit(path, "y")


def test_reading_reports_how_far_it_is(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "".join(f"{k},0{k % 7}\n" for k in range(2_000_000)))
    events = []
    table = read_table(path, lambda *event: events.append(event))
    assert table.equals(read_table(path))
    assert {task for task, _, _ in events} == {f"reading {str(path)!r}"}
    assert events[0][1:] == (0, 0)  # the size of what is read is not known yet
    done = [done for _, done, _ in events]
    assert done == sorted(done)
    assert len(set(done)) > 2
    assert events[-1][1:] == (path.stat().st_size, path.stat().st_size)

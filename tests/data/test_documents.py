"""Documents and values: what is written comes back, and nothing else is read."""

import datetime as dt
import json
import os

import numpy as np
import pandas as pd
import pytest

from hocmim.data.documents import checksum, format_document, parse_document
from hocmim.data.formulas import neutralise
from hocmim.data.values import MalformedError, UnsupportedError, from_json, to_json
from hocmim.data.writing import check_writable, locked, write_file
from hocmim.errors import InvalidFileError, InvalidParameterError

VALUES = [
    None, True, 0, -5, 2**70, 0.1, -0.0, 5e-324, float("inf"), "", "é\u202e\ud800", b"\x00\xff",
    [1, [2.5, None]], (1, ("a",)), {"array": 1, "tuple": [True]},
    dt.date(2024, 5, 1), dt.datetime(2024, 5, 1, 12, 3, 4, 5),
    dt.datetime(2024, 5, 1, tzinfo=dt.UTC), pd.Interval(0.1, 2.0, closed="left"),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back_with_their_types(value):
    back = from_json(json.loads(json.dumps(to_json(value), allow_nan=False)))
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value)


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.1, np.nan, -np.inf, -0.0]),
        np.arange(6, dtype=np.uint16).reshape(2, 3),
        np.array([True, False]),
        np.array([], np.int64),
        np.array([1.5], ">f4"),
        np.array(["2024-05-01", "NaT"], "M8[D]"),
        np.array(["a", "bcd"]),
        np.array([b"a", b"bcd"]),
        np.array(["a", 1, 2.5, None, True], object),
    ],
    ids=lambda array: str(array.dtype),
)
def test_arrays_come_back_bit_by_bit(array):
    back = from_json(json.loads(json.dumps(to_json(array), allow_nan=False)))
    assert back.dtype == array.dtype.newbyteorder("=")
    assert back.shape == array.shape
    np.testing.assert_array_equal(back, array)
    assert list(map(type, back.tolist())) == list(map(type, array.tolist()))


@pytest.mark.parametrize("value", [{1, 2}, pd.Timestamp("2024"), object(), len, 1j, {1: 2}])
def test_other_types_are_refused(value):
    with pytest.raises(UnsupportedError):
        to_json(value)


@pytest.mark.parametrize(
    "content",
    [
        {"array": "AAAA", "dtype": "<f8", "shape": [1]},
        {"array": "", "dtype": "<f8", "shape": [0, 2**62]},
        {"array": "", "dtype": "<f8", "shape": [-1]},
        {"array": "", "dtype": "O", "shape": [0]},
        {"array": "", "dtype": "V8", "shape": [0]},
        {"array": "!", "dtype": "<f8", "shape": [0]},
        {"array": "Ag==", "dtype": "|b1", "shape": [1]},
        {"objects": ["aaaa"], "dtype": "<U1"},
        {"objects": ["a"], "dtype": "<U99999999"},
        {"objects": "a", "dtype": "O"},
        {"tuple": 3},
        {"date": 5},
        {"float": "1"},
        {"os.system": "true"},
        {"dict": [], "tuple": []},
    ],
    ids=str,
)
def test_malformed_values_are_refused(content):
    if content.get("shape") == [0, 2**62]:
        assert from_json({**content, "shape": [0, 3]}).shape == (0, 3)
    with pytest.raises((MalformedError, ValueError)):
        from_json(content)


# --- documents ------------------------------------------------------------------------------------


def as_file(document):
    body = (json.dumps(document)[1:] + "\n").encode()
    return b'{"sha256": "%s",\n%s' % (checksum(body).encode(), body)


def parse(data, kind="selection"):
    return parse_document(data, kind, "the file", lambda content: content)


def test_a_document_is_json_and_comes_back():
    data = format_document("selection", {"a": [1, 2.5]})
    assert json.loads(data)["content"] == {"a": [1, 2.5]}
    assert parse(data) == {"a": [1, 2.5]}


def test_every_bit_flip_and_every_truncation_is_recognised():
    data = format_document("selection", {"text": "a", "number": 1.5})
    for place in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            with pytest.raises(InvalidFileError):
                parse(bytes(damaged))
        with pytest.raises(InvalidFileError):
            parse(data[:place])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"hocmim": "selection", "format": 9, "written_by": "7.0", "content": {}}, "hocmim 7.0"),
        ({"hocmim": "selection", "format": True, "content": {}}, "has format True"),
        ({"hocmim": "codes", "format": 1, "content": {}}, "of kind 'codes', and not a selection"),
        ({"hocmim": "selection", "format": 1, "content": []}, "has no content"),
        ({"hocmim": "selection", "format": 1, "content": {"a": float("nan")}}, "NaN is not"),
    ],
)
def test_other_documents_get_a_sentence(document, message):
    with pytest.raises(InvalidFileError, match=message):
        parse(as_file(document))


def test_unknown_fields_of_a_later_version_are_ignored():
    document = {"hocmim": "selection", "format": 1, "content": {"a": 1}, "signature": "x"}
    assert parse(as_file(document)) == {"a": 1}


def test_a_pickle_is_named_and_not_read():
    import pickle

    with pytest.raises(InvalidFileError, match="looks like a pickle file"):
        parse(pickle.dumps([1]))


# --- writing and locks ----------------------------------------------------------------------------


def write(path, content, **options):
    return write_file(path, lambda file: file.write(content), **options)


def test_the_temporary_file_of_a_killed_run_is_used_again(tmp_path):
    (tmp_path / ".hocmim-a.txt.part").write_text("half of a long content")
    write(tmp_path / "a.txt", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "link"), reason="needs hard links")
def test_a_finished_file_with_a_second_name_is_not_truncated(tmp_path):
    (tmp_path / "a.txt").write_text("finished")
    os.link(tmp_path / "a.txt", tmp_path / ".hocmim-b.txt.part")  # killed between link and unlink
    os.symlink(tmp_path / "a.txt", tmp_path / ".hocmim-c.txt.part")
    write(tmp_path / "b.txt", b"new")
    write(tmp_path / "c.txt", b"new")
    assert (tmp_path / "a.txt").read_text() == "finished"
    assert (tmp_path / "b.txt").read_bytes() == b"new"


def test_a_second_run_writes_beside_the_first(tmp_path):
    def write_slowly(file):
        file.write(b"first")
        write(tmp_path / "a.txt", b"second", overwrite=True)

    write_file(tmp_path / "a.txt", write_slowly, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"first"


def test_files_of_others_with_similar_names_are_not_touched(tmp_path):
    (tmp_path / ".a.txt.part").write_text("a download")
    os.mkfifo(tmp_path / ".hocmim-a.txt.part")  # opening it would wait for a writer
    write(tmp_path / "a.txt", b"new")
    assert (tmp_path / ".a.txt.part").read_text() == "a download"
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_a_replaced_file_keeps_its_mode(tmp_path):
    path = tmp_path / "private.csv"
    path.write_text("old")
    path.chmod(0o600)
    modes = []

    def content(file):
        modes.append(os.fstat(file.fileno()).st_mode & 0o777)  # before anything is written
        file.write(b"new")

    write_file(path, content, overwrite=True)
    assert modes == [0o600]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == "new"


def test_a_link_without_a_target_is_replaced_only_if_asked(tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "gone.csv")
    with pytest.raises(InvalidParameterError, match=r"link\.csv already exists"):
        write(link, b"new")
    assert link.is_symlink()
    write(link, b"new", overwrite=True)
    assert link.read_bytes() == b"new"


def test_a_place_that_cannot_be_written_is_named_before_the_work():
    with pytest.raises(InvalidParameterError, match=r"^/proc/x\.csv cannot be written: .*Choose"):
        check_writable("/proc/x.csv", overwrite=False)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError("disk full")])
def test_a_full_disk_is_an_error_that_names_the_file(tmp_path, error):
    def full(file):
        raise error

    with pytest.raises(OSError, match=r"(No space|disk full).*a\.txt"):
        write_file(tmp_path / "a.txt", full)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_held_once_and_leaves_nothing(tmp_path):
    path = tmp_path / "lock"
    with locked(path) as mine, locked(path) as other:
        assert mine
        assert not other
    assert not path.exists()
    with locked(path) as again:
        assert again
    path.write_text("not empty")
    with pytest.raises(OSError, match="not a lock of hocmim"), locked(path):
        pass
    assert path.read_text() == "not empty"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+1+1", "'+1+1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\n5", "'\n5"),
        ("＝1", "'＝1"),
        ("-5", "-5"),
        ("+1e3", "+1e3"),
        ("a=1", "a=1"),
        ("", ""),
    ],
)
def test_formulas_become_text(text, safe):
    assert neutralise(text) == safe

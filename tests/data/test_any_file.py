"""Readers and encoders with any content: a table that can be encoded, or an error of hocmim."""

import io
import json
import os

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from hocmim import JMI
from hocmim.coding.encoder import Encoder
from hocmim.data.documents import format_document, parse_document
from hocmim.data.files import TextOptions, read_here, read_table, write_table
from hocmim.errors import HocmimError

# HOCMIM_EXAMPLES: more of them, for `make trust`.
any_content = settings(max_examples=int(os.environ.get("HOCMIM_EXAMPLES", "60")), deadline=None)
lines = st.lists(st.lists(st.text('ab,;"\t1.5-\x00é\r\n ', max_size=6), min_size=1, max_size=4))


def read_or_refuse(path, content):
    path.write_bytes(content)
    try:  # in this process, also what is read in a child process otherwise: that takes long
        table = read_here(str(path), TextOptions())
    except HocmimError:
        return
    y = np.arange(table.num_rows) % 2
    try:
        encoded = JMI(1).fit(table, y)
        assert 0 <= encoded.selected_[0] < table.num_columns
    except HocmimError:
        return


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "arrow", "csv.gz"])
@any_content
@given(content=st.binary(max_size=200))
@example(content=b"\xef\xbb\xbfa,b\n1,2\n")
@example(content=b"PAR1\x00\x00\x00\x00PAR1")
@example(content=b"ARROW1\x00\x00")
def test_any_bytes(tmp_path_factory, suffix, content):
    read_or_refuse(tmp_path_factory.getbasetemp() / f"any.{suffix}", content)


@pytest.mark.filterwarnings("ignore")
@any_content
@given(rows=lines, delimiter=st.sampled_from(",;\t"))
def test_any_text(tmp_path_factory, rows, delimiter):
    content = "\n".join(delimiter.join(row) for row in rows).encode()
    read_or_refuse(tmp_path_factory.getbasetemp() / "text.csv", content)


def parquet_bytes():
    columns = {"x": np.arange(40) % 5, "s": ["a", "b", None, "d"] * 10, "y": np.arange(40) % 2}
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


PARQUET = parquet_bytes()


@pytest.mark.filterwarnings("ignore")
@any_content
@given(place=st.integers(0, len(PARQUET) - 1), byte=st.integers(0, 255))
@example(place=PARQUET.index(b"\x01\x00\x00\x00a") + 4, byte=0x80)  # text that is not UTF-8
@example(place=351, byte=0x80)  # a name that is not UTF-8
def test_a_changed_byte_of_a_parquet_file(tmp_path_factory, place, byte):
    content = bytearray(PARQUET)
    content[place] = byte
    path = tmp_path_factory.getbasetemp() / "changed.parquet"
    read_or_refuse(path, bytes(content))
    try:  # in pieces
        JMI(1).fit(path, "y")
    except HocmimError:
        return


@any_content
@given(
    st.lists(
        st.tuples(st.integers(-(2**63), 2**63 - 1), st.text(st.characters(codec="utf-8"))),
        min_size=1,
        max_size=8,
    )
)
def test_what_is_written_is_read(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "written.parquet"
    numbers, texts = zip(*rows, strict=True)
    table = pa.table({"n": pa.array(numbers, pa.int64()), "t": pa.array(texts, pa.string())})
    write_table(table, path, overwrite=True)
    assert read_table(path).to_pydict() == table.to_pydict()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@any_content
@given(st.dictionaries(st.text(max_size=5), json_values, max_size=4), st.data())
def test_documents(content, data):
    written = format_document("checkpoint", content)
    read = parse_document(written, "checkpoint", "file", lambda found: found)
    assert json.dumps(read, sort_keys=True) == json.dumps(content, sort_keys=True)
    place = data.draw(st.integers(0, len(written) - 1))
    changed = bytearray(written)
    changed[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(HocmimError):
        parse_document(bytes(changed), "checkpoint", "file", lambda found: found)


@pytest.mark.filterwarnings("ignore")
@any_content
@given(
    st.lists(st.floats(width=64) | st.just(float("nan")), min_size=2, max_size=30),
    st.sampled_from(["uniform", "quantile"]),
    st.integers(2, 300),
)
def test_any_numbers_are_encoded_or_refused(values, discretizer, n_bins):
    X = np.array(values)[:, None]
    try:
        encoder = Encoder(discretizer=discretizer, n_bins=n_bins).fit(X)
    except HocmimError:
        assert np.isinf(X).any()
        return
    codes = encoder.transform(X)
    column = codes.column(0)
    assert column.codes.max() < column.arity
    present = X[~np.isnan(X[:, 0]), 0]
    order = np.argsort(present, kind="stable")
    assert (np.diff(column.codes[~np.isnan(X[:, 0])][order].astype(int)) >= 0).all()

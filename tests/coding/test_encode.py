"""Codes against a naive twin, from every container, seen and unseen."""

from __future__ import annotations

import datetime as dt
import pickle
import threading
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

import hocmim.coding.encoder as encoder_module
from coded import encode
from hocmim.coding.codes import Codes
from hocmim.coding.cuts import cut_columns
from hocmim.coding.encoder import Encoder
from hocmim.coding.target import Target, encode_target
from hocmim.data.table import ArrayTable, FrameTable, as_table
from hocmim.errors import (
    DataWarning,
    InvalidColumnError,
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
)

DISCRETIZERS = ["uniform", "quantile", "mdlp"]


def naive_codes(values, y, discretizer, n_bins):
    """One column by the rules, as codes and arity."""
    values = np.asarray(values, float)
    missing = np.isnan(values)
    levels = np.unique(values[~missing])
    if len(levels) > n_bins:
        classes = encode_target(y).column if discretizer == "mdlp" else None
        cuts = cut_columns(values[:, None], discretizer, n_bins, classes).values
        codes, n_levels = np.searchsorted(cuts, values, side="right"), len(cuts) + 1
    else:
        codes, n_levels = np.searchsorted(levels, values), len(levels)
    return np.where(missing, n_levels, codes), n_levels + missing.any()


def assert_codes(codes: Codes, expected):
    assert codes.n_columns == len(expected)
    for j, (column, arity) in enumerate(expected):
        found = codes.column(j)
        assert found.codes.dtype == (np.uint8 if arity <= 256 else np.uint16)
        np.testing.assert_array_equal(found.codes, column)
        assert found.arity == arity


def assert_same(one: Codes, two: Codes):
    np.testing.assert_array_equal(one.narrow, two.narrow)
    np.testing.assert_array_equal(one.wide, two.wide)
    np.testing.assert_array_equal(one.place, two.place)
    np.testing.assert_array_equal(one.arity, two.arity)


def mixed_numbers(rng, n=130, d=70):
    """Columns of few and of many values, constant, missing here and there or altogether."""
    X = rng.normal(size=(n, d))
    X[:, ::4] = rng.integers(0, 5, (n, len(range(0, d, 4))))
    X[:, 1::6] = np.round(X[:, 1::6])
    X[rng.random((n, d)) < 0.03] = np.nan
    X[:, 2] = 3.0
    X[:, 3] = np.nan
    X[:, 4] = np.linspace(-1, 1, n)
    return X


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
@pytest.mark.parametrize("n_bins", [2, 5, 30])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_codes_are_those_of_the_naive_twin(discretizer, n_bins, dtype):
    rng = np.random.default_rng(n_bins)
    X = mixed_numbers(rng).astype(dtype)
    y = rng.integers(0, 3, len(X))
    expected = [naive_codes(column, y, discretizer, n_bins) for column in X.T]
    assert_codes(encode(X, y, discretizer=discretizer, n_bins=n_bins), expected)


def set_block(monkeypatch, cells, columns):
    """Let threads encode blocks of that many cells, and of at least that many columns."""
    monkeypatch.setattr("hocmim.coding.encoder.MAX_BYTES_OF_ONE_THREAD", 0)
    original = ArrayTable.spans
    monkeypatch.setattr(ArrayTable, "spans", lambda self, max_cells=0: original(self, cells))
    monkeypatch.setattr("hocmim.data.table.MIN_ROW_COLUMNS", columns)
    monkeypatch.setattr("hocmim.data.table.MIN_ROW_BYTES", 1)


def test_layout_blocks_and_threads_do_not_change_a_bit(monkeypatch):
    rng = np.random.default_rng(1)
    X, y = mixed_numbers(rng), rng.integers(0, 2, 130)
    big = np.zeros((260, 210))
    big[::2, ::3] = X
    fields = np.zeros(X.shape, [("a", "i1"), ("b", "f8")])
    fields["b"] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    for discretizer in DISCRETIZERS:
        expected = encode(X, y, discretizer=discretizer)
        layouts = [
            np.asfortranarray(X),
            big[::2, ::3],
            np.flipud(np.flipud(X).copy()),
            fields["b"],
            read_only,
        ]
        for layout in [*layouts, X.astype(">f8")]:
            assert_same(encode(layout, y, discretizer=discretizer), expected)
        for columns in (1, 8, 11, 33):
            with monkeypatch.context() as patch:
                set_block(patch, 130 * columns, columns)
                assert len(as_table(X).spans()) == -(-70 // columns)
                for n_jobs in (1, 2, 4):
                    found = encode(X, y, discretizer=discretizer, n_jobs=n_jobs)
                    assert_same(found, expected)


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_a_fitted_encoder_codes_its_own_table_alike(discretizer):
    rng = np.random.default_rng(2)
    X, y = mixed_numbers(rng), rng.integers(0, 2, 130)
    encoder = Encoder(discretizer=discretizer)
    codes = encoder.fit_transform(X, y)
    assert_same(encoder.transform(X), codes)
    assert_same(clone(encoder).fit(X, y).transform(X), codes)
    assert_same(pickle.loads(pickle.dumps(encoder)).transform(X), codes)


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_new_rows_are_cut_at_the_old_cuts(discretizer):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 6)), rng.integers(0, 2, 200)
    X[:, 0] += y
    encoder = Encoder(discretizer=discretizer).fit(X, y)
    new = rng.normal(size=(50, 6)) * 3
    codes = encoder.transform(new)
    for j, column in enumerate(encoder.columns_):
        expected = np.searchsorted(column.cuts, new[:, j], side="right")
        np.testing.assert_array_equal(codes.column(j).codes, expected)
        assert column.kind == "cut"
        assert codes.column(j).codes.max() < column.arity == len(column.cuts) + 1


def test_empty_bins_keep_their_number():
    # The bins are those of the paper: a level is a fifth of the range, whether it occurs or not.
    X = np.array([0, 1, 2, 3, 4, 5, 100.0])[:, None]
    codes = encode(X, discretizer="uniform")
    assert codes.narrow.tolist() == [[0, 0, 0, 0, 0, 0, 4]]
    assert codes.arity.tolist() == [5]


# --- levels, missing, unseen ----------------------------------------------------------------------


def test_unseen_numbers_go_to_the_nearest_level():
    encoder = Encoder().fit([[1.0], [2.0], [10.0]])
    codes = encoder.transform([[-9.0], [1.4], [1.5], [5.9], [6.0], [99.0]])
    assert codes.narrow.tolist() == [[0, 0, 1, 1, 2, 2]]
    assert encoder.columns_[0].levels.tolist() == [1.0, 2.0, 10.0]


def test_the_missing_level_is_the_last_and_only_where_seen():
    X = pd.DataFrame(
        {
            "number": [1.0, np.nan, 2.0, 2.0],
            "string": ["b", None, "a", "b"],
            "whole": [1.0, 2.0, 3.0, 3.0],
            "nothing": [None, None, None, None],
        }
    )
    encoder = Encoder().fit(X)
    assert encoder.transform(X).narrow.tolist() == [
        [0, 2, 1, 1],
        [1, 2, 0, 1],
        [0, 1, 2, 2],
        [0, 0, 0, 0],
    ]
    assert [column.missing for column in encoder.columns_] == [2, 2, None, 0]
    assert [column.arity for column in encoder.columns_] == [3, 3, 3, 1]


def test_values_that_the_fit_did_not_see_are_a_level_of_their_own_and_counted():
    fit = pd.DataFrame({"a": ["x", "y", "y"], "b": ["x", None, "y"], "c": [7.0, 7.0, 1.0]})
    new = pd.DataFrame({"a": ["z", None, "x"], "b": ["z", None, "y"], "c": [np.nan, 1.0, 7.0]})
    encoder = Encoder().fit(fit)
    said = r"did not see: 'a' \(2 rows\), 'b' \(1 row\), 'c' \(1 row\)\. .* unknown values"
    with pytest.warns(DataWarning, match=said):
        codes = encoder.transform(new)
    assert codes.narrow.tolist() == [[2, 2, 0], [3, 2, 1], [2, 0, 1]]
    assert codes.arity.tolist() == [3, 4, 3]
    assert [column.unknown for column in encoder.columns_] == [2, 3, 2]
    with pytest.warns(DataWarning, match=r"'b' \(1 row\)"):
        one = encoder.transform_column(new, 1)
    assert (one.codes.tolist(), one.arity, one.index) == ([3, 2, 1], 4, 1)


@pytest.mark.parametrize("n_levels", [255, 256, 257])
def test_unknown_values_have_room_and_known_ones_are_stored_as_in_the_fit(n_levels):
    frame = pl.DataFrame({"c": [f"{i:03}" for i in range(n_levels)]})
    encoder = Encoder(max_levels=None)
    fitted, again = encoder.fit_transform(frame), encoder.transform(frame)
    assert fitted.column(0).codes.dtype == again.column(0).codes.dtype
    assert again.arity.tolist() == [n_levels]
    with pytest.warns(DataWarning):
        codes = encoder.transform(pl.DataFrame({"c": ["new", "001"]})).column(0)
    assert (codes.codes.tolist(), codes.arity) == ([n_levels, 1], n_levels + 1)


def test_categories_are_sorted_and_only_those_that_occur():
    values = ["é", "z", "Z", "a"]
    frame = pd.DataFrame({"c": pd.Categorical(values, categories=["q", *values], ordered=True)})
    encoder = Encoder().fit(frame)
    assert encoder.columns_[0].kind == "categories"
    assert encoder.columns_[0].levels == ["Z", "a", "z", "é"]
    assert encoder.transform(frame).narrow.tolist() == [[3, 2, 0, 1]]


def test_strings_are_never_cut_and_numbers_in_categories_neither():
    frame = pd.DataFrame({"c": pd.Categorical([10, 9, 8, 7, 6, 5, 4])})
    encoder = Encoder(n_bins=2).fit(frame)
    assert encoder.columns_[0].levels == [4, 5, 6, 7, 8, 9, 10]
    assert encoder.transform(frame).narrow.tolist() == [[6, 5, 4, 3, 2, 1, 0]]


def test_columns_describe_themselves():
    X = np.column_stack([np.arange(10.0), np.arange(10) % 2])
    encoder = Encoder().fit(X)
    first, second = encoder.columns_
    assert (first.kind, second.kind) == ("cut", "levels")
    assert first.cuts.tolist() == [2, 4, 6, 8]
    assert second.levels.tolist() == [0.0, 1.0]
    assert encoder.columns_[-1].kind == "levels"
    assert [column.kind for column in encoder.columns_[:1]] == ["cut"]
    with pytest.raises(IndexError):
        encoder.columns_[2]


# --- wide columns ---------------------------------------------------------------------------------


def test_more_than_256_levels_take_two_bytes():
    rng = np.random.default_rng(4)
    names = np.array([f"v{i:04d}" for i in range(300)])
    frame = pd.DataFrame(
        {"few": rng.integers(0, 3, 900), "many": np.tile(names, 3), "cut": rng.normal(size=900)}
    )
    codes = encode(frame, max_levels=None)
    assert codes.narrow.shape == (2, 900)
    assert codes.wide.shape == (1, 900)
    np.testing.assert_array_equal(codes.column(1).codes, np.tile(np.arange(300), 3))
    wide = encode(frame[["cut"]], n_bins=400)
    assert_codes(wide, [naive_codes(frame["cut"], None, "quantile", 400)])


def test_exactly_256_levels_and_a_missing_one():
    numbers = np.arange(256.0)
    with_missing = np.append(numbers, np.nan)
    assert encode(numbers[:, None], n_bins=256).narrow.shape == (1, 256)
    codes = encode(with_missing[:, None], n_bins=256)
    assert codes.wide.tolist() == [list(range(257))]


def test_65535_levels_are_the_most():  # and one for values that the fit did not see
    names = [f"{i:05x}" for i in range(65536)]
    encoded = encode(pl.DataFrame({"ok": names[:-1]}), max_levels=None)
    assert encoded.arity.tolist() == [65535]
    np.testing.assert_array_equal(encoded.wide[0], np.arange(65535))
    for values in (names, [*names[:-1], None]):  # the last ones are pooled
        encoded = encode(pl.DataFrame({"id": values}), max_levels=None)
        assert encoded.arity.tolist() == [65535]
        codes = np.minimum(np.arange(65536), 65534 if values[-1] else 65533)
        codes[-1] = 65534
        np.testing.assert_array_equal(encoded.wide[0], codes)


# --- containers -----------------------------------------------------------------------------------


def test_every_container_of_numbers_gives_the_same_codes():
    rng = np.random.default_rng(5)
    X = mixed_numbers(rng, d=12)
    names = [f"c{j}" for j in range(12)]
    expected = encode(X)
    frame = pd.DataFrame(X, columns=names)
    others = {
        "pandas": frame,
        "pandas column by column": pd.DataFrame({name: X[:, j] for j, name in enumerate(names)}),
        "pandas nullable": frame.convert_dtypes(),
        "polars": pl.DataFrame(X, schema=names),
        "polars null": pl.DataFrame(X, schema=names, nan_to_null=True),
        "pyarrow": pa.Table.from_pandas(frame),
        "lists": X.tolist(),
        "objects": X.astype(object),
        "None": frame.astype(object).where(frame.notna(), None).to_numpy(),
        "csr": sparse.csr_array(X),
        "csc": sparse.csc_matrix(X),
        "coo": sparse.coo_matrix(X),
    }
    for container, table in others.items():
        codes = encode(table)
        assert_same(codes, expected)
        has_names = container.split()[0] in ("pandas", "polars", "pyarrow")
        assert codes.names == (tuple(names) if has_names else None), container


def mixed_columns():
    """A column of every type, as lists, with the codes they must get."""
    day = dt.date(2024, 1, 1)
    days = [day + dt.timedelta(days=d) for d in (0, 4, 9, 10, 20, 30)]
    return {
        "flag": ([True, False, None, True, True, False], [1, 0, 2, 1, 1, 0]),
        "count": ([3, 1, None, 2, 3, 1], [2, 0, 3, 1, 2, 0]),
        "string": (["b", "a", None, "c", "b", "a"], [1, 0, 3, 2, 1, 0]),
        "day": ([*days[:5], None], [0, 1, 2, 3, 4, 5]),
        "time": (
            [dt.datetime(2024, 1, 1, hour) for hour in (0, 1, 2, 10, 19, 20)],
            [0, 0, 0, 2, 4, 4],
        ),
        "span": ([dt.timedelta(hours=h) for h in (5, 5, 7, 7, 5, 7)], [0, 0, 1, 1, 0, 1]),
    }


@pytest.mark.parametrize("library", ["polars", "pyarrow", "pandas", "pandas nullable", "objects"])
def test_mixed_types_from_every_library(library):
    columns = {name: values for name, (values, _) in mixed_columns().items()}
    polars = pl.DataFrame(columns, strict=False)
    table = {
        "polars": lambda: polars.with_columns(pl.col("string").cast(pl.Categorical)),
        "pyarrow": lambda: polars.to_arrow(),
        "pandas": lambda: polars.to_pandas(),
        "pandas nullable": lambda: polars.to_pandas(use_pyarrow_extension_array=True),
        "objects": lambda: pd.DataFrame(columns, dtype=object).to_numpy(),
    }[library]()
    encoder = Encoder(discretizer="uniform")
    codes = encoder.fit_transform(table)
    expected = [codes for _, codes in mixed_columns().values()]
    assert codes.narrow.tolist() == expected
    assert_same(encoder.transform(table), codes)


def test_an_encoder_fitted_on_one_library_codes_another():
    frame = pl.DataFrame({"s": ["a", "b", None, "b"], "x": [1.0, 2.0, None, 3.0]})
    encoder = Encoder().fit(frame)
    expected = encoder.transform(frame)
    assert_same(encoder.transform(frame.to_pandas()), expected)
    assert_same(encoder.transform(frame.to_arrow()), expected)
    with pytest.warns(UserWarning, match="feature names"):
        assert_same(encoder.transform([["a", 1], ["b", 2], [None, None], ["b", 3]]), expected)


def test_a_dictionary_column_of_arrow_keeps_its_missing_values():
    column = pa.array(["x", "y", None]).dictionary_encode()
    assert encode(pa.table({"c": column})).narrow.tolist() == [[0, 1, 2]]


@pytest.mark.slow
def test_sparse_is_never_dense_as_a_whole():
    matrix = sparse.random(2000, 20000, density=0.005, format="csr", random_state=0)
    for table in (matrix, matrix.tocsc()):
        tracemalloc.start()
        codes = encode(table)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert codes.nbytes == 40_000_000
        assert peak < 80e6  # the dense table is 320 MB
    np.testing.assert_array_equal(
        codes.block(0, 50).narrow, encode(matrix[:, :50].toarray()).narrow
    )


def test_the_table_is_not_copied():
    X = np.random.default_rng(6).normal(size=(2000, 2000))
    for table in (X, np.asfortranarray(X), pd.DataFrame(X, columns=[f"c{j}" for j in range(2000)])):
        tracemalloc.start()
        codes = encode(table)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < codes.nbytes + 10e6  # the table is 32 MB


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_names_the_column(value):
    X = np.random.default_rng(7).normal(size=(80, 40))
    encoder = Encoder().fit(X)
    X[70, 35] = value
    with pytest.raises(InvalidTableError, match=r"infinity .* column 35"):
        encode(X)
    with pytest.raises(InvalidTableError, match=r"infinity .* column 35"):
        encoder.transform(X)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(40)])
    with pytest.raises(InvalidTableError, match=r"infinity .* column 'c35'"):
        encode(frame, n_jobs=2)


def test_other_columns_than_in_fit():
    encoder = Encoder().fit(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    with (
        pytest.warns(UserWarning, match="valid feature names"),
        pytest.raises(InvalidTableError, match="X has 1 features, but Encoder is expecting 2"),
    ):
        encoder.transform([[1.0]])
    with pytest.raises(InvalidTableError, match="Feature names must be in the same order"):
        encoder.transform(pd.DataFrame({"b": ["x"], "a": [1]}))
    with pytest.raises(InvalidTableError, match="column 'a' of X has changed: it holds strings"):
        encoder.transform(pd.DataFrame({"a": ["1"], "b": ["x"]}))
    with pytest.raises(InvalidTableError, match="column 'b' of X has changed: it holds numbers"):
        encoder.transform(pd.DataFrame({"a": [1], "b": [3.0]}))
    missing = pd.DataFrame({"a": [None], "b": [np.nan]})
    with pytest.warns(DataWarning, match="the fit did not see"):
        assert encoder.transform(missing).narrow.tolist() == [[2], [2]]


def test_bad_parameters():
    X = [[1.0], [2.0]]
    with pytest.raises(InvalidParameterError, match="discretizer must be one of"):
        encode(X, discretizer="kmeans")
    for n_bins in (1, 0, -3, 65536, 2.5, "5", True, None):
        with pytest.raises(InvalidParameterError, match="n_bins must be an int in the range"):
            encode(X, n_bins=n_bins)
    with pytest.raises(InvalidTargetError, match="needs the target y"):
        encode(X, discretizer="mdlp")
    with pytest.raises(InvalidTargetError, match="different lengths: X has 2 rows and y"):
        encode(X, [0, 1, 1], discretizer="mdlp")
    with pytest.raises(InvalidTargetError, match="different lengths"):
        encode(X, encode_target([0, 1, 1]).column, discretizer="mdlp")
    with pytest.raises(InvalidColumnError, match="column 0 of X holds dict"):
        encode(np.array([[{}], [{}]], dtype=object))


# --- targets --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["b", "a", "b"], ["a", "b"]),
        (np.array(["b", "a", "b"], dtype=object), ["a", "b"]),
        ([7, -1, 7], [-1, 7]),
        ([2.0, 1.0, 2.0], [1.0, 2.0]),
        ([True, False, True], [False, True]),
        (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series([True, False, True], dtype="boolean"), [False, True]),
        (pl.Series(["b", "a", "b"], dtype=pl.Categorical), ["a", "b"]),
        (pa.chunked_array([["b", "a", "b"]]), ["a", "b"]),
        ([0.5, 0.25, 0.5], [0.25, 0.5]),
    ],
)
def test_classes_are_sorted(y, classes):
    target = encode_target(y)
    assert target.classes.tolist() == classes
    assert target.column.codes.tolist() == [1, 0, 1]
    assert target.column.codes.dtype == np.uint8
    assert target.column.arity == 2
    assert target.cuts is None


@pytest.mark.parametrize("discretizer", ["uniform", "quantile"])
@pytest.mark.parametrize("bins", [2, 5, 9])
def test_a_continuous_target_is_cut(discretizer, bins):
    y = np.random.default_rng(8).normal(size=200)
    target = encode_target(y, target=Target(bins=bins, discretizer=discretizer))
    expected = cut_columns(y[:, None], discretizer, bins).values
    np.testing.assert_array_equal(target.cuts, expected)
    np.testing.assert_array_equal(target.column.codes, np.searchsorted(expected, y, side="right"))
    assert target.column.arity == bins
    assert target.classes is None


def test_many_classes_take_two_bytes():
    target = encode_target(np.arange(600) % 300, target=Target("classes"))
    assert target.column.codes.dtype == np.uint16
    assert target.column.arity == 300


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 1, 1], r"only one class \(1\)"),
        (["a"] * 3, r"only one class \('a'\)"),
        ([0.5, 0.5], r"only one class \(0.5\)"),
        ([True, True], r"only one class \(True\)"),
        (None, "requires y to be passed, but the target y is None"),
        ([1.0, np.nan], "Input y contains NaN"),
        (["a", None], "Input y contains NaN"),
        (["a", float("nan")], "Input y contains NaN"),
        ([dt.date(2020, 1, 1), dt.date(2020, 1, 2)], "it holds date"),
        (pl.Series([1, None]), "Input y contains NaN"),
        (pd.Series([True, None], dtype="boolean"), "Input y contains NaN"),
        ([1.0, np.inf], "Input y contains infinity or a value too large for"),
        (np.ones((3, 2, 2)), "y should be a 1d array"),
        (["a", 1.5, {}], "strings or numbers, but it holds dict and float and str"),
        (np.array([1j, 2]), "Complex data not supported"),
        (np.array(["2020", "2021"], "M8[D]"), "dates"),
        (sparse.csr_array(np.ones((1, 3))), "Sparse data is not supported"),
        ((np.arange(4 * 65537) % 65537).astype(str), "65537 classes"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(InvalidTargetError, match=message):
        encode_target(y)


def test_target_of_another_length():
    with pytest.raises(InvalidTargetError, match="X has 3 rows and y has 2 values"):
        encode_target([0, 1], 3)


def test_one_thread_reads_strings_and_categories(monkeypatch):
    """Python code on two threads takes longer than on one: the threads wait for each other."""
    rng = np.random.default_rng(5)
    columns = {}
    for k in range(6):
        columns[f"number {k}"] = rng.normal(size=300)
        columns[f"text {k}"] = rng.choice(["a", "b", "c"], 300)
        columns[f"category {k}"] = pd.Categorical(rng.choice(["x", "y"], 300))
    frame = pd.DataFrame(columns)
    expected = Encoder().fit_transform(frame, n_jobs=1)
    monkeypatch.setattr(encoder_module, "MAX_BYTES_OF_ONE_THREAD", 0)
    monkeypatch.setattr(encoder_module, "MIN_SPAN_CELLS", 1)
    threads = []
    read = FrameTable.read

    def record(table, span):
        if not table.is_numeric(span):
            threads.append(threading.get_ident())
        return read(table, span)

    monkeypatch.setattr(FrameTable, "read", record)
    encoder = Encoder()
    found = encoder.fit_transform(frame, n_jobs=3)
    if encoder_module._HAS_GIL:
        assert threads == [threading.get_ident()] * 12
    np.testing.assert_array_equal(found.narrow, expected.narrow)
    np.testing.assert_array_equal(encoder.transform(frame, n_jobs=3).narrow, expected.narrow)

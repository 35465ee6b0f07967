"""The gateway: what is read from each container, what is refused, and what comes back out."""

from __future__ import annotations

import datetime as dt
import decimal
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

import warned
from hocmim import JMI, MIM, RobustHOCMIM
from hocmim.data.checks import check_finite
from hocmim.data.columns import Categories, Numbers, Span
from hocmim.data.numeric import numeric_matrix
from hocmim.data.table import as_table, take_columns, take_rows
from hocmim.data.target import as_target
from hocmim.errors import InvalidColumnError, InvalidTableError, InvalidTargetError

pytestmark = pytest.mark.filterwarnings(warned.ONE_BIN)

NAN = float("nan")


def column_of(X):
    """The only column of X: numbers, or the categories themselves with None for missing."""
    (block,) = as_table(X).blocks()
    if isinstance(block, Numbers):
        return [None if v != v else v for v in block.values[:, 0].astype(float).tolist()]
    assert block.levels == sorted(block.levels)
    return [None if code < 0 else block.levels[code] for code in block.codes]


def arrow(kind):
    return pd.ArrowDtype(kind)


def nanoseconds(*args):
    return dt.datetime(*args, tzinfo=dt.UTC).timestamp() * 1e9


STRING_ARRAYS = []
if hasattr(np.dtypes, "StringDType"):  # from NumPy 2.0 on
    STRING_ARRAYS = [
        (np.array(["b", None], np.dtypes.StringDType(na_object=None)), ["b", None]),
        (np.array(["b", NAN], np.dtypes.StringDType(na_object=NAN)), ["b", None]),
        (np.array(["b", "a"], np.dtypes.StringDType()), ["b", "a"]),
    ]

# --- what is read ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.Series([1.5, NAN]), [1.5, None]),
        (pd.Series([1, 2], dtype="uint8"), [1, 2]),
        (pd.Series([1, None], dtype="Int64"), [1, None]),
        (pd.Series([1, None], dtype="int64[pyarrow]"), [1, None]),
        (pd.Series([1.5, None], dtype="Float32"), [1.5, None]),
        (pd.Series([True, False]), [1, 0]),
        (pd.Series([True, None], dtype="boolean"), [1, None]),
        (pd.Series([True, None], dtype=object), [1, None]),
        (pd.Series([1.5, 2], dtype="float16"), [1.5, 2]),
        (pd.Series(pd.arrays.SparseArray([0.0, 3.0])), [0, 3]),
        (pd.Series([decimal.Decimal("0.5"), None]), [0.5, None]),
        (pd.Series([decimal.Decimal("NaN"), decimal.Decimal(1)]), [None, 1]),
        (pd.Series([1, pd.NA, NAN, None], dtype=object), [1, None, None, None]),
        (pd.Series(["b", None, "a"]), ["b", None, "a"]),
        (pd.Series(["b", pd.NA, "a"], dtype="string"), ["b", None, "a"]),
        (pd.Series(["b", NAN, pd.NA, None], dtype=object), ["b", None, None, None]),
        (pd.Series(["b", None, "a"], dtype="category"), ["b", None, "a"]),
        (pd.Series([3, None, 1], dtype="category"), [3, None, 1]),
        (pd.Series(["", "NaN"]), ["", "NaN"]),
        (
            pd.Series(pd.to_datetime(["2024-05-06 07:08:09", None])),
            [nanoseconds(2024, 5, 6, 7, 8, 9), None],
        ),
        (
            pd.Series(pd.to_datetime(["2024-05-06", None])).dt.tz_localize("Europe/Paris"),
            [nanoseconds(2024, 5, 5, 22), None],
        ),
        (pd.Series([dt.date(2024, 5, 6), None]), [nanoseconds(2024, 5, 6), None]),
        (pd.Series([dt.date(1, 1, 1), dt.date(9999, 1, 1)]), [-62135596800e9, 253370764800e9]),
        (pd.Series([dt.timedelta(seconds=2), None]), [2e9, None]),
        (pd.Series([dt.time(1), None], dtype=object), [3600e9, None]),
        (pd.Series([None, None], dtype=object), [None, None]),
        (pl.Series([1, None]), [1, None]),
        (pl.Series([True, None]), [1, None]),
        (pl.Series([1.5, None, NAN]), [1.5, None, None]),
        (pl.Series(["b", None, "a"]), ["b", None, "a"]),
        (pl.Series(["b", None, "a"], dtype=pl.Categorical), ["b", None, "a"]),
        (pl.Series(["b", None], dtype=pl.Enum(["z", "b"])), ["b", None]),
        (pl.Series([dt.date(2024, 5, 6), None]), [nanoseconds(2024, 5, 6), None]),
        (pl.Series([dt.datetime(2024, 5, 6, 7), None]), [nanoseconds(2024, 5, 6, 7), None]),
        (pl.Series([dt.time(1), None]), [3600e9, None]),
        (pl.Series([decimal.Decimal("0.5"), None]), [0.5, None]),
        (pl.Series([None, None]), [None, None]),
        (pa.array([1, None]), [1, None]),
        (pa.array(["b", None]), ["b", None]),
        (pa.array(["b", None, "a"]).dictionary_encode(), ["b", None, "a"]),
        (pa.array([dt.time(1), None]), [3600e9, None]),
        (pa.nulls(2), [None, None]),
        (pa.array([10, None, 9]).dictionary_encode(), ["10", None, "9"]),
        (pa.array(["b", None], pa.large_string()), ["b", None]),
        (pa.array(["b", None], pa.string_view()), ["b", None]),
        (pa.array([True, None]), [1, None]),
        (pa.array([decimal.Decimal("0.5"), None]), [0.5, None]),
        (pa.array([dt.date(2024, 5, 6), None]), [nanoseconds(2024, 5, 6), None]),
        (pa.array([dt.timedelta(seconds=2), None]), [2e9, None]),
        (
            pa.array([dt.datetime(2024, 5, 6), None], pa.timestamp("s", tz="Europe/Paris")),
            [nanoseconds(2024, 5, 6), None],
        ),
        (pl.Series([dt.timedelta(seconds=2), None]), [2e9, None]),
        (
            pl.Series([dt.datetime(2024, 5, 6)]).dt.replace_time_zone("Europe/Paris"),
            [nanoseconds(2024, 5, 5, 22)],
        ),
        (pl.Series([7, None], dtype=pl.Int128), [7, None]),
        (pl.Series([7, None], dtype=pl.UInt8), [7, None]),
        (pl.Series(["b", None], dtype=pl.Object), ["b", None]),
        (pd.Series([True, None], dtype="bool[pyarrow]"), [1, None]),
        (pd.Series([decimal.Decimal("0.5"), None], dtype=arrow(pa.decimal128(5, 2))), [0.5, None]),
        (pd.Series([dt.time(1), None], dtype=arrow(pa.time64("us"))), [3600e9, None]),
        (pd.Series([dt.timedelta(seconds=2), None], dtype=arrow(pa.duration("s"))), [2e9, None]),
        (
            pd.Series(["b", None], dtype=arrow(pa.dictionary(pa.int8(), pa.string()))),
            ["b", None],
        ),
        (pd.Series([True, None, False], dtype="category"), [True, None, False]),
        (
            pd.Series([pd.Timestamp("2024-05-06", tz="Europe/Paris"), pd.NaT], dtype=object),
            [nanoseconds(2024, 5, 5, 22), None],
        ),
        (
            pd.Series([dt.datetime(2024, 5, 6, tzinfo=dt.UTC), dt.datetime(2024, 5, 6)]),
            [nanoseconds(2024, 5, 6)] * 2,
        ),
        (np.ma.masked_array([7, 8], [False, True]), [7, None]),
        (np.ma.masked_array([7.5, 8], [False, True]), [7.5, None]),
        (np.ma.masked_array([7, 8]), [7, 8]),
        (np.ma.masked_array(["b", "a"], [True, False]), [None, "a"]),
        (
            np.ma.masked_array(np.array(["2024-05-06"] * 2, "M8[D]"), [True, False]),
            [None, nanoseconds(2024, 5, 6)],
        ),
        *STRING_ARRAYS,
        (np.array(["2024-05-06", "NaT"], "M8[h]"), [nanoseconds(2024, 5, 6), None]),
        (np.array(["2024-05", "NaT"], "M8[M]"), [nanoseconds(2024, 5, 1), None]),
        (np.array([3, "NaT"], "m8[D]"), [3 * 86400e9, None]),
        (np.array([b"b", b"a"]), [b"b", b"a"]),
        (np.array([3, 1.5], ">f4"), [3, 1.5]),
        (np.array([3, 1.5], np.longdouble), [3, 1.5]),
        ([1, None, 2.5], [1, None, 2.5]),
        (["b", None, NAN], ["b", None, None]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_column_of_each_type(values, expected):
    if isinstance(values, pd.Series):
        table = pd.DataFrame({"c": values})
    elif isinstance(values, pl.Series):
        table = pl.DataFrame({"c": values})
    elif isinstance(values, pa.Array):
        table = pa.table({"c": values})
    elif isinstance(values, list):
        table = [[value] for value in values]
    else:
        table = values[:, None]
    assert column_of(table) == expected


def test_a_list_of_mixed_columns_keeps_its_numbers():
    first, second = as_table([["a", 1], ["b", 2]]).blocks()
    assert isinstance(first, Categories)
    assert second.values[:, 0].tolist() == [1, 2]


def test_names():
    X = np.zeros((2, 2))
    assert as_table(X).names is None
    assert as_table(pd.DataFrame(X)).names is None  # integer labels are no names
    assert as_table(pd.DataFrame(X, columns=["a", "b"])).names == ("a", "b")
    assert as_table(pl.DataFrame(X, schema=["a", "b"])).names == ("a", "b")
    assert as_table(pa.table({"a": [1], "b": [2]})).names == ("a", "b")
    assert as_table(sparse.csr_array(X)).names is None
    assert as_table(pd.DataFrame(X, columns=["a", "b"])).label(1) == "column 'b'"
    assert as_table(X).label(1) == "column 1"


def test_a_record_batch_is_a_table():
    batch = pa.record_batch({"a": [1, 2, 3], "b": ["x", "y", None]})
    table = as_table(batch)
    assert table.names == ("a", "b")
    assert [type(block) for block in table.blocks()] == [Numbers, Categories]
    assert take_columns(batch, [1]).equals(pa.table(batch).select(["b"]))
    assert take_rows(batch, [2, 0]).equals(pa.table(batch).take([2, 0]))


def test_spans_cover_the_columns_in_blocks_of_one_type():
    frame = pd.DataFrame(
        {"a": [1.0, 2], "b": [1.0, 2], "c": [1, 2], "d": ["x", "y"], "e": [1.0, 2]}
    )
    spans = as_table(frame).spans()
    assert spans == [Span(0, 2), Span(2, 3), Span(3, 4), Span(4, 5)]
    assert as_table(frame).spans(max_cells=1)[:2] == [Span(0, 1), Span(1, 2)]
    array = as_table(np.zeros((10, 20), order="F"))
    assert array.spans(max_cells=90) == [Span(0, 6), Span(6, 13), Span(13, 20)]
    assert array.spans(max_cells=1) == [Span(j, j + 1) for j in range(20)]
    rows = as_table(np.zeros((10, 100)))  # row-major: columns that are next to each other
    assert rows.spans(max_cells=1) == [Span(j, j + 25) for j in range(0, 100, 25)]
    assert as_table(np.zeros((10, 200), np.int8)).spans(max_cells=1) == [
        Span(0, 100),
        Span(100, 200),
    ]
    assert as_table(pl.DataFrame(np.zeros((10, 7)))).spans(max_cells=50) == [Span(0, 5), Span(5, 7)]


def test_an_array_is_read_in_place():
    X = np.zeros((20, 10))
    (block,) = as_table(X).blocks()
    assert np.shares_memory(block.values, X)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), "Expected 2D array, got 1D array instead. Reshape your data"),
        (np.zeros((2, 2, 2)), "got 3D array"),
        (np.float64(3), "got scalar array"),
        ([1, 2], "Reshape your data"),
        (pd.Series([1, 2]), "Reshape your data"),
        (pl.Series([1, 2]), "Reshape your data"),
        (sparse.coo_array(np.ones(3)), "Reshape your data"),
        ([[1, 2], [3]], "same number of values"),
        (np.empty((12, 0)), r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required"),
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (pd.DataFrame(), r"0 feature\(s\)"),
        (pl.DataFrame({"a": []}), r"0 sample\(s\)"),
        (np.ones((2, 2)) * 1j, "Complex data not supported"),
        (sparse.csr_array(np.ones((2, 2)) * 1j), "Complex data not supported"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column named 'a'"),
        (pa.table([[1], [2]], names=["a", "a"]), "more than one column named 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", 0]), r"others are not \(such as 0\)"),
        (pl.LazyFrame({"a": [1]}), "collect"),
    ],
)
def test_tables_that_are_none(X, message):
    with pytest.raises(InvalidTableError, match=message):
        as_table(X)


def test_too_few_rows():
    with pytest.raises(InvalidTableError, match=r"1 sample\(s\) .* minimum of 2 is required"):
        as_table(np.zeros((1, 3)), min_rows=2)


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (pd.Series(["a", 1, None], dtype=object), "int and str"),
        (pd.Series([{"a": 1}, {}], dtype=object), "dict"),
        (pd.Series([(1, 2), (3,)], dtype=object), "tuple"),
        (pd.period_range("2024", periods=3, freq="D"), "Period"),
        (pd.Series(["a", 1], dtype="category"), "int and str"),
        (pl.Series([[1], [2]]), "List"),
        (pl.Series([[1], [2]], dtype=pl.Array(pl.Int64, 1)), "Array"),
        (pl.Series([{"a": 1}]), "Struct"),
        (pl.Series([b"x"]), "bytes"),
        (pl.Series([object()], dtype=pl.Object), "object"),
        (pa.array([[1], [2]]), "List"),
        (pa.array([[1], [2]], pa.large_list(pa.int64())), "List"),
        (pa.array([{"a": 1}]), "Struct"),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), "list"),
        (pa.array([b"x"]), "bytes"),
        (pd.Series([[1], [2]], dtype=arrow(pa.list_(pa.int64()))), "List"),
        (pd.Series([[1], [2]], dtype=object), "list"),
        (pd.interval_range(0, 3), "Interval"),
    ],
)
def test_columns_that_are_neither_numbers_nor_strings(column, found):
    frames = {pl.Series: pl.DataFrame, pa.Array: pa.table}
    frame = next((frames[kind] for kind in frames if isinstance(column, kind)), pd.DataFrame)
    table = as_table(frame({"fine": [1] * len(column), "odd": column}))
    with pytest.raises(InvalidColumnError, match=rf"column 'odd' of X holds {found}"):
        list(table.blocks())


def test_a_complex_column_is_named():
    table = as_table(pd.DataFrame({"a": [1, 2], "z": [1j, 2]}))
    with pytest.raises(InvalidTableError, match="Complex data not supported: column 'z'"):
        list(table.blocks())
    with pytest.raises(InvalidTableError, match="Complex data not supported: column 1"):
        list(as_table(np.array([["a", 1j]], dtype=object)).blocks())


def test_a_number_beyond_floating_point_is_named():
    with pytest.raises(InvalidTableError, match="column 0 of X is too large"):
        list(as_table(np.array([[10**400]], dtype=object)).blocks())


# --- numbers for the filters ----------------------------------------------------------------------


def test_numeric_matrix():
    frame = pd.DataFrame(
        {
            "x": [1.5, np.nan, 2],
            "flag": [True, False, True],
            "s": ["b", "a", None],
            "c": pd.Categorical(["q", "q", "p"], categories=["z", "q", "p"]),
            "d": pd.to_datetime(["1970-01-01", "1970-01-02", "1970-01-01"]),
        }
    )
    for X in (frame, as_table(frame), pl.from_pandas(frame)):
        values, is_categorical, has_missing = numeric_matrix(X)
        expected = [[1.5, 1, 1, 1, 0], [NAN, 0, 0, 1, 86400e9], [2, 1, NAN, 0, 0]]
        np.testing.assert_array_equal(values, expected)
        assert is_categorical.tolist() == [False, False, True, True, False]
        assert has_missing.tolist() == [True, False, True, False, False]


def test_numeric_matrix_of_sparse_and_of_infinity():
    X = np.array([[0, 1.0], [2, 0]])
    np.testing.assert_array_equal(numeric_matrix(sparse.csr_matrix(X)).values, X)
    X[1, 1] = -np.inf
    with pytest.raises(InvalidTableError, match=r"infinity \(inf\) in column 1"):
        numeric_matrix(X)


def test_check_finite():
    frame = pd.DataFrame({"a": [1.0, 2], "b": [np.nan, 1], "s": ["x", None]})
    check_finite(as_table(frame[["a"]]))
    with pytest.raises(InvalidTableError, match=r"NaN .* column 'b'"):
        check_finite(as_table(frame))
    with pytest.raises(InvalidTableError, match=r"NaN .* column 's'"):
        check_finite(as_table(frame[["a", "s"]]))
    with pytest.raises(InvalidTableError, match=r"infinity .* column 'a'"):
        check_finite(as_table(frame.replace(2.0, np.inf)))


# --- columns back out -----------------------------------------------------------------------------


def test_take_columns_keeps_the_container_and_its_types():
    frame = pd.DataFrame(
        {"a": [1, 2], "b": pd.Categorical(["x", "y"]), "c": pd.array([1, None], "Int64")},
        index=[7, 9],
    )
    taken = take_columns(frame, [2, 0])
    pd.testing.assert_frame_equal(taken, frame[["c", "a"]])
    polars = pl.DataFrame({"a": [1, 2], "b": pl.Series(["x", "y"], dtype=pl.Categorical)})
    assert take_columns(polars, np.array([1, 0])).equals(polars.select("b", "a"))
    assert take_columns(polars, [1]).schema == polars.select("b").schema
    arrow = pa.table({"a": [1, 2], "b": ["x", "y"]})
    assert take_columns(arrow, [1]).equals(arrow.select(["b"]))
    X = np.arange(6, dtype=np.int16).reshape(2, 3)
    assert take_columns(X, [2, 1]).dtype == np.int16
    assert take_columns(X, [2, 1]).tolist() == [[2, 1], [5, 4]]
    assert take_columns(X.tolist(), [2]).tolist() == [[2], [5]]
    for make, kept in (
        (sparse.csr_array, "csr"),
        (sparse.csc_matrix, "csc"),
        (sparse.coo_matrix, "csr"),
    ):
        chosen = take_columns(make(X), [2, 1])
        assert chosen.format == kept
        assert chosen.dtype == np.int16
        assert chosen.toarray().tolist() == [[2, 1], [5, 4]]


# --- targets --------------------------------------------------------------------------------------


def test_a_column_of_targets_is_flattened_with_a_warning():
    for y in (np.array([[1], [0]]), pd.DataFrame({"y": [1, 0]}), pl.DataFrame({"y": [1, 0]})):
        with pytest.warns(DataConversionWarning, match="column-vector y"):
            assert as_target(y).tolist() == [1, 0]


def test_targets_keep_their_kind():
    assert as_target([1, 0]).dtype.kind == "i"
    assert as_target(np.array([1, 0], object)).dtype.kind == "i"
    assert as_target(np.array([True, False], object)).dtype.kind == "b"
    assert as_target(np.array([1.5, 0], object)).dtype.kind == "f"
    assert as_target(pd.Series([1, 2], dtype="Int64")).tolist() == [1, 2]
    assert as_target(["a", "b"]).tolist() == ["a", "b"]


def test_a_masked_target_is_missing():
    for values in ([1, 0, 1], ["a", "b", "a"], [0.5, 1.5, 2.5]):
        y = np.ma.masked_array(values, [False, True, False])
        with pytest.raises(InvalidTargetError, match="Input y contains NaN"):
            as_target(y)
        assert as_target(y, rows=np.array([0, 2])).tolist() == [values[0], values[2]]


def test_the_caller_is_named_when_there_is_no_target():
    with pytest.raises(InvalidTargetError, match="This HOCMIM estimator requires y to be passed"):
        as_target(None, caller="This HOCMIM estimator")


# --- wide and sparse ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "weighted"),
    [(sparse.csr_array, False), (sparse.csc_array, False), (sparse.csr_array, True)],
)
def test_a_wide_sparse_table_is_never_dense(make, weighted):
    """Of 2000 × 20 000 the codes are 38 MiB, and the numbers would be 305 MiB."""
    rng = np.random.default_rng(0)
    n, D, filled = 2000, 20_000, 400_000
    places = rng.integers(n, size=filled), rng.integers(D, size=filled)
    X = make(sparse.coo_array((rng.random(filled), places), shape=(n, D)))
    y = rng.integers(3, size=n)
    weights = np.repeat([0, 1, 2, 1], 500) if weighted else None
    selector = MIM(3, n_jobs=1)
    tracemalloc.start()
    try:
        reduced = selector.fit(X, y, sample_weight=weights).transform(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * 2**20
    assert reduced.format == X.format
    columns = X[:, selector.selected_].toarray()
    alone = MIM(3).fit(columns, y, sample_weight=weights)
    assert alone.relevance_.tolist() == selector.relevance_[selector.selected_].tolist()


def test_columns_with_several_levels():
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(300, 6)), columns=[f"x{j}" for j in range(6)])
    table["color"] = rng.choice(["red", "green", None], 300)
    table["y"] = (table["x2"] > 0) & (table["color"] == "red")
    X = table.drop(columns="y").set_axis(
        pd.MultiIndex.from_tuples([("a", j) for j in range(6)] + [("b", "color")]), axis=1
    )
    found = RobustHOCMIM(2).fit(X, table["y"])
    assert found.feature_names_in_.tolist() == [f"a/{j}" for j in range(6)] + ["b/color"]
    assert set(found.get_feature_names_out()) == {"a/2", "b/color"}
    named = JMI(2).fit(X.assign(**{"c": table["y"]}), "c/")
    assert set(named.get_feature_names_out()) == {"a/2", "b/color"}
    labels = [("a/b", "c"), ("a", "b/c"), *X.columns[2:]]
    clash = X.set_axis(pd.MultiIndex.from_tuples(labels), axis=1)
    with pytest.raises(InvalidTableError, match=r"more than one column named 'a/b/c'"):
        JMI(2).fit(clash, table["y"])

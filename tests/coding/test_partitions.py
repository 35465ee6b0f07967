"""Row partitions against the encoder of whole tables, which they must equal bit for bit."""

import pickle
from functools import reduce
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import dataset, parquet

import warned
from hocmim import HOCMIM, KruskalWallis, StopTest
from hocmim.coding import encoded_source
from hocmim.coding.codes import Codes
from hocmim.coding.cuts import Ragged, cut_columns
from hocmim.coding.encoded_source import encode_source
from hocmim.coding.encoder import Encoder
from hocmim.coding.partitions import (
    TableSurvey,
    columns_to_cut,
    count_frequent,
    encode_partition,
    fit_encoder,
    integers_of_columns,
    merge_integers,
    possible_row_numbers,
    read_numbers,
    survey_partition,
    with_most_frequent,
)
from hocmim.coding.rare import DEFAULT_MAX_LEVELS
from hocmim.coding.target import Target, encode_target, join_parts, read_part
from hocmim.data.sources import open_source
from hocmim.errors import InvalidColumnError, InvalidTableError, InvalidTargetError
from row_tables import source_of

pytestmark = pytest.mark.filterwarnings(warned.ONE_BIN, warned.TEXT)

DISCRETIZERS = ("uniform", "quantile", "mdlp")


def assert_same_codes(one: Codes, two: Codes):
    for name in ("narrow", "wide", "place", "arity"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert one.names == two.names


def assert_same_encoder(one: Encoder, two: Encoder):
    assert one.n_features_in_ == two.n_features_in_
    names = [getattr(encoder, "feature_names_in_", np.empty(0)).tolist() for encoder in (one, two)]
    assert names[0] == names[1]
    for a, b in zip(one.columns_, two.columns_, strict=True):
        assert (a.kind, a.missing, a.unknown, a.arity) == (b.kind, b.missing, b.unknown, b.arity)
        np.testing.assert_array_equal(a.cuts, b.cuts)
        assert list(a.levels) == list(b.levels)


def mixed_frame(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """Columns of every kind, missing values in most."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "normal": rng.normal(size=n),
            "few": rng.integers(0, 4, n).astype(float),
            "int": rng.integers(-50, 50, n),
            "bool": rng.random(n) < 0.3,
            "zeros": np.where(rng.random(n) < 0.8, 0.0, rng.random(n)),
            "constant": 3,
            "nothing": np.nan,
            "word": rng.choice(["b", "a", "", "zz", "ß"], n, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
            "many": rng.integers(0, 300, n).astype(str),
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), unit="D"),
            "single": rng.normal(size=n).astype("f4"),
        }
    )
    frame.loc[rng.random(n) < 0.1, ["normal", "few", "word"]] = None
    frame["kind"] = pd.Categorical(rng.choice([3, 1, 2], n), categories=[5, 3, 2, 1])
    return frame


def cut_rows(frame, bounds):
    edges = [0, *bounds, len(frame)]
    return [frame[a:b] for a, b in pairwise(edges)]


def encode_by_functions(parts, y, discretizer, n_bins, max_levels=DEFAULT_MAX_LEVELS):
    """The recipe of the module's docstring, every value sent through pickle as to a worker."""

    def sent(value):
        return pickle.loads(pickle.dumps(value))

    surveys = [sent(survey_partition(sent(part), n_bins)) for part in parts]
    while len(surveys) > 1:  # a tree
        pairs = [surveys[i : i + 2] for i in range(0, len(surveys), 2)]
        surveys = [sent(reduce(TableSurvey.merge, pair)) for pair in pairs]
    columns = columns_to_cut(surveys[0], discretizer)
    cuts = None
    if len(columns):
        values = np.vstack([read_numbers(part, columns) for part in parts])
        cuts = Ragged.concatenate(
            [cut_columns(values[:, j : j + 1], discretizer, n_bins, y) for j in range(len(columns))]
        )
    suspects = possible_row_numbers(surveys[0])
    marks = reduce(merge_integers, [integers_of_columns(part, suspects) for part in parts])
    unfitted = Encoder(n_bins, discretizer=discretizer, max_levels=max_levels)
    encoder = sent(fit_encoder(surveys[0], unfitted, cuts, marks))
    found = [sent(encode_partition(part, encoder)) for part in parts]
    codes = Codes(
        np.hstack([part.narrow for part in found]),
        np.hstack([part.wide for part in found]),
        found[0].place,
        found[0].arity,
        found[0].names,
    )
    return with_most_frequent(encoder, count_frequent(codes)), codes


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
@pytest.mark.parametrize("n_bins", [2, 5, 30])
@pytest.mark.parametrize("bounds", [(), (200,), (0, 1, 1, 7, 300, 400)])
def test_partitions_give_the_codes_of_the_whole(discretizer, n_bins, bounds):
    frame = mixed_frame()
    y = encode_target(frame["int"].to_numpy() % 3).column
    expected = Encoder(n_bins, discretizer=discretizer)
    codes = expected.fit_transform(frame, y)
    encoder, found = encode_by_functions(cut_rows(frame, bounds), y, discretizer, n_bins)
    assert_same_encoder(encoder, expected)
    assert_same_codes(found, codes)
    other = mixed_frame(50, seed=1)
    assert_same_codes(encoder.transform(other), expected.transform(other))


# --- surveys --------------------------------------------------------------------------------------

values = st.one_of(
    st.none(), st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_nan=False), st.just(-0.0)
)


@given(st.lists(st.lists(values, max_size=6), min_size=3, max_size=3), st.integers(2, 4))
@settings(max_examples=150, deadline=None)
def test_surveys_merge_in_any_grouping(parts, n_bins):
    columns = [np.array([part, part[::-1]], float).T.reshape(-1, 2) for part in parts]
    a, b, c = (survey_partition(column, n_bins) for column in columns)
    whole = survey_partition(np.vstack(columns), n_bins)
    for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)):
        assert merged.n_rows == whole.n_rows
        for name in ("minimum", "maximum", "has_missing", "has_many"):
            np.testing.assert_array_equal(
                getattr(merged.numbers, name), getattr(whole.numbers, name), err_msg=name
            )
        np.testing.assert_array_equal(merged.numbers.distinct.values, whole.numbers.distinct.values)
        np.testing.assert_array_equal(
            merged.numbers.distinct.offsets, whole.numbers.distinct.offsets
        )


@given(
    st.lists(
        st.lists(st.one_of(st.none(), st.text(max_size=2)), min_size=1, max_size=5),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=20, deadline=None)
def test_categories_merge(parts):
    frames = [pd.DataFrame({"a": np.array(part, object)}) for part in parts]
    whole = pd.concat(frames, ignore_index=True)
    expected = Encoder()
    codes = expected.fit_transform(whole)
    encoder, found = encode_by_functions(frames, None, "uniform", 5)
    assert_same_encoder(encoder, expected)
    assert_same_codes(found, codes)


@pytest.mark.parametrize("max_levels", [None, 2, 7, 60])
def test_rare_levels_and_identifiers_are_those_of_the_whole(max_levels):
    n = 300
    rng = np.random.default_rng(3)
    whole = pd.DataFrame(
        {
            "number": rng.permutation(n) + 5,
            "word": rng.zipf(1.5, n).clip(0, 90).astype(str),
            "name": [f"n{i}" for i in range(n)],
            "price": rng.choice(10**6, n, replace=False),
            "gap": np.where(rng.random(n) < 0.2, None, rng.choice(list("abcdefgh"), n)),
            "twice": np.r_[np.arange(n - 1), 0],
        }
    )
    expected = Encoder(max_levels=max_levels)
    codes = expected.fit_transform(whole)
    assert expected.identifiers_.tolist() == [0, 2]
    parts = [whole[:100], whole[100:101], whole[101:]]
    encoder, found = encode_by_functions(parts, None, "quantile", 5, max_levels)
    assert_same_encoder(encoder, expected)
    assert_same_codes(found, codes)
    assert encoder.identifiers_.tolist() == [0, 2]


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_a_column_may_have_another_type_in_another_partition(discretizer):
    n = 60
    rng = np.random.default_rng(0)
    whole = pd.DataFrame({"a": rng.integers(0, 40, n), "b": rng.choice(list("xyz"), n)})
    whole["c"] = rng.integers(0, 2, n)
    y = encode_target(rng.integers(0, 2, n)).column
    parts = [
        pa.table(
            {"a": pa.array(whole.a[:20], pa.int8()), "b": whole.b[:20], "c": whole.c[:20] > 0}
        ),
        pl.DataFrame(whole[20:40]).with_columns(
            pl.col("a").cast(pl.Float32), pl.col("b").cast(pl.Categorical)
        ),
        pa.table(
            {
                "a": pa.array(whole.a[40:], pa.float64()),
                "b": pa.array(whole.b[40:]).dictionary_encode(),
                "c": pa.array(whole.c[40:], pa.uint8()),
            }
        ),
    ]
    expected = Encoder(discretizer=discretizer)
    codes = expected.fit_transform(whole, y)
    encoder, found = encode_by_functions(parts, y, discretizer, 5)
    assert_same_encoder(encoder, expected)
    assert_same_codes(found, codes)


@pytest.mark.parametrize("kind", ["numbers", "strings", "nothing"])
def test_a_partition_of_missing_values_or_of_no_rows_says_nothing_of_the_kind(kind):
    values = {"numbers": [1.5, 2.5], "strings": ["b", "a"], "nothing": [None, None]}[kind]
    parts = [
        pa.table({"a": pa.nulls(3)}),
        pa.table({"a": pa.array([], pa.string() if kind == "numbers" else pa.int64())}),
        pa.table({"a": pa.array([None, None], pa.int64() if kind == "strings" else pa.string())}),
        pa.table({"a": pa.array(values)}),
    ]
    whole = pd.DataFrame({"a": np.array([None] * 5 + values, object)})
    expected = Encoder()
    codes = expected.fit_transform(whole)
    encoder, found = encode_by_functions(parts, None, "uniform", 5)
    assert_same_codes(found, codes)
    if kind != "nothing":  # whose kind is that of any of the empty columns
        assert_same_encoder(encoder, expected)


def test_no_rows_at_all_can_be_surveyed_and_encoded():
    whole, part = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), pd.DataFrame({"a": [], "b": []})
    survey = survey_partition(part, 5).merge(survey_partition(whole, 5))
    codes = encode_partition(part, fit_encoder(survey, Encoder(discretizer="uniform")))
    assert codes.narrow.shape == (2, 0)
    assert codes.names == ("a", "b")


def test_what_does_not_fit_together_is_an_error_that_names_it():
    def merge(one, two):
        return survey_partition(one, 5).merge(survey_partition(two, 5))

    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(InvalidTableError, match="column 'b' of X hold numbers and others strings"):
        merge(frame, frame.assign(b=[1, 2]))
    with pytest.raises(
        InvalidTableError, match="same columns in the same order: a, b in one, b, a"
    ):
        merge(frame, frame[["b", "a"]])
    with pytest.raises(InvalidTableError, match="2 columns in one, 1 columns in another"):
        merge(frame, frame[["a"]])
    with pytest.raises(InvalidTableError, match=r"infinity \(inf\) in column 'a'"):
        merge(frame, frame.assign(a=[1, np.inf]))
    words = [pd.DataFrame({"a": pd.Categorical(one)}) for one in ([1, 2], ["x"])]
    with pytest.raises(InvalidColumnError, match="categories of column 'a' of X are of different"):
        merge(*words)


# --- targets --------------------------------------------------------------------------------------

TARGETS = {
    "int": np.array([3, 1, 2, 3, 1, 1, 2]),
    "bool": np.array([True, False, True, True, False, True, True]),
    "string": np.array(["b", "a", "b", "ccc", "a", "a", "b"]),
    "object": np.array(["b", "a", "b", "ccc", "a", "a", "b"], object),
    "whole": np.array([3.0, 1.0, 2.0, 3.0, 1.0, 1.0, 2.0]),
    "few": np.array([0.5, 1.0, 2.0, 0.5, 1.0, 1.0, 2.0], "f4"),
    "continuous": np.array([0.5, 1.25, 2.0, 0.25, 10.0, 1.5, 7.0]),
    "single": np.array([0.5, 1.25, 2.0, 0.25, 10.0, 1.5, 7.0], "f4"),
    "late": np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.5]),
    "five": np.array([0.5, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0]),
    "many whole": np.array([3, 10, 20, 31, 47, 56, 78]),
}


def sent_parts(parts):
    """Read parts of a target, sent through pickle as from a worker."""
    return [pickle.loads(pickle.dumps(read_part(part))) for part in parts]


@pytest.mark.parametrize("bounds", [(2, 5), (0, 7), (3, 3)])
@pytest.mark.parametrize("kind", TARGETS)
def test_a_target_in_parts_is_that_of_the_whole(kind, bounds):
    y = TARGETS[kind]
    found = join_parts(sent_parts(cut_rows(y, bounds)))
    np.testing.assert_array_equal(found, y)
    one, two = encode_target(found), encode_target(y)
    assert (one.kind, one.guess) == (two.kind, two.guess)
    np.testing.assert_array_equal(one.column.codes, two.column.codes)
    if two.classes is not None:
        assert one.classes.dtype == two.classes.dtype


def test_targets_of_different_types_are_those_of_their_common_type():
    parts = [np.array([1, 2], "i4"), np.array([2.0, 3.0]), np.array([True])]
    assert join_parts(sent_parts(parts)).dtype == np.concatenate(parts).dtype
    with pytest.raises(InvalidTargetError, match="some of its partitions hold strings"):
        join_parts(sent_parts([np.array([1]), np.array(["a"]), np.array([2])]))
    assert len(join_parts(sent_parts([np.empty(0), np.empty(0, object)]))) == 0


def test_many_classes_and_one_class():
    many = np.concatenate([np.arange(k, k + 40_000) for k in (0, 40_000, 0)])
    with pytest.raises(InvalidTargetError, match="y has 80000 classes, more than 65536"):
        encode_target(many, target=Target("classes"))
    assert encode_target(many).column.arity == 3
    wide = encode_target(np.arange(400).repeat(2), target=Target("classes"))
    assert wide.column.codes.dtype == np.uint16
    with pytest.raises(InvalidTargetError, match=r"only one class \('a'\)"):
        encode_target(np.array(["a"] * 3, object))
    with pytest.raises(InvalidTargetError, match="only one class"):
        encode_target(np.array([2.0] * 3), target=Target("quantity"))


# --- sources --------------------------------------------------------------------------------------


@pytest.fixture
def small_batches(monkeypatch):
    """Many batches, spans and chunks of whole columns, though the tables are small."""
    monkeypatch.setattr("hocmim.data.rows.MAX_CELLS", 64)
    monkeypatch.setattr("hocmim.data.rows.MIN_ROWS", 16)
    monkeypatch.setattr("hocmim.coding.encoded_source.WHOLE_CELLS", 1000)
    monkeypatch.setattr("hocmim.data.sources.PIECE_BYTES", 4000)


def write_parts(folder, frame, bounds, **options):
    for number, part in enumerate(cut_rows(frame, bounds)):
        part.to_parquet(folder / f"{number:02}.parquet", index=False, **options)
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_a_parquet_folder_is_encoded_as_the_table_in_it(discretizer, n_jobs, tmp_path):
    frame = mixed_frame()
    frame["kind"] = frame["kind"].astype(str).astype("category")
    frame["y"] = np.random.default_rng(3).normal(size=len(frame))
    write_parts(tmp_path, frame, (5, 5, 130, 300), row_group_size=50)
    source, y = open_source(str(tmp_path), "y")
    assert y is None
    assert (source.n_rows, source.n_columns) == (400, 12)
    assert len(source.pieces) > 5
    assert len(source.spans()) > 2
    pickle.loads(pickle.dumps(source.pieces))
    X = frame.drop(columns="y")
    target = encode_target(frame["y"])
    found = encode_target(join_parts(map(read_part, source.target_parts())))
    np.testing.assert_array_equal(found.column.codes, target.column.codes)
    np.testing.assert_array_equal(found.cuts, target.cuts)
    expected = Encoder(discretizer=discretizer)
    codes = expected.fit_transform(X, target.column)
    encoder, got = encode_source(
        source, target.column, Encoder(discretizer=discretizer), n_jobs=n_jobs
    )
    assert_same_encoder(encoder, expected)
    assert_same_codes(got, codes)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("discretizer", DISCRETIZERS)
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_a_list_of_tables_is_encoded_as_one(container, discretizer):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 9))
    X[:, 3] = np.round(X[:, 3])
    y = encode_target(rng.integers(0, 3, 200)).column
    source = source_of(*[container(part) for part in cut_rows(X, (0, 30, 31))])
    expected = Encoder(discretizer=discretizer)
    codes = expected.fit_transform(X, y)
    _, found = encode_source(source, y, Encoder(discretizer=discretizer))
    np.testing.assert_array_equal(found.narrow, codes.narrow)
    np.testing.assert_array_equal(source.read(source.columns), X)


def test_columns_of_the_path_are_columns(tmp_path):
    frame = mixed_frame()[["normal", "int"]].assign(year=np.repeat([2023, 2024], 200))
    frame["where"] = np.tile(["north", "south"], 200)
    dataset.write_dataset(
        pa.Table.from_pandas(frame),
        tmp_path,
        format="parquet",
        partitioning=dataset.partitioning(
            pa.schema([("year", pa.int64()), ("where", pa.string())]), flavor="hive"
        ),
    )
    source, _ = open_source(tmp_path)
    assert set(source.names) == {"normal", "int", "year", "where"}
    together = frame.sort_values(["year", "where"], kind="stable")[list(source.names)]
    _, found = encode_source(source)
    assert_same_codes(found, Encoder().fit_transform(together))


def test_the_index_of_a_pandas_frame_is_no_feature(tmp_path):
    frame = mixed_frame()[["normal", "int"]]
    frame.index = frame.index + 7.5
    frame.to_parquet(tmp_path / "a.parquet")
    assert open_source(tmp_path / "a.parquet")[0].names == ("normal", "int")


def test_files_may_differ_in_types_and_in_the_order_of_columns(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), tmp_path / "1.parquet")
    words = pa.array(["y", "z"]).dictionary_encode()
    parquet.write_table(pa.table({"b": words, "a": [1.5, None]}), tmp_path / "2.parquet")
    source, _ = open_source(tmp_path)
    _, found = encode_source(source)
    whole = pd.DataFrame({"a": [1, 2, 1.5, None], "b": ["x", "y", "y", "z"]})
    assert_same_codes(found, Encoder().fit_transform(whole))
    read = source.read(["b", "a"])
    assert read.to_pydict() == {"b": ["x", "y", "y", "z"], "a": [1, 2, 1.5, None]}


def test_what_cannot_be_read_is_an_error_that_says_why(tmp_path):
    with pytest.raises(InvalidTableError, match="there is no file or folder"):
        open_source(tmp_path / "nothing")
    with pytest.raises(InvalidTableError, match="There is no Parquet file in"):
        open_source(tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidTableError, match="cannot be read as Parquet"):
        open_source(tmp_path / "a.csv")
    parquet.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "1.parquet")
    with pytest.raises(InvalidTargetError, match=r"no column of this name. Did you mean 'b'"):
        open_source(tmp_path / "1.parquet", "bb")
    filtered = dataset.dataset(tmp_path / "1.parquet").filter(dataset.field("a") > 0)
    with pytest.raises(InvalidTableError, match="data set with a filter"):
        open_source(filtered)
    (tmp_path / "a.csv").unlink()
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "2.parquet")
    with pytest.raises(InvalidTableError, match=r"1.parquet has 'b', but .*2.parquet does not"):
        open_source(tmp_path)


def test_fingerprints_tell_data_apart(tmp_path, monkeypatch):
    frame = mixed_frame(50)
    frame.to_parquet(tmp_path / "a.parquet")
    first = open_source(tmp_path)[0].fingerprint
    assert open_source(tmp_path / "a.parquet")[0].fingerprint == first
    with monkeypatch.context() as patch:
        patch.chdir(tmp_path)
        relative = open_source("a.parquet")[0]
    assert relative.fingerprint == first
    assert relative.read(["int"]).num_rows == 50  # from another folder
    frame.assign(int=frame["int"] + 1).to_parquet(tmp_path / "a.parquet")
    assert open_source(tmp_path)[0].fingerprint != first


# --- selectors ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A data set of two files, and the frame in it."""
    frame = mixed_frame().drop(columns="kind")
    frame["y"] = (frame["normal"].fillna(1) > 0) ^ (frame["word"] == "a")
    (tmp_path / "data").mkdir()
    return write_parts(tmp_path / "data", frame, (150,)), frame


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_a_selector_fits_a_data_set_as_the_table_in_it(discretizer, folder):
    path, frame = folder
    X, y = frame.drop(columns="y"), frame["y"]
    expected = HOCMIM(4, encoder=Encoder(discretizer=discretizer)).fit(X, y)
    for source, target in (
        (path, "y"),
        (str(path), "y"),
        (dataset.dataset(path), "y"),
        (source_of(frame[:7], frame[7:]), "y"),
        (source_of(X), y),
    ):
        found = HOCMIM(4, encoder=Encoder(discretizer=discretizer)).fit(source, target)
        np.testing.assert_array_equal(found.selected_, expected.selected_)
        np.testing.assert_array_equal(found.scores_, expected.scores_)
        np.testing.assert_array_equal(found.classes_, expected.classes_)
        assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
        assert_same_encoder(found.encoder_, expected.encoder_)


def test_transform_and_explain_take_the_path(folder):
    path, frame = folder
    X, y = frame.drop(columns="y"), frame["y"]
    selector = HOCMIM(3).fit(path, "y")
    found, wanted = (pd.DataFrame(selector.transform(one)).fillna("none") for one in (path, X))
    assert found.values.tolist() == wanted.values.tolist()
    names = selector.set_output(transform="pandas").transform(path).columns
    assert names.tolist() == selector.get_feature_names_out().tolist()
    left = next(name for name in X.columns if name not in names)
    assert str(selector.explain(left, path)) == str(selector.explain(left, X))
    assert str(HOCMIM(3).fit(X, y).explain(left, path)) == str(selector.explain(left, X))
    with pytest.raises(InvalidTableError, match="no column 'normal', which was used in fit"):
        selector.transform(source_of(X.drop(columns=["normal"])))
    by_position = HOCMIM(1).fit(X[["few", "bool"]].to_numpy(float), y)
    with pytest.raises(InvalidTableError, match="X has 12 features, but 2 features were used"):
        by_position.transform(path)


def test_nothing_selected_leaves_no_columns_of_a_data_set_either(folder):
    path, _ = folder
    selector = HOCMIM(StopTest(0)).fit(path, "y")
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(path).shape == (400, 0)


def test_what_a_selector_cannot_fit_is_an_error_that_says_why(folder, tmp_path):
    path, frame = folder
    with pytest.raises(InvalidTargetError, match="the name of the column of X that is the target"):
        HOCMIM(2).fit(path, None)
    with pytest.raises(InvalidTargetError, match="X has 400 rows and y has 399 values"):
        HOCMIM(2).fit(path, frame["y"][1:])
    with pytest.raises(InvalidTableError, match="Read it first, for example with pandas"):
        KruskalWallis().fit(str(path), "y")
    frame[["y"]].to_parquet(tmp_path / "only.parquet")
    with pytest.raises(InvalidTableError, match="0 feature"):
        HOCMIM(2).fit(tmp_path / "only.parquet", "y")


def test_a_filter_reads_what_it_selected_from_a_data_set(folder):
    path, frame = folder
    X = frame[["int", "bool", "constant"]]
    ranked = KruskalWallis(2).fit(X, frame["y"])
    np.testing.assert_array_equal(ranked.transform(path), ranked.transform(X))
    gaps = KruskalWallis(1).fit(frame[["few"]].fillna(0), frame["y"])
    with pytest.raises(InvalidTableError, match="contains NaN"):
        gaps.transform(path)


# -- files by blocks of columns, or by rows --------------------------------------------------------


@pytest.fixture(params=["blocks", "narrow blocks", "rows"])
def route(request, monkeypatch):
    """How files are read: many columns at once, each by itself, or in pieces of rows."""
    if request.param == "narrow blocks":
        monkeypatch.setattr(encoded_source, "BLOCK_BYTES", 1)
    elif request.param == "rows":
        monkeypatch.setattr(encoded_source, "free_memory", lambda: 0)
    return request.param


def table_of_all_types(n=900):
    rng = np.random.default_rng(34)
    days = rng.integers(0, 9000, n)
    words = np.array(["", "a", "b", "ß", "long " * 20])[rng.integers(5, size=n)]
    is_missing = rng.random(n) < 0.2
    columns = {
        "float": pa.array(rng.normal(size=n), mask=is_missing),
        "single": pa.array(rng.normal(size=n).astype(np.float32)),
        "nan": pa.array(np.where(is_missing, np.nan, rng.normal(size=n))),
        "infinite": pa.array(np.where(is_missing, 1e300, rng.normal(size=n))),
        "integer": pa.array(rng.integers(-5, 6, n), mask=is_missing),
        "wide": pa.array(rng.integers(0, 700, n)),
        "beyond": pa.array(2**60 + rng.integers(0, 9, n)),
        "unsigned": pa.array(rng.integers(0, 4, n).astype(np.uint64) + np.uint64(2**63)),
        "bool": pa.array(rng.random(n) < 0.3, mask=is_missing),
        "word": pa.array(words, mask=is_missing),
        "large": pa.array(words, pa.large_string(), mask=is_missing),
        "levels": pa.array(words, mask=is_missing).dictionary_encode(),
        "name": pa.array([f"name {k}" for k in rng.permutation(n)]),
        "number": pa.array(np.arange(n)),
        "date": pa.array(days.astype("datetime64[D]"), mask=is_missing),
        "time": pa.array((days * 86_400_000_000).astype("datetime64[us]"), mask=is_missing),
        "zone": pa.array((days * 1000).astype("datetime64[ms]"), pa.timestamp("ms", "UTC")),
        "span": pa.array(days.astype("timedelta64[s]")),
        "decimal": pa.array(days).cast(pa.decimal128(25, 3)),
        "null": pa.nulls(n, pa.float64()),
        "no word": pa.nulls(n, pa.string()),
        "constant": pa.repeat("one", n),
    }
    return pa.table(columns), encode_target(rng.integers(3, size=n)).column


def write_in_files(folder, table, n_files=3):
    folder.mkdir()
    size = -(-table.num_rows // n_files)
    for k in range(n_files):
        path = folder / f"part-{k}.parquet"
        parquet.write_table(table.slice(k * size, size), path, row_group_size=size // 3)
    return folder


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_files_of_all_types_are_encoded_as_the_table_in_memory(
    tmp_path, route, discretizer, n_jobs
):
    table, y = table_of_all_types()
    source, _ = open_source(write_in_files(tmp_path / "files", table))
    assert (
        len(encoded_source._column_blocks(source, n_jobs, 0))
        == {
            "blocks": 1,
            "narrow blocks": table.num_columns,
            "rows": 0,
        }[route]
    )
    encoder = Encoder(discretizer=discretizer, identifiers="keep")
    expected = encoder.fit_transform(table, y, n_jobs=n_jobs)
    found, codes = encode_source(source, y, encoder, n_jobs=n_jobs)
    assert_same_codes(codes, expected)
    assert_same_encoder(found, encoder)
    np.testing.assert_array_equal(found.identifiers_, encoder.identifiers_)
    _, stored = encode_source(source, y, encoder, n_jobs=n_jobs, allocate=Codes.empty)
    assert_same_codes(stored, expected)


def test_a_column_with_another_type_in_another_file(tmp_path, route):
    rng = np.random.default_rng(0)
    tables = [
        pa.table({"a": rng.integers(9, size=200), "b": rng.choice(["x", "y"], 200)}),
        pa.table({"a": rng.normal(size=200), "b": rng.choice(["y", "z"], 200)}),
    ]
    for k, table in enumerate(tables):
        parquet.write_table(table, tmp_path / f"{k}.parquet")
    whole = pa.concat_tables(tables, promote_options="permissive")
    encoder = Encoder()
    expected = encoder.fit_transform(whole)
    found, codes = encode_source(open_source(tmp_path)[0])
    assert_same_codes(codes, expected)
    assert_same_encoder(found, encoder)


def test_long_text_counts_as_long_text(tmp_path):
    texts = [f"{k:0500}" for k in range(300)]
    parquet.write_table(pa.table({"a": np.arange(300), "b": texts}), tmp_path / "a.parquet")
    source, _ = open_source(tmp_path)
    number, text = source.pieces[0].bytes_of(["a", "b"])
    assert number == 8 * 300
    assert 3 * 300 * 500 < text < 4 * 300 * 500

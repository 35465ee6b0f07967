"""One interface for every kind of table: the same calls give the same codes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from sklearn.base import BaseEstimator

from hocmim.coding.encoder import encode
from hocmim.coding.groups import resolve_groups
from hocmim.coding.options import EncodingOptions
from hocmim.coding.target import TargetOptions, encode_target
from hocmim.criteria.beta_gamma import JMICriterion
from hocmim.data.checks import set_features
from hocmim.data.rows import RowSource
from hocmim.data.table import ArrayTable, FrameTable
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.search.engines.local import LocalEngine
from hocmim.search.inputs import open_engine, open_input, open_table
from hocmim.search.loop import forward_search

HOW = {"discretizer": "uniform", "n_bins": 5}
DISCRETIZERS = ["uniform", "quantile", "mdlp"]


def make_frame(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["whole"] = rng.integers(0, 3, n)
    X["word"] = rng.choice(["red", "green", "blue"], n)
    X.loc[::9, "b"] = np.nan
    return X, (X.a + X.whole > 1).astype(int).to_numpy()


def in_memory(X, y, folder):
    return {
        "pandas": (X, y),
        "polars": (pl.from_pandas(X), y),
        "pyarrow": (pa.Table.from_pandas(X), pd.Series(y)),
    }


def row_sources(X, y, folder):
    both = X.assign(y=y)
    for number, part in enumerate(np.array_split(np.arange(len(X)), 3)):
        both.iloc[part].to_parquet(folder / f"{number}.parquet", row_group_size=40)
    thirds = [X.iloc[:50], X.iloc[50:51], X.iloc[51:]]
    return {
        "folder": (folder, "y"),
        "path": (str(folder), "y"),
        "data set": (pyarrow.dataset.dataset(folder), "y"),
        "tables": (RowSource.of_tables(thirds), y),
    }


@pytest.fixture
def data():
    return make_frame()


@pytest.fixture(params=["pandas", "polars", "pyarrow", "folder", "path", "data set", "tables"])
def kind(request, data, tmp_path):
    """A table of each kind on this machine, and its target."""
    return (in_memory(*data, tmp_path) | row_sources(*data, tmp_path))[request.param]


def assert_same_codes(found, expected):
    assert found.n_columns == expected.n_columns
    for j in range(expected.n_columns):
        one, two = found.column(j), expected.column(j)
        assert one.arity == two.arity
        np.testing.assert_array_equal(one.codes, two.codes)


def fitted_on(X):
    estimator = BaseEstimator()
    set_features(estimator, X.shape[1], list(X.columns))
    return estimator


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_every_kind_gives_the_codes_of_the_table_in_memory(kind, data, discretizer):
    X, y = data
    opened = open_input(*kind)
    assert (opened.n_rows, opened.n_columns) == X.shape
    assert list(opened.names) == list(X.columns)
    assert opened.row_counts is None
    target = opened.encode_target(TargetOptions())
    np.testing.assert_array_equal(target.column.codes, encode_target(y).column.codes)
    np.testing.assert_array_equal(target.classes, [0, 1])
    encoder, codes = opened.encode(
        target.column, EncodingOptions(discretizer=discretizer, n_bins=5, n_jobs=2)
    )
    assert_same_codes(codes, encode(X, y, discretizer=discretizer, n_bins=5))
    assert encoder.get_params() == {
        "discretizer": discretizer,
        "n_bins": 5,
        "n_jobs": 2,
        "max_levels": "auto",
    }


def test_a_continuous_target_is_cut_alike(kind, data, tmp_path):
    X, _ = data
    y = np.random.default_rng(1).normal(size=len(X))
    source, name = kind
    if isinstance(name, str):
        X.assign(y=y).to_parquet(tmp_path / "0.parquet")
        for number in (1, 2):
            (tmp_path / f"{number}.parquet").unlink()
        given = (tmp_path, name)
    else:
        given = (source, y)
    target = open_input(*given).encode_target(TargetOptions(bins=4))
    expected = encode_target(y, options=TargetOptions(bins=4))
    np.testing.assert_array_equal(target.column.codes, expected.column.codes)
    np.testing.assert_array_equal(target.cuts, expected.cuts)


def test_groups_are_joined_and_codes_are_stored(kind, data, tmp_path):
    X, y = data
    features = resolve_groups({"both": ["a", "word"]}, X.shape[1], list(X.columns))
    expected = features.join(encode(X, **HOW))
    opened = open_input(*kind)
    column = encode_target(y).column
    for _ in range(2):  # made, then read
        encoder, codes = opened.encode(
            column,
            EncodingOptions(**HOW, features=features, n_jobs=1, codes_dir=tmp_path / "codes"),
        )
        assert_same_codes(codes, expected)
        assert encoder.n_jobs == 1
    assert len(list((tmp_path / "codes").iterdir())) == 1


def test_an_opened_table_gives_columns_and_their_codes(kind, data):
    X, y = data
    expected = encode(X, **HOW)
    opened = open_input(*kind)
    encoder, _ = opened.encode(encode_target(y).column, EncodingOptions(**HOW))
    table = open_table(kind[0], fitted_on(X))
    for column, j in zip(table.encode_columns(encoder, [5, 1]), [5, 1], strict=True):
        np.testing.assert_array_equal(column.codes, expected.column(j).codes)
        assert column.index == j
    taken = table.take_columns([0, 4], reject_non_finite=False)
    taken = taken.to_pandas() if hasattr(taken, "to_pandas") else taken
    pd.testing.assert_frame_equal(
        taken.reset_index(drop=True), X[["a", "whole"]], check_dtype=False
    )
    with pytest.raises(InvalidTableError, match=r"contains NaN .* in column 'b'"):
        table.take_columns([1], reject_non_finite=True)


def test_an_opened_table_must_have_the_columns_of_the_fit(kind, data):
    X, _ = data
    with pytest.raises(InvalidTableError, match=r"other|fit"):
        open_table(kind[0], fitted_on(X.assign(other=1)))


def test_the_engine_is_that_of_this_machine(kind, data):
    opened = open_input(*kind)
    target = opened.encode_target(TargetOptions(discretizer="uniform"))
    _, codes = opened.encode(target.column, EncodingOptions(**HOW))
    terms = []
    with open_engine(
        codes, target.column, JMICriterion(), n_jobs=1, on_terms=terms.append
    ) as engine:
        found = forward_search(engine, 3)
    with LocalEngine(encode(data[0], **HOW), target.column, JMICriterion()) as engine:
        assert found.indices.tolist() == forward_search(engine, 3).indices.tolist()
    assert sum(terms) > 0


def test_weights_repeat_rows(data):
    X, y = data
    weights = np.arange(len(X)) % 3
    rows = np.repeat(np.arange(len(X)), weights)
    opened = open_input(X, y, weights)
    np.testing.assert_array_equal(opened.row_counts, weights)
    assert opened.n_rows == weights.sum()
    target = opened.encode_target(TargetOptions(discretizer="uniform"))
    encoder, codes = opened.encode(target.column, EncodingOptions(**HOW))
    expected = encode(X.iloc[rows], **HOW)
    assert_same_codes(codes, expected)
    table = open_table(X, encoder, row_counts=opened.row_counts)
    (column,) = table.encode_columns(encoder, [2])
    np.testing.assert_array_equal(column.codes, expected.column(2).codes)
    # A table of another length has other rows: the weights do not apply to it.
    (column,) = open_table(X[:10], encoder, row_counts=opened.row_counts).encode_columns(
        encoder, [2]
    )
    assert len(column.codes) == 10


def test_errors_name_the_argument(data, tmp_path):
    X, y = data
    sources = row_sources(X, y, tmp_path)
    for folder in (sources["folder"][0], sources["tables"][0]):
        with pytest.raises(InvalidTargetError, match="This JMI estimator requires y to be passed"):
            open_input(folder, None, caller="JMI")
        with pytest.raises(InvalidParameterError, match="sample_weight is for tables in memory"):
            open_input(folder, y, np.ones(len(y)))
    with pytest.raises(InvalidTargetError, match="This hocmim estimator requires y to be passed"):
        open_input(X, None)
    with pytest.raises(InvalidTableError, match="minimum of 2"):
        open_input(X[:1], y[:1])
    with pytest.raises(InvalidTargetError, match="different lengths"):
        open_input(sources["tables"][0], y[:-1])


# --- on a cluster ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(dask_client):
    from hocmim.search.engines.remote import open_cluster

    with open_cluster(dask_client) as opened:
        yield opened


def on_cluster(X, y, folder):
    import dask.dataframe as dd

    frame = dd.from_pandas(X.assign(y=y), npartitions=3)
    return {
        **in_memory(X, y, folder),
        **row_sources(X, y, folder),
        "Dask, a column as target": (frame, "y"),
        "Dask, a series as target": (frame.drop(columns=["y"]), frame["y"]),
        "Dask, values as target": (frame.drop(columns=["y"]), y),
    }


@pytest.mark.slow
@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_every_kind_gives_the_same_codes_on_a_cluster(cluster, data, tmp_path, discretizer):
    X, y = data
    expected = encode(X, y, discretizer=discretizer, n_bins=5)
    with LocalEngine(expected, encode_target(y).column, JMICriterion()) as engine:
        selection = forward_search(engine, 3)
    for name, given in on_cluster(X, y, tmp_path).items():
        opened = open_input(*given, cluster=cluster)
        assert opened.n_columns == X.shape[1], name
        assert opened.n_rows in (None, len(X)), name
        assert list(opened.names) == list(X.columns), name
        assert opened.row_counts is None, name
        target = opened.encode_target(TargetOptions())
        np.testing.assert_array_equal(target.column.codes, encode_target(y).column.codes)
        _, codes = opened.encode(
            target.column, EncodingOptions(discretizer=discretizer, n_bins=5, n_jobs=1)
        )
        assert_same_codes(codes, expected)
        with open_engine(codes, target.column, JMICriterion(), cluster=cluster) as engine:
            assert forward_search(engine, 3).scores.tolist() == selection.scores.tolist(), name


def test_codes_on_workers_are_neither_stored_nor_joined(cluster, data, tmp_path):
    X, y = data
    features = resolve_groups([["a", "b"]], X.shape[1], list(X.columns))
    kinds = on_cluster(X, y, tmp_path)
    for name in ("folder", "Dask, a column as target"):
        opened = open_input(*kinds[name], cluster=cluster)
        column = encode_target(y).column
        with pytest.raises(InvalidParameterError, match="codes_dir is for codes on this machine"):
            opened.encode(column, EncodingOptions(**HOW, codes_dir=tmp_path / "codes"))
        with pytest.raises(InvalidParameterError, match="feature_groups is for codes on this"):
            opened.encode(column, EncodingOptions(**HOW, features=features))


def test_errors_of_a_collection(cluster, data, tmp_path):
    frame, _ = on_cluster(*data, tmp_path)["Dask, a column as target"]
    with pytest.raises(InvalidTargetError, match="requires y to be passed"):
        open_input(frame, None, cluster=cluster)
    with pytest.raises(InvalidParameterError, match="sample_weight is for tables in memory"):
        open_input(frame, "y", np.ones(300), cluster=cluster)
    with pytest.raises(InvalidTableError, match="engine='dask'"):
        open_input(frame, "y")


# --- how often a table is read --------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch):
    """Columns of tables in memory that were read, one element for each time."""
    found = []
    for kind in (ArrayTable, FrameTable):

        def read(self, span, kind=kind, read=kind.read):
            found.extend(range(span.start, span.stop))
            return read(self, span)

        monkeypatch.setattr(kind, "read", read)
    return found


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_a_table_in_memory_is_read_once(data, reads, discretizer):
    opened = open_input(*data)
    assert reads == []
    target = opened.encode_target(TargetOptions())
    opened.encode(target.column, EncodingOptions(discretizer=discretizer, n_bins=5))
    assert sorted(reads) == list(range(data[0].shape[1]))


def test_a_table_with_stored_codes_is_read_once(data, reads, tmp_path):
    columns = list(range(data[0].shape[1]))
    for n_reads in (3, 1):  # the first run makes a digest and encodes, the second makes a digest
        reads.clear()
        opened = open_input(*data)
        opened.encode(encode_target(data[1]).column, EncodingOptions(**HOW, codes_dir=tmp_path))
        assert sorted(reads) == sorted(n_reads * columns)


def test_the_tables_of_a_source_are_not_read_before_they_are_encoded(data, reads):
    X, y = data
    opened = open_input(RowSource.of_tables([X[:100], X[100:]]), y)
    assert reads == []
    opened.encode(encode_target(y).column, EncodingOptions(**HOW))
    assert sorted(reads) == sorted(2 * 2 * list(range(X.shape[1])))

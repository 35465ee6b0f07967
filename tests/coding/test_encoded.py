"""encode_table: every kind of table gives the same codes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from sklearn.base import BaseEstimator, clone

import warned
from coded import encode
from hocmim.coding.encoded import (
    encode_table,
    find_identifiers,
    open_features,
    read_columns,
    take_columns,
    time_kinds,
)
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import resolve_groups
from hocmim.coding.target import Target, encode_target
from hocmim.criteria.beta_gamma import JMICriterion
from hocmim.data.checks import set_features
from hocmim.data.table import ArrayTable, FrameTable
from hocmim.errors import (
    HocmimWarning,
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
)
from hocmim.search.engines.local import LocalEngine
from hocmim.search.loop import forward_search
from hocmim.search.search import open_engine
from row_tables import source_of

pytestmark = pytest.mark.filterwarnings(warned.GUESSED)

HOW = {"discretizer": "uniform", "n_bins": 5}
UNIFORM = Encoder(5, discretizer="uniform")
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
        "pandas, a name as target": (X.assign(y=y), "y"),
        "polars, a name as target": (pl.from_pandas(X.assign(y=y)), "y"),
        "pyarrow, a name as target": (pa.Table.from_pandas(X.assign(y=y)), "y"),
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
        "tables": (source_of(*thirds), y),
    }


@pytest.fixture
def data():
    return make_frame()


KINDS = ["pandas", "polars", "pyarrow", "pandas, a name as target", "polars, a name as target"]
KINDS += ["pyarrow, a name as target", "folder", "path", "data set", "tables"]


@pytest.fixture(params=KINDS)
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
def test_every_kind_gives_the_codes_of_the_table_in_memory(kind, data, discretizer):
    X, y = data
    encoder = Encoder(4, discretizer=discretizer, identifiers="keep")
    found = encode_table(*kind, encoder=encoder, n_jobs=2)
    np.testing.assert_array_equal(found.target.column.codes, encode_target(y).column.codes)
    np.testing.assert_array_equal(found.target.classes, [0, 1])
    assert found.target.kind == "classes"
    assert_same_codes(found.codes, encode(X, y, discretizer=discretizer, n_bins=4))
    assert found.encoder.get_params() == encoder.get_params()
    assert found.encoder.feature_names_in_.tolist() == list(X.columns)
    assert not hasattr(encoder, "columns_")
    assert list(found.features.column_names) == list(X.columns)
    assert found.n_samples == len(X)
    assert (found.row_counts, found.row_groups, found.time_kinds) == (None, None, {})
    assert found.identifiers.tolist() == []


def test_a_continuous_target_is_cut_alike(kind, data, tmp_path):
    X, _ = data
    y = np.random.default_rng(1).normal(size=len(X))
    source, name = kind
    if isinstance(name, str):
        X.assign(y=y).to_parquet(tmp_path / "0.parquet")
        for number in (1, 2):
            (tmp_path / f"{number}.parquet").unlink(missing_ok=True)
        given = (tmp_path, name)
    else:
        given = (source, y)
    target = encode_table(*given, target=Target(bins=4)).target
    expected = encode_target(y, target=Target(bins=4))
    np.testing.assert_array_equal(target.column.codes, expected.column.codes)
    np.testing.assert_array_equal(target.cuts, expected.cuts)
    np.testing.assert_array_equal(target.values, y)


def test_groups_are_joined_and_codes_are_stored(kind, data, tmp_path_factory):
    X, _ = data
    codes_dir = tmp_path_factory.mktemp("codes")
    both = {"both": ["a", "word"]}
    features = resolve_groups(both, X.shape[1], list(X.columns))
    expected = features.join(encode(X, **HOW))
    for identifiers in ("drop", "keep"):  # made, then read
        encoder = Encoder(5, discretizer="uniform", identifiers=identifiers)
        how = {"feature_groups": both, "codes_dir": codes_dir, "n_jobs": 1}
        found = encode_table(*kind, encoder=encoder, **how)
        assert_same_codes(found.codes, expected)
        assert found.encoder.identifiers == identifiers
        assert found.features.groups == features.groups
        assert found.if_small().codes.narrow is not None
    assert len(list(codes_dir.iterdir())) == 1


def test_columns_of_another_table_and_their_codes(kind, data):
    X, _ = data
    expected = encode(X, **HOW)
    encoder, table, fitted = encode_table(*kind, encoder=UNIFORM).encoder, kind[0], fitted_on(X)
    for column, j in zip(read_columns(table, fitted, encoder, [5, 1]), [5, 1], strict=True):
        np.testing.assert_array_equal(column.codes, expected.column(j).codes)
        assert column.index == j
    taken = take_columns(table, fitted, [0, 4])
    taken = taken.to_pandas() if hasattr(taken, "to_pandas") else taken
    pd.testing.assert_frame_equal(
        taken.reset_index(drop=True), X[["a", "whole"]], check_dtype=False
    )
    with pytest.raises(InvalidTableError, match=r"contains NaN .* in column 'b'"):
        take_columns(table, fitted, [1], reject_non_finite=True)


def test_another_table_must_have_the_columns_of_the_fit(kind, data):
    X, _ = data
    with pytest.raises(InvalidTableError, match=r"other|fit"):
        open_features(kind[0], fitted_on(X.assign(other=1)))


def test_times_are_found(data, tmp_path):
    X, y = data
    X["day"] = pd.Timestamp("2024-02-01") + pd.to_timedelta(np.arange(len(X)) % 40, unit="D")
    X.assign(y=y).to_parquet(tmp_path / "t.parquet")
    for table, target in ((X, y), (tmp_path / "t.parquet", "y")):
        assert encode_table(table, target).time_kinds == {6: "date"}
        assert time_kinds(table, fitted_on(X), [0, 6]) == {6: "date"}


def test_weights_repeat_rows(data):
    X, y = data
    weights = np.arange(len(X)) % 3
    rows = np.repeat(np.arange(len(X)), weights)
    groups = np.arange(len(X)) // 7
    for given in ((X, y), (X.assign(y=y), "y")):
        found = encode_table(*given, encoder=UNIFORM, sample_weight=weights, groups=groups)
        np.testing.assert_array_equal(found.row_counts, weights)
        np.testing.assert_array_equal(found.row_groups, groups[rows])
        assert found.n_samples == weights.sum()
        expected = encode(X.iloc[rows], **HOW)
        assert_same_codes(found.codes, expected)
    encoder = found.encoder
    (column,) = read_columns(X, encoder, encoder, [2], found.row_counts)
    np.testing.assert_array_equal(column.codes, expected.column(2).codes)
    # A table of another length has other rows: the weights do not apply to it.
    (column,) = read_columns(X[:10], encoder, encoder, [2], found.row_counts)
    assert len(column.codes) == 10


def test_y_of_a_row_without_weight_may_be_missing(data):
    X, y = data
    weights = np.ones(len(X))
    weights[3] = 0
    holes = y.astype(float)
    holes[3] = np.nan
    found = encode_table(X, holes, sample_weight=weights)
    np.testing.assert_array_equal(found.target.column.codes, np.delete(y, 3))


def test_several_targets_by_name(data, tmp_path):
    X, y = data
    both = X.assign(y=y, z=np.arange(len(X)) % 3)
    both.to_parquet(tmp_path / "t.parquet")
    expected = encode_target(both[["z", "y"]])
    for table in (both, pl.from_pandas(both), tmp_path / "t.parquet"):
        found = encode_table(table, ["z", "y"])
        assert list(found.features.column_names) == list(X.columns)
        np.testing.assert_array_equal(found.target.column.codes, expected.column.codes)
        assert found.target.strategy == "joint"


def test_a_list_of_classes_is_no_list_of_names():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]})
    assert encode_table(X, ["x", "y", "x", "y"]).target.classes.tolist() == ["x", "y"]
    with pytest.raises(InvalidTargetError, match=r"y is 'labell', but X has no column .*'label'"):
        encode_table(X.assign(label=[0, 1, 0, 1]), "labell")


def test_identifiers_are_found_or_decided(data):
    X, y = data
    X["number"] = np.arange(len(X))
    assert find_identifiers(X).tolist() == [6]
    assert encode_table(X, y).identifiers.tolist() == [6]
    assert encode_table(X, y, identifiers=np.array([1, 2])).identifiers.tolist() == [1, 2]
    assert encode_table(X, y, feature_groups=[["a", "number"]]).identifiers.tolist() == []


def test_features_are_known_before_a_value_is_read(data, reads):
    X, y = data

    def stop(features):
        assert list(features.column_names) == list(X.columns)
        assert reads == []
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_table(X, y, on_features=stop)
    assert reads == []


def test_what_fit_guesses_is_said(data):
    X, y = data
    with pytest.warns(HocmimWarning, match=r"Pass target='quantity' to confirm this, or .*classes"):
        encode_table(X, np.arange(len(X)) * 3)
    with pytest.warns(HocmimWarning, match="mean over the targets is used"):
        found = encode_table(X, np.column_stack([y, np.arange(len(X)) % 100, y]))
    assert found.target.strategy == "mean"
    assert len(found.target.each) == 3


@pytest.mark.filterwarnings("ignore::hocmim.errors.HocmimWarning")
def test_the_class_cannot_cut_for_several_targets(data):
    X, y = data
    several = np.column_stack([y, 1 - y])
    with pytest.raises(InvalidParameterError, match="cuts the columns by one target"):
        encode_table(
            X, several, encoder=Encoder(discretizer="mdlp"), target=Target(strategy="mean")
        )


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: Target("class"),
            "kind must be one of 'auto', 'classes'",
        ),
        (lambda: Target(bins=1), "bins must be an int in the range"),
        (lambda: Target(discretizer="mdlp"), "discretizer must be one of"),
        (lambda: Target(strategy="median"), "strategy must be one of"),
        (lambda: Target.of("class"), "target must be None, 'classes', 'quantity', or a Target"),
        (lambda: Encoder(1).fit([[1]]), "n_bins must be an int"),
        (lambda: Encoder(max_levels=1).fit([[1]]), "max_levels must be an int"),
        (lambda: Encoder(identifiers="no").fit([[1]]), "identifiers must be one of"),
        (lambda: Encoder(discretizer="kendall").fit([[1]]), "discretizer must be one of"),
    ],
)
def test_parameters_are_checked(make, match):
    with pytest.raises(InvalidParameterError, match=match):
        make()


def test_a_target_can_be_cloned_and_shown():
    target = Target("quantity", bins=5)
    assert clone(target, safe=False) == target
    assert repr(target) == (
        "Target(kind='quantity', bins=5, discretizer='quantile', strategy='joint')"
    )
    assert Target.of("classes") == Target("classes")
    assert Target.of(None) == Target()


def test_errors_name_the_argument(data, tmp_path):
    X, y = data
    sources = row_sources(X, y, tmp_path)
    for folder in (sources["folder"][0], sources["tables"][0]):
        with pytest.raises(InvalidTargetError, match="This JMI estimator requires y to be passed"):
            encode_table(folder, None, caller="JMI")
        with pytest.raises(InvalidParameterError, match="sample_weight is for tables in memory"):
            encode_table(folder, y, sample_weight=np.ones(len(y)))
    with pytest.raises(InvalidTargetError, match="This hocmim estimator requires y to be passed"):
        encode_table(X, None)
    with pytest.raises(InvalidTableError, match="minimum of 2"):
        encode_table(X[:1], y[:1])
    with pytest.raises(InvalidTargetError, match="different lengths"):
        encode_table(sources["tables"][0], y[:-1])


# --- on a cluster ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(dask_client):
    from hocmim.search.search import open_cluster

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
    expected = encode(X, y, discretizer=discretizer)
    with LocalEngine(expected, encode_target(y).column, JMICriterion()) as engine:
        selection = forward_search(engine, 3)
    encoder = Encoder(discretizer=discretizer)
    for name, given in on_cluster(X, y, tmp_path).items():
        found = encode_table(*given, encoder=encoder, cluster=cluster, n_jobs=1)
        assert list(found.features.column_names) == list(X.columns), name
        target = found.target.column
        np.testing.assert_array_equal(target.codes, encode_target(y).column.codes)
        assert_same_codes(found.codes, expected)
        with open_engine(found.codes, target, JMICriterion(), cluster=cluster) as engine:
            assert forward_search(engine, 3).scores.tolist() == selection.scores.tolist(), name
        is_remote = name.startswith("Dask") or name in ("folder", "path", "data set")
        assert (found.if_small() is None) == is_remote, name


def test_codes_on_workers_are_neither_stored_nor_joined(cluster, data, tmp_path):
    kinds = on_cluster(*data, tmp_path)
    for name in ("folder", "Dask, a column as target"):
        with pytest.raises(InvalidParameterError, match="codes_dir is for codes on this machine"):
            encode_table(*kinds[name], cluster=cluster, codes_dir=tmp_path / "codes")
        with pytest.raises(InvalidParameterError, match="feature_groups is for codes on this"):
            encode_table(*kinds[name], cluster=cluster, feature_groups=[["a", "b"]])


def test_errors_of_a_collection(cluster, data, tmp_path):
    frame, _ = on_cluster(*data, tmp_path)["Dask, a column as target"]
    with pytest.raises(InvalidTargetError, match="requires y to be passed"):
        encode_table(frame, None, cluster=cluster)
    with pytest.raises(InvalidParameterError, match="sample_weight is for tables in memory"):
        encode_table(frame, "y", sample_weight=np.ones(300), cluster=cluster)
    with pytest.raises(InvalidTableError, match="engine='dask'"):
        encode_table(frame, "y")
    with pytest.raises(InvalidParameterError, match="groups needs a table whose rows are in order"):
        encode_table(frame, "y", groups=np.arange(300), cluster=cluster)


# --- how often a table is read --------------------------------------------------------------------


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_a_table_in_memory_is_read_once(data, reads, discretizer):
    encode_table(*data, encoder=Encoder(discretizer=discretizer))
    assert sorted(reads) == list(range(data[0].shape[1]))


def test_a_table_with_stored_codes_is_read_once(data, reads, tmp_path):
    columns = list(range(data[0].shape[1]))
    for n_reads in (3, 1):  # the first run makes a digest and encodes, the second makes a digest
        reads.clear()
        encode_table(*data, codes_dir=tmp_path)
        assert sorted(reads) == sorted(n_reads * columns)


def test_the_tables_of_a_source_are_read_twice(data, reads):
    X, y = data
    encode_table(source_of(X[:100], X[100:]), y, encoder=UNIFORM)
    assert sorted(reads) == sorted(2 * 2 * list(range(X.shape[1])))

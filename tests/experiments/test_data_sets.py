"""Loaders, the paper's folder, and the public originals by a fake fetcher."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from made_up import make_arrays

from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.experiments.datasets import (
    ELSEWHERE,
    OPENML,
    DataSource,
    fetch_published,
    find_published,
    make_data_set,
    save,
)
from hocmim.experiments.published import PublishedSet, published_sets, published_table


def by_name(name):
    return next(entry for entry in published_sets() if entry.name == name)


# -- the published values --------------------------------------------------------------------------


def test_published_sets():
    sets = published_sets()
    assert len(sets) == 20
    assert sum(not entry.is_high_dimensional for entry in sets) == 15
    assert by_name("ujiindoor") == PublishedSet("ujiindoor", "ujiIndoor", 21048, 520, 3)


@pytest.mark.parametrize("classifier", ["knn", "svm"])
@pytest.mark.parametrize(("comparison", "shape"), [("low", (15, 11)), ("high", (5, 6))])
def test_published_tables(classifier, comparison, shape):
    table = published_table(classifier, comparison)
    assert (len(table.errors), len(table.methods)) == shape
    for name, ranks in table.ranks.items():
        assert sorted(ranks.values()) == list(range(1, shape[1] + 1))
        best = min(ranks, key=ranks.get)
        assert table.errors[name][best] == min(table.errors[name].values())


def test_published_average_ranks():
    assert published_table("knn", "low").average_ranks["HOCMIM"] == 2.88
    assert published_table("svm", "filters").average_ranks["HOCMIM"] == 2.2
    assert "penglung" not in published_table("knn", "filters").errors
    misprints = published_table("svm", "high").misprints
    knn, svm = published_table("knn", "high"), published_table("svm", "high")
    assert all(knn.errors[name] == svm.errors[name] for name in misprints)


# -- files -----------------------------------------------------------------------------------------


def test_npz_csv_and_parquet_hold_the_same(tmp_path):
    X, y = make_arrays(missing=0.1)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(label=np.array(["no", "yes"])[y])
    frame.to_csv(tmp_path / "set.csv", index=False)
    frame.to_parquet(tmp_path / "set.parquet")
    save(make_data_set("set", X, y), tmp_path)
    loaded = [DataSource("set", tmp_path / f"set.{suffix}").load() for suffix in ("npz", "csv")]
    loaded.append(DataSource("set", tmp_path / "set.parquet", "label").load())
    for data in loaded:
        assert np.array_equal(data.X, X, equal_nan=True)
        assert data.y.tolist() == y.tolist()
        assert data.has_missing
        assert (data.n_samples, data.n_features, data.n_classes) == (40, 6, 2)
    assert len({data.fingerprint for data in loaded}) == 1
    assert loaded[1].classes.tolist() == ["no", "yes"]


def test_categories_of_a_csv(tmp_path):
    path = tmp_path / "set.csv"
    path.write_text("colour,size,y\nred,1,a\nblue,2,b\n,3,a\nred,4,b\n")
    data = DataSource("set", path).load()
    assert data.is_categorical.tolist() == [True, False]
    assert data.has_missing
    numbers = data.numbers(np.arange(4), np.array([0]))
    assert np.array_equal(numbers[:, 0], [1, 0, np.nan, 1], equal_nan=True)
    assert data.rows(np.array([3, 0])).column("size").to_pylist() == [4, 1]


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        ("a,y\n1,0\n2,1\n3,0\n4,1\n", "klass", "no column 'klass'"),
        ("a,y\n1,0\n2,\n3,0\n4,1\n", None, "missing values"),
        ("a,y\n1,0.1\n2,0.2\n3,0.3\n4,0.4\n", None, "must be classes"),
        ("a,y\n1,0\n2,0\n3,0\n4,0\n", None, "must be classes"),
    ],
)
def test_bad_csv(tmp_path, text, target, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises((InvalidParameterError, InvalidTargetError), match=message):
        DataSource("bad", path, target).load()


def test_bad_files(tmp_path):
    np.savez(tmp_path / "no_y.npz", X=np.ones((4, 2)))
    with pytest.raises(InvalidTableError, match="needs X"):
        DataSource("no_y", tmp_path / "no_y.npz").load()
    with pytest.raises(InvalidParameterError, match="does not exist"):
        DataSource("gone", tmp_path / "gone.csv").load()
    (tmp_path / "set.xls").write_text("")
    with pytest.raises(InvalidParameterError, match="Convert it"):
        DataSource("set", tmp_path / "set.xls").load()


def test_find_published(tmp_path):
    wanted = [PublishedSet(name, name, 40, 6, 2) for name in ("here", "other", "gone")]
    save(make_data_set("here", *make_arrays()), tmp_path)
    save(make_data_set("other", *make_arrays(D=5)), tmp_path)
    found = find_published(tmp_path, wanted)
    assert list(found.sources) == ["here"]
    assert "(40, 5, 2)" in found.missing["other"]
    assert "gone.csv" in found.missing["gone"]
    with pytest.raises(InvalidParameterError, match="does not exist"):
        find_published(tmp_path / "nowhere", wanted)


def test_the_data_folder_has_18_sets(published_data):
    found = find_published(published_data, published_sets())
    assert len(found.sources) == 18
    assert set(found.missing) == {"gisette", "gli-85"}


# -- the public originals --------------------------------------------------------------------------


def fake_fetcher(n, D, C, gaps=0):
    """What fetch_openml returns for a set of this size, the last rows with a gap each."""

    def fetch(*, data_id, as_frame):
        assert as_frame
        fetch.data_id = data_id
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, D))
        X[n - gaps :, 0] = np.nan
        target = pd.Series([f"class {i % C}" for i in range(n)], dtype="category")
        return SimpleNamespace(data=pd.DataFrame(X), target=target)

    return fetch


@pytest.mark.parametrize(
    ("name", "size"),
    [("sonar", (208, 60, 2)), ("ionosphere", (351, 34, 2)), ("dermatology", (366, 34, 6, 8))],
)
def test_fetching_gives_the_papers_size(name, size):
    fetch = fake_fetcher(*size)
    entry = by_name(name)
    data = fetch_published(entry, fetch)
    assert fetch.data_id == OPENML[name].data_id
    assert (data.n_samples, data.n_features, data.n_classes) == (
        entry.n_samples,
        entry.n_features,
        entry.n_classes,
    )


def test_another_size_is_refused():
    with pytest.raises(InvalidTableError, match=r"not the sonar of the paper.*\(208, 61, 2\)"):
        fetch_published(by_name("sonar"), fake_fetcher(208, 61, 2))


def test_every_set_is_somewhere():
    names = {entry.name for entry in published_sets()}
    assert set(OPENML) | set(ELSEWHERE) == names
    assert not set(OPENML) & set(ELSEWHERE)
    with pytest.raises(InvalidParameterError, match=r"pcmac is not on OpenML.*PCMAC\.mat"):
        fetch_published(by_name("pcmac"))

"""Clusters of columns: a naive twin, what is promised, and how they are used."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_mutual_info_score as ami

import hocmim
from hocmim import Encoder, cluster_columns, errors
from hocmim.insight import clusters as module


def table(seed=0, n=200, n_groups=8, size=4, noise=0.12):
    """Groups of columns that are nearly copies; y depends on the first two groups."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, n_groups))
    X = np.repeat(base, size, axis=1) + noise * rng.normal(size=(n, n_groups * size))
    y = (base[:, 0] + base[:, 1] > 0).astype(int)
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), y


def naive_distances(X):
    codes = np.column_stack([pd.qcut(X[name], 5, labels=False) for name in X])
    D = codes.shape[1]
    share = [
        [ami(codes[:, i], codes[:, j], average_method="max") for j in range(D)] for i in range(D)
    ]
    return 1 - np.clip(share, 0, 1)


def naive_leaders(distance, limit, order):
    """Each column joins the nearest leader before it, or becomes one."""
    leaders, leader_of = [], {}
    for j in order:
        near = [(round(distance[j, other], 12), place) for place, other in enumerate(leaders)]
        if near and min(near)[0] <= limit:
            leader_of[j] = leaders[min(near)[1]]
        else:
            leaders.append(j)
            leader_of[j] = j
    return leader_of


@pytest.mark.parametrize("most", [4000, 10])
def test_groups_of_near_copies_are_found(monkeypatch, most):
    monkeypatch.setattr(module, "MAX_LINKED", most)
    X, y = table()
    found = cluster_columns(X, y)
    assert found.method == ("average" if most == 4000 else "leader")
    assert found.labels.tolist() == np.repeat(np.arange(8), 4).tolist()
    assert found.sizes.tolist() == [4] * 8
    assert sorted([*found.representatives.tolist(), *found.others.tolist()]) == list(range(32))


@pytest.mark.parametrize("noise", [0.3, 0.5])
@pytest.mark.parametrize("batch", [5, 2048])
def test_leaders_against_the_naive_twin(monkeypatch, noise, batch):
    monkeypatch.setattr(module, "BATCH_COLUMNS", batch)
    monkeypatch.setattr(module, "MAX_LINKED", 10)
    X, _ = table(noise=noise)
    distance = naive_distances(X)
    found = cluster_columns(X, max_distance=0.7, n_jobs=2)
    naive = naive_leaders(distance, 0.7, range(32))
    assert found.representatives[found.labels].tolist() == [naive[j] for j in range(32)]
    # What is promised.
    apart = distance[np.ix_(found.representatives, found.representatives)]
    assert (apart[~np.eye(len(found), dtype=bool)] > 0.7).all()
    assert (found.distance <= 0.7 + 1e-12).all()
    to_own = distance[np.arange(32), found.representatives[found.labels]]
    assert np.allclose(found.distance, np.where(to_own < 1e-9, 0, to_own), atol=1e-8)


def test_average_linkage_keeps_the_mean_distance():
    X, y = table(noise=0.4)
    found = cluster_columns(X, y, max_distance=0.65)
    distance = naive_distances(X)
    assert (found.sizes > 1).any()
    for cluster in np.flatnonzero(found.sizes > 1):
        members = np.flatnonzero(found.labels == cluster)
        inside = distance[np.ix_(members, members)][np.triu_indices(len(members), 1)]
        assert inside.mean() <= 0.65 + 1e-9


def test_the_most_relevant_column_represents_a_cluster():
    X, y = table(noise=0.15)
    found = cluster_columns(X, y)
    relevance = hocmim.JMI(1, estimator="miller_madow").fit(X, y).relevance_
    for cluster, best in enumerate(found.representatives.tolist()):
        members = np.flatnonzero(found.labels == cluster)
        assert relevance[best] == relevance[members].max()
        assert found.members(cluster)[0] == best


def test_large_tables_have_a_sample_of_the_rows(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 150)
    X, y = table()
    seen = []
    found = cluster_columns(X, y, progress=seen.append)
    assert found.n_rows == 150
    assert seen
    assert np.array_equal(found.labels, cluster_columns(X, y).labels)


def test_the_encoder_of_a_selector():
    X, y = table()
    encoder = Encoder(n_bins=3)
    found = cluster_columns(X, y, encoder=encoder)
    fitted = hocmim.JMI(2, encoder=Encoder(n_bins=3)).fit(X, y).encoder_
    assert np.array_equal(cluster_columns(X, y, encoder=fitted).distance, found.distance)
    assert not np.array_equal(cluster_columns(X, y).distance, found.distance)


def test_in_words():
    X, y = table(size=2)
    X = X.rename(columns={"c1": "<b>"})
    found = cluster_columns(X, y)
    assert str(found).startswith("16 columns in 8 clusters; 0 of them have one column only.")
    assert "'<b>'" in str(found) or "<b>:" in str(found)


def test_wrong_values():
    X, y = table()
    with pytest.raises(errors.InvalidParameterError, match="max_distance must be"):
        cluster_columns(X, y, max_distance=2)


def test_a_callback_that_raises_stops_it():
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cluster_columns(table()[0], progress=stop)


def test_modules_of_genes_are_found_in_few_rows():
    rng = np.random.default_rng(0)
    n_modules, size, r = 20, 6, 0.85
    genes = rng.normal(size=(63, 1000))
    for place in range(n_modules):
        columns = slice(place * size, (place + 1) * size)
        common = rng.normal(size=(63, 1))
        genes[:, columns] = np.sqrt(r) * common + np.sqrt(1 - r) * genes[:, columns]
    found = cluster_columns(np.exp(genes), n_jobs=2)
    is_clustered = found.sizes[found.labels] > 1
    assert is_clustered[: n_modules * size].mean() > 0.85
    assert is_clustered[n_modules * size :].mean() == 0
    for cluster in np.flatnonzero(found.sizes > 1):  # no two modules are joined
        assert len({j // size for j in found.members(cluster).tolist()}) == 1

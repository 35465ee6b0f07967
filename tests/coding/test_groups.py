"""Groups of columns as one feature: the same as a table in which each group is one column."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import hocmim
import naive
from coded import encode
from hocmim.coding import groups as module
from hocmim.coding.codes import Codes, Column
from hocmim.coding.groups import Features, Group, join_columns, join_groups, resolve_groups
from hocmim.errors import HocmimWarning, InvalidParameterError, InvalidTableError
from hocmim.information.estimators import ESTIMATORS
from hocmim.selectors.base import InformationSelector
from hocmim.selectors.registry import METHODS

BY_INFORMATION = [name for name, kind in METHODS.items() if issubclass(kind, InformationSelector)]
NAMES = ["age", "colour", "size", "shape", "weight"]


def categorical_table(n=120, seed=0):
    """Five columns of few levels, all related to y, and the levels of two of them one-hot coded.

    Returns the table, y, the table with colour and shape as one-hot columns in their places, and
    the groups of these.
    """
    rng = np.random.default_rng(seed)
    hidden = rng.integers(3, size=(n, 3))
    y = (hidden[:, 0] + hidden[:, 1] * hidden[:, 2] > 2).astype(int)
    table = np.column_stack(
        [
            np.where(rng.random(n) < 0.3, rng.integers(5, size=n), hidden[:, j % 3] + j % 2)
            for j in range(5)
        ]
    )
    frame = pd.DataFrame(table, columns=NAMES)
    wide, groups = frame.copy(), {}
    for name in ("colour", "shape"):
        dummies = pd.get_dummies(frame[name], prefix=name)
        place = wide.columns.get_loc(name)
        wide = pd.concat([wide.iloc[:, :place], dummies, wide.iloc[:, place + 1 :]], axis=1)
        groups[f"{name} group"] = dummies.columns.tolist()
    return frame, y, wide, groups


def columns_of(wide, groups):
    """The columns of each of the five features, as indices."""
    by_name = {name.split()[0]: wide.columns.get_indexer(c).tolist() for name, c in groups.items()}
    return [by_name.get(name) or [wide.columns.get_loc(name)] for name in NAMES]


# -- one-hot columns are the column they were made from --------------------------------------------


@pytest.mark.parametrize("name", BY_INFORMATION)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_one_hot_columns_are_the_categories(name, estimator):
    frame, y, wide, groups = categorical_table()
    parameters = {"n_features_to_select": 5, "estimator": estimator}
    found = hocmim.make_selector(name, feature_groups=groups, **parameters).fit(wide, y)
    expected = hocmim.make_selector(name, **parameters).fit(frame, y)
    columns = columns_of(wide, groups)
    order = expected.selected_.tolist()
    assert found.selected_.tolist() == [j for k in order for j in columns[k]]
    sizes = [len(columns[k]) for k in order]
    assert found.scores_.tolist() == np.repeat(expected.scores_, sizes).tolist()
    for k, members in enumerate(columns):
        assert set(found.relevance_[members]) == {expected.relevance_[k]}
        assert set(found.ranking_[members]) == {expected.ranking_[k]}
    np.testing.assert_array_equal(found.redundancy_matrix(), expected.redundancy_matrix())
    for column in ("step", "place", "score", "relevance", "order"):
        assert found.trace_[column].tolist() == expected.trace_[column].tolist()
    assert [n.split()[0] for n in found.trace_["name"]] == expected.trace_["name"].tolist()
    assert found.trace_["candidate"].tolist() == [
        columns[k][0] for k in expected.trace_["candidate"]
    ]
    for k in range(5):
        one, other = found.explain(columns[k][-1], wide), expected.explain(k, frame)
        assert one.index == columns[k][0]
        assert [s.score for s in one.steps] == [s.score for s in other.steps]
        assert list(one.redundancy.values()) == list(other.redundancy.values())
    if name == "HOCMIM":
        assert found.orders_.tolist() == np.repeat(expected.orders_, sizes).tolist()
        sets = [
            [j for k in z for j in columns[k]]
            for z, size in zip(expected.representative_sets_, sizes, strict=True)
            for _ in range(size)
        ]
        assert [z.tolist() for z in found.representative_sets_] == sets
        taken = found.trace_["representative_set"][found.trace_["place"] == 1]
        assert [list(z) for z in taken] == [sets[at] for at in np.cumsum(sizes) - 1]


def test_the_code_of_one_hot_columns_is_that_of_the_categories():
    rng = np.random.default_rng(1)
    values = rng.choice(["a", "b", "c", "d"], size=(50, 1))
    for drop in (None, "first"):
        dummies = OneHotEncoder(drop=drop, sparse_output=False).fit_transform(values)
        joined = join_groups(encode(dummies), [Group("all", tuple(range(dummies.shape[1])))])
        np.testing.assert_array_equal(joined.narrow, encode(values).narrow)
        assert joined.arity.tolist() == [4]


@pytest.mark.parametrize("stop", ["chi2", "permutation"])
def test_where_selection_ends(stop):
    frame, y, wide, groups = categorical_table(n=200, seed=5)
    rng = np.random.default_rng(1)
    frame["shape"] = rng.integers(3, size=200)  # noise, as are the columns made of it
    wide[groups["shape group"]] = 0
    wide[groups["shape group"][:3]] = np.eye(3, dtype=int)[frame["shape"]]
    test = hocmim.StopTest(test=stop, n_permutations=99)
    found = hocmim.HOCMIM(test, feature_groups=groups).fit(wide, y)
    expected = hocmim.HOCMIM(test).fit(frame, y)
    columns = columns_of(wide, groups)
    sizes = [len(columns[k]) for k in expected.selected_]
    assert 0 < len(sizes) < 5
    assert found.p_values_.tolist() == np.repeat(expected.p_values_, sizes).tolist()
    assert found.stopping_.index == columns[expected.stopping_.index][0]
    assert found.stopping_.p_value == expected.stopping_.p_value
    given = [j for k in expected.stopping_.given for j in columns[k]]
    assert found.stopping_.given.tolist() == given
    ended = found.explain(found.stopping_.index, wide)
    assert "so the selection stopped" in ended.reason
    assert ended.steps[-1].best == ended.feature


# -- the naive twin --------------------------------------------------------------------------------


def naive_joint(columns):
    """Columns as one: the number of each combination among those that occur, last column first."""
    combinations = [tuple(reversed(row)) for row in zip(*columns, strict=True)]
    occurring = sorted(set(combinations))
    return tuple(occurring.index(combination) for combination in combinations)


@pytest.mark.parametrize("name", ["CMIM", "JMI", "MRMR", "DISR", "HOCMIM"])
def test_groups_of_random_tables(name):
    rng = np.random.default_rng(7)
    for X, y in naive.random_tables(11, 20, n=(12, 30), D=7, levels=4):
        order = rng.permutation(7).tolist()
        groups = [order[:3], order[3:5]]
        first = sorted([min(groups[0]), min(groups[1]), *order[5:]])
        features = [next((sorted(g) for g in groups if j in g), [j]) for j in first]
        columns = naive.columns(X)
        joined = tuple(naive_joint([columns[j] for j in feature]) for feature in features)
        target = tuple(y.tolist())
        if name == "HOCMIM":
            selected, scores, sets, orders = naive.hocmim(joined, target, 4, estimator="plugin")
        else:
            selected, scores = naive.select(name, joined, target, 4, "plugin")
        kind = getattr(hocmim, name)
        encoder = hocmim.Encoder(100)
        found = kind(4, estimator="plugin", encoder=encoder, feature_groups=groups).fit(X, y)
        assert found.selected_.tolist() == [j for k in selected for j in features[k]]
        sizes = [len(features[k]) for k in selected]
        np.testing.assert_allclose(found.scores_, np.repeat(scores, sizes), rtol=0, atol=1e-9)
        if name == "HOCMIM":
            assert found.orders_.tolist() == np.repeat(orders, sizes).tolist()
            at_first = np.cumsum(sizes) - sizes
            assert [found.representative_sets_[at].tolist() for at in at_first] == [
                [j for k in Z for j in features[k]] for Z in sets
            ]


@pytest.mark.parametrize("most_cells", [1, 1 << 22])
def test_joining_columns(most_cells, monkeypatch):
    monkeypatch.setattr(module, "TABLE_CELLS", most_cells)  # by sorting, and by a table
    rng = np.random.default_rng(8)
    for arities in ([1], [4], [2, 3], [5, 1, 7], [300, 2], [200, 200], [2] * 40):
        codes = [rng.integers(arity, size=500) for arity in arities]
        columns = [
            Column(c.astype(np.uint8 if a <= 256 else np.uint16), a)
            for c, a in zip(codes, arities, strict=True)
        ]
        joint = join_columns(columns, "all")
        assert joint.codes.tolist() == list(naive_joint([c.tolist() for c in codes]))
        assert joint.arity == len(set(joint.codes.tolist()))
        assert joint.codes.dtype == (np.uint8 if joint.arity <= 256 else np.uint16)


def test_joining_in_a_block_of_codes():
    rng = np.random.default_rng(9)
    X = rng.integers(3, size=(40, 8))
    X[:, 6] = np.arange(40) * 7  # of more levels than the others
    codes = encode(pd.DataFrame(X, columns=list("abcdefgh")), n_bins=50)
    block = codes.block(2, 8)
    joined = join_groups(block, [Group("pair", (1, 3)), Group("one", (4,))])
    assert joined.names == ("c", "pair", "e", "one", "h")
    assert joined.n_columns == 5
    expected = naive_joint([X[:, 3].tolist(), X[:, 5].tolist()])
    assert joined.column(1).codes.tolist() == list(expected)
    for at, j in ((0, 2), (2, 4), (3, 6), (4, 7)):
        np.testing.assert_array_equal(joined.column(at).codes, codes.column(j).codes)
    assert join_groups(Codes(block.narrow, block.wide, block.place, block.arity), []).names is None


def test_too_many_combinations():
    n = 70_000
    one, other = np.arange(n) % 300, np.arange(n) // 300
    X, y = np.column_stack([one, other, one]), np.arange(n) % 2
    selector = hocmim.MIM(1, encoder=hocmim.Encoder(400), feature_groups={"both": [0, 1]})
    with pytest.raises(InvalidTableError, match=r"2 columns of the group 'both'.*65536 combina"):
        selector.fit(X, y)
    assert selector.set_params(encoder__n_bins=100).fit(X, y).features_.groups[0].name == "both"


# -- what a user sees ------------------------------------------------------------------------------


def test_columns_and_names():
    _, y, wide, groups = categorical_table()
    selector = hocmim.HOCMIM(2, feature_groups=groups).fit(wide, y)
    assert len(selector.trace_) == 4
    chosen = [j for j, c in enumerate(wide.columns) if selector.get_support()[j]]
    assert chosen == sorted(selector.selected_.tolist())
    assert len(selector.selected_) == len(selector.scores_) == len(selector.orders_) > 2
    assert len(selector.representative_sets_) == len(selector.orders_)
    names = wide.columns[chosen].tolist()
    assert selector.get_feature_names_out().tolist() == names
    pd.testing.assert_frame_equal(
        selector.set_output(transform="pandas").transform(wide), wide[names]
    )
    for k in range(len(selector.features_)):
        members = list(selector.features_.columns(k))
        assert len(set(selector.ranking_[members])) == 1
    back = selector.set_output(transform="default").inverse_transform(selector.transform(wide))
    np.testing.assert_array_equal(back[:, chosen], wide.iloc[:, chosen])
    assert selector.ranking_.max() == 3


def test_a_group_is_found_by_its_name_or_by_a_column():
    _, y, wide, groups = categorical_table()
    selector = hocmim.HOCMIM(5, feature_groups=groups).fit(wide, y)
    members = groups["shape group"]
    expected = selector.explain("shape group")
    assert expected.feature == "shape group"
    assert expected.index == wide.columns.get_loc(members[0])
    for other in (*members, wide.columns.get_loc(members[-1])):
        assert selector.explain(other) == expected
    assert "'shape group'" in str(expected)
    with pytest.raises(InvalidParameterError, match=r"no feature 'shape'\. Did you mean 'shape"):
        selector.explain("shape")
    few = hocmim.HOCMIM(1, feature_groups=groups).fit(wide, y)
    left = next(name for name in groups if few.explain(name, wide).rank is None)
    with pytest.raises(InvalidParameterError, match="was not selected"):
        few.explain(left)
    with pytest.raises(InvalidTableError, match="not the table"):
        few.explain(left, wide.iloc[::-1])


def test_the_order_of_groups_and_of_their_columns_does_not_matter():
    _, y, wide, groups = categorical_table()
    turned = {name: columns[::-1] for name, columns in reversed(groups.items())}
    found = hocmim.HOCMIM(4, feature_groups=turned).fit(wide, y)
    expected = hocmim.HOCMIM(4, feature_groups=groups).fit(wide, y)
    assert found.selected_.tolist() == expected.selected_.tolist()
    assert found.features_.groups == expected.features_.groups
    by_index = {name: wide.columns.get_indexer(columns) for name, columns in groups.items()}
    again = hocmim.HOCMIM(4, feature_groups=by_index).fit(wide, y)
    assert again.features_.groups == expected.features_.groups


@pytest.mark.parametrize("nothing", [None, {}, []])
def test_without_groups_features_are_columns(nothing):
    frame, y, _, _ = categorical_table()
    selector = hocmim.HOCMIM(2, feature_groups=nothing).fit(frame, y)
    assert len(selector.features_) == 5
    assert selector.features_.first.tolist() == selector.features_.of_column.tolist()
    assert list(selector.features_.names) == selector.feature_names_in_.tolist()
    # A fitted selector is no larger for it.
    assert len(pickle.dumps(Features(1_000_000))) < 200


def test_a_group_of_one_column_is_the_column():
    frame, y, _, _ = categorical_table()
    alone = hocmim.HOCMIM(3, feature_groups={"size": ["size"]}).fit(frame, y)
    plain = hocmim.HOCMIM(3).fit(frame, y)
    assert alone.selected_.tolist() == plain.selected_.tolist()
    assert alone.scores_.tobytes() == plain.scores_.tobytes()
    assert alone.explain("size", frame) == plain.explain("size", frame)


def test_how_many_counts_groups_as_one():
    _, y, wide, groups = categorical_table()
    for asked, K in ((1, 1), (5, 5), (0.4, 2), (None, 2), (1.0, 5)):
        selector = hocmim.JMI(asked, feature_groups=groups).fit(wide, y)
        assert len(set(selector.features_.of_column[selector.selected_])) == K
        assert (selector.trace_["place"] == 1).sum() == K
    with pytest.warns(HocmimWarning, match="only 5 features can be selected"):
        selector = hocmim.JMI(6, feature_groups=groups).fit(wide, y)
    assert len(set(selector.features_.of_column[selector.selected_])) == 5


def test_clone_pickle_pipeline_and_grid_search():
    _, y, wide, groups = categorical_table()
    selector = hocmim.HOCMIM(2, feature_groups=groups)
    assert clone(selector).feature_groups == groups
    selector.fit(wide, y)
    assert selector.feature_groups == groups
    again = pickle.loads(pickle.dumps(selector))
    assert again.features_.groups == selector.features_.groups
    assert again.transform(wide).tobytes() == selector.transform(wide).tobytes()
    assert again.explain("colour group", wide) == selector.explain("colour group", wide)
    pipeline = make_pipeline(hocmim.HOCMIM(2), DecisionTreeClassifier(random_state=0))
    search = GridSearchCV(pipeline, {"hocmim__feature_groups": [None, groups]}, cv=2)
    assert search.fit(wide, y).predict(wide).shape == y.shape


def test_weights_and_groups():
    _, y, wide, groups = categorical_table()
    weights = np.random.default_rng(3).integers(3, size=len(y))
    found = hocmim.HOCMIM(2, feature_groups=groups).fit(wide, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights)
    expected = hocmim.HOCMIM(2, feature_groups=groups).fit(wide.iloc[rows], y[rows])
    assert found.scores_.tobytes() == expected.scores_.tobytes()
    for name in groups:
        assert found.explain(name, wide) == expected.explain(name, wide.iloc[rows])


def test_stability_counts_a_group_once():
    frame, y, wide, groups = categorical_table(n=60)
    found = hocmim.StabilitySelector(hocmim.JMI(2, feature_groups=groups), 8).fit(wide, y)
    expected = hocmim.StabilitySelector(hocmim.JMI(2), 8).fit(frame, y)
    columns = columns_of(wide, groups)
    assert 0 < found.stability_ < 1
    assert found.stability_ == expected.stability_
    for k, members in enumerate(columns):
        assert set(found.frequencies_[members]) == {expected.frequencies_[k]}
        assert set(found.ranking_[members]) == {expected.ranking_[k]}
    assert found.selected_.tolist() == [j for k in expected.selected_ for j in columns[k]]
    found.set_params(n_features_to_select=1).fit(wide, y)
    assert found.selected_.tolist() == columns[int(expected.selected_[0])]
    with pytest.warns(HocmimWarning, match="only 5 features can be selected"):
        found.set_params(n_features_to_select=6).fit(wide, y)


def test_pictures_have_a_group_once():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    _, y, wide, groups = categorical_table()
    selector = hocmim.HOCMIM(5, feature_groups=groups).fit(wide, y)
    labels = [t.get_text() for t in selector.plot("scores").get_yticklabels()]
    assert len(labels) == 5
    assert sum("group" in label for label in labels) == 2
    assert len(hocmim.selected_interactions(selector)) == 5 * 4 // 2
    pyplot.close("all")


def test_progress_names_the_group(capsys):
    _, y, wide, groups = categorical_table()
    hocmim.HOCMIM(5, feature_groups=groups, verbose=1).fit(wide, y)
    assert "colour group  score" in capsys.readouterr().err


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ({"a": ["age", "size"], "b": ["size"]}, "column 'size' in two groups, 'a' and 'b'"),
        ([[0, 1], ["colour"]], r"column 'colour' in two groups, 'age \+ 1 more' and 'colour'"),
        ({"a": ["age", 0]}, "column 'age' twice in the group 'a'"),
        ({"a": ["age", "sice"]}, r"column 'sice' in the group 'a'.* Did you mean 'size'"),
        ({"a": ["age", "q"]}, r"column 'q' in the group 'a', but X has no column of this name\.$"),
        ({"a": []}, "The group 'a' of feature_groups is empty"),
        ([["age"], []], "Group 1 of feature_groups is empty"),
        ({"size": ["age", "shape"]}, "named 'size', but the column of this name is not"),
        ({"a": [5]}, "has 5 in the group 'a'.*from 0 to 4"),
        ({"a": [-1]}, "has -1 in the group 'a'"),
        ({"a": [True, False]}, "has True in the group 'a'"),
        ({"a": [1.0]}, r"has 1\.0 in the group 'a'"),
        ({"a": "age"}, "must be a dict of names and columns"),
        ({0: ["age"]}, "must be a dict of names and columns"),
        (["age", "size"], "must be a dict of names and columns"),
        ([0, 1], "or a list of lists of columns. Got"),
        ("age", "must be a dict"),
        (3, "must be a dict"),
    ],
)
def test_mistakes_get_a_sentence(groups, says):
    frame, y, _, _ = categorical_table()
    with pytest.raises(InvalidParameterError, match=says) as caught:
        hocmim.MIM(1, feature_groups=groups).fit(frame, y)
    assert str(caught.value).endswith((".", "?"))


def test_names_need_columns_with_names():
    frame, y, _, _ = categorical_table()
    with pytest.raises(InvalidParameterError, match=r"column 'age' in the group 'a'.*no names"):
        hocmim.MIM(1, feature_groups={"a": ["age"]}).fit(frame.to_numpy(), y)
    with pytest.raises(InvalidParameterError, match="named '3', but the column"):
        hocmim.MIM(1, feature_groups={"3": [1, 2]}).fit(frame.to_numpy(), y)
    features = resolve_groups({"a": [1, 2]}, 4, None)
    assert features.names == ["0", "a", "3"]
    assert features.find("a") == features.find(2) == 1

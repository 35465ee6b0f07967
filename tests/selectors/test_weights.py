"""A row of weight w is the row w times: weighted fits against fits on the repeated rows, by ==."""

import datetime as dt
import inspect
import pickle
from itertools import cycle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import hocmim
import warned
from hocmim import HOCMIM, MIM, Encoder, StabilitySelector, StopTest
from hocmim.data.columns import Categories
from hocmim.data.table import as_table, take_rows
from hocmim.data.weights import as_counts
from hocmim.errors import DataWarning, InvalidTableError, InvalidTargetError, InvalidWeightsError
from hocmim.information.estimators import ESTIMATORS
from hocmim.selectors.base import InformationSelector
from hocmim.selectors.registry import METHODS

pytestmark = pytest.mark.filterwarnings(warned.ONE_BIN, warned.REPEATED_ROWS, warned.TEXT)

BY_INFORMATION = [name for name, kind in METHODS.items() if issubclass(kind, InformationSelector)]
WEIGHTED_FILTERS = ["Fisher", "Gini", "Kruskal-Wallis", "ILFS"]


def weighted_table(n=60, D=6, seed=0):
    """Numbers that say more and less of y, some missing; and weights from 0 to 3."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = np.round(rng.normal(size=(n, D)) + y[:, None] * np.linspace(2, 0, D), 2)
    X[:, 2] = rng.integers(4, size=n)
    return X, y, rng.integers(4, size=n)


def repeated(X, y, weights):
    rows = np.repeat(np.arange(len(weights)), weights)
    return take_rows(X, rows), np.asarray(y)[rows]


def assert_same(found, expected):
    """Every fitted attribute of two selectors is the same, to the bit."""
    for name in ("selected_", "scores_", "ranking_", "relevance_", "feature_scores_", "p_values_"):
        assert hasattr(found, name) == hasattr(expected, name)
        if hasattr(found, name):
            assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name
    if not isinstance(found, InformationSelector):
        return
    for one, other in zip(found.encoder_.columns_, expected.encoder_.columns_, strict=True):
        assert (one.kind, one.missing, one.unknown) == (other.kind, other.missing, other.unknown)
        assert one.cuts.tolist() == other.cuts.tolist()
        assert list(one.levels) == list(other.levels)
    assert repr(found.stopping_) == repr(expected.stopping_)
    assert repr(found.classes_) == repr(expected.classes_)
    assert repr(found.target_cuts_) == repr(expected.target_cuts_)
    for column, values in found.trace_.columns.items():
        assert values.tolist() == expected.trace_[column].tolist()


# -- the same as repeated rows ---------------------------------------------------------------------


DISCRETIZERS = [Encoder(discretizer=name) for name in ("uniform", "quantile", "mdlp")]


@pytest.mark.parametrize("name", BY_INFORMATION)
def test_every_method_discretizer_and_estimator(name):
    X, y, weights = weighted_table()
    X[::7, 0] = np.nan
    for estimator, encoder in zip(ESTIMATORS, cycle(DISCRETIZERS), strict=False):
        parameters = {"estimator": estimator, "encoder": encoder}
        found, expected = (
            hocmim.make_selector(name, n_features_to_select=4, **parameters) for _ in range(2)
        )
        assert_same(found.fit(X, y, sample_weight=weights), expected.fit(*repeated(X, y, weights)))
    assert found.fit(X, y).relevance_.tobytes() != expected.relevance_.tobytes()


@pytest.mark.parametrize("stop", ["chi2", "permutation"])
def test_where_selection_ends(stop):
    X, y, weights = weighted_table(n=150)
    test = StopTest(test=stop, n_permutations=99, random_state=3)
    selector = HOCMIM(test, encoder=Encoder(discretizer="uniform"))
    found = clone(selector).fit(X, y, sample_weight=weights)
    assert_same(found, selector.fit(*repeated(X, y, weights)))
    assert 0 < len(found.p_values_) < 6
    assert found.stopping_.reason == "not significant"


@pytest.mark.parametrize("name", WEIGHTED_FILTERS)
def test_filters(name):
    X, y, weights = weighted_table()
    found = hocmim.make_selector(name, n_features_to_select=3).fit(X, y, sample_weight=weights)
    expected = hocmim.make_selector(name, n_features_to_select=3)
    assert_same(found, expected.fit(*repeated(X, y, weights)))
    assert expected.fit(X, y).feature_scores_.tobytes() != found.feature_scores_.tobytes()


@pytest.mark.parametrize("name", METHODS)
def test_who_takes_weights(name):
    takes = "sample_weight" in inspect.signature(METHODS[name].fit).parameters
    assert takes == (name in BY_INFORMATION or name in WEIGHTED_FILTERS)


def test_a_continuous_target():
    X, y, weights = weighted_table()
    y = y + X[:, 0] / 10
    for encoder in DISCRETIZERS:
        found = HOCMIM(4, encoder=encoder).fit(X, y, sample_weight=weights)
        assert found.target_cuts_ is not None
        assert_same(found, HOCMIM(4, encoder=encoder).fit(*repeated(X, y, weights)))


def mixed_columns(n=60):
    rng = np.random.default_rng(1)
    text = rng.choice(["b", "a", "c"], size=n).astype(object)
    text[::9] = None
    text[0] = "seen once only"
    return {
        "number": rng.normal(size=n),
        "whole": rng.integers(9, size=n),
        "flag": rng.random(n) < 0.5,
        "text": text.tolist(),
        "day": [dt.date(2024, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(40, size=n)],
    }


def frames():
    columns = mixed_columns()
    odd = pd.DataFrame(columns, index=np.arange(60)[::-1])
    odd["kind"] = pd.Categorical(odd["text"])
    odd["nullable"] = odd["whole"].astype("Int64").mask(odd["flag"])
    rich = pl.DataFrame(columns).with_columns(kind=pl.col("text").cast(pl.Categorical))
    arrow = pa.table(columns)
    numbers = sparse.random(60, 30, 0.2, "csr", random_state=0)
    return {
        "pandas": odd,
        "polars": rich,
        "pyarrow": arrow.append_column("kind", arrow["text"].dictionary_encode()),
        "objects": odd.to_numpy(),
        "lists": odd[["number", "text"]].to_numpy().tolist(),
        "csr": numbers,
        "csc": sparse.csc_array(numbers),
        "column-major": np.asfortranarray(numbers.toarray()),
    }


@pytest.mark.parametrize("kind", frames())
def test_every_container(kind):
    X = frames()[kind]
    rng = np.random.default_rng(2)
    y, weights = rng.integers(2, size=60), rng.integers(4, size=60)
    weights[0] = 0  # a level of the strings is gone with it
    found = HOCMIM(2).fit(X, y, sample_weight=weights)
    assert_same(found, HOCMIM(2).fit(*repeated(X, y, weights)))
    for block in as_table(X).take(np.flatnonzero(weights)).blocks():
        if isinstance(block, Categories):
            assert "seen once only" not in block.levels


def test_weight_zero_is_no_row():
    """Not even one whose values could not be read."""
    X, y, _ = weighted_table(n=40)
    bad = X.astype(object)
    bad[3, 1], bad[4, 2], bad[5, 0] = np.inf, "not a number", [1]
    gone = y.astype(float)
    gone[3:6] = np.nan
    weights = np.ones(40)
    weights[3:6] = 0
    kept = weights > 0
    assert_same(HOCMIM(3).fit(bad, gone, sample_weight=weights), HOCMIM(3).fit(X[kept], gone[kept]))
    with pytest.raises(InvalidTableError, match=r"1 sample\(s\).*minimum of 2"):
        HOCMIM(3).fit(X, y, sample_weight=np.arange(40) == 0)
    with pytest.raises(InvalidTargetError, match="only one class"):
        HOCMIM(3).fit(X, y, sample_weight=y == 1)


def test_a_view_of_a_view():
    table = as_table(np.arange(10.0)[:, None]).take(np.array([9, 3, 3])).take(np.array([2, 0]))
    (block,) = table.blocks()
    assert block.values[:, 0].tolist() == [3, 9]
    assert table.shape == (2, 1)


@pytest.mark.parametrize(
    "form",
    [
        list,
        np.float32,
        pd.Series,
        lambda w: pd.Series(w, index=np.arange(len(w))[::-1]),
        lambda w: pl.Series(w.tolist()),
        lambda w: pa.chunked_array([w]),
        lambda w: pd.array(w, dtype="Int64"),
    ],
)
def test_weights_of_any_form(form):
    X, y, weights = weighted_table()
    expected = HOCMIM(3).fit(X, y, sample_weight=weights)
    assert_same(HOCMIM(3).fit(X, y, sample_weight=form(weights)), expected)


def test_ones_are_no_weights():
    X, y, _ = weighted_table()
    for ones in (None, 1, np.ones(60), [True] * 60):
        found = HOCMIM(3).fit(X, y, sample_weight=ones)
        assert_same(found, HOCMIM(3).fit(X, y))
        assert found._row_counts is None


# -- what is done with it --------------------------------------------------------------------------


def test_explanations():
    X, y, weights = weighted_table()
    found = HOCMIM(3).fit(X, y, sample_weight=weights)
    X_repeated, y_repeated = repeated(X, y, weights)
    expected = HOCMIM(3).fit(X_repeated, y_repeated)
    found = pickle.loads(pickle.dumps(found))
    for j in range(6):
        assert found.explain(j, X) == expected.explain(j, X_repeated)
    left = int(np.flatnonzero(found.ranking_ == 4)[0])
    for other in (X[::-1], X[1:]):
        with pytest.raises(InvalidTableError, match="not the table the selector was fitted on"):
            found.explain(left, other)
    assert found._row_counts.dtype == np.uint8


@pytest.mark.parametrize("resampling", ["bootstrap", "subsample"])
def test_stability(resampling):
    X, _, weights = weighted_table()
    y = np.random.default_rng(4).integers(2, size=60)
    found, expected = (StabilitySelector(MIM(2), 6, resampling=resampling) for _ in range(2))
    found.fit(X, y, sample_weight=weights)
    expected.fit(*repeated(X, y, weights))
    np.testing.assert_array_equal(found.selections_, expected.selections_)
    assert found.stability_ == expected.stability_
    assert not np.array_equal(found.selections_, found.fit(X, y).selections_)


def test_weights_are_routed_through_a_pipeline():
    X, y, weights = weighted_table()
    with config_context(enable_metadata_routing=True):
        selector = HOCMIM(2).set_fit_request(sample_weight=True)
        tree = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(selector, tree).fit(X, y, sample_weight=weights)
        assert_same(pipeline[0], HOCMIM(2).fit(*repeated(X, y, weights)))
        alone = tree.set_fit_request(sample_weight=False)
        pipeline = make_pipeline(HOCMIM(2).set_fit_request(sample_weight=False), alone)
        with pytest.raises(TypeError, match="sample_weight"):
            pipeline.fit(X, y, sample_weight=weights)


# -- mistakes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ("equal", "or 'balanced'. Got 'equal'"),
        ([1, -2] + [1] * 58, r"row 1 is -2\.0"),
        ([np.nan] * 60, "row 0 is nan"),
        ([np.inf] * 60, "row 0 is inf"),
        ([0] * 60, "All values of sample_weight are zero"),
        ([1] * 59, "59 values and X has 60 rows"),
        (np.ones((60, 2)), "1D array or scalar, got 2D array"),
        (["much"] * 60, "must be numbers, one for each row"),
        ([10**9] * 60, r"adds up to 6e\+10 rows.*Divide"),
        (-0.5, r"row 0 is -0\.5"),
        (np.ma.masked_array(np.ones(60, int), np.arange(60) == 3), "row 3 is nan"),
    ],
)
def test_mistakes_get_a_sentence(weights, says):
    X, y, _ = weighted_table()
    for name in ("HOCMIM", "Fisher"):
        with pytest.raises(InvalidWeightsError, match=says):
            hocmim.make_selector(name, n_features_to_select=2).fit(X, y, sample_weight=weights)


# -- fractions and classes -------------------------------------------------------------------------


def test_fractions_are_relative_and_every_weight_gets_its_share():
    rng = np.random.default_rng(5)
    weights = rng.choice([0.0, 0.3, 1.7, 4.2], 400)
    for scale in (1.0, 0.001, 7.77):
        counts = as_counts(scale * weights, 400)
        assert counts.sum() == np.count_nonzero(weights)
        for weight in np.unique(weights):
            is_it = weights == weight
            share = weight * is_it.sum() * np.count_nonzero(weights) / weights.sum()
            assert abs(counts[is_it].sum() - share) <= 1
            assert counts[is_it].max() - counts[is_it].min() <= 1
    assert as_counts(np.full(7, 0.25), 7) is None


def test_fractions_give_what_the_counts_give():
    X, y, _ = weighted_table()
    weights = np.random.default_rng(6).random(len(y))
    found = HOCMIM(3).fit(X, y, sample_weight=weights)
    assert_same(found, HOCMIM(3).fit(X, y, sample_weight=as_counts(weights, len(y))))


def test_balanced_gives_every_class_the_same_weight():
    y = np.array(["a"] * 90 + ["b"] * 25 + ["c"] * 5)
    counts = as_counts("balanced", 120, y)
    assert [int(counts[y == name].sum()) for name in "abc"] == [40, 40, 40]
    assert counts[y == "c"].tolist() == [8] * 5
    X = np.random.default_rng(0).integers(0, 3, (120, 5))
    found = HOCMIM(2).fit(X, y, sample_weight="balanced")
    assert_same(found, HOCMIM(2).fit(X, y, sample_weight=counts))
    with pytest.raises(InvalidWeightsError, match="needs classes, and the target is a quantity"):
        HOCMIM(2).fit(X, np.linspace(0, 1, 120), sample_weight="balanced")


# -- tests -----------------------------------------------------------------------------------------


def noise(seed, n=600, share=0.5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 8)), (rng.random(n) < share).astype(int), rng


NOT_COUNTS = {
    "exponential": (0.5, lambda rng, X, y: rng.exponential(size=len(y))),
    "recent rows": (0.5, lambda rng, X, y: np.exp(-np.arange(len(y)) / 100)),
    "propensity": (0.5, lambda rng, X, y: 1 + np.exp(-2 * X[:, 0])),
    "whole floats": (0.5, lambda rng, X, y: rng.integers(0, 9, len(y)).astype(float)),
    "balanced": (0.05, lambda rng, X, y: "balanced"),
    "class weights": (0.05, lambda rng, X, y: np.where(y == 1, 19, 1)),
}


@pytest.mark.parametrize("kind", NOT_COUNTS)
@pytest.mark.parametrize("with_groups", [False, True])
def test_weights_make_no_noise_significant(kind, with_groups):
    """At 1 % of tables, 3 of 20 are 1 in 1000 by chance; copies of rows gave 5 to 20."""
    share, make = NOT_COUNTS[kind]
    n_any = 0
    for seed in range(20):
        X, y, rng = noise(seed, share=share)
        groups = np.arange(len(y)) // 3 if with_groups else None
        found = MIM("significant").fit(X, y, sample_weight=make(rng, X, y), groups=groups)
        n_any += len(found.selected_) > 0
    assert n_any <= 2


@pytest.mark.parametrize("test", [StopTest(test="permutation", n_permutations=199), StopTest()])
def test_the_test_uses_each_row_once(test):
    """Whole weights of a floating-point type: scores of the copies, p-values of the rows."""
    X, y, _ = weighted_table(n=150)
    X = pd.DataFrame(np.rint(X)).astype(str)  # levels do not depend on weights, as bins do
    weights = np.random.default_rng(3).integers(1, 4, size=150)
    found = MIM(test).fit(X, y, sample_weight=weights.astype(float))
    copies = MIM(test).fit(*repeated(X, y, weights))
    plain = MIM(test).fit(X, y)
    assert found.relevance_.tobytes() == copies.relevance_.tobytes()
    assert found.scores_[0] == copies.scores_[0]
    p_values = dict(zip(found.selected_, found.p_values_, strict=True))
    assert p_values[0] == plain.p_values_[plain.selected_ == 0]
    assert p_values[0] > copies.p_values_[copies.selected_ == 0]
    text = found.statement()
    assert "N = 150)" in text
    assert "Weights changed the scores; the tests used each row once." in text
    assert "rows counted by their weights" in MIM(test).fit(X, y, sample_weight=weights).statement()


def test_integers_that_do_not_look_like_counts_are_noticed(recwarn):
    """Survey weights are not the counts of a summary; those have many ones, or few rows."""
    X, y, rng = noise(0)
    with pytest.warns(DataWarning, match=r"600 rows for 28\d,\d{3}\. Few of them are 1.*as floats"):
        MIM("significant").fit(X, y, sample_weight=rng.integers(100, 900, 600))
    recwarn.clear()
    bits = rng.integers(2, size=(3000, 12))
    rows, counts = np.unique(bits, axis=0, return_counts=True)
    assert counts.max() > 2
    MIM("significant").fit(rows[:, 1:], rows[:, 0], sample_weight=counts)
    rows, counts = np.unique(bits[:, :4], axis=0, return_counts=True)
    assert counts.min() > 100
    MIM("significant").fit(rows[:, 1:], rows[:, 0], sample_weight=counts)
    MIM(2).fit(X, y, sample_weight=rng.integers(100, 900, 600))
    MIM("significant").fit(X, y, sample_weight=rng.integers(100, 900, 600).astype(float))
    assert not [one for one in recwarn if "sample_weight" in str(one.message)]


def test_interactions_of_weighted_noise_are_no_interactions():
    """The screen kept 20 pairs of this table when copies were rows."""
    X, y, rng = noise(1, n=400)
    selector = hocmim.RobustHOCMIM(3, interactions=True)
    assert not selector.fit(
        X, y, sample_weight=10 * rng.exponential(size=400)
    ).selection_.interactions


def test_resamples_draw_rows_with_their_weights():
    """Copies that were drawn one by one would be tested as independent rows."""
    X, y, rng = noise(2, n=300)
    stable = StabilitySelector(MIM("significant"), 10)
    for weights in (None, rng.exponential(size=300), "balanced"):
        assert stable.fit(X, y, sample_weight=weights).frequencies_.max() <= 0.1

"""Explanations: the numbers of the search itself, to the last bit, in words and pictures."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.stats import chi2_contingency
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import OneHotEncoder

import hocmim
import warned
from coded import encode
from hocmim import CMIM, HOCMIM, JMI, MIM, Encoder, StopTest, errors
from hocmim.coding.codes import Column
from hocmim.coding.target import encode_target
from hocmim.information.comparison import comparison_key
from hocmim.insight.basis import basis_of
from hocmim.insight.explain import explain, explained_variance
from hocmim.selectors.base import InformationSelector

pytestmark = pytest.mark.filterwarnings(warned.LEAK, warned.ONE_BIN)

METHODS = hocmim.list_methods()
BY_INFORMATION = [
    name for name in METHODS if isinstance(hocmim.make_selector(name), InformationSelector)
]
CANCER = load_breast_cancer(return_X_y=True, as_frame=True)


def table(n=150, D=12, seed=0):
    """Columns that overlap with each other and with y."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(3, size=(n, 4))
    y = (hidden[:, 0] + hidden[:, 1] * hidden[:, 2] > 2).astype(int)
    X = hidden[:, rng.integers(4, size=D)] + (rng.random((n, D)) < 0.3)
    return X, y


def every_score(selector, X, y):
    """The score of every column at each step, by the criterion on the whole table at once."""
    codes, target = encode(X), encode_target(y).column
    criterion = basis_of(selector).criterion.copy()
    criterion.start(codes, target)
    for j in selector.selected_:
        yield np.array(criterion.scores())
        criterion.update(codes.column(int(j)))


# -- the numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BY_INFORMATION)
def test_scores_are_those_of_the_search(name):
    X, y = table()
    selector = hocmim.make_selector(name, n_features_to_select=5).fit(X, y)
    steps = list(every_score(selector, X, y))
    for j in range(X.shape[1]):
        explanation = selector.explain(j, X)
        n_seen = explanation.rank or 5
        assert [c.score for c in explanation.steps] == [scores[j] for scores in steps[:n_seen]]
        assert [c.best for c in explanation.steps] == list(map(str, selector.selected_[:n_seen]))
        assert [c.best_score for c in explanation.steps] == selector.scores_[:n_seen].tolist()
        assert explanation.relevance == selector.relevance_[j]
        if j in selector.selected_:
            assert selector.selected_[explanation.rank - 1] == j
            assert explanation.score == selector.scores_[explanation.rank - 1]
            assert selector.explain(j) == explanation  # needs no table


@pytest.mark.parametrize("name", BY_INFORMATION)
def test_trace_has_the_winner_and_the_runner_up(name):
    X, y = table(seed=1)
    selector = hocmim.make_selector(name, n_features_to_select=6, n_jobs=2).fit(X, y)
    trace = selector.trace_
    assert trace["step"].tolist() == np.repeat(np.arange(1, 7), 2).tolist()
    assert trace["place"].tolist() == [1, 2] * 6
    assert trace["candidate"][::2].tolist() == selector.selected_.tolist()
    assert trace["score"][::2].tobytes() == selector.scores_.tobytes()
    assert trace["relevance"].tobytes() == selector.relevance_[trace["candidate"]].tobytes()
    for number, scores in enumerate(every_score(selector, X, y)):
        keys = comparison_key(scores)
        keys[selector.selected_[: number + 1]] = -np.inf
        assert trace["candidate"][2 * number + 1] == np.argmax(keys)
        assert trace["score"][2 * number + 1] == scores[np.argmax(keys)]


def test_the_last_column_has_no_runner_up():
    X, y = table(D=3)
    trace = MIM(3).fit(X, y).trace_
    assert trace["place"].tolist() == [1, 2, 1, 2, 1]
    assert trace["order"].tolist() == [-1] * 5


def test_representative_sets():
    X, y = CANCER
    selector = HOCMIM(6).fit(X, y)
    of_winners = selector.trace_["representative_set"][::2].tolist()
    assert of_winners == [tuple(members.tolist()) for members in selector.representative_sets_]
    assert selector.trace_["order"][::2].tolist() == selector.orders_.tolist()
    for rank, j in enumerate(selector.selected_):
        members = selector.representative_sets_[rank]
        assert selector.explain(j).representative_set == tuple(X.columns[members])


def test_redundancy_and_synergy():
    rng = np.random.default_rng(2)
    a, c = rng.integers(2, size=(2, 2000))
    b = (rng.random(2000) < 0.3).astype(int)
    worn = np.where(rng.random(2000) < 0.05, 1 - c, c)
    y = 2 * (a ^ b) + c
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "worn": worn})
    selector = JMI(3).fit(frame, y)
    assert set(selector.get_feature_names_out()) == {"a", "b", "c"}
    left = selector.explain("worn", frame)
    assert left.rank is None
    assert left.replaced_by == "c"
    assert left.redundancy["c"] == pytest.approx(left.relevance, rel=0.02)
    assert "'c' repeats 99.7% of its information about the target" in left.reason
    taken = selector.explain("b")
    assert taken.redundancy["a"] < -0.3
    assert taken.replaced_by is None
    assert "synergy with        'a'" in str(taken)


def test_redundancy_matrix():
    X, y = table()
    selector = CMIM(4).fit(X, y)
    matrix = selector.redundancy_matrix()
    np.testing.assert_allclose(matrix, matrix.T)
    np.testing.assert_array_equal(np.diag(matrix), selector.relevance_[selector.selected_])
    i, j = X[:, selector.selected_[1]], X[:, selector.selected_[3]]
    expected = hocmim.mi(i, j) - hocmim.cmi(i, j, y)
    assert matrix[1, 3] == pytest.approx(expected)
    last = selector.explain(selector.selected_[3])
    assert last.redundancy[str(selector.selected_[1])] == pytest.approx(expected)


# -- the words -------------------------------------------------------------------------------------


def test_an_explanation_reads():
    X, y = CANCER
    selector = HOCMIM(5, encoder=Encoder(discretizer="uniform")).fit(X, y)
    left = str(selector.explain("mean radius", X))
    assert left.startswith(
        "HOCMIM did not select 'mean radius': its score was never the largest. It came"
    )
    assert "'worst radius' repeats 98% of its information about the target." in left
    assert "relevance           0.3139 nats" in left
    assert len(left.splitlines()) == left.splitlines().index("") + 1 + 5 + 2 + 5
    taken = str(selector.explain(20))
    assert taken.startswith(
        "HOCMIM selected 'worst radius' as number 2 of 5: its score, 0.1052, was"
    )
    assert "The next candidate was 'mean radius' with 0.0921." in taken


def test_a_copy_that_comes_later_in_the_table():
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=100)
    reason = (
        MIM(1).fit(np.column_stack([y, y, 1 - y]), y).explain(1, np.column_stack([y, y, 1 - y]))
    )
    assert "its score was equal to that of '0'" in reason.reason
    assert "which comes first in the table" in reason.reason


def test_where_selection_ended():
    X, y = CANCER
    selector = HOCMIM(StopTest(max_tries=1), encoder=Encoder(discretizer="uniform")).fit(X, y)
    best_left = selector.explain(selector.stopping_.index, X)
    assert "it adds nothing significant (p = 0.0" in best_left.reason
    assert len(best_left.steps) == len(selector.selected_) + 1


def test_nothing_selected():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(100, 4)), rng.integers(2, size=100)
    selector = HOCMIM("significant").fit(X, y)
    assert len(selector.trace_) == 0
    assert len(selector.explain(0, X).steps) == 1
    assert selector.redundancy_matrix().shape == (0, 0)


def test_mistakes_get_a_sentence():
    X, y = CANCER
    selector = HOCMIM(3).fit(X, y)
    with pytest.raises(errors.InvalidParameterError, match="Did you mean 'mean radius'"):
        selector.explain("mean radios", X)
    for feature in (30, -1, 1.5, None, True):
        with pytest.raises(errors.InvalidParameterError, match="feature must be an index from 0"):
            selector.explain(feature, X)
    with pytest.raises(
        errors.InvalidParameterError, match=r"pass the table.*explain\(feature, X\)"
    ):
        selector.explain("mean radius")
    for other in (X[:100], X.iloc[::-1]):
        with pytest.raises(errors.InvalidTableError, match="not the table"):
            selector.explain("mean radius", other)
    with pytest.raises(errors.InvalidParameterError, match="feature must be an index"):
        MIM(2).fit(X.to_numpy(), y).explain("mean radius")
    with pytest.raises(NotFittedError):
        HOCMIM(3).explain(0)


def test_names_that_would_break_a_table():
    X, y = table()
    names = [f"line\nbreak {j}" + "x" * 500 for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    selector = HOCMIM(3).fit(frame, y)
    assert len(str(selector.trace_).splitlines()) == 7
    assert max(map(len, str(selector.trace_).splitlines())) < 80
    assert "line\nbreak" not in str(selector.explain(names[0], frame))


# -- compact ---------------------------------------------------------------------------------------


def test_little_is_kept_of_many_columns():
    rng = np.random.default_rng(5)
    X, y = rng.integers(3, size=(200, 20_000)), rng.integers(2, size=200)
    selector = MIM(5).fit(X, y)
    basis = basis_of(selector)
    assert basis.selected.nbytes + basis.y.codes.nbytes == 6 * 200
    assert len(pickle.dumps((basis.selected, basis.y))) < 3000
    assert len(pickle.dumps(selector.trace_)) < 3000
    again = pickle.loads(pickle.dumps(selector))
    assert again.explain(17, X) == selector.explain(17, X)


def test_one_column_is_coded_as_all_are():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(400) < 0.1, np.nan, rng.normal(size=400)),
            "whole": rng.integers(0, 4, 400),
            "word": rng.choice(["a", "b", None], 400),
            "kind": pd.Categorical(rng.choice(["x", "y"], 400)),
            "many": [f"v{i}" for i in range(400)],
            "flag": rng.random(400) < 0.5,
        }
    )
    numbers = rng.poisson(0.4, size=(50, 9))
    for X in (frame, pa.table(frame), numbers, sparse.csr_array(numbers)):
        encoder = Encoder()
        codes = encoder.fit_transform(X)
        for j in range(codes.n_columns):
            column = encoder.transform_column(X, j)
            assert column.codes.dtype == codes.column(j).codes.dtype
            np.testing.assert_array_equal(column.codes, codes.column(j).codes)
            assert (column.arity, column.index) == (codes.column(j).arity, j)


def test_trace_as_a_frame(monkeypatch):
    X, y = CANCER
    trace = HOCMIM(3).fit(X, y).trace_
    frame = trace.to_pandas()
    assert frame.columns.tolist() == [
        "step", "place", "candidate", "name", "score", "relevance", "order", "representative_set",
        "kept",
    ]  # fmt: skip
    assert len(frame) == len(trace) == 6
    assert frame["name"].tolist() == X.columns[trace["candidate"]].tolist()
    assert repr(trace) == str(trace)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(errors.MissingDependencyError, match="pip install pandas"):
        trace.to_pandas()


def test_import_brings_no_optional_library():
    code = "import sys, hocmim; print([m for m in ('matplotlib', 'fastcan') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_selector_of_very_many_rows_keeps_no_codes(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    whole = HOCMIM(5).fit(X, y)
    monkeypatch.setattr("hocmim.insight.basis.MAX_KEPT_BYTES", 6 * len(y) - 1)
    small = HOCMIM(5).fit(X, y)
    assert small.selected_.tolist() == whole.selected_.tolist()
    assert small.trace_["score"].tolist() == whole.trace_["score"].tolist()
    assert len(pickle.dumps(whole)) - len(pickle.dumps(small)) > 5 * len(y)
    for needs_codes in (lambda: small.explain(0, X), small.redundancy_matrix):
        with pytest.raises(errors.InvalidTableError, match=r"were not kept.*pass the table"):
            needs_codes()
    assert explain(small, 0, X, y) == whole.explain(0, X)
    np.testing.assert_array_equal(
        basis_of(small, X, y).redundancy_matrix(), whole.redundancy_matrix()
    )


@pytest.mark.parametrize("name", [name for name in METHODS if name not in BY_INFORMATION])
def test_a_method_that_ranks_is_explained_by_score_and_rank(name):
    X, y = CANCER
    selector = hocmim.make_selector(name, n_features_to_select=4).fit(X, y)
    first = explain(selector, int(selector.selected_[0]), X, y)
    assert (first.rank, first.score, first.steps) == (1, selector.scores_[0], ())
    assert f"as number 1 of 4; its score is {selector.scores_[0]:.4f}" in first.reason
    last = int(np.argmax(selector.ranking_))
    found = explain(selector, last, X, y)
    assert found.rank is None
    score = f"{selector.feature_scores_[last]:.4f}"
    assert f"it ranks 30 of 30, with a score of {score}" in found.reason
    codes = encode(X).column(last)
    assert found.relevance == pytest.approx(hocmim.mi(codes.codes, y), abs=1e-12)
    with pytest.raises(errors.InvalidTableError, match="keeps no codes of the table"):
        explain(selector, last)


def test_no_share_of_a_relevance_that_may_be_chance():
    y = np.repeat([0, 1], 500)
    a = np.r_[np.repeat([0, 1], [450, 50]), np.repeat([0, 1], [50, 450])]
    chance = np.r_[np.repeat([0, 1], [235, 265]), np.repeat([0, 1], [260, 240])]
    X = pd.DataFrame({"a": a, "chance": chance})
    found = MIM(1, estimator="miller_madow").fit(X, y).explain("chance", X)
    counts = pd.crosstab(X["chance"], y)
    p_value = chi2_contingency(counts, correction=False, lambda_="log-likelihood").pvalue
    assert found.p_value == pytest.approx(p_value, rel=1e-9)
    assert 0.1 < p_value < 0.2
    assert found.relevance > 0
    assert found.replaced_by is None
    assert f"tells no more about the target than chance (p = {p_value:.2g})" in found.reason
    assert "%" not in str(found)


# -- scores between a minimum and an average -------------------------------------------------------


def test_a_robust_score_is_explained_by_its_parts():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = hocmim.RobustHOCMIM(4).fit(X, y)
    explanation = selector.explain(int(selector.selected_[2]))
    details = explanation.steps[-1].details
    assert explanation.score == details["minimum"] + details["lift"]
    assert 0 < details["lift"] <= 4 * details["sigma"] + 1e-12
    members = [repr(name) for name in explanation.representative_set]
    assert f"Given {' and '.join(members)}" in explanation.reason
    assert f"it adds {details['minimum']:.4f} nats" in explanation.reason
    assert f"{details['average']:.4f} on average" in explanation.reason
    assert f"the score is that value plus {details['lift']:.4f}" in explanation.reason


def test_chance_cannot_lift_the_score_of_a_copy():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    first = X.columns[hocmim.RobustHOCMIM(1).fit(X, y).selected_[0]]
    X["copy"] = X[first]
    explanation = hocmim.RobustHOCMIM(2).fit(X, y).explain("copy", X)
    assert explanation.steps[1].details["lift"] == 0
    assert "did not select 'copy'" in explanation.reason


def adjusted_r2(codes, y):
    """By scikit-learn, on one-hot columns without the first level."""
    X = OneHotEncoder(drop="first", sparse_output=False).fit_transform(codes[:, None])
    r2 = LinearRegression().fit(X, y).score(X, y)
    return 1 - (1 - r2) * (len(y) - 1) / (len(y) - X.shape[1] - 1)


def test_the_variance_between_the_levels_of_a_column():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 100).astype(np.uint8)
    y = codes + rng.normal(size=100)
    column = Column(codes, 5)  # two levels do not occur
    np.testing.assert_allclose(explained_variance(column, y), adjusted_r2(codes, y), rtol=1e-9)
    assert explained_variance(Column(0 * codes, 1), y) == 0.0
    assert explained_variance(Column(np.arange(20, dtype=np.uint8), 20), y[:20]) is None


@pytest.mark.parametrize("kind", ["quantity", "classes"])
def test_a_quantity_has_r2(kind):
    X = pd.DataFrame(np.random.default_rng(1).normal(size=(300, 4)), columns=list("abcd"))
    y = np.rint(100 * X["b"]).astype(int)
    selector = HOCMIM(2, target=kind).fit(X, y)
    found = selector.explain("b", X)
    if kind == "classes":
        assert found.r2 is None
        assert "R²" not in str(found)
    else:
        codes = selector.encoder_.transform(X).column(1).codes
        np.testing.assert_allclose(found.r2, adjusted_r2(codes, y), rtol=1e-9)
        assert f"R²                  {found.r2:.4f}" in str(found)
        assert selector.explain("a", X).r2 < 0.1

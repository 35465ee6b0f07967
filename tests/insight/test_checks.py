"""The survey of a table: each kind found where it is and nowhere else, in every kind of table."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats

import warned
from hocmim import (
    HOCMIM,
    MIM,
    DataWarning,
    Encoder,
    FisherScore,
    check_table,
    cluster_columns,
    compare_methods,
    substitutes,
)
from hocmim.errors import InvalidTargetError, TextWarning
from hocmim.insight import checks
from hocmim.insight.checks import KINDS, describe_columns

pytestmark = pytest.mark.filterwarnings(warned.LEAK)

N = 200
RNG = np.random.default_rng(7)
Y = np.arange(N) % 2
COLUMNS = {
    "measured": RNG.normal(size=N),  # all distinct, and no identifier
    "number": RNG.permutation(N) + 10_000,
    "number with gaps": np.where(np.arange(N) == 3, np.nan, RNG.permutation(N).astype(float)),
    "text": [f"patient {i:04}" for i in RNG.permutation(N)],
    "day": [dt.datetime(2020, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.permutation(N)],
    "copy": [("no", "yes")[c] for c in Y],
    "threshold": RNG.normal(size=N) ** 2 + 100 * Y,  # the middle bin has both classes
    "nearly": np.where(np.arange(N) == 8, 1 - Y, Y),
    "same": np.full(N, 7),
    "empty": np.full(N, np.nan),
    "half": np.where(np.arange(N) < N // 2, np.nan, RNG.integers(0, 4, N).astype(float)),
    "town": [f"town {i}" for i in RNG.integers(0, 60, N)],
    "zeros": np.where(np.arange(N) < 170, 0, np.arange(N)),
    "amount": [f"{i / 7:.2f}" for i in range(50)] * 4,
    "flag": RNG.integers(0, 2, N).astype(bool),
    "huge": RNG.normal(size=N) * 1e30,  # whole for want of digits only
}
EXPECTED = {
    ("leak", "copy"),
    ("leak", "threshold"),
    ("leak", "nearly"),
    ("identifier", "number"),
    ("identifier", "number with gaps"),
    ("identifier", "text"),
    ("text", "amount"),
    ("constant", "same"),
    ("constant", "empty"),
    ("uneven bins", "zeros"),
    ("missing", "number with gaps"),
    ("missing", "half"),
}


def found(findings, names=None):
    if names is None:
        return {(f.kind, name) for f in findings for name in f.names}
    return {(f.kind, names[j]) for f in findings for j in f.columns}


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, lambda c: pl.DataFrame(c, strict=False), pa.table],
    ids=["pd", "pl", "pa"],
)
def test_every_kind_is_found_in_every_kind_of_frame(make):
    findings = check_table(make(COLUMNS), Y)
    assert found(findings) == EXPECTED
    others = {"many levels", "rounded", "duplicates"}
    assert [f.kind for f in findings] == [kind for kind in KINDS if kind not in others]
    assert found(findings) == found(findings, list(COLUMNS))
    without = check_table(make(COLUMNS))
    assert without == [f for f in findings if f.kind != "leak"]


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_matrix, np.ndarray.tolist])
def test_tables_without_names(make):
    names = [name for name, values in COLUMNS.items() if isinstance(values, np.ndarray)]
    X = np.column_stack([COLUMNS[name] for name in names])
    findings = check_table(make(X), Y)
    assert found(findings, names) == {(kind, name) for kind, name in EXPECTED if name in names}
    assert all(f.names == tuple(map(str, f.columns)) for f in findings)


def test_sentences_and_details():
    findings = {f.kind: f for f in check_table(pd.DataFrame(COLUMNS), Y)}
    assert str(findings["leak"]) == (
        "'copy', 'threshold', 'nearly' explain nearly all of the target. Are they known before the "
        "target is? If not, exclude them."
    )
    assert findings["leak"].details[:2] == (
        "explains 100% of the target",
        "separates the classes without error (their ranges do not overlap)",
    )
    assert findings["missing"].names == ("half", "number with gaps")  # the most first
    assert findings["missing"].details[0] == "is missing in 100 of 200 rows (50.0%)"
    assert findings["constant"].details[1] == "has no values: all are missing"
    assert str(findings["text"]).startswith(
        "1 column of text that looks like numbers or dates is treated as categories: 'amount'."
    )
    assert "that could be numbers or dates" in findings["text"].details[0]


def test_many_columns_are_one_line():
    X = np.zeros((N, 500))
    [finding] = check_table(X)
    assert finding.sentence == (
        "500 columns have one value or none: '0', '1', '2', '3', '4' and 495 others."
    )
    assert len(finding.columns) == len(finding.details) == 500


def test_a_quantity():
    y = np.exp(RNG.normal(size=N))
    gaps = np.r_[np.nan, y[1:]]
    X = np.column_stack([2 * y + 1, RNG.normal(size=N), gaps, y**3, y + RNG.normal(size=N)])
    for encoder in (Encoder(), Encoder(n_bins=8)):
        leaks, *_ = check_table(X, y, encoder=encoder.fit(X, y))
        assert (leaks.kind, leaks.columns) == ("leak", (0, 2, 3))
    # Bins of equal width: a copy is found, a curved function of the target may not be.
    leaks, *_ = check_table(X, y, encoder=Encoder(discretizer="uniform").fit(X, y))
    assert (leaks.kind, leaks.columns[:2]) == ("leak", (0, 2))
    noisy = y + 0.03 * RNG.normal(size=N)
    [leak] = [f for f in check_table(noisy[:, None], y) if f.kind == "leak"]
    assert leak.details[0].startswith("has a rank correlation of ")


def test_several_targets():
    X = np.column_stack([Y, RNG.integers(3, size=N)])
    targets = np.column_stack([RNG.integers(2, size=N), Y])
    [leak] = check_table(X, targets)
    assert leak.columns == (0,)
    assert "explains all of one of the targets" in leak.sentence


def test_three_classes_by_their_ranges():
    y = np.arange(N) % 3
    apart = y * 10 + RNG.uniform(0, 5, N)
    touching = np.where(np.arange(N) == 5, apart[4], apart)
    absent = np.where(y == 2, np.nan, RNG.uniform(0, 5, N))
    findings = check_table(np.column_stack([apart, touching, absent]), y)
    assert found(findings) == {("leak", "0"), ("missing", "2")}


def test_few_rows_are_no_evidence():
    assert check_table(np.arange(19)[:, None], np.arange(19) % 2) == []


def test_many_levels():
    town = [f"town {i % 15}" for i in range(100)]
    [finding] = check_table(pd.DataFrame({"town": town}))
    assert finding.kind == "many levels"
    assert finding.details == ("has 15 levels, 6.7 rows each on average",)
    assert check_table(pd.DataFrame({"town": town * 2})) == []


def test_most_rows_in_one_bin():
    skewed = np.r_[np.linspace(0, 1, N - 1), 1000.0]
    zeros = np.r_[np.zeros(170), np.arange(1, 31)]  # 85%
    fewer = np.r_[np.zeros(159), np.arange(1, 42)]  # 79.5%
    flag = np.arange(N) < 2  # not cut
    X = np.column_stack([skewed, zeros, fewer, flag])

    def uneven(discretizer):
        findings = check_table(X, Y, encoder=Encoder(discretizer=discretizer).fit(X, Y))
        [finding] = [f for f in findings if f.kind == "uneven bins"]
        return finding

    widths, frequencies, classes = map(uneven, ("uniform", "quantile", "mdlp"))
    assert widths.columns == (0, 1, 2)  # the first bin of column 2 also has the values 1 to 8
    assert widths.details[0] == "has 99.5% of its rows in one bin (below 200)"
    assert widths.advice == 'Try the discretizer "quantile", bins of equal frequency.'
    assert str(frequencies) == (
        "1 column has one bin with more than 80% of the rows, whose values count as equal: '1'. "
        "Many rows have the same value. Check that this value does not stand for a missing one."
    )
    assert classes.columns == (0, 1, 2)
    assert "(all values)" in classes.details[0]
    missing = np.where(np.arange(N) < 190, np.nan, np.arange(N))
    assert found(check_table(missing[:, None])) == {("missing", "0")}


def test_categories_that_are_declared_are_no_text():
    amounts = pd.Series(COLUMNS["amount"])
    assert check_table(pd.DataFrame({"a": amounts.astype("category")})) == []
    assert check_table(pl.DataFrame({"a": amounts.to_list()}).with_columns(
        pl.col("a").cast(pl.Categorical))) == []  # fmt: skip


def test_fit_warns_of_the_same():
    X = pd.DataFrame(COLUMNS)
    expected = {str(f) for f in check_table(X, Y)
                if f.kind in ("leak", "identifier", "text", "uneven bins")}  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        HOCMIM(3).fit(X, Y)
    told = {str(w.message) for w in caught if issubclass(w.category, (DataWarning, TextWarning))}
    assert told == expected
    with pytest.warns(DataWarning, match="'leak' explains all"):
        FisherScore(1).fit(X[["measured"]].assign(leak=Y), Y)


def test_names_as_they_are():
    name = "<b>'\"\n🦔" + "x" * 500
    [finding] = check_table(pd.DataFrame({name: np.zeros(N)}), Y)
    assert finding.names == (name,)
    assert "\n" not in str(finding)


@pytest.mark.parametrize("largest", [np.finfo(float).max, 5e-324])
@pytest.mark.parametrize("is_quantity", [False, True])
def test_numbers_whose_squares_overflow(largest, is_quantity):
    rng = np.random.default_rng(0)
    y = rng.normal(size=200) if is_quantity else np.arange(200) % 2
    X = np.column_stack([np.where(y > 0.5, largest, -largest), rng.normal(size=200)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        check_table(X, y)


def test_column_by_column():
    X = pd.DataFrame(COLUMNS)
    summaries = {one.name: one for one in describe_columns(X, Y)}
    assert list(summaries) == list(COLUMNS)
    assert summaries["number"].notes == ("identifies the rows",)
    assert summaries["half"].n_missing == 100
    assert summaries["half"].notes == ()
    assert summaries["copy"].notes == ("explains 100% of the target",)
    assert str(summaries["same"].encoding) == "levels as they are, 1 value: 7"
    assert describe_columns(X)[5].notes == ()  # no target, no leak


def test_a_statement_does_not_call_an_identifier_excluded():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"]).assign(row=np.arange(60))
    y = (X["a"] > 0).astype(int)
    with pytest.warns(DataWarning, match="identifies the rows"):
        text = MIM(1, exclude=["c"]).fit(X, y).statement()
    assert "1 feature was excluded in advance." in text
    assert "1 feature was left out because it identifies the rows." in text


def test_leaks_of_a_quantity_by_rank_and_by_level():
    rng = np.random.default_rng(0)
    y = rng.lognormal(size=600)
    rank = np.argsort(np.argsort(y))
    X = pd.DataFrame(
        {
            "euros": 0.92 * y,
            "rank": -rank + rng.normal(0, 10, 600),  # monotone, and far from linear
            "quarter": rank * 4 // 600,
            "near": rank + rng.normal(0, 60, 600),
            "half": rank * 2 // 600,
        }
    )
    spearman = X.apply(lambda x: abs(stats.spearmanr(x, y).statistic))
    assert spearman["rank"] > checks.LEAK_CORRELATION > spearman["near"]
    [leak] = [one for one in check_table(X, y) if one.kind == "leak"]
    assert leak.names == ("euros", "rank", "quarter")
    assert leak.details[0] == "explains 100% of the target"
    assert leak.details[1].startswith("has a rank correlation of -0.99")
    assert leak.details[2] == "is the target in 4 levels (their ranges do not overlap)"
    assert leak.shares[0] == 1
    [copy] = check_table(X[["euros"]], y)
    assert copy.sentence == "'euros' explains all of the target."


def test_nothing_is_said_about_excluded_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = pd.DataFrame(
        {"leak": 1 - y, "name": [f"n{i}" for i in range(200)], "a": rng.normal(size=200)}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MIM(1, exclude=["leak", "name"]).fit(X, y)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_the_target_may_be_a_name_wherever_a_table_is_taken(kind, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd")).assign(copy=lambda f: f["a"])
    y = pd.Series((X["a"] + X["b"] > 0).astype(int), name="t")
    frame = X.assign(t=y)
    given = {"polars": pl.from_pandas, "arrow": pa.Table.from_pandas}.get(kind, lambda f: f)(frame)
    selector = MIM(2).fit(given, "t")
    assert selector.selected_.tolist() == MIM(2).fit(X, y).selected_.tolist()
    assert str(check_table(given, "t")) == str(check_table(X, y))
    named, apart = cluster_columns(given, "t"), cluster_columns(X, y)
    assert named.labels.tolist() == apart.labels.tolist()
    assert substitutes(selector, given, "t") == substitutes(selector, X, y)
    few = {"cv": 2, "n_resamples": 0}
    both = [compare_methods(*one, ["JMI"], 2, **few) for one in ((given, "t"), (X, y))]
    assert both[0].results[0].selected == both[1].results[0].selected
    assert selector.report(tmp_path / "r.html", given, "t").exists()
    with pytest.raises(InvalidTargetError, match="the columns of X have no names"):
        MIM(2).fit(frame.to_numpy(), "t")


def test_pooled_categories_are_not_called_as_they_are():
    X = pd.DataFrame({"name": [f"n{i}" for i in range(300)]})
    [column] = describe_columns(X)
    assert str(column.encoding).startswith("the 15 most frequent of 300 categories, and other: n0,")


def test_few_rows_separate_the_classes_without_a_leak():
    y = np.repeat([0, 1], [43, 17])
    x = np.r_[np.linspace(0, 1, 43), np.linspace(1.01, 2, 17)][:, None]
    assert [f.kind for f in check_table(x, y)] == ["leak"]
    assert check_table(x[1:], y[1:]) == []  # the error may be 3 / 59, more than 5 %


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_whole_numbers_that_are_rounded(container):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = np.column_stack([2**60 + y, 2**60 + 1024 * y, 2**53 - 1 - y, rng.integers(5, size=200)])
    [finding] = [f for f in check_table(container(X), y) if f.kind == "rounded"]
    assert finding.columns == (0,)
    assert finding.details == ("has 1 value equal to another by rounding",)
    with pytest.warns(DataWarning, match=r"1 column of whole numbers beyond 2\^53 was rounded"):
        MIM(1).fit(container(np.delete(X, (1, 2), axis=1)), y)

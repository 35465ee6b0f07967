"""Columns that identify the rows are left out; what fit warns about."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import hocmim
import warned
from hocmim import Encoder, Engine
from hocmim.coding.identifiers import DistinctIntegers, is_id_name
from hocmim.errors import DataWarning, HocmimWarning, InvalidTableError
from hocmim.selectors.filters._base import Filter

pytestmark = pytest.mark.filterwarnings(warned.IDENTIFIER)

N = 120


def table(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=N)
    X = pd.DataFrame(
        {
            "name": [f"Mr {i}" for i in range(N)],
            "row": rng.permutation(N) + 1000,
            "useful": y + rng.normal(0, 0.7, N),
            "population": rng.choice(10**7, N, replace=False),
            "level": rng.choice(list("abc"), N),
        }
    )
    return X, y


def messages(fit):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in found if issubclass(one.category, DataWarning)]


def naive_is_row_number(values):
    """All distinct, whole, at least 20, and half of the range."""
    present = [value for value in values if value == value]
    if len(present) < 20 or any(value != int(value) for value in present):
        return False
    span = max(present) - min(present) + 1
    return len(set(present)) == len(present) and 2 * len(present) >= span


COLUMNS = {
    "row number": np.arange(60),
    "shuffled": np.random.default_rng(0).permutation(60) - 7,
    "half of the rows": np.random.default_rng(1).choice(100, 55, replace=False),
    "a third of the rows": np.arange(0, 180, 3),
    "one twice": np.r_[np.arange(59), 0],
    "floats": np.arange(60.0),
    "with missing": np.where(np.arange(60) % 7 == 0, np.nan, np.arange(60.0)),
    "fractions": np.arange(60) + 0.5,
    "short": np.arange(19),
    "bytes": np.arange(60, dtype=np.uint8),
    "large": np.arange(60) * 1.0 + 2**60,
    "prices": np.random.default_rng(2).choice(10**6, 60, replace=False),
    "booleans": np.arange(60) % 2 == 0,
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("discretizer", ["quantile", "mdlp"])
def test_the_encoder_finds_row_numbers(name, discretizer):
    values = COLUMNS[name]
    expected = naive_is_row_number(values.astype(float).tolist()) and name not in ("large",)
    X = np.column_stack([np.zeros(len(values)), values]).astype(float)
    y = np.arange(len(values)) % 2
    for given in (X, sparse.csc_matrix(X), pd.DataFrame(X)):
        encoder = Encoder(discretizer=discretizer).fit(given, y)
        assert encoder.identifiers_.tolist() == ([1] if expected else []), name
    parts = [DistinctIntegers.of(part) for part in np.array_split(values, 4)]
    merged = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    if name != "large":
        assert DistinctIntegers.of(values).identify() == merged.identify() == expected


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "parquet", "filter", "weights"])
def test_the_name_of_distinct_whole_numbers_is_evidence(kind, tmp_path):
    rng = np.random.default_rng(0)
    far = rng.choice(10**7, N, replace=False)
    X = pd.DataFrame(
        {
            "host_id": far,
            "id": far.astype(float),  # whole numbers, as spreadsheets write them
            "population": far,
            "paid": far + 1,
            "visitor_id": far % 50,  # not of the rows
            "gene_id": rng.normal(size=N),
        }
    )
    y = np.arange(N) % 2
    given = {"polars": pl.from_pandas(X), "arrow": pa.Table.from_pandas(X)}.get(kind, X)
    method = hocmim.FisherScore(2) if kind == "filter" else hocmim.MIM(2)
    if kind == "parquet":
        X.assign(y=y).to_parquet(tmp_path / "t.parquet", row_group_size=37)
        fitted = method.fit(tmp_path / "t.parquet", "y")
    elif kind == "weights":
        fitted = method.fit(X, y, sample_weight=np.arange(N) % 3 + 1)
    else:
        fitted = method.fit(given, y)
    assert fitted.identifiers_.tolist() == [0, 1]


def test_names_that_say_id():
    names = ["id", "ID", "user_id", "user-id", "userId", "PassengerId", "customerID", "PID", "uuid"]
    others = ["paid", "humid", "idle", "grid", "covid", "AcidId2", "RAPID", "ideal", "solid", ""]
    assert all(map(is_id_name, [*names, "id_client", "row.uid"]))
    assert not any(map(is_id_name, others))


def test_expression_values_of_few_rows_are_no_identifiers():
    rng = np.random.default_rng(0)
    genes = pd.DataFrame(rng.lognormal(6, 2, (72, 500)).round(1)).add_prefix("AFFX-")
    assert len(Encoder().fit(genes).identifiers_) == 0


def test_every_kind_of_table_gives_the_same_identifiers(tmp_path):
    X, y = table()
    kinds = {"pandas": X, "polars": pl.from_pandas(X), "arrow": pa.Table.from_pandas(X)}
    found = {}
    for kind, given in kinds.items():
        selector = hocmim.MIM(3).fit(given, y)
        found[kind] = selector.identifiers_.tolist(), selector.selected_.tolist()
    X.assign(y=y).to_parquet(tmp_path / "table.parquet", row_group_size=37)
    selector = hocmim.MIM(3).fit(tmp_path / "table.parquet", "y")
    found["parquet"] = selector.identifiers_.tolist(), selector.selected_.tolist()
    codes = hocmim.MIM(3, engine=Engine(codes_dir=tmp_path / "codes")).fit(X, y)
    found["codes_dir"] = codes.identifiers_.tolist(), codes.selected_.tolist()
    assert set(map(str, found.values())) == {str(([0, 1], found["pandas"][1]))}
    assert sorted(found["pandas"][1]) == [2, 3, 4]


@pytest.mark.parametrize("method", hocmim.list_methods())
def test_every_method_leaves_identifiers_out(method):
    X, y = table()
    selector = hocmim.make_selector(method, n_features_to_select=3)
    given = messages(lambda: selector.fit(X, y))
    keep = "identifiers='keep'" if isinstance(selector, Filter) else "Encoder(identifiers='keep')"
    assert given[0] == (
        "2 columns identify the rows: 'name', 'row'. They are no candidates. To select from them "
        f"too, pass {keep}."
    )
    assert selector.identifiers_.tolist() == [0, 1]
    assert sorted(selector.selected_.tolist()) == list(range(2, X.shape[1]))
    assert selector.n_features_in_ == X.shape[1]
    assert selector.transform(X).shape == (N, X.shape[1] - 2)
    assert selector.selection_.identifiers == (0, 1)
    assert selector.selection_.excluded == ()
    keep = {"encoder": Encoder(identifiers="keep")}
    if isinstance(selector, Filter):
        keep = {"identifiers": "keep"}
    kept = hocmim.make_selector(method, n_features_to_select=5, **keep)
    assert not any("identif" in message for message in messages(lambda: kept.fit(X, y)))
    assert sorted(kept.selected_.tolist()) == list(range(X.shape[1]))


def test_warn_keeps_them_and_says_so():
    X, y = table()
    selector = hocmim.MIM(5, encoder=Encoder(identifiers="warn"))
    [first, *_] = messages(lambda: selector.fit(X, y))
    assert first.startswith("2 columns identify the rows: 'name', 'row'. What they say about")
    assert len(selector.selected_) == 5


def test_a_table_of_identifiers_is_an_error():
    X, y = table()
    for selector in (hocmim.MIM(1), hocmim.FisherScore(1)):
        with pytest.raises(InvalidTableError, match="Every column of X identifies the rows"):
            selector.fit(X[["name", "row"]], y)


def test_groups_and_weights():
    X, y = table()
    grouped = hocmim.MIM(
        3, feature_groups={"g": ["name", "level"]}, encoder=Encoder(max_levels=None)
    )
    grouped.fit(X, y)
    assert grouped.identifiers_.tolist() == [1]
    # A row of weight 3 counts once: its name is still one of its own.
    weights = np.random.default_rng(0).integers(0, 4, N)
    assert hocmim.MIM(3).fit(X, y, sample_weight=weights).identifiers_.tolist() == [0, 1]


def test_an_explanation_and_the_report_say_that_it_was_left_out(tmp_path):
    X, y = table()
    selector = hocmim.JMI(2).fit(X, y)
    reason = selector.explain("name", X).reason
    assert reason.startswith("JMI left 'name' out: it identifies the rows")
    page = selector.report(tmp_path / "report.html", X, y).read_text()
    assert "identify the rows: &#39;name&#39;, &#39;row&#39;" in page


def test_resamples_and_folds_have_the_identifiers_of_the_table():
    X, y = table()
    stable = hocmim.StabilitySelector(hocmim.MIM(3), n_resamples=4)
    given = messages(lambda: stable.fit(X, y))
    assert stable.frequencies_.tolist() == [0, 0, 1, 1, 1]
    assert sum("identify the rows" in message for message in given) == 1
    validated = hocmim.SelectorCV(hocmim.MIM(), cv=3, rule="best")
    given = messages(lambda: validated.fit(X, y))
    assert validated.cv_results_["n_features"].max() == 3
    assert sum("identify the rows" in message for message in given) == 1


# --- the other warnings ---------------------------------------------------------------------------


def test_fit_warns_of_copies_of_the_target_and_of_uneven_bins():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    X = pd.DataFrame(
        {
            "leak": np.array(["a", "b", "c"])[y],
            "x": rng.normal(size=400),
            "zeros": np.where(rng.random(400) < 0.9, 0, rng.normal(size=400)),
        }
    )
    for selector in (hocmim.MIM(2), hocmim.HOCMIM(2), hocmim.RobustHOCMIM(2)):
        given = messages(lambda selector=selector: selector.fit(X, y))
        assert given == [
            "'leak' explains all of the target. Is it known before the target is? If not, "
            "exclude it.",
            "1 column has one bin with more than 80% of the rows, whose values count as equal: "
            "'zeros'. Many rows have the same value. Check that this value does not stand for a "
            "missing one.",
        ]
    assert messages(lambda: hocmim.MIM(1).fit(X[["x"]], y)) == []


def test_the_category_switches_them_off():
    X, y = table()
    assert issubclass(hocmim.DataWarning, HocmimWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=hocmim.DataWarning)
        hocmim.MIM(2).fit(X, y)


@pytest.mark.parametrize("method", hocmim.list_methods())
@pytest.mark.parametrize("kind", ["classes", "quantity"])
def test_every_method_warns_of_a_copy_of_the_target(method, kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300) if kind == "classes" else rng.normal(size=300)
    X = pd.DataFrame({"noise": rng.normal(size=300), "leak": 2.0 * y + 5})
    selector = hocmim.make_selector(method, n_features_to_select=1)
    if kind == "quantity" and not getattr(selector, "ranks_quantities", True):
        pytest.skip("The method needs classes.")
    with pytest.warns(DataWarning, match="'leak' explains all of the target") as found:
        selector.fit(X, y)
    assert len([one for one in found if one.category is DataWarning]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        selector.fit(X[["noise"]].assign(weak=y + 2 * rng.normal(size=300)), y)

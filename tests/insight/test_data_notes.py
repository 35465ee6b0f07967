"""Notes on a table: each kind found where it is and nowhere else, in every kind of table."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from hocmim import HOCMIM, Encoder
from hocmim.coding.target import TargetOptions
from hocmim.insight.notes import KINDS, data_notes

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
    "threshold": RNG.normal(size=N) ** 2 + 100 * Y,  # one outlier spoils equal-width bins
    "nearly": np.where(np.arange(N) == 8, 1 - Y, Y),
    "same": np.full(N, 7),
    "empty": np.full(N, np.nan),
    "half": np.where(np.arange(N) < N // 2, np.nan, RNG.integers(0, 4, N).astype(float)),
    "town": [f"town {i}" for i in RNG.integers(0, 60, N)],
    "level": RNG.integers(0, 4, N),
    "flag": RNG.integers(0, 2, N).astype(bool),
    "huge": RNG.normal(size=N) * 1e30,  # whole for want of digits only
}
COLUMNS["threshold"][1] = 1e6
EXPECTED = {
    ("copies target", "copy"),
    ("copies target", "threshold"),
    ("copies target", "nearly"),
    ("id-like", "number"),
    ("id-like", "number with gaps"),
    ("id-like", "text"),
    ("id-like", "day"),
    ("constant", "same"),
    ("constant", "empty"),
    ("many levels", "town"),
    ("missing", "number with gaps"),
    ("missing", "half"),
}


def found(notes, names=None):
    return {(note.kind, names[note.index] if names else note.name) for note in notes}


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, lambda c: pl.DataFrame(c, strict=False), pa.table],
    ids=["pd", "pl", "pa"],
)
def test_every_kind_is_found_in_every_kind_of_frame(make):
    notes = data_notes(make(COLUMNS), Y)
    assert found(notes) == EXPECTED
    assert [note.kind for note in notes] == sorted((n.kind for n in notes), key=KINDS.index)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_matrix, np.ndarray.tolist])
def test_tables_without_names(make):
    names = [name for name, values in COLUMNS.items() if isinstance(values, np.ndarray)]
    X = np.column_stack([COLUMNS[name] for name in names])
    notes = data_notes(make(X), Y)
    assert found(notes, names) == {(kind, name) for kind, name in EXPECTED if name in names}
    assert all(note.name == str(note.index) for note in notes)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64, bool])
def test_types_of_numbers(dtype):
    X = np.column_stack([Y, 1 - Y, np.arange(N) % 100, np.zeros(N)]).astype(dtype)
    kinds = {(note.kind, note.index) for note in data_notes(X, Y)}
    assert kinds - {("copies target", 2)} == {
        ("copies target", 0),
        ("copies target", 1),
        ("constant", 3),
    }


def test_the_encoder_of_a_selector_is_used_and_gives_the_same():
    X = pd.DataFrame(COLUMNS)
    selector = HOCMIM(3).fit(X, Y)
    assert data_notes(X, Y, encoder=selector.encoder_) == data_notes(X, Y)


def test_values_and_sentences():
    notes = {(note.kind, note.name): note for note in data_notes(pd.DataFrame(COLUMNS), Y)}
    assert notes["missing", "half"].value == 0.5
    assert str(notes["missing", "half"]) == "'half' is missing in 100 of 200 rows (50.0%)."
    assert notes["id-like", "number with gaps"].value == 1.0
    assert "199 of its 199 values" in notes["id-like", "number with gaps"].message
    assert notes["constant", "empty"].message == "has no values: all are missing."
    assert notes["copies target", "copy"].value == pytest.approx(1.0)
    assert 0.95 <= notes["copies target", "nearly"].value < 1
    assert notes["many levels", "town"].value == len(set(COLUMNS["town"]))


def test_distinct_values_just_below_the_share_are_no_identifier():
    ids = np.arange(100)
    ids[:5] = 50  # 95 distinct values
    fewer = np.arange(100)
    fewer[:6] = 50
    notes = data_notes(np.column_stack([ids, fewer]), np.arange(100) % 2)
    assert found(notes) == {("id-like", "0")}


def test_few_rows_are_no_evidence():
    X = np.arange(19)[:, None]
    assert data_notes(X, np.arange(19) % 2) == []


def test_classes_and_continuous_targets():
    y = RNG.normal(size=N)
    X = np.column_stack([2 * y + 1, RNG.normal(size=N), np.r_[np.nan, y[1:]]])
    notes = data_notes(X, y, encoder=Encoder("uniform").fit(X))
    assert [(n.kind, n.index) for n in notes] == [
        ("copies target", 0),
        ("copies target", 2),
        ("missing", 2),
    ]


def test_a_copy_of_a_quantity_is_found_in_any_bins():
    y = np.exp(RNG.normal(size=N))
    X = np.column_stack(
        [2 * y + 1, RNG.normal(size=N), np.r_[np.nan, y[1:]], y + RNG.normal(size=N)]
    )
    for bins in (3, 5, 8):
        notes = data_notes(X, y, target_options=TargetOptions("quantity", bins))
        assert [(n.kind, n.index) for n in notes][:2] == [
            ("copies target", 0),
            ("copies target", 2),
        ]
        assert all(n.index in (0, 2) for n in notes if n.kind == "copies target")
    assert notes[0].message.startswith("explains 100% of the variance of the target: is it known")


def test_three_classes_by_their_ranges():
    y = np.arange(N) % 3
    apart = y * 10 + RNG.uniform(0, 5, N)
    apart[0] = -1e6  # outside every bin but the first
    touching = np.where(np.arange(N) == 5, apart[4], apart)
    absent = np.where(y == 2, np.nan, RNG.uniform(0, 5, N))
    notes = data_notes(np.column_stack([apart, touching, absent]), y)
    assert [(n.kind, n.index) for n in notes] == [("copies target", 0), ("missing", 2)]
    assert "ranges do not overlap" in notes[0].message
    assert notes[0].value == 1.0


def test_an_identifier_sorted_by_class_copies_the_target_too():
    y = np.arange(N) // 100
    assert [n.kind for n in data_notes(np.arange(N)[:, None], y)] == ["copies target", "id-like"]


def test_names_as_they_are():
    name = "<b>'\"\n🦔" + "x" * 500
    (note,) = data_notes(pd.DataFrame({name: np.zeros(N)}), Y)
    assert note.name == name
    assert "\n" not in str(note)


def test_most_rows_in_one_bin():
    skewed = np.r_[np.linspace(0, 1, N - 1), 1000.0]
    zeros = np.r_[np.zeros(170), np.arange(1, 31)]  # 85%
    fewer = np.r_[np.zeros(159), np.arange(1, 42)]  # 79.5%
    flag = np.arange(N) < 2  # not cut
    X = np.column_stack([skewed, zeros, fewer, flag])

    def uneven(discretizer):
        notes = data_notes(X, Y, encoder=Encoder(discretizer).fit(X, Y))
        return {note.index: note for note in notes if note.kind == "uneven bins"}

    widths, frequencies, classes = map(uneven, ("uniform", "quantile", "mdlp"))
    assert sorted(widths) == [0, 1, 2]  # the first bin of column 2 also has the values 1 to 8
    assert widths[0].value == 0.995
    assert str(widths[0]) == (
        "'0' has 99.5% of its rows in one bin (below 200): the values in this bin count as equal. "
        'Try the discretizer "quantile", bins of equal frequency.'
    )
    assert sorted(frequencies) == [1]
    assert str(frequencies[1]) == (
        "'1' has 85% of its rows in one bin (below 1): the values in this bin count as equal. Many "
        "rows have the same value. Check that this value does not stand for a missing one."
    )
    assert sorted(classes) == [0, 1, 2]
    assert "(all values)" in classes[0].message
    assert "MDLP found no other cut" in classes[0].message


def test_missing_rows_are_no_bin():
    column = np.where(np.arange(N) < 190, np.nan, np.arange(N))
    assert found(data_notes(column[:, None], Y)) == {("missing", "0")}


@pytest.mark.parametrize("largest", [np.finfo(float).max, 5e-324])
@pytest.mark.parametrize("is_quantity", [False, True])
def test_numbers_whose_squares_overflow(largest, is_quantity):
    rng = np.random.default_rng(0)
    y = rng.normal(size=200) if is_quantity else np.arange(200) % 2
    X = np.column_stack([np.where(y > 0.5, largest, -largest), rng.normal(size=200)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        data_notes(X, y)

"""The kernels that learn and code in one pass against a twin in NumPy, on many random tables."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from hocmim import _native
from hocmim.coding.encoder import Encoder
from hocmim.coding.target import Target, encode_target
from hocmim.errors import InvalidTableError

DISCRETIZERS = ["uniform", "quantile"]
TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
SIZES = [(2, 1), (7, 40), (8, 8), (9, 33), (63, 31), (64, 32), (257, 9), (1000, 70), (2003, 5)]


# --- the twin -------------------------------------------------------------------------------------


def twin_cuts(present, levels, discretizer, n_bins):
    """The cuts of a column with more levels than bins."""
    if discretizer == "uniform":
        low, high, k = levels[0], levels[-1], np.arange(1, n_bins)
        with np.errstate(over="ignore", invalid="ignore"):
            cuts = low + (high - low) * k / n_bins
        return np.where(np.isfinite(cuts), cuts, low * (1 - k / n_bins) + high * (k / n_bins))
    ordered = np.sort(present)
    chosen = [ordered[k * len(ordered) // n_bins] for k in range(1, n_bins)]
    return np.unique([max(value, levels[1]) for value in chosen])


def twin_column(values, discretizer, n_bins):
    """Kind, cuts, levels, codes, arity and most frequent code of one column."""
    values = np.asarray(values, np.float64) + 0.0
    missing = np.isnan(values)
    present = values[~missing]
    levels = np.unique(present)
    if len(levels) > n_bins:
        kind, cuts = "cut", twin_cuts(present, levels, discretizer, n_bins)
        levels = np.empty(0)
    else:
        kind, middle = "levels", levels[:-1] / 2 + levels[1:] / 2
        is_inside = (middle > levels[:-1]) & (middle < levels[1:])
        cuts = np.where(is_inside, middle, levels[1:])
    n_levels = len(cuts) + 1 if len(present) else 0
    codes = np.where(missing, n_levels, np.searchsorted(cuts, values, side="right"))
    return kind, cuts, levels, codes, n_levels + missing.any(), np.bincount(codes).argmax()


def assert_as_twin(X, discretizer, n_bins, n_jobs=1):
    encoder = Encoder(n_bins, discretizer=discretizer)
    codes = encoder.fit_transform(X, n_jobs=n_jobs)
    again = encoder.transform(X, n_jobs=n_jobs)
    for j in range(X.shape[1]):
        kind, cuts, levels, expected, arity, frequent = twin_column(X[:, j], discretizer, n_bins)
        found = encoder.columns_[j]
        assert (found.kind, found.arity, codes.column(j).arity) == (kind, arity, arity)
        assert found.cuts.tobytes() == np.asarray(cuts, np.float64).tobytes()
        assert np.asarray(found.levels).tobytes() == levels.tobytes()
        np.testing.assert_array_equal(codes.column(j).codes, expected)
        np.testing.assert_array_equal(again.column(j).codes, expected)
        assert found.missing == (arity - 1 if np.isnan(X[:, j].astype(float)).any() else None)
        assert found.unknown == arity
        columns = encoder.columns_
        assert columns.most_frequent[j] == frequent
        assert columns.n_most_frequent[j] == (expected == frequent).sum()


# --- tables ---------------------------------------------------------------------------------------


def _float_column(rng, n, kind):
    normal = rng.standard_normal(n)
    return {
        "normal": lambda: normal,
        "few": lambda: rng.choice(rng.standard_normal(4), n),
        "whole": lambda: rng.integers(-3, 3, n).astype(float),
        "pixels": lambda: rng.integers(0, 256, n).astype(float),
        "counts": lambda: rng.integers(0, 3000, n).astype(float),
        "nearly whole": lambda: np.where(rng.random(n) < 0.01, 0.5, rng.integers(0, 4, n)),
        "nearly small": lambda: np.where(rng.random(n) < 0.01, 9e5, rng.integers(0, 4, n)),
        "mostly zero": lambda: np.where(rng.random(n) < 0.8, 0.0, np.abs(normal)),
        "nearly constant": lambda: np.where(rng.random(n) < 0.995, 1.5, normal),
        "heavy tails": lambda: normal / (np.abs(rng.standard_normal(n)) + 1e-6),
        "outlier": lambda: np.append(normal[1:], 1e30),
        "sorted": lambda: np.sort(normal),
        "rounded": lambda: np.round(normal, 1),
        "constant": lambda: np.full(n, -2.5),
        "zeros": lambda: rng.choice([0.0, -0.0], n),
        "signed zero": lambda: rng.choice([0.0, -0.0, 1.0, -1.5, 2.0, 3.0, 4.5], n),
        "tiny": lambda: normal * 5e-324 * 1e3,
        "huge": lambda: rng.uniform(-1, 1, n) * 1.7e308,
        "neighbours": lambda: 1.0 + rng.integers(0, 9, n) * np.spacing(1.0),
        "large": lambda: 2.0**53 + 2 * rng.integers(0, 40, n),
        "crowded": lambda: np.where(rng.random(n) < 0.7, rng.choice([0.3, 0.7], n), normal),
        "missing": lambda: np.where(rng.random(n) < 0.3, np.nan, normal),
        "late missing": lambda: np.where(np.arange(n) >= n - 3, np.nan, normal),
        "missing whole": lambda: np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 3, n)),
        "all missing": lambda: np.full(n, np.nan),
    }[kind]()


FLOATS = [
    "normal", "few", "whole", "pixels", "counts", "nearly whole", "nearly small", "mostly zero",
    "nearly constant", "heavy tails", "outlier", "sorted", "rounded", "constant", "zeros",
    "signed zero", "tiny", "huge", "neighbours", "large", "crowded", "missing",
    "late missing", "missing whole", "all missing",
]  # fmt: skip


def _integer_column(rng, n, info):
    low, high = int(info.min), int(info.max)
    spans = [1, 2, 4, 8, 20, 250, 255, 256, 300, 10**6, high - low]
    span = int(min(rng.choice(spans[:-1]) if rng.random() < 0.9 else spans[-1], high - low))
    start = int(rng.choice([low, max(low, -2), 0, high - span, max(low, min(high, 2**53)) - span]))
    start = min(max(start, low), high - span)
    steps = [int(step) for step in rng.integers(0, span, n, endpoint=True, dtype=np.uint64)]
    return [start + step for step in steps]


def random_table(rng, shape, dtype):
    """A table whose columns are of different kinds."""
    n, d = shape
    if dtype == "?":
        return rng.random(shape) < rng.random(d)
    if np.dtype(dtype).kind == "f":
        columns = [_float_column(rng, n, kind) for kind in rng.choice(FLOATS, d)]
        with np.errstate(over="ignore"):
            X = np.stack(columns, axis=1).astype(dtype)
        X[np.isinf(X)] = 0.0
        return X
    columns = [_integer_column(rng, n, np.iinfo(dtype)) for _ in range(d)]
    return np.array(columns, dtype).T.copy()


def layouts(X, rng):
    """The same values in other orders of memory."""
    yield X
    yield np.asfortranarray(X)
    apart = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
    apart[::2, ::3] = X
    yield apart[::2, ::3]
    beside = np.zeros((X.shape[0], X.shape[1] + 5), X.dtype)
    beside[:, 3:-2] = X
    yield beside[:, 3:-2]
    yield X[::-1].copy()[::-1]
    yield X.astype(X.dtype.newbyteorder())
    X = X.copy()
    X.flags.writeable = False
    yield X


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SIZES)
def test_random_tables(dtype, shape):
    rng = np.random.default_rng([TYPES.index(dtype), *shape])
    for discretizer in DISCRETIZERS:
        for n_bins in (2, 5, 40):
            assert_as_twin(random_table(rng, shape, dtype), discretizer, n_bins)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("discretizer", DISCRETIZERS)
def test_every_kind_of_column_in_row_and_column_order(kind, discretizer):
    rng = np.random.default_rng(FLOATS.index(kind))
    X = np.stack([_float_column(rng, 3001, kind) for _ in range(9)], axis=1)
    for array in (X, np.asfortranarray(X)):
        assert_as_twin(array, discretizer, 5)


CROWDED = ["clusters", "skewed", "zeros below", "zeros alone", "ties", "pipe", "one far", "gaps"]


def _crowded_column(rng, n, kind):
    """A column of which single buckets hold many rows."""
    normal = rng.standard_normal(n)
    return {
        "clusters": lambda: normal + 1e4 * rng.integers(0, 2, n),
        "skewed": lambda: np.exp(4 * normal),
        "zeros below": lambda: np.where(rng.random(n) < 0.6, 0.0, np.abs(normal) + 1e-9),
        "zeros alone": lambda: np.where(rng.random(n) < 0.6, 0.0, np.abs(normal) + 3),
        "ties": lambda: np.round(normal * 3) / 7,
        "pipe": lambda: np.abs(np.arange(n) - n // 2) + 0.5,
        "one far": lambda: np.append(normal[1:] * 1e-9, 1.0),
        "gaps": lambda: (
            np.where(rng.random(n) < 0.4, np.nan, rng.choice([0.1, 0.2, 7.5, 8.25], n))
            + (np.arange(n) % 3 == 0)
        ),
    }[kind]()


@pytest.mark.parametrize("tiny", [1e-15, 1e-17, 1.7e-151, -1e-300, 5e-324])
@pytest.mark.parametrize("low", [0.0, -2.0, 7.0, 1e6])
def test_a_tiny_difference_among_whole_numbers(tiny, low):
    """The sample of rows does not have it; it is lost when the origin of the buckets is added."""
    rng = np.random.default_rng(12)
    X = rng.integers(0, 3, (1000, 9)) + low
    X[777, 4] = tiny
    X[[555, 778], 6] = np.nan, tiny
    X[776, 8] = low + tiny
    for array in (X, np.asfortranarray(X)):
        for discretizer in DISCRETIZERS:
            for n_bins in (2, 5):
                assert_as_twin(array, discretizer, n_bins)


@pytest.mark.parametrize("kind", CROWDED)
@pytest.mark.parametrize("n_bins", [2, 5, 17, 32, 33])
def test_buckets_that_hold_many_rows(kind, n_bins):
    rng = np.random.default_rng([CROWDED.index(kind), n_bins])
    for n in (5, 64, 65, 1000, 4001):
        X = np.stack([_crowded_column(rng, n, kind) for _ in range(9)], axis=1)
        X[:, 4] = _float_column(rng, n, "whole")  # the lanes beside it are not whole
        for array in (X, np.asfortranarray(X), X[:, :3]):
            assert_as_twin(array, "quantile", n_bins)


def test_instruction_sets_code_crowded_columns_alike():
    """In a process each, because the instruction set is chosen when the module is loaded."""
    program = """
        import hashlib, sys
        import numpy as np
        from hocmim.coding.encoder import Encoder
        sys.path.insert(0, sys.argv[1])
        from test_encode_kernels import CROWDED, FLOATS, _crowded_column, _float_column
        rng = np.random.default_rng(11)
        columns = [_crowded_column(rng, 1003, kind) for kind in CROWDED]
        columns += [_float_column(rng, 1003, kind) for kind in FLOATS]
        X, digest = np.stack(columns, axis=1), hashlib.sha256()
        for table in (X, np.asfortranarray(X)):
            for n_bins in (2, 5, 32):
                digest.update(Encoder(n_bins).fit_transform(table).narrow.tobytes())
        print(digest.hexdigest())
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(Path(__file__).parent)]
    found = {
        subprocess.run(
            command, env={**os.environ, "HOCMIM_ISA": isa},
            capture_output=True, text=True, check=True,
        ).stdout
        for isa in _native.instruction_sets()
    }  # fmt: skip
    assert len(found) == 1


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f4", "f8"])
def test_layouts(dtype, monkeypatch):
    monkeypatch.setattr("hocmim.coding.encoder.MAX_BYTES_OF_ONE_THREAD", 0)
    monkeypatch.setattr("hocmim.coding.encoder.MIN_SPAN_CELLS", 1)
    rng = np.random.default_rng(5)
    for X in layouts(random_table(rng, (300, 41), dtype), rng):
        for n_jobs in (1, 2):
            assert_as_twin(X, "quantile", 5, n_jobs)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["normal", "whole", "few", "missing"])
def test_an_infinite_value_names_its_column(value, order, kind):
    rng = np.random.default_rng(6)
    for discretizer in DISCRETIZERS:
        X = np.asarray(rng.standard_normal((500, 50)), order=order)
        X[:, 37] = _float_column(rng, 500, kind)
        encoder = Encoder(discretizer=discretizer).fit(X)
        X[321, 37] = value
        X[3, 40] = value
        for encode in (encoder.transform, Encoder(discretizer=discretizer).fit):
            with pytest.raises(InvalidTableError, match="column 37"):
                encode(X)


def test_mdlp_of_small_integers_is_that_of_the_same_numbers_with_fractions():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 3, 900)
    X = rng.integers(0, 60, (900, 40)) + 5 * y[:, None]
    small = Encoder(discretizer="mdlp").fit(X.astype(np.int16), y)
    large = Encoder(discretizer="mdlp").fit(X + 0.25, y)
    for one, two in zip(small.columns_, large.columns_, strict=True):
        np.testing.assert_array_equal(one.cuts + 0.25, two.cuts)
    assert any(len(column.cuts) for column in small.columns_)


# --- sparse ---------------------------------------------------------------------------------------


def random_sparse(rng, n, d, format):
    """Columns of different density and kind, with stored zeros and missing values."""
    X = np.zeros((n, d))
    for j in range(d):
        rows = rng.random(n) < rng.choice([0.0, 0.01, 0.1, 0.5, 1.0])
        kind = rng.choice(["normal", "few", "whole", "counts", "constant", "rounded", "missing"])
        X[rows, j] = _float_column(rng, n, kind)[rows]
    matrix = sparse.coo_array(X)
    stored = sparse.coo_array((np.zeros(5), (np.arange(5), np.arange(5) % d)), (n, d))
    return X, (matrix + stored).asformat(format)


@pytest.mark.parametrize("format", ["csc", "csr", "coo"])
@pytest.mark.parametrize("discretizer", [*DISCRETIZERS, "mdlp"])
def test_a_sparse_table_has_the_codes_of_the_dense_one(format, discretizer, monkeypatch):
    monkeypatch.setattr("hocmim.coding.encoder.MAX_BYTES_OF_ONE_THREAD", 0)
    monkeypatch.setattr("hocmim.coding.encoder.MIN_SPAN_CELLS", 1)
    rng = np.random.default_rng(8)
    for n_bins in (2, 5, 40, 300):
        X, matrix = random_sparse(rng, 700, 60, format)
        y = rng.integers(0, 3, 700)
        dense, found = (Encoder(n_bins, discretizer=discretizer) for _ in range(2))
        expected, codes = dense.fit_transform(X, y), found.fit_transform(matrix, y, n_jobs=2)
        again = found.transform(matrix, n_jobs=2)
        for one, two in ((expected, codes), (dense.transform(X), again)):
            np.testing.assert_array_equal(one.narrow, two.narrow)
            np.testing.assert_array_equal(one.wide, two.wide)
        for one, two in zip(dense.columns_, found.columns_, strict=True):
            assert (one.kind, one.missing, one.unknown) == (two.kind, two.missing, two.unknown)
            assert one.cuts.tobytes() == two.cuts.tobytes()
            assert one.levels.tobytes() == two.levels.tobytes()


def test_parts_of_a_stored_value_are_added():
    parts = ([1.0, 2.0, 5.0], ([0, 0, 2], [0, 0, 0]))
    matrix = sparse.csc_array(
        (np.array([1.0, 2.0, 5.0]), np.array([0, 0, 2]), np.array([0, 3])), shape=(4, 1)
    )
    assert Encoder().fit(matrix).columns_[0].levels.tolist() == [0.0, 3.0, 5.0]
    assert matrix.nnz == 3  # the matrix of the user is as before
    assert Encoder().fit(sparse.coo_array(parts, (4, 1))).columns_[0].levels.tolist() == [0, 3, 5]


def test_an_infinite_value_of_a_sparse_table_names_its_column():
    values = np.random.default_rng(9).random((100, 20))
    matrix = sparse.csc_array(np.where(values < 0.1, values, 0.0))
    encoder = Encoder().fit(matrix)
    matrix.data[matrix.indptr[7]] = np.inf
    for encode in (encoder.transform, Encoder().fit):
        with pytest.raises(InvalidTableError, match="column 7"):
            encode(matrix)


# --- interrupts -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_encoding(n_jobs):
    """In a process of its own: encoding for many seconds is stopped by the signal."""
    program = f"""
        import numpy as np, os, signal, threading
        from hocmim.coding.encoder import Encoder
        X = np.random.default_rng(0).random((2_000_000, 8), np.float32)
        y = np.arange(len(X)) % 7
        Encoder(discretizer="uniform").fit(X[:100])
        timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
        timer.start()
        try:
            for _ in range(1000):
                Encoder(discretizer="mdlp").fit(X, y, n_jobs={n_jobs})
        except KeyboardInterrupt:
            print("stopped")
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert found.stdout == "stopped\n"


@pytest.mark.parametrize("n_rows", [0, 3])
def test_a_negative_number_of_classes_is_refused(n_rows):
    values, classes = np.zeros((n_rows, 1), order="F"), np.zeros(n_rows, np.int64)
    with pytest.raises(ValueError, match="n_classes must not be negative"):
        _native.mdlp_cuts(values, np.zeros(1, np.int64), classes, -1)


@pytest.mark.parametrize("method", [0, 1, 2])
def test_a_sparse_table_without_rows(method):
    none, rows = np.zeros(0), np.zeros(0, np.int64)
    found = _native.encode_sparse(
        none, rows, np.zeros(3, np.int64), 0, method, 5, rows, 2, np.zeros((2, 0), np.uint8)
    )
    for part in (found.is_cut, found.has_missing, found.n_cuts, found.n_distinct, found.n_levels):
        assert part.tolist() == [0, 0]
    assert found.infinite_column == -1


# --- the target -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
def test_classes_are_the_distinct_values(dtype):
    rng = np.random.default_rng(10)
    low, high = (0, 2) if dtype == "?" else (0, 100)
    targets = [rng.integers(low, high, n).astype(dtype) for n in (2, 30, 5000)]
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        targets += [np.array([info.max, info.min, info.max], dtype)]
        targets += [rng.choice(np.array([info.max, info.max - 1, info.max - 7], dtype), 50)]
    if dtype == "f8":
        targets += [np.array([2.0**53, 2.0**53 + 2, -1.0]), np.array([1e300, 5.0, -7.0])]
    for y in targets:
        if len(np.unique(y)) > 1:
            classes, codes = np.unique(y, return_inverse=True)
            found = encode_target(y, target=Target("classes"))
            assert found.classes.dtype == classes.dtype
            np.testing.assert_array_equal(found.classes, classes)
            np.testing.assert_array_equal(found.column.codes, codes)

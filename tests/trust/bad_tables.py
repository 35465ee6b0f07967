"""Bad and unusual tables in memory: each kind is a row of the matrix of bad input.

A kind is a function of no arguments. It returns the arguments of ``fit``: X, y, and perhaps more.
"""

import datetime
import decimal
import fractions
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

N_ROWS, N_COLUMNS = 60, 5
NAMES = [f"f{j}" for j in range(N_COLUMNS)]
HUGE = 10**9

# Text that a terminal or a page could obey.
HOSTILE_TEXT = {
    "control characters": "\a\b\x0b\x0c\x7f\r",
    "NUL": "a\0b",
    "ANSI colours": "\x1b[31mred\x1b[0m",
    "ANSI cursor": "\x1b[2J\x1b[1;1Hgone",
    "ANSI title": "\x1b]0;title\x07",
    "C1 controls": "\x9b31m\x85\x90",
    "right-to-left marks": "\u202eabc\u202c\u2066\u2069\u200f",
    "zero-width characters": "a\u200bb\ufeff\u2060",
    "line separators": "a\u2028b\u2029c\nd",
    "emoji": "🧬👩‍🔬🏳️‍🌈",
    "surrogate": "half \ud83d",
    "markup": "[bold red]x[/] <script>alert(1)</script>",
}


def numbers(n_rows=N_ROWS, n_columns=N_COLUMNS):
    """A usual table of small integers, whose first column decides y."""
    rng = np.random.default_rng(7)
    X = rng.integers(0, 3, (n_rows, n_columns)).astype(np.float64)
    return X, ((X[:, 0] + (rng.random(n_rows) < 0.1)) % 2).astype(np.int64)


def frame():
    X, y = numbers()
    return pd.DataFrame(X, columns=NAMES), pd.Series(y, name="target")


def _good():
    return numbers()


# --- shapes ---------------------------------------------------------------------------------------


def _rows(n_rows):
    X, y = numbers()
    return X[:n_rows], y[:n_rows]


def _shaped(shape):
    return np.zeros(shape), numbers()[1]


def _given(X):
    return X, numbers()[1]


def _y_given(y):
    return numbers()[0], y() if callable(y) else y


def _columns(n_columns):
    rng = np.random.default_rng(1)
    return rng.integers(0, 2, (20, n_columns), dtype=np.int8), np.arange(20) % 2


def _levels(n_levels):
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.permutation(n_levels), rng.integers(0, 3, n_levels)])
    return X.astype(np.int64), X[:, 1] % 2


def _text_levels(n_levels):
    X, y = _levels(n_levels)
    return pd.DataFrame({"id": X[:, 0].astype(str), "a": X[:, 1]}), y


# --- values ---------------------------------------------------------------------------------------


def _with(value, place=(3, 1)):
    X, y = numbers()
    X[place] = value
    return X, y


def _filled(value, dtype=np.float64):
    X, y = numbers()
    return np.full(X.shape, value, dtype), y


def _y_filled(value, dtype=np.float64):
    X, y = numbers()
    return X, np.full(len(y), value, dtype)


def _y_with(value):
    X, y = numbers()
    y = y.astype(np.float64)
    y[3] = value
    return X, y


def _typed(dtype):
    X, y = numbers()
    return X.astype(dtype), y


def _column(values, dtype=object):
    """A frame with one more column of these values, repeated."""
    X, y = frame()
    cells = np.empty(N_ROWS, object)
    for row in range(N_ROWS):
        cells[row] = values[row % len(values)]
    X.insert(1, "odd", pd.Series(cells, dtype=dtype) if dtype is object else cells.astype(dtype))
    return X, y


def _arrow(values, kind):
    X, y = frame()
    table = pa.table({name: X[name].to_numpy() for name in NAMES})
    cells = [values[row % len(values)] for row in range(N_ROWS)]
    return table.append_column("odd", pa.array(cells, kind)), y.to_numpy()


def _text_of_bytes(values):
    """Text whose bytes nobody has checked, as in a damaged file."""
    table, y = _arrow(values, pa.binary())
    odd = table.column("odd").combine_chunks()
    text = pa.Array.from_buffers(pa.string(), len(odd), odd.buffers(), odd.null_count)
    return table.set_column(table.column_names.index("odd"), "odd", text), y


def _polars(values, dtype):
    X, y = frame()
    cells = pl.Series("odd", [values[row % len(values)] for row in range(N_ROWS)])
    return pl.DataFrame(dict(X.items())).with_columns(cells.cast(dtype)), y.to_numpy()


def _extremes(dtype):
    limits = np.iinfo(dtype)
    X, y = numbers()
    X = X.astype(dtype)
    X[::2, 1], X[1::2, 1], X[::3, 2] = limits.min, limits.max, limits.max - 1
    return X, y


def _float_extremes():
    X, y = numbers()
    X[:, 1] = np.where(y, np.finfo(float).max, -np.finfo(float).max)
    X[:, 2] = np.where(y, 5e-324, -5e-324)
    return X, y


def _longdouble_extremes():
    X, y = _typed(np.longdouble)
    X[4, 1] = np.finfo(np.longdouble).max
    return X, y


# --- names and labels -----------------------------------------------------------------------------


def _named(names):
    X, y = frame()
    X.columns = names if isinstance(names, pd.Index) else pd.Index(names, dtype=object)
    return X, y


def _hostile_names(text):
    return _named([text, *(f"{text}{j}" for j in range(1, N_COLUMNS))])


def _hostile_labels(text):
    X, y = frame()
    labels = np.array(["plain", text], object)[y]
    X["odd"] = pd.Series(labels, dtype=object)
    return X, pd.Series(labels, name=text, dtype=object)


def _feature_named_like_target():
    X, y = frame()
    return X, y.rename("f1")


# --- layout ---------------------------------------------------------------------------------------


def _read_only():
    X, y = numbers()
    X.flags.writeable = y.flags.writeable = False
    return X, y


def _swapped():
    X, y = numbers()
    return X.astype(X.dtype.newbyteorder()), y.astype(y.dtype.newbyteorder())


def _strided():
    X, y = numbers(2 * N_ROWS, 2 * N_COLUMNS)
    return X[::-2, ::-2], y[::-2]


def _unaligned():
    X, y = numbers()
    raw = np.zeros(X.nbytes + 1, np.uint8)
    odd = raw[1:].view(np.float64).reshape(X.shape)
    odd[:] = X
    return odd, y


def _broadcast():
    _, y = numbers()
    return np.broadcast_to(np.arange(5.0), (len(y), 5)), y


# --- sparse ---------------------------------------------------------------------------------------


def _sparse(kind="csr", **damage):
    X, y = numbers()
    matrix = sparse.csr_matrix(X).asformat(kind)
    for name, (place, value) in damage.items():
        getattr(matrix, name)[place] = value
    return matrix, y


def _short_sparse():
    matrix, y = _sparse()
    matrix.data = matrix.data[:3]
    return matrix, y


def _huge_sparse():
    return sparse.csc_matrix((HUGE, 3)), np.zeros(10)


def _huge_wide_sparse():
    return sparse.csr_matrix((4, HUGE)), np.array([0, 1, 0, 1])


def _weights(value):
    X, y = numbers()
    weights = np.ones(len(y))
    weights[2] = value
    return X, y, weights


MOMENT = datetime.datetime(2020, 1, 1)
KINDS = {
    "good": _good,
    "good frame": frame,
    # shapes
    "no rows": partial(_rows, 0),
    "one row": partial(_rows, 1),
    "two rows": partial(_rows, 2),
    "no columns": partial(_shaped, (N_ROWS, 0)),
    "no rows and columns": partial(_shaped, (0, 0)),
    "one dimension": partial(_shaped, N_ROWS),
    "three dimensions": partial(_shaped, (N_ROWS, 2, 2)),
    "None": partial(_given, None),
    "empty list": partial(_given, []),
    "list of empty lists": partial(_given, [[]] * N_ROWS),
    "ragged list": partial(_given, [[1, 2], [3]] * 30),
    "a number": partial(_given, 3),
    "a string": partial(_given, "abc"),
    "bytes": partial(_given, b"abc"),
    "dict": partial(_given, {"a": [1, 2]}),
    "object": lambda: _given(object()),
    "generator": lambda: _given(iter([[1, 2]])),
    "set": partial(_given, {1, 2}),
    "a frame without columns": lambda: _given(pd.DataFrame(index=range(N_ROWS))),
    "y None": partial(_y_given, None),
    "y too short": partial(_y_given, np.array([0, 1])),
    "y empty": partial(_y_given, np.array([])),
    "y a number": partial(_y_given, 3),
    "y a string": partial(_y_given, "abc"),
    "y three dimensions": partial(_y_given, np.zeros((N_ROWS, 2, 2))),
    "y object": lambda: _y_given(object()),
    "y of lists": lambda: _y_given([[1], [2, 3]] * 30),
    "100 000 columns": partial(_columns, 100_000),
    "70 000 levels": partial(_levels, 70_000),
    "70 000 levels of text": partial(_text_levels, 70_000),
    # values
    "one class": partial(_y_filled, 1, np.int64),
    "constant": partial(_filled, 1.0),
    "NaN everywhere": partial(_filled, np.nan),
    "infinity everywhere": partial(_filled, np.inf),
    "-infinity everywhere": partial(_filled, -np.inf),
    "one NaN": partial(_with, np.nan),
    "one infinity": partial(_with, np.inf),
    "one -infinity": partial(_with, -np.inf),
    "y NaN everywhere": partial(_y_filled, np.nan),
    "y infinity everywhere": partial(_y_filled, np.inf),
    "y one NaN": partial(_y_with, np.nan),
    "y one infinity": partial(_y_with, np.inf),
    "y of None": partial(_y_filled, None, object),
    "all-missing column": partial(_with, np.nan, (slice(None), 2)),
    "all-missing object column": partial(_column, [None]),
    "NA column": partial(_column, [pd.NA, 1], "object"),
    "nullable integers": lambda: (frame()[0].astype("Int64").mask(frame()[0] == 2), frame()[1]),
    "unhashable objects": partial(_column, [[1], {}, {2}]),
    "mixed objects": partial(_column, [1, "a", None, 2.5, MOMENT, b"x", (1,), object]),
    "objects that cannot be compared": partial(_column, [1 + 2j, "a", np.array([1, 2])]),
    "y unhashable": lambda: _y_given(_column([[1], {}])[0]["odd"]),
    "y mixed objects": lambda: _y_given(_column([1, "a", None, MOMENT])[0]["odd"]),
    "y a signalling NaN": lambda: _y_given([decimal.Decimal("sNaN"), decimal.Decimal(1)] * 30),
    "y beyond int64": lambda: _y_given([10**30, 3] * 30),
    "y of huge fractions": lambda: _y_given([fractions.Fraction(10**400), 3] * 30),
    "y longdouble": lambda: _y_given(np.array(["1e4000", "1"] * 30, np.longdouble)),
    "y polars int128": lambda: _y_given(pl.Series([10**30, 3] * 30, dtype=pl.Int128)),
    "y polars struct": lambda: _y_given(pl.Series([{"a": 0}, {"a": 1}] * 30)),
    "y arrow time": lambda: _y_given(pa.array([1001, 1] * 30, pa.time64("ns"))),
    "y arrow union": lambda: _y_given(
        pa.UnionArray.from_sparse(pa.array([0] * N_ROWS, pa.int8()), [pa.array([0, 1] * 30)])
    ),
    "complex": partial(_typed, complex),
    "bytes cells": partial(_typed, "S3"),
    "structured": lambda: _given(np.zeros((N_ROWS, 2), [("a", "i4")])),
    "int64 extremes": partial(_extremes, np.int64),
    "uint64 extremes": partial(_extremes, np.uint64),
    "python integers beyond int64": partial(_column, [10**30, -(10**30), 3]),
    "float extremes": _float_extremes,
    "longdouble extremes": _longdouble_extremes,
    "float16": partial(_typed, np.float16),
    "longdouble": partial(_typed, np.longdouble),
    "decimals": partial(_column, [decimal.Decimal("1.5"), decimal.Decimal("NaN")]),
    "a signalling NaN": partial(_column, [decimal.Decimal("sNaN"), decimal.Decimal(1)]),
    "longdoubles as objects": partial(_column, [np.longdouble("1e4000"), 1.0], "object"),
    "decimal128": partial(_arrow, [decimal.Decimal("1.50"), None], pa.decimal128(38, 2)),
    "decimal256": partial(_arrow, [decimal.Decimal(9) ** 60, None], pa.decimal256(76, 2)),
    "dates out of range": partial(_column, [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]),
    "datetime64 out of range": partial(
        _column, [np.datetime64("300000-01-01"), np.datetime64("NaT")], "datetime64[s]"
    ),
    "arrow timestamps out of range": partial(_arrow, [2**62, -(2**62), None], pa.timestamp("s")),
    "arrow dates out of range": partial(_arrow, [2**31 - 1, -(2**31)], pa.date32()),
    "arrow durations out of range": partial(_arrow, [2**62, -(2**62)], pa.duration("s")),
    "polars dates out of range": partial(_polars, [2**31 - 1, -(2**31), None], pl.Date),
    "polars datetimes out of range": partial(_polars, [2**63 - 1, -(2**63)], pl.Datetime("ms")),
    "polars times out of range": partial(_polars, [86_399_999_999_999, 0], pl.Time),
    "polars list": partial(_polars, [[1], None], pl.List(pl.Int64)),
    "polars struct": lambda: (
        pl.DataFrame({"a": [{"b": 1}] * N_ROWS, "c": [0, 1] * 30}),
        numbers()[1],
    ),
    "polars object": lambda: (pl.DataFrame({"a": [object()] * N_ROWS}), numbers()[1]),
    "polars int128": partial(_polars, [10**30, 3], pl.Int128),
    "polars null column": partial(_polars, [None], pl.Null),
    "polars lazy": lambda: (_polars([1], pl.Int64)[0].lazy(), numbers()[1]),
    "arrow list": partial(_arrow, [[1], [2, 3], None], pa.list_(pa.int64())),
    "arrow struct": partial(_arrow, [{"a": 1}, None], pa.struct([("a", pa.int64())])),
    "arrow map": partial(_arrow, [[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
    "arrow binary": partial(_arrow, [b"\xff\0", None], pa.binary()),
    "arrow text that is not UTF-8": lambda: _text_of_bytes([b"\x80", b"a", None]),
    "arrow null": partial(_arrow, [None], pa.null()),
    "arrow interval": lambda: _arrow([(1, 2, 3)], pa.month_day_nano_interval()),
    "arrow time": partial(_arrow, [1, None], pa.time64("ns")),
    "masked array": lambda: (np.ma.masked_all((N_ROWS, 3)), numbers()[1]),
    # names
    "duplicate names": partial(_named, ["a", "a", "b", "c", "d"]),
    "integer names": partial(_named, [5, 4, 3, 2, 1]),
    "mixed names": partial(_named, ["a", 1, 2.5, None, ("x",)]),
    "empty names": partial(_named, ["", " ", "  ", "\t", "a"]),
    "several levels of names": lambda: _named(pd.MultiIndex.from_product([["a"], range(5)])),
    "long names": partial(_named, ["x" * 100_000 + str(j) for j in range(5)]),
    "feature named like the target": _feature_named_like_target,
    **{f"names with {key}": partial(_hostile_names, text) for key, text in HOSTILE_TEXT.items()},
    **{f"labels with {key}": partial(_hostile_labels, text) for key, text in HOSTILE_TEXT.items()},
    # layout
    "read-only": _read_only,
    "byte-swapped": _swapped,
    "non-contiguous": _strided,
    "unaligned": _unaligned,
    "broadcast": _broadcast,
    # sparse
    "sparse": _sparse,
    "sparse index out of range": partial(_sparse, indices=(4, 10**6)),
    "sparse negative index": partial(_sparse, indices=(4, -5)),
    "sparse pointer out of range": partial(_sparse, indptr=(-1, 10**6)),
    "sparse falling pointers": partial(_sparse, indptr=(5, 0)),
    "sparse negative pointer": partial(_sparse, indptr=(0, -7)),
    "csc index out of range": partial(_sparse, "csc", indices=(4, 10**6)),
    "csc pointer out of range": partial(_sparse, "csc", indptr=(-1, 2**31 - 1)),
    "bsr index out of range": partial(_sparse, "bsr", indices=(0, 10**6)),
    "coo index out of range": partial(_sparse, "coo", col=(0, 10**6)),
    "coo negative index": partial(_sparse, "coo", row=(0, -3)),
    "sparse with too few values": _short_sparse,
    "huge empty sparse": _huge_sparse,
    "huge wide empty sparse": _huge_wide_sparse,
    "sparse NaN": partial(_sparse, data=(0, np.nan)),
    "sparse infinity": partial(_sparse, data=(0, np.inf)),
    # weights
    "weight NaN": partial(_weights, np.nan),
    "weight infinity": partial(_weights, np.inf),
    "weight negative": partial(_weights, -1),
    "weight 1e9": partial(_weights, 1e9),
    "weight 1e300": partial(_weights, 1e300),
    "weights all 1e9": lambda: (*numbers(), np.full(N_ROWS, 1e9)),
    "weights all 4e9": lambda: (*numbers(), np.full(N_ROWS, 7e7)),
    "weights tiny": lambda: (*numbers(), np.full(N_ROWS, 5e-324)),
    "weights zero": lambda: (*numbers(), np.zeros(N_ROWS)),
    "weights of text": lambda: (*numbers(), ["a"] * N_ROWS),
    "weights too few": lambda: (*numbers(), [1, 2]),
    "weights of lists": lambda: (*numbers(), [[1, 2], [3]]),
}

"""Row partitions against the encoder of whole tables, which they must equal bit for bit."""

import pickle
from functools import reduce

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import dataset, parquet

from hocmim import sources
from hocmim.codes import Codes
from hocmim.discretize import Ragged, Survey
from hocmim.encode import Encoder, encode_target, most_frequent
from hocmim.errors import InvalidColumnError, InvalidTableError, InvalidTargetError
from hocmim.partitions import (
    TableSurvey,
    columns_to_cut,
    cut_columns,
    encode_partition,
    fit_encoder,
    fit_target,
    read_numbers,
    survey_partition,
    survey_target,
)
from hocmim.sources import RowSource, encode_source, encode_source_target, open_source

DISCRETIZERS = ("uniform", "quantile", "mdlp")


def assert_same_codes(one: Codes, two: Codes):
    for name in ("narrow", "wide", "place", "arity"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert one.names == two.names


def assert_same_encoder(one: Encoder, two: Encoder):
    assert one.n_features_in_ == two.n_features_in_
    names = [getattr(encoder, "feature_names_in_", np.empty(0)).tolist() for encoder in (one, two)]
    assert names[0] == names[1]
    for a, b in zip(one.columns_, two.columns_, strict=True):
        assert (a.kind, a.missing, a.unknown, a.arity) == (b.kind, b.missing, b.unknown, b.arity)
        np.testing.assert_array_equal(a.cuts, b.cuts)
        assert list(a.levels) == list(b.levels)


def mixed_frame(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """Columns of every kind, missing values in most."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "normal": rng.normal(size=n),
            "few": rng.integers(0, 4, n).astype(float),
            "int": rng.integers(-50, 50, n),
            "bool": rng.random(n) < 0.3,
            "zeros": np.where(rng.random(n) < 0.8, 0.0, rng.random(n)),
            "constant": 3,
            "nothing": np.nan,
            "word": rng.choice(["b", "a", "", "zz", "ß"], n, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
            "many": rng.integers(0, 300, n).astype(str),
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), unit="D"),
            "single": rng.normal(size=n).astype("f4"),
        }
    )
    frame.loc[rng.random(n) < 0.1, ["normal", "few", "word"]] = None
    frame["kind"] = pd.Categorical(rng.choice([3, 1, 2], n), categories=[5, 3, 2, 1])
    return frame


def cut_rows(frame, bounds):
    edges = [0, *bounds, len(frame)]
    return [frame[a:b] for a, b in zip(edges[:-1], edges[1:], strict=True)]


def encode_by_functions(parts, y, discretizer, n_bins):
    """The recipe of the module's docstring, every value sent through pickle as to a worker."""

    def sent(value):
        return pickle.loads(pickle.dumps(value))

    surveys = [sent(survey_partition(sent(part), n_bins)) for part in parts]
    while len(surveys) > 1:  # a tree
        pairs = [surveys[i : i + 2] for i in range(0, len(surveys), 2)]
        surveys = [sent(reduce(TableSurvey.merge, pair)) for pair in pairs]
    columns = columns_to_cut(surveys[0], discretizer)
    cuts = None
    if len(columns):
        values = np.vstack([read_numbers(part, columns) for part in parts])
        cuts = Ragged.concatenate(
            [cut_columns(values[:, j : j + 1], discretizer, n_bins, y) for j in range(len(columns))]
        )
    encoder = sent(fit_encoder(surveys[0], discretizer, n_bins, cuts))
    found = [sent(encode_partition(part, encoder)) for part in parts]
    codes = Codes(
        np.hstack([part.narrow for part in found]),
        np.hstack([part.wide for part in found]),
        found[0].place,
        found[0].arity,
        found[0].names,
    )
    return encoder.with_most_frequent(most_frequent(codes)), codes


@pytest.mark.parametrize("discretizer", DISCRETIZERS)
@pytest.mark.parametrize("n_bins", [2, 5, 30])
@pytest.mark.parametrize("bounds", [(), (200,), (0, 1, 1, 7, 300, 400)])
def test_partitions_give_the_codes_of_the_whole(discretizer, n_bins, bounds):
    frame = mixed_frame()
    y = encode_target(frame["int"].to_numpy() % 3).column
    expected = Encoder(discretizer, n_bins)
    codes = expected.fit_transform(frame, y)
    encoder, found = encode_by_functions(cut_rows(frame, bounds), y, discretizer, n_bins)
    assert_same_encoder(encoder, expected)
    assert_same_codes(found, codes)
    other = mixed_frame(50, seed=1)
    assert_same_codes(encoder.transform(other), expected.transform(other))

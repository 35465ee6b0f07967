"""A table becomes codes: the one way in.

A table comes in one of three kinds:

==============  ==================================================================================
in memory       a NumPy array, a DataFrame, a pyarrow table, a sparse matrix, nested lists
row source      a Parquet file or a folder of them, a pyarrow data set; it may be larger than memory
                and is read in pieces
on a cluster    a Dask collection, or Parquet files that the workers of a Dask cluster read
==============  ==================================================================================

``encode_table`` returns the codes of all three, and they are equal; after it the kind of table
does not matter. ``take_columns``, ``read_columns`` and ``time_kinds`` read some columns of another
table of the first two kinds, for ``transform`` and ``explain``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

import hocmim._native as _native
from hocmim.coding.codes import Allocate, Codes, Column, RemoteCodes
from hocmim.coding.encoded_source import encode_source, encode_source_column
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, resolve_groups
from hocmim.coding.store import codes_fingerprint, stored_codes
from hocmim.coding.target import (
    EncodedTarget,
    Target,
    encode_values,
    join_parts,
    read_part,
    warn_about_guess,
)
from hocmim.data import table as tables
from hocmim.data.checks import check_features, check_finite
from hocmim.data.passes import Report
from hocmim.data.row_groups import RowGroups, as_row_groups
from hocmim.data.rows import RowSource
from hocmim.data.sources import are_files, are_names, is_dask_collection, is_row_source, open_source
from hocmim.data.table import FrameTable, Table, as_table, check_shape
from hocmim.data.target import as_target
from hocmim.data.times import TimeKinds
from hocmim.data.weights import are_observations, as_counts, first_copies, repeated_rows
from hocmim.errors import (
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
    warn_user,
)
from hocmim.memory import BYTES_PER_CODE, warn_if_short
from hocmim.parameters import check_parameters
from hocmim.text import did_you_mean
from hocmim.threads import resolve_n_jobs

if TYPE_CHECKING:
    from hocmim.coding.dask_cluster import Cluster
    from hocmim.coding.dask_tables import DaskCollection, DaskRows

RowCounts = NDArray[np.unsignedinteger[Any]]
EncodeAgain = Callable[[Encoder], tuple[Encoder, Codes | RemoteCodes]]
Folder = str | PathLike[str]

# A fitted selector keeps at most this many bytes of codes.
MAX_KEPT_BYTES = 1 << 28


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table and its target as codes."""

    codes: Codes | RemoteCodes  # of the features
    target: EncodedTarget
    encoder: Encoder  # fitted: how every column was read and coded
    features: Features  # the columns, and the groups of columns that are one feature
    identifiers: NDArray[np.int64]  # columns that identify the rows, without those of groups
    row_counts: RowCounts | None  # the weight of each row of the user's table
    row_groups: RowGroups | None  # of each sample; a row of weight w is w samples
    # The samples that a test uses: the first copy of each row, if the copies that weights make are
    # no observations. None: all samples. See ``each_row_once``.
    observed: NDArray[np.int64] | None
    time_kinds: TimeKinds  # which columns hold dates, times or durations
    table: Table | None = None  # of a table in memory, for checks of its values
    # ``encode_again(encoder)`` codes the table another way: the fitted encoder, and the codes of
    # the features. None if the table is not at hand any more.
    encode_again: EncodeAgain | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows, each as often as its weight says."""
        return len(self.target.column.codes)

    def each_row_once(self) -> Encoded:
        """Return the rows that a test may treat as independent: without copies made by weights.

        Weights that are counts stay: a row of weight w stands for w observations.
        """
        return self if self.observed is None else self.take(self.observed)

    def take(self, samples: NDArray[np.int64]) -> Encoded:
        """Return some samples, of codes on this machine: all copies of a row, or only the first."""
        codes, observed, again = self.codes, self.observed, self.encode_again
        assert isinstance(codes, Codes)
        if observed is not None:
            observed = np.flatnonzero(np.isin(samples, observed))

        def encode_again(encoder: Encoder) -> tuple[Encoder, Codes]:
            assert again is not None
            fitted, codes = again(encoder)
            assert isinstance(codes, Codes)
            return fitted, codes.take(samples)

        return replace(
            self,
            codes=codes.take(samples),
            target=self.target.take(samples),
            row_counts=None,
            row_groups=None if self.row_groups is None else self.row_groups[samples],
            observed=observed,
            table=None,
            encode_again=None if again is None else encode_again,
        )

    def if_small(self) -> Encoded | None:
        """Return the codes alone if a selector may keep them: on disk, or few enough bytes."""
        codes = self.codes
        if not isinstance(codes, Codes):
            return None  # on a cluster, which may be gone
        parts = codes.narrow, codes.wide
        if sum(part.nbytes for part in parts if not _is_on_disk(part)) > MAX_KEPT_BYTES:
            return None
        return replace(self, codes=replace(codes, made_planes=()), table=None, encode_again=None)


def _is_on_disk(array: np.ndarray) -> bool:
    """Whether an array is a memory-mapped file, or a view of one."""
    base: object = array
    while base is not None:
        if isinstance(base, np.memmap):
            return True
        base = getattr(base, "base", None)
    return False


def encode_table(
    X: Any,
    y: Any,
    *,
    encoder: Encoder | None = None,
    target: Target | str | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    feature_groups: Any = None,
    identifiers: NDArray[np.int64] | None = None,
    cluster: Cluster | None = None,
    codes_dir: Folder | None = None,
    n_jobs: int | None = None,
    plane_estimator: str | None = None,
    caller: str = "hocmim",
    on_features: Callable[[Features], None] | None = None,
    report: Report | None = None,
) -> Encoded:
    """Encode a table and its target.

    X is a table, a path, a pyarrow data set, a RowSource or a Dask collection. y is an array (with
    several columns for several targets), or the name of the column of X that is the target, or a
    list of names; the other columns are the features then. ``encoder`` is not changed.

    ``sample_weight``, ``groups`` and ``feature_groups`` are what ``as_counts``, ``as_row_groups``
    and ``resolve_groups`` read. ``identifiers`` are columns that identify the rows, if they were
    decided before: a resample of the rows repeats identifiers, and does not show what they are.
    ``cluster`` does the work; None for this machine, with ``n_jobs`` threads, which change no code.
    The codes are kept in memory, or in the folder ``codes_dir``. For ``plane_estimator``, the
    estimator of a search that follows on this machine, bit planes are made. ``on_features`` is
    called with the features before a value is read; it may raise. ``report(task, done, total)`` is
    called while files, or a Dask collection, are read.
    """
    encoder = Encoder() if encoder is None else encoder
    how = Target.of(target)
    data: Table | RowSource | DaskCollection
    remote: DaskRows | None = None
    if is_dask_collection(X):
        _reject_weights(sample_weight)
        data = remote = _open_collection(X, y, cluster, caller)
    elif is_row_source(X):
        _reject_weights(sample_weight)
        data, y = _open_source(X, y, caller)
        remote = _on_workers(data, cluster)
    else:
        bytes_per_value = BYTES_PER_CODE if codes_dir is None else 0
        data, y = open_memory(X, y, sample_weight, caller=caller, bytes_per_value=bytes_per_value)
    features = resolve_groups(feature_groups, data.n_columns, data.names)
    if on_features is not None:
        on_features(features)
    if remote is not None:
        _check_local_only(codes_dir, features)
    row_counts = data.row_counts if isinstance(data, Table) else None
    row_groups = None if groups is None else _groups_of_samples(groups, data.n_rows, row_counts)
    if isinstance(data, RowSource):
        y = join_parts(map(read_part, data.target_parts())) if y is None else y
    elif not isinstance(data, Table):
        y = data.read_target()
    encoded_target = encode_values(y, how)
    _check_target(encoded_target, how, encoder)
    y_column = encoded_target.column
    observed = None
    if row_counts is not None and not are_observations(sample_weight, row_counts, y_column.codes):
        observed = first_copies(row_counts)
    n_classes = 0
    if plane_estimator is not None and cluster is None and not features.groups:
        needs_samples = _native.needs_samples(getattr(_native.Estimator, plane_estimator))
        n_classes = 0 if needs_samples else y_column.arity

    def encode(
        encoder: Encoder,
        codes_dir: Folder | None = None,
        plane_classes: int = 0,
        report: Report | None = None,
    ) -> tuple[Encoder, Codes | RemoteCodes]:
        if remote is not None:
            return remote.encode(y_column, encoder, report)
        assert isinstance(data, (Table, RowSource))
        fitted, columns = _encode_here(
            data,
            y_column,
            encoder,
            resolve_n_jobs(n_jobs),
            codes_dir=codes_dir,
            plane_classes=plane_classes,
            report=report,
        )
        return fitted, features.join(columns)

    fitted, codes = encode(encoder, codes_dir, n_classes, report)
    found = fitted.identifiers_ if identifiers is None else identifiers
    return Encoded(
        codes,
        encoded_target,
        fitted,
        features,
        features.alone(found),
        row_counts,
        row_groups,
        observed,
        data.time_kinds(range(data.n_columns)),
        data if isinstance(data, Table) else None,
        encode,
    )


def find_identifiers(X: Any) -> NDArray[np.int64]:
    """Return the columns of a table in memory that identify the rows."""
    return Encoder().fit(X, n_jobs=-1).identifiers_


# --- the steps of encode_table --------------------------------------------------------------------


def open_memory(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    caller: str = "hocmim",
    bytes_per_value: int = BYTES_PER_CODE,
    several: bool = True,
) -> tuple[Table, NDArray[Any]]:
    """Check a table in memory, the weights and the target, in this order; return table and target.

    A row of weight w occurs w times in both. ``bytes_per_value`` is what is kept of a value: see
    :func:`hocmim.memory.warn_if_short`. ``several``: whether y may have several columns.
    """
    X, y = split_target(X, y)
    table = as_table(X, min_rows=2)
    n_rows = table.n_rows
    counts = None if sample_weight is None else as_counts(sample_weight, n_rows, y)
    n_repeated = 0 if counts is None else int(counts.sum())
    warn_if_short(n_repeated or n_rows, table.n_columns, n_repeated, bytes_per_value)
    if counts is not None:
        table = as_table(table.take(repeated_rows(counts)), min_rows=2)
    caller = f"This {caller} estimator"
    return table, as_target(y, n_rows, rows=table.rows, caller=caller, several=several)


def split_target(X: Any, y: Any) -> tuple[Any, Any]:
    """Return a table in memory without the target, and the target, if y names columns of it.

    Any other table and target are returned as they are.
    """
    names = [y] if isinstance(y, str) else y
    if not are_names(names):
        return X, y
    table = as_table(X, min_rows=2)
    if table.names is None:
        if names is y:
            return X, y  # a list of classes
        raise InvalidTargetError(
            f"y is the name {y!r}, but the columns of X have no names. Pass y as an array."
        )
    assert isinstance(table, FrameTable)
    if not set(names) <= set(table.names):
        if len(names) == table.n_rows and len(names) > 1:
            return table.native, y  # classes, not names; a stream is read only once
        missing = next(name for name in names if name not in table.names)
        raise InvalidTargetError(
            f"y is {missing!r}, but X has no column of this name."
            f"{did_you_mean(missing, table.names)}"
        )
    frame = nw.from_native(table.native, eager_only=True)
    found = frame[names[0]] if len(names) == 1 else frame.select(names)
    return frame.drop(names).to_native(), found.to_native()


def _open_source(X: Any, y: Any, caller: str) -> tuple[RowSource, NDArray[Any] | None]:
    """Return the source of the features and the target; None if it is a column of the source."""
    source, y = open_source(X, y)
    check_shape(source.n_rows, source.n_columns, min_rows=2)
    if source.target is None:
        if y is None:
            raise _no_target(caller)
        y = as_target(y, source.n_rows, several=True)
    return source, y


def _open_collection(X: Any, y: Any, cluster: Cluster | None, caller: str) -> DaskCollection:
    if y is None:
        raise _no_target(caller)
    if cluster is None:
        raise InvalidTableError(
            "X is a Dask collection, which the workers of a cluster encode. Pass engine='dask', or "
            "X.compute()."
        )
    from hocmim.coding.dask_tables import DaskCollection

    return DaskCollection(cluster, X, y)


def _on_workers(source: RowSource, cluster: Cluster | None) -> DaskRows | None:
    """Return the files of a source for the workers of a cluster to read; None for other sources."""
    if cluster is None or not are_files(source):
        return None
    from hocmim.coding.dask_tables import DaskFiles

    return DaskFiles(cluster, source)


def _no_target(caller: str) -> InvalidTargetError:
    return InvalidTargetError(
        f"This {caller} estimator requires y to be passed: the name of the column of X that is the "
        "target, or the target itself."
    )


def _reject_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise InvalidParameterError(
            "sample_weight is for tables in memory. Leave it out, or repeat each row as often as "
            "its weight says."
        )


def _check_local_only(codes_dir: Folder | None, features: Features) -> None:
    """Raise an error for the parameters that need the codes on this machine."""
    is_given = {"codes_dir": codes_dir is not None, "feature_groups": bool(features.groups)}
    for parameter in (name for name, given in is_given.items() if given):
        raise InvalidParameterError(
            f"{parameter} is for codes on this machine. The codes of a Dask collection, and of "
            "Parquet files with engine='dask', stay on the workers. Leave it out, or use the "
            "engine of this machine."
        )


def _groups_of_samples(
    groups: Any, n_rows: int | None, row_counts: RowCounts | None
) -> RowGroups | None:
    """Return the group of each sample; a row of weight w is w samples."""
    if n_rows is None:
        raise InvalidParameterError(
            "groups needs a table whose rows are in order, and a Dask collection has none. Pass a "
            "table in memory or a Parquet file."
        )
    if row_counts is None:
        return as_row_groups(groups, n_rows)
    found = as_row_groups(groups, len(row_counts))
    return None if found is None else np.repeat(found, row_counts)


def _check_target(found: EncodedTarget, target: Target, encoder: Encoder) -> None:
    """Warn of guesses; an error if the columns are cut by one target and there are several."""
    for one in found.each:
        warn_about_guess(one)
    if found.strategy != "mean":
        return
    if target.strategy == "joint":
        warn_user(
            "The targets have fewer than 5 rows for each combination of their values, so the "
            "mean over the targets is used. Pass target=Target(strategy='mean') to confirm this."
        )
    if encoder.discretizer == "mdlp":
        raise InvalidParameterError(
            "discretizer='mdlp' cuts the columns by one target. Pass another discretizer for "
            "the mean over several targets."
        )


def _encode_here(
    data: Table | RowSource,
    y: Column,
    encoder: Encoder,
    n_threads: int,
    *,
    codes_dir: Folder | None = None,
    plane_classes: int = 0,
    allocate: Allocate | None = None,
    report: Report | None = None,
) -> tuple[Encoder, Codes]:
    """Encode on this machine; with ``codes_dir``, use the codes stored there or store them."""
    if codes_dir is not None:
        check_parameters(encoder)
        stored, codes = stored_codes(
            codes_dir,
            codes_fingerprint(data, y, encoder),
            lambda allocate: _encode_here(
                data, y, encoder, n_threads, allocate=allocate, report=report
            ),
        )
        return encoder.with_columns(stored.columns_, stored.names), codes
    if isinstance(data, RowSource):
        return encode_source(
            data,
            y,
            encoder,
            n_jobs=n_threads,
            allocate=allocate,
            plane_classes=plane_classes,
            report=report,
        )
    fitted = encoder.unfitted()
    codes = fitted.fit_transform(
        data, y, n_jobs=n_threads, allocate=allocate, plane_classes=plane_classes
    )
    return fitted, codes


# --- some columns of another table ----------------------------------------------------------------


def open_features(X: Any, fitted: Any) -> Table | RowSource:
    """Open a table, path or data set that must have the columns of an earlier fit.

    ``fitted`` has ``n_features_in_`` and ``feature_names_in_``. Columns with names are found by
    name, and X may have other columns too, such as the target.
    """
    names = getattr(fitted, "feature_names_in_", None)
    if is_row_source(X):
        source, _ = open_source(X)
        return source.features(fitted.n_features_in_, None if names is None else names.tolist())
    table = as_table(X)
    if names is not None and table.names is not None and table.n_columns > len(names):
        places = {name: j for j, name in enumerate(table.names)}
        if places.keys() >= set(names):
            table = as_table(tables.take_columns(table.native, [places[name] for name in names]))
    check_features(fitted, table, reset=False)
    return table


def take_columns(
    X: Any, fitted: Any, indices: ArrayLike, *, reject_non_finite: bool = False
) -> Any:
    """Return some columns of the fit in the container X came in; no others are read from files.

    ``reject_non_finite`` raises an error for missing and infinite values. See ``open_features``.
    """
    data = open_features(X, fitted)
    if isinstance(data, RowSource):
        chosen = data.read([data.columns[j] for j in np.asarray(indices, np.int64)])
        if reject_non_finite:
            check_finite(as_table(chosen))
        return chosen
    if reject_non_finite:
        check_finite(data)
    return tables.take_columns(data.native, indices)


def read_columns(
    X: Any,
    fitted: Any,
    encoder: Encoder,
    indices: Sequence[int],
    row_counts: RowCounts | None = None,
) -> list[Column]:
    """Return the codes of some columns of the fit, by its encoder.

    ``row_counts`` are the weights of the fit; they are applied if X has as many rows.
    """
    data = open_features(X, fitted)
    if isinstance(data, RowSource):
        return [encode_source_column(data, encoder, j) for j in indices]
    if row_counts is not None and len(row_counts) == data.n_rows:
        data = data.take(repeated_rows(row_counts))
    return [encoder.transform_column(data, j) for j in indices]


def time_kinds(X: Any, fitted: Any, columns: Sequence[int]) -> TimeKinds:
    """Return which of these columns of the fit hold dates, times or durations."""
    return open_features(X, fitted).time_kinds(columns)

"""One interface for everything a selector fits on.

A table comes in one of three kinds:

==============  ==================================================================================
in memory       a NumPy array, a DataFrame, a pyarrow table, a sparse matrix, nested lists
row source      a Parquet file or a folder of them, a pyarrow data set, a ``RowSource`` of several
                tables; it may be larger than memory and is read in pieces
on a cluster    a Dask collection, or Parquet files that the workers of a Dask cluster read
==============  ==================================================================================

``open_input`` opens a table and its target for ``fit``. ``open_table`` opens a table without a
target for ``transform`` and ``explain``. Both return an object with the same few methods for every
kind, so that a selector does not ask which kind it has. The codes of all kinds are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hocmim.coding.codes import Allocate, Codes, Column
from hocmim.coding.encoder import Encoder
from hocmim.coding.options import EncodingOptions
from hocmim.coding.sources import encode_source, encode_source_column, encode_source_target
from hocmim.coding.store import codes_fingerprint, stored_codes
from hocmim.coding.target import Target, TargetOptions
from hocmim.coding.targets import encode_targets
from hocmim.criteria.base import Criterion
from hocmim.data.checks import check_features, check_finite
from hocmim.data.rows import RowSource
from hocmim.data.sources import is_row_source, open_source
from hocmim.data.table import Table, as_table, check_shape, take_columns
from hocmim.data.target import as_target
from hocmim.data.times import TimeKinds
from hocmim.data.weights import as_counts, repeated_rows
from hocmim.errors import InvalidParameterError, InvalidTargetError
from hocmim.memory import BYTES_PER_CODE, warn_if_short
from hocmim.search.engines.local import LocalEngine
from hocmim.search.engines.remote import (
    RemoteCodes,
    is_dask_collection,
    open_collection,
    open_files,
)

if TYPE_CHECKING:
    from hocmim.search.engines.cluster import Cluster
    from hocmim.search.engines.dask import DaskEngine

RowCounts = NDArray[np.unsignedinteger[Any]]


class Input(Protocol):
    """A table and its target, of any kind.

    Call ``encode_target`` first and pass its column to ``encode``.
    """

    @property
    def n_rows(self) -> int | None:
        """Number of rows; None for a Dask collection, whose rows are counted by ``encode``."""

    @property
    def n_columns(self) -> int:
        """Number of columns, without the target."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, or None if they have none."""

    @property
    def row_counts(self) -> RowCounts | None:
        """Weight of each row of the user's table, or None if there are no weights."""

    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """Return which of these columns hold dates, times or durations."""

    def encode_target(self, options: TargetOptions) -> Target:
        """Return the codes of the target."""

    def encode(self, y: Column, options: EncodingOptions) -> tuple[Encoder, Codes | RemoteCodes]:
        """Return the encoder of the columns and the codes of the features.

        Parameters
        ----------
        y : Column
            The codes of the target, for ``discretizer="mdlp"``.
        options : EncodingOptions
        """


class OpenedTable(Protocol):
    """A table with the columns of an earlier fit, of any kind."""

    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """Return which of these columns hold dates, times or durations."""

    def encode_columns(self, encoder: Encoder, indices: Sequence[int]) -> list[Column]:
        """Return the codes of some columns by an encoder that is already fitted."""

    def take_columns(self, indices: ArrayLike, *, reject_non_finite: bool = False) -> Any:
        """Return some columns in the container the table came in.

        ``reject_non_finite`` raises an error for missing and infinite values.
        """


def open_input(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    cluster: Cluster | None = None,
    caller: str = "hocmim",
    bytes_per_value: int = BYTES_PER_CODE,
) -> Input:
    """Open a table and its target for ``fit``.

    Parameters
    ----------
    X : table, path, pyarrow data set, RowSource or Dask collection
    y : array-like, str or list of str
        The target, or the name of the column of X that is the target (not in memory); for several
        targets an array with several columns, or a list of names.
    sample_weight : array-like, optional
        For tables in memory.
    cluster : Cluster, optional
        The workers that do the work; None for this machine.
    caller : str
        Name of the selector, for error messages.
    bytes_per_value : int
        What is kept of a value of a table in memory: see :func:`hocmim.memory.warn_if_short`.
    """
    is_collection = is_dask_collection(X)
    if not (is_collection or is_row_source(X)):
        return MemoryInput.open(
            X, y, sample_weight, caller=caller, several=True, bytes_per_value=bytes_per_value
        )
    if sample_weight is not None:
        raise InvalidParameterError(
            "sample_weight is for tables in memory. Leave it out, or repeat each row as often as "
            "its weight says."
        )
    if is_collection:
        if y is None:
            raise _no_target(caller)
        return open_collection(X, y, cluster)
    source, y = open_source(X, y)
    check_shape(source.n_rows, source.n_columns, min_rows=2)
    if source.target is None:
        if y is None:
            raise _no_target(caller)
        y = as_target(y, source.n_rows, several=True)
    return open_files(source, y, cluster) or SourceInput(source, y)


def open_table(X: Any, fitted: Any, *, row_counts: RowCounts | None = None) -> OpenedTable:
    """Open a table for ``transform`` or ``explain``, and check that it has the fitted columns.

    Parameters
    ----------
    X : table, path, pyarrow data set or RowSource
    fitted : estimator
        Its ``n_features_in_`` and ``feature_names_in_`` are what X must have.
    row_counts : ndarray, optional
        The weights of the fit. They are applied by ``encode_columns`` if X has as many rows.
    """
    if is_row_source(X):
        names = getattr(fitted, "feature_names_in_", None)
        source, _ = open_source(X)
        names = None if names is None else names.tolist()
        return SourceInput(source.features(fitted.n_features_in_, names), None)
    table = as_table(X)
    check_features(fitted, table, reset=False)
    return MemoryTable(X, table, row_counts)


def open_engine(
    codes: Codes | RemoteCodes,
    y: Column,
    criterion: Criterion,
    *,
    cluster: Cluster | None = None,
    n_jobs: int | None = None,
    on_terms: Callable[[int], None] | None = None,
) -> LocalEngine | DaskEngine:
    """Return the engine that searches these codes: on a cluster, or on this machine.

    Parameters
    ----------
    codes : Codes or RemoteCodes
        From ``Input.encode``.
    y : Column
    criterion : Criterion
    cluster : Cluster, optional
        The one that was passed to ``open_input``.
    n_jobs : int, optional
        Threads on this machine.
    on_terms : callable, optional
        Called with the number of terms that were just computed.
    """
    if cluster is not None:
        from hocmim.search.engines.dask import open_dask_engine

        return open_dask_engine(cluster, codes, y, criterion, on_terms)
    assert isinstance(codes, Codes)
    return LocalEngine(codes, y, criterion, n_jobs=n_jobs, on_terms=on_terms)


class MemoryTable:
    """A table in memory: see OpenedTable."""

    def __init__(self, X: Any, table: Table, row_counts: RowCounts | None) -> None:
        self._X = X
        self._table = table
        self._row_counts = row_counts

    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """See OpenedTable."""
        return self._table.time_kinds(columns)

    def encode_columns(self, encoder: Encoder, indices: Sequence[int]) -> list[Column]:
        """See OpenedTable."""
        table, counts = self._table, self._row_counts
        if counts is not None and len(counts) == table.n_rows:
            table = table.take(repeated_rows(counts))
        return [encoder.transform_column(table, j) for j in indices]

    def take_columns(self, indices: ArrayLike, *, reject_non_finite: bool = False) -> Any:
        """See OpenedTable."""
        if reject_non_finite:
            check_finite(self._table)
        return take_columns(self._X, indices)


class MemoryInput:
    """A table in memory and its target: see Input.

    Attributes
    ----------
    table : Table
        A row of weight w occurs w times in it.
    y : ndarray
        The target, one value (or several) for each row of ``table``.
    """

    def __init__(self, table: Table, y: NDArray[Any]) -> None:
        self.table = table
        self.y = y

    @classmethod
    def open(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        caller: str,
        several: bool = False,
        bytes_per_value: int = BYTES_PER_CODE,
    ) -> MemoryInput:
        """Check the table, the weights and the target, in this order.

        ``several``: whether y may have several columns. ``bytes_per_value``: see
        :func:`hocmim.memory.warn_if_short`.
        """
        table = as_table(X, min_rows=2)
        n_rows = table.n_rows
        counts = as_counts(sample_weight, n_rows, y)
        n_repeated = 0 if counts is None else int(counts.sum())
        warn_if_short(n_repeated or n_rows, table.n_columns, n_repeated, bytes_per_value)
        if counts is not None:
            table = as_table(table.take(repeated_rows(counts)), min_rows=2)
        caller = f"This {caller} estimator"
        y = as_target(y, n_rows, rows=table.rows, caller=caller, several=several)
        return cls(table, y)

    @property
    def n_rows(self) -> int:
        """See Input."""
        return self.table.n_rows

    @property
    def n_columns(self) -> int:
        """See Input."""
        return self.table.n_columns

    @property
    def names(self) -> tuple[str, ...] | None:
        """See Input."""
        return self.table.names

    @property
    def row_counts(self) -> RowCounts | None:
        """See Input."""
        return self.table.row_counts

    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """See Input."""
        return self.table.time_kinds(columns)

    def encode_target(self, options: TargetOptions) -> Target:
        """See Input."""
        return encode_targets(self.y, self.n_rows, options)

    def encode(self, y: Column, options: EncodingOptions) -> tuple[Encoder, Codes]:
        """See Input."""

        def encode(allocate: Allocate | None) -> tuple[Encoder, Codes]:
            encoder = Encoder(
                options.discretizer,
                options.n_bins,
                max_levels=options.max_levels,
                n_jobs=options.n_jobs,
            )
            has_groups = options.features is not None and options.features.groups
            n_classes = 0 if has_groups else options.plane_classes
            codes = encoder.fit_transform(self.table, y, allocate=allocate, plane_classes=n_classes)
            return encoder, codes

        return _encode_or_load(self.table, y, encode, options)


class SourceInput:
    """A row source and its target, read on this machine: see Input and OpenedTable.

    Parameters
    ----------
    source : RowSource
    y : ndarray or None
        The target; None if it is a column of the source, or if there is none.
    """

    row_counts: RowCounts | None = None

    def __init__(self, source: RowSource, y: NDArray[Any] | None) -> None:
        self._source = source
        self._y = y

    @property
    def n_rows(self) -> int:
        """See Input."""
        return self._source.n_rows

    @property
    def n_columns(self) -> int:
        """See Input."""
        return self._source.n_columns

    @property
    def names(self) -> tuple[str, ...] | None:
        """See Input."""
        return self._source.names

    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """See Input."""
        return self._source.time_kinds(columns)

    def encode_target(self, options: TargetOptions) -> Target:
        """See Input."""
        if self._y is None:
            return encode_source_target(self._source, options)
        return encode_targets(self._y, self.n_rows, options)

    def encode(self, y: Column, options: EncodingOptions) -> tuple[Encoder, Codes]:
        """See Input."""

        def encode(allocate: Allocate | None) -> tuple[Encoder, Codes]:
            return encode_source(
                self._source,
                y,
                discretizer=options.discretizer,
                n_bins=options.n_bins,
                max_levels=options.max_levels,
                n_jobs=options.n_jobs,
                allocate=allocate,
            )

        return _encode_or_load(self._source, y, encode, options)

    def encode_columns(self, encoder: Encoder, indices: Sequence[int]) -> list[Column]:
        """See OpenedTable."""
        return [encode_source_column(self._source, encoder, j) for j in indices]

    def take_columns(self, indices: ArrayLike, *, reject_non_finite: bool = False) -> Any:
        """See OpenedTable: no other column is read."""
        keys = [self._source.columns[j] for j in np.asarray(indices, np.int64)]
        chosen = self._source.read(keys)
        if reject_non_finite:
            check_finite(as_table(chosen))
        return chosen


def _encode_or_load(
    data: Table | RowSource,
    y: Column,
    encode: Callable[[Allocate | None], tuple[Encoder, Codes]],
    options: EncodingOptions,
) -> tuple[Encoder, Codes]:
    """Encode in memory; with ``codes_dir``, use the codes stored there or store them."""
    if options.codes_dir is None:
        encoder, codes = encode(None)
    else:
        fingerprint = codes_fingerprint(
            data,
            y,
            discretizer=options.discretizer,
            n_bins=options.n_bins,
            max_levels=options.max_levels,
        )
        encoder, codes = stored_codes(options.codes_dir, fingerprint, encode)
        encoder.set_params(n_jobs=options.n_jobs)  # the stored one has that of another run
    return encoder, codes if options.features is None else options.features.join(codes)


def _no_target(caller: str) -> InvalidTargetError:
    return InvalidTargetError(
        f"This {caller} estimator requires y to be passed: the name of the column of X that is the "
        "target, or the target itself."
    )

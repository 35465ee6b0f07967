"""Tables in row partitions become blocks of columns on the workers of a Dask cluster.

First each worker surveys its rows; the merged survey determines how each column is coded. Then rows
become columns, once. A Parquet data set needs no exchange between workers: each worker reads the
columns of its blocks. The partitions of a Dask collection are encoded where they are computed and
cut into one piece for each block. A block joins its pieces in the order of the partitions; each
worker makes one block at a time. The codes are equal to those of one table of all rows.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import dask
import numpy as np
from distributed import Future
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.cuts import Ragged, check_bins, cut_columns, get_discretizer
from hocmim.coding.encoder import Encoder, count_most_frequent, most_frequent
from hocmim.coding.identifiers import Marks
from hocmim.coding.options import EncodingOptions
from hocmim.coding.partitions import (
    TableSurvey,
    columns_to_cut,
    encode_partition,
    fit_encoder,
    mark_numbers,
    merge_marks,
    possible_row_numbers,
    read_numbers,
    survey_partition,
)
from hocmim.coding.sources import (
    WHOLE_CELLS,
    cut_source,
    encode_source_target,
    fill_rows,
    mark_source,
    survey_columns,
)
from hocmim.coding.target import (
    Target,
    TargetCoding,
    TargetOptions,
    TargetSurvey,
    fit_target,
    survey_target,
)
from hocmim.coding.targets import encode_targets
from hocmim.data.columns import Span
from hocmim.data.rows import RowSource
from hocmim.data.target import as_target
from hocmim.data.text_source import ConvertedPiece
from hocmim.data.times import TimeKinds, kind_of_storage
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.search.engines.cluster import Cluster
from hocmim.search.engines.dask_block import Block
from hocmim.search.engines.dask_codes import CODES_SHARE, ComputedCodes
from hocmim.search.engines.remote import RemoteTable

# Number of surveys that one task merges.
MERGED_TOGETHER = 16


class DaskRows(RemoteTable):
    """A table in row partitions that the workers of a cluster read."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @abstractmethod
    def _survey(self, n_bins: int) -> list[Future]:
        """Survey the rows, some in each task."""

    @abstractmethod
    def _cut(
        self, columns: NDArray[np.int64], n_rows: int, discretizer: str, n_bins: int, y: Column
    ) -> Ragged:
        """Return the cuts of these columns, computed from all their values."""

    @abstractmethod
    def _mark(self, columns: NDArray[np.int64]) -> list[Future]:
        """Mark the values of these columns, some rows in each task."""

    @abstractmethod
    def _codes(self, encoder: Encoder, n_rows: int) -> ComputedCodes:
        """Return the codes of all rows."""

    def encode(self, y: Column, options: EncodingOptions) -> tuple[Encoder, ComputedCodes]:
        """See RemoteTable."""
        _check_local_only(options)
        discretizer, n_bins = options.discretizer, check_bins("n_bins", options.n_bins)
        reliably = self.cluster.reliably
        survey = reliably(lambda: self._merged(self._survey(n_bins), _merge))
        if survey.n_rows != len(y.codes):
            raise InvalidTargetError(
                f"X and y have different lengths: X has {survey.n_rows} rows and y has "
                f"{len(y.codes)} values."
            )
        cuts = None
        if get_discretizer(discretizer).needs_values:
            columns = columns_to_cut(survey, discretizer)
            cuts = reliably(lambda: self._cut(columns, survey.n_rows, discretizer, n_bins, y))
        suspects = possible_row_numbers(survey)
        marks: list[Marks] = []
        if len(suspects):
            marks = reliably(lambda: self._merged(self._mark(suspects), _merge_marks))
        encoder = fit_encoder(survey, options, cuts, marks)
        codes = self._codes(encoder, survey.n_rows)
        frequent = reliably(lambda: codes.run(_most_frequent))
        return encoder.with_most_frequent(*np.concatenate(frequent, axis=1)), codes

    def _merged(self, parts: list[Future], merge: Callable[[list[Any]], Any]) -> Any:
        """Merge the results of several tasks on the workers, some at a time; return the whole."""
        while len(parts) > 1:
            parts = [
                self.cluster.submit(merge, parts[at : at + MERGED_TOGETHER])
                for at in range(0, len(parts), MERGED_TOGETHER)
            ]
        return self.cluster.gather(parts)[0]


def _check_local_only(options: EncodingOptions) -> None:
    """Raise an error for the parameters that need the codes on this machine."""
    is_given = {
        "codes_dir": options.codes_dir is not None,
        "feature_groups": options.features is not None and bool(options.features.groups),
    }
    for parameter in (name for name, given in is_given.items() if given):
        raise InvalidParameterError(
            f"{parameter} is for codes on this machine. The codes of a Dask collection, and of "
            "Parquet files with engine='dask', stay on the workers. Leave it out, or use "
            "engine='local'."
        )


def _merge(surveys: list[TableSurvey]) -> TableSurvey:
    return reduce(TableSurvey.merge, surveys)


def _merge_marks(parts: list[list[Marks]]) -> list[Marks]:
    return reduce(merge_marks, parts)


def _most_frequent(block: Block) -> NDArray[np.int64]:
    """Return the most frequent code of each column, and how many rows have it."""
    frequent = most_frequent(block.codes)
    return np.stack([frequent, count_most_frequent(block.codes, frequent)])


def _groups(columns: NDArray[np.int64], n_rows: int) -> list[NDArray[np.int64]]:
    """Group the columns whose values one task collects."""
    width = max(1, WHOLE_CELLS // max(1, n_rows))
    return [columns[at : at + width] for at in range(0, len(columns), width)]


# --- files ----------------------------------------------------------------------------------------


class DaskFiles(DaskRows):
    """A Parquet data set that every worker can read."""

    def __init__(self, cluster: Cluster, source: RowSource, y: Any) -> None:
        super().__init__(cluster)
        pieces = tuple(map(_with_absolute_path, source.pieces))
        self._source, self._y = replace(source, pieces=pieces), y
        self.n_rows, self.n_columns, self.names = source.n_rows, source.n_columns, source.names

    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """See RemoteTable. The client reads a row of these columns."""
        return self._source.time_kinds(columns)

    def encode_target(self, options: TargetOptions) -> Target:
        """See RemoteTable. The client reads this column."""
        if self._y is None:
            return encode_source_target(self._source, options)
        return encode_targets(self._y, self._source.n_rows, options)

    def encode(self, y: Column, options: EncodingOptions) -> tuple[Encoder, ComputedCodes]:
        """See RemoteTable."""
        try:
            return super().encode(y, options)
        except (FileNotFoundError, PermissionError) as error:
            raise InvalidTableError(
                f"A worker of the Dask cluster cannot read X: {error}. The path must be valid on "
                "every worker: use a shared file system, or an object store."
            ) from error

    def _survey(self, n_bins: int) -> list[Future]:
        pieces = self._source.pieces
        parts = [replace(self._source, target=None, pieces=(piece,)) for piece in pieces]
        return [self.cluster.submit(_survey_source, part, n_bins) for part in parts]

    def _cut(
        self, columns: NDArray[np.int64], n_rows: int, discretizer: str, n_bins: int, y: Column
    ) -> Ragged:
        [target] = self.cluster.scatter([y], self.cluster.threads)
        keys = np.array(self._source.columns, object)
        cuts = [
            self.cluster.submit(
                _cut_source,
                replace(self._source, target=None, columns=tuple(keys[group])),
                discretizer,
                n_bins,
                target,
            )
            for group in _groups(columns, n_rows)
        ]
        return Ragged.concatenate([Ragged.nothing(), *self.cluster.gather(cuts)])

    def _mark(self, columns: NDArray[np.int64]) -> list[Future]:
        parts = [replace(self._source, target=None, pieces=(p,)) for p in self._source.pieces]
        return [self.cluster.submit(mark_source, part, columns, 1) for part in parts]

    def _codes(self, encoder: Encoder, n_rows: int) -> ComputedCodes:
        return _FileCodes(self.cluster, n_rows, encoder, self._source)


class _FileCodes(ComputedCodes):
    def __init__(self, cluster: Cluster, n_rows: int, encoder: Encoder, source: RowSource) -> None:
        super().__init__(cluster, n_rows, encoder.arity)
        self._encoder, self._source = encoder, source

    def _make_blocks(self, numbers: list[int]) -> None:
        for number in numbers:
            start, stop = self.span(number)
            source = replace(self._source, target=None, columns=self._source.columns[start:stop])
            self.blocks[number] = self.cluster.submit(
                _read_block,
                source,
                start,
                self._encoder.of_columns(start, stop),
                worker=self.layout.workers[number],
            )


def _with_absolute_path(piece: Any) -> Any:
    """Return a piece with its absolute path: workers may run in other folders."""
    if isinstance(piece, ConvertedPiece):
        return replace(piece, piece=_with_absolute_path(piece.piece))
    is_local = piece.filesystem.type_name == "local"
    return replace(piece, path=os.path.abspath(piece.path)) if is_local else piece


def _survey_source(source: RowSource, n_bins: int) -> TableSurvey:
    return survey_columns(source, Span(0, source.n_columns), n_bins, 1)


def _cut_source(source: RowSource, discretizer: str, n_bins: int, y: Column) -> Ragged:
    return cut_source(
        source, np.arange(source.n_columns, dtype=np.int64), discretizer, n_bins, y, 1
    )


def _read_block(source: RowSource, start: int, encoder: Encoder) -> Block:
    codes = replace(Codes.empty(encoder.arity, source.n_rows), start=start)
    fill_rows(codes, source, Span(0, source.n_columns), encoder, 1)
    return Block(codes)


# --- Dask collections -----------------------------------------------------------------------------


class DaskCollection(DaskRows):
    """A Dask DataFrame or Array; its target is a column, a Dask collection, or in memory."""

    def __init__(self, cluster: Cluster, X: Any, y: Any) -> None:
        super().__init__(cluster)
        if X.ndim != 2:
            raise InvalidTableError(f"X must be two-dimensional, but it has ndim={X.ndim}.")
        if isinstance(y, str):
            X, y = _take_target(X, y)
        elif isinstance(y, list) and set(map(str, y)) <= set(getattr(X, "columns", ())):
            X, y = X.drop(columns=list(y)), X[list(y)]
        self._y = y
        labels = list(getattr(X, "columns", []))
        are_names = bool(labels) and all(isinstance(label, str) for label in labels)
        self.names = tuple(labels) if are_names else None
        self.n_rows, self.n_columns = None, int(X.shape[1])
        if hasattr(X, "rechunk"):
            X = X.rechunk({1: -1})
        self._parts = np.ravel(X.to_delayed()).tolist()
        self._dtypes = list(X.dtypes) if hasattr(X, "dtypes") else [X.dtype] * self.n_columns

    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """See RemoteTable."""
        kinds = {j: kind_of_storage(self._dtypes[j]) for j in columns}
        return {j: kind for j, kind in kinds.items() if kind is not None}

    def encode_target(self, options: TargetOptions) -> Target:
        """See RemoteTable."""
        if not dask.is_dask_collection(self._y):
            return encode_targets(self._y, options=options)
        y = self._y
        if y.ndim == 2 and y.shape[1] > 1:
            return encode_targets(self._read_targets(y), options=options)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[y.columns[0]] if hasattr(y, "columns") else y[:, 0]
        if y.ndim != 1:
            raise InvalidTargetError(f"y must be one column, but it has {y.shape[1]} columns.")
        parts = y.to_delayed().tolist() if hasattr(y, "chunks") else y.to_delayed()
        surveys = self._compute([dask.delayed(survey_target)(part, options) for part in parts])
        survey = reduce(TargetSurvey.merge, surveys)
        values = None
        if survey.needs_values:
            values = np.concatenate(self._compute([dask.delayed(as_target)(p) for p in parts]))
        coding = fit_target(survey, values)
        codes = self._compute([dask.delayed(_encode_target)(part, coding) for part in parts])
        column = Column(np.concatenate(codes), coding.arity)
        return Target(column, coding.classes, coding.cuts, coding.guess)

    def _read_targets(self, y: Any) -> NDArray[Any]:
        """Return several targets, in this process."""
        if hasattr(y, "rechunk"):
            y = y.rechunk({1: -1})
        parts = self._compute(np.ravel(y.to_delayed()).tolist())
        return np.concatenate([np.asarray(part) for part in parts])

    def _compute(self, tasks: list[Any]) -> list[Any]:
        return self.cluster.reliably(lambda: self.cluster.gather(self.cluster.compute(tasks)))

    def _survey(self, n_bins: int) -> list[Future]:
        survey = dask.delayed(survey_partition)
        return self.cluster.compute([survey(part, n_bins) for part in self._parts])

    def _cut(
        self, columns: NDArray[np.int64], n_rows: int, discretizer: str, n_bins: int, y: Column
    ) -> Ragged:
        cuts = [Ragged.nothing()]
        groups = _groups(columns, n_rows)
        memory = self.cluster.memory_limit() * len(self.cluster.threads)
        largest = 8 * n_rows * max(map(len, groups), default=1)
        at_once = max(1, int(CODES_SHARE * memory / max(1, largest))) if memory else len(groups)
        [target] = self.cluster.scatter([y], self.cluster.threads)
        read = dask.delayed(_read_groups)
        for at in range(0, len(groups), at_once):
            now = groups[at : at + at_once]
            parts = self.cluster.compute([read(part, now) for part in self._parts])
            futures = [
                self.cluster.submit(_cut_pieces, pieces, discretizer, n_bins, target)
                for pieces in _transposed(self.cluster, parts, len(now))
            ]
            del parts
            cuts += self.cluster.gather(futures)
        return Ragged.concatenate(cuts)

    def _mark(self, columns: NDArray[np.int64]) -> list[Future]:
        mark = dask.delayed(mark_numbers)
        return self.cluster.compute([mark(part, columns) for part in self._parts])

    def _codes(self, encoder: Encoder, n_rows: int) -> ComputedCodes:
        return _CollectionCodes(self.cluster, n_rows, encoder, self._parts)


class _CollectionCodes(ComputedCodes):
    def __init__(
        self, cluster: Cluster, n_rows: int, encoder: Encoder, parts: Sequence[Any]
    ) -> None:
        super().__init__(cluster, n_rows, encoder.arity)
        self._encoder, self._parts = encoder, parts

    def _make_blocks(self, numbers: list[int]) -> None:
        encoder = dask.delayed(self._encoder)
        encode = dask.delayed(_encode_blocks)
        spans = [self.span(number) for number in numbers]
        parts = self.cluster.compute([encode(part, encoder, spans) for part in self._parts])
        pieces = dict(zip(numbers, _transposed(self.cluster, parts, len(numbers)), strict=True))
        del parts
        for together in self._rounds(numbers):
            for number in together:
                worker = self.layout.workers[number]
                self.blocks[number] = self.cluster.submit(
                    _join_pieces, pieces.pop(number), worker=worker
                )
            blocks = [self.blocks[number] for number in together]
            self.cluster.wait(blocks, [self.layout.workers[number] for number in together])

    def _rounds(self, numbers: list[int]) -> Iterator[list[int]]:
        """Return these blocks in rounds, at most one for each worker in a round."""
        rest = list(numbers)
        while rest:
            first = {self.layout.workers[number]: number for number in reversed(rest)}
            yield sorted(first.values())
            rest = [number for number in rest if number not in first.values()]


def _take_target(X: Any, name: str) -> tuple[Any, Any]:
    if name not in getattr(X, "columns", ()):
        raise InvalidTargetError(f"y is {name!r}, but X has no column of this name.")
    return X.drop(columns=[name]), X[name]


def _transposed(cluster: Cluster, parts: list[Future], n_pieces: int) -> list[list[Future]]:
    """Turn futures of lists of pieces into lists of futures: the first pieces, the second …"""
    return [[cluster.submit(_pick, part, i) for part in parts] for i in range(n_pieces)]


def _pick(pieces: list[Any], i: int) -> Any:
    return pieces[i]


def _encode_target(y: Any, coding: TargetCoding) -> NDArray[np.uint8] | NDArray[np.uint16]:
    return coding.encode(y)


def _read_groups(part: Any, groups: list[NDArray[np.int64]]) -> list[NDArray[np.float64]]:
    return [read_numbers(part, group) for group in groups]


def _cut_pieces(
    pieces: list[NDArray[np.float64]], discretizer: str, n_bins: int, y: Column
) -> Ragged:
    return cut_columns(np.concatenate(pieces), discretizer, n_bins, y)


def _encode_blocks(part: Any, encoder: Encoder, spans: list[Span]) -> list[Codes]:
    """Return the codes of a partition in blocks; copies, as a view keeps the whole in memory."""
    codes = encode_partition(part, encoder)
    blocks = [codes.block(*span) for span in spans]
    return [replace(b, narrow=b.narrow.copy(), wide=b.wide.copy(), names=None) for b in blocks]


def _join_pieces(pieces: list[Codes]) -> Block:
    narrow = np.concatenate([piece.narrow for piece in pieces], axis=1)
    wide = np.concatenate([piece.wide for piece in pieces], axis=1)
    return Block(replace(pieces[0], narrow=narrow, wide=wide))

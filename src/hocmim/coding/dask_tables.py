"""Tables in row partitions become blocks of columns on the workers of a Dask cluster.

First each worker surveys its rows; the merged survey determines how each column is coded. Then rows
become columns, once. A Parquet data set needs no exchange between workers: each worker reads the
columns of its blocks. The partitions of a Dask collection are encoded where they are computed and
cut into one piece for each block. A block joins its pieces in the order of the partitions; each
worker makes one block at a time. The codes are equal to those of one table of all rows.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import dask
import numpy as np
from distributed import Future
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.cuts import DISCRETIZERS, Ragged, cut_columns
from hocmim.coding.dask_cluster import Cluster
from hocmim.coding.dask_codes import CODES_SHARE, Block, DaskCodes
from hocmim.coding.encoded_source import (
    WHOLE_CELLS,
    cut_source,
    fill_rows,
    integers_of_source,
    survey_columns,
)
from hocmim.coding.encoder import Encoder
from hocmim.coding.identifiers import DistinctIntegers
from hocmim.coding.partitions import (
    TableSurvey,
    columns_to_cut,
    count_frequent,
    encode_partition,
    fit_encoder,
    integers_of_columns,
    merge_integers,
    possible_row_numbers,
    read_numbers,
    survey_partition,
    with_most_frequent,
)
from hocmim.coding.target import join_parts, read_part
from hocmim.data.columns import Span
from hocmim.data.passes import Passes, Report
from hocmim.data.rows import RowSource
from hocmim.data.target import as_target
from hocmim.data.times import TimeKinds, kind_of_storage
from hocmim.errors import InvalidTableError, InvalidTargetError
from hocmim.parameters import check_parameters

# Number of surveys that one task merges.
MERGED_TOGETHER = 16


class DaskRows(ABC):
    """A table in row partitions that the workers of a cluster read."""

    def __init__(self, cluster: Cluster, pieces: Sequence[Any]) -> None:
        self.cluster = cluster
        self._pieces = pieces
        self._passes = Passes(pieces, 0, None)

    @abstractmethod
    def _survey(self, n_bins: int) -> list[Future]:
        """Survey the rows, some in each task."""

    @abstractmethod
    def _cut(self, columns: NDArray[np.int64], n_rows: int, encoder: Encoder, y: Column) -> Ragged:
        """Return the cuts of these columns, computed from all their values."""

    @abstractmethod
    def _integers(self, columns: NDArray[np.int64]) -> list[Future]:
        """Collect the integers of these columns, some rows in each task."""

    @abstractmethod
    def _make_blocks(self, encoder: Encoder, codes: DaskCodes, numbers: list[int]) -> None:
        """Make blocks of codes on the workers of the layout."""

    def encode(
        self, y: Column, encoder: Encoder, report: Report | None = None
    ) -> tuple[Encoder, DaskCodes]:
        """Return the fitted encoder, and the codes of all rows on the workers."""
        check_parameters(encoder)
        reliably, n_bins = self.cluster.reliably, int(encoder.n_bins)
        needs_values = DISCRETIZERS[encoder.discretizer].needs_values
        self._passes = passes = Passes(self._pieces, 3 if needs_values else 2, report)
        passes.begin(1)
        survey = reliably(lambda: self._merged(self._survey(n_bins), TableSurvey.merge))
        if survey.n_rows != len(y.codes):
            raise InvalidTargetError(
                f"X and y have different lengths: X has {survey.n_rows} rows and y has "
                f"{len(y.codes)} values."
            )
        cuts = None
        if needs_values:
            passes.begin(1)
            columns = columns_to_cut(survey, encoder.discretizer)
            cuts = reliably(lambda: self._cut(columns, survey.n_rows, encoder, y))
        suspects = possible_row_numbers(survey)
        integers: list[DistinctIntegers] = []
        if len(suspects):
            integers = reliably(lambda: self._merged(self._integers(suspects), merge_integers))
        fitted = fit_encoder(survey, encoder, cuts, integers)

        def make_blocks(codes: DaskCodes, numbers: list[int]) -> None:
            self._make_blocks(fitted, codes, numbers)

        codes = DaskCodes(self.cluster, survey.n_rows, fitted.arity, make_blocks)
        passes.begin(1)
        reliably(lambda: self.cluster.wait(codes.present(), codes.layout.workers, passes.move))
        passes.end()
        frequent = reliably(lambda: codes.run(_count_frequent))
        return with_most_frequent(fitted, np.concatenate(frequent, axis=1)), codes

    def _merged(self, parts: list[Future], merge: Callable[[Any, Any], Any]) -> Any:
        """Merge the results of several tasks on the workers, some at a time; return the whole."""
        leaves = parts
        while len(parts) > 1:
            parts = [
                self.cluster.submit(_merge, merge, parts[at : at + MERGED_TOGETHER])
                for at in range(0, len(parts), MERGED_TOGETHER)
            ]
        self.cluster.wait(leaves, on_done=self._passes.move)
        return self.cluster.gather(parts)[0]


def _merge(merge: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    return reduce(merge, parts)


def _count_frequent(block: Block) -> NDArray[np.int64]:
    return count_frequent(block.codes)


def _groups(columns: NDArray[np.int64], n_rows: int) -> list[NDArray[np.int64]]:
    """Group the columns whose values one task collects."""
    width = max(1, WHOLE_CELLS // max(1, n_rows))
    return [columns[at : at + width] for at in range(0, len(columns), width)]


# --- files ----------------------------------------------------------------------------------------


class DaskFiles(DaskRows):
    """A Parquet data set that every worker can read."""

    def __init__(self, cluster: Cluster, source: RowSource) -> None:
        pieces = tuple(map(_with_absolute_path, source.pieces))
        super().__init__(cluster, pieces)
        self._source = replace(source, target=None, pieces=pieces)
        self._parts = [replace(self._source, pieces=(piece,)) for piece in pieces]

    def encode(
        self, y: Column, encoder: Encoder, report: Report | None = None
    ) -> tuple[Encoder, DaskCodes]:
        """See DaskRows."""
        try:
            return super().encode(y, encoder, report)
        except (FileNotFoundError, PermissionError) as error:
            raise InvalidTableError(
                f"A worker of the Dask cluster cannot read X: {error}. The path must be valid on "
                "every worker: use a shared file system, or an object store."
            ) from error

    def _survey(self, n_bins: int) -> list[Future]:
        return [self.cluster.submit(survey_columns, part, n_bins, 1) for part in self._parts]

    def _cut(self, columns: NDArray[np.int64], n_rows: int, encoder: Encoder, y: Column) -> Ragged:
        [target] = self.cluster.scatter([y], self.cluster.threads)
        how = encoder.discretizer, int(encoder.n_bins), target, 1
        submit = self.cluster.submit
        groups = _groups(columns, n_rows)
        cuts = [submit(cut_source, self._source, group, *how) for group in groups]
        found = self.cluster.gather(cuts, on_done=self._passes.move)
        return Ragged.concatenate([Ragged.nothing(), *found])

    def _integers(self, columns: NDArray[np.int64]) -> list[Future]:
        return [self.cluster.submit(integers_of_source, part, columns, 1) for part in self._parts]

    def _make_blocks(self, encoder: Encoder, codes: DaskCodes, numbers: list[int]) -> None:
        for number in numbers:
            span = codes.span(number)
            codes.blocks[number] = self.cluster.submit(
                _read_block,
                self._source.only(span),
                span.start,
                encoder.of_columns(*span),
                worker=codes.layout.workers[number],
            )


def _with_absolute_path(piece: Any) -> Any:
    """Return a piece with its absolute path: workers may run in other folders."""
    is_local = piece.filesystem.type_name == "local"
    return replace(piece, path=os.path.abspath(piece.path)) if is_local else piece


def _read_block(source: RowSource, start: int, encoder: Encoder) -> Block:
    codes = replace(Codes.empty(encoder.arity, source.n_rows), start=start)
    fill_rows(codes, source, encoder, 1)
    return Block(codes)


# --- Dask collections -----------------------------------------------------------------------------


class DaskCollection(DaskRows):
    """A Dask DataFrame or Array; its target is a column, a Dask collection, or in memory."""

    n_rows: int | None = None  # the rows are counted when they are read

    def __init__(self, cluster: Cluster, X: Any, y: Any) -> None:
        if X.ndim != 2:
            raise InvalidTableError(f"X must be two-dimensional, but it has ndim={X.ndim}.")
        labels = list(getattr(X, "columns", []))
        if isinstance(y, str):
            if y not in labels:
                raise InvalidTargetError(f"y is {y!r}, but X has no column of this name.")
            X, y = X.drop(columns=[y]), X[y]
        elif isinstance(y, list) and set(map(str, y)) <= set(labels):
            X, y = X.drop(columns=list(y)), X[list(y)]
        self._y = y
        labels = list(getattr(X, "columns", []))
        are_names = bool(labels) and all(isinstance(label, str) for label in labels)
        self.names = tuple(labels) if are_names else None
        self.n_columns = int(X.shape[1])
        self._parts = _partitions(X)
        super().__init__(cluster, range(len(self._parts)))
        self._dtypes = list(X.dtypes) if hasattr(X, "dtypes") else [X.dtype] * self.n_columns

    def time_kinds(self, columns: Sequence[int]) -> TimeKinds:
        """Return which of these columns hold dates, times or durations."""
        kinds = {j: kind_of_storage(self._dtypes[j]) for j in columns}
        return {j: kind for j, kind in kinds.items() if kind is not None}

    def read_target(self) -> NDArray[Any]:
        """Return the target, in this process."""
        y = self._y
        if not dask.is_dask_collection(y):
            return as_target(y, several=True)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[y.columns[0]] if hasattr(y, "columns") else y[:, 0]
        if y.ndim == 1:
            return join_parts(self._compute([dask.delayed(read_part)(p) for p in _partitions(y)]))
        parts = self._compute(_partitions(y))
        return as_target(np.concatenate([np.asarray(part) for part in parts]), several=True)

    def _compute(self, tasks: list[Any]) -> list[Any]:
        return self.cluster.reliably(lambda: self.cluster.gather(self.cluster.compute(tasks)))

    def _survey(self, n_bins: int) -> list[Future]:
        survey = dask.delayed(survey_partition)
        return self.cluster.compute([survey(part, n_bins) for part in self._parts])

    def _cut(self, columns: NDArray[np.int64], n_rows: int, encoder: Encoder, y: Column) -> Ragged:
        cuts = [Ragged.nothing()]
        groups = _groups(columns, n_rows)
        memory = self.cluster.memory_limit() * len(self.cluster.threads)
        largest = 8 * n_rows * max(map(len, groups), default=1)
        at_once = max(1, int(CODES_SHARE * memory / max(1, largest))) if memory else len(groups)
        [target] = self.cluster.scatter([y], self.cluster.threads)
        how = encoder.discretizer, int(encoder.n_bins), target
        read = dask.delayed(_read_groups)
        for at in range(0, len(groups), at_once):
            now = groups[at : at + at_once]
            parts = self.cluster.compute([read(part, now) for part in self._parts])
            futures = [
                self.cluster.submit(_cut_pieces, pieces, *how)
                for pieces in _transposed(self.cluster, parts, len(now))
            ]
            del parts
            cuts += self.cluster.gather(futures)
            self._passes.move(at + len(now), len(groups))
        return Ragged.concatenate(cuts)

    def _integers(self, columns: NDArray[np.int64]) -> list[Future]:
        read = dask.delayed(integers_of_columns)
        return self.cluster.compute([read(part, columns) for part in self._parts])

    def _make_blocks(self, encoder: Encoder, codes: DaskCodes, numbers: list[int]) -> None:
        shared, encode = dask.delayed(encoder), dask.delayed(_encode_blocks)
        spans = [codes.span(number) for number in numbers]
        parts = self.cluster.compute([encode(part, shared, spans) for part in self._parts])
        pieces = dict(zip(numbers, _transposed(self.cluster, parts, len(numbers)), strict=True))
        self.cluster.wait(parts, on_done=self._passes.move)
        del parts
        workers = codes.layout.workers
        for together in _rounds(numbers, workers):
            for number in together:
                codes.blocks[number] = self.cluster.submit(
                    _join_pieces, pieces.pop(number), worker=workers[number]
                )
            blocks = [codes.blocks[number] for number in together]
            self.cluster.wait(blocks, [workers[number] for number in together])


def _partitions(collection: Any) -> list[Any]:
    """Return the row partitions of a Dask collection, each of all columns."""
    if hasattr(collection, "rechunk") and collection.ndim == 2:
        collection = collection.rechunk({1: -1})
    partitions: list[Any] = np.ravel(collection.to_delayed()).tolist()
    return partitions


def _rounds(numbers: list[int], workers: list[str]) -> Iterator[list[int]]:
    """Return these blocks in rounds, at most one for each worker in a round."""
    rest = list(numbers)
    while rest:
        first = {workers[number]: number for number in reversed(rest)}
        yield sorted(first.values())
        rest = [number for number in rest if number not in first.values()]


def _transposed(cluster: Cluster, parts: list[Future], n_pieces: int) -> list[list[Future]]:
    """Turn futures of lists of pieces into lists of futures: the first pieces, the second …"""
    return [[cluster.submit(_pick, part, i) for part in parts] for i in range(n_pieces)]


def _pick(pieces: list[Any], i: int) -> Any:
    return pieces[i]


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

"""Where row partitions come from: a Parquet data set, larger than memory too, or a list of tables.

A source knows its columns and how many rows it has without reading them, and is a list of pieces:
some rows each, which can be sent to another machine and read there, a few cells at a time.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.cuts import Ragged, Survey, get_discretizer
from hocmim.coding.encoder import Encoder, Room, Target, check_bins, map_spans, most_frequent
from hocmim.coding.partitions import (
    TableSurvey,
    TargetSurvey,
    columns_to_cut,
    cut_columns,
    encode_partition,
    fit_encoder,
    fit_target,
    read_numbers,
    survey_partition,
    survey_target,
)
from hocmim.data.columns import Categories, Numbers, Span, column_label
from hocmim.data.memory import free_memory
from hocmim.data.table import Table, as_table, first_repeated, take_columns, take_rows
from hocmim.data.target import as_target
from hocmim.errors import InvalidTableError, InvalidTargetError, MissingDependencyError

# Bytes of a Parquet file (before compression) that make a piece.
PIECE_BYTES = 1 << 26
# What one thread reads at a time at most; less where memory is short. Cells: 16 MB of numbers.
MAX_CELLS = 1 << 21
# Fewer rows than this are not read at a time: of a wider table, fewer columns.
LEAST_ROWS = 1 << 12
# Bytes of the pages a Parquet reader holds: one and a dictionary a column, a megabyte each at most.
READ_BYTES = 1 << 26
PAGES_BYTES = 1 << 21
# Cells of whole columns that are together in memory for "quantile" and "mdlp": 64 MB.
WHOLE_CELLS = 1 << 23

Key = str | int
Groups = Sequence[Sequence[Any]]


class Piece(Protocol):
    """Some rows of a source, picklable: read where they are needed."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    def column_bytes(self) -> int:
        """What reading takes of memory for each column, besides what is read."""

    def tables(self, groups: Groups, max_cells: int) -> Iterator[tuple[int, Any]]:
        """The rows in order as tables in memory of about ``max_cells`` cells, one group at a time.

        A group is some of ``RowSource.columns``, or its ``target``; a table comes with the number
        of its group.
        """


@dataclass(frozen=True, eq=False)
class RowSource:
    """Row partitions in order: the features, and the target if it is one of the columns.

    Attributes
    ----------
    columns : tuple of str or int
        What to ask a piece for: the features, by name if they have names.
    target : str or None
        What to ask a piece for: the target.
    pieces : tuple of Piece
    fingerprint : str
        Tells the data from others. Of files: their paths, sizes and times of change, their schemas
        and numbers of rows, but not every value in them; of tables in memory: every value.
    """

    columns: tuple[Key, ...]
    target: Key | None
    pieces: tuple[Piece, ...]
    fingerprint: str

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(piece.n_rows for piece in self.pieces)

    @property
    def n_columns(self) -> int:
        """How many features there are."""
        return len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, if they have any."""
        names = tuple(column for column in self.columns if isinstance(column, str))
        return names if len(names) == len(self.columns) else None

    def label(self, j: int) -> str:
        """What to call feature j in a message."""
        return column_label(self.names, j)

    @classmethod
    def of_tables(cls, tables: Iterable[Any]) -> RowSource:
        """Tables in memory, one below the other."""
        opened = [as_table(table, min_rows=0) for table in tables]
        if not opened:
            raise InvalidTableError("X is a list of no tables. Pass at least one.")
        first = opened[0]
        columns: tuple[Key, ...] = first.names or tuple(range(first.n_columns))
        pieces = tuple(TablePiece(table.native, table.n_rows) for table in opened)
        digest = new_digest()
        for table in opened:
            digest.update(digest_table(table).encode())
        return cls(columns, None, pieces, digest.hexdigest())

    def with_target(self, name: str) -> RowSource:
        """The same rows, one of the columns as target."""
        if name not in self.columns:
            near = difflib.get_close_matches(name, map(str, self.columns), n=3)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise InvalidTargetError(f"y is {name!r}, and X has no column of this name.{hint}")
        rest = tuple(column for column in self.columns if column != name)
        return replace(self, columns=rest, target=name)

    def features(self, n_columns: int, names: Sequence[str] | None) -> RowSource:
        """The same rows, only the features an estimator was fitted on: by name if these have one.

        Other columns, such as the target, may be there too.
        """
        if names is None:
            if self.n_columns != n_columns:
                raise InvalidTableError(
                    f"X has {self.n_columns} features, but {n_columns} were there in fit."
                )
            return self
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise InvalidTableError(
                f"X has no column {missing[0]!r}, which was there in fit"
                + (f" (and {len(missing) - 1} more are missing)." if missing[1:] else ".")
            )
        return replace(self, columns=tuple(names))

    def read(self, columns: Sequence[Key]) -> Any:
        """These columns of all rows, as one table in memory."""
        if not columns:
            return np.empty((self.n_rows, 0))
        parts = [part for piece in self.pieces for _, part in piece.tables([columns], MAX_CELLS)]
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts)
        if all(isinstance(piece, ParquetPiece) for piece in self.pieces):
            return _concatenate_arrow(parts)
        frames = [nw.from_native(part, eager_only=True) for part in parts]
        return nw.concat(frames, how="vertical").to_native()

    def only(self, span: Span) -> RowSource:
        """The same rows, some of the features."""
        return replace(self, columns=self.columns[span.start : span.stop])

    def spans(self, n_jobs: int | None = 1) -> list[Span]:
        """All features, cut into spans that are read together, as many as there is memory for."""
        column_bytes = max([1, *(piece.column_bytes for piece in self.pieces)])
        readers = min(READ_BYTES, _memory_share(n_jobs) // 4) // column_bytes
        tallest = max([1, *(piece.n_rows for piece in self.pieces)])
        width = max(1, min(readers, MAX_CELLS // min(LEAST_ROWS, tallest)))
        starts = range(0, self.n_columns, width)
        return [Span(start, min(start + width, self.n_columns)) for start in starts]


def _memory_share(n_jobs: int | None) -> int:
    """Bytes of memory for each thread."""
    return free_memory() // effective_n_jobs(n_jobs)


def _cells(n_jobs: int | None) -> int:
    """How many cells a thread reads at a time, so that they and copies of them fit its memory."""
    return max(1, min(MAX_CELLS, _memory_share(n_jobs) // 128))


def is_row_source(X: Any) -> bool:
    """Whether X is a path, a pyarrow data set or a RowSource: not a table in memory."""
    return isinstance(X, (str, PathLike, RowSource)) or _is_dataset(X)


def _is_dataset(X: Any) -> bool:
    return type(X).__module__ == "pyarrow._dataset" and hasattr(X, "get_fragments")


def open_source(X: Any, y: Any = None) -> tuple[RowSource, Any]:
    """X as a source, and y: None if it is the name of a column of X, otherwise as it was given."""
    source = X if isinstance(X, RowSource) else _open_parquet(X)
    return (source.with_target(y), None) if isinstance(y, str) else (source, y)


# --- tables in memory -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TablePiece:
    """A table in memory."""

    table: Any
    n_rows: int
    column_bytes: int = 1

    def tables(self, groups: Groups, max_cells: int) -> Iterator[tuple[int, Any]]:
        """See Piece."""
        table = as_table(self.table, min_rows=0)
        place = {label: j for j, label in enumerate(table.names or range(table.n_columns))}
        for number, columns in enumerate(groups):
            chosen = take_columns(self.table, [place[column] for column in columns])
            n_rows = max(1, max_cells // len(columns))
            for start in range(0, self.n_rows, n_rows):
                yield number, take_rows(chosen, range(start, min(start + n_rows, self.n_rows)))


def new_digest() -> Any:
    """What fingerprints are made with."""
    return hashlib.blake2b(digest_size=16)


def digest_table(table: Table) -> str:
    """A digest of every value of a table in memory, its types and its names."""
    digest = new_digest()
    digest.update(repr((table.names, table.shape)).encode())
    if table.n_rows:
        for block in table.blocks():
            _digest_block(digest, block)
    return digest.hexdigest()


def _digest_block(digest: Any, block: Numbers | Categories) -> None:
    if isinstance(block, Categories):
        digest.update(repr(block.levels).encode())
        digest.update(block.codes.data)
        return
    digest.update(block.values.dtype.str.encode())
    for column in block.values.T:
        digest.update(np.ascontiguousarray(column).data)


# --- Parquet --------------------------------------------------------------------------------------


_BUFFER_BYTES = 1 << 15


@dataclass(frozen=True, eq=False)
class ParquetPiece:
    """Some row groups of a Parquet file.

    ``constants`` are the columns that are in the path and not in the file (``year=2024/…``).
    """

    path: str
    filesystem: Any
    row_groups: tuple[int, ...]
    n_rows: int
    column_bytes: int
    constants: dict[str, Any]

    def tables(self, groups: Groups, max_cells: int) -> Iterator[tuple[int, Any]]:
        """See Piece. Streams pages: a row group is never in memory as a whole."""
        from pyarrow import parquet

        with self.filesystem.open_input_file(self.path) as file:
            reader = parquet.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
            for number, columns in enumerate(groups):
                batches = reader.iter_batches(
                    batch_size=max(1, max_cells // len(columns)),
                    row_groups=list(self.row_groups),
                    columns=[name for name in columns if name not in self.constants],
                    use_threads=False,
                )
                for batch in batches:
                    yield number, self._table(batch, columns)

    def _table(self, batch: Any, columns: Sequence[Any]) -> Any:
        """These columns in this order, constants among them."""
        import pyarrow as pa

        table = pa.Table.from_batches([batch])
        for name in self.constants.keys() & set(columns):
            table = table.append_column(name, pa.repeat(self.constants[name], batch.num_rows))
        return table.select(list(columns))


def _open_parquet(X: Any) -> RowSource:
    """A Parquet file, a folder of them, or a pyarrow data set."""
    try:
        import pyarrow as pa
        from pyarrow import dataset
    except ImportError as error:
        raise MissingDependencyError(
            "Reading a Parquet data set needs pyarrow. Install it with: pip install pyarrow"
        ) from error
    try:
        if not _is_dataset(X):
            X = dataset.dataset(_whole_path(X), format="parquet", partitioning="hive")
        if getattr(X, "_scan_options", None):
            raise InvalidTableError(
                "X is a data set with a filter. Write the rows that pass it to a data set of their "
                "own, with pyarrow.dataset.write_dataset, and pass that."
            )
        files = [_ParquetFile.of(fragment) for fragment in X.get_fragments()]
    except FileNotFoundError as error:
        raise InvalidTableError(f"X is a path, and there is no file or folder {X!r}.") from error
    except (pa.ArrowException, OSError, AttributeError) as error:
        raise InvalidTableError(
            f"X = {X!r} cannot be read as Parquet: {error}. Pass the path of a Parquet file or of "
            "a folder of them, or a table in memory."
        ) from error
    if not files:
        raise InvalidTableError(f"There is no Parquet file in X = {X!r}.")
    columns = _common_columns(files)
    digest = new_digest()
    for file in files:
        digest.update(file.identity.encode())
    pieces = tuple(piece for file in files for piece in file.pieces())
    return RowSource(columns, None, pieces, digest.hexdigest())


def _whole_path(path: str | PathLike[str]) -> str:
    """A path that means the same in another folder, and on another machine that has the files."""
    # What does not exist here may be the address of a remote store.
    return str(Path(path).resolve()) if Path(path).exists() else fspath(path)


@dataclass(frozen=True, eq=False)
class _ParquetFile:
    """What the footer of a Parquet file says."""

    path: str
    filesystem: Any
    columns: list[str]
    constants: dict[str, Any]
    row_groups: list[Any]
    identity: str

    @classmethod
    def of(cls, fragment: Any) -> _ParquetFile:
        from pyarrow import dataset

        schema, groups = fragment.physical_schema, fragment.row_groups
        constants = dataset.get_partition_keys(fragment.partition_expression)
        # The index of a pandas frame is written as a column, and is none.
        index = set(map(str, (schema.pandas_metadata or {}).get("index_columns", [])))
        columns = [name for name in schema.names if name not in index and name not in constants]
        info = fragment.filesystem.get_file_info(fragment.path)
        sizes = [(group.id, group.num_rows, group.total_byte_size) for group in groups]
        identity = (fragment.path, info.size, info.mtime_ns, schema.to_string(), constants, sizes)
        return cls(
            fragment.path,
            fragment.filesystem,
            [*columns, *constants],
            constants,
            groups,
            repr(identity),
        )

    def _column_bytes(self, row_groups: list[Any]) -> int:
        n_columns = max(1, len(self.columns) - len(self.constants))
        largest = max(group.total_byte_size // n_columns for group in row_groups)
        return 2 * min(largest, PAGES_BYTES) + _BUFFER_BYTES

    def pieces(self) -> Iterator[ParquetPiece]:
        """Neighbouring row groups, about ``PIECE_BYTES`` together."""
        together: list[Any] = []
        for group in [*self.row_groups, None]:
            n_bytes = sum(one.total_byte_size for one in together)
            if together and (group is None or n_bytes + group.total_byte_size > PIECE_BYTES):
                yield ParquetPiece(
                    self.path,
                    self.filesystem,
                    tuple(one.id for one in together),
                    sum(one.num_rows for one in together),
                    self._column_bytes(together),
                    self.constants,
                )
                together = []
            together.append(group)


def _common_columns(files: list[_ParquetFile]) -> tuple[str, ...]:
    first = files[0]
    repeated = first_repeated(first.columns)
    if repeated is not None:
        raise InvalidTableError(
            f"X has more than one column of the name {repeated!r} (in {first.path}). Give every "
            "column a name of its own."
        )
    for file in files[1:]:
        odd = set(first.columns).symmetric_difference(file.columns)
        if odd:
            name = min(odd)
            has, lacks = (first, file) if name in first.columns else (file, first)
            raise InvalidTableError(
                f"The files of X do not have the same columns: {has.path} has {name!r}, and "
                f"{lacks.path} has not."
            )
    return tuple(first.columns)


def _concatenate_arrow(tables: list[Any]) -> Any:
    """Tables of the same columns, whose types may differ, as one."""
    import pyarrow as pa

    def plain(table: Any) -> Any:
        for i, field in enumerate(table.schema):
            if pa.types.is_dictionary(field.type):
                values = table.column(i).cast(field.type.value_type)
                table = table.set_column(i, field.name, values)
        return table

    return pa.concat_tables(map(plain, tables), promote_options="permissive")


# --- encoding on this machine ---------------------------------------------------------------------


def encode_source(
    source: RowSource,
    y: Column | None = None,
    *,
    discretizer: str = "uniform",
    n_bins: int = 5,
    n_jobs: int | None = None,
    room: Room = Codes.empty,
) -> tuple[Encoder, Codes]:
    """The codes of a source, and the encoder they were made with.

    Reads the rows twice ("uniform"), or three times, and never holds more of them than a few
    blocks a thread ("quantile", "mdlp": and a few whole columns).

    Parameters
    ----------
    source : RowSource
    y : Column, optional
        For "mdlp".
    discretizer, n_bins, n_jobs
        See :class:`hocmim.coding.encoder.Encoder`.
    room : callable
        ``room(arity, n_samples, names)`` gives Codes to be filled: in memory, or in files.
    """
    n_bins = check_bins("n_bins", n_bins)
    survey = survey_columns(source, Span(0, source.n_columns), n_bins, n_jobs)
    cuts = None
    if get_discretizer(discretizer).needs_values:
        columns = columns_to_cut(survey, discretizer)
        cuts = cut_source(source, columns, discretizer, n_bins, y, n_jobs)
    encoder = fit_encoder(survey, discretizer, n_bins, cuts)
    codes = room(encoder.arity, source.n_rows, source.names)
    fill_rows(codes, source, Span(0, source.n_columns), encoder, n_jobs)
    return encoder.with_most_frequent(most_frequent(codes)).set_params(n_jobs=n_jobs), codes


def survey_columns(source: RowSource, span: Span, n_bins: int, n_jobs: int | None) -> TableSurvey:
    """Survey some of the columns of a source."""
    some = source.only(span)
    groups = [some.columns[start:stop] for start, stop in some.spans(n_jobs)]
    n_cells = _cells(n_jobs)
    nothing = [
        TableSurvey(replace(some, columns=group).names, 0, Survey.nothing(len(group), n_bins), {})
        for group in groups
    ]

    def survey_piece(piece: Piece) -> TableSurvey:
        surveys = list(nothing)
        for number, part in piece.tables(groups, n_cells):
            surveys[number] = surveys[number].merge(survey_partition(part, n_bins))
        return TableSurvey.concatenate(surveys)

    surveys = map_spans(survey_piece, source.pieces, n_jobs)
    return reduce(TableSurvey.merge, surveys, TableSurvey.concatenate(nothing))


def cut_source(
    source: RowSource,
    columns: NDArray[np.int64],
    discretizer: str,
    n_bins: int,
    y: Column | None,
    n_jobs: int | None,
) -> Ragged:
    """The cuts of these columns, as many at a time as there is room for."""
    cuts = [Ragged(np.empty(0), np.zeros(1, np.int64))]
    whole_cells = min(WHOLE_CELLS, free_memory() // 32)
    width = max(1, whole_cells // max(1, source.n_rows))
    for start in range(0, len(columns), width):
        together = [source.columns[j] for j in columns[start : start + width]]
        values = np.empty((source.n_rows, len(together)), order="F")

        def read(_: int, at: int, part: Any, values: Any = values) -> int:
            numbers = read_numbers(part, np.arange(values.shape[1]))
            values[at : at + len(numbers)] = numbers
            return len(numbers)

        def cut(j: int, values: Any = values) -> Ragged:
            return cut_columns(values[:, j : j + 1], discretizer, n_bins, y)

        _for_rows(source, [together], read, n_jobs)
        cuts += map_spans(cut, range(len(together)), n_jobs)
    return Ragged.concatenate(cuts)


def fill_rows(
    codes: Codes, source: RowSource, span: Span, encoder: Encoder, n_jobs: int | None
) -> None:
    """Encode some of the columns of a source into ``codes``; the encoder is that of these only."""
    some = source.only(span)
    spans = some.spans(n_jobs)
    blocks = [codes.block(*span) for span in spans]
    coders = [encoder.of_columns(*span) for span in spans]

    def encode_rows(number: int, at: int, part: Any) -> int:
        found, block = encode_partition(part, coders[number]), blocks[number]
        block.narrow[:, at : at + found.n_samples] = found.narrow
        block.wide[:, at : at + found.n_samples] = found.wide
        return found.n_samples

    _for_rows(some, [some.columns[start:stop] for start, stop in spans], encode_rows, n_jobs)


def _for_rows(
    source: RowSource, groups: Groups, do: Callable[[int, int, Any], int], n_jobs: int | None
) -> None:
    """``do(group, at, part)`` for all rows, a few at a time; it returns how many there were."""
    n_cells = _cells(n_jobs)
    ends = np.cumsum([piece.n_rows for piece in source.pieces]).tolist()

    def for_piece(end: int, piece: Piece) -> None:
        at = [end - piece.n_rows] * len(groups)
        for number, part in piece.tables(groups, n_cells):
            at[number] += do(number, at[number], part)
        if set(at) != {end}:
            raise InvalidTableError("X changed while it was read. Fit again when it is complete.")

    pieces = list(zip(ends, source.pieces, strict=True))
    map_spans(lambda item: for_piece(*item), pieces, n_jobs)


def encode_source_column(source: RowSource, encoder: Encoder, j: int) -> Column:
    """The codes of one feature of a source, by an encoder fitted before."""
    alone = encoder.of_columns(j, j + 1)
    codes = Codes.empty(alone.arity, source.n_rows)
    fill_rows(codes, source, Span(j, j + 1), alone, n_jobs=None)
    return replace(codes.column(0), index=j)


def encode_source_target(
    source: RowSource, *, bins: int = 5, discretizer: str = "uniform"
) -> Target:
    """The codes of the target column of a source: see ``encode_target``."""
    bins = check_bins("bins", bins)
    get_discretizer(discretizer)
    nothing = survey_target(np.empty(0), bins)
    survey = reduce(
        TargetSurvey.merge, (survey_target(y, bins) for y in _target_parts(source)), nothing
    )
    values = None
    if survey.needs_values(discretizer):
        values = np.concatenate([as_target(y) for y in _target_parts(source)])
    coding = fit_target(survey, bins, discretizer, values)
    codes = np.concatenate([coding.encode(y) for y in _target_parts(source)])
    return Target(Column(codes, coding.arity), coding.classes, coding.cuts)


def _target_parts(source: RowSource) -> Iterator[Any]:
    for piece in source.pieces:
        for _, part in piece.tables([[source.target]], MAX_CELLS):
            if isinstance(part, np.ndarray):
                yield part[:, 0]
            else:
                yield nw.from_native(part, eager_only=True)[:, 0].to_native()

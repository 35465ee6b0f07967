"""Row sources a user can pass: Parquet files by path or address, a pyarrow data set, a lazy frame.

Only the footers of the files are read when a source is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.data.addresses import find_files, is_address
from hocmim.data.digests import new_digest
from hocmim.data.lazy_frames import is_lazy_frame, open_lazy_frame
from hocmim.data.rows import Groups, RowSource
from hocmim.data.table import first_repeated
from hocmim.data.writing import check_regular
from hocmim.errors import InvalidTableError, not_installed
from hocmim.text import value_text

# Bytes of row groups (before compression) that make a piece.
PIECE_BYTES = 1 << 26
# The most bytes of a page, as pyarrow writes them; a reader holds a page and a dictionary for
# each column.
MAX_PAGE_BYTES = 1 << 21
# Bytes of a file that a reader buffers for each column; of a store every buffer is a request.
BUFFER_BYTES, STORE_BUFFER_BYTES = 1 << 15, 1 << 20


def is_row_source(X: Any) -> bool:
    """Whether X is a path, a list of paths, a data set, a lazy frame or a RowSource.

    Anything else is a table in memory.
    """
    is_path = isinstance(X, (str, PathLike, RowSource)) or _are_paths(X)
    return is_path or _is_dataset(X) or is_lazy_frame(X)


def is_dask_collection(X: Any) -> bool:
    """Whether X is a Dask collection, such as a DataFrame or an Array."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def open_source(X: Any, y: Any = None) -> tuple[RowSource, Any]:
    """Open a row source and its target; also return y.

    The second value is None if y is the name of a column of X, which is the target of the source
    then; the columns, in memory, if y is a list of names of columns of X; otherwise y as it is.
    """
    if isinstance(X, RowSource):
        source = X
    else:
        source = open_lazy_frame(X) if is_lazy_frame(X) else _open_parquet(X)
    if are_names(y) and set(y) <= set(source.columns):
        rest = tuple(column for column in source.columns if column not in y)
        return replace(source, columns=rest), source.read(list(y))
    return (source.with_target(y), None) if isinstance(y, str) else (source, y)


def are_files(source: RowSource) -> bool:
    """Whether every piece of a source is in a Parquet file."""
    return all(isinstance(piece, ParquetPiece) for piece in source.pieces)


def are_names(y: Any) -> bool:
    """Whether y is a list of strings, which may be names of columns."""
    return isinstance(y, (list, tuple)) and len(y) > 0 and all(isinstance(n, str) for n in y)


def _are_paths(X: Any) -> bool:
    is_list = isinstance(X, (list, tuple)) and len(X) > 0
    return is_list and all(isinstance(one, (str, PathLike)) for one in X)


def _is_dataset(X: Any) -> bool:
    return type(X).__module__ == "pyarrow._dataset" and hasattr(X, "get_fragments")


@dataclass(frozen=True, eq=False)
class ParquetPiece:
    """Some row groups of a Parquet file: see Piece.

    ``constants`` are the columns that are in the path and not in the file (``year=2024/…``).
    """

    path: str
    filesystem: Any
    row_groups: tuple[int, ...]
    n_rows: int
    column_bytes: int
    constants: dict[str, Any]

    def tables(self, groups: Groups, max_cells: int) -> Iterator[tuple[int, Any]]:
        """See Piece. Pages are streamed: a whole row group is never in memory."""
        import pyarrow as pa
        from pyarrow import parquet

        with _readable(self.path), self.filesystem.open_input_file(self.path) as file:
            reader = parquet.ParquetFile(
                file, buffer_size=_buffer_bytes(self.filesystem), pre_buffer=False
            )
            for number, columns in enumerate(groups):
                batches = reader.iter_batches(
                    batch_size=max(1, max_cells // len(columns)),
                    row_groups=list(self.row_groups),
                    columns=[name for name in columns if name not in self.constants],
                    use_threads=False,
                )
                for batch in batches:
                    batch.validate(full=True)  # text that is not UTF-8, indices out of range
                    yield number, self._table(pa.Table.from_batches([batch]), columns)

    def bytes_of(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """Return about how much memory all rows of each column take, read by ``whole``.

        A number takes 8 bytes, a string 4 and its share of the dictionary, which is held three
        times: by pyarrow, as strings of Python, and while it is sorted.
        """
        from pyarrow import parquet

        with _readable(self.path), self.filesystem.open_input_file(self.path) as file:
            footer = parquet.ParquetFile(file, pre_buffer=False).metadata
        n_bytes = np.full(len(columns), 8 * self.n_rows)
        place = {name: at for at, name in enumerate(columns)}
        schema = footer.schema
        for k in range(footer.num_columns):
            at = place.get(schema.column(k).path)
            if at is not None and schema.column(k).physical_type == "BYTE_ARRAY":
                groups = (footer.row_group(i).column(k) for i in self.row_groups)
                stored = sum(group.total_uncompressed_size for group in groups)
                n_bytes[at] = 4 * self.n_rows + 3 * stored
        return n_bytes

    def whole(self, columns: Sequence[str]) -> Any:
        """Return these columns of all rows; strings as they are stored, by their dictionaries."""
        import pyarrow as pa
        from pyarrow import parquet

        here = [name for name in columns if name not in self.constants]
        with _readable(self.path), self.filesystem.open_input_file(self.path) as file:
            footer = parquet.ParquetFile(file, pre_buffer=False)
            schema = footer.schema_arrow
            strings = [name for name in here if pa.types.is_string(schema.field(name).type)]
            reader = parquet.ParquetFile(
                file, metadata=footer.metadata, read_dictionary=strings, pre_buffer=False
            )
            table = reader.read_row_groups(list(self.row_groups), columns=here, use_threads=False)
            table.validate(full=True)  # text that is not UTF-8, indices out of range
        if not here:
            table = pa.table({"": pa.nulls(self.n_rows)})
        return self._table(table.replace_schema_metadata(None), columns)

    def head(self, columns: Sequence[Any]) -> Any:
        """See Piece; the schema has the types, so that no rows are read."""
        from pyarrow import parquet

        with _readable(self.path), self.filesystem.open_input_file(self.path) as file:
            empty = parquet.ParquetFile(file, pre_buffer=False).schema_arrow.empty_table()
        return self._table(empty, columns)

    def _table(self, table: Any, columns: Sequence[Any]) -> Any:
        """Return these columns in this order, the constants included."""
        import pyarrow as pa

        for name in self.constants.keys() & set(columns):
            table = table.append_column(name, pa.repeat(self.constants[name], table.num_rows))
        return table.select(list(columns))

    def concatenate(self, tables: list[Any]) -> Any:
        """See Piece; the types of a column may differ."""
        import pyarrow as pa

        return pa.concat_tables(map(without_dictionaries, tables), promote_options="permissive")


def without_dictionaries(table: Any) -> Any:
    """Return a pyarrow table whose columns hold their values, not places in dictionaries."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table.column(at).cast(field.type.value_type)
            table = table.set_column(at, field.name, plain)
    return table


def concatenate(tables: list[Any]) -> Any:
    """Put pyarrow tables of the same schema one below the other, without a copy."""
    import pyarrow as pa

    return pa.concat_tables(tables)


def _buffer_bytes(filesystem: Any) -> int:
    return BUFFER_BYTES if filesystem.type_name == "local" else STORE_BUFFER_BYTES


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Turn errors of reading a file into errors that name it."""
    import pyarrow as pa

    try:
        yield
    except (MemoryError, FileNotFoundError, PermissionError):
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        text = " ".join(str(error).split())[:200].rstrip(".")
        raise InvalidTableError(f"{path!r} cannot be read as Parquet: {text}.") from error


def _open_parquet(X: Any) -> RowSource:
    """Open a Parquet file, a folder of them, or a pyarrow data set."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise not_installed("Reading a Parquet data set needs", "pyarrow") from error
    data = X
    try:
        if not _is_dataset(X):
            data = open_dataset(X)
        if getattr(data, "_scan_options", None):
            raise InvalidTableError(
                "X is a data set with a filter. Write the rows that pass it to a new data set with "
                "pyarrow.dataset.write_dataset, and pass that one."
            )
        files = [_read_footer(fragment) for fragment in data.get_fragments()]
    except FileNotFoundError as error:
        raise InvalidTableError(
            f"X is a path, but there is no file or folder {_missing(X)!r}. Check the path."
        ) from error
    except (pa.ArrowException, OSError, AttributeError, UnicodeDecodeError) as error:
        hint = "Pass the path of a Parquet file or of a folder of them, or a table in memory."
        if isinstance(X, (str, PathLike)) and is_address(X):
            hint = "Check the address, the credentials and the endpoint."
        raise InvalidTableError(f"X = {X!r} cannot be read as Parquet: {error}. {hint}") from error
    if not files:
        raise InvalidTableError(
            f"There is no Parquet file in X = {value_text(X)}. Pass another folder."
        )
    columns = _common_columns(files)
    digest = new_digest()
    for file in files:
        digest.update(file.identity.encode())
    pieces = tuple(piece for file in files for piece in file.pieces)
    return RowSource(columns, None, pieces, digest.hexdigest())


def open_dataset(X: Any) -> Any:
    """Open Parquet files as a data set of pyarrow: see ``find_files``."""
    from pyarrow import dataset

    for path in [X] if isinstance(X, (str, PathLike)) else X:
        if not is_address(path):
            check_regular(path)
    filesystem, paths = find_files(X)
    return dataset.dataset(paths, filesystem=filesystem, format="parquet", partitioning="hive")


def _missing(X: Any) -> Any:
    """Return the path that does not exist: of a list, the first one."""
    if not _are_paths(X):
        return X
    local = (path for path in X if not is_address(path) and not Path(path).exists())
    return next(local, X[0])


class _ParquetFile(NamedTuple):
    """The content of the footer of a Parquet file."""

    path: str
    columns: list[str]
    identity: str
    pieces: list[ParquetPiece]


def _read_footer(fragment: Any) -> _ParquetFile:
    from pyarrow import dataset

    schema, groups = fragment.physical_schema, fragment.row_groups
    constants = dataset.get_partition_keys(fragment.partition_expression)
    # pandas writes the index of a frame as a column; it is not a feature.
    index = set(map(str, (schema.pandas_metadata or {}).get("index_columns", [])))
    columns = [name for name in schema.names if name not in index and name not in constants]
    info = fragment.filesystem.get_file_info(fragment.path)
    sizes = [(group.id, group.num_rows, group.total_byte_size) for group in groups]
    identity = (fragment.path, info.size, info.mtime_ns, schema.to_string(), constants, sizes)
    buffer, n_columns = _buffer_bytes(fragment.filesystem), max(1, len(columns))
    pieces = []
    for together in _joined(groups):
        largest = max(group.total_byte_size // n_columns for group in together)
        piece = ParquetPiece(
            fragment.path,
            fragment.filesystem,
            tuple(group.id for group in together),
            sum(group.num_rows for group in together),
            2 * min(largest, MAX_PAGE_BYTES) + buffer,
            constants,
        )
        pieces.append(piece)
    return _ParquetFile(fragment.path, [*columns, *constants], repr(identity), pieces)


def _joined(row_groups: list[Any]) -> list[list[Any]]:
    """Join neighbouring row groups up to about ``PIECE_BYTES``."""
    joined: list[list[Any]] = []
    n_bytes = 0
    for group in row_groups:
        n_bytes += group.total_byte_size
        if not joined or n_bytes > PIECE_BYTES:
            joined.append([])
            n_bytes = group.total_byte_size
        joined[-1].append(group)
    return joined


def _common_columns(files: list[_ParquetFile]) -> tuple[str, ...]:
    """Return the columns of all files; raise an error if they differ."""
    first = files[0]
    repeated = first_repeated(first.columns)
    if repeated is not None:
        raise InvalidTableError(
            f"X has more than one column named {repeated!r} (in {first.path}). Give every column a "
            "different name."
        )
    for file in files[1:]:
        odd = set(first.columns).symmetric_difference(file.columns)
        if odd:
            name = min(odd)
            has, lacks = (first, file) if name in first.columns else (file, first)
            raise InvalidTableError(
                f"The files of X do not have the same columns: {has.path} has {name!r}, but "
                f"{lacks.path} does not. Write them with the same columns."
            )
    return tuple(first.columns)

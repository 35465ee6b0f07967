"""Read the text of a row source as numbers and dates, as ``data.reading`` does in memory.

How a column is read is learnt from all its rows, one column in memory at a time. The rows are
converted when a piece is read, on any machine, so a source larger than memory stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from hocmim.data.digests import new_digest
from hocmim.data.reading import TableReading, TextConverter, may_be_text
from hocmim.data.recognize import ColumnReading
from hocmim.data.rows import Groups, Piece, RowSource
from hocmim.data.table import as_table, take_columns
from hocmim.errors import InvalidParameterError
from hocmim.text import did_you_mean, quote


@dataclass(frozen=True, eq=False)
class ConvertedPiece:
    """A piece whose text is converted when it is read: see Piece.

    Attributes
    ----------
    piece : Piece
    readings : dict of str to ColumnReading
        By the name of the column of ``piece``.
    """

    piece: Piece
    readings: dict[str, ColumnReading]

    @property
    def n_rows(self) -> int:
        """See Piece."""
        return self.piece.n_rows

    @property
    def column_bytes(self) -> int:
        """See Piece."""
        return self.piece.column_bytes

    def tables(self, groups: Groups, max_cells: int) -> Iterator[tuple[int, Any]]:
        """See Piece."""
        read = [self._origins(columns) for columns in groups]
        for number, table in self.piece.tables(read, max_cells):
            yield number, self._convert(table, read[number], groups[number])

    def bytes_of(self, columns: Sequence[str]) -> Any:
        """Return about how much memory all rows of each column take, read by ``whole``."""
        piece: Any = self.piece
        return piece.bytes_of(columns)

    def whole(self, columns: Sequence[str]) -> Any:
        """Return these columns of all rows, converted."""
        tables = [table for _, table in self.tables([columns], self.n_rows * len(columns))]
        return tables[0] if len(tables) == 1 else self.concatenate(tables)

    def head(self, columns: Sequence[Any]) -> Any:
        """See Piece."""
        return next(self.tables([columns], len(columns)))[1]

    def _origins(self, columns: Sequence[Any]) -> list[Any]:
        """Return the columns of ``piece`` that these columns are made of."""
        origin = {part: name for name, one in self.readings.items() for part in one.parts}
        return list(dict.fromkeys(origin.get(column, column) for column in columns))

    def _convert(self, table: Any, read: list[Any], columns: Sequence[Any]) -> Any:
        """Convert a table of the columns that were read, and return the columns asked for."""
        here = tuple(
            replace(self.readings[name], index=j)
            for j, name in enumerate(read)
            if name in self.readings
        )
        found = TableReading(here).apply(table) if here else table
        if read != list(columns):
            place = {name: j for j, name in enumerate(as_table(found, min_rows=0).names or ())}
            found = take_columns(found, [place[column] for column in columns])
        return found

    def concatenate(self, tables: list[Any]) -> Any:
        """See Piece."""
        return self.piece.concatenate(tables)


def convert_source(
    source: RowSource, converter: TextConverter | None = None
) -> tuple[RowSource, tuple[ColumnReading, ...]]:
    """Return a row source whose text is read as numbers and dates, and how each column is read.

    Parameters
    ----------
    source : RowSource
        With names of columns; its target is converted too.
    converter : TextConverter, optional
        What the user says about the text.
    """
    converter = converter or TextConverter()
    converter.check()
    target = () if source.target is None else (source.target,)
    keys = [*source.columns, *target]
    for name in converter.columns or {}:
        if name not in keys:
            hint = did_you_mean(name, map(str, keys))
            raise InvalidParameterError(f"There is no column {quote(name)}.{hint}")
    learnt = tuple(_learn(source, keys, converter))
    readings = {column.name: column for column in learnt if column.is_converted}
    if not readings:
        return source, learnt
    columns = [
        part
        for name in source.columns
        for part in (readings[name].parts if name in readings else ()) or (name,)
    ]
    pieces = tuple(ConvertedPiece(piece, readings) for piece in source.pieces)
    digest = new_digest()
    digest.update(f"{source.fingerprint} {readings!r}".encode())
    converted = RowSource(tuple(columns), source.target, pieces, digest.hexdigest())
    return converted, learnt


def _learn(source: RowSource, keys: list[Any], converter: TextConverter) -> Iterator[ColumnReading]:
    first = first_rows(source, keys)
    if first is None:
        return
    table = as_table(first)
    for j, key in enumerate(keys):
        declared = converter.columns or {}
        kinds = {key: declared[key]} if key in declared else {}
        if kinds or may_be_text(table, j):
            one = clone(converter).set_params(columns=kinds)
            for column in one.learn(source.read([key])).columns:
                yield replace(column, index=j, name=str(key))


def first_rows(source: RowSource, columns: list[Any]) -> Any:
    """Return the first row or few of some columns as a table; None if there are no rows."""
    parts = (part for piece in source.pieces for _, part in piece.tables([columns], len(columns)))
    return next(parts, None)

"""The codes of a row source, made on this machine without holding the table in memory.

Where the codes and a few whole columns fit into memory, files are read by blocks of columns, once,
and each block is encoded as a table in memory is. Otherwise some rows of all columns are read at a
time, in several passes; the codes are the same: see ``partitions.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Allocate, Codes, Column
from hocmim.coding.cuts import DISCRETIZERS, Ragged, Survey, cut_columns
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
from hocmim.data.columns import Span
from hocmim.data.passes import Passes, Report
from hocmim.data.rows import Groups, Piece, RowSource, cells_per_thread
from hocmim.data.sources import are_files, concatenate
from hocmim.errors import InvalidTableError
from hocmim.memory import free_memory
from hocmim.parameters import check_parameters
from hocmim.threads import map_spans, resolve_n_jobs

# Cells of whole columns that are in memory at a time for "quantile" and "mdlp": 64 MB.
WHOLE_CELLS = 1 << 23
# The most bytes of a block of columns, read and not yet encoded.
BLOCK_BYTES = 1 << 29
# Bytes of the copies of a value while a thread encodes it.
CODING_BYTES = 24


class _DifferentTypesError(Exception):
    """A column has different types in different files."""


def encode_source(
    source: RowSource,
    y: Column | None = None,
    encoder: Encoder | None = None,
    *,
    n_jobs: int | None = None,
    allocate: Allocate | None = None,
    plane_classes: int = 0,
    report: Report | None = None,
) -> tuple[Encoder, Codes]:
    """Return the fitted encoder of a source and its codes.

    Parquet files are read once, by blocks of columns, if the codes and a block fit into half of the
    free memory. Otherwise the rows are read twice by "uniform" (survey, encode) and three times by
    "quantile" and "mdlp" (survey, cut, encode); a column that may be a row number is read once
    more. Memory holds a few blocks for each thread and, for "quantile" and "mdlp", a few whole
    columns. The encoder is not changed; y is for "mdlp". ``allocate`` makes the codes elsewhere
    than in memory; ``plane_classes`` is that of ``Encoder.fit_transform``.
    """
    encoder = Encoder() if encoder is None else encoder
    check_parameters(encoder)
    blocks = _column_blocks(source, n_jobs, plane_classes)
    if blocks:
        try:
            fitted = encoder.unfitted()
            codes = fitted.fit_transform_blocks(
                _read_blocks(source, blocks, n_jobs, report),
                source.n_rows,
                source.names or (),
                y,
                n_jobs=n_jobs,
                plane_classes=0 if allocate else plane_classes,
            )
            return fitted, codes if allocate is None else _copied(codes, allocate)
        except _DifferentTypesError:
            pass  # read by rows: a column may hold integers in one file and floats in another
    discretizer, n_bins = encoder.discretizer, int(encoder.n_bins)
    needs_values = DISCRETIZERS[discretizer].needs_values
    passes = Passes(source.pieces, 3 if needs_values else 2, report)
    survey = survey_columns(source, n_bins, n_jobs, passes)
    cuts = None
    if needs_values:
        columns = columns_to_cut(survey, discretizer)
        cuts = cut_source(source, columns, discretizer, n_bins, y, n_jobs, passes)
    integers = integers_of_source(source, possible_row_numbers(survey), n_jobs)
    fitted = fit_encoder(survey, encoder, cuts, integers)
    allocate = Codes.empty if allocate is None else allocate
    codes = allocate(fitted.arity, source.n_rows, source.names)
    fill_rows(codes, source, fitted, n_jobs, passes)
    return with_most_frequent(fitted, count_frequent(codes)), codes


def _column_blocks(source: RowSource, n_jobs: int | None, plane_classes: int) -> list[Span]:
    """Return which columns are read together; nothing if the source is read by rows."""
    if source.names is None or not are_files(source):
        return []
    n_codes = source.n_rows * source.n_columns * (2 if plane_classes else 1)
    coding = source.n_rows * CODING_BYTES * resolve_n_jobs(n_jobs, outside=1)
    room = free_memory() // 2 - n_codes - coding
    pieces: list[Any] = list(source.pieces)
    n_bytes = np.sum(map_spans(lambda piece: piece.bytes_of(source.columns), pieces, n_jobs), 0)
    if n_bytes.max() > room:
        return []
    most, blocks, start, total = min(room, BLOCK_BYTES), [], 0, 0
    for j, size in enumerate(n_bytes.tolist()):
        if j > start and total + size > most:
            blocks.append(Span(start, j))
            start, total = j, 0
        total += size
    return [*blocks, Span(start, source.n_columns)]


def _read_blocks(
    source: RowSource, blocks: list[Span], n_jobs: int | None, report: Report | None
) -> Iterator[Any]:
    """Read these columns of all rows, a block at a time."""
    pieces = [piece for piece in source.pieces if piece.n_rows]
    passes = Passes(pieces, len(blocks), report)
    for span in blocks:
        columns = source.columns[span.start : span.stop]

        def read(piece: Any, columns: Any = columns) -> Any:
            table = piece.whole(columns)
            if table.num_rows != piece.n_rows:
                raise _changed()
            passes.add(piece.n_rows)
            return table

        task = f"reading columns {span.start + 1:,} to {span.stop:,} of {source.n_columns:,}"
        passes.begin(source.n_rows, task)
        parts = map_spans(read, pieces, n_jobs)
        if any(part.schema != parts[0].schema for part in parts):
            raise _DifferentTypesError
        yield concatenate(parts)


def _copied(codes: Codes, allocate: Allocate) -> Codes:
    """Return the same codes in arrays that ``allocate`` makes."""
    copied = allocate(codes.arity, codes.n_samples, codes.names)
    copied.narrow[:], copied.wide[:] = codes.narrow, codes.wide
    return copied


def _changed() -> InvalidTableError:
    return InvalidTableError("X changed while it was read. Fit again when it is complete.")


def survey_columns(
    source: RowSource,
    n_bins: int,
    n_jobs: int | None,
    passes: Passes | None = None,
) -> TableSurvey:
    """Survey the columns of a source."""
    if passes is not None:
        passes.begin(source.n_rows * source.n_columns)
    groups = [source.columns[start:stop] for start, stop in source.spans(n_jobs)]
    n_cells = cells_per_thread(n_jobs)
    nothing = [
        TableSurvey(replace(source, columns=group).names, 0, Survey.nothing(len(group), n_bins), {})
        for group in groups
    ]

    def survey_piece(piece: Piece) -> TableSurvey:
        surveys = list(nothing)
        for number, part in piece.tables(groups, n_cells):
            surveys[number] = surveys[number].merge(survey := survey_partition(part, n_bins))
            if passes is not None:
                passes.add(survey.n_rows * len(groups[number]))
        return TableSurvey.concatenate(surveys)

    surveys = map_spans(survey_piece, source.pieces, n_jobs)
    return reduce(TableSurvey.merge, surveys, TableSurvey.concatenate(nothing))


def integers_of_source(
    source: RowSource, columns: NDArray[np.int64], n_jobs: int | None
) -> list[DistinctIntegers]:
    """Return the integers of some columns of a source."""
    if not len(columns):
        return []
    keys = [[source.columns[j] for j in columns.tolist()]]
    every = np.arange(len(columns), dtype=np.int64)
    n_cells = cells_per_thread(n_jobs)

    def of_piece(piece: Piece) -> list[DistinctIntegers]:
        parts = [integers_of_columns(part, every) for _, part in piece.tables(keys, n_cells)]
        return reduce(merge_integers, parts, [DistinctIntegers.nothing()] * len(columns))

    return reduce(merge_integers, map_spans(of_piece, source.pieces, n_jobs))


def cut_source(
    source: RowSource,
    columns: NDArray[np.int64],
    discretizer: str,
    n_bins: int,
    y: Column | None,
    n_jobs: int | None,
    passes: Passes | None = None,
) -> Ragged:
    """Return the cuts of these columns; as many columns at a time as fit into memory."""
    cuts = [Ragged.nothing()]
    if passes is not None:
        passes.begin(source.n_rows * len(columns))
    whole_cells = min(WHOLE_CELLS, free_memory() // 32)
    width = max(1, whole_cells // max(1, source.n_rows))
    for start in range(0, len(columns), width):
        together = [source.columns[j] for j in columns[start : start + width]]
        values = np.empty((source.n_rows, len(together)), order="F")

        def read(_: int, at: int, part: Any, values: Any = values) -> int:
            numbers = read_numbers(part, np.arange(values.shape[1], dtype=np.int64))
            values[at : at + len(numbers)] = numbers
            return len(numbers)

        def cut(j: int, values: Any = values) -> Ragged:
            return cut_columns(values[:, j : j + 1], discretizer, n_bins, y)

        _for_rows(source, [together], read, n_jobs, passes)
        cuts += map_spans(cut, range(len(together)), n_jobs)
    return Ragged.concatenate(cuts)


def fill_rows(
    codes: Codes,
    source: RowSource,
    encoder: Encoder,
    n_jobs: int | None,
    passes: Passes | None = None,
) -> None:
    """Encode the columns of a source into ``codes``."""
    spans = source.spans(n_jobs)
    blocks = [codes.block(*span) for span in spans]
    encoders = [encoder.of_columns(*span) for span in spans]
    if passes is not None:
        passes.begin(source.n_rows * source.n_columns)

    def encode_rows(number: int, at: int, part: Any) -> int:
        found, block = encode_partition(part, encoders[number]), blocks[number]
        block.narrow[:, at : at + found.n_samples] = found.narrow
        block.wide[:, at : at + found.n_samples] = found.wide
        return found.n_samples

    groups = [source.columns[start:stop] for start, stop in spans]
    _for_rows(source, groups, encode_rows, n_jobs, passes)


def _for_rows(
    source: RowSource,
    groups: Groups,
    do: Callable[[int, int, Any], int],
    n_jobs: int | None,
    passes: Passes | None = None,
) -> None:
    """Call ``do(group, at, part)`` for all rows, some at a time; it returns how many it got."""
    n_cells = cells_per_thread(n_jobs)
    ends = np.cumsum([piece.n_rows for piece in source.pieces]).tolist()

    def for_piece(end: int, piece: Piece) -> None:
        at = [end - piece.n_rows] * len(groups)
        for number, part in piece.tables(groups, n_cells):
            at[number] += (n_rows := do(number, at[number], part))
            if passes is not None:
                passes.add(n_rows * len(groups[number]))
        if set(at) != {end}:
            raise _changed()

    pieces = list(zip(ends, source.pieces, strict=True))
    map_spans(lambda item: for_piece(*item), pieces, n_jobs)


def encode_source_column(source: RowSource, encoder: Encoder, j: int) -> Column:
    """Return the codes of one feature of a source, by an encoder that is already fitted."""
    alone = encoder.of_columns(j, j + 1)
    codes = Codes.empty(alone.arity, source.n_rows)
    fill_rows(codes, source.only(Span(j, j + 1)), alone, n_jobs=None)
    return replace(codes.column(0), index=j)

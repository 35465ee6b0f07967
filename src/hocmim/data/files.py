"""Tables in files, as pyarrow tables; ``formats`` tells the format of a file.

In CSV and TSV files the types of columns are inferred from all their values; an empty field, NA,
NaN, null and similar words are missing values.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from hocmim.data.addresses import find_files, is_address, is_pattern, local_copy
from hocmim.data.child import read_in_child
from hocmim.data.formats import (
    DELIMITERS,
    READABLE,
    SUFFIXES,
    WRITABLE,
    Format,
    address_format,
    arrow,
    file_format,
    open_stream,
    show,
    split_suffix,
)
from hocmim.data.formulas import is_number, neutralise_table
from hocmim.data.passes import Report
from hocmim.data.recognize import is_code
from hocmim.data.sheets import read_sheet
from hocmim.data.sources import open_dataset, open_source, without_dictionaries
from hocmim.data.writing import write_file
from hocmim.errors import InvalidParameterError, InvalidTableError
from hocmim.memory import MIN_CHECKED_BYTES, free_memory, size_text
from hocmim.text import value_text

# Arrow reads these safely, and can be interrupted; others are read in a child process.
READ_HERE = ("csv", "tsv", "parquet")
HEAD_BYTES = 1 << 16
# The default of pyarrow, one megabyte, holds few rows of a wide table: 2 to 4 times slower.
BLOCK_BYTES = 1 << 24
# Searched at a time for leading zeros, and more than a delimiter and two digits.
SEARCHED_BYTES, OVERLAP_BYTES = 1 << 24, 8
# A decimal separator that occurs in no file: with it, pyarrow leaves "1.5" as it is written.
NO_DECIMAL_POINT = "\x1f"
# A text column in which more than this share of values are numbers is reported.
NUMBERS_SHARE = 0.5
HINT_ROWS = 10_000


class TextOptions(NamedTuple):
    """How a text file is read; a sheet has the same missing values and header.

    ``delimiter`` is by default that of the suffix or of the first line; ``missing`` are more words
    for a missing value; without ``header`` the columns are named f0, f1, …; ``as_text`` are columns
    that stay as they are written. Without ``has_points`` so do numbers with a decimal point, since
    it may group thousands.
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    missing: Sequence[str] = ()
    header: bool = True
    as_text: Collection[str] = ()
    has_points: bool = True


class _WatchedBuffer:
    """The content of a file, as a file of pyarrow that reports how much of it is read."""

    closed = False

    def __init__(self, data: Any, report: Report, task: str) -> None:
        self._data, self._report, self._task = data, report, task
        self._at = 0

    def read(self, n_bytes: int) -> Any:
        """Return the next bytes, without a copy."""
        found = self._data.slice(self._at, min(n_bytes, self._data.size - self._at))
        self._at += found.size
        self._report(self._task, self._at, self._data.size)
        return found

    def close(self) -> None:
        """Do nothing: the content is read again for some columns."""


def read_table(path: str | Path, report: Report | None = None, **options: Any) -> Any:
    """Read a file as a pyarrow table; the options are the fields of ``TextOptions``.

    ``report`` is told how much of a text file is read; of another file only that it is read.

    The file may be a folder of Parquet files, "-" for CSV from standard input, an address, a
    pattern of Parquet files, or a sheet (``file.xlsx?sheet=s``). InvalidParameterError: it does not
    exist. InvalidTableError: it is not a table, has another encoding, no rows, or two columns of
    the same name.
    """
    text = TextOptions(**options)
    source, _ = _split_sheet(path)
    with _explained_errors(source):
        kind = format_of(path)
    if is_elsewhere(path) and kind != Format("parquet"):
        with local_copy(str(path)) as copy:
            return read_table(copy, report, **options)
    if report is not None:
        report(f"reading {show(source)}", 0, 0)
    if kind.compression is None and kind.kind in READ_HERE:
        return read_here(str(path), text, report)
    return read_in_child(show(source), str(path), text._asdict())


def read_here(path: str, text: TextOptions, report: Report | None = None) -> Any:
    """Read a file in this process; see ``read_table``."""
    source, sheet = _split_sheet(path)
    with _explained_errors(source):
        kind = format_of(path)
        if kind.is_text:
            table = _read_text(source, kind, text, report)
        elif kind.kind == "sheet":
            table = read_sheet(source, sheet, {*_null_values(), *text.missing}, text.header)
        elif kind == Format("parquet"):
            table = _read_parquet(path)
        elif kind.kind == "parquet":
            table = _validated(arrow("pyarrow.parquet").read_table, _whole(source, kind))
        else:
            read = partial(arrow("pyarrow.feather").read_table, memory_map=False)
            table = _validated(read, _whole(source, kind))
        _check_names(source, table.column_names)
    if table.num_rows == 0:
        raise InvalidTableError(f"{show(source)} has no rows.")
    return _usual_types(table)


def is_elsewhere(path: str | Path) -> bool:
    """Whether a path is an address or a pattern, which is opened by ``hocmim.data.sources``."""
    return str(path) != "-" and (is_address(path) or is_pattern(_split_sheet(path)[0]))


def _read_parquet(path: str) -> Any:
    """Read Parquet files, unless their rows do not fit into memory."""
    if is_elsewhere(path):
        open_source(path)  # errors that name the path
    filesystem, paths = find_files(path)
    data = arrow("pyarrow.dataset").dataset(paths, filesystem=filesystem, format="parquet")
    n_bits = data.count_rows() * sum(map(_bits, data.schema.types))
    if n_bits // 8 > max(free_memory(), MIN_CHECKED_BYTES):
        raise InvalidTableError(
            f"{show(path)} cannot be read: it needs {size_text(n_bits // 8)} of memory, and "
            f"{size_text(free_memory())} are free."
        )
    from hocmim.threads import call_apart  # takes long to import

    read = partial(arrow("pyarrow.parquet").read_table, filesystem=filesystem)
    return call_apart(_validated, read, paths)


def _bits(kind: Any) -> int:
    """Return how many bits a value of a type takes, at least."""
    try:
        return int(kind.bit_width)
    except ValueError:
        return 32  # text and lists: where each value ends


def _validated(read: Callable[[Any], Any], source: Any) -> Any:
    """Read a table; an error if it has text that is not UTF-8, or indices out of range."""
    table = read(source)
    table.validate(full=True)
    return table


def column_names(path: str | Path, **options: Any) -> list[str]:
    """Return the names of the columns of a file; of a large one only the beginning is read.

    Parameters and errors are those of ``read_table``.
    """
    source, _ = _split_sheet(path)
    with _explained_errors(source):
        kind = format_of(path)
        if kind == Format("parquet"):
            return list(open_dataset(path).schema.names)
        if kind.is_text and str(path) != "-" and not is_elsewhere(path):
            with open_stream(source, kind.compression) as stream:
                head = stream.read(HEAD_BYTES)
            text = TextOptions(**options)
            settings = _text_options(source, kind, head, text)
            with open_stream(source, kind.compression) as stream:
                reader = arrow("pyarrow.csv").open_csv(
                    stream, read_options=_read_options(text), **settings
                )
                return list(reader.schema.names)
    return list(read_table(path, **options).column_names)


def format_of(path: str | Path) -> Format:
    """Return the format of anything that ``read_table`` reads."""
    if str(path) == "-":
        return Format("csv")
    return address_format(str(path)) if is_elsewhere(path) else file_format(_split_sheet(path)[0])


def _split_sheet(path: str | Path) -> tuple[Path, str | None]:
    """Return the path and the sheet of ``file.xlsx?sheet=NAME``."""
    source, separator, sheet = str(path).partition("?sheet=")
    is_sheet = separator and not Path(path).exists()
    return (Path(source), sheet) if is_sheet else (Path(path), None)


# --- text -----------------------------------------------------------------------------------------


def _read_text(path: Path, kind: Format, text: TextOptions, report: Report | None) -> Any:
    pa, csv = arrow("pyarrow"), arrow("pyarrow.csv")
    data = _read_bytes(path, kind)
    options = _text_options(path, kind, data[:HEAD_BYTES], text)

    def read(use_threads: bool, report: Report | None = None) -> Any:
        settings, file = _read_options(text, use_threads), pa.BufferReader(data)
        if report is not None:
            file = pa.PythonFile(_WatchedBuffer(data, report, f"reading {show(path)}"), mode="r")
        return csv.read_csv(file, read_options=settings, **options)

    try:
        table = read(use_threads=True, report=report)
    except pa.ArrowInvalid:
        table = read(use_threads=False)  # this error contains the row number
    for field in table.schema:
        if str(field.type) == "binary":
            raise _wrong_encoding(path, text.encoding)
    whole = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    has_zeros = whole and _has_leading_zeros(data, options["parse_options"].delimiter)
    if not has_zeros or len(set(table.column_names)) < len(table.column_names):
        return table  # columns of the same name are an error of their own
    convert = options["convert_options"]
    convert.include_columns = whole
    convert.column_types = dict.fromkeys(whole, pa.string())
    texts = read(use_threads=True)
    for name in whole:
        if _holds_codes(texts.column(name)):
            place = table.column_names.index(name)
            table = table.set_column(place, name, texts.column(name))
    return table


def _has_leading_zeros(data: Any, delimiter: str) -> bool:
    """Whether a field of the file begins with 0 and another digit, such as the code 02134.

    Python handles signals between the blocks, not while it searches one.
    """
    before = {re.escape(delimiter.encode()), b"\n", b'"'}
    view = memoryview(data)
    return any(
        re.search(start + b"0[0-9]", view[first : first + SEARCHED_BYTES + OVERLAP_BYTES])
        is not None
        for first in range(0, len(view), SEARCHED_BYTES)
        for start in before
    )


def _holds_codes(column: Any) -> bool:
    found = arrow("pyarrow.compute").value_counts(column.drop_null())
    counts = found.field("counts").to_numpy().astype(np.int64)
    return is_code(found.field("values").to_pylist(), counts)


def _text_options(path: Path, kind: Format, head: Any, text: TextOptions) -> dict[str, Any]:
    """Return the options of pyarrow for a text file that begins with ``head``."""
    csv = arrow("pyarrow.csv")
    _check_text(path, head, text.encoding)
    delimiter = text.delimiter
    if delimiter is None:
        delimiter = _sniff_delimiter(head, text.encoding, DELIMITERS[kind.kind])
    elif len(delimiter) != 1:
        raise InvalidParameterError(
            f"The delimiter must be one character. Got {value_text(delimiter)}."
        )
    return {
        "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "convert_options": csv.ConvertOptions(
            null_values=[*_null_values(), *text.missing],
            strings_can_be_null=True,
            column_types=dict.fromkeys(text.as_text, arrow("pyarrow").string()),
            decimal_point="." if text.has_points else NO_DECIMAL_POINT,
        ),
    }


def _null_values() -> list[str]:
    """Return the texts that mean a missing value: pyarrow's, such as "" and "NA"."""
    return list(arrow("pyarrow.csv").ConvertOptions().null_values)


def _read_options(text: TextOptions, use_threads: bool = False) -> Any:
    return arrow("pyarrow.csv").ReadOptions(
        encoding=text.encoding,
        use_threads=use_threads,
        autogenerate_column_names=not text.header,
        block_size=BLOCK_BYTES,
    )


def _read_bytes(path: Path, kind: Format) -> Any:
    """Return the content of a text file, as a buffer."""
    if str(path) == "-":
        import sys

        return arrow("pyarrow").py_buffer(sys.stdin.buffer.read())

    def read() -> Any:
        with open_stream(path, kind.compression) as stream:
            return stream.read_buffer()

    from hocmim.threads import call_apart  # takes long to import

    return call_apart(read)


def _check_text(path: Path, head: Any, encoding: str) -> None:
    """Raise an error if a file is not text, or has another encoding."""
    start = bytes(head)
    if not start.strip():
        raise InvalidTableError(f"{show(path)} is empty.")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) and "16" not in encoding:
        raise _wrong_encoding(path, encoding, "utf-16")
    if b"\0" in start and "16" not in encoding and "32" not in encoding:
        raise InvalidTableError(f"{show(path)} is not a table. hocmim reads {READABLE}.")


def _sniff_delimiter(head: Any, encoding: str, usual: str) -> str:
    """Return the usual delimiter, or the most frequent one if the first line lacks it."""
    first = bytes(head).decode(encoding, "replace").lstrip("\r\n").partition("\n")[0]
    outside = re.sub(r'"[^"]*"', "", first)
    counts = {delimiter: outside.count(delimiter) for delimiter in (usual, ",", "\t", ";", "|")}
    return usual if counts[usual] else max(counts, key=lambda delimiter: counts[delimiter])


def _wrong_encoding(path: Path | str, encoding: str, likely: str = "latin-1") -> InvalidTableError:
    return InvalidTableError(
        f"{show(path)} is not text in the encoding {encoding}. Pass its encoding, for example "
        f"--encoding {likely}."
    )


# --- errors ---------------------------------------------------------------------------------------


@contextmanager
def _explained_errors(path: Path | str) -> Iterator[None]:
    """Turn errors of reading into errors that name the file."""
    pa = arrow("pyarrow")
    name = show(path)
    try:
        yield
    except UnicodeDecodeError as error:
        raise _wrong_encoding(path, error.encoding) from error
    except LookupError as error:
        raise InvalidParameterError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error
    except PermissionError as error:
        raise InvalidParameterError(f"{name} cannot be read: permission denied.") from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError, EOFError) as error:
        if isinstance(error, (InvalidParameterError, InvalidTableError)):
            raise
        raise InvalidTableError(f"{name} cannot be read as a table: {_plain(error)}") from error


def _plain(error: BaseException) -> str:
    """Return the message of pyarrow as a sentence."""
    text = " ".join(str(error).split())
    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", text)
    if ragged:
        row, expected, got = ragged.groups()
        fields = "1 field" if got == "1" else f"{got} fields"
        return f"row {row} has {fields}, the first row has {expected}."
    text = re.sub(r"^CSV parse error: |^zlib inflate failed: ", "", text)
    short = text if len(text) <= 200 else text[:199] + "…"
    return short if short.endswith((".", "…")) else short + "."


def _check_names(path: Path, names: Sequence[str]) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise InvalidTableError(
                f"{show(path)} has more than one column named {name!r}. Rename one of them."
            )
        seen.add(name)


# --- types ----------------------------------------------------------------------------------------


def column_types(table: Any) -> dict[str, str]:
    """Return the type of each column of a pyarrow table, in one word."""
    return {field.name: _type_word(field.type) for field in table.schema}


def _type_word(kind: Any) -> str:
    types = arrow("pyarrow.types")
    words = {
        "boolean": types.is_boolean,
        "integer": types.is_integer,
        "float": lambda t: types.is_floating(t) or types.is_decimal(t),
        "category": types.is_dictionary,
        "date": lambda t: types.is_date(t) or types.is_timestamp(t),
        "time": lambda t: types.is_time(t) or types.is_duration(t),
        "text": lambda t: types.is_string(t) or types.is_large_string(t) or types.is_string_view(t),
    }
    return next((word for word, is_it in words.items() if is_it(kind)), str(kind))


def numbers_as_text(table: Any) -> dict[str, list[str]]:
    """Return text columns that are mostly numbers, with up to three values that are not numbers.

    A "?" or "unknown" among numbers makes a column text. Reads only the first 10,000 rows.
    """
    found = {}
    for name, word in column_types(table).items():
        if word != "text":
            continue
        values = table.column(name).slice(0, HINT_ROWS).drop_null().to_pylist()
        others = [value for value in values if not is_number(value)]
        if others and len(others) < (1 - NUMBERS_SHARE) * len(values):
            found[name] = list(dict.fromkeys(others))[:3]
    return found


def _usual_types(table: Any) -> Any:
    """Convert columns without any value to numbers, all missing, and views of text to text."""
    pa = arrow("pyarrow")
    for at, field in enumerate(table.schema):
        column = table.column(at)
        if pa.types.is_null(field.type):
            table = table.set_column(at, field.name, column.cast(pa.float64()))
        elif str(field.type) == "string_view":  # most functions of pyarrow refuse it
            text = pa.array(column.to_pylist(), pa.large_string())
            table = table.set_column(at, field.name, text)
    return table


# --- writing --------------------------------------------------------------------------------------


def write_table(
    table: Any,
    path: str | Path,
    *,
    overwrite: bool = False,
    hint: str = "Pass overwrite=True to replace it",
    is_safe: bool = False,
) -> Path:
    """Write a pyarrow table in the format of the suffix: CSV, TSV, Parquet, Arrow; .gz, .zst.

    ``hint`` says how the user allows replacing a file. ``is_safe``: no cell of CSV and TSV is left
    that spreadsheets would run as a formula.
    """
    kind = output_format(Path(path))
    if is_safe and kind.is_text:
        table = neutralise_table(table)

    def write(file: IO[bytes]) -> None:
        if kind.compression == "zstd":
            pa = arrow("pyarrow")
            with pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd") as zipped:
                _write(table, kind.kind, zipped)
        elif kind.compression == "gzip":
            # Without a time stamp, so that the same table gives the same bytes.
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as zipped:
                _write(table, kind.kind, zipped)
        else:
            _write(table, kind.kind, file)

    return write_file(path, write, overwrite=overwrite, hint=hint)


def output_format(path: Path) -> Format:
    """Return the format to write a file in; an error if its suffix is unknown."""
    suffix, compression = split_suffix(path)
    kind = SUFFIXES.get(suffix)
    if kind not in WRITABLE or compression == "zip":
        known = ", ".join(end for end, written in SUFFIXES.items() if written in WRITABLE)
        why = "does not show the format to write" if kind is None else "is not one hocmim writes"
        raise InvalidParameterError(
            f"The name {show(path)} {why}. End it with one of {known}, and with .gz or .zst after "
            "that to compress."
        )
    return Format(kind, compression)


def _write(table: Any, kind: str, file: Any) -> None:
    if kind == "parquet":
        arrow("pyarrow.parquet").write_table(table, file)
    elif kind == "arrow":
        arrow("pyarrow.feather").write_feather(table, file)
    else:
        write_text(table, file, DELIMITERS[kind])


def write_text(table: Any, file: Any, delimiter: str = ",") -> None:
    """Write a pyarrow table to an open file as CSV."""
    csv = arrow("pyarrow.csv")
    csv.write_csv(without_dictionaries(table), file, csv.WriteOptions(delimiter=delimiter))


def _whole(path: Path, kind: Format) -> Any:
    """Return the source of a binary file for pyarrow."""
    if kind.compression is None:
        return path
    with open_stream(path, kind.compression) as stream:
        return arrow("pyarrow").BufferReader(stream.read())

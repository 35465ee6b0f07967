"""Tables in files: CSV, TSV, Parquet and Arrow (Feather), also gzipped, by pyarrow.

The format goes by the suffix (``.gz`` after any of them), and by what the file begins with where
the suffix says nothing. In CSV and TSV files the types of columns are inferred from all their
values; an empty field, NA, NaN, null and their like are missing. Files are written under another
name and put in place when they are whole: there is never half a file.
"""

from __future__ import annotations

import difflib
import gzip
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

from hocmim.errors import InvalidParameterError, InvalidTableError, MissingDependencyError

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
# Suffixes of other formats, so that these are not taken for text.
OTHERS = ".xls .xlsx .ods .json .jsonl .ndjson .xml .html .pkl .pickle .npy .npz .h5 .hdf5 .mat "
OTHERS += ".sav .dta .sas7bdat .rds .rdata .arff .orc .avro .sqlite .db .zip .7z .bz2 .xz .zst .pdf"
READABLE = "CSV, TSV, Parquet, Arrow and Feather files, also gzipped"
DELIMITERS = {"csv": ",", "tsv": "\t"}
TITLES = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "arrow": "Arrow"}
GZIP, PARQUET, ARROW, FEATHER = b"\x1f\x8b", b"PAR1", b"ARROW1", b"FEA1"
HEAD_BYTES = 1 << 16
# pyarrow's own megabyte holds a handful of rows of a wide table: 2 to 4 times slower.
BLOCK_BYTES = 1 << 24
# A column of text is called numbers with something else in between from this share of numbers up.
NUMBERS_SHARE = 0.5
HINT_ROWS = 10_000


class Format(NamedTuple):
    """``kind`` is "csv", "tsv", "parquet" or "arrow"."""

    kind: str
    is_gzipped: bool

    @property
    def is_text(self) -> bool:
        """Whether it is CSV or TSV."""
        return self.kind in DELIMITERS


def read_table(
    path: str | Path,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    missing: Sequence[str] = (),
    header: bool = True,
    columns: Sequence[str] | None = None,
) -> Any:
    """Read a file as a pyarrow table.

    Parameters
    ----------
    path : path
        Of a file; of a folder of Parquet files; or "-" for CSV from standard input.
    delimiter : str, optional
        Between the fields of a text file. By default as the suffix says, or as the first line does.
    encoding : str
        Of a text file.
    missing : sequence of str
        What stands for a missing value in a text file, besides the usual.
    header : bool
        Whether the first line of a text file has the names; otherwise they are f0, f1, …
    columns : sequence of str, optional
        Only these columns.

    Raises
    ------
    InvalidParameterError
        If there is no such file.
    InvalidTableError
        If it is no table, or not in that encoding, or has no rows, or two columns of one name.
    """
    source = Path(path)
    with _as_sentences(source):
        kind = Format("csv", False) if str(path) == "-" else file_format(source)
        if kind.is_text:
            table = _read_text(source, kind, delimiter, encoding, missing, header)
        elif kind.kind == "parquet":
            table = _arrow("pyarrow.parquet").read_table(_whole(source, kind), columns=columns)
        else:
            table = _arrow("pyarrow.feather").read_table(_whole(source, kind), memory_map=False)
        _check_names(source, table.column_names)
    if table.num_rows == 0:
        raise InvalidTableError(f"{_show(source)} has no rows.")
    return _without_null_types(table if columns is None else table.select(list(columns)))


def file_format(path: Path) -> Format:
    """The format of a file that exists, by its suffix or its first bytes."""
    if not path.exists():
        raise InvalidParameterError(f"There is no file {_show(path)}.{_near_file(path)}")
    if path.is_dir():
        if any(path.rglob("*.parquet")):
            return Format("parquet", False)
        raise InvalidParameterError(f"{_show(path)} is a folder without Parquet files.")
    by_suffix = suffix_format(path)
    if by_suffix is not None:
        return by_suffix
    with path.open("rb") as file:
        head = file.read(8)
    is_gzipped = head.startswith(GZIP)
    if is_gzipped:
        with gzip.open(path) as unzipped:
            head = unzipped.read(8)
    if head.startswith(PARQUET):
        return Format("parquet", is_gzipped)
    return Format("arrow" if head.startswith((ARROW, FEATHER)) else "csv", is_gzipped)


def suffix_format(path: Path) -> Format | None:
    """The format a suffix stands for; None if it says nothing."""
    name = path.name.lower()
    is_gzipped = name.endswith(".gz")
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix in SUFFIXES:
        return Format(SUFFIXES[suffix], is_gzipped)
    if suffix in OTHERS.split():
        raise InvalidTableError(
            f"{_show(path)} is a {suffix} file, and hocmim reads and writes {READABLE}. Save it as "
            "one of these."
        )
    return None


# --- text -----------------------------------------------------------------------------------------


def _read_text(
    path: Path,
    kind: Format,
    delimiter: str | None,
    encoding: str,
    missing: Sequence[str],
    header: bool,
) -> Any:
    csv = _arrow("pyarrow.csv")
    data = _read_bytes(path, kind)
    _check_text(path, data[:HEAD_BYTES], encoding)
    if delimiter is None:
        delimiter = _sniff_delimiter(data[:HEAD_BYTES], encoding, DELIMITERS[kind.kind])
    elif len(delimiter) != 1:
        raise InvalidParameterError(f"The delimiter must be one character. Got {delimiter!r}.")
    null_values = [*csv.ConvertOptions().null_values, *missing]
    options = {
        "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "convert_options": csv.ConvertOptions(null_values=null_values, strings_can_be_null=True),
    }

    def read(use_threads: bool) -> Any:
        settings = csv.ReadOptions(
            encoding=encoding,
            use_threads=use_threads,
            autogenerate_column_names=not header,
            block_size=BLOCK_BYTES,
        )
        return csv.read_csv(_arrow("pyarrow").BufferReader(data), read_options=settings, **options)

    try:
        table = read(use_threads=True)
    except _arrow("pyarrow").ArrowInvalid:
        table = read(use_threads=False)  # whose error says in which row
    for field in table.schema:
        if str(field.type) == "binary":
            raise _wrong_encoding(path, encoding)
    return table


def _read_bytes(path: Path, kind: Format) -> Any:
    """The text of a file, as a buffer."""
    pa = _arrow("pyarrow")
    if str(path) == "-":
        import sys

        return pa.py_buffer(sys.stdin.buffer.read())
    compression = "gzip" if kind.is_gzipped else None
    with pa.input_stream(str(path), compression=compression) as stream:
        return stream.read_buffer()


def _check_text(path: Path, head: Any, encoding: str) -> None:
    """Raise the error for a file that is no text, or in another encoding."""
    start = bytes(head)
    if not start.strip():
        raise InvalidTableError(f"{_show(path)} is empty.")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) and "16" not in encoding:
        raise _wrong_encoding(path, encoding, "utf-16")
    if b"\0" in start and "16" not in encoding and "32" not in encoding:
        raise InvalidTableError(f"{_show(path)} is not a table. hocmim reads {READABLE}.")


def _sniff_delimiter(head: Any, encoding: str, usual: str) -> str:
    """The usual delimiter, or the one the first line has if it has not the usual one."""
    first = bytes(head).decode(encoding, "replace").lstrip("\r\n").partition("\n")[0]
    outside = re.sub(r'"[^"]*"', "", first)
    counts = {sign: outside.count(sign) for sign in (usual, ",", "\t", ";", "|")}
    return usual if counts[usual] else max(counts, key=lambda sign: counts[sign])


def _wrong_encoding(path: Path, encoding: str, likely: str = "latin-1") -> InvalidTableError:
    return InvalidTableError(
        f"{_show(path)} is not text in the encoding {encoding}. Say which it is in, for example "
        f"--encoding {likely}."
    )


# --- errors ---------------------------------------------------------------------------------------


@contextmanager
def _as_sentences(path: Path) -> Iterator[None]:
    """Errors of reading as sentences about the file."""
    pa = _arrow("pyarrow")
    name = _show(path)
    try:
        yield
    except UnicodeDecodeError as error:
        raise _wrong_encoding(path, error.encoding) from error
    except LookupError as error:
        raise InvalidParameterError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error
    except PermissionError as error:
        raise InvalidParameterError(f"{name} may not be read: permission denied.") from error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError, EOFError) as error:
        if isinstance(error, (InvalidParameterError, InvalidTableError)):
            raise
        raise InvalidTableError(f"{name} cannot be read as a table: {_plain(error)}") from error


def _plain(error: BaseException) -> str:
    """What pyarrow says, in a sentence."""
    text = " ".join(str(error).split())
    ragged = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", text)
    if ragged:
        row, expected, got = ragged.groups()
        fields = "1 field" if got == "1" else f"{got} fields"
        return f"row {row} has {fields} where the first has {expected}."
    text = re.sub(r"^CSV parse error: |^zlib inflate failed: ", "", text)
    short = text if len(text) <= 200 else text[:199] + "…"
    return short if short.endswith((".", "…")) else short + "."


def _check_names(path: Path, names: Sequence[str]) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise InvalidTableError(
                f"{_show(path)} has more than one column of the name {name!r}. Give every column a "
                "name of its own."
            )
        seen.add(name)


def _near_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, names, n=1)
    return f" Did you mean {_show(path.with_name(near[0]))}?" if near else ""


def _show(path: Path) -> str:
    return "standard input" if str(path) == "-" else repr(str(path))


# --- types ----------------------------------------------------------------------------------------


def column_types(table: Any) -> dict[str, str]:
    """What each column of a pyarrow table holds, in a word."""
    return {field.name: _type_word(field.type) for field in table.schema}


def _type_word(kind: Any) -> str:
    types = _arrow("pyarrow.types")
    words = {
        "truth values": types.is_boolean,
        "whole numbers": types.is_integer,
        "numbers": lambda t: types.is_floating(t) or types.is_decimal(t),
        "categories": types.is_dictionary,
        "dates": lambda t: types.is_date(t) or types.is_timestamp(t),
        "times": lambda t: types.is_time(t) or types.is_duration(t),
        "text": lambda t: types.is_string(t) or types.is_large_string(t) or types.is_string_view(t),
    }
    return next((word for word, is_it in words.items() if is_it(kind)), str(kind))


def numbers_as_text(table: Any) -> dict[str, list[str]]:
    """Columns of text that are mostly numbers, and up to three of the values that are not.

    A "?" or "unknown" among numbers makes a column text. Looks at the first rows only.
    """
    found = {}
    for name, word in column_types(table).items():
        if word != "text":
            continue
        values = table.column(name).slice(0, HINT_ROWS).drop_null().to_pylist()
        others = [value for value in values if not _is_number(value)]
        if others and len(others) < (1 - NUMBERS_SHARE) * len(values):
            found[name] = list(dict.fromkeys(others))[:3]
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _without_null_types(table: Any) -> Any:
    """Columns without any value as numbers, all of them missing."""
    pa = _arrow("pyarrow")
    for at, field in enumerate(table.schema):
        if pa.types.is_null(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(pa.float64()))
    return table


# --- writing --------------------------------------------------------------------------------------


def write_table(table: Any, path: str | Path, *, force: bool = False) -> Path:
    """Write a pyarrow table in the format of the suffix (CSV, TSV, Parquet, Arrow; ``.gz``).

    Parameters
    ----------
    table : pyarrow Table
    path : path
    force : bool
        Whether a file that is there may be replaced.
    """
    kind = output_format(Path(path))

    def write(file: IO[bytes]) -> None:
        if kind.is_gzipped:
            # No time in it: the same table gives the same bytes.
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as zipped:
                _write(table, kind.kind, zipped)
        else:
            _write(table, kind.kind, file)

    return write_file(path, write, force=force)


def output_format(path: Path) -> Format:
    """The format a file is to be written in; an error if its suffix does not say."""
    kind = suffix_format(path)
    if kind is None:
        known = ", ".join(SUFFIXES)
        raise InvalidParameterError(
            f"The name {_show(path)} does not say in which format to write: let it end in one of "
            f"{known}, with .gz after it to compress."
        )
    return kind


def _write(table: Any, kind: str, file: Any) -> None:
    if kind == "parquet":
        _arrow("pyarrow.parquet").write_table(table, file)
    elif kind == "arrow":
        _arrow("pyarrow.feather").write_feather(table, file)
    else:
        csv = _arrow("pyarrow.csv")
        options = csv.WriteOptions(delimiter=DELIMITERS[kind])
        csv.write_csv(_without_dictionaries(table), file, options)


def _without_dictionaries(table: Any) -> Any:
    pa = _arrow("pyarrow")
    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = table.column(at).cast(field.type.value_type)
            table = table.set_column(at, field.name, plain)
    return table


def check_writable(path: str | Path, *, force: bool) -> None:
    """Raise an error if a file cannot be written there, before the work is done and not after."""
    target = Path(path)
    if target.is_dir():
        raise InvalidParameterError(f"{_show(target)} is a folder.")
    if target.is_file() and not force:
        raise InvalidParameterError(
            f"{_show(target)} is there already. Pass --force to replace it."
        )
    if not target.parent.is_dir():
        raise InvalidParameterError(f"There is no folder {_show(target.parent)}.")
    if not os.access(target.parent, os.W_OK):
        raise InvalidParameterError(f"The folder {_show(target.parent)} may not be written to.")


def write_file(
    path: str | Path, write: Callable[[IO[bytes]], None], *, force: bool = False
) -> Path:
    """Write a file whole or not at all.

    Parameters
    ----------
    path : path
    write : callable
        Called with the open file.
    force : bool
        Whether a file that is there may be replaced.
    """
    target = Path(path)
    check_writable(target, force=force)
    if target.exists() and not target.is_file():  # /dev/stdout, a pipe
        with target.open("wb") as file:
            write(file)
        return target
    unfinished = target.with_name(f".{target.name[:200]}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as file:
            write(file)
        _put_in_place(unfinished, target, force)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def _put_in_place(unfinished: Path, target: Path, force: bool) -> None:
    """Give a file its name; without ``force``, only if no file came there in the meantime."""
    if not force:
        try:
            os.link(unfinished, target)
            return
        except FileExistsError:
            check_writable(target, force=False)
        except OSError:
            pass  # a file system without links
    os.replace(unfinished, target)


def _whole(path: Path, kind: Format) -> Any:
    """What pyarrow reads a binary file from."""
    if not kind.is_gzipped:
        return path
    with gzip.open(path) as file:
        return _arrow("pyarrow").BufferReader(file.read())


def _arrow(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            'Reading table files needs pyarrow. Install it with: pip install "hocmim[cli]"'
        ) from error

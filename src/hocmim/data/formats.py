"""The format of a table file, and opening a compressed one.

The suffix decides on the format (``.gz``, ``.zst`` or ``.zip`` may follow it); without a known
suffix, the first bytes of the file.
"""

from __future__ import annotations

import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from hocmim.data.addresses import check_no_database, database_error, is_address, is_pattern
from hocmim.data.writing import check_regular
from hocmim.errors import InvalidParameterError, InvalidTableError, not_installed
from hocmim.text import did_you_mean, some_of

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "sheet",
    ".xls": "sheet",
    ".xlsm": "sheet",
    ".xlsb": "sheet",
    ".ods": "sheet",
}
WRITABLE = ("csv", "tsv", "parquet", "arrow")
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zip": "zip"}
# Suffixes of other formats, which must not be read as text.
OTHERS = ".xml .html .pkl .pickle .npy .npz .h5 .hdf5 .mat .sav .dta .sas7bdat .rds .rdata "
OTHERS += ".arff .orc .avro .7z .bz2 .xz .pdf"
JSON = ".json .jsonl .ndjson"
DATABASES = ".sqlite .sqlite3 .db .duckdb"
READABLE = (
    "CSV, TSV, Parquet, Arrow and Feather files, also compressed (.gz, .zst, .zip), and Excel and "
    "OpenDocument files"
)
DELIMITERS = {"csv": ",", "tsv": "\t"}
PARQUET, ARROW, FEATHER = b"PAR1", b"ARROW1", b"FEA1"
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}
SHOWN_MEMBERS = 5


class Format(NamedTuple):
    """The kind of a table file (a value of ``SUFFIXES``), and how it is compressed."""

    kind: str
    compression: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether it is CSV or TSV."""
        return self.kind in DELIMITERS


def address_format(path: str) -> Format:
    """Return the format of an address or of a pattern, by its suffix: without one, Parquet."""
    check_no_database(path)
    found = suffix_format(Path(path.partition("?")[0] if is_address(path) else path))
    if found is None:
        return Format("parquet")
    if is_pattern(path) and found != Format("parquet"):
        raise InvalidParameterError(
            f"{show(path)} stands for several files, which have to be Parquet files. Pass one "
            "file, or convert them."
        )
    return found


def file_format(path: Path) -> Format:
    """Return the format of an existing file, by its suffix or its first bytes."""
    if not path.exists():
        raise InvalidParameterError(f"The file {show(path)} does not exist.{_near_file(path)}")
    if path.is_dir():
        if any(path.rglob("*.parquet")):
            return Format("parquet")
        raise InvalidParameterError(f"{show(path)} is a folder that contains no Parquet files.")
    check_regular(path)
    found = suffix_format(path)
    if found is not None:
        return found
    with path.open("rb") as file:
        head = file.read(8)
    compression = next((name for start, name in MAGIC.items() if head.startswith(start)), None)
    if compression == "zip":
        inner = suffix_format(Path(_member(path)))
        return Format("csv" if inner is None else inner.kind, "zip")
    if compression is not None:
        with open_stream(path, compression) as stream:
            head = stream.read(8)
    if head.startswith(PARQUET):
        return Format("parquet", compression)
    return Format("arrow" if head.startswith((ARROW, FEATHER)) else "csv", compression)


def split_suffix(path: Path) -> tuple[str, str | None]:
    """Return the suffix of a file, and the compression that a second suffix shows."""
    name = path.name.lower()
    compression = next((way for end, way in COMPRESSIONS.items() if name.endswith(end)), None)
    return Path(Path(name).stem if compression else name).suffix, compression


def suffix_format(path: Path) -> Format | None:
    """Return the format of a suffix; None if the suffix is unknown."""
    suffix, compression = split_suffix(path)
    if suffix in SUFFIXES:
        return Format(SUFFIXES[suffix], compression)
    if suffix in DATABASES.split():
        raise database_error(show(path))
    if suffix in JSON.split():
        raise InvalidTableError(
            f"{show(path)} is a JSON file, which hocmim does not read. Convert it, for example "
            "with: duckdb -c \"COPY (FROM 'FILE') TO 'table.parquet'\""
        )
    if suffix in OTHERS.split():
        raise InvalidTableError(
            f"{show(path)} is a {suffix} file. hocmim reads {READABLE}: convert it to one of these."
        )
    return None


def open_stream(path: Path, compression: str | None) -> Any:
    """Open a file to read its content, uncompressed, by pyarrow."""
    pa = arrow("pyarrow")
    if compression == "zip":
        member = _member(path)  # an error if it is no archive
        return pa.input_stream(zipfile.ZipFile(path).open(member), compression=None)
    return pa.input_stream(str(path), compression=compression)


def _member(path: Path) -> str:
    """Return the name of the only file in a zip archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
    except zipfile.BadZipFile as error:
        raise InvalidTableError(f"{show(path)} is not a zip archive, or is damaged.") from error
    # macOS adds files of its own.
    names = [name for name in names if not name.startswith("__MACOSX/")]
    if len(names) != 1:
        listed = f": {some_of(names, SHOWN_MEMBERS)}" if names else ""
        raise InvalidTableError(
            f"{show(path)} must contain one file. It contains {len(names)}{listed}. Unpack it."
        )
    return names[0]


def show(path: Path | str) -> str:
    """Return the name of a file for a message."""
    return "standard input" if str(path) == "-" else repr(str(path))


def _near_file(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    # The suffix is no likeness.
    near = did_you_mean(path.stem, {Path(name).stem: name for name in names}, n=1)
    return near and did_you_mean(path.name, names, n=1)


def arrow(module: str) -> Any:
    """Import a module of pyarrow."""
    try:
        return import_module(module)
    except ImportError as error:
        raise not_installed("Reading table files needs", "pyarrow") from error

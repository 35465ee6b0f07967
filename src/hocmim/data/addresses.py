"""Addresses of files that are not local: ``s3://bucket/folder``; and patterns, ``part-*.parquet``.

pyarrow reads s3, gs, abfs and hdfs itself. Any other address is given to fsspec.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from hocmim.errors import HocmimError, InvalidParameterError, InvalidTableError
from hocmim.text import value_text

PathText = str | PathLike[str]
# Two letters or more: C:/ is a drive. A Path of an address has lost one of its slashes.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!\Z)")
# Addresses that Arrow opens; of others it says that it does not know them.
ARROW = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs", "file")
DATABASES = ("sqlite", "duckdb")
COPY_BYTES = 1 << 22


def is_address(path: PathText) -> bool:
    """Whether a path is the address of a store, such as ``s3://bucket/file``."""
    return _ADDRESS.match(str(path)) is not None


def is_pattern(path: PathText) -> bool:
    """Whether a path stands for all files of a pattern: it has ``*``, ``?`` or ``[``."""
    if is_address(path):
        return glob.has_magic(_without_options(str(path)))
    return glob.has_magic(str(path)) and not Path(path).exists()


def check_local(path: PathText) -> None:
    """Raise an error if a path to write to is an address."""
    if is_address(path):
        raise InvalidParameterError(
            f"{value_text(_whole(path))} is an address. hocmim reads from addresses, and writes "
            "results, codes and checkpoints to a local disk only. Pass a local path, and copy the "
            "file."
        )


def find_files(X: PathText | Sequence[PathText]) -> tuple[Any, str | list[str]]:
    """Return the filesystem of a path, an address, a pattern, or a list of these, and the paths.

    A path without a pattern is returned as it is: it may be a folder.
    """
    if isinstance(X, (str, PathLike)):
        filesystem, path = open_address(X)
        return filesystem, _matches(filesystem, path, X) if is_pattern(X) else path
    found = [open_address(one) for one in X]
    filesystem = found[0][0]
    if any(other != filesystem for other, _ in found):
        raise InvalidParameterError("The files of X are in different stores. Pass files of one.")
    paths: list[str] = []
    for (_, path), one in zip(found, X, strict=True):
        paths += _matches(filesystem, path, one) if is_pattern(one) else [path]
    return filesystem, paths


def open_address(path: PathText) -> tuple[Any, str]:
    """Return the filesystem of pyarrow that a path is on, and the path on it."""
    from pyarrow import fs

    if not is_address(path):
        # Valid in any working folder, and on machines that share the files.
        local = Path(path).resolve() if Path(path).exists() else Path(path).absolute()
        return fs.LocalFileSystem(), local.as_posix()
    check_no_database(fspath(path))
    text = _whole(path)
    scheme = text.partition("://")[0].lower()
    with _explained(text):
        if scheme in ARROW:
            whole = _without_options(text)
            folder, rest = _split_pattern(whole)  # Arrow takes a pattern for a wrong address
            filesystem, found = fs.FileSystem.from_uri(folder + text[len(whole) :])
            return filesystem, f"{found}/{rest}" if rest else found
        import fsspec

        filesystem, found = fsspec.core.url_to_fs(text)
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem)), found


def check_no_database(path: str) -> None:
    """Raise an error if a path is the address of a database."""
    if path.partition(":/")[0].lower() in DATABASES:
        raise database_error(value_text(path))


def database_error(shown: str) -> InvalidTableError:
    """Return the error for a database file or its address."""
    return InvalidTableError(
        f"{shown} is a database, which hocmim does not read. Convert a table of it, for example "
        "with: duckdb FILE -c \"COPY NAME TO 'table.parquet'\""
    )


@contextmanager
def _explained(address: str) -> Iterator[None]:
    """Turn errors of opening an address into errors that name it."""
    try:
        yield
    except HocmimError:
        raise
    except ImportError as error:
        raise InvalidParameterError(
            f"{value_text(address)} cannot be opened: {_line(error)} Install the package that "
            "fsspec needs for it."
        ) from error
    except (OSError, ValueError) as error:
        raise InvalidTableError(
            f"{value_text(address)} cannot be opened: {_line(error)} Check the address, the "
            "credentials and the endpoint."
        ) from error


def _whole(address: PathText) -> str:
    """Return an address as text, with both slashes."""
    return re.sub(r":/+", "://", fspath(address), count=1)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") + "."


def _without_options(address: str) -> str:
    """Return an address without ``?name=value``, which is not a mark of a pattern."""
    return re.sub(r"\?[A-Za-z_]+=.*\Z", "", address)


def _split_pattern(path: str) -> tuple[str, str]:
    """Return the folder before the first mark of a pattern, and the rest; "" without a mark."""
    parts = path.split("/")
    first = next((k for k, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return "/".join(parts[:first]), "/".join(parts[first:])


def _matches(filesystem: Any, pattern: str, given: PathText) -> list[str]:
    """Return the files that a pattern stands for, in order; ``**`` is any number of folders."""
    from pyarrow import fs

    folder, rest = _split_pattern(pattern)
    selector = fs.FileSelector(folder or "/", recursive="/" in rest, allow_not_found=True)
    with _explained(str(given)):
        files = [one.path for one in filesystem.get_file_info(selector) if one.is_file]
    found = sorted(path for path in files if _is_match(path.split("/"), pattern.split("/")))
    if not found:
        raise InvalidTableError(f"No file matches {value_text(str(given))}. Check the pattern.")
    return found


def _is_match(path: list[str], pattern: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_is_match(path[k:], pattern[1:]) for k in range(len(path) + 1))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _is_match(path[1:], pattern[1:])


@contextmanager
def local_copy(address: str) -> Iterator[Path]:
    """Copy the file at an address to a temporary folder; errors name the address."""
    import tempfile

    filesystem, path = open_address(address)
    with tempfile.TemporaryDirectory(prefix="hocmim-") as folder:
        copy = Path(folder) / path.rsplit("/", 1)[-1]
        with (
            _explained(address),
            filesystem.open_input_stream(path, compression=None) as stream,
            copy.open("wb") as file,
        ):
            while data := stream.read(COPY_BYTES):
                file.write(data)
        try:
            yield copy
        except HocmimError as error:
            raise type(error)(str(error).replace(str(copy), address)) from error

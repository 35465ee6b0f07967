"""Codes in memory-mapped files, reused for the same data.

Each table has a folder inside ``codes_dir``, named after the fingerprint of the data and of how
they are encoded:

==============  ==================================================================================
narrow, wide    the codes, of one byte and of two bytes, column by column
encoder.pickle  the fitted encoder, the number of rows and the names of the columns
==============  ==================================================================================

A folder is written under a temporary name and renamed when it is complete, so that a run that was
killed leaves no incomplete codes. Any number of runs may share ``codes_dir``. The next run removes
the temporary folder of a run that was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hocmim._native as _native
from hocmim.coding.codes import Allocate, Codes, Column, column_digests, places
from hocmim.coding.cuts import get_discretizer
from hocmim.coding.encoder import Encoder
from hocmim.data.digests import digest_table, new_digest
from hocmim.data.memory import free_memory
from hocmim.data.rows import RowSource
from hocmim.data.table import Table
from hocmim.errors import InvalidFileError, InvalidParameterError

# Part of the fingerprint: a new format, or new classes in the pickle, do not find old folders.
FORMAT = 2
_WRITING = "writing-"


def codes_fingerprint(
    data: Table | RowSource, y: Column | None, *, discretizer: str, n_bins: int
) -> str:
    """Return a digest of the data, of how they are encoded, and of the format of the files."""
    seen: Any = digest_table(data) if isinstance(data, Table) else (data.fingerprint, data.columns)
    digest = new_digest(repr((FORMAT, seen, discretizer, n_bins)).encode())
    if get_discretizer(discretizer).needs_target and y is not None:
        digest.update(column_digests(Codes.from_columns([y])).data)
    return digest.hexdigest()


def stored_codes(
    codes_dir: str | PathLike[str],
    name: str,
    encode: Callable[[Allocate], tuple[Encoder, Codes]],
) -> tuple[Encoder, Codes]:
    """Return the encoder and the codes of that name, memory-mapped; encode them if needed.

    Parameters
    ----------
    codes_dir : path
        Created if it does not exist.
    name : str
        The fingerprint.
    encode : callable
        ``encode(allocate)`` returns the encoder and the codes, in arrays that ``allocate`` made.
    """
    root = Path(codes_dir)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameterError(
            f"codes_dir must be a folder that can be written to. {root} cannot be: {error}."
        ) from error
    final = root / name
    if not final.exists():
        with _folder_to_write(root) as folder:
            encoder, codes = encode(partial(_allocate, folder))
            _finish(folder, encoder, codes)
            try:
                folder.rename(final)
            except OSError:
                if not final.exists():  # otherwise another run has stored the same codes
                    raise
    return _open(final)


@contextlib.contextmanager
def _folder_to_write(root: Path) -> Iterator[Path]:
    """Make a folder, locked while it is written; remove it at the end if it was not renamed."""
    _remove_abandoned(root)
    with contextlib.ExitStack() as stack:
        folder = None
        while folder is None or not (folder / "lock").exists():  # removed before it was locked
            folder = Path(tempfile.mkdtemp(prefix=_WRITING, dir=root))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            lock = stack.enter_context((folder / "lock").open("w"))
            with contextlib.suppress(OSError):  # not every file system has locks
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _remove_abandoned(root: Path) -> None:
    """Remove the folders of runs that were killed: no process holds their locks."""
    for folder in root.glob(f"{_WRITING}*"):
        with contextlib.suppress(OSError), (folder / "lock").open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def _allocate(
    folder: Path, arity: NDArray[np.int64], n_samples: int, names: Sequence[str] | None = None
) -> Codes:
    """Allocate codes in files of a folder."""
    place = places(arity)
    for path, n_bytes in _sizes(folder, place, n_samples).items():
        try:
            _reserve(path, n_bytes)
        except OSError as error:
            raise InvalidParameterError(
                f"codes_dir has no space for {n_bytes:,} bytes of codes: {error}. Choose another "
                "folder, or free some space."
            ) from error
    return _mapped(folder, arity, n_samples, names, "r+")


def _reserve(path: Path, n_bytes: int) -> None:
    """Make a file of that size. A write to a map without space on disk would crash the process."""
    with path.open("wb") as file:
        if n_bytes and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, n_bytes)
        else:
            file.truncate(n_bytes)


def _sizes(folder: Path, place: NDArray[np.int64], n_samples: int) -> dict[Path, int]:
    """Return the size of each file of codes, in bytes."""
    n_wide = int((place < 0).sum())
    return {
        folder / "narrow": (len(place) - n_wide) * n_samples,
        folder / "wide": n_wide * n_samples * 2,
    }


def _mapped(
    folder: Path,
    arity: NDArray[np.int64],
    n_samples: int,
    names: Sequence[str] | None,
    mode: Any,
    planes: bool = True,
) -> Codes:
    place = places(arity)
    narrow, wide = (
        _map_file(path, n_bytes, dtype, mode).reshape(n_rows, n_samples)
        for (path, n_bytes), dtype, n_rows in zip(
            _sizes(folder, place, n_samples).items(),
            (np.uint8, np.uint16),
            (int((place >= 0).sum()), int((place < 0).sum())),
            strict=True,
        )
    )
    return Codes(narrow, wide, place, arity, None if names is None else tuple(names), 0, planes)


def _map_file(path: Path, n_bytes: int, dtype: Any, mode: Any) -> NDArray[Any]:
    # An empty file cannot be mapped.
    return np.asarray(np.memmap(path, dtype, mode)) if n_bytes else np.empty(0, dtype)


def _finish(folder: Path, encoder: Encoder, codes: Codes) -> None:
    """Write everything to disk before the folder gets its final name."""
    contents = {
        "format": FORMAT,
        "encoder": encoder,
        "n_samples": codes.n_samples,
        "names": codes.names,
    }
    (folder / "encoder.pickle").write_bytes(pickle.dumps(contents))
    (folder / "lock").unlink()
    for path in folder.iterdir():
        with path.open("rb+") as file:
            os.fsync(file.fileno())


def _open(folder: Path) -> tuple[Encoder, Codes]:
    try:
        contents = pickle.loads((folder / "encoder.pickle").read_bytes())
        encoder, n_samples = contents["encoder"], contents["n_samples"]
        is_whole = contents["format"] == FORMAT and all(
            path.stat().st_size == n_bytes
            for path, n_bytes in _sizes(folder, places(encoder.arity), n_samples).items()
        )
    except Exception as error:
        raise _damaged(folder) from error
    if not is_whole:
        raise _damaged(folder)
    planes = plane_bytes(encoder.arity, n_samples) <= free_memory() // 2
    return encoder, _mapped(folder, encoder.arity, n_samples, contents["names"], "r", planes)


def _damaged(folder: Path) -> InvalidFileError:
    return InvalidFileError(
        f"The codes in {folder} are damaged. Delete this folder; the next run encodes the table "
        "again."
    )


def plane_bytes(arity: NDArray[np.int64], n_samples: int) -> int:
    """Return the bytes that bit planes of all columns take."""
    n_planes = int((arity[arity <= _native.BitPlanes.most_levels] - 1).clip(0).sum())
    return n_planes * n_samples // 8

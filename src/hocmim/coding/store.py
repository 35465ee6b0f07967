"""Codes in memory-mapped files, reused for the same data.

Each table has a folder inside ``codes_dir``, named after the fingerprint of the data and of how
they are encoded:

==============  ==================================================================================
narrow, wide    the codes, of one byte and of two bytes (little endian), column by column
codes.json      the fitted encoder, the number of rows, the names of the columns, the fingerprint,
                and the checksum of each part of the two other files: see ``hocmim.data.documents``
==============  ==================================================================================

Opening a folder reads every code once: it compares the checksums, and the codes with the number of
levels of their columns.

A folder is written under a temporary name and renamed when it is complete, so that a run that was
killed leaves no incomplete codes. Any number of runs may share ``codes_dir``. The next run removes
the temporary folder of a run that was killed: only a folder of such a name, beside its lock, which
no process holds, and only if it has no other files than those above. Nothing else in ``codes_dir``
is touched.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hocmim._native as _native
from hocmim.coding.codes import Allocate, Codes, Column, column_digests, storage_places
from hocmim.coding.cuts import DISCRETIZERS
from hocmim.coding.encoder import Encoder
from hocmim.coding.saved_encoder import encoder_content, encoder_from
from hocmim.data.addresses import check_local
from hocmim.data.digests import digest_table, new_digest
from hocmim.data.documents import FORMATS, checksum, read_document, write_document
from hocmim.data.rows import RowSource
from hocmim.data.table import Table
from hocmim.data.values import is_count, require
from hocmim.data.writing import OWN, lock_name, locked, sync_folder
from hocmim.errors import InvalidFileError, InvalidParameterError
from hocmim.memory import free_memory
from hocmim.threads import map_spans

# Part of the fingerprint: a new format does not find old folders.
FORMAT = FORMATS["codes"]
# Bytes of codes that have one checksum.
PART_BYTES = 1 << 24
_DOCUMENT = "codes.json"
_WRITING = f"{OWN}writing-"
_LOCK_NAME = re.compile(rf"({re.escape(_WRITING)}[0-9a-f]{{16}})\.lock")
# The files of a folder, also while its document is written.
_FILE_NAME = re.compile(rf"narrow|wide|({re.escape(OWN)})?codes\.json(\.[0-9a-f]{{8}})?(\.part)?")


def codes_fingerprint(data: Table | RowSource, y: Column | None, encoder: Encoder) -> str:
    """Return a digest of the data, of how they are encoded, and of the format of the files."""
    if isinstance(data, RowSource) and not data.fingerprint:
        raise InvalidParameterError(
            "codes_dir needs files or a table in memory: nothing tells whether the result of a "
            "lazy frame has changed. Leave codes_dir out, or write the table with sink_parquet and "
            "pass its path."
        )
    seen: Any = digest_table(data) if isinstance(data, Table) else (data.fingerprint, data.columns)
    discretizer, max_levels = encoder.discretizer, encoder.max_levels
    if not (max_levels is None or isinstance(max_levels, str)):
        max_levels = int(max_levels)
    how = FORMAT, seen, discretizer, int(encoder.n_bins), max_levels
    digest = new_digest(repr(how).encode())
    if DISCRETIZERS[discretizer].needs_target and y is not None:
        digest.update(column_digests(Codes.from_columns([y])).data)
    return digest.hexdigest()


def stored_codes(
    codes_dir: str | PathLike[str],
    name: str,
    encode: Callable[[Allocate], tuple[Encoder, Codes]],
) -> tuple[Encoder, Codes]:
    """Return the encoder and the codes of a fingerprint, memory-mapped; encode them if needed.

    ``encode(allocate)`` returns the encoder and the codes, in arrays that ``allocate`` made.
    """
    check_local(codes_dir)
    root = Path(codes_dir)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameterError(
            f"codes_dir must be a folder that can be written to. {root} cannot be: {error}."
        ) from error
    final = root / name
    _remove_abandoned(root)  # a run that was killed at its very end leaves a lock beside its codes
    if not final.exists():
        with _folder_to_write(root) as folder:
            # No name for the codes here: Windows renames no folder with a file that is mapped.
            _finish(folder, name, *encode(partial(_allocate, folder)))
            try:
                folder.rename(final)
            except OSError:
                if not final.exists():  # otherwise another run has stored the same codes
                    raise
        sync_folder(root)
    return _open(final)


@contextlib.contextmanager
def _folder_to_write(root: Path) -> Iterator[Path]:
    """Make a folder, locked while it is written; remove it at the end if it was not renamed.

    The file of the lock is beside the folder. It is made before the folder and removed after the
    folder has its final name, so that no other run takes the folder for an abandoned one.
    """
    with contextlib.ExitStack() as stack:
        folder, is_mine = root, False
        while not is_mine:
            folder = root / f"{_WRITING}{secrets.token_hex(8)}"
            is_mine = stack.enter_context(locked(root / lock_name(folder.name)))
        folder.mkdir(mode=0o700)
        stack.callback(_remove_written, folder)
        yield folder


def _remove_abandoned(root: Path) -> None:
    """Remove the folders and locks of runs that were killed: no process holds their locks."""
    for path in root.iterdir():
        found = _LOCK_NAME.fullmatch(path.name)
        if found is None:
            continue
        with contextlib.suppress(OSError), locked(path, create=False) as is_abandoned:
            if is_abandoned:
                _remove_written(root / found[1])


def _remove_written(folder: Path) -> None:
    """Remove a temporary folder; nothing of it if it is a link or has files that are not ours."""
    if folder.is_symlink() or not folder.is_dir():
        return
    files = list(folder.iterdir())
    if all(_FILE_NAME.fullmatch(file.name) and not file.is_dir() for file in files):
        with contextlib.suppress(OSError):
            for file in files:
                file.unlink()
            folder.rmdir()


def _allocate(
    folder: Path, arity: NDArray[np.int64], n_samples: int, names: Sequence[str] | None = None
) -> Codes:
    """Allocate codes in files of a folder."""
    place = storage_places(arity)
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
    can_have_planes: bool = True,
) -> Codes:
    place = storage_places(arity)
    narrow, wide = (
        _map_file(path, n_bytes, dtype, mode).reshape(n_rows, n_samples)
        for (path, n_bytes), dtype, n_rows in zip(
            _sizes(folder, place, n_samples).items(),
            (np.uint8, np.uint16),
            (int((place >= 0).sum()), int((place < 0).sum())),
            strict=True,
        )
    )
    return Codes(
        narrow, wide, place, arity, None if names is None else tuple(names), 0, can_have_planes
    )


def _map_file(path: Path, n_bytes: int, dtype: Any, mode: Any) -> NDArray[Any]:
    # An empty file cannot be mapped.
    return np.asarray(np.memmap(path, dtype, mode)) if n_bytes else np.empty(0, dtype)


def _finish(folder: Path, name: str, encoder: Encoder, codes: Codes) -> None:
    """Write everything to disk before the folder gets its final name."""
    content = {
        "fingerprint": name,
        "encoder": encoder_content(encoder),
        "n_samples": codes.n_samples,
        "part_bytes": PART_BYTES,
        "narrow": _checksums(codes.narrow),
        "wide": _checksums(codes.wide),
    }
    for file_name in ("narrow", "wide"):
        with (folder / file_name).open("rb+") as file:
            os.fsync(file.fileno())
    write_document(folder / _DOCUMENT, "codes", content)
    sync_folder(folder)


def _checksums(codes: NDArray[Any]) -> list[str]:
    """Return the checksum of each part of a file of codes."""
    content = np.ascontiguousarray(codes).reshape(-1).view(np.uint8)
    starts = range(0, max(len(content), 1), PART_BYTES)
    return map_spans(lambda start: checksum(content[start : start + PART_BYTES].data), starts, -1)


def _open(folder: Path) -> tuple[Encoder, Codes]:
    """Map the codes of a folder, after every part of it was checked."""

    def read(content: dict[str, Any]) -> tuple[Encoder, Codes]:
        require(content["fingerprint"] == folder.name, "it belongs to other data")
        require(is_count(content["n_samples"]), "n_samples must be a count")
        require(content["part_bytes"] == PART_BYTES, "part_bytes is another number")
        encoder, n_samples = encoder_from(content["encoder"]), content["n_samples"]
        for path, n_bytes in _sizes(folder, storage_places(encoder.arity), n_samples).items():
            require(path.stat().st_size == n_bytes, f"{path.name} has another size")
        planes = plane_bytes(encoder.arity, n_samples) <= free_memory() // 2
        names = content["encoder"]["names"]
        codes = _mapped(folder, encoder.arity, n_samples, names, "r", planes)
        for name, rows in (("narrow", codes.narrow), ("wide", codes.wide)):
            require(_checksums(rows) == content[name], f"the checksum of {name} is wrong")
        for rows, is_here in ((codes.narrow, codes.place >= 0), (codes.wide, codes.place < 0)):
            highest = rows.max(axis=1, initial=0)
            is_level = highest < np.maximum(codes.arity[is_here], 1)
            require(bool(is_level.all()), "a code is not below its number of levels")
        return encoder, codes

    try:
        return read_document(folder / _DOCUMENT, "codes", read)
    except (InvalidFileError, OSError, InvalidParameterError) as error:
        raise InvalidFileError(
            f"The codes in {folder} are damaged. Delete this folder; the next run encodes the "
            f"table again. ({error})"
        ) from error


def plane_bytes(arity: NDArray[np.int64], n_samples: int) -> int:
    """Return the bytes that bit planes of all columns take."""
    n_planes = int((arity[arity <= _native.BitPlanes.most_levels] - 1).clip(0).sum())
    return n_planes * n_samples // 8

"""Codes: a table as small integers, the only form of data that the folders to the right use.

A column with levels 0..arity-1 takes one byte for each row, or two if it has more than 256 levels.
The codes of a column are contiguous in memory. Codes do not change after they are made: a block of
columns is a view, and any number of threads may read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hocmim._native import BitPlanes
from hocmim.data.digests import DIGEST_BYTES, new_digest

NARROW_LEVELS = 1 << 8
MAX_LEVELS = 1 << 16

# Bit planes of some neighbouring columns, and the position of the first of these columns.
MadePlanes = tuple[int, BitPlanes]


@dataclass(frozen=True)
class Column:
    """One column of codes: the target, or the newest selected feature."""

    codes: NDArray[np.uint8] | NDArray[np.uint16]
    arity: int
    index: int = -1

    def __reduce__(self) -> tuple[Any, ...]:
        return Column, (self.codes, self.arity, self.index)


@dataclass(frozen=True, eq=False)
class Codes:
    """N samples of D coded columns.

    ``narrow`` holds the columns of at most 256 levels and ``wide`` the others, both in the order of
    the table: a *row* of these arrays is a column of the table. Column j is row ``place[j]`` of
    ``narrow``, or row ``~place[j]`` of ``wide`` if ``place[j]`` is negative. ``start`` is the index
    of the first column in the whole table. ``can_have_planes`` says whether there is enough memory
    for bit planes of the codes. ``made_planes`` are those that the encoder has already made: for a
    search on this machine, and never in a copy or a file.
    """

    narrow: NDArray[np.uint8]
    wide: NDArray[np.uint16]
    place: NDArray[np.int64]
    arity: NDArray[np.int64]
    names: tuple[str, ...] | None = None
    start: int = 0
    can_have_planes: bool = True
    made_planes: tuple[MadePlanes, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "made_planes": ()}

    @classmethod
    def empty(
        cls, arity: NDArray[np.int64], n_samples: int, names: Sequence[str] | None = None
    ) -> Codes:
        """Allocate codes of these arities in memory; the caller fills them."""
        place = storage_places(arity)
        narrow = np.empty((int((place >= 0).sum()), n_samples), np.uint8)
        wide = np.empty((int((place < 0).sum()), n_samples), np.uint16)
        return cls(narrow, wide, place, arity, None if names is None else tuple(names))

    @classmethod
    def from_columns(cls, columns: Sequence[Column], names: Sequence[str] | None = None) -> Codes:
        """Put single columns side by side."""
        n_samples = len(columns[0].codes) if columns else 0
        place = _places(np.array([column.codes.dtype == np.uint8 for column in columns], bool))
        narrow = np.empty((int((place >= 0).sum()), n_samples), np.uint8)
        wide = np.empty((int((place < 0).sum()), n_samples), np.uint16)
        for column, where in zip(columns, place.tolist(), strict=True):
            (narrow[where] if where >= 0 else wide[~where])[:] = column.codes
        arity = np.array([column.arity for column in columns], np.int64)
        return cls(narrow, wide, place, arity, None if names is None else tuple(names))

    def take(self, samples: NDArray[np.int64]) -> Codes:
        """Return the codes of some samples."""
        narrow = np.ascontiguousarray(self.narrow[:, samples])
        wide = np.ascontiguousarray(self.wide[:, samples])
        return replace(self, narrow=narrow, wide=wide, made_planes=())

    @classmethod
    def from_rows(
        cls,
        rows: NDArray[np.uint8],
        wide: Mapping[int, NDArray[np.uint16]],
        arity: NDArray[np.int64],
        names: Sequence[str] | None = None,
        made_planes: Iterable[MadePlanes] = (),
    ) -> Codes:
        """Return codes that are already made, and bit planes of some of them.

        Row j of ``rows`` has the codes of column j, unless it is one of ``wide``. The rows are
        moved together in place.
        """
        if wide:
            narrow = [j for j in range(len(arity)) if j not in wide]
            for k, j in enumerate(narrow):
                if k != j:
                    rows[k] = rows[j]
            rows = rows[: len(narrow)]
        both = np.empty((len(wide), rows.shape[1]), np.uint16)
        for k, j in enumerate(sorted(wide)):
            both[k] = wide[j]
        in_order = tuple(sorted(made_planes, key=itemgetter(0)))
        names = None if names is None else tuple(names)
        return cls(rows, both, storage_places(arity), arity, names, made_planes=in_order)

    @property
    def n_samples(self) -> int:
        """Number of samples (rows of the table)."""
        return int(self.narrow.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.place)

    @property
    def nbytes(self) -> int:
        """Bytes of the codes."""
        return self.narrow.nbytes + self.wide.nbytes

    def column(self, j: int) -> Column:
        """Return column j of these codes (a view), with its index in the whole table."""
        where = int(self.place[j])
        codes = self.narrow[where] if where >= 0 else self.wide[~where]
        return Column(codes, int(self.arity[j]), self.start + j)

    def copy_columns(self, indices: Sequence[int]) -> Codes:
        """Return a copy of some columns, in this order and without names."""
        place = self.place[np.asarray(indices, np.int64)]
        if (place < 0).any():
            return Codes.from_columns([self.column(j) for j in indices])
        arity = self.arity[np.asarray(indices, np.int64)]
        return Codes(
            self.narrow[place], self.wide[:0].copy(), np.arange(len(place), dtype=np.int64), arity
        )

    def block(self, start: int, stop: int) -> Codes:
        """Return columns start..stop-1 as views."""
        place = self.place[start:stop]
        in_narrow, in_wide = place[place >= 0], ~place[place < 0]
        first_narrow = int(in_narrow[0]) if len(in_narrow) else 0
        first_wide = int(in_wide[0]) if len(in_wide) else 0
        return Codes(
            self.narrow[first_narrow : first_narrow + len(in_narrow)],
            self.wide[first_wide : first_wide + len(in_wide)],
            np.where(place >= 0, place - first_narrow, place + first_wide),
            self.arity[start:stop],
            None if self.names is None else self.names[start:stop],
            self.start + start,
            self.can_have_planes,
            tuple(
                (first - start, part)
                for first, part in self.made_planes
                if first < stop and first + part.n_columns > start
            ),
        )


class RemoteCodes(Protocol):
    """Codes on the workers of a cluster."""

    @property
    def n_samples(self) -> int:
        """Number of samples (rows of the table)."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""

    @property
    def arity(self) -> NDArray[np.int64]:
        """Number of levels of each column."""

    def column(self, index: int) -> Column:
        """Return one column, copied to this process."""

    def column_once(self, index: int) -> Column:
        """Return one column; unlike ``column``, a copy is not kept for the next call."""

    def digests(self) -> NDArray[np.uint8]:
        """Return a digest of each column: see ``column_digests``."""


# ``allocate(arity, n_samples, names)`` allocates codes, in memory (``Codes.empty``) or in files;
# the caller fills them.
Allocate = Callable[[NDArray[np.int64], int, Sequence[str] | None], Codes]


def as_small_integers(
    codes: NDArray[np.int64], arity: int
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Return codes in one byte, or in two if there are more than 256 levels."""
    return codes.astype(np.uint8) if arity <= NARROW_LEVELS else codes.astype(np.uint16)


def storage_places(arity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where columns of these arities are in ``narrow`` and ``wide``: see Codes."""
    return _places(arity <= NARROW_LEVELS)


def _places(is_narrow: NDArray[np.bool_]) -> NDArray[np.int64]:
    rank = np.cumsum(is_narrow, dtype=np.int64) - 1
    return np.where(is_narrow, rank, ~(np.arange(len(rank)) - rank - 1))


def column_digests(codes: Codes) -> NDArray[np.uint8]:
    """Return a digest of each column, one row for each column."""
    digests = [_digest(codes.column(j)) for j in range(codes.n_columns)]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIGEST_BYTES)


def fingerprint(digests: NDArray[np.uint8], y: Column) -> str:
    """Return the fingerprint of a table and its target; it does not depend on blocks or engines."""
    return new_digest(digests.tobytes() + _digest(y)).hexdigest()


def _digest(column: Column) -> bytes:
    digest = new_digest(f"{len(column.codes)} {column.arity}".encode())
    digest.update(np.ascontiguousarray(column.codes).data)
    return digest.digest()

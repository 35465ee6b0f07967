"""Sparse matrices whose indices are checked before anything reads them.

SciPy does not check the indices of a matrix that was read from a damaged file, or changed after it
was made. Its conversions, and the kernels, would then read memory that is not theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.errors import InvalidTableError
from hocmim.memory import BYTES_PER_COLUMN, MIN_CHECKED_BYTES, free_memory

_BY_ROW = ("csr", "bsr")


def checked_csc(matrix: Any) -> Any:
    """Return a sparse matrix of any format in CSC format; an error if an index is out of range."""
    _check_memory(matrix.shape[1])
    try:
        _check(matrix)
        if matrix.format in ("lil", "dok", "dia"):
            matrix = matrix.tocsr()
            _check(matrix)
        return matrix.tocsc()
    except InvalidTableError:
        raise
    except (ValueError, IndexError, TypeError) as error:
        raise _damaged(str(error)) from error


def _check_memory(n_columns: int) -> None:
    """Raise MemoryError if there is no room for what is kept of each column, also of empty ones."""
    needed = n_columns * BYTES_PER_COLUMN
    if needed < MIN_CHECKED_BYTES or needed <= (free := free_memory()):
        return
    raise MemoryError(
        f"X has {n_columns:,} columns. They need at least {needed / 1e9:,.1f} GB of memory, and "
        f"{free / 1e9:,.1f} GB are free. Drop the empty columns: X.tocsc()[:, X.getnnz(0) > 0]."
    )


def _check(matrix: Any) -> None:
    """Raise an error if the arrays of a matrix do not fit its shape."""
    n_rows, n_columns = matrix.shape
    if matrix.format in ("csr", "csc", "bsr"):
        height, width = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        sizes = n_rows // height, n_columns // width
        n_lines, n_places = sizes if matrix.format in _BY_ROW else sizes[::-1]
        _check_compressed(matrix, n_lines, n_places)
    elif matrix.format == "coo":
        _check_range(matrix.row, n_rows)
        _check_range(matrix.col, n_columns)
        if not len(matrix.row) == len(matrix.col) == len(matrix.data):
            raise _damaged("it has not as many indices as values")
    elif matrix.format == "lil" and any(
        len(places) != len(values) for places, values in zip(matrix.rows, matrix.data, strict=True)
    ):
        raise _damaged("it has not as many indices as values")


def _check_compressed(matrix: Any, n_lines: int, n_places: int) -> None:
    pointers, indices = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    if len(pointers) != n_lines + 1 or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise _damaged("its index pointers do not fit its shape")
    n_stored = int(pointers[-1])
    if n_stored > min(len(indices), len(matrix.data)):
        raise _damaged("an index pointer is larger than the number of values")
    _check_range(indices[:n_stored], n_places)


def _check_range(indices: NDArray[Any], n: int) -> None:
    if len(indices) and (indices.min() < 0 or indices.max() >= n):
        raise _damaged("an index is out of range")


def _damaged(why: str) -> InvalidTableError:
    return InvalidTableError(
        f"The sparse matrix X is damaged: {why}. Make it again from its source."
    )

"""A fingerprint of data: whether two tables hold the same values, in any library."""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.data.columns import Categories, Numbers
from hocmim.data.table import as_table
from hocmim.data.target import as_target

SHOWN_DIGITS = 16


def fingerprint(X: Any, y: Any) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of a table and its target, column by column.

    Names of columns do not count, nor does the library of the table: an array, a DataFrame and a
    sparse matrix of the same values have the same fingerprint.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from hocmim.insight.report import fingerprint
    >>> X, y = np.eye(3), [0, 1, 0]
    >>> fingerprint(X, y) == fingerprint(sparse.csr_array(X), y)
    True
    """
    table = as_table(X)
    digest = TableDigest(table.shape)
    for block in table.blocks():
        digest.add(block)
    return digest.finish(y)


class TableDigest:
    """The fingerprint of a table, block by block.

    Blocks may be added in any order and from several threads. A block that comes early waits until
    those before it are added.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._n_rows = shape[0]
        self._digest = hashlib.sha256(repr(shape).encode())
        self._next_column = 0
        self._waiting: dict[int, Numbers | Categories] = {}
        self._lock = threading.Lock()

    def add(self, block: Numbers | Categories) -> None:
        """Add the values of a block of columns."""
        with self._lock:
            self._waiting[block.start] = block
            while self._next_column in self._waiting:
                self._add_next(self._waiting.pop(self._next_column))

    def _add_next(self, block: Numbers | Categories) -> None:
        if isinstance(block, Categories):
            for level in block.levels:
                self._add_text(str(level))
            self._digest.update(block.codes.astype("<i8").tobytes())
            self._next_column += 1
        else:
            for column in np.ascontiguousarray(block.values.T):
                self._add_numbers(column)
            self._next_column += block.values.shape[1]

    def finish(self, y: Any) -> str:
        """Add the target, after all blocks; return the fingerprint."""
        targets = as_target(y, self._n_rows, several=True)
        for target in map(as_target, targets.T if targets.ndim == 2 else [targets]):
            if target.dtype.kind in "biuf":
                self._add_numbers(target)
            else:
                for value in target:
                    self._add_text(str(value))
        return self._digest.hexdigest()[:SHOWN_DIGITS]

    def _add_numbers(self, values: NDArray[Any]) -> None:
        numbers = values.astype("<f8") + 0.0  # one zero, without a sign
        numbers[np.isnan(numbers)] = np.nan  # one missing value
        self._digest.update(numbers.tobytes())

    def _add_text(self, text: str) -> None:
        encoded = text.encode("utf-8", "surrogatepass")
        self._digest.update(len(encoded).to_bytes(8, "little") + encoded)

"""A fingerprint of data: whether two tables hold the same values, in any library."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hocmim.data.columns import Categories
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
    >>> from hocmim.insight.fingerprint import fingerprint
    >>> X, y = np.eye(3), [0, 1, 0]
    >>> fingerprint(X, y) == fingerprint(sparse.csr_array(X), y)
    True
    """
    table = as_table(X)
    digest = hashlib.sha256(repr(table.shape).encode())
    for block in table.blocks():
        if isinstance(block, Categories):
            for level in block.levels:
                digest.update(_text(str(level)))
            digest.update(block.codes.astype("<i8").tobytes())
        else:
            for column in np.ascontiguousarray(block.values.T):
                digest.update(_numbers(column))
    targets = as_target(y, table.n_rows, several=True)
    for target in map(as_target, targets.T if targets.ndim == 2 else [targets]):
        if target.dtype.kind in "biuf":
            digest.update(_numbers(target))
        else:
            for value in target:
                digest.update(_text(str(value)))
    return digest.hexdigest()[:SHOWN_DIGITS]


def _numbers(values: NDArray[Any]) -> bytes:
    numbers = values.astype("<f8") + 0.0  # one zero, without a sign
    numbers[np.isnan(numbers)] = np.nan  # one missing value
    return bytes(numbers.tobytes())


def _text(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(8, "little") + encoded

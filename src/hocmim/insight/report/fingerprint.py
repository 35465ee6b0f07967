"""A fingerprint of data: whether two tables hold the same values, whatever library they are in."""

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
    """16 hexadecimal digits of the SHA-256 of a table and its target, column by column.

    Names of columns do not count, nor does the library a table is in: an array, a DataFrame and a
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
    digest = hashlib.sha256(repr(table.shape).encode())
    for block in table.blocks():
        if isinstance(block, Categories):
            for level in block.levels:
                _add_text(digest, str(level))
            digest.update(block.codes.astype("<i8").tobytes())
        else:
            for column in np.ascontiguousarray(block.values.T):
                _add_numbers(digest, column)
    target = as_target(y, table.n_rows)
    if target.dtype.kind in "biuf":
        _add_numbers(digest, target)
    else:
        for value in target:
            _add_text(digest, str(value))
    return digest.hexdigest()[:SHOWN_DIGITS]


def _add_numbers(digest: Any, values: NDArray[Any]) -> None:
    numbers = values.astype("<f8") + 0.0  # there is one zero only
    numbers[np.isnan(numbers)] = np.nan  # and one way to be missing
    digest.update(numbers.tobytes())


def _add_text(digest: Any, text: str) -> None:
    encoded = text.encode("utf-8", "surrogatepass")
    digest.update(len(encoded).to_bytes(8, "little") + encoded)

"""Digests of data: equal digests mean equal data."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from hocmim.data.columns import Categories, Numbers
from hocmim.data.table import Table

DIGEST_BYTES = 16


def new_digest(content: bytes = b"") -> Any:
    """Start a digest."""
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES)


def digest_table(table: Table) -> str:
    """Return a digest of every value of a table in memory, its types and its names."""
    digest = new_digest(repr((table.names, table.shape)).encode())
    if table.n_rows:
        for block in table.blocks():
            _add_block(digest, block)
    return digest.hexdigest()


def _add_block(digest: Any, block: Numbers | Categories) -> None:
    if isinstance(block, Categories):
        digest.update(repr(block.levels).encode())
        digest.update(block.codes.data)
        return
    digest.update(block.values.dtype.str.encode())
    for column in block.values.T:
        digest.update(np.ascontiguousarray(column).data)

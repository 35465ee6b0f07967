"""Tables in JSON lines, by pyarrow: one object for each row.

pyarrow crashes on values that are nested thousands deep, and takes hours if each line has keys of
its own. Both are no tables and are refused before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from hocmim.data.formats import arrow
from hocmim.errors import InvalidTableError

MAX_NESTING = 64
# A table with more cells is refused if fewer than one of ``MAX_SPARSITY`` is present.
MAX_SPARSE_CELLS = 100_000_000
MAX_SPARSITY = 100
# The default of pyarrow, one megabyte, must hold a whole line.
BLOCK_BYTES = 1 << 24

STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"')
KEY = re.compile(rb'("(?:[^"\\]|\\.)*+")\s*+:')
OPENING = re.compile(rb"[\[{]")
STEP = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}


def read_json_lines(data: Any, name: str) -> Any:
    """Return the content of a file of JSON lines as a pyarrow table.

    Parameters
    ----------
    data : buffer
    name : str
        Of the file, for messages.
    """
    json = arrow("pyarrow.json")
    _check(memoryview(data), name)
    source = arrow("pyarrow").BufferReader(data)
    return json.read_json(source, json.ReadOptions(block_size=BLOCK_BYTES))


def _check(data: memoryview, name: str) -> None:
    keys: set[bytes] = set()
    n_lines = n_present = 0
    for block in _blocks(data):
        lines = block.count(b"\n") + 1
        if block.count(b"{") + block.count(b"[") > lines and _nesting(block) > MAX_NESTING:
            raise InvalidTableError(
                f"{name} is not a table: its values are nested more than {MAX_NESTING} deep."
            )
        found = KEY.findall(block)
        keys.update(found)
        n_lines, n_present = n_lines + lines, n_present + len(found)
        n_cells = n_lines * len(keys)
        if n_cells > MAX_SPARSE_CELLS and MAX_SPARSITY * n_present < n_cells:
            raise InvalidTableError(
                f"{name} is not a table: its lines have {len(keys):,} different keys, and most "
                "lines have few of them."
            )


def _blocks(data: memoryview) -> Iterator[bytes]:
    """Return the whole lines of a file, some megabytes at a time."""
    rest = b""
    for start in range(0, len(data), BLOCK_BYTES):
        lines, newline, rest = (rest + bytes(data[start : start + BLOCK_BYTES])).rpartition(b"\n")
        yield lines + newline
    yield rest


def _nesting(block: bytes) -> int:
    """Return how deep the values of some lines are nested, at most."""
    deepest = 0
    for line in block.split(b"\n"):
        if len(OPENING.findall(line)) > MAX_NESTING:
            steps = re.findall(rb"[\[\]{}]", STRING.sub(b"", line))
            deepest = max(deepest, *accumulate(STEP[step] for step in steps), 0)
    return deepest

"""Columns of a text file that are kept as they are written.

pyarrow reads "02134" as the number 2134. A column of whole numbers with leading zeros, such as
postal codes, is read again as text. So are the columns whose text the user describes, since a point
may group thousands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from hocmim.data.formats import arrow
from hocmim.data.recognize import is_code

BLOCK_BYTES = 1 << 24
OVERLAP_BYTES = 8  # more than a delimiter and two digits


class KeptText(NamedTuple):
    """Which columns of a text file are kept as text: these, and all with fractions."""

    columns: Collection[str] = ()
    fractions: bool = False


def restore_text(
    table: Any, data: Any, delimiter: str, kept: KeptText, read: Callable[[list[str]], Any]
) -> Any:
    """Return a table in which some columns are the text of the file.

    Parameters
    ----------
    table : pyarrow Table
        As pyarrow inferred it.
    data : buffer
        The content of the file.
    delimiter : str
    kept : KeptText
    read : callable
        Reads columns of the file again, as text.
    """
    types = arrow("pyarrow.types")
    is_whole = {field.name: types.is_integer(field.type) for field in table.schema}
    wanted = {
        field.name
        for field in table.schema
        if field.name in kept.columns or (kept.fractions and types.is_floating(field.type))
    }
    has_zeros = any(is_whole.values()) and _has_leading_zeros(data, delimiter)
    candidates = {name for name, is_it in is_whole.items() if is_it and has_zeros}
    again = sorted(candidates | wanted, key=table.column_names.index)
    if not again:
        return table
    texts = read(again)
    for name in again:
        if name in wanted or _holds_codes(texts.column(name)):
            place = table.column_names.index(name)
            table = table.set_column(place, name, texts.column(name))
    return table


def _has_leading_zeros(data: Any, delimiter: str) -> bool:
    """Whether a field of the file begins with 0 and another digit.

    Python handles signals between the blocks, not while it searches one.
    """
    before = {re.escape(delimiter.encode()), b"\n", b'"'}
    view = memoryview(data)
    return any(
        re.search(start + b"0[0-9]", view[first : first + BLOCK_BYTES + OVERLAP_BYTES]) is not None
        for first in range(0, len(view), BLOCK_BYTES)
        for start in before
    )


def _holds_codes(column: Any) -> bool:
    found = arrow("pyarrow.compute").value_counts(column.drop_null())
    counts = found.field("counts").to_numpy().astype(np.int64)
    return is_code(found.field("values").to_pylist(), counts)

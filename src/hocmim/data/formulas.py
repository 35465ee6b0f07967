"""Cells of a CSV file that a spreadsheet would run as formulas.

Excel, LibreOffice and others run a cell that begins with one of ``STARTS``. An apostrophe before it
makes it text. Numbers, also in text columns, stay as they are: -5 is no formula.
"""

from __future__ import annotations

from typing import Any

from hocmim.data.formats import arrow

# The last four are the full-width forms, which some programs convert.
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def neutralise(text: str) -> str:
    """Return the text of a cell so that no spreadsheet runs it.

    Examples
    --------
    >>> from hocmim.data.formulas import neutralise
    >>> [neutralise(text) for text in ("=1+1", "-5", "a=b")]
    ["'=1+1", '-5', 'a=b']
    """
    return f"'{text}" if text.startswith(STARTS) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isprintable()


def neutralise_table(table: Any) -> Any:
    """Return a pyarrow table whose names and text cells no spreadsheet runs."""
    pa = arrow("pyarrow")
    for at, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            cells = [None if v is None else neutralise(v) for v in table.column(at).to_pylist()]
            table = table.set_column(at, field.name, pa.array(cells, kind))
    return table.rename_columns([neutralise(name) for name in table.column_names])

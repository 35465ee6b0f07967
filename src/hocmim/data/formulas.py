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
    """Return the text of a cell so that no spreadsheet runs it: "=1+1" becomes "'=1+1"."""
    return f"'{text}" if text.startswith(STARTS) and not is_number(text) else text


def is_number(text: str) -> bool:
    """Whether a text is a number as programs write it."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isprintable()


def _neutral(value: Any) -> str | None:
    if value is None:
        return None
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return neutralise(text)


def _is_inert(types: Any, kind: Any) -> bool:
    """Whether a column of this type holds no text; lists and structs cannot be written as CSV."""
    numbers = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    others = (types.is_temporal, types.is_null, types.is_nested)
    return any(is_it(kind) for is_it in (*numbers, *others))


def neutralise_table(table: Any) -> Any:
    """Return a pyarrow table whose names and text cells no spreadsheet runs."""
    pa = arrow("pyarrow")
    for at, field in enumerate(table.schema):
        is_dictionary = pa.types.is_dictionary(field.type)
        if not _is_inert(pa.types, field.type.value_type if is_dictionary else field.type):
            cells = [_neutral(value) for value in table.column(at).to_pylist()]
            table = table.set_column(at, field.name, pa.array(cells, pa.large_string()))
    return table.rename_columns([neutralise(name) for name in table.column_names])

"""Tables in Excel and OpenDocument files, by python-calamine."""

from __future__ import annotations

import datetime as dt
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from hocmim.data.formats import arrow, show
from hocmim.errors import InvalidParameterError, InvalidTableError, check_installed
from hocmim.text import did_you_mean, quote, some_of

SHOWN_SHEETS = 10


def read_sheet(path: Path, sheet: str | None, missing: Container[str], header: bool) -> Any:
    """Read a sheet, by default the first one, as a pyarrow table.

    ``missing`` are the texts that mean a missing value.
    """
    check_installed("Reading Excel and OpenDocument files needs", "python-calamine")
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_path(str(path))
        names = list(book.sheet_names)
        if sheet is not None and sheet not in names:
            hint = did_you_mean(sheet, names)
            listed = some_of([quote(name) for name in names], SHOWN_SHEETS)
            raise InvalidParameterError(
                f"There is no sheet {quote(sheet)} in {show(path)}.{hint} It has {listed}."
            )
        rows = book.get_sheet_by_name(sheet or names[0]).to_python(skip_empty_area=True)
    except CalamineError as error:
        text = str(error).rstrip(".")
        raise InvalidTableError(f"{show(path)} cannot be read as a table: {text}.") from error
    if not rows:
        raise InvalidTableError(f"{show(path)} is empty.")
    titles = [str(cell) for cell in rows[0]] if header else [f"f{j}" for j in range(len(rows[0]))]
    cells = rows[1:] if header else rows
    columns = [
        [None if isinstance(row[j], str) and row[j] in missing else row[j] for row in cells]
        for j in range(len(titles))
    ]
    return arrow("pyarrow").Table.from_arrays(list(map(column_of_cells, columns)), names=titles)


def column_of_cells(cells: Sequence[Any]) -> Any:
    """Return cells of one kind as a pyarrow array; None is missing, and mixed kinds become text.

    Numbers without a fraction become integers, since spreadsheets have no integers.
    """
    pa = arrow("pyarrow")
    types = {type(cell) for cell in cells if cell is not None}
    if types and types <= {int, float}:
        numbers = pa.array([None if cell is None else float(cell) for cell in cells])
        return numbers.cast(pa.int64()) if all(map(_is_whole, cells)) else numbers
    if types and types <= {dt.date, dt.datetime}:
        return pa.array(list(map(_as_datetime, cells)), pa.timestamp("us"))
    if len(types) > 1:
        cells = [None if cell is None else _as_text(cell) for cell in cells]
    return pa.array(cells)


def _is_whole(cell: float | None) -> bool:
    """Whether a number is missing or an integer whose digits are all exact."""
    return cell is None or (float(cell).is_integer() and abs(cell) < 2**53)


def _as_datetime(cell: Any) -> Any:
    if cell is None or isinstance(cell, dt.datetime):
        return cell
    return dt.datetime(cell.year, cell.month, cell.day)


def _as_text(cell: Any) -> str:
    return str(int(cell) if isinstance(cell, float) and cell.is_integer() else cell)

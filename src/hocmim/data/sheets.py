"""Tables in Excel and OpenDocument files, by python-calamine."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

from hocmim.data.formats import show
from hocmim.data.records import table_from_columns
from hocmim.errors import InvalidParameterError, InvalidTableError, check_installed
from hocmim.text import did_you_mean, quote, some_of

SHOWN_SHEETS = 10


def read_sheet(path: Path, sheet: str | None, missing: Container[str], header: bool) -> Any:
    """Read a sheet as a pyarrow table.

    Parameters
    ----------
    path : Path
    sheet : str or None
        By default the first sheet.
    missing : container of str
        Texts that mean a missing value.
    header : bool
        Whether the first row has the column names; otherwise f0, f1, …
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
    return table_from_columns(titles, columns)

"""The options --keep, --exclude and --costs as parameters of a selector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hocmim.errors import InvalidParameterError

HEADER = ("name", "cost")


def split(texts: Sequence[str], names: Sequence[str]) -> list[str] | None:
    """Return the columns of lists such as a,b; None if there are none.

    A text that is the name of a column is one column, also if it has a comma.
    """
    columns = [
        column for text in texts for column in ([text] if text in names else text.split(","))
    ]
    return [column.strip() if column not in names else column for column in columns] or None


def read_costs(text: str | None, names: Sequence[str]) -> dict[str, float] | None:
    """Return the cost of each named column, from a file or from a list such as a=3,b=5.

    Costs of columns that the table does not have are left out if they come from a file: it may be
    a list of all there is.
    """
    if text is None:
        return None
    if "=" not in text or Path(text).is_file():
        return {name: cost for name, cost in _read_file(text).items() if name in set(names)}
    parts = [part.rpartition("=") for part in text.split(",")]
    return {name.strip(): _number(cost, text) for name, _, cost in parts}


def _read_file(path: str) -> dict[str, float]:
    from hocmim.data.files import read_table

    table = read_table(path)
    if not set(HEADER) <= set(table.column_names):
        found = ", ".join(table.column_names)
        raise InvalidParameterError(
            f"--costs {path} must have the columns name and cost. It has {found}."
        )
    columns = (table.column(name).to_pylist() for name in HEADER)
    return {str(name): _number(cost, path) for name, cost in zip(*columns, strict=True)}


def _number(value: object, where: str) -> float:
    try:
        return float(str(value))
    except ValueError as error:
        raise InvalidParameterError(
            f"--costs {where}: {value!r} is not a number. Give costs as name=3,name=5, or as a "
            "file with the columns name and cost."
        ) from error

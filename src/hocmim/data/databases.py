"""Tables in SQLite and DuckDB databases, by an address such as ``sqlite:///file.db?table=t``.

As in SQLAlchemy, three slashes start a relative path and four an absolute one. The table may be a
view; it may be left out if there is only one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

from hocmim.data.formats import show
from hocmim.data.records import table_from_columns
from hocmim.errors import InvalidParameterError, InvalidTableError, check_installed
from hocmim.text import did_you_mean, quote, some_of

SHOWN_TABLES = 10
# A view must not read other files, and nothing is fetched from a network.
DUCKDB: dict[str, Any] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


class Address(NamedTuple):
    """A table of a database; ``kind`` is one of ``READERS``."""

    kind: str
    path: Path
    table: str | None


def parse_address(text: str) -> Address | None:
    """Return the table that an address stands for; None if it is not the address of a database."""
    kind, separator, rest = text.partition("://")
    if not separator or kind not in READERS:
        return None
    path, _, query = rest.partition("?")
    options = parse_qs(query, keep_blank_values=True)
    wrong = [name for name in options if name != "table"]
    if not path.startswith("/") or len(path) < 2 or wrong:
        raise InvalidParameterError(
            f"The address {text!r} is not of the form {kind}:///file?table=NAME."
        )
    return Address(kind, Path(unquote(path[1:])), options.get("table", [None])[0])


def read_address(address: Address) -> Any:
    """Read a table of a database as a pyarrow table."""
    if not address.path.is_file():
        raise InvalidParameterError(f"The file {show(address.path)} does not exist.")
    return READERS[address.kind](address)


def _read_sqlite(address: Address) -> Any:
    import sqlite3

    uri = f"{address.path.resolve().as_uri()}?mode=ro"
    listing = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as database:
            names = [name for (name,) in database.execute(listing)]
            table = _choose(address, [name for name in names if not name.startswith("sqlite_")])
            cursor = database.execute(f"SELECT * FROM {_quoted(table)}")
            titles = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
    except sqlite3.Error as error:
        raise InvalidTableError(f"{show(address.path)} cannot be read: {_short(error)}.") from error
    return table_from_columns(titles, list(zip(*rows, strict=True)) or [[] for _ in titles])


def _read_duckdb(address: Address) -> Any:
    check_installed("Reading a DuckDB database needs", "duckdb")
    import duckdb

    listing = (
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() "
        "ORDER BY table_name"
    )
    try:
        with closing(duckdb.connect(str(address.path), True, DUCKDB)) as database:
            names = [name for (name,) in database.execute(listing).fetchall()]
            table = _choose(address, names)
            return database.sql(f"SELECT * FROM {_quoted(table)}").to_arrow_table()
    except duckdb.Error as error:
        raise InvalidTableError(f"{show(address.path)} cannot be read: {_short(error)}.") from error


def _short(error: Exception) -> str:
    """Return the first line of a message, which may quote a whole query."""
    return (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")


def _choose(address: Address, names: list[str]) -> str:
    """Return the table to read; an error if there is no such table, or more than one."""
    if address.table in names:
        return str(address.table)
    if address.table is None and len(names) == 1:
        return names[0]
    listed = some_of([quote(name) for name in names], SHOWN_TABLES) or "no tables"
    if address.table is None:
        raise InvalidParameterError(
            f"{show(address.path)} has {listed}. Add ?table=NAME to its address."
        )
    raise InvalidParameterError(
        f"There is no table {quote(address.table)} in {show(address.path)}."
        f"{did_you_mean(address.table, names)} It has {listed}."
    )


def _quoted(name: str) -> str:
    """Return a name in the quotes of SQL."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


READERS: dict[str, Callable[[Address], Any]] = {"sqlite": _read_sqlite, "duckdb": _read_duckdb}

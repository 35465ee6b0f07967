"""Writes the table of a benchmark into a page of docs/, between two comments."""

from __future__ import annotations

from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def write_table(page: str, name: str, table: str) -> None:
    """Replace the text between ``<!-- name -->`` and ``<!-- end -->`` on a page of docs/."""
    path = DOCS / page
    text = path.read_text(encoding="utf-8")
    start = text.index(f"<!-- {name} -->") + len(f"<!-- {name} -->")
    stop = text.index("<!-- end -->", start)
    path.write_text(f"{text[:start]}\n{table.strip()}\n{text[stop:]}", encoding="utf-8")


def read_table(page: str, name: str) -> str:
    """Return the text between ``<!-- name -->`` and ``<!-- end -->`` on a page of docs/."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return text.split(f"<!-- {name} -->", 1)[1].split("<!-- end -->", 1)[0].strip()


def with_rows(old: str, new: str, n_key: int) -> str:
    """Return a table with the rows of a newer one in place of its own.

    A row is known by its first ``n_key`` cells. The title is that of the newer table; rows that
    only this one has come last.
    """
    fresh = {tuple(row.split("|")[1 : 1 + n_key]): row for row in new.splitlines()}
    rows = {tuple(row.split("|")[1 : 1 + n_key]): row for row in old.splitlines()[2:]}
    titles = dict(list(fresh.items())[:2])
    return "\n".join((titles | rows | fresh).values())

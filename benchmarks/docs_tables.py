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

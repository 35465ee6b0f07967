"""A table of text, as CSV and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from hocmim.data.formulas import neutralise
from hocmim.data.writing import write_text


@dataclass(frozen=True)
class Grid:
    """A table of text. The last ``n_summary_rows`` summarise the others."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    n_summary_rows: int = 0

    def write(self, folder: Path, name: str, *, is_safe: bool = False) -> None:
        """Write a CSV file.

        ``is_safe``: neutralise the cells that spreadsheets would run as formulas.
        """
        write_text(folder / f"{name}.csv", self.to_csv(is_safe=is_safe))

    def to_csv(self, *, is_safe: bool = False) -> str:
        """Return comma-separated values; notes become lines that begin with #."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        for row in (self.header, *self.rows):
            writer.writerow([neutralise(cell) for cell in row] if is_safe else row)
        return out.getvalue() + "".join(f"# {note}\n" for note in self.notes)

    def to_html(self) -> str:
        """Return a table and the notes; a cell with rank 1, ``0.200(1)``, is marked."""
        last = len(self.rows) - self.n_summary_rows
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.header)
        body, foot = ("".join(map(_row, part)) for part in (self.rows[:last], self.rows[last:]))
        notes = "".join(f"<p class=note>{escape(note)}</p>" for note in self.notes)
        return (
            f"<div class=scroll><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
            f"<tfoot>{foot}</tfoot></table></div>{notes}"
        )


def _row(cells: Iterable[str]) -> str:
    marked = (" class=best" if cell.endswith("(1)") else "" for cell in cells)
    shown = (f"<td{mark}>{escape(cell)}</td>" for mark, cell in zip(marked, cells, strict=True))
    return f"<tr>{''.join(shown)}</tr>"

"""A table of text, as CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from hocmim.data.formulas import neutralise
from hocmim.data.writing import write_text

FORMATS = {"csv": ".csv", "markdown": ".md", "latex": ".tex"}


@dataclass(frozen=True)
class Grid:
    """A table of text. The last ``n_summary_rows`` summarise the others."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    n_summary_rows: int = 0

    def write(self, folder: Path, name: str, form: str, *, is_safe: bool = False) -> None:
        """Write a file in one of ``FORMATS``.

        ``is_safe``: neutralise the cells of CSV that spreadsheets would run as formulas.
        """
        make = {"markdown": self.to_markdown, "latex": self.to_latex}
        text = make[form]() if form in make else self.to_csv(is_safe=is_safe)
        write_text(folder / f"{name}{FORMATS[form]}", text)

    def to_csv(self, *, is_safe: bool = False) -> str:
        """Return comma-separated values; notes become lines that begin with #."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        for row in (self.header, *self.rows):
            writer.writerow([neutralise(cell) for cell in row] if is_safe else row)
        return out.getvalue() + "".join(f"# {note}\n" for note in self.notes)

    def to_markdown(self) -> str:
        """Return a heading, a table and the notes."""
        lines = [f"### {self.title}", "", _bar(self.header), _bar(["---"] * len(self.header))]
        lines += [_bar(row) for row in self.rows]
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes)]) + "\n"

    def to_latex(self) -> str:
        """Return a table environment, which needs the package booktabs."""
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex(self.title)}}}",
            rf"\begin{{tabular}}{{l{'c' * (len(self.header) - 1)}}}",
            r"\toprule",
            " & ".join(map(_latex, self.header)) + r" \\",
            r"\midrule",
            *(" & ".join(map(_latex, row)) + r" \\" for row in self.rows),
            r"\bottomrule",
            r"\end{tabular}",
            *(r"\par\footnotesize " + _latex(note) for note in self.notes),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

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


def _bar(cells: Iterable[str]) -> str:
    # Markdown may hold HTML, which a name must not be.
    marked = (cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells)
    return "| " + " | ".join(" ".join(cell.splitlines()) for cell in marked) + " |"


# A backslash of a name would be a command.
LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "±": r"$\pm$",
    "—": "---",
}


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)

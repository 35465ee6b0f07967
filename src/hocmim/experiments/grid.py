"""A table of text, as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hocmim.data.formulas import neutralise


@dataclass(frozen=True)
class Grid:
    """A table of text."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    n_summary_rows: int = 0
    """How many rows at the end summarise the others."""

    def to_csv(self, *, is_safe: bool = False) -> str:
        """Return comma-separated values; notes become lines that begin with #.

        ``is_safe``: neutralise the cells that spreadsheets would run as formulas.
        """
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
        rows = [" & ".join(map(_escape, row)) + r" \\" for row in self.rows]
        notes = [r"\par\footnotesize " + _escape(note) for note in self.notes]
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escape(self.title)}}}",
            rf"\begin{{tabular}}{{l{'c' * (len(self.header) - 1)}}}",
            r"\toprule",
            " & ".join(map(_escape, self.header)) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            *notes,
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"


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
}


def _escape(text: str) -> str:
    text = "".join(LATEX.get(character, character) for character in text)
    return text.replace("−", "$-$").replace("±", r"$\pm$").replace("—", "---")

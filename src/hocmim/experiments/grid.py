"""A table of text, as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """A table of text."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    n_summary_rows: int = 0
    """How many rows at the end summarise the others."""

    def to_csv(self) -> str:
        """Return comma-separated values; notes become lines that begin with #."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(self.rows)
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
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _escape(text: str) -> str:
    for character in "&%$#_{}":
        text = text.replace(character, "\\" + character)
    return text.replace("−", "$-$").replace("±", r"$\pm$").replace("—", "---")

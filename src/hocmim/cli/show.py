"""What is printed: results to standard output, everything else to standard error.

On a terminal results are tables as wide as it is; into a pipe or a file they are tab-separated
lines with whole names. Names are hostile: they are never markup, and take one line.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hocmim.text import one_line

# Notes of one kind that are printed one by one.
MOST_NOTES = 5
NAME_LENGTH = 60
# The narrowest a column of names gets, and what is between two columns.
LEAST_NAME = 8
BETWEEN = 3
MOST_LENGTH = 1000
# Missing values up to this share are the usual thing and counted only.
MUCH_MISSING = 0.5


def say(text: str, style: str = "") -> None:
    """A line to standard error."""
    _to_stderr(Text(text, style))


def warn(text: str) -> None:
    """A warning to standard error."""
    _to_stderr(Text.assemble(("Warning: ", "bold yellow"), text))


def _to_stderr(text: Text) -> None:
    console = Console(stderr=True)
    console.print(text, soft_wrap=not console.is_terminal)


@contextmanager
def warnings_in_our_words(quiet: bool) -> Iterator[None]:
    """What libraries warn of, as lines like our own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "default")
        for of_programmers in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
            warnings.simplefilter("ignore", of_programmers)
        warnings.showwarning = lambda message, *_, **__: warn(" ".join(str(message).split()))
        yield


def quoted(name: str) -> str:
    """A name in a message: one line, not too long, in quotes."""
    return f"'{one_line(name, NAME_LENGTH)}'"


def is_terminal() -> bool:
    """Whether somebody looks at standard output."""
    return Console().is_terminal


def table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> None:
    """A table to standard output.

    Parameters
    ----------
    columns : sequence of (title, kind)
        Kind "name" for what may be long and is cut to fit, "number" for numbers, "text" for words.
    rows : sequence of sequences
        None is a dash.
    """
    if is_terminal():
        shown = rich_table(columns, rows, Console().width)
        # On a terminal narrower than the numbers, lines are broken rather than numbers.
        needed = sum(int(c.width or 0) + BETWEEN for c in shown.columns) - BETWEEN
        Console(width=max(needed, Console().width)).print("", shown, sep="\n")
        return
    click.echo("\t".join(title.replace(" ", "_") for title, _ in columns))
    for row in rows:
        click.echo("\t".join("" if cell is None else _escaped(str(cell)) for cell in row))


def heading(text: str) -> None:
    """A title to standard output; a comment in a pipe."""
    if is_terminal():
        Console().print("", Text(text, "bold"), sep="\n")
    else:
        click.echo(f"# {text}")


def paragraph(text: str) -> None:
    """A paragraph to standard output, on a terminal."""
    Console().print(Text(one_line(text, MOST_LENGTH), "bold"))


def facts(pairs: Sequence[tuple[str, str]]) -> None:
    """Names and what they are, a line each, to standard output."""
    width = max(len(name) for name, _ in pairs)
    if not is_terminal():
        for name, text in pairs:
            click.echo(f"{name}\t{_escaped(text)}")
        return
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", min_width=width, no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in pairs:
        grid.add_row(name, Text(one_line(text, MOST_LENGTH)))
    Console().print("", grid, sep="\n")


def finite(value: float) -> float | None:
    """A number as JSON has it: None where it is none."""
    return float(value) if math.isfinite(value) else None


def rich_table(
    columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], width: int
) -> Table:
    """A table that is no wider than the terminal: names give way, numbers never."""
    cells = [[_cell(value) for value in row] for row in rows]
    needs = [
        max([cell_len(title), *(row[at].cell_len for row in cells)])
        for at, (title, _) in enumerate(columns)
    ]
    is_name = [kind == "name" for _, kind in columns]
    others = sum(need for need, name in zip(needs, is_name, strict=True) if not name)
    left = width - others - BETWEEN * (len(columns) - 1)
    widths = iter(_share([n for n, name in zip(needs, is_name, strict=True) if name], left))
    shown = Table(box=box.SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False)
    for (title, kind), need in zip(columns, needs, strict=True):
        shown.add_column(
            title,
            width=next(widths) if kind == "name" else need,
            justify="right" if kind == "number" else "left",
            no_wrap=True,
            overflow="ellipsis",
        )
    for row in cells:
        shown.add_row(*row)
    return shown


def _share(needs: list[int], width: int) -> list[int]:
    """Widths of columns that together need more than there is: the widest give first."""
    level = max(needs, default=0)
    while level > LEAST_NAME and sum(min(need, level) for need in needs) > width:
        level -= 1
    return [min(need, level) for need in needs]


def _cell(value: Any) -> Text:
    if value is None:
        return Text("–", "dim")
    if isinstance(value, Text):
        return value
    if isinstance(value, float):
        return Text(f"{value:.4f}")
    return Text(one_line(str(value), MOST_LENGTH))


def _escaped(text: str) -> str:
    """Text without what would break a line of tab-separated fields."""
    for sign, written in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(sign, written)
    return text


def data_notes(notes: Sequence[Any]) -> None:
    """Notes on the table as warnings, the first few of each kind."""
    by_kind: dict[str, list[Any]] = {}
    for note in notes:
        by_kind.setdefault(note.kind, []).append(note)
    missing = by_kind.pop("missing", [])
    for of_kind in by_kind.values():
        _some_notes(of_kind)
    if by_kind:
        say("None of these is left out: that is what --drop is for.", "dim")
    _some_notes([note for note in missing if note.value > MUCH_MISSING])
    if missing:
        most = max(missing, key=lambda note: note.value)
        say(
            f"Missing values are a level of their own: {counted(len(missing), 'column')} "
            f"{'has' if len(missing) == 1 else 'have'} some (most: {quoted(most.name)}, "
            f"{most.value:.0%}).",
            "dim",
        )


def _some_notes(notes: Sequence[Any]) -> None:
    for note in notes[:MOST_NOTES]:
        warn(f"{quoted(note.name)} {note.message}")
    if len(notes) > MOST_NOTES:
        warn(f"… and so {counted(len(notes) - MOST_NOTES, 'other column')} ({notes[0].kind}).")


def counted(number: int, what: str) -> str:
    """A number and what it counts."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def check_json(path: str | None, force: bool) -> None:
    """Raise an error if the JSON cannot be written there."""
    from hocmim.data.files import check_writable

    if path is not None and path != "-":
        check_writable(path, force=force)


def json_result(result: dict[str, Any], path: str, force: bool) -> None:
    """A result as JSON, to a file or ("-") to standard output."""
    import json

    from hocmim.data.files import write_file

    text = json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        write_file(path, lambda file: _write(file, text), force=force)


def _write(file: Any, text: str) -> None:
    # A lone surrogate in a name cannot be written as UTF-8.
    file.write(text.encode("utf-8", "backslashreplace"))

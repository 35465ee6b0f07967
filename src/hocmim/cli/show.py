"""Printing: results to standard output, everything else to standard error.

On a terminal, results are tables that fit its width. In a pipe or a file they are tab-separated
lines with complete names. Names are untrusted input: they are never markup and take one line.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hocmim.cli.pipes import standard_output
from hocmim.text import count, escaped, one_line, percent, value_text, visible

# How a user allows replacing a file, for messages.
OVERWRITE_HINT = "Pass --force to replace it"
# Notes of one kind that are printed one by one.
MAX_NOTES = 5
MAX_NAME_LENGTH = 60
MAX_TEXT_LENGTH = 1000
# Decimals of numbers, the first that leaves enough room for the names.
DECIMALS = (4, 3, 2)
# Numbers are rounded so that this much of a name is shown.
ROUND_FOR_NAMES = 20
# The smallest width of a column of names, of a cut title, and the space between two columns.
MIN_NAME_WIDTH = 8
# On a narrow terminal the last columns are left out until this much of a name is shown.
READABLE_NAME_WIDTH = 12
MIN_COLUMNS = 2
MIN_TITLE_WIDTH = 5
COLUMN_GAP = 3
# Columns with a larger share of missing values are listed; the others are only counted.
MUCH_MISSING = 0.5


def say(text: str, style: str = "") -> None:
    """Print a line to standard error."""
    _to_stderr(Text(escaped(text), style))


def warn(text: str) -> None:
    """Print a warning to standard error."""
    _to_stderr(Text.assemble(("Warning: ", "bold yellow"), escaped(text)))


def _to_stderr(text: Text) -> None:
    console = Console(stderr=True)
    console.print(text, soft_wrap=not console.is_terminal)


@contextmanager
def printed_warnings(quiet: bool) -> Iterator[None]:
    """Print the warnings of libraries in the form of ``warn``; none if quiet."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "default")
        for for_developers in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
            warnings.simplefilter("ignore", for_developers)
        warnings.showwarning = lambda message, *_, **__: warn(" ".join(str(message).split()))
        yield


def quoted(name: str) -> str:
    """Return a name for a message: on one line, not too long, in quotes."""
    return f"'{one_line(name, MAX_NAME_LENGTH)}'" if name.strip() else visible(name)


class _Console(Console):
    """A console whose reader may leave: see ``standard_output``."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return Console().is_terminal


def table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table to standard output.

    Parameters
    ----------
    columns : sequence of (title, kind)
        Kind "name" for text that is cut to fit, "number" for numbers, "text" for other text.
    rows : sequence of sequences
        None is shown as a dash.
    """
    rows = [
        [_shown(cell, kind) for cell, (_, kind) in zip(row, columns, strict=True)] for row in rows
    ]
    if is_terminal():
        _print_on_terminal(columns, rows, Console().width)
        return
    titles = "\t".join(title.replace(" ", "_") for title, _ in columns)
    fields = (
        "\t".join("" if cell is None else _escaped(str(cell)) for cell in row) for row in rows
    )
    lines("\n".join([titles, *fields]))


def _print_on_terminal(
    columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], width: int
) -> None:
    """Print the columns that fit, and name the others."""
    n = count_fitting(columns, rows, width)
    shown = rich_table(columns[:n], [row[:n] for row in rows], width)
    with standard_output():
        # If not even the first columns fit, lines are wrapped; numbers are not cut.
        _Console(width=max(_width(shown), width)).print("", shown, sep="\n")
        if n < len(columns):
            others = ", ".join(title for title, _ in columns[n:])
            text = f"Not shown on this narrow terminal: {others}. Output to a pipe has all."
            _Console().print(Text(text, "dim"))


def count_fitting(
    columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], width: int
) -> int:
    """Return how many of the first columns fit, with names that can be read; at least two."""
    for n in range(len(columns), MIN_COLUMNS, -1):
        shown = rich_table(columns[:n], [row[:n] for row in rows], width)
        names = [
            min(int(column.width or 0), READABLE_NAME_WIDTH)
            - min(_longest(rows, at), READABLE_NAME_WIDTH)
            for at, column in enumerate(shown.columns)
            if columns[at][1] == "name"
        ]
        if _width(shown) <= width and all(room >= 0 for room in names):
            return n
    return min(MIN_COLUMNS, len(columns))


def _longest(rows: Sequence[Sequence[Any]], at: int) -> int:
    return max((cell_len(str(row[at])) for row in rows if row[at] is not None), default=0)


def _width(shown: Table) -> int:
    return sum(int(column.width or 0) + COLUMN_GAP for column in shown.columns) - COLUMN_GAP


def _shown(cell: Any, kind: str) -> Any:
    return visible(cell) if kind == "name" and isinstance(cell, str) else cell


def lines(text: str) -> None:
    """Print text to standard output."""
    with standard_output():
        click.echo(escaped(text))


def heading(text: str) -> None:
    """Print a title to standard output; in a pipe, a comment."""
    text = one_line(text, MAX_TEXT_LENGTH)
    if is_terminal():
        with standard_output():
            _Console().print("", Text(text, "bold"), sep="\n")
    else:
        lines(f"# {text}")


def paragraph(text: str) -> None:
    """Print a paragraph to standard output, on a terminal."""
    with standard_output():
        _Console().print(Text(one_line(text, MAX_TEXT_LENGTH), "bold"))


def facts(pairs: Sequence[tuple[str, str]]) -> None:
    """Print names and values to standard output, a line each."""
    width = max(len(name) for name, _ in pairs)
    if not is_terminal():
        lines("\n".join(f"{name}\t{_escaped(text)}" for name, text in pairs))
        return
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", min_width=width, no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in pairs:
        grid.add_row(name, Text(one_line(text, MAX_TEXT_LENGTH)))
    with standard_output():
        _Console().print("", grid, sep="\n")


def finite(value: float) -> float | None:
    """Return a number for JSON: None if it is infinite or NaN."""
    return float(value) if math.isfinite(value) else None


def rich_table(
    columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], width: int
) -> Table:
    """Return a table that fits the width: numbers are rounded first, then names are cut."""
    is_name = [kind == "name" for _, kind in columns]
    for decimals in DECIMALS:
        cells = [[_cell(value, decimals) for value in row] for row in rows]
        needs = _needs(columns, cells, is_narrow=decimals < DECIMALS[0])
        names = [need for need, name in zip(needs, is_name, strict=True) if name]
        left = width - (sum(needs) - sum(names)) - COLUMN_GAP * (len(columns) - 1)
        if sum(min(need, ROUND_FOR_NAMES) for need in names) <= left:
            break
    widths = iter(_share(names, left))
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


def _needs(
    columns: Sequence[tuple[str, str]], cells: Sequence[Sequence[Text]], is_narrow: bool
) -> list[int]:
    """Return the width of each column; if narrow, the titles of numbers may be cut."""
    needs = []
    for at, (title, kind) in enumerate(columns):
        is_cut = is_narrow and kind == "number"
        of_title = min(cell_len(title), MIN_TITLE_WIDTH) if is_cut else cell_len(title)
        needs.append(max([of_title, *(row[at].cell_len for row in cells)]))
    return needs


def _share(needs: list[int], width: int) -> list[int]:
    """Return the widths of columns that must fit into ``width``: the widest are cut first."""
    level = max(needs, default=0)
    while level > MIN_NAME_WIDTH and sum(min(need, level) for need in needs) > width:
        level -= 1
    return [min(need, level) for need in needs]


def _cell(value: Any, decimals: int) -> Text:
    if value is None:
        return Text("–", "dim")
    if isinstance(value, Text):
        return value
    if isinstance(value, float):
        return Text(f"{value:.{decimals}f}")
    return Text(one_line(str(value), MAX_TEXT_LENGTH))


def _escaped(text: str) -> str:
    """Escape what would break a line of tab-separated fields, or what a terminal would obey."""
    return escaped(text.replace("\\", "\\\\"), keep="")


def data_notes(notes: Sequence[Any]) -> None:
    """Print notes on the table as warnings, the first few of each kind."""
    by_kind: dict[str, list[Any]] = {}
    for note in notes:
        by_kind.setdefault(note.kind, []).append(note)
    missing, uneven = by_kind.pop("missing", []), by_kind.pop("uneven bins", [])
    for of_kind in by_kind.values():
        _some_notes(of_kind)
    noted = [note for of_kind in by_kind.values() for note in of_kind]
    others = [note for note in noted if "It was left out." not in note.message]
    if others:
        which = "These columns" if len(others) == len(noted) else "The other columns"
        say(f"{which} are not excluded. To exclude one, pass --drop.", "dim")
    _some_notes(uneven)
    _some_notes([note for note in missing if note.value > MUCH_MISSING])
    if missing:
        most = max(missing, key=lambda note: note.value)
        say(
            f"{count(len(missing), 'column')} {'has' if len(missing) == 1 else 'have'} missing "
            f"values (most: {quoted(most.name)}, {percent(most.value)}). They count as a level of "
            "their own.",
            "dim",
        )


def _some_notes(notes: Sequence[Any]) -> None:
    for note in notes[:MAX_NOTES]:
        warn(f"{quoted(note.name)} {note.message}")
    if len(notes) > MAX_NOTES:
        warn(f"… and {count(len(notes) - MAX_NOTES, 'other column')} ({notes[0].kind}).")


def check_json(path: str | None, force: bool) -> None:
    """Raise an error if the JSON file cannot be written."""
    if path is not None and path != "-":
        check_output(path, force)


def check_output(path: str | Path, force: bool) -> None:
    """Raise an error if a file cannot be written."""
    from hocmim.data import writing

    writing.check_writable(path, overwrite=force, hint=OVERWRITE_HINT)


def json_result(result: dict[str, Any], path: str, force: bool) -> None:
    """Write a result as JSON, to a file or ("-") to standard output."""
    import json

    from hocmim.data.writing import write_file

    text = json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if not text.replace("\n", "").isprintable():  # what a terminal would obey, and lone surrogates
        text = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    if path == "-":
        with standard_output():
            sys.stdout.write(text)
    else:
        data = text.encode("utf-8")
        write_file(path, lambda file: file.write(data), overwrite=force, hint=OVERWRITE_HINT)


def check_picture(path: Path, force: bool) -> None:
    """Raise an error if a picture cannot be written."""
    from hocmim.errors import InvalidParameterError, check_installed

    check_output(path, force)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InvalidParameterError(
            f"--plot needs a .png, .svg or .pdf file. Got {value_text(str(path))}."
        )
    check_installed("A plot needs", "matplotlib")


def picture(draw: Callable[[], Any], path: Path, force: bool) -> None:
    """Draw a figure and write it to a file."""
    import matplotlib

    from hocmim.data.writing import write_file

    matplotlib.use("Agg")
    figure = draw()
    kind = path.suffix.lower().removeprefix(".")
    write_file(
        path,
        lambda file: figure.savefig(file, format=kind, dpi=150),
        overwrite=force,
        hint=OVERWRITE_HINT,
    )

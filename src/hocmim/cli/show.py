"""Printing: results to standard output, everything else to standard error.

On a terminal, results are tables that fit its width. In a pipe or a file they are tab-separated
lines with complete names. Names are untrusted input: they are never markup and take one line.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from hocmim.cli.command import in_options
from hocmim.cli.pipes import standard_output
from hocmim.errors import TextWarning
from hocmim.text import escaped, one_line, visible

if TYPE_CHECKING:
    from hocmim.search.progress import ProgressEvent

# How a user allows replacing a file, for messages.
OVERWRITE_HINT = "Pass --force to replace it"
MAX_NAME_LENGTH, MAX_TEXT_LENGTH, MAX_BAR_NAME_LENGTH = 60, 1000, 30
# The least that is shown of a name on a narrow terminal.
MIN_NAME_WIDTH = 8
SECONDS_BETWEEN_LINES = 10

Move = Callable[["ProgressEvent"], None]
BAR_STEPS = 1000


# --- standard error -------------------------------------------------------------------------------


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
def printed_warnings(quiet: bool, *, without: str = "") -> Iterator[list[Warning]]:
    """Print warnings at the end, none if quiet; give the list, which is complete then.

    Findings of the kind ``without`` are not printed. How text was read is said when it is read.
    """
    said: list[Warning] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for other in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
                warnings.simplefilter("ignore", other)  # for developers
            warnings.simplefilter("ignore", TextWarning)
            yield said
    finally:
        said += [one.message for one in caught if isinstance(one.message, Warning)]
        shown = [one for one in said if not without or kind_of(one) != without]
        for text in [] if quiet else dict.fromkeys(map(warning_text, shown)):
            warn(text)


def kind_of(warning: Warning) -> str:
    """Return the kind of the finding of a warning; "" if there is none."""
    return getattr(getattr(warning, "finding", None), "kind", "")


def warning_text(warning: Warning) -> str:
    """Return a warning of the library for the terminal."""
    return in_options(" ".join(str(warning).split()))


@contextmanager
def bar(title: str, quiet: bool, *, has_lines: bool = False) -> Iterator[Move | None]:
    """Show a progress bar on standard error; give the function that moves it.

    None if quiet or if standard error is not a terminal. ``has_lines``: print a line every ten
    seconds then.
    """
    console = Console(stderr=True)
    if not quiet and console.is_interactive:
        with Progress(
            TextColumn(title),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
        ) as progress:
            task = progress.add_task("", total=None)

            def move(event: ProgressEvent) -> None:
                progress.update(
                    task,
                    completed=round(BAR_STEPS * event.share),
                    total=BAR_STEPS if event.total else None,
                    description=in_words(event, MAX_BAR_NAME_LENGTH),
                )

            yield move
        return
    printed = time.monotonic()

    def print_line(event: ProgressEvent) -> None:
        nonlocal printed
        if event.done == event.total or time.monotonic() - printed > SECONDS_BETWEEN_LINES:
            printed = time.monotonic()
            say(in_words(event, MAX_TEXT_LENGTH))

    yield print_line if has_lines and not quiet else None


def in_words(event: ProgressEvent, max_length: int) -> str:
    """Return an event on one line: what is done, the time left, and the name."""
    name = "" if event.name is None else f"  {one_line(event.name, max_length)}"
    return f"{event}{name}"


def quoted(name: str) -> str:
    """Return a name for a message: on one line, not too long, in quotes."""
    return f"'{one_line(name, MAX_NAME_LENGTH)}'" if name.strip() else visible(name)


def place(file: str) -> str:
    """Return the name of a file for a message."""
    return "standard input" if file == "-" else repr(file)


# --- standard output ------------------------------------------------------------------------------


class _Console(Console):
    """A console whose reader may leave: see ``standard_output``."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return Console().is_terminal


def table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table to standard output; ``columns`` are titles and kinds.

    Kind "name" is text that is cut to fit, "number" numbers, "p" p-values, "text" other text.
    """
    if not is_terminal():
        titles = "\t".join(title.replace(" ", "_") for title, _ in columns)
        fields = ["\t".join(map(_field, row)) for row in rows]
        lines("\n".join([titles, *fields]))
        return
    shown = Table(box=box.SIMPLE_HEAD, header_style="bold", show_edge=False, pad_edge=False)
    for title, kind in columns:
        is_name = kind == "name"
        shown.add_column(
            Text(title, no_wrap=True, overflow="ellipsis"),
            justify="right" if kind in ("number", "p") else "left",
            no_wrap=not is_name,  # rich makes the other columns narrower
            min_width=MIN_NAME_WIDTH if is_name else None,
        )
    kinds = [kind for _, kind in columns]
    for row in rows:
        cells = zip(row, kinds, strict=True)
        shown.add_row(*(_cell(f"{v:.2g}" if k == "p" and v is not None else v) for v, k in cells))
    with standard_output():
        _Console().print("", shown, sep="\n")


def _field(value: Any) -> str:
    """Return a cell of tab-separated text: what would break a line is escaped."""
    if value is None:
        return ""
    text = "yes" * value if isinstance(value, bool) else visible(str(value))
    return escaped(text.replace("\\", "\\\\"), keep="")


def _cell(value: Any) -> Text:
    if value is None:
        return Text("–", "dim")
    if isinstance(value, bool):
        return Text("yes" if value else "")
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    return Text(one_line(visible(text), MAX_TEXT_LENGTH), no_wrap=True, overflow="ellipsis")


def lines(text: str) -> None:
    """Print text to standard output."""
    with standard_output():
        click.echo(escaped(text))


def heading(text: str) -> None:
    """Print a title to standard output; in a pipe, a comment."""
    if is_terminal():
        paragraph(f"\n{text}")
    else:
        lines(f"# {one_line(text, MAX_TEXT_LENGTH)}")


def paragraph(text: str) -> None:
    """Print a paragraph to standard output, on a terminal."""
    with standard_output():
        _Console().print(Text(escaped(text), "bold"))


def facts(pairs: Sequence[tuple[str, str]]) -> None:
    """Print names and values to standard output, a line each, on a terminal."""
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in pairs:
        grid.add_row(Text(name), Text(one_line(text, MAX_TEXT_LENGTH)))
    with standard_output():
        _Console().print("", grid, sep="\n")


# --- files ----------------------------------------------------------------------------------------


def check_output(path: str | Path | None, force: bool) -> None:
    """Raise an error if a file cannot be written."""
    from hocmim.data import writing

    if path is not None and path != "-":
        writing.check_writable(path, overwrite=force, hint=OVERWRITE_HINT)


def finite(value: float | None) -> float | None:
    """Return a number for JSON: None if it is infinite or NaN."""
    return float(value) if value is not None and math.isfinite(value) else None


def json_result(result: dict[str, Any], path: str | None, force: bool) -> None:
    """Write a result as JSON, to a file or ("-") to standard output; nowhere without a path."""
    import json

    from hocmim.data.writing import write_file

    if path is None:
        return
    text = json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"
    if not text.replace("\n", "").isprintable():  # what a terminal would obey, and lone surrogates
        text = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    if path == "-":
        with standard_output():
            sys.stdout.write(text)
    else:
        data = text.encode("utf-8")
        write_file(path, lambda file: file.write(data), overwrite=force, hint=OVERWRITE_HINT)


def _plain(value: Any) -> Any:
    """Return an object, such as a parameter of a selector, in the types of JSON."""
    if hasattr(value, "get_params"):
        return value.get_params(deep=False)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)

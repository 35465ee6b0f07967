"""A group of commands that are imported when they are called; every error is a sentence.

Exit codes: 0; 1 if the data cannot be used; 2 if the command line is wrong (an option, a name, a
missing file); 129 after SIGHUP; 130 after Ctrl-C; 143 after SIGTERM.
"""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from hocmim.cli.command import HELP_NAMES, in_options
from hocmim.cli.pipes import replace_unknown_characters, standard_output
from hocmim.text import did_you_mean, escaped

# The end of a batch job, and of the terminal, where the system has it.
ENDING_SIGNALS = ("SIGTERM", "SIGHUP")


class Commands(click.Group):
    """A group of the modules of a package, each of which has a command of its own name."""

    def __init__(self, name: str, package: str, **settings: Any) -> None:
        super().__init__(name, **settings)
        self._package = package
        files = (Path(__file__).parent / package.rpartition(".")[2]).glob("[!_]*.py")
        self._files = {path.stem: path for path in sorted(files)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self._files)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in self._files:
            return None
        try:
            return getattr(importlib.import_module(f"{self._package}.{name}"), name)
        except ImportError as error:
            if (error.name or "hocmim").startswith("hocmim"):
                raise
            raise click.ClickException(
                f"hocmim {name} needs {error.name}. Install it with: pip install {error.name}"
            ) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error for an unknown name suggests a similar one."""
        if args and args[0] not in self._files and not args[0].startswith("-"):
            hint = did_you_mean(args[0], self._files, n=1)
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        if HELP_NAMES.intersection(args[1:]):
            from hocmim.cli.help import stored_command

            stored = stored_command(args[0])
            if stored is not None:
                return args[0], stored, args[1:]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, from the docstrings of their modules."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _short_help(path)) for name, path in self._files.items()])

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        """Read the command line; its help may be cut off (``--help | head``)."""
        replace_unknown_characters()
        with standard_output(), _escaped_messages():
            return super().make_context(*arguments, **settings)
        raise click.exceptions.Exit(0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; print an error as a sentence and exit with its code."""
        try:
            with standard_output(), _ended_by_signals(), _escaped_messages():
                return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException):
            raise
        except (KeyboardInterrupt, click.Abort):
            click.echo("Stopped before any feature was selected.", err=True)
            ctx.exit(130)
        except Exception as error:
            if os.environ.get("HOCMIM_DEBUG"):
                raise
            with _escaped_messages():
                raise as_click_error(error) from error


@contextmanager
def _escaped_messages() -> Iterator[None]:
    """Escape what a terminal would obey in the message of an error: it may repeat any name."""
    try:
        yield
    except click.ClickException as error:
        error.message = _wrapped(escaped(error.message))  # type: ignore[misc]
        raise


def _wrapped(message: str) -> str:
    """Return an error in lines that fit a terminal, as notes and warnings do."""
    if not sys.stderr.isatty():
        return message
    width, prefix = shutil.get_terminal_size().columns, "Error: "
    lines = [
        textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
        for line in (prefix + message).splitlines()
    ]
    return "\n".join(lines).removeprefix(prefix)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End the command in order at SIGTERM and SIGHUP, unless the caller handles or ignores them."""

    def end(number: int, _: Any) -> None:
        click.echo(f"Stopped by {signal.Signals(number).name}.", err=True)
        raise SystemExit(128 + number)

    known = [getattr(signal, name) for name in ENDING_SIGNALS if hasattr(signal, name)]
    is_main = threading.current_thread() is threading.main_thread()
    ours = [each for each in known if is_main and signal.getsignal(each) == signal.SIG_DFL]
    for each in ours:
        signal.signal(each, end)
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, signal.SIG_DFL)


class UsageProblem(click.ClickException):
    """An option or an argument has a wrong value."""

    exit_code = 2


def as_click_error(error: Exception) -> click.ClickException:
    """Return an error with the message to print and the exit code."""
    from hocmim.errors import HocmimError, InvalidParameterError

    if isinstance(error, HocmimError):
        kind = UsageProblem if isinstance(error, InvalidParameterError) else click.ClickException
        return kind(in_options(str(error)))
    # Of click's check of a path: "embedded null byte", from Python 3.14 on "… null character".
    if isinstance(error, ValueError) and "embedded null" in str(error):
        return UsageProblem("A path holds a NUL character, which no path may hold.")
    if isinstance(error, MemoryError):
        return click.ClickException("There is not enough memory for this table.")
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return click.ClickException(f"{place}{error.strerror}.")
    return click.ClickException(
        f"Unexpected error: {type(error).__name__}: {error}\n"
        "This is a bug in hocmim, please report it. HOCMIM_DEBUG=1 before the command shows where "
        "it happened."
    )


def _short_help(path: Path) -> str:
    """Return the first line of the docstring of a module, without importing the module."""
    with path.open(encoding="utf-8") as file:
        return file.readline().strip().strip('"')

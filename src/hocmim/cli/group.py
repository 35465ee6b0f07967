"""Commands that are imported when they are called, and whose errors are sentences.

Exit codes: 0; 1 if the data cannot be used; 2 if the command line is wrong (an option, a name, a
file that is not there); 130 after Ctrl-C.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import click


class Commands(click.Group):
    """A group of commands, each the attribute of its own name of a module.

    Parameters
    ----------
    name : str
    commands : dict
        Module and short help of each command, by its name.
    """

    def __init__(self, name: str, commands: dict[str, tuple[str, str]], **settings: Any) -> None:
        super().__init__(name, **settings)
        self._modules = commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the help."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name not in self._modules:
            return None
        module, _ = self._modules[name]
        try:
            return getattr(importlib.import_module(module), name)
        except ImportError as error:
            if (error.name or "hocmim").startswith("hocmim"):
                raise
            extra = "paper" if name == "bench" else "cli"
            raise click.ClickException(
                f"hocmim {name} needs {error.name}: pip install 'hocmim[{extra}]'."
            ) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; a name that is wrong gets the nearest one suggested."""
        import difflib

        if args and args[0] not in self._modules and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], self._modules, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._modules.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what goes wrong is a sentence and an exit code."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, BrokenPipeError):
            raise
        except (KeyboardInterrupt, click.Abort):
            click.echo("Stopped before anything was selected.", err=True)
            ctx.exit(130)
        except Exception as error:
            if os.environ.get("HOCMIM_DEBUG"):
                raise
            raise sentence(error) from error


class UsageProblem(click.ClickException):
    """Something is wrong with what was asked for."""

    exit_code = 2


def sentence(error: Exception) -> click.ClickException:
    """An error as what to print and the code to exit with."""
    from hocmim.errors import HocmimError, InvalidParameterError

    if isinstance(error, HocmimError):
        kind = UsageProblem if isinstance(error, InvalidParameterError) else click.ClickException
        return kind(str(error))
    if isinstance(error, MemoryError):
        return click.ClickException("There is not enough memory for this table.")
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return click.ClickException(f"{place}{error.strerror}.")
    return click.ClickException(
        f"This should not have happened: {type(error).__name__}: {error}\n"
        "HOCMIM_DEBUG=1 before the command shows where; please report it."
    )

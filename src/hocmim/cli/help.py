"""The help of the commands, stored, so that it is shown without importing the library.

Options are made from the parameters of the library, which takes a second to import. ``help.json``
has what ``--help`` shows of them; a test compares it with the commands. To write it again::

    python -m hocmim.cli.help
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from hocmim.cli.command import Command, HelpRecord

_FILE = Path(__file__).with_name("help.json")


class StoredCommand(Command):
    """A command that can only show its help, as ``describe`` returned it."""

    def __init__(self, name: str, stored: dict[str, Any]) -> None:
        anything = {"ignore_unknown_options": True, "allow_extra_args": True}
        super().__init__(name, help=stored["help"], context_settings=anything)
        self._stored = stored

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the parts of the first line."""
        return list(self._stored["usage"])

    def help_records(self, ctx: click.Context) -> list[HelpRecord]:
        """Return the stored options."""
        return [(section, (names, text)) for section, names, text in self._stored["options"]]


def stored_command(name: str) -> StoredCommand | None:
    """Return the command of that name, for its help alone; None if its help is not stored."""
    every = json.loads(_FILE.read_text(encoding="utf-8"))
    return StoredCommand(name, every[name]) if name in every else None


def describe(command: Command) -> dict[str, Any]:
    """Return what is stored of a command."""
    ctx = click.Context(command, help_option_names=["-h", "--help"])
    records = [(section, *record) for section, record in command.help_records(ctx)]
    usage = command.collect_usage_pieces(ctx)
    return {"usage": usage, "help": command.help, "options": [list(one) for one in records]}


def describe_all() -> dict[str, Any]:
    """Return what is stored of all commands that have options of the library."""
    from hocmim.cli import main

    ctx = click.Context(main)
    commands = {name: main.get_command(ctx, name) for name in main.list_commands(ctx)}
    return {name: describe(one) for name, one in commands.items() if isinstance(one, Command)}


def as_json(commands: dict[str, Any]) -> str:
    """Return the content of the file: a line for each option, so that a change shows which."""
    parts = []
    for name, each in commands.items():
        first = json.dumps({key: each[key] for key in ("usage", "help")}, ensure_ascii=False)[:-1]
        options = [json.dumps(one, ensure_ascii=False) for one in each["options"]]
        parts.append(f'{json.dumps(name)}: {first}, "options": [\n' + ",\n".join(options) + "\n]}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    _FILE.write_text(as_json(describe_all()), "utf-8")

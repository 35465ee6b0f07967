"""Commands whose help fits one screen: --help shows the common options, --help-all every option."""

from __future__ import annotations

import re
from typing import Any

import click

HELP_NAMES = {"-h", "--help", "--help-all"}
HELP_ALL = "hocmim.help_all"
# The section of an option, and its names and text.
HelpRecord = tuple[str | None, tuple[str, str]]
# The objects that messages of the library mention, and how their parameters begin as options.
OBJECTS = {"Encoder": "", "Target": "target-", "StopTest": "", "Engine": ""}
# Parameters of selectors that messages mention, and their options.
OPTIONS = {"identifiers": "--identifiers", "target": "--target-kind", "keep": "--keep"}
WORDS = {r"\bpass groups\b": "pass --groups", r"\bsample_weight\b": "--weights"}


class Option(click.Option):
    """An option; one with a section is shown by --help-all, under the title of the section."""

    def __init__(self, *arguments: Any, section: str | None = None, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.section = section


class Command(click.Command):
    """A command with sections of options."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params.append(
            Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_all,
                help="Show all options and exit.",
            )
        )

    def help_records(self, ctx: click.Context) -> list[HelpRecord]:
        """Return the options as the help shows them."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        records = [(getattr(one, "section", None), one.get_help_record(ctx)) for one in options]
        return [(section, record) for section, record in records if record is not None]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options, or all of them in sections."""
        sections: dict[str | None, list[tuple[str, str]]] = {None: []}
        for section, record in self.help_records(ctx):
            sections.setdefault(section, []).append(record)
        others = {title: found for title, found in sections.items() if title is not None}
        with formatter.section("Options"):
            formatter.write_dl(sections[None])
        if ctx.meta.get(HELP_ALL):
            for title, records in others.items():
                with formatter.section(title):
                    formatter.write_dl(records)
        elif others:
            formatter.write_paragraph()
            formatter.write_text(
                f"{sum(map(len, others.values()))} more options: {ctx.command_path} --help-all"
            )


def _show_all(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given and not ctx.resilient_parsing:
        ctx.meta[HELP_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def in_options(message: str) -> str:
    """Return a message of the library with options in place of parameters.

    Examples
    --------
    >>> from hocmim.cli.command import in_options
    >>> in_options("To select from it too, pass Encoder(identifiers='keep').")
    'To select from it too, pass --identifiers keep.'
    """

    def option(found: re.Match[str]) -> str:
        name = f"--{OBJECTS[found[1]]}{found[2].replace('_', '-')}"
        return f"{name} {found[3]}"

    pattern = rf"\b({'|'.join(OBJECTS)})\((\w+)=['\"]?([^'\")]*)['\"]?\)"
    message = re.sub(pattern, option, message)
    for name, flag in OPTIONS.items():
        message = re.sub(rf"\bpass {name}='(\w+)'", rf"pass {flag} \1", message)
    for word, flag in WORDS.items():
        message = re.sub(word, flag, message)
    return re.sub(r"(?<!, )\bn_features_to_select\b", "-k", message)  # not in a list of parameters

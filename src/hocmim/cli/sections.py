"""Help that fits one screen: rarely used options are shown by --help-all, in sections."""

from __future__ import annotations

from typing import Any

import click

# The rarely used options of all commands, by the section they are shown in. Options that are not
# named here are shown by --help.
SECTIONS = {
    "Reading the file": (
        "--as", "--decimal", "--thousands", "--dates", "--missing", "--delimiter", "--encoding",
        "--no-header", "--weights", "--groups",
    ),
    "Target": (
        "--target-kind", "--target-bins", "--target-discretizer", "--target-strategy",
    ),
    "Method": (
        "--bins", "--discretizer", "--estimator", "--group", "--set", "--seed", "--folds",
        "--resamples", "--model", "--max-rows", "--cv", "--rule", "--scoring",
    ),
    "Which columns, and when to stop": (
        "--fdr", "--exclude", "--keep-identifiers", "--costs", "--budget", "--one-per-cluster",
    ),
    "Computing and files": (
        "--jobs", "--engine", "--scheduler", "--codes-dir", "--checkpoint", "--force",
        "--safe-csv",
    ),
}  # fmt: skip


class SectionedCommand(click.Command):
    """A command whose --help shows the common options, and --help-all every option."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_all,
                help="Show all options and exit.",
            )
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options, or all of them in sections."""
        self._write(ctx, formatter, "Options", None)
        if ctx.meta.get("hocmim.help_all"):
            for section in SECTIONS:
                self._write(ctx, formatter, section, section)
            return
        n_more = sum(_section(option) is not None for option in self.params)
        if n_more:
            formatter.write_paragraph()
            formatter.write_text(
                f"{n_more} more options, on reading numbers, dates and missing values, the target, "
                f"the method and large tables: {ctx.command_path} --help-all"
            )

    def _write(
        self, ctx: click.Context, formatter: click.HelpFormatter, title: str, section: str | None
    ) -> None:
        records = [
            record
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and _section(option) == section
            if (record := option.get_help_record(ctx))
        ]
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _section(option: click.Parameter) -> str | None:
    """Return the section of a rarely used option; None for a common one."""
    return next((title for title, names in SECTIONS.items() if set(names) & set(option.opts)), None)


def _show_all(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given and not ctx.resilient_parsing:
        ctx.meta["hocmim.help_all"] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()

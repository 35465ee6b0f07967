"""The options that commands share, and the records they are collected in."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from hocmim.cli.group import UsageProblem
from hocmim.defaults import DEFAULT_METHOD
from hocmim.text import one_line, quote, some_of

Function = Callable[..., Any]
# Names listed if the target is missing, and how many characters of each.
LISTED_NAMES, LISTED_WIDTH = 40, 60
TARGET_KINDS = ("auto", "classes", "quantity")


@dataclass(frozen=True)
class Source:
    """The file of the table, its target, and how to read it."""

    file: str
    target: tuple[str, ...]
    target_kind: str
    target_bins: int | None
    target_discretizer: str | None
    target_strategy: str | None
    drop: tuple[str, ...]
    weights: str | None
    delimiter: str | None
    encoding: str
    missing: tuple[str, ...]
    no_header: bool

    @property
    def target_name(self) -> str:
        """The name of the target, or the names of several."""
        return ", ".join(self.target)


@dataclass(frozen=True)
class Settings:
    """The method's parameters, and where to compute."""

    k: int | float | str | None
    bins: int | None
    discretizer: str | None
    estimator: str | None
    group: tuple[tuple[str, tuple[str, ...]], ...]
    set: tuple[tuple[str, Any], ...]
    seed: int | None
    jobs: int | None
    engine: str
    scheduler: str | None
    codes_dir: Path | None
    checkpoint: Path | None


def check_settings(settings: Settings) -> None:
    """Raise an error, before the table is read, if the run will need what is not there."""
    from hocmim.data.writing import check_writable
    from hocmim.errors import DASK, InvalidParameterError, check_installed

    if settings.engine == "dask":
        check_installed("--engine dask needs", *DASK)
    elif settings.scheduler is not None:
        raise InvalidParameterError("--scheduler needs --engine dask.")
    if settings.checkpoint is not None:
        check_writable(settings.checkpoint, overwrite=True)


def read_how_many(text: str) -> int | float | str:
    """Parse a number of columns, a fraction of them, or "auto"."""
    if text == "auto":
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if number >= 1 and number.is_integer():
        return int(number)
    if 0 < number < 1:
        return number
    raise click.BadParameter(f"{text!r} is not a number of columns, a fraction below 1, or auto.")


def read_group(text: str) -> tuple[str, tuple[str, ...]]:
    """Parse NAME=column,column: the columns that are selected as one feature."""
    name, _, columns = text.partition("=")
    if not name or not columns:
        raise click.BadParameter(f"{text!r} is not of the form name=column,column.")
    return name, tuple(columns.split(","))


def read_parameter(text: str) -> tuple[str, Any]:
    """Parse NAME=VALUE, a parameter of the method; VALUE may be a number, true, false or none."""
    name, _, value = text.partition("=")
    if not name or not value:
        raise click.BadParameter(f"{text!r} is not of the form name=value.")
    words = {"true": True, "false": False, "none": None}
    if value.lower() in words:
        return name, words[value.lower()]
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _collected(
    kind: type, into: str, options: list[Callable[[Function], Function]]
) -> Callable[[Function], Function]:
    """Return a decorator that passes these options to the function as one record."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(**given: Any) -> Any:
            own = {field.name: given.pop(field.name) for field in fields(kind)}
            return function(**{into: kind(**own)}, **given)

        decorated: Function = call
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


class TargetOption(click.Option):
    """The target. If it is missing, the error lists the columns of the file."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert the value, as click does."""
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter as error:
            # click has read the given options and FILE before the missing ones.
            raise _missing_target(ctx.params) from error


def _missing_target(given: dict[str, Any]) -> UsageProblem:
    from hocmim.data.files import column_names

    names = column_names(
        given["file"],
        delimiter=given.get("delimiter"),
        encoding=given.get("encoding", "utf-8"),
        header=not given.get("no_header"),
    )
    listed = some_of([quote(one_line(name, LISTED_WIDTH)) for name in names], LISTED_NAMES)
    where = "standard input" if given["file"] == "-" else given["file"]
    return UsageProblem(f"Missing option -t NAME, the target column. {where} has {listed}.")


with_source = _collected(
    Source,
    "source",
    [
        click.argument("file", metavar="FILE"),
        click.option(
            "-t",
            "--target",
            multiple=True,
            required=True,
            metavar="NAME",
            help="Target column. Repeatable, for several targets.",
            cls=TargetOption,
        ),
        click.option(
            "--target-kind",
            type=click.Choice(TARGET_KINDS),
            default="auto",
            show_default=True,
            help="Treat the target as classes, or as a quantity that is cut into bins. auto: "
            "numbers with fractions or with many distinct values are a quantity, everything else "
            "is classes.",
        ),
        click.option(
            "--target-bins",
            type=click.IntRange(2),
            help="Bins of a target that is a quantity.  [default: 3]",
        ),
        click.option(
            "--target-discretizer",
            type=click.Choice(["quantile", "uniform"]),
            help="Cut a quantity into bins of equal frequency or of equal width.  [default: "
            "quantile]",
        ),
        click.option(
            "--target-strategy",
            type=click.Choice(["joint", "mean"]),
            help="For several targets: their combinations as one target, or the mean of the scores "
            "for each.  [default: joint]",
        ),
        click.option(
            "--drop",
            multiple=True,
            metavar="COL,COL",
            help="Exclude these columns. Repeatable.",
        ),
        click.option(
            "--weights",
            metavar="COL|balanced",
            help="Column of sample weights; balanced gives every class the same weight.",
        ),
        click.option(
            "--delimiter",
            metavar="CHAR",
            help="Field delimiter of a text file.  [default: detected]",
        ),
        click.option(
            "--encoding", default="utf-8", show_default=True, help="Encoding of a text file."
        ),
        click.option(
            "--missing",
            multiple=True,
            metavar="TEXT",
            help="Additional text that means a missing value, such as '?'. Repeatable.",
        ),
        click.option(
            "--no-header",
            is_flag=True,
            help="The file has no header line; columns are named f0, f1, ….",
        ),
    ],
)

with_settings = _collected(
    Settings,
    "settings",
    [
        click.option(
            "-k",
            "--features",
            "k",
            type=read_how_many,
            metavar="N|auto",
            help="Number of columns to select, or a fraction of them. auto stops when no column "
            "adds significant information.  [default: 10]",
        ),
        click.option(
            "--bins", type=click.IntRange(2), help="Bins of a numeric column.  [default: 5]"
        ),
        click.option(
            "--discretizer",
            type=click.Choice(["uniform", "quantile", "mdlp", "kendall"]),
            help="How to choose the bins: equal width, equal frequency, or by class (MDLP). "
            "kendall compares pairs of rows, for small samples.  [default: quantile]",
        ),
        click.option(
            "--estimator",
            metavar="NAME",
            help="Estimator of information; 'hocmim info' lists all.  [default: that of the "
            "method]",
        ),
        click.option(
            "--group",
            type=read_group,
            multiple=True,
            metavar="NAME=COL,COL",
            help="Select these columns as one feature, such as those of a one-hot code. "
            "Repeatable.",
        ),
        click.option(
            "--set",
            type=read_parameter,
            multiple=True,
            metavar="NAME=VALUE",
            help="Set any other parameter of the method, such as max_order=5. Repeatable.",
        ),
        click.option("--seed", type=int, help="Random seed."),
        click.option("-j", "--jobs", type=int, help="Number of threads.  [default: all cores]"),
        click.option(
            "--engine",
            type=click.Choice(["local", "dask"]),
            default="local",
            show_default=True,
            help="Compute on this machine, or on a Dask cluster.",
        ),
        click.option(
            "--scheduler",
            metavar="ADDR",
            help="Address of the Dask scheduler.  [default: start a cluster on this machine]",
        ),
        click.option(
            "--codes-dir",
            type=click.Path(path_type=Path),
            help="Keep the encoded table in this folder instead of in memory.",
        ),
        click.option(
            "--checkpoint",
            type=click.Path(path_type=Path),
            help="Save progress to this file, and resume from it if it exists.",
        ),
    ],
)

method_option = click.option(
    "-m",
    "--method",
    default=DEFAULT_METHOD,
    show_default=True,
    metavar="NAME",
    help="Selection method; 'hocmim info' lists all. module:Class is a criterion of your own.",
)
json_option = click.option(
    "--json",
    "json_path",
    metavar="OUT",
    help="Write the result as JSON to this file; - is standard output.",
)
force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print only results and errors.")

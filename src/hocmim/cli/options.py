"""The options commands share, and what they are gathered into."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

Function = Callable[..., Any]
TARGET_KINDS = ("auto", "classes", "quantity")


@dataclass(frozen=True)
class Source:
    """Where the table is, and how to read it."""

    file: str
    target: str
    target_kind: str
    drop: tuple[str, ...]
    delimiter: str | None
    encoding: str
    missing: tuple[str, ...]
    no_header: bool


@dataclass(frozen=True)
class Settings:
    """How to select."""

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


def read_how_many(text: str) -> int | float | str:
    """A number of columns, a fraction of them, or "auto"."""
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
    raise click.BadParameter(
        f"{text!r} is not a number of columns, nor a fraction of them, nor auto."
    )


def read_group(text: str) -> tuple[str, tuple[str, ...]]:
    """NAME=column,column: the columns that are selected as one."""
    name, _, columns = text.partition("=")
    if not name or not columns:
        raise click.BadParameter(f"{text!r} is not of the form name=column,column.")
    return name, tuple(columns.split(","))


def read_parameter(text: str) -> tuple[str, Any]:
    """NAME=VALUE: a parameter of the method; numbers, true, false and none are what they say."""
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


def _gathered(
    kind: type, into: str, options: list[Callable[[Function], Function]]
) -> Callable[[Function], Function]:
    """A decorator: these options, handed to the function as one object."""

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


with_source = _gathered(
    Source,
    "source",
    [
        click.argument("file", metavar="FILE"),
        click.option("-t", "--target", required=True, metavar="NAME", help="The column to tell."),
        click.option(
            "--target-kind",
            type=click.Choice(TARGET_KINDS),
            default="auto",
            show_default=True,
            help="Whether whole numbers are classes (auto) or a quantity to be cut into bins.",
        ),
        click.option(
            "--drop", multiple=True, metavar="COL", help="Leave out this column; repeatable."
        ),
        click.option(
            "--delimiter", metavar="CHAR", help="Between the fields of a text file, if unusual."
        ),
        click.option("--encoding", default="utf-8", show_default=True, help="Of a text file."),
        click.option(
            "--missing",
            multiple=True,
            metavar="TEXT",
            help="What else stands for a missing value, such as '?'; repeatable.",
        ),
        click.option("--no-header", is_flag=True, help="No names in the file: f0, f1, …"),
    ],
)

with_settings = _gathered(
    Settings,
    "settings",
    [
        click.option(
            "-k",
            type=read_how_many,
            metavar="N|auto",
            help="How many columns to select; auto ends when the best adds no more than chance."
            "  [default: 10]",
        ),
        click.option("--bins", type=click.IntRange(2), help="Bins of a column of numbers."),
        click.option(
            "--discretizer",
            type=click.Choice(["uniform", "quantile", "mdlp"]),
            help="Bins of equal width, of equal frequency, or by the class.",
        ),
        click.option(
            "--estimator",
            type=click.Choice(["shrinkage", "plugin", "miller_madow", "grassberger", "jeffreys"]),
            help="How information is estimated.  [default: the method's own]",
        ),
        click.option(
            "--group",
            type=read_group,
            multiple=True,
            metavar="NAME=COL,COL",
            help="Columns to select as one, such as a one-hot code; repeatable.",
        ),
        click.option(
            "--set",
            type=read_parameter,
            multiple=True,
            metavar="NAME=VALUE",
            help="Any other parameter of the method, such as max_order=5; repeatable.",
        ),
        click.option("--seed", type=int, help="Of what is random."),
        click.option("-j", "--jobs", type=int, help="Threads.  [default: all cores]"),
        click.option(
            "--engine",
            type=click.Choice(["local", "dask"]),
            default="local",
            show_default=True,
            help="Where to work: on this machine, or on a Dask cluster.",
        ),
        click.option(
            "--scheduler",
            metavar="ADDR",
            help="Of the Dask cluster.  [default: a cluster on this machine]",
        ),
        click.option(
            "--codes-dir",
            type=click.Path(path_type=Path),
            help="Keep the codes on disk in this folder, not in memory.",
        ),
        click.option(
            "--checkpoint",
            type=click.Path(path_type=Path),
            help="Write there how far it has come, and go on from it.",
        ),
    ],
)

method_option = click.option(
    "-m",
    "--method",
    default="HOCMIM",
    show_default=True,
    metavar="NAME",
    help="One of those `hocmim info` lists.",
)
json_option = click.option(
    "--json", "json_path", metavar="OUT", help="Write the result as JSON to a file; - prints it."
)
force_option = click.option("--force", is_flag=True, help="Replace files that are there.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Nothing but results and errors.")

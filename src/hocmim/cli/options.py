"""The options that commands share, and the records they are collected in."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from hocmim.cli.group import UsageProblem
from hocmim.cli.values import read_group, read_how_many, read_kind, read_parameter
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
    drop: tuple[str, ...]
    delimiter: str | None
    encoding: str
    missing: tuple[str, ...]
    no_header: bool
    kinds: tuple[tuple[str, str], ...]
    decimal: str | None
    thousands: str | None
    dates: str | None
    target_kind: str = "auto"
    target_bins: int | None = None
    target_discretizer: str | None = None
    target_strategy: str | None = None
    weights: str | None = None
    keep_identifiers: bool = False
    groups: str | None = None

    @property
    def target_name(self) -> str:
        """The name of the target, or the names of several."""
        return ", ".join(self.target)

    @property
    def identifiers(self) -> str | None:
        """The parameter of this name; None for its default."""
        return "keep" if self.keep_identifiers else None


@dataclass(frozen=True)
class Settings:
    """The method's parameters, and where to compute."""

    k: int | float | str | None
    fdr: float | None
    bins: int | None
    discretizer: str | None
    estimator: str | None
    group: tuple[tuple[str, tuple[str, ...]], ...]
    keep: tuple[str, ...]
    exclude: tuple[str, ...]
    costs: str | None
    budget: float | None
    set: tuple[tuple[str, Any], ...]
    seed: int | None
    jobs: int | None
    engine: str
    scheduler: str | None
    codes_dir: Path | None
    checkpoint: Path | None


@dataclass(frozen=True)
class Validation:
    """How cross-validation chooses the number of columns."""

    cv: int
    rule: str
    model: str
    scoring: str | None


def check_settings(settings: Settings) -> None:
    """Raise an error, before the table is read, if the run will need what is not there."""
    from hocmim.data.writing import check_writable
    from hocmim.errors import DASK, InvalidParameterError, check_installed

    if settings.engine == "dask":
        check_installed("--engine dask needs", *DASK)
    elif settings.scheduler is not None:
        raise InvalidParameterError("--scheduler needs --engine dask.")
    if settings.fdr is not None and settings.k not in (None, "auto"):
        raise InvalidParameterError(
            "--fdr decides how many columns are selected. Leave out -k, or pass -k auto."
        )
    if settings.checkpoint is not None:
        check_writable(settings.checkpoint, overwrite=True)


def _collected(
    kind: type, into: str, options: list[Callable[[Function], Function]]
) -> Callable[[Function], Function]:
    """Return a decorator that passes these options to the function as one record."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(**given: Any) -> Any:
            names = [field.name for field in fields(kind) if field.name in given]
            own = {name: given.pop(name) for name in names}
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


_FILE = click.argument("file", metavar="FILE")
_FILE_OPTIONS = [
    click.option(
        "--drop",
        multiple=True,
        metavar="COL,COL",
        help="Remove these columns from the table. Repeatable.",
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        help="Field delimiter of a text file.  [default: detected]",
    ),
    click.option("--encoding", default="utf-8", show_default=True, help="Encoding of a text file."),
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
    click.option(
        "--as",
        "kinds",
        type=read_kind,
        multiple=True,
        metavar="NAME=KIND",
        help="What a column holds: number, category, date, or date-parts, which splits a date "
        "into year, month, day, weekday and hour. Repeatable.  [default: recognised]",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Decimal separator of numbers.  [default: recognised]",
    ),
    click.option(
        "--thousands",
        type=click.Choice([",", ".", " ", "'", "_"]),
        help="Separator of thousands.  [default: recognised]",
    ),
    click.option(
        "--dates",
        metavar="ORDER",
        help="Order of dates: day-first, month-first or year-first, or a format such as %Y%m%d.  "
        "[default: recognised]",
    ),
]
_TARGET_OPTIONS = [
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
        help="Cut a quantity into bins of equal frequency or of equal width.  [default: quantile]",
    ),
    click.option(
        "--target-strategy",
        type=click.Choice(["joint", "mean"]),
        help="For several targets: their combinations as one target, or the mean of the scores "
        "for each.  [default: joint]",
    ),
    click.option(
        "--keep-identifiers",
        is_flag=True,
        help="Keep columns that identify the rows as candidates, such as names and row numbers.",
    ),
    click.option(
        "--weights",
        metavar="COL|balanced",
        help="Column of sample weights; balanced gives every class the same weight.",
    ),
    click.option(
        "--groups",
        metavar="COL",
        help="Column of groups of rows, such as the patient, that stay together in splits and "
        "tests.",
    ),
]


def _target_option(*, required: bool) -> Callable[[Function], Function]:
    return click.option(
        "-t",
        "--target",
        multiple=True,
        required=required,
        metavar="NAME",
        help="Target column. Repeatable, for several targets.",
        cls=TargetOption,
    )


keep_option = click.option(
    "--keep",
    multiple=True,
    metavar="COL,COL",
    help="Always select these columns. Repeatable.",
)
exclude_option = click.option(
    "--exclude",
    multiple=True,
    metavar="COL,COL",
    help="Never select these columns; notes and reports still show them (--drop removes them). "
    "Repeatable.",
)

with_source = _collected(
    Source,
    "source",
    [_FILE, _target_option(required=True), *_FILE_OPTIONS, *_TARGET_OPTIONS],
)
with_table = _collected(Source, "source", [_FILE, _target_option(required=False), *_FILE_OPTIONS])

with_settings = _collected(
    Settings,
    "settings",
    [
        click.option(
            "-k",
            "--features",
            "k",
            type=read_how_many,
            metavar="N|auto|cv",
            help="Number of columns to select, or a fraction of them. auto stops when no column "
            "adds significant information; cv chooses by cross-validation.  [default: 10]",
        ),
        click.option(
            "--fdr",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            metavar="RATE",
            help="Select as many columns as keep the expected share of false discoveries at RATE, "
            "such as 0.1. Implies -k auto.",
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
        keep_option,
        exclude_option,
        click.option(
            "--costs",
            metavar="FILE|COL=N,…",
            help="Cost of each column: a file with the columns name and cost, or names and "
            "numbers. Other columns cost 1.",
        ),
        click.option(
            "--budget",
            type=click.FloatRange(0, min_open=True),
            help="Select only as many columns as this pays for.",
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

with_validation = _collected(
    Validation,
    "validation",
    [
        click.option(
            "--cv",
            type=click.IntRange(2),
            default=5,
            show_default=True,
            help="Folds of the cross-validation.",
        ),
        click.option(
            "--rule",
            type=click.Choice(["one-se", "best"]),
            default="one-se",
            show_default=True,
            help="Fewest columns within one standard error of the best score, or the best score.",
        ),
        click.option(
            "--model",
            type=click.Choice(["knn", "linear", "forest"]),
            default="knn",
            show_default=True,
            help="Model to fit on the selected columns in the cross-validation.",
        ),
        click.option(
            "--scoring",
            metavar="NAME",
            help="Score of the model, as in scikit-learn.  [default: accuracy, or R²]",
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
save_option = click.option(
    "--save",
    type=click.Path(path_type=Path),
    metavar="MODEL",
    help="Save the selection to this JSON file, for 'hocmim apply'.",
)
safe_csv_option = click.option(
    "--safe-csv",
    is_flag=True,
    help="Put an apostrophe before text in CSV and TSV files that spreadsheets would run as a "
    "formula.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed."
)
parameters_option = click.option(
    "--set",
    "parameters",
    type=read_parameter,
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter of every method that has it. Repeatable.",
)


def plot_option(what: str) -> Callable[[Function], Function]:
    """Return the option for a picture; ``what`` says what it shows."""
    return click.option(
        "--plot",
        type=click.Path(path_type=Path),
        metavar="OUT",
        help=f"Draw {what} to this file: .png, .svg or .pdf.",
    )


force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print only results and errors.")

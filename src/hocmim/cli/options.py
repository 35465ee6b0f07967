"""The options that commands share, as decorators; most are made from parameters of the library."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from hocmim.cli.command import Option
from hocmim.cli.group import UsageProblem
from hocmim.cli.parameters import (
    ANYWHERE,
    CV,
    Given,
    Value,
    method_options,
    options_of,
    parameters_of,
    read_number_of_columns,
)
from hocmim.coding.encoder import Encoder
from hocmim.coding.target import Target
from hocmim.data.reading import TextConverter
from hocmim.data.recognize import KINDS
from hocmim.defaults import DEFAULT_K, DEFAULT_METHOD
from hocmim.parameters import JOBS, SEED, number
from hocmim.search.constraints import Budget
from hocmim.search.search import Engine
from hocmim.search.stopping import StopTest
from hocmim.selectors.registry import METHODS
from hocmim.text import one_line, quote, some_of

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
# Names listed if the target is missing, and how many characters of each.
LISTED_NAMES, LISTED_WIDTH = 40, 60
READING, TARGET, COLUMNS = "Reading the file", "Target and rows", "Which columns"
ENCODING, METHOD, COMPUTING = "Coding of the columns", "Method", "Computing and files"
STOPPING = "When to stop (-k significant)"


@dataclass(frozen=True)
class Request:
    """What select, explain and report run: the table, the method and its parameters.

    Attributes
    ----------
    source : Source
    method : str
    k : int, float, str or None
        The value of -k.
    given : dict
        The options that are parameters, if the user gave them.
    one_per_cluster : float or None
    quiet : bool
    """

    source: Source
    method: str
    k: Any
    given: Given
    one_per_cluster: float | None
    quiet: bool


@dataclass(frozen=True)
class Source:
    """The file of the table, how to read it, and which of its columns are no features."""

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
    weights: str | None = None
    groups: str | None = None

    @property
    def target_name(self) -> str:
        """The name of the target, or the names of several."""
        return ", ".join(self.target)

    @property
    def place(self) -> str:
        """The file, for a message."""
        return "standard input" if self.file == "-" else self.file


def make_source(given: Given) -> Source:
    """Return the file that options describe."""
    return Source(**{one.name: given[one.name] for one in fields(Source) if one.name in given})


def only_given(values: Given) -> Given:
    """Return the options that the user gave; the value of one of them may be None."""
    source = click.get_current_context().get_parameter_source
    return {key: values[key] for key in values if source(key) is ParameterSource.COMMANDLINE}


def collected(
    into: str, make: Callable[[Given], Any], options: Sequence[click.Parameter]
) -> Decorator:
    """Return a decorator that adds options and passes them to the command as one argument."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(**given: Any) -> Any:
            own = {str(one.name): given.pop(str(one.name)) for one in options if one.expose_value}
            return function(**{into: make(own)}, **given)

        call.__click_params__ = [  # type: ignore[attr-defined]
            *getattr(function, "__click_params__", ()),
            *reversed(options),
        ]
        return call

    return decorate


# --- the file -------------------------------------------------------------------------------------


class TargetOption(Option):
    """The target. If it is missing, the error lists the columns of the file."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert the value, as click does."""
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter as error:
            # click has read the given options and FILE before the missing ones.
            raise _missing_target(ctx.params) from error


def _missing_target(given: Given) -> UsageProblem:
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


def read_kind(text: str) -> tuple[str, str]:
    """Read NAME=KIND, what a column holds."""
    name, _, kind = text.rpartition("=")
    if not name or kind not in KINDS:
        raise click.BadParameter(
            f"{text!r} is not of the form name=kind, where kind is one of {', '.join(KINDS)}."
        )
    return name, kind


def _table(*, target_required: bool) -> list[click.Parameter]:
    return [
        click.Argument(["file"], metavar="FILE"),
        TargetOption(
            ["-t", "--target"],
            multiple=True,
            required=target_required,
            metavar="NAME",
            help="Target column. Repeatable, for several targets.",
        ),
        Option(
            ["--drop"],
            multiple=True,
            metavar="COL,COL",
            help="Remove these columns from the table. Repeatable.",
        ),
    ]


TEXT_FILE: list[click.Parameter] = [
    Option(
        ["--delimiter"],
        metavar="CHAR",
        section=READING,
        help="Field delimiter of a text file. By default it is recognised.",
    ),
    Option(
        ["--encoding"],
        default="utf-8",
        show_default=True,
        section=READING,
        help="Encoding of a text file.",
    ),
    Option(
        ["--missing"],
        multiple=True,
        metavar="TEXT",
        section=READING,
        help="Additional text that means a missing value, such as '?'. Repeatable.",
    ),
    Option(
        ["--no-header"],
        is_flag=True,
        section=READING,
        help="The file has no header line; columns are named f0, f1, ….",
    ),
]
READ_FILE: list[click.Parameter] = [
    Option(
        ["--as", "kinds"],
        type=read_kind,
        multiple=True,
        metavar="NAME=KIND",
        section=READING,
        help="What a column holds: number, category or date. Repeatable. By default it is "
        "recognised.",
    ),
    *options_of(TextConverter, READING, without=["columns"]),
    *TEXT_FILE,
]
ROWS: list[click.Parameter] = [
    Option(
        ["--weights"],
        metavar="COL|balanced",
        section=TARGET,
        help="Column of sample weights; balanced gives every class the same weight.",
    ),
    Option(
        ["--groups"],
        metavar="COL",
        section=TARGET,
        help="Column of groups of rows, such as the patient, that stay together in splits and "
        "tests.",
    ),
]


def make_request(given: Given) -> Request:
    """Return the run that options describe."""
    source = make_source(given)
    own = {one.name for one in (*fields(Source), *fields(Request))}
    parameters = only_given({key: value for key, value in given.items() if key not in own})
    method, k, distance, quiet = (given[key] for key in ("method", "k", "one_per_cluster", "quiet"))
    return Request(source, method, k, parameters, distance, quiet)


# --- the method -----------------------------------------------------------------------------------


def _list_methods(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    if not is_given or ctx.resilient_parsing:
        return
    from hocmim.cli import show

    rows = []
    for name, kind in METHODS.items():
        estimator = parameters_of(kind).get("estimator")
        title = (kind.__doc__ or "").strip().splitlines()[0].removeprefix(f"{name}, ").rstrip(".")
        rows.append((name, None if estimator is None else estimator.default, title))
    show.table([("method", "text"), ("estimator", "text"), ("what it is", "name")], rows)
    ctx.exit()


QUIET = Option(["-q", "--quiet"], is_flag=True, help="Print only results and errors.")
NUMBER = Option(
    ["-k", "--features", "k"],
    type=read_number_of_columns,
    metavar="N|WORD",
    help="Number of columns to select, a fraction of them, half, cv (with which a simple model "
    f"predicts best) or significant (as many as add more than chance).  [default: {CV}]",
)
COMPARED_NUMBER = Option(
    ["-k", "--features", "k"],
    type=read_number_of_columns,
    metavar="N|WORD",
    help="Number of columns that each method selects, a fraction of them, half, or significant "
    f"(as many as add more than chance).  [default: {DEFAULT_K}]",
)
ENCODER = options_of(Encoder, ENCODING)
OF_METHODS = method_options(METHOD, COLUMNS)
KEEP = next(one for one in OF_METHODS if one.name == "keep")
KEEP.section, KEEP.help = None, f"{str(KEEP.help).partition('.')[0]}. Repeatable."
FIRST = [
    *options_of(Target, TARGET, prefix="target_"),
    *[one for one in OF_METHODS if one.section != METHOD],
    *options_of(Budget, COLUMNS, without=["n_features"], names={"total": "budget"}),
    *ENCODER,
    *options_of(StopTest, STOPPING, without=[*ANYWHERE]),
]
LAST = [
    next(one for one in OF_METHODS if one.name == "estimator"),  # others: -m NAME(max_order=5)
    Option(
        ["--random-state"],
        type=Value(SEED),
        metavar="N",
        section=METHOD,
        help="Random seed, for whatever depends on chance.  [default: 0]",
    ),
    Option(
        ["--list-methods"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_list_methods,
        section=METHOD,
        help="Show the names of all methods and exit.",
    ),
    Option(
        ["-j", "--n-jobs"],
        type=Value(JOBS),
        metavar="N",
        section=COMPUTING,
        help="Number of threads; -1 for all cores. Never changes a result.  [default: all cores]",
    ),
]
REQUEST: list[click.Parameter] = [
    Option(
        ["-m", "--method"],
        default=DEFAULT_METHOD,
        show_default=True,
        metavar="NAME",
        help="Selection method, also NAME(max_order=5), or module:Class for a criterion of your "
        "own; --list-methods shows all.",
    ),
    NUMBER,
    *FIRST,
    Option(
        ["--one-per-cluster"],
        type=Value([number(0, 1)]),
        metavar="DIST",
        section=COLUMNS,
        help="First keep one column of each cluster of columns that are at most this far apart: 0 "
        "is copies only, 0.75 is 25% of their information shared, a correlation of about 0.8.",
    ),
    *LAST,
    *options_of(Engine, COMPUTING),
    QUIET,
]

table = collected("source", make_source, [*_table(target_required=False), *READ_FILE])
source = collected("source", make_source, [*_table(target_required=True), *READ_FILE, *ROWS])
request = collected(
    "request", make_request, [*_table(target_required=True), *READ_FILE, *ROWS, *REQUEST]
)
# For a comparison, which has a cross-validation of its own.
parameters = collected("given", only_given, [*FIRST, *LAST])
encoder = collected("given", only_given, ENCODER)
text_file = collected("text", only_given, TEXT_FILE)


# --- results --------------------------------------------------------------------------------------


def option(*names: str, **settings: Any) -> Decorator:
    """Return the decorator of an option."""
    return click.option(*names, cls=Option, **settings)


json_path = option(
    "--json",
    "json_path",
    metavar="OUT",
    help="Write the result as JSON to this file; - is standard output.",
)
safe_csv = option(
    "--safe-csv",
    is_flag=True,
    section=COMPUTING,
    help="Put an apostrophe before text in CSV and TSV files that spreadsheets would run as a "
    "formula.",
)
force = option("--force", is_flag=True, section=COMPUTING, help="Overwrite existing files.")


def file_option(*names: str, **settings: Any) -> Decorator:
    """Return the option of a file to write."""
    return option(*names, type=click.Path(path_type=Path), metavar="OUT", **settings)

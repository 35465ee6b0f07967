"""Options made from the parameters of the library, and selectors made from the options.

An option is a parameter of a selector, or of an object that selectors take: the signature gives
its default, ``_parameter_constraints`` its values, and the docstring its help. So a new parameter
of the library is a new option by itself.

======================  ===========================================  ==========================
option                  parameter of                                 becomes
======================  ===========================================  ==========================
--n-bins, …             Encoder                                      ``encoder=Encoder(…)``
--target-bins, …        Target                                       ``target=Target(…)``
--codes-dir, …          Engine                                       ``engine=Engine(…)``
--alpha, --fdr, …       StopTest                                     ``n_features_to_select=…``
--budget                Budget                                       ``n_features_to_select=…``
--estimator, --keep, …  all methods                                  the same parameter
-m NAME(max_order=5)    one method                                   the same parameter
======================  ===========================================  ==========================
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click

from hocmim.cli.command import Option, in_options
from hocmim.coding.encoder import Encoder
from hocmim.coding.target import Target
from hocmim.defaults import DEFAULT_METHOD
from hocmim.errors import InvalidParameterError
from hocmim.parameters import as_constraint, check_value
from hocmim.search.constraints import Budget
from hocmim.search.search import Engine
from hocmim.search.stopping import StopTest
from hocmim.selectors.base import InformationSelector
from hocmim.selectors.methods import CriterionSelector
from hocmim.selectors.registry import METHODS, find_name, make_selector
from hocmim.text import some_of

Given = dict[str, Any]

# The parameters that are objects, and how the names of their own parameters begin as options.
OBJECTS: dict[str, tuple[Any, str]] = {
    "encoder": (Encoder, ""),
    "target": (Target, "target_"),
    "engine": (Engine, ""),
}
# Options that never change a result, or only where there is chance: every method accepts them.
ANYWHERE = {"n_jobs", "random_state"}
# Values of -k.
HALF, SIGNIFICANT, CV = "half", "significant", "cv"


class Parameter(NamedTuple):
    """A parameter: its default, its constraints, and its type and text from the docstring."""

    name: str
    default: Any
    allowed: Sequence[Any]
    kind: str
    help: str


def parameters_of(thing: Any) -> dict[str, Parameter]:
    """Return the parameters of a class or a function."""
    documented = _documented(thing)
    allowed = getattr(thing, "_parameter_constraints", {})
    return {
        name: Parameter(name, one.default, allowed.get(name, ()), *documented.get(name, ("", "")))
        for name, one in inspect.signature(thing).parameters.items()
    }


def _documented(thing: Any) -> dict[str, tuple[str, str]]:
    """Return the type and the text of each parameter in the docstring, or in that of a base."""
    found: dict[str, tuple[str, str]] = {}
    for kind in thing.__mro__ if isinstance(thing, type) else (thing,):
        found = _parameters_section(kind.__doc__ or "") | found
    return found


@cache
def _parameters_section(docstring: str) -> dict[str, tuple[str, str]]:
    text = inspect.cleandoc(docstring).partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n\w+\n---", text)[0]
    entries = re.finditer(r"^(\w.*?) : (.*)\n((?:    .*\n?)+)", section, re.MULTILINE)
    return {
        name: (entry[2], _plain(entry[3])) for entry in entries for name in entry[1].split(", ")
    }


def _plain(text: str) -> str:
    """Return a text of a docstring without markup and without what is about Python objects."""
    text = " ".join(text.split())
    text = re.sub(r"(,|;|:)? ?\(?[Ss]ee (:\w+:)?`+[^`]*`+\)?\.?(?=$|[ .;)])", ".", text)
    sentences = re.split(r"(?<=[.?]) +(?=[A-Z\"`:])", re.sub(r"\.\.+", ".", text))
    about_python = re.compile(r"^None\b|callable|Warning|Client|your own|[Ss]plitter")
    text = " ".join(one for one in sentences if not about_python.search(one))
    text = re.sub(r":\w+:`~?(?:\w+\.)*(\w+)`", r"\1", text)
    return in_options(re.sub(r"[`\"]", "", text).replace("None", "none"))


# --- values ---------------------------------------------------------------------------------------


class Value(click.ParamType):  # type: ignore[type-arg]
    """The text of an option as the value that a parameter accepts."""

    name = "value"

    def __init__(self, allowed: Sequence[Any]) -> None:
        self.allowed = allowed

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        """Return the value of a text."""
        name = param.opts[0] if param is not None else "The value"
        return read_value(value, self.allowed, name)


def read_value(text: str, allowed: Sequence[Any], name: str) -> Any:
    """Return the first reading of a text that is allowed: none, true, a number, or the text."""
    words: dict[str, Any] = {"none": None, "true": True, "false": False}
    readings = [words[text.lower()]] if text.lower() in words else []
    for kind in (int, float):
        try:
            readings.append(kind(text))
        except ValueError:
            continue
    readings.append(text)
    if not allowed:
        return readings[0]
    for reading in readings:
        if any(as_constraint(one).is_satisfied_by(reading) for one in allowed):
            return reading
    check_value(name, readings[0], allowed)
    raise AssertionError


def _metavar(parameter: Parameter) -> str:
    """Return the values of an option in short: from the constraints, or from the docstring."""
    default, allowed, words = parameter.default, parameter.allowed, list[str]()
    if not allowed:
        listed = re.match(r"\{(.*?)\}", parameter.kind)
        words = re.findall(r'"(.*?)"', listed[1]) if listed else []
        words += ["N"] * parameter.kind.startswith("int")
    for one in allowed:
        constraint = as_constraint(one)
        choices = getattr(constraint, "options", None)
        if choices is not None:
            ordered = sorted(choices, key=lambda choice: (choice != default, choice))
            words += map(str, ordered)
        elif hasattr(constraint, "left"):
            words.append("N" if constraint.type.__name__ == "Integral" else "X")
        elif one == "random_state":
            words.append("N")
        elif one == "boolean":
            words += ["true", "false"]
        elif "path" in str(constraint):
            words.append("PATH")
        elif one is str:
            words.append("TEXT")
    if None in allowed and default is not None:
        words.append("none")
    return "|".join(dict.fromkeys(words)) or "TEXT"


def read_number_of_columns(text: str) -> int | float | str:
    """Return the value of -k."""
    if text in (HALF, SIGNIFICANT, CV):
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
        f"{text!r} is not a number of columns, a fraction below 1, half, significant or cv."
    )


# --- columns as values ----------------------------------------------------------------------------


def split_columns(texts: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns of lists such as a,b; the name of a column is that column."""
    columns: list[str] = []
    for text in texts:
        columns += [text] if text in names else text.split(",")
    return [column if column in names else column.strip() for column in columns]


def _read_groups(texts: Sequence[str], names: Sequence[str]) -> dict[str, list[str]]:
    groups = {}
    for text in texts:
        name, _, columns = text.partition("=")
        if not name or not columns:
            raise InvalidParameterError(
                f"--feature-group {text!r} is not of the form name=column,column."
            )
        groups[name] = split_columns([columns], names)
    return groups


def _read_costs(text: str, names: Sequence[str]) -> dict[str, float]:
    """Return the cost of each named column, from a file or from a list such as a=3,b=5.

    A file may be a list of all there is: columns that the table does not have are left out.
    """
    if "=" in text and not Path(text).is_file():
        parts = [part.rpartition("=") for part in text.split(",")]
        return {name.strip(): _cost(cost, text) for name, _, cost in parts}
    from hocmim.data.files import read_table

    table = read_table(text)
    if not {"name", "cost"} <= set(table.column_names):
        found = ", ".join(table.column_names)
        raise InvalidParameterError(
            f"--costs {text} must have the columns name and cost. It has {found}."
        )
    pairs = zip(*(table.column(name).to_pylist() for name in ("name", "cost")), strict=True)
    return {str(name): _cost(cost, text) for name, cost in pairs if str(name) in set(names)}


def _cost(value: object, where: str) -> float:
    try:
        return float(str(value))
    except ValueError as error:
        raise InvalidParameterError(
            f"--costs {where}: {value!r} is not a number. Give costs as name=3,name=5, or as a "
            "file with the columns name and cost."
        ) from error


class _OfColumns(NamedTuple):
    """A parameter whose value names columns: how its option is written and read."""

    option: str
    metavar: str
    read: Callable[[Any, Sequence[str]], Any]
    is_repeatable: bool = True


OF_COLUMNS = {
    "keep": _OfColumns("--keep", "COL,COL", split_columns),
    "exclude": _OfColumns("--exclude", "COL,COL", split_columns),
    "feature_groups": _OfColumns("--feature-group", "NAME=COL,COL", _read_groups),
    "costs": _OfColumns("--costs", "FILE|COL=N,…", _read_costs, False),
}


# --- options --------------------------------------------------------------------------------------


def options_of(
    thing: Any,
    section: str | None,
    *,
    prefix: str = "",
    without: Collection[str] = (),
    only: Collection[str] | None = None,
    names: Mapping[str, str] | None = None,
) -> list[Option]:
    """Return an option for each parameter of a class or a function.

    A parameter that only takes Python objects, by its docstring, is no option.

    ``without`` and ``only`` name parameters; ``names`` has the options that do not have the name of
    the parameter; all others begin with ``prefix``.
    """
    return [
        _option(prefix + (names or {}).get(name, name), parameter, section)
        for name, parameter in parameters_of(thing).items()
        if name not in without and (only is None or name in only) and parameter.help
    ]


def _option(name: str, parameter: Parameter, section: str | None) -> Option:
    of_columns = OF_COLUMNS.get(parameter.name)
    if of_columns is not None:
        more = " Repeatable." if of_columns.is_repeatable else ""
        return Option(
            [of_columns.option, name],
            metavar=of_columns.metavar,
            multiple=of_columns.is_repeatable,
            help=parameter.help + more,
            section=section,
        )
    has_default = parameter.default not in (None, inspect.Parameter.empty)
    default = f"  [default: {parameter.default}]" if has_default else ""
    return Option(
        [f"--{name.replace('_', '-')}"],
        type=Value(parameter.allowed),
        metavar=_metavar(parameter),
        help=parameter.help + default,
        section=section,
    )


# --- selectors ------------------------------------------------------------------------------------


def make_selectors(
    methods: Sequence[str], k: Any, given: Given, names: Sequence[str]
) -> dict[str, Any]:
    """Return the selectors that options describe, by the names to show.

    ``methods`` are lists such as ``MIM, HOCMIM(max_order=3)``; what is ``given`` is for every
    method that has the parameter. ``names`` are those of the columns.
    """
    found: dict[str, Any] = {}
    used = set(ANYWHERE)
    for name, own in (pair for text in methods for pair in read_methods(text)):
        selector, taken = _make(name, k, given, own, names)
        used |= taken
        parts = ",".join(f"{key}={value}" for key, value in own.items())
        title = selector.display_name + (f"({parts})" if parts else "")
        if title in found:
            raise InvalidParameterError(f"{title} is listed twice. Remove one of the two.")
        found[title] = selector
    unused = [key for key in given if key not in used]
    if unused:
        raise _not_of_the_method(unused[0], list(found))
    return found


def _make(
    name: str, k: Any, given: Given, own: Given, names: Sequence[str]
) -> tuple[Any, set[str]]:
    """Return a selector, and the options it used."""
    is_own_class = ":" in name
    if is_own_class and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # a module of the user, in the folder of the command
    kind = CriterionSelector if is_own_class else METHODS[find_name(name)]
    known = set(parameters_of(kind))
    every, used = given | own, set[str]()
    parameters: Given = {}
    for parameter, (record, prefix) in OBJECTS.items():
        keys = {key: prefix + key for key in parameters_of(record) if prefix + key in every}
        if keys and parameter in known:
            parameters[parameter] = record(**{key: every[at] for key, at in keys.items()})
            used |= set(keys.values())
    number, of_number = number_to_select(k, every)
    if isinstance(number, StopTest) and not issubclass(kind, InformationSelector):
        raise InvalidParameterError(
            f"{kind.method_name} ranks all columns and has no stopping test. Pass a number with "
            f"-k, or use an information-theoretic method such as {DEFAULT_METHOD}."
        )
    parameters["n_features_to_select"] = number
    used |= of_number
    for key in every:
        if key in known:
            parameters[key] = every[key]
            used.add(key)
    for key in set(parameters) & set(OF_COLUMNS):
        parameters[key] = OF_COLUMNS[key].read(parameters[key], names)
    parameters |= {key: value for key, value in own.items() if key not in used}
    return make_selector(name, **parameters), used


def number_to_select(k: Any, given: Mapping[str, Any]) -> tuple[Any, set[str]]:
    """Return n_features_to_select, and the options it was made from."""
    test = {key: given[key] for key in parameters_of(StopTest) if key in given}
    asked = set(test) - ANYWHERE
    if k == SIGNIFICANT or (k is None and asked):
        return StopTest(**test), asked
    if asked:
        raise InvalidParameterError(
            f"{as_option(min(asked))} is for a test that decides how many columns are selected. "
            "Leave out -k, or pass -k significant."
        )
    if "budget" in given:
        if not (k is None or isinstance(k, int)):
            raise InvalidParameterError("--budget needs a whole number with -k, or no -k.")
        return Budget(given["budget"], n_features=k), {"budget"}
    return None if k == HALF else CV if k is None else k, set()


def as_option(key: str) -> str:
    """Return the option of a parameter, for a message."""
    return OF_COLUMNS[key].option if key in OF_COLUMNS else f"--{key.replace('_', '-')}"


def _not_of_the_method(key: str, methods: Sequence[str]) -> InvalidParameterError:
    others = [name for name, kind in METHODS.items() if key in parameters_of(kind)]
    which = methods[0] if len(methods) == 1 else "None of the methods"
    takes = "takes no" if len(methods) == 1 else "takes"
    hint = f" It is a parameter of {some_of(others, 5)}." if others else ""
    return InvalidParameterError(f"{which} {takes} {as_option(key)}.{hint}")


def read_methods(text: str) -> Iterator[tuple[str, Given]]:
    """Split at the commas outside parentheses; yield names and parameters."""
    depth, part = 0, ""
    for character in f"{text},":
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth <= 0:
            if part.strip():
                yield _read_method(part.strip())
            part = ""
        else:
            part += character
    if part:
        raise InvalidParameterError(f"A parenthesis is not closed in {text!r}.")


def _read_method(text: str) -> tuple[str, Given]:
    """Read a name, or ``name(parameter=value, …)``."""
    found = re.fullmatch(r"([^(]+)(?:\((.*)\))?", text)
    pairs = [part.partition("=") for part in (found[2] or "").split(",") if part] if found else []
    if not found or not all(key.strip() and value.strip() for key, _, value in pairs):
        raise InvalidParameterError(f"{text!r} is not of the form NAME(parameter=value).")
    own = {key.strip(): read_value(value.strip(), (), key) for key, _, value in pairs}
    return found[1].strip(), own

"""Values of options: each function reads one kind, or says what is wrong with it."""

from __future__ import annotations

import ast
from typing import Any

import click

# As in hocmim.data.recognize, which takes long to import.
COLUMN_KINDS = ("number", "category", "date", "date-parts")


def read_how_many(text: str) -> int | float | str:
    """Parse a number of columns, a fraction of them, "auto" or "cv"."""
    if text in ("auto", "cv"):
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
        f"{text!r} is not a number of columns, a fraction below 1, auto or cv."
    )


def read_group(text: str) -> tuple[str, tuple[str, ...]]:
    """Parse NAME=column,column: the columns that are selected as one feature."""
    name, _, columns = text.partition("=")
    if not name or not columns:
        raise click.BadParameter(f"{text!r} is not of the form name=column,column.")
    return name, tuple(columns.split(","))


def read_kind(text: str) -> tuple[str, str]:
    """Parse NAME=KIND, what a column holds."""
    name, _, kind = text.rpartition("=")
    if not name or kind not in COLUMN_KINDS:
        raise click.BadParameter(
            f"{text!r} is not of the form name=kind, where kind is one of "
            f"{', '.join(COLUMN_KINDS)}."
        )
    return name, kind


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

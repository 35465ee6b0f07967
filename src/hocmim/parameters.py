"""Parameters declared once: name, default, allowed values and description.

Every method declares its parameters in this form. The signature of its selector, the check of a
value and the sentence about a wrong one follow from the declaration.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from os import PathLike
from typing import Any, ParamSpec, Protocol, TypeVar

from hocmim.errors import InvalidParameterError
from hocmim.text import value_text

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Constraint(Protocol):
    """Which values a parameter may have."""

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""

    def describe(self) -> str:
        """Return what the value must be, to be read after "must be"."""


@dataclass(frozen=True)
class OneOf:
    """One of several strings."""

    choices: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""
        return isinstance(value, str) and value in self.choices

    def describe(self) -> str:
        """Return what the value must be."""
        return f"one of {', '.join(map(repr, self.choices))}"


@dataclass(frozen=True)
class Boolean:
    """True or False."""

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""
        return isinstance(value, bool) or type(value).__name__ == "bool_"  # NumPy's boolean too

    def describe(self) -> str:
        """Return what the value must be."""
        return "True or False"


@dataclass(frozen=True)
class Number:
    """A number in an interval; booleans, NaN and infinity are not allowed.

    Attributes
    ----------
    at_least, at_most : float
        The ends of the interval.
    is_whole : bool
        Whether it must be an integer.
    or_none, or_zero, or_boolean : bool
        Whether None, or 0, or True and False, are allowed too.
    is_above, is_below : bool
        Whether the lower, or the upper, end is excluded.
    """

    at_least: float
    at_most: float = inf
    is_whole: bool = False
    or_none: bool = False
    or_zero: bool = False
    or_boolean: bool = False
    is_above: bool = False
    is_below: bool = False

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""
        if value is None:
            return self.or_none
        if Boolean().allows(value):
            return self.or_boolean
        kind = Integral if self.is_whole else Real
        if not isinstance(value, kind):
            return False
        number = float(value)
        if self.or_zero and number == 0:
            return True
        return (
            self.at_least <= number <= self.at_most
            and number < inf
            and not (self.is_above and number == self.at_least)
            and not (self.is_below and number == self.at_most)
        )

    def describe(self) -> str:
        """Return what the value must be."""
        text = "an integer" if self.is_whole else "a number"
        text += f" {'above' if self.is_above else 'of at least'} {self.at_least}"
        if self.at_most < inf:
            text += f" and {'below' if self.is_below else 'at most'} {self.at_most}"
        alternatives = ["0"] * self.or_zero + ["None"] * self.or_none
        alternatives += ["True or False"] * self.or_boolean
        return ", or ".join([text, *alternatives])


@dataclass(frozen=True)
class Text:
    """A string, or None."""

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""
        return value is None or isinstance(value, str)

    def describe(self) -> str:
        """Return what the value must be."""
        return "a string, or None"


@dataclass(frozen=True)
class Texts:
    """A string, several of them, or None."""

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""
        if isinstance(value, (list, tuple)):
            return all(isinstance(each, str) for each in value)
        return value is None or isinstance(value, str)

    def describe(self) -> str:
        """Return what the value must be."""
        return "a string, a list of strings, or None"


@dataclass(frozen=True)
class FunctionOrNone:
    """A function, or None."""

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""
        return value is None or (callable(value) and not isinstance(value, type))

    def describe(self) -> str:
        """Return what the value must be."""
        return "a function, or None"


@dataclass(frozen=True)
class HasMethods:
    """An object with these methods, described in words."""

    methods: tuple[str, ...]
    words: str
    or_none: bool = False

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""
        if value is None:
            return self.or_none
        # Asked of the type: an attribute of a table may be one of its columns.
        return not isinstance(value, type) and all(hasattr(type(value), m) for m in self.methods)

    def describe(self) -> str:
        """Return what the value must be."""
        return f"{self.words}, or None" if self.or_none else self.words


@dataclass(frozen=True)
class Jobs:
    """A number of threads or processes, as joblib counts them."""

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""
        is_number = Number(-MAX_JOBS, MAX_JOBS, is_whole=True).allows(value)
        return value is None or (is_number and value != 0)

    def describe(self) -> str:
        """Return what the value must be."""
        return "an integer other than 0 (-1 is all cores), or None"


@dataclass(frozen=True)
class Path:
    """The path of a file or folder, or perhaps None."""

    or_none: bool = False

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""
        if value is None:
            return self.or_none
        return isinstance(value, (str, PathLike)) and bool(str(value)) and "\0" not in str(value)

    def describe(self) -> str:
        """Return what the value must be."""
        return "a path, or None" if self.or_none else "a path"


@dataclass(frozen=True)
class Seed:
    """A random seed, as scikit-learn has them."""

    def allows(self, value: Any) -> bool:
        """Whether this value is allowed."""
        is_state = type(value).__name__ == "RandomState"
        return is_state or Number(0, 2**32 - 1, is_whole=True, or_none=True).allows(value)

    def describe(self) -> str:
        """Return what the value must be."""
        return "an integer from 0 to 2**32 - 1, a numpy.random.RandomState, or None"


# joblib reads no larger numbers.
MAX_JOBS = 1_000_000

BOOLEAN, JOBS, PATH, PATH_OR_NONE, SEED = Boolean(), Jobs(), Path(), Path(or_none=True), Seed()
TEXT, TEXTS, FUNCTION_OR_NONE = Text(), Texts(), FunctionOrNone()


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method.

    Attributes
    ----------
    name : str
    default : object
    constraint : Constraint or None
        None if the value is checked where it is used.
    type : str
        For the docstring: "float from 0 to 1".
    doc : str
        For the docstring: what it does.
    is_required : bool
        Whether it has to be given: the default does not count then.
    """

    name: str
    default: Any
    constraint: Constraint | None = None
    type: str = ""
    doc: str = ""
    is_required: bool = False

    def check(self, value: Any) -> None:
        """Raise an error that says what the value must be, unless it is allowed."""
        if self.constraint is not None:
            check_value(self.name, value, self.constraint)


def check_value(name: str, value: Any, constraint: Constraint) -> None:
    """Raise an error that says what a value must be, unless it is allowed."""
    if not constraint.allows(value):
        raise InvalidParameterError(
            f"{name} must be {constraint.describe()}. Got {value_text(value)} instead."
        )


def checked(
    **constraints: Constraint,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Check arguments of a function by their declared constraints before the function starts.

    An argument that is not given is not checked.
    """

    def check_arguments(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            given = signature.bind(*args, **kwargs).arguments
            for name, constraint in constraints.items():
                if name in given:
                    check_value(name, given[name], constraint)
            return function(*args, **kwargs)

        return call

    return check_arguments

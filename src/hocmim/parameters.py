"""Checks of parameters and arguments, by the constraints of scikit-learn.

A class lists its parameters in ``_parameter_constraints``, a function its arguments in ``checked``:
a list of constraints for each name, of which one must hold. Every wrong value gets the same kind of
sentence: what the value must be, and what it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from os import PathLike
from typing import Any, ParamSpec, TypeVar

from sklearn.utils._param_validation import Interval, Options, StrOptions, make_constraint

from hocmim.errors import InvalidParameterError
from hocmim.text import value_text

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Constraints = Sequence[Any]


class _Number(Interval):
    """An interval without the booleans, which are numbers in Python."""

    def is_satisfied_by(self, value: Any) -> bool:
        is_boolean = isinstance(value, bool) or type(value).__name__ == "bool_"
        return not is_boolean and super().is_satisfied_by(value)


class _OneOf(StrOptions):
    """One of some strings, which are listed in their order."""

    def __init__(self, choices: Sequence[str]) -> None:
        super().__init__(set(choices))
        self._choices = tuple(choices)

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, self._choices))}"


class _Path:
    """The path of a file or folder."""

    def is_satisfied_by(self, value: Any) -> bool:
        return isinstance(value, (str, PathLike)) and bool(str(value)) and "\0" not in str(value)

    def __str__(self) -> str:
        return "a path"


class _Function:
    """Something to call that is no class."""

    def is_satisfied_by(self, value: Any) -> bool:
        return callable(value) and not isinstance(value, type)

    def __str__(self) -> str:
        return "a function"


class _Texts:
    """A list of strings."""

    def is_satisfied_by(self, value: Any) -> bool:
        return isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value)

    def __str__(self) -> str:
        return "a list of strings"


class Like:
    """An object with these methods, described in words."""

    def __init__(self, methods: Sequence[str], words: str) -> None:
        self._methods, self._words = methods, words

    def is_satisfied_by(self, value: Any) -> bool:
        """Whether the type of the value has the methods: a table may have columns of that name."""
        kind = type(value)
        return not isinstance(value, type) and all(hasattr(kind, name) for name in self._methods)

    def __str__(self) -> str:
        return self._words


class _Zero(Options):
    """The number 0, beside an interval that begins later."""

    def __str__(self) -> str:
        return "0"


def whole(low: int, high: int | None = None) -> Interval:
    """Return the constraint "an integer from low to high"."""
    return _Number(Integral, low, high, closed="left" if high is None else "both")


def number(low: float, high: float | None = None, closed: str = "both") -> Interval:
    """Return the constraint "a number from low to high"; ``closed``: which ends belong to it."""
    if high is None:
        closed = "left" if closed == "both" else "neither"
    return _Number(Real, low, high, closed=closed)


def one_of(choices: Sequence[str]) -> StrOptions:
    """Return the constraint "one of these strings"."""
    return _OneOf(choices)


ZERO = _Zero(int, {0})
# joblib reads no larger numbers.
MAX_JOBS = 1_000_000
BOOLEAN = ["boolean"]
TEXT = [str, None]
TEXTS = [str, _Texts(), None]
FUNCTION_OR_NONE = [_Function(), None]
PATH, PATH_OR_NONE = [_Path()], [_Path(), None]
SEED = ["random_state"]
JOBS = [whole(-MAX_JOBS, -1), whole(1, MAX_JOBS), None]


def check_value(name: str, value: Any, constraints: Constraints) -> None:
    """Raise an error that says what a value must be, unless one of the constraints holds."""
    if value is None and None in constraints:
        return
    for constraint in constraints:
        if as_constraint(constraint).is_satisfied_by(value):
            return
    allowed = [str(as_constraint(constraint)) for constraint in constraints]
    listed = allowed[0] if len(allowed) == 1 else f"{', '.join(allowed[:-1])} or {allowed[-1]}"
    raise InvalidParameterError(f"{name} must be {listed}. Got {value_text(value)} instead.")


@functools.cache
def as_constraint(constraint: Any) -> Any:
    """Return a constraint as an object that judges values, from its short form."""
    return constraint if hasattr(constraint, "is_satisfied_by") else make_constraint(constraint)


def check_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator by its ``_parameter_constraints``."""
    for name, constraints in estimator._parameter_constraints.items():
        check_value(name, getattr(estimator, name), constraints)


def checked(
    **constraints: Constraints,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Check arguments of a function before it starts. An argument that is not given is not."""

    def check_arguments(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            check_arguments_of(signature.bind(*args, **kwargs).arguments, constraints)
            return function(*args, **kwargs)

        call._parameter_constraints = constraints  # type: ignore[attr-defined]
        return call

    return check_arguments


def check_arguments_of(given: Mapping[str, Any], constraints: Mapping[str, Constraints]) -> None:
    """Check the arguments that are given."""
    for name, allowed in constraints.items():
        if name in given:
            check_value(name, given[name], allowed)

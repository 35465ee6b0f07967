"""Estimators whose parameters are declared once: signature and docstring follow from them."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from hocmim.parameters import Parameter


class DeclaredParameters:
    """Gives a class the ``__init__`` that its ``parameters`` declare.

    Required parameters and the first of the others may be given by position. As scikit-learn asks,
    ``__init__`` sets attributes and nothing else; ``check_parameters`` checks the values.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "parameters" in vars(cls):
            cls.__init__ = init_of(cls.parameters)  # type: ignore[method-assign]

    def check_parameters(self) -> None:
        """Raise an error that says what a parameter must be, unless all values are allowed."""
        for parameter in self.parameters:
            parameter.check(getattr(self, parameter.name))


def init_of(parameters: Sequence[Parameter]) -> Callable[..., None]:
    """Return an ``__init__`` that sets one attribute for each parameter."""
    by_position = inspect.Parameter.POSITIONAL_OR_KEYWORD
    arguments = [inspect.Parameter("self", by_position)]
    n_required = sum(parameter.is_required for parameter in parameters)
    for number, parameter in enumerate(parameters):
        kind = by_position if number <= n_required else inspect.Parameter.KEYWORD_ONLY
        default = inspect.Parameter.empty if parameter.is_required else parameter.default
        arguments.append(inspect.Parameter(parameter.name, kind, default=default))
    signature = inspect.Signature(arguments)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for parameter in parameters:
            setattr(self, parameter.name, bound.arguments[parameter.name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def add_parameters(kind: type, parameters: Sequence[Parameter]) -> None:
    """Add keyword parameters to the ``__init__``, the signature and the docstring of a class."""
    own = kind.__init__  # type: ignore[misc]
    before = inspect.signature(own)
    more = [
        inspect.Parameter(parameter.name, inspect.Parameter.KEYWORD_ONLY, default=parameter.default)
        for parameter in parameters
    ]

    @functools.wraps(own)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        for parameter in parameters:
            setattr(self, parameter.name, kwargs.pop(parameter.name, parameter.default))
        own(self, *args, **kwargs)

    signature = before.replace(parameters=[*before.parameters.values(), *more])
    __init__.__signature__ = signature  # type: ignore[attr-defined]
    kind.__init__ = __init__  # type: ignore[misc]
    text, title, rest = inspect.cleandoc(kind.__doc__ or "").partition("\n\nAttributes\n")
    entries = parameters_section(parameters).partition("----------\n")[2]
    kind.__doc__ = f"{text}\n{entries}{title}{rest}"


def parameters_section(parameters: Sequence[Parameter]) -> str:
    """Return the section "Parameters" of a docstring."""
    entries = [
        f"{parameter.name} : {parameter.type}\n{textwrap.indent(_wrapped(parameter.doc), '    ')}"
        for parameter in parameters
    ]
    return "Parameters\n----------\n" + "\n".join(entries)


def _wrapped(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 92, break_long_words=False, break_on_hyphens=False)

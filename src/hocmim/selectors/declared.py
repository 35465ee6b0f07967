"""Estimators whose parameters are declared once: signature and docstring follow from them."""

from __future__ import annotations

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


def parameters_section(parameters: Sequence[Parameter]) -> str:
    """Return the section "Parameters" of a docstring."""
    entries = [
        f"{parameter.name} : {parameter.type}\n{textwrap.indent(_wrapped(parameter.doc), '    ')}"
        for parameter in parameters
    ]
    return "Parameters\n----------\n" + "\n".join(entries)


def _wrapped(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 92, break_long_words=False, break_on_hyphens=False)

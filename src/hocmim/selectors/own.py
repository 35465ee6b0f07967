"""A selector from a criterion of the user, named as ``module:Class``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hocmim.criteria.base import Criterion
from hocmim.errors import InvalidParameterError
from hocmim.selectors.base import RankingSelector
from hocmim.selectors.methods import CriterionSelector
from hocmim.text import did_you_mean


def make_own(name: str, parameters: dict[str, Any]) -> RankingSelector:
    """Return the selector of a class of the user.

    Parameters
    ----------
    name : str
        ``module:Class``; the class is a Criterion or a selector.
    parameters : dict
        Those that ``CriterionSelector`` has; the others are arguments of the criterion.
    """
    kind = _load(name)
    if issubclass(kind, RankingSelector):
        return _call(kind, name, parameters)
    of_selector = {parameter.name for parameter in CriterionSelector.parameters}
    own = {key: value for key, value in parameters.items() if key not in of_selector}
    common = {key: value for key, value in parameters.items() if key in of_selector}
    return CriterionSelector(_call(kind, name, own), **common)


def _load(name: str) -> type:
    """Import the class of a name."""
    module, _, class_name = name.partition(":")
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise InvalidParameterError(
            f"There is no module {module!r}, for the method {name!r}. Run the command in the "
            "folder of the module, or set PYTHONPATH."
        ) from error
    kind = getattr(found, class_name, None)
    classes = [key for key, value in vars(found).items() if isinstance(value, type)]
    if not isinstance(kind, type):
        raise InvalidParameterError(
            f"There is no class {class_name!r} in the module {module!r}."
            f"{did_you_mean(class_name, classes)}"
        )
    if not issubclass(kind, (Criterion, RankingSelector)):
        raise InvalidParameterError(
            f"{name} must be a subclass of hocmim.Criterion, or a selector of hocmim."
        )
    return kind


def _call(kind: type, name: str, arguments: dict[str, Any]) -> Any:
    try:
        return kind(**arguments)
    except TypeError as error:
        raise InvalidParameterError(f"{name}: {error}.") from error

"""Every selector by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hocmim.criteria.base import Criterion
from hocmim.errors import InvalidParameterError, check_installed
from hocmim.selectors import methods
from hocmim.selectors.base import Selector
from hocmim.selectors.filters.fisher import FisherScore
from hocmim.selectors.filters.gini import GiniIndex
from hocmim.selectors.filters.ilfs import ILFS
from hocmim.selectors.filters.kruskal import KruskalWallis
from hocmim.selectors.filters.nca import NCA
from hocmim.selectors.filters.ols import FSOLS
from hocmim.selectors.filters.relieff import ReliefF
from hocmim.selectors.methods import CriterionSelector
from hocmim.text import did_you_mean, value_text

_INFORMATION = [kind for kind in vars(methods).values() if getattr(kind, "method_name", "")]
_FILTERS = [FSOLS, FisherScore, GiniIndex, ILFS, KruskalWallis, NCA, ReliefF]

# The information-theoretic methods in alphabetical order, then the filters.
METHODS: dict[str, type[Selector]] = {
    kind.method_name: kind
    for kind in [*sorted(_INFORMATION, key=lambda kind: kind.method_name.casefold()), *_FILTERS]
}
_ALIASES = {alias: name for name, kind in METHODS.items() for alias in kind.method_aliases}


def list_methods() -> list[str]:
    """Return the names of all selectors, as ``make_selector`` takes them.

    Examples
    --------
    >>> import hocmim
    >>> hocmim.list_methods()[:3]
    ['BetaGamma', 'CIFE', 'CMI']
    """
    return list(METHODS)


def find_name(name: Any) -> str:
    """Return the method of that name; capitals, hyphens, underscores and spaces do not matter."""
    known = {_plain(method): method for method in METHODS}
    known |= {_plain(alias): method for alias, method in _ALIASES.items()}
    method = known.get(_plain(name)) if isinstance(name, str) else None
    if method is None:
        hint = did_you_mean(name, [*METHODS, *_ALIASES]) if isinstance(name, str) else ""
        raise InvalidParameterError(
            f"There is no method {value_text(name)}.{hint} The methods are {', '.join(METHODS)}."
        )
    return method


def _plain(name: str) -> str:
    """Return the letters and digits of a name, in small letters."""
    return "".join(c for c in name.casefold() if c.isalnum())


def make_selector(name: str, **parameters: Any) -> Selector:
    """Return the selector of that name.

    Parameters
    ----------
    name : str
        One of ``list_methods()``. Capitals, hyphens, underscores and spaces do not matter. Or
        ``module:Class``, a criterion of your own: parameters that the selector does not have are
        those of the class.
    **parameters
        Parameters of the selector, such as ``n_features_to_select``.

    Examples
    --------
    >>> import hocmim
    >>> hocmim.make_selector("jmi-3", n_features_to_select=5)
    JMI3(n_features_to_select=5)
    """
    if isinstance(name, str) and ":" in name:
        return _make_own(name, parameters)
    method = find_name(name)
    kind = METHODS[method]
    check_installed(f"{method} needs", *kind.needed_packages)
    allowed = kind._get_param_names()
    for parameter in parameters:
        if parameter not in allowed:
            raise InvalidParameterError(
                f"{method} has no parameter {parameter!r}.{did_you_mean(parameter, allowed)} "
                f"It has {', '.join(allowed)}."
            )
    return kind(**parameters)


def _make_own(name: str, parameters: dict[str, Any]) -> Selector:
    """Return the selector of a class of the user, named as ``module:Class``."""
    kind = load_class(name)
    if issubclass(kind, Selector):
        return make_instance(kind, name, parameters)
    if not issubclass(kind, Criterion):
        raise InvalidParameterError(
            f"{name} must be a subclass of hocmim.Criterion, or a selector of hocmim."
        )
    of_selector = set(CriterionSelector._get_param_names())
    own = {key: value for key, value in parameters.items() if key not in of_selector}
    common = {key: value for key, value in parameters.items() if key in of_selector}
    return CriterionSelector(make_instance(kind, name, own), **common)


def load_class(name: str) -> type[Any]:
    """Import the class of a name, ``module:Class``."""
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
    return kind


def make_instance(kind: type[Any], name: str, arguments: dict[str, Any]) -> Any:
    """Call the class; wrong arguments are an error that names it."""
    try:
        return kind(**arguments)
    except TypeError as error:
        raise InvalidParameterError(f"{name}: {error}.") from error

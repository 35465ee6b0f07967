"""Every selector by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from hocmim.errors import InvalidParameterError, check_installed
from hocmim.selectors import filters
from hocmim.selectors.base import RankingSelector
from hocmim.selectors.methods import selector_class
from hocmim.selectors.names import find_methods, find_name
from hocmim.selectors.own import make_own
from hocmim.text import did_you_mean


def _filters() -> dict[str, type[RankingSelector]]:
    """The filters by the names they declare."""
    names = [found.name for found in iter_modules(filters.__path__)]
    modules = [import_module(f"{filters.__name__}.{name}") for name in names]
    kinds = [
        kind
        for module in modules
        for kind in vars(module).values()
        if issubclass(type(kind), type)  # isinstance would load a module that is loaded lazily
        and issubclass(kind, RankingSelector)
        and kind.method_name
    ]
    return {kind.method_name: kind for kind in sorted(kinds, key=lambda kind: kind.method_name)}


class _Selectors(Mapping[str, type[RankingSelector]]):
    """The information-theoretic methods, then the filters, each in alphabetical order.

    The class of a method is made when it is first used: scikit-learn inspects every class for
    milliseconds.
    """

    def __init__(self) -> None:
        self._methods = {method.name: method for method in find_methods()}
        self._filters = _filters()
        self._made: dict[str, type[RankingSelector]] = {}
        self.aliases = {alias: m.name for m in self._methods.values() for alias in m.aliases} | {
            alias: name for name, kind in self._filters.items() for alias in kind.method_aliases
        }

    def __getitem__(self, name: str) -> type[RankingSelector]:
        if name in self._filters:
            return self._filters[name]
        if name not in self._made:
            self._made[name] = selector_class(self._methods[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._methods, *self._filters])

    def __len__(self) -> int:
        return len(self._methods) + len(self._filters)


METHODS = _Selectors()


def selectors_by_class_name() -> dict[str, type[RankingSelector]]:
    """Return every selector by the name of its class."""
    return {kind.__name__: kind for kind in METHODS.values()}


def list_methods() -> list[str]:
    """Return the names of all selectors, as ``make_selector`` takes them.

    Examples
    --------
    >>> import hocmim
    >>> hocmim.list_methods()[:3]
    ['BetaGamma', 'CIFE', 'CMI']
    """
    return list(METHODS)


def make_selector(name: str, **parameters: Any) -> RankingSelector:
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
        return make_own(name, parameters)
    method = find_name(name, list(METHODS), METHODS.aliases)
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

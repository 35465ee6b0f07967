"""The names of the methods, found without importing scikit-learn.

A wrong name is answered at once: the command line checks it before anything large is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from hocmim import criteria
from hocmim.criteria.method import Method
from hocmim.errors import InvalidParameterError
from hocmim.selectors import filters
from hocmim.text import did_you_mean, value_text


def find_methods() -> list[Method]:
    """Return the methods of all files in ``criteria``, in the order of their names."""
    modules = [
        import_module(f"{criteria.__name__}.{found.name}")
        for found in iter_modules(criteria.__path__)
    ]
    methods = [method for module in modules for method in getattr(module, "METHODS", ())]
    return sorted(methods, key=lambda method: method.name.casefold())


def method_names() -> tuple[list[str], dict[str, str]]:
    """Return the names of all methods as ``list_methods`` does, and their other names."""
    methods = find_methods()
    names = [method.name for method in methods]
    aliases: dict[str, str] = {}
    for method in methods:
        aliases |= dict.fromkeys(method.aliases, method.name)
    for name, others in sorted(_filters()):
        names.append(name)
        aliases |= dict.fromkeys(others, name)
    return names, aliases


def _filters() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Read the names of the filters in their source: their classes are scikit-learn's."""
    for folder in map(Path, filters.__path__):
        for file in folder.glob("*.py"):
            for kind in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(kind, ast.ClassDef):
                    values = dict(_constants(kind))
                    if values.get("method_name"):
                        yield values["method_name"], values.get("method_aliases", ())


def _constants(kind: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    """Yield the names of a method that a class assigns."""
    for statement in kind.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if name in ("method_name", "method_aliases"):
                yield name, ast.literal_eval(statement.value)


def find_name(name: Any, names: Sequence[str], aliases: Mapping[str, str]) -> str:
    """Return the method of that name; capitals, hyphens, underscores and spaces do not matter."""
    known = {_plain(method): method for method in names}
    known |= {_plain(alias): method for alias, method in aliases.items()}
    method = known.get(_plain(name)) if isinstance(name, str) else None
    if method is None:
        hint = did_you_mean(name, [*names, *aliases]) if isinstance(name, str) else ""
        raise InvalidParameterError(
            f"There is no method {value_text(name)}.{hint} The methods are {', '.join(names)}."
        )
    return method


def _plain(name: str) -> str:
    """Return the letters and digits of a name, in small letters."""
    return "".join(c for c in name.casefold() if c.isalnum())

"""The methods of a comparison: names, each with parameters of its own in parentheses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hocmim.cli.checks import check_methods
from hocmim.cli.values import read_parameter
from hocmim.errors import InvalidParameterError
from hocmim.text import did_you_mean


def make_variants(texts: Sequence[str], k: Any, common: Mapping[str, Any]) -> dict[str, Any]:
    """Return the selectors to compare, by the names to show.

    Parameters
    ----------
    texts : sequence of str
        Each a list such as ``MIM, HOCMIM(max_order=3), HOCMIM(max_order=5)``.
    k : int, float, "auto" or None
        How many features to select.
    common : mapping of str to value
        Parameters for every method that has them; an error if no method has.
    """
    from hocmim.selectors.registry import make_selector  # takes long to import

    found: dict[str, Any] = {}
    unused: set[str] = set(common)
    known: set[str] = set()
    for text in texts:
        for name, own in _split(text):
            names = set(make_selector(name).get_params()) if ":" not in name else set(common)
            given = {key: value for key, value in common.items() if key in names}
            selector = make_selector(name, **({"n_features_to_select": k} | given | own))
            unused, known = unused - names, known | names
            title = selector.display_name + _shown(own)
            if title in found:
                raise InvalidParameterError(f"{title} is listed twice. Remove one of the two.")
            found[title] = selector
    for name in sorted(unused):
        raise InvalidParameterError(
            f"None of the methods has a parameter {name!r}.{did_you_mean(name, known)}"
        )
    return found


def check_names(texts: Sequence[str]) -> None:
    """Raise an error if there is no method of a name, before anything large is imported."""
    check_methods(*(name for text in texts for name, _ in _split(text)))


def _split(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Split at the commas outside parentheses; yield names and parameters."""
    depth, part = 0, ""
    for character in f"{text},":
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth <= 0:
            if part.strip():
                yield _read(part.strip())
            part = ""
        else:
            part += character
    if part:
        raise InvalidParameterError(f"A parenthesis is not closed in {text!r}.")


def _read(text: str) -> tuple[str, dict[str, Any]]:
    """Read a name, or ``name(parameter=value, …)``."""
    name, opening, rest = text.partition("(")
    if not opening:
        return text, {}
    if not rest.endswith(")"):
        raise InvalidParameterError(f"{text!r} is not of the form NAME(parameter=value).")
    return name.strip(), dict(read_parameter(part.strip()) for part in rest[:-1].split(","))


def _shown(own: Mapping[str, Any]) -> str:
    parts = ",".join(f"{name}={value}" for name, value in own.items())
    return f"({parts})" if parts else ""

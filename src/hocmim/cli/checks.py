"""Checks of options that import nothing large, so that an error is shown at once."""

from __future__ import annotations

from hocmim.cli.options import Settings
from hocmim.defaults import COMPARED_METHODS, DEFAULT_K
from hocmim.errors import InvalidParameterError
from hocmim.text import count


def check_methods(*names: str) -> None:
    """Raise an error if there is no method of a name; those of the user are checked later."""
    unknown = [name for name in names if ":" not in name and name not in COMPARED_METHODS]
    if not unknown:
        return
    from hocmim.selectors.names import find_name, method_names

    known = method_names()
    for name in unknown:
        find_name(name, *known)


def check_estimator(name: str | None) -> None:
    """Raise an error if there is no estimator of that name."""
    from hocmim.information.estimators import estimator_by_name

    if name is not None:
        estimator_by_name(name)


def how_many(k: int | float | str | None, n_features: int) -> int | float | str | None:
    """Return how many features to select; an error if there are fewer."""
    if k == "cv":
        raise InvalidParameterError("-k cv is for hocmim select. Pass a number, or auto.")
    if k is None:
        return min(DEFAULT_K, n_features)
    if isinstance(k, int) and k > n_features:
        raise InvalidParameterError(
            f"-k is {k}, but there are only {count(n_features, 'feature')}."
        )
    return k


def count_features(settings: Settings, names: list[str]) -> int:
    """Return how many features there are; a group of columns is one."""
    return len(names) - sum(len(columns) - 1 for _, columns in settings.group)


def check_number(settings: Settings, names: list[str]) -> None:
    """Raise an error if there are fewer features than -k."""
    if settings.fdr is None and settings.k != "cv":
        how_many(settings.k, count_features(settings, names))

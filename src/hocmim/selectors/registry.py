"""Every selector by name."""

from __future__ import annotations

import difflib
from typing import Any

from hocmim.errors import InvalidParameterError
from hocmim.selectors import comparators, filters
from hocmim.selectors.base import RankingSelector
from hocmim.selectors.information import HOCMIM

# The names of the paper, in its order: information first, then the filters.
METHODS: dict[str, type[RankingSelector]] = {
    "HOCMIM": HOCMIM,
    "CMIM": comparators.CMIM,
    "JMI": comparators.JMI,
    "DISR": comparators.DISR,
    "mRMR": comparators.MRMR,
    "Relax-mRMR": comparators.RelaxMRMR,
    "CMICOT": comparators.CMICOT,
    "JMI-3": comparators.JMI3,
    "JMI-4": comparators.JMI4,
    "CMIM-3": comparators.CMIM3,
    "CMIM-4": comparators.CMIM4,
    "MIM": comparators.MIM,
    "MIFS": comparators.MIFS,
    "CIFE": comparators.CIFE,
    "ICAP": comparators.ICAP,
    "JMIM": comparators.JMIM,
    "CMI": comparators.CMI,
    "BetaGamma": comparators.BetaGamma,
    "Fisher": filters.FisherScore,
    "Gini": filters.GiniIndex,
    "Kruskal-Wallis": filters.KruskalWallis,
    "ReliefF": filters.ReliefF,
    "NCA": filters.NCA,
    "ILFS": filters.ILFS,
    "FS-OLS": filters.FSOLS,
}

# What else people call them.
ALIASES = {
    "maximum relevance": "MIM",
    "minimum redundancy maximum relevance": "mRMR",
    "beta-gamma family": "BetaGamma",
    "Fisher score": "Fisher",
    "Gini index": "Gini",
    "Kruskal": "Kruskal-Wallis",
    "OLS": "FS-OLS",
}


def selectors_by_class_name() -> dict[str, type[RankingSelector]]:
    """Every selector by the name of its class."""
    return {kind.__name__: kind for kind in METHODS.values()}


def list_methods() -> list[str]:
    """Return the names of all selectors, as ``make_selector`` takes them.

    Examples
    --------
    >>> import hocmim
    >>> hocmim.list_methods()[:3]
    ['HOCMIM', 'CMIM', 'JMI']
    """
    return list(METHODS)


def make_selector(name: str, **parameters: Any) -> RankingSelector:
    """Return the selector of that name.

    Parameters
    ----------
    name : str
        One of ``list_methods()``. Capitals, hyphens, underscores and spaces do not matter.
    **parameters
        Parameters of the selector, such as ``n_features_to_select``.

    Examples
    --------
    >>> import hocmim
    >>> hocmim.make_selector("jmi-3", n_features_to_select=5)
    JMI3(n_features_to_select=5)
    """
    known = {_plain(method): method for method in METHODS}
    known |= {_plain(alias): method for alias, method in ALIASES.items()}
    method = known.get(_plain(name)) if isinstance(name, str) else None
    if method is None:
        raise InvalidParameterError(_unknown(name, known))
    kind = METHODS[method]
    allowed = kind._get_param_names()
    for parameter in parameters:
        if parameter not in allowed:
            raise InvalidParameterError(
                f"{method} has no parameter {parameter!r}. It has {', '.join(allowed)}."
            )
    return kind(**parameters)


def _plain(name: str) -> str:
    """The letters and digits of a name, in small letters."""
    return "".join(c for c in name.casefold() if c.isalnum())


def _unknown(name: Any, known: dict[str, str]) -> str:
    near = difflib.get_close_matches(_plain(name), known, n=3) if isinstance(name, str) else []
    nearest = list(dict.fromkeys(known[plain] for plain in near))
    hint = f"Did you mean {' or '.join(map(repr, nearest))}? " if nearest else ""
    return f"There is no method {name!r}. {hint}The methods are {', '.join(METHODS)}."

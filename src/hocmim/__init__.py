"""hocmim: feature selection by high-order conditional mutual information.

The public names are imported when they are first used (PEP 562): ``import hocmim`` and
``hocmim --help`` do not wait for scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Public names that are not selectors, by the module that defines them.
_MODULE_OF = {
    "Criterion": "criteria.base",
    "CriterionSelector": "selectors.methods",
    "DataWarning": "errors",
    "Encoder": "coding.encoder",
    "Joint": "information.counting",
    "SelectorCV": "selectors.cv",
    "StabilitySelector": "selectors.stability",
    "TextConverter": "data.converter",
    "cluster_columns": "insight.relations.clusters",
    "cmi": "information.functions",
    "compare_methods": "experiments.compare",
    "convert_text": "data.converter",
    "data_notes": "insight.notes",
    "describe_columns": "insight.columns",
    "encode": "coding.encoder",
    "entropy": "information.functions",
    "fingerprint": "insight.report.fingerprint",
    "list_methods": "selectors.registry",
    "load": "selectors.loading",
    "make_selector": "selectors.registry",
    "mi": "information.functions",
    "one_per_cluster": "insight.relations.clusters",
    "stability_index": "selectors.stability",
    "write_report": "insight.report.page",
}


def _selectors() -> dict[str, type]:
    """The selectors by the name of their class."""
    from sklearn.feature_selection import SelectorMixin

    SelectorMixin.register(import_module("hocmim.selectors.base").RankingSelector)
    return import_module("hocmim.selectors.registry").selectors_by_class_name()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("hocmim")
    if name == "__all__":
        return sorted([*_MODULE_OF, *_selectors(), "__version__"])
    if name in _MODULE_OF:
        value = getattr(import_module(f"hocmim.{_MODULE_OF[name]}"), name)
    elif name[:1].isupper() and name in (selectors := _selectors()):
        value = selectors[name]
    else:
        raise AttributeError(f"module 'hocmim' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), *globals()])

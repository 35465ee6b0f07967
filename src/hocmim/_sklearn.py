"""The base classes of scikit-learn; ``_sklearn.pyi`` gives them types, which scikit-learn has not.

Without types a class that inherits from them has every attribute for a type checker, and no
misspelled name is found.
"""

from __future__ import annotations

from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin
from sklearn.feature_selection import SelectorMixin

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:
        """Callbacks of ``fit``, which this version of scikit-learn does not have."""

    def with_callbacks(fit):
        """Return ``fit``: this version of scikit-learn has no callbacks."""
        return fit


__all__ = [
    "BaseEstimator",
    "CallbackSupportMixin",
    "MetaEstimatorMixin",
    "SelectorMixin",
    "TransformerMixin",
    "with_callbacks",
]

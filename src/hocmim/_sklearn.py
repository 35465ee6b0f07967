"""The base classes of scikit-learn; ``_sklearn.pyi`` gives them types, which scikit-learn has not.

Without types a class that inherits from them has every attribute for a type checker, and no
misspelled name is found.
"""

from __future__ import annotations

from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin
from sklearn.feature_selection import SelectorMixin

__all__ = [
    "BaseEstimator",
    "MetaEstimatorMixin",
    "SelectorMixin",
    "TransformerMixin",
]

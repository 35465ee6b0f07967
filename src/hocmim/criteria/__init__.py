"""Criteria: what a candidate column is worth, given the columns selected so far."""

from hocmim.criteria.base import Criterion

__all__ = ["Criterion"]

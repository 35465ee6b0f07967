"""What a criterion is: a score for each candidate column of a block, given the selected columns.

A criterion of your own is a class like this one, here J(X) = I(X;Y) − max_{j∈S} I(X;X_j)::

    class WorstRedundancy(Criterion):
        def start(self, block, y):
            super().start(block, y)
            self.worst = np.zeros(block.n_columns)
            return self.relevance

        def update(self, newest):
            super().update(newest)
            self.worst = np.maximum(self.worst, self.terms.information(Joint.of([newest])))

        def scores(self):
            return self.relevance - self.worst

It works with the same search, engines and estimators as the criteria of the package.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.criteria.cost import PerCostSearch
from hocmim.criteria.searches import SearchPlan
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.information.estimators import SECOND_ORDER_ESTIMATOR, estimator_by_name


class Criterion(ABC):
    """Scores the candidate columns of one block; keeps its own state there.

    Parameters
    ----------
    estimator : str
        How information is estimated from counts; one of ``ESTIMATORS``.

    Attributes
    ----------
    terms : BlockTerms
        The information terms of this block's columns.
    relevance : ndarray
        I(X;Y) of each column.
    selected : list of Column
        The columns selected so far, in order.
    is_candidate : ndarray of bool
        Which columns of the block are not selected yet.
    """

    # How the best candidate is found. The default computes every score.
    plan: SearchPlan = SearchPlan()
    # Whether ``describe`` gives an order and a representative set.
    has_representative_sets: bool = False
    # What the scores are measured in.
    unit = "nats"
    # Whether pairs and triples of columns are candidates: False, True or "auto" (if affordable).
    interactions: bool | str = False
    # False for a criterion that scores a copy of a selected column like any other column.
    sees_redundancy = True

    _on_terms: Callable[[int], None] | None = None

    def __init__(self, estimator: str = SECOND_ORDER_ESTIMATOR) -> None:
        estimator_by_name(estimator)
        self.estimator = estimator

    def copy(self, on_terms: Callable[[int], None] | None = None) -> Self:
        """Return a fresh copy for another block.

        ``on_terms`` is called with the number of terms after each call of a kernel; it may raise.
        """
        fresh = copy.copy(self)
        fresh._on_terms = on_terms
        return fresh

    def per_cost(self, costs: Values) -> Self:
        """Return a copy whose best candidate has the largest J per unit of cost.

        ``costs`` are those of every column of the table. The scores do not change.
        """
        fresh = self.copy()
        fresh.plan = replace(self.plan, search=partial(PerCostSearch, costs=costs))
        return fresh

    def expect(self, n_select: int) -> None:  # noqa: B027 (optional)
        """Take note that at most so many columns will be selected."""

    def start(self, block: Codes, y: Column) -> Values:
        """Take a block and the target; return the relevance of each column."""
        self.terms = BlockTerms(block, Joint.of([y]), self.estimator, self._on_terms)
        self.selected: list[Column] = []
        self.is_candidate: NDArray[np.bool_] = np.ones(block.n_columns, bool)
        self._first_index = block.start
        self.relevance = self.terms.relevance()
        return self.relevance

    def update(self, newest: Column) -> None:
        """Take the newest selected column into account."""
        self.selected.append(newest)
        position = newest.index - self._first_index
        if 0 <= position < len(self.is_candidate):
            self.is_candidate[position] = False

    @abstractmethod
    def scores(self) -> Values:
        """J of each column. The score of a column that is already selected does not matter."""

    def upper_bounds(self) -> Values | None:
        """Return bounds on the scores that take less work than the scores; None without such."""
        return None

    def scores_of(self, positions: NDArray[np.intp]) -> Values:
        """Return J of some columns; for criteria with ``upper_bounds``."""
        return self.scores()[positions]

    def describe(self, position: int) -> dict[str, Any]:
        """Return what else there is to say about a column at the moment it is selected."""
        return {}

    def of_sets(self) -> Criterion:
        """Return the criterion of pairs and triples of columns, if ``interactions`` asks for it."""
        return self

    def n_terms(self, n_select: int) -> int:
        """Return the most terms a candidate needs to select that many columns; 0 if unknown."""
        return 0

    def count_terms(self, n_terms: int) -> None:
        """Report terms that were not computed by ``self.terms``; may raise to stop the work."""
        if self._on_terms is not None:
            self._on_terms(n_terms)

"""What a criterion is: a score for each candidate column of a block, given those selected so far.

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

It runs under the same search, engines and estimators as those that come with the package.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.information.estimators import estimator_by_name

# One term a candidate on bit planes, in all or a step: measured, docs/performance.md.
FIRST_ORDER_WORTH_THREADS = 100_000_000
SECOND_ORDER_WORTH_THREADS = 4_000_000


def comparison_key(values: ArrayLike) -> Values:
    """Round to 12 decimals: only then are two values compared."""
    return np.rint(np.asarray(values) * 1e12)


class Best(NamedTuple):
    """The best candidate of a block: its comparison key, its position there and its score."""

    key: float
    position: int
    score: float


class Floor:
    """The largest key found in this step by any block: a candidate below it cannot be selected.

    Blocks on different threads share one. It spares work and never changes a result.
    """

    def __init__(self) -> None:
        self.key = -np.inf

    def rise(self, key: float) -> None:
        """Note that a candidate of this key was found (a lost race leaves a lower floor)."""
        self.key = max(self.key, key)


class Contest(Protocol):
    """One look for the best open column of several blocks, by any number of threads."""

    def work(self) -> None:
        """Take part, until there is nothing left to do."""

    def winner(self) -> tuple[int, int, float] | None:
        """Return the block, position and score of the best, or −1 for no block.

        None if it cannot be told this way.
        """


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
    open : ndarray of bool
        Which columns of the block can still be selected; one may be closed and opened again.
    on_terms : callable or None
        Set by an engine: called with the number of terms after each call of a kernel; may raise.
    floor : Floor or None
        Set by an engine: ``best`` may return None if no column reaches it.
    """

    # False for a criterion that would take a copy of a selected column as gladly as any other.
    sees_redundancy = True
    # More than one where some blocks may have much more to do than others.
    blocks_per_thread = 1
    # Samples times columns below which a step is over before a second thread has begun.
    worth_threads = 0

    on_terms: Callable[[int], None] | None = None
    floor: Floor | None = None
    # The keys of the scores: the runner-up of a step is looked for among the same.
    _keys: Values | None = None

    def __init__(self, estimator: str = "plugin") -> None:
        estimator_by_name(estimator)
        self.estimator = estimator

    def spawn(self) -> Self:
        """Return a fresh copy for another block."""
        return copy.copy(self)

    def start(self, block: Codes, y: Column) -> Values:
        """Take a block and the target; return the relevance of each column."""
        self.terms = BlockTerms(block, Joint.of([y]), self.estimator, self.on_terms)
        self.selected: list[Column] = []
        self.open: NDArray[np.bool_] = np.ones(block.n_columns, bool)
        self.relevance = self.terms.relevance()
        self._keys = None
        return self.relevance

    def update(self, newest: Column) -> None:
        """Absorb the newest selected column."""
        self.selected.append(newest)
        self._keys = None

    @abstractmethod
    def scores(self) -> Values:
        """J of each column; what it says of a column already selected does not matter."""

    def best(self) -> Best | None:
        """Return the best open column; among equals the first.

        None if no column is open, or if a lazy criterion finds that none reaches the floor.
        """
        if not self.open.any():
            return None
        if self._keys is None:
            self._scores = self.scores()
            self._keys = comparison_key(self._scores)
        position = int(np.argmax(np.where(self.open, self._keys, -np.inf)))
        return Best(float(self._keys[position]), position, float(self._scores[position]))

    @classmethod
    def contest(
        cls, criteria: Sequence[Any], run: Callable[..., Any], n_best: int
    ) -> Contest | None:
        """Return a contest between all blocks of a table, if there is a better way than ``best``.

        ``criteria`` are those of the blocks; ``run`` is a ``map`` that may use threads; so many of
        the best are asked for one after the other.
        """
        return None

    def describe(self, position: int) -> dict[str, Any]:
        """What else there is to say of a column at the moment it is selected."""
        return {}

    def n_terms(self, n_select: int) -> int:
        """Return the most terms a candidate needs to select that many columns; 0 if unknown."""
        return 0

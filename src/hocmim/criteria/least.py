"""The least of many terms: scores that only fall, and so need not all be computed."""

from __future__ import annotations

from math import comb
from typing import ClassVar

import numpy as np

from hocmim import _native
from hocmim._native import Term
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Best, Criterion, comparison_key
from hocmim.criteria.subsets import n_subset_terms
from hocmim.information.counting import MOST_POPCOUNTS, Joint, Values, native_list

# Cells are formed once for all candidates that meet a subset together: this many at a time.
CHUNK = 32
# Samples a call of the kernel counts at most, so that work can be stopped in between.
SAMPLES_PER_CALL = 1 << 24
# Lazy evaluation of one column at a time leaves a step less to do than a thread costs.
LAZY_WORTH_THREADS = 100_000_000


class LeastTermCriterion(Criterion):
    """J(X) = min over T ⊆ S with |T| = size of a term of X and T; T = S while |S| < size.

    A subset that comes to be can only lower the score. So what a candidate scored before is a
    bound, and one whose bound is below the best exact score is left as it is: it remembers how many
    subsets it has met, and meets the others when its bound comes to lead. The result, ties
    included, is the same as if every score were computed.
    """

    blocks_per_thread = 4
    term: ClassVar[Term]  # of the terms of (X,T) and Y: conditional or joint

    def __init__(self, size: int, estimator: str) -> None:
        super().__init__(estimator)
        self.size = size

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with the relevance."""
        self.least = super().start(block, y).copy()
        self._selected = native_list([], block.n_samples)
        self._n_subsets = 0
        self._n_met = np.zeros(block.n_columns, np.int64)
        target = self.terms.y
        self._subsets = _native.LeastTerms(
            self.terms.columns,
            self._selected,
            self.size,
            target.cells,
            target.n_cells,
            self.term,
            self.terms.estimator,
        )
        self._by_planes = self.size == 1 and self.estimator != "jeffreys"
        if self._by_planes:
            # Of its own: the bounds ask for one candidate and condition after another.
            self._subsets.use_planes(self.terms.plane_terms(target), MOST_POPCOUNTS)
        self._subsets.restart(self.least)
        return self.relevance

    def update(self, newest: Column) -> None:
        """Note the newest column; the terms of its subsets are computed when they are needed."""
        super().update(newest)
        self._selected.append(newest.codes, newest.arity)
        if self._by_planes:
            self._subsets.append_masks(Joint.of([newest]).masks)
        n_selected = len(self.selected)
        self._n_subsets = comb(n_selected, self.size)
        if n_selected <= self.size:  # one subset, S: scores may rise
            everything = Joint.of(self.selected)
            is_joint = self.term == Term.joint
            self.least = (self.terms.joint if is_joint else self.terms.conditional)(everything)
            self._n_met[:] = self._n_subsets
            self._subsets.restart(self.least)

    def scores(self) -> Values:
        """The exact score of every open candidate."""
        candidates, n_terms = np.flatnonzero(self.open), 1
        while n_terms > 0:
            n_terms = self._subsets.meet(
                candidates, self._n_met, self.least, -np.inf, self._terms_a_call
            )
            self._tell(n_terms)
        return self.least

    def best(self) -> Best | None:
        """Return the best open candidate, computing no more terms than that takes."""
        position = self._subsets.unfinished
        while position == self._subsets.unfinished:
            floor = self.floor.key if self.floor is not None else -np.inf
            position, n_terms = self._subsets.best(
                self.open, self._n_met, self.least, floor, self._chunk, self._terms_a_call
            )
            self._tell(n_terms)
        if position == self._subsets.nobody:
            return None
        score = float(self.least[position])
        key = float(comparison_key(score))
        if self.floor is not None:
            self.floor.rise(key)
        return Best(key, position, score)

    @property
    def _chunk(self) -> int:
        """How many candidates meet a subset together: one, where its cells are kept."""
        return 1 if self._by_planes and self.terms.planes.in_lanes else CHUNK

    @property
    def _terms_a_call(self) -> int:
        return 1 + SAMPLES_PER_CALL // len(self.terms.y.cells)

    def _tell(self, n_terms: int) -> None:
        if self.on_terms is not None:
            self.on_terms(n_terms)

    def n_terms(self, n_select: int) -> int:
        """Return K choose size, nearly; lazy evaluation needs fewer."""
        return n_subset_terms(self.size, n_select)

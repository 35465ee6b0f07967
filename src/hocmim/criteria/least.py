"""The least of many terms: scores that only fall, and so need not all be computed."""

from __future__ import annotations

from math import comb
from typing import ClassVar

import numpy as np

from hocmim import _native
from hocmim._native import Term
from hocmim.codes import Codes, Column
from hocmim.counting import Joint, Positions, Values, native_list
from hocmim.criteria.base import Best, Criterion, comparison_key
from hocmim.criteria.subsets import n_subset_terms

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
        return self.relevance

    def update(self, newest: Column) -> None:
        """Note the newest column; the terms of its subsets are computed when they are needed."""
        super().update(newest)
        self._selected.append(newest.codes, newest.arity)
        n_selected = len(self.selected)
        self._n_subsets = comb(n_selected, self.size)
        if n_selected <= self.size:  # one subset, S: scores may rise
            everything = Joint.of(self.selected)
            is_joint = self.term == Term.joint
            self.least = (self.terms.joint if is_joint else self.terms.conditional)(everything)
            self._n_met[:] = self._n_subsets

    def scores(self) -> Values:
        """The exact score of every open candidate."""
        self._meet_subsets(np.flatnonzero(self.open), -np.inf)
        return self.least

    def best(self) -> Best | None:
        """Return the best open candidate, computing no more terms than that takes."""
        if not self.open.any():
            return None
        keys = np.where(self.open, comparison_key(self.least), -np.inf)
        while True:
            position = int(np.argmax(keys))
            key = float(keys[position])
            if self.floor is not None and key < self.floor.key:
                return None
            if self._n_met[position] == self._n_subsets:
                if self.floor is not None:
                    self.floor.rise(key)
                return Best(key, position, float(self.least[position]))
            leading, bar = self._leading(keys)
            self._meet_subsets(leading, bar)
            keys[leading] = comparison_key(self.least[leading])

    def _leading(self, keys: Values) -> tuple[Positions, float]:
        """The candidates of largest bound that are not exact, and the key at which they lose."""
        is_exact = self._n_met == self._n_subsets
        bar = max(self.floor.key if self.floor else -np.inf, keys[is_exact].max(initial=-np.inf))
        behind = np.flatnonzero(~is_exact & self.open & (keys >= bar))
        behind = behind[np.argsort(-keys[behind], kind="stable")]
        if len(behind) > CHUNK:
            bar = max(bar, float(keys[behind[CHUNK]]))
        return behind[:CHUNK], bar

    def _meet_subsets(self, candidates: Positions, bar: float) -> None:
        """Take these candidates through the subsets not yet met, until their keys are below bar."""
        y, terms = self.terms.y, self.terms
        most_terms = 1 + SAMPLES_PER_CALL // len(y.cells)
        how = (self.term, terms.estimator, candidates, self._n_met, self.least, bar, most_terms)
        by_planes = self.size == 1 and self._pays_by_planes(candidates)
        n_terms = 1
        while n_terms > 0:
            if by_planes:
                masks = [Joint.of([column]).masks for column in self.selected]
                n_terms = _native.meet_columns_by_planes(
                    terms.planes, terms.columns, masks, y.masks, *how
                )
            else:
                n_terms = _native.meet_subsets(
                    terms.columns, self._selected, self.size, y.cells, y.n_cells, *how
                )
            if self.on_terms is not None:
                self.on_terms(n_terms)

    def _pays_by_planes(self, candidates: Positions) -> bool:
        n_cells = max((column.arity for column in self.selected), default=1)
        return bool(self.terms.pays_by_planes(n_cells * self.terms.y.n_cells, candidates).all())

    def n_terms(self, n_select: int) -> int:
        """Return K choose size, nearly; lazy evaluation needs fewer."""
        return n_subset_terms(self.size, n_select)

"""HOCMIM-R: high-order conditional mutual information maximization for the samples there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import hocmim._native as _native
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.searches import Best, EagerSearch, SearchPlan
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Joint, Values, native_list
from hocmim.information.estimators import UNBIASED_ESTIMATOR

# Samples that one call of the kernel counts at most, so that work can be stopped between calls.
SAMPLES_PER_CALL = 1 << 24


class RobustSearch(EagerSearch):
    """Computes the average of every candidate, and the minimum only of those that may be best.

    The minimum falls as columns are selected. So the minimum a candidate had before and its average
    bound its score, and candidates are brought up to date in the order of their bounds until the
    score of one is known and no bound is above it.
    """

    criteria: Sequence[RobustHOCMIMCriterion]

    def best(self) -> Best | None:
        """Return the best candidate of all blocks; None if there is none."""
        first = self.criteria[0]
        if not first.selected:
            return super().best()
        search = _native.SetSearch([criterion.sets for criterion in self.criteria], self.is_open)

        def take_part(_: int) -> None:
            n_terms = 1
            while n_terms > 0:
                n_terms = search.work(first.terms_per_call)
                first.count_terms(n_terms)

        list(self.threads.map(take_part, range(self.threads.n_threads)))
        block, position, score = search.best()
        return None if block < 0 else Best(float(comparison_key(score)), block, position, score)


class RobustHOCMIMCriterion(Criterion):
    """J(X) = U + min(w · (A − U), c · σ), with

        U = min over the sets Z tried of I(X;Y|Z)
        A = 1/|S| Σ_{s∈S} I(X;Y|s)
        σ = √((C − 1) Σ_z (k_x(z) − 1) / 2) / N at the Z of U

    for C classes, N samples and k_x(z) levels of X that occur in cell z of Z. J = I(X;Y) before
    anything is selected.

    Each candidate remembers the set Z* of selected features that gave U, in order. When s joins S,
    it is tried with each prefix of Z*: {Z*_1..Z*_l, s} for l = 0 … |Z*|, while l < max_order and,
    for l > 0, while the set has at most N / min_support occupied cells. The smallest value below U
    becomes U, and its set Z*; among equal values the shorter set wins. The empty set is not tried:
    the halves of an exclusive or have no relevance, and a minimum with the relevance in it would
    never find them. {s} is always tried, so U ≤ A.

    Rewards what a feature adds to those it overlaps with most, lifted towards what it adds to one
    of them on average, by no more than chance can have moved the minimum. With many samples σ is
    small and J is the minimum. A function of Z, such as a copy, has σ = 0 and J = U = 0.

    Parameters
    ----------
    max_order : int
        The largest size of Z.
    min_support : float
        A set of two or more features is tried only if its occupied cells hold at least this many
        samples on average.
    weight : float
        w, from 0 to 1: how far the minimum is lifted towards the average.
    limit : float
        c: how many standard errors of the minimum it is lifted at most.
    interactions : bool or "auto"
        Whether pairs and triples of columns that tell something only together are candidates as
        well: see ``hocmim.search.interactions``. "auto" limits the work, True does not.
    estimator : str

    Cost: K D terms for the average; for the minimum at most max_order K D terms, and far fewer by
    lazy evaluation.

    References
    ----------
    After Souza, Premebida, Araújo: High-order conditional mutual information maximization for
    dealing with high-order dependencies in feature selection. Pattern Recognition 131, 2022.
    """

    has_representative_sets = True
    plan = SearchPlan(RobustSearch, min_cells_for_threads=4_000_000)

    def __init__(
        self,
        *,
        max_order: int = 15,
        min_support: float = 3.0,
        weight: float = 0.3,
        limit: float = 4.0,
        interactions: bool | str = False,
        estimator: str = UNBIASED_ESTIMATOR,
    ) -> None:
        super().__init__(estimator)
        self.interactions = interactions
        self.max_order = max_order
        self.min_support = min_support
        self.weight = weight
        self.limit = limit

    def start(self, block: Codes, y: Column) -> Values:
        """Start with every representative set empty."""
        super().start(block, y)
        self._selected = native_list([], block.n_samples)
        # Terms that one call of the kernel computes at most.
        self.terms_per_call = 1 + SAMPLES_PER_CALL // block.n_samples
        self.sets = _native.RepresentativeSets(
            self.terms.class_counts,
            self._selected,
            self.terms.estimator,
            self.max_order,
            self.min_support,
            self.weight,
            self.limit,
        )
        return self.relevance

    def update(self, newest: Column) -> None:
        """Add I(X;Y|newest) to the average. Candidates meet the newest column when needed."""
        super().update(newest)
        self._selected.append(newest.codes, newest.arity)
        self.sets.append(self.terms.conditional(Joint.of([newest])))

    def scores(self) -> Values:
        """J of every candidate."""
        if not self.selected:
            return self.relevance
        scores = np.zeros(len(self.is_candidate))
        self.sets.scores(np.flatnonzero(self.is_candidate), scores)
        return scores

    def describe(self, position: int) -> dict[str, Any]:
        """Z* as column indices, its size, U, A, σ and the lift J − U."""
        if self.selected:
            members, minimum, average, sigma, lift = self.sets.describe(position)
        else:
            members, sigma, lift = [], 0.0, 0.0
            minimum = average = float(self.relevance[position])
        return {
            "order": len(members),
            "representative_set": np.array([self.selected[s].index for s in members], np.int64),
            "minimum": minimum,
            "average": average,
            "sigma": sigma,
            "lift": lift,
        }

    def of_sets(self) -> RobustHOCMIMCriterion:
        """Return the criterion of pairs and triples of columns: U, without the lift."""
        fresh = self.copy()
        fresh.weight, fresh.interactions = 0.0, False
        return fresh

    def n_terms(self, n_select: int) -> int:
        """Return how many sets a candidate tries at most, and the terms of its average."""
        return 1 + sum(1 + min(size, self.max_order) for size in range(1, n_select))

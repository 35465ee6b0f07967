"""High-order conditional mutual information maximization."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import hocmim._native as _native
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.bound import BoundedSearch
from hocmim.criteria.searches import SearchPlan
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Joint, Values, native_list
from hocmim.information.estimators import HIGH_ORDER_ESTIMATOR

# A member of Z is chosen by its key, that is, up to a rounding error.
ROUNDING = 2e-12


class HOCMIMCriterion(Criterion):
    """J(X) = I(X;Y) − R_n(X, Z, Y), with R_n = I(X;Z) − I(X;Z|Y).

    Z is X's representative set, the n selected features most redundant with it, built greedily:

        Z_j = argmax over s ∈ S∖Z of R_j(X, {Z_1..Z_{j−1}, s}, Y)

    until J < tol · I(X;Y) (redundant: nothing more to learn), n = max_order, or Z = S. R is not
    monotone in n: it falls when features are synergistic, and the search goes on all the same,
    which is what finds XOR-like features. Rewards what a feature adds to those it overlaps with
    most.

    Parameters
    ----------
    max_order : int
        The largest size of Z.
    tol : float
        ε*: stop extending Z when J < tol · I(X;Y).
    form : {"redundancy", "conditional"}
        J as above, or J = I(X;Y|Z): equal for the plug-in, not for the default estimator: with
        it the first falls back to relevance when samples are few, the second does not.
    path : {"last", "min"}
        J at the last level of Z, or the smallest along the way.
    min_support : float
        Extend Z only while its occupied cells hold at least this many samples on average.
    estimator : str

    Cost: O(n K² D) terms at most; a remembered path makes it 15 to 33 terms a candidate and step,
    and about one where paths can be bounded.

    A path is remembered: when a feature joins S, it is tried at each level, and only the levels
    after its first win are built anew.

    A path that stops early has J < tol · I(X;Y). While |S| ≤ max_order, a path that does not stop
    early ends at Z = S whatever its order. Beyond that, its last member is the best of all s ∈ S∖Z;
    if with one of them Z always has the cells of S (``SelectedCells``), R is at least R(X,S,Y).
    Either way max(J(X; Z = S), tol · I(X;Y)) bounds J from above and costs a term per candidate, so
    that only the paths of candidates that could be best are followed (``BoundedSearch``).

    References
    ----------
    Souza, Premebida, Araújo: High-order conditional mutual information maximization for dealing
    with high-order dependencies in feature selection. Pattern Recognition 131, 2022.
    """

    plan = SearchPlan(BoundedSearch, blocks_per_thread=4)
    has_representative_sets = True

    def __init__(
        self,
        *,
        max_order: int = 15,
        tol: float = 0.01,
        form: str = "redundancy",
        path: str = "last",
        min_support: float = 0.0,
        estimator: str = HIGH_ORDER_ESTIMATOR,
    ) -> None:
        super().__init__(estimator)
        self.max_order = max_order
        self.tol = tol
        self.form = form
        self.path = path
        self.min_support = min_support

    def expect(self, n_select: int) -> None:
        """Reduce the order to what a selection of this size can reach."""
        self.max_order = min(self.max_order, max(1, n_select - 1))

    def start(self, block: Codes, y: Column) -> Values:
        """Start with every representative set empty."""
        super().start(block, y)
        size = block.n_columns
        self.member = np.zeros((size, self.max_order), np.int32)
        self.redundancy = np.zeros((size, self.max_order))
        self.order = np.zeros(size, np.int32)
        self._selected = native_list([], block.n_samples)
        self._n_updated = 0  # selected columns when all paths were updated the last time
        self.paths = _native.GreedyPaths(
            self.terms.class_counts,
            self._selected,
            self.terms.estimator,
            self.form == "conditional",
            self.tol,
            self.min_support,
            self.path == "min",
            self.relevance,
            self.member,
            self.redundancy,
            self.order,
        )
        return self.relevance

    def update(self, newest: Column) -> None:
        """Note the newest column. Paths are followed when their scores are needed."""
        super().update(newest)
        self._selected.append(newest.codes, newest.arity)

    def update_paths(self, threshold: float) -> None:
        """Update every path; leave a last level unfinished once the key of J is below this."""
        candidates = np.flatnonzero(self.is_candidate)
        if self._n_updated == len(self.selected) or not len(candidates):
            return
        newest = Joint.of([self.selected[-1]])
        is_conditional = self.form == "conditional"
        first = (self.terms.conditional if is_conditional else self.terms.redundancy)(newest)
        self.paths.update(candidates, threshold, first)
        self._n_updated = len(self.selected)

    def scores(self) -> Values:
        """J of every candidate, each path followed to its end."""
        self.paths.follow(np.flatnonzero(self.is_candidate))
        return self._path_scores()

    def upper_bounds(self) -> Values | None:
        """See Criterion: while |S| ≤ max_order, paths end at Z = S or stop early."""
        is_short = 0 < len(self.selected) <= self.max_order
        if not (is_short and self.can_be_bounded and _native.bound_is_enabled()):
            return None
        return self.bounds(Joint.of(self.selected))

    def scores_of(self, positions: NDArray[np.intp]) -> Values:
        """J of some candidates, each path followed to its end."""
        self.paths.follow(positions)
        return self._path_scores()[positions]

    @property
    def can_be_bounded(self) -> bool:
        """Whether J at Z = S may bound the J of a path."""
        return self.min_support == 0

    def bounds(self, cells: Joint) -> Values:
        """Return max(J(X; Z = S), tol · I(X;Y)) of each column, ``cells`` being those of S."""
        if self.form == "conditional":
            at_end = self.terms.conditional(cells)
        else:
            at_end = self.relevance - self.terms.redundancy(cells)
        return np.maximum(at_end + ROUNDING, self.tol * self.relevance)

    def _path_scores(self) -> Values:
        """J at the level each path has reached."""
        order = self._scored_order()
        at = np.maximum(order - 1, 0)[:, None]
        redundancy = np.take_along_axis(self.redundancy, at, axis=1)[:, 0]
        return self.relevance - np.where(order > 0, redundancy, 0.0)

    def _scored_order(self) -> NDArray[np.int64]:
        """The level of each path that gives J: the last, or the first of smallest J."""
        last = self.order.astype(np.int64)
        if self.path == "last":
            return last
        is_reached = np.arange(self.max_order)[None, :] < last[:, None]
        keys = np.where(is_reached, comparison_key(self.redundancy), -np.inf)
        return np.minimum(last, keys.argmax(axis=1) + 1)

    def describe(self, position: int) -> dict[str, Any]:
        """The order reached and the representative set, as column indices in greedy order."""
        order = int(self._scored_order()[position])
        members = [self.selected[s].index for s in self.member[position, :order]]
        return {"order": order, "representative_set": np.array(members, np.int64)}

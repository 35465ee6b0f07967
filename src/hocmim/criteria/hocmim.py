"""High-order conditional mutual information maximization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hocmim._native as _native
from hocmim.codes import Codes, Column
from hocmim.counting import Joint, Values, native_list
from hocmim.criteria.base import Best, Criterion, comparison_key
from hocmim.criteria.selected import Selected

# What finding out whether paths can be bounded may take, for each sample and candidate: about as
# long as following them.
WORK_ALLOWED = 2_000
# A member of Z is taken by its key, that is, up to a rounding error.
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
        J as above, or J = I(X;Y|Z): equal for the plug-in, not under shrinkage, where the first
        falls back to relevance when samples are few and the second does not.
    path : {"last", "min"}
        J at the last level of Z, or the smallest along the way.
    min_support : float
        Extend Z only while its occupied cells hold at least this many samples on average.
    estimator : str

    Cost: O(n K² D) terms at most; a remembered path makes it 15 to 33 terms a candidate and step,
    and about one where paths can be bounded.

    References
    ----------
    Souza, Premebida, Araújo: High-order conditional mutual information maximization for dealing
    with high-order dependencies in feature selection. Pattern Recognition 131, 2022.
    """

    blocks_per_thread = 4

    def __init__(
        self,
        *,
        max_order: int = 15,
        tol: float = 0.01,
        form: str = "redundancy",
        path: str = "last",
        min_support: float = 0.0,
        estimator: str = "shrinkage",
    ) -> None:
        super().__init__(estimator)
        self.max_order = max_order
        self.tol = tol
        self.form = form
        self.path = path
        self.min_support = min_support

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with every representative set empty."""
        super().start(block, y)
        size = block.n_columns
        self.member = np.zeros((size, self.max_order), np.int32)
        self.redundancy = np.zeros((size, self.max_order))
        self.order = np.zeros(size, np.int32)
        return self.relevance

    def scores(self) -> Values:
        """J of each column."""
        return self._path_scores()

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
        return {"order": order, "representative_set": self._members(position, order)}

    def _members(self, position: int, order: int) -> NDArray[np.int64]:
        members = self.member[position, :order]
        return np.array([self.selected[s].index for s in members], np.int64)


class GreedyHOCMIM(HOCMIMCriterion):
    """HOCMIM with the greedy representative set of the paper.

    A path is remembered: when a feature joins S, it is tried at each level, and only the levels
    after its first win are built anew.

    A path that stops early has J < tol · I(X;Y). While |S| ≤ max_order, one that does not ends at
    Z = S whatever its order. Beyond that, its last member is the best of all s ∈ S∖Z; if with one
    of them Z always has the cells of S (``Selected``), R is at least R(X,S,Y). Either way
    max(J(X; Z = S), tol · I(X;Y)) bounds J from above, costs one term a candidate, and only the
    paths of those that could be best are followed.
    """

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with every representative set empty."""
        super().start(block, y)
        self._selected = native_list([], block.n_samples)
        self._paths = _native.GreedyPaths(
            self.terms.class_counts,
            self._selected,
            self.terms.estimator,
            self.form == "conditional",
            self.tol,
            self.min_support,
            self.relevance,
            self.member,
            self.redundancy,
            self.order,
        )
        # None where paths cannot be bounded, and from when on finding out takes too long.
        self._all_selected = None if self.min_support > 0 else Selected.none(block.n_samples)
        self._ask_again, self._pause = 0, 1  # when so many are selected; how many more after that
        self._n_cells = 0  # of all selected, when the redundancy with all of them was computed last
        self._bound: Values | None = None
        return self.relevance

    def update(self, newest: Column) -> None:
        """Note the newest column; paths are followed when they are asked for."""
        super().update(newest)
        self._bound = None
        self._selected.append(newest.codes, newest.arity)
        if self._all_selected is not None:
            self._all_selected = self._all_selected.with_column(newest)

    def scores(self) -> Values:
        """J of every open candidate, each path followed to its end."""
        self._paths.follow(np.flatnonzero(self.open))
        return self._path_scores()

    def best(self) -> Best | None:
        """Return the best open candidate, following no more paths than needed."""
        contest = self.contest([self], map)
        if contest is None:
            return super().best()
        block, position, score = contest.work()
        return None if block < 0 else Best(float(comparison_key(score)), position, score)

    @classmethod
    def contest(
        cls, criteria: Sequence[GreedyHOCMIM], run: Callable[..., Any]
    ) -> _native.Contest | None:
        """A contest by the bounds of all candidates, if they have any."""
        n_open = sum(int(criterion.open.sum()) for criterion in criteria)
        bounds = list(run(lambda criterion: criterion._bounds(n_open), criteria))
        if any(bound is None for bound in bounds):
            return None
        paths, open_ = [c._paths for c in criteria], [c.open for c in criteria]
        return _native.Contest(paths, bounds, open_, criteria[0].path == "min")

    def _bounds(self, n_open: int) -> Values | None:
        """What J of each candidate can be at most; None if there is no such bound.

        ``n_open`` are the candidates it would be for, here and in the other blocks.
        """
        if self._bound is None and self.selected and self._is_bounded(n_open):
            at_end = self.relevance - self._redundancy_with_all() + ROUNDING
            self._bound = np.maximum(at_end, self.tol * self.relevance)
        return self._bound

    def _is_bounded(self, n_open: int) -> bool:
        """Whether J(X; Z = S) bounds the J of paths that do not stop early."""
        n_selected = len(self.selected)
        if self._all_selected is None or n_selected < self._ask_again:
            return False
        most_work = WORK_ALLOWED * n_open * len(self._all_selected.cells.cells)
        is_separated = self._all_selected.is_separated(self.max_order, most_work)
        if is_separated is None:
            self._all_selected = None
        elif not is_separated:  # it may be so again with more columns, though less and less likely
            self._ask_again, self._pause = n_selected + self._pause, 2 * self._pause
        return is_separated is True

    def _redundancy_with_all(self) -> Values:
        """R(X, S, Y); unchanged by a column that splits no cell."""
        assert self._all_selected is not None
        cells = self._all_selected.cells
        if cells.n_cells > self._n_cells:
            self._n_cells = cells.n_cells
            if self.form == "conditional":
                self._with_all = self.relevance - self.terms.conditional(cells)
            else:
                self._with_all = self.terms.redundancy(cells)
        return self._with_all


class ExhaustiveHOCMIM(HOCMIMCriterion):
    """HOCMIM with the best of all representative sets of each size: for small orders.

    At each level n, Z is the n-subset of S with the largest R_n (among equals the first in the
    order of selection). Only subsets that hold the newest feature are new at each step.
    """

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with every representative set empty."""
        super().start(block, y)
        shape = (self.max_order, block.n_columns)
        self._best = np.full(shape, -np.inf)
        self._cells = np.zeros(shape, np.int64)
        self._best_set = [
            np.full((block.n_columns, n + 1), -1, np.int32) for n in range(self.max_order)
        ]
        return self.relevance

    def update(self, newest: Column) -> None:
        """Compare the subsets that hold the newest column with the best of each size."""
        super().update(newest)
        n_selected = len(self.selected)
        for size in range(1, min(self.max_order, n_selected) + 1):
            for others in combinations(range(n_selected - 1), size - 1):
                self._compare(size - 1, (*others, n_selected - 1))
        self._follow_levels(min(self.max_order, n_selected))

    def _compare(self, level: int, subset: tuple[int, ...]) -> None:
        joint = Joint.of([self.selected[s] for s in subset])
        if self.form == "conditional":
            redundancy = self.relevance - self.terms.conditional(joint)
        else:
            redundancy = self.terms.redundancy(joint)
        new, old = comparison_key(redundancy), comparison_key(self._best[level])
        wins = new > old
        # A later subset may still come first in the order of selection.
        for position in np.flatnonzero(new == old):
            wins[position] = subset < tuple(self._best_set[level][position])
        self._best[level][wins] = redundancy[wins]
        self._cells[level][wins] = joint.n_cells
        self._best_set[level][wins] = subset

    def _follow_levels(self, n_levels: int) -> None:
        """Set each path to the best sets of sizes 1, 2, … up to where it stops."""
        n_samples = len(self.terms.y.cells)
        going = np.ones(len(self.relevance), bool)
        for level in range(n_levels):
            if level > 0:
                going &= n_samples >= self.min_support * self._cells[level - 1]
            else:
                going &= n_samples >= self.min_support
            self.order[going] = level + 1
            self.redundancy[going, level] = self._best[level][going]
            score = comparison_key(self.relevance - self._best[level])
            enough = score < comparison_key(self.tol * self.relevance)
            going &= ~((comparison_key(self.relevance) > 0) & enough)

    def _members(self, position: int, order: int) -> NDArray[np.int64]:
        subset = self._best_set[order - 1][position] if order else []
        return np.array([self.selected[s].index for s in subset], np.int64)

"""High-order conditional mutual information maximization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hocmim._native as _native
from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Best, Criterion, comparison_key
from hocmim.criteria.selected import Selected
from hocmim.information.counting import Joint, Values, native_list

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


class BoundedContest:
    """A contest by bounds of which it is found out, meanwhile, whether they are any.

    Parameters
    ----------
    contest : _native.Contest
    is_bounded : callable
        Whether they are; threads that ask at a time share the work.
    """

    def __init__(self, contest: _native.Contest, is_bounded: Callable[[], bool | None]) -> None:
        self._contest = contest
        self._is_bounded = is_bounded
        self._first = iter([True])

    def work(self) -> None:
        """Take part: the first to come finds out, the others compete, then the other way round."""
        if not next(self._first, False):
            self._contest.work()
        if self._is_bounded():
            self._contest.work()

    def winner(self) -> tuple[int, int, float] | None:
        """Return the block, position and score of the best; None if there is no bound."""
        return self._contest.winner() if self._is_bounded() else None


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
        self._bound: Values | None = None  # on J, while no column splits a cell of all selected
        return self.relevance

    def update(self, newest: Column) -> None:
        """Note the newest column; paths are followed when they are asked for."""
        super().update(newest)
        self._selected.append(newest.codes, newest.arity)
        if self._all_selected is not None:
            before, self._all_selected = self._all_selected, self._all_selected.with_column(newest)
            if self._all_selected.cells.n_cells > before.cells.n_cells:
                self._bound = None

    def scores(self) -> Values:
        """J of every open candidate, each path followed to its end."""
        self._paths.follow(np.flatnonzero(self.open))
        return self._path_scores()

    def best(self) -> Best | None:
        """Return the best open candidate, following no more paths than needed."""
        contest = self.contest([self], map, 1)
        if contest is not None:
            contest.work()
        if contest is None or (winner := contest.winner()) is None:
            self._note_no_bound()
            return super().best()
        block, position, score = winner
        return None if block < 0 else Best(float(comparison_key(score)), position, score)

    @classmethod
    def contest(
        cls, criteria: Sequence[GreedyHOCMIM], run: Callable[..., Any], n_best: int
    ) -> BoundedContest | None:
        """A contest by the bounds of all candidates, if they may have any."""
        if not all(criterion._may_be_bounded() for criterion in criteria):
            return None
        unknown = [criterion for criterion in criteria if criterion._bound is None]
        for criterion, bound in zip(unknown, run(cls._bounds, unknown), strict=True):
            criterion._bound = bound
        bounds = [criterion._bound for criterion in criteria if criterion._bound is not None]
        open_ = [criterion.open for criterion in criteria]
        paths = [criterion._paths for criterion in criteria]
        contest = _native.Contest(paths, bounds, open_, criteria[0].path == "min", n_best)
        n_open = sum(int(is_open.sum()) for is_open in open_)
        return BoundedContest(contest, lambda: criteria[0]._is_bounded(n_open))

    def _may_be_bounded(self) -> bool:
        return self._all_selected is not None and len(self.selected) >= max(1, self._ask_again)

    def _bounds(self) -> Values:
        """What J of each candidate can be at most, if there is a bound."""
        assert self._all_selected is not None
        cells = self._all_selected.cells
        if self.form == "conditional":
            at_end = self.terms.conditional(cells)
        else:
            at_end = self.relevance - self.terms.redundancy(cells)
        return np.maximum(at_end + ROUNDING, self.tol * self.relevance)

    def _is_bounded(self, n_open: int) -> bool | None:
        """Whether J(X; Z = S) bounds the J of paths that do not stop early; None if unknown.

        ``n_open`` are the candidates it would be for, here and in the other blocks.
        """
        assert self._all_selected is not None
        most_work = WORK_ALLOWED * n_open * len(self._all_selected.cells.cells)
        return self._all_selected.is_separated(self.max_order, most_work)

    def _note_no_bound(self) -> None:
        """Ask again when there are more columns, though less and less likely; or never."""
        if self._may_be_bounded():
            if self._is_bounded(0) is None:  # no more work: the answer is known by now
                self._all_selected = None
            else:
                self._ask_again, self._pause = len(self.selected) + self._pause, 2 * self._pause


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

"""Terms of information between a block of candidate columns and joint variables, by the kernels.

Criteria and the public functions get all their terms here; none of them handles a count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

import hocmim._native as _native
from hocmim._native import Term
from hocmim.coding.codes import Codes, Column
from hocmim.information.estimators import estimator_by_name

Values = NDArray[np.float64]
Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Joint:
    """Several columns as one variable: the cell of each sample, and how many cells occur."""

    cells: NDArray[np.uint32]
    n_cells: int
    column: Column | None = None  # if it is one column by itself

    @classmethod
    def of(cls, columns: Sequence[Column], n_samples: int | None = None) -> Joint:
        """Join columns into one variable (no columns: a single cell)."""
        alone = columns[0] if len(columns) == 1 else None
        if isinstance(alone, SharedColumn):
            return alone.joint
        if n_samples is None:
            n_samples = len(columns[0].codes)
        return cls(*_native.join(native_list(columns, n_samples)), alone)

    @cached_property
    def masks(self) -> _native.CellMasks:
        """A bit for each sample and cell, for the kernels on bit planes."""
        if self.column is not None and self.column.codes.dtype == np.uint8:
            codes = cast("NDArray[np.uint8]", self.column.codes)
            return _native.CellMasks(codes, self.column.arity)
        return _native.CellMasks(self.cells, self.n_cells)

    def with_column(self, column: Column) -> Joint:
        """Join one more column."""
        columns = native_list([column], len(self.cells))
        return Joint(*_native.join_with(self.cells, self.n_cells, columns, 0))


@dataclass(frozen=True)
class SharedColumn(Column):
    """A column that several blocks use: what is made of it is made once."""

    @classmethod
    def of(cls, column: Column) -> SharedColumn:
        """Return the column, ready to be shared."""
        if isinstance(column, SharedColumn):
            return column
        return cls(column.codes, column.arity, column.index)

    @cached_property
    def joint(self) -> Joint:
        """The column by itself as a joint variable; it does not refer to this object."""
        cells = _native.join(native_list([self], len(self.codes)))
        return Joint(*cells, Column(self.codes, self.arity, self.index))


def native_list(columns: Sequence[Column], n_samples: int) -> _native.Columns:
    """Single columns as the kernels take them."""
    native = _native.Columns(n_samples)
    for column in columns:
        native.append(column.codes, column.arity)
    return native


class BlockTerms:
    """Terms between each column X of a block, the class Y, and joint variables W and V.

    Every method returns a value per column, in nats, with X as first argument of the estimator; of
    the columns at the positions ``which`` only, if these are given. After each call ``on_terms`` is
    called with the number of terms computed: it may count them, or raise an exception to stop.
    """

    def __init__(
        self,
        block: Codes,
        y: Joint,
        estimator: str,
        on_terms: Callable[[int], None] | None = None,
    ) -> None:
        self.columns = _native.Columns(block.narrow, block.wide, block.place, block.arity)
        self._made_planes = block.made_planes
        self.y = y
        self.estimator = estimator_by_name(estimator)
        self._on_terms = on_terms
        self.can_use_planes = block.can_have_planes and not _native.needs_samples(self.estimator)
        self._nothing = Joint(np.zeros(block.n_samples, np.uint32), 1)
        # Of the class, and of no class: used again and again.
        self._evaluators: dict[Joint, _native.PlaneTerms] = {}

    def _term(self, term: Term, w: Joint, y: Joint, which: Positions | None) -> Values:
        return self._several([term], w, y, which)[0]

    def _several(
        self, terms: list[Term], w: Joint, y: Joint, which: Positions | None
    ) -> NDArray[np.float64]:
        """Several terms of the same variables, a row for each term."""
        out = np.empty((len(terms), len(self.columns) if which is None else len(which)))
        by_planes = self.pays_by_planes(w.n_cells * y.n_cells, which)
        if by_planes.all():
            self._by_popcounts(terms, w, y, which, out)
        elif not by_planes.any():
            self._by_samples(terms, w, y, which, out)
        else:
            positions = np.arange(len(self.columns), dtype=np.int64) if which is None else which
            for chosen, count in ((by_planes, self._by_popcounts), (~by_planes, self._by_samples)):
                part = np.empty((len(terms), int(chosen.sum())))
                count(terms, w, y, positions[chosen], part)
                out[:, chosen] = part
        if self._on_terms is not None:
            self._on_terms(out.size)
        return out

    def pays_by_planes(self, n_masks: int, which: Positions | None) -> NDArray[np.bool_]:
        """For which columns popcounts with so many masks cost less than counting samples."""
        pays = np.zeros(len(self.columns), np.bool_)
        if self.can_use_planes:
            _native.counts_on_planes(self.columns, n_masks, self.estimator, pays)
        return pays if which is None else pays[which]

    @cached_property
    def planes(self) -> _native.BitPlanes:
        """The block as bits, made on first use."""
        return _native.BitPlanes(self.columns, self._made_planes)

    def plane_terms(self, y: Joint, *, keeps_rows: bool = False) -> _native.PlaneTerms:
        """Terms by popcounts, with this class."""
        return _native.PlaneTerms(self.planes, self.columns, y.masks, self.estimator, keeps_rows)

    def _by_popcounts(
        self, terms: list[Term], w: Joint, y: Joint, which: Positions | None, out: Values
    ) -> None:
        if y is not self.y and y is not self._nothing:
            evaluator = self.plane_terms(y)
        elif y in self._evaluators:
            evaluator = self._evaluators[y]
        else:
            evaluator = self._evaluators[y] = self.plane_terms(y, keeps_rows=True)
        evaluator.evaluate(w.masks, terms, out, which)

    def _by_samples(
        self, terms: list[Term], w: Joint, y: Joint, which: Positions | None, out: Values
    ) -> None:
        counts = self.class_counts if y is self.y else self._class_counts_of(y)
        _native.information(counts, w.cells, w.n_cells, terms, self.estimator, out, which)

    @cached_property
    def class_counts(self) -> _native.ClassCounts:
        """How often each level of each column occurs with each class."""
        return self._class_counts_of(self.y)

    def _class_counts_of(self, y: Joint) -> _native.ClassCounts:
        return _native.ClassCounts(self.columns, y.cells, y.n_cells)

    def relevance(self, which: Positions | None = None) -> Values:
        """I(X;Y)."""
        return self._term(Term.information, self.y, self._nothing, which)

    def information(self, w: Joint, which: Positions | None = None) -> Values:
        """I(X;W)."""
        return self._term(Term.information, w, self._nothing, which)

    def given_class(self, w: Joint, which: Positions | None = None) -> Values:
        """I(X;W|Y)."""
        return self._term(Term.given_class, w, self.y, which)

    def redundancy(self, w: Joint, which: Positions | None = None) -> Values:
        """R = I(X;W) − I(X;W|Y)."""
        return self._term(Term.redundancy, w, self.y, which)

    def conditional(self, w: Joint, which: Positions | None = None) -> Values:
        """I(X;Y|W)."""
        return self._term(Term.conditional, w, self.y, which)

    def joint(self, w: Joint, which: Positions | None = None) -> Values:
        """I(X,W;Y)."""
        return self._term(Term.joint, w, self.y, which)

    def joint_entropy(self, w: Joint, which: Positions | None = None) -> Values:
        """H(X,W,Y)."""
        return self._term(Term.joint_entropy, w, self.y, which)

    def joint_and_entropy(self, w: Joint) -> tuple[Values, Values]:
        """I(X,W;Y) and H(X,W,Y), counted once."""
        joint, entropy = self._several([Term.joint, Term.joint_entropy], w, self.y, None)
        return joint, entropy

    def conditional_with(self, v: Joint, w: Joint, which: Positions | None = None) -> Values:
        """I(X;V|W)."""
        return self._term(Term.conditional, w, v, which)

    def entropy(self, which: Positions | None = None) -> Values:
        """H(X)."""
        return self._term(Term.joint_entropy, self._nothing, self._nothing, which)

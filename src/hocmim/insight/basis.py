"""The input of explanations, pictures and reports: a selection and the codes it was made on.

A fitted selector gives it: ``selector.basis(X, y)`` encodes the table once, with the fitted
encoder; ``selector.basis()`` has the codes kept from ``fit``, those of the selected features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, column_name
from hocmim.coding.target import Target
from hocmim.criteria.base import Criterion
from hocmim.criteria.cost import per_cost
from hocmim.data.times import TimeKinds
from hocmim.errors import InvalidTableError
from hocmim.information.averages import MeanTerms
from hocmim.information.counting import BlockTerms, Joint, SharedColumn, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR
from hocmim.insight.variance import explained_variance
from hocmim.search.engines.remote import RemoteCodes
from hocmim.search.selection import Selection

# A fitted selector keeps at most this many bytes of codes.
MAX_KEPT_BYTES = 1 << 28


class KeptTarget(NamedTuple):
    """One of several targets: its codes, and its values if it is a quantity."""

    y: Column
    values: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class KeptCodes:
    """The codes a fitted selector keeps: those of the selected features and of y.

    Attributes
    ----------
    selected : Codes
    y : Column
    values : ndarray of float64, or None
        The values of a quantity; None for classes, or if they were too large to keep.
    targets : tuple of KeptTarget
        All targets, if the selection is the mean over several; y is the first of them.
    """

    selected: Codes
    y: Column
    values: NDArray[np.float64] | None = None
    targets: tuple[KeptTarget, ...] = ()


def keep_codes(
    codes: Codes | RemoteCodes, target: Target, indices: Sequence[int]
) -> KeptCodes | None:
    """Copy the codes of the selected features; None if they exceed ``MAX_KEPT_BYTES``.

    A copy, so that the memory of the other columns can be freed.
    """
    y, values = target.column, target.values
    averaged = target.targets if target.strategy == "mean" else ()
    n_bytes = len(y.codes) * (len(indices) + max(1, len(averaged)))
    if n_bytes > MAX_KEPT_BYTES:
        return None
    n_of_values = sum(one.values.nbytes for one in target.each if one.values is not None)
    is_small = n_bytes + n_of_values <= MAX_KEPT_BYTES
    targets = tuple(KeptTarget(one.column, one.values if is_small else None) for one in averaged)
    if isinstance(codes, Codes):
        selected = codes.copy_columns(indices)
    else:
        selected = Codes.from_columns([codes.column(k) for k in indices])
    return KeptCodes(selected, y, values if is_small else None, targets)


def codes_not_kept(n_samples: int, n_selected: int) -> InvalidTableError:
    """Return the error for a selector whose codes were too large to keep."""
    size = n_samples * (n_selected + 1) / 1e9
    return InvalidTableError(
        f"The codes of the selected columns were not kept, because they take {size:.1f} GB. "
        "Explanations, reports and pictures of redundancy need them: fit on a sample of the rows."
    )


def codes_not_saved() -> InvalidTableError:
    """Return the error for a selector that was loaded from a file without codes."""
    return InvalidTableError(
        "The file of this selector has no codes of rows, and explanations, reports and pictures of "
        "redundancy need them. Save the selector with save(path, with_codes=True), or fit it again."
    )


@dataclass(frozen=True, eq=False)
class Basis:
    """A selection and the codes it was made on.

    Attributes
    ----------
    method : str
        The name of the method.
    features : Features
        The columns, and the groups of columns that count as one feature.
    selection : Selection
        In feature indices.
    encoder : Encoder
        Of the columns.
    target : Target
        The codes of y, and its classes or cut points; several for the mean over them.
    selected : Codes
        Of the selected features, in the order of selection.
    criterion : Criterion or None
        A fresh copy of the criterion of the search; None if the method ranks without a search.
    estimator : str
        Of relevance and redundancy.
    codes : Codes or None
        Of all features; None if no table was given.
    column_codes : Codes or None
        Of all columns; the same object as ``codes`` if there are no groups.
    rows : ndarray of int64 or None
        The row of X behind each row of the codes, with sample weights; None if they are the same.
    time_kinds : dict
        Which columns hold dates, times or durations, of those whose codes are given.
    left_out : frozenset of int
        The features that are no candidates, because they identify the rows.
    """

    method: str
    features: Features
    selection: Selection
    encoder: Encoder
    target: Target
    selected: Codes
    criterion: Criterion | None
    estimator: str
    codes: Codes | None = None
    column_codes: Codes | None = None
    rows: NDArray[np.int64] | None = None
    time_kinds: TimeKinds = field(default_factory=dict)
    left_out: frozenset[int] = frozenset()

    @property
    def y(self) -> Column:
        """The codes of the target."""
        return self.target.column

    @property
    def averaged(self) -> tuple[Target, ...]:
        """The targets over which all values are means; one, unless that was the strategy."""
        return self.target.targets if self.target.strategy == "mean" else (self.target,)

    def terms(
        self,
        block: Codes,
        estimator: str | None = None,
        on_terms: Callable[[int], None] | None = None,
    ) -> MeanTerms:
        """Return the terms of columns and the target, by the estimator of the selection."""
        return MeanTerms(block, self._joint_targets, estimator or self.estimator, on_terms)

    @cached_property
    def _joint_targets(self) -> list[Joint]:
        if len(self.averaged) == 1:
            return [self.shared_target.joint]
        return [SharedColumn.of(one.column).joint for one in self.averaged]

    def relevance_of_targets(self, column: Column) -> tuple[float, ...]:
        """Return I(X;Y) of a column for each target, if the selection is the mean over several."""
        if len(self.averaged) == 1:
            return ()
        block = Codes.from_columns([column])
        each = [BlockTerms(block, joint, self.estimator) for joint in self._joint_targets]
        return tuple(float(terms.relevance()[0]) for terms in each)

    @property
    def target_entropy(self) -> float:
        """H(Y), plug-in."""
        joints = zip(self.averaged, self._joint_targets, strict=True)
        # The information of y with itself is its entropy.
        found = [
            BlockTerms(Codes.from_columns([one.column]), joint, PLUGIN_ESTIMATOR).relevance()[0]
            for one, joint in joints
        ]
        return float(np.mean(found))

    @property
    def n_samples(self) -> int:
        """How many rows the codes have."""
        return len(self.y.codes)

    @property
    def all_codes(self) -> Codes:
        """The codes of all features; an error if no table was given."""
        if self.codes is None:
            raise InvalidTableError("This needs the codes of all features: call basis(X, y).")
        return self.codes

    @property
    def selected_columns(self) -> list[Column]:
        """The selected features in the order of selection, each with its feature index."""
        columns = [self.selected.column(place) for place in range(len(self.selection))]
        return [
            Column(column.codes, column.arity, int(k))
            for column, k in zip(columns, self.selection.indices, strict=True)
        ]

    @cached_property
    def shared_columns(self) -> list[SharedColumn]:
        """The selected features, for several blocks."""
        return [SharedColumn.of(column) for column in self.selected_columns]

    @cached_property
    def shared_target(self) -> SharedColumn:
        """The target, for several blocks."""
        return SharedColumn.of(self.y)

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each selected feature in the order of selection, from 0."""
        return {step.index: place for place, step in enumerate(self.selection.steps)}

    @cached_property
    def best(self) -> list[tuple[int, float]]:
        """The best candidate of each step and its score, as in ``Selection.best``."""
        return self.selection.best

    @property
    def n_kept(self) -> int:
        """How many features were selected because they are in ``keep``."""
        return self.selection.n_kept

    def merit(self, scores: ArrayLike, features: ArrayLike) -> Values:
        """Return what the search compared: scores, or scores per unit of cost."""
        spending = self.selection.spending
        if spending is None:
            return np.asarray(scores, np.float64)
        return per_cost(scores, spending.costs[np.asarray(features)])

    def left_before(self, step: int) -> float:
        """Return what was left of the budget before a step, counted from 0; maybe infinite."""
        spending = self.selection.spending
        selected = self.selection.indices[:step].tolist()
        return np.inf if spending is None else spending.left(selected)

    def name(self, k: int) -> str:
        """Return the name of feature k, or its index if the features have no names."""
        return column_name(self.features.names, k)

    def explained_variance(self, columns: Sequence[Column]) -> float | None:
        """Return the adjusted R² of some columns for a quantity; None for classes.

        Of several targets the mean, if all are quantities.
        """
        found = [
            None if one.values is None else explained_variance(columns, one.values)
            for one in self.averaged
        ]
        known = [value for value in found if value is not None]
        return float(np.mean(known)) if len(known) == len(found) else None

    def redundancy_matrix(self, n_first: int | None = None) -> Values:
        """R_ij = I(X_i;X_j) − I(X_i;X_j|Y) of the selected features; I(X_i;Y) on the diagonal.

        Of the first ``n_first`` selected features, or of all.
        """
        columns = self.selected_columns[:n_first]
        if not columns:
            return np.zeros((0, 0))
        is_all = len(columns) == len(self.selection)
        codes = self.selected if is_all else Codes.from_columns(columns)
        terms = self.terms(codes)
        matrix = np.array([terms.redundancy(Joint.of([column])) for column in columns])
        matrix = (matrix + matrix.T) / 2  # a shrunken estimate is not symmetric
        np.fill_diagonal(matrix, terms.relevance())
        return matrix

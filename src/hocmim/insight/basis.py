"""What everything in ``insight`` works on: a finished selection and the codes it was made on.

``basis_of(selector)`` has the codes that ``fit`` kept, those of the selected features.
``basis_of(selector, X, y)`` encodes the table once, with the fitted encoder, and has the codes of
all features. No other module of ``insight`` reads a selector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.codes import Codes, Column, RemoteCodes
from hocmim.coding.encoded import MAX_KEPT_BYTES, Encoded, read_columns, split_target, time_kinds
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, column_name, join_columns
from hocmim.coding.target import EncodedTarget, Target, encode_target
from hocmim.criteria.base import Criterion
from hocmim.criteria.cost import per_cost
from hocmim.criteria.mean import MeanCriterion
from hocmim.data.table import as_table
from hocmim.data.target import as_target
from hocmim.data.times import TimeKinds
from hocmim.data.weights import repeated_rows
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.information.averages import MeanTerms
from hocmim.information.counting import BlockTerms, Joint, SharedColumn, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR
from hocmim.search.selection import Selection, Step
from hocmim.search.validation import Validation
from hocmim.text import value_text

# --- what is read of a selector -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fitted:
    """What is read of a fitted selector. Features are given by their indices."""

    method: str
    parameters: Mapping[str, Any]
    selection: Selection
    ranking: NDArray[np.int64]
    scores: Values  # NaN for features without one
    features: Features
    encoder: Encoder  # not fitted if the method ranks without a search
    make_criterion: Callable[[], Criterion] | None  # None if it ranks without a search
    how_target: Target
    kept: KeptCodes | None
    encoded: Encoded | None  # the whole table, while the selector has it in memory
    validation: Validation | None
    row_counts: Any  # the weight of each row
    time_kinds: TimeKinds
    n_samples_of_fit: int
    inner: Any  # the selector itself, or the one that a SelectorCV chose

    @property
    def left_out(self) -> frozenset[int]:
        """The features that are no candidates, because they identify the rows."""
        return frozenset(self.selection.identifiers)


def _read(selector: Any) -> Fitted:
    """Read a fitted selector: these attributes, and no others.

    A selector that searches codes has ``encoder_``; one that ranks columns without a search (a
    filter, a StabilitySelector) does not. A SelectorCV has the selector it chose in ``selector_``.
    """
    if isinstance(selector, type) or not hasattr(selector, "display_name"):
        raise InvalidParameterError(
            f"selector must be a fitted selector of hocmim. Got {value_text(selector)} instead."
        )
    check_is_fitted(selector)
    inner = getattr(selector, "selector_", selector)
    names, n_columns = getattr(inner, "feature_names_in_", None), inner.n_features_in_
    is_search = hasattr(inner, "encoder_")
    features, selection = Features(n_columns, names), inner.selection_
    if is_search:
        features = inner.features_
    elif inner.features_.groups:  # of a StabilitySelector; the table is encoded column by column
        selection = _selection_of_ranking(inner.selected_, inner.scores_, n_columns)
    scores = np.full(n_columns, np.nan)
    scores[inner.selected_] = inner.scores_
    for attribute in ("feature_scores_", "frequencies_"):
        scores = np.asarray(getattr(inner, attribute, scores), np.float64)
    how = Target.of(getattr(inner, "target", None))
    if isinstance(inner.target_kind_, str):
        how = replace(how, kind=inner.target_kind_)
    return Fitted(
        method=inner.display_name,
        parameters=selector.get_params(deep=False),
        selection=selection,
        ranking=inner.ranking_[features.first],
        scores=scores[features.first],
        features=features,
        encoder=inner.encoder_ if is_search else Encoder(),
        make_criterion=inner.make_criterion if is_search else None,
        how_target=how,
        kept=inner._kept if is_search else None,
        encoded=inner._encoded if is_search else None,
        validation=getattr(inner, "validation_", None),
        row_counts=getattr(inner, "_row_counts", None),
        time_kinds=inner._time_kinds if is_search else {},
        n_samples_of_fit=getattr(inner, "_n_samples", 0),
        inner=inner,
    )


def _selection_of_ranking(
    indices: NDArray[np.int64], scores: ArrayLike, n_features: int
) -> Selection:
    """Return the record of a method that ranks without a search and computes no relevance."""
    pairs = zip(indices.tolist(), np.asarray(scores, np.float64).tolist(), strict=True)
    steps = tuple(Step(index, score, {}) for index, score in pairs)
    return Selection(steps, np.full(n_features, np.nan))


# --- codes that a selector keeps ------------------------------------------------------------------


class KeptCodes(NamedTuple):
    """The codes a fitted selector keeps: of the selected features, and of the target."""

    selected: Codes
    target: EncodedTarget


def keep_codes(
    codes: Codes | RemoteCodes, target: EncodedTarget, indices: Sequence[int]
) -> KeptCodes | None:
    """Copy the codes of the selected features; None if they exceed ``MAX_KEPT_BYTES``.

    A copy, so that the memory of the other columns can be freed. The values of a quantity are kept
    too if there is room for them.
    """
    if target.strategy != "mean":
        target = replace(target, targets=())
    n_bytes = len(target.column.codes) * (len(indices) + len(target.each))
    if n_bytes > MAX_KEPT_BYTES:
        return None
    n_of_values = sum(one.values.nbytes for one in target.each if one.values is not None)
    if n_bytes + n_of_values > MAX_KEPT_BYTES:
        each = tuple(replace(one, values=None) for one in target.targets)
        target = replace(target, values=None, targets=each)
    if isinstance(codes, Codes):
        return KeptCodes(codes.copy_columns(indices), target)
    return KeptCodes(Codes.from_columns([codes.column(k) for k in indices]), target)


def _no_codes(fitted: Fitted) -> InvalidTableError:
    """Return the error for a selector that has no codes of rows."""
    why = "The file of this selector has no codes of rows"
    n_bytes = fitted.n_samples_of_fit * (len(fitted.selection) + 1)
    if n_bytes > MAX_KEPT_BYTES:
        size = f"{n_bytes / 1e9:.1f} GB"
        why = f"The codes of the selected columns were not kept, because they take {size}"
    if fitted.make_criterion is None:
        why = f"{fitted.method} keeps no codes of the table"
    return InvalidTableError(f"{why}: pass the table and the target it was fitted on, X and y.")


# --- the basis ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Basis(Fitted):
    """A selection and the codes it was made on."""

    target: EncodedTarget
    selected: Codes  # in the order of selection
    criterion: Criterion | None = None
    estimator: str = PLUGIN_ESTIMATOR
    codes: Codes | None = None  # of all features; None if no table was given
    column_codes: Codes | None = None  # of all columns
    rows: NDArray[np.int64] | None = None  # with weights: the row of X behind each row of the codes

    @property
    def y(self) -> Column:
        """The codes of the target."""
        return self.target.column

    @property
    def averaged(self) -> tuple[EncodedTarget, ...]:
        """The targets over which all values are means; one, unless that was the strategy."""
        return self.target.targets if self.target.strategy == "mean" else (self.target,)

    @property
    def n_jobs(self) -> int | None:
        """The number of threads, a parameter of the selector."""
        return self.parameters.get("n_jobs")

    def terms(self, block: Codes, estimator: str | None = None) -> MeanTerms:
        """Return the terms of columns and the target, by the estimator of the selection."""
        return MeanTerms(block, self._joint_targets, estimator or self.estimator)

    @cached_property
    def _joint_targets(self) -> list[Joint]:
        return [SharedColumn.of(one.column).joint for one in self.averaged]

    def relevance_of_targets(self, column: Column) -> tuple[float, ...]:
        """Return I(X;Y) of a column for each target, if the selection is the mean over several."""
        if len(self.averaged) == 1:
            return ()
        block = Codes.from_columns([column])
        each = [BlockTerms(block, joint, self.estimator) for joint in self._joint_targets]
        return tuple(float(terms.relevance()[0]) for terms in each)

    @cached_property
    def relevance(self) -> Values:
        """I(X;Y) of every feature; computed here if the method did not."""
        found = self.selection.relevance
        return self.terms(self.all_codes).relevance() if np.isnan(found).any() else found

    @cached_property
    def target_entropy(self) -> float:
        """H(Y), plug-in: the information of y with itself. The mean over several targets."""
        found = [
            BlockTerms(Codes.from_columns([one.column]), joint, PLUGIN_ESTIMATOR).relevance()[0]
            for one, joint in zip(self.averaged, self._joint_targets, strict=True)
        ]
        return float(np.mean(found))

    @property
    def n_samples(self) -> int:
        """How many rows the codes have."""
        return len(self.y.codes)

    @property
    def all_codes(self) -> Codes:
        """The codes of all features; an error if they are not at hand and no table was given."""
        found = self.codes
        if found is None and self.encoded is not None and isinstance(self.encoded.codes, Codes):
            found = self.encoded.codes
        if found is None:
            raise InvalidTableError("This needs the codes of all features: pass X and y.")
        return found

    def has_column(self, k: int) -> bool:
        """Whether the codes of feature k are at hand."""
        return k in self.places or self.codes is not None or self.encoded is not None

    def column(self, k: int) -> Column:
        """Return the codes of feature k."""
        if k in self.places:
            return self.selected_columns[self.places[k]]
        return self.all_codes.column(k)

    @cached_property
    def selected_columns(self) -> list[SharedColumn]:
        """The selected features in the order of selection, each with its feature index."""
        columns = [self.selected.column(place) for place in range(len(self.selection))]
        return [
            SharedColumn.of(Column(column.codes, column.arity, int(k)))
            for column, k in zip(columns, self.selection.indices, strict=True)
        ]

    @cached_property
    def places(self) -> dict[int, int]:
        """The place of each selected feature in the order of selection, from 0."""
        return {step.index: place for place, step in enumerate(self.selection.steps)}

    @cached_property
    def best(self) -> list[tuple[int, float]]:
        """The best candidate of each step and its score, as in ``Selection.best``."""
        return self.selection.best

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

    def redundancy_matrix(self, n_first: int | None = None) -> Values:
        """R_ij = I(X_i;X_j) − I(X_i;X_j|Y) of the selected features; I(X_i;Y) on the diagonal.

        Of the first ``n_first`` selected features, or of all.
        """
        columns = self.selected_columns[:n_first]
        if not columns:
            return np.zeros((0, 0))
        is_all = len(columns) == len(self.selection)
        terms = self.terms(self.selected if is_all else Codes.from_columns(columns))
        matrix = np.array([terms.redundancy(column.joint) for column in columns])
        matrix = (matrix + matrix.T) / 2  # a shrunken estimate is not symmetric
        np.fill_diagonal(matrix, terms.relevance())
        return matrix


def basis_of(selector: Any, X: Any = None, y: Any = None) -> Basis:
    """Return the selection of a fitted selector and the codes it was made on.

    With X the codes of all features, without it those of the selected ones. y is needed if the
    selector keeps no codes of it, and otherwise checked if it is given.
    """
    X, y = split_target(X, y)
    fitted = _read(selector)
    if fitted.kept is None and (X is None or y is None):
        raise _no_codes(fitted)
    if fitted.make_criterion is None:
        return _basis_of_ranking(fitted, X, y)
    if X is None and fitted.kept is not None:
        return _basis_of_search(fitted, fitted.kept)
    table, counts, rows = as_table(X), fitted.row_counts, None
    n_rows = table.n_rows
    if counts is not None and len(counts) == n_rows:
        rows = repeated_rows(counts)
        table = as_table(table.take(rows))
    columns = fitted.encoder.transform(table, n_jobs=-1)
    codes = fitted.features.join(columns)
    target = None if fitted.kept is None else fitted.kept.target
    if y is not None:
        values = as_target(y, n_rows, rows=table.rows, several=True)
        target = _same_target(target, encode_target(values, table.n_rows, fitted.how_target))
    assert target is not None
    basis = _basis_of_search(fitted, KeptCodes(_chosen(codes, fitted.selection), target))
    if codes.n_samples != basis.n_samples or not np.array_equal(
        basis.terms(codes).relevance(), basis.selection.relevance
    ):
        raise _other_table()
    time_kinds = table.time_kinds(range(table.n_columns))
    return replace(basis, codes=codes, column_codes=columns, rows=rows, time_kinds=time_kinds)


def selection_of(selector: Any) -> tuple[Selection, Features, str]:
    """Return the selection of a fitted selector, its features, and the unit of the scores."""
    fitted = _read(selector)
    unit = "score" if fitted.make_criterion is None else fitted.make_criterion().unit
    return fitted.selection, fitted.features, unit


def column_of(selector: Any, feature: int | str, X: Any, y: Any = None) -> tuple[Basis, Column]:
    """Return the basis and the codes of one feature; of X, a table or a path, only its columns.

    X may be None if the feature is selected and the selector keeps its codes.
    """
    fitted = _read(selector)
    k = fitted.features.find(feature)
    if fitted.kept is None:
        basis = basis_of(selector, X, y)
        return basis, basis.all_codes.column(k)
    basis = _basis_of_search(fitted, fitted.kept)
    if k in basis.places:
        return basis, basis.selected_columns[basis.places[k]]
    if X is None:
        raise InvalidParameterError(
            f"Feature {fitted.features.first[k]} was not selected, and only the codes of selected "
            "features are kept: pass the table the selector was fitted on, as in "
            "explain(feature, X)."
        )
    indices = fitted.features.columns(k)
    columns = read_columns(X, fitted.inner, fitted.encoder, indices, fitted.row_counts)
    if len(columns[0].codes) == basis.n_samples:
        joined = columns[0] if len(columns) == 1 else join_columns(columns, str(k))
        column = Column(joined.codes, joined.arity, k)
        terms = basis.terms(Codes.from_columns([column]))
        if terms.relevance()[0] == basis.selection.relevance[k]:
            return replace(basis, time_kinds=time_kinds(X, fitted.inner, indices)), column
    raise _other_table()


def _basis_of_search(fitted: Fitted, kept: KeptCodes) -> Basis:
    assert fitted.make_criterion is not None
    criterion = fitted.make_criterion()
    if kept.target.strategy == "mean":
        criterion = MeanCriterion(criterion, [one.column for one in kept.target.targets])
    codes = kept.selected
    return Basis(**vars(fitted), target=kept.target, selected=codes, criterion=criterion,
                 estimator=criterion.estimator)  # fmt: skip


def _basis_of_ranking(fitted: Fitted, X: Any, y: Any) -> Basis:
    """Encode the table for a method that has no codes of its own."""
    table = as_table(X)
    codes = fitted.encoder.fit_transform(table, n_jobs=-1)
    names = fitted.features.column_names
    if table.n_columns != fitted.features.n_columns or (
        names is not None and table.names is not None and list(names) != list(table.names)
    ):
        raise _other_table()
    fitted = replace(fitted, time_kinds=table.time_kinds(range(table.n_columns)))
    target = encode_target(y, table.n_rows, fitted.how_target)
    selected = _chosen(codes, fitted.selection)
    return Basis(**vars(fitted), target=target, selected=selected, codes=codes, column_codes=codes)


def _chosen(codes: Codes, selection: Selection) -> Codes:
    return codes.copy_columns(selection.indices.tolist())


def _same_target(kept: EncodedTarget | None, again: EncodedTarget) -> EncodedTarget:
    """Return the target of the fit; an error if y is another one."""
    if kept is None:
        return again
    targets = again.targets if again.strategy == "mean" else (again,)
    of_fit = kept.targets if kept.strategy == "mean" else (kept,)
    codes = [[one.column.codes for one in found] for found in (targets, of_fit)]
    if len(codes[0]) != len(codes[1]) or not all(map(np.array_equal, *codes)):
        raise InvalidTargetError(
            "y is not the target the selector was fitted on: its values, or their order, are "
            "different. Pass the same X and y as to fit."
        )
    return kept


def _other_table() -> InvalidTableError:
    return InvalidTableError(
        "X is not the table the selector was fitted on: its columns, its rows, or their order, are "
        "different. Pass the same table as to fit."
    )

"""Why a fitted information-theoretic selector selected a feature, or did not."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.codes import Codes, Column
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, join_columns
from hocmim.coding.kendall import KENDALL
from hocmim.coding.target import Target
from hocmim.coding.targets import encode_targets
from hocmim.criteria.base import Criterion
from hocmim.criteria.mean import MeanCriterion
from hocmim.data.table import Table, as_table
from hocmim.data.target import as_target
from hocmim.data.times import TimeKinds
from hocmim.data.weights import repeated_rows
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.insight.basis import Basis, KeptCodes, codes_not_kept, codes_not_saved
from hocmim.insight.explain import Explanation, explain
from hocmim.search.inputs import Input, RowCounts, open_table
from hocmim.search.pairs import encode_pairs
from hocmim.search.selection import Selection
from hocmim.selectors.constrained import ConstrainedSelector


class ExplainingSelector(ConstrainedSelector):
    """A selector that explains its selection, and gives the basis of its reports."""

    selection_: Selection
    features_: Features
    encoder_: Encoder
    relevance_: NDArray[np.float64]
    target_strategy_: str
    classes_: Any
    target_cuts_: Any
    discretizer: str
    _kept: KeptCodes | None
    _n_samples: int
    _is_loaded: bool
    _row_counts: RowCounts | None
    _time_kinds: TimeKinds

    @abstractmethod
    def make_criterion(self) -> Criterion:
        """Check the parameters and make the criterion."""

    @abstractmethod
    def limited_criterion(self) -> Criterion:
        """Return the criterion for the number of features to select."""

    def explain(self, feature: int | str, X: Any = None) -> Explanation:
        """Say why a feature was selected or not.

        Parameters
        ----------
        feature : int or str
            Its index or its name; of a group, that of one of its columns will do.
        X : table or path, optional
            What the selector was fitted on: needed for a feature that was not selected, since only
            the codes of the selected ones are kept.

        Returns
        -------
        Explanation
            ``print`` it; or read its ``relevance``, ``redundancy``, ``contests`` and so on.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from hocmim import HOCMIM
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> selector = HOCMIM(5).fit(X, y)
        >>> print(selector.explain("mean radius", X).replaced_by)
        worst perimeter
        """
        check_is_fitted(self)
        k = self.features_.find(feature)
        basis = self.basis()
        if k not in basis.places and X is not None:
            time_kinds = open_table(X, self).time_kinds(self.features_.columns(k))
            basis = replace(basis, time_kinds=time_kinds)
        return explain(basis, self._column_to_explain(basis, k, X))

    def basis(self, X: Any = None, y: Any = None) -> Basis:
        """Return the selection and the codes it was made on.

        Parameters
        ----------
        X, y : optional
            The table and the target the selector was fitted on. With X the codes of all features
            are in it, without it those of the selected features only. y is checked if it is given.
        """
        check_is_fitted(self)
        if self._kept is None:
            if self._is_loaded:
                raise codes_not_saved()
            raise codes_not_kept(self._n_samples, len(self.selection_))
        target, criterion = self._kept_target(self._kept), self.limited_criterion()
        if target.strategy == "mean":
            criterion = MeanCriterion(criterion, [one.column for one in target.targets])
        basis = Basis(
            method=self.display_name,
            features=self.features_,
            selection=self.selection_,
            encoder=self.encoder_,
            target=target,
            selected=self._kept.selected,
            criterion=criterion,
            estimator=criterion.estimator,
            time_kinds=self._time_kinds,
            left_out=frozenset(self._constraints.left_out),
        )
        return basis if X is None else self._with_codes(basis, X, y)

    def _kept_target(self, kept: KeptCodes) -> Target:
        """Return the target of the fit; for the mean over several, all of them."""
        if self.target_strategy_ != "mean":
            return Target(kept.y, self.classes_, self.target_cuts_, values=kept.values)
        targets = tuple(
            Target(one.y, classes, cuts, values=one.values)
            for one, classes, cuts in zip(
                kept.targets, self.classes_, self.target_cuts_, strict=True
            )
        )
        return targets[0]._replace(targets=targets, strategy="mean")

    def _with_codes(self, basis: Basis, X: Any, y: Any) -> Basis:
        """Add the codes of the table, which must be the one of the fit."""
        if self.discretizer == KENDALL:
            raise InvalidParameterError(
                "A report is about rows, and discretizer='kendall' selects by pairs of rows. Pass "
                "another discretizer."
            )
        table, counts = as_table(X), self._row_counts
        n_rows, rows = table.n_rows, None
        if counts is not None and len(counts) == n_rows:
            rows = repeated_rows(counts)
            table = as_table(table.take(rows))
        if y is not None:
            self._check_target(basis, as_target(y, n_rows, rows=table.rows, several=True), table)
        columns = self.encoder_.transform(table)
        codes = self.features_.join(columns)
        if not np.array_equal(basis.terms(codes).relevance(), self.selection_.relevance):
            raise self._other_table()
        time_kinds = table.time_kinds(range(table.n_columns))
        return replace(basis, codes=codes, column_codes=columns, rows=rows, time_kinds=time_kinds)

    def _check_target(self, basis: Basis, y: Any, table: Table) -> None:
        """Raise an error if y is not the target of the fit."""
        again = encode_targets(y, table.n_rows, self.target_options())
        targets = again.targets if again.strategy == "mean" else (again,)
        codes = [[one.column.codes for one in found] for found in (targets, basis.averaged)]
        if len(codes[0]) != len(codes[1]) or not all(map(np.array_equal, *codes)):
            raise InvalidTargetError(
                "y is not the target the selector was fitted on: its values, or their order, are "
                "different. Pass the same X and y as to fit."
            )

    def _check_same_columns(self, data: Input) -> None:
        """Raise an error if a table does not have the columns of the fit."""
        names = getattr(self, "feature_names_in_", None)
        is_same = names is None or data.names is None or list(names) == list(data.names)
        if data.n_columns != self.n_features_in_ or not is_same:
            raise self._other_table()

    def _other_table(self) -> InvalidTableError:
        return InvalidTableError(
            "X is not the table the selector was fitted on: its rows, or their order, are "
            "different. Pass the same table as to fit."
        )

    def _column_to_explain(self, basis: Basis, k: int, X: Any) -> Column:
        """The codes of feature k."""
        for column in basis.selected_columns:
            if column.index == k:
                return column
        first = int(self.features_.first[k])
        if X is None:
            raise InvalidParameterError(
                f"Feature {first} was not selected, and only the codes of selected features are "
                "kept: pass the table the selector was fitted on, as in explain(feature, X)."
            )
        table = open_table(X, self, row_counts=self._row_counts)
        indices = self.features_.columns(k)
        if self.discretizer == KENDALL:
            columns = encode_pairs(X, self.encoder_, indices)
        else:
            columns = table.encode_columns(self.encoder_, indices)
        if len(columns[0].codes) == basis.n_samples:
            joined = columns[0] if len(columns) == 1 else join_columns(columns, str(k))
            column = Column(joined.codes, joined.arity, k)
            terms = basis.terms(Codes.from_columns([column]))
            if terms.relevance()[0] == self.relevance_[first]:
                return column
        raise self._other_table()

"""The information-theoretic selectors as scikit-learn estimators: what they share."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.codes import Codes, Column, column_digests, fingerprint
from hocmim.coding.groups import Features, join_columns, resolve_groups
from hocmim.coding.kendall import KENDALL
from hocmim.coding.options import EncodingOptions
from hocmim.coding.target import Target
from hocmim.coding.targets import encode_targets
from hocmim.criteria.base import Criterion
from hocmim.criteria.mean import MeanCriterion
from hocmim.data.checks import set_features
from hocmim.data.table import as_table
from hocmim.data.target import as_target
from hocmim.data.weights import repeated_rows
from hocmim.errors import (
    InvalidParameterError,
    InvalidTableError,
    InvalidTargetError,
    warn_user,
)
from hocmim.information.counting import BlockTerms, Joint
from hocmim.insight.basis import Basis, codes_not_kept, keep_codes
from hocmim.insight.explain import Explanation, Trace, explain
from hocmim.search.checkpoint import Checkpoint
from hocmim.search.engines.remote import RemoteCodes, address_of, open_cluster
from hocmim.search.inputs import Input, open_engine, open_input, open_table
from hocmim.search.loop import Engine, forward_search
from hocmim.search.pairs import PairsInput, encode_pairs, open_pairs
from hocmim.search.progress import Listeners, Notifier, Progress, ProgressCallback
from hocmim.search.selection import Selection, Step, Stopping
from hocmim.search.stopping import StoppingRule
from hocmim.selectors.base import RankingSelector
from hocmim.selectors.callbacks import ReportsTasks, with_callbacks
from hocmim.selectors.declared import DeclaredParameters
from hocmim.selectors.pictures import Pictures
from hocmim.threads import resolve_n_jobs, stopped_by

if TYPE_CHECKING:
    from hocmim.search.engines.cluster import Cluster

# Parameters that no result depends on, and those that matter for "auto" only.
WITHOUT_EFFECT = ("engine", "codes_dir", "checkpoint", "n_jobs", "verbose")
FOR_AUTO = ("stop", "alpha", "n_permutations", "random_state")


class InformationSelector(ReportsTasks, Pictures, DeclaredParameters, RankingSelector):
    """Base of the selectors that maximise an information criterion, one column at a time.

    The table is encoded; missing values are a level of their own. Then the criterion scores the
    candidates until ``n_features_to_select`` columns are selected. Of columns with the same score
    (to 12 decimals) the first in the table is selected.

    Notes
    -----
    With ``feature_groups``, ``n_features_to_select`` counts a group as one. What there is for each
    column (``relevance_``, ``ranking_``) or for each selected column (``selected_``, ``scores_``,
    ``p_values_``) has the value of the group at each of its columns; K above counts features.
    ``trace_``, the pictures and ``redundancy_matrix`` have a group once, under its name.

    For ``explain`` and the pictures a fitted selector keeps the codes of the selected columns and
    of y, one or two bytes a value, unless that is more than 256 MiB.
    """

    n_features_to_select: int | float | str | None
    estimator: str
    discretizer: str
    n_bins: int
    target_kind: str
    target_bins: int
    target_discretizer: str
    target_strategy: str
    classes_: Any
    target_cuts_: Any
    min_gain: float | None
    stop: str
    alpha: float
    n_permutations: int
    random_state: Any
    feature_groups: Any
    engine: Any
    codes_dir: str | PathLike[str] | None
    checkpoint: str | PathLike[str] | None
    n_jobs: int | None
    verbose: int

    _other_numbers = ", or 'auto' for as many as add more than chance does"

    @abstractmethod
    def make_criterion(self) -> Criterion:
        """Check the parameters and make the criterion."""

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Select columns of X that together say most about y.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or path
            NumPy array, pandas or polars DataFrame, pyarrow table, or scipy sparse matrix, with
            columns of numbers, booleans, strings or categories; values may be missing. Or the path
            of a Parquet file or of a folder of them, or a pyarrow data set, which may be larger
            than memory; or, with ``engine="dask"``, a Dask DataFrame or Array.
        y : array of shape (n_samples,), or str
            Classes, or a quantity, which is cut into ``target_bins`` bins: see ``target_kind``. The
            name of one of the columns if X is a path, a data set or a Dask DataFrame; the other
            columns are the features then. A Dask Series or Array if X is a Dask collection. For
            several targets an array of shape (n_samples, n_targets), or a list of names: see
            ``target_strategy``.
        sample_weight : array of shape (n_samples,) or "balanced", optional
            Whole numbers are counts: a row of weight w counts as w equal rows. Numbers with
            fractions are relative: they are scaled to a mean of 1, and rows are repeated or left
            out so that rows of one weight have their share. "balanced" gives every class the same
            weight. For tables in memory.
        progress : callable, optional
            Called with a ``hocmim.search.progress.ProgressEvent`` during the fit, a few times a
            second. It may raise to stop the fit.
        """
        self.check_parameters()
        with (
            self._reported_tasks(X, y, progress) as callback,
            open_cluster(self.engine) as cluster,
        ):
            return self._fit(X, y, sample_weight, cluster, callback)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        cluster: Cluster | None,
        callback: ProgressCallback | None,
    ) -> Self:
        data = open_input(X, y, sample_weight, cluster=cluster, caller=type(self).__name__)
        if self.discretizer == KENDALL:
            data = open_pairs(data, is_auto=self._is_auto)
        set_features(self, data.n_columns, data.names)
        self._row_counts = data.row_counts
        self.features_ = self._resolve_features()
        n_selected = self._resolve_n_features(len(self.features_), self.features_.counted)
        criterion = self._limited_criterion()
        listeners = self._listeners(criterion, n_selected, callback)
        listeners.on_stage("encode")
        options = EncodingOptions(
            self.discretizer, self.n_bins, self.features_, self._n_threads, self.codes_dir
        )
        with stopped_by(listeners.on_wait):
            target = self._encode_target(data)
            self.encoder_, codes = data.encode(target.column, options)
        listeners.on_stage("search")
        ys = [one.column for one in target.targets] if target.strategy == "mean" else None
        if ys is not None:
            criterion = MeanCriterion(criterion, ys)
        rule = self._stopping_rule(criterion, codes, ys or target.column)
        with open_engine(
            codes,
            target.column,
            criterion,
            cluster=cluster,
            n_jobs=self._n_threads,
            on_terms=listeners.on_terms if listeners else None,
        ) as engine:
            selection = self._search(engine, n_selected, rule, listeners.on_step, ys or ())
            self._kept = keep_codes(codes, target, selection.indices.tolist())
        self._n_samples = len(target.column.codes)
        self._time_kinds = data.time_kinds(self.features_.expand(selection.indices).tolist())
        self._keep(self._finished(selection, rule), criterion)
        return self

    def _encode_target(self, data: Input) -> Target:
        """Return the codes of the target; set what there is to know about them."""
        options = replace(self.target_options(), kind=self.target_kind)
        target = data.encode_target(options)
        for one in target.each:
            self._set_target_kind(one.kind)
        if isinstance(data, PairsInput):
            self.target_kind_ = data.kind(options).name
        self.target_strategy_ = target.strategy
        self.classes_, self.target_cuts_ = target.classes, target.cuts
        if target.targets:
            self.target_kind_ = tuple(one.kind.name for one in target.targets)
        if target.strategy == "mean":
            self.classes_ = [one.classes for one in target.targets]
            self.target_cuts_ = [one.cuts for one in target.targets]
            self._check_mean()
        return target

    def _check_mean(self) -> None:
        """Warn if "mean" was not asked for; raise an error if the columns need one target."""
        if self.target_strategy == "joint":
            warn_user(
                "The targets have fewer than 5 rows for each combination of their values, so the "
                "mean over the targets is used. Pass target_strategy='mean' to confirm this."
            )
        if self.discretizer == "mdlp":
            raise InvalidParameterError(
                "discretizer='mdlp' cuts the columns by one target. Pass another discretizer for "
                "the mean over several targets."
            )

    def _search(
        self,
        engine: Engine,
        n_selected: int,
        rule: StoppingRule,
        on_step: Callable[[int, Step], None],
        targets: Sequence[Column] = (),
    ) -> Selection:
        if self.checkpoint is None:
            return forward_search(engine, n_selected, stop=rule, on_step=on_step)
        identity = self._identity(rule)
        if targets:  # the fingerprint has the first one only
            identity["targets"] = fingerprint(
                column_digests(Codes.from_columns(targets)), targets[0]
            )
        checkpoint = Checkpoint(self.checkpoint, identity, engine.fingerprint())
        return checkpoint.search(engine, n_selected, rule, on_step)

    def _finished(self, selection: Selection, rule: StoppingRule) -> Selection:
        """Add to a selection why it stopped."""
        p_values = np.array(rule.p_values[: len(selection)], np.float64) if self._is_auto else None
        return replace(selection, stopping=rule.stopping, p_values=p_values)

    def _identity(self, rule: StoppingRule) -> dict[str, Any]:
        """Return what a result depends on besides the data and the number of columns."""
        without = {"n_features_to_select", *WITHOUT_EFFECT, *(() if self._is_auto else FOR_AUTO)}
        others = self.get_params(deep=False)
        if isinstance(self.random_state, np.random.RandomState):
            others["random_state"] = rule.seed
        return {
            "method": type(self).__name__,
            "n_features_to_select": "auto" if self._is_auto else "a number",
            **{name: others[name] for name in others if name not in without},
        }

    @property
    def _n_threads(self) -> int:
        return resolve_n_jobs(self.n_jobs)

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.n_features_to_select, str) and self.n_features_to_select == "auto"

    def _resolve_n_features(self, n_columns: int, counted: str = "columns of X") -> int:
        return n_columns if self._is_auto else super()._resolve_n_features(n_columns, counted)

    def _resolve_features(self) -> Features:
        """Return what can be selected in a table of ``n_features_in_`` columns."""
        names = getattr(self, "feature_names_in_", None)
        return resolve_groups(self.feature_groups, self.n_features_in_, names)

    def _limited_criterion(self) -> Criterion:
        """Return the criterion for the number of features to select."""
        criterion = self.make_criterion()
        criterion.expect(self._resolve_n_features(len(self.features_)))
        return criterion

    def _stopping_rule(
        self, criterion: Criterion, codes: Codes | RemoteCodes, y: Column | Sequence[Column]
    ) -> StoppingRule:
        return StoppingRule(
            codes.column,
            y,
            codes.n_columns,
            test=self.stop if self._is_auto else None,
            alpha=self.alpha,
            n_permutations=self.n_permutations,
            random_state=self.random_state,
            min_gain=self.min_gain,
            given_selected=criterion.sees_redundancy,
        )

    def _listeners(
        self, criterion: Criterion, n_selected: int, callback: ProgressCallback | None
    ) -> Listeners:
        names = self.features_.names
        n_terms = 0 if self._is_auto else criterion.n_terms(n_selected) * len(self.features_)
        n_to_select = None if self._is_auto else n_selected
        listeners = Listeners()
        if self.verbose:
            listeners.append(Progress(self.display_name, names, n_to_select, n_terms))
        if callback is not None:
            listeners.append(Notifier(callback, names, n_to_select, n_terms or None))
        return listeners

    def _keep(self, selection: Selection, criterion: Criterion) -> None:
        """Set the fitted attributes."""
        self.relevance_ = selection.relevance[self.features_.of_column]
        self.trace_ = Trace(selection, self.features_)
        self._set_selection(selection.indices, selection.scores, features=self.features_)
        self.selection_ = selection
        self.stopping_ = self._in_columns(selection.stopping)
        if selection.p_values is not None:
            self.p_values_ = self._for_columns(selection.p_values)
        if criterion.has_representative_sets:
            sizes = self.features_.sizes(selection.indices)
            orders = [step.order for step in selection.steps]
            self.orders_ = self._for_columns(np.array(orders, np.int64))
            self.representative_sets_ = [
                self.features_.expand(step.representative_set)
                for step, size in zip(selection.steps, sizes, strict=True)
                for _ in range(size)
            ]

    def _for_columns(self, values: ArrayLike) -> NDArray[Any]:
        """Return what was found for each selected feature, for each of its columns."""
        return np.repeat(values, self.features_.sizes(self.selection_.indices))

    def _in_columns(self, stopping: Stopping | None) -> Stopping | None:
        """Return where the selection stopped, in column indices."""
        if stopping is None:
            return None
        index = int(self.features_.first[stopping.index])
        return replace(stopping, index=index, given=self.features_.expand(stopping.given))

    # --- why --------------------------------------------------------------------------------------

    def explain(self, feature: int | str, X: Any = None) -> Explanation:
        """Say why a feature was taken or left.

        Parameters
        ----------
        feature : int or str
            Its index or its name; of a group, that of one of its columns will do.
        X : table or path, optional
            What the selector was fitted on: needed for a feature that was left, since only the
            codes of the selected ones are kept.

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
            The table and the target the selector was fitted on. With them the codes of all
            features are in it, without them those of the selected features only.
        """
        check_is_fitted(self)
        if self.target_strategy_ == "mean":
            raise InvalidTargetError(
                "Explanations, reports and redundancy need one target, and this selection is the "
                "mean over several. Fit on one of the targets, or on fewer with "
                "target_strategy='joint'."
            )
        if self._kept is None:
            raise codes_not_kept(self._n_samples, len(self.selection_))
        criterion = self._limited_criterion()
        basis = Basis(
            method=self.display_name,
            features=self.features_,
            selection=self.selection_,
            encoder=self.encoder_,
            target=Target(self._kept.y, self.classes_, self.target_cuts_, values=self._kept.values),
            selected=self._kept.selected,
            criterion=criterion,
            estimator=criterion.estimator,
            time_kinds=self._time_kinds,
        )
        return basis if X is None else self._with_codes(basis, X, y)

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
        again = encode_targets(
            as_target(y, n_rows, rows=table.rows, several=True),
            table.n_rows,
            self.target_options(),
        ).column
        if not np.array_equal(again.codes, basis.y.codes):
            raise InvalidTargetError(
                "y is not the target the selector was fitted on: its values, or their order, are "
                "different. Pass the same X and y as to fit."
            )
        columns = self.encoder_.transform(table)
        codes = self.features_.join(columns)
        terms = BlockTerms(codes, Joint.of([basis.y]), basis.estimator)
        if not np.array_equal(terms.relevance(), self.selection_.relevance):
            raise self._other_table()
        time_kinds = table.time_kinds(range(table.n_columns))
        return replace(basis, codes=codes, column_codes=columns, rows=rows, time_kinds=time_kinds)

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
            terms = BlockTerms(Codes.from_columns([column]), Joint.of([basis.y]), basis.estimator)
            if terms.relevance()[0] == self.relevance_[first]:
                return column
        raise self._other_table()

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: of a Client that is the engine, the address of its scheduler."""
        state: dict[str, Any] = super().__getstate__()
        return {**state, "engine": address_of(self.engine)}

    def __sklearn_clone__(self) -> Any:
        """A copy that is not fitted; it has the same Client, which cannot be copied."""
        cloned = super(InformationSelector, copy.copy(self)).__sklearn_clone__()
        cloned.engine = self.engine
        return cloned

    def __sklearn_tags__(self) -> Any:
        """Tags: missing values and strings are read as levels of their own."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.multi_output = True
        return tags

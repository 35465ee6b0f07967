"""The information-theoretic selectors as scikit-learn estimators: what they share."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.codes import Codes, Column, column_digests, fingerprint
from hocmim.coding.groups import Features, resolve_groups
from hocmim.coding.identifiers import identifiers_or_decided
from hocmim.coding.kendall import KENDALL
from hocmim.coding.options import EncodingOptions
from hocmim.coding.rare import MaxLevels
from hocmim.coding.target import Target
from hocmim.coding.texts import warn_of_text
from hocmim.criteria.base import Criterion
from hocmim.criteria.cost import PerCostCriterion
from hocmim.criteria.mean import MeanCriterion
from hocmim.data.checks import set_features
from hocmim.data.row_groups import RowGroups
from hocmim.errors import InvalidParameterError
from hocmim.information.counting import plane_classes
from hocmim.insight.basis import keep_codes
from hocmim.insight.cautions import only_identifiers, warn_about_columns, warn_about_identifiers
from hocmim.insight.explain import Trace
from hocmim.parameters import FUNCTION_OR_NONE, check_value
from hocmim.search.checkpoint import Checkpoint
from hocmim.search.engines.remote import RemoteCodes, address_of, open_cluster
from hocmim.search.inputs import Input, open_engine
from hocmim.search.loop import Engine, forward_search
from hocmim.search.pairs import PairsInput, open_pairs
from hocmim.search.progress import Listeners, Notifier, Progress, ProgressCallback
from hocmim.search.row_groups import GroupedStoppingRule, groups_of_samples
from hocmim.search.selection import Selection, Step, Stopping
from hocmim.search.stopping import StoppingRule
from hocmim.selectors.callbacks import ReportsTasks, with_callbacks
from hocmim.selectors.declared import DeclaredParameters
from hocmim.selectors.encoded import Encoded, check_mean
from hocmim.selectors.errors import ControlsErrors
from hocmim.selectors.pictures import PlottingSelector
from hocmim.selectors.saved_information import SavedInformation
from hocmim.threads import resolve_n_jobs, stopped_by

if TYPE_CHECKING:
    from hocmim.search.engines.cluster import Cluster

# Parameters that no result depends on, and those that matter for "auto" only.
WITHOUT_EFFECT = ("engine", "codes_dir", "checkpoint", "n_jobs", "verbose")
FOR_AUTO = ("stop", "alpha", "max_tries", "fdr", "n_permutations", "random_state")


class InformationSelector(
    SavedInformation, ReportsTasks, ControlsErrors, DeclaredParameters, PlottingSelector
):
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
    of y, one or two bytes a value, unless that is more than 256 MiB. For ``extend`` it also keeps
    those of all columns, with the same limit; they are not pickled or copied.
    """

    n_features_to_select: int | float | str | None
    estimator: str
    discretizer: str
    n_bins: int
    max_levels: MaxLevels
    identifiers: str
    target_kind: str
    target_bins: int
    target_discretizer: str
    target_strategy: str
    classes_: Any
    target_cuts_: Any
    min_gain: float | None
    stop: str
    alpha: float
    fdr: float | None
    max_tries: int
    n_permutations: int
    random_state: Any
    feature_groups: Any
    engine: Any
    codes_dir: str | PathLike[str] | None
    checkpoint: str | PathLike[str] | None
    n_jobs: int | None
    verbose: int

    _encoded: Encoded | None

    _other_numbers = ", or 'auto' for as many as add more than chance does"

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
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
        groups : array of shape (n_samples,), optional
            For "auto": a label for each row. Rows of one label, such as those of one patient, are
            not independent, and the test allows for it: see ``hocmim.search.row_groups``.
        progress : callable, optional
            Called with a ``hocmim.search.progress.ProgressEvent`` during the fit, a few times a
            second. It may raise to stop the fit.
        """
        check_value("progress", progress, FUNCTION_OR_NONE)
        self.check_parameters()
        self._extended_to = None
        with (
            self._reported_tasks(X, y, progress) as callback,
            open_cluster(self.engine) as cluster,
        ):
            return self._fit(X, y, sample_weight, groups, cluster, callback)

    def extend(
        self,
        k: int,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Select more columns, up to k in all, without starting over.

        The result is that of ``fit`` with ``n_features_to_select=k``, to the last bit. After
        "auto" too: the selection goes on past its stop, without a test.

        Parameters
        ----------
        k : int
            How many features to select in all, those already selected included.
        X, y, sample_weight : optional
            What the selector was fitted on. Not needed while the selector has the codes of the fit:
            in memory up to 256 MiB, or in ``codes_dir``. A selector that was pickled or copied has
            none, and neither has one that was fitted on a Dask collection.
        progress : callable, optional
            As for ``fit``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from hocmim import NJMIM
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> NJMIM(3).fit(X, y).extend(5).n_features_
        5
        """
        check_is_fitted(self)
        check_value("progress", progress, FUNCTION_OR_NONE)
        k = self._check_extension(k)
        encoded = self._encoded
        if X is None and encoded is None:
            raise InvalidParameterError(
                "This selector does not have the codes of the fit any more: pass the table and the "
                "target it was fitted on, as in extend(k, X, y)."
            )
        fitted = dict(vars(self))
        self._extended_to = k
        try:
            with open_cluster(self.engine) as cluster:
                if X is None and encoded is not None:
                    return self._select(encoded, cluster, self._listeners(k, progress), True)
                return self._fit(X, y, sample_weight, None, cluster, progress, is_extension=True)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(fitted)
            raise

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        cluster: Cluster | None,
        callback: ProgressCallback | None,
        *,
        is_extension: bool = False,
    ) -> Self:
        data = self._open_input(X, y, sample_weight, cluster)
        if self.discretizer == KENDALL:
            data = open_pairs(data, is_auto=self._is_auto)
        if is_extension:
            self._check_same_columns(data)
        else:
            set_features(self, data.n_columns, data.names)
            self._row_counts = data.row_counts
            self.features_ = self._resolve_features()
            self._constraints = self._resolve_constraints(self.features_)
        n_selected = self._number_to_select(self.features_, self._constraints)
        criterion = self.limited_criterion()  # an error comes before the work
        listeners = self._listeners(n_selected, callback)
        listeners.on_stage("encode")
        with stopped_by(listeners.on_wait):
            target = self._encode_target(data)
            options = EncodingOptions(
                self.discretizer,
                self.n_bins,
                self.features_,
                self._n_threads,
                self.codes_dir,
                self.max_levels,
                plane_classes(criterion.estimator, target.column) if cluster is None else 0,
            )
            self.encoder_, codes = data.encode(target.column, options)
        warn_of_text(self.encoder_, X)
        self._leave_out_identifiers()
        time_kinds = data.time_kinds(range(data.n_columns))
        row_groups = groups_of_samples(groups, data) if self._is_auto else None
        encoded = Encoded(codes, target, time_kinds, row_groups)
        return self._select(encoded, cluster, listeners, is_extension)

    def _select(
        self, encoded: Encoded, cluster: Cluster | None, listeners: Listeners, is_extension: bool
    ) -> Self:
        """Search the codes of a table, and set the fitted attributes."""
        codes, target = encoded.codes, encoded.target
        listeners.on_stage("search")
        criterion = self.limited_criterion()
        has_sets = criterion.has_representative_sets
        ys = [one.column for one in target.targets] if target.strategy == "mean" else None
        if ys is not None:
            criterion, has_sets = MeanCriterion(criterion, ys), False
        constraints = self._constraints
        if constraints.spending is not None:
            criterion = PerCostCriterion(criterion, constraints.spending.costs)
        rule = self._stopping_rule(criterion, codes, ys or target.column, encoded.row_groups)
        with open_engine(
            codes,
            target.column,
            criterion,
            cluster=cluster,
            n_jobs=self._n_threads,
            on_terms=listeners.on_terms if listeners else None,
        ) as engine:
            taken = self.selection_ if is_extension else None
            selection = self._search(engine, rule, listeners.on_step, ys or (), taken)
            self._kept = keep_codes(codes, target, selection.indices.tolist())
            targets = target.each
            relevance = selection.relevance if len(targets) == 1 else None
            left_out = np.array(self._constraints.left_out, np.int64)
            warn_about_columns(self.encoder_, self.features_, codes, targets, relevance, left_out)
        self._n_samples, self._is_loaded = len(target.column.codes), False
        self._time_kinds = encoded.time_kinds
        self._encoded = encoded.if_small()
        self._keep(self._finished(selection, rule), has_sets)
        return self

    def _leave_out_identifiers(self) -> None:
        """Find the identifiers, and warn about them."""
        alone = self.features_.alone(identifiers_or_decided(self.encoder_.identifiers_))
        self.identifiers_ = alone
        if self.identifiers == "drop" and len(alone) == len(self.features_):
            raise only_identifiers()
        if self.identifiers == "drop":
            found = self.features_.of_column[alone].tolist()
            self._constraints = self._constraints.without(found)
            alone = np.array(self._left_out_columns(), np.int64)
        warn_about_identifiers(self.features_.column_names, alone, self.identifiers)

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
            check_mean(self.target_strategy, self.discretizer)
        return target

    def _search(
        self,
        engine: Engine,
        rule: StoppingRule,
        on_step: Callable[[int, Step], None],
        targets: Sequence[Column] = (),
        taken: Selection | None = None,
    ) -> Selection:
        """Search; ``taken`` is the selection to continue."""
        n_selected = self._number_to_select(self.features_, self._constraints)
        steps = () if taken is None else taken.steps
        arguments: dict[str, Any] = {"taken": steps, **self._constraints.for_search()}
        # The file of a search that a test ended cannot hold steps beyond it.
        is_past_stop = taken is not None and self.n_features_to_select == "auto"
        if self.checkpoint is None or is_past_stop:
            found = forward_search(engine, n_selected, stop=rule, on_step=on_step, **arguments)
        else:
            identity = self._identity(rule)
            if targets:  # the fingerprint has the first one only
                identity["targets"] = fingerprint(
                    column_digests(Codes.from_columns(targets)), targets[0]
                )
            checkpoint = Checkpoint(self.checkpoint, identity, engine.fingerprint())
            found = checkpoint.search(engine, n_selected, rule, on_step, **arguments)
        if taken is not None and not np.array_equal(found.relevance, taken.relevance):
            raise self._other_table()
        return found

    def _finished(self, selection: Selection, rule: StoppingRule) -> Selection:
        """Add to a selection why it stopped."""
        p_values = None
        if self._is_auto:  # columns to keep are not tested
            tested = [*[np.nan] * selection.n_kept, *rule.p_values]
            p_values = np.array(tested[: len(selection)], np.float64)
        control = rule.error_control
        if control is not None and self._row_counts is not None:
            control = replace(control, is_weighted=True)
        return replace(
            selection,
            stopping=rule.stopping or selection.stopping,
            p_values=p_values,
            error_control=control,
        )

    def _identity(self, rule: StoppingRule) -> dict[str, Any]:
        """Return what a result depends on besides the data and the number of columns."""
        without = {"n_features_to_select", *WITHOUT_EFFECT, *(() if self._is_auto else FOR_AUTO)}
        others = self.get_params(deep=False)
        if isinstance(self.random_state, np.random.RandomState):
            others["random_state"] = rule.seed
        others["keep"], others["exclude"] = self._constraints.keep, self._constraints.excluded
        if self._constraints.spending is not None:
            others["costs"] = self._constraints.spending.costs
        if isinstance(rule, GroupedStoppingRule):
            others["groups"] = rule.groups_digest
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
        asked = self.n_features_to_select
        return self._extended_to is None and isinstance(asked, str) and asked == "auto"

    def _resolve_n_features(self, n_columns: int, counted: str = "columns of X") -> int:
        return n_columns if self._is_auto else super()._resolve_n_features(n_columns, counted)

    def _resolve_features(self) -> Features:
        """Return what can be selected in a table of ``n_features_in_`` columns."""
        names = getattr(self, "feature_names_in_", None)
        return resolve_groups(self.feature_groups, self.n_features_in_, names)

    def limited_criterion(self) -> Criterion:
        """Return the criterion for the number of features to select."""
        criterion = self.make_criterion()
        criterion.expect(self._number_to_select(self.features_, self._constraints))
        return criterion

    def _stopping_rule(
        self,
        criterion: Criterion,
        codes: Codes | RemoteCodes,
        y: Column | Sequence[Column],
        row_groups: RowGroups | None,
    ) -> StoppingRule:
        kind = StoppingRule if row_groups is None else partial(GroupedStoppingRule, row_groups)
        return kind(
            codes.column,
            y,
            codes.n_columns - len(self._constraints.closed),
            test=self.stop if self._is_auto else None,
            alpha=self.alpha,
            n_permutations=self.n_permutations,
            random_state=self.random_state,
            min_gain=self.min_gain,
            given_selected=criterion.sees_redundancy,
            fdr=self.fdr,
            max_tries=self.max_tries,
        )

    def _listeners(self, n_selected: int, callback: ProgressCallback | None) -> Listeners:
        names, criterion = self.features_.names, self.limited_criterion()
        n_terms = 0 if self._is_auto else criterion.n_terms(n_selected) * len(self.features_)
        n_to_select = None if self._is_auto else n_selected
        listeners = Listeners()
        if self.verbose:
            listeners.append(Progress(self.display_name, names, n_to_select, n_terms))
        if callback is not None:
            listeners.append(Notifier(callback, names, n_to_select, n_terms or None))
        return listeners

    def _keep(self, selection: Selection, has_sets: bool) -> None:
        """Set the fitted attributes."""
        self.relevance_ = selection.relevance[self.features_.of_column]
        self.trace_ = Trace(selection, self.features_)
        self._set_selection(
            selection.indices, selection.scores, features=self.features_, selection=selection
        )
        self.stopping_ = self._in_columns(selection.stopping)
        if selection.p_values is not None:
            self.p_values_ = self._for_columns(selection.p_values)
        elif hasattr(self, "p_values_"):
            del self.p_values_  # of a fit before
        if has_sets:
            sizes = self.features_.sizes(selection.indices)
            orders = [step.order for step in selection.steps]
            self.orders_ = self._for_columns(np.array(orders, np.int64))
            self.representative_sets_ = [
                self.features_.expand(step.representative_set)
                for step, size in zip(selection.steps, sizes, strict=True)
                for _ in range(size)
            ]

    def _keep_loaded(self, selection: Selection) -> None:
        """Set the fitted attributes, from a file; the mean over targets has no sets."""
        self.selection_, self._encoded = selection, None
        self._restore_constraints()
        has_sets = self.make_criterion().has_representative_sets
        self._keep(selection, has_sets and self.target_strategy_ != "mean")

    def _for_columns(self, values: ArrayLike) -> NDArray[Any]:
        """Return what was found for each selected feature, for each of its columns."""
        return np.repeat(values, self.features_.sizes(self.selection_.indices))

    def _in_columns(self, stopping: Stopping | None) -> Stopping | None:
        """Return where the selection stopped, in column indices."""
        if stopping is None:
            return None
        first = self.features_.first
        failures = tuple(replace(one, index=int(first[one.index])) for one in stopping.failures)
        given = self.features_.expand(stopping.given)
        index = int(first[stopping.index])
        return replace(stopping, index=index, given=given, failures=failures)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: of a Client that is the engine, the address of its scheduler."""
        state: dict[str, Any] = super().__getstate__()
        if "_encoded" in state:
            state = {**state, "_encoded": None}  # copies and files are not as large as the table
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
        return tags

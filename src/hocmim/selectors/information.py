"""The information-theoretic selectors as scikit-learn estimators."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.codes import Allocate, Codes, Column
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, join_columns, resolve_groups
from hocmim.coding.sources import encode_source, encode_source_column, encode_source_target
from hocmim.coding.store import codes_fingerprint, stored_codes
from hocmim.coding.target import Target, encode_target
from hocmim.criteria.base import Criterion
from hocmim.criteria.hocmim import ExhaustiveHOCMIM, GreedyHOCMIM
from hocmim.data.checks import set_features
from hocmim.data.rows import RowSource
from hocmim.data.sources import is_row_source, open_source
from hocmim.data.table import Table, as_table, check_shape
from hocmim.data.target import as_target
from hocmim.data.weights import repeated_rows
from hocmim.errors import InvalidParameterError, InvalidTableError, InvalidTargetError
from hocmim.information.counting import BlockTerms, Joint
from hocmim.insight import plots
from hocmim.insight.explain import Explanation, Kept, Trace, explain, pairwise_redundancy
from hocmim.search.checkpoint import Checkpoint
from hocmim.search.engines.local import LocalEngine
from hocmim.search.engines.remote import (
    RemoteCodes,
    RemoteTable,
    address_of,
    is_dask_collection,
    open_cluster,
    open_collection,
    open_files,
)
from hocmim.search.loop import Engine, forward_search
from hocmim.search.progress import Progress
from hocmim.search.selection import Selection, Step, Stopping
from hocmim.search.stopping import STOPS, StoppingRule
from hocmim.selectors.base import RankingSelector

if TYPE_CHECKING:
    from hocmim.search.engines.cluster import Cluster
    from hocmim.search.engines.dask import DaskEngine

# Parameters no result depends on, and those only "auto" does.
ELSEWHERE = ("engine", "codes_dir", "checkpoint", "n_jobs", "verbose")
FOR_AUTO = ("stop", "alpha", "n_permutations", "random_state")


class InformationSelector(RankingSelector):
    """Base of the selectors that maximise a criterion of information, one column at a time.

    The table is encoded (``discretizer``, ``n_bins``; missing values are a level of their own), and
    the criterion scores what is left until ``n_features_to_select`` columns are chosen. Columns of
    equal score (to 12 decimals): the first in the table wins.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default 10
        How many columns to select: a number, a fraction of all, None for half of them, or "auto"
        for as many as add more than chance does: see ``stop``.
    estimator : {"plugin", "shrinkage", "miller_madow", "grassberger", "jeffreys"}
        How information is estimated from counts; see ``hocmim.information.estimators``.
    discretizer : {"uniform", "quantile", "mdlp"}
        How numeric columns are cut into bins: equal width, equal frequency, or by the class.
    n_bins : int, default 5
        Numeric columns with more distinct values than this are cut.
    target_bins : int, default 5
        Into how many bins a continuous target is cut.
    min_gain : float or None
        Stop before a column whose score is lower than this, even if fewer are selected then.
    stop : {"chi2", "permutation"}
        For "auto": how to test whether the best candidate X adds anything to the selected features
        Z most redundant with it, H0: X ⟂ Y | Z. See ``hocmim.search.stopping``.
    alpha : float, default 0.01
        For "auto": the level, corrected for the number of candidates. Selection stops before the
        first column with a larger p-value.
    n_permutations : int, default 999
        For "auto" and "permutation".
    random_state : int, RandomState or None, default 0
        Seed of the permutations.
    feature_groups : dict of name to columns, list of lists of columns, or None
        Columns (by name or index) that are selected together as one feature, such as the columns of
        a one-hot code; the others stay as they are.
    engine : "local", "dask", a distributed Client or the address of a scheduler
        Where the work is done: on this machine, or on the workers of a Dask cluster. Never changes
        a result.
    codes_dir : path or None
        Keep the codes in memory-mapped files of this folder instead of in memory, and use them
        again for the same data.
    checkpoint : path or None
        After each selected column, write there what is needed to go on; go on from it if it exists.
    n_jobs : int or None
        Threads; None or -1 for all cores. Never changes a result.
    verbose : int
        1 prints how many terms there are to compute, a line for each selected column, and the
        progress of long steps, to standard error.

    Attributes
    ----------
    selected_ : ndarray of int64, shape (K,)
        Column indices in the order of selection.
    scores_ : ndarray of float64, shape (K,)
        The score of each selected column when it was chosen, in nats.
    relevance_ : ndarray of float64, shape (n_features_in_,)
        I(X;Y) of every column, in nats.
    ranking_ : ndarray of int64, shape (n_features_in_,)
        1 for the column chosen first; columns not chosen share K + 1.
    encoder_ : Encoder
        How each column was encoded.
    classes_ : ndarray
        The classes of y (the cut points of a continuous y are in ``target_cuts_``).
    target_cuts_ : ndarray or None
    p_values_ : ndarray of float64, shape (K,)
        Of each selected column when it was chosen, corrected. Only with "auto".
    stopping_ : Stopping or None
        Why selection ended early: ``reason``, the column it ended before, its score and p-value.
        None if as many columns as asked for, or all, were selected.
    features_ : Features
        What was selected from: the groups of ``feature_groups``, and the columns in none of them.
    trace_ : Trace
        The winner and the runner-up of each step: score, relevance, order, representative set.

    Notes
    -----
    With ``feature_groups``, ``n_features_to_select`` counts a group as one. What there is for each
    column (``relevance_``, ``ranking_``) or for each selected column (``selected_``, ``scores_``,
    ``p_values_``) has the value of the group at each of its columns; K above counts features.
    ``trace_``, the pictures and ``redundancy_matrix`` have a group once, under its name.

    For ``explain`` and the pictures a fitted selector keeps the codes of the selected columns and
    of y: one byte a value (two for columns of more than 256 levels), K + 1 columns of them; unless
    that is more than 256 MiB.
    """

    n_features_to_select: int | float | str | None
    estimator: str
    discretizer: str
    n_bins: int
    target_bins: int
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

    @abstractmethod
    def _criterion(self) -> Criterion:
        """Check the parameters and make the criterion."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select columns of X that together say most about y.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or path
            NumPy array, pandas or polars DataFrame, pyarrow table, or scipy sparse matrix, with
            columns of numbers, truth values, strings or categories; values may be missing. Or the
            path of a Parquet file or of a folder of them, or a pyarrow data set, larger than memory
            too; or, with ``engine="dask"``, a Dask DataFrame or Array.
        y : array of shape (n_samples,), or str
            Classes, or a continuous target, which is cut into ``target_bins`` bins. The name of one
            of the columns if X is a path, a data set or a Dask DataFrame; the other columns are the
            features then. A Dask Series or Array if X is a Dask collection.
        sample_weight : array of shape (n_samples,), optional
            Whole numbers: a row of weight w counts as w equal rows, one of weight 0 as none. For
            tables in memory.
        """
        with open_cluster(self.engine) as cluster:
            return self._fit(X, y, sample_weight, cluster)

    def _fit(self, X: Any, y: Any, sample_weight: Any, cluster: Cluster | None) -> Self:
        table, y = self._open_input(X, y, sample_weight, cluster)
        self._row_counts = table.row_counts if isinstance(table, Table) else None
        self.features_ = self._resolve_features()
        n_selected = self._resolve_n_features(len(self.features_), self.features_.counted)
        criterion = self._criterion()
        target = self._encode_target(table, y)
        codes = self._encode(table, target.column)
        if isinstance(codes, Codes):
            codes = self.features_.join(codes)
        rule = self._stopping_rule(criterion, codes, target.column)
        progress = self._progress(criterion, n_selected) if self.verbose else None
        on_step, on_terms = (progress.on_step, progress.on_terms) if progress else (None, None)
        with self._open_engine(codes, target.column, criterion, on_terms, cluster) as engine:
            selection = self._search(engine, n_selected, rule, on_step)
            self._kept = Kept.of(codes, target.column, [step.index for step in selection.steps])
        self.stopping_ = self._in_columns(rule.stopping)
        if self._is_auto:
            self.p_values_ = self._for_columns(rule.p_values[: len(selection.steps)])
        self.classes_, self.target_cuts_ = target.classes, target.cuts
        self._keep(selection)
        return self

    def _open_input(
        self, X: Any, y: Any, sample_weight: Any, cluster: Cluster | None
    ) -> tuple[Table | RowSource | RemoteTable, Any]:
        """Open the table or the source; y is None if it is a column of the source, or far away."""
        is_collection = is_dask_collection(X)
        if not (is_collection or is_row_source(X)):
            return self._validate_input(X, y, sample_weight)
        if sample_weight is not None:
            raise InvalidParameterError(
                "sample_weight is for tables in memory. Leave it out, or write the rows as often "
                "as they weigh."
            )
        if is_collection:
            if y is None:
                raise self._no_target()
            remote = open_collection(X, y, cluster)
            set_features(self, remote.n_columns, remote.names)
            return remote, None
        source, y = open_source(X, y)
        check_shape(source.n_rows, source.n_columns, min_rows=2)
        set_features(self, source.n_columns, source.names)
        if source.target is None:
            if y is None:
                raise self._no_target()
            y = as_target(y, source.n_rows)
        remote_files = open_files(source, y, cluster)
        return (source, y) if remote_files is None else (remote_files, None)

    def _no_target(self) -> InvalidTargetError:
        return InvalidTargetError(
            f"This {type(self).__name__} estimator requires y to be passed: the name of the column "
            "of X that is the target, or the target itself."
        )

    def _encode_target(self, table: Table | RowSource | RemoteTable, y: Any) -> Target:
        how: dict[str, Any] = {"bins": self.target_bins, "discretizer": self.discretizer}
        if isinstance(table, RemoteTable):
            return table.encode_target(**how)
        if isinstance(table, RowSource) and y is None:
            return encode_source_target(table, **how)
        return encode_target(y, table.n_rows, **how)

    def _encode(self, table: Table | RowSource | RemoteTable, y: Column) -> Codes | RemoteCodes:
        """Learn how each column is coded, and code it; in memory, or in files of codes_dir."""
        how: dict[str, Any] = {"discretizer": self.discretizer, "n_bins": self.n_bins}
        if isinstance(table, RemoteTable):
            for parameter in ("codes_dir", "feature_groups"):
                if getattr(self, parameter) is not None:
                    raise InvalidParameterError(
                        f"{parameter} is for codes on this machine, and those of a Dask collection "
                        "or of Parquet files with engine='dask' stay on the workers. Leave it out, "
                        "or use engine='local'."
                    )
            self.encoder_, remote = table.encode(y, **how)
            return remote

        def encode(allocate: Allocate) -> tuple[Encoder, Codes]:
            if isinstance(table, RowSource):
                return encode_source(table, y, **how, n_jobs=self._n_threads, allocate=allocate)
            encoder = Encoder(**how, n_jobs=self._n_threads)
            return encoder, encoder.fit_transform(table, y, allocate=allocate)

        if self.codes_dir is None:
            self.encoder_, codes = encode(Codes.empty)
        else:
            name = codes_fingerprint(table, y, **how)
            self.encoder_, codes = stored_codes(self.codes_dir, name, encode)
            self.encoder_.set_params(n_jobs=self._n_threads)  # not those of another run
        return codes

    def _open_engine(
        self,
        codes: Codes | RemoteCodes,
        y: Column,
        criterion: Criterion,
        on_terms: Callable[[int], None] | None,
        cluster: Cluster | None,
    ) -> LocalEngine | DaskEngine:
        """The engine that does the work."""
        if cluster is not None:
            from hocmim.search.engines.dask import open_dask_engine

            return open_dask_engine(cluster, codes, y, criterion, on_terms)
        assert isinstance(codes, Codes)
        return LocalEngine(codes, y, criterion, n_jobs=self._n_threads, on_terms=on_terms)

    def _search(
        self,
        engine: Engine,
        n_selected: int,
        rule: StoppingRule,
        on_step: Callable[[int, Step], None] | None,
    ) -> Selection:
        if self.checkpoint is None:
            return forward_search(engine, n_selected, stop=rule, on_step=on_step)
        checkpoint = Checkpoint(self.checkpoint, self._identity(rule), engine.fingerprint())
        return checkpoint.search(engine, n_selected, rule, on_step)

    def _identity(self, rule: StoppingRule) -> dict[str, Any]:
        """What a result depends on besides the data and the number of columns asked for."""
        without = {"n_features_to_select", *ELSEWHERE, *(() if self._is_auto else FOR_AUTO)}
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
        return -1 if self.n_jobs is None else self.n_jobs

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.n_features_to_select, str) and self.n_features_to_select == "auto"

    def _resolve_n_features(self, n_columns: int, counted: str = "columns of X") -> int:
        return n_columns if self._is_auto else super()._resolve_n_features(n_columns, counted)

    def _resolve_features(self) -> Features:
        """What there is to select from, in a table of ``n_features_in_`` columns."""
        names = getattr(self, "feature_names_in_", None)
        return resolve_groups(self.feature_groups, self.n_features_in_, names)

    def _stopping_rule(
        self, criterion: Criterion, codes: Codes | RemoteCodes, y: Column
    ) -> StoppingRule:
        check_choice("stop", self.stop, STOPS)
        check_number("alpha", self.alpha, at_least=0, at_most=1)
        check_number("n_permutations", self.n_permutations, at_least=1, whole=True)
        if self.min_gain is not None:
            check_number("min_gain", self.min_gain, at_least=0)
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

    def _progress(self, criterion: Criterion, n_selected: int) -> Progress:
        names = self.features_.names
        if self._is_auto:
            return Progress(type(self).__name__, names, None, 0)
        n_terms = criterion.n_terms(n_selected) * len(self.features_)
        return Progress(type(self).__name__, names, n_selected, n_terms)

    def _keep(self, selection: Selection) -> None:
        """Set the fitted attributes."""
        self.relevance_ = selection.relevance[self.features_.of_column]
        self.trace_ = Trace(selection, self.features_)
        self._set_selection(
            [step.index for step in selection.steps],
            [step.score for step in selection.steps],
            features=self.features_,
        )

    def _for_columns(self, values: ArrayLike) -> NDArray[Any]:
        """What was found for each selected feature, for each of its columns."""
        return np.repeat(values, self.features_.sizes(self._kept.indices))

    def _in_columns(self, stopping: Stopping | None) -> Stopping | None:
        """Where selection ended, told in indices of columns."""
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
        worst radius
        """
        check_is_fitted(self)
        features = self.features_
        taken = self.trace_["place"] == 1
        best = list(zip(self._kept.indices.tolist(), self.trace_["score"][taken], strict=True))
        stopping = self.stopping_
        if stopping is not None:
            stopping = replace(stopping, index=int(features.of_column[stopping.index]))
            best.append((stopping.index, stopping.score))
        explanation = explain(
            self._column_to_explain(features.find(feature), X),
            self._kept,
            self._criterion().copy(),
            method=type(self).__name__,
            names=features.names,
            best=best,
            runners_up=self.trace_.runners_up(),
            stopping=stopping,
        )
        return replace(explanation, index=int(features.first[explanation.index]))

    def _column_to_explain(self, k: int, X: Any) -> Column:
        """The codes of feature k."""
        if k in self._kept.indices:
            return self._kept.columns[self._kept.indices.tolist().index(k)]
        first = int(self.features_.first[k])
        if X is None:
            raise InvalidParameterError(
                f"Feature {first} was not selected, and only the selected ones are kept: pass the "
                "table the selector was fitted on, as in explain(feature, X)."
            )
        columns = self._code_columns(self.features_.columns(k), X)
        y = self._kept.y
        if len(columns[0].codes) == len(y.codes):
            joined = columns[0] if len(columns) == 1 else join_columns(columns, str(k))
            column = replace(joined, index=k)
            terms = BlockTerms(Codes.from_columns([column]), Joint.of([y]), self._estimator())
            if terms.relevance()[0] == self.relevance_[first]:
                return column
        raise InvalidTableError(
            "X is not the table the selector was fitted on: its rows, or their order, are others. "
            "Pass the same table to explain."
        )

    def _code_columns(self, indices: Sequence[int], X: Any) -> list[Column]:
        """The codes of columns of what the selector was fitted on."""
        if is_row_source(X):
            source = open_source(X)[0].features(self.n_features_in_, self._names_in)
            return [encode_source_column(source, self.encoder_, j) for j in indices]
        table, counts = as_table(X), self._row_counts
        if counts is not None and len(counts) == table.n_rows:
            table = table.take(repeated_rows(counts))
        return [self.encoder_.transform_column(table, j) for j in indices]

    def _estimator(self) -> str:
        return self._criterion().estimator

    def redundancy_matrix(self) -> NDArray[np.float64]:
        """R_ij = I(X_i;X_j) − I(X_i;X_j|Y) of the selected features, in the order of selection.

        In nats; positive where two repeat each other, negative where they tell more of y together
        than apart. The diagonal is I(X_i;Y).
        """
        check_is_fitted(self)
        return pairwise_redundancy(self._kept, self._estimator())

    def plot_scores(self, ax: Any = None) -> Any:
        """Draw the score and the relevance of each selected feature; return the axes."""
        names = self._selected_names(1)
        taken = self.trace_["place"] == 1
        scores, relevance = self.trace_["score"][taken], self.trace_["relevance"][taken]
        return plots.score_curve(names, scores, relevance, ax)

    def plot_redundancy_heatmap(self, ax: Any = None) -> Any:
        """Draw the redundancy of each pair of selected features; return the axes."""
        return plots.redundancy_heatmap(self._selected_names(2), self.redundancy_matrix(), ax)

    def plot_redundancy_network(self, ax: Any = None, *, min_share: float = 0.2) -> Any:
        """Draw the selected features, and lines between those that repeat or complete each other.

        Parameters
        ----------
        ax : matplotlib axes, optional
        min_share : float
            Draw lines from this share of the smaller relevance up.
        """
        names = self._selected_names(2)
        return plots.redundancy_network(names, self.redundancy_matrix(), min_share, ax)

    def _selected_names(self, at_least: int) -> list[str]:
        check_is_fitted(self)
        plots.check_selected(len(self._kept.indices), at_least)
        return self.trace_["name"][self.trace_["place"] == 1].tolist()

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
        return tags


class HOCMIM(InformationSelector):
    """High-order conditional mutual information maximization.

    J(X) = I(X;Y) − [I(X;Z) − I(X;Z|Y)], where Z ⊆ S is the representative set of X: the selected
    features most redundant with it, found greedily, as many as it takes (up to ``max_order``).
    Rewards what a feature adds to those it overlaps with most, dependencies among many features
    included. ``InformationSelector`` lists the other attributes.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default 10
        How many columns to select: a number, a fraction of all, None for half of them, or "auto"
        for as many as add more than chance does: see ``stop``.
    max_order : int, default 15
        The largest size of a representative set.
    tol : float, default 0.01
        A representative set stops growing when J < tol · I(X;Y): the candidate is redundant.
    estimator : {"shrinkage", "plugin", "miller_madow", "grassberger", "jeffreys"}
        How information is estimated from counts; see ``hocmim.information.estimators``.
    form : {"redundancy", "conditional"}
        J as above, or J = I(X;Y|Z). Equal for the plug-in. Under shrinkage the first falls back to
        relevance when samples are too few for the order; the second is for many samples.
    path : {"last", "min"}
        J at the last level of the representative set, as in the paper, or the smallest on the way.
    min_support : float, default 0
        Extend a representative set only while its occupied cells hold at least this many samples on
        average. 0 as in the paper; 10 is a good value for small samples.
    search : {"greedy", "exhaustive"}
        How the representative set is found. "exhaustive" takes the best of all sets of each size:
        for ``max_order`` of 2 or 3.
    discretizer : {"uniform", "quantile", "mdlp"}
        How numeric columns are cut into bins: equal width, equal frequency, or by the class.
    n_bins : int, default 5
        Numeric columns with more distinct values than this are cut.
    target_bins : int, default 5
        Into how many bins a continuous target is cut.
    min_gain : float or None
        Stop before a column whose score is lower than this, even if fewer are selected then.
    stop : {"chi2", "permutation"}
        For "auto": how to test whether the best candidate X adds anything to the selected features
        Z most redundant with it, H0: X ⟂ Y | Z. See ``hocmim.search.stopping``.
    alpha : float, default 0.01
        For "auto": the level, corrected for the number of candidates. Selection stops before the
        first column with a larger p-value.
    n_permutations : int, default 999
        For "auto" and "permutation".
    random_state : int, RandomState or None, default 0
        Seed of the permutations.
    feature_groups : dict of name to columns, list of lists of columns, or None
        Columns (by name or index) that are selected together as one feature, such as the columns of
        a one-hot code; the others stay as they are.
    engine : "local", "dask", a distributed Client or the address of a scheduler
        Where the work is done: on this machine, or on the workers of a Dask cluster. Never changes
        a result.
    codes_dir : path or None
        Keep the codes in memory-mapped files of this folder instead of in memory, and use them
        again for the same data.
    checkpoint : path or None
        After each selected column, write there what is needed to go on; go on from it if it exists.
    n_jobs : int or None
        Threads; None or -1 for all cores. Never changes a result.
    verbose : int
        1 prints a line for each selected column to standard error.

    Attributes
    ----------
    orders_ : ndarray of int64, shape (K,)
        The size of each selected column's representative set when it was chosen.
    representative_sets_ : list of ndarray of int64
        These sets, as column indices in greedy order.

    References
    ----------
    Souza, Premebida, Araújo: High-order conditional mutual information maximization for dealing
    with high-order dependencies in feature selection. Pattern Recognition 131, 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hocmim import HOCMIM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> HOCMIM(n_features_to_select=3).fit(X, y).transform(X).shape
    (569, 3)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str | None = 10,
        *,
        max_order: int = 15,
        tol: float = 0.01,
        estimator: str = "shrinkage",
        form: str = "redundancy",
        path: str = "last",
        min_support: float = 0,
        search: str = "greedy",
        discretizer: str = "uniform",
        n_bins: int = 5,
        target_bins: int = 5,
        min_gain: float | None = None,
        stop: str = "chi2",
        alpha: float = 0.01,
        n_permutations: int = 999,
        random_state: Any = 0,
        feature_groups: Any = None,
        engine: Any = "local",
        codes_dir: str | PathLike[str] | None = None,
        checkpoint: str | PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.max_order = max_order
        self.tol = tol
        self.estimator = estimator
        self.form = form
        self.path = path
        self.min_support = min_support
        self.search = search
        self.discretizer = discretizer
        self.n_bins = n_bins
        self.target_bins = target_bins
        self.min_gain = min_gain
        self.stop = stop
        self.alpha = alpha
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.feature_groups = feature_groups
        self.engine = engine
        self.codes_dir = codes_dir
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _criterion(self) -> Criterion:
        check_choice("form", self.form, ("redundancy", "conditional"))
        check_choice("path", self.path, ("last", "min"))
        check_choice("search", self.search, ("greedy", "exhaustive"))
        check_number("max_order", self.max_order, at_least=1, whole=True)
        check_number("tol", self.tol, at_least=0, at_most=1)
        check_number("min_support", self.min_support, at_least=0)
        criterion = GreedyHOCMIM if self.search == "greedy" else ExhaustiveHOCMIM
        # No representative set is larger than what is selected.
        n_selected = self._resolve_n_features(len(self._resolve_features()))
        order = min(self.max_order, max(1, n_selected - 1))
        return criterion(
            max_order=order,
            tol=self.tol,
            form=self.form,
            path=self.path,
            min_support=self.min_support,
            estimator=self.estimator,
        )

    def _keep(self, selection: Selection) -> None:
        super()._keep(selection)
        details = [step.details for step in selection.steps]
        orders = np.array([detail["order"] for detail in details], np.int64)
        self.orders_ = self._for_columns(orders)
        self.representative_sets_ = [
            self.features_.expand(detail["representative_set"])
            for detail, size in zip(details, self.features_.sizes(self._kept.indices), strict=True)
            for _ in range(size)
        ]


def check_choice(parameter: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise an error that lists the choices unless value is one of them."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidParameterError(
            f"{parameter} must be one of {', '.join(map(repr, choices))}. Got {value!r} instead."
        )


def check_number(
    parameter: str,
    value: Any,
    *,
    at_least: float,
    at_most: float = np.inf,
    whole: bool = False,
) -> None:
    """Raise an error that states the range unless value is a number in it."""
    kind = Integral if whole else Real
    if (
        isinstance(value, kind)
        and not isinstance(value, (bool, np.bool_))
        and at_least <= float(value) <= at_most
        and float(value) < np.inf
    ):
        return
    expected = f"{'an integer' if whole else 'a number'} of at least {at_least}"
    if at_most < np.inf:
        expected += f" and at most {at_most}"
    raise InvalidParameterError(f"{parameter} must be {expected}. Got {value!r} instead.")

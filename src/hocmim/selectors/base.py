"""The selectors as scikit-learn estimators: what all of them share.

A fit is four values: a table is encoded, the codes are searched, the selection is recorded, and the
attributes of the selector are set from it::

    Table ──encode_table──▶ Encoded ──search──▶ Selection ──▶ selected_, scores_, …

``Selector`` has what every selector has: the selected columns of a table. ``InformationSelector``
is the one class of the information-theoretic methods; ``methods.py`` has a short subclass for each.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from logging import INFO
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from hocmim import html
from hocmim._sklearn import BaseEstimator, SelectorMixin
from hocmim.coding.encoded import Encoded, encode_table, take_columns
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features, column_name
from hocmim.coding.target import EncodedTarget, Target
from hocmim.criteria.base import Criterion
from hocmim.data.checks import set_features
from hocmim.data.table import as_table
from hocmim.data.times import TimeKinds
from hocmim.errors import InvalidParameterError, InvalidTableError, warn_user
from hocmim.information.estimators import ESTIMATORS, SECOND_ORDER_ESTIMATOR
from hocmim.insight.basis import basis_of, keep_codes
from hocmim.insight.checks import (
    DUPLICATES,
    WARNED,
    check_codes,
    only_identifiers,
    warn_about,
)
from hocmim.insight.explain import Explanation, explain
from hocmim.insight.statement import statement
from hocmim.insight.trace import Trace
from hocmim.parameters import (
    BOOLEAN,
    FUNCTION_OR_NONE,
    JOBS,
    check_parameters,
    check_value,
    one_of,
    whole,
)
from hocmim.search.constraints import (
    COUNTS,
    Budget,
    Constraints,
    resolve_constraints,
)
from hocmim.search.interactions import Screen
from hocmim.search.loop import Interrupted
from hocmim.search.progress import LOGGER, Progress, ProgressCallback
from hocmim.search.search import Engine, address_of, open_cluster, screen_columns, search
from hocmim.search.selection import Selection, Stopping
from hocmim.search.stopping import StopTest
from hocmim.search.validation import Validation, cross_validate
from hocmim.text import text_table
from hocmim.threads import resolve_n_jobs, stopped_by

# What ``n_features_to_select`` may be.
Count = int | float | Literal["cv", "significant"] | StopTest | Budget | None
SIGNIFICANT, CV = "significant", "cv"
# Classes or cuts of a target; None if it has none.
Labels = NDArray[Any] | None
# Attributes that not every fit sets.
OPTIONAL_ATTRIBUTES = (
    "p_values_",
    "orders_",
    "representative_sets_",
    "interactions_",
    "validation_",
)
# With fewer groups of rows the tests that allow for groups find little.
FEW_GROUPS = 10
# Parameters that no result depends on.
WITHOUT_EFFECT = ("engine", "n_jobs", "verbose")


class Selector(SelectorMixin, BaseEstimator):
    """A selector of columns, for tables of every kind.

    A subclass has a ``fit`` that ends with ``_set_selection``.

    Attributes
    ----------
    selected_ : ndarray of int64, shape (K,)
        Column indices in the order of selection, the best first.
    scores_ : ndarray of float64, shape (K,)
        The score of each selected column when it was selected, in the same order.
    ranking_ : ndarray of int64, shape (n_features_in_,)
        The rank of each column, 1 for the one selected first. Columns that were not selected share
        rank K + 1, unless the method ranks every column.
    selection_ : Selection
        The same as a record: steps with scores, runners-up and representative sets, in feature
        indices.
    features_ : Features
        What was selected from: columns, and groups of columns that count as one feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table has column names.

    Notes
    -----
    ``transform`` returns the columns in the order of the table, like every scikit-learn selector;
    ``selected_`` has the order of selection. If no column is selected, ``transform`` warns and
    returns a table without columns. Arrays stay arrays and sparse matrices stay sparse. A DataFrame
    becomes an array unless ``set_output(transform="pandas")`` (or "polars") asks for a DataFrame;
    then columns keep their types.
    """

    n_features_to_select: Any
    # The name in ``list_methods``, for a selector that is a method by itself, and other names.
    method_name: ClassVar[str] = ""
    method_aliases: ClassVar[tuple[str, ...]] = ()
    # Packages that the method needs beyond those of hocmim.
    needed_packages: ClassVar[tuple[str, ...]] = ()
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    @property
    def display_name(self) -> str:
        """The name shown to users: that of the method, or of the class if it is no method."""
        return self.method_name or type(self).__name__

    def _init_as(self, kind: Any, given: dict[str, Any]) -> None:
        """Call ``kind.__init__``, with its parameters out of the ``locals()`` of another one."""
        names = [name for name in kind._get_param_names() if name in given]
        kind.__init__(self, **{name: given[name] for name in names})

    @abstractmethod
    def fit(self, *args: Any, **kwargs: Any) -> Self:
        """Select columns of a table X that say most about y."""

    def fit_part(
        self,
        X: Any,
        y: Any,
        identifiers: NDArray[np.int64] | None,
        *,
        warns: bool = False,
        **given: Any,
    ) -> Self:
        """Fit on some rows of a table.

        For cross-validation and resampling: some rows do not show which columns identify them, so
        ``identifiers`` are those of the whole table; one warning about the data is enough.
        """
        return self.fit(X, y, **given)

    def _set_selection(
        self, selection: Selection, features: Features, ranking: ArrayLike | None = None
    ) -> Self:
        """Set the attributes that all selectors have.

        ``ranking`` has the rank of every feature, for methods that rank all of them.
        """
        chosen = selection.indices
        if ranking is None:
            ranks = np.full(len(features), len(chosen) + 1, np.int64)
            ranks[chosen] = np.arange(1, len(chosen) + 1)
        else:
            ranks = np.array(ranking, np.int64)
        set_features(self, features.n_columns, features.column_names)
        self.selection_, self.features_ = selection, features
        self.selected_ = features.expand(chosen)
        self.scores_ = self._for_columns(selection.scores)
        self.ranking_ = ranks[features.of_column]
        return self

    def _for_columns(self, values: ArrayLike) -> NDArray[Any]:
        """Return what was found for each selected feature, for each of its columns."""
        return np.repeat(values, self.features_.sizes(self.selection_.indices))

    @property
    def kept_(self) -> NDArray[np.bool_]:
        """Whether each selected column was selected because it is in ``keep``: shape (K,)."""
        check_is_fitted(self)
        return self._for_columns(self.selection_.is_kept)

    @property
    def total_cost_(self) -> float:
        """What the selected columns cost together; only with ``costs``."""
        check_is_fitted(self)
        spending = self.selection_.spending
        if spending is None:
            raise AttributeError("There is no total_cost_ without costs.")
        return spending.total(self.selection_.indices.tolist())

    # --- what can be said about a selection -------------------------------------------------------

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        """Return the selected features, the best first, with what was found for each."""
        selection = self.selection_
        columns: dict[str, Any] = {
            "rank": range(1, len(selection) + 1),
            "feature": [column_name(self.features_.names, k) for k in selection.indices.tolist()],
            "score": selection.scores.tolist(),
            "relevance": selection.relevance[selection.indices].tolist(),
        }
        if selection.p_values is not None:
            columns["p"] = [f"{p:.2g}" for p in selection.p_values]
        return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]

    def __str__(self) -> str:
        if not hasattr(self, "selection_"):
            return repr(self)
        titles, rows = self._table()
        return f"{self!r}\n{text_table(titles, rows) if rows else 'No feature was selected.'}"

    def _html_repr(self) -> str:
        """Return the parameters, and of a fitted selector the selected features, for notebooks."""
        shown = super()._html_repr()
        return shown + html.table(*self._table()) if hasattr(self, "selection_") else shown

    def report(self, path: str | PathLike[str], X: Any, y: Any, **options: Any) -> Path:
        """Write a page: what was selected and why, and why other columns were not.

        Parameters
        ----------
        path : path
            Of the HTML file. The page needs no network and no other file.
        X, y
            The table and the target the selector was fitted on.
        **options
            See ``hocmim.insight.report.page.write_report``. Needs ``pip install jinja2``.

        Returns
        -------
        Path
            Of the page.
        """
        from hocmim.insight.report.page import write_report

        return write_report(self, path, X, y, **options)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the selection, and how the columns were read and coded, to a JSON file.

        :func:`hocmim.load` reads it. It holds no code and no rows; a pickle holds everything.

        Parameters
        ----------
        path : path
        overwrite : bool
            Whether to replace an existing file.
        """
        from hocmim.selectors.saving import save

        check_is_fitted(self)
        return save(self, path, overwrite=overwrite)

    def to_sklearn(self) -> Any:
        """Return the selected columns as a fitted step of scikit-learn, for other tools.

        The step does what ``transform`` does, for arrays and DataFrames. It needs no hocmim to run,
        so tools that know scikit-learn (ONNX converters, MLflow, skops) know it.

        Returns
        -------
        ColumnTransformer
            It passes the selected columns, in the order of the table.
        """
        from sklearn.compose import ColumnTransformer

        selected = self.get_support(indices=True).tolist()
        step = ColumnTransformer(
            [("selected", "passthrough", selected)], verbose_feature_names_out=False
        )
        step.fit(np.zeros((1, self.n_features_in_)))
        if hasattr(self, "feature_names_in_"):
            step.feature_names_in_ = self.feature_names_in_
        return step

    # --- scikit-learn -----------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        """Tags: y is required, with one column or more; strings and categories are accepted."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags

    @property
    def support_(self) -> NDArray[np.bool_]:
        """Which columns are selected: shape (n_features_in_,)."""
        return self._get_support_mask()

    @property
    def n_features_(self) -> int:
        """How many columns are selected."""
        return int(self._get_support_mask().sum())

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.selected_] = True
        return mask

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return a mask of the selected columns, or their indices in the order of the table."""
        check_value("indices", indices, BOOLEAN)
        return super().get_support(indices)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the selected columns, in the order of the table.

        Parameters
        ----------
        input_features : array of str, optional
            Names of all columns; the same as ``feature_names_in_`` if the table has names. Without
            names the columns are x0, x1, …
        """
        check_is_fitted(self)
        if isinstance(input_features, str):
            input_features = [input_features]
        try:
            return super().get_feature_names_out(input_features)
        except (ValueError, TypeError) as error:
            raise InvalidParameterError(f"input_features cannot be used: {error}.") from error

    def transform(self, X: Any) -> Any:
        """Keep the selected columns of X, in the order of the table.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or path
            A table, or a Parquet data set. Only the selected columns are read.

        Returns
        -------
        X_selected : table of shape (n_samples, K)
            An array or a sparse matrix, like X; a DataFrame if ``set_output`` asks for it.
        """
        support = self._get_support_mask()
        if not support.any():
            warnings.warn(
                "No features were selected: either the data is too noisy or the selection test too "
                "strict.",
                UserWarning,
                stacklevel=2,
            )
        is_finite_needed = not self.__sklearn_tags__().input_tags.allow_nan
        chosen = take_columns(X, self, np.flatnonzero(support), reject_non_finite=is_finite_needed)
        return self._as_output(chosen)

    def _as_output(self, chosen: Any) -> Any:
        """Return columns in the container ``set_output`` asks for."""
        if isinstance(chosen, np.ndarray) or sparse.issparse(chosen):
            return chosen
        wanted = _get_output_config("transform", self)["dense"]
        if wanted == "default":
            return _as_array(chosen)
        frame = nw.from_native(chosen, eager_only=True)
        return frame.to_pandas() if wanted == "pandas" else frame.to_polars()

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected columns back in their places, with zeros in all other columns.

        Parameters
        ----------
        X : table of shape (n_samples, K)
            What ``transform`` returned.

        Returns
        -------
        X_full : ndarray or CSC matrix of shape (n_samples, n_features_in_)
        """
        support = self._get_support_mask()
        table = as_table(X)
        if table.n_columns != support.sum():
            raise InvalidTableError(
                f"X has {table.n_columns} columns, but {self.display_name} selected "
                f"{support.sum()}. Pass a table that transform returned."
            )
        if sparse.issparse(X):
            return super().inverse_transform(X)
        chosen = _as_array(X)
        full = np.zeros((table.n_rows, len(support)), chosen.dtype)
        full[:, support] = chosen
        return full


def _as_array(X: Any) -> NDArray[Any]:
    """Return a DataFrame, an array or nested lists as an array that may be written to."""
    if nw.dependencies.is_into_dataframe(X):
        X = nw.from_native(X, eager_only=True).to_numpy()
    return np.require(X, requirements="W")


def leave_out_identifiers(
    constraints: Constraints, features: Features, found: NDArray[np.int64], mode: str
) -> Constraints:
    """Leave out the columns that identify the rows, if ``mode`` is "drop"."""
    if mode != "drop" or not len(found):
        return constraints
    if len(found) == features.n_columns:
        raise only_identifiers()
    return constraints.without(features.of_column[found].tolist())


PARAMETERS = """\
n_features_to_select : int, float, None, "cv", "significant", StopTest or Budget, default 10
    How many columns to select: a number, a fraction of all, None for half of them, "cv" for the
    number with which a simple model predicts best (cross-validation, see
    ``hocmim.search.validation``), "significant" for as many as add more than chance does (see
    :class:`hocmim.StopTest`), or as many as a :class:`hocmim.Budget` pays for. A number larger than
    that of the candidates selects all of them, with a warning.
{own}estimator : {{{estimators}}}, default "{estimator}"
    How information is estimated from counts; see ``hocmim.information.estimators``.
encoder : Encoder or None
    How columns are coded: number of bins, how they are cut, rare levels, identifiers. None:
    ``Encoder()``.
target : "classes", "quantity", Target or None
    What y holds, and how a quantity is cut or several targets are combined. None: decided from y; a
    guess gives a warning.
keep : names, indices, mask or callable, or None
    Columns that are selected in any case. They come first, count towards ``n_features_to_select``,
    and the other columns are selected given them. A callable gets the array of column names and
    returns names, indices or a mask. A column of a group stands for its group.
exclude : names, indices, mask or callable, or None
    Columns that are never selected.
feature_groups : dict of name to columns, list of lists of columns, or None
    Columns (by name or index) that are selected together as one feature, such as the columns of a
    one-hot code. The other columns stay as they are.
costs : array of numbers, dict of name to number, Series, or None
    What each column costs, a positive number; columns that are not named cost 1. A group
    costs the sum of its columns. The column with the largest score per unit of cost is selected:
    J / cost, or J · cost where J is not positive.
engine : None, "dask", a distributed Client, the address of a scheduler, or Engine
    Where the work is done, and what it keeps on disk: see :class:`hocmim.Engine`. None: threads on
    this machine. Never changes a result.
n_jobs : int or None
    Threads; -1 for all cores. None: one in a worker of joblib or a task of Dask, as many as
    ``joblib.parallel_config`` says inside it, otherwise all cores. Never changes a result.
verbose : int
    1 prints how many terms there are to compute, a line for each selected column, and the progress
    of long steps, to standard error. The logger "hocmim" gets these lines in any case.
"""

ATTRIBUTES = """\
Attributes
----------
selected_ : ndarray of int64, shape (K,)
    Column indices in the order of selection.
scores_ : ndarray of float64, shape (K,)
    The score of each selected column when it was selected, in nats.
relevance_ : ndarray of float64, shape (n_features_in_,)
    I(X;Y) of every column, in nats.
ranking_ : ndarray of int64, shape (n_features_in_,)
    1 for the column selected first; columns that were not selected share K + 1.
encoder_ : Encoder
    How each column was encoded.
identifiers_ : ndarray of int64
    The columns that identify the rows; with ``Encoder(identifiers="drop")`` they are no candidates.
target_kind_ : {"classes", "quantity"}
    What y holds: as declared, or as found. A tuple for several targets.
target_strategy_ : {"", "joint", "mean"}
    What was done with several targets; "" for one.
classes_ : ndarray or None
    The classes of y; None for a quantity. For several targets and "joint", the combinations.
target_cuts_ : ndarray or None
    The cut points of a quantity; None for classes. For several targets and "mean", a list.
p_values_ : ndarray of float64, shape (K,)
    Of each selected column when it was selected, corrected. Only with a stopping test.
interactions_ : list of Interaction
    The pairs and triples of columns that the screen found, selected or not; a group of columns is
    named by its first column. Only of ``RobustHOCMIM`` with ``interactions``.
validation_ : Validation
    The cross-validated scores of each number of columns, and of none. Only with "cv".
stopping_ : Stopping or None
    Why the selection ended early: ``reason``, the column it ended before, its score and p-value.
    None if all columns, or the number given, were selected.
support_ : ndarray of bool, shape (n_features_in_,)
    Which columns are selected.
n_features_ : int
    How many columns are selected.
kept_ : ndarray of bool, shape (K,)
    Whether each selected column was selected because it is in ``keep``.
total_cost_ : float
    What the selected columns cost together. Only with ``costs``.
features_ : Features
    What was selected from: the groups of ``feature_groups``, and the columns in no group.
selection_ : Selection
    The whole search, in feature indices: the winner and the runner-up of each step.
trace_ : Trace
    The same as a table: score, relevance, order and representative set of each winner and
    runner-up.
orders_ : ndarray of int64, shape (K,)
    The size of the representative set of each selected column. Only of methods that have them.
representative_sets_ : list of ndarray of int64
    These sets, as column indices in greedy order. Only of methods that have them.
"""


class InformationSelector(Selector):
    """A selector that maximises an information criterion, one column at a time.

    The table is encoded; missing values are a level of their own. Then the criterion scores the
    candidates until ``n_features_to_select`` columns are selected. Of columns with the same score
    (to 12 decimals) the first in the table is selected.

    A subclass is a method: see ``methods.py``.

    Notes
    -----
    With ``feature_groups``, ``n_features_to_select`` counts a group as one. What there is for each
    column (``relevance_``, ``ranking_``) or for each selected column (``selected_``, ``scores_``,
    ``p_values_``) has the value of the group at each of its columns; K above counts features.
    ``trace_``, the pictures and ``redundancy_matrix`` have a group once, under its name.

    For ``explain`` and the pictures a fitted selector keeps the codes of the selected columns and
    of y, one or two bytes per value, unless that is more than 256 MiB. For ``extend`` it also keeps
    those of all columns, with the same limit; they are not pickled or copied.
    """

    criterion_type: ClassVar[type[Criterion]]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_features_to_select": [*COUNTS, one_of([SIGNIFICANT, CV]), StopTest],
        "estimator": [one_of(ESTIMATORS)],
        "encoder": [Encoder, None],
        "target": [one_of(["classes", "quantity"]), Target, None],
        "n_jobs": JOBS,
        "verbose": [whole(0), "boolean"],
    }

    def __init__(
        self,
        n_features_to_select: Count = 10,
        *,
        estimator: str = SECOND_ORDER_ESTIMATOR,
        encoder: Encoder | None = None,
        target: Target | str | None = None,
        keep: Any = None,
        exclude: Any = None,
        feature_groups: Any = None,
        costs: Any = None,
        engine: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.estimator = estimator
        self.encoder = encoder
        self.target = target
        self.keep = keep
        self.exclude = exclude
        self.feature_groups = feature_groups
        self.costs = costs
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        inherited = InformationSelector._parameter_constraints
        cls._parameter_constraints = inherited | vars(cls).get("_parameter_constraints", {})
        if vars(cls).get("method_name"):
            cls.__doc__ = _full_docstring(cls)

    def make_criterion(self) -> Criterion:
        """Return the criterion of the method, with its parameters."""
        names = self._parameter_constraints.keys() - COMMON
        own = {name: getattr(self, name) for name in names}
        return self.criterion_type(**own, estimator=self.estimator)

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
            Classes, or a quantity, which is cut into bins: see ``target``. Or the name of a column
            of X; the other columns are the features then. For several targets an array of shape
            (n_samples, n_targets), or a list of names.
        sample_weight : array of shape (n_samples,) or "balanced", optional
            Whole numbers: a row of weight w counts as w equal rows. Numbers with fractions are
            relative: they are scaled to a mean of 1, and rows are repeated or left out so that rows
            of one weight have their share. "balanced" gives every class the same weight. For a
            stopping test, weights of an integer type are counts of observations; with others, and
            with one weight for each class, the test uses each row once. For tables in memory.
        groups : array of shape (n_samples,), optional
            A label for each row. Rows of one label, such as those of one patient, are not
            independent. A stopping test allows for it: see ``hocmim.search.row_groups``. Folds keep
            them together. Scores, and the screen for interactions, take each row by itself.
        progress : callable, optional
            Called with a ``hocmim.search.progress.ProgressEvent`` during the fit, a few times a
            second. It may raise to stop the fit.

        Notes
        -----
        If Ctrl-C ends a search in which something is selected, the selector has what is selected so
        far, and KeyboardInterrupt is raised.
        """
        check_value("progress", progress, FUNCTION_OR_NONE)
        return self._fit(X, y, sample_weight, groups, progress)

    def fit_part(
        self,
        X: Any,
        y: Any,
        identifiers: NDArray[np.int64] | None,
        *,
        warns: bool = False,
        **given: Any,
    ) -> Self:
        """See Selector."""
        arguments = (given.get(name) for name in ("sample_weight", "groups", "progress"))
        return self._fit(X, y, *arguments, identifiers=identifiers, warns=warns)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        on_event: ProgressCallback | None,
        *,
        identifiers: NDArray[np.int64] | None = None,
        warns: bool = True,
    ) -> Self:
        check_parameters(self)
        criterion, engine = self.make_criterion(), Engine.of(self.engine)
        n_jobs = resolve_n_jobs(self.n_jobs)
        asked, test = self.n_features_to_select, self._stop_test
        constraints = Constraints(0)
        if asked == CV and _cuts_by_target(self.encoder):
            raise InvalidParameterError(
                "n_features_to_select='cv' needs columns that are cut without the target, and "
                "discretizer='mdlp' cuts them by it. Pass a number, or use SelectorCV, which cuts "
                "them in each fold."
            )
        if test is not None and test.fdr is not None and _cuts_by_target(self.encoder):
            raise InvalidParameterError(
                "fdr needs columns that are cut without the target, and discretizer='mdlp' cuts "
                "them by it. Pass another discretizer."
            )

        def resolve(features: Features) -> None:
            nonlocal constraints
            constraints = resolve_constraints(features, self.keep, self.exclude, self.costs, asked)

        with open_cluster(engine.cluster) as cluster:
            progress = self._progress(on_event)
            encoded = self._encode(
                X,
                y,
                sample_weight,
                groups,
                progress,
                cluster=cluster,
                codes_dir=engine.codes_dir,
                n_jobs=n_jobs,
                plane_estimator=criterion.estimator,
                identifiers=identifiers,
                on_features=resolve,
            )
            constraints = leave_out_identifiers(
                constraints,
                encoded.features,
                encoded.identifiers,
                encoded.encoder.identifiers,
            ).without_constants(np.flatnonzero(encoded.codes.arity == 1).tolist())
            n_select, validation, screened = constraints.count(asked), None, None
            if asked == CV:
                n_jobs = resolve_n_jobs(self.n_jobs)
                screened = screen_columns(encoded, criterion, constraints, n_jobs, progress)
                validation = self._validate(encoded, constraints, screened, progress)
                n_select = max(validation.best, len(constraints.keep))
            try:
                selection = search(
                    encoded,
                    criterion,
                    constraints,
                    n_select,
                    test,
                    cluster=cluster,
                    n_jobs=n_jobs,
                    checkpoint=engine.checkpoint,
                    identity=self._identity(constraints) if engine.checkpoint else None,
                    progress=progress,
                    screened=screened,
                )
            except Interrupted as error:
                self._set_fitted(encoded, criterion, error.selection)
                raise
            self._set_fitted(encoded, criterion, selection)
            if validation is not None:
                self.validation_ = validation
            if warns:
                _warn_about(encoded, selection, has_groups=groups is not None)
        return self

    def _validate(
        self,
        encoded: Encoded,
        constraints: Constraints,
        screened: Screen,
        progress: Progress | None,
    ) -> Validation:
        """Cross-validate the number of columns.

        Each fold screens its own rows for pairs, unless the screen of all rows kept none: then no
        fold has any. A fold never gets a pair that was found on its test rows.
        """
        of_fold = None if screened.kept else screened

        def search_rows(part: Encoded, k: int) -> Selection:
            n_jobs = resolve_n_jobs(self.n_jobs)
            criterion = self.make_criterion()
            return search(part, criterion, constraints, k, n_jobs=n_jobs, screened=of_fold)

        with nullcontext() if progress is None else stopped_by(progress.on_wait):
            found = cross_validate(encoded, search_rows, constraints.n_candidates, progress)
        if not found.beats_baseline:
            warn_user(found.nothing_beats_it())
        return found

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

        The result is that of ``fit`` with ``n_features_to_select=k``, to the last bit. After a
        stopping test too: the selection goes on past its stop, without a test.

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
        constraints = self.selection_.constraints
        check_value("k", k, [whole(len(self.selection_))])
        k = constraints.count(k, "k")
        if X is None and self._encoded is None:
            raise InvalidParameterError(
                "This selector does not have the codes of the fit any more: pass the table and the "
                "target it was fitted on, as in extend(k, X, y)."
            )
        criterion, engine = self.make_criterion(), Engine.of(self.engine)
        n_jobs = resolve_n_jobs(self.n_jobs)
        on_event = self._progress(progress)
        with open_cluster(engine.cluster) as cluster:
            if X is None:
                encoded = self._encoded
            else:
                encoded = self._encode(
                    X,
                    y,
                    sample_weight,
                    None,
                    on_event,
                    cluster=cluster,
                    codes_dir=engine.codes_dir,
                    n_jobs=n_jobs,
                    plane_estimator=criterion.estimator,
                )
                self._check_same_columns(encoded.features)
            assert encoded is not None
            found = search(
                encoded,
                criterion,
                constraints,
                k,
                cluster=cluster,
                n_jobs=n_jobs,
                # The file of a search that a test ended cannot hold steps beyond it.
                checkpoint=None if self._stop_test else engine.checkpoint,
                identity=self._identity(constraints),
                progress=on_event,
                earlier=self.selection_,
            )
            if not np.array_equal(found.relevance, self.selection_.relevance):
                raise _other_table()
            self._set_fitted(encoded, criterion, found)
        return self

    def _encode(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        progress: Progress | None,
        **options: Any,
    ) -> Encoded:
        """Encode the table and the target with the parameters of this selector."""
        if progress is not None:
            progress.begin("encode", "reading the table")
        with nullcontext() if progress is None else stopped_by(progress.on_wait):
            return encode_table(
                X,
                y,
                encoder=self.encoder,
                target=self.target,
                sample_weight=sample_weight,
                groups=groups,
                feature_groups=self.feature_groups,
                caller=type(self).__name__,
                report=None if progress is None else progress.move,
                **options,
            )

    @property
    def _stop_test(self) -> StopTest | None:
        asked = self.n_features_to_select
        if asked == SIGNIFICANT:
            return StopTest()
        return asked if isinstance(asked, StopTest) else None

    def _progress(self, on_event: ProgressCallback | None) -> Progress | None:
        if on_event is None and not self.verbose and not LOGGER.isEnabledFor(INFO):
            return None
        return Progress(self.display_name, on_event, bool(self.verbose))

    def _identity(self, constraints: Constraints) -> dict[str, Any]:
        """Return what a result depends on besides the data and the number of columns."""
        spending = constraints.spending
        given = self.get_params(deep=False)
        return {
            "method": type(self).__name__,
            **{name: given[name] for name in given if name not in WITHOUT_EFFECT},
            "encoder": self.encoder or Encoder(),
            "target": Target.of(self.target),
            "n_features_to_select": self._stop_test or "a number",
            "keep": constraints.keep,
            "exclude": constraints.excluded,
            "costs": None if spending is None else spending.costs,
            "budget": None if spending is None else spending.budget,
        }

    def _set_fitted(self, encoded: Encoded, criterion: Criterion, selection: Selection) -> None:
        """Set the fitted attributes."""
        target = encoded.target
        self._encoded = encoded.if_small()
        self._kept = keep_codes(encoded.codes, target, selection.indices.tolist())
        self._n_samples, self._row_counts = encoded.n_samples, encoded.row_counts
        self._time_kinds = encoded.time_kinds
        self.encoder_, self.identifiers_ = encoded.encoder, encoded.identifiers
        self._set_target(target)
        self._set_search(selection, encoded.features, criterion)

    def restore(
        self,
        selection: Selection,
        features: Features,
        encoder: Encoder,
        n_samples: int,
        time_kinds: TimeKinds,
    ) -> None:
        """Set the fitted attributes from a file, which has no codes; the target is set before."""
        self._encoded = self._kept = self._row_counts = None
        self._n_samples, self._time_kinds, self.encoder_ = n_samples, time_kinds, encoder
        self._set_search(selection, features, self.make_criterion())

    def _set_target(self, target: EncodedTarget) -> None:
        kinds = tuple(one.kind for one in target.each)
        self.target_kind_ = kinds if target.targets else kinds[0]
        self.target_strategy_ = target.strategy
        is_mean = target.strategy == "mean"
        self.classes_: Labels | list[Labels] = (
            [one.classes for one in target.each] if is_mean else target.classes
        )
        self.target_cuts_: Labels | list[Labels] = (
            [one.cuts for one in target.each] if is_mean else target.cuts
        )

    def _set_search(self, selection: Selection, features: Features, criterion: Criterion) -> None:
        """Set what follows from the selection."""
        self._set_selection(selection, features)
        self.relevance_ = selection.relevance[features.of_column]
        self.trace_ = Trace(selection, features)
        stopping = selection.stopping
        self.stopping_ = None if stopping is None else _in_columns(stopping, features)
        for name in OPTIONAL_ATTRIBUTES:
            self.__dict__.pop(name, None)  # of a fit before
        if selection.p_values is not None:
            self.p_values_ = self._for_columns(selection.p_values)
        if criterion.interactions:
            self.interactions_ = [
                replace(one, members=_first_columns(one.members, features))
                for one in selection.interactions
            ]
        if criterion.has_representative_sets and self.target_strategy_ != "mean":
            sizes = features.sizes(selection.indices)
            orders = [step.order for step in selection.steps]
            self.orders_ = self._for_columns(np.array(orders, np.int64))
            self.representative_sets_ = [
                features.expand(step.representative_set)
                for step, size in zip(selection.steps, sizes, strict=True)
                for _ in range(size)
            ]

    def _check_same_columns(self, features: Features) -> None:
        """Raise an error if a table does not have the columns of the fit."""
        names, others = self.features_.column_names, features.column_names
        is_same = names is None or others is None or list(names) == list(others)
        if features.n_columns != self.n_features_in_ or not is_same:
            raise _other_table()

    # --- what can be said about a selection -------------------------------------------------------

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
            ``print`` it; or read its ``relevance``, ``redundancy``, ``steps`` and so on.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from hocmim import HOCMIM
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> selector = HOCMIM(5).fit(X, y)
        >>> print(selector.explain("mean radius", X).replaced_by)
        worst perimeter
        """
        return explain(self, feature, X)

    def statement(self) -> str:
        """Return what one may write about the selection: method, numbers and error rate.

        Returns
        -------
        str
            Two sentences for the methods section of a paper. Without a stopping test nothing is
            tested, and the second sentence says so.
        """
        check_is_fitted(self)
        return statement(self.display_name, self.selection_)

    def redundancy_matrix(self) -> NDArray[np.float64]:
        """R_ij = I(X_i;X_j) − I(X_i;X_j|Y) of the selected features, in the order of selection.

        In nats. Positive: the two features repeat each other. Negative: together they have more
        information about y than the sum of the two. The diagonal is I(X_i;Y).
        """
        return basis_of(self).redundancy_matrix()

    def plot(self, kind: str = "scores", ax: Any = None, **options: Any) -> Any:
        """Draw a picture of the selection; return the axes.

        Parameters
        ----------
        kind : str
            See ``hocmim.insight.plots.plot``.
        ax : matplotlib axes, optional
        **options
            Of the picture.
        """
        from hocmim.insight.plots import plot

        return plot(self, kind, ax=ax, **options)

    # --- scikit-learn -----------------------------------------------------------------------------

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


COMMON = frozenset(InformationSelector._parameter_constraints)


def _warn_about(encoded: Encoded, selection: Selection, *, has_groups: bool) -> None:
    """Warn about columns that can make the selection misleading."""
    features, mode = encoded.features, encoded.encoder.identifiers
    shown = features.expand(selection.identifiers) if mode == "drop" else encoded.identifiers
    targets = encoded.target.each
    # Weights and groups say what equal rows are.
    is_said = has_groups or encoded.row_counts is not None
    findings = check_codes(
        encoded.encoder,
        encoded.codes,
        targets,
        features=features,
        kinds=[kind for kind in WARNED if kind != DUPLICATES or not is_said],
        relevance=selection.relevance if len(targets) == 1 else None,
        identifiers=() if mode == "keep" else shown.tolist(),
        excluded=features.expand(selection.excluded).tolist(),
        treatment=mode,
        table=encoded.table,
    )
    warn_about(findings)
    control = selection.error_control
    if control is not None and control.n_groups is not None and control.n_groups < FEW_GROUPS:
        warn_user(
            f"The rows are in {control.n_groups} groups. Tests that allow for groups find little "
            f"if there are fewer than {FEW_GROUPS}. If these are batches, leave them a column and "
            "pass keep='batch' instead of groups."
        )


def _cuts_by_target(encoder: Encoder | None) -> bool:
    return encoder is not None and encoder.discretizer == "mdlp"


def _other_table() -> InvalidTableError:
    return InvalidTableError(
        "X is not the table the selector was fitted on: its rows, or their order, are "
        "different. Pass the same table as to fit."
    )


def _in_columns(stopping: Stopping, features: Features) -> Stopping:
    """Return where the selection stopped, in column indices."""

    def in_columns(one: Any) -> dict[str, Any]:
        [index] = _first_columns([one.index], features)
        return {"index": index, "interaction": _first_columns(one.interaction, features)}

    failures = tuple(replace(one, **in_columns(one)) for one in stopping.failures)
    given = features.expand(stopping.given)
    return replace(stopping, **in_columns(stopping), given=given, failures=failures)


def _first_columns(indices: Sequence[int], features: Features) -> tuple[int, ...]:
    """Return the first column of each of these features."""
    return tuple(int(features.first[k]) for k in indices)


def _full_docstring(cls: type[InformationSelector]) -> str:
    """Return the docstring of a method with what its criterion and all methods have."""
    text, references = _cut(inspect.cleandoc(cls.__doc__ or ""), "References")
    text, own = _cut(text, "Parameters")
    if "\n\n" not in text:  # the name alone
        docs = [inspect.getdoc(kind) or "" for kind in cls.criterion_type.__mro__]
        found = next(doc for doc in docs if doc.startswith("J(X) ="))
        of_criterion, references = _cut(found, "References")
        formula, rest = _cut(of_criterion, "Parameters")
        cost = rest.partition("\n\nCost:")[2]
        text = f"{text}\n\n{formula}" + (f"\n\nCost:{cost}" if cost else "")
    default = inspect.signature(cls).parameters["estimator"].default
    listed = ", ".join(f'"{name}"' for name in ESTIMATORS)
    parameters = PARAMETERS.format(
        own=f"{own}\n" if own else "", estimators=listed, estimator=default
    )
    sections = [text, f"Parameters\n----------\n{parameters}", ATTRIBUTES]
    if references:
        sections.append(f"References\n----------\n{references}")
    return "\n\n".join(section.rstrip("\n") for section in sections) + "\n"


def _cut(text: str, title: str) -> tuple[str, str]:
    """Return the text before a section of a docstring, and the section."""
    before, _, section = text.partition(f"\n\n{title}\n{'-' * len(title)}\n")
    return before, section

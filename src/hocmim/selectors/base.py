"""The base of all selectors: the number of columns, the ranking, and the scikit-learn methods."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from hocmim.coding.codes import Codes
from hocmim.coding.encoder import Encoder
from hocmim.coding.groups import Features
from hocmim.coding.target import TargetOptions
from hocmim.coding.targets import encode_targets
from hocmim.data.checks import check_features, set_features
from hocmim.data.table import Table, as_table
from hocmim.data.target import TargetKind, warn_about_guess
from hocmim.defaults import DEFAULT_K
from hocmim.errors import InvalidParameterError, InvalidTableError
from hocmim.information.estimators import PLUGIN_ESTIMATOR
from hocmim.insight.basis import Basis
from hocmim.memory import BYTES_PER_CODE
from hocmim.parameters import BOOLEAN, checked
from hocmim.search.inputs import Input, MemoryInput, open_input, open_table
from hocmim.search.selection import Selection, Step
from hocmim.selectors.saving import SavedRanking
from hocmim.text import value_text

if TYPE_CHECKING:
    from hocmim.search.engines.cluster import Cluster


class RankingSelector(SavedRanking, TransformerMixin, BaseEstimator):
    """Base of the selectors that select columns one after the other, or rank all columns.

    It has the methods of scikit-learn's SelectorMixin. It is not derived from that class, because
    ``sklearn.feature_selection`` takes long to import; ``hocmim`` registers it as a subclass.

    A subclass has a parameter ``n_features_to_select`` and a ``fit`` of this form::

        def fit(self, X, y):
            table, y = self._validate_input(X, y)
            n_selected = self._resolve_n_features(table.n_columns)
            ...
            return self._set_selection(selected, scores)

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
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table has column names.

    Notes
    -----
    ``n_features_to_select`` is how many columns to keep: an integer from 1 to the number of
    columns, a fraction in (0, 1] of the columns (rounded down, at least one), or None for half of
    them, as in scikit-learn. A larger number is an error, except 10, the default: it selects all
    columns of a table that has fewer.

    ``transform`` returns the columns in the order of the table, like every scikit-learn selector;
    ``selected_`` has the order of selection. If no column is selected, ``transform`` warns and
    returns a table without columns. Arrays stay arrays and sparse matrices stay sparse. A DataFrame
    becomes an array unless ``set_output(transform="pandas")`` (or "polars") asks for a DataFrame;
    then columns keep their types.
    """

    n_features_to_select: int | float | str | None
    # The name in ``list_methods``, for a selector that is a method by itself, and other names.
    method_name: ClassVar[str] = ""
    method_aliases: ClassVar[tuple[str, ...]] = ()
    # What the method keeps in memory of a value of the table.
    bytes_per_value: ClassVar[int] = BYTES_PER_CODE
    # Packages that the method needs beyond those of hocmim.
    needed_packages: ClassVar[tuple[str, ...]] = ()
    # What else ``n_features_to_select`` may be, for the message about a wrong value.
    _other_numbers: ClassVar[str] = ""

    @property
    def display_name(self) -> str:
        """The name shown to users: that of the method, or of the class if it is no method."""
        return self.method_name or type(self).__name__

    def target_options(self) -> TargetOptions:
        """Return how the target is encoded; after ``fit``, with the kind that was found."""
        given = {
            option: getattr(self, f"target_{option}")
            for option in ("kind", "bins", "discretizer", "strategy")
            if hasattr(self, f"target_{option}")
        }
        if isinstance(getattr(self, "target_kind_", None), str):
            given["kind"] = self.target_kind_
        return TargetOptions(**given)

    def _set_target_kind(self, kind: TargetKind) -> None:
        """Set target_kind_; warn if it is a guess."""
        self.target_kind_: Any = kind.name
        warn_about_guess(kind)

    # --- for subclasses ---------------------------------------------------------------------------

    def _opening_options(self) -> dict[str, Any]:
        """Return what messages about a table say: who reads it, and how much memory that takes."""
        on_disk = getattr(self, "codes_dir", None) is not None
        return {
            "caller": type(self).__name__,
            "bytes_per_value": 0 if on_disk else self.bytes_per_value,
        }

    def _open_input(self, X: Any, y: Any, sample_weight: Any, cluster: Cluster | None) -> Input:
        """Open a table of any kind and its target."""
        return open_input(X, y, sample_weight, cluster=cluster, **self._opening_options())

    def _validate_input(
        self, X: Any, y: Any, sample_weight: Any = None, *, several: bool = False
    ) -> tuple[Table, NDArray[Any]]:
        """Open the table, check it against y, and store its number of columns and their names.

        Weights are applied: a row of weight w occurs w times in the returned table and target.
        ``several``: whether y may have several columns.
        """
        opened = MemoryInput.open(X, y, sample_weight, several=several, **self._opening_options())
        set_features(self, opened.n_columns, opened.names)
        return opened.table, opened.y

    def _resolve_n_features(self, n_columns: int, counted: str = "columns of X") -> int:
        """Return K, how many of ``n_columns`` to select; ``counted`` says what they are."""
        asked = self.n_features_to_select
        if asked is None:
            return max(1, n_columns // 2)
        if isinstance(asked, str) and asked == "auto":
            raise InvalidParameterError(
                "n_features_to_select='auto' needs a stopping test, and "
                f"{self.display_name} has none: it ranks all columns. Pass a number, or use an "
                "information-theoretic selector such as HOCMIM."
            )
        if isinstance(asked, Real) and not isinstance(asked, (bool, np.bool_)):
            if isinstance(asked, Integral):
                if 1 <= asked <= n_columns:
                    return int(asked)
                if asked == DEFAULT_K:
                    return n_columns
            elif 0.0 < float(asked) <= 1.0:
                return max(1, int(float(asked) * n_columns))
        raise InvalidParameterError(
            f"n_features_to_select must be an integer from 1 to the number of {counted} (here "
            f"n_features = {n_columns}), a fraction in (0, 1], or None for half of them"
            f"{self._other_numbers}. Got {value_text(asked)} instead."
        )

    def _set_selection(
        self,
        selected: ArrayLike,
        scores: ArrayLike,
        ranking: ArrayLike | None = None,
        features: Features | None = None,
        selection: Selection | None = None,
    ) -> Self:
        """Set selected_, scores_, ranking_ and selection_.

        Parameters
        ----------
        selected : indices of columns, or of features if these are given; the best first
        scores : the score of each selected one
        ranking : the rank of every column or feature, for methods that rank all of them
        features : the columns and the groups of columns that count as one feature
        selection : the record of a search; made from the scores if there was none
        """
        features = Features(self.n_features_in_) if features is None else features
        chosen = np.array(selected, np.int64)
        if ranking is None:
            ranks = np.full(len(features), len(chosen) + 1, np.int64)
            ranks[chosen] = np.arange(1, len(chosen) + 1)
        else:
            ranks = np.array(ranking, np.int64)
        self.selected_ = features.expand(chosen)
        self.scores_ = np.repeat(np.array(scores, np.float64), features.sizes(chosen))
        self.ranking_ = ranks[features.of_column]
        if selection is None:
            selection = _as_selection(chosen, scores, len(features))
        self.selection_ = selection
        return self

    # --- the report -------------------------------------------------------------------------------

    def basis(self, X: Any = None, y: Any = None) -> Basis:
        """Return the selection and the codes of the table, for a report.

        Parameters
        ----------
        X, y
            The table and the target the selector was fitted on.
        """
        check_is_fitted(self)
        if X is None:
            raise InvalidParameterError(
                f"{self.display_name} keeps no codes of the table: pass X and y."
            )
        table = as_table(X)
        check_features(self, table, reset=False)
        encoder = Encoder(n_jobs=-1)
        codes = encoder.fit_transform(table)
        target = encode_targets(y, table.n_rows, self.target_options())
        return Basis(
            method=self.display_name,
            features=Features(table.n_columns, getattr(self, "feature_names_in_", None)),
            selection=self.selection_
            if getattr(self, "features_", None) is None
            else _as_selection(self.selected_, self.scores_, table.n_columns),
            encoder=encoder,
            target=target,
            selected=Codes.from_columns([codes.column(int(j)) for j in self.selected_]),
            criterion=None,
            estimator=PLUGIN_ESTIMATOR,
            codes=codes,
            column_codes=codes,
            time_kinds=table.time_kinds(range(table.n_columns)),
            left_out=frozenset(self._left_out_columns()),
        )

    def _left_out_columns(self) -> list[int]:
        """Return the columns that are no candidates, because they identify the rows."""
        return []

    def report(self, path: str | PathLike[str], X: Any, y: Any, **options: Any) -> Path:
        """Write a report: what was selected and why, and why any other feature was not.

        Parameters
        ----------
        path : path
            Of the HTML file. The page needs no network and no other file.
        X, y
            The table and the target the selector was fitted on.
        **options
            ``title``, ``source``, ``command``, ``notes``, ``overwrite``, ``max_seconds``,
            ``progress``: see
            ``hocmim.insight.report.write_report``. Needs ``pip install jinja2``.

        Returns
        -------
        Path
            Of the page.
        """
        from hocmim.insight.report.page import write_report

        return write_report(self, X, y, path, **options)

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

    @checked(indices=BOOLEAN)
    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which columns are selected.

        Parameters
        ----------
        indices : bool
            Return the indices of the selected columns, in the order of the table, instead of a
            mask.

        Returns
        -------
        support : ndarray of bool, shape (n_features_in_,), or of int64, shape (K,)
        """
        mask = self._get_support_mask()
        return np.flatnonzero(mask) if indices else mask

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
            names = _check_feature_names_in(self, input_features)
        except (ValueError, TypeError) as error:
            raise InvalidParameterError(f"input_features cannot be used: {error}.") from error
        return np.asarray(names)[self.get_support()]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, bool)
        mask[self.selected_] = True
        return mask

    def transform(self, X: Any) -> Any:
        """Keep the selected columns of X, in the order of the table.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or path
            A table, or a Parquet data set as for the information-theoretic selectors. Only the
            selected columns are read.

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
        return self._as_output(self._take(X, np.flatnonzero(support)))

    def _take(self, X: Any, indices: NDArray[np.int64]) -> Any:
        """Return these columns of a table or a source."""
        is_finite_needed = not self.__sklearn_tags__().input_tags.allow_nan
        return open_table(X, self).take_columns(indices, reject_non_finite=is_finite_needed)

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
            A DataFrame if X is one and ``set_output`` asks for DataFrames: the selected columns
            keep their types.
        """
        support = self._get_support_mask()
        table = as_table(X)
        if table.n_columns != support.sum():
            raise InvalidTableError(
                f"X has {table.n_columns} columns, but {self.display_name} selected "
                f"{support.sum()}. Pass a table that transform returned."
            )
        if sparse.issparse(X):
            X = X.tocsc()
            ends = np.zeros(len(support), X.indptr.dtype)
            ends[support] = np.diff(X.indptr)
            indptr = np.concatenate([[0], np.cumsum(ends)])
            return type(X)((X.data, X.indices, indptr), shape=(X.shape[0], len(support)))
        wanted = _get_output_config("transform", self)["dense"]
        if wanted != "default" and nw.dependencies.is_into_dataframe(X):
            return self._as_output(self._full_frame(X, support))
        chosen = _as_array(X)
        full = np.zeros((table.n_rows, len(support)), chosen.dtype)
        full[:, support] = chosen
        return full

    def _full_frame(self, X: Any, support: NDArray[np.bool_]) -> Any:
        """Return a DataFrame with all columns: those of X, and zeros."""
        frame = nw.from_native(X, eager_only=True)
        names = _check_feature_names_in(self, None)
        chosen = iter(frame.columns)
        zeros = np.zeros(len(frame), np.int64)
        columns = [
            frame[next(chosen)].alias(str(name))
            if is_selected
            else nw.new_series(str(name), zeros, backend=frame.implementation)
            for name, is_selected in zip(names, support, strict=True)
        ]
        return nw.from_dict(
            {column.name: column for column in columns}, backend=frame.implementation
        ).to_native()


def _as_selection(indices: NDArray[np.int64], scores: ArrayLike, n_features: int) -> Selection:
    """Return the record of a method that ranks without a search and computes no relevance."""
    pairs = zip(indices.tolist(), np.asarray(scores, np.float64).tolist(), strict=True)
    steps = tuple(Step(index, score, {}) for index, score in pairs)
    return Selection(steps, np.full(n_features, np.nan))


def _as_array(X: Any) -> NDArray[Any]:
    """Return a DataFrame, an array or nested lists as an array that may be written to."""
    if nw.dependencies.is_into_dataframe(X):
        X = nw.from_native(X, eager_only=True).to_numpy()
    return np.require(X, requirements="W")

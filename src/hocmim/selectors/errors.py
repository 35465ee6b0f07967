"""The error rate of a selection: what the parameter ``fdr`` needs, and what one may write."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from hocmim.errors import InvalidParameterError
from hocmim.insight.statement import statement
from hocmim.search.selection import Selection
from hocmim.selectors.base import RankingSelector
from hocmim.text import value_text


class ControlsErrors(RankingSelector):
    """A selector whose tests keep an error rate."""

    fdr: float | None
    n_features_to_select: Any
    discretizer: str
    selection_: Selection

    def check_parameters(self) -> None:
        """Raise an error unless all values are allowed, alone and together."""
        super().check_parameters()
        if self.fdr is None:
            return
        if self.n_features_to_select != "auto":
            raise InvalidParameterError(
                "fdr decides how many columns are selected, so n_features_to_select must be "
                f"'auto'. Got {value_text(self.n_features_to_select)} instead."
            )
        if self.discretizer == "mdlp":
            raise InvalidParameterError(
                "fdr needs columns that are cut without the target, and discretizer='mdlp' cuts "
                "them by it. Pass another discretizer."
            )

    def statement(self) -> str:
        """Return what one may write about the selection: method, numbers and error rate.

        Returns
        -------
        str
            Two sentences for the methods section of a paper. Without
            ``n_features_to_select="auto"`` nothing is tested, and the second sentence says so.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from hocmim import HOCMIM
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> HOCMIM("auto", fdr=0.1).fit(X, y).statement()[:31]
        'We selected 4 of 30 features wi'
        """
        check_is_fitted(self)
        return statement(self.display_name, self.selection_)

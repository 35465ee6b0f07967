"""Pictures of a fitted information-theoretic selector."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.groups import Features
from hocmim.criteria.base import Criterion
from hocmim.insight import plots
from hocmim.insight.basis import Basis
from hocmim.search.selection import Selection


class Pictures:
    """The redundancy of the selected features, and pictures of a selection."""

    selection_: Selection
    features_: Features

    @abstractmethod
    def make_criterion(self) -> Criterion:
        """Check the parameters and make the criterion."""

    @abstractmethod
    def basis(self, X: Any = None, y: Any = None) -> Basis:
        """Return the selection and the codes of the table."""

    def redundancy_matrix(self) -> NDArray[np.float64]:
        """R_ij = I(X_i;X_j) − I(X_i;X_j|Y) of the selected features, in the order of selection.

        In nats. Positive: the two features repeat each other. Negative: together they have more
        information about y than the sum of the two. The diagonal is I(X_i;Y).
        """
        return self.basis().redundancy_matrix()

    def plot_scores(self, ax: Any = None) -> Any:
        """Draw the score and the relevance of each selected feature; return the axes."""
        check_is_fitted(self)
        return plots.score_curve(self.selection_, self.features_, ax, self.make_criterion().unit)

    def plot_redundancy_heatmap(self, ax: Any = None) -> Any:
        """Draw the redundancy of each pair of selected features; return the axes."""
        return plots.redundancy_heatmap(self.basis(), ax)

    def plot_redundancy_network(self, ax: Any = None, *, min_share: float = 0.2) -> Any:
        """Draw the selected features, with lines between redundant and synergistic pairs.

        Parameters
        ----------
        ax : matplotlib axes, optional
        min_share : float
            Draw lines from this share of the smaller relevance up.
        """
        return plots.redundancy_network(self.basis(), min_share, ax)

"""Pictures of a fitted information-theoretic selector."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.insight import plots
from hocmim.insight.relations.plots import interaction_chart
from hocmim.parameters import Number, checked
from hocmim.selectors.relations import RelatingSelector


class PlottingSelector(RelatingSelector):
    """A selector with the redundancy of the selected features, and pictures of a selection."""

    def redundancy_matrix(self) -> NDArray[np.float64]:
        """R_ij = I(X_i;X_j) − I(X_i;X_j|Y) of the selected features, in the order of selection.

        In nats. Positive: the two features repeat each other. Negative: together they have more
        information about y than the sum of the two. The diagonal is I(X_i;Y).
        """
        return self.basis().redundancy_matrix()

    @checked(ax=plots.AXES)
    def plot_scores(self, ax: Any = None) -> Any:
        """Draw the score and the relevance of each selected feature; return the axes."""
        check_is_fitted(self)
        return plots.score_curve(self.selection_, self.features_, ax, self.make_criterion().unit)

    @checked(ax=plots.AXES)
    def plot_cost_curve(self, ax: Any = None) -> Any:
        """Draw the information of the selected features together against what they cost.

        Needs ``costs``. Returns the axes.
        """
        return plots.cost_curve(self.basis(), ax)

    @checked(ax=plots.AXES)
    def plot_redundancy_heatmap(self, ax: Any = None) -> Any:
        """Draw the redundancy of each pair of selected features; return the axes."""
        return plots.redundancy_heatmap(self.basis(), ax)

    @checked(ax=plots.AXES, min_share=Number(0))
    def plot_redundancy_network(self, ax: Any = None, *, min_share: float = 0.2) -> Any:
        """Draw the selected features, with lines between redundant and synergistic pairs.

        Parameters
        ----------
        ax : matplotlib axes, optional
        min_share : float
            Draw lines from this share of the smaller relevance up.
        """
        return plots.redundancy_network(self.basis(), min_share, ax)

    @checked(ax=plots.AXES)
    def plot_interactions(self, ax: Any = None, *, order: int = 2, n: int = 15) -> Any:
        """Draw the largest interactions of selected features, with what chance can give.

        Parameters
        ----------
        ax : matplotlib axes, optional
        order : {2, 3}
            Pairs or triples.
        n : int
            How many to draw.
        """
        return interaction_chart(self.interactions(order), n, ax)

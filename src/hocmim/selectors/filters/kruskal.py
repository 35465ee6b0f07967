"""The Kruskal–Wallis test statistic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hocmim.selectors.filters._base import Samples, WeightedFilter, column_blocks, indicator


class KruskalWallis(WeightedFilter):
    """H = (N − 1) Σ_c n_c (r̄_c − r̄)² / Σ_i (r_i − r̄)², r the ranks of the column.

    Ties share the average of their ranks; in this form H is already corrected for them. Rewards
    a column whose values are shifted between classes, whatever their distribution. The ranking
    by H is the ranking by p-value. Cost O(D N log N).

    A constant column scores 0, the worst. A categorical column is treated as ordered, in the
    sorted order of its levels: the test uses only ranks.

    The parameters are those of every filter: see :class:`~hocmim.selectors.filters._base.Filter`.

    Attributes
    ----------
    feature_scores_ : ndarray of float64, shape (n_features_in_,)
        H of every column; higher is better.
    selected_, scores_, ranking_
        See :class:`~hocmim.selectors.base.Selector`.

    References
    ----------
    W. H. Kruskal, W. A. Wallis, Use of ranks in one-criterion variance analysis, JASA 1952.
    """

    method_name = "Kruskal-Wallis"
    method_aliases = ("Kruskal",)

    def _score(self, samples: Samples) -> NDArray[np.float64]:
        return kruskal_wallis(samples.values, samples.y)


def kruskal_wallis(X: NDArray[np.float64], y: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return H with tie correction of every column of X, classes y = 0..C-1."""
    from scipy.stats import rankdata  # takes long to import

    n_samples = len(y)
    members = indicator(y)
    sizes = members.sum(axis=1)[:, None]
    scores = np.empty(X.shape[1])
    for block in column_blocks(*X.shape):
        # Centred ranks are multiples of one half, so that these sums are exact.
        ranks = rankdata(X[:, block], axis=0) - (n_samples + 1) / 2
        between = ((members @ ranks) ** 2 / sizes).sum(axis=0)
        total = (ranks**2).sum(axis=0)
        scores[block] = np.divide(
            (n_samples - 1) * between, total, out=np.zeros(len(total)), where=total > 0
        )
    return scores

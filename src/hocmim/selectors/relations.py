"""Substitutes, clusters and interactions of a fitted information-theoretic selector."""

from __future__ import annotations

from typing import Any

from hocmim.errors import InvalidParameterError
from hocmim.insight.relations.clusters import CONSTRAINTS, Clusters, cluster_codes
from hocmim.insight.relations.interactions import ALPHA, Interactions, find_interactions
from hocmim.insight.relations.substitutes import Substitutes, find_substitutes
from hocmim.selectors.explaining import ExplainingSelector


class RelatingSelector(ExplainingSelector):
    """A selector that says which features share information, replace each other, act together."""

    n_jobs: int | None

    def substitutes(self, feature: int | str, X: Any, y: Any = None, *, n: int = 10) -> Substitutes:
        """Say what could replace a feature, and how much information about y that would lose.

        For a selected feature s with the other selected features R, the loss of a candidate c is
        V(s) − V(c), where V(x) = max(0, min_j Î(x;Y|Z_j)) estimates what x adds to R: Z_0 is empty
        and Z_j holds the j features of R that make x most redundant, as long as there are five rows
        for each of their cells. Estimates are Miller–Madow. For a feature that was not selected R
        is empty. Candidates share information with the feature beyond chance. They are sorted by
        the loss beyond chance, then by the share.

        Parameters
        ----------
        feature : int or str
            Its index or its name.
        X : table
            The table the selector was fitted on.
        y : array, optional
            The target it was fitted on; checked if given.
        n : int
            How many substitutes to return, from 1 to 50.

        Returns
        -------
        Substitutes
            ``print`` it; or iterate over it and read ``feature``, ``loss`` and ``share``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from hocmim import RobustHOCMIM
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> selector = RobustHOCMIM(8).fit(X, y)
        >>> selector.substitutes("worst perimeter", X)[0].feature
        'worst radius'
        """
        basis = self.basis(X, y)
        return find_substitutes(basis, self.features_.find(feature), n, n_jobs=self.n_jobs)

    def clusters(self, X: Any, y: Any = None, **options: Any) -> Clusters:
        """Cluster all features by the information they share, as the selector encodes them.

        Parameters
        ----------
        X : table
            The table the selector was fitted on.
        y : array, optional
            The target it was fitted on; checked if given.
        **options
            ``max_distance``, ``method``, ``max_rows``, ``progress``, ``random_state``: see
            ``hocmim.cluster_columns``.

        Returns
        -------
        Clusters
            The most relevant feature of a cluster represents it. Indices are those of features: a
            group of columns counts as one.
        """
        unknown = [name for name in options if name not in CONSTRAINTS]
        if unknown:
            raise InvalidParameterError(
                f"clusters has no option {unknown[0]!r}: the columns are encoded as they were for "
                f"the selection. Its options are {', '.join(CONSTRAINTS)}."
            )
        basis = self.basis(X, y)
        given = {"n_jobs": self.n_jobs, "names": self.features_.names} | options
        return cluster_codes(basis.all_codes, [one.column for one in basis.averaged], **given)

    def interactions(
        self, order: int = 2, *, max_features: int | None = None, alpha: float = ALPHA
    ) -> Interactions:
        """Return the synergy and redundancy of all pairs or triples of selected features.

        For two: I(X,X′;Y) − I(X;Y) − I(X′;Y), positive for synergy. For three the same by inclusion
        and exclusion: see ``hocmim.insight.relations.interactions``. Estimates are corrected for
        chance, and ``noise`` says how far chance can move them.

        Parameters
        ----------
        order : {2, 3}
        max_features : int or None
            Combine this many selected features, the first ones. None: 60 for two, 20 for three.
        alpha : float
            The level of significance, for all pairs or triples together.

        Returns
        -------
        Interactions
            ``print`` it; or iterate over it and read ``features``, ``value``, ``noise``, ``kind``.
        """
        return find_interactions(self.basis(), order, max_features=max_features, alpha=alpha)

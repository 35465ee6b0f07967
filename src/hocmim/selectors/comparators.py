"""The information-theoretic selectors HOCMIM is compared with, as scikit-learn estimators.

Each is a criterion (``hocmim.criteria``) with the parameters and fitted attributes that
``InformationSelector`` lists; what a selector adds to them is in its own docstring. The estimator
is by default what the paper used: plug-in for the second-order methods and CMICOT, shrinkage for
the others of third and fourth order.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from hocmim.criteria.base import Criterion
from hocmim.criteria.beta_gamma import (
    BetaGammaCriterion,
    CIFECriterion,
    JMICriterion,
    MIFSCriterion,
    MIMCriterion,
    MRMRCriterion,
)
from hocmim.criteria.cmi import CMICriterion
from hocmim.criteria.cmicot import MOST_TEAM_SIZE, CMICOTCriterion
from hocmim.criteria.cmim import CMIMCriterion
from hocmim.criteria.cmim_k import CMIMkCriterion
from hocmim.criteria.disr import DISRCriterion
from hocmim.criteria.icap import ICAPCriterion
from hocmim.criteria.jmi_k import JMIkCriterion
from hocmim.criteria.jmim import JMIMCriterion
from hocmim.criteria.relax_mrmr import RelaxMRMRCriterion
from hocmim.errors import InvalidParameterError
from hocmim.selectors.information import InformationSelector, check_number


class _Plugin(InformationSelector):
    """The parameters every selector has; plug-in by default."""

    def __init__(
        self,
        n_features_to_select: int | float | str | None = 10,
        *,
        estimator: str = "plugin",
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
        self.estimator = estimator
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


class _Shrinkage(_Plugin):
    """The parameters every selector has; shrinkage by default."""

    def __init__(
        self,
        n_features_to_select: int | float | str | None = 10,
        *,
        estimator: str = "shrinkage",
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
        super().__init__(
            n_features_to_select,
            estimator=estimator,
            discretizer=discretizer,
            n_bins=n_bins,
            target_bins=target_bins,
            min_gain=min_gain,
            stop=stop,
            alpha=alpha,
            n_permutations=n_permutations,
            random_state=random_state,
            feature_groups=feature_groups,
            engine=engine,
            codes_dir=codes_dir,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            verbose=verbose,
        )


class MIM(_Plugin):
    """Mutual information maximization: J(X) = I(X;Y).

    Rewards relevance alone: a copy of a good feature is as good as it. Parameters and attributes:
    ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return MIMCriterion(self.estimator)


class MIFS(_Plugin):
    """Mutual information feature selection: J(X) = I(X;Y) − β Σ_{j∈S} I(X;X_j).

    Rewards relevance that no selected feature repeats, about Y or not. The other parameters, and
    the attributes: ``InformationSelector``.

    Parameters
    ----------
    beta : float from 0 to 1, default 1
        Weight of the redundancy with each selected feature.
    """

    def __init__(
        self,
        n_features_to_select: int | float | str | None = 10,
        *,
        beta: float = 1.0,
        estimator: str = "plugin",
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
        super().__init__(
            n_features_to_select,
            estimator=estimator,
            discretizer=discretizer,
            n_bins=n_bins,
            target_bins=target_bins,
            min_gain=min_gain,
            stop=stop,
            alpha=alpha,
            n_permutations=n_permutations,
            random_state=random_state,
            feature_groups=feature_groups,
            engine=engine,
            codes_dir=codes_dir,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.beta = beta

    def _criterion(self) -> Criterion:
        check_number("beta", self.beta, at_least=0, at_most=1)
        return MIFSCriterion(self.beta, self.estimator)


class MRMR(_Plugin):
    """mRMR, minimum redundancy and maximum relevance: J(X) = I(X;Y) − 1/|S| Σ_{j∈S} I(X;X_j).

    Rewards relevance less the mean redundancy with the selected features. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return MRMRCriterion(self.estimator)


class JMI(_Plugin):
    """Joint mutual information: J(X) = I(X;Y) − 1/|S| Σ_{j∈S} [I(X;X_j) − I(X;X_j|Y)].

    Ranks as Σ_j I(X,X_j;Y) does: rewards what X and one selected feature say of Y together, on
    average. Parameters and attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return JMICriterion(self.estimator)


class CIFE(_Plugin):
    """Conditional infomax: J(X) = I(X;Y) − Σ_{j∈S} [I(X;X_j) − I(X;X_j|Y)].

    Rewards what X adds, taking the redundancies with single features to add up. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return CIFECriterion(self.estimator)


class BetaGamma(_Plugin):
    """The β,γ family: J(X) = I(X;Y) − β Σ_{j∈S} I(X;X_j) + γ Σ_{j∈S} I(X;X_j|Y).

    Holds MIM, MIFS and CIFE as special cases. The other parameters, and the attributes:
    ``InformationSelector``.

    Parameters
    ----------
    beta : float, at least 0, default 1
        Weight of the redundancy with each selected feature.
    gamma : float, at least 0, default 1
        Weight of the redundancy within the classes, which is not about Y.
    """

    def __init__(
        self,
        n_features_to_select: int | float | str | None = 10,
        *,
        beta: float = 1.0,
        gamma: float = 1.0,
        estimator: str = "plugin",
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
        super().__init__(
            n_features_to_select,
            estimator=estimator,
            discretizer=discretizer,
            n_bins=n_bins,
            target_bins=target_bins,
            min_gain=min_gain,
            stop=stop,
            alpha=alpha,
            n_permutations=n_permutations,
            random_state=random_state,
            feature_groups=feature_groups,
            engine=engine,
            codes_dir=codes_dir,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.beta = beta
        self.gamma = gamma

    def _criterion(self) -> Criterion:
        check_number("beta", self.beta, at_least=0)
        check_number("gamma", self.gamma, at_least=0)
        return BetaGammaCriterion(self.beta, self.gamma, estimator=self.estimator)


class DISR(_Plugin):
    """Double input symmetrical relevance: J(X) = Σ_{j∈S} I(X,X_j;Y) / H(X,X_j,Y).

    Rewards what X says of Y together with each selected feature, as a share of all there is to say.
    Parameters and attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return DISRCriterion(self.estimator)


class CMIM(_Plugin):
    """Conditional mutual information maximization: J(X) = min_{j∈S} I(X;Y|X_j).

    Rewards what X adds to the one selected feature that makes it most redundant. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return CMIMCriterion(self.estimator)


class ICAP(_Plugin):
    """Interaction capping: J(X) = I(X;Y) − Σ_{j∈S} max(0, I(X;X_j) − I(X;X_j|Y)).

    Rewards relevance less its redundancies; a synergy makes up for none of them. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return ICAPCriterion(self.estimator)


class JMIM(_Plugin):
    """Joint mutual information maximisation: J(X) = min_{j∈S} I(X,X_j;Y).

    Rewards what X says of Y together with the selected feature that helps it least. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return JMIMCriterion(self.estimator)


class CMI(_Plugin):
    """Conditional mutual information given everything selected: J(X) = I(X;Y|S).

    Rewards exactly what X adds, for as long as there are samples enough: once S tells every sample
    from every other, all scores are 0 and columns are taken in their order. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return CMICriterion(self.estimator)


class RelaxMRMR(_Shrinkage):
    """Relax-mRMR: JMI less 1/(|S| (|S|−1)) Σ_{j∈S} Σ_{i∈S, i≠j} I(X;X_i|X_j).

    Rewards a feature that repeats no selected one, not even given another. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return RelaxMRMRCriterion(self.estimator)


class JMI3(_Shrinkage):
    """JMI-3: J(X) = Σ over pairs {i, j} ⊆ S of I(X,X_i,X_j;Y).

    Rewards what X says of Y together with two selected features, on average. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return JMIkCriterion(3, self.estimator)


class JMI4(_Shrinkage):
    """JMI-4: J(X) = Σ over triples {i, j, l} ⊆ S of I(X,X_i,X_j,X_l;Y).

    Rewards what X says of Y together with three selected features, on average. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return JMIkCriterion(4, self.estimator)


class CMIM3(_Shrinkage):
    """CMIM-3: J(X) = min over pairs {i, j} ⊆ S of I(X;Y|X_i,X_j).

    Rewards what X adds to the two selected features that make it most redundant. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return CMIMkCriterion(3, self.estimator)


class CMIM4(_Shrinkage):
    """CMIM-4: J(X) = min over triples {i, j, l} ⊆ S of I(X;Y|X_i,X_j,X_l).

    Rewards what X adds to the three selected features that make it most redundant. Parameters and
    attributes: ``InformationSelector``.
    """

    def _criterion(self) -> Criterion:
        return CMIMkCriterion(4, self.estimator)


class CMICOT(_Plugin):
    """CMICOT: J(X) = max over b of I(b, h_1..h_{t−1};Y|g_1..g_t).

    b runs over binary representatives [X > threshold]; the complementary team h helps b most to
    tell Y, the opposing team g leaves b and h least to tell. Rewards what a feature adds with the
    best help against the strongest competition. Equal members of a team: the one selected earliest,
    then the lowest threshold (the original chooses at random). The other parameters, and the
    attributes: ``InformationSelector``.

    Parameters
    ----------
    team_size : int from 1 to 16, default 6
        t, the size of both teams; b is one of its own.
    """

    def __init__(
        self,
        n_features_to_select: int | float | str | None = 10,
        *,
        team_size: int = 6,
        estimator: str = "plugin",
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
        super().__init__(
            n_features_to_select,
            estimator=estimator,
            discretizer=discretizer,
            n_bins=n_bins,
            target_bins=target_bins,
            min_gain=min_gain,
            stop=stop,
            alpha=alpha,
            n_permutations=n_permutations,
            random_state=random_state,
            feature_groups=feature_groups,
            engine=engine,
            codes_dir=codes_dir,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.team_size = team_size

    def _criterion(self) -> Criterion:
        check_number("team_size", self.team_size, at_least=1, at_most=MOST_TEAM_SIZE, whole=True)
        return CMICOTCriterion(self.team_size, self.estimator)


class CriterionSelector(InformationSelector):
    """Selects by a criterion of your own.

    The other parameters, and the attributes: ``InformationSelector``.

    Parameters
    ----------
    criterion : Criterion
        An instance of a subclass of ``Criterion``; it has its own estimator.

    Examples
    --------
    >>> from hocmim.criteria.cmim_k import CMIMkCriterion
    >>> from hocmim import CriterionSelector
    >>> selector = CriterionSelector(CMIMkCriterion(5), n_features_to_select=3)
    """

    def __init__(
        self,
        criterion: Criterion,
        n_features_to_select: int | float | str | None = 10,
        *,
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
        self.criterion = criterion
        self.n_features_to_select = n_features_to_select
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
        if not isinstance(self.criterion, Criterion):
            raise InvalidParameterError(
                "criterion must be an instance of a subclass of hocmim.criteria.Criterion. Got "
                f"{self.criterion!r} instead."
            )
        return self.criterion

"""The information-theoretic methods: a scikit-learn estimator for each criterion.

A class says what is special about a method: its name, its criterion, its own parameters and its
default estimator. A docstring of one line gets the formula and the references of the criterion;
every docstring gets the parameters and attributes that all methods have.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from hocmim.coding.encoder import Encoder
from hocmim.coding.target import Target
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
from hocmim.criteria.cmicot import MAX_TEAM_SIZE, CMICOTCriterion
from hocmim.criteria.cmim import CMIMCriterion
from hocmim.criteria.cmim_k import CMIMkCriterion
from hocmim.criteria.disr import DISRCriterion
from hocmim.criteria.hocmim import HOCMIMCriterion
from hocmim.criteria.hocmim_r import RobustHOCMIMCriterion
from hocmim.criteria.icap import ICAPCriterion
from hocmim.criteria.jim import JIMCriterion
from hocmim.criteria.jmi_k import JMIkCriterion
from hocmim.criteria.jmim import JMIMCriterion
from hocmim.criteria.njmim import NJMIMCriterion
from hocmim.criteria.relax_mrmr import RelaxMRMRCriterion
from hocmim.information.estimators import (
    HIGH_ORDER_ESTIMATOR,
    SECOND_ORDER_ESTIMATOR,
    UNBIASED_ESTIMATOR,
)
from hocmim.parameters import number, one_of, whole
from hocmim.selectors.base import Count, InformationSelector


class RobustHOCMIM(InformationSelector):
    """HOCMIM-R, robust high-order conditional mutual information maximization.

    Parameters
    ----------
    max_order : int, default 15
        The largest size of a representative set.
    interactions : bool or "auto", default "auto"
        Whether pairs and triples of columns that tell something about y only together are found
        and selected as well. "auto" uses fewer levels where the work is more than seconds, and
        leaves it out where that is not enough; True tests all of them. Fewer than 20 rows for each
        class are not tested. ``interactions_`` lists what was found, ``selection_.notes`` says what
        was left out.
    """

    method_name = "HOCMIM-R"
    criterion_type = RobustHOCMIMCriterion
    method_aliases = ("robust HOCMIM",)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_order": [whole(1)],
        "interactions": ["boolean", one_of(["auto"])],
    }

    def __init__(
        self,
        n_features_to_select: Count = 10,
        *,
        max_order: int = 15,
        interactions: bool | Literal["auto"] = "auto",
        estimator: str = UNBIASED_ESTIMATOR,
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
        self._init_as(InformationSelector, locals())
        self.max_order = max_order
        self.interactions = interactions


class HOCMIM(InformationSelector):
    """HOCMIM, high-order conditional mutual information maximization.

    Parameters
    ----------
    max_order : int, default 15
        The largest size of a representative set.
    tol : float, default 0.01
        A representative set stops growing when J < tol · I(X;Y): the candidate is redundant.
    form : {"redundancy", "conditional"}
        J as in the formula, or J = I(X;Y|Z). They are equal for the plug-in estimator. With the
        default estimator the first falls back to relevance when samples are few; the second suits
        many samples.
    """

    method_name = "HOCMIM"
    criterion_type = HOCMIMCriterion
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_order": [whole(1)],
        "tol": [number(0, 1)],
        "form": [one_of(["redundancy", "conditional"])],
    }

    def __init__(
        self,
        n_features_to_select: Count = 10,
        *,
        max_order: int = 15,
        tol: float = 0.01,
        form: str = "redundancy",
        estimator: str = HIGH_ORDER_ESTIMATOR,
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
        self._init_as(InformationSelector, locals())
        self.max_order = max_order
        self.tol = tol
        self.form = form


class MIM(InformationSelector):
    """MIM, mutual information maximization."""

    method_name = "MIM"
    criterion_type = MIMCriterion
    method_aliases = ("maximum relevance",)


class MRMR(InformationSelector):
    """mRMR, minimum redundancy, maximum relevance."""

    method_name = "mRMR"
    criterion_type = MRMRCriterion
    method_aliases = ("minimum redundancy maximum relevance",)


class JMI(InformationSelector):
    """JMI, joint mutual information."""

    method_name = "JMI"
    criterion_type = JMICriterion


class CIFE(InformationSelector):
    """CIFE, conditional infomax."""

    method_name = "CIFE"
    criterion_type = CIFECriterion


class MIFS(InformationSelector):
    """MIFS, mutual information feature selection.

    Parameters
    ----------
    beta : float from 0 to 1, default 1
        Weight of the redundancy with each selected feature.
    """

    method_name = "MIFS"
    criterion_type = MIFSCriterion
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "beta": [number(0, 1)],
    }

    def __init__(
        self,
        n_features_to_select: Count = 10,
        *,
        beta: float = 1.0,
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
        self._init_as(InformationSelector, locals())
        self.beta = beta


class BetaGamma(InformationSelector):
    """BetaGamma, the β,γ family, with MIM, MIFS and CIFE as special cases.

    Parameters
    ----------
    beta : float of at least 0, default 1
        Weight of the redundancy with each selected feature.
    gamma : float of at least 0, default 1
        Weight of the redundancy within the classes, which is not about Y.
    """

    method_name = "BetaGamma"
    criterion_type = BetaGammaCriterion
    method_aliases = ("beta-gamma family",)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "beta": [number(0)],
        "gamma": [number(0)],
    }

    def __init__(
        self,
        n_features_to_select: Count = 10,
        *,
        beta: float = 1.0,
        gamma: float = 1.0,
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
        self._init_as(InformationSelector, locals())
        self.beta = beta
        self.gamma = gamma


class CMI(InformationSelector):
    """CMI, conditional mutual information given all selected features."""

    method_name = "CMI"
    criterion_type = CMICriterion


class DISR(InformationSelector):
    """DISR, double input symmetrical relevance."""

    method_name = "DISR"
    criterion_type = DISRCriterion


class ICAP(InformationSelector):
    """ICAP, interaction capping."""

    method_name = "ICAP"
    criterion_type = ICAPCriterion


class JIM(InformationSelector):
    """JIM, joint impurity."""

    method_name = "JIM"
    criterion_type = JIMCriterion


class JMIM(InformationSelector):
    """JMIM, joint mutual information maximization."""

    method_name = "JMIM"
    criterion_type = JMIMCriterion


class NJMIM(InformationSelector):
    """NJMIM, normalized joint mutual information maximization."""

    method_name = "NJMIM"
    criterion_type = NJMIMCriterion


class CMIM(InformationSelector):
    """CMIM, conditional mutual information maximization.

    Parameters
    ----------
    with_relevance : bool, default True
        Whether I(X;Y) is one of the terms of the minimum, as in Fleuret's algorithm and in other
        toolboxes. False: the bare minimum over S.
    """

    method_name = "CMIM"
    criterion_type = CMIMCriterion
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "with_relevance": ["boolean"],
    }

    def __init__(
        self,
        n_features_to_select: Count = 10,
        *,
        with_relevance: bool = True,
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
        self._init_as(InformationSelector, locals())
        self.with_relevance = with_relevance


class CMICOT(InformationSelector):
    """CMICOT, conditional mutual information with complementary and opposing teams.

    Parameters
    ----------
    team_size : int from 1 to 16, default 6
        t, the size of both teams; b is a member of its own team.
    """

    method_name = "CMICOT"
    criterion_type = CMICOTCriterion
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "team_size": [whole(1, MAX_TEAM_SIZE)],
    }

    def __init__(
        self,
        n_features_to_select: Count = 10,
        *,
        team_size: int = 6,
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
        self._init_as(InformationSelector, locals())
        self.team_size = team_size


class HighOrderSelector(InformationSelector):
    """A method of third or fourth order, which was published with the shrinkage estimator."""

    def __init__(
        self,
        n_features_to_select: Count = 10,
        *,
        estimator: str = HIGH_ORDER_ESTIMATOR,
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
        self._init_as(InformationSelector, locals())


class RelaxMRMR(HighOrderSelector):
    """Relax-mRMR, minimal redundancy, also given pairs of selected features."""

    method_name = "Relax-mRMR"
    criterion_type = RelaxMRMRCriterion


class CMIM3(HighOrderSelector):
    """CMIM-3, CMIM given pairs of selected features.

    J(X) = min over pairs {i, j} ⊆ S of I(X;Y|X_i,X_j).

    Rewards what X adds to the two selected features that make it most redundant.

    Cost: K² D / 2 terms at most, far fewer by lazy evaluation.

    References
    ----------
    Sechidis, Azzimonti, Pocock, Corani, Weatherall, Brown: Efficient feature selection using
    shrinkage estimators. Machine Learning 108, 2019.
    """

    method_name = "CMIM-3"

    def make_criterion(self) -> Criterion:
        """Return the criterion."""
        return CMIMkCriterion(3, self.estimator)


class JMI3(HighOrderSelector):
    """JMI-3, joint mutual information with pairs of selected features.

    J(X) = Σ over pairs {i, j} ⊆ S of I(X,X_i,X_j;Y).

    Rewards what X says of Y together with two selected features, on average.

    Cost: K² D / 2 terms.

    References
    ----------
    Sechidis, Azzimonti, Pocock, Corani, Weatherall, Brown: Efficient feature selection using
    shrinkage estimators. Machine Learning 108, 2019.
    """

    method_name = "JMI-3"

    def make_criterion(self) -> Criterion:
        """Return the criterion."""
        return JMIkCriterion(3, self.estimator)


class CMIM4(HighOrderSelector):
    """CMIM-4, CMIM given triples of selected features.

    J(X) = min over triples {i, j, l} ⊆ S of I(X;Y|X_i,X_j,X_l).

    Rewards what X adds to the three selected features that make it most redundant.

    Cost: K³ D / 6 terms at most, far fewer by lazy evaluation.

    References
    ----------
    Sechidis, Azzimonti, Pocock, Corani, Weatherall, Brown: Efficient feature selection using
    shrinkage estimators. Machine Learning 108, 2019.
    """

    method_name = "CMIM-4"

    def make_criterion(self) -> Criterion:
        """Return the criterion."""
        return CMIMkCriterion(4, self.estimator)


class JMI4(HighOrderSelector):
    """JMI-4, joint mutual information with triples of selected features.

    J(X) = Σ over triples {i, j, l} ⊆ S of I(X,X_i,X_j,X_l;Y).

    Rewards what X says of Y together with three selected features, on average.

    Cost: K³ D / 6 terms.

    References
    ----------
    Sechidis, Azzimonti, Pocock, Corani, Weatherall, Brown: Efficient feature selection using
    shrinkage estimators. Machine Learning 108, 2019.
    """

    method_name = "JMI-4"

    def make_criterion(self) -> Criterion:
        """Return the criterion."""
        return JMIkCriterion(4, self.estimator)


class CriterionSelector(InformationSelector):
    """Selects by a criterion of your own.

    The other parameters, and the attributes: see ``HOCMIM``. The criterion has its own estimator.

    Parameters
    ----------
    criterion : Criterion
        An instance of a subclass of ``Criterion``.

    Examples
    --------
    >>> from hocmim import CriterionSelector
    >>> from hocmim.criteria.jmi_k import JMIkCriterion
    >>> CriterionSelector(JMIkCriterion(2), n_features_to_select=3).n_features_to_select
    3
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"criterion": [Criterion]}

    def __init__(
        self,
        criterion: Criterion,
        n_features_to_select: Count = 10,
        *,
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
        self._init_as(InformationSelector, locals())
        self.criterion = criterion

    @property
    def display_name(self) -> str:
        """The name shown to users: that of the class of the criterion."""
        return type(self.criterion).__name__

    def make_criterion(self) -> Criterion:
        """Return a copy of the criterion."""
        return self.criterion.copy()

"""The β,γ family: relevance less redundancy with each selected feature, plus complementarity."""

from __future__ import annotations

from hocmim.coding.codes import Codes, Column
from hocmim.criteria.base import Criterion
from hocmim.criteria.searches import FIRST_ORDER_PLAN, SECOND_ORDER_PLAN
from hocmim.information.counting import Joint, Values
from hocmim.information.estimators import SECOND_ORDER_ESTIMATOR


class BetaGammaCriterion(Criterion):
    """J(X) = I(X;Y) − β Σ_{j∈S} I(X;X_j) + γ Σ_{j∈S} I(X;X_j|Y).

    Rewards relevance; β weighs what X repeats of each selected feature, γ what of that is not about
    Y. With ``mean`` the two sums are divided by |S|.

    Cost: K D terms.

    References
    ----------
    Brown, Pocock, Zhao, Luján: Conditional likelihood maximisation: a unifying framework for
    information theoretic feature selection. Journal of Machine Learning Research 13, 2012.
    """

    plan = SECOND_ORDER_PLAN

    def __init__(
        self,
        beta: float,
        gamma: float,
        *,
        is_mean: bool = False,
        estimator: str = SECOND_ORDER_ESTIMATOR,
    ) -> None:
        super().__init__(estimator)
        self.beta = beta
        self.gamma = gamma
        self.is_mean = is_mean
        self.sees_redundancy = beta != 0 or gamma != 0

    def start(self, block: Codes, y: Column) -> Values:
        """Begin with no redundancy."""
        super().start(block, y)
        self.penalty = self.relevance * 0.0
        return self.relevance

    def update(self, newest: Column) -> None:
        """Add β I(X;newest) − γ I(X;newest|Y) to the penalty."""
        super().update(newest)
        if self.beta == self.gamma == 0:
            return
        joint = Joint.of([newest])
        if self.beta == self.gamma:
            self.penalty += self.beta * self.terms.redundancy(joint)
            return
        if self.beta != 0:
            self.penalty += self.beta * self.terms.information(joint)
        if self.gamma != 0:
            self.penalty -= self.gamma * self.terms.given_class(joint)

    def scores(self) -> Values:
        """Relevance less the penalty, or its mean."""
        share = 1 / len(self.selected) if self.is_mean and self.selected else 1.0
        return self.relevance - share * self.penalty


class MIMCriterion(BetaGammaCriterion):
    """J(X) = I(X;Y).

    Rewards relevance alone: copies of a good feature are as good. Cost: D terms.

    References
    ----------
    Lewis: Feature selection and feature extraction for text categorization. Workshop on Speech and
    Natural Language, 1992.
    """

    plan = FIRST_ORDER_PLAN  # one pass over the table; the steps have nothing to compute

    def __init__(self, estimator: str = SECOND_ORDER_ESTIMATOR) -> None:
        super().__init__(0, 0, estimator=estimator)


class MIFSCriterion(BetaGammaCriterion):
    """J(X) = I(X;Y) − β Σ_{j∈S} I(X;X_j), β ∈ [0, 1].

    Rewards relevance that no selected feature repeats, about Y or not. Cost: K D terms.

    References
    ----------
    Battiti: Using mutual information for selecting features in supervised neural net learning. IEEE
    Transactions on Neural Networks 5, 1994.
    """

    def __init__(self, beta: float = 1.0, estimator: str = SECOND_ORDER_ESTIMATOR) -> None:
        super().__init__(beta, 0, estimator=estimator)


class MRMRCriterion(BetaGammaCriterion):
    """J(X) = I(X;Y) − 1/|S| Σ_{j∈S} I(X;X_j).

    Rewards relevance less the mean redundancy with the selected features. Cost: K D terms.

    References
    ----------
    Peng, Long, Ding: Feature selection based on mutual information: criteria of max-dependency,
    max-relevance, and min-redundancy. IEEE Transactions on Pattern Analysis and Machine
    Intelligence 27, 2005.
    """

    def __init__(self, estimator: str = SECOND_ORDER_ESTIMATOR) -> None:
        super().__init__(1, 0, is_mean=True, estimator=estimator)


class JMICriterion(BetaGammaCriterion):
    """J(X) = I(X;Y) − 1/|S| Σ_{j∈S} [I(X;X_j) − I(X;X_j|Y)].

    Ranks as Σ_j I(X,X_j;Y) does: rewards what X and one selected feature say of Y together, on
    average. Cost: K D terms.

    References
    ----------
    Yang, Moody: Data visualization and feature selection: new algorithms for nongaussian data.
    Advances in Neural Information Processing Systems 12, 1999.
    """

    def __init__(self, estimator: str = SECOND_ORDER_ESTIMATOR) -> None:
        super().__init__(1, 1, is_mean=True, estimator=estimator)


class CIFECriterion(BetaGammaCriterion):
    """J(X) = I(X;Y) − Σ_{j∈S} [I(X;X_j) − I(X;X_j|Y)].

    Rewards what X adds, taking the redundancies with single features to add up. Cost: K D terms.

    References
    ----------
    Lin, Tang: Conditional infomax learning: an integrated framework for feature extraction and
    fusion. European Conference on Computer Vision, 2006.
    """

    def __init__(self, estimator: str = SECOND_ORDER_ESTIMATOR) -> None:
        super().__init__(1, 1, estimator=estimator)

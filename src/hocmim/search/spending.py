"""What a search may spend: the cost of every feature, and a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hocmim.information.counting import Values
from hocmim.parameters import check_parameters, number, whole

# A sum of costs may exceed the budget by this share of it, for rounding errors: 0.1 + 0.2 is more
# than 0.3 in floating-point numbers.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Budget:
    """Select as many features as can be paid for: a value of ``n_features_to_select``.

    Parameters
    ----------
    total : float
        What the selected columns may cost together, in the unit of ``costs``. The selection ends
        when no other column can be paid for.
    n_features : int or None
        The most features to select; None for no limit.

    Examples
    --------
    >>> from hocmim import Budget, JMI
    >>> JMI(Budget(20), costs={"mri": 15}).n_features_to_select
    Budget(total=20, n_features=None)
    """

    total: float
    n_features: int | None = None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "total": [number(0, closed="neither")],
        "n_features": [whole(1), None],
    }

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, eq=False)
class Spending:
    """The cost of every feature, and what all selected features may cost together.

    Attributes
    ----------
    costs : ndarray of float64
        Positive.
    budget : float or None
        None if there is no limit.
    """

    costs: Values
    budget: float | None = None

    def total(self, indices: Iterable[int]) -> float:
        """Return the cost of several features."""
        return fsum(float(self.costs[k]) for k in indices)

    def left(self, selected: Sequence[int]) -> float:
        """Return what is left of the budget; infinite without one."""
        return np.inf if self.budget is None else self.budget - self.total(selected)

    def is_affordable(self, selected: Sequence[int]) -> NDArray[np.bool_]:
        """Return which features can still be paid for."""
        if self.budget is None:
            return np.ones(len(self.costs), bool)
        return np.asarray(self.costs <= self.left(selected) + ROUNDING * self.budget)

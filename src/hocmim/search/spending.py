"""What a search may spend: the cost of every feature, and a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from hocmim.information.counting import Values

# A sum of costs may exceed the budget by this share of it, for rounding errors: 0.1 + 0.2 is more
# than 0.3 in floating-point numbers.
ROUNDING = 1e-9


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

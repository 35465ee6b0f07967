"""What may be selected: columns to keep, columns to exclude, costs, and how many features.

``n_features_to_select`` is resolved here, once per fit, when the candidates are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.groups import Features, check_disjoint, resolve_columns, resolve_costs
from hocmim.errors import InvalidParameterError, warn_about_data, warn_user
from hocmim.information.counting import Values
from hocmim.parameters import check_parameters, number, whole
from hocmim.text import count

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
    """The cost of every feature, and what all selected features may cost together."""

    costs: Values  # positive
    budget: float | None = None  # None: no limit

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


# What ``n_features_to_select`` may be for every selector.
COUNTS = [whole(1), number(0, 1, "right"), Budget, None]


@dataclass(frozen=True, eq=False)
class Constraints:
    """What may be selected, in feature indices."""

    n_features: int  # of the table
    keep: tuple[int, ...] = ()  # selected in any case
    # Never selected: because the user says so, or because they identify the rows.
    excluded: tuple[int, ...] = ()
    identifiers: tuple[int, ...] = ()
    spending: Spending | None = None
    constants: tuple[int, ...] = ()  # never selected, because they have one level

    @property
    def closed(self) -> tuple[int, ...]:
        """The features that are never candidates."""
        return tuple(sorted({*self.excluded, *self.identifiers, *self.constants}))

    @property
    def n_candidates(self) -> int:
        """How many features can be selected."""
        return self.n_features - len(self.closed)

    def without(self, identifiers: Iterable[int]) -> Constraints:
        """Leave out identifiers, except those to keep."""
        return replace(self, identifiers=tuple(sorted(set(identifiers) - {*self.keep})))

    def without_constants(self, constants: Iterable[int]) -> Constraints:
        """Leave out features of one level, except those to keep.

        If all candidates have one level, they stay, with a warning.
        """
        found = set(constants) - {*self.keep, *self.closed}
        left = replace(self, constants=tuple(sorted(found)))
        if left.n_candidates:
            return left
        warn_about_data(
            "Every column has only one level, so that none says anything about the target. What is "
            "selected means nothing."
        )
        return self

    def count(self, asked: Any, name: str = "n_features_to_select") -> int:
        """Return how many features to select at most, K; ``asked`` was passed as ``name``.

        A number larger than the number of candidates is reduced to it, with a warning.
        """
        most, n_open = self.n_candidates, self.n_features - len(self.excluded)
        if isinstance(asked, Budget) and asked.n_features is not None:
            asked = asked.n_features
        if asked is None:
            found = max(1, n_open // 2)
        elif isinstance(asked, Integral):
            found = int(asked)
            if found > most:
                warn_user(
                    f"{name} is {found}, but only {count(most, 'feature')} can be "
                    "selected. All of them are selected."
                )
        elif isinstance(asked, Real):
            found = max(1, int(float(asked) * n_open))
        else:
            found = most
        if found < len(self.keep):
            raise InvalidParameterError(
                f"keep has {count(len(self.keep), 'feature')}, and n_features_to_select is "
                f"{asked!r}: the features to keep count. Pass at least {len(self.keep)}."
            )
        return min(found, most)


def resolve_constraints(
    features: Features, keep: Any, exclude: Any, costs: Any, asked: Any
) -> Constraints:
    """Return what may be selected of these features; ``asked`` is ``n_features_to_select``."""
    if keep is None and exclude is None and costs is None and not isinstance(asked, Budget):
        return Constraints(len(features))
    kept = resolve_columns(keep, features, "keep")
    excluded = resolve_columns(exclude, features, "exclude")
    check_disjoint(kept, excluded, features)
    spending = _resolve_spending(features, costs, asked, kept)
    return Constraints(len(features), kept, excluded, spending=spending)


def _resolve_spending(
    features: Features, costs: Any, asked: Any, keep: tuple[int, ...]
) -> Spending | None:
    of_feature = resolve_costs(costs, features)
    budget = float(asked.total) if isinstance(asked, Budget) else None
    if of_feature is None:
        if budget is not None:
            raise InvalidParameterError(
                f"The budget is {budget:g}, but the columns have no costs. Pass costs too."
            )
        return None
    spending = Spending(of_feature, budget)
    if budget is None:
        return spending
    total, most = spending.total(keep), budget * (1 + ROUNDING)
    if total > most:
        raise InvalidParameterError(
            f"The columns of keep cost {total:g}, more than the budget of {budget:g}. Raise "
            "the budget, or keep fewer columns."
        )
    if of_feature.min() > most:
        raise InvalidParameterError(
            f"The budget is {budget:g}, but the cheapest column costs {of_feature.min():g}. Raise "
            "the budget."
        )
    return spending

"""What may be selected: columns to keep, columns to exclude, costs, and how many features.

``n_features_to_select`` is resolved here, once per fit, when the candidates are known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

from hocmim.coding.choice import check_disjoint, resolve_columns, resolve_costs
from hocmim.coding.groups import Features
from hocmim.errors import InvalidParameterError, warn_user
from hocmim.parameters import number, whole
from hocmim.search.selection import Selection
from hocmim.search.spending import ROUNDING, Budget, Spending
from hocmim.text import count

# What ``n_features_to_select`` may be for every selector.
COUNTS = [whole(1), number(0, 1, "right"), Budget, None]


@dataclass(frozen=True, eq=False)
class Constraints:
    """What may be selected, in feature indices.

    Attributes
    ----------
    n_features : int
        Of the table.
    keep : tuple of int
        Selected in any case.
    excluded : tuple of int
        Never selected, because the user says so.
    identifiers : tuple of int
        Never selected, because they identify the rows.
    spending : Spending or None
    """

    n_features: int
    keep: tuple[int, ...] = ()
    excluded: tuple[int, ...] = ()
    identifiers: tuple[int, ...] = ()
    spending: Spending | None = None

    @property
    def closed(self) -> tuple[int, ...]:
        """The features that are never candidates."""
        return tuple(sorted({*self.excluded, *self.identifiers}))

    @property
    def n_candidates(self) -> int:
        """How many features can be selected."""
        return self.n_features - len(self.closed)

    def without(self, identifiers: Iterable[int]) -> Constraints:
        """Leave out identifiers, except those to keep."""
        return replace(self, identifiers=tuple(sorted(set(identifiers) - {*self.keep})))

    def count(self, asked: Any) -> int:
        """Return how many features to select at most, K.

        Parameters
        ----------
        asked : int, float, None, "significant", StopTest or Budget
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
                    f"n_features_to_select is {found}, but only {count(most, 'feature')} can be "
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
    """Return what may be selected of these features.

    Parameters
    ----------
    features : Features
    keep, exclude : names, indices, mask, callable or None
    costs : numbers, dict or None
    asked : object
        ``n_features_to_select``, which may be a Budget.
    """
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


def constraints_of(selection: Selection) -> Constraints:
    """Return the constraints that a selection was made with."""
    keep = tuple(step.index for step in selection.steps if step.is_kept)
    n_features = len(selection.relevance)
    closed = selection.excluded, selection.identifiers
    return Constraints(n_features, keep, *closed, selection.spending)

"""What a selector must select, may not select, and may spend: keep, exclude, costs and budget."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hocmim.coding.choice import check_disjoint, resolve_columns, resolve_costs
from hocmim.coding.groups import Features
from hocmim.errors import InvalidParameterError
from hocmim.parameters import Number, check_value
from hocmim.search.spending import ROUNDING, Spending
from hocmim.selectors.base import RankingSelector
from hocmim.text import count, value_text


class Constraints(NamedTuple):
    """What may be selected, in feature indices.

    Attributes
    ----------
    keep : tuple of int
    excluded : tuple of int
        By the user.
    spending : Spending or None
    left_out : tuple of int
        Because they identify the rows.
    """

    keep: tuple[int, ...] = ()
    excluded: tuple[int, ...] = ()
    spending: Spending | None = None
    left_out: tuple[int, ...] = ()

    @property
    def closed(self) -> tuple[int, ...]:
        """The features that are never candidates."""
        return tuple(sorted({*self.excluded, *self.left_out}))

    def for_search(self) -> dict[str, Any]:
        """Return the arguments of ``forward_search``."""
        return {"keep": self.keep, "closed": self.closed, "spending": self.spending}

    def without(self, identifiers: Iterable[int]) -> Constraints:
        """Leave out identifiers, except those to keep."""
        return self._replace(left_out=tuple(sorted(set(identifiers) - {*self.keep})))

    @property
    def has_budget(self) -> bool:
        """Whether the number of features is limited by a budget."""
        return self.spending is not None and self.spending.budget is not None


class ConstrainedSelector(RankingSelector):
    """A selector with the parameters ``keep``, ``exclude``, ``costs`` and ``budget``."""

    keep: Any
    exclude: Any
    costs: Any
    budget: float | None
    identifiers: str
    _constraints: Constraints
    # How many features ``extend`` asked for; None if ``n_features_to_select`` says it.
    _extended_to: int | None = None

    @property
    def kept_(self) -> NDArray[np.bool_]:
        """Whether each selected column was selected because it is in ``keep``: shape (K,)."""
        check_is_fitted(self)
        is_kept, features = self.selection_.is_kept, getattr(self, "features_", None)
        return is_kept if features is None else np.repeat(is_kept, features.sizes(self._chosen))

    @property
    def total_cost_(self) -> float:
        """What the selected columns cost together; only with ``costs``."""
        check_is_fitted(self)
        spending = self.selection_.spending
        if spending is None:
            raise AttributeError("There is no total_cost_ without costs.")
        return spending.total(self._chosen)

    @property
    def _chosen(self) -> list[int]:
        return [step.index for step in self.selection_.steps]

    def _resolve_constraints(self, features: Features) -> Constraints:
        """Read the four parameters for a table with these features."""
        keep = resolve_columns(self.keep, features, "keep")
        closed = resolve_columns(self.exclude, features, "exclude")
        check_disjoint(keep, closed, features)
        return Constraints(keep, closed, self._resolve_spending(features, keep))

    def _restore_constraints(self) -> None:
        """Set the constraints that the selection of a file was made with."""
        chosen = self.selection_
        keep = tuple(step.index for step in chosen.steps if step.is_kept)
        found = getattr(self, "identifiers_", np.empty(0, np.int64))
        features = getattr(self, "features_", None)
        found = found if features is None else features.of_column[found]
        left_out = set(found.tolist()) & set(chosen.closed) if self.identifiers == "drop" else ()
        excluded = tuple(sorted(set(chosen.closed) - set(left_out)))
        self._constraints = Constraints(keep, excluded, chosen.spending).without(left_out)
        self._extended_to = None

    def _left_out_columns(self) -> list[int]:
        """Return the columns that are no candidates, because they identify the rows."""
        left_out, features = self._constraints.left_out, getattr(self, "features_", None)
        return list(left_out) if features is None else features.expand(left_out).tolist()

    def _resolve_spending(self, features: Features, keep: tuple[int, ...]) -> Spending | None:
        costs, budget = resolve_costs(self.costs, features), self.budget
        if costs is None:
            if budget is not None:
                raise InvalidParameterError(
                    f"budget is {value_text(budget)}, but the columns have no costs. Pass costs "
                    "too."
                )
            return None
        if budget is None:
            return Spending(costs)
        check_value("budget", budget, Number(0, is_above=True))
        spending = Spending(costs, float(budget))
        total, most = spending.total(keep), float(budget) * (1 + ROUNDING)
        if total > most:
            raise InvalidParameterError(
                f"The columns of keep cost {total:g}, more than the budget of {budget:g}. Raise "
                "the budget, or keep fewer columns."
            )
        if costs.min() > most:
            raise InvalidParameterError(
                f"The budget is {budget:g}, but the cheapest column costs {costs.min():g}. Raise "
                "the budget."
            )
        return spending

    def _number_to_select(self, features: Features, constraints: Constraints) -> int:
        """Return K for these features; an error if it is less than the number to keep."""
        if self._extended_to is not None:
            return self._extended_to
        n_open, counted = len(features) - len(constraints.excluded), features.counted
        if constraints.excluded:
            counted += " that are not excluded"
        n_candidates = len(features) - len(constraints.closed)
        if self.n_features_to_select is None and constraints.has_budget:
            return n_candidates
        n_selected = self._resolve_n_features(n_open, counted)
        if n_selected < len(constraints.keep):
            raise InvalidParameterError(
                f"keep has {count(len(constraints.keep), 'feature')}, and n_features_to_select is "
                f"{self.n_features_to_select!r}: the features to keep count. Pass at least "
                f"{len(constraints.keep)}."
            )
        return min(n_selected, n_candidates)

    def _check_extension(self, k: Any) -> int:
        """Return how many features to extend to; an error if that is not possible."""
        n_now = len(self.selection_)
        n_open = len(self.selection_.relevance) - len(self._constraints.closed)
        check_value("k", k, Number(n_now, n_open, is_whole=True))
        return int(k)

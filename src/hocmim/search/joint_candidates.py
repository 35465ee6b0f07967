"""Pairs and triples of columns as candidates of the search.

A set W that the screen kept is one variable: its levels are the cells that occur. It is met by
every selected column as any candidate is. Its score is U, the least information that it adds to a
set of selected columns (I(W;Y) before anything is selected), divided by its price: the number of
its members that are not selected. So a pair competes with U/2, and with U once one of its members
is selected, which is then one of the sets tried.

When it wins, the members that are missing are selected one after the other, the more relevant
first; of equal ones the first in the table. It is no candidate if fewer columns are to be selected
than it would add. Compared are the scores rounded to 12 decimals, divided by the price; among
equals a single column wins, then the set with fewer members, then the set of the lower indices.

With costs the price is the cost of the missing members together, as for single columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hocmim.coding.codes import MAX_LEVELS, Codes, Column, as_small_integers
from hocmim.criteria.base import Criterion
from hocmim.criteria.cost import per_cost
from hocmim.criteria.searches import ONE_THREAD
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import Joint, Values
from hocmim.search.constraints import ROUNDING, Spending

# Codes of the candidates; for more rows than that allows, the strongest sets are candidates.
MOST_BYTES = 1 << 30


def join_columns(columns: Sequence[Column]) -> Column | None:
    """Return two or more columns as one; None if it has more levels than a column may have."""
    joint = Joint.of(columns)
    if joint.n_cells > MAX_LEVELS:
        return None
    return Column(as_small_integers(joint.cells.astype(np.int64), joint.n_cells), joint.n_cells)


class BestSet(NamedTuple):
    """The best set of columns of a step."""

    number: int  # of the set among the candidates
    members: tuple[int, ...]
    missing: tuple[int, ...]  # members that are not selected, in the order in which they would be
    merit: float  # what it is compared by
    score: float  # U for each missing member


class JointCandidates:
    """The sets of columns that a search may select, and their state.

    ``sets`` has the members of each, the strongest first. The score of a set by ``criterion`` is U.
    """

    def __init__(
        self,
        sets: Sequence[tuple[int, ...]],
        column: Callable[[int], Column],
        n_columns: int,
        y: Column,
        criterion: Criterion,
        *,
        spending: Spending | None = None,
    ) -> None:
        self._column, self._y, self._spending = column, y, spending
        sets = sets[: max(1, MOST_BYTES // max(1, len(y.codes)))]
        joined: list[Column] = []
        self._sets: list[tuple[int, ...]] = []
        for members in sorted(sets, key=lambda members: (len(members), members)):
            one = join_columns([column(j) for j in members])
            if one is not None:
                joined.append(one)
                self._sets.append(members)
        # Numbered after the columns of the table: none of them is one of these.
        self._codes = replace(Codes.from_columns(joined), start=n_columns)
        self._search = criterion.plan.search([criterion.copy()], ONE_THREAD)

    def __bool__(self) -> bool:
        return bool(self._sets)

    def start(self, relevance: Values, closed: Iterable[int] = ()) -> None:
        """Begin a search; sets with a closed column are no candidates."""
        never = set(closed)
        self._search.start([self._codes], self._y)
        self._relevance = comparison_key(relevance)
        self._is_closed = [bool(never & set(members)) for members in self._sets]
        self._aside: set[int] = set()
        self._selected: list[int] = []

    def select(self, index: int) -> None:
        """Take note that a column of the table is selected."""
        self._selected.append(index)
        self._search.update(self._column(index))

    def missing(self, members: Iterable[int]) -> tuple[int, ...]:
        """Return the members that are not selected, the more relevant first."""
        rest = set(members) - set(self._selected)
        return tuple(sorted(rest, key=lambda j: (-self._relevance[j], j)))

    def best(self, room: int) -> BestSet | None:
        """Return the best set that adds at most so many columns; None if there is none."""
        by_price: dict[float, list[int]] = {}
        for number in self._open():
            missing = self.missing(self._sets[number])
            if len(missing) <= room and self._is_affordable(missing):
                by_price.setdefault(self._price(missing), []).append(number)
        found = [self._best_of(price, numbers) for price, numbers in by_price.items()]
        return max(found, key=lambda one: (one.merit, -one.number), default=None)

    def lacks_room(self, room: int) -> bool:
        """Whether a set adds more columns than that."""
        return any(len(self.missing(self._sets[number])) > room for number in self._open())

    def describe(self, number: int) -> dict[str, Any]:
        """Return what the criterion says about a set."""
        return self._search.criteria[0].describe(number)

    def set_aside(self, number: int) -> None:
        """Take a set out of the candidates."""
        self._aside.add(number)

    def reopen(self) -> None:
        """Make the sets that were set aside candidates again."""
        self._aside.clear()

    def _open(self) -> list[int]:
        selected = set(self._selected)
        return [
            number
            for number, members in enumerate(self._sets)
            if not self._is_closed[number]
            and number not in self._aside
            and not selected.issuperset(members)
        ]

    def _price(self, missing: Sequence[int]) -> float:
        return len(missing) if self._spending is None else self._spending.total(missing)

    def _is_affordable(self, missing: Sequence[int]) -> bool:
        if self._spending is None or self._spending.budget is None:
            return True
        left = self._spending.left(self._selected) + ROUNDING * self._spending.budget
        return self._spending.total(missing) <= left

    def _best_of(self, price: float, numbers: Sequence[int]) -> BestSet:
        """Return the best of some sets that have the same price."""
        is_candidate = np.zeros(len(self._sets), bool)
        is_candidate[list(numbers)] = True
        self._search.set_candidates(0, is_candidate)
        found = self._search.best()
        assert found is not None
        members = self._sets[found.position]
        missing = self.missing(members)
        merit = found.key / price if self._spending is None else per_cost(found.key, price)
        score = found.score / len(missing)
        return BestSet(found.position, members, missing, float(merit), score)

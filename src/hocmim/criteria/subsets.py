"""The subsets of the selected features, in the order in which they come to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

from hocmim.codes import Column
from hocmim.counting import Joint


class Subsets:
    """Subsets of one size of a growing list of columns, by number.

    Number 0 is the first ``size`` columns. A column that joins the list adds the subsets that hold
    it after all others, so a number once given stays. (The combinatorial number system: subset
    {c_1 < c_2 < …} has number Σ_k C(c_k, k).)

    Parameters
    ----------
    columns : sequence of Column
        Looked at each time: it may grow.
    size : int
    """

    def __init__(self, columns: Sequence[Column], size: int) -> None:
        self._columns = columns
        self._size = size
        self._number = -1
        self._members: list[int] = []  # of the latest subset, the last column first
        self._joints: list[Joint] = []  # of its first 1, 2, … members: neighbours share most

    def __len__(self) -> int:
        return comb(len(self._columns), self._size)

    def joint(self, number: int) -> Joint:
        """Return the columns of one subset as one variable."""
        members = self._after_latest() if number == self._number + 1 > 0 else self.members(number)
        n_shared = 0
        while n_shared < len(self._joints) and self._members[n_shared] == members[n_shared]:
            n_shared += 1
        del self._joints[n_shared:]
        for member in members[n_shared:]:
            column = self._columns[member]
            self._joints.append(
                self._joints[-1].with_column(column) if self._joints else Joint.of([column])
            )
        self._number, self._members = number, members
        return self._joints[-1]

    def members(self, number: int) -> list[int]:
        """Return the positions of a subset's columns, the largest first."""
        members = []
        below = len(self._columns)
        for k in range(self._size, 0, -1):
            below = next(c for c in range(below - 1, -1, -1) if comb(c, k) <= number)
            number -= comb(below, k)
            members.append(below)
        return members

    def _after_latest(self) -> list[int]:
        """Members of the subset after the latest: the smallest that can move on does."""
        members = self._members.copy()
        for k in range(self._size - 1, -1, -1):
            if k == 0 or members[k] + 1 < members[k - 1]:
                members[k] += 1
                members[k + 1 :] = range(self._size - k - 2, -1, -1)
                break
        return members

    def new(self) -> Iterator[Joint]:
        """Return the subsets that hold the latest column."""
        for number in range(comb(len(self._columns) - 1, self._size), len(self)):
            yield self.joint(number)


def n_subset_terms(size: int, n_select: int) -> int:
    """How many subsets a candidate meets until ``n_select`` columns are selected.

    The last column is never absorbed; fewer than ``size`` columns count as one subset.
    """
    n_absorbed = n_select - 1
    return min(n_absorbed, size - 1) + comb(max(n_absorbed, 0), size)

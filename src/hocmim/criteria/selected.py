"""What there is to know of the selected columns by themselves, for all candidates alike."""

from __future__ import annotations

from threading import Lock
from typing import Self

import numpy as np

import hocmim._native as _native
from hocmim.coding.codes import Column
from hocmim.information.counting import Joint, native_list


class Selected:
    """The columns selected so far, in order, and their cells.

    Blocks that are shown the same columns share it, so that its work is done once.

    Parameters
    ----------
    columns : tuple of Column
    cells : Joint
        All columns as one variable.
    only_newest : bool
        Whether sets without the newest column are known to be separated.
    """

    def __init__(self, columns: tuple[Column, ...], cells: Joint, *, only_newest: bool) -> None:
        self.columns = columns
        self.cells = cells
        self._only_newest = only_newest
        self._answer: list[bool | None] = []
        self._search: _native.Separation | None = None
        self._lock = Lock()

    @classmethod
    def none(cls, n_samples: int) -> Self:
        """Nothing is selected."""
        return cls((), Joint(np.zeros(n_samples, np.uint32), 1), only_newest=False)

    def with_column(self, newest: Column) -> Selected:
        """Return these and one more."""
        columns = (*self.columns, newest)
        shared: Selected | None = newest.derived.get("selected")
        if shared is None or not _are_same(shared.columns, columns):
            cells = self.cells.with_column(newest)
            # A set without the newest column has what it needs, unless that splits a cell of all.
            only_newest = cells.n_cells == self.cells.n_cells and self._answer == [True]
            shared = Selected(columns, cells, only_newest=only_newest)
            newest.derived["selected"] = shared
            if self.columns:  # nobody needs what is gone by
                self.columns[-1].derived.pop("selected", None)
        return shared

    def is_separated(self, size: int, most_work: int) -> bool | None:
        """Whether any ``size`` − 1 of them, with one more well chosen, have the cells of all.

        None if finding out takes more work than that. Threads that ask at a time share the work.
        """
        with self._lock:
            if self._answer:
                return self._answer[0]
            if self._search is None:
                native = native_list(self.columns, len(self.cells.cells))
                self._search = _native.Separation(native, size - 1, self._only_newest, most_work)
            search = self._search
        answer = search.holds()
        with self._lock:
            self._answer, self._search = [answer], None
        return answer


def _are_same(some: tuple[Column, ...], others: tuple[Column, ...]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))

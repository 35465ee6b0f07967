"""The subsets of the selected features that hold the newest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

from hocmim.coding.codes import Column
from hocmim.information.counting import Joint


def subsets_with_newest(selected: Sequence[Column], size: int) -> Iterator[Joint]:
    """Yield each subset of that size with the latest of the columns, as one variable."""
    *earlier, newest = selected
    return _with_more(Joint.of([newest]), earlier, size - 1)


def _with_more(joint: Joint, columns: Sequence[Column], n_more: int) -> Iterator[Joint]:
    if n_more == 0:
        yield joint
        return
    for at, column in enumerate(columns):
        if at >= n_more - 1:
            yield from _with_more(joint.with_column(column), columns[:at], n_more - 1)


def n_subset_terms(size: int, n_select: int) -> int:
    """How many subsets a candidate meets until ``n_select`` columns are selected.

    The last column is never absorbed; fewer than ``size`` columns count as one subset.
    """
    n_absorbed = n_select - 1
    return min(n_absorbed, size - 1) + comb(n_absorbed, size)

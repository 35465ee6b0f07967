"""Rare levels of strings and categories: pooled into one level, "other".

A column keeps at most ``max_levels`` levels, that of the pooled ones included and that of missing
values not. Of more, the ``max_levels − 1`` most frequent stay; of equally frequent ones those that
come first when sorted. The counts are of all rows, so that the result is the same for a table in
memory and in row partitions. Numbers are not pooled: they are cut. ``max_levels="auto"`` is
√N / 2 for N rows, and at least 16.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import MAX_LEVELS

MaxLevels = int | str | None
DEFAULT_MAX_LEVELS = "auto"
# "auto" keeps √N / 2 levels, and at least this many: measured in docs/development/levels.md.
MIN_AUTO_LEVELS = 16


def level_limit(max_levels: MaxLevels, n_rows: int, has_missing: bool) -> int:
    """Return how many levels a column keeps, without those of missing and of unknown values."""
    most = MAX_LEVELS - 1 - has_missing
    if max_levels is None:
        return most
    if isinstance(max_levels, str):
        max_levels = max(MIN_AUTO_LEVELS, isqrt(n_rows) // 2)
    return min(max_levels, most)


class LevelCounts(NamedTuple):
    """The sorted levels of a column, and how many rows each has."""

    levels: list[Any]
    counts: NDArray[np.int64]

    @property
    def n_present(self) -> int:
        """How many values are not missing."""
        return int(self.counts.sum())

    def merge(self, other: LevelCounts) -> LevelCounts:
        """Return the levels of the rows of both; TypeError if they cannot be sorted."""
        if self.levels == other.levels:
            return LevelCounts(self.levels, self.counts + other.counts)
        total = dict(zip(self.levels, self.counts.tolist(), strict=True))
        for level, count in zip(other.levels, other.counts.tolist(), strict=True):
            total[level] = total.get(level, 0) + count
        levels = sorted(total)
        return LevelCounts(levels, np.array([total[level] for level in levels], np.int64))


def kept_levels(counts: NDArray[np.int64], limit: int) -> NDArray[np.int64] | None:
    """Return which of the sorted levels are kept, given their rows, in order; None for all."""
    if len(counts) <= limit:
        return None
    return np.sort(np.argsort(-counts, kind="stable")[: limit - 1])

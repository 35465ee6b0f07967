"""Rows of a resample: single rows or whole groups, stratified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hocmim.data.row_groups import RowGroups


def draw_rows(
    groups: NDArray[np.int64], fraction: float, with_replacement: bool, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Draw a fraction of the rows, in order; stratified, with at least one row of each group."""
    parts = []
    for group in range(groups.max() + 1):
        rows = np.flatnonzero(groups == group)
        size = max(1, round(fraction * len(rows)))
        parts.append(rng.choice(rows, size, replace=with_replacement))
    return np.sort(np.concatenate(parts))


def draw_groups(
    groups: RowGroups,
    classes: NDArray[np.int64],
    fraction: float,
    with_replacement: bool,
    rng: np.random.RandomState,
) -> NDArray[np.int64]:
    """Draw a fraction of the groups with all their rows, stratified by their most frequent class.

    A group that is drawn twice has its rows twice.
    """
    counts = np.zeros((groups.max() + 1, classes.max() + 1), np.int64)
    np.add.at(counts, (groups, classes), 1)
    present = np.flatnonzero(counts.sum(axis=1))
    majority = np.unique(counts[present].argmax(axis=1), return_inverse=True)[1]
    drawn = present[draw_rows(majority, fraction, with_replacement, rng)]
    times = np.bincount(drawn, minlength=len(counts))
    return np.repeat(np.arange(len(groups)), times[groups])

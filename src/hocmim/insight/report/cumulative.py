"""How much information the selected features have together, and how much of it is chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hocmim.coding.codes import Codes, Column
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR
from hocmim.search.moments import Margins, mean_of_g


@dataclass(frozen=True, eq=False)
class Cumulative:
    """I(S;Y) of the first 1, 2, … selected features, in nats.

    Attributes
    ----------
    counted : ndarray of float64
        The plug-in estimate: too large in small samples; H(Y) if every sample is alone in its cell.
    chance : ndarray of float64
        The mean plug-in estimate if y is permuted: the part due to the number of cells alone.
    supported : ndarray of float64
        The part that chance cannot explain: the largest ``counted − chance`` of any number of first
        features up to this one. I(S;Y) cannot fall when S grows.
    n_cells : ndarray of int64
        How many cells of S occur.
    """

    counted: Values
    chance: Values
    supported: Values
    n_cells: NDArray[np.int64]


def cumulative_information(selected: Sequence[Column], *targets: Column) -> Cumulative:
    """Compute I(S;Y) of the first 1, 2, … selected features, and the part due to chance.

    For several targets each value is the mean over them.
    """
    each = [_of_target(selected, y) for y in targets]
    counted, chance, supported = (
        np.asarray(np.mean([getattr(one, name) for one in each], axis=0))
        for name in ("counted", "chance", "supported")
    )
    return Cumulative(counted, chance, supported, each[0].n_cells)


def _of_target(selected: Sequence[Column], y: Column) -> Cumulative:
    N = len(y.codes)
    classes = np.bincount(y.codes)
    target = Codes.from_columns([y])
    joint = Joint.of([], N)
    counted, chance, n_cells = [], [], []
    for column in selected:
        joint = joint.with_column(column)
        counted.append(float(BlockTerms(target, joint, PLUGIN_ESTIMATOR).relevance()[0]))
        chance.append(mean_information(np.bincount(joint.cells), classes[classes > 0]))
        n_cells.append(joint.n_cells)
    above = np.maximum(np.array(counted) - np.array(chance), 0.0)
    supported = np.maximum.accumulate(above)
    return Cumulative(np.array(counted), np.array(chance), supported, np.array(n_cells, np.int64))


def mean_information(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> float:
    """Return the mean plug-in information of two variables with these counts, if permuted."""

    def zeros(counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.zeros(len(counts), np.int64)

    def one(value: int) -> NDArray[np.int64]:
        return np.array([value], np.int64)

    N = int(rows.sum())
    margins = Margins(
        one(N), rows, zeros(rows), one(len(rows)), columns, zeros(columns), one(len(columns))
    )
    return mean_of_g(margins) / (2 * N)

"""How much the selected features tell about the target together: I(S;Y), and R² of a quantity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hocmim.coding.codes import Codes, Column
from hocmim.information.counting import BlockTerms, Joint, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR
from hocmim.search.moments import Margins, mean_of_g

# Levels of all columns together, up to which R² is computed.
MAX_TOTAL_LEVELS = 2000
# Eigenvalues of the normal equations below this share of the largest are 0.
DEPENDENT_SHARE = 1e-10


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
    classes = np.bincount(y.codes)
    target = Codes.from_columns([y])
    joint = Joint.of([], len(y.codes))
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
    n, zeros = int(rows.sum()), np.zeros(max(len(rows), len(columns)), np.int64)
    sizes = [np.array([size], np.int64) for size in (n, len(rows), len(columns))]
    margins = Margins(
        sizes[0], rows, zeros[: len(rows)], sizes[1], columns, zeros[: len(columns)], sizes[2]
    )
    return mean_of_g(margins) / (2 * n)


def explained_variance(columns: Sequence[Column], values: NDArray[np.float64]) -> float | None:
    """Return the adjusted R² of the linear model of y with one term for each level of each column.

    R² = 1 − (RSS / (N − p)) / (TSS / (N − 1)), p the number of free coefficients with the constant;
    0 if it would be negative. For one column it is the share of the variance of y between levels.

    Parameters
    ----------
    columns : sequence of Column
    values : ndarray of float64
        The target.

    Returns
    -------
    float or None
        None if the columns have more than 2000 levels, or as many free coefficients as rows.
    """
    n_levels = sum(column.arity for column in columns)
    if n_levels > MAX_TOTAL_LEVELS or n_levels == 0:
        return None
    centred = values - values.mean()
    total = float(centred @ centred)
    explained, n_free = _fit(columns, centred)
    n_rest = len(values) - n_free - 1
    if total <= 0 or n_rest <= 0:
        return None
    rest = max(0.0, total - explained)
    return max(0.0, 1.0 - (rest / n_rest) / (total / (len(values) - 1)))


def _fit(columns: Sequence[Column], centred: NDArray[np.float64]) -> tuple[float, int]:
    """Return the explained sum of squares and the number of free coefficients."""
    offsets = np.cumsum([0, *(column.arity for column in columns)])
    n_rows, n_levels = len(centred), int(offsets[-1])
    places = np.stack(
        [column.codes.astype(np.int64) + at for column, at in zip(columns, offsets, strict=False)],
        axis=1,
    )
    starts = np.arange(0, n_rows * len(columns) + 1, len(columns))
    indicators = sparse.csr_array(
        (np.ones(places.size), places.ravel(), starts), shape=(n_rows, n_levels)
    )
    sizes = np.asarray(indicators.sum(axis=0)).ravel()
    gram = (indicators.T @ indicators).toarray() - np.outer(sizes, sizes) / n_rows
    sums = np.asarray(indicators.T @ centred).ravel()
    eigenvalues, vectors = np.linalg.eigh(gram)
    is_free = eigenvalues > DEPENDENT_SHARE * max(float(eigenvalues[-1]), 1.0)
    parts = (vectors.T @ sums)[is_free] ** 2 / eigenvalues[is_free]
    return float(parts.sum()), int(np.count_nonzero(is_free))

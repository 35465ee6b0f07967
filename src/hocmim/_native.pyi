"""Types of the compiled kernels. They check sizes, never contents: callers do that."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# --- encode.cpp: every function takes numeric arrays of any type and strides ----------------------

def survey(
    values: NDArray[Any], limit: int
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.float64],
]:
    """Minimum, maximum, missing, number of distinct values (limit + 1: more), and these values."""

def apply_cuts(
    values: NDArray[Any],
    cuts: NDArray[np.float64],
    offsets: NDArray[np.int64],
    unknown: NDArray[np.int64],
    place: NDArray[np.int64],
    narrow: NDArray[np.uint8],
    wide: NDArray[np.uint16],
) -> int:
    """Write the codes of each column; return the first column with an infinite value, or -1."""

def quantile_cuts(
    values: NDArray[Any], columns: NDArray[np.int64], n_bins: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Cuts of the listed columns end to end, and how many each has."""

def mdlp_cuts(
    values: NDArray[Any],
    columns: NDArray[np.int64],
    classes: NDArray[np.int64],
    n_classes: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Cuts of the listed columns end to end, and how many each has."""

def most_frequent(codes: NDArray[np.uint8] | NDArray[np.uint16]) -> NDArray[np.int64]:
    """The most frequent code of each row, the smallest of equally frequent ones."""

# --- relieff.cpp and nca.cpp: C-contiguous arrays of exactly these types --------------------------

def relieff_block(
    values: NDArray[np.float64],
    codes: NDArray[np.int32],
    y: NDArray[np.int32],
    prior: NDArray[np.float64],
    k: int,
    start: int,
    stop: int,
    value_sums: NDArray[np.float64],
    code_sums: NDArray[np.float64],
) -> None:
    """Add to the sums what the neighbours of rows start..stop-1 contribute to each column."""

def nca_block(
    values: NDArray[np.float64],
    row_start: NDArray[np.int64],
    row_place: NDArray[np.int32],
    row_value: NDArray[np.float64],
    column_start: NDArray[np.int64],
    column_place: NDArray[np.int32],
    column_value: NDArray[np.float64],
    weight: NDArray[np.float64],
    norm: NDArray[np.float64],
    y: NDArray[np.int32],
    start: int,
    stop: int,
    dense: NDArray[np.float64],
    overlaps: NDArray[np.float64],
    by_row: NDArray[np.float64],
) -> float:
    """Sum of p_i over rows start..stop-1; adds their part of the sums the gradient is made of."""

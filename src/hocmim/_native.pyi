"""Types of the compiled kernels. They check sizes, never contents: callers do that."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

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

class Estimator:
    plugin: Estimator
    shrinkage: Estimator
    miller_madow: Estimator
    grassberger: Estimator
    jeffreys: Estimator

class Term:
    information: Term
    given_class: Term
    redundancy: Term
    conditional: Term
    joint: Term
    joint_entropy: Term

class Columns:
    def __init__(
        self,
        narrow: NDArray[np.uint8] | int,
        wide: NDArray[np.uint16] = ...,
        place: NDArray[np.int64] = ...,
        arity: NDArray[np.int64] = ...,
    ) -> None: ...
    def append(self, codes: NDArray[Any], arity: int) -> None: ...
    def __len__(self) -> int: ...

def join(columns: Columns) -> tuple[NDArray[np.uint32], int]: ...
def join_with(
    cells: NDArray[np.uint32], n_cells: int, columns: Columns, j: int
) -> tuple[NDArray[np.uint32], int]: ...
def information(
    columns: Columns,
    y: NDArray[np.uint32],
    n_classes: int,
    w: NDArray[np.uint32],
    n_cells: int,
    term: Term,
    estimator: Estimator,
    out: NDArray[np.float64],
    which: NDArray[np.int64] | None = None,
) -> None: ...
def follow_paths(
    block: Columns,
    selected: Columns,
    y: NDArray[np.uint32],
    n_classes: int,
    estimator: Estimator,
    conditional: bool,
    tol: float,
    min_support: float,
    relevance: NDArray[np.float64],
    row_count: NDArray[np.int64],
    row_offset: NDArray[np.int64],
    member: NDArray[np.int32],
    redundancy: NDArray[np.float64],
    order: NDArray[np.int32],
    closed: NDArray[np.uint8],
    candidates: NDArray[np.int64],
    from_scratch: bool,
) -> None: ...
def count_class_rows(
    block: Columns,
    y: NDArray[np.uint32],
    n_classes: int,
    row_offset: NDArray[np.int64],
    row_count: NDArray[np.int64],
) -> None: ...

class Cmicot:
    def __init__(
        self,
        columns: Columns,
        y: NDArray[np.uint32],
        n_classes: int,
        estimator: Estimator,
        team_size: int,
    ) -> None: ...
    def select(self, columns: Columns, j: int) -> None: ...
    def score(self, which: NDArray[np.int64], out: NDArray[np.float64]) -> None: ...

def histogram_yardstick(
    x: NDArray[np.uint8], wy: NDArray[np.uint8] | NDArray[np.uint16], repeats: int
) -> float:
    """Nanoseconds an increment of a plain histogram of (x,wy), one row of x at a time."""

def stream_yardstick(words: NDArray[np.uint64], repeats: int) -> float:
    """Bytes a second read from memory on one core."""

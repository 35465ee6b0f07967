"""Types of the compiled kernels. They check sizes, never contents: callers do that."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

def set_stop_check(check: Callable[[], None] | None) -> Callable[[], None] | None:
    """A function for this thread that raises to stop a kernel; returns the one before."""

def prepare_thread() -> None:
    """Make what a thread needs to throw an exception, while there is memory for it."""

def stop_check() -> Callable[[], None] | None:
    """The check of this thread, if it has one."""

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

def apply_cuts_sparse(
    values: NDArray[np.float64],
    rows: NDArray[np.int64],
    offsets: NDArray[np.int64],
    cuts: NDArray[np.float64],
    cut_offsets: NDArray[np.int64],
    unknown: NDArray[np.int64],
    place: NDArray[np.int64],
    narrow: NDArray[np.uint8],
    wide: NDArray[np.uint16],
) -> int:
    """Like apply_cuts, for columns of which only some values are stored; the others are zero."""

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

_Codings = tuple[
    NDArray[np.uint8],
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    int,
]

class Encoding:
    """Learns how columns are coded and writes their codes, if they fit into one byte.

    Column j is written to row j of ``codes``. Row j of ``room`` is for its bit planes, for a search
    with ``plane_classes`` classes; without rows, no planes are made.
    """

    def __init__(
        self,
        values: NDArray[Any],
        method: int,
        n_bins: int,
        classes: NDArray[np.int64],
        n_classes: int,
        codes: NDArray[np.uint8],
        n_threads: int,
        plane_classes: int,
        room: NDArray[np.uint64],
    ) -> None: ...
    def encode(self) -> None:
        """Encode columns until none is left. Each of the ``n_threads`` threads calls it once."""

    def result(self) -> _Codings:
        """What was learnt, after all threads have returned; once.

        Of each column: whether it is cut, whether values are missing, its number of cuts, of listed
        levels and of levels, its most frequent code and how many samples have it (0 if the codes do
        not fit into one byte), its minimum and maximum (0 if it is not cut). Then all cuts, all
        listed levels, and the first column with an infinite value, or -1.
        """

    def planes(self) -> list[tuple[int, BitPlanes]]:
        """Planes of neighbouring columns with the first of these columns, in any order."""

def encode_sparse(
    values: NDArray[np.float64],
    rows: NDArray[np.int64],
    offsets: NDArray[np.int64],
    n_rows: int,
    method: int,
    n_bins: int,
    classes: NDArray[np.int64],
    n_classes: int,
    codes: NDArray[np.uint8],
) -> _Codings:
    """Like the result of Encoding, for columns of which all values but some are zero."""

def most_frequent(codes: NDArray[np.uint8] | NDArray[np.uint16]) -> NDArray[np.int64]:
    """The most frequent code of each row, the smallest of equally frequent ones."""

class Estimator:
    """One member for each of ``estimator_names()``."""

    def __getattr__(self, name: str) -> Estimator: ...

def estimator_names() -> list[str]:
    """The names of the estimators."""

def needs_samples(estimator: Estimator) -> bool:
    """Whether the estimator cannot be computed from a table of counts alone."""

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

class ClassCounts:
    def __init__(self, columns: Columns, y: NDArray[np.uint32], n_classes: int) -> None: ...

def information(
    class_counts: ClassCounts,
    w: NDArray[np.uint32],
    n_cells: int,
    terms: list[Term],
    estimator: Estimator,
    out: NDArray[np.float64],
    which: NDArray[np.int64] | None = None,
) -> None: ...

class GreedyPaths:
    def __init__(
        self,
        class_counts: ClassCounts,
        selected: Columns,
        estimator: Estimator,
        conditional: bool,
        tol: float,
        min_support: float,
        smallest: bool,
        relevance: NDArray[np.float64],
        member: NDArray[np.int32],
        redundancy: NDArray[np.float64],
        order: NDArray[np.int32],
    ) -> None: ...
    def follow(self, candidates: NDArray[np.int64]) -> None: ...
    def n_unfinished(self, candidates: NDArray[np.int64]) -> int:
        """Candidates whose last level was not tried with every column."""
    def update(
        self, candidates: NDArray[np.int64], bar: float, first: NDArray[np.float64]
    ) -> None: ...

class Contest:
    def __init__(
        self,
        blocks: list[GreedyPaths],
        bounds: list[NDArray[np.float64]],
        open: list[NDArray[np.bool_]],
        n_best: int,
    ) -> None: ...
    def work(self) -> None: ...
    def winner(self) -> tuple[int, int, float]: ...

class LastLevels:
    def __init__(self, blocks: list[GreedyPaths], open: list[NDArray[np.bool_]]) -> None: ...
    def work(self) -> None: ...
    def winner(self) -> tuple[int, int, float]: ...

class RepresentativeSets:
    def __init__(
        self,
        class_counts: ClassCounts,
        selected: Columns,
        estimator: Estimator,
        max_order: int,
        min_support: float,
        weight: float,
        limit: float,
    ) -> None: ...
    def append(self, terms: NDArray[np.float64]) -> None: ...
    def scores(self, which: NDArray[np.int64], out: NDArray[np.float64]) -> None: ...
    def describe(self, position: int) -> tuple[list[int], float, float, float, float]: ...

class RobustContest:
    def __init__(self, blocks: list[RepresentativeSets], open: list[NDArray[np.bool_]]) -> None: ...
    def work(self, most_terms: int) -> int: ...
    def winner(self) -> tuple[int, int, float]: ...

class Separation:
    def __init__(self, columns: Columns, size: int, only_newest: bool, most_work: int) -> None: ...
    def holds(self) -> bool | None: ...

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

def bound_is_enabled() -> bool:
    """Whether HOCMIM may search by bounds: True unless HOCMIM_BOUND is "off"."""

class LeastTerms:
    none_found: int
    unfinished: int
    def __init__(
        self,
        columns: Columns,
        selected: Columns,
        size: int,
        y: NDArray[np.uint32],
        n_classes: int,
        term: Term,
        estimator: Estimator,
    ) -> None: ...
    def use_planes(self, by_planes: PlaneTerms) -> None: ...
    def append_masks(self, masks: CellMasks | None) -> None: ...
    def restart(self, least: NDArray[np.float64]) -> None: ...
    def meet(
        self,
        which: NDArray[np.int64],
        n_met: NDArray[np.int64],
        least: NDArray[np.float64],
        bar: float,
        most_terms: int,
    ) -> int: ...
    def best(
        self,
        open: NDArray[np.bool_],
        n_met: NDArray[np.int64],
        least: NDArray[np.float64],
        floor: float,
        chunk: int,
        most_terms: int,
    ) -> tuple[int, int]: ...

def impurity_gain(
    columns: Columns,
    w: NDArray[np.uint32],
    n_cells: int,
    y: NDArray[np.uint32],
    n_classes: int,
    out: NDArray[np.float64],
) -> None:
    """Write the impurity gain G(X,W;Y) of each column X."""

class BitPlanes:
    most_levels: int
    def __init__(self, columns: Columns, made: Sequence[tuple[int, BitPlanes]] = ...) -> None: ...
    @staticmethod
    def words_of_plane(n_samples: int) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def in_lanes(self) -> bool: ...

class CellMasks:
    most_cells: int
    def __init__(self, cells: NDArray[np.uint32] | NDArray[np.uint8], n_cells: int, /) -> None: ...

class PlaneTerms:
    def __init__(
        self,
        planes: BitPlanes,
        columns: Columns,
        y: CellMasks,
        estimator: Estimator,
        keeps_rows: bool,
    ) -> None: ...
    def evaluate(
        self,
        w: CellMasks,
        terms: list[Term],
        out: NDArray[np.float64],
        which: NDArray[np.int64] | None = None,
    ) -> None: ...

def counts_on_planes(
    columns: Columns, n_masks: int, estimator: Estimator, out: NDArray[np.bool_]
) -> None:
    """Write which columns are counted on bit planes, with one mask for each cell (w,y)."""

def instruction_set() -> str:
    """The instruction set in force: 'portable', 'avx2' or 'avx512' (HOCMIM_ISA forces one)."""

def instruction_sets() -> list[str]:
    """The instruction sets this processor has, the fastest first."""

# --- filters: C-contiguous arrays of exactly these types --------------------------

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

# --- nearest neighbours: one row a column of the table, int16 or float64 --------------------------

def knn_curve(
    train: NDArray[np.int16] | NDArray[np.float64],
    y: NDArray[np.int32],
    n_classes: int,
    test: NDArray[np.int16] | NDArray[np.float64],
    k: int,
    out: NDArray[np.int32],
) -> None:
    """The class of each test row by its k nearest training rows, with the first 1, 2, … columns.

    As int16, no sum of squared differences may exceed 32767.
    """

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

class LearntColumns:
    """How columns are coded: what the encoding kernels learnt of them.

    Each array is a view of memory of this record, with one element per column unless it says
    otherwise.

    Attributes
    ----------
    is_cut : ndarray of bool
        Whether the discretizer cuts the column. Otherwise its distinct values are its levels.
    has_missing : ndarray of bool
        Whether a value is missing. The code of missing values is ``n_levels``.
    n_levels : ndarray of int64
        Without the level of missing values.
    n_cuts : ndarray of int64
    n_distinct : ndarray of int64
        Number of listed distinct values; 0 for a column that is cut.
    most_frequent : ndarray of int64
        The most frequent code, the smallest of equally frequent ones; 0 if the codes do not fit
        into one byte.
    n_most_frequent : ndarray of int64
        How many rows have it; 0 if the codes do not fit into one byte.
    minimum, maximum : ndarray of float64
        Of a column that is cut, otherwise 0.
    cuts : ndarray of float64
        The cuts of all columns, end to end.
    distinct : ndarray of float64
        The distinct values of the columns that are not cut, end to end.
    infinite_column : int
        The first column with an infinite value, or -1.
    planes : list of (int, BitPlanes)
        Bit planes of neighbouring columns with the first of these columns, in any order.
    """

    @property
    def is_cut(self) -> NDArray[np.bool_]: ...
    @property
    def has_missing(self) -> NDArray[np.bool_]: ...
    @property
    def n_levels(self) -> NDArray[np.int64]: ...
    @property
    def n_cuts(self) -> NDArray[np.int64]: ...
    @property
    def n_distinct(self) -> NDArray[np.int64]: ...
    @property
    def most_frequent(self) -> NDArray[np.int64]: ...
    @property
    def n_most_frequent(self) -> NDArray[np.int64]: ...
    @property
    def minimum(self) -> NDArray[np.float64]: ...
    @property
    def maximum(self) -> NDArray[np.float64]: ...
    @property
    def cuts(self) -> NDArray[np.float64]: ...
    @property
    def distinct(self) -> NDArray[np.float64]: ...
    @property
    def infinite_column(self) -> int: ...
    @property
    def planes(self) -> list[tuple[int, BitPlanes]]: ...
    def __len__(self) -> int: ...
    @staticmethod
    def concatenate(parts: Sequence[LearntColumns]) -> LearntColumns:
        """All columns of neighbouring blocks, from left to right."""

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

    def result(self) -> LearntColumns:
        """What was learnt, after all threads have returned; once."""

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
) -> LearntColumns:
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
        is_conditional: bool,
        tol: float,
        min_support: float,
        takes_smallest: bool,
        relevance: NDArray[np.float64],
        member: NDArray[np.int32],
        redundancy: NDArray[np.float64],
        order: NDArray[np.int32],
    ) -> None: ...
    def follow(self, candidates: NDArray[np.int64]) -> None: ...
    def n_unfinished(self, candidates: NDArray[np.int64]) -> int:
        """Candidates whose last level was not tried with every column."""
    def update(
        self, candidates: NDArray[np.int64], threshold: float, first: NDArray[np.float64]
    ) -> None: ...

class BoundSearch:
    def __init__(
        self,
        blocks: list[GreedyPaths],
        bounds: list[NDArray[np.float64]],
        open: list[NDArray[np.bool_]],
        n_best: int,
    ) -> None: ...
    def work(self) -> None: ...
    def best(self) -> tuple[int, int, float]: ...

class LastLevels:
    def __init__(self, blocks: list[GreedyPaths], open: list[NDArray[np.bool_]]) -> None: ...
    def work(self) -> None: ...
    def best(self) -> tuple[int, int, float]: ...

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

class SetSearch:
    def __init__(self, blocks: list[RepresentativeSets], open: list[NDArray[np.bool_]]) -> None: ...
    def work(self, most_terms: int) -> int: ...
    def best(self) -> tuple[int, int, float]: ...

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
    def evaluate(
        self,
        which: NDArray[np.int64],
        n_tried: NDArray[np.int64],
        least: NDArray[np.float64],
        threshold: float,
        most_terms: int,
    ) -> int: ...
    def best(
        self,
        open: NDArray[np.bool_],
        n_tried: NDArray[np.int64],
        least: NDArray[np.float64],
        threshold: float,
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

# --- nearest neighbours: one row per column of the table, int16 or float64 ------------------------

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

def grow_nearest(
    train: NDArray[np.uint16],
    test: NDArray[np.uint16],
    apart: NDArray[np.int32],
    k: int,
    distance: NDArray[np.int32],
    limit: NDArray[np.int32],
) -> None:
    """Add a column of codes to the distances (n_test, n_train); write those of the k-th nearest.

    ``apart`` has the distance of each pair of levels.
    """

def count_near(
    distance: NDArray[np.int32],
    limit: NDArray[np.int32],
    train: NDArray[np.int32],
    test: NDArray[np.int32],
    n_classes: int,
    hits: NDArray[np.int32],
    n_near: NDArray[np.int32],
    most: NDArray[np.int32],
) -> None:
    """Count the training rows at most ``limit`` away and those of the same class; vote by them."""

def sum_near(
    distance: NDArray[np.int32],
    limit: NDArray[np.int32],
    train: NDArray[np.float64],
    sums: NDArray[np.float64],
    n_near: NDArray[np.int32],
) -> None:
    """Count the training rows at most ``limit`` away, and sum their values."""

class InteractionScreen:
    """The screen of pairs, or of the triples that share one column: see the C++ header."""

    def __init__(
        self,
        arity: list[int],
        order: NDArray[np.uint32],
        sizes: list[int],
        n_classes: int,
        n_shared: int,
    ) -> None: ...
    @property
    def n_groups(self) -> int: ...
    def set(self, first: int, codes: NDArray[np.uint8]) -> None:
        """Take the codes of columns, a row for each."""

    def search(
        self, first: int, last: int, least: NDArray[np.float64], most: int
    ) -> list[tuple[int, int, float]]:
        """The strongest pairs of a column of these groups with one before it, and their G."""

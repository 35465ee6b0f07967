"""How much information columns share, adjusted for chance and normalised.

    share(X, X′) = (I(X;X′) − E[I]) / (max(H(X), H(X′)) − E[I]),   limited to 0 … 1

Plug-in estimates. E[I] is the mean over all permutations of the rows of one column: columns of many
levels share much by chance alone in a small sample, and that part does not count. A copy has the
share 1, an unrelated column 0 on average. This is the adjusted mutual information of Vinh, Epps and
Bailey (2010). The distance is 1 − share. Without the adjustment, 1 − I/max(H, H′) is a metric; the
adjusted one is close to it where rows are many.

A column without information beyond chance (a constant, an identifier) has the share 0 with all.

References
----------
Vinh, Epps, Bailey: Information theoretic measures for clusterings comparison: variants, properties,
normalization and correction for chance. JMLR 11, 2010.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from hocmim.coding.codes import Codes, Column
from hocmim.information.comparison import comparison_key
from hocmim.information.counting import BlockTerms, Joint, SharedColumn, Values
from hocmim.information.estimators import PLUGIN_ESTIMATOR, plugin_entropy
from hocmim.search.moments import mean_c_log_c
from hocmim.threads import ThreadPool, resolve_n_jobs

OnProgress = Callable[[int, int], None]
Indices = NDArray[np.int64]

# Columns of a block, and bytes of their codes, at most.
BLOCK_COLUMNS = 512
BLOCK_BYTES = 1 << 26
# Columns that are compared with all others at a time: a matrix of values with so many rows.
ROWS_AT_A_TIME = 256
# A denominator below this is no information at all.
NO_INFORMATION = 1e-9
# With more distinct counts than this, counts above SMALL_COUNT are rounded to a grid.
MAX_DISTINCT = 256
SMALL_COUNT = 32
GRID_STEP = 1.05
# From this mean on, E[c ln c] is its series: the first term left out is below 0.02 % of the sum.
SERIES_MEAN = 100.0

# Means are kept for columns with the same counts, up to this many (64 MiB).
MAX_KEPT_MEANS = 1 << 23


@dataclass(frozen=True, eq=False)
class SharedRow:
    """What one column shares with several others.

    Attributes
    ----------
    information : ndarray of float64
        I(X;X′), plug-in, in nats.
    chance : ndarray of float64
        The part due to chance, E[I].
    share : ndarray of float64
        Adjusted and normalised, from 0 to 1.
    """

    information: Values
    chance: Values
    share: Values

    def p_values(self, n_samples: int) -> Values:
        """Return how likely chance alone gives so much: a χ² with the mean of G = 2N I."""
        freedom = np.maximum(n_samples * self.chance, 1e-12)
        return special.gammaincc(freedom, np.maximum(n_samples * self.information, 0.0))


class SharedInformation:
    """The information that the columns of a table share.

    ``on_progress(done, total)`` is called with numbers of pairs, from any thread but never twice at
    the same time. It may raise an exception to stop.
    """

    def __init__(
        self,
        codes: Codes,
        *,
        n_jobs: int | None = None,
        on_progress: OnProgress | None = None,
        block_columns: int = BLOCK_COLUMNS,
    ) -> None:
        self.codes = codes
        self._n_threads = resolve_n_jobs(n_jobs)
        self._on_progress, self._lock = on_progress, threading.Lock()
        self._n_done, self.total = 0, 0
        n = max(1, codes.n_samples)
        width = max(1, min(block_columns, BLOCK_BYTES // n))
        self._starts = list(range(0, codes.n_columns, width))
        self._width = width
        columns = (codes.column(j) for j in range(codes.n_columns))
        counts = [np.bincount(column.codes, minlength=1) for column in columns]
        self.chance = Chance(counts)
        self.entropy = np.array([plugin_entropy(each) for each in counts])

    def rows(self, which: Sequence[int], among: Indices | None = None) -> Iterator[SharedRow]:
        """Yield what each of some columns shares with all columns, or with those at ``among``."""
        for at in range(0, len(which), ROWS_AT_A_TIME):
            part = which[at : at + ROWS_AT_A_TIME]
            information = self.information([self.codes.column(j) for j in part], among)
            for j, values in zip(part, information, strict=True):
                yield self.row(j, values, among)

    def terms(self, among: Indices) -> BlockTerms:
        """Return the terms of the columns at ``among``, to compare them with single columns."""
        block = Codes.from_columns([self.codes.column(int(j)) for j in among])
        nothing = Joint.of([], self.codes.n_samples)
        return BlockTerms(block, nothing, PLUGIN_ESTIMATOR, self._note)

    def row(self, j: int, information: Values, among: Indices | None = None) -> SharedRow:
        """Return a row from its plug-in estimates."""
        take = slice(None) if among is None else among
        chance = self.chance.mean(j)[take]
        room = np.maximum(self.entropy[j], self.entropy[take]) - chance
        share = (information - chance) / np.where(room > NO_INFORMATION, room, np.inf)
        share = comparison_key(share) / 1e12  # a copy has exactly 1
        return SharedRow(information, chance, np.clip(share, 0.0, 1.0))

    def information(self, columns: Sequence[Column], among: Indices | None = None) -> Values:
        """Return I(X;X′), plug-in, of each of ``columns`` with all columns of the table.

        Shape (len(columns), number of columns), or only the columns at ``among``.
        """
        chosen = [SharedColumn.of(column) for column in columns]
        if among is None:
            blocks = [self.codes.block(at, at + self._width) for at in self._starts]
        else:
            parts = [among[at : at + self._width] for at in range(0, len(among), self._width)]
            blocks = [
                Codes.from_columns([self.codes.column(int(j)) for j in part]) for part in parts
            ]
        if not chosen or not blocks:
            return np.zeros((len(chosen), 0 if among is not None else self.codes.n_columns))

        def of_block(block: Codes) -> Values:
            terms = BlockTerms(block, chosen[0].joint, PLUGIN_ESTIMATOR, self._note)
            return np.array([terms.information(column.joint) for column in chosen])

        with ThreadPool(min(self._n_threads, len(blocks))) as pool:
            return np.concatenate(list(pool.map(of_block, blocks)), axis=1)

    def triangle(self) -> Values:
        """Return the distance 1 − share of all pairs (i, j), i < j, as SciPy orders them."""
        D = self.codes.n_columns
        self.total = D * (D - 1) // 2
        out = np.empty(self.total)
        first = np.cumsum(np.r_[0, np.arange(D - 1, 0, -1)])  # of the pairs (i, i + 1 …)
        shared = [SharedColumn.of(self.codes.column(j)) for j in range(D)]

        def of_block(at: int) -> None:
            stop = min(D, at + self._width)
            terms = BlockTerms(
                self.codes.block(at, stop), shared[at].joint, PLUGIN_ESTIMATOR, self._note
            )
            for i in range(stop - 1):
                begin = max(at, i + 1)
                positions = np.arange(begin - at, stop - at, dtype=np.int64)
                values = terms.information(shared[i].joint, positions)
                to = first[i] + begin - i - 1
                out[to : to + len(values)] = values

        with ThreadPool(min(self._n_threads, len(self._starts))) as pool:
            # The last blocks have the most pairs.
            for _ in pool.map(of_block, self._starts[::-1]):
                pass
        for i in range(D - 1):
            part = slice(first[i], first[i] + D - 1 - i)
            row = self.row(i, out[part], np.arange(i + 1, D, dtype=np.int64))
            out[part] = 1.0 - row.share
        return out

    def _note(self, n_pairs: int) -> None:
        if self._on_progress is None:
            return
        with self._lock:
            self._n_done += n_pairs
            self._on_progress(min(self._n_done, max(self.total, self._n_done)), self.total)


class Chance:
    """The mean information of pairs of columns over all permutations of the rows of one.

    It depends only on how many rows each level of the two columns has:

        E[I] = Σ_ij f(a_i, b_j),   f(a, b) = {E[c ln c] − (ab/N) ln(ab/N)} / N

    c is the number of rows with level i and level j; it is hypergeometric. So f is tabulated over
    the counts that occur, and columns with the same counts have the same values: millions of pairs
    take seconds. (scikit-learn's ``expected_mutual_information`` takes one pair at a time.)

    Notes
    -----
    Exact up to ``MAX_DISTINCT`` different counts, with a series where ab/N is at least 100. With
    more, counts above 32 are rounded by at most 2.5 %, which changes E[I] by about as much.
    """

    def __init__(self, counts: Sequence[Indices]) -> None:
        sorted_counts = [np.sort(each[each > 0]) for each in counts]
        self._n = float(sorted_counts[0].sum()) if sorted_counts else 0.0
        classes: dict[bytes, int] = {}
        self.class_of = np.array(
            [classes.setdefault(each.tobytes(), len(classes)) for each in sorted_counts], np.int64
        )
        kinds = [np.frombuffer(key, np.int64) for key in classes]
        flat = np.concatenate(kinds) if kinds else np.empty(0, np.int64)
        if len(np.unique(flat)) > MAX_DISTINCT:
            flat = _on_grid(flat)
        self._distinct, column = np.unique(flat, return_inverse=True)
        row = np.repeat(np.arange(len(kinds)), [len(kind) for kind in kinds])
        # How many levels of each class of columns have each of the distinct counts.
        shape = (len(kinds), len(self._distinct))
        self._levels = sparse.csr_array((np.ones(len(flat)), (row, column)), shape=shape)
        self._rows: dict[int, Values] = {}
        self._means: dict[int, Values] = {}

    def mean(self, j: int) -> Values:
        """Return E[I] of column j with every column."""
        of_class = int(self.class_of[j])
        if of_class not in self._means:
            first, last = self._levels.indptr[of_class : of_class + 2]
            total = np.zeros(len(self._distinct))
            for which, times in zip(
                self._levels.indices[first:last].tolist(),
                self._levels.data[first:last].tolist(),
                strict=True,
            ):
                total += times * self._row(which)
            if len(self._means) * self._levels.shape[0] >= MAX_KEPT_MEANS:
                self._means.clear()
            self._means[of_class] = self._levels @ total
        return self._means[of_class][self.class_of]

    def _row(self, which: int) -> Values:
        """Return f(a, b) of one distinct count with all of them."""
        if which not in self._rows:
            a = np.full(len(self._distinct), self._distinct[which])
            self._rows[which] = _mean_of_cell(a, self._distinct, self._n)
        return self._rows[which]


def _on_grid(counts: Indices) -> Indices:
    """Round counts above SMALL_COUNT to the nearest power of GRID_STEP times it."""
    steps = np.rint(np.log(np.maximum(counts, SMALL_COUNT) / SMALL_COUNT) / np.log(GRID_STEP))
    rounded = np.rint(SMALL_COUNT * GRID_STEP**steps).astype(np.int64)
    return np.where(counts > SMALL_COUNT, rounded, counts)


def _mean_of_cell(a: Indices, b: Indices, n: float) -> Values:
    """Return f(a, b): see the formula of Chance."""
    first, second = (np.minimum(counts, n).astype(np.float64) for counts in (a, b))
    mean = first * second / n
    variance = mean * (1 - first / n) * (1 - second / n) * n / max(n - 1, 1)
    third = variance * (1 - 2 * first / n) * (1 - 2 * second / n)
    found = variance / (2 * mean) - third / (6 * mean**2) + 3 * variance**2 / (12 * mean**3)
    small = mean < SERIES_MEAN
    if small.any():
        tables = np.column_stack([first, second, np.full(len(first), n)])[small].astype(np.int64)
        found[small] = mean_c_log_c(*tables.T) - special.xlogy(mean[small], mean[small])
    return found / n

"""The screen: pairs and triples of columns that tell together what none of them tells alone.

A forward search begins with single columns. Two columns that tell about the target only together,
as in an exclusive or, are never tried together. So before the search all pairs are tested, and all
triples where that is affordable:

    pairs    G = 2N · [ I(X_i,X_j;Y) − I(X_i;Y) − I(X_j;Y) ]                       plug-in, nats
    triples  G = 2N · [ I(X_i,X_j,X_k;Y) − Σ I(pairs;Y) + Σ I(singles;Y) ]
    df       = Π (a − 1) · (C − 1)                 for a levels of each column and C classes

A set is kept if its p-value times the number of tests is at most α = 0.01. The p-value is that of
χ²(df), or that of ``search.interaction_law`` if it is larger: the latter knows small cells and
columns that depend on each other. Of many, the 100 with the largest (G − df)/√(2 df) are kept. With
fewer than 20·C rows nothing is screened.

What is an interaction? G / 2N is how much more the columns tell together than the sum of what they
tell alone (for triples: than their pairs account for). That is synergy, measured in nats, and not a
coefficient of a model: two columns with additive effects on the target, as in y = [a + b > 0], have
it as well, because what a tells depends on b. Independent columns cannot have G < 0 for many rows;
for them 2N I(X_i;X_j|Y) = G. Columns that repeat each other have G < 0 and are never kept. Three
columns that repeat each other have G > 0, by the alternating sum; so triples have to tell more
together than the sum of all three alone.

Columns are screened with at most L levels, L being the largest number up to ``n_bins`` with
N ≥ 5·L²·C (5·L³·C for triples), and at least 2. Columns of numbers with more values than L, or than
4, are cut again into bins of equal frequency, and not once but for each number of bins from
min(L, 4) down to 2: every set is tested for each of them, and the p-value is multiplied by the
number of tests. Fewer bins have fewer degrees of freedom, and which number shows an interaction
best depends on its form. A set must also have G > df with all L levels: bins that keep different
parts of two columns have synergy although the columns repeat each other.

If the values are not at hand, or take more than a gigabyte as codes, neighbouring bins are merged
into parts of nearly equal frequency. Of a column of categories the L − 1 most frequent stay, and
the others are one level. Missing numbers stay a level of their own, besides the bins.

The work is sets · ⌈N/64⌉ · L² · C word operations (L³ for triples). With "auto" it is at most
10¹⁰ for pairs and as much for triples: L is lowered, down to 2, and where that is not enough the
screen is left out, and a note says so. All of this depends on sizes alone.

With weights that are counts, a row of weight w is w rows; with others each row counts once. With
several targets that are joined, the target is their joint; with the mean over targets each target
is screened, at α divided by their number, and a set is kept if it is kept for one of them. Rows
that belong together (``groups``) count as independent; a note says so if a set is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from math import comb, prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

import hocmim._native as _native
from hocmim.coding.codes import Codes, Column
from hocmim.coding.cuts import CATEGORIES
from hocmim.coding.encoded import Encoded
from hocmim.coding.encoder import Encoder
from hocmim.information.comparison import comparison_key
from hocmim.search.interaction_law import interaction_information, interaction_p_values
from hocmim.search.selection import Interaction
from hocmim.text import count
from hocmim.threads import ThreadPool, resolve_n_jobs

ALPHA = 0.01
MOST_KEPT = 100
# The strongest sets that pass the χ² test; the p-values of ``interaction_law`` decide among them.
MOST_TESTED = 1000
MOST_OPERATIONS = 10**10
ROWS_PER_CLASS = 20
ROWS_PER_CELL = 5
# Of columns in pairs, and in triples.
MOST_LEVELS = {2: 255, 3: 8}
# Numbers are cut into this many bins at most.
MOST_BINS = 4
# Merged columns are kept in memory up to this size, and made again otherwise.
MOST_MERGED_BYTES = 1 << 27
# Rows times columns up to which columns are cut again.
MOST_CELLS_CUT_AGAIN = 1 << 30
# Counts of sets that are tested together.
MOST_CELLS_AT_ONCE = 1 << 20
# Word operations of one call of the kernel, about: threads share the calls.
OPERATIONS_PER_CALL = 10**7
# Word operations from which on a second thread is worth its start.
OPERATIONS_FOR_THREADS = 2 * 10**7

SIZES = {2: "pairs", 3: "triples"}
ROWS_IN_GROUPS = (
    "Interactions were screened as if the rows of a group were independent. If they are alike, "
    "some of the interactions may be due to chance."
)

Report = Callable[[int, int], None]
# Sets of columns, by their places, and the G of each.
Found = list[tuple[tuple[int, ...], float]]


@dataclass(frozen=True)
class Screen:
    """The sets of columns that are kept."""

    kept: tuple[Interaction, ...] = ()  # pairs, then triples, each the strongest first
    n_sets: int = 0  # how many were tested
    notes: tuple[str, ...] = ()  # what was left out, and why; a sentence each


class ScreenedTable(NamedTuple):
    """What is screened."""

    column: Callable[[int], Column]  # ``column(j)`` returns the codes of column j
    arity: NDArray[np.int64]  # of all columns
    n_ordered: NDArray[np.int64]  # how many levels of each are bins in order; 0 for categories
    which: NDArray[np.int64]  # the columns to screen
    n_bins: int
    # The table with so many bins of equal frequency; without it bins are merged.
    cut_again: Callable[[int], ScreenedTable] | None = None

    @classmethod
    def of(cls, encoded: Encoded, closed: Sequence[int] = ()) -> ScreenedTable:
        """Return what is screened of an encoded table: all features but the closed ones."""
        codes, features = encoded.codes, encoded.features
        how = encoded.encoder.columns_
        n_ordered = np.where(how.kind != CATEGORIES, how.n_levels, 0)[features.first]
        for group in features.groups:
            n_ordered[features.of_column[group.columns[0]]] = 0
        which = np.setdiff1d(np.arange(len(features)), np.array(closed, np.int64))
        column = codes.column if isinstance(codes, Codes) else codes.column_once
        encode_again = encoded.encode_again

        def cut_again(n_bins: int) -> ScreenedTable:
            assert encode_again is not None
            given = encoded.encoder
            encoder = Encoder(n_bins, max_levels=given.max_levels, identifiers=given.identifiers)
            fitted, codes = encode_again(encoder)
            again = replace(encoded, codes=codes, encoder=fitted, encode_again=None)
            return cls.of(again, closed)

        return cls(
            column,
            codes.arity,
            n_ordered,
            which,
            int(encoded.encoder.n_bins),
            None if encode_again is None else cut_again,
        )


def screen(
    table: ScreenedTable,
    targets: Sequence[Column],
    *,
    whatever_it_costs: bool = False,
    sizes: Sequence[int] = (2, 3),
    alpha: float = ALPHA,
    most: int = MOST_KEPT,
    n_jobs: int | None = None,
    report: Report | None = None,
) -> Screen:
    """Test all pairs and triples of columns (``sizes``), for each target.

    ``whatever_it_costs``: no limit to the work. ``alpha=1`` keeps the strongest sets whatever their
    p-values; ``most`` are kept of each size. ``n_jobs`` never changes a result. ``report(done,
    total)`` is called with numbers of sets, many times.
    """
    screens, notes = [], []
    for size in sizes:
        for target in targets:
            level = alpha if alpha >= 1 else alpha / len(targets)
            one = _OneScreen(table, target, size, level, most, n_jobs)
            note = one.why_not(whatever_it_costs)
            if note:
                notes.append(note)
            elif one.n_sets:
                screens.append(one)
    n_tests, done = sum(one.n_tests for one in screens), 0
    for n_bins in range(MOST_BINS, 1, -1):
        cut = _CutTable(table, n_bins)
        for one in screens:
            for n_tested in one.test_with(cut, n_bins):
                done += n_tested
                if report is not None:
                    report(done, n_tests)
    kept: list[Interaction] = []
    for size in sizes:
        found = chain.from_iterable(one.kept() for one in screens if one.size == size)
        kept += _strongest(found, most)
    return Screen(tuple(kept), sum(one.n_sets for one in screens), tuple(dict.fromkeys(notes)))


def _strongest(found: Iterable[Interaction], most: int) -> list[Interaction]:
    """Return the strongest of these, each set once."""
    best: dict[tuple[int, ...], Interaction] = {}
    for one in sorted(found, key=_order):
        best.setdefault(one.members, one)
    return list(best.values())[:most]


class _CutTable:
    """The table with numbers cut into so many bins; made when it is needed."""

    def __init__(self, table: ScreenedTable, n_bins: int) -> None:
        self._table, self._n_bins = table, n_bins

    @cached_property
    def _again(self) -> ScreenedTable:
        assert self._table.cut_again is not None
        return self._table.cut_again(self._n_bins)

    def where(self, is_cut: NDArray[np.bool_]) -> ScreenedTable:
        """Return the table with these columns cut again, if the values are at hand."""
        table = self._table
        n_rows = len(table.column(int(table.which[0])).codes)
        is_small = n_rows * len(table.which) <= MOST_CELLS_CUT_AGAIN
        if table.cut_again is None or not is_small or not is_cut[table.which].any():
            return table
        again = self._again
        return table._replace(
            column=lambda j: (again if is_cut[j] else table).column(j),
            arity=np.where(is_cut, again.arity, table.arity),
            n_ordered=np.where(is_cut, again.n_ordered, table.n_ordered),
        )


class _Test(NamedTuple):
    """The χ² test of a set of columns, by their places among those screened."""

    members: tuple[int, ...]
    g: float
    df: int
    p_value: float
    columns: _MergedColumns


def _order(one: _Test | Interaction) -> tuple[float, tuple[int, ...]]:
    """Return what sorts sets by (G − df)/√(2 df), the strongest first."""
    return -float(comparison_key((one.g - one.df) / sqrt(2 * one.df))), one.members


def levels_for(
    n_rows: int, n_classes: int, n_bins: int, size: int, n_sets: int, most_operations: float
) -> int | None:
    """Return L for the sets of a size; None if the work would be too much."""

    def operations(levels: int) -> int:
        return n_sets * -(-n_rows // 64) * levels**size * n_classes

    levels = 2
    while levels < n_bins and n_rows >= ROWS_PER_CELL * (levels + 1) ** size * n_classes:
        levels += 1
    while levels > 2 and operations(levels) > most_operations:
        levels -= 1
    return levels if operations(levels) <= most_operations else None


class _OneScreen:
    """All pairs, or all triples, and one target."""

    def __init__(
        self,
        table: ScreenedTable,
        target: Column,
        size: int,
        alpha: float,
        most: int,
        n_jobs: int | None,
    ) -> None:
        self._table, self.size, self._alpha, self._most = table, size, alpha, most
        self._n_jobs = n_jobs
        occurs = np.bincount(target.codes) > 0
        self._y = (np.cumsum(occurs) - 1)[target.codes]
        self._n_rows, self._n_classes = len(target.codes), int(occurs.sum())
        self.n_sets = comb(len(table.which), size) if self._n_classes > 1 else 0
        self._best: dict[tuple[int, ...], _Test] = {}
        self._limits: dict[int, NDArray[np.float64]] = {}

    def why_not(self, whatever_it_costs: bool) -> str:
        """Choose the levels; return why nothing is screened, if so."""
        table, n_rows, n_classes = self._table, self._n_rows, self._n_classes
        if self.n_sets == 0:
            return ""
        if n_rows < ROWS_PER_CLASS * n_classes:
            return (
                f"Interactions were not screened: {count(n_rows, 'row')} are fewer than "
                f"{ROWS_PER_CLASS} for each of {n_classes} classes."
            )
        most_levels = min(table.n_bins, int(table.arity[table.which].max()), MOST_LEVELS[self.size])
        levels = levels_for(
            n_rows,
            n_classes,
            max(2, most_levels),
            self.size,
            self.n_sets,
            np.inf if whatever_it_costs else MOST_OPERATIONS,
        )
        if levels is None:
            return (
                f"{SIZES[self.size].capitalize()} of columns were not screened for interactions: "
                f"{self.n_sets:,} {SIZES[self.size]} of {n_rows:,} rows are more than "
                "interactions='auto' allows. Pass interactions=True to screen them."
            )
        self._levels, most_bins = levels, min(levels, MOST_BINS)
        self._is_cut = table.n_ordered > most_bins
        is_any_cut = self._is_cut[table.which].any()
        self._bins = range(2 if is_any_cut else most_bins, most_bins + 1)
        operations = self.n_sets * -(-n_rows // 64) * levels**self.size * n_classes
        self._n_threads = 1
        if operations >= OPERATIONS_FOR_THREADS:
            self._n_threads = resolve_n_jobs(self._n_jobs)
        return ""

    @property
    def n_tests(self) -> int:
        """How many tests there are: each set, for each number of bins."""
        return self.n_sets * len(self._bins)

    def test_with(self, cut: _CutTable, n_bins: int) -> Iterator[int]:
        """Test all sets with so many bins; return how many were tested, many times."""
        if n_bins not in self._bins:
            return
        levels = np.where(self._is_cut, n_bins, self._levels)
        merged = _MergedColumns(cut.where(self._is_cut), levels)
        merged.keep(self._n_rows)
        calls = self._pair_calls(merged) if self.size == 2 else self._triple_calls(merged)
        with ThreadPool(min(self._n_threads, len(calls))) as pool:
            for n_sets, found in pool.map(lambda call: call(), calls):
                if found:
                    self._take(found, merged)
                yield n_sets

    def _take(self, found: Found, merged: _MergedColumns) -> None:
        """Make the χ² tests of some sets; of each set the smallest p-value stays."""
        df = [prod(merged.n_seen(k) - 1 for k in set_) * (self._n_classes - 1) for set_, _ in found]
        g = np.array([g for _, g in found], np.float64)
        p_values = special.gammaincc(np.array(df) / 2, np.maximum(g, 0.0) / 2)
        for (members, g_one), df_one, p in zip(found, df, p_values.tolist(), strict=True):
            if members not in self._best or p < self._best[members].p_value:
                self._best[members] = _Test(members, g_one, df_one, p, merged)

    def kept(self) -> list[Interaction]:
        """Return the strongest sets whose p-value is small enough, the strongest first."""
        strongest = sorted(self._best.values(), key=_order)[: self._most_found]
        limit = np.inf if self._alpha >= 1 else self._alpha
        tests = [test for test in strongest if test.p_value * self.n_tests <= limit]
        kept: list[Interaction] = []
        for start in range(0, len(tests), self._most):
            kept += self._passing(tests[start : start + self._most])
            if len(kept) >= self._most:
                break
        return kept[: self._most]

    def _passing(self, tests: Sequence[_Test]) -> list[Interaction]:
        """Return those of some sets that pass the test for small samples, too, in order."""
        p_values, told = np.array([test.p_value for test in tests]), np.empty(len(tests))
        most = 1.0 if self._alpha >= 1 else self._alpha / self.n_tests
        for some, counts in self._counted(tests, [test.columns for test in tests]):
            g = np.array([tests[k].g for k in some])
            p_values[some] = np.maximum(p_values[some], interaction_p_values(counts, g, most))
            told[some] = _information(counts)
        for some, counts in self._counted(tests, [self._finest] * len(tests)):
            has_synergy = _corrected_interaction(counts) > 0
            p_values[some] = np.where(has_synergy | (self._alpha >= 1), p_values[some], 1.0)
        adjusted = np.minimum(1.0, p_values * self.n_tests)
        return [
            Interaction(
                tuple(int(self._table.which[k]) for k in test.members),
                test.g,
                test.df,
                float(p_values[number]),
                float(adjusted[number]),
                test.g / (2 * self._n_rows),
                float(told[number]),
            )
            for number, test in enumerate(tests)
            if adjusted[number] <= self._alpha
        ]

    @property
    def _finest(self) -> _MergedColumns:
        """The columns with as many levels as the rows allow."""
        return _MergedColumns(self._table, np.full(len(self._table.arity), self._levels))

    def _counted(
        self, tests: Sequence[_Test], columns: Sequence[_MergedColumns]
    ) -> Iterator[tuple[list[int], NDArray[np.int64]]]:
        """Return how often each combination of levels and class occurs.

        Sets of one shape together: their numbers, and an array with a table for each of them.
        """
        by_shape: dict[tuple[int, ...], list[int]] = {}
        # Levels that do not occur change nothing: small pairs have one shape.
        least = MOST_BINS + 1 if self.size == 2 else 0
        for number, (test, merged) in enumerate(zip(tests, columns, strict=True)):
            shape = *(max(least, int(merged.arity[k])) for k in test.members), self._n_classes
            by_shape.setdefault(shape, []).append(number)
        for shape, numbers in by_shape.items():
            n_at_once = max(1, MOST_CELLS_AT_ONCE // prod(shape))
            for start in range(0, len(numbers), n_at_once):
                some = numbers[start : start + n_at_once]
                counts = np.empty((len(some), prod(shape)), np.int64)
                for row, k in zip(counts, some, strict=True):
                    parts = *(columns[k].row(place) for place in tests[k].members), self._y
                    row[:] = np.bincount(np.ravel_multi_index(parts, shape), minlength=len(row))
                yield some, counts.reshape(-1, *shape)

    def _least(self, n_shared: int = 2) -> NDArray[np.float64]:
        """Return the G that the χ² test needs for columns of a and a' levels."""
        if n_shared not in self._limits:
            self._limits[n_shared] = self._limit(n_shared)
        return self._limits[n_shared]

    def _limit(self, n_shared: int) -> NDArray[np.float64]:
        seen = np.arange(self._levels + 2)  # with that of missing values
        df = np.multiply.outer(seen - 1, seen - 1) * (self._n_classes - 1) * (n_shared - 1)
        if self._alpha >= 1:
            return np.full(df.shape, -np.inf)
        least = special.chdtri(np.maximum(df, 1), self._alpha / self.n_tests)
        # The test itself is made later: the limit is a little below.
        return np.where(df > 0, least * (1 - 1e-9) - 1e-9, np.inf)

    def _sorted_rows(self, segment: NDArray[Any], n_segments: int) -> tuple[Any, list[int]]:
        """Return the rows sorted by segment, and how many each segment has."""
        narrow = segment.astype(np.uint16) if n_segments <= 1 << 16 else segment
        order = np.argsort(narrow, kind="stable").astype(np.uint32)
        return order, np.bincount(segment, minlength=n_segments).tolist()

    @property
    def _most_found(self) -> int:
        return max(MOST_TESTED, self._most)

    def _pair_calls(self, merged: _MergedColumns) -> list[Callable[[], Any]]:
        """Return calls of the kernel that together screen all pairs."""
        order, sizes = self._sorted_rows(self._y, self._n_classes)
        arity = merged.arity.tolist()
        kernel = _native.InteractionScreen(arity, order, sizes, self._n_classes, 1)
        spans = np.linspace(0, len(arity), 1 + min(len(arity), 4 * self._n_threads))
        bounds = list(dict.fromkeys(spans.astype(int).tolist()))
        with ThreadPool(min(self._n_threads, len(bounds) - 1)) as pool:
            list(pool.map(lambda i, j: merged.give(kernel, i, j, 0), bounds[:-1], bounds[1:]))
        operations = -(-self._n_rows // 64) * self._levels**2 * 8
        calls: list[Callable[[], Any]] = []
        first = 0
        while first < kernel.n_groups:
            last, n_columns = first, 0
            while last < kernel.n_groups and n_columns * operations < OPERATIONS_PER_CALL:
                n_columns += 8 * (last + 1)
                last += 1
            # A group of columns is compared with itself and those before it.
            before, after = (
                self.n_sets * g * (g + 1) // (kernel.n_groups * (kernel.n_groups + 1))
                for g in (first, last)
            )
            calls.append(partial(self._search_pairs, kernel, first, last, after - before))
            first = last
        return calls

    def _search_pairs(self, kernel: Any, first: int, last: int, n_pairs: int) -> tuple[int, Found]:
        found = kernel.search(first, last, self._least(), self._most_found)
        return n_pairs, [((i, j), g) for i, j, g in found]

    def _triple_calls(self, merged: _MergedColumns) -> list[Callable[[], Any]]:
        """Return calls of the kernel: the triples of which this column is the first."""
        n_columns = len(merged.arity)
        return [partial(self._search_triples, merged, first) for first in range(n_columns - 2)]

    def _search_triples(self, merged: _MergedColumns, first: int) -> tuple[int, Found]:
        after = first + 1
        n_sets, n_seen = comb(len(merged.arity) - after, 2), merged.n_seen(first)
        if n_seen < 2:
            return n_sets, []
        n_shared = int(merged.arity[first])
        segment = self._y * n_shared + merged.row(first)
        order, sizes = self._sorted_rows(segment, self._n_classes * n_shared)
        arity = merged.arity[after:].tolist()
        kernel = _native.InteractionScreen(arity, order, sizes, self._n_classes, n_shared)
        merged.give(kernel, after, len(merged.arity), after)
        found = kernel.search(0, kernel.n_groups, self._least(n_seen), self._most_found)
        return n_sets, [((first, after + i, after + j), g) for i, j, g in found]


class _MergedColumns:
    """The columns with at most so many levels each."""

    def __init__(self, table: ScreenedTable, levels: NDArray[np.int64]) -> None:
        self._table, self._levels = table, levels
        arity, n_ordered = table.arity[table.which], table.n_ordered[table.which]
        has_missing = (n_ordered > 0) & (arity > n_ordered)
        self.arity = np.minimum(arity, levels[table.which] + has_missing)
        self._seen: dict[int, int] = {}
        self._all: NDArray[np.uint8] | None = None

    def keep(self, n_rows: int) -> None:
        """Keep the columns in memory, if they are small."""
        if len(self.arity) * n_rows <= MOST_MERGED_BYTES:
            self._all = np.empty((len(self.arity), n_rows), np.uint8)
            for k in range(len(self.arity)):
                self._all[k] = self._merge(k)

    def row(self, k: int) -> NDArray[np.uint8]:
        """Return one column."""
        return self._merge(k) if self._all is None else self._all[k]

    def give(self, kernel: _native.InteractionScreen, start: int, stop: int, shift: int) -> None:
        """Give columns start..stop-1 to the kernel, as its columns start − shift, …"""
        if self._all is not None:
            kernel.set(start - shift, self._all[start:stop])
            return
        for k in range(start, stop):
            kernel.set(k - shift, self._merge(k)[None])

    def n_seen(self, k: int) -> int:
        """Return how many levels of a column occur."""
        if k not in self._seen:
            self._seen[k] = int(np.count_nonzero(np.bincount(self.row(k))))
        return self._seen[k]

    def _merge(self, k: int) -> NDArray[np.uint8]:
        j = int(self._table.which[k])
        column = self._table.column(j)
        if column.arity <= self.arity[k]:
            return np.ascontiguousarray(column.codes, np.uint8)
        merged = merge_levels(column, int(self._levels[j]), int(self._table.n_ordered[j]))
        return merged[column.codes]


def merge_levels(column: Column, most_levels: int, n_ordered: int) -> NDArray[np.uint8]:
    """Return the merged level of each level of a column, for at most so many.

    The first ``n_ordered`` levels are bins in order. A bin goes to that part of equal frequency
    that its middle lies in; a level after them, for missing values, stays a level more. Of
    categories the most frequent stay, of equal ones the first, and the others become one level.
    """
    counts = np.bincount(column.codes, minlength=column.arity)
    if not n_ordered:
        merged = np.full(column.arity, most_levels - 1, np.uint8)
        frequent = np.argsort(-counts, kind="stable")[: most_levels - 1]
        merged[frequent] = np.arange(len(frequent))
        return merged
    merged = np.full(column.arity, most_levels, np.uint8)
    bins = counts[:n_ordered]
    twice_middle = 2 * (np.cumsum(bins) - bins) + bins
    parts = most_levels * twice_middle // max(1, 2 * int(bins.sum()))
    merged[:n_ordered] = np.where(bins > 0, parts, 0)
    return merged


def _corrected_interaction(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return G − df of some sets, from their counts."""
    axes = range(1, tables.ndim)
    seen = [
        np.count_nonzero(tables.sum(axis=tuple(k for k in axes if k != axis)), axis=1)
        for axis in axes
    ]
    g = 2 * tables[0].sum() * interaction_information(tables)[0]
    return np.asarray(g - np.prod(np.array(seen) - 1, axis=0))


def _information(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return I(columns;Y) of tables whose last axis is the class, Miller–Madow, in nats."""
    cells = tables.reshape(len(tables), -1, tables.shape[-1])
    rows, classes = cells.sum(axis=2), cells.sum(axis=1)
    n = int(rows[0].sum())
    total = special.xlogy(cells, cells).sum(axis=(1, 2)) + special.xlogy(n, n)
    total -= special.xlogy(rows, rows).sum(axis=1) + special.xlogy(classes, classes).sum(axis=1)
    df = (np.count_nonzero(rows, axis=1) - 1) * (np.count_nonzero(classes, axis=1) - 1)
    return np.asarray(total / n - df / (2 * n))

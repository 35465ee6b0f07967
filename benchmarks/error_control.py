"""How large is the share of false discoveries with fdr=0.05, 0.1 and 0.2?

On tables with known structure, generated from seeds. Prints tables in Markdown; --write puts them
into docs/development/error_control.md. --only measures some of the rows: kinds of tables, or
methods; --write leaves the others as they are.

    python benchmarks/error_control.py [--tables 200] [--only noise,wide,JMI] [--quick] [--write]
    python benchmarks/error_control.py --alternatives [--tables 100] [--quick] [--write]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

import hocmim
from docs_tables import read_table, with_rows, write_table
from hocmim.coding.codes import Column
from hocmim.information.counting import BlockTerms, Joint
from hocmim.information.estimators import PLUGIN_ESTIMATOR
from hocmim.search.stopping import (
    ConditioningSets,
    Strata,
    chi2_p_value,
    redundant_features,
)

SEED = 2022
LEVELS = (0.05, 0.1, 0.2)
DEFAULT = "HOCMIM-R"
METHODS = (DEFAULT, "HOCMIM", "CMICOT", "CMIM", "CMI", "mRMR", "JMI", "JMI-3", "MIM")
KINDS_FOR_METHODS = ("noise", "correlated", "copies", "synergy")
PAGE = "development/error_control.md"
Ints = NDArray[np.int64]
Selections = list[list[int]]  # one for each of LEVELS


@dataclass(frozen=True)
class Table:
    """A table and what is known about it.

    Attributes
    ----------
    X, y : ndarray
    useful : set of int
        The columns that y is made from.
    is_null : callable
        ``is_null(j, before)``: whether column j is independent of y given the columns ``before``.
    """

    X: NDArray
    y: Ints
    useful: frozenset[int]
    is_null: Callable[[int, Collection[int]], bool]


def from_parts(
    rng: np.random.Generator,
    columns: Sequence[Ints],
    y: Ints,
    sources: Sequence[Collection[int] | None],
    needs: dict[int, int] | None = None,
) -> Table:
    """Put columns in random order.

    ``sources[j]`` is None for a column that y is made from. Otherwise column j is made from these
    columns and from noise, so it is independent of y given them. A column j of ``needs`` is
    independent of y unless ``needs[j]`` is given, as the fair bit's partner in an exclusive or.
    """
    X = np.column_stack(columns)
    order = rng.permutation(X.shape[1])
    at = np.argsort(order).tolist()
    made_from = {at[j]: None if s is None else {at[i] for i in s} for j, s in enumerate(sources)}
    partner = {at[j]: at[i] for j, i in (needs or {}).items()}

    def is_null(j: int, before: Collection[int]) -> bool:
        if j in partner:
            return partner[j] not in before
        source = made_from[j]
        return source is not None and source <= set(before)

    useful = frozenset(j for j, source in made_from.items() if source is None)
    return Table(X[:, order], y, useful, is_null)


def draw(rng: np.random.Generator, signal: NDArray) -> Ints:
    """Two classes, the second with the logistic probability of the signal."""
    return (rng.random(len(signal)) < expit(signal - signal.mean())).astype(np.int64)


def replaced(rng: np.random.Generator, x: Ints, share: float) -> Ints:
    """Replace a share of the values by random ones."""
    return np.where(rng.random(len(x)) < share, rng.integers(x.max() + 1, size=len(x)), x)


def noise(rng: np.random.Generator) -> Table:
    """300 × 50, all columns independent of y."""
    X = rng.integers(3, size=(300, 50))
    return from_parts(rng, list(X.T), rng.integers(2, size=300), [()] * 50)


def independent(rng: np.random.Generator, n: int = 500, d: int = 50, low: float = 0.4) -> Table:
    """500 × 50: ten useful columns of falling strength; the others are noise."""
    X = rng.integers(3, size=(n, d))
    y = draw(rng, X[:, :10] @ np.linspace(3 * low, low, 10))
    return from_parts(rng, list(X.T), y, [None] * 10 + [()] * (d - 10))


def correlated(rng: np.random.Generator) -> Table:
    """500 × 50: eight useful columns; each of the others is made from two of them and noise."""
    useful = rng.integers(3, size=(500, 8))
    y = draw(rng, useful @ np.linspace(1.3, 0.5, 8))
    columns, sources = list(useful.T), [None] * 8
    for _ in range(42):
        a, b = rng.choice(8, 2, replace=False).tolist()
        mixed = np.where(rng.random(500) < 0.5, useful[:, a], useful[:, b])
        columns.append(replaced(rng, mixed, 0.4))
        sources.append({a, b})
    return from_parts(rng, columns, y, sources)


def copies(rng: np.random.Generator) -> Table:
    """500 × 40: six useful columns, two copies of each with 10 % and 30 % replaced, 22 of noise."""
    useful = rng.integers(4, size=(500, 6))
    y = draw(rng, useful @ np.linspace(1.0, 0.4, 6))
    columns, sources = list(useful.T), [None] * 6
    for j in range(6):
        columns += [replaced(rng, useful[:, j], share) for share in (0.1, 0.3)]
        sources += [{j}, {j}]
    columns += list(rng.integers(4, size=(22, 500)))
    return from_parts(rng, columns, y, [*sources, *[()] * 22])


def synergy(rng: np.random.Generator) -> Table:
    """1000 × 50: three exclusive ors of a fair and an unfair bit, three useful columns, noise."""
    fair = rng.integers(2, size=(1000, 3))
    unfair = (rng.random((1000, 3)) < 0.3).astype(np.int64)
    others = rng.integers(3, size=(1000, 3))
    y = draw(rng, 2.2 * (fair ^ unfair) @ [1, 0.9, 0.8] + others @ [0.8, 0.6, 0.4])
    columns = [*fair.T, *unfair.T, *others.T, *rng.integers(3, size=(41, 1000))]
    return from_parts(rng, columns, y, [None] * 9 + [()] * 41, {3: 0, 4: 1, 5: 2})


def classes(rng: np.random.Generator) -> Table:
    """600 × 50: six classes, eight useful columns of four levels; the others are noise."""
    X = rng.integers(4, size=(600, 50))
    weights = rng.permuted(np.tile(np.linspace(0.9, 0.1, 6), (8, 1)), axis=1)
    y = np.argmax(X[:, :8] @ weights + rng.gumbel(size=(600, 6)), axis=1)
    return from_parts(rng, list(X.T), y, [None] * 8 + [()] * 42)


def wide(rng: np.random.Generator) -> Table:
    """150 × 1000: ten useful columns; the others are noise."""
    return independent(rng, 150, 1000, 1.0)


def rare(rng: np.random.Generator) -> Table:
    """500 × 60: counts of mean 0.08, eight of them useful; the others are noise."""
    X = np.minimum(rng.poisson(0.08, size=(500, 60)), 2)
    y = (rng.random(500) < expit(X[:, :8] @ np.linspace(4, 2, 8) - 3)).astype(np.int64)
    return from_parts(rng, list(X.T), y, [None] * 8 + [()] * 52)


def numbers(rng: np.random.Generator) -> Table:
    """500 × 50: normal numbers, neighbours correlated with 0.5; every sixth is useful.

    What is null is said of the numbers, and not of the five bins they are cut into.
    """
    X = rng.normal(size=(500, 50))
    for j in range(1, 50):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    useful = list(range(3, 50, 6))
    y = draw(rng, X[:, useful] @ np.linspace(1.2, 0.5, len(useful)))

    def is_null(j: int, before: Collection[int]) -> bool:
        if j in useful:
            return False
        left = max((u for u in useful if u < j), default=None)
        right = min((u for u in useful if u > j), default=None)
        return (left is None or any(left <= s < j for s in before)) and (
            right is None or any(j < s <= right for s in before)
        )

    return Table(X, y, frozenset(useful), is_null)


KINDS = (noise, independent, correlated, copies, synergy, classes, wide, rare, numbers)


# --- what is measured -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """Averages over tables: share of false discoveries with its standard error, and power."""

    false: float
    error: float
    found: float
    selected: float

    @classmethod
    def of(cls, tables: Sequence[Table], selections: Sequence[Sequence[int]], alone: bool) -> Rates:
        """Compare selections with what is known; ``alone``: null means independent of y."""
        shares, found = [], []
        for table, chosen in zip(tables, selections, strict=True):
            before = [() if alone else chosen[:k] for k in range(len(chosen))]
            n_false = sum(map(table.is_null, chosen, before))
            shares.append(n_false / max(1, len(chosen)))
            found.append(len(table.useful & set(chosen)) / max(1, len(table.useful)))
        sizes = [len(chosen) for chosen in selections]
        error = np.std(shares, ddof=1) / np.sqrt(len(shares))
        return cls(float(np.mean(shares)), float(error), float(np.mean(found)), np.mean(sizes))

    @property
    def interval(self) -> str:
        """The share of false discoveries and its 95 % interval, in percent."""
        low, high = max(0.0, self.false - 1.96 * self.error), self.false + 1.96 * self.error
        return f"{100 * self.false:.1f} ({100 * low:.1f}–{100 * high:.1f})"


def generate(kind: Callable[[np.random.Generator], Table], n_tables: int) -> list[Table]:
    """Return tables of one kind, the same for every method."""
    rng = np.random.default_rng([SEED, KINDS.index(kind)])
    return [kind(rng) for _ in range(n_tables)]


def by_fdr(method: str, table: Table, q: float, **parameters: object) -> list[int]:
    """The columns selected with fdr=q, in the order of selection."""
    selector = hocmim.make_selector(
        method, n_features_to_select="auto", fdr=q, n_jobs=1, **parameters
    )
    return order_of(selector, table)


def order_of(selector: object, table: Table) -> list[int]:
    return selector.fit(table.X, table.y).selection_.indices.tolist()


def sees_redundancy(method: str) -> bool:
    return hocmim.make_selector(method).make_criterion().sees_redundancy


def all_kinds(n_tables: int, only: Collection[str] = ()) -> str:
    """The rates of the default method on tables of every kind, or of those named in ``only``."""
    lines = [
        "| tables | test | " + " | ".join(f"fdr={q:g}: false, %" for q in LEVELS) + " | "
        "useful columns found | selected | ms |",
        "|---" * (5 + len(LEVELS)) + "|",
    ]
    for kind in KINDS:
        if only and kind.__name__ not in only:
            continue
        tables = generate(kind, n_tables)
        for test, n_permutations in (("chi2", 1), ("permutation", 199)):
            if test == "permutation" and kind not in (noise, correlated):
                continue
            began, found = time.process_time(), []
            for q in LEVELS:
                chosen = [
                    by_fdr(DEFAULT, t, q, stop=test, n_permutations=n_permutations) for t in tables
                ]
                found.append(Rates.of(tables, chosen, alone=False))
            spent = 1000 * (time.process_time() - began) / len(LEVELS) / n_tables
            cells = [kind.__name__, test, *(rates.interval for rates in found)]
            cells += [", ".join(f"{100 * rates.found:.0f} %" for rates in found)]
            cells += [", ".join(f"{rates.selected:.1f}" for rates in found), f"{spent:.0f}"]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def summarize(table: str) -> str:
    """Return the table of ``all_kinds`` in short: what the tables are, and the rates in percent."""
    titles = " | ".join(f"fdr={q:g}" for q in LEVELS)
    lines = [f"| tables, rows × columns | {titles} |", "|---" * (1 + len(LEVELS)) + "|"]
    by_name = {kind.__name__: (kind.__doc__ or "").splitlines()[0].rstrip(".") for kind in KINDS}
    for line in table.splitlines()[2:]:
        name, test, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if test == "chi2":
            rates = " | ".join(f"{cell.split()[0]} %" for cell in cells[: len(LEVELS)])
            lines.append(f"| {name}: {by_name[name]} | {rates} |")
    return "\n".join(lines)


def all_methods(n_tables: int, only: Collection[str] = ()) -> str:
    """The rates of every method, or of those in ``only``, at one level, on some kinds of tables.

    Half as many tables of the kinds that have useful columns, which take longer.
    """
    kinds = [kind for kind in KINDS if kind.__name__ in KINDS_FOR_METHODS]
    titles = " | ".join(f"{kind.__name__}: false, % | found" for kind in kinds)
    lines = [f"| method | {titles} |", "|---" * (1 + 2 * len(kinds)) + "|"]
    tables = [
        generate(kind, n_tables if kind is noise else max(2, n_tables // 2)) for kind in kinds
    ]
    for method in METHODS:
        if only and method not in only:
            continue
        cells = [method]
        for some in tables:
            chosen = [by_fdr(method, table, 0.1) for table in some]
            rates = Rates.of(some, chosen, alone=not sees_redundancy(method))
            cells += [rates.interval, f"{100 * rates.found:.0f} %"]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


# --- other ways to control the rate ---------------------------------------------------------------


def any_false(table: Table, _: np.random.Generator) -> Selections:
    """alpha=q: the probability of any false discovery is at most q (Bonferroni)."""
    return [
        order_of(
            hocmim.make_selector(DEFAULT, n_features_to_select="auto", alpha=q, n_jobs=1), table
        )
        for q in LEVELS
    ]


def any_dependence(table: Table, _: np.random.Generator) -> Selections:
    """fdr=q / (1 + 1/2 + … + 1/D): valid for any dependence (Benjamini and Yekutieli)."""
    harmonic = (1 / np.arange(1, table.X.shape[1] + 1)).sum()
    return [by_fdr(DEFAULT, table, q / harmonic) for q in LEVELS]


def forward_stop(table: Table, _: np.random.Generator) -> Selections:
    """ForwardStop on the corrected p-values of the first 25 steps (G'Sell et al. 2016)."""
    order, p_values = tested_path(table.X, table.y, table.X, table.y, 25)
    p_values = np.minimum(p_values * (table.X.shape[1] - np.arange(len(order))), 1 - 1e-12)
    means = np.cumsum(-np.log1p(-p_values)) / np.arange(1, len(order) + 1)
    return [order[: n_leading(means <= q)] for q in LEVELS]


def split_rows(table: Table, rng: np.random.Generator) -> Selections:
    """Select 15 on half of the rows, test on the other half, Benjamini and Hochberg."""
    rows = rng.permutation(len(table.y))
    first, second = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    X, y = table.X, table.y
    order, p_values = tested_path(X[first], y[first], X[second], y[second], 15)
    ranked, found = np.sort(p_values), []
    for q in LEVELS:
        n_kept = n_leading(ranked <= q * np.arange(1, len(order) + 1) / len(order))
        largest = ranked[n_kept - 1] if n_kept else -1.0
        found.append([j for j, p in zip(order, p_values, strict=True) if p <= largest])
    return found


def n_leading(is_kept: NDArray[np.bool_]) -> int:
    """Return the last place that is kept, from 1; 0 if none is."""
    return int(np.flatnonzero(is_kept).max(initial=-1)) + 1


def decoys(table: Table, rng: np.random.Generator) -> Selections:
    """A permuted copy of each column competes with it; knockoff+ on the order of selection."""
    return among_decoys(table, rng, np.zeros_like(table.X))


def decoys_in_cells(table: Table, rng: np.random.Generator) -> Selections:
    """The same, permuted within the cells of the two columns that it depends on most."""
    X, codes = table.X, hocmim.encode(table.X)
    cells = np.zeros_like(X)
    for j in range(codes.n_columns):
        terms = BlockTerms(codes, Joint.of([codes.column(j)]), PLUGIN_ESTIMATOR)
        shared = terms.relevance()
        shared[j] = -1.0
        a, b = np.argsort(shared, kind="stable")[-2:]
        cells[:, j] = X[:, a] * (X.max() + 1) + X[:, b]
    return among_decoys(table, rng, cells)


def among_decoys(table: Table, rng: np.random.Generator, cells: Ints) -> Selections:
    X, n_columns = table.X, table.X.shape[1]
    decoy = np.empty_like(X)
    for j in range(n_columns):
        places = np.argsort(cells[:, j], kind="stable")
        decoy[places, j] = X[np.lexsort((rng.random(len(X)), cells[:, j])), j]
    is_swapped = rng.random(n_columns) < 0.5  # of two equal scores the first column wins
    both = np.hstack([np.where(is_swapped, decoy, X), np.where(is_swapped, X, decoy)])
    most = min(60, n_columns)
    ranked = hocmim.make_selector(DEFAULT, n_features_to_select=most, n_jobs=1).fit(both, table.y)
    order = ranked.selection_.indices.tolist()
    winners = {j % n_columns: j for j in reversed(order)}
    first = list(dict.fromkeys(j % n_columns for j in order))
    is_real = np.array([(winners[j] >= n_columns) == is_swapped[j] for j in first])
    share = (1 + np.cumsum(~is_real)) / np.maximum(np.cumsum(is_real), 1)
    kept = [n_leading(share <= q) for q in LEVELS]
    return [[j for j, real in zip(first[:n], is_real[:n], strict=True) if real] for n in kept]


def tested_path(
    X: Ints, y: Ints, X_test: Ints, y_test: Ints, most: int
) -> tuple[list[int], NDArray[np.float64]]:
    """Select on some rows; test each column given those before it on others (or the same)."""
    selector = hocmim.make_selector(DEFAULT, n_features_to_select=most, n_jobs=1)
    order = selector.fit(X, y).selected_.tolist()
    columns = [Column(X_test[:, j].astype(np.uint8), int(X.max()) + 1, j) for j in order]
    target = Column(y_test.astype(np.uint8), int(y.max()) + 1)
    p_values = []
    for k, x in enumerate(columns):
        redundant = redundant_features(x, columns[:k], target, 0.01)
        sets = ConditioningSets(x, columns[:k], target, redundant)
        tests = [chi2_p_value(Strata(x, target, Joint.of(z, len(y_test)))) for z in sets]
        p_values.append(min(1.0, min(tests) * sets.n_possible))
    return order, np.array(p_values)


def chosen(table: Table, _: np.random.Generator) -> Selections:
    """fdr=q: the method of the package."""
    return [by_fdr(DEFAULT, table, q) for q in LEVELS]


ALTERNATIVES = (
    chosen, any_false, any_dependence, forward_stop, split_rows, decoys, decoys_in_cells
)  # fmt: skip
KINDS_FOR_ALTERNATIVES = (noise, independent, correlated, copies, synergy)


def all_alternatives(n_tables: int, only: Collection[str] = ()) -> str:
    """Rate and power of other methods, on all kinds of tables or those in ``only``."""
    titles = " | ".join(f"{q:g}: false, % | found" for q in LEVELS)
    lines = [f"| tables | method | {titles} |", "|---" * (2 + 2 * len(LEVELS)) + "|"]
    for kind in KINDS_FOR_ALTERNATIVES:
        if only and kind.__name__ not in only:
            continue
        tables = generate(kind, n_tables)
        for method in ALTERNATIVES:
            cells = [kind.__name__, f"`{method.__name__}`"]
            found = [
                method(table, np.random.default_rng([SEED, number]))
                for number, table in enumerate(tables)
            ]
            for selections in zip(*found, strict=True):
                rates = Rates.of(tables, selections, alone=False)
                cells += [rates.interval, f"{100 * rates.found:.0f} %"]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, help="Tables of each kind.")
    parser.add_argument("--only", default="", help="Kinds of tables or methods, with commas.")
    parser.add_argument("--quick", action="store_true", help="Two tables of each kind.")
    parser.add_argument("--alternatives", action="store_true", help="Other methods instead.")
    parser.add_argument("--write", action="store_true", help="Write into docs/development.")
    options = parser.parse_args(arguments)
    if options.alternatives:
        measured = {"alternatives": all_alternatives}
    else:
        measured = {"kinds": all_kinds, "methods": all_methods}
    n_tables = options.tables or (2 if options.quick else 100 if options.alternatives else 200)
    only = [name for name in options.only.split(",") if name]
    for name, measure in measured.items():
        table = measure(n_tables, only)
        if options.write:
            if only:
                table = with_rows(read_table(PAGE, name), table, 1 if name == "methods" else 2)
            write_table(PAGE, name, table)
            if name == "kinds":
                write_table("error_control.md", "summary", summarize(table))


if __name__ == "__main__":
    main()

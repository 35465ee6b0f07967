"""How large is the share of false discoveries with fdr=0.05, 0.1 and 0.2?

    python benchmarks/error_control.py [--tables 200] [--quick] [--write]

On tables with known structure, generated from seeds: of every kind with the default method, and of
some kinds with every method; and on noise with every kind of weights (five times as many tables).
--only NAME makes one of the tables. --write puts them into docs/development/error_control.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

import hocmim
from common import markdown, options_of, write_table
from hocmim.selectors.stability import wilson_intervals

SEED = 2022
LEVELS = (0.05, 0.1, 0.2)
FAMILY_LEVELS = (0.01, 0.1)
# Columns up to which pairs and triples are screened: triples of 1000 columns take 5 seconds.
MOST_SCREENED = 500
DEFAULT = "HOCMIM-R"
METHODS = (DEFAULT, "HOCMIM", "CMICOT", "CMIM", "CMI", "mRMR", "JMI", "JMI-3", "MIM")
KINDS_FOR_METHODS = ("noise", "correlated", "copies", "synergy")
PAGE = "development/error_control.md"
Ints = NDArray[np.int64]
# The selected columns, each with those selected before or with it.
Chosen = list[tuple[int, set[int]]]


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


def bins(rng: np.random.Generator) -> Table:
    """500 × 50: the same numbers, but y is made from the five bins that the useful ones have.

    So what is null is said of the coded columns, as the test says it: a column is null if the
    nearest useful columns on both sides are given.
    """
    X = rng.normal(size=(500, 50))
    for j in range(1, 50):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    useful = list(range(3, 50, 6))
    codes = np.argsort(np.argsort(X[:, useful], axis=0), axis=0) // 100
    y = draw(rng, (codes - 2) / np.sqrt(2) @ np.linspace(1.2, 0.5, len(useful)))

    def is_null(j: int, before: Collection[int]) -> bool:
        beside = {max((u for u in useful if u < j), default=None)}
        beside.add(min((u for u in useful if u > j), default=None))
        return j not in useful and beside - {None} <= set(before)

    return Table(X, y, frozenset(useful), is_null)


KINDS = (noise, independent, correlated, copies, synergy, classes, wide, rare, numbers, bins)


# --- what is measured -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Rates:
    """Averages over tables: share of false discoveries with its standard error, and power."""

    false: float
    error: float
    found: float
    selected: float

    @classmethod
    def of(cls, tables: Sequence[Table], selections: Sequence[Chosen], alone: bool) -> Rates:
        """Compare selections with what is known; ``alone``: null means independent of y."""
        shares, found = [], []
        for table, chosen in zip(tables, selections, strict=True):
            shares.append(sum(is_false(table, chosen, alone)) / max(1, len(chosen)))
            columns = {j for j, _ in chosen}
            found.append(len(table.useful & columns) / max(1, len(table.useful)))
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


def is_false(table: Table, chosen: Chosen, alone: bool = False) -> list[bool]:
    """Return which columns are null given those selected before or with them, or alone."""
    return [table.is_null(j, () if alone else given) for j, given in chosen]


def select(
    method: str, table: Table, test: hocmim.StopTest, levels: Sequence[float]
) -> list[Chosen]:
    """The columns selected at each level, in order, by one fit at the loosest of them.

    Levels cut one sequence: a stricter one selects the columns before the first larger p-value.
    """
    selector = hocmim.make_selector(method, n_features_to_select=test, n_jobs=1)
    if method == DEFAULT and table.X.shape[1] > MOST_SCREENED:
        selector.set_params(interactions=False)
    selection = selector.fit(table.X, table.y).selection_
    chosen, before = [], set()
    for step in selection.steps:
        chosen.append((step.index, (before | set(step.interaction)) - {step.index}))
        before.add(step.index)
    is_larger = [selection.p_values > level for level in levels]
    stops = [int(larger.argmax()) if larger.any() else len(larger) for larger in is_larger]
    return [chosen[:stop] for stop in stops]


def sees_redundancy(method: str) -> bool:
    return hocmim.make_selector(method).make_criterion().sees_redundancy


def kinds_rows(n_tables: int) -> list[list[str]]:
    """The rates of the default method on tables of every kind."""
    rows = []
    for kind in KINDS:
        tables = generate(kind, n_tables)
        for test, n_permutations in (("chi2", 1), ("permutation", 199)):
            if test == "permutation" and kind not in (noise, correlated):
                continue
            stop = hocmim.StopTest(fdr=LEVELS[-1], test=test, n_permutations=n_permutations)
            began = time.process_time()
            chosen = [select(DEFAULT, table, stop, LEVELS) for table in tables]
            spent = 1000 * (time.process_time() - began) / n_tables
            found = [
                Rates.of(tables, columns, alone=False) for columns in zip(*chosen, strict=True)
            ]
            cells = [kind.__name__, test, *(rates.interval for rates in found)]
            cells += [", ".join(f"{100 * rates.found:.0f} %" for rates in found)]
            cells += [", ".join(f"{rates.selected:.1f}" for rates in found), f"{spent:.0f}"]
            rows.append(cells)
            print(cells, file=sys.stderr, flush=True)
    return rows


def summary_rows(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows of ``kinds_rows`` in short: what the tables are, and the rates in percent."""
    about = {kind.__name__: (kind.__doc__ or "").splitlines()[0].rstrip(".") for kind in KINDS}
    return [
        [f"{name}: {about[name]}", *(f"{cell.split()[0]} %" for cell in cells[: len(LEVELS)])]
        for name, test, *cells in rows
        if test == "chi2"
    ]


def kinds_tables(n_tables: int) -> dict[str, str]:
    rows, levels = kinds_rows(n_tables), [f"fdr={q:g}" for q in LEVELS]
    header = ["tables", "test", *(f"{level}: false, %" for level in levels)]
    header += ["useful columns found", "selected", "ms"]
    return {
        "kinds": markdown(header, rows),
        "summary": markdown(["tables, rows × columns", *levels], summary_rows(rows)),
    }


def family_table(n_tables: int) -> dict[str, str]:
    """The share of tables in which any column is false, with alpha instead of fdr."""
    rows = []
    for kind in KINDS:
        tables, cells = generate(kind, n_tables), [kind.__name__]
        test = hocmim.StopTest(FAMILY_LEVELS[-1])
        of_levels = [select(DEFAULT, table, test, FAMILY_LEVELS) for table in tables]
        for chosen in zip(*of_levels, strict=True):
            pairs = zip(tables, chosen, strict=True)
            n_any = sum(any(is_false(table, columns)) for table, columns in pairs)
            low, high = wilson_intervals([n_any], n_tables)[0]
            cells.append(f"{100 * n_any / n_tables:.1f} ({100 * low:.1f}–{100 * high:.1f})")
            cells.append(f"{100 * Rates.of(tables, chosen, alone=False).found:.0f} %")
        rows.append(cells)
        print(cells, file=sys.stderr, flush=True)
    header = [f"alpha={alpha:g}: any false, %" for alpha in FAMILY_LEVELS]
    return {"family": markdown(["tables", *(c for h in header for c in (h, "found"))], rows)}


def methods_table(n_tables: int) -> dict[str, str]:
    of_kinds = [cell for kind in KINDS_FOR_METHODS for cell in (f"{kind}: false, %", "found")]
    return {"methods": markdown(["method", *of_kinds], methods_rows(n_tables))}


def methods_rows(n_tables: int) -> list[list[str]]:
    """The rates of every method at one level, on some kinds of tables.

    Half as many tables of the kinds that have useful columns, which take longer.
    """
    kinds = [kind for kind in KINDS if kind.__name__ in KINDS_FOR_METHODS]
    tables = [
        generate(kind, n_tables if kind is noise else max(2, n_tables // 2)) for kind in kinds
    ]
    rows = []
    for method in METHODS:
        cells = [method]
        for some in tables:
            test = hocmim.StopTest(fdr=0.1)
            chosen = [select(method, table, test, [0.1])[0] for table in some]
            rates = Rates.of(some, chosen, alone=not sees_redundancy(method))
            cells += [rates.interval, f"{100 * rates.found:.0f} %"]
        rows.append(cells)
        print(cells, file=sys.stderr, flush=True)
    return rows


# --- weights --------------------------------------------------------------------------------------

N_NOISE, D_NOISE = 1000, 10
Weighted = tuple[NDArray, Ints, dict[str, object]]


def weighted_noise(rng: np.random.Generator, share: float = 0.5) -> tuple[NDArray, Ints]:
    """Return numbers, and two classes that do not depend on them."""
    return rng.normal(size=(N_NOISE, D_NOISE)), (rng.random(N_NOISE) < share).astype(np.int64)


def with_weights(make: Callable[[np.random.Generator, NDArray], object], share: float = 0.5):
    """Return a function that makes a table of noise with such weights."""

    def table(rng: np.random.Generator) -> Weighted:
        X, y = weighted_noise(rng, share)
        return X, y, {"sample_weight": make(rng, X)}

    return table


def summarised(rng: np.random.Generator) -> Weighted:
    """Return the distinct rows of a table of bits, and how often each occurs."""
    bits = rng.integers(2, size=(N_NOISE, D_NOISE + 1))
    rows, counts = np.unique(bits, axis=0, return_counts=True)
    return rows[:, :-1], rows[:, -1], {"sample_weight": counts}


def in_groups(make: Callable[[np.random.Generator, NDArray], object] | None = None):
    """Return a function that makes noise in groups of five rows, with effects of the group."""

    def table(rng: np.random.Generator) -> Weighted:
        groups = np.arange(N_NOISE) // 5
        X = rng.normal(size=(groups.max() + 1, D_NOISE))[groups]
        X = X + rng.normal(size=(N_NOISE, D_NOISE))
        signal = 1.5 * rng.normal(size=groups.max() + 1)[groups]
        y = (signal + rng.logistic(size=N_NOISE) > 0).astype(np.int64)
        return X, y, {"groups": groups, "sample_weight": make(rng, X) if make else None}

    return table


def exponential(rng: np.random.Generator, X: NDArray) -> NDArray:
    return rng.exponential(size=len(X))


WEIGHTS = {
    "none": with_weights(lambda rng, X: None),
    "uniform(0, 1)": with_weights(lambda rng, X: rng.random(len(X))),
    "recency, exp(−i/200)": with_weights(lambda rng, X: np.exp(-np.arange(len(X)) / 200)),
    "exponential": with_weights(exponential),
    "1 / propensity, 1 + exp(−2 x)": with_weights(lambda rng, X: 1 + np.exp(-2 * X[:, 0])),
    **{
        f'`"balanced"`, {share:.0%} positive': with_weights(lambda rng, X: "balanced", share)
        for share in (0.3, 0.2, 0.1, 0.05)
    },
    "integers, counts of equal rows": summarised,
    "groups": in_groups(),
    "groups, uniform(0, 1)": in_groups(lambda rng, X: rng.random(len(X))),
    "groups, exponential": in_groups(exponential),
}


def weights_table(n_tables: int) -> dict[str, str]:
    """The share of tables of noise in which any column is selected, for each kind of weights.

    Levels cut one sequence, so one fit at the loosest level shows what the others select. Five
    times as many tables; with permutations half as many.
    """
    tests = {
        hocmim.StopTest(fdr=0.1): 5 * n_tables,
        hocmim.StopTest(fdr=0.1, test="permutation", n_permutations=199): n_tables // 2,
    }
    rows = []
    for number, (name, make) in enumerate(WEIGHTS.items()):
        cells, n_screened = [name], 0
        for test, n_of_it in tests.items():
            rng = np.random.default_rng([SEED, 100 + number])
            first = np.ones(n_of_it)
            for place in range(n_of_it):
                X, y, given = make(rng)
                found = hocmim.RobustHOCMIM(test, n_jobs=1).fit(X, y, **given)
                if len(found.selected_):
                    first[place] = found.p_values_[0]
                n_screened += test.test == "chi2" and len(found.selection_.interactions) > 0
            levels = (0.01, 0.05, 0.1) if test.test == "chi2" else (0.1,)
            cells += [f"{100 * np.mean(first <= level):.1f} %" for level in levels]
        rows.append([*cells, f"{100 * n_screened / (5 * n_tables):.1f} %"])
        print(rows[-1], file=sys.stderr, flush=True)
    header = ["weights", "alpha=0.01", "alpha=0.05", "fdr=0.1", "permutation, fdr=0.1"]
    return {"weights": markdown([*header, "screen keeps any pair or triple"], rows)}


def certainty_table(n_tables: int) -> dict[str, str]:
    """What resamples and cross-validation say of noise, for each kind of weights; fewer tables."""
    rows, n_tables = [], max(2, n_tables // 5)
    for number, (name, make) in enumerate(WEIGHTS.items()):
        rng = np.random.default_rng([SEED, 200 + number])
        often, index, gains, sizes = [], [], [], []
        for _ in range(n_tables):
            X, y, given = make(rng)
            tested = hocmim.StabilitySelector(hocmim.RobustHOCMIM("significant"), 20)
            often.append(tested.fit(X, y, **given).frequencies_.max())
            three = hocmim.StabilitySelector(hocmim.RobustHOCMIM(3), 20).fit(X, y, **given)
            index.append(three.stability_)
            chosen = hocmim.RobustHOCMIM("cv").fit(X, y, **given)
            scores = chosen.validation_.scores.mean(axis=0)
            sizes.append(chosen.n_features_)
            gains.append(scores[chosen.n_features_] - scores[0])
        cells = [f"{np.mean(np.array(often) > 0.5):.0%}", f"{np.mean(index):.2f}"]
        cells += [f"{np.mean(sizes):.1f}", f"{np.mean(gains):+.4f}", f"{np.max(gains):+.4f}"]
        rows.append([name, *cells])
        print(rows[-1], file=sys.stderr, flush=True)
    header = ["weights", "any column in half of the resamples, tested", "stability of 3 columns"]
    header += ['K of `"cv"`', "its gain over no column, mean", "largest"]
    return {"certainty": markdown(header, rows)}


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--tables", type=int, help="tables of each kind")
    parser.add_argument("--only", help="kinds, family, methods, weights or certainty")
    options = parser.parse_args()
    n_tables = options.tables or (5 if options.quick else 200)
    makers = {
        "kinds": kinds_tables,
        "family": family_table,
        "methods": methods_table,
        "weights": weights_table,
        "certainty": certainty_table,
    }
    for name, make in makers.items():
        if options.only in (None, name):
            for part, text in make(n_tables).items():
                print(f"{text}\n")
                if options.write:
                    write_table(PAGE, part, text)


if __name__ == "__main__":
    main()

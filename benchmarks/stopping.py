"""How often does the significance test select informative columns, and how often noise?

    python benchmarks/stopping.py [--tables 50] [--quick] [--write]

Three tables: columns of which it is known which are informative; pure noise; and rows that come in
groups, such as several rows of one patient: every column has an effect of the group (a share ICC of
its variance). --write puts them into docs/development/stopping.md and row_groups.md.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import hocmim
from common import markdown, options_of, write_table
from hocmim.insight.chart_data import wilson_intervals

SEED = 2022
ICC = 0.5
D = 30
N_USEFUL = 3
METHODS = ("HOCMIM-R", "HOCMIM", "CMICOT", "CMIM", "CMI", "mRMR", "JMI", "JMI-3", "MIM")
N_NOISE = 40


def known_table(
    rng: np.random.Generator, n_samples: int
) -> tuple[np.ndarray, np.ndarray, list[set[int]]]:
    """X, y and six informative groups: each is an informative column with its copies.

    y depends on four columns of three levels and on the exclusive or of two bits. One bit is fair
    and the other is not, so that the fair one is informative alone and the other only with it.
    There are two exact copies, one copy with a tenth of its values replaced, and 40 noise columns.
    """
    levels = rng.integers(3, size=(n_samples, 4))
    fair, other = rng.integers(2, size=n_samples), (rng.random(n_samples) < 0.3).astype(int)
    signal = levels @ [0.8, 0.67, 0.6, 0.53] + 2.2 * (fair ^ other)
    y = (signal + 0.8 * rng.logistic(size=n_samples) > np.median(signal)).astype(int)
    noisy_copy = np.where(
        rng.random(n_samples) < 0.1, rng.integers(3, size=n_samples), levels[:, 2]
    )
    noise = rng.integers(3, size=(n_samples, N_NOISE))
    X = np.column_stack([levels, fair, other, levels[:, 0], levels[:, 1], noisy_copy, noise])
    order = rng.permutation(X.shape[1])
    at = np.argsort(order).tolist()
    groups = [{at[0], at[6]}, {at[1], at[7]}, {at[2], at[8]}, {at[3]}, {at[4]}, {at[5]}]
    return X[:, order], y, groups


def noise_table(
    rng: np.random.Generator, n_samples: int, n_columns: int, kind: str
) -> tuple[np.ndarray, np.ndarray]:
    """Columns that are independent of y."""
    if kind == "normal":
        return rng.normal(size=(n_samples, n_columns)), rng.integers(2, size=n_samples)
    rare = rng.poisson(0.05, size=(n_samples, n_columns))  # counts of rare words, a rare class
    return rare, (rng.random(n_samples) < 0.1).astype(int)


def rates(name: str, stop: str, tables: list[tuple]) -> list[str]:
    """The averages of one method over the tables."""
    found, ceiling, redundant, noise = [], [], [], []
    seconds = 0.0
    for X, y, groups in tables:
        began = time.process_time()
        selector = hocmim.make_selector(name, n_features_to_select=hocmim.StopTest(test=stop)).fit(
            X, y
        )
        seconds += time.process_time() - began
        selected = set(selector.selected_.tolist())
        informative = set.union(*groups)
        ranked = hocmim.make_selector(name, n_features_to_select=12).fit(X, y).selected_.tolist()
        first_noise = next((i for i, j in enumerate(ranked) if j not in informative), len(ranked))
        found.append(sum(bool(selected & group) for group in groups))
        ceiling.append(sum(bool(set(ranked[:first_noise]) & group) for group in groups))
        redundant.append(len(selected & informative) - found[-1])
        noise.append(len(selected - informative))
    return [
        f"{np.mean(found):.2f}",
        f"{np.mean(ceiling):.2f}",
        f"{np.mean(redundant):.2f}",
        f"{np.mean(noise):.3f}",
        f"{np.mean(np.array(noise) > 0):.1%}",
        f"{1000 * seconds / len(tables):.0f}",
    ]


def known_answers(n_tables: int) -> str:
    rng = np.random.default_rng(SEED)
    rows = []
    for n_samples in (1000, 3000):
        tables = [known_table(rng, n_samples) for _ in range(n_tables)]
        for name in METHODS:
            for stop in ("chi2", "permutation"):
                rows.append([str(n_samples), name, stop, *rates(name, stop, tables)])
                print(rows[-1], file=sys.stderr, flush=True)
    header = ["samples", "method", "test", "found, of 6", "before any noise", "redundant", "noise"]
    return markdown([*header, "tables with noise", "ms"], rows)


def pure_noise(n_tables: int) -> str:
    rng = np.random.default_rng(SEED)
    rows = []
    for shape in ((100, 2000), (500, 50), (2000, 200)):
        for kind in ("normal", "rare"):
            tables = [noise_table(rng, *shape, kind) for _ in range(n_tables)]
            for stop in ("chi2", "permutation"):
                selector = hocmim.RobustHOCMIM(hocmim.StopTest(test=stop))
                counts = np.array([len(selector.fit(X, y).selected_) for X, y in tables])
                shares = [f"{np.mean(counts > 0):.1%}", f"{counts.mean():.3f}"]
                rows.append([f"{shape[0]} × {shape[1]}", kind, stop, *shares])
                print(rows[-1], file=sys.stderr, flush=True)
    header = ["samples × columns", "values", "test", "tables with any selected"]
    return markdown([*header, "columns selected"], rows)


# --- rows in groups -------------------------------------------------------------------------------

KINDS = {
    "one label a group": "60 groups of 10 rows; the target is constant in a group",
    "labels vary": "60 groups of 10 rows; the target varies in a group and has a group effect",
    "unequal groups": "60 groups of 1 to 40 rows; the target is constant in a group",
}


def grouped_table(
    rng: np.random.Generator, kind: str, effect: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and the group of each row; the first columns depend on y if there is an effect."""
    sizes = rng.integers(1, 41, 60) if kind == "unequal groups" else np.full(60, 10)
    groups = np.repeat(np.arange(60), sizes)
    n = len(groups)
    if kind == "labels vary":
        y = (1.5 * rng.normal(size=60)[groups] + rng.logistic(size=n) > 0).astype(int)
    else:
        y = rng.permutation(np.arange(60) % 2)[groups]
    X = np.sqrt(ICC) * rng.normal(size=(60, D))[groups]
    X = X + np.sqrt(1 - ICC) * rng.normal(size=(n, D))
    X[:, :N_USEFUL] += effect * y[:, None]
    return X, y, groups


def cells(kind: str, n_tables: int, stop: str, with_groups: bool) -> list[str]:
    rng = np.random.default_rng(SEED)
    n_wrong, found, began = 0, [], time.process_time()
    selector = hocmim.RobustHOCMIM(hocmim.StopTest(test=stop, n_permutations=199), n_jobs=1)
    for _ in range(n_tables):
        X, y, groups = grouped_table(rng, kind, 0.0)
        fitted = selector.fit(X, y, groups=groups if with_groups else None)
        n_wrong += len(fitted.selected_) > 0
    for _ in range(n_tables // 4):
        X, y, groups = grouped_table(rng, kind, 2.0)
        fitted = selector.fit(X, y, groups=groups if with_groups else None)
        found.append((fitted.selected_ < N_USEFUL).sum())
    low, high = wilson_intervals([n_wrong], n_tables)[0]
    return [
        f"{n_wrong / n_tables:.1%} [{low:.1%}, {high:.1%}]",
        f"{np.mean(found):.2f}",
        f"{1000 * (time.process_time() - began) / (n_tables + n_tables // 4):.0f}",
    ]


def row_groups(n_tables: int) -> str:
    rows = []
    for kind in KINDS:
        for stop in ("chi2", "permutation"):
            for with_groups in (False, True):
                given = "given" if with_groups else "ignored"
                rows.append([kind, stop, given, *cells(kind, n_tables, stop, with_groups)])
                print(rows[-1], file=sys.stderr, flush=True)
    header = ["table", "test", "groups", "noise tables with any selected", "useful found, of 3"]
    return markdown([*header, "ms"], rows)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--tables", type=int)
    options = parser.parse_args()
    n_tables = options.tables or (2 if options.quick else 50)
    pages = ("development/stopping.md", "development/stopping.md", "development/row_groups.md")
    parts = (("known", known_answers, 1), ("noise", pure_noise, 4), ("groups", row_groups, 4))
    for page, (name, make, factor) in zip(pages, parts, strict=True):
        text = make(factor * n_tables)
        print(f"{text}\n", flush=True)
        if options.write:
            write_table(page, name, text)


if __name__ == "__main__":
    main()

"""Error rate and power of n_features_to_select="auto" on tables whose rows come in groups.

Every column has an effect of the group (a share ICC of its variance), as several rows of one
patient have. --write puts the table into docs/development/row_groups.md.

    python benchmarks/row_groups.py [tables] [--quick] [--write]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import hocmim
from docs_tables import write_table
from hocmim.selectors.stability import wilson_intervals

SEED = 2022
ICC = 0.5
D = 30
N_USEFUL = 3
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
    selector = hocmim.RobustHOCMIM("auto", stop=stop, n_permutations=199, n_jobs=1)
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


def main(n_tables: int, write: bool) -> None:
    lines = [
        "| table | test | groups | noise tables with any selected | useful found, of 3 | ms |",
        "|---" * 6 + "|",
    ]
    for kind in KINDS:
        for stop in ("chi2", "permutation"):
            for with_groups in (False, True):
                made = cells(kind, n_tables, stop, with_groups)
                given = "given" if with_groups else "ignored"
                lines.append(f"| {kind} | {stop} | {given} | {' | '.join(made)} |")
                print(lines[-1], flush=True)
    if write:
        write_table("development/row_groups.md", "groups", "\n".join(lines))


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    default = 8 if "--quick" in sys.argv else 200
    main(numbers[0] if numbers else default, "--write" in sys.argv)

"""How many levels should a column of strings keep? Recovery of useful columns beside noise.

Each table has five useful columns: one of strings with many levels, of which each has an effect of
its own, and four of three levels. Ten columns of noise are strings with about a third of the rows
as levels. The frequencies of levels fall like 1/rank. Recovery is the share of the useful columns
among the first five selected; "strings" is how often the useful column of strings is among them.

Prints a table in Markdown; --write puts it into docs/development/levels.md.

    python benchmarks/levels.py [tables] [--write]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

import hocmim
from docs_tables import write_table

SEED = 2022
METHODS = ("MIM", "JMI", "HOCMIM-R")
LIMITS = ("auto", 8, 16, 32, 64, 128, 256, None)
ROWS = (300, 1000, 3000, 10_000)
N_LEVELS = 200
N_USEFUL, N_NOISE = 5, 10


def draw_levels(rng: np.random.Generator, n_rows: int, n_levels: int) -> np.ndarray:
    """Levels whose frequencies fall like 1/rank."""
    share = 1 / np.arange(1, n_levels + 1)
    return rng.choice(n_levels, n_rows, p=share / share.sum())


def table(rng: np.random.Generator, n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """X and y; the useful columns come first."""
    places = draw_levels(rng, n_rows, N_LEVELS)
    few = rng.integers(3, size=(n_rows, N_USEFUL - 1))
    signal = rng.normal(size=N_LEVELS)[places] + few @ [0.8, 0.7, 0.6, 0.5]
    y = (signal + rng.logistic(size=n_rows) > np.median(signal)).astype(int)
    columns = {"place": places.astype(str)}
    columns |= {f"few{k}": few[:, k] for k in range(N_USEFUL - 1)}
    for k in range(N_NOISE):
        columns[f"noise{k}"] = draw_levels(rng, n_rows, n_rows // 3).astype(str)
    return pd.DataFrame(columns), y


def recovery(n_tables: int) -> str:
    lines = ["| rows | method | " + " | ".join(str(limit) for limit in LIMITS) + " |"]
    lines.append("|---" * (2 + len(LIMITS)) + "|")
    for n_rows in ROWS:
        rng = np.random.default_rng(SEED)
        tables = [table(rng, n_rows) for _ in range(n_tables)]
        for name in METHODS:
            cells = []
            for limit in LIMITS:
                selector = hocmim.make_selector(name, n_features_to_select=N_USEFUL)
                selector.set_params(max_levels=limit)
                chosen = [selector.fit(X, y).selected_ for X, y in tables]
                share = np.mean([(selected < N_USEFUL).mean() for selected in chosen])
                strings = np.mean([0 in selected for selected in chosen])
                cells.append(f"{share:.0%}, {strings:.0%}")
            lines.append(f"| {n_rows} | {name} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    warnings.simplefilter("ignore", hocmim.DataWarning)
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    found = recovery(numbers[0] if numbers else 20)
    if "--write" in sys.argv:
        write_table("development/levels.md", "levels", found)

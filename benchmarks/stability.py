"""How stable are the selections? Stability of each method over bootstrap resamples, in Markdown.

--write puts the table into docs/development/stability.md.

    python benchmarks/stability.py [resamples] [--write]
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

import hocmim
from docs_tables import write_table
from hocmim import StabilitySelector

METHODS = (
    "HOCMIM-R", "HOCMIM", "CMIM", "JMI", "mRMR", "DISR", "JMI-3", "MIM", "Fisher", "ReliefF",
)  # fmt: skip
N_SELECTED = 5


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(2022)
    noise = rng.normal(size=(500, 30)), rng.integers(2, size=500)
    return {
        "wine (13 columns)": load_wine(return_X_y=True),
        "breast cancer (30)": load_breast_cancer(return_X_y=True),
        "digits (64)": load_digits(return_X_y=True),
        "noise (30)": noise,
    }


def main(n_resamples: int, write: bool) -> None:
    data = tables()
    lines = [f"| method | {' | '.join(data)} |", "|---" * (len(data) + 1) + "|"]
    for name in METHODS:
        cells = []
        for X, y in data.values():
            selector = hocmim.make_selector(name, n_features_to_select=N_SELECTED)
            found = StabilitySelector(selector, n_resamples).fit(X, y)
            low, high = found.stability_interval_
            cells.append(f"{found.stability_:.2f} [{low:.2f}, {high:.2f}]")
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    if write:
        write_table("development/stability.md", "stability", "\n".join(lines))


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    main(numbers[0] if numbers else 50, "--write" in sys.argv)

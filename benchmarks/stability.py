"""How stable are the selections? Stability of each method over bootstrap resamples.

    python benchmarks/stability.py [--resamples 50] [--quick] [--write]

--write puts the table into docs/development/stability.md.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

import hocmim
from common import markdown, options_of, write_table
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


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--resamples", type=int)
    options = parser.parse_args()
    data, rows = tables(), []
    for name in METHODS:
        cells = []
        for X, y in data.values():
            selector = hocmim.make_selector(name, n_features_to_select=N_SELECTED)
            n_resamples = options.resamples or (5 if options.quick else 50)
            found = StabilitySelector(selector, n_resamples).fit(X, y)
            low, high = found.stability_interval_
            cells.append(f"{found.stability_:.2f} [{low:.2f}, {high:.2f}]")
        rows.append([name, *cells])
    text = markdown(["method", *data], rows)
    print(text)
    if options.write:
        write_table("development/stability.md", "stability", text)


if __name__ == "__main__":
    main()

"""Which methods find the bits of a 3-bit parity among noise? Prints a table in Markdown.

y = b1 xor b2 xor b3: one bit or two are independent of y, and all three determine it. So a method
finds the first two only by chance. A method that detects the interaction selects the third right
after the second; any other finds the third by chance too.

    python benchmarks/parity.py [tables]
"""

from __future__ import annotations

import sys

import numpy as np

import hocmim

SEED = 2022
VARIANTS = {
    "HOCMIM-R": {},
    "HOCMIM": {},
    'HOCMIM, form="conditional"': {"form": "conditional"},
    'HOCMIM, estimator="plugin"': {"estimator": "plugin"},
}
SETTINGS = {"2000 samples, 10 noise columns": (2000, 13), "500 samples, 20": (500, 23)}


def parity_table(
    rng: np.random.Generator, n_samples: int, n_columns: int
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Columns of fair coins, y the parity of three of them, and which these are."""
    X = rng.integers(2, size=(n_samples, n_columns))
    bits = rng.choice(n_columns, size=3, replace=False)
    return X, X[:, bits].sum(axis=1) % 2, bits.tolist()


def is_third_next(name: str, X: np.ndarray, y: np.ndarray, bits: list[int]) -> bool:
    """Whether the third bit is selected right after the second."""
    method = name.partition(",")[0]
    selector = hocmim.make_selector(
        method, n_features_to_select=X.shape[1], **VARIANTS.get(name, {})
    )
    selected = selector.fit(X, y).selected_
    assert len(set(selected.tolist())) == X.shape[1], f"{name} repeated a feature"
    _, second, third = sorted(selected.tolist().index(bit) for bit in bits)
    return third == second + 1


def by_chance(n_columns: int) -> float:
    """The probability of this in a random order."""
    orders = [(b, c) for c in range(2, n_columns) for b in range(1, c) for _ in range(b)]
    return float(np.mean([c == b + 1 for b, c in orders]))


def main(n_tables: int) -> None:
    rng = np.random.default_rng(SEED)
    tables = {
        title: [parity_table(rng, *shape) for _ in range(n_tables)]
        for title, shape in SETTINGS.items()
    }
    print(f"| third bit right after the second: | {' | '.join(SETTINGS)} |")
    print("|---|" + "---|" * len(SETTINGS))
    for name in [*VARIANTS, *(n for n in hocmim.list_methods() if n not in VARIANTS)]:
        shares = [np.mean([is_third_next(name, *table) for table in of]) for of in tables.values()]
        print(f"| {name} | {' | '.join(f'{share:.0%}' for share in shares)} |", flush=True)
    chances = [by_chance(n_columns) for _, n_columns in SETTINGS.values()]
    print(f"| *in random order* | {' | '.join(f'*{chance:.0%}*' for chance in chances)} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)

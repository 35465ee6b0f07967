"""How often does n_features_to_select="auto" select informative columns, and how often noise?

Prints two tables in Markdown; --write puts them into docs/development/stopping.md.

    python benchmarks/stopping.py [tables] [--write]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import hocmim
from docs_tables import write_table

SEED = 2022
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
        selector = hocmim.make_selector(name, n_features_to_select="auto", stop=stop).fit(X, y)
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
    lines = [
        "| samples | method | test | found, of 6 | before any noise | redundant | noise "
        "| tables with noise | ms |",
        "|---" * 9 + "|",
    ]
    for n_samples in (1000, 3000):
        tables = [known_table(rng, n_samples) for _ in range(n_tables)]
        for name in METHODS:
            for stop in ("chi2", "permutation"):
                cells = [str(n_samples), name, stop, *rates(name, stop, tables)]
                lines.append(f"| {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    return "\n".join(lines)


def pure_noise(n_tables: int) -> str:
    rng = np.random.default_rng(SEED)
    lines = [
        "| samples × columns | values | test | tables with any selected | columns selected |",
        "|---" * 5 + "|",
    ]
    for shape in ((100, 2000), (500, 50), (2000, 200)):
        for kind in ("normal", "rare"):
            tables = [noise_table(rng, *shape, kind) for _ in range(n_tables)]
            for stop in ("chi2", "permutation"):
                selector = hocmim.RobustHOCMIM("auto", stop=stop)
                counts = np.array([len(selector.fit(X, y).selected_) for X, y in tables])
                lines.append(
                    f"| {shape[0]} × {shape[1]} | {kind} | {stop} | {np.mean(counts > 0):.1%} "
                    f"| {counts.mean():.3f} |"
                )
                print(lines[-1], flush=True)
    return "\n".join(lines)


def main(n_tables: int, write: bool) -> None:
    for name, table in (("known", known_answers(n_tables)), ("noise", pure_noise(4 * n_tables))):
        if write:
            write_table("development/stopping.md", name, table)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    main(numbers[0] if numbers else 50, "--write" in sys.argv)

"""The tables of several tests."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

N = 120
HOSTILE = "<b>bold</b> [red]x[/] \"q\" 'a', \t\\🦔 " + "x" * 500


def mixed_table():
    """Mixed types, missing values, hostile names, an identifier, a copy of the target."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    return pd.DataFrame(
        {
            "id": np.arange(N) + 1000,
            "age": rng.integers(20, 60, N) + 15 * y,
            "town": rng.choice(["Ulm", "Köln", "Bern"], N),
            "when": pd.date_range("2020-01-01", periods=N),
            HOSTILE: np.where(rng.random(N) < 0.8, y, 1 - y),
            "smoker": rng.choice([True, False], N),
            "dose": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N) + y),
            "lab": [("?" if rng.random() < 0.1 else f"{v:.2f}") for v in rng.normal(size=N)],
            "leak": np.where(y == 1, "yes", "no"),
            "same": 1,
            "line\nbreak": rng.normal(size=N),
            "outcome": np.where(np.arange(N) == 3, None, np.where(y == 1, "ill", "well")),
        }
    )


def write_wide_table(path):
    """2000 × 5000 columns of few levels, thirty of which say something of the class."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 2000)
    X = rng.integers(0, 4, (2000, 5000)).astype(np.int8)
    for j in range(30):
        keeps = rng.random(2000) < 0.6 - 0.015 * j
        X[:, 150 * j] = np.where(keeps, y, X[:, 150 * j])
    columns = {f"g{j}": X[:, j] for j in range(5000)}
    pq.write_table(pa.table({**columns, "class": y}), path)
    return path, X, y


def coins(n=500):
    """Two coins tell the target, and only together."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (n, 30)), columns=[f"coin {j}" for j in range(30)])
    return frame, (frame["coin 3"] == frame["coin 7"]).astype(int)


def copies(seed=7, n=200):
    """Three signals with four noisy copies each, and noise."""
    rng = np.random.default_rng(seed)
    signals = rng.normal(size=(n, 3))
    y = (signals.sum(axis=1) > 0).astype(int)
    X = np.repeat(signals, 4, axis=1) + 0.15 * rng.normal(size=(n, 12))
    return np.hstack([X, rng.normal(size=(n, 20))]), y

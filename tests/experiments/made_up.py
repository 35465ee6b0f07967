"""A made-up table and its classes."""

import numpy as np


def make_arrays(n=40, D=6, n_classes=2, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    X = np.round(rng.normal(size=(n, D)) + y[:, None] * np.linspace(2, 0, D), 2)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y

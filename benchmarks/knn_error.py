"""The 3-NN error of HOCMIM's selections on two of the paper's data sets, and the expected errors.

    .venv/bin/python benchmarks/knn_error.py --data FOLDER [--splits 10]

50/50 splits; equal-width bins fitted on the training half; 3-NN on the binned values with the first
m selected features, averaged over m = 1..50 (or all). krvskp has many samples for its levels, so
form="conditional" suits it; pengleuk has 36 training samples, so the default form suits it.
"""

import argparse

import numpy as np

from data_option import add_data_option
from hocmim import HOCMIM, Encoder

CASES = [("krvskp", "conditional", "near 0.071"), ("pengleuk", "redundancy", "at most 0.056")]


def binned(encoder: Encoder, X: np.ndarray) -> np.ndarray:
    codes = encoder.transform(X)
    return np.stack([codes.column(j).codes for j in range(codes.n_columns)], axis=1).astype(float)


def knn_errors(train, y_train, test, y_test, order, k=3):
    """Error with the first 1, 2, … features; each feature is added to the distances."""
    distance = np.zeros((len(test), len(train)))
    errors = []
    for feature in order:
        distance += (test[:, feature][:, None] - train[:, feature][None, :]) ** 2
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :k]
        votes = np.apply_along_axis(np.bincount, 1, y_train[nearest], minlength=y_train.max() + 1)
        errors.append(np.mean(votes.argmax(axis=1) != y_test))
    return errors


def mean_error(X, y, form, n_splits):
    errors = []
    for split in range(n_splits):
        order = np.random.default_rng(split).permutation(len(y))
        train, test = order[: len(y) // 2], order[len(y) // 2 :]
        selector = HOCMIM(min(50, X.shape[1]), form=form, discretizer="uniform").fit(
            X[train], y[train]
        )
        errors.append(
            np.mean(
                knn_errors(
                    binned(selector.encoder_, X[train]),
                    y[train],
                    binned(selector.encoder_, X[test]),
                    y[test],
                    selector.selected_,
                )
            )
        )
    return np.mean(errors), np.std(errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--splits", type=int, default=10)
    arguments = parser.parse_args()
    print("| data set | form | mean error | sd over splits | expected |\n|---|---|---|---|---|")
    for name, form, expected in CASES:
        with np.load(arguments.data / f"{name}.npz", allow_pickle=False) as data:
            mean, spread = mean_error(data["X"], data["y"], form, arguments.splits)
        print(f"| {name} | {form} | {mean:.4f} | {spread:.4f} | {expected} |", flush=True)


if __name__ == "__main__":
    main()

"""Which K leaves the fewest errors: cross-validation on the codes, SelectorCV, or a fixed number?

Half of the rows of each data set select and train, the other half test. The errors are those of
three models that did not choose K: logistic regression, 5-NN and gradient boosting on the values.

python benchmarks/how_many.py --data FOLDER
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from common import markdown
from hocmim import RobustHOCMIM, SelectorCV

LARGEST = 50
MAX_ROWS, MAX_COLUMNS = 1500, 600
MODELS = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    "5-NN": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=25, random_state=0),
}


def numbers(X: np.ndarray, y: np.ndarray) -> dict[str, tuple[int, float]]:
    """K by every way to choose it, and the processor time."""
    most, found = min(LARGEST, X.shape[1]), {}
    ways = {
        '"cv"': lambda: RobustHOCMIM("cv", n_jobs=1).fit(X, y),
        "SelectorCV, best": lambda: SelectorCV(
            RobustHOCMIM(n_jobs=1), max_features=most, rule="best"
        ).fit(X, y),
        "SelectorCV, one-se": lambda: SelectorCV(
            RobustHOCMIM(n_jobs=1), max_features=most, rule="one-se"
        ).fit(X, y),
        '"significant"': lambda: RobustHOCMIM("significant", n_jobs=1).fit(X, y),
    }
    for name, choose in ways.items():
        began = time.process_time()
        found[name] = max(1, len(choose().selection_)), time.process_time() - began
    for fixed in (5, 10, 20, most):
        found["at most 50" if fixed == most else f"K = {fixed}"] = min(fixed, most), 0.0
    return found


def table_of(path: Path, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of a data set that are used."""
    stored, rng = np.load(path, allow_pickle=True), np.random.default_rng(seed)
    X, y = np.asarray(stored["X"], float), np.unique(stored["y"], return_inverse=True)[1]
    if X.shape[1] > MAX_COLUMNS:
        X = X[:, np.sort(rng.choice(X.shape[1], MAX_COLUMNS, replace=False))]
    rows = np.sort(rng.permutation(len(X))[:MAX_ROWS])
    rows = rows[np.isin(y[rows], np.flatnonzero(np.bincount(y[rows]) >= 4))]
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files with X, y")
    parser.add_argument("--sets", nargs="*", help="names of data sets; all by default")
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: dict[str, list[list[float]]] = {}
    paths = sorted(options.data.glob("*.npz"))
    for path in (path for path in paths if not options.sets or path.stem in options.sets):
        for split in range(options.splits):
            X, y = table_of(path, split)
            train, test, y_train, y_test = train_test_split(
                X, y, test_size=0.5, stratify=y, random_state=split
            )
            order = RobustHOCMIM(min(LARGEST, X.shape[1])).fit(train, y_train).selected_
            for name, (k, seconds) in numbers(train, y_train).items():
                columns = order[:k]
                errors = [
                    1 - make().fit(train[:, columns], y_train).score(test[:, columns], y_test)
                    for make in MODELS.values()
                ]
                rows.setdefault(name, []).append([k, seconds, *errors])
            print(path.stem, split, flush=True)
    n = len(next(iter(rows.values())))
    body = [
        [name, f"{mean[0]:.1f}", *(f"{e:.4f}" for e in mean[2:]), f"{mean[2:].mean():.4f}",
         f"{mean[1]:.2f}"]
        for name, mean in ((name, np.mean(found, axis=0)) for name, found in rows.items())
    ]  # fmt: skip
    body.sort(key=lambda row: row[-2])
    print(f"\n{n} tables\n")
    print(markdown(["K by", "mean K", *MODELS, "mean error", "processor time, s"], body))


if __name__ == "__main__":
    main()

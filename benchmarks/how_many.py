"""Which model, score and rule should choose K? Judged by models that did not choose it.

Half of the rows of each table select and train, the other half test. In five folds of the first
half HOCMIM-R searches the training rows, and models on the codes score every K up to 50 on the test
rows. Each variant is a model, a score and a rule. It is judged at its K on the second half of the
table by logistic regression, 5-NN and gradient boosting on the values.

--data is a folder of .csv files whose last column is the target. Some tables of known structure
are added: an exclusive or, a rare class, and noise. --json keeps what was measured, so that the
tables can be printed again without --data.

    python benchmarks/how_many.py --data FOLDER --json FILE [--names A B …]
    python benchmarks/how_many.py --json FILE [--write]
"""

from __future__ import annotations

import json
import time
import warnings
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import OneHotEncoder

from common import markdown, options_of, write_table
from hocmim import RobustHOCMIM
from hocmim.coding.encoded import Encoded, encode_table
from hocmim.search import validation
from hocmim.search.constraints import Constraints
from hocmim.search.search import search
from hocmim.selectors.models import AsNumbers

PAGE = "development/choose_k.md"
MAX_ROWS, MAX_COLUMNS, LARGEST = 3000, 400, 50
# The sizes that logistic regression is fitted with, since it is slow.
SOME_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 27, 36, 50)
SCORES = ("log probability", "balanced accuracy", "AUC")
RULES = ("best", "one-se")
TODAY = "5 nearest rows, log probability, best"
JUDGES = {
    "logistic": lambda: LogisticRegression(max_iter=200),
    "5-NN": lambda: KNeighborsClassifier(5),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=25, random_state=0),
}


# --- tables ---------------------------------------------------------------------------------------


def known_tables() -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Tables of known structure."""
    rng = np.random.default_rng(1)
    X = rng.random((2000, 20))
    xor = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5) ^ (rng.random(2000) < 0.1)
    yield "xor", pd.DataFrame(X), xor.astype(int)
    X = rng.normal(size=(3000, 20))
    odds = 1 / (1 + np.exp(8 - 2 * X[:, 0] - 2 * X[:, 1] - X[:, 2]))
    yield "rare", pd.DataFrame(X), (rng.random(3000) < odds).astype(int)
    for seed, share in enumerate((0.5, 0.1, 0.01)):
        X = np.random.default_rng(seed).normal(size=(2000, 20))
        y = (np.random.default_rng(seed + 9).random(2000) < share).astype(int)
        yield f"noise {share:g}", pd.DataFrame(X), y


def tables_of(folder: Path, names: list[str] | None) -> Iterator[tuple[str, pd.DataFrame, Any]]:
    """The tables of a folder and the known ones: at most 3000 rows and 400 columns of each."""
    rng = np.random.default_rng(0)
    stored = ((path.stem, pd.read_csv(path)) for path in sorted(folder.glob("*.csv")))
    read = ((name, frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()) for name, frame in stored)
    for name, X, y in (*known_tables(), *read):
        if names and name not in names:
            continue
        rows = rng.permutation(len(y))[:MAX_ROWS]
        values, counts = np.unique(y[rows], return_counts=True)
        rows = rows[np.isin(y[rows], values[counts >= 4])]
        columns = np.sort(rng.permutation(X.shape[1])[:MAX_COLUMNS])
        yield name, X.iloc[rows, columns], np.unique(y[rows], return_inverse=True)[1]


# --- the models that choose -----------------------------------------------------------------------


Fold = tuple[np.ndarray, np.ndarray, list[int], list[int]]  # train, test, features, ordered levels


def searched_folds(encoded: Encoded) -> list[Fold]:
    """The folds of ``cross_validate``, and what HOCMIM-R selects in each."""
    rng, n_rows = np.random.default_rng(validation.SEED), encoded.n_samples
    folds = validation._folds(encoded.target.column.codes, np.arange(n_rows), rng)
    most, found = min(LARGEST, len(encoded.features)), []
    for fold in range(folds.max() + 1):
        train = rng.permutation(np.flatnonzero(folds != fold))
        criterion, limits = RobustHOCMIM().make_criterion(), Constraints(len(encoded.features))
        selection = search(encoded.take(train), criterion, limits, most, n_jobs=1)
        ordered = validation._n_ordered(encoded, selection)
        test = np.flatnonzero(folds == fold)
        found.append((train, test, selection.indices.tolist(), ordered))
    return found


def prior_of(y: np.ndarray, n_classes: int) -> np.ndarray:
    return (np.bincount(y, minlength=n_classes) + 1 / n_classes) / (len(y) + 1)


def by_nearest_rows(encoded: Encoded, fold: Fold, root: bool) -> dict[int, np.ndarray]:
    """The probabilities of the classes for each K: 5 nearest rows, or the root of their number."""
    train, test, chosen, ordered = fold
    columns = [encoded.codes.column(k) for k in chosen]
    n_near = round(np.sqrt(len(train))) if root else 5
    near = np.empty((len(columns), len(test), n_near), np.int32)
    distance = np.zeros((len(test), len(train)), np.int32)
    for place, (column, n) in enumerate(zip(columns, ordered, strict=True)):
        codes, apart = column.codes.astype(np.uint16), validation._distances(column.arity, n)
        validation._native.grow_nearest(codes[train], codes[test], apart, distance, near[place])
    y, n_classes = encoded.target.column.codes, encoded.target.column.arity
    found, prior = {}, prior_of(y[train], n_classes)
    for size in range(1, len(columns) + 1):
        votes = np.stack([(y[train][near[size - 1]] == c).sum(axis=1) for c in range(n_classes)], 1)
        found[size] = (votes + prior) / (n_near + 1)
    return found


def by_naive_bayes(encoded: Encoded, fold: Fold) -> dict[int, np.ndarray]:
    train, test, chosen, _ = fold
    y, n_classes = encoded.target.column.codes, encoded.target.column.arity
    total = np.tile(np.log(prior_of(y[train], n_classes)), (len(test), 1))
    found = {}
    for size, k in enumerate(chosen, 1):
        column = encoded.codes.column(k)
        cells = np.bincount(
            y[train].astype(np.int64) * column.arity + column.codes[train],
            minlength=n_classes * column.arity,
        ).reshape(n_classes, column.arity)
        log_p = np.log((cells + 1 / column.arity) / (cells.sum(axis=1, keepdims=True) + 1))
        total = total + log_p[:, column.codes[test]].T
        p = np.exp(total - total.max(axis=1, keepdims=True))
        found[size] = p / p.sum(axis=1, keepdims=True)
    return found


def by_logistic_regression(encoded: Encoded, fold: Fold) -> dict[int, np.ndarray]:
    train, test, chosen, _ = fold
    y, n_classes = encoded.target.column.codes, encoded.target.column.arity
    codes = np.column_stack([encoded.codes.column(k).codes for k in chosen]).astype(np.int64)
    found = {}
    for size in sorted({min(size, len(chosen)) for size in SOME_SIZES}):
        hot = OneHotEncoder(handle_unknown="ignore").fit(codes[train, :size])
        fitted = LogisticRegression(max_iter=50).fit(hot.transform(codes[train, :size]), y[train])
        p = np.full((len(test), n_classes), 1e-6)
        p[:, fitted.classes_] = fitted.predict_proba(hot.transform(codes[test, :size]))
        found[size] = p / p.sum(axis=1, keepdims=True)
    return found


def by_near_rows_and_prior(
    encoded: Encoded, folds: list[Fold], ties: bool
) -> list[dict[int, np.ndarray]]:
    """5 nearest rows, or all that are as near, and the best number of votes for the prior.

    That number is the best in the other folds.
    """
    y, n_classes = encoded.target.column.codes.astype(np.int64), encoded.target.column.arity
    hot = np.eye(n_classes, dtype=np.float32)[y]
    priors = [prior_of(y[train], n_classes) for train, _, _, _ in folds]
    votes: list[list[np.ndarray]] = []
    for train, test, chosen, ordered in folds:
        distance, votes_of = np.zeros((len(test), len(train)), np.int32), []
        near = np.empty((len(test), 5), np.int32)
        for k, n in zip(chosen, ordered, strict=True):
            column = encoded.codes.column(k)
            codes, apart = column.codes.astype(np.uint16), validation._distances(column.arity, n)
            validation._native.grow_nearest(codes[train], codes[test], apart, distance, near)
            if ties:
                limit = np.take_along_axis(distance, near, 1).max(axis=1, keepdims=True)
                votes_of.append((distance <= limit).astype(np.float32) @ hot[train])
            else:
                votes_of.append(hot[train][near].sum(axis=1))
        votes.append(votes_of)
    made: list[dict[int, np.ndarray]] = [{} for _ in folds]
    for size in range(1, min(map(len, votes)) + 1):
        found = [one[size - 1] for one in votes]

        def p(at: int, w: float) -> np.ndarray:
            return (found[at] + w * priors[at]) / (found[at].sum(axis=1, keepdims=True) + w)  # noqa: B023

        sums = np.array([[log_p(p(at, w), y[fold[1]]).sum() for w in validation.PRIOR_VOTES]
                         for at, fold in enumerate(folds)])  # fmt: skip
        for at in range(len(folds)):
            w = validation.PRIOR_VOTES[int((sums.sum(axis=0) - sums[at]).argmax())]
            made[at][size] = p(at, w)
    return made


MODELS = {
    "5 nearest rows": lambda encoded, folds: [by_nearest_rows(encoded, f, False) for f in folds],
    "5 nearest rows, prior": lambda encoded, folds: by_near_rows_and_prior(encoded, folds, False),
    "5 nearest, ties, prior": lambda encoded, folds: by_near_rows_and_prior(encoded, folds, True),
    "√N nearest rows": lambda encoded, folds: [by_nearest_rows(encoded, f, True) for f in folds],
    "naive Bayes": lambda encoded, folds: [by_naive_bayes(encoded, f) for f in folds],
    "logistic regression": lambda encoded, folds: [
        by_logistic_regression(encoded, f) for f in folds
    ],
}


def log_p(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(p[np.arange(len(y)), y], 1e-12))


def score(name: str, p: np.ndarray, y: np.ndarray) -> float:
    if name == "log probability":
        return float(log_p(p, y).mean())
    present = [c for c in range(p.shape[1]) if 0 < (y == c).sum() < len(y)]
    if name == "balanced accuracy":
        guess = p.argmax(axis=1)
        return float(np.mean([(guess[y == c] == c).mean() for c in present]))
    areas = []
    for c in present:
        n = (y == c).sum()
        ranks = rankdata(p[:, c])[y == c].sum()
        areas.append((ranks - n * (n + 1) / 2) / (n * (len(y) - n)))
    return float(np.mean(areas))


def choices(encoded: Encoded) -> dict[str, Any]:
    """K of each variant, its gain over K = 0 in standard errors, and the time of each model."""
    began = time.process_time()
    folds = searched_folds(encoded)
    seconds = {"search": time.process_time() - began}
    y, n_classes = encoded.target.column.codes.astype(np.int64), encoded.target.column.arity
    chosen: dict[str, tuple[int, float]] = {}
    for model, predict in MODELS.items():
        began = time.process_time()
        found = predict(encoded, folds)
        seconds[model] = time.process_time() - began
        sizes = np.array(sorted(set.intersection(*(set(one) for one in found))))
        for measure in SCORES:
            scores, none = np.empty((len(folds), len(sizes))), np.empty(len(folds))
            for at, (train, test, _, _) in enumerate(folds):
                scores[at] = [score(measure, found[at][size], y[test]) for size in sizes]
                prior = np.tile(prior_of(y[train], n_classes), (len(test), 1))
                none[at] = score(measure, prior, y[test])
            mean = scores.mean(axis=0).round(12)
            best = int(mean.argmax())
            error = scores[:, best].std(ddof=1) / np.sqrt(len(folds))
            least = int(np.argmax(mean >= mean[best] - error))
            for rule, place in zip(RULES, (best, least), strict=True):
                gain = scores[:, place] - none
                if measure == "log probability":  # known for each row
                    gain = np.concatenate([
                        log_p(p[sizes[place]], y[test]) - np.log(prior_of(y[train], n_classes))[y[test]]
                        for p, (train, test, _, _) in zip(found, folds, strict=True)
                    ])  # fmt: skip
                z = gain.mean() / (gain.std(ddof=1) / np.sqrt(len(gain)) or 1.0)
                chosen[f"{model}, {measure}, {rule}"] = int(sizes[place]), float(z)
    return {"chosen": chosen, "seconds": seconds}


# --- judges ---------------------------------------------------------------------------------------


def judged(train: Any, test: Any, y_train: np.ndarray, y_test: np.ndarray) -> dict[str, list]:
    """The error and the log loss of each judge on some columns."""
    numbers = AsNumbers().fit(train)
    a, b, found = numbers.transform(train), numbers.transform(test), {}
    for name, make in JUDGES.items():
        fitted = make().fit(a, y_train)
        p = np.full((len(y_test), y_train.max() + 1), 0.0)
        p[:, fitted.classes_] = fitted.predict_proba(b)
        error = float((p.argmax(axis=1) != y_test).mean())
        loss = log_loss(y_test, np.clip(p, 1e-3, 1), labels=np.arange(p.shape[1]))
        found[name] = [error, float(loss)]
    return found


def measure(options: Namespace) -> list[dict[str, Any]]:
    """What every variant chooses for each table, and how the judges find it."""
    results = []
    for name, X, y in tables_of(options.data, options.names):
        began = time.process_time()
        train, test, y_train, y_test = train_test_split(
            X, y, test_size=0.5, stratify=y, random_state=0
        )
        most = min(LARGEST, X.shape[1])
        encoded = encode_table(train, y_train)
        found = choices(encoded)
        order = RobustHOCMIM(most, n_jobs=1).fit(train, y_train).selected_
        for k in (5, 10, 20, most):
            title = "at most 50" if k == most else f"K = {k}"
            found["chosen"].setdefault(title, (min(k, most), 0.0))
        significant = len(RobustHOCMIM("significant", n_jobs=1).fit(train, y_train).selected_)
        found["chosen"]['"significant"'] = max(1, significant), 0.0
        prior = np.tile(prior_of(y_train, y.max() + 1), (len(y_test), 1))
        none = log_loss(y_test, prior, labels=np.arange(prior.shape[1]))
        found["none"] = [float((y_test != prior[0].argmax()).mean()), float(none)]
        found["judges"] = {
            str(k): judged(train.iloc[:, order[:k]], test.iloc[:, order[:k]], y_train, y_test)
            for k in sorted({k for k, _ in found["chosen"].values()})
        }
        shape = [*X.shape, int(y.max() + 1), float(np.bincount(y).min() / len(y))]
        results.append({"table": name, "shape": shape, **found})
        print(name, shape, f"{time.process_time() - began:.0f} s", flush=True)
        options.json.write_text(json.dumps(results))
    return results


# --- tables of results ----------------------------------------------------------------------------


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--data", type=Path, help="folder of .csv files; the target is last")
    parser.add_argument("--json", type=Path, required=True, help="file for what was measured")
    parser.add_argument("--names", nargs="*", help="some of the tables; all by default")
    options = parser.parse_args()
    results = json.loads(options.json.read_text()) if options.data is None else measure(options)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

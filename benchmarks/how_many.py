"""Which model, score and rule should choose K? Judged by models that did not choose it.

Half of the rows of each table select and train, the other half test. In five folds of the first
half HOCMIM-R searches the training rows, and models on the codes score every K up to 50 on the test
rows. Each variant is a model, a score and a rule. It is judged at its K on the second half of the
table by logistic regression, 5-NN and gradient boosting on the values.

K is 1 if a variant's gain over K = 0 is below two standard errors: of the rows for the log
probability, of the folds for other scores. On 30 tables of noise that has to be so.

--data is a folder of .csv files whose last column is the target; an exclusive or and a rare class
are added. --json keeps what was measured, so that the tables can be made again without --data.
--write puts them into docs/development/choose_k.md.

    python benchmarks/how_many.py --data FOLDER --json FILE [--names A B …] [--write]
    python benchmarks/how_many.py --json FILE [--write]
    HOCMIM_DATA=FOLDER python benchmarks/how_many.py --paper [--write]

--paper judges the rule as it is on the data sets of the published experiment, which had no part in
its choice: one half of the rows selects, chooses K and trains; 3-NN and a linear SVM, as in the
experiment, test on the other half. HOCMIM_DATA is the folder of these data sets.
"""

from __future__ import annotations

import json
import os
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
from sklearn.svm import LinearSVC

from common import markdown, options_of, read_data, write_result, write_table
from hocmim import RobustHOCMIM
from hocmim.coding.encoded import Encoded, encode_table
from hocmim.coding.encoder import Encoder
from hocmim.experiments.classifiers import knn_curve, svm_curve
from hocmim.search import validation
from hocmim.search.constraints import Constraints
from hocmim.search.search import search
from hocmim.selectors.models import NumericTransformer

PAGE = "development/choose_k.md"
MAX_ROWS, MAX_COLUMNS, LARGEST = 3000, 400, 50
# The sizes that logistic regression is fitted with, since it is slow.
SOME_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 27, 36, 50)
SCORES = ("log probability", "balanced accuracy", "AUC")
RULES = ("best", "one-se")
N_NOISE, MIN_GAIN = 30, 2.0
N_SPLITS = 5  # of each data set of the paper
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
    for seed in range(N_NOISE):
        rng = np.random.default_rng(seed)
        y = rng.random(1000) < (0.5, 0.1, 0.01)[seed % 3]
        yield f"noise {seed}", pd.DataFrame(rng.normal(size=(1000, 20))), y.astype(int)


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


def distances(encoded: Encoded, fold: Fold) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The distances of test and training rows for each K, and that of the fifth nearest."""
    train, test, chosen, ordered = fold
    distance, limit = np.zeros((len(test), len(train)), np.int32), np.empty(len(test), np.int32)
    for k, n in zip(chosen, ordered, strict=True):
        column = encoded.codes.column(k)
        codes, apart = column.codes.astype(np.uint16), validation._distances(column.arity, n)
        validation._native.grow_nearest(codes[train], codes[test], apart, 5, distance, limit)
        yield distance, limit


def by_nearest_rows(encoded: Encoded, fold: Fold, n_near: int) -> dict[int, np.ndarray]:
    """The probabilities of the classes for each K: a vote of the nearest rows and of the prior."""
    y, n_classes = encoded.target.column.codes.astype(np.int64), encoded.target.column.arity
    hot, prior, found = np.eye(n_classes)[y[fold[0]]], prior_of(y[fold[0]], n_classes), {}
    for size, (distance, _) in enumerate(distances(encoded, fold), 1):
        near = np.argpartition(distance, n_near - 1, axis=1)[:, :n_near]
        found[size] = (hot[near].sum(axis=1) + prior) / (n_near + 1)
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


def by_all_near_rows(encoded: Encoded, folds: list[Fold]) -> list[dict[int, np.ndarray]]:
    """All rows as near as the fifth, and the votes for the prior that are best in other folds."""
    y, n_classes = encoded.target.column.codes.astype(np.int64), encoded.target.column.arity
    hot = np.eye(n_classes, dtype=np.float32)[y]
    priors = [prior_of(y[fold[0]], n_classes) for fold in folds]
    votes = [
        [
            (distance <= limit[:, None]).astype(np.float32) @ hot[fold[0]]
            for distance, limit in distances(encoded, fold)
        ]
        for fold in folds
    ]
    made: list[dict[int, np.ndarray]] = [{} for _ in folds]
    for size in range(1, min(map(len, votes)) + 1):
        p = [
            [(v[size - 1] + w * prior) / (v[size - 1].sum(axis=1, keepdims=True) + w)
             for w in validation.PRIOR_VOTES]
            for v, prior in zip(votes, priors, strict=True)
        ]  # fmt: skip
        sums = np.array([[log_p(one, y[fold[1]]).sum() for one in of_fold]
                         for of_fold, fold in zip(p, folds, strict=True)])  # fmt: skip
        for at, best in enumerate((sums.sum(axis=0) - sums).argmax(axis=1)):
            made[at][size] = p[at][best]
    return made


def each_fold(predict: Any) -> Any:
    return lambda encoded, folds: [predict(encoded, fold) for fold in folds]


CHOSEN = "nearest rows and prior"
MODELS = {
    CHOSEN: by_all_near_rows,
    "5 nearest rows": each_fold(lambda encoded, fold: by_nearest_rows(encoded, fold, 5)),
    "√N nearest rows": each_fold(
        lambda encoded, fold: by_nearest_rows(encoded, fold, round(np.sqrt(len(fold[0]))))
    ),
    "naive Bayes": each_fold(by_naive_bayes),
    "logistic regression": each_fold(by_logistic_regression),
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
                        log_p(p[sizes[place]], y[test])
                        - np.log(prior_of(y[train], n_classes))[y[test]]
                        for p, (train, test, _, _) in zip(found, folds, strict=True)
                    ])  # fmt: skip
                z = gain.mean() / (gain.std(ddof=1) / np.sqrt(len(gain)) or 1.0)
                chosen[f"{model}, {measure}, {rule}"] = int(sizes[place]), float(z)
    return {"chosen": chosen, "seconds": seconds}


# --- judges ---------------------------------------------------------------------------------------


def judged(train: Any, test: Any, y_train: np.ndarray, y_test: np.ndarray) -> dict[str, list]:
    """The error and the log loss of each judge on some columns."""
    numbers = NumericTransformer().fit(train)
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
        shape = [*X.shape, int(y.max() + 1), float(np.bincount(y).min() / len(y))]
        results.append({"table": name, "shape": shape, **found})
        if not name.startswith("noise"):
            order = RobustHOCMIM(most, n_jobs=1).fit(train, y_train).selected_
            for k in (5, 10, 20, LARGEST):
                found["chosen"][f"K = {k}"] = min(k, most), np.inf
            significant = len(RobustHOCMIM("significant", n_jobs=1).fit(train, y_train).selected_)
            found["chosen"]["significant"] = max(1, significant), np.inf
            prior = np.tile(prior_of(y_train, y.max() + 1), (len(y_test), 1))
            results[-1]["none"] = log_loss(y_test, prior, labels=np.arange(prior.shape[1]))
            results[-1]["judges"] = {
                str(k): judged(train.iloc[:, order[:k]], test.iloc[:, order[:k]], y_train, y_test)
                for k in sorted({1, *(k for k, _ in found["chosen"].values())})
            }
        print(name, shape, f"{time.process_time() - began:.0f} s", flush=True)
        options.json.write_text(json.dumps(results))
    return results


# --- the data sets of the paper -------------------------------------------------------------------


def curves(train: Any, y_train: Any, test: Any, y_test: Any) -> np.ndarray:
    """The errors of 3-NN and of the linear SVM with the first 1, 2, … columns."""
    found = [predict(train, y_train, test) for predict in (knn_curve, svm_curve)]
    return np.array([(one != y_test).mean(axis=1) for one in found])


def judge_paper_set(X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, Any]:
    """K of each rule and the errors of both judges for one split of at most 3000 rows."""
    rows = np.random.default_rng(seed).permutation(len(y))[:MAX_ROWS]
    train, test = np.array_split(rows, 2)
    y_train, y_test = y[train].astype(np.int32), y[test].astype(np.int32)

    def selected(k: Any) -> list[int]:
        return RobustHOCMIM(k, n_jobs=1).fit(X[train], y_train).selected_.tolist()

    encoder = Encoder(identifiers="keep").fit(X[train])
    coded = (encoder.transform(X[part]) for part in (train, test))
    a, b = (
        np.column_stack([one.column(j).codes for j in range(X.shape[1])]).astype(float)
        for one in coded
    )
    ranking = selected(min(LARGEST, X.shape[1]))
    errors = curves(a[:, ranking], y_train, b[:, ranking], y_test)
    found = {"best": [int(errors.mean(axis=0).argmin()) + 1, errors[:, errors.mean(0).argmin()]]}
    for rule in ("cv", 10, "significant"):
        # Without any significant column, one has to do.
        columns = selected(min(rule, X.shape[1]) if rule == 10 else rule) or ranking[:1]
        is_start = columns == ranking[: len(columns)]
        of_rule = errors if is_start else curves(a[:, columns], y_train, b[:, columns], y_test)
        found[str(rule)] = [len(columns), of_rule[:, len(columns) - 1]]
    svm = LinearSVC(dual=False).fit(a, y_train)
    everything = [(knn_curve(a, y_train, b)[-1] != y_test).mean(), 1 - svm.score(b, y_test)]
    found["all"] = [X.shape[1], everything]
    return found


def paper_table(folder: Path) -> str:
    """For each data set: K by "cv", and the mean errors of each rule."""
    rules = {"cv": '"cv"', "best": "best K", "10": "K = 10", "significant": '"significant"',
             "all": "all columns"}  # fmt: skip
    rows, values = [], []
    for name, (X, y) in read_data(folder).items():
        began = time.process_time()
        splits = [judge_paper_set(X, y, seed) for seed in range(N_SPLITS)]
        k = {rule: np.mean([one[rule][0] for one in splits]) for rule in rules}
        errors = np.array([np.mean([one[rule][1] for one in splits], axis=0) for rule in rules])
        values.append(errors)
        sizes = [f"{k[rule]:.0f}" for rule in ("cv", "best", "significant", "all")]
        rows.append([name, *sizes, *(f"{one:.3f}" for one in errors.mean(axis=1))])
        print(*rows[-1], f"{time.process_time() - began:.0f} s", flush=True)
    both = np.array(values)
    for title, of_judge in (("mean", both.mean(axis=2)), ("mean, 3-NN", both[:, :, 0]),
                            ("mean, linear SVM", both[:, :, 1])):  # fmt: skip
        rows.append([title, *[""] * 4, *(f"{one:.4f}" for one in of_judge.mean(axis=0))])
    difference = (both - both[:, :1]).mean(axis=2)
    intervals = [interval(difference[:, at]) for at in range(1, len(rules))]
    rows.append(['minus "cv"', *[""] * 4, "", *intervals])
    sign = np.sign(difference.round(9))
    counts = [[(sign[:, at] == one).sum() for one in (1, 0, -1)] for at in range(1, len(rules))]
    rows.append(
        ['"cv" lower, equal, higher', *[""] * 5, *("{}, {}, {}".format(*c) for c in counts)]
    )
    header = ["data set", 'K by "cv"', "best K", 'K by "significant"', "columns",
              *(f"error, {title}" for title in rules.values())]  # fmt: skip
    return markdown(header, rows)


# --- tables of results ----------------------------------------------------------------------------


def final_k(result: dict[str, Any], variant: str) -> int:
    """K of a variant: 1 if it does not beat K = 0."""
    k, gain = result["chosen"][variant]
    return k if gain > MIN_GAIN else 1


def judgement(result: dict[str, Any], variant: str) -> list[float]:
    """The errors of the three judges, their mean, and the mean log loss of two of them.

    The probabilities of 5-NN are too coarse for a log loss.
    """
    judges = result["judges"][str(final_k(result, variant))]
    errors = [judges[name][0] for name in JUDGES]
    return [*errors, np.mean(errors), np.mean([judges[n][1] for n in ("logistic", "boosting")])]


def has_signal(result: dict[str, Any]) -> bool:
    """Whether a judge beats the frequencies of the classes with some number of columns."""
    judges = result["judges"].values()
    return min(one[name][1] for one in judges for name in JUDGES) < result["none"]


def nested(values: np.ndarray) -> tuple[float, list[int]]:
    """The mean over tables of the variant that is best on all other tables, and these variants."""
    best = [int(np.delete(values, at, axis=0).mean(axis=0).argmin()) for at in range(len(values))]
    return float(values[np.arange(len(values)), best].mean()), best


def interval(differences: np.ndarray) -> str:
    """Mean and 95 % bootstrap interval over the tables."""
    draws = np.random.default_rng(0).choice(differences, (10_000, len(differences))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{differences.mean():+.4f} [{low:+.4f}, {high:+.4f}]"


def tables(results: list[dict[str, Any]]) -> dict[str, str]:
    """The table of variants and that of the nested choice."""
    judged = [one for one in results if "judges" in one]
    noise = [one for one in results if "judges" not in one]
    variants = list(noise[0]["chosen"])
    fixed = [name for name in judged[0]["chosen"] if name not in variants]
    values = np.array([[judgement(one, name) for name in [*variants, *fixed]] for one in judged])
    shipped = variants.index(f"{CHOSEN}, log probability, best")
    signal = [one for one in judged if has_signal(one)]
    seconds = {name: np.mean([one["seconds"][name] for one in judged]) for name in MODELS}
    rows = []
    for at, name in enumerate([*variants, *fixed]):
        mean = values[:, at].mean(axis=0)
        k = np.mean([final_k(one, name) for one in judged])
        is_fixed = name in fixed
        denied = sum(one["chosen"][name][1] <= MIN_GAIN for one in signal)
        claimed = 0 if is_fixed else sum(one["chosen"][name][1] > MIN_GAIN for one in noise)
        said = ["–", "–"] if is_fixed else [f"{denied} of {len(signal)}", f"{claimed}"]
        time_of = "–" if is_fixed else f"{seconds[name.split(',')[0]]:.2f}"
        difference = "–" if at == shipped else interval(values[:, at, 3] - values[:, shipped, 3])
        rows.append([name, f"{k:.1f}", *(f"{one:.4f}" for one in mean[3:]), difference, *said,
                     time_of])  # fmt: skip
    rows.sort(key=lambda row: row[2])
    header = ["K by", "mean K", "error", "log loss", "error, minus the chosen one",
              "calls signal noise", f"calls noise signal, of {len(noise)}", "s"]  # fmt: skip
    of_variants = values[:, : len(variants)]
    body = []
    for title, at in (("error", 3), ("log loss", 4)):
        mean, best = nested(of_variants[:, :, at])
        names = [f"{variants[k]} ({best.count(k)})" for k in sorted(set(best), key=best.count)]
        shipped_mean = of_variants[:, shipped, at].mean()
        body.append([title, ", ".join(names[::-1]), f"{mean:.4f}", f"{shipped_mean:.4f}"])
    titles = ["chosen by", "variant that is best on the others (times)", "nested", "the chosen one"]
    return {"variants": markdown(header, rows), "leave-one-out": markdown(titles, body)}


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--data", type=Path, help="folder of .csv files; the target is last")
    parser.add_argument("--json", type=Path, help="file for what was measured")
    parser.add_argument("--paper", action="store_true", help="judge the data sets of the paper")
    parser.add_argument("--names", nargs="*", help="some of the tables; all by default")
    options = parser.parse_args()
    if options.paper:
        folder = os.environ.get("HOCMIM_DATA")
        if not folder:
            print("Skipped: HOCMIM_DATA does not name the folder of the paper's data sets.")
            return
        text = paper_table(Path(folder))
        print(f"\n{text}")
        if options.write:
            write_result("how_many.md", "K by cross-validation on the data sets of the paper", text)
            write_table(PAGE, "paper", text)
        return
    if options.json is None:
        parser.error("--json or --paper is needed")
    results = json.loads(options.json.read_text()) if options.data is None else measure(options)
    for name, text in tables(results).items():
        print(f"\n{text}")
        if options.write:
            write_table(PAGE, name, text)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

"""Does choosing K and the method by cross-validation pay? Nested cross-validation, and times.

The outer folds measure the error of a 3-NN; all choices are made on the training rows of an outer
fold, by SelectorCV with six inner splits. --data is a folder of .npz files with X and y, such as
the data sets of the published experiment; sets of more than 2000 rows or 1000 columns are left out.
--write puts the tables into docs/development/choose_k.md.

    python benchmarks/choose_k.py --data FOLDER [--quick] [--write]
    python benchmarks/choose_k.py --times [--quick] [--write]
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import hocmim
from common import (
    TableSpec,
    classes,
    least_seconds,
    markdown,
    options_of,
    read_data,
    table,
    write_table,
)
from hocmim import SelectorCV
from hocmim.selectors.choice import Curve, choose_size, order_choices
from hocmim.selectors.curves import first_columns
from hocmim.selectors.models import AsNumbers

METHODS = ("HOCMIM-R", "HOCMIM", "CMIM", "JMI", "mRMR", "DISR", "MIM")
MOST_ROWS, MOST_COLUMNS = 2000, 1000
FIXED, LARGEST = 10, 15
SEED = 2022
PAGE = "development/choose_k.md"


def curves_of(found: SelectorCV) -> list[Curve]:
    """The inner curves, from cv_results_."""
    results = found.cv_results_
    splits = [results[f"split{i}_test_score"] for i in range(found.n_splits_)]
    curves = []
    for name in METHODS:
        own = results["selector"] == name
        scores = np.array([values[own] for values in splits])
        curves.append(Curve(name, results["n_features"][own], scores))
    return curves


def outer_errors(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict:
    """The error on the test rows of every way to choose, all chosen on the training rows."""
    most = min(LARGEST, X.shape[1])
    fixed = min(FIXED, most)
    model = make_pipeline(AsNumbers(), KNeighborsClassifier(3))
    selectors = {name: hocmim.make_selector(name) for name in METHODS}
    inner = SelectorCV(selectors, max_features=most, cv=6, target="classes")
    curves = curves_of(inner.fit(X[train], y[train]))
    longest = {
        name: clone(one).set_params(n_features_to_select=most, target="classes")
        for name, one in selectors.items()
    }
    for one in longest.values():
        one.fit(X[train], y[train])

    def error(name: str, K: int) -> float:
        columns = list(first_columns(longest[name], K))
        fitted = clone(model).fit(X[train][:, columns], y[train])
        return float(1 - fitted.score(X[test][:, columns], y[test]))

    errors, sizes = {}, {}
    for curve in curves:
        errors[curve.name, "K = 10"], sizes[curve.name, "K = 10"] = error(curve.name, fixed), fixed
        for rule in ("best", "one-se"):
            K = choose_size(curve, rule).n_features
            errors[curve.name, rule], sizes[curve.name, rule] = error(curve.name, K), K
    at_fixed = [Curve(c.name, c.sizes[[fixed - 1]], c.scores[:, [fixed - 1]]) for c in curves]
    ways = (("K = 10", at_fixed, "best"), ("best", curves, "best"), ("one-se", curves, "one-se"))
    for title, given, rule in ways:
        chosen = order_choices(given, rule)[0]
        errors["chosen", title] = error(chosen.selector, chosen.n_features)
        sizes["chosen", title] = chosen.n_features
    return {key: (errors[key], sizes[key]) for key in errors}


def interval(differences: np.ndarray, rng: np.random.Generator) -> str:
    """Mean and 95 % bootstrap interval over the data sets."""
    draws = rng.choice(differences, (10_000, len(differences))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{differences.mean():+.4f} [{low:+.4f}, {high:+.4f}]"


def nested(folder: Path, quick: bool, write: bool) -> None:
    """Print, and write after each data set, the table of ways to choose and that of data sets."""
    sets = {
        name: (X, y)
        for name, (X, y) in read_data(folder).items()
        if X.shape[0] <= MOST_ROWS and X.shape[1] <= MOST_COLUMNS
    }
    if quick:
        sets = dict(list(sets.items())[:2])
    rows: dict[str, dict] = {}
    for name, (X, y) in sets.items():
        began = time.perf_counter()
        folds = StratifiedKFold(2 if quick else 3, shuffle=True, random_state=SEED).split(X, y)
        found = [outer_errors(X, y, train, test) for train, test in folds]
        rows[name] = {key: np.mean([one[key] for one in found], axis=0) for key in found[0]}
        print(name, X.shape, f"{time.perf_counter() - began:.0f} s", flush=True)
        made = dict(zip(("nested", "sets"), nested_tables(rows), strict=True))
        for text in made.values():
            print(text, flush=True)
        if write:
            write_table(PAGE, "nested", made["nested"])


def nested_tables(rows: dict[str, dict]) -> tuple[str, str]:
    """Return the table of ways to choose, and the table of data sets."""
    keys = list(next(iter(rows.values())))
    errors = {key: np.array([rows[name][key][0] for name in rows]) for key in keys}
    sizes = {key: np.mean([rows[name][key][1] for name in rows]) for key in keys}
    single = min((k for k in keys if k[0] != "chosen" and k[1] == "K = 10"),
                 key=lambda k: errors[k].mean())  # fmt: skip
    default = (METHODS[0], "K = 10")
    others = [default, single]
    n_shown = len(set(others))  # the default may be the best single method
    titles = [f"minus {who}, {how}" for who, how in others[:n_shown]]
    rng, ways = np.random.default_rng(SEED), []
    for key in keys:
        who = "chosen of the seven" if key[0] == "chosen" else key[0]
        against = [
            "–" if key == other else interval(errors[key] - errors[other], rng) for other in others
        ]
        figures = [f"{errors[key].mean():.4f}", f"{sizes[key]:.1f}"]
        ways.append([who, key[1], *figures, *against[:n_shown]])
    shown = [default, single, (METHODS[0], "one-se"), ("chosen", "K = 10"), ("chosen", "best"),
             ("chosen", "one-se")]  # fmt: skip
    shown = list(dict.fromkeys(shown))
    by_set = [
        [name, *(f"{rows[name][key][0]:.3f} ({rows[name][key][1]:.1f})" for key in shown)]
        for name in rows
    ]
    return (
        markdown(["selector", "K", "mean error", "mean K", *titles], ways),
        markdown(["data set", *(f"{who}, {how}" for who, how in shown)], by_set),
    )


def times(quick: bool) -> str:
    large = TableSpec("times", 300, 60) if quick else TableSpec("times", 2000, 1000)
    small = TableSpec("times", 200, 20) if quick else TableSpec("times", 500, 60)
    rows = []

    def add(spec: TableSpec, title: str, fit, repeats: int = 1) -> None:
        shape = f"{spec.n_samples} × {spec.n_columns}"
        [seconds] = least_seconds([fit], 0.0, time.process_time, repeats)
        rows.append([shape, title, f"{seconds:.2f}"])

    X, y = table(large, np.float64), classes(large)
    plain = hocmim.make_selector("HOCMIM-R", n_features_to_select=30)
    add(large, "one fit of HOCMIM-R, K = 30", lambda: clone(plain).fit(X, y), 3)
    add(large, "SelectorCV(RobustHOCMIM()), 5 folds, K up to 30", lambda: SelectorCV().fit(X, y), 3)
    X, y = table(small, np.float64), classes(small)
    knn, linear = KNeighborsClassifier(3), LogisticRegression(max_iter=1000)
    most = 5 if quick else 10
    add(small, f"SelectorCV, 3-NN, 5 folds, K up to {most}",
        lambda: SelectorCV(estimator=knn, max_features=most).fit(X, y))  # fmt: skip
    add(small, "SelectorCV, logistic regression, 5 folds, all K",
        lambda: SelectorCV(estimator=linear, max_features=None).fit(X, y))  # fmt: skip
    add(small, "RFECV, logistic regression, 5 folds, all K", lambda: RFECV(linear, cv=5).fit(X, y))
    sequential = SequentialFeatureSelector(knn, n_features_to_select=most, cv=5)
    add(small, f"SequentialFeatureSelector, 3-NN, 5 folds, K = {most}",
        lambda: clone(sequential).fit(X, y))  # fmt: skip
    return markdown(["table", "what", "processor time, s"], rows)


def main() -> None:
    parser = options_of(__doc__, data=True)
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    if options.times:
        text = times(options.quick)
        print(text)
        if options.write:
            write_table(PAGE, "times", text)
    elif options.data is not None:
        nested(options.data, options.quick, options.write)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

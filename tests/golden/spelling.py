"""How each case of the golden record is written in Python: the only module that calls hocmim.

``run(case, folder)`` returns what is recorded of a case, as numbers, names and lists of them. Only
public names are used. If a parameter gets another name, this module follows; the cases and the
record stay.
"""

import pickle
import re
from contextlib import contextmanager
from importlib.metadata import version

import numpy as np
import pandas as pd

import hocmim
from golden.tables import as_frame, row_groups, table, weights

K = 6


class Inexact(list):
    """Numbers whose last bits depend on the versions of numpy, scipy and scikit-learn, and BLAS."""


class Unread(list):
    """Numbers that are recorded by their digest only, which keeps the record small."""


# --- selectors ------------------------------------------------------------------------------------

# The words of a case that are parameters of a selector, its encoder, target or stopping test.
OF_SELECTOR = ("estimator", "keep", "exclude", "feature_groups", "costs")
OF_ENCODER = ("n_bins", "discretizer", "max_levels", "identifiers")
OF_TARGET = ("kind", "bins", "discretizer", "strategy")
TEST = {
    "kind": "test",
    "alpha": "alpha",
    "fdr": "fdr",
    "max_tries": "max_tries",
    "n_permutations": "n_permutations",
    "seed": "random_state",
}
WAYS = {
    "one thread": lambda folder: {"n_jobs": 1},
    "two threads": lambda folder: {"n_jobs": 2},
    "codes on disk": lambda folder: {"engine": hocmim.Engine(codes_dir=folder / "codes")},
    "checkpoint": lambda folder: {"engine": hocmim.Engine(checkpoint=folder / "checkpoint")},
    "dask": lambda folder: {"engine": "dask"},
    "dask frame": lambda folder: {"engine": "dask"},
}


def make_selector(case, folder=None):
    """The selector of a case."""
    parameters = {name: case[name] for name in OF_SELECTOR if name in case}
    if case["method"] == "HOCMIM-R":
        parameters["interactions"] = False
    parameters |= case.get("options", {})
    encoder = {name: case[name] for name in OF_ENCODER if name in case}
    if encoder:
        parameters["encoder"] = hocmim.Encoder(**encoder)
    target = {name: case[f"target_{name}"] for name in OF_TARGET if f"target_{name}" in case}
    if target:
        parameters["target"] = hocmim.Target(**target)
    parameters["n_features_to_select"] = number(case)
    if case.get("way") in WAYS:
        parameters |= WAYS[case["way"]](folder)
    return hocmim.make_selector(case["method"], **parameters)


def number(case):
    """How many columns a case selects: a number, a test or a budget."""
    if "test" in case:
        return hocmim.StopTest(**{TEST[name]: value for name, value in case["test"].items()})
    if "budget" in case:
        return hocmim.Budget(case["budget"], case.get("k", K))
    return case.get("k", K)


def with_k(selector, k):
    """The same selector, fitted for k columns later."""
    return selector.set_params(n_features_to_select=k)


def cross_validated(case):
    return hocmim.SelectorCV(
        make_selector(case),
        case["model"],
        max_features=case["max_features"],
        cv=case["folds"],
        rule=case["rule"],
        scoring=None if case["table"] == "quantity" else "accuracy",
    )


def stable(case):
    resampling = case.get("resampling", "bootstrap")
    return hocmim.StabilitySelector(make_selector(case), case["n_resamples"], resampling=resampling)


# --- fits -----------------------------------------------------------------------------------------


def of_rows(case):
    """The arguments of fit for weights and groups of rows."""
    given = {}
    if "weights" in case:
        given["sample_weight"] = weights(case["table"], case["weights"])
    if "row_groups" in case:
        given["groups"] = row_groups(case["table"])
    return given


def fit(case, folder):
    """The fitted selector of a case, in the way the case says."""
    X, y = table(case["table"])
    way, selector = case.get("way"), make_selector(case, folder)
    if way == "extended":
        return with_k(selector, 2).fit(X, y).extend(case.get("k", K))
    if way == "extended with the table":
        return with_k(selector, 2).fit(X, y).extend(case.get("k", K), X, y)
    if way == "codes on disk":  # written by the first fit, read by the second
        make_selector(case, folder).fit(X, y)
    elif way == "checkpoint" and "test" not in case:
        with_k(make_selector(case, folder), 3).fit(X, y)
    elif way == "checkpoint":
        make_selector(case, folder).fit(X, y)
    elif way in ("parquet", "parquet folder"):
        return selector.fit(parquet(case["table"], folder, 1 if way == "parquet" else 3), "y")
    elif way in ("dask", "dask frame"):
        with cluster():
            return selector.fit(*(dask_frame(case["table"]) if way == "dask frame" else (X, y)))
    selector.fit(X, y, **of_rows(case))
    if way == "saved":
        return hocmim.load(selector.save(folder / "selector.json"))
    return pickle.loads(pickle.dumps(selector)) if way == "pickled" else selector


def parquet(name, folder, n_files):
    """The path of the table as a Parquet file, or as a folder of several."""
    frame = as_frame(name)
    for i, some in enumerate(np.array_split(np.arange(len(frame)), n_files)):
        frame.iloc[some].to_parquet(folder / f"part{i}.parquet", index=False)
    return folder if n_files > 1 else folder / "part0.parquet"


def dask_frame(name):
    import dask.dataframe as dd

    return dd.from_pandas(as_frame(name), npartitions=3), "y"


@contextmanager
def cluster():
    """Two Dask workers in this process."""
    from distributed import Client, LocalCluster

    options = {"processes": False, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as workers, Client(workers):
        yield


# --- what is recorded -----------------------------------------------------------------------------


def run(case, folder):
    """What is recorded of a case."""
    return CALLS[case.get("call", "select")](case, folder)


def select(case, folder):
    selector = fit(case, folder)
    found = ranking(selector) if hasattr(selector, "feature_scores_") else selection(selector)
    for question in case.get("ask", ()):
        found |= QUESTIONS[question](selector, *table(case["table"]))
    return found


def ranking(selector):
    """What a filter has: the scores of all columns."""
    return {"selected": selector.selected_, "scores": Inexact(selector.feature_scores_)}


def selection(selector):
    """What a selector of information theory has.

    "scores" are those of the selected columns, followed by everything about each step: winner,
    runner-up and their scores, and the representative sets.
    """
    trace, end, cuts = selector.trace_, selector.stopping_, selector.target_cuts_
    sets = [] if not hasattr(selector, "orders_") else selector.representative_sets_
    steps = [*trace["candidate"], *trace["score"], *(j for Z in sets for j in [len(Z), *Z])]
    found = {
        "selected": selector.selected_,
        "scores": [*selector.scores_, *steps, *([] if end is None else [end.score])],
        "relevance": Unread(selector.relevance_),
    }
    if hasattr(selector, "p_values_"):
        found["p-values"] = Inexact([*selector.p_values_, *([] if end is None else [end.p_value])])
    if end is not None:
        found["end"] = f"{end.reason}: {end.index} given {end.given.tolist()}"
    if cuts is not None:
        found["target cuts"] = [cut for part in cuts if part is not None for cut in np.ravel(part)]
    if selector.costs is not None:
        found["cost"] = [selector.total_cost_]
    if getattr(selector, "interactions_", []):
        kept = selector.interactions_
        found["interactions"] = [" ".join(map(str, one.members)) for one in kept]
        found["G"] = [one.g for one in kept]
    if len(selector.identifiers_):
        found["identifiers"] = selector.identifiers_
    return found


def explained(selector, X, y):
    """Explanations of the first and the last selected column, and of one that is not.

    "numbers" are relevance and score, then those of each step and the redundancies.
    """
    others = np.setdiff1d(np.arange(len(selector.relevance_)), selector.selected_)
    others = np.setdiff1d(others, selector.identifiers_)
    found = {}
    for j in dict.fromkeys([*selector.selected_[[0, -1]].tolist(), *others[:1].tolist()]):
        one = selector.explain(j, X)
        steps = [number for step in one.steps for number in (step.score, step.best_score)]
        numbers = [*steps, *one.redundancy.values(), *one.relevance_of_targets]
        found[f"explain {j}"] = {
            "rank": one.rank,
            "numbers": [one.relevance, one.score, *numbers],
            "taken": [step.best for step in one.steps],
            "set": list(one.representative_set),
            "replaced by": one.replaced_by,
            "R²": None if one.r2 is None else Inexact([one.r2]),
        }
        found[f"explain {j}"] = {n: v for n, v in found[f"explain {j}"].items() if v is not None}
    return found


def stated(selector, X, y):
    text = selector.statement().replace(f"hocmim {version('hocmim')}", "hocmim")
    return {"statement": [number.rstrip(".,") for number in re.findall(r"\d[\d.,]*", text)]}


def substituted(selector, X, y):
    found = hocmim.substitutes(selector, X, feature=int(selector.selected_[0]))
    return {
        "substitutes": [one.index for one in found],
        "loss": [found.adds, found.noise, *(one.loss for one in found)],
        "share": Inexact(number for one in found for number in (one.share, one.adds, one.noise)),
    }


def clustered(selector, X, y):
    return described_clusters(
        hocmim.cluster_columns(X, y, max_distance=0.6, encoder=selector.encoder_)
    )


def described_clusters(found):
    return {
        "clusters": found.labels,
        "representatives": found.representatives,
        "distance": Inexact(found.distance),
    }


def redundancies(selector, X, y):
    return {"redundancy matrix": np.ravel(selector.redundancy_matrix())}


QUESTIONS = {
    "explain": explained,
    "statement": stated,
    "substitutes": substituted,
    "clusters": clustered,
    "redundancy_matrix": redundancies,
}


def validate(case, folder):
    found = cross_validated(case).fit(*table(case["table"]), **of_rows(case))
    return {
        "k": found.best_n_features_,
        "selected": found.selected_,
        "scores": found.scores_,
        "curve": Inexact(found.cv_results_["mean_test_score"]),
    }


def resample(case, folder):
    found = stable(case).fit(*table(case["table"]), **of_rows(case))
    return {
        "selected": found.selected_,
        "frequencies": found.frequencies_,
        "stability": Inexact([found.stability_, *found.stability_interval_]),
    }


def compare(case, folder):
    X, y = table(case["table"])
    found = hocmim.compare_methods(X, y, case["methods"], case["k"], cv=3, n_resamples=4)
    return {
        one.method: {
            "selected": list(one.selected),
            "errors": Inexact(one.mean_error),
            "stability": Inexact([one.stability]),
        }
        for one in found.results
    }


def encode(case, folder):
    """The codes of the first two thirds of the rows, and of the others by the same encoder."""
    X, y = table(case["table"])
    n = X.shape[0] * 2 // 3
    first, other = (X.iloc[:n], X.iloc[n:]) if isinstance(X, pd.DataFrame) else (X[:n], X[n:])
    names = ("discretizer", "n_bins", "max_levels")
    encoder = hocmim.Encoder(**{name: case[name] for name in names if name in case})
    encoder.fit(first, np.asarray(y)[:n])
    found = {}
    for rows, part in (("codes", first), ("codes of new rows", other)):
        columns = [encoder.transform(part).column(j) for j in range(X.shape[1])]
        found[rows] = np.concatenate([column.codes for column in columns]).astype(np.float64)
    return {"levels": [column.arity for column in columns], **found}


def cluster_table(case, folder):
    X, y = table(case["table"])
    return described_clusters(
        hocmim.cluster_columns(X, y if case["with_target"] else None, max_distance=0.6)
    )


def inform(case, folder):
    frame, how = as_frame(case["table"]), {"estimator": case["estimator"]}
    y, given = frame["y"], frame[[frame.columns[2]]]
    sets = [frame[[name]] for name in frame.columns[3:6]] + [frame[frame.columns[3:5]]]
    return {
        "entropy": [hocmim.entropy(X, **how) for X in sets],
        "entropy in bits": [hocmim.entropy(X, unit="bits", **how) for X in sets],
        "mi": [hocmim.mi(X, y, **how) for X in sets],
        "cmi": [hocmim.cmi(X, y, given, **how) for X in sets],
    }


CALLS = {
    "select": select,
    "cv": validate,
    "stability": resample,
    "compare": compare,
    "codes": encode,
    "clusters": cluster_table,
    "information": inform,
}
